//! The operators.
use crate::error::{Checks, ValueError};
use crate::regex::Match;
use crate::value::Value;

/// `==`: blind to the case of letters and to the difference of `1` and `1.0`.
pub fn equals(_a: &Value, _b: &Value) -> bool {
    false
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    ShiftLeft,
    ShiftRight,
}

/// `+`, `-`, `*`, `/`, `%`, `<<`, `>>`, also over collections, times and the like.
pub fn arithmetic(
    _operator: Arithmetic,
    _left: &Value,
    _right: &Value,
    _checks: &mut Checks,
) -> Result<Value, ValueError> {
    Ok(Value::UNDEF)
}

/// `-x`.
pub fn negate(_operand: &Value, _checks: &mut Checks) -> Result<Value, ValueError> {
    Ok(Value::UNDEF)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// `<`, `<=`, `>`, `>=`: of values, and of types (`Integer < Numeric`).
pub fn compare(_operator: Comparison, _left: &Value, _right: &Value) -> Result<bool, ValueError> {
    Ok(false)
}

/// The order of two values, as `sort` and `compare` see it.
pub fn ordering(_a: &Value, _b: &Value) -> Result<std::cmp::Ordering, ValueError> {
    Ok(std::cmp::Ordering::Equal)
}

/// Whether something matched, and what becomes of `$0`, `$1`, …
#[derive(Clone, Debug)]
pub struct Matched {
    pub matched: bool,
    pub variables: MatchVariables,
}

/// What a match does to the match variables of the scope.
#[derive(Clone, Debug)]
pub enum MatchVariables {
    /// No regular expression was tried.
    Untouched,
    /// One was tried and failed.
    Cleared,
    Set(Box<Match>),
}

/// `left =~ right`; for `!~` negate the answer.
pub fn matches(_left: &Value, _right: &Value) -> Result<Matched, ValueError> {
    Err(ValueError::new(""))
}

/// `left in right`.
pub fn contained(_left: &Value, _right: &Value) -> Result<Matched, ValueError> {
    Err(ValueError::new(""))
}

/// Whether an option of `case` or of a selector matches the value that is tested.
pub fn option_matches(_tested: &Value, _option: &Value) -> Result<Matched, ValueError> {
    Err(ValueError::new(""))
}
