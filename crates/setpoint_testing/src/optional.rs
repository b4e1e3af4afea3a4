//! What some suites need and a machine may lack: Puppet itself, and the corpora beside the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in continuous integration: a suite that would be skipped fails instead.
pub const REQUIRE_ALL: &str = "SETPOINT_REQUIRE_ALL";

/// The root of the repository.
pub fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder).to_owned()
}

/// The folder of corpora and oracles beside the repository, if it is there.
pub fn shared() -> Option<PathBuf> {
    let beside = std::env::var_os("SETPOINT_SHARED").map(PathBuf::from);
    let folder = beside.or_else(|| {
        repository()
            .ancestors()
            .skip(1)
            .map(|above| above.join("shared"))
            .find(|path| path.join("corpus").is_dir())
    })?;
    folder.join("corpus").is_dir().then_some(folder)
}

/// All files below a folder, sorted. Empty if there is no such folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.into_iter().flat_map(below).collect()
}

/// Ruby for an oracle: nothing that is installed beside Puppet, and nothing that the environment says, changes what it answers.
pub fn ruby() -> Command {
    let mut command = Command::new("ruby");
    command.arg("-r").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/alone.rb"));
    for variable in ["RUBYLIB", "RUBYOPT", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE"] {
        command.env_remove(variable);
    }
    // The encoding of files and of messages.
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// Whether Ruby with Puppet is installed.
pub fn puppet() -> bool {
    ruby().args(["-e", "require 'puppet'"]).output().is_ok_and(|output| output.status.success())
}

/// Says that a suite is skipped and why; fails where nothing may be skipped. The reasons are gathered in a file of the
/// target folder, so that the test command can repeat them in its last lines.
#[allow(clippy::print_stderr, reason = "tests speak to the terminal")]
pub fn skip(suite: &str, reason: &str) {
    assert!(
        std::env::var_os(REQUIRE_ALL).is_none(),
        "{suite} was skipped: {reason}, and {REQUIRE_ALL} is set"
    );
    eprintln!("skipped: {suite}: {reason}");
    let folder = repository().join("target").join("skipped-suites");
    if std::fs::create_dir_all(&folder).is_ok() {
        let _ = std::fs::write(folder.join(suite.replace(['/', ' '], "-")), format!("{suite}: {reason}\n"));
    }
}
