//! An update from one template to another: what is created, changed, replaced and deleted, in which order, and what
//! cannot come to its end.
//!
//! The order is that of the rule set `models/cloudformation-lifecycle.spm`: what is needed first, new resources before the
//! old ones are deleted.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Value as Json, json};
use setpoint_orchestra::concrete::{Ground, maximal_run, timeline};
use setpoint_orchestra::{InstanceBuilder, Model};
use setpoint_source::{Diagnostic, Rule, Severity, Symbol};

use crate::template::{Resource, Template};
use crate::text::Text;
use crate::types::{Effect, TypeFacts};
use crate::value::{Piece, Value, ValueKind};
use crate::{Analysis, naming};

/// What an update does to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Create,
    /// In place; these properties differ.
    Update(Vec<Symbol>),
    /// In place or by a new one: the table of types does not say what a change of these properties does.
    Unknown(Vec<Symbol>),
    /// The new one is created before the old one is deleted; these properties are the reason.
    Replace(Vec<Symbol>),
    Delete,
    /// Removed from the stack and kept.
    LetGo,
}

/// What becomes of the data of a resource that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Kept,
    Snapshot,
    Lost,
}

impl Change {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update(_) => "update",
            Self::Unknown(_) => "unknown",
            Self::Replace(_) => "replace",
            Self::Delete => "delete",
            Self::LetGo => "let go",
        }
    }

    fn properties(&self) -> &[Symbol] {
        match self {
            Self::Update(properties) | Self::Unknown(properties) | Self::Replace(properties) => properties,
            Self::Create | Self::Delete | Self::LetGo => &[],
        }
    }
}

type Changes = IndexMap<Symbol, Change, FxBuildHasher>;

/// One thing that happens, and the round in which it can happen at the earliest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deed {
    round: usize,
    rule: String,
    object: String,
}

#[derive(Debug)]
pub struct Update {
    changes: Changes,
    kinds: IndexMap<Symbol, Symbol, FxBuildHasher>,
    /// What else is known of a change, as sentences.
    remarks: IndexMap<Symbol, Vec<String>, FxBuildHasher>,
    deeds: Vec<Deed>,
    /// Whether both templates were read in full.
    is_whole: bool,
    pub findings: Vec<Diagnostic>,
}

/// The update of a stack from the old template to the new one. Conditions are taken to stay as they are.
pub fn update(old: &Analysis, new: &Analysis, lifecycle: &Model) -> Update {
    let changes = changes(&old.template, &new.template);
    let mut findings = Vec::new();
    refused(new, &mut findings);
    changed_types(&old.template, &new.template, &mut findings);
    taken_names(&old.template, &new.template, &changes, &mut findings);
    exports(&old.template, &new.template, &changes, &mut findings);
    let remarks = remarks(&old.template, &new.template, &changes);
    unknown_effects(&new.template, &changes, &mut findings);
    let deeds = order(old, new, &changes, lifecycle);
    let kinds = old
        .template
        .resources
        .values()
        .chain(new.template.resources.values())
        .map(|resource| (resource.name, resource.kind))
        .collect();
    Update { changes, kinds, remarks, deeds, is_whole: old.is_whole() && new.is_whole(), findings }
}

/// What CloudFormation refuses of the new template before it changes anything.
fn refused(new: &Analysis, out: &mut Vec<Diagnostic>) {
    let is_refused = |one: &&Diagnostic| {
        one.severity == Severity::Error && matches!(one.rule, Rule::DependencyCycle | Rule::UnknownReference)
    };
    out.extend(new.findings.iter().filter(is_refused).cloned());
}

/// Two templates, and the names whose definitions differ between them: what uses one of these may have another value though it
/// is written alike.
struct Definitions<'a> {
    old: &'a Template,
    new: &'a Template,
    mappings: Vec<Symbol>,
    parameters: Vec<Symbol>,
    conditions: Vec<Symbol>,
}

/// Whether a value is another one after the update.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Differs {
    No,
    Maybe,
    Yes,
}

