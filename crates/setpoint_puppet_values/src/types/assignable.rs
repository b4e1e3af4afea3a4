//! When every instance of a type is an instance of another.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::{
    ArrayType, Bounds, CallableType, EnumType, HashType, IntRange, StringType, StructElement, TupleType, Type,
};
use crate::ops;
use crate::value::Data;

/// The questions that one question leads to: a type that names itself leads back to them.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Pairs with an alias that hold, or that are under way: meeting one again means that nothing spoke against it.
    /// What follows a pair was concluded from it, and falls with it.
    assumed: IndexSet<(Type, Type), FxBuildHasher>,
    /// Pairs with an alias that do not hold, whatever is assumed.
    refuted: FxHashSet<(Type, Type)>,
    /// `Init` types that are being compared. Met again, they add no way to make an instance.
    initialising: Vec<(Type, Type)>,
    /// An `Init` type was met again: what is refuted below it may hold elsewhere.
    cut: bool,
}

impl Type {
    /// Whether every instance of `other` is an instance of this type.
    pub fn is_assignable(&self, other: &Self) -> bool {
        self.assignable(other, &mut Guard::default())
    }

    /// Each pair with an alias is decided once, so that types that name each other take no more than quadratic time.
    pub(super) fn assignable(&self, other: &Self, guard: &mut Guard) -> bool {
        if !matches!((self, other), (Self::Alias(_), _) | (_, Self::Alias(_))) {
            return self.assignable_anew(other, guard);
        }
        let pair = (self.clone(), other.clone());
        if guard.assumed.contains(&pair) {
            return true;
        }
        if guard.refuted.contains(&pair) {
            return false;
        }
        let before = guard.assumed.len();
        guard.assumed.insert(pair.clone());
        let result = self.assignable_anew(other, guard);
        if !result {
            guard.assumed.truncate(before);
            if !guard.cut {
                guard.refuted.insert(pair);
            }
        }
        result
    }

    fn assignable_anew(&self, other: &Self, guard: &mut Guard) -> bool {
        match self {
            Self::Alias(alias) => {
                return alias.meaning().is_some_and(|meaning| meaning.assignable(other, guard));
            }
            Self::Unit => return true,
            Self::Variant(types) => {
                let types = types.as_ref().map_or(&[][..], |types| types.as_slice());
                match other {
                    Self::Undef if types.is_empty() => return false,
                    Self::Variant(_) if types.is_empty() => return true,
                    _ => {}
                }
            }
            _ => {}
        }
        match other {
            Self::Unit => true,
            Self::Alias(alias) => match alias.meaning() {
                Some(meaning) => self.assignable(&meaning, guard),
                None => matches!(self, Self::Any),
            },
            Self::Variant(types) => match (self, types) {
                (Self::Any, _) => true,
                (Self::NotUndef(_), None) => self.assignable_directly(other, guard),
                (_, None) => false,
                (_, Some(types)) => types.iter().all(|of| self.assignable(of, guard)),
            },
            Self::Optional(of) => {
                self.assignable(&Self::Undef, guard)
                    && of.as_ref().is_none_or(|of| self.assignable(of, guard))
            }
            // Asked anew: what is assumed must not decide that something does not hold.
            Self::NotUndef(Some(of)) if !of.is_assignable(&Self::Undef) => self.assignable(of, guard),
            _ => self.assignable_directly(other, guard),
        }
    }

