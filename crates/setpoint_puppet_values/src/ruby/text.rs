//! The texts that Ruby makes of values: `to_s`, `inspect`, and the names of classes in its errors.

use std::fmt::Write;

use crate::value::{Data, Value};

use super::numbers::float_to_s;

/// `value.to_s`.
pub fn to_s(value: &Value) -> String {
    match &value.data {
        Data::Undef => String::new(),
        Data::String(text) => text.to_string(),
        Data::Default => "default".to_owned(),
        Data::Array(_) | Data::Hash(_) => inspect(value),
        _ => {
            let mut out = String::new();
            crate::text::write_plain(value, &mut out);
            out
        }
    }
}

/// `value.inspect`.
pub fn inspect(value: &Value) -> String {
    let mut out = String::new();
    write_inspect(value, &mut out);
    out
}

fn write_inspect(value: &Value, out: &mut String) {
    match &value.data {
        Data::Undef => out.push_str("nil"),
        Data::Default => out.push_str(":default"),
        Data::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Data::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Data::Float(number) => out.push_str(&float_to_s(*number)),
        Data::String(text) => quote(text, out),
        Data::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_inspect(item, out);
            }
            out.push(']');
        }
        Data::Hash(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_inspect(&key.0, out);
                out.push_str("=>");
                write_inspect(item, out);
            }
            out.push('}');
        }
        Data::Regex(regex) => out.push_str(&regex.with_delimiters()),
        Data::Sensitive(_) => out.push_str("#<Sensitive [value redacted]>"),
        Data::Uri(uri) => {
            let _ = write!(out, "#<{} {uri}>", uri.class_name());
        }
        _ => crate::text::write_plain(value, out),
    }
}

/// `String#inspect`.
pub fn inspect_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            '\u{8}' => out.push_str("\\b"),
            '\u{7}' => out.push_str("\\a"),
            '\u{1b}' => out.push_str("\\e"),
            '#' if matches!(letters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            other if other.is_ascii_control() => {
                let _ = write!(out, "\\x{:02X}", u32::from(other));
            }
            other if other.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(other));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// What Ruby's conversion errors call a value: its class, but `nil`, `true` and `false` by themselves.
pub fn class_name(value: &Value) -> &'static str {
    match &value.data {
        Data::Undef => "nil",
        Data::Bool(true) => "true",
        Data::Bool(false) => "false",
        _ => class(value),
    }
}

/// `value.class`; types of types are all but named alike.
pub fn class(value: &Value) -> &'static str {
    match &value.data {
        Data::Undef => "NilClass",
        Data::Default => "Symbol",
        Data::Bool(true) => "TrueClass",
        Data::Bool(false) => "FalseClass",
        Data::Integer(_) => "Integer",
        Data::Float(_) => "Float",
        Data::String(_) => "String",
        Data::Array(_) => "Array",
        Data::Hash(_) => "Hash",
        Data::Sensitive(_) => "Puppet::Pops::Types::PSensitiveType::Sensitive",
        Data::Type(of) => type_class(of),
        Data::Regex(_) => "Regexp",
        Data::Timestamp(_) => "Puppet::Pops::Time::Timestamp",
        Data::Timespan(_) => "Puppet::Pops::Time::Timespan",
        Data::SemVer(_) => "SemanticPuppet::Version",
        Data::SemVerRange(_) => "SemanticPuppet::VersionRange",
        Data::Uri(uri) => uri.class_name(),
        Data::Binary(_) => "Puppet::Pops::Types::PBinaryType::Binary",
        Data::Iterator(_) => "Puppet::Pops::Types::Iterator",
        Data::Object(_) => "Puppet::DataTypes::Error",
        Data::Deferred(_) | Data::Opaque(_) => "Object",
    }
}

/// `Array#join`: arrays within arrays are joined the same way.
pub fn join(items: &[Value], delimiter: &str) -> String {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(delimiter);
        }
        match &item.data {
            Data::Array(inner) => out.push_str(&join(inner, delimiter)),
            _ => out.push_str(&to_s(item)),
        }
    }
    out
}

/// What Ruby says if a value has no such method.
pub fn no_method(method: &str, value: &Value) -> String {
    format!("undefined method `{method}' for {}:{}", inspect(value), class(value))
}

/// What Ruby says if a value cannot stand for one of another class.
pub fn no_conversion(value: &Value, class: &str) -> String {
    format!("no implicit conversion of {} into {class}", class_name(value))
}

/// The class of a type.
fn type_class(of: &crate::types::Type) -> &'static str {
    match of.simple_name() {
        "Any" => "Puppet::Pops::Types::PAnyType",
        "Unit" => "Puppet::Pops::Types::PUnitType",
        "Undef" => "Puppet::Pops::Types::PUndefType",
        "Default" => "Puppet::Pops::Types::PDefaultType",
        "Scalar" => "Puppet::Pops::Types::PScalarType",
        "ScalarData" => "Puppet::Pops::Types::PScalarDataType",
        "Numeric" => "Puppet::Pops::Types::PNumericType",
        "CatalogEntry" => "Puppet::Pops::Types::PCatalogEntryType",
        "SemVerRange" => "Puppet::Pops::Types::PSemVerRangeType",
        "Binary" => "Puppet::Pops::Types::PBinaryType",
        "Integer" => "Puppet::Pops::Types::PIntegerType",
        "Float" => "Puppet::Pops::Types::PFloatType",
        "Boolean" => "Puppet::Pops::Types::PBooleanType",
        "String" => "Puppet::Pops::Types::PStringType",
        "Enum" => "Puppet::Pops::Types::PEnumType",
        "Pattern" => "Puppet::Pops::Types::PPatternType",
        "Regexp" => "Puppet::Pops::Types::PRegexpType",
        "Collection" => "Puppet::Pops::Types::PCollectionType",
        "Array" => "Puppet::Pops::Types::PArrayType",
        "Hash" => "Puppet::Pops::Types::PHashType",
        "Tuple" => "Puppet::Pops::Types::PTupleType",
        "Struct" => "Puppet::Pops::Types::PStructType",
        "Optional" => "Puppet::Pops::Types::POptionalType",
        "NotUndef" => "Puppet::Pops::Types::PNotUndefType",
        "Type" => "Puppet::Pops::Types::PTypeType",
        "Iterable" => "Puppet::Pops::Types::PIterableType",
        "Iterator" => "Puppet::Pops::Types::PIteratorType",
        "Sensitive" => "Puppet::Pops::Types::PSensitiveType",
        "Variant" => "Puppet::Pops::Types::PVariantType",
        "Callable" => "Puppet::Pops::Types::PCallableType",
        "Init" => "Puppet::Pops::Types::PInitType",
        "Timestamp" => "Puppet::Pops::Types::PTimestampType",
        "Timespan" => "Puppet::Pops::Types::PTimespanType",
        "SemVer" => "Puppet::Pops::Types::PSemVerType",
        "URI" => "Puppet::Pops::Types::PURIType",
        "Resource" => "Puppet::Pops::Types::PResourceType",
        "Class" => "Puppet::Pops::Types::PClassType",
        "Runtime" => "Puppet::Pops::Types::PRuntimeType",
        "Object" => "Puppet::Pops::Types::PObjectType",
        "TypeSet" => "Puppet::Pops::Types::PTypeSetType",
        "TypeReference" => "Puppet::Pops::Types::PTypeReferenceType",
        "TypeAlias" => "Puppet::Pops::Types::PTypeAliasType",
        _ => "Puppet::Pops::Types::PAnyType",
    }
}
