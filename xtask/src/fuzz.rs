//! Fuzzing that follows coverage: LLVM's fuzzer around every reader, every evaluator, `check` and its servers, on stable Rust.
//!
//! The programs are those of `fuzz/`, built with the compiler's own coverage counters. What was executed, reached and found is summed up
//! in `target/fuzz/figures.json`. An input that crashes is put below `crates/setpoint_fuzz/found`, where an ordinary test runs it again.

mod planted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use setpoint_fuzz::{PROGRAMS, Seeds};
use setpoint_state::Semantics;
use setpoint_testing::repository;
use setpoint_verify::exhaustive::{Judged, judge};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Targets, or programs of `fuzz/` for all their targets; all unless some are named. `verify` is by itself: generated plans, the
    /// prover beside exhaustive execution
    targets: Vec<String>,
    /// For all targets together
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Plant bugs in a copy, and tell which of them are found; targets or bugs may be named
    #[arg(long)]
    planted: bool,
    /// Only print the sums of all runs
    #[arg(long)]
    figures: bool,
    /// The first seed of `verify`
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many plans `verify` makes
    #[arg(long, default_value_t = 1000)]
    count: u64,
}

/// What the compiler puts in: a counter for each edge, and a table of their places.
const INSTRUMENTATION: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing";

/// A process lives no longer: names are interned for its life.
const ROUND: Duration = Duration::from_secs(90);
/// A target that crashes this often has nothing more to say before it is mended.
const MAX_CRASHES: u64 = 10;

/// What is known of a target.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    executions: u64,
    /// Counters that some input reached, and all.
    reached: u64,
    counters: u64,
    crashes: u64,
    seconds: u64,
}

impl Figures {
    fn add(&mut self, more: Self) {
        self.executions += more.executions;
        self.reached = self.reached.max(more.reached);
        self.counters = more.counters;
        self.crashes += more.crashes;
        self.seconds += more.seconds;
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.targets == ["verify"] {
        return verify(arguments);
    }
    if arguments.planted {
        return planted::run(&arguments.targets, arguments.minutes);
    }
    let known = repository().join("target/fuzz/figures.json");
    let mut figures = read(&known);
    if !arguments.figures {
        let programs = build(&repository())?;
        let wanted: Vec<(&str, &str)> = PROGRAMS
            .iter()
            .flat_map(|(program, targets)| targets.iter().map(move |(target, _)| (*program, *target)))
            .filter(|(program, target)| {
                let named = |name: &String| name == program || name == target;
                arguments.targets.is_empty() || arguments.targets.iter().any(named)
            })
            .collect();
        if wanted.is_empty() {
            return Err("no target is called so".to_owned());
        }
        let seeds = Seeds::read();
        let share = Duration::from_secs_f64(arguments.minutes * 60.0 / wanted.len() as f64);
        for (program, target) in wanted {
            let name = format!("{program}/{target}");
            let mut more = Figures::default();
            fuzz(&programs.join(program), target, &seeds, share, &mut more)?;
            // Another run may have written meanwhile.
            figures = read(&known);
            figures.entry(name).or_default().add(more);
            write(&known, &figures)?;
        }
    }
    print(&figures);
    Ok(())
}

/// Builds the programs of a copy of the repository; the answer is where they are. What both copies need is built once.
fn build(copy: &Path) -> Result<PathBuf, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let target = repository().join("target/fuzz");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--target", host, "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", INSTRUMENTATION)
        .current_dir(copy.join("fuzz"))
        .status()
        .map_err(|error| error.to_string())?;
    if !status.success() {
        return Err("the programs of fuzz/ do not build".to_owned());
    }
    Ok(target.join(host).join("release"))
}

