//! Conditions: `if`, `unless`, `case` and selectors.

use std::sync::Arc;

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_syntax::ast::{CaseOption, Expr, ExprKind, SelectorCase};
use setpoint_puppet_values::{Type, Value, ops};
use setpoint_source::Span;

use super::operators::undecided;
use super::unparenthesized;
use crate::compiler::Compiler;
use crate::trace::Branch;

impl Compiler<'_> {
    /// `if` (`expected` is true) and `unless`.
    pub(super) fn evaluate_if(
        &mut self,
        test: &Expr,
        expected: bool,
        then: &[Expr],
        otherwise: &[Expr],
    ) -> Result<Value, Stop> {
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        let condition = self.evaluate(test)?;
        let holds = match self.truth(&condition, test) {
            Ok(is_true) => is_true == expected,
            Err(stop) => {
                let result = self.pass_over(&condition, stop, self.place(test), &[then, otherwise]);
                self.scopes[scope].truncate(level);
                return result;
            }
        };
        let (taken, skipped) = if holds { (then, otherwise) } else { (otherwise, then) };
        let jumps = self.skip(condition.prov, skipped);
        let result = self.evaluate_branch(taken, condition.prov, test);
        if jumps {
            self.raise_jump(condition.prov);
        }
        self.scopes[scope].truncate(level);
        result
    }

    /// The result of branches of which nobody knows the one that is taken. If all of them only compute values, the result and the
    /// variables that they set are unknown, and the rest stands; else the compilation stops here.
    pub(super) fn pass_over(
        &mut self,
        condition: &Value,
        stop: Stop,
        place: Span,
        bodies: &[&[Expr]],
    ) -> Result<Value, Stop> {
        let Some(reason) = condition.unknown_part().map(|unknown| Arc::clone(&unknown.reason)) else {
            return Err(stop);
        };
        let mut names = Vec::new();
        let mut writes = false;
        for body in bodies {
            let branch = Branch::of(body);
            if !branch.only_computes() {
                return Err(stop);
            }
            writes |= branch.writes;
            names.extend(branch.assigns);
        }
        // The branch that is taken may fail.
        self.record_unknown(&reason, place);
        if writes {
            self.forget_template(&reason);
        }
        let result = Value::unknown(reason, Type::Any).with(condition.prov);
        names.sort();
        names.dedup();
        for name in names {
            // A branch that sets a variable again fails, as was noted above.
            let _ = self.assign(name, result.clone(), place);
        }
        Ok(result)
    }

    /// The branch that was chosen. What it does, and its value, depend on the condition.
    fn evaluate_branch(&mut self, body: &[Expr], condition: Prov, test: &Expr) -> Result<Value, Stop> {
        if body.is_empty() {
            return Ok(Value::UNDEF.with(condition));
        }
        let span = self.span(test.range);
        let jumps = self.jumps;
        let outer = self.enter(Control::Condition, condition, Some(span));
        let result = self.evaluate_block(body);
        self.leave(outer, jumps);
        let value = result?;
        Ok(self.chosen(value, condition))
    }

    /// A value that a condition chose.
    fn chosen(&mut self, value: Value, condition: Prov) -> Value {
        if !self.arena.enabled() {
            return value;
        }
        let prov = self.arena.under(value.prov, Control::Condition, condition, None);
        value.with(prov)
    }

    pub(super) fn evaluate_case(&mut self, subject: &Expr, options: &[CaseOption]) -> Result<Value, Stop> {
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        let tested = self.evaluate(subject)?;
        if let Some(unknown) = tested.unknown_part() {
            let stop = undecided(&unknown.reason, self.place(subject));
            let bodies: Vec<&[Expr]> = options.iter().map(|option| option.body.as_slice()).collect();
            return self.pass_over(&tested, stop, self.place(subject), &bodies);
        }
        let mut read = vec![tested.prov];
        let mut chosen = None;
        let mut default = None;
        'options: for option in options {
            for value in &option.values {
                match self.option_fits(&tested, value, &mut read)? {
                    Fits::Yes => {
                        chosen = Some(option);
                        break 'options;
                    }
                    Fits::Default => default = Some(option),
                    Fits::No => {}
                }
            }
        }
        let condition = self.combine(self.words.case, subject.range, read.into_iter());
        let chosen = chosen.or(default);
        let mut jumps = false;
        for option in options {
            if chosen.is_none_or(|chosen| !std::ptr::eq(chosen, option)) {
                jumps |= self.skip(condition, &option.body);
            }
        }
        let result = match chosen {
            Some(option) => self.evaluate_branch(&option.body, condition, subject),
            None => Ok(Value::UNDEF.with(condition)),
        };
        if jumps {
            self.raise_jump(condition);
        }
        self.scopes[scope].truncate(level);
        result
    }

    pub(super) fn evaluate_selector(
        &mut self,
        subject: &Expr,
        cases: &[SelectorCase],
    ) -> Result<Value, Stop> {
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        let tested = self.evaluate(subject)?;
        if let Some(unknown) = tested.unknown_part() {
            let stop = undecided(&unknown.reason, self.place(subject));
            let values: Vec<&[Expr]> = cases.iter().map(|case| std::slice::from_ref(&case.value)).collect();
            return self.pass_over(&tested, stop, self.place(subject), &values);
        }
        let mut read = vec![tested.prov];
        let mut chosen = None;
        let mut default = None;
        for case in cases {
            match self.option_fits(&tested, &case.matches, &mut read)? {
                Fits::Yes => {
                    chosen = Some(case);
                    break;
                }
                Fits::Default => default = Some(case),
                Fits::No => {}
            }
        }
        let Some(case) = chosen.or(default) else {
            return Err(FailureKind::NoMatchingOption { value: shown(&tested) }.at(self.place(subject)));
        };
        let condition = self.combine(self.words.case, subject.range, read.into_iter());
        for other in cases.iter().filter(|other| !std::ptr::eq(*other, case)) {
            self.skip_expression(condition, &other.value);
        }
        let jumps = self.jumps;
        let outer = self.enter(Control::Condition, condition, None);
        let value = self.evaluate(&case.value);
        self.leave(outer, jumps);
        self.scopes[scope].truncate(level);
        Ok(self.chosen(value?, condition))
    }

    /// Whether an option matches. What was read for it goes into the condition.
    fn option_fits(&mut self, tested: &Value, option: &Expr, read: &mut Vec<Prov>) -> Result<Fits, Stop> {
        let candidates = match &unparenthesized(option).kind {
            ExprKind::Default => return Ok(Fits::Default),
            ExprKind::Splat(operand) => self.splat(operand)?.0,
            _ => vec![self.evaluate(option)?],
        };
        for candidate in candidates {
            read.push(candidate.prov);
            let result = ops::option_matches(tested, &candidate);
            let fits = self.matched(result, tested, &candidate, option);
            if fits.map_err(|error| FailureKind::from(error).at(self.place(option)))? {
                return Ok(Fits::Yes);
            }
        }
        Ok(Fits::No)
    }
}

enum Fits {
    Yes,
    No,
    Default,
}

fn shown(value: &Value) -> String {
    setpoint_puppet_values::ruby::text::to_s(value)
}
