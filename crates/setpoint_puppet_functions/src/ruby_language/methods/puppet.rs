//! What Puppet brings to Ruby: the scope, functions and how they are created, logging, types.

use std::rc::Rc;

use setpoint_puppet_values::{Data, Value, infer, infer_set};

use super::{Given, call, text_of};
use crate::LogLevel;
use crate::ruby_language::RubyFailure;
use crate::ruby_language::classes::Class;
use crate::ruby_language::interpreter::{
    BlockDefinition, Definition, DispatchDefinition, Flow, Interpreter, Legacy, Result, argument_error,
    beyond,
};
use crate::ruby_language::things::{List, Seen, Thing};

/// The scope of the manifest, as templates and functions know it.
pub(super) fn scope(
    interpreter: &mut Interpreter<'_, '_, '_>,
    seen: Seen,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    interpreter.seeing(seen, |interpreter| in_scope(interpreter, given))
}

fn in_scope(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("lookupvar" | "[]" | "get", [variable, ..]) => {
            let variable = variable.to_s();
            if variable.ends_with("module_name") && interpreter.defines_functions() {
                return beyond("it asks for the module that calls it");
            }
            interpreter.variable(&variable)
        }
        ("setvar" | "[]=", [variable, value]) => {
            interpreter.set_variable(&variable.to_s(), value)?;
            value.clone()
        }
        ("include?" | "exist?" | "has_variable?" | "bound?", [variable]) => {
            let variable = variable.to_s();
            Thing::Bool(!interpreter.variable(&variable).is_nil())
        }
        // The arguments come as one, and are taken apart as `*` does it.
        ("call_function", [function, arguments]) => {
            let arguments = super::to_array(interpreter, arguments)?;
            interpreter.call_function(&function.to_s(), &arguments, given.block)?
        }
        ("to_hash", _) => {
            let Some(variables) = interpreter.context.host.visible_variables() else {
                return beyond("it asks for all variables");
            };
            for (_, value) in &variables {
                interpreter.note_unknown(value);
            }
            let known = variables.iter().filter(|(_, value)| !value.is_undef());
            Thing::pairs(
                known
                    .map(|(name, value)| (Thing::text(name.as_str()), Thing::from_value(value)))
                    .collect::<Vec<_>>(),
            )
        }
        ("warning" | "notice" | "err" | "info" | "debug" | "alert" | "crit" | "emerg", [message]) => {
            let message = interpreter.to_s(message)?;
            let span = interpreter.context.span();
            interpreter.context.host.log(level(given.name), message, span);
            Thing::Nil
        }
        (function, [Thing::Array(list)]) if function.starts_with("function_") => {
            let given_arguments = list.items.borrow().clone();
            interpreter.call_legacy_function(function.trim_start_matches("function_"), &given_arguments)?
        }
        _ => return beyond(format!("it calls {} of the scope", given.name)),
    }))
}

fn level(name: &str) -> LogLevel {
    match name {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "notice" => LogLevel::Notice,
        "err" | "error" => LogLevel::Err,
        "alert" => LogLevel::Alert,
        "crit" => LogLevel::Crit,
        "emerg" => LogLevel::Emerg,
        _ => LogLevel::Warning,
    }
}

