//! What the program is made of: licences, sources and doubles of its crates, known advisories, and a bill of materials.
//!
//! All of it is read from `cargo metadata`, so that nothing needs to be installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use setpoint_testing::{files_below, repository};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write a bill of materials in the form of CycloneDX there
    #[arg(long)]
    bom: Option<PathBuf>,
    /// A copy of the RustSec advisory database: its crates are compared with those that are used
    #[arg(long)]
    advisories: Option<PathBuf>,
}

/// Licences under which a crate may be used; an expression is satisfied if one of its alternatives is.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Crates that name a file in place of a licence, and what it is.
const LICENCE_FILES: &[(&str, &str)] = &[("libyaml-safer", "MIT")];

/// Crates that are there in two versions, and because of whom.
const DOUBLES: &[(&str, &str)] = &[
    ("bit-vec", "varisat, the second solver, which only tests use, has the old one"),
    ("bitflags", "varisat has the old one"),
    ("syn", "macros of different ages; nothing of it is in the program"),
];

/// Advisories that apply and are accepted, and why.
const ACCEPTED: &[(&str, &str)] = &[(
    "RUSTSEC-2023-0071",
    "rsa: who can measure many decryptions may find the key, and no version mends it; Setpoint decrypts data of its \
     own user, with that user's key, and answers nobody over a network",
)];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A crate of the dependency tree.
struct Package {
    name: String,
    version: String,
    licence: String,
    source: Option<String>,
    checksum: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let packages = packages()?;
    let mut problems = check(&packages);
    if let Some(folder) = &arguments.advisories {
        problems.extend(advisories(folder, &packages)?);
    }
    if let Some(path) = &arguments.bom {
        let text = serde_json::to_string_pretty(&bill(&packages)).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let foreign = packages.iter().filter(|package| package.source.is_some()).count();
    println!("{foreign} crates of others, {} of this repository", packages.len() - foreign);
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems.join("\n"))
}

fn packages() -> Result<Vec<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform"])
        .arg("x86_64-unknown-linux-gnu")
        .current_dir(repository())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Json = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let lock = std::fs::read_to_string(repository().join("Cargo.lock")).map_err(|error| error.to_string())?;
    let checksums = checksums(&lock);
    let text = |of: &Json, key: &str| of[key].as_str().map(str::to_owned);
    let list = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut packages: Vec<Package> = list
        .iter()
        .filter_map(|of| {
            let (name, version) = (text(of, "name")?, text(of, "version")?);
            let file = LICENCE_FILES.iter().find(|(known, _)| *known == name);
            let licence = text(of, "license").or_else(|| file.map(|(_, licence)| (*licence).to_owned()));
            let checksum = checksums.get(&(name.clone(), version.clone())).cloned();
            Some(Package {
                name,
                version,
                licence: licence.unwrap_or_default(),
                source: text(of, "source"),
                checksum,
            })
        })
        .collect();
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(packages)
}

/// The checksums of a lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    let (mut name, mut version) = (String::new(), String::new());
    for line in lock.lines() {
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let value = value.trim_matches('"').to_owned();
        match key {
            "name" => name = value,
            "version" => version = value,
            "checksum" => {
                found.insert((name.clone(), version.clone()), value);
            }
            _ => {}
        }
    }
    found
}

/// What is wrong with licences, sources and doubles.
fn check(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let named = format!("{} {}", package.name, package.version);
        if !is_permitted(&package.licence) {
            problems.push(format!("{named} has the licence `{}`", package.licence));
        }
        match &package.source {
            None => {}
            Some(source) if source == REGISTRY && package.checksum.is_some() => {}
            Some(source) if source == REGISTRY => {
                problems.push(format!("{named} has no checksum in Cargo.lock"));
            }
            Some(source) => problems.push(format!("{named} comes from {source}")),
        }
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    for (name, found) in &versions {
        let is_known = DOUBLES.iter().any(|(known, _)| known == name);
        if (found.len() > 1) != is_known {
            let found: Vec<&str> = found.iter().copied().collect();
            problems.push(format!("{name} is there as {}, which DOUBLES does not say", found.join(" and ")));
        }
    }
    problems
}

/// Whether a licence expression can be satisfied: `AND` needs both sides, `OR` and the older `/` one.
fn is_permitted(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "");
    !plain.is_empty()
        && plain.split(" AND ").all(|all| {
            all.split(" OR ").flat_map(|one| one.split('/')).any(|one| LICENCES.contains(&one.trim()))
        })
}

