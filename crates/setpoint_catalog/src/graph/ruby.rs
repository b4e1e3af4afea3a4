//! Automatic relationships that the types of modules declare.

use super::auto::texts;
use crate::{NameSource, NativeType, Resource, TextPart};

/// The names that the sources yield for a resource.
pub(super) fn names(sources: &[NameSource], resource: &Resource, native: &NativeType) -> Vec<String> {
    let attribute = |name: &str| attribute(resource, native, name);
    let inner = |sources: &[NameSource]| names(sources, resource, native);
    sources
        .iter()
        .flat_map(|source| match source {
            NameSource::Literal(text) => vec![(*text).to_owned()],
            NameSource::Attribute(name) => attribute(name),
            NameSource::Text(parts) => filled(parts, resource, native).into_iter().collect(),
            NameSource::If { attribute: name, set, names } => {
                if attribute(name).is_empty() == *set {
                    Vec::new()
                } else {
                    inner(names)
                }
            }
            NameSource::Case { attribute: name, arms, otherwise } => {
                let value = attribute(name).into_iter().next();
                let arm = match value {
                    Some(value) => arms.iter().find(|(labels, _)| labels.contains(&value.as_str())),
                    // The default provider of a platform is the one that types name first.
                    None if *name == "provider" => arms.first(),
                    None => None,
                };
                inner(arm.map_or(otherwise, |(_, names)| names))
            }
        })
        .collect()
}

/// The values of an attribute; the title, if it stands for the attribute.
fn attribute(resource: &Resource, native: &NativeType, name: &str) -> Vec<String> {
    match resource.get(name) {
        Some(value) => texts(value),
        None => native.key_value(resource, name).map(|text| text.to_string()).into_iter().collect(),
    }
}

/// `None` if an attribute has no value.
fn filled(parts: &[TextPart], resource: &Resource, native: &NativeType) -> Option<String> {
    parts.iter().try_fold(String::new(), |text, part| match part {
        TextPart::Literal(literal) => Some(text + literal),
        TextPart::Attribute(name) => Some(text + attribute(resource, native, name).first()?),
        TextPart::Piece { attribute: name, separator, index } => {
            let values = attribute(resource, native, name);
            let mut pieces = values.first()?.split(separator);
            Some(text + if *index == usize::MAX { pieces.last()? } else { pieces.nth(*index)? })
        }
    })
}
