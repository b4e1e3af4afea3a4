//! What all collections have, over their elements.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use setpoint_source::Limit;

use super::general::has_own_equality;
use super::{Given, MOST, call, count_of, first, integer_of, kind, put, spread, to_array};
use crate::ruby::sort::sort_by;
use crate::ruby_language::interpreter::{Interpreter, Result, argument_error, beyond, limit, type_error};
use crate::ruby_language::things::{Enumerator, List, Table, Thing, compare, equal};

/// The elements of a collection; those of a hash are pairs.
pub(in crate::ruby_language) fn items(
    interpreter: &mut Interpreter<'_, '_, '_>,
    value: &Thing,
) -> Result<Vec<Thing>> {
    match value {
        Thing::Array(list) => Ok(list.items.borrow().clone()),
        Thing::Hash(map) => Ok(pairs(&map.table.borrow())),
        Thing::Set(map) => Ok(map.table.borrow().values().map(|(item, _)| item.clone()).collect()),
        Thing::Range(range) => super::others::range_items(range),
        Thing::Enumerator(enumerator) => {
            let collected = Rc::new(RefCell::new(Vec::new()));
            let into = Rc::clone(&collected);
            let collect = Thing::Native(Rc::new(move |interpreter, arguments| {
                interpreter.step()?;
                if into.borrow().len() > MOST {
                    return limit("it makes a list that is too long");
                }
                into.borrow_mut().push(packed(arguments));
                Ok(Thing::Nil)
            }));
            let enumerator = Rc::clone(enumerator);
            call(
                interpreter,
                &enumerator.receiver,
                &enumerator.method,
                enumerator.arguments.clone(),
                Some(&collect),
            )?;
            let items = collected.borrow().clone();
            Ok(items)
        }
        Thing::Object(_) => {
            let collected = Rc::new(RefCell::new(Vec::new()));
            let into = Rc::clone(&collected);
            let collect = Thing::Native(Rc::new(move |_, arguments| {
                into.borrow_mut().push(packed(arguments));
                Ok(Thing::Nil)
            }));
            call(interpreter, value, "each", Vec::new(), Some(&collect))?;
            let items = collected.borrow().clone();
            Ok(items)
        }
        other => super::no_method(other, "each"),
    }
}

pub(super) fn packed(mut arguments: Vec<Thing>) -> Thing {
    if arguments.len() == 1 { arguments.remove(0) } else { Thing::array(arguments) }
}

pub(super) fn pairs(table: &Table) -> Vec<Thing> {
    table.values().map(|(key, value)| Thing::array(vec![key.clone(), value.clone()])).collect()
}

pub(super) fn enumerator(receiver: &Thing, given: &Given<'_>) -> Thing {
    Thing::Enumerator(Rc::new(Enumerator {
        receiver: receiver.clone(),
        method: given.name.into(),
        arguments: given.arguments.to_vec(),
    }))
}

/// `<`, `>`, `<=` and `>=` of what has an order.
pub(super) fn compared(receiver: &Thing, operator: &str, other: &Thing) -> Result<Thing> {
    let order = order(receiver, other)?;
    Ok(Thing::Bool(match operator {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    }))
}

pub(super) fn order(a: &Thing, b: &Thing) -> Result<Ordering> {
    match compare(a, b) {
        Some(order) => Ok(order),
        None => {
            let right = match b {
                Thing::Integer(_) | Thing::Float(_) | Thing::Nil | Thing::Bool(_) => b.inspect(),
                other => other.class(),
            };
            argument_error(format!("comparison of {} with {right} failed", a.class()))
        }
    }
}

/// `<=>`, also of objects that define it.
fn order_any(interpreter: &mut Interpreter<'_, '_, '_>, a: &Thing, b: &Thing) -> Result<Ordering> {
    if matches!(a, Thing::Object(_)) {
        let answer = call(interpreter, a, "<=>", vec![b.clone()], None)?;
        return match answer {
            Thing::Integer(number) => Ok(number.cmp(&0)),
            _ => argument_error(format!("comparison of {} with {} failed", a.class(), b.class())),
        };
    }
    order(a, b)
}

