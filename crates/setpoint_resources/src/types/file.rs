//! `file`.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_commands::Surroundings;
use setpoint_source::canonical_path;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Test, Value};

use super::{Model, Type};
use crate::attributes::{Attributes, directory_mode, is_number, octal, shared};
use crate::commands::{self, Question};
use crate::entries::Entry;
use crate::machine::{Machine, absent, all, any, choose, never, sequence, when};
use crate::mentions::{Mentions, SOME_DIRECTORY, SOME_FILE, ancestors, is_below};
use crate::table::{Row, Scope, Values};
use crate::{Assumption, Origin, Source, World};

const SELINUX: &str = "it decides how the context is chosen that is given to new files";
const COMPARED: &str = "by which digest contents are compared";
const READ_ONLY: Scope = Scope::Own;

const ROWS: &[Row] = &[
    Row::modelled("path"),
    Row::modelled("ensure").of(Values::Single),
    Row::open("content", Scope::Own).of(Values::Beginning("{md5}")),
    Row::open("content", Scope::Own).of(Values::Beginning("{sha256}")),
    Row::modelled("content").of(Values::Single),
    Row::open("content", Scope::Own),
    Row::open("checksum_value", Scope::Own),
    Row::modelled("target").of(Values::Single),
    Row::modelled("owner").of(Values::Single),
    Row::modelled("group").of(Values::Single),
    Row::modelled("mode").of(Values::Single),
    Row::open("type", READ_ONLY),
    Row::moot("seluser", "what is absent has no context").with(&["absent", "false"]),
    Row::moot("selrole", "what is absent has no context").with(&["absent", "false"]),
    Row::moot("seltype", "what is absent has no context").with(&["absent", "false"]),
    Row::moot("selrange", "what is absent has no context").with(&["absent", "false"]),
    Row::kept("seluser"),
    Row::kept("selrole"),
    Row::kept("seltype"),
    Row::kept("selrange"),
    Row::open("ctime", READ_ONLY),
    Row::open("mtime", READ_ONLY),
    Row::modelled("backup").words(&["true", ".puppet-bak"]),
    Row::modelled("backup").of(Values::Beginning(".")),
    Row::inert("backup", "copies in a bucket are read by no resource").of(Values::Single),
    Row::modelled("recurse").words(&["true", "false", "remote", "inf"]),
    Row::modelled("recurselimit").of(Values::Single),
    Row::inert("max_files", "no limit, or a warning alone").words(&["0", "-1"]),
    Row::open("max_files", Scope::Own),
    Row::modelled("replace").words(&["true", "false", "yes", "no"]),
    Row::modelled("force").words(&["true", "false", "yes", "no"]),
    Row::modelled("ignore"),
    Row::inert("links", "what Puppet does anyway").words(&["manage"]),
    Row::modelled("links").words(&["follow"]),
    Row::open("links", Scope::Everything),
    Row::modelled("purge").words(&["true", "false", "yes", "no"]),
    Row::inert("sourceselect", "what Puppet does anyway").words(&["first"]),
    Row::open("sourceselect", Scope::Own),
    Row::inert("show_diff", "the words of a report"),
    Row::open("staging_location", Scope::Everything),
    Row::modelled("validate_cmd").of(Values::Single),
    Row::inert("validate_replacement", "what Puppet does anyway").words(&["%"]),
    Row::open("validate_replacement", Scope::Everything),
    Row::inert("provider", "what Puppet does anyway").words(&["posix"]),
    Row::open("provider", Scope::Everything),
    Row::inert("checksum", COMPARED).words(&["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]),
    Row::open("checksum", Scope::Own),
    Row::modelled("source"),
    Row::inert("source_permissions", "what Puppet does anyway").words(&["ignore"]),
    Row::open("source_permissions", Scope::Own),
    Row::inert("selinux_ignore_defaults", SELINUX),
];

/// `file`.
pub(crate) struct File;

impl Type for File {
    fn name(&self) -> &'static str {
        "File"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, id: ResourceId, resource: &Resource, world: &World<'_>) {
        mentions.file(id, resource, world);
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        let model = model(machine, resource);
        let read = read_by_validation(machine, resource);
        if read.is_empty() {
            return model;
        }
        let cells = model.touched().into_iter().chain(read).collect();
        model.not_known("what the command that checks its content reads is not known", Reach::Cells(cells))
    }

    fn declares(&self, resource: &Resource, path: Option<&str>, key: &CellKey) -> bool {
        // What else is in a folder is there or not: only that it is purged is declared.
        match key.kind {
            CellKind::Path => !leaves_content_open(resource),
            CellKind::Mode | CellKind::Owner | CellKind::Group => path.is_none_or(|path| *key.name == *path),
            _ => true,
        }
    }
}

/// A file that is only to be there, with whatever content.
fn leaves_content_open(file: &Resource) -> bool {
    let ensure = file.ensure();
    let is_file = matches!(ensure.as_deref(), None | Some("present" | "file"));
    is_file && !["content", "source", "target"].iter().any(|name| file.has(name))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ensure {
    /// Only attributes of what is there.
    Nothing,
    Present,
    File,
    Directory,
    Link,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recurse {
    Local,
    Remote,
}

/// What a file resource asks for.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) ensure: Ensure,
    pub(crate) content: Option<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) recurse: Option<Recurse>,
    pub(crate) purge: bool,
    pub(crate) force: bool,
    pub(crate) replace: bool,
    pub(crate) target: Option<String>,
    /// A link at the path is what it leads to.
    pub(crate) follows: bool,
    /// Where a copy of what was there is kept, by its ending.
    pub(crate) backup: Option<String>,
    /// The names that recursion leaves alone.
    pub(crate) ignore: Vec<String>,
    /// How deep recursion goes.
    limit: Option<usize>,
}

/// The ending of the copy that is kept of a file; the bucket is no part of what is modelled.
pub(crate) fn backup_ending(resource: &Resource) -> Option<String> {
    let ending = resource.text("backup")?;
    Some(if ending == "true" { ".puppet-bak".to_owned() } else { ending })
        .filter(|ending| ending.starts_with('.'))
}

/// The canonical path of a file resource, before links are followed.
pub(crate) fn own_path(resource: &Resource) -> Option<String> {
    canonical_path(&resource.name_or_title("path"))
}

/// What a link points to. An `ensure` that is none of the known words is a target, too.
pub(crate) fn link_target(resource: &Resource) -> Option<String> {
    let shape = Shape::of(resource);
    (shape.ensure == Ensure::Link).then_some(shape.target).flatten()
}

/// The path of a source on the machine itself.
pub(crate) fn local_source(source: &str) -> Option<&str> {
    let path = source.strip_prefix("file://").unwrap_or(source);
    path.starts_with('/').then_some(path)
}

/// All that a file server has below an address, with its path below it.
pub(crate) fn served(source: &str, shape: &Shape, world: &World<'_>) -> Vec<(String, Source)> {
    fn walk(at: &str, source: Source, found: &mut Vec<(String, Source)>) {
        if let Source::Directory(children) = &source {
            for (name, child) in children {
                let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
                walk(&path, child.clone(), found);
            }
        }
        if !at.is_empty() {
            found.push((at.to_owned(), source));
        }
    }
    let mut found = Vec::new();
    if let Some(source) = shape.source(source, world) {
        walk("", source, &mut found);
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

impl Shape {
    pub(crate) fn of(resource: &Resource) -> Self {
        let content = resource.text("content");
        let sources = resource.texts("source");
        let mut target = resource.text("target");
        let ensure = match resource.ensure().as_deref() {
            None | Some("") if target.is_some() => Ensure::Link,
            None | Some("") if content.is_some() => Ensure::File,
            None | Some("") if !sources.is_empty() => Ensure::Present,
            None | Some("") => Ensure::Nothing,
            Some("absent" | "false") => Ensure::Absent,
            Some("present") => Ensure::Present,
            Some("file") => Ensure::File,
            Some("directory") => Ensure::Directory,
            Some("link") => Ensure::Link,
            Some(other) => {
                target = Some(other.to_owned());
                Ensure::Link
            }
        };
        let recurse = match resource.text("recurse").as_deref() {
            Some("true" | "inf") => Some(Recurse::Local),
            Some("remote") => Some(Recurse::Remote),
            _ => None,
        };
        Self {
            ensure,
            content,
            sources,
            recurse,
            purge: resource.flag("purge") == Some(true),
            force: resource.flag("force") == Some(true),
            replace: resource.flag("replace") != Some(false),
            target,
            follows: resource.text("links").as_deref() == Some("follow"),
            backup: backup_ending(resource),
            ignore: resource.texts("ignore"),
            limit: resource.text("recurselimit").and_then(|limit| limit.parse().ok()),
        }
    }

    /// What a file server has at an address: a link is one, unless links are followed.
    pub(crate) fn source(&self, address: &str, world: &World<'_>) -> Option<Source> {
        let source = world.sources.get(address)?;
        if self.follows { source.followed() } else { Some(source) }
    }

    /// It may remove a directory with all that is below.
    pub(crate) fn may_remove_directory(&self) -> bool {
        self.force && matches!(self.ensure, Ensure::Absent | Ensure::File | Ensure::Link)
    }

    pub(crate) fn creates(&self) -> bool {
        !matches!(self.ensure, Ensure::Absent | Ensure::Nothing)
    }

    /// The kinds that an admissible start has at its path.
    pub(crate) fn admissible(&self) -> Vec<Kind> {
        match self.ensure {
            Ensure::Nothing => vec![Kind::Absent, Kind::Directory, Kind::File],
            Ensure::Present | Ensure::File if !self.sources.is_empty() && self.recurse.is_some() => {
                vec![Kind::Absent, Kind::Directory]
            }
            Ensure::Present | Ensure::File => vec![Kind::Absent, Kind::File],
            Ensure::Directory => vec![Kind::Absent, Kind::Directory],
            Ensure::Link => vec![Kind::Absent, Kind::Link],
            Ensure::Absent if self.force => vec![Kind::Absent, Kind::File, Kind::Link, Kind::Directory],
            Ensure::Absent => vec![Kind::Absent, Kind::File, Kind::Link],
        }
    }
}

/// The owner, group and mode that a resource asks for.
#[derive(Clone, Debug, Default)]
struct Wanted {
    mode: Option<String>,
    /// The mode that a directory gets.
    directory_mode: Option<String>,
    owner: Option<String>,
    group: Option<String>,
    /// A mode that adds to or takes from what is there.
    relative_mode: bool,
}

impl Wanted {
    fn of(resource: &Resource) -> Self {
        let mode = resource.text("mode");
        let absolute = mode.as_deref().and_then(octal);
        // Only digits say that who may read a directory may search it.
        let by_number = mode.as_deref().is_some_and(|mode| is_number(mode.trim()));
        let for_directory =
            absolute.as_deref().map(|mode| if by_number { directory_mode(mode) } else { mode.to_owned() });
        // Everybody knows whose number this is.
        let named = |account: String| if account == "0" { "root".to_owned() } else { account };
        Self {
            relative_mode: mode.is_some() && absolute.is_none(),
            mode: absolute,
            directory_mode: for_directory,
            owner: resource.text("owner").map(named),
            group: resource.text("group").map(named),
        }
    }

    /// Sets the attributes of what was just made; what cannot be set fails, and the rest is not set.
    fn after_creation(&self, machine: &mut Machine<'_>, path: &str, kind: Kind) -> Program {
        let mode = match kind {
            Kind::Link => "0777",
            Kind::Directory => self.directory_mode.as_deref().unwrap_or("0755"),
            _ => self.mode.as_deref().unwrap_or("0644"),
        };
        self.with_mode(machine, path, mode)
    }

    /// A file that takes the place of a directory has the mode of one until the next run: Puppet has seen a directory.
    fn in_place_of_directory(&self, machine: &mut Machine<'_>, path: &str) -> Program {
        self.with_mode(machine, path, self.directory_mode.as_deref().unwrap_or("0644"))
    }

    fn with_mode(&self, machine: &mut Machine<'_>, path: &str, mode: &str) -> Program {
        let mut steps = machine.set_attributes(path, mode, "root", "root");
        if let Some(owner) = &self.owner {
            let known = machine.user_exists(owner);
            steps.push(when(known.negate(), Program::fail(&format!("could not find user {owner}"))));
            if let Some(cell) = machine.attribute(CellKind::Owner, path) {
                steps.push(Program::set(cell, Value::text(owner)));
            }
        }
        if let Some(group) = &self.group {
            let known = machine.group_exists(group);
            steps.push(when(known.negate(), Program::fail(&format!("could not find group {group}"))));
            if let Some(cell) = machine.attribute(CellKind::Group, path) {
                steps.push(Program::set(cell, Value::text(group)));
            }
        }
        sequence(steps)
    }

    /// Brings the attributes of what is there in line. Each is tried, whatever becomes of the others.
    fn in_line(&self, machine: &mut Machine<'_>, path: &str) -> Program {
        let mut steps = Vec::new();
        let mut failures = Vec::new();
        let mut set = |machine: &mut Machine<'_>, kind, value: &str, known: Test, reason: String| {
            let Some(cell) = machine.attribute(kind, path) else { return };
            let differs = Test::is(cell, Value::text(value)).negate();
            let write = Program::Sequence(vec![Program::set(cell, Value::text(value)), Program::Change]);
            steps.push(when(all(vec![differs, known.clone()]), write));
            if known != Test::True {
                // Puppet looks the account up before it compares.
                failures.push(when(known.negate(), Program::fail(&reason)));
            }
        };
        if let Some(group) = &self.group {
            let known = machine.group_exists(group);
            set(machine, CellKind::Group, group, known, format!("could not find group {group}"));
        }
        if let Some(owner) = &self.owner {
            let known = machine.user_exists(owner);
            set(machine, CellKind::Owner, owner, known, format!("could not find user {owner}"));
        }
        if let (Some(mode), Some(directory_mode)) = (&self.mode, &self.directory_mode)
            && let Some(cell) = machine.attribute(CellKind::Mode, path)
        {
            let bring = |mode: &str| {
                let differs = Test::is(cell, Value::text(mode)).negate();
                when(differs, Program::Sequence(vec![Program::set(cell, Value::text(mode)), Program::Change]))
            };
            let for_directory = bring(directory_mode);
            steps.push(match machine.path(path) {
                // A folder of the platform is a directory whatever happens.
                None => for_directory,
                Some(at) => {
                    // The mode of a link cannot be changed.
                    let other = choose(Test::Kind(at, Kind::Link), Program::Skip, bring(mode));
                    choose(Test::Kind(at, Kind::Directory), for_directory, other)
                }
            });
        }
        steps.extend(failures);
        sequence(steps)
    }
}

/// Where the content of a file comes from.
enum Content {
    None,
    Known(Arc<str>),
    /// One that only this name decides.
    Named(String, Origin),
    Copy(String),
}

impl Content {
    fn write(&self, machine: &mut Machine<'_>, path: &str) -> Program {
        match self {
            Self::None => machine.write_file(path, &shared("")),
            Self::Known(content) => machine.write_file(path, content),
            Self::Named(name, origin) => machine.write_named(path, name, origin.clone()),
            Self::Copy(from) => machine.copy_file(path, from),
        }
    }

    fn is_there(&self, machine: &mut Machine<'_>, path: &str) -> Test {
        match self {
            Self::None => Test::True,
            Self::Known(content) => machine.has_content(path, content),
            Self::Named(name, _) => {
                let Some(cell) = machine.path(path) else { return never() };
                let mut tests = vec![Test::is(cell, Value::file(name))];
                tests.extend(machine.tracked(path).into_iter().map(|tracked| absent(tracked.cell)));
                all(tests)
            }
            Self::Copy(from) => machine.same_content(path, from),
        }
    }
}

pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let Some(path) = own_path(resource).and_then(|path| machine.mentions.canonical(&path, machine.world))
    else {
        let reason = format!("{} is no absolute path", resource.name_or_title("path"));
        return Model::new(Program::fail(&reason));
    };
    let shape = Shape::of(resource);
    let wanted = Wanted::of(resource);
    let fixed = machine.path(&path).is_none();
    let apply = if fixed {
        // A directory of the platform: only what is below it can change.
        sequence(vec![wanted.in_line(machine, &path), contents(machine, &path, &shape, &wanted)])
    } else {
        let own = own(machine, resource, &path, &shape, &wanted);
        sequence(vec![own, contents(machine, &path, &shape, &wanted)])
    };
    let mut model = Model::new(apply);
    if wanted.relative_mode
        && let Some(cell) = machine.attribute(CellKind::Mode, &path)
    {
        model = model.not_known("its mode adds to what is there", Reach::Cells(vec![cell]));
    }
    if shape.follows && (shape.ensure == Ensure::Link || meets_link(machine, &path, &shape)) {
        model = model.not_known("it follows links, and one may be in its way", Reach::Everything);
    }
    model
}

/// Whether a resource of either catalog may make a link at the path, at a source on the machine, or below them.
fn meets_link(machine: &mut Machine<'_>, path: &str, shape: &Shape) -> bool {
    let mut paths = vec![path.to_owned()];
    let local = shape.sources.iter().filter_map(|source| local_source(source));
    paths.extend(local.filter_map(|source| machine.mentions.canonical(source, machine.world)));
    if shape.recurse.is_some() {
        let below: Vec<String> = paths.iter().flat_map(|path| machine.below(path)).collect();
        paths.extend(below);
    }
    paths.iter().any(|path| !machine.mentions.ways(path).is_empty())
}

fn own(
    machine: &mut Machine<'_>,
    resource: &Resource,
    path: &str,
    shape: &Shape,
    wanted: &Wanted,
) -> Program {
    match shape.ensure {
        Ensure::Absent => removal(machine, path, shape),
        Ensure::Directory => {
            let program = directory(machine, path, shape, wanted);
            with_source(machine, shape, program)
        }
        Ensure::Link => link(machine, path, shape, wanted),
        Ensure::Nothing => attributes_only(machine, path, wanted),
        Ensure::Present | Ensure::File => {
            if shape.sources.is_empty() {
                let content = match &shape.content {
                    None => Content::None,
                    Some(text) if resource.hides("content") => {
                        Content::Named(machine.secret(text), Origin::Secret)
                    }
                    Some(text) => Content::Known(shared(text)),
                };
                return file(machine, resource, path, shape, wanted, &content);
            }
            from_sources(machine, resource, path, shape, wanted)
        }
    }
}

fn attributes_only(machine: &mut Machine<'_>, path: &str, wanted: &Wanted) -> Program {
    let there = machine.exists(path);
    let in_line = wanted.in_line(machine, path);
    when(there, in_line)
}

fn removal(machine: &mut Machine<'_>, path: &str, shape: &Shape) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let tree = if shape.force {
        let remove = machine.remove_tree(path);
        sequence(vec![remove, Program::Change])
    } else {
        // Puppet says that it has removed the directory, and leaves it.
        Program::Change
    };
    let one = sequence(vec![keep(machine, path, shape), machine.remove_one(path), Program::Change]);
    choose(absent(cell), Program::Skip, choose(Test::Kind(cell, Kind::Directory), tree, one))
}

