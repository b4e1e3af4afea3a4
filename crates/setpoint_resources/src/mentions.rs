//! What the catalog names: only that becomes cells. A package brings thousands of files; those that nothing else names
//! cannot matter.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_commands::Edit;
use setpoint_puppet_values::Data;
use setpoint_source::canonical_path;
use setpoint_state::{CellKind, Kind};

use crate::attributes::Attributes;
use crate::clock::{Clock, Late};
use crate::commands::{self, Effect};
use crate::entries::{Entry, Rest};
use crate::machine::LONGEST_WAY;
use crate::types;
use crate::unit_file::UnitFile;
use crate::{Assumption, Source, Unit, World};

/// A chain of links is followed no further than this.
const LONGEST_CHAIN: usize = 8;

/// The folder of a clone that git keeps.
pub(crate) const OF_GIT: &str = ".git";

/// Stand for all that nothing names.
pub(crate) const SOME_FILE: &str = "(another file)";
pub(crate) const SOME_DIRECTORY: &str = "(another directory)";

/// The paths, users, groups and entries that a catalog names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    /// Every path that is named, and those above.
    all: BTreeSet<String>,
    pub(crate) ancestors: FxHashSet<String>,
    /// Directories whose contents matter: removed, purged, recursed into.
    deep: BTreeSet<String>,
    /// Those of them that may be missing: who tidies them does nothing then.
    tidied: BTreeSet<String>,
    /// The paths of file resources.
    pub(crate) files: BTreeMap<String, ResourceId>,
    /// What an admissible start has at a path that is managed.
    pub(crate) declared: BTreeMap<String, Vec<Kind>>,
    /// What something in the catalog creates, packages aside.
    pub(crate) provided: FxHashSet<String>,
    /// What is read and must be there.
    pub(crate) needed: FxHashSet<String>,
    /// Directories of the platform that a resource may remove.
    pub(crate) removable: FxHashSet<String>,
    pub(crate) users: BTreeSet<String>,
    pub(crate) groups: BTreeSet<String>,
    /// The groups that something puts a user into, by user.
    memberships: BTreeMap<String, BTreeSet<String>>,
    /// The homes of users that are declared.
    pub(crate) homes: BTreeMap<String, String>,
    /// The folder of the files of jobs.
    crontabs: &'static str,
    attributes: FxHashMap<CellKind, FxHashSet<String>>,
    /// Directories below which an attribute is managed.
    recursive: FxHashMap<CellKind, FxHashSet<String>>,
    pub(crate) entries: Vec<(String, Entry)>,
    /// The paths whose mode or owner commands change.
    given_by_commands: BTreeSet<String>,
    /// Directories of most machines that a package of the catalog brings.
    brought: BTreeSet<&'static str>,
    /// The files that commands make or change.
    made_files: BTreeSet<String>,
    /// Where commands look for their programs: of interest where something of the catalog brings them there.
    programs: BTreeSet<String>,
    /// Links that are managed.
    links: BTreeMap<String, String>,
    /// Where links may lead that the catalog makes: the texts of their targets and the paths that these are.
    ways: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Where commands put a link if a directory is in the place that they name, and nothing else names that path.
    pub(crate) entered: BTreeSet<String>,
    /// The packages that resources and commands name, in their order.
    pub(crate) packages: Vec<String>,
    /// Those that something removes.
    pub(crate) removed_packages: BTreeSet<String>,
    /// Those of which what a removal leaves matters.
    pub(crate) purged_packages: BTreeSet<String>,
    /// Where file systems are mounted and unmounted, without links, with the names of their resources.
    pub(crate) mount_points: BTreeMap<String, String>,
    /// The paths of files as they are declared, where a link lies on the way.
    declared_as: BTreeMap<String, String>,
    /// The entries of /etc/hosts that have a name, as theirs or as an alias.
    pub(crate) named_hosts: BTreeMap<String, BTreeSet<String>>,
    /// Those of which the version matters.
    pub(crate) versioned_packages: BTreeSet<String>,
    pub(crate) services: BTreeSet<Unit>,
    /// The names of the resources of each type that keeps entries in a file.
    names: BTreeMap<String, Vec<std::sync::Arc<str>>>,
    /// The contents that the catalog writes to a path, as far as they are known.
    contents: BTreeMap<String, BTreeSet<String>>,
    /// The programs by which commands edit a path.
    edits: BTreeMap<String, BTreeSet<(String, bool)>>,
    /// The lines that something puts at the end of a file.
    appended: BTreeMap<String, BTreeSet<String>>,
    /// What is made from other files: the path, and a path or pattern of what it is made from.
    made: Vec<(String, String)>,
    /// The modes that resources give to files and that let nobody run them.
    plain_modes: BTreeMap<String, BTreeSet<String>>,
    /// The users that resources make and leave open in part: who makes them decides the rest.
    pub(crate) open_users: BTreeSet<String>,
    /// What is copied: from where, and to where.
    copies: BTreeSet<(String, String)>,
    /// The homes that resources make with their users.
    pub(crate) made_homes: Vec<String>,
    /// The contents of files that are declared, by path.
    scripts: BTreeMap<String, String>,
    /// The users that commands make with a number below those of people.
    pub(crate) system_users: BTreeSet<String>,
    /// The paths that a file resource writes as a whole.
    whole: BTreeSet<String>,
    /// The paths to which something writes what is not known.
    opaque: BTreeSet<String>,
    /// What is left out here, and the resource that it is left out for.
    pub(crate) gaps: Vec<(Assumption, Option<ResourceId>)>,
    /// The names of which paths are made, each with the path: sorted, and made when nothing is added any more.
    parts: OnceCell<Vec<(Box<str>, String)>>,
}

