//! `new` of the smaller types.

use std::sync::{Arc, LazyLock};

use super::constructor::{Constructor, cannot_convert, keep};
use crate::error::ValueError;
use crate::regex::Regex;
use crate::ruby::base64;
use crate::semver::{Identifier, Major, SemVer, SemVerRange};
use crate::uri::Uri;
use crate::value::{Data, Hash, Key, Value};

pub(super) static BOOLEAN: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_boolean",
        &[],
        &[(
            "Variant[Integer, Float, Boolean, Enum['false','true','yes','no','y','n',true]] from",
            |arguments| {
                let truth = match arguments.first().map(|from| &from.data) {
                    Some(Data::Float(number)) => *number != 0.0,
                    Some(Data::Integer(number)) => *number != 0,
                    Some(Data::Bool(truth)) => *truth,
                    Some(Data::String(text)) => !matches!(text.to_lowercase().as_str(), "false" | "no" | "n"),
                    _ => true,
                };
                Ok(Value::from(truth))
            },
        )],
        &[("Any from", |arguments| {
            cannot_convert("new_boolean", "Boolean", arguments.first().unwrap_or(&Value::UNDEF))
        })],
    )
});

pub(super) static STRING: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_string",
        &[
            ("Format", r"Pattern[/^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$/]"),
            (
                "ContainerFormat",
                "Struct[{Optional[format] => Format, Optional[separator] => String, Optional[separator2] => String, \
                 Optional[string_formats] => Hash[Type, Format]}]",
            ),
            ("TypeMap", "Hash[Type, Variant[Format, ContainerFormat]]"),
            ("Convertible", "Any"),
            ("Formats", "Variant[Default, String[1], TypeMap]"),
        ],
        &[("Convertible from, Formats string_formats?", super::string_from)],
        &[],
    )
});

pub(super) static REGEXP: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_float",
        &[],
        &[("String pattern, Boolean escape?", |arguments| {
            let source = arguments.first().and_then(Value::as_str).unwrap_or("");
            let escape = arguments.get(1).is_some_and(Value::is_true);
            let source = if escape { Regex::escape(source) } else { source.to_owned() };
            Ok(Value::from(Regex::new(source)?))
        })],
        &[],
    )
});

pub(super) static UNIT: LazyLock<Constructor> =
    LazyLock::new(|| Constructor::new("new_unit", &[], &[("Any from", keep)], &[]));

pub(super) static SENSITIVE: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_Sensitive",
        &[],
        &[
            ("Sensitive value", keep),
            ("Any value", |arguments| {
                let value = arguments.first().cloned().unwrap_or(Value::UNDEF);
                let prov = value.prov;
                Ok(Value::new(Data::Sensitive(Arc::new(value))).with(prov))
            }),
        ],
        &[],
    )
});

pub(super) static SEM_VER: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_Version",
        &[
            ("PositiveInteger", "Integer[0,default]"),
            ("SemVerQualifier", r"Pattern[/\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z/]"),
            (
                "SemVerPattern",
                r"Pattern[/\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\Z/]",
            ),
            (
                "SemVerHash",
                "Struct[{major=>PositiveInteger,minor=>PositiveInteger,patch=>PositiveInteger,\
                 Optional[prerelease]=>SemVerQualifier,Optional[build]=>SemVerQualifier}]",
            ),
        ],
        &[
            ("SemVerPattern str", |arguments| {
                SemVer::parse(arguments.first().and_then(Value::as_str).unwrap_or("")).map(version)
            }),
            (
                "PositiveInteger major, PositiveInteger minor, PositiveInteger patch, SemVerQualifier prerelease?, \
                 SemVerQualifier build?",
                |arguments| Ok(version_of([0, 1, 2, 3, 4].map(|index| arguments.get(index)))),
            ),
            ("SemVerHash hash_args", |arguments| {
                let empty = Hash::default();
                let entries = arguments.first().and_then(Value::as_hash).unwrap_or(&empty);
                let names = ["major", "minor", "patch", "prerelease", "build"];
                Ok(version_of(names.map(|name| entries.get(&Key::from(name)))))
            }),
        ],
        &[("String str", |arguments| {
            let text = arguments.first().and_then(Value::as_str).unwrap_or("");
            ValueError::new(format!("'new_Version' The string '{text}' cannot be converted to a SemVer"))
        })],
    )
});

fn version(version: SemVer) -> Value {
    Value::new(Data::SemVer(Arc::new(version)))
}

/// Puppet keeps a qualifier that came apart as one piece.
fn version_of([major, minor, patch, prerelease, build]: [Option<&Value>; 5]) -> Value {
    let number =
        |value: Option<&Value>| value.and_then(Value::as_integer).map_or(0, |number| number.max(0) as u64);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    version(SemVer {
        major: Major::Number(number(major)),
        minor: number(minor),
        patch: number(patch),
        prerelease: text(prerelease).map(|text| vec![Identifier::Name(text)]),
        build: text(build).map(|text| vec![text]),
    })
}

