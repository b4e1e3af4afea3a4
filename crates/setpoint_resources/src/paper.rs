//! Rehearsal's own models: the file system alone, one error for all failures, any start.
//!
//! A package is a marker, guarded directories, and files that must not exist yet, each with a content that only package
//! and path decide. Mode, owner and group are no part of it; nor are refreshes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use setpoint_catalog::graph::{Graph, Node};
use setpoint_catalog::{Catalog, Resource};
use setpoint_packages::Found;
use setpoint_source::canonical_path;
use setpoint_state::{CellId, CellKey, Kind, Plan, Program, Reach, Space, Test, Value};

use crate::attributes::{Attributes, shared};
use crate::clock::{Clock, Late};
use crate::machine::{absent, all, choose, parent, sequence, when};
use crate::mentions::{SOME_FILE, ancestors};
use crate::plan::{Modelled, Parts, Skeleton};
use crate::types::Model;
use crate::types::file::{Ensure, Shape, local_source};
use crate::{Origin, Origins, OutOfTime, Source, World};

const KINDS: [Kind; 3] = [Kind::Absent, Kind::Directory, Kind::File];

pub(crate) fn plan(
    catalog: &Catalog,
    graph: &Graph,
    world: &World<'_>,
    clock: &mut Clock,
) -> Result<Modelled, OutOfTime> {
    let of = catalog.resources().len();
    let mut paper = Paper::new(catalog, world, clock).map_err(|Late| OutOfTime { modelled: 0, of })?;
    let mut steps = Skeleton::default();
    for id in graph.order() {
        clock.tick().map_err(|Late| steps.out_of_time(of))?;
        let (model, resource) = match graph.node(id) {
            Node::Resource(resource) => (paper.model(&catalog[resource]), resource),
            Node::Begin(resource) | Node::End(resource) => (Model::pass(), resource),
            Node::Default(..) => continue,
        };
        let name = match graph.node(id) {
            Node::Begin(_) => format!("{} (begin)", catalog[resource]),
            Node::End(_) => format!("{} (end)", catalog[resource]),
            _ => catalog[resource].reference(),
        };
        steps.add(id, resource, &name, model);
    }
    let Parts { steps, resources, edges, .. } = steps.finish(graph);
    let plan =
        Plan { space: paper.space, steps, edges, notifies: Vec::new(), start: Vec::new(), laws: paper.laws };
    // What its models and its index do not know is as the paper says: no assumption is ours.
    Ok(Modelled { plan, resources, origins: paper.origins, ..Modelled::default() })
}

struct Paper<'a> {
    world: &'a World<'a>,
    space: Space,
    laws: Vec<Test>,
    origins: Origins,
    secrets: BTreeMap<String, usize>,
    /// The paths that more than one resource names, or that matter to a removal, and those above.
    kept: BTreeSet<String>,
    /// The files of packages, by the name that a resource uses.
    packages: BTreeMap<String, Vec<String>>,
}

impl<'a> Paper<'a> {
    fn new(catalog: &Catalog, world: &'a World<'a>, clock: &mut Clock) -> Result<Self, Late> {
        let mut paper = Self {
            world,
            space: Space::new(),
            laws: Vec::new(),
            origins: Origins::default(),
            secrets: BTreeMap::new(),
            kept: BTreeSet::new(),
            packages: BTreeMap::new(),
        };
        let mut listed: BTreeMap<String, usize> = BTreeMap::new();
        for (_, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
            clock.tick()?;
            if resource.type_name.as_str() == "Package" {
                for path in paper.listing(&resource.name_or_title("name")) {
                    *listed.entry(path).or_default() += 1;
                }
            }
            for path in named(resource) {
                paper.kept.insert(path);
            }
        }
        // A file that only one package has, and nothing else names, cannot tell two orders apart.
        paper.kept.extend(listed.into_iter().filter(|(_, count)| *count > 1).map(|(path, _)| path));
        let mut above: BTreeSet<String> = BTreeSet::new();
        for path in &paper.kept {
            // What is above one that is known is known already, or will be.
            let fresh =
                ancestors(path).take_while(|path| !paper.kept.contains(*path) && !above.contains(*path));
            let fresh: Vec<String> = fresh.map(str::to_owned).collect();
            above.extend(fresh);
        }
        paper.kept.extend(above);
        paper.kept.remove("/");
        Ok(paper)
    }

