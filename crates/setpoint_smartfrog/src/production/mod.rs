//! The semantics of the production compiler: types, placement, functions, links.
//!
//! The whole specification becomes a tree of components ([`tree`]). Then come the phases, each over the result of the one
//! before: prototypes are copied into the components that extend them ([`types`]), attributes with a path for a name are put
//! where they belong ([`place`]), components that are functions become applications ([`construct`]), and the links and
//! applications of `sfConfig` are replaced by their values ([`resolve`], [`functions`]). All of them look ahead: what
//! is used may be defined later. Where the production compiler runs for ever, this one finds the circle and says so.

mod construct;
mod finish;
mod functions;
mod place;
mod resolve;
mod tree;
mod types;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Arena, Prov};
use setpoint_source::{Diagnostic, FileId, Rule, Span, Symbol};
use setpoint_trace::{Change, Recorder};

use crate::core::described;
use crate::error::{Fail, Number, numbered};
use crate::observe::Observations;
use crate::reference::{Path, shown};
use crate::store::Store;
use crate::syntax::Body;
use crate::{MAIN, Options, main_span};
use resolve::{Found, Missing};
use tree::{Key, NodeId, Tree, Value};

/// Of a component that a step brings, so many attributes are shown: people do not read more, and many copies of a large component
/// would fill the memory.
const MAX_CHANGES: usize = 1_000;

/// One compilation.
#[derive(Debug)]
pub(crate) struct Production<'o> {
    tree: Tree,
    options: &'o Options,
    pub(crate) arena: Arena,
    /// Attributes whose value is being computed.
    resolving: FxHashSet<(NodeId, Symbol)>,
    /// The attribute at which the last reference that was followed ended; nothing if it left the specification.
    reached: Option<(NodeId, Symbol)>,
    /// Components whose links are being resolved, and those whose links are.
    linking: FxHashSet<NodeId>,
    linked: FxHashSet<NodeId>,
    /// Free variables that the compiled tree has so far.
    variables: u32,
    /// How deep the evaluation is nested.
    depth: usize,
    /// Which value each value replaced; recorded with the provenance.
    pub(crate) overridden: FxHashMap<Prov, Prov>,
    /// Functions that are Java code, by their classes, and assertions that could not be checked, with their places.
    opaque: BTreeMap<String, Span>,
    /// Where a specification lists phases of its own.
    own_phases: Option<Span>,
    unchecked: BTreeMap<Span, String>,
    /// What `check` reports, if it asked.
    pub(crate) observations: Option<Observations>,
    /// The steps, if somebody watches.
    pub(crate) trace: Option<Recorder>,
    /// Included files that nobody edits.
    foreign: &'o FxHashSet<FileId>,
}

impl<'o> Production<'o> {
    pub(crate) fn new(options: &'o Options, foreign: &'o FxHashSet<FileId>) -> Self {
        Self {
            tree: Tree::default(),
            options,
            foreign,
            arena: Arena::new(options.provenance),
            resolving: FxHashSet::default(),
            reached: None,
            linking: FxHashSet::default(),
            linked: FxHashSet::default(),
            variables: 0,
            depth: 0,
            overridden: FxHashMap::default(),
            opaque: BTreeMap::new(),
            own_phases: None,
            unchecked: BTreeMap::new(),
            observations: options.observe.then(Observations::default),
            trace: options.trace.then(Recorder::default),
        }
    }

    /// All phases. The errors are all that the phase found in which compilation stopped.
    pub(crate) fn specification(&mut self, body: &Body, end: Span) -> Result<Store, Vec<Fail>> {
        let root = self.build_root(body);
        self.watch_written(root);
        self.resolve_types(root)?;
        self.place_all(root)?;
        self.construct_functions(root).map_err(|fail| vec![fail])?;
        let main = self.main(root, end).map_err(|fail| vec![fail])?;
        self.note_phases(root);
        self.resolve_links(main)?;
        self.finish(main, main_span(body, end)).map_err(|fail| vec![fail])
    }

    /// Records the tree as it is written, before the first phase.
    fn watch_written(&mut self, root: NodeId) {
        if self.trace.is_none() {
            return;
        }
        let mut changes = Vec::new();
        self.written_below(root, &Path::new(), usize::MAX, &mut changes);
        if let Some(trace) = &mut self.trace {
            trace.step("specification", "the tree as it is written", None, changes);
        }
    }

    /// Adds what is in a component, as far as people edit it, as changes of the store in which it is at `path`. What a link
    /// leads to has a place of its own.
    fn written_below(&mut self, node: NodeId, path: &Path, most: usize, changes: &mut Vec<Change>) {
        let mut work = vec![(node, path.clone())];
        while let Some((node, path)) = work.pop() {
            let mut inner = Vec::new();
            for (key, attribute) in self.tree.node(node).attributes.clone() {
                if changes.len() >= most {
                    return;
                }
                if self.foreign.contains(&attribute.span.file) || matches!(attribute.value, Value::Nothing) {
                    continue;
                }
                let mut at = path.clone();
                match &key {
                    Key::Name(name) => at.push(*name),
                    Key::Path(path) => at.extend(path.iter()),
                }
                let after = Some(self.shown_value(&attribute.value));
                changes.push(Change { store: "s", at: shown(&at), before: None, after });
                if let Value::Component(child) = attribute.value {
                    inner.extend((self.tree.node(child).parent == Some(node)).then_some((child, at)));
                }
            }
            work.extend(inner.into_iter().rev());
        }
    }

