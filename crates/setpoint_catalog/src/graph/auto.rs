//! Automatic relationships, as the types of Puppet declare them.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Symbol, canonical_path};

use super::paths::parents;
use super::{Types, resolve};
use crate::{Catalog, NativeType, Relation, Resource, ResourceId};

/// Finds resources by the names that automatic relationships use.
pub(super) struct Names<'a> {
    catalog: &'a Catalog,
    types: &'a dyn Types,
    file: Symbol,
    /// Files by their canonical path.
    files: BTreeMap<String, ResourceId>,
    /// Whether files that resources generate are among them.
    of_a_run: bool,
    /// Groups by their number; most catalogs never ask.
    groups: OnceCell<FxHashMap<i64, ResourceId>>,
}

/// A relation and the resource at its other end.
type Found = Vec<(Relation, ResourceId)>;

impl<'a> Names<'a> {
    pub(super) fn new(catalog: &'a Catalog, types: &'a dyn Types, of_a_run: bool) -> Self {
        let file = Symbol::new("File");
        let mut files = BTreeMap::new();
        // A concat_file generates a file of its path, and applies nothing else.
        let kinds = [of_a_run.then(|| Symbol::new("Concat_file")), Some(file)];
        for kind in kinds.into_iter().flatten() {
            for (id, resource) in catalog.iter() {
                if resource.type_name == kind
                    && !resource.virtual_
                    && let Some(path) = file_path(resource)
                {
                    files.insert(path, id);
                }
            }
        }
        Self { catalog, types, file, files, of_a_run, groups: OnceCell::new() }
    }

    /// What the type of a resource relates it to, in the order in which the type says so: first what comes before it,
    /// then what comes after it.
    pub(super) fn automatic(&self, id: ResourceId, native: &NativeType) -> Found {
        let resource = &self.catalog[id];
        let mut found = Found::new();
        match native.name {
            "file" => self.file(resource, &mut found),
            "concat_file" if self.of_a_run => self.file(resource, &mut found),
            "exec" => self.exec(resource, &mut found),
            "user" => self.user(resource, &mut found),
            "package" => self.package(resource, &mut found),
            "cron" => self.require_named(resource, "user", Some("root"), "user", &mut found),
            "ssh_authorized_key" => self.require_named(resource, "user", None, "user", &mut found),
            "mount" => self.mount(id, &mut found),
            "selmodule" => self.selmodule(resource, &mut found),
            "zone" => self.zone(resource, &mut found),
            "zfs" => self.zfs(resource, &mut found),
            _ => {
                // Puppet passes over what is no native type: `autorequire(:class)` never does anything.
                for auto in native.auto.iter().filter(|auto| self.types.native(auto.target).is_some()) {
                    for name in super::ruby::names(&auto.names, resource, native) {
                        found.extend(self.find(auto.target, &name).map(|other| (auto.relation, other)));
                    }
                }
            }
        }
        found
    }

    fn find(&self, type_name: &str, name: &str) -> Option<ResourceId> {
        if type_name == "file" {
            return self.file_named(name);
        }
        resolve(self.catalog, self.types, type_name, name)
    }

    /// By title or by path.
    fn file_named(&self, name: &str) -> Option<ResourceId> {
        let path = crate::file_path(name);
        self.catalog
            .find(self.file, name)
            .or_else(|| self.catalog.find(self.file, path))
            .or_else(|| self.files.get(path).copied())
    }

    fn require(&self, type_name: &str, name: &str, found: &mut Found) {
        found.extend(self.find(type_name, name).map(|other| (Relation::Require, other)));
    }

    /// The resource of a type that an attribute names.
    fn require_named(
        &self,
        resource: &Resource,
        attribute: &str,
        default: Option<&str>,
        type_name: &str,
        found: &mut Found,
    ) {
        let name = resource.get(attribute).and_then(first_text).or(default.map(str::to_owned));
        if let Some(name) = name {
            self.require(type_name, &name, found);
        }
    }

    /// The nearest folder above that is managed, the target of a link, owner and group.
    fn file(&self, resource: &Resource, found: &mut Found) {
        if let Some(path) = file_path(resource) {
            let nearest = parents(&path).find_map(|folder| self.file_named(folder));
            found.extend(nearest.map(|other| (Relation::Require, other)));
        }
        if let Some(target) = link_target(resource) {
            self.require("file", &target, found);
        }
        for (attribute, type_name) in [("owner", "user"), ("group", "group")] {
            let name = resource.get(attribute).and_then(first_text).filter(|name| !is_number(name));
            if let Some(name) = name {
                self.require(type_name, &name, found);
            }
        }
    }

    /// The working folder, the command and the checks where they begin with an absolute path, and the user.
    fn exec(&self, resource: &Resource, found: &mut Found) {
        if let Some(folder) = resource.get("cwd").and_then(first_text) {
            self.require("file", &folder, found);
        }
        let command = resource.get("command").map_or(Some(resource.title.to_string()), first_text);
        if let Some(command) = command {
            for path in absolute_words(&command).chain(quoted_words(&command)) {
                self.require("file", path, found);
            }
        }
        for check in ["onlyif", "unless"] {
            let Some(value) = resource.get(check) else { continue };
            let lines = match &value.data {
                Data::Array(items) => items.iter().filter_map(first_text).collect(),
                _ => first_text(value).into_iter().collect::<Vec<String>>(),
            };
            for line in &lines {
                for path in absolute_words(line) {
                    self.require("file", path, found);
                }
            }
        }
        let user = resource.get("user").and_then(first_text).filter(|name| !is_number(name));
        if let Some(user) = user {
            self.require("user", &user, found);
        }
    }