/// Advisories about crates that are used, unless their version is patched or was never affected.
fn advisories(folder: &Path, packages: &[Package]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let files = files_below(&folder.join("crates"));
    if files.is_empty() {
        return Err(format!("{} has no advisories", folder.display()));
    }
    let mut about = 0;
    for path in &files {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let field = |name: &str| value_of(&text, name);
        let Some(of) = field("package").map(|name| name.trim_matches('"').to_owned()) else { continue };
        for package in packages.iter().filter(|package| package.name == of && package.source.is_some()) {
            about += 1;
            let safe = [field("patched"), field("unaffected")].into_iter().flatten();
            let is_safe = safe.flat_map(|list| requirements(&list)).any(|one| fits(&one, &package.version));
            if field("withdrawn").is_none() && !is_safe {
                let id = field("id").unwrap_or_default().trim_matches('"').to_owned();
                if let Some((_, reason)) = ACCEPTED.iter().find(|(known, _)| *known == id) {
                    println!("{id} is accepted: {reason}");
                } else {
                    problems.push(format!("{} {}: {id}", package.name, package.version));
                }
            }
        }
    }
    println!("{} advisories, {about} about crates that are used, {} apply", files.len(), problems.len());
    Ok(problems)
}

/// The value of a key in the head of an advisory, as it is written; a list may go over several lines.
fn value_of(text: &str, key: &str) -> Option<String> {
    let at = text.find(&format!("\n{key} ="))?;
    let value = text[at..].split_once('=')?.1.trim_start();
    let end = if value.starts_with('[') { value.find(']') } else { value.find('\n') };
    Some(value[..end.unwrap_or(value.len())].trim().to_owned())
}

/// The requirements in a list of TOML.
fn requirements(list: &str) -> Vec<String> {
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a version meets all parts of a requirement, such as `>= 1.2.3, < 2.0.0`.
fn fits(requirement: &str, version: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        let plain = text.split(['-', '+']).next().unwrap_or_default();
        plain.split('.').map(|part| part.trim().parse().unwrap_or(0)).collect()
    };
    let padded = |text: &str| {
        let mut all = numbers(text);
        all.resize(3, 0);
        all
    };
    let version_numbers = padded(version);
    requirement.split(',').all(|part| {
        let part = part.trim();
        let sign: String = part.chars().take_while(|letter| "<>=^~".contains(*letter)).collect();
        let named = part[sign.len()..].trim();
        let other = padded(named);
        match sign.as_str() {
            ">=" => version_numbers >= other,
            ">" => version_numbers > other,
            "<=" => version_numbers <= other,
            "<" => version_numbers < other,
            "=" => version_numbers == other,
            "~" => version_numbers >= other && version_numbers[..2] == other[..2],
            // A caret, or nothing: the first number that is not zero stays.
            _ => {
                let fixed = other.iter().position(|number| *number != 0).unwrap_or(2);
                version_numbers >= other && version_numbers[..=fixed] == other[..=fixed]
            }
        }
    })
}

/// A bill of materials in the form of CycloneDX 1.5. It has no time and no random number: two runs give the same bytes.
fn bill(packages: &[Package]) -> Json {
    let foreign = packages.iter().filter(|package| package.source.is_some());
    let components: Vec<Json> = foreign
        .map(|package| {
            let address = format!("pkg:cargo/{}@{}", package.name, package.version);
            json!({
                "type": "library",
                "bom-ref": address,
                "name": package.name,
                "version": package.version,
                "purl": address,
                "licenses": [{"expression": package.licence.replace('/', " OR ")}],
                "hashes": package.checksum.iter()
                    .map(|sum| json!({"alg": "SHA-256", "content": sum})).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "setpoint", "version": env!("CARGO_PKG_VERSION")}},
        "components": components,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_need_one_alternative_of_each_part() {
        assert!(is_permitted("MIT/Apache-2.0"));
        assert!(is_permitted("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(is_permitted("GPL-3.0 OR MIT"));
        assert!(!is_permitted("GPL-3.0"));
        assert!(!is_permitted("MIT AND GPL-3.0"));
        assert!(!is_permitted(""));
    }

    #[test]
    fn requirements_are_read_as_cargo_reads_them() {
        assert!(fits(">= 1.2.3, < 2.0.0", "1.9.0"));
        assert!(!fits(">= 1.2.3, < 2.0.0", "2.0.0"));
        assert!(fits("^0.4.1", "0.4.9"));
        assert!(!fits("^0.4.1", "0.5.0"));
        assert!(fits("~1.2", "1.2.7"));
        assert!(!fits("= 1.0.0", "1.0.1"));
    }
}
