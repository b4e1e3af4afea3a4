//! Functions of OpenStack's modules: openstacklib, nova, neutron.

use std::fmt::Write;
use std::net::IpAddr;

use setpoint_puppet_values::{Data, Hash, Key, Value};

use super::databases::wrong_class;
use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, repeated, required};
use crate::ruby::{numbers, text};
use crate::stdlib::{Network, compact_json, to_bool};

type Result<T> = std::result::Result<T, Stop>;

macro_rules! of_anything {
    ($name:literal, $run:expr) => {
        Function::typed($name, &[Dispatch::new(&[repeated("Any", "args")], $run)])
    };
}

/// Sorted by name.
pub(super) static OPENSTACKLIB: &[&Function] =
    &[&INET6_PREFIX, &IS_SERVICE_DEFAULT, &NORMALIZE_IP_FOR_URI, &OS_DATABASE_CONNECTION, &OS_TRANSPORT_URL];
pub(super) static NEUTRON: &[&Function] = &[
    &CONVERT_CERT_TO_STRING,
    &CONVERT_TO_JSON_STRING,
    &VALIDATE_NETWORK_VLAN_RANGES,
    &VALIDATE_TUNNEL_ID_RANGES,
    &VALIDATE_VNI_RANGES,
    &VALIDATE_VXLAN_UDP_PORT,
];
pub(super) static NOVA: &[&Function] = &[&TO_ARRAY_OF_JSON_STRINGS];

static INET6_PREFIX: Function =
    of_anything!("inet6_prefix", |_, arguments| Ok(each_address(arguments, inet6_prefix)));
static IS_SERVICE_DEFAULT: Function =
    of_anything!("is_service_default", |context, arguments| match arguments {
        [value] => Ok(Value::from(value.as_str() == Some("<SERVICE DEFAULT>"))),
        _ => Err(context.fail(format!(
            "is_service_default(): Wrong number of argumentsgiven ({} for 1)",
            arguments.len()
        ))),
    });
static NORMALIZE_IP_FOR_URI: Function =
    of_anything!("normalize_ip_for_uri", |_, arguments| Ok(each_address(arguments, in_brackets)));
static OS_DATABASE_CONNECTION: Function = of_anything!("os_database_connection", database_connection);
static OS_TRANSPORT_URL: Function = of_anything!("os_transport_url", transport_url);
static CONVERT_CERT_TO_STRING: Function = Function::typed(
    "convert_cert_to_string",
    &[Dispatch::new(&[required("String", "cert_file")], |context, arguments| {
        let name = arguments[0].as_str().unwrap_or_default();
        if let Some(unknown) =
            crate::builtin::outside_path(context, name, setpoint_puppet_values::Type::String(None))
        {
            return Ok(unknown);
        }
        let path = std::path::Path::new(name);
        if !context.host.files().is_file(path) {
            return Err(context.fail(format!("Certificate file not found: {name}")));
        }
        let text = setpoint_source::read_text(context.host.files(), path)
            .map_err(|error| context.fail(error.to_string()))?;
        Ok(Value::from(
            text.lines().filter(|line| !line.contains("-----")).map(str::trim).collect::<String>(),
        ))
    })],
);
static CONVERT_TO_JSON_STRING: Function = of_anything!("convert_to_json_string", |_, arguments| {
    let value = arguments.first().cloned().unwrap_or(Value::UNDEF);
    let pairs = value
        .as_array()
        .filter(|items| items.iter().all(|item| item.as_str().is_some_and(|text| text.contains(':'))));
    let Some(pairs) = pairs else { return Ok(Value::from(compact_json(&value))) };
    let hash: Hash = pairs
        .iter()
        .map(|pair| {
            let mut parts = pair.as_str().unwrap_or_default().split(':');
            (Key::from(parts.next().unwrap_or_default()), parts.next().map_or(Value::UNDEF, Value::from))
        })
        .collect();
    Ok(Value::from(compact_json(&Value::hash(hash))))
});
static VALIDATE_NETWORK_VLAN_RANGES: Function =
    of_anything!("validate_network_vlan_ranges", |context, arguments| {
        each_range(context, arguments, |range| {
            let parts: Vec<&str> = range.split(':').collect();
            let numbers: Vec<Option<i64>> = parts.iter().map(|part| whole(part)).collect();
            match numbers.as_slice() {
                [.., Some(first), Some(second)] if parts.len() >= 2 => {
                    if *first > 4094 || *second > 4094 {
                        Some("vlan id are invalid.")
                    } else if second < first {
                        Some("network vlan ranges are invalid.")
                    } else {
                        None
                    }
                }
                [_] | [_, Some(_)] => None,
                _ => Some("network vlan ranges are invalid."),
            }
        })
    });
