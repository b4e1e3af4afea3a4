//! What fits the grammar and is refused by Puppet all the same, before anything is evaluated.
//!
//! The rules and the words of the messages are those of Puppet, so that they can be looked up. The tree is walked with
//! a list of work instead of recursion: chains of operators can be thousands of links long.

mod definition;
mod heredoc;
mod idem;
mod label;
mod literal;
mod names;
mod value;

use rustc_hash::FxHashSet;
use setpoint_source::{Diagnostic, FileId, Range, Rule};

use crate::ast::{
    AssignOp, Attribute, AttributeKind, BinaryOp, Expr, ExprKind, Lambda, Program, ResourceForm, StringPart,
};
use crate::dump::assign_sign;
use crate::place::{next_token, puppet_start};
use idem::is_idem;
use label::{a_an, a_an_uppercase, label};

/// A text with more mistakes is no manifest, and nobody reads that many messages.
const MAX_FOUND: usize = 500;

pub(crate) fn validate(text: &str, program: &Program) -> Vec<Diagnostic> {
    let mut validator = Validator { text, file: program.file, work: Vec::new(), found: Vec::new() };
    validator.statements(&program.body, Holder::Program);
    while validator.found.len() < MAX_FOUND
        && let Some((expr, holder)) = validator.work.pop()
    {
        validator.check(expr, holder);
    }
    validator.found
}

/// What an expression stands in: it decides which definitions are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The statements of the file.
    Program,
    /// The body of a class.
    Class,
    /// A list of statements of anything else.
    Block,
    /// An expression.
    Expr,
}

struct Validator<'t> {
    text: &'t str,
    file: FileId,
    work: Vec<(&'t Expr, Holder)>,
    found: Vec<Diagnostic>,
}

impl<'t> Validator<'t> {
    fn report(&mut self, range: Range, message: impl Into<String>) {
        self.report_as(Rule::InvalidCode, range, message);
    }

    fn report_as(&mut self, rule: Rule, range: Range, message: impl Into<String>) {
        self.found.push(Diagnostic::new(rule, message).at(range.in_file(self.file)));
    }

    /// From the token that Puppet names to the end of the expression.
    fn place(&self, expr: &Expr) -> Range {
        let start = puppet_start(self.text, expr);
        Range { start, end: expr.range.end.max(start) }
    }

    fn report_expr(&mut self, expr: &Expr, message: impl Into<String>) {
        let place = self.place(expr);
        self.report(place, message);
    }

    fn help(&mut self, text: impl Into<String>) {
        if let Some(last) = self.found.pop() {
            self.found.push(last.with_help(text));
        }
    }

    fn later(&mut self, expr: &'t Expr) {
        self.work.push((expr, Holder::Expr));
    }

    fn all_later(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        for expr in exprs {
            self.later(expr);
        }
    }

    /// All but the last statement must have an effect; Puppet tells only the first that has none.
    fn statements(&mut self, block: &'t [Expr], holder: Holder) {
        let all_but_last = block.split_last().map_or(&[][..], |(_, rest)| rest);
        if let Some(idle) = all_but_last.iter().find(|expr| is_idem(expr)) {
            let message = format!(
                "This {} has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)",
                label(idle)
            );
            self.report_expr(idle, message);
            if let ExprKind::Name(name) = idle.kind {
                self.help(format!("To call a function, write its arguments in parentheses: `{name}(…)`."));
            }
        }
        for expr in block {
            self.work.push((expr, holder));
        }
    }

    /// The statements of a branch: Puppet has no block for a single one.
    fn branch(&mut self, block: &'t [Expr]) {
        self.statements(block, if block.len() == 1 { Holder::Expr } else { Holder::Block });
    }

