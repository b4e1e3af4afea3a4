//! The tree of a manifest as JSON: kinds, places and the text of what has no parts.

use std::fmt::{self, Write};

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
    let mut kind = FirstWord(String::new());
    // The error is how the word says that it is whole.
    let _ = write!(kind, "{:?}", expr.kind);
    let position = file.position(expr.range.start);
    let mut inner = Vec::new();
    children(expr, &mut |child| inner.push(expression(child, file)));
    let mut json = json!({"kind": kind.0, "line": position.line, "column": position.column});
    if inner.is_empty() {
        json["text"] = file.slice(expr.range).into();
    } else {
        json["children"] = inner.into();
    }
    json
}

/// The name of a variant, without what is in it: that may be a large tree.
struct FirstWord(String);

impl Write for FirstWord {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.find(|c: char| !c.is_alphanumeric());
        self.0.push_str(&text[..end.unwrap_or(text.len())]);
        if end.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}
