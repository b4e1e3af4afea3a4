//! Values that could not be computed: what only computes with one goes on with an unknown value, and the rest of the catalog
//! stands; what decides about resources by one stops, as a limit of Setpoint and not as an error of the manifest.

#![allow(clippy::panic, reason = "a test may fail anywhere")]

use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, compile};
use setpoint_source::{MemoryFileSystem, Sources};

/// `$u` is not known, and may be anything that a command prints.
fn compile_with_unknown(code: &str) -> Compilation {
    let mut files = MemoryFileSystem::new();
    let function = "function m::pure($x) { if $x { return(1) } 2 }\n";
    files.add("modules/m/functions/pure.pp", function);
    files
        .add("modules/m/functions/text.pp", "function m::text($x) >> String { if $x { return('a') } 'b' }\n");
    files.add("modules/m/templates/a.epp", "<% if $u { %>a<% } else { %>b<% } %>\n");
    files.add(
        "modules/m/manifests/d.pp",
        "define m::d($p = undef) { notify { \"d-${title}\": message => $p } }\n",
    );
    files.add("modules/m/manifests/init.pp", "class m(String $p = 'a') { notify { 'm': message => $p } }\n");
    let sources = Sources::new();
    let environment = Environment::new(&files, &sources).with_modulepath(vec!["modules".into()]);
    let text = format!("$u = generate('/bin/hostname')\n{code}\nnotify {{ 'rest': }}\n");
    let options = Options { puppet: PuppetVersion::V7, ..Options::default() };
    compile(&environment, &Entry::Code { name: "main.pp".to_owned(), text }, &options)
}

fn titles(compilation: &Compilation) -> Vec<String> {
    let catalog = compilation.catalog.iter();
    catalog
        .flat_map(|catalog| catalog.resources().iter().map(setpoint_catalog::Resource::reference))
        .collect()
}

/// Only values are computed: the catalog stands.
const STAND: &[&str] = &[
    "$x = if $u { 1 } else { 2 }",
    "$x = unless $u { 1 } else { 2 }",
    "if $u =~ Integer { $x = 1 } else { $x = 2 } notify { 'a': message => $x }",
    "$x = case $u { 'a': { 1 } default: { 2 } }",
    "case $u { 'a': { $x = 1 } 'b': { $x = 2 } default: { $x = 3 } } notify { 'a': message => $x }",
    "$x = $u ? { 'a' => 1, default => 2 }",
    "$x = $u ? { Integer => 1, String => 2 }",
    "$x = !($u == 'a')",
    "$x = ($u == 'a') and true",
    "$x = ($u == 'a') or ($u == 'b')",
    "$x = $u == 'a' and $u != 'b' or $u == 'c'",
    "$x = if $u == 'a' and $facts['nosuch'] { 1 }",
    "$x = if ($u == 'a') { if ($u == 'b') { 1 } else { 2 } } else { 3 }",
    "$x = if $u == 'a' { upcase('b') } else { downcase('C') }",
    "$x = [1, 2].map |$y| { if $u == $y { 1 } else { 2 } }",
    "$x = if $u == 'a' { fail('no') } else { 1 }",
    "if $u == 'a' { notice('a') }",
    "if $u == 'a' { fail('no') }",
    "$x = \"${if $u == 'a' { 'b' } else { 'c' }}\"",
    "$x = $u ? { 'a' => [1], default => [] } + [2]",
    "$x = m::pure($u == 'a')",
    "$x = m::text($u == 'a') notify { 'a': message => $x }",
    "notify { 'a': message => if $u == 'a' { 'b' } else { 'c' } }",
    "notify { 'a': message => $u ? { 'a' => 'b', default => 'c' } }",
    "notify { 'a': * => { message => $u } }",
    "notify { 'a': message => \"is ${u}\" }",
    "notify { 'a': message => [$u, { 'b' => $u }] }",
    "notify { 'a': message => inline_epp('<% if $x { %>a<% } else { %>b<% } %>', { x => $u == 'a' }) }",
    "m::d { 'a': p => $u }",
    "m::d { 'a': p => ($u == 'a') ? { true => 1, default => 2 } }",
    "class { 'm': p => \"a${u}\" }",
    "$x = split($u, ',')",
    "$x = join([$u, 'a'], ',')",
    "$x = length($u)",
    "$x = $u[0]",
    "$x = { 'a' => 1 }[$u]",
    "$x = [$u, 1].unique",
    "$x = versioncmp($u, '1') > 0",
    "$x = if versioncmp($u, '1') > 0 { 'new' } else { 'old' }",
    "$x = $u =~ /a/",
    "$x = if $u =~ /a(.)/ { $1 } else { 'none' }",
    "$x = $u in ['a', 'b']",
    "$x = 'a' in $u",
];

