//! Where a control repository is entered: nodes that its data and its node statements name, and classes where no node has a
//! resource.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex_syntax::hir::{Class, Hir, HirKind};
use setpoint_config::{Invariant, Placed};
use setpoint_packages::Platform;
use setpoint_puppet_values::{Hash, Key, Regex, Value};
use setpoint_source::{Diagnostic, Rule, Severity, Span};

use crate::facts;
use crate::jobs::Job;
use crate::node::Known;
use crate::project::{Kind, Project, is_project_folder};
use crate::run::Checked;
use crate::settle;
use crate::survey::Survey;

/// The variables of a hierarchy that hold the name of a node.
const NAMES_OF_NODE: [&str; 13] = [
    "trusted.certname",
    "trusted.hostname",
    "clientcert",
    "certname",
    "fqdn",
    "hostname",
    "facts.clientcert",
    "facts.fqdn",
    "facts.hostname",
    "facts.networking.fqdn",
    "facts.networking.hostname",
    "networking.fqdn",
    "networking.hostname",
];

/// Names of nodes longer than that are none.
const MAX_NAME: usize = 255;

/// The nodes that have a data file of their own, each with its files: for every path of the hierarchy that holds the name of a
/// node, one node for each file that fits it.
pub(crate) fn nodes_of_data(project: &Project<'_>, folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut patterns: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for configuration in project.configurations(folder) {
        for path in configuration.paths().iter().filter(|path| path.is_path) {
            let Some(below) = project.data_folder(&configuration, path.datadir) else { continue };
            patterns.entry(below).or_default().extend(pattern_of(&path.text));
        }
    }
    let mut nodes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (below, patterns) in &patterns {
        let mut files = Vec::new();
        list_files(project, below, Path::new(""), 0, &mut files);
        for pattern in patterns {
            let Ok(regex) = Regex::new(pattern.as_str()) else { continue };
            for file in &files {
                if let Some(name) = name_in(&regex, file) {
                    nodes.entry(name).or_default().push(below.join(file));
                }
            }
        }
    }
    nodes
}

/// The names of roles in a text: what a node statement or the data of a node says that it is.
pub(crate) fn roles_in(text: &str) -> BTreeSet<String> {
    names_in(text).filter(|name| is_role(name)).collect()
}

/// The words of a text that may be names of classes.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    text.split(move |letter| !is_part(letter))
        .map(|word| word.trim_matches(':').to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Whether a class is a role by its name: `role::web`, `site::roles::web`.
fn is_role(name: &str) -> bool {
    name.split_once("::").is_some() && name.split("::").any(|part| part == "role" || part == "roles")
}

/// A path of a hierarchy as an expression whose first group is the name of a node; nothing if it names none.
fn pattern_of(path: &str) -> Option<String> {
    let (mut out, mut rest, mut has_name) = ("^".to_owned(), path, false);
    while let Some(at) = rest.find("%{") {
        out.push_str(&escaped(&rest[..at]));
        let end = rest[at..].find('}')? + at;
        let variable = rest[at + 2..end].trim().trim_start_matches("::");
        if NAMES_OF_NODE.contains(&variable) && !has_name {
            has_name = true;
            out.push_str("([^/]+)");
        } else {
            out.push_str("[^/]*");
        }
        rest = &rest[end + 1..];
    }
    out.push_str(&escaped(rest));
    out.push('$');
    has_name.then_some(out)
}

/// Literal text of a path; `*` of a glob stands for a name.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '*' => "[^/]*".to_owned(),
        letter if letter.is_ascii_alphanumeric() || "/_-".contains(letter) => letter.to_string(),
        letter => format!("\\{letter}"),
    };
    text.chars().map(escape).collect()
}

fn name_in(regex: &Regex, file: &str) -> Option<String> {
    let found = regex.find(file).ok()??;
    let name = found.group(1)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (name.len() <= MAX_NAME && name.bytes().all(is_name)).then(|| name.to_lowercase())
}

/// The files below a folder, as paths from there.
pub(crate) fn list_files(
    project: &Project<'_>,
    folder: &Path,
    below: &Path,
    depth: usize,
    out: &mut Vec<String>,
) {
    let files = project.session.files;
    for name in files.list(&folder.join(below)) {
        let path = below.join(&name);
        // Data outside of the inputs names no node here.
        if !files.permits(&folder.join(&path)) {
            continue;
        }
        if files.is_dir(&folder.join(&path)) {
            if depth < 16 && !name.starts_with('.') {
                list_files(project, folder, &path, depth + 1, out);
            }
        } else {
            out.push(path.to_string_lossy().into_owned());
        }
    }
}

