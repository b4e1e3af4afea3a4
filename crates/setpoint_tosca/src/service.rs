//! Service templates: what a file and its imports say.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use setpoint_data::{Document, Entry, Node};
use setpoint_source::{
    Counted, Diagnostic, FileError, FileId, FileSystem, Range, Rule, Sources, Span, Symbol, normal, read_text,
};

use crate::omission::{Omission, Omitted};
use crate::substitution::Substitution;
use crate::types::{Types, ancestors, are_named_items, keys, named_items, symbol};
use crate::{calls, scripts};

/// Imports may import; a chain this long is no longer a library.
const MAX_FILES: usize = 500;

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
    /// Names of groups, policies and workflows.
    pub(crate) other_templates: Vec<Symbol>,
    pub(crate) calls: Vec<calls::Call>,
    /// Files that node templates and node types name.
    pub(crate) scripts: Vec<scripts::Script>,
    pub has_topology: bool,
    /// An import could not be followed, so a type may be there that is not seen.
    pub incomplete: bool,
    /// What was not read, not understood or has no model.
    pub omissions: Vec<Omission>,
    /// The file and those that it imports.
    pub files: Counted,
    /// What is wrong with the text of the files.
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone)]
pub struct NodeTemplate {
    pub name: Symbol,
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
}

/// The versions of TOSCA that are read.
pub(crate) const VERSIONS: [&str; 5] = [
    "tosca_simple_yaml_1_0",
    "tosca_simple_yaml_1_1",
    "tosca_simple_yaml_1_2",
    "tosca_simple_yaml_1_3",
    "tosca_2_0",
];

/// The profiles whose types are built in.
const PROFILES: [&str; 2] = ["org.oasis-open.tosca.simple:2.0", "org.oasis-open.simple:2.0"];

/// Sections that hold a mapping, and matter for the topology.
const TYPES: [&str; 3] = ["node_types", "relationship_types", "capability_types"];

/// Sections that say nothing about which nodes there are and what they wait for.
const OTHER_SECTIONS: [&str; 18] = [
    "tosca_definitions_version",
    "tosca_default_namespace",
    "namespace",
    "profile",
    "metadata",
    "template_name",
    "template_author",
    "template_version",
    "description",
    "dsl_definitions",
    "repositories",
    "schemas",
    "artifact_types",
    "data_types",
    "interface_types",
    "group_types",
    "policy_types",
    "functions",
];

const TOPOLOGY: [&str; 2] = ["topology_template", "service_template"];

/// The parts of a node template that say nothing about what it waits for.
const OTHER_NODE_PARTS: [&str; 7] =
    ["description", "metadata", "properties", "attributes", "interfaces", "artifacts", "name"];

impl Service {
    /// Reads a service template and all that it imports from the same file system. What is passed over is recorded.
    pub fn read(files: &dyn FileSystem, sources: &Sources, file: FileId, path: &Path) -> Self {
        let mut service = Self::default();
        let text = sources.file(file).shared_text();
        let document = setpoint_data::read_yaml(file, &text);
        let root = service.take_document(file, document);
        match &root {
            // What is missing may stand in the rest that was not read.
            _ if service.is_cut_off(file) => {}
            Some(root) if root.is_mapping() => {
                service.check_version(file, root);
                service.read_topology(file, root, path);
                service.read_types(file, root, path);
                let mut seen = vec![normal(path)];
                service.read_imports(files, sources, file, root, path, &mut seen);
                if service.nodes.is_empty() {
                    let place = TOPOLOGY.iter().find_map(|name| root.entry(name));
                    let place = place.or(root.entries().first()).map_or(root.range, |entry| entry.key.range);
                    service.omit(Omitted::NoNodes, place.in_file(file));
                }
            }
            root => {
                let place = root.as_ref().map(|root| root.range).unwrap_or_default();
                service.omit(Omitted::Template, place.in_file(file));
            }
        }
        service.add_normative();
        service.find_scripts(files);
        service
    }

