//! What is wrong with a catalog before anything is applied.

use setpoint_source::{Diagnostic, FileId, Range, Rule, Span};

use crate::conversion::{self, Problem};
use crate::graph::{BuildError, Cause, Cycle, Edge, Graph, Types};
use crate::read::ReadError;
use crate::{Catalog, ResourceId};

/// Why a file is no catalog.
pub fn of_read_error(error: &ReadError, file: FileId, text: &str) -> Diagnostic {
    let finding = Diagnostic::new(Rule::InvalidCatalog, error.to_string());
    let Some((line, column)) = error.position else { return finding };
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (start + column.saturating_sub(1)).min(text.len());
    finding.at(Range::new(at, at).in_file(file))
}

/// What the agent refuses before it applies anything, and what it may refuse.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    pub findings: Vec<Diagnostic>,
    /// What the agent may refuse or not: nobody knows. A sentence without a full stop each, and its place.
    pub doubts: Vec<(String, Option<Span>)>,
}

/// Examines what the agent does when it turns the catalog into native resources.
pub fn of_conversion(catalog: &Catalog, types: &dyn Types, system: System) -> Refusals {
    let mut found = conversion::examine(catalog, types);
    if system == System::Windows {
        found.problems.retain(|problem| !names_path_of_windows(catalog, problem));
    }
    let doubts = found.doubts.iter().map(|doubt| (words(catalog, doubt), place(catalog, doubt)));
    Refusals {
        findings: found.problems.iter().map(|problem| invalid(catalog, problem)).collect(),
        doubts: doubts.collect(),
    }
}

/// The kind of system that applies a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum System {
    #[default]
    Posix,
    Windows,
}

/// Parameters that are paths or begin with one.
const PATHS: [&str; 9] =
    ["path", "source", "cwd", "creates", "home", "target", "command", "onlyif", "unless"];

/// Whether what is refused is an absolute path of Windows.
fn names_path_of_windows(catalog: &Catalog, problem: &Problem) -> bool {
    let Some(resource) = catalog.get(problem.resource) else { return false };
    let is_path = |text: &str| {
        let bytes = text.as_bytes();
        let has_drive = bytes.len() > 2
            && bytes[0].is_ascii_alphabetic()
            && bytes[1] == b':'
            && matches!(bytes[2], b'/' | b'\\');
        has_drive || text.starts_with("//") || text.starts_with("\\\\")
    };
    let name = problem.parameter.map_or("path", |name| name.as_str());
    let given = problem.parameter.and_then(|name| resource.get(name.as_str()));
    match given.map(|given| (given.as_array(), given.as_str())) {
        Some((Some(items), _)) => {
            PATHS.contains(&name)
                && items
                    .iter()
                    .all(|item| item.as_str().is_none_or(|text| is_path(text) || text.starts_with("puppet:")))
        }
        Some((None, Some(text))) => PATHS.contains(&name) && is_path(text),
        Some((None, None)) => false,
        None => {
            matches!((resource.type_name.as_str(), name), ("File", "path") | ("Exec", "command"))
                && is_path(&resource.title)
        }
    }
}

fn words(catalog: &Catalog, problem: &Problem) -> String {
    let name = reference(catalog, problem.resource);
    match problem.parameter {
        Some(parameter) => format!("{name}: `{parameter}` {}", problem.message),
        None => format!("{name} {}", problem.message),
    }
}

fn place(catalog: &Catalog, problem: &Problem) -> Option<Span> {
    let resource = catalog.get(problem.resource);
    let given = resource.zip(problem.parameter).and_then(|(one, name)| one.parameters.entry(name)?.span);
    given.or(resource.and_then(|one| one.span))
}

