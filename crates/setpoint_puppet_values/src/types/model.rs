//! The data types of the language.

use std::sync::{Arc, OnceLock};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::ObjectType;
use crate::time::{Timespan, Timestamp};
use crate::value::{Hash, Value};
use crate::{Regex, SemVerRange};

/// A data type. Parameters are behind an `Arc`, so that a type is two words and cheap to copy; `None` stands for the
/// type without parameters.
#[derive(Clone, Debug, Default)]
pub enum Type {
    #[default]
    Any,
    /// The type that accepts and fits everything: what an empty array has as its element.
    Unit,
    Undef,
    Default,
    Scalar,
    ScalarData,
    Numeric,
    CatalogEntry,
    SemVerRange,
    Binary,
    Integer(Option<Arc<IntRange>>),
    Float(Option<Arc<FloatRange>>),
    Boolean(Option<bool>),
    String(Option<Arc<StringType>>),
    Enum(Option<Arc<EnumType>>),
    Pattern(Option<Arc<Vec<Regex>>>),
    Regexp(Option<Regex>),
    Collection(Option<Arc<IntRange>>),
    Array(Option<Arc<ArrayType>>),
    Hash(Option<Arc<HashType>>),
    Tuple(Option<Arc<TupleType>>),
    Struct(Option<Arc<Vec<StructElement>>>),
    Optional(Option<Arc<Type>>),
    NotUndef(Option<Arc<Type>>),
    /// `Type[T]`: the type of types.
    Type(Option<Arc<Type>>),
    Iterable(Option<Arc<Type>>),
    Iterator(Option<Arc<Type>>),
    Sensitive(Option<Arc<Type>>),
    Variant(Option<Arc<Vec<Type>>>),
    Callable(Option<Arc<CallableType>>),
    Init(Option<Arc<InitType>>),
    Timestamp(Option<Arc<Bounds<Timestamp>>>),
    Timespan(Option<Arc<Bounds<Timespan>>>),
    SemVer(Option<Arc<Vec<SemVerRange>>>),
    /// The components that a URI must have, each matched as a case option is.
    Uri(Option<Arc<Hash>>),
    /// `File`, `File['/a']`, and `Resource` without parameters.
    Resource(Option<Arc<ResourceType>>),
    Class(Option<Arc<String>>),
    Runtime(Option<Arc<RuntimeType>>),
    /// `Object[{…}]`, and the object types that Puppet declares itself: `Deferred`, `Error`, …
    Object(Option<Arc<ObjectType>>),
    TypeSet(Option<Arc<TypeSetType>>),
    /// A name that no loader knows.
    Reference(Arc<String>),
    Alias(Arc<Alias>),
}

/// A range with optional ends, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds<T> {
    pub from: Option<T>,
    pub to: Option<T>,
}

pub type IntRange = Bounds<i64>;
pub type FloatRange = Bounds<f64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StringType {
    Size(IntRange),
    /// Exactly this string.
    Value(Arc<str>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// Sorted, each once.
    pub values: Vec<Arc<str>>,
    pub case_insensitive: bool,
}

#[derive(Clone, Debug)]
pub struct ArrayType {
    pub element: Type,
    pub size: Option<IntRange>,
}

#[derive(Clone, Debug)]
pub struct HashType {
    pub key: Type,
    pub value: Type,
    pub size: Option<IntRange>,
}

#[derive(Clone, Debug)]
pub struct TupleType {
    pub types: Vec<Type>,
    pub size: Option<IntRange>,
}

#[derive(Clone, Debug)]
pub struct StructElement {
    pub name: Arc<str>,
    /// `String[value]`, or `Optional` of it.
    pub key: Type,
    pub value: Type,
}

#[derive(Clone, Debug, Default)]
pub struct CallableType {
    /// `None`: any parameters.
    pub parameters: Option<TupleType>,
    pub block: Option<Type>,
    /// `None`: `Any`.
    pub returns: Option<Type>,
}

#[derive(Clone, Debug)]
pub struct InitType {
    pub of: Type,
    pub arguments: Vec<Value>,
}

#[derive(Clone, Debug)]
pub struct ResourceType {
    /// As it was written, each segment with a capital.
    pub name: Arc<str>,
    pub title: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuntimeType {
    pub runtime: Arc<str>,
    pub name: Arc<str>,
}

#[derive(Clone, Debug)]
pub struct TypeSetType {
    /// `None` while the set has not been given a name by an alias.
    pub name: Option<Arc<str>>,
    pub definition: Value,
}

/// A type with a name of its own; the target may mention the alias again. Two aliases are equal if their names are.
#[derive(Debug)]
pub struct Alias {
    pub name: Arc<str>,
    target: OnceLock<Type>,
    recursive: OnceLock<bool>,
    alternatives: OnceLock<Type>,
}

impl Alias {
    /// An alias whose target comes later, through [`Alias::resolve`].
    pub fn new(name: impl Into<Arc<str>>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            target: OnceLock::new(),
            recursive: OnceLock::new(),
            alternatives: OnceLock::new(),
        })
    }

    pub fn resolved(name: impl Into<Arc<str>>, target: Type) -> Arc<Self> {
        let alias = Self::new(name);
        let _ = alias.target.set(target);
        alias
    }

    pub fn target(&self) -> Option<&Type> {
        self.target.get()
    }

    pub(super) fn set_target(&self, target: Type) {
        let _ = self.target.set(target);
    }

    pub(super) fn recursion(&self) -> &OnceLock<bool> {
        &self.recursive
    }

    pub(super) fn known_alternatives(&self) -> &OnceLock<Type> {
        &self.alternatives
    }
}

