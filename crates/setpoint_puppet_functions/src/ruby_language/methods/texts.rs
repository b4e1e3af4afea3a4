//! Methods of texts and symbols.

use std::rc::Rc;
use std::sync::Arc;

use setpoint_puppet_values::sprintf;

use super::arrays::{part, span_of};
use super::enumerable::{compared, enumerator, order};
use super::letters::{Letters, in_all, padded, squeezed, translated};
use super::patterns::{index, literal_or_regex, matched, partitioned, regex_of, scanned, split, substituted};
use super::{Given, MOST, call, count_of, integer_of, numbers, text_of};
use crate::ruby::{numbers as digits, strings};
use crate::ruby_language::interpreter::{
    Interpreter, Result, argument_error, beyond, limit, raise, type_error,
};
use crate::ruby_language::things::{Range, Text, Thing};

pub(super) fn symbol(
    interpreter: &mut Interpreter<'_, '_, '_>,
    symbol: &Arc<str>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("to_sym", []) => receiver.clone(),
        ("id2name" | "name", []) => Thing::text(&**symbol),
        ("to_proc", []) => receiver.clone(),
        ("upcase" | "downcase" | "capitalize" | "swapcase" | "succ" | "next", []) => {
            let text = call(interpreter, &Thing::text(&**symbol), given.name, Vec::new(), None)?;
            Thing::symbol(&text.to_s())
        }
        (
            "length" | "size" | "[]" | "empty?" | "start_with?" | "end_with?" | "=~" | "match" | "match?",
            arguments,
        ) => call(interpreter, &Thing::text(&**symbol), given.name, arguments.to_vec(), given.block)?,
        ("<" | ">" | "<=" | ">=", [other]) => compared(receiver, given.name, other)?,
        _ => return Ok(None),
    }))
}

pub(super) fn text(
    interpreter: &mut Interpreter<'_, '_, '_>,
    cell: &Rc<Text>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if let ("<<" | "concat", more) = (given.name, given.arguments) {
        return append(cell, more).map(|()| Some(receiver.clone()));
    }
    let own = cell.value.borrow().clone();
    interpreter.look_through(own.len() / 4)?;
    if let Some(result) = questions(interpreter, &own, receiver, given)? {
        return Ok(Some(result));
    }
    if let Some(changed) = changed(interpreter, &own, given)? {
        return Ok(Some(Thing::text(changed)));
    }
    if let Some(result) = parts(interpreter, &own, receiver, given)? {
        return Ok(Some(result));
    }
    changing(interpreter, cell, &own, receiver, given)
}

/// Adds texts, or letters by their numbers, in place.
fn append(cell: &Text, more: &[Thing]) -> Result<()> {
    let mut added = String::new();
    for piece in more {
        match piece {
            Thing::Integer(code) => match u32::try_from(*code).ok().and_then(char::from_u32) {
                Some(letter) => added.push(letter),
                None => return raise("RangeError", format!("invalid codepoint {code}")),
            },
            other => added.push_str(&text_of(other)?),
        }
    }
    let mut text = cell.value.borrow_mut();
    if text.len() + added.len() > 50 * MOST.get() {
        return limit("it makes a text that is too long");
    }
    text.push_str(&added);
    Ok(())
}

