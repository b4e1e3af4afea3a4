//! The core semantics: definitions 12 to 27 of the paper, one function to a definition.
//!
//! The equations pass a store from function to function; here it is one value that is changed in place, which comes
//! to the same, since no function looks at an older store. A prototype that is inherited into an empty component
//! is shared with it (see [`crate::store`]). The same evaluator serves the forward semantics, in which a link stays in
//! the store (see [`crate::forward`]).

use std::rc::Rc;

use rustc_hash::FxHashMap;
use setpoint_provenance::{Arena, Control, Node, Prov};
use setpoint_source::{Diagnostic, Limit, Rule, Span, Symbol};
use setpoint_trace::Recorder;

use crate::error::{Fail, Number, limit, not_found, numbered};
use crate::observe::{EdgeKind, Observations};
use crate::reference::{Path, concatenation, shown};
use crate::store::{Entry, Store, Value};
use crate::syntax::{
    Assignment, Body, Component, Expression, ExpressionKind, Prototype, Reference, Value as Syntax,
};
use crate::trace::{change, notation, path};
use crate::{MAX_DEPTH, Semantics};

/// Copies whose provenance is recorded.
const MAX_RECORDED: Limit = Limit::new(8_000_000);

/// A store in the making.
#[derive(Debug)]
pub struct Evaluator {
    pub(crate) semantics: Semantics,
    pub(crate) root: Store,
    pub(crate) arena: Arena,
    /// Which value each value replaced; recorded with the provenance.
    pub(crate) overridden: FxHashMap<Prov, Prov>,
    /// Links of the forward semantics whose value is known.
    pub(crate) followed: FxHashMap<Path, (Value, Prov)>,
    /// What `check` reports, if it asked.
    pub(crate) observations: Option<Observations>,
    /// The steps, if somebody watches.
    pub(crate) trace: Option<Recorder>,
}

/// A value that was found, and where: the namespace of definition 16, and the whole path.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) namespace: Path,
    pub(crate) value: Value,
    pub(crate) provenance: Prov,
}

impl Evaluator {
    pub fn new(semantics: Semantics, provenance: bool, observe: bool) -> Self {
        Self {
            semantics,
            root: Store::new(),
            arena: Arena::new(provenance),
            overridden: FxHashMap::default(),
            followed: FxHashMap::default(),
            observations: observe.then(Observations::default),
            trace: None,
        }
    }

    /// The copies that a reference passes: components that came through a prototype or a link, and without which it would lead
    /// elsewhere. A component that is written where it stands is none.
    fn copies_along(&self, namespace: &[Symbol], names: &[Symbol]) -> Vec<Prov> {
        let mut copies = Vec::new();
        if !self.arena.enabled() {
            return copies;
        }
        let mut store = levels(&self.root, namespace).last().copied();
        for &name in names {
            let Some(entry) = store.and_then(|store| store.entry(name)) else { break };
            if !matches!(self.arena.node(entry.provenance), None | Some(Node::Leaf(_))) {
                copies.push(entry.provenance);
            }
            store = entry.value.as_store();
        }
        copies
    }

    /// The provenance of what a reference leads to, with that of the copies on its way.
    pub(crate) fn found_by(&mut self, provenance: Prov, namespace: &[Symbol], names: &[Symbol]) -> Prov {
        let copies = self.copies_along(namespace, &names[..names.len().saturating_sub(1)]);
        under_all(&mut self.arena, provenance, &copies)
    }

    /// Names a copy for the provenance; nothing where none is recorded, since names live as long as the process.
    pub(crate) fn provenance_name(&self, name: impl FnOnce() -> String) -> Option<Symbol> {
        self.arena.enabled().then(|| Symbol::new(&name()))
    }

    /// Definition 12 (put), which notes what was replaced.
    fn put(&mut self, at: &[Symbol], entry: Entry) -> Result<(), BindError> {
        let enabled = self.arena.enabled();
        let (below, links) = (depth_of(&entry.value), entry.value.has_links());
        let store = find_store_mut(&mut self.root, at, below, links)?;
        let old = if enabled { store.entry(entry.name).map(|old| old.provenance) } else { None };
        if let Some(old) = old {
            self.overridden.insert(entry.provenance, old);
        }
        store.put(entry);
        Ok(())
    }