pub(super) static SEM_VER_RANGE: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_VersionRange",
        &[
            ("SemVerRangeString", "String[1]"),
            (
                "SemVerRangeHash",
                "Struct[{min=>Variant[Default,SemVer],Optional[max]=>Variant[Default,SemVer],\
                 Optional[exclude_max]=>Boolean}]",
            ),
        ],
        &[
            ("SemVerRangeString str", |arguments| {
                SemVerRange::parse(arguments.first().and_then(Value::as_str).unwrap_or("")).map(range)
            }),
            ("Variant[Default,SemVer] min, Variant[Default,SemVer] max, Boolean exclude_max?", |arguments| {
                Ok(range_of([0, 1, 2].map(|index| arguments.get(index))))
            }),
            ("SemVerRangeHash hash_args", |arguments| {
                let empty = Hash::default();
                let entries = arguments.first().and_then(Value::as_hash).unwrap_or(&empty);
                Ok(range_of(["min", "max", "exclude_max"].map(|name| entries.get(&Key::from(name)))))
            }),
        ],
        &[],
    )
});

fn range(range: SemVerRange) -> Value {
    Value::new(Data::SemVerRange(Arc::new(range)))
}

fn range_of([min, max, exclude]: [Option<&Value>; 3]) -> Value {
    let end = |value: Option<&Value>, default: SemVer| match value.map(|value| &value.data) {
        Some(Data::SemVer(version)) => version.as_ref().clone(),
        _ => default,
    };
    let (min, max) = (end(min, SemVer::lowest()), end(max, SemVer::endless()));
    range(SemVerRange::between(&min, &max, exclude.is_some_and(Value::is_true)))
}

pub(super) static URI: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_error",
        &[],
        &[
            ("String[1] uri", |arguments| {
                let text = arguments.first().and_then(Value::as_str).unwrap_or("");
                Ok(Value::new(Data::Uri(Arc::new(Uri::parse(text)?))))
            }),
            (
                "Struct[{Optional[scheme] => String[1], Optional[userinfo] => String[1], Optional[host] => String[1], \
                 Optional[port] => Integer[0], Optional[path] => String[1], Optional[query] => String[1], \
                 Optional[fragment] => String[1], Optional[opaque] => String[1]}] hash",
                |arguments| {
                    let empty = Hash::default();
                    let entries = arguments.first().and_then(Value::as_hash).unwrap_or(&empty);
                    let text =
                        |name: &str| entries.get(&Key::from(name)).and_then(Value::as_str).map(str::to_owned);
                    let port = entries.get(&Key::from("port")).and_then(Value::as_integer);
                    Ok(Value::new(Data::Uri(Arc::new(Uri {
                        scheme: text("scheme").map(|scheme| scheme.to_lowercase()),
                        userinfo: text("userinfo"),
                        host: text("host"),
                        explicit_port: port.and_then(|port| u16::try_from(port).ok()),
                        path: text("path").or_else(|| Some(String::new())),
                        query: text("query"),
                        fragment: text("fragment"),
                        opaque: text("opaque"),
                    }))))
                },
            ),
        ],
        &[],
    )
});

pub(super) static BINARY: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_Binary",
        &[
            ("ByteInteger", "Integer[0,255]"),
            ("Base64Format", r#"Enum["%b", "%u", "%B", "%s", "%r"]"#),
            ("StringHash", r#"Struct[{value => String, "format" => Optional[Base64Format]}]"#),
            ("ArrayHash", "Struct[{value => Array[ByteInteger]}]"),
            ("BinaryArgsHash", "Variant[StringHash, ArrayHash]"),
        ],
        &[
            ("String str, Base64Format format?", |arguments| {
                binary_from_text(arguments.first().unwrap_or(&Value::UNDEF), arguments.get(1))
            }),
            ("Array[ByteInteger] byte_array", |arguments| {
                Ok(binary_from_array(arguments.first().unwrap_or(&Value::UNDEF)))
            }),
            ("BinaryArgsHash hash_args", |arguments| {
                let empty = Hash::default();
                let entries = arguments.first().and_then(Value::as_hash).unwrap_or(&empty);
                let value = entries.get(&Key::from("value")).unwrap_or(&Value::UNDEF);
                match value.data {
                    Data::Array(_) => Ok(binary_from_array(value)),
                    _ => binary_from_text(value, entries.get(&Key::from("format"))),
                }
            }),
        ],
        &[],
    )
});

fn binary(bytes: Vec<u8>) -> Value {
    Value::new(Data::Binary(bytes.into()))
}

fn binary_from_array(array: &Value) -> Value {
    let bytes = array.as_array().unwrap_or(&[]).iter();
    binary(bytes.filter_map(|byte| byte.as_integer().and_then(|byte| u8::try_from(byte).ok())).collect())
}

fn binary_from_text(text: &Value, format: Option<&Value>) -> Result<Value, ValueError> {
    let text = text.as_str().unwrap_or("");
    let bytes = match format.and_then(Value::as_str).unwrap_or("%B") {
        "%b" => Some(base64::decode64(text)),
        "%u" => base64::urlsafe_decode64(text),
        "%B" => base64::strict_decode64(text),
        _ => Some(text.as_bytes().to_vec()),
    };
    bytes.map(binary).ok_or_else(|| ValueError::new("invalid base64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signatures_are_read() {
        for (constructor, ways, refusals) in [
            (&BOOLEAN, 1, 1),
            (&STRING, 1, 0),
            (&REGEXP, 1, 0),
            (&UNIT, 1, 0),
            (&SENSITIVE, 2, 0),
            (&SEM_VER, 3, 1),
            (&SEM_VER_RANGE, 3, 0),
            (&URI, 2, 0),
            (&BINARY, 3, 0),
        ] {
            assert!(constructor.is_whole(ways, refusals));
        }
    }
}
