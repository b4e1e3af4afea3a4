//! `versioncmp`: the order of package versions.

use std::cmp::Ordering;

use setpoint_puppet_values::Value;

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby::strings::upcase;

pub(super) static VERSIONCMP: Function = Function::typed(
    "versioncmp",
    &[Dispatch::new(
        &[required("String", "a"), required("String", "b"), optional("Boolean", "ignore_trailing_zeroes")],
        versioncmp,
    )],
);

fn versioncmp(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut versions = [arguments[0].as_str().unwrap_or_default(), arguments[1].as_str().unwrap_or_default()]
        .map(str::to_owned);
    if arguments.get(2).is_some_and(Value::is_true) {
        for version in &mut versions {
            if version.trim_matches('-').is_empty() {
                return Err(context.fail("undefined method `sub!' for nil:NilClass"));
            }
            *version = without_trailing_zeroes(version);
        }
    }
    Ok(Value::from(compare_versions(&versions[0], &versions[1]) as i64))
}

/// Dots and zeros before the first dash are dropped.
fn without_trailing_zeroes(version: &str) -> String {
    match version.trim_end_matches('-').split_once('-') {
        Some((number, rest)) => format!("{}-{rest}", number.trim_end_matches(['.', '0'])),
        None => version.trim_end_matches('-').trim_end_matches(['.', '0']).to_owned(),
    }
}

pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    for (x, y) in parts(a).zip(parts(b)) {
        if x == y {
            continue;
        }
        for separator in ["-", "."] {
            if x == separator {
                return Ordering::Less;
            }
            if y == separator {
                return Ordering::Greater;
            }
        }
        let is_number = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
        if is_number(x) && is_number(y) && !x.starts_with('0') && !y.starts_with('0') {
            return x.len().cmp(&y.len()).then_with(|| x.cmp(y));
        }
        return upcase(x).as_bytes().cmp(upcase(y).as_bytes());
    }
    a.as_bytes().cmp(b.as_bytes())
}

/// Separators, numbers and words.
fn parts(version: &str) -> impl Iterator<Item = &str> {
    let mut rest = version;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if matches!(first, '-' | '.') {
            1
        } else {
            let digits = first.is_ascii_digit();
            rest.find(|letter: char| matches!(letter, '-' | '.') || letter.is_ascii_digit() != digits)
                .unwrap_or(rest.len())
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}
