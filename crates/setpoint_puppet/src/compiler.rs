//! One compilation: its state, and the order of its phases.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use setpoint_catalog::{Kind, Tags};
use setpoint_provenance::{Arena, Control, Prov};
use setpoint_puppet_functions::{
    Failure, FailureKind, LogLevel, Place, Questionable, ReachedLimit, Stop, Strictness,
};
use setpoint_puppet_values::Type;
use setpoint_source::{Diagnostic, FileId, Range, Span, Symbol, never};

use crate::collectors::Collector;
use crate::environment::{Environment, Manifest};
use crate::evaluate::{Epp, LambdaBlock, Words};
use crate::functions::Annotation;
use crate::loader::{DefinitionId, DefinitionKind, Definitions};
use crate::options::{Entry, Options};
use crate::overrides::PendingOverrides;
use crate::passing::Passed;
use crate::relationships::Relationship;
use crate::resources::{Parameters, Resource, ResourceId, ResourceType, Resources};
use crate::scope::{Local, Scope, ScopeId, ScopeKind, Scopes};
use crate::tags::TagMemo;
use crate::tags::tag_if_valid;
use crate::trace::{Branches, Trace};
use crate::{Compilation, Guard, LogEntry};

/// Where the evaluation is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) scope: ScopeId,
    /// The file whose code runs.
    pub(crate) file: FileId,
    /// The conditions and declarations that led here.
    pub(crate) control: Prov,
}

/// What a function leaves that calls another at top scope.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) frame: Frame,
    pub(crate) locals: Vec<Local>,
    pub(crate) unset: usize,
}

#[derive(Debug)]
pub(crate) struct Compiler<'a> {
    pub(crate) environment: &'a Environment<'a>,
    pub(crate) options: &'a Options,
    pub(crate) arena: Arena,
    /// What is to be entered again, the innermost last.
    pub(crate) left: Vec<Left>,
    pub(crate) frame: Frame,
    /// Texts that stand openly beside a secret in what functions are given: one that returns them has made nothing of the secret.
    pub(crate) open_texts: FxHashSet<Arc<str>>,
    /// How many expressions and calls were evaluated.
    pub(crate) steps: u64,
    /// How deeply expressions are nested; see [`crate::evaluate::MAX_DEPTH`].
    pub(crate) depth: u32,
    /// How deeply calls, classes and definitions are nested.
    pub(crate) calls: u32,
    pub(crate) words: Words,
    pub(crate) scopes: Scopes,
    pub(crate) definitions: Definitions,
    pub(crate) resources: Resources,
    pub(crate) class_scopes: FxHashMap<Symbol, ScopeId>,
    pub(crate) node_scope: Option<ScopeId>,
    pub(crate) classes: IndexSet<Symbol, FxBuildHasher>,
    pub(crate) catalog_tags: Tags,
    pub(crate) tag_memo: TagMemo,
    pub(crate) types_with_defaults: FxHashSet<Symbol>,
    pub(crate) collectors: Vec<Collector>,
    pub(crate) relationships: Vec<Relationship>,
    pub(crate) pending_overrides: PendingOverrides,
    pub(crate) missing_overrides: Vec<(String, Span)>,
    /// Edges that `contain` or a stage made to a class: each is made once.
    pub(crate) class_edges: FxHashSet<(ResourceId, ResourceId)>,
    pub(crate) type_names: FxHashMap<Symbol, Symbol>,
    pub(crate) qualified_names: FxHashMap<Symbol, (Option<Symbol>, Symbol)>,
    pub(crate) known_types: FxHashMap<Symbol, Type>,
    pub(crate) type_texts: FxHashMap<String, Type>,
    /// The lambdas of the calls that are going on.
    pub(crate) blocks: Vec<Arc<LambdaBlock>>,
    pub(crate) epp: Vec<Epp>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The errors among the diagnostics.
    pub(crate) failures: Vec<Failure>,
    pub(crate) log: Vec<LogEntry>,
    pub(crate) gaps: Vec<crate::CompileGap>,
    /// What was taken to be missing when a path of the hierarchy was made, in words.
    pub(crate) absent_from_hierarchy: Option<Arc<str>>,
    /// Hashes that the machine may have more of.
    pub(crate) incomplete: Vec<crate::incomplete::Incomplete>,
    pub(crate) warned: FxHashSet<String>,
    pub(crate) guards: Vec<Guard>,
    /// In the target of an alias, and in types that are given as text, names need not be known.
    pub(crate) names_may_be_unknown: bool,
    /// The type set whose definition is being evaluated, in lower case.
    pub(crate) type_set: Option<Symbol>,
    /// What `annotate` attached: to which value, by which type, and what.
    pub(crate) annotations: Vec<Annotation>,
    /// Where `next()` or `return()` was called last.
    pub(crate) last_jump: Option<Span>,
    /// Who asks for data.
    pub(crate) data_span: Option<Span>,
    /// What searches for data found out about this node.
    pub(crate) hiera: setpoint_hiera::Session,
    /// Classes that were declared again, and why.
    pub(crate) declarations: Vec<(ResourceId, Prov)>,
    pub(crate) trace: Trace,
    pub(crate) branches: Branches,
    /// How often a branch was left out that could have jumped, and the last reason.
    pub(crate) jumps: u32,
    pub(crate) jump_cause: Prov,
    /// The control context of the last jump that was made.
    pub(crate) jump_made: Prov,
    /// What functions that are being called looked at besides their arguments.
    pub(crate) observations: Vec<Prov>,
    /// The files that templates and other functions read, as sources.
    pub(crate) read_files: FxHashMap<PathBuf, FileId>,
    /// An error is on its way out.
    pub(crate) failing: bool,
    /// What could not be computed.
    pub(crate) passed: Passed,
    pub(crate) entered: BTreeSet<Symbol>,
}

