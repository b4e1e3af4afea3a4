//! One manifest beside the modules of the machine, compiled as for Puppet's agent.

use std::path::PathBuf;

use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Key, Value};
use setpoint_source::{MemoryFileSystem, OsFileSystem, OverlayFileSystem, Sources};

/// Where the modules of the machine are.
pub const MODULES: &str = "/usr/share/puppet/modules";

/// Compiles a manifest, which is `main.pp`, by the rules of Puppet 7.
pub fn compile_manifest(manifest: &str, sources: &Sources) -> Compilation {
    let mut over = MemoryFileSystem::new();
    over.add("main.pp", manifest);
    let files = OverlayFileSystem { over, base: &OsFileSystem };
    let environment = Environment::new(&files, sources).with_modulepath(vec![PathBuf::from(MODULES)]);
    let fact = |name: &str, value: &str| (Key::from(name), Value::from(value));
    let options = Options {
        puppet: PuppetVersion::V7,
        node: "node1.example.com".to_owned(),
        facts: [fact("clientversion", "7.23.0"), fact("puppetversion", "7.23.0")].into_iter().collect(),
        ..Options::default()
    };
    compile(&environment, &Entry::Files(vec![PathBuf::from("main.pp")]), &options)
}
