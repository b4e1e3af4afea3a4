//! The same request, answered by Setpoint.

use std::path::{Path, PathBuf};

use setpoint_hiera::Levels;

use setpoint_puppet::module_functions;
use setpoint_puppet::{
    Compilation, Entry, Environment, LogLevel, LookupFormat, LookupOptions, Options, PuppetVersion, StandIn,
    compile, lookup,
};
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::{Diagnostic, FileSystem, MemoryFileSystem, Severity, Sources, Span};

use setpoint_testing::files_below;

use crate::{Level, Message, Mode, Outcome, Place, Request};

/// Compiles a request in memory.
pub fn setpoint(request: &Request) -> Outcome {
    let mut files = files_of(request);
    // What a module of the installation has in Ruby is known; that its files are there is enough.
    for module in &request.modules {
        for name in module_functions(module) {
            files.add(format!("modules/{module}/lib/puppet/functions/{}.rb", name.replace("::", "/")), "");
        }
    }
    answer(request, &files, StandIn::Always)
}

/// The same, with all functions of modules run from their files in Ruby, also those that are known.
pub fn setpoint_with_ruby(request: &Request) -> Outcome {
    let mut files = files_of(request);
    for module in &request.modules {
        let folder = Path::new(INSTALLED).join(module);
        for part in
            ["lib/puppet/functions", "lib/puppet/parser/functions", "lib/puppet_x", "functions", "types"]
        {
            for path in files_below(&folder.join(part)) {
                let (Ok(name), Ok(text)) = (path.strip_prefix(&folder), std::fs::read_to_string(&path))
                else {
                    continue;
                };
                files.add(Path::new("modules").join(module).join(name), text);
            }
        }
    }
    answer(request, &files, StandIn::Never)
}

/// Where Debian's packages put modules.
const INSTALLED: &str = "/usr/share/puppet/modules";

fn files_of(request: &Request) -> MemoryFileSystem {
    let mut files = MemoryFileSystem::new();
    for (name, text) in &request.files {
        files.add(name, text.as_str());
    }
    files
}

fn answer(request: &Request, files: &MemoryFileSystem, stand_in: StandIn) -> Outcome {
    let sources = Sources::new();
    let levels = Levels {
        global: files.is_file(Path::new(GLOBAL)).then(|| PathBuf::from(GLOBAL)),
        environment: Some(PathBuf::new()),
        ..Levels::default()
    };
    let environment = Environment::new(files, &sources)
        .with_modulepath(vec![PathBuf::from("modules")])
        .with_hiera(levels)
        .with_stand_in(stand_in);
    let options = Options {
        puppet: match request.mode {
            Mode::Seven => PuppetVersion::V7,
            Mode::Eight => PuppetVersion::V8,
        },
        node: request.node.clone(),
        facts: hash(&request.facts),
        trusted: Some(Value::new(Data::Hash(hash(&request.all_trusted()).into()))),
        // The oracle is Puppet 7 with the strictness of 8.
        server_facts: Some(server_facts(&request.node)),
        ..Options::default()
    };
    if !request.lookups.is_empty() {
        let lookups = request.lookups.iter();
        return Outcome {
            lookups: lookups.map(|line| (line.clone(), look_up(line, &environment, &options))).collect(),
            ..Outcome::default()
        };
    }
    let entry = Entry::Files(vec![PathBuf::from("main.pp")]);
    outcome(&compile(&environment, &entry, &options), &sources)
}

/// The global configuration of a case.
const GLOBAL: &str = "global/hiera.yaml";

/// What `setpoint lookup` prints for a line of arguments.
fn look_up(line: &str, environment: &Environment<'_>, options: &Options) -> String {
    let mut wanted = LookupOptions::default();
    let mut words = line.split_whitespace();
    let mut format = LookupFormat::Yaml;
    while let Some(word) = words.next() {
        let mut next = || words.next().unwrap_or_default().trim_matches('\'').to_owned();
        match word {
            "--merge" => wanted.merge = Some(next()),
            "--type" => wanted.of = Some(next()),
            "--default" => wanted.default = Some(next()),
            "--knock-out-prefix" => wanted.knockout_prefix = Some(next()),
            "--render-as" => {
                format = if next() == "json" { LookupFormat::Json } else { LookupFormat::Yaml };
            }
            "--sort-merged-arrays" => wanted.sort_merged_arrays = true,
            "--merge-hash-arrays" => wanted.merge_hash_arrays = true,
            "--explain" => wanted.explain = true,
            "--explain-options" => wanted.explain_options = true,
            key => wanted.keys.push(key.trim_matches('\'').to_owned()),
        }
    }
    let found = lookup(environment, options, &wanted);
    match (&found.value, &found.explanation) {
        (_, Some(explanation)) => explanation.clone(),
        (Ok(value), None) => format.print(value),
        (Err(error), None) => format!("error: {}", error.message),
    }
}

fn outcome(compilation: &Compilation, sources: &Sources) -> Outcome {
    let mut outcome = Outcome::default();
    for entry in &compilation.log {
        let scope = entry.scope.as_deref();
        outcome.messages.push(Message {
            level: level(entry.level),
            source: scope.filter(|scope| *scope != "Class[main]").unwrap_or("").to_owned(),
            place: if scope.is_some() { None } else { entry.span.map(|span| place(span, sources)) },
            text: entry.message.clone(),
        });
    }
    for diagnostic in &compilation.diagnostics {
        let level = if diagnostic.severity == Severity::Error { Level::Error } else { Level::Warning };
        let message = Message {
            level,
            source: String::new(),
            place: diagnostic.span.map(|span| place(span, sources)),
            text: text(diagnostic),
        };
        if level == Level::Error { outcome.errors.push(message) } else { outcome.messages.push(message) }
    }
    outcome.catalog = compilation
        .catalog
        .as_ref()
        .and_then(|catalog| serde_json::from_str(&setpoint_catalog::write::json(catalog)).ok());
    outcome
}

/// A message may put a part of Puppet's sentence into its notes.
fn text(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for note in &diagnostic.notes {
        text.push('\n');
        text.push_str(note);
    }
    text
}

fn place(span: Span, sources: &Sources) -> Place {
    let position = sources.position(span);
    Place::new(sources.file(span.file).path(), Some(position.line), Some(position.column), "")
}

fn level(level: LogLevel) -> Level {
    match level {
        LogLevel::Debug => Level::Debug,
        LogLevel::Info => Level::Info,
        LogLevel::Notice => Level::Notice,
        LogLevel::Warning => Level::Warning,
        LogLevel::Err => Level::Err,
        LogLevel::Alert => Level::Alert,
        LogLevel::Crit => Level::Critical,
        LogLevel::Emerg => Level::Emergency,
    }
}

fn server_facts(node: &str) -> Hash {
    [("serverversion", "7.23.0"), ("servername", node), ("serverip", "192.0.2.10")]
        .into_iter()
        .map(|(name, value)| (Key::from(name), Value::from(value)))
        .collect()
}

fn hash(entries: &serde_json::Map<String, serde_json::Value>) -> Hash {
    entries.iter().map(|(key, entry)| (Key::from(key.as_str()), value(entry))).collect()
}

fn value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::UNDEF,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::from(number.as_f64().unwrap_or_default()), Value::from)
        }
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::array(items.iter().map(value).collect()),
        Json::Object(entries) => Value::new(Data::Hash(hash(entries).into())),
    }
}
