//! The scope of the manifest, the classes of Ruby, and what is called without a receiver.

use setpoint_puppet_values::Regex;

use super::super::interpreter::{Flow, Interpreter, Result, beyond, failed, regex};
use super::super::things::{Table, Thing};
use super::arrays::table_from;
use super::texts::formatted;
use super::{call, text_of, to_array};
use crate::ruby::numbers;
use crate::stdlib;

/// The scope of the manifest, as templates know it.
pub(super) fn scope(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &str,
    arguments: &[Thing],
) -> Result<Thing> {
    match (name, arguments) {
        ("lookupvar" | "[]" | "get", [variable]) => {
            let variable = variable.to_s();
            Ok(interpreter.variable(&variable))
        }
        ("setvar", [variable, value]) => {
            interpreter.set_scope_variable(variable.to_s(), value.clone());
            Ok(value.clone())
        }
        ("include?" | "exist?" | "has_variable?", [variable]) => {
            let variable = variable.to_s();
            Ok(Thing::Bool(!matches!(interpreter.variable(&variable), Thing::Nil)))
        }
        ("call_function", [function, rest @ ..]) => {
            let given = match rest {
                [Thing::Array(items)] => items.borrow().clone(),
                _ => rest.to_vec(),
            };
            interpreter.call_function(&function.to_s(), &given)
        }
        ("to_hash", []) => {
            let Some(variables) = interpreter.context.host.visible_variables() else {
                return beyond("it asks for all variables");
            };
            let known = variables.iter().filter(|(_, value)| !value.is_undef());
            Ok(table_from(
                known.map(|(name, value)| (Thing::text(name.as_str()), Thing::from_value(value))).collect(),
            ))
        }
        (function, [Thing::Array(given)]) if function.starts_with("function_") => {
            let given = given.borrow().clone();
            interpreter.call_function(function.trim_start_matches("function_"), &given)
        }
        _ => beyond(format!("it calls {name} of the scope")),
    }
}

/// Methods of classes and modules.
pub(super) fn constant(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &str,
    name: &str,
    arguments: &[Thing],
) -> Result<Thing> {
    match (class.trim_start_matches("::"), name, arguments) {
        ("IPAddr", "new", [Thing::Text(address)]) => match stdlib::Network::parse(&address.borrow()) {
            Some(_) => Ok(Thing::text(address.borrow().clone())),
            None => failed(format!("invalid address: {}", address.borrow())),
        },
        ("Regexp", "new" | "compile", [Thing::Text(source), ..]) => {
            regex(&source.borrow(), "").map(Thing::Regex)
        }
        ("Regexp", "escape" | "quote", [text]) => Ok(Thing::text(Regex::escape(&text_of(text)?))),
        ("Hash", "new", []) => Ok(Thing::table(Table::new())),
        ("Hash", "[]", [pairs]) => call(interpreter, pairs, "to_h", Vec::new(), None),
        ("Array", "new", []) => Ok(Thing::array(Vec::new())),
        ("String", "new", []) => Ok(Thing::text("")),
        ("JSON", "generate" | "dump", [value]) => call(interpreter, value, "to_json", Vec::new(), None),
        ("JSON", "pretty_generate", [value, ..]) => match value.to_value() {
            Some(value) => Ok(Thing::text(stdlib::pretty_json(&value))),
            None => beyond("it writes something as JSON that is no data"),
        },
        ("JSON", "parse" | "load", [text]) => {
            let text = text_of(text)?;
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(json) => Ok(Thing::from_value(&stdlib::value_of_json(&json))),
                Err(_) => failed(format!("unexpected token at '{text}'")),
            }
        }
        ("YAML", "dump", [value]) => call(interpreter, value, "to_yaml", Vec::new(), None),
        ("File", "basename", [path]) => interpreter.call_function("basename", std::slice::from_ref(path)),
        ("File", "dirname", [path]) => interpreter.call_function("dirname", std::slice::from_ref(path)),
        ("File", "join", parts) => {
            let parts: Vec<String> = parts.iter().map(Thing::to_s).collect();
            Ok(Thing::text(parts.join("/").replace("//", "/")))
        }
        ("Puppet::Util::Package", "versioncmp", [_, _]) => interpreter.call_function("versioncmp", arguments),
        _ => beyond(format!("it uses {class}")),
    }
}

/// What can be called without a receiver.
pub(in super::super) fn kernel(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    match (name, arguments) {
        ("scope", []) => Ok(Thing::Scope),
        ("Array", [value]) => Ok(match value {
            Thing::Array(_) => value.clone(),
            other => Thing::array(to_array(other)),
        }),
        ("String", [value]) => Ok(Thing::text(value.to_s())),
        ("Integer", [value]) => match value {
            Thing::Integer(_) => Ok(value.clone()),
            other => {
                match numbers::parse_integer(&other.to_s()).and_then(|number| i64::try_from(number).ok()) {
                    Some(number) => Ok(Thing::Integer(number)),
                    None => failed(format!("invalid value for Integer(): {}", other.inspect())),
                }
            }
        },
        ("Float", [value]) => match numbers::parse_float(&value.to_s()) {
            Some(number) => Ok(Thing::Float(number)),
            None => failed(format!("invalid value for Float(): {}", value.inspect())),
        },
        ("has_variable?", [variable]) => {
            let variable = variable.to_s();
            Ok(Thing::Bool(!matches!(interpreter.variable(&variable), Thing::Nil)))
        }
        ("sprintf" | "format", [format, rest @ ..]) => {
            let format = format.to_s();
            formatted(&format, rest)
        }
        ("raise", rest) => {
            let message = rest.last().map(Thing::to_s).unwrap_or_default();
            failed(message)
        }
        ("require", [_]) => Ok(Thing::Bool(true)),
        ("file", []) => beyond("it asks for its own file"),
        ("loop", []) => {
            let Some(block) = block else { return beyond("it loops without a block") };
            loop {
                match interpreter.call_block(block, Vec::new()) {
                    Ok(_) => {}
                    Err(Flow::Break(value)) => return Ok(value),
                    Err(other) => return Err(other),
                }
            }
        }
        _ => beyond(format!("it calls {name}")),
    }
}
