//! The type of a value, and the type that two types have in common.

use std::sync::Arc;

use super::{Bounds, EnumType, IntRange, ResourceType, StringType, StructElement, Type};
use crate::semver::SemVerRange;
use crate::value::{Data, Hash, Value};

/// The type of a value; a collection has one element type.
pub fn infer(value: &Value) -> Type {
    match &value.data {
        Data::Undef => Type::Undef,
        Data::Default => Type::Default,
        Data::Bool(value) => Type::Boolean(Some(*value)),
        Data::Integer(number) => Type::integer_range(Bounds::exactly(*number)),
        Data::Float(number) => Type::float(Some(*number), Some(*number)),
        Data::String(text) => Type::string_value(Arc::clone(text)),
        Data::Array(items) if items.is_empty() => Type::empty_array(),
        Data::Array(items) => Type::array(reduce(items.iter()), Some(IntRange::size(items.len()))),
        Data::Hash(entries) if entries.is_empty() => Type::empty_hash(),
        Data::Hash(entries) => {
            let key = reduce(entries.keys().map(|key| &key.0));
            let item = reduce(entries.values());
            Type::hash(key, item, Some(IntRange::size(entries.len())))
        }
        Data::Sensitive(inner) => Type::sensitive(infer(inner).generalize()),
        Data::Type(of) => Type::type_of(of.clone()),
        Data::Regex(regex) => Type::Regexp(Some(regex.clone())),
        Data::Timestamp(time) => Type::timestamp(Bounds::exactly(*time)),
        Data::Timespan(span) => Type::timespan(Bounds::exactly(*span)),
        Data::SemVer(_) => Type::SemVer(None),
        Data::SemVerRange(_) => Type::SemVerRange,
        Data::Uri(uri) => Type::Uri(uri.parameters().map(Arc::new)),
        Data::Binary(_) => Type::Binary,
        Data::Iterator(iterator) => Type::iterator(iterator.element_type()),
        Data::Deferred(_) => Type::deferred(),
        Data::Object(object) => match &object.of {
            Some(of) => Type::Object(Some(of.of_instance(|name| object.get(name)))),
            None => Type::object_named(&object.type_name),
        },
        Data::Opaque(_) => Type::Unit,
    }
}

/// The type of a value without its size or value.
pub fn infer_generic(value: &Value) -> Type {
    infer(value).generalize()
}

/// The most precise type: tuples for arrays, structs for hashes with string keys.
pub fn infer_set(value: &Value) -> Type {
    match &value.data {
        Data::Array(items) if !items.is_empty() => Type::tuple(items.iter().map(infer_set).collect(), None),
        Data::Hash(entries) if !entries.is_empty() => infer_struct(entries),
        Data::SemVer(version) => {
            Type::SemVer(Some(Arc::new(vec![SemVerRange::between(version, version, false)])))
        }
        _ => infer(value),
    }
}

fn infer_struct(entries: &Hash) -> Type {
    if entries.keys().all(|key| key.as_str().is_some_and(|key| !key.is_empty())) {
        let elements = entries.iter().filter_map(|(key, item)| {
            let Data::String(name) = &key.0.data else { return None };
            Some(StructElement::required(Arc::clone(name), infer_set(item)))
        });
        return Type::structure(elements.collect());
    }
    let key = Type::variant(entries.keys().map(|key| infer_set(&key.0)).collect());
    let item = Type::variant(entries.values().map(infer_set).collect());
    Type::hash(key, item, Some(IntRange::size(entries.len())))
}

/// The type that all values have in common. Many strings are many values of one enumeration, which is made at once.
fn reduce<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Type {
    let texts: Option<Vec<Arc<str>>> = values
        .clone()
        .map(|value| match &value.data {
            Data::String(text) => Some(Arc::clone(text)),
            _ => None,
        })
        .collect();
    match texts {
        Some(texts) if texts.windows(2).any(|pair| pair[0] != pair[1]) => Type::enumeration(texts, false),
        _ => values.map(infer).reduce(|a, b| common_type(&a, &b)).unwrap_or(Type::Unit),
    }
}