impl<'a> Definitions<'a> {
    fn new(old: &'a Template, new: &'a Template) -> Self {
        let default = |template: &Template, name| template.parameters.get(&name)?.default.clone();
        let parameters = new.parameters.keys().copied();
        let parameters: Vec<Symbol> =
            parameters.filter(|name| default(old, *name) != default(new, *name)).collect();
        let mappings = new.mappings.keys().copied();
        let mappings = mappings.filter(|name| !same_mapping(old, new, *name)).collect();
        let mut out = Self { old, new, mappings, parameters, conditions: Vec::new() };
        // A condition that names one which differs, differs itself.
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for (name, (_, value)) in &new.conditions {
                let before = old.conditions.get(name).map(|(_, value)| value);
                let is_same = before.is_some_and(|before| before.same_as(value)) && !out.uses_changed(value);
                if !is_same && !out.conditions.contains(name) {
                    out.conditions.push(*name);
                    is_new = true;
                }
            }
        }
        out
    }

    /// Whether a value uses a definition that differs.
    fn uses_changed(&self, value: &Value) -> bool {
        let mut found = false;
        value.each(&mut |part| {
            found |= match &part.kind {
                ValueKind::Ref(name) => self.parameters.contains(name),
                ValueKind::Sub { pieces, .. } => pieces
                    .iter()
                    .any(|piece| matches!(piece, Piece::Ref(name) if self.parameters.contains(name))),
                ValueKind::Call { name, argument } if &**name == "Fn::FindInMap" => {
                    let named = argument.items().first().and_then(Value::text).map(Symbol::new);
                    named.map_or(!self.mappings.is_empty(), |name| self.mappings.contains(&name))
                }
                _ => part.condition_named().is_some_and(|name| self.conditions.contains(&name)),
            };
        });
        found
    }

    fn compare(&self, before: Option<&Value>, after: &Value) -> Differs {
        let Some(before) = before else { return Differs::Yes };
        let texts = (Text::of(before, self.old), Text::of(after, self.new));
        let plain = (texts.0.plain(), texts.1.plain());
        let is_scalar = |value: &Value| !matches!(value.kind, ValueKind::List(_) | ValueKind::Map(_));
        match plain {
            (Some(one), Some(two)) if is_scalar(before) && is_scalar(after) => {
                if one == two {
                    Differs::No
                } else {
                    Differs::Yes
                }
            }
            _ if !self.same_value(before, after) => Differs::Yes,
            _ if self.uses_changed(after) => Differs::Maybe,
            _ => Differs::No,
        }
    }

    /// Whether two values are written alike, or are the same text in other words.
    fn same_value(&self, before: &Value, after: &Value) -> bool {
        if before.same_as(after) {
            return true;
        }
        match (&before.kind, &after.kind) {
            (ValueKind::List(one), ValueKind::List(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| self.same_value(one, two))
            }
            (ValueKind::Map(one), ValueKind::Map(two)) => {
                one.len() == two.len()
                    && two.iter().all(|field| {
                        before.get(&field.name).is_some_and(|value| self.same_value(value, &field.value))
                    })
            }
            (ValueKind::List(_) | ValueKind::Map(_), _) | (_, ValueKind::List(_) | ValueKind::Map(_)) => {
                false
            }
            _ => Text::of(before, self.old) == Text::of(after, self.new),
        }
    }
}

fn same_mapping(old: &Template, new: &Template, name: Symbol) -> bool {
    let (Some(before), Some(after)) = (old.mappings.get(&name), new.mappings.get(&name)) else {
        return false;
    };
    before.len() == after.len()
        && after.iter().all(|(key, row)| {
            let Some(known) = before.get(key) else { return false };
            known.len() == row.len()
                && row.iter().all(|(key, value)| known.get(key).is_some_and(|known| known.same_as(value)))
        })
}

