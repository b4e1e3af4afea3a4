//! Moves Puppet code from version 7 to 8 or 9.
//!
//! [`migrate`] looks at every file of a project, whether or not a node reaches it, and finds the places that the newer version
//! treats in another way. Where a text of the same value exists it is a rewrite. All rewrites together are then tried: every node
//! is compiled as it is, under 7, and rewritten, under 8 and without the facts that 8 no longer sends, and the catalogs are
//! compared. The crate writes no file and knows no terminal.
//!
//! `facts` has the table of facts, `names` what hides a fact from a variable, `manifests`, `templates` and `hiera` the rules,
//! `prove` the comparison, `print` the text and the JSON.

mod change;
mod facts;
mod files;
mod hiera;
mod manifests;
mod names;
mod print;
mod prove;
mod templates;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use setpoint_project::{Options, Project, ProjectKind, Session, UsageError};
use setpoint_puppet_syntax::Parse;
use setpoint_source::{Edit, FileId, Fix, MemoryFileSystem, Range, Severity, Span, read_text};

pub use change::{Change, Effect, Kind, Standing};
use files::Sort;
use names::Names;
pub use prove::{Comparison, Outcome};

/// The platform of a manifest of which nothing is known.
const USUAL_PLATFORM: &str = "debian-12";

/// What a migration is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// To 9, else to 8.
    pub to_9: bool,
    /// Look also at calls of `hiera` and its kin, which still work.
    pub hiera_functions: bool,
}

/// Which rules apply.
#[derive(Debug)]
pub(crate) struct Wanted {
    to_9: bool,
    hiera_functions: bool,
    stdlib_9: bool,
}

/// What was found in a module that somebody else maintains.
#[derive(Debug)]
pub struct InstalledModule {
    pub name: String,
    pub version: Option<String>,
    /// How many places each kind has, those of advice left out.
    pub places: BTreeMap<Kind, usize>,
}

/// What a migration changes, and what is left to do.
#[derive(Debug)]
pub struct Migration {
    pub to: u8,
    /// Silent changes first, then by place.
    pub changes: Vec<Change>,
    pub modules: Vec<InstalledModule>,
    /// What came of each catalog.
    pub nodes: Vec<Comparison>,
    /// Files that could not be read or parsed: nothing in them was looked at.
    pub unread: Vec<(PathBuf, String)>,
    /// What holds for every agent.
    pub advice: Vec<&'static str>,
    /// The changed files, with their old and new text, by path.
    pub rewritten: BTreeMap<PathBuf, (FileId, String)>,
}

/// A file of the project with what is needed to look at it.
struct Input {
    path: PathBuf,
    sort: Sort,
    file: FileId,
    text: String,
    tree: Option<Parse>,
}

/// Finds what the newer version of Puppet changes for a project, and what to write instead.
pub fn migrate(
    session: &Session<'_>,
    input: &Path,
    options: &Options,
    request: &Request,
) -> Result<Migration, UsageError> {
    let mut options = options.clone();
    options.puppet.puppet = Some("7".to_owned());
    options.puppet.record_reads = true;
    let has_facts = options.puppet.platform.is_some() || !options.puppet.facts.is_empty();
    let mut advice = Vec::new();
    if !has_facts && options.puppet.nodes.is_none() && session.files.is_file(input) {
        // A manifest alone says nothing of its nodes; without facts it would compile nowhere.
        options.puppet.platform = Some(USUAL_PLATFORM.to_owned());
        advice
            .push("No facts are known: those of debian-12 are used. Name others with --facts or --platform.");
    }
    let options = options;
    let project = Project::open(session, input, &options)?;
    let (own_modules, installed) = project.modules();
    let wanted = Wanted {
        to_9: request.to_9,
        hiera_functions: request.hiera_functions,
        stdlib_9: uses_stdlib_9(session, &project),
    };
    let mut unread = Vec::new();
    let is_installed = |path: &Path| installed.iter().any(|module| path.starts_with(module));
    let mut own = Vec::new();
    for root in roots(&project, &own_modules) {
        let known: BTreeSet<PathBuf> = own.iter().map(|input: &Input| input.path.clone()).collect();
        let found = files::below(session.files, &root, &|path| path != root && is_installed(path));
        let found = found.into_iter().filter(|(path, _)| !known.contains(path)).collect();
        own.extend(read(session, found, &mut unread));
    }
    let of_modules: Vec<(PathBuf, Vec<Input>)> = installed
        .iter()
        .map(|module| {
            let found = files::below(session.files, module, &|_| false);
            (module.clone(), read(session, found, &mut Vec::new()))
        })
        .collect();
    let names = names_of(own.iter().chain(of_modules.iter().flat_map(|(_, inputs)| inputs)));
    let mut changes: Vec<Change> = own.iter().flat_map(|input| changes_in(input, &names, &wanted)).collect();
    let modules = of_modules.iter().filter_map(|(folder, inputs)| {
        let found = inputs.iter().flat_map(|input| changes_in(input, &names, &wanted));
        installed_module(session, folder, found)
    });
    let modules = modules.collect();
    drop_what_does_not_parse(session, &own, &mut changes);
    let version = if request.to_9 { "9" } else { "8" };
    let target = prove::Target { version, custom_facts: &names.custom_facts };
    let nodes = prove::prove(session, &project, &options, &target, &mut changes)?;
    changes.sort_by(|a, b| {
        let key = |change: &Change| {
            (std::cmp::Reverse(change.effect), change.path.clone(), change.span.range.start, change.kind)
        };
        key(a).cmp(&key(b))
    });
    changes.dedup_by(|a, b| a.kind == b.kind && a.path == b.path && a.span.range == b.span.range);
    let rewritten = rewritten(session, &changes);
    advice.extend([
        "Agents of Puppet 8 leave unchanged resources out of their reports (`exclude_unchanged_resources=true`).",
        "Agents of Puppet 8 fetch the certificate revocation list every day (`crl_refresh_interval=1d`).",
    ]);
    if request.to_9 {
        advice.push("Puppet 9 sends no reports unless `reports` says so, has no default `server`, and runs on Ruby 4.");
        advice.push("The catalogs were compared under the rules of Puppet 8; the changes of 9 were looked for in the text.");
    }
    Ok(Migration { to: if request.to_9 { 9 } else { 8 }, changes, modules, nodes, unread, advice, rewritten })
}