    /// Returns the files of a package. One that the index does not know has none, as in the paper.
    fn listing(&mut self, name: &str) -> Vec<String> {
        if let Some(known) = self.packages.get(name) {
            return known.clone();
        }
        let files = match self.world.packages.find(name) {
            Ok(Found::Package(facts)) => facts.files.iter().map(ToString::to_string).collect(),
            Ok(Found::Virtual(_) | Found::Unknown) | Err(_) => Vec::new(),
        };
        self.packages.insert(name.to_owned(), files);
        self.packages.get(name).cloned().unwrap_or_default()
    }

    /// The cell of a path, with the law that what exists lies in a directory. The root is always one.
    fn path(&mut self, path: &str) -> Option<CellId> {
        if path == "/" {
            return None;
        }
        let key = CellKey::path(path);
        if let Some(known) = self.space.find(&key) {
            return Some(known);
        }
        let cell = self.space.cell(key, &KINDS);
        if let Some(above) = parent(path)
            && let Some(above) = self.path(above)
        {
            self.laws.push(Test::Any(vec![absent(cell), Test::Kind(above, Kind::Directory)]));
        }
        Some(cell)
    }

    fn in_directory(&mut self, path: &str) -> Test {
        match parent(path).and_then(|above| self.path(above)) {
            Some(above) => Test::Kind(above, Kind::Directory),
            None => Test::True,
        }
    }

    /// `creat` and `mkdir`: nothing is there, and what is above is a directory.
    fn make(&mut self, path: &str, value: Value) -> Program {
        let Some(cell) = self.path(path) else { return Program::fail("the root is there") };
        let inside = self.in_directory(path);
        choose(
            all(vec![absent(cell), inside]),
            Program::set(cell, value),
            Program::fail(&format!("{path} cannot be created")),
        )
    }

