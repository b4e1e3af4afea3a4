//! The evaluator: from expressions to values, with the catalog as its side effect.
//!
//! One file per family of expressions: `operators`, `control` (if, case, selectors), `strings`, `access`, `calls` and
//! `lambdas`, `resources` (resource expressions, defaults, overrides, collectors), `relations` and `epp`.

mod access;
mod calls;
mod control;
mod epp;
mod lambdas;
mod operators;
mod relations;
mod resources;
mod strings;

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{
    DanglingReference, Failure, FailureKind, IllegalAssignment, IllegalConstruct, ReachedLimit, Stop, TypeUse,
};
use setpoint_puppet_syntax::ast::{AssignOp, Expr, ExprKind};
use setpoint_puppet_syntax::puppet_start;
use setpoint_puppet_values::{
    Blame, Checks, Data, Hash, Key, Regex, Type, Value, ValueError, iterate, to_text,
};
use setpoint_source::{FileId, Limit, Range, SourceFile, Span, Symbol, never};

use crate::compiler::Compiler;

pub(crate) use epp::Epp;
pub(crate) use lambdas::LambdaBlock;

/// How deeply expressions may be nested, in the text and by calls. The stack is made for it.
pub(crate) const MAX_DEPTH: Limit = Limit::new(12_000);
/// How deeply calls, classes and definitions may be nested.
const MAX_CALLS: Limit = Limit::new(1_500);
/// Compilations of more evaluations end.
const MAX_STEPS: Limit = Limit::new(20_000_000);
/// Compilations that record more steps of provenance end, before they take a gigabyte.
const MAX_PROVENANCE: Limit = Limit::new(8_000_000);
/// Larger values are not computed.
const MAX_SIZE: Limit = Limit::new(64 << 20);

/// The names of frequent operations, interned once.
#[derive(Debug)]
pub(crate) struct Words {
    array: Symbol,
    hash: Symbol,
    interpolate: Symbol,
    access: Symbol,
    not: Symbol,
    case: Symbol,
    pub(crate) matched: Symbol,
    splat: Symbol,
    pub(crate) class: Symbol,
    pub(crate) resource: Symbol,
    pub(crate) include: Symbol,
    pub(crate) inherits: Symbol,
    pub(crate) title: Symbol,
    pub(crate) name: Symbol,
    pub(crate) defined: Symbol,
    iterate: Symbol,
    pub(crate) read: Symbol,
    pub(crate) arrow: Symbol,
    pub(crate) instance: Symbol,
}

impl Default for Words {
    fn default() -> Self {
        let word = Symbol::new;
        Self {
            array: word("array"),
            hash: word("hash"),
            interpolate: word("interpolate"),
            access: word("[]"),
            not: word("!"),
            case: word("case"),
            matched: word("match"),
            splat: word("*"),
            class: word("Class"),
            resource: word("resource"),
            include: word("include"),
            inherits: word("inherits"),
            title: word("title"),
            name: word("name"),
            defined: word("defined"),
            iterate: word("iterate"),
            read: word("read"),
            arrow: word("arrow"),
            instance: word(crate::trace::MISSING_PARAMETERS),
        }
    }
}