fn changes(old: &Template, new: &Template) -> Changes {
    let definitions = Definitions::new(old, new);
    let mut out = Changes::default();
    // A reference to what is replaced has another value, and that may replace more.
    let mut replaced_more = true;
    while std::mem::take(&mut replaced_more) {
        for resource in new.resources.values() {
            let change = match old.resources.get(&resource.name) {
                None => Some(Change::Create),
                Some(previous) if previous.kind != resource.kind => Some(Change::Replace(Vec::new())),
                Some(previous) => compared(&definitions, previous, resource, &out),
            };
            let Some(change) = change else { continue };
            let is_replaced = |change: Option<&Change>| matches!(change, Some(Change::Replace(_)));
            let is_unknown = |change: Option<&Change>| matches!(change, Some(Change::Unknown(_)));
            replaced_more |= is_replaced(Some(&change)) && !is_replaced(out.get(&resource.name));
            replaced_more |= is_unknown(Some(&change)) && out.get(&resource.name).is_none();
            out.insert(resource.name, change);
        }
    }
    for resource in old.resources.values().filter(|one| !new.resources.contains_key(&one.name)) {
        out.insert(resource.name, if resource.is_retained() { Change::LetGo } else { Change::Delete });
    }
    out
}

/// What differs between two resources of one name and type; `None` if nothing does.
fn compared(
    definitions: &Definitions<'_>,
    old: &Resource,
    new: &Resource,
    known: &Changes,
) -> Option<Change> {
    let mut differing: Vec<Symbol> = Vec::new();
    // These use a mapping, a condition or a default that differs.
    let mut redefined: Vec<Symbol> = Vec::new();
    // What these refer to may get another name.
    let mut may_differ: Vec<Symbol> = Vec::new();
    for field in new.properties.fields() {
        let differs = definitions.compare(old.properties.get(&field.name), &field.value);
        if differs == Differs::Yes || refers_to_replaced(&field.value, known) {
            differing.push(field.name);
        } else if differs == Differs::Maybe {
            redefined.push(field.name);
        } else if refers_to_unknown(&field.value, known) {
            may_differ.push(field.name);
        }
    }
    for field in old.properties.fields() {
        if new.properties.get(&field.name).is_none() {
            differing.push(field.name);
        }
    }
    // What a transform makes has values without names.
    let is_alike = |one: &[Value], two: &[Value]| {
        one.len() == two.len() && one.iter().zip(two).all(|(one, two)| definitions.same_value(one, two))
    };
    let is_made = new.made_from.is_some() && !matches!(new.properties.kind, ValueKind::Map(_));
    if is_made
        && !(definitions.same_value(&old.properties, &new.properties) && is_alike(&old.others, &new.others))
    {
        differing.push(Symbol::new("Properties"));
    }
    let condition = new.condition.map(|(name, _)| name);
    let is_conditional = old.condition.map(|(name, _)| name) != condition
        || condition.is_some_and(|name| definitions.conditions.contains(&name));
    if differing.is_empty() && may_differ.is_empty() && redefined.is_empty() {
        return is_conditional.then(|| Change::Unknown(vec![Symbol::new("Condition")]));
    }
    let facts = TypeFacts::of(&new.kind).filter(|_| !new.is_serverless && new.made_from.is_none());
    let effect = |property: &Symbol| facts.and_then(|facts| facts.effect(property));
    let with = |wanted: &[Option<Effect>], among: &[Symbol]| -> Vec<Symbol> {
        among.iter().copied().filter(|property| wanted.contains(&effect(property))).collect()
    };
    let replacing = with(&[Some(Effect::Replaces)], &differing);
    let mut unknown = with(&[Some(Effect::MayReplace), None], &differing);
    may_differ.extend(&redefined);
    unknown.extend(with(&[Some(Effect::Replaces), Some(Effect::MayReplace), None], &may_differ));
    differing.append(&mut redefined);
    if is_conditional {
        unknown.push(Symbol::new("Condition"));
    }
    Some(match (replacing.is_empty(), unknown.is_empty()) {
        (false, _) => Change::Replace(replacing),
        (true, false) => Change::Unknown(unknown),
        (true, true) if differing.is_empty() => return None,
        (true, true) => Change::Update(differing),
    })
}

/// Whether a value refers to a resource of which it is not known whether it is replaced.
fn refers_to_unknown(value: &Value, known: &Changes) -> bool {
    let mut found = false;
    value.each(&mut |part| {
        crate::graph::references(part, &mut |name, _| {
            found |= matches!(known.get(&name), Some(Change::Unknown(_)));
        });
    });
    found
}

