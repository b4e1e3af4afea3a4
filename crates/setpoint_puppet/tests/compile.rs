//! What the compiler promises beside the catalogs that the suite compares with Puppet's: provenance, diagnostics, several
//! nodes at once, and an end to everything.

#![allow(clippy::panic, reason = "a test may fail anywhere")]

use std::path::PathBuf;

use setpoint_catalog::{Catalog, Resource};
use setpoint_provenance::{LeafKind, Prov};
use setpoint_puppet::{Compilation, Entry, Environment, FailureKind, Options, PuppetVersion, compile};
use setpoint_puppet_values::{Hash, Key, Value};
use setpoint_source::{MemoryFileSystem, Sources, Symbol};

struct World {
    files: MemoryFileSystem,
    sources: Sources,
}

impl World {
    fn new(manifest: &str) -> Self {
        let mut files = MemoryFileSystem::new();
        files.add("main.pp", manifest);
        Self { files, sources: Sources::new() }
    }

    fn compile(&self, options: &Options) -> Compilation {
        let environment =
            Environment::new(&self.files, &self.sources).with_modulepath(vec!["modules".into()]);
        compile(&environment, &Entry::Files(vec![PathBuf::from("main.pp")]), options)
    }

    /// What a value depends on: the texts of literals, and the names of facts.
    fn depends(&self, compilation: &Compilation, prov: Prov) -> Vec<String> {
        let leaves = compilation.arena.depends(prov);
        let mut texts: Vec<String> = leaves
            .iter()
            .filter_map(|leaf| match (leaf.kind, leaf.name, leaf.span) {
                (LeafKind::Literal, _, Some(span)) => {
                    Some(self.sources.file(span.file).slice(span.range).to_owned())
                }
                (kind, Some(name), _) => Some(format!("{}:{name}", kind.as_str())),
                _ => None,
            })
            .collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// Where a value was copied from.
    fn origin(&self, compilation: &Compilation, prov: Prov) -> Option<String> {
        let leaf = compilation.arena.origin(prov)?;
        match (leaf.kind, leaf.span) {
            (LeafKind::Literal, Some(span)) => {
                Some(self.sources.file(span.file).slice(span.range).to_owned())
            }
            (kind, _) => Some(format!("{}:{}", kind.as_str(), leaf.name.map_or("", Symbol::as_str))),
        }
    }
}

fn facts() -> Hash {
    let os: Hash = [(Key::from("family"), Value::from("Debian"))].into_iter().collect();
    [(Key::from("os"), Value::hash(os)), (Key::from("role"), Value::from("web"))].into_iter().collect()
}

fn options() -> Options {
    Options { facts: facts(), node: "node1.example.com".to_owned(), ..Options::default() }
}

fn catalog(compilation: &Compilation) -> &Catalog {
    let messages: Vec<&str> = compilation.diagnostics.iter().map(|found| found.message.as_str()).collect();
    compilation.catalog.as_ref().unwrap_or_else(|| panic!("no catalog: {messages:?}"))
}

fn resource<'a>(compilation: &'a Compilation, type_name: &str, title: &str) -> &'a Resource {
    let catalog = catalog(compilation);
    let id = catalog.find(Symbol::new(type_name), title).unwrap_or_else(|| panic!("no {type_name}[{title}]"));
    &catalog[id]
}

fn parameter(compilation: &Compilation, type_name: &str, title: &str, name: &str) -> Prov {
    let value = resource(compilation, type_name, title).get(name);
    value.unwrap_or_else(|| panic!("no {name} on {type_name}[{title}]")).prov
}

#[test]
fn a_literal_and_a_fact_are_the_origins_of_what_was_copied_from_them() {
    let world = World::new(
        "$family = $facts['os']['family']\n$mode = '0644'\nfile { '/a': mode => $mode, owner => $family, group => \"x${role}\" }",
    );
    let compilation = world.compile(&options());
    let prov = |name| parameter(&compilation, "File", "/a", name);
    assert_eq!(world.origin(&compilation, prov("mode")).as_deref(), Some("'0644'"));
    assert_eq!(world.origin(&compilation, prov("owner")).as_deref(), Some("fact:os.family"));
    assert_eq!(world.origin(&compilation, prov("group")), None);
    assert!(world.depends(&compilation, prov("group")).contains(&"fact:role".to_owned()));
}

#[test]
fn conditions_reach_what_stands_under_them() {
    let world = World::new(
        "if $facts['os']['family'] == 'Debian' { $x = 1 notify { 'a': message => 'm' } include c }\nclass c { notify { 'b': message => $role } }\nnotify { 'd': message => $x }",
    );
    let compilation = world.compile(&options());
    let family = "fact:os.family".to_owned();
    for (title, name) in [("a", "message"), ("d", "message")] {
        let prov = parameter(&compilation, "Notify", title, name);
        assert!(world.depends(&compilation, prov).contains(&family), "{title}.{name}");
    }
    for (type_name, title) in [("Notify", "a"), ("Class", "C"), ("Notify", "b")] {
        let prov = resource(&compilation, type_name, title).prov;
        assert!(world.depends(&compilation, prov).contains(&family), "{type_name}[{title}]");
    }
    let untouched = resource(&compilation, "Notify", "d").prov;
    assert!(!world.depends(&compilation, untouched).contains(&family));
}

