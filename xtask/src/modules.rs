//! Every class of the installed modules, entered on one platform: how many compile, how many are skipped and why; and with
//! `--compare`, whether Puppet says the same.

mod compare;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use setpoint_puppet::{Compilation, Definition, Entry, Environment, Options, PuppetVersion};
use setpoint_source::{OsFileSystem, Severity, Sources};
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
}

/// What came of a class.
pub(crate) struct Entered {
    pub(crate) class: Class,
    pub(crate) catalog: Option<setpoint_catalog::Catalog>,
    pub(crate) error: Option<String>,
    pub(crate) place: String,
}

const NODE: &str = "node1.example.com";
const PUPPET: &str = "7.23.0";

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let entered = enter_all(arguments)?;
    if arguments.compare {
        compare::run(arguments, &entered)?;
    }
    let text = table::table(&entered, &arguments.platform);
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
    let classes = classes(&environment, &arguments.modules, arguments.filter.as_deref());
    if classes.is_empty() {
        return Err(format!("{} has no classes", arguments.modules.display()));
    }
    let platform = setpoint_platforms::find(&arguments.platform).map_err(|unknown| unknown.to_string())?;
    let facts = setpoint_platforms::values(&platform.facts(NODE, PUPPET));
    let options = Options {
        puppet: PuppetVersion::V7,
        node: NODE.to_owned(),
        facts,
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
    let entry = Entry::Code { name: "main.pp".to_owned(), text: format!("include {}\n", class.name) };
    let Compilation { catalog, diagnostics, .. } = setpoint_puppet::compile(environment, &entry, options);
    let error = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    Entered {
        class,
        catalog,
        error: error.map(|error| error.message.clone()),
        place: error.and_then(|error| error.span).map(|span| sources.place(span)).unwrap_or_default(),
    }
}

/// The classes of all modules, by name.
fn classes(environment: &Environment<'_>, folder: &Path, filter: Option<&str>) -> Vec<Class> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let module = entry.file_name().to_string_lossy().into_owned();
        for path in environment.manifests_under(&entry.path().join("manifests")) {
            let Ok(manifest) = environment.manifest(&path) else { continue };
            for definition in &manifest.definitions {
                let Definition::Class(class) = definition else { continue };
                let name = class.name.as_str().to_owned();
                if filter.is_some_and(|filter| !name.contains(filter)) {
                    continue;
                }
                let required = class.parameters.iter().filter(|parameter| parameter.default.is_none());
                let required = required.map(|parameter| parameter.name.to_string()).collect();
                found.insert(name.clone(), Class { module: module.clone(), name, required });
            }
        }
    }
    found.into_values().collect()
}
