//! Questions about a compiled Puppet catalog: where a value came from, by which expression it was made, and on what it
//! depends; why a resource is there, or is not; what depends on a line.
//!
//! It stands behind the compiler (`setpoint_puppet`), whose [`setpoint_puppet::Compilation`] it reads, and before the
//! commands `why`, `impact` and `diff`. `target` reads what is asked for, `causes` works out dependencies, `effects`
//! summarises code that did not run, `answer` is an answer as data, `order` a path between two resources, and `text` and `json` print it. The crate compiles
//! nothing, runs nothing and writes to no terminal.

mod absence;
mod answer;
mod blame;
mod causes;
mod effects;
mod impact;
mod json;
mod order;
mod target;
mod text;

pub use absence::{Absence, KeptOut};
pub use answer::{Answer, Passed, Reason, ReasonKind, reasons, secrets};
pub use blame::blame;
pub use causes::Query;
pub use impact::{Affected, Impact};
pub use json::json_value;
pub use order::{OrderAnswer, OrderStep, order};
pub use setpoint_provenance::Dependency;
pub use target::{Step, Target, Unknown, parse};
pub use text::{Notes, Writer, shown};