/// Keeps a copy of a file beside it.
fn keep(machine: &mut Machine<'_>, path: &str, shape: &Shape) -> Program {
    let (Some(ending), Some(cell)) = (&shape.backup, machine.path(path)) else { return Program::Skip };
    let copy = format!("{path}{ending}");
    let mut steps = vec![machine.copy_file(&copy, path)];
    steps.extend(machine.set_attributes(&copy, "0644", "root", "root"));
    when(Test::Kind(cell, Kind::File), sequence(steps))
}

/// What must be gone before something else can be put there.
fn make_room(machine: &mut Machine<'_>, path: &str, shape: &Shape) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let tree = if shape.force {
        machine.remove_tree(path)
    } else {
        Program::fail("a directory is there; only `force` would remove it")
    };
    let one = machine.remove_one(path);
    choose(absent(cell), Program::Skip, choose(Test::Kind(cell, Kind::Directory), tree, one))
}

fn no_parent(machine: &mut Machine<'_>, path: &str) -> Program {
    let parent = machine.parent_is_directory(path);
    when(parent.negate(), Program::fail("the directory above does not exist"))
}

fn directory(machine: &mut Machine<'_>, path: &str, shape: &Shape, wanted: &Wanted) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let no_parent = no_parent(machine, path);
    // Of the two ways to get there only files and links are removed.
    let room = when(absent(cell).negate(), machine.remove_one(path));
    let make = Program::set(cell, Value::Directory);
    let attributes = wanted.after_creation(machine, path, Kind::Directory);
    let create = sequence(vec![no_parent, room, make, attributes, Program::Change]);
    let in_line = wanted.in_line(machine, path);
    let there = if !shape.replace {
        absent(cell).negate()
    } else if shape.follows {
        any(vec![Test::Kind(cell, Kind::Directory), Test::Kind(cell, Kind::Link)])
    } else {
        Test::Kind(cell, Kind::Directory)
    };
    choose(there, in_line, create)
}

