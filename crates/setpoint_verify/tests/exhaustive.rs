//! The prover beside exhaustive execution: the same verdicts, for thousands of small plans, in both semantics.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

use setpoint_state::Semantics;
use setpoint_verify::exhaustive::{Judged, contradictions, judge};

fn compare(semantics: Semantics, seeds: std::ops::Range<u64>) {
    let total = seeds.end - seeds.start;
    let mut compared = 0;
    let mut counts = std::collections::BTreeMap::new();
    let mut bad = Vec::new();
    for seed in seeds {
        match judge(&setpoint_verify::sample::plan(seed), semantics, 400) {
            Judged::TooLarge => {}
            Judged::Agrees(truth) => {
                compared += 1;
                *counts.entry(format!("{truth:?}")).or_insert(0) += 1;
            }
            Judged::Differs(what) => bad.push(format!("seed {seed}: {what}")),
        }
    }
    for (kind, count) in &counts {
        println!("{count:6} {kind}");
    }
    println!("{compared} compared");
    // Few of them have too many starts to be tried one by one.
    assert!(compared * 100 >= 90 * total, "only {compared} of {total} were compared");
    assert!(bad.is_empty(), "{} differ:\n{}", bad.len(), bad[..bad.len().min(12)].join("\n"));
}

#[test]
fn puppets_semantics() {
    compare(Semantics::Puppet, 0..count());
}

#[test]
fn the_papers_semantics() {
    compare(Semantics::Paper, 0..count());
}

/// Pairs that are said to contradict each other do, and few of those that do are missed: those that no run shows.
#[test]
fn contradictions_are_what_trying_shows() {
    let (mut right, mut missed, mut wrong) = (0, 0, Vec::new());
    for seed in 0..count() / 10 {
        let Some([found, there]) = contradictions(&setpoint_verify::sample::plan(seed), 400) else {
            continue;
        };
        right += found.intersection(&there).count();
        missed += there.difference(&found).count();
        wrong.extend(found.difference(&there).map(|pair| format!("seed {seed}: {pair:?}")));
    }
    println!("{right} found, {missed} missed");
    assert!(wrong.is_empty(), "{} are none: {:?}", wrong.len(), &wrong[..wrong.len().min(12)]);
    assert!(right >= 20 && missed * 20 <= right, "{right} found, {missed} missed");
}

fn count() -> u64 {
    std::env::var("SETPOINT_PLANS").ok().and_then(|count| count.parse().ok()).unwrap_or(21_700)
}
