//! SmartFrog: the language of *A Formal Semantics for the SmartFrog Configuration Language*, compiled.
//!
//! From text ([`syntax`]) to a tree of attributes ([`store`]) in one of three semantics: the paper's own ([`core`],
//! definitions 7 to 27), the one with forward links ([`forward`]), and that of the production compiler. Every
//! compilation ends: the compiled tree is bounded in size and in depth, and a specification that would exceed the
//! bounds is refused with a reason. The crate reads files through a [`FileSystem`] and returns data; it prints
//! nothing, deploys nothing, and knows nothing of what the attributes mean.

pub mod check;
pub mod compare;
pub mod core;
pub mod diff;
pub mod error;
pub mod forward;
pub mod graph;
pub mod impact;
pub mod library;
pub mod observe;
mod order;
pub mod output;
mod production;
pub mod reference;
pub mod semantics;
pub mod store;
pub mod syntax;
pub mod trace;
pub mod why;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Arena, Prov};
use setpoint_source::{Diagnostic, FileId, FileSystem, Limit, Severity, Sources, Span, Symbol};

use crate::core::Evaluator;
use error::{Fail, limit};
use observe::Observations;
use production::Production;
use setpoint_trace::{Recorder, Trace};
use store::{Entry, Store, Value};
use syntax::{Body, Dialect, Parsed, Reading};

/// The component that is compiled.
pub const MAIN: &str = "sfConfig";

/// Components of a compiled tree are not nested deeper than this.
pub const MAX_DEPTH: Limit = Limit::new(1_000);

/// Links and functions may refer to each other no deeper than this.
pub(crate) const MAX_NESTING_OF_VALUES: Limit = Limit::new(400);

/// A compiled tree has no more attributes than this, copies included.
pub const MAX_ATTRIBUTES: Limit = Limit::new(4_000_000);

/// Which meaning a specification has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Semantics {
    /// The paper's: one pass; what is used must be defined before.
    #[default]
    Core,
    /// Links are resolved at the end.
    Forward,
    /// The production compiler's: types, placement, functions, links.
    Production,
}

impl Semantics {
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Forward => "forward",
            Self::Production => "production",
        }
    }

    pub fn dialect(self) -> Dialect {
        match self {
            Self::Core => Dialect::Core,
            Self::Forward => Dialect::Forward,
            Self::Production => Dialect::Production,
        }
    }
}

/// What a compilation may know, and what it is to record.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub semantics: Semantics,
    /// What `PROPERTY` and its kin read.
    pub properties: BTreeMap<String, String>,
    /// What `ENVPROPERTY` and its kin read.
    pub environment: BTreeMap<String, String>,
    /// Folders and archives below which includes are looked for.
    pub classpath: Vec<PathBuf>,
    /// Record where values come from.
    pub provenance: bool,
    /// Notice what `check` reports.
    pub observe: bool,
    /// Record every step.
    pub trace: bool,
}

impl Options {
    /// How the text of a specification is read.
    pub fn reading(&self) -> Reading<'_> {
        Reading { dialect: self.semantics.dialect(), classpath: &self.classpath }
    }
}

/// A compiled specification, or why there is none.
#[derive(Debug)]
pub struct Compiled {
    /// The value of `sfConfig`, if all went well.
    pub store: Option<Store>,
    /// All that was evaluated, as far as it went.
    pub root: Store,
    pub diagnostics: Vec<Diagnostic>,
    pub arena: Arena,
    /// Which value each value replaced.
    pub overridden: FxHashMap<Prov, Prov>,
    pub observations: Option<Observations>,
    /// The steps, if they were asked for.
    pub trace: Option<Trace>,
    /// As [`Parsed::includes`].
    pub includes: Vec<(Span, FileId)>,
}

/// Compiles a file with all that it includes.
pub fn compile(path: &Path, files: &dyn FileSystem, sources: &Sources, options: &Options) -> Compiled {
    evaluate(syntax::parse_file(path, files, sources, options.reading()), options)
}

/// Compiles a text that stands for a file at `path`, with all that it includes.
pub fn compile_text(
    path: &Path,
    text: String,
    files: &dyn FileSystem,
    sources: &Sources,
    options: &Options,
) -> Compiled {
    evaluate(syntax::parse_text(path, text, files, sources, options.reading()), options)
}

/// Compiles a specification that has been parsed in the dialect of its semantics.
pub fn evaluate(parsed: Parsed, options: &Options) -> Compiled {
    let Parsed { body, end, diagnostics, foreign, includes, .. } = parsed;
    Compiled { includes, ..evaluate_body(&body, end, diagnostics, &foreign, options) }
}

