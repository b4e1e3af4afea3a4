//! Workflows: their targets, operations and the order of their steps.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use setpoint_data::{Entry, Node};
use setpoint_source::{FileId, Rule, Severity, Symbol};

use crate::grammar::Edition;
use crate::schema::{Schema, schemas};
use crate::service::Service;
use crate::templates::Shapes;
use crate::types::{Interface, Scope, is_whole, keys, symbol};
use crate::values::Checker;

/// Checks the workflows of a topology.
pub(crate) fn check(
    checker: &mut Checker<'_>,
    service: &Service,
    topology: &Service,
    file: FileId,
    node: &Node,
    shapes: &mut Shapes,
) {
    let workflows = node.get("workflows").map(Node::entries).unwrap_or_default();
    let names = keys(node.get("workflows"));
    let groups = keys(node.get("groups"));
    let mut inlined: IndexMap<Symbol, Vec<Symbol>> = IndexMap::new();
    for Entry { key, value } in workflows {
        let Some(workflow) = symbol(Some(key)) else { continue };
        let inputs = schemas(value.get("inputs"), file, Scope::default());
        let steps = value.get("steps").map(Node::entries).unwrap_or_default();
        order(checker, file, workflow, steps);
        for condition in ["preconditions", "precondition"].iter().filter_map(|part| value.get(part)) {
            for target in condition.items().iter().filter_map(|one| one.get("target")) {
                let Some(name) = symbol(Some(target)) else { continue };
                if !topology.nodes.contains_key(&name) && !groups.contains(&name) {
                    let message = format!(
                        "a precondition of `{workflow}` has the target `{name}`, and there is no such node or group"
                    );
                    checker.report(Rule::UnknownReference, message, target, file);
                }
            }
        }
        for Entry { key, value: step } in steps {
            let of = format!("the step `{}` of `{workflow}`", key.text().unwrap_or_default());
            let target = step.get("target");
            let name = symbol(target);
            let template = name.and_then(|name| topology.nodes.get(&name));
            if let (Some(target), Some(name)) = (target, name)
                && template.is_none()
                && !groups.contains(&name)
            {
                let message = format!("{of} has the target `{name}`, and there is no such node or group");
                checker.report(Rule::UnknownReference, message, target, file);
            }
            if let (Some(template), Some(relationship)) = (template, step.get("target_relationship")) {
                let named = symbol(Some(relationship));
                let shape = shapes.of(service, template.kind);
                let wanted = service.types.requirements_of(template.kind);
                let is_there = named.is_none_or(|name| {
                    wanted.iter().any(|one| one.name == name)
                        || template.requirements.iter().any(|one| one.name == name)
                });
                if let Some(name) = named.filter(|_| shape.whole && !is_there) {
                    let message =
                        format!("{of} has the relationship `{name}`, and `{}` has none", template.name);
                    checker.report(Rule::UnknownReference, message, relationship, file);
                }
            }
            for activity in step.get("activities").map(Node::items).unwrap_or_default() {
                for Entry { key, value } in activity.entries() {
                    match key.text() {
                        Some("call_operation") if step.get("target_relationship").is_none() => {
                            let Some(template) = template else { continue };
                            let shape = shapes.of(service, template.kind);
                            if shape.whole {
                                let call = Call { of: &of, kind: template.kind, given: &inputs };
                                call.check(checker, file, value, &shape.interfaces);
                            }
                        }
                        Some("inline") => {
                            let named = value.get("workflow").unwrap_or(value);
                            let Some(name) = symbol(Some(named)) else { continue };
                            if names.contains(&name) {
                                inlined.entry(workflow).or_default().push(name);
                            } else {
                                let message = format!("{of} runs `{name}`, and there is no such workflow");
                                checker.report(Rule::UnknownReference, message, named, file);
                            }
                        }
                        Some("call_operation" | "set_state" | "delegate") => {}
                        other => {
                            let message = format!(
                                "{of} has an activity `{}`, which TOSCA does not know",
                                other.unwrap_or_default()
                            );
                            let finding = checker.error(Rule::MalformedTemplate, message, key, file);
                            finding.help("Activities are call_operation, set_state, delegate and inline.");
                        }
                    }
                }
            }
        }
    }
    let next = |name: Symbol| inlined.get(&name).cloned().unwrap_or_default();
    for Entry { key, .. } in workflows {
        let Some(name) = symbol(Some(key)) else { continue };
        if leads_to_itself(name, &next) {
            checker.error(Rule::EndlessRun, format!("the workflow `{name}` runs itself"), key, file);
        }
    }
}

