//! The end of a compilation: late relationships and overrides, the final checks, and the catalog itself.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::{Catalog, metaparameters};
use setpoint_provenance::{Arena, Control, Prov};
use setpoint_puppet_functions::{DanglingReference, Failure, FailureKind, Stop};
use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::{FileId, SourceFile, Symbol};

use crate::compiler::Compiler;
use crate::declare::is_reference;
use crate::resources::{Parameter, Resource, ResourceId, ResourceType};
use crate::trace::{ResourceTrace, Trace};

const RELATIONSHIPS: [&str; 4] = ["before", "notify", "require", "subscribe"];

impl Compiler<'_> {
    pub(crate) fn finish(&mut self) -> Result<(), Stop> {
        // What is not there may have been passed over.
        if self.is_blind() {
            self.resources.ids().for_each(|id| self.check_parameters(id));
            return Ok(());
        }
        self.evaluate_relationships()?;
        self.apply_pending_overrides()?;
        for id in self.resources.ids() {
            // `Stage[main]` and `Class[Settings]` are not checked.
            if matches!(id, ResourceId::MAIN_STAGE | ResourceId::SETTINGS) {
                continue;
            }
            self.add_scope_tags(id);
            self.unwrap_sensitive(id);
            self.check_parameters(id);
        }
        self.inherit_metaparameters()?;
        self.refuse_missing_overrides()?;
        self.refuse_missing_realizations()?;
        self.check_relationships()
    }

    /// Secrets are stored as they are, and their names noted.
    fn unwrap_sensitive(&mut self, id: ResourceId) {
        let resource = &mut self.resources[id];
        for parameter in resource.parameters.iter_mut() {
            if let Data::Sensitive(inner) = &parameter.value.data {
                let inner = Value::clone(inner);
                let prov = if inner.prov.is_none() { parameter.value.prov } else { inner.prov };
                parameter.value = inner.with(prov);
                resource.sensitive.push(parameter.name);
            }
        }
    }

    /// Every parameter must be one that the type has. All that are not are reported.
    fn check_parameters(&mut self, id: ResourceId) {
        let resource = &self.resources[id];
        match &resource.instance_of {
            ResourceType::Native(native) => {
                let unknown: Vec<Parameter> = resource
                    .parameters
                    .iter()
                    .filter(|parameter| !native.accepts(&parameter.name))
                    .cloned()
                    .collect();
                let native = *native;
                for parameter in unknown {
                    let failure = self.unknown_attribute(id, &parameter, native);
                    self.report_mistake(failure);
                }
            }
            ResourceType::Definition(definition) => {
                let definition = *definition;
                let values: Vec<(Symbol, Value)> = resource
                    .parameters
                    .iter()
                    .map(|parameter| {
                        let value = parameter.value.clone();
                        let secret = resource.sensitive.contains(&parameter.name);
                        let value = if secret { Value::new(Data::Sensitive(Arc::new(value))) } else { value };
                        (parameter.name, value)
                    })
                    .collect();
                if let Err(kind) = self.validate(id, definition, &values) {
                    let span = self.resources[id].span;
                    self.report_mistake(Failure { span, ..(*kind).into() });
                }
            }
        }
    }

    fn unknown_attribute(
        &self,
        id: ResourceId,
        parameter: &Parameter,
        native: &setpoint_catalog::NativeType,
    ) -> Failure {
        let resource = &self.resources[id];
        let known =
            native.attributes.iter().map(|attribute| attribute.name).chain(metaparameters().iter().copied());
        let near = setpoint_source::nearest(&parameter.name, known).map(str::to_owned);
        let kind = FailureKind::UnknownAttribute {
            resource: resource.reference(),
            attribute: parameter.name,
            given_at: parameter.span,
            near,
        };
        Failure { span: resource.span.or(parameter.span), ..kind.into() }
    }

    /// Metaparameters such as `noop` and `tag` pass from a container to what it contains, from `Class[main]` on.
    fn inherit_metaparameters(&mut self) -> Result<(), Stop> {
        let names: Vec<Symbol> = metaparameters()
            .iter()
            .filter(|name| !RELATIONSHIPS.contains(name))
            .map(|name| Symbol::new(name))
            .collect();
        let mut contents: FxHashMap<ResourceId, Vec<ResourceId>> = FxHashMap::default();
        for &(container, member) in &self.resources.edges {
            contents.entry(container).or_default().push(member);
        }
        let mut passed: FxHashMap<ResourceId, Arc<Vec<(Symbol, Value)>>> = FxHashMap::default();
        let mut waiting = VecDeque::from([ResourceId::MAIN]);
        let mut seen = FxHashSet::default();
        while let Some(container) = waiting.pop_front() {
            if !seen.insert(container) {
                continue;
            }
            let members = contents.remove(&container).unwrap_or_default();
            let own = passed.get(&container).cloned().or_else(|| self.metaparameters_of(container, &names));
            for &member in &members {
                if let Some(own) = &own {
                    let all = self.pass_on(own, member, &names)?;
                    passed.insert(member, all);
                }
                self.merge_tags(container, member);
            }
            waiting.extend(members);
        }
        Ok(())
    }

    fn metaparameters_of(&mut self, id: ResourceId, names: &[Symbol]) -> Option<Arc<Vec<(Symbol, Value)>>> {
        let resource = &self.resources[id];
        let found: Vec<(Symbol, Value, Prov)> = resource
            .parameters
            .iter()
            .filter(|parameter| !parameter.value.is_undef() && names.contains(&parameter.name))
            .map(|parameter| (parameter.name, parameter.value.clone(), parameter.control))
            .collect();
        let found: Vec<(Symbol, Value)> = found
            .into_iter()
            .map(|(name, value, control)| {
                let prov = self.with_control(value.prov, control);
                (name, value.with(prov))
            })
            .collect();
        (!found.is_empty()).then(|| Arc::new(found))
    }

    fn pass_on(
        &mut self,
        own: &Arc<Vec<(Symbol, Value)>>,
        member: ResourceId,
        names: &[Symbol],
    ) -> Result<Arc<Vec<(Symbol, Value)>>, Stop> {
        for (name, value) in own.iter() {
            if self.resources[member].get(*name).is_none_or(Value::is_undef) {
                self.set_parameter(member, *name, value.clone())?;
            }
        }
        let mut all = Vec::clone(own);
        for (name, value) in self.metaparameters_of(member, names).iter().flat_map(|found| found.iter()) {
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = value.clone(),
                None => all.push((*name, value.clone())),
            }
        }
        Ok(Arc::new(all))
    }

    /// Every resource that a relationship names must be there. All that are not are reported.
    fn check_relationships(&mut self) -> Result<(), Stop> {
        let names = RELATIONSHIPS.map(Symbol::new);
        let mut missing = Vec::new();
        for id in self.resources.ids() {
            if self.resources[id].virtual_ {
                continue;
            }
            let related: Vec<Parameter> = self.resources[id]
                .parameters
                .iter()
                .filter(|parameter| names.contains(&parameter.name))
                .cloned()
                .collect();
            for parameter in related {
                self.check_references(id, &parameter, &parameter.value, &mut missing)?;
            }
        }
        for failure in missing {
            self.report_failure(failure);
        }
        Ok(())
    }

    fn check_references(
        &mut self,
        id: ResourceId,
        parameter: &Parameter,
        value: &Value,
        missing: &mut Vec<Failure>,
    ) -> Result<(), Stop> {
        let text = match &value.data {
            Data::Array(items) => {
                return items.iter().try_for_each(|item| self.check_references(id, parameter, item, missing));
            }
            Data::Undef => return Ok(()),
            Data::Opaque(unknown) => {
                let span = parameter.span.or(self.resources[id].span);
                missing.push(Failure { span, ..FailureKind::undecided(unknown).into() });
                return Ok(());
            }
            Data::Type(of) => match self.reference_text(of) {
                Some(text) => text,
                None => of.to_string(),
            },
            _ => to_text(value).to_string(),
        };
        let span = parameter.span.or(self.resources[id].span);
        let found = match self.find_reference(&text) {
            Err(Stop::Error(failure)) => {
                missing.push(Failure { span, ..*failure });
                return Ok(());
            }
            found => found?,
        };
        if found.is_none() {
            let resource = self.resources[id].reference();
            let dangling =
                DanglingReference::Parameter { missing: text, parameter: parameter.name, resource };
            missing.push(Failure { span, ..FailureKind::DanglingReference(dangling).into() });
        }
        Ok(())
    }
}

