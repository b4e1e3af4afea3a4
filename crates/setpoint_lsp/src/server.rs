//! The loop: messages of the editor in, what is to be shown out.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Sender, TryRecvError, bounded, select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, LogMessage, Notification as _, Progress, PublishDiagnostics,
};
use lsp_types::request::{Request as _, WorkDoneProgressCreate};
use lsp_types::{
    Diagnostic, InitializeParams, LogMessageParams, MessageType, NumberOrString, ProgressParams,
    ProgressParamsValue, PublishDiagnosticsParams, Uri, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use setpoint_source::{FileSystem, OverlayFileSystem, read_text};

use crate::documents::{Document, Documents, changed};
use crate::findings::Findings;
use crate::positions::Encoding;
use crate::work::{Check, Checked, Workers, guarded};
use crate::{Analyst, address, requests, transport};

/// How long the program waits for its last words to be read.
const FAREWELL: Duration = Duration::from_secs(2);

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The editor asked for it, in the order that the protocol wants.
    Properly,
    /// The editor was gone.
    Abruptly,
}

/// Serves the editor at the other end of standard input and output, until it ends the conversation.
pub fn serve_standard_streams(
    analyst: Arc<dyn Analyst>,
    disk: Arc<dyn FileSystem>,
    version: &str,
) -> std::io::Result<Ended> {
    let (connection, threads) = transport::standard_streams()?;
    let ended = serve(&connection, analyst, disk, version)?;
    drop(connection);
    // What was said last is written before the program ends, unless nobody reads it.
    let (written, is_written) = bounded(1);
    std::thread::spawn(move || {
        let _ = written.send(threads.join());
    });
    match is_written.recv_timeout(FAREWELL) {
        // The error quotes what was sent, and that may be a text with secrets.
        Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => Err(std::io::Error::new(
            ErrorKind::InvalidData,
            "what it sends is no message of the language server protocol",
        )),
        _ => Ok(ended),
    }
}

