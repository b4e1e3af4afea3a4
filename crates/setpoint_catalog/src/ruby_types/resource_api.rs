//! Types of the Resource API: `Puppet::ResourceApi.register_type(name: …, attributes: { … })`.

use std::borrow::Cow;

use setpoint_source::Symbol;

use super::tree::{Literal, Tree};
use super::type_file::pattern;
use super::{RubyType, Unread};
use crate::{Attribute, AutoRelation, Check, NameSource, NativeType, Relation, Role, TitlePattern};

pub(super) fn read(tree: &Tree) -> Option<RubyType> {
    let at = (0..tree.tokens.len()).find(|at| tree.name(*at) == Some("register_type"))?;
    let arguments = tree.arguments(at, tree.tokens.len());
    let definition = arguments.first()?;
    let name = Symbol::new(definition.get("name")?.word()?).as_str();
    let mut unread = Vec::new();
    let mut attributes = Vec::new();
    let open = match definition.get("attributes") {
        Some(Literal::Hash(entries)) => {
            attributes.extend(entries.iter().filter_map(|(key, value)| attribute(key.word()?, value)));
            attributes.len() < entries.len()
        }
        _ => true,
    };
    let namevars: Vec<&'static str> =
        attributes.iter().filter(|attribute| attribute.namevar).map(|attribute| attribute.name).collect();
    let mut auto = Vec::new();
    for (key, relation) in [
        ("autorequire", Relation::Require),
        ("autosubscribe", Relation::Subscribe),
        ("autobefore", Relation::Before),
        ("autonotify", Relation::Notify),
    ] {
        let Some(Literal::Hash(entries)) = definition.get(key) else { continue };
        auto.extend(
            entries.iter().filter_map(|(target, names)| relation_to(relation, target.word()?, names)),
        );
    }
    let title_patterns = match definition.get("title_patterns") {
        Some(Literal::Array(items)) => items.iter().map(title_pattern).collect::<Option<Vec<_>>>(),
        _ => Some(Vec::new()),
    };
    if title_patterns.is_none() {
        unread.push(Unread { line: tree.line(at), what: "how titles are taken apart".to_owned() });
    }
    attributes.sort_by_key(|attribute| attribute.name);
    let native = NativeType {
        name,
        module: None,
        attributes: Cow::Owned(attributes),
        namevars: Cow::Owned(namevars),
        title_patterns: Cow::Owned(title_patterns.unwrap_or_default()),
        isomorphic: true,
        refreshes: false,
        providers: Cow::Borrowed(&[]),
        auto: Cow::Owned(auto),
        open,
    };
    Some(RubyType { native, unread })
}

fn attribute(name: &str, definition: &Literal) -> Option<Attribute> {
    if !matches!(definition, Literal::Hash(_)) {
        return None;
    }
    let behaviour =
        definition.get("behaviour").or_else(|| definition.get("behavior")).and_then(Literal::word);
    let role = match behaviour {
        Some("namevar" | "parameter") => Role::Parameter,
        _ => Role::Property,
    };
    let of = definition.get("type").and_then(Literal::word);
    let is_text = matches!(of, Some("String" | "Optional[String]"));
    Some(Attribute {
        name: Symbol::new(name).as_str(),
        role,
        namevar: behaviour == Some("namevar"),
        // Its values are checked against a data type, by code of the Resource API.
        check: if is_text { Check::Text } else { Check::DataType },
        values: Cow::Borrowed(&[]),
        patterns: Cow::Borrowed(&[]),
        kinds: "",
        managed_by: None,
    })
}

/// `'$source'` is the value of an attribute, anything else a name.
fn relation_to(relation: Relation, target: &str, names: &Literal) -> Option<AutoRelation> {
    let one = |text: &str| match text.strip_prefix('$') {
        Some(attribute) => NameSource::Attribute(Symbol::new(attribute).as_str()),
        None => NameSource::Literal(Symbol::new(text).as_str()),
    };
    let names = match names {
        Literal::Array(items) => items.iter().filter_map(|item| item.word().map(one)).collect(),
        single => vec![one(single.word()?)],
    };
    Some(AutoRelation { relation, target: Symbol::new(target).as_str(), names })
}

/// `{ pattern: %r{^(?<name>.*)$}, desc: … }`: named groups.
fn title_pattern(item: &Literal) -> Option<TitlePattern> {
    let Some(Literal::Regex(source, flags)) = item.get("pattern") else { return None };
    let text = pattern(source, flags)?;
    let names: Vec<&'static str> = text
        .split("(?<")
        .skip(1)
        .filter(|rest| !rest.starts_with(['=', '!']))
        .filter_map(|rest| rest.split_once('>').map(|(name, _)| Symbol::new(name).as_str()))
        .collect();
    Some((Symbol::new(&text).as_str(), Vec::leak(names)))
}
