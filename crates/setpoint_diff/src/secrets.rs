//! What must not be shown: by its place in the source, and by its text wherever else it stands.
//!
//! The texts are in the registry of the sources ([`setpoint_source::Secrets`]), which both versions share. Kept here are the places, by side: a line of the
//! old version may be secret that is not in the new one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use setpoint_catalog::{Resource, ResourceId, is_secret_name};
use setpoint_provenance::{LeafKind, Prov};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Secrets as Texts, has_secret_literal};

use crate::cause::Side;
use crate::collect::hides_contents;
use crate::{Hunk, Version};

/// What stands in the place of a line.
const HIDDEN_LINE: &str = "(not shown: a secret stands here)";

/// What nobody may see.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Lines that a secret comes from.
    lines: BTreeSet<(Side, String, u32)>,
    /// Files that are secret as a whole.
    files: BTreeSet<String>,
    /// The texts of secrets; nothing before a catalog was looked at.
    texts: Option<Arc<Texts>>,
}

impl Secrets {
    /// Takes the secrets of a catalog: what is `Sensitive`, and the parameters that are.
    pub fn gather(&mut self, side: Side, version: &Version<'_>) {
        let texts = Arc::clone(version.sources.secrets());
        for (id, resource) in version.catalog.iter() {
            let hides = hides_contents(resource);
            if hides {
                self.add_files(version, id, resource);
            }
            for parameter in &resource.parameters {
                let name = parameter.name.as_str();
                let is_secret = resource.sensitive.contains(&parameter.name)
                    || is_secret_name(name)
                    || hides && name == "content";
                self.gather_value(side, version, &parameter.value, is_secret, &texts);
            }
        }
        self.texts = Some(texts);
    }

    fn gather_value(
        &mut self,
        side: Side,
        version: &Version<'_>,
        value: &Value,
        is_secret: bool,
        texts: &Texts,
    ) {
        match &value.data {
            Data::Sensitive(inner) => {
                self.add_places(side, version, value.prov);
                self.gather_value(side, version, inner, true, texts);
            }
            Data::Array(items) => {
                let parts = items.iter();
                parts.for_each(|item| self.gather_value(side, version, item, is_secret, texts));
            }
            Data::Hash(entries) => {
                let parts = entries.values();
                parts.for_each(|item| self.gather_value(side, version, item, is_secret, texts));
            }
            _ if is_secret => {
                self.add_places(side, version, value.prov);
                if let Data::String(text) = &value.data {
                    texts.add_text(text);
                }
            }
            _ => {}
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
        self.texts = self.texts.take().or(other.texts);
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
            || is_secret_entry(path, text)
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
        if text.contains("ENC[") || has_secret_literal(text) {
            let start = text.len() - text.trim_start_matches(['+', '-', ' ']).len();
            return format!("{}{HIDDEN_LINE}", &text[..start]);
        }
        self.mask(text)
    }

    /// A text with asterisks for each secret in it.
    pub fn mask(&self, text: &str) -> String {
        self.texts.as_ref().map_or_else(|| text.to_owned(), |texts| texts.mask(text).into_owned())
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

/// Whether a line of data gives a value to a key that is called a password, as a parameter of this name is secret. A switch about
/// passwords, such as `password_authentication: no`, is none.
fn is_secret_entry(path: &str, text: &str) -> bool {
    let is_data = Path::new(path)
        .extension()
        .is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known));
    let Some((key, value)) = text.split_once(": ").filter(|_| is_data) else { return false };
    let value = value.trim().trim_matches(['"', '\'', ',']);
    let is_switch = matches!(value, "" | "true" | "false" | "yes" | "no" | "on" | "off" | "~" | "null");
    is_secret_name(key) && !is_switch
}

/// Encrypted data is as secret as what it hides: whoever has the key reads it.
fn is_encrypted(path: &str, text: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "eyaml") || text.contains("ENC[")
}