/// The narrowest known type that values of both have.
pub fn common_type(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Undef | Type::Unit, _) => return b.clone(),
        (_, Type::Undef | Type::Unit) => return a.clone(),
        _ => {}
    }
    if a.is_assignable(b) {
        return a.clone();
    }
    if b.is_assignable(a) {
        return b.clone();
    }
    match (a, b) {
        (Type::Array(a), Type::Array(b)) => {
            let any = Type::Any;
            let (a, b) = (a.as_ref().map_or(&any, |a| &a.element), b.as_ref().map_or(&any, |b| &b.element));
            Type::array_of(common_type(a, b))
        }
        (Type::Hash(a), Type::Hash(b)) => {
            let any = Type::Any;
            let parts = |of: &Option<Arc<super::HashType>>| {
                of.as_ref().map_or((any.clone(), any.clone()), |of| (of.key.clone(), of.value.clone()))
            };
            let ((a_key, a_value), (b_key, b_value)) = (parts(a), parts(b));
            Type::hash_of(common_type(&a_key, &b_key), common_type(&a_value, &b_value))
        }
        (Type::Class(_), Type::Class(_)) => Type::Class(None),
        (Type::Resource(a), Type::Resource(b)) => match (a, b) {
            (Some(a), Some(b)) if a.name == b.name => {
                Type::Resource(Some(Arc::new(ResourceType { name: Arc::clone(&a.name), title: None })))
            }
            _ => Type::Resource(None),
        },
        (Type::Integer(_), Type::Integer(_)) => {
            Type::integer_range(a.integer_bounds().hull(&b.integer_bounds()))
        }
        (Type::Float(Some(a)), Type::Float(Some(b))) => {
            let hull = a.hull(b);
            Type::float(hull.from, hull.to)
        }
        (Type::String(a), Type::String(b)) => common_string(a.as_deref(), b.as_deref()),
        (Type::String(text), Type::Enum(values)) => match text.as_deref() {
            Some(StringType::Value(value)) => {
                Type::enumeration(enum_values(values.as_deref()).chain([Arc::clone(value)]), false)
            }
            _ => Type::Enum(None),
        },
        (Type::Enum(values), Type::String(text)) => match text.as_deref() {
            Some(StringType::Value(value)) => {
                Type::enumeration(enum_values(values.as_deref()).chain([Arc::clone(value)]), false)
            }
            _ => Type::Enum(None),
        },
        (Type::Enum(a), Type::Enum(b)) => {
            Type::enumeration(enum_values(a.as_deref()).chain(enum_values(b.as_deref())), false)
        }
        (Type::Pattern(a), Type::Pattern(b)) => Type::pattern(
            [a, b].into_iter().flatten().flat_map(|patterns| patterns.iter().cloned()).collect(),
        ),
        (Type::Variant(a), Type::Variant(b)) => {
            Type::variant([a, b].into_iter().flatten().flat_map(|types| types.iter().cloned()).collect())
        }
        (Type::Regexp(_), Type::Regexp(_)) => Type::Regexp(None),
        (Type::Callable(_), Type::Callable(_)) => Type::Callable(None),
        _ => common_base(a, b),
    }
}

fn enum_values(of: Option<&EnumType>) -> impl Iterator<Item = Arc<str>> + '_ {
    of.into_iter().flat_map(|of| of.values.iter().cloned())
}

fn common_string(a: Option<&StringType>, b: Option<&StringType>) -> Type {
    match (a, b) {
        (Some(StringType::Size(a)), Some(StringType::Size(b))) => Type::string_of_size(if a.covers(b) {
            *a
        } else if b.covers(a) {
            *b
        } else {
            a.hull(b)
        }),
        (Some(StringType::Value(a)), Some(StringType::Value(b))) => {
            Type::enumeration([Arc::clone(a), Arc::clone(b)], false)
        }
        _ => Type::String(None),
    }
}

/// The first of the broad types that both fit.
fn common_base(a: &Type, b: &Type) -> Type {
    for base in [Type::Numeric, Type::ScalarData, Type::Scalar, Type::data()] {
        if base.is_assignable(a) && base.is_assignable(b) {
            return base;
        }
    }
    if let (Type::Type(a), Type::Type(b)) = (a, b) {
        return match (a, b) {
            (Some(a), Some(b)) => Type::type_of(common_type(a, b)),
            (Some(of), None) | (None, Some(of)) => Type::type_of(of.as_ref().clone()),
            (None, None) => Type::Type(None),
        };
    }
    let rich = Type::rich_data();
    if rich.is_assignable(a) && rich.is_assignable(b) { rich } else { Type::Any }
}