/// A directory that should have what a source has needs the source.
fn with_source(machine: &mut Machine<'_>, shape: &Shape, program: Program) -> Program {
    let mut there = Vec::new();
    for source in &shape.sources {
        match local_source(source).and_then(|local| machine.mentions.canonical(local, machine.world)) {
            Some(from) => there.push(machine.exists(&from)),
            None => there.push(Test::True),
        }
    }
    if there.is_empty() {
        return program;
    }
    choose(any(there), program, Program::fail("none of its sources exists"))
}

fn link(machine: &mut Machine<'_>, path: &str, shape: &Shape, wanted: &Wanted) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let Some(target) = &shape.target else {
        return Program::fail("cannot create a symlink without a target");
    };
    let value = Value::Link(shared(target));
    let no_parent = no_parent(machine, path);
    let room = make_room(machine, path, shape);
    let attributes = wanted.after_creation(machine, path, Kind::Link);
    let create =
        sequence(vec![no_parent, room, Program::set(cell, value.clone()), attributes, Program::Change]);
    let in_line = wanted.in_line(machine, path);
    let there = if shape.replace { Test::is(cell, value) } else { absent(cell).negate() };
    choose(there, in_line, create)
}

fn file(
    machine: &mut Machine<'_>,
    resource: &Resource,
    path: &str,
    shape: &Shape,
    wanted: &Wanted,
    content: &Content,
) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let no_parent = no_parent(machine, path);
    let room = make_room(machine, path, shape);
    // Without a content there is nothing to check.
    let is_checked = !matches!(content, Content::None);
    let validation = if is_checked { validation(machine, resource) } else { Program::Skip };
    let write = content.write(machine, path);
    let was_directory = Test::Kind(cell, Kind::Directory);
    let attributes = wanted.after_creation(machine, path, Kind::File);
    let (make, change) = (vec![no_parent, room, validation.clone(), write.clone()], Program::Change);
    let put = |attributes: Program| sequence([make.clone(), vec![attributes, change.clone()]].concat());
    let create = put(attributes);
    let over_directory = put(wanted.in_place_of_directory(machine, path));
    let in_line = wanted.in_line(machine, path);
    let same = if shape.replace { content.is_there(machine, path) } else { Test::True };
    let keep = keep(machine, path, shape);
    let refill = when(same.negate(), sequence(vec![validation, keep, write, Program::Change]));
    let sync = sequence(vec![refill, in_line.clone()]);
    let other_kind = match shape.ensure {
        // Anything will do.
        Ensure::Present if shape.sources.is_empty() => in_line,
        _ if !shape.replace => in_line,
        // A source that is a link is copied as one.
        _ => match content {
            Content::Copy(from) => {
                let same = machine.same_content(path, from);
                let link = all(vec![Test::Kind(cell, Kind::Link), same]);
                choose(link, in_line, choose(was_directory, over_directory, create.clone()))
            }
            _ => choose(was_directory, over_directory, create.clone()),
        },
    };
    choose(absent(cell), create, choose(Test::Kind(cell, Kind::File), sync, other_kind))
}