pub(super) fn sorted(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Vec<Thing>> {
    sort_by(items, &mut |a: &Thing, b: &Thing| -> Result<Ordering> {
        if let Some(block) = block {
            let order = interpreter.call_block(block, vec![a.clone(), b.clone()])?;
            return match &order {
                Thing::Integer(number) => Ok(number.cmp(&0)),
                Thing::Float(number) => Ok(number.partial_cmp(&0.0).unwrap_or(Ordering::Equal)),
                _ => argument_error(format!("comparison of {} with {} failed", a.class(), b.class())),
            };
        }
        order_any(interpreter, a, b)
    })
}

pub(super) fn distinct(items: Vec<Thing>) -> Vec<Thing> {
    let mut seen = Table::new();
    for item in items {
        seen.entry(item.identity()).or_insert((item, Thing::Nil));
    }
    seen.into_values().map(|(item, _)| item).collect()
}

/// Distinct things, by the word of their classes where these have one.
fn distinct_by_own_word(interpreter: &mut Interpreter<'_, '_, '_>, items: &[Thing]) -> Result<Vec<Thing>> {
    if !items.iter().any(has_own_equality) {
        return Ok(distinct(items.to_vec()));
    }
    let outer = std::mem::replace(&mut interpreter.tells_apart, true);
    let mut kept: Vec<(String, Thing)> = Vec::new();
    let result = items.iter().try_for_each(|item| {
        let number = if has_own_equality(item) {
            call(interpreter, item, "hash", Vec::new(), None)?.identity()
        } else {
            item.identity()
        };
        for (known, other) in &kept {
            if *known == number && call(interpreter, item, "eql?", vec![other.clone()], None)?.truth() {
                return Ok(());
            }
        }
        kept.push((number, item.clone()));
        Ok(())
    });
    interpreter.tells_apart = outer;
    result.map(|()| kept.into_iter().map(|(_, item)| item).collect())
}

/// Refuses to compare objects whose classes say themselves which are equal, where nobody asks the classes.
pub(super) fn refuse_own_equality(items: &[Thing], method: &str) -> Result<()> {
    const COMPARING: [&str; 18] = [
        "include?",
        "member?",
        "find_index",
        "index",
        "rindex",
        "count",
        "delete",
        "tally",
        "to_set",
        "to_h",
        "-",
        "difference",
        "&",
        "intersection",
        "intersect?",
        "|",
        "union",
        "==",
    ];
    if COMPARING.contains(&method) && items.iter().any(has_own_equality) {
        return beyond(format!("it calls {method} of objects that say themselves which are equal"));
    }
    Ok(())
}

pub(super) fn joined(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: &[Thing],
    separator: &str,
    depth: usize,
) -> Result<String> {
    if depth > 100 {
        return argument_error("recursive array join");
    }
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            interpreter.append(&mut out, separator)?;
        }
        match item {
            Thing::Array(inner) => {
                let inner = inner.items.borrow().clone();
                let inner = joined(interpreter, &inner, separator, depth + 1)?;
                interpreter.append(&mut out, &inner)?;
            }
            other => {
                let text = interpreter.to_s(other)?;
                interpreter.append(&mut out, &text)?;
            }
        }
    }
    Ok(out)
}

/// Arrays are nested no deeper than this where they are walked.
const MAX_NESTED: Limit = Limit::new(200);

/// Puts the elements of arrays in the place of the arrays, so many levels deep, or all of them if the number is negative.
pub(super) fn flat(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: &[Thing],
    levels: i128,
    into: &mut Vec<Thing>,
) -> Result<()> {
    flat_within(interpreter, items, levels, &mut Vec::new(), into)
}

fn flat_within(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: &[Thing],
    levels: i128,
    open: &mut Vec<Rc<List>>,
    into: &mut Vec<Thing>,
) -> Result<()> {
    for item in items {
        // An array that holds itself twice has no end of empty ones.
        interpreter.step()?;
        match item {
            Thing::Array(inner) if levels != 0 => {
                if levels < 0 && open.iter().any(|outer| Rc::ptr_eq(outer, inner)) {
                    return argument_error("tried to flatten recursive array");
                }
                if open.len() >= MAX_NESTED {
                    return limit("it flattens an array that is nested too deeply");
                }
                open.push(Rc::clone(inner));
                let own = inner.items.borrow().clone();
                flat_within(interpreter, &own, if levels < 0 { levels } else { levels - 1 }, open, into)?;
                open.pop();
            }
            _ if into.len() >= MOST => return limit(format!("it flattens more than {MOST} elements")),
            other => into.push(other.clone()),
        }
    }
    Ok(())
}

