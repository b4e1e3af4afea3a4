//! What Puppet calls a value in its messages.

use crate::types::Type;
use crate::value::{Data, Value};

pub(crate) use crate::ruby::text::class as class_name;
pub(crate) use crate::types::article;

/// `String`, `Undef Value`, `Integer-Type`.
pub fn label(value: &Value) -> String {
    match &value.data {
        Data::Undef => "Undef Value".to_owned(),
        Data::Default => "Object".to_owned(),
        Data::Bool(_) => "Boolean".to_owned(),
        Data::Integer(_) => "Integer".to_owned(),
        Data::Float(_) => "Float".to_owned(),
        Data::String(_) => "String".to_owned(),
        Data::Array(_) => "Array".to_owned(),
        Data::Hash(_) => "Hash".to_owned(),
        Data::Sensitive(_) => "Sensitive".to_owned(),
        Data::Type(of) => type_label(of),
        Data::Regex(_) => "Regexp".to_owned(),
        Data::Timestamp(_) => "Timestamp".to_owned(),
        Data::Timespan(_) => "Timespan".to_owned(),
        Data::SemVer(_) => "Semver".to_owned(),
        Data::SemVerRange(_) => "SemverRange".to_owned(),
        Data::Binary(_) => "Binary".to_owned(),
        Data::Uri(_) | Data::Iterator(_) | Data::Deferred(_) | Data::Object(_) | Data::Opaque(_) => {
            "Object".to_owned()
        }
    }
}

pub(crate) fn type_label(of: &Type) -> String {
    match of {
        Type::Resource(Some(reference)) if reference.title.is_some() => format!("{of} Resource-Reference"),
        _ => format!("{of}-Type"),
    }
}

/// `a String`, `an Integer-Type`.
pub fn a_an(value: &Value) -> String {
    let text = label(value);
    format!("{} {text}", article(&text))
}

/// `A String`, `An Integer-Type`.
pub fn a_an_uc(value: &Value) -> String {
    let text = label(value);
    let article = if article(&text) == "an" { "An" } else { "A" };
    format!("{article} {text}")
}
