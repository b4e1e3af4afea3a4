//! How far a statement reaches, in each language.

use setpoint_puppet_syntax::ast::{Expr, ExprKind, Parameter};
use setpoint_puppet_syntax::{everywhere, parse};
use setpoint_source::{FileId, Range};

use crate::comments::{Scope, Syntax};

/// Returns the first statement after a place, with its body.
pub(crate) fn next_statement(syntax: Syntax, id: FileId, text: &str, from: usize) -> Option<Range> {
    match syntax {
        Syntax::Puppet => next_in_puppet(id, text, from),
        Syntax::Yaml => next_by_indentation(text, from),
        Syntax::Template => next_line(text, from),
        Syntax::Slashes | Syntax::Hash => next_by_brackets(text, from),
    }
}

/// Of all that begins after the place the first, and of these the longest: a statement rather than its first word.
fn next_in_puppet(id: FileId, text: &str, from: usize) -> Option<Range> {
    let parsed = parse(id, text);
    let mut best: Option<Range> = None;
    let mut offer = |range: Range| {
        let is_better = best.is_none_or(|best| {
            (range.start, std::cmp::Reverse(range.end)) < (best.start, std::cmp::Reverse(best.end))
        });
        if range.start as usize >= from && range.end > range.start && is_better {
            best = Some(range);
        }
    };
    everywhere(&parsed.program.body, &mut |expr| {
        for range in ranges(expr) {
            offer(range);
        }
    });
    best
}

/// The ranges of an expression, and of its parts that are no expressions.
fn ranges(expr: &Expr) -> Vec<Range> {
    let mut found = vec![expr.range];
    let parameters =
        |parameters: &[Parameter]| -> Vec<Range> { parameters.iter().map(|one| one.range).collect() };
    match &expr.kind {
        ExprKind::Class(class) => {
            found.push(class.range);
            found.extend(parameters(&class.parameters));
        }
        ExprKind::Define(define) => {
            found.push(define.range);
            found.extend(parameters(&define.parameters));
        }
        ExprKind::Function(function) => found.push(function.range),
        ExprKind::Node(node) => found.push(node.range),
        ExprKind::Resource { bodies, .. } => {
            for body in bodies {
                found.push(body.range);
                found.extend(body.attributes.iter().map(|attribute| attribute.range));
            }
        }
        _ => {}
    }
    found
}

/// The strings, heredocs and regular expressions of a manifest.
pub(crate) fn quoted_in_puppet(id: FileId, text: &str) -> Vec<Range> {
    let parsed = parse(id, text);
    let mut found = Vec::new();
    everywhere(&parsed.program.body, &mut |expr| match &expr.kind {
        ExprKind::String(_) | ExprKind::Interpolation(_) | ExprKind::Regex(_) => found.push(expr.range),
        ExprKind::Heredoc { text, .. } => found.push(text.range),
        _ => {}
    });
    found
}

/// A piece of a manifest that is entered as a whole.
pub(crate) struct Definition {
    pub(crate) range: Range,
    /// The name of a class or define. Nodes and functions are known by their lines.
    pub(crate) name: Option<String>,
}

/// The definitions that a comment is in or about; for a whole file, all that are in it.
pub(crate) fn definitions_around(id: FileId, text: &str, scope: &Scope) -> Vec<Definition> {
    let parsed = parse(id, text);
    let mut found: Vec<Definition> = Vec::new();
    let mut add = |range: Range, name: Option<&str>| {
        found.push(Definition { range, name: name.map(str::to_lowercase) });
    };
    everywhere(&parsed.program.body, &mut |expr| match &expr.kind {
        ExprKind::Class(class) => add(class.range, Some(class.name.as_str())),
        ExprKind::Define(define) => add(define.range, Some(define.name.as_str())),
        ExprKind::Node(node) => add(node.range, None),
        ExprKind::Function(function) => add(function.range, None),
        _ => {}
    });
    match scope {
        Scope::File | Scope::TooLate | Scope::Nothing => found,
        Scope::Code(code) => {
            let holds = |one: &Definition| one.range.start <= code.start && code.end <= one.range.end;
            let inner = found.into_iter().filter(holds);
            inner.min_by_key(|one| one.range.end - one.range.start).into_iter().collect()
        }
    }
}

/// The next line with something on it, and all below that is indented further.
fn next_by_indentation(text: &str, from: usize) -> Option<Range> {
    let mut found: Option<(Range, usize, bool)> = None;
    let mut at = text[from..].find('\n').map_or(text.len(), |line| from + line + 1);
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let is_item = content.starts_with("- ") || content == "-";
        match &mut found {
            None => found = Some((Range::new(start, start + line.trim_end().len()), indent, is_item)),
            // A list may stand at the indentation of its key.
            Some((range, first, is_list))
                if indent > *first || (indent == *first && is_item && !*is_list) =>
            {
                range.end = (start + line.trim_end().len()) as u32;
            }
            Some(_) => break,
        }
    }
    found.map(|(range, ..)| range)
}

fn next_line(text: &str, from: usize) -> Option<Range> {
    let mut at = text[from..].find('\n').map_or(text.len(), |line| from + line + 1);
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        if !line.trim().is_empty() {
            return Some(Range::new(start, start + line.trim_end().len()));
        }
    }
    None
}

/// To the `;`, or to the bracket that closes what the statement opens.
fn next_by_brackets(text: &str, from: usize) -> Option<Range> {
    let closed = text[from..].find('\n').map_or(text.len(), |line| from + line + 1);
    let start = closed + text[closed..].find(|char: char| !char.is_whitespace())?;
    let mut depth = 0usize;
    for (at, char) in text[start..].char_indices() {
        let end = start + at + char.len_utf8();
        match char {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && char == '}' {
                    return Some(Range::new(start, end));
                }
            }
            ';' if depth == 0 => return Some(Range::new(start, end)),
            _ => {}
        }
    }
    Some(Range::new(start, text.len()))
}
