//! Compilations, what can be changed in their inputs, and what they give.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_hiera::Levels;
use setpoint_provenance::{Dependency, LeafKind};
use setpoint_puppet::{Compilation, Entry, Environment, Options, PuppetVersion, Strictness, compile};
use setpoint_puppet_syntax::ast::{Expr, ExprKind, Lambda, Parameter, StringPart};
use setpoint_puppet_syntax::{children, parse};
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::{FileSystem, MemoryFileSystem, Range, Sources, Symbol};
use setpoint_why::{Query, Target};

/// The inputs of one compilation.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) facts: Hash,
    /// The levels of the data, the more specific first.
    pub(crate) data: (String, String),
    /// There are modules beside the manifest.
    pub(crate) has_modules: bool,
}

impl Input {
    pub(crate) fn generated(seed: u64) -> Self {
        let data = crate::generate::data(seed);
        Self { text: crate::generate::manifest(seed), facts: facts(), data, has_modules: false }
    }

    /// A program whose values are made of values.
    pub(crate) fn composed(seed: u64) -> Self {
        let data = crate::compose::data(seed);
        Self { text: crate::compose::manifest(seed), facts: facts(), data, has_modules: true }
    }

    pub(crate) fn modulepath(&self) -> Vec<PathBuf> {
        if self.has_modules { vec![PathBuf::from("modules")] } else { Vec::new() }
    }

    pub(crate) fn files(&self) -> MemoryFileSystem {
        let mut files = MemoryFileSystem::new();
        let levels = "version: 5\nhierarchy:\n  - name: levels\n    datadir: data\n    paths: [\"%{facts.role}.yaml\", common.yaml]\n";
        files.add("hiera.yaml", levels);
        files.add("data/web.yaml", self.data.0.as_str());
        files.add("data/common.yaml", self.data.1.as_str());
        if self.has_modules {
            for (path, text) in crate::compose::MODULE {
                files.add(path, text);
            }
            for (path, text) in crate::compose::LIBRARY.iter() {
                files.add(path, text.as_str());
            }
        }
        files
    }
}

pub(crate) fn facts() -> Hash {
    let os = [("family", "Debian"), ("name", "a")];
    let os: Hash = os.map(|(key, value)| (Key::from(key), Value::from(value))).into_iter().collect();
    let all: [(Key, Value); 4] = [
        (Key::from("role"), Value::from("web")),
        (Key::from("num"), Value::from(2)),
        (Key::from("os"), Value::hash(os)),
        (Key::from("v4"), Value::from("b")),
    ];
    all.into_iter().collect()
}

