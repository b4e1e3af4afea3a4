//! Functions of further modules, each with a few of its own.

use setpoint_puppet_values::ruby::base64::strict_encode64;
use setpoint_puppet_values::{Data, Hash, Key, Value, sprintf};
use sha1::{Digest, Sha1};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, repeated, required};
use crate::ruby::{numbers, text};
use crate::stdlib::{class_of, deprecated};

type Result<T> = std::result::Result<T, Stop>;

/// Sorted by name.
pub(super) static APACHE: &[&Function] = &[
    &APACHE_APACHE_PW_HASH,
    &APACHE_BOOL2HTTPD,
    &APACHE_PW_HASH,
    &DEPRECATED_PW_HASH,
    &DEPRECATED_BOOL2HTTPD,
];
pub(super) static COLLECTD: &[&Function] = &[&COLLECTD_CONVERT_PROCESSES];
pub(super) static DATACAT: &[&Function] = &[&TEMPLATE_BODY];
pub(super) static DNS: &[&Function] = &[&GET_IN_ADDR_ARPA];
pub(super) static INIFILE: &[&Function] = &[&CREATE_INI_SETTINGS];
pub(super) static MCOLLECTIVE: &[&Function] = &[&MCO_ARRAY_TO_STRING];
pub(super) static MEMCACHED: &[&Function] = &[&MAX_MEMORY];
pub(super) static SSH: &[&Function] = &[&IPADDRESSES];
pub(super) static TRANSLATE_MODULE: &[&Function] = &[&TRANSLATE];

static APACHE_APACHE_PW_HASH: Function = Function::typed(
    "apache::apache_pw_hash",
    &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
        instead(context, arguments, "apache::apache_pw_hash", "apache::pw_hash")
    })],
);
static APACHE_BOOL2HTTPD: Function =
    Function::typed("apache::bool2httpd", &[Dispatch::new(&[required("Any", "arg")], bool2httpd)]);
static APACHE_PW_HASH: Function = Function::typed(
    "apache::pw_hash",
    &[Dispatch::new(&[required("String[1]", "password")], |_, arguments| {
        let digest = Sha1::digest(arguments[0].as_str().unwrap_or_default().as_bytes());
        Ok(Value::from(format!("{{SHA}}{}", strict_encode64(&digest))))
    })],
);
static DEPRECATED_PW_HASH: Function = Function::typed(
    "apache_pw_hash",
    &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
        instead(context, arguments, "apache_pw_hash", "apache::pw_hash")
    })],
);
static DEPRECATED_BOOL2HTTPD: Function = Function::typed(
    "bool2httpd",
    &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
        instead(context, arguments, "bool2httpd", "apache::bool2httpd")
    })],
);
static COLLECTD_CONVERT_PROCESSES: Function =
    Function::counted("collectd_convert_processes", 1, collectd_convert_processes);
/// The text of templates, not rendered.
static TEMPLATE_BODY: Function = Function::counted("template_body", -1, |context, arguments| {
    let mut text = String::new();
    for argument in arguments {
        let name = text::to_s(argument);
        let Some(path) = context.host.module_file("templates", &name) else {
            return Err(context.fail(format!("Could not find template '{name}'")));
        };
        let bytes = context.host.files().read(&path).map_err(|error| context.fail(error.to_string()))?;
        text += &String::from_utf8_lossy(&bytes);
    }
    Ok(Value::from(text))
});
static GET_IN_ADDR_ARPA: Function = Function::counted("get_in_addr_arpa", -1, |context, arguments| {
    match arguments.first().and_then(Value::as_str) {
        Some(address) => {
            let parts: Vec<&str> = address.split('.').rev().collect();
            Ok(Value::from(format!("{}.in-addr.arpa", parts.join("."))))
        }
        None => Err(context.fail("undefined method `split' for nil:NilClass")),
    }
});
static CREATE_INI_SETTINGS: Function = Function::typed(
    "inifile::create_ini_settings",
    &[Dispatch::new(&[required("Hash", "settings"), optional("Hash", "defaults")], create_ini_settings)],
);
static MCO_ARRAY_TO_STRING: Function = Function::counted("mco_array_to_string", -1, |context, arguments| {
    let given = arguments.first().cloned().unwrap_or(Value::UNDEF);
    match given.as_array() {
        Some(items) => Ok(Value::array(
            items.iter().map(|item| Value::from(text::to_s(item)).made_of(item.prov)).collect(),
        )),
        None => Err(context.fail(format!("Expected an array, but got a {}", class_of(&given)))),
    }
});
static MAX_MEMORY: Function =
    Function::typed("memcached::max_memory", &[Dispatch::new(&[required("Any", "arg")], max_memory)]);
static IPADDRESSES: Function = Function::counted("ipaddresses", -1, ipaddresses);
static TRANSLATE: Function = Function::typed(
    "translate",
    &[Dispatch::new(&[required("String", "message"), optional("Hash", "interpolation_values")], translate)],
);

fn translate(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() < 2 {
        return Ok(arguments[0].clone());
    }
    let format = arguments[0].as_str().unwrap_or_default();
    context.checked(sprintf::sprintf(format, &arguments[1..])).map(Value::from)
}

