//! Expressions without variables, evaluated here and by Puppet. The answers are Puppet's (`answer.rb` asks it).

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use setpoint_puppet_syntax::ast::{BinaryOp, Expr, ExprKind, StringPart};
use setpoint_puppet_values::ops::{self, Arithmetic, Comparison};
use setpoint_puppet_values::rich::to_rich_data;
use setpoint_puppet_values::types::{Alias, describe_mismatch};
use setpoint_puppet_values::{
    Checks, Data, Hash, Key, Regex, Strictness, Type, Value, ValueError, access, infer, infer_generic,
    infer_set, new_instance, to_text,
};
use setpoint_source::Sources;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expressions");
    setpoint_testing::run_folder(&folder, |case| {
        let strict = match case.option("strict") {
            Some("error") => Strictness::Error,
            Some("off") => Strictness::Off,
            _ => Strictness::Warning,
        };
        let rich = case.option("rich").is_some();
        let evaluator = Evaluator { strict, rich, aliases: RefCell::default() };
        let mut out = String::new();
        for line in case.input("expressions").unwrap_or("").lines().filter(|line| !line.is_empty()) {
            let answer = evaluator.answer(line).replace('\n', "\n    ");
            let _ = write!(out, "{line}\n    {answer}\n");
        }
        vec![("puppet".to_owned(), out)]
    })
}

struct Evaluator {
    strict: Strictness,
    /// Answers are written as the catalog has them.
    rich: bool,
    aliases: RefCell<HashMap<String, Type>>,
}

type Outcome = Result<Value, ValueError>;

impl Evaluator {
    fn answer(&self, line: &str) -> String {
        let file = Sources::new().add("line", line);
        let parsed = setpoint_puppet_syntax::parse(file, line);
        if let Some(problem) = parsed.diagnostics.first() {
            return format!("syntax: {}", problem.message);
        }
        let Some(expression) = parsed.program.body.first() else { return "nothing".to_owned() };
        if let ExprKind::TypeAlias(alias) = &expression.kind {
            return self.define(alias.name.as_str(), &alias.value);
        }
        match self.evaluate(expression) {
            Ok(value) if self.rich => to_rich_data(&value).to_string(),
            Ok(value) => format!("{} | {}", infer(&value), to_text(&value)),
            Err(error) => format!("error: {}", error.message),
        }
    }

    fn define(&self, name: &str, target: &Expr) -> String {
        let alias = Alias::new(name);
        self.aliases.borrow_mut().insert(name.to_lowercase(), Type::Alias(Arc::clone(&alias)));
        let target = match self.evaluate(target).map(|value| value.data) {
            Ok(Data::Type(of)) => of,
            Ok(_) => return "no type".to_owned(),
            Err(error) => return format!("error: {}", error.message),
        };
        alias
            .resolve(target)
            .map_or_else(|error| format!("error: {}", error.message), |()| "defined".to_owned())
    }

    fn named_type(&self, name: &str) -> Type {
        let known = self.aliases.borrow().get(&name.to_lowercase()).cloned();
        let resource =
            ["file", "user", "notify", "package", "exec", "service"].contains(&name.to_lowercase().as_str());
        known
            .or_else(|| Type::builtin(name))
            .unwrap_or_else(|| if resource { Type::resource(name) } else { Type::reference(name) })
    }

    fn all(&self, expressions: &[Expr]) -> Result<Vec<Value>, ValueError> {
        expressions.iter().map(|expression| self.evaluate(expression)).collect()
    }

