//! The types `user` and `group`.

use setpoint_puppet_values::{Data, Value};

use super::values::{each, is_absolute, is_digits, is_ruby_integer, matches_pattern, shown, text};

pub(super) fn user(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "password" => match &value.data {
            Data::String(text) if text.contains(':') => Err("must not contain a colon".to_owned()),
            _ => Ok(()),
        },
        "password_min_age" | "password_max_age" | "password_warn_days" => each(value, |one| {
            if matches_pattern(r"(?m)^-?\d+$", &text(one)) && is_ruby_integer(&text(one)) {
                Ok(())
            } else {
                Err(format!("must be a number, not {}", shown(one)))
            }
        }),
        "groups" => each(value, |one| {
            name_in_list(one, "group")?;
            if text(one).is_empty() { Err("must not have an empty name in it".to_owned()) } else { Ok(()) }
        }),
        "roles" => each(value, |one| name_in_list(one, "role")),
        "auths" => each(value, |one| name_in_list(one, "authorisation")),
        "profiles" => each(value, |one| name_in_list(one, "profile")),
        "expiry" => each(value, |one| {
            let text = text(one);
            let is_date = matches_pattern(r"(?m)^\d{4}-\d{2}-\d{2}$", &text);
            if is_date || text == "absent" {
                Ok(())
            } else {
                Err(format!("must be a date such as 2030-12-31, or absent, not {}", shown(one)))
            }
        }),
        "uid" | "gid" => each(value, |one| match &one.data {
            // Text of digits and hyphens is taken for a number.
            Data::String(text) if matches_pattern(r"(?m)^[-0-9]+$", text) && !is_ruby_integer(text) => {
                Err(format!("must be a number or a name, not '{text}'"))
            }
            _ => Ok(()),
        }),
        "loginclass" if is_digits(&text(value)) => Err("must be a name, not a number".to_owned()),
        "purge_ssh_keys" => match text(value).as_str() {
            "true" | "false" => Ok(()),
            _ => each(value, key_file),
        },
        _ => Ok(()),
    }
}

fn name_in_list(value: &Value, what: &str) -> Result<(), String> {
    match &value.data {
        Data::String(text) if is_digits(text) => {
            Err(format!("must have names, and '{text}' is the number of a {what}"))
        }
        Data::String(text) if text.contains(',') => {
            Err(format!("must be an array of names, not a list with commas: '{text}'"))
        }
        Data::String(_) => Ok(()),
        _ => Err(format!("must have names in it, not {}", shown(value))),
    }
}

fn key_file(value: &Value) -> Result<(), String> {
    match &value.data {
        Data::String(text) if is_absolute(text) || text.starts_with("~/") || text.starts_with("%h/") => {
            Ok(())
        }
        _ => Err(format!("must have absolute paths in it, not {}", shown(value))),
    }
}

pub(super) fn group(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "gid" => each(value, |one| match &one.data {
            Data::String(text) if !matches_pattern(r"(?m)^[-0-9]+$", text) || !is_ruby_integer(text) => {
                Err(format!("must be a number, not '{text}'"))
            }
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}
