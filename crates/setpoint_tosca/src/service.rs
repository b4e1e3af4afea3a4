//! Service templates: what a file and its imports say.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_data::{Document, Entry, Node};
use setpoint_source::{
    Counted, Diagnostic, FileError, FileId, FileSystem, Limit, Range, Rule, Sources, Span, Symbol, normal,
    read_text,
};

use crate::definitions::BUILT_IN;
use crate::grammar::{self, Edition};
use crate::omission::{Omission, Omitted};
use crate::profiles;
use crate::substitution::Substitution;
use crate::types::{Requirement, Scope, Types, ancestors, keys, named_items, symbol};
use crate::{calls, scripts};

/// Imports may import; a chain this long is no longer a library.
const MAX_FILES: Limit = Limit::new(500);

#[derive(Debug, Default)]
pub struct Service {
    pub types: Types,
    pub nodes: IndexMap<Symbol, NodeTemplate>,
    /// Type of each relationship template.
    pub relationships: IndexMap<Symbol, Symbol>,
    /// What the topology as a whole stands for.
    pub substitution: Option<Substitution>,
    /// Imported topologies that stand for a node of a type.
    pub inner: IndexMap<Symbol, Service>,
    pub inputs: Vec<Symbol>,
    pub(crate) edition: Edition,
    /// The topology as it is written.
    pub(crate) topology: Option<(FileId, Node)>,
    /// Names of groups, policies and workflows.
    pub(crate) other_templates: Vec<Symbol>,
    pub(crate) calls: Vec<calls::Call>,
    /// Functions of TOSCA 2.0 that the files call, each with its first place.
    pub(crate) called: IndexMap<Symbol, Span>,
    /// Files that node templates and node types name.
    pub(crate) scripts: Vec<scripts::Script>,
    pub has_topology: bool,
    /// An import could not be followed, so a type may be there that is not seen.
    pub incomplete: bool,
    /// What was not read, not understood or has no model.
    pub omissions: Vec<Omission>,
    /// The file and those that it imports.
    pub files: Counted,
    /// Their paths.
    pub paths: Vec<PathBuf>,
    /// What is wrong with the text of the files.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
pub struct NodeTemplate {
    pub name: Symbol,
    /// The template as it is written, with what it copies.
    pub(crate) node: Node,
    pub span: Span,
    pub kind: Symbol,
    pub kind_span: Span,
    pub requirements: Vec<Assignment>,
    /// Capabilities that the template itself names.
    pub capabilities: Vec<Symbol>,
    pub artifacts: Vec<Symbol>,
    /// `node_filter` and `select`: the orchestrator finds an existing node.
    pub selected: bool,
    /// `substitute`: a topology stands for it.
    pub substituted: bool,
}

/// A requirement of a node template and what fulfils it.
#[derive(Debug, Clone)]
pub struct Assignment {
    pub name: Symbol,
    pub span: Span,
    /// A node template or a node type; absent if the orchestrator shall find one.
    pub node: Option<Symbol>,
    pub capability: Option<Symbol>,
    /// A relationship template or type.
    pub relationship: Option<Symbol>,
    /// What the node has to have.
    pub(crate) filter: Option<Node>,
    /// An expression or several nodes at once, which the reader recorded.
    pub(crate) is_open: bool,
}

impl Assignment {
    /// A requirement that is left to the orchestrator.
    pub(crate) fn open(name: Symbol, span: Span) -> Self {
        Self { name, span, node: None, capability: None, relationship: None, filter: None, is_open: false }
    }
}

/// The versions of TOSCA that are read.
pub(crate) const VERSIONS: [&str; 5] = [
    "tosca_simple_yaml_1_0",
    "tosca_simple_yaml_1_1",
    "tosca_simple_yaml_1_2",
    "tosca_simple_yaml_1_3",
    "tosca_2_0",
];

/// What the directives of a node template may be.
const DIRECTIVES: [&str; 6] = ["select", "selectable", "substitute", "substitutable", "create", "internal"];

const TOPOLOGY: [&str; 2] = ["topology_template", "service_template"];

impl Service {
    /// Reads a service template and all that it imports from the same file system. Profiles are looked for in `profiles`, too.
    /// What is passed over is recorded.
    pub fn read(
        files: &dyn FileSystem,
        sources: &Sources,
        file: FileId,
        path: &Path,
        profiles: &[PathBuf],
    ) -> Self {
        let mut service = Self::default();
        let text = sources.file(file).shared_text();
        let document = setpoint_data::read_yaml(file, &text);
        let root = service.take_document(file, document);
        match &root {
            // What is missing may stand in the rest that was not read.
            _ if service.is_cut_off(file) => {}
            Some(root) if root.is_mapping() => {
                service.edition = service.check_file(file, root, true);
                service.read_topology(file, root, path);
                service.read_types(file, root, path, Scope::default());
                let mut reader = Reader {
                    files,
                    sources,
                    profiles,
                    folder: path.parent().unwrap_or(Path::new("")),
                    seen: vec![(normal(path), None)],
                };
                service.read_imports(&mut reader, file, root, path, Scope::default());
                service.paths = reader.seen.into_iter().map(|(path, _)| path).collect();
                if service.nodes.is_empty() {
                    let declared = TOPOLOGY.iter().find_map(|name| root.entry(name));
                    let place =
                        declared.or(root.entries().first()).map_or(root.range, |entry| entry.key.range);
                    // What is malformed is told as that.
                    let is_empty =
                        declared.is_some_and(|section| match section.value.get("node_templates") {
                            Some(nodes) => {
                                nodes.is_null() || (nodes.is_mapping() && nodes.entries().is_empty())
                            }
                            None => section.value.is_mapping() || section.value.is_null(),
                        });
                    let what = if is_empty { Omitted::EmptyTopology } else { Omitted::NoNodes };
                    service.omit(what, place.in_file(file));
                }
            }
            root => {
                let place = root.as_ref().map(|root| root.range).unwrap_or_default();
                service.omit(Omitted::Template, place.in_file(file));
            }
        }
        service.add_normative();
        service.find_scripts(files, path.parent().unwrap_or(Path::new("")));
        service
    }

