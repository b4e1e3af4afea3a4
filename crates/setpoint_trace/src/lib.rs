//! An evaluation step by step: which rule of a semantics was applied where, and what it changed in the stores.
//!
//! Evaluators fill a [`Recorder`]; a [`Trace`] is printed as text, as JSON and as one page on which one steps forward and
//! back. The crate knows no language and no rule: names, notations and stores are texts here.

mod html;

pub use html::html;

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use setpoint_source::{Sources, Span};

/// More steps are left out: nobody watches them.
const MAX_STEPS: usize = 100_000;

/// An evaluation.
#[derive(Debug, Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    /// The stores one after the other, in the notation of the text that defines the semantics, if it prints them so.
    pub series: Vec<String>,
    /// How many stores are missing before the last one.
    pub left_out: usize,
    /// Why the trace ends before the evaluation does, as a sentence without its full stop.
    pub end: Option<String>,
}

/// The application of a rule.
#[derive(Debug)]
pub struct Step {
    /// As the text names it: `Def. 24 (value)`, `LVAR`.
    pub rule: String,
    /// How many rules are being applied around this one.
    pub depth: usize,
    /// What it is applied to, in the notation of the text.
    pub what: String,
    pub span: Option<Span>,
    pub changes: Vec<Change>,
    /// Which store of the series there is after it, counted from 1; 0 if that one is not in the series.
    pub store: usize,
}

/// What a step changed in a store.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    pub store: &'static str,
    pub at: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A trace in the making.
#[derive(Debug, Default)]
pub struct Recorder {
    trace: Trace,
    depth: usize,
    /// As [`Step::store`].
    store: usize,
}

impl Recorder {
    /// Records a step. What is recorded until [`Recorder::leave`] belongs to it.
    pub fn enter(&mut self, rule: impl Into<String>, what: impl Into<String>, span: Option<Span>) {
        self.step(rule, what, span, Vec::new());
        self.depth += 1;
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Nothing belongs to an earlier step any more: the evaluation failed.
    pub fn leave_all(&mut self) {
        self.depth = 0;
    }

    /// Records a step that nothing else belongs to.
    pub fn step(
        &mut self,
        rule: impl Into<String>,
        what: impl Into<String>,
        span: Option<Span>,
        changes: Vec<Change>,
    ) {
        if self.trace.steps.len() >= MAX_STEPS {
            self.end(format!("The trace ends here: the evaluation has more than {MAX_STEPS} steps"));
            return;
        }
        let (rule, what) = (rule.into(), what.into());
        self.trace.steps.push(Step { rule, depth: self.depth, what, span, changes, store: self.store });
    }

    /// The trace ends here, for the first reason that is given.
    pub fn end(&mut self, why: String) {
        self.trace.end.get_or_insert(why);
    }

    /// Adds a store to the series: the one that the last step made.
    pub fn series(&mut self, store: String) {
        self.trace.series.push(store);
        self.store_is(self.trace.series.len());
    }

    /// Counts a store that is not in the series, because that is long.
    pub fn leave_out_store(&mut self) {
        self.trace.left_out += 1;
        self.store_is(0);
    }

    /// The last step made this store, and those that follow find it.
    fn store_is(&mut self, store: usize) {
        self.store = store;
        if let Some(step) = self.trace.steps.last_mut() {
            step.store = store;
        }
    }

    pub fn series_len(&self) -> usize {
        self.trace.series.len()
    }

    pub fn finish(self) -> Trace {
        self.trace
    }
}

/// One line a step, the changes below it, and the stores at the end.
pub fn text(trace: &Trace, sources: &Sources) -> String {
    let mut out = String::new();
    for (number, step) in trace.steps.iter().enumerate() {
        let indent = "  ".repeat(step.depth.min(40));
        let place = step.span.map_or(String::new(), |span| format!("   [{}]", sources.place(span)));
        let _ = writeln!(out, "{:>4}  {indent}{}: {}{place}", number + 1, step.rule, step.what);
        for Change { store, at, before, after } in &step.changes {
            let line = match (before, after) {
                (None, Some(after)) => format!("+ {store}({at}) = {after}"),
                (Some(before), Some(after)) => format!("~ {store}({at}) = {after}, before {before}"),
                (Some(before), None) => format!("- {store}({at}), before {before}"),
                (None, None) => continue,
            };
            let _ = writeln!(out, "      {indent}  {line}");
        }
    }
    if !trace.series.is_empty() {
        let _ = writeln!(out, "\nThe stores:");
        for (number, store) in trace.series.iter().enumerate() {
            let is_last = number + 1 == trace.series.len();
            if is_last && trace.left_out > 0 {
                let _ = writeln!(out, "      … {} more …", trace.left_out);
            }
            let number = if is_last { number + trace.left_out } else { number };
            let _ = writeln!(out, "{:>4}. {store}", number + 1);
        }
    }
    if let Some(end) = &trace.end {
        let _ = writeln!(out, "\n{end}.");
    }
    out
}

pub fn json(trace: &Trace, sources: &Sources) -> Json {
    let step = |step: &Step| {
        let place = step.span.map(|span| {
            let file = sources.file(span.file);
            let position = file.position(span.range.start);
            json!({"path": file.path(), "line": position.line, "column": position.column})
        });
        let changes: Vec<Json> = step
            .changes
            .iter()
            .map(|one| json!({"store": one.store, "at": one.at, "before": one.before, "after": one.after}))
            .collect();
        json!({
            "rule": step.rule, "depth": step.depth, "what": step.what, "place": place, "changes": changes,
            "stores": step.store,
        })
    };
    json!({
        "steps": trace.steps.iter().map(step).collect::<Vec<_>>(),
        "stores": trace.series,
        "stores_left_out": trace.left_out,
        "end": trace.end,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn no_step_shows_a_store_that_an_earlier_step_left() {
        let mut recorder = Recorder::default();
        recorder.step("a", "", None, Vec::new());
        recorder.series("1".to_owned());
        recorder.step("b", "", None, Vec::new());
        recorder.step("c", "", None, Vec::new());
        recorder.leave_out_store();
        recorder.step("d", "", None, Vec::new());
        recorder.step("e", "", None, Vec::new());
        recorder.series("3".to_owned());
        recorder.step("f", "", None, Vec::new());
        let stores: Vec<usize> = recorder.finish().steps.iter().map(|step| step.store).collect();
        assert_eq!(stores, [1, 1, 0, 0, 2, 2]);
    }

    #[test]
    fn a_page_holds_its_data_whatever_the_names_and_texts_in_it() {
        let sources = Sources::new();
        let title = "{{DATA}}<i>{{TITLE}}</i>.sf";
        let mut recorder = Recorder::default();
        recorder.step(title, "</script>{{TITLE}}", None, Vec::new());
        let page = html(&recorder.finish(), &sources, title);
        assert!(page.contains("<title>{{DATA}}&lt;i&gt;{{TITLE}}&lt;/i&gt;.sf</title>"), "{page}");
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let data: Json = serde_json::from_str(data).unwrap();
        assert_eq!(data["trace"]["steps"][0]["rule"], title);
        assert_eq!(data["trace"]["steps"][0]["what"], "</script>{{TITLE}}");
    }
}