/// An input that was changed, as the leaves of either run know it.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    /// A literal, where it stands in the old text and in the new.
    Literal {
        old: Range,
        new: Range,
    },
    Fact(String),
    /// A word of a data file, where it stands in the old text and in the new.
    Data {
        file: &'static str,
        old: Range,
        new: Range,
        /// It names an element and is none.
        is_key: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Run {
    Old,
    New,
}

impl Label {
    /// Whether a dependency is this input.
    pub(crate) fn is(&self, dependency: &Dependency, run: Run, entry: &str, sources: &Sources) -> bool {
        let leaf = &dependency.leaf;
        match self {
            Self::Literal { old, new } => {
                let range = if run == Run::Old { old } else { new };
                leaf.kind == LeafKind::Literal
                    && leaf
                        .span
                        .is_some_and(|span| span.range == *range && sources.file(span.file).path() == entry)
            }
            // A collection that is read as a whole is read in all its parts; its shape is its keys.
            Self::Data { file, old, new, is_key } => {
                let range = if run == Run::Old { old } else { new };
                leaf.kind == LeafKind::Hiera
                    && leaf.span.is_some_and(|span| {
                        let inside = span.range.start <= range.start && range.end <= span.range.end;
                        let own = inside && span.range.end - span.range.start <= range.end - range.start + 2;
                        let whole = inside && (!dependency.shape || *is_key);
                        (own || whole) && sources.file(span.file).path().ends_with(file)
                    })
            }
            // A fact that is read as a whole is read in all its parts; its shape is not its parts.
            Self::Fact(path) => {
                leaf.kind == LeafKind::Fact
                    && !dependency.shape
                    && leaf
                        .name
                        .is_none_or(|name| path == name.as_str() || path.starts_with(&format!("{name}.")))
            }
        }
    }
}

/// A literal of a manifest: the text that can be changed, and the leaf that it is part of.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// What is replaced.
    pub(crate) text: Range,
    /// The literal that it belongs to.
    pub(crate) literal: Range,
    pub(crate) kind: SiteKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SiteKind {
    Integer,
    Bool,
    /// With its quotes.
    String,
    Word,
    /// Text between the expressions of a string; a letter is put in.
    Part,
}

/// Every literal of a manifest.
pub(crate) fn sites(text: &str) -> Vec<Site> {
    let sources = Sources::new();
    let parsed = parse(sources.add("x.pp", text), text);
    let mut found = Vec::new();
    parsed.program.body.iter().for_each(|statement| collect(statement, text, &mut found));
    found
}

fn collect(expression: &Expr, text: &str, found: &mut Vec<Site>) {
    let range = expression.range;
    let site = |kind| Site { text: range, literal: range, kind };
    match &expression.kind {
        ExprKind::Integer { .. } => found.push(site(SiteKind::Integer)),
        ExprKind::Bool(_) => found.push(site(SiteKind::Bool)),
        ExprKind::String(_) if quoted(text, range) => found.push(site(SiteKind::String)),
        ExprKind::Name(_) => found.push(site(SiteKind::Word)),
        ExprKind::Interpolation(parts) => {
            let is_text = matches!(parts.first(), Some(StringPart::Text(first)) if !first.is_empty());
            if is_text && text.as_bytes().get(range.start as usize) == Some(&b'"') {
                let start = range.start + 1;
                found.push(Site { text: Range { start, end: start }, literal: range, kind: SiteKind::Part });
            }
        }
        ExprKind::Class(class) => code(&class.parameters, &class.body, text, found),
        ExprKind::Define(define) => code(&define.parameters, &define.body, text, found),
        ExprKind::Function(function) => code(&function.parameters, &function.body, text, found),
        ExprKind::Node(node) => node.body.iter().for_each(|statement| collect(statement, text, found)),
        ExprKind::Call(call) => {
            call.arguments.iter().for_each(|argument| collect(argument, text, found));
            return lambda(call.lambda.as_ref(), text, found);
        }
        ExprKind::MethodCall(call) => lambda(call.lambda.as_ref(), text, found),
        ExprKind::Resource { bodies, .. } => {
            for body in bodies {
                collect(&body.title, text, found);
                attributes(&body.attributes, text, found);
            }
            return;
        }
        // The names of attributes in a query are no literals.
        ExprKind::Collector { query, attributes: set, .. } => {
            if let Some(query) = query {
                in_query(query, text, found);
            }
            return attributes(set, text, found);
        }
        // The keys of templates that are given as text are literals; the code in them is not.
        _ => {}
    }
    children(expression, &mut |child| collect(child, text, found));
}

fn quoted(text: &str, range: Range) -> bool {
    let slice = &text[range.start as usize..range.end as usize];
    slice.len() >= 2 && (slice.starts_with('\'') && slice.ends_with('\'')) && !slice.contains('<')
}

fn in_query(query: &Expr, text: &str, found: &mut Vec<Site>) {
    use setpoint_puppet_syntax::ast::BinaryOp;
    match &query.kind {
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right, .. } => {
            in_query(left, text, found);
            in_query(right, text, found);
        }
        ExprKind::Binary { right, .. } => collect(right, text, found),
        ExprKind::Paren(inner) => in_query(inner, text, found),
        _ => {}
    }
}

fn attributes(all: &[setpoint_puppet_syntax::ast::Attribute], text: &str, found: &mut Vec<Site>) {
    use setpoint_puppet_syntax::ast::AttributeKind;
    for attribute in all {
        match &attribute.kind {
            AttributeKind::Set { value, .. }
            | AttributeKind::Append { value, .. }
            | AttributeKind::Splat(value) => {
                collect(value, text, found);
            }
        }
    }
}

fn lambda(lambda: Option<&Arc<Lambda>>, text: &str, found: &mut Vec<Site>) {
    if let Some(lambda) = lambda {
        code(&lambda.parameters, &lambda.body, text, found);
    }
}

fn code(parameters: &[Parameter], body: &[Expr], text: &str, found: &mut Vec<Site>) {
    let defaults = parameters.iter().filter_map(|parameter| parameter.default.as_ref());
    defaults.chain(body).for_each(|statement| collect(statement, text, found));
}

pub(crate) const ENTRY: &str = "main.pp";

/// A compilation, with what is needed to ask about it.
pub(crate) struct World<'f> {
    pub(crate) environment: Environment<'f>,
    pub(crate) compilation: Compilation,
}

impl<'f> World<'f> {
    pub(crate) fn new(
        files: &'f dyn FileSystem,
        sources: &'f Sources,
        modulepath: Vec<PathBuf>,
        input: &Input,
    ) -> Self {
        let hiera = PathBuf::from("hiera.yaml");
        let levels = Levels { global: Some(hiera).filter(|path| files.is_file(path)), ..Levels::default() };
        let environment = Environment::new(files, sources).with_modulepath(modulepath).with_hiera(levels);
        let options = Options {
            puppet: PuppetVersion::V7,
            strict: Some(Strictness::Off),
            facts: input.facts.clone(),
            node: "node1.example.com".to_owned(),
            ..Options::default()
        };
        let entry = Entry::Code { name: ENTRY.to_owned(), text: input.text.clone() };
        let compilation = compile(&environment, &entry, &options);
        Self { environment, compilation }
    }
}