/// Puppet gives up after as many rounds of collectors and definitions.
const MAX_ROUNDS: u32 = 1000;

impl<'a> Compiler<'a> {
    pub(crate) fn new(environment: &'a Environment<'a>, options: &'a Options) -> Self {
        let mut compiler = Self {
            environment,
            options,
            arena: Arena::new(options.provenance),
            left: Vec::new(),
            frame: Frame { scope: ScopeId::TOP, file: FileId(u32::MAX), control: Prov::NONE },
            depth: 0,
            open_texts: FxHashSet::default(),
            steps: 0,
            calls: 0,
            words: Words::default(),
            scopes: Scopes::default(),
            definitions: Definitions::default(),
            resources: Resources::default(),
            class_scopes: FxHashMap::default(),
            node_scope: None,
            classes: IndexSet::default(),
            catalog_tags: Tags::default(),
            tag_memo: TagMemo::default(),
            types_with_defaults: FxHashSet::default(),
            collectors: Vec::new(),
            relationships: Vec::new(),
            pending_overrides: PendingOverrides::default(),
            missing_overrides: Vec::new(),
            class_edges: FxHashSet::default(),
            type_names: FxHashMap::default(),
            qualified_names: FxHashMap::default(),
            known_types: FxHashMap::default(),
            type_texts: FxHashMap::default(),
            blocks: Vec::new(),
            epp: Vec::new(),
            diagnostics: Vec::new(),
            failures: Vec::new(),
            log: Vec::new(),
            gaps: Vec::new(),
            absent_from_hierarchy: None,
            incomplete: Vec::new(),
            warned: FxHashSet::default(),
            guards: Vec::new(),
            names_may_be_unknown: false,
            type_set: None,
            annotations: Vec::new(),
            last_jump: None,
            data_span: None,
            hiera: setpoint_hiera::Session::default(),
            declarations: Vec::new(),
            trace: Trace::default(),
            branches: Branches::default(),
            jumps: 0,
            jump_cause: Prov::NONE,
            jump_made: Prov::NONE,
            observations: Vec::new(),
            read_files: FxHashMap::default(),
            failing: false,
            passed: Passed::default(),
            entered: BTreeSet::new(),
        };
        compiler.scopes.add(Scope::new(ScopeKind::Top, DefinitionId::MAIN, ResourceId::MAIN));
        compiler.begin_catalog();
        compiler
    }

    /// What every catalog begins with: `Stage[main]`, `Class[Settings]` and `Class[main]`.
    fn begin_catalog(&mut self) {
        let class = Symbol::new("Class");
        let stage = setpoint_catalog::native_type("stage");
        never!(stage.is_none(), "the native types lack stage");
        let stage = stage.map_or(ResourceType::Definition(DefinitionId::MAIN), ResourceType::Native);
        self.add_first("Stage".into(), "main", stage, Kind::CompilableType, false);
        let settings = ResourceType::Definition(DefinitionId::SETTINGS);
        self.add_first(class, "Settings", settings, Kind::Unknown, false);
        let main = ResourceType::Definition(DefinitionId::MAIN);
        self.add_first(class, "main", main, Kind::Unknown, true);
        self.resources.pending.clear();
    }

