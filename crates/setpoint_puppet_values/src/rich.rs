//! Values as JSON: rich, as a catalog has them, and plain.

use serde_json::{Map, Value as Json, json};

use crate::ruby::text::to_s;
use crate::text::string_format;
use crate::types::{Bounds, StringType, Type};
use crate::value::{Data, Hash, Value};

/// A value as the catalog has it: what JSON cannot say is a hash with `__ptype`. References to resources and classes
/// are texts, `File[/a]`.
pub fn to_rich_data(value: &Value) -> Json {
    match &value.data {
        Data::Array(items) => items.iter().map(to_rich_data).collect(),
        Data::Hash(entries) => rich_hash(entries),
        Data::Default => tagged("Default", []),
        Data::Sensitive(inner) => tagged("Sensitive", [("__pvalue", to_rich_data(inner))]),
        Data::Regex(_) => by_text("Regexp", value),
        Data::Timestamp(_) => by_text("Timestamp", value),
        Data::Timespan(_) => by_text("Timespan", value),
        Data::SemVer(_) => by_text("SemVer", value),
        Data::SemVerRange(_) => by_text("SemVerRange", value),
        Data::Uri(_) => by_text("URI", value),
        Data::Binary(_) => by_text("Binary", value),
        Data::Type(of) => rich_type(of),
        Data::Iterator(iterator) => iterator.iter().map(|item| to_rich_data(&item)).collect(),
        Data::Deferred(_) | Data::Object(_) => {
            let mut map = Map::new();
            map.insert("__ptype".to_owned(), json!(value.object_name().unwrap_or("Object")));
            for (key, item) in value.object_attributes() {
                map.insert(to_s(&key.0), to_rich_data(&item));
            }
            Json::Object(map)
        }
        _ => scalar(value),
    }
}

/// A value as plain data: what JSON cannot say is text. Secrets are not shown.
pub fn to_plain_data(value: &Value) -> Json {
    match &value.data {
        Data::Array(items) => items.iter().map(to_plain_data).collect(),
        Data::Hash(entries) => {
            let pair = |(key, item): (&crate::Key, &Value)| (key_text(&key.0), to_plain_data(item));
            Json::Object(entries.iter().map(pair).collect())
        }
        Data::Iterator(iterator) => iterator.iter().map(|item| to_plain_data(&item)).collect(),
        Data::Type(of) => json!(reference(of).unwrap_or_else(|| of.to_string())),
        _ => scalar(value),
    }
}

fn key_text(key: &Value) -> String {
    match &key.data {
        Data::Regex(regex) => regex.with_delimiters(),
        _ => to_s(key),
    }
}

fn scalar(value: &Value) -> Json {
    match &value.data {
        Data::Undef => Json::Null,
        Data::Bool(truth) => json!(truth),
        Data::Integer(number) => json!(number),
        Data::Float(number) => serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Data::String(text) => json!(**text),
        Data::Regex(regex) => json!(regex.with_delimiters()),
        _ => json!(to_s(value)),
    }
}

fn tagged<const N: usize>(name: &str, entries: [(&str, Json); N]) -> Json {
    let mut map = Map::new();
    map.insert("__ptype".to_owned(), json!(name));
    map.extend(entries.into_iter().map(|(key, item)| (key.to_owned(), item)));
    Json::Object(map)
}

fn by_text(name: &str, value: &Value) -> Json {
    tagged(name, [("__pvalue", json!(string_format(value, None).unwrap_or_default()))])
}

fn rich_hash(entries: &Hash) -> Json {
    if entries.keys().all(|key| key.as_str().is_some_and(|key| key != "__ptype")) {
        let pair =
            |(key, item): (&crate::Key, &Value)| (key.as_str().unwrap_or("").to_owned(), to_rich_data(item));
        return Json::Object(entries.iter().map(pair).collect());
    }
    let pairs: Vec<Json> =
        entries.iter().flat_map(|(key, item)| [to_rich_data(&key.0), to_rich_data(item)]).collect();
    tagged("Hash", [("__pvalue", Json::Array(pairs))])
}

/// `File[/a]`, `Class[A::B]`.
fn reference(of: &Type) -> Option<String> {
    match of {
        Type::Resource(Some(resource)) => {
            let title = resource.title.as_ref()?;
            Some(format!("{}[{title}]", crate::types::capitalize_segments(&resource.name)))
        }
        Type::Class(Some(name)) => Some(format!("Class[{}]", crate::types::capitalize_segments(name))),
        _ => None,
    }
}

