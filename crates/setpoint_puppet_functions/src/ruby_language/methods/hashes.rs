//! Methods of hashes.

use std::rc::Rc;

use super::super::interpreter::{Interpreter, Result, failed};
use super::super::things::{Table, Thing, equal};
use super::arrays::table_from;
use super::call;

/// Methods that hashes have beyond those of their pairs; nothing if it has no such method.
pub(super) fn hash(
    interpreter: &mut Interpreter<'_, '_, '_>,
    table: &Rc<std::cell::RefCell<Table>>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Option<Thing>> {
    let get = |key: &Thing| table.borrow().get(&key.identity()).map(|(_, value)| value.clone());
    Ok(Some(match (name, arguments) {
        ("[]", [key]) => get(key).unwrap_or(Thing::Nil),
        ("dig", [key, rest @ ..]) => match (get(key), rest) {
            (Some(value), []) => value,
            (Some(value), rest) if !matches!(value, Thing::Nil) => {
                call(interpreter, &value, "dig", rest.to_vec(), None)?
            }
            _ => Thing::Nil,
        },
        ("[]=" | "store", [key, value]) => {
            table.borrow_mut().insert(key.identity(), (key.clone(), value.clone()));
            value.clone()
        }
        ("fetch", [key, rest @ ..]) => match (get(key), rest.first(), block) {
            (Some(value), _, _) => value,
            (None, Some(default), _) => default.clone(),
            (None, None, Some(block)) => interpreter.call_block(block, vec![key.clone()])?,
            (None, None, None) => return failed(format!("key not found: {}", key.inspect())),
        },
        ("has_key?" | "key?" | "include?" | "member?", [key]) => Thing::Bool(get(key).is_some()),
        ("has_value?" | "value?", [wanted]) => {
            Thing::Bool(table.borrow().values().any(|(_, value)| equal(value, wanted)))
        }
        ("key", [wanted]) => {
            let found =
                table.borrow().values().find(|(_, value)| equal(value, wanted)).map(|(key, _)| key.clone());
            found.unwrap_or(Thing::Nil)
        }
        ("keys", []) => Thing::array(table.borrow().values().map(|(key, _)| key.clone()).collect()),
        ("values", []) => Thing::array(table.borrow().values().map(|(_, value)| value.clone()).collect()),
        ("values_at", keys) => Thing::array(keys.iter().map(|key| get(key).unwrap_or(Thing::Nil)).collect()),
        ("to_hash" | "to_h", []) if block.is_none() => receiver.clone(),
        ("delete", [key]) => {
            table.borrow_mut().shift_remove(&key.identity()).map_or(Thing::Nil, |(_, value)| value)
        }
        ("merge" | "merge!" | "update", others) => {
            let mut merged = table.borrow().clone();
            for other in others {
                let Thing::Hash(other) = other else { return failed("no implicit conversion into Hash") };
                merged.extend(other.borrow().iter().map(|(key, pair)| (key.clone(), pair.clone())));
            }
            if name == "merge" {
                Thing::table(merged)
            } else {
                *table.borrow_mut() = merged;
                receiver.clone()
            }
        }
        ("invert", []) => {
            table_from(table.borrow().values().map(|(key, value)| (value.clone(), key.clone())).collect())
        }
        ("compact", []) => {
            let kept = table
                .borrow()
                .iter()
                .filter(|(_, (_, value))| !matches!(value, Thing::Nil))
                .map(|(key, pair)| (key.clone(), pair.clone()))
                .collect();
            Thing::table(kept)
        }
        ("each_key" | "each_value", []) => {
            let Some(block) = block else { return Ok(None) };
            let all: Vec<(Thing, Thing)> = table.borrow().values().cloned().collect();
            for (key, value) in all {
                interpreter.call_block(block, vec![if name == "each_key" { key } else { value }])?;
            }
            receiver.clone()
        }
        ("select" | "reject" | "filter" | "select!" | "reject!" | "delete_if" | "keep_if", []) => {
            let Some(block) = block else { return Ok(None) };
            let wanted = name.starts_with("select") || name == "filter" || name == "keep_if";
            let all: Vec<(String, (Thing, Thing))> =
                table.borrow().iter().map(|(key, pair)| (key.clone(), pair.clone())).collect();
            let mut kept = Table::new();
            for (identity, (key, value)) in all {
                if interpreter.call_block(block, vec![key.clone(), value.clone()])?.truth() == wanted {
                    kept.insert(identity, (key, value));
                }
            }
            if name.ends_with('!') || name.ends_with("_if") {
                *table.borrow_mut() = kept;
                receiver.clone()
            } else {
                Thing::table(kept)
            }
        }
        ("transform_values" | "transform_keys", []) => {
            let Some(block) = block else { return Ok(None) };
            let all: Vec<(Thing, Thing)> = table.borrow().values().cloned().collect();
            let mut changed = Vec::with_capacity(all.len());
            for (key, value) in all {
                changed.push(if name == "transform_values" {
                    let value = interpreter.call_block(block, vec![value])?;
                    (key, value)
                } else {
                    (interpreter.call_block(block, vec![key])?, value)
                });
            }
            table_from(changed)
        }
        ("strip" | "split" | "gsub" | "downcase" | "upcase", _) => {
            return failed(format!("undefined method `{name}' for {}:Hash", receiver.inspect()));
        }
        _ => return Ok(None),
    }))
}
