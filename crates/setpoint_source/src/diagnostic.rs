//! One model of what is to be said about an input, for every language and every printer.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_rules::{Rule, Severity};

use crate::{FileId, RAISE_LIMITS, Range, Span, Story, spoken};

/// A second place that matters for a finding, with a word on why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// A replacement of source text. An empty range inserts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    pub span: Span,
    pub replacement: String,
}

/// A change of the source that mends a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    pub title: String,
    pub edits: Vec<Edit>,
}

/// How a value comes to a place where it should not be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// `fact`, `trusted`, `hiera`, `secret`, …
    pub source_kind: &'static str,
    /// The name of a fact or key; may be empty.
    pub source: String,
    pub source_span: Option<Span>,
    /// The resource and the parameter that it reaches; of data that a fact chooses only the key.
    pub resource: String,
    pub parameter: String,
    /// From the source to the sink.
    pub steps: Vec<FlowStep>,
}

/// One step on the way of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowStep {
    pub what: String,
    pub span: Option<Span>,
}

/// One finding, error or note.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    pub rule: Rule,
    pub severity: Severity,
    /// What is wrong, in one plain sentence.
    pub message: String,
    /// Where. Absent only for what has no place, such as an input that cannot be read.
    pub span: Option<Span>,
    /// What the frame says at `span`; often empty, since the message says it.
    pub label: String,
    pub labels: Vec<Label>,
    /// Why it matters, or how it came about.
    pub notes: Vec<String>,
    /// What to do.
    pub helps: Vec<String>,
    /// The resources, components or objects that it concerns, as users write them: `File[/etc/motd]`.
    pub resources: Vec<String>,
    /// The nodes that have it, where several have the same; it is said for the first of them only.
    pub nodes: Vec<String>,
    /// A concrete run that shows it.
    pub story: Option<Arc<Story>>,
    /// The way of a value that should not have come so far.
    pub flow: Option<Arc<Flow>>,
    pub fix: Option<Fix>,
}

impl Diagnostic {
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            message: spoken(message.into()),
            span: None,
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            helps: if rule.is_limit() { vec![format!("{RAISE_LIMITS}.")] } else { Vec::new() },
            resources: Vec::new(),
            nodes: Vec::new(),
            story: None,
            flow: None,
            fix: None,
        }
    }

    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The place, unless one is known already: the innermost place is the most precise.
    pub fn at_least(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub fn labelled(mut self, text: impl Into<String>) -> Self {
        self.label = spoken(text.into());
        self
    }

    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: spoken(text.into()) });
        self
    }

    pub fn with_note(mut self, text: impl Into<String>) -> Self {
        self.note(text);
        self
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(spoken(text.into()));
    }

    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        self.help(text);
        self
    }

    /// Adds what to do.
    pub fn help(&mut self, text: impl Into<String>) {
        self.helps.push(spoken(text.into()));
    }

    /// Every text of it that may quote the input, its story apart.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.message, &mut self.label]
            .into_iter()
            .chain(self.labels.iter_mut().map(|label| &mut label.text))
            .chain(&mut self.notes)
            .chain(&mut self.helps)
            .chain(&mut self.resources)
    }

    pub fn with_story(mut self, story: Story) -> Self {
        self.story = Some(Arc::new(story));
        self
    }

    /// The story, the notes and what to do, a line each, as text printers tell them.
    pub fn details(&self) -> impl Iterator<Item = String> {
        let story = self.story.iter().flat_map(|story| story.lines());
        self.notes.iter().cloned().chain(story).chain(self.helps.iter().cloned())
    }

    pub fn with_resources(mut self, resources: impl IntoIterator<Item = String>) -> Self {
        self.resources.extend(resources);
        self
    }

    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}

impl Fix {
    /// The edits of each file, each once.
    pub fn by_file<'a>(edits: impl IntoIterator<Item = &'a Edit>) -> BTreeMap<FileId, Vec<Edit>> {
        let mut found: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
        for edit in edits {
            let of_file = found.entry(edit.span.file).or_default();
            if !of_file.contains(edit) {
                of_file.push(edit.clone());
            }
        }
        found
    }

    /// Applies the edits to the text of one file. Edits that overlap an earlier one are left out.
    pub fn apply(edits: &[Edit], text: &str) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.span.range.start, edit.span.range.end));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for edit in edits {
            let Range { start, end } = edit.span.range;
            let Some(before) = text.get(done..start as usize) else { continue };
            out.push_str(before);
            out.push_str(&edit.replacement);
            done = end as usize;
        }
        out.push_str(text.get(done..).unwrap_or(""));
        out
    }
}