/// Whether the name of a node fits a node expression.
pub(crate) fn fits_expression(pattern: &str, name: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.find(name).is_ok_and(|found| found.is_some()))
}

/// A name that a node expression fits; nothing if none is found.
pub(crate) fn name_for(pattern: &str) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut name = String::new();
    sample(&hir, &mut name)?;
    if name.is_empty() {
        name.push_str("node");
    }
    let lower = name.to_lowercase();
    let is_name = lower.len() <= MAX_NAME
        && lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (is_name && fits_expression(pattern, &lower)).then_some(lower)
}

/// Adds the plainest text that an expression fits.
fn sample(hir: &Hir, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => out.push(letter_of(class)?),
        HirKind::Repetition(repetition) => {
            // One where none would do makes a name that people recognise.
            let count = repetition.min.max(u32::from(repetition.max != Some(0)));
            for _ in 0..count.min(64) {
                sample(&repetition.sub, out)?;
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                sample(part, out)?;
            }
        }
        HirKind::Alternation(choices) => sample(choices.first()?, out)?,
    }
    Some(())
}

/// A letter or digit of a class, else its first character.
fn letter_of(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let contains =
        |letter: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&letter));
    let plain = ['x', '1', 'a', 'X', '-', '.'];
    plain.into_iter().find(|letter| contains(*letter)).or_else(|| Some(class.ranges().first()?.start()))
}

/// Classes by which a repository is entered where no node leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryClasses {
    /// Roles by name, and those that the configuration names.
    Roles,
    /// Those that nothing else names.
    Unnamed,
    /// All: what names them was not entered, or did not lead to them.
    Others,
}

/// The names of such classes.
pub(crate) fn entry_classes(project: &Project<'_>, survey: &Survey, which: EntryClasses) -> Vec<String> {
    let wanted: Vec<&str> = project.config.puppet.roles.iter().map(|role| role.value.as_str()).collect();
    let is_wanted = |name: &String| wanted.iter().any(|pattern| fits_pattern(pattern, name));
    let is_entry = |name: &&String| match which {
        EntryClasses::Roles => is_role(name) || is_wanted(name),
        EntryClasses::Unnamed => !survey.mentioned.contains(*name),
        EntryClasses::Others => true,
    };
    survey.classes.keys().filter(is_entry).cloned().collect()
}

/// A data file that is read only if variables have certain values, which nothing here gives them.
pub(crate) struct OpenData {
    pub(crate) file: PathBuf,
    /// A node for which it is read.
    pub(crate) known: Known,
    /// The values of its variables.
    pub(crate) values: Vec<String>,
}

/// The roles of the user's own whose last name is one of the values: code often makes the name of a role of a variable.
pub(crate) fn roles_called(values: &[String], survey: &Survey) -> Vec<String> {
    let is_called = |name: &&String| {
        is_role(name) && values.iter().any(|value| name.rsplit("::").next() == Some(value.as_str()))
    };
    survey.classes.keys().filter(is_called).cloned().collect()
}

/// The data files that only some values of open variables lead to, those with the fewest variables first.
pub(crate) fn open_data(project: &Project<'_>, folder: &Path) -> Vec<OpenData> {
    let mut found: BTreeMap<(usize, PathBuf), (Known, Vec<String>)> = BTreeMap::new();
    // Files that are read in any case.
    let mut closed = BTreeSet::new();
    for configuration in project.configurations(folder) {
        for path in configuration.paths().iter().filter(|path| path.is_path) {
            let Some(below) = project.data_folder(&configuration, path.datadir) else { continue };
            if !path.text.contains("%{") {
                closed.insert(below.join(&*path.text));
            }
            let Some((pattern, variables)) = open_pattern(project, &path.text) else { continue };
            let Ok(regex) = Regex::new(pattern.as_str()) else { continue };
            let mut files = Vec::new();
            list_files(project, &below, Path::new(""), 0, &mut files);
            for file in &files {
                let Ok(Some(groups)) = regex.find(file) else { continue };
                let value = |at: usize| groups.group(at + 1).unwrap_or_default();
                let name = file.rsplit_once('.').map_or(file.as_str(), |(name, _)| name).replace('/', "-");
                let mut known = Known {
                    name: Some(format!("{}.example.com", name.to_lowercase())),
                    made_up: Some(file.clone()),
                    ..Known::default()
                };
                let is_set =
                    variables.iter().enumerate().all(|(at, name)| set_variable(&mut known, name, value(at)));
                if is_set {
                    let values = (0..variables.len()).map(|at| value(at).to_owned()).collect();
                    found.entry((variables.len(), below.join(file))).or_insert((known, values));
                }
            }
        }
    }
    let open = found.into_iter().filter(|((_, file), _)| !closed.contains(file));
    open.map(|((_, file), (known, values))| OpenData { file, known, values }).collect()
}

