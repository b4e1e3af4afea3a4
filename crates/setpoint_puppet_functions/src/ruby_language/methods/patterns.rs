//! Regular expressions, matches, and the methods of texts that use them.

use std::rc::Rc;
use std::sync::Arc;

use setpoint_puppet_values::{Match, Regex};

use super::enumerable::packed;
use super::{Given, call, first, integer_of, kind, text_of};
use crate::builtin::patterns::{split_text, substitute_text};
use crate::ruby_language::interpreter::{Interpreter, Result, beyond, raise, type_error};
use crate::ruby_language::things::{Thing, regex_parts};

fn group(found: &Match, at: usize) -> Thing {
    found.group(at).map_or(Thing::Nil, Thing::text)
}

fn captures(found: &Match) -> Vec<Thing> {
    (1..found.groups.len()).map(|at| group(found, at)).collect()
}

fn letters_before(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.chars().count())
}

pub(super) fn regex(
    interpreter: &mut Interpreter<'_, '_, '_>,
    regex: &Regex,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("match" | "=~" | "match?", [subject, ..]) => matched(interpreter, regex, subject, given)?,
        ("source", []) => Thing::text(regex_parts(regex).1),
        ("names", []) => {
            let found = regex.find("");
            match found {
                Ok(Some(found)) => names(&found),
                _ => return beyond("it asks an expression for its names"),
            }
        }
        ("options", []) => {
            let (flags, _) = regex_parts(regex);
            let bit = |flag: char, value: i128| if flags.contains(flag) { value } else { 0 };
            Thing::Integer(bit('i', 1) | bit('x', 2) | bit('m', 4))
        }
        _ => return Ok(None),
    }))
}

fn names(found: &Match) -> Thing {
    let mut known: Vec<&Arc<str>> = Vec::new();
    for (name, _) in found.names.iter() {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    Thing::array(known.into_iter().map(|name| Thing::text(&**name)).collect())
}

pub(super) fn matched(
    interpreter: &mut Interpreter<'_, '_, '_>,
    regex: &Regex,
    subject: &Thing,
    given: &Given<'_>,
) -> Result<Thing> {
    if subject.is_nil() {
        interpreter.last_match = None;
        return Ok(if given.name == "match?" { Thing::Bool(false) } else { Thing::Nil });
    }
    let text = match subject {
        Thing::Symbol(name) => name.to_string(),
        other => text_of(other)?,
    };
    if given.name == "match?" {
        return match regex.is_match(&text) {
            Ok(answer) => Ok(Thing::Bool(answer)),
            Err(error) => raise("RegexpError", error.message),
        };
    }
    let found = interpreter.find(regex, &text)?;
    Ok(match (given.name, found) {
        (_, None) => Thing::Nil,
        ("match", Some(found)) => match given.block {
            Some(block) => interpreter.call_block(block, vec![Thing::Match(found)])?,
            None => Thing::Match(found),
        },
        (_, Some(found)) => Thing::integer(letters_before(&text, found.start())),
    })
}

pub(super) fn found(
    interpreter: &mut Interpreter<'_, '_, '_>,
    found: &Rc<Match>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let all = || (0..found.groups.len()).map(|at| group(found, at)).collect::<Vec<_>>();
    Ok(Some(match (given.name, given.arguments) {
        ("[]", [Thing::Integer(at)]) => {
            let at = if *at < 0 { at + found.groups.len() as i128 } else { *at };
            usize::try_from(at).map_or(Thing::Nil, |at| group(found, at))
        }
        ("[]", [name @ (Thing::Text(_) | Thing::Symbol(_))]) => {
            let name = name.to_s();
            if !found.names.iter().any(|(known, _)| **known == *name) {
                return raise("IndexError", format!("undefined group name reference: {name}"));
            }
            found.named(&name).map_or(Thing::Nil, Thing::text)
        }
        ("[]" | "values_at", arguments) => {
            call(interpreter, &Thing::array(all()), given.name, arguments.to_vec(), None)?
        }
        ("to_a", []) => Thing::array(all()),
        ("captures", []) => Thing::array(captures(found)),
        ("names", []) => names(found),
        ("named_captures", []) => {
            let pairs = found
                .names
                .iter()
                .map(|(name, _)| (Thing::text(&**name), found.named(name).map_or(Thing::Nil, Thing::text)));
            Thing::pairs(pairs.collect::<Vec<_>>())
        }
        ("pre_match", []) => Thing::text(found.text.get(..found.start()).unwrap_or_default()),
        ("post_match", []) => Thing::text(found.text.get(found.end()..).unwrap_or_default()),
        ("begin", [Thing::Integer(0)]) => Thing::integer(letters_before(&found.text, found.start())),
        ("end", [Thing::Integer(0)]) => Thing::integer(letters_before(&found.text, found.end())),
        ("size" | "length", []) => Thing::integer(found.groups.len()),
        ("string", []) => Thing::text(&*found.text),
        _ => return Ok(None),
    }))
}

pub(super) fn regex_of(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Regex(regex) => Ok(regex.clone()),
        Thing::Text(text) => {
            Regex::new(text.value.borrow().as_str()).or_else(|error| raise("RegexpError", error.message))
        }
        other => type_error(format!("wrong argument type {} (expected Regexp)", kind(other))),
    }
}

