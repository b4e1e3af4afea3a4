//! Values of parameters from a file, in the forms of the AWS command line and of CodePipeline.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Range, Rule, Severity, Sources, Symbol};

use crate::template::{Parameter, Template};

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
}

impl Given {
    /// Reads a file: a list of `ParameterKey` and `ParameterValue`, a list of `Key=Value`, or a mapping under `Parameters`.
    pub fn read(file: FileId, sources: &Sources) -> Self {
        let document = setpoint_data::read(file, sources.file(file).text());
        let mut given = Self { file: Some(file), problems: document.diagnostics, ..Self::default() };
        let Some(root) = document.root else { return given };
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

    /// Finds what CloudFormation refuses before it creates anything: values of no parameter, values that a parameter does not
    /// take, and parameters without a value.
    pub(crate) fn check(&self, template: &Template) -> Vec<Diagnostic> {
        let Some(file) = self.file else { return Vec::new() };
        let mut out = Vec::new();
        for (name, (choice, range)) in &self.values {
            let message = match (template.parameters.get(name), choice) {
                (None, _) if !self.is_shared => format!("the template has no parameter `{name}`"),
                (Some(parameter), Choice::Text(value)) if !takes(parameter, value) => {
                    format!("the parameter `{name}` does not take this value")
                }
                _ => continue,
            };
            out.extend(self.finding(message, *range));
        }
        for (name, parameter) in &template.parameters {
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
