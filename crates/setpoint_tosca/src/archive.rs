//! CSAR archives, read into memory.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use setpoint_source::{
    Diagnostic, FileSystem, Gap, Judgement, MAX_FILE_BYTES, MemoryFileSystem, Reason, Rule, Severity,
};

/// All that an archive may hold, unpacked: a small file may unpack to a very large one.
const MAX_UNPACKED: u64 = 256 * 1024 * 1024;

const MAX_ENTRIES: usize = 100_000;

/// Why an archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadArchive {
    NotZip(String),
    Entry(String),
    Unpack(PathBuf, String),
    TooLarge,
    TooManyEntries,
    /// The metadata names no service template.
    NoEntryDefinitions,
    /// The metadata names a file that the archive does not hold.
    MissingEntry(String),
    SeveralTemplates,
    NoTemplate,
}

impl BadArchive {
    /// Returns the finding about the archive at a path, and the answer that it leaves.
    pub fn judge(&self, path: &str) -> (Judgement, Diagnostic) {
        let is_limit = matches!(self, Self::TooLarge | Self::TooManyEntries);
        let (rule, gap) =
            if is_limit { (Rule::LimitReached, Gap::Limit) } else { (Rule::BadArchive, Gap::Unread) };
        let finding = Diagnostic::new(rule, format!("{path} cannot be read as a CSAR: {self}"))
            .severity(Severity::Error);
        (Judgement::unknown(Reason::of(gap, &finding).in_file(path)), finding)
    }
}

impl std::fmt::Display for BadArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotZip(error) => write!(f, "it is not a ZIP archive: {error}"),
            Self::Entry(error) => write!(f, "an entry cannot be read: {error}"),
            Self::Unpack(path, error) => write!(f, "`{}` cannot be unpacked: {error}", path.display()),
            Self::TooLarge => write!(f, "it unpacks to more than {} MB", MAX_UNPACKED / 1_000_000),
            Self::TooManyEntries => write!(f, "it has more than {MAX_ENTRIES} entries"),
            Self::NoEntryDefinitions => write!(f, "its metadata has no `Entry-Definitions`"),
            Self::MissingEntry(entry) => write!(f, "its metadata names `{entry}`, which it does not hold"),
            Self::SeveralTemplates => {
                write!(f, "it has several YAML files at its top and no `TOSCA.meta`")
            }
            Self::NoTemplate => write!(f, "it holds no service template"),
        }
    }
}

/// Reads the text files of an archive, and the path of its service template.
pub fn open(bytes: &[u8]) -> Result<(MemoryFileSystem, PathBuf), BadArchive> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| BadArchive::NotZip(error.to_string()))?;
    if archive.len() > MAX_ENTRIES {
        return Err(BadArchive::TooManyEntries);
    }
    let mut files = MemoryFileSystem::new();
    let mut left = MAX_UNPACKED;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| BadArchive::Entry(error.to_string()))?;
        // A path that leads out of the archive is no file of it; what imports it misses it.
        let Some(path) = entry.enclosed_name() else { continue };
        if !entry.is_file() {
            continue;
        }
        let mut content = Vec::new();
        let limit = left.min(MAX_FILE_BYTES);
        entry
            .take(limit + 1)
            .read_to_end(&mut content)
            .map_err(|error| BadArchive::Unpack(path.clone(), error.to_string()))?;
        if content.len() as u64 > limit {
            return Err(BadArchive::TooLarge);
        }
        left -= content.len() as u64;
        files.add(path, content);
    }
    let entry = entry_definitions(&files)?;
    Ok((files, entry))
}

fn entry_definitions(files: &MemoryFileSystem) -> Result<PathBuf, BadArchive> {
    let meta =
        files.read(Path::new("TOSCA-Metadata/TOSCA.meta")).or_else(|_| files.read(Path::new("TOSCA.meta")));
    if let Ok(bytes) = meta {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let entry = text.lines().find_map(|line| line.strip_prefix("Entry-Definitions:")).map(str::trim);
        return match entry {
            Some(entry) if files.is_file(Path::new(entry)) => Ok(entry.into()),
            Some(entry) => Err(BadArchive::MissingEntry(entry.to_owned())),
            None => Err(BadArchive::NoEntryDefinitions),
        };
    }
    let top = files.list(Path::new("."));
    let is_yaml = |name: &&String| {
        Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut yaml = top.iter().filter(is_yaml);
    match (yaml.next(), yaml.next()) {
        (Some(only), None) => Ok(only.into()),
        (Some(_), Some(_)) => Err(BadArchive::SeveralTemplates),
        _ => Err(BadArchive::NoTemplate),
    }
}