/// Other texts made of this one.
fn changed(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    given: &Given<'_>,
) -> Result<Option<String>> {
    let sets = || -> Result<Vec<Letters>> {
        given.arguments.iter().map(|set| Ok(Letters::new(&text_of(set)?))).collect()
    };
    Ok(Some(match (given.name, given.arguments) {
        ("capitalize", _) => strings::capitalize(own),
        ("upcase", _) => strings::upcase(own),
        ("downcase", _) => strings::downcase(own),
        ("swapcase", _) => strings::swapcase(own),
        ("strip", []) => strings::strip(own),
        ("lstrip", []) => strings::lstrip(own),
        ("rstrip", []) => strings::rstrip(own),
        ("chomp", []) => strings::chomp(own),
        ("chomp" | "delete_suffix", [suffix]) => {
            let suffix = text_of(suffix)?;
            own.strip_suffix(&suffix).unwrap_or(own).to_owned()
        }
        ("delete_prefix", [prefix]) => {
            let prefix = text_of(prefix)?;
            own.strip_prefix(&prefix).unwrap_or(own).to_owned()
        }
        ("chop", []) => strings::chop(own),
        ("chr", []) => own.chars().take(1).collect(),
        ("reverse", []) => own.chars().rev().collect(),
        ("succ" | "next", []) => strings::succ(own),
        ("squeeze", _) => squeezed(own, &sets()?),
        ("delete", [_, ..]) => {
            let sets = sets()?;
            own.chars().filter(|letter| !in_all(&sets, *letter)).collect()
        }
        ("tr" | "tr_s", [from, to]) => translated(own, &text_of(from)?, &text_of(to)?, given.name == "tr_s"),
        ("ljust" | "rjust" | "center", [width, rest @ ..]) => {
            let width = usize::try_from(integer_of(width)?).unwrap_or(0);
            if width > MOST {
                return limit("it makes a text that is too long");
            }
            let pad = rest.first().map_or(Ok(" ".to_owned()), text_of)?;
            if pad.is_empty() {
                return argument_error("zero width padding");
            }
            padded(own, width, &pad, given.name)
        }
        ("+", [Thing::Bytes(_)]) => return beyond("it joins a text with bytes"),
        ("+", [other]) => {
            let other = text_of(other)?;
            format!("{own}{other}")
        }
        ("*", [times]) => own.repeat(numbers::repetitions(times, own.len())?),
        ("%", [value]) => {
            let values = match value {
                Thing::Array(list) => list.items.borrow().clone(),
                other => vec![other.clone()],
            };
            return formatted(interpreter, own, &values).map(Some);
        }
        ("gsub" | "sub", _) => return substituted(interpreter, own, given),
        ("dump", []) => crate::ruby::text::inspect_text(own),
        ("unicode_normalize" | "crypt" | "encoding", _) => {
            return beyond(format!("it calls {} of a text", given.name));
        }
        ("encode", [Thing::Hash(options)]) => {
            let table = options.table.borrow();
            let option = table.get(&Thing::symbol("xml").identity()).map(|(_, value)| value.to_s());
            match option.as_deref() {
                Some("text") => xml_text(own),
                Some("attr") => format!("\"{}\"", xml_text(own).replace('"', "&quot;")),
                _ => return beyond("it changes the encoding of a text"),
            }
        }
        ("encode", [encoding, ..]) if !(is_utf8(encoding) || own.is_ascii() && is_like_ascii(encoding)) => {
            return beyond("it changes the encoding of a text");
        }
        ("force_encoding", [encoding]) if !own.is_ascii() && !is_utf8(encoding) => {
            return beyond("it reads a text as bytes");
        }
        ("b", []) if !own.is_ascii() => return beyond("it reads a text as bytes"),
        ("force_encoding" | "encode" | "scrub" | "unicode_normalized?" | "b" | "+@" | "-@", _) => {
            own.to_owned()
        }
        ("shellescape", []) => super::library::shell_escaped(own),
        _ => return Ok(None),
    }))
}

