//! RPM's repository metadata: `primary.xml` (relations, main files) and `filelists.xml` (all files).

use std::io::BufRead;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use rustc_hash::FxHashMap;

use super::newer;
use crate::facts::Clause;
use crate::{Collection, IndexError};

/// Which of the two a file was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    Primary,
    Filelists,
}

/// The package whose element is open.
#[derive(Debug, Default)]
struct Package {
    name: String,
    version: String,
    arch: String,
    files: Vec<String>,
    directories: Vec<String>,
    requires: Vec<Clause>,
    recommends: Vec<Clause>,
    provides: Vec<String>,
}

/// Versions of packages, by name.
type Versions = FxHashMap<Box<str>, Box<str>>;

/// Versions whose files and whose relations were read: the newest of several counts.
#[derive(Debug, Clone, Default)]
pub struct RpmVersions {
    primary: Versions,
    filelists: Versions,
}

/// Reads `primary.xml` or `filelists.xml`, whichever it is.
pub fn rpm(
    into: &mut Collection,
    versions: &mut RpmVersions,
    reader: impl BufRead,
    origin: &str,
) -> Result<Metadata, IndexError> {
    let mut xml = Reader::from_reader(reader);
    let mut buffer = Vec::new();
    let mut kind = None;
    let mut package = Package::default();
    let mut text = String::new();
    let mut file_type = String::new();
    let mut section = Section::None;
    loop {
        buffer.clear();
        let event = xml.read_event_into(&mut buffer).map_err(|error| {
            IndexError::new(origin, format!("byte {}: this is no XML: {error}", xml.error_position()))
        })?;
        match event {
            Event::Eof => break,
            Event::Text(part) => text.push_str(&part.into_inner()),
            Event::CData(part) => text.push_str(&part.into_inner()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(c)) => text.push(c),
                _ => text.push_str(match &*reference.into_inner() {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    "quot" => "\"",
                    "apos" => "'",
                    _ => "",
                }),
            },
            Event::Start(element) | Event::Empty(element) => {
                text.clear();
                let name = element.local_name();
                let name: &str = name.as_ref();
                match name {
                    "metadata" if kind.is_none() => kind = Some(Metadata::Primary),
                    "filelists" if kind.is_none() => kind = Some(Metadata::Filelists),
                    _ if kind.is_none() => {
                        return Err(IndexError::new(
                            origin,
                            format!(
                                "the first element is <{name}>; RPM's metadata opens with <metadata> or <filelists>"
                            ),
                        ));
                    }
                    "package" => {
                        package = Package::default();
                        section = Section::None;
                        if kind == Some(Metadata::Filelists) {
                            package.name = attribute(&element, "name");
                            package.arch = attribute(&element, "arch");
                        }
                    }
                    "version" => {
                        let (epoch, ver, rel) = (
                            attribute(&element, "epoch"),
                            attribute(&element, "ver"),
                            attribute(&element, "rel"),
                        );
                        package.version =
                            format!("{}:{ver}-{rel}", if epoch.is_empty() { "0" } else { &epoch });
                    }
                    "file" => file_type = attribute(&element, "type"),
                    "requires" => section = Section::Requires,
                    "recommends" => section = Section::Recommends,
                    "provides" => section = Section::Provides,
                    "conflicts" | "obsoletes" | "suggests" | "supplements" | "enhances" => {
                        section = Section::None;
                    }
                    "entry" => {
                        let name = attribute(&element, "name");
                        match section {
                            Section::Requires => package.requires.extend(clauses(&name)),
                            Section::Recommends => package.recommends.extend(clauses(&name)),
                            Section::Provides => package.provides.push(name),
                            Section::None => {}
                        }
                    }
                    _ => {}
                }
            }
            Event::End(element) => {
                let name = element.local_name();
                let name: &str = name.as_ref();
                match name {
                    "name" if kind == Some(Metadata::Primary) => text.trim().clone_into(&mut package.name),
                    "arch" if kind == Some(Metadata::Primary) => text.trim().clone_into(&mut package.arch),
                    "file" => {
                        let path = std::mem::take(&mut text);
                        match file_type.as_str() {
                            "dir" => package.directories.push(path),
                            // A ghost is not in the package: something creates it later.
                            "ghost" => {}
                            _ => package.files.push(path),
                        }
                    }
                    "requires" | "recommends" | "provides" => section = Section::None,
                    "package" => {
                        if let Some(kind) = kind {
                            add(into, versions, &package, kind);
                        }
                        package = Package::default();
                    }
                    _ => {}
                }
                text.clear();
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    kind.ok_or_else(|| IndexError::new(origin, "it is empty"))
}

#[derive(Debug, Clone, Copy)]
enum Section {
    None,
    Requires,
    Recommends,
    Provides,
}

fn attribute(element: &BytesStart<'_>, name: &str) -> String {
    element
        .attributes()
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)
        .and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok())
        .map(std::borrow::Cow::into_owned)
        .unwrap_or_default()
}

fn add(into: &mut Collection, versions: &mut RpmVersions, package: &Package, kind: Metadata) {
    let name = package.name.as_str();
    if name.is_empty() || package.arch == "src" || package.arch == "nosrc" {
        return;
    }
    let seen = match kind {
        Metadata::Primary => &mut versions.primary,
        Metadata::Filelists => &mut versions.filelists,
    };
    if let Some(known) = seen.get(name) {
        // The same version of another architecture (i686 beside x86_64) adds nothing either.
        if !newer(&package.version, known) {
            return;
        }
        match kind {
            Metadata::Primary => into.clear_relations(name),
            Metadata::Filelists => into.clear_listing(name),
        }
    }
    seen.insert(name.into(), package.version.as_str().into());
    into.touch(name);
    match kind {
        Metadata::Filelists => {
            into.set_listed(name);
            for path in &package.files {
                into.add_file(name, path);
            }
            for path in &package.directories {
                into.add_directory(name, path);
            }
        }
        Metadata::Primary => {
            // The files here are a selection: they count until all are known.
            if !versions.filelists.contains_key(name) {
                for path in &package.files {
                    into.add_file(name, path);
                }
            }
            for clause in &package.requires {
                into.add_depends(name, clause.clone());
            }
            for clause in &package.recommends {
                into.add_recommends(name, clause.clone());
            }
            for provided in &package.provides {
                into.add_provides(name, provided);
            }
        }
    }
}

/// A requirement as names. Conditions (`a if b`) are left out: they may not apply.
fn clauses(text: &str) -> Vec<Clause> {
    let text = text.trim();
    if text.starts_with("rpmlib(") || text.is_empty() {
        return Vec::new();
    }
    let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) else {
        return vec![vec![text.into()]];
    };
    let words: Vec<&str> = inner.split_whitespace().collect();
    if words.iter().any(|word| matches!(*word, "if" | "unless" | "else" | "with" | "without"))
        || inner.starts_with('(')
    {
        return Vec::new();
    }
    // A version may follow a name: `foo >= 1.2`.
    let name = |part: &[&str]| part.first().map(|name| Box::from(*name));
    if words.contains(&"or") && !words.contains(&"and") {
        return vec![words.split(|word| *word == "or").filter_map(name).collect()];
    }
    if !words.contains(&"or") {
        return words.split(|word| *word == "and").filter_map(name).map(|name| vec![name]).collect();
    }
    Vec::new()
}
