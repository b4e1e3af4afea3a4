//! Whether the templates of a topology fit their types.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Symbol};

use crate::grammar::{Edition, is_call};
use crate::schema::{Schema, schemas};
use crate::service::Service;
use crate::types::{
    Capability, Interface, Scope, Table, ancestors, derives, full_name, inherited, is_whole, named_items,
    operation_entries, symbol,
};
use crate::values::Checker;
use crate::{calls, workflows};

/// What a type has, inherited parts included.
pub(crate) struct Shape {
    /// The type and all that it derives from are known.
    pub(crate) whole: bool,
    pub(crate) properties: IndexMap<Symbol, Schema>,
    pub(crate) attributes: IndexMap<Symbol, Schema>,
    pub(crate) capabilities: IndexMap<Symbol, Capability>,
    pub(crate) interfaces: IndexMap<Symbol, Interface>,
}

/// Shapes of node types, each made once however many nodes have the type.
#[derive(Default)]
pub(crate) struct Shapes(FxHashMap<Symbol, Rc<Shape>>);

impl Shapes {
    pub(crate) fn of(&mut self, service: &Service, kind: Symbol) -> Rc<Shape> {
        let make = || {
            let types = &service.types;
            Rc::new(Shape {
                whole: is_whole(&types.nodes, kind) && !service.incomplete,
                properties: inherited(&types.nodes, kind, |kind| &kind.properties),
                attributes: inherited(&types.nodes, kind, |kind| &kind.attributes),
                capabilities: types.capabilities_of(kind),
                interfaces: types.interfaces_of(&types.nodes, kind),
            })
        };
        Rc::clone(self.0.entry(kind).or_insert_with(make))
    }
}

/// Returns the findings about the definitions of a service template, and about the templates of its topologies.
pub(crate) fn check(service: &Service) -> Vec<Diagnostic> {
    let mut checker = Checker {
        types: &service.types,
        edition: service.edition,
        incomplete: service.incomplete,
        found: Vec::new(),
    };
    checker.definitions();
    for (name, span) in &service.called {
        if !calls::is_function(name) && !service.types.functions.contains(name) {
            let place =
                Node { range: span.range, tag: None, kind: setpoint_data::Kind::Sequence(Vec::new().into()) };
            checker.report(
                Rule::UnknownReference,
                format!("there is no function `${name}`"),
                &place,
                span.file,
            );
        }
    }
    let mut shapes = Shapes::default();
    for topology in std::iter::once(service).chain(service.inner.values()) {
        let Some((file, node)) = &topology.topology else { continue };
        for template in topology.nodes.values() {
            let shape = shapes.of(service, template.kind);
            checker.node_template(template.name, &template.node, template, &shape, template.span.file);
        }
        checker.relationship_templates(*file, node);
        checker.groups_and_policies(topology, *file, node);
        checker.parameters(*file, node);
        for call in &topology.calls {
            checker.found.extend(call.check_name(topology, service, &mut shapes));
        }
        workflows::check(&mut checker, service, topology, *file, node, &mut shapes);
    }
    checker.found
}

