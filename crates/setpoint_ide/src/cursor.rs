//! What stands at a place of a manifest.

use std::path::PathBuf;

use setpoint_lsp::{Symbol, SymbolKind};
use setpoint_puppet_syntax::ast::{
    Attribute, AttributeKind, Expr, ExprKind, Parameter, Program, ResourceBody,
};
use setpoint_puppet_syntax::{children, everywhere};
use setpoint_source::Range;

/// A thing that has a definition or an origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Thing {
    /// Without the `$`.
    Variable(String),
    Class(String),
    /// A type of resources, a defined type or a data type, in lower case.
    Type(String),
    Function(String),
    /// `File['/etc/motd']`: the type in lower case, and the title.
    Reference(String, String),
    /// A declaration: its type in lower case.
    Declaration(String, Range),
    /// An attribute of a declaration.
    Attribute {
        type_name: String,
        body: Option<Range>,
        name: String,
    },
    /// A file of a module: the folder of the module that it is in, and the name as functions take it.
    ModuleFile(&'static str, String),
}

/// Functions whose arguments are classes.
const OF_CLASSES: [&str; 3] = ["include", "contain", "require"];
/// Functions whose first argument is a file of a module, and the folder.
const OF_FILES: [(&str, &str); 3] = [("template", "templates"), ("epp", "templates"), ("file", "files")];

/// The thing at an offset, and its range.
pub(super) fn thing(program: &Program, offset: u32) -> Option<(Thing, Range)> {
    let mut around: Vec<&Expr> = Vec::new();
    everywhere(&program.body, &mut |expr| {
        if holds(expr.range, offset) {
            around.push(expr);
        }
    });
    // The types and defaults of parameters are no statements.
    let mut of_parameters: Vec<&Expr> = Vec::new();
    everywhere(&program.body, &mut |expr| {
        for parameter in parameters(expr) {
            of_parameters.extend(parameter.type_expr.iter().chain(&parameter.default));
        }
    });
    for expr in of_parameters {
        everywhere(std::slice::from_ref(expr), &mut |expr| {
            if holds(expr.range, offset) {
                around.push(expr);
            }
        });
    }
    for (at, expr) in around.iter().enumerate().rev() {
        if let Some(found) = of_expression(expr, &around[..at], offset) {
            return Some(found);
        }
    }
    None
}

fn holds(range: Range, offset: u32) -> bool {
    range.start <= offset && offset <= range.end
}

fn lower(name: &str) -> String {
    name.strip_prefix("::").unwrap_or(name).to_lowercase()
}

