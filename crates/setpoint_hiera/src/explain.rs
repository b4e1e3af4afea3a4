//! The search as a tree, printed as `puppet lookup --explain` prints it.

use std::fmt::Write;

use setpoint_puppet_values::ruby::text::inspect;
use setpoint_puppet_values::{Data, Hash, Value};

/// What a step of the search was.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Root,
    /// `Searching for "key"`
    Top(String),
    InvalidKey(String),
    MergeSource(&'static str),
    ModuleNotFound(String),
    ModuleProviderNotFound(String),
    Interpolate(String),
    Merge {
        strategy: &'static str,
        options: Hash,
    },
    DataProvider {
        name: String,
        config: Option<String>,
    },
    Location {
        path: String,
        original: String,
        uri: bool,
    },
    SubLookup(String),
    Segment,
    Scope(String),
}

#[derive(Debug, Clone)]
enum Event {
    Found,
    FoundInOverrides,
    FoundInDefaults,
    Result,
    NotFound,
    LocationNotFound,
}

#[derive(Debug)]
struct Node {
    step: Step,
    parent: usize,
    branches: Vec<usize>,
    key: String,
    value: Value,
    event: Option<Event>,
    texts: Vec<String>,
}

/// Keeps what a search did.
#[derive(Debug)]
pub(crate) struct Explainer {
    nodes: Vec<Node>,
    current: usize,
}

impl Explainer {
    pub(crate) fn new() -> Self {
        let mut explainer = Self { nodes: Vec::new(), current: 0 };
        explainer.add(Step::Root);
        explainer
    }

    fn add(&mut self, step: Step) -> usize {
        self.nodes.push(Node {
            step,
            parent: self.current,
            branches: Vec::new(),
            key: String::new(),
            value: Value::UNDEF,
            event: None,
            texts: Vec::new(),
        });
        self.nodes.len() - 1
    }

    pub(crate) fn push(&mut self, step: Step) {
        let node = self.add(step);
        let current = self.current;
        if let Some(parent) = self.nodes.get_mut(current) {
            parent.branches.push(node);
        }
        self.current = node;
    }

    pub(crate) fn pop(&mut self) {
        self.current = self.nodes.get(self.current).map_or(0, |node| node.parent);
    }

    /// A step that has nothing below it.
    pub(crate) fn leaf(&mut self, step: Step) {
        self.push(step);
        self.pop();
    }

    fn report(&mut self, event: Event, key: Option<&str>, value: Option<&Value>) {
        let Some(node) = self.nodes.get_mut(self.current) else { return };
        node.event = Some(event);
        if let Some(key) = key {
            key.clone_into(&mut node.key);
        }
        if let Some(value) = value {
            node.value = value.clone();
        }
    }

    pub(crate) fn found(&mut self, key: &str, value: &Value) {
        self.report(Event::Found, Some(key), Some(value));
    }

    pub(crate) fn found_in_overrides(&mut self, key: &str, value: &Value) {
        self.report(Event::FoundInOverrides, Some(key), Some(value));
    }

    pub(crate) fn found_in_defaults(&mut self, key: &str, value: &Value) {
        self.report(Event::FoundInDefaults, Some(key), Some(value));
    }

    pub(crate) fn result(&mut self, value: &Value) {
        self.report(Event::Result, None, Some(value));
    }

    pub(crate) fn not_found(&mut self, key: &str) {
        self.report(Event::NotFound, Some(key), None);
    }

    pub(crate) fn location_not_found(&mut self) {
        self.report(Event::LocationNotFound, None, None);
    }

    pub(crate) fn text(&mut self, text: String) {
        if let Some(node) = self.nodes.get_mut(self.current) {
            node.texts.push(text);
        }
    }

    /// The whole search.
    pub(crate) fn explain(&self) -> String {
        let mut out = String::new();
        if let Some(root) = self.nodes.first() {
            self.branches(root, "", &mut out);
            texts(root, "", &mut out);
        }
        out
    }

    fn branches(&self, node: &Node, indent: &str, out: &mut String) {
        for &branch in &node.branches {
            self.dump(branch, indent, out);
        }
    }

