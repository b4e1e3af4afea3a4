//! Functions of the modules mysql, postgresql, mongodb and redis.

use md5::Md5;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use sha1::{Digest, Sha1};

use crate::Stop;
use crate::builtin::digests::{digits, hexadecimal};
use crate::context::Context;
use crate::function::{Dispatch, Function, repeated, required};
use crate::ruby::text;
use crate::stdlib::{class_of, deprecated};

type Result<T> = std::result::Result<T, Stop>;

/// Sorted by name.
pub(super) static MYSQL: &[&Function] = &[&MYSQL_PASSWORD_FUNCTION, &STRIP_HASH, &MYSQL_PASSWORD];
pub(super) static POSTGRESQL: &[&Function] =
    &[&ACLS, &ESCAPE, &PASSWORD, &DEPRECATED_ESCAPE, &DEPRECATED_PASSWORD];
pub(super) static MONGODB: &[&Function] = &[&MONGODB_PASSWORD];
pub(super) static REDIS: &[&Function] = &[&GETVAR_EMPTYSTRING];

static MYSQL_PASSWORD_FUNCTION: Function = Function::typed(
    "mysql::password",
    &[Dispatch::new(&[required("String", "password")], |_, arguments| {
        Ok(Value::from(mysql_password(arguments[0].as_str().unwrap_or_default())))
    })],
);
static STRIP_HASH: Function = Function::typed(
    "mysql::strip_hash",
    &[Dispatch::new(&[required("Hash", "hash")], |_, arguments| {
        Ok(Value::hash(without_empty(arguments[0].as_hash().unwrap_or(&Hash::default()), true)))
    })],
);
static MYSQL_PASSWORD: Function = Function::counted("mysql_password", -1, |context, arguments| {
    let [password] = arguments else {
        let message =
            format!("mysql_password(): Wrong number of arguments given ({} for 1)", arguments.len());
        return Err(context.fail(message));
    };
    match password.as_str() {
        Some(password) => Ok(Value::from(mysql_password(password))),
        None => Err(context.fail(text::no_method("empty?", password))),
    }
});
static ACLS: Function = Function::typed(
    "postgresql::postgresql_acls_to_resources_hash",
    &[Dispatch::new(
        &[required("Array[String]", "acls"), required("String[1]", "id"), required("Integer[0]", "offset")],
        acls_to_resources,
    )],
);
static ESCAPE: Function = Function::typed(
    "postgresql::postgresql_escape",
    &[Dispatch::new(&[required("String[1]", "input_string")], |_, arguments| {
        Ok(Value::from(dollar_quoted(arguments[0].as_str().unwrap_or_default())))
    })],
);
static PASSWORD: Function = Function::typed(
    "postgresql::postgresql_password",
    &[Dispatch::new(
        &[
            required("Variant[String[1],Integer]", "username"),
            required("Variant[String[1],Integer]", "password"),
        ],
        |_, arguments| {
            let salted = text::to_s(&arguments[1]) + &text::to_s(&arguments[0]);
            Ok(Value::from(format!("md5{}", hexadecimal::<Md5>(salted.as_bytes()))))
        },
    )],
);
static DEPRECATED_ESCAPE: Function = Function::typed(
    "postgresql_escape",
    &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
        instead(context, arguments, "postgresql_escape")
    })],
);
static DEPRECATED_PASSWORD: Function = Function::typed(
    "postgresql_password",
    &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
        instead(context, arguments, "postgresql_password")
    })],
);
static MONGODB_PASSWORD: Function = Function::counted("mongodb_password", -1, |context, arguments| {
    let [user, password] = arguments else {
        let message =
            format!("mongodb_password(): Wrong number of arguments given ({} for 2)", arguments.len());
        return Err(context.fail(message));
    };
    let salted = format!("{}:mongo:{}", text::to_s(user), text::to_s(password));
    Ok(Value::from(hexadecimal::<Md5>(salted.as_bytes())))
});
static GETVAR_EMPTYSTRING: Function = Function::counted("getvar_emptystring", -1, |context, arguments| {
    let [name] = arguments else {
        let message =
            format!("getvar_emptystring(): wrong number of arguments ({}; must be 1)", arguments.len());
        return Err(context.fail(message));
    };
    let found = context.host.variable(&text::to_s(name)).filter(|value| !value.is_undef());
    Ok(found.unwrap_or_else(|| Value::from("")))
});

