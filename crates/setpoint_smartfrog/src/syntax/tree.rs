//! The tree of a specification as JSON.

use serde_json::{Value as Json, json};
use setpoint_source::{Sources, Span, Symbol};

use super::ast::{Assignment, Body, Expression, ExpressionKind, Prototype, Reference, Value};
use crate::output;

/// The assignments of a body in their order, each with its place, and those of what it includes.
pub fn tree(body: &Body, sources: &Sources) -> Json {
    let assignments: Vec<Json> = body.assignments.iter().map(|one| assignment(one, sources)).collect();
    let mut json = json!({"kind": "body", "assignments": assignments});
    if !body.orders.is_empty() {
        let orders = body.orders.iter().map(|one| json!([one.before.as_str(), one.after.as_str()]));
        json["orders"] = orders.collect::<Vec<_>>().into();
    }
    json
}

fn names(symbols: &[Symbol]) -> Vec<&str> {
    symbols.iter().map(|name| name.as_str()).collect()
}

fn place(span: Span, sources: &Sources) -> Json {
    let file = sources.file(span.file);
    let position = file.position(span.range.start);
    json!({"path": file.path(), "line": position.line, "column": position.column})
}

fn assignment(assignment: &Assignment, sources: &Sources) -> Json {
    let value = match &assignment.value {
        Value::Expression(value) => expression(value, sources),
        Value::Component(component) => {
            let prototypes = component.prototypes.iter().map(|prototype| match prototype {
                Prototype::Reference(reference) => reference_json(reference, sources),
                Prototype::Body(body, _) => tree(body, sources),
            });
            json!({"kind": "component", "data": component.data, "prototypes": prototypes.collect::<Vec<_>>(),
                "place": place(component.span, sources)})
        }
    };
    let mut json = json!({"kind": "assignment", "target": names(&assignment.target), "value": value,
        "place": place(assignment.span, sources)});
    if !assignment.tags.is_empty() {
        json["tags"] = names(&assignment.tags).into();
    }
    json
}

fn reference_json(reference: &Reference, sources: &Sources) -> Json {
    json!({"kind": "reference", "reference": output::reference(&reference.parts), "place": place(reference.span, sources)})
}

fn expression(value: &Expression, sources: &Sources) -> Json {
    let all = |inner: &[Expression]| inner.iter().map(|one| expression(one, sources)).collect::<Vec<_>>();
    let mut json = match &value.kind {
        ExpressionKind::Null => json!({"kind": "null"}),
        ExpressionKind::Boolean(value) => json!({"kind": "boolean", "value": value}),
        ExpressionKind::Number(number) => {
            let text = output::sf_value(&crate::store::Value::Number(number.clone()));
            json!({"kind": "number", "value": text})
        }
        ExpressionKind::String(text) => json!({"kind": "string", "value": &**text}),
        ExpressionKind::Bytes(digits) => json!({"kind": "bytes", "value": &**digits}),
        ExpressionKind::ToBeDefined => json!({"kind": "to-be-defined"}),
        ExpressionKind::Variable(details) => json!({"kind": "variable", "details": all(details)}),
        ExpressionKind::Reference { reference, lazy, data, optional } => {
            let mut json = reference_json(reference, sources);
            json["kind"] = if *data { "data-reference" } else { "link" }.into();
            json["lazy"] = (*lazy).into();
            if let Some(default) = optional {
                json["optional"] = expression(default, sources);
            }
            json
        }
        ExpressionKind::Vector { elements, literal } => {
            json!({"kind": "vector", "literal": literal, "elements": all(elements)})
        }
        ExpressionKind::Operation { operator, operands } => {
            json!({"kind": "operation", "operator": operator.as_str(), "operands": all(operands)})
        }
        ExpressionKind::If { condition, then, otherwise } => json!({
            "kind": "if", "condition": expression(condition, sources), "then": expression(then, sources),
            "else": expression(otherwise, sources)}),
        ExpressionKind::Switch(cases) => {
            let cases = cases.iter().map(|(condition, then)| {
                json!({"condition": expression(condition, sources), "then": expression(then, sources)})
            });
            json!({"kind": "switch", "cases": cases.collect::<Vec<_>>()})
        }
        ExpressionKind::Apply { body, lazy, data } => {
            json!({"kind": "apply", "lazy": lazy, "data": data, "body": tree(body, sources)})
        }
        ExpressionKind::Assert { body, lazy, data } => {
            json!({"kind": "assert", "lazy": lazy, "data": data, "body": tree(body, sources)})
        }
    };
    json["place"] = place(value.span, sources);
    json
}
