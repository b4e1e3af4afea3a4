//! What an editor asks about a SmartFrog specification.

use std::path::Path;

use setpoint_lsp::{At, Hover, Symbol, SymbolKind, Target};
use setpoint_project::Session;
use setpoint_smartfrog::syntax::{Body, Parsed, Prototype, Value as SfValue};
use setpoint_smartfrog::{Options, compile_text, syntax, why};
use setpoint_source::{FileId, Range};

use crate::smartfrog_scope::find_definition;

pub(crate) fn symbols(session: &Session<'_>, path: &Path) -> Vec<Symbol> {
    let Ok(text) = session.read(path) else { return Vec::new() };
    let (parsed, _) = syntax::parse_in_either(path, &text, session.files, &session.sources, &[]);
    let Some(end) = parsed.end else { return Vec::new() };
    symbols_of(&parsed.body, end.file)
}

/// Over the name of an attribute: what `why` says of it.
pub(crate) fn hover(session: &Session<'_>, at: &At<'_>, options: &Options) -> Option<Hover> {
    let text = session.read(at.path).ok()?;
    let parsed = parse(session, at.path, &text, options);
    let (target, range) = attribute_at(&parsed.body, parsed.end?.file, at.offset)?;
    let options = Options { provenance: true, ..options.clone() };
    let compiled = compile_text(at.path, text, session.files, &session.sources, &options);
    let answer = why::why(&compiled, &target).ok()?.text(&compiled, &session.sources);
    let folder = at.path.parent().unwrap_or(at.path);
    let answer = answer.replace(&format!("{}/", folder.display()), "");
    Some(Hover { range, markdown: format!("```text\n{}\n```", answer.trim_end()) })
}

/// At a part of a reference: the attribute that it leads to. At an include: the file.
pub(crate) fn definition(session: &Session<'_>, at: &At<'_>, options: &Options) -> Option<Target> {
    let text = session.read(at.path).ok()?;
    if let Some(name) = include_at(&text, at.offset as usize) {
        let folder = at.path.parent().unwrap_or(Path::new("")).to_owned();
        let below = if options.classpath.is_empty() { vec![folder] } else { options.classpath.clone() };
        let name = if options.classpath.is_empty() { name } else { name.trim_start_matches('/') };
        let path = below.iter().map(|folder| folder.join(name)).find(|path| session.files.is_file(path))?;
        return Some(Target { path, range: Range::default() });
    }
    let parsed = parse(session, at.path, &text, options);
    let span = find_definition(&parsed.body, &text, parsed.end?.file, at.offset)?;
    let path = Path::new(session.sources.file(span.file).path()).to_owned();
    // What is built in is no file that an editor could open.
    session.files.is_file(&path).then_some(Target { path, range: span.range })
}

fn parse(session: &Session<'_>, path: &Path, text: &str, options: &Options) -> Parsed {
    syntax::parse_in_either(path, text, session.files, &session.sources, &options.classpath).0
}

/// The name in quotes of the include on the line of an offset.
fn include_at(text: &str, offset: usize) -> Option<&str> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?.trim_start();
    line.strip_prefix("#include")?.split('"').nth(1)
}

/// The attributes that a file itself has, and not one that it includes.
fn symbols_of(body: &Body, file: FileId) -> Vec<Symbol> {
    let own = body.assignments.iter().filter(|one| one.span.file == file);
    own.map(|one| {
        let (range, children) = match &one.value {
            SfValue::Component(component) => {
                let bodies = component.prototypes.iter().filter_map(body_of);
                (component.span.range, bodies.flat_map(|body| symbols_of(body, file)).collect())
            }
            SfValue::Expression(expression) => (expression.span.range, Vec::new()),
        };
        let is_component = matches!(one.value, SfValue::Component(_));
        Symbol {
            name: joined(&one.target),
            detail: if is_component { "component".to_owned() } else { "attribute".to_owned() },
            kind: if is_component { SymbolKind::Object } else { SymbolKind::Value },
            range: one.span.range.to(range),
            name_range: one.span.range,
            children,
        }
    })
    .collect()
}

fn body_of(prototype: &Prototype) -> Option<&Body> {
    match prototype {
        Prototype::Body(body, _) => Some(body),
        Prototype::Reference(_) => None,
    }
}

fn joined(names: &[setpoint_source::Symbol]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(":")
}

/// The attribute whose name stands at an offset, as `why` takes it, and the place of the name.
fn attribute_at(body: &Body, file: FileId, offset: u32) -> Option<(String, Range)> {
    let holds = |range: Range| range.start <= offset && offset <= range.end;
    body.assignments.iter().filter(|one| one.span.file == file).find_map(|one| {
        let name = joined(&one.target);
        if holds(one.span.range) {
            return Some((name, one.span.range));
        }
        let SfValue::Component(component) = &one.value else { return None };
        let mut bodies = component.prototypes.iter().filter_map(body_of);
        let (inner, range) = bodies.find_map(|body| attribute_at(body, file, offset))?;
        Some((format!("{name}:{inner}"), range))
    })
}
