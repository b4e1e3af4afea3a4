//! `setpoint lsp` as an editor sees it: the real program, spoken to over its standard streams.
//!
//! Inputs are files of a folder of their own. Each answer is a step of one conversation, and its name is what the editor does:
//!
//! - `open FILE`, `save FILE`, `close FILE`: what the editor shows then, once all checks are done
//! - `change FILE 2:3-2:5 'text'`: the same after a change, without a save; `\n` in the text is the end of a line
//! - `hover FILE 2:3`, `definition FILE 2:3`, `symbols FILE`, `format FILE`: the answer
//! - `fix FILE 2:3`: the changes that are offered there, and what each makes of the file
//! - `ask METHOD JSON`: the answer as it is
//!
//! Lines and columns count from 1; columns count units of UTF-16, or of UTF-8 if the prose says `encoding: utf-8`.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value as Json, json};
use setpoint_testing::{Answers, Case, run_folder};

fn main() -> ExitCode {
    run_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lsp"), answers)
}

/// A server that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

static FOLDERS: AtomicU32 = AtomicU32::new(0);

fn answers(case: &Case) -> Answers {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("setpoint-lsp-{}-{number}", std::process::id()));
    for input in &case.inputs {
        let path = folder.join(&input.name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, &input.text).expect("a file of the case");
    }
    let mut editor = Editor::start(&folder, case.option("encoding").unwrap_or("utf-16"));
    let answers = case.answers.iter().map(|step| (step.name.clone(), editor.take(&step.name))).collect();
    editor.end();
    let _ = std::fs::remove_dir_all(&folder);
    answers
}

/// An editor with one folder open.
struct Editor {
    folder: PathBuf,
    server: Child,
    to_server: ChildStdin,
    from_server: Receiver<Message>,
    /// The text and the version of each open file.
    texts: BTreeMap<String, (String, i32)>,
    requests: i32,
    /// What was published since the last step, by file.
    shown: BTreeMap<String, Vec<Json>>,
    /// Checks that have begun and not ended.
    running: usize,
    utf8: bool,
}