    /// `other` is neither an alias nor a union.
    fn assignable_directly(&self, other: &Self, guard: &mut Guard) -> bool {
        match self {
            Self::Any | Self::Unit => true,
            Self::Undef => matches!(other, Self::Undef),
            Self::Default => matches!(other, Self::Default),
            Self::Scalar => other.is_scalar_data() || matches!(
                other,
                Self::Scalar | Self::Regexp(_) | Self::SemVer(_) | Self::SemVerRange | Self::Timespan(_) | Self::Timestamp(_)
            ),
            Self::ScalarData => other.is_scalar_data(),
            Self::Numeric => matches!(other, Self::Numeric | Self::Integer(_) | Self::Float(_)),
            Self::Integer(range) => match other {
                Self::Integer(theirs) => covers(range.as_deref(), theirs.as_deref()),
                _ => false,
            },
            Self::Float(range) => match other {
                Self::Float(theirs) => covers(range.as_deref(), theirs.as_deref()),
                _ => false,
            },
            Self::Boolean(value) => match other {
                Self::Boolean(theirs) => value.is_none() || value == theirs,
                _ => false,
            },
            Self::String(of) => string_assignable(of.as_deref(), other),
            Self::Enum(of) => enum_assignable(of.as_deref(), other),
            Self::Pattern(patterns) => self == other || pattern_assignable(patterns.as_deref(), other),
            Self::Regexp(regex) => match other {
                Self::Regexp(theirs) => regex.is_none() || regex == theirs,
                _ => false,
            },
            Self::Collection(size) => collection_assignable(size.as_deref().copied(), other),
            Self::Array(of) => array_assignable(of.as_deref(), other, guard),
            Self::Hash(of) => hash_assignable(of.as_deref(), other, guard),
            Self::Tuple(of) => of.as_ref().is_none_or(|of| tuple_assignable(of, other, guard)) && {
                matches!(other, Self::Tuple(_) | Self::Array(_))
            },
            Self::Struct(elements) => {
                struct_assignable(elements.as_ref().map_or(&[][..], |elements| elements.as_slice()), other, guard)
            }
            Self::Optional(of) => match (of, other) {
                (_, Self::Undef) | (None, _) => true,
                (Some(of), other) => of.assignable(other, guard),
            },
            Self::NotUndef(of) => {
                !other.is_assignable(&Self::Undef) && of.as_ref().is_none_or(|of| of.assignable(other, guard))
            }
            Self::Type(of) => match (of, other) {
                (None, Self::Type(_)) => true,
                (Some(of), Self::Type(Some(theirs))) => of.assignable(theirs, guard),
                _ => false,
            },
            Self::Iterable(of) => match of {
                None => other.is_iterable(),
                Some(of) if of.assignable(&Self::Any, guard) => other.is_iterable(),
                Some(of) => other.element_of_iteration().is_some_and(|element| of.assignable(&element, guard)),
            },
            Self::Iterator(of) => match other {
                Self::Iterator(theirs) => match (of, theirs) {
                    (None, _) => true,
                    (Some(of), Some(theirs)) => of.assignable(theirs, guard),
                    (Some(of), None) => of.assignable(&Self::Any, guard),
                },
                _ => false,
            },
            Self::Sensitive(of) => match other {
                Self::Sensitive(theirs) => match (of, theirs) {
                    (None, _) => true,
                    (Some(of), Some(theirs)) => of.assignable(theirs, guard),
                    (Some(of), None) => of.assignable(&Self::Any, guard),
                },
                _ => false,
            },
            Self::Variant(types) => {
                types.iter().flat_map(|types| types.iter()).any(|of| of.assignable(other, guard))
            }
            Self::Callable(of) => match other {
                Self::Callable(theirs) => callable_assignable(of.as_deref(), theirs.as_deref(), guard),
                _ => false,
            },
            Self::Init(of) => match (of, other) {
                (None, Self::Init(_)) => true,
                (None, other) => Self::rich_data().assignable(other, guard),
                (Some(of), Self::Init(theirs)) => {
                    let theirs = theirs.as_ref().map_or(&Self::Any, |theirs| &theirs.of);
                    of.of.assignable(theirs, guard)
                }
                (Some(of), other) => {
                    let pair = (self.clone(), other.clone());
                    if guard.initialising.contains(&pair) {
                        guard.cut = true;
                        return false;
                    }
                    guard.initialising.push(pair);
                    let fits = of.initial_types().is_ok_and(|initial| initial.assignable(other, guard));
                    guard.initialising.pop();
                    fits
                }
            },
            Self::Timestamp(range) => match other {
                Self::Timestamp(theirs) => covers(range.as_deref(), theirs.as_deref()),
                _ => false,
            },
            Self::Timespan(range) => match other {
                Self::Timespan(theirs) => covers(range.as_deref(), theirs.as_deref()),
                _ => false,
            },
            Self::SemVer(ranges) => match (ranges, other) {
                (None, Self::SemVer(_)) => true,
                (Some(ranges), Self::SemVer(Some(theirs))) => {
                    theirs.iter().all(|theirs| ranges.iter().any(|range| theirs.is_covered_by(range)))
                }
                _ => false,
            },
            Self::SemVerRange => matches!(other, Self::SemVerRange),
            Self::Binary => matches!(other, Self::Binary),
            Self::Uri(parameters) => match (parameters, other) {
                (None, Self::Uri(_)) => true,
                (Some(parameters), Self::Uri(Some(theirs))) => parameters.iter().all(|(name, expected)| {
                    theirs.get(name).is_some_and(|actual| {
                        ops::option_matches(actual, expected).is_ok_and(|answer| answer.matched)
                            || matches!((&expected.data, &actual.data), (Data::Type(a), Data::Type(b)) if a.assignable(b, guard))
                    })
                }),
                _ => false,
            },
            Self::CatalogEntry => matches!(other, Self::CatalogEntry | Self::Class(_) | Self::Resource(_)),
            Self::Class(name) => match other {
                Self::Class(theirs) => name.is_none() || name == theirs,
                _ => false,
            },
            Self::Resource(of) => match (of, other) {
                (None, Self::Resource(_)) => true,
                (Some(of), Self::Resource(Some(theirs))) => {
                    of.name.eq_ignore_ascii_case(&theirs.name) && (of.title.is_none() || of.title == theirs.title)
                }
                _ => false,
            },
            Self::Runtime(of) => match (of, other) {
                (None, Self::Runtime(_)) => true,
                (Some(_), Self::Runtime(_)) => self == other,
                _ => false,
            },
            Self::Object(of) => match (of, other) {
                (None, Self::Object(_)) => true,
                (Some(of), Self::Object(Some(theirs))) => {
                    theirs.is_or_extends(of) && of.covers_arguments(&theirs.arguments)
                }
                _ => false,
            },
            Self::TypeSet(of) => matches!(other, Self::TypeSet(_)) && (of.is_none() || self == other),
            Self::Reference(_) => self == other,
            Self::Alias(_) => self.assignable(other, guard),
        }
    }

