//! Properties: agreement with an independent evaluator, unique identifiers (theorem 2), and termination (theorem 1).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod generate;
mod naive;
mod production;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use generate::Guided;
use setpoint_smartfrog::store::{Store, Value};
use setpoint_smartfrog::{Compiled, Options, Semantics, compile_text, impact, output};
use setpoint_source::{MemoryFileSystem, Sources};
use setpoint_testing::Random;

const SEMANTICS: [Semantics; 3] = [Semantics::Core, Semantics::Forward, Semantics::Production];

fn compiled(text: &str, semantics: Semantics) -> Compiled {
    let options = Options { semantics, ..Options::default() };
    compile_text(Path::new("x.sf"), text.to_owned(), &MemoryFileSystem::new(), &Sources::new(), &options)
}

/// `OK json`, or the number of the error.
fn answer(text: &str, semantics: Semantics) -> String {
    let compiled = compiled(text, semantics);
    if let Some(store) = &compiled.store {
        assert_unique(store);
        return format!("OK {}", output::json(store));
    }
    let message = &compiled.diagnostics.first().unwrap().message;
    message.split(':').next().unwrap_or("").to_owned()
}

fn expected(result: naive::Eval<naive::Store>) -> String {
    match result {
        Ok(store) => {
            let mut json = String::from("OK ");
            naive::json(&store, &mut json);
            json
        }
        Err(number) => format!("err{number}"),
    }
}

/// Theorem 2, for a store and all stores in it.
fn assert_unique(store: &Store) {
    let mut names: Vec<_> = store.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "an identifier occurs twice");
    for entry in store.iter() {
        if let Value::Store(inner) = &entry.value {
            assert_unique(inner);
        }
    }
}

#[test]
fn twenty_thousand_specifications_mean_what_the_definitions_say() {
    let mut valid = 0;
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let (assignments, guided) = Guided::new(&mut random, 1).specification();
        let text = generate::text(&assignments);
        valid += usize::from(guided.is_ok());
        if seed % 5 == 0 {
            // The generator applied the definitions piece by piece; now they are applied to the whole.
            let whole = naive::specification(&assignments);
            assert_eq!(guided, whole, "seed {seed}: the generator and the definitions disagree\n{text}");
        }
        assert_eq!(answer(&text, Semantics::Core), expected(guided), "seed {seed}\n{text}");
    }
    assert!(valid > 12_000, "only {valid} specifications were valid");
}

#[test]
fn five_thousand_specifications_agree_with_forward_links() {
    let mut valid = 0;
    for seed in 0..5_000 {
        let mut random = Random::new(seed + 1_000_000);
        let assignments = if seed % 4 == 0 {
            generate::wild(&mut random)
        } else {
            Guided::new(&mut random, 1).specification().0
        };
        let text = generate::text(&assignments);
        let result = naive::forward::specification(&assignments);
        valid += usize::from(result.is_ok());
        let (ours, theirs) = (answer(&text, Semantics::Forward), expected(result));
        // An expansion without end is stopped by different bounds, one of which may be that of size.
        assert!(
            ours == theirs || theirs == "err106" && !ours.starts_with("OK"),
            "seed {seed}\n{theirs}\n{ours}\n{text}"
        );
    }
    assert!(valid > 500, "only {valid} specifications were valid");
}

#[test]
fn every_compilation_ends_in_every_semantics() {
    for seed in 0..3_000 {
        let mut random = Random::new(seed + 2_000_000);
        let text = generate::text(&generate::wild(&mut random));
        for semantics in SEMANTICS {
            let compiled = compiled(&text, semantics);
            assert_eq!(compiled.store.is_none(), !compiled.diagnostics.is_empty(), "seed {seed}");
            if let Some(store) = &compiled.store {
                assert_unique(store);
            }
        }
    }
}

/// Whoever watches sees the same end: an error, or the compiled component.
#[test]
fn four_thousand_production_specifications_end_watched_or_not() {
    let mut valid = 0;
    for seed in 0..4_000 {
        let text = production::specification(&mut Random::new(seed + 4_000_000));
        let compile = |trace, provenance| {
            let semantics = Semantics::Production;
            let options = Options { semantics, trace, provenance, observe: trace, ..Options::default() };
            let sources = Sources::new();
            compile_text(Path::new("x.sf"), text.clone(), &MemoryFileSystem::new(), &sources, &options)
        };
        let (alone, watched) = (compile(false, false), compile(true, true));
        assert_eq!(
            alone.store.as_ref().map(output::sf),
            watched.store.as_ref().map(output::sf),
            "seed {seed}\n{text}"
        );
        let last = watched.trace.as_ref().and_then(|trace| trace.steps.last()).unwrap();
        assert_eq!(alone.store.is_none(), last.rule == "error", "seed {seed}\n{text}");
        valid += usize::from(alone.store.is_some());
    }
    assert!(valid > 1_000, "only {valid} specifications were valid");
}

