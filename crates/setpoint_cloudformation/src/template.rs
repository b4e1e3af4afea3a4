//! A template: its sections, each with its place.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_data::{Entry, Node};
use setpoint_source::{FileId, Range, Span, Symbol};

use crate::omission::{Omission, Omitted};
use crate::value::{Value, ValueKind};
use crate::{artifacts, foreach, functions, properties, sam};

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
    /// What a transform lets wait for what.
    pub made_edges: Vec<crate::sam::Made>,
    /// The `Globals` of each serverless type.
    pub(crate) globals: Table<Vec<Value>>,
    /// Local files that are deployed with the stack.
    pub(crate) artifacts: Vec<artifacts::Artifact>,
    /// What was not read, not understood or cut off.
    pub omissions: Vec<Omission>,
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
    pub range: Range,
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
    /// The `Globals` that do not hold for it; `*` is all.
    pub(crate) ignored_globals: Option<Vec<Symbol>>,
}

impl Resource {
    pub fn property(&self, path: &[&str]) -> Option<&Value> {
        self.properties.at(path)
    }

    /// The path of the CDK construct that it was synthesised from.
    pub fn construct(&self) -> Option<&str> {
        self.others.iter().find_map(|value| value.get("aws:cdk:path")?.text())
    }

    /// The local file that the CDK uploads for a property, as the metadata names it.
    pub(crate) fn asset(&self, property: &str) -> Option<&str> {
        self.others.iter().find_map(|value| {
            let is_of_property = value.get("aws:asset:property")?.text() == Some(property);
            value.get("aws:asset:path")?.text().filter(|_| is_of_property)
        })
    }

    /// Kept when the stack is deleted.
    pub fn is_retained(&self) -> bool {
        self.deletion_policy.as_deref().is_some_and(|policy| policy.starts_with("Retain"))
    }
}

/// The sections that hold a mapping.
const MAPPINGS: [&str; 8] =
    ["Parameters", "Mappings", "Conditions", "Rules", "Resources", "Outputs", "Globals", "Hooks"];

/// The attributes that a resource may have. Those of the last line belong to transforms and modules.
const ATTRIBUTES: [&str; 13] = [
    "Type",
    "Properties",
    "DependsOn",
    "Condition",
    "CreationPolicy",
    "UpdatePolicy",
    "DeletionPolicy",
    "UpdateReplacePolicy",
    "Metadata",
    "Description",
    "Version",
    "Connectors",
    "IgnoreGlobals",
];

/// Transforms that add nothing to what is read here, or whose work is done here.
const TRANSFORMS: [&str; 5] = [
    "AWS::LanguageExtensions",
    "AWS::Serverless-2016-10-31",
    "AWS::SecretsManager-2020-07-23",
    "AWS::SecretsManager-2024-09-16",
    "AWS::CodeDeployBlueGreen",
];

