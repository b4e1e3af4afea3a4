//! Methods of ranges, sets, procedures, enumerators, bytes, addresses and URIs.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;

use setpoint_puppet_values::ruby::base64;

use super::enumerable::{compared, enumerator as new_enumerator, packed, plain, with_block};
use super::{Given, MOST, bytes_of, call, count_of, first, integer_of, items, kind, text_of, to_array};
use crate::ruby::strings;
use crate::ruby_language::interpreter::{Interpreter, Result, argument_error, beyond, limit, type_error};
use crate::ruby_language::things::{Address, Enumerator, Map, Range, Thing, Uri, compare, equal};

/// The texts from one to another.
pub(super) fn texts_up_to(from: &str, to: &str, exclusive: bool) -> Result<Vec<Thing>> {
    let mut texts = Vec::new();
    for text in strings::upto(from, to, exclusive) {
        if texts.len() >= MOST {
            return limit("it makes a list that is too long");
        }
        texts.push(Thing::text(text));
    }
    Ok(texts)
}

pub(super) fn range_items(range: &Range) -> Result<Vec<Thing>> {
    match (&range.from, &range.to) {
        (Thing::Integer(from), to @ (Thing::Integer(_) | Thing::Float(_))) => {
            let to = match to {
                Thing::Integer(to) => to - i128::from(range.exclusive),
                Thing::Float(to) if to.is_finite() => integer_of(&Thing::Float(to.floor()))?,
                _ => return beyond("it walks a range without an end"),
            };
            if usize::try_from(to.saturating_sub(*from)).is_ok_and(|length| length > MOST) {
                return limit("it makes a list that is too long");
            }
            Ok((*from..=to).map(Thing::Integer).collect())
        }
        (Thing::Text(from), Thing::Text(to)) => {
            let (from, to) = (from.value.borrow(), to.value.borrow());
            // The empty text has no next one.
            if from.is_empty() {
                return Ok(vec![Thing::text("")]);
            }
            texts_up_to(&from, &to, range.exclusive)
        }
        (Thing::Address(from), Thing::Address(to)) => {
            let width = |address: IpAddr| match address {
                IpAddr::V4(address) => u128::from(u32::from(address)),
                IpAddr::V6(address) => u128::from(address),
            };
            let (first, last) = (width(from.address), width(to.address));
            if usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX) > MOST {
                return limit("it makes a list that is too long");
            }
            let end = if range.exclusive { last } else { last.saturating_add(1) };
            let at = |number: u128| match from.address {
                IpAddr::V4(_) => IpAddr::V4(u32::try_from(number).unwrap_or(u32::MAX).into()),
                IpAddr::V6(_) => IpAddr::V6(number.into()),
            };
            let wrap = |number| Thing::Address(Rc::new(Address { address: at(number), prefix: from.prefix }));
            Ok((first..end).map(wrap).collect())
        }
        (Thing::Integer(_), Thing::Nil) => beyond("it walks a range without an end"),
        (from, _) => type_error(format!("can't iterate from {}", from.class())),
    }
}

/// Whether a value lies between the ends.
pub(in crate::ruby_language) fn covers(range: &Range, value: &Thing) -> bool {
    let above = range.from.is_nil() || compare(&range.from, value).is_some_and(std::cmp::Ordering::is_le);
    let below = range.to.is_nil()
        || compare(value, &range.to)
            .is_some_and(|order| if range.exclusive { order.is_lt() } else { order.is_le() });
    above && below
}

