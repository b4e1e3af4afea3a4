//! What was found, in offsets that move while somebody types, and as the protocol shows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{
    Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};
use setpoint_source::{Diagnostic, FileSystem, Range, Rule, Severity, Span, few};

use crate::Found;
use crate::documents::Shift;
use crate::positions::{Encoding, Lines};

/// So many nodes are named; a check on the command line names them all.
const SHOWN_NODES: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) range: Range,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(crate) rule: Rule,
    severity: Severity,
    message: String,
    related: Vec<(Place, String)>,
    pub(crate) fix: Option<Mending>,
}

/// A change that mends a finding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mending {
    pub(crate) title: String,
    /// Each place and what stands there then.
    pub(crate) edits: Vec<(Place, String)>,
}

/// What one question found, and the texts that its offsets are of.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    texts: BTreeMap<PathBuf, Arc<str>>,
    list: Vec<Finding>,
    /// Remarks that no file has: for the log.
    pub(crate) remarks: Vec<String>,
}

impl Findings {
    /// What has no place in a file is told at the start of the file that asked, and in the log if it is a mere note.
    pub(crate) fn new(found: &Found, files: &dyn FileSystem, asked_by: &Path) -> Self {
        let mut out = Self::default();
        let mut is_there: BTreeMap<u32, Option<PathBuf>> = BTreeMap::new();
        for diagnostic in &found.diagnostics {
            let mut place = |span: Span| {
                let path = is_there.entry(span.file.0).or_insert_with(|| {
                    let file = found.sources.file(span.file);
                    let path = PathBuf::from(file.path());
                    let is_file = path.is_absolute() && files.is_file(&path);
                    is_file.then(|| {
                        let path = setpoint_source::normal(&path);
                        out.texts.entry(path.clone()).or_insert_with(|| file.shared_text());
                        path
                    })
                });
                path.as_ref().map(|path| Place { path: path.clone(), range: span.range })
            };
            let message = told(diagnostic);
            let related = diagnostic.labels.iter();
            let related =
                related.filter_map(|label| Some((place(label.span)?, label.text.clone()))).collect();
            let fix = diagnostic.fix.as_ref().and_then(|fix| {
                let edits = fix.edits.iter();
                let edits = edits.map(|edit| Some((place(edit.span)?, edit.replacement.clone())));
                Some(Mending { title: fix.title.clone(), edits: edits.collect::<Option<Vec<_>>>()? })
            });
            let place = match diagnostic.span.and_then(place) {
                Some(place) => place,
                None if diagnostic.severity == Severity::Note => {
                    out.remarks.push(message);
                    continue;
                }
                None => Place { path: asked_by.to_owned(), range: Range::default() },
            };
            out.list.push(Finding {
                place,
                rule: diagnostic.rule,
                severity: diagnostic.severity,
                message,
                related,
                fix,
            });
        }
        out
    }

    /// The files that have findings, each once, sorted.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.list.iter().map(|found| found.place.path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    pub(crate) fn of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Finding> {
        self.list.iter().filter(move |found| found.place.path == path)
    }

    pub(crate) fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(path)
    }

    /// A file has another text now: what is about the changed part is forgotten, the rest moves.
    pub(crate) fn follow(&mut self, path: &Path, text: &Arc<str>) {
        let Some(shift) = self.texts.get(path).and_then(|old| Shift::between(old, text)) else { return };
        self.texts.insert(path.to_owned(), Arc::clone(text));
        let stays = |place: &mut Place| {
            if place.path != path {
                return true;
            }
            let moved = shift.moved(place.range);
            place.range = moved.unwrap_or_default();
            moved.is_some()
        };
        self.list.retain_mut(|found| {
            found.related.retain_mut(|(place, _)| stays(place));
            if found.fix.as_mut().is_some_and(|fix| !fix.edits.iter_mut().all(|(place, _)| stays(place))) {
                found.fix = None;
            }
            stays(&mut found.place)
        });
    }

    /// What the other has as well is left to it.
    pub(crate) fn leave_to(&mut self, other: &Self) {
        self.list.retain(|found| !other.list.iter().any(|same| same.says_the_same(found)));
    }

    /// The findings of one file as an editor shows them.
    pub(crate) fn shown(
        &self,
        path: &Path,
        encoding: Encoding,
        uri: &dyn Fn(&Path) -> Option<Uri>,
    ) -> Vec<Shown> {
        let text = |path: &Path| self.texts.get(path).map_or("", |text| text);
        let lines = Lines::new(text(path), encoding);
        let of_related = |(place, message): &(Place, String)| {
            let message = if message.is_empty() { "this, too".to_owned() } else { message.clone() };
            let range = if place.path == path {
                lines.range(place.range)
            } else {
                Lines::new(text(&place.path), encoding).range(place.range)
            };
            Some(DiagnosticRelatedInformation {
                location: Location { uri: uri(&place.path)?, range },
                message,
            })
        };
        self.of(path)
            .map(|found| Shown {
                range: lines.range(found.place.range),
                severity: Some(match found.severity {
                    Severity::Error => DiagnosticSeverity::ERROR,
                    Severity::Warning => DiagnosticSeverity::WARNING,
                    Severity::Note => DiagnosticSeverity::INFORMATION,
                }),
                code: Some(NumberOrString::String(found.rule.name().to_owned())),
                source: Some("setpoint".to_owned()),
                message: found.message.clone(),
                related_information: Some(found.related.iter().filter_map(of_related).collect()),
                ..Shown::default()
            })
            .collect()
    }
}

impl Finding {
    fn says_the_same(&self, other: &Self) -> bool {
        self.place == other.place && self.rule == other.rule && self.message == other.message
    }

    /// What its rule means, as Markdown.
    pub(crate) fn explanation(&self) -> String {
        format!("**{}**: {}.\n\n{}", self.rule.name(), self.rule.summary(), self.rule.explanation())
    }
}

/// The finding, its story and what to do, line by line.
fn told(found: &Diagnostic) -> String {
    let mut out = found.message.clone();
    let mut line = |text: &str| {
        out.push('\n');
        out.push_str(text);
    };
    if !found.label.is_empty() && !found.message.contains(&found.label) {
        line(&found.label);
    }
    found.notes.iter().for_each(|note| line(note));
    found.story.iter().flat_map(|story| story.lines()).for_each(|told| line(&told));
    if !found.nodes.is_empty() {
        let nodes: Vec<&str> = found.nodes.iter().map(String::as_str).collect();
        line(&format!("This is so on {} nodes: {}.", nodes.len(), few(&nodes, SHOWN_NODES)));
    }
    found.helps.iter().for_each(|help| line(help));
    out
}