    /// Definition 13 (bind).
    pub(crate) fn bind(
        &mut self,
        reference: &[Symbol],
        value: Value,
        provenance: Prov,
        span: Span,
    ) -> Result<(), Fail> {
        let Some((&name, parent)) = reference.split_last() else {
            return Err(numbered(Number::Root, span, "the root cannot be replaced"));
        };
        if reference.len() + depth_of(&value) as usize > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let watched = self.trace.is_some().then(|| (find(&self.root, reference), value.clone()));
        let bound = self.put(parent, Entry::new(name, value, provenance));
        if let Some((before, after)) = watched.filter(|_| bound.is_ok()) {
            let before = before.map(|(value, _)| value);
            let what = format!("bind(s, {}, {})", path(reference), notation(&after));
            let changes = vec![change(reference, before.as_ref(), Some(&after))];
            self.update("Def. 13 (bind)", Some(span), what, changes);
        }
        bound.map_err(|error| {
            let number = match error {
                BindError::NoStore(_) => Number::ParentIsNoStore,
                BindError::Missing(_) => Number::NoParent,
            };
            self.step("Def. 13 (bind)", Some(span), || {
                format!("bind(s, {}, v) = {}", path(reference), number.code())
            });
            let whole = shown(reference);
            match error {
                BindError::NoStore(at) => {
                    let parent = shown(&reference[..at]);
                    numbered(
                        Number::ParentIsNoStore,
                        span,
                        format!("`{whole}` cannot be set, because `{parent}` is a plain value and has no attributes"),
                    )
                }
                BindError::Missing(at) => {
                    let parent = shown(&reference[..at]);
                    let mut fail = numbered(
                        Number::NoParent,
                        span,
                        format!("`{whole}` cannot be set, because there is no `{parent}` at this point"),
                    );
                    fail.helps.push(format!(
                        "a target is looked for in the component that it is written in, and nowhere else; define \
                         `{parent}` there first"
                    ));
                    fail
                }
            }
        })
    }

    /// Definition 16 (resolve). All stores along the namespace are looked up once, and not once for each prefix.
    pub(crate) fn resolve(&self, namespace: &[Symbol], reference: &[Symbol]) -> Option<Found> {
        let levels = levels(&self.root, namespace);
        levels.iter().enumerate().rev().find_map(|(length, store)| {
            let (value, provenance) = find(store, reference)?;
            Some(Found { namespace: namespace[..length].to_vec(), value, provenance })
        })
    }

    /// Definition 17 (copy): every attribute of the prototype, at `target`, which is a store.
    fn copy(
        &mut self,
        prototype: &Store,
        target: &[Symbol],
        span: Span,
        source: (Option<Symbol>, &[Prov]),
    ) -> Result<(), Fail> {
        let before = if self.trace.is_some() { self.store_at(target) } else { None };
        self.copy_attributes(prototype, target, span, source)?;
        if let Some(before) = before {
            let changes = prototype.iter().map(|entry| {
                let at = concatenation(target, &[entry.name]);
                change(&at, before.get(entry.name), Some(&entry.value))
            });
            let changes = changes.collect();
            let what = format!("copy(s, {}, {})", crate::trace::store_notation(prototype), path(target));
            self.update("Def. 17 (copy)", Some(span), what, changes);
        }
        Ok(())
    }

    fn copy_attributes(
        &mut self,
        prototype: &Store,
        target: &[Symbol],
        span: Span,
        (from, causes): (Option<Symbol>, &[Prov]),
    ) -> Result<(), Fail> {
        if target.len() + prototype.depth() as usize > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let Self { root, arena, overridden, observations, .. } = self;
        let Ok(store) = find_store_mut(root, target, prototype.depth() - 1, prototype.has_links()) else {
            return Err(numbered(Number::NoParent, span, format!("there is no `{}`", shown(target))));
        };
        // Beyond this, where values come from is no longer recorded copy by copy: it would cost more than it explains.
        let record = arena.enabled() && arena.len() < MAX_RECORDED;
        if store.is_empty() && store.orders().is_empty() && !record {
            // The copy of all attributes of a store is that store.
            *store = prototype.clone();
            store.set_data(false);
            return Ok(());
        }
        if let Some(observations) = observations {
            observations.inherited_order(store, prototype, target, span, arena);
        }
        for entry in prototype.iter() {
            let mut entry = entry.clone();
            if record {
                let found_by = under_all(arena, entry.provenance, causes);
                entry.provenance = arena.copy(found_by, Some(span), from);
                if let Some(old) = store.entry(entry.name) {
                    overridden.insert(entry.provenance, old.provenance);
                }
            }
            store.put(entry);
        }
        crate::order::inherit(store, prototype.orders());
        Ok(())
    }

