//! Classes, defines, nodes, functions, types and their parameters.

use rustc_hash::FxHashSet;
use setpoint_source::{Range, Rule};

use super::idem::is_idem;
use super::label::{a_an, a_an_uppercase, label};
use super::{Holder, Validator, names};
use crate::ast::{ClassDef, DefineDef, Expr, ExprKind, FunctionDef, NodeDef, Parameter, TypeAliasDef};

impl<'t> Validator<'t> {
    pub(super) fn class(&mut self, expr: &'t Expr, class: &'t ClassDef, holder: Holder) {
        self.named_definition(expr, &class.name, holder);
        self.resource_parameters(expr, &class.parameters);
        self.effect_last(expr, &class.body);
        self.statements(&class.body, Holder::Class);
    }

    pub(super) fn define(&mut self, expr: &'t Expr, define: &'t DefineDef, holder: Holder) {
        self.named_definition(expr, &define.name, holder);
        self.resource_parameters(expr, &define.parameters);
        self.effect_last(expr, &define.body);
        self.statements(&define.body, Holder::Block);
    }

    pub(super) fn function(&mut self, expr: &'t Expr, function: &'t FunctionDef, holder: Holder) {
        self.named_definition(expr, &function.name, holder);
        self.unique_parameters(&function.parameters);
        self.parameters(&function.parameters);
        if let Some(return_type) = &function.return_type {
            self.type_reference(expr, return_type);
            self.later(return_type);
        }
        self.statements(&function.body, Holder::Block);
    }

    pub(super) fn node(&mut self, expr: &'t Expr, node: &'t NodeDef, holder: Holder) {
        self.top_level(expr, holder);
        self.effect_last(expr, &node.body);
        self.statements(&node.body, Holder::Block);
    }

    pub(super) fn type_alias(&mut self, expr: &'t Expr, alias: &'t TypeAliasDef, holder: Holder) {
        self.top_level(expr, holder);
        if !names::is_type_name(&alias.name) {
            self.unacceptable_name(expr, &alias.name);
        }
        self.type_reference(expr, &alias.value);
        self.later(&alias.value);
    }

    pub(super) fn template(&mut self, parameters: &'t [Parameter], body: &'t [Expr]) {
        self.captures_rest_last(parameters);
        self.no_captures_rest(parameters, "an Epp Template");
        self.unique_parameters(parameters);
        self.parameters(parameters);
        self.statements(body, Holder::Block);
    }

    /// Definitions stand at the top of a file, some also in classes.
    fn top_level(&mut self, definition: &Expr, holder: Holder) {
        let only_top = matches!(definition.kind, ExprKind::Function(_) | ExprKind::TypeAlias(_));
        match holder {
            Holder::Program => {}
            Holder::Class | Holder::Block if only_top => {
                let what = a_an_uppercase(&label(definition));
                self.report_definition(definition, format!("{what} may only appear at toplevel"));
            }
            Holder::Class => {}
            Holder::Block | Holder::Expr => self.report_definition(
                definition,
                "Classes, definitions, and nodes may only appear at toplevel or inside other classes"
                    .to_owned(),
            ),
        }
    }

    /// At the head of a definition: its body would fill the screen.
    fn report_definition(&mut self, definition: &Expr, message: String) {
        let place = match &definition.kind {
            ExprKind::Class(class) => class.range.start..class.name_range.end,
            ExprKind::Define(define) => define.range.start..define.name_range.end,
            ExprKind::Function(function) => function.range.start..function.name_range.end,
            ExprKind::TypeAlias(alias) => alias.name_range.start..alias.name_range.end,
            _ => definition.range.start..definition.range.start + 4,
        };
        self.report(Range { start: place.start, end: place.end }, message);
    }

    fn unacceptable_name(&mut self, definition: &Expr, name: &str) {
        let what = a_an(&label(definition));
        let message = format!("Unacceptable name. The name '{name}' is unacceptable as the name of {what}");
        self.report_definition(definition, message);
        if name.contains('-') {
            self.help("Names consist of lower-case letters, digits and `_`: write `_` for `-`.");
        } else if name.starts_with("::") {
            self.help("A definition is named without `::` before its name.");
        }
    }

    fn named_definition(&mut self, expr: &Expr, name: &str, holder: Holder) {
        self.top_level(expr, holder);
        if !names::is_definition_name(name) {
            self.unacceptable_name(expr, name);
        }
        if is_reserved_type(name) {
            let what = a_an(&label(expr));
            self.report_definition(
                expr,
                format!("The name: '{name}' is already defined by Puppet and can not be used as the name of {what}."),
            );
        }
        if name == "plan" {
            self.future_word(expr.range);
        }
    }

