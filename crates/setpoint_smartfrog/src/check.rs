//! What is worth saying about a specification: why it does not compile, and what it means beyond what it seems to mean.

use std::path::Path as FilePath;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Arena, Node};
use setpoint_source::{
    Coverage, Diagnostic, Edit, FileId, FileSystem, Fix, Nouns, Range, Reached, Rule, Severity, Sources,
    Span, Symbol,
};

use crate::compare::same_value;
use crate::observe::{OrderChange, OrderSource, Shadowed};
use crate::output;
use crate::reference::{Path, shown};
use crate::store::{Entry, Store, Value};
use crate::syntax::{self, Assignment, Body, Expression, ExpressionKind, Parsed, Prototype, Value as Syntax};
use crate::{Compiled, MAIN, Options, Semantics, evaluate_body};

/// What is worth saying about a specification, and how much of it was looked at.
#[derive(Debug)]
pub struct Checked {
    /// In the order of the file.
    pub findings: Vec<Diagnostic>,
    pub coverage: Coverage,
}

/// Compiles a specification and looks for what it means beyond what it seems to mean.
pub fn check(
    path: &FilePath,
    text: String,
    files: &dyn FileSystem,
    sources: &Sources,
    options: &Options,
) -> Checked {
    let options = Options { observe: true, provenance: true, ..options.clone() };
    let Parsed { body, end, diagnostics, files, foreign, .. } =
        syntax::parse_text(path, text, files, sources, options.reading());
    let compiled = evaluate_body(&body, end, diagnostics, &foreign, &options);
    let mut findings = compiled.diagnostics.clone();
    if let Some(observations) = &compiled.observations {
        let order = observations.order_changes.iter().map(order_changed);
        let shadowed = observations.shadowed.iter().map(shadowed_prototype);
        // Advice is for those who can take it: not on what is built in or lies on a class path, which other files share. Who checks
        // those gets it there.
        let is_advised = |file: FileId| match options.classpath.as_slice() {
            [] => !foreign.contains(&file),
            _ => end.is_some_and(|end| end.file == file),
        };
        let is_ours = |finding: &Diagnostic| finding.span.is_none_or(|span| is_advised(span.file));
        findings.extend(order.chain(shadowed).filter(is_ours));
    }
    let mut coverage = Coverage::new(Nouns {
        sources: "specifications",
        definitions: "components",
        resources: "attributes",
    });
    coverage.sources = files;
    coverage.definitions = Reached::new(0, end.map_or(0, |end| components(&body, end).count()));
    if compiled.store.is_some() {
        if let Some(end) = end {
            let unused = unused_components(&body, end);
            coverage.definitions.reached = coverage.definitions.found - unused.len();
            findings.extend(unused);
        }
        if options.semantics != Semantics::Production {
            findings.extend(unchecked_schema(&compiled, options.semantics));
            findings.extend(links_that_change_meaning(&body, end, &compiled, &options));
        }
    }
    findings.sort_by_key(|finding| finding.span.map(|span| (span.file, span.range.start)));
    Checked { findings, coverage }
}

/// In the paper's semantics a schema, assertion or function of the production language is a component like any other: the first
/// of them is a finding.
fn unchecked_schema(compiled: &Compiled, semantics: Semantics) -> Option<Diagnostic> {
    let phase = Symbol::new("phase.function");
    let mut path = Vec::new();
    let entry = find_below(compiled.store.as_ref()?, phase, &mut path)?;
    let message = format!(
        "`{}` extends a function, assertion or schema, and nothing evaluates it in the {} semantics",
        shown(&path),
        semantics.name()
    );
    let finding = Diagnostic::new(Rule::SmartfrogUnchecked, message).with_resources([shown(&path)]);
    let finding = finding.with_help("`--semantics production` evaluates it");
    Some(match place(&compiled.arena, entry) {
        Some(span) => finding.at(span),
        None => finding,
    })
}

