//! The one fixture format of every test in the workspace, and the runner of a folder of fixtures.
//!
//! A case is a file. It opens with prose that says what is promised. `>>> name` on a line of its own starts an
//! input, `<<< name` an answer; each goes on to the next such line:
//!
//! ```text
//! A define is evaluated after the classes.
//! >>> main.pp
//! notify { 'a': }
//! <<< catalog
//! Notify[a] {}
//! ```
//!
//! The crate knows no input language: a test gives [`run_folder`] a function from a [`Case`] to its answers.

mod case;
mod diff;
pub mod html;
mod optional;
mod runner;
pub mod sarif;

pub use case::{Case, Section};
pub use diff::diff;
pub use optional::{REQUIRE_ALL, files_below, puppet, repository, ruby, shared, skip};
pub use runner::{Answers, cases, run_folder, run_tests, trials};
pub use setpoint_source::Random;
