//! Servers under changing input, all at once: `serve`, `lsp` and, run after run, `fleet`. Memory and handles stay as they are after a
//! tenth of the time, and the same input has the same answer each time.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// For each of the three
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// The program; that of a debug build unless it is named
    #[arg(long)]
    program: Option<PathBuf>,
}

/// What a server may take more at the end than it took when it was warm.
const GROWTH: u64 = 32 * 1024;
/// How many states the input goes through, again and again.
const STATES: usize = 8;

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let program = arguments.program.clone().unwrap_or_else(|| repository().join("target/debug/setpoint"));
    let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
    let share = Duration::from_secs_f64(arguments.minutes * 60.0);
    let folder = std::env::temp_dir().join(format!("setpoint-soak-{}", std::process::id()));
    let place = |name: &str| {
        let place = folder.join(name);
        write(&place, 0).map(|()| place)
    };
    let (serve, lsp, fleet) = (place("serve")?, place("lsp")?, place("fleet")?);
    let done = std::thread::scope(|scope| {
        let all = [
            scope.spawn(|| soak("serve", &mut Served::start(&program, &serve)?, &serve, share)),
            scope.spawn(|| soak("lsp", &mut Edited::start(&program, &lsp)?, &lsp, share)),
            scope.spawn(|| soak("fleet", &mut Fleet::new(&program, &fleet), &fleet, share)),
        ];
        all.into_iter().map(|one| one.join().map_err(|_| "a soak run panics")?).collect::<Vec<_>>()
    });
    let _ = std::fs::remove_dir_all(&folder);
    done.into_iter().collect()
}

/// Something that answers about the folder as it is.
trait Asked {
    fn ask(&mut self, state: usize) -> Result<String, String>;
    /// Resident kilobytes and open handles: now, or the most of the last run.
    fn used(&self) -> Option<(u64, u64)>;
}

fn soak(name: &str, asked: &mut dyn Asked, folder: &Path, share: Duration) -> Result<(), String> {
    let start = Instant::now();
    let mut answers: Vec<Option<String>> = vec![None; STATES];
    let (mut count, mut warm) = (0_u64, None);
    while start.elapsed() < share {
        let state = count as usize % STATES;
        write(folder, state)?;
        let answer = asked.ask(state)?;
        match &answers[state] {
            None => answers[state] = Some(answer),
            Some(first) if *first != answer => {
                return Err(format!("{name}: question {count} has another answer:\n{first}\n{answer}"));
            }
            Some(_) => {}
        }
        count += 1;
        if warm.is_none() && start.elapsed() > share / 10 {
            warm = asked.used();
        }
    }
    let last = asked.used();
    let (Some((memory, handles)), Some((last_memory, last_handles))) = (warm, last) else {
        return Err(format!("{name}: there is no such process"));
    };
    println!(
        "{name}: {count} questions in {} s, the same answers; {memory} kB and {handles} handles when warm, \
         {last_memory} kB and {last_handles} at the end",
        start.elapsed().as_secs()
    );
    if last_memory > memory + GROWTH || last_handles > handles + 2 {
        return Err(format!("{name} grows"));
    }
    Ok(())
}

/// Resident kilobytes, by a line of the system's, and open handles of a process.
fn used(process: u32, line: &str) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|found| found.strip_prefix(line))?;
    let memory = line.split_whitespace().next()?.parse().ok()?;
    Some((memory, std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64))
}

/// A control repository in one of its states: one has a mistake in its syntax, one a loop, the others other values.
fn write(folder: &Path, state: usize) -> Result<(), String> {
    let text = manifest(state);
    let data = format!("profile::port: {state}\n");
    let class = "class profile($port) { file { '/etc/app': content => \"port ${port}\\n\" } }\n";
    for (path, text) in [
        ("environment.conf", "modulepath = modules\n"),
        ("hiera.yaml", "version: 5\nhierarchy:\n  - name: a\n    path: common.yaml\n"),
        ("data/common.yaml", &data),
        ("modules/profile/manifests/init.pp", class),
        ("manifests/site.pp", &text),
    ] {
        let path = folder.join(path);
        let parent = path.parent().ok_or("a file has a folder")?;
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn manifest(state: usize) -> String {
    match state {
        3 => "node 'a' { include profile \n".to_owned(),
        5 => "node 'a' { include profile notify { 'x': require => Notify['y'] } notify { 'y': require => Notify['x'] } }\n"
            .to_owned(),
        _ => format!("node 'a' {{ include profile notify {{ 'state {state}': }} }}\nnode 'b' {{ }}\n"),
    }
}

fn spawned(
    program: &Path,
    command: &str,
    folder: &Path,
) -> Result<(Child, ChildStdin, BufReader<ChildStdout>), String> {
    let mut child = Command::new(program)
        .arg(command)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let input = child.stdin.take().ok_or("no standard input")?;
    let output = child.stdout.take().ok_or("no standard output")?;
    Ok((child, input, BufReader::new(output)))
}

struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(program: &Path, folder: &Path) -> Result<Self, String> {
        let (child, input, output) = spawned(program, "serve", folder)?;
        let mut served = Self { child, input, output };
        served.request(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"environment": "."}}),
        )?;
        Ok(served)
    }

    fn request(&mut self, request: &Json) -> Result<String, String> {
        writeln!(self.input, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.is_empty() { Err("serve ended".to_owned()) } else { Ok(line) }
    }
}