impl<T> Bounds<T> {
    pub const ALL: Self = Self { from: None, to: None };

    pub fn new(from: Option<T>, to: Option<T>) -> Self {
        Self { from, to }
    }

    pub fn is_unbounded(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

impl<T: PartialOrd> Bounds<T> {
    pub fn contains(&self, value: &T) -> bool {
        self.from.as_ref().is_none_or(|from| value >= from) && self.to.as_ref().is_none_or(|to| value <= to)
    }

    pub fn covers(&self, other: &Self) -> bool {
        let from = match (&self.from, &other.from) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a <= b,
        };
        let to = match (&self.to, &other.to) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a >= b,
        };
        from && to
    }

    fn is_empty(&self) -> bool {
        matches!((&self.from, &self.to), (Some(from), Some(to)) if from > to)
    }

    /// The range, or nothing if `from` lies above `to`.
    pub fn checked(from: Option<T>, to: Option<T>) -> Option<Self> {
        let range = Self { from, to };
        (!range.is_empty()).then_some(range)
    }
}

impl<T: Copy + PartialOrd> Bounds<T> {
    pub fn intersects(&self, other: &Self) -> bool {
        let apart =
            |to: Option<T>, from: Option<T>| matches!((to, from), (Some(to), Some(from)) if to < from);
        !apart(self.to, other.from) && !apart(other.to, self.from)
    }

    /// The smallest range that covers both.
    pub fn hull(&self, other: &Self) -> Self {
        let from = match (self.from, other.from) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            _ => None,
        };
        let to = match (self.to, other.to) {
            (Some(a), Some(b)) => Some(if b > a { b } else { a }),
            _ => None,
        };
        Self { from, to }
    }
}

impl<T: Copy + PartialEq> Bounds<T> {
    pub fn exactly(value: T) -> Self {
        Self { from: Some(value), to: Some(value) }
    }
}

impl IntRange {
    /// The range as a size: not below zero.
    #[must_use]
    pub fn to_size(self) -> Self {
        match self.from {
            Some(from) if from >= 0 => self,
            _ => Self { from: Some(0), to: self.to.map(|to| to.max(0)) },
        }
    }

    pub const fn size(count: usize) -> Self {
        Self { from: Some(count as i64), to: Some(count as i64) }
    }

    /// Any size.
    pub const ANY_SIZE: Self = Self { from: Some(0), to: None };
    pub const EMPTY: Self = Self { from: Some(0), to: Some(0) };
}

/// Makers: the one place that keeps the form of each type regular (`None` for no parameters).
impl Type {
    pub fn integer(from: Option<i64>, to: Option<i64>) -> Self {
        Self::integer_range(Bounds { from, to })
    }

    pub fn integer_range(range: IntRange) -> Self {
        Self::Integer((!range.is_unbounded()).then(|| Arc::new(range)))
    }

    pub fn float(from: Option<f64>, to: Option<f64>) -> Self {
        let range = Bounds { from, to };
        Self::Float((!range.is_unbounded()).then(|| Arc::new(range)))
    }

