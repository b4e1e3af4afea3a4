//! Simpler forms of types: without the sizes and values of single instances, or without redundant alternatives.

use std::sync::Arc;

use super::{
    Bounds, CallableType, InitType, IntRange, ObjectType, StringType, StructElement, TupleType, Type,
};
use crate::regex::Regex;
use crate::semver::SemVerRange;
use crate::value::Hash;

impl Type {
    /// The type without what distinguishes single values: `Integer` for `Integer[1, 2]`.
    #[must_use]
    pub fn generalize(&self) -> Self {
        match self {
            Self::Integer(_) => Self::Integer(None),
            Self::Float(_) => Self::Float(None),
            Self::Boolean(_) => Self::Boolean(None),
            Self::String(_) => Self::String(None),
            Self::Enum(Some(of)) if !of.values.is_empty() => {
                let lengths = of.values.iter().map(|value| value.chars().count() as i64);
                let (from, to) = (lengths.clone().min(), lengths.max());
                Self::string_of_size(Bounds { from, to })
            }
            Self::Enum(_) => Self::String(None),
            Self::Timestamp(_) => Self::Timestamp(None),
            Self::Timespan(_) => Self::Timespan(None),
            Self::Uri(_) => Self::Uri(None),
            Self::Collection(_) => Self::Collection(None),
            Self::Array(Some(of)) => Self::array_of(of.element.generalize()),
            Self::Hash(Some(of)) if of.size == Some(IntRange::EMPTY) => self.clone(),
            Self::Hash(Some(of)) => Self::hash_of(of.key.generalize(), of.value.generalize()),
            Self::Tuple(Some(of)) => Self::tuple(of.types.iter().map(Self::generalize).collect(), of.size),
            Self::Struct(Some(elements)) => Self::structure(map_elements(elements, Self::generalize)),
            Self::Variant(Some(types)) => Self::variant(types.iter().map(Self::generalize).collect()),
            Self::Callable(Some(of)) => of.map(Self::generalize),
            Self::Object(Some(of)) if !of.arguments.is_empty() => {
                Self::Object(Some(Arc::new(ObjectType { arguments: Hash::default(), ..of.as_ref().clone() })))
            }
            _ => self.map_contained(Self::generalize),
        }
    }

    /// The type with each contained type replaced, for types that contain just one.
    fn map_contained(&self, change: fn(&Self) -> Self) -> Self {
        let map = |of: &Arc<Self>| Some(Arc::new(change(of)));
        match self {
            Self::Optional(Some(of)) => Self::Optional(map(of)),
            Self::NotUndef(Some(of)) => Self::not_undef(change(of)),
            Self::Type(Some(of)) => Self::Type(map(of)),
            Self::Iterable(Some(of)) => Self::Iterable(map(of)),
            Self::Iterator(Some(of)) => Self::Iterator(map(of)),
            Self::Sensitive(Some(of)) => Self::sensitive(change(of)),
            Self::Init(Some(of)) => {
                Self::Init(Some(Arc::new(InitType { of: change(&of.of), arguments: of.arguments.clone() })))
            }
            _ => self.clone(),
        }
    }

    /// The simplest type with the same instances.
    #[must_use]
    pub fn normalize(&self) -> Self {
        match self {
            Self::Optional(Some(_)) => match self.map_contained(Self::normalize) {
                Self::Optional(Some(of)) => match of.as_ref() {
                    Self::NotUndef(None) => Self::Optional(None),
                    Self::NotUndef(Some(inner)) => Self::Optional(Some(Arc::clone(inner))).normalize(),
                    of if of.is_assignable(&Self::Undef) => of.clone(),
                    of => Self::optional(of.clone()),
                },
                other => other,
            },
            Self::NotUndef(Some(_)) => match self.map_contained(Self::normalize) {
                Self::NotUndef(Some(of)) => match of.as_ref() {
                    Self::Optional(None) => Self::NotUndef(None),
                    Self::Optional(Some(inner)) => Self::not_undef(inner.as_ref().clone()).normalize(),
                    of if !of.is_assignable(&Self::Undef) => of.clone(),
                    of => Self::not_undef(of.clone()),
                },
                other => other,
            },
            Self::Collection(_) => Self::Collection(None),
            Self::Array(Some(of)) => match &of.element {
                Self::Any => Self::Array(None),
                element => Self::array(element.normalize(), of.size),
            },
            Self::Hash(Some(of)) if of.size == Some(IntRange::EMPTY) => self.clone(),
            Self::Hash(Some(of)) => Self::hash(of.key.normalize(), of.value.normalize(), of.size),
            Self::Tuple(Some(of)) => Self::tuple(of.types.iter().map(Self::normalize).collect(), of.size),
            Self::Struct(Some(elements)) => Self::structure(map_elements(elements, Self::normalize)),
            Self::Callable(Some(of)) => of.map(Self::normalize),
            Self::Variant(Some(types)) => normalize_variant(types),
            _ => self.map_contained(Self::normalize),
        }
    }
}

