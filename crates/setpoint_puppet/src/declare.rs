//! Declaring resources: how they enter the catalog, and how references find them.

use std::sync::Arc;

use setpoint_catalog::{Kind, NativeType};
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{ClassUse, FailureKind, IllegalConstruct, InvalidTitle, Stop, TypeUse};
use setpoint_puppet_syntax::ast::ResourceForm;
use setpoint_puppet_values::{Data, Type, Value, to_text};
use setpoint_source::{Limit, Span, Symbol};

use crate::compiler::Compiler;
use crate::loader::{DefinitionId, lower};
use crate::resources::{Native, Parameter, Parameters, Resource, ResourceId, ResourceType};
use crate::tags::{tag_if_valid, tag_values};

/// Larger catalogs are not computed.
const MAX_RESOURCES: Limit = Limit::new(250_000);

/// What distinguishes a resource that is declared.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) kind: Kind,
    pub(crate) form: ResourceForm,
    pub(crate) parameters: Vec<Parameter>,
    /// By default the code that runs.
    pub(crate) source: Option<DefinitionId>,
    pub(crate) span: Option<Span>,
    /// Defaults of the scope are copied.
    pub(crate) with_defaults: bool,
    /// The title, if it is no string.
    pub(crate) title_value: Option<Value>,
}

impl Default for New {
    fn default() -> Self {
        Self {
            kind: Kind::Unknown,
            form: ResourceForm::Regular,
            parameters: Vec::new(),
            source: None,
            span: None,
            with_defaults: true,
            title_value: None,
        }
    }
}

/// What a resource expression, or `create_resources`, declares.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) form: ResourceForm,
    pub(crate) titles: Vec<Value>,
    pub(crate) parameters: Vec<Parameter>,
    /// What decided which parameters hashes gave.
    pub(crate) splats: Vec<Prov>,
    /// Why nobody knows which other parameters there are.
    pub(crate) unknown: Option<Arc<str>>,
    pub(crate) span: Span,
}

