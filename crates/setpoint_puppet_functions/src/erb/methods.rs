//! The methods that templates call.

use std::cmp::Ordering;
use std::rc::Rc;

use setpoint_puppet_values::{Regex, sprintf};

use super::interpreter::{Flow, Interpreter, Result, beyond, failed};
use super::things::{Table, Thing, compare, equal};
use crate::builtin::patterns::{split_text, substitute_text};
use crate::ruby::sort::sort_by;
use crate::ruby::{numbers, strings};
use crate::stdlib;

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

/// What every object has.
fn general(
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

fn responds_to(receiver: &Thing, method: &str) -> bool {
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

fn copy(thing: &Thing) -> Thing {
    match thing {
        Thing::Text(text) => Thing::text(text.borrow().clone()),
        Thing::Array(items) => Thing::array(items.borrow().clone()),
        Thing::Hash(table) => Thing::table(table.borrow().clone()),
        other => other.clone(),
    }
}

fn pattern_match(
    interpreter: &mut Interpreter<'_, '_, '_>,
    regex: &Regex,
    subject: &Thing,
    name: &str,
) -> Result<Thing> {
    if matches!(subject, Thing::Nil) {
        interpreter.last_match = None;
        return Ok(if name == "match?" { Thing::Bool(false) } else { Thing::Nil });
    }
    let text = match subject {
        Thing::Symbol(name) => name.to_string(),
        other => text_of(other)?,
    };
    let found = interpreter.find(regex, &text)?;
    Ok(match (name, found) {
        ("match?", found) => Thing::Bool(found.is_some()),
        (_, None) => Thing::Nil,
        ("match", Some(found)) => Thing::Match(found),
        (_, Some(found)) => {
            let letters = text.get(..found.start()).map_or(0, |before| before.chars().count());
            Thing::Integer(letters as i64)
        }
    })
}

fn regex_of(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Regex(regex) => Ok(regex.clone()),
        Thing::Text(text) => Regex::new(text.borrow().as_str()).or_else(|error| failed(error.message)),
        other => failed(format!("wrong argument type {} (expected Regexp)", other.class())),
    }
}

/// A pattern of `split` and `gsub`: texts stand for themselves.
fn literal_or_regex(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Text(text) => Regex::new(Regex::escape(&text.borrow())).or_else(|error| failed(error.message)),
        other => regex_of(other),
    }
}