/// A path of a hierarchy as an expression whose groups are the values of its open variables, and these; nothing if it has none, or
/// others that cannot be chosen.
fn open_pattern(project: &Project<'_>, path: &str) -> Option<(String, Vec<String>)> {
    let (mut out, mut rest, mut variables) = ("^".to_owned(), path, Vec::new());
    while let Some(at) = rest.find("%{") {
        out.push_str(&escaped(&rest[..at]));
        let end = rest[at..].find('}')? + at;
        let variable = rest[at + 2..end].trim().trim_start_matches("::");
        let fact = variable.strip_prefix("facts.").unwrap_or(variable);
        if NAMES_OF_NODE.contains(&variable) || variable.contains("::") {
            return None;
        } else if variable == "environment" {
            out.push_str(&escaped(&project.environment.name));
        } else if variable.starts_with("trusted.extensions.") || is_open_variable(project, fact) {
            out.push_str("([^/]+)");
            variables.push(variable.to_owned());
        } else if variable.starts_with("trusted.") || variable.contains('(') {
            return None;
        } else {
            out.push_str("[^/]*");
        }
        rest = &rest[end + 1..];
    }
    out.push_str(&escaped(rest));
    out.push('$');
    (!variables.is_empty()).then_some((out, variables))
}

/// Whether a fact or another variable at top scope is none that every machine has.
fn is_open_variable(project: &Project<'_>, name: &str) -> bool {
    let name = name.split('.').next().unwrap_or(name);
    !["environment", "trusted", "facts", "server_facts"].contains(&name) && !project.is_known_fact(name)
}

/// Gives a node a variable. Returns whether it fits what is known of the node.
fn set_variable(node: &mut Known, variable: &str, value: &str) -> bool {
    let (into, path) = match (variable.strip_prefix("trusted."), variable.strip_prefix("facts.")) {
        (Some(path), _) => (&mut node.trusted, path),
        (None, Some(path)) => (&mut node.facts, path),
        (None, None) => (&mut node.parameters, variable),
    };
    let mut parts = path.rsplit('.');
    let Some(last) = parts.next() else { return false };
    let single = |name: &str, value: Value| [(Key::from(name), value)].into_iter().collect::<Hash>();
    let hash = parts.fold(single(last, value.into()), |inner, part| single(part, Value::hash(inner)));
    let known = dig(into, path);
    facts::lay_over(into, &hash);
    known.is_none_or(|known| known == value)
}

fn dig(from: &Hash, path: &str) -> Option<String> {
    let mut parts = path.split('.');
    let first = from.get(&Key::from(parts.next()?))?;
    let found = parts.try_fold(first, |value, part| value.as_hash()?.get(&Key::from(part)))?;
    found.as_str().map(str::to_owned)
}

/// Patterns of roles in `setpoint.toml` that no class of the user's own fits.
pub(crate) fn idle_role_patterns(project: &Project<'_>, survey: &Survey) -> Vec<Diagnostic> {
    if !matches!(project.kind, Kind::Repository { .. }) || survey.classes.is_empty() {
        return Vec::new();
    }
    let fits = |role: &str| survey.classes.keys().any(|name| fits_pattern(role, name));
    let idle = project.config.puppet.roles.iter().filter(|role| !fits(role));
    let told = |role: &Placed<String>| {
        let message = format!("No class is called `{}`", role.value);
        Diagnostic::new(Rule::InvalidSetting, message).at(role.span)
    };
    idle.map(told).collect()
}