/// What a function can call of itself.
pub(super) fn function_method(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Option<Thing>> {
    Ok(Some(match (name, arguments) {
        ("call_function", [function, rest @ ..]) => interpreter
            .seeing(Seen::AtTop, |interpreter| interpreter.call_function(&function.to_s(), rest, block))?,
        ("call_function_with_scope", [Thing::Scope(seen), function, rest @ ..]) => interpreter
            .seeing(*seen, |interpreter| interpreter.call_function(&function.to_s(), rest, block))?,
        ("closure_scope", []) => Thing::Scope(Seen::AtTop),
        _ => return Ok(None),
    }))
}

/// Modules of Puppet.
pub(super) fn module(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &str,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (class, given.name, given.arguments) {
        ("Puppet::Functions", "create_function", [name, base @ ..]) => {
            let Some(block) = given.block else { return Ok(None) };
            create_function(interpreter, name, base.first(), block)?
        }
        ("Puppet::Parser::Functions", "newfunction", [name, options @ ..]) => {
            let Some(block) = given.block else { return Ok(None) };
            new_function(interpreter, name, options.first(), block)
        }
        // It is loaded when it is called.
        ("Puppet::Parser::Functions", "function", [name, ..]) => {
            let name = name.to_s();
            if interpreter.context.host.has_function(&name) {
                Thing::text(format!("function_{name}"))
            } else {
                Thing::Bool(false)
            }
        }
        ("Puppet::Parser::Functions", "autoloader", _) => Thing::Constant("Puppet::Parser::Functions".into()),
        ("Puppet::Parser::Functions", "loadall" | "load", _) => Thing::Nil,
        ("Puppet::Pops::Serialization::ToDataConverter", "convert", [value, ..]) => match value.to_value() {
            Some(data) if is_data(&data) && !value.has_symbol() => value.clone(),
            _ => return beyond("it serializes a value that is no data"),
        },
        ("Puppet", "debug" | "info", _) => Thing::Nil,
        ("Puppet" | "Puppet::Util::Log", "warning" | "notice" | "err" | "alert" | "crit", [message]) => {
            let message = interpreter.to_s(message)?;
            interpreter.context.host.say(level(given.name), message);
            Thing::Nil
        }
        ("Puppet", "deprecation_warning" | "warn_once", _) => {
            return beyond(format!("it calls Puppet.{}", given.name));
        }
        ("Puppet", "version", []) => {
            let version = interpreter.variable("serverversion");
            if version.is_nil() { interpreter.variable("puppetversion") } else { version }
        }
        ("Puppet::Util::Package", "versioncmp", [_, _]) => {
            interpreter.call_function("versioncmp", given.arguments, None)?
        }
        ("Puppet::Util", "absolute_path?", [path, platform @ ..]) => {
            if !matches!(path, Thing::Text(_)) {
                let (text, class) = (interpreter.to_s(path)?, path.class());
                let message = format!(
                    "Cannot check if {text} is an absolute path because it is a '{class}' and not a String'"
                );
                interpreter.context.host.say(LogLevel::Warning, message);
                return Ok(Some(Thing::Bool(false)));
            }
            let path = text_of(path)?;
            let windows = platform.first().is_some_and(|platform| platform.to_s() == "windows");
            if windows {
                return beyond("it asks for a path of Windows");
            }
            Thing::Bool(path.starts_with('/'))
        }
        ("Puppet::Pops::Types::PSensitiveType::Sensitive", "new", [value]) => {
            let value = interpreter.value_for_puppet(value)?;
            super::constants::sensitive(value)
        }
        ("Puppet::Pops::Types::TypeParser", "singleton" | "new", []) => {
            Thing::Constant("Puppet::Pops::Types::TypeParser".into())
        }
        ("Puppet::Pops::Types::TypeParser", "parse", [text, ..]) => type_of(interpreter, &text_of(text)?)?,
        ("Puppet::Pops::Types::TypeCalculator", "singleton" | "new", []) => {
            Thing::Constant("Puppet::Pops::Types::TypeCalculator".into())
        }
        ("Puppet::Pops::Types::TypeCalculator", "infer" | "infer_set", [value]) => {
            let value = interpreter.value_for_puppet(value)?;
            let of = if given.name == "infer" { infer(&value) } else { infer_set(&value) };
            Thing::Other(Value::new(Data::Type(of)))
        }
        ("Puppet::Pops::Types::TypeCalculator", "instance?", [of, value]) => {
            call(interpreter, of, "instance?", vec![value.clone()], None)?
        }
        _ => return Ok(None),
    }))
}

fn is_data(value: &Value) -> bool {
    match &value.data {
        Data::Undef | Data::Bool(_) | Data::Integer(_) | Data::Float(_) | Data::String(_) => true,
        Data::Array(items) => items.iter().all(is_data),
        Data::Hash(entries) => entries.iter().all(|(key, item)| key.0.as_str().is_some() && is_data(item)),
        _ => false,
    }
}

fn type_of(interpreter: &mut Interpreter<'_, '_, '_>, text: &str) -> Result<Thing> {
    match interpreter.context.parse_type(text) {
        Ok(of) => Ok(Thing::Other(Value::new(Data::Type(of)))),
        Err(stop) => Err(Flow::Failure(RubyFailure::Stopped(stop))),
    }
}

