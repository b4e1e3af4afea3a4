//! Inputs that want to do harm: read what is none of their business, run programs, take all memory, never end, crash.
//!
//! A case has inputs and command lines. An input `NAME @sh` is what its text prints as a script of `sh` in the folder of the case;
//! `make @sh` is a script that makes files itself. In all of them `{outside}` is a folder beside that of the case, which no call names.
//! It has files with a secret, and a program `tripwire`, which leaves a trace if it is run. Inputs of `.git` make a repository.
//!
//! The name of an answer is a command line, at its end perhaps ` < FILE` or ` > FILE`. Its first line is `exit N`, or `exit N or M`; each
//! other line is words that the program says, or, after `! `, words that it does not say.
//!
//! No call may panic, run the tripwire, print the secret unless its answer says so, use more than a gigabyte, or need more than
//! the time below, which is far more than any call needs.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use setpoint_testing::{Case, Section, cases, run_tests, skip};

/// What files outside of the inputs hold.
const SECRET: &str = "planted-secret-7193";
/// Of the processor, in a build without optimisations.
const MAX_SECONDS: u64 = 120;
/// Of the clock: a call that waits for something never ends.
const MAX_WAIT: Duration = Duration::from_secs(1200);
const MAX_KILOBYTES: u64 = 1_000_000;
/// What a process may reserve, used or not: the stacks of its threads are large.
const MAX_RESERVED_KILOBYTES: &str = "16000000";

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut trials = Vec::new();
    let can_watch = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let can_watch = can_watch.is_ok_and(|done| done.status.success());
    if !can_watch {
        skip("hostile/watched", "strace is not installed, or may not trace");
    }
    for path in cases(&folder) {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        if can_watch && WATCHED.iter().any(|folder| name.starts_with(folder)) {
            let path = path.clone();
            trials.push(Trial::test(format!("watched/{name}"), move || watch(&path)));
        }
        trials.push(Trial::test(name, move || check(&path)));
    }
    run_tests(trials)
}

/// The folders of cases whose calls are run again with their system calls watched.
const WATCHED: &[&str] = &["confinement/", "git/", "inputs/protocols"];

/// Runs the calls of a case that name nothing outside: they open nothing there, run nothing but git, and connect to nothing.
fn watch(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let case = Case::parse(&text);
    let place = Place::new();
    place.lay_out(&case)?;
    let trace = place.outside.join("trace").display().to_string();
    let mut problems = String::new();
    for answer in case.answers.iter().filter(|answer| !answer.name.contains("{outside}")) {
        let calls = "trace=execve,execveat,connect,open,openat,openat2";
        place.call(&answer.name, &["strace", "-f", "-qq", "-s", "4096", "-e", calls, "-o", &trace])?;
        let traced = std::fs::read_to_string(&trace).map_err(|error| format!("no trace: {error}"))?;
        for line in traced.lines().filter(|line| is_forbidden(line, &place)) {
            let _ = writeln!(problems, "{}: {line}", answer.name);
        }
        if !traced.contains("execve(") {
            let _ = writeln!(problems, "{}: nothing was watched", answer.name);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failed::from(format!("{}\n{problems}", path.display()))) }
}

/// Whether a line of a trace is a call that succeeded and must not.
fn is_forbidden(line: &str, place: &Place) -> bool {
    // A call that was interrupted stands on a line of its own, with its path.
    if line.contains(" = -1 ") || line.contains(" resumed>") {
        return false;
    }
    let first = line.split('"').nth(1).unwrap_or_default();
    if line.contains("execve") {
        let name = Path::new(first).file_name().unwrap_or_default();
        return !["sh", "dash", "setpoint", "git"].iter().any(|known| name == *known);
    }
    let home = place.outside.join("home");
    line.contains("connect(")
        || (Path::new(first).starts_with(&place.outside) && !Path::new(first).starts_with(home))
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let case = Case::parse(&text);
    let place = Place::new();
    place.lay_out(&case)?;
    let mut problems = String::new();
    for answer in &case.answers {
        let done = place.call(&answer.name, &[])?;
        for problem in problems_of(&done, answer, &place) {
            let _ = writeln!(problems, "{}: {problem}\n{}", answer.name, done.said);
        }
    }
    if case.answers.is_empty() {
        problems += "the case has no answer\n";
    }
    if problems.is_empty() { Ok(()) } else { Err(Failed::from(format!("{}\n{problems}", path.display()))) }
}