/// A type by the attributes of its own type, those at the end that have their defaults left out.
fn rich_type(of: &Type) -> Json {
    if let Some(text) = reference(of) {
        return json!(text);
    }
    let name = format!("Pcore::{}Type", of.simple_name());
    let attributes: Vec<(&str, Json)> = match of {
        Type::Integer(Some(range)) => ends(range, |end| json!(end)),
        Type::Float(Some(range)) => ends(range, |end| json!(end)),
        Type::Timestamp(Some(range)) => {
            once(ends(range, |end| to_rich_data(&Value::new(Data::Timestamp(*end)))), range)
        }
        Type::Timespan(Some(range)) => {
            once(ends(range, |end| to_rich_data(&Value::new(Data::Timespan(*end)))), range)
        }
        Type::String(Some(string)) => vec![(
            "size_type_or_value",
            match string.as_ref() {
                StringType::Size(size) => rich_type(&Type::integer_range(*size)),
                StringType::Value(value) => json!(**value),
            },
        )],
        Type::Enum(Some(values)) => {
            let texts: Vec<&str> = values.values.iter().map(|value| &**value).collect();
            let mut attributes = vec![("values", json!(texts))];
            if values.case_insensitive {
                attributes.push(("case_insensitive", json!(true)));
            }
            attributes
        }
        Type::Enum(None) => vec![("values", json!([]))],
        Type::Pattern(patterns) => {
            let regexes = patterns.iter().flat_map(|patterns| patterns.iter());
            let regexes =
                regexes.map(|regex| tagged("Pcore::RegexpType", [("pattern", json!(regex.source()))]));
            vec![("patterns", regexes.collect())]
        }
        Type::Regexp(Some(regex)) => vec![("pattern", json!(regex.source()))],
        Type::Collection(Some(size)) => vec![("size_type", rich_type(&Type::integer_range(**size)))],
        Type::Array(Some(array)) => {
            let mut attributes = vec![("element_type", rich_type(&array.element))];
            attributes.extend(array.size.map(|size| ("size_type", rich_type(&Type::integer_range(size)))));
            attributes
        }
        Type::Hash(Some(hash)) => {
            let mut attributes =
                vec![("key_type", rich_type(&hash.key)), ("value_type", rich_type(&hash.value))];
            attributes.extend(hash.size.map(|size| ("size_type", rich_type(&Type::integer_range(size)))));
            attributes
        }
        Type::Tuple(tuple) => {
            let types = tuple.as_ref().map_or(&[][..], |tuple| tuple.types.as_slice());
            let mut attributes = vec![("types", types.iter().map(rich_type).collect())];
            let size = tuple.as_ref().and_then(|tuple| tuple.size);
            attributes.extend(size.map(|size| ("size_type", rich_type(&Type::integer_range(size)))));
            attributes
        }
        Type::Struct(elements) => {
            let elements = elements.iter().flat_map(|elements| elements.iter());
            let elements = elements.map(|element| {
                let parts =
                    [("key_type", rich_type(&element.key)), ("value_type", rich_type(&element.value))];
                tagged("Pcore::StructElement", parts)
            });
            vec![("elements", elements.collect())]
        }
        Type::Variant(types) => {
            vec![("types", types.iter().flat_map(|types| types.iter()).map(rich_type).collect())]
        }
        Type::Optional(Some(inner))
        | Type::NotUndef(Some(inner))
        | Type::Type(Some(inner))
        | Type::Iterable(Some(inner))
        | Type::Iterator(Some(inner)) => vec![("type", rich_type(inner))],
        Type::Init(Some(init)) => {
            let mut attributes = vec![("type", rich_type(&init.of))];
            if !init.arguments.is_empty() {
                attributes.push(("init_args", init.arguments.iter().map(to_rich_data).collect()));
            }
            attributes
        }
        Type::Callable(callable) => {
            let callable = callable.as_deref();
            let parameters = callable
                .and_then(|callable| callable.parameters.as_ref())
                .map(|parameters| rich_type(&Type::Tuple(Some(std::sync::Arc::new(parameters.clone())))));
            let part = |of: Option<&Type>| of.map_or(Json::Null, rich_type);
            vec![
                ("param_types", parameters.unwrap_or(Json::Null)),
                ("block_type", part(callable.and_then(|callable| callable.block.as_ref()))),
                ("return_type", part(callable.and_then(|callable| callable.returns.as_ref()))),
            ]
        }
        Type::SemVer(Some(ranges)) => {
            let ranges = ranges.iter().map(|range| {
                to_rich_data(&Value::new(Data::SemVerRange(std::sync::Arc::new(range.clone()))))
            });
            vec![("ranges", ranges.collect())]
        }
        Type::Uri(Some(parameters)) => vec![("parameters", rich_hash(parameters))],
        Type::Runtime(Some(runtime)) => {
            vec![("runtime", json!(*runtime.runtime)), ("name_or_pattern", json!(*runtime.name))]
        }
        Type::Resource(Some(resource)) => vec![("type_name", json!(*resource.name))],
        Type::Reference(name) => vec![("type_string", json!(**name))],
        Type::Alias(alias) if !alias.is_recursive() && alias.target().is_some() => vec![
            ("name", json!(*alias.name)),
            ("type_expr", Json::Null),
            ("resolved_type", alias.target().map_or(Json::Null, rich_type)),
        ],
        // Puppet gives up on an alias that mentions itself; its name says what is meant.
        Type::Alias(_) | Type::Object(Some(_)) | Type::TypeSet(Some(_)) => return json!(of.unexpanded()),
        _ => Vec::new(),
    };
    let mut map = Map::new();
    map.insert("__ptype".to_owned(), json!(name));
    map.extend(attributes.into_iter().map(|(key, item)| (key.to_owned(), item)));
    Json::Object(map)
}

fn ends<T>(range: &Bounds<T>, convert: impl Fn(&T) -> Json) -> Vec<(&'static str, Json)> {
    let mut attributes = vec![("from", range.from.as_ref().map_or(Json::Null, &convert))];
    attributes.extend(range.to.as_ref().map(|to| ("to", convert(to))));
    attributes
}

/// A range of one time names it once.
fn once<T: PartialEq>(
    mut attributes: Vec<(&'static str, Json)>,
    range: &Bounds<T>,
) -> Vec<(&'static str, Json)> {
    if range.from == range.to {
        attributes.truncate(1);
    }
    attributes
}
