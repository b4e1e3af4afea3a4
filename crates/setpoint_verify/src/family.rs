//! Families of plans that grow: for benches, and for tests that the cost grows as the plan does.

use setpoint_state::{CellId, CellKey, CellKind, Kind, Plan, Program, Step, StepId, Test, Value};

const PATH: [Kind; 3] = [Kind::Absent, Kind::Directory, Kind::File];

fn marker(plan: &mut Plan, name: &str) -> CellId {
    plan.space.cell(CellKey::new(CellKind::Package, name), &[Kind::Absent, Kind::Text])
}

fn path(plan: &mut Plan, name: &str) -> CellId {
    plan.space.cell(CellKey::path(name), &PATH)
}

/// Makes a directory if nothing is there, and fails if something else is, or if its parent is no directory.
fn ensure_directory(cell: CellId, parent: Option<CellId>) -> Program {
    let mut make = Program::set(cell, Value::Directory);
    if let Some(parent) = parent {
        make = Program::choose(
            Test::Kind(parent, Kind::Directory),
            make,
            Program::fail("its parent is no directory"),
        );
    }
    Program::choose(
        Test::Kind(cell, Kind::Absent),
        make,
        Program::when(Test::Kind(cell, Kind::Directory).negate(), Program::fail("not a directory")),
    )
}

/// A file with this content: fails on a directory, or if its parent is none.
pub fn file(cell: CellId, parent: Option<CellId>, content: &str) -> Program {
    let value = Value::file(content);
    let mut write = Program::Sequence(vec![Program::set(cell, value.clone()), Program::Change]);
    if let Some(parent) = parent {
        write = Program::choose(
            Test::Kind(parent, Kind::Directory),
            write,
            Program::fail("its parent is no directory"),
        );
    }
    Program::when(
        Test::is(cell, value).negate(),
        Program::choose(Test::Kind(cell, Kind::Directory), Program::fail("it is a directory"), write),
    )
}

/// Figure 13 of the paper: n packages that all create `/a`, then one file that overwrites it. With `overwrite`, a package
/// replaces what is there; else it fails, as the paper's does.
pub fn figure_13(packages: usize, overwrite: bool) -> Plan {
    let mut plan = Plan::default();
    let a = path(&mut plan, "/a");
    for number in 0..packages {
        let installed = marker(&mut plan, &format!("A-{number}"));
        let content = Value::file(&format!("of A-{number}"));
        let create = if overwrite {
            Program::choose(
                Test::Kind(a, Kind::Directory),
                Program::fail("it is a directory"),
                Program::set(a, content),
            )
        } else {
            Program::choose(Test::Kind(a, Kind::Absent), Program::set(a, content), Program::fail("it exists"))
        };
        let install = Program::Sequence(vec![
            Program::set(installed, Value::text("installed")),
            create,
            Program::Change,
        ]);
        plan.steps.push(Step::new(
            &format!("Package[A-{number}]"),
            Program::when(Test::is(installed, Value::text("installed")).negate(), install),
            Program::Skip,
        ));
        plan.edges.push((StepId(number as u32), StepId(packages as u32)));
    }
    plan.steps.push(Step::new("File[/a]", file(a, None, "x"), Program::Skip));
    plan
}

/// n unordered writers of one file that a later one overwrites. With `failures`, a writer fails if a file of its own is a
/// directory.
pub fn writers(count: usize, failures: bool) -> Plan {
    let mut plan = Plan::default();
    let shared = plan.space.cell(CellKey::path("/shared"), &[Kind::Absent, Kind::File]);
    for number in 0..count {
        let own = path(&mut plan, &format!("/own{number}"));
        let write = Program::set(shared, Value::file(&number.to_string()));
        let apply = if failures {
            Program::choose(Test::Kind(own, Kind::Directory), Program::fail("it is a directory"), write)
        } else {
            write
        };
        plan.steps.push(Step::new(&format!("Exec[{number}]"), apply, Program::Skip));
        plan.edges.push((StepId(number as u32), StepId(count as u32)));
    }
    plan.steps.push(Step::new("File[/shared]", Program::set(shared, Value::file("last")), Program::Skip));
    plan
}

/// A chain: each file is a copy of the one before.
pub fn chain(count: usize) -> Plan {
    let mut plan = Plan::default();
    let cells: Vec<CellId> = (0..=count).map(|number| path(&mut plan, &format!("/{number}"))).collect();
    for number in 0..count {
        let (from, to) = (cells[number], cells[number + 1]);
        let copy = Program::when(
            Test::same(from, to).negate(),
            Program::Sequence(vec![Program::copy(to, from), Program::Change]),
        );
        plan.steps.push(Step::new(
            &format!("File[/{}]", number + 1),
            Program::choose(Test::Kind(from, Kind::File), copy, Program::fail("no source")),
            Program::Skip,
        ));
        if number > 0 {
            plan.edges.push((StepId(number as u32 - 1), StepId(number as u32)));
        }
    }
    plan
}