/// A pattern of `split` and `gsub`: texts stand for themselves.
pub(super) fn literal_or_regex(thing: &Thing) -> Result<Regex> {
    match thing {
        Thing::Text(text) => Regex::new(Regex::escape(&text.value.borrow()))
            .or_else(|error| raise("RegexpError", error.message)),
        Thing::Regex(regex) => Ok(regex.clone()),
        other => type_error(format!("wrong argument type {} (expected Regexp)", kind(other))),
    }
}

fn find_all(regex: &Regex, text: &str) -> Result<Vec<Match>> {
    regex.find_all(text).or_else(|error| {
        if error.is_limit { beyond(error.message) } else { raise("RegexpError", error.message) }
    })
}

/// `gsub` and `sub`, with a text, a hash or a block.
pub(super) fn substituted(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    given: &Given<'_>,
) -> Result<Option<String>> {
    let everywhere = given.name.starts_with("gsub");
    match given.arguments {
        [pattern, replacement] => {
            let regex = literal_or_regex(pattern)?;
            if let Thing::Hash(_) = replacement {
                let replacement = replacement.clone();
                let block = Thing::Native(Rc::new(move |interpreter, arguments| {
                    call(interpreter, &replacement, "[]", arguments, None)
                }));
                return replaced(interpreter, own, &regex, &block, everywhere).map(Some);
            }
            let replacement = setpoint_puppet_values::Value::from(text_of(replacement)?);
            interpreter.find(&regex, own)?;
            match substitute_text(own, &regex, &replacement, everywhere) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.is_limit => beyond(error.message),
                Err(error) => raise("ArgumentError", error.message),
            }
        }
        [pattern] => match given.block {
            Some(block) => {
                replaced(interpreter, own, &literal_or_regex(pattern)?, block, everywhere).map(Some)
            }
            None => beyond("it keeps an enumerator of replacements"),
        },
        _ => given.count("1..2"),
    }
}