impl Mentions {
    /// What a catalog names, and what else is of interest.
    pub(crate) fn collect(
        catalog: &Catalog,
        world: &World<'_>,
        clock: &mut Clock,
        more: impl FnOnce(&mut Self),
    ) -> Result<Self, Late> {
        let mut mentions = Self { crontabs: world.base.crontabs(), ..Self::default() };
        for (_, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
            mentions.first(resource, world);
        }
        for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
            clock.tick()?;
            mentions.resource(id, resource, world);
        }
        more(&mut mentions);
        mentions.finish(world);
        mentions.note_long_links(world);
        Ok(mentions)
    }

    /// Takes in what another catalog names, so that both have the same cells. What a catalog manages stays its own: its files,
    /// links, homes and entries, by which it purges and resolves paths.
    pub(crate) fn name_also(&mut self, other: &Self) {
        self.all.extend(other.all.iter().cloned());
        self.ancestors.extend(other.ancestors.iter().cloned());
        self.deep.extend(other.deep.iter().cloned());
        self.tidied.extend(other.tidied.iter().cloned());
        for (path, kinds) in &other.declared {
            let declared = self.declared.entry(path.clone()).or_default();
            declared
                .extend(kinds.iter().filter(|kind| !declared.contains(kind)).copied().collect::<Vec<_>>());
        }
        self.provided.extend(other.provided.iter().cloned());
        self.needed.extend(other.needed.iter().cloned());
        self.removable.extend(other.removable.iter().cloned());
        self.users.extend(other.users.iter().cloned());
        self.groups.extend(other.groups.iter().cloned());
        for (own, others) in
            [(&mut self.attributes, &other.attributes), (&mut self.recursive, &other.recursive)]
        {
            for (kind, _) in ATTRIBUTES {
                let paths = others.get(&kind).into_iter().flatten();
                own.entry(kind).or_default().extend(paths.cloned());
            }
        }
        let entries: Vec<_> = other.entries.iter().filter(|entry| !self.entries.contains(entry)).collect();
        self.entries.extend(entries.into_iter().cloned());
        for (path, ways) in &other.ways {
            self.ways.entry(path.clone()).or_default().extend(ways.iter().cloned());
        }
        let packages: Vec<_> = other.packages.iter().filter(|name| !self.packages.contains(name)).collect();
        self.packages.extend(packages.into_iter().cloned());
        self.removed_packages.extend(other.removed_packages.iter().cloned());
        self.purged_packages.extend(other.purged_packages.iter().cloned());
        self.mount_points.extend(other.mount_points.clone());
        for (name, entries) in &other.named_hosts {
            self.named_hosts.entry(name.clone()).or_default().extend(entries.iter().cloned());
        }
        self.versioned_packages.extend(other.versioned_packages.iter().cloned());
        self.services.extend(other.services.iter().cloned());
        for (path, contents) in &other.contents {
            self.contents.entry(path.clone()).or_default().extend(contents.iter().cloned());
        }
        for (path, edits) in &other.edits {
            self.edits.entry(path.clone()).or_default().extend(edits.iter().cloned());
        }
        self.opaque.extend(other.opaque.iter().cloned());
        self.given_by_commands.extend(other.given_by_commands.iter().cloned());
        self.programs.extend(other.programs.iter().cloned());
        self.brought.extend(other.brought.iter().copied());
        self.parts.take();
    }

    /// Notes the managed links that lead on over more links than are followed.
    fn note_long_links(&mut self, world: &World<'_>) {
        let is_long = |start: &String| {
            let mut path = start.clone();
            let led = std::iter::from_fn(|| {
                path = world.base.follow(canonical_path(self.links.get(&path)?)?);
                Some(())
            });
            led.take(LONGEST_WAY + 1).count() > LONGEST_WAY
        };
        let long: Vec<String> = self.links.keys().filter(|path| is_long(path)).cloned().collect();
        for path in long {
            let owner = self.files.get(&path).copied();
            self.gaps.push((Assumption::LongLinks { path }, owner));
        }
    }

    /// Returns the paths that stand for all that nothing names.
    pub(crate) fn stand_ins(&self) -> impl Iterator<Item = String> {
        self.deep.iter().flat_map(|directory| {
            [SOME_FILE, SOME_DIRECTORY].map(|child| format!("{}/{child}", directory.trim_end_matches('/')))
        })
    }

    /// What others need to be understood: links and homes.
    fn first(&mut self, resource: &Resource, world: &World<'_>) {
        match resource.type_name.as_str() {
            "File" => {
                if let (Some(path), Some(target)) =
                    (types::file::own_path(resource), types::file::link_target(resource))
                {
                    let path = world.base.follow(path);
                    let target = led_from(&path, &target);
                    self.links.insert(path, target);
                }
                if let (Some(path), Some(content)) =
                    (types::file::own_path(resource), resource.text("content"))
                    && resource.flag("replace") != Some(false)
                {
                    self.scripts.insert(path, content);
                }
            }
            "User" => {
                let name = resource.name_or_title("name");
                let home = resource.text("home").unwrap_or_else(|| default_home(&name));
                let settled = ["home", "shell"].iter().all(|one| resource.has(one))
                    && (resource.has("uid") || resource.flag("system") == Some(true));
                if !settled && resource.ensure().as_deref() != Some("absent") {
                    self.open_users.insert(name.clone());
                }
                self.homes.insert(name, home);
            }
            "Host" | "Mount" | "Cron" | "Sshkey" | "Ssh_authorized_key" => {
                let type_name = resource.type_name.as_str().to_lowercase();
                let name = crate::attributes::shared(&resource.name_or_title("name"));
                self.names.entry(type_name).or_default().push(name);
            }
            _ => {}
        }
    }

    /// The path that a text leads to: canonical, through the links of the platform and those that are managed.
    pub(crate) fn canonical(&self, path: &str, world: &World<'_>) -> Option<String> {
        let mut path = world.base.follow(canonical_path(path)?);
        // `note_long_links` tells of chains that are longer.
        for _ in 0..LONGEST_CHAIN {
            let linked = ancestors(&path)
                .find_map(|above| Some((above.len(), self.links.get(above)?)))
                .map(|(length, target)| format!("{target}{}", &path[length..]));
            match linked.and_then(|path| canonical_path(&path)) {
                Some(next) => path = world.base.follow(next),
                None => break,
            }
        }
        Some(path)
    }

    /// A link that the catalog may make.
    fn add_way(&mut self, path: &str, target: &str, world: &World<'_>) {
        let Some(path) = self.canonical(path, world) else { return };
        if let Some(to) = self.canonical(&led_from(&path, target), world) {
            self.ways.entry(path).or_default().insert((target.to_owned(), to));
        }
    }

    /// Where a link at a path may lead, as far as the catalog makes it.
    pub(crate) fn ways(&self, path: &str) -> Vec<(String, String)> {
        self.ways.get(path).map(|ways| ways.iter().cloned().collect()).unwrap_or_default()
    }

    /// The links that commands alone make, each with the path that it leads to.
    pub(crate) fn links_of_commands(&self) -> Vec<(String, String)> {
        let made = self.ways.iter().filter(|(path, _)| !self.links.contains_key(*path));
        made.flat_map(|(path, ways)| ways.iter().map(|(_, to)| (path.clone(), to.clone()))).collect()
    }

    /// What is done through a link is done where it leads.
    fn finish_ways(&mut self) {
        for (path, ways) in self.ways.clone() {
            for (_, to) in ways {
                self.all.insert(to.clone());
                for (kind, _) in ATTRIBUTES {
                    if self.attributes.get(&kind).is_some_and(|paths| paths.contains(&path)) {
                        self.attributes.entry(kind).or_default().insert(to.clone());
                    }
                }
                let entries: Vec<Entry> = self
                    .entries
                    .iter()
                    .filter(|(other, _)| *other == path)
                    .map(|(_, entry)| entry.clone())
                    .collect();
                self.entries.extend(entries.into_iter().map(|entry| (to.clone(), entry)));
                let contents = self.contents.get(&path).cloned().unwrap_or_default();
                self.contents.entry(to.clone()).or_default().extend(contents);
                if self.opaque.contains(&path) {
                    self.opaque.insert(to.clone());
                }
            }
        }
    }

    /// Something puts a line at the end of a file.
    fn appends(&mut self, path: &str, line: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.appended.entry(path).or_default().insert(line.to_owned());
        }
    }

    /// Whether several lines are put at the end of a file, so that their order counts.
    pub(crate) fn has_several_last(&self, path: &str) -> bool {
        self.appended.get(path).is_some_and(|lines| lines.len() > 1)
    }

    /// The files of the catalog from which package managers learn of archives.
    pub(crate) fn repositories(&self, world: &World<'_>) -> Vec<String> {
        let all = commands::REPOSITORIES.iter().flat_map(|place| self.matching(place, world));
        all.filter(|path| self.provided.contains(path)).collect()
    }

    /// The files that resources write, as a whole or entries of them.
    pub(crate) fn written(&self) -> BTreeSet<&String> {
        let entries = self.entries.iter().map(|(path, _)| path);
        self.files.keys().chain(entries).chain(&self.whole).chain(&self.made_files).collect()
    }

    /// Whether commands alone make a file, and no resource of its own.
    pub(crate) fn is_made_by_commands(&self, path: &str) -> bool {
        let is_entry = || self.entries.iter().any(|(other, _)| other == path);
        self.made_files.contains(path)
            && !self.files.contains_key(path)
            && !self.whole.contains(path)
            && !is_entry()
    }

    /// The text of a script that a resource declares.
    pub(crate) fn script(&self, path: &str, world: &World<'_>) -> Option<String> {
        let canonical = self.canonical(path, world)?;
        self.scripts.get(&canonical).or_else(|| self.scripts.get(path)).cloned()
    }

    /// The unit file of a service with what adds to it, as far as the catalog writes them.
    pub(crate) fn unit_file(&self, service: &Unit) -> UnitFile {
        let own = service.paths().into_iter().find_map(|path| self.scripts.get(&path));
        let is_own = own.is_some();
        let adds = service.files().flat_map(|file| {
            let folder = format!("/etc/systemd/system/{file}.d/");
            let named = self.scripts.iter().filter(move |(path, _)| path.starts_with(&folder));
            named.map(|(_, text)| text)
        });
        let mut unit = UnitFile::read(own.into_iter().chain(adds).map(String::as_str));
        if is_own {
            unit.complete(service.as_str());
        }
        unit.add_interpreters(|path| self.scripts.get(path));
        unit
    }

    /// Whether a file is declared by a path below that of a folder: recursion leaves it alone then, and not if a link leads there.
    pub(crate) fn is_declared_below(&self, path: &str, folder: &str) -> bool {
        let own = |path: &str| self.declared_as.get(path).cloned().unwrap_or_else(|| path.to_owned());
        self.files.contains_key(path) && is_below(&own(path), &own(folder))
    }

    /// Whether a file resource puts a content of the catalog at a path.
    pub(crate) fn is_replaced(&self, path: &str) -> bool {
        self.scripts.contains_key(path) || (self.files.contains_key(path) && self.provided.contains(path))
    }

    /// The paths that are named and that a path, a pattern, or a folder that ends with a slash stands for.
    pub(crate) fn matching(&self, from: &str, world: &World<'_>) -> Vec<String> {
        if let Some(folder) = from.strip_suffix('/') {
            let below = self.canonical(folder, world).map(|folder| self.below(&folder)).unwrap_or_default();
            return below.into_iter().filter(|path| !self.ancestors.contains(path)).collect();
        }
        if !from.contains(['*', '?']) {
            return self.canonical(from, world).into_iter().collect();
        }
        let Some(pattern) = self.canonical(from, world) else { return Vec::new() };
        let folder = pattern
            .split(['*', '?'])
            .next()
            .and_then(|start| start.rsplit_once('/'))
            .map_or("/", |(folder, _)| folder);
        let depth = pattern.matches('/').count();
        let matches = |path: &String| {
            path.matches('/').count() == depth
                && pattern
                    .split('/')
                    .zip(path.split('/'))
                    .all(|(glob, name)| types::file::matches_glob(glob, name) || glob == name)
        };
        self.below(if folder.is_empty() { "/" } else { folder }).into_iter().filter(matches).collect()
    }

    pub(crate) fn home(&self, user: &str) -> String {
        self.homes.get(user).cloned().unwrap_or_else(|| default_home(user))
    }

    pub(crate) fn add_path(&mut self, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.all.insert(path);
        }
    }

    pub(crate) fn provide(&mut self, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.provided.insert(path.clone());
            self.all.insert(path);
        }
    }

    /// Whether every machine has a directory, whatever the catalog installs.
    pub(crate) fn is_base_directory(&self, path: &str, world: &World<'_>) -> bool {
        world.base.directories.contains(path) && !self.brought.contains(&path)
    }

    /// A command looks for a program at these places.
    pub(crate) fn looks_for(&mut self, places: Vec<String>) {
        self.programs.extend(places);
    }

    /// Whether a path matters only as the place of a program that a command runs.
    pub(crate) fn is_program(&self, path: &str) -> bool {
        self.programs.contains(path)
    }

    pub(crate) fn add_deep(&mut self, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.deep.insert(path.clone());
            self.all.insert(path);
        }
    }

    /// The same for a directory that may be missing.
    pub(crate) fn add_tidied(&mut self, path: &str, world: &World<'_>) {
        self.add_deep(path, world);
        self.tidied.extend(self.canonical(path, world));
    }

    /// Whether a path is a directory, if it is there, and nothing needs it.
    pub(crate) fn is_only_tidied(&self, path: &str) -> bool {
        let is_stand_in = |below: &String| {
            let name = below.rsplit('/').next().unwrap_or_default();
            [SOME_FILE, SOME_DIRECTORY].contains(&name)
        };
        self.tidied.contains(path) && self.below(path).iter().all(is_stand_in)
    }

    pub(crate) fn add_entry(&mut self, path: &str, entry: Entry, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.all.insert(path.clone());
            self.entries.push((path, entry));
        }
    }

    fn resource(&mut self, id: ResourceId, resource: &Resource, world: &World<'_>) {
        let declared = types::declared::effects(resource, world);
        if let Some((path, entry)) = types::declared::edited(resource, world) {
            self.add_entry(&path, entry, world);
        }
        for effect in &declared {
            self.effect(effect, world);
        }
        // What the user says about a type is all that is said about it.
        if types::declared::is_declared(resource, world) {
            return;
        }
        match types::of(resource) {
            Some(known) => known.mention(self, id, resource, world),
            None => self.parameters(resource, world),
        }
    }

    /// The paths that the parameters of a resource are.
    pub(crate) fn parameters(&mut self, resource: &Resource, world: &World<'_>) {
        for parameter in &resource.parameters {
            if let Data::String(text) = &parameter.value.data
                && text.starts_with('/')
                && !text.contains(char::is_whitespace)
            {
                self.add_path(text, world);
            }
        }
    }

    /// A package that a resource names.
    pub(crate) fn package(&mut self, name: &str, removes: bool, purges: bool, versioned: bool) {
        if removes {
            self.removed_packages.insert(name.to_owned());
        }
        if purges {
            self.purged_packages.insert(name.to_owned());
        }
        if versioned {
            self.versioned_packages.insert(name.to_owned());
        }
        self.packages.push(name.to_owned());
    }

    /// Something puts a user into a group.
    pub(crate) fn add_membership(&mut self, user: &str, group: &str) {
        self.memberships.entry(user.to_owned()).or_default().insert(group.to_owned());
    }

    /// The groups that something puts a user into.
    pub(crate) fn memberships(&self, user: &str) -> Vec<String> {
        self.memberships.get(user).into_iter().flatten().cloned().collect()
    }

    /// A path that must be there.
    pub(crate) fn needs_file(&mut self, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.needed.insert(path.clone());
            self.all.insert(path);
        }
    }

    /// A file that a resource generates.
    pub(crate) fn generate_file(&mut self, path: &str, id: ResourceId, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.files.insert(path, id);
        }
    }

    /// The file of a user's jobs.
    pub(crate) fn crontab(&self, user: &str) -> String {
        format!("{}/{user}", self.crontabs)
    }

    /// What a type has in its file that no resource declares.
    pub(crate) fn rest(&self, type_name: &str) -> Option<(String, Entry)> {
        let (path, kind) = match type_name {
            "host" => ("/etc/hosts".to_owned(), Rest::Rows(1)),
            "mount" => ("/etc/fstab".to_owned(), Rest::Rows(1)),
            "cron" => (self.crontab("root"), Rest::Jobs),
            "sshkey" => ("/etc/ssh/ssh_known_hosts".to_owned(), Rest::Rows(0)),
            _ => return None,
        };
        Some((path, Entry::Rest { kind, known: self.names(type_name) }))
    }

    /// The keys of a user that no resource declares.
    pub(crate) fn other_keys(&self, user: &str) -> (String, Entry) {
        let path = format!("{}/.ssh/authorized_keys", self.home(user));
        (path, Entry::Rest { kind: Rest::Keys, known: self.names("ssh_authorized_key") })
    }

    /// The names of all resources of a type, in lower case.
    pub(crate) fn names(&self, type_name: &str) -> Vec<std::sync::Arc<str>> {
        self.names.get(type_name).cloned().unwrap_or_default()
    }

    /// The entry of a file that a resource manages, for those that do.
    pub(crate) fn row(&mut self, resource: &Resource, world: &World<'_>) -> bool {
        let rows = types::parsed::rows(resource, self);
        if resource.type_name.as_str() == "File_line"
            && resource.ensure().as_deref() != Some("absent")
            && resource.flag("append_on_no_match") != Some(false)
            && let (Some(path), Some(line)) = (resource.text("path"), resource.text("line"))
        {
            self.appends(&path, &line, world);
        }
        if resource.type_name.as_str() == "File_line"
            && resource.has("match")
            && let (Some(path), Some(line)) = (resource.text("path"), resource.text("line"))
        {
            self.add_entry(&path, Entry::Line(crate::attributes::shared(&line)), world);
        }
        for row in &rows {
            self.add_entry(&row.path, row.entry.clone(), world);
            if row.makes_file() {
                self.provide(&row.path, world);
            } else {
                self.needs_file(&row.path, world);
            }
            for path in row.written_as_user().1 {
                self.manage(CellKind::Owner, path, world);
            }
            // The folder of keys is made with the first of them.
            if let (Entry::Key(_), Some(folder)) = (&row.entry, row.path.strip_suffix("/authorized_keys"))
                && folder.ends_with("/.ssh")
            {
                self.provide(folder, world);
                self.declare(folder, &[Kind::Absent, Kind::Directory], world);
            }
        }
        !rows.is_empty()
    }

    pub(crate) fn service(&mut self, name: &Unit, world: &World<'_>) {
        for path in name.paths() {
            self.add_path(&path, world);
        }
        let unit = self.unit_file(name);
        for other in unit.triggers.iter().chain(&unit.requires) {
            for path in Unit::named(other, world.base.family).paths() {
                self.add_path(&path, world);
            }
        }
        for path in unit.paths.iter().chain(&unit.environments).chain(&unit.reads) {
            self.add_path(path, world);
        }
        self.services.insert(name.clone());
    }

    /// What a check asks about.
    pub(crate) fn question(&mut self, question: &commands::Question, world: &World<'_>) {
        for path in question.paths() {
            self.add_path(path, world);
        }
        for (path, entry) in question.entries() {
            self.add_entry(path, entry, world);
        }
        for name in question.services() {
            self.service(&Unit::named(name, world.base.family), world);
        }
        for name in question.programs() {
            for path in types::exec::program_paths(name) {
                self.add_path(&path, world);
            }
        }
    }

    /// The contents that the catalog writes to a path, as far as they are known.
    pub(crate) fn contents(&self, path: &str) -> Vec<String> {
        self.contents.get(path).map(|found| found.iter().cloned().collect()).unwrap_or_default()
    }

    /// The programs by which commands edit a path.
    pub(crate) fn edits(&self, path: &str) -> Vec<(String, bool)> {
        self.edits.get(path).map(|found| found.iter().cloned().collect()).unwrap_or_default()
    }

    /// Whether a file resource writes all of a path, and nothing else writes there what is not known. A command that names
    /// the path comes after that resource by itself.
    pub(crate) fn is_written_whole(&self, path: &str) -> bool {
        self.whole.contains(path) && !self.opaque.contains(path)
    }

    pub(crate) fn effect(&mut self, effect: &Effect, world: &World<'_>) {
        for path in effect.created() {
            self.provide(path, world);
            if !matches!(effect, Effect::MakeDirectory { .. } | Effect::Clone { .. } | Effect::AddUser { .. })
            {
                self.made_files.extend(self.canonical(path, world));
            }
        }
        for path in effect.paths() {
            self.add_path(path, world);
        }
        match effect {
            Effect::Remove { path, recursive: true, .. }
            | Effect::RemoveDirectory(path)
            | Effect::Disturb { path, below: true } => {
                self.add_deep(path, world);
            }
            Effect::Mode { path, recursive, .. } => self.manage_all(CellKind::Mode, path, *recursive, world),
            Effect::MakeDirectory { path, mode: Some(_), .. } => self.manage(CellKind::Mode, path, world),
            Effect::Owner { path, owner, group, recursive } => {
                if owner.is_some() {
                    self.manage_all(CellKind::Owner, path, *recursive, world);
                }
                if group.is_some() {
                    self.manage_all(CellKind::Group, path, *recursive, world);
                }
            }
            Effect::Write { path, content } => self.writes(path, content, world),
            Effect::Touch(path) => self.writes(path, "", world),
            Effect::Edit { path, program, extended } => {
                if let Some(path) = self.canonical(path, world) {
                    self.edits.entry(path).or_default().insert((program.clone(), *extended));
                }
            }
            Effect::Copy { from, to, .. } => {
                let name = from.rsplit('/').next().unwrap_or_default();
                let within = format!("{}/{name}", to.trim_end_matches('/'));
                self.add_opaque(to, world);
                self.add_opaque(&within, world);
                self.copies(from, to, world);
                self.copies(from, &within, world);
                // Where it goes depends on what is there.
                self.add_path(&within, world);
            }
            Effect::Make { path, from, .. } => {
                self.add_opaque(path, world);
                if let Some(path) = self.canonical(path, world) {
                    self.made.extend(from.iter().map(|from| (path.clone(), from.clone())));
                }
            }
            Effect::Clone { path, .. } => {
                self.add_deep(path, world);
                self.declare(path, &[Kind::Absent, Kind::Directory], world);
                // A folder, if anything asks for it.
                let own = format!("{path}/{OF_GIT}");
                self.declare(&own, &[Kind::Absent, Kind::Directory], world);
                self.provided.extend(self.canonical(&own, world));
            }
            Effect::Fill { from, to } => {
                self.add_opaque(to, world);
                self.copies(from, to, world);
            }
            Effect::Set { path, .. }
            | Effect::Fetch { path, .. }
            | Effect::Create { path }
            | Effect::Disturb { path, below: false } => {
                self.add_opaque(path, world);
            }
            Effect::Link { target, path, .. } => {
                self.add_way(path, target, world);
                let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                self.entered.extend(self.canonical(&format!("{path}/{name}"), world));
            }
            Effect::Check(question) => self.question(question, world),
            Effect::Service { name, .. } => self.service(&Unit::named(name, world.base.family), world),
            Effect::Join { user, groups } => {
                for group in groups {
                    self.add_membership(user, group);
                }
            }
            Effect::InstallPackages(names) => self.packages.extend(names.iter().cloned()),
            Effect::RemovePackages { names, purge } => {
                if *purge {
                    self.purged_packages.extend(names.iter().cloned());
                }
                self.packages.extend(names.iter().cloned());
                self.removed_packages.extend(names.iter().cloned());
            }
            Effect::Append { path, line } => {
                self.appends(path, line, world);
                self.add_entry(path, Entry::Line(crate::attributes::shared(line)), world);
            }
            Effect::AddUser { name, groups, system, .. } => {
                if *system {
                    self.system_users.insert(name.clone());
                }
                for group in groups {
                    self.add_membership(name, group);
                }
                self.users.insert(name.clone());
                self.groups.extend(groups.iter().cloned());
            }
            Effect::RemoveUser(name) => {
                self.users.insert(name.clone());
            }
            Effect::AddGroup { name, .. } | Effect::RemoveGroup(name) => {
                self.groups.insert(name.clone());
            }
            Effect::NeedProgram(places) => self.looks_for(places.clone()),
            Effect::Need(path) | Effect::Extract { archive: path, .. } => {
                if let Some(path) = self.canonical(path, world) {
                    self.needed.insert(path);
                }
            }
            _ => {}
        }
    }

    fn writes(&mut self, path: &str, content: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.contents.entry(path).or_default().insert(content.to_owned());
        }
    }

    /// A file becomes another one, with all that is followed in it.
    fn copies(&mut self, from: &str, to: &str, world: &World<'_>) {
        if let (Some(from), Some(to)) = (self.canonical(from, world), self.canonical(to, world)) {
            self.copies.insert((from, to));
        }
    }

    fn add_opaque(&mut self, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.opaque.insert(path);
        }
    }

    fn manage_all(&mut self, kind: CellKind, path: &str, recursive: bool, world: &World<'_>) {
        self.manage(kind, path, world);
        self.given_by_commands.extend(self.canonical(path, world));
        if recursive && let Some(path) = self.canonical(path, world) {
            self.deep.insert(path.clone());
            self.recursive.entry(kind).or_default().insert(path);
        }
    }

    pub(crate) fn file(&mut self, id: ResourceId, resource: &Resource, world: &World<'_>) {
        let Some(own) = types::file::own_path(resource) else { return };
        let Some(path) = self.canonical(&world.base.follow(own.clone()), world) else { return };
        if own != path {
            self.declared_as.insert(path.clone(), own);
        }
        let shape = types::file::Shape::of(resource);
        if let Some(target) = types::file::link_target(resource) {
            self.add_way(&path, &target, world);
        }
        self.files.insert(path.clone(), id);
        self.all.insert(path.clone());
        if world.base.directories.contains(&path) && shape.may_remove_directory() {
            self.removable.insert(path.clone());
        }
        if shape.creates() {
            self.provided.insert(path.clone());
        }
        match &shape.content {
            Some(content) if !resource.hides("content") => {
                self.writes(&path, content, world);
                if shape.replace {
                    self.whole.insert(path.clone());
                }
            }
            _ if shape.creates() => {
                self.opaque.insert(path.clone());
            }
            _ => {}
        }
        let kinds = shape.admissible();
        // Of two resources for one path both declarations are admissible.
        let declared = self.declared.entry(path.clone()).or_default();
        for kind in kinds {
            if !declared.contains(&kind) {
                declared.push(kind);
            }
        }
        for source in &shape.sources {
            if let Some(local) = types::file::local_source(source)
                && let Some(from) = self.canonical(local, world)
            {
                self.needed.insert(from.clone());
                self.all.insert(from.clone());
                self.copies.insert((from.clone(), path.clone()));
                if shape.recurse.is_some() {
                    self.deep.insert(from);
                }
                continue;
            }
            if let Some(Source::Link { target, .. }) = shape.source(source, world) {
                self.add_way(&path, &target, world);
                self.declared.entry(path.clone()).or_default().push(Kind::Link);
            }
            if shape.recurse.is_some() {
                for (child, source) in types::file::served(source, &shape, world) {
                    let child = format!("{path}/{child}");
                    self.provide(&child, world);
                    if let Source::Link { target, .. } = source {
                        self.add_way(&child, &target, world);
                    }
                }
            }
        }
        if shape.recurse.is_some() || shape.may_remove_directory() {
            self.deep.insert(path.clone());
        }
        for (kind, name) in ATTRIBUTES {
            if resource.has(name) {
                self.attributes.entry(kind).or_default().insert(path.clone());
                if shape.recurse.is_some() {
                    self.recursive.entry(kind).or_default().insert(path.clone());
                }
            }
        }
        if let Some(mode) = resource.text("mode").and_then(|mode| crate::attributes::octal(&mode))
            && u32::from_str_radix(&mode, 8).is_ok_and(|mode| mode & 0o111 == 0)
        {
            self.plain_modes.entry(path.clone()).or_default().insert(mode);
        }
        if let Some(ending) = types::file::backup_ending(resource) {
            self.provide(&format!("{path}{ending}"), world);
        }
        if let Some(command) = resource.text("validate_cmd")
            && let Some(tool) = commands::absolute_paths(&command).next()
        {
            self.add_path(tool, world);
        }
    }

    pub(crate) fn declare(&mut self, path: &str, kinds: &[Kind], world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.declared.entry(path).or_insert_with(|| kinds.to_vec());
        }
    }

    pub(crate) fn manage(&mut self, kind: CellKind, path: &str, world: &World<'_>) {
        if let Some(path) = self.canonical(path, world) {
            self.attributes.entry(kind).or_default().insert(path);
        }
    }

    /// Whether anything manages an attribute of a path.
    pub(crate) fn manages(&self, kind: CellKind, path: &str) -> bool {
        let above = |folders: &FxHashSet<String>| {
            folders.contains("/") || ancestors(path).any(|above| folders.contains(above))
        };
        self.recursive.get(&kind).is_some_and(above)
            || self.attributes.get(&kind).is_some_and(|paths| paths.contains(path))
    }

    /// Adds what stands for all other children, and the paths above.
    fn finish(&mut self, world: &World<'_>) {
        // Packages put programs into two folders; what lies elsewhere a resource brings.
        let is_packaged = |path: &String| ["/usr/bin/", "/usr/sbin/"].iter().any(|bin| path.starts_with(bin));
        let mut places = std::mem::take(&mut self.programs);
        places.retain(|path| !self.all.contains(path) && (is_packaged(path) || self.provided.contains(path)));
        self.all.extend(places.iter().cloned());
        self.programs = places;
        let installed = self.packages.iter().filter(|name| !self.removed_packages.contains(*name));
        self.brought.extend(installed.flat_map(|name| world.base.brought_by(name)));
        self.finish_homes(world);
        self.finish_ways();
        self.entered.retain(|path| !self.all.contains(path));
        self.all.extend(self.entered.iter().cloned());
        for (path, programs) in &self.edits {
            for (program, extended) in programs {
                let settles = Edit::parse(program, *extended).is_some_and(|edit| edit.settles());
                if settles && !self.is_written_whole(path) {
                    let program = crate::attributes::shared(program);
                    self.entries.push((path.clone(), Entry::Edited { program, extended: *extended }));
                }
            }
        }
        for directory in &self.deep {
            let slash = if directory == "/" { "" } else { "/" };
            for child in [SOME_FILE, SOME_DIRECTORY] {
                self.all.insert(format!("{directory}{slash}{child}"));
            }
        }
        let mut above: FxHashSet<String> = FxHashSet::default();
        for path in &self.all {
            for folder in ancestors(path) {
                if !above.insert(folder.to_owned()) {
                    break;
                }
            }
        }
        for directory in &self.deep {
            let slash = if directory == "/" { "" } else { "/" };
            self.declared
                .entry(format!("{directory}{slash}{SOME_FILE}"))
                .or_insert_with(|| vec![Kind::Absent, Kind::File]);
            self.declared
                .entry(format!("{directory}{slash}{SOME_DIRECTORY}"))
                .or_insert_with(|| vec![Kind::Absent, Kind::Directory]);
        }
        self.all.extend(above.iter().cloned());
        self.ancestors = above;
        for (path, lines) in self.appended.iter().filter(|(_, lines)| lines.len() > 1) {
            self.entries.push((path.clone(), Entry::Last));
            let after = lines.iter().map(|line| (path.clone(), Entry::After(line.as_str().into())));
            self.entries.extend(after);
        }
        self.copy_entries();
        for (path, from) in std::mem::take(&mut self.made) {
            for source in self.matching(&from, world) {
                self.entries.push((path.clone(), Entry::MadeFrom(source.as_str().into())));
                let parts = self.entries.iter().filter(|(other, _)| *other == source && *other != path);
                let made = parts.map(|(_, entry)| (path.clone(), Entry::made_from(&source, entry)));
                let made: Vec<(String, Entry)> = made.collect();
                self.entries.extend(made);
            }
        }
    }

    /// What is followed in a file is followed in its copies.
    fn copy_entries(&mut self) {
        const LONGEST: usize = 4;
        for _ in 0..LONGEST {
            let mut more = Vec::new();
            for (from, to) in self.copies.iter().filter(|(from, to)| from != to) {
                let parts = self.entries.iter().filter(|(path, _)| path == from);
                more.extend(parts.map(|(_, entry)| (to.clone(), entry.clone())));
            }
            more.retain(|one| !self.entries.contains(one));
            more.sort();
            more.dedup();
            if more.is_empty() {
                return;
            }
            self.entries.extend(more);
        }
    }

    /// What lies in /etc/skel is copied into every home that is made with its user.
    fn finish_homes(&mut self, world: &World<'_>) {
        let skeleton: Vec<String> = self.below("/etc/skel");
        for home in std::mem::take(&mut self.made_homes) {
            let Some(home) = self.canonical(&home, world) else { continue };
            // Whoever makes it first decides whose it is, also if nothing says whose it should be.
            if self.files.contains_key(&home) {
                for (kind, _) in ATTRIBUTES {
                    self.attributes.entry(kind).or_default().insert(home.clone());
                }
            }
            for path in &skeleton {
                if let Some(rest) = path.strip_prefix("/etc/skel")
                    && self.files.contains_key(path)
                {
                    self.all.insert(format!("{home}{rest}"));
                    self.provided.insert(format!("{home}{rest}"));
                    self.copies.insert((path.clone(), format!("{home}{rest}")));
                }
            }
        }
    }

    /// Whether commands, or who recurses from above, may change the mode or the owner of a path.
    pub(crate) fn is_given_by_many(&self, path: &str) -> bool {
        let folders = self.recursive.values().flatten().chain(&self.given_by_commands);
        folders.into_iter().any(|folder| folder == path || is_below(path, folder))
    }

    /// The modes that resources give to a file and that let nobody run it.
    pub(crate) fn plain_modes(&self, path: &str) -> Vec<String> {
        self.plain_modes.get(path).into_iter().flatten().cloned().collect()
    }

    /// The links of the catalog that lie on the way to a path.
    pub(crate) fn links_above(&self, path: &str, world: &World<'_>) -> Vec<String> {
        let Some(mut path) = canonical_path(path).map(|path| world.base.follow(path)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for _ in 0..LONGEST_CHAIN {
            let linked = ancestors(&path).find_map(|above| Some((above.to_owned(), self.links.get(above)?)));
            let Some((link, target)) = linked else { break };
            let Some(next) = canonical_path(&format!("{target}{}", &path[link.len()..])) else { break };
            found.push(link);
            path = world.base.follow(next);
        }
        found
    }

    /// How many resources make the same home with their users.
    pub(crate) fn shares_home(&self, user: &str) -> bool {
        let home = self.home(user);
        self.homes.values().filter(|other| **other == home).count() > 1
    }

    /// Whether a file of a package can matter.
    pub(crate) fn is_interesting(&self, path: &str) -> bool {
        self.all.contains(path) || self.is_in_deep(path)
    }

    fn is_in_deep(&self, path: &str) -> bool {
        !self.deep.is_empty() && ancestors(path).any(|above| self.deep.contains(above))
    }

    /// The files of packages that lie below directories whose contents matter, with a limit for each.
    pub(crate) fn add_packaged(&mut self, paths: &BTreeSet<String>) {
        const LIMIT: usize = 64;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for path in paths {
            let Some(above) = ancestors(path).find(|above| self.deep.contains(*above)) else { continue };
            let count = counts.entry(above.to_owned()).or_default();
            *count += 1;
            if *count <= LIMIT {
                self.all.insert(path.clone());
                for folder in ancestors(path) {
                    self.all.insert(folder.to_owned());
                    if !self.ancestors.insert(folder.to_owned()) {
                        break;
                    }
                }
            }
        }
        for (path, count) in counts {
            if count > LIMIT {
                let owner = self.files.get(&path).copied();
                self.gaps.push((Assumption::ManyPaths { path, left_out: count - LIMIT }, owner));
            }
        }
    }

    /// The paths of which a part begins with a name.
    pub(crate) fn bearing(&self, name: &str) -> Vec<String> {
        let parts = self.parts.get_or_init(|| {
            let named = self.all.iter().filter(|path| !path.contains('('));
            let parts = named.flat_map(|path| path.split('/').map(move |part| (part.into(), path.clone())));
            let mut parts: Vec<(Box<str>, String)> = parts.collect();
            parts.sort_unstable();
            parts.dedup();
            parts
        });
        let first = parts.partition_point(|(part, _)| **part < *name);
        let bearing = parts[first..].iter().take_while(|(part, _)| part.starts_with(name));
        let found: BTreeSet<&String> = bearing.map(|(_, path)| path).collect();
        found.into_iter().cloned().collect()
    }

    /// Returns every path that the catalog names, and those above.
    pub(crate) fn named(&self) -> impl Iterator<Item = &String> {
        self.all.iter()
    }

    pub(crate) fn is_named(&self, path: &str) -> bool {
        self.all.contains(path)
    }

    /// The paths below a directory, parents before children.
    pub(crate) fn below(&self, path: &str) -> Vec<String> {
        let prefix = if path == "/" { "/".to_owned() } else { format!("{path}/") };
        self.all
            .range::<str, _>((Bound::Excluded(prefix.as_str()), Bound::Unbounded))
            .take_while(|other| other.starts_with(&prefix))
            .cloned()
            .collect()
    }
}

pub(crate) const ATTRIBUTES: [(CellKind, &str); 3] =
    [(CellKind::Mode, "mode"), (CellKind::Owner, "owner"), (CellKind::Group, "group")];

/// Where a link at a path leads: its target is found from the folder that it is in.
fn led_from(path: &str, target: &str) -> String {
    if target.starts_with('/') {
        return target.to_owned();
    }
    format!("{}/{target}", crate::machine::parent(path).unwrap_or_default())
}

fn default_home(user: &str) -> String {
    if user == "root" { "/root".to_owned() } else { format!("/home/{user}") }
}

pub(crate) fn is_below(path: &str, above: &str) -> bool {
    above == "/" || path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// The directories above a canonical path, the nearest first.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = crate::machine::parent(rest)?;
        Some(rest)
    })
}