    fn dump(&self, at: usize, indent: &str, out: &mut String) {
        let Some(node) = self.nodes.get(at) else { return };
        let inner = format!("{indent}  ");
        match &node.step {
            Step::Root => {}
            Step::Top(key) => {
                let _ = writeln!(out, "{indent}Searching for \"{key}\"");
                self.branches(node, &inner, out);
            }
            Step::InvalidKey(key) => {
                let _ = writeln!(out, "{indent}Invalid key \"{key}\"");
            }
            Step::MergeSource(source) => {
                let _ = writeln!(out, "{indent}Using merge options from \"{source}\" hash");
            }
            Step::ModuleNotFound(name) => {
                let _ = writeln!(out, "{indent}Module \"{name}\" not found");
            }
            Step::ModuleProviderNotFound(name) => {
                let _ = writeln!(out, "{indent}Module data provider for module \"{name}\" not found");
            }
            Step::Interpolate(expression) => {
                let _ = writeln!(out, "{indent}Interpolation on \"{expression}\"");
                self.branches(node, &inner, out);
            }
            Step::Merge { strategy, options } => match node.branches.as_slice() {
                [] => {}
                [only] => self.dump(*only, indent, out),
                _ => {
                    let _ = writeln!(out, "{indent}Merge strategy {strategy}");
                    if !options.is_empty() {
                        let _ = write!(out, "{inner}Options: ");
                        dump_value(&Value::hash(options.clone()), &inner, out);
                        out.push('\n');
                    }
                    self.branches(node, &inner, out);
                    if matches!(node.event, Some(Event::Result)) {
                        let _ = write!(out, "{inner}Merged result: ");
                        dump_value(&node.value, &inner, out);
                        out.push('\n');
                    }
                }
            },
            Step::DataProvider { name, config } => {
                let _ = writeln!(out, "{indent}{name}");
                if let Some(config) = config {
                    let _ = writeln!(out, "{inner}Using configuration \"{config}\"");
                }
                self.branches(node, &inner, out);
                outcome(node, &inner, out);
            }
            Step::Location { path, original, uri } => {
                let (kind, lower) = if *uri { ("URI", "uri") } else { ("Path", "path") };
                let _ = writeln!(out, "{indent}{kind} \"{path}\"");
                let _ = writeln!(out, "{inner}Original {lower}: \"{original}\"");
                self.branches(node, &inner, out);
                if matches!(node.event, Some(Event::LocationNotFound)) {
                    let _ = writeln!(out, "{inner}{kind} not found");
                }
                outcome(node, &inner, out);
            }
            Step::SubLookup(key) => {
                let _ = writeln!(out, "{indent}Sub key: \"{key}\"");
                self.branches(node, &inner, out);
                outcome(node, &inner, out);
            }
            Step::Segment => outcome(node, indent, out),
            Step::Scope(name) => {
                let _ = writeln!(out, "{indent}{name}");
                self.branches(node, &inner, out);
                outcome(node, &inner, out);
            }
        }
    }
}

fn texts(node: &Node, indent: &str, out: &mut String) {
    for text in &node.texts {
        let _ = writeln!(out, "{indent}{text}");
    }
}

fn outcome(node: &Node, indent: &str, out: &mut String) {
    let found = match node.event {
        Some(Event::NotFound) => {
            let _ = writeln!(out, "{indent}No such key: \"{}\"", node.key);
            None
        }
        Some(Event::Found) => Some(""),
        Some(Event::FoundInOverrides) => Some(" in overrides"),
        Some(Event::FoundInDefaults) => Some(" in defaults"),
        _ => None,
    };
    if let Some(place) = found {
        let _ = write!(out, "{indent}Found key: \"{}\" value: ", node.key);
        dump_value(&node.value, indent, out);
        let _ = writeln!(out, "{place}");
    }
    texts(node, indent, out);
}

/// A value as the explanation shows it.
fn dump_value(value: &Value, indent: &str, out: &mut String) {
    let inner = format!("{indent}  ");
    match &value.data {
        Data::Hash(entries) if entries.is_empty() => out.push_str("{}"),
        Data::Array(items) if items.is_empty() => out.push_str("[]"),
        Data::Hash(entries) => {
            let mut separator = "{\n";
            for (key, entry) in entries.iter() {
                let _ = write!(out, "{separator}{inner}");
                dump_value(&key.0, &inner, out);
                out.push_str(" => ");
                dump_value(entry, &inner, out);
                separator = ",\n";
            }
            let _ = write!(out, "\n{indent}}}");
        }
        Data::Array(items) => {
            let mut separator = "[\n";
            for item in items.iter() {
                let _ = write!(out, "{separator}{inner}");
                dump_value(item, &inner, out);
                separator = ",\n";
            }
            let _ = write!(out, "\n{indent}]");
        }
        Data::Opaque(opaque) => {
            let _ = write!(out, "(not known: {})", opaque.reason);
        }
        _ => out.push_str(&inspect(value)),
    }
}
