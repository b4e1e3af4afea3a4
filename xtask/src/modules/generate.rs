//! Values for parameters, made up from their types: enough to get into a class or an instance of a definition.

use serde_json::{Map, Value, json};
use setpoint_testing::Random;

/// Splits `A, B[c, d]` at the commas that are in no bracket or quote.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start, mut quote) = (Vec::new(), 0_i32, 0, None);
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"' | '/', None) => quote = Some(letter),
            ('[' | '{' | '(', None) => depth += 1,
            (']' | '}' | ')', None) => depth -= 1,
            (',', None) if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A value of a type, as far as the name of the type tells.
pub(super) fn value(of: &str, random: &mut Random) -> Value {
    let of = of.trim();
    let (name, arguments) = match of.split_once('[') {
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(']').unwrap_or(rest)),
        None => (of, ""),
    };
    let arguments = split(arguments);
    let first = arguments.first().copied().unwrap_or("");
    match name {
        "Optional" | "NotUndef" | "Sensitive" if first.is_empty() => json!("x"),
        "Optional" | "NotUndef" | "Sensitive" if first.starts_with('\'') => json!(first.trim_matches('\'')),
        "Optional" | "NotUndef" | "Sensitive" => value(first, random),
        "Variant" => {
            let chosen = arguments.get(random.below(arguments.len()));
            value(chosen.copied().unwrap_or("String"), random)
        }
        "Enum" => {
            let chosen = arguments.get(random.below(arguments.len()));
            json!(chosen.copied().unwrap_or("x").trim_matches(['\'', '"']))
        }
        "Boolean" => json!(random.below(2) == 0),
        "Integer" | "Numeric" => json!(first.parse::<i64>().unwrap_or(2).max(1)),
        "Float" => json!(first.parse::<f64>().unwrap_or(1.5)),
        "Array" => match first {
            "" => json!(["x", "y"]),
            _ => json!([value(first, random)]),
        },
        "Hash" => match arguments.as_slice() {
            [key, of, ..] => {
                let key = value(key, random);
                let mut hash = Map::new();
                hash.insert(key.as_str().map_or_else(|| key.to_string(), str::to_owned), value(of, random));
                Value::Object(hash)
            }
            _ => json!({}),
        },
        "Struct" => structure(first, random),
        "Tuple" => Value::Array(arguments.iter().map(|of| value(of, random)).collect()),
        "Undef" => Value::Null,
        "Default" => json!("default"),
        "Pattern" => json!("0644"),
        "Regexp" => json!("x"),
        _ => named(name),
    }
}

fn structure(text: &str, random: &mut Random) -> Value {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    let mut hash = Map::new();
    for entry in split(inner) {
        let Some((key, of)) = entry.split_once("=>") else { continue };
        let key = key.trim();
        if key.starts_with("Optional[") {
            continue;
        }
        hash.insert(key.trim_matches(['\'', '"']).to_owned(), value(of, random));
    }
    Value::Object(hash)
}

/// Type aliases of stdlib and its kin, by what their names say.
fn named(name: &str) -> Value {
    let last = name.rsplit("::").next().unwrap_or(name).to_ascii_lowercase();
    if name.starts_with("Stdlib::Ensure::Service") {
        return json!("running");
    }
    if name.starts_with("Stdlib::Ensure") {
        return json!("present");
    }
    match last.as_str() {
        "absolutepath" | "unixpath" | "windowspath" => json!("/srv/x"),
        "port" | "privileged" | "unprivileged" => json!(8080),
        "host" | "fqdn" | "dnsname" => json!("host.example.com"),
        "address" | "v4" | "ip_address" | "nosubnet" | "compat" => json!("192.0.2.7"),
        "v6" => json!("2001:db8::7"),
        "httpurl" | "httpsurl" => json!("https://www.example.com/"),
        "filemode" => json!("0640"),
        "yes_no" => json!("yes"),
        "base64" => json!("eHg="),
        "email" => json!("a@example.com"),
        "ensure" => json!("present"),
        "filesource" => json!("puppet:///modules/x/y"),
        "integer" => json!(2),
        _ => json!("x"),
    }
}

/// Another value than the default, by how the default is written.
pub(super) fn other_than(default: &str, random: &mut Random) -> Option<Value> {
    let default = default.trim();
    match default {
        "true" | "'true'" => Some(json!(false)),
        "false" | "'false'" => Some(json!(true)),
        "'present'" => Some(json!("absent")),
        "[]" => Some(json!(["x", "y"])),
        "undef" if random.below(2) == 0 => Some(json!("x")),
        _ if default.parse::<i64>().is_ok() => Some(json!(7)),
        _ if default.starts_with('\'') && default.ends_with('\'') && random.below(3) == 0 => {
            Some(json!("other"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use setpoint_testing::Random;

    use super::value;

    #[test]
    fn values_fit_their_types() {
        let mut random = Random::new(1);
        assert_eq!(value("Optional[Integer[3, 5]]", &mut random), json!(3));
        assert_eq!(value("Array[Enum['a']]", &mut random), json!(["a"]));
        assert_eq!(
            value("Hash[String, Struct[{a => Integer, Optional[b] => String}]]", &mut random),
            json!({"x": {"a": 2}})
        );
        assert_eq!(value("Stdlib::Absolutepath", &mut random), json!("/srv/x"));
    }
}