impl Checker<'_> {
    fn node_template(
        &mut self,
        name: Symbol,
        node: &Node,
        template: &crate::service::NodeTemplate,
        shape: &Shape,
        file: FileId,
    ) {
        if !shape.whole {
            return;
        }
        let kind = format!("a {}", template.kind);
        let of = format!("`{name}`");
        let empty =
            Node { range: node.range, tag: None, kind: setpoint_data::Kind::Mapping(Vec::new().into()) };
        let properties = node.get("properties").unwrap_or(&empty);
        self.assignments(properties.entries(), &shape.properties, file, &of, &kind);
        let is_made = !template.selected && !template.substituted;
        if is_made && !is_call(properties) {
            let place = Node { range: template.span.range, ..empty.clone() };
            self.missing(properties, &shape.properties, &place, file, &of);
        }
        // Tools for the Simple Profile take any attribute: they are values of a running node.
        if self.edition == Edition::Two {
            let attributes = node.get("attributes").map(Node::entries).unwrap_or_default();
            self.assignments(attributes, &shape.attributes, file, &of, &kind);
        }
        self.capabilities(name, node, template, shape, file, is_made);
        self.interfaces(node.get("interfaces"), &shape.interfaces, file, &of, &kind);
        self.artifacts(node.get("artifacts"), file);
        for (key, value) in named_items(node.get("requirements")) {
            let Some(relationship) = value.get("relationship").filter(|one| one.is_mapping()) else {
                continue;
            };
            let Some(kind) = symbol(relationship.get("type")) else { continue };
            let of = format!("the relationship of `{}`", key.text().unwrap_or_default());
            self.relationship(relationship, kind, key, file, &of);
        }
    }

    fn capabilities(
        &mut self,
        name: Symbol,
        node: &Node,
        template: &crate::service::NodeTemplate,
        shape: &Shape,
        file: FileId,
        is_made: bool,
    ) {
        let given = named_items(node.get("capabilities"));
        for (key, value) in &given {
            let Some(capability) = symbol(Some(key)) else { continue };
            let Some(definition) = shape.capabilities.get(&capability) else {
                let message = format!(
                    "`{name}` has a capability `{capability}`, which a {} does not define",
                    template.kind
                );
                self.report(Rule::UnknownReference, message, key, file);
                continue;
            };
            if !is_whole(&self.types.capabilities, definition.kind) {
                continue;
            }
            let (of, kind) = (format!("`{capability}` of `{name}`"), format!("a {}", definition.kind));
            let properties = self.types.capability_properties(definition);
            let values = value.get("properties").map(Node::entries).unwrap_or_default();
            self.assignments(values, &properties, file, &of, &kind);
            let attributes = self.types.capability_attributes(definition);
            let values = value.get("attributes").map(Node::entries).unwrap_or_default();
            self.assignments(values, &attributes, file, &of, &kind);
        }
        if self.edition == Edition::One || !is_made {
            return;
        }
        for (capability, definition) in &shape.capabilities {
            let properties = self.types.capability_properties(definition);
            let given = given.iter().find(|(key, _)| key.text() == Some(capability));
            let values = given.and_then(|(_, value)| value.get("properties"));
            let empty = Node {
                range: template.span.range,
                tag: None,
                kind: setpoint_data::Kind::Mapping(Vec::new().into()),
            };
            let of = format!("`{capability}` of `{name}`");
            self.missing(values.unwrap_or(&empty), &properties, &empty, file, &of);
        }
    }

    /// Checks the interfaces that a template assigns: their names, operations and inputs.
    fn interfaces(
        &mut self,
        given: Option<&Node>,
        defined: &IndexMap<Symbol, Interface>,
        file: FileId,
        of: &str,
        kind: &str,
    ) {
        for Entry { key, value } in given.map(Node::entries).unwrap_or_default() {
            let Some(name) = symbol(Some(key)) else { continue };
            // The Simple Profile lets an interface be named by its type.
            let by_type = || {
                let named = full_name(&self.types.interfaces, name);
                defined
                    .values()
                    .find(|one| one.kind.is_some_and(|kind| full_name(&self.types.interfaces, kind) == named))
            };
            let Some(interface) = defined.get(&name).or_else(by_type) else {
                let is_typed = value.get("type").is_some()
                    || self.types.interfaces.contains_key(&full_name(&self.types.interfaces, name));
                if !is_typed {
                    let message = format!("{of} has an interface `{name}`, which {kind} does not define");
                    self.report(Rule::UnknownReference, message, key, file);
                }
                continue;
            };
            if interface.kind.is_some_and(|kind| !is_whole(&self.types.interfaces, kind)) {
                continue;
            }
            for Entry { key, value } in operation_entries(value) {
                let Some(operation) = symbol(Some(key)) else { continue };
                let Some(inputs) = interface.operations.get(&operation) else {
                    if !interface.notifications.contains(&operation) {
                        let message =
                            format!("the interface `{name}` of {of} has no operation `{operation}`");
                        self.report(Rule::UnknownReference, message, key, file);
                    }
                    continue;
                };
                for Entry { key, value } in value.get("inputs").map(Node::entries).unwrap_or_default() {
                    let Some(input) = symbol(Some(key)) else { continue };
                    let schema = inputs.get(&input).or_else(|| interface.inputs.get(&input));
                    // What has a type is a definition, not a value.
                    if let Some(schema) = schema.filter(|_| value.get("type").is_none()) {
                        let shown = format!("the input `{input}` of `{operation}` of {of}");
                        self.value(value, schema, file, &shown);
                    }
                }
            }
        }
    }

    fn artifacts(&mut self, given: Option<&Node>, file: FileId) {
        for (_, value) in named_items(given) {
            let Some(kind) = value.get("type") else { continue };
            if let Some(name) = symbol(Some(kind)) {
                self.known_type(&self.types.artifacts, "artifact", name, kind.range.in_file(file));
            }
        }
    }

    fn relationship_templates(&mut self, file: FileId, topology: &Node) {
        for Entry { key, value } in
            topology.get("relationship_templates").map(Node::entries).unwrap_or_default()
        {
            let Some(kind) = value.get("type") else { continue };
            let Some(named) = symbol(Some(kind)) else { continue };
            if self.known_type(&self.types.relationships, "relationship", named, kind.range.in_file(file)) {
                self.relationship(value, named, key, file, &format!("`{}`", key.text().unwrap_or_default()));
            }
        }
    }

    fn relationship(&mut self, node: &Node, kind: Symbol, place: &Node, file: FileId, of: &str) {
        let table = &self.types.relationships;
        if !is_whole(table, kind) || self.incomplete {
            return;
        }
        let shown = format!("a {kind}");
        let properties = inherited(table, kind, |kind| &kind.properties);
        self.properties(node, &properties, place, file, of, &shown);
    }

    /// Checks the properties of a template against their definitions, and that none is missing.
    fn properties(
        &mut self,
        node: &Node,
        definitions: &IndexMap<Symbol, Schema>,
        place: &Node,
        file: FileId,
        of: &str,
        kind: &str,
    ) {
        let empty =
            Node { range: place.range, tag: None, kind: setpoint_data::Kind::Mapping(Vec::new().into()) };
        let given = node.get("properties").unwrap_or(&empty);
        self.assignments(given.entries(), definitions, file, of, kind);
        if !is_call(given) {
            self.missing(given, definitions, place, file, of);
        }
    }

    fn groups_and_policies(&mut self, topology: &Service, file: FileId, node: &Node) {
        let types = self.types;
        let groups: Vec<Symbol> =
            named_items(node.get("groups")).iter().filter_map(|(key, _)| symbol(Some(key))).collect();
        for (section, what, table, lists) in [
            ("groups", "group", &types.groups, &["members", "targets"][..]),
            ("policies", "policy", &types.policies, &["targets"][..]),
        ] {
            for (key, value) in named_items(node.get(section)) {
                let of = format!("the {what} `{}`", key.text().unwrap_or_default());
                self.members(topology, table, value, file, &of);
                for member in lists.iter().filter_map(|list| value.get(list)).flat_map(Node::items) {
                    let Some(name) = symbol(Some(member)) else { continue };
                    if !topology.nodes.contains_key(&name) && !groups.contains(&name) {
                        let message = format!("{of} names `{name}`, and there is no such node or group");
                        self.report(Rule::UnknownReference, message, member, file);
                    }
                }
                let Some(kind) = value.get("type") else { continue };
                let Some(named) = symbol(Some(kind)) else { continue };
                if self.known_type(table, what, named, kind.range.in_file(file)) {
                    self.typed(table, named, key, value, file, &of);
                }
            }
        }
    }

    /// Checks that the nodes of a group or policy have types that its own type takes: the nearest of its ancestors that names
    /// some decides.
    fn members(&mut self, topology: &Service, table: &Table, value: &Node, file: FileId, of: &str) {
        let kind = symbol(value.get("type")).filter(|kind| !self.incomplete && is_whole(table, *kind));
        let Some(kind) = kind else { return };
        let named = |kind: &Symbol| {
            let named = table.get(kind).map(|kind| kind.named.as_slice()).unwrap_or_default();
            named.iter().map(|(name, ..)| *name).collect::<Vec<_>>()
        };
        let taken = ancestors(table, kind).iter().map(named).find(|named| !named.is_empty());
        let Some(taken) = taken.filter(|taken| !taken.iter().any(|one| &**one == "tosca.nodes.Root")) else {
            return;
        };
        let nodes = &self.types.nodes;
        for member in ["members", "targets"].iter().filter_map(|list| value.get(list)).flat_map(Node::items) {
            let Some(node) = symbol(Some(member)).and_then(|name| topology.nodes.get(&name)) else {
                continue;
            };
            if is_whole(nodes, node.kind) && !taken.iter().any(|kind| derives(nodes, node.kind, *kind)) {
                let takes: Vec<String> = taken.iter().map(|kind| format!("`{kind}`")).collect();
                let message =
                    format!("{of} has `{}`, and a {kind} takes only {}", node.name, takes.join(", "));
                self.error(Rule::InvalidValue, message, member, file);
            }
        }
    }

    fn typed(&mut self, table: &Table, kind: Symbol, key: &Node, value: &Node, file: FileId, of: &str) {
        if is_whole(table, kind) && !self.incomplete {
            let properties = inherited(table, kind, |kind| &kind.properties);
            self.properties(value, &properties, key, file, of, &format!("a {kind}"));
        }
    }

    /// Checks the inputs and outputs of a topology.
    fn parameters(&mut self, file: FileId, topology: &Node) {
        for (section, what) in [("inputs", "input"), ("outputs", "output")] {
            let entries = topology.get(section).map(Node::entries).unwrap_or_default();
            for ((name, schema), entry) in
                schemas(topology.get(section), file, Scope::default()).iter().zip(entries)
            {
                let shown = format!("the {what} `{name}`");
                let is_definition = entry.value.is_mapping() && !is_call(&entry.value);
                if !is_definition {
                    continue;
                }
                self.schema(schema, entry.value.range.in_file(file), &shown);
                for value in schema.default.iter().chain(&schema.value) {
                    self.value(value, schema, file, &format!("the value of {shown}"));
                }
            }
        }
    }

    /// Adds a finding of another kind than that a name is not known.
    pub(crate) fn error(
        &mut self,
        rule: Rule,
        message: String,
        node: &Node,
        file: FileId,
    ) -> &mut Diagnostic {
        self.found
            .push(Diagnostic::new(rule, message).severity(Severity::Error).at(node.range.in_file(file)));
        let last = self.found.len() - 1;
        &mut self.found[last]
    }
}