/// Resources hang on the value.
const STOP: &[&str] = &[
    "if $u == 'a' { notify { 'a': } }",
    "unless $u == 'a' { notify { 'a': } }",
    "if $u == 'a' { include m }",
    "case $u { 'a': { notify { 'a': } } default: { } }",
    "if $u == 'a' { Notify <| |> }",
    "if $u == 'a' { create_resources('notify', { 'a' => {} }) }",
    "if $u == 'a' { Notify { message => 'b' } }",
    "if $u == 'a' { m::d { 'a': } }",
    "if $u == 'a' { Notify['rest'] -> Notify['rest2'] }",
    "$x = $u ? { 'a' => include('m'), default => 1 }",
    "notify { $u: }",
    "include $u",
    "Notify <| title == $u |>",
    "$y = if $u == 'a' { 'b' } else { 'c' } if $y == 'b' { notify { 'a': } }",
    "$y = !($u == 'a') if $y { notify { 'a': } }",
    "realize(Notify[$u])",
    "if $u == 'a' { realize(Notify['rest']) }",
];

#[test]
fn values_stay_unknown_and_the_rest_stands() {
    let mut wrong = Vec::new();
    for code in STAND {
        let compilation = compile_with_unknown(code);
        let is_there = titles(&compilation).iter().any(|title| title == "Notify[rest]");
        if !is_there {
            let messages: Vec<&str> =
                compilation.diagnostics.iter().map(|found| found.message.as_str()).collect();
            wrong.push(format!("{code}: {messages:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn decisions_about_resources_stop_as_a_limit() {
    let mut wrong = Vec::new();
    for code in STOP {
        let compilation = compile_with_unknown(code);
        let is_limit = !compilation.failures.is_empty()
            && compilation.failures.iter().all(|failure| failure.kind.is_limit_of_setpoint());
        if compilation.catalog.is_some() || !is_limit {
            let messages: Vec<&str> =
                compilation.diagnostics.iter().map(|found| found.message.as_str()).collect();
            wrong.push(format!("{code}: {messages:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A branch that was passed over may fail, and the compilation says so.
#[test]
fn branches_that_were_passed_over_are_gaps() {
    for code in [
        "$x = if $u == 'a' { 1 } else { 2 }",
        "case $u { 'a': { $x = 1 } default: { $x = 3 } }",
        "$x = $u ? { 'a' => 1, default => 2 }",
        "if $u == 'a' { fail('no') }",
        "$x = m::pure($u == 'a')",
    ] {
        assert!(!compile_with_unknown(code).gaps.is_empty(), "{code}");
    }
}

/// A known operand decides whatever the other one is.
#[test]
fn a_known_operand_decides() {
    for (code, expected) in [
        ("if $u == 'a' and false { notify { 'a': } }", false),
        ("if $u == 'a' or true { notify { 'a': } }", true),
        ("if false and $u { notify { 'a': } }", false),
        ("if true or $u { notify { 'a': } }", true),
        ("unless ($u == 'a') and false { notify { 'a': } }", true),
    ] {
        let compilation = compile_with_unknown(code);
        let all = titles(&compilation);
        assert!(all.iter().any(|title| title == "Notify[rest]"), "{code}");
        assert_eq!(all.iter().any(|title| title == "Notify[a]"), expected, "{code}");
    }
}