impl CallableType {
    fn map(&self, change: fn(&Type) -> Type) -> Type {
        let parameters = self.parameters.as_ref().map(|parameters| TupleType {
            types: parameters.types.iter().map(change).collect(),
            size: parameters.size,
        });
        Type::callable(parameters, self.block.as_ref().map(change), self.returns.as_ref().map(change))
    }
}

fn map_elements(elements: &[StructElement], change: fn(&Type) -> Type) -> Vec<StructElement> {
    elements
        .iter()
        .map(|element| StructElement {
            name: Arc::clone(&element.name),
            key: element.key.clone(),
            value: change(&element.value),
        })
        .collect()
}

fn normalize_variant(original: &Arc<Vec<Type>>) -> Type {
    let types: Vec<Type> = original.iter().map(Type::normalize).collect();
    let unchanged = types == **original;
    if let [single] = types.as_slice() {
        return single.clone();
    }
    if types.iter().any(|of| matches!(of, Type::Undef | Type::Optional(_))) {
        let defined = types.into_iter().filter_map(|of| match of {
            Type::Undef => None,
            Type::Optional(Some(inner)) => Some(inner.as_ref().clone()),
            Type::Optional(None) => Some(Type::Any),
            of => Some(of),
        });
        return Type::optional(Type::variant(defined.collect())).normalize();
    }
    let types = match Type::variant(types) {
        Type::Variant(Some(types)) => types.as_ref().clone(),
        single => return single,
    };
    let before = types.len();
    let types = join_not_undefs(types);
    let types = join_enums(types);
    let types = join_patterns(types);
    let types = join_versions(types);
    let types = join_integers(types);
    let types = join_floats(types);
    let types = join_times(types);
    if unchanged && types.len() == before {
        // Joining may have moved alternatives; nothing was joined, so nothing moves.
        return Type::Variant(Some(Arc::clone(original)));
    }
    Type::variant(types)
}

/// Splits a list in two, as long as it has at least two of the first kind.
fn part(types: Vec<Type>, of_kind: impl Fn(&Type) -> bool) -> Result<(Vec<Type>, Vec<Type>), Vec<Type>> {
    if types.iter().filter(|of| of_kind(of)).count() < 2 {
        return Err(types);
    }
    Ok(types.into_iter().partition(of_kind))
}

fn join_not_undefs(types: Vec<Type>) -> Vec<Type> {
    match part(types, |of| matches!(of, Type::NotUndef(_))) {
        Err(types) => types,
        Ok((not_undefs, mut others)) => {
            let inner = not_undefs.into_iter().map(|of| match of {
                Type::NotUndef(Some(inner)) => inner.as_ref().clone(),
                _ => Type::Any,
            });
            others.push(Type::not_undef(Type::variant(inner.collect()).normalize()));
            others
        }
    }
}

fn join_enums(types: Vec<Type>) -> Vec<Type> {
    let exact = |of: &Type| match of {
        Type::Enum(Some(of)) => !of.values.is_empty() && !of.case_insensitive,
        Type::String(Some(of)) => matches!(of.as_ref(), StringType::Value(_)),
        _ => false,
    };
    let types = match part(types, exact) {
        Err(types) => types,
        Ok((enums, mut others)) => {
            let values = enums.iter().flat_map(|of| match of {
                Type::Enum(Some(of)) => of.values.clone(),
                Type::String(Some(of)) => match of.as_ref() {
                    StringType::Value(value) => vec![Arc::clone(value)],
                    StringType::Size(_) => Vec::new(),
                },
                _ => Vec::new(),
            });
            others.push(Type::enumeration(values, false));
            others
        }
    };
    let blind =
        |of: &Type| matches!(of, Type::Enum(Some(of)) if !of.values.is_empty() && of.case_insensitive);
    match part(types, blind) {
        Err(types) => types,
        Ok((enums, mut others)) => {
            let values = enums.iter().flat_map(|of| match of {
                Type::Enum(Some(of)) => of.values.iter().map(|value| value.to_lowercase()).collect(),
                _ => Vec::new(),
            });
            others.push(Type::enumeration(values, true));
            others
        }
    }
}

