//! What an editor asks about a manifest: what something is, where it came from, and where it is defined.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use setpoint_catalog::{Catalog, NativeType, ResourceId, Role, display_name, is_metaparameter, native_type};
use setpoint_lsp::{At, Hover, Symbol, Target};
use setpoint_project::{Options, Project, ProjectKind, Session, find_project_above, parse_file};
use setpoint_puppet::{Definition, Manifest};
use setpoint_puppet_syntax::ast::{Expr, Parameter, Program};
use setpoint_source::{FileId, Range, Span, Symbol as Name, read_text};
use setpoint_why::{Query, Target as Asked, Writer};

use crate::cursor::{self, Thing};

/// Nodes are compiled one after the other until one has what is asked about, for so long.
const PATIENCE: Duration = Duration::from_secs(3);
/// So many values of an attribute are listed.
const SHOWN_VALUES: usize = 12;

/// A file that is looked at, parsed.
struct Looked<'s> {
    project: Project<'s>,
    path: PathBuf,
    file: FileId,
    program: Program,
}

/// A control repository or module that a manifest lies in, else the manifest. A template has no meaning by itself.
pub(super) fn scope(session: &Session<'_>, path: &Path, limit: Option<&Path>) -> Option<PathBuf> {
    let is_template = path.extension().is_some_and(|extension| extension == "epp");
    let by_itself = || (!is_template).then(|| path.to_owned());
    find_project_above(session, path, limit).or_else(by_itself)
}

pub(super) fn symbols(session: &Session<'_>, path: &Path) -> Vec<Symbol> {
    let Ok(text) = read_text(session.files, path) else { return Vec::new() };
    let file = session.sources.add(path.display().to_string(), text.as_str());
    cursor::symbols(&parsed(path, file, &text), &text)
}

fn parsed(path: &Path, file: FileId, text: &str) -> Program {
    parse_file(path, file, text).program
}

impl<'s> Looked<'s> {
    fn open(session: &'s Session<'_>, at: &At<'_>, options: &'s Options) -> Option<Self> {
        let project = Project::open(session, at.scope, options).ok()?;
        let text = read_text(session.files, at.path).ok()?;
        let file = session.sources.add(at.path.display().to_string(), text.as_str());
        let program = parsed(at.path, file, &text);
        Some(Self { project, path: at.path.to_owned(), file, program })
    }

    fn target(&self, span: Span) -> Target {
        let path = PathBuf::from(self.project.session.sources.file(span.file).path());
        Target { path, range: span.range }
    }

    /// The manifests that may define something: this one, those that modules have for it, and those of the nodes.
    fn manifests(&self, folders: &[&str], name: &str) -> Vec<Arc<Manifest>> {
        let environment = &self.project.environment;
        let mut paths: Vec<PathBuf> = vec![self.path.clone()];
        for folder in folders {
            let (module, files) = cursor::module_files(folder, name);
            if let Some(module) = environment.module(&module) {
                paths.extend(files.iter().map(|file| module.join(file)));
            }
        }
        match &self.project.kind {
            ProjectKind::Repository { manifest: path, .. } | ProjectKind::Manifests(path) => {
                if self.project.session.files.is_dir(path) {
                    paths.extend(environment.manifests_under(path));
                } else {
                    paths.push(path.clone());
                }
            }
            ProjectKind::Module { folder, .. } => {
                paths.extend(folders.iter().flat_map(|kind| environment.manifests_under(&folder.join(kind))));
            }
        }
        let is_manifest = |path: &PathBuf| path.extension().is_some_and(|end| end == "pp");
        let mut manifests: Vec<Arc<Manifest>> = Vec::new();
        for path in paths.iter().filter(|path| is_manifest(path)) {
            if let Ok(manifest) = environment.manifest(path)
                && !manifests.iter().any(|known| Arc::ptr_eq(known, &manifest))
            {
                manifests.push(manifest);
            }
        }
        manifests
    }

    /// The definition of a name, in lower case.
    fn definition(
        &self,
        folders: &[&str],
        name: &str,
        fits: impl Fn(&Definition) -> bool,
    ) -> Option<Definition> {
        let is_it = |found: &&Definition| fits(found) && defined_name(found).eq_ignore_ascii_case(name);
        let manifests = self.manifests(folders, name);
        manifests.iter().find_map(|manifest| manifest.definitions.iter().find(&is_it).cloned())
    }

    fn class(&self, name: &str) -> Option<Definition> {
        self.definition(&["manifests"], name, |found| matches!(found, Definition::Class(_)))
    }

    /// A defined type or an alias.
    fn type_(&self, name: &str) -> Option<Definition> {
        let is_type = |found: &Definition| matches!(found, Definition::Define(_) | Definition::TypeAlias(_));
        self.definition(&["manifests", "types"], name, is_type)
    }

