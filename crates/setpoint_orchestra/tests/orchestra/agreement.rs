//! One run, reduced search and full search give the same answer, on 20,000 generated instances.

use crate::support::{cloudformation, random_stack, random_topology, tosca};
use setpoint_orchestra::concrete::{Facts, Ground, Limits, Method, check, explore, maximal_run, random_run};
use setpoint_orchestra::{Instance, Model};
use setpoint_testing::Random;

/// What the instances were like, so that a generator that lacks the hard ones fails.
#[derive(Default, Debug)]
struct Seen {
    yes: usize,
    no: usize,
    shared_targets: usize,
    repeated: usize,
    states: usize,
}

fn compare(model: &Model, instance: &Instance, seed: u64, seen: &mut Seen) {
    let ground = Ground::new(model, instance).unwrap();
    assert!(ground.malformed.is_empty(), "{:?}", ground.malformed);
    let full = explore(&ground, 200_000, |_| false);
    assert!(full.complete);
    seen.states += full.states;
    // All runs end in one state.
    assert_eq!(full.terminals.len(), 1, "{instance:?}");
    let end = &full.terminals[0].end;
    assert_eq!(&maximal_run(&ground, 10_000).end, end);
    assert_eq!(&random_run(&ground, seed, 10_000).end, end);
    let is_reached = ground.is_final(end);
    let one = check(&ground, &Facts { confluent: true, terminating: true }, Limits::default());
    assert_eq!(one.method, Method::OneRun, "{instance:?}");
    assert!(if is_reached { one.answer.is_proved() } else { one.answer.is_refuted() }, "{instance:?}");
    let searched = check(&ground, &Facts::default(), Limits::default());
    assert!(
        if is_reached { searched.answer.is_proved() } else { searched.answer.is_refuted() },
        "{instance:?}"
    );
    assert!(matches!(searched.method, Method::Search { states } if states <= full.states));
    match searched.answer.witness() {
        Some(failure) => {
            assert_eq!(&failure.run.end, end);
            seen.no += 1;
        }
        None => seen.yes += 1,
    }
}

#[test]
fn one_run_and_full_search_agree_on_10000_topologies() {
    let model = tosca();
    let mut seen = Seen::default();
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let (nodes, links) = random_topology(&mut random);
        seen.shared_targets += usize::from(has_repeats(links.iter().map(|link| link.2)));
        seen.repeated += usize::from(has_repeats(links.iter().map(|link| (link.1, link.2))));
        let names: Vec<String> = (0..nodes).map(|at| format!("n{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let links: Vec<(&str, &str, &str)> =
            links.iter().map(|&(kind, from, to)| (kind, names[from], names[to])).collect();
        compare(&model, &crate::support::topology(&model, &names, &links), seed, &mut seen);
    }
    println!("{seen:?}");
    assert!(
        seen.yes > 1000 && seen.no > 500 && seen.shared_targets > 1000 && seen.repeated > 500,
        "{seen:?}"
    );
}

#[test]
fn one_run_and_full_search_agree_on_10000_stacks() {
    let model = cloudformation();
    let mut seen = Seen::default();
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let (resources, references) = random_stack(&mut random);
        seen.shared_targets += usize::from(has_repeats(references.iter().map(|edge| edge.1)));
        seen.repeated += usize::from(has_repeats(references.iter().copied()));
        let names: Vec<String> = (0..resources).map(|at| format!("r{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let references: Vec<(&str, &str)> =
            references.iter().map(|&(from, to)| (names[from], names[to])).collect();
        compare(&model, &crate::support::stack(&model, &names, &references), seed, &mut seen);
    }
    println!("{seen:?}");
    assert!(
        seen.yes > 1000 && seen.no > 1000 && seen.shared_targets > 1000 && seen.repeated > 500,
        "{seen:?}"
    );
}

fn has_repeats<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items.windows(2).any(|pair| pair[0] == pair[1])
}
