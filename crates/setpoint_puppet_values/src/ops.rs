//! The operators of the language over values.

mod arithmetic;
mod compare;
mod matching;

pub(crate) use arithmetic::coerce_index;
pub use arithmetic::{Arithmetic, arithmetic, negate};
pub use compare::{Comparison, compare, equals, ordering, type_equals};
pub use matching::{MatchVariables, Matched, contained, matches, option_matches};
