//! Values that depend on themselves through `get_property`, `get_attribute` and `get_input`.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Span, Symbol};

use crate::service::{NodeTemplate, Service};
use crate::templates::Shapes;

/// A value of a topology: an input, or a property, an attribute or a part of one of a node template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Slot {
    /// Nothing for an input.
    node: Option<Symbol>,
    /// An attribute, or the property of its name if there is no such attribute.
    is_attribute: bool,
    path: Vec<Symbol>,
}

impl Slot {
    fn input(name: Symbol) -> Self {
        Self { node: None, is_attribute: false, path: vec![name] }
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path: Vec<&str> = self.path.iter().map(|part| part.as_str()).collect();
        match self.node {
            Some(node) => write!(f, "`{node}.{}`", path.join(".")),
            None => write!(f, "the input `{}`", path.join(".")),
        }
    }
}

/// One topology, with what its names stand for.
struct Values<'a> {
    topology: &'a Service,
    service: &'a Service,
    shapes: &'a mut Shapes,
    /// The host of each node that has one.
    hosts: &'a FxHashMap<Symbol, Symbol>,
}

/// Returns a finding for each circle of values of a topology. `hosts` resolves `HOST`.
pub(crate) fn check(
    topology: &Service,
    service: &Service,
    shapes: &mut Shapes,
    hosts: &FxHashMap<Symbol, Symbol>,
) -> Vec<Diagnostic> {
    let mut values = Values { topology, service, shapes, hosts };
    let mut known: FxHashSet<Slot> = FxHashSet::default();
    let mut found = Vec::new();
    for start in values.starts() {
        values.walk(start, &mut known, &mut found);
    }
    found
}