/// Pairs as a hash.
pub(super) fn table_of(items: &[Thing]) -> Result<Thing> {
    let mut table = Table::new();
    for (at, item) in items.iter().enumerate() {
        match item {
            Thing::Array(pair) => match pair.items.borrow().as_slice() {
                [key, value] => put(&mut table, super::as_key(key.clone()), value.clone()),
                other => {
                    return argument_error(format!(
                        "wrong array length at {at} (expected 2, was {})",
                        other.len()
                    ));
                }
            },
            other => {
                return type_error(format!("wrong element type {} at {at} (expected array)", kind(other)));
            }
        }
    }
    Ok(Thing::table(table))
}

pub(super) fn sum(
    interpreter: &mut Interpreter<'_, '_, '_>,
    items: Vec<Thing>,
    from: Thing,
) -> Result<Thing> {
    // Ruby adds floats with a compensation for lost digits.
    if matches!(from, Thing::Integer(_) | Thing::Float(_))
        && items.iter().any(|item| matches!(item, Thing::Float(_)))
        && items.iter().all(|item| matches!(item, Thing::Float(_) | Thing::Integer(_)))
    {
        let float = |thing: &Thing| match thing {
            Thing::Integer(number) => *number as f64,
            Thing::Float(number) => *number,
            _ => 0.0,
        };
        let (mut total, mut lost) = (float(&from), 0.0_f64);
        for item in &items {
            let next = float(item);
            let sum = total + next;
            lost += if total.abs() >= next.abs() { (total - sum) + next } else { (next - sum) + total };
            total = sum;
        }
        return Ok(Thing::Float(total + lost));
    }
    let mut total = from;
    for item in items {
        total = call(interpreter, &total, "+", vec![item], None)?;
    }
    Ok(total)
}

