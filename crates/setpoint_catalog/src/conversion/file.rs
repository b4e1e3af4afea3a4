//! The type `file`.

use setpoint_puppet_values::{Data, Value};

use super::values::{absolute, each, is_absolute, is_digits, is_empty, is_ruby_integer, shown, text};

pub(super) fn parameter(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "path" | "staging_location" => absolute(value),
        "mode" => each(value, mode),
        "source" => each(value, source),
        "group" => each(value, |one| {
            if is_empty(one) { Err("must name a group, and is empty".to_owned()) } else { Ok(()) }
        }),
        "ctime" | "mtime" | "type" => Err("can be read and not set".to_owned()),
        "backup" => match &value.data {
            Data::Bool(_) | Data::String(_) | Data::Array(_) => Ok(()),
            _ => Err(format!("must be true, false or the name of a bucket, not {}", shown(value))),
        },
        "recurse" => match text(value).as_str() {
            "true" | "false" | "remote" => Ok(()),
            _ => Err(format!("must be true, false or remote, not {}", shown(value))),
        },
        "recurselimit" if !is_digits(&text(value)) || !is_ruby_integer(&text(value)) => {
            Err(format!("must be a number, not {}", shown(value)))
        }
        "ignore" => match &value.data {
            Data::String(_) | Data::Array(_) | Data::Bool(false) => Ok(()),
            _ => Err(format!("must be a pattern or an array of patterns, not {}", shown(value))),
        },
        _ => Ok(()),
    }
}

/// Octal digits, or symbols as `chmod` takes them.
fn mode(value: &Value) -> Result<(), String> {
    let Data::String(text) = &value.data else {
        let hint = match &value.data {
            Data::Integer(number) if *number >= 0 => format!("; write it in quotes, as '{number:04}'"),
            _ => String::new(),
        };
        return Err(format!("must be a string, not {}{hint}", shown(value)));
    };
    // As with Ruby's regular expressions, one good line is enough.
    if text.split('\n').any(|line| is_octal_mode(line) || line.split(',').all(is_symbolic_mode)) {
        return Ok(());
    }
    Err(format!("must be octal digits such as '0644', or symbols such as 'u=rw,go=r', not '{text}'"))
}

/// `0?[0-7]{1,4}`.
fn is_octal_mode(text: &str) -> bool {
    let digits = if text.len() == 5 { text.strip_prefix('0').unwrap_or(text) } else { text };
    (1..=4).contains(&digits.len()) && digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit))
}

/// `[ugoa]*[-=+][-=+rstwxXugo]*`.
fn is_symbolic_mode(text: &str) -> bool {
    let rest = text.trim_start_matches(['u', 'g', 'o', 'a']);
    rest.starts_with(['-', '=', '+']) && rest.bytes().all(|byte| b"-=+rstwxXugo".contains(&byte))
}

/// A path, or a URL that Puppet can fetch from.
fn source(value: &Value) -> Result<(), String> {
    let Data::String(text) = &value.data else {
        return Err(format!("must be a path or a URL, not {}", shown(value)));
    };
    if is_absolute(text) {
        return Ok(());
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let Some(scheme) = scheme else {
        return Err(format!("must be an absolute path or a URL such as puppet:///modules/…, not '{text}'"));
    };
    if !["file", "puppet", "http", "https"].contains(&scheme) {
        return Err(format!("has the scheme {scheme}, and Puppet fetches by file, puppet, http and https"));
    }
    let rest = &text[scheme.len() + 1..];
    let host = rest.strip_prefix("//").map(|rest| rest.split('/').next().unwrap_or_default());
    if let Some(host) =
        host.filter(|host| host.contains([' ', '\t', '\n', '"', '<', '>', '\\', '^', '`', '{', '|', '}']))
    {
        return Err(format!("has a host that no URL can have: '{host}'"));
    }
    if rest.starts_with('/') {
        Ok(())
    } else {
        Err(format!("must name a host or a path after {scheme}:, not '{rest}'"))
    }
}

/// Parameters that exclude each other.
pub(super) fn whole(check: &mut super::Check<'_>) {
    let ensure = check.text("ensure");
    let is_link = ensure.as_deref().is_some_and(|ensure| {
        !["absent", "false", "file", "present", "directory", "link", ""].contains(&ensure)
    });
    let target = check.is_given("target") || is_link;
    let creators = [check.is_given("content"), check.is_given("source"), target];
    if creators.into_iter().filter(|given| *given).count() > 1 {
        check.resource("can have only one of content, source and target");
    }
    if check.text("recurse").as_deref() == Some("remote") && !check.is_given("source") {
        check.resource("recurses into a remote folder, and has no source");
    }
    let checksum = check.text("checksum");
    let digits = match checksum.as_deref() {
        Some("md5" | "md5lite") => Some(32),
        Some("sha1" | "sha1lite") => Some(40),
        Some("sha224") => Some(56),
        None | Some("sha256" | "sha256lite") => Some(64),
        Some("sha384") => Some(96),
        Some("sha512") => Some(128),
        _ => None,
    };
    if let Some(Data::String(sum)) =
        check.resource.get("checksum_value").map(|value| &super::settled(value).data)
    {
        let is_sum =
            |line: &str, digits| line.len() == digits && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = checksum.as_deref().unwrap_or("sha256");
        match digits {
            Some(digits) if sum.split('\n').any(|line| is_sum(line, digits)) => {}
            Some(_) => {
                let message = format!("is no checksum of the type {name}: '{sum}'");
                check.wrong("checksum_value", message);
            }
            None => {
                let message = format!("may be no value for the checksum '{name}'");
                check.doubt("checksum_value", message);
            }
        }
    }
    if checksum.as_deref() == Some("none") && check.is_given("source") {
        check.resource("cannot have a source with checksum 'none'");
    }
    if matches!(checksum.as_deref(), Some("none" | "ctime" | "mtime")) && check.is_given("content") {
        let checksum = checksum.unwrap_or_default();
        check.resource(format!("cannot have a content with checksum '{checksum}'"));
    }
}
