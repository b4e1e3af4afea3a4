//! Every bug of Rehearsal that can be told in plans, every trap in which a prover falls, and the paper's figures.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::many_single_char_names,
    reason = "tests fail by panicking, and the traps are told with letters"
)]

use setpoint_state::{
    CellId, CellKey, CellKind, Kind, Plan, Program, Reach, Runner, Semantics, Step, StepId, Test, Unknown,
    Value,
};
use setpoint_verify::exhaustive::{Judged, judge};
use setpoint_verify::{Options, Unproved, Verdicts, Why, family, verify};

/// Whether the order matters, and Puppet's own is not one in which a step fails that another would not fail.
fn is_dependent(verdicts: &Verdicts) -> bool {
    verdicts.order.is_refuted() && verdicts.fails_today().is_none()
}

/// The reasons of the questions about a second run and about other starts.
fn doubts(verdicts: &Verdicts) -> [&[Unproved]; 3] {
    [verdicts.idempotent.reasons(), verdicts.quiet.reasons(), verdicts.convergent.reasons()]
}

const PATH: [Kind; 3] = [Kind::Absent, Kind::Directory, Kind::File];

#[derive(Default)]
struct Make {
    plan: Plan,
}

impl Make {
    fn path(&mut self, name: &str) -> CellId {
        self.plan.space.cell(CellKey::path(name), &PATH)
    }

    fn content(&mut self, name: &str) -> CellId {
        self.plan.space.cell(CellKey::path(name), &[Kind::Absent, Kind::File])
    }

    fn text(&mut self, name: &str) -> CellId {
        self.plan.space.cell(CellKey::new(CellKind::Other, name), &[Kind::Text])
    }

    fn step(&mut self, name: &str, apply: Program) -> StepId {
        self.refreshed(name, apply, Program::Skip)
    }

    fn refreshed(&mut self, name: &str, apply: Program, refresh: Program) -> StepId {
        self.plan.steps.push(Step::new(name, apply, refresh));
        StepId(self.plan.steps.len() as u32 - 1)
    }

    fn edge(&mut self, one: StepId, two: StepId) {
        self.plan.edges.push((one, two));
    }

    fn notify(&mut self, one: StepId, two: StepId) {
        self.plan.edges.push((one, two));
        self.plan.notifies.push((one, two));
    }
}

fn file(content: &str) -> Value {
    Value::file(content)
}

fn text(value: &str) -> Value {
    Value::text(value)
}

/// `file { cell: content => … }`
fn write(cell: CellId, content: &str) -> Program {
    Program::when(
        Test::is(cell, file(content)).negate(),
        Program::Sequence(vec![Program::set(cell, file(content)), Program::Change]),
    )
}

/// `file { to: source => from }`
fn copy(to: CellId, from: CellId) -> Program {
    Program::choose(
        Test::Kind(from, Kind::File),
        Program::when(
            Test::same(to, from).negate(),
            Program::choose(
                Test::Kind(to, Kind::Directory),
                Program::fail("it is a directory"),
                Program::Sequence(vec![Program::copy(to, from), Program::Change]),
            ),
        ),
        Program::fail("no source"),
    )
}

/// The verdicts, which exhaustive execution confirms where the plan is small enough for it.
fn asked(plan: &Plan, semantics: Semantics) -> Verdicts {
    if let Judged::Differs(what) = judge(plan, semantics, 100_000) {
        panic!("exhaustive execution disagrees: {what}");
    }
    verify(plan, &Options { semantics, ..Options::default() })
}

fn puppet(plan: &Plan) -> Verdicts {
    asked(plan, Semantics::Puppet)
}

fn paper(plan: &Plan) -> Verdicts {
    asked(plan, Semantics::Paper)
}

// Rehearsal's bugs.

/// Contents that no program mentions are possible, and an unrelated file does not change the answer.
#[test]
fn bug_closed_world() {
    for unrelated in [false, true] {
        let mut make = Make::default();
        let (dst, src, other) = (make.content("/dst"), make.content("/src"), make.content("/dst2"));
        let one = make.step("File[/dst]", copy(dst, src));
        let two = make.step("File[/src]", copy(src, other));
        make.edge(one, two);
        if unrelated {
            let z = make.content("/z");
            make.step("File[/z]", write(z, "k"));
        }
        let verdicts = verify(&make.plan, &Options { semantics: Semantics::Paper, ..Options::default() });
        assert!(verdicts.idempotent.is_refuted(), "with an unrelated file: {unrelated}");
    }
}

