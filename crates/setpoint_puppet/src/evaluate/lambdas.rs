//! Lambdas: `|$x| { … }`, and how arguments become variables.

use std::sync::Arc;

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{Block, Callee, FailureKind, Stop, Typed};
use setpoint_puppet_syntax::ast::{Lambda, Parameter};
use setpoint_puppet_values::types::describe_signatures;
use setpoint_puppet_values::{Data, Type, Value, infer_set};
use setpoint_source::Symbol;

use super::calls::{check_result, fits};
use crate::compiler::{Compiler, Frame};
use crate::loader::CallSignature;
use crate::parameters::unplaced;
use crate::scope::{Local, ParameterScope};

/// A lambda with the place at which it was met.
#[derive(Debug)]
pub(crate) struct LambdaBlock {
    lambda: Arc<Lambda>,
    frame: Frame,
    /// How many jumps could have been made before the call.
    jumps: u32,
    /// Absent if it declares no types.
    signature: Option<CallSignature>,
}

impl Block for LambdaBlock {
    fn required(&self) -> usize {
        let needs = |parameter: &&Parameter| parameter.default.is_none() && !parameter.captures_rest;
        self.lambda.parameters.iter().filter(needs).count()
    }

    fn accepted(&self) -> Option<usize> {
        let captures = self.lambda.parameters.last().is_some_and(|last| last.captures_rest);
        (!captures).then_some(self.lambda.parameters.len())
    }

    fn parameter_types(&self) -> Vec<Value> {
        let Some(signature) = &self.signature else { return Vec::new() };
        let tuple = signature.signature.callable.parameters.as_ref();
        tuple.map_or_else(Vec::new, |tuple| {
            tuple.types.iter().map(|of| Value::new(Data::Type(of.clone()))).collect()
        })
    }
}

