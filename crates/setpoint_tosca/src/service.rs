//! Service templates: what a file and its imports say.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use setpoint_data::Node;
use setpoint_source::{
    Diagnostic, FileId, FileSystem, Range, Rule, Sources, Span, Symbol, normal, read_text,
};

use crate::substitution::Substitution;
use crate::types::{Types, named_items, symbol};

/// Imports may import; a chain this long is no longer a library.
const MAX_FILES: usize = 500;

#[derive(Debug, Default)]
pub struct Service {
    pub version: Option<Symbol>,
    pub types: Types,
    pub nodes: IndexMap<Symbol, NodeTemplate>,
    /// Type of each relationship template.
    pub relationships: IndexMap<Symbol, Symbol>,
    /// What the topology as a whole stands for.
    pub substitution: Option<Substitution>,
    /// Imported topologies that stand for a node of a type.
    pub inner: IndexMap<Symbol, Service>,
    pub inputs: Vec<Symbol>,
    pub has_topology: bool,
    /// An import could not be followed, so a type may be there that is not seen.
    pub incomplete: bool,
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

impl Service {
    /// Reads a service template and all that it imports from the same file system.
    pub fn read(files: &dyn FileSystem, sources: &Sources, file: FileId, path: &Path) -> Self {
        let mut service = Self::default();
        let text = sources.file(file).shared_text();
        let document = setpoint_data::read_yaml(file, &text);
        service.diagnostics.extend(document.diagnostics);
        if let Some(root) = &document.root {
            service.version = symbol(root.get("tosca_definitions_version"));
            service.check_version(file, root);
            service.read_topology(file, root);
            service.types.add(root, |node| node.range.in_file(file));
            let mut seen = vec![normal(path)];
            service.read_imports(files, sources, file, root, path, &mut seen);
        }
        service.add_normative();
        service
    }

    fn add_normative(&mut self) {
        let text = include_str!("normative.yaml");
        // The normative types have no place in the user's files.
        let nowhere = FileId(u32::MAX);
        if let Some(root) = setpoint_data::read_yaml(nowhere, text).root {
            self.types.add(&root, |node| node.range.in_file(nowhere));
        }
    }

    fn check_version(&mut self, file: FileId, root: &Node) {
        let Some(node) = root.get("tosca_definitions_version") else { return };
        let version = node.text().unwrap_or("");
        let known = [
            "tosca_simple_yaml_1_0",
            "tosca_simple_yaml_1_1",
            "tosca_simple_yaml_1_2",
            "tosca_simple_yaml_1_3",
            "tosca_2_0",
        ];
        if known.contains(&version) {
            return;
        }
        if version.starts_with("tosca_simple_profile_for_") {
            let message = format!("the types of the profile `{version}` are not known here");
            self.diagnostics.push(
                Diagnostic::new(Rule::NotModelled, message)
                    .at(node.range.in_file(file))
                    .with_note("Nodes of such types are joined by their requirements alone."),
            );
            self.incomplete = true;
            return;
        }
        self.diagnostics.push(
            Diagnostic::new(
                Rule::NotModelled,
                format!("`{version}` is not a version of TOSCA that is known here"),
            )
            .at(node.range.in_file(file))
            .with_help(format!("Known are {}.", known.join(", "))),
        );
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
        for (target, range) in imports(root.get("imports")) {
            let Some(target) = target else {
                self.unseen(file, range, "this import names no file");
                continue;
            };
            if target.contains("://") || target.starts_with("tosca_") || target.starts_with("org.") {
                self.unseen(
                    file,
                    range,
                    &format!("`{target}` is not in this folder, and nothing is fetched"),
                );
                continue;
            }
            let next = normal(&folder.join(&target));
            if seen.contains(&next) {
                continue;
            }
            if seen.len() >= MAX_FILES {
                self.unseen(file, range, "there are too many imports");
                return;
            }
            seen.push(next.clone());
            match read_text(files, &next) {
                Err(error) => {
                    self.incomplete = true;
                    self.diagnostics.push(
                        Diagnostic::new(
                            Rule::MissingImport,
                            format!("the import `{target}` cannot be read: {}", error.reason),
                        )
                        .at(range.in_file(file))
                        .with_note(format!("It was looked for at {}.", next.display())),
                    );
                }
                Ok(text) => {
                    let imported = sources.add(next.display().to_string(), text.as_str());
                    let document = setpoint_data::read_yaml(imported, &text);
                    self.diagnostics.extend(document.diagnostics);
                    if let Some(root) = document.root {
                        let mut inner = Self::default();
                        inner.read_topology(imported, &root);
                        if let Some(substitution) = &inner.substitution {
                            self.inner.entry(substitution.node_type).or_insert(inner);
                        }
                        self.types.add(&root, |node| node.range.in_file(imported));
                        self.read_imports(files, sources, imported, &root, &next, seen);
                    }
                }
            }
        }
    }