    /// Records that a phase gave an attribute a value, if somebody watches.
    fn watch(
        &mut self,
        phase: &str,
        (node, name): (NodeId, Symbol),
        before: Option<&Value>,
        span: Span,
        what: &str,
    ) {
        if !self.is_watched(span) {
            return;
        }
        let at = self.shown_path(node, name);
        let before = before.map(|value| self.shown_value(value));
        let after = self.tree.value(node, name).cloned().map(|value| self.shown_value(&value));
        // What the phases have done with is not in the compiled component.
        let after = after.filter(|_| !matches!(self.tree.value(node, name), Some(Value::Nothing)));
        let what = format!("{at} {what}");
        let mut changes = vec![Change { store: "s", at, before, after }];
        if let Some(&Value::Component(inner)) = self.tree.value(node, name) {
            let path = crate::reference::concatenation(&self.tree.path(node), &[name]);
            self.written_below(inner, &path, MAX_CHANGES, &mut changes);
        }
        if let Some(trace) = &mut self.trace {
            trace.step(format!("{phase} phase"), what, Some(span), changes);
        }
    }

    /// Records what a phase decided about an attribute whose value it left alone.
    fn watch_unchanged(&mut self, phase: &str, (node, name): (NodeId, Symbol), span: Span, what: &str) {
        if self.is_watched(span) {
            let what = format!("{} {what}", self.shown_path(node, name));
            if let Some(trace) = &mut self.trace {
                trace.step(format!("{phase} phase"), what, Some(span), Vec::new());
            }
        }
    }

    /// Records that an attribute is not compiled.
    fn watch_removed(&mut self, (node, name): (NodeId, Symbol), span: Span, what: &str) {
        if !self.is_watched(span) {
            return;
        }
        let at = self.shown_path(node, name);
        let before = self.tree.value(node, name).cloned().map(|value| self.shown_value(&value));
        let what = format!("{at} {what}");
        if let Some(trace) = &mut self.trace {
            let changes = vec![Change { store: "s", at, before, after: None }];
            trace.step("sfConfig phase", what, Some(span), changes);
        }
    }

    /// Nobody watches what files do that nobody edits.
    fn is_watched(&self, span: Span) -> bool {
        self.trace.is_some() && !self.foreign.contains(&span.file)
    }

    fn shown_path(&self, node: NodeId, name: Symbol) -> String {
        shown(&crate::reference::concatenation(&self.tree.path(node), &[name]))
    }

    /// A specification may name phases of its own. The phases here are those of the compiler as it is shipped.
    fn note_phases(&mut self, root: NodeId) {
        if let Some(own) = self.tree.node(root).attributes.get(&Key::Name(Symbol::new("phaseList"))) {
            self.own_phases = Some(own.span);
        }
    }

    /// What the compilation leaves to the runtime, and nobody else has looked at.
    pub(crate) fn open_questions(&self) -> Vec<Diagnostic> {
        let open = |span: Span, message: String| Diagnostic::new(Rule::SmartfrogUnchecked, message).at(span);
        let mut found: Vec<Diagnostic> = self
            .opaque
            .iter()
            .map(|(class, span)| {
                let message = format!("the function `{class}` is Java code: what it gives is not known here");
                open(*span, message)
                    .with_help("what depends on it is left to the runtime, as if it were `LAZY`")
            })
            .collect();
        found.extend(self.own_phases.map(|span| {
            let message = "the phases of `phaseList` were not run: the specification was compiled in the phases of the \
                           compiler as it is shipped";
            open(span, message.to_owned()).with_help("remove `phaseList` if these are meant")
        }));
        if let Some((span, message)) = self.unchecked.first_key_value().filter(|_| self.options.observe) {
            let finding = open(*span, message.clone());
            found.push(match self.unchecked.len() - 1 {
                0 => finding,
                more => finding.with_note(format!("{more} more assertions or schemas were not checked")),
            });
        }
        found
    }

    /// The component `sfConfig`, also where it is a link to one.
    fn main(&mut self, root: NodeId, end: Span) -> Result<NodeId, Fail> {
        let name = Symbol::new(MAIN);
        let Some(attribute) = self.tree.node(root).attributes.get(&Key::Name(name)) else {
            let mut fail =
                numbered(Number::SfConfig, end, "there is no `sfConfig`, the component to compile");
            fail.helps.push("define `sfConfig extends { … }` at the top level".into());
            return Err(fail);
        };
        let span = attribute.span;
        let what = match self.value_of(root, name) {
            Ok(Found { value: Value::Component(node), .. }) => return Ok(node),
            Ok(Found { value: Value::Basic(value), .. }) => described(&value).to_owned(),
            Err(Missing::Hard(fail)) => return Err(fail),
            Err(Missing::Soft(reason)) if matches!(self.tree.value(root, name), Some(Value::Link(_))) => {
                format!("a link to nothing: {}", self.reason(&reason))
            }
            _ => "a function, or left to the runtime".to_owned(),
        };
        let message = format!("`sfConfig` must be a component, and it is {what}");
        Err(numbered(Number::SfConfig, span, message))
    }
}