    /// Definition 18 (inherit).
    fn inherit(
        &mut self,
        namespace: &[Symbol],
        reference: &Reference,
        target: &[Symbol],
    ) -> Result<(), Fail> {
        let names = reference.names();
        self.enter("Def. 18 (inherit)", Some(reference.span), || {
            format!("inherit(s, {}, {}, {})", path(namespace), path(&names), path(target))
        });
        let found = self.find_prototype(namespace, &names, target, reference.span)?;
        self.watch_resolve(namespace, &names, found.as_ref(), reference.span);
        let inherited = self.inherit_found(namespace, reference, target, found);
        self.leave();
        inherited
    }

    fn inherit_found(
        &mut self,
        namespace: &[Symbol],
        reference: &Reference,
        target: &[Symbol],
        found: Option<Found>,
    ) -> Result<(), Fail> {
        let names = reference.names();
        let path = shown(&names);
        match found {
            Some(Found { value: Value::Store(prototype), namespace: at, .. }) => {
                self.observe_prototype(namespace, &names, &at, target, reference.span);
                let from = self.provenance_name(|| format!("extends {path}"));
                let causes = self.copies_along(&at, &names);
                self.copy(&prototype, target, reference.span, (from, &causes))
            }
            Some(found) => {
                let at = shown(&concatenation(&found.namespace, &names));
                let message =
                    format!("`{path}` cannot be a prototype: `{at}` is {}", described(&found.value));
                let mut fail = numbered(Number::Prototype, reference.span, message);
                if let Some(span) = self.arena.origin(found.provenance).and_then(|leaf| leaf.span) {
                    *fail = fail.with_label(span, "its value");
                }
                Err(fail)
            }
            None => {
                let missing = not_found(names.first().copied().unwrap_or_else(|| Symbol::new("")), namespace);
                let why = if names.len() == 1 { missing } else { format!("`{path}` is nowhere to be found") };
                let message = format!("the prototype `{path}` does not exist: {why}");
                let mut fail = numbered(Number::Prototype, reference.span, message);
                fail.helps.push(
                    "a prototype must be defined before it is used; `--semantics production` also looks ahead".into(),
                );
                Err(fail)
            }
        }
    }

    fn find_prototype(
        &mut self,
        namespace: &[Symbol],
        names: &[Symbol],
        target: &[Symbol],
        span: Span,
    ) -> Result<Option<Found>, Fail> {
        match self.semantics {
            Semantics::Forward => self.find_forward_prototype(namespace, names, target, span),
            _ => Ok(self.resolve(namespace, names)),
        }
    }

    fn observe_prototype(
        &mut self,
        namespace: &[Symbol],
        names: &[Symbol],
        found_in: &[Symbol],
        target: &[Symbol],
        span: Span,
    ) {
        let Some(mut observations) = self.observations.take() else { return };
        observations.prototype_used(self, namespace, names, found_in, target, span);
        self.observations = Some(observations);
    }

    /// Definitions 21 and 22 (vectors, basic values). Definitions 19 and 20, the terminals, are the parser's.
    fn basic_value(&self, expression: &Expression) -> Result<Value, Fail> {
        Ok(match &expression.kind {
            ExpressionKind::Null => Value::Null,
            ExpressionKind::Boolean(value) => Value::Boolean(*value),
            ExpressionKind::Number(number) => Value::Number(number.clone()),
            ExpressionKind::String(text) => Value::String(text.clone()),
            ExpressionKind::Bytes(digits) => Value::Bytes(digits.clone()),
            ExpressionKind::Reference { reference, data: true, .. } => Value::Data(reference.parts.clone()),
            ExpressionKind::Vector { elements, .. } => {
                let elements: Result<Vec<Value>, Fail> =
                    elements.iter().map(|element| self.basic_value(element)).collect();
                Value::Vector(elements?.into())
            }
            ExpressionKind::Reference { reference, .. } => {
                let message = format!(
                    "a vector holds no links in the {} semantics, and `{}` is one",
                    self.semantics.name(),
                    shown(&reference.names())
                );
                return Err(production_only(expression.span, message));
            }
            ExpressionKind::ToBeDefined
            | ExpressionKind::Variable(_)
            | ExpressionKind::Operation { .. }
            | ExpressionKind::If { .. }
            | ExpressionKind::Switch(_)
            | ExpressionKind::Apply { .. }
            | ExpressionKind::Assert { .. } => {
                let message = format!("the {} semantics has no expressions", self.semantics.name());
                return Err(production_only(expression.span, message));
            }
        })
    }

