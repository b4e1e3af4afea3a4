//! `new` of object types: `Deferred` and `Error`, by position or by name.

use std::sync::Arc;

use super::unsupported;
use crate::error::ValueError;
use crate::types::{
    Attribute, CallableType, IntRange, ObjectType, Signature, StructElement, TupleType, Type,
    describe_signatures, infer_set,
};
use crate::value::{Data, Deferred, Hash, Key, Object, Value};

/// The attributes that `new` takes by position: those without a value first.
fn positions(object: &ObjectType) -> Vec<&Attribute> {
    let given = object.attributes.iter().filter(|attribute| attribute.is_given());
    let (optional, required): (Vec<_>, Vec<_>) = given.partition(|attribute| attribute.default.is_some());
    [required, optional].concat()
}

/// By a hash of the attributes, and by their values in turn.
pub(super) fn signatures(object: &ObjectType) -> Vec<Signature> {
    let elements = object.attributes.iter().filter(|attribute| attribute.is_given()).map(|attribute| {
        let name = Arc::clone(&attribute.name);
        let key = Type::string_value(Arc::clone(&name));
        let key = if attribute.default.is_some() { Type::optional(key) } else { key };
        StructElement { name, key, value: attribute.of.clone() }
    });
    let signature = |types: Vec<Type>, size: Option<IntRange>, names: Vec<Arc<str>>| Signature {
        callable: CallableType { parameters: Some(TupleType { types, size }), block: None, returns: None },
        parameter_names: names,
        block_name: None,
    };
    let by_hash = signature(vec![Type::structure(elements.collect())], None, vec!["hash".into()]);
    let positions = positions(object);
    let required = positions.iter().filter(|attribute| attribute.default.is_none()).count();
    let size = IntRange::new(Some(required as i64), Some(positions.len() as i64));
    let types = positions.iter().map(|attribute| attribute.of.clone()).collect();
    let names = positions.iter().map(|attribute| Arc::clone(&attribute.name)).collect();
    vec![by_hash, signature(types, Some(size), names)]
}

pub(super) fn construct(
    of: &Type,
    object: &Arc<ObjectType>,
    arguments: &[Value],
) -> Result<Value, ValueError> {
    let Some(name) = &object.name else { return Err(unsupported(of)) };
    // A context comes from a lookup only.
    if object.definition.is_empty() {
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
    let values: Vec<(Arc<str>, Value)> = (positions(object).into_iter().enumerate())
        .map(|(index, attribute)| (Arc::clone(&attribute.name), get(index, attribute)))
        .collect();
    if &**name == "Deferred" {
        return Ok(deferred(&values));
    }
    // As they are declared, whatever the positions: that is how they are printed.
    let value_of = |name: &Arc<str>| values.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let attributes: Hash = object
        .attributes
        .iter()
        .filter_map(|attribute| {
            let value = value_of(&attribute.name)?.clone();
            Some((Key(Value::string(Arc::clone(&attribute.name))), value))
        })
        .collect();
    let base = if object.arguments.is_empty() {
        Arc::clone(object)
    } else {
        Arc::new(ObjectType { arguments: Hash::default(), ..object.as_ref().clone() })
    };
    Ok(Value::new(Data::Object(Arc::new(Object { type_name: Arc::clone(name), of: Some(base), attributes }))))
}

fn deferred(values: &[(Arc<str>, Value)]) -> Value {
    let get = |name: &str| values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value);
    let name = get("name").and_then(Value::as_str).unwrap_or("").into();
    let arguments = get("arguments").and_then(Value::as_array).unwrap_or(&[]).to_vec();
    Value::new(Data::Deferred(Arc::new(Deferred { name, arguments })))
}
