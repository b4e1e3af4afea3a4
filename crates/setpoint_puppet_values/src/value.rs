//! Values: cheap to copy, each with a handle to its provenance.

use std::hash::{Hash as StdHash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_provenance::Prov;

use crate::iterator::Iter;
use crate::regex::Regex;
use crate::semver::{SemVer, SemVerRange};
use crate::time::{Timespan, Timestamp};
use crate::types::{AttributeKind, ObjectType, Type};
use crate::uri::Uri;

/// A value of the Puppet language and where it came from. Equality (`==` of Rust) is Ruby's `eql?`: exact, and blind
/// to provenance; Puppet's own `==` ignores case and lives in the operators.
#[derive(Clone, Debug)]
pub struct Value {
    pub data: Data,
    pub prov: Prov,
}

#[derive(Clone, Debug)]
pub enum Data {
    Undef,
    Default,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(Arc<str>),
    Array(Arc<Vec<Value>>),
    Hash(Arc<Hash>),
    Sensitive(Arc<Value>),
    /// A type; a reference to a resource or a class is one, too.
    Type(Type),
    Regex(Regex),
    Timestamp(Timestamp),
    Timespan(Timespan),
    SemVer(Arc<SemVer>),
    SemVerRange(Arc<SemVerRange>),
    Uri(Arc<Uri>),
    Binary(Arc<[u8]>),
    Iterator(Arc<Iter>),
    Deferred(Arc<Deferred>),
    /// An instance of an object type, such as `Error`.
    Object(Arc<Object>),
    /// A value that could not be computed; see [`Opaque`].
    Opaque(Arc<Opaque>),
}

/// A hash in insertion order; keys may be any value.
pub type Hash = IndexMap<Key, Value, FxBuildHasher>;

/// A value as a key: compared exactly.
#[derive(Clone, Debug)]
pub struct Key(pub Value);

/// A call that the agent makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    pub name: Arc<str>,
    pub arguments: Vec<Value>,
}

/// An instance of an object type, with the attributes that it was given, by name.
#[derive(Clone, Debug)]
pub struct Object {
    pub type_name: Arc<str>,
    /// The type, where it is known: what comes out of a catalog has only its name.
    pub of: Option<Arc<ObjectType>>,
    pub attributes: Hash,
}

impl Object {
    /// An object of one of Puppet's own types.
    pub fn new(type_name: &str, attributes: Hash) -> Self {
        let of = match Type::builtin(type_name) {
            Some(Type::Object(of)) => of,
            _ => None,
        };
        Self { type_name: type_name.into(), of, attributes }
    }

    /// The value of an attribute, a constant included.
    pub fn get(&self, name: &str) -> Option<Value> {
        if let Some(given) = self.attributes.get(&Key::from(name)) {
            return Some(given.clone());
        }
        let of = self.of.as_ref()?;
        let constant = of.attributes.iter().find(|attribute| *attribute.name == *name)?;
        (constant.kind == AttributeKind::Constant).then(|| constant.default.clone()).flatten()
    }
}

/// Objects are equal if their types are, and the attributes that the type names for it.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        let Some(of) = &self.of else {
            return self.type_name == other.type_name && self.attributes == other.attributes;
        };
        (of.ignores_type || self.type_name == other.type_name)
            && of.equality.iter().all(|name| self.get(name) == other.get(name))
    }
}

/// What stands in for a value that needs more than this program can do: a Ruby function beyond it, a secret.
/// It passes type checks; branching on it or using it as a title is an error that names `reason`, unless its type decides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opaque {
    pub reason: Arc<str>,
    /// What is known of it all the same.
    pub of: Type,
    /// A hash that has it as an entry may lack the entry.
    pub may_be_missing: bool,
}

impl Opaque {
    /// Whether it is true, if its type decides that: only `undef` and `false` are not.
    pub fn truth(&self) -> Option<bool> {
        let may_be_false = self.of.is_assignable(&Type::Undef) || self.of.is_assignable(&Type::Boolean(None));
        (!may_be_false).then_some(true)
    }
}

/// Whether any value could not be computed so far. Where none is, none need be searched for.
static ANY_UNKNOWN: AtomicBool = AtomicBool::new(false);

impl Value {
    pub const UNDEF: Self = Self { data: Data::Undef, prov: Prov::NONE };

    pub fn new(data: Data) -> Self {
        Self { data, prov: Prov::NONE }
    }

    /// A value that could not be computed, and why; its type is all that is known of it.
    pub fn unknown(reason: impl Into<Arc<str>>, of: Type) -> Self {
        Self::opaque(reason.into(), of, false)
    }

    /// An entry of a hash that may be missing, or have any value, and why that is not known.
    pub fn unknown_or_missing(reason: impl Into<Arc<str>>) -> Self {
        Self::opaque(reason.into(), Type::Any, true)
    }

