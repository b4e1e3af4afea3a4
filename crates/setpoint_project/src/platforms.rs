//! The platform of a node of which no facts are known: what the repository says by its data and its modules, else a usual one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use setpoint_platforms::Platform;
use setpoint_puppet::PuppetVersion;
use setpoint_puppet_values::Regex;
use setpoint_source::{Diagnostic, Rule};

use crate::entries::{escaped, list_files};
use crate::jobs::{Job, few};
use crate::node::DEFAULT_NODE;
use crate::project::Project;
use crate::session::UsageError;
use crate::{facts, module_files};

/// So many platforms are tried for a node.
const MOST: usize = 8;

/// The facts by which data is told apart that is for some systems only.
const FACTS_OF_SYSTEMS: [&str; 12] = [
    "os",
    "osfamily",
    "operatingsystem",
    "operatingsystemrelease",
    "operatingsystemmajrelease",
    "lsbdistid",
    "lsbdistcodename",
    "lsbdistrelease",
    "lsbmajdistrelease",
    "lsbdistdescription",
    "kernel",
    "kernelrelease",
];

/// The platforms that the nodes of a repository may have, the likeliest first, one of each operating system: those that most
/// files of its data are for, then those that its modules say they support, then the usual ones.
pub(crate) fn likely_platforms(project: &Project<'_>, folder: &Path) -> Vec<&'static Platform> {
    let paths = paths_of_systems(project, folder);
    let supported = supported_platforms(project, folder);
    let mut best: BTreeMap<&str, (Likeliness, &'static Platform)> = BTreeMap::new();
    for (rank, platform) in setpoint_platforms::usual().enumerate() {
        let files = files_for(platform, &paths);
        let modules = supported.get(platform.name).copied().unwrap_or_default();
        let likeliness = (files, modules, std::cmp::Reverse(rank));
        if best.get(platform.os).is_none_or(|(known, _)| *known < likeliness) {
            best.insert(platform.os, (likeliness, platform));
        }
    }
    let mut ranked: Vec<_> = best.into_values().collect();
    ranked.sort_by(|(one, _), (other, _)| other.cmp(one));
    ranked.into_iter().map(|(_, platform)| platform).take(MOST).collect()
}

/// How many files of data are for a platform, how many modules support it alone, and how usual it is.
type Likeliness = (usize, usize, std::cmp::Reverse<usize>);

/// The paths of a hierarchy that name the system, each with the files of its folder.
fn paths_of_systems(project: &Project<'_>, folder: &Path) -> Vec<(String, Arc<Vec<PathBuf>>)> {
    let mut files: BTreeMap<PathBuf, Arc<Vec<PathBuf>>> = BTreeMap::new();
    let mut paths = Vec::new();
    let (own, _) = project.modules();
    for folder in std::iter::once(folder).chain(own.iter().map(PathBuf::as_path)) {
        for configuration in project.configurations(folder) {
            for path in configuration.paths().iter().filter(|path| path.is_path) {
                if !expressions(&path.text).any(is_about_system) {
                    continue;
                }
                let Some(below) = project.data_folder(&configuration, path.datadir) else { continue };
                let listed = files.entry(below.clone()).or_insert_with(|| {
                    let mut listed = Vec::new();
                    list_files(project, &below, Path::new(""), 0, &mut listed);
                    Arc::new(listed.iter().map(|file| below.join(file)).collect())
                });
                // Where the folder has a letter of patterns in its name, the path fits nothing.
                let path = below.join(&*path.text).to_string_lossy().into_owned();
                paths.push((path, Arc::clone(listed)));
            }
        }
    }
    paths
}

/// How many files the paths name for the platform.
fn files_for(platform: &Platform, paths: &[(String, Arc<Vec<PathBuf>>)]) -> usize {
    if paths.is_empty() {
        return 0;
    }
    let facts = platform.facts("node", PuppetVersion::V7.full());
    let mut named: BTreeSet<&Path> = BTreeSet::new();
    for (path, files) in paths {
        let pattern = pattern_for(path, &facts).and_then(|pattern| Regex::new(pattern.as_str()).ok());
        let Some(regex) = pattern else { continue };
        let fits = |file: &&PathBuf| regex.is_match(&file.to_string_lossy()).unwrap_or(false);
        named.extend(files.iter().filter(fits).map(PathBuf::as_path));
    }
    named.len()
}

/// The path of a hierarchy for the facts of a system as an expression; whatever else it names may be anything.
fn pattern_for(path: &str, facts: &Map<String, Json>) -> Option<String> {
    let (mut out, mut rest) = ("^".to_owned(), path);
    while let Some(at) = rest.find("%{") {
        out.push_str(&escaped(&rest[..at]));
        let end = rest[at..].find('}')? + at;
        let expression = rest[at + 2..end].trim();
        if is_about_system(expression) {
            out.push_str(&escaped(&text_of(expression, facts)?));
        } else {
            out.push_str("[^/]*");
        }
        rest = &rest[end + 1..];
    }
    out.push_str(&escaped(rest));
    out.push('$');
    Some(out)
}

fn expressions(path: &str) -> impl Iterator<Item = &str> {
    path.split("%{").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.trim()))
}