#[test]
fn selectors_cases_lambdas_and_functions_pass_on_what_they_read() {
    let world = World::new(
        "function f($v) { \"<${v}>\" }\n$s = $role ? { 'web' => 's', default => 't' }\n$c = case $role { 'web': { 'c' } default: { 'd' } }\nnotify { 's': message => $s }\nnotify { 'c': message => $c }\nnotify { 'f': message => f($role) }\n[$role].each |$r| { notify { \"e-${r}\": message => $r } }",
    );
    let compilation = world.compile(&options());
    for title in ["s", "c", "f", "e-web"] {
        let prov = parameter(&compilation, "Notify", title, "message");
        assert!(world.depends(&compilation, prov).contains(&"fact:role".to_owned()), "{title}");
    }
    let each = resource(&compilation, "Notify", "e-web").prov;
    assert!(world.depends(&compilation, each).contains(&"fact:role".to_owned()));
}

#[test]
fn definitions_defaults_collectors_and_arrows_keep_their_causes() {
    let world = World::new(
        "File { owner => $role }\ndefine d($m) { file { \"/${title}\": mode => $m } }\nd { 'x': m => '0600' }\n@notify { 'v': message => 'm' }\nNotify <| title == 'v' |> { message => $role }\nif $role == 'web' { Notify['v'] -> File['/x'] }",
    );
    let compilation = world.compile(&options());
    let role = "fact:role".to_owned();
    let mode = parameter(&compilation, "File", "/x", "mode");
    assert_eq!(world.origin(&compilation, mode).as_deref(), Some("'0600'"));
    assert!(world.depends(&compilation, parameter(&compilation, "File", "/x", "owner")).contains(&role));
    let message = parameter(&compilation, "Notify", "v", "message");
    assert!(world.depends(&compilation, message).contains(&role));
    assert!(world.depends(&compilation, message).contains(&"'v'".to_owned()));
    let before = parameter(&compilation, "Notify", "v", "before");
    assert!(world.depends(&compilation, before).contains(&role));
    let file = resource(&compilation, "File", "/x").prov;
    assert!(world.depends(&compilation, file).contains(&"'x'".to_owned()));
}

#[test]
fn branches_that_were_not_taken_are_noted() {
    let world = World::new("if $role == 'db' { notify { 'a': } } else { notify { 'b': } }");
    let compilation = world.compile(&options());
    let [guard] = compilation.guards.as_slice() else { panic!("{:?}", compilation.guards) };
    let skipped = world.sources.file(guard.skipped.file);
    assert_eq!(skipped.slice(guard.skipped.range), "notify { 'a': }");
    assert!(world.depends(&compilation, guard.condition).contains(&"fact:role".to_owned()));
}

#[test]
fn without_provenance_the_catalog_is_the_same() {
    let text = "class c($a = 'x') { notify { \"n-${a}\": message => $facts['role'] } }\ninclude c\nNotify <| |> { tag => 't' }";
    let world = World::new(text);
    let with = world.compile(&options());
    let without = world.compile(&Options { provenance: false, ..options() });
    assert!(without.arena.is_empty() && !with.arena.is_empty());
    let json = |compilation: &Compilation| setpoint_catalog::write::json(catalog(compilation));
    assert_eq!(json(&with), json(&without));
}

#[test]
fn nodes_are_compiled_in_parallel_over_one_environment() {
    let mut world = World::new("node /^web/ { include web }\nnode default { notify { $facts['name']: } }");
    world.files.add("modules/web/manifests/init.pp", "class web { notify { \"web on ${facts['name']}\": } }");
    let environment = Environment::new(&world.files, &world.sources).with_modulepath(vec!["modules".into()]);
    let entry = Entry::Files(vec![PathBuf::from("main.pp")]);
    let titles: Vec<String> = std::thread::scope(|scope| {
        let compilations: Vec<_> = (0..8)
            .map(|number| {
                let (environment, entry) = (&environment, &entry);
                scope.spawn(move || {
                    let node = format!("{}{number}", if number % 2 == 0 { "web" } else { "db" });
                    let facts = [(Key::from("name"), Value::from(node.as_str()))].into_iter().collect();
                    let compilation =
                        compile(environment, entry, &Options { node, facts, ..Options::default() });
                    let catalog = catalog(&compilation);
                    catalog.resources().last().map(|last| last.title.to_string())
                })
            })
            .collect();
        compilations.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect()
    });
    assert_eq!(
        titles,
        ["web on web0", "db1", "web on web2", "db3", "web on web4", "db5", "web on web6", "db7"]
    );
}