    fn evaluate(&self, expression: &Expr) -> Outcome {
        Ok(match &expression.kind {
            ExprKind::Undef => Value::UNDEF,
            ExprKind::Default => Value::new(Data::Default),
            ExprKind::Bool(value) => Value::from(*value),
            ExprKind::Integer { value, .. } => Value::from(*value),
            ExprKind::Float(value) => Value::from(*value),
            ExprKind::String(text) => Value::string(Arc::clone(text)),
            ExprKind::Name(name) => Value::from(name.as_str()),
            ExprKind::Regex(source) => Value::from(Regex::new(Arc::clone(source))?),
            ExprKind::TypeName(name) => Value::from(self.named_type(name.as_str())),
            ExprKind::Array(items) => Value::array(self.all(items)?),
            ExprKind::Hash(entries) => {
                let mut hash = Hash::default();
                for (key, item) in entries {
                    hash.insert(Key(self.evaluate(key)?), self.evaluate(item)?);
                }
                Value::hash(hash)
            }
            ExprKind::Paren(inner) => self.evaluate(inner)?,
            ExprKind::Not(inner) => Value::from(!self.evaluate(inner)?.is_true()),
            ExprKind::Negate(inner) => ops::negate(&self.evaluate(inner)?, &mut Checks::new(self.strict))?,
            ExprKind::Interpolation(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        StringPart::Text(part) => text.push_str(part),
                        StringPart::Expr(part) => text.push_str(&to_text(&self.evaluate(part)?)),
                    }
                }
                Value::from(text)
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right)?,
            ExprKind::Access { target, keys } => {
                let (target, keys) = (self.evaluate(target)?, self.all(keys)?);
                access::access(&target, &keys, &mut Checks::new(self.strict))?
            }
            ExprKind::Selector { subject, cases } => {
                let tested = self.evaluate(subject)?;
                for case in cases {
                    if ops::option_matches(&tested, &self.evaluate(&case.matches)?)?.matched {
                        return self.evaluate(&case.value);
                    }
                }
                return Err(ValueError::new("no case matches"));
            }
            ExprKind::Call(call) => {
                let arguments = self.all(&call.arguments)?;
                match &call.function.kind {
                    ExprKind::Name(name) => self.call(name.as_str(), &arguments)?,
                    _ => match self.evaluate(&call.function)?.data {
                        Data::Type(of) => self.new_instance(&of, &arguments)?,
                        _ => return Err(ValueError::new("not callable")),
                    },
                }
            }
            ExprKind::MethodCall(call) => {
                let mut arguments = vec![self.evaluate(&call.receiver)?];
                arguments.extend(self.all(&call.arguments)?);
                self.call(call.name.as_str(), &arguments)?
            }
            other => return Err(ValueError::new(format!("not evaluated here: {other:?}"))),
        })
    }

    fn new_instance(&self, of: &Type, arguments: &[Value]) -> Outcome {
        new_instance(of, arguments, &mut |text| {
            Type::parse(text, &|name| self.aliases.borrow().get(&name.to_lowercase()).cloned())
        })
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Outcome {
        match (name, arguments) {
            ("new", [of, arguments @ ..]) => match &of.data {
                Data::Type(of) => self.new_instance(of, arguments),
                _ => Err(ValueError::new("no type")),
            },
            ("type", [value]) => Ok(Value::from(infer_set(value))),
            ("type", [value, how]) => Ok(Value::from(match how.as_str() {
                Some("generalized") => infer_generic(value),
                Some("reduced") => infer(value),
                _ => infer_set(value),
            })),
            ("assert_type", [of, value]) => match &of.data {
                Data::Type(of) if of.is_instance(value) => Ok(value.clone()),
                Data::Type(of) => {
                    Err(ValueError::new(describe_mismatch("assert_type():", of, &infer_set(value))))
                }
                _ => Err(ValueError::new("no type")),
            },
            _ => Err(ValueError::new(format!("no function {name} here"))),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Outcome {
        let (a, b) = (self.evaluate(left)?, self.evaluate(right)?);
        let mut checks = Checks::new(self.strict);
        let arithmetic = match op {
            BinaryOp::Add => Some(Arithmetic::Add),
            BinaryOp::Subtract => Some(Arithmetic::Subtract),
            BinaryOp::Multiply => Some(Arithmetic::Multiply),
            BinaryOp::Divide => Some(Arithmetic::Divide),
            BinaryOp::Modulo => Some(Arithmetic::Modulo),
            BinaryOp::ShiftLeft => Some(Arithmetic::ShiftLeft),
            BinaryOp::ShiftRight => Some(Arithmetic::ShiftRight),
            _ => None,
        };
        if let Some(operator) = arithmetic {
            return ops::arithmetic(operator, &a, &b, &mut checks);
        }
        Ok(Value::from(match op {
            BinaryOp::Equal => ops::equals(&a, &b),
            BinaryOp::NotEqual => !ops::equals(&a, &b),
            BinaryOp::Less => ops::compare(Comparison::Less, &a, &b)?,
            BinaryOp::LessEqual => ops::compare(Comparison::LessEqual, &a, &b)?,
            BinaryOp::Greater => ops::compare(Comparison::Greater, &a, &b)?,
            BinaryOp::GreaterEqual => ops::compare(Comparison::GreaterEqual, &a, &b)?,
            BinaryOp::Match => ops::matches(&a, &b)?.matched,
            BinaryOp::NoMatch => !ops::matches(&a, &b)?.matched,
            BinaryOp::In => ops::contained(&a, &b)?.matched,
            BinaryOp::And => a.is_true() && b.is_true(),
            _ => a.is_true() || b.is_true(),
        }))
    }
}
