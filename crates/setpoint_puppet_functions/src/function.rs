//! A function: its signatures, and how a call finds the one it fits.

use std::fmt;
use std::sync::OnceLock;

use setpoint_puppet_values::types::{Signature, describe_signatures};
use setpoint_puppet_values::{Data, Opaque, Type, Value, infer_set};

use crate::context::Context;
use crate::signature::{block_fits, block_type, compile};
use crate::{Call, FailureKind, Host, Stop, UnknownUse, legacy};

/// What does the work once the arguments are known to fit.
pub(crate) type Run = fn(&mut Context<'_, '_>, &[Value]) -> Result<Value, Stop>;

/// A function that Puppet, or a module, has.
pub struct Function {
    pub name: &'static str,
    kind: Kind,
    unknown: Unknown,
}

enum Kind {
    /// Of Puppet's present interface: the first signature that fits does the work.
    Typed { dispatches: &'static [Dispatch], compiled: OnceLock<Vec<Signature>> },
    /// Of Puppet's older interface: only the number of arguments is checked, and a negative one is a minimum.
    Counted { arity: i32, run: Run },
}

/// What becomes of an argument that could not be computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// The result is not known either.
    Spreads,
    /// So it is if an argument is not known; what is in an array or a hash is moved without a look at it. Which entries a
    /// hash has is looked at.
    IsMoved,
    /// As `IsMoved`, and it is not looked at which entries a hash has besides those that are asked for.
    IsCarried,
    /// The function passes it on like any other value.
    IsPassedOn,
}

/// One signature of a function.
pub(crate) struct Dispatch {
    pub(crate) parameters: &'static [Parameter],
    pub(crate) block: Option<BlockParameter>,
    /// It exists only to refuse a call with better words.
    pub(crate) refuses: bool,
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
    pub(crate) name: &'static str,
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
        Self { parameters, block: None, refuses: false, run }
    }

    /// A block must be given.
    pub(crate) const fn with_block(mut self, text: &'static str) -> Self {
        self.block = Some(BlockParameter { text, name: "block", required: true });
        self
    }

    /// A block of another name than `block` must be given.
    pub(crate) const fn with_named_block(mut self, text: &'static str, name: &'static str) -> Self {
        self.block = Some(BlockParameter { text, name, required: true });
        self
    }

    /// A block may be given.
    pub(crate) const fn with_optional_block(mut self, text: &'static str) -> Self {
        self.block = Some(BlockParameter { text, name: "block", required: false });
        self
    }

    /// What fits here is refused, with words that `run` finds.
    pub(crate) const fn refusing(mut self) -> Self {
        self.refuses = true;
        self
    }
}

impl Function {
    pub(crate) const fn typed(name: &'static str, dispatches: &'static [Dispatch]) -> Self {
        let kind = Kind::Typed { dispatches, compiled: OnceLock::new() };
        Self { name, kind, unknown: Unknown::Spreads }
    }

    pub(crate) const fn counted(name: &'static str, arity: i32, run: Run) -> Self {
        Self { name, kind: Kind::Counted { arity, run }, unknown: Unknown::Spreads }
    }

    /// What is in arrays and hashes is moved without a look at it.
    pub(crate) const fn moving_unknown(mut self) -> Self {
        self.unknown = Unknown::IsMoved;
        self
    }

    /// What is in arrays and hashes is moved without a look at it, and entries that may be missing stay such.
    pub(crate) const fn carrying_unknown(mut self) -> Self {
        self.unknown = Unknown::IsCarried;
        self
    }

    /// Values that could not be computed are passed on like others.
    pub(crate) const fn passing_unknown(mut self) -> Self {
        self.unknown = Unknown::IsPassedOn;
        self
    }

    /// Checks the arguments, does the work, and gives the result its provenance.
    pub fn call(&self, host: &mut dyn Host, call: &Call<'_>) -> Result<Value, Stop> {
        let mut context = Context::new(host, call);
        let unknown = call.arguments.iter().find_map(|argument| match (self.unknown, &argument.data) {
            (Unknown::IsPassedOn, _) => None,
            (_, Data::Opaque(unknown)) => Some(unknown),
            (Unknown::IsCarried, _) => None,
            (Unknown::IsMoved, _) => argument.optional_entry(),
            (Unknown::Spreads, _) => argument.unknown_part(),
        });
        if let Some(unknown) = unknown {
            return without_value(context, self.name, unknown);
        }
        let result = self.run(&mut context).map_err(|stop| call.blame(stop))?;
        Ok(context.explained(result))
    }

