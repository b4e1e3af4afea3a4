//! Object types: `type Car = Object[{ attributes => { wheels => Integer } }]`.

use std::sync::Arc;

use setpoint_puppet_values::types::{Attribute, ObjectType};
use setpoint_puppet_values::{Data, Key, Type, Value, ValueError, infer, to_text};

/// What the definition of an object type may say.
const KEYS: [&str; 10] = [
    "name",
    "parent",
    "type_parameters",
    "attributes",
    "constants",
    "functions",
    "equality",
    "equality_include_type",
    "checks",
    "annotations",
];

/// The object type of a definition, under a name.
pub(super) fn object_type(name: &str, definition: &Value) -> Result<Type, ValueError> {
    let Some(entries) = definition.as_hash() else {
        let actual = infer(definition).generalize();
        return Err(ValueError::new(format!(
            "object initializer has wrong type, expects a Struct value, got {actual}"
        )));
    };
    if let Some((key, _)) =
        entries.iter().find(|(key, _)| !key.as_str().is_some_and(|key| KEYS.contains(&key)))
    {
        let key = to_text(&key.0);
        return Err(ValueError::new(format!("object initializer has wrong type, unrecognized key '{key}'")));
    }
    let declared = entries.get(&Key::from("attributes")).and_then(Value::as_hash);
    let mut attributes = Vec::new();
    for (key, value) in declared.into_iter().flatten() {
        attributes.push(attribute(&to_text(&key.0), value)?);
    }
    // Those without a value come first, so that instances can be made by position.
    attributes.sort_by_key(|attribute| attribute.default.is_some());
    let object = ObjectType { name: Some(name.into()), definition: definition.clone(), attributes };
    Ok(Type::Object(Some(Arc::new(object))))
}

/// An attribute is given by its type alone, or by a hash with its type and value.
fn attribute(name: &str, value: &Value) -> Result<Attribute, ValueError> {
    let (of, default) = match &value.data {
        Data::Type(of) => (of.clone(), None),
        Data::Hash(entries) => {
            let of = entries.get(&Key::from("type")).and_then(Value::as_type).cloned().unwrap_or(Type::Any);
            (of, entries.get(&Key::from("value")).cloned())
        }
        _ => {
            let actual = infer(value).generalize();
            let message = format!(
                "initializer for attribute {name} has wrong type, expects a Type or Struct value, got {actual}"
            );
            return Err(ValueError::new(message));
        }
    };
    Ok(Attribute { name: name.into(), of, default })
}
