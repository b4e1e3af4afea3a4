//! Automatic relationships that the types of modules declare.

use super::auto::texts;
use super::paths::parents;
use crate::{NameSource, NativeType, Resource, TextPart};

/// The names that the sources yield for a resource.
pub(super) fn names(sources: &[NameSource], resource: &Resource, native: &NativeType) -> Vec<String> {
    sources
        .iter()
        .flat_map(|source| match source {
            NameSource::Literal(text) => vec![(*text).to_owned()],
            NameSource::Attribute(name) => attribute(resource, native, name),
            NameSource::ParentOf(name) => attribute(resource, native, name)
                .iter()
                .filter_map(|path| parents(path).next().map(str::to_owned))
                .collect(),
            NameSource::Text(parts) => filled(parts, resource, native).into_iter().collect(),
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
    })
}