/// Packages that put different contents at one path conflict, though a directory that both make does not.
#[test]
fn bug_packages_with_equal_contents() {
    let mut make = Make::default();
    let (shared, tool) = (make.path("/usr/share"), make.content("/usr/bin/tool"));
    for name in ["a", "b"] {
        let marker = make.plan.space.cell(CellKey::new(CellKind::Package, name), &[Kind::Absent, Kind::Text]);
        let directory = Program::choose(
            Test::Kind(shared, Kind::Absent),
            Program::set(shared, Value::Directory),
            Program::when(Test::Kind(shared, Kind::Directory).negate(), Program::fail("not a directory")),
        );
        let install = vec![
            directory,
            Program::set(tool, file(&format!("tool of {name}"))),
            Program::set(marker, text("installed")),
            Program::Change,
        ];
        make.step(
            name,
            Program::when(Test::is(marker, text("installed")).negate(), Program::Sequence(install)),
        );
    }
    assert!(is_dependent(&paper(&make.plan)));
    assert!(is_dependent(&puppet(&make.plan)));
}

/// The fresh child of figure 8: removing a directory fails if something is in it that no program mentions. A model lists
/// such a child as a cell of its own; the start may have it.
#[test]
fn bug_fresh_child() {
    let mut make = Make::default();
    let (directory, child) = (make.path("/a"), make.content("/a/*"));
    make.plan
        .laws
        .push(Test::Any(vec![Test::Kind(child, Kind::Absent), Test::Kind(directory, Kind::Directory)]));
    let remove = Program::choose(
        Test::Kind(child, Kind::Absent),
        Program::set(directory, Value::Absent),
        Program::fail("not empty"),
    );
    make.step("File[/a]", remove);
    let observer = make.text("seen");
    make.step(
        "Exec[look]",
        Program::when(Test::Kind(directory, Kind::Directory), Program::set(observer, text("yes"))),
    );
    let verdicts = puppet(&make.plan);
    assert!(is_dependent(&verdicts));
    let start = &verdicts.dependences().next().unwrap().counterexample.start;
    assert_eq!(start.get(directory), &Value::Directory);
    assert_eq!(start.get(child), &Value::Absent);
}

/// A start is a tree, in the question about a second run too.
#[test]
fn bug_idempotence_without_a_tree() {
    let mut make = Make::default();
    let (parent, child) = (make.path("/p"), make.content("/p/c"));
    make.plan
        .laws
        .push(Test::Any(vec![Test::Kind(child, Kind::Absent), Test::Kind(parent, Kind::Directory)]));
    // Without the law, a child without its parent would make the second run differ.
    make.step(
        "x",
        Program::choose(
            Test::All(vec![Test::Kind(child, Kind::File), Test::Kind(parent, Kind::Directory).negate()]),
            Program::set(child, Value::Absent),
            Program::when(Test::Kind(child, Kind::Absent), Program::Skip),
        ),
    );
    assert!(paper(&make.plan).idempotent.is_proved());
    assert!(paper(&make.plan).quiet.is_proved());
}

/// Lemma 4 as printed says nothing of two writers of one path.
#[test]
fn bug_lemma_4_two_writers() {
    let mut make = Make::default();
    let a = make.content("/a");
    make.step("one", Program::set(a, file("1")));
    make.step("two", Program::set(a, file("2")));
    assert!(is_dependent(&paper(&make.plan)));
    assert!(is_dependent(&puppet(&make.plan)));
}

/// Commuting steps beside one that does not commute cost nothing: Rehearsal branches over all of them.
#[test]
fn bug_reduction_branches_on_the_whole_fringe() {
    let mut make = Make::default();
    for number in 0..60 {
        let cell = make.content(&format!("/{number}"));
        make.step(&format!("File[/{number}]"), write(cell, "x"));
    }
    let a = make.content("/a");
    make.step("one", write(a, "1"));
    make.step("two", write(a, "2"));
    let verdicts = verify(&make.plan, &Options { semantics: Semantics::Paper, ..Options::default() });
    assert!(is_dependent(&verdicts));
    assert_eq!(verdicts.effort.candidates, 1);
}

// The traps.

/// Whichever of two equal writers runs first is the one that changed, and notifies.
#[test]
fn trap_equal_writers_notify() {
    let mut make = Make::default();
    let (x, loaded) = (make.content("/x"), make.content("loaded"));
    let one = make.step("one", write(x, "1"));
    make.step("two", write(x, "1"));
    let service = make.refreshed(
        "service",
        Program::Skip,
        Program::Sequence(vec![Program::copy(loaded, x), Program::Change]),
    );
    make.notify(one, service);
    assert!(is_dependent(&puppet(&make.plan)));
    assert!(paper(&make.plan).order.is_proved());
}