    /// Records the files that are not there of those that the templates and their types name. An operation may name an
    /// artifact instead of a file.
    fn find_scripts(&mut self, files: &dyn FileSystem, root: &Path) {
        let used = self.used_names();
        let mut missing = Vec::new();
        for topology in std::iter::once(&*self).chain(self.inner.values()) {
            for script in topology.scripts.iter().filter(|script| used.contains(&script.of)) {
                let artifact = Symbol::new(&script.target);
                let (own, kind) = match topology.nodes.get(&script.of) {
                    Some(node) => (node.artifacts.contains(&artifact), node.kind),
                    None => (false, script.of),
                };
                if !own && !self.artifacts_of(kind).contains(&artifact) {
                    missing.extend(script.check(files, root));
                }
            }
        }
        self.omissions.extend(missing);
    }

    /// Returns the names of all node templates, of the relationship templates that their requirements use, and of the types of
    /// both with what they derive from.
    fn used_names(&self) -> FxHashSet<Symbol> {
        let mut used: FxHashSet<Symbol> = FxHashSet::default();
        let mut required: FxHashMap<Symbol, Vec<Requirement>> = FxHashMap::default();
        for topology in std::iter::once(self).chain(self.inner.values()) {
            for node in topology.nodes.values() {
                used.insert(node.name);
                if used.insert(node.kind) {
                    used.extend(ancestors(&self.types.nodes, node.kind));
                }
                let wanted =
                    required.entry(node.kind).or_insert_with(|| self.types.requirements_of(node.kind));
                for assignment in &node.requirements {
                    let of_type = || wanted.iter().find(|one| one.name == assignment.name)?.relationship;
                    let Some(named) = assignment.relationship.or_else(of_type) else { continue };
                    if used.insert(named) {
                        let kind = topology.relationships.get(&named).copied().unwrap_or(named);
                        used.extend(ancestors(&self.types.relationships, kind));
                    }
                }
            }
        }
        used
    }