/// Values that Puppet has and Ruby has not.
pub(super) fn other(
    interpreter: &mut Interpreter<'_, '_, '_>,
    value: &Value,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (&value.data, given.name, given.arguments) {
        (Data::Opaque(_), _, _) => return beyond("it uses a value that is not known"),
        (Data::Sensitive(inner), "unwrap", []) => match given.block {
            Some(block) => interpreter.call_block(block, vec![Thing::from_value(inner)])?,
            None => Thing::from_value(inner),
        },
        (Data::Type(of), "instance?", [subject]) => {
            let subject = interpreter.value_for_puppet(subject)?;
            Thing::Bool(of.is_instance(&subject))
        }
        (Data::Object(object), name, arguments) if &*object.type_name == "Puppet::LookupContext" => {
            if given.block.is_some() {
                return beyond(format!("it gives {name} of a lookup context a block"));
            }
            let mut all = vec![Thing::Other(value.clone())];
            all.extend(arguments.iter().cloned());
            interpreter.call_function(name, &all, None)?
        }
        _ => {
            return beyond(format!("it calls {} of a value of Puppet", given.name));
        }
    }))
}

/// `Gem::Version.new`, which compares versions by their parts.
pub(super) fn version(interpreter: &mut Interpreter<'_, '_, '_>, text: &Thing) -> Result<Thing> {
    const CODE: &str = include_str!("version.rb");
    let known = interpreter.top.constants.borrow().get("Gem::Version").cloned();
    let class = match known {
        Some(class) => class,
        None => {
            interpreter.run_text(CODE)?;
            let class =
                interpreter.top.constants.borrow_mut().shift_remove("GemVersion").unwrap_or(Thing::Nil);
            interpreter.top.constants.borrow_mut().insert("Gem::Version".into(), class.clone());
            class
        }
    };
    let text = interpreter.to_s(text)?;
    let is_plain = !text.trim().is_empty()
        && text
            .trim()
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric()))
        && text.trim().starts_with(|first: char| first.is_ascii_digit());
    if !is_plain {
        return beyond("it compares an unusual version");
    }
    call(interpreter, &class, "new", vec![Thing::text(text.trim())], None)
}

fn create_function(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &Thing,
    base: Option<&Thing>,
    block: &Thing,
) -> Result<Thing> {
    let base_name = base.map(Thing::class_name);
    if let Some(base) = &base_name
        && !matches!(base.as_str(), "Puppet::Functions::Function" | "Puppet::Functions::InternalFunction")
    {
        return beyond(format!("its function is based on {base}"));
    }
    let class = Class::new(&name.to_s(), false, Some(Thing::Constant("Puppet::Functions::Function".into())));
    interpreter.definitions.push(Definition {
        name: name.to_s(),
        class: Rc::clone(&class),
        dispatches: Vec::new(),
        types: Vec::new(),
    });
    interpreter.call_block_as(block, Vec::new(), Some(Thing::Class(class)), false)?;
    Ok(Thing::Nil)
}

fn new_function(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &Thing,
    options: Option<&Thing>,
    block: &Thing,
) -> Thing {
    let option = |wanted: &str| match options {
        Some(Thing::Hash(map)) => {
            map.table.borrow().get(&Thing::symbol(wanted).identity()).map(|(_, value)| value.clone())
        }
        _ => None,
    };
    let arity = match option("arity") {
        Some(Thing::Integer(number)) => i32::try_from(number).ok(),
        _ => None,
    };
    let is_value = option("type").is_some_and(|kind| kind.to_s() == "rvalue");
    let name = name.to_s().to_lowercase();
    interpreter.legacy.push(Legacy { name, arity, is_value, block: block.clone() });
    Thing::table(super::new_table())
}

