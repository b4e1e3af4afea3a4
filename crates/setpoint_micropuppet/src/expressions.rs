//! Expressions: variables by scope, arithmetic, comparisons, arrays and hashes, selectors and references.

use setpoint_puppet_syntax::ast::{BinaryOp, Expr, ExprKind};
use setpoint_source::Range;

use crate::evaluate::{Machine, Step, outside, stuck};
use crate::value::Value;

impl Machine {
    /// Evaluates a part of a statement or expression. A value needs no step, and so no congruence rule.
    pub(crate) fn evaluate_in(&mut self, rule: &str, what: &str, expr: &Expr, scope: &str) -> Step<Value> {
        match constant(expr) {
            Some(value) => Ok(value),
            None => self.within(rule, what, expr.range, |this| this.expression(expr, scope)),
        }
    }

    /// An element of an array or hash: `rest` is the rule that goes past the values before it, `own` the one for itself.
    fn element(
        &mut self,
        [rest, own]: [&str; 2],
        [past, here]: [&str; 2],
        expr: &Expr,
        index: usize,
        scope: &str,
    ) -> Step<Value> {
        if index == 0 || constant(expr).is_some() {
            return self.evaluate_in(own, here, expr, scope);
        }
        self.within(rest, past, expr.range, |this| this.evaluate_in(own, here, expr, scope))
    }