/// Only a and b do not commute; without w, which an observer needs, the answer would be wrong.
#[test]
fn trap_writers_of_what_an_observer_reads() {
    let mut make = Make::default();
    let (x, q, m, z) = (make.text("x"), make.text("q"), make.text("m"), make.text("z"));
    let a = make.step("a", Program::set(x, text("1")));
    let b = make.step("b", Program::set(x, text("2")));
    let o1 = make.step(
        "o1",
        Program::when(
            Test::All(vec![Test::is(q, text("0")), Test::is(x, text("1"))]),
            Program::set(m, text("1")),
        ),
    );
    let w = make.step("w", Program::set(q, text("1")));
    let o2 = make.step(
        "o2",
        Program::when(
            Test::All(vec![Test::is(q, text("1")), Test::is(m, text("1"))]),
            Program::set(z, text("1")),
        ),
    );
    let last =
        make.step("last", Program::Sequence(vec![Program::set(x, text("0")), Program::set(m, text("0"))]));
    for (one, two) in [(a, o1), (b, o1), (o1, w), (w, o2), (o2, last)] {
        make.edge(one, two);
    }
    assert!(is_dependent(&puppet(&make.plan)));
    assert!(is_dependent(&paper(&make.plan)));
    // Without w nothing is seen, and the end is the same.
    let without = Program::Skip;
    make.plan.steps[w.0 as usize].apply = without;
    make.plan.start.push(Test::is(q, text("0")));
    assert!(puppet(&make.plan).order.is_proved());
}

/// A healer commutes with both and erases their conflict, if it comes last for certain.
#[test]
fn trap_a_healer_that_commutes() {
    let build = |ordered: bool| {
        let mut make = Make::default();
        let x = make.content("/x");
        let edit = |content: &str| Program::when(Test::Kind(x, Kind::File), Program::set(x, file(content)));
        let a = make.step("a", edit("a"));
        let b = make.step("b", edit("b"));
        let r = make.step("r", Program::set(x, Value::Absent));
        if ordered {
            make.edge(a, r);
            make.edge(b, r);
        }
        make.plan
    };
    // r erases whatever a and b did, wherever it stands.
    assert!(puppet(&build(true)).order.is_proved());
    assert!(puppet(&build(false)).order.is_proved());
}

/// A cell is not overwritten for certain if the last writer can be skipped.
#[test]
fn trap_the_last_writer_can_be_skipped() {
    let build = |fails: bool| {
        let mut make = Make::default();
        let (x, own) = (make.content("/x"), make.path("/own"));
        let a = make.step("a", Program::set(x, file("a")));
        let b = make.step("b", Program::set(x, file("b")));
        let check = if fails {
            Program::when(Test::Kind(own, Kind::Directory), Program::fail("it is a directory"))
        } else {
            Program::Skip
        };
        let c = make.step("c", check);
        let last = make.step("last", Program::set(x, file("last")));
        for step in [a, b, c] {
            make.edge(step, last);
        }
        make.plan
    };
    assert!(puppet(&build(false)).order.is_proved());
    assert!(is_dependent(&puppet(&build(true))));
    assert!(paper(&build(true)).order.is_proved());
}

/// Stripping an overwritten write would strip its notification too.
#[test]
fn trap_an_overwritten_write_notifies() {
    let mut make = Make::default();
    let (x, log) = (make.content("/x"), make.content("/log"));
    let a = make.step("a", write(x, "1"));
    let b = make.step("b", write(x, "2"));
    let service = make.refreshed("s", Program::Skip, Program::set(log, file("restarted")));
    make.notify(a, service);
    let last = make.step("last", Program::set(x, file("3")));
    make.edge(a, last);
    make.edge(b, last);
    // If x is 1 at the start, a changes it only if b ran before.
    assert!(is_dependent(&puppet(&make.plan)));
}

/// Two cells may start equal: one fresh value for each cell would miss it.
#[test]
fn trap_two_cells_may_start_equal() {
    let mut make = Make::default();
    let (x, y, seen) = (make.content("/x"), make.content("/y"), make.text("seen"));
    make.plan.start.push(Test::Kind(x, Kind::File));
    make.plan.start.push(Test::Kind(y, Kind::File));
    make.plan.start.push(Test::is(x, file("new")).negate());
    make.plan.start.push(Test::is(y, file("new")).negate());
    make.step("compare", Program::when(Test::same(x, y), Program::set(seen, text("equal"))));
    make.step("write", Program::set(x, file("new")));
    assert!(is_dependent(&puppet(&make.plan)));
}

