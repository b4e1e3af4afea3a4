//! Operators.

use std::sync::Arc;

use setpoint_provenance::Control;
use setpoint_puppet_functions::{FailureKind, Stop, UnknownUse};
use setpoint_puppet_syntax::ast::{BinaryOp, Expr};
use setpoint_puppet_values::ops::{self, Arithmetic, Comparison, MatchVariables, Matched};
use setpoint_puppet_values::{Blame, Checks, Data, Hash, Key, Maker, Timestamp, Type, Value, ValueError};
use setpoint_source::{Span, Symbol, never};

use crate::compiler::Compiler;
use crate::scope::{Captures, Local};
use crate::trace::Branch;

impl Compiler<'_> {
    pub(super) fn evaluate_binary(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        expression: &Expr,
    ) -> Result<Value, Stop> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.evaluate_logical(op, left, right, expression);
        }
        let a = self.evaluate(left)?;
        let b = self.evaluate(right)?;
        let blamed = |compiler: &Self, blame: Blame| match blame {
            Blame::Left | Blame::Key(0) => compiler.place(left),
            Blame::Right | Blame::Key(_) => compiler.place(right),
            Blame::Whole => compiler.place(expression),
        };
        let mut checks = self.checks();
        match (op, a.as_str()) {
            (BinaryOp::In, Some(key)) => {
                self.note_key_read(&b, key, Some(self.span(expression.range)));
            }
            _ => {
                for side in [&a, &b] {
                    self.note_whole_read(side, self.span(expression.range));
                }
            }
        }
        if let Some(value) = on_unknown(op, &a, &b) {
            // Whether an operator takes a point in time does not depend on which it is.
            if let (Some(a), Some(b)) = (some_time(&a), some_time(&b))
                && let Some(Err(refused)) = counted(op, &a, &b, &mut checks)
            {
                return Err(self.value_error(refused, blamed));
            }
            let prov = self.combine(symbol_of(op), expression.range, [a.prov, b.prov].into_iter());
            return Ok(value.with(prov));
        }
        let result = match op {
            BinaryOp::Equal => Ok(ops::equals(&a, &b).into()),
            BinaryOp::NotEqual => Ok((!ops::equals(&a, &b)).into()),
            BinaryOp::Match => self.matched(ops::matches(&a, &b), &a, &b, expression).map(Value::from),
            BinaryOp::NoMatch => {
                self.matched(ops::matches(&a, &b), &a, &b, expression).map(|found| (!found).into())
            }
            BinaryOp::In => self.matched(ops::contained(&a, &b), &a, &b, expression).map(Value::from),
            _ => counted(op, &a, &b, &mut checks).unwrap_or(Ok(Value::UNDEF)),
        };
        self.settle(checks, blamed);
        let value = result.map_err(|error| self.value_error(error, blamed))?;
        Ok(self.computed(op, [&a, &b], value, expression))
    }

    /// The result of an operator, with what it was made of. Collections that are put together are made of the elements
    /// that were taken.
    fn computed(&mut self, op: BinaryOp, operands: [&Value; 2], result: Value, expression: &Expr) -> Value {
        let of = operands.map(|operand| operand.prov);
        let is_collection = matches!(result.data, Data::Array(_) | Data::Hash(_));
        if !is_collection || !self.arena.enabled() {
            let prov = self.combine(symbol_of(op), expression.range, of.into_iter());
            return result.with(prov);
        }
        let puts_together = matches!(op, BinaryOp::Add | BinaryOp::ShiftLeft);
        let shape = operands.map(|operand| match &operand.data {
            Data::Array(_) | Data::Hash(_) if puts_together => self.arena.shape(operand.prov),
            _ => operand.prov,
        });
        let (name, span) = (symbol_of(op), Some(self.span(expression.range)));
        // Where all elements were taken, the nodes of both sides stand for them.
        if puts_together && takes_all(operands, &result) {
            let prov = self.arena.collection(name, span, &shape, &of);
            return result.with(prov);
        }
        let maker = Maker { name, span, of: &of, shape: Some(&shape) };
        maker.explain(Value::new(result.data), &mut self.arena)
    }

    fn evaluate_logical(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let first = self.evaluate(left)?;
        let is_true = match self.truth(&first, left) {
            Ok(is_true) => is_true,
            Err(stop) => return self.combine_unknown(op, &first, stop, right, expression),
        };
        if is_true == (op == BinaryOp::Or) {
            let prov = self.combine(symbol_of(op), expression.range, [first.prov].into_iter());
            self.skip_expression(first.prov, right);
            return Ok(Value::from(is_true).with(prov));
        }
        let jumps = self.jumps;
        let outer = self.enter(Control::Condition, first.prov, None);
        let second = self.evaluate(right);
        self.leave(outer, jumps);
        let second = second?;
        let prov = self.combine(symbol_of(op), expression.range, [first.prov, second.prov].into_iter());
        Ok(truth_value(&second).with(prov))
    }

    /// `and` and `or` with a first operand that is not known: the second may decide by itself. It is evaluated only if it has no
    /// effect, for Puppet may not do so.
    fn combine_unknown(
        &mut self,
        op: BinaryOp,
        first: &Value,
        stop: Stop,
        right: &Expr,
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let branch = Branch::of(std::slice::from_ref(right));
        if !branch.only_computes() || !branch.assigns.is_empty() {
            return Err(stop);
        }
        let unknown = truth_value(first);
        let Ok(second) = self.evaluate(right) else {
            if let Some(part) = unknown.unknown_part() {
                let reason = Arc::clone(&part.reason);
                self.record_unknown(&reason, self.place(right));
            }
            return Ok(unknown.with(first.prov));
        };
        let prov = self.combine(symbol_of(op), expression.range, [first.prov, second.prov].into_iter());
        let decides = |value: &Value| value.data == Data::Bool(op == BinaryOp::Or);
        let second = truth_value(&second);
        Ok(if decides(&second) { second } else { unknown }.with(prov))
    }

    pub(super) fn evaluate_not(&mut self, operand: &Expr, expression: &Expr) -> Result<Value, Stop> {
        let value = self.evaluate(operand)?;
        let prov = self.combine(self.words.not, expression.range, [value.prov].into_iter());
        let result = match truth_value(&value).data {
            Data::Bool(is_true) => Value::from(!is_true),
            unknown => Value::new(unknown),
        };
        Ok(result.with(prov))
    }

    pub(super) fn evaluate_negate(&mut self, operand: &Expr, expression: &Expr) -> Result<Value, Stop> {
        let value = self.evaluate(operand)?;
        if let Data::Opaque(unknown) = &value.data {
            let result = Value::unknown(Arc::clone(&unknown.reason), Type::Any);
            let prov = self.combine(Symbol::new("-"), expression.range, [value.prov].into_iter());
            return Ok(result.with(prov));
        }
        let blamed = |compiler: &Self, _: Blame| compiler.place(expression);
        let mut checks = self.checks();
        let result = ops::negate(&value, &mut checks);
        self.settle(checks, blamed);
        let result = result.map_err(|error| self.value_error(error, blamed))?;
        let prov = self.combine(Symbol::new("-"), expression.range, [value.prov].into_iter());
        Ok(result.with(prov))
    }

    /// Whether a value is true. Nothing can be decided on a value that could not be computed.
    pub(super) fn truth(&self, value: &Value, expression: &Expr) -> Result<bool, Stop> {
        match &value.data {
            Data::Opaque(unknown) => {
                unknown.truth().ok_or_else(|| undecided(&unknown.reason, self.place(expression)))
            }
            _ => Ok(value.is_true()),
        }
    }

    /// Notes what a match found; the result is whether it did.
    pub(super) fn matched(
        &mut self,
        result: Result<Matched, ValueError>,
        left: &Value,
        right: &Value,
        expression: &Expr,
    ) -> Result<bool, ValueError> {
        let found = result?;
        if let MatchVariables::Set(groups) = &found.variables {
            let provs = [left.prov, right.prov].into_iter();
            let prov = self.combine(self.words.matched, expression.range, provs);
            let captures: Captures = (0..groups.groups.len())
                .map(|at| groups.group(at).map_or(Value::UNDEF, Value::from).with(prov))
                .collect();
            self.scopes[self.frame.scope].push(Local::Match(captures));
        } else if !found.matched
            && self.arena.enabled()
            && matches!(right.data, Data::Regex(_) | Data::String(_))
        {
            // The groups stay as they were, because of what was compared.
            let provs = [left.prov, right.prov].into_iter();
            let prov = self.combine(self.words.matched, expression.range, provs);
            self.scopes[self.frame.scope].note_unset(self.words.matched, prov);
        }
        Ok(found.matched)
    }
}

