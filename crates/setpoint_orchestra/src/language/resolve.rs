//! Names to numbers: the trees of a file and of those that it uses become one model and its instances.

use setpoint_source::{Diagnostic, FileId, Range, Rule, Span, Symbol};

use super::syntax::{self, Binder, FormulaKind, Item, Member, Name, Path, RuleFile};
use crate::instance::{Instance, InstanceBuilder};
use crate::model::{
    Acyclic, Bound, Claim, Class, ClassId, Edge, Effect, Formula, Invariant, LinkDecl, MAX_NAMES, Model,
    ModelRule, NameSet, Term,
};

/// The types that a file brings to a class that another declares.
pub(super) struct Brought {
    pub(super) file: FileId,
    pub(super) class: ClassId,
    pub(super) types: NameSet,
}

pub(super) struct Resolved {
    pub(super) model: Model,
    pub(super) brought: Vec<Brought>,
    pub(super) instances: Vec<Instance>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The files in the order in which their items count: used files first.
pub(super) fn resolve(files: &[(FileId, RuleFile)]) -> Resolved {
    let mut resolver =
        Resolver { file: FileId(0), diagnostics: Vec::new(), model: empty_model(), brought: Vec::new() };
    // Several passes, so that classes and links may be used before they are declared.
    resolver.each_item(files, Resolver::declare_class);
    resolver.each_item(files, Resolver::declare_members);
    resolver.each_item(files, Resolver::extend_class);
    resolver.each_item(files, Resolver::define);
    if resolver.model.finals.is_empty() && resolver.diagnostics.is_empty() {
        let last = files.last().map(|(id, _)| Range::new(0, 0).in_file(*id));
        let missing = Diagnostic::new(
            Rule::ModelNames,
            "this rule set has no `final`: nothing says where it shall arrive",
        )
        .with_help("add `final { all x: … { x is … } }`");
        resolver.diagnostics.push(match last {
            Some(span) => missing.at(span),
            None => missing,
        });
    }
    let mut instances: Vec<Instance> = Vec::new();
    for (id, file) in files {
        resolver.file = *id;
        for item in &file.items {
            if let Item::Instance { name, objects, range } = item {
                if instances.iter().any(|known| known.name == name.text.as_str()) {
                    resolver.error(name.range, format!("instance `{}` is declared twice", name.text));
                    continue;
                }
                instances.extend(resolver.instance(*name, objects, *range));
            }
        }
    }
    let Resolver { model, brought, diagnostics, .. } = resolver;
    Resolved { model, brought, instances, diagnostics }
}

fn empty_model() -> Model {
    Model {
        name: Symbol::new("model"),
        title: None,
        classes: Vec::new(),
        requires: Vec::new(),
        acyclic: Vec::new(),
        init: Vec::new(),
        finals: Vec::new(),
        invariants: Vec::new(),
        rules: Vec::new(),
    }
}

struct Resolver {
    file: FileId,
    diagnostics: Vec<Diagnostic>,
    model: Model,
    brought: Vec<Brought>,
}

/// The variables in sight, innermost last, and the next free number.
#[derive(Default)]
struct Scope {
    names: Vec<(Symbol, usize, ClassId)>,
    next: usize,
}

impl Resolver {
    fn each_item(&mut self, files: &[(FileId, RuleFile)], visit: fn(&mut Self, &Item)) {
        for (id, file) in files {
            self.file = *id;
            for item in &file.items {
                visit(self, item);
            }
        }
    }

    fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    fn error(&mut self, range: Range, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.diagnostics.len();
        self.diagnostics.push(Diagnostic::new(Rule::ModelNames, message).at(range.in_file(self.file)));
        &mut self.diagnostics[at]
    }

    /// An error that lists the names that would have been right.
    fn unknown(&mut self, name: Name, message: String, known: &[Symbol]) {
        let help = match nearest(&name.text, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "none are declared".to_owned(),
            None => format!("there are {}", list(known)),
        };
        let error = self.error(name.range, message);
        error.help(help);
    }

    fn class_id(&mut self, name: Name) -> Option<ClassId> {
        let found = self.model.class_named(&name.text);
        if found.is_none() {
            let known: Vec<Symbol> = self.model.classes.iter().map(|class| class.name).collect();
            self.unknown(name, format!("there is no class `{}`", name.text), &known);
        }
        found
    }