fn word(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::TypeName(name) => Some(name.as_str().to_owned()),
        ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn of_expression(expr: &Expr, around: &[&Expr], offset: u32) -> Option<(Thing, Range)> {
    match &expr.kind {
        ExprKind::Variable(name) => Some((Thing::Variable(name.as_str().to_owned()), expr.range)),
        ExprKind::TypeName(name) => Some((Thing::Type(lower(name.as_str())), expr.range)),
        ExprKind::Name(_) | ExprKind::String(_) => of_word(expr, around).map(|thing| (thing, expr.range)),
        ExprKind::MethodCall(call) if holds(call.name_range, offset) => {
            Some((Thing::Function(lower(call.name.as_str())), call.name_range))
        }
        ExprKind::Resource { type_name, bodies, .. } => {
            let type_name = lower(&word(type_name)?);
            let body = bodies.iter().find(|body| holds(body.range, offset))?;
            of_attributes(&body.attributes, &type_name, Some(body), offset)
                .or_else(|| Some((declaration(&type_name, body), body.title.range)))
        }
        ExprKind::ResourceDefaults { type_name, attributes, .. } => {
            of_attributes(attributes, &lower(&word(type_name)?), None, offset)
        }
        ExprKind::ResourceOverride { target, attributes, .. } => {
            let ExprKind::Access { target, .. } = &target.kind else { return None };
            of_attributes(attributes, &lower(&word(target)?), None, offset)
        }
        ExprKind::Class(class) if holds(class.name_range, offset) => {
            Some((Thing::Class(lower(class.name.as_str())), class.name_range))
        }
        ExprKind::Class(class) if class.parent.is_some_and(|(_, range)| holds(range, offset)) => {
            class.parent.map(|(name, range)| (Thing::Class(lower(name.as_str())), range))
        }
        ExprKind::Define(define) if holds(define.name_range, offset) => {
            Some((Thing::Type(lower(define.name.as_str())), define.name_range))
        }
        ExprKind::Function(function) if holds(function.name_range, offset) => {
            Some((Thing::Function(lower(function.name.as_str())), function.name_range))
        }
        _ => of_parameter(parameters(expr), offset),
    }
}

fn of_parameter(parameters: &[Parameter], offset: u32) -> Option<(Thing, Range)> {
    let parameter = parameters.iter().find(|parameter| holds(parameter.range, offset))?;
    Some((Thing::Variable(parameter.name.as_str().to_owned()), parameter.range))
}

fn declaration(type_name: &str, body: &ResourceBody) -> Thing {
    Thing::Declaration(type_name.to_owned(), body.range)
}

fn of_attributes(
    attributes: &[Attribute],
    type_name: &str,
    body: Option<&ResourceBody>,
    offset: u32,
) -> Option<(Thing, Range)> {
    let attribute = attributes.iter().find(|attribute| holds(attribute.range, offset))?;
    match &attribute.kind {
        AttributeKind::Set { name, .. } | AttributeKind::Append { name, .. } => {
            let (type_name, name) = (type_name.to_owned(), name.as_str().to_owned());
            let body = body.map(|body| body.range);
            Some((Thing::Attribute { type_name, body, name }, attribute.range))
        }
        AttributeKind::Splat(_) => None,
    }
}

/// A bare word or a string means what its surroundings make of it.
fn of_word(expr: &Expr, around: &[&Expr]) -> Option<Thing> {
    let text = word(expr)?;
    if let Some(rest) = text.strip_prefix("puppet:///modules/") {
        return Some(Thing::ModuleFile("files", rest.to_owned()));
    }
    // An array of titles or classes is as good as each of them.
    let mut outer = around.iter().rev().filter(|outer| !matches!(outer.kind, ExprKind::Array(_)));
    let is = |other: &Expr| std::ptr::eq(other, expr);
    let within = |other: &Expr| other.range.start <= expr.range.start && expr.range.end <= other.range.end;
    match &outer.next()?.kind {
        ExprKind::Call(call) => {
            let function = word(&call.function)?;
            if is(&call.function) {
                return Some(Thing::Function(lower(&function)));
            }
            let file = OF_FILES.iter().find(|(name, _)| *name == function);
            if OF_CLASSES.contains(&function.as_str()) {
                return Some(Thing::Class(lower(&text)));
            }
            file.map(|(_, folder)| Thing::ModuleFile(folder, text))
        }
        ExprKind::Access { target, .. } => match &target.kind {
            ExprKind::TypeName(name) if name.as_str() == "Class" => Some(Thing::Class(lower(&text))),
            ExprKind::TypeName(name) => Some(Thing::Reference(lower(name.as_str()), text)),
            _ => None,
        },
        ExprKind::Resource { type_name, bodies, .. } => {
            let kind = lower(&word(type_name)?);
            if is(type_name) {
                return Some(Thing::Type(kind));
            }
            let body = bodies.iter().find(|body| within(&body.title))?;
            Some(if kind == "class" { Thing::Class(lower(&text)) } else { declaration(&kind, body) })
        }
        _ => None,
    }
}

/// The parameters of a definition or of a lambda.
pub(super) fn parameters(expr: &Expr) -> &[Parameter] {
    match &expr.kind {
        ExprKind::Class(class) => &class.parameters,
        ExprKind::Define(define) => &define.parameters,
        ExprKind::Function(function) => &function.parameters,
        ExprKind::Lambda(lambda) => &lambda.parameters,
        ExprKind::Call(call) => call.lambda.as_ref().map_or(&[], |lambda| &lambda.parameters),
        ExprKind::MethodCall(call) => call.lambda.as_ref().map_or(&[], |lambda| &lambda.parameters),
        ExprKind::Epp { parameters, .. } => parameters.as_deref().unwrap_or(&[]),
        _ => &[],
    }
}

/// Where a variable gets its value: the parameters and assignments of the innermost scope around an offset that has it.
pub(super) fn local_variable(program: &Program, name: &str, offset: u32) -> Vec<Range> {
    let mut scopes: Vec<(&[Parameter], &[Expr])> = vec![(&[], &program.body)];
    everywhere(&program.body, &mut |expr| {
        if holds(expr.range, offset)
            && let Some(body) = scope_body(expr)
        {
            scopes.push((parameters(expr), body));
        }
    });
    let mut found = scopes.into_iter().rev().map(|(parameters, body)| variable_in(parameters, body, name));
    found.find(|found| !found.is_empty()).unwrap_or_default()
}

/// The block of a definition or a lambda.
fn scope_body(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Class(class) => Some(&class.body),
        ExprKind::Define(define) => Some(&define.body),
        ExprKind::Function(function) => Some(&function.body),
        ExprKind::Node(node) => Some(&node.body),
        ExprKind::Lambda(lambda) => Some(&lambda.body),
        ExprKind::Call(call) => call.lambda.as_ref().map(|lambda| lambda.body.as_slice()),
        ExprKind::MethodCall(call) => call.lambda.as_ref().map(|lambda| lambda.body.as_slice()),
        ExprKind::Epp { body, .. } => Some(body),
        _ => None,
    }
}

