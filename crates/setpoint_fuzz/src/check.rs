//! `check` as a whole, and what answers requests: editors and `serve`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value as Json, json};
use setpoint_ide::InputKind;
use setpoint_lsp::{Analyst, At, Found, Hover, Symbol, Target as Place};
use setpoint_project::{Options, Session};
use setpoint_source::{FileSystem, MemoryFileSystem};
use setpoint_testing::Case;

use crate::{Target, text_of};

/// The targets.
pub const TARGETS: &[Target] =
    &[("check", check), ("check-catalog", check_catalog), ("serve", serve), ("editor", editor)];

/// The files of a case, or of one manifest.
fn files_of(text: &str) -> MemoryFileSystem {
    let mut files = MemoryFileSystem::new();
    let case = Case::parse(text);
    if case.inputs.is_empty() {
        files.add("srv/main.pp", text);
    }
    for input in case.inputs {
        files.add(Path::new("srv").join(&input.name), input.text);
    }
    files
}

fn session(files: &dyn FileSystem) -> Session<'_> {
    let mut session = Session::new(files);
    session.jobs = Some(1);
    // What takes longer is cut off: an input that is slow by design costs as much as a hundred others.
    session.deadline = Instant::now().checked_add(Duration::from_millis(300));
    session
}

fn options() -> Options {
    Options { timeout: Some(1), ..Options::default() }
}

fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let files = files_of(text);
    let _ = setpoint_project::check(&session(&files), Path::new("srv/main.pp"), &options());
}

fn check_catalog(data: &[u8]) {
    let mut files = MemoryFileSystem::new();
    files.add("a.json", data);
    let _ = setpoint_project::check_catalog(&session(&files), Path::new("a.json"), &options());
}

/// Lines of requests, about a small environment.
fn serve(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let mut files = MemoryFileSystem::new();
    files.add("srv/manifests/site.pp", "node default { notify { \"${facts['a']}\": } }\n");
    files.add("srv/environment.conf", "");
    let mut lines = text.lines().map(str::to_owned);
    setpoint_serve::serve(&files, "0", &mut lines, &mut |_| {});
}

/// Answers as the program does for manifests.
#[derive(Debug)]
struct Editor;

impl Analyst for Editor {
    fn parse(&self, files: &dyn FileSystem, path: &Path) -> Option<Found> {
        let session = session(files);
        let (file, text) = session.load(path).ok()?;
        let diagnostics = setpoint_project::parse_file(path, file, &text).diagnostics;
        Some(Found { sources: session.sources, diagnostics })
    }

    fn scope(&self, files: &dyn FileSystem, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
        InputKind::Puppet.find_scope(&session(files), path, limit)
    }

    fn check(&self, files: &dyn FileSystem, scope: &Path) -> Result<Found, String> {
        let session = session(files);
        let inputs = setpoint_project::check(&session, scope, &options()).map_err(|error| error.0)?;
        let diagnostics = inputs.into_iter().flat_map(|input| input.findings).collect();
        Ok(Found { sources: session.sources, diagnostics })
    }

    fn hover(&self, files: &dyn FileSystem, at: &At<'_>) -> Option<Hover> {
        InputKind::Puppet.describe(&session(files), at, &setpoint_ide::Options::default())
    }

    fn definition(&self, files: &dyn FileSystem, at: &At<'_>) -> Vec<Place> {
        InputKind::Puppet.find_definitions(&session(files), at, &setpoint_ide::Options::default())
    }

    fn symbols(&self, files: &dyn FileSystem, path: &Path) -> Vec<Symbol> {
        InputKind::Puppet.list_symbols(&session(files), path)
    }

    fn format(&self, _: &dyn FileSystem, _: &Path) -> Option<String> {
        None
    }
}

/// A session: the first byte says how many messages there are, pairs of bytes what they ask and where, the rest is the text that is
/// opened and changed.
fn editor(data: &[u8]) {
    let Some((count, data)) = data.split_first() else { return };
    let count = usize::from(count % 24).min(data.len() / 3);
    let (asked, text) = data.split_at(count * 3);
    let Some(text) = text_of(text) else { return };
    let (ours, theirs) = Connection::memory();
    let server = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        setpoint_lsp::serve(&theirs, Arc::new(Editor), Arc::new(MemoryFileSystem::new()), "0")
    });
    let Ok(server) = server else { return };
    let uri = "file:///srv/a.pp";
    let mut number = 0;
    let mut ask = |method: &str, params: Json| {
        number += 1;
        let request = Request { id: RequestId::from(number), method: method.to_owned(), params };
        ours.sender.send(Message::Request(request)).is_ok()
    };
    let tell = |method: &str, params: Json| {
        let notification = Notification { method: method.to_owned(), params };
        ours.sender.send(Message::Notification(notification)).is_ok()
    };
    ask("initialize", json!({ "capabilities": {} }));
    tell("initialized", json!({}));
    let document = json!({ "uri": uri, "languageId": "puppet", "version": 0, "text": text });
    tell("textDocument/didOpen", json!({ "textDocument": document }));
    for (version, message) in asked.chunks_exact(3).enumerate() {
        let position = json!({ "line": message[1] % 40, "character": message[2] });
        let end = json!({ "line": message[1] % 40, "character": message[2].saturating_add(3) });
        let range = json!({ "start": position, "end": end });
        let document = json!({ "uri": uri, "version": version + 1 });
        match message[0] % 8 {
            0 => ask("textDocument/hover", json!({ "textDocument": document, "position": position })),
            1 => ask("textDocument/definition", json!({ "textDocument": document, "position": position })),
            2 => ask("textDocument/documentSymbol", json!({ "textDocument": document })),
            3 => {
                let context = json!({ "diagnostics": [] });
                let params = json!({ "textDocument": document, "range": range, "context": context });
                ask("textDocument/codeAction", params)
            }
            4 => tell("textDocument/didSave", json!({ "textDocument": document })),
            5 => {
                let change = json!({ "range": range, "text": "" });
                tell(
                    "textDocument/didChange",
                    json!({ "textDocument": document, "contentChanges": [change] }),
                )
            }
            6 => {
                let change = json!({ "range": range, "text": "${x}'\"{\n" });
                tell(
                    "textDocument/didChange",
                    json!({ "textDocument": document, "contentChanges": [change] }),
                )
            }
            _ => tell("$/cancelRequest", json!({ "id": message[1] })),
        };
    }
    ask("shutdown", Json::Null);
    tell("exit", Json::Null);
    let ended = server.join();
    assert!(ended.is_ok(), "the server ends");
}
