//! stdlib's functions about declared resources, and about who may use what.

use setpoint_puppet_values::{Data, Hash, Key, Type, Value};

use super::arguments::{Arguments, class_of};
use crate::builtin::collections::flatten_into;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby::{self, strings, text};
use crate::{FailureKind, Stop};

pub(super) static ASSERT_PRIVATE: Function = Function::counted("assert_private", -1, assert_private);
pub(super) static DEFINED_WITH_PARAMS: Function =
    Function::counted("defined_with_params", -1, defined_with_params).moving_unknown();
pub(super) static ENSURE_PACKAGES: Function = Function::typed(
    "ensure_packages",
    &[Dispatch::new(
        &[
            required("Variant[String[1], Array[String[1]], Hash[String[1], Any]]", "packages"),
            optional("Hash", "default_attributes"),
        ],
        ensure_packages,
    )],
)
.moving_unknown();
pub(super) static ENSURE_RESOURCE: Function =
    Function::counted("ensure_resource", -1, ensure_resource).moving_unknown();
pub(super) static ENSURE_RESOURCES: Function =
    Function::counted("ensure_resources", -1, ensure_resources).moving_unknown();
pub(super) static GETPARAM: Function = Function::counted("getparam", -1, getparam);
pub(super) static IS_FUNCTION_AVAILABLE: Function =
    Function::counted("is_function_available", -1, is_function_available);
pub(super) static PRIVATE: Function = Function::counted("private", -1, |context, arguments| {
    context.warn(
        "private() DEPRECATED: This function will cease to function on Puppet 4; please use assert_private() before \
         upgrading to puppet 4 for backwards-compatibility, or migrate to the new parser's typing system.",
    );
    assert_private(context, arguments)
});
pub(super) static STR2RESOURCE: Function = Function::typed(
    "stdlib::str2resource",
    &[Dispatch::new(&[required("String", "res_string")], str2resource)],
);

type Result<T> = std::result::Result<T, Stop>;

/// The type and the title that a reference names; the title may be missing.
fn reference(context: &Context<'_, '_>, value: &Value) -> Result<(String, String)> {
    match &value.data {
        Data::String(given) => Ok(split_reference(given)),
        Data::Type(Type::Resource(Some(of))) => {
            Ok((of.name.to_string(), of.title.as_deref().unwrap_or_default().to_owned()))
        }
        Data::Type(Type::Class(Some(name))) => Ok(("Class".to_owned(), name.to_string())),
        _ => Err(context.fail(format!("Reference is not understood: '{}'", class_of(value)))),
    }
}

/// `File[/a]` as `File` and `/a`.
fn split_reference(given: &str) -> (String, String) {
    match given.strip_suffix(']').and_then(|inner| inner.split_once('[')) {
        Some((kind, title)) => (kind.to_owned(), title.to_owned()),
        None => (given.to_owned(), String::new()),
    }
}

/// Whether a resource is declared, with these parameters among its own.
fn is_declared(context: &mut Context<'_, '_>, kind: &str, title: &str, parameters: &Hash) -> bool {
    let Some(declared) = context.host.resource_parameters(kind, title) else { return false };
    parameters.iter().all(|(name, wanted)| {
        let found = declared.get(&Key(Value::from(text::to_s(&name.0)))).filter(|value| !value.is_undef());
        match found {
            Some(found) => !wanted.is_undef() && ruby::equal(found, wanted),
            None => wanted.is_undef(),
        }
    })
}

fn defined_with_params(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(given) = arguments.first().filter(|given| given.is_true()) else {
        return Err(context.fail("Must specify a reference"));
    };
    let (kind, title) = reference(context, given)?;
    if let Some(unknown) = context.host.resource_parameters(&kind, &title).and_then(|declared| {
        declared.values().find_map(|value| value.unknown_part().map(|part| part.reason.clone()))
    }) {
        return Ok(Value::unknown(unknown, Type::Boolean(None)));
    }
    let none = Hash::default();
    let parameters = arguments.get(1).and_then(Value::as_hash).unwrap_or(&none);
    Ok(Value::from(is_declared(context, &kind, &title, parameters)))
}

fn ensure_resource(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(kind) = arguments.first() else { return Err(context.fail("Must specify a type")) };
    let Some(title) = arguments.get(1) else { return Err(context.fail("Must specify a title")) };
    let mut titles = Vec::new();
    flatten_into(std::slice::from_ref(title), &mut titles);
    let parameters = arguments.get(2).and_then(Value::as_hash).cloned().unwrap_or_default();
    for title in titles {
        ensure(context, kind, &title, &parameters)?;
    }
    Ok(Value::UNDEF)
}