/// Invariants in `setpoint.toml` that are about no node of the project. Beside a lone manifest they may be about another.
pub(crate) fn idle_invariants(project: &Project<'_>, jobs: &[Job]) -> Vec<Diagnostic> {
    // One node or one platform alone may be asked for.
    let given = &project.options.puppet;
    if matches!(project.kind, Kind::Module { .. }) || is_part(project) || given.node.is_some() {
        return Vec::new();
    }
    let platform =
        |job: &Job| settle::platform(job.node.platform.as_deref(), &job.node.facts).map(Platform::name);
    let nodes: Vec<(&str, Option<&str>)> =
        jobs.iter().map(|job| (job.node.name.as_str(), platform(job))).collect();
    let is_asked = |one: &&Invariant| one.platforms.is_empty() || given.platform.is_none();
    let is_idle = |one: &&Invariant| is_asked(one) && !nodes.iter().any(|(name, on)| one.is_about(name, *on));
    let idle = project.config.invariants.iter().filter(is_idle);
    let told = |one: &Invariant| {
        let message = format!("No node fits the invariant `{}`", one.name);
        let limit = one.nodes.first().map(|node| node.span);
        let limit = limit.or_else(|| one.platforms.first().map(|platform| platform.span));
        let found = Diagnostic::new(Rule::InvalidSetting, message).at(limit.unwrap_or(one.span));
        if is_lone(project) { found.severity(Severity::Note) } else { found }
    };
    idle.map(told).collect()
}

/// `[[exec]]` in `setpoint.toml` that speak of no command of any catalog.
pub(crate) fn idle_execs(project: &Project<'_>, checked: &[Checked]) -> Vec<Diagnostic> {
    let given = &project.options.puppet;
    let is_one_of_many = given.node.is_some() || given.nodes.is_some() || given.case.is_some();
    // What is not compiled may have the command.
    if is_one_of_many || is_part(project) || checked.iter().any(|one| !one.compiled) {
        return Vec::new();
    }
    let idle = project.config.execs.iter().enumerate();
    let idle = idle.filter(|(at, _)| !checked.iter().any(|one| one.execs.contains(at)));
    let message = "No exec of a catalog has this title and this command";
    let severity = if is_lone(project) { Severity::Note } else { Severity::Warning };
    idle.map(|(_, one)| Diagnostic::new(Rule::InvalidSetting, message).at(one.span).severity(severity))
        .collect()
}

/// Settings beside a lone manifest that are for control repositories and modules.
pub(crate) fn settings_of_projects(project: &Project<'_>) -> Vec<Diagnostic> {
    if !is_lone(project) || is_part(project) {
        return Vec::new();
    }
    let config = &project.config;
    let told = |span: Span, what: &str| {
        let message = format!("{what} for a control repository or a module, and this is a lone manifest");
        Diagnostic::new(Rule::NotEntered, message).at(span).with_help("Check the folder instead of the file.")
    };
    let cases = config.cases.first().map(|case| told(case.span, "Cases are compiled"));
    let nodes = config.puppet.nodes.first().map(|node| told(node.span, "`nodes` are compiled"));
    let roles = config.puppet.roles.first().map(|role| told(role.span, "`roles` are entered"));
    [cases, nodes, roles].into_iter().flatten().collect()
}

/// Whether the input is a manifest of the project that the configuration belongs to, which speaks of more than that.
fn is_part(project: &Project<'_>) -> bool {
    let folder = project.config.folder();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    is_lone(project)
        && !project.config.path.as_os_str().is_empty()
        && project.session.files.permits(folder)
        && is_project_folder(project.session, folder)
}

/// Whether the input is a manifest and not a project.
fn is_lone(project: &Project<'_>) -> bool {
    matches!(project.kind, Kind::Manifests(_))
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits_pattern(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            let Some(rest) = name.strip_prefix(before) else { return false };
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits_pattern(after, &rest[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_nodes_get_a_name() {
        for (pattern, name) in [
            (r"^web\d+\.example\.com$", "web1.example.com"),
            (r"^(db|cache)-[a-z]{2}$", "db-xx"),
            (r"\.eu$", ".eu"),
            (r"^mail", "mail"),
        ] {
            assert_eq!(name_for(pattern).as_deref(), Some(name), "{pattern}");
        }
        assert_eq!(name_for(r"^(?=a)b$"), None);
        assert_eq!(name_for("("), None);
    }

    #[test]
    fn paths_of_a_hierarchy_name_nodes() {
        assert_eq!(pattern_of("nodes/%{::hostname}.yaml").as_deref(), Some(r"^nodes/([^/]+)\.yaml$"));
        assert_eq!(
            pattern_of("%{environment}/nodes/%{trusted.certname}.yaml").as_deref(),
            Some(r"^[^/]*/nodes/([^/]+)\.yaml$")
        );
        assert_eq!(pattern_of("os/%{facts.os.family}.yaml"), None);
    }

    #[test]
    fn patterns_of_roles_fit_names() {
        assert!(fits_pattern("site::node::*", "site::node::web"));
        assert!(fits_pattern("*::web", "a::web"));
        assert!(!fits_pattern("site::*::x", "site::node::web"));
    }
}
