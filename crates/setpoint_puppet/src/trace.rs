//! What a compilation leaves behind for questions about its catalog, and the notes that are taken on the way.
//!
//! A value knows what it was made of. What it does *not* know is what could have happened instead: a branch that was not
//! taken might have set a variable, a default or a parameter. Variables are few and local, so what could have set them is
//! noted at once. All else is only written down here, and worked out when somebody asks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_catalog::ResourceId;
use setpoint_provenance::{Control, Leaf, LeafKind, Prov};
use setpoint_puppet_functions::Questionable;
use setpoint_puppet_syntax::ast::{Expr, ExprKind, Lambda};
use setpoint_puppet_syntax::children;
use setpoint_source::{Span, Symbol};

use crate::compiler::Compiler;
use crate::environment::Manifest;

/// What happened beside the making of values. Everything is in the order in which it happened.
/// How a function of a module in Ruby was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRun {
    pub module: Arc<str>,
    pub path: PathBuf,
    pub how: HowRun,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HowRun {
    /// Setpoint has a function that was compared with this very file.
    Natively,
    /// The code of the file was interpreted.
    Interpreted,
    /// It goes beyond what is known of Ruby, in at least one call.
    NotRun { reason: String },
}

#[derive(Debug, Default)]
pub struct Trace {
    /// The manifests that were read.
    pub manifests: Vec<Arc<Manifest>>,
    /// By number of the resource.
    pub resources: Vec<ResourceTrace>,
    pub collectors: Vec<CollectorTrace>,
    pub arrows: Vec<ArrowTrace>,
    /// Overrides that were evaluated: `File['/a'] { … }`.
    pub overrides: Vec<OverrideTrace>,
    /// Hashes that gave a resource some of its parameters: those it lacks it might have had from there.
    pub splats: Vec<(ResourceId, Prov)>,
    /// Parameters that were set to `undef`, and so are not in the catalog.
    pub undefined: Vec<(ResourceId, Symbol, Prov)>,
    /// Edges that `contain`, or a stage, made: container, class, and why.
    pub edges: Vec<(ResourceId, ResourceId, Prov)>,
    /// Calls of `tag()`, with the class or instance that they tagged.
    pub tags: Vec<(ResourceId, Prov)>,
    /// Calls of `require()`, with the class or instance that requires.
    pub requires: Vec<(ResourceId, Prov)>,
    /// What named a type or a function that was not written in the code itself.
    pub dynamic: Vec<Prov>,
    /// Where the evaluation was when it failed.
    pub failure: Option<Prov>,
    /// Where variables were read, if the options ask for it.
    pub reads: BTreeSet<Span>,
    /// Files that functions read, such as templates, and variables that Hiera read, if the options ask for it.
    pub files: BTreeSet<PathBuf>,
    pub data_reads: BTreeSet<String>,
    /// Functions of modules in Ruby that were called, by name, if the options ask for it.
    pub functions: BTreeMap<String, FunctionRun>,
    /// Texts that were taken for numbers, and other questionable constructs, if the options ask for it.
    pub coerced: BTreeSet<Span>,
    pub questions: Vec<(Questionable, Span)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct ResourceTrace {
    /// Where its title came from.
    pub title: Prov,
    /// Which declarations came first: what it saw of the state of the catalog depends on them.
    pub order: Prov,
    /// The class or instance in whose code it was declared.
    pub container: Option<ResourceId>,
    /// For an instance of a definition, the leaf that stands for what could have set other parameters.
    pub instance: Prov,
}

#[derive(Debug, Clone)]
pub struct CollectorTrace {
    /// Absent for `realize`, which may name any.
    pub type_name: Option<Symbol>,
    /// The attributes that its query reads.
    pub reads: Vec<Symbol>,
    /// The parameters that it sets.
    pub sets: Vec<Symbol>,
    /// It sets what a hash says.
    pub sets_any: bool,
    /// What its query and the names in it were made of, and why it was there.
    pub prov: Prov,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct ArrowTrace {
    /// `before` or `notify`.
    pub parameter: Symbol,
    /// The type of what comes first; absent for a collector.
    pub source: Option<Symbol>,
    pub prov: Prov,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct OverrideTrace {
    pub type_name: Symbol,
    /// Empty if a hash said which.
    pub sets: Vec<Symbol>,
    pub prov: Prov,
}

/// What the text of a branch could do, as far as it matters while the evaluation goes on.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    pub(crate) assigns: Vec<Symbol>,
    jumps: bool,
    /// It could change the catalog.
    acts: bool,
    /// It is part of a template, and writes.
    pub(crate) writes: bool,
}

impl Branch {
    pub(crate) fn of(body: &[Expr]) -> Self {
        let mut branch = Self::default();
        for statement in body {
            look(statement, &mut branch);
        }
        branch
    }