    /// Records the files that are not there of those that the templates and their types name. An operation may name an
    /// artifact instead of a file.
    fn find_scripts(&mut self, files: &dyn FileSystem) {
        let mut missing = Vec::new();
        for topology in std::iter::once(&*self).chain(self.inner.values()) {
            for script in &topology.scripts {
                let artifact = Symbol::new(&script.target);
                let (own, kind) = match topology.nodes.get(&script.of) {
                    Some(node) => (node.artifacts.contains(&artifact), node.kind),
                    None => (false, script.of),
                };
                if !own && !self.artifacts_of(kind).contains(&artifact) {
                    missing.push((script.of, script.check(files)));
                }
            }
        }
        let nodes = self.nodes.values().chain(self.inner.values().flat_map(|inner| inner.nodes.values()));
        let mut used: FxHashSet<Symbol> = FxHashSet::default();
        for node in nodes {
            used.insert(node.name);
            if used.insert(node.kind) {
                used.extend(ancestors(&self.types.nodes, node.kind));
            }
        }
        let missing = missing.into_iter().filter(|(of, _)| used.contains(of)).filter_map(|(_, what)| what);
        self.omissions.extend(missing);
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
        // The normative types have no place in the user's files.
        let nowhere = FileId(u32::MAX);
        if let Some(root) = setpoint_data::read_yaml(nowhere, text).root {
            self.types.add(&root, nowhere, &mut Vec::new());
        }
    }

    /// Reads the types of a file, and looks at the shape of its sections.
    fn read_types(&mut self, file: FileId, root: &Node, path: &Path) {
        for Entry { key, value } in root.entries() {
            let Some(name) = key.text() else {
                self.omit(Omitted::Key, key.range.in_file(file));
                continue;
            };
            let is_known = TOPOLOGY.contains(&name) || name == "imports" || OTHER_SECTIONS.contains(&name);
            match TYPES.into_iter().find(|known| *known == name) {
                Some(known) if !value.is_mapping() => {
                    self.omit(Omitted::Section(known), key.range.to(value.range).in_file(file));
                }
                None if !is_known => {
                    self.omit(Omitted::UnknownSection(Symbol::new(name)), key.range.in_file(file));
                }
                _ => {}
            }
        }
        self.types.add(root, file, &mut self.omissions);
        let folder = path.parent().unwrap_or(Path::new(""));
        for Entry { key, value } in root.get("node_types").map(Node::entries).unwrap_or_default() {
            let Some(name) = symbol(Some(key)) else { continue };
            self.scripts.extend(scripts::find(file, folder, name, value));
        }
    }

    fn check_version(&mut self, file: FileId, root: &Node) {
        let node = root.get("tosca_definitions_version");
        let version = node.and_then(Node::text).unwrap_or("");
        if VERSIONS.contains(&version) {
            return;
        }
        let is_profile = version.starts_with("tosca_simple_profile_for_");
        self.incomplete |= is_profile;
        let version = Symbol::new(version);
        let what = if is_profile { Omitted::Profile(version) } else { Omitted::Version(version) };
        self.omit(what, node.map_or(root.range, |node| node.range).in_file(file));
    }

