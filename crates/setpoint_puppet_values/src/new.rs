//! `new`: instances of types from other values.

mod collections;
mod constructor;
mod numbers;
mod objects;
mod others;
mod times;

use std::sync::Arc;

use crate::error::ValueError;
use crate::text::string_format;
use crate::types::{InitType, Type, assert_instance};
use crate::value::{Data, Value};
use constructor::Constructor;

pub(crate) use times::{timespan_from, timestamp_from};

/// Reads a type from text, aliases included.
pub type ParseType<'a> = &'a mut dyn FnMut(&str) -> Result<Type, ValueError>;

/// `Type.new(arguments)`. `parse_type` reads a type from text (for `Type.new('Integer[1]')`).
pub fn new_instance(of: &Type, arguments: &[Value], parse_type: ParseType<'_>) -> Result<Value, ValueError> {
    if let [argument] = arguments
        && !matches!(of, Type::Init(_))
        && of.is_instance(argument)
    {
        return Ok(argument.clone());
    }
    let result = construct(of, arguments, parse_type)?;
    assert_instance(&format!("Converted value from {of}.new()"), of, &result)?;
    Ok(result)
}

fn unsupported(of: &Type) -> ValueError {
    ValueError::new(format!("Creation of new instance of type '{of}' is not supported"))
}

/// Returns the type that makes the instances of a type: the one within `Optional`, `NotUndef` and aliases.
fn maker(of: &Type) -> &Type {
    let mut maker = of;
    // A longer chain than this is a circle of types that name each other.
    for _ in 0..100 {
        maker = match maker {
            Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => inner,
            Type::Alias(alias) => match alias.target() {
                Some(target) => target,
                None => return maker,
            },
            _ => return maker,
        };
    }
    maker
}

fn construct(of: &Type, arguments: &[Value], parse_type: ParseType<'_>) -> Result<Value, ValueError> {
    match maker(of) {
        Type::Init(Some(init)) => construct_init(init, arguments, parse_type),
        Type::Type(_) => {
            constructor::TYPE.check(arguments)?;
            let text = arguments.first().and_then(Value::as_str).unwrap_or("");
            parse_type(text).map(Value::from)
        }
        of @ Type::Object(Some(object)) => objects::construct(of, object, arguments),
        of => constructor(of).ok_or_else(|| unsupported(of))?.call(arguments),
    }
}

/// What makes instances of a type, if anything does.
fn constructor(of: &Type) -> Option<&'static Constructor> {
    Some(match of {
        Type::Integer(_) => &numbers::INTEGER,
        Type::Float(_) => &numbers::FLOAT,
        Type::Numeric => &numbers::NUMERIC,
        Type::Boolean(_) => &others::BOOLEAN,
        Type::String(_) => &others::STRING,
        Type::Regexp(_) => &others::REGEXP,
        Type::Array(_) | Type::Tuple(_) => &collections::ARRAY,
        Type::Hash(_) | Type::Struct(_) => &collections::HASH,
        Type::Timestamp(_) => &times::TIMESTAMP,
        Type::Timespan(_) => &times::TIMESPAN,
        Type::SemVer(_) => &others::SEM_VER,
        Type::SemVerRange => &others::SEM_VER_RANGE,
        Type::Uri(_) => &others::URI,
        Type::Binary => &others::BINARY,
        Type::Sensitive(_) => &others::SENSITIVE,
        Type::NotUndef(None) | Type::Unit => &others::UNIT,
        Type::Type(_) => &constructor::TYPE,
        _ => return None,
    })
}

