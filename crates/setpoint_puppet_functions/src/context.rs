//! A running call: what it was given, and what its block decided.

use rustc_hash::FxHashMap;
use setpoint_provenance::Prov;
use setpoint_puppet_values::{Data, Maker, Type, Value, ValueError};
use setpoint_source::Span;

use crate::{Block, Call, FailureKind, Host, Stop};

/// One call in progress, and the evaluation that made it.
pub(crate) struct Context<'c, 'h> {
    pub(crate) host: &'h mut dyn Host,
    pub(crate) call: &'c Call<'c>,
    /// The answers of the block that shaped the result without being part of it.
    decided: Vec<Prov>,
    /// See [`Self::keeps_shape`].
    shape_only: bool,
}

impl<'c, 'h> Context<'c, 'h> {
    pub(crate) fn new(host: &'h mut dyn Host, call: &'c Call<'c>) -> Self {
        Self { host, call, decided: Vec::new(), shape_only: false }
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
    pub(crate) fn explained(mut self, result: Value) -> Value {
        if !self.host.arena().enabled() {
            return result;
        }
        debug_assert!(
            !is_unmarked_change(&result, &self.call.arguments),
            "{} changes a value and does not say so",
            self.call.name
        );
        let of = self.dependencies();
        let shape = self.shape_only.then(|| self.shape());
        let maker =
            Maker { name: self.call.name, span: Some(self.call.span), of: &of, shape: shape.as_deref() };
        maker.explain(result, self.host.arena())
    }

    /// What a value depends on that is made now.
    fn dependencies(&self) -> Vec<Prov> {
        let arguments = self.call.arguments.iter().map(|argument| argument.prov);
        arguments.chain(self.decided.iter().copied()).collect()
    }

    /// The result has an element for each element of the first argument, and these have nodes of their own: no other
    /// depends on them.
    pub(crate) fn keeps_shape(&mut self) {
        self.shape_only = true;
    }

    fn shape(&mut self) -> Vec<Prov> {
        let call = self.call;
        let Some((first, rest)) = call.arguments.split_first() else { return Vec::new() };
        let shape = self.host.arena().shape(first.prov);
        let decided = self.decided.iter().copied();
        [shape].into_iter().chain(rest.iter().map(|argument| argument.prov)).chain(decided).collect()
    }

    /// A value that is handed on while the call goes on: to its block, to another function, to a variable.
    pub(crate) fn explained_part(&mut self, part: Value) -> Value {
        if !part.prov.is_none() || !self.host.arena().enabled() {
            return part;
        }
        let of = self.dependencies();
        let maker = Maker { name: self.call.name, span: Some(self.call.span), of: &of, shape: None };
        maker.explain(part, self.host.arena())
    }

    /// An element of a collection that has no place of its own: a letter of a text, a number of a range, an entry.
    pub(crate) fn element_of(&mut self, element: Value, collection: &Value) -> Value {
        let is_new = element.prov.is_none() || element.prov.is_changed();
        if !is_new || collection.prov.is_none() || !self.host.arena().enabled() {
            return element;
        }
        let of = [collection.prov];
        let maker = Maker { name: "element".into(), span: None, of: &of, shape: None };
        if !is_entry(&element) {
            return maker.explain(element, self.host.arena());
        }
        // An entry is its key and its value, and which there are is up to the collection.
        let arena = self.host.arena();
        let shape = [arena.shape(collection.prov)];
        Maker { of: &shape, ..maker }.explain(element, arena)
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

/// Whether an element is an entry of a hash whose value has a node of its own.
fn is_entry(element: &Value) -> bool {
    matches!(element.as_array(), Some([_, value]) if element.prov.is_none() && !value.prov.is_none())
}

/// Whether the result, or an element of it, has the node of an argument or of its element, and is another value. Only
/// a part is looked at: this is to find mistakes.
fn is_unmarked_change(result: &Value, arguments: &[Value]) -> bool {
    const MOST: usize = 100;
    // A large collection is not looked at as a whole, and an element beyond the bound would seem to be new.
    if arguments.iter().any(|argument| parts(argument).nth(MOST).is_some()) {
        return false;
    }
    // Elements may share a node.
    let mut given: FxHashMap<Prov, Vec<&Value>> = FxHashMap::default();
    for argument in arguments {
        for one in std::iter::once(argument).chain(parts(argument).take(MOST)) {
            given.entry(one.prov).or_default().push(one);
        }
    }
    let is_other = |value: &Value| {
        let known = given.get(&value.prov).filter(|_| !value.prov.is_none());
        known.is_some_and(|known| !known.iter().any(|one| is_alike(one, value)))
    };
    is_other(result) || parts(result).take(MOST).any(is_other)
}

fn is_alike(one: &Value, other: &Value) -> bool {
    match (&one.data, &other.data) {
        (Data::Array(_), Data::Array(_)) | (Data::Hash(_), Data::Hash(_)) => true,
        // A secret is the value that it keeps.
        (Data::Sensitive(inner), _) => is_alike(inner, other),
        (_, Data::Sensitive(inner)) => is_alike(one, inner),
        (one, other) => one == other,
    }
}

fn parts(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match &value.data {
        Data::Array(items) => Box::new(items.iter()),
        Data::Hash(entries) => Box::new(entries.values()),
        _ => Box::new(std::iter::empty()),
    }
}