impl Compiler<'_> {
    /// The lambda of a call. What it does depends on what the call is given.
    pub(super) fn make_block(
        &mut self,
        lambda: &Arc<Lambda>,
        arguments: &[Value],
    ) -> Result<Arc<LambdaBlock>, Stop> {
        self.check_order(&lambda.parameters)?;
        let is_typed = lambda.return_type.is_some()
            || lambda.parameters.iter().any(|parameter| parameter.type_expr.is_some());
        let signature = if is_typed {
            Some(self.call_signature(&lambda.parameters, lambda.return_type.as_ref())?)
        } else {
            None
        };
        let outer = self.frame.control;
        if let Some((first, rest)) = arguments.split_first()
            && self.arena.enabled()
        {
            let shape = self.arena.shape(first.prov);
            let provs: Vec<Prov> = [shape].into_iter().chain(rest.iter().map(|value| value.prov)).collect();
            let span = self.span(lambda.range);
            let cause = self.arena.operation(self.words.iterate, Some(span), &provs);
            // With other arguments it might have run more often, or on other elements.
            self.skip(cause, &lambda.body);
            self.enter(Control::Iteration, cause, Some(span));
        }
        let frame = self.frame;
        self.frame.control = outer;
        Ok(Arc::new(LambdaBlock { lambda: Arc::clone(lambda), frame, jumps: self.jumps, signature }))
    }

    pub(crate) fn run_block(&mut self, block: &LambdaBlock, arguments: Vec<Value>) -> Result<Value, Stop> {
        self.enter_call(Some(block.lambda.range.in_file(block.lambda.file)))?;
        let outer = self.frame;
        let jumps = self.jumps;
        // Jumps that an earlier element could have made are in the context of the call.
        let came_by_jump = outer.control;
        self.frame = block.frame;
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        let unset = self.scopes[scope].unset_level();
        let cause = arguments.first().map_or(Prov::NONE, |first| first.prov);
        let span = self.span(block.lambda.range);
        self.enter(Control::Iteration, cause, Some(span));
        if self.jumps > block.jumps {
            self.enter(Control::Jump, came_by_jump, None);
        }
        let result = self.run_lambda(block, arguments);
        if matches!(result, Err(Stop::Next(_) | Stop::Return(_) | Stop::Break(_))) {
            self.note_jump(&block.lambda.body, true);
        }
        self.scopes[scope].truncate(level);
        self.scopes[scope].forget_unset(unset);
        self.frame = outer;
        self.leave(outer.control, jumps);
        self.leave_call();
        result
    }

    fn run_lambda(&mut self, block: &LambdaBlock, arguments: Vec<Value>) -> Result<Value, Stop> {
        let lambda = &block.lambda;
        let bindings = self.bind(&lambda.parameters, arguments, "lambda")?;
        if let Some(typed) = &block.signature {
            check_bindings(typed, lambda, &bindings)?;
        }
        self.scopes[self.frame.scope].push(Local::Variables(bindings));
        let (jumps, control) = (self.jumps, self.frame.control);
        let value = match self.evaluate_block(&lambda.body) {
            Err(Stop::Next(value)) => {
                self.note_jump(&lambda.body, true);
                value
            }
            result => self.after_jumps(result?, jumps),
        };
        self.frame.control = control;
        check_result(block.signature.as_ref().and_then(|typed| typed.returns.as_ref()), &value, "lambda")?;
        Ok(value)
    }

    /// A value that would have been another, had a jump been made on the way to it.
    pub(super) fn after_jumps(&mut self, value: Value, jumps: u32) -> Value {
        if self.jumps == jumps {
            return value;
        }
        let prov = self.under_control(value.prov);
        value.with(prov)
    }

    /// Arguments as variables: given, by default, or the rest as an array.
    pub(super) fn bind(
        &mut self,
        parameters: &[Parameter],
        arguments: Vec<Value>,
        callee: &str,
    ) -> Result<Vec<(Symbol, Value)>, Stop> {
        let has_defaults = parameters.iter().any(|parameter| parameter.default.is_some());
        if has_defaults {
            return self.bind_with_defaults(parameters, &arguments, callee);
        }
        let mut arguments = arguments.into_iter();
        let mut bindings = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let value = if parameter.captures_rest {
                self.rest(arguments.by_ref().collect(), parameter)
            } else {
                match arguments.next() {
                    Some(value) => value,
                    None => return Err(self.missing_argument(parameter)),
                }
            };
            bindings.push((parameter.name, value));
        }
        Ok(bindings)
    }

    /// The arguments that a last parameter takes as one.
    fn rest(&mut self, arguments: Vec<Value>, parameter: &Parameter) -> Value {
        let prov = self.array_of(&[], &arguments, parameter.range);
        Value::array(arguments).with(prov)
    }

    fn missing_argument(&self, parameter: &Parameter) -> Stop {
        FailureKind::MissingArgument { parameter: parameter.name }.at(self.span(parameter.range))
    }

    fn bind_with_defaults(
        &mut self,
        parameters: &[Parameter],
        arguments: &[Value],
        callee: &str,
    ) -> Result<Vec<(Symbol, Value)>, Stop> {
        let scope = self.frame.scope;
        let level = self.scopes[scope].level();
        self.scopes[scope].push(Local::Parameters(ParameterScope {
            callee: Callee::Code(callee.into()),
            current: None,
            parameters: parameters.iter().map(|parameter| (parameter.name, None)).collect(),
        }));
        for (index, parameter) in parameters.iter().enumerate() {
            let given = arguments.get(index);
            let value = match (given, &parameter.default) {
                (Some(given), default) if parameter.captures_rest => {
                    let rest = arguments.get(index..).unwrap_or(&[]).to_vec();
                    match default {
                        Some(default) if rest.len() == 1 && given.is_undef() => {
                            self.scopes[scope].begin_default(parameter.name);
                            as_array(self.evaluate_guarded(default).map_err(unplaced)?)
                        }
                        _ => self.rest(rest, parameter),
                    }
                }
                (Some(given), _) => given.clone(),
                (None, Some(default)) => {
                    self.scopes[scope].begin_default(parameter.name);
                    let value = self.evaluate_guarded(default).map_err(unplaced)?;
                    if parameter.captures_rest { as_array(value) } else { value }
                }
                (None, None) if parameter.captures_rest => Value::array(Vec::new()),
                (None, None) => return Err(self.missing_argument(parameter)),
            };
            self.scopes[scope].set_parameter(parameter.name, value);
        }
        Ok(self.scopes[scope].finish_parameters(level))
    }
}

fn check_bindings(typed: &CallSignature, lambda: &Lambda, bindings: &[(Symbol, Value)]) -> Result<(), Stop> {
    let mut values = Vec::with_capacity(bindings.len());
    for (parameter, (_, value)) in lambda.parameters.iter().zip(bindings) {
        match &value.data {
            Data::Array(rest) if parameter.captures_rest => values.extend(rest.iter().cloned()),
            _ => values.push(value.clone()),
        }
    }
    if fits(&typed.signature.callable, &values) {
        return Ok(());
    }
    let given: Vec<Type> = values.iter().map(infer_set).collect();
    let mismatch = describe_signatures("lambda", std::slice::from_ref(&typed.signature), &given, None);
    Err(FailureKind::WrongType { of: Typed::Arguments("lambda".into()), mismatch }.unplaced())
}

fn as_array(value: Value) -> Value {
    if matches!(value.data, Data::Array(_)) { value } else { Value::array(vec![value]) }
}
