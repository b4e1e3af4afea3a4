//! What the user knows: comments that silence findings, and the baseline. Every command that reports findings asks here.

use std::path::{Path, PathBuf};

use setpoint_project::{Session, UsageError};
use setpoint_silence::Baseline;
use setpoint_source::Report;

use crate::cli::{BaselineOptions, InputOptions};
use crate::languages;

/// The baseline that is read without being named, if the current folder has it.
pub(crate) const BASELINE: &str = "setpoint-baseline.json";

/// How much of what the baseline is about a run looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    Part,
}

impl Extent {
    /// A run for one node or case is for a part; so is one that is given a file of a project.
    pub(crate) fn of(session: &Session<'_>, inputs: &[PathBuf], options: &InputOptions) -> Self {
        let puppet = &options.puppet;
        let is_narrowed = puppet.node.is_some() || puppet.case.is_some() || puppet.nodes.is_some();
        let is_of_project = |path: &PathBuf| {
            let folders =
                || path.ancestors().skip(1).map(|at| if at == Path::new("") { Path::new(".") } else { at });
            session.files.is_file(path)
                && folders()
                    .filter(|folder| session.files.permits(folder))
                    .any(|folder| languages::recognises_folder(session, folder))
        };
        let has_whole = inputs.iter().any(|path| session.files.is_dir(path));
        let is_piece = !has_whole && inputs.iter().any(is_of_project);
        if is_narrowed || is_piece { Self::Part } else { Self::All }
    }
}

/// Silences what comments cover and what the baseline lists.
pub(crate) fn silence(
    session: &Session<'_>,
    report: &mut Report,
    options: &BaselineOptions,
    extent: Extent,
) -> Result<(), UsageError> {
    let path = options.baseline.clone().unwrap_or_else(|| PathBuf::from(BASELINE));
    let known = read(session, &path, options)?;
    let known = if extent == Extent::Part { known.map(Baseline::for_part) } else { known };
    setpoint_silence::silence(report, &session.sources, known.as_ref());
    if options.write_baseline {
        let known = known.unwrap_or_else(|| Baseline::empty(&root(&path)));
        let updated = known.updated(report, &session.sources, options.add);
        let write = |error| UsageError::new(format!("cannot write {}: {error}", path.display()));
        setpoint_source::write_file(&path, updated.text().as_bytes()).map_err(write)?;
        // What is known from now on is not reported now.
        restore(report);
        setpoint_silence::silence(report, &session.sources, Some(&updated));
    }
    Ok(())
}

/// Only what stands in comments: editors and repairs have no baseline of their own.
pub(crate) fn silence_by_comments(session: &Session<'_>, report: &mut Report) {
    setpoint_silence::silence(report, &session.sources, None);
}

fn read(
    session: &Session<'_>,
    path: &Path,
    options: &BaselineOptions,
) -> Result<Option<Baseline>, UsageError> {
    if !session.files.is_file(path) {
        let may_begin = options.write_baseline && options.add;
        return match &options.baseline {
            Some(_) if !may_begin => Err(UsageError::new(format!("there is no baseline {}", path.display()))),
            None if options.write_baseline && !options.add => Err(UsageError::new(format!(
                "there is no baseline {}; `--write-baseline --add` makes one",
                path.display()
            ))),
            _ => Ok(None),
        };
    }
    let text = setpoint_source::read_text(session.files, path)
        .map_err(|error| UsageError::new(error.to_string()))?;
    let known = Baseline::read(&text, &root(path));
    known.map(Some).map_err(|error| UsageError::new(format!("{}: {error}", path.display())))
}

/// The folder of the baseline: its paths are relative to it.
fn root(path: &Path) -> String {
    path.parent().map(|folder| folder.display().to_string()).unwrap_or_default()
}

/// Puts back what was silenced, and takes away what was said about silencing.
fn restore(report: &mut Report) {
    use setpoint_source::Rule::{AllowWithoutReason, StaleBaseline, UnusedAllow};
    for input in &mut report.inputs {
        input
            .findings
            .retain(|finding| !matches!(finding.rule, AllowWithoutReason | StaleBaseline | UnusedAllow));
        input.findings.extend(std::mem::take(&mut input.silenced).into_iter().map(|one| one.finding));
    }
}