    fn read_imports(
        &mut self,
        files: &dyn FileSystem,
        sources: &Sources,
        file: FileId,
        root: &Node,
        path: &Path,
        seen: &mut Vec<PathBuf>,
    ) {
        let folder = path.parent().unwrap_or(Path::new(""));
        for Import { target, repository, range } in imports(root.get("imports")) {
            let span = range.in_file(file);
            let Some(target) = target else {
                self.not_imported(Omitted::ImportWithoutFile, span);
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
            if PROFILES.contains(&target.as_str()) {
                continue;
            }
            if target.contains("://") {
                self.not_imported(Omitted::ImportElsewhere(target), span);
                continue;
            }
            let next = normal(&folder.join(&target));
            if seen.contains(&next) {
                continue;
            }
            if seen.len() >= MAX_FILES {
                self.not_imported(Omitted::ImportLimit(MAX_FILES), span);
                return;
            }
            seen.push(next.clone());
            let text = match read_text(files, &next) {
                Ok(text) => text,
                // A profile that another tool knows by its name.
                Err(FileError { missing: true, .. })
                    if target.starts_with("tosca_") || target.starts_with("org.") =>
                {
                    self.not_imported(Omitted::ImportElsewhere(target), span);
                    continue;
                }
                Err(FileError { reason, .. }) => {
                    let path = next.display().to_string();
                    self.not_imported(Omitted::ImportUnreadable { target, path, reason }, span);
                    continue;
                }
            };
            let imported = sources.add(next.display().to_string(), text.as_str());
            let root = self.take_document(imported, setpoint_data::read_yaml(imported, &text));
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
            let mut inner = Self::default();
            inner.read_topology(imported, &root, &next);
            // A topology counts only where it stands for a node.
            if let Some(substitution) = &inner.substitution {
                self.omissions.append(&mut inner.omissions);
                self.inner.entry(substitution.node_type).or_insert(inner);
            }
            self.read_types(imported, &root, &next);
            self.read_imports(files, sources, imported, &root, &next, seen);
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
            return self.omit(Omitted::Section("topology_template"), section.key.range.in_file(file));
        }
        self.has_topology = true;
        for Entry { key, value } in topology.entries() {
            self.check_topology_section(file, key, value);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for entry in topology.get("node_templates").map(Node::entries).unwrap_or_default() {
            self.read_node(file, entry);
            if let Some(name) = symbol(Some(&entry.key)) {
                self.scripts.extend(scripts::find(file, folder, name, &entry.value));
            }
        }
        for section in ["groups", "policies", "workflows"] {
            let section = named_items(topology.get(section));
            self.other_templates.extend(section.iter().filter_map(|(key, _)| symbol(Some(key))));
        }
        self.calls = calls::find(file, topology);
        for Entry { key, value } in
            topology.get("relationship_templates").map(Node::entries).unwrap_or_default()
        {
            let Some(name) = key.text().map(Symbol::new) else { continue };
            match symbol(value.get("type")) {
                Some(kind) => {
                    self.relationships.insert(name, kind);
                }
                None => self.omit(Omitted::RelationshipTemplate(name), key.range.in_file(file)),
            }
        }
        self.inputs = keys(topology.get("inputs"));
        self.substitution = Substitution::read(file, topology, &mut self.omissions);
    }

    fn check_topology_section(&mut self, file: FileId, key: &Node, value: &Node) {
        let span = key.range.in_file(file);
        let names = || value.entries().iter().chain(value.items().iter().flat_map(Node::entries));
        match key.text() {
            None => self.omit(Omitted::Key, span),
            Some("description" | "metadata" | "inputs" | "outputs" | "groups" | "substitution_mappings") => {}
            Some("node_templates") if !value.is_mapping() => {
                self.omit(Omitted::Section("node_templates"), span);
            }
            Some("relationship_templates") if !value.is_mapping() => {
                self.omit(Omitted::Section("relationship_templates"), span);
            }
            Some("node_templates" | "relationship_templates") => {
                for entry in value.entries().iter().filter(|entry| entry.key.text().is_none()) {
                    self.omit(Omitted::Key, entry.key.range.in_file(file));
                }
            }
            Some(section @ ("policies" | "workflows")) => {
                let is_policy = section == "policies";
                for entry in names() {
                    let name = Symbol::new(entry.key.text().unwrap_or(section));
                    let what = if is_policy { Omitted::Policy(name) } else { Omitted::Workflow(name) };
                    self.omit(what, entry.key.range.in_file(file));
                }
                if names().next().is_none() {
                    self.omit(Omitted::Section(if is_policy { "policies" } else { "workflows" }), span);
                }
            }
            Some(other) => self.omit(Omitted::UnknownSection(Symbol::new(other)), span),
        }
    }

    fn read_node(&mut self, file: FileId, entry: &Entry) {
        let Some(name) = entry.key.text().map(Symbol::new) else { return };
        let span = entry.key.range.in_file(file);
        if !entry.value.is_mapping() {
            return self.omit(Omitted::Node(name), span);
        }
        let Some(kind) = entry.value.get("type").filter(|kind| symbol(Some(kind)).is_some()) else {
            return self.omit(Omitted::NoType(name), span);
        };
        let mut directives: Vec<&str> = Vec::new();
        for Entry { key, value } in entry.value.entries() {
            let place = key.range.in_file(file);
            match key.text() {
                None => self.omit(Omitted::Key, place),
                Some("type") => {}
                Some("requirements") if !are_named_items(value) => {
                    self.omit(Omitted::NodePart(name, "requirements"), place);
                }
                Some("capabilities") if !value.is_mapping() => {
                    self.omit(Omitted::NodePart(name, "capabilities"), place);
                }
                Some("requirements" | "capabilities") => {}
                Some("directives") if !value.is_sequence() => {
                    self.omit(Omitted::NodePart(name, "directives"), place);
                }
                Some("directives") => directives.extend(value.items().iter().filter_map(Node::text)),
                Some("node_filter") => self.omit(Omitted::Filter(name), place),
                Some("copy") => self.omit(Omitted::Copied(name), place),
                Some("count") => self.omit(Omitted::Counted(name), place),
                Some(other) if OTHER_NODE_PARTS.contains(&other) => {}
                Some(other) => self.omit(Omitted::UnknownNodePart(name, Symbol::new(other)), place),
            }
        }
        let selected = directives.iter().any(|word| ["select", "selectable"].contains(word));
        if selected {
            self.omit(Omitted::Selected(name), span);
        }
        let requirements = named_items(entry.value.get("requirements"))
            .into_iter()
            .filter_map(|(key, value)| self.assignment(file, name, key, value))
            .collect();
        let template = NodeTemplate {
            name,
            span,
            kind: Symbol::new(kind.text().unwrap_or("")),
            kind_span: kind.range.in_file(file),
            requirements,
            capabilities: entry
                .value
                .get("capabilities")
                .map(Node::entries)
                .unwrap_or_default()
                .iter()
                .filter_map(|entry| entry.key.text().map(Symbol::new))
                .collect(),
            artifacts: keys(entry.value.get("artifacts")),
            selected,
            substituted: directives.iter().any(|word| ["substitute", "substitutable"].contains(word)),
        };
        self.nodes.insert(template.name, template);
    }

    fn assignment(&mut self, file: FileId, node: Symbol, key: &Node, value: &Node) -> Option<Assignment> {
        let span = key.range.to(value.range).in_file(file);
        let Some(name) = key.text().map(Symbol::new) else {
            self.omit(Omitted::Key, span);
            return None;
        };
        let relationship = value.get("relationship");
        let assignment = Assignment {
            name,
            span,
            node: symbol(Some(value)).or_else(|| symbol(value.get("node"))),
            capability: symbol(value.get("capability")),
            relationship: symbol(relationship)
                .or_else(|| symbol(relationship.and_then(|one| one.get("type")))),
        };
        // What is not a name is an expression, or a mistake.
        let is_read = |key: &str, read: Option<Symbol>| value.get(key).is_none() || read.is_some();
        let is_well_formed = (value.is_mapping() || symbol(Some(value)).is_some())
            && is_read("node", assignment.node)
            && is_read("capability", assignment.capability)
            && is_read("relationship", assignment.relationship);
        if !is_well_formed {
            self.omit(Omitted::NodePart(node, "requirements"), span);
        }
        for Entry { key, .. } in value.entries() {
            match key.text() {
                Some("node" | "capability" | "relationship" | "description" | "metadata" | "occurrences") => {
                }
                Some("node_filter") => self.omit(Omitted::Filter(node), key.range.in_file(file)),
                Some("count" | "directives" | "optional" | "allocation") => {
                    self.omit(Omitted::Counted(name), key.range.in_file(file));
                }
                other => {
                    let part = Symbol::new(other.unwrap_or_default());
                    self.omit(Omitted::UnknownNodePart(node, part), key.range.in_file(file));
                }
            }
        }
        Some(assignment)
    }

    /// Whether the template as a whole passes a requirement of a node on.
    pub(crate) fn passes_on(&self, node: Symbol, requirement: Symbol) -> bool {
        self.substitution
            .iter()
            .flat_map(|substitution| &substitution.requirements)
            .any(|mapped| (mapped.node, mapped.inner) == (node, requirement))
    }
}

/// A file that `imports` names, and the repository that has it.
struct Import {
    target: Option<String>,
    repository: Option<String>,
    range: Range,
}

/// The files that `imports` names, in any of its spellings.
fn imports(node: Option<&Node>) -> Vec<Import> {
    let Some(node) = node else { return Vec::new() };
    let one = |item: &Node| {
        let target = |item: &Node| {
            let named = ["file", "url", "profile"].iter().find_map(|key| item.get(key));
            item.text().or_else(|| named.and_then(Node::text)).map(str::to_owned)
        };
        let repository = |item: &Node| item.get("repository").and_then(Node::text).map(str::to_owned);
        let found = target(item).map(|target| (Some(target), repository(item)));
        let named = || item.entries().first().map(|entry| (target(&entry.value), repository(&entry.value)));
        let (target, repository) = found.or_else(named).unwrap_or_default();
        Import { target, repository, range: item.range }
    };
    if node.is_sequence() {
        node.items().iter().map(one).collect()
    } else if node.is_mapping() {
        node.entries().iter().map(|entry| one(&entry.value)).collect()
    } else {
        vec![Import { target: None, repository: None, range: node.range }]
    }
}

/// The address of a repository that a file defines.
fn repository_address<'a>(root: &'a Node, name: &str) -> Option<&'a str> {
    let defined = root.get("repositories")?.get(name)?;
    defined.text().or_else(|| defined.get("url").and_then(Node::text))
}
