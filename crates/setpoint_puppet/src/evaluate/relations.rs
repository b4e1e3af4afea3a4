//! Arrows between resources.

use setpoint_puppet_functions::Stop;
use setpoint_puppet_syntax::ast::{Expr, ExprKind};
use setpoint_puppet_values::{Data, Type, Value};

use crate::compiler::Compiler;
use crate::relationships::Operand;
use crate::rules;

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
        self.evaluate_operand(at, at, &mut left)?;
        for (op, right, whole) in links.into_iter().rev() {
            let mut operands = Vec::new();
            self.evaluate_operand(right, whole, &mut operands)?;
            let span = self.place(whole);
            left = self.relate(left, operands, op, span);
        }
        found.append(&mut left);
        Ok(())
    }

    fn evaluate_operand(
        &mut self,
        operand: &Expr,
        whole: &Expr,
        found: &mut Vec<Operand>,
    ) -> Result<(), Stop> {
        match &operand.kind {
            ExprKind::Paren(inner) => self.evaluate_operand(inner, whole, found),
            ExprKind::Relationship { .. } => self.evaluate_chain(operand, found),
            ExprKind::Collector { .. } => {
                let collector = self.evaluate_collector(operand)?;
                found.push(Operand::Collector(collector));
                Ok(())
            }
            ExprKind::Array(items)
                if items.iter().any(|item| matches!(item.kind, ExprKind::Collector { .. })) =>
            {
                items.iter().try_for_each(|item| self.evaluate_operand(item, whole, found))
            }
            _ => {
                let value = self.evaluate(operand)?;
                if value.is_undef() {
                    let message = "Illegal relationship operand, can not form a relationship with an Undef Value. A Catalog type is required.";
                    return Err(rules::fail(message, self.place(whole)));
                }
                let span = self.place(whole);
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