#[test]
fn all_wrong_parameters_and_references_are_reported() {
    let world = World::new(
        "file { '/a': contents => 'x', require => Package['p'] }\nservice { 's': enabled => true, notify => Exec['e'] }",
    );
    let compilation = world.compile(&options());
    assert!(compilation.catalog.is_none());
    let found: Vec<(&str, &str)> = compilation
        .diagnostics
        .iter()
        .map(|diagnostic| (diagnostic.rule.name(), diagnostic.message.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("unknown-parameter", "no parameter named 'contents' on File[/a]"),
            ("unknown-parameter", "no parameter named 'enabled' on Service[s]"),
            ("dangling-reference", "Could not find resource 'Package[p]' in parameter 'require'"),
            ("dangling-reference", "Could not find resource 'Exec[e]' in parameter 'notify'"),
        ]
    );
    assert_eq!(compilation.diagnostics[0].helps, ["Did you mean 'content'?"]);
}

#[test]
fn failures_are_data() {
    let failure = |text: &str| {
        let compilation = World::new(text).compile(&options());
        assert!(compilation.catalog.is_none(), "{text}");
        assert_eq!(compilation.failures.len(), compilation.diagnostics.len(), "{text}");
        compilation.failures.into_iter().next_back().unwrap()
    };
    let forgets = failure("define d($x) { }\nclass a {\n  d { 't': }\n}\ninclude a");
    let FailureKind::MissingParameter { of, parameters, .. } = &forgets.kind else { panic!("{forgets:?}") };
    assert_eq!((of.to_string().as_str(), parameters.as_slice()), ("D[t]", &["x".into()][..]));
    assert!(!of.is_class("a") && forgets.span.is_some(), "{forgets:?}");

    let needs = failure("class a::b($x) { }\ninclude a::b");
    assert!(needs.kind.lacks_parameter().is_some_and(|of| of.is_class("a::b")), "{needs:?}");
    let needs = failure("class a($x, $y = $x) { }\ninclude a");
    assert!(needs.kind.lacks_parameter().is_some_and(|of| of.is_class("a")), "{needs:?}");

    for text in ["The answer could not be computed", "expects a value for parameter x", "Class a is private"]
    {
        let called = failure(&format!("fail('{text}')"));
        assert_eq!(called.kind, FailureKind::FailCalled(text.to_owned()));
        assert!(!called.kind.is_limit_of_setpoint());
    }
    assert_eq!(failure("include nosuch::thing").kind.missing_module(), Some("nosuch"));
    assert_eq!(failure("file_line { 'a': }").kind.missing_module(), Some("stdlib"));
    assert_eq!(failure("$x = epp('nosuch/a.epp')").kind.missing_module(), Some("nosuch"));
    assert!(failure("if generate('/bin/true') == 'x' { notify { 'a': } }").kind.is_limit_of_setpoint());
}

#[test]
fn what_has_no_end_ends_in_an_error() {
    for text in [
        "function f($n) { f($n + 1) }\nf(1)",
        "define d() { d { \"${title}x\": } }\nd { 'a': }",
        "class a inherits b { }\nclass b inherits a { }\ninclude a",
        "class a inherits a { }\ninclude a",
        "$f = 1\nfunction g($x) { [1].map |$y| { g($x) } }\ng(1)",
    ] {
        let world = World::new(text);
        let compilation = world.compile(&options());
        let rules: Vec<&str> = compilation.diagnostics.iter().map(|found| found.rule.name()).collect();
        assert_eq!(rules, ["endless-evaluation"], "{text}");
    }
}

#[test]
fn the_version_decides_about_unknown_variables() {
    let world = World::new("notify { \"x${nope}\": }");
    let seven = world.compile(&Options { puppet: PuppetVersion::V7, ..options() });
    assert_eq!(catalog(&seven).resources().last().map(|last| last.title.to_string()).as_deref(), Some("x"));
    assert_eq!(seven.log.len(), 1);
    let eight = world.compile(&options());
    assert_eq!(eight.diagnostics[0].rule.name(), "unknown-variable");
}

#[test]
fn the_file_of_a_module_counts_and_not_what_is_known_by_its_name() {
    let mut world = World::new("notify { 'a': message => [deep_merge(1), stdlib::to_json(2)] }\n");
    let code = |name: &str| {
        format!(
            "Puppet::Functions.create_function(:'{name}') do\n  dispatch(:go) {{ param 'Any', :x }}\n  \
             def go(x)\n    \"my own #{{x}}\"\n  end\nend\n"
        )
    };
    for name in ["deep_merge", "stdlib::to_json"] {
        let path = format!("modules/stdlib/lib/puppet/functions/{}.rb", name.replace("::", "/"));
        world.files.add(path, code(name));
    }
    let compilation = world.compile(&Options::default());
    let Some(catalog) = &compilation.catalog else { panic!("{:?}", compilation.diagnostics) };
    let resource = catalog.resources().iter().find(|resource| &*resource.title == "a");
    let message = resource.and_then(|resource| resource.get("message")).map(setpoint_puppet_values::to_text);
    assert_eq!(message.as_deref(), Some("[my own 1, my own 2]"));
    // A function without a file of a module does not exist.
    let without = World::new("notify { 'a': message => stdlib::sha256('x') }");
    assert!(without.compile(&Options::default()).catalog.is_none());
}
