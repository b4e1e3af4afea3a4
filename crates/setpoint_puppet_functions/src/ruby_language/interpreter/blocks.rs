//! Blocks of Ruby that are given to functions of Puppet.

use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use setpoint_puppet_values::{Type, Value};

use super::{Definition, Interpreter, Legacy, Result, arity, beyond};
use crate::context::Context;
use crate::ruby_language::RubyFailure;
use crate::ruby_language::classes::Class;
use crate::ruby_language::things::Thing;
use crate::{Block, Call, Host, Stop};

/// A block, with what the code around it knows. The interpreter that has it waits while the function runs, so the block is
/// run by one of its own.
pub(super) struct RubyBlock {
    block: Thing,
    required: usize,
    accepted: Option<usize>,
    is_template: bool,
    top: Rc<Class>,
    file: Option<PathBuf>,
    definitions: Vec<Definition>,
    legacy: Vec<Legacy>,
    span: setpoint_source::Span,
    /// Why the code around it cannot go on.
    pub(super) failure: Cell<Option<RubyFailure>>,
}

impl RubyBlock {
    pub(super) fn new(interpreter: &Interpreter<'_, '_, '_>, block: &Thing) -> Result<Self> {
        let Thing::Lambda(closure) = block else {
            return beyond("it gives a function a method as its block");
        };
        let (required, accepted) = arity(&closure.block.parameters.list);
        Ok(Self {
            block: block.clone(),
            required,
            accepted,
            is_template: interpreter.is_template,
            top: Rc::clone(&interpreter.top),
            file: interpreter.file.clone(),
            definitions: interpreter.definitions.clone(),
            legacy: interpreter.legacy.clone(),
            span: interpreter.context.span(),
            failure: Cell::new(None),
        })
    }

    fn value(&self, host: &mut dyn Host, arguments: &[Value]) -> std::result::Result<Value, RubyFailure> {
        let call = Call { name: "block".into(), arguments: arguments.to_vec(), block: None, span: self.span };
        let mut context = Context::new(host, &call);
        let mut interpreter = Interpreter::new(&mut context);
        interpreter.is_template = self.is_template;
        interpreter.top = Rc::clone(&self.top);
        interpreter.file.clone_from(&self.file);
        interpreter.definitions.clone_from(&self.definitions);
        interpreter.legacy.clone_from(&self.legacy);
        let things = arguments.iter().map(Thing::from_value).collect();
        let result = interpreter.call_block(&self.block, things);
        let result = interpreter.outcome(result)?;
        let value = interpreter.result(&result)?;
        Ok(context.explained(value))
    }
}

impl Block for RubyBlock {
    fn required(&self) -> usize {
        self.required
    }

    fn accepted(&self) -> Option<usize> {
        self.accepted
    }

    fn run(&self, host: &mut dyn Host, arguments: &[Value]) -> Option<std::result::Result<Value, Stop>> {
        Some(match self.value(host, arguments) {
            Ok(value) => Ok(value),
            Err(RubyFailure::Stopped(stop)) => Err(stop),
            Err(failure) => {
                self.failure.set(Some(failure));
                Ok(Value::unknown("the block of a function in Ruby cannot go on", Type::Any))
            }
        })
    }
}

impl fmt::Debug for RubyBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RubyBlock({} to {:?})", self.required, self.accepted)
    }
}
