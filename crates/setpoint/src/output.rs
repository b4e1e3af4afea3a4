//! The only place that writes to the terminal.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use setpoint_silence::finding_key;
use setpoint_source::{Diagnostic, Report, Secrets, Severity, Sources, print};

use crate::cli::{Color, ReportFormat, ReportOptions};

/// What a command gives back to be printed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// For standard output; absent if there is no result.
    pub(crate) result: Option<String>,
    /// For standard error.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What the user wants; on a terminal, without it.
static COLOR: OnceLock<Color> = OnceLock::new();

pub(crate) fn set_color(color: Color) {
    COLOR.get_or_init(|| color);
}

/// What nobody may see, of all sessions of the call.
static SECRETS: OnceLock<Arc<Secrets>> = OnceLock::new();

/// From now on everything that is written is masked, but what [`verbatim`] writes.
pub(crate) fn set_secrets(secrets: Arc<Secrets>) {
    SECRETS.get_or_init(|| secrets);
}

/// A text without secrets.
fn masked(text: &str) -> Cow<'_, str> {
    SECRETS.get().map_or(Cow::Borrowed(text), |secrets| secrets.mask_output(text))
}

/// A text as it may be shown, whatever its format: without secrets, and with nothing in it that hides. All that commands print or
/// write for people comes through here.
pub(crate) fn shown(text: &str, is_coloured: bool) -> String {
    print::visible(&masked(text), is_coloured).into_owned()
}

/// Whether somebody reads standard output as it is written.
pub(crate) fn has_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether what goes to a stream is coloured.
fn is_coloured(stream: &impl IsTerminal) -> bool {
    match COLOR.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        Some(Color::Auto) | None => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The status of a call that is wrong, or that names what cannot be used.
pub(crate) const WRONG_CALL: u8 = 2;

pub(crate) fn error_line(message: &str) {
    note_line(&format!("error: {message}"));
}

pub(crate) fn note_line(message: &str) {
    // Nobody reads what cannot be written; to fail for it would hide the status.
    let _ = writeln!(anstream::stderr(), "{}", shown(message, false));
}

/// Writes one line in place of the last such line; an empty one leaves nothing.
pub(crate) fn status(line: &str) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "\r\x1b[2K{}", shown(line, false));
    let _ = out.flush();
}

/// Whether something for standard output could not be written.
static IS_CUT_OFF: AtomicBool = AtomicBool::new(false);

/// Whether all results were written; a call whose results were not has failed, whatever they say.
pub(crate) fn is_complete() -> bool {
    !IS_CUT_OFF.load(Ordering::Relaxed)
}

/// Writes a result to standard output, as it may be shown.
pub(crate) fn result(text: &str) {
    verbatim(&shown(text, is_coloured(&std::io::stdout())));
}

/// Writes source text to standard output, without secrets: whoever takes it needs every byte, the line ends of Windows among them.
pub(crate) fn source_text(text: &str) {
    verbatim(&masked(text));
}

/// Writes a result as it is. A closed pipe (`| head`) is not an error; a full disk is.
pub(crate) fn verbatim(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(end.as_bytes()))
        .and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !IS_CUT_OFF.swap(true, Ordering::Relaxed)
    {
        error_line(&format!("cannot write to standard output: {error}"));
    }
}

pub(crate) fn diagnostics(found: &[Diagnostic], sources: &Sources) {
    let colour = is_coloured(&std::io::stderr());
    let mut out = std::io::stderr().lock();
    for diagnostic in found {
        let text = print::diagnostic(diagnostic, sources, colour);
        let _ = out.write_all(shown(&text, colour).as_bytes());
    }
}

/// Prints a result and its diagnostics; a result with an error among them has failed.
pub(crate) fn outcome(outcome: &Outcome, sources: &Sources) -> ExitCode {
    outcome_with(outcome, sources, result)
}

/// The same, with the result written by another writer.
pub(crate) fn outcome_with(outcome: &Outcome, sources: &Sources, write: fn(&str)) -> ExitCode {
    diagnostics(&outcome.diagnostics, sources);
    if let Some(text) = &outcome.result {
        write(text);
    }
    let failed = outcome.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    ExitCode::from(u8::from(failed || outcome.result.is_none()))
}

/// Prints a report in the form that was asked for, and says by the status whether it is good enough.
pub(crate) fn report(report: &Report, sources: &Sources, options: &ReportOptions) -> ExitCode {
    let key = |finding: &Diagnostic, node: Option<&str>| finding_key(finding, node, sources, "").digest;
    let text = match options.format {
        ReportFormat::Text | ReportFormat::Concise if options.statistics => print::statistics(report),
        ReportFormat::Text => print::text(report, sources, is_coloured(&std::io::stdout()), options.detail()),
        ReportFormat::Concise => print::concise(report, sources),
        ReportFormat::Json => pretty(&print::json(report, sources, VERSION)),
        ReportFormat::Sarif => pretty(&print::sarif(report, sources, VERSION, &key)),
        ReportFormat::Github => print::github(report, sources),
        ReportFormat::Gitlab => pretty(&print::gitlab(report, sources, &key)),
        ReportFormat::Junit => print::junit(report, sources),
    };
    if !text.is_empty() {
        result(&text);
    }
    ExitCode::from(u8::from(options.fail_on.is_reached(report)))
}

/// A report as JSON in which each input has its tree, if there is one.
pub(crate) fn report_with_trees(
    report: &Report,
    trees: Vec<Option<serde_json::Value>>,
    sources: &Sources,
    options: &ReportOptions,
) -> ExitCode {
    let mut json = print::json(report, sources, VERSION);
    let inputs = json.get_mut("inputs").and_then(|inputs| inputs.as_array_mut());
    for (input, tree) in inputs.into_iter().flatten().zip(trees) {
        if let Some(tree) = tree {
            input["tree"] = tree;
        }
    }
    result(&pretty(&json));
    ExitCode::from(u8::from(options.fail_on.is_reached(report)))
}

pub(crate) fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
