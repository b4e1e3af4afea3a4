//! What Puppet says to values of every kind, attribute by attribute of its own types, against what Setpoint says.
//!
//! The answers are Puppet's, in `values.txt` from `extract/answer-values.rb`; where the same Puppet is installed, it is asked
//! again. What Puppet refuses must not be called fine, and what it accepts must not be called refused.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use setpoint_catalog::conversion::Examination;
use setpoint_catalog::graph::{ShippedTypes, Types};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, conversion, display_name, read};
use setpoint_puppet_values::types::ResourceType;
use setpoint_puppet_values::{Data, Type, Value};
use setpoint_source::{OsFileSystem, Symbol};

fn value(json: &Json) -> Value {
    if json.get("reference").is_some() {
        let of = ResourceType { name: Arc::from("file"), title: Some(Arc::from("/x")) };
        return Value::new(Data::Type(Type::Resource(Some(Arc::new(of)))));
    }
    let tree = json!({"resources": [{"type": "Notify", "title": "x", "parameters": {"message": json}}]});
    let catalog = read::from_tree(&tree).unwrap();
    let (_, resource) = catalog.iter().next().unwrap();
    resource.get("message").cloned().unwrap_or_else(|| Value::new(Data::Undef))
}

fn catalog(type_name: &str, (title, parameters): (&str, &Json), name: &str, value: &Value) -> Catalog {
    let tree = json!({"resources": [
        {"type": "File", "title": "/x"},
        {"type": display_name(type_name), "title": title, "parameters": parameters},
    ]});
    let mut catalog = read::from_tree(&tree).unwrap();
    if let Some(resource) = catalog.resources_mut().last_mut() {
        resource.parameters.set(Symbol::new(name), value.clone(), None);
    }
    catalog
}

/// What Setpoint says beside what Puppet says.
#[derive(Default)]
struct Comparison {
    asked: usize,
    refused: usize,
    unknown: usize,
    /// What Puppet refuses and Setpoint takes.
    missed: String,
    /// What Puppet takes and Setpoint refuses.
    alarms: String,
}

impl Comparison {
    fn summary(&self) -> String {
        let Self { asked, refused, unknown, missed, alarms } = self;
        let (missed, alarms) = (missed.lines().count(), alarms.lines().count());
        format!(
            "{asked} values, {refused} refused by Puppet, {unknown} unknown to Setpoint, {missed} missed, {alarms} false alarms"
        )
    }

    /// Fails if the two contradict each other.
    fn assert_agreement(&self) {
        let Self { missed, alarms, .. } = self;
        assert!(missed.is_empty() && alarms.is_empty(), "missed:\n{missed}\nfalse alarms:\n{alarms}");
    }
}

fn compare(answers: &str, types: &dyn Types) -> Comparison {
    let mut values = Vec::new();
    let mut given = ("", json!({}));
    let mut found = Comparison::default();
    for line in answers.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["value", kind, ..] => {
                let text = line.strip_prefix("value ").and_then(|rest| rest.strip_prefix(kind)).unwrap();
                let json: Json = serde_json::from_str(text.trim_start()).unwrap();
                values.push((json.to_string(), value(&json)));
            }
            ["given", _, title, parameters] => {
                given = (*title, serde_json::from_str(parameters).unwrap());
            }
            ["attribute", type_name, name, answers] => {
                assert_eq!(answers.len(), values.len(), "{line}");
                for ((shown, value), answer) in values.iter().zip(answers.chars()) {
                    let catalog = catalog(type_name, (given.0, &given.1), name, value);
                    let Examination { problems, doubts } = conversion::examine(&catalog, types);
                    found.asked += 1;
                    found.refused += usize::from(answer == 'r');
                    match (answer, problems.first()) {
                        ('a', Some(problem)) => {
                            let message = &problem.message;
                            writeln!(found.alarms, "{type_name} {name} => {shown:.60}: {message}").unwrap();
                        }
                        (_, Some(_)) => {}
                        (_, None) if !doubts.is_empty() => {
                            found.unknown += 1;
                        }
                        ('r', None) => {
                            writeln!(found.missed, "{type_name} {name} => {shown:.60}").unwrap();
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn values_are_judged_as_puppet_judges_them() {
    let kept =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values.txt")).unwrap();
    let found = compare(&kept, &ShippedTypes);
    println!("{}", found.summary());
    found.assert_agreement();
    let Comparison { asked, unknown, .. } = found;
    assert!(asked > 20_000, "only {asked} values");
    // Among them names of types for `resources`: a module that is not here may have one.
    assert!(unknown * 48 < asked, "{unknown} of {asked} values are unknown");
}

/// Types of modules that have a model, and some that have none.
const OF_MODULES: &str = "anchor,archive,ceph_config,concat_file,concat_fragment,file_line,ini_setting,ini_subsetting,\
                          keystone_domain_config,nova_config,vcsrepo,rabbitmq_user,sysctl,x509_cert";

#[test]
fn the_code_of_modules_types_says_what_puppet_says() {
    let modules = Path::new("/usr/share/puppet/modules");
    if !setpoint_testing::puppet() || !modules.join("stdlib").is_dir() {
        setpoint_testing::skip("values", "Puppet and its modules are not installed");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/answer-values.rb");
    let run = Command::new("ruby").arg(script).arg(modules).args(["modules", OF_MODULES]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let answers = String::from_utf8(run.stdout).unwrap();
    let types = ModuleTypes::new(&OsFileSystem, vec![modules.to_owned()]);
    let found = compare(&answers, &types);
    println!("{}", found.summary());
    found.assert_agreement();
    let Comparison { asked, unknown, .. } = found;
    assert!(asked > 5_000, "only {asked} values");
    assert!(unknown * 5 < asked, "{unknown} of {asked} values are unknown");
}

#[test]
fn the_answers_are_those_of_the_installed_puppet() {
    let modules = Path::new("/usr/share/puppet/modules");
    if !setpoint_testing::puppet() || !modules.join("mount_core").is_dir() {
        setpoint_testing::skip("values", "Puppet and its core modules are not installed");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = std::fs::read_to_string(folder.join("tests/values.txt")).unwrap();
    let run =
        Command::new("ruby").arg(folder.join("extract/answer-values.rb")).arg(modules).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let wanted = String::from_utf8(run.stdout).unwrap();
    if wanted.lines().next() != kept.lines().next() {
        setpoint_testing::skip("values", "another version of Puppet is installed");
        return;
    }
    let difference = setpoint_testing::diff(&wanted, &kept);
    assert!(wanted == kept, "run extract/answer-values.rb, or mend it:\n{difference}");
}
