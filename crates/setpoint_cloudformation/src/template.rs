//! A template: its sections, each with its place.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_data::{Entry, Node};
use setpoint_source::{FileId, Range, Span, Symbol};

use crate::omission::{Omission, Omitted};
use crate::parameters::Given;
use crate::value::{Value, ValueKind, scalar_text};
use crate::{artifacts, foreach, functions, patterns, properties, sam};

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
    /// The values that it may have, if they are listed.
    pub allowed: Vec<Arc<str>>,
    /// Whether its value is known: `default` has it.
    pub(crate) is_given: bool,
    bounds: Bounds,
}

/// What a parameter says of its values beside listing them.
#[derive(Debug, Default)]
struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
    shortest: Option<f64>,
    longest: Option<f64>,
    pattern: Option<fancy_regex::Regex>,
}

impl Parameter {
    /// Whether the value is the name of an entry of the parameter store; what the entry holds is not in the template.
    pub(crate) fn is_stored(&self) -> bool {
        self.kind.contains("SSM::Parameter::Value")
    }

    pub(crate) fn is_list(&self) -> bool {
        self.kind.contains("CommaDelimitedList")
            || self.kind.starts_with("List<")
            || self.kind.contains("<List<")
    }

    /// The one value that it can have.
    pub(crate) fn only_value(&self) -> Option<Arc<str>> {
        match self.allowed.as_slice() {
            _ if self.is_stored() => None,
            _ if self.is_given => self.default.clone(),
            [only] => Some(Arc::clone(only)),
            _ => None,
        }
    }

    /// The values that it can have, if they are known.
    pub(crate) fn values(&self) -> Option<Vec<Arc<str>>> {
        let listed = || (!self.allowed.is_empty() && !self.is_stored()).then(|| self.allowed.clone());
        self.only_value().map(|only| vec![only]).or_else(listed)
    }

    /// Whether it can have this value: false only if what it says of its values excludes it.
    pub(crate) fn admits(&self, value: &str) -> bool {
        if self.is_stored() {
            return true;
        }
        let is_number = ["Number", "List<Number>"].contains(&&*self.kind);
        let parsed = value.trim().parse::<f64>();
        let fits_number = !is_number
            || parsed.as_ref().is_ok_and(|&parsed| {
                self.bounds.least.is_none_or(|least| parsed >= least)
                    && self.bounds.most.is_none_or(|most| parsed <= most)
            });
        let length = value.chars().count() as f64;
        let fits_length = &*self.kind != "String"
            || (self.bounds.shortest.is_none_or(|least| length >= least)
                && self.bounds.longest.is_none_or(|most| length <= most));
        let is_listed = self.allowed.is_empty()
            || self
                .allowed
                .iter()
                .any(|one| &**one == value || (is_number && one.parse::<f64>().ok() == parsed.clone().ok()));
        let matches = |pattern: &fancy_regex::Regex| pattern.is_match(value).unwrap_or(true);
        fits_number && fits_length && is_listed && self.bounds.pattern.as_ref().is_none_or(matches)
    }

    /// The single values of a text: those of a list, or the text itself.
    pub(crate) fn split<'t>(&self, value: &'t str) -> Vec<&'t str> {
        if self.is_list() { value.split(',').map(str::trim).collect() } else { vec![value] }
    }
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
    pub update_replace_policy: Option<Arc<str>>,
    /// Everything else that may hold references: metadata, update policy.
    pub others: Vec<Value>,
    /// What the serverless transform connects it with.
    pub(crate) connectors: Option<Value>,
    /// Made by a transform out of the resource of this name.
    pub made_from: Option<Symbol>,
    /// The transform makes it out of a type of its own.
    pub(crate) is_serverless: bool,
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

/// How many entries a section may have, as AWS documents it.
const QUOTAS: [(&str, usize); 4] =
    [("Resources", 500), ("Parameters", 200), ("Outputs", 200), ("Mappings", 200)];

/// Which functions a template has: those of the language extensions only with their transform. A macro may replace what it
/// does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Plain,
    Extended,
}