    /// The artifacts of a node type and of those that it derives from.
    fn artifacts_of(&self, kind: Symbol) -> Vec<Symbol> {
        let chain = ancestors(&self.types.nodes, kind);
        let types = chain.iter().filter_map(|kind| self.types.nodes.get(kind));
        types.flat_map(|kind| kind.artifacts.iter().copied()).collect()
    }

    /// Whether a limit left out a part of a file.
    fn is_cut_off(&self, file: FileId) -> bool {
        self.omissions.iter().any(|omission| {
            omission.span.file == file && matches!(omission.what, Omitted::Data(_, Rule::LimitReached))
        })
    }

    pub(crate) fn omit(&mut self, what: Omitted, span: Span) {
        self.omissions.push(Omission::new(what, span));
    }

    /// Counts a file that was read, and takes what is wrong with its text.
    fn take_document(&mut self, file: FileId, document: Document) -> Option<Node> {
        self.files.add(true, document.diagnostics.is_empty());
        for finding in &document.diagnostics {
            let span = finding.span.unwrap_or(Range::default().in_file(file));
            self.omit(Omitted::Data(finding.message.clone(), finding.rule), span);
        }
        if let Some(second) = document.second {
            self.omit(Omitted::SecondDocument, second.in_file(file));
        }
        self.diagnostics.extend(document.diagnostics);
        document.root
    }

    fn add_normative(&mut self) {
        let text = include_str!("normative.yaml");
        if let Some(root) = setpoint_data::read_yaml(BUILT_IN, text).root {
            self.types.add(&root, BUILT_IN, Scope::default());
        }
    }

    fn read_types(&mut self, file: FileId, root: &Node, path: &Path, scope: Scope) {
        self.types.add(root, file, scope);
        let folder = path.parent().unwrap_or(Path::new(""));
        for section in ["node_types", "relationship_types"] {
            for Entry { key, value } in root.get(section).map(Node::entries).unwrap_or_default() {
                let Some(name) = scope.name(Some(key)) else { continue };
                self.scripts.extend(scripts::find(file, folder, name, value));
            }
        }
    }

    /// Checks the version and the grammar of a file, and returns the edition of its grammar.
    fn check_file(&mut self, file: FileId, root: &Node, is_root: bool) -> Edition {
        let node = root.get("tosca_definitions_version");
        let named = node.and_then(Node::text).unwrap_or("");
        let version = named.replace("http://docs.oasis-open.org/tosca/ns/simple/yaml/", "tosca_simple_yaml_");
        let version = if version == named { version } else { version.replace('.', "_") };
        let edition = if version == "tosca_2_0" { Edition::Two } else { Edition::One };
        let is_profile = version.starts_with("tosca_simple_profile_for_");
        if is_profile || !VERSIONS.contains(&version.as_str()) {
            let named = Symbol::new(named);
            let span = node.map_or(root.range, |node| node.range).in_file(file);
            self.incomplete |= is_profile || version.contains("_dsl_");
            match node {
                // What a file imports may leave it out.
                None if !is_root => {}
                None => {
                    let message = "this TOSCA file has no `tosca_definitions_version`".to_owned();
                    let place = root.entries().first().map_or(root.range, |entry| entry.key.range);
                    self.omit(Omitted::Malformed(message, None), place.in_file(file));
                }
                Some(node) if node.is_null() || named.is_empty() => {
                    let message = "`tosca_definitions_version` names no version".to_owned();
                    let help = format!("Known are {}.", VERSIONS.join(", "));
                    self.omit(Omitted::Malformed(message, Some(help)), span);
                }
                Some(_) if is_profile => self.omit(Omitted::Profile(named), span),
                Some(_) if version.contains("_dsl_") => self.omit(Omitted::Dialect(named), span),
                Some(_) => self.omit(Omitted::Version(named), span),
            }
        }
        // Dialects have keys of their own.
        if !version.contains("_dsl_") {
            self.omissions.extend(grammar::check(file, root, edition));
            self.check_document(file, root, edition);
            if edition == Edition::Two {
                calls::names(file, root, &mut self.called);
            }
        }
        edition
    }

