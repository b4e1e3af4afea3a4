//! Tests of the rule language and its engines, in one program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test stops where it is wrong"
)]

mod agreement;
mod attacks;
mod certificate;
mod concrete;
mod language;
mod maude;
mod mutants;
mod parametric;
mod rule_sets;
mod support;
mod tempting;
mod vacuous;
