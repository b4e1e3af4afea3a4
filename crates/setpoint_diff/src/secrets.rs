//! What must not be shown: by its place in the source, and by its text wherever else it stands.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_catalog::{Resource, ResourceId};
use setpoint_provenance::{LeafKind, Prov};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Sources;

use crate::cause::Side;
use crate::collect::hides_contents;
use crate::{Hunk, Version};

/// What stands in the place of a line.
const HIDDEN_LINE: &str = "(not shown: a secret stands here)";
/// What stands in the place of a text.
const MASK: &str = "*******";
/// Texts that are shorter stand in too many places to be masked.
const SHORTEST: usize = 4;

/// What nobody may see.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Lines that a secret comes from.
    lines: BTreeSet<(Side, String, u32)>,
    /// Files that are secret as a whole.
    files: BTreeSet<String>,
    /// The texts of secrets.
    texts: BTreeSet<String>,
}

impl Secrets {
    /// Takes the secrets of a catalog: what is `Sensitive`, and the parameters that are.
    pub fn gather(&mut self, side: Side, version: &Version<'_>) {
        for (id, resource) in version.catalog.iter() {
            let hides = hides_contents(resource);
            if hides {
                self.add_files(version, id, resource);
            }
            for parameter in &resource.parameters {
                let name = parameter.name.as_str();
                let is_secret = resource.sensitive.contains(&parameter.name)
                    || name.contains("password")
                    || hides && name == "content";
                self.gather_value(side, version, &parameter.value, is_secret);
            }
        }
    }

    fn gather_value(&mut self, side: Side, version: &Version<'_>, value: &Value, is_secret: bool) {
        match &value.data {
            Data::Sensitive(inner) => {
                self.add_places(side, version, value.prov);
                self.gather_value(side, version, inner, true);
            }
            Data::Array(items) => {
                items.iter().for_each(|item| self.gather_value(side, version, item, is_secret));
            }
            Data::Hash(entries) => {
                entries.iter().for_each(|(_, item)| self.gather_value(side, version, item, is_secret));
            }
            _ if is_secret => {
                self.add_places(side, version, value.prov);
                if let Data::String(text) = &value.data {
                    self.add_text(text);
                }
            }
            _ => {}
        }
    }

    /// Takes a text, and each line of it: differences are shown line by line.
    fn add_text(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).chain([text]);
        self.texts.extend(lines.filter(|line| line.len() >= SHORTEST).map(str::to_owned));
    }

    /// Takes the texts that manifests make `Sensitive`, whatever becomes of them: one may be unwrapped again.
    pub fn add_literals(&mut self, sources: &Sources) {
        for file in sources.files() {
            for literal in sensitive_literals(file.text()) {
                self.add_text(literal);
            }
        }
    }

    /// Takes the files whose contents Puppet shows to nobody.
    fn add_files(&mut self, version: &Version<'_>, id: ResourceId, resource: &Resource) {
        let served = version.served.get(&id).into_iter().flat_map(|served| served.values());
        self.files.extend(served.map(|file| version.root.shared_name(&file.path).to_owned()));
        let content = resource.get("content").map_or(Prov::NONE, |content| content.prov);
        let read = version.operands(content).into_iter().filter(|leaf| leaf.kind == LeafKind::File);
        for span in read.filter_map(|leaf| leaf.span) {
            let file = version.sources.file(span.file);
            self.files.insert(version.root.shared_name(file.path()).to_owned());
        }
    }

    /// Takes the lines that a secret was made of. A template is no secret itself: what is put into it is.
    fn add_places(&mut self, side: Side, version: &Version<'_>, prov: Prov) {
        let leaves = version.operands(prov).into_iter().filter(|leaf| leaf.kind != LeafKind::Template);
        for span in leaves.filter_map(|leaf| leaf.span) {
            let file = version.sources.file(span.file);
            let path = version.root.shared_name(file.path());
            let last = span.range.end.saturating_sub(1).max(span.range.start);
            let lines = file.line(span.range.start)..=file.line(last);
            self.lines.extend(lines.map(|line| (side, path.to_owned(), line)));
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.files.extend(other.files);
        self.texts.extend(other.texts);
    }

    /// Whether a value was made of something that nobody may see.
    pub(crate) fn made(&self, side: Side, version: &Version<'_>, prov: Prov) -> bool {
        version.operands(prov).into_iter().filter_map(|leaf| leaf.span).any(|span| {
            let file = version.sources.file(span.file);
            let path = version.root.shared_name(file.path());
            let line = file.line(span.range.start);
            self.is_hidden(side, path, line, file.line_text(line))
        })
    }

    fn is_hidden(&self, side: Side, path: &str, line: u32, text: &str) -> bool {
        is_encrypted(path, text)
            || self.files.contains(path)
            || self.lines.contains(&(side, path.to_owned(), line))
    }

    /// A line of a file as it may be shown.
    pub fn line(&self, side: Side, path: &str, line: u32, text: &str) -> String {
        if self.is_hidden(side, path, line, text) {
            let indent = text.len() - text.trim_start().len();
            return format!("{}{HIDDEN_LINE}", &text[..indent]);
        }
        self.mask(text)
    }

    /// A line of a patch as it may be shown.
    pub fn code(&self, text: &str) -> String {
        if text.contains("ENC[") || sensitive_literals(text).next().is_some() {
            let start = text.len() - text.trim_start_matches(['+', '-', ' ']).len();
            return format!("{}{HIDDEN_LINE}", &text[..start]);
        }
        self.mask(text)
    }

    /// A text with asterisks for each secret in it. The longest are masked first: one may be a part of another.
    pub fn mask(&self, text: &str) -> String {
        let mut found: Vec<&String> =
            self.texts.iter().filter(|secret| text.contains(secret.as_str())).collect();
        found.sort_by_key(|secret| (std::cmp::Reverse(secret.len()), *secret));
        found.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }

    /// A changed piece as it may be shown.
    pub(crate) fn hide(&self, hunk: &Hunk) -> Hunk {
        let shown = |side: Side, first: u32, lines: &[String]| -> Vec<String> {
            lines.iter().zip(first..).map(|(text, line)| self.line(side, &hunk.path, line, text)).collect()
        };
        Hunk {
            removed: shown(Side::Old, hunk.old.first, &hunk.removed),
            added: shown(Side::New, hunk.new.first, &hunk.added),
            ..hunk.clone()
        }
    }
}

/// The texts in `Sensitive('…')` and `Sensitive.new("…")`.
fn sensitive_literals(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("Sensitive").filter_map(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        let rest = rest.strip_prefix(".new").unwrap_or(rest).trim_start().strip_prefix('(')?.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        rest[1..].split(quote).next()
    })
}

/// Encrypted data is as secret as what it hides: whoever has the key reads it.
fn is_encrypted(path: &str, text: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "eyaml") || text.contains("ENC[")
}