pub(super) fn range(
    interpreter: &mut Interpreter<'_, '_, '_>,
    range: &Rc<Range>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("first" | "begin", []) => range.from.clone(),
        ("last" | "end", []) => range.to.clone(),
        ("min", []) if matches!(range.from, Thing::Integer(_)) && given.block.is_none() => {
            if compare(&range.from, &range.to).is_some_and(std::cmp::Ordering::is_le) {
                range.from.clone()
            } else {
                Thing::Nil
            }
        }
        ("max", []) if matches!(range.to, Thing::Integer(_)) && !range.exclusive && given.block.is_none() => {
            if compare(&range.from, &range.to).is_some_and(std::cmp::Ordering::is_le) {
                range.to.clone()
            } else {
                Thing::Nil
            }
        }
        ("include?" | "member?" | "cover?" | "===", [value]) => match (&range.from, given.name, value) {
            (_, "cover?", Thing::Range(inner)) => {
                Thing::Bool(covers(range, &inner.from) && covers(range, &inner.to))
            }
            (Thing::Text(_), "include?" | "member?", _) => {
                let own = range_items(range)?;
                Thing::Bool(own.iter().any(|item| equal(item, value)))
            }
            _ => Thing::Bool(covers(range, value)),
        },
        ("exclude_end?", []) => Thing::Bool(range.exclusive),
        ("step" | "%", [by]) => {
            let by = count_of(by)?;
            if by == 0 {
                return argument_error("step can't be 0");
            }
            let own: Vec<Thing> = range_items(range)?.into_iter().step_by(by).collect();
            match given.block {
                Some(block) => {
                    for item in own {
                        interpreter.call_block(block, vec![item])?;
                    }
                    receiver.clone()
                }
                None => Thing::array(own),
            }
        }
        // What ends early may walk a range without an end.
        ("each" | "find" | "detect" | "each_with_index", [])
            if range.to.is_nil() && given.block.is_some() =>
        {
            let (Thing::Integer(from), Some(block)) = (&range.from, given.block) else { return Ok(None) };
            let mut at = *from;
            loop {
                let answer = interpreter.call_block(block, vec![Thing::Integer(at)])?;
                if given.name != "each" && answer.truth() {
                    return Ok(Some(Thing::Integer(at)));
                }
                at += 1;
            }
        }
        ("size" | "count" | "length", []) if given.block.is_none() => match (&range.from, &range.to) {
            (Thing::Integer(from), Thing::Integer(to)) => {
                Thing::Integer((to - from + i128::from(!range.exclusive)).max(0))
            }
            (Thing::Text(_), _) if given.name == "size" => Thing::Nil,
            _ => Thing::integer(range_items(range)?.len()),
        },
        ("sum", []) if given.block.is_none() => {
            let own = range_items(range)?;
            super::enumerable::sum(interpreter, own, Thing::Integer(0))?
        }
        ("last", [count]) => {
            let own = Thing::array(range_items(range)?);
            call(interpreter, &own, "last", vec![count.clone()], None)?
        }
        _ => {
            let own = range_items(range)?;
            if let Some(block) = given.block
                && let Some(result) = with_block(interpreter, receiver, &own, given, block)?
            {
                return Ok(Some(result));
            }
            return plain(interpreter, receiver, &own, given);
        }
    }))
}

pub(super) fn set(
    interpreter: &mut Interpreter<'_, '_, '_>,
    map: &Rc<Map>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let own: Vec<Thing> = map.table.borrow().values().map(|(item, _)| item.clone()).collect();
    interpreter.look_through(own.len())?;
    let has = |item: &Thing| map.table.borrow().contains_key(&item.identity());
    Ok(Some(match (given.name, given.arguments) {
        ("size" | "length" | "count", []) if given.block.is_none() => Thing::integer(own.len()),
        ("empty?", []) => Thing::Bool(own.is_empty()),
        ("include?" | "member?" | "===" | "contain?", [item]) => Thing::Bool(has(item)),
        ("add" | "<<", [item]) => {
            let identity = item.identity();
            map.table.borrow_mut().entry(identity).or_insert((item.clone(), Thing::Nil));
            receiver.clone()
        }
        ("add?", [item]) => {
            if has(item) {
                return Ok(Some(Thing::Nil));
            }
            let identity = item.identity();
            map.table.borrow_mut().insert(identity, (item.clone(), Thing::Nil));
            receiver.clone()
        }
        ("delete", [item]) => {
            let identity = item.identity();
            map.table.borrow_mut().shift_remove(&identity);
            receiver.clone()
        }
        ("merge", others) => {
            for other in others {
                for item in to_array(interpreter, other)? {
                    let identity = item.identity();
                    map.table.borrow_mut().entry(identity).or_insert((item, Thing::Nil));
                }
            }
            receiver.clone()
        }
        ("|" | "+" | "union", [other]) => {
            let more = to_array(interpreter, other)?;
            Thing::set(own.into_iter().chain(more))
        }
        ("^", [other]) => {
            let other = to_array(interpreter, other)?;
            let lacks = |item: &&Thing| !other.iter().any(|known| equal(item, known));
            // Ruby begins with what the other set has.
            let first: Vec<Thing> = other.iter().filter(|item| !has(item)).cloned().collect();
            Thing::set(first.into_iter().chain(own.iter().filter(lacks).cloned()))
        }
        ("&" | "intersection", [other]) => {
            let other = to_array(interpreter, other)?;
            Thing::set(other.into_iter().filter(has).collect::<Vec<_>>())
        }
        ("-" | "difference", [other]) => {
            let other = to_array(interpreter, other)?;
            Thing::set(
                own.into_iter()
                    .filter(|item| !other.iter().any(|known| equal(item, known)))
                    .collect::<Vec<_>>(),
            )
        }
        ("subset?" | "<=" | "superset?" | ">=" | "disjoint?" | "intersect?", [other]) => {
            let other = to_array(interpreter, other)?;
            let hits = other.iter().filter(|item| has(item)).count();
            Thing::Bool(match given.name {
                "subset?" | "<=" => hits == own.len(),
                "superset?" | ">=" => hits == other.len(),
                "disjoint?" => hits == 0,
                _ => hits > 0,
            })
        }
        ("to_set", []) => receiver.clone(),
        ("map" | "collect" | "flat_map" | "each" | "to_a" | "sort" | "join", _) if given.name == "join" => {
            call(interpreter, &Thing::array(own), "join", given.arguments.to_vec(), None)?
        }
        ("select" | "filter" | "reject", []) => {
            let kept = call(interpreter, &Thing::array(own), given.name, Vec::new(), given.block)?;
            Thing::set(items(interpreter, &kept)?)
        }
        _ => {
            if let Some(block) = given.block
                && let Some(result) = with_block(interpreter, receiver, &own, given, block)?
            {
                return Ok(Some(result));
            }
            return plain(interpreter, receiver, &own, given);
        }
    }))
}

