//! What the integrations run, run on a repository made for the test: the shell of the GitHub action, of the GitLab component and
//! of the pre-commit hook, with stand-ins for the programs that talk to a forge.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use setpoint_testing::{repository, skip};

/// Stands in for `gh`: notes each call, and answers with the comments that were posted before.
const GH: &str = r#"#!/bin/bash
echo "$@" >>"$FORGE/calls"
body=
for word in "$@"; do case $word in body=@*) body=${word#body=@};; esac; done
case "$*" in
  *"--method POST"*) cp "$body" "$FORGE/comment" ;;
  *"--method PATCH"*issues/comments/77*) cp "$body" "$FORGE/comment" ;;
  *--jq*) if [ -f "$FORGE/comment" ] && [ "$(head -n 1 "$FORGE/comment")" = "$MARKER" ]; then echo 77; fi ;;
  *) exit 1 ;;
esac
"#;

/// Stands in for `curl`: the same for notes of GitLab.
const CURL: &str = r#"#!/bin/bash
echo "$@" >>"$FORGE/calls"
case "$*" in
  *"--request POST"*) cp setpoint.md "$FORGE/comment" ;;
  *"--request PUT"*/notes/77) cp setpoint.md "$FORGE/comment" ;;
  *per_page*)
    if [ -f "$FORGE/comment" ]; then
      marker=$(head -n 1 "$FORGE/comment" | sed 's/</\\u003c/g; s/>/\\u003e/g')
      printf '[{"id":5,"body":"other"},{"id":77,"type":null,"body":"%s\\nrest"}]' "$marker"
    else
      echo '[]'
    fi ;;
  *) exit 1 ;;
esac
"#;

struct Forge {
    folder: PathBuf,
}

impl Forge {
    /// A repository with a commit on `main` and a change on a branch, and the stand-ins.
    fn new(name: &str, old: &str, new: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("integrations").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        for inner in ["repository/manifests", "bin", "temp"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let forge = Self { folder };
        for (program, text) in [("gh", GH), ("curl", CURL)] {
            forge.program(program, text);
        }
        let binary = format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_setpoint"));
        forge.program("setpoint", &binary);
        forge.git(&["init", "--quiet", "--initial-branch=main"]);
        forge.write("environment.conf", "modulepath = modules\n");
        forge.write("manifests/site.pp", old);
        forge.git(&["add", "--all"]);
        forge.git(&["commit", "--quiet", "--message", "old"]);
        forge.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        forge.git(&["checkout", "--quiet", "-b", "change"]);
        forge.write("manifests/site.pp", new);
        forge.git(&["commit", "--quiet", "--all", "--message", "new"]);
        forge
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("repository")
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.folder.join("bin").join(name);
        std::fs::write(&path, text).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(&path).status().unwrap().success());
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.repository().join(path), text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let output = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.repository())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn bash(&self, script: &str, variables: &BTreeMap<&str, String>) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("bash")
            // As GitHub runs it; GitLab's shell is no laxer.
            .args(["-e", "-o", "pipefail", "-c", script])
            .current_dir(self.repository())
            .env("PATH", format!("{}:{path}", self.folder.join("bin").display()))
            .env("FORGE", &self.folder)
            .envs(variables)
            .output()
            .unwrap()
    }

    /// What was posted, or put in its place.
    fn comment(&self) -> String {
        std::fs::read_to_string(self.folder.join("comment")).unwrap_or_default()
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.folder.join("calls")).unwrap_or_default()
    }
}

/// The programs that are needed, or that the suite is skipped.
fn is_possible() -> bool {
    let works = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    if works("git") && works("bash") {
        return true;
    }
    skip("integrations", "git or bash is not installed");
    false
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// The scripts under `run:` of an action, each with the name of its step.
fn scripts(action: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut name = String::new();
    let mut lines = action.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(step) = line.trim().strip_prefix("- name: ") {
            step.clone_into(&mut name);
        } else if let Some(one) = line.trim().strip_prefix("run: ") {
            if one != "|" {
                found.push((name.clone(), one.to_owned()));
                continue;
            }
            found.push((name.clone(), block(&mut lines, indentation(line))));
        }
    }
    found
}

