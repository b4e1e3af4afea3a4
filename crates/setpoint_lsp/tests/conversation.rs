//! Conversations with a server in this process, over an analyst that finds the word `bad`: what no order of messages may break.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value as Json, json};
use setpoint_lsp::{Analyst, At, Ended, Found, Hover, Symbol, Target, serve};
use setpoint_source::{Diagnostic, FileSystem, MemoryFileSystem, Range, Rule, Sources, read_text};
use setpoint_testing::Random;

/// Finds `bad` when it parses and `worse` when it checks; it panics over `panic`.
#[derive(Debug)]
struct Words;

impl Words {
    fn find(files: &dyn FileSystem, path: &Path, word: &str) -> Option<Found> {
        let text = read_text(files, path).ok()?;
        assert!(!text.contains("panic"), "an analyst makes a mistake");
        let sources = Sources::new();
        let file = sources.add(path.display().to_string(), text.as_str());
        let found = text.match_indices(word);
        let found = found.map(|(at, word)| {
            Diagnostic::new(Rule::Message, format!("{word} is here"))
                .at(Range::new(at, at + word.len()).in_file(file))
        });
        let diagnostics = found.collect();
        Some(Found { sources, diagnostics })
    }
}

impl Analyst for Words {
    fn parse(&self, files: &dyn FileSystem, path: &Path) -> Option<Found> {
        Self::find(files, path, "bad")
    }

    fn scope(&self, _: &dyn FileSystem, path: &Path, _: Option<&Path>) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn check(&self, files: &dyn FileSystem, scope: &Path) -> Result<Found, String> {
        Self::find(files, scope, "worse").ok_or_else(|| "it cannot be read".to_owned())
    }

    fn hover(&self, _: &dyn FileSystem, at: &At<'_>) -> Option<Hover> {
        let range = Range { start: at.offset, end: at.offset };
        Some(Hover { range, markdown: format!("offset {}", at.offset) })
    }

    fn definition(&self, _: &dyn FileSystem, _: &At<'_>) -> Vec<Target> {
        Vec::new()
    }

    fn symbols(&self, _: &dyn FileSystem, _: &Path) -> Vec<Symbol> {
        Vec::new()
    }

    fn format(&self, files: &dyn FileSystem, path: &Path) -> Option<String> {
        Some(read_text(files, path).ok()?.to_uppercase())
    }
}

struct Editor {
    connection: Connection,
    server: JoinHandle<Ended>,
    requests: i32,
    /// What was published last, as the words that are marked.
    shown: Vec<String>,
}

const FILE: &str = "file:///srv/a.txt";

