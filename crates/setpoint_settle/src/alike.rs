//! Findings about the same thing, told once.

use std::collections::BTreeMap;

use setpoint_source::{Diagnostic, Rule};
use setpoint_state::CellId;
use setpoint_verify::Dependence;

use crate::findings::listed;

/// Pairs of resources that differ about the same things, and in nothing else: many writers of one file are one finding.
#[derive(Default)]
pub(crate) struct Alike {
    /// What pairs differ about, and the place of the finding that tells it.
    told: BTreeMap<(Rule, Vec<CellId>), usize>,
    /// The resources of those that are left out, by that place.
    left_out: BTreeMap<usize, Vec<Vec<String>>>,
}

impl Alike {
    /// Whether enough is told of what a pair differs about; `found`: what is told so far, to which its finding comes next.
    pub(crate) fn is_told(&mut self, pair: &Dependence, finding: &Diagnostic, found: &[Diagnostic]) -> bool {
        let differs = &pair.counterexample.differs;
        if !differs.steps.is_empty() || differs.cells.is_empty() {
            return false;
        }
        let place = *self.told.entry((finding.rule, differs.cells.clone())).or_insert(found.len());
        if place == found.len() {
            return false;
        }
        self.left_out.entry(place).or_default().push(finding.resources.clone());
        true
    }

    pub(crate) fn add_to(self, found: &mut [Diagnostic]) {
        for (place, pairs) in self.left_out {
            let Some(finding) = found.get_mut(place) else { continue };
            let mut others: Vec<String> = pairs.iter().flatten().cloned().collect();
            others.retain(|name| !finding.resources.contains(name));
            others.sort_unstable();
            others.dedup();
            let names: Vec<&str> = others.iter().map(String::as_str).collect();
            let also = if names.is_empty() { String::new() } else { format!(" with {}", listed(&names)) };
            let more = match pairs.len() {
                1 => "one more pair".to_owned(),
                count => format!("{count} more pairs"),
            };
            finding.notes.push(format!("The same holds for {more} of resources{also}."));
            finding.resources.extend(others);
        }
    }
}
