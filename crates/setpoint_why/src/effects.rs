//! What code that did not run could have done to the catalog, read off its text.
//!
//! A summary is complete, not exact: code that names what it does is taken at its word, and code that computes a name may
//! have meant any. Classes, definitions and functions are followed wherever they are used.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_puppet::{Definition, Environment, Manifest, Trace, may_act};
use setpoint_puppet_syntax::ast::{
    Attribute, AttributeKind, ClassDef, DefineDef, Expr, ExprKind, FunctionDef, Lambda, Parameter,
};
use setpoint_puppet_syntax::{ast, children};
use setpoint_source::{Range, Span, Symbol};

/// What might have been done.
#[derive(Debug, Default, Clone)]
pub(crate) struct Effects {
    /// It could have done anything.
    anything: bool,
    /// It declares a class whose name it computes.
    any_class: bool,
    classes: FxHashSet<Symbol>,
    /// Types as displayed; without a title, any.
    resources: FxHashSet<(Symbol, Option<Symbol>)>,
    /// Without a name, any parameter.
    defaults: FxHashSet<(Symbol, Option<Symbol>)>,
    /// Overrides, collectors and arrows: type, title, parameter. What is not there may be any.
    sets: FxHashSet<(Option<Symbol>, Option<Symbol>, Option<Symbol>)>,
    tags: bool,
    requires: bool,
    /// Code that it uses, which does more.
    uses: FxHashSet<(Kind, Symbol)>,
}

/// What is asked of code that did not run: could it have …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wanted<'t> {
    /// … declared this class?
    Class(Symbol),
    /// … declared this resource?
    Resource(Symbol, &'t str),
    /// … declared a resource of this type?
    AnyOf(Symbol),
    /// … set this default, or any of the type?
    Default(Symbol, Option<Symbol>),
    /// … set this parameter, or any, of a resource that is there?
    Set(Symbol, &'t str, Option<Symbol>),
    Tag,
    Require,
}

impl Effects {
    fn merge(&mut self, other: &Self) {
        self.anything |= other.anything;
        self.any_class |= other.any_class;
        self.tags |= other.tags;
        self.requires |= other.requires;
        let Self { classes, resources, defaults, sets, uses, .. } = self;
        merge(uses, &other.uses);
        merge(classes, &other.classes);
        merge(resources, &other.resources);
        merge(defaults, &other.defaults);
        merge(sets, &other.sets);
    }

    fn declare_class(&mut self, name: Option<Symbol>) {
        match name {
            Some(name) => {
                let name = lower(&name);
                self.classes.insert(name);
                self.uses.insert((Kind::Class, name));
            }
            None => self.any_class = true,
        }
    }

    fn declare(&mut self, type_name: Symbol, titles: &[Option<Symbol>]) {
        let of = displayed(&type_name);
        self.resources.extend(titles.iter().map(|title| (of, *title)));
        self.uses.insert((Kind::Define, lower(&type_name)));
    }

    /// Whether the code names what is wanted, or could have meant it. Classes with computed names are another question:
    /// see [`Summaries::could`].
    fn has(&self, wanted: Wanted<'_>) -> bool {
        let fits = |known: Option<Symbol>, text: &str| known.is_none_or(|known| known.as_str() == text);
        self.anything
            || match wanted {
                Wanted::Class(name) => self.any_class || self.classes.contains(&name),
                Wanted::Resource(of, title) => {
                    any(&self.resources, |(known, text)| *known == of && fits(*text, title))
                }
                Wanted::AnyOf(of) => any(&self.resources, |(known, _)| *known == of),
                Wanted::Default(of, name) => any(&self.defaults, |(known, parameter)| {
                    *known == of && name.is_none_or(|name| parameter.is_none_or(|known| known == name))
                }),
                Wanted::Set(of, title, name) => any(&self.sets, |(known, text, parameter)| {
                    known.is_none_or(|known| known == of)
                        && fits(*text, title)
                        && name.is_none_or(|name| parameter.is_none_or(|known| known == name))
                }),
                Wanted::Tag => self.tags,
                Wanted::Require => self.requires,
            }
    }
}

// Whether there is one does not depend on the order.
#[allow(clippy::iter_over_hash_type)]
fn any<T>(all: &FxHashSet<T>, test: impl Fn(&T) -> bool) -> bool {
    all.iter().any(test)
}

fn drained(uses: &mut FxHashSet<(Kind, Symbol)>) -> Vec<(Kind, Symbol)> {
    // What is found does not depend on the order.
    uses.drain().collect()
}

#[allow(clippy::iter_over_hash_type)]
fn merge<T: Copy + Eq + std::hash::Hash>(into: &mut FxHashSet<T>, from: &FxHashSet<T>) {
    into.extend(from.iter().copied());
}

/// The summaries of one compilation, each made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Summaries<'a> {
    environment: &'a Environment<'a>,
    manifests: Vec<Arc<Manifest>>,
    classes: FxHashMap<Symbol, Arc<ClassDef>>,
    defines: FxHashMap<Symbol, Arc<DefineDef>>,
    functions: FxHashMap<Symbol, Arc<FunctionDef>>,
    looked_for: FxHashSet<Symbol>,
    of_branches: FxHashMap<Span, Rc<Effects>>,
    of_definitions: FxHashMap<(Kind, Symbol), Rc<Effects>>,
    /// All classes that are known, for those whose names are computed.
    of_all: Option<Rc<Effects>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Class,
    Define,
    Function,
}

