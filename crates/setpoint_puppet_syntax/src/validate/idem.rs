//! Whether an expression has an effect beyond its value.

use crate::ast::{BinaryOp, Expr, ExprKind};

/// Whether nothing is different after the expression is evaluated, as far as can be seen without evaluating it.
/// Matches set variables, and calls can do anything.
pub(super) fn is_idem(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        return match &expr.kind {
            ExprKind::Nop
            | ExprKind::Undef
            | ExprKind::Default
            | ExprKind::Bool(_)
            | ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Interpolation(_)
            | ExprKind::Heredoc { .. }
            | ExprKind::Regex(_)
            | ExprKind::Name(_)
            | ExprKind::TypeName(_)
            | ExprKind::Variable(_)
            | ExprKind::Array(_)
            | ExprKind::Hash(_)
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Splat(_)
            | ExprKind::Access { .. }
            | ExprKind::Selector { .. } => true,
            ExprKind::Binary { op, .. } => !matches!(op, BinaryOp::Match | BinaryOp::NoMatch),
            ExprKind::Paren(inner) => {
                expr = inner;
                continue;
            }
            ExprKind::If { test, then, otherwise } | ExprKind::Unless { test, then, otherwise } => {
                if !is_idem(test) || !then.iter().all(is_idem) {
                    return false;
                }
                // A chain of `elsif` is followed without recursion.
                match otherwise.as_slice() {
                    [only] => {
                        expr = only;
                        continue;
                    }
                    many => many.iter().all(is_idem),
                }
            }
            ExprKind::Case { subject, options } => {
                is_idem(subject)
                    && options
                        .iter()
                        .all(|option| option.values.iter().all(is_idem) && option.body.iter().all(is_idem))
            }
            ExprKind::Error
            | ExprKind::Assign { .. }
            | ExprKind::Call(_)
            | ExprKind::MethodCall(_)
            | ExprKind::Resource { .. }
            | ExprKind::ResourceDefaults { .. }
            | ExprKind::ResourceOverride { .. }
            | ExprKind::Collector { .. }
            | ExprKind::Relationship { .. }
            | ExprKind::Class(_)
            | ExprKind::Define(_)
            | ExprKind::Node(_)
            | ExprKind::Function(_)
            | ExprKind::TypeAlias(_)
            | ExprKind::TypeMapping
            | ExprKind::Unsupported { .. }
            | ExprKind::Lambda(_)
            | ExprKind::Epp { .. }
            | ExprKind::RenderText(_)
            | ExprKind::RenderExpr(_) => false,
        };
    }
}
