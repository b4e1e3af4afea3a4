//! Functions over regular expressions: `match`, `split`, `regsubst`.

use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Key, Match, Regex, Type, Value, ValueError};

use setpoint_source::Limit;

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, Parameter, optional, required};
use crate::ruby;

pub(super) static MATCH: Function = Function::typed(
    "match",
    &[
        Dispatch::new(
            &[required("String", "string"), required("Variant[Any, Type]", "pattern")],
            |context, arguments| match_text(context, &arguments[0], &arguments[1]),
        ),
        Dispatch::new(
            &[required("Array[String]", "string"), required("Variant[Any, Type]", "pattern")],
            match_each,
        ),
    ],
);

pub(super) static SPLIT: Function = Function::typed(
    "split",
    &[
        Dispatch::new(&[required("String", "str"), required("String", "pattern")], split),
        Dispatch::new(&[required("String", "str"), required("Regexp", "pattern")], split),
        Dispatch::new(&[required("String", "str"), required("Type[Regexp]", "pattern")], split),
    ],
);

pub(super) static REGSUBST: Function = Function::typed(
    "regsubst",
    &[
        Dispatch::new(
            &[
                required("Variant[Array[String],String]", "target"),
                required("String", "pattern"),
                required("Variant[String,Hash[String,String]]", "replacement"),
                optional("Optional[Pattern[/^[GEIM]*$/]]", "flags"),
                optional("Enum['N','E','S','U']", "encoding"),
            ],
            substitute_pattern,
        ),
        Dispatch::new(
            &[
                required("Variant[Array[String],String]", "target"),
                required("Variant[Regexp,Type[Regexp]]", "pattern"),
                required("Variant[String,Hash[String,String]]", "replacement"),
                optional("Pattern[/^G?$/]", "flags"),
            ],
            substitute_regex,
        ),
    ],
);

/// Since version 8 secrets are taken apart, too.
pub(super) static SPLIT_8: Function = Function::typed(
    "split",
    &[
        Dispatch::new(&[required("String", "str"), required("String", "pattern")], split),
        Dispatch::new(&[required("String", "str"), required("Regexp", "pattern")], split),
        Dispatch::new(&[required("String", "str"), required("Type[Regexp]", "pattern")], split),
        Dispatch::new(&[required("Sensitive[String]", "sensitive"), required("String", "pattern")], split),
        Dispatch::new(&[required("Sensitive[String]", "sensitive"), required("Regexp", "pattern")], split),
        Dispatch::new(
            &[required("Sensitive[String]", "sensitive"), required("Type[Regexp]", "pattern")],
            split,
        ),
    ],
);

/// A target, and those that are secrets, as version 8 takes them.
const TARGET_8: Parameter = required(
    "Variant[Array[Variant[String,Sensitive[String]]],Sensitive[Array[Variant[String,Sensitive[String]]]],Variant[String,Sensitive[String]]]",
    "target",
);
const REPLACEMENT: Parameter = required("Variant[String,Hash[String,String]]", "replacement");
const FLAGS: Parameter = optional("Optional[Pattern[/^[GEIM]*$/]]", "flags");
const REGSUBST_REGEX_8: Dispatch = Dispatch::new(
    &[
        TARGET_8,
        required("Variant[Regexp,Type[Regexp]]", "pattern"),
        REPLACEMENT,
        optional("Pattern[/^G?$/]", "flags"),
    ],
    substitute_regex,
);

pub(super) static REGSUBST_8: Function = Function::typed(
    "regsubst",
    &[
        Dispatch::new(
            &[
                TARGET_8,
                required("String", "pattern"),
                REPLACEMENT,
                FLAGS,
                optional("Enum['N','E','S','U']", "encoding"),
            ],
            substitute_pattern,
        ),
        REGSUBST_REGEX_8,
    ],
);

/// Version 9 has no encoding.
pub(super) static REGSUBST_9: Function = Function::typed(
    "regsubst",
    &[
        Dispatch::new(&[TARGET_8, required("String", "pattern"), REPLACEMENT, FLAGS], substitute_pattern),
        REGSUBST_REGEX_8,
    ],
);

fn match_each(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let texts = arguments[0].as_array().unwrap_or_default();
    let results: Result<Vec<_>, _> =
        texts.iter().map(|text| match_text(context, text, &arguments[1])).collect();
    Ok(Value::array(results?))
}

