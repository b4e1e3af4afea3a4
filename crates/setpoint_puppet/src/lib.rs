//! The Puppet compiler: from manifests, facts and modules to a catalog.
//!
//! It stands between the syntax (`setpoint_puppet_syntax`) and the catalog (`setpoint_catalog`), and follows the order
//! that Puppet follows: the statements of the manifest, the node, the classes of a classifier; then rounds of collectors
//! first and pending instances of definitions after them, until nothing is left to do; then the final checks. Every
//! value and every resource carries its provenance. Nodes are compiled over one [`Environment`], in parallel if wanted.
//!
//! Where to look: `compiler` has the phases; `evaluate` the expressions, one file per family; `scope` and `variables`
//! the variables; `loader` what is found by name; `classes`, `parameters`, `declare`, `defaults`, `overrides`,
//! `collectors`, `relationships` what their names say; `passing` how it goes on past what cannot be computed; `finish` the
//! checks at the end; `functions` those functions that
//! need the catalog. The crate does not print, and knows no command line; data beyond manifests is found by
//! `setpoint_hiera`.

mod classes;
mod collectors;
mod compiler;
mod data;
mod declare;
mod defaults;
mod environment;
mod evaluate;
mod finish;
mod functions;
mod host;
mod incomplete;
mod loader;
mod lookups;
mod missing;
mod options;
mod overrides;
mod parameters;
mod passing;
mod relationships;
mod resources;
mod scope;
mod secrets;
mod tags;
mod top;
mod trace;
mod variables;

use std::collections::BTreeSet;

use setpoint_catalog::{Catalog, ResourceId};
use setpoint_provenance::{Arena, Prov};
use setpoint_source::{Diagnostic, Span, Symbol, thread_builder};

use compiler::Compiler;

pub use collectors::Collected;
pub use environment::{Definition, Environment, Manifest, StandIn, split_module};
pub use lookups::{Looked, LookupFormat, LookupOptions, lookup};
pub use options::{Entry, Options, PuppetVersion};
pub use secrets::probes;
pub use setpoint_puppet_functions::{
    Callee, DanglingReference, Failure, FailureKind, LogLevel, Questionable, Strictness, module_functions,
};
pub use trace::{
    ArrowTrace, CollectorTrace, FunctionRun, HowRun, OverrideTrace, ResourceTrace, Trace, may_act,
};

/// What a compilation gives.
#[derive(Debug)]
pub struct Compilation {
    /// Absent if there are failures.
    pub catalog: Option<Catalog>,
    pub diagnostics: Vec<Diagnostic>,
    /// The errors among the diagnostics as data, in the same order.
    pub failures: Vec<Failure>,
    /// Mistakes that were found after something was passed over: the code that nobody looked at may change what they rest on.
    pub doubtful: Vec<Failure>,
    /// What the manifest, and Puppet about it, had to say.
    pub log: Vec<LogEntry>,
    /// Where the values of the catalog came from.
    pub arena: Arena,
    /// The branches that were not taken.
    pub guards: Vec<Guard>,
    /// Classes that were declared again, each with the reason.
    pub declarations: Vec<(ResourceId, Prov)>,
    /// What else happened on the way.
    pub trace: Trace,
    /// What came of every collector.
    pub collected: Vec<Collected>,
    /// What the catalog depends on and nobody looked at.
    pub gaps: Vec<CompileGap>,
    /// The classes and definitions whose code was evaluated, if only in part where there is no catalog.
    pub entered: BTreeSet<Symbol>,
}

/// Something that a compilation passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileGap {
    pub kind: CompileGapKind,
    pub span: Option<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileGapKind {
    /// A function or template that goes beyond what is known here, and why. It may also fail.
    NotComputed(String),
    /// Resources that other nodes export were not collected.
    OtherNodes,
    /// Data of the server that was not given here: where it lies, in words.
    UnreadData(String),
    /// A fact, or a part of the certificate, that nobody told and that was taken to be missing: this, as a sentence.
    AbsentFact(String),
}

impl Compilation {
    /// One that ended before it began.
    pub fn failed(why: impl Into<Failure>) -> Self {
        let why = why.into();
        Self {
            catalog: None,
            diagnostics: vec![why.to_diagnostic()],
            failures: vec![why],
            doubtful: Vec::new(),
            log: Vec::new(),
            arena: Arena::new(false),
            guards: Vec::new(),
            declarations: Vec::new(),
            trace: Trace::default(),
            collected: Vec::new(),
            gaps: Vec::new(),
            entered: BTreeSet::new(),
        }
    }
}

/// A message of `notice()` and its kin, or a warning of the compiler.
#[derive(Debug, Clone)]
pub struct LogEntry {
    pub level: LogLevel,
    /// What logged it, as `Class[main]`; absent for the compiler's own warnings.
    pub scope: Option<String>,
    pub message: String,
    pub span: Option<Span>,
}

/// A branch that was not taken: what it would have done is missing because of its condition.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// What the condition was computed from.
    pub condition: Prov,
    /// The control context in which it was asked.
    pub context: Prov,
    /// The text of the branch.
    pub skipped: Span,
    /// How many nodes of provenance there were at that time.
    pub at: u32,
}

/// Compiles the catalog of one node.
pub fn compile(environment: &Environment<'_>, entry: &Entry, options: &Options) -> Compilation {
    with_stack(|| Compiler::new(environment, options).run(entry))
        .unwrap_or_else(|why| Compilation::failed(*why))
}

/// Runs an evaluation on a thread of its own, which has the stack for it.
fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Box<FailureKind>> {
    std::thread::scope(|scope| {
        let builder = thread_builder().name("compile".to_owned());
        match builder.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(Box::new(FailureKind::NoThread { error: error.to_string() })),
        }
    })
}
