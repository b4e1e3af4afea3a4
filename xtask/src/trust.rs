//! The figures of `docs/trust.md`, each made anew; a short form unless the long one is asked for.

use std::process::Command;

use setpoint_testing::{Case, cases, repository};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// 500 kills and 500 full disks instead of 20 and 12, and 60 minutes of fuzzing and of servers
    #[arg(long)]
    long: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let hostile = repository().join("crates/setpoint/tests/hostile");
    let calls: usize = cases(&hostile)
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| Case::parse(&text).answers.len())
        .sum();
    println!("{calls} hostile calls");
    let kills = if arguments.long { "500" } else { "20" };
    let mut tasks: Vec<Vec<&str>> = vec![
        vec!["test", "-p", "setpoint", "--test", "hostile"],
        vec!["test", "-p", "setpoint", "--test", "durability", "--", "--nocapture"],
        vec!["test", "-p", "setpoint_fuzz"],
    ];
    if arguments.long {
        tasks.push(vec!["xtask", "fuzz", "--minutes", "60"]);
        tasks.push(vec!["xtask", "soak", "--minutes", "20"]);
        tasks.push(vec!["xtask", "supply"]);
    } else {
        tasks.push(vec!["xtask", "soak", "--minutes", "0.1"]);
        tasks.push(vec!["xtask", "fuzz", "--figures"]);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for task in tasks {
        println!("\ncargo {}", task.join(" "));
        let status = Command::new(&cargo)
            .args(&task)
            .env("SETPOINT_KILLS", kills)
            .current_dir(repository())
            .status()
            .map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("cargo {} failed", task.join(" ")));
        }
    }
    Ok(())
}