impl Compiler<'_> {
    /// Declares one resource per title.
    pub(crate) fn declare(
        &mut self,
        type_name: Symbol,
        declaration: Declaration,
    ) -> Result<Vec<ResourceId>, Stop> {
        if type_name.eq_ignore_ascii_case("class") {
            return self.declare_classes(declaration);
        }
        let span = declaration.span;
        let Some(resource_type) = self.find_resource_type_named(type_name)? else {
            let missing = Err(self.missing_type(&type_name, TypeUse::Declared, Some(span)));
            return self.or_pass_over(self.mark(), missing).map(Option::unwrap_or_default);
        };
        let kind = match resource_type {
            ResourceType::Native(_) => Kind::CompilableType,
            ResourceType::Definition(_) => Kind::DefinedType,
        };
        let displayed = self.displayed(type_name);
        let mut declared = Vec::with_capacity(declaration.titles.len());
        let mut titles = declaration.titles.into_iter().peekable();
        let mut parameters = declaration.parameters;
        if let ResourceType::Definition(definition) = resource_type {
            self.add_unknown_parameters(definition, declaration.unknown.as_ref(), span, &mut parameters);
        }
        while let Some(title) = titles.next() {
            let text = to_text(&title);
            // The last resource takes the parameters, the others copy them.
            let own =
                if titles.peek().is_some() { parameters.clone() } else { std::mem::take(&mut parameters) };
            let new = New {
                kind,
                form: declaration.form,
                parameters: own,
                span: Some(span),
                title_value: title.as_str().is_none().then(|| title.clone()),
                ..New::default()
            };
            let mut resource = self.new_resource(displayed, text, resource_type.clone(), new)?;
            resource.title_prov = title.prov;
            resource.prov = self.existence(self.words.resource, title.prov, Some(span));
            let id = self.add_resource(resource)?;
            self.note_splats(id, &declaration.splats);
            declared.push(id);
        }
        Ok(declared)
    }

    /// `class { 'a': }`: the class is declared with parameters, and its code runs at once.
    fn declare_classes(&mut self, declaration: Declaration) -> Result<Vec<ResourceId>, Stop> {
        let span = declaration.span;
        let mut declared = Vec::new();
        for title in declaration.titles {
            let text = to_text(&title);
            let Some(class) = self.find_class(&text)? else {
                let missing = Err(self.missing_class(&text, ClassUse::Declared, Some(span)));
                self.or_pass_over(self.mark(), missing).map(|_: Option<()>| ())?;
                continue;
            };
            let name = self.definitions[class].name;
            let mut parameters = declaration.parameters.clone();
            self.add_unknown_parameters(class, declaration.unknown.as_ref(), span, &mut parameters);
            let new = New {
                kind: Kind::Class,
                form: declaration.form,
                parameters,
                span: Some(span),
                ..New::default()
            };
            let mut resource = self.new_resource(
                self.words.class,
                name.as_str().into(),
                ResourceType::Definition(class),
                new,
            )?;
            resource.title_prov = title.prov;
            resource.prov = self.existence(self.words.resource, title.prov, Some(span));
            self.instantiate(class, resource.prov)?;
            self.catalog_tags.merge(&resource.tags);
            let id = self.add_resource(resource)?;
            self.note_splats(id, &declaration.splats);
            self.evaluate_resource(id)?;
            declared.push(id);
        }
        Ok(declared)
    }

    /// Adds what a hash that is not known may have given, so that no default stands for it.
    fn add_unknown_parameters(
        &self,
        definition: DefinitionId,
        why: Option<&Arc<str>>,
        span: Span,
        parameters: &mut Vec<Parameter>,
    ) {
        let Some(why) = why else { return };
        let source = self.scopes[self.frame.scope].source;
        for declared in self.definitions[definition].parameters() {
            if parameters.iter().any(|given| given.name == declared.name) {
                continue;
            }
            let value = Value::unknown_or_missing(Arc::clone(why));
            let control = self.frame.control;
            parameters.push(Parameter {
                name: declared.name,
                value,
                source,
                span: Some(span),
                append: false,
                control,
            });
        }
    }

    fn note_splats(&mut self, id: ResourceId, splats: &[Prov]) {
        let id = setpoint_catalog::ResourceId(id.index() as u32);
        self.trace.splats.extend(splats.iter().filter(|prov| !prov.is_none()).map(|prov| (id, *prov)));
    }

    /// A resource that is not in the catalog yet, with its tags and defaults.
    pub(crate) fn new_resource(
        &mut self,
        type_name: Symbol,
        title: Arc<str>,
        resource_type: ResourceType,
        new: New,
    ) -> Result<Resource, Stop> {
        let is_class = type_name.as_str() == "Class";
        let title: Arc<str> = if is_class { self.type_name(&title).as_str().into() } else { title };
        let mut tags = self.type_tags(type_name);
        if new.title_value.is_none() {
            tag_if_valid(&mut tags, &title);
        }
        for (at, parameter) in new.parameters.iter().enumerate() {
            if new.parameters.iter().take(at).any(|known| known.name == parameter.name) {
                let (parameter, resource) = (parameter.name, format!("{type_name}[{title}]"));
                return Err(FailureKind::DuplicateParameter { parameter, resource }.at(new.span));
            }
            if parameter.name.as_str() == "tag" {
                tag_values(&mut tags, &parameter.value)?;
            }
        }
        let mut parameters = Parameters::from(new.parameters);
        if new.with_defaults && self.types_with_defaults.contains(&type_name) {
            let order = self.scopes[self.frame.scope].order;
            for mut default in self.lookup_defaults(self.frame.scope, type_name).into_vec() {
                if parameters.get(default.name).is_none() {
                    if !order.is_none() {
                        let prov = self.arena.under(default.value.prov, Control::Declaration, order, None);
                        default.value = default.value.with(prov);
                    }
                    if default.name.as_str() == "tag" {
                        tag_values(&mut tags, &default.value)?;
                    }
                    parameters.set(default);
                }
            }
        }
        Ok(Resource {
            type_name,
            title,
            instance_of: resource_type,
            kind: new.kind,
            scope: self.frame.scope,
            source: new.source.unwrap_or(self.scopes[self.frame.scope].source),
            parameters,
            tags,
            span: new.span,
            exported: new.form == ResourceForm::Exported,
            virtual_: new.form != ResourceForm::Regular,
            evaluated: false,
            has_scope_tags: false,
            sensitive: Vec::new(),
            title_prov: Prov::NONE,
            title_value: new.title_value,
            prov: Prov::NONE,
            instance: Prov::NONE,
        })
    }

    /// Puts a resource into the catalog, and into what contains it.
    pub(crate) fn add_resource(&mut self, resource: Resource) -> Result<ResourceId, Stop> {
        if let Some(known) = self.resources.find(resource.type_name, &resource.title) {
            return Err(self.duplicate(&resource, known));
        }
        if self.resources.len() >= MAX_RESOURCES {
            let message = format!("The catalog has more than {MAX_RESOURCES} resources");
            return Err(crate::evaluate::too_large(message));
        }
        let aliases = self.aliases(&resource)?;
        let is_stage = resource.type_name.as_str() == "Stage";
        let is_class = resource.is_class();
        if !is_class && resource.named("stage").is_some_and(Value::is_true) {
            return Err(FailureKind::StageOfResource { resource: resource.reference() }.at(resource.span));
        }
        let id = self.resources.add(resource, true);
        for alias in aliases {
            self.resources.add_alias(id, alias);
        }
        if !is_stage && !is_class {
            let container = self.scopes[self.frame.scope].resource;
            self.resources.edges.push((container, id));
        }
        Ok(id)
    }

    fn duplicate(&self, resource: &Resource, known: ResourceId) -> Stop {
        let first = self.resources[known].span.map(|first| self.named_place(first));
        FailureKind::DuplicateDeclaration { resource: resource.reference(), first }.at(resource.span)
    }

    /// Further titles by which a resource is found: its `alias`, and what its namevars say.
    fn aliases(&self, resource: &Resource) -> Result<Vec<Arc<str>>, Stop> {
        let mut aliases = Vec::new();
        if let Some(given) = resource.named("alias") {
            if let Some(unknown) = given.unknown_part() {
                return Err(FailureKind::undecided(unknown).at(resource.span));
            }
            collect_strings(given, &mut aliases);
        }
        aliases.retain(|alias| **alias != *resource.title);
        for alias in &aliases {
            self.refuse_alias(resource, alias, &setpoint_puppet_values::ruby::text::inspect_text(alias))?;
        }
        if let Some(unique) = unique_name(resource)? {
            let shown = |part: &str| match part {
                "" => "nil".to_owned(),
                part => setpoint_puppet_values::ruby::text::inspect_text(part),
            };
            let parts: Vec<String> =
                unique.strip_prefix('\0').unwrap_or(&unique).split('\0').map(shown).collect();
            self.refuse_alias(resource, &unique, &format!("[{}]", parts.join(", ")))?;
            aliases.push(unique);
        }
        Ok(aliases)
    }

    fn refuse_alias(&self, resource: &Resource, alias: &str, shown: &str) -> Result<(), Stop> {
        let Some(known) = self.resources.find(resource.type_name, alias) else { return Ok(()) };
        let key =
            format!("[\"{}\", {}]", resource.type_name, shown.trim_start_matches('[').trim_end_matches(']'));
        let duplicate = FailureKind::DuplicateAlias {
            resource: resource.reference(),
            alias: shown.to_owned(),
            key,
            known: self.resources[known].reference(),
            at: resource.span.map(|span| self.named_place(span)),
            first: self.resources[known].span.map(|first| self.named_place(first)),
        };
        Err(duplicate.at(resource.span))
    }

    /// The resource that a type and title name, also by alias or another spelling of its title.
    pub(crate) fn find_resource(&mut self, type_name: &str, title: &str) -> Result<Option<ResourceId>, Stop> {
        let displayed = self.type_name(type_name);
        if displayed.as_str() == "Class" {
            return Ok(self.find_class_resource(Symbol::new(title)));
        }
        if let Some(found) = self.resources.find(displayed, title) {
            return Ok(Some(found));
        }
        // Another spelling: `/a/` for `/a`.
        let Some(ResourceType::Native(native)) = self.find_resource_type(type_name)? else { return Ok(None) };
        Ok(title_key(native, title).and_then(|key| self.resources.find(displayed, &key)))
    }

    /// The resource of a class by its name in any case.
    pub(crate) fn find_class_resource(&mut self, name: Symbol) -> Option<ResourceId> {
        let title = self.type_name(&lower(name));
        self.resources.find(self.words.class, &title)
    }

    /// The resource that a text such as `File[/etc/motd]` names.
    pub(crate) fn find_reference(&mut self, text: &str) -> Result<Option<ResourceId>, Stop> {
        if let Some((type_name, title)) = split_reference(text) {
            self.find_resource(type_name, title)
        } else {
            let shown = setpoint_puppet_values::ruby::text::inspect_text(text);
            Err(FailureKind::IllegalConstruct(IllegalConstruct::UntitledReference { shown }).unplaced())
        }
    }

    /// How a reference value is written in the catalog: `File[/etc/motd]`, `Class[Apache::Params]`.
    pub(crate) fn reference_text(&mut self, of: &Type) -> Option<String> {
        let (type_name, title) = reference_parts(of)?;
        let type_name = self.type_name(type_name);
        let title = title.unwrap_or("");
        if type_name.as_str() == "Class" {
            let title = title.strip_prefix("::").unwrap_or(title);
            let title = self.type_name(&title.to_lowercase());
            return Some(format!("Class[{title}]"));
        }
        Some(format!("{type_name}[{title}]"))
    }
}

