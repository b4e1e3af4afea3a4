//! What must hold at the end, what services have loaded, what fails, and how it is mended.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::many_single_char_names,
    reason = "tests fail by panicking, and plans are told with letters"
)]

use setpoint_state::{
    CellId, CellKey, CellKind, Kind, Plan, Program, Runner, Semantics, Status, Step, StepId, Test, Value,
};
use setpoint_verify::repair::{Edge, repair, with_edges};
use setpoint_verify::{Invariant, Options, Stale, family, verify};

const PATH: [Kind; 3] = [Kind::Absent, Kind::Directory, Kind::File];

fn step(plan: &mut Plan, name: &str, apply: Program, refresh: Program) -> StepId {
    plan.steps.push(Step::new(name, apply, refresh));
    StepId(plan.steps.len() as u32 - 1)
}

fn write(cell: CellId, content: &str) -> Program {
    Program::when(
        Test::is(cell, Value::file(content)).negate(),
        Program::Sequence(vec![Program::set(cell, Value::file(content)), Program::Change]),
    )
}

/// A file, a service that loads it, and another step that the service waits for.
fn service(notify: bool, other: bool) -> Plan {
    let mut plan = Plan::default();
    let conf = plan.space.cell(CellKey::path("/etc/ntp.conf"), &[Kind::Absent, Kind::File]);
    let loaded = plan
        .space
        .cell(CellKey::with_detail(CellKind::Loaded, "ntp", "/etc/ntp.conf"), &[Kind::Absent, Kind::File]);
    let running = plan.space.cell(CellKey::new(CellKind::Running, "ntp"), &[Kind::Text]);
    let file = step(&mut plan, "File[/etc/ntp.conf]", write(conf, "mine"), Program::Skip);
    let start = Program::Sequence(vec![
        Program::set(running, Value::text("running")),
        Program::copy(loaded, conf),
        Program::Change,
    ]);
    let service = step(
        &mut plan,
        "Service[ntp]",
        Program::when(Test::is(running, Value::text("running")).negate(), start),
        Program::Sequence(vec![Program::copy(loaded, conf), Program::Change]),
    );
    plan.edges.push((file, service));
    if notify {
        plan.notifies.push((file, service));
    }
    if other {
        let cell = plan.space.cell(CellKey::path("/etc/default/ntp"), &[Kind::Absent, Kind::File]);
        let other = step(&mut plan, "File[/etc/default/ntp]", write(cell, "x"), Program::Skip);
        plan.edges.push((other, service));
    }
    plan.start
        .push(Test::Any(vec![Test::is(running, Value::text("running")).negate(), Test::same(loaded, conf)]));
    plan
}

#[test]
fn a_missing_notify_is_found_and_mended() {
    let plan = service(false, false);
    let verdicts = verify(&plan, &Options::default());
    assert!(verdicts.order.is_proved());
    let missing: Vec<&Stale> = verdicts.missing_notify().collect();
    let [stale] = missing[..] else { panic!("{missing:?}") };
    assert_eq!(stale.failing, None);
    assert_ne!(stale.runs[0].end.get(stale.loaded), stale.runs[0].end.get(stale.file));
    let repair = repair(&plan, &Options::default()).unwrap();
    assert_eq!(repair.edges, [Edge { from: StepId(0), to: StepId(1), notify: true }]);
    assert!(repair.complete);
    assert!(verify(&service(true, false), &Options::default()).missing_notify().next().is_none());
}

/// The configuration changes, another dependency of the service fails once, the next run is clean: nobody restarts it.
#[test]
fn a_lost_refresh_is_found() {
    let plan = service(true, true);
    assert!(verify(&plan, &Options::default()).lost_refresh().next().is_none(), "nobody asked");
    let verdicts = verify(&plan, &Options { lost_refresh: true, ..Options::default() });
    assert!(verdicts.missing_notify().next().is_none());
    let lost: Vec<&Stale> = verdicts.lost_refresh().collect();
    let [lost] = lost[..] else { panic!("{lost:?}") };
    assert!(lost.failing.is_some());
    assert_eq!(lost.runs.len(), 2);
    assert!(lost.runs[1].is_clean());
    assert_ne!(lost.runs[1].end.get(lost.loaded), lost.runs[1].end.get(lost.file));
    assert_eq!(lost.runs[0].statuses[lost.failing.unwrap().0 as usize], Status::Failed);
}

#[test]
fn stated_invariants_are_proved_or_broken() {
    let mut plan = Plan::default();
    let (x, y) = (
        plan.space.cell(CellKey::path("/x"), &[Kind::Absent, Kind::File]),
        plan.space.cell(CellKey::path("/y"), &[Kind::Absent, Kind::File]),
    );
    step(&mut plan, "File[/x]", write(x, "1"), Program::Skip);
    let options = Options {
        invariants: vec![
            Invariant { name: "x is 1".into(), test: Test::is(x, Value::file("1")) },
            Invariant { name: "y is there".into(), test: Test::Kind(y, Kind::File) },
        ],
        ..Options::default()
    };
    let verdicts = verify(&plan, &options);
    assert!(verdicts.invariants[0].is_proved() && verdicts.declared.is_proved());
    let broken = verdicts.invariants[1].witness().unwrap();
    assert_eq!(&*broken.name, "y is there");
    assert!(!broken.run.end.holds(&broken.test));
}

