//! A tree as text: one line for each statement, in brackets. Tests compare it with what Puppet parsed.

use std::fmt::Write as _;

use crate::ast::{
    ArrowOp, AssignOp, Attribute, AttributeKind, BinaryOp, Block, CollectorForm, Expr, ExprKind, HostMatch,
    Lambda, Parameter, Program, Radix, ResourceForm, StringPart,
};
use crate::place::puppet_start;

/// Writes the tree of a program.
pub fn dump(program: &Program) -> String {
    Dumper { out: String::new(), text: None }.program(program)
}

/// Writes the tree with, before each expression, the offset that Puppet gives for it.
pub fn dump_with_places(program: &Program, text: &str) -> String {
    Dumper { out: String::new(), text: Some(text) }.program(program)
}

struct Dumper<'a> {
    out: String,
    text: Option<&'a str>,
}

impl Dumper<'_> {
    fn program(mut self, program: &Program) -> String {
        for expr in &program.body {
            self.expr(expr);
            self.out.push('\n');
        }
        self.out
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// `(head …)`
    fn list(&mut self, head: &str, items: impl FnOnce(&mut Self)) {
        self.put("(");
        self.put(head);
        items(self);
        self.put(")");
    }

    fn spaced(&mut self, expr: &Expr) {
        self.put(" ");
        self.expr(expr);
    }

    fn each(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.spaced(expr);
        }
    }

    fn string(&mut self, text: &str) {
        self.put("\"");
        for char in text.chars() {
            match char {
                '"' => self.put("\\\""),
                '\\' => self.put("\\\\"),
                '\n' => self.put("\\n"),
                '\r' => self.put("\\r"),
                '\t' => self.put("\\t"),
                other => self.out.push(other),
            }
        }
        self.put("\"");
    }

    fn block(&mut self, head: &str, block: &Block) {
        self.put(" ");
        self.list(head, |this| this.each(block));
    }

    fn form(&mut self, form: ResourceForm) {
        match form {
            ResourceForm::Regular => {}
            ResourceForm::Virtual => self.put(" virtual"),
            ResourceForm::Exported => self.put(" exported"),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Some(text) = self.text {
            let _ = write!(self.out, "{}@", puppet_start(text, expr));
        }
        self.kind(expr);
    }

    fn kind(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Error => self.put("(error)"),
            ExprKind::Nop => self.put("(nop)"),
            ExprKind::Undef => self.put("undef"),
            ExprKind::Default => self.put("default"),
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Integer { value, radix } => {
                let suffix = match radix {
                    Radix::Decimal => "",
                    Radix::Octal => "r8",
                    Radix::Hexadecimal => "r16",
                };
                let _ = write!(self.out, "{value}{suffix}");
            }
            ExprKind::Float(value) => {
                let _ = write!(self.out, "(float {value:e})");
            }
            ExprKind::String(text) => self.string(text),
            ExprKind::Interpolation(parts) => self.list("cat", |this| {
                for part in parts {
                    this.put(" ");
                    match part {
                        StringPart::Text(text) => this.string(text),
                        StringPart::Expr(expr) => this.list("str", |this| this.spaced(expr)),
                    }
                }
            }),
            ExprKind::Heredoc { syntax, text } => self.list("heredoc", |this| {
                if let Some(syntax) = syntax {
                    this.put(" ");
                    this.put(syntax);
                }
                this.spaced(text);
            }),
            ExprKind::Regex(source) => self.list("regex ", |this| this.string(source)),
            ExprKind::Name(name) => self.list("name ", |this| this.put(name)),
            ExprKind::TypeName(name) => self.list("type ", |this| this.put(name)),
            ExprKind::Variable(name) => {
                self.put("$");
                self.put(name);
            }
            ExprKind::Array(items) => self.list("array", |this| this.each(items)),
            ExprKind::Hash(pairs) => self.list("hash", |this| {
                for (key, value) in pairs {
                    this.put(" (");
                    this.expr(key);
                    this.spaced(value);
                    this.put(")");
                }
            }),
            ExprKind::Paren(inner) => self.list("paren", |this| this.spaced(inner)),
            ExprKind::Not(inner) => self.list("!", |this| this.spaced(inner)),
            ExprKind::Negate(inner) => self.list("neg", |this| this.spaced(inner)),
            ExprKind::Splat(inner) => self.list("splat", |this| this.spaced(inner)),
            ExprKind::Binary { op, left, right, .. } => self.list(binary_sign(*op), |this| {
                this.spaced(left);
                this.spaced(right);
            }),
            ExprKind::Assign { op, target, value } => self.list(assign_sign(*op), |this| {
                this.spaced(target);
                this.spaced(value);
            }),
            ExprKind::Access { target, keys } => self.list("access", |this| {
                this.spaced(target);
                this.each(keys);
            }),
            ExprKind::Selector { subject, cases } => self.list("?", |this| {
                this.spaced(subject);
                for case in cases {
                    this.put(" (");
                    this.expr(&case.matches);
                    this.spaced(&case.value);
                    this.put(")");
                }
            }),
            ExprKind::Call(call) => self.list(if call.statement { "invoke" } else { "call" }, |this| {
                this.spaced(&call.function);
                this.each(&call.arguments);
                this.lambda_argument(call.lambda.as_deref());
            }),
            ExprKind::MethodCall(call) => self.list("method", |this| {
                this.spaced(&call.receiver);
                this.put(" ");
                this.put(&call.name);
                this.each(&call.arguments);
                this.lambda_argument(call.lambda.as_deref());
            }),
            ExprKind::If { test, then, otherwise } => self.condition("if", test, then, otherwise),
            ExprKind::Unless { test, then, otherwise } => self.condition("unless", test, then, otherwise),
            ExprKind::Case { subject, options } => self.list("case", |this| {
                this.spaced(subject);
                for option in options {
                    this.put(" ((");
                    for (index, value) in option.values.iter().enumerate() {
                        this.put(if index == 0 { "" } else { " " });
                        this.expr(value);
                    }
                    this.put(")");
                    this.each(&option.body);
                    this.put(")");
                }
            }),
            ExprKind::Resource { form, type_name, bodies } => self.list("resource", |this| {
                this.form(*form);
                this.spaced(type_name);
                for body in bodies {
                    this.put(" (");
                    this.expr(&body.title);
                    this.attributes(&body.attributes);
                    this.put(")");
                }
            }),
            ExprKind::ResourceDefaults { form, type_name, attributes } => self.list("defaults", |this| {
                this.form(*form);
                this.spaced(type_name);
                this.attributes(attributes);
            }),
            ExprKind::ResourceOverride { form, target, attributes } => self.list("override", |this| {
                this.form(*form);
                this.spaced(target);
                this.attributes(attributes);
            }),
            ExprKind::Collector { form, type_name, query, attributes } => self.list("collect", |this| {
                this.put(match form {
                    CollectorForm::Virtual => "",
                    CollectorForm::Exported => " exported",
                });
                this.spaced(type_name);
                if let Some(query) = query {
                    this.put(" ");
                    this.list("query", |this| this.spaced(query));
                }
                this.attributes(attributes);
            }),
            ExprKind::Relationship { op, left, right, .. } => self.list(arrow_sign(*op), |this| {
                this.spaced(left);
                this.spaced(right);
            }),
            ExprKind::Class(class) => self.list("class ", |this| {
                this.put(&class.name);
                this.parameters(&class.parameters);
                if let Some((parent, _)) = class.parent {
                    this.put(" ");
                    this.list("inherits ", |this| this.put(&parent));
                }
                this.block("do", &class.body);
            }),
            ExprKind::Define(define) => self.list("define ", |this| {
                this.put(&define.name);
                this.parameters(&define.parameters);
                this.block("do", &define.body);
            }),
            ExprKind::Node(node) => self.list("node", |this| {
                for host in &node.matches {
                    this.put(" ");
                    this.host(host);
                }
                if let Some((parent, _)) = &node.parent {
                    this.put(" ");
                    this.list("inherits ", |this| this.host(parent));
                }
                this.block("do", &node.body);
            }),
            ExprKind::Function(function) => self.list("function ", |this| {
                this.put(&function.name);
                this.parameters(&function.parameters);
                this.returns(function.return_type.as_ref());
                this.block("do", &function.body);
            }),
            ExprKind::TypeAlias(alias) => self.list("alias ", |this| {
                this.put(&alias.name);
                this.put(" ");
                // Puppet gives the parameters of an aliased type no place of their own.
                match alias.value.kind {
                    ExprKind::Access { .. } => this.kind(&alias.value),
                    _ => this.expr(&alias.value),
                }
            }),
            ExprKind::TypeMapping => self.list("unsupported ", |this| this.string("A type mapping")),
            ExprKind::Unsupported { what } => self.list("unsupported ", |this| this.string(what)),
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::Epp { parameters, body } => self.list("epp", |this| {
                if let Some(parameters) = parameters {
                    this.put(" ");
                    this.list("given", |this| this.parameters(parameters));
                }
                this.block("do", body);
            }),
            ExprKind::RenderText(text) => self.list("text ", |this| this.string(text)),
            ExprKind::RenderExpr(inner) => self.list("render", |this| this.spaced(inner)),
        }
    }

    fn condition(&mut self, head: &str, test: &Expr, then: &Block, otherwise: &Block) {
        self.list(head, |this| {
            this.spaced(test);
            this.block("then", then);
            if !otherwise.is_empty() {
                this.block("else", otherwise);
            }
        });
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let (sign, name, value) = match &attribute.kind {
                AttributeKind::Set { name, value, .. } => ("=> ", name.as_str(), value),
                AttributeKind::Append { name, value, .. } => ("+> ", name.as_str(), value),
                AttributeKind::Splat(value) => ("*", "", value),
            };
            self.put(" ");
            self.list(sign, |this| {
                this.put(name);
                this.spaced(value);
            });
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            self.put(" ");
            self.list(if parameter.captures_rest { "rest $" } else { "param $" }, |this| {
                this.put(&parameter.name);
                if let Some(type_expr) = &parameter.type_expr {
                    this.put(" :");
                    this.spaced(type_expr);
                }
                if let Some(default) = &parameter.default {
                    this.put(" =");
                    this.spaced(default);
                }
            });
        }
    }

    fn returns(&mut self, return_type: Option<&Expr>) {
        if let Some(return_type) = return_type {
            self.put(" ");
            self.list(">>", |this| this.spaced(return_type));
        }
    }

    fn lambda_argument(&mut self, lambda: Option<&Lambda>) {
        if let Some(lambda) = lambda {
            self.put(" ");
            self.lambda(lambda);
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.list("lambda", |this| {
            this.parameters(&lambda.parameters);
            this.returns(lambda.return_type.as_ref());
            this.block("do", &lambda.body);
        });
    }

    fn host(&mut self, host: &HostMatch) {
        match host {
            HostMatch::Name(name) => self.string(name),
            HostMatch::Regex(source) => self.list("regex ", |this| this.string(source)),
            HostMatch::Default => self.put("default"),
        }
    }
}

pub(crate) fn binary_sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Match => "=~",
        BinaryOp::NoMatch => "!~",
        BinaryOp::In => "in",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}

pub(crate) fn assign_sign(op: AssignOp) -> &'static str {
    match op {
        AssignOp::Set => "=",
        AssignOp::Append => "+=",
        AssignOp::Remove => "-=",
    }
}

pub(crate) fn arrow_sign(op: ArrowOp) -> &'static str {
    match op {
        ArrowOp::Before => "->",
        ArrowOp::Notify => "~>",
        ArrowOp::After => "<-",
        ArrowOp::NotifiedBy => "<~",
    }
}