    /// What TOSCA 2.0 asks of a file as a whole.
    fn check_document(&mut self, file: FileId, root: &Node, edition: Edition) {
        if edition == Edition::One {
            return;
        }
        if let Some(first) =
            root.entries().first().filter(|one| one.key.text() != Some("tosca_definitions_version"))
            && root.get("tosca_definitions_version").is_some()
        {
            let message = "the first key of a TOSCA file is `tosca_definitions_version`".to_owned();
            self.omit(Omitted::Malformed(message, None), first.key.range.in_file(file));
        }
    }

    fn read_imports(
        &mut self,
        reader: &mut Reader<'_>,
        file: FileId,
        root: &Node,
        path: &Path,
        scope: Scope,
    ) {
        let folder = path.parent().unwrap_or(Path::new(""));
        for Import { target, is_profile, repository, namespace, is_prefix, range } in
            imports(root.get("imports"))
        {
            let span = range.in_file(file);
            let Some(target) = target else {
                let words = "this import names no file and no profile".to_owned();
                self.not_imported(Omitted::Malformed(words, None), span);
                continue;
            };
            let address = repository.as_ref().map(|name| repository_address(root, name));
            let target = match (address, repository) {
                (Some(Some(address)), _) => format!("{}/{target}", address.trim_end_matches('/')),
                (Some(None), Some(name)) => {
                    self.not_imported(Omitted::Repository(Symbol::new(&name)), span);
                    continue;
                }
                _ => target,
            };
            if profiles::is_built_in(&target) {
                continue;
            }
            if target.contains("://") {
                self.not_imported(Omitted::ImportElsewhere(target), span);
                continue;
            }
            let found = if is_profile {
                profiles::find(reader.files, folder, reader.profiles, &target)
            } else {
                None
            };
            if is_profile && found.is_none() {
                self.not_imported(Omitted::ProfileNotFound(target), span);
                continue;
            }
            let target = target.strip_prefix("file:").unwrap_or(&target).to_owned();
            let beside = found.unwrap_or_else(|| normal(&folder.join(&target)));
            // A leading `/` is the folder of the service template, or the top of the archive.
            let of_root = normal(&reader.folder.join(target.trim_start_matches('/')));
            let elsewhere = [of_root, repeated(folder, &target)];
            let found = elsewhere.into_iter().find(|path| reader.files.is_file(path));
            let next = found.filter(|_| !reader.files.is_file(&beside)).unwrap_or(beside);
            // A file that is imported into two namespaces defines its types in both.
            let inner = match namespace {
                Some(name) => Scope { namespace: Some(scope.qualify(name)) },
                None => scope,
            };
            if reader.seen.contains(&(next.clone(), inner.namespace)) {
                continue;
            }
            if reader.seen.len() >= MAX_FILES {
                self.not_imported(Omitted::ImportLimit(MAX_FILES.get()), span);
                return;
            }
            let is_first = !reader.seen.iter().any(|(path, _)| *path == next);
            reader.seen.push((next.clone(), inner.namespace));
            let text = match read_text(reader.files, &next) {
                Ok(text) => text,
                // A profile or an archive of a catalog that another tool knows by its name.
                Err(FileError { missing: true, .. }) if is_name(&target) => {
                    self.not_imported(Omitted::ImportElsewhere(target), span);
                    continue;
                }
                Err(_) if !reader.files.permits(&next) => {
                    self.not_imported(Omitted::ImportOutside(target), span);
                    continue;
                }
                Err(FileError { reason, .. }) => {
                    let path = next.display().to_string();
                    self.not_imported(Omitted::ImportUnreadable { target, path, reason }, span);
                    continue;
                }
            };
            let imported = reader.sources.add(next.display().to_string(), text.as_str());
            let document = setpoint_data::read_yaml(imported, &text);
            let root = if is_first { self.take_document(imported, document) } else { document.root };
            if self.is_cut_off(imported) {
                continue;
            }
            let Some(root) = root else {
                self.omit(Omitted::Template, Range::default().in_file(imported));
                continue;
            };
            if !root.is_mapping() {
                self.omit(Omitted::Template, root.range.in_file(imported));
                continue;
            }
            if is_first {
                let edition = self.check_file(imported, &root, false);
                let mut topology = Self { edition, ..Self::default() };
                topology.read_topology(imported, &root, &next);
                // A topology counts only where it stands for a node.
                if let Some(substitution) = &topology.substitution {
                    self.omissions.append(&mut topology.omissions);
                    self.inner.entry(substitution.node_type).or_insert(topology);
                }
            }
            self.read_types(imported, &root, &next, inner);
            // Tools for the Simple Profile give the prefix to the types of the file alone.
            let nested = if is_prefix { scope } else { inner };
            self.read_imports(reader, imported, &root, &next, nested);
        }
    }

