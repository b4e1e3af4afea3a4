//! The type `file`.

use setpoint_puppet_values::{Data, Value};

use super::values::{absolute, each, is_absolute, is_digits, matches_pattern, shown, text};

pub(super) fn parameter(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "path" | "staging_location" => absolute(value),
        "mode" => each(value, mode),
        "source" => each(value, source),
        "group" if matches!(&value.data, Data::String(text) if text.is_empty()) => {
            Err("must name a group, and is empty".to_owned())
        }
        "ctime" | "mtime" | "type" => Err("can be read and not set".to_owned()),
        "backup" => match &value.data {
            Data::Bool(_) | Data::String(_) | Data::Array(_) => Ok(()),
            _ => Err(format!("must be true, false or the name of a bucket, not {}", shown(value))),
        },
        "recurse" => match text(value).as_str() {
            "true" | "false" | "remote" => Ok(()),
            _ => Err(format!("must be true, false or remote, not {}", shown(value))),
        },
        "recurselimit" if !is_digits(&text(value)) => Err(format!("must be a number, not {}", shown(value))),
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
    let octal = r"(?m)^0?[0-7]{1,4}$";
    let symbolic = r"(?m)^([ugoa]*[-=+][-=+rstwxXugo]*)(,[ugoa]*[-=+][-=+rstwxXugo]*)*$";
    if matches_pattern(octal, text) || matches_pattern(symbolic, text) {
        return Ok(());
    }
    Err(format!("must be octal digits such as '0644', or symbols such as 'u=rw,go=r', not '{text}'"))
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
    if checksum.as_deref() == Some("none") && check.is_given("source") {
        check.resource("cannot have a source with checksum 'none'");
    }
    if matches!(checksum.as_deref(), Some("none" | "ctime" | "mtime")) && check.is_given("content") {
        let checksum = checksum.unwrap_or_default();
        check.resource(format!("cannot have a content with checksum '{checksum}'"));
    }
}
