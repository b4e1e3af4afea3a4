//! Classes, and how the code of a class, node or definition is run.

use setpoint_catalog::Kind;
use setpoint_provenance::{Control, Leaf, LeafKind, Prov};
use setpoint_puppet_functions::{ClassUse, DanglingReference, FailureKind, Stop};
use setpoint_puppet_values::{Hash, Value, to_text};
use setpoint_source::{Span, Symbol, never};

use crate::compiler::Compiler;
use crate::declare::New;
use crate::loader::{DefinitionId, DefinitionKind};
use crate::resources::{Parameter, ResourceId, ResourceType};
use crate::scope::{Local, Scope, ScopeId, ScopeKind};
use crate::trace::MISSING_CLASS;

impl Compiler<'_> {
    /// Declares classes by name and runs their code, as `include` does. The result has the resource of each.
    pub(crate) fn include_classes(
        &mut self,
        names: &[(Symbol, Prov)],
        span: Span,
    ) -> Result<Vec<ResourceId>, Stop> {
        let mut found = Vec::with_capacity(names.len());
        for (name, prov) in names {
            let Some(class) = self.find_class(name)? else {
                let wanted = ClassUse::Included { node: self.options.node.clone() };
                let missing = Err(self.missing_class(name, wanted, Some(span)));
                self.or_pass_over(self.mark(), missing).map(|_: Option<()>| ())?;
                continue;
            };
            found.push((class, *prov));
        }
        let mut known = Vec::new();
        let mut new = Vec::new();
        for (class, prov) in found {
            let name = self.definitions[class].name;
            match self.class_scopes.get(&name) {
                Some(&scope) => {
                    let resource = self.scopes[scope].resource;
                    self.note_declaration(resource, prov, span);
                    known.push(resource);
                }
                None => new.push(self.ensure_in_catalog(class, prov, Some(span))?),
            }
        }
        for &class in &new {
            let mark = self.mark();
            let result = self.evaluate_resource(class);
            self.or_pass_over(mark, result)?;
        }
        known.extend(new);
        Ok(known)
    }

    /// The classes that an external node classifier names. Those with parameters are declared with them.
    pub(crate) fn evaluate_classifier_classes(&mut self) -> Result<(), Stop> {
        self.frame.scope = self.node_scope.unwrap_or(ScopeId::TOP);
        let options = self.options;
        let (with, without): (Vec<_>, Vec<_>) =
            options.classes.iter().partition(|(_, parameters)| !parameters.is_empty());
        for (name, parameters) in with.into_iter().chain(without) {
            let Some(class) = self.find_class(name)? else {
                let wanted = ClassUse::Included { node: self.options.node.clone() };
                let missing = Err(self.missing_class(name, wanted, None));
                self.or_pass_over(self.mark(), missing).map(|_: Option<()>| ())?;
                continue;
            };
            if parameters.is_empty() {
                if !self.class_scopes.contains_key(&self.definitions[class].name) {
                    self.ensure_in_catalog(class, Prov::NONE, None)?;
                }
            } else {
                self.declare_classified(class, parameters)?;
            }
        }
        self.frame.scope = ScopeId::TOP;
        Ok(())
    }

    fn declare_classified(&mut self, class: DefinitionId, parameters: &Hash) -> Result<(), Stop> {
        let parameters = parameters.iter().map(|(name, value)| Parameter {
            name: Symbol::new(&to_text(&name.0)),
            value: value.clone(),
            source: class,
            span: None,
            append: false,
            control: Prov::NONE,
        });
        let title = self.definitions[class].name;
        let new = New {
            kind: Kind::Unknown,
            parameters: parameters.collect(),
            source: Some(class),
            ..New::default()
        };
        let resource =
            self.new_resource(self.words.class, title.as_str().into(), ResourceType::Definition(class), new)?;
        self.instantiate(class, resource.prov)?;
        self.add_resource(resource)?;
        Ok(())
    }

    /// The resource of a class or node; declared without parameters if it is not there.
    pub(crate) fn ensure_in_catalog(
        &mut self,
        definition: DefinitionId,
        prov: Prov,
        span: Option<Span>,
    ) -> Result<ResourceId, Stop> {
        let name = self.definitions[definition].name;
        let is_node = matches!(self.definition_kind(definition), DefinitionKind::Node(_));
        let type_name = Symbol::new(if is_node { "Node" } else { "Class" });
        let known =
            if is_node { self.resources.find(type_name, &name) } else { self.find_class_resource(name) };
        if let Some(known) = known {
            self.note_declaration(
                known,
                prov,
                span.unwrap_or_else(|| self.span(setpoint_source::Range::default())),
            );
            return Ok(known);
        }
        let new = New { kind: Kind::Unknown, source: Some(definition), ..New::default() };
        let mut resource =
            self.new_resource(type_name, name.as_str().into(), ResourceType::Definition(definition), new)?;
        resource.title_prov = prov;
        resource.prov = self.existence(self.words.include, prov, span);
        self.instantiate(definition, resource.prov)?;
        self.catalog_tags.merge(&resource.tags);
        self.add_resource(resource)
    }

    /// Makes sure that the parent class is in the catalog before the class itself.
    pub(crate) fn instantiate(&mut self, definition: DefinitionId, declared: Prov) -> Result<(), Stop> {
        let mut at = definition;
        let mut chain = Vec::new();
        while let Some(parent) = self.parent_of(at)? {
            if self.find_class_resource(self.definitions[parent].name).is_some() {
                break;
            }
            if parent == definition || chain.contains(&parent) {
                return Err(self.inheritance_cycle(definition, &chain, parent));
            }
            chain.push(parent);
            at = parent;
        }
        for parent in chain.into_iter().rev() {
            let name = self.definitions[parent].name;
            let new = New { kind: Kind::Unknown, source: Some(parent), ..New::default() };
            let mut resource = self.new_resource(
                self.words.class,
                name.as_str().into(),
                ResourceType::Definition(parent),
                new,
            )?;
            resource.prov = self.existence(self.words.inherits, declared, self.definitions[definition].span);
            self.catalog_tags.merge(&resource.tags);
            self.add_resource(resource)?;
        }
        Ok(())
    }

    fn inheritance_cycle(&self, first: DefinitionId, chain: &[DefinitionId], again: DefinitionId) -> Stop {
        let definition = &self.definitions[first];
        let names = std::iter::once(&first).chain(chain).chain([&again]);
        let names = names.map(|id| self.definitions[*id].name.to_string()).collect();
        FailureKind::InheritanceCycle(names).at(definition.span)
    }

    /// The class that a class inherits from.
    pub(crate) fn parent_of(&mut self, definition: DefinitionId) -> Result<Option<DefinitionId>, Stop> {
        let Some((parent, _)) = self.definitions[definition].parent else { return Ok(None) };
        if let Some(found) = self.find_class(&parent)? {
            return Ok(Some(found));
        }
        let environment = self.options.environment_name(self.environment).to_owned();
        let wanted = ClassUse::Inherited { environment };
        let missing = Err(self.missing_class(&parent, wanted, self.definitions[definition].span));
        // The class is looked at without what it inherits.
        self.or_pass_over(self.mark(), missing).map(|_: Option<()>| None)
    }

    /// Whether code of one class may override what code of another has set.
    pub(crate) fn is_child_of(&self, definition: DefinitionId, ancestor: DefinitionId) -> bool {
        let mut at = definition;
        // A cycle would have been refused before; the bound is only for safety.
        for _ in 0..1000 {
            if self.definitions[at].overriding {
                return true;
            }
            let parent = self.definitions[at].parent.and_then(|(name, _)| self.known_class(name));
            match parent {
                Some(parent) if parent == ancestor => return true,
                Some(parent) => at = parent,
                None => return false,
            }
        }
        false
    }

    /// Runs the code of a class, node or instance of a definition, once.
    pub(crate) fn evaluate_resource(&mut self, id: ResourceId) -> Result<(), Stop> {
        let resource = &mut self.resources[id];
        let ResourceType::Definition(definition) = resource.instance_of else { return Ok(()) };
        if std::mem::replace(&mut resource.evaluated, true) {
            return Ok(());
        }
        self.enter_call(self.resources[id].span)?;
        self.add_scope_tags(id);
        let outer = self.frame;
        let jumps = self.jumps;
        let result = self.evaluate_code(id, definition);
        self.frame = outer;
        self.jumps = jumps;
        self.leave_call();
        result
    }

    fn evaluate_code(&mut self, id: ResourceId, definition: DefinitionId) -> Result<(), Stop> {
        let first = self.first_declaration(id, definition);
        let inherited = self.evaluate_parent(definition)?;
        let kind = match self.definition_kind(definition) {
            DefinitionKind::Define(_) => ScopeKind::Define,
            DefinitionKind::Node(_) => ScopeKind::Node,
            _ => ScopeKind::Class,
        };
        let parent = inherited.unwrap_or(self.resources[id].scope);
        let mut scope = Scope::new(kind, definition, id);
        scope.parent = Some(parent);
        scope.inherited = inherited;
        scope.enclosing = self.enclosing(parent);
        scope.order = first;
        let scope = self.scopes.add(scope);
        let name = self.definitions[definition].name;
        if kind != ScopeKind::Define {
            self.classes.insert(name);
            self.tag_catalog(&name);
        }
        let mut cause = self.resources[id].prov;
        if kind == ScopeKind::Define && self.arena.enabled() {
            // Its parameters could have been set by others.
            let name = Some(self.words.instance);
            let leaf = self.arena.leaf(Leaf { kind: LeafKind::Absence, name, span: None });
            self.resources[id].instance = leaf;
            cause = self.arena.under(cause, Control::Instance, leaf, None);
        }
        let control = if kind == ScopeKind::Define { Control::Instance } else { Control::Declaration };
        let span = self.resources[id].span;
        self.frame.control = Prov::NONE;
        self.enter(control, cause, span);
        self.frame.scope = scope;
        self.set_resource_parameters(id, definition, scope)?;
        self.edge_to_stage(id)?;
        self.evaluate_definition_body(definition)
    }

    /// What decided that the code of a class runs now and not before: no declaration came earlier. An instance of a
    /// definition runs when its turn comes, which those decide who declared it.
    fn first_declaration(&mut self, id: ResourceId, definition: DefinitionId) -> Prov {
        let outer = self.scopes[self.resources[id].scope].order;
        if !self.arena.enabled() || !matches!(self.definition_kind(definition), DefinitionKind::Class(_)) {
            return outer;
        }
        let name = self.definitions[definition].name;
        let absence = self.absence(MISSING_CLASS, &name);
        self.arena.operation(self.words.include, self.resources[id].span, &[absence, outer])
    }

    /// The node or top scope that encloses what is reached from a scope.
    fn enclosing(&self, scope: ScopeId) -> Option<ScopeId> {
        match self.scopes[scope].kind {
            ScopeKind::Top | ScopeKind::Node => Some(scope),
            _ => self.scopes[scope].enclosing,
        }
    }

    /// The scope of the parent class, whose code runs first.
    fn evaluate_parent(&mut self, definition: DefinitionId) -> Result<Option<ScopeId>, Stop> {
        let Some(parent) = self.parent_of(definition)? else { return Ok(None) };
        let name = self.definitions[parent].name;
        let Some(resource) = self.find_class_resource(name) else {
            // `instantiate` adds parents before their children; the class would lose what it inherits.
            never!("the parent class {name} is not in the catalog");
            return Ok(None);
        };
        self.evaluate_resource(resource)?;
        Ok(self.class_scopes.get(&name).copied())
    }

    fn evaluate_definition_body(&mut self, definition: DefinitionId) -> Result<(), Stop> {
        let kind = self.definition_kind(definition).clone();
        if matches!(kind, DefinitionKind::Class(_) | DefinitionKind::Define(_)) {
            self.entered.insert(self.definitions[definition].name);
        }
        let result = match &kind {
            DefinitionKind::Class(class) => {
                self.frame.file = class.file;
                self.evaluate_body(&class.body)
            }
            DefinitionKind::Define(define) => {
                self.frame.file = define.file;
                self.evaluate_body(&define.body)
            }
            DefinitionKind::Node(node) => {
                self.frame.file = node.file;
                if let Some(captures) = self.definitions[definition].captures.clone() {
                    self.scopes[self.frame.scope].push(Local::Match(captures));
                }
                let result = self.evaluate_body(&node.body);
                return self.end_body(result);
            }
            DefinitionKind::Main | DefinitionKind::Settings => return Ok(()),
        };
        match result {
            // `return()` and `next()` end the code of a class or definition.
            Err(Stop::Next(_) | Stop::Return(_)) => {
                match &kind {
                    DefinitionKind::Class(class) => self.note_jump(&class.body, false),
                    DefinitionKind::Define(define) => self.note_jump(&define.body, false),
                    _ => {}
                }
                Ok(())
            }
            other => other,
        }
    }

    /// A class is contained in its stage.
    pub(crate) fn edge_to_stage(&mut self, id: ResourceId) -> Result<(), Stop> {
        if !self.resources[id].is_class() {
            return Ok(());
        }
        let name = Symbol::new("stage");
        let container = self.scopes[self.resources[id].scope].resource;
        let own = self.resources[id].get(name).filter(|value| !value.is_undef());
        let wanted =
            own.or_else(|| self.resources[container].get(name).filter(|value| !value.is_undef())).cloned();
        let Some(wanted) = wanted else {
            self.add_class_edge(ResourceId::MAIN_STAGE, id, Prov::NONE);
            return Ok(());
        };
        if let Some(unknown) = wanted.unknown_part() {
            return Err(FailureKind::undecided(unknown).unplaced());
        }
        let title = reference_title(&wanted);
        let Some(stage) = self.find_resource("stage", &title)? else {
            let class = self.resources[id].reference();
            let missing = DanglingReference::Stage { missing: title, class };
            return Err(FailureKind::DanglingReference(missing).unplaced());
        };
        if self.resources[id].get(name).is_none_or(Value::is_undef) && stage != ResourceId::MAIN_STAGE {
            let value = Value::string(self.resources[stage].title.clone()).with(wanted.prov);
            self.set_parameter(id, name, value)?;
        }
        self.add_class_edge(stage, id, wanted.prov);
        Ok(())
    }

    /// Adds an edge that may be there already.
    pub(crate) fn add_class_edge(&mut self, container: ResourceId, class: ResourceId, prov: Prov) {
        if !prov.is_none() {
            let id = |id: ResourceId| setpoint_catalog::ResourceId(id.index() as u32);
            self.trace.edges.push((id(container), id(class), prov));
        }
        if self.class_edges.insert((container, class)) {
            self.resources.edges.push((container, class));
        }
    }

    /// Why a resource exists: its title, and how the evaluation came there.
    pub(crate) fn existence(&mut self, how: Symbol, title: Prov, span: Option<Span>) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        let control = self.frame.control;
        self.arena.operation(how, span, &[title, control])
    }

    /// Notes that a class which is there already was declared again: it exists for this reason, too.
    fn note_declaration(&mut self, resource: ResourceId, title: Prov, span: Span) {
        if self.arena.enabled() {
            let again = self.existence(self.words.include, title, Some(span));
            self.declarations.push((resource, again));
        }
    }
}

/// The title that a value names: a string, or a reference.
fn reference_title(value: &Value) -> String {
    if let Some(setpoint_puppet_values::Type::Resource(Some(reference))) = value.as_type()
        && let Some(title) = &reference.title
    {
        return title.to_string();
    }
    to_text(value).to_string()
}