pub(super) fn procedure(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("call" | "()" | "[]" | "yield" | "===", arguments) => {
            interpreter.call_block(receiver, arguments.to_vec())?
        }
        ("to_proc", []) => receiver.clone(),
        ("lambda?", []) => Thing::Bool(matches!(receiver, Thing::Lambda(closure) if closure.is_lambda)),
        ("arity", []) => match receiver {
            Thing::Lambda(closure) => {
                let (least, most) = crate::ruby_language::interpreter::arity(&closure.block.parameters.list);
                let least = least as i128;
                let optional = match most {
                    Some(most) => closure.is_lambda && most as i128 != least,
                    None => true,
                };
                Thing::Integer(if optional { -least - 1 } else { least })
            }
            Thing::Block => match interpreter.context.block() {
                Some(block) => {
                    let required = block.required() as i128;
                    let exact = block.accepted() == Some(block.required());
                    Thing::Integer(if exact { required } else { -required - 1 })
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        (">>", [next]) => {
            let (this, next) = (receiver.clone(), next.clone());
            Thing::Native(Rc::new(move |interpreter, arguments| {
                let middle = interpreter.call_block(&this, arguments)?;
                interpreter.call_block(&next, vec![middle])
            }))
        }
        ("<<", [before]) => {
            let (this, before) = (receiver.clone(), before.clone());
            Thing::Native(Rc::new(move |interpreter, arguments| {
                let middle = interpreter.call_block(&before, arguments)?;
                interpreter.call_block(&this, vec![middle])
            }))
        }
        ("curry" | "parameters" | "source_location" | "unbind" | "owner" | "binding", _) => {
            return beyond(format!("it calls {} of a block", given.name));
        }
        _ => return Ok(None),
    }))
}

