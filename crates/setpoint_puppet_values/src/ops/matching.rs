//! `=~`, `in`, and the options of `case` and of selectors.

use crate::error::{Blame, ValueError};
use crate::label::a_an;
use crate::ops::compare::{equals, equals_nested};
use crate::regex::{Match, Regex};
use crate::semver::{SemVer, SemVerRange};
use crate::value::{Data, Value};

/// Whether something matched, and what becomes of `$0`, `$1`, …
#[derive(Clone, Debug)]
pub struct Matched {
    pub matched: bool,
    pub variables: MatchVariables,
}

/// What a match does to the match variables of the scope.
#[derive(Clone, Debug)]
pub enum MatchVariables {
    /// No regular expression was tried.
    Untouched,
    /// One was tried and failed.
    Cleared,
    Set(Box<Match>),
}

impl Matched {
    fn plain(matched: bool) -> Self {
        Self { matched, variables: MatchVariables::Untouched }
    }

    fn regex(found: Option<Match>) -> Self {
        match found {
            Some(found) => Self { matched: true, variables: MatchVariables::Set(Box::new(found)) },
            None => Self { matched: false, variables: MatchVariables::Cleared },
        }
    }
}

/// `left =~ right`; for `!~` negate the answer.
pub fn matches(left: &Value, right: &Value) -> Result<Matched, ValueError> {
    let regex = match &right.data {
        Data::Type(of) => return Ok(Matched::plain(of.is_instance(left))),
        Data::SemVerRange(range) => return Ok(Matched::plain(range_includes(range, left))),
        Data::Regex(regex) => regex.clone(),
        Data::String(source) => {
            Regex::new(std::sync::Arc::clone(source)).map_err(|error| not_a_regex(&error.message))?
        }
        _ => {
            return Err(not_a_regex(&crate::ruby::text::no_conversion(right, "String")));
        }
    };
    let Data::String(text) = &left.data else {
        let message = format!("Left match operand must result in a String value. Got {}.", a_an(left));
        return Err(ValueError::new(message).blaming(Blame::Left));
    };
    Ok(Matched::regex(regex.find_in(text, 0)?))
}

fn not_a_regex(detail: &str) -> ValueError {
    let message =
        format!("Can not convert right match operand to a regular expression. Caused by '{detail}'.");
    ValueError::new(message).blaming(Blame::Right)
}

fn range_includes(range: &SemVerRange, version: &Value) -> bool {
    match &version.data {
        Data::SemVer(version) => range.contains(version),
        Data::String(text) => SemVer::parse(text).is_ok_and(|version| range.contains(&version)),
        _ => false,
    }
}

/// `left in right`.
pub fn contained(left: &Value, right: &Value) -> Result<Matched, ValueError> {
    match &right.data {
        Data::String(text) => match &left.data {
            Data::String(part) => Ok(Matched::plain(text.to_lowercase().contains(&part.to_lowercase()))),
            Data::Regex(regex) => Ok(Matched::regex(regex.find_in(text, 0)?)),
            _ => Ok(Matched::plain(false)),
        },
        Data::Binary(bytes) => Ok(Matched::plain(match &left.data {
            Data::Binary(part) => contains_bytes(bytes, part),
            Data::String(part) => contains_bytes(bytes, part.as_bytes()),
            Data::Integer(byte) => bytes.iter().any(|known| i64::from(*known) == *byte),
            Data::Float(byte) => bytes.iter().any(|known| f64::from(*known) == *byte),
            _ => false,
        })),
        Data::Array(items) => contained_in(left, items.iter()),
        Data::Hash(entries) => contained_in(left, entries.keys().map(|key| &key.0)),
        Data::SemVerRange(range) => Ok(Matched::plain(range_includes(range, left))),
        _ => Ok(Matched::plain(false)),
    }
}

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

fn contained_in<'a>(left: &Value, mut items: impl Iterator<Item = &'a Value>) -> Result<Matched, ValueError> {
    match &left.data {
        Data::Regex(regex) => {
            for item in items {
                if let Data::String(text) = &item.data
                    && let Some(found) = regex.find_in(text, 0)?
                {
                    return Ok(Matched::regex(Some(found)));
                }
            }
            Ok(Matched::regex(None))
        }
        Data::String(_) | Data::SemVer(_) => {
            let mut last = Matched::plain(false);
            for item in items {
                let answer = option_matches(left, item)?;
                if answer.matched {
                    return Ok(answer);
                }
                if !matches!(answer.variables, MatchVariables::Untouched) {
                    last = answer;
                }
            }
            Ok(last)
        }
        Data::Type(of) => Ok(Matched::plain(items.any(|item| of.is_instance(item)))),
        _ => Ok(Matched::plain(items.any(|item| equals_nested(item, left)))),
    }
}

/// Whether an option of `case` or of a selector matches the value that is tested.
pub fn option_matches(tested: &Value, option: &Value) -> Result<Matched, ValueError> {
    match &option.data {
        Data::Regex(regex) => match &tested.data {
            Data::String(text) => Ok(Matched::regex(regex.find_in(text, 0)?)),
            _ => Ok(Matched::plain(false)),
        },
        Data::SemVer(version) => Ok(Matched::plain(match &tested.data {
            Data::SemVer(tested) => version == tested,
            Data::String(text) => SemVer::parse(text).is_ok_and(|tested| **version == tested),
            _ => false,
        })),
        Data::SemVerRange(range) => Ok(Matched::plain(range_includes(range, tested))),
        Data::Type(of) => Ok(Matched::plain(of.is_instance(tested))),
        Data::Array(options) => {
            let Data::Array(items) = &tested.data else { return Ok(Matched::plain(false)) };
            if items.len() != options.len() {
                return Ok(Matched::plain(false));
            }
            all_match(items.iter().zip(options.iter()))
        }
        Data::Hash(options) => {
            let Data::Hash(entries) = &tested.data else { return Ok(Matched::plain(false)) };
            all_match(options.iter().map(|(key, option)| (entries.get(key).unwrap_or(&Value::UNDEF), option)))
        }
        Data::Default => Ok(Matched::plain(true)),
        _ => Ok(Matched::plain(equals(tested, option))),
    }
}

/// Whether all pairs match; the last expression that was tried decides over the match variables.
fn all_match<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Result<Matched, ValueError> {
    let mut result = Matched::plain(true);
    for (tested, option) in pairs {
        let answer = option_matches(tested, option)?;
        result.matched = answer.matched;
        if !matches!(answer.variables, MatchVariables::Untouched) {
            result.variables = answer.variables;
        }
        if !result.matched {
            break;
        }
    }
    Ok(result)
}
