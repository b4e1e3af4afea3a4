//! What every object has.

use super::super::interpreter::{Interpreter, Result, beyond, failed};
use super::super::things::{Thing, compare, equal};
use super::{call, is_collection};
use crate::stdlib;

/// What every object has.
pub(super) fn general(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Option<Thing>> {
    Ok(Some(match (name, arguments) {
        ("nil?", []) => Thing::Bool(matches!(receiver, Thing::Nil)),
        ("to_s", []) => Thing::text(receiver.to_s()),
        ("inspect", []) => Thing::text(receiver.inspect()),
        ("is_a?" | "kind_of?" | "instance_of?", [Thing::Constant(class)]) => {
            Thing::Bool(receiver.is_a(class))
        }
        ("==" | "eql?" | "equal?", [other]) => Thing::Bool(equal(receiver, other)),
        ("===", [other]) => Thing::Bool(interpreter.fits(receiver, other)?),
        ("<=>", [other]) => compare(receiver, other).map_or(Thing::Nil, |order| Thing::Integer(order as i64)),
        ("class", []) => Thing::Constant(receiver.class().into()),
        ("dup" | "clone" | "freeze" | "itself", []) => copy(receiver),
        ("frozen?", []) => Thing::Bool(false),
        ("to_json", _) => match receiver.to_value() {
            Some(value) => Thing::text(stdlib::compact_json(&value)),
            None => return beyond("it writes something as JSON that is no data"),
        },
        ("to_yaml", _) => match receiver.to_value() {
            Some(value) => Thing::text(stdlib::yaml_text(&value)),
            None => return beyond("it writes something as YAML that is no data"),
        },
        ("tap", []) => match block {
            Some(block) => {
                interpreter.call_block(block, vec![receiver.clone()])?;
                receiver.clone()
            }
            None => return Ok(None),
        },
        ("then", []) => match block {
            Some(block) => interpreter.call_block(block, vec![receiver.clone()])?,
            None => return Ok(None),
        },
        ("respond_to?", [method]) => Thing::Bool(responds_to(receiver, &method.to_s())),
        ("to_a", []) if matches!(receiver, Thing::Nil) => Thing::array(Vec::new()),
        ("to_i", []) if matches!(receiver, Thing::Nil) => Thing::Integer(0),
        ("empty?", []) if matches!(receiver, Thing::Nil) => {
            return failed("undefined method `empty?' for nil:NilClass");
        }
        ("send" | "public_send", [method, rest @ ..]) => {
            call(interpreter, receiver, &method.to_s(), rest.to_vec(), block)?
        }
        ("=~", [_]) if matches!(receiver, Thing::Nil) => Thing::Nil,
        _ => return Ok(None),
    }))
}

pub(super) fn responds_to(receiver: &Thing, method: &str) -> bool {
    match method {
        "each" | "map" | "join" | "flatten" | "empty?" | "length" => {
            is_collection(receiver)
                || matches!(receiver, Thing::Text(_)) && matches!(method, "empty?" | "length")
        }
        "keys" | "has_key?" => matches!(receiver, Thing::Hash(_)),
        "gsub" | "strip" | "to_str" | "split" => matches!(receiver, Thing::Text(_)),
        _ => matches!(method, "to_s" | "nil?"),
    }
}

pub(super) fn copy(thing: &Thing) -> Thing {
    match thing {
        Thing::Text(text) => Thing::text(text.borrow().clone()),
        Thing::Array(items) => Thing::array(items.borrow().clone()),
        Thing::Hash(table) => Thing::table(table.borrow().clone()),
        other => other.clone(),
    }
}
