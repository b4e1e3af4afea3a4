//! What Puppet calls an expression in its messages.

use std::borrow::Cow;

use crate::ast::{CollectorForm, Expr, ExprKind};
use crate::dump::{arrow_sign, assign_sign, binary_sign};

/// The name of a kind of expression, without an article.
pub(crate) fn label(expr: &Expr) -> Cow<'static, str> {
    Cow::Borrowed(match &expr.kind {
        ExprKind::Error => "Object",
        ExprKind::Nop => "Nop Expression",
        ExprKind::Undef => "'undef' expression",
        ExprKind::Default => "'default' expression",
        ExprKind::Bool(_) => "Boolean",
        ExprKind::Integer { .. } => "Literal Integer",
        ExprKind::Float(_) => "Literal Float",
        ExprKind::String(_) => "String",
        ExprKind::Interpolation(_) => "Double Quoted String",
        ExprKind::Heredoc { syntax, .. } => {
            return format!("'@({})' expression", syntax.as_deref().unwrap_or("")).into();
        }
        ExprKind::Regex(_) => "Regular Expression",
        ExprKind::Name(_) => "Name",
        ExprKind::TypeName(_) => "Type-Name",
        ExprKind::Variable(_) => "Variable",
        ExprKind::Array(_) => "Array Expression",
        ExprKind::Hash(_) => "Hash Expression",
        ExprKind::Paren(_) => "Parenthesized Expression",
        ExprKind::Not(_) => "'not' expression",
        ExprKind::Negate(_) => "Unary Minus",
        ExprKind::Splat(_) => "Unfold",
        ExprKind::Binary { op, .. } => return format!("'{}' expression", binary_sign(*op)).into(),
        ExprKind::Assign { op, .. } => return format!("'{}' expression", assign_sign(*op)).into(),
        ExprKind::Relationship { op, .. } => return format!("'{}' expression", arrow_sign(*op)).into(),
        ExprKind::Access { .. } => "'[]' expression",
        ExprKind::Selector { .. } => "Selector Expression",
        ExprKind::Call(_) => "Function Call",
        ExprKind::MethodCall(_) => "Method call",
        ExprKind::If { .. } => "'if' statement",
        ExprKind::Unless { .. } => "'unless' Statement",
        ExprKind::Case { .. } => "'case' statement",
        ExprKind::Resource { .. } => "Resource Statement",
        ExprKind::ResourceDefaults { .. } => "Resource Defaults Expression",
        ExprKind::ResourceOverride { .. } => "Resource Override",
        ExprKind::Collector { form: CollectorForm::Virtual, .. } => "Virtual Query",
        ExprKind::Collector { form: CollectorForm::Exported, .. } => "Exported Query",
        ExprKind::Class(_) => "Host Class Definition",
        ExprKind::Define(_) => "'define' expression",
        ExprKind::Node(_) => "Node Definition",
        ExprKind::Function(_) => "Function Definition",
        ExprKind::TypeAlias(_) => "Type Alias",
        ExprKind::TypeMapping => "Type Mapping",
        ExprKind::Unsupported { .. } => "Plan Definition",
        ExprKind::Lambda(_) => "Lambda",
        ExprKind::Epp { .. } => "Epp Template",
        ExprKind::RenderText(_) => "Epp Text",
        ExprKind::RenderExpr(_) => "Epp Interpolated Expression",
    })
}

fn starts_with_vowel(text: &str) -> bool {
    let first = text.trim_start_matches(['"', '\'']).chars().next().unwrap_or(' ');
    matches!(first.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

pub(crate) fn a_an(text: &str) -> String {
    format!("{} {text}", if starts_with_vowel(text) { "an" } else { "a" })
}

pub(crate) fn a_an_uppercase(text: &str) -> String {
    format!("{} {text}", if starts_with_vowel(text) { "An" } else { "A" })
}