/// A file is written only if the command that checks it is there and accepts the content.
fn validation(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let Some(command) = resource.text("validate_cmd") else { return Program::Skip };
    match accepts(&command, resource) {
        Some(true) => {}
        Some(false) => return Program::fail("the command that checks the content refuses it"),
        None => machine.assume(Assumption::AcceptedContent { path: resource.name_or_title("path") }),
    }
    let Some(tool) = commands::absolute_paths(&command).next().map(str::to_owned) else {
        return Program::Skip;
    };
    if !command.starts_with(&tool) {
        return Program::Skip;
    }
    let Some(tool) = machine.mentions.canonical(&tool, machine.world) else { return Program::Skip };
    let there = machine.exists_if_provided(&tool);
    when(there.negate(), Program::fail(&format!("{tool}, which checks the content, does not exist")))
}

/// The files of the catalog that the command that checks a content names besides it, and that need not come first.
fn read_by_validation(machine: &mut Machine<'_>, resource: &Resource) -> Vec<CellId> {
    let Some(command) = resource.text("validate_cmd") else { return Vec::new() };
    let mut cells = Vec::new();
    for path in commands::absolute_paths(&command).skip(usize::from(command.starts_with('/'))) {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { continue };
        let owner = machine.mentions.files.get(&path).copied();
        let is_settled = owner.is_some_and(|owner| machine.comes_before(owner));
        if machine.is_provided(&path) && !is_settled {
            cells.extend(machine.path(&path));
            cells.extend(machine.tracked(&path).into_iter().map(|tracked| tracked.cell));
        }
    }
    cells
}