    fn is_scalar_data(&self) -> bool {
        matches!(
            self,
            Self::ScalarData
                | Self::Numeric
                | Self::Integer(_)
                | Self::Float(_)
                | Self::Boolean(_)
                | Self::String(_)
                | Self::Enum(_)
                | Self::Pattern(_)
        )
    }

    /// Whether a value of this type is a block, perhaps an optional one.
    pub fn is_kind_of_callable(&self) -> bool {
        match self {
            Self::Callable(_) => true,
            Self::Optional(Some(of)) => of.is_kind_of_callable(),
            Self::Variant(types) => {
                types.iter().flat_map(|types| types.iter()).all(Self::is_kind_of_callable)
            }
            Self::Alias(alias) => {
                !alias.is_recursive() && alias.target().is_some_and(Self::is_kind_of_callable)
            }
            _ => false,
        }
    }

    /// Whether values of this type can be iterated.
    pub fn is_iterable(&self) -> bool {
        match self {
            Self::Integer(_)
            | Self::Enum(_)
            | Self::String(_)
            | Self::Collection(_)
            | Self::Array(_)
            | Self::Hash(_)
            | Self::Tuple(_)
            | Self::Struct(_)
            | Self::Iterable(_)
            | Self::Iterator(_) => true,
            Self::Type(Some(of)) => match of.as_ref() {
                Self::Enum(_) => true,
                Self::Integer(range) => {
                    range.as_ref().is_some_and(|range| range.from.is_some() && range.to.is_some())
                }
                _ => false,
            },
            Self::Alias(alias) => match alias.target() {
                Some(Self::Alias(_)) | None => false,
                Some(target) => target.is_iterable(),
            },
            _ => false,
        }
    }

