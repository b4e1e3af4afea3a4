//! Methods of arrays.

use std::rc::Rc;

use super::enumerable::{distinct, enumerator, flat, joined, plain, sorted, with_block};
use super::{Given, MOST, call, count_of, integer_of, kind, text_of};
use crate::ruby_language::interpreter::{Interpreter, Result, beyond, limit, raise, type_error};
use crate::ruby_language::things::{List, Range, Thing, equal};

/// `count` elements from `at` on; nothing if it starts outside.
pub(super) fn part<T: Clone>(items: &[T], at: i128, count: i128) -> Option<Vec<T>> {
    let start = usize::try_from(if at < 0 { at + items.len() as i128 } else { at }).ok()?;
    let count = usize::try_from(count).ok()?;
    (start <= items.len()).then(|| items.iter().skip(start).take(count).cloned().collect())
}

/// The start and the length that a range means for so many elements.
pub(super) fn span_of(range: &Range, length: usize) -> Result<(i128, i128)> {
    let length = length as i128;
    let resolve = |at: i128| if at < 0 { at + length } else { at };
    let from = match &range.from {
        Thing::Nil => 0,
        from => resolve(integer_of(from)?),
    };
    let to = match &range.to {
        Thing::Nil => length - 1,
        to => resolve(integer_of(to)?) - i128::from(range.exclusive),
    };
    // A negative start would be counted from the end once more.
    if from < 0 {
        return Ok((-length - 1, 0));
    }
    Ok((from, (to - from + 1).max(0)))
}

fn array_of(thing: &Thing) -> Result<Vec<Thing>> {
    match thing {
        Thing::Array(list) => Ok(list.items.borrow().clone()),
        other => type_error(format!("no implicit conversion of {} into Array", kind(other))),
    }
}

pub(super) fn array(
    interpreter: &mut Interpreter<'_, '_, '_>,
    list: &Rc<List>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    super::enumerable::refuse_own_equality(&list.items.borrow(), given.name)?;
    if let Some(result) = simple(list, receiver, given)? {
        return Ok(Some(result));
    }
    let own = list.items.borrow().clone();
    interpreter.look_through(own.len())?;
    if let Some(result) = changing(interpreter, list, receiver, &own, given)? {
        return Ok(Some(result));
    }
    if let Some(block) = given.block
        && let Some(result) = with_block(interpreter, receiver, &own, given, block)?
    {
        return Ok(Some(result));
    }
    if let Some(result) = reading(interpreter, receiver, &own, given)? {
        return Ok(Some(result));
    }
    plain(interpreter, receiver, &own, given)
}

/// What needs no copy of the elements.
fn simple(list: &Rc<List>, receiver: &Thing, given: &Given<'_>) -> Result<Option<Thing>> {
    let at = |place: i128| {
        let items = list.items.borrow();
        let place = if place < 0 { place + items.len() as i128 } else { place };
        usize::try_from(place).ok().and_then(|place| items.get(place).cloned()).unwrap_or(Thing::Nil)
    };
    Ok(Some(match (given.name, given.arguments) {
        ("length" | "size", []) => Thing::integer(list.items.borrow().len()),
        ("empty?", []) => Thing::Bool(list.items.borrow().is_empty()),
        ("[]" | "slice", [Thing::Integer(place)]) => at(*place),
        ("[]" | "at" | "slice", [place @ Thing::Float(_)]) | ("at", [place]) => at(integer_of(place)?),
        ("[]" | "slice", [Thing::Range(range)]) => {
            let items = list.items.borrow();
            let (from, count) = span_of(range, items.len())?;
            part(&items, from, count).map_or(Thing::Nil, Thing::array)
        }
        ("[]" | "slice", [from, count]) => {
            part(&list.items.borrow(), integer_of(from)?, integer_of(count)?).map_or(Thing::Nil, Thing::array)
        }
        ("[]" | "slice", [other]) => {
            return match other {
                Thing::Nil => type_error("no implicit conversion from nil to integer"),
                other => type_error(format!("no implicit conversion of {} into Integer", kind(other))),
            };
        }
        ("last", []) => list.items.borrow().last().cloned().unwrap_or(Thing::Nil),
        ("first", []) => list.items.borrow().first().cloned().unwrap_or(Thing::Nil),
        ("<<", [item]) => {
            if list.items.borrow().len() > MOST {
                return limit("it makes a list that is too long");
            }
            list.items.borrow_mut().push(item.clone());
            receiver.clone()
        }
        ("push" | "append", more) => {
            list.items.borrow_mut().extend(more.iter().cloned());
            receiver.clone()
        }
        ("pop", []) => list.items.borrow_mut().pop().unwrap_or(Thing::Nil),
        ("to_ary" | "to_a", []) => receiver.clone(),
        _ => return Ok(None),
    }))
}