/// A parameter with its type.
pub(super) fn whole(parameter: &Parameter) -> Range {
    parameter.type_expr.as_ref().map_or(parameter.range, |of| of.range.to(parameter.range))
}

/// The parameters and assignments of one scope that give a variable its value.
pub(super) fn variable_in(parameters: &[Parameter], body: &[Expr], name: &str) -> Vec<Range> {
    let parameters = parameters.iter().filter(|parameter| parameter.name.as_str() == name);
    let mut found: Vec<Range> = parameters.map(whole).collect();
    let mut work: Vec<&Expr> = body.iter().rev().collect();
    while let Some(expr) = work.pop() {
        if let ExprKind::Assign { target, .. } = &expr.kind
            && assigns(target, name)
        {
            found.push(expr.range);
        }
        let mut inside = Vec::new();
        children(expr, &mut |child| inside.push(child));
        work.extend(inside.into_iter().rev());
    }
    found
}

fn assigns(target: &Expr, name: &str) -> bool {
    match &target.kind {
        ExprKind::Variable(variable) => variable.as_str() == name,
        ExprKind::Array(items) => items.iter().any(|item| assigns(item, name)),
        _ => false,
    }
}

/// What a manifest or template defines and declares.
pub(super) fn symbols(program: &Program, text: &str) -> Vec<Symbol> {
    let mut out = Vec::new();
    for expr in &program.body {
        collect(expr, text, &mut out);
    }
    out
}

fn collect(expr: &Expr, text: &str, out: &mut Vec<Symbol>) {
    let inside = |body: &[Expr]| {
        let mut children = Vec::new();
        for inner in body {
            collect(inner, text, &mut children);
        }
        children
    };
    let slice = |range: Range| text.get(range.start as usize..range.end as usize).unwrap_or("").to_owned();
    let mut add = |name: String, detail: &str, kind, name_range, children| {
        out.push(Symbol { name, detail: detail.to_owned(), kind, range: expr.range, name_range, children });
    };
    match &expr.kind {
        ExprKind::Class(class) => {
            add(class.name.to_string(), "class", SymbolKind::Class, class.name_range, inside(&class.body));
        }
        ExprKind::Define(define) => {
            add(define.name.to_string(), "define", SymbolKind::Type, define.name_range, inside(&define.body));
        }
        ExprKind::Function(function) => {
            let children = inside(&function.body);
            add(function.name.to_string(), "function", SymbolKind::Function, function.name_range, children);
        }
        ExprKind::TypeAlias(alias) => {
            add(alias.name.to_string(), "type", SymbolKind::Type, alias.name_range, Vec::new());
        }
        ExprKind::Node(node) => {
            let head = slice(expr.range);
            let head = head.split('{').next().unwrap_or("").trim_end();
            let name_range = Range::new(expr.range.start as usize, expr.range.start as usize + head.len());
            let name = head.strip_prefix("node").unwrap_or(head).trim().to_owned();
            add(name, "node", SymbolKind::Object, name_range, inside(&node.body));
        }
        ExprKind::Resource { type_name, bodies, .. } => {
            let type_name = slice(type_name.range);
            for body in bodies {
                let title = word(&body.title).unwrap_or_else(|| slice(body.title.range));
                out.push(Symbol {
                    name: title,
                    detail: type_name.clone(),
                    kind: SymbolKind::Resource,
                    range: body.range,
                    name_range: body.title.range,
                    children: Vec::new(),
                });
            }
        }
        _ => {
            children(expr, &mut |child| collect(child, text, out));
            for inner in scope_body(expr).unwrap_or(&[]) {
                collect(inner, text, out);
            }
        }
    }
}

/// The files that may define a class or a defined type, as modules lay them out: relative to the folder of the module.
pub(super) fn module_files(folder: &str, name: &str) -> (String, Vec<PathBuf>) {
    let (module, rest) = name.split_once("::").unwrap_or((name, "init"));
    let path = |rest: &str| PathBuf::from(folder).join(format!("{}.pp", rest.replace("::", "/")));
    let mut paths = vec![path(rest)];
    if rest != "init" && folder == "manifests" {
        paths.push(path("init"));
    }
    (module.to_owned(), paths)
}