    fn function(&self, name: &str) -> Option<Definition> {
        self.definition(&["functions"], name, |found| matches!(found, Definition::Function(_)))
    }

    fn native(&self, name: &str) -> Option<&'static NativeType> {
        native_type(name).or_else(|| self.project.environment.module_type(name).ok().flatten())
    }

    /// The places that give a variable its value, and the class if it is one of a class.
    fn variable(&self, name: &str, offset: u32) -> (Vec<Span>, Option<String>) {
        let bare = name.strip_prefix("::").unwrap_or(name);
        if let Some((class, variable)) = bare.rsplit_once("::") {
            let Some(Definition::Class(found)) = self.class(class) else { return (Vec::new(), None) };
            let ranges = cursor::variable_in(&found.parameters, &found.body, variable);
            let spans = ranges.into_iter().map(|range| range.in_file(found.file)).collect();
            return (spans, Some(class.to_owned()));
        }
        let ranges = if name.starts_with("::") {
            cursor::variable_in(&[], &self.program.body, bare)
        } else {
            cursor::local_variable(&self.program, bare, offset)
        };
        let class = self.class_around(offset).filter(|_| !ranges.is_empty());
        (ranges.into_iter().map(|range| range.in_file(self.file)).collect(), class)
    }

    /// The class that an offset lies in.
    fn class_around(&self, offset: u32) -> Option<String> {
        let mut found = None;
        setpoint_puppet_syntax::everywhere(&self.program.body, &mut |expr: &Expr| {
            if let setpoint_puppet_syntax::ast::ExprKind::Class(class) = &expr.kind
                && class.range.start <= offset
                && offset <= class.range.end
            {
                found = Some(class.name.to_string());
            }
        });
        found
    }

    /// A text of a file, as it is written.
    fn text(&self, span: Span) -> String {
        self.project.session.sources.shown(span.file).slice(span.range).to_owned()
    }

    /// `modules/ntp/manifests/init.pp:3`, from the folder that is checked.
    fn place(&self, span: Span) -> String {
        let file = self.project.session.sources.file(span.file);
        self.relative(&format!("{}:{}", file.path(), file.line(span.range.start)))
    }

    /// Without the part of paths that all have in common.
    fn relative(&self, text: &str) -> String {
        let scope = &self.project.input;
        let folder = if *scope == self.path { scope.parent().unwrap_or(scope) } else { scope };
        text.replace(&format!("{}/", folder.display()), "")
    }
}

pub(super) fn definition(session: &Session<'_>, at: &At<'_>, options: &Options) -> Vec<Target> {
    let Some(looked) = Looked::open(session, at, options) else { return Vec::new() };
    let Some((thing, _)) = cursor::thing(&looked.program, at.offset) else { return Vec::new() };
    let of = |found: Option<Definition>| found.map(|found| looked.target(name_span(&found)));
    let environment = &looked.project.environment;
    let at_start = |path: PathBuf| Target { path, range: Range::default() };
    let ruby = |name: &str| Some(at_start(environment.ruby_function(name)?.path.to_path_buf()));
    let one = match thing {
        Thing::Variable(name) => {
            return looked.variable(&name, at.offset).0.into_iter().map(|span| looked.target(span)).collect();
        }
        Thing::Class(name) => of(looked.class(&name)),
        Thing::Type(name) | Thing::Declaration(name, _) => of(looked.type_(&name))
            .or_else(|| environment.library_file(&format!("puppet/type/{name}")).map(at_start)),
        Thing::Function(name) => of(looked.function(&name)).or_else(|| ruby(&name)),
        Thing::ModuleFile(folder, name) => environment.module_file(folder, &name).map(at_start),
        Thing::Attribute { type_name, name, .. } => parameter_of(&looked, &type_name, &name),
        Thing::Reference(type_name, title) => {
            let wanted = |catalog: &Catalog| catalog.find(Name::new(&display_name(&type_name)), &title);
            return compiled(&looked, wanted, |_, catalog, id| {
                catalog[id].span.map(|span| looked.target(span))
            })
            .into_iter()
            .collect();
        }
    };
    one.into_iter().collect()
}

/// The parameter of a defined type that an attribute sets.
fn parameter_of(looked: &Looked<'_>, type_name: &str, name: &str) -> Option<Target> {
    let Some(Definition::Define(define)) = looked.type_(type_name) else { return None };
    let parameter = define.parameters.iter().find(|parameter| parameter.name.as_str() == name)?;
    Some(looked.target(parameter.range.in_file(define.file)))
}

