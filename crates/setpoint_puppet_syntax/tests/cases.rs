//! Manifests and templates with the tree, or the errors, that Puppet gives: `cargo xtask answer syntax` asks it.
//! Cases in `recovery` are our own: Puppet stops at the first syntax error.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use setpoint_puppet_syntax::{dump, parse, parse_epp};
use setpoint_source::{Severity, Sources};
use setpoint_testing::{Answers, Case, run_tests, trials};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut all = trials(&folder.join("cases"), |case| answer(case, false));
    all.extend(trials(&folder.join("recovery"), |case| answer(case, true)));
    run_tests(all)
}

fn answer(case: &Case, with_escapes: bool) -> Answers {
    let input = &case.inputs[0];
    let sources = Sources::new();
    let file = sources.add(input.name.clone(), input.text.clone());
    let is_template = Path::new(&input.name).extension().is_some_and(|extension| extension == "epp");
    let parsed = if is_template { parse_epp(file, &input.text) } else { parse(file, &input.text) };
    let mut diagnostics = String::new();
    let mut fails = false;
    for diagnostic in &parsed.diagnostics {
        // Puppet names the end of the string for these, and not the escape.
        if diagnostic.rule.name() == "unknown-escape" && !with_escapes {
            continue;
        }
        fails |= diagnostic.severity == Severity::Error;
        let position = sources.position(diagnostic.span.unwrap());
        let severity = diagnostic.severity.as_str();
        let message = &diagnostic.message;
        let _ = writeln!(diagnostics, "{severity} {}:{} {message}", position.line, position.column);
        if with_escapes {
            for help in &diagnostic.helps {
                let _ = writeln!(diagnostics, "  help: {help}");
            }
        }
    }
    let mut answers = Vec::new();
    if !fails {
        answers.push(("tree".to_owned(), dump(&parsed.program)));
    }
    if !diagnostics.is_empty() {
        answers.push(("diagnostics".to_owned(), diagnostics));
    }
    answers
}