/// Returns whether a plain command accepts the content; `None` if that is not known.
fn accepts(command: &str, resource: &Resource) -> Option<bool> {
    // Where Puppet puts the content, as one word of a command.
    const PLACE: &str = "/.content-to-validate";
    let command = command.replace('%', PLACE);
    let content = resource.text("content");
    match commands::question(&command, Surroundings::default()) {
        Ok(Question::Constant(answer)) => Some(answer),
        Ok(Question::HasLine { path, line }) if path == PLACE => {
            content.map(|content| content.lines().any(|other| other == line))
        }
        Ok(Question::Matches { path, expression }) if path == PLACE => {
            content.map(|content| Entry::Match(shared(&expression)).read(&content) != Value::Absent)
        }
        _ => None,
    }
}

fn from_sources(
    machine: &mut Machine<'_>,
    resource: &Resource,
    path: &str,
    shape: &Shape,
    wanted: &Wanted,
) -> Program {
    let mut program = Program::fail("none of its sources exists");
    // The first source that exists is taken.
    for (at, source) in shape.sources.iter().enumerate().rev() {
        if let Some(local) = local_source(source) {
            let Some(from) = machine.mentions.canonical(local, machine.world) else { continue };
            let as_file = file(machine, resource, path, shape, wanted, &Content::Copy(from.clone()));
            let as_directory = directory(machine, path, shape, wanted);
            let is_directory = machine.is_directory(&from);
            let there = machine.exists(&from);
            program = choose(there, choose(is_directory, as_directory, as_file), program);
        } else {
            program = match shape.source(source, machine.world) {
                Some(Source::Link { target, .. }) => {
                    link(machine, path, &Shape { target: Some(target), ..shape.clone() }, wanted)
                }
                Some(Source::File(content)) => {
                    file(machine, resource, path, shape, wanted, &Content::Known(content))
                }
                Some(Source::Directory(_)) => directory(machine, path, shape, wanted),
                None if at + 1 < shape.sources.len() => {
                    machine.assume(Assumption::MissingSource { address: source.clone() });
                    continue;
                }
                None | Some(Source::Unread) => {
                    let content = unread(machine, source);
                    if shape.recurse.is_some() {
                        directory(machine, path, shape, wanted)
                    } else {
                        file(machine, resource, path, shape, wanted, &content)
                    }
                }
            };
        }
    }
    program
}

