//! Values of parameters from a file, in the forms of the AWS command line and of CodePipeline.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Range, Rule, Severity, Sources, Symbol};

use crate::template::{Parameter, Resource, Template};
use crate::text::Text;
use crate::value::{Value, ValueKind};

/// A value for a parameter: text, or that of the last deployment, which is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Text(String),
    Previous,
}

/// The values that a file gives to parameters.
#[derive(Debug, Clone, Default)]
pub struct Given {
    file: Option<FileId>,
    values: IndexMap<Symbol, (Choice, Range), FxBuildHasher>,
    /// What of the file cannot be read.
    pub problems: Vec<Diagnostic>,
    /// Whether other templates take some of the values.
    pub is_shared: bool,
    /// Whether a stack gives them to its nested one: what it does not give has its default.
    pub(crate) is_of_stack: bool,
}

/// Values of a nested stack as far as they are known, for comparison.
pub(crate) type Known = Vec<(Symbol, Option<String>)>;

impl Given {
    /// The values that a template gives to its nested stack. What only a deployment knows stays open.
    pub(crate) fn of_stack(outer: &Template, stack: &Resource) -> Self {
        // Parameters that are chosen as a whole, and the list of a stack set, may give any of them.
        if stack.property(&["Parameters"]).is_some_and(|one| !matches!(one.kind, ValueKind::Map(_))) {
            return Self::default();
        }
        let mut given = Self { file: Some(outer.file), is_of_stack: true, ..Self::default() };
        for field in stack.property(&["Parameters"]).map(Value::fields).unwrap_or_default() {
            let choice = match Text::of(&field.value, outer).plain() {
                Some(text) => Choice::Text(text.to_owned()),
                None => Choice::Previous,
            };
            given.values.insert(field.name, (choice, field.value.range));
        }
        given
    }

    /// The values, for comparison.
    pub(crate) fn known(&self) -> Known {
        let mut known: Known = self
            .values
            .iter()
            .map(|(name, (choice, _))| match choice {
                Choice::Text(text) => (*name, Some(text.clone())),
                Choice::Previous => (*name, None),
            })
            .collect();
        known.sort();
        known
    }

    /// Whether a parameter has its default.
    pub(crate) fn leaves_default(&self, name: Symbol) -> bool {
        self.is_of_stack && !self.values.contains_key(&name)
    }

    /// Reads a file: a list of `ParameterKey` and `ParameterValue`, a list of `Key=Value`, or a mapping under `Parameters`.
    pub fn read(file: FileId, sources: &Sources) -> Self {
        let document = setpoint_data::read(file, sources.file(file).text());
        let mut given = Self { file: Some(file), problems: document.diagnostics, ..Self::default() };
        let Some(root) = document.root else {
            if given.problems.is_empty() {
                given.refuse(Range::default());
            }
            return given;
        };
        let named = ["Parameters", "parameters"].iter().find_map(|name| root.get(name));
        match named {
            Some(section) if section.is_mapping() => {
                for Entry { key, value } in section.entries() {
                    match key.text() {
                        Some(name) => {
                            given.add(name, value.text().map(|text| Choice::Text(text.to_owned())), key);
                        }
                        None => given.refuse(key.range),
                    }
                }
            }
            None if root.is_sequence() => root.items().iter().for_each(|item| given.add_item(item)),
            _ => given.refuse(root.range),
        }
        given
    }

    fn add_item(&mut self, item: &Node) {
        if let Some((name, value)) = item.text().and_then(|text| text.split_once('=')) {
            return self.add(name, Some(Choice::Text(value.to_owned())), item);
        }
        let text = |key: &str| item.get(key).and_then(Node::text);
        let is_previous = text("UsePreviousValue").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let choice = match text("ParameterValue") {
            Some(value) if !is_previous => Some(Choice::Text(value.to_owned())),
            None if is_previous => Some(Choice::Previous),
            _ => None,
        };
        match text("ParameterKey") {
            Some(name) => self.add(name, choice, item),
            None => self.refuse(item.range),
        }
    }

    fn add(&mut self, name: &str, choice: Option<Choice>, place: &Node) {
        let Some(choice) = choice else { return self.refuse(place.range) };
        if self.values.insert(Symbol::new(name), (choice, place.range)).is_some() {
            let message = format!("the parameter `{name}` has two values");
            self.problems.extend(self.finding(message, place.range));
        }
    }

    fn refuse(&mut self, range: Range) {
        let message = "this is no value of a parameter: write a list of `ParameterKey` and `ParameterValue`, a list of \
                       `Key=Value`, or a mapping under `Parameters`";
        self.problems.extend(self.finding(message.to_owned(), range));
    }

    fn finding(&self, message: String, range: Range) -> Option<Diagnostic> {
        let place = range.in_file(self.file?);
        Some(Diagnostic::new(Rule::InvalidValue, message).severity(Severity::Error).at(place))
    }

    pub(crate) fn value_of(&self, name: &str) -> Option<&str> {
        match self.values.get(&Symbol::new(name)) {
            Some((Choice::Text(text), _)) => Some(text),
            _ => None,
        }
    }

    /// Finds values of no parameter, where several templates take some of the values.
    pub(crate) fn unused(&self, is_used: &dyn Fn(Symbol) -> bool) -> Vec<Diagnostic> {
        let unused = self.values.iter().filter(|(name, _)| !is_used(**name));
        let told = unused.filter_map(|(name, (_, range))| {
            self.finding(format!("no template has a parameter `{name}`"), *range)
        });
        told.collect()
    }

    /// Finds what CloudFormation refuses before it creates anything: values of no parameter, values that a parameter does not
    /// take, and parameters without a value.
    pub(crate) fn check(&self, template: &Template) -> Vec<Diagnostic> {
        let Some(file) = self.file else { return Vec::new() };
        let mut out = Vec::new();
        for (name, (choice, range)) in &self.values {
            let message = match (template.parameters.get(name), choice) {
                (None, _) if !self.is_shared && !self.is_of_stack => {
                    format!("the template has no parameter `{name}`")
                }
                (Some(parameter), Choice::Text(value)) if !takes(parameter, value) => {
                    format!("the parameter `{name}` does not take this value")
                }
                _ => continue,
            };
            out.extend(self.finding(message, *range));
        }
        // What a nested stack lacks is told where it stands.
        for (name, parameter) in template.parameters.iter().filter(|_| !self.is_of_stack) {
            if parameter.default.is_none() && !self.values.contains_key(name) {
                let message =
                    format!("the parameter `{name}` has no default, and the file gives it no value");
                let finding = Diagnostic::new(Rule::InvalidValue, message).severity(Severity::Error);
                let finding = finding.at(template.span(parameter.range));
                out.push(finding.with_label(Range::default().in_file(file), "its value is missing here"));
            }
        }
        out
    }
}

fn takes(parameter: &Parameter, value: &str) -> bool {
    parameter.split(value).iter().all(|one| parameter.admits(one))
}
