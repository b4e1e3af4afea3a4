//! Cycles: resources that wait for each other, for some choice of the parameters.

use setpoint_source::{Diagnostic, Rule, Symbol};

use crate::conditions::Formula;
use crate::graph::{Edge, Stack};

/// One finding for each group of resources that can wait for each other in a circle.
pub(crate) fn check(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    for component in components(stack) {
        if let Some((cycle, condition)) = cycle_in(stack, &component) {
            out.push(describe(stack, &cycle, &condition));
        }
    }
}

/// The strongly connected components that contain an edge, in the order of the template.
fn components(stack: &Stack<'_>) -> Vec<Vec<Symbol>> {
    let resources = &stack.template.resources;
    let targets: Vec<Vec<usize>> = resources
        .keys()
        .map(|name| {
            stack.graph.edges_from(*name).filter_map(|edge| resources.get_index_of(&edge.to)).collect()
        })
        .collect();
    setpoint_diagram::components(targets.len(), |node, at| targets[node].get(at).copied())
        .into_iter()
        .filter(|members| members.len() > 1 || members.iter().any(|&only| targets[only].contains(&only)))
        .map(|members| {
            members.iter().filter_map(|&at| resources.get_index(at)).map(|(name, _)| *name).collect()
        })
        .collect()
}

/// A shortest cycle within a component that some choice of parameters makes real, and that choice in words.
fn cycle_in<'a>(stack: &Stack<'a>, component: &[Symbol]) -> Option<(Vec<&'a Edge>, String)> {
    let inside = |edge: &&Edge| component.contains(&edge.from) && component.contains(&edge.to);
    let edges: Vec<&Edge> = stack.graph.edges.iter().filter(inside).collect();
    if let Some(cycle) = shortest(stack, component, &|edge| stack.edge_guard(edge).is_empty()) {
        return Some((cycle, String::new()));
    }
    // One atom an edge: chosen edges are real, and the end of each is the start of another. Such a set contains a cycle.
    let first = stack.logic.atom_count();
    let chosen = |index: usize| Formula::Atom(first + index);
    let mut wanted = vec![Formula::Or((0..edges.len()).map(chosen).collect())];
    for (index, edge) in edges.iter().enumerate() {
        let unless = Formula::Not(Box::new(chosen(index)));
        wanted.push(Formula::Or(vec![unless.clone(), stack.logic.guard(&stack.edge_guard(edge))]));
        let mut next = vec![unless];
        next.extend((0..edges.len()).filter(|other| edges[*other].from == edge.to).map(chosen));
        wanted.push(Formula::Or(next));
    }
    let valuation = stack.logic.solve(&wanted, edges.len())?;
    let cycle = shortest(stack, component, &|edge| valuation.allows(&stack.edge_guard(edge)))?;
    let conditions: Vec<Symbol> =
        cycle.iter().flat_map(|edge| stack.edge_guard(edge)).map(|(condition, _)| condition).collect();
    Some((cycle, stack.logic.describe(&valuation, &conditions)))
}

fn shortest<'a>(
    stack: &Stack<'a>,
    members: &[Symbol],
    allowed: &dyn Fn(&Edge) -> bool,
) -> Option<Vec<&'a Edge>> {
    let within = |edge: &Edge| members.contains(&edge.to) && allowed(edge);
    let cycle = |name: &Symbol| stack.path(*name, &[*name], &within);
    // A component of thousands of resources needs no shortest cycle; a few starting points find a short one.
    let (first, rest) = members.split_at(members.len().min(200));
    first.iter().filter_map(cycle).min_by_key(Vec::len).or_else(|| rest.iter().find_map(cycle))
}

fn describe(stack: &Stack<'_>, cycle: &[&Edge], condition: &str) -> Diagnostic {
    let names: Vec<String> = cycle.iter().map(|edge| edge.from.to_string()).collect();
    let message = match names.as_slice() {
        [one] => format!("`{one}` waits for itself, so it can never be created"),
        _ => format!("{} wait for each other, so none of them can be created", list(&names)),
    };
    let mut finding = Diagnostic::new(Rule::DependencyCycle, message).with_resources(names);
    for (index, edge) in cycle.iter().enumerate() {
        let span = stack.template.span(edge.range);
        let text = format!("`{}` waits for `{}` ({})", edge.from, edge.to, edge.via.describe());
        finding = if index == 0 { finding.at(span).labelled(text) } else { finding.with_label(span, text) };
    }
    if !condition.is_empty() {
        finding = finding.with_note(format!("The cycle exists when {condition}."));
    }
    finding.with_help(way_out(stack, cycle))
}

/// The usual way out, by the types in the cycle.
fn way_out(stack: &Stack<'_>, cycle: &[&Edge]) -> String {
    let has = |kind: &str| {
        cycle.iter().any(|edge| stack.resource(edge.from).is_some_and(|found| &*found.kind == kind))
    };
    if cycle.iter().all(|edge| edge.via == crate::graph::Via::DependsOn) {
        return "Remove one of the `DependsOn` entries.".to_owned();
    }
    if has("AWS::EC2::SecurityGroup") {
        return "Move the rules that name the other group out of the groups, into resources of type \
                AWS::EC2::SecurityGroupIngress or AWS::EC2::SecurityGroupEgress: they can be created after both groups."
            .to_owned();
    }
    if has("AWS::S3::Bucket") {
        return "Give the bucket a fixed name, and use that name instead of a reference to the bucket in the permission, \
                the role or the policy: then only the bucket waits."
            .to_owned();
    }
    if has("AWS::IAM::Role") {
        return "Move the statement that names the other resource out of the role, into a resource of type AWS::IAM::Policy \
                that is created after both."
            .to_owned();
    }
    if has("AWS::EC2::EIP") {
        return "Join the address and the instance by a resource of type AWS::EC2::EIPAssociation, created after both."
            .to_owned();
    }
    "Break the circle at one of the marked places: use a fixed name instead of a reference, or move the setting into a \
     resource of its own that is created after both."
        .to_owned()
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