    /// Records an import that was not followed: it may define types that are not seen.
    fn not_imported(&mut self, what: Omitted, span: Span) {
        self.incomplete = true;
        self.files.add(false, false);
        self.omit(what, span);
    }

    fn read_topology(&mut self, file: FileId, root: &Node, path: &Path) {
        let Some(section) = TOPOLOGY.iter().find_map(|name| root.entry(name)) else { return };
        let topology = &section.value;
        if !topology.is_mapping() {
            return;
        }
        self.has_topology = true;
        self.topology = Some((file, topology.clone()));
        let folder = path.parent().unwrap_or(Path::new(""));
        let templates = topology.get("node_templates");
        for entry in templates.map(Node::entries).unwrap_or_default() {
            self.read_node(file, templates, entry);
            if let Some(name) = symbol(Some(&entry.key)) {
                self.scripts.extend(scripts::find(file, folder, name, &entry.value));
            }
        }
        for section in ["groups", "policies", "workflows"] {
            let section = named_items(topology.get(section));
            self.other_templates.extend(section.iter().filter_map(|(key, _)| symbol(Some(key))));
        }
        // Other workflows run when someone asks for them; this one takes the place of the set-up that the rules describe.
        if let Some(deploy) = topology.get("workflows").and_then(|workflows| workflows.entry("deploy")) {
            self.omit(Omitted::Workflow(Symbol::new("deploy")), deploy.key.range.in_file(file));
        }
        self.calls = calls::find(file, topology);
        let relationships = topology.get("relationship_templates");
        for entry in relationships.map(Node::entries).unwrap_or_default() {
            let Some(name) = symbol(Some(&entry.key)) else { continue };
            let template = self.with_copied(file, relationships, entry, "relationship template");
            self.scripts.extend(scripts::find(file, folder, name, &template));
            match symbol(template.get("type")) {
                Some(kind) => {
                    self.relationships.insert(name, kind);
                }
                None => self.no_type("relationship template", name, entry.key.range.in_file(file)),
            }
        }
        self.inputs = keys(topology.get("inputs"));
        self.substitution = Substitution::read(file, topology, &mut self.omissions);
    }

    fn no_type(&mut self, what: &str, name: Symbol, span: Span) {
        let message = format!("the {what} `{name}` has no type");
        self.omit(Omitted::Malformed(message, Some("Give it a `type`.".to_owned())), span);
    }

    /// A template together with what it takes from the one that `copy` names.
    fn with_copied(&mut self, file: FileId, templates: Option<&Node>, entry: &Entry, what: &str) -> Node {
        let Some(copied) = entry.value.get("copy") else { return entry.value.clone() };
        let mut out = entry.value.clone();
        let mut seen = vec![entry.key.text().unwrap_or_default()];
        let mut next = copied.text();
        while let Some(name) = next {
            let is_circle = seen.contains(&name);
            let source = templates.and_then(|templates| templates.get(name)).filter(|_| !is_circle);
            let Some(source) = source else {
                let message = if is_circle {
                    format!("the {what} `{name}` is copied in a circle")
                } else {
                    format!("there is no {what} `{name}` that could be copied")
                };
                self.omit(Omitted::Malformed(message, None), copied.range.in_file(file));
                break;
            };
            seen.push(name);
            out = merged(&out, source);
            next = source.get("copy").and_then(Node::text);
        }
        out
    }

