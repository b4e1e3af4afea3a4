//! Paths in which the machine keeps what has cells of its own: accounts in /etc/passwd, whether a service is enabled in links
//! below /etc/systemd, what lies behind a link that a command makes, and the lines and settings of a file. Who touches such a
//! path touches those cells, in a way that is not modelled.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use setpoint_packages::Family;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Step, Term, Test, Unknown, Value};

use crate::machine::Machine;
use crate::mentions::is_below;
use crate::plan::Parts;
use crate::{Base, Unit};

/// The files in which accounts are kept.
const ACCOUNTS: [&str; 4] = ["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow"];
const UNITS: &str = "/etc/systemd/system/";

/// A path, and the cells of what the machine keeps in it.
struct Shared {
    /// The cells of the path.
    own: FxHashSet<CellId>,
    kept: Vec<CellId>,
    /// Only who changes the path touches what is kept there.
    writers_only: bool,
    /// Completes "what it does is not known:".
    reason: String,
}

/// Makes every step unknown that touches a path in which other cells of the plan are kept, as far as those cells.
pub(crate) fn open_shared_paths(machine: &mut Machine<'_>, parts: &mut Parts) {
    let all = shared_paths(machine, &parts.steps);
    let restless = restless_paths(machine);
    let parts_of = parts_of_files(machine);
    if all.is_empty() && restless.is_empty() && parts_of.is_empty() {
        return;
    }
    let files = lasting_files(machine, &parts.steps);
    let mut opened = FxHashSet::default();
    for (at, step) in parts.steps.iter_mut().enumerate() {
        let touched = Touched::by(step, &files);
        for shared in all.iter().filter(|shared| touched.reaches(shared)) {
            let cells = shared.own.iter().copied().chain(shared.kept.iter().copied()).collect();
            open(step, &shared.reason, cells);
            opened.insert(at as u32);
        }
        for (file, path, entries) in &parts_of {
            let is_followed =
                |cell: &&CellId| touched.read.contains(*cell) || touched.written.contains(*cell);
            if touched.copied.contains(file) && !entries.iter().all(|cell| is_followed(&cell)) {
                let reason = format!("it takes all of {path}, and other resources edit parts of it");
                let cells = entries.iter().chain(&touched.written).copied().collect();
                open(step, &reason, cells);
                opened.insert(at as u32);
            }
        }
        let looks = |cell: &CellId, path: &str| {
            touched.copied.contains(cell) || (Base::is_of_the_kernel(path) && touched.written.contains(cell))
        };
        if let Some((_, path)) = restless.iter().find(|(cell, path)| looks(cell, path)) {
            let reason = format!("what is in {path} changes by itself");
            let cells = touched.read.iter().chain(&touched.written).copied().collect();
            open(step, &reason, cells);
            opened.insert(at as u32);
        }
    }
    parts.chosen.retain(|step| !opened.contains(&step.0));
    parts.plain.retain(|step| !opened.contains(&step.0));
}

/// The files of which parts have cells of their own, with these: who takes the whole file takes them, too.
fn parts_of_files(machine: &Machine<'_>) -> Vec<(CellId, String, Vec<CellId>)> {
    let mut found: BTreeMap<String, Vec<CellId>> = BTreeMap::new();
    for one in machine.all_tracked() {
        found.entry(one.path).or_default().push(one.cell);
    }
    let file = |path: &str| machine.space.find(&CellKey::path(path));
    found.into_iter().filter_map(|(path, cells)| Some((file(&path)?, path, cells))).collect()
}

/// The cells of paths whose contents change by themselves: the kernel's, and logs.
fn restless_paths(machine: &Machine<'_>) -> Vec<(CellId, String)> {
    let paths = machine.space.iter().filter(|(_, cell)| cell.key.kind == CellKind::Path);
    let is_restless = |path: &str| Base::is_of_the_kernel(path) || is_below(path, "/var/log");
    let found = paths.filter(|(_, cell)| is_restless(&cell.key.name));
    found.map(|(id, cell)| (id, cell.key.name.to_string())).collect()
}

fn open(step: &mut Step, reason: &str, mut cells: Vec<CellId>) {
    let (reason, reach) = match step.unknown.take() {
        None => (reason.into(), None),
        Some(Unknown { reason, reach }) => (reason, Some(reach)),
    };
    let reach = match reach {
        Some(Reach::Everything) => Reach::Everything,
        Some(Reach::Cells(known)) => {
            cells.extend(known);
            cells.sort_unstable();
            cells.dedup();
            Reach::Cells(cells)
        }
        None => {
            cells.sort_unstable();
            Reach::Cells(cells)
        }
    };
    step.unknown = Some(Unknown { reason, reach });
}