fn is_about_system(expression: &str) -> bool {
    let plain = plain_fact(expression);
    FACTS_OF_SYSTEMS.contains(&plain.split('.').next().unwrap_or(plain))
}

/// `os.family` of `facts.os.family` and `::os.family`.
fn plain_fact(expression: &str) -> &str {
    let plain = expression.trim_start_matches("::");
    plain.strip_prefix("facts.").unwrap_or(plain)
}

fn text_of(expression: &str, facts: &Map<String, Json>) -> Option<String> {
    let mut parts = plain_fact(expression).split('.');
    let first = facts.get(parts.next()?)?;
    let found = parts.try_fold(first, |value, part| value.get(part))?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// How many of the repository's own modules say that they support a platform and no other family of systems. Only what most of them
/// say tells something about the nodes: some modules are for a system that a repository has few of.
fn supported_platforms(project: &Project<'_>, folder: &Path) -> BTreeMap<&'static str, usize> {
    let (own, _) = project.modules();
    let mut supported = BTreeMap::new();
    let mut modules = 0;
    for folder in std::iter::once(folder).chain(own.iter().map(PathBuf::as_path)) {
        let platforms = module_files::metadata(project.session, folder).platforms;
        modules += usize::from(!platforms.is_empty());
        let found = platforms.iter().filter_map(|name| setpoint_platforms::find(name).ok());
        let families: BTreeSet<&str> = found.map(|platform| platform.family).collect();
        for platform in platforms.into_iter().filter(|_| families.len() == 1) {
            *supported.entry(platform).or_default() += 1;
        }
    }
    supported.retain(|_, count| *count * 2 > modules);
    supported
}

impl Project<'_> {
    /// The job on another of the platforms that its node may have.
    pub(crate) fn on_platform(&self, job: &Job, platform: &'static str) -> Result<Job, UsageError> {
        let mut job = job.clone();
        job.node.facts = facts::platform(platform, &job.node.name, &self.options.puppet)?;
        facts::lay_over(&mut job.node.facts, &job.node.made_facts);
        job.node.platform = Some(platform.to_owned());
        Ok(job)
    }
}

/// Says which platforms were assumed, and for which nodes.
pub(crate) fn tell_assumed(jobs: &[Job]) -> Vec<Diagnostic> {
    let mut nodes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // A node without a name is told by its platform.
    for job in jobs.iter().filter(|job| job.is_assumed_node() && job.node.name != DEFAULT_NODE) {
        nodes.entry(job.node.platform.as_deref().unwrap_or_default()).or_default().push(&job.node.name);
    }
    let told = |(platform, names): (&str, Vec<&str>)| {
        let message = format!("No facts are known of {}: those of {platform} are used", few(&names));
        Diagnostic::new(Rule::AssumedPlatform, message).with_help(
            "Put the output of `puppet facts` into facts/NODE.json, or name a platform with --platform.",
        )
    };
    nodes.into_iter().map(told).collect()
}