    fn declare_class(&mut self, item: &Item) {
        match item {
            Item::Class(class) => {
                if let Some(known) = self.model.class_named(&class.name.text) {
                    let first = self.model.class(known).span;
                    let error = self
                        .error(class.name.range, format!("class `{}` is declared twice", class.name.text));
                    error.labels.push(setpoint_source::Label { span: first, text: "first here".to_owned() });
                    return;
                }
                if self.model.classes.len() >= usize::from(u16::MAX) {
                    self.error(class.name.range, "there are too many classes");
                    return;
                }
                self.model.classes.push(Class {
                    name: class.name.text,
                    types: Vec::new(),
                    states: Vec::new(),
                    messages: Vec::new(),
                    links: Vec::new(),
                    ordered: false,
                    span: self.span(class.name.range),
                });
            }
            Item::Model { name, title, .. } => {
                self.model.name = name.text;
                self.model.title = title.as_ref().map(|title| title.text.clone());
            }
            _ => {}
        }
    }

    fn declare_members(&mut self, item: &Item) {
        let Item::Class(class) = item else { return };
        let Some(id) = self.model.class_named(&class.name.text) else { return };
        if self.model.class(id).span != self.span(class.name.range) {
            return;
        }
        for member in &class.members {
            match member {
                Member::Types(names, _) => self.declare_names(id, names, "type", |class| &mut class.types),
                Member::States(names, _) => self.declare_names(id, names, "state", |class| &mut class.states),
                Member::Messages(names, _) => {
                    self.declare_names(id, names, "message", |class| &mut class.messages);
                }
                Member::Ordered(range) => self.declare_order(id, *range),
                Member::Link { name, target, one_to_one, onto, .. } => {
                    let Some(target) = self.class_id(*target) else { continue };
                    if &*name.text == "type" || self.model.class(id).link(&name.text).is_some() {
                        let message = if &*name.text == "type" {
                            "`type` is every object's type and cannot name a link".to_owned()
                        } else {
                            format!("link `{}` is declared twice", name.text)
                        };
                        self.error(name.range, message);
                        continue;
                    }
                    let link = LinkDecl {
                        name: name.text,
                        target,
                        one_to_one: *one_to_one,
                        onto: *onto,
                        span: self.span(name.range),
                    };
                    self.model.classes[id.0 as usize].links.push(link);
                }
            }
        }
    }

    /// What a file adds to a class of another file. Links are not added: objects of other types would lack them.
    fn extend_class(&mut self, item: &Item) {
        let Item::Extend(class) = item else { return };
        let Some(id) = self.class_id(class.name) else { return };
        for member in &class.members {
            match member {
                Member::Types(names, _) => {
                    let before = self.model.class(id).types.len();
                    self.declare_names(id, names, "type", |class| &mut class.types);
                    let after = self.model.class(id).types.len();
                    let types = NameSet::first(after).minus(NameSet::first(before));
                    self.brought.push(Brought { file: self.file, class: id, types });
                }
                Member::States(names, range) => {
                    if self.model.class(id).states.is_empty() {
                        self.error(*range, "a class without states cannot be given any");
                    }
                    self.declare_names(id, names, "state", |class| &mut class.states);
                }
                Member::Messages(names, _) => {
                    self.declare_names(id, names, "message", |class| &mut class.messages);
                }
                Member::Ordered(range) | Member::Link { range, .. } => {
                    self.error(*range, "`extend` adds types, states and messages only");
                }
            }
        }
    }

    /// The order of a class has no cycle: it is one of the relations that the cyclic dependency lemma may use.
    fn declare_order(&mut self, class: ClassId, range: Range) {
        let declared = &mut self.model.classes[class.0 as usize];
        if std::mem::replace(&mut declared.ordered, true) {
            self.error(range, "the class is `ordered` already");
            return;
        }
        let span = self.span(range);
        self.model.acyclic.push(Acyclic { edges: Vec::new(), order: Some(class), span });
    }

    fn declare_names(
        &mut self,
        class: ClassId,
        names: &[Name],
        what: &str,
        field: fn(&mut Class) -> &mut Vec<Symbol>,
    ) {
        for name in names {
            let known = field(&mut self.model.classes[class.0 as usize]);
            if known.contains(&name.text) {
                self.error(name.range, format!("{what} `{}` is declared twice", name.text));
            } else if known.len() >= MAX_NAMES {
                self.error(name.range, format!("a class has at most {MAX_NAMES} {what}s"));
                return;
            } else {
                known.push(name.text);
            }
        }
    }

