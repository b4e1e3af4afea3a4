//! The parametric engine: a rule set proved for any number of objects, without help.
//!
//! 1. Small instances are run in every way. If something goes wrong, that is the answer: the smallest instance and
//!    its run, replayed.
//! 2. What objects see in those runs proposes invariants; they grow until no rule leads out of them.
//! 3. With the invariants: progress, by the cyclic dependency lemma where objects wait for each other; a measure;
//!    and whether the order of steps matters.
//!
//! A proof is an unsatisfiable question about finitely many named objects (see `question`), any two of which may be
//! the same. What is neither proved nor refuted is unknown, with the conditions that are open.

mod excluded;
mod infer;
mod instances;
mod measure;
mod persistence;
mod progress;
mod prove;
mod question;
mod sets;
mod simplex;
mod suggest;
mod survey;
mod view;
mod witness;

pub use excluded::Allowed;
pub use infer::follows;
pub(crate) use infer::moves_only;
pub use measure::{Counted, Measure, Sum};
pub use persistence::{Interference, Persistence};
pub use progress::Minimal;
pub(crate) use progress::none_nearer;
pub use prove::{
    Condition, Effort, InCounterexample, Needed, NotFound, PartAnswer, Proof, Stated, Unproved, Vacuity,
    facts, prove,
};
pub(crate) use suggest::relation_text;
pub use survey::{Counterexample, Wrong};