pub(super) fn enumerator(
    interpreter: &mut Interpreter<'_, '_, '_>,
    enumerator: &Rc<Enumerator>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let run = |interpreter: &mut Interpreter<'_, '_, '_>, block: Thing| {
        call(
            interpreter,
            &enumerator.receiver,
            &enumerator.method,
            enumerator.arguments.clone(),
            Some(&block),
        )
    };
    Ok(Some(match (given.name, given.arguments, given.block) {
        ("with_index" | "each_with_index", rest, Some(block)) => {
            let from = rest.first().filter(|from| !from.is_nil()).map_or(Ok(0), integer_of)?;
            let (at, block) = (Cell::new(from), block.clone());
            run(
                interpreter,
                Thing::Native(Rc::new(move |interpreter, arguments| {
                    let index = at.get();
                    at.set(index + 1);
                    interpreter.call_block(&block, vec![packed(arguments), Thing::Integer(index)])
                })),
            )?
        }
        ("with_object" | "each_with_object", [memo], Some(block)) => {
            let (kept, block) = (memo.clone(), block.clone());
            run(
                interpreter,
                Thing::Native(Rc::new(move |interpreter, arguments| {
                    interpreter.call_block(&block, vec![packed(arguments), kept.clone()])
                })),
            )?;
            memo.clone()
        }
        ("each", [], Some(block)) => run(interpreter, block.clone())?,
        ("with_index" | "each_with_index", rest, None) => {
            let from = rest.first().filter(|from| !from.is_nil()).map_or(Ok(0), integer_of)?;
            if &*enumerator.method != "each" && from == 0 && rest.is_empty() {
                return Ok(Some(new_enumerator(receiver, given)));
            }
            let own = items(interpreter, receiver)?;
            let pair =
                |(at, item): (usize, Thing)| Thing::array(vec![item, Thing::Integer(from + at as i128)]);
            Thing::array(own.into_iter().enumerate().map(pair).collect())
        }
        ("size", [], None) => Thing::integer(items(interpreter, receiver)?.len()),
        ("next" | "peek" | "rewind", _, _) => return beyond("it walks an enumerator step by step"),
        (_, arguments, block) => {
            let own = Thing::array(items(interpreter, receiver)?);
            call(interpreter, &own, given.name, arguments.to_vec(), block)?
        }
    }))
}

pub(super) fn bytes(bytes: &[u8], receiver: &Thing, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("unpack" | "unpack1", [format]) => unpack(bytes, &text_of(format)?, given.name == "unpack1")?,
        ("bytes", []) => Thing::array(bytes.iter().map(|byte| Thing::Integer((*byte).into())).collect()),
        ("bytesize", []) => Thing::integer(bytes.len()),
        ("empty?", []) => Thing::Bool(bytes.is_empty()),
        ("b", []) => receiver.clone(),
        ("force_encoding" | "encode", _) => match std::str::from_utf8(bytes) {
            Ok(text) => Thing::text(text),
            Err(_) => return beyond("it handles bytes as a text"),
        },
        ("chomp" | "strip" | "to_str", []) if bytes.is_ascii() => {
            Thing::Bytes(Rc::new(bytes.trim_ascii_end().to_vec()))
        }
        ("+", [other]) => {
            let mut all = bytes.to_vec();
            all.extend(bytes_of(other)?);
            Thing::Bytes(Rc::new(all))
        }
        ("==", [other]) => Thing::Bool(bytes == bytes_of(other)?),
        _ => return beyond(format!("it calls {} of bytes", given.name)),
    }))
}

/// The directives of a format, each with its count: one if none is given, nothing for `*`.
fn directives(format: &str) -> Result<Vec<(char, Option<usize>)>> {
    let mut found = Vec::new();
    let mut letters = format.chars().filter(|letter| !letter.is_whitespace()).peekable();
    while let Some(directive) = letters.next() {
        if letters.next_if_eq(&'*').is_some() {
            found.push((directive, None));
            continue;
        }
        let mut digits = String::new();
        while let Some(digit) = letters.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        match digits.parse() {
            _ if digits.is_empty() => found.push((directive, Some(1))),
            Ok(count) if count <= super::MOST => found.push((directive, Some(count))),
            _ => return beyond(format!("it packs by {format}")),
        }
    }
    Ok(found)
}

/// How many bytes a number of a directive has, and whether the first is the greatest.
fn number_format(directive: char) -> Option<(usize, bool)> {
    Some(match directive {
        'C' => (1, true),
        'n' => (2, true),
        'v' | 'S' => (2, false),
        'N' => (4, true),
        'V' | 'L' => (4, false),
        'Q' => (8, false),
        _ => return None,
    })
}