pub(super) fn hover(session: &Session<'_>, at: &At<'_>, options: &Options) -> Option<Hover> {
    let looked = Looked::open(session, at, options)?;
    let (thing, range) = cursor::thing(&looked.program, at.offset)?;
    let described = |found: Option<Definition>| found.map(|found| describe(&looked, &found));
    let class_id = |name: &str| {
        let title = display_name(name);
        move |catalog: &Catalog| catalog.find(Name::new("Class"), &title)
    };
    let markdown = match &thing {
        Thing::Class(name) => join([described(looked.class(name)), why(&looked, class_id(name), None)]),
        Thing::Type(name) => described(looked.type_(name)).or_else(|| Some(native(looked.native(name)?))),
        Thing::Function(name) => described(looked.function(name)),
        Thing::Variable(name) => {
            let (spans, class) = looked.variable(name, at.offset);
            let of_class = class.filter(|class| is_parameter(&looked, class, name));
            let bare = name.rsplit("::").next().unwrap_or(name);
            let value = of_class.and_then(|class| why(&looked, class_id(&class), Some(bare)));
            let given: Vec<String> = spans
                .iter()
                .map(|span| format!("```puppet\n{}\n```\n{}", looked.text(*span), looked.place(*span)))
                .collect();
            join([(!given.is_empty()).then(|| given.join("\n\n")), value])
        }
        Thing::Declaration(type_name, body) => why(&looked, declared_at(&looked, type_name, *body), None),
        Thing::Attribute { type_name, body, name } => {
            let value = body.and_then(|body| why(&looked, declared_at(&looked, type_name, body), Some(name)));
            join([attribute(&looked, type_name, name), value])
        }
        Thing::Reference(type_name, title) => {
            why(&looked, |catalog| catalog.find(Name::new(&display_name(type_name)), title), None)
        }
        Thing::ModuleFile(..) => None,
    };
    Some(Hover { range, markdown: markdown? })
}

fn join(parts: [Option<String>; 2]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The resource that a declaration in the file made; the first of several.
fn declared_at<'l>(
    looked: &'l Looked<'_>,
    type_name: &'l str,
    body: Range,
) -> impl Fn(&Catalog) -> Option<ResourceId> + 'l {
    let type_name = display_name(type_name);
    move |catalog| {
        let is_here = |span: Span| {
            let file = looked.project.session.sources.file(span.file);
            Path::new(file.path()) == looked.path
                && span.range.start <= body.end
                && body.start <= span.range.end
        };
        let is_it = |id: &ResourceId| {
            let resource = &catalog[*id];
            resource.type_name.as_str() == type_name && resource.span.is_some_and(is_here)
        };
        catalog.ids().find(is_it)
    }
}

/// Compiles nodes until one has what is wanted, and asks about it there.
fn compiled<R>(
    looked: &Looked<'_>,
    wanted: impl Fn(&Catalog) -> Option<ResourceId>,
    ask: impl Fn(&Compiled<'_>, &Catalog, ResourceId) -> Option<R>,
) -> Option<R> {
    let plan = looked.project.plan().ok()?;
    let begun = Instant::now();
    for job in &plan.jobs {
        if begun.elapsed() > PATIENCE {
            return None;
        }
        let Ok(home) = looked.project.home(&job.node) else { continue };
        let compilation = looked.project.compile(job);
        let Some(catalog) = &compilation.catalog else { continue };
        let Some(id) = wanted(catalog) else { continue };
        let node = (plan.jobs.len() > 1).then(|| job.label());
        let compiled = Compiled { compilation: &compilation, environment: &home.environment, node };
        return ask(&compiled, catalog, id);
    }
    None
}

/// A node that has what is asked about.
struct Compiled<'c> {
    compilation: &'c setpoint_puppet::Compilation,
    environment: &'c setpoint_puppet::Environment<'c>,
    /// Its name, if there are others.
    node: Option<String>,
}

/// What `setpoint why` says of a resource or of one of its parameters.
fn why(
    looked: &Looked<'_>,
    wanted: impl Fn(&Catalog) -> Option<ResourceId>,
    parameter: Option<&str>,
) -> Option<String> {
    compiled(looked, wanted, |compiled, _, id| {
        let mut query = Query::new(compiled.compilation, compiled.environment)?;
        let target = match parameter {
            Some(name) => Asked::Parameter { resource: id, name: Name::new(name), path: Vec::new() },
            None => Asked::Resource(id),
        };
        let answer = query.answer(&target);
        let sources = &looked.project.session.sources;
        let writer = Writer { compilation: compiled.compilation, sources, notes: &|_| None };
        let text = looked.relative(&writer.short(&answer));
        // An editor has no options to offer.
        let text = text.replace("; `--depends` lists them.", ".");
        let on = compiled.node.as_ref().map(|node| format!("On {node}:\n")).unwrap_or_default();
        Some(format!("{on}```text\n{}\n```", text.trim_end()))
    })
}