    fn read_node(&mut self, file: FileId, templates: Option<&Node>, entry: &Entry) {
        let Some(name) = symbol(Some(&entry.key)) else { return };
        let span = entry.key.range.in_file(file);
        if !entry.value.is_mapping() {
            return;
        }
        let node = self.with_copied(file, templates, entry, "node template");
        let Some(kind) = node.get("type").filter(|kind| symbol(Some(kind)).is_some()) else {
            return self.no_type("node template", name, span);
        };
        let directives: Vec<&str> = node
            .get("directives")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::text)
            .collect();
        if let Some(entry) = node.entry("node_filter") {
            self.omit(Omitted::Filter(name), entry.key.range.in_file(file));
        }
        // Copies wait for each other in a circle just if their templates do, as long as there is one of each.
        if let Some(entry) = node.entry("count").filter(|entry| !is_positive(&entry.value)) {
            self.omit(Omitted::Counted(name), entry.key.range.in_file(file));
        }
        if directives.iter().any(|word| !DIRECTIVES.contains(word)) {
            self.omit(Omitted::Directive(name), span);
        }
        let selected = directives.iter().any(|word| ["select", "selectable"].contains(word));
        if selected {
            self.omit(Omitted::Selected(name), span);
        }
        let requirements = named_items(node.get("requirements"))
            .into_iter()
            .filter_map(|(key, value)| self.assignment(file, name, key, value))
            .collect();
        let template = NodeTemplate {
            name,
            span,
            kind: Symbol::new(kind.text().unwrap_or("")),
            kind_span: kind.range.in_file(file),
            requirements,
            capabilities: named_items(node.get("capabilities"))
                .iter()
                .filter_map(|(key, _)| symbol(Some(key)))
                .collect(),
            artifacts: keys(node.get("artifacts")),
            selected,
            substituted: directives.iter().any(|word| ["substitute", "substitutable"].contains(word)),
            node: node.clone(),
        };
        self.nodes.insert(template.name, template);
    }

    fn assignment(&mut self, file: FileId, node: Symbol, key: &Node, value: &Node) -> Option<Assignment> {
        let span = key.range.to(value.range).in_file(file);
        let name = symbol(Some(key))?;
        let relationship = value.get("relationship");
        let mut assignment = Assignment {
            name,
            span,
            is_open: false,
            node: symbol(Some(value)).or_else(|| symbol(value.get("node"))),
            capability: symbol(value.get("capability")),
            relationship: symbol(relationship)
                .or_else(|| symbol(relationship.and_then(|one| one.get("type")))),
            filter: value.get("node_filter").filter(|filter| !filter.is_null()).cloned(),
        };
        // An expression, or several nodes at once.
        let is_open = |part: Option<&Node>| part.is_some_and(|part| !part.is_null() && part.text().is_none());
        if value.is_sequence() || is_open(value.get("node")) || is_open(value.get("capability")) {
            self.omit(Omitted::Chosen(node, name), span);
            assignment.is_open = true;
        }
        for Entry { key, value } in value.entries() {
            match key.text() {
                Some("count") if is_positive(value) => {}
                Some("count" | "directives" | "optional" | "allocation") => {
                    self.omit(Omitted::Counted(name), key.range.in_file(file));
                }
                _ => {}
            }
        }
        Some(assignment)
    }

    /// Whether a node of the topology has something for a requirement that the template as a whole could pass on.
    pub(crate) fn fulfils(&self, node: Symbol, requirement: Symbol) -> bool {
        self.nodes.get(&node).is_some_and(|node| {
            node.requirements.iter().any(|one| one.name == requirement && one.node.is_some())
        })
    }

    /// Whether the template as a whole passes a requirement of a node on.
    pub(crate) fn passes_on(&self, node: Symbol, requirement: Symbol) -> bool {
        self.substitution
            .iter()
            .flat_map(|substitution| &substitution.requirements)
            .any(|mapped| (mapped.node, mapped.inner) == (node, requirement))
    }
}