/// The cells that a step touches.
#[derive(Default)]
struct Touched {
    read: FxHashSet<CellId>,
    written: FxHashSet<CellId>,
    /// Those whose contents it copies or compares with others.
    copied: FxHashSet<CellId>,
    /// Those of which it may make something else than a file with a content that is known.
    replaced: FxHashSet<CellId>,
}

impl Touched {
    /// A file that is always there is touched only by who looks at its content or changes it.
    fn by(step: &Step, lasting: &FxHashSet<CellId>) -> Self {
        let mut touched = Self::default();
        touched.program(&step.apply, lasting);
        touched.program(&step.refresh, lasting);
        touched.test(&step.suitable, lasting);
        if let Some(Unknown { reach: Reach::Cells(cells), .. }) = &step.unknown {
            touched.written.extend(cells);
            touched.replaced.extend(cells);
        }
        touched
    }

    fn reaches(&self, shared: &Shared) -> bool {
        let any = |cells: &FxHashSet<CellId>| shared.own.iter().any(|cell| cells.contains(cell));
        any(&self.written) || (!shared.writers_only && any(&self.read))
    }

    fn program(&mut self, program: &Program, lasting: &FxHashSet<CellId>) {
        match program {
            Program::Skip | Program::Fail(_) | Program::Change => {}
            Program::Write(to, term) => {
                self.written.insert(*to);
                if !matches!(term, Term::Is(Value::File(_))) {
                    self.replaced.insert(*to);
                }
                if let Term::Cell(from) = term {
                    self.copied.insert(*from);
                    self.read.insert(*from);
                }
            }
            Program::If(Test::Kind(cell, kind), then, otherwise) if lasting.contains(cell) => {
                self.program(if *kind == Kind::File { then } else { otherwise }, lasting);
            }
            Program::If(test, then, otherwise) => {
                self.test(test, lasting);
                self.program(then, lasting);
                self.program(otherwise, lasting);
            }
            Program::Sequence(programs) => programs.iter().for_each(|one| self.program(one, lasting)),
        }
    }

    fn test(&mut self, test: &Test, lasting: &FxHashSet<CellId>) {
        match test {
            Test::Kind(cell, _) if lasting.contains(cell) => {}
            Test::Not(inner) => self.test(inner, lasting),
            Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|one| self.test(one, lasting)),
            Test::True | Test::Kind(..) | Test::Equal(..) => {
                let mut cells = Vec::new();
                test.cells(&mut cells);
                if matches!(test, Test::Equal(Term::Cell(_), Term::Cell(_))) {
                    self.copied.extend(&cells);
                }
                self.read.extend(cells);
            }
        }
    }
}

/// The files of the platform that no step removes or replaces by something else.
fn lasting_files(machine: &Machine<'_>, steps: &[Step]) -> FxHashSet<CellId> {
    let world = machine.world;
    let files = machine.space.iter().filter(|(_, cell)| {
        cell.key.kind == CellKind::Path && !world.any_start && world.base.files.contains(&*cell.key.name)
    });
    let mut lasting: FxHashSet<CellId> = files.map(|(id, _)| id).collect();
    // The first to break what holds so far is a step that does so while it holds.
    loop {
        let broken: FxHashSet<CellId> =
            steps.iter().flat_map(|step| Touched::by(step, &lasting).replaced).collect();
        let before = lasting.len();
        lasting.retain(|cell| !broken.contains(cell));
        if lasting.len() == before {
            return lasting;
        }
    }
}

fn shared_paths(machine: &mut Machine<'_>, steps: &[Step]) -> Vec<Shared> {
    let mut found = Vec::new();
    found.extend(accounts(machine));
    found.extend(service_links(machine, steps));
    found.extend(behind_links(machine));
    found
}

/// The cells of a path: what is there, and the entries that are followed in it.
fn cells_of(machine: &Machine<'_>, path: &str) -> FxHashSet<CellId> {
    let entries = machine.tracked(path).into_iter().map(|tracked| tracked.cell);
    machine.space.find(&CellKey::path(path)).into_iter().chain(entries).collect()
}

fn accounts(machine: &Machine<'_>) -> Vec<Shared> {
    let is_account =
        |kind: CellKind| matches!(kind, CellKind::User | CellKind::UserGroup | CellKind::GroupNumber);
    let kept: Vec<CellId> =
        machine.space.iter().filter(|(_, cell)| is_account(cell.key.kind)).map(|(id, _)| id).collect();
    if kept.is_empty() {
        return Vec::new();
    }
    let shared = |path: &&str| {
        let own = cells_of(machine, path);
        let reason = format!("{path} is where accounts are kept");
        (!own.is_empty()).then(|| Shared { own, kept: kept.clone(), writers_only: false, reason })
    };
    ACCOUNTS.iter().filter_map(shared).collect()
}