fn is_parameter(looked: &Looked<'_>, class: &str, name: &str) -> bool {
    let bare = name.rsplit("::").next().unwrap_or(name);
    let Some(Definition::Class(found)) = looked.class(&class.to_lowercase()) else { return false };
    found.parameters.iter().any(|parameter| parameter.name.as_str() == bare)
}

fn defined_name(definition: &Definition) -> String {
    match definition {
        Definition::Class(class) => class.name.to_string(),
        Definition::Define(define) => define.name.to_string(),
        Definition::Function(function) => function.name.to_string(),
        Definition::TypeAlias(alias) => alias.name.to_string(),
        Definition::Node(_) => String::new(),
    }
}

fn name_span(definition: &Definition) -> Span {
    match definition {
        Definition::Class(class) => class.name_range.in_file(class.file),
        Definition::Define(define) => define.name_range.in_file(define.file),
        Definition::Function(function) => function.name_range.in_file(function.file),
        Definition::TypeAlias(alias) => alias.name_range.in_file(alias.file),
        Definition::Node(node) => node.range.in_file(node.file),
    }
}

/// The head of a definition, what the comment above it says, and where it is.
fn describe(looked: &Looked<'_>, definition: &Definition) -> String {
    let name = defined_name(definition);
    let none: &[Parameter] = &[];
    let (word, parameters) = match definition {
        Definition::Class(class) => ("class", class.parameters.as_slice()),
        Definition::Define(define) => ("define", define.parameters.as_slice()),
        Definition::Function(function) => ("function", function.parameters.as_slice()),
        Definition::TypeAlias(_) => ("type", none),
        Definition::Node(_) => ("node", none),
    };
    let span = name_span(definition);
    let mut head = format!("{word} {name}");
    if let Definition::TypeAlias(alias) = definition {
        let _ = write!(head, " = {}", looked.text(alias.value.range.in_file(alias.file)));
    } else if !parameters.is_empty() {
        head.push_str(" (\n");
        for parameter in parameters {
            let text = looked.text(cursor::whole(parameter).in_file(span.file));
            let _ = writeln!(head, "  {text},");
        }
        head.push(')');
    }
    let comment = comment_above(looked, span);
    let comment = if comment.is_empty() { comment } else { format!("{comment}\n\n") };
    format!("```puppet\n{head}\n```\n{comment}{}", looked.place(span))
}

/// The lines of a comment directly above a place.
fn comment_above(looked: &Looked<'_>, span: Span) -> String {
    let file = looked.project.session.sources.file(span.file);
    let line = file.line(span.range.start);
    let above = (1..line).rev().map(|line| file.line_text(line).trim().to_owned());
    let comment = above.take_while(|line| line.starts_with('#'));
    let mut lines: Vec<String> =
        comment.map(|line| line.trim_start_matches('#').trim_start().to_owned()).collect();
    lines.reverse();
    lines.join("\n").trim().to_owned()
}

/// What is known of a native type.
fn native(found: &NativeType) -> String {
    let of = found.module.map_or_else(|| "Puppet".to_owned(), |module| format!("the module {module}"));
    let names: Vec<String> = found.attributes.iter().map(|one| format!("`{}`", one.name)).collect();
    format!("`{}`: a type of {of}.\n\nAttributes: {}", found.name, names.join(", "))
}

/// What is known of an attribute: of a native type, or the parameter of a defined type or class.
fn attribute(looked: &Looked<'_>, type_name: &str, name: &str) -> Option<String> {
    if is_metaparameter(name) {
        return Some(format!("`{name}`: a metaparameter; every type has it."));
    }
    if let Some(Definition::Define(define)) = looked.type_(type_name) {
        let parameter = define.parameters.iter().find(|one| one.name.as_str() == name)?;
        let span = cursor::whole(parameter).in_file(define.file);
        return Some(format!("```puppet\n{}\n```\n{}", looked.text(span), looked.place(span)));
    }
    let native = looked.native(type_name)?;
    let found = native.attribute(name)?;
    let role = match found.role {
        Role::Parameter => "a parameter",
        Role::Property => "a property",
    };
    let mut out = format!("`{name}`: {role} of `{}`", native.name);
    let values: Vec<String> = found.values.iter().map(|(value, _)| format!("`{value}`")).collect();
    if !values.is_empty() {
        let shown: Vec<&str> = values.iter().map(String::as_str).collect();
        let _ = write!(out, "; values: {}", setpoint_source::few(&shown, SHOWN_VALUES));
        if !found.patterns.is_empty() {
            out.push_str(", and others");
        }
    }
    out.push('.');
    Some(out)
}