fn fuzz(
    program: &Path,
    target: &str,
    seeds: &Seeds,
    share: Duration,
    sum: &mut Figures,
) -> Result<(), String> {
    let folder = repository().join("target/fuzz");
    let (corpus, start) = (folder.join("corpus").join(target), folder.join("seeds").join(target));
    let found = repository().join("crates/setpoint_fuzz/found").join(target);
    for folder in [&corpus, &start] {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    for (number, seed) in seeds.of(target).iter().enumerate() {
        std::fs::write(start.join(format!("{number}")), seed).map_err(|error| error.to_string())?;
    }
    let began = Instant::now();
    let mut crashes = 0;
    // Every round begins with all of its corpus: once the seeds that reach something are in it, the others are not executed again.
    let mut has_seeds = false;
    while began.elapsed() + Duration::from_secs(1) < share && crashes < MAX_CRASHES {
        let seconds = ROUND.min(share.saturating_sub(began.elapsed())).as_secs().max(1);
        let artifacts = folder.join("artifacts").join(target);
        std::fs::create_dir_all(&artifacts).map_err(|error| error.to_string())?;
        let mut command = fuzzer(program, target, &artifacts);
        command.arg(&corpus);
        if has_seeds {
            // What is fast is changed more often than what is slow.
            command.arg(format!("-max_total_time={seconds}")).arg("-entropic_scale_per_exec_time=1");
        } else {
            command.arg("-merge=1").arg(&start);
        }
        has_seeds = true;
        let done = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&done.stderr);
        sum.executions += number_after(&said, "stat::number_of_executed_units:").unwrap_or_default();
        sum.reached = sum.reached.max(number_after(&said, " cov: ").unwrap_or_default());
        sum.counters = number_after(&said, "modules   (").unwrap_or(sum.counters);
        if done.status.success() {
            continue;
        }
        crashes += 1;
        let why = said.lines().find(|line| line.starts_with("SUMMARY")).unwrap_or("it ended badly");
        println!("{target}: {why}");
        for line in
            said.lines().filter(|line| line.contains("panicked at") || line.contains("setpoint_")).take(3)
        {
            println!("    {}", line.trim());
        }
        let kept = std::fs::read_dir(&artifacts).map_err(|error| error.to_string())?;
        for path in kept.filter_map(|entry| Some(entry.ok()?.path())) {
            std::fs::create_dir_all(&found).map_err(|error| error.to_string())?;
            sum.crashes += 1;
            let name = path.file_name().unwrap_or_default();
            let _ = std::fs::copy(&path, found.join(name));
            let _ = std::fs::remove_file(&path);
            println!("    {}", found.join(name).display());
        }
    }
    sum.seconds += began.elapsed().as_secs();
    println!("{target}: {} executions, {} of {} edges", sum.executions, sum.reached, sum.counters);
    Ok(())
}

/// The call of a program for a target. Inputs that crash are written into the folder.
fn fuzzer(program: &Path, target: &str, artifacts: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        // As deep as the threads of the program.
        .args(["-c", "ulimit -s 524288 && exec \"$@\"", "sh"])
        .arg(program)
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-print_final_stats=1", "-timeout=20", "-rss_limit_mb=3000", "-max_len=8000", "-reload=0"])
        .env("SETPOINT_FUZZ_TARGET", target);
    command
}

/// The number after the last of these words.
fn number_after(text: &str, words: &str) -> Option<u64> {
    let rest = text.rsplit_once(words)?.1.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn read(path: &Path) -> BTreeMap<String, Figures> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let json: Json = serde_json::from_str(&text).unwrap_or_default();
    let targets = json.as_object().into_iter().flatten();
    targets
        .map(|(name, sum)| {
            let number = |key: &str| sum.get(key).and_then(Json::as_u64).unwrap_or_default();
            let figures = Figures {
                executions: number("executions"),
                reached: number("reached"),
                counters: number("counters"),
                crashes: number("crashes"),
                seconds: number("seconds"),
            };
            (name.clone(), figures)
        })
        .collect()
}

fn write(path: &Path, figures: &BTreeMap<String, Figures>) -> Result<(), String> {
    let json: serde_json::Map<String, Json> = figures
        .iter()
        .map(|(name, sum)| {
            let Figures { executions, reached, counters, crashes, seconds } = sum;
            let sum = json!({
                "executions": executions, "reached": reached, "counters": counters, "crashes": crashes,
                "seconds": seconds,
            });
            (name.clone(), sum)
        })
        .collect();
    std::fs::write(path, format!("{:#}\n", Json::Object(json))).map_err(|error| error.to_string())
}

fn print(figures: &BTreeMap<String, Figures>) {
    println!(
        "| target | executions | edges reached | edges | crashes | seconds |\n|---|---|---|---|---|---|"
    );
    for (name, sum) in figures {
        let Figures { executions, reached, counters, crashes, seconds } = sum;
        println!("| {name} | {executions} | {reached} | {counters} | {crashes} | {seconds} |");
    }
    for (program, _) in PROGRAMS {
        let of_program = figures.iter().filter(|(name, _)| name.starts_with(program));
        let sum: u64 = of_program.map(|(_, sum)| sum.executions).sum();
        println!("{program}: {sum} executions");
    }
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
