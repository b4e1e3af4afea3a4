//! The type phase: each prototype is found and copied under the attributes of the component that extends it.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use setpoint_provenance::Prov;
use setpoint_source::{Limit, Span, Symbol};

use super::Production;
use super::resolve::{Missing, Reason};
use super::tree::{Attribute, Attributes, Key, Node, NodeId, Progress, Type, Value};
use crate::core::described;
use crate::error::{Fail, Number, limit, numbered, plain};
use crate::observe::{EdgeKind, OrderChange, OrderSource};
use crate::output;
use crate::reference::shown;
use crate::syntax::Reference;
use crate::{MAIN, MAX_ATTRIBUTES, MAX_DEPTH, order};

/// Components are visited again as long as some round resolves something; no sensible specification needs so many visits.
const MAX_VISITS: Limit = Limit::new(50_000_000);

/// One visit of all components.
#[derive(Default)]
struct Round {
    unresolved: Vec<Fail>,
    progress: bool,
}

impl Production<'_> {
    /// Rounds over all components, until every prototype is copied or a round brings nothing. Only what `sfConfig` needs must
    /// be resolved.
    pub(super) fn resolve_types(&mut self, root: NodeId) -> Result<(), Vec<Fail>> {
        let mut visits = 0;
        loop {
            let mut round = Round::default();
            self.resolve_types_of(root, &mut round, &mut visits).map_err(|fail| vec![fail])?;
            if round.unresolved.is_empty() {
                return Ok(());
            }
            if !round.progress {
                break;
            }
        }
        let needed = match self.tree.value(root, Symbol::new(MAIN)) {
            Some(&Value::Component(main)) => main,
            _ => root,
        };
        let unresolved = self.unresolved_prototypes(needed).map_err(|fail| vec![fail])?;
        if unresolved.is_empty() { Ok(()) } else { Err(unresolved) }
    }

    /// The prototypes that a component waits for after the last round, each once.
    pub(super) fn unresolved_prototypes(&mut self, node: NodeId) -> Result<Vec<Fail>, Fail> {
        let mut round = Round::default();
        self.resolve_types_of(node, &mut round, &mut 0)?;
        let mut seen = FxHashSet::default();
        round.unresolved.retain(|fail| seen.insert((fail.span, fail.message.clone())));
        Ok(round.unresolved)
    }

    /// Copies the prototypes of a component and of all components in it. Says whether none is left.
    fn resolve_types_of(
        &mut self,
        node: NodeId,
        round: &mut Round,
        visits: &mut usize,
    ) -> Result<bool, Fail> {
        if self.tree.node(node).types_progress == Progress::Done {
            return Ok(true);
        }
        let span = self.tree.node(node).span;
        *visits += 1;
        if *visits > MAX_VISITS {
            return Err(limit(Some(span), "resolving the prototypes takes too many steps"));
        }
        if self.depth >= MAX_DEPTH {
            let message = format!("prototypes extend each other, or are nested, more than {MAX_DEPTH} deep");
            return Err(limit(Some(span), message));
        }
        self.depth += 1;
        self.tree.node_mut(node).types_progress = Progress::Begun;
        let done =
            self.resolve_own_types(node, round, visits)? && self.resolve_inner_types(node, round, visits)?;
        self.tree.node_mut(node).types_progress = if done { Progress::Done } else { Progress::Waiting };
        self.depth -= 1;
        Ok(done)
    }

    /// From the last prototype to the first, so that the first comes first and is overridden by the others.
    fn resolve_own_types(
        &mut self,
        node: NodeId,
        round: &mut Round,
        visits: &mut usize,
    ) -> Result<bool, Fail> {
        while let Some(kind) = self.tree.node(node).types.last().cloned() {
            match kind {
                Type::Body(template) => {
                    self.subtype(node, template, None)?;
                    self.watch_subtype(node, template, None);
                }
                Type::Reference(reference) => {
                    if self.become_function(node, &reference)? {
                        round.progress = true;
                        return Ok(true);
                    }
                    let Some((prototype, found_by)) = self.find_prototype(node, &reference, round)? else {
                        return Ok(false);
                    };
                    if self.tree.node(prototype).types_progress == Progress::Begun {
                        return Err(self.cycle(prototype, reference.span));
                    }
                    if !self.resolve_types_of(prototype, round, visits)? {
                        return Ok(false);
                    }
                    self.observe_edge((node, None), (prototype, None), EdgeKind::Extends);
                    self.subtype(node, prototype, Some((&reference, found_by)))?;
                    self.watch_subtype(node, prototype, Some(&reference));
                    round.progress = true;
                }
            }
            self.tree.node_mut(node).types.pop();
        }
        Ok(true)
    }

    /// `a extends b` where `b` is a vector or another expression: `a` is that expression, and no component.
    fn become_function(&mut self, node: NodeId, reference: &Reference) -> Result<bool, Fail> {
        let Node { parent: Some(parent), types, attributes, .. } = self.tree.node(node) else {
            return Ok(false);
        };
        let parent = *parent;
        if types.len() != 1 || !attributes.is_empty() {
            return Ok(false);
        }
        let found = self.resolve(node, &reference.parts, reference.span);
        let Err(Missing::Soft(Reason::Function(_, function, lazy))) = found else { return Ok(false) };
        let key = self.tree.node(node).key.clone();
        let copy = self.copied_node(function, parent)?;
        self.tree.node_mut(copy).key = key;
        let own = self.tree.node_mut(parent).attributes.values_mut();
        for attribute in own.filter(|own| matches!(own.value, Value::Component(child) if child == node)) {
            attribute.value = Value::Apply { node: copy, lazy };
        }
        Ok(true)
    }

    /// Records which attributes a prototype gave, and which the component overrides: these are written elsewhere.
    fn watch_subtype(&mut self, node: NodeId, prototype: NodeId, reference: Option<&Reference>) {
        if self.trace.is_none() {
            return;
        }
        let what = reference.map_or("is written in the body".to_owned(), |reference| {
            format!("is inherited through `extends {}`", output::reference(&reference.parts))
        });
        let given = self.tree.node(prototype).attributes.iter().filter_map(|(key, attribute)| match key {
            Key::Name(name) => Some((*name, attribute.span)),
            Key::Path(_) => None,
        });
        for (name, given) in given.collect::<Vec<_>>() {
            let Some(own) = self.tree.node(node).attributes.get(&Key::Name(name)).map(|own| own.span) else {
                continue;
            };
            if own == given {
                let place = reference.map_or(own, |reference| reference.span);
                self.watch("type", (node, name), None, place, &what);
            } else {
                let what = format!("keeps its own value, and the position of the one that {what}");
                self.watch_unchanged("type", (node, name), own, &what);
            }
        }
    }

    fn resolve_inner_types(
        &mut self,
        node: NodeId,
        round: &mut Round,
        visits: &mut usize,
    ) -> Result<bool, Fail> {
        let mut done = true;
        for child in self.tree.components(node) {
            if self.tree.node(child).types_progress == Progress::Begun {
                return Err(self.cycle(child, self.tree.node(child).span));
            }
            done &= self.resolve_types_of(child, round, visits)?;
        }
        Ok(done)
    }

    /// A prototype that waits for the component that extends it can never be copied.
    fn cycle(&self, prototype: NodeId, span: Span) -> Fail {
        let message = format!(
            "the prototype `{}` contains or extends, in the end, the component that extends it: it would expand without end",
            shown(&self.tree.path(prototype))
        );
        let mut fail = numbered(Number::ImplicitCycle, span, message);
        *fail = fail.with_label(self.tree.node(prototype).span, "the prototype");
        fail
    }

    fn find_prototype(
        &mut self,
        node: NodeId,
        reference: &Reference,
        round: &mut Round,
    ) -> Result<Option<(NodeId, Prov)>, Fail> {
        let text = output::reference(&reference.parts);
        let fail = match self.resolve(node, &reference.parts, reference.span) {
            Ok(found) => match found.value {
                Value::Component(prototype) => return Ok(Some((prototype, found.provenance))),
                Value::Basic(value) => {
                    let message = format!("`{text}` cannot be a prototype: it is {}", described(&value));
                    numbered(Number::Prototype, reference.span, message)
                }
                _ => numbered(Number::Prototype, reference.span, format!("`{text}` cannot be a prototype")),
            },
            Err(Missing::Hard(fail)) => return Err(fail),
            Err(Missing::Lazy) => {
                let message = format!("`{text}` cannot be a prototype: it is left to the runtime");
                numbered(Number::Prototype, reference.span, message)
            }
            Err(Missing::Soft(Reason::Function(..))) => {
                let message = format!("`{text}` cannot be a prototype: it is a vector or a function");
                numbered(Number::Prototype, reference.span, message)
            }
            Err(Missing::Soft(reason)) => {
                let why = self.reason(&reason);
                let message = format!("the prototype `{text}` does not exist: {why}");
                numbered(Number::Prototype, reference.span, message)
            }
        };
        round.unresolved.push(fail);
        Ok(None)
    }

    /// Copies the attributes of a prototype under those of the component.
    fn subtype(
        &mut self,
        node: NodeId,
        prototype: NodeId,
        reference: Option<(&Reference, Prov)>,
    ) -> Result<(), Fail> {
        let own = std::mem::take(&mut self.tree.node_mut(node).attributes);
        let recorded = reference.filter(|_| self.arena.enabled()).map(|(reference, found_by)| {
            let name = format!("extends {}", output::reference(&reference.parts));
            (reference.span, Symbol::new(&name), found_by)
        });
        let mut merged = self.copied_attributes(prototype, node, recorded)?;
        self.observe_order(node, &own, &merged);
        for (key, attribute) in own {
            match merged.get_mut(&key) {
                None => {
                    merged.insert(key, attribute);
                }
                Some(inherited) => {
                    if has_tag(inherited, "sfFinal") {
                        return Err(final_override(&key, attribute.span, inherited.span));
                    }
                    if self.arena.enabled() {
                        self.overridden.insert(attribute.provenance, inherited.provenance);
                    }
                    let tags = union(inherited.tags.as_ref(), attribute.tags.as_ref());
                    *inherited = Attribute { tags, ..attribute };
                }
            }
        }
        let own_orders = std::mem::take(&mut self.tree.node_mut(node).orders);
        let orders = order::overridden_by(&self.tree.node(prototype).orders, &own_orders);
        let Node { attributes, orders: node_orders, .. } = self.tree.node_mut(node);
        *attributes = merged;
        *node_orders = orders;
        Ok(())
    }

    /// Notes that a component, or an attribute of it, refers to a component, or to an attribute of one.
    pub(super) fn observe_edge(
        &mut self,
        (from, name): (NodeId, Option<Symbol>),
        (to, target): (NodeId, Option<Symbol>),
        kind: EdgeKind,
    ) {
        // What files do that nobody edits is no news, and there is much of it.
        if self.observations.is_some() && !self.foreign.contains(&self.tree.node(from).span.file) {
            let (mut from, mut to) = (self.tree.path(from), self.tree.path(to));
            from.extend(name);
            to.extend(target);
            if let Some(observations) = &mut self.observations {
                observations.refers(&from, to, kind);
            }
        }
    }

    /// Attributes that are overridden keep the position of the inherited ones.
    fn observe_order(&mut self, node: NodeId, own: &Attributes, inherited: &Attributes) {
        if self.observations.is_none() || inherited.is_empty() {
            return;
        }
        // What other prototypes brought is not written in the component.
        let component = self.tree.node(node).span;
        let is_written =
            |span: Span| span.file == component.file && component.range.to(span.range) == component.range;
        let names: Vec<(Symbol, Span)> = own
            .iter()
            .filter_map(|(key, attribute)| match key {
                Key::Name(name) if is_written(attribute.span) => Some((*name, attribute.span)),
                _ => None,
            })
            .collect();
        let position = |name: Symbol| inherited.get_index_of(&Key::Name(name)).unwrap_or(usize::MAX);
        let orders = order::overridden_by(&[], &self.tree.node(node).orders);
        let Some(pair) = names.windows(2).find(|pair| {
            position(pair[1].0) < position(pair[0].0) && !order::states(&orders, pair[0].0, pair[1].0)
        }) else {
            return;
        };
        let [(first, first_span), (second, second_span)] = *pair else { return };
        let written: Vec<Symbol> = names.iter().map(|(name, _)| *name).collect();
        let mut compiled = written.clone();
        compiled.sort_by_key(|&name| position(name));
        let change = OrderChange {
            component: self.tree.path(node),
            first,
            second,
            source: OrderSource::Body { first: first_span, second: second_span },
            inherited: inherited.get(&Key::Name(second)).map(|attribute| attribute.span),
            written,
            compiled,
        };
        if let Some(observations) = &mut self.observations {
            observations.order_changes.push(change);
        }
    }

    /// A deep copy of the attributes of a component, as children of another.
    fn copied_attributes(
        &mut self,
        from: NodeId,
        parent: NodeId,
        inherited: Option<(Span, Symbol, Prov)>,
    ) -> Result<Attributes, Fail> {
        let mut attributes = self.tree.node(from).attributes.clone();
        // A component weighs as much as a few attributes.
        self.tree.copied += attributes.len() + 4;
        if self.tree.copied > 2 * MAX_ATTRIBUTES.get() {
            let message =
                format!("the prototypes expand to more than {} attributes", 2 * MAX_ATTRIBUTES.get());
            let mut fail = limit(Some(self.tree.node(parent).span), message);
            fail.notes.push(
                "components that hold several copies of each other double in size with each step".into(),
            );
            return Err(fail);
        }
        for attribute in attributes.values_mut() {
            match &mut attribute.value {
                Value::Component(child) => *child = self.copied_node(*child, parent)?,
                Value::Apply { node, .. } | Value::Assert { node, .. } => {
                    *node = self.copied_node(*node, parent)?;
                }
                _ => {}
            }
            if let Some((span, name, found_by)) = inherited {
                let of = self.under_copy(attribute.provenance, found_by);
                attribute.provenance = self.arena.copy(of, Some(span), Some(name));
            }
        }
        Ok(attributes)
    }

    /// A deep copy of a component, as a child of another.
    pub(super) fn copied_node(&mut self, node: NodeId, parent: NodeId) -> Result<NodeId, Fail> {
        let Node { span, data, types_progress, .. } = *self.tree.node(node);
        if self.depth >= MAX_DEPTH {
            return Err(limit(
                Some(span),
                format!("the components would be nested more than {MAX_DEPTH} deep"),
            ));
        }
        self.depth += 1;
        let types = self.tree.node(node).types.clone();
        let orders = self.tree.node(node).orders.clone();
        let key = self.tree.node(node).key.clone();
        let copy = self.tree.add(Some(parent), key, span);
        let attributes = self.copied_attributes(node, copy, None)?;
        self.depth -= 1;
        let target = self.tree.node_mut(copy);
        target.types = types;
        target.types_progress = types_progress;
        target.attributes = attributes;
        target.orders = orders;
        target.data = data;
        Ok(copy)
    }
}

pub(super) fn has_tag(attribute: &Attribute, tag: &str) -> bool {
    attribute.tags.as_ref().is_some_and(|tags| tags.iter().any(|is| is.as_str() == tag))
}

pub(super) fn union(
    left: Option<&Rc<Vec<Symbol>>>,
    right: Option<&Rc<Vec<Symbol>>>,
) -> Option<Rc<Vec<Symbol>>> {
    match (left, right) {
        (Some(left), Some(right)) => {
            let mut tags: Vec<Symbol> = left.iter().chain(right.iter()).copied().collect();
            tags.sort();
            tags.dedup();
            Some(Rc::new(tags))
        }
        (Some(tags), None) | (None, Some(tags)) => Some(Rc::clone(tags)),
        (None, None) => None,
    }
}

pub(super) fn final_override(key: &Key, span: Span, inherited: Span) -> Fail {
    let name = match key {
        Key::Name(name) => name.to_string(),
        Key::Path(path) => shown(path),
    };
    let mut fail = plain(span, format!("`{name}` is tagged `sfFinal` and may not be overridden"));
    *fail = fail.with_label(inherited, "the final value");
    fail
}
