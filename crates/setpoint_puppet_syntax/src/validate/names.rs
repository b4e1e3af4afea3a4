//! The forms of names.

use super::Validator;
use crate::ast::Expr;

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A letter, then letters, digits and `_`.
fn is_segment(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_lowercase()) && is_word(text)
}

/// `a::b`, without `::` before.
pub(super) fn is_definition_name(name: &str) -> bool {
    name.split("::").all(is_segment)
}

/// `A::B`, without `::` before.
pub(super) fn is_type_name(name: &str) -> bool {
    name.split("::").all(|part| part.starts_with(|char: char| char.is_ascii_uppercase()) && is_word(part))
}

pub(super) fn is_parameter_name(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_lowercase() || char == '_') && is_word(name)
}

/// A number, decimal or hexadecimal.
pub(super) fn is_numeric_name(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0`, or a decimal number that does not start with 0.
pub(super) fn is_numeric_variable(name: &str) -> bool {
    name == "0"
        || !name.is_empty() && !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Only the last part of a qualified name may start with `_`.
fn is_variable(name: &str) -> bool {
    let name = name.strip_prefix("::").unwrap_or(name);
    let (scopes, last) = name.rsplit_once("::").map_or((None, name), |(scopes, last)| (Some(scopes), last));
    scopes.is_none_or(|scopes| scopes.split("::").all(is_segment)) && is_parameter_name(last)
}

impl Validator<'_> {
    pub(super) fn variable_name(&mut self, expr: &Expr, name: &str) {
        if name.starts_with(|char: char| char.is_ascii_digit()) {
            if !is_numeric_variable(name) {
                self.report_expr(
                    expr,
                    format!(
                        "Illegal numeric variable name, The given name '{name}' must be a decimal value if it starts with a digit 0-9"
                    ),
                );
            }
        } else if !is_variable(name) {
            self.report_expr(
                expr,
                format!(
                    "Illegal variable name, The given name '{name}' does not conform to the naming rule /^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/"
                ),
            );
        }
    }
}