impl Template {
    /// Reads a template. What is passed over is recorded; what is understood, stays.
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
            transforms: Vec::new(),
            made_edges: Vec::new(),
            globals: Table::default(),
            artifacts: Vec::new(),
            omissions: Vec::new(),
        };
        template.read_sections(root);
        template.read_parameters(root);
        let root = foreach::expand(root, &template.parameters, &mut template.omissions);
        for section in MAPPINGS.iter().filter_map(|name| root.get(name)) {
            functions::check(section, &mut template.omissions);
        }
        template.read_mappings(&root);
        template.read_conditions(&root);
        template.read_resources(&root);
        template.read_outputs(&root);
        template.read_globals(&root);
        properties::check(&mut template);
        template.artifacts = artifacts::find(&template);
        template.find_others();
        sam::expand(&mut template);
        // The copies that a loop makes stand at one place.
        template.omissions.sort_by_key(|omission| omission.range.start);
        template.omissions.dedup();
        template
    }

    pub fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    /// Whether something that was passed over may define names or resources.
    pub(crate) fn is_opaque(&self) -> bool {
        self.omissions.iter().any(Omission::hides_names)
    }

    /// Whether the serverless transform is applied.
    pub(crate) fn is_serverless(&self) -> bool {
        self.transforms.iter().any(|name| name.starts_with("AWS::Serverless"))
    }

    pub(crate) fn omit(&mut self, what: Omitted, range: Range) {
        self.omissions.push(Omission::new(what, range));
    }

    /// Looks at the shape of each section, and at the functions in it.
    fn read_sections(&mut self, root: &Node) {
        if !root.is_mapping() {
            return self.omit(Omitted::Template, root.range);
        }
        for Entry { key, value } in root.entries() {
            let Some(name) = key.text() else {
                self.omit(Omitted::Key, key.range);
                continue;
            };
            let known = MAPPINGS.into_iter().find(|known| *known == name);
            let is_well_formed = match name {
                "AWSTemplateFormatVersion" => value.text() == Some("2010-09-09"),
                "Description" => value.text().is_some() && !value.is_null(),
                "Metadata" => value.is_mapping(),
                "Transform" => self.read_transforms(value),
                _ if known.is_some() => value.is_mapping() && value.tag.is_none(),
                // Text that is put in beside the sections may be any of them.
                "Fn::Transform" => {
                    self.omit(Omitted::Include, key.range);
                    true
                }
                _ => {
                    self.omit(Omitted::UnknownSection(Symbol::new(name)), key.range);
                    true
                }
            };
            if !is_well_formed {
                let known = known.or(["AWSTemplateFormatVersion", "Description", "Metadata", "Transform"]
                    .into_iter()
                    .find(|known| *known == name));
                self.omit(Omitted::Section(known.unwrap_or_default()), key.range.to(value.range));
            }
        }
        let resources = root.get("Resources");
        if resources.is_none_or(|section| section.entries().is_empty()) {
            let place = root.entries().first().map_or(root.range, |first| first.key.range);
            self.omit(Omitted::Resources, resources.map_or(place, |section| section.range));
        }
    }

    /// Reads one name or a list of names of transforms; false if it is neither.
    fn read_transforms(&mut self, node: &Node) -> bool {
        let one = std::slice::from_ref(node);
        let mut is_well_formed = true;
        for item in if node.is_sequence() { node.items() } else { one } {
            let name = item.text().or_else(|| item.get("Name").and_then(Node::text));
            let Some(name) = name.filter(|name| !name.is_empty()) else {
                is_well_formed = false;
                continue;
            };
            let name = Symbol::new(name);
            self.transforms.push(name);
            if !TRANSFORMS.contains(&name.as_str()) {
                self.omit(Omitted::Transform(name), item.range);
            }
        }
        is_well_formed
    }

    fn read_parameters(&mut self, root: &Node) {
        for Entry { key, value } in root.get("Parameters").map(Node::entries).unwrap_or_default() {
            let Some(name) = key.text().map(Symbol::new) else { continue };
            let text = |key: &str| value.get(key).and_then(Node::text).map(Arc::from);
            let allowed = value.get("AllowedValues");
            let kind = text("Type");
            let is_list = allowed.is_none_or(|node| {
                node.is_sequence()
                    && !node.items().is_empty()
                    && node.items().iter().all(|one| one.text().is_some())
            });
            let is_text = value.entry("Default").is_none_or(|entry| entry.value.text().is_some());
            let is_known = kind.as_deref().is_some_and(is_parameter_type);
            if !is_known || !is_list || !is_text || !is_default_allowed(value) {
                self.omit(Omitted::Entry("Parameters", name), key.range);
            }
            let allowed = allowed.map(Node::items).unwrap_or_default();
            let parameter = Parameter {
                range: key.range,
                kind: kind.unwrap_or_else(|| "String".into()),
                default: text("Default"),
                allowed: allowed.iter().filter_map(|value| value.text().map(Arc::from)).collect(),
            };
            self.parameters.insert(name, parameter);
        }
    }

    /// The `Globals` of the serverless transform hold for every resource of their type that does not refuse them.
    fn read_globals(&mut self, root: &Node) {
        for entry in root.get("Globals").map(Node::entries).unwrap_or_default() {
            let kind = Symbol::new(&format!("AWS::Serverless::{}", entry.key.text().unwrap_or("")));
            let value = Value::read(&entry.value);
            for resource in self.resources.values_mut().filter(|resource| resource.kind == kind) {
                let refused = match &resource.ignored_globals {
                    Some(names) if names.iter().any(|name| &**name == "*") => continue,
                    Some(names) => names.as_slice(),
                    None => &[],
                };
                let mut value = value.clone();
                if let ValueKind::Map(fields) = &mut value.kind {
                    fields.retain(|field| !refused.contains(&field.name));
                }
                sam::merge(&mut resource.properties, &value);
            }
            self.globals.entry(kind).or_default().push(value);
        }
    }

    /// Records what other stacks and other people's code must do: exports, custom resources, types of the registry.
    fn find_others(&mut self) {
        let mut found = Vec::new();
        for resource in self.resources.values() {
            let is_aws = ["AWS::", "Alexa::"].iter().any(|prefix| resource.kind.starts_with(prefix));
            let is_custom = &*resource.kind == "AWS::CloudFormation::CustomResource";
            if (is_custom || !is_aws) && resource.kind.contains("::") && !resource.kind.ends_with("::MODULE")
            {
                let what = Omitted::Provider(resource.name, resource.kind);
                found.push(Omission::new(what, resource.type_ranges.1));
            }
        }
        let values =
            self.resources.values().flat_map(|one| std::iter::once(&one.properties).chain(&one.others));
        for value in values.chain([&self.outputs]) {
            value.each(&mut |value| {
                if let ValueKind::Call { name, argument } = &value.kind
                    && &**name == "Fn::ImportValue"
                {
                    let text = self.text.get(argument.range.start as usize..argument.range.end as usize);
                    let export = argument.text().or(text).unwrap_or_default().to_owned();
                    found.push(Omission::new(Omitted::Import(export), value.range));
                }
            });
        }
        self.omissions.append(&mut found);
    }

    fn read_mappings(&mut self, root: &Node) {
        let section = root.get("Mappings").map(Value::read);
        for map in section.iter().flat_map(Value::fields) {
            let mut first = Table::default();
            let mut is_well_formed = !map.value.fields().is_empty();
            for outer in map.value.fields() {
                let second = outer.value.fields().iter().map(|inner| (inner.name, inner.value.clone()));
                is_well_formed &= outer.value.fields().iter().all(|inner| is_mapped(&inner.value));
                is_well_formed &= !outer.value.fields().is_empty();
                first.insert(outer.name, second.collect());
            }
            if !is_well_formed && !map.name.starts_with("Fn::") {
                self.omit(Omitted::Entry("Mappings", map.name), map.range);
            }
            self.mappings.insert(map.name, first);
        }
    }

    fn read_conditions(&mut self, root: &Node) {
        for Entry { key, value } in root.get("Conditions").map(Node::entries).unwrap_or_default() {
            let Some(name) = key.text().map(Symbol::new) else { continue };
            let value = Value::read(value);
            if !is_condition(&value) {
                self.omit(Omitted::Entry("Conditions", name), key.range);
            }
            self.conditions.insert(name, (key.range, value));
        }
        self.find_circular_conditions();
        for Entry { key, value } in root.get("Rules").map(Node::entries).unwrap_or_default() {
            let assertions = value.get("Assertions").map(Node::items).unwrap_or_default();
            let asserted: Vec<Value> =
                assertions.iter().filter_map(|one| one.get("Assert")).map(Value::read).collect();
            let condition = value.get("RuleCondition").map(Value::read);
            let is_well_formed = !asserted.is_empty()
                && asserted.len() == assertions.len()
                && asserted.iter().chain(&condition).all(is_condition);
            if let Some(name) = key.text().filter(|_| !is_well_formed) {
                self.omit(Omitted::Entry("Rules", Symbol::new(name)), key.range);
            }
            self.rules.push(TemplateRule { range: key.range, condition, assertions: asserted });
        }
    }

    fn find_circular_conditions(&mut self) {
        let named: Vec<Vec<usize>> = self
            .conditions
            .values()
            .map(|(_, value)| {
                let mut out = Vec::new();
                value.each(&mut |part| out.extend(part.condition_named()));
                out.iter().filter_map(|name| self.conditions.get_index_of(name)).collect()
            })
            .collect();
        for circle in setpoint_diagram::components(named.len(), |node, at| named[node].get(at).copied()) {
            let [first, ..] = circle[..] else { continue };
            if (circle.len() > 1 || named[first].contains(&first))
                && let Some((&name, &(range, _))) = self.conditions.get_index(first)
            {
                self.omit(Omitted::CircularCondition(name), range);
            }
        }
    }

    fn read_outputs(&mut self, root: &Node) {
        let Some(section) = root.get("Outputs") else { return };
        for Entry { key, value } in section.entries() {
            let Some(name) = key.text().filter(|name| !name.starts_with("Fn::")) else { continue };
            let has_value = value.get("Value").is_some_and(|value| !value.is_null());
            let is_named = value.get("Condition").is_none_or(|condition| condition.text().is_some());
            if !has_value || !is_named {
                self.omit(Omitted::Entry("Outputs", Symbol::new(name)), key.range);
            }
        }
        self.outputs = Value::read(section);
    }

    fn read_resources(&mut self, root: &Node) {
        for Entry { key, value } in root.get("Resources").map(Node::entries).unwrap_or_default() {
            let Some(text) = key.text().filter(|text| !text.starts_with("Fn::")) else { continue };
            let name = Symbol::new(text);
            // A module of a template preprocessor stands for resources that are not in this file.
            if let Some(module) = value.get("Type").filter(|kind| kind.tag.is_some() || kind.is_mapping()) {
                self.omit(Omitted::Module, module.range);
                continue;
            }
            if !value.is_mapping() {
                self.omit(Omitted::Resource(name), value.range);
                continue;
            }
            let type_entry = value.entry("Type").and_then(|entry| Some((entry, entry.value.text()?)));
            let Some((type_entry, kind)) = type_entry else {
                self.omit(Omitted::Type(name), key.range);
                continue;
            };
            if self.resources.contains_key(&name) {
                self.omit(Omitted::Duplicate(name), key.range);
            }
            self.check_attributes(name, value);
            let kind = Symbol::new(kind);
            if kind.ends_with("::MODULE") {
                self.omit(Omitted::RegistryModule(kind), type_entry.value.range);
            } else if !kind.contains("::") {
                self.omit(Omitted::TypeName(kind), type_entry.value.range);
            }
            let read = |key: &str| value.get(key).map(Value::read);
            let resource = Resource {
                name,
                name_range: key.range,
                range: value.range,
                kind,
                type_ranges: (type_entry.key.range, type_entry.value.range),
                depends_range: value.get("DependsOn").map(|node| node.range),
                condition: value
                    .get("Condition")
                    .and_then(|node| Some((Symbol::new(node.text()?), node.range))),
                depends_on: value.get("DependsOn").map(names).unwrap_or_default(),
                properties: read("Properties").unwrap_or(Value { range: value.range, kind: ValueKind::Null }),
                creation_policy: read("CreationPolicy"),
                deletion_policy: value.get("DeletionPolicy").and_then(Node::text).map(Arc::from),
                others: ["Metadata", "UpdatePolicy", "DeletionPolicy", "UpdateReplacePolicy", "Connectors"]
                    .into_iter()
                    .filter_map(read)
                    .collect(),
                made_from: None,
                ignored_globals: value
                    .get("IgnoreGlobals")
                    .map(|node| names(node).into_iter().map(|(name, _)| name).collect()),
            };
            self.resources.insert(name, resource);
        }
    }

    /// Looks at the attributes of a resource: one with another name or shape may be an order that is not seen.
    fn check_attributes(&mut self, name: Symbol, resource: &Node) {
        for Entry { key, value } in resource.entries() {
            let Some(text) = key.text().filter(|text| !text.starts_with("Fn::")) else { continue };
            let Some(attribute) = ATTRIBUTES.into_iter().find(|known| *known == text) else {
                self.omit(Omitted::UnknownAttribute(name, Symbol::new(text)), key.range);
                continue;
            };
            let is_name =
                |node: &Node| node.text().is_some_and(|text| !text.is_empty() && node.tag.is_none());
            let is_well_formed = match attribute {
                "Properties" | "Metadata" | "CreationPolicy" | "UpdatePolicy" | "Connectors" => {
                    value.is_mapping() && value.tag.is_none()
                }
                "DependsOn" => is_name(value) || (value.is_sequence() && value.items().iter().all(is_name)),
                "Condition" => is_name(value),
                "DeletionPolicy" | "UpdateReplacePolicy" => is_policy(attribute, value),
                _ => true,
            };
            if !is_well_formed {
                self.omit(Omitted::Attribute(name, attribute), key.range.to(value.range));
            } else if attribute == "Connectors" {
                self.omit(Omitted::Serverless(Symbol::new(attribute)), key.range);
            }
        }
    }
}