pub(crate) fn evaluate_body(
    body: &Body,
    end: Option<Span>,
    mut diagnostics: Vec<Diagnostic>,
    foreign: &FxHashSet<FileId>,
    options: &Options,
) -> Compiled {
    if options.semantics == Semantics::Production {
        return evaluate_production(body, end, diagnostics, foreign, options);
    }
    let mut evaluator = Evaluator::new(options.semantics, options.provenance, options.observe);
    evaluator.trace = options.trace.then(Recorder::default);
    let mut store = None;
    let well_formed = diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error);
    if let Some(end) = end.filter(|_| well_formed) {
        let result = evaluator
            .specification(body, end)
            .and_then(|store| finish(&store, main_span(body, end), evaluator.trace.as_mut()));
        match result {
            Ok(compiled) => store = Some(compiled),
            Err(fail) => {
                trace::record_error(evaluator.trace.as_mut(), &fail);
                diagnostics.push(*fail);
            }
        }
    }
    let Evaluator { root, arena, overridden, observations, trace, .. } = evaluator;
    let trace = trace.map(Recorder::finish);
    Compiled { store, root, diagnostics, arena, overridden, observations, trace, includes: Vec::new() }
}

fn evaluate_production(
    body: &Body,
    end: Option<Span>,
    mut diagnostics: Vec<Diagnostic>,
    foreign: &FxHashSet<FileId>,
    options: &Options,
) -> Compiled {
    let mut production = Production::new(options, foreign);
    let mut store = None;
    let well_formed = diagnostics.iter().all(|diagnostic| diagnostic.severity < Severity::Error);
    if let Some(end) = end.filter(|_| well_formed) {
        let result = production.specification(body, end).and_then(|store| {
            trace::record_result(production.trace.as_mut(), "sfConfig phase", &store);
            let trace = production.trace.as_mut();
            finish(&store, main_span(body, end), trace).map_err(|fail| vec![fail])
        });
        match result {
            Ok(compiled) => store = Some(compiled),
            Err(fails) => {
                for fail in &fails {
                    trace::record_error(production.trace.as_mut(), fail);
                }
                diagnostics.extend(fails.into_iter().map(|fail| *fail));
            }
        }
    }
    diagnostics.extend(production.open_questions());
    let mut root = Store::new();
    if let Some(store) = &store {
        root.put(Entry::new(Symbol::new(MAIN), Value::Store(store.clone()), Prov::NONE));
    }
    let Production { arena, overridden, observations, trace, .. } = production;
    let trace = trace.map(Recorder::finish);
    Compiled { store, root, diagnostics, arena, overridden, observations, trace, includes: Vec::new() }
}

/// Where `sfConfig` is defined.
fn main_span(body: &Body, end: Span) -> Span {
    let is_main = |target: &[Symbol]| matches!(target, [name] if name.as_str() == MAIN);
    let main = body.assignments.iter().rev().find(|assignment| is_main(&assignment.target));
    main.map_or(end, |assignment| assignment.span)
}

/// The compiled tree, in the order that its constraints demand, if it is of reasonable size.
fn finish(store: &Store, main: Span, trace: Option<&mut Recorder>) -> Result<Store, Fail> {
    check_size(size(store, &mut FxHashMap::default()), main)?;
    let ordered = order::apply(store)?;
    if !ordered.is_same(store) {
        trace::record_result(trace, "§10.4 (order)", &ordered);
    }
    Ok(ordered)
}

/// Refuses a tree of so many attributes, copies included, if they are too many.
fn check_size(size: u64, main: Span) -> Result<(), Fail> {
    if size <= MAX_ATTRIBUTES {
        return Ok(());
    }
    let message = format!(
        "the compiled tree would have {} attributes, copies included, and more than {MAX_ATTRIBUTES} are refused",
        if size == u64::MAX { "countless".to_owned() } else { size.to_string() }
    );
    let mut fail = limit(Some(main), message);
    fail.notes.push("components that hold several copies of each other double in size with each step".into());
    Err(fail)
}

/// The number of attributes of a tree; shared parts are counted as often as they occur, and visited once.
fn size(store: &Store, known: &mut FxHashMap<usize, u64>) -> u64 {
    if let Some(&size) = known.get(&store.address()) {
        return size;
    }
    let mut total = store.len() as u64;
    for entry in store.iter() {
        if let Value::Store(child) = &entry.value {
            total = total.saturating_add(size(child, known));
        }
    }
    known.insert(store.address(), total);
    total
}