fn text(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    let Thing::Text(cell) = receiver else { return no_method(receiver, name) };
    let own = cell.borrow().clone();
    let changed = |text: String| Ok(Thing::text(text));
    match (name, arguments) {
        ("to_str" | "to_s" | "html_safe" | "force_encoding" | "encode", _) => Ok(receiver.clone()),
        ("to_sym" | "intern", []) => Ok(Thing::Symbol(own.into())),
        ("to_i", []) => Ok(Thing::Integer(i64::try_from(numbers::leading_integer(&own)).unwrap_or(i64::MAX))),
        ("to_f", []) => Ok(Thing::Float(numbers::leading_float(&own))),
        ("length" | "size", []) => Ok(Thing::Integer(own.chars().count() as i64)),
        ("empty?", []) => Ok(Thing::Bool(own.is_empty())),
        ("capitalize", []) => changed(strings::capitalize(&own)),
        ("upcase", []) => changed(strings::upcase(&own)),
        ("downcase", []) => changed(strings::downcase(&own)),
        ("swapcase", []) => changed(strings::swapcase(&own)),
        ("strip", []) => changed(strings::strip(&own)),
        ("lstrip", []) => changed(strings::lstrip(&own)),
        ("rstrip", []) => changed(strings::rstrip(&own)),
        ("chomp", []) => changed(strings::chomp(&own)),
        ("chomp", [suffix]) => {
            let suffix = text_of(suffix)?;
            changed(own.strip_suffix(&suffix).unwrap_or(&own).to_owned())
        }
        ("chop", []) => changed(strings::chop(&own)),
        ("reverse", []) => changed(own.chars().rev().collect()),
        ("succ" | "next", []) => changed(strings::succ(&own)),
        ("chars", []) => {
            Ok(Thing::array(own.chars().map(|letter| Thing::text(letter.to_string())).collect()))
        }
        ("lines" | "each_line", []) => {
            let lines: Vec<Thing> = own.split_inclusive('\n').map(Thing::text).collect();
            match block {
                Some(block) => {
                    for line in lines {
                        interpreter.call_block(block, vec![line])?;
                    }
                    Ok(receiver.clone())
                }
                None => Ok(Thing::array(lines)),
            }
        }
        ("start_with?", parts) => Ok(Thing::Bool(parts.iter().any(|part| own.starts_with(&part.to_s())))),
        ("end_with?", parts) => Ok(Thing::Bool(parts.iter().any(|part| own.ends_with(&part.to_s())))),
        ("include?", [part]) => Ok(Thing::Bool(own.contains(&text_of(part)?))),
        ("index", [Thing::Text(part)]) => {
            let at = own.find(part.borrow().as_str());
            Ok(at
                .and_then(|at| own.get(..at))
                .map_or(Thing::Nil, |before| Thing::Integer(before.chars().count() as i64)))
        }
        ("count", [Thing::Text(letters)]) => {
            let letters = letters.borrow();
            Ok(Thing::Integer(own.chars().filter(|letter| letters.contains(*letter)).count() as i64))
        }
        ("ljust" | "rjust" | "center", [width, rest @ ..]) => {
            let pad = rest.first().map_or_else(|| " ".to_owned(), Thing::to_s);
            changed(padded(&own, integer_of(width)?, &pad, name))
        }
        ("+", [other]) => changed(own + &text_of(other)?),
        ("*", [times]) => {
            let times = usize::try_from(integer_of(times)?).unwrap_or(0);
            if own.len().saturating_mul(times) > MOST as usize {
                return beyond("it makes a text that is too long");
            }
            changed(own.repeat(times))
        }
        ("%", [value]) => {
            let values =
                if let Thing::Array(items) = value { items.borrow().clone() } else { vec![value.clone()] };
            formatted(&own, &values)
        }
        ("<<" | "concat", [other]) => {
            let more = match other {
                Thing::Integer(code) => {
                    u32::try_from(*code).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
                }
                other => text_of(other)?,
            };
            cell.borrow_mut().push_str(&more);
            Ok(receiver.clone())
        }
        ("=~" | "match" | "match?", [pattern]) => {
            let regex = regex_of(pattern)?;
            pattern_match(interpreter, &regex, receiver, name)
        }
        ("gsub" | "sub", [pattern, replacement]) => {
            let regex = literal_or_regex(pattern)?;
            let Some(value) = replacement.to_value() else {
                return beyond("it replaces by something unusual");
            };
            match substitute_text(&own, &regex, &value, name == "gsub") {
                Ok(text) => changed(text),
                Err(message) => failed(message),
            }
        }
        ("gsub" | "sub", [pattern]) => {
            let Some(block) = block else { return no_method(receiver, name) };
            replaced(interpreter, &own, &literal_or_regex(pattern)?, block, name == "gsub")
        }
        (
            "gsub!" | "sub!" | "strip!" | "upcase!" | "downcase!" | "capitalize!" | "chomp!" | "lstrip!"
            | "rstrip!",
            _,
        ) => {
            let plain = name.trim_end_matches('!');
            let result = call(interpreter, receiver, plain, arguments.to_vec(), block)?.to_s();
            let same = result == own;
            *cell.borrow_mut() = result;
            Ok(if same { Thing::Nil } else { receiver.clone() })
        }
        ("split", rest) => {
            let parts = match rest.first() {
                None | Some(Thing::Nil) => own.split_whitespace().map(str::to_owned).collect(),
                Some(Thing::Text(separator)) if *separator.borrow() == " " => {
                    own.split_whitespace().map(str::to_owned).collect()
                }
                Some(pattern) => {
                    if let Some(limit) = rest.get(1) {
                        limited_split(&own, pattern, integer_of(limit)?)?
                    } else {
                        match split_text(&own, &literal_or_regex(pattern)?) {
                            Ok(parts) => parts,
                            Err(error) => return failed(error.message),
                        }
                    }
                }
            };
            Ok(Thing::array(parts.into_iter().map(Thing::text).collect()))
        }
        ("scan", [pattern]) => {
            let regex = literal_or_regex(pattern)?;
            let found = match regex.find_all(&own) {
                Ok(found) => found,
                Err(error) => return failed(error.message),
            };
            let groups = |found: &setpoint_puppet_values::Match| match found.groups.len() {
                1 => found.group(0).map_or(Thing::Nil, Thing::text),
                count => Thing::array(
                    (1..count).map(|at| found.group(at).map_or(Thing::Nil, Thing::text)).collect(),
                ),
            };
            Ok(Thing::array(found.iter().map(groups).collect()))
        }
        ("tr", [from, to]) => translated(&own, &text_of(from)?, &text_of(to)?),
        ("delete", [letters]) => {
            let letters = text_of(letters)?;
            if letters.contains(['-', '^']) {
                return beyond("it deletes a set of letters");
            }
            changed(own.chars().filter(|letter| !letters.contains(*letter)).collect())
        }
        ("squeeze", []) => {
            let mut last = None;
            changed(own.chars().filter(|letter| last.replace(*letter) != Some(*letter)).collect())
        }
        ("[]" | "slice", [Thing::Integer(at)]) => {
            let letters: Vec<char> = own.chars().collect();
            let at = if *at < 0 { at + letters.len() as i64 } else { *at };
            let letter = usize::try_from(at).ok().and_then(|at| letters.get(at));
            Ok(letter.map_or(Thing::Nil, |letter| Thing::text(letter.to_string())))
        }
        ("[]" | "slice", [Thing::Integer(at), Thing::Integer(count)]) => {
            let letters: Vec<Thing> = own.chars().map(|letter| Thing::text(letter.to_string())).collect();
            Ok(part(&letters, *at, *count).map_or(Thing::Nil, |letters| Thing::text(joined(&letters, ""))))
        }
        ("[]" | "slice", [Thing::Range(from, to)]) => {
            let letters: Vec<Thing> = own.chars().map(|letter| Thing::text(letter.to_string())).collect();
            let (from, count) = span_of(*from, *to, letters.len());
            Ok(part(&letters, from, count).map_or(Thing::Nil, |letters| Thing::text(joined(&letters, ""))))
        }
        ("[]" | "slice", [Thing::Regex(regex), rest @ ..]) => {
            let at = rest.first().map_or(Ok(0), integer_of)?;
            let found = interpreter.find(regex, &own)?;
            let group = found.as_ref().and_then(|found| found.group(usize::try_from(at).unwrap_or(0)));
            Ok(group.map_or(Thing::Nil, Thing::text))
        }
        ("[]", [Thing::Text(part)]) => {
            let part = part.borrow();
            Ok(if own.contains(part.as_str()) { Thing::text(part.clone()) } else { Thing::Nil })
        }
        ("<" | ">" | "<=" | ">=", [other]) => ordered(receiver, name, other),
        ("casecmp", [other]) => {
            let order = own.to_ascii_lowercase().cmp(&text_of(other)?.to_ascii_lowercase());
            Ok(Thing::Integer(order as i64))
        }
        ("hex", []) => Ok(Thing::Integer(i64::from_str_radix(own.trim_start_matches("0x"), 16).unwrap_or(0))),
        ("to_a", []) => Ok(Thing::array(vec![receiver.clone()])),
        ("each", []) => failed(format!("undefined method `each' for {}:String", receiver.inspect())),
        ("join" | "has_key?" | "keys" | "flatten" | "map" | "sort" | "compact", _) => {
            failed(format!("undefined method `{name}' for {}:String", receiver.inspect()))
        }
        _ => no_method(receiver, name),
    }
}

