//! The data type system: what types there are, what fits what, and what Puppet says when it does not.

mod alias;
mod assignable;
mod builtin;
mod callable;
mod equality;
mod format;
mod infer;
mod instance;
mod mismatch;
mod model;
mod normalize;
mod object;
mod parameterise;
mod parse;
mod reference;

pub use callable::Signature;
pub(crate) use format::parameter_text;
pub use infer::{common_type, infer, infer_generic, infer_set};
pub(crate) use mismatch::article;
pub use mismatch::{
    ParameterMismatch, assert_instance, describe_mismatch, describe_return_mismatch, describe_signatures,
    validate_parameters,
};
pub use model::{
    Alias, ArrayType, Bounds, CallableType, EnumType, FloatRange, HashType, InitType, IntRange, ResourceType,
    RuntimeType, StringType, StructElement, TupleType, Type, TypeSetType, capitalize_segments,
};
pub use object::{Attribute, AttributeKind, ObjectType};
pub use parameterise::parameterise;
pub(crate) use parameterise::{flatten, key_type_name};
pub use parse::Lookup;
pub use reference::{class_reference, resource_reference};