    pub(crate) fn of_lambda(lambda: &Lambda) -> Self {
        let mut branch = Self::default();
        look_inside(lambda, &mut branch);
        branch
    }

    /// Whether it neither changes the catalog nor leaves what is around it.
    pub(crate) fn only_computes(&self) -> bool {
        !self.acts && !self.jumps
    }

    /// Whether it may leave what is around it.
    pub(crate) fn jumps(&self) -> bool {
        self.jumps
    }

    /// Whether it does not change the catalog, wherever it ends.
    pub(crate) fn is_without_effect(&self) -> bool {
        !self.acts
    }
}

/// The branches that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Branches(FxHashMap<Span, Arc<Branch>>);

/// What was looked for and not found. The text after the word is a reference, or the name of a variable.
pub(crate) const MISSING_CLASS: &str = "class ";
pub(crate) const MISSING_RESOURCE: &str = "resource ";
/// Any parameter of a resource.
pub(crate) const MISSING_PARAMETERS_OF: &str = "parameters ";
/// The same of the instance that [`ResourceTrace::instance`] is a node of.
pub(crate) const MISSING_PARAMETERS: &str = "instance";
pub(crate) const MISSING_PARAMETER: &str = "parameter ";
pub(crate) const MISSING_TAG: &str = "tag ";
/// What a collector found, by the number of its trace.
pub(crate) const COLLECTED: &str = "collected ";

impl Compiler<'_> {
    /// Notes a branch that was not taken. The result is whether what follows it could have been left out, had it been
    /// taken.
    pub(crate) fn skip(&mut self, condition: Prov, body: &[Expr]) -> bool {
        let (Some(first), Some(last)) = (body.first(), body.last()) else { return false };
        if !self.arena.enabled() {
            return false;
        }
        let span = self.span(first.range.to(last.range));
        let branch = self.branch(span, body);
        self.note_skipped(condition, span, &branch);
        if branch.writes
            && let Some(template) = self.epp.last_mut()
        {
            template.note(condition);
        }
        branch.jumps
    }

    /// The same for an expression that was not evaluated.
    pub(crate) fn skip_expression(&mut self, condition: Prov, expression: &Expr) {
        let plain = matches!(
            expression.kind,
            ExprKind::Undef
                | ExprKind::Bool(_)
                | ExprKind::Integer { .. }
                | ExprKind::String(_)
                | ExprKind::Name(_)
                | ExprKind::Variable(_)
        );
        if !plain && self.skip(condition, std::slice::from_ref(expression)) {
            self.raise_jump(condition);
        }
    }

    fn note_skipped(&mut self, condition: Prov, span: Span, branch: &Branch) {
        let context = self.frame.control;
        if branch.acts {
            let at = self.arena.len() as u32;
            self.guards.push(crate::Guard { condition, context, skipped: span, at });
        }
        if !branch.assigns.is_empty() {
            let cause = self.under_control(condition);
            for name in &branch.assigns {
                self.scopes[self.frame.scope].note_unset(*name, cause);
            }
        }
    }

    fn branch(&mut self, span: Span, body: &[Expr]) -> Arc<Branch> {
        if let Some(known) = self.branches.0.get(&span) {
            return Arc::clone(known);
        }
        let branch = Arc::new(Branch::of(body));
        self.branches.0.insert(span, Arc::clone(&branch));
        branch
    }

    /// Something computed, seen under the conditions that led here.
    pub(crate) fn under_control(&mut self, of: Prov) -> Prov {
        match self.frame.control {
            Prov::NONE => of,
            control if of.is_none() => control,
            control => self.arena.under(of, Control::Condition, control, None),
        }
    }