fn padded(text: &str, width: i64, pad: &str, side: &str) -> String {
    let missing = usize::try_from(width).unwrap_or(0).min(MOST as usize).saturating_sub(text.chars().count());
    let fill = |count: usize| -> String { pad.chars().cycle().take(count).collect() };
    match side {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        _ => format!("{}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
    }
}

fn formatted(format: &str, values: &[Thing]) -> Result<Thing> {
    let values: Option<Vec<_>> = values.iter().map(Thing::to_value).collect();
    let Some(values) = values else { return beyond("it formats something unusual") };
    sprintf::sprintf(format, &values).map(Thing::text).or_else(|error| failed(error.message))
}

fn replaced(
    interpreter: &mut Interpreter<'_, '_, '_>,
    text: &str,
    regex: &Regex,
    block: &Thing,
    everywhere: bool,
) -> Result<Thing> {
    let found = match regex.find_all(text) {
        Ok(found) => found,
        Err(error) => return failed(error.message),
    };
    let mut out = String::new();
    let mut done = 0;
    for one in found.into_iter().take(if everywhere { usize::MAX } else { 1 }) {
        out.push_str(text.get(done..one.start()).unwrap_or_default());
        done = one.end();
        let matched = one.group(0).unwrap_or_default().to_owned();
        interpreter.last_match = Some(Rc::new(one));
        out.push_str(&interpreter.call_block(block, vec![Thing::text(matched)])?.to_s());
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(Thing::text(out))
}

fn limited_split(text: &str, pattern: &Thing, limit: i64) -> Result<Vec<String>> {
    let (Thing::Text(separator), Ok(limit)) = (pattern, usize::try_from(limit)) else {
        return beyond("it splits a text by a pattern and a limit");
    };
    Ok(text.splitn(limit, separator.borrow().as_str()).map(str::to_owned).collect())
}

fn translated(text: &str, from: &str, to: &str) -> Result<Thing> {
    if from.starts_with('^') || from.len() > 1 && from.contains('-') || to.contains('-') && to.len() > 1 {
        return beyond("it translates ranges of letters");
    }
    let to: Vec<char> = to.chars().collect();
    let change = |letter: char| match from.chars().position(|known| known == letter) {
        Some(at) => to.get(at).or(to.last()).copied(),
        None => Some(letter),
    };
    Ok(Thing::text(text.chars().filter_map(change).collect::<String>()))
}

/// `count` elements from `at` on; nothing if it starts outside.
fn part(items: &[Thing], at: i64, count: i64) -> Option<Vec<Thing>> {
    let start = usize::try_from(if at < 0 { at + items.len() as i64 } else { at }).ok()?;
    let count = usize::try_from(count).ok()?;
    (start <= items.len()).then(|| items.iter().skip(start).take(count).cloned().collect())
}

/// The start and the length that a range means.
fn span_of(from: i64, to: i64, length: usize) -> (i64, i64) {
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

fn flat(items: &[Thing], depth: i64, into: &mut Vec<Thing>) {
    for item in items {
        match item {
            Thing::Array(inner) if depth != 0 => flat(&inner.borrow(), depth - 1, into),
            other => into.push(other.clone()),
        }
    }
}

fn ordered(left: &Thing, name: &str, right: &Thing) -> Result<Thing> {
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

fn sorted(
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

fn table_from(items: Vec<(Thing, Thing)>) -> Thing {
    Thing::table(items.into_iter().map(|(key, value)| (key.identity(), (key, value))).collect())
}

/// Methods of arrays, ranges and, through their pairs, hashes.
fn array(
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

fn distinct(items: Vec<Thing>) -> Vec<Thing> {
    let seen: Table = items.into_iter().fold(Table::new(), |mut seen, item| {
        seen.entry(item.identity()).or_insert((item, Thing::Nil));
        seen
    });
    seen.into_values().map(|(item, _)| item).collect()
}

/// The array itself with new items, or another one.
fn store(receiver: &Thing, in_place: bool, items: Vec<Thing>) -> Result<Thing> {
    match receiver {
        Thing::Array(cell) if in_place => {
            *cell.borrow_mut() = items;
            Ok(receiver.clone())
        }
        _ => Ok(Thing::array(items)),
    }
}

/// Methods that take a block; nothing if the method does not.
fn with_block(
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

fn by_mark(name: &str, marked: Vec<(Thing, Thing)>) -> Result<Thing> {
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

/// Methods that hashes have beyond those of their pairs; nothing if it has no such method.
fn hash(
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

fn number(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    let float = |thing: &Thing| match thing {
        Thing::Integer(number) => Some(*number as f64),
        Thing::Float(number) => Some(*number),
        _ => None,
    };
    match (receiver, name, arguments) {
        (_, "to_i" | "to_int" | "truncate", []) => Ok(Thing::Integer(integer_of(receiver)?)),
        (_, "to_f", []) => Ok(Thing::Float(float(receiver).unwrap_or_default())),
        (Thing::Integer(number), "times", []) => {
            let Some(block) = block else { return beyond("it keeps an enumerator") };
            for at in 0..(*number).min(MOST) {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
            }
            Ok(receiver.clone())
        }
        (Thing::Integer(number), "upto", [Thing::Integer(end)]) => {
            let Some(block) = block else { return beyond("it keeps an enumerator") };
            for at in (*number..=*end).take(MOST as usize) {
                interpreter.call_block(block, vec![Thing::Integer(at)])?;
            }
            Ok(receiver.clone())
        }
        (Thing::Integer(number), "zero?", []) => Ok(Thing::Bool(*number == 0)),
        (Thing::Integer(number), "even?", []) => Ok(Thing::Bool(number % 2 == 0)),
        (Thing::Integer(number), "odd?", []) => Ok(Thing::Bool(number % 2 != 0)),
        (Thing::Integer(number), "succ" | "next", []) => Ok(Thing::Integer(number.saturating_add(1))),
        (Thing::Integer(number), "abs", []) => Ok(Thing::Integer(number.saturating_abs())),
        (Thing::Integer(_), "floor" | "ceil" | "round", _) => Ok(receiver.clone()),
        (Thing::Float(number), "floor", []) => Ok(Thing::Integer(number.floor() as i64)),
        (Thing::Float(number), "ceil", []) => Ok(Thing::Integer(number.ceil() as i64)),
        (Thing::Float(number), "round", []) => Ok(Thing::Integer(number.round() as i64)),
        (Thing::Float(number), "round", [Thing::Integer(places)]) => {
            let factor = 10_f64.powi(i32::try_from(*places).unwrap_or(0));
            Ok(Thing::Float((number * factor).round() / factor))
        }
        (Thing::Integer(number), "-@", []) => Ok(Thing::Integer(number.saturating_neg())),
        (Thing::Float(number), "-@", []) => Ok(Thing::Float(-number)),
        (
            Thing::Integer(a),
            "+" | "-" | "*" | "/" | "%" | "**" | "<<" | ">>" | "&" | "|",
            [Thing::Integer(b)],
        ) => integers(*a, name, *b),
        (_, "+" | "-" | "*" | "/" | "%" | "**", [other]) => {
            let (Some(a), Some(b)) = (float(receiver), float(other)) else {
                return failed(format!("{} can't be coerced into {}", other.class(), receiver.class()));
            };
            Ok(Thing::Float(match name {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                "%" => a.rem_euclid(b),
                _ => a.powf(b),
            }))
        }
        (_, "<" | ">" | "<=" | ">=", [other]) => ordered(receiver, name, other),
        (_, "between?", [low, high]) => {
            let above = ordered(receiver, ">=", low)?.truth();
            Ok(Thing::Bool(above && ordered(receiver, "<=", high)?.truth()))
        }
        (Thing::Integer(number), "to_s", [Thing::Integer(16)]) => Ok(Thing::text(format!("{number:x}"))),
        (Thing::Integer(number), "chr", []) => {
            let letter = u32::try_from(*number).ok().and_then(char::from_u32);
            Ok(letter.map_or(Thing::Nil, |letter| Thing::text(letter.to_string())))
        }
        (_, "empty?" | "strip" | "split" | "each" | "join" | "length" | "gsub", _) => {
            failed(format!("undefined method `{name}' for {}:{}", receiver.inspect(), receiver.class()))
        }
        _ => no_method(receiver, name),
    }
}

fn integers(a: i64, name: &str, b: i64) -> Result<Thing> {
    let result = match name {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" | "%" if b == 0 => return failed("divided by 0"),
        "/" => Some(a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0)),
        "%" => Some(((a % b) + b) % b),
        "**" => u32::try_from(b).ok().and_then(|power| a.checked_pow(power)),
        "<<" => u32::try_from(b).ok().filter(|by| *by < 63).and_then(|by| a.checked_mul(1 << by)),
        ">>" => u32::try_from(b).ok().map(|by| a >> by.min(63)),
        "&" => Some(a & b),
        _ => Some(a | b),
    };
    match result {
        Some(number) => Ok(Thing::Integer(number)),
        None => beyond("a number is too large"),
    }
}

/// The scope of the manifest, as templates know it.
fn scope(interpreter: &mut Interpreter<'_, '_, '_>, name: &str, arguments: &[Thing]) -> Result<Thing> {
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
fn constant(
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
            super::interpreter::regex(&source.borrow(), "").map(Thing::Regex)
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
pub(super) fn kernel(
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
