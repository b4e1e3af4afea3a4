//! `setpoint explain`: what a rule means.

use std::fmt::Write;
use std::process::ExitCode;

use setpoint_project::UsageError;
use setpoint_source::{Rule, nearest};

use crate::cli::ExplainArgs;
use crate::output;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, UsageError> {
    let Some(name) = &args.rule else {
        output::result(&list());
        return Ok(ExitCode::SUCCESS);
    };
    let Some(rule) = Rule::named(name) else {
        let near = nearest(name, Rule::ALL.iter().map(|rule| rule.name()));
        let hint = near.map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
        return Err(UsageError::new(format!(
            "there is no rule `{name}`; `setpoint explain` lists them all.{hint}"
        )));
    };
    let mut head = format!("{} ({})", rule.name(), rule.severity().as_str());
    if !rule.aliases().is_empty() {
        let _ = write!(head, ", formerly {}", rule.aliases().join(", "));
    }
    output::result(&format!("{head}\n{}.\n\n{}\n", rule.summary(), rule.explanation()));
    Ok(ExitCode::SUCCESS)
}

/// A line for each rule, by name.
fn list() -> String {
    let mut rules = Rule::ALL.to_vec();
    rules.sort_by_key(|rule| rule.name());
    let width = rules.iter().map(|rule| rule.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules {
        let _ = writeln!(out, "{:width$}  {:7}  {}", rule.name(), rule.severity().as_str(), rule.summary());
    }
    out
}
