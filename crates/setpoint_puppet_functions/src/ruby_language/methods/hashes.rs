//! Methods of hashes.

use std::rc::Rc;

use super::enumerable::{pairs, plain, with_block};
use super::{Given, as_key, call, kind, put, put_as};
use crate::ruby_language::interpreter::{Interpreter, Result, raise, type_error};
use crate::ruby_language::things::{Map, Table, Thing, equal};

fn table_of(thing: &Thing) -> Result<Table> {
    match thing {
        Thing::Hash(map) => Ok(map.table.borrow().clone()),
        other => type_error(format!("no implicit conversion of {} into Hash", kind(other))),
    }
}

pub(super) fn get(map: &Map, key: &Thing) -> Option<Thing> {
    map.table.borrow().get(&key.identity()).map(|(_, value)| value.clone())
}

pub(super) fn hash(
    interpreter: &mut Interpreter<'_, '_, '_>,
    map: &Rc<Map>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    interpreter.note_hash_read(map, given.name, given.arguments);
    if let Some(result) = simple(interpreter, map, receiver, given)? {
        return Ok(Some(result));
    }
    if let Some(result) = merging(interpreter, map, receiver, given)? {
        return Ok(Some(result));
    }
    if let Some(block) = given.block
        && let Some(result) = asking(interpreter, map, receiver, given, block)?
    {
        return Ok(Some(result));
    }
    let own = pairs(&map.table.borrow());
    interpreter.look_through(own.len())?;
    if let Some(block) = given.block
        && let Some(result) = with_block(interpreter, receiver, &own, given, block)?
    {
        return Ok(Some(result));
    }
    plain(interpreter, receiver, &own, given)
}

#[expect(clippy::too_many_lines, reason = "one arm for each method")]
fn simple(
    interpreter: &mut Interpreter<'_, '_, '_>,
    map: &Rc<Map>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("[]", [key]) => match get(map, key) {
            Some(value) => value,
            None => {
                let maker = map.maker.borrow().clone();
                match maker {
                    Some(maker) => interpreter.call_block(&maker, vec![receiver.clone(), key.clone()])?,
                    None => map.default.borrow().clone(),
                }
            }
        },
        ("length" | "size", []) => Thing::integer(map.table.borrow().len()),
        ("count", []) if given.block.is_none() => Thing::integer(map.table.borrow().len()),
        ("empty?", []) => Thing::Bool(map.table.borrow().is_empty()),
        ("any?", []) if given.block.is_none() => Thing::Bool(!map.table.borrow().is_empty()),
        ("none?", []) if given.block.is_none() => Thing::Bool(map.table.borrow().is_empty()),
        ("dig", [key, rest @ ..]) => {
            let found = call(interpreter, receiver, "[]", vec![key.clone()], None)?;
            if rest.is_empty() || found.is_nil() {
                found
            } else if matches!(found, Thing::Hash(_) | Thing::Array(_) | Thing::Object(_)) {
                call(interpreter, &found, "dig", rest.to_vec(), None)?
            } else {
                return type_error(format!("{} does not have #dig method", found.class()));
            }
        }
        ("[]=" | "store", [key, value]) => {
            // The key may hold the hash itself: its identity is made before the hash is borrowed.
            let key = as_key(key.clone());
            let identity = key.identity();
            put_as(&mut map.table.borrow_mut(), identity, key, value.clone());
            value.clone()
        }
        ("fetch", [key, rest @ ..]) => match (get(map, key), rest.first(), given.block) {
            (Some(value), _, _) => value,
            (None, _, Some(block)) => interpreter.call_block(block, vec![key.clone()])?,
            (None, Some(default), None) => default.clone(),
            (None, None, None) => return raise("KeyError", format!("key not found: {}", key.inspect())),
        },
        ("fetch_values", keys) => {
            let mut values = Vec::new();
            for key in keys {
                values.push(call(interpreter, receiver, "fetch", vec![key.clone()], given.block)?);
            }
            Thing::array(values)
        }
        ("has_key?" | "key?" | "include?" | "member?", [key]) => Thing::Bool(get(map, key).is_some()),
        ("has_value?" | "value?", [wanted]) => {
            Thing::Bool(map.table.borrow().values().any(|(_, value)| equal(value, wanted)))
        }
        ("key", [wanted]) => {
            let table = map.table.borrow();
            let found = table.values().find(|(_, value)| equal(value, wanted)).map(|(key, _)| key.clone());
            found.unwrap_or(Thing::Nil)
        }
        ("keys", []) => Thing::array(map.table.borrow().values().map(|(key, _)| key.clone()).collect()),
        ("values", []) => Thing::array(map.table.borrow().values().map(|(_, value)| value.clone()).collect()),
        ("values_at", keys) => {
            let mut values = Vec::new();
            for key in keys {
                values.push(call(interpreter, receiver, "[]", vec![key.clone()], None)?);
            }
            Thing::array(values)
        }
        ("to_hash" | "to_h", []) if given.block.is_none() => receiver.clone(),
        ("delete", [key]) => {
            let removed = {
                let identity = key.identity();
                map.table.borrow_mut().shift_remove(&identity)
            };
            match (removed, given.block) {
                (Some((_, value)), _) => value,
                (None, Some(block)) => interpreter.call_block(block, vec![key.clone()])?,
                (None, None) => Thing::Nil,
            }
        }
        ("clear", []) => {
            map.table.borrow_mut().clear();
            receiver.clone()
        }
        ("shift", []) => match map.table.borrow_mut().shift_remove_index(0) {
            Some((_, (key, value))) => Thing::array(vec![key, value]),
            None => Thing::Nil,
        },
        ("invert", []) => {
            let mut inverted = Table::new();
            for (key, value) in map.table.borrow().values() {
                put(&mut inverted, value.clone(), key.clone());
            }
            Thing::table(inverted)
        }
        ("compact", []) => {
            let mut table = map.table.borrow().clone();
            table.retain(|_, (_, value)| !value.is_nil());
            Thing::table(table)
        }
        ("compact!", []) => {
            let before = map.table.borrow().len();
            map.table.borrow_mut().retain(|_, (_, value)| !value.is_nil());
            if map.table.borrow().len() == before { Thing::Nil } else { receiver.clone() }
        }
        ("slice" | "except", keys) => {
            let wanted: Vec<String> = keys.iter().map(Thing::identity).collect();
            let table = map.table.borrow();
            let mut picked = Table::new();
            if given.name == "slice" {
                for key in wanted {
                    if let Some(entry) = table.get(&key) {
                        picked.insert(key, entry.clone());
                    }
                }
            } else {
                let kept = table.iter().filter(|(key, _)| !wanted.contains(key));
                picked.extend(kept.map(|(key, entry)| (key.clone(), entry.clone())));
            }
            Thing::table(picked)
        }
        ("first", []) => pairs(&map.table.borrow()).into_iter().next().unwrap_or(Thing::Nil),
        ("to_a", []) => Thing::array(pairs(&map.table.borrow())),
        ("sort", []) if given.block.is_none() => {
            let own = Thing::array(pairs(&map.table.borrow()));
            call(interpreter, &own, "sort", Vec::new(), None)?
        }
        ("flatten", rest) => {
            let own = Thing::array(pairs(&map.table.borrow()));
            let depth = rest.first().cloned().unwrap_or(Thing::Integer(1));
            call(interpreter, &own, "flatten", vec![depth], None)?
        }
        ("default", _) => map.default.borrow().clone(),
        ("default=", [value]) => {
            *map.default.borrow_mut() = value.clone();
            value.clone()
        }
        ("replace", [other]) => {
            *map.table.borrow_mut() = table_of(other)?;
            receiver.clone()
        }
        ("<=" | ">=" | "<" | ">", [other]) => {
            let (own, other) = (map.table.borrow().clone(), table_of(other)?);
            let within = |small: &Table, large: &Table| {
                small
                    .iter()
                    .all(|(key, (_, value))| large.get(key).is_some_and(|(_, known)| equal(value, known)))
            };
            Thing::Bool(match given.name {
                "<=" => within(&own, &other),
                ">=" => within(&other, &own),
                "<" => within(&own, &other) && own.len() < other.len(),
                _ => within(&other, &own) && other.len() < own.len(),
            })
        }
        ("compare_by_identity" | "rehash", _) => return Ok(None),
        ("deconstruct_keys", _) => receiver.clone(),
        _ => return Ok(None),
    }))
}

