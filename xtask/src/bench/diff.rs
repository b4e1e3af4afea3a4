//! Commits of a control repository, compared by Setpoint and by octocatalog-diff: the same nodes, the same facts.
//!
//! The repository is not ours, so that its path is given: `SETPOINT_BENCH_REPOSITORY` (a clone), `SETPOINT_BENCH_COMMITS` (revisions, each compared
//! with its first parent), `SETPOINT_BENCH_FACTS` (a folder with a JSON file a node, which decides the nodes), and where they are needed
//! `SETPOINT_BENCH_FOLDER` (the environment's folder in the repository) and `SETPOINT_BENCH_ARGUMENTS` (more arguments of `setpoint diff`).
//! Every node has to compile for the peer in both versions: a node that does not is an error, since nothing would be compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{Context, Row};
use crate::measure::{Cost, measure};

pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let Some(repository) = std::env::var_os("SETPOINT_BENCH_REPOSITORY").map(PathBuf::from) else {
        eprintln!(
            "diff: SETPOINT_BENCH_REPOSITORY names no control repository; xtask/src/bench/diff.rs says more"
        );
        return Ok(Vec::new());
    };
    let folder = std::env::var("SETPOINT_BENCH_FOLDER").unwrap_or_default();
    let facts = PathBuf::from(required("SETPOINT_BENCH_FACTS")?);
    let nodes = fact_files(&facts)?;
    // A repository may name more nodes than those: both tools compile the same ones.
    let list = std::path::absolute(context.scratch.join("nodes")).map_err(|error| error.to_string())?;
    let names: Vec<&str> = nodes.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join("\n") + "\n";
    std::fs::write(&list, names).map_err(|error| format!("{}: {error}", list.display()))?;
    let mut rows = Vec::new();
    for commit in required("SETPOINT_BENCH_COMMITS")?.split_whitespace() {
        let commit = Commit { repository: &repository, folder: &folder, name: commit };
        let peer = if context.with_peer { Some(commit.peer(&context.scratch, &nodes)?) } else { None };
        for (what, more) in [("with proofs", None), ("without proofs", Some("--timeout=0"))] {
            let ours = commit.ours(context, (&facts, &list), more)?;
            let name = format!("{}, {} nodes, {what}", commit.name, nodes.len());
            rows.push(Row { name, ours, peer, remark: String::new() });
        }
    }
    Ok(rows)
}

fn required(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set; xtask/src/bench/diff.rs says what it is"))
}

/// The files with facts, by the names of their nodes.
fn fact_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let named = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut found: Vec<(String, PathBuf)> =
        named.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path.clone()))).collect();
    found.sort();
    Ok(found)
}

struct Commit<'c> {
    repository: &'c Path,
    folder: &'c str,
    name: &'c str,
}

impl Commit<'_> {
    fn revision(&self, suffix: &str) -> String {
        let folder = if self.folder.is_empty() { String::new() } else { format!(":{}", self.folder) };
        format!("{}{suffix}{folder}", self.name)
    }

    fn ours(
        &self,
        context: &Context,
        (facts, nodes): (&Path, &Path),
        more: Option<&str>,
    ) -> Result<Cost, String> {
        let mut command = vec![
            "env".to_owned(),
            "-C".to_owned(),
            self.repository.display().to_string(),
            context.setpoint.clone(),
        ];
        let (facts, nodes) = (format!("--facts={}", facts.display()), format!("--nodes={}", nodes.display()));
        let (old, new) = (self.revision("~1"), self.revision(""));
        let fixed = ["diff", "--direct", &old, &new, "--puppet=7", "--fail-on=never", "--format=markdown"];
        command.extend(fixed.map(str::to_owned));
        command.extend([facts, nodes]);
        let given = std::env::var("SETPOINT_BENCH_ARGUMENTS").unwrap_or_default();
        command.extend(given.split_whitespace().chain(more).map(str::to_owned));
        measure(3, None, &command)
    }

    /// What the peer takes for all nodes, one after the other: it takes one file of facts a call.
    fn peer(&self, scratch: &Path, nodes: &[(String, PathBuf)]) -> Result<Cost, String> {
        let old = self.export(scratch, "~1")?;
        let new = self.export(scratch, "")?;
        let mut sum = Cost { cpu_ms: 0.0, peak_mb: 0.0 };
        for (node, facts) in nodes {
            let call = format!(
                "octocatalog-diff -n {node} --bootstrapped-from-dir {} --bootstrapped-to-dir {} --fact-file {} \
                 --no-enc --no-hiera-config --puppet-binary \"$(command -v puppet)\" -q --no-color > /dev/null",
                old.display(),
                new.display(),
                facts.display()
            );
            // 2 says that something differs.
            let call = format!("{call}; status=$?; [ $status -eq 0 ] || [ $status -eq 2 ]");
            let cost = measure(1, None, &["sh".to_owned(), "-c".to_owned(), call])
                .map_err(|error| format!("{node} at {}: {error}", self.name))?;
            sum.cpu_ms += cost.cpu_ms;
            sum.peak_mb = sum.peak_mb.max(cost.peak_mb);
        }
        Ok(sum)
    }

    /// The files of a version, as the peer wants them: in a folder.
    fn export(&self, scratch: &Path, suffix: &str) -> Result<PathBuf, String> {
        let folder = scratch.join(if suffix.is_empty() { "new" } else { "old" });
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let script = format!(
            "git -C '{}' archive '{}' | tar -x -C '{}'",
            self.repository.display(),
            self.revision(suffix),
            folder.display()
        );
        let status = Command::new("sh").args(["-c", &script]).status().map_err(|error| error.to_string())?;
        if status.success() { Ok(folder) } else { Err(format!("git has no {}", self.revision(suffix))) }
    }
}