/// Returns the content of a source that was not read: one that only its address decides.
fn unread(machine: &mut Machine<'_>, source: &str) -> Content {
    machine.assume(Assumption::UnreadSource { address: source.to_owned() });
    Content::Named(format!("(as in {source})"), Origin::Elsewhere)
}

/// What is done to the contents of a directory: recursion and purge.
fn contents(machine: &mut Machine<'_>, path: &str, shape: &Shape, wanted: &Wanted) -> Program {
    let Some(recurse) = shape.recurse else { return Program::Skip };
    if shape.ensure == Ensure::Absent {
        return Program::Skip;
    }
    let mut steps = Vec::new();
    let mut from_source: FxHashMap<String, Option<CellId>> = FxHashMap::default();
    if let Some(source) = shape.sources.first() {
        if let Some(local) = local_source(source) {
            if let Some(from) = machine.mentions.canonical(local, machine.world) {
                copies(machine, &from, path, shape, wanted, &mut from_source, &mut steps);
            }
        } else {
            if matches!(machine.world.sources.get(source), None | Some(Source::Unread)) {
                machine.assume(Assumption::UnreadSource { address: source.clone() });
            }
            let address = source;
            for (child, source) in served(source, shape, machine.world) {
                let to = format!("{path}/{child}");
                if is_managed_below(machine, path, &to) || is_ignored(&to, path, shape) {
                    continue;
                }
                let plain = Shape { recurse: None, sources: Vec::new(), ..shape.clone() };
                let plain = Shape { ensure: Ensure::File, ..plain };
                steps.push(match source {
                    Source::File(content) => {
                        child_file(machine, &to, &plain, wanted, &Content::Known(content))
                    }
                    Source::Unread => {
                        let content = unread(machine, &format!("{address}/{child}"));
                        child_file(machine, &to, &plain, wanted, &content)
                    }
                    Source::Link { target, .. } => {
                        link(machine, &to, &Shape { target: Some(target), ..plain }, wanted)
                    }
                    Source::Directory(_) => directory(machine, &to, shape, wanted),
                });
                from_source.entry(to).or_insert(None);
            }
        }
    }
    if recurse == Recurse::Local {
        for child in machine.below(path) {
            if is_managed_below(machine, path, &child) || is_ignored(&child, path, shape) {
                continue;
            }
            // What the source has is not purged.
            let lacking = match from_source.get(&child) {
                Some(Some(source)) => absent(*source),
                Some(None) => continue,
                None => Test::True,
            };
            let Some(cell) = machine.path(&child) else { continue };
            // What may not be replaced may not be purged.
            if shape.purge && !shape.replace {
                continue;
            }
            if shape.purge {
                let one = sequence(vec![machine.remove_one(&child), Program::Change]);
                let tree = if shape.force {
                    let remove = machine.remove_tree(&child);
                    sequence(vec![remove, Program::Change])
                } else {
                    Program::Change
                };
                let purge =
                    choose(absent(cell), Program::Skip, choose(Test::Kind(cell, Kind::Directory), tree, one));
                steps.push(when(lacking, purge));
            } else {
                let in_line = wanted.in_line(machine, &child);
                steps.push(when(all(vec![lacking, absent(cell).negate()]), in_line));
            }
        }
    }
    let here = machine.is_directory(path);
    when(here, sequence(steps))
}

