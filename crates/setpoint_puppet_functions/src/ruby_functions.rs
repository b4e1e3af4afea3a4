//! Functions that modules have in Ruby, run by the interpreter.
//!
//! A file is run for each call, so that it defines its function; then the first signature that fits is called, as for the
//! functions that are known here.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_puppet_values::types::{
    Alias, Bounds, CallableType, Signature, TupleType, assert_instance, describe_signatures,
};
use setpoint_puppet_values::{Data, Type, Value, infer_set};

use crate::context::Context;
use crate::function::{arguments_fit, check_count};
use crate::ruby_language::{
    Definition, DispatchDefinition, Interpreter, Legacy, RubyFailure, RubyFile, Seen, Thing, definitions,
};
use crate::signature::block_type;
use crate::{Call, FailureKind, Host, Stop, legacy};

/// What a call of a function in Ruby came to.
#[derive(Debug)]
pub enum RubyAnswer {
    Value(Value),
    Stopped(Stop),
    /// The function goes beyond what is known of Ruby.
    Beyond {
        reason: String,
        path: PathBuf,
        line: Option<u32>,
        /// What the function says that it returns.
        of: Type,
    },
}

/// Calls the function of this name that a file defines.
/// A raw call comes from Ruby itself: arguments of a function of the older interface stay as they are.
pub fn call_ruby_function(
    host: &mut dyn Host,
    call: &Call<'_>,
    name: &str,
    file: &RubyFile,
    is_raw: bool,
) -> RubyAnswer {
    let mut context = Context::new(host, call);
    if let Some(unknown) = call.arguments.iter().find(|argument| argument.unknown_part().is_some()) {
        if let Data::Opaque(opaque) = &unknown.data
            && call.block.is_none()
        {
            // The result need not be of the argument's type: it is another value, which depends on the argument.
            let result = Value::unknown(Arc::clone(&opaque.reason), Type::Any);
            return RubyAnswer::Value(context.explained(result));
        }
        return RubyAnswer::Beyond {
            reason: "an argument holds a value that is not known".to_owned(),
            path: file.path().to_owned(),
            line: None,
            of: Type::Any,
        };
    }
    let mut returns = None;
    let result = run(&mut context, call, name, file, is_raw, &mut returns);
    match result {
        Ok(value) => RubyAnswer::Value(context.explained(value)),
        Err(RubyFailure::Stopped(stop)) => RubyAnswer::Stopped(stop),
        // The function of stdlib raises for its caller's fault, unless it was called the wrong way.
        Err(RubyFailure::Failed(message)) if name == "assert_private" && call.arguments.len() < 2 => {
            let private = FailureKind::Private { definition: None, message: Some(message) };
            RubyAnswer::Stopped(private.at(call.span))
        }
        Err(RubyFailure::Failed(message)) => RubyAnswer::Stopped(context.fail(message)),
        Err(RubyFailure::Beyond(beyond)) => RubyAnswer::Beyond {
            reason: beyond.reason,
            path: beyond.file.unwrap_or_else(|| file.path().to_owned()),
            line: beyond.line,
            of: returns.and_then(|text| context.parse_type(&text).ok()).unwrap_or(Type::Any),
        },
    }
}

