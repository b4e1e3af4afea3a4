//! ARCHITECTURE.md is true: what it names is there, every crate is in it, crates depend on what its table allows, and do not
//! know what it says that they do not know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use setpoint_testing::repository;

#[test]
fn every_crate_is_named_and_every_name_is_there() {
    let root = repository();
    let text = architecture();
    assert!(!text.is_empty(), "ARCHITECTURE.md cannot be read");

    let crates = crates();
    let named = quoted(&text);
    let missing: Vec<&String> = crates.iter().filter(|name| !names(&named, name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");

    let wrong: Vec<&&str> = named
        .iter()
        .filter(|name| {
            let is_crate = name.starts_with("setpoint_") && !name.contains(['/', ':', ' ', '(']);
            let is_path = name.contains('/') && !name.contains([' ', '*', '<', '{', ':', '$', '…', '(', '|']);
            (is_crate && !crates.contains(**name)) || (is_path && !is_there(&root, name, &crates))
        })
        .collect();
    assert!(wrong.is_empty(), "ARCHITECTURE.md names what is not there: {wrong:?}");
}

/// What stands between backticks on one line.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|name| !name.is_empty()).collect()
}

/// As `setpoint_source`, or in a path, as `crates/setpoint_source/src`.
fn names(named: &BTreeSet<&str>, name: &str) -> bool {
    named.iter().any(|quoted| quoted.split('/').any(|part| part == name))
}

/// A path from the root, from the folder of crates, or from the source of some crate.
fn is_there(root: &std::path::Path, name: &str, crates: &BTreeSet<String>) -> bool {
    let name = name.trim_end_matches('/');
    let of_crate = |one: &String| {
        let folder = root.join("crates").join(one);
        folder.join(name).exists() || folder.join("src").join(name).exists()
    };
    name.starts_with("../")
        || name.starts_with('/')
        || root.join(name).exists()
        || root.join("crates").join(name).exists()
        || crates.iter().any(of_crate)
}

/// The workspace crates that each crate may depend on are those of the table, and no others.
#[test]
fn dependencies_are_those_of_the_table() {
    let text = architecture();
    let block =
        text.split("```dependencies\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or("");
    let table: BTreeMap<String, BTreeSet<String>> = block
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, allowed)| {
            (name.trim().to_owned(), allowed.split_whitespace().map(str::to_owned).collect())
        })
        .collect();
    let short = |name: &str| name.strip_prefix("setpoint_").unwrap_or(name).to_owned();
    for name in crates() {
        let found: BTreeSet<String> = dependencies(&name)
            .iter()
            .filter(|dependency| dependency.starts_with("setpoint"))
            .map(|dependency| short(dependency))
            .collect();
        let allowed = table.get(&short(&name)).cloned().unwrap_or_default();
        assert_eq!(found, allowed, "dependencies of {name}: Cargo.toml (left), ARCHITECTURE.md (right)");
    }
}

/// How a sentence of ARCHITECTURE.md about what a crate does not know or do is checked.
enum Check {
    /// Neither by itself nor through others does the crate depend on these.
    Dependencies(&'static [&'static str]),
    /// The code has none of these words; comments and tests may.
    Words(&'static [&'static str]),
}

use Check::{Dependencies, Words};

const TERMINAL: Check = Words(&["print!(", "println!(", "stdout()", "stderr()"]);
const PROCESSES_AND_NETWORK: Check = Words(&["std::process", "std::net"]);
/// Resource types of Puppet, as labels and as names.
const RESOURCE_TYPES: Check = Words(&[
    "\"File\"",
    "\"Service\"",
    "\"Package\"",
    "\"Exec\"",
    "\"User\"",
    "\"Group\"",
    "\"Cron\"",
    "\"Mount\"",
    "\"Notify\"",
    "\"file\"",
    "\"service\"",
    "\"package\"",
    "\"exec\"",
    "\"cron\"",
    "\"File[",
    "\"Service[",
    "\"Package[",
    "\"Exec[",
]);
const LANGUAGES: Check = Words(&["puppet", "smartfrog", "cloudformation", "tosca"]);

/// Files in which a sentence is not true yet, and why. A file that was mended leaves this list.
const OPEN: &[(&str, &str)] = &[
    ("setpoint_source/src/invariant.rs", "it tells a broken invariant on standard error, if asked to"),
    ("setpoint_source/src/bounds.rs", "it knows which files stand at the top of a project"),
    ("setpoint_verify/src/family.rs", "plans for benches and tests have labels as Puppet writes them"),
];