/// The formats that are in use: numbers without a sign, hexadecimal, letters, bits, base 64.
pub(super) fn unpack(bytes: &[u8], format: &str, only_first: bool) -> Result<Thing> {
    let mut rest = bytes;
    let mut items: Vec<Thing> = Vec::new();
    for (directive, count) in directives(format)? {
        if let Some((width, is_big)) = number_format(directive) {
            let times = count.unwrap_or(rest.len() / width);
            for _ in 0..times {
                let Some((number, after)) = rest.split_at_checked(width) else {
                    items.push(Thing::Nil);
                    continue;
                };
                let fold = |number: i128, byte: &u8| number << 8 | i128::from(*byte);
                items.push(Thing::Integer(if is_big {
                    number.iter().fold(0, fold)
                } else {
                    number.iter().rev().fold(0, fold)
                }));
                rest = after;
            }
            continue;
        }
        let whole = std::mem::take(&mut rest);
        match (directive, count) {
            ('H', None) => items.push(Thing::text(crate::builtin::digests::digits(whole))),
            ('B', None) => {
                let bits: Vec<String> = whole.iter().map(|byte| format!("{byte:08b}")).collect();
                items.push(Thing::text(bits.concat()));
            }
            ('U', None) => match std::str::from_utf8(whole) {
                Ok(text) => {
                    items.extend(text.chars().map(|letter| Thing::Integer(u32::from(letter).into())));
                }
                Err(_) => return argument_error("malformed UTF-8 character"),
            },
            ('m', Some(1)) => items.push(Thing::Bytes(Rc::new(base64::decode64(whole)))),
            ('m', Some(0)) => {
                let text = std::str::from_utf8(whole).ok();
                items.push(base64_decoded(text.and_then(base64::strict_decode64))?);
            }
            ('a' | 'A', None) => items.push(Thing::bytes(whole.to_vec())),
            _ => return beyond(format!("it unpacks by {format}")),
        }
    }
    Ok(if only_first { items.into_iter().next().unwrap_or(Thing::Nil) } else { Thing::array(items) })
}

/// Returns decoded bytes, or Ruby's error for what is not base64.
pub(super) fn base64_decoded(bytes: Option<Vec<u8>>) -> Result<Thing> {
    bytes.map_or_else(|| argument_error("invalid base64"), |bytes| Ok(Thing::Bytes(Rc::new(bytes))))
}

pub(super) fn pack(items: &[Thing], format: &str) -> Result<Thing> {
    Ok(match format {
        "H*" => {
            let digits = text_of(&first(items))?;
            let digit = |at: usize| {
                digits.as_bytes().get(at).map_or(0, |byte| (*byte as char).to_digit(16).unwrap_or(0))
            };
            let bytes =
                (0..digits.len().div_ceil(2)).map(|at| (digit(2 * at) * 16 + digit(2 * at + 1)) as u8);
            Thing::Bytes(Rc::new(bytes.collect()))
        }
        "m" => Thing::text(base64::encode64(&bytes_of(&first(items))?)),
        "m0" => Thing::text(base64::strict_encode64(&bytes_of(&first(items))?)),
        "C*" | "c*" => {
            let mut bytes = Vec::new();
            for item in items {
                bytes.push((integer_of(item)? & 0xff) as u8);
            }
            Thing::Bytes(Rc::new(bytes))
        }
        "U*" | "U" => {
            let items = if format == "U" { items.get(..1).unwrap_or_default() } else { items };
            let mut text = String::new();
            for item in items {
                match u32::try_from(integer_of(item)?).ok().and_then(char::from_u32) {
                    Some(letter) => text.push(letter),
                    None => return beyond("it packs a letter that is none"),
                }
            }
            Thing::text(text)
        }
        _ => return packed_numbers(items, format),
    })
}