/// A declared file must end with its declared content; what a package brings is no declaration.
#[test]
fn a_declared_content_that_another_step_overwrites() {
    let mut plan = Plan::default();
    let x = plan.space.cell(CellKey::path("/x"), &[Kind::Absent, Kind::File]);
    let one = step(&mut plan, "File[/x]", write(x, "mine"), Program::Skip);
    let two = step(&mut plan, "Exec[spoil]", Program::set(x, Value::file("spoilt")), Program::Skip);
    plan.edges.push((one, two));
    let verdicts = verify(&plan, &Options::default());
    let steps: Vec<_> = verdicts.declared.witnesses().map(|broken| broken.step).collect();
    assert_eq!(steps, [Some(one)]);
    assert!(verify(&family::figure_13(3, true), &Options::default()).declared.is_proved());
}

#[test]
fn a_step_that_always_fails_is_named() {
    let mut plan = Plan::default();
    let x = plan.space.cell(CellKey::path("/x"), &PATH);
    let directory = plan.space.cell(CellKey::path("/d"), &PATH);
    step(&mut plan, "File[/d/x]", family::file(x, Some(directory), "x"), Program::Skip);
    let always = step(&mut plan, "Exec[false]", Program::fail("exit 1"), Program::Skip);
    let verdicts = verify(&plan, &Options::default());
    assert!(verdicts.order.is_proved());
    let [one, two] = &verdicts.failures[..] else { panic!("{:?}", verdicts.failures) };
    assert_eq!([one.step, two.step], [StepId(0), always]);
    let start = one.always.witness().unwrap();
    let run = Runner::new(&plan, Semantics::Puppet).run(start, &one.run.order);
    assert_ne!(run.statuses[0], Status::Failed, "a start from which it does not fail");
    assert!(two.always.is_proved());
    assert!(verdicts.failures.iter().all(|failure| failure.every_order));
}

#[test]
fn redundant_edges_are_found_if_asked_for() {
    let mut plan = Plan::default();
    let (x, y) = (
        plan.space.cell(CellKey::path("/x"), &[Kind::Absent, Kind::File]),
        plan.space.cell(CellKey::path("/y"), &[Kind::Absent, Kind::File]),
    );
    let a = step(&mut plan, "a", write(x, "1"), Program::Skip);
    let b = step(&mut plan, "b", write(x, "2"), Program::Skip);
    let c = step(&mut plan, "c", write(y, "3"), Program::Skip);
    plan.edges = vec![(a, b), (a, c), (b, c)];
    assert!(verify(&plan, &Options::default()).redundant.is_empty());
    let verdicts = verify(&plan, &Options { maybe_redundant: plan.edges.clone(), ..Options::default() });
    // Either edge to c can go; the one between the two writers cannot.
    assert_eq!(verdicts.redundant, [(a, c), (b, c)]);
}

/// The paper's repaired ntp puts the file before the package: determinate, and wrong. The repair puts it after.
#[test]
fn a_repair_needs_no_second_run() {
    let mut plan = Plan::default();
    let conf = plan.space.cell(CellKey::path("/etc/ntp.conf"), &[Kind::Absent, Kind::File]);
    let marker = plan.space.cell(CellKey::new(CellKind::Package, "ntp"), &[Kind::Absent, Kind::Text]);
    let file = step(&mut plan, "File[/etc/ntp.conf]", write(conf, "mine"), Program::Skip);
    let install = Program::Sequence(vec![
        Program::set(conf, Value::file("default")),
        Program::set(marker, Value::text("installed")),
        Program::Change,
    ]);
    let package = step(
        &mut plan,
        "Package[ntp]",
        Program::when(Test::is(marker, Value::text("installed")).negate(), install),
        Program::Skip,
    );
    let repair = repair(&plan, &Options::default()).unwrap();
    assert_eq!(repair.edges, [Edge { from: package, to: file, notify: false }]);
    assert!(repair.complete);
    assert!(repair.verdicts.quiet.is_proved());
}

/// Several pairs, one edge each; nothing closes a cycle, and nothing is left over.
#[test]
fn a_repair_is_as_small_as_can_be() {
    let plan = family::catalog(60, 3, 4, true);
    let verdicts = verify(&plan, &Options::default());
    assert!(!verdicts.order.is_proved());
    let repair = repair(&plan, &Options::default()).unwrap();
    assert!(repair.complete);
    assert_eq!(repair.edges.len(), verdicts.dependences().count());
    let mended = with_edges(&plan, &repair.edges);
    assert_eq!(Runner::new(&mended, Semantics::Puppet).puppet_order().len(), plan.steps.len());
    assert!(verify(&mended, &Options::default()).order.is_proved());
    // Figure 3c cannot be mended by an edge: it says so, or leaves it.
    assert!(super_figure_3c().is_none_or(|repair| repair.verdicts.quiet.is_refuted()));
}