impl<'a> Summaries<'a> {
    pub(crate) fn new(environment: &'a Environment<'a>, trace: &Trace) -> Self {
        let mut new = Self {
            environment,
            manifests: Vec::new(),
            classes: FxHashMap::default(),
            defines: FxHashMap::default(),
            functions: FxHashMap::default(),
            looked_for: FxHashSet::default(),
            of_branches: FxHashMap::default(),
            of_definitions: FxHashMap::default(),
            of_all: None,
        };
        trace.manifests.iter().for_each(|manifest| new.register(manifest));
        new
    }

    fn register(&mut self, manifest: &Arc<Manifest>) {
        for definition in &manifest.definitions {
            match definition {
                Definition::Class(class) => {
                    self.classes.entry(lower(&class.name)).or_insert_with(|| Arc::clone(class));
                }
                Definition::Define(define) => {
                    self.defines.entry(lower(&define.name)).or_insert_with(|| Arc::clone(define));
                }
                Definition::Function(function) => {
                    self.functions.entry(lower(&function.name)).or_insert_with(|| Arc::clone(function));
                }
                Definition::Node(_) | Definition::TypeAlias(_) => {}
            }
        }
        self.manifests.push(Arc::clone(manifest));
    }

    /// Whether a branch that was not taken could have done something.
    pub(crate) fn could(&mut self, skipped: Span, wanted: Wanted<'_>) -> bool {
        let effects = self.of_branch(skipped);
        self.has(&effects, wanted)
    }

    fn has(&mut self, effects: &Effects, wanted: Wanted<'_>) -> bool {
        effects.has(wanted) || effects.any_class && self.any_class_could(wanted)
    }

    /// Whether some class that is known could have done something, if it had been declared.
    pub(crate) fn any_class_could(&mut self, wanted: Wanted<'_>) -> bool {
        if matches!(wanted, Wanted::Class(_)) {
            return true;
        }
        let all = if let Some(all) = &self.of_all {
            Rc::clone(all)
        } else {
            let mut names: Vec<Symbol> = self.classes.keys().copied().collect();
            names.sort_by_key(|name| name.as_str());
            let mut all = Effects::default();
            all.uses.extend(names.into_iter().map(|name| (Kind::Class, name)));
            let all = Rc::new(self.with_uses(all));
            self.of_all = Some(Rc::clone(&all));
            all
        };
        all.has(wanted)
    }

    /// Whether the code of a definition could have done something.
    pub(crate) fn instance_could(&mut self, type_name: Symbol, wanted: Wanted<'_>) -> bool {
        let mut effects = Effects::default();
        effects.uses.insert((Kind::Define, lower(&type_name)));
        let effects = self.with_uses(effects);
        self.has(&effects, wanted)
    }

