//! `+`, `-`, `*`, `/`, `%`, `<<` and `>>`.

use std::sync::Arc;

use crate::error::{Blame, Checks, ValueError};
use crate::label::{a_an, article};
use crate::number::{Number, parse_number};
use crate::time::{NANOS_PER_SECOND, Timespan, Timestamp, divide};
use crate::types::{Type, infer};
use crate::uri::Uri;
use crate::value::{Data, Hash, Key, Value};

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

impl Arithmetic {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
        }
    }
}

/// `+`, `-`, `*`, `/`, `%`, `<<`, `>>`, also over collections, times and the like.
pub fn arithmetic(
    operator: Arithmetic,
    left: &Value,
    right: &Value,
    checks: &mut Checks,
) -> Result<Value, ValueError> {
    match (&left.data, operator) {
        (Data::Uri(_) | Data::Binary(_) | Data::Array(_) | Data::Hash(_), Arithmetic::Add) => {
            concatenate(left, right)
        }
        (Data::Array(_) | Data::Hash(_), Arithmetic::Subtract) => Ok(delete(left, right)),
        (Data::Array(items), Arithmetic::ShiftLeft) => {
            let mut items = items.as_ref().clone();
            items.push(right.clone());
            Ok(Value::array(items))
        }
        (Data::Hash(_), Arithmetic::ShiftLeft) => Err(not_applicable(operator, left)),
        _ => {
            let left = coerce(left, Blame::Left, checks)?;
            let right = coerce(right, Blame::Right, checks)?;
            calculate(operator, left, right)
        }
    }
}

/// `-x`.
pub fn negate(operand: &Value, checks: &mut Checks) -> Result<Value, ValueError> {
    match coerce(operand, Blame::Right, checks)? {
        Operand::Integer(number) => Ok(Value::new(Data::Integer(
            i64::try_from(-number).map_err(|_| overflow("A Unary Minus", -number))?,
        ))),
        Operand::Float(number) => Ok(Value::new(Data::Float(-number))),
        Operand::Timespan(span) => timespan(-span),
        other => Err(not_applicable_to("-", &other)),
    }
}

/// A number, as far as arithmetic is concerned. Integers that a text gave may exceed 64 bits.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Integer(i128),
    Float(f64),
    Timestamp(i128),
    Timespan(i128),
    Version,
}

impl Operand {
    fn label(&self) -> &'static str {
        match self {
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::Timestamp(_) => "Timestamp",
            Self::Timespan(_) => "Timespan",
            Self::Version => "Semver",
        }
    }

    /// The Ruby class that messages about times name.
    fn class(&self) -> &'static str {
        match self {
            Self::Version => "Version",
            other => other.label(),
        }
    }
}

/// The number that an operand is or, with a warning or an error, means.
fn coerce(value: &Value, blame: Blame, checks: &mut Checks) -> Result<Operand, ValueError> {
    match &value.data {
        Data::Integer(number) => Ok(Operand::Integer(i128::from(*number))),
        Data::Float(number) => Ok(Operand::Float(*number)),
        Data::Timestamp(time) => Ok(Operand::Timestamp(time.nanos())),
        Data::Timespan(span) => Ok(Operand::Timespan(span.nanos())),
        Data::SemVer(_) => Ok(Operand::Version),
        Data::String(text) => {
            let Some(number) = parse_number(text) else { return Err(not_numeric(value, blame)) };
            let (operand, shown) = match number {
                Number::Integer(number) => (Operand::Integer(number), number.to_string()),
                Number::Float(number) => (Operand::Float(number), crate::ruby::numbers::float_to_s(number)),
            };
            let message =
                format!("The string '{text}' was automatically coerced to the numerical value {shown}");
            checks.question(ValueError::new(message).blaming(blame))?;
            Ok(operand)
        }
        _ => Err(not_numeric(value, blame)),
    }
}