fn run(
    context: &mut Context<'_, '_>,
    call: &Call<'_>,
    name: &str,
    file: &RubyFile,
    is_raw: bool,
    returns: &mut Option<String>,
) -> Result<Value, RubyFailure> {
    let span = context.span();
    let mut interpreter = Interpreter::new(context);
    definitions(&mut interpreter, file)?;
    let defined = interpreter.definitions.iter().find(|known| known.name == name).cloned();
    if let Some(definition) = defined {
        *returns = definition.only_return_type();
        let arguments: Vec<Thing> = call.arguments.iter().map(Thing::from_value).collect();
        let block = call.block.map(|_| Thing::Block);
        let result = typed(&mut interpreter, &definition, &call.arguments, arguments, block.as_ref())?;
        return Ok(result);
    }
    let old = interpreter.legacy.iter().find(|known| known.name == name).cloned();
    if let Some(old) = old {
        if let Some((method, line)) = file.first_method() {
            let message = format!(
                "Illegal method definition of method '{method}' in source {} on line {line} in legacy function. See \
                 https://puppet.com/docs/puppet/latest/functions_refactor_legacy.html for more information",
                file.path().display()
            );
            return Err(RubyFailure::Stopped(FailureKind::FunctionFailed(message).at(span)));
        }
        return counted(&mut interpreter, &old, call, is_raw);
    }
    let created = interpreter.definitions.first().map(|known| known.name.clone());
    let message = match created {
        Some(created) => format!(
            "The code loaded from {} produced mis-matched name, expected '{name}', got {created}",
            file.path().display()
        ),
        None => format!(
            "The code loaded from {} does not seem to be a Puppet 4x API function - no create_function call.",
            file.path().display()
        ),
    };
    Err(RubyFailure::Stopped(FailureKind::FunctionFailed(message).at(span)))
}

impl Definition {
    /// The type that all signatures return, if they say so and it is one.
    fn only_return_type(&self) -> Option<String> {
        let mut signatures = self.dispatches.iter().filter(|dispatch| !dispatch.refuses);
        let first = signatures.next()?.returns.clone()?;
        signatures.all(|dispatch| dispatch.returns.as_ref() == Some(&first)).then_some(first)
    }
}

/// A function of Puppet's present interface.
fn typed(
    interpreter: &mut Interpreter<'_, '_, '_>,
    definition: &Definition,
    values: &[Value],
    arguments: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Value, RubyFailure> {
    let this = interpreter.instance_of(definition);
    let given = arguments.clone();
    let result = if let Some((owner, method)) = definition.class.find("call") {
        // The function takes its call into its own hands.
        let all = [Thing::Scope(Seen::ByCaller)].into_iter().chain(arguments).collect();
        let result = interpreter.invoke(&this, &owner, &method, all, block);
        interpreter.outcome(result)?
    } else {
        dispatch(interpreter, definition, &this, values, arguments, block)?
    };
    for (value, thing) in values.iter().zip(&given) {
        let is_changed = thing.to_value().is_some_and(|after| after.data != value.data);
        if is_changed && (is_shared(value) || value.as_str().is_some()) {
            return Err(interpreter.beyond("it changes an argument in place"));
        }
    }
    interpreter.check_kept()?;
    interpreter.result(&result)
}

/// Whether somebody else than the call has the value.
fn is_shared(value: &Value) -> bool {
    match &value.data {
        Data::Array(items) => Arc::strong_count(items) > 1 || items.iter().any(is_shared),
        Data::Hash(entries) => Arc::strong_count(entries) > 1 || entries.values().any(is_shared),
        _ => false,
    }
}

/// Calls the first signature that fits.
pub(crate) fn dispatch(
    interpreter: &mut Interpreter<'_, '_, '_>,
    definition: &Definition,
    this: &Thing,
    values: &[Value],
    arguments: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Thing, RubyFailure> {
    let dispatches = if definition.dispatches.is_empty() {
        vec![Rc::new(default_dispatch(interpreter, definition)?)]
    } else {
        definition.dispatches.clone()
    };
    let span = interpreter.context.span();
    let types = LocalTypes::new(interpreter, &definition.types)?;
    let mut offered = Vec::new();
    let given_block = if block.is_some() { interpreter.context.block() } else { None };
    for dispatch in &dispatches {
        let signature = types.signature(interpreter, dispatch)?;
        let block_fits = match (&signature.callable.block, given_block) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(_), None) => dispatch.block.as_ref().is_none_or(|wanted| !wanted.required),
            (Some(of), Some(block)) => of.is_assignable(&block_type(block)),
        };
        if !arguments_fit(&signature, values) || !block_fits {
            if !dispatch.refuses {
                offered.push(signature);
            }
            continue;
        }
        let woven = woven(interpreter, dispatch, arguments)?;
        let Some((owner, method)) = definition.class.find(&dispatch.method) else {
            return Err(interpreter.beyond(format!("its method {} is not defined", dispatch.method)));
        };
        if dispatch.refuses {
            let result = interpreter.invoke(this, &owner, &method, woven, None);
            let words = interpreter.outcome(result)?.to_s();
            let message = format!("'{}' {words}", definition.name);
            return Err(RubyFailure::Stopped(FailureKind::WrongArguments(message).at(span)));
        }
        let result = interpreter.invoke(this, &owner, &method, woven, block);
        let result = interpreter.outcome(result)?;
        // Bytes are a text to Ruby.
        let returns = signature.callable.returns.as_ref().filter(|_| !matches!(result, Thing::Bytes(_)));
        if let Some(returns) = returns {
            let value = interpreter.result(&result)?;
            let subject = format!("value returned from function '{}'", dispatch.method);
            assert_instance(&subject, returns, &value)
                .map_err(|error| RubyFailure::Stopped(FailureKind::FunctionFailed(error.message).at(span)))?;
        }
        return Ok(result);
    }
    let given: Vec<Type> = values.iter().map(infer_set).collect();
    let block = given_block.map(block_type);
    let message = describe_signatures(&definition.name, &offered, &given, block.as_ref());
    Err(RubyFailure::Stopped(FailureKind::WrongArguments(message).at(span)))
}