/// Types whose resources can leave a snapshot behind.
const SNAPSHOTS: [&str; 9] = [
    "AWS::DocDB::DBCluster",
    "AWS::EC2::Volume",
    "AWS::ElastiCache::CacheCluster",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElastiCache::ServerlessCache",
    "AWS::Neptune::DBCluster",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::Redshift::Cluster",
];

/// The update policies that AWS documents.
const UPDATE_POLICIES: [&str; 8] = [
    "AutoScalingReplacingUpdate",
    "AutoScalingRollingUpdate",
    "AutoScalingScheduledAction",
    "CodeDeployLambdaAliasUpdate",
    "EnableVersionUpgrade",
    "StartAfterUpdate",
    "StopBeforeUpdate",
    "UseOnlineResharding",
];

/// Types with a creation policy.
const CREATION_POLICIES: [&str; 4] = [
    "AWS::AppStream::Fleet",
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::CloudFormation::WaitCondition",
    "AWS::EC2::Instance",
];

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
    pub(crate) fn read(file: FileId, text: Arc<str>, root: &Node, given: &Given) -> Self {
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
        template.read_parameters(root, given);
        let dialect = template.dialect();
        if dialect == Dialect::Plain {
            functions::refuse_loops(root, &mut template.omissions);
        }
        let written = root;
        let root = foreach::expand(root, &template.parameters, &mut template.omissions);
        template.check_any_left(written, &root);
        for name in MAPPINGS {
            if let Some(section) = root.get(name) {
                functions::check(section, name, dialect, &mut template.omissions);
                template.check_names(name, section);
            }
        }
        if let Some(resources) = root.get("Resources") {
            let is_transformed = template.has_macro() || template.is_serverless();
            functions::refuse_nulls(resources, is_transformed, &mut template.omissions);
        }
        template.read_hooks(&root);
        template.read_mappings(&root);
        template.read_conditions(&root);
        template.read_resources(&root);
        template.read_outputs(&root);
        template.check_shared_names();
        template.read_globals(&root);
        properties::check(&mut template);
        sam::known::check(&mut template);
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

    /// Whether code or text that is not here takes part in making the template.
    pub(crate) fn has_macro(&self) -> bool {
        self.omissions.iter().any(|one| matches!(one.what, Omitted::Transform(_) | Omitted::Include))
    }

    /// Which functions there are.
    fn dialect(&self) -> Dialect {
        if self.has_macro() || self.transforms.iter().any(|name| &**name == "AWS::LanguageExtensions") {
            Dialect::Extended
        } else {
            Dialect::Plain
        }
    }

    /// A name that a parameter and a resource have means neither.
    fn check_shared_names(&mut self) {
        let both = self.resources.values().filter(|one| self.parameters.contains_key(&one.name));
        let found: Vec<(String, Range)> = both
            .map(|one| {
                let words = format!(
                    "`{}` is a parameter and a resource: CloudFormation refuses the template",
                    one.name
                );
                (words, one.name_range)
            })
            .collect();
        for (words, range) in found {
            self.omit(Omitted::Refused(words), range);
        }
    }

    /// Looks at the names of a section, and at how many there are. A macro may change them.
    fn check_names(&mut self, section: &'static str, node: &Node) {
        if self.has_macro() {
            return;
        }
        let is_name = |text: &str| {
            (1..=255).contains(&text.len()) && text.chars().all(|letter| letter.is_ascii_alphanumeric())
        };
        for Entry { key, value } in node.entries() {
            let Some(text) = key.text().filter(|text| !text.starts_with("Fn::")) else { continue };
            let name = Symbol::new(text);
            match section {
                "Resources" | "Parameters" | "Outputs" | "Mappings" if !is_name(text) => {
                    self.omit(Omitted::Name(section, name), key.range);
                }
                // AWS's own templates have names such as `Is-EC2-VPC` and `Zones&Routes` here.
                "Conditions" | "Rules" if !text.split(['-', '_', '.', '&']).all(is_name) => {
                    let words = format!("AWS documents only letters and digits for a name in `{section}`");
                    self.omit(Omitted::Unmodelled(words), key.range);
                }
                _ => {}
            }
            for column in value.entries().iter().flat_map(|row| row.value.entries()) {
                if section == "Mappings"
                    && let Some(text) = column.key.text().filter(|text| !is_name(text))
                {
                    self.omit(Omitted::Name(section, Symbol::new(text)), column.key.range);
                }
            }
        }
        let count = node.entries().len();
        if let Some((_, most)) = QUOTAS.iter().find(|(name, most)| *name == section && count > *most) {
            let words =
                format!("AWS accepts {count} entries in `{section}`, where it had documented {most} at most");
            self.omit(Omitted::Assumption(words), node.range);
        }
    }

    /// Hooks act on updates, and transforms make resources for them.
    fn read_hooks(&mut self, root: &Node) {
        for Entry { key, .. } in root.get("Hooks").map(Node::entries).unwrap_or_default() {
            let words = format!(
                "the hook `{}` may add resources and decide over updates",
                key.text().unwrap_or_default()
            );
            self.omit(Omitted::Unmodelled(words), key.range);
        }
    }

    /// Whether the serverless transform is applied.
    pub(crate) fn is_serverless(&self) -> bool {
        self.transforms.iter().any(|name| name.starts_with("AWS::Serverless"))
    }

    pub(crate) fn omit(&mut self, what: Omitted, range: Range) {
        self.omissions.push(Omission::new(what, range));
    }

    /// Returns whether a description has the shape of one. It may be too long beside that.
    fn read_description(&mut self, value: &Node) -> bool {
        const MAX_BYTES: usize = 1024;
        let Some(text) = value.text().filter(|_| !value.is_null()) else { return false };
        if text.len() > MAX_BYTES {
            let words =
                format!("the description has {} bytes, and CloudFormation takes {MAX_BYTES}", text.len());
            self.omit(Omitted::Refused(words), value.range);
        }
        true
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
                "Description" => self.read_description(value),
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
                let wanted = match known {
                    Some("AWSTemplateFormatVersion") => "\"2010-09-09\"",
                    Some("Description") => "a text",
                    Some("Transform") => "the name of a transform, or a list of names",
                    _ => "a mapping",
                };
                self.omit(Omitted::Section(known.unwrap_or_default(), wanted), key.range.to(value.range));
            }
        }
        let resources = root.get("Resources");
        if resources.is_none_or(|section| section.entries().is_empty()) {
            let place = root.entries().first().map_or(root.range, |first| first.key.range);
            self.omit(Omitted::Resources, resources.map_or(place, |section| section.range));
        }
    }

    /// Records that loops over nothing leave no resource. A loop that was not unrolled may make some.
    fn check_any_left(&mut self, written: &Node, root: &Node) {
        let is_empty = |root: &Node| root.get("Resources").is_none_or(|section| section.entries().is_empty());
        if is_empty(root) && !is_empty(written) && !self.omissions.iter().any(Omission::leaves_out_resource) {
            let place = root.entry("Resources").map_or(root.range, |section| section.key.range);
            self.omit(Omitted::Resources, place);
        }
    }

    /// Reads one name or a list of names of transforms; false if it is neither.
    fn read_transforms(&mut self, node: &Node) -> bool {
        let one = std::slice::from_ref(node);
        let mut is_well_formed = true;
        for item in if node.is_sequence() { node.items() } else { one } {
            let named = if item.is_mapping() { item.get("Name") } else { Some(item) };
            let name = named.filter(|node| !is_number(node)).and_then(Node::text);
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

    fn read_parameters(&mut self, root: &Node, given: &Given) {
        for Entry { key, value } in root.get("Parameters").map(Node::entries).unwrap_or_default() {
            let Some(name) = key.text().map(Symbol::new) else { continue };
            let text = |key: &str| value.get(key).and_then(scalar_text);
            let allowed = value.get("AllowedValues");
            let kind = text("Type");
            let is_list = allowed.is_none_or(|node| {
                node.is_sequence()
                    && !node.items().is_empty()
                    && node.items().iter().all(|one| one.text().is_some())
            });
            let is_known = kind.as_deref().is_some_and(is_parameter_type);
            let bounds = read_bounds(value);
            let is_well_bounded = bounds.is_some();
            let has_type = kind.is_some();
            // All that a parameter says is text, a number or a flag, but the list of its values.
            let is_plain = value.entries().iter().all(|entry| {
                let is_core = entry.value.tag.as_deref().is_none_or(|tag| tag.starts_with('!'));
                let is_other = |key: &str| key == "AllowedValues" || !PARAMETER_ATTRIBUTES.contains(&key);
                entry.key.text().is_some_and(is_other) || (entry.value.text().is_some() && is_core)
            });
            let allowed = allowed.map(Node::items).unwrap_or_default();
            let mut parameter = Parameter {
                range: key.range,
                kind: kind.unwrap_or_else(|| "String".into()),
                default: text("Default"),
                allowed: allowed.iter().filter_map(scalar_text).collect(),
                is_given: false,
                bounds: bounds.unwrap_or_default(),
            };
            let refused =
                |default: &&Arc<str>| !parameter.split(default).iter().all(|one| parameter.admits(one));
            let fault = if !has_type {
                Some("has no `Type`".to_owned())
            } else if !is_known {
                Some(format!("has the type `{}`, which CloudFormation does not have", parameter.kind))
            } else if !is_list {
                Some("must have a list of one or more texts as `AllowedValues`".to_owned())
            } else if !is_plain {
                Some("has an attribute that is no text, number or flag".to_owned())
            } else if !is_well_bounded {
                Some("has a bound that is no number".to_owned())
            } else {
                let refused = parameter.default.as_ref().filter(refused);
                refused.map(|default| format!("does not allow its own default `{default}`"))
            };
            if let Some(fault) = fault {
                self.omit(Omitted::Entry("Parameters", name, fault), key.range);
            }
            if let Some(pattern) = value.entry("AllowedPattern")
                && parameter.bounds.pattern.is_none()
                && pattern.value.text().is_some()
            {
                let words =
                    format!("the `AllowedPattern` of `{name}` is no regular expression that is known here");
                self.omit(Omitted::Unmodelled(words), pattern.value.range);
            }
            if is_known && !is_documented_parameter_type(&parameter.kind) {
                let words =
                    format!("the parameter type `{}` is not among those that AWS documents", parameter.kind);
                self.omit(Omitted::Unmodelled(words), key.range);
            }
            // Entries of AWS's own are in every account.
            if let Some(entry) =
                parameter.default.as_deref().filter(|entry| !entry.starts_with("/aws/service/"))
                && parameter.is_stored()
            {
                let words =
                    format!("the parameter store has `{entry}`, or another entry that `{name}` names");
                self.omit(Omitted::Assumption(words), key.range);
            }
            for Entry { key, .. } in value.entries() {
                let Some(attribute) = key.text().filter(|one| !PARAMETER_ATTRIBUTES.contains(one)) else {
                    continue;
                };
                self.omit(Omitted::UnknownAttribute(name, Symbol::new(attribute)), key.range);
            }
            if let Some(value) = given.value_of(&name) {
                parameter.default = Some(value.into());
                parameter.is_given = true;
            }
            parameter.is_given |= given.leaves_default(name) && parameter.default.is_some();
            self.parameters.insert(name, parameter);
        }
    }

    /// The `Globals` of the serverless transform hold for every resource of their type that does not refuse them.
    fn read_globals(&mut self, root: &Node) {
        if let Some(section) = root.entry("Globals")
            && !self.is_serverless()
            && !self.has_macro()
        {
            self.omit(Omitted::ServerlessType(Symbol::new("Globals")), section.key.range);
        }
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
            if is_hook(&resource.kind) {
                let words =
                    format!("the hook that `{}` registers lets the other resources be made", resource.name);
                found.push(Omission::new(Omitted::Assumption(words), resource.type_ranges.1));
            }
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
                let fault = "must have two levels of keys, and texts or lists of texts below them".to_owned();
                self.omit(Omitted::Entry("Mappings", map.name, fault), map.range);
            }
            self.mappings.insert(map.name, first);
        }
    }

    fn read_conditions(&mut self, root: &Node) {
        for Entry { key, value } in root.get("Conditions").map(Node::entries).unwrap_or_default() {
            let Some(name) = key.text().map(Symbol::new) else { continue };
            let value = Value::read(value);
            if !is_condition(&value) {
                let fault = "must be `Fn::And`, `Fn::Or`, `Fn::Not`, `Fn::Equals` or the name of a condition"
                    .to_owned();
                self.omit(Omitted::Entry("Conditions", name, fault), key.range);
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
                let fault = "must have a list of `Assertions`, each with a condition as `Assert`".to_owned();
                self.omit(Omitted::Entry("Rules", Symbol::new(name), fault), key.range);
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
            let is_known = value.entries().iter().all(|entry| {
                entry
                    .key
                    .text()
                    .is_some_and(|key| ["Description", "Value", "Export", "Condition"].contains(&key))
            });
            let is_export = value.get("Export").is_none_or(|export| {
                matches!(export.entries(), [only] if only.key.text() == Some("Name") && !only.value.is_null())
            });
            // An output is one text.
            let is_text = value.get("Value").is_none_or(|value| {
                !matches!(Value::read(value).kind, ValueKind::List(_) | ValueKind::Map(_))
            });
            let fault = match (has_value, is_named, is_known, is_export, is_text) {
                (false, ..) => "has no `Value`",
                (_, false, ..) => "must name one condition as `Condition`",
                (_, _, false, ..) => {
                    "has an attribute other than `Description`, `Value`, `Export` and `Condition`"
                }
                (_, _, _, false, _) => "must have a `Name`, and nothing else, as `Export`",
                (_, _, _, _, false) => "must have one text as `Value`",
                _ => continue,
            };
            self.omit(Omitted::Entry("Outputs", Symbol::new(name), fault.to_owned()), key.range);
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
            } else if !kind.contains("::") || kind.contains('#') {
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
                update_replace_policy: value.get("UpdateReplacePolicy").and_then(Node::text).map(Arc::from),
                others: ["Metadata", "UpdatePolicy", "DeletionPolicy", "UpdateReplacePolicy"]
                    .into_iter()
                    .filter_map(read)
                    .collect(),
                connectors: read("Connectors"),
                made_from: None,
                is_serverless: kind.starts_with("AWS::Serverless::"),
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
                // A macro may have attributes of its own; that it is there is told.
                if text == "Controls" {
                    let words = "a conformance pack has `Controls`, and a stack has none".to_owned();
                    self.omit(Omitted::Unmodelled(words), key.range);
                } else if !self.has_macro() {
                    self.omit(Omitted::UnknownAttribute(name, Symbol::new(text)), key.range);
                }
                continue;
            };
            let is_name =
                |node: &Node| node.text().is_some_and(|text| !text.is_empty() && node.tag.is_none());
            let (is_well_formed, wanted) = match attribute {
                // No function may give all of them.
                "Properties" => {
                    let is_call =
                        matches!(value.entries(), [only] if only.key.text().is_some_and(is_function));
                    (value.is_mapping() && value.tag.is_none() && !is_call, "a mapping")
                }
                "Metadata" | "CreationPolicy" | "UpdatePolicy" | "Connectors" => {
                    (value.is_mapping() && value.tag.is_none(), "a mapping")
                }
                "DependsOn" => {
                    let is_list = value.is_sequence() && value.items().iter().all(is_name);
                    (is_name(value) || is_list, "the name of a resource, or a list of names")
                }
                "Condition" => (is_name(value), "the name of a condition"),
                "DeletionPolicy" => {
                    (is_policy(attribute, value), "`Delete`, `Retain`, `RetainExceptOnCreate` or `Snapshot`")
                }
                "UpdateReplacePolicy" => (is_policy(attribute, value), "`Delete`, `Retain` or `Snapshot`"),
                _ => (true, ""),
            };
            let is_expression = value.tag.is_some() || value.is_mapping();
            if attribute.ends_with("Policy")
                && attribute != "CreationPolicy"
                && attribute != "UpdatePolicy"
                && is_expression
                && self.dialect() == Dialect::Plain
            {
                self.omit(Omitted::Undocumented(Symbol::new(attribute)), key.range);
            }
            let kind = resource.get("Type").and_then(Node::text).unwrap_or_default();
            let is_open = match (attribute, value.text()) {
                ("DeletionPolicy" | "UpdateReplacePolicy", Some("Snapshot")) => !SNAPSHOTS.contains(&kind),
                ("CreationPolicy", _) => !CREATION_POLICIES.contains(&kind),
                ("UpdatePolicy", _) => {
                    let keys = value.entries().iter().filter_map(|entry| entry.key.text());
                    !keys.into_iter().all(|key| UPDATE_POLICIES.contains(&key))
                }
                _ => false,
            };
            if is_open && kind.starts_with("AWS::") {
                let words = format!("AWS does not document this `{attribute}` for the type {kind}");
                self.omit(Omitted::Unmodelled(words), key.range);
            }
            if !is_well_formed {
                self.omit(Omitted::Attribute(name, attribute, wanted), key.range.to(value.range));
            } else if ["Connectors", "IgnoreGlobals"].contains(&attribute)
                && !self.is_serverless()
                && !self.has_macro()
            {
                self.omit(Omitted::ServerlessType(Symbol::new(attribute)), key.range);
            }
        }
    }
}

