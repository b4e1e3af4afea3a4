//! Methods of arrays, ranges and, through their pairs, hashes.

use std::cmp::Ordering;

use super::super::interpreter::{Interpreter, Result, beyond, failed};
use super::super::things::{Table, Thing, compare, equal};
use super::blocks::with_block;
use super::{MOST, call, integer_of, no_method, to_array};
use crate::ruby::sort::sort_by;

/// `count` elements from `at` on; nothing if it starts outside.
pub(super) fn part(items: &[Thing], at: i64, count: i64) -> Option<Vec<Thing>> {
    let start = usize::try_from(if at < 0 { at + items.len() as i64 } else { at }).ok()?;
    let count = usize::try_from(count).ok()?;
    (start <= items.len()).then(|| items.iter().skip(start).take(count).cloned().collect())
}

/// The start and the length that a range means.
pub(super) fn span_of(from: i64, to: i64, length: usize) -> (i64, i64) {
    let resolve = |at: i64| if at < 0 { at + length as i64 } else { at };
    let (from, to) = (resolve(from), resolve(to));
    (from, (to - from + 1).max(0))
}

pub(super) fn joined(items: &[Thing], separator: &str) -> String {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        match item {
            Thing::Array(inner) => out.push_str(&joined(&inner.borrow(), separator)),
            other => out.push_str(&other.to_s()),
        }
    }
    out
}

pub(super) fn flat(items: &[Thing], depth: i64, into: &mut Vec<Thing>) {
    for item in items {
        match item {
            Thing::Array(inner) if depth != 0 => flat(&inner.borrow(), depth - 1, into),
            other => into.push(other.clone()),
        }
    }
}

pub(super) fn ordered(left: &Thing, name: &str, right: &Thing) -> Result<Thing> {
    let Some(order) = compare(left, right) else {
        return failed(format!("comparison of {} with {} failed", left.class(), right.inspect()));
    };
    Ok(Thing::Bool(match name {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    }))
}

