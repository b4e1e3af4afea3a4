//! Runs the cases of the Puppet suite without the command line: `cases FOLDER [TEXT IN THE PATH]`.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use setpoint_oracle::{BOTH, Level, Message, Mode, Outcome, Place, Request, agree};
use setpoint_puppet::{Entry, Environment, LogEntry, LogLevel, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Key, Value};
use setpoint_source::{Diagnostic, MemoryFileSystem, Severity, Sources, Span};
use setpoint_testing::{Case, cases};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let wanted = arguments.next().unwrap_or_default();
    let (mut good, mut bad) = (0, 0);
    for path in cases(&folder) {
        if !path.to_string_lossy().contains(&wanted) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let case = Case::parse(&text);
        for section in &case.answers {
            let modes: &[Mode] = match section.name.as_str() {
                BOTH => &Mode::ALL,
                name if name == Mode::Seven.section() => &[Mode::Seven],
                _ => &[Mode::Eight],
            };
            for mode in modes {
                let problems = match outcome(&case, *mode) {
                    Ok(ours) => agree(&section.text, &ours),
                    Err(problem) => problem,
                };
                if problems.is_empty() {
                    good += 1;
                } else {
                    bad += 1;
                    println!("=== {} ({})\n{problems}", path.display(), mode.section());
                }
            }
        }
    }
    println!("good {good}, bad {bad}");
}

fn outcome(case: &Case, mode: Mode) -> Result<Outcome, String> {
    let request = Request::of(case, mode)?;
    let mut files = MemoryFileSystem::new();
    for (name, text) in &request.files {
        files.add(name, text.as_str());
    }
    let sources = Sources::new();
    let environment = Environment::new(&files, &sources).with_modulepath(vec![PathBuf::from("modules")]);
    let options = Options {
        puppet: if mode == Mode::Seven { PuppetVersion::V7 } else { PuppetVersion::V8 },
        node: request.node.clone(),
        facts: request.facts.iter().map(|(name, fact)| (Key::from(name.as_str()), value(fact))).collect(),
        ..Options::default()
    };
    let compilation = compile(&environment, &Entry::Files(vec![PathBuf::from("main.pp")]), &options);
    let mut outcome = Outcome::default();
    for entry in &compilation.log {
        outcome.messages.push(logged(entry, &sources));
    }
    for diagnostic in &compilation.diagnostics {
        match diagnostic.severity {
            Severity::Error => outcome.errors.push(said(Level::Error, diagnostic, &sources)),
            _ => outcome.messages.push(said(Level::Warning, diagnostic, &sources)),
        }
    }
    if let Some(catalog) = &compilation.catalog {
        let json = setpoint_catalog::write::json(catalog);
        outcome.catalog = Some(serde_json::from_str(&json).map_err(|error| format!("not JSON: {error}"))?);
    }
    Ok(outcome)
}

fn place(span: Option<Span>, sources: &Sources) -> Option<Place> {
    let span = span?;
    let at = sources.position(span);
    Some(Place::new(sources.file(span.file).path(), Some(at.line), Some(at.column), ""))
}

fn said(level: Level, diagnostic: &Diagnostic, sources: &Sources) -> Message {
    let place = place(diagnostic.span, sources);
    Message { level, source: String::new(), place, text: diagnostic.message.clone() }
}

fn logged(entry: &LogEntry, sources: &Sources) -> Message {
    let level = match entry.level {
        LogLevel::Debug => Level::Debug,
        LogLevel::Info => Level::Info,
        LogLevel::Notice => Level::Notice,
        LogLevel::Warning => Level::Warning,
        LogLevel::Err => Level::Err,
        LogLevel::Alert => Level::Alert,
        LogLevel::Crit => Level::Critical,
        LogLevel::Emerg => Level::Emergency,
    };
    // What the manifest says has a scope and no place, what the compiler says has a place.
    let (source, place) = match &entry.scope {
        Some(scope) if scope == "Class[main]" => (String::new(), None),
        Some(scope) => (scope.clone(), None),
        None => (String::new(), place(entry.span, sources)),
    };
    Message { level, source, place, text: entry.message.clone() }
}

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