fn xml_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What is asked about a text.
fn questions(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("to_str" | "html_safe", []) => receiver.clone(),
        ("to_sym" | "intern", []) => Thing::symbol(own),
        ("to_i", []) => Thing::Integer(digits::leading_integer(own)),
        ("to_i", [radix]) => Thing::Integer(leading_in(own, integer_of(radix)?)?),
        ("to_f", []) => Thing::Float(digits::leading_float(own)),
        ("to_r" | "to_c", []) => return beyond("it makes a fraction of a text"),
        ("hex", []) => Thing::Integer(leading_in(own, 16)?),
        ("oct", []) => Thing::Integer(leading_in(own, 8)?),
        ("ord", []) => match own.chars().next() {
            Some(letter) => Thing::Integer(i128::from(u32::from(letter))),
            None => return argument_error("empty string"),
        },
        ("sum", []) => Thing::Integer(own.bytes().map(i128::from).sum::<i128>() % 65536),
        ("length" | "size", []) => Thing::integer(own.chars().count()),
        ("bytesize", []) => Thing::integer(own.len()),
        ("empty?", []) => Thing::Bool(own.is_empty()),
        ("valid_encoding?", []) => Thing::Bool(true),
        ("ascii_only?", []) => Thing::Bool(own.is_ascii()),
        ("start_with?", prefixes) => {
            let mut answer = false;
            for prefix in prefixes {
                answer = answer
                    || match prefix {
                        Thing::Regex(regex) => {
                            interpreter.find(regex, own)?.is_some_and(|found| found.start() == 0)
                        }
                        other => own.starts_with(&text_of(other)?),
                    };
            }
            Thing::Bool(answer)
        }
        ("end_with?", suffixes) => {
            let mut answer = false;
            for suffix in suffixes {
                answer = answer || own.ends_with(&text_of(suffix)?);
            }
            Thing::Bool(answer)
        }
        ("include?", [part]) => Thing::Bool(own.contains(&text_of(part)?)),
        ("index" | "rindex", _) => index(interpreter, own, given)?,
        ("count", [_, ..]) => {
            let sets: Vec<Letters> =
                given.arguments.iter().map(|set| Ok(Letters::new(&text_of(set)?))).collect::<Result<_>>()?;
            Thing::integer(own.chars().filter(|letter| in_all(&sets, *letter)).count())
        }
        ("=~", [Thing::Text(_)]) => return type_error("type mismatch: String given"),
        ("=~", [Thing::Nil]) => Thing::Nil,
        ("=~" | "match" | "match?", [pattern, ..]) => {
            let regex = regex_of(pattern)?;
            matched(interpreter, &regex, receiver, given)?
        }
        ("<" | ">" | "<=" | ">=", [other]) => compared(receiver, given.name, other)?,
        ("between?", [low, high]) => {
            Thing::Bool(order(receiver, low)?.is_ge() && order(receiver, high)?.is_le())
        }
        ("casecmp", [other]) => match other {
            Thing::Text(other) => {
                let order = own.to_ascii_lowercase().cmp(&other.value.borrow().to_ascii_lowercase());
                Thing::Integer(order as i128)
            }
            other => {
                return type_error(format!("no implicit conversion of {} into String", super::kind(other)));
            }
        },
        ("casecmp?", [other]) => {
            let folded = |text: &str| strings::downcase(&strings::upcase(text));
            Thing::Bool(folded(own) == folded(&text_of(other)?))
        }
        ("unpack" | "unpack1", [format]) => {
            super::others::unpack(own.as_bytes(), &text_of(format)?, given.name == "unpack1")?
        }
        _ => return Ok(None),
    }))
}

/// Digits at the start, in a radix; a prefix that fits is left out.
fn leading_in(text: &str, radix: i128) -> Result<i128> {
    let Some(radix) = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)) else {
        return argument_error(format!("invalid radix {radix}"));
    };
    let text = text.trim_start().replace('_', "");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let prefix = match radix {
        16 => ["0x", "0X"],
        2 => ["0b", "0B"],
        8 => ["0o", "0O"],
        _ => ["", ""],
    };
    let digits = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix)).unwrap_or(digits);
    let count = digits.chars().take_while(|digit| digit.is_digit(radix)).count();
    if count == 0 {
        return Ok(0);
    }
    match i128::from_str_radix(&digits[..count], radix) {
        Ok(number) => Ok(if negative { -number } else { number }),
        Err(_) => beyond("a number is too large"),
    }
}