    fn expression(&mut self, expr: &Expr, scope: &str) -> Step<Value> {
        if let Some(value) = constant(expr) {
            return Ok(value);
        }
        let at = expr.range;
        match &expr.kind {
            ExprKind::Paren(inner) => self.expression(inner, scope),
            ExprKind::Variable(name) => self.variable(name.as_str(), scope, at),
            ExprKind::Array(elements) => self.within("ARREXP", "[A]", at, |this| {
                let mut values = Vec::new();
                for element in elements {
                    values.push(this.element(
                        ["ARRELE", "ARRELEI"],
                        ["v, A", "e, A"],
                        element,
                        values.len(),
                        scope,
                    )?);
                }
                Ok(Value::Array(values))
            }),
            ExprKind::Hash(entries) => self.within("HEXP", "{H}", at, |this| {
                let mut values = Vec::new();
                for (key, value) in entries {
                    let Some(key) = constant_key(key) else {
                        return outside(key.range, "a key is a constant in µPuppet");
                    };
                    let texts = ["k => v, H", "k => e, H"];
                    values.push((key, this.element(["HELE", "HELEI"], texts, value, values.len(), scope)?));
                }
                Ok(Value::Hash(values))
            }),
            ExprKind::Not(inner) => match self.evaluate_in("NOTSTEP", "!e", inner, scope)? {
                Value::Boolean(value) => {
                    self.step(
                        if value { "NOTVALUEI" } else { "NOTVALUEII" },
                        format!("!{value} → {}", !value),
                        at,
                    );
                    Ok(Value::Boolean(!value))
                }
                other => stuck(at, format!("! takes a boolean, and this is {other}")),
            },
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, scope, at),
            ExprKind::Selector { subject, cases } => {
                let value = self.evaluate_in("SCON", "e ? {M}", subject, scope)?;
                for case in cases {
                    if matches!(case.matches.kind, ExprKind::Default) {
                        self.step(
                            "SDEFAULT",
                            format!("{value} ? {{default => e, M}} → e"),
                            case.matches.range,
                        );
                        return self.expression(&case.value, scope);
                    }
                    let against =
                        self.evaluate_in("SELE", &format!("{value} ? {{e1 => e, M}}"), &case.matches, scope)?;
                    if case_match(&value, &against) {
                        self.step("SCHOOSE", format!("caseMatch({value}, {against})"), case.matches.range);
                        return self.expression(&case.value, scope);
                    }
                    self.step("SCHOOSEI", format!("¬caseMatch({value}, {against})"), case.matches.range);
                }
                stuck(at, format!("no branch of the selector matches {value}"))
            }
            ExprKind::Access { target, keys } => match keys.as_slice() {
                [key] => self.access(target, key, scope, at),
                _ => outside(at, "one index stands in brackets in µPuppet"),
            },
            _ => outside(at, "µPuppet does not have this expression"),
        }
    }

    fn variable(&mut self, name: &str, scope: &str, at: Range) -> Step<Value> {
        let found = |this: &Self, scope: &str, name: &str| {
            this.variables.get(&(scope.to_owned(), name.to_owned())).cloned()
        };
        if let Some(top) = name.strip_prefix("::").filter(|rest| !rest.contains("::")) {
            return match found(self, "::", top) {
                Some(value) => {
                    self.step("TVAR", format!("${name} → σ(::, {top}) = {value}"), at);
                    Ok(value)
                }
                None => stuck(at, format!("{top} ∉ dom(σ) of ::")),
            };
        }
        if let Some((class, last)) = name.trim_start_matches("::").rsplit_once("::") {
            let of = format!("::{class}");
            return match found(self, &of, last) {
                Some(value) => {
                    self.step("QVAR", format!("${name} → σ({of}, {last}) = {value}"), at);
                    Ok(value)
                }
                None => stuck(at, format!("{last} ∉ dom(σ) of {of}")),
            };
        }
        if let Some(value) = found(self, scope, name) {
            self.step("LVAR", format!("${name} → σ({scope}, {name}) = {value}"), at);
            return Ok(value);
        }
        match self.parent_of(scope) {
            Some((parent, rule)) => {
                let what = format!("{name} ∉ dom(σ) of {scope}; {parent} parentof {scope} by {rule}");
                self.within("PVAR", what, at, |this| this.variable(name, &parent, at))
            }
            None => stuck(at, format!("${name} has no value: {name} ∉ dom(σ) of {scope}")),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, scope: &str, at: Range) -> Step<Value> {
        let (sign, rules) = match op {
            BinaryOp::Add => ("+", "ARITH"),
            BinaryOp::Subtract => ("-", "ARITH"),
            BinaryOp::Multiply => ("*", "ARITH"),
            BinaryOp::Divide => ("/", "ARITH"),
            BinaryOp::Greater => (">", "COMP"),
            BinaryOp::Less => ("<", "COMP"),
            BinaryOp::GreaterEqual => (">=", "COMP"),
            BinaryOp::LessEqual => ("<=", "COMP"),
            BinaryOp::Equal => ("==", "COMP"),
            BinaryOp::NotEqual => ("!=", "COMP"),
            BinaryOp::And => ("and", "AND"),
            BinaryOp::Or => ("or", "OR"),
            _ => return outside(at, "µPuppet does not have this operator"),
        };
        let first = self.evaluate_in(&format!("{rules}LEFT"), &format!("e1 {sign} e2"), left, scope)?;
        // A conjunction that is decided does not look at its other side.
        match (op, &first) {
            (BinaryOp::And, Value::Boolean(false)) | (BinaryOp::Or, Value::Boolean(true)) => {
                self.step(&format!("{rules}RIGHTI"), format!("{first} {sign} e → {first}"), at);
                return Ok(first);
            }
            _ => {}
        }
        let right_rule =
            if matches!(rules, "AND" | "OR") { format!("{rules}RIGHTII") } else { format!("{rules}RIGHT") };
        let second = self.evaluate_in(&right_rule, &format!("{first} {sign} e"), right, scope)?;
        let value = match (op, &first, &second) {
            (BinaryOp::Equal, a, b) => Value::Boolean(case_match(a, b)),
            (BinaryOp::NotEqual, a, b) => Value::Boolean(!case_match(a, b)),
            (BinaryOp::And | BinaryOp::Or, Value::Boolean(_), Value::Boolean(second)) => {
                Value::Boolean(*second)
            }
            (_, Value::Integer(a), Value::Integer(b)) => match arithmetic(op, *a, *b) {
                Some(value) => value,
                None => return stuck(at, format!("{first} {sign} {second} has no value")),
            },
            _ => return stuck(at, format!("{first} {sign} {second} has no value")),
        };
        let rule = match (rules, &value) {
            ("COMP", Value::Boolean(true)) => format!("{rules}VALUEI"),
            ("COMP", _) => format!("{rules}VALUEII"),
            _ => format!("{rules}VALUE"),
        };
        self.step(&rule, format!("{first} {sign} {second} → {value}"), at);
        Ok(value)
    }

    fn access(&mut self, target: &Expr, key: &Expr, scope: &str, at: Range) -> Step<Value> {
        if let ExprKind::TypeName(kind) = &target.kind {
            let kind = kind.as_str().to_lowercase();
            return match self.evaluate_in("REFRES", &format!("{kind}[e]"), key, scope)? {
                Value::String(title) => Ok(Value::Reference(kind, title)),
                other => stuck(key.range, format!("a title is a string, and this is {other}")),
            };
        }
        let value = self.evaluate_in("DEREFEXP", "d[e]", target, scope)?;
        let key = self.evaluate_in("DEREFINDEX", "v[e]", key, scope)?;
        let (rule, found) = match (&value, &key) {
            (Value::Array(values), Value::Integer(index)) => {
                ("DEREFARRAY", usize::try_from(*index).ok().and_then(|index| values.get(index)).cloned())
            }
            (Value::Hash(entries), key) => {
                let key = plain(key);
                ("DEREFHASH", entries.iter().find(|(one, _)| *one == key).map(|(_, value)| value.clone()))
            }
            (Value::Reference(kind, title), Value::String(attribute)) => {
                let resource = self.catalog.iter().find(|one| one.kind == *kind && one.title == *title);
                let found =
                    resource.and_then(|one| one.attributes.iter().find(|(name, _)| name == attribute));
                ("DEREFRES", found.map(|(_, value)| value.clone()))
            }
            _ => return stuck(at, format!("{value}[{key}] has no value")),
        };
        match found {
            Some(found) => {
                self.step(rule, format!("{value}[{key}] → {found}"), at);
                Ok(found)
            }
            None => stuck(at, format!("{value}[{key}] has no value")),
        }
    }
}