fn super_figure_3c() -> Option<setpoint_verify::repair::Repair> {
    let mut plan = Plan::default();
    let kinds = [Kind::Absent, Kind::Directory];
    let go = plan.space.cell(CellKey::new(CellKind::Package, "golang-go"), &kinds);
    let perl = plan.space.cell(CellKey::new(CellKind::Package, "perl"), &kinds);
    plan.laws.push(Test::Any(vec![Test::Kind(go, Kind::Absent), Test::Kind(perl, Kind::Directory)]));
    let both = |value: Value| {
        Program::Sequence(vec![Program::set(perl, value.clone()), Program::set(go, value), Program::Change])
    };
    step(
        &mut plan,
        "Package[golang-go]",
        Program::when(Test::Kind(go, Kind::Absent), both(Value::Directory)),
        Program::Skip,
    );
    step(
        &mut plan,
        "Package[perl]",
        Program::when(Test::Kind(perl, Kind::Directory), both(Value::Absent)),
        Program::Skip,
    );
    repair(&plan, &Options::default())
}

/// Puppet's own order keeps the invariant; another one does not, and the story has that order and a plain start.
#[test]
fn a_stated_invariant_is_asked_of_every_order() {
    let mut plan = Plan::default();
    let (x, y, z) = (
        plan.space.cell(CellKey::path("/x"), &[Kind::Absent, Kind::File]),
        plan.space.cell(CellKey::path("/y"), &[Kind::Absent, Kind::File]),
        plan.space.cell(CellKey::path("/z"), &[Kind::Absent, Kind::File]),
    );
    let a = step(&mut plan, "a", Program::set(x, Value::file("1")), Program::Skip);
    let b = step(&mut plan, "b", Program::set(x, Value::file("2")), Program::Skip);
    step(&mut plan, "c", write(z, "3"), Program::Skip);
    let invariant = |name: &str, test: Test| Invariant { name: name.into(), test };
    let options = Options {
        invariants: vec![
            invariant("x is 2", Test::is(x, Value::file("2"))),
            invariant("x is there", Test::Kind(x, Kind::File)),
            invariant(
                "y is absent or x is 2",
                Test::Any(vec![Test::Kind(y, Kind::Absent), Test::is(x, Value::file("2"))]),
            ),
        ],
        ..Options::default()
    };
    let stated = |plan: &Plan| {
        let verdicts = verify(plan, &options);
        let broken: Vec<_> = verdicts.invariants.iter().filter_map(|one| one.witness().cloned()).collect();
        (
            broken,
            verdicts.invariants.into_iter().filter(setpoint_verify::Answer::is_unknown).collect::<Vec<_>>(),
        )
    };
    let (broken, undecided) = stated(&plan);
    assert!(undecided.is_empty());
    let names: Vec<&str> = broken.iter().map(|broken| &*broken.name).collect();
    assert_eq!(names, ["x is 2", "y is absent or x is 2"]);
    for broken in &broken {
        let at = |step: StepId| broken.run.order.iter().position(|&other| other == step).unwrap();
        assert!(at(b) < at(a));
        assert!(broken.run.is_clean() && !broken.run.end.holds(&broken.test));
    }
    assert!(broken[0].matters.is_empty());
    assert_eq!(broken[1].matters, [y]);
    // What nobody knows the effect of may break anything.
    plan.edges.push((a, b));
    plan.steps[2].unknown = Some(setpoint_state::Unknown {
        reason: "nobody knows".into(),
        reach: setpoint_state::Reach::Cells(vec![x]),
    });
    let (broken, undecided) = stated(&plan);
    assert!(broken.is_empty());
    assert_eq!(undecided.len(), 3);
    plan.steps[2].unknown = None;
    let (broken, undecided) = stated(&plan);
    assert!(broken.is_empty() && undecided.is_empty());
}

/// That no start was found in time does not mean that there is none: nothing is proved then.
#[test]
fn a_time_that_is_over_proves_nothing() {
    let mut plan = Plan::default();
    let x = plan.space.cell(CellKey::path("/x"), &[Kind::Absent, Kind::File]);
    plan.start.push(Test::Kind(x, Kind::Absent).negate());
    step(&mut plan, "a", write(x, "1"), Program::Skip);
    step(&mut plan, "b", write(x, "2"), Program::Skip);
    let options = Options { work: Some(0), ..Options::default() };
    let verdicts = verify(&plan, &options);
    assert!(verdicts.order.is_unknown());
    assert!(verdicts.idempotent.is_unknown() && verdicts.quiet.is_unknown());
    assert!(verdicts.convergent.is_unknown());
    assert!(!verdicts.unfinished.is_empty());
}
