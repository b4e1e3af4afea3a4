//! Functions of modules in Ruby, run by our interpreter, beside Puppet.
//!
//! Where a function is also known in Rust, its cases are answered once more from its file. Every file of a function in
//! Debian's modules is called with arguments of all kinds, and what comes out is compared with Puppet. A function may go
//! beyond what is known of Ruby, and is then named; it never gives another answer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use setpoint_oracle::{Mode, Outcome, Puppet, Request, agree, setpoint_with_ruby};
use setpoint_testing::{Case, Random, cases, files_below, puppet, repository, skip};

const MODULES: &str = "/usr/share/puppet/modules";
const BEYOND: &str = "goes beyond what is known of Ruby here: ";
/// How often each function is called. `SETPOINT_RUBY_CALLS` says another number.
const CALLS: usize = 6;

/// Why a function was not run to its end, if so.
fn beyond(outcome: &Outcome) -> Option<String> {
    let message = outcome.messages.iter().find(|message| message.text.contains(BEYOND))?;
    let (_, reason) = message.text.split_once(BEYOND)?;
    Some(reason.split(", and is not known").next().unwrap_or(reason).to_owned())
}

/// An error that comes of a value that is not known.
fn is_unknown(outcome: &Outcome) -> bool {
    outcome.errors.iter().any(|error| error.text.contains("not known"))
}

#[test]
fn cases_of_known_functions_are_answered_from_their_files() {
    if !Path::new(MODULES).is_dir() {
        skip("functions of modules from their files", "Debian's modules are not installed");
        return;
    }
    let folder = repository().join("crates/setpoint/tests/puppet");
    let mut problems = String::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let (mut asked, mut answered) = (0, 0);
    for path in cases(&folder) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let case = Case::parse(&text);
        let filter = std::env::var("SETPOINT_RUBY_CASES").unwrap_or_default();
        let own = case.inputs.iter().any(|input| input.name.contains("lib/puppet/"));
        let is_chosen = own || case.option("modules").is_some() || !filter.is_empty();
        if !is_chosen || !path.display().to_string().contains(&filter) {
            continue;
        }
        for mode in Mode::ALL {
            let (Some(stored), Ok(request)) = (mode.stored(&case), Request::of(&case, mode)) else {
                continue;
            };
            let outcome = setpoint_with_ruby(&request);
            asked += 1;
            if let Some(reason) = beyond(&outcome) {
                if own {
                    let _ = writeln!(problems, "{}: {reason}", path.display());
                }
                *reasons.entry(reason).or_default() += 1;
                continue;
            }
            answered += 1;
            let difference = agree(stored, &outcome);
            if !difference.is_empty() {
                let _ = writeln!(problems, "{} {mode:?}\n{difference}", path.display());
            }
        }
    }
    for (reason, count) in &reasons {
        println!("{count:4} {reason}");
    }
    println!("{answered} of {asked} answers came from the files");
    assert!(problems.is_empty(), "{problems}");
}

/// A function of a module in Ruby.
struct Function {
    module: String,
    name: String,
}

/// Every function file of the installed modules.
fn functions() -> Vec<Function> {
    let mut found = Vec::new();
    let Ok(modules) = std::fs::read_dir(MODULES) else { return found };
    let mut modules: Vec<String> =
        modules.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    modules.sort();
    for module in modules {
        for folder in ["lib/puppet/functions", "lib/puppet/parser/functions"] {
            let root = Path::new(MODULES).join(&module).join(folder);
            for path in files_below(&root) {
                let relative = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
                let name = relative.to_string_lossy().replace('/', "::");
                if path.extension().is_some_and(|extension| extension == "rb") {
                    found.push(Function { module: module.clone(), name });
                }
            }
        }
    }
    found
}