/// The match and its groups as an array, or undef.
fn match_text(context: &Context<'_, '_>, text: &Value, pattern: &Value) -> Result<Value, Stop> {
    match &pattern.data {
        Data::String(source) => {
            let regex = context.checked(Regex::new(source.clone()))?;
            match_regex(context, text, &regex)
        }
        Data::Regex(regex) => match_regex(context, text, regex),
        Data::Array(items) => {
            let mut flat = Vec::new();
            super::collections::flatten_into(items, &mut flat);
            first_match(flat.iter().map(|item| match_text(context, text, item)))
        }
        Data::Type(of) => match of.resolved() {
            Type::Regexp(Some(regex)) => match_regex(context, text, regex),
            Type::Regexp(None) => Err(context.fail("Given Regexp Type has no regular expression")),
            Type::Pattern(patterns) => first_match(
                patterns.iter().flat_map(|all| all.iter()).map(|regex| match_regex(context, text, regex)),
            ),
            Type::Variant(types) => first_match(
                types
                    .iter()
                    .flat_map(|all| all.iter())
                    .map(|of| match_text(context, text, &Value::from(of.clone()))),
            ),
            _ => Err(unsuitable(context, pattern)),
        },
        _ => Err(unsuitable(context, pattern)),
    }
}

fn unsuitable(context: &Context<'_, '_>, pattern: &Value) -> Stop {
    context.fail(format!(
        "match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or Array[T]. Got {}",
        ruby::text::class(pattern)
    ))
}

fn first_match(mut results: impl Iterator<Item = Result<Value, Stop>>) -> Result<Value, Stop> {
    results.find(|result| !matches!(result, Ok(value) if value.is_undef())).unwrap_or(Ok(Value::UNDEF))
}

fn match_regex(context: &Context<'_, '_>, text: &Value, regex: &Regex) -> Result<Value, Stop> {
    let Some(found) = context.checked(regex.find(text.as_str().unwrap_or_default()))? else {
        return Ok(Value::UNDEF);
    };
    let groups = (0..found.groups.len()).map(|at| found.group(at).map_or(Value::UNDEF, Value::from));
    Ok(Value::array(groups.collect()))
}

/// The regular expression that an argument means: a text, an expression or a type. The type without a pattern is the
/// empty expression.
fn regex_of(context: &Context<'_, '_>, pattern: &Value) -> Result<Regex, Stop> {
    match &pattern.data {
        Data::Regex(regex) => return Ok(regex.clone()),
        Data::Type(of) => {
            if let Type::Regexp(Some(regex)) = of.resolved() {
                return Ok(regex.clone());
            }
        }
        _ => {}
    }
    context.checked(Regex::new(pattern.as_str().unwrap_or_default()))
}

fn split(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    if let Data::Sensitive(inner) = &arguments[0].data {
        let parts = split(context, &[inner.as_ref().clone(), arguments[1].clone()])?;
        return Ok(Value::new(Data::Sensitive(Arc::new(parts))));
    }
    let text = arguments[0].as_str().unwrap_or_default();
    let regex = regex_of(context, &arguments[1])?;
    let prov = arguments[0].prov;
    let parts = context.checked(split_text(text, &regex))?;
    Ok(Value::array(parts.into_iter().map(|part| Value::from(part).made_of(prov)).collect()))
}

/// `String#split` by an expression: empty texts at the end are dropped, and groups become parts.
pub(crate) fn split_text(
    text: &str,
    regex: &Regex,
) -> Result<Vec<String>, setpoint_puppet_values::ValueError> {
    let mut parts: Vec<String> = Vec::new();
    let shared: Arc<str> = Arc::from(text);
    let (mut begin, mut start) = (0, 0);
    let mut stepped_over = false;
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
    while start <= text.len() {
        let Some(found) = regex.find_in(&shared, start)? else { break };
        if found.start() == start && found.end() == start {
            if text.is_empty() {
                parts.push(String::new());
                break;
            }
            if !stepped_over {
                // An empty match: it ends the letter before the next place.
                start += next_letter(text, start);
                stepped_over = true;
                continue;
            }
            parts.push(piece(begin, begin + next_letter(text, begin)));
            begin = start;
        } else {
            parts.push(piece(begin, found.start()));
            begin = found.end();
            start = begin;
        }
        stepped_over = false;
        parts.extend((1..found.groups.len()).filter_map(|at| found.group(at)).map(str::to_owned));
    }
    if text.len() > begin {
        parts.push(piece(begin, text.len()));
    }
    while parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    Ok(parts)
}

/// The bytes of the letter at a place; one past the end.
fn next_letter(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

fn substitute_pattern(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let flags = arguments.get(3).and_then(Value::as_str).unwrap_or_default();
    let source = arguments[1].as_str().unwrap_or_default();
    let options: String = [('M', 'm'), ('I', 'i'), ('E', 'x')]
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, option)| *option)
        .collect();
    let source = match options.as_str() {
        "" => source.to_owned(),
        // An extended expression may end in a comment, which a line end closes.
        _ if options.contains('x') => format!("(?{options}:{source}\n)"),
        _ => format!("(?{options}:{source})"),
    };
    let regex = context.checked(Regex::new(source))?;
    substitute(context, arguments, &regex, flags.contains('G'))
}