    fn add_first(&mut self, type_name: Symbol, title: &str, of: ResourceType, kind: Kind, collectable: bool) {
        let mut tags = self.type_tags(type_name);
        if title != "main" {
            tag_if_valid(&mut tags, title);
        }
        let resource = Resource {
            type_name,
            title: title.into(),
            instance_of: of,
            kind,
            scope: ScopeId::TOP,
            source: DefinitionId::MAIN,
            parameters: Parameters::default(),
            tags,
            span: None,
            exported: false,
            virtual_: false,
            evaluated: true,
            has_scope_tags: false,
            sensitive: Vec::new(),
            title_prov: Prov::NONE,
            title_value: None,
            prov: Prov::NONE,
            instance: Prov::NONE,
        };
        self.resources.add(resource, collectable);
    }

    /// Runs all phases. Every diagnostic ends up in the result.
    pub(crate) fn run(mut self, entry: &Entry) -> Compilation {
        let outcome = self.phases(entry);
        if let Err(stop) = outcome {
            let failure = self.failure_of(stop);
            self.report_failure(failure);
        }
        let collected = self.collected();
        let doubtful = self.take_doubtful();
        let failures = std::mem::take(&mut self.failures);
        let diagnostics = std::mem::take(&mut self.diagnostics);
        let log = std::mem::take(&mut self.log);
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.extend(self.exported_collectors());
        gaps.extend(self.hiera.unread().map(|place| crate::CompileGap {
            kind: crate::CompileGapKind::UnreadData(place.to_owned()),
            span: None,
        }));
        let entered = std::mem::take(&mut self.entered);
        let guards = std::mem::take(&mut self.guards);
        let declarations = std::mem::take(&mut self.declarations);
        let declarations = declarations.into_iter().map(|(id, prov)| (id.index() as u32, prov));
        let declarations = declarations.map(|(id, prov)| (setpoint_catalog::ResourceId(id), prov)).collect();
        if !failures.is_empty() {
            let trace = std::mem::take(&mut self.trace);
            return Compilation {
                catalog: None,
                diagnostics,
                failures,
                doubtful,
                log,
                arena: self.arena,
                guards,
                declarations,
                trace,
                collected,
                gaps,
                entered,
            };
        }
        let (catalog, arena, trace) = crate::finish::into_catalog(self);
        let catalog = Some(catalog);
        Compilation {
            catalog,
            diagnostics,
            failures,
            doubtful,
            log,
            arena,
            guards,
            declarations,
            trace,
            collected,
            gaps,
            entered,
        }
    }

    fn phases(&mut self, entry: &Entry) -> Result<(), Stop> {
        let manifests = self.load_entry(entry)?;
        self.set_node_parameters(entry);
        self.evaluate_settings();
        self.evaluate_main(&manifests)?;
        self.evaluate_node()?;
        self.evaluate_classifier_classes()?;
        self.evaluate_generators()?;
        self.finish()
    }

    /// The statements outside of classes, of all manifests as one.
    fn evaluate_main(&mut self, manifests: &[Arc<Manifest>]) -> Result<(), Stop> {
        self.edge_to_stage(ResourceId::MAIN)?;
        // The main manifest is no module's.
        for (name, value) in [("title", "main"), ("name", "main"), ("module_name", "")] {
            self.scopes[ScopeId::TOP].set_named(Symbol::new(name), value.into());
        }
        for manifest in manifests {
            self.frame.file = manifest.program.file;
            let result = self.evaluate_body(&manifest.program.body);
            self.end_body(result)?;
        }
        Ok(())
    }

    /// Collectors first, then definitions, until a round finds nothing to do.
    fn evaluate_generators(&mut self) -> Result<(), Stop> {
        for _ in 0..=MAX_ROUNDS {
            let collected = self.evaluate_collectors()?;
            let evaluated = self.evaluate_pending()?;
            if !collected && !evaluated {
                return Ok(());
            }
        }
        let last = self.resources.pending.last().map(|&last| &self.resources[last]);
        let limit = ReachedLimit::Rounds { waiting: last.map(Resource::reference) };
        Err(FailureKind::LimitReached(limit).at(last.and_then(|resource| resource.span)))
    }

