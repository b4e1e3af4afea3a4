//! The methods that templates call.

mod arrays;
mod blocks;
mod general;
mod hashes;
mod numbers;
mod scope;
mod texts;

use std::rc::Rc;

use super::interpreter::{Interpreter, Result, beyond, failed};
use super::things::{Table, Thing};
use arrays::array;
use general::general;
use hashes::hash;
use numbers::number;
pub(super) use scope::kernel;
use scope::{constant, scope};
use texts::{pattern_match, text};

/// More elements are refused.
const MOST: i64 = 1_000_000;

/// `Array(value)`
pub(super) fn to_array(value: &Thing) -> Vec<Thing> {
    match value {
        Thing::Nil => Vec::new(),
        Thing::Array(items) => items.borrow().clone(),
        Thing::Hash(table) => pairs(&table.borrow()),
        Thing::Range(from, to) => (*from..=*to).take(MOST as usize).map(Thing::Integer).collect(),
        other => vec![other.clone()],
    }
}

fn pairs(table: &Table) -> Vec<Thing> {
    table.values().map(|(key, value)| Thing::array(vec![key.clone(), value.clone()])).collect()
}

fn is_collection(value: &Thing) -> bool {
    matches!(value, Thing::Array(_) | Thing::Hash(_) | Thing::Range(..))
}

fn first(arguments: &[Thing]) -> Thing {
    arguments.first().cloned().unwrap_or(Thing::Nil)
}

fn text_of(thing: &Thing) -> Result<String> {
    match thing {
        Thing::Text(text) => Ok(text.borrow().clone()),
        other => failed(format!("no implicit conversion of {} into String", other.class())),
    }
}

fn integer_of(thing: &Thing) -> Result<i64> {
    match thing {
        Thing::Integer(number) => Ok(*number),
        Thing::Float(number) => Ok(*number as i64),
        other => failed(format!("no implicit conversion of {} into Integer", other.class())),
    }
}

fn no_method<T>(receiver: &Thing, name: &str) -> Result<T> {
    match receiver {
        // A method of something that Ruby knows better than we do.
        Thing::Other(_) | Thing::Constant(_) | Thing::Scope | Thing::Lambda(_) | Thing::Match(_) => {
            beyond(format!("it calls {name} of {}", receiver.class()))
        }
        Thing::Nil => failed(format!("undefined method `{name}' for nil:NilClass")),
        _ => beyond(format!("it calls {name} of {}", receiver.class())),
    }
}

/// Calls a method of a value.
pub(super) fn call(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Thing> {
    if let Some(result) = general(interpreter, receiver, name, &arguments, block)? {
        return Ok(result);
    }
    match receiver {
        Thing::Text(_) => text(interpreter, receiver, name, &arguments, block),
        Thing::Symbol(symbol) => text(interpreter, &Thing::text(&**symbol), name, &arguments, block),
        Thing::Array(_) | Thing::Range(..) => array(interpreter, receiver, name, &arguments, block),
        Thing::Hash(table) => {
            let table = Rc::clone(table);
            match hash(interpreter, &table, receiver, name, &arguments, block)? {
                Some(result) => Ok(result),
                None => array(interpreter, receiver, name, &arguments, block),
            }
        }
        Thing::Integer(_) | Thing::Float(_) => number(interpreter, receiver, name, &arguments, block),
        Thing::Scope => scope(interpreter, name, &arguments),
        Thing::Regex(regex) => {
            let regex = regex.clone();
            match name {
                "match" | "=~" | "match?" => pattern_match(interpreter, &regex, &first(&arguments), name),
                "source" => Ok(Thing::text(regex.source())),
                _ => no_method(receiver, name),
            }
        }
        Thing::Match(found) => match (name, arguments.as_slice()) {
            ("[]", [Thing::Integer(at)]) => {
                let group = usize::try_from(*at).ok().and_then(|at| found.group(at));
                Ok(group.map_or(Thing::Nil, Thing::text))
            }
            ("[]", [Thing::Range(from, to)]) => {
                let groups = (*from..=*to).filter_map(|at| usize::try_from(at).ok());
                Ok(Thing::array(groups.map(|at| found.group(at).map_or(Thing::Nil, Thing::text)).collect()))
            }
            ("[]", [key]) => Ok(found.named(&key.to_s()).map_or(Thing::Nil, Thing::text)),
            ("captures", []) => {
                let groups =
                    (1..found.groups.len()).map(|at| found.group(at).map_or(Thing::Nil, Thing::text));
                Ok(Thing::array(groups.collect()))
            }
            _ => no_method(receiver, name),
        },
        Thing::Lambda(_) if matches!(name, "call" | "()" | "[]" | "yield") => {
            interpreter.call_block(receiver, arguments)
        }
        Thing::Constant(class) => constant(interpreter, &Rc::clone(class), name, &arguments),
        Thing::Bool(flag) => match name {
            "&" => Ok(Thing::Bool(*flag && first(&arguments).truth())),
            "|" => Ok(Thing::Bool(*flag || first(&arguments).truth())),
            _ => failed(format!("undefined method `{name}' for {}:{}", receiver.inspect(), receiver.class())),
        },
        Thing::Nil | Thing::Other(_) | Thing::Lambda(_) => no_method(receiver, name),
    }
}