/// What a catalog says, by names that do not depend on numbers.
pub(crate) struct Outputs<'c> {
    pub(crate) resources: BTreeMap<String, ResourceId>,
    pub(crate) edges: BTreeMap<(String, String), (ResourceId, ResourceId)>,
    pub(crate) catalog: &'c Catalog,
}

impl<'c> Outputs<'c> {
    pub(crate) fn of(catalog: &'c Catalog) -> Self {
        let real = |resource: &Resource| !resource.virtual_;
        let resources = catalog
            .iter()
            .filter(|(_, resource)| real(resource))
            .map(|(id, resource)| (resource.reference(), id));
        let edges = catalog.edges.iter().filter(|(from, to)| real(&catalog[*from]) && real(&catalog[*to]));
        let edges =
            edges.map(|(from, to)| ((catalog[*from].reference(), catalog[*to].reference()), (*from, *to)));
        Self { resources: resources.collect(), edges: edges.collect(), catalog }
    }
}

/// A value with what the order of evaluation decides left out.
pub(crate) fn comparable(name: Symbol, value: Option<&Value>) -> Option<Value> {
    let value = value?;
    if let Data::Array(items) = &value.data
        && matches!(name.as_str(), "before" | "notify" | "require" | "subscribe")
    {
        let mut items = items.to_vec();
        items.sort_by_key(|item| item.as_str().unwrap_or_default().to_owned());
        return Some(Value::array(items));
    }
    Some(value.clone())
}

pub(crate) fn is_opaque(value: &Value) -> bool {
    match &value.data {
        Data::Opaque(_) => true,
        Data::Array(items) => items.iter().any(is_opaque),
        Data::Hash(entries) => entries.iter().any(|(_, entry)| is_opaque(entry)),
        Data::Sensitive(inner) => is_opaque(inner),
        _ => false,
    }
}

/// Whether a target lists an input.
pub(crate) fn lists(
    query: &mut Query<'_>,
    target: &Target,
    label: &Label,
    run: Run,
    entry: &str,
    sources: &Sources,
) -> bool {
    query.causes(target).iter().any(|dependency| label.is(dependency, run, entry, sources))
}

/// The places of all literals of a manifest, strings with expressions in them included.
pub(crate) fn literals(text: &str) -> Vec<Range> {
    let sources = Sources::new();
    let parsed = parse(sources.add("x.pp", text), text);
    let mut found = Vec::new();
    let mut work: Vec<&Expr> = parsed.program.body.iter().collect();
    while let Some(expression) = work.pop() {
        match &expression.kind {
            ExprKind::Undef
            | ExprKind::Default
            | ExprKind::Bool(_)
            | ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Interpolation(_)
            | ExprKind::Regex(_)
            | ExprKind::Name(_)
            | ExprKind::TypeName(_) => found.push(expression.range),
            _ => {}
        }
        let (parameters, body) = match &expression.kind {
            ExprKind::Class(class) => (class.parameters.as_slice(), class.body.as_slice()),
            ExprKind::Define(define) => (define.parameters.as_slice(), define.body.as_slice()),
            ExprKind::Function(function) => (function.parameters.as_slice(), function.body.as_slice()),
            ExprKind::Call(call) => {
                call.lambda.as_ref().map_or((&[][..], &[][..]), |lambda| (&lambda.parameters, &lambda.body))
            }
            ExprKind::MethodCall(call) => {
                call.lambda.as_ref().map_or((&[][..], &[][..]), |lambda| (&lambda.parameters, &lambda.body))
            }
            _ => (&[][..], &[][..]),
        };
        work.extend(parameters.iter().filter_map(|parameter| parameter.default.as_ref()));
        work.extend(body);
        children(expression, &mut |child| work.push(child));
    }
    found
}

/// Whether a leaf is something that the compilation was given.
pub(crate) fn is_input(
    leaf: &setpoint_provenance::Leaf,
    literals: &[Range],
    input: &Input,
    sources: &Sources,
) -> bool {
    match (leaf.kind, leaf.span, leaf.name) {
        (LeafKind::Literal, Some(span), _) => {
            // Templates that are given as text are read as files of their own.
            sources.file(span.file).path() != ENTRY || literals.contains(&span.range)
        }
        (LeafKind::Hiera, Some(span), Some(_)) => sources.file(span.file).path().contains("data/"),
        (LeafKind::Template, Some(span), _) => sources.file(span.file).path() != ENTRY,
        (LeafKind::Fact, _, None) => true,
        (LeafKind::Fact, _, Some(name)) => {
            let mut at = Some(Value::hash(input.facts.clone()));
            for part in name.as_str().split('.') {
                at = at.and_then(|value| value.as_hash()?.get(&Key::from(part)).cloned());
            }
            at.is_some()
        }
        (LeafKind::Trusted | LeafKind::Setting | LeafKind::Node | LeafKind::External, _, Some(_)) => true,
        _ => false,
    }
}