/// The links by which systemd and init scripts know that a service is enabled or masked.
fn service_links(machine: &Machine<'_>, steps: &[Step]) -> Vec<Shared> {
    let mut found = Vec::new();
    for (id, cell) in machine.space.iter().filter(|(_, cell)| cell.key.kind == CellKind::Path) {
        let Some((unit, place)) = linked_unit(&cell.key.name, machine.world.base.family) else { continue };
        let enabled = machine.space.find(&CellKey::new(CellKind::Enabled, unit.as_str()));
        let running = machine.space.find(&CellKey::new(CellKind::Running, unit.as_str()));
        let kept = match place {
            LinkPlace::Start => enabled.into_iter().collect::<Vec<_>>(),
            LinkPlace::Unit if may_be_link(steps, id, enabled) => {
                enabled.into_iter().chain(running).collect()
            }
            LinkPlace::Unit => continue,
        };
        if kept.is_empty() {
            continue;
        }
        found.push(Shared {
            own: std::iter::once(id).collect(),
            kept,
            writers_only: place == LinkPlace::Unit,
            reason: format!("{} is a link by which the service {unit} is enabled or masked", cell.key.name),
        });
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkPlace {
    /// A link that starts the service at boot.
    Start,
    /// The place of a unit, which is a link to /dev/null if the service is masked.
    Unit,
}

/// The service of which a path may be a link.
fn linked_unit(path: &str, family: Family) -> Option<(Unit, LinkPlace)> {
    if let Some(rest) = path.strip_prefix(UNITS) {
        return match rest.split_once('/') {
            None if rest.contains('.') => Some((Unit::named(rest, family), LinkPlace::Unit)),
            Some((folder, file)) => {
                let kind = folder.rsplit_once('.').map(|(_, kind)| kind);
                matches!(kind, Some("wants" | "requires"))
                    .then(|| (Unit::named(file, family), LinkPlace::Start))
            }
            None => None,
        };
    }
    let (level, link) = path.strip_prefix("/etc/rc")?.split_once(".d/")?;
    let is_level = level.len() == 1 && level.chars().all(|one| one.is_ascii_digit() || one == 'S');
    let name = link.strip_prefix(['S', 'K'])?.trim_start_matches(|one: char| one.is_ascii_digit());
    (is_level && !name.is_empty()).then(|| (Unit::named(name, family), LinkPlace::Start))
}

/// Whether a step masks the service, or disables it while another makes a link in the place of its unit: systemd takes such
/// links away.
fn may_be_link(steps: &[Step], unit: CellId, enabled: Option<CellId>) -> bool {
    let (mut is_link, mut is_masked, mut is_disabled) = (None, false, false);
    for program in steps.iter().flat_map(|step| [&step.apply, &step.refresh]) {
        program.writes(&mut |cell, term| match term {
            Term::Is(Value::Link(target)) if cell == unit => is_link = Some(&**target == "/dev/null"),
            Term::Is(Value::Text(text)) if Some(cell) == enabled => {
                is_masked |= &**text == "mask";
                is_disabled |= &**text == "false";
            }
            _ => {}
        });
    }
    is_masked || is_link == Some(true) || (is_link.is_some() && is_disabled)
}

/// What lies below a link that a command makes is also where the link leads.
fn behind_links(machine: &mut Machine<'_>) -> Vec<Shared> {
    let mut found = Vec::new();
    for (link, target) in machine.mentions.links_of_commands() {
        let named = machine.below(&link).into_iter();
        let named = named.filter(|path| !machine.mentions.entered.contains(path)).collect::<Vec<_>>();
        for path in named {
            let Some(rest) = path.strip_prefix(&link) else { continue };
            let other = machine.mentions.canonical(&format!("{target}{rest}"), machine.world);
            let Some(other) = other.filter(|other| !is_below(other, &link)) else { continue };
            let own: FxHashSet<CellId> = attributes_too(machine, &path);
            let mut kept: Vec<CellId> = attributes_too(machine, &other).into_iter().collect();
            kept.extend(machine.space.find(&CellKey::path(&link)));
            if !own.is_empty() {
                let reason = format!("{link} may be a link to {target}");
                found.push(Shared { own, kept, writers_only: false, reason });
            }
        }
    }
    found
}

/// The cells of a path, its mode and owners among them.
fn attributes_too(machine: &Machine<'_>, path: &str) -> FxHashSet<CellId> {
    let kinds = [CellKind::Mode, CellKind::Owner, CellKind::Group];
    let attributes = kinds.into_iter().filter_map(|kind| machine.space.find(&CellKey::new(kind, path)));
    cells_of(machine, path).into_iter().chain(attributes).collect()
}
