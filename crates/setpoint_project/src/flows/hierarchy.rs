//! Levels of a hierarchy that an untrusted fact chooses and that hold secrets.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use setpoint_data::Node;
use setpoint_puppet_values::Regex;
use setpoint_source::{Diagnostic, Flow, FlowStep, Rule, read_text};

use crate::entries::{escaped, list_files};
use crate::project::Project;

/// Names without a scope that are facts everywhere; another name may be what a classifier sets.
const FACTS: [&str; 20] = [
    "clientcert",
    "fqdn",
    "hostname",
    "domain",
    "ipaddress",
    "macaddress",
    "osfamily",
    "operatingsystem",
    "operatingsystemrelease",
    "operatingsystemmajrelease",
    "lsbdistcodename",
    "kernel",
    "architecture",
    "virtual",
    "is_virtual",
    "uuid",
    "serialnumber",
    "os",
    "networking",
    "ec2_metadata",
];

/// A finding for each path of the hierarchy by which a node that lies about a fact reads the secrets of another.
pub(crate) fn secrets_by_facts(project: &Project<'_>) -> Vec<Diagnostic> {
    let Some(folder) = &project.environment.hiera().levels().environment else { return Vec::new() };
    let mut files = Vec::new();
    for below in &project.data_folders(folder) {
        let mut names = Vec::new();
        list_files(project, below, Path::new(""), 0, &mut names);
        files.extend(names.into_iter().map(|name| (below.clone(), name)));
    }
    let texts: Vec<Option<String>> =
        files.iter().map(|(below, name)| read_text(project.session.files, &below.join(name)).ok()).collect();
    let converted: BTreeSet<String> = texts.iter().flatten().flat_map(|text| converted_keys(text)).collect();
    let configurations = project.configurations(folder);
    let mut found = Vec::new();
    for configuration in &configurations {
        let file = configuration.file;
        for data_path in configuration.paths().iter().filter(|path| path.is_path) {
            let Some(below) = project.data_folder(configuration, data_path.datadir) else { continue };
            let (path, node) = (&*data_path.text, data_path.node);
            let Some((pattern, fact)) = chosen_by_fact(path) else { continue };
            let Ok(regex) = Regex::new(pattern.as_str()) else { continue };
            let secret = files.iter().zip(&texts).find_map(|((of, name), text)| {
                let is_chosen = *of == below && regex.is_match(name).unwrap_or(false);
                let (key, line) = secret_in(text.as_deref().filter(|_| is_chosen)?, &converted)?;
                Some((below.join(name), key, line))
            });
            let Some((data, key, line)) = secret else { continue };
            let message = format!(
                "The fact {fact} chooses the file that the secret {key} is read from: a node that lies reads another's"
            );
            let place = format!("{}:{line}", data.display());
            let mut finding = Diagnostic::new(Rule::FactSelectsSecret, message)
                .at(node.range.in_file(file))
                .with_note(format!("from the fact {fact}"))
                .with_note(format!("into the path `{path}` of the hierarchy"))
                .with_note(format!("which finds the secret {key} at {place}"))
                .with_help("Choose by `%{trusted.certname}`, or by another trusted fact, which the certificate vouches for.");
            let steps = vec![
                FlowStep { what: format!("from the fact {fact}"), span: None },
                FlowStep { what: format!("into the path {path}"), span: Some(node.range.in_file(file)) },
                FlowStep { what: format!("finds the secret {key} at {place}"), span: None },
            ];
            finding.flow = Some(Arc::new(Flow {
                source_kind: "fact",
                source: fact,
                source_span: None,
                resource: String::new(),
                parameter: key,
                steps,
            }));
            found.push(finding);
        }
    }
    found
}

/// A path as an expression, and the first untrusted fact in it; nothing if it has none.
fn chosen_by_fact(path: &str) -> Option<(String, String)> {
    let (mut out, mut rest, mut fact) = ("^".to_owned(), path, None);
    while let Some(at) = rest.find("%{") {
        out.push_str(&escaped(&rest[..at]));
        let end = rest[at..].find('}')? + at;
        let variable = rest[at + 2..end].trim().trim_start_matches("::");
        let plain = variable.strip_prefix("facts.");
        let first = variable.split('.').next().unwrap_or("");
        if fact.is_none() && (plain.is_some() || FACTS.contains(&first)) {
            fact = Some(plain.unwrap_or(variable).to_owned());
        }
        out.push_str("[^/]*");
        rest = &rest[end + 1..];
    }
    out.push_str(&escaped(rest));
    out.push('$');
    Some((out, fact?))
}

/// The first key of a file that is encrypted, or that options make `Sensitive`, with its line.
fn secret_in(text: &str, converted: &BTreeSet<String>) -> Option<(String, usize)> {
    let mut last = String::new();
    for (number, line) in text.lines().enumerate() {
        let key = line.split_once(": ").map(|(key, _)| key).or_else(|| line.strip_suffix(':'));
        if let Some(key) = key.filter(|key| !key.starts_with([' ', '#', '-'])) {
            key.trim_matches(['\'', '"']).clone_into(&mut last);
        }
        let is_converted = !line.starts_with([' ', '#']) && converted.contains(&last);
        if line.contains("ENC[") || is_converted {
            return Some((last, number + 1));
        }
    }
    None
}

/// The keys that `lookup_options` of a file make `Sensitive`.
fn converted_keys(text: &str) -> Vec<String> {
    if !text.contains("convert_to") || !text.contains("Sensitive") {
        return Vec::new();
    }
    let root = setpoint_data::read_yaml(setpoint_source::FileId(u32::MAX), text).root;
    let Some(options) = root.as_ref().and_then(|root| root.get("lookup_options")) else { return Vec::new() };
    let is_sensitive = |node: &Node| {
        node.get("convert_to").is_some_and(|to| {
            to.text()
                .into_iter()
                .chain(to.items().iter().filter_map(Node::text))
                .any(|text| text.contains("Sensitive"))
        })
    };
    let entries = options.entries().iter().filter(|entry| is_sensitive(&entry.value));
    entries.filter_map(|entry| entry.key.text().map(str::to_owned)).collect()
}