/// An integer for an index, with a warning or an error if a text gave it.
pub(crate) fn coerce_index(
    value: &Value,
    blame: Blame,
    checks: &mut Checks,
) -> Result<Option<i64>, ValueError> {
    match coerce(value, blame, checks)? {
        Operand::Integer(number) => {
            Ok(Some(i64::try_from(number).unwrap_or(if number > 0 { i64::MAX } else { i64::MIN })))
        }
        _ => Ok(None),
    }
}

fn not_numeric(value: &Value, blame: Blame) -> ValueError {
    let shown = crate::ruby::text::to_s(value);
    ValueError::new(format!("The value '{shown}' cannot be converted to Numeric.")).blaming(blame)
}

fn not_applicable(operator: Arithmetic, left: &Value) -> ValueError {
    let message = format!("Operator '{}' is not applicable to {}.", operator.as_str(), a_an(left));
    ValueError::new(message).blaming(Blame::Left)
}

fn not_applicable_to(operator: &str, left: &Operand) -> ValueError {
    let label = left.label();
    let message = format!("Operator '{operator}' is not applicable to {} {label}.", article(label));
    ValueError::new(message).blaming(Blame::Left)
}

fn not_applicable_when(operator: Arithmetic, left: &Operand, right: &Operand) -> ValueError {
    let (a, b) = (left.label(), right.label());
    let message = format!(
        "Operator '{}' is not applicable to {} {a} when right side is {} {b}.",
        operator.as_str(),
        article(a),
        article(b)
    );
    ValueError::new(message).blaming(Blame::Left)
}

fn overflow(expression: &str, result: i128) -> ValueError {
    let (end, sign) = if result > 0 { ("max", '+') } else { ("min", '-') };
    ValueError::new(format!(
        "{expression} resulted in a value outside of Puppet Integer {end} range, got '{sign}0x{:x}'",
        result.unsigned_abs()
    ))
}

fn zero_division() -> ValueError {
    ValueError::new("Division by 0").blaming(Blame::Right)
}

fn calculate(operator: Arithmetic, left: Operand, right: Operand) -> Result<Value, ValueError> {
    if operator == Arithmetic::Modulo {
        if matches!(left, Operand::Float(_)) {
            return Err(not_applicable_to("%", &left));
        }
        if matches!(right, Operand::Float(_)) {
            return Err(not_applicable_when(operator, &left, &right));
        }
    }
    match (&left, &right) {
        (Operand::Integer(a), Operand::Integer(b)) => integers(operator, *a, *b),
        (Operand::Integer(_) | Operand::Float(_), Operand::Integer(_) | Operand::Float(_)) => {
            floats(operator, &left, &right)
        }
        (Operand::Integer(_) | Operand::Float(_), Operand::Timestamp(_) | Operand::Timespan(_)) => {
            match (operator, &right) {
                (Arithmetic::Add, _) | (Arithmetic::Multiply, Operand::Timespan(_)) => {
                    times(operator, &right, &left)
                }
                (Arithmetic::Subtract, Operand::Timespan(_)) => {
                    times(operator, &Operand::Timespan(seconds_to_nanos(&left)), &right)
                }
                _ => Err(not_applicable_when(operator, &left, &right)),
            }
        }
        (Operand::Timestamp(_) | Operand::Timespan(_), _) => times(operator, &left, &right),
        (Operand::Version, _) => Err(not_applicable_to(operator.as_str(), &left)),
        (_, Operand::Version) => Err(ValueError::new("can't convert SemanticPuppet::Version into Float")),
    }
}

fn integers(operator: Arithmetic, a: i128, b: i128) -> Result<Value, ValueError> {
    let result = match operator {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide if b == 0 => return Err(zero_division()),
        Arithmetic::Divide => a.checked_div_euclid(b).map(|_| floor_divide(a, b)),
        Arithmetic::Modulo if b == 0 => return Err(zero_division()),
        Arithmetic::Modulo => Some(a - floor_divide(a, b) * b),
        Arithmetic::ShiftLeft => shift(a, b),
        Arithmetic::ShiftRight => shift(a, -b),
    };
    let expression = format!("A '{}' expression", operator.as_str());
    if let Some(result) = result {
        match i64::try_from(result) {
            Ok(result) => Ok(Value::new(Data::Integer(result))),
            Err(_) => Err(overflow(&expression, result)),
        }
    } else {
        let positive = match operator {
            Arithmetic::Multiply => (a < 0) == (b < 0),
            _ => a > 0,
        };
        let (end, sign) = if positive { ("max", '+') } else { ("min", '-') };
        let digits = match operator {
            Arithmetic::ShiftLeft => shifted_hex(a, b),
            Arithmetic::ShiftRight => shifted_hex(a, -b),
            _ => None,
        };
        let got = digits.map(|digits| format!(", got '{sign}0x{digits}'")).unwrap_or_default();
        let range = format!("outside of Puppet Integer {end} range");
        Err(ValueError::new(format!("{expression} resulted in a value {range}{got}")))
    }
}

