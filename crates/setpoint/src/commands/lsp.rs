//! `setpoint lsp`: what the other commands know, for an editor.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use setpoint_ide::{InputKind, Options};
use setpoint_lsp::{Analyst, At, Ended, Found, Hover, Symbol, Target, serve_standard_streams};
use setpoint_project::{Session, UsageError};
use setpoint_source::{Bounds, ConfinedFileSystem, FileSystem, Report};

use crate::cli::{InputOptions, LspArgs};
use crate::known;
use crate::languages::{self, Language};
use crate::output::VERSION;

pub(crate) fn run(args: LspArgs, bounds: Arc<Bounds>) -> Result<ExitCode, UsageError> {
    let LspArgs { limit, options, .. } = args;
    let about = Options {
        project: options.for_project(),
        // Wrong ones are said by `check`.
        smartfrog: languages::smartfrog::compiler_options(&options).ok(),
    };
    let editor = Editor { options, about, limit: Duration::from_secs(limit) };
    match serve_standard_streams(Arc::new(editor), Arc::new(ConfinedFileSystem::new(bounds)), VERSION) {
        Ok(Ended::Properly) => Ok(ExitCode::SUCCESS),
        Ok(Ended::Abruptly) => Ok(ExitCode::FAILURE),
        Err(error) => Err(UsageError::new(format!("cannot serve the editor: {error}"))),
    }
}

/// Answers by what the languages answer to the other commands.
#[derive(Debug)]
struct Editor {
    options: InputOptions,
    /// The same, for questions about a place.
    about: Options,
    /// How long a check may take.
    limit: Duration,
}

impl Editor {
    fn language(&self, session: &Session<'_>, path: &Path) -> Option<&'static dyn Language> {
        languages::of(session, path, &self.options).ok()
    }

    fn kind(&self, session: &Session<'_>, path: &Path) -> Option<InputKind> {
        self.language(session, path).map(|language| InputKind::named(language.kind()))
    }
}

impl Analyst for Editor {
    fn parse(&self, files: &dyn FileSystem, path: &Path) -> Option<Found> {
        let session = Session::new(files);
        let mut report = self.language(&session, path)?.parse(&session, path, &self.options).ok()?;
        report.mask(session.sources.secrets());
        Some(Found { sources: session.sources, diagnostics: report.findings })
    }

    fn scope(&self, files: &dyn FileSystem, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
        let session = Session::new(files);
        self.kind(&session, path)?.find_scope(&session, path, limit)
    }

    fn check(&self, files: &dyn FileSystem, scope: &Path) -> Result<Found, String> {
        let mut session = Session::new(files);
        session.deadline = Instant::now().checked_add(self.limit);
        let language = languages::of(&session, scope, &self.options).map_err(|error| error.0)?;
        let inputs = language.check(&session, scope, &self.options).map_err(|error| error.0)?;
        let mut report = Report { inputs };
        known::silence_by_comments(&session, &mut report);
        for input in &mut report.inputs {
            input.mask(session.sources.secrets());
        }
        let diagnostics = report.inputs.into_iter().flat_map(|input| input.findings).collect();
        Ok(Found { sources: session.sources, diagnostics })
    }

    fn hover(&self, files: &dyn FileSystem, at: &At<'_>) -> Option<Hover> {
        let session = Session::new(files);
        let hover = self.kind(&session, at.path)?.describe(&session, at, &self.about)?;
        let markdown = session.sources.secrets().mask(&hover.markdown).into_owned();
        Some(Hover { markdown, ..hover })
    }

    fn definition(&self, files: &dyn FileSystem, at: &At<'_>) -> Vec<Target> {
        let session = Session::new(files);
        let kind = self.kind(&session, at.path);
        kind.map(|kind| kind.find_definitions(&session, at, &self.about)).unwrap_or_default()
    }

    fn symbols(&self, files: &dyn FileSystem, path: &Path) -> Vec<Symbol> {
        let session = Session::new(files);
        self.kind(&session, path).map(|kind| kind.list_symbols(&session, path)).unwrap_or_default()
    }

    fn format(&self, files: &dyn FileSystem, path: &Path) -> Option<String> {
        let session = Session::new(files);
        self.language(&session, path)?.format(&session, path).ok()?.result
    }
}