/// What the body of a function and of its dispatches call.
pub(super) fn building(
    interpreter: &mut Interpreter<'_, '_, '_>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if interpreter.building.is_some() {
        return parameter(interpreter, given);
    }
    if let Some(types) = &mut interpreter.building_types {
        if let ("type", [text]) = (given.name, given.arguments) {
            types.push(text_of(text)?);
            return Ok(Some(Thing::Nil));
        }
        return Ok(None);
    }
    if interpreter.definitions.is_empty() {
        return Ok(None);
    }
    let Some(block) = given.block else { return Ok(None) };
    match (given.name, given.arguments) {
        ("dispatch" | "argument_mismatch", [method]) => {
            let refuses = given.name == "argument_mismatch";
            interpreter.building =
                Some(DispatchDefinition { method: method.to_s(), refuses, ..Default::default() });
            let result = interpreter.call_block(block, Vec::new());
            let built = interpreter.building.take();
            result?;
            if let (Some(built), Some(definition)) = (built, interpreter.definitions.last_mut()) {
                definition.dispatches.push(Rc::new(built));
            }
            Ok(Some(Thing::Nil))
        }
        ("local_types", []) => {
            interpreter.building_types = Some(Vec::new());
            let result = interpreter.call_block(block, Vec::new());
            let types = interpreter.building_types.take().unwrap_or_default();
            result?;
            if let Some(definition) = interpreter.definitions.last_mut() {
                definition.types.extend(types);
            }
            Ok(Some(Thing::Nil))
        }
        _ => Ok(None),
    }
}

fn parameter(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    let Some(building) = &mut interpreter.building else { return Ok(None) };
    match (given.name, given.arguments) {
        (
            "param"
            | "required_param"
            | "optional_param"
            | "repeated_param"
            | "optional_repeated_param"
            | "required_repeated_param",
            [of, name],
        ) => {
            if building.block.is_some() {
                return argument_error("Parameters cannot be added after a block parameter");
            }
            if building.endless {
                return argument_error("Parameters cannot be added after a repeated parameter");
            }
            if !matches!(name, Thing::Symbol(_)) {
                return argument_error(format!(
                    "Parameter name argument must be a Symbol. Got {}",
                    name.class()
                ));
            }
            let of = match of {
                Thing::Text(text) => text.value.borrow().clone(),
                Thing::Other(value) if value.as_type().is_some() => of.to_s(),
                other => {
                    return argument_error(format!(
                        "Parameter 'type' must be a String reference to a Puppet Data Type. Got {}",
                        other.class()
                    ));
                }
            };
            let is_required = matches!(given.name, "param" | "required_param" | "required_repeated_param");
            if is_required && building.least != building.parameters.len() {
                return argument_error(if given.name == "required_repeated_param" {
                    "A required repeated parameter cannot be added after an optional parameter"
                } else {
                    "A required parameter cannot be added after an optional parameter"
                });
            }
            building.parameters.push((of, name.to_s()));
            building.least += usize::from(is_required);
            building.endless = given.name.contains("repeated");
        }
        ("block_param" | "required_block_param" | "optional_block_param", rest) => {
            let (of, name) = match rest {
                [] => (None, "block".to_owned()),
                [name] => (None, name.to_s()),
                [of, name] => (Some(text_of(of)?), name.to_s()),
                _ => return given.count("0..2"),
            };
            let required = given.name != "optional_block_param";
            building.block = Some(BlockDefinition { of, name, required });
        }
        ("return_type", [of]) => building.returns = Some(text_of(of)?),
        (
            "scope_param" | "cache_param" | "compiler_param" | "pal_compiler_param" | "script_compiler_param",
            [],
        ) => {
            let at = building.parameters.len();
            building.injected.push((at, given.name.to_owned()));
        }
        _ => return Ok(None),
    }
    Ok(Some(Thing::Nil))
}

/// A call that a function has taken into its own hands goes on.
pub(super) fn dispatch(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Rc<Class>,
    this: &Thing,
    list: &Rc<List>,
) -> Result<Thing> {
    let found = interpreter.definitions.iter().find(|known| Rc::ptr_eq(&known.class, class)).cloned();
    let Some(definition) = found else { return beyond("it dispatches a call of its own") };
    let arguments = list.items.borrow().clone();
    let mut values = Vec::with_capacity(arguments.len());
    for argument in &arguments {
        // The scope is a value for nobody but Ruby; its parameter takes anything.
        values.push(if matches!(argument, Thing::Scope(_)) {
            Value::UNDEF
        } else {
            interpreter.value_for_puppet(argument)?
        });
    }
    crate::ruby_functions::dispatch(interpreter, &definition, this, &values, arguments, None)
        .map_err(Flow::Failure)
}
