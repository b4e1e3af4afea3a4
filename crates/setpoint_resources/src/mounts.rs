//! What a mounted file system hides: while it is mounted, the paths below its mount point are its own; what lay there before
//! comes back when it is unmounted.
//!
//! Each cell below a mount point has a twin that holds the other of the two: what is on the file system while it is not mounted,
//! what it hides while it is. To mount and to unmount exchange both. What is on the file system is chosen by the start.

use std::collections::BTreeMap;

use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Step, Term, Test, Value};

use crate::machine::Machine;
use crate::mentions::is_below;

/// A mount point, and what is below it.
struct Mounted {
    /// Whether it is mounted.
    state: CellId,
    /// The mount point, without links.
    point: String,
    /// Each cell below, with its twin.
    twins: BTreeMap<CellId, CellId>,
}

/// Makes every step that mounts or unmounts exchange what is below the mount point with what lies behind.
pub(crate) fn exchange_below(machine: &mut Machine<'_>, steps: &mut [Step]) {
    for mounted in mounted(machine, steps) {
        add_assumptions(machine, &mounted);
        let memory = machine.scratch("exchange", &mounted.point, Value::Absent);
        let exchange = mounted.twins.iter().flat_map(|(&cell, &twin)| {
            [Program::copy(memory, cell), Program::copy(cell, twin), Program::copy(twin, memory)]
        });
        let exchange: Vec<Program> = exchange.collect();
        for step in steps.iter_mut() {
            for program in [&mut step.apply, &mut step.refresh] {
                before_writes(program, mounted.state, &exchange);
            }
        }
    }
}

/// The mount points of which a step changes whether they are mounted, the deepest last.
fn mounted(machine: &mut Machine<'_>, steps: &[Step]) -> Vec<Mounted> {
    let states = machine
        .space
        .iter()
        .filter(|(_, cell)| cell.key.kind == CellKind::Mount && cell.key.detail.is_none());
    let states: Vec<(CellId, String)> = states.map(|(id, cell)| (id, cell.key.name.to_string())).collect();
    let mut found = Vec::new();
    for (state, name) in states {
        let is_written = steps.iter().any(|step| {
            let mut is_written = false;
            for program in [&step.apply, &step.refresh] {
                program.writes(&mut |cell, _| is_written |= cell == state);
            }
            is_written
        });
        let Some(point) = machine.mentions.canonical(&name, machine.world).filter(|_| is_written) else {
            continue;
        };
        let twins = below(machine, &point).into_iter();
        let twins = twins.map(|(cell, path)| (cell, twin(machine, &point, cell, &path))).collect();
        found.push(Mounted { state, point, twins });
    }
    found.sort_by(|one, other| one.point.cmp(&other.point));
    found
}

/// The cells of what is below a mount point, each with its path. The mount point itself has the mode and the owners of the root
/// of the file system.
fn below(machine: &Machine<'_>, point: &str) -> Vec<(CellId, String)> {
    let attributes = [CellKind::Mode, CellKind::Owner, CellKind::Group];
    let mut found: BTreeMap<CellId, String> = BTreeMap::new();
    for (id, cell) in machine.space.iter() {
        let CellKey { kind, name, detail } = &cell.key;
        let is_attribute = attributes.contains(kind);
        let is_checkout = *kind == CellKind::Other && detail.as_deref() == Some("checkout");
        let is_of_path = *kind == CellKind::Path || is_attribute || is_checkout;
        if is_of_path && (is_below(name, point) || is_attribute && **name == *point) {
            found.insert(id, name.to_string());
        }
    }
    let entries = machine.all_tracked().into_iter().filter(|entry| is_below(&entry.path, point));
    found.extend(entries.map(|entry| (entry.cell, entry.path)));
    found.into_iter().collect()
}

fn twin(machine: &mut Machine<'_>, point: &str, cell: CellId, path: &str) -> CellId {
    let known = machine.space.get(cell).map(|cell| (cell.key.clone(), cell.kinds.clone()));
    let (key, kinds) = known.unwrap_or_else(|| (CellKey::path(path), Vec::new()));
    let twin =
        machine.space.cell(CellKey::with_detail(CellKind::Other, &key.to_string(), &behind(point)), &kinds);
    if let Some(plain) = machine.space.plain(cell).cloned() {
        machine.space.set_plain(twin, plain);
    }
    if machine.stand_ins.contains(&cell) {
        machine.stand_ins.insert(twin);
    }
    twin
}

/// The detail of the cells that are twins at a mount point.
pub(crate) fn behind(point: &str) -> String {
    format!("(behind the mount point {point})")
}

/// What holds of the cells below holds of their twins, as far as it speaks of no other cell. The mount point itself is there
/// or not, whatever the file system has.
fn add_assumptions(machine: &mut Machine<'_>, mounted: &Mounted) {
    let also = |tests: &[Test]| -> Vec<Test> {
        let of_twins = |test: &&Test| {
            let mut cells = Vec::new();
            test.cells(&mut cells);
            !cells.is_empty() && cells.iter().all(|cell| mounted.twins.contains_key(cell))
        };
        tests.iter().filter(of_twins).map(|test| replaced(test, &mounted.twins)).collect()
    };
    // Its root has a mode and owners, whether or not there is a mount point.
    for (cell, twin) in &mounted.twins {
        if machine.space.get(*cell).is_some_and(|cell| *cell.key.name == *mounted.point) {
            machine.laws.push(Test::Kind(*twin, Kind::Text));
        }
    }
    let (laws, start, assumed) = (also(&machine.laws), also(&machine.start), also(&machine.assumed_start));
    machine.laws.extend(laws);
    machine.start.extend(start);
    machine.assumed_start.extend(assumed);
}

/// The same test about other cells.
fn replaced(test: &Test, twins: &BTreeMap<CellId, CellId>) -> Test {
    let cell = |cell: &CellId| twins.get(cell).copied().unwrap_or(*cell);
    let term = |term: &Term| match term {
        Term::Cell(one) => Term::Cell(cell(one)),
        Term::Is(value) => Term::Is(value.clone()),
    };
    let all = |tests: &[Test]| tests.iter().map(|test| replaced(test, twins)).collect();
    match test {
        Test::True => Test::True,
        Test::Equal(left, right) => Test::Equal(term(left), term(right)),
        Test::Kind(one, kind) => Test::Kind(cell(one), *kind),
        Test::Not(inner) => Test::Not(Box::new(replaced(inner, twins))),
        Test::All(tests) => Test::All(all(tests)),
        Test::Any(tests) => Test::Any(all(tests)),
    }
}

/// Puts programs before each write to a cell.
fn before_writes(program: &mut Program, state: CellId, exchange: &[Program]) {
    match program {
        Program::Write(cell, _) if *cell == state => {
            let write = std::mem::replace(program, Program::Skip);
            *program = Program::Sequence(exchange.iter().cloned().chain([write]).collect());
        }
        Program::If(_, then, otherwise) => {
            before_writes(then, state, exchange);
            before_writes(otherwise, state, exchange);
        }
        Program::Sequence(programs) => {
            for program in programs {
                before_writes(program, state, exchange);
            }
        }
        Program::Skip | Program::Fail(_) | Program::Change | Program::Write(..) => {}
    }
}
