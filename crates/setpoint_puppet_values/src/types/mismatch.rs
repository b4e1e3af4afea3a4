//! What Puppet says when a value does not fit: the differences are collected first, each with the path to it, and
//! then put into words.

mod describe;
mod message;

use std::fmt;
use std::sync::Arc;

use super::{Bounds, IntRange, Signature, StructElement, Type, infer_set};
use crate::error::ValueError;
use crate::value::{Data, Hash, Key, Value};
use describe::{describe, merge};
pub(crate) use message::article;

/// One step on the way to a difference.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Subject(String),
    Entry(Arc<str>),
    KeyOfEntry(Arc<str>),
    Parameter(Arc<str>),
    Return,
    Block,
    Index(usize),
    /// An alternative of a union.
    Variant(usize),
    /// One of several signatures.
    Signature(usize),
}

/// One difference.
#[derive(Clone, Debug)]
struct Mismatch {
    path: Vec<Step>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    MissingKey(Arc<str>),
    MissingParameter(Arc<str>),
    ExtraneousKey(Arc<str>),
    InvalidParameter(Arc<str>),
    UnexpectedBlock,
    MissingBlock,
    Unresolved(String),
    Type { expected: Type, actual: Type },
    Pattern { expected: Type, actual: Type },
    Size { expected: IntRange, actual: IntRange },
    Count { expected: IntRange, actual: IntRange },
}

/// `name expects an Integer value, got String`; empty if it fits.
pub fn describe_mismatch(name: &str, expected: &Type, actual: &Type) -> String {
    let errors = describe(expected, actual, &[Step::Subject(name.to_owned())]);
    match errors.as_slice() {
        [] => String::new(),
        [error] => error.text().trim().to_owned(),
        errors => join(errors),
    }
}

fn join(errors: &[Mismatch]) -> String {
    errors.iter().map(Mismatch::text).collect::<Vec<_>>().join("\n ")
}

/// An error unless the value is of the type: `subject has wrong type, expects an Integer value, got String`.
pub fn assert_instance(subject: &str, expected: &Type, value: &Value) -> Result<(), ValueError> {
    if expected.is_instance(value) {
        return Ok(());
    }
    let name = format!("{subject} has wrong type,");
    Err(ValueError::new(describe_mismatch(&name, expected, &infer_set(value))))
}

/// `value returned from function 'f' has wrong type, expects …, got …`; `closure` is `function 'f'` or `block`.
pub fn describe_return_mismatch(closure: &str, expected: &Type, actual: &Type) -> String {
    describe_mismatch(&format!("value returned from {closure} has wrong type,"), expected, actual)
}

/// Parameters that do not fit those of a class or definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterMismatch {
    /// Parameters that are required and not given.
    pub missing: Vec<Arc<str>>,
    /// Parameters that are given and not declared.
    pub unexpected: Vec<Arc<str>>,
    /// All differences, those of types included, as Puppet prints them.
    pub message: String,
}

