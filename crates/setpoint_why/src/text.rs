//! Answers as people read them: short, with the lines of the source.

use std::fmt::Write as _;

use setpoint_provenance::{Leaf, LeafKind, Node, Prov};
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Value, to_text};
use setpoint_source::{Secrets, Sources, Span};

use crate::absence::Absence;
use crate::answer::{Answer, Reason, ReasonKind, reasons, secrets};
use crate::impact::Impact;

/// So many places are shown of each kind; `--depends` has all.
const MOST_SHOWN: usize = 8;

/// What is written about a line beside it: who changed it last.
pub type Notes<'n> = dyn Fn(Span) -> Option<String> + 'n;

/// Writes answers.
pub struct Writer<'a> {
    pub compilation: &'a Compilation,
    pub sources: &'a Sources,
    pub notes: &'a Notes<'a>,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer<'_> {
    /// The short answer.
    pub fn short(&self, answer: &Answer) -> String {
        let mut out = String::new();
        let is_existence = answer.target == answer.resource;
        if !is_existence || answer.reasons.is_empty() {
            let value = answer.value.as_ref().map(|value| masked(value, self.sources.secrets()));
            let _ = writeln!(out, "{}", headline(answer, value.as_ref()));
            self.origin(answer, &mut out);
        }
        if !answer.reasons.is_empty() {
            let line = if is_existence { "" } else { "\n" };
            let _ = writeln!(out, "{line}{} is there because", answer.resource);
            self.reasons(&answer.reasons, answer, &mut out);
        }
        let count = answer.depends.len();
        if count > 0 {
            let inputs = if count == 1 { "1 input".to_owned() } else { format!("{count} inputs") };
            let _ = writeln!(out, "\nIt depends on {inputs}; `--depends` lists them.");
        }
        out
    }

    /// Where the value was copied from, or what made it.
    fn origin(&self, answer: &Answer, out: &mut String) {
        let arena = &self.compilation.arena;
        if let Some(leaf) = answer.origin {
            let _ = writeln!(out, "\n  {}", self.leaf(&leaf));
            self.frame(leaf.span, answer, out);
        } else if answer.value.is_some() || answer.target.contains("].") {
            let made = arena.made_by(answer.prov);
            if let Some(Node::Operation { name, span, .. }) = arena.node(made) {
                let place = span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
                let is_reference =
                    answer.value.as_ref().and_then(Value::as_str).is_some_and(|text| text.ends_with(']'));
                let what = if is_reference && name.as_str() == "[]" {
                    "a reference".to_owned()
                } else {
                    operation(&name)
                };
                let _ = writeln!(out, "\n  made by {what}{place}");
                self.frame(span, answer, out);
                let leaves: Vec<Leaf> = arena.made_of(made).into_iter().map(|(_, leaf)| leaf).collect();
                self.leaves("from", &leaves, answer, out);
            }
        }
        let steps: Vec<String> = answer
            .steps
            .iter()
            .filter_map(|step| {
                let name = step.name?;
                let place =
                    step.span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
                Some(format!("{name}{place}"))
            })
            .collect();
        for (at, step) in steps.iter().take(MOST_SHOWN).enumerate() {
            let word = if at == 0 { "as" } else { "  " };
            let _ = writeln!(out, "  {word} {step}");
        }
        if steps.len() > MOST_SHOWN {
            let _ = writeln!(out, "     and {} more names", steps.len() - MOST_SHOWN);
        }
    }

    fn leaves(&self, word: &str, leaves: &[Leaf], answer: &Answer, out: &mut String) {
        let mut lines: Vec<String> = Vec::new();
        for leaf in leaves {
            let text = self.leaf_with_text(leaf, answer);
            if !lines.contains(&text) {
                lines.push(text);
            }
        }
        for (at, line) in lines.iter().take(MOST_SHOWN).enumerate() {
            let _ = writeln!(out, "  {:4} {line}", if at == 0 { word } else { "" });
        }
        if lines.len() > MOST_SHOWN {
            let _ = writeln!(out, "       and {} more", lines.len() - MOST_SHOWN);
        }
    }

    /// What a leaf is, where, and what stands there unless it is secret.
    pub fn leaf_with_text(&self, leaf: &Leaf, answer: &Answer) -> String {
        match leaf.span {
            Some(span) if !is_secret(span, answer) => {
                format!("{}: {}", self.leaf(leaf), self.slice(span))
            }
            _ => self.leaf(leaf),
        }
    }

    /// What a leaf is, and where.
    pub fn leaf(&self, leaf: &Leaf) -> String {
        let place = leaf.span.map(|span| self.sources.place(span));
        let name = leaf.name.map_or("", |name| name.as_str());
        match (leaf.kind, place) {
            (LeafKind::Literal, Some(place)) => format!("written at {place}"),
            (LeafKind::Template, Some(place)) => format!("text of a template at {place}"),
            (LeafKind::File, Some(place)) => format!("the file at {place}"),
            (LeafKind::Hiera, Some(place)) if !name.is_empty() => {
                format!("the key {name} in the data at {place}")
            }
            (LeafKind::Fact, None) if name.is_empty() => "the set of facts".to_owned(),
            (LeafKind::Fact, None) => format!("the fact {name}"),
            (LeafKind::Trusted, None) => format!("the trusted fact {name}"),
            (LeafKind::Setting, None) => format!("the setting {name}"),
            (LeafKind::External, None) => format!("the classifier's {name}"),
            (LeafKind::Node, None) => "the name of the node".to_owned(),
            (LeafKind::Absence, None) => format!("nothing sets {name}"),
            (kind, Some(place)) if name.is_empty() => format!("{} at {place}", kind.as_str()),
            (kind, Some(place)) => format!("{} {name} at {place}", kind.as_str()),
            (kind, None) => format!("{} {name}", kind.as_str()),
        }
    }

    /// The line of a place, with the place marked.
    fn frame(&self, span: Option<Span>, answer: &Answer, out: &mut String) {
        let Some(span) = span else { return };
        if is_secret(span, answer) {
            return self.note(span, out);
        }
        let file = self.sources.shown(span.file);
        let position = file.position(span.range.start);
        let line = file.line_text(position.line);
        let number = position.line.to_string();
        let before = position.column as usize - 1;
        let length = file.slice(span.range).lines().next().map_or(1, |first| first.chars().count()).max(1);
        let _ = writeln!(out, "    {number} | {}", cut(line));
        if before + length <= MOST_LETTERS {
            let space: String =
                line.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let _ = writeln!(out, "    {:1$} | {space}{2}", "", number.len(), "^".repeat(length));
        }
        self.note(span, out);
    }

    fn note(&self, span: Span, out: &mut String) {
        if let Some(note) = (self.notes)(span) {
            let _ = writeln!(out, "      {note}");
        }
    }

    pub fn reasons(&self, reasons: &[Reason], answer: &Answer, out: &mut String) {
        for reason in reasons.iter().take(MOST_REASONS_SHOWN) {
            let Some(span) = reason.span else { continue };
            let text =
                if is_secret(span, answer) { String::new() } else { format!(": {}", self.slice(span)) };
            let what = match reason.kind {
                ReasonKind::Declared => "it is declared",
                ReasonKind::Included => "the class is declared",
                ReasonKind::Node => "this is the node",
                ReasonKind::Inherited => "a class inherits from it",
                ReasonKind::Realized => "it is realized",
                ReasonKind::Condition => "a condition chose the branch",
                ReasonKind::Instance => "the instance is declared",
                ReasonKind::Iteration => "the lambda ran",
                ReasonKind::Call => "the function is called",
                ReasonKind::Collected => "a collector met it",
                ReasonKind::NoJump => "nothing left the code before",
            };
            let _ = writeln!(out, "  {what} at {}{text}", self.sources.place(span));
            self.note(span, out);
            if reason.kind == ReasonKind::Condition {
                self.conditions(reason.cause, answer, out);
            }
        }
        if reasons.len() > MOST_REASONS_SHOWN {
            let _ = writeln!(out, "  and {} more steps", reasons.len() - MOST_REASONS_SHOWN);
        }
    }

    /// What a condition was computed from.
    pub fn decided(&self, reason: &Reason, answer: &Answer, out: &mut String) {
        out.push_str("    because of the condition\n");
        self.conditions(reason.cause, answer, out);
    }

    /// What a condition was computed from, if that is more than its own text says.
    fn conditions(&self, cause: Prov, answer: &Answer, out: &mut String) {
        let leaves = self.compilation.arena.made_of(cause);
        let mut told: Vec<String> = Vec::new();
        for (_, leaf) in leaves {
            if leaf.kind == LeafKind::Absence
                && leaf.name.is_none_or(|name| name.contains(' ') || name.as_str() == "instance")
            {
                continue;
            }
            let text = match leaf.span {
                Some(span) if !is_secret(span, answer) => {
                    format!("{} ({})", self.slice(span), self.sources.place(span))
                }
                _ => self.leaf(&leaf),
            };
            if !told.contains(&text) {
                told.push(text);
            }
        }
        let more = told.len().saturating_sub(4);
        told.truncate(4);
        if !told.is_empty() {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = writeln!(out, "      from {}{more}", told.join(", "));
        }
    }

    /// `--where`.
    pub fn origins(&self, answer: &Answer) -> String {
        let mut out = String::new();
        match answer.origin {
            Some(leaf) => {
                let _ = writeln!(out, "{}", self.leaf(&leaf));
                self.frame(leaf.span, answer, &mut out);
            }
            None => {
                let _ = writeln!(
                    out,
                    "{} was not copied from one place; `--expression` shows how it was made",
                    answer.target
                );
            }
        }
        out
    }

    /// `--depends`: every input, in the order of the text.
    pub fn depends(&self, answer: &Answer) -> String {
        let mut lines: Vec<(Option<Span>, String)> = Vec::new();
        for found in &answer.depends {
            let mut text = self.leaf(&found.leaf);
            if found.shape {
                text += " (which elements it has)";
            }
            if let Some(span) = found.leaf.span
                && !is_secret(span, answer)
            {
                text += &format!(": {}", self.slice(span));
            }
            if let Some(note) = found.leaf.span.and_then(|span| (self.notes)(span)) {
                text += &format!("\n    {note}");
            }
            lines.push((found.leaf.span, text));
        }
        lines.sort();
        lines.dedup();
        lines.into_iter().map(|(_, line)| line + "\n").collect()
    }

    /// `--expression`: the operations, outermost first.
    pub fn expression(&self, answer: &Answer) -> String {
        let mut out = String::new();
        let mut budget = MOST_NODES;
        self.tree(answer.prov, 0, answer, &mut budget, &mut out);
        out
    }

    fn tree(&self, prov: Prov, depth: usize, answer: &Answer, budget: &mut usize, out: &mut String) {
        if *budget == 0 || depth > MOST_DEPTH {
            return;
        }
        *budget -= 1;
        let indent = depth * 2;
        match self.compilation.arena.node(prov) {
            None => {}
            Some(Node::Leaf(leaf)) => {
                let text = self.leaf_with_text(&leaf, answer);
                let _ = writeln!(out, "{:indent$}{text}", "");
            }
            Some(Node::Copy { of, span, name }) => {
                if let Some(name) = name {
                    let place =
                        span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
                    let _ = writeln!(out, "{:indent$}{name}{place}", "");
                    self.tree(of, depth + 1, answer, budget, out);
                } else {
                    self.tree(of, depth, answer, budget, out);
                }
            }
            Some(Node::Under { of, .. } | Node::Shape { of }) => self.tree(of, depth, answer, budget, out),
            Some(Node::Operation { name, span, arguments, .. }) => {
                let place = span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
                let _ = writeln!(out, "{:indent$}{}{place}", "", operation(&name));
                for argument in arguments {
                    self.tree(*argument, depth + 1, answer, budget, out);
                }
            }
        }
    }

    /// Source text on one line, and not too long.
    pub fn slice(&self, span: Span) -> String {
        let file = self.sources.shown(span.file);
        let text = file.slice(span.range);
        let first = text.lines().next().unwrap_or("").trim_end();
        let more = if first.len() < text.trim_end().len() { " …" } else { "" };
        format!("{}{more}", cut(first))
    }
}