/// What operators that count or compare give.
fn counted(
    op: BinaryOp,
    left: &Value,
    right: &Value,
    checks: &mut Checks,
) -> Option<Result<Value, ValueError>> {
    let compare = |by| Some(ops::compare(by, left, right).map(Value::from));
    let arithmetic = match op {
        BinaryOp::Less => return compare(Comparison::Less),
        BinaryOp::LessEqual => return compare(Comparison::LessEqual),
        BinaryOp::Greater => return compare(Comparison::Greater),
        BinaryOp::GreaterEqual => return compare(Comparison::GreaterEqual),
        BinaryOp::Add => Arithmetic::Add,
        BinaryOp::Subtract => Arithmetic::Subtract,
        BinaryOp::Multiply => Arithmetic::Multiply,
        BinaryOp::Divide => Arithmetic::Divide,
        BinaryOp::Modulo => Arithmetic::Modulo,
        BinaryOp::ShiftLeft => Arithmetic::ShiftLeft,
        BinaryOp::ShiftRight => Arithmetic::ShiftRight,
        _ => return None,
    };
    Some(ops::arithmetic(arithmetic, left, right, checks))
}

/// A value that is known, or some point in time for one that is not known.
fn some_time(value: &Value) -> Option<Value> {
    match &value.data {
        Data::Opaque(unknown) if matches!(unknown.of, Type::Timestamp(_)) => {
            Timestamp::from_nanos(0).map(|time| Value::new(Data::Timestamp(time)))
        }
        _ => value.unknown_part().is_none().then(|| value.clone()),
    }
}