    /// What follows depends on this condition: had it been otherwise, a jump would have left the rest out.
    pub(crate) fn raise_jump(&mut self, condition: Prov) {
        if !self.arena.enabled() {
            return;
        }
        self.enter(Control::Jump, condition, None);
        self.jump_cause = self.frame.control;
        self.jumps += 1;
    }

    /// Goes back to an outer control context. Jumps that could have been made meanwhile are kept in mind.
    pub(crate) fn leave(&mut self, outer: Prov, jumps: u32) {
        self.frame.control = outer;
        if self.jumps != jumps {
            self.enter(Control::Jump, self.jump_cause, None);
        }
    }

    /// Notes that a jump has left out the rest of a body.
    pub(crate) fn note_jump(&mut self, body: &[Expr], is_lambda: bool) {
        let (Some(first), Some(last)) = (body.first(), body.last()) else { return };
        if !self.arena.enabled() {
            return;
        }
        let span = self.span(first.range.to(last.range));
        let branch = self.branch(span, body);
        let condition = self.jump_made;
        if branch.acts {
            let at = self.arena.len() as u32;
            self.guards.push(crate::Guard { condition, context: Prov::NONE, skipped: span, at });
        }
        if !is_lambda {
            for name in &branch.assigns {
                self.scopes[self.frame.scope].note_unset(*name, condition);
            }
        }
    }

    /// A leaf for something that was looked for and not found.
    pub(crate) fn absence(&mut self, what: &str, name: &str) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        let name = Symbol::new(&format!("{what}{name}"));
        self.arena.leaf(Leaf { kind: LeafKind::Absence, name: Some(name), span: None })
    }

    /// An element, chosen out of a collection.
    pub(crate) fn chosen_from(
        &mut self,
        element: setpoint_puppet_values::Value,
        collection: Prov,
    ) -> setpoint_puppet_values::Value {
        if !self.arena.enabled() || collection.is_none() {
            return element;
        }
        if element.prov.is_none() {
            return element.with(collection);
        }
        let shape = self.arena.shape(collection);
        let prov = self.arena.under(element.prov, Control::Selection, shape, None);
        element.with(prov)
    }
}

fn look(expression: &Expr, branch: &mut Branch) {
    match &expression.kind {
        ExprKind::RenderText(_) | ExprKind::RenderExpr(_) => branch.writes = true,
        ExprKind::Assign { target, .. } => assigned(target, &mut branch.assigns),
        ExprKind::Resource { .. }
        | ExprKind::ResourceDefaults { .. }
        | ExprKind::ResourceOverride { .. }
        | ExprKind::Collector { .. }
        | ExprKind::Relationship { .. } => branch.acts = true,
        ExprKind::Call(call) => {
            if let ExprKind::Name(name) = &call.function.kind {
                called(*name, branch);
            }
            call.lambda.iter().for_each(|lambda| look_inside(lambda, branch));
        }
        ExprKind::MethodCall(call) => {
            called(call.name, branch);
            call.lambda.iter().for_each(|lambda| look_inside(lambda, branch));
        }
        _ => {}
    }
    children(expression, &mut |child| look(child, branch));
}

/// The variables of a lambda are its own.
fn look_inside(lambda: &Lambda, branch: &mut Branch) {
    let mut inner = Branch::default();
    let defaults = lambda.parameters.iter().filter_map(|parameter| parameter.default.as_ref());
    defaults.chain(&lambda.body).for_each(|statement| look(statement, &mut inner));
    branch.jumps |= inner.jumps;
    branch.acts |= inner.acts;
    branch.writes |= inner.writes;
}

fn assigned(target: &Expr, names: &mut Vec<Symbol>) {
    match &target.kind {
        ExprKind::Variable(name) => names.push(*name),
        ExprKind::Array(targets) => targets.iter().for_each(|target| assigned(target, names)),
        _ => {}
    }
}

fn called(name: Symbol, branch: &mut Branch) {
    match name.as_str() {
        "return" | "next" | "break" => branch.jumps = true,
        name => branch.acts |= may_act(name),
    }
}

/// Whether a function may change the catalog: all may that are not known to compute a value and nothing else.
pub fn may_act(function: &str) -> bool {
    if crate::functions::find(function).is_some() {
        return !matches!(function, "defined" | "tagged");
    }
    matches!(function, "call" | "epp" | "inline_epp" | "hiera_include")
        || setpoint_puppet_functions::builtin(8, function).is_none()
}