    fn run(&self, context: &mut Context<'_, '_>) -> Result<Value, Stop> {
        match &self.kind {
            Kind::Typed { dispatches, compiled } => {
                let signatures = if let Some(signatures) = compiled.get() {
                    signatures
                } else {
                    let fresh = compile(context, dispatches)?;
                    compiled.get_or_init(|| fresh)
                };
                self.dispatch(context, dispatches, signatures)
            }
            Kind::Counted { arity, run } => {
                check_count(self.name, *arity, context.call)?;
                let arguments = legacy::convert(context, &context.call.arguments)?;
                run(context, &arguments)
            }
        }
    }

    fn dispatch(
        &self,
        context: &mut Context<'_, '_>,
        dispatches: &'static [Dispatch],
        signatures: &[Signature],
    ) -> Result<Value, Stop> {
        let call = context.call;
        for (dispatch, signature) in dispatches.iter().zip(signatures) {
            if !arguments_fit(signature, &call.arguments) || !block_fits(dispatch, signature, call.block) {
                continue;
            }
            let result = (dispatch.run)(context, &call.arguments);
            return match result {
                Err(Stop::Error(mut refusal)) if dispatch.refuses => {
                    let message = format!("'{}' {}", self.name, refusal.kind.message());
                    refusal.kind = FailureKind::WrongArguments(message);
                    Err(Stop::Error(refusal))
                }
                other => other,
            };
        }
        let offered: Vec<Signature> = dispatches
            .iter()
            .zip(signatures)
            .filter(|(dispatch, _)| !dispatch.refuses)
            .map(|(_, signature)| signature.clone())
            .collect();
        let given: Vec<Type> = call.arguments.iter().map(infer_set).collect();
        let block = call.block.map(block_type);
        let message = describe_signatures(self.name, &offered, &given, block.as_ref());
        Err(FailureKind::WrongArguments(message).at(call.span))
    }
}

/// The number of arguments of a function of Puppet's older interface.
pub(crate) fn check_count(name: &str, arity: i32, call: &Call<'_>) -> Result<(), Stop> {
    let given = call.arguments.len();
    let minimum = (arity + 1).unsigned_abs() as usize;
    let message = if arity >= 0 && given != arity.unsigned_abs() as usize {
        format!("{name}(): Wrong number of arguments given ({given} for {arity})")
    } else if arity < 0 && given < minimum {
        format!("{name}(): Wrong number of arguments given ({given} for minimum {minimum})")
    } else {
        return Ok(());
    };
    Err(FailureKind::WrongArguments(message).at(call.span))
}

pub(crate) fn arguments_fit(signature: &Signature, arguments: &[Value]) -> bool {
    let Some(parameters) = &signature.callable.parameters else { return true };
    let size = parameters.size_range();
    size.contains(&(arguments.len() as i64))
        && arguments
            .iter()
            .enumerate()
            .all(|(at, argument)| parameters.at(at).is_some_and(|of| fits(of, argument)))
}

fn fits(of: &Type, value: &Value) -> bool {
    match (of, &value.data) {
        (Type::Any, _)
        | (Type::String(None), Data::String(_))
        | (Type::Integer(None), Data::Integer(_))
        | (Type::Array(None), Data::Array(_))
        | (Type::Hash(None), Data::Hash(_)) => true,
        _ => of.is_instance(value),
    }
}

/// What a call gives if one of its arguments could not be computed.
fn without_value(context: Context<'_, '_>, name: &str, unknown: &Opaque) -> Result<Value, Stop> {
    let reason = unknown.reason.to_string();
    if context.block().is_some() {
        let used = UnknownUse::Block { function: name.to_owned() };
        return Err(FailureKind::UnknownValue { used, reason }.at(context.span()));
    }
    Ok(context.explained(Value::unknown(reason, result_type(name))))
}

/// The type of what a function returns, whatever it is given.
fn result_type(name: &str) -> Type {
    match name {
        "join" | "md5" | "sha1" | "sha256" | "shellquote" | "file" | "template" | "inline_template" => {
            Type::String(None)
        }
        "versioncmp" | "length" | "size" => Type::Integer(None),
        "empty" => Type::Boolean(None),
        "keys" | "values" => Type::Array(None),
        _ => Type::Any,
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name)
    }
}