    /// `rm`: a file, or a directory without contents.
    fn remove(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::fail("the root cannot be removed") };
        let prefix = format!("{path}/");
        let below: Vec<String> = self
            .kept
            .range::<str, _>((Bound::Excluded(prefix.as_str()), Bound::Unbounded))
            .take_while(|other| other.starts_with(&prefix))
            .cloned()
            .collect();
        let empty = all(below.iter().filter_map(|path| self.path(path)).map(absent).collect());
        let removable = Test::Any(vec![
            Test::Kind(cell, Kind::File),
            Test::All(vec![Test::Kind(cell, Kind::Directory), empty]),
        ]);
        choose(
            removable,
            Program::set(cell, Value::Absent),
            Program::fail(&format!("{path} cannot be removed")),
        )
    }

    /// Overwrites a file or creates one; a directory is an error unless it may be forced away.
    fn overwrite(&mut self, path: &str, value: &Value, force: bool) -> Program {
        let Some(cell) = self.path(path) else { return Program::fail("the root is a directory") };
        let make = self.make(path, value.clone());
        let directory = if force {
            let remove = self.remove(path);
            sequence(vec![remove, make.clone()])
        } else {
            Program::fail(&format!("{path} is a directory"))
        };
        choose(
            absent(cell),
            make,
            choose(Test::Kind(cell, Kind::Directory), directory, Program::set(cell, value.clone())),
        )
    }

    fn directory(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        let make = self.make(path, Value::Directory);
        choose(
            Test::Kind(cell, Kind::Directory),
            Program::Skip,
            choose(Test::Kind(cell, Kind::File), Program::set(cell, Value::Directory), make),
        )
    }

    /// A directory is made if nothing is there.
    fn guarded_directory(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        let make = self.make(path, Value::Directory);
        when(Test::Kind(cell, Kind::Directory).negate(), make)
    }

    fn model(&mut self, resource: &Resource) -> Model {
        let present = !matches!(resource.ensure().as_deref(), Some("absent" | "purged" | "false"));
        let program = match resource.type_name.as_str() {
            "File" => self.file(resource),
            "Package" => self.package(&resource.name_or_title("name"), present),
            "Service" => {
                let script = format!("/etc/init.d/{}", resource.name_or_title("name"));
                let there = self.path(&script).map_or(Test::True, |cell| Test::Kind(cell, Kind::File));
                when(there.negate(), Program::fail(&format!("{script} does not exist")))
            }
            "User" => {
                let name = resource.name_or_title("name");
                let mut paths = vec![format!("/etc/users/{name}"), format!("/etc/groups/{name}")];
                if resource.flag("managehome") == Some(true) {
                    paths.push(format!("/home/{name}"));
                }
                self.directories(&paths, present)
            }
            "Group" => {
                self.directories(&[format!("/etc/groups/{}", resource.name_or_title("name"))], present)
            }
            "Ssh_authorized_key" => {
                let [own, dummy] = key_paths(resource);
                if present {
                    let content = Value::file(&format!("(key {})", resource.text("key").unwrap_or_default()));
                    let folder = parent(&own).map_or(Program::Skip, |folder| self.guarded_directory(folder));
                    let own = self.overwrite(&own, &content, false);
                    let dummy = self.overwrite(&dummy, &Value::file("(authorized keys)"), false);
                    sequence(vec![folder, own, dummy])
                } else {
                    self.remove_file(&own)
                }
            }
            "Cron" => {
                let path = job_path(resource);
                if present { self.mark(&path) } else { self.remove_file(&path) }
            }
            "Host" => {
                let path = host_path(resource);
                let ip = Value::file(&resource.text("ip").unwrap_or_default());
                let own = if present { self.overwrite(&path, &ip, false) } else { self.remove_file(&path) };
                let target = self.overwrite(&host_target(resource), &Value::file("(hosts)"), false);
                sequence(vec![own, target])
            }
            "Concat_file" => match canonical_path(&resource.name_or_title("path")) {
                Some(path) => self.overwrite(
                    &path,
                    &Value::file(&format!("(as {} makes it)", resource.reference())),
                    false,
                ),
                None => Program::Skip,
            },
            "Notify" | "Anchor" | "Stage" | "Schedule" | "Filebucket" | "Concat_fragment" | "Whit" => {
                Program::Skip
            }
            type_name => {
                let reason = format!("Rehearsal has no model of {type_name}");
                return Model::nothing().not_known(&reason, Reach::Everything);
            }
        };
        Model::new(program)
    }

    fn file(&mut self, resource: &Resource) -> Program {
        let Some(path) = canonical_path(&resource.name_or_title("path")) else {
            return Program::fail("it is no absolute path");
        };
        let shape = Shape::of(resource);
        let content = |text: &str| Value::File(Arc::from(text));
        match shape.ensure {
            Ensure::Absent => {
                let Some(cell) = self.path(&path) else { return Program::Skip };
                let remove = self.remove(&path);
                let removable =
                    if shape.force { absent(cell).negate() } else { Test::Kind(cell, Kind::File) };
                when(removable, remove)
            }
            Ensure::Directory => self.directory(&path),
            Ensure::Link => {
                let target = Value::Link(shared(shape.target.as_deref().unwrap_or_default()));
                self.overwrite(&path, &target, shape.force)
            }
            Ensure::Nothing => Program::Skip,
            Ensure::Present | Ensure::File => {
                if let Some(text) = &shape.content {
                    let text = if resource.hides("content") { self.secret(text) } else { text.clone() };
                    return self.overwrite(&path, &content(&text), shape.force);
                }
                let Some(source) = shape.sources.first() else {
                    let Some(cell) = self.path(&path) else { return Program::Skip };
                    let make = self.make(&path, content(""));
                    return when(absent(cell), make);
                };
                let Some(local) = local_source(source).and_then(canonical_path) else {
                    return match shape.source(source, self.world) {
                        Some(Source::Directory(_)) => self.directory(&path),
                        Some(Source::File(text)) => self.overwrite(&path, &Value::File(text), shape.force),
                        None | Some(Source::Unread | Source::Link { .. }) if shape.recurse.is_some() => {
                            self.directory(&path)
                        }
                        None | Some(Source::Unread | Source::Link { .. }) => {
                            self.overwrite(&path, &content(&format!("(as in {source})")), shape.force)
                        }
                    };
                };
                self.copy(&local, &path)
            }
        }
    }

    /// Returns the name that stands for a secret: equal for equal secrets alone.
    fn secret(&mut self, text: &str) -> String {
        let next = self.secrets.len() + 1;
        let number = *self.secrets.entry(text.to_owned()).or_insert(next);
        let name = format!("(secret {number})");
        self.origins.add(&name, Origin::Secret);
        name
    }

    fn copy(&mut self, from: &str, to: &str) -> Program {
        let (Some(source), Some(target)) = (self.path(from), self.path(to)) else {
            return Program::fail("a directory cannot be copied");
        };
        let inside = self.in_directory(to);
        let possible =
            all(vec![Test::Kind(source, Kind::File), Test::Kind(target, Kind::Directory).negate(), inside]);
        choose(possible, Program::copy(target, source), Program::fail(&format!("{from} cannot be copied")))
    }

    fn directories(&mut self, paths: &[String], present: bool) -> Program {
        let mut steps = Vec::new();
        for path in paths {
            steps.push(if present {
                self.guarded_directory(path)
            } else {
                match self.path(path) {
                    Some(cell) => {
                        let remove = self.remove(path);
                        when(absent(cell).negate(), remove)
                    }
                    None => Program::Skip,
                }
            });
        }
        sequence(steps)
    }

    /// A marker is there.
    fn mark(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        let make = Program::set(cell, Value::file("(marked)"));
        when(absent(cell), make)
    }

    fn remove_file(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        when(Test::Kind(cell, Kind::File), Program::set(cell, Value::Absent))
    }

    fn package(&mut self, name: &str, present: bool) -> Program {
        let files = self.listing(name);
        let kept: Vec<String> = files.iter().filter(|path| self.kept.contains(*path)).cloned().collect();
        let mut folders: BTreeSet<String> = BTreeSet::new();
        for path in &files {
            for above in ancestors(path) {
                if self.kept.contains(above) && !folders.insert(above.to_owned()) {
                    break;
                }
            }
        }
        let key = CellKey::path(&marker(name));
        let mark = self.space.cell(key, &[Kind::Absent, Kind::File]);
        if present {
            let mut steps = vec![Program::set(mark, Value::file("(installed)"))];
            for path in folders {
                steps.push(self.guarded_directory(&path));
            }
            for path in kept {
                let content = crate::packaged_content(name, &path);
                self.origins.add(&content, Origin::Package(name.to_owned()));
                steps.push(self.make(&path, Value::file(&content)));
            }
            return when(absent(mark), sequence(steps));
        }
        let mut steps = vec![Program::set(mark, Value::Absent)];
        for path in kept {
            steps.push(self.remove_file(&path));
        }
        when(absent(mark).negate(), sequence(steps))
    }
}