    /// What an iteration over values of this type yields, where that is known.
    fn element_of_iteration(&self) -> Option<Self> {
        match self {
            Self::Integer(_) => Some(Self::Integer(None)),
            Self::Enum(_) | Self::String(_) => Some(Self::string_of_size(IntRange::size(1))),
            Self::Array(Some(of)) => (!matches!(of.element, Self::Any)).then(|| of.element.clone()),
            Self::Hash(Some(of)) if of.size != Some(IntRange::EMPTY) => {
                Some(Self::tuple(vec![of.key.clone(), of.value.clone()], Some(IntRange::size(2))))
            }
            Self::Hash(_) | Self::Struct(None) => {
                Some(Self::tuple(vec![Self::Unit, Self::Unit], Some(IntRange::size(2))))
            }
            Self::Struct(Some(elements)) => {
                let keys = elements.iter().map(|element| element.key.clone()).collect();
                let values = elements.iter().map(|element| element.value.clone()).collect();
                Some(Self::tuple(vec![Self::variant(keys), Self::variant(values)], Some(IntRange::size(2))))
            }
            Self::Tuple(of) => Some(Self::variant(of.as_ref().map_or_else(Vec::new, |of| of.types.clone()))),
            Self::Iterable(of) | Self::Iterator(of) => of.as_deref().cloned(),
            Self::Type(Some(of)) if self.is_iterable() => Some(of.as_ref().clone()),
            Self::Alias(alias) => match alias.target() {
                Some(Self::Alias(_)) | None => None,
                Some(target) => target.element_of_iteration(),
            },
            _ => None,
        }
    }
}

fn covers<T: PartialOrd + Copy>(mine: Option<&Bounds<T>>, theirs: Option<&Bounds<T>>) -> bool {
    mine.copied().unwrap_or(Bounds::ALL).covers(&theirs.copied().unwrap_or(Bounds::ALL))
}

fn length(text: &str) -> i64 {
    text.chars().count() as i64
}

fn string_assignable(mine: Option<&StringType>, other: &Type) -> bool {
    match (mine, other) {
        (None, Type::String(_) | Type::Enum(_) | Type::Pattern(_)) => true,
        (Some(StringType::Size(size)), Type::String(theirs)) => size.covers(&match theirs.as_deref() {
            None => IntRange::ANY_SIZE,
            Some(StringType::Size(size)) => *size,
            Some(StringType::Value(value)) => IntRange::size(value.chars().count()),
        }),
        (Some(StringType::Size(size)), Type::Enum(Some(theirs))) if !theirs.values.is_empty() => {
            theirs.values.iter().all(|value| size.contains(&length(value)))
        }
        (Some(StringType::Size(size)), Type::Enum(_) | Type::Pattern(_)) => size.covers(&IntRange::ANY_SIZE),
        (Some(StringType::Value(value)), Type::String(Some(theirs))) => {
            matches!(theirs.as_ref(), StringType::Value(theirs) if theirs == value)
        }
        // Puppet asks only whether there is a single value, not which.
        (Some(StringType::Value(_)), Type::Enum(Some(theirs))) => {
            theirs.values.len() == 1 && !theirs.case_insensitive
        }
        _ => false,
    }
}

impl EnumType {
    pub(super) fn contains(&self, text: &str) -> bool {
        self.values.iter().any(|value| {
            if self.case_insensitive { value.eq_ignore_ascii_case(text) } else { **value == *text }
        })
    }
}

