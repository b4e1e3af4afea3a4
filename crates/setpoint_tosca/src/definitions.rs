//! Whether type definitions fit together: what they derive from, the types that they name, and their defaults.

use indexmap::IndexMap;
use setpoint_data::Node;
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use crate::grammar::Edition;
use crate::scalar;
use crate::schema::Schema;
use crate::types::{Names, Table, Type, ancestors, derives, full_name, inherited};
use crate::values::{Base, Checker, primitive};

/// The file of the built-in types, which are not checked.
pub(crate) const BUILT_IN: FileId = FileId(u32::MAX);

impl Checker<'_> {
    /// Checks every type that a file of the user defines.
    pub(crate) fn definitions(&mut self) {
        let types = self.types;
        for (what, table) in [
            ("node", &types.nodes),
            ("relationship", &types.relationships),
            ("capability", &types.capabilities),
            ("data", &types.data),
            ("artifact", &types.artifacts),
            ("interface", &types.interfaces),
            ("group", &types.groups),
            ("policy", &types.policies),
        ] {
            for (name, kind) in table {
                let Some(span) = kind.span.filter(|span| span.file != BUILT_IN) else { continue };
                self.derivation(what, table, *name, kind, span);
                self.schemas(
                    "property",
                    *name,
                    &kind.properties,
                    &|parent| inherited(table, parent, |kind| &kind.properties),
                    kind.parent,
                );
                self.schemas(
                    "attribute",
                    *name,
                    &kind.attributes,
                    &|parent| inherited(table, parent, |kind| &kind.attributes),
                    kind.parent,
                );
                self.parts(*name, kind);
                if what == "data" {
                    self.data_type(*name, kind, span);
                }
                if what == "interface" && self.edition == Edition::Two {
                    self.interface_inputs(*name, kind);
                }
            }
        }
    }

    /// Checks the types of the inputs that an interface type defines.
    fn interface_inputs(&mut self, name: Symbol, kind: &Type) {
        for interface in kind.interfaces.values() {
            let of_operations = interface.operations.values().flatten();
            for (input, schema) in interface.inputs.iter().chain(of_operations) {
                let Some(span) = schema.span else { continue };
                self.schema(schema, span, &format!("the input `{input}` of `{name}`"));
            }
        }
    }

    fn derivation(&mut self, what: &str, table: &Table, name: Symbol, kind: &Type, span: Span) {
        let Some(parent) = kind.parent else { return };
        let is_built_in = what == "data" && !matches!(self.base(parent), Base::Unknown);
        if !is_built_in && !self.known_type(table, what, parent, span) {
            return;
        }
        let chain = ancestors(table, name);
        let last = chain.last().and_then(|last| table.get(last)).and_then(|last| last.parent);
        // A name of a namespace that lacks it is not that of this file.
        if last
            .is_some_and(|parent| parent != name && parent.contains(':') && full_name(table, parent) == name)
        {
            self.unknown_type(what, parent, None, span);
        } else if last.is_some_and(|parent| full_name(table, parent) == name) {
            let message = format!("the {what} type `{name}` derives from itself");
            self.found.push(Diagnostic::new(Rule::MalformedTemplate, message).at(span));
        }
    }

    /// Checks definitions of properties or attributes, and that they refine what they inherit.
    fn schemas(
        &mut self,
        what: &str,
        of: Symbol,
        own: &IndexMap<Symbol, Schema>,
        inherited: &dyn Fn(Symbol) -> IndexMap<Symbol, Schema>,
        parent: Option<Symbol>,
    ) {
        if own.is_empty() {
            return;
        }
        let inherited = parent.map(inherited).unwrap_or_default();
        for (name, schema) in own {
            let Some(span) = schema.span else { continue };
            let shown = format!("the {what} `{name}` of `{of}`");
            let refined = inherited.get(name);
            let Some(kind) = schema.kind.or(refined.and_then(|one| one.kind)) else {
                if parent.is_none_or(|_| refined.is_none()) && !self.incomplete {
                    let message = format!("{shown} has no type");
                    self.found.push(Diagnostic::new(Rule::MalformedTemplate, message).at(span));
                }
                continue;
            };
            let mut whole = schema.clone();
            if let Some(refined) = refined {
                whole.refine(refined);
                self.refinement(&whole, refined, span, &shown);
            } else {
                whole.kind = Some(kind);
            }
            self.schema(&whole, span, &shown);
            let own = [&whole.default, &whole.value].map(Option::as_ref);
            let inherited =
                refined.map(|one| [&one.default, &one.value].map(Option::as_ref)).unwrap_or_default();
            let is_new = |value: &&Node| !inherited.iter().flatten().any(|one| one.range == value.range);
            for value in own.into_iter().flatten().filter(is_new) {
                // `default: null` says that there is none.
                if !value.is_null() {
                    self.value(value, &whole, span.file, &format!("the value of {shown}"));
                }
            }
        }
    }

    /// Checks that the types that a definition names are there.
    pub(crate) fn schema(&mut self, schema: &Schema, span: Span, shown: &str) {
        if let Some(kind) = schema.kind {
            match self.base(kind) {
                Base::Unknown => {
                    self.known_type(&self.types.data, "data", kind, span);
                }
                Base::Open if primitive(kind) == Some("scalar") => {
                    let message = format!("{shown} has the type `scalar`, which has no units");
                    self.found.push(
                        Diagnostic::new(Rule::InvalidValue, message)
                            .at(span)
                            .with_help("Derive a data type from `scalar`, with its `units`."),
                    );
                }
                _ => {}
            }
        }
        for pattern in schema.constraints.iter().filter_map(|one| one.get("pattern")) {
            if pattern.text().is_some_and(|text| fancy_regex::Regex::new(text).is_err()) {
                let message = format!("{shown} has a pattern that is not a regular expression");
                let place = pattern.range.in_file(span.file);
                let finding = Diagnostic::new(Rule::InvalidValue, message).severity(Severity::Warning);
                self.found.push(finding.at(place));
            }
        }
        for inner in schema.key.iter().chain(&schema.entry) {
            self.schema(inner, inner.span.unwrap_or(span), shown);
        }
    }

    fn refinement(&mut self, schema: &Schema, refined: &Schema, span: Span, shown: &str) {
        let fixed = refined.value.as_ref().and_then(Node::text);
        let given = schema.value.as_ref().and_then(Node::text);
        if let (Some(fixed), Some(given)) = (fixed, given)
            && fixed != given
        {
            let message = format!("{shown} is fixed to `{fixed}` by the type that it derives from");
            self.found.push(Diagnostic::new(Rule::InvalidValue, message).at(span));
        }
        let (Some(kind), Some(inherited)) = (schema.kind, refined.kind) else { return };
        let is_same = primitive(kind).is_some() && primitive(kind) == primitive(inherited);
        if self.edition == Edition::Two && !is_same && !derives(&self.types.data, kind, inherited) {
            let message =
                format!("{shown} is a `{kind}`, and the type that it derives from has a `{inherited}`");
            self.found.push(
                Diagnostic::new(Rule::InvalidValue, message)
                    .at(span)
                    .with_help("A refinement keeps the type, or takes one that derives from it."),
            );
        }
    }

    /// Checks the types that capabilities, requirements, interfaces and lists of a type name.
    fn parts(&mut self, name: Symbol, kind: &Type) {
        let before = self.found.len();
        self.named_types(name, kind);
        // Tools for the Simple Profile look at these types only where a template uses them.
        if self.edition == Edition::One {
            for finding in self.found.iter_mut().skip(before).filter(|one| one.rule == Rule::UnknownType) {
                finding.severity = finding.severity.min(Severity::Warning);
            }
        }
    }

    fn named_types(&mut self, name: Symbol, kind: &Type) {
        let types = self.types;
        for (capability, definition) in &kind.capabilities {
            self.known_type(&types.capabilities, "capability", definition.kind, definition.span);
            let of = Symbol::new(&format!("{name}.{capability}"));
            let refined =
                kind.parent.and_then(|parent| types.capabilities_of(parent).swap_remove(capability));
            let above =
                refined.as_ref().map(|refined| types.capability_properties(refined)).unwrap_or_default();
            self.schemas(
                "property",
                of,
                &definition.properties,
                &|parent| {
                    let mut all = above.clone();
                    crate::schema::inherit(
                        &mut all,
                        &inherited(&types.capabilities, parent, |kind| &kind.properties),
                    );
                    all
                },
                Some(definition.kind),
            );
        }
        for requirement in &kind.requirements {
            if let Some(relationship) = requirement.relationship {
                self.known_type(&types.relationships, "relationship", relationship, requirement.span);
            }
            if let Some(node) = requirement.node {
                self.known_type(&types.nodes, "node", node, requirement.span);
            }
            // A requirement may name a capability of the node type instead of a capability type.
            let is_capability = requirement.capability.is_some_and(|capability| {
                let bare = Symbol::new(capability.as_str().rsplit(':').next().unwrap_or_default());
                requirement.node.is_some_and(|node| types.capabilities_of(node).contains_key(&bare))
            });
            if let Some(capability) = requirement.capability.filter(|_| !is_capability) {
                self.known_type(&types.capabilities, "capability", capability, requirement.span);
            }
        }
        for interface in kind.interfaces.values() {
            if let (Some(kind), Some(span)) = (interface.kind, interface.span) {
                self.known_type(&types.interfaces, "interface", kind, span);
            }
        }
        for (named, span, of) in &kind.named {
            let is_in = |table: &Table| table.contains_key(&full_name(table, *named));
            let (what, table, is_elsewhere) = match of {
                Names::Nodes => ("node", &types.nodes, false),
                Names::NodesOrGroups => ("node", &types.nodes, is_in(&types.groups)),
                Names::NodesOrCapabilities => ("capability", &types.capabilities, is_in(&types.nodes)),
                Names::Capabilities => ("capability", &types.capabilities, false),
                Names::Relationships => ("relationship", &types.relationships, false),
            };
            if !is_elsewhere {
                self.known_type(table, what, *named, *span);
            }
        }
    }

    fn data_type(&mut self, name: Symbol, kind: &Type, span: Span) {
        let base = self.base(name);
        if !kind.properties.is_empty() && matches!(base, Base::Primitive(_) | Base::Units(_)) {
            let message = format!("`{name}` derives from a type without properties, and defines some");
            self.found.push(Diagnostic::new(Rule::InvalidValue, message).severity(Severity::Error).at(span));
        }
        for inner in kind.schema.key.iter().chain(&kind.schema.entry) {
            self.schema(inner, inner.span.unwrap_or(span), &format!("`{name}`"));
        }
        let Some(node) = kind.written.as_ref().filter(|_| self.edition == Edition::Two) else { return };
        let derives_directly = kind.parent.and_then(primitive) == Some("scalar");
        let is_scalar = matches!(base, Base::Units(_));
        for (place, message) in scalar::check(node, is_scalar, derives_directly) {
            let place = if place.range == node.range { span } else { place.range.in_file(span.file) };
            self.found.push(Diagnostic::new(Rule::InvalidValue, message).at(place));
        }
        if let Some(number) = node.get("data_type").filter(|_| is_scalar) {
            let named = Symbol::new(number.text().unwrap_or_default());
            if !matches!(self.base(named), Base::Primitive("integer" | "float")) {
                let message = format!("the numbers of `{name}` must be integers or floats, not `{named}`");
                self.report(Rule::InvalidValue, message, number, span.file);
            } else if !derives_directly {
                let message = format!("`{name}` changes the type of the numbers of what it derives from");
                self.report(Rule::InvalidValue, message, number, span.file);
            }
        }
    }
}