    /// Whether there is a definition of this name.
    pub(crate) fn is_define(&mut self, type_name: Symbol) -> bool {
        self.find(Kind::Define, lower(&type_name)).is_some()
    }

    fn of_branch(&mut self, span: Span) -> Rc<Effects> {
        if let Some(known) = self.of_branches.get(&span) {
            return Rc::clone(known);
        }
        let mut effects = Effects::default();
        let manifest = self.manifests.iter().find(|manifest| manifest.program.file == span.file).cloned();
        match manifest {
            Some(manifest) => {
                let mut found = Vec::new();
                manifest.program.body.iter().for_each(|statement| within(statement, span.range, &mut found));
                for statement in found {
                    summarize(statement, &mut effects);
                }
                effects = self.with_uses(effects);
            }
            // A template that changes the catalog: what it does is not followed.
            None => effects.anything = true,
        }
        let effects = Rc::new(effects);
        self.of_branches.insert(span, Rc::clone(&effects));
        effects
    }

    /// What the code of a class, definition or function does itself.
    fn of_definition(&mut self, kind: Kind, name: Symbol) -> Rc<Effects> {
        if let Some(known) = self.of_definitions.get(&(kind, name)) {
            return Rc::clone(known);
        }
        let mut effects = Effects::default();
        match self.find(kind, name) {
            Some(Code::Class(class)) => {
                effects.classes.insert(name);
                effects.uses.extend(class.parent.map(|(parent, _)| (Kind::Class, lower(&parent))));
                summarize_code(&class.parameters, &class.body, &mut effects);
            }
            Some(Code::Define(define)) => {
                summarize_code(&define.parameters, &define.body, &mut effects);
            }
            Some(Code::Function(function)) => {
                summarize_code(&function.parameters, &function.body, &mut effects);
            }
            None => {}
        }
        let effects = Rc::new(effects);
        self.of_definitions.insert((kind, name), Rc::clone(&effects));
        effects
    }

    /// The same with all that it uses.
    fn with_uses(&mut self, mut effects: Effects) -> Effects {
        let mut seen: FxHashSet<(Kind, Symbol)> = FxHashSet::default();
        let mut work: Vec<(Kind, Symbol)> = drained(&mut effects.uses);
        while let Some((kind, name)) = work.pop() {
            if !seen.insert((kind, name)) {
                continue;
            }
            let used = self.of_definition(kind, name);
            effects.merge(&used);
            work.extend(drained(&mut effects.uses));
        }
        effects
    }

    fn find(&mut self, kind: Kind, name: Symbol) -> Option<Code> {
        let found = self.known(kind, name);
        if found.is_some() || !self.looked_for.insert(Symbol::new(&format!("{kind:?} {name}"))) {
            return found;
        }
        let mut parts: Vec<&str> = name.as_str().split("::").collect();
        let folder = self.environment.module(parts.first().copied().unwrap_or(""))?;
        if kind == Kind::Function {
            let rest = if parts.len() > 1 { parts[1..].join("/") } else { "init".to_owned() };
            self.load(&folder.join("functions").join(rest).with_extension("pp"));
            return self.known(kind, name);
        }
        let manifests = folder.join("manifests");
        self.load(&manifests.join("init.pp"));
        while parts.len() > 1 && self.known(kind, name).is_none() {
            self.load(&manifests.join(parts[1..].join("/")).with_extension("pp"));
            parts.pop();
        }
        self.known(kind, name)
    }

    fn known(&self, kind: Kind, name: Symbol) -> Option<Code> {
        match kind {
            Kind::Class => self.classes.get(&name).map(|class| Code::Class(Arc::clone(class))),
            Kind::Define => self.defines.get(&name).map(|define| Code::Define(Arc::clone(define))),
            Kind::Function => self.functions.get(&name).map(|function| Code::Function(Arc::clone(function))),
        }
    }