/// Parts of a text.
fn parts(
    interpreter: &mut Interpreter<'_, '_, '_>,
    own: &str,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let letter = |letter: char| Thing::text(letter.to_string());
    let each = |interpreter: &mut Interpreter<'_, '_, '_>, items: Vec<Thing>| -> Result<Thing> {
        match given.block {
            Some(block) => {
                for item in items {
                    interpreter.call_block(block, vec![item])?;
                }
                Ok(receiver.clone())
            }
            None if given.name.starts_with("each_") => Ok(enumerator(receiver, given)),
            None => Ok(Thing::array(items)),
        }
    };
    Ok(Some(match (given.name, given.arguments) {
        (
            "chars" | "each_char" | "bytes" | "each_byte" | "codepoints" | "lines" | "each_line" | "split",
            _,
        ) if own.len() > MOST => {
            return limit(format!("it takes a text of more than {MOST} bytes apart"));
        }
        ("chars" | "each_char", []) => each(interpreter, own.chars().map(letter).collect())?,
        ("bytes" | "each_byte", []) => {
            each(interpreter, own.bytes().map(|byte| Thing::Integer(byte.into())).collect())?
        }
        ("codepoints", []) => {
            each(interpreter, own.chars().map(|letter| Thing::Integer(u32::from(letter).into())).collect())?
        }
        ("lines" | "each_line", rest) => {
            let (separator, chomps) = match rest {
                [] => ("\n".to_owned(), false),
                [Thing::Hash(options)] => {
                    let table = options.table.borrow();
                    let chomps =
                        table.get(&Thing::symbol("chomp").identity()).is_some_and(|(_, value)| value.truth());
                    ("\n".to_owned(), chomps)
                }
                [separator, ..] => (text_of(separator)?, false),
            };
            let lines = own.split_inclusive(separator.as_str());
            let lines = lines.map(|line| if chomps { strings::chomp(line) } else { line.to_owned() });
            each(interpreter, lines.map(Thing::text).collect())?
        }
        ("split", _) => {
            let parts: Vec<Thing> = split(own, given)?.into_iter().map(Thing::text).collect();
            match given.block {
                Some(_) => each(interpreter, parts)?,
                None => Thing::array(parts),
            }
        }
        ("scan", [_]) => scanned(interpreter, own, receiver, given)?,
        ("partition" | "rpartition", [_]) => partitioned(own, given)?,
        ("shellsplit", []) => super::library::shell_words(own)?,
        ("[]" | "slice", [Thing::Integer(at)]) => {
            let letters: Vec<char> = own.chars().collect();
            let at = if *at < 0 { at + letters.len() as i128 } else { *at };
            let found = usize::try_from(at).ok().and_then(|at| letters.get(at));
            found.map_or(Thing::Nil, |found| letter(*found))
        }
        ("[]" | "slice", [Thing::Regex(regex), rest @ ..]) => {
            let found = interpreter.find(regex, own)?;
            let group = match (&found, rest.first()) {
                (None, _) => None,
                (Some(found), None) => found.group(0),
                (Some(found), Some(Thing::Integer(at))) => {
                    let at = if *at < 0 { at + found.groups.len() as i128 } else { *at };
                    usize::try_from(at).ok().and_then(|at| found.group(at))
                }
                (Some(found), Some(name)) => found.named(&name.to_s()),
            };
            group.map_or(Thing::Nil, Thing::text)
        }
        ("[]" | "slice", [Thing::Text(wanted)]) => {
            let wanted = wanted.value.borrow();
            if own.contains(wanted.as_str()) { Thing::text(wanted.clone()) } else { Thing::Nil }
        }
        ("[]" | "slice", [Thing::Range(range)]) => slice(own, range)?.map_or(Thing::Nil, Thing::text),
        ("[]" | "slice" | "byteslice", [at, count]) => {
            let letters: Vec<char> = own.chars().collect();
            match part(&letters, integer_of(at)?, integer_of(count)?) {
                Some(letters) => Thing::text(letters.into_iter().collect::<String>()),
                None => Thing::Nil,
            }
        }
        ("[]" | "slice", [other]) => {
            return match other {
                Thing::Nil => type_error("no implicit conversion from nil to integer"),
                other => type_error(format!("no implicit conversion of {} into Integer", super::kind(other))),
            };
        }
        ("upto", [end, rest @ ..]) => {
            let exclusive = rest.first().is_some_and(Thing::truth);
            let items = super::others::texts_up_to(own, &text_of(end)?, exclusive)?;
            if given.block.is_none() {
                return Ok(Some(enumerator(receiver, given)));
            }
            each(interpreter, items)?
        }
        _ => return Ok(None),
    }))
}

fn slice(own: &str, range: &Range) -> Result<Option<String>> {
    let letters: Vec<char> = own.chars().collect();
    let (from, count) = span_of(range, letters.len())?;
    Ok(part(&letters, from, count).map(|letters| letters.into_iter().collect()))
}

