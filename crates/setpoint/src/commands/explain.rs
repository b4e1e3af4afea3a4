//! `setpoint explain`: what a rule means.

use std::fmt::Write;
use std::process::ExitCode;

use crate::cli::ExplainArgs;
use crate::session::UsageError;
use crate::{languages, output};

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, UsageError> {
    let mut rules = languages::rules();
    rules.sort_by_key(|rule| rule.name);
    let Some(name) = &args.rule else {
        let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
        let mut out = String::new();
        for rule in rules {
            let _ = writeln!(out, "{:width$}  {:7}  {}", rule.name, rule.severity.as_str(), rule.summary);
        }
        output::result(&out);
        return Ok(ExitCode::SUCCESS);
    };
    let rule = rules.iter().find(|rule| rule.name == name).ok_or_else(|| {
        UsageError::new(format!("there is no rule `{name}`; `setpoint explain` lists them all"))
    })?;
    output::result(&format!(
        "{} ({})\n{}.\n\n{}\n",
        rule.name,
        rule.severity.as_str(),
        rule.summary,
        rule.explanation
    ));
    Ok(ExitCode::SUCCESS)
}