const MOST_LETTERS: usize = 100;
const MOST_NODES: usize = 2_000;
const MOST_DEPTH: usize = 60;
const MOST_REASONS_SHOWN: usize = 20;

pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The name of an operation in words.
fn operation(name: &str) -> String {
    match name {
        "interpolate" => "a string with expressions in it".to_owned(),
        "array" => "an array".to_owned(),
        "hash" => "a hash".to_owned(),
        "arrow" => "an arrow".to_owned(),
        "epp" => "a template".to_owned(),
        "[]" => "access to an element".to_owned(),
        "resource" => "a declaration".to_owned(),
        name if name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':')) => format!("{name}()"),
        name => format!("`{name}`"),
    }
}

/// A value on one line.
pub fn shown(value: &Value) -> String {
    let text = match &value.data {
        Data::String(text) => format!("{:?}", cut(text)),
        Data::Sensitive(_) => "a secret".to_owned(),
        Data::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Hash(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, entry)| format!("{} => {}", shown(&key.0), shown(entry))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Data::Opaque(opaque) => format!("not known: {}", opaque.reason),
        _ => to_text(value).to_string(),
    };
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

impl Writer<'_> {
    /// What kept something out that is not there.
    pub fn absence(&self, absence: &Absence) -> String {
        let answer = &self.nothing_secret();
        let mut out = String::new();
        if let Some(span) = absence.is_virtual {
            let place = self.sources.place(span);
            let _ = writeln!(
                out,
                "{} is declared at {place}, but virtual: nothing has made it real",
                absence.target
            );
        } else if absence.nowhere {
            let _ = writeln!(
                out,
                "{} is not there, and no code that was read could have put it there",
                absence.target
            );
        } else {
            let _ = writeln!(out, "{} is not there", absence.target);
        }
        if !absence.undefined.is_empty() {
            out.push_str("\n  it is given as undef, which depends on\n");
            for leaf in &absence.undefined {
                let _ = writeln!(out, "    {}", self.leaf_with_text(leaf, answer));
            }
        }
        for kept in &absence.kept_out {
            let place = self.sources.place(kept.branch);
            let _ = writeln!(out, "\n  this did not run, at {place}: {}", self.slice(kept.branch));
            let reason = Reason { kind: ReasonKind::Condition, span: None, cause: kept.condition };
            self.decided(&reason, answer, &mut out);
            self.reasons(&kept.reasons, answer, &mut out);
        }
        for span in &absence.collectors {
            let place = self.sources.place(*span);
            let _ = writeln!(out, "\n  a collector looked for others, at {place}: {}", self.slice(*span));
        }
        out
    }

    /// What led to the error that there is no catalog for.
    pub fn failure(&self) -> String {
        let reasons = self.failure_reasons();
        let mut out = String::from("There is no catalog, and so no value to explain.\n");
        if !reasons.is_empty() {
            out.push_str("The evaluation came to the error because\n");
            self.reasons(&reasons, &self.nothing_secret(), &mut out);
        }
        out
    }

    pub(crate) fn failure_reasons(&self) -> Vec<Reason> {
        let failure = self.compilation.trace.failure;
        failure.map(|prov| reasons(self.compilation, prov)).unwrap_or_default()
    }

    /// An answer that knows only which texts are secret.
    pub(crate) fn nothing_secret(&self) -> Answer {
        Answer {
            target: String::new(),
            value: None,
            secret: false,
            prov: Prov::NONE,
            origin: None,
            steps: Vec::new(),
            resource: String::new(),
            reasons: Vec::new(),
            depends: Vec::new(),
            secrets: secrets(self.compilation).into(),
        }
    }
}