/// A child that a file server has: no declaration of its own.
fn child_file(
    machine: &mut Machine<'_>,
    path: &str,
    shape: &Shape,
    wanted: &Wanted,
    content: &Content,
) -> Program {
    let Some(cell) = machine.path(path) else { return Program::Skip };
    let no_parent = no_parent(machine, path);
    let room = make_room(machine, path, shape);
    let write = content.write(machine, path);
    let attributes = wanted.after_creation(machine, path, Kind::File);
    let create = sequence(vec![no_parent, room, write.clone(), attributes, Program::Change]);
    let in_line = wanted.in_line(machine, path);
    let same = if shape.replace { content.is_there(machine, path) } else { Test::True };
    let refill = when(same.negate(), sequence(vec![write, Program::Change]));
    choose(
        absent(cell),
        create.clone(),
        choose(Test::Kind(cell, Kind::File), sequence(vec![refill, in_line]), create),
    )
}

fn copies(
    machine: &mut Machine<'_>,
    from: &str,
    path: &str,
    shape: &Shape,
    wanted: &Wanted,
    done: &mut FxHashMap<String, Option<CellId>>,
    steps: &mut Vec<Program>,
) {
    for child in machine.below(from) {
        let Some(rest) = child.strip_prefix(from) else { continue };
        let to = format!("{path}{rest}");
        if is_managed_below(machine, path, &to) || is_ignored(&to, path, shape) {
            continue;
        }
        let Some(source) = machine.path(&child) else { continue };
        let plain = Shape { recurse: None, ensure: Ensure::File, ..shape.clone() };
        let as_file = child_file(machine, &to, &plain, wanted, &Content::Copy(child.clone()));
        let as_directory = directory(machine, &to, shape, wanted);
        let program = if child.ends_with(SOME_DIRECTORY) {
            as_directory
        } else if child.ends_with(SOME_FILE) {
            as_file
        } else {
            choose(Test::Kind(source, Kind::Directory), as_directory, as_file)
        };
        steps.push(when(absent(source).negate(), program));
        done.entry(to).or_insert(Some(source));
    }
}