impl Values<'_> {
    /// Returns the values that may call a function, in the order of the file.
    fn starts(&mut self) -> Vec<Slot> {
        let mut out = Vec::new();
        for &input in &self.topology.inputs {
            out.push(Slot::input(input));
        }
        for template in self.topology.nodes.values() {
            let shape = self.shapes.of(self.service, template.kind);
            for (section, is_attribute, defined) in
                [("properties", false, &shape.properties), ("attributes", true, &shape.attributes)]
            {
                let is_plain = |value: &Node| value.text().is_some();
                let given = template.node.get(section).map(Node::entries).unwrap_or_default();
                let given = given.iter().filter(|entry| !is_plain(&entry.value));
                let given = given.filter_map(|entry| entry.key.text().map(Symbol::new));
                let defaults = defined
                    .iter()
                    .filter(|(_, schema)| schema.default.as_ref().is_some_and(|value| !is_plain(value)));
                for name in given.chain(defaults.map(|(name, _)| *name)) {
                    out.push(Slot { node: Some(template.name), is_attribute, path: vec![name] });
                }
            }
            for (capability, value) in crate::types::named_items(template.node.get("capabilities")) {
                for entry in value.get("properties").map(Node::entries).unwrap_or_default() {
                    let (Some(capability), Some(name)) = (capability.text(), entry.key.text()) else {
                        continue;
                    };
                    let path = vec![Symbol::new(capability), Symbol::new(name)];
                    out.push(Slot { node: Some(template.name), is_attribute: false, path });
                }
            }
        }
        out
    }

    /// Follows the references of a value, depth first. Keeps its own stack: a chain may be as long as the file.
    fn walk(&mut self, start: Slot, known: &mut FxHashSet<Slot>, found: &mut Vec<Diagnostic>) {
        if known.contains(&start) {
            return;
        }
        let mut open: FxHashSet<Slot> = FxHashSet::default();
        let mut stack: Vec<(Slot, Option<Span>, Vec<Slot>)> = Vec::new();
        let (place, next) = self.references(&start);
        open.insert(start.clone());
        stack.push((start, place, next));
        while let Some((slot, _, next)) = stack.last_mut() {
            let Some(target) = next.pop() else {
                open.remove(slot);
                known.insert(slot.clone());
                stack.pop();
                continue;
            };
            if open.contains(&target) {
                let from = stack.iter().position(|(slot, ..)| *slot == target).unwrap_or(0);
                found.extend(stack.get(from..).and_then(circle));
            } else if !known.contains(&target) {
                let (place, next) = self.references(&target);
                open.insert(target.clone());
                stack.push((target, place, next));
            }
        }
    }

    /// Returns the place of a value and the values that it is computed from.
    fn references(&mut self, slot: &Slot) -> (Option<Span>, Vec<Slot>) {
        let Some((file, value)) = self.value(slot) else { return (None, Vec::new()) };
        let mut out = Vec::new();
        self.collect(&value, slot.node, &mut out);
        (Some(value.range.in_file(file)), out)
    }

    /// Returns what a value is written as.
    fn value(&mut self, slot: &Slot) -> Option<(FileId, Node)> {
        let (first, rest) = slot.path.split_first()?;
        let Some(node) = slot.node else {
            let (file, topology) = self.topology.topology.as_ref()?;
            let value = topology.get("inputs")?.get(first)?.get("default")?;
            return Some((*file, value.clone()));
        };
        let template = self.topology.nodes.get(&node)?;
        let file = template.span.file;
        let capability = crate::types::named_items(template.node.get("capabilities"))
            .into_iter()
            .find(|(key, _)| key.text() == Some(first))
            .and_then(|(_, value)| value.get("properties")?.get(rest.first()?));
        if let Some(value) = capability {
            return Some((file, value.clone()));
        }
        let sections: &[&str] =
            if slot.is_attribute { &["attributes", "properties"] } else { &["properties"] };
        let shape = self.shapes.of(self.service, template.kind);
        let (file, mut value) = sections.iter().find_map(|section| {
            if let Some(given) = template.node.get(section).and_then(|given| given.get(first)) {
                return Some((file, given.clone()));
            }
            let defined = if *section == "attributes" { &shape.attributes } else { &shape.properties };
            let schema = defined.get(first)?;
            Some((schema.span?.file, schema.default.clone()?))
        })?;
        // A part of a value, as far as it is written out.
        for part in rest {
            let inner = value.get(part).or_else(|| value.items().get(part.parse::<usize>().ok()?)).cloned();
            match inner {
                Some(inner) => value = inner,
                None => break,
            }
        }
        Some((file, value))
    }

    fn collect(&self, value: &Node, within: Option<Symbol>, out: &mut Vec<Slot>) {
        if let [Entry { key, value: argument }] = value.entries()
            && let Some(name) = key.text()
        {
            let items =
                if argument.is_sequence() { argument.items() } else { std::slice::from_ref(argument) };
            let arguments: Vec<Symbol> = items.iter().map_while(Node::text).map(Symbol::new).collect();
            match name.strip_prefix('$').unwrap_or(name) {
                "get_input" => {
                    out.extend(arguments.first().map(|&name| Slot::input(name)));
                }
                "get_property" => out.extend(self.target(&arguments, within, false)),
                "get_attribute" => out.extend(self.target(&arguments, within, true)),
                _ => {}
            }
        }
        for entry in value.entries() {
            self.collect(&entry.value, within, out);
        }
        for item in value.items() {
            self.collect(item, within, out);
        }
    }

    /// Returns the value that a call names, as far as its node is known without a run.
    fn target(&self, arguments: &[Symbol], within: Option<Symbol>, is_attribute: bool) -> Option<Slot> {
        let (entity, path) = arguments.split_first()?;
        let node = match entity.as_str() {
            "SELF" => within?,
            "HOST" => *self.hosts.get(&within?)?,
            "SOURCE" | "TARGET" | "ORCHESTRATOR" | "MODEL" => return None,
            _ => *entity,
        };
        let template = self.topology.nodes.get(&node)?;
        let (first, rest) = path.split_first()?;
        // A requirement leads to the node that fulfils it.
        if !rest.is_empty()
            && let Some(target) = requirement_target(template, *first)
        {
            return Some(Slot { node: Some(target), is_attribute, path: rest.to_vec() });
        }
        Some(Slot { node: Some(node), is_attribute, path: path.to_vec() })
    }
}

fn requirement_target(template: &NodeTemplate, name: Symbol) -> Option<Symbol> {
    template.requirements.iter().find(|one| one.name == name)?.node
}

fn circle(stack: &[(Slot, Option<Span>, Vec<Slot>)]) -> Option<Diagnostic> {
    let (first, place, _) = stack.first()?;
    let mut finding =
        Diagnostic::new(Rule::InvalidValue, format!("{first} is computed from itself")).at((*place)?);
    for (slot, place, _) in stack.iter().skip(1).take(4) {
        if let Some(place) = place {
            finding = finding.with_label(*place, format!("by way of {slot}"));
        }
    }
    let nodes = stack.iter().filter_map(|(slot, ..)| Some(slot.node?.to_string()));
    Some(finding.with_help("Give one of them a value of its own.").with_resources(nodes.take(4)))
}