    fn opaque(reason: Arc<str>, of: Type, may_be_missing: bool) -> Self {
        ANY_UNKNOWN.store(true, Ordering::Relaxed);
        Self::new(Data::Opaque(Arc::new(Opaque { reason, of, may_be_missing })))
    }

    /// The value as one that is there: an entry that takes it from one that may be missing is not missing itself.
    #[must_use]
    pub fn present(self) -> Self {
        match &self.data {
            Data::Opaque(unknown) if unknown.may_be_missing => {
                Self::unknown(Arc::clone(&unknown.reason), unknown.of.clone()).with(self.prov)
            }
            _ => self,
        }
    }

    /// The first entry of a hash that may be missing: nobody knows which keys such a hash has, nor how many.
    pub fn optional_entry(&self) -> Option<&Arc<Opaque>> {
        let Data::Hash(entries) = &self.data else { return None };
        if !ANY_UNKNOWN.load(Ordering::Relaxed) {
            return None;
        }
        entries.values().find_map(|value| match &value.data {
            Data::Opaque(unknown) if unknown.may_be_missing => Some(unknown),
            _ => None,
        })
    }

    /// What could not be computed of a value: the value itself, or the first such part of it.
    pub fn unknown_part(&self) -> Option<&Arc<Opaque>> {
        if !ANY_UNKNOWN.load(Ordering::Relaxed) {
            return None;
        }
        match &self.data {
            Data::Opaque(unknown) => Some(unknown),
            Data::Array(items) => items.iter().find_map(Self::unknown_part),
            Data::Hash(entries) => {
                entries.iter().find_map(|(key, item)| key.0.unknown_part().or_else(|| item.unknown_part()))
            }
            Data::Sensitive(inner) => inner.unknown_part(),
            _ => None,
        }
    }

    /// Why a value, or a part of it, is not known when the catalog is made.
    pub fn why_unknown(&self) -> Option<String> {
        match &self.data {
            Data::Opaque(unknown) => Some(unknown.reason.to_string()),
            Data::Deferred(_) => Some("the agent computes it".to_owned()),
            Data::Array(items) => items.iter().find_map(Self::why_unknown),
            Data::Hash(entries) => {
                entries.iter().find_map(|(key, item)| key.0.why_unknown().or_else(|| item.why_unknown()))
            }
            Data::Sensitive(inner) => inner.why_unknown(),
            _ => None,
        }
    }

    /// Whether a value takes more than about so many bytes when it is written. A part that occurs twice counts twice.
    pub fn is_larger_than(&self, limit: usize) -> bool {
        self.size_within(limit).is_none()
    }

    /// About how many bytes a value takes when it is written; nothing if these are more than so many.
    pub fn size_within(&self, limit: usize) -> Option<usize> {
        const NODE: usize = 16;
        fn rest_after_type(of: &Type, left: usize) -> Option<usize> {
            let mut left = left.checked_sub(NODE);
            of.each_contained(&mut |inner| left = left.and_then(|left| rest_after_type(inner, left)));
            left
        }
        fn rest_after(value: &Value, left: usize) -> Option<usize> {
            let left = left.checked_sub(NODE)?;
            match &value.data {
                Data::String(text) => left.checked_sub(text.len()),
                Data::Array(items) => items.iter().try_fold(left, |left, item| rest_after(item, left)),
                Data::Hash(entries) => entries
                    .iter()
                    .try_fold(left, |left, (key, item)| rest_after(item, rest_after(&key.0, left)?)),
                Data::Sensitive(inner) => rest_after(inner, left),
                Data::Type(of) => rest_after_type(of, left),
                _ => Some(left),
            }
        }
        rest_after(self, limit).map(|left| limit - left)
    }