    fn define(&mut self, item: &Item) {
        match item {
            Item::Rule(rule) => self.rule(rule),
            Item::Require { claims, .. } => {
                for claim in self.claims(claims, true) {
                    if claim.formula.is_static() {
                        self.model.requires.push(claim);
                    } else {
                        let error = self.error(
                            claim.span.range,
                            "`require` speaks of what never changes: types, links and equality",
                        );
                        error.help("say what holds at the start in `init`");
                    }
                }
            }
            Item::Init { claims, .. } => {
                let claims = self.claims(claims, true);
                self.model.init.extend(claims);
            }
            Item::Final { claims, .. } => {
                let claims = self.claims(claims, false);
                self.model.finals.extend(claims);
            }
            Item::Invariant { name, claims, .. } => {
                if self.model.invariants.iter().any(|known| known.name == name.text) {
                    self.error(name.range, format!("invariant `{}` is declared twice", name.text));
                }
                let claims = self.claims(claims, false);
                let span = self.span(name.range);
                self.model.invariants.push(Invariant { name: name.text, claims, span });
            }
            Item::Model { .. }
            | Item::Use { .. }
            | Item::Class(_)
            | Item::Extend(_)
            | Item::Instance { .. } => {}
        }
    }

    fn claims(&mut self, claims: &[syntax::Claim], acyclic_allowed: bool) -> Vec<Claim> {
        let mut out = Vec::new();
        for claim in claims {
            match claim {
                syntax::Claim::Formula(formula) => {
                    let resolved = self.formula(formula, &mut Scope::default());
                    let span = self.span(formula.range);
                    out.extend(resolved.map(|formula| Claim { formula, span }));
                }
                syntax::Claim::Acyclic { edges, range } => {
                    if !acyclic_allowed {
                        self.error(*range, "`acyclic` belongs into `require` or `init`");
                        continue;
                    }
                    let edges: Vec<Edge> = edges.iter().filter_map(|edge| self.edge(edge)).collect();
                    let span = self.span(*range);
                    self.model.acyclic.push(Acyclic { edges, order: None, span });
                }
            }
        }
        out
    }

    fn edge(&mut self, edge: &syntax::Edge) -> Option<Edge> {
        let mut scope = Scope::default();
        let bound = self.bind(&edge.binder, &mut scope)?;
        let from = self.term(&edge.from, &scope)?;
        let to = self.term(&edge.to, &scope)?;
        if from.class != to.class {
            let (one, other) = (self.model.class(from.class).name, self.model.class(to.class).name);
            self.error(
                edge.range,
                format!("an edge joins two objects of one class, not a {one} and a {other}"),
            );
            return None;
        }
        let filter = match &edge.filter {
            Some(filter) => self.formula(filter, &mut scope)?,
            None => Formula::Constant(true),
        };
        if !filter.is_static() {
            self.error(edge.range, "the edges of a relation depend on types, links and equality only");
            return None;
        }
        Some(Edge { bound, filter, from, to, span: self.span(edge.range) })
    }

    fn bind(&mut self, binder: &Binder, scope: &mut Scope) -> Option<Bound> {
        let class = self.class_id(binder.class)?;
        let var = scope.next;
        scope.next += 1;
        scope.names.push((binder.name.text, var, class));
        Some(Bound { var, name: binder.name.text, class })
    }

    fn rule(&mut self, rule: &syntax::RuleItem) {
        if let Some(known) = self.model.rule_named(&rule.name.text) {
            let first = known.span;
            let error = self.error(rule.name.range, format!("rule `{}` is declared twice", rule.name.text));
            error.labels.push(setpoint_source::Label { span: first, text: "first here".to_owned() });
            return;
        }
        let before = self.diagnostics.len();
        let mut scope = Scope::default();
        let mut parameters = Vec::new();
        for binder in &rule.parameters {
            if scope.names.iter().any(|(name, ..)| *name == binder.name.text) {
                self.error(binder.name.range, format!("`{}` is bound twice", binder.name.text));
            }
            parameters.extend(self.bind(binder, &mut scope));
        }
        let mut guards = Vec::new();
        let mut effects = Vec::new();
        for clause in &rule.clauses {
            match clause {
                syntax::Clause::When(formula, _) => {
                    let span = self.span(formula.range);
                    let resolved = self.formula(formula, &mut scope);
                    guards.extend(resolved.map(|formula| Claim { formula, span }));
                }
                syntax::Clause::Then(list, _) => {
                    effects.extend(list.iter().filter_map(|effect| self.effect(effect, &scope)));
                }
            }
        }
        if effects.is_empty() && self.diagnostics.len() == before {
            self.error(
                rule.name.range,
                format!("rule `{}` changes nothing: it has no `then`", rule.name.text),
            );
        }
        let span = self.span(rule.name.range);
        let title = rule.title.as_ref().map(|title| title.text.clone());
        self.model.rules.push(ModelRule { name: rule.name.text, title, parameters, guards, effects, span });
    }

