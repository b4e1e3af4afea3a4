//! The cells of a plan while it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::ResourceId;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Space, Term, Test, Value};

use crate::assumptions::Assumptions;
use crate::entries::{Entry, SEVERAL, Tracked};
use crate::mentions::Mentions;
use crate::packages::{PackageSet, stem_of_package};
use crate::{Assumption, Base, FileEntry, Origin, Origins, Unit, World};

/// What a removed package leaves behind.
pub(crate) const CONFIG_FILES: &str = "config-files";
/// The version that a package manager installs if none is named.
pub(crate) const LATEST: &str = "latest";
pub(crate) const PRESENT: &str = "present";
/// A link that leads to a link and so on: no further than this.
pub(crate) const LONGEST_WAY: usize = 3;

const PATH_KINDS: [Kind; 4] = [Kind::Absent, Kind::Directory, Kind::File, Kind::Link];
const TEXT_KINDS: [Kind; 2] = [Kind::Absent, Kind::Text];

/// The sorts of entries that a file has.
#[derive(Clone, Copy, Default)]
struct Sorts {
    lines: bool,
    kept: bool,
    nodes: bool,
    rows: bool,
}

/// Cells, what is assumed of them, and what is said about the model.
pub(crate) struct Machine<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) space: Space,
    pub(crate) start: Vec<Test>,
    /// Those of `start` that are assumed about this catalog alone.
    pub(crate) assumed_start: Vec<Test>,
    pub(crate) laws: Vec<Test>,
    pub(crate) assumptions: Assumptions,
    pub(crate) origins: Origins,
    /// What comes before the resource whose model is being made.
    pub(crate) before: FxHashSet<ResourceId>,
    /// What those write that come before it in the order of the graph; only `tidy` asks.
    pub(crate) written_before: FxHashSet<CellId>,
    /// Cells that stand for all that nothing names.
    pub(crate) stand_ins: FxHashSet<CellId>,
    pub(crate) mentions: Mentions,
    /// The paths that either of two catalogs declares; none if only one is modelled.
    pub(crate) declared_paths: Option<BTreeSet<String>>,
    /// The user as whom a command runs who may not write what it writes.
    pub(crate) denied_to: Option<String>,
    pub(crate) packages: PackageSet,
    paths: FxHashMap<String, Option<CellId>>,
    entries: BTreeMap<String, Vec<Tracked>>,
    /// What sorts of entries of a file are followed.
    sorts: FxHashMap<String, Sorts>,
    /// Files that services load, by service.
    pub(crate) loads: BTreeMap<Unit, Vec<String>>,
    secrets: FxHashMap<String, usize>,
    accounts: FxHashSet<CellId>,
    /// What it takes to unpack a package, where that was asked for before.
    pub(crate) unpacked: FxHashMap<String, Program>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(world: &'a World<'a>, mentions: Mentions, packages: PackageSet) -> Self {
        let mut machine = Self {
            world,
            space: Space::new(),
            start: Vec::new(),
            assumed_start: Vec::new(),
            laws: Vec::new(),
            assumptions: Assumptions::default(),
            origins: Origins::default(),
            before: FxHashSet::default(),
            written_before: FxHashSet::default(),
            stand_ins: FxHashSet::default(),
            mentions,
            declared_paths: None,
            denied_to: None,
            packages,
            paths: FxHashMap::default(),
            entries: BTreeMap::new(),
            sorts: FxHashMap::default(),
            loads: BTreeMap::new(),
            secrets: FxHashMap::default(),
            accounts: FxHashSet::default(),
            unpacked: FxHashMap::default(),
        };
        for (path, entry) in machine.mentions.entries.clone() {
            machine.track(&path, entry);
        }
        machine
    }

    /// Adds an assumption about the start.
    pub(crate) fn assume_start(&mut self, test: Test, assumption: Assumption) {
        self.assumed_start.push(test.clone());
        self.start.push(test);
        self.assumptions.add_about_start(assumption);
    }

    /// Whether a resource always comes before the one whose model is being made, which is skipped if it fails.
    pub(crate) fn comes_before(&self, resource: ResourceId) -> bool {
        self.before.contains(&resource)
    }

    /// Returns the cells that stand for all that nothing names.
    pub(crate) fn all_stand_ins(&self) -> FxHashSet<CellId> {
        let named = self.mentions.stand_ins().filter_map(|path| self.space.find(&CellKey::path(&path)));
        named.chain(self.stand_ins.iter().copied()).collect()
    }

    /// Adds an assumption that the model of the current resource makes.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        self.assumptions.add(assumption);
    }

    /// Returns the name that stands for a secret: equal for equal secrets, and telling nothing.
    pub(crate) fn secret(&mut self, text: &str) -> String {
        let next = self.secrets.len() + 1;
        let number = *self.secrets.entry(text.to_owned()).or_insert(next);
        let name = format!("(secret {number})");
        self.origins.add(&name, Origin::Secret);
        name
    }

    /// The name of a secret that a resource has.
    pub(crate) fn known_secret(&self, text: &str) -> Option<String> {
        self.secrets.get(text).map(|number| format!("(secret {number})"))
    }

    // Paths.

    /// Whether a path is a directory whatever happens.
    fn is_fixed(&self, path: &str) -> bool {
        path == "/"
            || (!self.world.any_start
                && self.mentions.is_base_directory(path, self.world)
                && !self.mentions.removable.contains(path))
    }

    /// The cell of a canonical path; `None` if it is a directory whatever happens.
    pub(crate) fn path(&mut self, path: &str) -> Option<CellId> {
        if let Some(known) = self.paths.get(path) {
            return *known;
        }
        if self.is_fixed(path) {
            self.paths.insert(path.to_owned(), None);
            return None;
        }
        let cell = self.space.cell(CellKey::path(path), &PATH_KINDS);
        self.paths.insert(path.to_owned(), Some(cell));
        if let Some(parent) = parent(path)
            && let Some(above) = self.path(parent)
        {
            self.laws.push(Test::Any(vec![absent(cell), Test::Kind(above, Kind::Directory)]));
        }
        self.assume_path(path, cell);
        Some(cell)
    }

    /// What an admissible start has at a path.
    fn assume_path(&mut self, path: &str, cell: CellId) {
        if self.world.any_start {
            return;
        }
        if self.mentions.is_base_directory(path, self.world) {
            self.start.push(Test::Kind(cell, Kind::Directory));
            return;
        }
        let is_file = self.world.base.files.contains(path)
            || (Base::is_of_the_kernel(path) && !self.mentions.ancestors.contains(path));
        if is_file {
            self.start.push(Test::Kind(cell, Kind::File));
            return;
        }
        if let Some(kinds) = self.mentions.declared.get(path) {
            let kinds = kinds.iter().map(|kind| Test::Kind(cell, *kind)).collect();
            self.start.push(Test::Any(kinds));
            return;
        }
        let provided = self.mentions.provided.contains(path) || self.packages.provides(path);
        if !provided && self.world.base.has_usually(path) {
            self.start.push(Test::Kind(cell, Kind::File));
            return;
        }
        let above = self.mentions.ancestors.contains(path);
        let is_needed =
            if above { !self.mentions.is_only_tidied(path) } else { self.mentions.needed.contains(path) };
        if !provided && is_needed {
            let kind = if above { Kind::Directory } else { Kind::File };
            let path = path.to_owned();
            let assumption = if above {
                Assumption::ExistingDirectory { path }
            } else {
                Assumption::ExistingFile { path }
            };
            self.assume_start(Test::Kind(cell, kind), assumption);
            return;
        }
        // Nothing lies below what is declared to be no directory.
        let declared = parent(path).and_then(|above| self.mentions.declared.get(above));
        let is_below_file = declared.is_some_and(|kinds| !kinds.contains(&Kind::Directory));
        let kind = if above || self.packages.provides_directory(path) { Kind::Directory } else { Kind::File };
        let plain = Test::Any(vec![absent(cell), Test::Kind(cell, kind)]);
        if !provided && !is_below_file {
            self.assume_start(plain, Assumption::PlainFile { path: path.to_owned() });
        } else {
            self.start.push(plain);
        }
    }

    /// An attribute of a path, if anything manages it.
    pub(crate) fn attribute(&mut self, kind: CellKind, path: &str) -> Option<CellId> {
        if !self.mentions.manages(kind, path) {
            return None;
        }
        let known = self.space.find(&CellKey::new(kind, path));
        let cell = self.space.cell(CellKey::new(kind, path), &TEXT_KINDS);
        if known.is_none() {
            let has_all = Test::Kind(cell, Kind::Text);
            // What is absent has no attributes, and what exists has all; a folder of the platform exists.
            let law = match self.path(path) {
                Some(at) => Test::Any(vec![
                    Test::All(vec![absent(at), absent(cell)]),
                    Test::All(vec![absent(at).negate(), has_all]),
                ]),
                None => has_all,
            };
            self.laws.push(law);
        }
        Some(cell)
    }

    pub(crate) fn is_directory(&mut self, path: &str) -> Test {
        self.path(path).map_or(Test::True, |cell| Test::Kind(cell, Kind::Directory))
    }

    pub(crate) fn exists(&mut self, path: &str) -> Test {
        self.path(path).map_or(Test::True, |cell| absent(cell).negate())
    }

    /// Where a link at a path leads, for each that the catalog makes.
    pub(crate) fn led(&mut self, path: &str) -> Vec<(Test, String)> {
        let mut found = Vec::new();
        for (target, to) in self.mentions.ways(path) {
            if let Some(cell) = self.path(path) {
                found.push((Test::is(cell, Value::Link(target.as_str().into())), to));
            }
        }
        found
    }

    /// Asks about what a path leads to, through the links that the catalog makes.
    pub(crate) fn through(&mut self, path: &str, ask: &dyn Fn(&mut Self, &str) -> Test) -> Test {
        self.through_steps(path, ask, LONGEST_WAY)
    }

    fn through_steps(&mut self, path: &str, ask: &dyn Fn(&mut Self, &str) -> Test, steps: usize) -> Test {
        let here = ask(self, path);
        let led = self.led(path);
        if led.is_empty() {
            return here;
        }
        let mut answers = Vec::new();
        let mut is_led = Vec::new();
        for (is, to) in led {
            let there = if steps == 0 { never() } else { self.through_steps(&to, ask, steps - 1) };
            is_led.push(is.clone());
            answers.push(all(vec![is, there]));
        }
        answers.push(all(vec![any(is_led).negate(), here]));
        any(answers)
    }

    /// A path leads to something.
    pub(crate) fn leads(&mut self, path: &str) -> Test {
        self.through(path, &|machine, path| machine.exists(path))
    }

    /// The directory above a path is there.
    pub(crate) fn parent_is_directory(&mut self, path: &str) -> Test {
        match parent(path) {
            Some(above) => self.through(above, &|machine, path| machine.is_directory(path)),
            None => Test::True,
        }
    }

    /// Whether something in the catalog, or the user, makes the existence of a path a question.
    pub(crate) fn is_provided(&self, path: &str) -> bool {
        self.mentions.provided.contains(path) || self.packages.provides(path)
    }

    /// Returns the test that a path exists; where nothing in the catalog brings it, it is assumed to.
    pub(crate) fn exists_if_provided(&mut self, path: &str) -> Test {
        if self.is_provided(path) || self.world.any_start {
            return self.exists(path);
        }
        if self.world.base.files.contains(path) {
            return Test::True;
        }
        let there = self.exists(path);
        self.assume_start(there.clone(), Assumption::ExistingFile { path: path.to_owned() });
        there
    }

    /// Returns the test that a service has a unit that nothing in the catalog brings. It is assumed to.
    pub(crate) fn unit_of_the_platform(&mut self, name: &Unit) -> Test {
        let key = CellKey::with_detail(CellKind::Other, name.as_str(), "(a unit of the platform)");
        let new = self.space.find(&key).is_none();
        let cell = self.space.cell(key, &TEXT_KINDS);
        let there = absent(cell).negate();
        if new && !self.world.any_start {
            self.assume_start(there.clone(), Assumption::ExistingUnit { service: name.to_string() });
        }
        there
    }

    /// The paths directly or deeply below a directory that may exist, with those that stand for all others.
    pub(crate) fn below(&self, path: &str) -> Vec<String> {
        self.mentions.below(path)
    }

    // Writing to paths.

    /// Sets the attributes of a path that was created.
    pub(crate) fn set_attributes(
        &mut self,
        path: &str,
        mode: &str,
        owner: &str,
        group: &str,
    ) -> Vec<Program> {
        let mut writes = Vec::new();
        for (kind, value) in [(CellKind::Mode, mode), (CellKind::Owner, owner), (CellKind::Group, group)] {
            if let Some(cell) = self.attribute(kind, path) {
                writes.push(Program::set(cell, Value::text(value)));
            }
        }
        writes
    }

    fn clear_attributes(&mut self, path: &str) -> Vec<Program> {
        let mut writes = Vec::new();
        for kind in [CellKind::Mode, CellKind::Owner, CellKind::Group] {
            if let Some(cell) = self.attribute(kind, path) {
                writes.push(Program::set(cell, Value::Absent));
            }
        }
        writes
    }

    /// Puts a file with a content that is known.
    pub(crate) fn write_file(&mut self, path: &str, content: &Arc<str>) -> Program {
        let mut writes = Vec::new();
        if let Some(cell) = self.path(path) {
            writes.push(Program::set(cell, Value::File(Arc::clone(content))));
        }
        for tracked in self.tracked(path) {
            writes.push(Program::set(tracked.cell, tracked.read(content)));
        }
        Program::Sequence(writes)
    }

    /// Makes an empty file where there is none. What is not there has no entries, so that none is taken away.
    pub(crate) fn make_empty_file(&mut self, path: &str) -> Program {
        let mut writes = Vec::new();
        if let Some(cell) = self.path(path) {
            writes.push(Program::set(cell, Value::file("")));
        }
        let read = self.tracked(path).into_iter().map(|tracked| (tracked.cell, tracked.read("")));
        let found = read.filter(|(_, found)| *found != Value::Absent);
        writes.extend(found.map(|(cell, found)| Program::set(cell, found)));
        sequence(writes)
    }

    /// Puts a file whose content only its name decides.
    pub(crate) fn write_named(&mut self, path: &str, name: &str, origin: Origin) -> Program {
        let mut writes = Vec::new();
        self.origins.add(name, origin);
        if let Some(cell) = self.path(path) {
            writes.push(Program::set(cell, Value::file(name)));
        }
        for tracked in self.tracked(path) {
            writes.push(Program::set(tracked.cell, Value::Absent));
        }
        Program::Sequence(writes)
    }

    /// Puts a file whose content only the contents of others decide; a volatile one is another one each time.
    pub(crate) fn write_made(&mut self, path: &str, name: &str, from: &[String], volatile: bool) -> Program {
        if volatile {
            let again = format!("{name} (again)");
            let (first, second) = (
                self.write_named(path, name, Origin::Elsewhere),
                self.write_named(path, &again, Origin::Elsewhere),
            );
            return match self.path(path) {
                Some(cell) => choose(Test::is(cell, Value::file(name)), second, first),
                None => first,
            };
        }
        let mut steps = vec![self.write_named(path, name, Origin::Elsewhere)];
        for source in from {
            if let Some(from) = self.path(source) {
                let cell = self.track(path, Entry::MadeFrom(Arc::from(source.as_str())));
                steps.push(Program::copy(cell, from));
                for tracked in self.tracked(source) {
                    let cell = self.track(path, Entry::made_from(source, &tracked.entry));
                    steps.push(Program::copy(cell, tracked.cell));
                }
            }
        }
        sequence(steps)
    }

    /// A cell that remembers what a file was when something was made from it.
    pub(crate) fn made_from(&mut self, kind: CellKind, name: &str, source: &str) -> CellId {
        self.space.cell(CellKey::with_detail(kind, name, source), &PATH_KINDS)
    }

    /// Copies a file with all that is tracked of it.
    pub(crate) fn copy_file(&mut self, to: &str, from: &str) -> Program {
        let mut writes = Vec::new();
        if let (Some(to), Some(from)) = (self.path(to), self.path(from)) {
            writes.push(Program::copy(to, from));
        }
        for tracked in self.tracked(to) {
            let source = self.tracked(from).into_iter().find(|other| other.entry == tracked.entry);
            let value = source.map_or(Term::Is(Value::Absent), |source| Term::Cell(source.cell));
            writes.push(Program::Write(tracked.cell, value));
        }
        Program::Sequence(writes)
    }

    /// A file has this content, in all that is tracked of it.
    pub(crate) fn has_content(&mut self, path: &str, content: &Arc<str>) -> Test {
        let Some(cell) = self.path(path) else { return Test::True.negate() };
        let mut tests = vec![Test::is(cell, Value::File(Arc::clone(content)))];
        for tracked in self.tracked(path) {
            tests.push(Test::is(tracked.cell, tracked.read(content)));
        }
        all(tests)
    }

    /// Two files have the same content.
    pub(crate) fn same_content(&mut self, one: &str, other: &str) -> Test {
        let (Some(left), Some(right)) = (self.path(one), self.path(other)) else { return Test::True };
        let mut tests = vec![Test::same(left, right)];
        for tracked in self.tracked(one) {
            if let Some(same) = self.tracked(other).into_iter().find(|other| other.entry == tracked.entry) {
                tests.push(Test::same(tracked.cell, same.cell));
            }
        }
        all(tests)
    }

    /// Makes a directory, as root does it.
    pub(crate) fn make_directory(&mut self, path: &str, mode: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        let mut writes = vec![Program::set(cell, Value::Directory)];
        writes.extend(self.set_attributes(path, mode, "root", "root"));
        Program::Sequence(writes)
    }

    /// Removes one file, link or empty directory.
    pub(crate) fn remove_one(&mut self, path: &str) -> Program {
        let Some(cell) = self.path(path) else { return Program::Skip };
        let mut writes = vec![Program::set(cell, Value::Absent)];
        writes.extend(self.clear_attributes(path));
        for tracked in self.tracked(path) {
            writes.push(Program::set(tracked.cell, Value::Absent));
        }
        Program::Sequence(writes)
    }

    /// Removes a path and all that is below it.
    pub(crate) fn remove_tree(&mut self, path: &str) -> Program {
        let mut writes: Vec<Program> = Vec::new();
        for below in self.below(path).iter().rev() {
            writes.push(self.remove_one(below));
        }
        writes.push(self.remove_one(path));
        Program::Sequence(writes)
    }

    // Entries of files.

    /// Makes a key of a file a cell of its own.
    pub(crate) fn track(&mut self, path: &str, entry: Entry) -> CellId {
        let key = entry.key(path);
        let known = self.space.find(&key);
        let kinds: &[Kind] = if matches!(entry, Entry::MadeFrom(_)) { &PATH_KINDS } else { &TEXT_KINDS };
        let cell = self.space.cell(key, kinds);
        if known.is_none() {
            if matches!(entry, Entry::Match(_)) && !self.world.any_start {
                self.start.push(Test::is(cell, Value::text(SEVERAL)).negate());
            }
            // A line that is there once is enough for who looks for it.
            if matches!(entry, Entry::Line(_)) && !self.world.any_start {
                self.start.push(Test::Any(vec![absent(cell), Test::is(cell, Value::text(PRESENT))]));
            }
            let sorts = self.sorts.entry(path.to_owned()).or_default();
            sorts.lines |= is_line(&entry);
            sorts.kept |= is_kept(&entry);
            sorts.nodes |= is_node(&entry);
            sorts.rows |= is_row(&entry);
            self.entries.entry(path.to_owned()).or_default().push(Tracked::new(entry, cell));
            if !self.world.any_start {
                self.assume_one_match(path, cell);
            }
            // A file that is put anew has this entry from now on, too.
            self.unpacked.clear();
            if let Some(file) = self.path(path) {
                // A file that is not there has no entries.
                self.laws.push(Test::Any(vec![Test::Kind(file, Kind::File), absent(cell)]));
            }
        }
        cell
    }

    /// What an expression finds at the start is one line: a line that is there and that it matches.
    fn assume_one_match(&mut self, path: &str, new: CellId) {
        let mut tests = Vec::new();
        let tracked = self.entries.get(path).map(Vec::as_slice).unwrap_or_default();
        for line in tracked {
            let Entry::Line(text) = &line.entry else { continue };
            for found in tracked.iter().filter(|found| matches!(found.entry, Entry::Match(_))) {
                let value = found.read(text);
                if value != Value::Absent && (line.cell == new || found.cell == new) {
                    tests.push(any(vec![absent(line.cell), Test::is(found.cell, value)]));
                }
            }
        }
        self.start.extend(tests);
    }

    /// What else a line of a file says, once it is added.
    pub(crate) fn line_added(&self, path: &str, own: CellId, line: &str) -> Program {
        let mut steps = Vec::new();
        for tracked in self.tracked(path).into_iter().filter(|tracked| tracked.cell != own) {
            let found = match &tracked.entry {
                Entry::Line(_) | Entry::Match(_) => tracked.read(line),
                _ => continue,
            };
            let Tracked { entry, cell, .. } = tracked;
            if found == Value::Absent {
                continue;
            }
            let write = Program::set(cell, found);
            let other = if matches!(entry, Entry::Match(_)) {
                Program::set(cell, Value::text(SEVERAL))
            } else {
                write.clone()
            };
            steps.push(choose(absent(cell), write, other));
        }
        sequence(steps)
    }

    /// A line is put at the end of a file: it stands after the one that was the last, where more than one may be put there.
    pub(crate) fn put_last(&mut self, path: &str, line: &str) -> Program {
        if !self.mentions.has_several_last(path) {
            return Program::Skip;
        }
        let last = self.track(path, Entry::Last);
        let after = self.track(path, Entry::After(Arc::from(line)));
        sequence(vec![Program::copy(after, last), Program::set(last, Value::text(line))])
    }

    /// What else a line of a file says, once it is taken away.
    pub(crate) fn line_removed(&self, path: &str, own: CellId, line: &str) -> Program {
        let mut steps = Vec::new();
        for tracked in self.tracked(path).into_iter().filter(|tracked| tracked.cell != own) {
            if matches!(tracked.entry, Entry::Line(_) | Entry::Match(_)) {
                let found = tracked.read(line);
                if found != Value::Absent {
                    let was = Test::is(tracked.cell, found);
                    steps.push(when(was, Program::set(tracked.cell, Value::Absent)));
                }
            }
        }
        sequence(steps)
    }

    /// The entries that are other views of the same line as a cell, and the cell itself: a row of a table or a setting, and a
    /// line or what an expression finds.
    pub(crate) fn seen_twice(&self, path: &str, own: CellId) -> Option<Vec<CellId>> {
        // Most files have entries of one sort only.
        let sorts = self.sorts.get(path).copied().unwrap_or_default();
        if !(sorts.lines && sorts.kept || sorts.nodes && sorts.rows) {
            return None;
        }
        let tracked = self.entries.get(path)?;
        let overlap = |line: &Entry, kept: &Entry| match line {
            Entry::Line(text) => kept.read(text) != Value::Absent,
            _ => true,
        };
        let mut cells = Vec::new();
        for line in tracked.iter().filter(|one| is_line(&one.entry)) {
            for kept in tracked.iter().filter(|one| is_kept(&one.entry)) {
                if overlap(&line.entry, &kept.entry) {
                    cells.extend([line.cell, kept.cell]);
                }
            }
        }
        // Which row of a table a node of augeas is, only augeas says.
        for node in tracked.iter().filter(|one| is_node(&one.entry)) {
            for row in tracked.iter().filter(|one| is_row(&one.entry)) {
                cells.extend([node.cell, row.cell]);
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells.contains(&own).then_some(cells)
    }

    pub(crate) fn tracked(&self, path: &str) -> Vec<Tracked> {
        self.entries.get(path).cloned().unwrap_or_default()
    }

    pub(crate) fn all_tracked(&self) -> Vec<FileEntry> {
        let mut found = Vec::new();
        for (path, entries) in &self.entries {
            for Tracked { entry, cell, .. } in entries {
                found.push(FileEntry { cell: *cell, path: path.clone(), entry: entry.clone() });
            }
        }
        found
    }

    // Users, groups, packages, services.

    /// A user is there; a number needs no user, and what every machine has needs no question.
    pub(crate) fn user_exists(&mut self, name: &str) -> Test {
        if crate::attributes::is_number(name)
            || (self.is_base_user(name) && !self.mentions.users.contains(name))
        {
            return Test::True;
        }
        let cell = self.user(name);
        absent(cell).negate()
    }

    pub(crate) fn group_exists(&mut self, name: &str) -> Test {
        if crate::attributes::is_number(name)
            || (self.is_base_group(name) && !self.mentions.groups.contains(name))
        {
            return Test::True;
        }
        let cell = self.group(name);
        absent(cell).negate()
    }

    pub(crate) fn is_base_user(&self, name: &str) -> bool {
        !self.world.any_start && self.world.base.users.contains(name)
    }

    pub(crate) fn is_base_group(&self, name: &str) -> bool {
        !self.world.any_start && self.world.base.groups.contains(name)
    }

    pub(crate) fn user(&mut self, name: &str) -> CellId {
        let provided = self.mentions.users.contains(name) || self.packages.users.contains(name);
        self.account(CellKind::User, name, provided, self.world.base.users.contains(name))
    }

    pub(crate) fn group(&mut self, name: &str) -> CellId {
        // A user brings a group of its name.
        let provided = self.mentions.groups.contains(name)
            || self.packages.groups.contains(name)
            || self.mentions.users.contains(name);
        self.account(CellKind::UserGroup, name, provided, self.world.base.groups.contains(name))
    }

    fn account(&mut self, kind: CellKind, name: &str, provided: bool, base: bool) -> CellId {
        let cell = self.space.cell(CellKey::new(kind, name), &TEXT_KINDS);
        if self.accounts.insert(cell) && !self.world.any_start {
            let present = Test::is(cell, Value::text(PRESENT));
            if base {
                self.start.push(present);
                return cell;
            }
            self.start.push(Test::Any(vec![absent(cell), present.clone()]));
            if !provided {
                let name = name.to_owned();
                let assumption = if kind == CellKind::User {
                    Assumption::ExistingUser { name }
                } else {
                    Assumption::ExistingGroup { name }
                };
                self.assume_start(present, assumption);
            }
        }
        cell
    }

    /// Whether a user is a member of a group beside its own.
    pub(crate) fn member(&mut self, user: &str, group: &str) -> CellId {
        let key = CellKey::with_detail(CellKind::UserGroup, group, user);
        let new = self.space.find(&key).is_none();
        let cell = self.space.cell(key, &TEXT_KINDS);
        if new {
            let is_user = self.user(user);
            self.laws.push(Test::Any(vec![absent(cell), absent(is_user).negate()]));
            // The stand-in for all other groups has none of its own.
            if !group.starts_with('(') {
                let is_group = self.group(group);
                self.laws.push(Test::Any(vec![absent(cell), absent(is_group).negate()]));
            }
            self.start.push(Test::Any(vec![absent(cell), Test::is(cell, Value::text("member"))]));
        }
        cell
    }

    /// A cell of which nothing is assumed.
    pub(crate) fn other(&mut self, kind: CellKind, name: &str, detail: Option<&str>) -> CellId {
        let key = match detail {
            Some(detail) => CellKey::with_detail(kind, name, detail),
            None => CellKey::new(kind, name),
        };
        self.space.cell(key, &TEXT_KINDS)
    }

    /// Remembers who made a user whom both a package and a resource may make, where the resource leaves something to whoever does.
    pub(crate) fn made_by(&mut self, user: &str, maker: &str) -> Program {
        if !self.mentions.open_users.contains(user) || !self.packages.users.contains(user) {
            return Program::Skip;
        }
        let cell = self.other(CellKind::Other, &format!("the user {user}"), Some("who made it"));
        Program::set(cell, Value::text(maker))
    }

    pub(crate) fn scratch(&mut self, name: &str, detail: &str, initial: Value) -> CellId {
        self.space.scratch(CellKey::with_detail(CellKind::Snapshot, name, detail), initial)
    }

    /// The cell of a package that a resource or a command names.
    pub(crate) fn package_if_named(&mut self, name: &str) -> Option<CellId> {
        self.mentions.packages.iter().any(|known| known == name).then(|| self.package(name))
    }

    pub(crate) fn package(&mut self, name: &str) -> CellId {
        self.space.cell(CellKey::new(CellKind::Package, name), &TEXT_KINDS)
    }
}

/// A line, or what an expression finds.
fn is_line(entry: &Entry) -> bool {
    matches!(entry, Entry::Line(_) | Entry::Match(_))
}

/// A node of augeas's tree, or a key that the user declares.
fn is_node(entry: &Entry) -> bool {
    matches!(entry, Entry::Other(_)) && !entry.is_made()
}

/// A row of a table.
fn is_row(entry: &Entry) -> bool {
    matches!(entry, Entry::Row { .. } | Entry::Rest { .. })
}

/// A row, a setting and the like.
fn is_kept(entry: &Entry) -> bool {
    !is_line(entry)
        && !entry.is_made()
        && !matches!(entry, Entry::Edited { .. } | Entry::MadeFrom(_) | Entry::Last | Entry::After(_))
}

pub(crate) fn absent(cell: CellId) -> Test {
    Test::Kind(cell, Kind::Absent)
}

/// A package is installed: it is there, and more than what its removal leaves.
pub(crate) fn installed(package: CellId) -> Test {
    Test::All(vec![absent(package).negate(), Test::is(package, Value::text(CONFIG_FILES)).negate()])
}

pub(crate) fn all(mut tests: Vec<Test>) -> Test {
    tests.retain(|test| *test != Test::True);
    match tests.len() {
        0 => Test::True,
        1 => tests.remove(0),
        _ => Test::All(tests),
    }
}

pub(crate) fn any(mut tests: Vec<Test>) -> Test {
    if tests.contains(&Test::True) {
        return Test::True;
    }
    if tests.len() == 1 { tests.remove(0) } else { Test::Any(tests) }
}

pub(crate) fn never() -> Test {
    Test::True.negate()
}

/// Runs programs one after the other; nothing if there are none.
pub(crate) fn sequence(mut programs: Vec<Program>) -> Program {
    programs.retain(|program| *program != Program::Skip && *program != Program::Sequence(Vec::new()));
    match programs.len() {
        0 => Program::Skip,
        1 => programs.remove(0),
        _ => Program::Sequence(programs),
    }
}

/// A choice; one that is no question is none.
pub(crate) fn choose(test: Test, then: Program, otherwise: Program) -> Program {
    if then == otherwise {
        return then;
    }
    match test {
        Test::True => then,
        Test::Not(inner) if *inner == Test::True => otherwise,
        test => Program::choose(test, then, otherwise),
    }
}

pub(crate) fn when(test: Test, then: Program) -> Program {
    choose(test, then, Program::Skip)
}

/// The directory above a canonical path.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let (above, name) = path.rsplit_once('/')?;
    if name.is_empty() {
        return None;
    }
    Some(if above.is_empty() { "/" } else { above })
}

impl Machine<'_> {
    /// Whether another resource may remove a package, so that what a provider has read may be out of date.
    pub(crate) fn is_shared_package(&self, name: &str) -> bool {
        self.packages.can_vanish(name)
    }

    pub(crate) fn shared_packages(&self) -> Vec<String> {
        self.packages.seen().into_iter().filter(|name| self.packages.can_vanish(name)).collect()
    }

    /// The paths, users and groups that bear a name: what a package of that name may bring.
    pub(crate) fn bearing(&mut self, name: &str) -> Vec<CellId> {
        let stem = stem_of_package(name);
        let stem = if stem.len() > 2 { stem } else { name }.to_owned();
        let mut cells = Vec::new();
        for path in self.mentions.bearing(&stem) {
            cells.extend(self.path(&path));
        }
        if self.mentions.users.contains(&stem) {
            cells.push(self.user(&stem));
        }
        if self.mentions.groups.contains(&stem) {
            cells.push(self.group(&stem));
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}