impl Editor {
    fn start(folder: &Path, encoding: &str) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_setpoint"))
            .args(["lsp", "--limit", "60"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let to_server = server.stdin.take().expect("standard input");
        let mut output = BufReader::new(server.stdout.take().expect("standard output"));
        let (sender, from_server) = channel();
        std::thread::spawn(move || {
            // What is no message of the protocol fails the test: the conversation ends in mid-course.
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self {
            folder: folder.to_owned(),
            server,
            to_server,
            from_server,
            texts: BTreeMap::new(),
            requests: 0,
            shown: BTreeMap::new(),
            running: 0,
            utf8: encoding == "utf-8",
        };
        let folder = json!([{"uri": format!("file://{}", address(&editor.folder)), "name": "case"}]);
        let capabilities = json!({
            "window": {"workDoneProgress": true},
            "general": {"positionEncodings": [encoding, "utf-16"]},
        });
        let params = json!({"processId": null, "capabilities": capabilities, "workspaceFolders": folder});
        let started = editor.ask("initialize", params).expect("the server starts");
        assert_eq!(started["capabilities"]["positionEncoding"], encoding);
        editor.tell("initialized", json!({}));
        editor
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Json::Null), Ok(Json::Null));
        self.tell("exit", Json::Null);
        let status = self.server.wait().expect("the server ends");
        assert!(status.success(), "{status}");
    }

    /// One step of the script.
    fn take(&mut self, step: &str) -> String {
        let (word, rest) = step.split_once(' ').expect("a word and a file");
        let (file, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "open" => {
                let text = std::fs::read_to_string(self.folder.join(file)).expect("a file of the case");
                self.texts.insert(file.to_owned(), (text.clone(), 1));
                let document = json!({"uri": self.uri(file), "languageId": "", "version": 1, "text": text});
                self.tell("textDocument/didOpen", json!({"textDocument": document}));
                self.shown()
            }
            "change" => {
                let (range, text) = rest.split_once(' ').expect("a range and a text");
                let text = text.trim_matches('\'').replace("\\n", "\n");
                self.change(file, range, &text);
                self.shown()
            }
            "save" => {
                std::fs::write(self.folder.join(file), &self.texts[file].0).expect("a saved file");
                self.tell("textDocument/didSave", json!({"textDocument": {"uri": self.uri(file)}}));
                self.shown()
            }
            "close" => {
                self.texts.remove(file);
                self.tell("textDocument/didClose", json!({"textDocument": {"uri": self.uri(file)}}));
                self.shown()
            }
            "hover" => match self.ask("textDocument/hover", self.at(file, rest)) {
                Ok(Json::Null) => "nothing\n".to_owned(),
                Ok(hover) => {
                    let text = hover["contents"]["value"].as_str().expect("Markdown");
                    format!("{}\n{}\n", range_text(&hover["range"]), self.relative(text))
                }
                Err(error) => error,
            },
            "definition" => {
                let found = self.ask("textDocument/definition", self.at(file, rest)).expect("an answer");
                let place = |one: &Json| format!("{}\n", self.place(&one["uri"], &one["range"]));
                let found: String = found.as_array().expect("places").iter().map(place).collect();
                if found.is_empty() { "nothing\n".to_owned() } else { found }
            }
            "symbols" => {
                let params = json!({"textDocument": {"uri": self.uri(file)}});
                let mut out = String::new();
                outline(&self.ask("textDocument/documentSymbol", params).expect("symbols"), 0, &mut out);
                out
            }
            "format" => {
                let options = json!({"tabSize": 2, "insertSpaces": true});
                let params = json!({"textDocument": {"uri": self.uri(file)}, "options": options});
                match self.ask("textDocument/formatting", params).expect("an answer") {
                    Json::Null => "nothing\n".to_owned(),
                    edits => self.edited(file, &edits),
                }
            }
            "fix" => self.fixes(file, rest),
            "ask" => {
                let params = if rest.is_empty() { Json::Null } else { rest.parse().expect("JSON") };
                match self.ask(file, params) {
                    Ok(answer) => format!("{answer}\n"),
                    Err(error) => error,
                }
            }
            other => panic!("`{other}` is no step"),
        }
    }

    fn change(&mut self, file: &str, range: &str, text: &str) {
        let uri = self.uri(file);
        let range = range_of(range);
        let (old, version) = self.texts.get_mut(file).expect("an open file");
        *version += 1;
        let change = json!({"range": range, "text": text});
        let document = json!({"uri": uri, "version": *version});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        *old = edited(old, &json!([{"range": range, "newText": text}]), self.utf8);
        self.tell("textDocument/didChange", params);
    }

    fn fixes(&mut self, file: &str, at: &str) -> String {
        let place = position_of(at);
        let params = json!({
            "textDocument": {"uri": self.uri(file)},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": []},
        });
        let actions = self.ask("textDocument/codeAction", params).expect("actions");
        let mut out = String::new();
        for action in actions.as_array().expect("a list") {
            let _ = writeln!(out, "{}", action["title"].as_str().expect("a title"));
            for (uri, edits) in action["edit"]["changes"].as_object().expect("changes") {
                let file = self.name(uri);
                let _ = writeln!(out, "--- {file}\n{}", self.edited(&file, edits).trim_end());
            }
        }
        if out.is_empty() { "nothing\n".to_owned() } else { out }
    }

    /// A file after edits.
    fn edited(&self, file: &str, edits: &Json) -> String {
        let saved = || std::fs::read_to_string(self.folder.join(file)).expect("a file of the case");
        let text = self.texts.get(file).map_or_else(saved, |(text, _)| text.clone());
        edited(&text, edits, self.utf8)
    }

    /// What the editor shows, file by file, once the server is at rest.
    fn shown(&mut self) -> String {
        // The server reads its messages in order: with this answer it has begun all that it will begin.
        assert!(self.ask("setpoint/nothing", Json::Null).is_err());
        while self.running > 0 {
            let message = self.receive();
            self.heed(message);
        }
        let mut out = String::new();
        for (file, diagnostics) in std::mem::take(&mut self.shown) {
            let _ = writeln!(out, "{file}{}", if diagnostics.is_empty() { ": nothing" } else { "" });
            for found in diagnostics {
                let severity = ["", "error", "warning", "information"];
                let severity = severity[found["severity"].as_u64().expect("a severity") as usize];
                let code = found["code"].as_str().expect("the name of a rule");
                let _ = writeln!(out, "  {} {severity} {code}", range_text(&found["range"]));
                for line in self.relative(found["message"].as_str().expect("a message")).lines() {
                    let _ = writeln!(out, "    {line}");
                }
                for related in found["relatedInformation"].as_array().into_iter().flatten() {
                    let place = &related["location"];
                    let text = related["message"].as_str().expect("a message");
                    let _ = writeln!(out, "    {}: {text}", self.place(&place["uri"], &place["range"]));
                }
            }
        }
        out
    }

    // --- messages

    fn ask(&mut self, method: &str, params: Json) -> Result<Json, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id: id.clone(), method: method.to_owned(), params });
        loop {
            match self.receive() {
                Message::Response(Response { id: of, response_result }) if of == id => {
                    return response_result.map_err(|error| format!("{}: {}\n", error.code, error.message));
                }
                other => self.heed(other),
            }
        }
    }

    fn tell(&mut self, method: &str, params: Json) {
        self.send(Notification { method: method.to_owned(), params });
    }

    fn send(&mut self, message: impl Into<Message>) {
        message.into().write(&mut self.to_server).expect("the server listens");
    }

    fn receive(&self) -> Message {
        self.from_server.recv_timeout(PATIENCE).expect("the server speaks")
    }

    fn heed(&mut self, message: Message) {
        let Message::Notification(Notification { method, params }) = message else { return };
        match method.as_str() {
            "textDocument/publishDiagnostics" => {
                let file = self.name(params["uri"].as_str().expect("an address"));
                let diagnostics = params["diagnostics"].as_array().expect("diagnostics").clone();
                self.shown.insert(file, diagnostics);
            }
            "$/progress" if params["value"]["kind"] == "begin" => self.running += 1,
            "$/progress" if params["value"]["kind"] == "end" => self.running -= 1,
            _ => {}
        }
    }

    // --- places

    fn uri(&self, file: &str) -> String {
        format!("file://{}/{file}", address(&self.folder))
    }

    fn name(&self, uri: &str) -> String {
        let start = format!("file://{}/", address(&self.folder));
        uri.strip_prefix(&start).expect("a file of the case").to_owned()
    }

    fn at(&self, file: &str, place: &str) -> Json {
        json!({"textDocument": {"uri": self.uri(file)}, "position": position_of(place)})
    }

    fn place(&self, uri: &Json, range: &Json) -> String {
        format!("{} {}", self.name(uri.as_str().expect("an address")), range_text(range))
    }

    fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.display()), "")
    }
}