/// Declares a resource unless it is there with these parameters.
fn ensure(context: &mut Context<'_, '_>, kind: &Value, title: &Value, parameters: &Hash) -> Result<()> {
    context.refuse_unknown(kind)?;
    context.refuse_unknown(title)?;
    let of = text::to_s(kind);
    // Whether it is there with these parameters.
    if let Some(declared) = context.host.resource_parameters(&of, &text::to_s(title)) {
        declared.values().chain(parameters.values()).try_for_each(|value| context.refuse_unknown(value))?;
    }
    if is_declared(context, &of, &text::to_s(title), parameters) {
        return Ok(());
    }
    let capitalized = Value::from(strings::capitalize(&text::to_s(kind))).made_of(kind.prov);
    let resources: Hash =
        [(Key(title.clone()), Value::hash(parameters.clone()).made_of(title.prov))].into_iter().collect();
    context
        .call_function("create_resources", vec![capitalized, Value::hash(resources).made_of(title.prov)])?;
    Ok(())
}

fn ensure_resources(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(kind) = arguments.first() else { return Err(context.fail("Must specify a type")) };
    let Some(resources) = arguments.get(1) else { return Err(context.fail("Must specify a title")) };
    let Some(resources) = resources.as_hash() else {
        return Err(context.fail("ensure_resources(): Requires second argument to be a Hash"));
    };
    let defaults = arguments.get(2).and_then(Value::as_hash).cloned().unwrap_or_default();
    ensure_all(context, kind, resources, &defaults)?;
    Ok(Value::UNDEF)
}

fn ensure_all(context: &mut Context<'_, '_>, kind: &Value, resources: &Hash, defaults: &Hash) -> Result<()> {
    for (title, own) in resources {
        let mut parameters = defaults.clone();
        parameters
            .extend(own.as_hash().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
        ensure(context, kind, &title.0, &parameters)?;
    }
    Ok(())
}

fn ensure_packages(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let ensure_key = Key::from("ensure");
    let mut defaults: Hash = [(ensure_key.clone(), Value::from("installed"))].into_iter().collect();
    if let Some(given) = arguments.get(1).and_then(Value::as_hash) {
        defaults.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
        if let Some(value) = defaults.get_mut(&ensure_key).filter(|value| value.as_str() == Some("present")) {
            *value = Value::from("installed").made_of(value.prov);
        }
    }
    let package = Value::from("package");
    if let Data::Hash(packages) = &arguments[0].data {
        ensure_all(context, &package, packages, &defaults)?;
    } else {
        let names = arguments[0].as_array().unwrap_or(std::slice::from_ref(&arguments[0]));
        for name in names {
            ensure(context, &package, name, &defaults)?;
        }
    }
    Ok(Value::UNDEF)
}

fn getparam(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let Some(given) = arguments.first() else { return Err(context.fail("Must specify a reference")) };
    let Some(parameter) = arguments.get(1).and_then(Value::as_str) else {
        return Err(context.fail("Must specify name of a parameter"));
    };
    let (kind, title) = reference(context, given)?;
    let declared = context.host.resource_parameters(&kind, &title);
    let found = declared.and_then(|parameters| parameters.get(&Key::from(parameter)).cloned());
    Ok(found.filter(|value| !value.is_undef()).unwrap_or_else(|| Value::from("")))
}

fn str2resource(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (kind, title) = split_reference(arguments[0].as_str().unwrap_or_default());
    if context.host.resource_parameters(&kind, &title).is_none() {
        return Err(context.fail(format!(
            "stdlib::str2resource(): could not find {kind}[{title}], this is parse order dependent and values should not be quoted"
        )));
    }
    Ok(Type::resource_reference(&kind, Some(title)).into())
}

/// Only the module itself may use what calls this.
fn assert_private(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() > 1 {
        let message =
            format!("assert_private(): Wrong number of arguments given ({}}}) for 0 or 1)", arguments.len());
        return Err(context.fail(message));
    }
    let module = context.host.variable("module_name");
    let caller = context.host.variable("caller_module_name");
    if module == caller {
        return Ok(Value::UNDEF);
    }
    let message = arguments.first().and_then(Value::as_str).filter(|message| !message.is_empty());
    let (definition, message) = (context.host.definition(), message.map(str::to_owned));
    Err(FailureKind::Private { definition, message }.at(context.span()))
}

fn is_function_available(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments {
        [name] => Ok(Value::from(name.as_str().is_some_and(|name| context.host.has_function(name)))),
        _ => Err(context.fail(format!(
            "is_function_available?(): Wrong number of arguments given {} for 1",
            arguments.len()
        ))),
    }
}
