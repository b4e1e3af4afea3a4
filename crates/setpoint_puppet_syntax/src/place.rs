//! Where Puppet says that an expression is.
//!
//! A [`Range`](setpoint_source::Range) covers all of an expression; Puppet names one token of it, the operator of an
//! addition for one. Messages are compared by people with those of Puppet, so they point at the same place.

use crate::ast::{Expr, ExprKind, ResourceForm};

/// The offset of the token that Puppet names.
pub fn puppet_start(text: &str, expr: &Expr) -> u32 {
    let mut expr = expr;
    loop {
        return match &expr.kind {
            ExprKind::Binary { op_range, .. } | ExprKind::Relationship { op_range, .. } => op_range.start,
            ExprKind::Assign { target, .. } => next_token(text, target.range.end),
            ExprKind::Access { target: inner, .. } | ExprKind::Selector { subject: inner, .. } => {
                expr = inner;
                continue;
            }
            ExprKind::Resource { form: ResourceForm::Regular, type_name: inner, .. }
            | ExprKind::ResourceDefaults { form: ResourceForm::Regular, type_name: inner, .. }
            | ExprKind::ResourceOverride { form: ResourceForm::Regular, target: inner, .. }
            | ExprKind::Collector { type_name: inner, .. } => {
                expr = inner;
                continue;
            }
            ExprKind::Call(call) => {
                expr = &call.function;
                continue;
            }
            ExprKind::MethodCall(call) => {
                let after = next_token(text, call.name_range.end);
                let has_parenthesis =
                    text.as_bytes().get(after as usize) == Some(&b'(') && after < expr.range.end;
                if has_parenthesis { after } else { next_token(text, call.receiver.range.end) }
            }
            // A hash without braces, as an argument, is where its first arrow is.
            ExprKind::Hash(pairs) if text.as_bytes().get(expr.range.start as usize) != Some(&b'{') => {
                pairs.first().map_or(expr.range.start, |(key, _)| next_token(text, key.range.end))
            }
            ExprKind::TypeAlias(alias) => alias.name_range.start,
            _ => expr.range.start,
        };
    }
}

/// The offset of the first token at or after an offset: past white space and comments.
pub(crate) fn next_token(text: &str, from: u32) -> u32 {
    let mut at = from as usize;
    while let Some(rest) = text.get(at..) {
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let skipped = if trimmed.starts_with('#') {
            trimmed.find('\n').unwrap_or(trimmed.len())
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
        } else {
            break;
        };
        at += skipped;
    }
    at as u32
}