/// Methods without a block.
pub(super) fn plain(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    own: &[Thing],
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let at = |place: Option<usize>| place.map_or(Thing::Nil, Thing::integer);
    Ok(Some(match (given.name, given.arguments) {
        ("count", []) => Thing::integer(own.len()),
        ("count", [wanted]) => Thing::integer(own.iter().filter(|item| equal(item, wanted)).count()),
        ("any?", []) => Thing::Bool(own.iter().any(Thing::truth)),
        ("all?", []) => Thing::Bool(own.iter().all(Thing::truth)),
        ("none?", []) => Thing::Bool(!own.iter().any(Thing::truth)),
        ("one?", []) => Thing::Bool(own.iter().filter(|item| item.truth()).count() == 1),
        ("any?" | "all?" | "none?" | "one?", [pattern]) => {
            let mut hits = 0;
            for item in own {
                hits += usize::from(interpreter.fits(pattern, item)?);
            }
            Thing::Bool(match given.name {
                "any?" => hits > 0,
                "all?" => hits == own.len(),
                "none?" => hits == 0,
                _ => hits == 1,
            })
        }
        ("to_a" | "entries" | "force", []) => Thing::array(own.to_vec()),
        ("to_set", []) => Thing::set(own.to_vec()),
        ("lazy", []) => Thing::array(own.to_vec()),
        ("first", []) => own.first().cloned().unwrap_or(Thing::Nil),
        ("first" | "take", [count]) => Thing::array(own.iter().take(count_of(count)?).cloned().collect()),
        ("drop", [count]) => Thing::array(own.iter().skip(count_of(count)?).cloned().collect()),
        ("include?" | "member?", [wanted]) => {
            let mut found = false;
            for item in own {
                found = found || equal(item, wanted);
            }
            Thing::Bool(found)
        }
        ("find_index", [wanted]) => at(own.iter().position(|item| equal(item, wanted))),
        ("uniq", []) => Thing::array(distinct_by_own_word(interpreter, own)?),
        ("sort", []) => Thing::array(sorted(interpreter, own.to_vec(), None)?),
        ("max" | "min", []) => {
            let mut best: Option<Thing> = None;
            for item in own {
                let better = match &best {
                    None => true,
                    Some(best) => {
                        let order = order_any(interpreter, item, best)?;
                        if given.name == "max" { order.is_gt() } else { order.is_lt() }
                    }
                };
                if better {
                    best = Some(item.clone());
                }
            }
            best.unwrap_or(Thing::Nil)
        }
        ("max" | "min", [count]) => {
            let mut sorted = sorted(interpreter, own.to_vec(), None)?;
            if given.name == "max" {
                sorted.reverse();
            }
            sorted.truncate(count_of(count)?);
            Thing::array(sorted)
        }
        ("minmax", []) => {
            let sorted = sorted(interpreter, own.to_vec(), None)?;
            let end = |end: Option<&Thing>| end.cloned().unwrap_or(Thing::Nil);
            Thing::array(vec![end(sorted.first()), end(sorted.last())])
        }
        ("sum", rest) => {
            let from = rest.first().cloned().unwrap_or(Thing::Integer(0));
            sum(interpreter, own.to_vec(), from)?
        }
        ("tally", []) => {
            let mut counts = Table::new();
            for item in own {
                let entry =
                    counts.entry(item.identity()).or_insert_with(|| (item.clone(), Thing::Integer(0)));
                if let Thing::Integer(count) = &mut entry.1 {
                    *count += 1;
                }
            }
            Thing::table(counts)
        }
        ("zip", others) => {
            let mut columns = Vec::new();
            for other in others {
                columns.push(to_array(interpreter, other)?);
            }
            let row = |(at, item): (usize, &Thing)| {
                let more = columns.iter().map(|column| column.get(at).cloned().unwrap_or(Thing::Nil));
                Thing::array(std::iter::once(item.clone()).chain(more).collect())
            };
            Thing::array(own.iter().enumerate().map(row).collect())
        }
        ("to_h", []) => table_of(own)?,
        ("inject" | "reduce", [Thing::Symbol(operation)]) => {
            let mut rest = own.iter();
            let Some(mut total) = rest.next().cloned() else { return Ok(Some(Thing::Nil)) };
            for item in rest {
                total = call(interpreter, &total, operation, vec![item.clone()], None)?;
            }
            total
        }
        ("inject" | "reduce", [from, Thing::Symbol(operation)]) => {
            let mut total = from.clone();
            for item in own {
                total = call(interpreter, &total, operation, vec![item.clone()], None)?;
            }
            total
        }
        ("grep" | "grep_v", [pattern]) if given.block.is_none() => {
            let mut kept = Vec::new();
            for item in own {
                if interpreter.fits(pattern, item)? == (given.name == "grep") {
                    kept.push(item.clone());
                }
            }
            Thing::array(kept)
        }
        ("each_entry", []) => Thing::array(own.to_vec()),
        ("each_slice" | "each_cons", [size]) => {
            let size = count_of(size)?;
            if size == 0 {
                return argument_error("invalid slice size");
            }
            let _ = size;
            enumerator(receiver, given)
        }
        (
            "each" | "map" | "collect" | "select" | "filter" | "reject" | "each_with_index" | "flat_map"
            | "collect_concat" | "group_by" | "partition" | "find_index" | "sort_by" | "min_by" | "max_by"
            | "find" | "detect" | "each_pair" | "each_key" | "each_value" | "reverse_each" | "each_index"
            | "filter_map" | "cycle" | "map!" | "collect!" | "delete_if" | "take_while" | "drop_while"
            | "chunk_while" | "slice_when" | "uniq_by" | "find_all" | "sum_by" | "keep_if"
            | "each_with_object" | "transform_values" | "transform_keys",
            _,
        ) => enumerator(receiver, given),
        _ => return Ok(None),
    }))
}

