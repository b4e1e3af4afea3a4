//! Mutated manifests: every one must end in an answer, and soon.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use setpoint_oracle::{Mode, Request, mutate, setpoint};
use setpoint_state::Semantics;
use setpoint_testing::{Random, repository};
use setpoint_verify::exhaustive::{Judged, judge};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders of manifests to start from; or `verify`: generated plans, the prover beside exhaustive execution
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many mutants
    #[arg(long, default_value_t = 1000)]
    count: u64,
}

/// Longer than any of them should take in a build without all optimisations.
const SOON: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.folders == [Path::new("verify")] {
        return verify(arguments);
    }
    let mut texts = Vec::new();
    for folder in &arguments.folders {
        manifests(folder, &mut texts);
    }
    if texts.is_empty() {
        return Err("no manifests there".to_owned());
    }
    // If the process dies, this file holds the manifest that did it.
    let current = repository().join("target/fuzz.pp");
    let mut bad = 0;
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.count) {
        let mut random = Random::new(seed);
        let (path, text) = random.pick(&texts);
        let mut mutant = mutate(text, &mut random);
        mutant.push_str(&used(text));
        let _ = std::fs::write(&current, &mutant);
        let mode = if seed % 2 == 0 { Mode::Seven } else { Mode::Eight };
        let start = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| setpoint(&Request::manifest(&mutant, mode))));
        let took = start.elapsed();
        if ended.is_err() || took > SOON {
            bad += 1;
            let kept = repository().join(format!("target/fuzz-{seed}.pp"));
            let _ = std::fs::write(&kept, &mutant);
            let what = if ended.is_err() { "panics" } else { "is slow" };
            println!("seed {seed} of {} {what} ({took:?}): {}", path.display(), kept.display());
        }
    }
    println!("{} mutants, {bad} without a proper end", arguments.count);
    if bad == 0 { Ok(()) } else { Err("some do not end well".to_owned()) }
}

/// Puts the prover beside exhaustive execution, in both semantics.
fn verify(arguments: &Arguments) -> Result<(), String> {
    let (mut compared, mut bad) = (0_u64, 0_u64);
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.count) {
        let plan = setpoint_verify::sample::plan(seed);
        for semantics in [Semantics::Puppet, Semantics::Paper] {
            match judge(&plan, semantics, 1_500) {
                Judged::TooLarge => {}
                Judged::Agrees(_) => compared += 1,
                Judged::Differs(what) => {
                    bad += 1;
                    println!("seed {seed}, {semantics:?}: {what}");
                }
            }
        }
    }
    println!("{compared} comparisons agree, {bad} differ");
    if bad == 0 { Ok(()) } else { Err("the prover is wrong, or exhaustive execution is".to_owned()) }
}

/// A module's manifest only defines: what it defines is used at the end.
fn used(text: &str) -> String {
    let mut out = String::from("\n");
    for line in text.lines() {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        match (words.next(), words.next()) {
            (Some("class"), Some(name)) if !name.is_empty() => out.push_str(&format!("include {name}\n")),
            (Some("define"), Some(name)) if !name.is_empty() => {
                out.push_str(&format!("{name} {{ 'title': }}\n"));
            }
            _ => {}
        }
    }
    out
}

fn manifests(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            manifests(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "pp")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            out.push((path, text));
        }
    }
}
