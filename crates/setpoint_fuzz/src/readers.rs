//! Every reader: text or bytes to a tree, and nothing more.

use std::path::Path;

use setpoint_commands::{Surroundings, Syntax};
use setpoint_packages::{Collection, Index, read};
use setpoint_smartfrog::Semantics;
use setpoint_source::{MemoryFileSystem, Rule, Sources};

use crate::{Target, text_of};

/// The targets.
pub const TARGETS: &[Target] = &[
    ("puppet", puppet),
    ("epp", epp),
    ("erb", erb),
    ("ruby", ruby),
    ("ruby-type", ruby_type),
    ("yaml", yaml),
    ("json", json),
    ("catalog", catalog),
    ("config", config),
    ("sentence", sentence),
    ("smartfrog-syntax", smartfrog),
    ("rules", rules),
    ("tosca-syntax", tosca),
    ("archive", archive),
    ("shell", shell),
    ("expression", expression),
    ("packages", packages),
    ("compressed", compressed),
    ("index", index),
    ("baseline", baseline),
    ("glob", glob),
];

fn puppet(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let parse = setpoint_puppet_syntax::parse(sources.add("a.pp", text), text);
    let _ = setpoint_puppet_syntax::dump_with_places(&parse.program, text);
}

fn epp(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let _ = setpoint_puppet_syntax::parse_epp(sources.add("a.epp", text), text);
}

fn erb(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_puppet_functions::parse_erb(text);
}

fn ruby(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_puppet_functions::RubyFile::parse(Path::new("a.rb"), text);
}

fn ruby_type(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_catalog::ruby_types::read(text);
}

fn yaml(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let file = sources.add("a.yaml", text);
    let _ = setpoint_data::read_yaml(file, text);
    let _ = setpoint_data::read_yaml_as_written(file, text);
}

fn json(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let read = setpoint_data::read_json(sources.add("a.json", text), text);
    let is_taken = read.diagnostics.iter().all(|finding| finding.rule == Rule::DuplicateKey);
    // Another reader says what JSON is, but for a mark at the beginning, depth, and control characters in texts.
    let other = serde_json::from_str::<serde_json::Value>(text);
    let is_other_taken = other.as_ref().map_or_else(
        |error| {
            let said = error.to_string();
            let differs = ["recursion limit", "control character", "out of range", "surrogate", "hex escape"];
            if text.starts_with('\u{feff}') || differs.iter().any(|words| said.contains(words)) {
                None
            } else {
                Some(false)
            }
        },
        |_| Some(true),
    );
    assert!(
        is_other_taken.is_none_or(|other| other == is_taken),
        "one reader takes what the other refuses: {other:?}"
    );
}

fn catalog(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    if let Ok(catalog) = setpoint_catalog::read::json(text) {
        let _ = setpoint_catalog::write::json(&catalog);
    }
}

fn config(data: &[u8]) {
    let mut files = MemoryFileSystem::new();
    files.add("setpoint.toml", data);
    let _ = setpoint_config::load(&files, &Sources::new(), Path::new("setpoint.toml"));
}

fn sentence(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_config::stated(&Sources::new(), text);
}

fn smartfrog(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let files = MemoryFileSystem::new();
    for semantics in [Semantics::Core, Semantics::Forward, Semantics::Production] {
        let options = setpoint_smartfrog::Options { semantics, ..Default::default() };
        let sources = Sources::new();
        let reading = options.reading();
        let _ = setpoint_smartfrog::syntax::parse_text(Path::new("a.sf"), text, &files, &sources, reading);
    }
}

fn rules(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_orchestra::load_model_text(&Sources::new(), "a.rules", text);
}

fn tosca(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let file = sources.add("a.yaml", text);
    let files = MemoryFileSystem::new();
    let _ = setpoint_tosca::Service::read(&files, &sources, file, Path::new("a.yaml"), &[]);
}

fn archive(data: &[u8]) {
    let _ = setpoint_tosca::open_archive(data);
}

fn shell(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let _ = setpoint_commands::effects(text, Surroundings::of(None));
    let _ = setpoint_commands::condition(text, Surroundings::of(Some("/srv")));
}

fn expression(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    for syntax in [Syntax::Basic, Syntax::Extended] {
        let _ = setpoint_commands::expression(text, syntax);
    }
}

/// The first byte says as what the others are read.
fn packages(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let mut into = Collection::new();
    match first % 7 {
        0 => drop(read::contents(&mut into, data, "a")),
        1 => drop(read::packages(&mut into, data, "a")),
        2 => drop(read::status(&mut into, data, "a")),
        3 => drop(read::deb(&mut into, data, "a")),
        4 => drop(read::rpm(&mut into, &mut read::RpmVersions::default(), data, "a")),
        5 => {
            let Some(text) = text_of(data) else { return };
            read::script(&mut into, "a", read::Script::Postinst, text);
        }
        _ => {
            let Some(text) = text_of(data) else { return };
            read::sysusers(&mut into, "a", text);
            read::tmpfiles(&mut into, "a", text);
        }
    }
}

fn compressed(data: &[u8]) {
    use std::io::Read;
    if let Ok(reader) = read::plain(data, "a") {
        let _ = reader.take(1_000_000).read_to_end(&mut Vec::new());
    }
}

fn index(data: &[u8]) {
    if let Ok(index) = Index::from_bytes(data.to_vec()) {
        let _ = index.lookup("nginx");
        let _ = index.dependencies("nginx");
        let _ = index.exclusions(&["nginx", "apache2"]);
    }
}

fn baseline(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    if let Ok(baseline) = setpoint_silence::Baseline::read(text, "/srv") {
        let _ = baseline.text();
    }
}

/// The first line is a pattern, the second a name.
fn glob(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let (pattern, name) = text.split_once('\n').unwrap_or((text, "a/b.yaml"));
    let _ = setpoint_hiera::name_fits(pattern, name);
    let mut files = MemoryFileSystem::new();
    for path in ["data/a.yaml", "data/b/c.yaml", "data/b/d/e.yaml"] {
        files.add(path, "");
    }
    let _ = setpoint_hiera::glob(pattern, &files);
}
