//! Going on past what cannot be computed here: it is reported, there will be no catalog, and the rest of the code is looked at.
//!
//! A module that is not installed, data of a share that is not here, a function that goes beyond what is known of Ruby: each
//! leaves a hole. What stands after a hole is evaluated all the same, so that one of them does not hide a whole node. Since
//! code that was passed over may have declared or set anything, what is *not* there is unknown from then on, and mistakes that
//! are found are told as what they are: probable.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use setpoint_puppet_functions::{Failure, FailureKind, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind};
use setpoint_puppet_values::{Type, Value};
use setpoint_source::{Rule, Severity, Span};

use crate::compiler::{Compiler, Frame};
use crate::trace::Branch;

/// What was passed over so far.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// How many functions and templates are being run: what they cannot compute is a matter of the code that calls them.
    functions: u32,
    /// Why what is not there may be there after all.
    reason: Option<Arc<str>>,
    /// Why values are unknown that a hole left behind: what they stop is a consequence, and not told again.
    consequences: FxHashSet<Arc<str>>,
    /// Where the first hole is.
    first: Option<Span>,
    told: FxHashSet<(Rule, Option<Span>)>,
    /// Mistakes that were found after a hole.
    doubtful: Vec<Failure>,
    /// Whether it was told that a module is not installed.
    needs_modules: bool,
}

/// Where the evaluation stands, to go on from there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    frame: Frame,
    depth: u32,
    calls: u32,
    level: usize,
    jumps: u32,
}

