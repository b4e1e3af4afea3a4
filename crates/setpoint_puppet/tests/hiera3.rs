//! A global `hiera.yaml` of version 3. The answers are those of Puppet 7.23 and OpenVox 8.28, which read it alike.

use std::path::PathBuf;

use setpoint_hiera::Levels;
use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, compile};
use setpoint_puppet_values::to_text;
use setpoint_source::{MemoryFileSystem, Sources};

const CONFIGURATION: &str = r#"---
:backends:
  - yaml
  - json
:yaml:
  :datadir: /srv/data
:json:
  :datadir: /srv/data
:hierarchy:
  - "nodes/%{::fqdn}"
  - "role/%{calling_module}-%{calling_class_path}"
  - common
:merge_behavior: deeper
"#;

fn files(configuration: &str) -> MemoryFileSystem {
    let mut files = MemoryFileSystem::new();
    let mut add = |path: &str, text: &str| files.add(path, text.to_owned());
    add("/srv/hiera.yaml", configuration);
    add(
        "/srv/data/nodes/n.example.com.yaml",
        "a: node\nh: {x: 1, y: {p: node}}\nl: [1]\nm::who: \"%{calling_class} %{calling_module}\"\n",
    );
    add(
        "/srv/data/common.yaml",
        "a: common\nh: {x: 2, y: {p: common, q: common}, z: 3}\nl: [2, 1]\nb: \"%{hiera('a')}\"\nc: yaml\nm::p: from-data\n",
    );
    add("/srv/data/role/m-m/inner.yaml", "r: inner\n");
    add("/srv/data/role/m-m.yaml", "r: module\n");
    add("/srv/data/common.json", r#"{"c":"json","d":"json","h":{"w":"json"}}"#);
    let look = "lookup({ 'name' => 'r', 'default_value' => 'none' })";
    add("modules/m/manifests/init.pp", &format!("class m($p = 'def', $who = 'def') {{ $r = {look} }}\n"));
    add("modules/m/manifests/inner.pp", &format!("class m::inner {{ $r = {look} }}\n"));
    files
}

fn compiled(configuration: &str, code: &str) -> Compilation {
    let files = files(configuration);
    let sources = Sources::new();
    let levels = Levels { global: Some(PathBuf::from("/srv/hiera.yaml")), ..Levels::default() };
    let environment =
        Environment::new(&files, &sources).with_modulepath(vec!["modules".into()]).with_hiera(levels);
    let facts = setpoint_puppet_values::Hash::from_iter([("fqdn".into(), "n.example.com".into())]);
    let options =
        Options { puppet: PuppetVersion::V7, node: "n.example.com".to_owned(), facts, ..Options::default() };
    compile(&environment, &Entry::Code { name: "main.pp".to_owned(), text: code.to_owned() }, &options)
}

/// The message of the one notify.
fn message(configuration: &str, code: &str) -> String {
    let compilation = compiled(configuration, code);
    let catalog = compilation.catalog.as_ref();
    let found = catalog.iter().flat_map(|catalog| catalog.iter()).find(|(_, one)| &*one.title == "a");
    let message = found.and_then(|(_, one)| one.get("message"));
    message.map_or_else(|| format!("{:?}", compilation.failures), |message| to_text(message).to_string())
}

#[test]
fn levels_and_backends_are_asked_in_their_order() {
    for (expression, expected) in [
        ("lookup('a')", "node"),
        ("lookup('c')", "yaml"),
        ("lookup('d')", "json"),
        ("lookup('h')", "{x => 1, y => {p => node}}"),
        ("lookup('h', {merge => hash})", "{w => json, x => 1, y => {p => node}, z => 3}"),
        ("lookup('h', {merge => deep})", "{w => json, x => 1, y => {p => node, q => common}, z => 3}"),
        ("hiera('h')", "{x => 1, y => {p => node}}"),
        ("hiera_hash('h')", "{w => json, x => 1, y => {p => node, q => common}, z => 3}"),
        ("hiera_array('l')", "[1, 2]"),
        ("hiera_array('a')", "[node, common]"),
        ("hiera_hash('h.x')", "1"),
        ("lookup('b')", "node"),
        ("hiera('nokey', 'd')", "d"),
    ] {
        let code = format!("notify {{ 'a': message => \"${{{expression}}}\" }}");
        assert_eq!(message(CONFIGURATION, &code), expected, "{expression}");
    }
}

#[test]
fn the_hierarchy_sees_who_asks() {
    let code =
        "include m include m::inner notify { 'a': message => \"${m::p} ${m::who} ${m::r} ${m::inner::r}\" }";
    assert_eq!(message(CONFIGURATION, code), "from-data m m module inner");
}

#[test]
fn a_backend_that_is_not_here_is_passed_over() {
    let with_backend = CONFIGURATION.replace("  - yaml\n", "  - http\n  - yaml\n");
    let code = "notify { 'a': message => \"${lookup('a')} ${lookup('nokey', default_value => 'd')}\" }";
    assert_eq!(message(&with_backend, code), "node d");
    let compilation = compiled(&with_backend, "notify { 'a': message => lookup('nokey') }");
    let said: Vec<&str> = compilation.log.iter().map(|entry| entry.message.as_str()).collect();
    assert!(
        said.iter().any(|said| said.starts_with("No data was read from the hiera3_backend 'http'")),
        "{said:?}"
    );
    assert!(unknown_message(&compilation), "{:?}", compilation.failures);
}

#[test]
fn levels_of_a_call_are_not_known() {
    let code = "notify { 'a': message => hiera('r', 'd', 'role/m-m') }";
    assert!(unknown_message(&compiled(CONFIGURATION, code)));
}

/// Whether the message of the notification `a` is not known.
fn unknown_message(compilation: &Compilation) -> bool {
    let catalog = compilation.catalog.as_ref();
    let mut resources = catalog.iter().flat_map(|catalog| catalog.iter());
    let message = resources.find(|(_, one)| &*one.title == "a").and_then(|(_, one)| one.get("message"));
    message.is_some_and(|message| message.unknown_part().is_some())
}

#[test]
fn what_puppet_refuses_is_refused() {
    let (twice, expected) =
        ("---\n:backends: [yaml, yaml]\n:hierarchy: common\n", "Backend 'yaml' is defined more than once.");
    let sideways = CONFIGURATION.replace("deeper", "sideways");
    for (configuration, expected) in [(sideways.as_str(), "merge_behavior"), (twice, expected)] {
        let compilation = compiled(configuration, "notice(lookup('a'))");
        let said = compilation.failures.first().map(|failure| failure.kind.message()).unwrap_or_default();
        assert!(said.contains(expected), "{said}");
    }
    let compilation = compiled(CONFIGURATION, "notice(hiera_hash('a'))");
    let said = compilation.failures.first().map(|failure| failure.kind.message()).unwrap_or_default();
    assert!(said.contains("value has wrong type, expects a Hash value, got String"), "{said}");
}
