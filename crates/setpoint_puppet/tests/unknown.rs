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

/// Compiles code after a hole: `if $u == 'a' { notify { 'hole': } }` cannot be decided.
fn compile_after_hole(code: &str) -> Compilation {
    compile_with_unknown(&format!("if $u == 'a' {{ notify {{ 'hole': }} $s = 1 }}\n{code}"))
}

/// The messages of failures, and those of the other findings.
fn told(compilation: &Compilation) -> (Vec<String>, Vec<String>) {
    let failures: Vec<String> = compilation.failures.iter().map(|failure| failure.kind.message()).collect();
    let others = compilation.diagnostics.iter().map(|found| found.message.clone());
    let others = others.filter(|message| !failures.contains(message)).collect();
    (failures, others)
}

/// What stands after something that cannot be computed is looked at all the same, and there is no catalog.
#[test]
fn code_after_a_hole_is_entered() {
    for code in [
        "include m",
        "class { 'm': }",
        "m::d { 'x': } include m",
        "if true { if $u == 'b' { notify { 'b': } } include m }",
        "[1].each |$x| { if $u == 'b' { notify { 'b': } } include m }",
        "include $u include m",
        "notify { $u: } include m",
    ] {
        let compilation = compile_after_hole(code);
        assert!(compilation.catalog.is_none(), "{code}");
        assert!(compilation.entered.iter().any(|name| name.as_str() == "m"), "{code}");
        assert!(compilation.failures.iter().all(|one| one.kind.is_limit_of_setpoint()), "{code}");
    }
}

/// A mistake after a hole is told, and refutes nothing: the code that was passed over may change it.
#[test]
fn a_mistake_after_a_hole_is_probable() {
    for (code, message) in [
        ("fail('no')", "no"),
        ("class { 'm': p => 1 }", "Class[M]: parameter 'p' expects a String value, got Integer"),
        ("file { '/a': nosuch => 1 }", "no parameter named 'nosuch'"),
        (
            "notify { 'twice': } notify { 'twice': }",
            "Duplicate declaration: Notify[twice] is already declared",
        ),
    ] {
        let compilation = compile_after_hole(code);
        let (failures, others) = told(&compilation);
        assert_eq!(failures.len(), 1, "{code}: {failures:?}");
        assert!(others.iter().any(|other| other.contains(message)), "{code}: {others:?}");
    }
}

/// What is not there may have been made by code that was passed over, and what only follows from a hole is not told again.
#[test]
fn absence_after_a_hole_is_unknown() {
    for code in [
        "if defined(Notify['hole']) { fail('no') } else { fail('no') }",
        "if defined(Class['m']) { fail('no') } else { fail('no') }",
        "if $m::p { fail('no') } else { fail('no') }",
        "if getvar('m::p') { fail('no') } else { fail('no') }",
        "notify { 'x': require => Notify['hole'] }",
        "Notify['hole'] -> Notify['rest']",
        "Notify['hole'] { message => 'x' }",
        "realize(Notify['hole'])",
        "$x = Notify['hole']['message']",
        "if $s == 1 { fail('no') } else { fail('no') }",
        "$s = 2",
        "notify { $s: }",
        "Notify[$s] -> Notify['rest']",
        "if $u == 'b' { return() } fail('no')",
        "node default { if $u == 'b' { return() } fail('no') }",
    ] {
        let compilation = compile_after_hole(code);
        let (failures, others) = told(&compilation);
        assert!(!failures.is_empty() && others.is_empty(), "{code}: {failures:?} {others:?}");
        assert!(compilation.failures.iter().all(|one| one.kind.is_limit_of_setpoint()), "{code}");
    }
}

/// A hash that is not known may give any parameter: the default does not stand for it.
#[test]
fn a_splat_that_is_not_known_leaves_no_default() {
    let compilation = compile_with_unknown("m::d { 'x': * => $u }");
    let catalog = compilation.catalog.as_ref().unwrap();
    let message =
        catalog.iter().find(|(_, one)| &*one.title == "d-x").and_then(|(_, one)| one.get("message"));
    assert!(message.is_some_and(|message| message.unknown_part().is_some()), "{message:?}");
    assert!(told(&compile_with_unknown("class { 'm': * => $u }")).0.is_empty());
}

/// What is made of a value that is not known is not known either: no mistake is seen in it.
#[test]
fn an_operation_on_an_unknown_value_is_no_mistake() {
    for code in [
        "[$a, $b] = $u notify { 'a': message => $a }",
        "[$a, [$b, $c]] = $u notify { 'a': message => \"${b}${c}\" }",
        "$x = -$u notify { 'a': message => $x }",
    ] {
        let compilation = compile_with_unknown(code);
        let catalog = compilation.catalog.as_ref().unwrap();
        let message =
            catalog.iter().find(|(_, one)| &*one.title == "a").and_then(|(_, one)| one.get("message"));
        assert!(message.is_some_and(|message| message.unknown_part().is_some()), "{code}: {message:?}");
    }
    for code in ["Notify[$u] { message => 'b' }", "Notify['rest', $u] { message => 'b' }"] {
        let compilation = compile_with_unknown(&format!("{code} include m"));
        assert!(compilation.failures.iter().all(|one| one.kind.is_limit_of_setpoint()), "{code}");
        assert!(compilation.entered.iter().any(|name| name.as_str() == "m"), "{code}");
    }
}
