//! Makes the table of CloudFormation's resource types out of AWS's published schemas.
//!
//! Only facts are kept: names of types and of their properties, the kinds of value that each takes, and which are required,
//! given by AWS, or fixed at creation. The schemas are read from a folder, such as the one that cfn-lint's wheel installs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder with one schema of a resource type a file
    schemas: PathBuf,
}

/// References of a schema to its own definitions are followed this far.
const MAX_DEPTH: usize = 8;

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    for file in setpoint_testing::files_below(&arguments.schemas) {
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let schema: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        if let Some(name) = schema["typeName"].as_str() {
            types.insert(name.to_owned(), properties(&schema));
        }
    }
    if types.is_empty() {
        return Err(format!("{} has no schemas", arguments.schemas.display()));
    }
    let mut table = String::new();
    for (name, properties) in &types {
        writeln!(table, "{name}{properties}").map_err(|error| error.to_string())?;
    }
    let path = repository().join("crates/setpoint_cloudformation/src/types.txt");
    std::fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{} types", types.len());
    Ok(())
}

/// Returns ` Name:kinds` for each property; `!` is required, `^` fixed at creation, `=` given by AWS.
fn properties(schema: &Value) -> String {
    let top_level = |list: &str| -> Vec<String> {
        let pointers = schema[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        let names = pointers.filter_map(|pointer| pointer.strip_prefix("/properties/"));
        names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    };
    let (given, fixed) = (top_level("readOnlyProperties"), top_level("createOnlyProperties"));
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut out = String::new();
    let all: BTreeMap<_, _> = schema["properties"].as_object().into_iter().flatten().collect();
    for (name, property) in all {
        let kinds = kinds(property, schema, MAX_DEPTH);
        let marks = [
            (required.contains(&name.as_str()), '!'),
            (fixed.contains(name), '^'),
            (given.contains(name), '='),
        ];
        out.push(' ');
        out.push_str(name);
        out.push(':');
        out.push_str(&kinds);
        out.extend(marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark));
    }
    out
}

/// Returns the kinds of value that a schema allows, one letter each; `?` if it does not say.
fn kinds(schema: &Value, root: &Value, depth: usize) -> String {
    const UNKNOWN: &str = "?";
    if depth == 0 {
        return UNKNOWN.to_owned();
    }
    if let Some(pointer) = schema["$ref"].as_str() {
        let target = pointer.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(UNKNOWN.to_owned(), |target| kinds(target, root, depth - 1));
    }
    let mut letters: Vec<char> = Vec::new();
    match &schema["type"] {
        Value::String(kind) => letters.push(letter(kind)),
        Value::Array(several) => letters.extend(several.iter().filter_map(Value::as_str).map(letter)),
        _ => {
            let choices = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
            for choice in choices.flatten() {
                letters.extend(kinds(choice, root, depth - 1).chars());
            }
        }
    }
    letters.sort_unstable();
    letters.dedup();
    if letters.is_empty() || letters.contains(&'?') { UNKNOWN.to_owned() } else { letters.iter().collect() }
}

fn letter(kind: &str) -> char {
    match kind {
        "string" => 's',
        "integer" | "number" => 'n',
        "boolean" => 'b',
        "array" => 'l',
        "object" => 'm',
        _ => '?',
    }
}