fn is_positive(node: &Node) -> bool {
    node.plain().is_some_and(|text| text.parse::<u32>().is_ok_and(|number| number > 0))
}

/// A mapping with what another one has beyond it, at every level.
fn merged(own: &Node, other: &Node) -> Node {
    if !own.is_mapping() || !other.is_mapping() {
        return own.clone();
    }
    let mut entries = own.entries().to_vec();
    for entry in other.entries() {
        match entries.iter_mut().find(|known| known.key.text() == entry.key.text()) {
            Some(known) => known.value = merged(&known.value, &entry.value),
            None => entries.push(entry.clone()),
        }
    }
    Node { range: own.range, tag: None, kind: setpoint_data::Kind::Mapping(entries.into()) }
}

/// What stays the same while files import files.
struct Reader<'a> {
    files: &'a dyn FileSystem,
    sources: &'a Sources,
    /// The folder of the service template: some tools look there for what imports import.
    folder: &'a Path,
    /// Folders with profiles.
    profiles: &'a [PathBuf],
    /// Files that were read, each with its namespace.
    seen: Vec<(PathBuf, Option<Symbol>)>,
}

/// A file or profile that `imports` names, the repository that has it, and the namespace of its types.
struct Import {
    target: Option<String>,
    is_profile: bool,
    repository: Option<String>,
    namespace: Option<Symbol>,
    /// The namespace is a `namespace_prefix`.
    is_prefix: bool,
    range: Range,
}

/// The files that `imports` names, in any of its spellings.
fn imports(node: Option<&Node>) -> Vec<Import> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Vec::new() };
    let one = |item: &Node| {
        let keys = ["file", "url", "profile"];
        // `name: {file: …}` and `name: file` are spellings of the Simple Profile.
        let named = keys.iter().chain(&["namespace", "namespace_prefix", "repository"]);
        let is_plain = item.text().is_some() || named.clone().any(|key| item.get(key).is_some());
        let item = if is_plain { item } else { item.entries().first().map_or(item, |entry| &entry.value) };
        let named = keys.iter().find_map(|key| item.get(key));
        let text = |key: &str| item.get(key).and_then(Node::text);
        let target = item.text().or_else(|| named.and_then(Node::text)).filter(|text| !text.is_empty());
        Import {
            target: target.map(str::to_owned),
            is_profile: item.get("profile").is_some(),
            repository: text("repository").map(str::to_owned),
            namespace: text("namespace").or_else(|| text("namespace_prefix")).map(Symbol::new),
            is_prefix: text("namespace").is_none() && text("namespace_prefix").is_some(),
            range: item.range,
        }
    };
    if node.is_sequence() {
        node.items().iter().map(one).collect()
    } else if node.is_mapping() {
        node.entries().iter().map(|entry| one(&entry.value)).collect()
    } else {
        vec![one(node)]
    }
}

/// Whether an import names something by other means than a file: `tosca_simple_yaml_1_3`, `mongo-types:2.2.0`, `org.example`.
fn is_name(target: &str) -> bool {
    let endings = ["yaml", "yml", "tosca", "json", "csar", "zip"];
    let has_ending = target.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
    target.starts_with("tosca_")
        || target.starts_with("org.")
        || !(has_ending || target.contains(['/', '\\']))
}

/// The path of an import that repeats the folder it stands in: `types/b.yaml` in `types/a.yaml`, as some tools read it.
fn repeated(folder: &Path, target: &str) -> PathBuf {
    match target.rsplit_once('/') {
        Some((within, name)) if folder.ends_with(within) => normal(&folder.join(name)),
        _ => normal(&folder.join(target)),
    }
}

/// The address of a repository that a file defines.
fn repository_address<'a>(root: &'a Node, name: &str) -> Option<&'a str> {
    let defined = root.get("repositories")?.get(name)?;
    defined.text().or_else(|| defined.get("url").and_then(Node::text))
}