/// Types that hold data of their users.
const STATEFUL: &[&str] = &[
    "AWS::Cassandra::Table",
    "AWS::Cognito::UserPool",
    "AWS::DocDB::DBCluster",
    "AWS::DynamoDB::GlobalTable",
    "AWS::DynamoDB::Table",
    "AWS::EC2::Volume",
    "AWS::ECR::Repository",
    "AWS::EFS::FileSystem",
    "AWS::ElastiCache::CacheCluster",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElastiCache::ServerlessCache",
    "AWS::Elasticsearch::Domain",
    "AWS::FSx::FileSystem",
    "AWS::KMS::Key",
    "AWS::Kinesis::Stream",
    "AWS::Logs::LogGroup",
    "AWS::Neptune::DBCluster",
    "AWS::OpenSearchService::Domain",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::Redshift::Cluster",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::SecretsManager::Secret",
    "AWS::Timestream::Table",
];

/// Properties whose change stops a resource for a while, as AWS documents it ("some interruptions").
const INTERRUPTING: &[(&str, &[&str])] = &[
    ("AWS::EC2::Instance", &["EbsOptimized", "InstanceType", "KernelId", "RamdiskId", "UserData"]),
    ("AWS::ElastiCache::CacheCluster", &["CacheNodeType", "EngineVersion", "NumCacheNodes"]),
    ("AWS::ElastiCache::ReplicationGroup", &["CacheNodeType", "EngineVersion"]),
    ("AWS::OpenSearchService::Domain", &["EngineVersion"]),
    ("AWS::RDS::DBCluster", &["EngineVersion", "Port"]),
    (
        "AWS::RDS::DBInstance",
        &[
            "AllocatedStorage",
            "DBInstanceClass",
            "DBParameterGroupName",
            "EngineVersion",
            "Port",
            "StorageType",
        ],
    ),
    ("AWS::Redshift::Cluster", &["ClusterType", "ClusterVersion", "NodeType", "NumberOfNodes"]),
];

/// What becomes of the data of the old resource; nothing if it stays, or has none.
fn fate(resource: &Resource, change: &Change) -> Option<Data> {
    let policy = match change {
        Change::Delete | Change::LetGo => resource.deletion_policy.as_deref(),
        Change::Replace(_) => resource.update_replace_policy.as_deref(),
        Change::Create | Change::Update(_) | Change::Unknown(_) => return None,
    };
    // Databases leave a snapshot unless they are told otherwise.
    let leaves_snapshot = match resource.kind.as_str() {
        "AWS::RDS::DBCluster" => true,
        "AWS::RDS::DBInstance" => resource.property(&["DBClusterIdentifier"]).is_none(),
        _ => false,
    };
    match policy {
        _ if !STATEFUL.contains(&resource.kind.as_str()) => None,
        Some(policy) if policy.starts_with("Retain") => Some(Data::Kept),
        Some("Snapshot") => Some(Data::Snapshot),
        None if leaves_snapshot => Some(Data::Snapshot),
        _ => Some(Data::Lost),
    }
}

fn remarks(
    old: &Template,
    new: &Template,
    changes: &Changes,
) -> IndexMap<Symbol, Vec<String>, FxBuildHasher> {
    let mut out: IndexMap<Symbol, Vec<String>, FxBuildHasher> = IndexMap::default();
    for (name, change) in changes {
        let mut words = Vec::new();
        if let Some(resource) = old.resources.get(name) {
            words.extend(fate(resource, change).map(|data| {
                let words = match data {
                    Data::Kept => "the old one and its data are kept",
                    Data::Snapshot => "a snapshot of its data is kept",
                    Data::Lost => "its data is lost",
                };
                words.to_owned()
            }));
        }
        if let Some(resource) = new.resources.get(name) {
            let facts = TypeFacts::of(&resource.kind);
            if matches!(change, Change::Replace(_)) && facts.is_some_and(TypeFacts::deletes_first) {
                words.push("the old one is deleted before the new one is created".to_owned());
            }
            let known = INTERRUPTING.iter().find(|(kind, _)| *kind == resource.kind.as_str());
            let interrupts = known.is_some_and(|(_, properties)| {
                change.properties().iter().any(|one| properties.contains(&one.as_str()))
            });
            if matches!(change, Change::Update(_) | Change::Unknown(_)) && interrupts {
                words.push("it is interrupted".to_owned());
            }
        }
        if !words.is_empty() {
            out.insert(*name, words);
        }
    }
    out
}