/// An expression that is a value already.
fn constant(expr: &Expr) -> Option<Value> {
    Some(match &expr.kind {
        ExprKind::Integer { value, .. } => Value::Integer(*value),
        ExprKind::String(text) => Value::String(text.to_string()),
        ExprKind::Name(name) => Value::String(name.to_string()),
        ExprKind::Bool(value) => Value::Boolean(*value),
        ExprKind::Paren(inner) => constant(inner)?,
        ExprKind::Array(elements) => Value::Array(elements.iter().map(constant).collect::<Option<Vec<_>>>()?),
        ExprKind::Hash(entries) => {
            let entry = |(key, value): &(Expr, Expr)| Some((constant_key(key)?, constant(value)?));
            Value::Hash(entries.iter().map(entry).collect::<Option<Vec<_>>>()?)
        }
        ExprKind::Negate(inner) => match constant(inner)? {
            Value::Integer(value) => Value::Integer(value.checked_neg()?),
            _ => return None,
        },
        _ => return None,
    })
}

/// A key of a hash, which is a constant number or string.
fn constant_key(expr: &Expr) -> Option<String> {
    match constant(expr)? {
        Value::String(key) => Some(key),
        Value::Integer(key) => Some(key.to_string()),
        _ => None,
    }
}

/// Strings are compared without regard to case, as Puppet does.
pub(crate) fn case_match(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.to_lowercase() == right.to_lowercase(),
        _ => left == right,
    }
}

fn arithmetic(op: BinaryOp, a: i64, b: i64) -> Option<Value> {
    Some(match op {
        BinaryOp::Add => Value::Integer(a.checked_add(b)?),
        BinaryOp::Subtract => Value::Integer(a.checked_sub(b)?),
        BinaryOp::Multiply => Value::Integer(a.checked_mul(b)?),
        // Puppet divides towards negative infinity.
        BinaryOp::Divide if b != 0 => {
            let quotient = a.checked_div(b)?;
            let is_rounded_up = a % b != 0 && (a < 0) != (b < 0);
            Value::Integer(if is_rounded_up { quotient - 1 } else { quotient })
        }
        BinaryOp::Greater => Value::Boolean(a > b),
        BinaryOp::Less => Value::Boolean(a < b),
        BinaryOp::GreaterEqual => Value::Boolean(a >= b),
        BinaryOp::LessEqual => Value::Boolean(a <= b),
        _ => return None,
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