/// Whether what was put together has every element of both.
fn takes_all([left, right]: [&Value; 2], result: &Value) -> bool {
    match (&left.data, &right.data, &result.data) {
        (Data::Hash(left), Data::Hash(right), Data::Hash(result)) => result.len() == left.len() + right.len(),
        (Data::Array(_), _, Data::Array(_)) => true,
        _ => false,
    }
}

/// What an operator gives if something could not be computed that it looks at.
fn on_unknown(op: BinaryOp, a: &Value, b: &Value) -> Option<Value> {
    let whole = |value: &Value| match &value.data {
        Data::Opaque(unknown) => Some(Arc::clone(unknown)),
        _ => None,
    };
    let (looks_inside, of) = match op {
        // Elements are moved without a look at them.
        BinaryOp::Add | BinaryOp::ShiftLeft => (false, Type::Any),
        BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Modulo
        | BinaryOp::ShiftRight => (true, Type::Any),
        _ => (true, Type::Boolean(None)),
    };
    if let (BinaryOp::Match | BinaryOp::NoMatch, Data::Opaque(unknown), Data::Type(wanted)) =
        (op, &a.data, &b.data)
        && wanted.is_assignable(&unknown.of)
    {
        return Some(Value::from(op == BinaryOp::Match));
    }
    if let (BinaryOp::In, Data::Hash(entries)) = (op, &b.data) {
        // Only keys are looked at.
        if let Some(unknown) = a.unknown_part() {
            return Some(Value::unknown(Arc::clone(&unknown.reason), of));
        }
        // `Debian` is in a hash with the key `debian`, too.
        let is_found = |key: &Key| {
            let one: Hash = [(key.clone(), Value::UNDEF)].into_iter().collect();
            ops::contained(a, &Value::hash(one)).is_ok_and(|found| found.matched)
        };
        let may_be_missing = |value: &Value| whole(value).filter(|unknown| unknown.may_be_missing);
        let found = entries.iter().filter(|(key, _)| is_found(key)).map(|(_, value)| may_be_missing(value));
        let unknown = found.collect::<Option<Vec<_>>>()?.into_iter().next()?;
        return Some(Value::unknown(Arc::clone(&unknown.reason), of));
    }
    let inside = |value: &Value| if looks_inside { value.unknown_part().cloned() } else { whole(value) };
    let unknown = inside(a).or_else(|| inside(b))?;
    Some(Value::unknown(Arc::clone(&unknown.reason), of))
}

/// Whether a value is true, as a value: unknown if that is not known.
fn truth_value(value: &Value) -> Value {
    match &value.data {
        Data::Opaque(unknown) => match unknown.truth() {
            Some(is_true) => Value::from(is_true),
            None => Value::unknown(Arc::clone(&unknown.reason), Type::Boolean(None)),
        },
        _ => Value::from(value.is_true()),
    }
}

pub(super) fn undecided(reason: &str, span: Span) -> Stop {
    FailureKind::UnknownValue { used: UnknownUse::Decision, reason: reason.to_owned() }.at(span)
}

fn symbol_of(op: BinaryOp) -> Symbol {
    use std::sync::LazyLock;
    const TEXTS: [(BinaryOp, &str); 18] = [
        (BinaryOp::Add, "+"),
        (BinaryOp::Subtract, "-"),
        (BinaryOp::Multiply, "*"),
        (BinaryOp::Divide, "/"),
        (BinaryOp::Modulo, "%"),
        (BinaryOp::ShiftLeft, "<<"),
        (BinaryOp::ShiftRight, ">>"),
        (BinaryOp::Equal, "=="),
        (BinaryOp::NotEqual, "!="),
        (BinaryOp::Less, "<"),
        (BinaryOp::LessEqual, "<="),
        (BinaryOp::Greater, ">"),
        (BinaryOp::GreaterEqual, ">="),
        (BinaryOp::Match, "=~"),
        (BinaryOp::NoMatch, "!~"),
        (BinaryOp::In, "in"),
        (BinaryOp::And, "and"),
        (BinaryOp::Or, "or"),
    ];
    static SYMBOLS: LazyLock<Vec<Symbol>> =
        LazyLock::new(|| TEXTS.iter().map(|(_, text)| Symbol::new(text)).collect());
    let at = TEXTS.iter().position(|(known, _)| *known == op);
    never!(at.is_none(), "the operator {op:?} has no text");
    let at = at.unwrap_or(0);
    SYMBOLS[at]
}