/// Two cells may start different: one shared fresh value would miss it.
#[test]
fn trap_two_cells_may_start_different() {
    let mut make = Make::default();
    let (x, y) = (make.content("/x"), make.content("/y"));
    for cell in [x, y] {
        make.plan.start.push(Test::Kind(cell, Kind::File));
    }
    make.step("x from y", Program::copy(x, y));
    make.step("y from x", Program::copy(y, x));
    assert!(is_dependent(&puppet(&make.plan)));
}

/// An edge can make an independent plan dependent: a dependant is now skipped when the other fails.
#[test]
fn trap_an_edge_can_harm() {
    let build = |edge: bool| {
        let mut make = Make::default();
        let (x, own) = (make.content("/x"), make.path("/own"));
        let a = make.step("a", Program::set(x, file("a")));
        let b = make.step("b", Program::set(x, file("b")));
        let last = make.step("last", Program::set(x, file("last")));
        let c = make
            .step("c", Program::when(Test::Kind(own, Kind::Directory), Program::fail("it is a directory")));
        make.edge(a, last);
        make.edge(b, last);
        if edge {
            make.edge(c, last);
        }
        make.plan
    };
    assert!(puppet(&build(false)).order.is_proved());
    assert!(is_dependent(&puppet(&build(true))));
}

// The paper's figures.

/// Figure 2 with its dependency, and the introduction's manifest without it.
#[test]
fn figure_2_and_the_introduction() {
    let build = |ordered: bool| {
        let mut make = Make::default();
        for name in ["alice", "carol"] {
            let home = make.path(&format!("/home/{name}"));
            let vimrc = make.path(&format!("/home/{name}/.vimrc"));
            make.plan
                .laws
                .push(Test::Any(vec![Test::Kind(vimrc, Kind::Absent), Test::Kind(home, Kind::Directory)]));
            let user = make.step(
                &format!("User[{name}]"),
                Program::when(Test::Kind(home, Kind::Absent), Program::set(home, Value::Directory)),
            );
            let file = make.step(&format!("File[{name}]"), family::file(vimrc, Some(home), "syntax on"));
            if ordered {
                make.edge(user, file);
            }
        }
        make.plan
    };
    assert!(paper(&build(true)).order.is_proved());
    assert!(paper(&build(true)).idempotent.is_proved());
    assert!(is_dependent(&paper(&build(false))));
    // Puppet's order has the user first: right only thanks to it.
    assert!(is_dependent(&puppet(&build(false))));
    let mut turned = build(false);
    turned.steps.reverse();
    assert!(puppet(&turned).fails_today().is_some());
}

/// A package that makes a directory, and a file in it.
fn figure_3a(ordered: bool) -> Plan {
    let mut make = Make::default();
    let (directory, conf) = (make.path("/etc/apache2"), make.path("/etc/apache2/000-default.conf"));
    make.plan
        .laws
        .push(Test::Any(vec![Test::Kind(conf, Kind::Absent), Test::Kind(directory, Kind::Directory)]));
    let marker =
        make.plan.space.cell(CellKey::new(CellKind::Package, "apache2"), &[Kind::Absent, Kind::Text]);
    let file_step = make.step("File[000-default.conf]", family::file(conf, Some(directory), "mine"));
    let install = vec![
        Program::choose(
            Test::Kind(directory, Kind::Absent),
            Program::set(directory, Value::Directory),
            Program::when(Test::Kind(directory, Kind::Directory).negate(), Program::fail("not a directory")),
        ),
        Program::choose(
            Test::Kind(conf, Kind::Directory),
            Program::fail("it is a directory"),
            Program::set(conf, file("default")),
        ),
        Program::set(marker, text("installed")),
        Program::Change,
    ];
    let package = make.step(
        "Package[apache2]",
        Program::when(Test::is(marker, text("installed")).negate(), Program::Sequence(install)),
    );
    if ordered {
        make.edge(package, file_step);
    }
    make.plan
}

#[test]
fn figure_3a_signals_an_error_by_chance() {
    assert!(is_dependent(&paper(&figure_3a(false))));
    assert!(paper(&figure_3a(true)).order.is_proved());
    let verdicts = puppet(&figure_3a(false));
    assert!(verdicts.fails_today().is_some());
    let example = &verdicts.fails_today().unwrap().counterexample;
    assert_eq!(example.first, Runner::new(&figure_3a(false), Semantics::Puppet).puppet_order());
}