/// Methods that change the text itself.
fn changing(
    interpreter: &mut Interpreter<'_, '_, '_>,
    cell: &Rc<Text>,
    own: &str,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let store = |text: String| {
        *cell.value.borrow_mut() = text;
        receiver.clone()
    };
    Ok(Some(match (given.name, given.arguments) {
        ("prepend", more) => {
            let mut text = String::new();
            for piece in more {
                text.push_str(&text_of(piece)?);
            }
            store(text + own)
        }
        ("insert", [at, piece]) => {
            let at = integer_of(at)?;
            let length = own.chars().count() as i128;
            let place = if at < 0 { at + length + 1 } else { at };
            let Some(place) = usize::try_from(place).ok().filter(|place| *place as i128 <= length) else {
                return raise("IndexError", format!("index {at} out of string"));
            };
            let mut letters: Vec<char> = own.chars().collect();
            letters.splice(place..place, text_of(piece)?.chars());
            store(letters.into_iter().collect())
        }
        ("replace", [other]) => store(text_of(other)?),
        ("clear", []) => store(String::new()),
        ("slice!", arguments) => {
            let taken = call(interpreter, receiver, "slice", arguments.to_vec(), None)?;
            if let Thing::Text(part) = &taken {
                let part = part.value.borrow().clone();
                let at = match arguments {
                    [Thing::Integer(at), ..] => *at,
                    [Thing::Range(range)] => span_of(range, own.chars().count())?.0,
                    _ => {
                        *cell.value.borrow_mut() = own.replacen(&part, "", 1);
                        return Ok(Some(taken));
                    }
                };
                let mut letters: Vec<char> = own.chars().collect();
                let at = usize::try_from(if at < 0 { at + letters.len() as i128 } else { at }).unwrap_or(0);
                letters.drain(at..at + part.chars().count());
                *cell.value.borrow_mut() = letters.into_iter().collect();
            }
            taken
        }
        ("[]=", [place, .., new]) => {
            let new = text_of(new)?;
            let text = match (place, given.arguments) {
                (Thing::Text(part), [_, _]) => {
                    let part = part.value.borrow();
                    if !own.contains(part.as_str()) {
                        return raise("IndexError", "string not matched");
                    }
                    own.replacen(part.as_str(), &new, 1)
                }
                (Thing::Regex(_), [_, _]) => {
                    let regex = literal_or_regex(place)?;
                    match interpreter.find(&regex, own)? {
                        Some(found) => format!("{}{new}{}", &own[..found.start()], &own[found.end()..]),
                        None => return raise("IndexError", "regexp not matched"),
                    }
                }
                (place, arguments) => {
                    let mut letters: Vec<char> = own.chars().collect();
                    let (from, count) = match (place, arguments) {
                        (Thing::Range(range), [_, _]) => span_of(range, letters.len())?,
                        (at, [_, count, _]) => (integer_of(at)?, integer_of(count)?),
                        (at, _) => (integer_of(at)?, 1),
                    };
                    let from = if from < 0 { from + letters.len() as i128 } else { from };
                    let Some(from) = usize::try_from(from).ok().filter(|from| *from <= letters.len()) else {
                        return raise("IndexError", format!("index {from} out of string"));
                    };
                    let end = (from + count_of(&Thing::Integer(count))?).min(letters.len());
                    letters.splice(from..end, new.chars());
                    letters.into_iter().collect()
                }
            };
            *cell.value.borrow_mut() = text;
            given.arguments.last().cloned().unwrap_or(Thing::Nil)
        }
        (name, arguments) if name.ends_with('!') && name.len() > 1 => {
            let plain = name.trim_end_matches('!');
            let Some(result) =
                changed(interpreter, own, &Given { name: plain, arguments, block: given.block })?
            else {
                return Ok(None);
            };
            let same = result == own;
            *cell.value.borrow_mut() = result;
            if same && !matches!(plain, "succ" | "next" | "reverse") { Thing::Nil } else { receiver.clone() }
        }
        _ => return Ok(None),
    }))
}

pub(super) fn formatted(
    interpreter: &mut Interpreter<'_, '_, '_>,
    format: &str,
    values: &[Thing],
) -> Result<String> {
    let mut given = Vec::with_capacity(values.len());
    for value in values {
        given.push(match value {
            Thing::Nil
            | Thing::Array(_)
            | Thing::Symbol(_)
            | Thing::Object(_)
            | Thing::Uri(_)
            | Thing::Address(_)
            | Thing::Class(_)
            | Thing::Constant(_) => setpoint_puppet_values::Value::from(interpreter.to_s(value)?),
            other => match other.to_value() {
                Some(value) => value,
                None => return beyond("it formats something unusual"),
            },
        });
    }
    sprintf::sprintf(format, &given)
        .or_else(|error| if error.is_limit { beyond(error.message) } else { argument_error(error.message) })
}

/// The name of an encoding: a text, or a constant of `Encoding`.
fn encoding_name(encoding: &Thing) -> String {
    encoding.to_s().trim_start_matches("Encoding::").to_uppercase().replace('_', "-")
}

fn is_utf8(encoding: &Thing) -> bool {
    matches!(encoding, Thing::Hash(_)) || encoding_name(encoding) == "UTF-8"
}

/// Whether letters of ASCII are the same bytes.
fn is_like_ascii(encoding: &Thing) -> bool {
    matches!(encoding_name(encoding).as_str(), "US-ASCII" | "ASCII" | "ASCII-8BIT" | "BINARY" | "ISO-8859-1")
}