/// Rounded down, as Ruby does.
fn floor_divide(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

/// To the left, or to the right for a negative distance; nothing if it leaves 128 bits.
fn shift(a: i128, by: i128) -> Option<i128> {
    if by <= 0 {
        return Some(a >> (-by).clamp(0, 127));
    }
    if a == 0 {
        return Some(0);
    }
    let factor = 1_i128.checked_shl(u32::try_from(by).ok()?).filter(|factor| *factor > 0)?;
    a.checked_mul(factor)
}

/// The digits of a number that was shifted out of 128 bits, unless there are too many to print.
fn shifted_hex(a: i128, by: i128) -> Option<String> {
    const MAX_DIGITS: usize = 10_000;
    let zeros = usize::try_from(by / 4).ok().filter(|zeros| *zeros <= MAX_DIGITS)?;
    let head = a.unsigned_abs().checked_mul(1 << (by % 4))?;
    Some(format!("{head:x}{}", "0".repeat(zeros)))
}

fn as_float(operand: &Operand) -> f64 {
    match operand {
        Operand::Integer(number) => *number as f64,
        Operand::Float(number) => *number,
        _ => 0.0,
    }
}

fn floats(operator: Arithmetic, left: &Operand, right: &Operand) -> Result<Value, ValueError> {
    let (a, b) = (as_float(left), as_float(right));
    let result = match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Modulo => return Err(not_applicable_when(operator, left, right)),
        Arithmetic::ShiftLeft | Arithmetic::ShiftRight => match (left, right) {
            // Ruby rounds the distance.
            (Operand::Integer(a), Operand::Float(by)) => return integers(operator, *a, *by as i128),
            _ => return Err(not_applicable_to(operator.as_str(), left)),
        },
    };
    if result.is_infinite() {
        let message = format!("The result of the {} expression is Infinity", operator.as_str());
        return Err(ValueError::new(message).blaming(Blame::Left));
    }
    Ok(Value::new(Data::Float(result)))
}

fn seconds_to_nanos(operand: &Operand) -> i128 {
    match operand {
        Operand::Integer(seconds) => seconds.saturating_mul(NANOS_PER_SECOND),
        Operand::Float(seconds) => (seconds * NANOS_PER_SECOND as f64) as i128,
        Operand::Timestamp(nanos) | Operand::Timespan(nanos) => *nanos,
        Operand::Version => 0,
    }
}

fn timespan(nanos: i128) -> Result<Value, ValueError> {
    let span = Timespan::from_nanos(nanos);
    span.map(|span| Value::new(Data::Timespan(span)))
        .ok_or_else(|| ValueError::new("The Timespan is out of range"))
}

fn timestamp(nanos: i128) -> Result<Value, ValueError> {
    let time = Timestamp::from_nanos(nanos);
    time.map(|time| Value::new(Data::Timestamp(time)))
        .ok_or_else(|| ValueError::new("The Timestamp is out of range"))
}

