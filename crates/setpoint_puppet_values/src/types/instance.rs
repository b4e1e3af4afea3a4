//! When a value is of a type.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Alias, InitType, IntRange, StringType, StructElement, TupleType, Type, infer};
use crate::value::{Data, Key, Value};

/// The questions that one question leads to.
#[derive(Default)]
struct Asked {
    /// Collections that recursive aliases were asked about: alternatives ask again.
    answers: FxHashMap<(*const Alias, *const Value), bool>,
    /// `Init` types that are being asked. Met again with the same value, they add no way to make an instance.
    initialising: Vec<(*const InitType, *const Value)>,
}

impl Type {
    /// Whether a value is of this type. What could not be computed is of every type.
    pub fn is_instance(&self, value: &Value) -> bool {
        self.instance(value, &mut Asked::default())
    }

    fn instance(&self, value: &Value, asked: &mut Asked) -> bool {
        if matches!(value.data, Data::Opaque(_)) {
            return true;
        }
        match self {
            Self::Any | Self::Unit => true,
            Self::Undef => value.is_undef(),
            Self::Default => matches!(value.data, Data::Default),
            Self::Scalar => match &value.data {
                Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_) | Data::Regex(_) => true,
                Data::Array(_) | Data::Hash(_) | Data::Type(_) | Data::Undef => false,
                _ => self.is_assignable(&infer(value)),
            },
            Self::ScalarData => {
                matches!(value.data, Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_))
            }
            Self::Numeric => matches!(value.data, Data::Integer(_) | Data::Float(_)),
            Self::Integer(range) => match value.data {
                Data::Integer(number) => range.as_ref().is_none_or(|range| range.contains(&number)),
                _ => false,
            },
            Self::Float(range) => match value.data {
                Data::Float(number) => {
                    range.as_ref().map_or(!number.is_nan(), |range| range.contains(&number))
                }
                _ => false,
            },
            Self::Boolean(expected) => match value.data {
                Data::Bool(actual) => expected.is_none_or(|expected| expected == actual),
                _ => false,
            },
            Self::String(of) => match (&value.data, of.as_deref()) {
                (Data::String(_), None) => true,
                (Data::String(text), Some(StringType::Size(size))) => {
                    size.contains(&(text.chars().count() as i64))
                }
                (Data::String(text), Some(StringType::Value(expected))) => text == expected,
                _ => false,
            },
            Self::Enum(of) => match (&value.data, of) {
                (Data::String(text), Some(of)) => of.contains(text),
                _ => false,
            },
            Self::Pattern(patterns) => match (&value.data, patterns) {
                (Data::String(_), None) => true,
                (Data::String(text), Some(patterns)) => {
                    patterns.iter().any(|pattern| pattern.is_match(text).unwrap_or(false))
                }
                _ => false,
            },
            Self::Regexp(expected) => match &value.data {
                Data::Regex(regex) => expected.as_ref().is_none_or(|expected| expected == regex),
                _ => false,
            },
            Self::Collection(size) => match &value.data {
                Data::Array(items) => fits_size(size.as_deref(), items.len()),
                Data::Hash(entries) => fits_size(size.as_deref(), entries.len()),
                _ => false,
            },
            Self::Array(of) => match (&value.data, of) {
                (Data::Array(_), None) => true,
                (Data::Array(items), Some(of)) => {
                    fits_size(of.size.as_ref(), items.len())
                        && items.iter().all(|item| of.element.instance(item, asked))
                }
                _ => false,
            },
            Self::Hash(of) => match (&value.data, of) {
                (Data::Hash(_), None) => true,
                (Data::Hash(entries), Some(of)) => {
                    fits_size(of.size.as_ref(), entries.len())
                        && entries.iter().all(|(key, item)| {
                            of.key.instance(&key.0, asked) && of.value.instance(item, asked)
                        })
                }
                _ => false,
            },
            Self::Tuple(of) => match (&value.data, of) {
                (Data::Array(_), None) => true,
                (Data::Array(items), Some(of)) => tuple_instance(of, items, asked),
                _ => false,
            },
            Self::Struct(elements) => match &value.data {
                Data::Hash(entries) => {
                    let elements = elements.as_ref().map_or(&[][..], |elements| elements.as_slice());
                    struct_instance(elements, entries, asked)
                }
                _ => false,
            },
            Self::Optional(of) => value.is_undef() || of.as_ref().is_some_and(|of| of.instance(value, asked)),
            Self::NotUndef(of) => !value.is_undef() && of.as_ref().is_none_or(|of| of.instance(value, asked)),
            Self::Type(of) => match &value.data {
                Data::Type(actual) => of.as_ref().is_none_or(|of| of.is_assignable(actual)),
                _ => false,
            },
            Self::Iterable(of) => match of {
                Some(of) if !of.is_assignable(&Self::Any) => self.is_assignable(&infer(value)),
                _ => crate::iterator::is_iterable(value),
            },
            Self::Iterator(of) => match &value.data {
                Data::Iterator(iterator) => {
                    of.as_ref().is_none_or(|of| of.is_assignable(&iterator.element_type()))
                }
                _ => false,
            },
            Self::Sensitive(of) => match &value.data {
                Data::Sensitive(inner) => of.as_ref().is_none_or(|of| of.instance(inner, asked)),
                _ => false,
            },
            Self::Variant(types) => {
                types.iter().flat_map(|types| types.iter()).any(|of| of.instance(value, asked))
            }
            Self::Init(of) => match of {
                None => Self::rich_data().instance(value, asked),
                Some(of) => {
                    let here = (Arc::as_ptr(of), std::ptr::from_ref(value));
                    if asked.initialising.contains(&here) {
                        return false;
                    }
                    asked.initialising.push(here);
                    let fits = of.initial_types().is_ok_and(|initial| initial.instance(value, asked));
                    asked.initialising.pop();
                    fits
                }
            },
            Self::Timestamp(range) => match &value.data {
                Data::Timestamp(time) => range.as_ref().is_none_or(|range| range.contains(time)),
                _ => false,
            },
            Self::Timespan(range) => match &value.data {
                Data::Timespan(span) => range.as_ref().is_none_or(|range| range.contains(span)),
                _ => false,
            },
            Self::SemVer(ranges) => match &value.data {
                Data::SemVer(version) => {
                    ranges.as_ref().is_none_or(|ranges| ranges.iter().any(|range| range.contains(version)))
                }
                _ => false,
            },
            Self::SemVerRange => matches!(value.data, Data::SemVerRange(_)),
            Self::Binary => matches!(value.data, Data::Binary(_)),
            Self::Uri(parameters) => match (&value.data, parameters) {
                (Data::Uri(_), None) => true,
                (Data::Uri(uri), Some(parameters)) => parameters.iter().all(|(name, expected)| {
                    let actual = name.as_str().map_or(Value::UNDEF, |name| uri.component(name));
                    crate::ops::option_matches(&actual, expected).is_ok_and(|answer| answer.matched)
                }),
                _ => false,
            },
            // A reference is a type, and the type of a type is `Type[…]`.
            Self::CatalogEntry
            | Self::Class(_)
            | Self::Resource(_)
            | Self::Runtime(_)
            | Self::Callable(_) => false,
            Self::Object(of) => match &value.data {
                Data::Deferred(_) | Data::Object(_) => of.as_ref().is_none_or(|of| of.has_instance(value)),
                _ => false,
            },
            Self::TypeSet(_) | Self::Reference(_) => false,
            Self::Alias(alias) => {
                let Some(meaning) = alias.meaning() else { return false };
                if !alias.is_recursive() || !matches!(value.data, Data::Array(_) | Data::Hash(_)) {
                    return meaning.instance(value, asked);
                }
                let here = (Arc::as_ptr(alias), std::ptr::from_ref(value));
                if let Some(answer) = asked.answers.get(&here) {
                    return *answer;
                }
                let answer = meaning.instance(value, asked);
                // Within an `Init` type, answers hold only there.
                if asked.initialising.is_empty() {
                    asked.answers.insert(here, answer);
                }
                answer
            }
        }
    }
}

fn fits_size(size: Option<&IntRange>, count: usize) -> bool {
    size.is_none_or(|size| size.contains(&(count as i64)))
}

fn tuple_instance(of: &TupleType, items: &[Value], asked: &mut Asked) -> bool {
    let fits = match &of.size {
        Some(size) => size.contains(&(items.len() as i64)),
        None => of.types.is_empty() || of.types.len() == items.len(),
    };
    fits && items
        .iter()
        .enumerate()
        .all(|(index, item)| of.at(index).is_none_or(|of| of.instance(item, asked)))
}

fn struct_instance(elements: &[StructElement], entries: &crate::Hash, asked: &mut Asked) -> bool {
    let mut matched = 0;
    let fits =
        elements.iter().all(|element| match entries.get(&Key(Value::string(Arc::clone(&element.name)))) {
            None => element.key.is_assignable(&Type::Undef),
            Some(item) => {
                matched += 1;
                element.value.instance(item, asked)
            }
        });
    fits && matched == entries.len()
}
