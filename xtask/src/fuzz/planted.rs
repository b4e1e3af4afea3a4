//! Bugs that are planted, to see which of them fuzzing finds, and how soon: what it does not find in code without bugs says little before.
//!
//! Each is a case of `crates/setpoint_fuzz/planted`: a target, lines of a file, and what stands in their place. All are put into one
//! copy of the repository, which is built once; `SETPOINT_PLANTED` says which of them is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use setpoint_fuzz::{PROGRAMS, Seeds};
use setpoint_testing::{Case, cases, repository};

use super::{build, fuzzer, number_after};

/// What planted lines ask.
const SWITCH: &str = r#"
/// Whether this planted bug is there.
#[allow(dead_code)]
pub(crate) fn planted(name: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("SETPOINT_PLANTED").unwrap_or_default()) == name
}
"#;

/// A bug, with the lines that make it.
struct Planted {
    name: String,
    /// What is wrong, in one line.
    words: String,
    target: String,
    file: String,
    before: String,
    after: String,
}

impl Planted {
    fn read(path: &Path) -> Result<Self, String> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let case = Case::parse(&text);
        match (case.inputs.as_slice(), case.answers.as_slice()) {
            ([target, before], [after]) if before.name == after.name && target.name == "target" => Ok(Self {
                words: case.prose.lines().next().unwrap_or_default().to_owned(),
                target: target.text.trim().to_owned(),
                file: before.name.clone(),
                before: before.text.trim_end().to_owned(),
                after: after.text.trim_end().to_owned(),
                name,
            }),
            _ => Err(format!("{name}: a target, a file and what stands in its place are wanted")),
        }
    }
}

/// Plants all bugs, and fuzzes the target of each for an equal part of the time, from the seeds alone.
pub(super) fn run(wanted: &[String], minutes: f64) -> Result<(), String> {
    let mut bugs = Vec::new();
    for path in cases(&repository().join("crates/setpoint_fuzz/planted")) {
        bugs.push(Planted::read(&path)?);
    }
    let garden = repository().join("target/fuzz/planted");
    plant(&bugs, &garden)?;
    let programs = build(&garden)?;
    bugs.retain(|bug| wanted.is_empty() || wanted.contains(&bug.name) || wanted.contains(&bug.target));
    let share = Duration::from_secs_f64(minutes * 60.0 / bugs.len().max(1) as f64);
    let seeds = Seeds::read();
    println!("| bug | target | found | executions | seconds | what |\n|---|---|---|---|---|---|");
    let mut found = 0;
    for bug in &bugs {
        found += u64::from(hunt(bug, &programs, &seeds, &garden, share)?);
    }
    println!("{found} of {} planted bugs are found", bugs.len());
    Ok(())
}

/// Copies the repository as it is, with every bug in it.
fn plant(bugs: &[Planted], garden: &Path) -> Result<(), String> {
    let tracked = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let listed = Command::new("git").args(tracked).current_dir(repository()).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?.stdout;
    let mut changed: BTreeSet<PathBuf> = BTreeSet::new();
    for name in String::from_utf8_lossy(&listed).split_terminator('\0') {
        let Ok(mut bytes) = std::fs::read(repository().join(name)) else { continue };
        for bug in bugs.iter().filter(|bug| bug.file == name) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if text.matches(&bug.before).count() != 1 {
                return Err(format!("{}: its lines do not stand in {name} once", bug.name));
            }
            bytes = text.replace(&bug.before, &bug.after).into_bytes();
            let folder = Path::new(name).iter().take(2).collect::<PathBuf>();
            changed.insert(folder.join("src/lib.rs"));
        }
        write_if_other(&garden.join(name), &bytes)?;
    }
    for library in changed {
        let mut text =
            std::fs::read_to_string(repository().join(&library)).map_err(|error| error.to_string())?;
        text += SWITCH;
        for bug in bugs.iter().filter(|bug| Path::new(&bug.file) == library) {
            text = text.replace(&bug.before, &bug.after);
        }
        write_if_other(&garden.join(&library), text.as_bytes())?;
    }
    Ok(())
}

/// What stays as it is is not built again.
fn write_if_other(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    let folder = path.parent().ok_or("a file has a folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Fuzzes until the bug is found or the time is over.
fn hunt(
    bug: &Planted,
    programs: &Path,
    seeds: &Seeds,
    garden: &Path,
    share: Duration,
) -> Result<bool, String> {
    let has_target = |(_, targets): &&(&str, &[setpoint_fuzz::Target])| {
        targets.iter().any(|(target, _)| *target == bug.target)
    };
    let program =
        PROGRAMS.iter().find(has_target).ok_or_else(|| format!("no target is called {}", bug.target))?.0;
    let place = garden.join("target").join(&bug.name);
    let (corpus, start) = (place.join("corpus"), place.join("seeds"));
    let _ = std::fs::remove_dir_all(&place);
    for folder in [&corpus, &start] {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    for (number, seed) in seeds.of(&bug.target).iter().enumerate() {
        std::fs::write(start.join(number.to_string()), seed).map_err(|error| error.to_string())?;
    }
    let began = Instant::now();
    let done = fuzzer(&programs.join(program), &bug.target, &place)
        .args([&corpus, &start])
        .arg(format!("-max_total_time={}", share.as_secs().max(1)))
        .env("SETPOINT_PLANTED", &bug.name)
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr);
    let is_found = !done.status.success();
    let how = said.lines().find_map(|line| line.strip_prefix("SUMMARY: libFuzzer: "));
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        bug.name,
        bug.target,
        if is_found { how.unwrap_or("it ended badly") } else { "no" },
        number_after(&said, "stat::number_of_executed_units:").unwrap_or_default(),
        began.elapsed().as_secs(),
        bug.words,
    );
    Ok(is_found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_every_planted_bug_stand_in_its_file() {
        let folder = repository().join("crates/setpoint_fuzz/planted");
        let paths = cases(&folder);
        assert!(paths.len() >= 20, "{}", paths.len());
        for path in paths {
            let bug = Planted::read(&path).unwrap_or_else(|problem| panic!("{problem}"));
            let text = std::fs::read_to_string(repository().join(&bug.file)).unwrap_or_default();
            assert_eq!(text.matches(&bug.before).count(), 1, "{}", bug.name);
            assert!(bug.after.contains(&format!("crate::planted(\"{}\")", bug.name)), "{}", bug.name);
        }
    }
}
