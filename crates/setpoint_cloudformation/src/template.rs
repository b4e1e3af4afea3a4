//! A template: its sections, each with its place.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_data::Node;
use setpoint_source::{Diagnostic, FileId, Range, Rule, Span, Symbol};

use crate::foreach;
use crate::sam;
use crate::value::{Value, ValueKind};

pub(crate) type Table<V> = IndexMap<Symbol, V, FxBuildHasher>;

#[derive(Debug)]
pub struct Template {
    pub file: FileId,
    pub text: Arc<str>,
    pub parameters: Table<Parameter>,
    /// Map, first key, second key.
    pub mappings: Table<Table<Table<Value>>>,
    pub conditions: Table<(Range, Value)>,
    /// The `Rules` section: conditions of each rule and its assertions.
    pub rules: Vec<TemplateRule>,
    pub resources: Table<Resource>,
    pub outputs: Value,
    pub transforms: Vec<Symbol>,
    /// Where resources stand that another tool puts in before the template is deployed.
    pub modules: Vec<Range>,
    /// What a transform lets wait for what.
    pub made_edges: Vec<crate::sam::Made>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug)]
pub struct Parameter {
    pub range: Range,
    pub kind: Arc<str>,
    pub default: Option<Arc<str>>,
    pub allowed: Vec<Arc<str>>,
}

#[derive(Debug)]
pub struct TemplateRule {
    pub condition: Option<Value>,
    pub assertions: Vec<Value>,
}

#[derive(Debug)]
pub struct Resource {
    pub name: Symbol,
    pub name_range: Range,
    pub range: Range,
    pub kind: Symbol,
    /// The key and the value of `Type`.
    pub type_ranges: (Range, Range),
    /// The whole value of `DependsOn`.
    pub depends_range: Option<Range>,
    pub condition: Option<(Symbol, Range)>,
    pub depends_on: Vec<(Symbol, Range)>,
    pub properties: Value,
    pub creation_policy: Option<Value>,
    pub deletion_policy: Option<Arc<str>>,
    /// Everything else that may hold references: metadata, update policy.
    pub others: Vec<Value>,
    /// Made by a transform out of the resource of this name.
    pub made_from: Option<Symbol>,
}

impl Resource {
    pub fn property(&self, path: &[&str]) -> Option<&Value> {
        self.properties.at(path)
    }

    /// Kept when the stack is deleted.
    pub fn is_retained(&self) -> bool {
        self.deletion_policy.as_deref().is_some_and(|policy| policy.starts_with("Retain"))
    }
}

impl Template {
    /// Reads a template. What is not understood is in the diagnostics; what is, stays.
    pub fn read(file: FileId, text: Arc<str>, root: &Node) -> Self {
        let mut template = Self {
            file,
            text,
            parameters: Table::default(),
            mappings: Table::default(),
            conditions: Table::default(),
            rules: Vec::new(),
            resources: Table::default(),
            outputs: Value { range: root.range, kind: ValueKind::Null },
            transforms: root.get("Transform").map(transforms).unwrap_or_default(),
            modules: Vec::new(),
            made_edges: Vec::new(),
            diagnostics: Vec::new(),
        };
        template.read_parameters(root);
        let root = foreach::expand(root, &template);
        template.read_mappings(&root);
        template.read_conditions(&root);
        template.read_resources(&root);
        if let Some(outputs) = root.get("Outputs") {
            template.outputs = Value::read(outputs);
        }
        template.read_globals(&root);
        sam::expand(&mut template);
        template
    }

    pub fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    fn read_parameters(&mut self, root: &Node) {
        for entry in root.get("Parameters").map(Node::entries).unwrap_or_default() {
            let Some(name) = entry.key.text() else { continue };
            let text = |key: &str| entry.value.get(key).and_then(Node::text).map(Arc::from);
            let allowed = entry.value.get("AllowedValues").map(Node::items).unwrap_or_default();
            let parameter = Parameter {
                range: entry.key.range,
                kind: text("Type").unwrap_or_else(|| "String".into()),
                default: text("Default"),
                allowed: allowed.iter().filter_map(|value| value.text().map(Arc::from)).collect(),
            };
            self.parameters.insert(Symbol::new(name), parameter);
        }
    }

    /// The `Globals` of the serverless transform hold for every resource of their type.
    fn read_globals(&mut self, root: &Node) {
        for entry in root.get("Globals").map(Node::entries).unwrap_or_default() {
            let kind = format!("AWS::Serverless::{}", entry.key.text().unwrap_or(""));
            let value = Value::read(&entry.value);
            for resource in self.resources.values_mut().filter(|resource| *resource.kind == *kind) {
                resource.others.push(value.clone());
            }
        }
    }