/// A time on the left.
fn times(operator: Arithmetic, left: &Operand, right: &Operand) -> Result<Value, ValueError> {
    let other = right.class();
    let upper = if article(other) == "an" { "An" } else { "A" };
    let refused = |what: String| Err(ValueError::new(what));
    match (left, operator, right) {
        (Operand::Timespan(a), Arithmetic::Add, Operand::Timestamp(b)) => timestamp(a + b),
        (
            Operand::Timespan(a),
            Arithmetic::Add,
            Operand::Timespan(_) | Operand::Integer(_) | Operand::Float(_),
        ) => timespan(a + seconds_to_nanos(right)),
        (Operand::Timespan(_), Arithmetic::Add, _) => {
            refused(format!("{upper} {other} cannot be added to a Timespan"))
        }
        (
            Operand::Timespan(a),
            Arithmetic::Subtract,
            Operand::Timespan(_) | Operand::Integer(_) | Operand::Float(_),
        ) => timespan(a - seconds_to_nanos(right)),
        (Operand::Timespan(_), Arithmetic::Subtract, _) => {
            refused(format!("{upper} {other} cannot be subtracted from a Timespan"))
        }
        (Operand::Timespan(a), Arithmetic::Multiply, Operand::Integer(b)) => timespan(a.saturating_mul(*b)),
        (Operand::Timespan(a), Arithmetic::Multiply, Operand::Float(b)) => timespan((*a as f64 * b) as i128),
        (Operand::Timespan(_), Arithmetic::Multiply, _) => {
            refused(format!("A Timestamp cannot be multiplied by {} {other}", article(other)))
        }
        (Operand::Timespan(a), Arithmetic::Divide, Operand::Timespan(b)) => {
            let result = divide(*a, *b);
            if result.is_infinite() {
                return Err(
                    ValueError::new("The result of the / expression is Infinity").blaming(Blame::Left)
                );
            }
            Ok(Value::new(Data::Float(result)))
        }
        (Operand::Timespan(_), Arithmetic::Divide, Operand::Integer(0)) => Err(zero_division()),
        (Operand::Timespan(a), Arithmetic::Divide, Operand::Integer(b)) => timespan(floor_divide(*a, *b)),
        (Operand::Timespan(_), Arithmetic::Divide, Operand::Float(b)) if *b == 0.0 => Err(zero_division()),
        (Operand::Timespan(a), Arithmetic::Divide, Operand::Float(b)) => {
            timespan((*a as f64 / b).floor() as i128)
        }
        (Operand::Timespan(_), Arithmetic::Divide, _) => {
            refused(format!("A Timespan cannot be divided by {} {other}", article(other)))
        }
        (Operand::Timespan(_), Arithmetic::Modulo, Operand::Integer(0)) => Err(zero_division()),
        (Operand::Timespan(a), Arithmetic::Modulo, Operand::Integer(b)) => {
            integers(Arithmetic::Modulo, a.div_euclid(NANOS_PER_SECOND), *b)
        }
        (Operand::Timespan(_), Arithmetic::Modulo, _) => {
            refused(format!("Can not do modulus on a Timespan using a {} {other}", article(other)))
        }
        (
            Operand::Timestamp(a),
            Arithmetic::Add,
            Operand::Timespan(_) | Operand::Integer(_) | Operand::Float(_),
        ) => timestamp(a + seconds_to_nanos(right)),
        (Operand::Timestamp(_), Arithmetic::Add, _) => {
            refused(format!("{upper} {other} cannot be added to a Timestamp"))
        }
        (Operand::Timestamp(a), Arithmetic::Subtract, Operand::Timestamp(b)) => timespan(a - b),
        (
            Operand::Timestamp(a),
            Arithmetic::Subtract,
            Operand::Timespan(_) | Operand::Integer(_) | Operand::Float(_),
        ) => timestamp(a - seconds_to_nanos(right)),
        (Operand::Timestamp(_), Arithmetic::Subtract, _) => {
            refused(format!("{upper} {other} cannot be subtracted from a Timestamp"))
        }
        _ => Err(not_applicable_to(operator.as_str(), left)),
    }
}

/// A hash as pairs.
fn pairs(entries: &Hash) -> Vec<Value> {
    entries.iter().map(|(key, item)| Value::array(vec![key.0.clone(), item.clone()])).collect()
}

fn elements(value: &Value) -> Vec<Value> {
    match &value.data {
        Data::Array(items) => items.as_ref().clone(),
        Data::Hash(entries) => pairs(entries),
        _ => vec![value.clone()],
    }
}