/// Methods that take a block; nothing if the method does not.
#[expect(clippy::too_many_lines, reason = "one arm for each method")]
pub(super) fn with_block(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    own: &[Thing],
    given: &Given<'_>,
    block: &Thing,
) -> Result<Option<Thing>> {
    let arguments = given.arguments;
    let mut ask = |item: &Thing| interpreter.call_block(block, vec![item.clone()]);
    Ok(Some(match given.name {
        "each" | "each_pair" | "each_entry" => {
            for item in own {
                ask(item)?;
            }
            receiver.clone()
        }
        "reverse_each" => {
            for item in own.iter().rev() {
                ask(item)?;
            }
            receiver.clone()
        }
        "map" | "collect" | "flat_map" | "collect_concat" => {
            let mut results = Vec::with_capacity(own.len());
            for item in own {
                let result = ask(item)?;
                if given.name.starts_with("flat") || given.name == "collect_concat" {
                    results.extend(spread(&result));
                } else {
                    results.push(result);
                }
            }
            Thing::array(results)
        }
        "filter_map" => {
            let mut results = Vec::new();
            for item in own {
                let result = ask(item)?;
                if result.truth() {
                    results.push(result);
                }
            }
            Thing::array(results)
        }
        "select" | "filter" | "find_all" | "reject" => {
            let mut kept = Vec::new();
            for item in own {
                if ask(item)?.truth() != (given.name == "reject") {
                    kept.push(item.clone());
                }
            }
            Thing::array(kept)
        }
        "grep" | "grep_v" => {
            let pattern = first(arguments);
            let mut kept = Vec::new();
            for item in own {
                if interpreter.fits(&pattern, item)? == (given.name == "grep") {
                    kept.push(interpreter.call_block(block, vec![item.clone()])?);
                }
            }
            Thing::array(kept)
        }
        "any?" | "all?" | "none?" | "find" | "detect" | "find_index" if arguments.is_empty() => {
            let wanted = given.name != "all?";
            for (at, item) in own.iter().enumerate() {
                if ask(item)?.truth() == wanted {
                    return Ok(Some(match given.name {
                        "any?" => Thing::Bool(true),
                        "all?" | "none?" => Thing::Bool(false),
                        "find" | "detect" => item.clone(),
                        _ => Thing::integer(at),
                    }));
                }
            }
            match given.name {
                "any?" => Thing::Bool(false),
                "all?" | "none?" => Thing::Bool(true),
                _ => Thing::Nil,
            }
        }
        "one?" | "count" if arguments.is_empty() => {
            let mut count = 0_usize;
            for item in own {
                count += usize::from(ask(item)?.truth());
            }
            if given.name == "count" { Thing::integer(count) } else { Thing::Bool(count == 1) }
        }
        "take_while" | "drop_while" => {
            let mut until = own.len();
            for (at, item) in own.iter().enumerate() {
                if !ask(item)?.truth() {
                    until = at;
                    break;
                }
            }
            let part = if given.name == "take_while" { &own[..until] } else { &own[until..] };
            Thing::array(part.to_vec())
        }
        "sort" => Thing::array(sorted(interpreter, own.to_vec(), Some(block))?),
        "max" | "min" => {
            let mut sorted = sorted(interpreter, own.to_vec(), Some(block))?;
            if given.name == "max" {
                sorted.reverse();
            }
            match arguments.first() {
                Some(count) => {
                    sorted.truncate(count_of(count)?);
                    Thing::array(sorted)
                }
                None => sorted.first().cloned().unwrap_or(Thing::Nil),
            }
        }
        "sort_by" | "min_by" | "max_by" | "uniq" | "group_by" | "partition" | "minmax_by" => {
            let mut marked = Vec::with_capacity(own.len());
            for item in own {
                marked.push((ask(item)?, item.clone()));
            }
            by_mark(given.name, marked)?
        }
        "each_with_index" => {
            for (at, item) in own.iter().enumerate() {
                interpreter.call_block(block, vec![item.clone(), Thing::integer(at)])?;
            }
            receiver.clone()
        }
        "each_with_object" => {
            let memo = first(arguments);
            for item in own {
                interpreter.call_block(block, vec![item.clone(), memo.clone()])?;
            }
            memo
        }
        "inject" | "reduce" => {
            let mut rest = own.iter();
            let mut memo = match arguments.first() {
                Some(memo) => memo.clone(),
                None => match rest.next() {
                    Some(memo) => memo.clone(),
                    None => return Ok(Some(Thing::Nil)),
                },
            };
            for item in rest {
                memo = interpreter.call_block(block, vec![memo, item.clone()])?;
            }
            memo
        }
        "each_slice" | "each_cons" => {
            let size = count_of(&first(arguments))?;
            if size == 0 {
                return argument_error("invalid slice size");
            }
            let parts: Vec<Vec<Thing>> = if given.name == "each_slice" {
                own.chunks(size).map(<[Thing]>::to_vec).collect()
            } else {
                own.windows(size).map(<[Thing]>::to_vec).collect()
            };
            for part in parts {
                interpreter.call_block(block, vec![Thing::array(part)])?;
            }
            receiver.clone()
        }
        "chunk_while" | "slice_when" => {
            let mut parts: Vec<Vec<Thing>> = Vec::new();
            for item in own {
                let last = parts.last().and_then(|part| part.last()).cloned();
                let splits = match last {
                    None => true,
                    Some(last) => {
                        let answer = interpreter.call_block(block, vec![last, item.clone()])?.truth();
                        answer == (given.name == "slice_when")
                    }
                };
                match parts.last_mut() {
                    Some(part) if !splits => part.push(item.clone()),
                    _ => parts.push(vec![item.clone()]),
                }
            }
            Thing::array(parts.into_iter().map(Thing::array).collect())
        }
        "sum" => {
            let mut results = Vec::new();
            for item in own {
                results.push(ask(item)?);
            }
            let from = arguments.first().cloned().unwrap_or(Thing::Integer(0));
            sum(interpreter, results, from)?
        }
        "to_h" | "to_set" => {
            let mut results = Vec::new();
            for item in own {
                results.push(ask(item)?);
            }
            if given.name == "to_h" { table_of(&results)? } else { Thing::set(results) }
        }
        "zip" => return beyond("it zips with a block"),
        "cycle" if own.is_empty() => Thing::Nil,
        "cycle" => match arguments.first() {
            Some(times) => {
                for _ in 0..integer_of(times)?.max(0) {
                    for item in own {
                        ask(item)?;
                    }
                }
                Thing::Nil
            }
            None => loop {
                for item in own {
                    ask(item)?;
                }
            },
        },
        _ => return Ok(None),
    }))
}

