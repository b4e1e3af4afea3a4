//! A running call: what it was given, and what its block decided.

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_values::{Type, Value, ValueError};
use setpoint_source::Span;

use crate::{Block, Call, Host, Stop, rules};

/// One call in progress, and the evaluation that made it.
pub(crate) struct Context<'c, 'h> {
    pub(crate) host: &'h mut dyn Host,
    pub(crate) call: &'c Call<'c>,
    /// The answers of the block that shaped the result without being part of it.
    decided: Vec<Prov>,
}

impl<'c, 'h> Context<'c, 'h> {
    pub(crate) fn new(host: &'h mut dyn Host, call: &'c Call<'c>) -> Self {
        Self { host, call, decided: Vec::new() }
    }

    pub(crate) fn span(&self) -> Span {
        self.call.span
    }

    pub(crate) fn block(&self) -> Option<&'c dyn Block> {
        self.call.block
    }

    /// Calls the block for a value of the result. Without a block there is nothing to call.
    pub(crate) fn call_block(&mut self, arguments: Vec<Value>) -> Result<Value, Stop> {
        match self.call.block {
            Some(block) => self.host.call_block(block, arguments),
            None => Ok(Value::UNDEF),
        }
    }

    /// Calls the block for an answer that decides about the result.
    pub(crate) fn ask_block(&mut self, arguments: Vec<Value>) -> Result<Value, Stop> {
        let answer = self.call_block(arguments)?;
        self.note(&answer);
        Ok(answer)
    }

    /// The result depends on this value, though it is not made of it.
    pub(crate) fn note(&mut self, value: &Value) {
        if !value.prov.is_none() && self.decided.last() != Some(&value.prov) {
            self.decided.push(value.prov);
        }
    }

    pub(crate) fn fail(&self, message: impl Into<String>) -> Stop {
        rules::failed(message, self.call.span)
    }

    /// Puppet's complaint about a value, at the call.
    pub(crate) fn stop(&self, error: ValueError) -> Stop {
        rules::failed(error.message, self.call.span)
    }

    pub(crate) fn checked<T>(&self, result: Result<T, ValueError>) -> Result<T, Stop> {
        result.map_err(|error| self.stop(error))
    }

    pub(crate) fn warn_once(&mut self, key: &str, message: &str) {
        let span = self.call.span;
        self.host.warn_once(key, message.to_owned(), span);
    }

    /// The type that a text names.
    pub(crate) fn parse_type(&mut self, text: &str) -> Result<Type, Stop> {
        let span = self.call.span;
        let value = self.host.parse_type(text, span)?;
        match value.as_type() {
            Some(of) => Ok(of.clone()),
            None => Err(self.fail(format!("The text '{text}' does not name a data type"))),
        }
    }

    /// Calls another function with arguments of our own.
    pub(crate) fn call_function(&mut self, name: &str, arguments: Vec<Value>) -> Result<Value, Stop> {
        let span = self.call.span;
        self.host.call_function(Call { name: name.into(), arguments, block: None, span })
    }

    /// Gives the result its provenance. A new value is the function over its arguments and what its block decided; a
    /// value that was copied out of an argument keeps its own, seen under the call that chose it.
    pub(crate) fn explained(self, result: Value) -> Value {
        let arena = self.host.arena();
        if !arena.enabled() {
            return result;
        }
        let arguments: Vec<Prov> =
            self.call.arguments.iter().map(|argument| argument.prov).chain(self.decided).collect();
        let span = Some(self.call.span);
        let call = arena.operation(self.call.name, span, &arguments);
        let prov = match result.prov {
            Prov::NONE => call,
            own => arena.under(own, Control::Selection, call, span),
        };
        result.with(prov)
    }
}
