//! The cases: specifications with the answers that are promised. Each answer is named by what is asked:
//! `core`, `forward yaml`, `production sf`, `check`, `check production`, `why s2:web:running`, `depends s2`, `why-not s3`,
//! `impact 3`, `graph`, `diff`, `trace`, `stores`.
//! Several inputs are files that include each other; `diff` compares the first two.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::ExitCode;

use setpoint_smartfrog::{
    Compiled, Options, Semantics, check, compile_text, diff, graph, impact, output, syntax, why,
};
use setpoint_source::{Diagnostic, MemoryFileSystem, Sources, print};
use setpoint_testing::{Answers, Case, repository, run_folder};

fn main() -> ExitCode {
    run_folder(&repository().join("crates/setpoint_smartfrog/tests/cases"), answers)
}

fn answers(case: &Case) -> Answers {
    let mut files = MemoryFileSystem::new();
    for input in &case.inputs {
        files.add(&input.name, input.text.clone());
    }
    case.answers.iter().map(|answer| (answer.name.clone(), ask(case, &files, &answer.name))).collect()
}

fn ask(case: &Case, files: &MemoryFileSystem, question: &str) -> String {
    let words: Vec<&str> = question.split_whitespace().collect();
    let semantics = match words[..] {
        [.., "forward"] | ["forward", ..] => Semantics::Forward,
        [.., "production"] | ["production", ..] => Semantics::Production,
        _ => Semantics::Core,
    };
    let options = Options {
        semantics,
        provenance: true,
        observe: true,
        properties: [("port".to_owned(), "8080".to_owned())].into(),
        ..Options::default()
    };
    let sources = Sources::new();
    let compile = |at: usize| {
        let input = case.inputs.get(at).unwrap_or_else(|| panic!("input {at} is missing"));
        compile_text(Path::new(&input.name), input.text.clone(), files, &sources, &options)
    };
    match words[..] {
        ["core" | "forward" | "production"] => tree(&compile(0), output::json, &sources),
        ["core" | "forward" | "production", "yaml"] => tree(&compile(0), output::yaml, &sources),
        ["core" | "forward" | "production", "sf"] => tree(&compile(0), output::sf, &sources),
        ["check", ..] => {
            let input = &case.inputs[0];
            let path = Path::new(&input.name);
            shown(&check::check(path, input.text.clone(), files, &sources, &options).findings, &sources)
        }
        ["why", target, ..] => {
            let compiled = compile(0);
            why::why(&compiled, target).map_or_else(|error| error, |why| why.text(&compiled, &sources))
        }
        ["where" | "expression" | "depends", target, ..] => {
            let compiled = compile(0);
            let form = match words[0] {
                "where" => why::Form::Where,
                "expression" => why::Form::Expression,
                _ => why::Form::Depends,
            };
            why::why(&compiled, target).map_or_else(|error| error, |why| why.form(form, &compiled, &sources))
        }
        ["depends-json", target, ..] => {
            let compiled = compile(0);
            why::why(&compiled, target)
                .map_or_else(|error| error, |why| format!("{:#}", why.json(&compiled, &sources)["depends"]))
        }
        ["why-not", target, ..] => {
            let (compiled, input) = (compile(0), &case.inputs[0]);
            let parsed = syntax::parse_text(
                Path::new(&input.name),
                input.text.clone(),
                files,
                &sources,
                options.reading(),
            );
            why::why_not(&compiled, &parsed.body, target, &sources)
        }
        ["impact", line, ..] => {
            let compiled = compile(0);
            let line = line.parse().unwrap_or_else(|_| panic!("`{line}` is no line"));
            let name = &case.inputs[0].name;
            impact::text(&impact::impact(&compiled, &sources, name, line), &format!("{name}:{line}"))
        }
        ["trace" | "stores", ..] => {
            let input = &case.inputs[0];
            let options = Options { trace: true, ..options.clone() };
            let path = Path::new(&input.name);
            let compiled = compile_text(path, input.text.clone(), files, &sources, &options);
            let text = compiled.trace.map(|trace| setpoint_trace::text(&trace, &sources)).unwrap_or_default();
            match (words[0], text.split_once("\nThe stores:\n")) {
                ("stores", Some((_, stores))) => stores.to_owned(),
                _ => text,
            }
        }
        ["graph", ..] => setpoint_diagram::dot(&graph::graph(&compile(0)).diagram()),
        ["diff", ..] => {
            let (old, new) = (compile(0), compile(1));
            match (&old.store, &new.store) {
                (Some(before), Some(after)) => {
                    diff::text(&diff::diff((before, &old.arena), (after, &new.arena)), &sources)
                }
                _ => "one of them does not compile".to_owned(),
            }
        }
        _ => panic!("nobody knows what `{question}` asks"),
    }
}

fn tree(
    compiled: &Compiled,
    print: fn(&setpoint_smartfrog::store::Store) -> String,
    sources: &Sources,
) -> String {
    compiled.store.as_ref().map_or_else(|| shown(&compiled.diagnostics, sources), print)
}

fn shown(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    if diagnostics.is_empty() {
        return "nothing to say\n".to_owned();
    }
    diagnostics.iter().map(|diagnostic| print::diagnostic(diagnostic, sources, false)).collect()
}