/// Methods that change the array.
#[expect(clippy::too_many_lines, reason = "one arm for each method")]
fn changing(
    interpreter: &mut Interpreter<'_, '_, '_>,
    list: &Rc<List>,
    receiver: &Thing,
    own: &[Thing],
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let store = |items: Vec<Thing>| {
        *list.items.borrow_mut() = items;
        receiver.clone()
    };
    Ok(Some(match (given.name, given.arguments) {
        ("unshift" | "prepend", more) => {
            list.items.borrow_mut().splice(0..0, more.iter().cloned());
            receiver.clone()
        }
        ("shift", []) => {
            let mut items = list.items.borrow_mut();
            if items.is_empty() { Thing::Nil } else { items.remove(0) }
        }
        ("shift" | "pop", [count]) => {
            let count = count_of(count)?.min(own.len());
            let mut items = list.items.borrow_mut();
            let taken = if given.name == "shift" {
                items.drain(..count).collect()
            } else {
                let from = items.len() - count;
                items.split_off(from)
            };
            Thing::array(taken)
        }
        ("insert", [place, more @ ..]) => {
            let place = integer_of(place)?;
            let place = if place < 0 { place + own.len() as i128 + 1 } else { place };
            let Ok(place) = usize::try_from(place) else {
                return raise("IndexError", "index too small for array");
            };
            if place > MOST {
                return limit("it makes a list that is too long");
            }
            let mut items = list.items.borrow_mut();
            if place > items.len() {
                items.resize(place, Thing::Nil);
            }
            items.splice(place..place, more.iter().cloned());
            receiver.clone()
        }
        ("[]=", [Thing::Integer(place), value]) => {
            let mut items = list.items.borrow_mut();
            let at = if *place < 0 { place + items.len() as i128 } else { *place };
            let Ok(at) = usize::try_from(at) else {
                return raise(
                    "IndexError",
                    format!("index {place} too small for array; minimum: -{}", items.len()),
                );
            };
            if at > MOST {
                return beyond("it sets an element far behind the end");
            }
            if at >= items.len() {
                items.resize(at + 1, Thing::Nil);
            }
            items[at] = value.clone();
            value.clone()
        }
        ("[]=", [place, .., value]) => {
            let (from, count) = match (place, given.arguments) {
                (Thing::Range(range), [_, _]) => span_of(range, own.len())?,
                (from, [_, count, _]) => (integer_of(from)?, integer_of(count)?),
                _ => return Ok(None),
            };
            let from = if from < 0 { from + own.len() as i128 } else { from };
            let (Ok(from), Ok(count)) = (usize::try_from(from), usize::try_from(count)) else {
                return raise("IndexError", "index out of range");
            };
            let mut items = list.items.borrow_mut();
            if from > MOST {
                return beyond("it sets an element far behind the end");
            }
            if from > items.len() {
                items.resize(from, Thing::Nil);
            }
            let end = (from + count).min(items.len());
            let new = match value {
                Thing::Array(new) if !Rc::ptr_eq(new, list) => new.items.borrow().clone(),
                other => vec![other.clone()],
            };
            items.splice(from..end, new);
            value.clone()
        }
        ("delete", [unwanted]) => {
            let before = own.len();
            list.items.borrow_mut().retain(|item| !equal(item, unwanted));
            let found = list.items.borrow().len() != before;
            match (found, given.block) {
                (true, _) => unwanted.clone(),
                (false, Some(block)) => interpreter.call_block(block, vec![unwanted.clone()])?,
                (false, None) => Thing::Nil,
            }
        }
        ("delete_at", [place]) => {
            let place = integer_of(place)?;
            let place = if place < 0 { place + own.len() as i128 } else { place };
            match usize::try_from(place) {
                Ok(place) if place < own.len() => list.items.borrow_mut().remove(place),
                _ => Thing::Nil,
            }
        }
        ("slice!", arguments) => {
            let taken = call(interpreter, receiver, "slice", arguments.to_vec(), None)?;
            match (arguments, &taken) {
                ([Thing::Integer(_)], _) => {
                    call(interpreter, receiver, "delete_at", arguments.to_vec(), None)?;
                }
                (_, Thing::Array(part)) => {
                    let from = match arguments {
                        [Thing::Range(range)] => span_of(range, own.len())?.0,
                        [from, ..] => integer_of(from)?,
                        [] => return given.count("1..2"),
                    };
                    let from =
                        usize::try_from(if from < 0 { from + own.len() as i128 } else { from }).unwrap_or(0);
                    let count = part.items.borrow().len();
                    list.items.borrow_mut().drain(from..from + count);
                }
                _ => {}
            }
            taken
        }
        ("concat", others) => {
            let mut all = own.to_vec();
            for other in others {
                all.extend(array_of(other)?);
            }
            store(all)
        }
        ("replace", [other]) => store(array_of(other)?),
        ("clear", []) => store(Vec::new()),
        ("fill", [value]) => store(vec![value.clone(); own.len()]),
        ("compact!" | "uniq!" | "flatten!" | "reject!" | "select!" | "filter!", arguments) => {
            let plain = given.name.trim_end_matches('!');
            let result = call(interpreter, receiver, plain, arguments.to_vec(), given.block)?;
            let items = array_of(&result)?;
            let same = items.len() == own.len();
            store(items);
            if same { Thing::Nil } else { receiver.clone() }
        }
        ("sort!" | "reverse!" | "map!" | "collect!" | "sort_by!" | "shuffle!" | "rotate!", arguments)
            if given.block.is_some() || !matches!(given.name, "map!" | "collect!" | "sort_by!") =>
        {
            let plain = given.name.trim_end_matches('!');
            let result = call(interpreter, receiver, plain, arguments.to_vec(), given.block)?;
            store(array_of(&result)?)
        }
        ("delete_if" | "keep_if", []) => {
            let Some(block) = given.block else { return Ok(Some(enumerator(receiver, given))) };
            let plain = if given.name == "delete_if" { "reject" } else { "select" };
            let result = call(interpreter, receiver, plain, Vec::new(), Some(block))?;
            store(array_of(&result)?)
        }
        _ => return Ok(None),
    }))
}

