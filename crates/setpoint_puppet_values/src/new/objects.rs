//! `new` of object types: `Deferred` and `Error`, by position or by name.

use std::sync::Arc;

use super::unsupported;
use crate::error::ValueError;
use crate::types::{
    Attribute, CallableType, IntRange, ObjectType, Signature, StructElement, TupleType, Type,
    describe_signatures, infer_set,
};
use crate::value::{Data, Deferred, Hash, Key, Object, Value};

/// By a hash of the attributes, and by their values in turn.
pub(super) fn signatures(object: &ObjectType) -> Vec<Signature> {
    let elements = object.attributes.iter().map(|attribute| StructElement {
        name: Arc::clone(&attribute.name),
        key: if attribute.default.is_some() {
            Type::optional(Type::string_value(Arc::clone(&attribute.name)))
        } else {
            Type::string_value(Arc::clone(&attribute.name))
        },
        value: attribute.of.clone(),
    });
    let signature = |types: Vec<Type>, size: Option<IntRange>, names: Vec<Arc<str>>| Signature {
        callable: CallableType { parameters: Some(TupleType { types, size }), block: None, returns: None },
        parameter_names: names,
        block_name: None,
    };
    let required = object.attributes.iter().filter(|attribute| attribute.default.is_none()).count();
    let by_hash = signature(vec![Type::structure(elements.collect())], None, vec!["hash".into()]);
    let size = IntRange::new(Some(required as i64), Some(object.attributes.len() as i64));
    let types = object.attributes.iter().map(|attribute| attribute.of.clone()).collect();
    let names = object.attributes.iter().map(|attribute| Arc::clone(&attribute.name)).collect();
    vec![by_hash, signature(types, Some(size), names)]
}

pub(super) fn construct(of: &Type, object: &ObjectType, arguments: &[Value]) -> Result<Value, ValueError> {
    let Some(name) = &object.name else { return Err(unsupported(of)) };
    if object.attributes.is_empty() {
        return Err(unsupported(of));
    }
    let signatures = signatures(object);
    let by_hash = signatures.first().is_some_and(|signature| signature.accepts(arguments, None));
    let by_position = signatures.get(1).is_some_and(|signature| signature.accepts(arguments, None));
    if !by_hash && !by_position {
        let types: Vec<Type> = arguments.iter().map(infer_set).collect();
        return Err(ValueError::new(describe_signatures(&format!("new_{name}"), &signatures, &types, None)));
    }
    let get = |index: usize, attribute: &Attribute| -> Value {
        let given = if by_hash {
            let entries = arguments.first().and_then(Value::as_hash);
            entries.and_then(|entries| entries.get(&Key(Value::string(Arc::clone(&attribute.name)))))
        } else {
            arguments.get(index)
        };
        given.cloned().or_else(|| attribute.default.clone()).unwrap_or(Value::UNDEF)
    };
    let values: Vec<(Arc<str>, Value)> = (object.attributes.iter().enumerate())
        .map(|(index, attribute)| (Arc::clone(&attribute.name), get(index, attribute)))
        .collect();
    if &**name == "Deferred" {
        return Ok(deferred(&values));
    }
    let attributes: Hash =
        values.into_iter().map(|(name, value)| (Key(Value::string(name)), value)).collect();
    Ok(Value::new(Data::Object(Arc::new(Object { type_name: Arc::clone(name), attributes }))))
}

fn deferred(values: &[(Arc<str>, Value)]) -> Value {
    let get = |name: &str| values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value);
    let name = get("name").and_then(Value::as_str).unwrap_or("").into();
    let arguments = get("arguments").and_then(Value::as_array).unwrap_or(&[]).to_vec();
    Value::new(Data::Deferred(Arc::new(Deferred { name, arguments })))
}
