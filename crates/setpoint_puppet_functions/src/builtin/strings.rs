//! Functions over text.

use setpoint_puppet_values::{Data, Hash, Key, Value, iterate, sprintf};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, required};
use crate::ruby::{self, strings};

/// The three signatures of a function that changes a text: numbers stay, and lists are changed element by element.
macro_rules! text_function {
    ($name:literal, $change:expr) => {
        Function::typed(
            $name,
            &[
                Dispatch::new(&[required("Numeric", "arg")], |_, arguments| Ok(arguments[0].clone())),
                Dispatch::new(&[required("String", "arg")], |_, arguments| {
                    Ok(changed(&arguments[0], $change))
                }),
                Dispatch::new(&[required("Iterable[Variant[String, Numeric]]", "arg")], |_, arguments| {
                    Ok(each_changed(&arguments[0], $change))
                }),
            ],
        )
    };
}

/// The signatures of a function that changes all texts in a structure.
macro_rules! deep_text_function {
    ($name:literal, $change:expr) => {
        Function::typed(
            $name,
            &[
                Dispatch::new(&[required("Numeric", "arg")], |_, arguments| Ok(arguments[0].clone())),
                Dispatch::new(&[required("String", "arg")], |_, arguments| {
                    Ok(deeply_changed(&arguments[0], $change))
                }),
                Dispatch::new(&[required("Array[StringData]", "arg")], |_, arguments| {
                    Ok(deeply_changed(&arguments[0], $change))
                }),
                Dispatch::new(&[required("Hash[StringData, StringData]", "arg")], |_, arguments| {
                    Ok(deeply_changed(&arguments[0], $change))
                }),
            ],
        )
    };
}

pub(super) static CAMELCASE: Function = text_function!("camelcase", strings::camelcase);
pub(super) static CAPITALIZE: Function = text_function!("capitalize", strings::capitalize);
pub(super) static CHOMP: Function = text_function!("chomp", strings::chomp);
pub(super) static CHOP: Function = text_function!("chop", strings::chop);
pub(super) static LSTRIP: Function = text_function!("lstrip", strings::lstrip);
pub(super) static RSTRIP: Function = text_function!("rstrip", strings::rstrip);
pub(super) static STRIP: Function = text_function!("strip", strings::strip);
pub(super) static DOWNCASE: Function = deep_text_function!("downcase", strings::downcase);
pub(super) static UPCASE: Function = deep_text_function!("upcase", strings::upcase);
pub(super) static SHELLQUOTE: Function = Function::counted("shellquote", -1, shellquote);
pub(super) static SPRINTF: Function = Function::counted("sprintf", -2, sprintf);

type Change = fn(&str) -> String;

/// A text changed; one that stays as it is keeps its provenance.
fn changed(value: &Value, change: Change) -> Value {
    match value.as_str() {
        Some(text) => {
            let after = change(text);
            if after == text { value.clone() } else { Value::from(after) }
        }
        None => value.clone(),
    }
}

fn each_changed(value: &Value, change: Change) -> Value {
    let all = iterate(value);
    let items = all.iter().flat_map(setpoint_puppet_values::Iter::iter);
    Value::array(items.map(|item| under(changed(&item, change), value)).collect())
}

/// A new element comes from the collection that it was made of.
fn under(item: Value, whole: &Value) -> Value {
    if item.prov.is_none() { item.made_of(whole.prov) } else { item }
}

fn deeply_changed(value: &Value, change: Change) -> Value {
    match &value.data {
        Data::Array(items) => {
            Value::array(items.iter().map(|item| under(deeply_changed(item, change), item)).collect())
        }
        Data::Hash(entries) => {
            let changed: Hash = entries
                .iter()
                .map(|(key, item)| {
                    (Key(deeply_changed(&key.0, change)), under(deeply_changed(item, change), item))
                })
                .collect();
            Value::hash(changed)
        }
        _ => changed(value, change),
    }
}

fn shellquote(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut words = Vec::new();
    super::collections::flatten_into(arguments, &mut words);
    let quoted: Result<Vec<String>, Stop> = words
        .iter()
        .map(|word| match word.as_str() {
            Some(text) => Ok(shell_word(text)),
            None => Err(context.fail(ruby::text::no_method("length", word))),
        })
        .collect();
    Ok(Value::from(quoted?.join(" ")))
}

fn shell_word(word: &str) -> String {
    const DANGEROUS: &[char] = &['!', '"', '`', '$', '\\'];
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "@%_+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    if !word.contains(DANGEROUS) {
        return format!("\"{word}\"");
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    let mut quoted = String::from("\"");
    for letter in word.chars() {
        if DANGEROUS.contains(&letter) {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted + "\""
}

fn sprintf(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Some(format) = arguments[0].as_str() else {
        return Err(context.fail(ruby::text::no_conversion(&arguments[0], "String")));
    };
    context.checked(sprintf::sprintf(format, &arguments[1..])).map(Value::from)
}