/// Arguments with what is injected among them.
fn woven(
    interpreter: &mut Interpreter<'_, '_, '_>,
    dispatch: &DispatchDefinition,
    arguments: Vec<Thing>,
) -> Result<Vec<Thing>, RubyFailure> {
    let mut woven = arguments;
    for (at, what) in dispatch.injected.iter().rev() {
        if what != "scope_param" {
            return Err(interpreter.beyond(format!("it asks for {what}")));
        }
        let at = (*at).min(woven.len());
        woven.insert(at, Thing::Scope(Seen::ByCaller));
    }
    Ok(woven)
}

/// Without a dispatch, the method of the function's own name takes anything.
fn default_dispatch(
    interpreter: &mut Interpreter<'_, '_, '_>,
    definition: &Definition,
) -> Result<DispatchDefinition, RubyFailure> {
    let name = definition.name.rsplit("::").next().unwrap_or_default();
    let Some((least, most, names)) = definition.class.signature_of(name) else {
        let span = interpreter.context.span();
        let message = format!(
            "Function Load Error for function '{}': Function Creation Error, cannot create a default dispatcher for \
             function '{name}', no method with this name found",
            definition.name
        );
        return Err(RubyFailure::Stopped(FailureKind::FunctionFailed(message).at(span)));
    };
    let count = most.unwrap_or(names.len().max(1)).max(usize::from(most.is_none()));
    let any = |at: usize| ("Any".to_owned(), names.get(at).cloned().unwrap_or_else(|| format!("p{at}")));
    Ok(DispatchDefinition {
        method: name.to_owned(),
        parameters: (0..count).map(any).collect(),
        least,
        endless: most.is_none(),
        ..DispatchDefinition::default()
    })
}

/// A function of Puppet's older interface.
fn counted(
    interpreter: &mut Interpreter<'_, '_, '_>,
    legacy_function: &Legacy,
    call: &Call<'_>,
    is_raw: bool,
) -> Result<Value, RubyFailure> {
    let arity = legacy_function.arity.unwrap_or(-1);
    check_count(&legacy_function.name, arity, call).map_err(RubyFailure::Stopped)?;
    let values = if is_raw {
        call.arguments.clone()
    } else {
        legacy::convert(interpreter.context, &call.arguments).map_err(RubyFailure::Stopped)?
    };
    let things = values
        .iter()
        .map(|value| if is_raw { Ok(Thing::from_value(value)) } else { interpreter.old_argument(value) });
    let arguments = things.collect::<Result<Vec<_>, _>>().map(Thing::array);
    let arguments = interpreter.outcome(arguments)?;
    let scope = Thing::Scope(Seen::ByCaller);
    let result = interpreter.call_block_as(&legacy_function.block, vec![arguments], Some(scope), true);
    let result = interpreter.outcome(result)?;
    if legacy_function.is_value { interpreter.result(&result) } else { Ok(Value::UNDEF) }
}

