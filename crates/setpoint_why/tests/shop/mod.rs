//! The example control repository, and apache.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_data::{Kind, Node};
use setpoint_hiera::Levels;
use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Hash, Key, Value};
use setpoint_source::{OsFileSystem, Sources, read_text};

/// From the root of the repository, where the tests run.
pub(crate) const FOLDER: &str = "examples/control-repo";
pub(crate) const MODULES: &str = "/usr/share/puppet/modules";

pub(crate) fn shop<'a>(sources: &'a Sources, node: &str) -> (Environment<'a>, Compilation) {
    let folder = Path::new(FOLDER);
    let modulepath: Vec<PathBuf> = ["site-modules", "modules"].iter().map(|name| folder.join(name)).collect();
    let environment = Environment::new(&OsFileSystem, sources)
        .with_modulepath(modulepath)
        .with_hiera(Levels { environment: Some(folder.to_owned()), ..Levels::default() });
    let options = Options { facts: facts(node), node: node.to_owned(), ..Options::default() };
    let compilation = compile(&environment, &Entry::Files(vec![folder.join("manifests")]), &options);
    (environment, compilation)
}

pub(crate) fn apache<'a>(sources: &'a Sources, code: &str) -> (Environment<'a>, Compilation) {
    let environment = Environment::new(&OsFileSystem, sources).with_modulepath(vec![PathBuf::from(MODULES)]);
    let found = setpoint_platforms::find("debian-12").expect("a platform");
    let facts = setpoint_platforms::values(&found.facts("web1.example.com", "7.23.0"));
    let node = "web1.example.com".to_owned();
    let options = Options { puppet: PuppetVersion::V7, facts, node, ..Options::default() };
    let entry = Entry::Code { name: "main.pp".to_owned(), text: code.to_owned() };
    let compilation = compile(&environment, &entry, &options);
    (environment, compilation)
}

fn facts(node: &str) -> Hash {
    let path = Path::new(FOLDER).join("facts").join(format!("{node}.yaml"));
    let text = read_text(&OsFileSystem, &path).expect("the facts of the node");
    let sources = Sources::new();
    let document = setpoint_data::read(sources.add("facts.yaml", text.as_str()), &text);
    document.root.as_ref().and_then(|root| value(root).as_hash().cloned()).expect("facts are a mapping")
}

fn value(node: &Node) -> Value {
    match &node.kind {
        Kind::Sequence(items) => Value::array(items.iter().map(value).collect()),
        Kind::Mapping(entries) => {
            Value::hash(entries.iter().map(|entry| (Key(value(&entry.key)), value(&entry.value))).collect())
        }
        Kind::Scalar { text, .. } => match node.plain() {
            Some("true") => true.into(),
            Some("false") => false.into(),
            Some(plain) => plain.parse::<i64>().map_or_else(|_| Value::string(Arc::clone(text)), Value::from),
            None => Value::string(Arc::clone(text)),
        },
    }
}