/// The first attribute of a name in a tree, and the path of the component that it is in.
fn find_below<'s>(store: &'s Store, name: Symbol, path: &mut Path) -> Option<&'s Entry> {
    if let Some(entry) = store.entry(name) {
        return Some(entry);
    }
    store.iter().find_map(|entry| {
        path.push(entry.name);
        let found = entry.value.as_store().and_then(|inner| find_below(inner, name, path));
        if found.is_none() {
            path.pop();
        }
        found
    })
}

/// The components at the top level of the file itself.
fn components(body: &Body, end: Span) -> impl Iterator<Item = &Assignment> {
    body.assignments.iter().filter(move |assignment| {
        matches!(assignment.value, Syntax::Component(_)) && assignment.span.file == end.file
    })
}

fn order_changed(change: &OrderChange) -> Diagnostic {
    let OrderChange { component, first, second, source, inherited, written, compiled } = change;
    let component = shown(component);
    let list = |names: &[Symbol]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let who = match source {
        OrderSource::Body { .. } => format!("`{component}` is written"),
        OrderSource::Prototype(_) => format!("a prototype of `{component}` is written"),
    };
    let message =
        format!("{who} with `{first}` before `{second}`, and compiled with `{second}` before `{first}`");
    let mut diagnostic = Diagnostic::new(Rule::OrderChanged, message).with_resources([component]);
    match source {
        OrderSource::Body { first: first_span, second: second_span } => {
            diagnostic = diagnostic
                .at(*second_span)
                .labelled("written later, compiled first")
                .with_label(*first_span, "written first");
            let order = written.iter().map(|name| output::name(name)).collect::<Vec<_>>().join(" < ");
            let at = Range { start: first_span.range.start, end: first_span.range.start };
            let replacement = format!("order {order}; ");
            diagnostic = diagnostic.with_fix(Fix {
                title: "state the order in which the attributes are written".to_owned(),
                edits: vec![Edit { span: at.in_file(first_span.file), replacement }],
            });
        }
        OrderSource::Prototype(span) => {
            diagnostic = diagnostic.at(*span).labelled("has its attributes in another order");
        }
    }
    if let Some(span) = inherited {
        diagnostic = diagnostic.with_label(*span, format!("`{second}` keeps the position that it has here"));
    }
    diagnostic
        .with_note(format!("written: {}; compiled: {}", list(written), list(compiled)))
        .with_help(format!(
            "if the order matters, state it with `order {first} < {second};`; if it does not, write the attributes in \
             the order of the prototype"
        ))
}

fn shadowed_prototype(shadowed: &Shadowed) -> Diagnostic {
    let Shadowed { component, reference, found, span, outer, itself } = shadowed;
    let (component, reference, found) = (shown(component), shown(reference), shown(found));
    let message = if !*itself {
        format!("the prototype `{reference}` of `{component}` is `{found}`, which hides another of that name")
    } else if found == component {
        format!(
            "`{component}` extends itself, as far as it is defined: `{reference}` is the component being defined"
        )
    } else {
        format!("`{component}` extends `{found}`, which contains it, as far as that is defined")
    };
    let mut diagnostic =
        Diagnostic::new(Rule::ShadowedPrototype, message).at(*span).with_resources([component]);
    if !*itself {
        diagnostic = diagnostic.severity(Severity::Note);
    }
    match outer {
        Some(outer) => {
            let place =
                if outer.len() == 1 { "at the top level".to_owned() } else { format!("`{}`", shown(outer)) };
            diagnostic.with_help(format!(
                "if the component {place} is meant, give one of the two another name: the nearest one is taken"
            ))
        }
        None => diagnostic
            .with_help("a prototype is copied as it is at this point; what is defined later is not in it"),
    }
}