/// As MySQL's `PASSWORD()`; what is a hash already stays.
fn mysql_password(password: &str) -> String {
    let is_hash = password.lines().any(|line| {
        line.rsplit_once('*').is_some_and(|(_, digits)| {
            digits.len() == 40 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
        })
    });
    if password.is_empty() || is_hash {
        return password.to_owned();
    }
    let once = Sha1::digest(password.as_bytes());
    format!("*{}", digits(&Sha1::digest(once)).to_ascii_uppercase())
}

/// The entries that are not empty texts, also within hashes one level down.
fn without_empty(entries: &Hash, within: bool) -> Hash {
    let kept = entries.iter().filter(|(_, value)| value.as_str() != Some(""));
    kept.map(|(key, value)| {
        let value = match &value.data {
            Data::Hash(inner) if within => Value::hash(without_empty(inner, false)).made_of(value.prov),
            _ => value.clone(),
        };
        (key.clone(), value)
    })
    .collect()
}

/// A line of `pg_hba.conf` for each text.
fn acls_to_resources(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let acls = arguments[0].as_array().unwrap_or_default();
    let id = text::to_s(&arguments[1]);
    let offset = arguments[2].as_integer().unwrap_or(0);
    let mut resources = Hash::default();
    for acl in acls {
        // The same line twice has the number of the first.
        let index = acls.iter().position(|other| other == acl).unwrap_or(0);
        let parts: Vec<&str> = acl.as_str().unwrap_or_default().split_whitespace().collect();
        let [kind, database, user, fourth, ..] = parts.as_slice() else {
            return Err(context.fail(format!(
                "postgresql::postgresql_acls_to_resources_hash(): acl line {index} does not have enough parts"
            )));
        };
        let text = |value: &str| Value::from(value).made_of(acl.prov);
        let mut resource = Hash::default();
        let mut set = |name: &str, value: Value| resource.insert(Key::from(name), value);
        set("type", text(kind));
        set("database", text(database));
        set("user", text(user));
        set("order", text(&format!("{:03}", offset + index as i64)));
        let numeric_mask =
            parts.get(4).is_some_and(|part| part.starts_with(|first: char| first.is_ascii_digit()));
        let method = if *kind == "local" {
            3
        } else if numeric_mask {
            set("address", text(&format!("{fourth} {}", parts[4])));
            5
        } else {
            set("address", text(fourth));
            4
        };
        set("auth_method", parts.get(method).map_or(Value::UNDEF, |part| text(part)));
        if parts.len() > method + 1 {
            set("auth_option", text(&parts[method + 1..].join(" ")));
        }
        let title = format!("postgresql class generated rule {id} {index}");
        resources.insert(Key::from(title.as_str()), Value::hash(resource).made_of(acl.prov));
    }
    Ok(Value::hash(resources))
}

/// A text between dollars, with a tag where it holds dollars itself.
fn dollar_quoted(text: &str) -> String {
    if !text.contains("$$") && !text.ends_with('$') {
        return format!("$${text}$$");
    }
    let letters = |of: &str| -> String {
        hexadecimal::<Md5>(of.as_bytes()).chars().take(6).filter(|letter| !letter.is_ascii_digit()).collect()
    };
    let mut tag = letters(text);
    // A tag that the text does not hold is found soon; an endless search is not worth it.
    for _ in 0..1000 {
        if !text.contains(&tag) {
            break;
        }
        tag = letters(&tag);
    }
    format!("${tag}${text}${tag}$")
}

fn instead(context: &mut Context<'_, '_>, arguments: &[Value], name: &str) -> Result<Value> {
    let message = format!("This method is deprecated, please use postgresql::{name} instead.");
    deprecated(context, name, &message)?;
    context.call_function(&format!("postgresql::{name}"), arguments.to_vec())
}

/// The class of a value, for complaints of functions that take anything.
pub(super) fn wrong_class(value: &Value) -> &'static str {
    class_of(value)
}