    fn future_word(&mut self, range: Range) {
        self.report_as(Rule::ReservedName, range, "Use of future reserved word: 'plan'");
    }

    /// `Type` or `Type[…]`.
    fn type_reference(&mut self, definition: &Expr, reference: &Expr) {
        let name = match &reference.kind {
            ExprKind::Access { target, .. } => target,
            _ => reference,
        };
        match &name.kind {
            ExprKind::TypeName(name) if name.eq_ignore_ascii_case("plan") => {
                self.future_word(reference.range);
            }
            ExprKind::TypeName(_) | ExprKind::Error => {}
            _ => {
                let message = format!(
                    "Illegal expression. {} is unacceptable as a type reference in {}",
                    a_an_uppercase(&label(reference)),
                    a_an(&label(definition))
                );
                self.report_expr(reference, message);
            }
        }
    }

    /// A class, a define and a node end with something that has an effect.
    fn effect_last(&mut self, definition: &Expr, body: &'t [Expr]) {
        if let Some(last) = body.last().filter(|last| is_idem(last)) {
            let message = format!(
                "This {} has no effect. {} can not end with a value-producing expression without other effect",
                label(last),
                a_an_uppercase(&label(definition))
            );
            self.report_expr(last, message);
        }
    }

    // --- Parameters

    fn resource_parameters(&mut self, definition: &Expr, parameters: &'t [Parameter]) {
        self.no_captures_rest(parameters, &a_an(&label(definition)));
        self.unique_parameters(parameters);
        for parameter in parameters {
            if matches!(&*parameter.name, "name" | "title") {
                let message = format!(
                    "The parameter ${} redefines a built in parameter in the {}",
                    parameter.name,
                    label(definition)
                );
                self.report(parameter.range, message);
            }
        }
        self.parameters(parameters);
    }

    pub(super) fn parameters(&mut self, parameters: &'t [Parameter]) {
        for parameter in parameters {
            let name = parameter.name;
            if names::is_numeric_name(&name) {
                self.report(
                    parameter.range,
                    format!("The numeric parameter name '${name}' cannot be used (clashes with numeric match result variables)"),
                );
            }
            if !names::is_parameter_name(&name) {
                self.report(
                    parameter.range,
                    format!(
                        "Illegal parameter name. The given name '{name}' does not conform to the naming rule /^[a-z_]\\w*$/"
                    ),
                );
            }
            if let Some(default) = &parameter.default {
                self.no_assignment(default);
                self.later(default);
            }
            if let Some(type_expr) = &parameter.type_expr {
                self.later(type_expr);
            }
        }
    }

    fn unique_parameters(&mut self, parameters: &[Parameter]) {
        let mut seen = FxHashSet::default();
        for parameter in parameters {
            if !seen.insert(parameter.name) {
                let message = format!(
                    "The parameter '{}' is declared more than once in the parameter list",
                    parameter.name
                );
                self.report(parameter.range, message);
            }
        }
    }

    pub(super) fn captures_rest_last(&mut self, parameters: &[Parameter]) {
        let all_but_last = parameters.split_last().map_or(&[][..], |(_, rest)| rest);
        for parameter in all_but_last.iter().filter(|parameter| parameter.captures_rest) {
            self.report(
                parameter.range,
                format!("Parameter ${} is not last, and has 'captures rest'", parameter.name),
            );
        }
    }

    fn no_captures_rest(&mut self, parameters: &[Parameter], container: &str) {
        for parameter in parameters.iter().filter(|parameter| parameter.captures_rest) {
            let message =
                format!("Parameter ${} has 'captures rest' - not supported in {container}", parameter.name);
            self.report(parameter.range, message);
        }
    }
}

fn is_reserved_type(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "any"
            | "unit"
            | "scalar"
            | "boolean"
            | "numeric"
            | "integer"
            | "float"
            | "collection"
            | "array"
            | "hash"
            | "tuple"
            | "struct"
            | "variant"
            | "optional"
            | "enum"
            | "regexp"
            | "pattern"
            | "runtime"
            | "init"
            | "object"
            | "sensitive"
            | "semver"
            | "semverrange"
            | "string"
            | "timestamp"
            | "timespan"
            | "typeset"
    )
}