    /// Runs the code of every instance of a definition that waits.
    fn evaluate_pending(&mut self) -> Result<bool, Stop> {
        let waiting = std::mem::take(&mut self.resources.pending);
        let mut left = Vec::new();
        let mut evaluated = false;
        for id in waiting {
            if self.resources[id].evaluated {
                continue;
            }
            if self.resources[id].virtual_ {
                left.push(id);
                continue;
            }
            evaluated = true;
            let mark = self.mark();
            let result = self.evaluate_resource(id).map_err(|stop| self.in_resource(stop, id));
            self.or_pass_over(mark, result)?;
        }
        // What was declared meanwhile comes later in the catalog than what is left.
        left.append(&mut self.resources.pending);
        self.resources.pending = left;
        Ok(evaluated)
    }

    /// Adds to an error where the instance was declared in whose code it occurred.
    fn in_resource(&self, stop: Stop, id: ResourceId) -> Stop {
        let Stop::Error(mut failure) = stop else { return stop };
        let resource = &self.resources[id];
        if let Some(span) = resource.span {
            failure.place_or_label(span, || format!("in {}", resource.reference()));
        }
        Stop::Error(failure)
    }

    /// The failure that stopped the evaluation; a jump that nothing caught is one.
    pub(crate) fn failure_of(&self, stop: Stop) -> Failure {
        let (function, span) = match stop {
            Stop::Error(failure) => return *failure,
            Stop::Break(span) => ("break", Some(span)),
            Stop::Next(_) => ("next", self.last_jump),
            Stop::Return(_) => ("return", self.last_jump),
        };
        Failure { span, ..FailureKind::IllegalJump { function }.into() }
    }

    /// Reports a failure: there will be no catalog.
    pub(crate) fn report_failure(&mut self, failure: Failure) {
        self.diagnostics.push(failure.to_diagnostic());
        self.failures.push(failure);
    }

    pub(crate) fn span(&self, range: Range) -> Span {
        range.in_file(self.frame.file)
    }

    /// The place as Puppet writes it into messages: `(file: a.pp, line: 3)`.
    pub(crate) fn named_place(&self, span: Span) -> Place {
        let file = self.environment.sources.file(span.file);
        Place { span, text: format!("(file: {}, line: {})", file.path(), file.line(span.range.start)) }
    }

    /// Enters a control context; the result is the context to go back to.
    pub(crate) fn enter(&mut self, control: Control, cause: Prov, span: Option<Span>) -> Prov {
        let outer = self.frame.control;
        if self.arena.enabled() {
            self.frame.control = self.arena.under(outer, control, cause, span);
        }
        outer
    }

    /// What the manifest says, in the name of the scope that says it.
    pub(crate) fn log(&mut self, level: LogLevel, message: String, span: Option<Span>) {
        let scope = Some(self.resources[self.scopes[self.frame.scope].resource].reference());
        self.log.push(LogEntry { level, scope, message, span });
    }

    /// A questionable construct: nothing, a warning or an error, as `strict` says.
    pub(crate) fn question(&mut self, what: Questionable, span: Span) -> Result<(), Stop> {
        if self.options.record_reads {
            self.trace.questions.push((what.clone(), span));
        }
        let question = FailureKind::Questionable(what);
        match self.options.strictness() {
            Strictness::Off => Ok(()),
            Strictness::Warning => {
                self.warn(question.message(), Some(span));
                Ok(())
            }
            Strictness::Error => Err(question.at(span)),
        }
    }

    /// A warning, in the log as Puppet writes it.
    pub(crate) fn warn(&mut self, message: String, span: Option<Span>) {
        self.log.push(LogEntry { level: LogLevel::Warning, scope: None, message, span });
    }

    /// The displayed name of a type: `apache::vhost` is `Apache::Vhost`.
    pub(crate) fn type_name(&mut self, name: &str) -> Symbol {
        self.displayed(Symbol::new(name.strip_prefix("::").unwrap_or(name)))
    }

    /// The same for a name that is interned.
    pub(crate) fn displayed(&mut self, name: Symbol) -> Symbol {
        if let Some(&known) = self.type_names.get(&name) {
            return known;
        }
        let plain = name.strip_prefix("::").unwrap_or(&name);
        let displayed = Symbol::new(&setpoint_catalog::display_name(plain));
        self.type_names.insert(name, displayed);
        displayed
    }

    pub(crate) fn definition_kind(&self, id: DefinitionId) -> &DefinitionKind {
        &self.definitions[id].kind
    }
}
