//! Types as text.

use std::fmt;

use super::{
    Alias, Bounds, CallableType, IntRange, StringType, StructElement, Type, TypeSetType, capitalize_segments,
};
use crate::ruby::numbers::float_to_s;
use crate::text::puppet_quote;
use crate::value::{Data, Hash, Value};

/// The aliases that every environment has; they are never expanded.
const BUILTIN_ALIASES: [&str; 5] =
    ["Data", "RichDataKey", "RichData", "Puppet::LookupKey", "Puppet::LookupValue"];

/// The length of a text from which on aliases are written by name only: thirty aliases, each of which names the one
/// before it twice, would fill the memory.
const LONGEST_EXPANSION: usize = 1 << 16;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An alias that stands alone is printed with what it stands for, an object type with what it is made of.
        let mut writer = Writer { expanded: matches!(self, Self::Alias(_)), ..Writer::default() };
        match self {
            Self::Object(Some(of)) if of.arguments.is_empty() => writer.object(&of.definition),
            Self::TypeSet(Some(of)) => writer.type_set(of),
            _ => writer.write(self),
        }
        f.write_str(&writer.text)
    }
}

impl Type {
    /// With each alias followed by what it stands for: `Port = Integer[1, 65535]`.
    pub fn expanded(&self) -> String {
        let mut writer = Writer { expanded: true, ..Writer::default() };
        writer.write(self);
        writer.text
    }

    /// With aliases by name only.
    pub fn unexpanded(&self) -> String {
        let mut writer = Writer::default();
        writer.write(self);
        writer.text
    }

    /// The name without parameters: `Integer` for `Integer[1, 2]`, the name of an alias or of an object type.
    pub fn name(&self) -> String {
        match self {
            Self::Alias(alias) => alias.name.to_string(),
            Self::Object(Some(of)) => of.name.as_deref().unwrap_or("Object").to_owned(),
            _ => self.simple_name().to_owned(),
        }
    }

    /// The name of the kind of type, as messages have it.
    pub fn simple_name(&self) -> &'static str {
        match self {
            Self::Any => "Any",
            Self::Unit => "Unit",
            Self::Undef => "Undef",
            Self::Default => "Default",
            Self::Scalar => "Scalar",
            Self::ScalarData => "ScalarData",
            Self::Numeric => "Numeric",
            Self::CatalogEntry => "CatalogEntry",
            Self::SemVerRange => "SemVerRange",
            Self::Binary => "Binary",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::Boolean(_) => "Boolean",
            Self::String(_) => "String",
            Self::Enum(_) => "Enum",
            Self::Pattern(_) => "Pattern",
            Self::Regexp(_) => "Regexp",
            Self::Collection(_) => "Collection",
            Self::Array(_) => "Array",
            Self::Hash(_) => "Hash",
            Self::Tuple(_) => "Tuple",
            Self::Struct(_) => "Struct",
            Self::Optional(_) => "Optional",
            Self::NotUndef(_) => "NotUndef",
            Self::Type(_) => "Type",
            Self::Iterable(_) => "Iterable",
            Self::Iterator(_) => "Iterator",
            Self::Sensitive(_) => "Sensitive",
            Self::Variant(_) => "Variant",
            Self::Callable(_) => "Callable",
            Self::Init(_) => "Init",
            Self::Timestamp(_) => "Timestamp",
            Self::Timespan(_) => "Timespan",
            Self::SemVer(_) => "SemVer",
            Self::Uri(_) => "URI",
            Self::Resource(_) => "Resource",
            Self::Class(_) => "Class",
            Self::Runtime(_) => "Runtime",
            Self::Object(_) => "Object",
            Self::TypeSet(_) => "TypeSet",
            Self::Reference(_) => "TypeReference",
            Self::Alias(_) => "TypeAlias",
        }
    }
}

/// A value as it stands among the parameters of a type.
pub(crate) fn parameter_text(value: &Value) -> String {
    let mut writer = Writer::default();
    writer.value(value);
    writer.text
}