impl Compiler<'_> {
    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: &Expr) -> Result<Value, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(Some(self.span(expression.range))));
        }
        self.count_step()?;
        self.depth += 1;
        let result = self.evaluate_kind(expression).and_then(|value| bounded(value, expression));
        self.depth -= 1;
        match result {
            Err(Stop::Error(failure)) => Err(self.failed_at(failure, expression)),
            result => {
                self.failing = false;
                result
            }
        }
    }

    /// Notes where an error came from.
    #[cold]
    fn failed_at(&mut self, failure: Box<Failure>, expression: &Expr) -> Stop {
        if !std::mem::replace(&mut self.failing, true) && !self.is_blind() {
            self.trace.failure = Some(self.frame.control);
        }
        self.placed(failure, expression)
    }

    /// Places a failure that has no place at an expression.
    #[cold]
    fn placed(&self, mut failure: Box<Failure>, expression: &Expr) -> Stop {
        failure.span.get_or_insert_with(|| self.place(expression));
        Stop::Error(failure)
    }

    /// Where Puppet says that an expression is.
    pub(crate) fn place(&self, expression: &Expr) -> Span {
        let file = self.environment.sources.file(self.frame.file);
        place_in(&file, self.frame.file, expression)
    }

    /// Counts an evaluation, so that every compilation ends.
    fn count_step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.arena.is_full() {
            return Err(too_large("The compilation makes more values than Setpoint can explain".to_owned()));
        }
        if self.steps > MAX_STEPS {
            return Err(too_large(format!("The compilation takes more than {MAX_STEPS} evaluations")));
        }
        if self.arena.len() > MAX_PROVENANCE {
            let message = "Setpoint records where values come from in no more than";
            return Err(too_large(format!(
                "{message} {MAX_PROVENANCE} steps; `--no-provenance` records nothing"
            )));
        }
        Ok(())
    }

    /// Counts a call of a function, or the evaluation of a class or definition.
    pub(crate) fn enter_call(&mut self, span: Option<Span>) -> Result<(), Stop> {
        self.count_step()?;
        if self.calls >= MAX_CALLS {
            return Err(too_deep(span));
        }
        self.calls += 1;
        Ok(())
    }

    pub(crate) fn leave_call(&mut self) {
        // A call that is left twice would lift the limit of nesting.
        never!(self.calls == 0, "leaves a call that was not entered");
        self.calls = self.calls.saturating_sub(1);
    }

    /// Statements whose values nobody uses.
    pub(crate) fn evaluate_body(&mut self, body: &[Expr]) -> Result<(), Stop> {
        for statement in body {
            self.evaluate_statement(statement)?;
        }
        Ok(())
    }

    /// Statements; the value is that of the last.
    pub(crate) fn evaluate_block(&mut self, body: &[Expr]) -> Result<Value, Stop> {
        let Some((last, first)) = body.split_last() else { return Ok(Value::UNDEF) };
        self.evaluate_body(first)?;
        self.evaluate_last(last)
    }

    /// An expression whose match variables are not seen afterwards.
    pub(crate) fn evaluate_guarded(&mut self, expression: &Expr) -> Result<Value, Stop> {
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        let result = self.evaluate(expression);
        self.scopes[scope].truncate(level);
        result
    }

    fn evaluate_kind(&mut self, expression: &Expr) -> Result<Value, Stop> {
        match &expression.kind {
            ExprKind::Undef => Ok(self.literal(Data::Undef, expression.range)),
            ExprKind::Default => Ok(self.literal(Data::Default, expression.range)),
            ExprKind::Bool(value) => Ok(self.literal(Data::Bool(*value), expression.range)),
            ExprKind::Integer { value, .. } => Ok(self.literal(Data::Integer(*value), expression.range)),
            ExprKind::Float(value) => Ok(self.literal(Data::Float(*value), expression.range)),
            ExprKind::String(text) => Ok(self.literal(Data::String(Arc::clone(text)), expression.range)),
            ExprKind::Name(name) => Ok(self.literal(Data::String(name.as_str().into()), expression.range)),
            ExprKind::Variable(name) => self.variable(*name, self.span(expression.range)),
            ExprKind::Interpolation(parts) => self.evaluate_interpolation(parts, expression),
            ExprKind::Heredoc { syntax, text } => self.evaluate_heredoc(syntax.as_deref(), text),
            ExprKind::Regex(source) => self.evaluate_regex(source, expression),
            ExprKind::TypeName(name) => self.evaluate_type_name(*name, expression),
            ExprKind::Array(items) => self.evaluate_array(items, expression),
            ExprKind::Hash(entries) => self.evaluate_hash(entries, expression),
            ExprKind::Paren(inner) => self.evaluate(inner),
            ExprKind::Not(operand) => self.evaluate_not(operand, expression),
            ExprKind::Negate(operand) => self.evaluate_negate(operand, expression),
            ExprKind::Splat(operand) => self.evaluate_splat(operand, expression),
            ExprKind::Binary { op, left, right, .. } => self.evaluate_binary(*op, left, right, expression),
            ExprKind::Assign { op, target, value } => self.evaluate_assign(*op, target, value, expression),
            ExprKind::Access { target, keys } => self.evaluate_access(target, keys, expression),
            ExprKind::Selector { subject, cases } => self.evaluate_selector(subject, cases),
            ExprKind::Call(call) => self.evaluate_call(call, expression),
            ExprKind::MethodCall(call) => self.evaluate_method_call(call, expression),
            ExprKind::If { test, then, otherwise } => self.evaluate_if(test, true, then, otherwise),
            ExprKind::Unless { test, then, otherwise } => self.evaluate_if(test, false, then, otherwise),
            ExprKind::Case { subject, options } => self.evaluate_case(subject, options),
            ExprKind::Resource { .. } => self.evaluate_resource_value(expression),
            ExprKind::ResourceDefaults { type_name, attributes, .. } => {
                self.evaluate_defaults(type_name, attributes)
            }
            ExprKind::ResourceOverride { target, attributes, .. } => {
                self.evaluate_override(target, attributes, expression)
            }
            ExprKind::Collector { .. } => self.evaluate_collector(expression).map(|_| Value::UNDEF),
            ExprKind::Relationship { .. } => self.evaluate_relationship(expression),
            ExprKind::Epp { .. } => Ok(Value::UNDEF),
            ExprKind::RenderText(text) => Ok(self.render_text(text, expression.range)),
            ExprKind::RenderExpr(inner) => self.render_expression(inner),
            ExprKind::Nop
            | ExprKind::Class(_)
            | ExprKind::Define(_)
            | ExprKind::Node(_)
            | ExprKind::Function(_)
            | ExprKind::TypeAlias(_)
            | ExprKind::TypeMapping => Ok(Value::UNDEF),
            ExprKind::Unsupported { what } => Err(illegal(IllegalConstruct::NotInCatalogs(what.to_string()))),
            ExprKind::Lambda(_) => Err(illegal(IllegalConstruct::Lambda)),
            ExprKind::Error => Err(illegal(IllegalConstruct::Unparsed)),
        }
    }

    pub(crate) fn literal(&mut self, data: Data, range: Range) -> Value {
        let prov = self.arena.literal(self.span(range));
        Value { data, prov }
    }

    fn evaluate_regex(&mut self, source: &Arc<str>, expression: &Expr) -> Result<Value, Stop> {
        let regex = Regex::new(Arc::clone(source)).map_err(|error| FailureKind::from(error).unplaced())?;
        Ok(self.literal(Data::Regex(regex), expression.range))
    }

    fn evaluate_type_name(&mut self, name: Symbol, expression: &Expr) -> Result<Value, Stop> {
        let of = if let Some(of) = self.find_in_type_set(name)? {
            of
        } else if let Some(of) = self.known_types.get(&name) {
            of.clone()
        } else {
            let Some(of) = self.find_type(&name)? else {
                if self.names_may_be_unknown {
                    let of = Type::reference(name.as_str());
                    return Ok(self.literal(Data::Type(of), expression.range));
                }
                let missing = self.missing_type(&name, TypeUse::Named, Some(self.place(expression)));
                return self.or_unknown(missing, Type::Type(None));
            };
            self.known_types.insert(name, of.clone());
            of
        };
        Ok(self.literal(Data::Type(of), expression.range))
    }

    fn evaluate_array(&mut self, items: &[Expr], expression: &Expr) -> Result<Value, Stop> {
        let (values, shapes) = self.unfold_with_shapes(items)?;
        let prov = self.array_of(&shapes, &values, expression.range);
        Ok(Value::array(values).with(prov))
    }

    fn evaluate_hash(&mut self, entries: &[(Expr, Expr)], expression: &Expr) -> Result<Value, Stop> {
        let mut hash = Hash::with_capacity_and_hasher(entries.len(), rustc_hash::FxBuildHasher);
        // Keys that come twice count twice: had one been another, the first entry would have stayed.
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let mut unknown = None;
        for (key, value) in entries {
            let key = self.evaluate(key)?;
            let value = self.evaluate(value)?;
            if self.arena.enabled() {
                keys.push(key.prov);
                values.push(value.prov);
            }
            if let Some(part) = key.unknown_part() {
                unknown = Some(Arc::clone(&part.reason));
            }
            hash.insert(Key(key), value.present());
        }
        let prov = if self.arena.enabled() {
            let span = self.span(expression.range);
            self.arena.collection(self.words.hash, Some(span), &keys, &values)
        } else {
            Prov::NONE
        };
        // A key that is not known may be any of the others.
        let value = match unknown {
            Some(reason) => Value::unknown(reason, Type::Hash(None)),
            None => Value::hash(hash),
        };
        Ok(value.with(prov))
    }

    fn array_of(&mut self, shapes: &[Prov], values: &[Value], range: Range) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        let values: Vec<Prov> = values.iter().map(|value| value.prov).collect();
        let span = self.span(range);
        self.arena.collection(self.words.array, Some(span), shapes, &values)
    }

    /// Expressions in sequence, `*x` as the elements of x.
    pub(crate) fn unfold(&mut self, items: &[Expr]) -> Result<Vec<Value>, Stop> {
        self.unfold_with_shapes(items).map(|(values, _)| values)
    }

    /// The same, and what decided how many there are.
    fn unfold_with_shapes(&mut self, items: &[Expr]) -> Result<(Vec<Value>, Vec<Prov>), Stop> {
        let mut values = Vec::with_capacity(items.len());
        let mut shapes = Vec::new();
        for item in items {
            match &unparenthesized(item).kind {
                ExprKind::Splat(operand) => {
                    let (elements, whole) = self.splat(operand)?;
                    values.extend(elements);
                    shapes.push(self.arena.shape(whole));
                }
                _ => values.push(self.evaluate(item)?),
            }
        }
        Ok((values, shapes))
    }

    /// The elements that `*x` stands for, and what x was made of.
    fn splat(&mut self, operand: &Expr) -> Result<(Vec<Value>, Prov), Stop> {
        let value = self.evaluate(operand)?;
        let whole = value.prov;
        let elements: Vec<Value> = match &value.data {
            Data::Undef => Vec::new(),
            Data::Array(items) => items.to_vec(),
            Data::Hash(entries) => entries
                .iter()
                .map(|(key, entry)| Value::array(vec![key.0.clone(), entry.clone()]).with(value.prov))
                .collect(),
            Data::Iterator(_) => iterate(&value).map_or_else(Vec::new, |items| items.iter().collect()),
            _ => return Ok((vec![value], Prov::NONE)),
        };
        let elements = elements.into_iter().map(|element| self.chosen_from(element, whole)).collect();
        Ok((elements, whole))
    }

    fn evaluate_splat(&mut self, operand: &Expr, expression: &Expr) -> Result<Value, Stop> {
        let (values, whole) = self.splat(operand)?;
        let provs = [whole].into_iter().chain(values.iter().map(|value| value.prov));
        let prov = self.combine(self.words.splat, expression.range, provs);
        Ok(Value::array(values).with(prov))
    }

    fn evaluate_assign(
        &mut self,
        op: AssignOp,
        target: &Expr,
        value: &Expr,
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let value = self.evaluate(value)?;
        let operator = match op {
            AssignOp::Set => {
                self.assign_to(target, &value, expression)?;
                return Ok(value);
            }
            AssignOp::Append => "+=",
            AssignOp::Remove => "-=",
        };
        Err(illegal_assignment(IllegalAssignment::RemovedOperator(operator)))
    }

    fn assign_to(&mut self, target: &Expr, value: &Value, expression: &Expr) -> Result<(), Stop> {
        match &target.kind {
            ExprKind::Variable(name) => {
                let span = self.place(expression);
                self.assign(*name, value.clone(), span)
            }
            ExprKind::Array(targets) => self.assign_each(targets, value, expression),
            _ => Err(illegal_assignment(IllegalAssignment::NotAssignable)),
        }
    }

    /// `[$a, $b] = …`: from an array by position, from a hash by name, from a class its variables.
    fn assign_each(&mut self, targets: &[Expr], value: &Value, expression: &Expr) -> Result<(), Stop> {
        match &value.data {
            Data::Hash(entries) => {
                for target in targets {
                    let key = Key(target_key(target));
                    let Some(entry) = entries.get(&key) else {
                        let key = to_text(&key.0).to_string();
                        return Err(illegal_assignment(IllegalAssignment::MissingKey(key)));
                    };
                    let entry = self.chosen_from(entry.clone(), value.prov);
                    self.assign_to(target, &entry, expression)?;
                }
                Ok(())
            }
            Data::Type(Type::Class(Some(class))) => {
                if self.find_class_resource(Symbol::new(class)).is_none() {
                    let missing = DanglingReference::Read { reference: format!("Class['{class}']") };
                    return Err(FailureKind::DanglingReference(missing).unplaced());
                }
                for target in targets {
                    let name = format!("{class}::{}", target_name(target));
                    let Some(found) = self.find_variable(Symbol::new(&name), None)? else {
                        let missing = IllegalAssignment::MissingClassVariable(name);
                        return Err(FailureKind::IllegalAssignment(missing).at(self.place(target)));
                    };
                    self.assign_to(target, &found, expression)?;
                }
                Ok(())
            }
            // Whatever it is: an element, the value under a key, or nothing.
            Data::Opaque(unknown) => targets.iter().try_for_each(|target| {
                let element = Value::unknown_or_missing(Arc::clone(&unknown.reason));
                let element = self.chosen_from(element.with(value.prov), value.prov);
                self.assign_to(target, &element, expression)
            }),
            data => {
                let values = match data {
                    Data::Array(items) => Arc::clone(items),
                    _ => Arc::new(vec![value.clone()]),
                };
                if values.len() != targets.len() {
                    let (expected, given) = (targets.len(), values.len());
                    return Err(illegal_assignment(IllegalAssignment::WrongCount { expected, given }));
                }
                targets.iter().zip(values.iter()).try_for_each(|(target, element)| {
                    let element = self.chosen_from(element.clone(), value.prov);
                    self.assign_to(target, &element, expression)
                })
            }
        }
    }

    /// An operation over what made its operands.
    pub(crate) fn combine(&mut self, name: Symbol, range: Range, provs: impl Iterator<Item = Prov>) -> Prov {
        if !self.arena.enabled() {
            return Prov::NONE;
        }
        let provs: Vec<Prov> = provs.collect();
        let span = self.span(range);
        self.arena.operation(name, Some(span), &provs)
    }

    pub(crate) fn checks(&self) -> Checks {
        Checks::new(self.options.strictness())
    }

    /// Writes the warnings of an operation into the log, each at the operand that it is about.
    pub(crate) fn settle(&mut self, checks: Checks, blamed: impl Fn(&Self, Blame) -> Span) {
        for warning in checks.warnings {
            let span = blamed(self, warning.blame);
            if self.options.record_reads {
                self.trace.coerced.insert(span);
            }
            self.warn(warning.message, Some(span));
        }
    }

    pub(crate) fn value_error(&self, error: ValueError, blamed: impl Fn(&Self, Blame) -> Span) -> Stop {
        let span = blamed(self, error.blame);
        FailureKind::from(error).at(span)
    }
}