impl Editor {
    fn start() -> Self {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || {
            let files: Arc<dyn FileSystem> = Arc::new(MemoryFileSystem::new());
            serve(&other, Arc::new(Words), files, "1").expect("threads start")
        });
        Self { connection, server, requests: 0, shown: Vec::new() }
    }

    fn initialized() -> Self {
        let mut editor = Self::start();
        editor.ask("initialize", json!({"capabilities": {}})).expect("capabilities");
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&self, method: &str, params: Json) {
        let message = Notification { method: method.to_owned(), params };
        self.connection.sender.send(message.into()).expect("the server listens");
    }

    fn send(&mut self, method: &str, params: Json) -> RequestId {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(request.into()).expect("the server listens");
        id
    }

    /// The answer, or the code of the error.
    fn ask(&mut self, method: &str, params: Json) -> Result<Json, i32> {
        let id = self.send(method, params);
        self.answer(&id)
    }

    fn answer(&mut self, id: &RequestId) -> Result<Json, i32> {
        loop {
            if let Message::Response(Response { id: of, response_result }) = self.receive()
                && of == *id
            {
                return response_result.map_err(|error| error.code);
            }
        }
    }

    fn receive(&mut self) -> Message {
        let patience = Duration::from_secs(60);
        let message = self.connection.receiver.recv_timeout(patience).expect("the server speaks");
        if let Message::Notification(Notification { method, params }) = &message
            && method == "textDocument/publishDiagnostics"
        {
            let found = params["diagnostics"].as_array().expect("diagnostics").iter();
            let place = |one: &Json| {
                let start = &one["range"]["start"];
                format!(
                    "{}:{} {}",
                    start["line"],
                    start["character"],
                    one["message"].as_str().expect("words")
                )
            };
            self.shown = found.map(place).collect();
        }
        message
    }

    fn open(&self, text: &str) {
        let document = json!({"uri": FILE, "languageId": "", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn replace(&self, text: &str) {
        let document = json!({"uri": FILE, "version": 2});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", params);
    }

    /// Waits until this is shown.
    fn sees(&mut self, wanted: &[&str]) {
        while self.shown != wanted {
            self.receive();
        }
    }

    fn end(mut self) -> Ended {
        assert_eq!(self.ask("shutdown", Json::Null), Ok(Json::Null));
        assert_eq!(self.ask("textDocument/hover", Json::Null), Err(-32600));
        self.tell("exit", Json::Null);
        self.server.join().expect("no panic")
    }
}

#[test]
fn a_conversation_has_an_order() {
    let mut editor = Editor::start();
    assert_eq!(editor.ask("textDocument/hover", Json::Null), Err(-32002));
    editor.tell("textDocument/didOpen", json!({}));
    assert_eq!(editor.ask("initialize", json!([])), Err(-32602));
    let answer = editor.ask("initialize", json!({"capabilities": {}})).expect("capabilities");
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.ask("initialize", json!({"capabilities": {}})), Err(-32600));
    assert_eq!(editor.ask("nobody/knows", json!({"a": [1]})), Err(-32601));
    assert_eq!(editor.ask("textDocument/hover", json!({"position": -1})), Err(-32602));
    assert_eq!(editor.end(), Ended::Properly);
}

#[test]
fn an_editor_that_leaves_ends_the_server() {
    let Editor { connection, server, .. } = Editor::initialized();
    drop(connection);
    assert_eq!(server.join().expect("no panic"), Ended::Abruptly);
    let editor = Editor::initialized();
    editor.tell("exit", Json::Null);
    assert_eq!(editor.server.join().expect("no panic"), Ended::Abruptly);
}

#[test]
fn what_is_parsed_and_what_is_checked_are_shown_together() {
    let mut editor = Editor::initialized();
    editor.open("bad\nworse");
    editor.sees(&["0:0 bad is here", "1:0 worse is here"]);
    // The finding of the check moves with its word; only a save makes a new one.
    editor.replace("good\n\nworse worse");
    editor.sees(&["2:6 worse is here"]);
    editor.replace("good\n\nworse bad");
    editor.sees(&["2:6 bad is here"]);
    editor.tell("textDocument/didSave", json!({"textDocument": {"uri": FILE}}));
    editor.sees(&["2:0 worse is here", "2:6 bad is here"]);
    editor.replace("bad\n\nworse bad");
    editor.sees(&["0:0 bad is here", "2:0 worse is here", "2:6 bad is here"]);
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": FILE}}));
    editor.sees(&[]);
    assert_eq!(editor.end(), Ended::Properly);
}

#[test]
fn requests_see_the_text_as_it_was_when_they_were_made() {
    let mut editor = Editor::initialized();
    editor.open("a");
    editor.replace("ä😀b");
    let at = json!({"textDocument": {"uri": FILE}, "position": {"line": 0, "character": 3}});
    let hover = editor.ask("textDocument/hover", at.clone()).expect("an answer");
    assert_eq!(hover["contents"]["value"], "offset 6");
    assert_eq!(hover["range"]["start"], json!({"line": 0, "character": 3}));
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let formatting = json!({"textDocument": {"uri": FILE}, "options": options});
    let formatted = editor.send("textDocument/formatting", formatting);
    editor.replace("c");
    let formatted = editor.answer(&formatted).expect("edits");
    assert_eq!(formatted[0]["newText"], "Ä😀B");
    assert_eq!(editor.end(), Ended::Properly);
}

#[test]
fn a_mistake_of_the_analyst_costs_an_answer_and_not_the_server() {
    let mut editor = Editor::initialized();
    editor.open("panic");
    editor.replace("bad");
    editor.sees(&["0:0 bad is here"]);
    assert_eq!(editor.end(), Ended::Properly);
}

#[test]
fn no_order_of_messages_stops_the_server() {
    let methods = [
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didSave",
        "textDocument/didClose",
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/documentSymbol",
        "textDocument/codeAction",
        "textDocument/formatting",
        "workspace/didChangeWatchedFiles",
        "$/cancelRequest",
        "$/other",
        "initialize",
    ];
    let texts = ["", "bad", "worse\r\nbad 😀", "a\rb\nä bad worse", "panic\n", "\u{feff}bad"];
    let addresses = [FILE, "file:///srv/b%20c.txt", "untitled:1", "file://", "file:///%FF", "x"];
    for seed in 1..=40 {
        let mut random = Random::new(seed);
        let mut editor = Editor::initialized();
        let mut asked = Vec::new();
        for _ in 0..80 {
            let place = |random: &mut Random| json!({"line": random.below(4), "character": random.below(9)});
            let range = json!({"start": place(&mut random), "end": place(&mut random)});
            let text = *random.pick(&texts);
            let document = json!({
                "uri": random.pick(&addresses), "languageId": "", "version": random.below(9), "text": text,
            });
            let change = if random.below(3) == 0 {
                json!({"text": text})
            } else {
                json!({"range": range, "text": text})
            };
            let mut params = json!({
                "textDocument": document,
                "position": place(&mut random),
                "range": range,
                "contentChanges": [change],
                "context": {"diagnostics": []},
                "options": {"tabSize": 2, "insertSpaces": true},
                "changes": [],
                "id": random.below(80),
                "capabilities": {},
            });
            // Something may be missing, or be something else.
            if random.below(6) == 0 {
                let keys = ["textDocument", "position", "range", "contentChanges", "id"];
                params[*random.pick(&keys)] = random.pick(&[Json::Null, json!(-1), json!({})]).clone();
            }
            let method = *random.pick(&methods);
            if random.below(2) == 0 {
                editor.tell(method, params);
            } else {
                asked.push(editor.send(method, params));
            }
        }
        // Every request has its answer, whatever it is.
        let mut open: std::collections::BTreeSet<RequestId> = asked.into_iter().collect();
        while !open.is_empty() {
            if let Message::Response(response) = editor.receive() {
                assert!(open.remove(&response.id), "an answer to nothing");
            }
        }
        assert_eq!(editor.end(), Ended::Properly, "seed {seed}");
    }
}
