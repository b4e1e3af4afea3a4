//! A constructor: its signatures, and what each does.

use std::sync::LazyLock;

use crate::error::ValueError;
use crate::types::{Alias, Signature, Type, describe_signatures, infer_generic, infer_set};
use crate::value::{Data, Value};

pub(super) type Maker = fn(&[Value]) -> Result<Value, ValueError>;

/// What a mismatch says instead of the usual description.
pub(super) type Refusal = fn(&[Value]) -> ValueError;

/// What `new` does for a type.
pub(super) struct Constructor {
    /// The name that messages give.
    name: &'static str,
    ways: Vec<(Signature, Maker)>,
    refusals: Vec<(Signature, Refusal)>,
}

pub(super) static TYPE: LazyLock<Constructor> =
    LazyLock::new(|| Constructor::new("new_type", &[], &[("String[1] type_string", keep)], &[]));

pub(super) static INIT: LazyLock<Constructor> =
    LazyLock::new(|| Constructor::new("new_Init", &[], &[("Array value", keep), ("Any value", keep)], &[]));

#[allow(clippy::unnecessary_wraps, reason = "a maker may fail")]
pub(super) fn keep(arguments: &[Value]) -> Result<Value, ValueError> {
    Ok(arguments.first().cloned().unwrap_or(Value::UNDEF))
}

impl Constructor {
    /// `locals` are aliases, each of which may use those before it.
    pub(super) fn new(
        name: &'static str,
        locals: &[(&str, &str)],
        ways: &[(&str, Maker)],
        refusals: &[(&str, Refusal)],
    ) -> Self {
        let mut known: Vec<(String, Type)> = Vec::new();
        for (alias, text) in locals {
            let lookup = |name: &str| known.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone());
            if let Ok(of) = Type::parse(text, &lookup) {
                known.push(((*alias).to_owned(), Type::Alias(Alias::resolved(*alias, of))));
            }
        }
        let lookup = |name: &str| known.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone());
        let signature = |text: &str| Signature::parse(text, &lookup).ok();
        Self {
            name,
            ways: ways.iter().filter_map(|(text, make)| Some((signature(text)?, *make))).collect(),
            refusals: refusals
                .iter()
                .filter_map(|(text, refuse)| Some((signature(text)?, *refuse)))
                .collect(),
        }
    }

    pub(super) fn signatures(&self) -> Vec<Signature> {
        self.ways.iter().map(|(signature, _)| signature.clone()).collect()
    }

    fn choose(&self, arguments: &[Value]) -> Result<Maker, ValueError> {
        if let Some((_, make)) = self.ways.iter().find(|(signature, _)| signature.accepts(arguments, None)) {
            return Ok(*make);
        }
        if let Some((_, refuse)) =
            self.refusals.iter().find(|(signature, _)| signature.accepts(arguments, None))
        {
            return Err(refuse(arguments));
        }
        let types: Vec<Type> = arguments.iter().map(infer_set).collect();
        Err(ValueError::new(describe_signatures(self.name, &self.signatures(), &types, None)))
    }

    pub(super) fn check(&self, arguments: &[Value]) -> Result<(), ValueError> {
        self.choose(arguments).map(|_| ())
    }

    pub(super) fn call(&self, arguments: &[Value]) -> Result<Value, ValueError> {
        self.choose(arguments)?(arguments)
    }

    #[cfg(test)]
    pub(super) fn is_whole(&self, ways: usize, refusals: usize) -> bool {
        self.ways.len() == ways && self.refusals.len() == refusals
    }
}

/// `'new_float' The string 'x' cannot be converted to Float`.
pub(super) fn cannot_convert(name: &str, to: &str, from: &Value) -> ValueError {
    ValueError::new(match &from.data {
        Data::String(text) => format!("'{name}' The string '{text}' cannot be converted to {to}"),
        _ => format!("'{name}' Value of type {} cannot be converted to {to}", infer_generic(from)),
    })
}
