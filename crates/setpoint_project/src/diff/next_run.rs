//! What the next run does, as it is told.

use std::collections::BTreeSet;

use setpoint_diff::{NextRunRow, NextRunStory};
use setpoint_settle::NextRun;
use setpoint_settle::next_run::{Certainty, Declared};

/// Adds the next run of a node: nodes with the same run are one story. The resources that are resupplied get other files although
/// the catalog says the same of them.
pub(super) fn add(stories: &mut Vec<NextRunStory>, node: &str, run: &NextRun, resupplied: &BTreeSet<String>) {
    let told = story(run, resupplied);
    let is_same = |known: &&mut NextRunStory| known.json == told.json && known.text == told.text;
    match stories.iter_mut().find(is_same) {
        Some(known) => known.nodes.push(node.to_owned()),
        None => stories.push(NextRunStory { nodes: vec![node.to_owned()], ..told }),
    }
}

fn story(run: &NextRun, resupplied: &BTreeSet<String>) -> NextRunStory {
    let rows = run.expected().zip(run.rows()).map(|(step, row)| NextRunRow {
        because: if step.declared == Declared::Same && resupplied.contains(&row.resource) {
            "its source has other contents".to_owned()
        } else {
            row.because
        },
        resource: row.resource,
        change: row.change,
        doubt: match row.certainty {
            Certainty::Certain | Certainty::Possible => "",
            Certainty::Expected => " *(expected)*",
            Certainty::Open { .. } => " *(open)*",
        },
    });
    let left_behind = run.dropped.iter().filter(|one| !one.stays.is_empty() && one.taken_over_by.is_empty());
    NextRunStory {
        nodes: Vec::new(),
        rows: rows.collect(),
        restarts: run.restarts().map(|step| step.resource.clone()).collect(),
        left_behind: left_behind.map(|one| one.resource.clone()).collect(),
        every_run: run.every_run.iter().filter(|one| !one.already).map(|one| one.resource.clone()).collect(),
        may_fail: run
            .steps
            .iter()
            .filter(|step| step.may_fail.is_some())
            .map(|step| step.resource.clone())
            .collect(),
        open: run
            .open
            .iter()
            .filter(|one| !one.is_old)
            .map(|one| format!("{}: {}", one.resource, one.reason))
            .collect(),
        text: run.text(),
        json: run.json(),
    }
}