impl Compiler<'_> {
    pub(crate) fn mark(&self) -> Mark {
        let level = self.scopes[self.frame.scope].level();
        Mark { frame: self.frame, depth: self.depth, calls: self.calls, level, jumps: self.jumps }
    }

    fn return_to(&mut self, mark: Mark) {
        self.frame = mark.frame;
        self.depth = mark.depth;
        self.calls = mark.calls;
        self.jumps = mark.jumps;
        self.scopes[mark.frame.scope].truncate(mark.level);
        self.failing = false;
    }

    /// Runs a function or template, in which nothing is passed over.
    pub(crate) fn within_function<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.passed.functions += 1;
        let result = run(self);
        self.passed.functions -= 1;
        result
    }

    pub(crate) fn is_in_function(&self) -> bool {
        self.passed.functions > 0
    }

    /// The value of a statement of a class, a node or a definition, which may be passed over.
    pub(crate) fn evaluate_statement(&mut self, statement: &Expr) -> Result<Value, Stop> {
        let mark = self.mark();
        let result = if let ExprKind::Resource { .. } = &statement.kind {
            self.evaluate_resource_statement(statement).map(|()| Value::UNDEF)
        } else {
            self.evaluate(statement)
        };
        self.or_pass_over_statement(mark, statement, result)
    }

    fn or_pass_over_statement(
        &mut self,
        mark: Mark,
        statement: &Expr,
        result: Result<Value, Stop>,
    ) -> Result<Value, Stop> {
        match result {
            Err(Stop::Error(failure)) if self.is_passed_over(&failure.kind) => {
                self.return_to(mark);
                self.pass_over_statement(statement, *failure)
            }
            result => result,
        }
    }

    /// The value of the last statement of a body.
    pub(crate) fn evaluate_last(&mut self, statement: &Expr) -> Result<Value, Stop> {
        let mark = self.mark();
        let result = self.evaluate(statement);
        self.or_pass_over_statement(mark, statement, result)
    }

    /// The result of something whose value nobody uses, or nothing if it is passed over.
    pub(crate) fn or_pass_over<T>(&mut self, mark: Mark, result: Result<T, Stop>) -> Result<Option<T>, Stop> {
        match result {
            Err(Stop::Error(failure)) if self.is_passed_over(&failure.kind) => {
                self.return_to(mark);
                self.report_passed_over(*failure);
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// The unknown value in place of one that needs something which is not installed.
    pub(crate) fn or_unknown(&mut self, stop: Stop, of: Type) -> Result<Value, Stop> {
        match stop {
            Stop::Error(failure)
                if failure.kind.is_limit_of_setpoint() && self.is_passed_over(&failure.kind) =>
            {
                Ok(self.leave_behind(*failure, of))
            }
            stop => Err(stop),
        }
    }

    /// Ends code that nothing may leave early but a statement that was passed over.
    pub(crate) fn end_body(&self, result: Result<(), Stop>) -> Result<(), Stop> {
        match result {
            Err(Stop::Return(_)) if self.is_blind() => Ok(()),
            result => result,
        }
    }

    /// Whether something was passed over that may have declared or set what is not there.
    pub(crate) fn is_blind(&self) -> bool {
        self.passed.reason.is_some()
    }

    /// The value of something that is not there, if nobody knows that it is not.
    pub(crate) fn unless_absent(&self) -> Option<Value> {
        self.passed.reason.as_ref().map(|reason| Value::unknown_or_missing(Arc::clone(reason)))
    }

    /// Limits on work end a compilation, and so does the first mistake of a user as long as all before it is known.
    fn is_passed_over(&self, kind: &FailureKind) -> bool {
        let is_hole = kind.is_limit_of_setpoint() || self.is_blind();
        self.passed.functions == 0 && is_hole && !kind.ends_compilation()
    }

    fn pass_over_statement(&mut self, statement: &Expr, failure: Failure) -> Result<Value, Stop> {
        let unknown = self.leave_behind(failure, Type::Any);
        let mut branch = Branch::of(std::slice::from_ref(statement));
        branch.assigns.sort();
        branch.assigns.dedup();
        let place = self.place(statement);
        for name in &branch.assigns {
            // A variable that the statement has set before it failed keeps its value.
            let _ = self.assign(*name, unknown.clone(), place);
        }
        // It may have left what is around it.
        if branch.jumps() { Err(Stop::Return(unknown)) } else { Ok(unknown) }
    }

    /// Reports what is passed over. The result is the value in its place.
    fn leave_behind(&mut self, failure: Failure, of: Type) -> Value {
        let reason: Arc<str> = match &failure.kind {
            FailureKind::UnknownValue { reason, .. } => reason.as_str().into(),
            kind => kind.message().into(),
        };
        self.report_passed_over(failure);
        self.passed.consequences.insert(Arc::clone(&reason));
        Value::unknown(reason, of)
    }

    /// Whether an unknown value was left behind by a hole.
    pub(crate) fn is_consequence(&self, reason: &str) -> bool {
        self.passed.consequences.contains(reason)
    }

    /// Reports a mistake that leaves the rest of the code standing.
    pub(crate) fn report_mistake(&mut self, failure: Failure) {
        if self.is_blind() { self.report_passed_over(failure) } else { self.report_failure(failure) }
    }

    fn report_passed_over(&mut self, failure: Failure) {
        // One stands for all of this kind: the modules that are not installed are named together elsewhere.
        let needs_module = failure.kind.needs_installation();
        let is_consequence =
            matches!(&failure.kind, FailureKind::UnknownValue { reason, .. } if self.is_consequence(reason));
        let is_told = is_consequence || !self.passed.told.insert((failure.kind.rule(), failure.span));
        if is_told || needs_module && std::mem::replace(&mut self.passed.needs_modules, true) {
            return;
        }
        if failure.kind.is_limit_of_setpoint() {
            if !self.is_blind() {
                let reason =
                    format!("code that was passed over may say otherwise: {}", failure.kind.message());
                let reason: Arc<str> = reason.into();
                self.passed.consequences.insert(Arc::clone(&reason));
                self.passed.reason = Some(reason);
                self.passed.first = failure.span;
            }
            self.report_failure(failure);
        } else if !failure.kind.hangs_on_other_code() {
            let mut diagnostic = failure.to_diagnostic();
            // A fact that was taken to be missing may be what it rests on, too.
            let rests_on_facts = failure.kind.may_hang_on_system() && self.lacks_facts();
            diagnostic.severity = if rests_on_facts { Severity::Note } else { Severity::Warning };
            if let Some(first) = self.passed.first {
                diagnostic =
                    diagnostic.with_label(first, "this could not be computed, and may change what follows");
            }
            self.diagnostics.push(diagnostic);
            self.passed.doubtful.push(failure);
        }
    }

    pub(crate) fn take_doubtful(&mut self) -> Vec<Failure> {
        std::mem::take(&mut self.passed.doubtful)
    }
}