/// Components at the top level that no reference names.
fn unused_components(body: &Body, end: Span) -> Vec<Diagnostic> {
    let mut named = FxHashSet::default();
    for assignment in &body.assignments {
        // What a component says of itself does not make it useful.
        let own = assignment.target.first().copied().filter(|_| assignment.target.len() == 1);
        let mut names = FxHashSet::default();
        names_in_value(&assignment.value, &mut names);
        #[allow(clippy::iter_over_hash_type, reason = "a set is filled from a set")]
        for name in names {
            if Some(name) != own {
                named.insert(name);
            }
        }
        if assignment.target.len() > 1 {
            named.extend(assignment.target.first());
        }
    }
    let mut seen = FxHashSet::default();
    components(body, end)
        .filter_map(|assignment| match assignment.target[..] {
            [name] if name.as_str() != MAIN && !named.contains(&name) && seen.insert(name) => {
                Some((name, assignment.span))
            }
            _ => None,
        })
        .map(|(name, span)| {
            Diagnostic::new(
                Rule::UnusedComponent,
                format!("nothing refers to `{name}`, and only `sfConfig` is compiled"),
            )
            .at(span)
            .with_resources([name.to_string()])
            .with_help("remove it, or extend it somewhere")
        })
        .collect()
}

fn names_in_value(value: &Syntax, names: &mut FxHashSet<Symbol>) {
    match value {
        Syntax::Expression(expression) => names_in_expression(expression, names),
        Syntax::Component(component) => {
            for prototype in &component.prototypes {
                match prototype {
                    Prototype::Reference(reference) => names.extend(reference.names()),
                    Prototype::Body(body, _) => names_in_body(body, names),
                }
            }
        }
    }
}

fn names_in_body(body: &Body, names: &mut FxHashSet<Symbol>) {
    for assignment in &body.assignments {
        names_in_value(&assignment.value, names);
    }
}

fn names_in_expression(expression: &Expression, names: &mut FxHashSet<Symbol>) {
    match &expression.kind {
        ExpressionKind::Reference { reference, .. } => names.extend(reference.names()),
        ExpressionKind::Vector { elements: inner, .. }
        | ExpressionKind::Operation { operands: inner, .. } => {
            for inner in inner {
                names_in_expression(inner, names);
            }
        }
        ExpressionKind::If { condition, then, otherwise } => {
            for inner in [condition, then, otherwise] {
                names_in_expression(inner, names);
            }
        }
        ExpressionKind::Switch(cases) => {
            for (condition, value) in cases {
                names_in_expression(condition, names);
                names_in_expression(value, names);
            }
        }
        ExpressionKind::Apply { body, .. } | ExpressionKind::Assert { body, .. } => {
            names_in_body(body, names);
        }
        _ => {}
    }
}

/// Compiles in the other of the two semantics, and compares.
fn links_that_change_meaning(
    body: &Body,
    end: Option<Span>,
    compiled: &Compiled,
    options: &Options,
) -> Vec<Diagnostic> {
    let other = match options.semantics {
        Semantics::Core => Semantics::Forward,
        _ => Semantics::Core,
    };
    let options = Options { semantics: other, observe: false, ..options.clone() };
    let second = evaluate_body(body, end, Vec::new(), &FxHashSet::default(), &options);
    let (core, forward) = match other {
        Semantics::Forward => (compiled, &second),
        _ => (&second, compiled),
    };
    match (&core.store, &forward.store) {
        (Some(core_store), Some(forward_store)) => {
            let mut differences =
                Differences { core, forward, found: FxHashMap::default(), order: Vec::new() };
            differences.stores(&mut Vec::new(), core_store, forward_store);
            differences.findings()
        }
        (Some(_), None) => {
            let errors = forward.diagnostics.iter().take(1);
            errors
                .map(|error| {
                    let message = format!(
                        "this compiles in the core semantics, and fails with forward links: {}",
                        error.message
                    );
                    let finding = Diagnostic::new(Rule::LinkChangesMeaning, message);
                    if let Some(span) = error.span { finding.at(span) } else { finding }
                })
                .collect()
        }
        // An error of the core semantics says itself that forward links would help.
        _ => Vec::new(),
    }
}