fn substitute_regex(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let everywhere = arguments.get(3).and_then(Value::as_str) == Some("G");
    let regex = regex_of(context, &arguments[1])?;
    substitute(context, arguments, &regex, everywhere)
}

fn substitute(
    context: &Context<'_, '_>,
    arguments: &[Value],
    regex: &Regex,
    everywhere: bool,
) -> Result<Value, Stop> {
    let plain = |target: &Value| -> Result<Value, Stop> {
        let text = target.as_str().unwrap_or_default();
        let replaced = substitute_text(text, regex, &arguments[2], everywhere).map_err(|error| {
            if error.is_limit { context.stop(error) } else { context.fail(error.message) }
        })?;
        Ok(if replaced == text { target.clone() } else { Value::from(replaced) })
    };
    let one = |target: &Value| match &target.data {
        Data::Sensitive(inner) => Ok(Value::new(Data::Sensitive(Arc::new(plain(inner)?)))),
        _ => plain(target),
    };
    // The elements of a secret list lose their cover, as in Puppet.
    let targets = match &arguments[0].data {
        Data::Sensitive(inner) if inner.as_array().is_some() => inner.as_array(),
        _ => arguments[0].as_array(),
    };
    match targets {
        Some(targets) => {
            let prov = arguments[0].prov;
            let own = |value: Value| if value.prov.is_none() { value.made_of(prov) } else { value };
            let results: Result<Vec<_>, _> = targets.iter().map(|target| one(target).map(own)).collect();
            Ok(Value::array(results?))
        }
        None => one(&arguments[0]),
    }
}

/// A replacement may double a text; larger texts are refused.
const MAX_REPLACED: Limit = Limit::new(16 << 20);

/// `String#sub` and `String#gsub`.
pub(crate) fn substitute_text(
    text: &str,
    regex: &Regex,
    replacement: &Value,
    everywhere: bool,
) -> Result<String, ValueError> {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut start = 0;
    let shared: Arc<str> = Arc::from(text);
    while start <= text.len() {
        let Some(found) = regex.find_in(&shared, start)? else { break };
        if out.len() > MAX_REPLACED {
            let message = format!("Setpoint replaces no more than {} MiB of text", MAX_REPLACED.get() >> 20);
            return Err(ValueError::limit(message));
        }
        out.push_str(text.get(done..found.start()).unwrap_or_default());
        match &replacement.data {
            Data::Hash(entries) => out.push_str(&from_hash(entries, &found)),
            _ => expand(replacement.as_str().unwrap_or_default(), &found, text, &mut out)?,
        }
        done = found.end();
        start = found.end();
        if !everywhere {
            break;
        }
        if found.start() == found.end() {
            start += next_letter(text, start);
            out.push_str(text.get(done..start).unwrap_or_default());
            done = start;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok(out)
}

fn from_hash(entries: &Hash, found: &Match) -> String {
    let matched = found.group(0).unwrap_or_default();
    entries.get(&Key::from(matched)).map(ruby::text::to_s).unwrap_or_default()
}

/// Writes a replacement with its back-references filled in.
fn expand(replacement: &str, found: &Match, text: &str, out: &mut String) -> Result<(), ValueError> {
    let mut rest = replacement;
    while let Some(at) = rest.find('\\') {
        // A reference may stand for the whole text, and a replacement may have thousands of them.
        if out.len() > 2 * MAX_REPLACED.get() {
            return Ok(());
        }
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(letter) = after.chars().next() else {
            out.push('\\');
            return Ok(());
        };
        rest = &after[letter.len_utf8()..];
        match letter {
            '0'..='9' => {
                let group = letter.to_digit(10).unwrap_or(0) as usize;
                out.push_str(found.group(group).unwrap_or_default());
            }
            '&' => out.push_str(found.group(0).unwrap_or_default()),
            '`' => out.push_str(text.get(..found.start()).unwrap_or_default()),
            '\'' => out.push_str(text.get(found.end()..).unwrap_or_default()),
            '\\' => out.push('\\'),
            'k' => match rest.strip_prefix('<').and_then(|name| name.split_once('>')) {
                Some((name, after)) => {
                    if !found.names.iter().any(|(known, _)| &**known == name) {
                        let message = format!("undefined group name reference: {name}");
                        return Err(ValueError::new(message));
                    }
                    out.push_str(found.named(name).unwrap_or_default());
                    rest = after;
                }
                None => out.push_str("\\k"),
            },
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out.push_str(rest);
    Ok(())
}
