//! References: how they are followed, and the link phase, in which each link becomes its value.

use std::rc::Rc;

use setpoint_provenance::{Control, Leaf, LeafKind, Node, Prov};
use setpoint_source::{Span, Symbol};

use super::Production;
use super::tree::{FUNCTION_CLASS, Key, Link, Node as Component, NodeId, Progress, Value, is_searched};
use super::types::has_tag;
use crate::core::carried;
use crate::error::{Fail, Number, limit, not_found, numbered};
use crate::observe::EdgeKind;
use crate::output;
use crate::reference::shown;
use crate::store;
use crate::syntax::{Number as SyntaxNumber, Part, Reference};
use crate::{MAX_DEPTH, MAX_NESTING_OF_VALUES};

/// After so many links that refer to nothing, the rest are seldom news.
const MAX_ERRORS: usize = 50;

/// Why a reference has no value.
#[derive(Debug)]
pub(super) enum Missing {
    /// It is not there; an outer component may still have it, or a default stand in for it.
    Soft(Reason),
    /// The runtime is to find it.
    Lazy,
    /// Nothing can mend it.
    Hard(Fail),
}

#[derive(Debug)]
pub(super) enum Reason {
    /// No attribute of this name in a component; `outwards` if those around it were searched, too.
    NotFound {
        name: Symbol,
        from: NodeId,
        outwards: bool,
    },
    ToBeDefined(Symbol),
    NoComponent(Symbol),
    NoParent,
    Property(Symbol),
    Environment(Symbol),
    NoInteger(Symbol),
    Runtime(Part),
    /// An expression that is not computed before the links are resolved: its name, its arguments, whether it is lazy.
    Function(Symbol, NodeId, bool),
    /// A function, assertion or schema that failed: where it stands, in words, and the attribute that is to blame if there is one.
    Failed(Span, String, Option<Span>),
}

/// A value that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) provenance: Prov,
}