/// Numbers as bytes.
fn packed_numbers(items: &[Thing], format: &str) -> Result<Thing> {
    let mut bytes = Vec::new();
    let mut rest = items;
    for (directive, count) in directives(format)? {
        if matches!(directive, 'a' | 'A' | 'Z') {
            let Some((text, after)) = rest.split_first() else { return argument_error("too few arguments") };
            let mut text = bytes_of(text)?;
            let length = count.unwrap_or(text.len() + usize::from(directive == 'Z'));
            text.resize(length, if directive == 'A' { b' ' } else { 0 });
            bytes.extend(text);
            rest = after;
            continue;
        }
        let Some((width, is_big)) = number_format(directive) else {
            return beyond(format!("it packs by {format}"));
        };
        let Some((now, after)) = rest.split_at_checked(count.unwrap_or(rest.len())) else {
            return argument_error("too few arguments");
        };
        for item in now {
            let number = integer_of(item)?.to_le_bytes();
            let number = number.iter().take(width);
            if is_big { bytes.extend(number.rev()) } else { bytes.extend(number) }
        }
        rest = after;
    }
    Ok(Thing::Bytes(Rc::new(bytes)))
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

fn number_of(address: IpAddr) -> Option<i128> {
    match address {
        IpAddr::V4(address) => Some(i128::from(u32::from(address))),
        IpAddr::V6(address) => i128::try_from(u128::from(address)).ok(),
    }
}

pub(super) fn address(address: &Rc<Address>, given: &Given<'_>) -> Result<Option<Thing>> {
    let own = **address;
    let wrap = |address: IpAddr, prefix: u8| Thing::Address(Rc::new(Address { address, prefix }));
    Ok(Some(match (given.name, given.arguments) {
        ("ipv4?", []) => Thing::Bool(own.address.is_ipv4()),
        ("ipv6?", []) => Thing::Bool(own.address.is_ipv6()),
        ("to_i", []) => match number_of(own.address) {
            Some(number) => Thing::Integer(number),
            None => return beyond("a number is too large"),
        },
        ("prefix", []) => Thing::Integer(own.prefix.into()),
        ("to_string", []) => Thing::text(Address::full(own.address)),
        ("netmask", []) => Thing::text(Address::full(own.netmask())),
        ("family", []) => Thing::Integer(if own.address.is_ipv4() { 2 } else { 10 }),
        ("hton", []) => Thing::Bytes(Rc::new(match own.address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        })),
        ("native", []) => Thing::Address(Rc::clone(address)),
        ("ipv4_mapped", []) => match own.address {
            IpAddr::V4(address) => wrap(IpAddr::V6(address.to_ipv6_mapped()), own.prefix + 96),
            IpAddr::V6(_) => return beyond("it maps an address of IPv6"),
        },
        ("~", []) => match own.address {
            IpAddr::V4(address) => wrap(IpAddr::V4((!u32::from(address)).into()), 32),
            IpAddr::V6(address) => wrap(IpAddr::V6((!u128::from(address)).into()), 128),
        },
        ("&" | "|", [Thing::Text(text)]) => {
            let other = super::library::address(&text.value.borrow())?;
            match (own.address, other.address, given.name) {
                (IpAddr::V4(one), IpAddr::V4(other), "&") => {
                    wrap(IpAddr::V4((u32::from(one) & u32::from(other)).into()), own.prefix)
                }
                (IpAddr::V4(one), IpAddr::V4(other), _) => {
                    wrap(IpAddr::V4((u32::from(one) | u32::from(other)).into()), own.prefix)
                }
                (IpAddr::V6(one), IpAddr::V6(other), "&") => {
                    wrap(IpAddr::V6((u128::from(one) & u128::from(other)).into()), own.prefix)
                }
                (IpAddr::V6(one), IpAddr::V6(other), _) => {
                    wrap(IpAddr::V6((u128::from(one) | u128::from(other)).into()), own.prefix)
                }
                _ => return beyond("it joins addresses of two families"),
            }
        }
        ("include?" | "===", [other]) => {
            let other = match other {
                Thing::Address(other) => **other,
                Thing::Text(text) => super::library::address(&text.value.borrow())?,
                _ => return beyond("it looks for an unusual address"),
            };
            let fits = other.address.is_ipv4() == own.address.is_ipv4()
                && other.prefix >= own.prefix
                && masked(other.address, own.prefix) == own.address;
            Thing::Bool(fits)
        }
        ("mask", [mask]) => {
            let prefix = match mask {
                Thing::Integer(bits) => u8::try_from(*bits).unwrap_or(255),
                other => {
                    let text = text_of(other)?;
                    match text.parse::<u8>() {
                        Ok(bits) => bits,
                        Err(_) => match number_of(super::library::address(&text)?.address) {
                            Some(number) => number.count_ones() as u8,
                            None => return beyond("a mask is too large"),
                        },
                    }
                }
            };
            let width = if own.address.is_ipv4() { 32 } else { 128 };
            if prefix > width {
                return crate::ruby_language::interpreter::raise(
                    "IPAddr::InvalidPrefixError",
                    format!("invalid length: {prefix}"),
                );
            }
            wrap(masked(own.address, prefix), prefix)
        }
        ("succ", []) => match own.address {
            IpAddr::V4(address) => wrap(IpAddr::V4(u32::from(address).wrapping_add(1).into()), own.prefix),
            IpAddr::V6(address) => wrap(IpAddr::V6(u128::from(address).wrapping_add(1).into()), own.prefix),
        },
        ("|" | "&" | "+" | "-", [Thing::Integer(number)]) => {
            let Some(value) = number_of(own.address) else { return beyond("a number is too large") };
            let sum = match given.name {
                "|" => Some(value | number),
                "&" => Some(value & number),
                "+" => value.checked_add(*number),
                _ => value.checked_sub(*number),
            };
            let Some(sum) = sum else { return beyond("an address is out of range") };
            match own.address {
                IpAddr::V4(_) => match u32::try_from(sum) {
                    Ok(sum) => wrap(IpAddr::V4(sum.into()), own.prefix),
                    Err(_) => return beyond("an address is out of range"),
                },
                IpAddr::V6(_) => wrap(IpAddr::V6((sum as u128).into()), own.prefix),
            }
        }
        ("reverse" | "ip6_arpa", []) => match own.address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                Thing::text(format!("{d}.{c}.{b}.{a}.in-addr.arpa"))
            }
            IpAddr::V6(address) => {
                let digits = format!("{:032x}", u128::from(address));
                let digits: Vec<String> = digits.chars().rev().map(String::from).collect();
                Thing::text(format!("{}.ip6.arpa", digits.join(".")))
            }
        },
        ("to_range", []) => {
            let last = match (own.address, own.netmask()) {
                (IpAddr::V4(start), IpAddr::V4(mask)) => {
                    IpAddr::V4((u32::from(start) | !u32::from(mask)).into())
                }
                (IpAddr::V6(start), IpAddr::V6(mask)) => {
                    IpAddr::V6((u128::from(start) | !u128::from(mask)).into())
                }
                _ => return Ok(None),
            };
            Thing::Range(Rc::new(Range {
                from: wrap(own.address, own.prefix),
                to: wrap(last, own.prefix),
                exclusive: false,
            }))
        }
        ("private?" | "loopback?" | "link_local?", []) => match (given.name, own.address) {
            ("private?", IpAddr::V4(address)) => Thing::Bool(address.is_private()),
            ("loopback?", address) => Thing::Bool(address.is_loopback()),
            ("link_local?", IpAddr::V4(address)) => Thing::Bool(address.is_link_local()),
            _ => return beyond(format!("it calls {} of an address", given.name)),
        },
        ("<" | ">" | "<=" | ">=", [other]) => {
            compared(&Thing::Address(Rc::clone(address)), given.name, other)?
        }
        _ => return beyond(format!("it calls {} of an address", given.name)),
    }))
}