#[derive(Default)]
struct Writer {
    text: String,
    expanded: bool,
    /// The recursive aliases whose targets are being written.
    within: Vec<*const Alias>,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// `name[parts]`, or `name` alone if there are none.
    fn list(&mut self, name: &str, parts: Vec<Part<'_>>) {
        self.push(name);
        if parts.is_empty() {
            return;
        }
        self.brackets(parts);
    }

    fn brackets(&mut self, parts: Vec<Part<'_>>) {
        self.push("[");
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            match part {
                Part::Type(of) => self.write(of),
                Part::Text(text) => self.push(&text),
            }
        }
        self.push("]");
    }

    fn contained(&mut self, name: &str, of: Option<&Type>) {
        self.list(name, of.into_iter().map(Part::Type).collect());
    }

    fn write(&mut self, of: &Type) {
        match of {
            Type::Integer(range) => self.list("Integer", range_parts(range.as_deref(), i64::to_string)),
            Type::Float(range) => {
                self.list("Float", range_parts(range.as_deref(), |number| float_to_s(*number)));
            }
            Type::Boolean(value) => {
                self.list("Boolean", value.map(|value| Part::Text(value.to_string())).into_iter().collect());
            }
            Type::String(of) => match of.as_deref() {
                Some(StringType::Size(size)) => self.list("String", size_parts(Some(size))),
                _ => self.push("String"),
            },
            Type::Enum(of) => {
                let mut parts: Vec<Part<'_>> = Vec::new();
                if let Some(of) = of {
                    parts.extend(of.values.iter().map(|value| Part::Text(puppet_quote(value))));
                    if of.case_insensitive && !parts.is_empty() {
                        parts.push(Part::Text("true".to_owned()));
                    }
                }
                self.list("Enum", parts);
            }
            Type::Pattern(patterns) => {
                let regexes = patterns.iter().flat_map(|patterns| patterns.iter());
                self.list("Pattern", regexes.map(|regex| Part::Text(regex.with_delimiters())).collect());
            }
            Type::Regexp(regex) => {
                self.list("Regexp", regex.iter().map(|regex| Part::Text(regex.with_delimiters())).collect());
            }
            Type::Collection(size) => self.list("Collection", size_parts(size.as_deref())),
            Type::Array(Some(of)) if of.size == Some(IntRange::EMPTY) => self.push("Array[0, 0]"),
            Type::Array(Some(of)) => {
                let mut parts = vec![Part::Type(&of.element)];
                parts.extend(size_parts(of.size.as_ref()));
                self.list("Array", parts);
            }
            Type::Hash(Some(of)) if of.size == Some(IntRange::EMPTY) => self.push("Hash[0, 0]"),
            Type::Hash(Some(of)) => {
                let mut parts = vec![Part::Type(&of.key), Part::Type(&of.value)];
                parts.extend(size_parts(of.size.as_ref()));
                self.list("Hash", parts);
            }
            Type::Tuple(Some(of)) if !of.types.is_empty() => {
                let mut parts: Vec<Part<'_>> = of.types.iter().map(Part::Type).collect();
                parts.extend(size_parts(of.size.as_ref()));
                self.list("Tuple", parts);
            }
            Type::Struct(Some(elements)) => self.structure(elements),
            Type::Optional(inner) => self.optional("Optional", inner.as_deref()),
            Type::NotUndef(inner) => self.optional("NotUndef", inner.as_deref()),
            Type::Type(inner) | Type::Iterable(inner) | Type::Iterator(inner) | Type::Sensitive(inner) => {
                self.contained(of.simple_name(), inner.as_deref());
            }
            Type::Variant(types) => {
                self.list("Variant", types.iter().flat_map(|types| types.iter()).map(Part::Type).collect());
            }
            Type::Callable(Some(of)) => self.callable(of),
            Type::Init(Some(of)) => {
                let mut parts = vec![Part::Type(&of.of)];
                parts.extend(of.arguments.iter().map(|argument| Part::Text(parameter_text(argument))));
                self.list("Init", parts);
            }
            Type::Timestamp(range) => {
                self.list("Timestamp", time_parts(range.as_deref(), |time| format!("'{time}'")));
            }
            Type::Timespan(range) => {
                self.list("Timespan", time_parts(range.as_deref(), |span| format!("'{span}'")));
            }
            Type::SemVer(ranges) => {
                let ranges = ranges.iter().flat_map(|ranges| ranges.iter());
                self.list("SemVer", ranges.map(|range| Part::Text(format!("'{range}'"))).collect());
            }
            Type::Uri(Some(parameters)) => {
                self.push("URI[");
                self.hash(parameters);
                self.push("]");
            }
            Type::Resource(Some(of)) => {
                let title = of.title.as_ref().map(|title| Part::Text(puppet_quote(title)));
                self.list(&capitalize_segments(&of.name), title.into_iter().collect());
            }
            Type::Class(name) => {
                self.list("Class", name.iter().map(|name| Part::Text(name.to_string())).collect());
            }
            Type::Runtime(Some(of)) => {
                self.list(
                    "Runtime",
                    vec![Part::Text(of.runtime.to_string()), Part::Text(puppet_quote(&of.name))],
                );
            }
            Type::Object(Some(of)) => match &of.name {
                Some(name) => {
                    self.push(name);
                    if !of.arguments.is_empty() {
                        self.push("[");
                        for (index, argument) in of.written_arguments().iter().enumerate() {
                            if index > 0 {
                                self.push(", ");
                            }
                            self.value(argument);
                        }
                        self.push("]");
                    }
                }
                None => self.object(&of.definition),
            },
            Type::TypeSet(Some(of)) => match &of.name {
                Some(name) => self.push(name),
                None => self.type_set(of),
            },
            Type::Reference(name) => self.list("TypeReference", vec![Part::Text(puppet_quote(name))]),
            Type::Alias(alias) => self.alias(alias),
            _ => self.push(of.simple_name()),
        }
    }

    /// `Object[{name => 'X', attributes => {'a' => Integer}}]`: the words of the definition stand without quotes.
    fn object(&mut self, definition: &Hash) {
        self.push("Object[{");
        for (index, (key, item)) in definition.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            let word = key.as_str().unwrap_or("");
            self.push(word);
            self.push(" => ");
            match item.as_hash() {
                Some(members) if matches!(word, "attributes" | "functions") => self.members(members),
                _ => self.value(item),
            }
        }
        self.push("}]");
    }

    fn type_set(&mut self, of: &TypeSetType) {
        self.push("TypeSet[");
        self.value(&of.definition);
        self.push("]");
    }

    fn members(&mut self, members: &Hash) {
        self.push("{");
        for (index, (name, member)) in members.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.value(&name.0);
            self.push(" => ");
            let Some(details) = member.as_hash() else {
                self.value(member);
                continue;
            };
            self.push("{");
            for (index, (key, detail)) in details.iter().enumerate() {
                if index > 0 {
                    self.push(", ");
                }
                let word = key.as_str().unwrap_or("");
                self.push(word);
                self.push(" => ");
                match detail.as_str() {
                    Some(kind) if word == "kind" => self.push(kind),
                    _ => self.value(detail),
                }
            }
            self.push("}");
        }
        self.push("}");
    }

    /// A string that is meant exactly stands there itself.
    fn optional(&mut self, name: &str, inner: Option<&Type>) {
        match inner {
            Some(Type::String(Some(of))) => match of.as_ref() {
                StringType::Value(value) => self.list(name, vec![Part::Text(puppet_quote(value))]),
                StringType::Size(_) => self.contained(name, inner),
            },
            _ => self.contained(name, inner),
        }
    }

    fn structure(&mut self, elements: &[StructElement]) {
        self.push("Struct[{");
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            let value_optional = element.value.is_assignable(&Type::Undef);
            match (element.is_optional(), value_optional) {
                (true, true) | (false, false) => self.push(&puppet_quote(&element.name)),
                (true, false) => self.write(&element.key),
                (false, true) => self.optional("NotUndef", Some(&element.key)),
            }
            self.push(" => ");
            self.write(&element.value);
        }
        self.push("}]");
    }

    fn callable(&mut self, of: &CallableType) {
        let Some(returns) = &of.returns else {
            self.push("Callable");
            return self.callable_parameters(of);
        };
        self.push("Callable[");
        if of.parameters.is_none() {
            self.push("[]");
        } else {
            self.callable_parameters(of);
        }
        self.push(", ");
        self.write(returns);
        self.push("]");
    }

    fn callable_parameters(&mut self, of: &CallableType) {
        let Some(parameters) = &of.parameters else { return };
        let mut parts: Vec<Part<'_>> =
            parameters.types.iter().filter(|of| !matches!(of, Type::Unit)).map(Part::Type).collect();
        if parameters.types.is_empty() {
            parts.push(Part::Text("0".to_owned()));
            parts.push(Part::Text("0".to_owned()));
        } else {
            parts.extend(size_parts(parameters.size.as_ref()));
        }
        parts.extend(of.block.iter().map(Part::Type));
        self.brackets(parts);
    }

    fn alias(&mut self, alias: &std::sync::Arc<Alias>) {
        self.push(&alias.name);
        if !self.expanded || BUILTIN_ALIASES.contains(&&*alias.name) {
            return;
        }
        let pointer = std::sync::Arc::as_ptr(alias);
        if self.within.contains(&pointer) || self.text.len() > LONGEST_EXPANSION {
            return;
        }
        if let Some(target) = alias.target() {
            self.push(" = ");
            self.within.push(pointer);
            self.write(target);
            self.within.pop();
        }
    }

    fn hash(&mut self, entries: &Hash) {
        self.push("{");
        for (index, (key, item)) in entries.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.value(&key.0);
            self.push(" => ");
            self.value(item);
        }
        self.push("}");
    }

    fn value(&mut self, value: &Value) {
        match &value.data {
            Data::Undef => self.push("undef"),
            Data::Default => self.push("default"),
            Data::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Data::Integer(number) => self.push(&number.to_string()),
            Data::Float(number) => self.push(&float_to_s(*number)),
            Data::String(text) => self.push(&puppet_quote(text)),
            Data::Regex(regex) => self.push(&regex.with_delimiters()),
            Data::Array(items) => {
                self.push("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.push(", ");
                    }
                    self.value(item);
                }
                self.push("]");
            }
            Data::Hash(entries) => self.hash(entries),
            Data::Type(of) => self.write(of),
            Data::SemVer(version) => self.push(&format!("'{version}'")),
            Data::SemVerRange(range) => self.push(&format!("'{range}'")),
            Data::Timestamp(time) => self.push(&format!("'{time}'")),
            Data::Timespan(span) => self.push(&format!("'{span}'")),
            Data::Uri(uri) => {
                self.push("URI(");
                self.push(&puppet_quote(&uri.to_string()));
                self.push(")");
            }
            Data::Deferred(_) | Data::Object(_) => {
                let name = value.object_name().unwrap_or("Object").to_owned();
                self.push(&name);
                self.push("(");
                self.hash(&value.object_attributes());
                self.push(")");
            }
            _ => {
                self.push("Instance of ");
                self.write(&super::infer(value));
            }
        }
    }
}

enum Part<'a> {
    Type(&'a Type),
    Text(String),
}

fn range_parts<'a, T>(range: Option<&Bounds<T>>, text: impl Fn(&T) -> String) -> Vec<Part<'a>> {
    let Some(range) = range.filter(|range| !range.is_unbounded()) else { return Vec::new() };
    let from = range.from.as_ref().map_or_else(|| "default".to_owned(), &text);
    [Some(from), range.to.as_ref().map(text)].into_iter().flatten().map(Part::Text).collect()
}

fn size_parts<'a>(size: Option<&IntRange>) -> Vec<Part<'a>> {
    range_parts(size, i64::to_string)
}

/// A range of times; a range of one is that one.
fn time_parts<'a, T: PartialEq>(range: Option<&Bounds<T>>, text: impl Fn(&T) -> String) -> Vec<Part<'a>> {
    let Some(range) = range else { return Vec::new() };
    let from = range.from.as_ref().map_or_else(|| "default".to_owned(), &text);
    let to = range.to.as_ref().filter(|to| range.from.as_ref() != Some(to)).map(text);
    [Some(from), to].into_iter().flatten().map(Part::Text).collect()
}