impl Asked for Served {
    fn ask(&mut self, _: usize) -> Result<String, String> {
        self.request(&json!({"jsonrpc": "2.0", "id": 1, "method": "catalog", "params": {"node": "a", "facts": {"x": 1}}}))
    }

    fn used(&self) -> Option<(u64, u64)> {
        used(self.child.id(), "VmRSS:")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Edited {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    address: String,
    version: u64,
}

impl Edited {
    fn start(program: &Path, folder: &Path) -> Result<Self, String> {
        let (child, input, output) = spawned(program, "lsp", folder)?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let address = format!("file://{}/manifests/site.pp", folder.display());
        let mut edited = Self { child, input, output, address, version: 0 };
        let root = format!("file://{}", folder.display());
        edited.send(
            &json!({"id": 0, "method": "initialize", "params": {"capabilities": {}, "rootUri": root}}),
        )?;
        edited.receive(|message| message.get("id") == Some(&json!(0)))?;
        edited.send(&json!({"method": "initialized", "params": {}}))?;
        let document = json!({"uri": edited.address, "languageId": "puppet", "version": 0, "text": ""});
        edited.send(&json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}))?;
        Ok(edited)
    }

    fn send(&mut self, message: &Json) -> Result<(), String> {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .map_err(|error| error.to_string())?;
        self.input.flush().map_err(|error| error.to_string())
    }

    fn receive(&mut self, is_wanted: impl Fn(&Json) -> bool) -> Result<Json, String> {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                let read = self.output.read_line(&mut line).map_err(|error| error.to_string())?;
                if read == 0 {
                    return Err("lsp ended".to_owned());
                }
                if line.trim().is_empty() {
                    break;
                }
                if let Some(number) = line.strip_prefix("Content-Length: ") {
                    length = number.trim().parse().map_err(|_| "no length".to_owned())?;
                }
            }
            let mut text = vec![0; length];
            self.output.read_exact(&mut text).map_err(|error| error.to_string())?;
            let message: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
            if is_wanted(&message) {
                return Ok(message);
            }
        }
    }
}

impl Asked for Edited {
    fn ask(&mut self, state: usize) -> Result<String, String> {
        self.version += 1;
        let document = json!({"uri": self.address, "version": self.version});
        let change = json!([{"text": manifest(state)}]);
        self.send(&json!({"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": change}}))?;
        let mut answer = String::new();
        // A check of what is on the disk goes on meanwhile.
        self.send(&json!({"method": "textDocument/didSave", "params": {"textDocument": document}}))?;
        let asked = ["textDocument/documentSymbol", "textDocument/hover", "textDocument/definition"];
        for (id, method) in asked.into_iter().enumerate() {
            let id = id + 1;
            let params = json!({"textDocument": document, "position": {"line": 0, "character": 22}});
            self.send(&json!({"id": id, "method": method, "params": params}))?;
            let said = self.receive(|message| message.get("id") == Some(&json!(id)))?.to_string();
            // What the last check found stands below a line, and the files changed while it read them.
            answer += said.split("\\n\\n---\\n\\n").next().unwrap_or_default();
        }
        Ok(answer)
    }

    fn used(&self) -> Option<(u64, u64)> {
        used(self.child.id(), "VmRSS:")
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Fleet {
    program: PathBuf,
    folder: PathBuf,
    /// Of the last run.
    most: (u64, u64),
}

impl Fleet {
    fn new(program: &Path, folder: &Path) -> Self {
        Self { program: program.to_owned(), folder: folder.to_owned(), most: (0, 0) }
    }
}

impl Asked for Fleet {
    fn ask(&mut self, _: usize) -> Result<String, String> {
        let mut child = Command::new(&self.program)
            .args(["fleet", ".", "--format", "json"])
            .current_dir(&self.folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut output = child.stdout.take().ok_or("no standard output")?;
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).map(|_| text)
        });
        self.most = (0, 0);
        let status = loop {
            // A process that has ended has no figures any more.
            if let Some((memory, handles)) = used(child.id(), "VmHWM:") {
                self.most = (self.most.0.max(memory), self.most.1.max(handles));
            }
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let text = reader.join().map_err(|_| "a thread panics")?.map_err(|error| error.to_string())?;
        Ok(format!("{:?}\n{text}", status.code()))
    }

    fn used(&self) -> Option<(u64, u64)> {
        Some(self.most)
    }
}
