//! Calls of functions.

use std::sync::Arc;

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{
    Block, Call, FailureKind, IllegalConstruct, Stop, Typed, UnknownUse, builtin,
};
use setpoint_puppet_syntax::ast::{self, Expr, ExprKind, Lambda, MethodCall};
use setpoint_puppet_values::types::{
    CallableType, Signature, TupleType, describe_return_mismatch, describe_signatures,
};
use setpoint_puppet_values::{Data, Type, Value, infer_set};
use setpoint_source::{Span, Symbol};

use super::operators::undecided;
use crate::compiler::{Compiler, Frame};
use crate::evaluate::LambdaBlock;
use crate::functions;
use crate::loader::{CallSignature, Function};
use crate::scope::{Local, ScopeId};
use crate::trace::Branch;

impl Compiler<'_> {
    pub(super) fn evaluate_call(&mut self, call: &ast::Call, expression: &Expr) -> Result<Value, Stop> {
        let span = self.place(expression);
        match &call.function.kind {
            ExprKind::Name(name) => {
                let arguments = self.unfold(&call.arguments)?;
                self.call_with_lambda(*name, arguments, call.lambda.as_ref(), span)
            }
            // A type is called to make an instance.
            ExprKind::TypeName(_) => self.call_new(&call.function, call, span),
            ExprKind::Access { target, .. } if matches!(target.kind, ExprKind::TypeName(_)) => {
                self.call_new(&call.function, call, span)
            }
            _ => Err(FailureKind::IllegalConstruct(IllegalConstruct::Callee).unplaced()),
        }
    }

    fn call_new(&mut self, function: &Expr, call: &ast::Call, span: Span) -> Result<Value, Stop> {
        let mut arguments = vec![self.evaluate(function)?];
        arguments.extend(self.unfold(&call.arguments)?);
        self.call_with_lambda(Symbol::new("new"), arguments, call.lambda.as_ref(), span)
    }

    pub(super) fn evaluate_method_call(
        &mut self,
        call: &MethodCall,
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let mut arguments = self.unfold(std::slice::from_ref(&call.receiver))?;
        if let Some(value) = arguments.first().and_then(|receiver| member(receiver, &call.name)) {
            let prov = self.combine(call.name, expression.range, arguments.iter().map(|value| value.prov));
            return Ok(value.with(prov));
        }
        arguments.extend(self.unfold(&call.arguments)?);
        let span = self.place(expression);
        self.call_with_lambda(call.name, arguments, call.lambda.as_ref(), span)
    }

    fn call_with_lambda(
        &mut self,
        name: Symbol,
        arguments: Vec<Value>,
        lambda: Option<&Arc<Lambda>>,
        span: Span,
    ) -> Result<Value, Stop> {
        let Some(lambda) = lambda else {
            return self.call_function(&Call { name, arguments, block: None, span });
        };
        let block = self.make_block(lambda, &arguments)?;
        self.blocks.push(Arc::clone(&block));
        let jumps = self.jumps;
        let made = self.jump_made;
        let result = self.call_function(&Call { name, arguments, block: Some(&*block as &dyn Block), span });
        self.blocks.pop();
        let result = result.or_else(|stop| {
            let is_open = matches!(&stop, Stop::Error(failure)
                if matches!(failure.kind, FailureKind::UnknownValue { used: UnknownUse::Block { .. }, .. }));
            let branch = Branch::of_lambda(lambda);
            if is_open && branch.only_computes() {
                self.unknown_result(stop, Type::Any, span)
            } else {
                Err(stop)
            }
        });
        let value = self.after_jumps(result?, jumps);
        // A `break()` has ended the iteration early.
        if self.jump_made == made {
            return Ok(value);
        }
        let prov = self.arena.under(value.prov, Control::Jump, self.jump_made, None);
        Ok(value.with(prov))
    }

    /// Calls a function of the evaluator, of Puppet, or of a manifest or module.
    pub(crate) fn call_function(&mut self, call: &Call<'_>) -> Result<Value, Stop> {
        self.enter_call(Some(call.span))?;
        self.note_call_read(call);
        let seen = self.observations.len();
        let result = self.dispatch(call);
        self.leave_call();
        let result =
            if self.observations.len() > seen { self.with_observations(result, seen, call) } else { result };
        match result {
            Err(Stop::Next(value)) if call.name.as_str() == "next" => {
                self.last_jump = Some(call.span);
                return Err(Stop::Next(self.jumped(value)));
            }
            Err(Stop::Return(value)) if call.name.as_str() == "return" => {
                self.last_jump = Some(call.span);
                return Err(Stop::Return(self.jumped(value)));
            }
            Err(Stop::Break(span)) if call.name.as_str() == "break" => {
                self.jump_made = self.frame.control;
                return Err(Stop::Break(span));
            }
            // What cannot be computed here may have been given.
            Ok(ref value) if !self.options.stubs.is_empty() && matches!(value.data, Data::Opaque(_)) => {
                if let Some(stub) = self.options.stub(&call.name) {
                    return Ok(stub);
                }
            }
            Ok(ref value) => self.note_result(value, &call.arguments),
            _ => {}
        }
        // `assert_type(Enum[…], $x)` and `Integer($x)` admit what their type does.
        if let (Ok(value), "assert_type" | "new", [of, ..]) =
            (&result, call.name.as_str(), call.arguments.as_slice())
            && let Some(of) = of.as_type()
        {
            return Ok(self.confined_by(value.clone(), of, Some(call.span)));
        }
        result
    }

    /// The result of a function that looked at more than its arguments.
    fn with_observations(
        &mut self,
        result: Result<Value, Stop>,
        from: usize,
        call: &Call<'_>,
    ) -> Result<Value, Stop> {
        let seen: Vec<Prov> = self.observations.drain(from..).collect();
        let value = result?;
        let seen = self.arena.operation(self.words.read, Some(call.span), &seen);
        let prov = self.arena.under(value.prov, Control::Selection, seen, None);
        Ok(value.with(prov))
    }

    /// What a jump gives, seen under the conditions that led to the jump.
    fn jumped(&mut self, value: Value) -> Value {
        self.jump_made = self.frame.control;
        let prov = self.under_control(value.prov);
        value.with(prov)
    }

    fn dispatch(&mut self, call: &Call<'_>) -> Result<Value, Stop> {
        let name = call.name.strip_prefix("::").map_or(call.name, Symbol::new);
        // What a manifest defines hides what Puppet has.
        if let Some(function) = self.known_function(name) {
            return self.call_defined(name, function, call);
        }
        if let Some(function) = functions::find(&name) {
            return match call.arguments.iter().find_map(Value::unknown_part) {
                Some(unknown) if matches!(name.as_str(), "tagged" | "defined") => {
                    Ok(Value::unknown(Arc::clone(&unknown.reason), Type::Boolean(None)))
                }
                Some(unknown) if matches!(name.as_str(), "realize" | "tag") => {
                    Err(undecided(&unknown.reason, call.span))
                }
                _ => function(self, call).map_err(|stop| call.blame(stop)),
            };
        }
        if let Some(function) = builtin(self.options.puppet.number(), &name) {
            return function.call(self, call);
        }
        if let Some(function) = self.find_function(name)? {
            return self.call_defined(name, function, call);
        }
        self.call_module_function(name, call)
    }

    /// Whether a call of this name would find a function.
    pub(crate) fn knows_function(&mut self, name: Symbol) -> bool {
        let name = name.strip_prefix("::").map_or(name, Symbol::new);
        functions::find(&name).is_some()
            || builtin(self.options.puppet.number(), &name).is_some()
            || self.find_function(name).is_ok_and(|found| found.is_some())
            || self.environment.ruby_function(&name).is_some()
    }

    /// A function written in the Puppet language. It sees the variables of the top scope and no others.
    fn call_defined(&mut self, name: Symbol, mut function: Function, call: &Call<'_>) -> Result<Value, Stop> {
        let definition = Arc::clone(&function.definition);
        let outer = self.frame;
        self.frame = Frame { scope: ScopeId::TOP, file: definition.file, control: outer.control };
        let locals = self.scopes[ScopeId::TOP].take_locals();
        let unset = self.scopes[ScopeId::TOP].unset_level();
        let jumps = self.jumps;
        let result = self.function_signature(name, &mut function).and_then(|signature| {
            check_arguments(&signature, &definition.name, call)?;
            self.enter(Control::Call, Prov::NONE, Some(call.span));
            self.run_function(&definition, &signature, call)
        });
        self.scopes[ScopeId::TOP].restore_locals(locals);
        self.scopes[ScopeId::TOP].forget_unset(unset);
        self.frame = outer;
        // A jump in a function ends nothing but the function.
        self.jumps = jumps;
        result
    }

    fn function_signature(
        &mut self,
        name: Symbol,
        function: &mut Function,
    ) -> Result<Arc<CallSignature>, Stop> {
        if let Some(known) = &function.signature {
            return Ok(Arc::clone(known));
        }
        let definition = Arc::clone(&function.definition);
        let signature =
            Arc::new(self.call_signature(&definition.parameters, definition.return_type.as_ref())?);
        function.signature = Some(Arc::clone(&signature));
        self.remember_signature(name, function.clone());
        Ok(signature)
    }

    /// The unknown value that stands for a computation without effects which an unknown value stopped.
    fn unknown_result(&mut self, stop: Stop, of: Type, span: Span) -> Result<Value, Stop> {
        match stop {
            Stop::Error(failure) => match failure.kind {
                FailureKind::UnknownValue { reason, .. } => {
                    self.record_unknown(&reason, span);
                    Ok(Value::unknown(reason, of))
                }
                _ => Err(Stop::Error(failure)),
            },
            stop => Err(stop),
        }
    }

    fn run_function(
        &mut self,
        definition: &ast::FunctionDef,
        signature: &CallSignature,
        call: &Call<'_>,
    ) -> Result<Value, Stop> {
        let bindings = self.bind(&definition.parameters, call.arguments.clone(), &definition.name)?;
        self.scopes[ScopeId::TOP].push(Local::Variables(bindings));
        let jumps = self.jumps;
        let value = match self.within_function(|compiler| compiler.evaluate_block(&definition.body)) {
            Err(Stop::Return(value) | Stop::Next(value)) => {
                self.note_jump(&definition.body, true);
                value
            }
            // What is left of the function has no effect but its value.
            Err(stop @ Stop::Error(_)) if Branch::of(&definition.body).is_without_effect() => {
                let of = signature.returns.clone().unwrap_or(Type::Any);
                return self.unknown_result(stop, of, call.span);
            }
            // `break()` ends the iteration that called the function, if one did.
            result => self.after_jumps(result?, jumps),
        };
        check_result(signature.returns.as_ref(), &value, &definition.name)?;
        Ok(value)
    }

    /// Parameters with a default come last.
    pub(super) fn check_order(&self, parameters: &[ast::Parameter]) -> Result<(), Stop> {
        let is_optional = |parameter: &ast::Parameter| parameter.default.is_some() || parameter.captures_rest;
        let mut rest = parameters.iter().skip_while(|parameter| !is_optional(parameter));
        match rest.find(|parameter| !is_optional(parameter)) {
            None => Ok(()),
            Some(late) => Err(FailureKind::ParameterOrder { parameter: late.name }.at(self.span(late.range))),
        }
    }

    /// The types of parameters and result. Evaluated in the scope of the frame.
    pub(super) fn call_signature(
        &mut self,
        parameters: &[ast::Parameter],
        returns: Option<&Expr>,
    ) -> Result<CallSignature, Stop> {
        self.check_order(parameters)?;
        let mut types = Vec::with_capacity(parameters.len());
        let (mut least, mut most) = (0, Some(0));
        let mut has_optional = false;
        for parameter in parameters {
            let of = match &parameter.type_expr {
                Some(expression) => self.evaluate_type(expression)?,
                None => Type::Any,
            };
            if !parameter.captures_rest {
                has_optional |= parameter.default.is_some();
                least += i64::from(parameter.default.is_none());
                most = most.map(|most| most + 1);
                types.push(of);
                continue;
            }
            // An array says how many values the rest may have.
            if let Type::Array(Some(array)) = of.resolved() {
                let size = array.size.unwrap_or(setpoint_puppet_values::types::IntRange::ANY_SIZE);
                let required = size.from.unwrap_or(0);
                if has_optional && required > 0 {
                    let order = FailureKind::ParameterOrder { parameter: parameter.name };
                    return Err(order.at(self.span(parameter.range)));
                }
                least += required;
                most = most.and_then(|most| Some(most + size.to?));
                types.push(array.element.clone());
            } else {
                most = None;
                types.push(of);
            }
        }
        let returns = match returns {
            Some(expression) => Some(self.evaluate_type(expression)?),
            None => None,
        };
        let size = setpoint_puppet_values::types::IntRange::new(Some(least), most);
        let tuple = TupleType { types, size: Some(size) };
        let callable = CallableType { parameters: Some(tuple), block: None, returns: returns.clone() };
        let parameter_names = parameters.iter().map(|parameter| parameter.name.as_str().into()).collect();
        Ok(CallSignature { signature: Signature { callable, parameter_names, block_name: None }, returns })
    }
}

