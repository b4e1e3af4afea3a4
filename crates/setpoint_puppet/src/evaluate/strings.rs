//! Strings with expressions in them.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind, StringPart};
use setpoint_puppet_values::{Data, Type, Value, to_text};

use crate::compiler::Compiler;

impl Compiler<'_> {
    pub(super) fn evaluate_interpolation(
        &mut self,
        parts: &[StringPart],
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let mut text = String::new();
        let mut provs: Vec<Prov> = Vec::new();
        let enabled = self.arena.enabled();
        let mut unknown = None;
        for part in parts {
            match part {
                StringPart::Text(plain) => text.push_str(plain),
                StringPart::Expr(inner) => {
                    let value = self.evaluate(inner)?;
                    if enabled {
                        provs.push(value.prov);
                    }
                    match &value.data {
                        Data::String(plain) => text.push_str(plain),
                        _ => {
                            if let Some(part) = value.unknown_part() {
                                unknown = Some(Arc::clone(&part.reason));
                            } else {
                                self.note_whole_read(&value, self.span(expression.range));
                                text.push_str(&to_text(&value));
                            }
                        }
                    }
                }
            }
        }
        let prov = if enabled {
            // The text between the expressions is a literal of its own.
            provs.push(self.arena.literal(self.span(expression.range)));
            self.combine(self.words.interpolate, expression.range, provs.into_iter())
        } else {
            Prov::NONE
        };
        let value = match unknown {
            Some(reason) => Value::unknown(reason, Type::String(None)),
            None => Value::string(text),
        };
        Ok(value.with(prov))
    }

    pub(super) fn evaluate_heredoc(&mut self, syntax: Option<&str>, text: &Expr) -> Result<Value, Stop> {
        let value = self.evaluate(text)?;
        // Text without expressions was checked when it was parsed.
        let is_json = syntax.is_some_and(|syntax| syntax.rsplit('+').next() == Some("json"));
        if is_json
            && !matches!(text.kind, ExprKind::String(_))
            && let Some(json) = value.as_str()
            && let Err(error) = serde_json::from_str::<serde_json::Value>(json)
        {
            return Err(FailureKind::InvalidJson { error: error.to_string() }.at(self.place(text)));
        }
        Ok(value)
    }
}