fn invalid(catalog: &Catalog, problem: &Problem) -> Diagnostic {
    let name = reference(catalog, problem.resource);
    let message = words(catalog, problem);
    let finding = Diagnostic::new(Rule::InvalidResource, message).with_resources([name]).with_note(
        if problem.parameter == Some("schedule".into()) {
            "The agent ends its run with an error when it comes to this resource."
        } else {
            "The agent ends its run before it applies anything of this catalog."
        },
    );
    match place(catalog, problem) {
        Some(span) => finding.at(span),
        None => finding,
    }
}

/// Relationships that cannot be kept: circles, and names of nothing.
pub fn of_graph(catalog: &Catalog, graph: &Result<Graph, BuildError>) -> Vec<Diagnostic> {
    match graph {
        Err(error) => vec![dangling(catalog, error)],
        Ok(graph) => graph.cycles().iter().map(|cycle| circle(catalog, graph, cycle)).collect(),
    }
}

fn dangling(catalog: &Catalog, error: &BuildError) -> Diagnostic {
    let name = reference(catalog, error.resource);
    let relation = error.relation.as_str();
    let message = format!("{name} has `{relation} => {}`, and there is no such resource", error.reference);
    let finding = Diagnostic::new(Rule::DanglingReference, message).with_resources([name]);
    let resource = catalog.get(error.resource);
    let place = resource.and_then(|one| one.parameters.entry(relation.into())?.span.or(one.span));
    match place.or(resource.and_then(|one| one.span)) {
        Some(span) => finding.at(span),
        None => finding,
    }
}

fn circle(catalog: &Catalog, graph: &Graph, cycle: &Cycle) -> Diagnostic {
    let mut names: Vec<String> = Vec::new();
    for edge in &cycle.path {
        if let Some(id) = graph.node(edge.source).resource() {
            let name = reference(catalog, id);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let message = match names.as_slice() {
        [one] => format!("{one} waits for itself, so Puppet cannot apply it"),
        [first @ .., last] => {
            format!("{} and {last} wait for each other, so Puppet cannot apply them", first.join(", "))
        }
        [] => "the catalog has a circle of relationships".to_owned(),
    };
    let mut finding = Diagnostic::new(Rule::DependencyCycle, message).with_resources(names);
    let mut removable = false;
    for edge in &cycle.path {
        let Some((by, text, own)) = described(catalog, graph, edge) else { continue };
        removable |= own;
        let relation = match edge.cause {
            Cause::Parameter { relation, .. } => Some(relation.as_str()),
            _ => None,
        };
        let resource = catalog.get(by);
        let parameter = relation.and_then(|name| resource?.parameters.entry(name.into())?.span);
        let Some(span) = parameter.or(resource.and_then(|one| one.span)) else {
            finding = finding.with_note(text);
            continue;
        };
        finding = if finding.span.is_none() {
            finding.at(span).labelled(text)
        } else {
            finding.with_label(span, text)
        };
    }
    let help = if removable {
        "Remove or turn round one of the relationships that the manifest states."
    } else {
        "The types add these relationships by themselves; change the paths or names that they follow from."
    };
    finding.with_help(help)
}

/// The resource that makes an edge, a sentence on it, and whether the manifest states it.
fn described(catalog: &Catalog, graph: &Graph, edge: &Edge) -> Option<(ResourceId, String, bool)> {
    let source = reference(catalog, graph.node(edge.source).resource()?);
    let target = reference(catalog, graph.node(edge.target).resource()?);
    match edge.cause {
        Cause::Parameter { relation, by } => {
            Some((by, format!("{target} comes after {source} (`{}`)", relation.as_str()), true))
        }
        Cause::Auto { by, .. } => Some((by, format!("{target} comes after {source} by its type"), false)),
        Cause::Contains => {
            let inner = graph.node(edge.target).resource()?;
            Some((inner, format!("{source} and {target}: one contains the other"), false))
        }
        Cause::Empty => None,
    }
}

fn reference(catalog: &Catalog, id: ResourceId) -> String {
    catalog.get(id).map(crate::Resource::reference).unwrap_or_default()
}