/// Figure 3b needs no order between make and m4, and contradicting orders are a cycle, whose steps never run.
#[test]
fn figure_3b_false_dependencies() {
    let mut make = Make::default();
    let mut ids = Vec::new();
    for name in ["m4", "make", "gcc", "ocaml"] {
        let marker = make.plan.space.cell(CellKey::new(CellKind::Package, name), &[Kind::Absent, Kind::Text]);
        ids.push(make.step(name, Program::set(marker, text("installed"))));
    }
    assert!(paper(&make.plan).order.is_proved());
    for (one, two) in [(0, 1), (1, 2), (1, 0), (0, 3)] {
        make.edge(ids[one], ids[two]);
    }
    assert!(Runner::new(&make.plan, Semantics::Puppet).puppet_order().is_empty());
    let verdicts = verify(&make.plan, &Options::default());
    assert!(verdicts.order.is_proved());
}

/// perl absent, golang-go present, and golang-go depends on perl.
fn figure_3c(ordered: bool) -> Plan {
    let mut make = Make::default();
    let kinds = [Kind::Absent, Kind::Directory];
    let go = make.plan.space.cell(CellKey::new(CellKind::Package, "golang-go"), &kinds);
    let perl = make.plan.space.cell(CellKey::new(CellKind::Package, "perl"), &kinds);
    make.plan.laws.push(Test::Any(vec![Test::Kind(go, Kind::Absent), Test::Kind(perl, Kind::Directory)]));
    let install = make.step(
        "Package[golang-go]",
        Program::when(
            Test::Kind(go, Kind::Absent),
            Program::Sequence(vec![
                Program::set(perl, Value::Directory),
                Program::set(go, Value::Directory),
                Program::Change,
            ]),
        ),
    );
    let remove = make.step(
        "Package[perl]",
        Program::when(
            Test::Kind(perl, Kind::Directory),
            Program::Sequence(vec![
                Program::set(go, Value::Absent),
                Program::set(perl, Value::Absent),
                Program::Change,
            ]),
        ),
    );
    if ordered {
        make.edge(remove, install);
    }
    make.plan
}

#[test]
fn figure_3c_two_ends_without_an_error() {
    for semantics in [Semantics::Paper, Semantics::Puppet] {
        let verdicts = asked(&figure_3c(false), semantics);
        assert!(is_dependent(&verdicts));
        assert!(verdicts.quiet.is_refuted());
        assert!(asked(&figure_3c(true), semantics).order.is_proved());
        assert!(asked(&figure_3c(true), semantics).quiet.is_refuted());
    }
}

#[test]
fn figure_3d_is_not_idempotent() {
    let mut make = Make::default();
    let (dst, src) = (make.path("/dst"), make.path("/src"));
    let one = make.step("File[/dst]", copy(dst, src));
    let two = make.step(
        "File[/src]",
        Program::when(
            Test::Kind(src, Kind::Absent).negate(),
            Program::Sequence(vec![Program::set(src, Value::Absent), Program::Change]),
        ),
    );
    make.edge(one, two);
    for semantics in [Semantics::Paper, Semantics::Puppet] {
        let verdicts = asked(&make.plan, semantics);
        assert!(verdicts.order.is_proved());
        assert!(verdicts.idempotent.is_refuted());
    }
}

#[test]
fn figure_13_is_decided_without_trying_orders() {
    for overwrite in [false, true] {
        let small = family::figure_13(4, overwrite);
        assert!(paper(&small).order.is_proved());
        let large = family::figure_13(25, overwrite);
        let verdicts = verify(&large, &Options { semantics: Semantics::Paper, ..Options::default() });
        assert!(verdicts.order.is_proved());
        // All pairs of packages have one shape.
        assert!(verdicts.effort.local_questions < 10);
    }
    // Unordered, as the paper's solver finds it quickly too.
    let mut plan = family::figure_13(6, true);
    plan.edges.clear();
    let verdicts = verify(&plan, &Options { semantics: Semantics::Paper, ..Options::default() });
    assert!(is_dependent(&verdicts));
}

// The paper's tests on its file-system language that are not above.

