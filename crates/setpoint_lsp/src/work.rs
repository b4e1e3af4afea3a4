//! The threads on which an analyst works, so that typing never waits.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::Value as Json;
use setpoint_source::{FileSystem, MemoryFileSystem, OverlayFileSystem, thread_builder};

use crate::Analyst;
use crate::findings::Findings;

/// A check to be made, with the texts as they were when it was asked for.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) scope: PathBuf,
    /// The file that was opened or saved.
    pub(crate) asked_by: PathBuf,
    pub(crate) number: u64,
    pub(crate) unsaved: MemoryFileSystem,
    pub(crate) open: Vec<PathBuf>,
}

/// What came of a check; nothing if a newer one of the same scope makes it needless.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) scope: PathBuf,
    pub(crate) number: u64,
    pub(crate) outcome: Option<Result<Findings, String>>,
}

/// An answer to be given.
pub(crate) type Question = Box<dyn FnOnce(&dyn Analyst, &dyn FileSystem) -> Json + Send>;

struct Asked {
    id: RequestId,
    unsaved: MemoryFileSystem,
    question: Question,
}

/// What the threads share with the server.
pub(crate) struct Workers {
    checks: Sender<Check>,
    questions: Sender<Asked>,
    pub(crate) checked: Receiver<Checked>,
    /// The number of the newest check of each scope.
    newest: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
    /// The questions that are open, and whether the editor has lost interest.
    open: Arc<Mutex<BTreeMap<RequestId, bool>>>,
    replies: Sender<Message>,
}

impl Workers {
    pub(crate) fn start(
        analyst: &Arc<dyn Analyst>,
        disk: &Arc<dyn FileSystem>,
        replies: &Sender<Message>,
    ) -> std::io::Result<Self> {
        let (checks, checks_to_do) = unbounded::<Check>();
        let (questions, questions_to_do) = unbounded::<Asked>();
        let (done, checked) = unbounded();
        let newest: Arc<Mutex<BTreeMap<PathBuf, u64>>> = Arc::default();
        let open: Arc<Mutex<BTreeMap<RequestId, bool>>> = Arc::default();
        let thread = |name: &str| thread_builder().name(name.to_owned());
        thread("checks").spawn({
            let (analyst, disk, newest) = (Arc::clone(analyst), Arc::clone(disk), Arc::clone(&newest));
            move || {
                for check in checks_to_do {
                    let is_newest = || {
                        let newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
                        newest.get(&check.scope).is_none_or(|number| *number <= check.number)
                    };
                    let outcome = is_newest().then(|| run(&*analyst, &*disk, &check)).filter(|_| is_newest());
                    if done.send(Checked { scope: check.scope, number: check.number, outcome }).is_err() {
                        return;
                    }
                }
            }
        })?;
        thread("answers").spawn({
            let (analyst, disk, open) = (Arc::clone(analyst), Arc::clone(disk), Arc::clone(&open));
            let replies = replies.clone();
            move || {
                for Asked { id, unsaved, question } in questions_to_do {
                    let is_cancelled = |remove: bool| {
                        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                        let cancelled = open.get(&id).copied();
                        if remove {
                            open.remove(&id);
                        }
                        cancelled == Some(true)
                    };
                    let files = OverlayFileSystem { over: unsaved, base: &*disk };
                    let answer = (!is_cancelled(false)).then(|| guarded(|| question(&*analyst, &files)));
                    let response = match answer {
                        _ if is_cancelled(true) => cancelled(id),
                        None => cancelled(id),
                        Some(Ok(answer)) => Response { id, response_result: Ok(answer) },
                        Some(Err(message)) => Response::new_err(id, ErrorCode::InternalError as i32, message),
                    };
                    if replies.send(response.into()).is_err() {
                        return;
                    }
                }
            }
        })?;
        Ok(Self { checks, questions, checked, newest, open, replies: replies.clone() })
    }

    /// Puts a check into the queue; older ones of the same scope are not made any more.
    pub(crate) fn check(&self, check: Check) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.insert(check.scope.clone(), check.number);
        drop(newest);
        // The thread lives as long as this end of the channel.
        let _ = self.checks.send(check);
    }

    /// Puts a question into the queue; its thread answers the editor.
    pub(crate) fn ask(&self, id: RequestId, unsaved: MemoryFileSystem, question: Question) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), false);
        if let Err(refused) = self.questions.send(Asked { id, unsaved, question }) {
            let message = "the thread that answers has ended".to_owned();
            let failed = Response::new_err(refused.0.id, ErrorCode::InternalError as i32, message);
            let _ = self.replies.send(failed.into());
        }
    }

    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(cancelled) = self.open.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id) {
            *cancelled = true;
        }
    }
}

fn run(analyst: &dyn Analyst, disk: &dyn FileSystem, check: &Check) -> Result<Findings, String> {
    let files = OverlayFileSystem { over: check.unsaved.clone(), base: disk };
    let found = guarded(|| analyst.check(&files, &check.scope))??;
    let mut findings = Findings::new(&found, &files, &check.asked_by);
    // What the text of an open file shows by itself is told while somebody types, and not by the check.
    for path in &check.open {
        if let Some(parsed) = guarded(|| analyst.parse(&files, path))? {
            findings.leave_to(&Findings::new(&parsed, &files, path));
        }
    }
    Ok(findings)
}

fn cancelled(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::RequestCanceled as i32, "cancelled".to_owned())
}

/// An editor must not lose its server to a mistake of an analyst.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("internal error: {}", words(&*panic)))
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown")
}