    pub fn timestamp(range: Bounds<Timestamp>) -> Self {
        Self::Timestamp((!range.is_unbounded()).then(|| Arc::new(range)))
    }

    pub fn timespan(range: Bounds<Timespan>) -> Self {
        Self::Timespan((!range.is_unbounded()).then(|| Arc::new(range)))
    }

    /// Ranges that touch become one.
    pub fn sem_ver(mut ranges: Vec<SemVerRange>) -> Self {
        if ranges.is_empty() {
            return Self::SemVer(None);
        }
        let mut result = Vec::new();
        while let Some(first) = ranges.pop() {
            let mut joined = first;
            let mut apart = Vec::new();
            for range in ranges {
                match joined.merge(&range) {
                    Some(both) => joined = both,
                    None => apart.push(range),
                }
            }
            result.push(joined);
            ranges = apart;
        }
        result.reverse();
        Self::SemVer(Some(Arc::new(result)))
    }

    /// The range of an `Integer` type.
    pub fn integer_bounds(&self) -> IntRange {
        match self {
            Self::Integer(Some(range)) => **range,
            _ => Bounds::ALL,
        }
    }

    pub fn string() -> Self {
        Self::String(None)
    }

    pub fn string_of_size(size: IntRange) -> Self {
        Self::String(Some(Arc::new(StringType::Size(size.to_size()))))
    }

    /// `String[1]`.
    pub fn non_empty_string() -> Self {
        Self::string_of_size(Bounds { from: Some(1), to: None })
    }

    pub fn string_value(text: impl Into<Arc<str>>) -> Self {
        Self::String(Some(Arc::new(StringType::Value(text.into()))))
    }

    pub fn enumeration<S: Into<Arc<str>>>(
        values: impl IntoIterator<Item = S>,
        case_insensitive: bool,
    ) -> Self {
        let mut values: Vec<Arc<str>> = values.into_iter().map(Into::into).collect();
        values.sort();
        values.dedup();
        if values.is_empty() && !case_insensitive {
            return Self::Enum(None);
        }
        Self::Enum(Some(Arc::new(EnumType { values, case_insensitive })))
    }