/// The catalog as others see it: values with their control context, references as text.
pub(crate) fn into_catalog(mut compiler: Compiler<'_>) -> (Catalog, Arena, Trace) {
    let environment = compiler.options.environment_name(compiler.environment);
    let mut catalog = Catalog::new(compiler.options.node.as_str(), environment);
    catalog.classes = std::mem::take(&mut compiler.classes);
    catalog.classified = compiler.options.classes.iter().map(|(name, _)| Symbol::new(name)).collect();
    catalog.tags = compiler.catalog_tags.iter().collect();
    let resources = std::mem::take(&mut compiler.resources);
    let mut edges = resources.edges.clone();
    edges.sort_by_key(|(_, member)| *member);
    for (container, member) in edges {
        let id = |id: ResourceId| setpoint_catalog::ResourceId(id.index() as u32);
        catalog.add_edge(id(container), id(member));
    }
    // A collector that sets something passes on the defaults of its scope, too.
    let with_defaults = &compiler.types_with_defaults;
    for collector in &mut compiler.trace.collectors {
        let has_defaults = collector.type_name.is_some_and(|name| with_defaults.contains(&name));
        collector.sets_any |= has_defaults && !collector.sets.is_empty();
    }
    let mut last_file = None;
    for resource in resources.into_list() {
        compiler.trace_resource(&resource);
        let native = match resource.instance_of {
            ResourceType::Native(native) => Some(native),
            ResourceType::Definition(_) => None,
        };
        let converted = compiler.convert(resource, &mut last_file);
        // Types and titles are unique: the compiler refused duplicates.
        if let Ok(id) = catalog.add(converted) {
            catalog.add_names(id, native);
        }
    }
    (catalog, compiler.arena, compiler.trace)
}