fn merging(
    interpreter: &mut Interpreter<'_, '_, '_>,
    map: &Rc<Map>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if !matches!(given.name, "merge" | "merge!" | "update") {
        return Ok(None);
    }
    let mut merged = map.table.borrow().clone();
    for other in given.arguments {
        for (identity, (key, value)) in table_of(other)? {
            let value = match (merged.get(&identity), given.block) {
                (Some((_, known)), Some(block)) => {
                    let known = known.clone();
                    interpreter.call_block(block, vec![key.clone(), known, value])?
                }
                _ => value,
            };
            put(&mut merged, key, value);
        }
    }
    if given.name == "merge" {
        let copy = super::general::copy(receiver, false);
        if let Thing::Hash(copy) = &copy {
            *copy.table.borrow_mut() = merged;
        }
        return Ok(Some(copy));
    }
    *map.table.borrow_mut() = merged;
    Ok(Some(receiver.clone()))
}

/// Methods that give their block keys and values.
fn asking(
    interpreter: &mut Interpreter<'_, '_, '_>,
    map: &Rc<Map>,
    receiver: &Thing,
    given: &Given<'_>,
    block: &Thing,
) -> Result<Option<Thing>> {
    let all: Vec<(String, (Thing, Thing))> =
        map.table.borrow().iter().map(|(key, pair)| (key.clone(), pair.clone())).collect();
    Ok(Some(match given.name {
        "each_key" | "each_value" => {
            for (_, (key, value)) in all {
                interpreter.call_block(block, vec![if given.name == "each_key" { key } else { value }])?;
            }
            receiver.clone()
        }
        "select" | "reject" | "filter" | "select!" | "reject!" | "filter!" | "delete_if" | "keep_if" => {
            let wanted = !matches!(given.name, "reject" | "reject!" | "delete_if");
            let before = all.len();
            let mut kept = Table::new();
            for (identity, (key, value)) in all {
                if interpreter.call_block(block, vec![key.clone(), value.clone()])?.truth() == wanted {
                    kept.insert(identity, (key, value));
                }
            }
            if given.name.ends_with('!') || given.name.ends_with("_if") {
                let same = kept.len() == before;
                *map.table.borrow_mut() = kept;
                if same && given.name.ends_with('!') { Thing::Nil } else { receiver.clone() }
            } else {
                Thing::table(kept)
            }
        }
        "transform_values" | "transform_keys" | "transform_values!" | "transform_keys!" => {
            let mut changed = Table::new();
            for (_, (key, value)) in all {
                if given.name.starts_with("transform_values") {
                    let value = interpreter.call_block(block, vec![value])?;
                    put(&mut changed, key, value);
                } else {
                    let key = interpreter.call_block(block, vec![key])?;
                    put(&mut changed, as_key(key), value);
                }
            }
            if given.name.ends_with('!') {
                *map.table.borrow_mut() = changed;
                receiver.clone()
            } else {
                Thing::table(changed)
            }
        }
        _ => return Ok(None),
    }))
}
