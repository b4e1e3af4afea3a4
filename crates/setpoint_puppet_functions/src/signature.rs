//! Signatures: from their texts to types, when a call first needs them.

use std::sync::Arc;

use setpoint_puppet_values::Type;
use setpoint_puppet_values::types::{Alias, Bounds, CallableType, Signature, TupleType};

use crate::context::Context;
use crate::function::{Dispatch, Presence};
use crate::{Block, Stop};

pub(crate) fn compile(
    context: &mut Context<'_, '_>,
    dispatches: &[Dispatch],
) -> Result<Vec<Signature>, Stop> {
    dispatches.iter().map(|dispatch| compile_one(context, dispatch)).collect()
}

fn compile_one(context: &mut Context<'_, '_>, dispatch: &Dispatch) -> Result<Signature, Stop> {
    let parameters = dispatch.parameters;
    let mut types = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        types.push(type_of(context, parameter.text)?);
    }
    let least = parameters.iter().filter(|parameter| parameter.presence == Presence::Required).count();
    let endless = parameters.last().is_some_and(|parameter| parameter.presence == Presence::Repeated);
    let size = Bounds::new(Some(least as i64), (!endless).then_some(parameters.len() as i64));
    let block = match dispatch.block {
        None => None,
        Some(block) => {
            let of = type_of(context, block.text)?;
            Some(if block.required { of } else { Type::optional(of) })
        }
    };
    let parameters_type = TupleType { types, size: Some(size) };
    Ok(Signature {
        block_name: dispatch.block.map(|block| Arc::from(block.name)),
        callable: CallableType { parameters: Some(parameters_type), block, returns: None },
        parameter_names: parameters.iter().map(|parameter| Arc::from(parameter.name)).collect(),
    })
}

/// The type that a text names: simple names without a parser, local names of single functions, and all others through the
/// evaluation.
fn type_of(context: &mut Context<'_, '_>, text: &'static str) -> Result<Type, Stop> {
    match text {
        "StringData" => Ok(string_data()),
        "Array[StringData]" => Ok(Type::array(string_data(), None)),
        "Hash[StringData, StringData]" => Ok(Type::hash(string_data(), string_data(), None)),
        "NameType" | "ValueType" | "MergeType" | "DefaultValueType" | "BlockType" | "OptionsWithName"
        | "OptionsWithoutName" => Ok(of_lookup(text)),
        "Optional[ValueType]" => Ok(Type::optional(of_lookup("ValueType"))),
        "Optional[MergeType]" => Ok(Type::optional(of_lookup("MergeType"))),
        _ if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => match Type::builtin(text) {
            Some(of) => Ok(of),
            None => context.parse_type(text),
        },
        _ => context.parse_type(text),
    }
}

/// `StringData = Variant[String, Numeric, Array[StringData], Hash[StringData, StringData]]`
fn string_data() -> Type {
    let alias = Alias::new("StringData");
    let itself = Type::Alias(Arc::clone(&alias));
    let target = Type::variant(vec![
        Type::string(),
        Type::Numeric,
        Type::array(itself.clone(), None),
        Type::hash(itself.clone(), itself.clone(), None),
    ]);
    // The target holds collections, so it is no circle of bare aliases.
    let _ = alias.resolve(target);
    itself
}

/// The local names of `lookup`.
fn of_lookup(name: &str) -> Type {
    const OPTIONS: &str = "value_type => Optional[ValueType], default_value => DefaultValueType, \
                           override => Optional[Hash[String,Any]], default_values_hash => Optional[Hash[String,Any]], \
                           merge => Optional[MergeType]";
    let target = match name {
        "NameType" => "Variant[String, Array[String]]".to_owned(),
        "ValueType" => "Type".to_owned(),
        "DefaultValueType" => "Any".to_owned(),
        "MergeType" => "Variant[String[1], Hash[String, Scalar]]".to_owned(),
        "BlockType" => "Callable[NameType]".to_owned(),
        "OptionsWithName" => format!("Struct[{{name => NameType, {OPTIONS}}}]"),
        _ => format!("Struct[{{{OPTIONS}}}]"),
    };
    let target =
        Type::parse(&target, &|inner| (inner != name).then(|| of_lookup(inner))).unwrap_or(Type::Any);
    Type::Alias(Alias::resolved(name, target))
}

/// Whether the block that was given, or its absence, fits the signature.
pub(crate) fn block_fits(dispatch: &Dispatch, signature: &Signature, given: Option<&dyn Block>) -> bool {
    match (dispatch.block, given) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(wanted), None) => !wanted.required,
        (Some(wanted), Some(block)) => match exact_count(wanted.text) {
            Some(count) => {
                block.required() <= count && block.accepted().is_none_or(|accepted| accepted >= count)
            }
            None if wanted.text == "Callable" => true,
            None => signature.callable.block.as_ref().is_none_or(|of| of.is_assignable(&block_type(block))),
        },
    }
}

/// 2 for `Callable[2,2]`: by far the most usual blocks, decided without the type system.
fn exact_count(text: &str) -> Option<usize> {
    let (from, to) = text.strip_prefix("Callable[")?.strip_suffix(']')?.split_once(',')?;
    let (from, to): (usize, usize) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from == to).then_some(from)
}

/// The type of a block, for messages and for what its declared types decide.
pub(crate) fn block_type(block: &dyn Block) -> Type {
    let mut types: Vec<Type> =
        block.parameter_types().iter().map(|of| of.as_type().cloned().unwrap_or(Type::Any)).collect();
    if types.is_empty() {
        types = vec![Type::Any; block.accepted().unwrap_or(block.required() + 1)];
    }
    let size = Bounds::new(Some(block.required() as i64), block.accepted().map(|accepted| accepted as i64));
    Type::callable(Some(TupleType { types, size: Some(size) }), None, None)
}
