//! The built-in files: each compiles by itself with `components.sf`, and declares what the shipped file of its name declares.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use setpoint_smartfrog::syntax::{Dialect, Reading};
use setpoint_smartfrog::{Options, Semantics, compile_text, library, syntax};
use setpoint_source::{FileSystem, MemoryFileSystem, OsFileSystem, Sources};

/// The tree of a file with all that it includes, without places, made-up names and the words of descriptions.
fn declarations(name: &str, files: &dyn FileSystem, classpath: &[PathBuf]) -> Json {
    let sources = Sources::new();
    let text = format!("#include \"/{name}\"\n");
    let reading = Reading { dialect: Dialect::Production, classpath };
    let parsed = syntax::parse_text(Path::new("a.sf"), text, files, &sources, reading);
    assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics);
    let mut tree = syntax::tree(&parsed.body, &sources);
    strip(&mut tree);
    tree
}

fn strip(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(strip),
        Json::Object(fields) => {
            fields.remove("place");
            let target = fields.get("target").map(ToString::to_string).unwrap_or_default();
            if target == "[\"description\"]" && fields["value"]["kind"] == "string" {
                fields["value"]["value"] = Json::Null;
            }
            if target.starts_with("[\"unique") {
                fields["target"] = Json::Null;
            }
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}

#[test]
fn every_built_in_file_compiles_without_a_class_path() {
    let mut count = 0;
    for name in library::names() {
        let text = format!(
            "#include \"/org/smartfrog/components.sf\"\n#include \"/org/smartfrog/sfcore/workflow/components.sf\"\n\
             #include \"{name}\"\nsfConfig extends Compound {{ p extends Parallel; }}\n"
        );
        let options = Options { semantics: Semantics::Production, ..Options::default() };
        let files = MemoryFileSystem::new();
        let compiled = compile_text(Path::new("a.sf"), text, &files, &Sources::new(), &options);
        assert!(compiled.store.is_some(), "{name}: {}", compiled.diagnostics[0].message);
        count += 1;
    }
    assert_eq!(count, 37);
}

/// Standard files are those of the core; examples are none.
#[test]
fn built_in_files_declare_what_the_shipped_ones_declare() {
    let Some(shared) = setpoint_testing::shared() else {
        setpoint_testing::skip("smartfrog-library", "there is no corpus beside the repository");
        return;
    };
    let root = shared.join("corpus/smartfrog-java/root");
    let mut problems = Vec::new();
    for name in library::names() {
        let ours = declarations(name, &MemoryFileSystem::new(), &[]);
        let theirs = declarations(name, &OsFileSystem, std::slice::from_ref(&root));
        let (ours, theirs) = (&ours["assignments"], &theirs["assignments"]);
        let count = ours.as_array().unwrap().len();
        if let Some(at) = (0..=count).find(|&at| ours.get(at) != theirs.get(at)) {
            problems.push(format!("{name}:\n  shipped  {:?}\n  built in {:?}", theirs.get(at), ours.get(at)));
        }
    }
    let missing: Vec<String> = standard_files(&root)
        .into_iter()
        .filter(|name| !name.contains("example") && !library::names().any(|ours| ours == name))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(missing.is_empty(), "not built in: {}", missing.join(", "));
}

fn standard_files(root: &Path) -> Vec<String> {
    let core = root.join("org/smartfrog");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(&core).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_file());
    let mut folders = vec![core.join("sfcore")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    let names = found.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string());
    names.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "sf")).collect()
}
