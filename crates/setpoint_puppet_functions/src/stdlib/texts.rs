//! stdlib's functions over text and paths.

use std::fmt::Write;

use setpoint_puppet_values::ruby::base64::{
    decode64, encode64, strict_decode64, strict_encode64, urlsafe_decode64, urlsafe_encode64,
};
use setpoint_puppet_values::{Data, Regex, Value, sprintf};

use super::arguments::Arguments;
use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby::{strings, text};

/// A function that changes a text, or each text of an array.
macro_rules! each_text {
    ($name:literal, $change:expr) => {
        Function::counted($name, -1, |context, arguments| each_text(context, arguments, $change))
    };
}

pub(super) static BASE64: Function = Function::counted("base64", -1, base64);
pub(super) static BASENAME: Function = Function::counted("basename", -1, basename);
pub(super) static BATCH_ESCAPE: Function =
    Function::typed("batch_escape", &[Dispatch::new(&[required("Any", "string")], batch_escape)]);
pub(super) static DIRNAME: Function = Function::counted("dirname", -1, dirname);
pub(super) static DOS2UNIX: Function = Function::counted("dos2unix", 1, |context, arguments| {
    lines(context, arguments, |text| text.replace("\r\n", "\n"))
});
pub(super) static POWERSHELL_ESCAPE: Function =
    Function::typed("powershell_escape", &[Dispatch::new(&[required("Any", "string")], powershell_escape)]);
pub(super) static REGEXPESCAPE: Function = each_text!("regexpescape", Regex::escape);
pub(super) static SHELL_ESCAPE: Function = Function::typed(
    "shell_escape",
    &[Dispatch::new(&[required("Any", "string")], |_, arguments| {
        Ok(Value::from(shell_word(&text::to_s(&arguments[0]))))
    })],
);
pub(super) static SHELL_JOIN: Function = Function::counted("shell_join", -1, shell_join);
pub(super) static SHELL_SPLIT: Function = Function::counted("shell_split", -1, shell_split);
pub(super) static SPRINTF_HASH: Function = Function::typed(
    "sprintf_hash",
    &[Dispatch::new(&[required("String", "format"), required("Hash", "arguments")], sprintf_hash)],
);
pub(super) static SQUEEZE: Function = Function::counted("squeeze", -1, squeeze);
pub(super) static SWAPCASE: Function = each_text!("swapcase", strings::swapcase);
pub(super) static UNIX2DOS: Function =
    Function::counted("unix2dos", 1, |context, arguments| lines(context, arguments, unix2dos));
pub(super) static URIESCAPE: Function = each_text!("uriescape", uriescape);
pub(super) static END_WITH: Function = Function::typed(
    "stdlib::end_with",
    &[Dispatch::new(
        &[required("String", "test_string"), required("Variant[String[1],Array[String[1], 1]]", "suffixes")],
        |_, arguments| Ok(any_of(arguments, |text, suffix| text.ends_with(suffix))),
    )],
);
pub(super) static START_WITH: Function = Function::typed(
    "stdlib::start_with",
    &[Dispatch::new(
        &[required("String", "test_string"), required("Variant[String[1],Array[String[1], 1]]", "prefixes")],
        |_, arguments| Ok(any_of(arguments, |text, prefix| text.starts_with(prefix))),
    )],
);
pub(super) static EXTNAME: Function = Function::typed(
    "stdlib::extname",
    &[Dispatch::new(&[required("String", "filename")], |_, arguments| {
        Ok(Value::from(extension(arguments[0].as_str().unwrap_or_default())))
    })],
);
pub(super) static XML_ENCODE: Function = Function::typed(
    "stdlib::xml_encode",
    &[Dispatch::new(&[required("String", "str"), optional("Enum['text','attr']", "type")], xml_encode)],
);

type Result<T> = std::result::Result<T, Stop>;

fn each_text(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    change: fn(&str) -> String,
) -> Result<Value> {
    let Some(value) = arguments.first() else { return Err(context.wrong_count(arguments, "1")) };
    let one = |item: &Value| match item.as_str() {
        Some(text) => Value::from(change(text)).made_of(item.prov),
        None => item.clone(),
    };
    match &value.data {
        Data::Array(items) => Ok(Value::array(items.iter().map(one).collect())),
        Data::String(text) => Ok(Value::from(change(text))),
        _ => {
            let name = context.call.name;
            Err(context.fail(format!("{name}(): Requires either array or string to work with")))
        }
    }
}