/// The type and title of a reference to a resource or class.
pub(crate) fn reference_parts(of: &Type) -> Option<(&str, Option<&str>)> {
    match of.resolved() {
        Type::Resource(Some(reference)) => Some((&reference.name, reference.title.as_deref())),
        Type::Class(Some(name)) => Some(("Class", Some(name))),
        Type::Class(None) => Some(("Class", None)),
        Type::Type(Some(inner)) => reference_parts(inner),
        _ => None,
    }
}

/// Whether a type stands for a resource or class, which the catalog writes as text.
pub(crate) fn is_reference(of: &Type) -> bool {
    matches!(of.resolved(), Type::Resource(Some(_)) | Type::Class(_))
}

pub(crate) fn split_reference(text: &str) -> Option<(&str, &str)> {
    let (type_name, rest) = text.split_once('[')?;
    let title = rest.strip_suffix(']')?;
    (!type_name.is_empty() && !title.is_empty() && !type_name.contains(']')).then_some((type_name, title))
}

/// The name under which the catalog may hold a resource once, if it is not its title.
fn unique_name(resource: &Resource) -> Result<Option<Arc<str>>, Stop> {
    let native = match &resource.instance_of {
        ResourceType::Native(native) => native,
        ResourceType::Definition(_) => {
            let name = resource.named("name").filter(|name| !name.is_undef());
            let name = name.filter(|name| name.unknown_part().is_none());
            return Ok(name.map(to_text).filter(|name| **name != *resource.title));
        }
    };
    if !native.isomorphic {
        return Ok(None);
    }
    let namevar = native.namevar();
    let parts = title_parts(native, resource)?;
    let value_of = |name: &str| {
        let given = resource.named(name).filter(|value| !value.is_undef());
        let given = given.or_else(|| {
            let named = (name == namevar).then(|| resource.named("name")).flatten();
            named.filter(|value| !value.is_undef())
        });
        if let Some(value) = given {
            return Some(to_text(value));
        }
        parts.iter().find(|(part, _)| *part == name).map(|(_, value)| Arc::from(value.as_str()))
    };
    // A name that is not known is told from no other.
    let names = native.namevars.iter().copied().chain([namevar, "name"]);
    if names.filter_map(|name| resource.named(name)).any(|given| given.unknown_part().is_some()) {
        return Ok(None);
    }
    let unique = match native.namevars.as_ref() {
        [] => return Ok(None),
        [only] => value_of(only),
        several => {
            let mut names = several.to_vec();
            names.sort_unstable();
            let values = names.iter().map(|name| value_of(name).unwrap_or_default());
            Some(Arc::from(values.fold(String::new(), |text, value| text + "\0" + &value)))
        }
    };
    Ok(unique.filter(|unique| **unique != *resource.title))
}

