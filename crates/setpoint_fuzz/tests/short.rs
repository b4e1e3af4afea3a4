//! A short run of every target without coverage, and all inputs that once crashed. `cargo xtask fuzz` is the long one.

#![allow(clippy::expect_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use setpoint_fuzz::{PROGRAMS, Random, Seeds, mutated};
use setpoint_testing::{files_below, run_tests};

/// For one target.
const SHARE: Duration = Duration::from_millis(600);
/// Longer than any input needs in a build without all optimisations, on a machine that does other work.
const SOON: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let seeds = Arc::new(Seeds::read());
    let targets = PROGRAMS.iter().flat_map(|(_, targets)| targets.iter());
    let trials = targets.map(|&(name, target)| {
        let seeds = Arc::clone(&seeds);
        Trial::test(name, move || {
            let worker = setpoint_source::thread_builder().spawn(move || run(name, target, &seeds));
            worker.map_err(|error| error.to_string())?.join().map_err(|_| "the test itself fails")?
        })
    });
    run_tests(trials.collect())
}

fn run(name: &str, target: fn(&[u8]), seeds: &Seeds) -> Result<(), Failed> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(name);
    for path in files_below(&found) {
        let input = std::fs::read(&path).map_err(|error| error.to_string())?;
        try_one(target, &input).map_err(|problem| format!("{}: {problem}", path.display()))?;
    }
    let seeds = seeds.of(name);
    if seeds.is_empty() {
        return Err(Failed::from("there is nothing to start from"));
    }
    let start = Instant::now();
    let mut random = Random::new(1);
    while start.elapsed() < SHARE {
        let seed = random.pick(&seeds).clone();
        let input = mutated(&seed, &mut random).unwrap_or(seed);
        try_one(target, &input)
            .map_err(|problem| format!("{problem}:\n{}", String::from_utf8_lossy(&input)))?;
    }
    Ok(())
}

fn try_one(target: fn(&[u8]), input: &[u8]) -> Result<(), String> {
    let start = Instant::now();
    catch_unwind(AssertUnwindSafe(|| target(input))).map_err(|_| "it panics")?;
    if start.elapsed() > SOON { Err(format!("it takes {:?}", start.elapsed())) } else { Ok(()) }
}