fn lines(context: &mut Context<'_, '_>, arguments: &[Value], change: fn(&str) -> String) -> Result<Value> {
    if let Some(text) = arguments[0].as_str() {
        Ok(Value::from(change(text)))
    } else {
        let name = context.call.name;
        Err(context.fail(format!("{name}(): Requires string as argument")))
    }
}

fn unix2dos(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                out.push_str(line.trim_end_matches('\r'));
                out.push_str("\r\n");
            }
            None => out.push_str(line),
        }
    }
    out
}

fn any_of(arguments: &[Value], test: fn(&str, &str) -> bool) -> Value {
    let text = arguments[0].as_str().unwrap_or_default();
    let tests = arguments[1].as_array().unwrap_or(std::slice::from_ref(&arguments[1]));
    Value::from(tests.iter().filter_map(Value::as_str).any(|part| test(text, part)))
}

fn base64(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [action, given, more @ ..] = arguments else {
        return Err(
            context.fail(format!("base64(): Wrong number of arguments ({}; must be >= 2)", arguments.len()))
        );
    };
    let encodes = match action.as_str() {
        Some("encode") => true,
        Some("decode") => false,
        _ => return Err(context.fail("base64(): the first argument must be one of 'encode' or 'decode'")),
    };
    let Some(given) = given.as_str() else {
        return Err(context.fail("base64(): the second argument must be a string to base64"));
    };
    let method = more.first().map_or(Some("default"), Value::as_str);
    let Some(method @ ("default" | "strict" | "urlsafe")) = method else {
        return Err(
            context.fail("base64(): the third argument must be one of 'default', 'strict', or 'urlsafe'")
        );
    };
    if encodes {
        let bytes = given.as_bytes();
        return Ok(Value::from(match method {
            "strict" => strict_encode64(bytes),
            "urlsafe" => urlsafe_encode64(bytes),
            _ => encode64(bytes),
        }));
    }
    let bytes = match method {
        "strict" => strict_decode64(given),
        "urlsafe" => urlsafe_decode64(given),
        _ => Some(decode64(given)),
    };
    let bytes = bytes.ok_or_else(|| context.fail("invalid base64"))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(error) => Value::new(Data::Binary(error.into_bytes().into())),
    })
}

fn basename(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (path, suffix) = match arguments {
        [] => return Err(context.fail("basename(): No arguments given")),
        [path] => (path, None),
        [path, suffix] => (path, Some(suffix)),
        more => return Err(context.fail(format!("basename(): Too many arguments given ({})", more.len()))),
    };
    let Some(path) = path.as_str() else {
        return Err(context.fail("basename(): Requires string as first argument"));
    };
    let name = file_name(path);
    let Some(suffix) = suffix else { return Ok(Value::from(name)) };
    let Some(suffix) = suffix.as_str() else {
        return Err(context.fail("basename(): Requires string as second argument"));
    };
    let stem = if suffix == ".*" {
        name.strip_suffix(extension(name)).filter(|stem| !stem.is_empty())
    } else {
        name.strip_suffix(suffix).filter(|stem| !stem.is_empty())
    };
    Ok(Value::from(stem.unwrap_or(name)))
}

/// `File.basename`.
fn file_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return if path.is_empty() { "" } else { "/" };
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// `File.extname`: a name that starts with a dot has none.
fn extension(path: &str) -> &str {
    let name = file_name(path);
    let start = name.len() - name.trim_start_matches('.').len();
    name[start..].rfind('.').map_or("", |at| &name[start + at..])
}

fn dirname(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let path = match arguments {
        [] => return Err(context.fail("dirname(): No arguments given")),
        [path] => path,
        more => return Err(context.fail(format!("dirname(): Too many arguments given ({})", more.len()))),
    };
    let Some(path) = path.as_str() else {
        return Err(context.fail("dirname(): Requires string as argument"));
    };
    if path.is_empty() {
        return Err(context.fail("dirname(): Requires a non-empty string as argument"));
    }
    let trimmed = path.trim_end_matches('/');
    Ok(Value::from(match trimmed.rfind('/') {
        _ if trimmed.is_empty() => "/",
        None => ".",
        Some(at) => match trimmed[..at].trim_end_matches('/') {
            "" => "/",
            folder => folder,
        },
    }))
}

