//! The platforms that a module says it supports.

use serde_json::Value;

use crate::table::{PLATFORMS, Platform};

/// The platforms among ours that the `operatingsystem_support` of a `metadata.json` names, in our order. An operating
/// system without releases means all of its releases. Releases that are not known here are left out.
pub fn supported(metadata: &Value) -> Vec<&'static Platform> {
    PLATFORMS
        .iter()
        .filter(|platform| systems(metadata).iter().any(|system| names(system, platform)))
        .collect()
}

/// The operating systems that a `metadata.json` names and of which no release is among ours.
pub fn unsupported(metadata: &Value) -> Vec<String> {
    let unknown =
        systems(metadata).iter().filter(|system| !PLATFORMS.iter().any(|known| names(system, known)));
    let with_releases = |system: &Value| {
        let releases = system.get("operatingsystemrelease").and_then(Value::as_array).into_iter().flatten();
        let name = system.get("operatingsystem")?.as_str()?;
        Some(std::iter::once(name).chain(releases.filter_map(Value::as_str)).collect::<Vec<_>>().join(" "))
    };
    unknown.filter_map(with_releases).collect()
}

fn systems(metadata: &Value) -> &[Value] {
    metadata.get("operatingsystem_support").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn names(system: &Value, platform: &Platform) -> bool {
    let Some(name) = system.get("operatingsystem").and_then(Value::as_str) else { return false };
    if !name.eq_ignore_ascii_case(platform.os) && !is_other_name(name, platform.os) {
        return false;
    }
    let Some(releases) = system.get("operatingsystemrelease").and_then(Value::as_array) else { return true };
    // Rolling releases, and those that have one entry here, stand for any number.
    let any = !platform.name.contains('-');
    releases.is_empty()
        || any
        || releases.iter().filter_map(Value::as_str).any(|release| {
            let release = release.trim().trim_start_matches("Server ");
            release == platform.release
                || release == platform.major()
                || release.split(['.', ' ']).next() == Some(platform.major())
        })
}

/// Names that modules write for the same system.
fn is_other_name(name: &str, os: &str) -> bool {
    let other = match name.to_ascii_lowercase().replace(' ', "").as_str() {
        "redhatenterpriselinux" | "rhel" => "RedHat",
        "centosstream" => "CentOS",
        "rockylinux" => "Rocky",
        "arch" => "Archlinux",
        "macos" | "macosx" | "osx" => "Darwin",
        "suse" | "suselinuxenterpriseserver" => "SLES",
        "opensuseleap" => "openSUSE",
        "amazonlinux" => "Amazon",
        "oracle" | "oel" => "OracleLinux",
        _ => return false,
    };
    other == os
}