fn check_arguments(signature: &CallSignature, name: &str, call: &Call<'_>) -> Result<(), Stop> {
    let given: Vec<Type> = call.arguments.iter().map(infer_set).collect();
    let fits = fits(&signature.signature.callable, &call.arguments);
    if fits && call.block.is_none() {
        return Ok(());
    }
    let block = call.block.map(|_| Type::Callable(None));
    let mismatch =
        describe_signatures(name, std::slice::from_ref(&signature.signature), &given, block.as_ref());
    Err(FailureKind::WrongType { of: Typed::Arguments(name.into()), mismatch }.at(call.span))
}

/// An attribute of an object: `$uri.host`.
fn member(receiver: &Value, name: &str) -> Option<Value> {
    match &receiver.data {
        Data::Uri(uri) => match name {
            "scheme" | "userinfo" | "host" | "port" | "path" | "query" | "fragment" | "opaque" => {
                Some(uri.component(name))
            }
            _ => None,
        },
        Data::Deferred(call) => match name {
            "name" => Some(Value::string(call.name.clone())),
            "arguments" => Some(Value::array(call.arguments.clone())),
            _ => None,
        },
        Data::Object(object) => object.get(name),
        _ => None,
    }
}

/// Whether values can be given to a callable.
pub(super) fn fits(callable: &CallableType, arguments: &[Value]) -> bool {
    let Some(parameters) = &callable.parameters else { return true };
    let size = parameters.size_range();
    let count = arguments.len() as i64;
    if !size.contains(&count) {
        return false;
    }
    arguments.iter().enumerate().all(|(at, argument)| {
        matches!(argument.data, Data::Opaque(_))
            || parameters.at(at).is_none_or(|of| matches!(of, Type::Any) || of.is_instance(argument))
    })
}

pub(super) fn check_result(returns: Option<&Type>, value: &Value, closure: &str) -> Result<(), Stop> {
    let Some(returns) = returns else { return Ok(()) };
    if matches!(value.data, Data::Opaque(_)) || returns.is_instance(value) {
        return Ok(());
    }
    let mismatch = describe_return_mismatch(closure, returns, &infer_set(value));
    Err(FailureKind::WrongType { of: Typed::Result(closure.into()), mismatch }.unplaced())
}

impl LambdaBlock {
    /// The lambda as the compiler knows it, if the block is one of its own.
    pub(crate) fn same(&self, block: &dyn Block) -> bool {
        std::ptr::addr_eq(std::ptr::from_ref(self), std::ptr::from_ref(block))
    }
}