static VALIDATE_TUNNEL_ID_RANGES: Function =
    of_anything!("validate_tunnel_id_ranges", |context, arguments| {
        each_range(context, arguments, |range| match two_numbers(range) {
            Some((first, second)) if second - first > 1_000_000 => Some("tunnel id ranges are to large."),
            Some((first, second)) if second >= first => None,
            _ => Some("tunnel id ranges are invalid."),
        })
    });
static VALIDATE_VNI_RANGES: Function = of_anything!("validate_vni_ranges", |context, arguments| {
    const MOST: i64 = 16_777_215;
    each_range(context, arguments, |range| match two_numbers(range) {
        Some((first, second)) if first <= MOST && second <= MOST && first <= second => None,
        _ => Some("vni ranges are invalid."),
    })
});
static VALIDATE_VXLAN_UDP_PORT: Function = of_anything!("validate_vxlan_udp_port", |context, arguments| {
    let given = arguments.first().map(text::to_s).unwrap_or_default();
    match numbers::parse_integer(&given) {
        Some(4789 | 49152..=65535) => Ok(Value::UNDEF),
        Some(_) => Err(context.fail("vxlan udp port is invalid.")),
        None => Err(context.fail(format!("invalid value for Integer(): \"{given}\""))),
    }
});
static TO_ARRAY_OF_JSON_STRINGS: Function =
    of_anything!("to_array_of_json_strings", to_array_of_json_strings);

/// The addresses given as one array or as arguments, each changed; a single one comes back alone.
fn each_address(arguments: &[Value], change: fn(&str) -> Option<String>) -> Value {
    let given = match arguments.first().and_then(Value::as_array) {
        Some(items) => items,
        None => arguments,
    };
    let changed = |value: &Value| match value.as_str().and_then(change) {
        Some(text) => Value::from(text).made_of(value.prov),
        None => value.clone(),
    };
    match given {
        [only] => changed(only),
        _ => Value::array(given.iter().map(changed).collect()),
    }
}

fn is_v6(text: &str) -> bool {
    matches!(Network::parse(text), Some(Network { address: IpAddr::V6(_), .. }))
}

fn in_brackets(address: &str) -> Option<String> {
    (is_v6(address) && !address.contains('[')).then(|| format!("[{address}]"))
}

fn inet6_prefix(address: &str) -> Option<String> {
    if address.starts_with("inet6:") && address.len() > 6 {
        return None;
    }
    let mut parts = address.split([' ', '\t', '\n', '[', ']']).filter(|part| !part.is_empty());
    let first = parts.next().filter(|first| is_v6(first))?;
    Some(format!("inet6:[{first}]{}", parts.collect::<String>()))
}

/// What a URL may hold in its user information; the rest in percent.
fn url_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A hash whose values have the classes that the function wants.
fn checked_hash<'a>(
    context: &Context<'_, '_>,
    arguments: &'a [Value],
    class_of_key: fn(&str) -> &'static str,
) -> Result<&'a Hash> {
    let name = context.call.name;
    let [value] = arguments else {
        let message = if &*name == "os_transport_url" {
            "os_transport_url(): Wrong number of arguments".to_owned()
        } else {
            format!("{name}(): Wrong number of arguments given ({} for 1)", arguments.len())
        };
        return Err(context.fail(message));
    };
    let Some(entries) = value.as_hash() else {
        return Err(context.fail(format!("{name}(): Requires an hash, got {}", wrong_class(value))));
    };
    for (key, value) in entries {
        let key = text::to_s(&key.0);
        let class = class_of_key(&key);
        let number = &*name == "os_transport_url" && key == "port";
        if wrong_class(value) != class && !number {
            return Err(context.fail(format!("{name}(): {key} should be a {class}")));
        }
    }
    Ok(entries)
}

fn get<'a>(entries: &'a Hash, name: &str) -> Option<&'a Value> {
    entries.get(&Key::from(name))
}

/// `user:password`, encoded.
fn user_information(entries: &Hash) -> Option<String> {
    let filled = |name: &str| get(entries, name).map(text::to_s).filter(|text| !text.is_empty());
    let user = url_encode(&filled("username")?);
    Some(match filled("password") {
        Some(password) => format!("{user}:{}", url_encode(&password)),
        None => user,
    })
}

fn query(entries: &[(String, String)]) -> Option<String> {
    let parts: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!parts.is_empty()).then(|| parts.join("&"))
}

fn set(entries: &mut Vec<(String, String)>, key: &str, value: String) {
    match entries.iter_mut().find(|(known, _)| known == key) {
        Some(entry) => entry.1 = value,
        None => entries.push((key.to_owned(), value)),
    }
}

fn texts_of(entries: Option<&Value>) -> Vec<(String, String)> {
    let hash = entries.and_then(Value::as_hash).into_iter().flatten();
    hash.map(|(key, value)| (text::to_s(&key.0), text::to_s(value))).collect()
}

