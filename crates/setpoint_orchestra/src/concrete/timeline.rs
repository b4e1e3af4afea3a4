//! What can run side by side: each step as early as what it waits for allows.

use super::ground::Ground;
use super::run::Run;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    /// By its place in [`Ground::steps`].
    pub step: usize,
    /// The round in which it can happen, counted from 1; each step takes one round.
    pub round: u32,
    /// The entry that it waits for longest, by its place in the timeline.
    pub after: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    pub entries: Vec<TimelineEntry>,
    pub rounds: u32,
    /// A longest chain of entries of which each waits for the one before.
    pub critical_path: Vec<usize>,
}

/// The timeline of a run. A step waits for the last change of every cell that it reads or writes.
pub fn timeline(ground: &Ground<'_>, run: &Run) -> Timeline {
    let mut state = ground.start.clone();
    let mut last: Vec<Option<usize>> = vec![None; state.len()];
    let mut entries: Vec<TimelineEntry> = Vec::with_capacity(run.steps.len());
    for &step in &run.steps {
        let definition = &ground.steps[step];
        let mut cells = ground.reads(definition, &state);
        cells.extend(definition.writes.iter().map(|&(cell, _)| cell));
        let after = cells
            .iter()
            .filter_map(|&cell| last[cell as usize])
            .max_by_key(|&entry| (entries[entry].round, std::cmp::Reverse(entry)));
        let round = after.map_or(1, |entry| entries[entry].round + 1);
        for &(cell, _) in &definition.writes {
            last[cell as usize] = Some(entries.len());
        }
        entries.push(TimelineEntry { step, round, after });
        Ground::apply(definition, &mut state);
    }
    let end = (0..entries.len()).max_by_key(|&at| (entries[at].round, std::cmp::Reverse(at)));
    let mut critical_path: Vec<usize> = std::iter::successors(end, |&entry| entries[entry].after).collect();
    critical_path.reverse();
    let rounds = end.map_or(0, |at| entries[at].round);
    Timeline { entries, rounds, critical_path }
}
