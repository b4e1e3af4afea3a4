//! The tables of types are complete, they say what the models do, and docs/models.md shows them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what cannot be read fails the test")]

mod influence;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use setpoint_catalog::{metaparameters, native_type};
use setpoint_resources::{METAPARAMETERS, Row, Scope, Treatment, tables};

const OF_MODULES: &str = include_str!("module_parameters.tsv");

/// Types of modules that are not on this machine: nobody compares their tables.
const ELSEWHERE: [&str; 2] = ["Shellvar", "(settings)"];

fn of_modules(type_name: &str) -> BTreeSet<&'static str> {
    let lines = OF_MODULES.lines().filter_map(|line| line.split_once('\t'));
    lines.filter(|(name, _)| *name == type_name).map(|(_, parameter)| parameter).collect()
}

#[test]
fn every_parameter_of_every_type_has_a_row() {
    for (name, rows) in tables() {
        if ELSEWHERE.contains(&name) {
            continue;
        }
        let lower = name.to_lowercase();
        let known: BTreeSet<&str> = match native_type(&lower) {
            Some(native) => native.attributes.iter().map(|attribute| attribute.name).collect(),
            None => of_modules(&lower),
        };
        assert!(!known.is_empty(), "nothing says what parameters {name} has");
        let described: BTreeSet<&str> = rows.iter().map(|row| row.parameter).collect();
        assert_eq!(described, known, "the table of {name} (left) and its parameters (right)");
    }
    let described: BTreeSet<&str> = METAPARAMETERS.iter().map(|row| row.parameter).collect();
    assert_eq!(described, metaparameters().iter().copied().collect());
}

#[test]
fn every_native_type_that_linux_has_is_modelled_or_told() {
    // No model: a resource of such a type is unknown as a whole.
    const WITHOUT: [&str; 8] =
        ["component", "selboolean", "selmodule", "whit", "yumrepo", "zfs", "zone", "zpool"];
    let modelled: BTreeSet<String> = tables().map(|(name, _)| name.to_lowercase()).collect();
    let all = setpoint_catalog::native_types().iter().map(|native| native.name);
    let missing: Vec<&str> =
        all.filter(|name| !modelled.contains(*name) && !WITHOUT.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_parameters_of_modules_are_those_that_puppet_knows() {
    const MODULES: &str = "/usr/share/puppet/modules";
    let types: BTreeSet<&str> = OF_MODULES.lines().filter_map(|line| line.split('\t').next()).collect();
    let is_there = |module: &str| std::path::Path::new(MODULES).join(module).is_dir();
    if !setpoint_testing::puppet()
        || !["stdlib", "concat", "inifile", "vcsrepo", "archive"].iter().all(|one| is_there(one))
    {
        return setpoint_testing::skip("parameters of modules", "Puppet or its modules are not installed");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/module-parameters.rb");
    let run = Command::new("ruby").arg(script).arg(MODULES).args(&types).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stdout), OF_MODULES);
}

#[test]
fn the_documentation_shows_the_tables() {
    let file = setpoint_testing::repository().join("docs/models.md");
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let wanted = documentation();
    if std::env::var_os("SETPOINT_BLESS").is_some() {
        std::fs::write(file, wanted).unwrap();
        return;
    }
    assert!(found == wanted, "{}", setpoint_testing::diff(&wanted, &found));
}

fn documentation() -> String {
    let mut out = String::from(
        "# Models of resources\n\n\
         <!-- Written by crates/setpoint_resources/tests/tables; SETPOINT_BLESS=1 writes it anew. -->\n\n\
         For each type of resource that has a model: what is done about each parameter. A value that no row covers leaves the \
         effect of its resource unknown, and a type without a table here has no model at all: \
         `setpoint explain unknown-effect` says what to do then.\n\n\
         - *modelled*: the model reads it.\n\
         - *inert*: it changes nothing that is asked about.\n\
         - *moot*: Puppet does not look at it on Linux, or with this `ensure`.\n\
         - *kept*: a property that no other resource can see, so that it only matters to the resource itself.\n\
         - *open*: not modelled. The effect of the resource is unknown, as far as is said.\n",
    );
    let all = [("Every type", METAPARAMETERS)].into_iter().chain(tables());
    for (name, rows) in all {
        let title = match name {
            "(settings)" => "Settings of OpenStack and its kin (`nova_config`, …)".to_owned(),
            "Every type" => name.to_owned(),
            name => format!("`{}`", name.to_lowercase()),
        };
        write!(out, "\n## {title}\n\n| parameter | with | is |\n|---|---|---|\n").unwrap();
        for row in rows {
            writeln!(out, "| `{}` | {} | {} |", row.parameter, values(row), treatment(row)).unwrap();
        }
    }
    out
}

fn values(row: &Row) -> String {
    let values = row.values.words_for();
    if row.ensure.is_empty() {
        return values;
    }
    let ensure: Vec<String> = row.ensure.iter().map(|word| format!("`{word}`")).collect();
    format!("{values}; `ensure` is {}", ensure.join(" or "))
}

fn treatment(row: &Row) -> String {
    match row.treatment {
        Treatment::Modelled => "modelled".to_owned(),
        Treatment::Kept => "kept".to_owned(),
        Treatment::Inert(reason) => format!("inert: {reason}"),
        Treatment::Moot(reason) => format!("moot: {reason}"),
        Treatment::Open(Scope::Own) => "open, for what the resource touches".to_owned(),
        Treatment::Open(Scope::Everything) => "open, for everything".to_owned(),
    }
}