    fn load(&mut self, path: &std::path::Path) {
        if !self.environment.files.is_file(path) {
            return;
        }
        if let Ok(manifest) = self.environment.manifest(path)
            && !self.manifests.iter().any(|known| known.program.file == manifest.program.file)
        {
            self.register(&manifest);
        }
    }
}

fn summarize_code(parameters: &[Parameter], body: &[Expr], effects: &mut Effects) {
    let defaults = parameters.iter().filter_map(|parameter| parameter.default.as_ref());
    defaults.chain(body).for_each(|statement| summarize(statement, effects));
}

fn summarize(expression: &Expr, effects: &mut Effects) {
    match &expression.kind {
        ExprKind::Resource { type_name, bodies, .. } => {
            let titles: Vec<Option<Symbol>> = bodies.iter().flat_map(|body| literals(&body.title)).collect();
            match &type_name.kind {
                ExprKind::Name(name) if name.eq_ignore_ascii_case("class") => {
                    for title in titles {
                        effects.declare_class(title);
                    }
                }
                ExprKind::Name(name) | ExprKind::TypeName(name) => {
                    effects.declare(*name, &titles);
                }
                _ => effects.anything = true,
            }
        }
        ExprKind::ResourceDefaults { type_name, attributes, .. } => match &type_name.kind {
            ExprKind::TypeName(name) => {
                let of = displayed(name);
                effects.defaults.extend(names(attributes).into_iter().map(|name| (of, name)));
            }
            _ => effects.anything = true,
        },
        ExprKind::ResourceOverride { target, attributes, .. } => {
            let names = names(attributes);
            for (of, title) in references(target) {
                effects.sets.extend(names.iter().map(|name| (of, title, *name)));
            }
        }
        ExprKind::Collector { type_name, attributes, .. } => {
            if let ExprKind::TypeName(name) = &type_name.kind {
                let of = displayed(name);
                // One that sets something passes on the defaults of its scope, too.
                if !attributes.is_empty() {
                    effects.sets.insert((Some(of), None, None));
                }
                effects.uses.insert((Kind::Define, lower(name)));
            }
        }
        ExprKind::Relationship { .. } => {
            for name in ["before", "notify"] {
                effects.sets.insert((None, None, Some(Symbol::new(name))));
            }
        }
        ExprKind::Call(call) => {
            if let ExprKind::Name(name) = &call.function.kind {
                summarize_call(*name, &call.arguments.iter().collect::<Vec<_>>(), effects);
            }
            call.lambda.iter().for_each(|lambda| summarize_lambda(lambda, effects));
        }
        ExprKind::MethodCall(call) => {
            let arguments: Vec<&Expr> = [&call.receiver].into_iter().chain(&call.arguments).collect();
            summarize_call(call.name, &arguments, effects);
            call.lambda.iter().for_each(|lambda| summarize_lambda(lambda, effects));
        }
        _ => {}
    }
    children(expression, &mut |child| summarize(child, effects));
}

fn summarize_lambda(lambda: &Lambda, effects: &mut Effects) {
    summarize_code(&lambda.parameters, &lambda.body, effects);
}

fn summarize_call(name: Symbol, arguments: &[&Expr], effects: &mut Effects) {
    let name = name.strip_prefix("::").unwrap_or(&name);
    if !may_act(name) {
        return;
    }
    let first = arguments.first().map_or_else(Vec::new, |first| literals(first));
    match name {
        "include" | "contain" | "require" => {
            effects.requires |= name == "require";
            for argument in arguments {
                for title in literals(argument) {
                    effects.declare_class(title);
                }
            }
        }
        "hiera_include" => effects.declare_class(None),
        "tag" => effects.tags = true,
        "realize" => {
            for argument in arguments {
                for (of, _) in references(argument) {
                    match of {
                        Some(of) => {
                            effects.uses.insert((Kind::Define, lower(&of)));
                        }
                        None => effects.anything = true,
                    }
                }
            }
        }
        "create_resources" | "ensure_resource" | "ensure_resources" => {
            for of in first {
                match of {
                    Some(of) if of.trim_start_matches('@').eq_ignore_ascii_case("class") => {
                        effects.declare_class(None);
                    }
                    Some(of) => effects.declare(Symbol::new(of.trim_start_matches('@')), &[None]),
                    None => effects.anything = true,
                }
            }
        }
        "ensure_packages" => effects.declare(Symbol::new("package"), &[None]),
        "call" => effects.anything = true,
        _ => {
            effects.uses.insert((Kind::Function, lower(name)));
        }
    }
}