    fn check(&mut self, expr: &'t Expr, holder: Holder) {
        match &expr.kind {
            ExprKind::Error
            | ExprKind::Nop
            | ExprKind::Undef
            | ExprKind::Default
            | ExprKind::Bool(_)
            | ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Regex(_)
            | ExprKind::Name(_)
            | ExprKind::TypeName(_)
            | ExprKind::TypeMapping
            | ExprKind::Unsupported { .. }
            | ExprKind::RenderText(_) => {}
            ExprKind::Variable(name) => self.variable_name(expr, name),
            ExprKind::Interpolation(parts) => {
                for part in parts {
                    if let StringPart::Expr(inner) = part {
                        self.value(inner);
                        self.later(inner);
                    }
                }
            }
            ExprKind::Heredoc { syntax, text } => {
                if let (Some(syntax), ExprKind::String(content)) = (syntax, &text.kind) {
                    self.heredoc_syntax(syntax, content, text.range);
                }
                self.later(text);
            }
            ExprKind::Array(items) => {
                for item in items {
                    self.value(item);
                    self.later(item);
                }
            }
            ExprKind::Hash(pairs) => self.hash(pairs),
            ExprKind::Paren(inner)
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Splat(inner)
            | ExprKind::RenderExpr(inner) => {
                self.value(inner);
                self.later(inner);
            }
            ExprKind::Binary { left, right, .. } => {
                self.value(left);
                self.value(right);
                self.all_later([&**left, right]);
            }
            ExprKind::Assign { op, target, value } => {
                if *op == AssignOp::Set {
                    self.assignable(target);
                    self.value(value);
                } else {
                    let message = format!(
                        "The operator '{}' is no longer supported. See http://links.puppet.com/remove-plus-equals",
                        assign_sign(*op)
                    );
                    self.report_expr(expr, message);
                }
                self.all_later([&**target, value]);
            }
            ExprKind::Access { target, keys } => {
                self.later(target);
                self.all_later(keys);
            }
            ExprKind::Selector { subject, cases } => {
                self.value(subject);
                self.later(subject);
                let mut defaults = cases.iter().filter(|case| matches!(case.matches.kind, ExprKind::Default));
                if let Some(second) = defaults.nth(1) {
                    self.duplicate_default(expr, &second.matches);
                }
                for case in cases {
                    self.value(&case.matches);
                    self.all_later([&case.matches, &case.value]);
                }
            }
            ExprKind::Call(call) => {
                self.function_name(expr, &call.function);
                self.later(&call.function);
                self.all_later(&call.arguments);
                self.lambda(call.lambda.as_deref());
            }
            ExprKind::MethodCall(call) => {
                self.later(&call.receiver);
                self.all_later(&call.arguments);
                self.lambda(call.lambda.as_deref());
            }
            ExprKind::If { test, then, otherwise } | ExprKind::Unless { test, then, otherwise } => {
                self.value(test);
                self.later(test);
                self.branch(then);
                self.branch(otherwise);
            }
            ExprKind::Case { subject, options } => {
                self.value(subject);
                self.later(subject);
                let mut has_default = false;
                for option in options {
                    for value in &option.values {
                        self.value(value);
                        self.later(value);
                        if matches!(value.kind, ExprKind::Default) {
                            if has_default {
                                self.duplicate_default(expr, value);
                            }
                            has_default = true;
                        }
                    }
                    self.statements(&option.body, Holder::Block);
                }
            }
            ExprKind::Resource { form, type_name, bodies } => {
                if *form != ResourceForm::Regular
                    && matches!(type_name.kind, ExprKind::Name(name) if &*name == "class")
                {
                    self.report_expr(expr, "Classes are not virtualizable");
                }
                self.later(type_name);
                for body in bodies {
                    self.later(&body.title);
                    self.attributes(&body.attributes, Some("a Resource Instance Definition"));
                    let splats =
                        body.attributes.iter().filter(|one| matches!(one.kind, AttributeKind::Splat(_)));
                    for second in splats.skip(1) {
                        let message =
                            "Unfolding of attributes from Hash can only be used once per resource body";
                        self.report(second.range, message);
                    }
                }
            }
            ExprKind::ResourceDefaults { form, type_name, attributes } => {
                self.not_virtual(expr, *form);
                self.later(type_name);
                self.attributes(attributes, Some("a Resource Defaults Expression"));
            }
            ExprKind::ResourceOverride { form, target, attributes } => {
                self.not_virtual(expr, *form);
                self.later(target);
                self.attributes(attributes, None);
            }
            ExprKind::Collector { type_name, query, attributes, .. } => {
                if !matches!(type_name.kind, ExprKind::TypeName(_)) {
                    let message = format!(
                        "Illegal expression. {} is unacceptable as type name in {}",
                        a_an_uppercase(&label(type_name)),
                        a_an(&label(expr))
                    );
                    self.report_expr(type_name, message);
                }
                self.later(type_name);
                if let Some(query) = query {
                    self.query(query);
                    self.later(query);
                }
                self.attributes(attributes, None);
            }
            ExprKind::Relationship { left, right, .. } => {
                for side in [left, right] {
                    if !matches!(side.kind, ExprKind::Collector { .. } | ExprKind::Relationship { .. }) {
                        self.value(side);
                    }
                    self.later(side);
                }
            }
            ExprKind::Class(class) => self.class(expr, class, holder),
            ExprKind::Define(define) => self.define(expr, define, holder),
            ExprKind::Node(node) => self.node(expr, node, holder),
            ExprKind::Function(function) => self.function(expr, function, holder),
            ExprKind::TypeAlias(alias) => self.type_alias(expr, alias, holder),
            ExprKind::Lambda(lambda) => self.lambda(Some(lambda)),
            ExprKind::Epp { parameters, body } => {
                self.template(parameters.as_deref().unwrap_or_default(), body);
            }
        }
    }