static PLACES: AtomicU32 = AtomicU32::new(0);

/// The folder of a case and the one outside of it; both are removed at the end.
struct Place {
    inside: PathBuf,
    outside: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        for folder in [&self.inside, &self.outside] {
            // A case may take away rights.
            let _ = Command::new("chmod").args(["-R", "u+rwx"]).arg(folder).output();
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// How a call ended.
struct Done {
    status: ExitStatus,
    /// Standard output, then standard error.
    said: String,
    ended_by_us: Option<&'static str>,
}

impl Place {
    fn new() -> Self {
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("setpoint-hostile-{}-{number}", std::process::id());
        let (inside, outside) =
            (std::env::temp_dir().join(&name), std::env::temp_dir().join(format!("{name}-outside")));
        std::fs::create_dir_all(&inside).expect("a temporary folder");
        std::fs::create_dir_all(outside.join("home")).expect("a temporary folder");
        let place = Self { inside, outside };
        place.plant("secret", SECRET);
        place.plant("secret.yaml", &format!("message: {SECRET}\n"));
        place.plant("secret.json", &format!("{{\"message\": \"{SECRET}\"}}\n"));
        place.plant("secret.pp", &format!("notify {{ '{SECRET}': }}\n"));
        place.plant("secret.erb", &format!("{SECRET} <%= 1 %>\n"));
        place.plant("secret.epp", &format!("{SECRET} <%= 1 %>\n"));
        place.plant("secret.sf", &format!("secret \"{SECRET}\";\n"));
        place.plant("module/manifests/init.pp", &format!("class module {{ notify {{ '{SECRET}': }} }}\n"));
        place.plant("module/files/secret", SECRET);
        place.plant("tripwire", &format!("#!/bin/sh\ntouch {}/tripped\n", place.outside.display()));
        let made = Command::new("chmod").arg("+x").arg(place.outside.join("tripwire")).status();
        assert!(made.is_ok_and(|status| status.success()));
        place
    }

    fn plant(&self, name: &str, text: &str) {
        let path = self.outside.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn lay_out(&self, case: &Case) -> Result<(), Failed> {
        for Section { name, text } in &case.inputs {
            let text = self.filled(text);
            let Some(path) = name.strip_suffix(" @sh") else {
                self.write(name, text.as_bytes())?;
                continue;
            };
            let made = Command::new("sh")
                .args(["-e", "-c", &text])
                .current_dir(&self.inside)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
                .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
                .output()
                .map_err(|error| error.to_string())?;
            if !made.status.success() {
                return Err(Failed::from(format!("{name}: {}", String::from_utf8_lossy(&made.stderr))));
            }
            if path != "make" {
                self.write(path, &made.stdout)?;
            }
        }
        // What the case itself ran, in making a repository, does not count.
        let _ = std::fs::remove_file(self.outside.join("tripped"));
        Ok(())
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), Failed> {
        let path = self.inside.join(name);
        let folder = path.parent().ok_or("a file has a folder")?;
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        std::fs::write(path, content).map_err(|error| format!("{name}: {error}").into())
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{outside}", &self.outside.display().to_string())
    }

    fn call(&self, line: &str, before: &[&str]) -> Result<Done, Failed> {
        let line = self.filled(line);
        let (line, output) = match line.split_once(" > ") {
            Some((line, file)) => (line.to_owned(), Some(self.inside.join(file))),
            None => (line, None),
        };
        let (line, input) = match line.split_once(" < ") {
            Some((line, file)) => (line.to_owned(), Some(self.inside.join(file))),
            None => (line, None),
        };
        let (out, err) = (self.outside.join("stdout"), self.outside.join("stderr"));
        let open = |path: &Path| {
            let mut options = File::options();
            options.write(true).create(true).truncate(path == out || path == err).open(path)
        };
        let failed = |error: std::io::Error| Failed::from(format!("{line}: {error}"));
        let mut words = words(&line).into_iter();
        assert_eq!(words.next().as_deref(), Some("setpoint"), "an answer is a command line: {line}");
        let limited = format!("ulimit -v {MAX_RESERVED_KILOBYTES}; exec \"$@\"");
        let input = match &input {
            Some(path) => Stdio::from(File::open(path).map_err(failed)?),
            None => Stdio::null(),
        };
        let mut child = Command::new("sh")
            .args(["-c", &limited, "sh"])
            .args(before)
            .arg(env!("CARGO_BIN_EXE_setpoint"))
            .args(words)
            .current_dir(&self.inside)
            .env("NO_COLOR", "1")
            .env("HOME", self.outside.join("home"))
            .env("PLANTED", SECRET)
            .stdin(input)
            .stdout(open(output.as_deref().unwrap_or(&out)).map_err(failed)?)
            .stderr(open(&err).map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        let start = Instant::now();
        let (mut ended_by_us, mut pause) = (None, Duration::from_millis(1));
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if cpu_seconds(child.id()) > MAX_SECONDS || start.elapsed() > MAX_WAIT {
                ended_by_us = Some("it did not end in time");
            } else if kilobytes(child.id()) > MAX_KILOBYTES {
                ended_by_us = Some("it used more than a gigabyte");
            }
            if ended_by_us.is_some() {
                let _ = child.kill();
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        let read =
            |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        let said = if output.is_some() { String::new() } else { read(&out) };
        let _ = std::fs::remove_file(&out);
        Ok(Done { status, said: said + &read(&err), ended_by_us })
    }
}

/// The time that a process has computed: what else the machine does is no matter.
fn cpu_seconds(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program stands in parentheses, and may have spaces. Of what follows, the 12th and 13th are hundredths of
    // seconds.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>()
        / 100
}

/// The most memory that a process has used so far.
fn kilobytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

fn problems_of(done: &Done, answer: &Section, place: &Place) -> Vec<String> {
    let mut problems: Vec<String> = done.ended_by_us.into_iter().map(str::to_owned).collect();
    if let (Some(signal), None) = (done.status.signal(), done.ended_by_us) {
        problems.push(format!("it was ended by signal {signal}"));
    }
    let mut says_secret = false;
    let mut lines = answer.text.lines().filter(|line| !line.is_empty());
    let wanted = lines.next().and_then(|line| line.strip_prefix("exit ")).unwrap_or("0");
    let code = done.status.code().map(|code| code.to_string()).unwrap_or_default();
    if !wanted.split(" or ").any(|wanted| wanted == code) {
        problems.push(format!("exit {code}, and not {wanted}"));
    }
    for line in lines {
        let words = place.filled(line);
        if let Some(words) = words.strip_prefix("! ") {
            if done.said.contains(words) {
                problems.push(format!("it says `{words}`"));
            }
        } else {
            says_secret |= words.contains(SECRET);
            if !done.said.contains(&words) {
                problems.push(format!("it does not say `{words}`"));
            }
        }
    }
    if done.said.contains(SECRET) && !says_secret {
        problems.push("it tells the secret".to_owned());
    }
    if ["panicked at", "overflowed its stack", "memory allocation of"]
        .iter()
        .any(|words| done.said.contains(words))
    {
        problems.push("it crashes".to_owned());
    }
    if std::fs::remove_file(place.outside.join("tripped")).is_ok() {
        problems.push("it ran a program of the input".to_owned());
    }
    problems
}

/// The words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
