//! The types whose providers read and write one file: `cron`, `host`, `mount`, and the keys of ssh.

use std::net::{Ipv4Addr, Ipv6Addr};

use setpoint_puppet_values::{Data, Value};

use super::values::{each, is_digits, matches_pattern, shown, text};

/// The days of a week, as `cron` names them; the first has the number 0.
pub const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/// The months of a year, as `cron` names them; the first has the number 1.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const SPECIALS: [&str; 9] =
    ["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly", "absent"];

pub(super) fn cron_parameter(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "minute" => each(value, |one| field(one, 0, 59, &[])),
        "hour" => each(value, |one| field(one, 0, 23, &[])),
        "weekday" => each(value, |one| field(one, 0, 7, &DAYS)),
        "month" => each(value, |one| field(one, 1, 12, &MONTHS)),
        "monthday" => each(value, |one| field(one, 1, 31, &[])),
        "special" => each(value, |one| {
            if SPECIALS.contains(&text(one).as_str()) {
                Ok(())
            } else {
                Err(format!("must be one of {}, not {}", SPECIALS.join(", "), shown(one)))
            }
        }),
        "environment" => each(value, |one| {
            let text = text(one);
            if text == "absent" || matches_pattern(r"(?m)^\s*(\w+)\s*=\s*(.*)\s*$", &text) {
                Ok(())
            } else {
                Err(format!("must have the form NAME=VALUE, not {}", shown(one)))
            }
        }),
        _ => Ok(()),
    }
}

/// A number within bounds, a step, a range, or the name of a day or month, whole or by its first three letters.
fn field(value: &Value, lowest: i64, highest: i64, names: &[&str]) -> Result<(), String> {
    let text = text(value);
    if text == "absent" || text == "*" || matches_pattern(r"(?m)^(\*/[0-9]+|[0-9]+-[0-9]+(/[0-9]+)?)$", &text)
    {
        return Ok(());
    }
    let lower = text.to_lowercase();
    let known = names.iter().any(|name| *name == lower || (lower.len() == 3 && name.starts_with(&lower)));
    let within =
        is_digits(&text) && text.parse::<i64>().is_ok_and(|number| (lowest..=highest).contains(&number));
    if known || within {
        return Ok(());
    }
    Err(format!("must be between {lowest} and {highest}, not {}", shown(value)))
}

pub(super) fn cron(check: &mut super::Check<'_>) {
    if check.text("special").is_none_or(|special| &*special == "absent") || check.is_empty_array("special") {
        return;
    }
    for field in ["minute", "hour", "weekday", "monthday", "month"] {
        if check.is_given(field)
            && check.text(field).is_some_and(|value| &*value != "absent" && &*value != "*")
        {
            check.resource(format!("cannot have both special and {field}"));
            return;
        }
    }
}

pub(super) fn host(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "ip" => each(value, |one| {
            let text = text(one);
            let address = text.split_once('%').map_or(text.trim(), |(address, _)| address.trim());
            let v4 = text.parse::<Ipv4Addr>().is_ok() || loose_v4(&text);
            if v4 || address.parse::<Ipv6Addr>().is_ok() {
                Ok(())
            } else {
                Err(format!("is no IP address: {}", shown(one)))
            }
        }),
        "host_aliases" => each(value, |one| match text(one) {
            text if text.chars().any(char::is_whitespace) => {
                Err(format!("must not have blanks in it: {}", shown(one)))
            }
            text if text.is_empty() => {
                Err("must not be empty; an empty array removes all aliases".to_owned())
            }
            _ => Ok(()),
        }),
        "comment" if text(value).contains(['\n', '\r']) => Err("must be one line".to_owned()),
        "name" => {
            let text = text(value);
            let part = |part: &str| matches_pattern(r"(?m)^([\w]+|[\w][\w\-]+[\w])$", part);
            // As Ruby splits: empty parts at the end do not count.
            let parts = text.trim_end_matches('.');
            let is_name = parts.is_empty() || parts.split('.').all(part);
            if is_name && !text.contains('\n') {
                Ok(())
            } else {
                Err(format!("is no name of a host: '{text}'"))
            }
        }
        _ => Ok(()),
    }
}

/// Numbers with leading zeros are taken for decimal.
fn loose_v4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &&str| {
        is_digits(part) && part.len() <= 3 && part.parse::<u16>().is_ok_and(|number| number <= 255)
    };
    parts.len() == 4 && parts.iter().all(number)
}

pub(super) fn mount(name: &str, value: &Value) -> Result<(), String> {
    each(value, |one| {
        let text = text(one);
        match name {
            "atboot" if !["true", "false", "yes", "no"].contains(&text.to_lowercase().as_str()) => {
                Err(format!("must be true or false, not {}", shown(one)))
            }
            "fstype" | "options" if text.is_empty() => Err("must not be empty".to_owned()),
            "fstype" | "options" | "blockdevice" if text.chars().any(char::is_whitespace) => {
                Err(format!("must not have blanks in it: '{text}'"))
            }
            _ => Ok(()),
        }
    })
}

pub(super) fn sshkey(name: &str, value: &Value) -> Result<(), String> {
    let check = |one: &Value| {
        let text = text(one);
        if text.chars().any(char::is_whitespace) {
            return Err(format!("must not have blanks in it: '{text}'"));
        }
        if text.contains(',') { Err(format!("must not have commas in it: '{text}'")) } else { Ok(()) }
    };
    match name {
        "host_aliases" => each(value, check),
        "name" => check(value),
        _ => Ok(()),
    }
}

pub(super) fn authorized_key_parameter(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "key" => each(value, |one| {
            if text(one).chars().any(char::is_whitespace) {
                Err("must not have blanks in it: give the type and the comment by their own parameters"
                    .to_owned())
            } else {
                Ok(())
            }
        }),
        "options" => each(value, |one| match &one.data {
            Data::String(text) if text.as_ref() == "absent" => Ok(()),
            Data::String(text) if matches_pattern(r#"(?m)^[-a-z0-9A-Z_]+(?:=".*?")?$"#, text) => Ok(()),
            _ => Err(format!("must be options of the form name or name=\"value\", not {}", shown(one))),
        }),
        _ => Ok(()),
    }
}

pub(super) fn authorized_key(check: &mut super::Check<'_>) {
    if check.text("target").is_none() && !check.is_given("user") {
        check.resource("needs a user or a target");
    }
    // The type's own check asks the target for its value, and one that is only audited has none.
    let audited = check.audited();
    if check.text("target").is_none() && audited.iter().any(|name| name == "all" || name == "target") {
        check.wrong("audit", "cannot have the target in it while `target` is not set");
    }
}
