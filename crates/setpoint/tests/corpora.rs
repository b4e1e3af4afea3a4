//! The corpora: every manifest compiles as Puppet compiled it, or is refused where Puppet refused it, and its graph is
//! Puppet's. Each is one run of the program, as a user would call it.

#[path = "corpora/catalogs.rs"]
mod catalogs;
#[path = "corpora/graphs.rs"]
mod graphs;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Failed, Trial};
use serde_json::Value as Json;
use setpoint_testing::{run_tests, shared, skip};

/// Where Debian's packages put modules.
const DEBIAN_MODULES: &str = "/usr/share/puppet/modules";

/// A folder of manifests, with the module path with which Puppet compiled them.
struct Suite {
    folder: PathBuf,
    facts: PathBuf,
    modulepath: String,
    /// Whether the resources must stand on the lines on which Puppet has them.
    lines: bool,
}

fn main() -> ExitCode {
    let Some(shared) = shared() else {
        skip("corpora of manifests", "they are not beside the repository");
        return run_tests(Vec::new());
    };
    let puppet = shared.join("corpus/puppet");
    let suite = |folder: &str, modulepath: String, lines| Suite {
        folder: puppet.join(folder),
        facts: puppet.join("facts/debian12.json"),
        modulepath,
        lines,
    };
    let mut suites = vec![suite("upuppet", String::new(), true)];
    if Path::new(DEBIAN_MODULES).join("stdlib").is_dir() {
        let own = puppet.join("rehearsal/modules");
        suites.push(suite("rehearsal/manifests", format!("{}:{DEBIAN_MODULES}", own.display()), true));
    } else {
        skip("the corpus of Rehearsal", "Debian's modules are not installed");
    }
    let trials = suites.into_iter().flat_map(|suite| {
        let mut manifests = Vec::new();
        collect(&suite.folder, &mut manifests);
        manifests.sort();
        let suite = std::sync::Arc::new(suite);
        manifests.into_iter().map(move |manifest| {
            let suite = std::sync::Arc::clone(&suite);
            Trial::test(name(&manifest), move || check(&suite, &manifest))
        })
    });
    run_tests(trials.collect())
}

/// The last parts of a path: enough to find it.
fn name(manifest: &Path) -> String {
    let parts: Vec<String> =
        manifest.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts[parts.len().saturating_sub(3)..].join("/")
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "pp") {
            out.push(path);
        }
    }
}

impl Suite {
    fn run(&self, command: &str, manifest: &Path, more: &[&str]) -> Result<Output, Failed> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_setpoint"));
        program.arg(command).arg(manifest).args(more).args(["--puppet", "7", "--node", "node1.example.com"]);
        program.arg("--facts").arg(&self.facts);
        if !self.modulepath.is_empty() {
            program.args(["--modulepath", &self.modulepath]);
        }
        // Puppet was told so by a comment in the manifest.
        if std::fs::read_to_string(manifest).is_ok_and(|text| text.contains("--strict_variables")) {
            program.arg("--strict-variables");
        }
        program.output().map_err(|error| error.to_string().into())
    }
}

fn check(suite: &Suite, manifest: &Path) -> Result<(), Failed> {
    let answer = |extension: &str| manifest.with_extension(extension);
    let run = suite.run("compile", manifest, &[])?;
    let complaint = String::from_utf8_lossy(&run.stderr);
    if let Ok(error) = std::fs::read_to_string(answer("error")) {
        return catalogs::is_refused(&error, run.status.code(), &complaint).map_err(Failed::from);
    }
    let Some(want) = json(&answer("catalog.json"))? else { return Ok(()) };
    if !run.status.success() {
        return Err(complaint.into_owned().into());
    }
    let have: Json = serde_json::from_slice(&run.stdout).map_err(|error| error.to_string())?;
    let mut problems = catalogs::differences(&want, &have, suite.lines);
    if let Some(want) = json(&answer("graph.json"))? {
        let run = suite.run("graph", manifest, &["--format", "json"])?;
        let have: Json = serde_json::from_slice(&run.stdout)
            .map_err(|error| format!("{error}\n{}", String::from_utf8_lossy(&run.stderr)))?;
        problems.extend(graphs::differences(&want, &have));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn json(path: &Path) -> Result<Option<Json>, Failed> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(None) };
    Ok(Some(serde_json::from_str(&text).map_err(|error| error.to_string())?))
}
