//! What a run is, case by case. Each was seen in a run of Puppet itself.

use crate::{
    CellId, CellKey, Domains, Kind, Plan, Program, Runner, Semantics, Space, State, Status, Step, StepId,
    Test, Value,
};

fn cells(space: &mut Space, names: &[&str]) -> Vec<CellId> {
    names.iter().map(|name| space.cell(CellKey::path(name), &[Kind::Absent, Kind::File])).collect()
}

fn write(cell: CellId, content: &str) -> Program {
    let value = Value::file(content);
    Program::when(
        Test::is(cell, value.clone()).negate(),
        Program::Sequence(vec![Program::set(cell, value), Program::Change]),
    )
}

fn ids(order: &[u32]) -> Vec<StepId> {
    order.iter().copied().map(StepId).collect()
}

#[test]
fn a_failure_skips_what_depends_on_it_and_nothing_else() {
    let mut plan = Plan::default();
    let at = cells(&mut plan.space, &["/a", "/b", "/c"]);
    plan.steps = vec![
        Step::new("a", Program::fail("no"), Program::Skip),
        Step::new("b", write(at[1], "b"), Program::Skip),
        Step::new("c", write(at[2], "c"), Program::Skip),
    ];
    plan.edges = vec![(StepId(0), StepId(1))];
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &ids(&[0, 1, 2]));
    assert_eq!(run.statuses, [Status::Failed, Status::Skipped, Status::Changed]);
    assert_eq!(run.end.get(at[1]), &Value::Absent);
    let paper = Runner::new(&plan, Semantics::Paper).run(&State::empty(&plan.space), &ids(&[0, 1, 2]));
    assert_eq!(paper.statuses, [Status::Failed, Status::None, Status::None]);
}

/// Puppet calls the refresh of a resource that was notified even if its own change has just failed.
#[test]
fn a_failed_step_is_still_refreshed() {
    let mut plan = Plan::default();
    let at = cells(&mut plan.space, &["/f", "/log"]);
    plan.steps = vec![
        Step::new("f", write(at[0], "x"), Program::Skip),
        Step::new("e", Program::fail("exit 1"), Program::set(at[1], Value::file("ran"))),
    ];
    plan.notifies = vec![(StepId(0), StepId(1))];
    let runner = Runner::new(&plan, Semantics::Puppet);
    let run = runner.run(&State::empty(&plan.space), &ids(&[0, 1]));
    assert_eq!(run.statuses, [Status::Changed, Status::Failed]);
    assert!(run.refreshed[1]);
    assert_eq!(run.end.get(at[1]), &Value::file("ran"));
    // A second run changes nothing, so nothing is refreshed.
    let again = runner.run(&run.end, &ids(&[0, 1]));
    assert!(!again.refreshed[1]);
}

#[test]
fn containers_pass_on_notifications_and_failures() {
    let mut plan = Plan::default();
    let at = cells(&mut plan.space, &["/f", "/loaded"]);
    let mut whit = Step::new("Class[x]", Program::Skip, Program::Skip);
    whit.passes_on = true;
    plan.steps = vec![
        Step::new("f", write(at[0], "x"), Program::Skip),
        whit,
        Step::new("s", Program::Skip, Program::Sequence(vec![Program::copy(at[1], at[0]), Program::Change])),
    ];
    plan.notifies = vec![(StepId(0), StepId(1)), (StepId(1), StepId(2))];
    let runner = Runner::new(&plan, Semantics::Puppet);
    let run = runner.run(&State::empty(&plan.space), &ids(&[0, 1, 2]));
    assert_eq!(run.statuses, [Status::Changed, Status::Ok, Status::Changed]);
    assert_eq!(run.end.get(at[1]), &Value::file("x"));
    assert!(!run.is_quiet());
    assert!(runner.run(&run.end, &ids(&[0, 1, 2])).is_quiet());
    plan.steps[0].apply = Program::fail("no");
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &ids(&[0, 1, 2]));
    assert_eq!(run.statuses, [Status::Failed, Status::Skipped, Status::Skipped]);
}

