//! Methods of texts.

use std::rc::Rc;

use setpoint_puppet_values::{Regex, sprintf};

use super::super::interpreter::{Interpreter, Result, beyond, failed};
use super::super::things::Thing;
use super::arrays::{joined, ordered, part, span_of};
use super::{MOST, call, integer_of, no_method, text_of};
use crate::builtin::patterns::{split_text, substitute_text};
use crate::ruby::{numbers, strings};

pub(super) fn pattern_match(
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

pub(super) fn regex_of(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Regex(regex) => Ok(regex.clone()),
        Thing::Text(text) => Regex::new(text.borrow().as_str()).or_else(|error| failed(error.message)),
        other => failed(format!("wrong argument type {} (expected Regexp)", other.class())),
    }
}

/// A pattern of `split` and `gsub`: texts stand for themselves.
pub(super) fn literal_or_regex(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Text(text) => Regex::new(Regex::escape(&text.borrow())).or_else(|error| failed(error.message)),
        other => regex_of(other),
    }
}

pub(super) fn text(
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

pub(super) fn padded(text: &str, width: i64, pad: &str, side: &str) -> String {
    let missing = usize::try_from(width).unwrap_or(0).min(MOST as usize).saturating_sub(text.chars().count());
    let fill = |count: usize| -> String { pad.chars().cycle().take(count).collect() };
    match side {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        _ => format!("{}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
    }
}

pub(super) fn formatted(format: &str, values: &[Thing]) -> Result<Thing> {
    let values: Option<Vec<_>> = values.iter().map(Thing::to_value).collect();
    let Some(values) = values else { return beyond("it formats something unusual") };
    sprintf::sprintf(format, &values).map(Thing::text).or_else(|error| failed(error.message))
}

pub(super) fn replaced(
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

pub(super) fn limited_split(text: &str, pattern: &Thing, limit: i64) -> Result<Vec<String>> {
    let (Thing::Text(separator), Ok(limit)) = (pattern, usize::try_from(limit)) else {
        return beyond("it splits a text by a pattern and a limit");
    };
    Ok(text.splitn(limit, separator.borrow().as_str()).map(str::to_owned).collect())
}

pub(super) fn translated(text: &str, from: &str, to: &str) -> Result<Thing> {
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
