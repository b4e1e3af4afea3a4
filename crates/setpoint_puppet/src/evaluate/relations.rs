//! Arrows between resources.

use setpoint_provenance::Prov;
use setpoint_puppet_functions::Stop;
use setpoint_puppet_syntax::ast::{Expr, ExprKind};
use setpoint_puppet_values::{Data, Type, Value};

use crate::compiler::Compiler;
use crate::relationships::{Operand, illegal_operand};
use crate::trace::COLLECTED;

impl Compiler<'_> {
    pub(super) fn evaluate_relationship(&mut self, expression: &Expr) -> Result<Value, Stop> {
        let mut operands = Vec::new();
        self.evaluate_chain(expression, &mut operands)?;
        let references = operands.iter().filter_map(|operand| match operand {
            Operand::Reference(text) => reference_value(text),
            Operand::Collector(_) => None,
        });
        Ok(Value::array(references.collect()))
    }

    /// The operands that are left of a chain of arrows, once its relationships are noted. Chains nest to the left, and
    /// may be long, so they are walked without recursion.
    fn evaluate_chain(&mut self, expression: &Expr, found: &mut Vec<Operand>) -> Result<(), Stop> {
        let mut links = Vec::new();
        let mut at = expression;
        while let ExprKind::Relationship { op, left, right, .. } = &at.kind {
            links.push((*op, right, at));
            at = left;
        }
        let mut left = Vec::new();
        let mut provs = Vec::new();
        self.evaluate_operand(at, at, &mut left, &mut provs)?;
        for (op, right, whole) in links.into_iter().rev() {
            let mut operands = Vec::new();
            self.evaluate_operand(right, whole, &mut operands, &mut provs)?;
            let span = self.place(whole);
            let prov = if self.arena.enabled() {
                let made = self.arena.operation(self.words.arrow, Some(span), &provs);
                self.under_control(made)
            } else {
                Prov::NONE
            };
            left = self.relate(left, operands, op, prov, span);
        }
        found.append(&mut left);
        Ok(())
    }

    fn evaluate_operand(
        &mut self,
        operand: &Expr,
        whole: &Expr,
        found: &mut Vec<Operand>,
        provs: &mut Vec<Prov>,
    ) -> Result<(), Stop> {
        match &operand.kind {
            ExprKind::Paren(inner) => self.evaluate_operand(inner, whole, found, provs),
            ExprKind::Relationship { .. } => self.evaluate_chain(operand, found),
            ExprKind::Collector { .. } => {
                let collector = self.evaluate_collector(operand)?;
                provs.push(self.absence(COLLECTED, &collector.index().to_string()));
                found.push(Operand::Collector(collector));
                Ok(())
            }
            ExprKind::Array(items)
                if items.iter().any(|item| matches!(item.kind, ExprKind::Collector { .. })) =>
            {
                items.iter().try_for_each(|item| self.evaluate_operand(item, whole, found, provs))
            }
            _ => {
                let value = self.evaluate(operand)?;
                if value.is_undef() {
                    return Err(illegal_operand("an Undef Value".to_owned(), self.place(whole)));
                }
                let span = self.place(whole);
                provs.push(value.prov);
                self.operands(&value, span, found)
            }
        }
    }
}

fn reference_value(text: &str) -> Option<Value> {
    let (type_name, title) = crate::declare::split_reference(text)?;
    let of = if type_name == "Class" {
        Type::class(title)
    } else {
        Type::resource_reference(type_name, Some(title))
    };
    Some(Value::new(Data::Type(of)))
}