/// The lines of a block scalar: those that are indented further than its key.
fn block<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>, outer: usize) -> String {
    let mut block = String::new();
    while let Some(line) = lines.next_if(|line| line.trim().is_empty() || indentation(line) > outer) {
        block.push_str(line.trim_start());
        block.push('\n');
    }
    block
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

const OLD: &str = "node default {\n  file { '/etc/motd': content => \"one\\n\" }\n}\n";
const NEW: &str = "node default {\n  file { '/etc/motd': content => \"two\\n\" }\n}\n";
const BROKEN: &str = "node default {\n  file { '/etc/motd': content => nothing_of_that_name() }\n}\n";

/// Runs the steps of the action as a runner does, and returns the statuses by name.
fn run_action(forge: &Forge) -> BTreeMap<String, i32> {
    let temp = forge.folder.join("temp");
    let mut variables = BTreeMap::from([
        ("GITHUB_REPOSITORY", "owner/control".to_owned()),
        ("RUNNER_TEMP", temp.display().to_string()),
        ("GITHUB_STEP_SUMMARY", temp.join("summary").display().to_string()),
        ("GITHUB_OUTPUT", temp.join("output").display().to_string()),
        ("SETPOINT_BASE", "origin/main".to_owned()),
        ("SETPOINT_FAIL_ON", "error".to_owned()),
        ("SETPOINT_ARGUMENTS", "--platform debian-12".to_owned()),
        ("SETPOINT_NUMBER", "12".to_owned()),
    ]);
    let _ = std::fs::remove_file(temp.join("output"));
    let mut statuses = BTreeMap::new();
    for (name, script) in scripts(&text("integrations/github/action.yml")) {
        let output = std::fs::read_to_string(temp.join("output")).unwrap_or_default();
        let status = output.trim().strip_prefix("status=").unwrap_or("").to_owned();
        variables.insert("SETPOINT_STATUS", status);
        let output = forge.bash(&script, &variables);
        statuses.insert(name, output.status.code().unwrap_or(-1));
        assert!(
            output.status.code() != Some(127),
            "{script}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    statuses
}

#[test]
fn the_action_keeps_one_comment() {
    if !is_possible() {
        return;
    }
    let forge = Forge::new("github", OLD, NEW);
    let statuses = run_action(&forge);
    assert_eq!(statuses.values().copied().collect::<Vec<_>>(), [0, 0, 0], "{statuses:?}");
    let first = forge.comment();
    assert!(first.starts_with("<!-- setpoint:owner/control -->\n"), "{first}");
    assert!(first.contains("File[/etc/motd]"), "{first}");
    let summary = std::fs::read_to_string(forge.folder.join("temp/summary")).unwrap();
    assert_eq!(summary, first);
    // The next push changes the same comment.
    forge.write("manifests/site.pp", BROKEN);
    forge.git(&["commit", "--quiet", "--all", "--message", "broken"]);
    let statuses = run_action(&forge);
    assert_eq!(statuses["Compare"], 0, "the comment comes before the failure");
    assert_eq!(statuses["Result"], 1, "a change that breaks a node fails");
    assert_ne!(forge.comment(), first);
    let calls = forge.calls();
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    assert_eq!(calls.matches("--method PATCH").count(), 1, "{calls}");
}

#[test]
fn the_component_keeps_one_note() {
    if !is_possible() {
        return;
    }
    let forge = Forge::new("gitlab", OLD, NEW);
    let component = text("integrations/gitlab/setpoint.yml");
    let mut lines = component.lines().peekable();
    let key = lines.find(|line| line.trim() == "- |").expect("the component has a script");
    let script = block(&mut lines, indentation(key));
    let variables = BTreeMap::from([
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main".to_owned()),
        ("CI_PROJECT_PATH", "owner/control".to_owned()),
        ("CI_API_V4_URL", "https://gitlab.example.com/api/v4".to_owned()),
        ("CI_PROJECT_ID", "3".to_owned()),
        ("CI_MERGE_REQUEST_IID", "12".to_owned()),
        ("SETPOINT_FAIL_ON", "error".to_owned()),
        ("SETPOINT_ARGUMENTS", "--platform debian-12".to_owned()),
        ("SETPOINT_TOKEN", "secret".to_owned()),
    ]);
    let output = forge.bash(&script, &variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let first = forge.comment();
    assert!(first.contains("File[/etc/motd]"), "{first}");
    forge.write("manifests/site.pp", BROKEN);
    forge.git(&["commit", "--quiet", "--all", "--message", "broken"]);
    let output = forge.bash(&script, &variables);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_ne!(forge.comment(), first);
    let calls = forge.calls();
    assert_eq!(calls.matches("--request POST").count(), 1, "{calls}");
    assert_eq!(calls.matches("--request PUT").count(), 1, "{calls}");
}

#[test]
fn the_hook_checks_what_is_committed() {
    if !is_possible() {
        return;
    }
    let forge = Forge::new("pre-commit", OLD, NEW);
    let hooks = text(".pre-commit-hooks.yaml");
    let entry =
        hooks.lines().find_map(|line| line.trim().strip_prefix("entry: ")).expect("the hook has an entry");
    let hook = repository().join(entry);
    assert!(Path::new(&hook).is_file());
    let script = format!("{} --platform debian-12", hook.display());
    let run = |forge: &Forge| forge.bash(&script, &BTreeMap::new());
    let output = run(&forge);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    // What is not in the index does not count; what is, does.
    forge.write("manifests/site.pp", BROKEN);
    assert_eq!(run(&forge).status.code(), Some(0));
    forge.git(&["add", "--all"]);
    let output = run(&forge);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("nothing_of_that_name"));
}