    /// Definition 23 (prototype): from left to right, as its equations have it.
    fn prototype(
        &mut self,
        component: &Component,
        namespace: &[Symbol],
        target: &mut Path,
    ) -> Result<(), Fail> {
        for prototype in &component.prototypes {
            let (form, span) = match prototype {
                Prototype::Body(_, span) => ("B P", *span),
                Prototype::Reference(reference) => ("R P", reference.span),
            };
            self.enter("Def. 23 (prototype)", Some(span), || {
                format!("P⟦{form}⟧({}, {}, s)", path(namespace), path(target))
            });
            match prototype {
                Prototype::Body(body, _) => self.body(body, target)?,
                Prototype::Reference(reference) => self.inherit(namespace, reference, target)?,
            }
            self.leave();
        }
        self.step("Def. 23 (prototype)", Some(component.span), || {
            format!("P⟦ε⟧({}, {}, s) = s", path(namespace), path(target))
        });
        Ok(())
    }

    /// Definition 24 (value).
    fn value(
        &mut self,
        assignment: &Assignment,
        namespace: &[Symbol],
        target: &mut Path,
    ) -> Result<(), Fail> {
        self.enter("Def. 24 (value)", Some(assignment.span), || {
            let form = match &assignment.value {
                Syntax::Component(_) => "P",
                Syntax::Expression(Expression {
                    kind: ExpressionKind::Reference { data: false, .. },
                    ..
                }) => "LR",
                Syntax::Expression(_) => "BV",
            };
            format!("V⟦{form}⟧({}, {}, s)", path(namespace), path(target))
        });
        let evaluated = self.value_by_form(assignment, namespace, target);
        self.leave();
        evaluated
    }

    /// The three equations of definition 24.
    fn value_by_form(
        &mut self,
        assignment: &Assignment,
        namespace: &[Symbol],
        target: &mut Path,
    ) -> Result<(), Fail> {
        let span = assignment.span;
        match &assignment.value {
            Syntax::Component(component) => {
                let provenance = self.arena.literal(component.span);
                self.bind(target, Value::Store(Store::new()), provenance, span)?;
                self.prototype(component, namespace, target)?;
                if component.data
                    && let Ok(store) = find_store_mut(&mut self.root, target, 0, false)
                {
                    store.set_data(true);
                }
                Ok(())
            }
            Syntax::Expression(Expression {
                kind: ExpressionKind::Reference { reference, data: false, .. },
                ..
            }) => match self.semantics {
                Semantics::Forward => {
                    let provenance = self.arena.literal(reference.span);
                    self.bind(target, Value::Link(Rc::new(reference.clone())), provenance, span)
                }
                _ => self.link(reference, namespace, target, span),
            },
            Syntax::Expression(expression) => {
                let value = self.basic_value(expression)?;
                self.watch_basic_value(expression, &value);
                let provenance = self.arena.literal(expression.span);
                self.bind(target, value, provenance, span)
            }
        }
    }

    /// The third equation of definition 24: a link is its value at this point.
    fn link(
        &mut self,
        reference: &Reference,
        namespace: &[Symbol],
        target: &[Symbol],
        span: Span,
    ) -> Result<(), Fail> {
        let names = reference.names();
        let found = self.resolve(namespace, &names);
        self.watch_resolve(namespace, &names, found.as_ref(), reference.span);
        let Some(found) = found else {
            return Err(self.dangling_link(&names, namespace, reference.span));
        };
        if let Some(observations) = &mut self.observations {
            let to = concatenation(&found.namespace, &names);
            observations.refers(target, to, EdgeKind::Link);
        }
        let name = self.provenance_name(|| shown(&names));
        let found_by = self.found_by(found.provenance, &found.namespace, &names);
        let provenance = self.arena.copy(found_by, Some(reference.span), name);
        self.bind(target, found.value, provenance, span)
    }

