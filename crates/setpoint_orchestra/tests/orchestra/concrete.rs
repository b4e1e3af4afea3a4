//! The concrete engine on small topologies.

use crate::support::{cloudformation, nine_nodes, stack, topology, tosca};
use setpoint_orchestra::concrete::{
    Facts, FailureEnd, Ground, Limits, check, explore, maximal_run, timeline,
};

const ONE_RUN: Facts = Facts { confluent: true, terminating: true };

#[test]
fn the_nine_node_example_has_28617_states_and_one_end() {
    let model = tosca();
    let instance = nine_nodes(&model);
    let ground = Ground::new(&model, &instance).unwrap();
    assert!(ground.malformed.is_empty(), "{:?}", ground.malformed);
    let explored = explore(&ground, 1_000_000, |_| false);
    assert_eq!(explored.states, 28_617);
    assert!(explored.complete);
    assert_eq!(explored.terminals.len(), 1);
    assert!(ground.is_final(&explored.terminals[0].end));
    let run = maximal_run(&ground, 1000);
    assert_eq!(run.end, explored.terminals[0].end);
    let timeline = timeline(&ground, &run);
    assert_eq!(timeline.critical_path.len() as u32, timeline.rounds);
}

#[test]
fn a_host_may_depend_on_what_it_hosts() {
    let model = tosca();
    let instance = topology(&model, &["A", "B"], &[("hostedOn", "A", "B"), ("dependsOn", "B", "A")]);
    let ground = Ground::new(&model, &instance).unwrap();
    for facts in [ONE_RUN, Facts::default()] {
        let outcome = check(&ground, &facts, Limits::default());
        assert!(outcome.answer.is_proved());
    }
    assert_eq!(explore(&ground, 1000, |_| false).states, 14);
}

#[test]
fn pure_cycles_are_refused_with_the_cycle() {
    let model = tosca();
    for kind in ["hostedOn", "dependsOn", "connectsTo"] {
        let instance = topology(&model, &["A", "B"], &[(kind, "A", "B"), (kind, "B", "A")]);
        let ground = Ground::new(&model, &instance).unwrap();
        for facts in [ONE_RUN, Facts::default()] {
            let outcome = check(&ground, &facts, Limits::default());
            assert!(outcome.answer.is_refuted(), "{kind}");
            let Some(FailureEnd::Deadlock(explanation)) =
                outcome.answer.witness().map(|failure| &failure.end)
            else {
                panic!("a deadlock")
            };
            let names: Vec<&str> =
                explanation.cycle.iter().map(|wait| instance.object(wait.from).id.as_str()).collect();
            assert!(names.contains(&"A") && names.contains(&"B"), "{kind}: {names:?}");
        }
    }
}

#[test]
fn a_stack_reports_its_cycle_and_not_what_hangs_on_it() {
    let model = cloudformation();
    let references = [("A", "B"), ("B", "C"), ("C", "B"), ("C", "D")];
    let instance = stack(&model, &["A", "B", "C", "D"], &references);
    let ground = Ground::new(&model, &instance).unwrap();
    let outcome = check(&ground, &ONE_RUN, Limits::default());
    assert!(outcome.answer.is_refuted());
    let Some(FailureEnd::Deadlock(explanation)) = outcome.answer.witness().map(|failure| &failure.end) else {
        panic!("a deadlock")
    };
    let cycle: Vec<&str> =
        explanation.cycle.iter().map(|wait| instance.object(wait.from).id.as_str()).collect();
    assert_eq!(cycle, ["B", "p1", "C", "p2"]);
    let stuck: Vec<&str> = explanation.stuck.iter().map(|&id| instance.object(id).id.as_str()).collect();
    assert_eq!(stuck, ["A", "B", "C"]);
}
