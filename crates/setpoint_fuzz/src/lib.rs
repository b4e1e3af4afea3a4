//! What is fuzzed: every reader, every evaluator, `check` and its servers, each as a function of bytes; what fuzzing starts
//! from, and how inputs are changed with their language in mind. For tests and tasks only.

pub mod check;
pub mod evaluators;
pub mod readers;
mod seeds;

use std::path::Path;

use setpoint_oracle::{generate, mutate};
pub use setpoint_source::Random;
use setpoint_testing::Case;

pub use seeds::{MAX_SEED_BYTES, Seeds};

/// A name for the command line, and what is done with an input.
pub type Target = (&'static str, fn(&[u8]));

/// The targets by the program that has them.
pub const PROGRAMS: [(&str, &[Target]); 3] =
    [("readers", readers::TARGETS), ("evaluators", evaluators::TARGETS), ("check", check::TARGETS)];

pub(crate) fn text_of(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// Changes a text: by the tokens of Puppet, within one of its files, or by putting in a program that parses and, mostly, compiles.
pub fn mutated(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let text = text_of(data)?;
    let changed = if random.chance(50) { with_other_file(text, random) } else { None };
    Some(changed.unwrap_or_else(|| mutate(text, random)).into_bytes())
}

/// A case with one of its files changed or made anew.
fn with_other_file(text: &str, random: &mut Random) -> Option<String> {
    let mut case = Case::parse(text);
    if case.inputs.is_empty() {
        return None;
    }
    case.answers.clear();
    let at = random.below(case.inputs.len());
    let input = &mut case.inputs[at];
    let is_manifest = Path::new(&input.name).extension().is_some_and(|extension| extension == "pp");
    if is_manifest && random.once_in(3) {
        input.text = generate(random.number());
    } else {
        input.text = mutate(&input.text, random);
    }
    Some(case.render())
}