fn enum_assignable(mine: Option<&EnumType>, other: &Type) -> bool {
    let Some(mine) = mine.filter(|mine| !mine.values.is_empty()) else {
        return matches!(other, Type::String(_) | Type::Enum(_) | Type::Pattern(_));
    };
    match other {
        Type::String(Some(theirs)) => match theirs.as_ref() {
            StringType::Value(value) => mine.contains(value),
            StringType::Size(_) => false,
        },
        Type::Enum(Some(theirs)) => {
            mine == theirs.as_ref()
                || !theirs.values.is_empty()
                    && (mine.case_insensitive || !theirs.case_insensitive)
                    && theirs.values.iter().all(|value| mine.contains(value))
        }
        _ => false,
    }
}

fn pattern_assignable(mine: Option<&Vec<crate::Regex>>, other: &Type) -> bool {
    let fits = |text: &str| {
        mine.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.is_match(text).unwrap_or(false)))
    };
    match other {
        Type::String(Some(theirs)) => match theirs.as_ref() {
            StringType::Value(value) => fits(value),
            StringType::Size(_) => mine.is_none(),
        },
        Type::Enum(Some(theirs)) if !theirs.values.is_empty() => {
            theirs.values.iter().all(|value| fits(value))
        }
        Type::String(None) | Type::Enum(_) | Type::Pattern(_) => mine.is_none(),
        _ => false,
    }
}

fn collection_assignable(size: Option<IntRange>, other: &Type) -> bool {
    let size = size.unwrap_or(IntRange::ANY_SIZE);
    match other {
        Type::Collection(theirs) => size.covers(&theirs.as_deref().copied().unwrap_or(IntRange::ANY_SIZE)),
        Type::Array(theirs) => {
            size.covers(&theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE))
        }
        Type::Hash(theirs) => {
            size.covers(&theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE))
        }
        Type::Tuple(theirs) => size.covers(
            &theirs.as_ref().map_or(IntRange::EMPTY, |of| of.size.unwrap_or(IntRange::size(of.types.len()))),
        ),
        Type::Struct(theirs) => {
            size.covers(&IntRange::size(theirs.as_ref().map_or(0, |elements| elements.len())))
        }
        _ => false,
    }
}

fn array_assignable(mine: Option<&ArrayType>, other: &Type, guard: &mut Guard) -> bool {
    let size = mine.and_then(|mine| mine.size).unwrap_or(IntRange::ANY_SIZE);
    let element = mine.map_or(&Type::Any, |mine| &mine.element);
    match other {
        Type::Tuple(None) => size.covers(&IntRange::EMPTY),
        Type::Tuple(Some(theirs)) => {
            size.covers(&theirs.size.unwrap_or(IntRange::size(theirs.types.len())))
                && theirs.types.iter().all(|of| element.assignable(of, guard))
        }
        Type::Array(None) => size.covers(&IntRange::ANY_SIZE) && element.assignable(&Type::Any, guard),
        Type::Array(Some(theirs)) => {
            size.covers(&theirs.size.unwrap_or(IntRange::ANY_SIZE))
                && element.assignable(&theirs.element, guard)
        }
        _ => false,
    }
}

fn hash_assignable(mine: Option<&HashType>, other: &Type, guard: &mut Guard) -> bool {
    let size = mine.and_then(|mine| mine.size).unwrap_or(IntRange::ANY_SIZE);
    let key = mine.map_or(&Type::Any, |mine| &mine.key);
    let value = mine.map_or(&Type::Any, |mine| &mine.value);
    match other {
        Type::Hash(None) => {
            key.assignable(&Type::Any, guard)
                && value.assignable(&Type::Any, guard)
                && size.covers(&IntRange::ANY_SIZE)
        }
        Type::Hash(Some(theirs)) if theirs.size == Some(IntRange::EMPTY) && size.from == Some(0) => true,
        Type::Hash(Some(theirs)) => {
            key.assignable(&theirs.key, guard)
                && value.assignable(&theirs.value, guard)
                && size.covers(&theirs.size.unwrap_or(IntRange::ANY_SIZE))
        }
        Type::Struct(theirs) => {
            let elements = theirs.as_ref().map_or(&[][..], |elements| elements.as_slice());
            size.contains(&(elements.len() as i64))
                && elements.iter().all(|element| {
                    key.is_instance(&crate::Value::string(Arc::clone(&element.name)))
                        && value.assignable(&element.value, guard)
                })
        }
        _ => false,
    }
}