/// The file that was asked for last, with its path: resources come file by file.
type LastFile = Option<(FileId, Arc<SourceFile>, Arc<str>)>;

impl Compiler<'_> {
    fn trace_resource(&mut self, resource: &Resource) {
        if !self.arena.enabled() {
            return;
        }
        let id = |id: ResourceId| setpoint_catalog::ResourceId(id.index() as u32);
        let own = setpoint_catalog::ResourceId(self.trace.resources.len() as u32);
        let scope = &self.scopes[resource.scope];
        let container = Some(id(scope.resource)).filter(|container| *container != own);
        self.trace.resources.push(ResourceTrace {
            title: resource.title_prov,
            order: scope.order,
            container,
            instance: resource.instance,
        });
        for parameter in resource.parameters.iter().filter(|parameter| parameter.value.is_undef()) {
            let prov = self.with_control(parameter.value.prov, parameter.control);
            self.trace.undefined.push((own, parameter.name, prov));
        }
    }

    fn convert(&mut self, resource: Resource, last_file: &mut LastFile) -> setpoint_catalog::Resource {
        let mut converted = setpoint_catalog::Resource::new(resource.type_name, resource.title);
        converted.tags = resource.tags;
        converted.span = resource.span;
        converted.exported = resource.exported;
        converted.virtual_ = resource.virtual_;
        converted.kind = Some(resource.kind);
        converted.sensitive = resource.sensitive;
        converted.prov = resource.prov;
        converted.title_is_no_string = resource.title_value.is_some();
        if let Some(span) = resource.span {
            let sources = self.environment.sources;
            let known = last_file.take().filter(|(id, ..)| *id == span.file);
            let (id, file, path) = known.unwrap_or_else(|| {
                let file = sources.file(span.file);
                let path = Arc::from(file.path());
                (span.file, file, path)
            });
            converted.line = Some(file.line(span.range.start));
            converted.file = Some(Arc::clone(&path));
            *last_file = Some((id, file, path));
        }
        if let ResourceType::Native(native) = &resource.instance_of {
            // The title fitted a pattern when the resource was declared.
            let _ = native.apply_title(&mut converted);
        }
        let name = self.words.name;
        for parameter in resource.parameters.into_vec() {
            if parameter.value.is_undef() {
                continue;
            }
            let target = if parameter.name == name { converted.namevar } else { parameter.name };
            let is_relationship = RELATIONSHIPS.contains(&parameter.name.as_str());
            let value = self.catalog_value(parameter.value, is_relationship);
            let prov = self.with_control(value.prov, parameter.control);
            converted.parameters.set(target, value.with(prov), parameter.span);
        }
        converted
    }

    /// The provenance of a value that was set under a control context.
    fn with_control(&mut self, prov: Prov, control: Prov) -> Prov {
        if control.is_none() || !self.arena.enabled() {
            return prov;
        }
        if prov.is_none() {
            return control;
        }
        self.arena.under(prov, Control::Condition, control, None)
    }

    /// A value as it stands in the catalog: references are text, and lists of them are flat.
    fn catalog_value(&mut self, value: Value, is_relationship: bool) -> Value {
        let prov = value.prov;
        match &value.data {
            Data::Type(of) if is_reference(of) => match self.reference_text(of) {
                Some(text) => Value::string(text).with(prov),
                None => value,
            },
            Data::Array(items) if items.iter().any(needs_conversion) || is_relationship => {
                let flat = is_relationship || items.iter().any(has_reference);
                let mut converted = Vec::with_capacity(items.len());
                for item in items.iter() {
                    let item = self.catalog_value(item.clone(), is_relationship);
                    match &item.data {
                        Data::Array(inner) if flat => converted.extend(inner.iter().cloned()),
                        Data::Undef if is_relationship => {}
                        _ => converted.push(item),
                    }
                }
                Value::array(converted).with(prov)
            }
            Data::Hash(entries) if needs_conversion(&value) => {
                let converted: Hash = entries
                    .iter()
                    .map(|(key, entry)| {
                        let key = Key(self.catalog_value(key.0.clone(), false));
                        (key, self.catalog_value(entry.clone(), false))
                    })
                    .collect();
                Value::hash(converted).with(prov)
            }
            _ => value,
        }
    }
}

/// Whether a reference stands somewhere in a value.
fn needs_conversion(value: &Value) -> bool {
    match &value.data {
        Data::Type(of) => is_reference(of),
        Data::Array(items) => items.iter().any(needs_conversion),
        Data::Hash(entries) => {
            entries.iter().any(|(key, entry)| needs_conversion(&key.0) || needs_conversion(entry))
        }
        _ => false,
    }
}

/// Whether a reference stands in a value or in arrays in it.
fn has_reference(value: &Value) -> bool {
    match &value.data {
        Data::Type(of) => is_reference(of),
        Data::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}
