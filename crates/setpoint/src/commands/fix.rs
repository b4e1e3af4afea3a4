//! `setpoint fix`: the changes that mend findings, checked again before they are shown.

use std::path::Path;
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_source::{Diagnostic, Fix, MemoryFileSystem, OverlayFileSystem, Report, Rule, Severity};

use crate::cli::FixArgs;
use crate::progress::Shown;
use crate::{known, languages, output};

pub(crate) fn run(session: &Session<'_>, args: &FixArgs) -> Result<ExitCode, UsageError> {
    let shown = Shown::start(true);
    let mut session = session.beside(session.files);
    session.repair = true;
    session.progress = shown.progress();
    let session = &session;
    let before = findings(session, args)?;
    let fixes = before.iter().filter_map(|finding| finding.fix.as_ref());
    let edits = Fix::by_file(fixes.flat_map(|fix| &fix.edits));
    let mut changed = MemoryFileSystem::new();
    let mut patch = String::new();
    for (file, edits) in &edits {
        let source = session.sources.file(*file);
        let text = Fix::apply(edits, source.text());
        patch.push_str(&setpoint_report::patch(&source, &text));
        changed.add(source.path(), text);
    }
    let after = {
        let overlay = OverlayFileSystem { over: changed.clone(), base: session.files };
        let mut again = session.beside(&overlay);
        again.progress = shown.progress();
        findings(&again, args)?
    };
    drop(shown);
    let errors = |found: &[Diagnostic]| found.iter().filter(|one| one.severity == Severity::Error).count();
    if errors(&after) > errors(&before) || after.iter().any(|one| is_new_failure(one, &before)) {
        return Err(UsageError::new("the changes would make new errors, so nothing is changed"));
    }
    if args.write {
        for file in edits.keys() {
            let source = session.sources.file(*file);
            let text = changed.text(Path::new(source.path()));
            setpoint_source::write_file(Path::new(source.path()), text.as_bytes())
                .map_err(|error| UsageError::new(format!("cannot write {}: {error}", source.path())))?;
        }
    } else if !patch.is_empty() {
        output::source_text(&patch);
    }
    let serious = |found: &[Diagnostic]| found.iter().filter(|one| one.severity > Severity::Note).count();
    let left = serious(&after);
    let mended = serious(&before).saturating_sub(left);
    output::note_line(&format!("{mended} mended, {left} left that need a decision"));
    Ok(ExitCode::from(u8::from(errors(&after) > 0)))
}

/// Whether a finding says that something fails or cannot hold that did not before.
fn is_new_failure(finding: &Diagnostic, before: &[Diagnostic]) -> bool {
    let is_failure = matches!(finding.rule, Rule::AlwaysFails | Rule::Contradiction | Rule::DependencyCycle);
    let is_known = |one: &Diagnostic| one.rule == finding.rule && one.resources == finding.resources;
    is_failure && !before.iter().any(is_known)
}

fn findings(session: &Session<'_>, args: &FixArgs) -> Result<Vec<Diagnostic>, UsageError> {
    let mut report = Report::default();
    for path in &args.inputs {
        let language = languages::of(session, path, &args.options)?;
        report.inputs.extend(language.check(session, path, &args.options)?);
    }
    known::silence_by_comments(session, &mut report);
    Ok(report.inputs.into_iter().flat_map(|input| input.findings).collect())
}