#[test]
fn paper_cases() {
    // Two guarded mkdirs of one directory commute, and so do siblings below it.
    let mut make = Make::default();
    let (a, b, c) = (make.path("/a"), make.path("/a/b"), make.path("/a/c"));
    for child in [b, c] {
        make.plan.laws.push(Test::Any(vec![Test::Kind(child, Kind::Absent), Test::Kind(a, Kind::Directory)]));
    }
    let mkdir = |cell: CellId, parent: Option<CellId>| {
        let mut make = Program::set(cell, Value::Directory);
        if let Some(parent) = parent {
            make = Program::choose(Test::Kind(parent, Kind::Directory), make, Program::fail("no parent"));
        }
        Program::choose(
            Test::Kind(cell, Kind::Absent),
            make,
            Program::when(Test::Kind(cell, Kind::Directory).negate(), Program::fail("not a directory")),
        )
    };
    make.step("one", Program::Sequence(vec![mkdir(a, None), mkdir(b, Some(a))]));
    make.step("two", Program::Sequence(vec![mkdir(a, None), mkdir(c, Some(a))]));
    assert!(paper(&make.plan).order.is_proved());
    assert!(puppet(&make.plan).order.is_proved());
    assert_eq!(verify(&make.plan, &Options::default()).effort.candidates, 0);

    // A child before its parent is not the same as after it.
    let mut make = Make::default();
    let (a, b) = (make.path("/a"), make.path("/a/b"));
    make.plan.laws.push(Test::Any(vec![Test::Kind(b, Kind::Absent), Test::Kind(a, Kind::Directory)]));
    make.step("parent", mkdir(a, None));
    make.step("child", mkdir(b, Some(a)));
    assert!(is_dependent(&paper(&make.plan)));

    // Equal contents commute; creating and removing do not.
    let mut make = Make::default();
    let a = make.path("/a");
    make.step("one", family::file(a, None, "x"));
    make.step("two", family::file(a, None, "x"));
    assert!(paper(&make.plan).order.is_proved());
    make.step("remove", Program::when(Test::Kind(a, Kind::File), Program::set(a, Value::Absent)));
    assert!(is_dependent(&paper(&make.plan)));

    // Every order fails in the same way: nothing depends on the order.
    let mut make = Make::default();
    let a = make.path("/a");
    make.step("fails", Program::fail("always"));
    make.step("one", Program::set(a, file("1")));
    make.step("two", Program::set(a, file("2")));
    assert!(paper(&make.plan).order.is_proved());
    assert!(is_dependent(&puppet(&make.plan)));
}

// What comes before.

/// A folder, unless a file is in the way.
fn make_folder(cell: CellId) -> Program {
    Program::choose(
        Test::Kind(cell, Kind::File),
        Program::fail("a file is there"),
        Program::set(cell, Value::Directory),
    )
}

/// A package brings a folder. What comes after it finds the folder, unless somebody may remove it in between, or the package
/// need not have brought it.
#[test]
fn what_earlier_steps_leave_behind_is_there() {
    let plan = |law: bool, removed: bool| {
        let mut make = Make::default();
        let (folder, below) = (make.path("/etc/app"), make.content("/etc/app/conf"));
        let installed =
            make.plan.space.cell(CellKey::new(CellKind::Other, "app"), &[Kind::Absent, Kind::Text]);
        let is_folder = || Test::Kind(folder, Kind::Directory);
        make.plan.laws.push(Test::Any(vec![Test::Kind(below, Kind::Absent), is_folder()]));
        if law {
            make.plan.start.push(Test::Any(vec![Test::Kind(installed, Kind::Absent), is_folder()]));
        }
        let bring = Program::Sequence(vec![
            make_folder(folder),
            Program::set(installed, text("1.0")),
            Program::Change,
        ]);
        let package = make.step("Package[app]", Program::when(Test::Kind(installed, Kind::Absent), bring));
        let exec =
            make.step("Exec[mkdir]", Program::when(Test::Kind(folder, Kind::Absent), make_folder(folder)));
        let file = make
            .step("File[conf]", Program::choose(is_folder(), write(below, "x"), Program::fail("no folder")));
        make.edge(package, exec);
        make.edge(package, file);
        if removed {
            let gone = Program::Sequence(vec![
                Program::set(below, Value::Absent),
                Program::set(folder, Value::Absent),
            ]);
            make.step("Exec[rm]", gone);
        }
        make.plan
    };
    assert!(puppet(&plan(true, false)).order.is_proved());
    assert!(puppet(&plan(false, false)).order.is_refuted());
    assert!(puppet(&plan(true, true)).order.is_refuted());
}

/// In the paper's semantics a start from which every order fails tells nothing; what is managed is told of all starts.
#[test]
fn starts_from_which_every_order_fails() {
    let mut make = Make::default();
    let (users, etc, conf) = (make.path("/etc/users"), make.path("/etc"), make.content("/etc/conf"));
    for below in [users, conf] {
        make.plan
            .laws
            .push(Test::Any(vec![Test::Kind(below, Kind::Absent), Test::Kind(etc, Kind::Directory)]));
    }
    let there = |cell: CellId| Test::Kind(cell, Kind::Directory);
    // Nobody brings the folder of users, so whoever needs it needs it at the start, and `/etc` with it.
    make.step("User[app]", Program::when(there(users).negate(), Program::fail("no folder of users")));
    make.step("Package[app]", Program::when(there(etc).negate(), make_folder(etc)));
    make.step("File[conf]", Program::choose(there(etc), write(conf, "x"), Program::fail("no folder")));
    assert!(paper(&make.plan).order.is_proved());
    assert!(puppet(&make.plan).order.is_refuted());
}