impl Production<'_> {
    /// Follows a reference from a component.
    pub(super) fn resolve(&mut self, from: NodeId, parts: &[Part], span: Span) -> Result<Found, Missing> {
        self.resolve_part(from, parts, 0, span)
    }

    fn resolve_part(
        &mut self,
        at: NodeId,
        parts: &[Part],
        index: usize,
        span: Span,
    ) -> Result<Found, Missing> {
        let Some(&part) = parts.get(index) else {
            return Ok(Found { value: Value::Component(at), provenance: Prov::NONE });
        };
        match part {
            Part::Name(name) | Part::Attrib(name)
                if is_searched(part) && (index == 0 || part != Part::Name(name)) =>
            {
                let mut level = Some(at);
                // The nearest reason that says more than that nothing was found.
                let mut reason = Reason::NotFound { name, from: at, outwards: true };
                while let Some(node) = level {
                    match self.resolve_here(node, name, parts, index, span) {
                        Err(Missing::Soft(nearer)) => {
                            let says_no_more =
                                matches!(nearer, Reason::NotFound { name: missing, .. } if missing == name);
                            if matches!(reason, Reason::NotFound { outwards: true, .. }) && !says_no_more {
                                reason = nearer;
                            }
                        }
                        other => return other,
                    }
                    level = self.tree.node(node).parent;
                }
                Err(Missing::Soft(reason))
            }
            Part::Name(name) | Part::Attrib(name) | Part::Here(name) => {
                self.resolve_here(at, name, parts, index, span)
            }
            Part::Root => {
                let mut root = at;
                while let Some(parent) = self.tree.node(root).parent {
                    root = parent;
                }
                self.resolve_part(root, parts, index + 1, span)
            }
            Part::Parent => match self.tree.node(at).parent {
                Some(parent) => self.resolve_part(parent, parts, index + 1, span),
                None => Err(Missing::Soft(Reason::NoParent)),
            },
            Part::This => self.resolve_part(at, parts, index + 1, span),
            Part::Property(name) | Part::Constant(name) => self.external(name, false, false, span),
            Part::IntegerProperty(name) => self.external(name, false, true, span),
            Part::Environment(name) => self.external(name, true, false, span),
            Part::IntegerEnvironment(name) => self.external(name, true, true, span),
            Part::Host(_) | Part::Process => Err(Missing::Soft(Reason::Runtime(part))),
        }
    }

    fn resolve_here(
        &mut self,
        node: NodeId,
        name: Symbol,
        parts: &[Part],
        index: usize,
        span: Span,
    ) -> Result<Found, Missing> {
        if index > 0
            && self
                .tree
                .node(node)
                .attributes
                .get(&Key::Name(name))
                .is_some_and(|found| has_tag(found, "sfLocal"))
        {
            return Err(Missing::Soft(Reason::NotFound { name, from: node, outwards: false }));
        }
        let found = self.value_of(node, name)?;
        if index + 1 == parts.len() {
            self.reached = Some((node, name));
            return Ok(found);
        }
        match found.value {
            Value::Component(inner) => {
                let target = self.resolve_part(inner, parts, index + 1, span)?;
                let provenance = self.under_copy(target.provenance, found.provenance);
                Ok(Found { provenance, ..target })
            }
            _ => Err(Missing::Soft(Reason::NoComponent(name))),
        }
    }

    /// A value's provenance under a component through which it was found, if that came through a prototype or a link.
    pub(super) fn under_copy(&mut self, of: Prov, component: Prov) -> Prov {
        match self.arena.node(component) {
            None | Some(Node::Leaf(_)) => of,
            Some(_) => self.arena.under(of, Control::Selection, component, None),
        }
    }

    /// A property or a variable of the environment, of which only those are known that the user gave.
    fn external(
        &mut self,
        name: Symbol,
        environment: bool,
        integer: bool,
        span: Span,
    ) -> Result<Found, Missing> {
        let known = if environment { &self.options.environment } else { &self.options.properties };
        let Some(text) = known.get(name.as_str()) else {
            let unknown = if environment { Reason::Environment } else { Reason::Property };
            return Err(Missing::Soft(unknown(name)));
        };
        let value = if integer {
            let number = text.trim().parse().map_err(|_| Missing::Soft(Reason::NoInteger(name)))?;
            store::Value::Number(SyntaxNumber::Integer(number))
        } else {
            store::Value::String(text.as_str().into())
        };
        let leaf = Leaf { kind: LeafKind::External, name: Some(name), span: Some(span) };
        Ok(Found { value: Value::Basic(value), provenance: self.arena.leaf(leaf) })
    }

    /// The value of an attribute, with links followed and functions applied.
    pub(super) fn value_of(&mut self, node: NodeId, name: Symbol) -> Result<Found, Missing> {
        let Some(attribute) = self.tree.node(node).attributes.get(&Key::Name(name)) else {
            return Err(Missing::Soft(Reason::NotFound { name, from: node, outwards: false }));
        };
        let span = self.tree.place(attribute);
        let provenance = attribute.provenance;
        let value = attribute.value.clone();
        match value {
            Value::Basic(_) | Value::Component(_) | Value::Nothing => return Ok(Found { value, provenance }),
            Value::ToBeDefined => return Err(Missing::Soft(Reason::ToBeDefined(name))),
            Value::Apply { node, lazy } | Value::Assert { node, lazy } if !self.linking_has_begun() => {
                return Err(Missing::Soft(Reason::Function(name, node, lazy)));
            }
            Value::Apply { lazy: true, .. } | Value::Assert { lazy: true, .. } => return Err(Missing::Lazy),
            Value::Link(_) | Value::Apply { .. } | Value::Assert { .. } => {}
        }
        if !self.resolving.insert((node, name)) {
            let path = shown(&crate::reference::concatenation(&self.tree.path(node), &[name]));
            let message =
                format!("the value of `{path}` depends on itself: its links or functions form a circle");
            return Err(Missing::Hard(numbered(Number::LinkCycle, span, message)));
        }
        if self.depth >= MAX_NESTING_OF_VALUES {
            let message =
                format!("links and functions refer to each other more than {MAX_NESTING_OF_VALUES} deep");
            return Err(Missing::Hard(limit(Some(span), message)));
        }
        self.depth += 1;
        let found = match value {
            Value::Link(link) => {
                self.follow(node, &link).inspect(|found| self.observe_link((node, name), &found.value))
            }
            Value::Apply { node: function, .. } => self.apply(function, node),
            Value::Assert { node: assertion, .. } => self.check(assertion, node, name),
            other => Ok(Found { value: other, provenance }),
        };
        self.depth -= 1;
        self.resolving.remove(&(node, name));
        let mut found = found?;
        found.provenance = carried(&mut self.arena, &mut self.overridden, found.provenance, provenance);
        if self.linking_has_begun() {
            // What was found once need not be found again.
            let mut old = None;
            if let Some(attribute) = self.tree.node_mut(node).attributes.get_mut(&Key::Name(name)) {
                old = Some(std::mem::replace(&mut attribute.value, found.value.clone()));
                attribute.provenance = found.provenance;
            }
            let (phase, what) = match (&old, &found.value) {
                (Some(Value::Link(_)), Value::Component(target)) => {
                    ("link", format!("is the component `{}`", shown(&self.tree.path(*target))))
                }
                (Some(Value::Link(_)), _) => ("link", "has its value".to_owned()),
                (Some(Value::Assert { .. }), _) => ("assertion", "holds, and is left out".to_owned()),
                _ => ("function", "has its value".to_owned()),
            };
            self.watch(phase, (node, name), old.as_ref(), span, &what);
        }
        Ok(found)
    }

    fn follow(&mut self, node: NodeId, link: &Rc<Link>) -> Result<Found, Missing> {
        if link.lazy {
            return Err(Missing::Lazy);
        }
        self.reached = None;
        let Reference { parts, span } = &link.reference;
        match self.resolve(node, parts, *span) {
            Ok(found) => {
                let name = self.arena.enabled().then(|| Symbol::new(&output::reference(parts)));
                let provenance = self.arena.copy(found.provenance, Some(*span), name);
                Ok(Found { provenance, ..found })
            }
            Err(Missing::Soft(reason)) => match &link.default {
                Some((store::Value::Lazy(_), span)) => {
                    let message =
                        "the default of `OPTIONAL` is no literal value, and Setpoint does not compute it";
                    Err(Missing::Soft(Reason::Failed(*span, message.to_owned(), None)))
                }
                Some((value, span)) => {
                    Ok(Found { value: Value::Basic(value.clone()), provenance: self.arena.literal(*span) })
                }
                None => Err(Missing::Soft(reason)),
            },
            Err(missing) => Err(missing),
        }
    }

    /// Notes what an attribute links to: a component, or the attribute that has the value. What stands for the arguments of a
    /// function is the attribute that the function computes.
    fn observe_link(&mut self, (node, name): (NodeId, Symbol), value: &Value) {
        if self.observations.is_none() {
            return;
        }
        let (mut from, mut name) = (node, Some(name));
        while self.tree.string(from, FUNCTION_CLASS).is_some() {
            name = None;
            match self.tree.node(from).parent {
                Some(parent) if self.tree.string(parent, FUNCTION_CLASS).is_some() => from = parent,
                _ => break,
            }
        }
        let to = match (value, self.reached) {
            (&Value::Component(target), _) => (target, None),
            (_, Some((target, name))) => (target, Some(name)),
            // A default, or what is outside of the specification.
            _ => return,
        };
        self.observe_edge((from, name), to, EdgeKind::Link);
    }

    fn linking_has_begun(&self) -> bool {
        !self.linking.is_empty()
    }

    /// The link phase: all links of a component, and of the components that they lead to.
    pub(super) fn resolve_links(&mut self, main: NodeId) -> Result<(), Vec<Fail>> {
        let mut errors = Vec::new();
        if let Err(fail) = self.link(main, &mut errors) {
            errors.push(fail);
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Gathers what cannot be resolved; stops at what makes going on pointless.
    fn link(&mut self, node: NodeId, errors: &mut Vec<Fail>) -> Result<(), Fail> {
        if self.linked.contains(&node) {
            return Ok(());
        }
        if self.linking.len() >= MAX_DEPTH {
            let message = format!("the compiled components would be nested more than {MAX_DEPTH} deep");
            return Err(limit(Some(self.tree.node(node).span), message));
        }
        self.linking.insert(node);
        for at in 0..self.tree.node(node).attributes.len() {
            let Some((key, attribute)) = self.tree.node(node).attributes.get_index(at) else { break };
            let Key::Name(name) = *key else { continue };
            let span = self.tree.place(attribute);
            let is_ignored = matches!(attribute.value, Value::Link(_)) && has_tag(attribute, "sfIgnoreLink");
            if is_ignored || matches!(attribute.value, Value::Basic(_)) {
                continue;
            }
            match self.value_of(node, name) {
                Ok(Found { value: Value::Component(inner), .. }) => {
                    if self.linking.contains(&inner) || self.tree.contains(inner, node) {
                        let message = format!(
                            "`{name}` refers to `{}`, which contains it: it would expand without end",
                            shown(&self.tree.path(inner))
                        );
                        errors.push(numbered(Number::ImplicitCycle, span, message));
                        // Nothing below this can be trusted; the rest of the component still can.
                        continue;
                    }
                    if self.tree.node(inner).types_progress != Progress::Done {
                        // A component elsewhere that a link leads to is needed after all.
                        errors.extend(self.unresolved_prototypes(inner)?);
                    }
                    self.link(inner, errors)?;
                }
                Ok(_) => {}
                Err(Missing::Lazy) => self.make_lazy(node, name),
                Err(Missing::Hard(fail)) => return Err(fail),
                Err(Missing::Soft(reason)) => {
                    let fail = self.unresolved(node, name, span, &reason);
                    // All that depends on a function that fails has its error.
                    if errors.iter().all(|known| (known.span, &known.message) != (fail.span, &fail.message)) {
                        errors.push(fail);
                    }
                    if errors.len() >= MAX_ERRORS {
                        return Ok(());
                    }
                }
            }
        }
        self.linking.remove(&node);
        self.linked.insert(node);
        Ok(())
    }

    /// A link to what the runtime is to find is for the runtime too.
    pub(super) fn make_lazy(&mut self, node: NodeId, name: Symbol) {
        let lazy = match self.tree.value(node, name) {
            Some(Value::Link(link)) => {
                let Link { reference, default, .. } = &**link;
                Value::Link(Rc::new(Link {
                    reference: reference.clone(),
                    lazy: true,
                    default: default.clone(),
                }))
            }
            Some(Value::Apply { node, lazy }) => {
                Value::Apply { node: *node, lazy: *lazy || self.is_known_function(*node) }
            }
            Some(Value::Assert { node, .. }) => Value::Assert { node: *node, lazy: true },
            _ => return,
        };
        self.tree.set_value(node, name, lazy);
    }

    fn unresolved(&self, node: NodeId, name: Symbol, span: Span, reason: &Reason) -> Fail {
        let why = self.reason(reason);
        let component = shown(&self.tree.path(node));
        let message = match (self.tree.value(node, name), reason) {
            (_, Reason::Failed(..)) => format!("in `{component}`: {why}"),
            (_, Reason::ToBeDefined(missing)) if *missing == name => {
                format!("`{name}` of `{component}` is still to be defined (`TBD`)")
            }
            (Some(Value::Link(link)), reason) => {
                let text = output::reference(&link.reference.parts);
                if is_missing_part(&link.reference.parts, reason) {
                    format!("the link `{text}` refers to nothing: {why}")
                } else {
                    format!("the link `{text}` has no value: {why}")
                }
            }
            _ => format!("`{name}` has no value: {why}"),
        };
        let Reason::Failed(place, _, blamed) = *reason else {
            return numbered(Number::Link, span, message);
        };
        // What fails may be inherited, or stand in a file that nobody edits: then the component has the error, and not that place.
        let component = blamed.or_else(|| self.edited_place(node)).unwrap_or(place);
        if component.file == place.file && component.range.to(place.range) == component.range {
            return numbered(Number::Link, place, message);
        }
        let mut fail = numbered(Number::Link, component, message);
        *fail = fail.with_label(place, "what fails");
        fail
    }

    /// Where a component stands, or the one around it that stands in a file that people edit.
    fn edited_place(&self, node: NodeId) -> Option<Span> {
        let mut around = Some(node);
        while let Some(node) = around {
            let Component { span, parent, .. } = self.tree.node(node);
            if !self.foreign.contains(&span.file) {
                return parent.map(|_| *span);
            }
            around = *parent;
        }
        None
    }

    /// Why something is missing, in words.
    pub(super) fn reason(&self, reason: &Reason) -> String {
        match reason {
            Reason::NotFound { name, from, outwards: true } => not_found(*name, &self.tree.path(*from)),
            Reason::NotFound { name, from, outwards: false } => match &self.tree.path(*from)[..] {
                [] => format!("there is no attribute `{name}` at the top level"),
                component => format!("`{}` has no `{name}`", shown(component)),
            },
            Reason::ToBeDefined(name) => format!("`{name}` is still to be defined (`TBD`)"),
            Reason::NoComponent(name) => format!("`{name}` is a plain value and has no attributes"),
            Reason::NoParent => "`PARENT` leads out of the specification".to_owned(),
            Reason::Property(name) => {
                format!("nothing is known of `{name}`; give it with `--property {name}=…`")
            }
            Reason::Environment(name) => format!(
                "nothing is known of `{name}`; `--env` reads it from the environment, and `--property {name}=…` gives it"
            ),
            Reason::NoInteger(name) => format!("`{name}` is not a whole number"),
            Reason::Runtime(part) => {
                format!(
                    "`{}` is known at run time only; make the reference `LAZY`",
                    output::reference(&[*part])
                )
            }
            Reason::Function(name, ..) => format!("`{name}` is a function"),
            Reason::Failed(_, message, _) => message.clone(),
        }
    }
}

/// Whether a reference has no value because one of its own parts is missing; what it leads to may lack something else.
fn is_missing_part(parts: &[Part], reason: &Reason) -> bool {
    match reason {
        Reason::NotFound { name, .. } => {
            let is_part = |part: &Part| matches!(part, Part::Name(own) | Part::Attrib(own) | Part::Here(own) if own == name);
            parts.iter().any(is_part)
        }
        _ => true,
    }
}