    /// Whether both are one array or hash, and not two that are equal: a change in place of one is a change of both.
    pub fn is_same_collection(&self, other: &Self) -> bool {
        match (&self.data, &other.data) {
            (Data::Array(one), Data::Array(other)) => Arc::ptr_eq(one, other),
            (Data::Hash(one), Data::Hash(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::new(Data::String(text.into()))
    }

    pub fn array(items: Vec<Self>) -> Self {
        Self::new(Data::Array(Arc::new(items)))
    }

    pub fn hash(entries: Hash) -> Self {
        Self::new(Data::Hash(Arc::new(entries)))
    }

    pub fn with(mut self, prov: Prov) -> Self {
        self.prov = prov;
        self
    }

    /// The value was made of another one, and is no copy of it.
    #[must_use]
    pub fn made_of(self, other: Prov) -> Self {
        self.with(other.changed())
    }

    pub fn is_undef(&self) -> bool {
        matches!(self.data, Data::Undef)
    }

    /// Only `undef` and `false` are false.
    pub fn is_true(&self) -> bool {
        !matches!(self.data, Data::Undef | Data::Bool(false))
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Data::String(text) = &self.data { Some(text) } else { None }
    }

    pub fn as_integer(&self) -> Option<i64> {
        if let Data::Integer(number) = self.data { Some(number) } else { None }
    }

    pub fn as_array(&self) -> Option<&[Self]> {
        if let Data::Array(items) = &self.data { Some(items) } else { None }
    }

    pub fn as_hash(&self) -> Option<&Hash> {
        if let Data::Hash(entries) = &self.data { Some(entries) } else { None }
    }

    /// The name of the object type of an object, `Deferred` included.
    pub fn object_name(&self) -> Option<&str> {
        match &self.data {
            Data::Deferred(_) => Some("Deferred"),
            Data::Object(object) => Some(&object.type_name),
            _ => None,
        }
    }

    /// The attributes of an object that are not at their defaults.
    pub fn object_attributes(&self) -> Hash {
        match &self.data {
            Data::Deferred(call) => {
                let mut attributes = Hash::default();
                attributes.insert(Key::from("name"), Self::string(Arc::clone(&call.name)));
                if !call.arguments.is_empty() {
                    attributes.insert(Key::from("arguments"), Self::array(call.arguments.clone()));
                }
                attributes
            }
            Data::Object(object) => object
                .attributes
                .iter()
                .filter(|(name, item)| match &object.of {
                    None => !item.is_undef(),
                    Some(of) => {
                        let declared = of.attributes.iter().find(|known| Some(&*known.name) == name.as_str());
                        declared.and_then(|known| known.default.as_ref()) != Some(*item)
                    }
                })
                .map(|(key, item)| (key.clone(), item.clone()))
                .collect(),
            _ => Hash::default(),
        }
    }

    pub fn as_type(&self) -> Option<&Type> {
        if let Data::Type(of) = &self.data { Some(of) } else { None }
    }
}

impl From<Type> for Value {
    fn from(of: Type) -> Self {
        Self::new(Data::Type(of))
    }
}

impl From<Regex> for Value {
    fn from(regex: Regex) -> Self {
        Self::new(Data::Regex(regex))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::new(Data::Bool(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::new(Data::Integer(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::new(Data::Float(value))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undef, Self::Undef) | (Self::Default, Self::Default) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Hash(a), Self::Hash(b)) => a == b,
            (Self::Sensitive(a), Self::Sensitive(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Timespan(a), Self::Timespan(b)) => a == b,
            (Self::SemVer(a), Self::SemVer(b)) => a == b,
            (Self::SemVerRange(a), Self::SemVerRange(b)) => a == b,
            (Self::Uri(a), Self::Uri(b)) => a == b,
            (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Iterator(a), Self::Iterator(b)) => Arc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Deferred(a), Self::Deferred(b)) => a == b,
            (Self::Opaque(a), Self::Opaque(b)) => a == b,
            _ => false,
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.data == other.0.data
    }
}

impl Eq for Key {}

impl StdHash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_data(&self.0.data, state);
    }
}

fn hash_data<H: Hasher>(data: &Data, state: &mut H) {
    std::mem::discriminant(data).hash(state);
    match data {
        Data::Undef | Data::Default => {}
        Data::Bool(value) => value.hash(state),
        Data::Integer(value) => value.hash(state),
        // Zero has two signs and one value.
        Data::Float(value) => (value + 0.0).to_bits().hash(state),
        Data::String(text) => text.hash(state),
        Data::Array(items) => items.iter().for_each(|item| hash_data(&item.data, state)),
        Data::Hash(entries) => entries.len().hash(state),
        Data::Sensitive(inner) => hash_data(&inner.data, state),
        Data::Type(of) => of.hash(state),
        Data::Regex(regex) => regex.hash(state),
        Data::Timestamp(time) => time.hash(state),
        Data::Timespan(span) => span.hash(state),
        Data::SemVer(version) => version.hash(state),
        Data::SemVerRange(range) => range.hash(state),
        Data::Uri(uri) => uri.hash(state),
        Data::Binary(bytes) => bytes.hash(state),
        Data::Iterator(iterator) => Arc::as_ptr(iterator).hash(state),
        // What decides equality is up to the type.
        Data::Object(_) => {}
        Data::Deferred(call) => call.name.hash(state),
        Data::Opaque(opaque) => opaque.reason.hash(state),
    }
}

impl Key {
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values are copied all the time: they stay small.
    #[test]
    fn a_value_has_32_bytes() {
        assert!(size_of::<Value>() <= 32);
        assert!(size_of::<Type>() <= 16);
    }

    #[test]
    fn both_zeros_are_one_key() {
        let hash: Hash = [(Key(Value::from(0.0)), Value::from(1)), (Key(Value::from(-0.0)), Value::from(2))]
            .into_iter()
            .collect();
        assert_eq!(hash.len(), 1);
    }
}
