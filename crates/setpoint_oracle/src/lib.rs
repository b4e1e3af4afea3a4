//! Puppet itself as the oracle of the suites: asked, and its answer written down.
//!
//! A [`Request`] is a case in one of the two strictnesses. [`Puppet`] is one Ruby process that compiles many of
//! them. Both its answer and that of Setpoint become an [`Outcome`], and [`Outcome::render`] writes either in the same
//! compact text, which is what the cases hold. [`agree`] says what it means that the two are equal.
//!
//! For tests and tasks only. The crate does not know Setpoint's compiler: the test brings its outcome.

mod agree;
mod error_text;
mod outcome;
mod puppet;
mod request;

pub use agree::{agree, answers_that_agree};
pub use outcome::{Level, Message, Outcome, Place};
pub use puppet::Puppet;
pub use request::{BOTH, Mode, Request, answers};
