//! The type `exec`.

use setpoint_puppet_values::{Data, Value};

use super::values::{each, is_absolute, is_digits, is_ruby_integer, matches_pattern, shown, text};

pub(super) fn parameter(
    name: &str,
    value: &Value,
    has_path: bool,
    provider: Option<&str>,
) -> Result<(), String> {
    match name {
        "command" => match &value.data {
            Data::String(_) | Data::Array(_) => Ok(()),
            _ => Err(format!("must be a string or an array of strings, not {}", shown(value))),
        },
        "unless" | "onlyif" => each(value, |one| qualified(one, has_path, provider)),
        "refresh" => qualified(value, has_path, provider),
        "environment" => each(value, |one| match &one.data {
            Data::String(text) if matches_pattern(r"\w+=", text) => Ok(()),
            _ => Err(format!("must have the form NAME=VALUE, not {}", shown(one))),
        }),
        "umask" => match &value.data {
            Data::String(text) if matches_pattern(r"(?m)^0?[0-7]{1,4}$", text) => Ok(()),
            _ => Err(format!("must be a string of octal digits, not {}", shown(value))),
        },
        "timeout" => number(value).map(|_| ()),
        "tries" => match &value.data {
            Data::String(text) if !is_digits(text) || !is_ruby_integer(text) => {
                Err(format!("must be a whole number, not '{text}'"))
            }
            _ if number(value)? < 1.0 => Err("must be 1 or more".to_owned()),
            _ => Ok(()),
        },
        "try_sleep" if matches!(&value.data, Data::String(text) if !matches_pattern(r"(?m)^[-\d.]+$", text)) => {
            Err(format!("must be a number, not {}", shown(value)))
        }
        "try_sleep" => match number(value)? {
            seconds if seconds < 0.0 => Err("must not be negative".to_owned()),
            _ => Ok(()),
        },
        "cwd" if matches!(value.data, Data::Array(_)) => Err("must be one path, not an array".to_owned()),
        _ => Ok(()),
    }
}

fn number(value: &Value) -> Result<f64, String> {
    let value = match &value.data {
        Data::Array(items) => items.first().unwrap_or(value),
        _ => value,
    };
    let given = text(value);
    if is_ruby_integer(&given)
        && let Some(hexadecimal) = given.trim().to_ascii_lowercase().strip_prefix("0x")
    {
        return Ok(
            i64::from_str_radix(&hexadecimal.replace('_', ""), 16).map_or(f64::MAX, |number| number as f64)
        );
    }
    given.trim().replace('_', "").parse().map_err(|_| format!("must be a number, not {}", shown(value)))
}

/// The command must be found without a search path, unless there is one. A shell finds its commands itself.
fn qualified(command: &Value, has_path: bool, provider: Option<&str>) -> Result<(), String> {
    let line = match &command.data {
        Data::Array(items) => items.first().map(text).unwrap_or_default(),
        Data::String(text) => text.to_string(),
        _ => return Ok(()),
    };
    let program = program(&line);
    if has_path || provider == Some("shell") || is_absolute(&program) {
        return Ok(());
    }
    Err(format!("runs `{program}` without a path; write the whole path, or set `path`"))
}

/// The first word of a command; quotes may be around it.
fn program(line: &str) -> String {
    let quoted = ['"', '\''].into_iter().find_map(|quote| line.strip_prefix(quote)?.split_once(quote));
    match quoted {
        Some((word, _)) => word.to_owned(),
        None => line.split(' ').find(|word| !word.is_empty()).unwrap_or_default().to_owned(),
    }
}

pub(super) fn whole(check: &mut super::Check<'_>) {
    let command = match check.resource.get("command") {
        Some(value) => super::settled(value).clone(),
        None => Value::string(std::sync::Arc::clone(&check.resource.title)),
    };
    let (has_path, provider) = (check.is_given("path"), check.text("provider"));
    if let Err(message) = qualified(&command, has_path, provider.as_deref()) {
        check.wrong("command", message);
    }
}