#[test]
fn no_text_makes_it_panic() {
    const PIECES: &[&str] = &[
        "a",
        "b:c",
        "extends",
        "{",
        "}",
        ";",
        ",",
        "DATA",
        "LAZY",
        "[",
        "]",
        "[|",
        "|]",
        "(",
        ")",
        "+",
        "++",
        "<>",
        "x|",
        "->",
        "IF",
        "THEN",
        "ELSE",
        "FI",
        "SWITCH",
        "ENDSWITCH",
        "\"s",
        "\"",
        "##",
        "#",
        "#HEX#",
        "#include \"x.sf\"",
        "//",
        "/*",
        "*/",
        "-",
        "--",
        "1",
        "1.5e9",
        ".",
        "1e999",
        "NULL",
        "TBD",
        "OPTIONAL",
        "APPLY",
        "ASSERT",
        "order",
        "<",
        "é",
        "\\",
        "\u{0}",
        "sfConfig",
        "PARENT",
        "ROOT",
        "THIS",
        "ATTRIB",
        "PROPERTY",
        "HOST",
        "true",
        "\n",
        "@",
        "!",
        "%",
    ];
    for seed in 0..5_000 {
        let mut random = Random::new(seed + 3_000_000);
        let mut text = String::new();
        for _ in 0..random.below(60) {
            text.push_str(PIECES[random.below(PIECES.len())]);
            if random.chance(80) {
                text.push(' ');
            }
        }
        for semantics in SEMANTICS {
            let compiled = compiled(&text, semantics);
            assert_eq!(compiled.store.is_none(), !compiled.diagnostics.is_empty(), "{text}");
        }
    }
}

#[test]
fn what_is_compiled_is_the_same_when_it_is_printed_and_compiled_again() {
    for seed in 0..1_000 {
        let mut random = Random::new(seed + 4_000_000);
        let text = generate::text(&Guided::new(&mut random, 0).specification().0);
        let Some(store) = compiled(&text, Semantics::Core).store else { continue };
        let again = format!("sfConfig extends {{\n{}}}\n", output::sf(&store));
        for semantics in SEMANTICS {
            assert_eq!(
                answer(&again, semantics),
                format!("OK {}", output::json(&store)),
                "seed {seed}\n{again}"
            );
        }
    }
}

/// The values of all attributes that are no components, by path.
fn leaves(store: &Store, path: &str, found: &mut BTreeMap<String, String>) {
    for entry in store.iter() {
        let at = if path.is_empty() { entry.name.to_string() } else { format!("{path}:{}", entry.name) };
        match &entry.value {
            Value::Store(inner) if !inner.is_empty() => leaves(inner, &at, found),
            value => {
                found.insert(at, output::json_value(value));
            }
        }
    }
}

/// The text with another value on a line, if the line is a plain attribute or names one prototype or link.
fn changed_line(text: &str, line: usize, random: &mut Random) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let old = lines.get(line - 1)?;
    let (name, value) = old.trim().strip_suffix(';')?.split_once(' ')?;
    let is_name = !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || c == ':');
    let other = if is_name && random.below(2) == 0 { "true" } else { "777777" };
    let new = format!("{name} {other};");
    let changed: Vec<&str> =
        lines.iter().enumerate().map(|(at, old)| if at + 1 == line { new.as_str() } else { *old }).collect();
    Some(changed.join("\n"))
}

#[test]
fn what_a_line_changes_depends_on_it() {
    let mut changes = 0;
    for seed in 0..2_000 {
        let mut random = Random::new(seed + 4_000_000);
        let (assignments, guided) = Guided::new(&mut random, 1).specification();
        if guided.is_err() {
            continue;
        }
        let text = generate::text(&assignments);
        for semantics in SEMANTICS {
            let options = Options { semantics, provenance: true, ..Options::default() };
            let sources = Sources::new();
            let files = MemoryFileSystem::new();
            let before = compile_text(Path::new("x.sf"), text.clone(), &files, &sources, &options);
            let Some(store) = &before.store else { continue };
            let mut old = BTreeMap::new();
            leaves(store, "", &mut old);
            for line in 1..=text.lines().count() {
                let Some(changed) = changed_line(&text, line, &mut random) else { continue };
                let after = compiled(&changed, semantics);
                let Some(store) = &after.store else { continue };
                let mut new = BTreeMap::new();
                leaves(store, "", &mut new);
                let reached: BTreeSet<String> = impact::impact(&before, &sources, "x.sf", line)
                    .iter()
                    .map(|reached| {
                        reached.path.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(":")
                    })
                    .collect();
                for (path, value) in &old {
                    if new.get(path).is_some_and(|new| new != value) {
                        changes += 1;
                        assert!(
                            reached.contains(path),
                            "seed {seed}, {semantics:?}: `{path}` changes with line {line}, and impact does not tell\n{text}"
                        );
                    }
                }
            }
        }
    }
    assert!(changes > 10_000, "only {changes} attributes changed");
}