    /// err5, with the part of the reference that is missing, and the way out if there is one.
    pub(crate) fn dangling_link(&self, names: &[Symbol], namespace: &[Symbol], span: Span) -> Fail {
        let whole = shown(names);
        let first = names.first().copied().unwrap_or_else(|| Symbol::new(""));
        let is_keyword = matches!(first.as_str(), "ROOT" | "PARENT" | "THIS");
        let why = match self.resolve(namespace, &names[..names.len().min(1)]) {
            _ if is_keyword && self.semantics == Semantics::Forward => {
                format!("from `{}` it leads nowhere", shown(namespace))
            }
            Some(found) if names.len() > 1 => {
                let component = shown(&concatenation(&found.namespace, &[first]));
                format!("`{component}` has no `{}`", shown(&names[1..]))
            }
            _ => not_found(first, namespace),
        };
        let mut fail = numbered(Number::Link, span, format!("the link `{whole}` refers to nothing: {why}"));
        if self.semantics == Semantics::Core {
            fail.helps.push(
                "a link must refer to what is defined before it; `--semantics forward` resolves links at the end"
                    .into(),
            );
        }
        fail
    }

    /// Definition 25 (assignment), in which `r` is the value of its reference.
    fn assignment(&mut self, assignment: &Assignment, namespace: &mut Path) -> Result<(), Fail> {
        let length = namespace.len();
        let mut target = concatenation(namespace, &assignment.target);
        debug_assert!(target.len() > length, "targets are not empty");
        self.enter("Def. 25 (assignment)", Some(assignment.span), || {
            format!("A⟦{} V⟧({}, s)", shown(&assignment.target), path(namespace))
        });
        let assigned = self.value(assignment, namespace, &mut target);
        self.leave();
        assigned
    }

    /// Definition 26 (body).
    fn body(&mut self, body: &Body, namespace: &mut Path) -> Result<(), Fail> {
        if !body.orders.is_empty()
            && let Ok(store) = find_store_mut(&mut self.root, namespace, 0, false)
        {
            crate::order::declare(store, &body.orders);
            for order in &body.orders {
                self.step("§10.4 (order)", Some(order.span), || {
                    format!("in {}, {} comes before {}", path(namespace), order.before, order.after)
                });
            }
        }
        let before = self.observations.is_some().then(|| self.store_at(namespace)).flatten();
        for assignment in &body.assignments {
            self.enter("Def. 26 (body)", Some(assignment.span), || format!("B⟦A B⟧({}, s)", path(namespace)));
            self.assignment(assignment, namespace)?;
            self.leave();
        }
        self.step("Def. 26 (body)", None, || format!("B⟦ε⟧({}, s) = s", path(namespace)));
        if let Some(before) = before
            && let Some(after) = self.store_at(namespace)
            && let Some(observations) = &mut self.observations
        {
            observations.written_order(body, &before, &after, namespace, &self.arena);
        }
        Ok(())
    }

    fn store_at(&self, path: &[Symbol]) -> Option<Store> {
        levels(&self.root, path).get(path.len()).map(|&store| store.clone())
    }

    /// Definition 27 (specification): the value of `sfConfig`.
    pub fn specification(&mut self, body: &Body, end: Span) -> Result<Store, Fail> {
        if let Some(trace) = &mut self.trace {
            trace.enter("Def. 27 (specification)", "SF⟦B⟧ = find(B⟦B⟧(∅I, ∅S), sfConfig)", None);
            crate::trace::record_store(trace, &self.root);
        }
        self.body(body, &mut Vec::new())?;
        if self.semantics == Semantics::Forward {
            self.enter("§9.2.2 (accept)", None, || {
                "the links of sfConfig are resolved, in its order".to_owned()
            });
            self.accept()?;
            self.leave();
        }
        let store = self.main(end)?;
        self.leave();
        if let Some(trace) = &mut self.trace {
            let result = crate::trace::store_notation(&store);
            let what = format!("find(s, sfConfig) = {result}");
            trace.step("Def. 27 (specification)", what, None, Vec::new());
            trace.series(result);
        }
        Ok(store)
    }

    pub(crate) fn main(&self, end: Span) -> Result<Store, Fail> {
        match self.root.entry(Symbol::new(crate::MAIN)) {
            Some(Entry { value: Value::Store(store), .. }) => Ok(store.clone()),
            Some(entry) => {
                let span = self.arena.origin(entry.provenance).and_then(|leaf| leaf.span).unwrap_or(end);
                let message =
                    format!("`sfConfig` must be a component, and it is {}", described(&entry.value));
                Err(numbered(Number::SfConfig, span, message))
            }
            None => {
                let mut fail =
                    numbered(Number::SfConfig, end, "there is no `sfConfig`, the component to compile");
                fail.helps.push("define `sfConfig extends { … }` at the top level".into());
                Err(fail)
            }
        }
    }
}