fn instead(context: &mut Context<'_, '_>, arguments: &[Value], old: &str, new: &str) -> Result<Value> {
    deprecated(context, old, &format!("This function is deprecated, please use {new} instead."))?;
    context.call_function(new, arguments.to_vec())
}

fn bool2httpd(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let word = |value: &str, part: &str| value.to_ascii_lowercase().contains(part);
    Ok(match &arguments[0].data {
        Data::Undef | Data::Bool(false) => Value::from("Off"),
        Data::Bool(true) => Value::from("On"),
        Data::String(value) if word(value, "false") => Value::from("Off"),
        Data::String(value) if word(value, "true") => Value::from("On"),
        _ => Value::from(text::to_s(&arguments[0])),
    })
}

/// `[{name => foo, regex => x}, 'bar']` as `{foo => {regex => x}, bar => {}}`.
fn collectd_convert_processes(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let given = &arguments[0];
    if given.as_hash().is_some() {
        return Ok(given.clone());
    }
    let Some(items) = given.as_array() else {
        return Err(context.fail("convert_process_array(): Needs an array as argument"));
    };
    let mut processes = Hash::default();
    for item in items {
        match &item.data {
            Data::String(_) => {
                processes.insert(Key(item.clone()), Value::hash(Hash::default()).made_of(item.prov));
            }
            Data::Hash(entries) => {
                let mut entries = entries.as_ref().clone();
                let name = entries.shift_remove(&Key::from("name")).unwrap_or(Value::UNDEF);
                processes.insert(Key(name), Value::hash(entries).made_of(item.prov));
            }
            _ => return Err(context.fail("convert_process_array(): array element must be string or hash")),
        }
    }
    Ok(Value::hash(processes))
}

fn create_ini_settings(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let none = Hash::default();
    let settings = arguments[0].as_hash().unwrap_or(&none);
    let defaults = arguments.get(1).and_then(Value::as_hash).unwrap_or(&none);
    let mut resources = Hash::default();
    for (section, entries) in settings {
        let name = text::to_s(&section.0);
        let Some(entries) = entries.as_hash() else {
            return Err(context.fail(format!("create_ini_settings(): Section {name} must contain a Hash")));
        };
        let path = settings.get(&Key::from("path")).or_else(|| defaults.get(&Key::from("path")));
        let Some(path) = path.filter(|path| path.is_true()).map(text::to_s) else {
            return Err(context
                .fail("create_ini_settings(): must pass the path parameter to the Ini_setting resource!"));
        };
        for (setting, value) in entries {
            let mut resource: Hash = [
                (Key::from("ensure"), Value::from("present")),
                (Key::from("section"), section.0.clone()),
                (Key::from("setting"), setting.0.clone()),
            ]
            .into_iter()
            .collect();
            match value.as_hash() {
                Some(more) => resource.extend(more.iter().map(|(key, value)| (key.clone(), value.clone()))),
                None => {
                    resource.insert(Key::from("value"), value.clone());
                }
            }
            let title = format!("{path} [{name}] {}", text::to_s(&setting.0));
            resources.insert(Key::from(title.as_str()), Value::hash(resource).made_of(value.prov));
        }
    }
    let kind = Value::from("ini_setting");
    context
        .call_function("create_resources", vec![kind, Value::hash(resources), Value::hash(defaults.clone())])
}

/// So many megabytes, or a share of the memory that the node has.
fn max_memory(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let given = &arguments[0];
    let wanted = text::to_s(given);
    if given.is_true() && !wanted.ends_with('%') {
        return Ok(Value::from(i64::try_from(numbers::leading_integer(&wanted)).unwrap_or(i64::MAX)));
    }
    let facts = context.host.variable("facts").unwrap_or(Value::UNDEF);
    let size = facts
        .as_hash()
        .and_then(|facts| facts.get(&Key::from("memorysize")))
        .cloned()
        .unwrap_or(Value::UNDEF);
    context.note(&size);
    let size = text::to_s(&size);
    let end =
        size.find(|letter: char| !(letter.is_ascii_digit() || ".e+-".contains(letter))).unwrap_or(size.len());
    let power = match size[end..].trim_start().chars().next() {
        None | Some('b' | 'B') => 0,
        Some('k') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some('E') => 50,
        Some(other) => return Err(context.fail(format!("memcached_max_memory(): Unknown prefix {other}"))),
    };
    let bytes = (numbers::leading_float(&size[..end]) * (1_u64 << power) as f64) as i64;
    let share = if given.is_true() { numbers::leading_float(&wanted) } else { 95.0 };
    Ok(Value::from(((bytes / (1 << 20)) as f64 * (share / 100.0)).floor() as i64))
}

/// The addresses of all interfaces but `lo`.
fn ipaddresses(context: &mut Context<'_, '_>, _: &[Value]) -> Result<Value> {
    let Some(interfaces) = context.host.variable("interfaces").filter(|value| !value.is_undef()) else {
        return Ok(Value::from(false));
    };
    context.note(&interfaces);
    let mut found = Vec::new();
    for name in text::to_s(&interfaces).split(',').filter(|name| !name.contains("lo")) {
        for kind in ["ipaddress", "ipaddress6"] {
            let address = context.host.variable(&format!("{kind}_{name}"));
            found.extend(address.filter(Value::is_true));
        }
    }
    Ok(Value::array(found))
}