/// The names of types that a function has for itself.
struct LocalTypes {
    known: FxHashMap<String, Type>,
}

impl LocalTypes {
    fn new(interpreter: &mut Interpreter<'_, '_, '_>, texts: &[String]) -> Result<Self, RubyFailure> {
        let mut types = Self { known: FxHashMap::default() };
        let mut aliases = Vec::new();
        for text in texts {
            let Some((name, target)) = text.split_once('=') else {
                return Err(interpreter.beyond("a local type is not understood"));
            };
            let alias = Alias::new(name.trim());
            types.known.insert(name.trim().to_owned(), Type::Alias(Arc::clone(&alias)));
            aliases.push((alias, target.trim().to_owned()));
        }
        for (alias, target) in aliases {
            let target = types.type_of(interpreter, &target)?;
            let span = interpreter.context.span();
            alias
                .resolve(target)
                .map_err(|error| RubyFailure::Stopped(FailureKind::FunctionFailed(error.message).at(span)))?;
        }
        Ok(types)
    }

    fn type_of(&self, interpreter: &mut Interpreter<'_, '_, '_>, text: &str) -> Result<Type, RubyFailure> {
        if self.known.is_empty() {
            if let Some(of) = Type::builtin(text) {
                return Ok(of);
            }
            return interpreter.context.parse_type(text).map_err(RubyFailure::Stopped);
        }
        let stopped: RefCell<Option<Stop>> = RefCell::new(None);
        let context = RefCell::new(&mut *interpreter.context);
        let lookup = |name: &str| {
            if let Some(known) = self.known.get(name) {
                return Some(known.clone());
            }
            match context.borrow_mut().parse_type(name) {
                Ok(of) => Some(of),
                Err(stop) => {
                    *stopped.borrow_mut() = Some(stop);
                    None
                }
            }
        };
        let parsed = Type::parse(text, &lookup);
        if let Some(stop) = stopped.into_inner() {
            return Err(RubyFailure::Stopped(stop));
        }
        let span = interpreter.context.span();
        parsed.map_err(|error| RubyFailure::Stopped(FailureKind::FunctionFailed(error.message).at(span)))
    }

    fn signature(
        &self,
        interpreter: &mut Interpreter<'_, '_, '_>,
        dispatch: &DispatchDefinition,
    ) -> Result<Signature, RubyFailure> {
        let mut types = Vec::with_capacity(dispatch.parameters.len());
        for (of, _) in &dispatch.parameters {
            types.push(self.type_of(interpreter, of)?);
        }
        let most = (!dispatch.endless).then_some(dispatch.parameters.len() as i64);
        let size = Bounds::new(Some(dispatch.least as i64), most);
        let block = match &dispatch.block {
            None => None,
            Some(block) => {
                let of = match &block.of {
                    Some(text) => self.type_of(interpreter, text)?,
                    None => Type::Callable(None),
                };
                Some(if block.required { of } else { Type::optional(of) })
            }
        };
        let returns = match &dispatch.returns {
            Some(text) => Some(self.type_of(interpreter, text)?),
            None => None,
        };
        Ok(Signature {
            block_name: dispatch.block.as_ref().map(|block| Arc::from(block.name.as_str())),
            callable: CallableType {
                parameters: Some(TupleType { types, size: Some(size) }),
                block,
                returns,
            },
            parameter_names: dispatch.parameters.iter().map(|(_, name)| Arc::from(name.as_str())).collect(),
        })
    }
}