/// Diamonds in a row: between two steps that are ordered stand two that are not, and both write one file.
pub fn diamonds(count: usize) -> Plan {
    let mut plan = Plan::default();
    let mut last: Option<StepId> = None;
    for number in 0..count {
        let shared = path(&mut plan, &format!("/shared{number}"));
        let begin = plan.steps.len() as u32;
        let steps = [
            ("top", file(shared, None, "top")),
            ("left", file(shared, None, "left")),
            ("right", file(shared, None, "right")),
            ("bottom", Program::set(shared, Value::file("bottom"))),
        ];
        for (name, apply) in steps {
            plan.steps.push(Step::new(&format!("File[{name}{number}]"), apply, Program::Skip));
        }
        for (one, two) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
            plan.edges.push((StepId(begin + one), StepId(begin + two)));
        }
        if let Some(last) = last {
            plan.edges.push((last, StepId(begin)));
        }
        last = Some(StepId(begin + 3));
    }
    plan
}

/// A catalog as they are: packages that share directories, files in directories, services that files notify; classes
/// contain them. One step in fifty forgot its dependency if `bugs`.
pub fn catalog(steps: usize, packages: usize, files_of_package: usize, bugs: bool) -> Plan {
    let mut plan = Plan::default();
    let root = path(&mut plan, "/");
    plan.laws.push(Test::Kind(root, Kind::Directory));
    let law = |plan: &mut Plan, child: CellId, parent: CellId| {
        plan.laws.push(Test::Any(vec![Test::Kind(child, Kind::Absent), Test::Kind(parent, Kind::Directory)]));
    };
    let etc = path(&mut plan, "/etc");
    let share = path(&mut plan, "/usr/share");
    law(&mut plan, etc, root);
    law(&mut plan, share, root);
    plan.start.push(Test::Kind(etc, Kind::Directory));
    for number in 0..packages {
        let installed = marker(&mut plan, &format!("p{number}"));
        let mut install = vec![ensure_directory(share, Some(root))];
        for shared in 0..5 {
            let directory = path(&mut plan, &format!("/usr/share/common{shared}"));
            law(&mut plan, directory, share);
            install.push(ensure_directory(directory, Some(share)));
        }
        let own = path(&mut plan, &format!("/etc/p{number}"));
        law(&mut plan, own, etc);
        install.push(ensure_directory(own, Some(etc)));
        for file in 0..files_of_package {
            let place = path(&mut plan, &format!("/usr/share/common{}/p{number}-{file}", file % 5));
            install.push(Program::choose(
                Test::Kind(place, Kind::Directory),
                Program::fail("it is a directory"),
                Program::set(place, Value::file(&format!("{number} {file}"))),
            ));
        }
        install.push(Program::set(installed, Value::text("installed")));
        install.push(Program::Change);
        plan.steps.push(Step::new(
            &format!("Package[p{number}]"),
            Program::when(Test::is(installed, Value::text("installed")).negate(), Program::Sequence(install)),
            Program::Skip,
        ));
    }
    let mut number = 0;
    while plan.steps.len() < steps {
        let package = number % packages.max(1);
        let directory = path(&mut plan, &format!("/etc/p{package}"));
        let place = path(&mut plan, &format!("/etc/p{package}/conf{number}"));
        law(&mut plan, place, directory);
        let at = StepId(plan.steps.len() as u32);
        plan.steps.push(Step::new(
            &format!("File[/etc/p{package}/conf{number}]"),
            file(place, Some(directory), &format!("conf {number}")),
            Program::Skip,
        ));
        if !(bugs && number % 50 == 7) {
            plan.edges.push((StepId(package as u32), at));
        }
        if number % 4 == 0 && plan.steps.len() < steps {
            let name = format!("s{number}");
            let running = plan.space.cell(CellKey::new(CellKind::Running, &name), &[Kind::Text]);
            let loaded = plan.space.cell(
                CellKey::with_detail(CellKind::Loaded, &name, &format!("/etc/p{package}/conf{number}")),
                &PATH,
            );
            let start = Program::Sequence(vec![
                Program::set(running, Value::text("running")),
                Program::copy(loaded, place),
                Program::Change,
            ]);
            let service = StepId(plan.steps.len() as u32);
            plan.steps.push(Step::new(
                &format!("Service[{name}]"),
                Program::when(Test::is(running, Value::text("running")).negate(), start),
                Program::Sequence(vec![Program::copy(loaded, place), Program::Change]),
            ));
            plan.edges.push((at, service));
            plan.notifies.push((at, service));
            // A running service has loaded its configuration.
            plan.start.push(Test::Any(vec![
                Test::is(running, Value::text("running")).negate(),
                Test::same(loaded, place),
            ]));
        }
        number += 1;
    }
    plan
}