/// Whether a parameter may have a type of this name.
fn is_parameter_type(kind: &str) -> bool {
    let element = kind.strip_prefix("List<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(kind);
    ["String", "Number", "CommaDelimitedList"].contains(&element) || element.starts_with("AWS::")
}

/// Whether the default of a parameter satisfies what the parameter says of its values.
fn is_default_allowed(parameter: &Node) -> bool {
    let text = |key: &str| parameter.get(key).and_then(Node::text);
    let number = |key: &str| text(key).map(|text| text.trim().parse::<f64>());
    let is_bound = |key: &str| number(key).is_none_or(|bound| bound.is_ok());
    if !["MinValue", "MaxValue", "MinLength", "MaxLength"].into_iter().all(is_bound) {
        return false;
    }
    let bound = |key: &str| number(key).and_then(Result::ok);
    let (Some(default), Some(kind)) = (text("Default"), text("Type")) else { return true };
    let values: Vec<&str> = match kind {
        "CommaDelimitedList" => default.split(',').map(str::trim).collect(),
        _ if kind.starts_with("List<") => default.split(',').map(str::trim).collect(),
        _ => vec![default],
    };
    let allowed = parameter.get("AllowedValues").map(Node::items).unwrap_or_default();
    let is_number = ["Number", "List<Number>"].contains(&kind);
    // The value of a name in the parameter store is not in the template.
    let is_stored = kind.contains("SSM::Parameter::Value");
    values.into_iter().all(|value| {
        let parsed = value.parse::<f64>();
        let fits_number = !is_number
            || parsed.as_ref().is_ok_and(|&parsed| {
                bound("MinValue").is_none_or(|least| parsed >= least)
                    && bound("MaxValue").is_none_or(|most| parsed <= most)
            });
        let length = value.chars().count() as f64;
        let fits_length = kind != "String"
            || (bound("MinLength").is_none_or(|least| length >= least)
                && bound("MaxLength").is_none_or(|most| length <= most));
        let is_listed = allowed.is_empty()
            || is_stored
            || allowed
                .iter()
                .filter_map(Node::text)
                .any(|one| one == value || (is_number && one.parse::<f64>().ok() == parsed.clone().ok()));
        fits_number && fits_length && is_listed
    })
}

/// Whether a value may be the policy that an attribute names. A function chooses one when the stack is deployed.
fn is_policy(attribute: &str, node: &Node) -> bool {
    match node.text().filter(|_| node.tag.is_none()) {
        Some("RetainExceptOnCreate") => attribute == "DeletionPolicy",
        Some(policy) => ["Delete", "Retain", "Snapshot"].contains(&policy),
        None => node.tag.is_some() || node.is_mapping(),
    }
}

/// Whether a value may stand in a mapping.
fn is_mapped(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Text(_) => true,
        ValueKind::List(items) => items.iter().all(is_mapped),
        _ => false,
    }
}

/// Whether a value is an expression that is true or false.
fn is_condition(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Call { name, argument } => match name.as_str() {
            "Fn::And" | "Fn::Or" | "Fn::Not" => argument.items().iter().all(is_condition),
            "Fn::Equals" | "Fn::Contains" | "Fn::EachMemberEquals" | "Fn::EachMemberIn" => true,
            "Condition" | "Fn::Transform" => true,
            _ => false,
        },
        ValueKind::Map(fields) => {
            matches!(fields.as_slice(), [only] if &*only.name == "Condition" && only.value.text().is_some())
        }
        ValueKind::Text(text) => matches!(&**text, "true" | "false"),
        _ => false,
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
