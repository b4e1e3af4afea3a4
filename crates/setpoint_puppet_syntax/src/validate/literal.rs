//! The value of an expression that needs no evaluation, to find keys that a hash has twice.

use std::fmt;

use crate::ast::{Expr, ExprKind};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Literal {
    Undef,
    Default,
    Bool(bool),
    Integer(i64),
    /// The bits of a float.
    Float(u64),
    String(String),
    Regex(String),
    Array(Vec<Literal>),
    Hash(Vec<(Literal, Literal)>),
}

pub(super) fn literal(expr: &Expr) -> Option<Literal> {
    Some(match &expr.kind {
        ExprKind::Undef => Literal::Undef,
        ExprKind::Default => Literal::Default,
        ExprKind::Bool(value) => Literal::Bool(*value),
        ExprKind::Integer { value, .. } => Literal::Integer(*value),
        ExprKind::Float(value) => Literal::Float(value.to_bits()),
        ExprKind::String(text) => Literal::String(text.to_string()),
        ExprKind::Name(name) => Literal::String(name.to_string()),
        ExprKind::Regex(source) => Literal::Regex(source.to_string()),
        ExprKind::Array(items) => Literal::Array(items.iter().map(literal).collect::<Option<_>>()?),
        ExprKind::Hash(pairs) => Literal::Hash(
            pairs.iter().map(|(key, value)| Some((literal(key)?, literal(value)?))).collect::<Option<_>>()?,
        ),
        _ => return None,
    })
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undef => Ok(()),
            Self::Default => f.write_str("default"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Self::String(text) => f.write_str(text),
            Self::Regex(source) => write!(f, "(?-mix:{source})"),
            Self::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    inspect(item, f)?;
                }
                f.write_str("]")
            }
            Self::Hash(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    inspect(key, f)?;
                    f.write_str("=>")?;
                    inspect(value, f)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// As a part of an array or a hash.
fn inspect(literal: &Literal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match literal {
        Literal::Undef => f.write_str("nil"),
        Literal::Default => f.write_str(":default"),
        Literal::String(text) => write!(f, "{text:?}"),
        Literal::Regex(source) => write!(f, "/{source}/"),
        other => write!(f, "{other}"),
    }
}
