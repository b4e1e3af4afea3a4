//! Setpoint beside its peers: ours, the peer's and the ratio, in one run.
//!
//! A bench is a function that gives rows; [`BENCHES`] lists them. To add one, write a file beside this one and a line there.

mod cloudformation;
mod diff;
mod orchestra;
mod order;
mod packages;
mod puppet;
mod puppet_modules;
mod smartfrog;
mod tosca;
mod why;

use std::path::{Path, PathBuf};
use std::process::Command;

use setpoint_testing::repository;

use crate::measure::Cost;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which bench; all if none is named
    name: Option<String>,
    /// Measure ours only
    #[arg(long)]
    without_peer: bool,
}

/// One line of the table.
pub(crate) struct Row {
    /// What was done.
    pub(crate) name: String,
    pub(crate) ours: Cost,
    pub(crate) peer: Option<Cost>,
    /// What the figure shows, such as the growth since the row before.
    pub(crate) remark: String,
}

/// A family of measurements.
struct Bench {
    name: &'static str,
    peer: &'static str,
    rows: fn(&Context) -> Result<Vec<Row>, String>,
}

static BENCHES: &[Bench] = &[
    Bench { name: "packages", peer: "apt-file, if it is installed", rows: packages::rows },
    Bench { name: "smartfrog", peer: "not on this machine; recorded times are named", rows: smartfrog::rows },
    Bench { name: "order", peer: "all orders, encoded for z3", rows: order::rows },
    Bench { name: "puppet", peer: "Puppet's compiler in a bare Ruby process", rows: puppet::rows },
    Bench {
        name: "cloudformation",
        peer: "cfn-lint with its rules on order alone",
        rows: cloudformation::rows,
    },
    Bench { name: "tosca", peer: "opera's parser, which starts nothing", rows: tosca::rows },
    Bench {
        name: "orchestra",
        peer: "cfn-lint with its rules on order alone, and opera's parser",
        rows: orchestra::rows,
    },
    Bench { name: "diff", peer: "octocatalog-diff, on a control repository that is given", rows: diff::rows },
    Bench { name: "why", peer: "the same without provenance", rows: why::rows },
];

/// What every bench needs.
pub(crate) struct Context {
    /// The release binary.
    pub(crate) setpoint: String,
    /// A folder for inputs, emptied before each bench.
    pub(crate) scratch: PathBuf,
    pub(crate) with_peer: bool,
}

impl Context {
    /// Returns a program of Python in a virtual environment of its own, for which `pip` installs each list of packages on first use.
    fn install_peer(&self, name: &str, program: &str, packages: &[&[&str]]) -> Result<PathBuf, String> {
        let home = self.scratch.parent().unwrap_or(&self.scratch).join(name);
        let program = home.join("bin").join(program);
        if program.is_file() {
            return Ok(program);
        }
        let run = |program: &Path, arguments: &[&str]| -> Result<(), String> {
            let status = Command::new(program).args(arguments).status().map_err(|error| error.to_string())?;
            let refused = || format!("{name} cannot be installed; use --without-peer");
            status.success().then_some(()).ok_or_else(refused)
        };
        run(Path::new("python3"), &["-m", "venv", &home.display().to_string()])?;
        for packages in packages {
            run(&home.join("bin/pip"), &[&["install", "--quiet"], *packages].concat())?;
        }
        Ok(program)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let chosen: Vec<&Bench> = BENCHES
        .iter()
        .filter(|bench| arguments.name.as_ref().is_none_or(|name| name == bench.name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        return Err(format!("there is no such bench; there are {}", names.join(", ")));
    }
    build()?;
    let target = repository().join("target");
    for bench in chosen {
        let scratch = target.join("bench").join(bench.name);
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let context = Context {
            setpoint: target.join("release/setpoint").display().to_string(),
            scratch,
            with_peer: !arguments.without_peer,
        };
        let rows = (bench.rows)(&context)?;
        print_table(bench, &rows);
    }
    Ok(())
}

fn build() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "setpoint"])
        .current_dir(repository())
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("setpoint does not build".to_owned()) }
}

fn print_table(bench: &Bench, rows: &[Row]) {
    println!("{}: CPU time (user and system) and peak memory; the peer is {}", bench.name, bench.peer);
    println!(
        "| {:<44} | {:>11} | {:>11} | {:>8} | {:>9} | {:>9} |",
        "", "ours", "peer", "ratio", "ours", "peer"
    );
    println!("|{:-<46}|{:->13}|{:->13}|{:->10}|{:->11}|{:->11}|", "", ":", ":", ":", ":", ":");
    for row in rows {
        let ms = |cost: Cost| format!("{:.1} ms", cost.cpu_ms);
        let mb = |cost: Cost| format!("{:.0} MB", cost.peak_mb);
        let ratio = row.peer.map(|peer| format!("{:.0}x", peer.cpu_ms / row.ours.cpu_ms.max(0.001)));
        println!(
            "| {:<44} | {:>11} | {:>11} | {:>8} | {:>9} | {:>9} | {}",
            row.name,
            ms(row.ours),
            row.peer.map(ms).unwrap_or_default(),
            ratio.unwrap_or_default(),
            mb(row.ours),
            row.peer.map(mb).unwrap_or_default(),
            row.remark
        );
    }
}