#[test]
fn a_step_without_its_provider_waits_for_the_rest_and_then_fails() {
    let mut plan = Plan::default();
    let at = cells(&mut plan.space, &["/tool", "/out"]);
    let mut user = Step::new("user", write(at[1], "x"), Program::Skip);
    user.suitable = Test::Kind(at[0], Kind::File);
    plan.steps = vec![user, Step::new("tool", write(at[0], "t"), Program::Skip)];
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &ids(&[0, 1]));
    assert_eq!(run.order, ids(&[1, 0]));
    assert!(run.is_clean());
    plan.steps[1].apply = Program::Skip;
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &ids(&[0, 1]));
    assert_eq!(run.statuses, [Status::Failed, Status::Ok]);
}

#[test]
fn scratch_cells_start_every_run_anew() {
    let mut plan = Plan::default();
    let out = cells(&mut plan.space, &["/out"])[0];
    let seen = plan.space.scratch(CellKey::new(crate::CellKind::Snapshot, "host"), Value::text("no"));
    let apply = Program::choose(
        Test::is(seen, Value::text("no")),
        Program::set(seen, Value::text("yes")),
        Program::set(out, Value::file("again")),
    );
    plan.steps = vec![Step::new("one", apply.clone(), Program::Skip), Step::new("two", apply, Program::Skip)];
    let runner = Runner::new(&plan, Semantics::Puppet);
    let run = runner.run(&State::empty(&plan.space), &ids(&[0, 1]));
    assert_eq!(run.end.get(out), &Value::file("again"));
    assert_eq!(run.end.get(seen), &Value::text("no"));
}

#[test]
fn the_order_is_a_wish_within_the_edges() {
    let mut plan = Plan::default();
    cells(&mut plan.space, &["/a"]);
    plan.steps = (0..4).map(|_| Step::new("s", Program::Skip, Program::Skip)).collect();
    plan.edges = vec![(StepId(3), StepId(0))];
    let runner = Runner::new(&plan, Semantics::Puppet);
    assert_eq!(runner.puppet_order(), ids(&[1, 2, 3, 0]));
    assert_eq!(runner.run(&State::empty(&plan.space), &ids(&[0, 2])).order, ids(&[2, 1, 3, 0]));
    // A cycle never has its turn, and hangs nothing.
    plan.edges.push((StepId(0), StepId(3)));
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &[]);
    assert_eq!(run.order, ids(&[1, 2]));
    assert_eq!(run.statuses[0], Status::None);
}

/// A thousand files with contents of their own keep small domains; cells that are copied share theirs.
#[test]
fn domains_follow_copies_and_comparisons() {
    let mut plan = Plan::default();
    for number in 0..1000 {
        let cell = plan.space.cell(CellKey::path(&format!("/{number}")), &[Kind::Absent, Kind::File]);
        plan.steps.push(Step::new("file", write(cell, &format!("content {number}")), Program::Skip));
    }
    let domains = Domains::of(&plan);
    assert_eq!(domains.of_cell(CellId(7)).len(), 3);
    plan.steps.push(Step::new("copy", Program::copy(CellId(0), CellId(1)), Program::Skip));
    let domains = Domains::of(&plan);
    assert_eq!(domains.group(CellId(0)), domains.group(CellId(1)));
    // Absent, two contents, two fresh ones: the cells may start equal, and they may start different.
    assert_eq!(domains.of_cell(CellId(0)).len(), 5);
    assert_eq!(domains.of_cell(CellId(2)).len(), 3);
}

/// Programs may be as deep as memory allows.
#[test]
fn deep_programs_do_not_overflow() {
    let mut plan = Plan::default();
    let at = cells(&mut plan.space, &["/a"]);
    let mut program = Program::set(at[0], Value::file("x"));
    for _ in 0..2_000 {
        program = Program::Sequence(vec![Program::when(Test::True, program)]);
    }
    plan.steps = vec![Step::new("deep", program, Program::Skip)];
    let run = Runner::new(&plan, Semantics::Puppet).run(&State::empty(&plan.space), &[]);
    assert_eq!(run.end.get(at[0]), &Value::file("x"));
}
