//! Methods of collections that take a block.

use super::super::interpreter::{Interpreter, Result, failed};
use super::super::things::{Table, Thing, compare};
use super::arrays::{array, sorted, store, table_from};
use super::{first, integer_of, to_array};
use crate::ruby::sort::sort_by;

/// Methods that take a block; nothing if the method does not.
pub(super) fn with_block(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    items: &[Thing],
    name: &str,
    arguments: &[Thing],
    block: &Thing,
) -> Result<Option<Thing>> {
    let mut ask = |item: &Thing| interpreter.call_block(block, vec![item.clone()]);
    Ok(Some(match name {
        "each" | "each_pair" | "each_entry" => {
            for item in items {
                ask(item)?;
            }
            receiver.clone()
        }
        "reverse_each" => {
            for item in items.iter().rev() {
                ask(item)?;
            }
            receiver.clone()
        }
        "map" | "collect" | "flat_map" | "map!" | "collect!" => {
            let mut results = Vec::with_capacity(items.len());
            for item in items {
                let result = ask(item)?;
                if name == "flat_map" { results.extend(to_array(&result)) } else { results.push(result) }
            }
            store(receiver, name.ends_with('!'), results)?
        }
        "select" | "filter" | "reject" | "select!" | "reject!" | "delete_if" | "keep_if" => {
            let wanted = name.starts_with("select") || name == "filter" || name == "keep_if";
            let mut kept = Vec::new();
            for item in items {
                if ask(item)?.truth() == wanted {
                    kept.push(item.clone());
                }
            }
            store(receiver, name.ends_with('!') || name.ends_with("_if"), kept)?
        }
        "any?" | "all?" | "none?" | "find" | "detect" | "find_index" | "index" => {
            let wanted = name != "all?";
            for (at, item) in items.iter().enumerate() {
                if ask(item)?.truth() == wanted {
                    return Ok(Some(match name {
                        "any?" => Thing::Bool(true),
                        "all?" | "none?" => Thing::Bool(false),
                        "find" | "detect" => item.clone(),
                        _ => Thing::Integer(at as i64),
                    }));
                }
            }
            match name {
                "any?" => Thing::Bool(false),
                "all?" | "none?" => Thing::Bool(true),
                _ => Thing::Nil,
            }
        }
        "count" => {
            let mut count = 0;
            for item in items {
                count += i64::from(ask(item)?.truth());
            }
            Thing::Integer(count)
        }
        "sort" | "sort!" => {
            let result = sorted(interpreter, items.to_vec(), Some(block))?;
            store(receiver, name == "sort!", result)?
        }
        "sort_by" | "min_by" | "max_by" | "uniq" | "group_by" | "partition" => {
            let mut marked = Vec::with_capacity(items.len());
            for item in items {
                marked.push((ask(item)?, item.clone()));
            }
            by_mark(name, marked)?
        }
        "each_with_index" | "each_index" | "map_with_index" => {
            for (at, item) in items.iter().enumerate() {
                let index = Thing::Integer(at as i64);
                let given = if name == "each_index" { vec![index] } else { vec![item.clone(), index] };
                interpreter.call_block(block, given)?;
            }
            receiver.clone()
        }
        "with_index" => {
            let from = arguments.first().map_or(Ok(0), integer_of)?;
            let mut results = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                let given = vec![item.clone(), Thing::Integer(from + at as i64)];
                results.push(interpreter.call_block(block, given)?);
            }
            Thing::array(results)
        }
        "each_with_object" => {
            let memo = first(arguments);
            for item in items {
                interpreter.call_block(block, vec![item.clone(), memo.clone()])?;
            }
            memo
        }
        "inject" | "reduce" => {
            let mut rest = items.iter();
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
        "each_slice" => {
            let size = usize::try_from(integer_of(&first(arguments))?).unwrap_or(1).max(1);
            for chunk in items.chunks(size) {
                interpreter.call_block(block, vec![Thing::array(chunk.to_vec())])?;
            }
            receiver.clone()
        }
        "sum" => {
            let mut results = Vec::new();
            for item in items {
                results.push(ask(item)?);
            }
            array(interpreter, &Thing::array(results), "sum", &[], None)?
        }
        "to_h" => {
            let mut pairs = Vec::new();
            for item in items {
                let pair = to_array(&ask(item)?);
                pairs.push((
                    pair.first().cloned().unwrap_or(Thing::Nil),
                    pair.get(1).cloned().unwrap_or(Thing::Nil),
                ));
            }
            table_from(pairs)
        }
        _ => return Ok(None),
    }))
}

pub(super) fn by_mark(name: &str, marked: Vec<(Thing, Thing)>) -> Result<Thing> {
    let items = |marked: Vec<(Thing, Thing)>| marked.into_iter().map(|(_, item)| item);
    Ok(match name {
        "uniq" => {
            let seen: Table = marked.into_iter().fold(Table::new(), |mut seen, (mark, item)| {
                seen.entry(mark.identity()).or_insert((item, Thing::Nil));
                seen
            });
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
                    group.borrow_mut().push(item);
                }
            }
            Thing::table(groups)
        }
        _ => {
            let sorted: Result<Vec<(Thing, Thing)>> =
                sort_by(marked, &mut |a: &(Thing, Thing), b: &(Thing, Thing)| match compare(&a.0, &b.0) {
                    Some(order) => Ok(order),
                    None => failed(format!("comparison of {} with {} failed", a.0.class(), b.0.class())),
                });
            let mut sorted = items(sorted?);
            match name {
                "min_by" => sorted.next().unwrap_or(Thing::Nil),
                "max_by" => sorted.next_back().unwrap_or(Thing::Nil),
                _ => Thing::array(sorted.collect()),
            }
        }
    })
}