    /// `no_append` names what may not use `+>`.
    fn attributes(&mut self, attributes: &'t [Attribute], no_append: Option<&str>) {
        for attribute in attributes {
            let value = match &attribute.kind {
                AttributeKind::Set { value, .. } | AttributeKind::Splat(value) => value,
                AttributeKind::Append { name, value, .. } => {
                    if let Some(container) = no_append {
                        let message = format!(
                            "Illegal +> operation on attribute {name}. This operator can not be used in {container}"
                        );
                        self.report(attribute.range, message);
                        self.help("`+>` adds to a value that is set elsewhere: use it in an override or a collector.");
                    }
                    value
                }
            };
            self.value(value);
            self.later(value);
        }
    }

    fn not_virtual(&mut self, expr: &Expr, form: ResourceForm) {
        if form != ResourceForm::Regular {
            self.report_expr(expr, "Resource Defaults are not virtualizable");
        }
    }

    fn lambda(&mut self, lambda: Option<&'t Lambda>) {
        let Some(lambda) = lambda else { return };
        self.captures_rest_last(&lambda.parameters);
        self.parameters(&lambda.parameters);
        if let Some(return_type) = &lambda.return_type {
            self.later(return_type);
        }
        self.statements(&lambda.body, Holder::Block);
    }

    fn hash(&mut self, pairs: &'t [(Expr, Expr)]) {
        let mut seen = FxHashSet::default();
        for (key, value) in pairs {
            self.value(key);
            self.value(value);
            self.all_later([key, value]);
            if pairs.len() > 1
                && let Some(literal) = literal::literal(key)
                && !seen.insert(literal.clone())
            {
                let start = next_token(self.text, key.range.end);
                let message = format!("The key '{literal}' is declared more than once");
                let place = Range { start, end: value.range.end.max(start) };
                self.report_as(Rule::DuplicateKey, place, message);
            }
        }
    }

    fn duplicate_default(&mut self, container: &Expr, value: &Expr) {
        let message =
            format!("This {} already has a 'default' entry - this is a duplicate", label(container));
        self.report_expr(value, message);
    }

    fn function_name(&mut self, call: &Expr, function: &Expr) {
        match &function.kind {
            ExprKind::Name(_) | ExprKind::TypeName(_) | ExprKind::Error => {}
            ExprKind::Access { target, .. } if matches!(target.kind, ExprKind::TypeName(_)) => {}
            ExprKind::RenderText(_) => self.report_expr(
                call,
                "Ambiguous EPP parameter expression. Probably missing '<%-' before parameters to remove leading whitespace",
            ),
            _ => {
                let message = format!(
                    "Illegal expression. {} is unacceptable as function name in a Function Call",
                    a_an_uppercase(&label(function))
                );
                self.report_expr(function, message);
            }
        }
    }

    /// Queries compare attributes with values, and join such comparisons.
    fn query(&mut self, query: &Expr) {
        let mut parts = vec![query];
        while let Some(part) = parts.pop() {
            match &part.kind {
                ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right, .. } => {
                    parts.extend([&**left, right]);
                }
                ExprKind::Paren(inner) => parts.push(inner),
                ExprKind::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, .. }
                | ExprKind::Variable(_)
                | ExprKind::Name(_)
                | ExprKind::Integer { .. }
                | ExprKind::Float(_)
                | ExprKind::String(_)
                | ExprKind::Bool(_)
                | ExprKind::Error => {}
                _ => {
                    let message = format!(
                        "Illegal query expression. {} cannot be used in a query",
                        a_an_uppercase(&label(part))
                    );
                    self.report_expr(part, message);
                    self.help("A query compares attributes with `==` and `!=`, joined by `and` and `or`.");
                }
            }
        }
    }
}
