//! Attributes that are asked for, and whether they are there in time.
//!
//! An attribute of a node has a value when the node runs. A node that needs one of another node has to wait for it, and only
//! its relationships make it wait.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, Limit, Rule, Severity, Span, Symbol};

use crate::omission::{Omission, Omitted};
use crate::service::{NodeTemplate, Service};
use crate::templates::Shapes;
use crate::topology::Relationship;
use crate::types::{keys, named_items};

/// The nodes that are looked at in all, to find whether one waits for another.
const MAX_VISITS: Limit = Limit::new(20_000_000);

/// Returns a finding for each attribute that a node asks of another one without waiting for it, and what a limit left out.
pub(crate) fn check(
    service: &Service,
    relationships: &[Relationship],
    shapes: &mut Shapes,
) -> (Vec<Diagnostic>, Vec<Omission>) {
    let mut waits: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
    for one in relationships {
        waits.entry(one.source).or_default().push(one.target);
    }
    let (mut found, mut omissions) = (Vec::new(), Vec::new());
    let mut left = MAX_VISITS.get();
    for template in service.nodes.values().filter(|one| !one.selected) {
        let mut asked = Vec::new();
        for call in needed_at_start(template) {
            collect(call, template, &mut asked);
        }
        let mut reached: Option<FxHashSet<Symbol>> = None;
        for (node, attribute, span) in asked {
            if !is_set_by_run(service, node, attribute, shapes) {
                continue;
            }
            let reached = reached.get_or_insert_with(|| closure(&waits, template.name, &mut left));
            if left == 0 {
                omissions.push(Omission::new(Omitted::Order(template.name), span));
                return (found, omissions);
            }
            if reached.contains(&node) {
                continue;
            }
            let is_before = closure(&waits, node, &mut left).contains(&template.name);
            found.push(too_early(service, template, node, attribute, span, is_before));
        }
    }
    (found, omissions)
}

/// The parts of a template whose values are needed to set it up.
fn needed_at_start(template: &NodeTemplate) -> Vec<&Node> {
    let mut out: Vec<&Node> = template.node.get("properties").into_iter().collect();
    out.extend(
        named_items(template.node.get("capabilities")).iter().filter_map(|(_, one)| one.get("properties")),
    );
    // An interface may be run long after the set-up, unless it is the one of the life cycle.
    let interfaces = template.node.get("interfaces").map(Node::entries).unwrap_or_default();
    for Entry { key, value } in interfaces {
        let is_standard = key.text().is_some_and(|name| name.rsplit('.').next() == Some("Standard"));
        if !is_standard {
            continue;
        }
        out.extend(value.get("inputs"));
        for operation in crate::types::operation_entries(value) {
            if matches!(operation.key.text(), Some("create" | "configure" | "start")) {
                out.extend(operation.value.get("inputs"));
            }
        }
    }
    out
}

/// Collects the attributes of other nodes that a value names.
fn collect(value: &Node, template: &NodeTemplate, out: &mut Vec<(Symbol, Symbol, Span)>) {
    if let [Entry { key, value: argument }] = value.entries()
        && matches!(key.text(), Some("get_attribute" | "$get_attribute"))
        && let [node, attribute, ..] = argument.items()
        && let (Some(node), Some(attribute)) = (node.text(), attribute.text())
        && node != template.name.as_str()
    {
        let span = key.range.to(argument.range).in_file(template.span.file);
        out.push((Symbol::new(node), Symbol::new(attribute), span));
    }
    for entry in value.entries() {
        collect(&entry.value, template, out);
    }
    for item in value.items() {
        collect(item, template, out);
    }
}

/// Whether an attribute of a node template has a value only when the node runs.
fn is_set_by_run(service: &Service, node: Symbol, attribute: Symbol, shapes: &mut Shapes) -> bool {
    let Some(template) = service.nodes.get(&node).filter(|one| !one.selected) else { return false };
    let shape = shapes.of(service, template.kind);
    let is_given = keys(template.node.get("attributes")).contains(&attribute)
        || shape.attributes.get(&attribute).is_some_and(|schema| schema.default.is_some())
        || shape.properties.contains_key(&attribute);
    let is_attribute = shape.attributes.contains_key(&attribute);
    is_attribute && !is_given && !["tosca_id", "tosca_name", "state"].contains(&attribute.as_str())
}

/// Returns all nodes that a node waits for.
fn closure(waits: &FxHashMap<Symbol, Vec<Symbol>>, from: Symbol, left: &mut usize) -> FxHashSet<Symbol> {
    let mut reached = FxHashSet::default();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for &next in waits.get(&at).map(Vec::as_slice).unwrap_or_default() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return reached;
            }
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

fn too_early(
    service: &Service,
    template: &NodeTemplate,
    node: Symbol,
    attribute: Symbol,
    span: Span,
    is_before: bool,
) -> Diagnostic {
    let name = template.name;
    let message = if is_before {
        format!("`{name}` needs `{attribute}` of `{node}`, and `{node}` waits for `{name}`")
    } else {
        format!("`{name}` needs `{attribute}` of `{node}`, and does not wait for it")
    };
    let mut finding = Diagnostic::new(Rule::MissingDependsOn, message)
        .severity(Severity::Warning)
        .at(span)
        .with_note("The attribute has a value when the node runs; until then it is empty or an error.")
        .with_resources([name.to_string(), node.to_string()]);
    if let Some(target) = service.nodes.get(&node) {
        finding = finding.with_label(target.span, "has the attribute");
    }
    if !is_before {
        finding = finding.with_help(format!("Add `- dependency: {node}` to the requirements of `{name}`."));
    }
    finding
}
