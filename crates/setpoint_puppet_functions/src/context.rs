//! A running call: what it was given, and what its block decided.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_provenance::{Control, Prov};
use setpoint_puppet_values::{Data, Type, Value, ValueError};
use setpoint_source::Span;

use crate::{Block, Call, FailureKind, Host, Stop};

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
        self.refuse_unknown(&answer)?;
        self.note(&answer);
        Ok(answer)
    }

    /// Nothing can be decided by a value that could not be computed.
    pub(crate) fn refuse_unknown(&self, value: &Value) -> Result<(), Stop> {
        let Some(unknown) = value.unknown_part() else { return Ok(()) };
        Err(FailureKind::undecided(unknown).at(self.call.span))
    }

    /// The result depends on this value, though it is not made of it.
    pub(crate) fn note(&mut self, value: &Value) {
        if !value.prov.is_none() && self.decided.last() != Some(&value.prov) {
            self.decided.push(value.prov);
        }
    }

    pub(crate) fn fail(&self, message: impl Into<String>) -> Stop {
        FailureKind::FunctionFailed(message.into()).at(self.call.span)
    }

    /// Puppet's complaint about a value, at the call.
    pub(crate) fn stop(&self, error: ValueError) -> Stop {
        let kind = if error.is_limit { error.into() } else { FailureKind::FunctionFailed(error.message) };
        kind.at(self.call.span)
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

    /// The same for a function of Puppet's older interface.
    pub(crate) fn call_legacy_function(&mut self, name: &str, arguments: Vec<Value>) -> Result<Value, Stop> {
        let span = self.call.span;
        self.host.call_legacy_function(Call { name: name.into(), arguments, block: None, span })
    }

    /// The same, with the block that this call was given.
    pub(crate) fn call_function_with_block(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, Stop> {
        let (span, block) = (self.call.span, self.call.block);
        self.host.call_function(Call { name: name.into(), arguments, block, span })
    }

    /// Gives the result its provenance. A new value is the function over its arguments and what its block decided; a
    /// value that was copied out of an argument keeps its own, seen under the call that chose it.
    pub(crate) fn explained(self, mut result: Value) -> Value {
        let arena = self.host.arena();
        if !arena.enabled() {
            return result;
        }
        let mut given = FxHashMap::default();
        if !result.prov.is_none() || matches!(result.data, Data::Array(_) | Data::Hash(_)) {
            self.call.arguments.iter().for_each(|argument| note_given(argument, &mut given));
        }
        let arguments: Vec<Prov> =
            self.call.arguments.iter().map(|argument| argument.prov).chain(self.decided).collect();
        let span = Some(self.call.span);
        let call = arena.operation(self.call.name, span, &arguments);
        let mut element = None;
        tell_elements(&mut result, &given, &mut || {
            *element.get_or_insert_with(|| arena.operation("element".into(), span, &[call]))
        });
        let prov = match result.prov {
            Prov::NONE => call,
            _ if is_changed(&result, &given) => call,
            own => arena.under(own, Control::Selection, call, span),
        };
        result.with(prov)
    }

    /// An element of a collection that has no place of its own: a letter of a text, a number of a range.
    pub(crate) fn element_of(&mut self, element: Value, collection: &Value) -> Value {
        if !element.prov.is_none() || collection.prov.is_none() {
            return element;
        }
        let prov = self.host.arena().operation("element".into(), None, &[collection.prov]);
        element.with(prov)
    }

    /// The position of an element.
    pub(crate) fn position(&mut self, index: usize, collection: &Value) -> Value {
        let position = Value::from(index as i64);
        if collection.prov.is_none() {
            return position;
        }
        let prov = self.host.arena().operation("index".into(), None, &[collection.prov]);
        position.with(prov)
    }
}

/// What the nodes of arguments, and of all that is in them, stand for.
type Given<'v> = FxHashMap<Prov, &'v Value>;

fn note_given<'v>(value: &'v Value, given: &mut Given<'v>) {
    if !value.prov.is_none() {
        given.entry(value.prov).or_insert(value);
    }
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| note_given(item, given)),
        Data::Hash(entries) => entries.iter().for_each(|(key, item)| {
            note_given(&key.0, given);
            note_given(item, given);
        }),
        _ => {}
    }
}

/// Whether a value has the node of one that was given, and is another: it was computed, not copied.
fn is_changed(value: &Value, given: &Given<'_>) -> bool {
    given.get(&value.prov).is_some_and(|known| known.data != value.data)
}

/// Elements that a function computed are elements of its result, and copies of nothing.
fn tell_elements(value: &mut Value, given: &Given<'_>, made: &mut dyn FnMut() -> Prov) {
    let untold = |item: &Value| item.prov.is_none() || is_changed(item, given);
    if !any_untold(value, &untold) {
        return;
    }
    let mut each = |item: &mut Value| {
        if untold(item) {
            item.prov = made();
        }
        tell_elements(item, given, made);
    };
    match &mut value.data {
        Data::Array(items) => Arc::make_mut(items).iter_mut().for_each(&mut each),
        Data::Hash(entries) => Arc::make_mut(entries).values_mut().for_each(&mut each),
        _ => {}
    }
}

fn any_untold(value: &Value, untold: &dyn Fn(&Value) -> bool) -> bool {
    match &value.data {
        Data::Array(items) => items.iter().any(|item| untold(item) || any_untold(item, untold)),
        Data::Hash(entries) => entries.values().any(|item| untold(item) || any_untold(item, untold)),
        _ => false,
    }
}