fn database_connection(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let entries = checked_hash(context, arguments, |key| if key == "extra" { "Hash" } else { "String" })?;
    let needed = |name: &str| {
        get(entries, name)
            .map(text::to_s)
            .ok_or_else(|| context.fail(format!("os_database_connection(): {name} is required")))
    };
    let dialect = needed("dialect")?;
    let database = needed("database")?;
    let host = get(entries, "host").map(text::to_s);
    let port = get(entries, "port").map(text::to_s);
    if port.is_some() && host.is_none() {
        return Err(context.fail("os_database_connection(): host is required with port"));
    }
    let mut extra = texts_of(get(entries, "extra"));
    if let Some(charset) = get(entries, "charset") {
        set(&mut extra, "charset", text::to_s(charset));
    }
    let mut url = format!("{dialect}:");
    if let Some(host) = host {
        let user = user_information(entries).map(|user| format!("{user}@")).unwrap_or_default();
        let port = port.map(|port| format!(":{}", numbers::leading_integer(&port))).unwrap_or_default();
        let _ = write!(url, "//{user}{host}{port}/{database}");
    } else {
        let _ = write!(url, "///{database}");
    }
    if let Some(query) = query(&extra) {
        let _ = write!(url, "?{query}");
    }
    Ok(Value::from(url))
}

fn transport_url(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let entries = checked_hash(context, arguments, |key| match key {
        "hosts" => "Array",
        "query" => "Hash",
        _ => "String",
    })?;
    let Some(transport) = get(entries, "transport") else {
        return Err(context.fail("os_transport_url(): transport is required"));
    };
    let hosts = match (get(entries, "host"), get(entries, "hosts")) {
        (None, None) => return Err(context.fail("os_transport_url(): host or hosts is required")),
        (Some(_), Some(_)) => return Err(context.fail("os_transport_url(): cannot use both host and hosts.")),
        (Some(host), None) => std::slice::from_ref(host),
        (None, Some(hosts)) => hosts.as_array().unwrap_or_default(),
    };
    let port = get(entries, "port").map(|port| format!(":{}", text::to_s(port))).unwrap_or_default();
    let user = user_information(entries).map(|user| format!("{user}@")).unwrap_or_default();
    let hosts: Vec<String> = hosts
        .iter()
        .map(|host| {
            let host = text::to_s(host);
            format!("{user}{}{port}", in_brackets(&host).unwrap_or(host))
        })
        .collect();
    let mut options = texts_of(get(entries, "query"));
    if let Some(ssl) = get(entries, "ssl") {
        let unknown = || context.fail("os_transport_url _str2bool(): Unknown type of boolean given");
        let flag = to_bool(context, ssl).map_err(|_| unknown())?;
        set(&mut options, "ssl", i64::from(flag).to_string());
    }
    let path = get(entries, "virtual_host").map(text::to_s).unwrap_or_default();
    let query = query(&options).map(|query| format!("?{query}")).unwrap_or_default();
    Ok(Value::from(format!("{}://{}/{path}{query}", text::to_s(transport), hosts.join(","))))
}

fn whole(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `1:100`
fn two_numbers(range: &str) -> Option<(i64, i64)> {
    let (first, second) = range.split_once(':')?;
    Some((whole(first)?, whole(second)?))
}

/// Each range must have no fault.
fn each_range(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    fault: fn(&str) -> Option<&'static str>,
) -> Result<Value> {
    let Some(given) = arguments.first() else { return Ok(Value::UNDEF) };
    let ranges = given.as_array().unwrap_or(std::slice::from_ref(given));
    for range in ranges.iter().filter(|range| range.is_true()) {
        if let Some(fault) = fault(&text::to_s(range)) {
            return Err(context.fail(fault));
        }
    }
    Ok(if given.as_array().is_some() { given.clone() } else { Value::array(vec![given.clone()]) })
}

fn to_array_of_json_strings(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [given] = arguments else {
        return Err(context.fail("to_array_of_json_strings(): Wrong number of arguments"));
    };
    let list = match given.as_str() {
        None => given.clone(),
        Some(json) => {
            let parse = |json: &str| serde_json::from_str::<serde_json::Value>(json).ok();
            let Some(parsed) = parse(json).or_else(|| parse(&json.replace('\'', "\""))) else {
                return Err(context.fail(format!("Syntax error: {json} is not valid")));
            };
            let value = crate::stdlib::value_of_json(&parsed);
            if value.as_array().is_some() { value } else { Value::array(vec![value]) }
        }
    };
    let hashes = list.as_array().filter(|items| items.iter().all(|item| matches!(item.data, Data::Hash(_))));
    let Some(items) = hashes else {
        let shown = text::to_s(given);
        return Err(context.fail(format!("Syntax error: {shown} is not an Array or JSON encoded String")));
    };
    Ok(Value::array(items.iter().map(|item| Value::from(compact_json(item)).made_of(item.prov)).collect()))
}