/// Each crate, words of its sentence, and the check.
const PROMISES: &[(&str, &str, Check)] = &[
    ("setpoint_source", "knows no input language", LANGUAGES),
    ("setpoint_source", "writes to no terminal", TERMINAL),
    ("setpoint_answer", "no input language and no printer", Dependencies(&["setpoint_source"])),
    ("setpoint_rules", "no finding, no input and no printer", Dependencies(&["setpoint_source"])),
    ("setpoint_provenance", "knows no values", Dependencies(&["setpoint_puppet_values"])),
    ("setpoint_data", "knows no schema", LANGUAGES),
    (
        "setpoint_config",
        "knows no Puppet and no resource",
        Dependencies(&["setpoint_puppet_values", "setpoint_catalog"]),
    ),
    (
        "setpoint_solver",
        "knows no meaning of a literal",
        Dependencies(&["setpoint_source", "setpoint_state"]),
    ),
    ("setpoint_diagram", "knows no meaning of a node", Dependencies(&["setpoint_source"])),
    ("setpoint_git", "knows no input language", LANGUAGES),
    ("setpoint_report", "knows no input language", LANGUAGES),
    (
        "setpoint_report",
        "reads no file and no clock",
        Words(&["std::fs", "FileSystem", "SystemTime", "Instant"]),
    ),
    (
        "setpoint_puppet_syntax",
        "knows no values, scopes or catalogs",
        Dependencies(&["setpoint_puppet_values", "setpoint_catalog"]),
    ),
    (
        "setpoint_puppet_values",
        "knows no scope, file or catalog",
        Dependencies(&["setpoint_puppet", "setpoint_catalog"]),
    ),
    ("setpoint_puppet_values", "knows no scope, file or catalog", Words(&["std::fs", "FileSystem"])),
    (
        "setpoint_puppet_functions",
        "they ask of a `Host`",
        Dependencies(&["setpoint_puppet", "setpoint_catalog"]),
    ),
    (
        "setpoint_catalog",
        "does not know how a manifest becomes a catalog",
        Dependencies(&["setpoint_puppet"]),
    ),
    ("setpoint_catalog", "nor what a resource does to a machine", Dependencies(&["setpoint_state"])),
    ("setpoint_commands", "knows no state and runs nothing", Dependencies(&["setpoint_state"])),
    ("setpoint_commands", "knows no state and runs nothing", PROCESSES_AND_NETWORK),
    ("setpoint_packages", "knows no catalog", Dependencies(&["setpoint_catalog"])),
    ("setpoint_packages", "fetches nothing", PROCESSES_AND_NETWORK),
    ("setpoint_hiera", "runs no code of backends itself", PROCESSES_AND_NETWORK),
    ("setpoint_hiera", "knows of the evaluator only its variables", Dependencies(&["setpoint_puppet"])),
    ("setpoint_puppet", "does not print", TERMINAL),
    ("setpoint_platforms", "reads no files", Words(&["std::fs", "FileSystem"])),
    ("setpoint_platforms", "knows no manifest", Dependencies(&["setpoint_puppet"])),
    ("setpoint_diff", "compiles nothing", Dependencies(&["setpoint_puppet"])),
    ("setpoint_why", "compiles nothing", Words(&["setpoint_puppet::compile", "compile("])),
    ("setpoint_why", "writes to no terminal", TERMINAL),
    ("setpoint_state", "knows no type of resource", RESOURCE_TYPES),
    ("setpoint_state", "no catalog and no solver", Dependencies(&["setpoint_catalog", "setpoint_solver"])),
    ("setpoint_verify", "knows no type of resource", RESOURCE_TYPES),
    (
        "setpoint_verify",
        "knows no type of resource",
        Dependencies(&["setpoint_catalog", "setpoint_resources"]),
    ),
    ("setpoint_verify", "prints nothing", TERMINAL),
    ("setpoint_settle", "proves nothing itself", Words(&["setpoint_solver"])),
    ("setpoint_silence", "reads no file", Words(&["std::fs", "FileSystem"])),
    (
        "setpoint_silence",
        "finds nothing wrong but in silencing itself",
        Dependencies(&["setpoint_puppet", "setpoint_settle", "setpoint_verify"]),
    ),
    (
        "setpoint_resources",
        "knows no question that is asked about the plan",
        Dependencies(&["setpoint_verify"]),
    ),
    ("setpoint_resources", "runs nothing and reads no file", PROCESSES_AND_NETWORK),
    ("setpoint_resources", "runs nothing and reads no file", Words(&["std::fs", "FileSystem"])),
    ("setpoint_smartfrog", "deploys nothing", PROCESSES_AND_NETWORK),
    (
        "setpoint_orchestra",
        "knows no vendor's format",
        Dependencies(&["setpoint_cloudformation", "setpoint_tosca", "setpoint_data"]),
    ),
    ("setpoint_cloudformation", "asks no service", PROCESSES_AND_NETWORK),
    ("setpoint_tosca", "runs no script and fetches no import", PROCESSES_AND_NETWORK),
    ("setpoint_lsp", "knows no input language", LANGUAGES),
    ("setpoint_project", "knows no terminal", TERMINAL),
    ("setpoint_project", "no protocol", Dependencies(&["setpoint_lsp"])),
    (
        "setpoint_project",
        "no other input language",
        Dependencies(&["setpoint_smartfrog", "setpoint_orchestra"]),
    ),
    ("setpoint_ide", "knows no protocol", Words(&["lsp_types", "lsp_server"])),
    ("setpoint_ide", "no terminal", TERMINAL),
    ("setpoint_migrate", "knows no terminal", TERMINAL),
    ("setpoint_serve", "knows no terminal", TERMINAL),
    (
        "setpoint_micropuppet",
        "compiles nothing for anybody",
        Dependencies(&["setpoint_puppet", "setpoint_catalog"]),
    ),
    ("setpoint_trace", "knows no language", LANGUAGES),
    ("setpoint_parity", "asks no server", PROCESSES_AND_NETWORK),
    ("setpoint_parity", "knows no terminal", TERMINAL),
];