pub(super) fn tuple_assignable(mine: &TupleType, other: &Type, guard: &mut Guard) -> bool {
    let size = mine.size_range();
    match other {
        Type::Tuple(None) => {
            size.covers(&IntRange::ANY_SIZE) && (mine.types.is_empty() || size.from == Some(0))
        }
        Type::Tuple(Some(theirs)) => {
            if !size.covers(&theirs.size_range()) {
                return false;
            }
            if mine.types.is_empty() {
                return true;
            }
            if theirs.types.is_empty() {
                return size.from == Some(0);
            }
            theirs
                .types
                .iter()
                .enumerate()
                .all(|(index, of)| mine.at(index).is_some_and(|at| at.assignable(of, guard)))
        }
        Type::Array(theirs) => {
            let their_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE);
            if !size.covers(&their_size) {
                return false;
            }
            let element = theirs.as_ref().map_or(&Type::Any, |of| &of.element);
            let count = their_size.to.map_or(mine.types.len(), |to| mine.types.len().min(to.max(0) as usize));
            mine.types.iter().take(count).all(|of| of.assignable(element, guard))
        }
        _ => false,
    }
}

fn struct_assignable(mine: &[StructElement], other: &Type, guard: &mut Guard) -> bool {
    match other {
        Type::Struct(theirs) => {
            let theirs = theirs.as_ref().map_or(&[][..], |elements| elements.as_slice());
            let mut matched = 0;
            let fits =
                mine.iter().all(|element| match theirs.iter().find(|their| their.name == element.name) {
                    None => element.key.assignable(&Type::Undef, guard),
                    Some(their) => {
                        matched += 1;
                        element.key.assignable(&their.key, guard)
                            && element.value.assignable(&their.value, guard)
                    }
                });
            fits && matched == theirs.len()
        }
        Type::Hash(theirs) => {
            let any = Type::Any;
            let (key, value, size) = theirs.as_ref().map_or((&any, &any, IntRange::ANY_SIZE), |of| {
                (&of.key, &of.value, of.size.unwrap_or(IntRange::ANY_SIZE))
            });
            let mut required = 0;
            let fits = mine.iter().all(|element| {
                if element.key.assignable(&Type::Undef, guard) {
                    return true;
                }
                required += 1;
                element.value.assignable(value, guard) && element.key.generalize().assignable(key, guard)
            });
            fits && Bounds::new(Some(required), Some(mine.len() as i64)).covers(&size)
        }
        _ => false,
    }
}

fn callable_assignable(
    mine: Option<&CallableType>,
    theirs: Option<&CallableType>,
    guard: &mut Guard,
) -> bool {
    let Some(mine) = mine else { return true };
    let any = Type::Any;
    if let Some(returns) = &mine.returns
        && !returns.assignable(theirs.and_then(|theirs| theirs.returns.as_ref()).unwrap_or(&any), guard)
    {
        return false;
    }
    let Some(parameters) = &mine.parameters else { return true };
    // The other way round: the other must take what this one is called with.
    let Some(their_parameters) = theirs.and_then(|theirs| theirs.parameters.as_ref()) else { return false };
    let as_type = Type::Tuple(Some(Arc::new(parameters.clone())));
    if their_parameters != parameters && !tuple_assignable(their_parameters, &as_type, guard) {
        return false;
    }
    let my_block = mine.block.as_ref().unwrap_or(&Type::Undef);
    let their_block = theirs.and_then(|theirs| theirs.block.as_ref()).unwrap_or(&Type::Undef);
    their_block.assignable(my_block, guard)
}