    fn unseen(&mut self, file: FileId, range: Range, message: &str) {
        self.incomplete = true;
        self.diagnostics.push(Diagnostic::new(Rule::NotModelled, message).at(range.in_file(file)));
    }

    fn read_topology(&mut self, file: FileId, root: &Node) {
        let Some(topology) = root.get("topology_template").or_else(|| root.get("service_template")) else {
            return;
        };
        self.has_topology = true;
        for entry in topology.get("node_templates").map(Node::entries).unwrap_or_default() {
            let Some(name) = entry.key.text() else { continue };
            let Some(kind) = entry.value.get("type") else {
                self.diagnostics.push(
                    Diagnostic::new(Rule::UnknownType, format!("the node template `{name}` has no type"))
                        .at(entry.key.range.in_file(file))
                        .with_help("Give it a type, such as `type: tosca.nodes.Compute`."),
                );
                continue;
            };
            let assignments = named_items(entry.value.get("requirements"));
            let template = NodeTemplate {
                name: Symbol::new(name),
                span: entry.key.range.in_file(file),
                kind: Symbol::new(kind.text().unwrap_or("")),
                kind_span: kind.range.in_file(file),
                requirements: assignments
                    .into_iter()
                    .filter_map(|(key, value)| assignment(file, key, value))
                    .collect(),
                capabilities: entry
                    .value
                    .get("capabilities")
                    .map(Node::entries)
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|entry| entry.key.text().map(Symbol::new))
                    .collect(),
                selected: has_directive(&entry.value, "select") || has_directive(&entry.value, "selectable"),
                substituted: has_directive(&entry.value, "substitute")
                    || has_directive(&entry.value, "substitutable"),
            };
            self.nodes.insert(template.name, template);
        }
        for entry in topology.get("relationship_templates").map(Node::entries).unwrap_or_default() {
            if let (Some(name), Some(kind)) = (entry.key.text(), symbol(entry.value.get("type"))) {
                self.relationships.insert(Symbol::new(name), kind);
            }
        }
        self.inputs = topology
            .get("inputs")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| symbol(Some(&entry.key)))
            .collect();
        self.substitution = Substitution::read(file, topology);
    }

    /// Whether the template as a whole passes a requirement of a node on.
    pub(crate) fn passes_on(&self, node: Symbol, requirement: Symbol) -> bool {
        self.substitution
            .iter()
            .flat_map(|substitution| &substitution.requirements)
            .any(|mapped| (mapped.node, mapped.inner) == (node, requirement))
    }
}

fn has_directive(node: &Node, word: &str) -> bool {
    node.get("directives").is_some_and(|list| list.items().iter().any(|item| item.text() == Some(word)))
}

fn assignment(file: FileId, key: &Node, value: &Node) -> Option<Assignment> {
    let relationship = value.get("relationship");
    Some(Assignment {
        name: Symbol::new(key.text()?),
        span: key.range.to(value.range).in_file(file),
        node: symbol(Some(value)).or_else(|| symbol(value.get("node"))),
        capability: symbol(value.get("capability")),
        relationship: symbol(relationship).or_else(|| symbol(relationship.and_then(|one| one.get("type")))),
    })
}

/// The files that `imports` names, in any of its spellings.
fn imports(node: Option<&Node>) -> Vec<(Option<String>, Range)> {
    let Some(node) = node else { return Vec::new() };
    let one = |item: &Node| -> (Option<String>, Range) {
        let direct =
            item.text().or_else(|| ["file", "url"].iter().find_map(|key| item.get(key)).and_then(Node::text));
        let named = || {
            let value = &item.entries().first()?.value;
            value.text().or_else(|| value.get("file").and_then(Node::text))
        };
        (direct.or_else(named).map(str::to_owned), item.range)
    };
    if node.is_sequence() {
        node.items().iter().map(one).collect()
    } else {
        node.entries().iter().map(|entry| one(&entry.value)).collect()
    }
}
