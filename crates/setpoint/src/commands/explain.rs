//! `setpoint explain`: what a rule means.

use std::fmt::Write;
use std::process::ExitCode;

use setpoint_source::Rule;

use crate::cli::ExplainArgs;
use crate::session::UsageError;
use crate::{languages, output};

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, UsageError> {
    let mut rules = languages::rules();
    rules.sort_by_key(|rule| rule.name);
    let Some(name) = &args.rule else {
        let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
        let mut out = String::new();
        rules.dedup_by_key(|rule| rule.name);
        for rule in rules {
            let _ = writeln!(out, "{:width$}  {:7}  {}", rule.name, rule.severity.as_str(), rule.summary);
        }
        output::result(&out);
        return Ok(ExitCode::SUCCESS);
    };
    let found: Vec<&&Rule> = rules.iter().filter(|rule| rule.name == name).collect();
    if found.is_empty() {
        let message = format!("there is no rule `{name}`; `setpoint explain` lists them all");
        return Err(UsageError::new(message));
    }
    // One name may mean the same in several languages, each with its own example.
    for rule in found {
        let (severity, summary) = (rule.severity.as_str(), rule.summary);
        output::result(&format!("{} ({severity})\n{summary}.\n\n{}\n", rule.name, rule.explanation));
    }
    Ok(ExitCode::SUCCESS)
}
