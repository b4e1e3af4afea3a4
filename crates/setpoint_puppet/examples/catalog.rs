//! Compiles manifests without the command line: `catalog [--facts F] [--node N] [--modulepath A:B] [--puppet 7] M.pp`.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit, clippy::expect_used)]

use std::path::PathBuf;

use setpoint_puppet::{Entry, Environment, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::{OsFileSystem, Sources};

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::UNDEF,
        serde_json::Value::Bool(value) => (*value).into(),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap_or(0.0).into(),
        },
        serde_json::Value::String(text) => text.as_str().into(),
        serde_json::Value::Array(items) => Value::array(items.iter().map(value).collect()),
        serde_json::Value::Object(entries) => {
            Value::hash(entries.iter().map(|(key, entry)| (Key::from(key.as_str()), value(entry))).collect())
        }
    }
}

fn main() {
    let sources = Sources::new();
    let mut modulepath = Vec::new();
    let mut options = Options { fact_comments: true, ..Options::default() };
    let mut files = Vec::new();
    let mut code = None;
    let mut quiet = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut next = || arguments.next().expect("an option needs a value");
        match argument.as_str() {
            "--facts" => {
                let text = std::fs::read_to_string(next()).expect("facts");
                let json: serde_json::Value = serde_json::from_str(&text).expect("facts are JSON");
                if let Data::Hash(facts) = value(&json).data {
                    options.facts = Hash::clone(&facts);
                }
            }
            "--node" => options.node = next(),
            "--modulepath" => modulepath = next().split(':').map(PathBuf::from).collect(),
            "--puppet" => options.puppet = if next() == "7" { PuppetVersion::V7 } else { PuppetVersion::V8 },
            "--strict-variables" => options.strict_variables = true,
            "--no-provenance" => options.provenance = false,
            "--quiet" => quiet = true,
            "-e" => code = Some(next()),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let environment = Environment::new(&OsFileSystem, &sources).with_modulepath(modulepath);
    let entry = match code {
        Some(text) => Entry::Code { name: "code.pp".to_owned(), text },
        None => Entry::Files(files),
    };
    let compilation = compile(&environment, &entry, &options);
    for logged in &compilation.log {
        let place = logged.span.map(|span| format!(" ({})", sources.place(span))).unwrap_or_default();
        eprintln!("{:?}: {}{place}", logged.level, logged.message);
    }
    for diagnostic in &compilation.diagnostics {
        let place = diagnostic.span.map(|span| sources.place(span)).unwrap_or_default();
        eprintln!("{}: {} ({place})", diagnostic.severity.as_str(), diagnostic.message);
        for label in &diagnostic.labels {
            eprintln!("  {}: {}", sources.place(label.span), label.text);
        }
    }
    match &compilation.catalog {
        Some(_) if quiet => {}
        Some(catalog) => print!("{}", setpoint_catalog::write::json(catalog)),
        None => std::process::exit(1),
    }
}