/// Changes of which the table does not say what they do.
fn unknown_effects(new: &Template, changes: &Changes, out: &mut Vec<Diagnostic>) {
    for (name, change) in changes {
        let Change::Unknown(properties) = change else { continue };
        let Some(resource) = new.resources.get(name) else { continue };
        out.push(
            Diagnostic::new(
                Rule::NotModelled,
                format!(
                    "whether the change of {} replaces `{name}` ({}) is not known",
                    listed(properties),
                    resource.kind
                ),
            )
            .at(new.span(resource.name_range))
            .with_resources([name.to_string()]),
        );
    }
}

fn refers_to_replaced(value: &Value, known: &Changes) -> bool {
    let mut found = false;
    value.each(&mut |part| {
        crate::graph::references(part, &mut |name, _| {
            found |= matches!(known.get(&name), Some(Change::Replace(_)));
        });
    });
    found
}

fn changed_types(old: &Template, new: &Template, out: &mut Vec<Diagnostic>) {
    for resource in new.resources.values() {
        let Some(previous) = old.resources.get(&resource.name).filter(|one| one.kind != resource.kind) else {
            continue;
        };
        out.push(
            Diagnostic::new(
                Rule::TypeChanged,
                format!(
                    "`{}` was of type {} and is of type {} now",
                    resource.name, previous.kind, resource.kind
                ),
            )
            .at(new.span(resource.type_ranges.1))
            .with_label(old.span(previous.type_ranges.1), "the type that the stack has")
            .with_note("CloudFormation refuses the update: update of resource type is not permitted.")
            .with_help("Give the new resource another logical name.")
            .with_resources([resource.name.to_string()]),
        );
    }
}

/// What is created while an old resource of the same type still has its name.
fn taken_names(old: &Template, new: &Template, changes: &Changes, out: &mut Vec<Diagnostic>) {
    for resource in new.resources.values() {
        let Some(kind) = naming::of(resource) else { continue };
        let Some(name) = kind.name_of(resource) else { continue };
        let (created, replaced) = match changes.get(&resource.name) {
            Some(Change::Create) => (true, None),
            Some(Change::Replace(properties)) => (true, Some(properties)),
            _ => (false, None),
        };
        // In another network or cluster, or with what another new resource gives, the name is another one.
        let elsewhere = kind
            .scope
            .and_then(|scope| resource.property(&[scope]))
            .is_some_and(|scope| refers_to_replaced(scope, changes));
        if !created || elsewhere || refers_to_replaced(name, changes) {
            continue;
        }
        let holder = old.resources.values().find(|one| {
            let leaves = one.name == resource.name
                || matches!(
                    changes.get(&one.name),
                    Some(Change::Delete | Change::LetGo | Change::Replace(_))
                );
            leaves && one.kind == resource.kind && kind.collide((one, old), (resource, new))
        });
        let Some(holder) = holder else { continue };
        let property = kind.name_property;
        let message = match replaced {
            Some(properties) if holder.name == resource.name => format!(
                "`{}` must be replaced because {} {}, and the old one still has its name",
                resource.name,
                listed(properties),
                if properties.len() == 1 { "changes" } else { "change" }
            ),
            _ => format!(
                "`{}` is created before `{}` is gone, and both have the same name",
                resource.name, holder.name
            ),
        };
        let kept = matches!(changes.get(&holder.name), Some(Change::LetGo));
        let mut finding = Diagnostic::new(Rule::NameTaken, message)
            .at(new.span(name.range))
            .labelled(format!("this {property} is taken"))
            .with_note("CloudFormation creates what is new before it deletes what is old: the update fails and is rolled back.")
            .with_note(
                "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html",
            )
            .with_resources([resource.name.to_string()]);
        if let Some(theirs) = kind.name_of(holder) {
            finding = finding.with_label(old.span(theirs.range), format!("`{}` has it", holder.name));
        }
        out.push(if kept {
            finding.with_help(format!(
                "`{}` is kept: import it into the stack, or choose another name.",
                holder.name
            ))
        } else {
            finding.with_help(format!(
                "Change `{property}` in the same update, or remove it: then CloudFormation makes up a name."
            ))
        });
    }
}

