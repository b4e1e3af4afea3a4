//! Types with few checks of their own.

use setpoint_puppet_values::{Data, Value};

use super::values::{absolute, each, is_digits, is_empty, is_ruby_integer, matches_pattern, shown, text};

pub(super) fn parameter(
    type_name: &str,
    name: &str,
    value: &Value,
    recurse: Option<&str>,
) -> Result<(), String> {
    match (type_name, name) {
        ("filebucket", "path") => match &value.data {
            Data::String(_) => absolute(value),
            Data::Array(_) => Err("must be one path, not an array".to_owned()),
            _ => Ok(()),
        },
        ("mailalias", "file") => each(value, absolute),
        ("package", "name") if !matches!(value.data, Data::String(_)) => {
            Err(format!("must be a string, not {}", shown(value)))
        }
        ("package", "install_options" | "uninstall_options") => each(value, |one| match &one.data {
            Data::String(_) | Data::Hash(_) => Ok(()),
            _ => Err(format!("must have strings or hashes in it, not {}", shown(one))),
        }),
        ("schedule", "range") => each(value, |one| {
            let is_range = matches_pattern(r"\d+(:\d+){0,2}\s*-\s*\d+(:\d+){0,2}", &text(one));
            if is_range {
                hours(&text(one))
            } else {
                Err(format!("must be a range such as '2 - 4', not {}", shown(one)))
            }
        }),
        ("schedule", "repeat") if !is_whole(value) => Err(format!("must be a number, not {}", shown(value))),
        ("schedule", "weekday") => each(value, |one| {
            let pattern = r"(?mi)^([0-6]|(Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(day)?)$";
            if matches_pattern(pattern, &text(one)) {
                Ok(())
            } else {
                Err(format!("must be a day of the week, not {}", shown(one)))
            }
        }),
        ("tidy", "age") => quantity(value, "smhdw", "an age such as '1w'"),
        ("tidy", "size") => quantity(value, "bkmgt", "a size such as '100k'"),
        ("tidy", "recurse") => match text(value).as_str() {
            "true" | "false" | "inf" => Ok(()),
            _ if is_whole(value) => Ok(()),
            _ => Err(format!("must be true, false, inf or a number, not {}", shown(value))),
        },
        ("tidy", "matches") if matches!(recurse, None | Some("" | "0" | "false")) => {
            Err("needs `recurse`: patterns are for what is found in folders".to_owned())
        }
        ("package", "adminfile" | "responsefile") | ("selmodule", "selmodulepath") if is_empty(value) => {
            Err("must name a file, and is empty".to_owned())
        }
        ("resources", "unless_uid") => each(value, |one| match &one.data {
            Data::String(text) if !is_ruby_integer(text) => Err(format!("must be a number, not '{text}'")),
            _ => Ok(()),
        }),
        ("resources", "unless_system_user") => match &value.data {
            Data::String(text)
                if !is_ruby_integer(text) || !text.starts_with(|one: char| one.is_ascii_digit()) =>
            {
                Err(format!("must be true, false or a number, not '{text}'"))
            }
            _ => Ok(()),
        },
        ("zone", "path") => absolute(value),
        ("zone", "inherit") => each(value, absolute),
        ("zone", "dataset") if text(value).starts_with('/') => {
            Err("must be the name of a file system, not a path".to_owned())
        }
        ("zpool", "mirror" | "raidz") => each(value, |one| {
            if text(one).contains(',') {
                Err("must be separated by blanks, not by commas".to_owned())
            } else {
                Ok(())
            }
        }),
        _ => Ok(()),
    }
}

/// A number, or digits that Ruby takes for one.
fn is_whole(value: &Value) -> bool {
    let text = text(value);
    matches!(value.data, Data::Integer(_)) || (is_digits(&text) && is_ruby_integer(&text))
}

/// The hours of a range lie within a day, its minutes within an hour.
fn hours(range: &str) -> Result<(), String> {
    for time in range.split('-') {
        let parts: Vec<u32> = time.trim().split(':').map(|part| part.trim().parse().unwrap_or(0)).collect();
        if parts.first().is_some_and(|hour| *hour > 23) || parts.get(1).is_some_and(|minute| *minute > 59) {
            return Err(format!("has a time that no day has: '{range}'"));
        }
    }
    Ok(())
}

/// Digits, and a unit if there is a letter.
fn quantity(value: &Value, units: &str, wanted: &str) -> Result<(), String> {
    let text = text(value);
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    // Of several digits, Puppet takes the last for the unit.
    if digits == text.len() && digits > 1 {
        return Err(format!("must have a unit after its digits, not {}", shown(value)));
    }
    let unit = text[digits..].chars().next();
    let rest = text[digits..].chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let known = unit.is_none_or(|unit| units.contains(unit.to_ascii_lowercase()));
    if digits > 0 && rest && known { Ok(()) } else { Err(format!("must be {wanted}, not {}", shown(value))) }
}

pub(super) fn mailalias(check: &mut super::Check<'_>) {
    // An empty list of recipients is one.
    if check.is_given("recipient") && check.is_given("file") && !check.is_empty_array("file") {
        check.resource("cannot have both a recipient and a file");
    }
}

pub(super) fn schedule(check: &mut super::Check<'_>) {
    let Some(period) = check.text("periodmatch").filter(|period| &**period != "distance") else { return };
    let is_one = |value: &Value| matches!(value.data, Data::Integer(1));
    if check.resource.get("repeat").is_some_and(|value| !is_one(value)) {
        check.wrong("repeat", format!("must be 1 with periodmatch => {period}"));
    }
}

pub(super) fn package(check: &mut super::Check<'_>) {
    let ensure = check.text("ensure");
    if check.is_given("mark") && matches!(ensure.as_deref(), Some("absent" | "purged")) {
        check.resource("cannot be marked and removed at once");
    }
    if ensure.as_deref() == Some("disabled") && check.is_given("flavor") {
        check.wrong("flavor", "cannot be set together with ensure => disabled");
    }
}

pub(super) fn service(check: &mut super::Check<'_>) {
    let managed = check.native.attribute("logonpassword").and_then(|attribute| check.manages(attribute));
    if managed == Some(true) && check.is_given("logonpassword") && !check.is_given("logonaccount") {
        check.resource("has a logonpassword, and needs a logonaccount with it");
    }
}

pub(super) fn augeas(check: &mut super::Check<'_>) {
    if check.is_given("lens") != check.is_given("incl") {
        check.resource("needs both lens and incl, or none of them");
    }
}

pub(super) fn zpool(check: &mut super::Check<'_>) {
    let layouts = ["disk", "mirror", "raidz"].into_iter().filter(|name| check.is_given(name)).count();
    if layouts > 1 && check.text("force").as_deref() != Some("true") {
        check.resource("can have only one of disk, mirror and raidz");
    }
}
