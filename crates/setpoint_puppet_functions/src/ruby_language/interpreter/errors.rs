//! `begin`, `rescue`, `ensure` and `raise`.

use std::rc::Rc;

use setpoint_source::Limit;

use super::{Flow, Interpreter, Result, beyond, limit, type_error};
use crate::ruby_language::ast::{Begin, Rescue};
use crate::ruby_language::classes::{self, Class, Instance};
use crate::ruby_language::things::{Environment, Thing};
use crate::ruby_language::{RubyFailure, methods};
use crate::{FailureKind, Stop};

/// More retries are refused.
const MOST_RETRIES: Limit = Limit::new(10_000);

impl Interpreter<'_, '_, '_> {
    pub(super) fn begin(&mut self, begin: &Begin, environment: &Rc<Environment>) -> Result<Thing> {
        let mut retries = 0_usize;
        let result = loop {
            match self.attempt(begin, environment) {
                Err(Flow::Retry) if retries < MOST_RETRIES => retries += 1,
                Err(Flow::Retry) => break limit("it tries again too often"),
                result => break result,
            }
        };
        if let Some(ensure) = &begin.ensure
            && !matches!(result, Err(Flow::Failure(RubyFailure::Beyond(_))))
        {
            self.run(ensure, environment)?;
        }
        result
    }

    fn attempt(&mut self, begin: &Begin, environment: &Rc<Environment>) -> Result<Thing> {
        let depth = self.depth;
        let result = self.run(&begin.body, environment);
        let (error, flow) = match result {
            Ok(value) => {
                return match &begin.otherwise {
                    Some(otherwise) => self.run(otherwise, environment),
                    None => Ok(value),
                };
            }
            Err(Flow::Raise(error)) => (error.clone(), Flow::Raise(error)),
            Err(Flow::Failure(RubyFailure::Stopped(Stop::Error(failure))))
                if failure.kind != FailureKind::NoSuchKey =>
            {
                let class = match &failure.kind {
                    FailureKind::WrongArguments(_) => "ArgumentError",
                    _ => "Puppet::ParseError",
                };
                let error = Instance::error(class, failure.kind.message().as_str());
                (error, Flow::Failure(RubyFailure::Stopped(Stop::Error(failure))))
            }
            Err(other) => return Err(other),
        };
        self.depth = depth;
        for rescue in &begin.rescues {
            if self.catches(rescue, &error, environment)? {
                let outer = self.current_error.replace(error.clone());
                if let Some(variable) = &rescue.variable {
                    self.assign(variable, error, environment)?;
                }
                let result = self.run(&rescue.body, environment);
                self.current_error = outer;
                return result;
            }
        }
        Err(flow)
    }

    fn catches(&mut self, rescue: &Rescue, error: &Thing, environment: &Rc<Environment>) -> Result<bool> {
        if rescue.classes.is_empty() {
            return Ok(classes::is_a(error, &Thing::Constant("StandardError".into())).unwrap_or(false));
        }
        for class in self.all(&rescue.classes, environment)? {
            let known = match &class {
                Thing::Class(_) => true,
                Thing::Constant(name) => classes::is_error_class(classes::canonical(name)),
                _ => return type_error("class or module required for rescue clause"),
            };
            // A class that is not known is none of ours.
            if known && classes::is_a(error, &class).unwrap_or(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `raise …`
    pub(crate) fn raise(&mut self, arguments: &[Thing]) -> Result<Thing> {
        let error = match arguments {
            [] => match self.current_error.clone() {
                Some(error) => error,
                None => Instance::error("RuntimeError", "unhandled exception"),
            },
            [Thing::Text(message)] => Instance::error("RuntimeError", message.value.borrow().as_str()),
            [error @ Thing::Object(object)] if object.is_error() => error.clone(),
            [Thing::Object(object), message, ..] if object.is_error() => {
                let copy = Instance::new(object.class());
                copy.variables.borrow_mut().insert("message".into(), message.clone());
                Thing::Object(copy)
            }
            [class @ (Thing::Constant(_) | Thing::Class(_)), rest @ ..] => {
                // A backtrace may follow.
                let given = rest.get(..1).unwrap_or_default().to_vec();
                methods::call(self, class, "new", given, None)?
            }
            _ => return type_error("exception class/object expected"),
        };
        match &error {
            Thing::Object(object) if object.is_error() => Err(Flow::Raise(error)),
            _ => type_error("exception class/object expected"),
        }
    }

    /// An instance of a class of errors.
    pub(crate) fn new_error(&mut self, class: Thing, arguments: &[Thing]) -> Result<Thing> {
        let message = match arguments {
            [] => Thing::Nil,
            [message] => message.clone(),
            _ => return beyond(format!("it gives {} more than a message", class.class_name())),
        };
        let error = Instance::new(class);
        error.variables.borrow_mut().insert("message".into(), message);
        Ok(Thing::Object(error))
    }

    /// `super(message)` in a class of errors.
    pub(super) fn error_message(
        &mut self,
        this: &Thing,
        class: &Rc<Class>,
        arguments: &[Thing],
    ) -> Option<Thing> {
        let Thing::Object(object) = this else { return None };
        if !object.is_error() || class.foreign_parent().is_none() {
            return None;
        }
        let message = arguments.first().cloned().unwrap_or(Thing::Nil);
        object.variables.borrow_mut().insert("message".into(), message);
        Some(Thing::Nil)
    }
}