// Steps of unknown effect, and limits.

#[test]
fn unknown_steps_blur_only_what_they_may_touch() {
    let mut make = Make::default();
    let (x, y) = (make.content("/x"), make.content("/y"));
    make.step("File[/x]", write(x, "1"));
    make.step("File[/y]", write(y, "1"));
    let exec = make.step("Exec[?]", Program::Skip);
    make.plan.steps[exec.0 as usize].unknown =
        Some(Unknown { reason: "its command is not understood".into(), reach: Reach::Cells(vec![x]) });
    let verdicts = verify(&make.plan, &Options::default());
    assert!(verdicts.order.is_unknown());
    let named: Vec<&[StepId]> = verdicts.order.reasons().iter().map(|unproved| &unproved.steps[..]).collect();
    assert!(named.contains(&&[exec, StepId(0)][..]), "{named:?}");
    assert!(!named.iter().any(|steps| steps.contains(&StepId(1))), "{named:?}");
    // Ordered with what it may touch, it does no harm to the order.
    make.edge(StepId(0), exec);
    assert!(verify(&make.plan, &Options::default()).order.is_proved());
}

/// A package brings a folder, a file needs it, and nobody knows what a command does.
fn file_beside_unknown() -> (Make, StepId, StepId, StepId) {
    let mut make = Make::default();
    let (folder, x) = (make.path("/etc/app"), make.content("/etc/app/x"));
    let exec = make.step("Exec[?]", Program::Skip);
    make.plan.steps[exec.0 as usize].unknown =
        Some(Unknown { reason: "its command is not understood".into(), reach: Reach::Everything });
    let is_there = Test::Kind(folder, Kind::Directory);
    let package = make.step("Package[app]", Program::when(is_there.clone().negate(), make_folder(folder)));
    let file =
        make.step("File[/etc/app/x]", Program::choose(is_there, write(x, "1"), Program::fail("no folder")));
    (make, exec, package, file)
}

#[test]
fn a_failure_before_anything_unknown_is_one() {
    let (make, exec, package, file) = file_beside_unknown();
    let verdicts = verify(&make.plan, &Options::default());
    let found: Vec<&setpoint_verify::Dependence> = verdicts.dependences().collect();
    assert_eq!(found.iter().map(|one| (one.one, one.two)).collect::<Vec<_>>(), [(package, file)]);
    // The command has its turn after the two in both orders of the story, and the rest is open.
    let example = &found[0].counterexample;
    for order in [&example.first, &example.second] {
        let place = |step| order.iter().position(|&other| other == step);
        assert!(place(exec) > place(package) && place(exec) > place(file), "{order:?}");
    }
    assert!(verdicts.order.reasons().iter().all(|one| one.why == Why::Step(exec)));
    // In Puppet's order the command comes first, and may have made the folder.
    assert!(is_dependent(&verdicts));
}

#[test]
fn a_failure_after_something_unknown_is_none() {
    let (mut make, exec, package, file) = file_beside_unknown();
    make.edge(exec, package);
    make.edge(exec, file);
    assert!(verify(&make.plan, &Options::default()).order.is_unknown());
    // It comes before one of the two alone: the folder may be its work.
    let (mut make, exec, _, file) = file_beside_unknown();
    make.edge(exec, file);
    assert!(verify(&make.plan, &Options::default()).order.is_unknown());
}

/// What differs, and does not fail, an unknown step may make alike.
#[test]
fn a_difference_before_something_unknown_is_open() {
    let mut make = Make::default();
    let x = make.content("/x");
    let exec = make.step("Exec[?]", Program::Skip);
    make.plan.steps[exec.0 as usize].unknown =
        Some(Unknown { reason: "its command is not understood".into(), reach: Reach::Everything });
    make.step("one", write(x, "1"));
    make.step("two", write(x, "2"));
    assert!(verify(&make.plan, &Options::default()).order.is_unknown());
}

#[test]
fn a_deadline_ends_in_unknown() {
    let mut make = Make::default();
    let x = make.content("/x");
    make.step("one", write(x, "1"));
    make.step("two", write(x, "2"));
    let options = Options { work: Some(0), ..Options::default() };
    let verdicts = verify(&make.plan, &options);
    assert!(verdicts.order.is_unknown());
    assert!(verdicts.order.reasons().iter().all(|unproved| unproved.why == Why::Time));
}

