//! Puppet itself as the oracle of the suites: asked, and its answer written down.
//!
//! A [`Request`] is a case in one of the two strictnesses. [`Puppet`] is one Ruby process that compiles many of
//! them, and [`setpoint`] answers the same. Both answers become an [`Outcome`], and [`Outcome::render`] writes either in the same
//! compact text, which is what the cases hold. [`agree`] says what it means that the two are equal.
//!
//! [`generate`] makes manifests that nobody thought of, [`mutate`] makes mistakes.
//!
//! [`compile_manifest`] compiles one manifest for the suites in which Puppet's agent applies what comes of it.
//!
//! For tests and tasks only.

mod agree;
mod error_text;
mod generate;
mod manifest;
mod mutate;
mod ours;
mod outcome;
mod puppet;
mod request;

pub use agree::{agree, answers_that_agree};
pub use generate::generate;
pub use manifest::{MODULES, compile_manifest};
pub use mutate::mutate;
pub use ours::{setpoint, setpoint_with_ruby};
pub use outcome::{Level, Message, Outcome, Place};
pub use puppet::Puppet;
pub use request::{BOTH, Mode, Request, answers, facts_of};
