//! Tests of the rule language and its engines, in one program.

mod agreement;
mod certificate;
mod concrete;
mod language;
mod maude;
mod mutants;
mod parametric;
mod support;
mod tempting;
