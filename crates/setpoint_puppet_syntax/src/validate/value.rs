//! What gives a value, and what a value can be assigned to.

use super::Validator;
use super::label::{a_an, a_an_uppercase, label};
use super::names::is_numeric_variable;
use crate::ast::{Expr, ExprKind};

impl Validator<'_> {
    /// The expression must give a value: collectors and definitions give none.
    pub(super) fn value(&mut self, expr: &Expr) {
        let mut expr = expr;
        while let ExprKind::Paren(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Splat(inner)
        | ExprKind::RenderExpr(inner) = &expr.kind
        {
            expr = inner;
        }
        if matches!(
            expr.kind,
            ExprKind::Collector { .. }
                | ExprKind::Class(_)
                | ExprKind::Define(_)
                | ExprKind::Node(_)
                | ExprKind::Function(_)
                | ExprKind::TypeAlias(_)
        ) {
            let what = a_an_uppercase(&label(expr));
            self.report_expr(expr, format!("Invalid use of expression. {what} does not produce a value"));
        }
    }

    pub(super) fn assignable(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Variable(name) => {
                if is_numeric_variable(name) {
                    self.report_expr(
                        target,
                        format!(
                            "Illegal attempt to assign to the numeric match result variable '${name}'. Numeric variables are not assignable"
                        ),
                    );
                }
                if name.contains("::") {
                    self.report_expr(
                        target,
                        format!("Illegal attempt to assign to '{name}'. Cannot assign to variables in other namespaces"),
                    );
                    self.help("A class sets only its own variables, by their short names.");
                }
            }
            ExprKind::Access { .. } => {
                self.report_expr(
                    target,
                    "Illegal attempt to assign via [index/key]. Not an assignable reference",
                );
                self.help("Values do not change. Build a new one: `$new = $old + { 'key' => 'value' }`.");
            }
            ExprKind::Array(items) => {
                for item in items {
                    self.assignable(item);
                }
            }
            ExprKind::Error => {}
            _ => {
                let what = a_an(&label(target));
                self.report_expr(
                    target,
                    format!("Illegal attempt to assign to '{what}'. Not an assignable reference"),
                );
            }
        }
    }

    /// Assignments in the default of a parameter would set variables nobody can see.
    pub(super) fn no_assignment(&mut self, default: &Expr) {
        let mut parts = vec![default];
        while let Some(part) = parts.pop() {
            if matches!(part.kind, ExprKind::Assign { .. }) {
                self.report_expr(part, "Assignment not allowed here");
            } else {
                crate::visit::children(part, &mut |child| parts.push(child));
            }
        }
    }
}