/// Values of all kinds, as they are written in a manifest.
const VALUES: &[&str] = &[
    "'abc'",
    "''",
    "'  Mixed Case '",
    "'a,b,c'",
    "'12'",
    "'3.7'",
    "'true'",
    "'10.0.0.1'",
    "'10.0.0.0/8'",
    "'::1'",
    "'/etc/hosts'",
    "'host.example.com'",
    "'http://example.com/a/b.tar.gz'",
    "'a.b.c'",
    "0",
    "1",
    "42",
    "-7",
    "2.5",
    "true",
    "false",
    "undef",
    "[]",
    "['a', 'b', 'c']",
    "[3, 1, 2]",
    "['b', 'a', 'b', undef]",
    "[1, [2, [3]]]",
    "['1', 'two', 3.0]",
    "[['a', 1], ['b', 2]]",
    "{}",
    "{'a' => 1, 'b' => 2}",
    "{'a' => {'b' => {'c' => 'deep'}}}",
    "{'k' => [1, 2], 'n' => undef}",
    "'{\"a\": [1, 2]}'",
    "'^a.*$'",
    "'present'",
    "'file'",
    "'1K'",
    "'md5'",
    "'decode'",
];

fn arguments(random: &mut Random, count: usize) -> String {
    let pick = |random: &mut Random| VALUES[random.below(VALUES.len())].to_owned();
    (0..count).map(|_| pick(random)).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_function_of_the_installed_modules_answers_as_puppet_does() {
    if !puppet() || !Path::new(MODULES).is_dir() {
        skip("functions of Debian's modules in Ruby", "Puppet or its modules are not installed");
        return;
    }
    let Ok(mut oracle) = Puppet::start() else { panic!("Puppet does not start") };
    let calls = std::env::var("SETPOINT_RUBY_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(CALLS);
    let only = std::env::var("SETPOINT_RUBY_FUNCTION").unwrap_or_default();
    let mut problems = String::new();
    let mut ends: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    for (seed, function) in (0..).zip(functions()) {
        let Function { module, name } = &function;
        // A word that no call can begin with.
        if name == "private" || !only.is_empty() && *name != only {
            continue;
        }
        let mut random = Random::new(seed);
        let entry = ends.entry(format!("{module} {name}")).or_default();
        for at in 0..calls {
            let call = format!("{name}({})", arguments(&mut random, 1 + at % 3));
            let manifest = format!("notify {{ 'x': message => {call} }}\n");
            let mut request = Request::manifest(&manifest, Mode::Seven);
            request.modules = vec![module.clone(), "stdlib".to_owned()];
            request.modules.dedup();
            let ours = setpoint_with_ruby(&request);
            entry.0 += 1;
            if let Some(reason) = beyond(&ours) {
                entry.2 = reason;
                continue;
            }
            if is_unknown(&ours) {
                continue;
            }
            entry.1 += 1;
            let Ok(wanted) = oracle.ask(&request) else { panic!("Puppet does not answer {call}") };
            // A line of the JSON library's own source.
            let wanted = wanted.render().replace("859: unexpected", "unexpected");
            // Puppet itself does not find the libraries of modules here, and its log of variables that are not there is not ours.
            if wanted.contains("LoadError") {
                continue;
            }
            let mut wanted: Vec<&str> = wanted.lines().collect();
            while let Some(at) =
                wanted.iter().position(|line| line.starts_with("warning: Undefined variable"))
            {
                wanted.drain(at..(at + 2).min(wanted.len()));
            }
            let difference = agree(&wanted.join("\n"), &ours);
            if !difference.is_empty() {
                let _ = writeln!(problems, "{module}: {call}\n{difference}");
            }
        }
    }
    let run = ends.values().filter(|(_, answered, _)| *answered > 0).count();
    for (name, (asked, answered, reason)) in &ends {
        if answered < asked {
            println!("{name}: {answered} of {asked}; {reason}");
        }
    }
    println!("{run} of {} functions were run from their files", ends.len());
    assert!(problems.is_empty(), "{problems}");
}