fn replaced(
    interpreter: &mut Interpreter<'_, '_, '_>,
    text: &str,
    regex: &Regex,
    block: &Thing,
    everywhere: bool,
) -> Result<String> {
    let mut out = String::new();
    let mut done = 0;
    for one in find_all(regex, text)?.into_iter().take(if everywhere { usize::MAX } else { 1 }) {
        out.push_str(text.get(done..one.start()).unwrap_or_default());
        done = one.end();
        let matched = one.group(0).unwrap_or_default().to_owned();
        interpreter.last_match = Some(Rc::new(one));
        let new = interpreter.call_block(block, vec![Thing::text(matched)])?;
        let new = interpreter.to_s(&new)?;
        interpreter.append(&mut out, &new)?;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(out)
}

pub(super) fn scanned(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Thing> {
    let regex = literal_or_regex(&first(given.arguments))?;
    let found = find_all(&regex, own)?;
    let groups = |found: &Match| match found.groups.len() {
        1 => group(found, 0),
        _ => Thing::array(captures(found)),
    };
    if let Some(block) = given.block {
        for one in found {
            let item = groups(&one);
            interpreter.last_match = Some(Rc::new(one));
            interpreter.call_block(block, vec![item])?;
        }
        return Ok(receiver.clone());
    }
    let items = found.iter().map(groups).collect();
    interpreter.last_match = found.into_iter().next_back().map(Rc::new);
    Ok(Thing::array(items))
}

pub(super) fn split(own: &str, given: &Given<'_>) -> Result<Vec<String>> {
    let limit = given.arguments.get(1).map_or(Ok(0), integer_of)?;
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let pattern = given.arguments.first().unwrap_or(&Thing::Nil);
    let by_space = match pattern {
        Thing::Nil => true,
        Thing::Text(text) => *text.value.borrow() == " ",
        _ => false,
    };
    if limit == 0 {
        if by_space {
            return Ok(own.split_ascii_whitespace().map(str::to_owned).collect());
        }
        return match split_text(own, &literal_or_regex(pattern)?) {
            Ok(parts) => Ok(parts),
            Err(error) => raise("RegexpError", error.message),
        };
    }
    if limit == 1 {
        return Ok(vec![own.to_owned()]);
    }
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if by_space {
        let mut rest = own.trim_start();
        while parts.len() + 1 < most {
            let Some(at) = rest.find(|letter: char| letter.is_ascii_whitespace()) else { break };
            parts.push(rest[..at].to_owned());
            rest = rest[at..].trim_start();
        }
        parts.push(rest.to_owned());
        return Ok(parts);
    }
    let regex = literal_or_regex(pattern)?;
    let mut done = 0;
    for one in find_all(&regex, own)? {
        if parts.len() + 1 >= most {
            break;
        }
        if one.end() == one.start() {
            // An empty match splits between letters.
            if one.start() == 0 || one.start() >= own.len() {
                continue;
            }
        }
        parts.push(own.get(done..one.start()).unwrap_or_default().to_owned());
        parts.extend((1..one.groups.len()).filter_map(|at| one.group(at)).map(str::to_owned));
        done = one.end();
    }
    parts.push(own.get(done..).unwrap_or_default().to_owned());
    Ok(parts)
}

/// `index` and `rindex`: where a text or a pattern is, in letters.
pub(super) fn index(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    given: &Given<'_>,
) -> Result<Thing> {
    let [pattern, rest @ ..] = given.arguments else { return given.count("1..2") };
    let length = own.chars().count() as i128;
    let place = |at: usize| Thing::integer(letters_before(own, at));
    let byte_of = |letters: usize| own.char_indices().nth(letters).map_or(own.len(), |(at, _)| at);
    let from = match rest.first() {
        None => None,
        Some(from) => {
            let from = integer_of(from)?;
            let from = if from < 0 { from + length } else { from };
            match usize::try_from(from) {
                Ok(from) if from as i128 <= length => Some(byte_of(from)),
                _ => return Ok(Thing::Nil),
            }
        }
    };
    let regex = literal_or_regex(pattern)?;
    let shared: Arc<str> = Arc::from(own);
    if given.name == "index" {
        return match regex.find_in(&shared, from.unwrap_or(0)) {
            Ok(Some(found)) => {
                let at = place(found.start());
                interpreter.last_match = Some(Rc::new(found));
                Ok(at)
            }
            Ok(None) => Ok(Thing::Nil),
            Err(error) => raise("RegexpError", error.message),
        };
    }
    let last = from.unwrap_or(own.len());
    let mut at = None;
    let mut start = 0;
    loop {
        let found = match regex.find_in(&shared, start) {
            Ok(Some(found)) if found.start() <= last => found,
            Ok(_) => break,
            Err(error) => return beyond(error.message),
        };
        at = Some(found.start());
        interpreter.step()?;
        let step = own[found.start()..].chars().next().map_or(1, char::len_utf8);
        start = found.start() + step;
        if start > own.len() {
            break;
        }
    }
    Ok(at.map_or(Thing::Nil, place))
}

/// `partition` and `rpartition`.
pub(super) fn partitioned(own: &str, given: &Given<'_>) -> Result<Thing> {
    let regex = literal_or_regex(&first(given.arguments))?;
    let found = find_all(&regex, own)?;
    let one =
        if given.name == "partition" { found.into_iter().next() } else { found.into_iter().next_back() };
    let parts = match one {
        Some(one) => [&own[..one.start()], &own[one.start()..one.end()], &own[one.end()..]],
        None if given.name == "partition" => [own, "", ""],
        None => ["", "", own],
    };
    let parts: Vec<Thing> = parts.into_iter().map(Thing::text).collect();
    Ok(packed(parts))
}