/// Reports steps that are not there, and steps that lead back to themselves.
fn order(checker: &mut Checker<'_>, file: FileId, workflow: Symbol, steps: &[Entry]) {
    let mut success: IndexMap<Symbol, Vec<Symbol>> = IndexMap::new();
    let mut failure: IndexMap<Symbol, Vec<Symbol>> = IndexMap::new();
    let known: Vec<Symbol> = steps.iter().filter_map(|step| symbol(Some(&step.key))).collect();
    for Entry { key, value } in steps {
        let Some(step) = symbol(Some(key)) else { continue };
        for part in ["on_success", "on_failure"] {
            let Some(node) = value.get(part) else { continue };
            let named = if node.is_sequence() { node.items() } else { std::slice::from_ref(node) };
            for next in named {
                let Some(name) = symbol(Some(next)) else { continue };
                if !known.contains(&name) {
                    let message =
                        format!("`{step}` of `{workflow}` leads to `{name}`, and there is no such step");
                    checker.report(Rule::UnknownReference, message, next, file);
                } else if part == "on_success" {
                    success.entry(step).or_default().push(name);
                } else {
                    failure.entry(step).or_default().push(name);
                }
            }
        }
    }
    let next = |name: Symbol| success.get(&name).cloned().unwrap_or_default();
    let looping =
        steps.iter().find(|step| symbol(Some(&step.key)).is_some_and(|name| leads_to_itself(name, &next)));
    if let Some(step) = looping {
        let message = format!(
            "the step `{}` of `{workflow}` leads back to itself, so that the workflow never ends",
            step.key.text().unwrap_or_default()
        );
        let finding = checker.error(Rule::EndlessRun, message, &step.key, file);
        finding.help("Remove one `on_success` of the loop.");
        return;
    }
    let next = |name: Symbol| {
        let of = |edges: &IndexMap<Symbol, Vec<Symbol>>| edges.get(&name).cloned().unwrap_or_default();
        [of(&success), of(&failure)].concat()
    };
    let again =
        steps.iter().find(|step| symbol(Some(&step.key)).is_some_and(|name| leads_to_itself(name, &next)));
    if let Some(step) = again {
        let message = format!(
            "the step `{}` of `{workflow}` is run again as often as it fails",
            step.key.text().unwrap_or_default()
        );
        let finding = checker.error(Rule::EndlessRun, message, &step.key, file);
        finding.severity = Severity::Warning;
        finding.help("Let `on_failure` lead to steps that end the workflow.");
    }
    unreached(checker, file, workflow, steps, &next);
}

/// Reports the steps that no first step leads to. A workflow begins with the steps that no other one leads to.
fn unreached(
    checker: &mut Checker<'_>,
    file: FileId,
    workflow: Symbol,
    steps: &[Entry],
    next: &dyn Fn(Symbol) -> Vec<Symbol>,
) {
    let names: Vec<Symbol> = steps.iter().filter_map(|step| symbol(Some(&step.key))).collect();
    let mut later: FxHashSet<Symbol> = FxHashSet::default();
    for &name in &names {
        later.extend(next(name));
    }
    let mut open: Vec<Symbol> = names.iter().copied().filter(|name| !later.contains(name)).collect();
    let mut reached: FxHashSet<Symbol> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        open.extend(next(at).into_iter().filter(|name| reached.insert(*name)));
    }
    for step in steps {
        let Some(name) = symbol(Some(&step.key)).filter(|name| !reached.contains(name)) else { continue };
        let message =
            format!("the step `{name}` of `{workflow}` is never run: only steps of its loop lead to it");
        let finding = checker.error(Rule::UnknownReference, message, &step.key, file);
        finding.severity = Severity::Warning;
        finding.help("Let a step that runs lead to it.");
    }
}