    fn read_mappings(&mut self, root: &Node) {
        let section = root.get("Mappings").map(Value::read);
        for map in section.iter().flat_map(Value::fields) {
            let mut first = Table::default();
            for outer in map.value.fields() {
                let second = outer.value.fields().iter().map(|inner| (inner.name, inner.value.clone()));
                first.insert(outer.name, second.collect());
            }
            self.mappings.insert(map.name, first);
        }
    }

    fn read_conditions(&mut self, root: &Node) {
        for entry in root.get("Conditions").map(Node::entries).unwrap_or_default() {
            if let Some(name) = entry.key.text() {
                self.conditions.insert(Symbol::new(name), (entry.key.range, Value::read(&entry.value)));
            }
        }
        for entry in root.get("Rules").map(Node::entries).unwrap_or_default() {
            let assertions = entry.value.get("Assertions").map(Node::items).unwrap_or_default();
            self.rules.push(TemplateRule {
                condition: entry.value.get("RuleCondition").map(Value::read),
                assertions: assertions.iter().filter_map(|one| one.get("Assert")).map(Value::read).collect(),
            });
        }
    }

    fn read_resources(&mut self, root: &Node) {
        for entry in root.get("Resources").map(Node::entries).unwrap_or_default() {
            let Some(text) = entry.key.text() else { continue };
            // A module of a template preprocessor stands for resources that are not in this file.
            if let Some(module) =
                entry.value.get("Type").filter(|kind| kind.tag.is_some() || kind.is_mapping())
            {
                self.modules.push(module.range);
                continue;
            }
            let name = Symbol::new(text);
            if !entry.value.is_mapping() {
                if text != "Fn::Transform" && !text.starts_with("Fn::ForEach::") {
                    let message = format!("the resource `{text}` is not a mapping with a `Type`");
                    self.diagnostics.push(
                        Diagnostic::new(Rule::MalformedTemplate, message).at(self.span(entry.value.range)),
                    );
                }
                continue;
            }
            let type_entry = entry.value.entry("Type");
            let Some((type_entry, kind)) = type_entry.and_then(|entry| Some((entry, entry.value.text()?)))
            else {
                if text != "Fn::Transform" {
                    let message = format!("the resource `{text}` has no `Type`");
                    self.diagnostics.push(
                        Diagnostic::new(Rule::MalformedTemplate, message)
                            .at(self.span(entry.key.range))
                            .with_help("Give it a type, such as `Type: AWS::S3::Bucket`."),
                    );
                }
                continue;
            };
            let read = |key: &str| entry.value.get(key).map(Value::read);
            let depends_on = entry.value.get("DependsOn").map(names).unwrap_or_default();
            let resource = Resource {
                name,
                name_range: entry.key.range,
                range: entry.value.range,
                kind: Symbol::new(kind),
                type_ranges: (type_entry.key.range, type_entry.value.range),
                depends_range: entry.value.get("DependsOn").map(|node| node.range),
                condition: entry
                    .value
                    .get("Condition")
                    .and_then(|node| Some((Symbol::new(node.text()?), node.range))),
                depends_on,
                properties: read("Properties")
                    .unwrap_or(Value { range: entry.value.range, kind: ValueKind::Null }),
                creation_policy: read("CreationPolicy"),
                deletion_policy: entry.value.get("DeletionPolicy").and_then(Node::text).map(Arc::from),
                others: ["Metadata", "UpdatePolicy", "DeletionPolicy", "UpdateReplacePolicy", "Connectors"]
                    .into_iter()
                    .filter_map(read)
                    .collect(),
                made_from: None,
            };
            self.resources.insert(name, resource);
        }
    }
}

/// A name or a list of names, each with its place.
fn names(node: &Node) -> Vec<(Symbol, Range)> {
    let one = |node: &Node| Some((Symbol::new(node.text()?), node.range));
    if node.is_sequence() {
        node.items().iter().filter_map(one).collect()
    } else {
        one(node).into_iter().collect()
    }
}

fn transforms(node: &Node) -> Vec<Symbol> {
    let one = |node: &Node| node.text().or_else(|| node.get("Name").and_then(Node::text)).map(Symbol::new);
    if node.is_sequence() {
        node.items().iter().filter_map(one).collect()
    } else {
        one(node).into_iter().collect()
    }
}