fn concatenate(left: &Value, right: &Value) -> Result<Value, ValueError> {
    match &left.data {
        Data::Array(items) => {
            let mut items = items.as_ref().clone();
            items.extend(elements(right));
            Ok(Value::array(items))
        }
        Data::Hash(entries) => {
            let mut merged = entries.as_ref().clone();
            match &right.data {
                Data::Hash(more) => {
                    for (key, item) in more.iter() {
                        merged.insert(key.clone(), item.clone());
                    }
                }
                Data::Array(items) => {
                    for (key, item) in hash_from_array(right, items)? {
                        merged.insert(Key(key), item);
                    }
                }
                _ => return Err(ValueError::new("Can only append Array or Hash to a Hash")),
            }
            Ok(Value::hash(merged))
        }
        Data::Uri(uri) => {
            let other = match &right.data {
                Data::Uri(other) => other.as_ref().clone(),
                Data::String(text) => Uri::parse(text)?,
                _ => return Err(ValueError::new("An URI can only be merged with an URI or String")),
            };
            Ok(Value::new(Data::Uri(Arc::new(uri.join(&other)?))))
        }
        Data::Binary(bytes) => match &right.data {
            Data::Binary(more) => {
                Ok(Value::new(Data::Binary([bytes.as_ref(), more.as_ref()].concat().into())))
            }
            _ => Err(ValueError::new("Can only append Binary to a Binary")),
        },
        _ => concatenate(&Value::array(vec![left.clone()]), right),
    }
}

/// An array as a hash: of pairs if its elements are arrays, else of keys and values in turn.
fn hash_from_array(array: &Value, items: &[Value]) -> Result<Vec<(Value, Value)>, ValueError> {
    let of_arrays = match infer(array) {
        Type::Array(Some(of)) => matches!(of.element, Type::Array(_)),
        _ => false,
    };
    if !of_arrays {
        if !items.len().is_multiple_of(2) {
            return Err(ValueError::new("odd number of arguments for Hash"));
        }
        return Ok(items.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect());
    }
    let mut result = Vec::with_capacity(items.len());
    for item in items {
        let pair = item.as_array().unwrap_or(&[]);
        match pair {
            [key] => result.push((key.clone(), Value::UNDEF)),
            [key, value] => result.push((key.clone(), value.clone())),
            _ => {
                return Err(ValueError::new(format!("invalid number of elements ({} for 1..2)", pair.len())));
            }
        }
    }
    Ok(result)
}

/// What is left of a collection without the elements, or keys, of another.
fn delete(left: &Value, right: &Value) -> Value {
    match &left.data {
        Data::Array(items) => {
            let gone = elements(right);
            if gone.len() > 16 {
                let gone: rustc_hash::FxHashSet<Key> = gone.into_iter().map(Key).collect();
                return Value::array(
                    items.iter().filter(|item| !gone.contains(&Key((*item).clone()))).cloned().collect(),
                );
            }
            Value::array(
                items
                    .iter()
                    .filter(|item| !gone.iter().any(|gone| ruby_equal(gone, item)))
                    .cloned()
                    .collect(),
            )
        }
        Data::Hash(entries) => {
            let mut rest = entries.as_ref().clone();
            match &right.data {
                Data::Hash(gone) => rest.retain(|key, _| !gone.contains_key(key)),
                Data::Array(gone) => {
                    let gone: rustc_hash::FxHashSet<Key> = gone.iter().cloned().map(Key).collect();
                    rest.retain(|key, _| !gone.contains(key));
                }
                _ => {
                    rest.shift_remove(&Key(right.clone()));
                }
            }
            Value::hash(rest)
        }
        _ => left.clone(),
    }
}

/// Ruby's `==`, under which `1` equals `1.0`.
fn ruby_equal(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Integer(a), Data::Float(b)) | (Data::Float(b), Data::Integer(a)) => *a as f64 == *b,
        (Data::Array(a), Data::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| ruby_equal(a, b))
        }
        (a, b) => a == b,
    }
}