/// What the title says about attributes. Nothing is allocated for the common case, in which it is the namevar.
fn title_parts(native: Native, resource: &Resource) -> Result<Vec<(&'static str, String)>, Stop> {
    let title = &*resource.title;
    if native.name == "file" && setpoint_catalog::file_path(title) == title {
        return Ok(Vec::new());
    }
    if let Some(parts) = native.parse_title(title) {
        Ok(parts.into_iter().filter(|(_, value)| value != title || native.namevars.len() > 1).collect())
    } else {
        let invalid = InvalidTitle::NoPattern(resource.title.clone());
        Err(FailureKind::InvalidTitle(invalid).at(resource.span))
    }
}

/// The name under which a resource of this title would be found.
fn title_key(native: &NativeType, title: &str) -> Option<String> {
    let parts = native.parse_title(title)?;
    match native.namevars.as_ref() {
        [only] => parts.into_iter().find(|(name, _)| name == only).map(|(_, value)| value),
        several => {
            let mut names = several.to_vec();
            names.sort_unstable();
            let value =
                |name: &&str| parts.iter().find(|(part, _)| part == name).map_or("", |(_, value)| value);
            Some(names.iter().fold(String::new(), |text, name| text + "\0" + value(name)))
        }
    }
}

fn collect_strings(value: &Value, found: &mut Vec<Arc<str>>) {
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| collect_strings(item, found)),
        Data::Undef => {}
        _ => found.push(to_text(value)),
    }
}