pub(super) fn uri(uri: &Rc<Uri>, given: &Given<'_>) -> Result<Option<Thing>> {
    let optional = |text: &Option<String>| text.as_deref().map_or(Thing::Nil, Thing::text);
    Ok(Some(match (given.name, given.arguments) {
        ("scheme", []) => optional(&uri.scheme),
        ("host", []) => optional(&uri.host),
        ("hostname", []) => {
            let bare = uri.host.as_deref().map(|host| host.trim_start_matches('[').trim_end_matches(']'));
            bare.map_or(Thing::Nil, Thing::text)
        }
        ("port", []) => match uri.port.or_else(|| uri.default_port()) {
            Some(port) => Thing::Integer(port.into()),
            None => Thing::Nil,
        },
        ("path", []) => {
            if uri.opaque.is_some() {
                Thing::Nil
            } else {
                Thing::text(uri.path.clone())
            }
        }
        ("query", []) => optional(&uri.query),
        ("fragment", []) => optional(&uri.fragment),
        ("userinfo", []) => optional(&uri.userinfo),
        ("opaque", []) => optional(&uri.opaque),
        ("user", []) => {
            let user = uri.userinfo.as_deref().map(|info| info.split(':').next().unwrap_or_default());
            user.map_or(Thing::Nil, Thing::text)
        }
        ("password", []) => {
            let password = uri.userinfo.as_deref().and_then(|info| info.split_once(':'));
            password.map_or(Thing::Nil, |(_, password)| Thing::text(password))
        }
        ("to_s", []) => Thing::text(uri.to_string()),
        ("request_uri", []) => {
            let path = if uri.path.is_empty() { "/" } else { &uri.path };
            Thing::text(match &uri.query {
                Some(query) => format!("{path}?{query}"),
                None => path.to_owned(),
            })
        }
        ("absolute?", []) => Thing::Bool(uri.scheme.is_some()),
        ("relative?", []) => Thing::Bool(uri.scheme.is_none()),
        ("default_port", []) => uri.default_port().map_or(Thing::Nil, |port| Thing::Integer(port.into())),
        (name, [other]) if name.ends_with('=') => {
            let _ = kind(other);
            return beyond("it changes a URI");
        }
        _ => return beyond(format!("it calls {} of a URI", given.name)),
    }))
}