/// Where the user's own files are.
fn roots(project: &Project<'_>, own_modules: &[PathBuf]) -> Vec<PathBuf> {
    match &project.kind {
        ProjectKind::Manifests(path) => vec![path.clone()],
        ProjectKind::Module { folder, .. } => vec![folder.clone()],
        ProjectKind::Repository { folder, .. } => {
            let outside = own_modules.iter().filter(|module| !module.starts_with(folder)).cloned();
            std::iter::once(folder.clone()).chain(outside).collect()
        }
    }
}

fn read(
    session: &Session<'_>,
    found: Vec<(PathBuf, Sort)>,
    unread: &mut Vec<(PathBuf, String)>,
) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (path, sort) in found {
        let text = match read_text(session.files, &path) {
            Ok(text) => text,
            Err(error) => {
                unread.push((path, error.reason));
                continue;
            }
        };
        let file = session.sources.add(path.display().to_string(), text.as_str());
        let tree = matches!(sort, Sort::Manifest | Sort::Epp)
            .then(|| setpoint_project::parse_file(&path, file, &text));
        if let Some(error) = tree.as_ref().and_then(first_error) {
            unread.push((path.clone(), error));
        }
        inputs.push(Input { path, sort, file, text, tree });
    }
    inputs
}

fn first_error(parse: &Parse) -> Option<String> {
    let is_error = |found: &&setpoint_source::Diagnostic| {
        // Duplicates are errors of the new version only, and have their own rules here.
        found.severity == Severity::Error && found.rule.name() != "duplicate-key"
    };
    parse.diagnostics.iter().find(is_error).map(|error| error.message.clone())
}

fn names_of<'i>(inputs: impl Iterator<Item = &'i Input>) -> Names {
    let mut names = Names::default();
    for input in inputs {
        match (&input.tree, input.sort) {
            (Some(tree), Sort::Manifest) => names.add(&tree.program.body),
            (None, Sort::Ruby) => names.custom_facts.extend(templates::custom_facts(&input.text)),
            _ => {}
        }
    }
    names
}

fn changes_in(input: &Input, names: &Names, wanted: &Wanted) -> Vec<Change> {
    let Input { path, file, text, .. } = input;
    match (input.sort, &input.tree) {
        (Sort::Manifest | Sort::Epp, Some(tree)) => {
            manifests::changes(path, text, &tree.program, names, wanted)
        }
        (Sort::Erb, _) => templates::changes_in_erb(path, *file, text, names),
        (Sort::Ruby, _) => templates::changes_in_ruby(path, *file, text, names),
        (Sort::Hierarchy, _) => hiera::changes(path, *file, text, names, true),
        (Sort::Data, _) => hiera::changes(path, *file, text, names, false),
        (Sort::Settings, _) if wanted.to_9 => settings(path, *file, text),
        _ => Vec::new(),
    }
}

