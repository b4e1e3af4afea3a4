//! When a value is of a type.

use std::sync::Arc;

use super::{Alias, IntRange, StringType, StructElement, TupleType, Type, infer};
use crate::value::{Data, Key, Value};

/// The recursive aliases that are being asked about a value, innermost last.
type UnderWay = Vec<(*const Alias, *const Value)>;

impl Type {
    /// Whether a value is of this type. What could not be computed is of every type.
    pub fn is_instance(&self, value: &Value) -> bool {
        self.instance(value, &mut Vec::new())
    }

    fn instance(&self, value: &Value, under_way: &mut UnderWay) -> bool {
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
                        && items.iter().all(|item| of.element.instance(item, under_way))
                }
                _ => false,
            },
            Self::Hash(of) => match (&value.data, of) {
                (Data::Hash(_), None) => true,
                (Data::Hash(entries), Some(of)) => {
                    fits_size(of.size.as_ref(), entries.len())
                        && entries.iter().all(|(key, item)| {
                            of.key.instance(&key.0, under_way) && of.value.instance(item, under_way)
                        })
                }
                _ => false,
            },
            Self::Tuple(of) => match (&value.data, of) {
                (Data::Array(_), None) => true,
                (Data::Array(items), Some(of)) => tuple_instance(of, items, under_way),
                _ => false,
            },
            Self::Struct(elements) => match &value.data {
                Data::Hash(entries) => {
                    let elements = elements.as_ref().map_or(&[][..], |elements| elements.as_slice());
                    struct_instance(elements, entries, under_way)
                }
                _ => false,
            },
            Self::Optional(of) => {
                value.is_undef() || of.as_ref().is_some_and(|of| of.instance(value, under_way))
            }
            Self::NotUndef(of) => {
                !value.is_undef() && of.as_ref().is_none_or(|of| of.instance(value, under_way))
            }
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
                Data::Sensitive(inner) => of.as_ref().is_none_or(|of| of.instance(inner, under_way)),
                _ => false,
            },
            Self::Variant(types) => {
                types.iter().flat_map(|types| types.iter()).any(|of| of.instance(value, under_way))
            }
            Self::Init(of) => match of {
                None => Self::rich_data().instance(value, under_way),
                Some(of) => of.initial_types().is_ok_and(|initial| initial.is_instance(value)),
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
                Data::Deferred(_) | Data::Object(_) => {
                    of.as_ref().is_none_or(|of| of.name.as_deref() == value.object_name())
                }
                _ => false,
            },
            Self::TypeSet(_) | Self::Reference(_) => false,
            Self::Alias(alias) => {
                let Some(target) = alias.target() else { return false };
                if !alias.is_recursive() {
                    return target.instance(value, under_way);
                }
                let here = (Arc::as_ptr(alias), std::ptr::from_ref(value));
                // Asked about the same value again, an alias has nothing new to say.
                if under_way.iter().rev().take_while(|(_, of)| *of == here.1).any(|pair| *pair == here) {
                    return false;
                }
                under_way.push(here);
                let result = target.instance(value, under_way);
                under_way.pop();
                result
            }
        }
    }
}

fn fits_size(size: Option<&IntRange>, count: usize) -> bool {
    size.is_none_or(|size| size.contains(&(count as i64)))
}

fn tuple_instance(of: &TupleType, items: &[Value], under_way: &mut UnderWay) -> bool {
    let fits = match &of.size {
        Some(size) => size.contains(&(items.len() as i64)),
        None => of.types.is_empty() || of.types.len() == items.len(),
    };
    fits && items
        .iter()
        .enumerate()
        .all(|(index, item)| of.at(index).is_none_or(|of| of.instance(item, under_way)))
}

fn struct_instance(elements: &[StructElement], entries: &crate::Hash, under_way: &mut UnderWay) -> bool {
    let mut matched = 0;
    let fits =
        elements.iter().all(|element| match entries.get(&Key(Value::string(Arc::clone(&element.name)))) {
            None => element.key.is_assignable(&Type::Undef),
            Some(item) => {
                matched += 1;
                element.value.instance(item, under_way)
            }
        });
    fits && matched == entries.len()
}