fn leads_to_itself(from: Symbol, next: &dyn Fn(Symbol) -> Vec<Symbol>) -> bool {
    let mut open = next(from);
    let mut seen: FxHashSet<Symbol> = FxHashSet::default();
    while let Some(at) = open.pop() {
        if at == from {
            return true;
        }
        if seen.insert(at) {
            open.extend(next(at));
        }
    }
    false
}

/// A call of an operation of a node by a step.
struct Call<'a> {
    of: &'a str,
    kind: Symbol,
    /// The inputs of the workflow.
    given: &'a IndexMap<Symbol, Schema>,
}

impl Call<'_> {
    fn check(
        &self,
        checker: &mut Checker<'_>,
        file: FileId,
        node: &Node,
        interfaces: &IndexMap<Symbol, Interface>,
    ) {
        let named = node.get("operation").unwrap_or(node);
        let Some(text) = named.text() else { return };
        let (of, kind) = (self.of, self.kind);
        let Some((interface_name, operation)) = text.rsplit_once('.') else { return };
        let Some(interface) = interfaces.get(&Symbol::new(interface_name)) else {
            let is_type = checker.types.interfaces.contains_key(&Symbol::new(interface_name));
            if !is_type {
                let message =
                    format!("{of} calls `{text}`, and a {kind} has no interface `{interface_name}`");
                checker.report(Rule::UnknownReference, message, named, file);
            }
            return;
        };
        if interface.kind.is_some_and(|kind| !is_whole(&checker.types.interfaces, kind)) {
            return;
        }
        let Some(inputs) = interface.operations.get(&Symbol::new(operation)) else {
            let message =
                format!("{of} calls `{text}`, and `{interface_name}` has no operation `{operation}`");
            checker.report(Rule::UnknownReference, message, named, file);
            return;
        };
        if checker.edition == Edition::One {
            return;
        }
        let mut wanted = inputs.clone();
        crate::schema::inherit(&mut wanted, &interface.inputs);
        let empty =
            Node { range: named.range, tag: None, kind: setpoint_data::Kind::Mapping(Vec::new().into()) };
        let assigned = node.get("inputs").unwrap_or(&empty);
        let shown = format!("the call of `{text}` in {of}");
        checker.missing(assigned, &wanted, named, file, &shown);
        checker.assignments(assigned.entries(), &wanted, file, &shown, &format!("`{text}`"));
        for Entry { key, value } in assigned.entries() {
            let wants = symbol(Some(key)).and_then(|name| wanted.get(&name));
            let source = symbol(value.get("$get_input")).and_then(|name| self.given.get(&name));
            let (Some(wants), Some(source)) = (wants, source) else { continue };
            let name = key.text().unwrap_or_default();
            if let (Some(kind), Some(given)) = (wants.kind, source.kind)
                && !crate::types::derives(&checker.types.data, given, kind)
            {
                let message =
                    format!("`{name}` of {shown} is a `{kind}`, and the input that it gets is a `{given}`");
                checker.error(Rule::InvalidValue, message, value, file);
            } else if wants.must_be_given() && !source.required && source.default.is_none() {
                let message =
                    format!("`{name}` of {shown} is required, and the input that it gets may be left out");
                checker.error(Rule::InvalidValue, message, value, file);
            }
        }
    }
}