/// Serves the editor at the other end of a connection.
pub fn serve(
    connection: &Connection,
    analyst: Arc<dyn Analyst>,
    disk: Arc<dyn FileSystem>,
    version: &str,
) -> std::io::Result<Ended> {
    let workers = Workers::start(&analyst, &disk, &connection.sender)?;
    let mut server = Server {
        sender: connection.sender.clone(),
        analyst,
        disk,
        workers,
        version: version.to_owned(),
        phase: Phase::New,
        encoding: Encoding::default(),
        folders: Vec::new(),
        shows_progress: false,
        documents: Documents::default(),
        parsed: BTreeMap::new(),
        scopes: BTreeMap::new(),
        published: BTreeMap::new(),
        checks: 0,
        own_requests: 0,
    };
    let checked = server.workers.checked.clone();
    loop {
        // Several changes in a row are parsed once.
        if server.documents.0.values().any(|document| document.is_dirty) {
            match connection.receiver.try_recv() {
                Ok(message) => {
                    if let Some(ended) = server.receive(message) {
                        return Ok(ended);
                    }
                    continue;
                }
                Err(TryRecvError::Empty) => server.parse_all(),
                Err(TryRecvError::Disconnected) => return Ok(Ended::Abruptly),
            }
        }
        select! {
            recv(connection.receiver) -> message => {
                let Ok(message) = message else { return Ok(Ended::Abruptly) };
                if let Some(ended) = server.receive(message) {
                    return Ok(ended);
                }
            }
            recv(checked) -> done => {
                if let Ok(done) = done {
                    server.take(done);
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// What is known of a scope.
#[derive(Debug, Default)]
struct Scope {
    /// The newest check that was asked for.
    number: u64,
    findings: Findings,
}

pub(crate) struct Server {
    sender: Sender<Message>,
    analyst: Arc<dyn Analyst>,
    disk: Arc<dyn FileSystem>,
    pub(crate) workers: Workers,
    version: String,
    phase: Phase,
    pub(crate) encoding: Encoding,
    /// The folders that the editor has open.
    folders: Vec<PathBuf>,
    shows_progress: bool,
    pub(crate) documents: Documents,
    /// What the text of each open file shows by itself.
    parsed: BTreeMap<PathBuf, Findings>,
    scopes: BTreeMap<PathBuf, Scope>,
    /// What the editor shows now.
    published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    checks: u64,
    own_requests: i32,
}

impl Server {
    fn receive(&mut self, message: Message) -> Option<Ended> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => return self.notification(notification),
            // Answers to what was merely announced.
            Message::Response(_) => {}
        }
        None
    }

    fn request(&mut self, request: Request) {
        match (self.phase, request.method.as_str()) {
            (Phase::New, "initialize") => self.initialize(request),
            (Phase::New, _) => {
                self.refuse(request.id, ErrorCode::ServerNotInitialized, "`initialize` comes first");
            }
            (Phase::ShutDown, _) => {
                self.refuse(request.id, ErrorCode::InvalidRequest, "the server was shut down");
            }
            (Phase::Running, "initialize") => {
                self.refuse(request.id, ErrorCode::InvalidRequest, "`initialize` comes once");
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.answer(request.id, Json::Null);
            }
            (Phase::Running, _) => {
                // Who asks sees what was typed before.
                self.parse_all();
                requests::answer(self, request);
            }
        }
    }

    fn initialize(&mut self, request: Request) {
        let params = match serde_json::from_value::<InitializeParams>(request.params) {
            Ok(params) => params,
            Err(error) => return self.refuse(request.id, ErrorCode::InvalidParams, &error.to_string()),
        };
        let general = params.capabilities.general.as_ref();
        self.encoding = Encoding::of(general.and_then(|general| general.position_encodings.as_ref()));
        let window = params.capabilities.window.as_ref();
        self.shows_progress = window.and_then(|window| window.work_done_progress).unwrap_or(false);
        let folders = params.workspace_folders.unwrap_or_default();
        self.folders = folders.iter().filter_map(|folder| address::path(&folder.uri)).collect();
        #[allow(deprecated, reason = "editors without folders of a workspace name their root so")]
        if let (true, Some(root)) = (self.folders.is_empty(), params.root_uri) {
            self.folders.extend(address::path(&root));
        }
        for folder in &self.folders {
            self.disk.allow_project_of(folder);
        }
        self.phase = Phase::Running;
        self.answer(request.id, requests::capabilities(self.encoding, &self.version));
    }

    fn notification(&mut self, notification: Notification) -> Option<Ended> {
        let Notification { method, params } = notification;
        if method == "exit" {
            let properly = self.phase == Phase::ShutDown;
            return Some(if properly { Ended::Properly } else { Ended::Abruptly });
        }
        if self.phase != Phase::Running {
            return None;
        }
        match method.as_str() {
            DidOpenTextDocument::METHOD => self.open(read::<DidOpenTextDocument>(params)?),
            DidChangeTextDocument::METHOD => self.change(&read::<DidChangeTextDocument>(params)?),
            DidSaveTextDocument::METHOD => {
                let path = address::path(&read::<DidSaveTextDocument>(params)?.text_document.uri)?;
                self.check_scope_of(&path);
            }
            DidCloseTextDocument::METHOD => {
                let path = address::path(&read::<DidCloseTextDocument>(params)?.text_document.uri)?;
                self.close(&path);
            }
            DidChangeWatchedFiles::METHOD => {
                let asked_by: Vec<PathBuf> = self.documents.0.keys().cloned().collect();
                for path in &asked_by {
                    self.check_scope_of(path);
                }
            }
            Cancel::METHOD => match read::<Cancel>(params)?.id {
                NumberOrString::Number(id) => self.workers.cancel(&RequestId::from(id)),
                NumberOrString::String(id) => self.workers.cancel(&RequestId::from(id)),
            },
            _ => {}
        }
        None
    }

    // --- texts

    fn open(&mut self, params: lsp_types::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = address::path(&document.uri) else { return };
        self.disk.allow_project_of(&path);
        let text: Arc<str> = document.text.into();
        let is_saved = read_text(&*self.disk, &path).is_ok_and(|saved| *saved == *text);
        self.follow(&path, &text);
        let opened = Document { uri: document.uri, version: document.version, text, is_dirty: true };
        self.documents.0.insert(path.clone(), opened);
        self.parse_all();
        // A scope that was checked with the same text need not be checked again.
        let is_known = is_saved && self.scope(&path).is_some_and(|scope| self.scopes.contains_key(&scope));
        if !is_known {
            self.check_scope_of(&path);
        }
    }

    fn change(&mut self, params: &lsp_types::DidChangeTextDocumentParams) {
        let Some(path) = address::path(&params.text_document.uri) else { return };
        let Some(document) = self.documents.0.get_mut(&path) else { return };
        let text: Arc<str> = changed(&document.text, &params.content_changes, self.encoding).into();
        document.version = params.text_document.version;
        document.text = Arc::clone(&text);
        document.is_dirty = true;
        self.follow(&path, &text);
    }

    fn close(&mut self, path: &Path) {
        let Some(document) = self.documents.0.remove(path) else { return };
        self.parsed.remove(path);
        let saved = read_text(&*self.disk, path).ok();
        match self.scope(path) {
            // Nothing more is to be said about a file that is checked by itself.
            Some(scope) if scope == path => {
                self.scopes.remove(&scope);
            }
            Some(_) if saved.as_deref() != Some(&document.text) => self.check_scope_of(path),
            _ => {}
        }
        if let Some(saved) = saved {
            self.follow(path, &saved.into());
        }
        self.publish(path);
    }

    /// A file has another text now.
    fn follow(&mut self, path: &Path, text: &Arc<str>) {
        for scope in self.scopes.values_mut() {
            scope.findings.follow(path, text);
        }
    }

    /// Parses what has changed.
    fn parse_all(&mut self) {
        let is_dirty = |(path, document): (&PathBuf, &Document)| document.is_dirty.then(|| path.clone());
        let dirty: Vec<PathBuf> = self.documents.0.iter().filter_map(is_dirty).collect();
        if dirty.is_empty() {
            return;
        }
        let files = OverlayFileSystem { over: self.documents.unsaved(), base: &*self.disk };
        let parsed: Vec<(PathBuf, Result<Option<Findings>, String>)> = dirty
            .into_iter()
            .map(|path| {
                let found = guarded(|| self.analyst.parse(&files, &path));
                let found = found.map(|found| found.map(|found| Findings::new(&found, &files, &path)));
                (path, found)
            })
            .collect();
        for (path, found) in parsed {
            if let Some(document) = self.documents.0.get_mut(&path) {
                document.is_dirty = false;
            }
            let found = found.unwrap_or_else(|problem| {
                self.log(MessageType::ERROR, &problem);
                None
            });
            let found = found.unwrap_or_default();
            for scope in self.scopes.values_mut() {
                scope.findings.leave_to(&found);
            }
            self.parsed.insert(path.clone(), found);
            self.publish(&path);
        }
    }

    // --- checks

    /// What is checked as a whole for a file.
    pub(crate) fn scope(&self, path: &Path) -> Option<PathBuf> {
        let files = OverlayFileSystem { over: self.documents.unsaved(), base: &*self.disk };
        let limit = self.folders.iter().filter(|folder| path.starts_with(folder)).max();
        guarded(|| self.analyst.scope(&files, path, limit.map(PathBuf::as_path))).ok().flatten()
    }

    fn check_scope_of(&mut self, path: &Path) {
        let Some(scope) = self.scope(path) else { return };
        self.checks += 1;
        let number = self.checks;
        self.scopes.entry(scope.clone()).or_default().number = number;
        self.announce(number, &scope);
        self.workers.check(Check {
            scope,
            asked_by: path.to_owned(),
            number,
            unsaved: self.documents.unsaved(),
            open: self.documents.0.keys().cloned().collect(),
        });
    }

    /// Shows what a check found, unless a newer one is on its way.
    fn take(&mut self, done: Checked) {
        let Checked { scope: name, number, outcome } = done;
        let is_current = self.scopes.get(&name).is_some_and(|scope| scope.number == number);
        match outcome {
            Some(Ok(mut findings)) if is_current => {
                for (path, document) in &self.documents.0 {
                    findings.follow(path, &document.text);
                }
                self.parsed.values().for_each(|parsed| findings.leave_to(parsed));
                for remark in std::mem::take(&mut findings.remarks) {
                    self.log(MessageType::INFO, &remark);
                }
                let mut paths = findings.paths();
                if let Some(scope) = self.scopes.get_mut(&name) {
                    paths.extend(scope.findings.paths());
                    scope.findings = findings;
                }
                paths.sort();
                paths.dedup();
                for path in &paths {
                    self.publish(path);
                }
            }
            Some(Err(problem)) if is_current => {
                self.log(MessageType::ERROR, &format!("{}: {problem}", name.display()));
            }
            _ => {}
        }
        self.announce_end(number);
    }

    // --- what is said

    /// Everything that is known of the place, each finding once.
    pub(crate) fn findings_of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Findings> {
        self.parsed.get(path).into_iter().chain(self.scopes.values().map(|scope| &scope.findings))
    }

    fn publish(&mut self, path: &Path) {
        let uri = |path: &Path| self.uri(path);
        let mut shown: Vec<Diagnostic> = Vec::new();
        for one in self.findings_of(path).flat_map(|found| found.shown(path, self.encoding, &uri)) {
            if !shown.contains(&one) {
                shown.push(one);
            }
        }
        shown.sort_by_key(|one| (one.range.start, one.range.end));
        let Some(uri) = self.uri(path) else { return };
        let known = self.published.get(path).map_or(&[][..], Vec::as_slice);
        if shown == known {
            return;
        }
        let version = self.documents.get(path).map(|document| document.version);
        self.notify::<PublishDiagnostics>(PublishDiagnosticsParams {
            uri,
            diagnostics: shown.clone(),
            version,
        });
        if shown.is_empty() {
            self.published.remove(path);
        } else {
            self.published.insert(path.to_owned(), shown);
        }
    }

    /// The address of a file, as the editor spells it if it has the file open.
    pub(crate) fn uri(&self, path: &Path) -> Option<Uri> {
        self.documents.get(path).map(|document| document.uri.clone()).or_else(|| address::uri(path))
    }

    fn announce(&mut self, number: u64, scope: &Path) {
        if !self.shows_progress {
            return;
        }
        let token = token(number);
        self.own_requests += 1;
        let id = RequestId::from(format!("setpoint-{}", self.own_requests));
        let create = WorkDoneProgressCreateParams { token: token.clone() };
        self.send(Request::new(id, WorkDoneProgressCreate::METHOD.to_owned(), create));
        let name = scope.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let begin =
            WorkDoneProgressBegin { title: format!("Checking {name}"), ..WorkDoneProgressBegin::default() };
        let value = ProgressParamsValue::WorkDone(WorkDoneProgress::Begin(begin));
        self.notify::<Progress>(ProgressParams { token, value });
    }

    fn announce_end(&self, number: u64) {
        if self.shows_progress {
            let value = ProgressParamsValue::WorkDone(WorkDoneProgress::End(WorkDoneProgressEnd::default()));
            self.notify::<Progress>(ProgressParams { token: token(number), value });
        }
    }

    fn log(&self, typ: MessageType, message: &str) {
        self.notify::<LogMessage>(LogMessageParams { typ, message: message.to_owned() });
    }

    pub(crate) fn answer(&self, id: RequestId, result: impl Serialize) {
        match serde_json::to_value(result) {
            Ok(result) => self.send(Response { id, response_result: Ok(result) }),
            Err(error) => self.refuse(id, ErrorCode::InternalError, &error.to_string()),
        }
    }

    pub(crate) fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        self.send(Response::new_err(id, code as i32, message.to_owned()));
    }

    fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) {
        if let Ok(params) = serde_json::to_value(params) {
            self.send(Notification { method: N::METHOD.to_owned(), params });
        }
    }

    /// An editor that is gone is noticed where messages are read.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.sender.send(message.into());
    }
}

fn token(number: u64) -> NumberOrString {
    NumberOrString::String(format!("setpoint-check-{number}"))
}

/// The parameters of a notification. There is no way to complain about those that make no sense.
fn read<N: lsp_types::notification::Notification>(params: Json) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    serde_json::from_value(params).ok()
}