/// The value of an expression that makes a new one, unless it is larger than what Setpoint holds. A value that shares
/// its parts with itself counts as large as it is when it is written.
fn bounded(value: Value, expression: &Expr) -> Result<Value, Stop> {
    let may_grow = matches!(
        expression.kind,
        ExprKind::Interpolation(_)
            | ExprKind::Array(_)
            | ExprKind::Hash(_)
            | ExprKind::Access { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Call(_)
            | ExprKind::MethodCall(_)
    );
    if may_grow && value.is_larger_than(MAX_SIZE.get()) {
        return Err(too_large(format!("The value is larger than {} MiB", MAX_SIZE.get() >> 20)));
    }
    Ok(value)
}

/// The place of an expression as Puppet names it.
pub(crate) fn place_in(file: &SourceFile, id: FileId, expression: &Expr) -> Span {
    let start = puppet_start(file.text(), expression);
    let end = if start < expression.range.end { expression.range.end } else { start };
    Range { start, end }.in_file(id)
}

pub(crate) fn too_large(message: String) -> Stop {
    FailureKind::LimitReached(ReachedLimit::Size(message)).unplaced()
}

fn too_deep(span: Option<Span>) -> Stop {
    FailureKind::LimitReached(ReachedLimit::Nesting).at(span)
}

fn illegal(what: IllegalConstruct) -> Stop {
    FailureKind::IllegalConstruct(what).unplaced()
}

fn illegal_assignment(what: IllegalAssignment) -> Stop {
    FailureKind::IllegalAssignment(what).unplaced()
}

/// The key whose value a target gets: the name of a variable, or the names of several.
fn target_key(target: &Expr) -> Value {
    match &target.kind {
        ExprKind::Array(targets) => Value::array(targets.iter().map(target_key).collect()),
        _ => Value::from(target_name(target)),
    }
}

fn target_name(target: &Expr) -> String {
    match &target.kind {
        ExprKind::Variable(name) => name.to_string(),
        _ => String::new(),
    }
}

pub(crate) fn unparenthesized(expression: &Expr) -> &Expr {
    let mut at = expression;
    while let ExprKind::Paren(inner) = &at.kind {
        at = inner;
    }
    at
}
