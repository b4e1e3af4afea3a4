//! When two types are the same: by what they say, whatever the order of alternatives; aliases by name.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{
    ArrayType, CallableType, HashType, InitType, ObjectType, ResourceType, StructElement, TupleType, Type,
};

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, Self::Any)
            | (Self::Unit, Self::Unit)
            | (Self::Undef, Self::Undef)
            | (Self::Default, Self::Default)
            | (Self::Scalar, Self::Scalar)
            | (Self::ScalarData, Self::ScalarData)
            | (Self::Numeric, Self::Numeric)
            | (Self::CatalogEntry, Self::CatalogEntry)
            | (Self::SemVerRange, Self::SemVerRange)
            | (Self::Binary, Self::Binary) => true,
            (Self::Integer(a), Self::Integer(b)) | (Self::Collection(a), Self::Collection(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Enum(a), Self::Enum(b)) => a == b,
            (Self::Pattern(a), Self::Pattern(b)) => match (a, b) {
                (Some(a), Some(b)) => same_set(a, b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::Regexp(a), Self::Regexp(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Hash(a), Self::Hash(b)) => a == b,
            (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Struct(a), Self::Struct(b)) => a == b,
            (Self::Optional(a), Self::Optional(b))
            | (Self::NotUndef(a), Self::NotUndef(b))
            | (Self::Type(a), Self::Type(b))
            | (Self::Iterable(a), Self::Iterable(b))
            | (Self::Iterator(a), Self::Iterator(b))
            | (Self::Sensitive(a), Self::Sensitive(b)) => a == b,
            (Self::Variant(a), Self::Variant(b)) => match (a, b) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || same_set(a, b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::Callable(a), Self::Callable(b)) => a == b,
            (Self::Init(a), Self::Init(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Timespan(a), Self::Timespan(b)) => a == b,
            (Self::SemVer(a), Self::SemVer(b)) => a == b,
            (Self::Uri(a), Self::Uri(b)) => a == b,
            (Self::Resource(a), Self::Resource(b)) => a == b,
            (Self::Class(a), Self::Class(b)) => a == b,
            (Self::Runtime(a), Self::Runtime(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::TypeSet(a), Self::TypeSet(b)) => match (a, b) {
                (Some(a), Some(b)) => a.name == b.name && a.definition == b.definition,
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::Reference(a), Self::Reference(b)) => a == b,
            (Self::Alias(a), Self::Alias(b)) => a.name == b.name,
            _ => false,
        }
    }
}

impl Eq for Type {}

fn same_set<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().all(|item| b.contains(item))
}

impl PartialEq for ArrayType {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.element == other.element
    }
}

impl PartialEq for HashType {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.key == other.key && self.value == other.value
    }
}

impl PartialEq for TupleType {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.types == other.types
    }
}

impl PartialEq for StructElement {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl PartialEq for CallableType {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters && self.block == other.block && self.returns == other.returns
    }
}

impl PartialEq for InitType {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of && self.arguments == other.arguments
    }
}

impl PartialEq for ResourceType {
    fn eq(&self, other: &Self) -> bool {
        self.title == other.title && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) && self.arguments == other.arguments
    }
}

/// Equal types have equal hashes; what is compared as a set or deep inside counts only by its size.
impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Integer(range) | Self::Collection(range) => range.hash(state),
            Self::Float(Some(range)) => {
                for end in [range.from, range.to] {
                    // Zero has two signs and one value.
                    end.map(|end| (end + 0.0).to_bits()).hash(state);
                }
            }
            Self::Boolean(value) => value.hash(state),
            Self::String(of) => of.hash(state),
            Self::Enum(of) => of.hash(state),
            Self::Pattern(patterns) => patterns.as_ref().map(|patterns| patterns.len()).hash(state),
            Self::Regexp(regex) => regex.hash(state),
            Self::Variant(types) => types.as_ref().map(|types| types.len()).hash(state),
            Self::Tuple(of) => of.as_ref().map(|of| of.types.len()).hash(state),
            Self::Struct(elements) => {
                for element in elements.iter().flat_map(|elements| elements.iter()) {
                    element.name.hash(state);
                }
            }
            Self::Optional(of)
            | Self::NotUndef(of)
            | Self::Type(of)
            | Self::Iterable(of)
            | Self::Iterator(of)
            | Self::Sensitive(of) => of.as_deref().map(std::mem::discriminant).hash(state),
            Self::Array(of) => of.as_ref().map(|of| of.size).hash(state),
            Self::Hash(of) => of.as_ref().map(|of| of.size).hash(state),
            Self::Timestamp(range) => range.hash(state),
            Self::Timespan(range) => range.hash(state),
            Self::SemVer(ranges) => ranges.hash(state),
            Self::Resource(Some(of)) => {
                for byte in of.name.bytes() {
                    byte.to_ascii_lowercase().hash(state);
                }
                of.title.hash(state);
            }
            Self::Class(name) => name.hash(state),
            Self::Runtime(of) => of.hash(state),
            Self::Reference(name) => name.hash(state),
            Self::Alias(alias) => alias.name.hash(state),
            _ => {}
        }
    }
}
