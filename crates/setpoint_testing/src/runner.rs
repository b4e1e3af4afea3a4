//! Runs a folder of cases, one test each.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::{Case, diff, files_below};

/// The name and the text of each answer that the software gives to a case.
pub type Answers = Vec<(String, String)>;

/// Runs every `*.case` below `folder`, and any further trials. With `SETPOINT_BLESS=1` the answers are rewritten by
/// what the software says: only for suites that no oracle answers.
pub fn run_folder(folder: &Path, answer: impl Fn(&Case) -> Answers + Send + Sync + 'static) -> ExitCode {
    run_tests(trials(folder, answer))
}

pub fn run_tests(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// One trial for each case below `folder`. A folder without cases is a trial that fails.
pub fn trials(folder: &Path, answer: impl Fn(&Case) -> Answers + Send + Sync + 'static) -> Vec<Trial> {
    let answer = Arc::new(answer);
    let paths = cases(folder);
    if paths.is_empty() {
        let folder = folder.display().to_string();
        return vec![Trial::test("has cases", move || Err(Failed::from(format!("{folder} has no cases"))))];
    }
    paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(&path).with_extension("").display().to_string();
            let answer = Arc::clone(&answer);
            Trial::test(name, move || check(&path, &*answer))
        })
        .collect()
}

/// The paths of all cases below a folder, sorted.
pub fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut paths = files_below(folder);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    paths
}

fn check(path: &Path, answer: &dyn Fn(&Case) -> Answers) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut case = Case::parse(&text);
    let found = answer(&case);
    if std::env::var_os("SETPOINT_BLESS").is_some() {
        case.answers = found.into_iter().map(|(name, text)| crate::Section { name, text }).collect();
        std::fs::write(path, case.render()).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok(());
    }
    let mut problems = String::new();
    for (at, section) in case.answers.iter().enumerate() {
        // A name may come again: the same command after another one.
        let before = case.answers[..at].iter().filter(|other| other.name == section.name).count();
        match found.iter().filter(|(name, _)| *name == section.name).nth(before) {
            None => {
                let _ = writeln!(problems, "<<< {} is not given", section.name);
            }
            Some((_, text)) if text.trim_end() != section.text.trim_end() => {
                let _ = write!(problems, "<<< {}\n{}", section.name, diff(&section.text, text));
            }
            Some(_) => {}
        }
    }
    if case.answers.is_empty() {
        problems += "the case has no answer\n";
    }
    if problems.is_empty() { Ok(()) } else { Err(Failed::from(format!("{}\n{problems}", path.display()))) }
}
