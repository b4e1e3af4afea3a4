//! The steps of an evaluation in the notation of the paper, recorded only if somebody watches.

use setpoint_source::{Diagnostic, Span, Symbol};
use setpoint_trace::{Change, Recorder};

use crate::Semantics;
use crate::core::{Evaluator, Found};
use crate::output;
use crate::reference::{concatenation, shown};
use crate::store::{Store, Value};
use crate::syntax::{Expression, ExpressionKind};

/// The series of stores is for small specifications, as in §7.1: longer ones are left out.
const MAX_SERIES: usize = 200;
const MAX_NOTATION: usize = 2_000;

impl Evaluator {
    /// Records a step that others belong to until [`Evaluator::leave`]. `what` is made only if somebody watches.
    pub(crate) fn enter(&mut self, rule: &str, span: Option<Span>, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.enter(rule, what(), span);
        }
    }

    pub(crate) fn leave(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.leave();
        }
    }

    /// Records a step that leaves the store as it is.
    pub(crate) fn step(&mut self, rule: &str, span: Option<Span>, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.step(rule, what(), span, Vec::new());
        }
    }

    /// Records what definition 16 gave, and each store in which it looked.
    pub(crate) fn watch_resolve(
        &mut self,
        namespace: &[Symbol],
        names: &[Symbol],
        found: Option<&Found>,
        span: Span,
    ) {
        if self.trace.is_none() {
            return;
        }
        self.enter("Def. 16 (resolve)", Some(span), || {
            let result = found.map_or("⟨∅I, ⊥⟩".to_owned(), |found| {
                format!("⟨{}, {}⟩", path(&found.namespace), notation(&found.value))
            });
            format!("resolve(s, {}, {}) = {result}", path(namespace), path(names))
        });
        // With forward links a reference may lead through keywords and other links, which definition 14 does not know.
        let is_core = self.semantics == Semantics::Core;
        let last = found.map_or(0, |found| found.namespace.len());
        for length in (last..=namespace.len()).rev().filter(|_| is_core) {
            self.step("Def. 14 (find)", Some(span), || {
                let value = found.filter(|found| found.namespace.len() == length);
                let value = value.map_or("⊥".to_owned(), |found| notation(&found.value));
                format!("find(s, {}) = {value}", path(&concatenation(&namespace[..length], names)))
            });
        }
        self.leave();
    }

    /// Records by which equations of definitions 21 and 22 a basic value was evaluated.
    pub(crate) fn watch_basic_value(&mut self, expression: &Expression, value: &Value) {
        if self.trace.is_none() {
            return;
        }
        let form = match &expression.kind {
            ExpressionKind::Null => "Null",
            ExpressionKind::Boolean(_) => "Bool",
            ExpressionKind::Number(_) => "Num",
            ExpressionKind::Reference { .. } => "DR",
            ExpressionKind::Vector { .. } => "Vec",
            _ => "Str",
        };
        let equation = || format!("BV⟦{form}⟧ = {}", notation(value));
        let (ExpressionKind::Vector { elements, .. }, Value::Vector(values)) = (&expression.kind, value)
        else {
            return self.step("Def. 22 (basic value)", Some(expression.span), equation);
        };
        self.enter("Def. 22 (basic value)", Some(expression.span), equation);
        let form = if elements.is_empty() { "ε" } else { "BV1, …, BVn" };
        self.enter("Def. 21 (vectors)", Some(expression.span), || {
            format!("Vec⟦{form}⟧ = {}", notation(value))
        });
        for (element, value) in elements.iter().zip(values.iter()) {
            self.watch_basic_value(element, value);
        }
        self.leave();
        self.leave();
    }

    /// Records a step that changed the store, which is printed as the paper does.
    pub(crate) fn update(&mut self, rule: &str, span: Option<Span>, what: String, changes: Vec<Change>) {
        if let Some(trace) = &mut self.trace {
            trace.step(rule, what, span, changes);
            record_store(trace, &self.root);
        }
    }
}

/// Adds a store to the series, as long as people would read it.
pub(crate) fn record_store(trace: &mut Recorder, store: &Store) {
    if trace.series_len() < MAX_SERIES {
        trace.series(store_notation(store));
    } else {
        trace.leave_out_store();
    }
}

/// Records the store that a specification comes to; it is in the series, however long that is.
pub(crate) fn record_result(trace: Option<&mut Recorder>, rule: &str, store: &Store) {
    if let Some(trace) = trace {
        let result = store_notation(store);
        trace.step(rule, format!("sfConfig = {result}"), None, Vec::new());
        trace.series(result);
    }
}

/// Records what ended the evaluation, outside of all that it ended in.
pub(crate) fn record_error(trace: Option<&mut Recorder>, fail: &Diagnostic) {
    if let Some(trace) = trace {
        trace.leave_all();
        trace.step("error", fail.message.clone(), fail.span, Vec::new());
    }
}

/// What an attribute was and is, as a change of the store.
pub(crate) fn change(at: &[Symbol], before: Option<&Value>, after: Option<&Value>) -> Change {
    Change { store: "s", at: shown(at), before: before.map(notation), after: after.map(notation) }
}

/// A reference: `a:b`, and `∅I` for the root.
pub(crate) fn path(path: &[Symbol]) -> String {
    if path.is_empty() { "∅I".to_owned() } else { shown(path) }
}

/// A value as the paper writes it: `⟨a, ∅S⟩ :: ∅S` for a store.
pub(crate) fn notation(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    shorten(out)
}

pub fn store_notation(store: &Store) -> String {
    let mut out = String::new();
    write_store(store, &mut out);
    shorten(out)
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Store(store) => write_store(store, out),
        Value::Null => out.push_str("Null"),
        Value::Boolean(value) => out.push_str(if *value { "True" } else { "False" }),
        Value::Vector(elements) => {
            for element in elements.iter() {
                let is_nested = matches!(element, Value::Vector(_));
                out.push_str(if is_nested { "(" } else { "" });
                write(element, out);
                out.push_str(if is_nested { ") :: " } else { " :: " });
            }
            out.push_str("∅V");
        }
        Value::Lazy(text) => out.push_str(&text.replace('\n', " ")),
        other => out.push_str(&output::sf_value(other)),
    }
}

fn write_store(store: &Store, out: &mut String) {
    for entry in store.iter() {
        // Enough for all that is printed: a store may hold many copies of another.
        if out.len() > 4 * MAX_NOTATION {
            return;
        }
        out.push('⟨');
        out.push_str(entry.name.as_str());
        out.push_str(", ");
        write(&entry.value, out);
        out.push_str("⟩ :: ");
    }
    out.push_str("∅S");
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_NOTATION) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
