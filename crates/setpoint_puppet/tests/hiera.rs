//! Data in a compilation: where values come from, what is not known, and what nodes share.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use setpoint_hiera::Levels;
use setpoint_provenance::{Leaf, LeafKind};
use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{MemoryFileSystem, Severity, Sources};

struct World {
    files: MemoryFileSystem,
    sources: Sources,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut memory = MemoryFileSystem::new();
        for (name, text) in files {
            memory.add(name, *text);
        }
        Self { files: memory, sources: Sources::new() }
    }

    fn environment(&self) -> Environment<'_> {
        Environment::new(&self.files, &self.sources)
            .with_modulepath(vec![PathBuf::from("modules")])
            .with_hiera(Levels { environment: Some(PathBuf::new()), ..Levels::default() })
    }

    fn compile(&self) -> Compilation {
        compile(
            &self.environment(),
            &Entry::Files(vec![PathBuf::from("main.pp")]),
            &options("node1.example.com"),
        )
    }

    fn place(&self, leaf: &Leaf) -> String {
        let name = leaf.name.map(|name| name.to_string()).unwrap_or_default();
        match leaf.span {
            Some(span) if leaf.kind == LeafKind::Absence => {
                format!("no {name} in {}", self.sources.file(span.file).path())
            }
            Some(span) => {
                let file = self.sources.file(span.file);
                format!(
                    "{} {name} at {}: {}",
                    leaf.kind.as_str(),
                    self.sources.place(span),
                    file.slice(span.range)
                )
            }
            None => format!("{} {name}", leaf.kind.as_str()),
        }
    }
}

fn options(node: &str) -> Options {
    let facts = [("role", "web")];
    Options {
        puppet: PuppetVersion::V8,
        node: node.to_owned(),
        facts: facts.into_iter().map(|(name, value)| (name.into(), Value::from(value))).collect(),
        ..Options::default()
    }
}

/// The parameter of `Notify[x]`.
fn message(compilation: &Compilation) -> Value {
    let catalog = compilation.catalog.as_ref().unwrap();
    let notify = catalog.resources().iter().find(|resource| resource.type_name.as_str() == "Notify").unwrap();
    notify.get("message").unwrap().clone()
}

const HIERA: &str = "version: 5\nhierarchy:\n  - name: Node\n    path: nodes/%{trusted.certname}.yaml\n  \
                     - name: Role\n    path: \"role/%{role}.yaml\"\n  - name: Common\n    path: common.yaml\n";

#[test]
fn a_value_knows_its_line_and_the_levels_that_were_passed_over() {
    let world = World::new(&[
        ("hiera.yaml", HIERA),
        ("data/role/web.yaml", "other: 1\n"),
        ("data/common.yaml", "motd: hello\n"),
        ("main.pp", "notify { 'x': message => lookup('motd') }"),
    ]);
    let compilation = world.compile();
    let value = message(&compilation);
    assert_eq!(value.as_str(), Some("hello"));
    let origin = compilation.arena.origin(value.prov).unwrap();
    assert_eq!(world.place(&origin), "hiera motd at data/common.yaml:1:7: hello");
    let depends: Vec<String> =
        compilation.arena.depends(value.prov).iter().map(|leaf| world.place(leaf)).collect();
    for wanted in ["absence data/nodes/node1.example.com.yaml", "no motd in data/role/web.yaml"] {
        assert!(depends.iter().any(|leaf| leaf == wanted), "{wanted} is not among {depends:?}");
    }
    assert!(depends.iter().any(|leaf| leaf.starts_with("fact role")), "{depends:?}");
}

#[test]
fn elements_have_places_of_their_own_and_a_merge_is_an_operation() {
    let world = World::new(&[
        ("hiera.yaml", HIERA),
        ("data/role/web.yaml", "h:\n  a: from role\n"),
        ("data/common.yaml", "h:\n  b: from common\nlookup_options:\n  h: {merge: hash}\n"),
        ("main.pp", "$h = lookup('h')\nnotify { 'x': message => $h['b'] }"),
    ]);
    let compilation = world.compile();
    let value = message(&compilation);
    let origin = compilation.arena.origin(value.prov).unwrap();
    assert_eq!(world.place(&origin), "hiera h at data/common.yaml:2:6: from common");
    let depends: Vec<String> =
        compilation.arena.depends(value.prov).iter().map(|leaf| world.place(leaf)).collect();
    assert!(depends.iter().any(|leaf| leaf.contains("data/role/web.yaml")), "{depends:?}");
}

#[test]
fn a_default_depends_on_what_the_data_lacks() {
    let world = World::new(&[
        ("hiera.yaml", HIERA),
        ("data/common.yaml", "other: 1\n"),
        ("modules/m/manifests/init.pp", "class m($p = 'default') { notify { 'x': message => $p } }"),
        ("main.pp", "include m"),
    ]);
    let compilation = world.compile();
    let value = message(&compilation);
    assert_eq!(value.as_str(), Some("default"));
    let depends: Vec<String> =
        compilation.arena.depends(value.prov).iter().map(|leaf| world.place(leaf)).collect();
    assert!(depends.iter().any(|leaf| leaf == "no m::p in data/common.yaml"), "{depends:?}");
}