fn by_mark(name: &str, marked: Vec<(Thing, Thing)>) -> Result<Thing> {
    let items = |marked: Vec<(Thing, Thing)>| marked.into_iter().map(|(_, item)| item);
    Ok(match name {
        "uniq" => {
            let mut seen = Table::new();
            for (mark, item) in marked {
                seen.entry(mark.identity()).or_insert((item, Thing::Nil));
            }
            Thing::array(seen.into_values().map(|(item, _)| item).collect())
        }
        "partition" => {
            let (yes, no): (Vec<_>, Vec<_>) = marked.into_iter().partition(|(mark, _)| mark.truth());
            Thing::array(vec![Thing::array(items(yes).collect()), Thing::array(items(no).collect())])
        }
        "group_by" => {
            let mut groups = Table::new();
            for (mark, item) in marked {
                let entry = groups.entry(mark.identity()).or_insert_with(|| (mark, Thing::array(Vec::new())));
                if let Thing::Array(group) = &entry.1 {
                    group.items.borrow_mut().push(item);
                }
            }
            Thing::table(groups)
        }
        "min_by" | "max_by" => {
            let mut best: Option<(Thing, Thing)> = None;
            for (mark, item) in marked {
                let better = match &best {
                    None => true,
                    Some((known, _)) => {
                        let order = order(&mark, known)?;
                        if name == "max_by" { order.is_gt() } else { order.is_lt() }
                    }
                };
                if better {
                    best = Some((mark, item));
                }
            }
            best.map_or(Thing::Nil, |(_, item)| item)
        }
        _ => {
            let sorted: Result<Vec<(Thing, Thing)>> =
                sort_by(marked, &mut |a: &(Thing, Thing), b: &(Thing, Thing)| order(&a.0, &b.0));
            let sorted: Vec<Thing> = items(sorted?).collect();
            if name == "minmax_by" {
                let end = |end: Option<&Thing>| end.cloned().unwrap_or(Thing::Nil);
                return Ok(Thing::array(vec![end(sorted.first()), end(sorted.last())]));
            }
            Thing::array(sorted)
        }
    })
}