/// A step of unknown effect leaves nothing proved: the rest of the plan is, if it does nothing beyond its program.
#[test]
fn unknown_steps_leave_a_second_run_unproved() {
    let mut make = Make::default();
    let (x, y) = (make.content("/x"), make.content("/y"));
    let file = make.step("File[/x]", write(x, "1"));
    let other = make.step("File[/y]", write(y, "1"));
    let exec = make.step("Exec[?]", Program::Skip);
    make.edge(file, exec);
    make.plan.steps[exec.0 as usize].unknown =
        Some(Unknown { reason: "its command is not understood".into(), reach: Reach::Cells(vec![x]) });
    let verdicts = verify(&make.plan, &Options::default());
    assert!(verdicts.order.is_proved());
    for open in doubts(&verdicts) {
        assert_eq!(open, [Unproved { steps: vec![exec, file], why: Why::BeyondProgram(exec) }]);
        assert!(!open.iter().any(|unproved| unproved.steps.contains(&other)));
    }
    // If it may touch everything, nothing is proved.
    make.plan.steps[exec.0 as usize].unknown =
        Some(Unknown { reason: "its command is not understood".into(), reach: Reach::Everything });
    let verdicts = verify(&make.plan, &Options::default());
    for open in doubts(&verdicts) {
        assert!(open.iter().all(|unproved| unproved.why == Why::Step(exec)) && !open.is_empty());
    }
}

/// Of runs that do not exist everything holds, and nothing is proved.
#[test]
fn what_no_run_can_show_is_not_proved() {
    let mut make = Make::default();
    let x = make.content("/x");
    make.step("File[/x]", write(x, "1"));
    make.step("Exec[false]", Program::fail("exit 1"));
    let verdicts = verify(&make.plan, &Options::default());
    assert!(verdicts.order.is_proved() && verdicts.idempotent.is_proved());
    assert_eq!(verdicts.convergent.reasons(), [Unproved { steps: Vec::new(), why: Why::NeverClean }]);
    make.plan.start.push(Test::Kind(x, Kind::Absent));
    make.plan.start.push(Test::Kind(x, Kind::Absent).negate());
    let verdicts = verify(&make.plan, &Options::default());
    let nothing = [Unproved { steps: Vec::new(), why: Why::NoStart }];
    assert_eq!(verdicts.order.reasons(), nothing);
    assert_eq!(doubts(&verdicts), [&nothing[..]; 3]);
}

/// A chain has one order, whatever its steps do.
#[test]
fn a_chain_is_a_total_order() {
    let mut make = Make::default();
    let (x, y) = (make.content("/x"), make.content("/y"));
    let one = make.step("File[/x]", write(x, "1"));
    let container = make.step("Class[a]", Program::Skip);
    make.plan.steps[container.0 as usize].passes_on = true;
    let two = make.step("File[/y]", write(y, "1"));
    assert!(!verify(&make.plan, &Options::default()).is_total_order);
    make.edge(one, two);
    assert!(verify(&make.plan, &Options::default()).is_total_order, "a container does nothing");
}

/// More threads, the same verdicts and the same stories.
#[test]
fn threads_change_nothing() {
    let plans = [
        family::figure_13(9, false),
        family::writers(9, false),
        family::writers(9, true),
        family::catalog(400, 20, 10, true),
    ];
    for plan in plans {
        for semantics in [Semantics::Paper, Semantics::Puppet] {
            let told = |jobs: usize| {
                let verdicts = verify(&plan, &Options { semantics, jobs, ..Options::default() });
                let pairs: Vec<String> = verdicts
                    .dependences()
                    .map(|found| {
                        let example = &found.counterexample;
                        let story = (&example.start, &example.matters, &example.first, &example.second);
                        format!("{:?} {:?} {story:?}", found.one, found.two)
                    })
                    .collect();
                (pairs, verdicts.fails_today().is_some(), verdicts.order.reasons().to_vec())
            };
            assert!(told(1) == told(3));
        }
    }
}

/// What can never be used waits until nothing else goes on: by then a step after it has lost its own provider, in every order.
#[test]
fn what_is_never_usable_waits_until_the_end() {
    let mut make = Make::default();
    let (missing, provider, made) = (make.content("missing"), make.content("provider"), make.content("made"));
    let never = make.step("never", Program::Change);
    let after = make.step("after", write(made, "y"));
    make.step(
        "takes it away",
        Program::Sequence(vec![Program::set(provider, Value::Absent), Program::Change]),
    );
    make.plan.steps[never.0 as usize].suitable = Test::Kind(missing, Kind::File);
    make.plan.steps[after.0 as usize].suitable = Test::Kind(provider, Kind::File);
    make.edge(never, after);
    make.plan.start.push(Test::Kind(missing, Kind::Absent));
    assert!(puppet(&make.plan).order.is_proved());
    // Where it can be used, the order of the other two matters.
    make.plan.start.clear();
    assert!(is_dependent(&puppet(&make.plan)));
}