/// `2:3`, counted from 1.
fn position_of(text: &str) -> Json {
    let (line, column) = text.split_once(':').expect("a line and a column");
    let number = |text: &str| text.parse::<u32>().expect("a number") - 1;
    json!({"line": number(line), "character": number(column)})
}

fn range_of(text: &str) -> Json {
    let (start, end) = text.split_once('-').expect("a start and an end");
    json!({"start": position_of(start), "end": position_of(end)})
}

fn range_text(range: &Json) -> String {
    let place = |place: &Json| {
        let number = |name: &str| place[name].as_u64().expect("a number") + 1;
        format!("{}:{}", number("line"), number("character"))
    };
    format!("{}-{}", place(&range["start"]), place(&range["end"]))
}

fn outline(symbols: &Json, depth: usize, out: &mut String) {
    for symbol in symbols.as_array().expect("symbols") {
        let (name, detail) = (symbol["name"].as_str().unwrap(), symbol["detail"].as_str().unwrap());
        let place = range_text(&symbol["selectionRange"]);
        let _ = writeln!(out, "{:1$}{detail} {name} {place}", "", 2 * depth);
        outline(&symbol["children"], depth + 1, out);
    }
}

/// A text after edits that do not overlap, as an editor makes them.
fn edited(text: &str, edits: &Json, utf8: bool) -> String {
    let offset = |place: &Json| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut column = place["character"].as_u64().expect("a column") as usize;
        let mut at = start;
        for letter in text[start..].chars() {
            if column == 0 || letter == '\n' {
                break;
            }
            column = column.saturating_sub(if utf8 { letter.len_utf8() } else { letter.len_utf16() });
            at += letter.len_utf8();
        }
        at
    };
    let edits = edits.as_array().expect("edits").iter();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .map(|edit| {
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            (offset(start), offset(end), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|(start, ..)| *start);
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

/// A path as it stands in an address; a temporary folder may have spaces.
fn address(path: &Path) -> String {
    path.display().to_string().replace(' ', "%20")
}