#[test]
fn a_secret_without_a_key_is_not_known_and_the_rest_of_its_file_is() {
    let world = World::new(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n  - name: Secrets\n    lookup_key: eyaml_lookup_key\n    path: secrets.eyaml\n    \
             options:\n      pkcs7_private_key: /none/private.pem\n",
        ),
        (
            "data/secrets.eyaml",
            "password: ENC[PKCS7,AAAA]\nuser: \"admin of %{role}\"\nlist: [plain, 'ENC[PKCS7,AAAA]']\n",
        ),
        (
            "main.pp",
            "notice(lookup('user'))\n$list = lookup('list')\nnotice($list[0])\n\
             notify { 'x': message => lookup('password', String) }",
        ),
    ]);
    let compilation = world.compile();
    let value = message(&compilation);
    let Data::Opaque(opaque) = &value.data else { panic!("{value:?} is known") };
    assert!(
        opaque.reason.contains("the key 'password' is encrypted in data/secrets.eyaml"),
        "{}",
        opaque.reason
    );
    let said: Vec<&str> = compilation.log.iter().map(|entry| entry.message.as_str()).collect();
    assert!(said.contains(&"admin of web") && said.contains(&"plain"), "{said:?}");
    assert!(
        said.contains(&"The value of the key 'password' in data/secrets.eyaml is encrypted and not known: the private key \
                /none/private.pem is not there"),
        "{said:?}"
    );
}

#[test]
fn a_backend_that_cannot_be_run_gives_values_that_are_not_known() {
    let world = World::new(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n  - name: Known\n    path: common.yaml\n  - name: Vault\n    lookup_key: vault::find\n    \
             options:\n      confine_to_keys: ['^secret_.*']\n",
        ),
        ("data/common.yaml", "secret_known: known\n"),
        (
            "modules/vault/lib/puppet/functions/vault/find.rb",
            "Puppet::Functions.create_function(:'vault::find') do\n  def find(key, options, context)\n    `vault read #{key}`\n  \
             end\nend\n",
        ),
        (
            "main.pp",
            "notice(lookup('secret_known'))\nnotice(lookup('plain', undef, undef, 'default'))\n\
             notify { 'x': message => lookup('secret_a') }",
        ),
    ]);
    let compilation = world.compile();
    assert!(compilation.diagnostics.iter().all(|found| found.severity < Severity::Error));
    let Data::Opaque(opaque) = message(&compilation).data else { panic!("it is known") };
    assert!(opaque.reason.contains("the lookup_key function 'vault::find'"), "{}", opaque.reason);
    let said: Vec<&str> = compilation.log.iter().map(|entry| entry.message.as_str()).collect();
    assert!(said.contains(&"known") && said.contains(&"default"), "{said:?}");
}

#[test]
fn an_undefined_key_names_the_files() {
    let world = World::new(&[
        ("hiera.yaml", HIERA),
        ("data/common.yaml", "other: 1\n"),
        ("main.pp", "notice(lookup('nosuch'))"),
    ]);
    let compilation = world.compile();
    let error = &compilation.diagnostics[0];
    assert_eq!(error.message, "Function lookup() did not find a value for the name 'nosuch'");
    assert_eq!(
        error.notes,
        ["Searched: data/nodes/node1.example.com.yaml, data/role/web.yaml, data/common.yaml."]
    );
}

/// Nodes are compiled in parallel over one environment; each file is read and parsed once.
#[test]
fn nodes_share_the_files() {
    let mut files: Vec<(String, String)> = vec![
        ("hiera.yaml".into(), HIERA.into()),
        ("data/common.yaml".into(), "a: common\n".into()),
        ("main.pp".into(), "notify { 'x': message => lookup('a') }".into()),
    ];
    for node in 0..20 {
        files.push((format!("data/nodes/n{node}.yaml"), format!("a: own {node}\n")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let world = World::new(&files);
    let environment = world.environment();
    let found: Vec<String> = std::thread::scope(|scope| {
        let nodes: Vec<_> = (0..40)
            .map(|node| {
                let environment = &environment;
                scope.spawn(move || {
                    let entry = Entry::Files(vec![PathBuf::from("main.pp")]);
                    let compilation = compile(environment, &entry, &options(&format!("n{node}")));
                    message(&compilation).as_str().unwrap_or_default().to_owned()
                })
            })
            .collect();
        nodes.into_iter().map(|node| node.join().unwrap()).collect()
    });
    for (node, text) in found.iter().enumerate() {
        let wanted = if node < 20 { format!("own {node}") } else { "common".to_owned() };
        assert_eq!(*text, wanted);
    }
    let common = (0..200)
        .filter(|id| world.sources.file(setpoint_source::FileId(*id)).path() == "data/common.yaml")
        .count();
    assert_eq!(common, 1);
}
