//! Every class of the installed modules, entered on one platform: how many compile, how many are skipped and why; and with
//! `--compare`, whether Puppet says the same. With `--generated`, classes and definitions get made-up parameters; with `--list`,
//! the modules of a list are compiled with their own examples, which lie in a folder that the caller filled.

mod compare;
mod examples;
mod generate;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use setpoint_puppet::{Compilation, CompileGapKind, Definition, Entry, Environment, Options, PuppetVersion};
use setpoint_puppet_values::{Hash, Key};
use setpoint_source::{OsFileSystem, Severity, Sources};
use setpoint_testing::Random;
use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the modules
    #[arg(long, default_value = "/usr/share/puppet/modules")]
    modules: PathBuf,
    /// Only classes whose names contain this
    filter: Option<String>,
    #[arg(long, default_value = "debian-12")]
    platform: String,
    /// Ask Puppet about each class, and tell where the answers differ
    #[arg(long)]
    compare: bool,
    /// Compare only with what Puppet has answered before
    #[arg(long)]
    known: bool,
    /// Tell each difference in full
    #[arg(long)]
    show: bool,
    /// Give classes and instances of definitions made-up parameters, of this seed
    #[arg(long, value_name = "SEED")]
    generated: Option<u64>,
    /// Compile the examples of the modules that this file names, one a line, instead of single classes
    #[arg(long, value_name = "FILE", conflicts_with = "generated")]
    list: Option<PathBuf>,
    /// Take at most so many examples of a module, spread over all of them
    #[arg(long, value_name = "N", requires = "list")]
    at_most: Option<usize>,
    /// The version of Puppet whose strictness counts
    #[arg(long, default_value = "7", value_parser = ["7", "8"])]
    puppet: String,
    /// Write the table into docs/modules.md
    #[arg(long)]
    write: bool,
}

/// A class, and the module that it is in.
pub(crate) struct Class {
    pub(crate) module: String,
    pub(crate) name: String,
    /// Parameters without a default.
    pub(crate) required: Vec<String>,
    /// What is declared instead of an `include`: the type, the parameters, and a class to include before.
    pub(crate) declared: Option<Declared>,
    /// The code of an example, instead of all that.
    pub(crate) code: Option<String>,
}

pub(crate) struct Declared {
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) parameters: Map<String, Value>,
}

impl Class {
    /// Facts that tell [`MAIN`] what to declare.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        if self.code.is_some() {
            return facts;
        }
        match &self.declared {
            None => {
                facts.insert("setpoint_class".to_owned(), json!(self.name));
            }
            Some(declared) => {
                if declared.kind != "class" {
                    facts.insert("setpoint_class".to_owned(), json!(self.module));
                }
                facts.insert("setpoint_type".to_owned(), json!(declared.kind));
                facts.insert("setpoint_resources".to_owned(), json!({&declared.title: declared.parameters}));
            }
        }
        facts
    }
}

/// What is compiled by both.
const MAIN: &str = "if $facts['setpoint_class'] and ($facts['setpoint_type'] == undef or defined($facts['setpoint_class'])) {\n  include $facts['setpoint_class']\n}\nif $facts['setpoint_type'] {\n  create_resources($facts['setpoint_type'], $facts['setpoint_resources'])\n}\n";

/// What came of a class.
pub(crate) struct Entered {
    pub(crate) class: Class,
    pub(crate) catalog: Option<setpoint_catalog::Catalog>,
    pub(crate) error: Option<String>,
    pub(crate) place: String,
    /// What is not known of the catalog, or the limit that ended the compilation.
    pub(crate) opaque: Option<String>,
}

const NODE: &str = "node1.example.com";
const PUPPET: &str = "7.23.0";

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let entered = enter_all(arguments)?;
    let compared = if arguments.compare { Some(compare::run(arguments, &entered)?) } else { None };
    let text = table::table(&entered, &arguments.platform, compared.as_ref());
    if arguments.write {
        let path = repository().join("docs/modules.md");
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    } else if !arguments.compare {
        print!("{text}");
    }
    Ok(())
}

fn enter_all(arguments: &Arguments) -> Result<Vec<Entered>, String> {
    let sources = Sources::new();
    let environment =
        Environment::new(&OsFileSystem, &sources).with_modulepath(vec![arguments.modules.clone()]);
    let mut classes = classes(&environment, &sources, arguments);
    if let Some(list) = &arguments.list {
        classes = examples_in(list, &classes, arguments)?;
    }
    if classes.is_empty() {
        return Err(format!("{} has no classes", arguments.modules.display()));
    }
    let platform = setpoint_platforms::find(&arguments.platform).map_err(|unknown| unknown.to_string())?;
    let facts = platform.facts(NODE, PUPPET);
    let options = Options {
        puppet: PuppetVersion::parse(&arguments.puppet).unwrap_or_default(),
        node: NODE.to_owned(),
        server_facts: Some(server_facts()),
        provenance: false,
        ..Options::default()
    };
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let classes: Vec<Mutex<Option<Class>>> =
        classes.into_iter().map(|class| Mutex::new(Some(class))).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = classes.get(at) else { break };
                    let Some(class) = slot.lock().ok().and_then(|mut slot| slot.take()) else { continue };
                    let mut facts = facts.clone();
                    facts.extend(class.facts());
                    let options = Options { facts: setpoint_platforms::values(&facts), ..options.clone() };
                    let entered = enter(&environment, &sources, &options, class);
                    if let Ok(mut found) = found.lock() {
                        found.insert(at, entered);
                    }
                }
            });
        }
    });
    Ok(found.into_inner().map_err(|_| "a thread has died")?.into_values().collect())
}