impl Impact {
    /// The resources and parameters that `line` reaches; with `all` also what it could have reached.
    pub fn text(&self, compilation: &Compilation, line: &str, all: bool) -> String {
        let Some(catalog) = &compilation.catalog else { return String::new() };
        if self.inputs == 0 {
            return format!("no value of the catalog is read from {line}\n");
        }
        let mut out = String::new();
        for affected in &self.resources {
            let direct = affected.existence || !affected.parameters.is_empty();
            if !direct && !all {
                continue;
            }
            let _ = writeln!(out, "{}", catalog[affected.resource].reference());
            if affected.existence {
                out.push_str("  is there because of it\n");
            }
            for name in &affected.parameters {
                let _ = writeln!(out, "  {name}");
            }
            for name in affected.possible.iter().filter(|_| all) {
                let _ = writeln!(out, "  {name}, if something else stood there");
            }
        }
        if out.is_empty() {
            let _ = writeln!(out, "no value of the catalog was made of {line}");
        }
        if self.possible > 0 && !all {
            let values =
                if self.possible == 1 { "1 value".to_owned() } else { format!("{} values", self.possible) };
            let _ = writeln!(out, "\nSomething else there could change {values} more; `--all` lists them.");
        }
        out
    }
}

/// A value with asterisks for secrets: before it is cut, so that no part of one is left.
pub(crate) fn masked(value: &Value, secrets: &Secrets) -> Value {
    let data = match &value.data {
        Data::String(text) => Data::String(secrets.mask(text).as_ref().into()),
        Data::Array(items) => return Value::array(items.iter().map(|item| masked(item, secrets)).collect()),
        Data::Hash(entries) => {
            let entries = entries.iter().map(|(key, item)| (key.clone(), masked(item, secrets)));
            return Value::hash(entries.collect());
        }
        _ => return value.clone(),
    };
    Value { data, prov: value.prov }
}

fn headline(answer: &Answer, value: Option<&Value>) -> String {
    match value {
        _ if answer.secret => format!("{} is a secret and is not shown", answer.target),
        Some(value) => format!("{} = {}", answer.target, shown(value)),
        None if answer.target.contains("].") => format!("{} is not set", answer.target),
        None => answer.target.clone(),
    }
}

/// Whether a place has text of a secret.
pub(crate) fn is_secret(span: Span, answer: &Answer) -> bool {
    let overlaps = |other: &Span| {
        other.file == span.file && other.range.start < span.range.end && span.range.start < other.range.end
    };
    // Whether one overlaps does not depend on the order.
    #[allow(clippy::iter_over_hash_type)]
    answer.secrets.iter().any(overlaps)
}
