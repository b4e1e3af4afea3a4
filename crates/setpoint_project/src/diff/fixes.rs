//! Repairs of new findings, each tried on every node that has the finding before it is told.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use setpoint_diff::{FixStory, Hunk, SourceChanges};
use setpoint_source::{
    Diagnostic, FileSystem, Fix, MemoryFileSystem, OverlayFileSystem, Rule, Severity, Span, read_text,
};

use crate::jobs::{Job, Plan};
use crate::options::Options;
use crate::run::{parallel, threads};
use crate::session::UsageError;

use super::findings::Told;
use super::node;
use super::{Opened, key_of};

/// Findings whose repairs are tried at most.
const MAX_FINDINGS: usize = 10;
/// Repairs of one finding that are tried at most.
const MAX_CANDIDATES: usize = 4;

/// A change of files that may mend a finding.
struct Candidate {
    title: String,
    /// The new text of each file, by its path.
    files: BTreeMap<String, String>,
    /// The lines that change, each with its sign.
    lines: Vec<String>,
}

/// For each finding, the first repair after which no node that has it has it still, and none has another error instead.
pub(super) fn checked(
    brought: &[Told],
    new: &Opened<'_>,
    options: &Options,
    changes: &SourceChanges<'_>,
    plan: &Plan,
) -> Result<Vec<Option<FixStory>>, UsageError> {
    let mut stories = Vec::new();
    for (at, told) in brought.iter().enumerate() {
        let mut story = None;
        let is_late = new.session.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if at < MAX_FINDINGS && !is_late {
            for candidate in candidates(&told.found.finding, new, changes).into_iter().take(MAX_CANDIDATES) {
                if let Some(count) = tried(&candidate, told, brought, new, options, plan)? {
                    story =
                        Some(FixStory { title: candidate.title, lines: candidate.lines, checked_on: count });
                    break;
                }
            }
        }
        stories.push(story);
    }
    Ok(stories)
}

/// The repair that the finding brings; for a circle of relationships, each changed piece that it is about, taken back.
fn candidates(finding: &Diagnostic, new: &Opened<'_>, changes: &SourceChanges<'_>) -> Vec<Candidate> {
    if let Some(fix) = &finding.fix {
        return of_fix(fix, new).into_iter().collect();
    }
    if finding.rule != Rule::DependencyCycle {
        return Vec::new();
    }
    let spans = finding.span.into_iter().chain(finding.labels.iter().map(|label| label.span));
    let mut hunks: Vec<(String, Hunk)> = Vec::new();
    for span in spans {
        for found in hunks_at(span, new, changes) {
            if !hunks.contains(&found) {
                hunks.push(found);
            }
        }
    }
    // Nothing is learned from taking a whole new file back.
    hunks.retain(|(_, hunk)| !hunk.removed.is_empty() || hunk.new.count <= 3);
    hunks.into_iter().filter_map(|(path, hunk)| taken_back(&path, &hunk, new)).collect()
}

/// The changed pieces of the new version at a place, each with its path.
fn hunks_at(span: Span, new: &Opened<'_>, changes: &SourceChanges<'_>) -> Vec<(String, Hunk)> {
    let file = new.session.sources.file(span.file);
    let (name, is_inside) = new.root.locate(file.path());
    let line = file.line(span.range.start);
    let found = changes.hunks_at(name, is_inside, line);
    found.into_iter().map(|hunk| (new.root.path_of(name, is_inside), hunk)).collect()
}

fn of_fix(fix: &Fix, new: &Opened<'_>) -> Option<Candidate> {
    let mut files = BTreeMap::new();
    let mut lines = Vec::new();
    for (file, edits) in Fix::by_file(&fix.edits) {
        let file = new.session.sources.file(file);
        let text = Fix::apply(&edits, file.text());
        lines.push(format!("  {}", new.root.shared_name(file.path())));
        lines.extend(setpoint_diff::changed_lines(file.text(), &text));
        files.insert(file.path().to_owned(), text);
    }
    (!files.is_empty()).then(|| Candidate { title: fix.title.clone(), files, lines })
}

/// The file as it was at one changed piece.
fn taken_back(path: &str, hunk: &Hunk, new: &Opened<'_>) -> Option<Candidate> {
    let text = read_text(new.session.files, Path::new(path)).ok()?;
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let first = (hunk.new.first as usize).checked_sub(1)?;
    let after = first + hunk.new.count as usize;
    let mut mended: String = all.get(..first)?.concat();
    for line in &hunk.removed {
        mended.push_str(line);
        mended.push('\n');
    }
    mended.push_str(&all.get(after..)?.concat());
    let title = match hunk.new.count {
        1 => format!("take back the change of line {}", hunk.new.first),
        count => {
            format!("take back the change of lines {} to {}", hunk.new.first, hunk.new.first + count - 1)
        }
    };
    let mut lines = vec![format!("  {}", hunk.path)];
    lines.extend(setpoint_diff::changed_lines(&text, &mended));
    Some(Candidate { title, files: BTreeMap::from([(path.to_owned(), mended)]), lines })
}

/// On how many nodes a repair was tried; nothing if it does not mend all of them.
fn tried(
    candidate: &Candidate,
    told: &Told,
    brought: &[Told],
    new: &Opened<'_>,
    options: &Options,
    plan: &Plan,
) -> Result<Option<usize>, UsageError> {
    let mut over = MemoryFileSystem::new();
    for (path, text) in &candidate.files {
        over.add(path, text.as_str());
    }
    let files = OverlayFileSystem { over, base: new.session.files };
    let files: &dyn FileSystem = &files;
    let mut session = new.session.beside(files);
    session.jobs = new.session.jobs;
    session.deadline = new.session.deadline;
    let mended = Opened::open(new.side, &session, &new.project.input, &new.project.input, options)?;
    let wanted: Vec<&Job> = plan.jobs.iter().filter(|job| told.nodes.contains(&job.label())).collect();
    let mended_plan = mended.project.plan()?;
    let job_of = |job: &&Job| mended_plan.jobs.iter().find(|other| key_of(other) == key_of(job));
    let jobs: Vec<&Job> = wanted.iter().filter_map(job_of).collect();
    if jobs.is_empty() || jobs.len() < wanted.len() {
        return Ok(None);
    }
    let threads = threads(session.jobs);
    let surroundings = mended.surroundings(options, threads, jobs.len())?;
    let is_mended = parallel(&jobs, threads, |job| {
        node::findings_of(&mended, &surroundings, job).is_some_and(|findings| {
            findings.iter().all(|found| {
                let is_known = brought.iter().any(|other| other.is(&found.key));
                // What was there before the change may flow where it should not; that is no fault of the repair.
                let stops = found.finding.severity == Severity::Error && found.finding.flow.is_none();
                !told.is(&found.key) && (is_known || !stops)
            })
        })
    });
    Ok(is_mended.iter().all(|&mended| mended).then_some(jobs.len()))
}
