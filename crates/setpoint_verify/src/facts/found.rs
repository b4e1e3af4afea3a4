//! What a step finds when it runs, by kinds: what the steps before it leave behind and nobody undoes.
//!
//! A step runs only if all that comes before it has succeeded. So a file below the folder of a package finds the folder, for
//! the package is installed by then, and an installed package has its folders. Whatever else runs in between does not matter
//! if it never writes another kind there.

use rustc_hash::FxHashMap;
use setpoint_state::{CellId, StepId, Term};

use crate::facts::context::Context;
use crate::facts::kinds::{Held, Kinds, Known, Laws, either};
use crate::facts::walk::run;

impl Context<'_> {
    /// What holds of the cells that a step touches whenever it runs.
    pub(crate) fn found(&self, step: StepId) -> &[(CellId, Kinds)] {
        self.finds[step.0 as usize].get_or_init(|| {
            let laws = Laws { tests: &self.assumptions, looks: &self.looks, kept: Some(self.kept()) };
            let mut held: FxHashMap<CellId, Known> = FxHashMap::default();
            for before in self.all_before(step) {
                for (cell, known) in self.left(before) {
                    // Before what never succeeds nothing need be known.
                    if !laws.suppose(&mut held, *cell, known.clone(), &mut Vec::new()) {
                        return Vec::new();
                    }
                }
            }
            let mut cells: Vec<CellId> = self.footprint(step).touches().collect();
            cells.sort_unstable();
            cells.dedup();
            cells
                .into_iter()
                .filter_map(|cell| {
                    let possible =
                        self.plan.space.get(cell).map_or(Kinds::ANY, |cell| Kinds::of(&cell.kinds));
                    let kinds = held.known(cell).kinds;
                    (!possible.is_within(kinds)).then_some((cell, kinds))
                })
                .collect()
        })
    }

    /// What is there after a step has succeeded, and stays.
    fn left(&self, id: StepId) -> &[(CellId, Known)] {
        self.leaves[id.0 as usize].get_or_init(|| {
            let mut left: Vec<(CellId, Known)> = self.ends(id).into_iter().collect();
            left.sort_unstable_by_key(|(cell, _)| *cell);
            left.retain(|(cell, known)| {
                self.unknown_writers(*cell).next().is_none()
                    && self.writers[cell.0 as usize].iter().all(|&writer| {
                        writer == id
                            || self.comes_before(writer, id)
                            || self.writes_only(writer, *cell, known)
                    })
            });
            left
        })
    }

    /// What is known right after a step has succeeded.
    pub(crate) fn ends(&self, id: StepId) -> FxHashMap<CellId, Known> {
        let step = self.step(id);
        let mut known = FxHashMap::default();
        if step.unknown.is_some() || !run(&step.apply, &mut known) {
            return FxHashMap::default();
        }
        if self.is_notified(id) {
            let mut after = known.clone();
            if run(&step.refresh, &mut after) {
                known = either(known, &after);
            }
        }
        known
    }

    /// Whether all that a step writes to a cell agrees with what is known of it.
    fn writes_only(&self, step: StepId, cell: CellId, known: &Known) -> bool {
        let step = self.step(step);
        let mut agrees = true;
        for program in [&step.apply, &step.refresh] {
            program.writes(&mut |to, term| {
                agrees &= to != cell
                    || match term {
                        Term::Is(value) => Known::is(value).is_within(known),
                        Term::Cell(_) => false,
                    };
            });
        }
        agrees
    }
}
