//! What Puppet refuses when it turns a catalog into native resources, type by type.
//!
//! A case lists resources, one a line. The answers are Puppet's, from `extract/answer-conversion.rb`: `ok`, or `fails` with
//! the parameter that Puppet blames. Where it blames the resource, a parameter may be blamed as well.

use std::process::ExitCode;

use serde_json::{Value as Json, json};
use setpoint_catalog::graph::ShippedTypes;
use setpoint_catalog::{conversion, read};
use setpoint_testing::{Case, repository, run_folder};

fn main() -> ExitCode {
    run_folder(&repository().join("crates/setpoint_catalog/tests/conversion"), |case| {
        vec![("puppet".to_owned(), answers(case))]
    })
}

fn answers(case: &Case) -> String {
    let resources =
        case.inputs.iter().filter(|section| section.name == "resources").map(|section| &section.text);
    let wanted = case.answers.iter().filter(|section| section.name == "puppet").map(|section| &section.text);
    let mut wanted = wanted.flat_map(|text| text.lines());
    let mut out = String::new();
    for line in resources.flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()) {
        let found = verdict(line);
        let blames_resource = wanted.next() == Some("fails") && found.starts_with("fails ");
        out += if blames_resource { "fails" } else { &found };
        out.push('\n');
    }
    out
}

fn verdict(line: &str) -> String {
    let Ok(resource) = serde_json::from_str::<Json>(line) else { return "no JSON".to_owned() };
    let catalog = match read::from_tree(&json!({ "resources": [resource] })) {
        Ok(catalog) => catalog,
        Err(error) => return error.to_string(),
    };
    match conversion::examine(&catalog, &ShippedTypes).problems.first() {
        None => "ok".to_owned(),
        Some(problem) => problem.parameter.map_or("fails".to_owned(), |name| format!("fails {name}")),
    }
}