fn batch_escape(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut out = String::from("\"");
    for letter in text::to_s(&arguments[0]).chars() {
        match letter {
            '"' => out.push_str("\"\""),
            '$' | '\\' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    Ok(Value::from(out + "\""))
}

fn powershell_escape(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut out = String::new();
    for letter in text::to_s(&arguments[0]).chars() {
        match letter {
            ' ' | '\'' | '`' | '|' | '\n' | '$' => out.extend(['`', letter]),
            '"' => out.push_str("\\`\""),
            _ => out.push(letter),
        }
    }
    Ok(Value::from(out))
}

/// `Shellwords.escape`.
fn shell_word(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter {
            '\n' => out.push_str("'\n'"),
            _ if letter.is_ascii_alphanumeric() || "_-.,:+/@".contains(letter) => out.push(letter),
            _ => out.extend(['\\', letter]),
        }
    }
    out
}

fn shell_join(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [words] = arguments else { return Err(context.wrong_count(arguments, "1")) };
    let Some(items) = words.as_array() else {
        return Err(context.fail(format!("First argument is not an Array: {}", text::inspect(words))));
    };
    let words: Vec<String> = items.iter().map(|word| shell_word(&text::to_s(word))).collect();
    Ok(Value::from(words.join(" ")))
}

fn shell_split(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [line] = arguments else { return Err(context.wrong_count(arguments, "1")) };
    let line = text::to_s(line);
    let words = shell_words(&line).ok_or_else(|| {
        context.fail(format!("Unmatched quote: {}", text::inspect(&Value::from(line.as_str()))))
    })?;
    Ok(Value::array(words.into_iter().map(|word| Value::from(word).made_of(arguments[0].prov)).collect()))
}

/// `Shellwords.split`; nothing if a quote is not closed.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' => words.extend(word.take()),
            '\'' => loop {
                match letters.next()? {
                    '\'' => {
                        word.get_or_insert_default();
                        break;
                    }
                    inner => word.get_or_insert_default().push(inner),
                }
            },
            '"' => loop {
                match letters.next()? {
                    '"' => {
                        word.get_or_insert_default();
                        break;
                    }
                    '\\' => match letters.next()? {
                        escaped @ ('$' | '`' | '"' | '\\' | '\n') => {
                            word.get_or_insert_default().push(escaped);
                        }
                        other => word.get_or_insert_default().extend(['\\', other]),
                    },
                    inner => word.get_or_insert_default().push(inner),
                }
            },
            '\\' => match letters.next() {
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => word.get_or_insert_default().push('\\'),
            },
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

fn sprintf_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    super::deprecation::deprecated(
        context,
        "sprintf_hash",
        "This method is deprecated. From Puppet 4.10.10/5.3.4 please use the built-in sprintf instead",
    )?;
    context
        .checked(sprintf::sprintf(arguments[0].as_str().unwrap_or_default(), &arguments[1..]))
        .map(Value::from)
}

fn squeeze(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let (item, letters) = match arguments {
        [item] => (item, None),
        [item, letters] => (item, letters.as_str()),
        _ => {
            let message =
                format!("squeeze(): Wrong number of arguments given {} for 2 or 1", arguments.len());
            return Err(context.fail(message));
        }
    };
    let one = |value: &Value| match value.as_str() {
        Some(text) => Ok(Value::from(squeezed(text, letters)).made_of(value.prov)),
        None => Err(context.fail(text::no_method("squeeze", value))),
    };
    match item.as_array() {
        Some(items) => Ok(Value::array(items.iter().map(one).collect::<Result<_>>()?)),
        None => one(item),
    }
}

/// Runs of the same letter become one, for all letters or those of a set such as `a-z`.
fn squeezed(text: &str, set: Option<&str>) -> String {
    let affected = |letter: char| set.is_none_or(|set| in_set(set, letter));
    let mut out = String::with_capacity(text.len());
    let mut last = None;
    for letter in text.chars() {
        if last != Some(letter) || !affected(letter) {
            out.push(letter);
        }
        last = Some(letter);
    }
    out
}

/// Whether a set of Ruby's `String#count` has a letter: ranges, and `^` for all others.
fn in_set(set: &str, letter: char) -> bool {
    let negated = set.len() > 1 && set.starts_with('^');
    let letters: Vec<char> = set.chars().skip(usize::from(negated)).collect();
    let mut found = false;
    let mut at = 0;
    while at < letters.len() {
        match (letters[at], letters.get(at + 1), letters.get(at + 2)) {
            (from, Some('-'), Some(to)) => {
                found |= (from..=*to).contains(&letter);
                at += 3;
            }
            (only, _, _) => {
                found |= only == letter;
                at += 1;
            }
        }
    }
    found != negated
}

/// What a URI may hold stays; the rest is written in percent.
fn uriescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,[]".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn xml_encode(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let text = arguments[0].as_str().unwrap_or_default();
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(Value::from(match arguments.get(1).and_then(Value::as_str) {
        Some("attr") => format!("\"{}\"", escaped.replace('"', "&quot;")),
        _ => escaped,
    }))
}