pub(super) fn sorted(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Vec<Thing>> {
    sort_by(items, &mut |a: &Thing, b: &Thing| -> Result<Ordering> {
        if let Some(block) = block {
            let order = interpreter.call_block(block, vec![a.clone(), b.clone()])?;
            return Ok(integer_of(&order)?.cmp(&0));
        }
        match compare(a, b) {
            Some(order) => Ok(order),
            None => failed(format!("comparison of {} with {} failed", a.class(), b.class())),
        }
    })
}

pub(super) fn table_from(items: Vec<(Thing, Thing)>) -> Thing {
    Thing::table(items.into_iter().map(|(key, value)| (key.identity(), (key, value))).collect())
}

/// Methods of arrays, ranges and, through their pairs, hashes.
pub(super) fn array(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    let items = to_array(receiver);
    if let Some(block) = block
        && let Some(result) = with_block(interpreter, receiver, &items, name, arguments, block)?
    {
        return Ok(result);
    }
    match (name, arguments) {
        ("length" | "size" | "count", []) => Ok(Thing::Integer(items.len() as i64)),
        ("count", [wanted]) => {
            Ok(Thing::Integer(items.iter().filter(|item| equal(item, wanted)).count() as i64))
        }
        ("empty?", []) => Ok(Thing::Bool(items.is_empty())),
        ("any?", []) => Ok(Thing::Bool(items.iter().any(Thing::truth))),
        ("all?", []) => Ok(Thing::Bool(items.iter().all(Thing::truth))),
        ("none?", []) => Ok(Thing::Bool(!items.iter().any(Thing::truth))),
        ("join", rest) => {
            let separator = rest.first().map(Thing::to_s).unwrap_or_default();
            Ok(Thing::text(joined(&items, &separator)))
        }
        ("to_a" | "entries", []) => Ok(Thing::array(items)),
        ("first" | "min", []) if items.is_empty() => Ok(Thing::Nil),
        ("first", []) => Ok(items[0].clone()),
        ("last", []) => Ok(items.last().cloned().unwrap_or(Thing::Nil)),
        ("first" | "take", [count]) => {
            let count = usize::try_from(integer_of(count)?).unwrap_or(0);
            Ok(Thing::array(items.into_iter().take(count).collect()))
        }
        ("drop", [count]) => {
            let count = usize::try_from(integer_of(count)?).unwrap_or(0);
            Ok(Thing::array(items.into_iter().skip(count).collect()))
        }
        ("last", [count]) => {
            let count = usize::try_from(integer_of(count)?).unwrap_or(0);
            let skip = items.len().saturating_sub(count);
            Ok(Thing::array(items.into_iter().skip(skip).collect()))
        }
        ("include?" | "member?", [wanted]) => Ok(Thing::Bool(items.iter().any(|item| equal(item, wanted)))),
        ("index" | "find_index", [wanted]) => {
            let at = items.iter().position(|item| equal(item, wanted));
            Ok(at.map_or(Thing::Nil, |at| Thing::Integer(at as i64)))
        }
        ("flatten", rest) => {
            let depth = rest.first().map_or(Ok(-1), integer_of)?;
            let mut all = Vec::new();
            flat(&items, depth, &mut all);
            Ok(Thing::array(all))
        }
        ("compact", []) => {
            Ok(Thing::array(items.into_iter().filter(|item| !matches!(item, Thing::Nil)).collect()))
        }
        ("uniq", []) => Ok(Thing::array(distinct(items))),
        ("reverse", []) => Ok(Thing::array(items.into_iter().rev().collect())),
        ("sort", []) => Ok(Thing::array(sorted(interpreter, items, None)?)),
        ("max" | "min", []) => {
            let sorted = sorted(interpreter, items, None)?;
            Ok(if name == "max" { sorted.last() } else { sorted.first() }.cloned().unwrap_or(Thing::Nil))
        }
        ("sum", []) => {
            let mut sum = Thing::Integer(0);
            for item in items {
                sum = call(interpreter, &sum, "+", vec![item], None)?;
            }
            Ok(sum)
        }
        ("+" | "concat", [other]) => {
            let mut all = items;
            all.extend(to_array(other));
            store(receiver, name == "concat", all)
        }
        ("-", [other]) => {
            let other = to_array(other);
            Ok(Thing::array(
                items.into_iter().filter(|item| !other.iter().any(|known| equal(item, known))).collect(),
            ))
        }
        ("&", [other]) => {
            let other = to_array(other);
            Ok(Thing::array(distinct(
                items.into_iter().filter(|item| other.iter().any(|known| equal(item, known))).collect(),
            )))
        }
        ("|", [other]) => {
            let mut all = items;
            all.extend(to_array(other));
            Ok(Thing::array(distinct(all)))
        }
        ("*", [Thing::Text(separator)]) => Ok(Thing::text(joined(&items, &separator.borrow()))),
        ("[]" | "slice" | "at", [Thing::Integer(at)]) => {
            let at = if *at < 0 { at + items.len() as i64 } else { *at };
            Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().unwrap_or(Thing::Nil))
        }
        ("[]" | "slice", [Thing::Integer(at), Thing::Integer(count)]) => {
            Ok(part(&items, *at, *count).map_or(Thing::Nil, Thing::array))
        }
        ("[]" | "slice", [Thing::Range(from, to)]) => {
            let (from, count) = span_of(*from, *to, items.len());
            Ok(part(&items, from, count).map_or(Thing::Nil, Thing::array))
        }
        ("[]", [other]) => failed(format!("no implicit conversion of {} into Integer", other.class())),
        ("values_at", places) => {
            let mut picked = Vec::new();
            for place in places {
                picked.push(call(interpreter, receiver, "[]", vec![place.clone()], None)?);
            }
            Ok(Thing::array(picked))
        }
        ("zip", others) => {
            let others: Vec<Vec<Thing>> = others.iter().map(to_array).collect();
            let row = |(at, item): (usize, Thing)| {
                let more = others.iter().map(|other| other.get(at).cloned().unwrap_or(Thing::Nil));
                Thing::array(std::iter::once(item).chain(more).collect())
            };
            Ok(Thing::array(items.into_iter().enumerate().map(row).collect()))
        }
        ("transpose", []) => {
            let rows: Vec<Vec<Thing>> = items.iter().map(to_array).collect();
            let width = rows.first().map_or(0, Vec::len);
            let column = |at: usize| {
                Thing::array(rows.iter().map(|row| row.get(at).cloned().unwrap_or(Thing::Nil)).collect())
            };
            Ok(Thing::array((0..width).map(column).collect()))
        }
        ("each_slice", [size]) => {
            let size = usize::try_from(integer_of(size)?).unwrap_or(1).max(1);
            Ok(Thing::array(items.chunks(size).map(|chunk| Thing::array(chunk.to_vec())).collect()))
        }
        ("to_h", []) => {
            let pair = |item: &Thing| {
                let pair = to_array(item);
                (pair.first().cloned().unwrap_or(Thing::Nil), pair.get(1).cloned().unwrap_or(Thing::Nil))
            };
            Ok(table_from(items.iter().map(pair).collect()))
        }
        // An enumerator is walked at once; who asks it for positions gets them with the elements.
        ("each" | "map" | "collect" | "select" | "each_entry", []) => Ok(Thing::array(items)),
        ("each_with_index" | "with_index", []) => {
            let pair = |(at, item): (usize, Thing)| Thing::array(vec![item, Thing::Integer(at as i64)]);
            Ok(Thing::array(items.into_iter().enumerate().map(pair).collect()))
        }
        ("<<" | "push" | "append", more) => {
            let Thing::Array(cell) = receiver else { return no_method(receiver, name) };
            cell.borrow_mut().extend(more.iter().cloned());
            Ok(receiver.clone())
        }
        ("unshift" | "prepend", more) => {
            let Thing::Array(cell) = receiver else { return no_method(receiver, name) };
            cell.borrow_mut().splice(0..0, more.iter().cloned());
            Ok(receiver.clone())
        }
        ("pop" | "shift", []) => {
            let Thing::Array(cell) = receiver else { return no_method(receiver, name) };
            let mut own = cell.borrow_mut();
            let taken = if name == "pop" { own.pop() } else { (!own.is_empty()).then(|| own.remove(0)) };
            Ok(taken.unwrap_or(Thing::Nil))
        }
        ("[]=", [Thing::Integer(at), value]) => {
            let Thing::Array(cell) = receiver else { return no_method(receiver, name) };
            let mut own = cell.borrow_mut();
            let at = if *at < 0 { at + own.len() as i64 } else { *at };
            let at = usize::try_from(at).unwrap_or(0);
            if at as i64 > MOST {
                return beyond("it sets an element far behind the end");
            }
            if at >= own.len() {
                own.resize(at + 1, Thing::Nil);
            }
            own[at] = value.clone();
            Ok(value.clone())
        }
        ("delete", [unwanted]) => {
            let Thing::Array(cell) = receiver else { return no_method(receiver, name) };
            let before = cell.borrow().len();
            cell.borrow_mut().retain(|item| !equal(item, unwanted));
            Ok(if cell.borrow().len() == before { Thing::Nil } else { unwanted.clone() })
        }
        ("compact!" | "uniq!" | "sort!" | "flatten!" | "reverse!", _) => {
            let result = call(interpreter, receiver, name.trim_end_matches('!'), arguments.to_vec(), block)?;
            store(receiver, true, to_array(&result))
        }
        ("<=>", [other]) => {
            Ok(compare(receiver, other).map_or(Thing::Nil, |order| Thing::Integer(order as i64)))
        }
        ("has_key?" | "keys" | "strip" | "split" | "gsub" | "downcase" | "upcase", _) => {
            failed(format!("undefined method `{name}' for {}:{}", receiver.inspect(), receiver.class()))
        }
        _ => no_method(receiver, name),
    }
}

pub(super) fn distinct(items: Vec<Thing>) -> Vec<Thing> {
    let seen: Table = items.into_iter().fold(Table::new(), |mut seen, item| {
        seen.entry(item.identity()).or_insert((item, Thing::Nil));
        seen
    });
    seen.into_values().map(|(item, _)| item).collect()
}

/// The array itself with new items, or another one.
pub(super) fn store(receiver: &Thing, in_place: bool, items: Vec<Thing>) -> Result<Thing> {
    match receiver {
        Thing::Array(cell) if in_place => {
            *cell.borrow_mut() = items;
            Ok(receiver.clone())
        }
        _ => Ok(Thing::array(items)),
    }
}
