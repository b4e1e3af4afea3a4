//! A function: its signatures, and how a call finds the one it fits.

use std::fmt;

use setpoint_puppet_values::Value;

use crate::{Call, Host, Stop, rules};

/// What does the work once the arguments are known to fit.
pub(crate) type Run = fn(&mut dyn Host, &Call<'_>) -> Result<Value, Stop>;

/// A function that Puppet, or a module, has.
pub struct Function {
    pub name: &'static str,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// Of Puppet's present interface: the first signature that fits does the work.
    Typed(&'static [Dispatch]),
    /// Of Puppet's older interface: only the number of arguments is checked, and a negative one is a minimum.
    Counted { arity: i32, run: Run },
}

/// One signature of a function.
pub(crate) struct Dispatch {
    pub(crate) parameters: &'static [Parameter],
    pub(crate) block: Option<BlockParameter>,
    pub(crate) run: Run,
}

#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    /// A type as Puppet writes it. It is parsed only when a call needs it.
    pub(crate) text: &'static str,
    pub(crate) name: &'static str,
    pub(crate) presence: Presence,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// Any number, also none.
    Repeated,
}

#[derive(Clone, Copy)]
pub(crate) struct BlockParameter {
    pub(crate) text: &'static str,
    pub(crate) required: bool,
}

pub(crate) const fn required(text: &'static str, name: &'static str) -> Parameter {
    Parameter { text, name, presence: Presence::Required }
}

pub(crate) const fn optional(text: &'static str, name: &'static str) -> Parameter {
    Parameter { text, name, presence: Presence::Optional }
}

pub(crate) const fn repeated(text: &'static str, name: &'static str) -> Parameter {
    Parameter { text, name, presence: Presence::Repeated }
}

impl Dispatch {
    pub(crate) const fn new(parameters: &'static [Parameter], run: Run) -> Self {
        Self { parameters, block: None, run }
    }

    /// A block must be given.
    pub(crate) const fn with_block(mut self, text: &'static str) -> Self {
        self.block = Some(BlockParameter { text, required: true });
        self
    }

    /// A block may be given.
    pub(crate) const fn with_optional_block(mut self, text: &'static str) -> Self {
        self.block = Some(BlockParameter { text, required: false });
        self
    }
}

impl Function {
    pub(crate) const fn typed(name: &'static str, dispatches: &'static [Dispatch]) -> Self {
        Self { name, kind: Kind::Typed(dispatches) }
    }

    pub(crate) const fn counted(name: &'static str, arity: i32, run: Run) -> Self {
        Self { name, kind: Kind::Counted { arity, run } }
    }
}

impl Function {
    /// Checks the arguments and does the work. A result that is new gets an operation over the arguments as its
    /// provenance; one that was copied out of an argument keeps its own.
    pub fn call(&self, host: &mut dyn Host, call: &Call<'_>) -> Result<Value, Stop> {
        let result = match self.kind {
            Kind::Typed(dispatches) => {
                let Some(dispatch) = dispatches.first() else { return Ok(Value::UNDEF) };
                (dispatch.run)(host, call)?
            }
            Kind::Counted { arity, run } => {
                self.check_count(arity, call)?;
                run(host, call)?
            }
        };
        Ok(explained(host, call, result))
    }

    fn check_count(&self, arity: i32, call: &Call<'_>) -> Result<(), Stop> {
        let given = call.arguments.len();
        let minimum = (arity + 1).unsigned_abs() as usize;
        let message = if arity >= 0 && given != arity.unsigned_abs() as usize {
            format!("{}(): Wrong number of arguments given ({given} for {arity})", self.name)
        } else if arity < 0 && given < minimum {
            format!("{}(): Wrong number of arguments given ({given} for minimum {minimum})", self.name)
        } else {
            return Ok(());
        };
        Err(rules::stop(&rules::WRONG_ARGUMENTS, message, call.span))
    }
}

/// Gives a computed result its provenance: the function, over its arguments.
fn explained(host: &mut dyn Host, call: &Call<'_>, result: Value) -> Value {
    if !result.prov.is_none() || !host.arena().enabled() {
        return result;
    }
    let arguments: Vec<_> = call.arguments.iter().map(|argument| argument.prov).collect();
    let prov = host.arena().operation(call.name, Some(call.span), &arguments);
    result.with(prov)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name)
    }
}