    pub fn pattern(patterns: Vec<Regex>) -> Self {
        let mut unique: Vec<Regex> = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            if !unique.contains(&pattern) {
                unique.push(pattern);
            }
        }
        Self::Pattern((!unique.is_empty()).then(|| Arc::new(unique)))
    }

    pub fn array(element: Self, size: Option<IntRange>) -> Self {
        let size = size.map(IntRange::to_size);
        if size == Some(IntRange::EMPTY) {
            return Self::empty_array();
        }
        if matches!(element, Self::Any) && size.is_none() {
            return Self::Array(None);
        }
        Self::Array(Some(Arc::new(ArrayType { element, size })))
    }

    pub fn array_of(element: Self) -> Self {
        Self::array(element, None)
    }

    pub fn empty_array() -> Self {
        Self::Array(Some(Arc::new(ArrayType { element: Self::Unit, size: Some(IntRange::EMPTY) })))
    }

    pub fn hash(key: Self, value: Self, size: Option<IntRange>) -> Self {
        let size = size.map(IntRange::to_size);
        if size == Some(IntRange::EMPTY) {
            return Self::empty_hash();
        }
        if matches!((&key, &value, size), (Self::Any, Self::Any, None)) {
            return Self::Hash(None);
        }
        Self::Hash(Some(Arc::new(HashType { key, value, size })))
    }

    pub fn hash_of(key: Self, value: Self) -> Self {
        Self::hash(key, value, None)
    }

    pub fn empty_hash() -> Self {
        Self::Hash(Some(Arc::new(HashType {
            key: Self::Unit,
            value: Self::Unit,
            size: Some(IntRange::EMPTY),
        })))
    }

    pub fn tuple(types: Vec<Self>, size: Option<IntRange>) -> Self {
        Self::Tuple(TupleType::new(types, size).map(Arc::new))
    }

    /// A struct; an element with a plain string key is optional if its value may be undef.
    pub fn structure(elements: Vec<StructElement>) -> Self {
        Self::Struct((!elements.is_empty()).then(|| Arc::new(elements)))
    }

    pub fn optional(of: Self) -> Self {
        Self::Optional(Some(Arc::new(of)))
    }

    pub fn not_undef(of: Self) -> Self {
        Self::NotUndef((!matches!(of, Self::Any)).then(|| Arc::new(of)))
    }

    pub fn type_of(of: Self) -> Self {
        Self::Type(Some(Arc::new(of)))
    }

    pub fn iterable(of: Self) -> Self {
        Self::Iterable(Some(Arc::new(of)))
    }

    pub fn iterator(of: Self) -> Self {
        Self::Iterator(Some(Arc::new(of)))
    }

    pub fn sensitive(of: Self) -> Self {
        Self::Sensitive((!matches!(of, Self::Any)).then(|| Arc::new(of)))
    }

    /// The union of types: flattened, each once, and a single type for itself.
    pub fn variant(types: Vec<Self>) -> Self {
        let mut seen: IndexSet<Self, FxBuildHasher> = IndexSet::default();
        for item in types {
            match item {
                Self::Variant(inner) => seen.extend(inner.iter().flat_map(|types| types.iter().cloned())),
                item => {
                    seen.insert(item);
                }
            }
        }
        let mut unique: Vec<Self> = seen.into_iter().collect();
        if unique.len() == 1 {
            return unique.remove(0);
        }
        Self::Variant((!unique.is_empty()).then(|| Arc::new(unique)))
    }

    pub fn callable(parameters: Option<TupleType>, block: Option<Self>, returns: Option<Self>) -> Self {
        let returns = returns.filter(|returns| !matches!(returns, Self::Any));
        if parameters.is_none() && block.is_none() && returns.is_none() {
            return Self::Callable(None);
        }
        Self::Callable(Some(Arc::new(CallableType { parameters, block, returns })))
    }

    /// `File` for `file`; `Resource` in general comes from [`Type::builtin`].
    pub fn resource(name: &str) -> Self {
        Self::resource_reference(name, None::<&str>)
    }

    /// `File['/a']`.
    pub fn resource_reference(name: &str, title: Option<impl Into<Arc<str>>>) -> Self {
        Self::Resource(Some(Arc::new(ResourceType {
            name: capitalize_segments(name).into(),
            title: title.map(Into::into),
        })))
    }

    /// `Class['a::b']`; the name is taken as it is, in lower case and without leading `::`.
    pub fn class(name: &str) -> Self {
        let name = name.to_lowercase();
        Self::Class(Some(Arc::new(name.strip_prefix("::").unwrap_or(&name).to_owned())))
    }

    pub fn reference(name: impl Into<String>) -> Self {
        Self::Reference(Arc::new(name.into()))
    }
}

impl TupleType {
    /// Nothing for the tuple that says nothing.
    pub fn new(types: Vec<Type>, size: Option<IntRange>) -> Option<Self> {
        let size = size.map(IntRange::to_size);
        (!types.is_empty() || size.is_some()).then_some(Self { types, size })
    }

    /// The sizes of the arrays that fit.
    pub fn size_range(&self) -> IntRange {
        match self.size {
            Some(size) => size,
            None if self.types.is_empty() => IntRange::ANY_SIZE,
            None => IntRange::size(self.types.len()),
        }
    }

    /// The type at an index; the last repeats.
    pub fn at(&self, index: usize) -> Option<&Type> {
        self.types.get(index).or(self.types.last())
    }
}

impl StructElement {
    /// `name => value`: optional if the value may be undef.
    pub fn named(name: impl Into<Arc<str>>, value: Type) -> Self {
        let name = name.into();
        let key = Type::string_value(name.clone());
        let key = if value.is_assignable(&Type::Undef) { Type::optional(key) } else { key };
        Self { name, key, value }
    }

    /// `Optional[name] => value`.
    pub fn optional(name: impl Into<Arc<str>>, value: Type) -> Self {
        let name = name.into();
        Self { key: Type::optional(Type::string_value(name.clone())), name, value }
    }

    /// `NotUndef[name] => value`.
    pub fn required(name: impl Into<Arc<str>>, value: Type) -> Self {
        let name = name.into();
        Self { key: Type::string_value(name.clone()), name, value }
    }

    pub fn is_optional(&self) -> bool {
        matches!(self.key, Type::Optional(_))
    }
}

/// `a::b` as `A::B`; a name that starts with a capital is left alone.
pub fn capitalize_segments(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return name.to_owned();
    }
    let segments: Vec<String> = name.split("::").map(capitalize).collect();
    segments.join("::")
}

fn capitalize(segment: &str) -> String {
    let mut letters = segment.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}