fn construct_init(
    init: &InitType,
    arguments: &[Value],
    parse_type: ParseType<'_>,
) -> Result<Value, ValueError> {
    let single = init.single_types().map_err(|reason| reason.describe(init))?;
    constructor::INIT.check(arguments)?;
    let Some(argument) = arguments.first() else { return Err(unsupported(&init.of)) };
    if !init.arguments.is_empty() {
        let all: Vec<Value> = std::iter::once(argument).chain(&init.arguments).cloned().collect();
        return new_instance(&init.of, &all, parse_type);
    }
    match &argument.data {
        Data::Array(items) if !single.is_instance(argument) => new_instance(&init.of, items, parse_type),
        _ => new_instance(&init.of, std::slice::from_ref(argument), parse_type),
    }
}

/// Why an `Init` type makes no instances. Put into words only for people: the words print the type, and to print a
/// type takes questions that lead here.
pub(crate) enum NoConstructor {
    Unsupported,
    /// No signature takes the further arguments.
    NoFit,
}

impl NoConstructor {
    fn describe(&self, init: &InitType) -> ValueError {
        match self {
            Self::Unsupported => unsupported(&init.of),
            Self::NoFit => {
                let shown = Type::Init(Some(Arc::new(init.clone())));
                ValueError::new(format!(
                    "The type '{shown}' does not represent a valid set of parameters for {}.new()",
                    init.of.generalize().name()
                ))
            }
        }
    }
}

impl InitType {
    /// The signatures of the constructor that this type goes through.
    fn tuples(&self) -> Result<Vec<Arc<crate::types::TupleType>>, NoConstructor> {
        if matches!(self.of, Type::Init(_) | Type::Optional(_) | Type::NotUndef(_)) {
            return Err(NoConstructor::Unsupported);
        }
        let target = self.of.resolved();
        let signatures = match target {
            Type::Object(Some(object)) => objects::signatures(object),
            _ => constructor(target).ok_or(NoConstructor::Unsupported)?.signatures(),
        };
        Ok(signatures
            .into_iter()
            .filter_map(|signature| signature.callable.parameters.map(Arc::new))
            .collect())
    }

    /// What a single argument may be.
    fn single_types(&self) -> Result<Type, NoConstructor> {
        let mut types = vec![self.of.clone()];
        for tuple in self.fitting_tuples()? {
            let size = tuple.size_range();
            if (size.from == Some(1) && size.to == Some(1)) || !self.arguments.is_empty() {
                types.extend(tuple.types.first().cloned());
            }
        }
        Ok(Type::variant(types))
    }

    fn fitting_tuples(&self) -> Result<Vec<Arc<crate::types::TupleType>>, NoConstructor> {
        let tuples = self.tuples()?;
        if self.arguments.is_empty() {
            return Ok(tuples);
        }
        let count = 1 + self.arguments.len() as i64;
        let fits = |tuple: &Arc<crate::types::TupleType>| {
            tuple.size_range().contains(&count)
                && self.arguments.iter().enumerate().all(|(index, argument)| {
                    tuple.at(index + 1).is_some_and(|of| of.is_assignable(&crate::types::infer_set(argument)))
                })
        };
        let fitting: Vec<_> = tuples.into_iter().filter(fits).collect();
        if fitting.is_empty() {
            return Err(NoConstructor::NoFit);
        }
        Ok(fitting)
    }

    /// What an instance of the type can be made from.
    pub(crate) fn initial_types(&self) -> Result<Type, NoConstructor> {
        let mut types = vec![self.single_types()?];
        if self.arguments.is_empty() {
            for tuple in self.tuples()? {
                let size = tuple.size_range();
                if size.from != Some(1) || size.to != Some(1) {
                    if size.from == Some(1) {
                        types.extend(tuple.types.first().cloned());
                    }
                    types.push(Type::Tuple(Some(tuple)));
                }
            }
        }
        Ok(Type::variant(types))
    }
}

/// `String.new`, as the constructor table needs it.
fn string_from(arguments: &[Value]) -> Result<Value, ValueError> {
    let value = arguments.first().unwrap_or(&Value::UNDEF);
    Ok(Value::string(string_format(value, arguments.get(1))?).made_of(value.prov))
}
