//! `setpoint fleet`: many nodes at once, and how each fared.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;
use setpoint_project::{Fleet, FleetNode, check_fleet};
use setpoint_project::{Session, UsageError};
use setpoint_source::{Report, Severity, print};

use crate::cli::{BaselineOptions, FleetArgs, ResultFormat};
use crate::progress::Shown;
use crate::{known, output};

/// With more nodes than that, only those that are not well are listed.
const LISTED: usize = 100;

pub(crate) fn run(mut session: Session<'_>, args: &FleetArgs) -> Result<ExitCode, UsageError> {
    let shard = args.shard.as_deref().map(shard).transpose()?.unwrap_or((1, 1));
    let started = Instant::now();
    let shown = Shown::start(args.format == ResultFormat::Text);
    session.progress = shown.progress();
    let options = args.options.for_project();
    let fleet = check_fleet(&session, &args.input, &options, shard, args.compile_only)?;
    drop(shown);
    // A file or a pipe has the same bytes each time.
    let took = output::has_terminal().then(|| format!("; {:.1} s", started.elapsed().as_secs_f64()));
    let mut report = Report { inputs: fleet.reports.clone() };
    known::silence(&session, &mut report, &BaselineOptions::default(), known::Extent::All)?;
    match args.format {
        ResultFormat::Json => {
            let mut out = print::json(&report, &session.sources, output::VERSION);
            out["nodes"] = json!(fleet.nodes.iter().map(node_json).collect::<Vec<_>>());
            out["totals"] = totals_json(&fleet);
            output::result(&output::pretty(&out));
        }
        ResultFormat::Text => {
            let found: Vec<_> = report.findings().cloned().collect();
            output::diagnostics(&found, &session.sources);
            output::result(&text(&fleet, &took.unwrap_or_default()));
        }
    }
    Ok(ExitCode::from(u8::from(args.fail_on.is_reached(&report))))
}

/// `2/5` is the second of five parts.
fn shard(text: &str) -> Result<(usize, usize), UsageError> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parts
        .filter(|(part, of)| (1..=*of).contains(part))
        .ok_or_else(|| UsageError::new(format!("--shard {text}: write I/N, with I from 1 to N, as 2/5")))
}

fn node_json(node: &FleetNode) -> serde_json::Value {
    json!({
        "node": node.name,
        "platform": node.platform,
        "verdict": node.verdict.json(),
        "resources": node.resources,
        "errors": node.errors,
        "warnings": node.warnings,
    })
}

fn totals_json(fleet: &Fleet) -> serde_json::Value {
    json!({
        "nodes": fleet.nodes.len(),
        "of": fleet.of,
        "ok": fleet.nodes.iter().filter(|node| node.is_ok()).count(),
        "fail": fleet.nodes.iter().filter(|node| node.has_failed()).count(),
        "unknown": fleet.nodes.iter().filter(|node| node.is_open()).count(),
        "resources": fleet.nodes.iter().map(|node| node.resources).sum::<usize>(),
        "errors": fleet.count(Severity::Error),
        "warnings": fleet.count(Severity::Warning),
    })
}

fn text(fleet: &Fleet, took: &str) -> String {
    let mut out = String::new();
    let all = fleet.nodes.len() <= LISTED;
    let listed: Vec<&FleetNode> = fleet.nodes.iter().filter(|node| all || !node.is_ok()).collect();
    let width = listed.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
    for node in &listed {
        let verdict: Vec<String> =
            node.verdict.words().map(|(question, word)| format!("{} {word}", question.heading())).collect();
        let _ =
            write!(out, "{:width$}  {:<12} {:>6} resources", node.name, verdict.join(", "), node.resources);
        if node.errors + node.warnings > 0 {
            let _ = write!(out, "  {}, {}", plural(node.errors, "error"), plural(node.warnings, "warning"));
        }
        out.push('\n');
    }
    let ok = fleet.nodes.iter().filter(|node| node.is_ok()).count();
    let resources: usize = fleet.nodes.iter().map(|node| node.resources).sum();
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning")];
    let found: Vec<String> = kinds
        .into_iter()
        .map(|(severity, word)| (fleet.count(severity), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let open = match fleet.nodes.iter().filter(|node| node.is_open()).count() {
        0 => String::new(),
        open => format!(", {open} unknown"),
    };
    let failed = fleet.nodes.iter().filter(|node| node.has_failed()).count();
    let part = if fleet.of == fleet.nodes.len() { String::new() } else { format!(" of {}", fleet.of) };
    let _ = writeln!(
        out,
        "{}{part}: {ok} ok, {failed} failed{open}; {}; {found}{took}",
        plural(fleet.nodes.len(), "node"),
        plural(resources, "resource"),
    );
    out
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