fn join_patterns(types: Vec<Type>) -> Vec<Type> {
    match part(types, |of| matches!(of, Type::Pattern(_))) {
        Err(types) => types,
        Ok((patterns, mut others)) => {
            let all: Vec<Regex> = patterns
                .iter()
                .flat_map(|of| match of {
                    Type::Pattern(Some(patterns)) => patterns.as_ref().clone(),
                    _ => Vec::new(),
                })
                .collect();
            others.push(Type::pattern(all));
            others
        }
    }
}

fn join_versions(types: Vec<Type>) -> Vec<Type> {
    match part(types, |of| matches!(of, Type::SemVer(_))) {
        Err(types) => types,
        Ok((versions, others)) => {
            let ranges: Vec<SemVerRange> = versions
                .iter()
                .flat_map(|of| match of {
                    Type::SemVer(Some(ranges)) => ranges.as_ref().clone(),
                    _ => Vec::new(),
                })
                .collect();
            [Type::sem_ver(ranges)].into_iter().chain(others).collect()
        }
    }
}

/// Joins the ranges that meet, the last first, as Puppet does.
fn join_ranges<T: Copy + PartialOrd>(
    mut ranges: Vec<Bounds<T>>,
    adjacent: impl Fn(&Bounds<T>, &Bounds<T>) -> bool,
) -> Vec<Bounds<T>> {
    let mut result = Vec::new();
    while let Some(first) = ranges.pop() {
        let mut joined = first;
        let mut apart = Vec::new();
        for range in ranges {
            if joined.intersects(&range) || adjacent(&joined, &range) {
                joined = joined.hull(&range);
            } else {
                apart.push(range);
            }
        }
        result.push(joined);
        ranges = apart;
    }
    result
}

fn join_integers(types: Vec<Type>) -> Vec<Type> {
    match part(types, |of| matches!(of, Type::Integer(_))) {
        Err(types) => types,
        Ok((integers, others)) => {
            let ranges = integers.iter().map(Type::integer_bounds).collect();
            let adjacent = |a: &IntRange, b: &IntRange| {
                let follows = |to: Option<i64>, from: Option<i64>| {
                    to.and_then(|to| to.checked_add(1)).is_some_and(|next| Some(next) == from)
                };
                follows(a.to, b.from) || follows(b.to, a.from)
            };
            join_ranges(ranges, adjacent).into_iter().map(Type::integer_range).chain(others).collect()
        }
    }
}

fn join_floats(types: Vec<Type>) -> Vec<Type> {
    match part(types, |of| matches!(of, Type::Float(_))) {
        Err(types) => types,
        Ok((floats, others)) => {
            let ranges = floats
                .iter()
                .map(|of| match of {
                    Type::Float(Some(range)) => **range,
                    _ => Bounds::ALL,
                })
                .collect();
            join_ranges(ranges, |_, _| false)
                .into_iter()
                .map(|range| Type::float(range.from, range.to))
                .chain(others)
                .collect()
        }
    }
}

fn join_times(types: Vec<Type>) -> Vec<Type> {
    let types = match part(types, |of| matches!(of, Type::Timespan(_))) {
        Err(types) => types,
        Ok((spans, others)) => {
            let ranges = spans.iter().map(|of| match of {
                Type::Timespan(Some(range)) => **range,
                _ => Bounds::ALL,
            });
            join_ranges(ranges.collect(), |_, _| false)
                .into_iter()
                .map(Type::timespan)
                .chain(others)
                .collect()
        }
    };
    match part(types, |of| matches!(of, Type::Timestamp(_))) {
        Err(types) => types,
        Ok((stamps, others)) => {
            let ranges = stamps.iter().map(|of| match of {
                Type::Timestamp(Some(range)) => **range,
                _ => Bounds::ALL,
            });
            join_ranges(ranges.collect(), |_, _| false)
                .into_iter()
                .map(Type::timestamp)
                .chain(others)
                .collect()
        }
    }
}