/// Exports that go or change: other stacks may import them.
fn exports(old: &Template, new: &Template, changes: &Changes, out: &mut Vec<Diagnostic>) {
    for (name, output) in exported(old) {
        let again = exported(new).into_iter().find(|(other, _)| other.same_as(name));
        let what = match again {
            None => "is removed",
            Some((_, now)) => {
                let (Some(before), Some(now)) = (output.get("Value"), now.get("Value")) else { continue };
                if before.same_as(now) && !refers_to_replaced(now, changes) {
                    continue;
                }
                "gets another value"
            }
        };
        let shown = text_of(name, old);
        out.push(
            Diagnostic::new(Rule::ExportChanged, format!("the export `{shown}` {what}"))
                .at(again.map_or_else(|| old.span(name.range), |(place, _)| new.span(place.range)))
                .with_note("The update fails as long as another stack imports it.")
                .with_note(
                    "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html",
                )
                .with_help("Add an export of another name, move the importing stacks to it, and only then remove this one."),
        );
    }
}

/// The exports of a template: the name and the output.
pub(crate) fn exported(template: &Template) -> Vec<(&Value, &Value)> {
    template
        .outputs
        .fields()
        .iter()
        .filter_map(|output| Some((output.value.at(&["Export", "Name"])?, &output.value)))
        .collect()
}

/// A value as it stands in the template.
pub(crate) fn text_of(value: &Value, template: &Template) -> String {
    match &value.kind {
        ValueKind::Text(text) => text.to_string(),
        _ => template
            .text
            .get(value.range.start as usize..value.range.end as usize)
            .unwrap_or_default()
            .trim()
            .to_owned(),
    }
}

fn listed(names: &[Symbol]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    if quoted.is_empty() { "its type".to_owned() } else { setpoint_source::few(&quoted, usize::MAX) }
}

/// The names of the two generations of a resource in the rule set's instance.
fn old_generation(name: Symbol, changes: &Changes) -> String {
    if matches!(changes.get(&name), Some(Change::Replace(_))) {
        format!("{name} (old)")
    } else {
        name.to_string()
    }
}

/// The deeds of a run without failure, in the rule set of a stack's life.
fn order(old: &Analysis, new: &Analysis, changes: &Changes, model: &Model) -> Vec<Deed> {
    let mut builder = InstanceBuilder::new(model, "update");
    let stack = builder.object("stack", "stack", None);
    builder.state(stack, "updating");
    for (name, change) in changes {
        let mut add = |id: String, kind: &str, state: &str| {
            let object = builder.object("resource", id, None);
            builder.kind(object, kind);
            builder.state(object, state);
            builder.link(object, "stack", "stack", None);
        };
        match change {
            Change::Create => add(name.to_string(), "new", "absent"),
            Change::Update(_) | Change::Unknown(_) => add(name.to_string(), "kept", "current"),
            Change::Replace(_) => {
                add(name.to_string(), "new", "absent");
                add(old_generation(*name, changes), "old", "current");
            }
            Change::Delete => add(name.to_string(), "old", "current"),
            Change::LetGo => {}
        }
    }
    let present = |name: Symbol, in_old: bool| match changes.get(&name) {
        Some(Change::Create | Change::Update(_) | Change::Unknown(_)) => !in_old,
        Some(Change::Replace(_)) => true,
        Some(Change::Delete) => in_old,
        Some(Change::LetGo) | None => false,
    };
    let mut number = 0;
    for (analysis, in_old) in [(new, false), (old, true)] {
        for &from in analysis.template.resources.keys().filter(|name| present(**name, in_old)) {
            for to in reached(analysis, from, &|name| present(name, in_old)) {
                let id = |name: Symbol| if in_old { old_generation(name, changes) } else { name.to_string() };
                number += 1;
                let reference = builder.object("reference", format!("reference {number}"), None);
                builder.link(reference, "from", id(from), None);
                builder.link(reference, "to", id(to), None);
            }
        }
    }
    let Ok(instance) = builder.finish() else { return Vec::new() };
    let Ok(ground) = Ground::new(model, &instance) else { return Vec::new() };
    if ground.cyclic_relation().is_some() {
        return Vec::new();
    }
    let run = maximal_run(&ground, 10_000_000);
    // The old one of what is replaced may be kept.
    let retained = old.template.resources.values().filter(|one| {
        let policy = one.update_replace_policy.as_deref();
        policy.is_some_and(|policy| policy.starts_with("Retain"))
    });
    let replaced = retained.filter(|one| matches!(changes.get(&one.name), Some(Change::Replace(_))));
    let kept: Vec<String> = replaced.map(|one| old_generation(one.name, changes)).collect();
    let deeds = ["create", "change", "delete"];
    let mut out: Vec<Deed> = Vec::new();
    for entry in timeline(&ground, &run).entries {
        let step = &ground.steps[entry.step];
        let rule = model.rules[step.rule].name;
        let object = step.binding.first().map(|&id| instance.object(id).id.clone()).unwrap_or_default();
        let is_kept = rule.as_str() == "delete" && kept.contains(&object);
        if deeds.contains(&rule.as_str()) && !is_kept {
            out.push(Deed { round: entry.round as usize, rule: rule.to_string(), object });
        }
    }
    out.sort_by_key(|deed| deed.round);
    // Rounds of the rule set count the ends of deeds too; people count the beginnings.
    let mut rounds: Vec<usize> = out.iter().map(|deed| deed.round).collect();
    rounds.dedup();
    for deed in &mut out {
        deed.round = rounds.iter().position(|&round| round == deed.round).unwrap_or(0) + 1;
    }
    out
}