enum Code {
    Class(Arc<ClassDef>),
    Define(Arc<DefineDef>),
    Function(Arc<FunctionDef>),
}

fn lower(name: &str) -> Symbol {
    let plain = name.strip_prefix("::").unwrap_or(name);
    Symbol::new(&plain.to_lowercase())
}

fn displayed(name: &str) -> Symbol {
    Symbol::new(&setpoint_catalog::display_name(name.strip_prefix("::").unwrap_or(name)))
}

/// The names that an expression stands for; `None` for one that is computed.
fn literals(expression: &Expr) -> Vec<Option<Symbol>> {
    match &expression.kind {
        ExprKind::String(text) => vec![Some(Symbol::new(text))],
        ExprKind::Name(name) => vec![Some(*name)],
        ExprKind::Paren(inner) => literals(inner),
        ExprKind::Array(items) => items.iter().flat_map(literals).collect(),
        ExprKind::Default => Vec::new(),
        ExprKind::Access { target, keys } => match &target.kind {
            ExprKind::TypeName(name) if matches!(name.as_str(), "Class" | "Resource") => {
                keys.iter().flat_map(literals).collect()
            }
            _ => vec![None],
        },
        ExprKind::TypeName(name) => vec![Some(*name)],
        _ => vec![None],
    }
}

/// The types and titles of references.
fn references(expression: &Expr) -> Vec<(Option<Symbol>, Option<Symbol>)> {
    match &expression.kind {
        ExprKind::Access { target, keys } => match &target.kind {
            ExprKind::TypeName(name) if name.as_str() != "Resource" => {
                let of = Some(displayed(name));
                keys.iter().flat_map(literals).map(|title| (of, title)).collect()
            }
            _ => vec![(None, None)],
        },
        ExprKind::Array(items) => items.iter().flat_map(references).collect(),
        ExprKind::Paren(inner) => references(inner),
        _ => vec![(None, None)],
    }
}

fn names(attributes: &[Attribute]) -> Vec<Option<Symbol>> {
    let name = |attribute: &Attribute| match &attribute.kind {
        AttributeKind::Set { name, .. } | AttributeKind::Append { name, .. } => Some(*name),
        AttributeKind::Splat(_) => None,
    };
    attributes.iter().map(name).collect()
}

/// The outermost expressions that stand in a stretch of the text.
fn within<'t>(expression: &'t Expr, range: Range, found: &mut Vec<&'t Expr>) {
    if expression.range.start >= range.start && expression.range.end <= range.end {
        found.push(expression);
        return;
    }
    if expression.range.end <= range.start || expression.range.start >= range.end {
        return;
    }
    match &expression.kind {
        ExprKind::Class(class) => in_code(&class.parameters, &class.body, range, found),
        ExprKind::Define(define) => in_code(&define.parameters, &define.body, range, found),
        ExprKind::Node(node) => node.body.iter().for_each(|statement| within(statement, range, found)),
        ExprKind::Function(function) => in_code(&function.parameters, &function.body, range, found),
        _ => {}
    }
    let lambda = match &expression.kind {
        ExprKind::Call(call) => call.lambda.as_ref(),
        ExprKind::MethodCall(call) => call.lambda.as_ref(),
        _ => None,
    };
    if let Some(lambda) = lambda {
        in_code(&lambda.parameters, &lambda.body, range, found);
    }
    children(expression, &mut |child| within(child, range, found));
}

fn in_code<'t>(parameters: &'t [ast::Parameter], body: &'t [Expr], range: Range, found: &mut Vec<&'t Expr>) {
    let defaults = parameters.iter().filter_map(|parameter| parameter.default.as_ref());
    defaults.chain(body).for_each(|statement| within(statement, range, found));
}