/// Checks the parameters given to a class or a define (`subject` is `Class[Foo]`, `Foo::Bar[title]`) against those it
/// has.
pub fn validate_parameters(
    subject: impl fmt::Display,
    parameters: &[StructElement],
    given: &Hash,
) -> Result<(), ParameterMismatch> {
    let mut errors: Vec<Mismatch> = Vec::new();
    for key in given.keys() {
        if let Data::String(name) = &key.0.data
            && !parameters.iter().any(|parameter| parameter.name == *name)
        {
            errors.push(Mismatch { path: Vec::new(), kind: Kind::InvalidParameter(Arc::clone(name)) });
        }
    }
    for parameter in parameters {
        match given.get(&Key(Value::string(Arc::clone(&parameter.name)))) {
            // What a deferred call returns is known only later.
            Some(value) if matches!(value.data, Data::Deferred(_)) => {}
            Some(value) if parameter.value.is_instance(value) => {}
            Some(value) => errors.extend(describe(
                &parameter.value,
                &infer_set(value),
                &[Step::Parameter(Arc::clone(&parameter.name))],
            )),
            None if parameter.is_optional() => {}
            None => errors.push(Mismatch {
                path: Vec::new(),
                kind: Kind::MissingParameter(Arc::clone(&parameter.name)),
            }),
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let message = subject_errors(&subject.to_string(), &errors).unwrap_or_default();
    let (mut missing, mut unexpected) = (Vec::new(), Vec::new());
    for error in errors {
        match error.kind {
            Kind::MissingParameter(name) => missing.push(name),
            Kind::InvalidParameter(name) => unexpected.push(name),
            _ => {}
        }
    }
    Err(ParameterMismatch { missing, unexpected, message })
}

fn subject_errors(subject: &str, errors: &[Mismatch]) -> Option<String> {
    match errors {
        [] => None,
        [error] => Some(format!("{subject}:{}", error.text())),
        errors => Some(format!("{subject}:\n {}", join(errors))),
    }
}

/// Why none of the signatures accepts a call: `'f' expects 1 argument, got 2`, `'f' parameter 'x' expects …`, or a list
/// of all signatures with what each rejected. `closure` is the name of the function, or `lambda` for a block.
/// `types` are those of the arguments, by [`infer_set`]; `block` is the type of the block that was given.
pub fn describe_signatures(
    closure: &str,
    signatures: &[Signature],
    types: &[Type],
    block: Option<&Type>,
) -> String {
    let path = |index| vec![Step::Signature(index)];
    let mut errors: Vec<Vec<Mismatch>> = (signatures.iter().enumerate())
        .map(|(index, signature)| describe_arguments(signature, types, block.is_some(), &path(index)))
        .collect();
    if errors.iter().any(Vec::is_empty) {
        let blocks: Vec<Vec<Mismatch>> = (signatures.iter().enumerate())
            .map(|(index, signature)| describe_block(signature, block, path(index)))
            .collect();
        if blocks.iter().all(|errors| !errors.is_empty()) {
            errors = blocks;
        } else {
            for (errors, block) in errors.iter_mut().zip(blocks) {
                if errors.is_empty() {
                    *errors = block;
                }
            }
        }
    }
    let label = if closure == "lambda" { "block".to_owned() } else { format!("'{closure}'") };
    let merged = merge(0, true, &errors);
    if let [error] = merged.as_slice() {
        return format!("{label}{}", error.text());
    }
    let rejected = |errors: &[Mismatch], indent: &str| -> Vec<String> {
        errors.iter().map(|error| format!("{indent}rejected:{}", error.without_step(0).text())).collect()
    };
    let mut lines = Vec::new();
    if let ([signature], [errors]) = (signatures, errors.as_slice()) {
        lines.push(format!("{label} expects ({})", signature.text()));
        lines.extend(rejected(errors, "  "));
    } else {
        lines.push(format!(
            "The function {label} was called with arguments it does not accept. It expects one of:"
        ));
        for (signature, errors) in signatures.iter().zip(&errors) {
            lines.push(format!("  ({})", signature.text()));
            lines.extend(rejected(errors, "    "));
        }
    }
    lines.join("\n")
}

fn describe_arguments(
    signature: &Signature,
    types: &[Type],
    has_block: bool,
    path: &[Step],
) -> Vec<Mismatch> {
    let Some(parameters) = &signature.callable.parameters else { return Vec::new() };
    let expected = parameters.size_range();
    let actual = IntRange::size(types.len());
    if !expected.covers(&actual) {
        return vec![Mismatch { path: path.to_vec(), kind: Kind::Count { expected, actual } }];
    }
    // A last argument that is itself a block counts as the block.
    let count = match types.last() {
        Some(last) if !has_block && last.is_kind_of_callable() => types.len() - 1,
        _ => types.len(),
    };
    for (index, actual) in types.iter().take(count).enumerate() {
        let Some(expected) = parameters.at(index) else { break };
        if !expected.is_assignable(actual) {
            let name = signature.name_at(index, parameters.types.len());
            let step = Step::Parameter(name);
            let errors = describe(expected, actual, &[path, &[step]].concat());
            if !errors.is_empty() {
                return errors;
            }
        }
    }
    Vec::new()
}

fn describe_block(signature: &Signature, block: Option<&Type>, path: Vec<Step>) -> Vec<Mismatch> {
    match (&signature.callable.block, block) {
        (None, Some(_)) => vec![Mismatch { path, kind: Kind::UnexpectedBlock }],
        (Some(expected), Some(actual)) => describe(expected, actual, &[path, vec![Step::Block]].concat()),
        (Some(expected), None) if !expected.is_assignable(&Type::Undef) => {
            vec![Mismatch { path, kind: Kind::MissingBlock }]
        }
        (_, None) => Vec::new(),
    }
}

impl Signature {
    fn name_at(&self, index: usize, count: usize) -> Arc<str> {
        let index = index.min(count.saturating_sub(1));
        self.parameter_names.get(index).cloned().unwrap_or_else(|| "".into())
    }

    /// `Integer x, String y?, Any *rest`.
    fn text(&self) -> String {
        let any = Bounds::new(Some(0), Some(0));
        let range = self.callable.parameters.as_ref().map_or(any, super::TupleType::size_range);
        if range == IntRange::EMPTY {
            return String::new();
        }
        let from = range.from.unwrap_or(0).max(0) as usize;
        let types =
            self.callable.parameters.as_ref().map_or(&[][..], |parameters| parameters.types.as_slice());
        let names: Vec<Arc<str>> = if self.parameter_names.is_empty() {
            vec!["".into(); types.len()]
        } else {
            self.parameter_names.clone()
        };
        let mut parts: Vec<String> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let Some(mut of) = types.get(index).or(types.last()) else { break };
            let mut mark = "";
            if range.to.is_none() && index + 1 == names.len() {
                mark = if from == names.len() { "+" } else { "*" };
            } else if index + 1 > from {
                mark = "?";
                if let Type::Optional(Some(inner)) = of {
                    of = inner;
                }
            }
            parts.push(format!("{of} {name}{mark}"));
        }
        let block_name = self.block_name.as_deref().unwrap_or("");
        match &self.callable.block {
            Some(Type::Optional(Some(inner))) => parts.push(format!("{inner} {block_name}?")),
            Some(block @ Type::Callable(_)) => parts.push(format!("{block} {block_name}")),
            _ => {}
        }
        parts.join(", ")
    }
}
