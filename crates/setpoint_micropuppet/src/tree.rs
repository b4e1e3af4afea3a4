//! The tree of a manifest as JSON: kinds, places and the text of what has no parts.

use serde_json::{Value as Json, json};
use setpoint_puppet_syntax::ast::{Expr, Program};
use setpoint_puppet_syntax::children;
use setpoint_source::Sources;

pub fn tree(program: &Program, sources: &Sources) -> Json {
    let file = sources.file(program.file);
    let statements: Vec<Json> = program.body.iter().map(|expr| expression(expr, &file)).collect();
    json!({"kind": "Program", "children": statements})
}

fn expression(expr: &Expr, file: &setpoint_source::SourceFile) -> Json {
    let name = format!("{:?}", expr.kind);
    let kind = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
    let position = file.position(expr.range.start);
    let mut inner = Vec::new();
    children(expr, &mut |child| inner.push(expression(child, file)));
    let mut json = json!({"kind": kind, "line": position.line, "column": position.column});
    if inner.is_empty() {
        json["text"] = file.slice(expr.range).into();
    } else {
        json["children"] = inner.into();
    }
    json
}