    fn effect(&mut self, effect: &syntax::Effect, scope: &Scope) -> Option<Effect> {
        let term = self.term(&effect.path, scope)?;
        match effect.kind {
            syntax::EffectKind::Becomes => {
                let states = self.one_of(term.class, "state", &[effect.value])?;
                states.iter().next().map(|state| Effect::Becomes(term, state))
            }
            syntax::EffectKind::Gets => self.message(term.class, effect.value).map(|m| Effect::Gets(term, m)),
            syntax::EffectKind::Loses => {
                self.message(term.class, effect.value).map(|m| Effect::Loses(term, m))
            }
        }
    }

    fn message(&mut self, class: ClassId, name: Name) -> Option<u8> {
        let class = self.model.class(class);
        let found = class.message(&name.text);
        if found.is_none() {
            let (message, known) =
                (format!("class `{}` has no message `{}`", class.name, name.text), class.messages.clone());
            self.unknown(name, message, &known);
        }
        found
    }

    fn one_of(&mut self, class: ClassId, what: &str, names: &[Name]) -> Option<NameSet> {
        let mut set = NameSet::default();
        for name in names {
            let class = self.model.class(class);
            let known = if what == "state" { &class.states } else { &class.types };
            if let Some(at) = known.iter().position(|one| *one == name.text) {
                set.insert(at as u8);
            } else {
                let message = format!("class `{}` has no {what} `{}`", class.name, name.text);
                let known = known.clone();
                self.unknown(*name, message, &known);
                return None;
            }
        }
        (!names.is_empty()).then_some(set)
    }

    fn term(&mut self, path: &Path, scope: &Scope) -> Option<Term> {
        self.term_of(path.root, &path.links, scope)
    }

    fn term_of(&mut self, root: Name, links: &[Name], scope: &Scope) -> Option<Term> {
        let Some(&(_, var, mut class)) = scope.names.iter().rev().find(|(name, ..)| *name == root.text)
        else {
            let known: Vec<Symbol> = scope.names.iter().map(|(name, ..)| *name).collect();
            self.unknown(root, format!("`{}` is not a variable here", root.text), &known);
            return None;
        };
        let mut steps = Vec::new();
        for link in links {
            let here = self.model.class(class);
            let Some(at) = here.link(&link.text) else {
                let known: Vec<Symbol> = here.links.iter().map(|link| link.name).collect();
                let message = format!("class `{}` has no link `{}`", here.name, link.text);
                self.unknown(*link, message, &known);
                return None;
            };
            class = here.links[at].target;
            steps.push(at);
        }
        Some(Term { var, path: steps, class })
    }

    fn formula(&mut self, formula: &syntax::Formula, scope: &mut Scope) -> Option<Formula> {
        match &formula.kind {
            FormulaKind::Constant(value) => Some(Formula::Constant(*value)),
            FormulaKind::Not(inner) => self.formula(inner, scope).map(Formula::negate),
            FormulaKind::And(parts) => self.formulas(parts, scope).map(Formula::And),
            FormulaKind::Or(parts) => self.formulas(parts, scope).map(Formula::Or),
            FormulaKind::Implies(left, right) => {
                let (left, right) = (self.formula(left, scope), self.formula(right, scope));
                Some(Formula::Or(vec![left?.negate(), right?]))
            }
            FormulaKind::Quantified { all, binder, filter, body } => {
                let bound = self.bind(binder, scope)?;
                let filter =
                    filter.as_ref().map_or(Some(Formula::Constant(true)), |f| self.formula(f, scope));
                let body = body.as_ref().map_or(Some(Formula::Constant(true)), |f| self.formula(f, scope));
                scope.names.pop();
                let (filter, body) = (Box::new(filter?), Box::new(body?));
                Some(if *all {
                    Formula::All { bound, filter, body }
                } else {
                    Formula::Some { bound, filter, body }
                })
            }
            FormulaKind::State { path, negated, states } => {
                let term = self.term(path, scope)?;
                let set = self.one_of(term.class, "state", states)?;
                let all = NameSet::first(self.model.class(term.class).states.len());
                Some(Formula::InStates(term, if *negated { all.minus(set) } else { set }))
            }
            FormulaKind::Type { path, negated, types } => {
                let term = self.term(path, scope)?;
                let set = self.one_of(term.class, "type", types)?;
                let all = NameSet::first(self.model.class(term.class).types.len());
                Some(Formula::OfTypes(term, if *negated { all.minus(set) } else { set }))
            }
            FormulaKind::Message { path, several, message } => {
                let term = self.term(path, scope)?;
                let message = self.message(term.class, *message)?;
                Some(if *several { Formula::HasSeveral(term, message) } else { Formula::Has(term, message) })
            }
            FormulaKind::Equal { left, right, negated } => {
                let equal = self.equal(left, right, scope)?;
                Some(if *negated { equal.negate() } else { equal })
            }
            FormulaKind::Before { left, right } => self.before(left, right, scope),
            FormulaKind::Broken => None,
        }
    }