fn enter(environment: &Environment<'_>, sources: &Sources, options: &Options, class: Class) -> Entered {
    let text = class.code.clone().unwrap_or_else(|| MAIN.to_owned());
    let entry = Entry::Code { name: "main.pp".to_owned(), text };
    let Compilation { catalog, diagnostics, gaps, failures, .. } =
        setpoint_puppet::compile(environment, &entry, options);
    let unknown = gaps.iter().find_map(|gap| match &gap.kind {
        CompileGapKind::NotComputed(why) => Some(why.clone()),
        CompileGapKind::OtherNodes | CompileGapKind::UnreadData(_) | CompileGapKind::AbsentFact(_) => None,
    });
    let limit = failures.iter().find(|failure| failure.kind.is_limit_of_setpoint());
    let error = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    Entered {
        class,
        catalog,
        error: error.map(|error| error.message.clone()),
        place: error.and_then(|error| error.span).map(|span| sources.place(span)).unwrap_or_default(),
        opaque: limit.map(|limit| limit.to_diagnostic().message).or(unknown),
    }
}

/// The examples of the modules that a list names.
fn examples_in(list: &Path, classes: &[Class], arguments: &Arguments) -> Result<Vec<Class>, String> {
    let names = std::fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let mut found = Vec::new();
    for line in names.lines().filter(|line| !line.starts_with('#')) {
        let Some(name) = line.split_whitespace().next() else { continue };
        let can_include = classes.iter().any(|class| class.name == name && class.required.is_empty());
        let examples = examples::examples_of(name, &arguments.modules.join(name), can_include);
        let step = arguments.at_most.map_or(1, |most| examples.len().div_ceil(most.max(1)).max(1));
        found.extend(examples.into_iter().step_by(step).map(|example| Class {
            module: name.to_owned(),
            name: example.name,
            required: Vec::new(),
            declared: None,
            code: Some(example.code),
        }));
    }
    found.retain(|example| arguments.filter.as_ref().is_none_or(|filter| example.name.contains(filter)));
    Ok(found)
}

/// The classes of all modules, by name; with made-up parameters also the definitions.
fn classes(environment: &Environment<'_>, sources: &Sources, arguments: &Arguments) -> Vec<Class> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(&arguments.modules).into_iter().flatten().flatten();
    for module in entries.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        for path in environment.manifests_under(&arguments.modules.join(&module).join("manifests")) {
            let Ok(manifest) = environment.manifest(&path) else { continue };
            for definition in &manifest.definitions {
                let (name, parameters, file, is_class) = match definition {
                    Definition::Class(class) => (class.name, &class.parameters, class.file, true),
                    Definition::Define(define) if arguments.generated.is_some() => {
                        (define.name, &define.parameters, define.file, false)
                    }
                    _ => continue,
                };
                let name = name.as_str().to_owned();
                let filter = arguments.filter.as_ref().filter(|_| arguments.list.is_none());
                if filter.is_some_and(|filter| !name.contains(filter.as_str())) {
                    continue;
                }
                let required = parameters.iter().filter(|parameter| parameter.default.is_none());
                let required = required.map(|parameter| parameter.name.to_string()).collect();
                let declared = arguments.generated.map(|seed| {
                    let mut random = Random::new(seed.wrapping_mul(1_000_003) ^ number(&name));
                    let text = |range| sources.file(file).slice(range).to_owned();
                    let mut given = Map::new();
                    for parameter in parameters {
                        let of = parameter.type_expr.as_ref().map(|of| text(of.range));
                        let made = match &parameter.default {
                            None => Some(generate::value(of.as_deref().unwrap_or("String"), &mut random)),
                            Some(_) if random.below(3) > 0 => None,
                            Some(default) => match &of {
                                Some(of) => Some(generate::value(of, &mut random)),
                                None => generate::other_than(&text(default.range), &mut random),
                            },
                        };
                        if let Some(made) = made.filter(|made| !made.is_null()) {
                            given.insert(parameter.name.to_string(), made);
                        }
                    }
                    if is_class {
                        Declared { kind: "class".to_owned(), title: name.clone(), parameters: given }
                    } else {
                        Declared { kind: name.clone(), title: "one".to_owned(), parameters: given }
                    }
                });
                found.insert(
                    name.clone(),
                    Class { module: module.clone(), name, required, declared, code: None },
                );
            }
        }
    }
    found.into_values().collect()
}

/// A number of a name, the same in every run.
fn number(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn server_facts() -> Hash {
    [("serverversion", "7.23.0"), ("servername", NODE), ("serverip", "192.0.2.10")]
        .into_iter()
        .map(|(name, value)| (Key::from(name), setpoint_puppet_values::Value::from(value)))
        .collect()
}