#[test]
fn crates_do_not_know_what_they_say_they_do_not() {
    let entries = entries(&architecture());
    let mut wrong = Vec::new();
    for (name, sentence, check) in PROMISES {
        if !entries.get(*name).is_some_and(|entry| entry.contains(sentence)) {
            wrong.push(format!("ARCHITECTURE.md does not say of {name}: {sentence}"));
        }
        match check {
            Dependencies(forbidden) => {
                let reached = reached(name);
                let found: Vec<&&str> = forbidden.iter().filter(|one| reached.contains(**one)).collect();
                if !found.is_empty() {
                    wrong.push(format!("{name}, {sentence}: it depends on {found:?}"));
                }
            }
            Words(forbidden) => {
                for (path, line) in code(name).into_iter().filter(|(path, _)| !is_open(path)) {
                    // `puppet` of a language is any `Puppet`; all other words are code.
                    let is_there = |word: &&&str| {
                        line.contains(**word)
                            || (LOOSE.contains(*word) && line.to_lowercase().contains(**word))
                    };
                    if let Some(word) = forbidden.iter().find(is_there) {
                        wrong.push(format!("{name}, {sentence}: {word} in {path}: {}", line.trim()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The core does no input or output of its own.
#[test]
fn files_come_through_the_file_system() {
    // These are for tests and tasks.
    let apart = ["setpoint_fuzz", "setpoint_testing", "setpoint_oracle", "setpoint_judge", "xtask"];
    // The doors: what is read and what is written goes through them.
    let doors = ["files.rs", "bounds.rs", "write.rs"].map(|name| format!("setpoint_source/src/{name}"));
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for name in crates().iter().filter(|name| !apart.contains(&name.as_str())) {
        for (path, line) in code(name) {
            let uses = line.contains("std::fs");
            if !uses || doors.iter().any(|door| path.ends_with(door)) {
                continue;
            }
            let known = OPEN.iter().find(|(file, _)| path.ends_with(file));
            assert!(known.is_some(), "{path} reads or writes files itself: {}", line.trim());
            open.extend(known.map(|(file, _)| *file));
        }
    }
    let mended =
        OPEN.iter().filter(|(file, _)| file.starts_with("setpoint_packages") && !open.contains(file));
    assert_eq!(mended.count(), 0, "OPEN names a file that was mended");
}

/// One function makes every call of git, and nothing else is run.
#[test]
fn only_git_is_run() {
    for name in crates().iter().filter(|name| {
        !["setpoint_oracle", "setpoint_judge", "setpoint_testing", "xtask"].contains(&name.as_str())
    }) {
        let calls: Vec<(String, String)> =
            code(name).into_iter().filter(|(_, line)| line.contains("Command::new(")).collect();
        let is_git = |(path, line): &(String, String)| {
            path.ends_with("setpoint_git/src/lib.rs") && line.contains("Command::new(\"git\")")
        };
        let most = usize::from(name == "setpoint_git");
        assert!(calls.len() <= most && calls.iter().all(is_git), "{name} runs programs: {calls:?}");
    }
}

fn is_open(path: &str) -> bool {
    OPEN.iter().any(|(file, _)| path.ends_with(file))
}

/// Words that count in any spelling.
const LOOSE: &[&str] = &["puppet", "smartfrog", "cloudformation", "tosca"];

/// Every sentence about what a crate does not know or do has a check.
#[test]
fn every_promise_is_checked() {
    // These promise nothing, or are checked as a whole by the table.
    let apart =
        ["setpoint", "setpoint_fuzz", "setpoint_testing", "setpoint_oracle", "setpoint_judge", "xtask"];
    let entries = entries(&architecture());
    for name in crates().iter().filter(|name| !apart.contains(&name.as_str())) {
        assert!(entries.contains_key(name.as_str()), "ARCHITECTURE.md has no entry for {name}");
        assert!(PROMISES.iter().any(|(known, ..)| known == name), "no promise of {name} is checked");
    }
}

#[test]
fn only_one_crate_knows_the_protocol_and_one_the_command_line() {
    for (dependency, owner) in [
        ("lsp-types", "setpoint_lsp"),
        ("lsp-server", "setpoint_lsp"),
        ("clap", "setpoint"),
        ("anstream", "setpoint"),
    ] {
        for name in
            crates().iter().filter(|name| *name != owner && *name != "xtask" && *name != "setpoint_fuzz")
        {
            assert!(!dependencies(name).contains(dependency), "{name} depends on {dependency}");
        }
    }
    for (path, line) in code("setpoint") {
        let writes = ["print!(", "println!(", "stdout()"].iter().any(|word| line.contains(word));
        let mine = path.ends_with("src/output.rs");
        assert!(mine || !writes, "{path} writes to the terminal: {}", line.trim());
    }
}

fn architecture() -> String {
    std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap_or_default()
}

fn crates() -> BTreeSet<String> {
    let mut crates: BTreeSet<String> = BTreeSet::from(["xtask".to_owned()]);
    for entry in std::fs::read_dir(repository().join("crates")).into_iter().flatten().flatten() {
        if entry.path().join("Cargo.toml").is_file() {
            crates.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    crates
}

fn folder(name: &str) -> PathBuf {
    if name == "xtask" { repository().join(name) } else { repository().join("crates").join(name) }
}

/// The normal dependencies of a crate, by name.
fn dependencies(name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(folder(name).join("Cargo.toml")).unwrap_or_default();
    let lines = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// All that a crate depends on, by itself or through others.
fn reached(name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut work = vec![name.to_owned()];
    while let Some(name) = work.pop() {
        for dependency in dependencies(&name) {
            if dependency.starts_with("setpoint") && found.insert(dependency.clone()) {
                work.push(dependency);
            }
        }
    }
    found
}

/// The entry of each crate, on one line.
fn entries(text: &str) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("- `") {
            let path = rest.split('`').next().unwrap_or("");
            name = Some(path.strip_prefix("crates/").unwrap_or(path).to_owned());
        } else if !line.starts_with("  ") {
            name = None;
        }
        if let Some(name) = &name {
            let entry: &mut String = entries.entry(name.clone()).or_default();
            entry.push_str(line.trim());
            entry.push(' ');
        }
    }
    entries
}

/// The lines of a crate's source that are code: no comments, no tests.
fn code(name: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut work = vec![folder(name).join("src")];
    while let Some(path) = work.pop() {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            work.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
            let code = lines.filter(|line| !line.trim_start().starts_with("//"));
            found.extend(code.map(|line| (path.display().to_string(), line.to_owned())));
        }
    }
    found
}
