//! Functions that look at the catalog or mark what is in it.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{Call, FailureKind, IllegalArgument, Stop};
use setpoint_puppet_values::{Data, Type, Value, infer, to_text};
use setpoint_source::Symbol;

use super::{at_least, at_least_one, flat_chosen};
use crate::compiler::Compiler;
use crate::declare::reference_parts;
use crate::tags::tag_values;
use crate::trace::{MISSING_CLASS, MISSING_RESOURCE, MISSING_TAG};

/// Makes virtual resources real, now or as soon as they are declared.
pub(super) fn realize(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least(call, 1)?;
    let values = flat_chosen(compiler, &call.arguments);
    let mut references = Vec::with_capacity(values.len());
    for value in values {
        let text = match &value.data {
            Data::Type(of) => compiler.reference_text(of).unwrap_or_else(|| of.to_string()),
            _ => to_text(&value).to_string(),
        };
        references.push((text, value.prov));
    }
    compiler.add_realization(references, call.span);
    Ok(Value::UNDEF)
}

/// Tags the class or instance that calls.
pub(super) fn tag(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least(call, 1)?;
    let container = compiler.scopes[compiler.frame.scope].resource;
    let mut tags = std::mem::take(&mut compiler.resources[container].tags);
    let result = call.arguments.iter().try_for_each(|value| tag_values(&mut tags, value));
    compiler.resources[container].tags = tags;
    // Collectors ask for the tags of containers, too.
    compiler.resources.touch_all();
    if compiler.arena.enabled() {
        let provs: Vec<_> = call.arguments.iter().map(|value| value.prov).collect();
        let called = compiler.arena.operation(call.name, Some(call.span), &provs);
        let prov = compiler.under_control(called);
        compiler.trace.tags.push((setpoint_catalog::ResourceId(container.index() as u32), prov));
    }
    result.map(|()| Value::UNDEF)
}

/// Whether the catalog, or what contains the caller, has all the tags.
pub(super) fn tagged(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least(call, 1)?;
    let container = compiler.scopes[compiler.frame.scope].resource;
    let all = call.arguments.iter().all(|value| {
        let tag = Symbol::new(&to_text(value).to_lowercase());
        compiler.catalog_tags.contains(tag) || compiler.is_tagged(container, &[tag])
    });
    let leaf = compiler.absence(MISSING_TAG, "");
    Ok(observed(compiler, call, all, vec![leaf]))
}

/// Whether one of the arguments is there by now: a class, a type, a resource, a variable.
pub(super) fn defined(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least_one(call)?;
    let mut seen = Vec::new();
    let mut open = None;
    for value in &call.arguments {
        if let Some(reason) = why_variable_is_open(compiler, value) {
            open = Some(reason);
            continue;
        }
        let found = is_defined(compiler, value, call)?;
        if compiler.arena.enabled() {
            evidence(compiler, value, &mut seen);
        }
        if found {
            return Ok(observed(compiler, call, true, seen));
        }
    }
    if let Some(reason) = open {
        return Ok(Value::unknown(reason, Type::Boolean(None)));
    }
    // What was passed over may have declared it.
    if let Some(unknown) = compiler.unless_absent() {
        return Ok(unknown);
    }
    Ok(observed(compiler, call, false, seen))
}

/// Why nobody knows whether a variable is there: it is a fact that the machine may lack.
fn why_variable_is_open(compiler: &mut Compiler<'_>, value: &Value) -> Option<Arc<str>> {
    let name = value.as_str()?.strip_prefix('$')?;
    match compiler.find_variable(Symbol::new(name), None).ok()??.data {
        Data::Opaque(unknown) if unknown.may_be_missing => Some(Arc::clone(&unknown.reason)),
        _ => None,
    }
}

/// What was found, or why nothing was.
fn evidence(compiler: &mut Compiler<'_>, value: &Value, seen: &mut Vec<Prov>) {
    match &value.data {
        Data::String(text) => {
            if let Some(name) = text.strip_prefix('$') {
                let name = Symbol::new(name);
                match compiler.find_variable(name, None) {
                    Ok(Some(found)) => seen.push(found.prov),
                    _ => seen.push(compiler.absence_of(name)),
                }
            }
        }
        Data::Type(of) => {
            let Some((type_name, Some(title))) = reference_parts(of) else { return };
            let (type_name, title) = (type_name.to_owned(), title.to_owned());
            if let Ok(Some(id)) = compiler.find_resource(&type_name, &title) {
                let resource = &compiler.resources[id];
                let order = compiler.scopes[resource.scope].order;
                let alias = resource.named("alias").map(|value| value.prov);
                seen.extend([resource.prov, resource.title_prov, order]);
                seen.extend(alias);
            } else if type_name == "Class" {
                let name = title.strip_prefix("::").unwrap_or(&title).to_lowercase();
                seen.push(compiler.absence(MISSING_CLASS, &name));
            } else {
                let displayed = compiler.type_name(&type_name.to_lowercase());
                seen.push(compiler.absence(MISSING_RESOURCE, &format!("{displayed}[{title}]")));
            }
        }
        _ => {}
    }
}

fn is_defined(compiler: &mut Compiler<'_>, value: &Value, call: &Call<'_>) -> Result<bool, Stop> {
    match &value.data {
        Data::String(text) => match text.strip_prefix('$') {
            Some(name) if !name.is_empty() => compiler.variable_exists(name),
            _ if text.is_empty() => Ok(false),
            _ if &**text == "main" => Ok(true),
            _ => Ok(compiler.find_resource_type(text)?.is_some() || compiler.find_class(text)?.is_some()),
        },
        Data::Type(of) => is_type_defined(compiler, of, call),
        _ => {
            let actual = infer(value).generalize().to_string();
            Err(FailureKind::IllegalArgument(IllegalArgument::NotDefinable { actual }).at(call.span))
        }
    }
}

fn is_type_defined(compiler: &mut Compiler<'_>, of: &Type, call: &Call<'_>) -> Result<bool, Stop> {
    match of.resolved() {
        Type::Resource(None) => {
            Err(FailureKind::IllegalArgument(IllegalArgument::AnyResourceType).at(call.span))
        }
        Type::Resource(Some(reference)) => match &reference.title {
            None => Ok(compiler.find_resource_type(&reference.name)?.is_some()),
            Some(title) => Ok(compiler.find_resource(&reference.name, title)?.is_some()),
        },
        Type::Class(None) => Err(FailureKind::IllegalArgument(IllegalArgument::AnyClass).at(call.span)),
        Type::Class(Some(name)) => Ok(compiler.find_class_resource(Symbol::new(name)).is_some()),
        Type::Type(Some(inner)) => match inner.resolved() {
            Type::Class(Some(name)) => Ok(compiler.find_class(name)?.is_some()),
            inner => is_type_defined(compiler, inner, call),
        },
        other => {
            let actual = format!("Type[{other}]");
            Err(FailureKind::IllegalArgument(IllegalArgument::NotDefinable { actual }).at(call.span))
        }
    }
}

/// An answer about the state of the catalog: it depends on the question, and on how far the evaluation has come.
fn observed(compiler: &mut Compiler<'_>, call: &Call<'_>, answer: bool, seen: Vec<Prov>) -> Value {
    if !compiler.arena.enabled() {
        return answer.into();
    }
    let mut provs: Vec<_> = call.arguments.iter().map(|value| value.prov).collect();
    provs.extend(seen);
    provs.push(compiler.scopes[compiler.frame.scope].order);
    let prov = compiler.arena.operation(call.name, Some(call.span), &provs);
    Value::from(answer).with(prov)
}