/// Settings that Puppet 9 no longer has.
fn settings(path: &Path, file: FileId, text: &str) -> Vec<Change> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name = line.split('=').next().unwrap_or("").trim();
        if ["configprint", "pluginsync", "data_binding_terminus"].contains(&name) {
            let span = Range::new(at, at + line.trim_end().len()).in_file(file);
            let message = format!("Puppet 9 has no setting `{name}`; remove the line");
            found.push(Change::new(Kind::To9, path.to_owned(), span, message));
        }
        at += line.len();
    }
    found
}

fn installed_module(
    session: &Session<'_>,
    folder: &Path,
    found: impl Iterator<Item = Change>,
) -> Option<InstalledModule> {
    let mut places = BTreeMap::new();
    for change in found.filter(|change| change.effect > Effect::Advice) {
        *places.entry(change.kind).or_default() += 1;
    }
    if places.is_empty() {
        return None;
    }
    let metadata = metadata(session, folder);
    let told = |name: &str| metadata.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let fallback = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Some(InstalledModule { name: told("name").unwrap_or_else(fallback), version: told("version"), places })
}

fn metadata(session: &Session<'_>, folder: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&read_text(session.files, &folder.join("metadata.json")).ok()?).ok()
}

/// Whether the stdlib that is installed, or that the Puppetfile names, is of version 9 or later.
fn uses_stdlib_9(session: &Session<'_>, project: &Project<'_>) -> bool {
    let major = |version: &str| version.trim_start_matches('v').split('.').next()?.parse::<u32>().ok();
    let installed = project.environment.module("stdlib").and_then(|folder| metadata(session, &folder));
    let installed = installed.and_then(|data| major(data.get("version")?.as_str()?));
    let folder = match &project.kind {
        ProjectKind::Repository { folder, .. } | ProjectKind::Module { folder, .. } => folder,
        ProjectKind::Manifests(_) => return installed.is_some_and(|major| major >= 9),
    };
    let puppetfile = read_text(session.files, &folder.join("Puppetfile")).unwrap_or_default();
    let named = puppetfile.lines().filter(|line| !line.trim_start().starts_with('#'));
    let named = named
        .filter(|line| line.contains("/stdlib'") || line.contains("-stdlib'") || line.contains("/stdlib\""));
    let pinned = named.filter_map(|line| major(line.split(['\'', '"']).nth(3)?)).max();
    pinned.or(installed).is_some_and(|major| major >= 9)
}

/// Turns rewrites into proposals where the file would no longer parse. The rules do not make such; this is the last net.
fn drop_what_does_not_parse(session: &Session<'_>, inputs: &[Input], changes: &mut [Change]) {
    for input in inputs.iter().filter(|input| input.tree.is_some()) {
        let edits = changes.iter().filter(|change| change.is_applied() && change.path == input.path);
        let edits: Vec<_> = edits.flat_map(|change| change.edits.clone()).collect();
        if edits.is_empty() {
            continue;
        }
        let text = Fix::apply(&edits, &input.text);
        let file = session.sources.add(input.path.display().to_string(), text.as_str());
        let errors = |parse: &Parse| {
            parse.diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
        };
        let before = input.tree.as_ref().map_or(0, errors);
        if errors(&setpoint_project::parse_file(&input.path, file, &text)) > before {
            for change in changes.iter_mut().filter(|change| change.path == input.path) {
                change.standing = Standing::Proposal;
            }
        }
    }
}

/// The files that the rewrites change.
fn rewritten(session: &Session<'_>, changes: &[Change]) -> BTreeMap<PathBuf, (FileId, String)> {
    // A file may have been read twice: for its text, and to be compiled.
    let mut edits: BTreeMap<PathBuf, (FileId, Vec<Edit>)> = BTreeMap::new();
    for edit in changes.iter().filter(|change| change.is_applied()).flat_map(|change| &change.edits) {
        let path = PathBuf::from(session.sources.file(edit.span.file).path());
        let (file, of_file) = edits.entry(path).or_insert_with(|| (edit.span.file, Vec::new()));
        let edit = Edit { span: edit.span.range.in_file(*file), replacement: edit.replacement.clone() };
        if !of_file.contains(&edit) {
            of_file.push(edit);
        }
    }
    let apply = |(path, (file, edits)): (PathBuf, (FileId, Vec<Edit>))| {
        let text = Fix::apply(&edits, session.sources.file(file).text());
        (path, (file, text))
    };
    edits.into_iter().map(apply).collect()
}

/// The files as they are after the rewrites.
pub(crate) fn overlay(session: &Session<'_>, changes: &[Change]) -> MemoryFileSystem {
    let mut files = MemoryFileSystem::new();
    for (path, (_, text)) in rewritten(session, changes) {
        files.add(path, text);
    }
    files
}

/// The text at a place.
pub(crate) fn slice(session: &Session<'_>, span: Span) -> String {
    session.sources.file(span.file).slice(span.range).to_owned()
}
