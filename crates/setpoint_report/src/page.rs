//! The page as a whole.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, Value};
use serde::Serialize;
use setpoint_source::{Report, Severity, Sources};

use crate::findings::{Explained, Findings, OfRule};
use crate::graphs::{Graph, graphs};
use crate::markup::escaped;
use crate::verdicts::{Open, Verdicts, open};
use crate::{About, counted};

/// All that the template needs.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    style: Value,
    title: String,
    /// What was checked, in one line.
    checked: String,
    tiles: Vec<Tile>,
    verdicts: Verdicts,
    found: Vec<OfRule>,
    open_questions: Vec<Open>,
    /// What every proof on the page rests on.
    standing: Vec<&'static str>,
    open: Vec<OfRule>,
    graphs: Vec<Graph>,
    rules: Vec<Explained>,
    version: String,
    date: Option<String>,
    inputs: Vec<String>,
    options: Vec<(String, String)>,
}

/// A number that is seen at a glance.
#[derive(Debug, Serialize)]
struct Tile {
    class: &'static str,
    count: usize,
    word: String,
}

impl Page {
    pub(crate) fn new(report: &Report, sources: &Sources, about: &About) -> Self {
        let Findings { found, open: not_decided, rules } = Findings::new(report, sources);
        let tile = |severity: Severity| {
            let count = report.findings().filter(|finding| finding.severity == severity).count();
            let class = if count == 0 { "none" } else { severity.as_str() };
            let word = counted(count, severity.as_str());
            Tile { class, count, word: word.trim_start_matches(|one: char| !one.is_alphabetic()).to_owned() }
        };
        Self {
            style: Value::from_safe_string(style()),
            title: about.inputs.join(", "),
            checked: checked(report),
            tiles: [Severity::Error, Severity::Warning, Severity::Note].map(tile).into(),
            verdicts: Verdicts::new(report),
            found,
            open_questions: open(report, sources),
            standing: standing(report),
            open: not_decided,
            graphs: graphs(report),
            rules,
            version: about.version.clone(),
            date: about.date.clone(),
            inputs: about.inputs.clone(),
            options: about.options.clone(),
        }
    }
}

/// What the proofs of all inputs rest on, a sentence each.
fn standing(report: &Report) -> Vec<&'static str> {
    let mut all: Vec<_> = report.inputs.iter().flat_map(|input| input.verdict().standing()).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(setpoint_source::Standing::sentence).collect()
}

/// `7 nodes and 1 other input checked`.
fn checked(report: &Report) -> String {
    let nodes = report.inputs.iter().filter(|input| input.node.is_some() && input.kind != "model").count();
    let others = report.inputs.len() - nodes;
    match (nodes, others) {
        (0, others) => format!("{} checked", counted(others, "input")),
        (nodes, 0) => format!("{} checked", counted(nodes, "node")),
        (nodes, others) => {
            format!("{} and {} checked", counted(nodes, "node"), counted(others, "other input"))
        }
    }
}

/// The style sheet, in the dark with the colours of drawings for it.
fn style() -> String {
    let dark =
        format!("@media screen and (prefers-color-scheme: dark) {{\n{}}}\n", setpoint_diagram::DARK_STYLE);
    format!("{}\n{dark}", include_str!("../templates/style.css"))
}

pub(crate) fn render(page: &Page) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?,
    );
    // The one place where text becomes HTML, unless it is HTML already.
    environment.set_formatter(|out, _, value| {
        let text = value.to_string();
        let written = match value {
            value if value.is_none() || value.is_undefined() => Ok(()),
            value if value.is_safe() => out.write_str(&text),
            _ => out.write_str(&escaped(&text)),
        };
        written.map_err(Error::from)
    });
    environment.add_template("report.html", include_str!("../templates/report.html"))?;
    environment.get_template("report.html")?.render(Value::from(Serde(page)))
}