    fn formulas(&mut self, parts: &[syntax::Formula], scope: &mut Scope) -> Option<Vec<Formula>> {
        let resolved: Vec<Option<Formula>> = parts.iter().map(|part| self.formula(part, scope)).collect();
        resolved.into_iter().collect()
    }

    fn equal(&mut self, left: &Path, right: &Path, scope: &Scope) -> Option<Formula> {
        let types = |path: &Path| path.links.last().is_some_and(|last| &*last.text == "type");
        match (types(left), types(right)) {
            (true, true) => {
                let one = self.term_of(left.root, &left.links[..left.links.len() - 1], scope);
                let other = self.term_of(right.root, &right.links[..right.links.len() - 1], scope);
                let (one, other) = (one?, other?);
                for (term, path) in [(&one, left), (&other, right)] {
                    if self.model.class(term.class).types.is_empty() {
                        let name = self.model.class(term.class).name;
                        self.error(path.range, format!("class `{name}` has no types"));
                        return None;
                    }
                }
                Some(Formula::SameType(one, other))
            }
            (false, false) => {
                let (one, other) = (self.term(left, scope), self.term(right, scope));
                let (one, other) = (one?, other?);
                if one.class != other.class {
                    let (a, b) = (self.model.class(one.class).name, self.model.class(other.class).name);
                    self.error(left.range.to(right.range), format!("a {a} is never equal to a {b}"));
                    return None;
                }
                Some(Formula::Equal(one, other))
            }
            _ => {
                let error = self
                    .error(left.range.to(right.range), "a type is compared with a type: `x.type = y.type`");
                error.help("to test for one type write `x of NAME`");
                None
            }
        }
    }

    fn before(&mut self, left: &Path, right: &Path, scope: &Scope) -> Option<Formula> {
        let (one, other) = (self.term(left, scope), self.term(right, scope));
        let (one, other) = (one?, other?);
        let (first, second) = (self.model.class(one.class), self.model.class(other.class));
        let message = if one.class != other.class {
            format!("a {} stands neither before nor behind a {}", first.name, second.name)
        } else if !first.ordered {
            format!("the objects of class `{}` have no order", first.name)
        } else {
            return Some(Formula::Before(one, other));
        };
        let help = format!("say `ordered` in class `{}`", first.name);
        let same_class = one.class == other.class;
        let error = self.error(left.range.to(right.range), message);
        if same_class {
            error.help(help);
        }
        None
    }

    fn instance(&mut self, name: Name, objects: &[syntax::ObjectItem], range: Range) -> Option<Instance> {
        if !self.diagnostics.is_empty() {
            // The classes may be incomplete; what they lack would be reported again for each object.
            return None;
        }
        let file = self.file;
        let mut builder = InstanceBuilder::new(&self.model, name.text.as_str()).at(name.range.in_file(file));
        for object in objects {
            for one in &object.names {
                let draft =
                    builder.object(&object.class.text, one.text.as_str(), Some(one.range.in_file(file)));
                if let Some(kind) = object.kind {
                    builder.kind(draft, &kind.text);
                }
                if let Some(state) = object.state {
                    builder.state(draft, &state.text);
                }
                for (link, target) in &object.links {
                    let span = link.range.to(target.range).in_file(file);
                    builder.link(draft, &link.text, target.text.as_str(), Some(span));
                }
            }
        }
        match builder.finish() {
            Ok(instance) => Some(instance),
            Err(errors) => {
                for error in errors {
                    let place = error.span.map_or(range, |span| span.range);
                    self.error(place, error.message);
                }
                None
            }
        }
    }
}

fn list(names: &[Symbol]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known name that differs least, if it differs little.
fn nearest(name: &str, known: &[Symbol]) -> Option<Symbol> {
    setpoint_source::nearest(name, known.iter().map(|known| known.as_str())).map(Symbol::new)
}
