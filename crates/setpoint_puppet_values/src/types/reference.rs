//! References to resources and classes: `File['a']`, `Class['b']`.

use std::sync::Arc;

use super::parameterise::{arity, at_key, flatten, key_type_name, specialization};
use super::{Type, capitalize_segments};
use crate::error::{Checks, ValueError};
use crate::label::a_an_uc;
use crate::value::{Data, Value};

fn accepts_none(base: &Type) -> ValueError {
    arity(&base.to_string(), 1, Some(-1), 0)
}

/// `File['a']` and `Resource['file', 'a']`.
pub fn resource_reference(base: &Type, keys: &[Value], checks: &mut Checks) -> Result<Value, ValueError> {
    let (Some(first), Type::Resource(of)) = (keys.first(), base) else {
        return Err(accepts_none(base));
    };
    let (name, mut keys): (Arc<str>, &[Value]) = if let Some(of) = of {
        (Arc::clone(&of.name), keys)
    } else {
        let name: Arc<str> = match &first.data {
            Data::Type(Type::Resource(Some(of))) => Arc::clone(&of.name),
            Data::String(name) => capitalize_segments(name).into(),
            _ => {
                let actual = key_type_name(first);
                let message = format!(
                    "First argument to Resource[] must be a resource type or a String. Got {actual}."
                );
                return Err(at_key(message, 0));
            }
        };
        (name, &keys[1..])
    };
    if !is_class_reference(&name) {
        let message =
            format!("Illegal type reference. The given name '{name}' does not conform to the naming rule");
        return Err(at_key(message, 0));
    }
    let several = keys.len() > 1 || matches!(keys.first().map(|key| &key.data), Some(Data::Array(_)));
    let mut flat = Vec::new();
    flatten(keys, &mut flat);
    flat.retain(|key| !key.is_undef());
    if flat.is_empty() && !keys.is_empty() {
        checks.question(at_key("Arguments to Resource[] are all empty/undefined".to_owned(), 0))?;
        return Ok(if several { Value::array(Vec::new()) } else { Value::UNDEF });
    }
    if keys.is_empty() {
        return Ok(Value::from(Type::resource(&name)));
    }
    let count = keys.len();
    let mut references = Vec::with_capacity(flat.len());
    keys = &flat;
    for (index, key) in keys.iter().enumerate() {
        let Data::String(title) = &key.data else {
            let index = if count == keys.len() && of.is_some() { index } else { index + 1 };
            let message =
                format!("Cannot use {} where a resource title String is expected", key_type_name(key));
            return Err(specialization(base, &message, index));
        };
        references.push(Value::from(Type::resource_reference(&name, Some(Arc::clone(title)))).with(key.prov));
    }
    Ok(one_or_all(references, several))
}

fn one_or_all(mut references: Vec<Value>, several: bool) -> Value {
    match references.pop() {
        Some(one) if !several => one,
        Some(last) => {
            references.push(last);
            Value::array(references)
        }
        None => Value::array(references),
    }
}

/// `Class['a']`.
pub fn class_reference(keys: &[Value], checks: &mut Checks) -> Result<Value, ValueError> {
    if keys.is_empty() {
        return Err(accepts_none(&Type::Class(None)));
    }
    let several = keys.len() > 1 || matches!(keys.first().map(|key| &key.data), Some(Data::Array(_)));
    let mut flat = Vec::new();
    flatten(keys, &mut flat);
    flat.retain(|key| !key.is_undef());
    if flat.is_empty() {
        checks.question(at_key("Arguments to Resource[] are all empty/undefined".to_owned(), 0))?;
        return Ok(if several { Value::array(Vec::new()) } else { Value::UNDEF });
    }
    let mut references = Vec::with_capacity(flat.len());
    for (index, key) in flat.iter().enumerate() {
        let Data::String(name) = &key.data else {
            let label = a_an_uc(key);
            let message = format!(
                "Illegal Class name in class reference. {label} cannot be used where a String is expected"
            );
            return Err(at_key(message, index));
        };
        let lower = name.to_lowercase();
        let plain = lower.strip_prefix("::").unwrap_or(&lower);
        if !is_name(plain) {
            let message = format!(
                "Illegal name. The given name '{name}' does not conform to the naming rule /^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/"
            );
            return Err(at_key(message, index));
        }
        references.push(Value::from(Type::class(plain)).with(key.prov));
    }
    Ok(one_or_all(references, several))
}

/// `((::)?[A-Z]\w*)+`.
fn is_class_reference(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::")
        .all(|segment| segment.starts_with(|first: char| first.is_ascii_uppercase()) && is_word(segment))
}

/// `((::)?[a-z]\w*)(::[a-z]\w*)*`.
fn is_name(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    name.split("::")
        .all(|segment| segment.starts_with(|first: char| first.is_ascii_lowercase()) && is_word(segment))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