/// The paths that a resource names; packages are looked at apart.
fn named(resource: &Resource) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    match resource.type_name.as_str() {
        "File" => {
            let path = canonical_path(&resource.name_or_title("path"));
            let shape = Shape::of(resource);
            paths.extend(shape.sources.iter().filter_map(|source| canonical_path(local_source(source)?)));
            if let Some(path) = path {
                // What is removed must be empty: one fresh child stands for all that could be there.
                if shape.ensure == Ensure::Absent || shape.force {
                    paths.push(format!("{path}/{SOME_FILE}"));
                }
                paths.push(path);
            }
        }
        "Package" => paths.push(marker(&resource.name_or_title("name"))),
        "Service" => paths.push(format!("/etc/init.d/{}", resource.name_or_title("name"))),
        "User" => {
            let name = resource.name_or_title("name");
            paths.extend([format!("/etc/users/{name}"), format!("/etc/groups/{name}")]);
            if resource.flag("managehome") == Some(true) {
                paths.push(format!("/home/{name}"));
                if resource.ensure().as_deref() == Some("absent") {
                    paths.push(format!("/home/{name}/{SOME_FILE}"));
                }
            }
        }
        "Group" => paths.push(format!("/etc/groups/{}", resource.name_or_title("name"))),
        "Ssh_authorized_key" => paths.extend(key_paths(resource)),
        "Cron" => paths.push(job_path(resource)),
        "Host" => {
            paths.push(host_path(resource));
            paths.push(host_target(resource));
        }
        "Concat_file" => paths.extend(canonical_path(&resource.name_or_title("path"))),
        _ => {}
    }
    paths
}

/// What says that a package is installed. It is no path of the machine.
fn marker(name: &str) -> String {
    format!("(package {name})")
}

fn key_paths(resource: &Resource) -> [String; 2] {
    let user = resource.text("user").unwrap_or_default();
    let home = if user == "root" { "/root".to_owned() } else { format!("/home/{user}") };
    [
        format!("{home}/.ssh/{}", resource.name_or_title("name").replace('/', "_")),
        format!("{home}/.ssh/authorized_keys"),
    ]
}

fn job_path(resource: &Resource) -> String {
    format!("(cron {})", resource.text("command").unwrap_or_default())
}

fn host_path(resource: &Resource) -> String {
    format!("(host {})", resource.name_or_title("name"))
}

fn host_target(resource: &Resource) -> String {
    resource.text("target").and_then(|path| canonical_path(&path)).unwrap_or_else(|| "/etc/hosts".to_owned())
}
