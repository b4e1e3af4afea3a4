//! The expressions directly inside an expression.

use crate::ast::{Attribute, AttributeKind, Expr, ExprKind, StringPart};

/// Calls a function for each expression directly inside another, in the order of the text. Lambdas and the bodies of
/// definitions are scopes of their own and are left out.
pub fn children<'t>(expr: &'t Expr, each: &mut dyn FnMut(&'t Expr)) {
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
        | ExprKind::Variable(_)
        | ExprKind::TypeMapping
        | ExprKind::Unsupported { .. }
        | ExprKind::RenderText(_)
        | ExprKind::Lambda(_)
        | ExprKind::Class(_)
        | ExprKind::Define(_)
        | ExprKind::Node(_)
        | ExprKind::Function(_)
        | ExprKind::TypeAlias(_)
        | ExprKind::Epp { .. } => {}
        ExprKind::Interpolation(parts) => {
            for part in parts {
                if let StringPart::Expr(inner) = part {
                    each(inner);
                }
            }
        }
        ExprKind::Heredoc { text: inner, .. }
        | ExprKind::Paren(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Splat(inner)
        | ExprKind::RenderExpr(inner) => each(inner),
        ExprKind::Array(items) => items.iter().for_each(each),
        ExprKind::Hash(pairs) => {
            for (key, value) in pairs {
                each(key);
                each(value);
            }
        }
        ExprKind::Binary { left, right, .. } | ExprKind::Relationship { left, right, .. } => {
            each(left);
            each(right);
        }
        ExprKind::Assign { target, value, .. } => {
            each(target);
            each(value);
        }
        ExprKind::Access { target, keys } => {
            each(target);
            keys.iter().for_each(each);
        }
        ExprKind::Selector { subject, cases } => {
            each(subject);
            for case in cases {
                each(&case.matches);
                each(&case.value);
            }
        }
        ExprKind::Call(call) => {
            each(&call.function);
            call.arguments.iter().for_each(each);
        }
        ExprKind::MethodCall(call) => {
            each(&call.receiver);
            call.arguments.iter().for_each(each);
        }
        ExprKind::If { test, then, otherwise } | ExprKind::Unless { test, then, otherwise } => {
            each(test);
            then.iter().chain(otherwise).for_each(each);
        }
        ExprKind::Case { subject, options } => {
            each(subject);
            for option in options {
                option.values.iter().chain(&option.body).for_each(&mut *each);
            }
        }
        ExprKind::Resource { type_name, bodies, .. } => {
            each(type_name);
            for body in bodies {
                each(&body.title);
                attribute_values(&body.attributes, each);
            }
        }
        ExprKind::ResourceDefaults { type_name: head, attributes, .. }
        | ExprKind::ResourceOverride { target: head, attributes, .. } => {
            each(head);
            attribute_values(attributes, each);
        }
        ExprKind::Collector { type_name, query, attributes, .. } => {
            each(type_name);
            if let Some(query) = query {
                each(query);
            }
            attribute_values(attributes, each);
        }
    }
}

/// Calls a function for each expression of a block and all that is inside it, lambdas and the bodies of definitions
/// included, the outer ones first.
pub fn everywhere<'t>(block: &'t [Expr], each: &mut dyn FnMut(&'t Expr)) {
    let mut work: Vec<&'t Expr> = block.iter().rev().collect();
    while let Some(expr) = work.pop() {
        each(expr);
        let mut inside: Vec<&'t Expr> = Vec::new();
        children(expr, &mut |child| inside.push(child));
        inside.extend(inner_block(expr));
        work.extend(inside.into_iter().rev());
    }
}

/// The block that an expression holds as a scope of its own.
fn inner_block(expr: &Expr) -> &[Expr] {
    match &expr.kind {
        ExprKind::Class(class) => &class.body,
        ExprKind::Define(define) => &define.body,
        ExprKind::Node(node) => &node.body,
        ExprKind::Function(function) => &function.body,
        ExprKind::Lambda(lambda) => &lambda.body,
        ExprKind::Epp { body, .. } => body,
        ExprKind::Call(call) => call.lambda.as_ref().map_or(&[], |lambda| &lambda.body),
        ExprKind::MethodCall(call) => call.lambda.as_ref().map_or(&[], |lambda| &lambda.body),
        _ => &[],
    }
}

fn attribute_values<'t>(attributes: &'t [Attribute], each: &mut dyn FnMut(&'t Expr)) {
    for attribute in attributes {
        match &attribute.kind {
            AttributeKind::Set { value, .. }
            | AttributeKind::Append { value, .. }
            | AttributeKind::Splat(value) => {
                each(value);
            }
        }
    }
}