#[expect(clippy::too_many_lines, reason = "one arm for each method")]
fn reading(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    own: &[Thing],
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("join", rest) => {
            let separator = match rest.first() {
                None | Some(Thing::Nil) => String::new(),
                Some(separator) => text_of(separator)?,
            };
            Thing::text(joined(interpreter, own, &separator, 0)?)
        }
        ("last", [count]) => {
            let skip = own.len().saturating_sub(count_of(count)?);
            Thing::array(own[skip..].to_vec())
        }
        ("index" | "find_index", []) if given.block.is_some() => {
            let Some(block) = given.block else { return Ok(None) };
            for (at, item) in own.iter().enumerate() {
                if interpreter.call_block(block, vec![item.clone()])?.truth() {
                    return Ok(Some(Thing::integer(at)));
                }
            }
            Thing::Nil
        }
        ("rindex", rest) => {
            for (at, item) in own.iter().enumerate().rev() {
                let hit = match (rest.first(), given.block) {
                    (Some(wanted), _) => equal(item, wanted),
                    (None, Some(block)) => interpreter.call_block(block, vec![item.clone()])?.truth(),
                    (None, None) => return Ok(None),
                };
                if hit {
                    return Ok(Some(Thing::integer(at)));
                }
            }
            Thing::Nil
        }
        ("index", [wanted]) => {
            own.iter().position(|item| equal(item, wanted)).map_or(Thing::Nil, Thing::integer)
        }
        ("flatten", rest) => {
            let depth = rest.first().map_or(Ok(-1), integer_of)?;
            let mut all = Vec::new();
            flat(interpreter, own, depth, &mut all)?;
            Thing::array(all)
        }
        ("compact", []) => Thing::array(own.iter().filter(|item| !item.is_nil()).cloned().collect()),
        ("reverse", []) => Thing::array(own.iter().rev().cloned().collect()),
        ("rotate", rest) => {
            let by = rest.first().map_or(Ok(1), integer_of)?;
            let mut items = own.to_vec();
            if !items.is_empty() {
                let by = by.rem_euclid(items.len() as i128) as usize;
                items.rotate_left(by);
            }
            Thing::array(items)
        }
        ("+", [other]) => {
            let mut all = own.to_vec();
            all.extend(array_of(other)?);
            Thing::array(all)
        }
        ("-" | "difference", others) => {
            let mut left = own.to_vec();
            for other in others {
                let unwanted: rustc_hash::FxHashSet<String> =
                    array_of(other)?.iter().map(Thing::identity).collect();
                left.retain(|item| !unwanted.contains(&item.identity()));
            }
            Thing::array(left)
        }
        ("&" | "intersection", others) => {
            let mut left = distinct(own.to_vec());
            for other in others {
                let wanted: rustc_hash::FxHashSet<String> =
                    array_of(other)?.iter().map(Thing::identity).collect();
                left.retain(|item| wanted.contains(&item.identity()));
            }
            Thing::array(left)
        }
        ("intersect?", [other]) => {
            let other = array_of(other)?;
            Thing::Bool(own.iter().any(|item| other.iter().any(|known| equal(item, known))))
        }
        ("|" | "union", others) => {
            let mut all = own.to_vec();
            for other in others {
                all.extend(array_of(other)?);
            }
            Thing::array(distinct(all))
        }
        ("*", [Thing::Text(separator)]) => {
            let separator = separator.value.borrow().clone();
            Thing::text(joined(interpreter, own, &separator, 0)?)
        }
        ("*", [times]) => {
            let times = count_of(times)?;
            if own.len().saturating_mul(times) > MOST {
                return limit("it makes a list that is too long");
            }
            let mut all = Vec::new();
            for _ in 0..times {
                all.extend(own.iter().cloned());
            }
            Thing::array(all)
        }
        ("dig", [place, rest @ ..]) => {
            let found = call(interpreter, receiver, "[]", vec![place.clone()], None)?;
            if rest.is_empty() || found.is_nil() {
                found
            } else {
                call(interpreter, &found, "dig", rest.to_vec(), None)?
            }
        }
        ("fetch", [place, rest @ ..]) => {
            let at = integer_of(place)?;
            let resolved = if at < 0 { at + own.len() as i128 } else { at };
            match (usize::try_from(resolved).ok().and_then(|at| own.get(at)), rest.first(), given.block) {
                (Some(item), _, _) => item.clone(),
                (None, _, Some(block)) => interpreter.call_block(block, vec![place.clone()])?,
                (None, Some(default), None) => default.clone(),
                (None, None, None) => {
                    let bounds = format!("{}...{}", -(own.len() as i128), own.len());
                    return raise("IndexError", format!("index {at} outside of array bounds: {bounds}"));
                }
            }
        }
        ("values_at", places) => {
            let mut picked = Vec::new();
            for place in places {
                picked.push(call(interpreter, receiver, "[]", vec![place.clone()], None)?);
            }
            Thing::array(picked)
        }
        ("transpose", []) => {
            let mut rows = Vec::new();
            for row in own {
                rows.push(array_of(row)?);
            }
            let width = rows.first().map_or(0, Vec::len);
            if let Some(row) = rows.iter().find(|row| row.len() != width) {
                return raise(
                    "IndexError",
                    format!("element size differs ({} should be {width})", row.len()),
                );
            }
            let column = |at: usize| Thing::array(rows.iter().map(|row| row[at].clone()).collect());
            Thing::array((0..width).map(column).collect())
        }
        ("assoc", [key]) => {
            let found = own.iter().find(|item| matches!(item, Thing::Array(pair) if pair.items.borrow().first().is_some_and(|first| equal(first, key))));
            found.cloned().unwrap_or(Thing::Nil)
        }
        ("product", others) => {
            let mut rows: Vec<Vec<Thing>> = own.iter().map(|item| vec![item.clone()]).collect();
            for other in others {
                let other = array_of(other)?;
                if rows.len().saturating_mul(other.len()) > MOST {
                    return limit("it makes a list that is too long");
                }
                rows = rows
                    .iter()
                    .flat_map(|row| {
                        other.iter().map(|item| row.iter().cloned().chain([item.clone()]).collect())
                    })
                    .collect();
            }
            Thing::array(rows.into_iter().map(Thing::array).collect())
        }
        ("combination" | "permutation", [count]) if given.block.is_none() => {
            let rows = chosen(own, count_of(count)?, given.name == "permutation")?;
            Thing::array(rows.into_iter().map(Thing::array).collect())
        }
        ("each_index", []) => {
            let Some(block) = given.block else { return Ok(Some(enumerator(receiver, given))) };
            for at in 0..own.len() {
                interpreter.call_block(block, vec![Thing::integer(at)])?;
            }
            receiver.clone()
        }
        ("<=>", [other]) => call(interpreter, receiver, "<=>", vec![other.clone()], None)?,
        ("pack", [format]) => super::others::pack(own, &text_of(format)?)?,
        ("bsearch" | "sample" | "shuffle", _) => {
            return beyond(format!("it calls {} of an array", given.name));
        }
        ("shelljoin", []) => {
            let words: Vec<String> =
                own.iter().map(|word| super::library::shell_escaped(&word.to_s())).collect();
            Thing::text(words.join(" "))
        }
        ("sort", []) => Thing::array(sorted(interpreter, own.to_vec(), None)?),
        ("to_h", _) if given.block.is_none() && !given.arguments.is_empty() => return given.count("0"),
        ("deconstruct", []) => receiver.clone(),
        _ => return Ok(None),
    }))
}

fn chosen(items: &[Thing], count: usize, ordered: bool) -> Result<Vec<Vec<Thing>>> {
    if count == 0 {
        return Ok(vec![Vec::new()]);
    }
    if count > items.len() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for at in 0..items.len() {
        let rest: Vec<Thing> = if ordered {
            items[..at].iter().chain(&items[at + 1..]).cloned().collect()
        } else {
            items[at + 1..].to_vec()
        };
        for mut row in chosen(&rest, count - 1, ordered)? {
            row.insert(0, items[at].clone());
            rows.push(row);
            if rows.len() > MOST {
                return limit("it makes a list that is too long");
            }
        }
    }
    Ok(rows)
}