/// The specification is outside the language of this semantics, and inside that of the production compiler.
fn production_only(span: Span, message: String) -> Fail {
    Box::new(
        Diagnostic::new(Rule::SyntaxError, message)
            .at(span)
            .with_help("`--semantics production` compiles it"),
    )
}

fn too_deep(span: Span) -> Fail {
    let fail =
        limit(Some(span), format!("the compiled components would be nested more than {MAX_DEPTH} deep"));
    let note = "a component that is copied into itself grows deeper with each copy";
    Box::new(Diagnostic::with_note(*fail, note))
}

/// Why a reference cannot be bound, with the length of the part that stands in the way.
#[derive(Debug)]
pub(crate) enum BindError {
    NoStore(usize),
    Missing(usize),
}

fn depth_of(value: &Value) -> u32 {
    value.as_store().map_or(0, Store::depth)
}

/// The store at a path, to be changed: stores of the depth `below`, perhaps with links, will be put into it.
pub(crate) fn find_store_mut<'s>(
    root: &'s mut Store,
    path: &[Symbol],
    below: u32,
    links: bool,
) -> Result<&'s mut Store, BindError> {
    let mut store = root;
    for (at, &name) in path.iter().enumerate() {
        store.note_below((path.len() - at) as u32 + 1 + below, links);
        match store.get(name) {
            None => return Err(BindError::Missing(at + 1)),
            Some(Value::Store(_)) => {}
            Some(_) => return Err(BindError::NoStore(at + 1)),
        }
        let Some(child) = store.child_mut(name) else { return Err(BindError::NoStore(at + 1)) };
        store = child;
    }
    Ok(store)
}

/// A value's provenance under all that it was selected by.
fn under_all(arena: &mut Arena, provenance: Prov, causes: &[Prov]) -> Prov {
    causes.iter().fold(provenance, |of, &cause| arena.under(of, Control::Selection, cause, None))
}

/// The provenance of a value that takes the place of a link or function: it came all the way that the link or function came, and
/// overrides what that overrode.
pub(crate) fn carried(
    arena: &mut Arena,
    overridden: &mut FxHashMap<Prov, Prov>,
    value: Prov,
    link: Prov,
) -> Prov {
    if !arena.enabled() {
        return value;
    }
    let mut way = vec![link];
    while let Some(Node::Copy { of, .. } | Node::Under { of, .. }) = arena.node(way[way.len() - 1]) {
        way.push(of);
    }
    let mut carried = value;
    for at in way.into_iter().rev() {
        carried = match arena.node(at) {
            Some(Node::Copy { span, name, .. }) => arena.copy(carried, span, name),
            Some(Node::Under { control, cause, span, .. }) => arena.under(carried, control, cause, span),
            _ => carried,
        };
        if let Some(&old) = overridden.get(&at) {
            overridden.insert(carried, old);
        }
    }
    carried
}

/// Definition 14 (find).
pub(crate) fn find(store: &Store, reference: &[Symbol]) -> Option<(Value, Prov)> {
    let Some((&last, path)) = reference.split_last() else {
        return Some((Value::Store(store.clone()), Prov::NONE));
    };
    let mut store = store;
    for &name in path {
        store = store.get(name)?.as_store()?;
    }
    store.entry(last).map(|entry| (entry.value.clone(), entry.provenance))
}

/// Definition 15, operator ⊂ on stores: the first is nested somewhere in the second.
pub fn is_substore(inner: &Store, outer: &Store) -> bool {
    outer
        .iter()
        .filter_map(|entry| entry.value.as_store())
        .any(|store| crate::compare::same_store(inner, store) || is_substore(inner, store))
}

/// The stores along a path, as far as there are any; the first is the root.
pub(crate) fn levels<'s>(root: &'s Store, path: &[Symbol]) -> Vec<&'s Store> {
    let mut stores = Vec::with_capacity(path.len() + 1);
    stores.push(root);
    let mut store = root;
    for &name in path {
        match store.get(name) {
            Some(Value::Store(child)) => store = child,
            _ => break,
        }
        stores.push(store);
    }
    stores
}

/// What a value is, in words.
pub(crate) fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "`NULL`",
        Value::Boolean(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Bytes(_) => "a sequence of bytes",
        Value::Data(_) => "a data reference",
        Value::Vector(_) => "a vector",
        Value::Store(_) => "a component",
        Value::Link(_) => "a link",
        Value::Lazy(_) => "left to the runtime",
        Value::Variable(_) => "a free variable",
    }
}