/// Whether recursion leaves a path alone: it is too deep, or by one of the names on the way to it.
fn is_ignored(path: &str, directory: &str, shape: &Shape) -> bool {
    let below = path.strip_prefix(directory).unwrap_or(path);
    if shape.limit.is_some_and(|limit| below.matches('/').count() > limit) {
        return true;
    }
    below.split('/').any(|name| shape.ignore.iter().any(|glob| matches_glob(glob, name)))
}

/// `*` and `?` of a shell.
pub(crate) fn matches_glob(glob: &str, name: &str) -> bool {
    let expression: String = glob
        .chars()
        .map(|character| match character {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            '[' | ']' => character.to_string(),
            other if other.is_alphanumeric() => other.to_string(),
            other => format!("\\{other}"),
        })
        .collect();
    !name.is_empty()
        && fancy_regex::Regex::new(&format!("^{expression}$"))
            .is_ok_and(|regex| regex.is_match(name).unwrap_or(false))
}

/// Whether a path below a directory is managed by a resource of its own, or lies below such a one.
fn is_managed_below(machine: &Machine<'_>, directory: &str, path: &str) -> bool {
    std::iter::once(path)
        .chain(ancestors(path))
        .take_while(|above| is_below(above, directory))
        .any(|above| machine.mentions.is_declared_below(above, directory))
}