/// The resources that take part and that one waits for, directly or through resources that stay as they are.
fn reached(analysis: &Analysis, from: Symbol, takes_part: &dyn Fn(Symbol) -> bool) -> Vec<Symbol> {
    let mut seen = vec![from];
    let mut work = vec![from];
    let mut out = Vec::new();
    while let Some(at) = work.pop() {
        for edge in analysis.graph.edges_from(at) {
            if seen.contains(&edge.to) {
                continue;
            }
            seen.push(edge.to);
            if takes_part(edge.to) {
                out.push(edge.to);
            } else {
                work.push(edge.to);
            }
        }
    }
    out
}

impl Update {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.deeds.is_empty()
    }

    /// The update for people.
    pub fn text(&self) -> String {
        match (self.changes.is_empty(), self.is_whole) {
            (true, true) => return "nothing changes\n".to_owned(),
            (true, false) => return "no change was found in what was read and has a model\n".to_owned(),
            (false, _) => {}
        }
        let mut out = String::new();
        let width = self.changes.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, change) in &self.changes {
            let kind = self.kinds.get(name).map(|one| one.as_str()).unwrap_or_default();
            let pad = " ".repeat(width.saturating_sub(name.chars().count()));
            out.push_str(&format!("{:<8} {name}{pad}  {kind}", change.word()));
            if !change.properties().is_empty() {
                out.push_str(&format!(": {}", listed(change.properties())));
            }
            for remark in self.remarks.get(name).into_iter().flatten() {
                out.push_str(&format!("; {remark}"));
            }
            out.push('\n');
        }
        if !self.deeds.is_empty() {
            out.push_str("\nOrder, side by side where it can be\n");
        }
        let mut round = 0;
        for deed in &self.deeds {
            let number = if deed.round == round { String::new() } else { deed.round.to_string() };
            round = deed.round;
            out.push_str(&format!("{number:>4}  {} {}\n", deed.rule, deed.object));
        }
        out
    }

    /// The update for programs; the documentation shows it.
    pub fn json(&self) -> Json {
        let changes: Vec<Json> = self
            .changes
            .iter()
            .map(|(name, change)| {
                json!({
                    "resource": name.as_str(),
                    "type": self.kinds.get(name).map(|one| one.as_str()),
                    "change": change.word(),
                    "properties": change.properties().iter().map(|one| one.as_str()).collect::<Vec<_>>(),
                    "remarks": self.remarks.get(name).cloned().unwrap_or_default(),
                })
            })
            .collect();
        let order: Vec<Json> = self
            .deeds
            .iter()
            .map(|deed| json!({ "round": deed.round, "rule": deed.rule, "object": deed.object }))
            .collect();
        json!({ "whole": self.is_whole, "changes": changes, "order": order })
    }
}