    /// The primary group, by name or number, the other groups, and roles.
    fn user(&self, resource: &Resource, found: &mut Found) {
        for group in resource.get("gid").map(texts).unwrap_or_default() {
            if is_number(&group) {
                let by_number = group.parse().ok().and_then(|number: i64| self.group_numbered(number));
                found.extend(by_number.map(|other| (Relation::Require, other)));
            } else {
                self.require("group", &group, found);
            }
        }
        for (attribute, type_name) in [("groups", "group"), ("roles", "user")] {
            let mut names = resource.get(attribute).map(texts).unwrap_or_default();
            names.sort();
            for name in names.iter().flat_map(|name| name.split(',')) {
                self.require(type_name, name, found);
            }
        }
    }

    fn group_numbered(&self, number: i64) -> Option<ResourceId> {
        let groups = self.groups.get_or_init(|| {
            let mut groups = FxHashMap::default();
            for (id, resource) in self.catalog.iter() {
                if resource.type_name.as_str() == "Group"
                    && let Some(gid) =
                        resource.get("gid").and_then(first_text).and_then(|gid| gid.parse().ok())
                {
                    groups.entry(gid).or_insert(id);
                }
            }
            groups
        });
        groups.get(&number).copied()
    }

    fn package(&self, resource: &Resource, found: &mut Found) {
        for attribute in ["responsefile", "adminfile"] {
            self.require_named(resource, attribute, None, "file", found);
        }
        let source = resource.get("source").and_then(first_text).filter(|source| source.starts_with('/'));
        if let Some(source) = source {
            self.require("file", &source, found);
        }
    }

    /// The mounts above, and before all files below.
    fn mount(&self, id: ResourceId, found: &mut Found) {
        let resource = &self.catalog[id];
        let name = resource.get("name").and_then(first_text).unwrap_or_else(|| resource.title.to_string());
        let name = crate::file_path(&name);
        let mut above: Vec<&str> = parents(name).collect();
        above.reverse();
        for folder in above {
            self.require("mount", folder, found);
        }
        let below = format!("{name}/");
        let inside = self.files.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        // In the order of the catalog, which is the order in which Puppet looks at them.
        let mut files: Vec<ResourceId> = inside.map(|(_, file)| *file).collect();
        files.sort_unstable();
        found.extend(files.into_iter().map(|file| (Relation::Before, file)));
    }

    fn selmodule(&self, resource: &Resource, found: &mut Found) {
        let path = resource.get("selmodulepath").and_then(first_text).unwrap_or_else(|| {
            let folder = resource.get("selmoduledir").and_then(first_text);
            let folder = folder.as_deref().unwrap_or("/usr/share/selinux/targeted");
            let name = resource.get("name").and_then(first_text);
            format!("{folder}/{}.pp", name.as_deref().unwrap_or(&resource.title))
        });
        self.require("file", &path, found);
    }

    fn zone(&self, resource: &Resource, found: &mut Found) {
        if let Some(path) = resource.get("path").and_then(first_text) {
            let path = path.replace("%s", &resource.title);
            self.require("file", &path, found);
            if let Some(folder) = parents(&path).next() {
                self.require("file", folder, found);
            }
        }
        for dataset in resource.get("dataset").map(texts).unwrap_or_default() {
            self.require("zfs", &dataset, found);
        }
    }

    fn zfs(&self, resource: &Resource, found: &mut Found) {
        let name = resource.get("name").and_then(first_text).unwrap_or_else(|| resource.title.to_string());
        let ends: Vec<usize> = name.match_indices('/').map(|(at, _)| at).collect();
        self.require("zpool", name.split('/').next().unwrap_or(&name), found);
        for end in ends.into_iter().skip(1) {
            self.require("zfs", &name[..end], found);
        }
    }
}

/// The path of a file resource, as Puppet manages it.
fn file_path(resource: &Resource) -> Option<String> {
    let given = resource.get("path").or_else(|| resource.get("name"));
    canonical_path(given.map_or(Some(&*resource.title), Value::as_str)?)
}

/// What a link points to. An `ensure` that is none of the known words is a target, too.
fn link_target(resource: &Resource) -> Option<String> {
    let target = resource.get("target").and_then(first_text).filter(|target| target != "notlink");
    target.or_else(|| {
        let ensure = resource.get("ensure").and_then(first_text)?;
        let known = ["absent", "false", "file", "present", "directory", "link", "true", ""];
        (!known.contains(&ensure.as_str())).then_some(ensure)
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words with which lines begin, where they are absolute paths.
fn absolute_words(command: &str) -> impl Iterator<Item = &str> {
    command.lines().filter(|line| line.starts_with('/')).filter_map(|line| {
        let word = line.split_whitespace().next()?;
        (word.len() > 1).then_some(word)
    })
}

/// What stands in double quotes where lines begin.
fn quoted_words(command: &str) -> impl Iterator<Item = &str> {
    command.lines().filter_map(|line| {
        let (word, _) = line.strip_prefix('"')?.split_once('"')?;
        (!word.is_empty()).then_some(word)
    })
}

/// The text of a value; of an array, that of its first element.
pub(super) fn first_text(value: &Value) -> Option<String> {
    match &value.data {
        Data::String(text) => Some(text.to_string()),
        Data::Integer(number) => Some(number.to_string()),
        Data::Bool(value) => Some(value.to_string()),
        Data::Array(items) => first_text(items.first()?),
        Data::Sensitive(inner) => first_text(inner),
        _ => None,
    }
}

/// The texts of a value and of what it holds.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match &value.data {
        Data::Array(items) => items.iter().flat_map(texts).collect(),
        Data::Sensitive(inner) => texts(inner),
        _ => first_text(value).into_iter().collect(),
    }
}