/// Whether a parameter may have a type of this name. Those of AWS may become more.
fn is_parameter_type(kind: &str) -> bool {
    let element = kind.strip_prefix("List<").and_then(|rest| rest.strip_suffix('>'));
    match element {
        Some(element) => ["Number", "String"].contains(&element) || element.starts_with("AWS::"),
        None => ["String", "Number", "CommaDelimitedList"].contains(&kind) || kind.starts_with("AWS::"),
    }
}

/// The names of AWS-specific parameter types that are documented, and `List<String>`, which AWS's cfn-lint lists.
fn is_documented_parameter_type(kind: &str) -> bool {
    let element = kind.strip_prefix("List<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(kind);
    let stored = element.strip_prefix("AWS::SSM::Parameter::Value<").and_then(|rest| rest.strip_suffix('>'));
    match stored {
        Some("String" | "CommaDelimitedList" | "List<String>") => true,
        Some(inner) => inner != element && is_documented_parameter_type(inner),
        None => [
            "String",
            "Number",
            "CommaDelimitedList",
            "AWS::EC2::AvailabilityZone::Name",
            "AWS::EC2::Image::Id",
            "AWS::EC2::Instance::Id",
            "AWS::EC2::KeyPair::KeyName",
            "AWS::EC2::SecurityGroup::GroupName",
            "AWS::EC2::SecurityGroup::Id",
            "AWS::EC2::Subnet::Id",
            "AWS::EC2::Volume::Id",
            "AWS::EC2::VPC::Id",
            "AWS::Route53::HostedZone::Id",
            "AWS::SSM::Parameter::Name",
        ]
        .contains(&element),
    }
}

/// What a parameter may say.
const PARAMETER_ATTRIBUTES: [&str; 11] = [
    "Type",
    "Default",
    "AllowedValues",
    "AllowedPattern",
    "ConstraintDescription",
    "Description",
    "MaxLength",
    "MaxValue",
    "MinLength",
    "MinValue",
    "NoEcho",
];

/// Reads what a parameter says of its values; nothing if a bound is no number.
fn read_bounds(parameter: &Node) -> Option<Bounds> {
    let text = |key: &str| parameter.get(key).and_then(Node::text);
    let number = |key: &str| text(key).map(|text| text.trim().parse::<f64>()).transpose().ok();
    // One that is read otherwise here excludes nothing.
    let pattern = text("AllowedPattern").and_then(patterns::compile);
    Some(Bounds {
        least: number("MinValue")?,
        most: number("MaxValue")?,
        shortest: number("MinLength")?,
        longest: number("MaxLength")?,
        pattern,
    })
}

/// Whether a scalar is a number for every reader of YAML and JSON.
fn is_number(node: &Node) -> bool {
    node.plain().is_some_and(|text| text.parse::<f64>().is_ok())
}

/// Whether a key calls a function that gives a value; a transform adds to what is there.
fn is_function(key: &str) -> bool {
    key == "Ref" || (key.starts_with("Fn::") && key != "Fn::Transform")
}

/// Whether a type registers code that decides whether resources may be made.
fn is_hook(kind: &str) -> bool {
    kind.strip_prefix("AWS::CloudFormation::").is_some_and(|rest| rest.contains("Hook"))
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
