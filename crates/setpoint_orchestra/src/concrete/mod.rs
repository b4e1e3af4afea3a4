//! The concrete engine: does this instance reach a final state, whatever the order?
//!
//! [`check`] answers with one maximal run if that is enough (see [`Facts`]), else by search. A failure comes with
//! the run that leads there and with what waits for what.

mod check;
mod eval;
mod explain;
mod ground;
mod reduce;
mod run;
mod search;
mod timeline;

pub use check::{Facts, Failure, FailureEnd, Limits, Method, Open, Outcome, check};
pub use explain::{Explanation, Need, Wait, explain};
pub use ground::{Cell, CellMeaning, Ground, State, Step, TooManyBindings, Write};
pub use run::{Run, maximal_run, random_run};
pub use search::{Explored, LeadsTo, explore, leads_to};
pub use timeline::{Timeline, TimelineEntry, timeline};