/// Attributes whose values differ, by the link that they come from.
struct Differences<'c> {
    core: &'c Compiled,
    forward: &'c Compiled,
    found: FxHashMap<Option<Span>, Difference>,
    order: Vec<Option<Span>>,
}

struct Difference {
    path: Path,
    core: String,
    forward: String,
    others: usize,
}

impl Differences<'_> {
    fn stores(&mut self, path: &mut Path, core: &Store, forward: &Store) {
        if core.is_same(forward) {
            return;
        }
        for entry in forward.iter() {
            path.push(entry.name);
            match core.entry(entry.name) {
                Some(Entry { value: Value::Store(core), .. }) if entry.value.as_store().is_some() => {
                    if let Value::Store(forward) = &entry.value {
                        self.stores(path, core, forward);
                    }
                }
                Some(core) if same_value(&core.value, &entry.value) => {}
                core => self.add(path, core, Some(entry)),
            }
            path.pop();
        }
        for entry in core.iter().filter(|entry| forward.entry(entry.name).is_none()) {
            path.push(entry.name);
            self.add(path, Some(entry), None);
            path.pop();
        }
    }

    fn add(&mut self, path: &Path, core: Option<&Entry>, forward: Option<&Entry>) {
        let of_forward = forward.and_then(|entry| link_place(&self.forward.arena, entry));
        let span = of_forward.or_else(|| core.and_then(|entry| link_place(&self.core.arena, entry)));
        let text = |entry: Option<&Entry>| entry.map_or("nothing".to_owned(), |entry| short(&entry.value));
        if let Some(known) = self.found.get_mut(&span) {
            known.others += 1;
            return;
        }
        self.order.push(span);
        let difference =
            Difference { path: path.clone(), core: text(core), forward: text(forward), others: 0 };
        self.found.insert(span, difference);
    }

    fn findings(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        let differences = self.order.into_iter().filter_map(|span| Some((span, found.remove(&span)?)));
        differences
            .map(|(span, Difference { path, core, forward, others })| {
                let path = shown(&path);
                let message =
                    format!("`{path}` is {core} in the core semantics, and {forward} with forward links");
                let mut finding = Diagnostic::new(Rule::LinkChangesMeaning, message).with_resources([path]);
                if let Some(span) = span {
                    finding = finding.at(span).labelled("this link is resolved at different times, or from different places");
                }
                if others > 0 {
                    finding = finding.with_note(format!("{others} more attributes differ because of this link"));
                }
                finding.with_help("use a name that only one of the components in reach defines, and define it before it is used")
            })
            .collect()
    }
}

/// The link that a value came through last, wherever that was inherited; without one, where the value was last copied, or written.
fn link_place(arena: &Arena, entry: &Entry) -> Option<Span> {
    let mut at = entry.provenance;
    loop {
        match arena.node(at) {
            Some(Node::Copy { span, name: Some(name), .. }) if !name.starts_with("extends ") => return span,
            Some(Node::Copy { of, .. } | Node::Under { of, .. }) => at = of,
            _ => return place(arena, entry),
        }
    }
}

/// Where a value was last copied, or written.
fn place(arena: &Arena, entry: &Entry) -> Option<Span> {
    match arena.node(entry.provenance)? {
        Node::Copy { span, .. } | Node::Operation { span, .. } | Node::Under { span, .. } => span,
        Node::Leaf(leaf) => leaf.span,
        Node::Shape { of } => match arena.node(of)? {
            Node::Leaf(leaf) => leaf.span,
            _ => None,
        },
    }
}

/// A value, short enough for a sentence.
pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::Store(store) if store.is_empty() => "an empty component".to_owned(),
        Value::Store(store) if store.len() == 1 => "a component of one attribute".to_owned(),
        Value::Store(store) => format!("a component of {} attributes", store.len()),
        value => {
            let text = output::json_value(value);
            match text.char_indices().nth(60) {
                Some((at, _)) => format!("`{}…`", &text[..at]),
                None => format!("`{text}`"),
            }
        }
    }
}
