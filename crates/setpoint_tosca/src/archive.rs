//! CSAR archives, read into memory.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use setpoint_source::{
    Diagnostic, FileSystem, Gap, Judgement, Limit, MAX_FILE_BYTES, MemoryFileSystem, Range, Reason, Rule,
    Severity, Sources, normal, read_text,
};

use crate::is_service_template;

/// All that an archive may hold, unpacked: a small file may unpack to a very large one.
const MAX_UNPACKED: Limit = Limit::new(256 * 1024 * 1024);

const MAX_ENTRIES: Limit = Limit::new(100_000);

/// Why an archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadArchive {
    NotZip(String),
    Entry(String),
    /// Two entries have one path, and tools differ in which one they take.
    SamePath(PathBuf),
    Unpack(PathBuf, String),
    TooLarge,
    TooManyEntries,
    /// The metadata is not text.
    MetadataNotText(String),
    /// A line of the metadata is not `name: value`.
    Metadata(String),
    /// The metadata names no service template.
    NoEntryDefinitions,
    SeveralEntryDefinitions,
    /// The metadata names a file that the archive does not hold.
    MissingEntry(String),
    SeveralTemplates,
    NoTemplate,
}

impl BadArchive {
    /// Returns the finding about the archive at a path, and the answer that it leaves.
    pub fn judge(&self, path: &str, sources: &Sources) -> (Judgement, Diagnostic) {
        let is_limit = matches!(self, Self::TooLarge | Self::TooManyEntries);
        let (rule, gap) =
            if is_limit { (Rule::LimitReached, Gap::Limit) } else { (Rule::BadArchive, Gap::Unread) };
        let finding = Diagnostic::new(rule, format!("{path} cannot be read as a CSAR: {self}"))
            .severity(Severity::Error)
            .at(Range::default().in_file(sources.add(path, "")));
        (Judgement::unknown(Reason::of(gap, &finding)), finding)
    }
}

impl std::fmt::Display for BadArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotZip(error) => write!(f, "it is not a ZIP archive: {error}"),
            Self::Entry(error) => write!(f, "an entry cannot be read: {error}"),
            Self::SamePath(path) => write!(f, "two of its entries are `{}`", path.display()),
            Self::Unpack(path, error) => write!(f, "`{}` cannot be unpacked: {error}", path.display()),
            Self::TooLarge => write!(f, "it unpacks to more than {} MB", MAX_UNPACKED.get() / 1_000_000),
            Self::TooManyEntries => write!(f, "it has more than {MAX_ENTRIES} entries"),
            Self::MetadataNotText(reason) => write!(f, "its metadata is not text: {reason}"),
            Self::Metadata(line) => write!(f, "its metadata has a line that is not `name: value`: `{line}`"),
            Self::SeveralEntryDefinitions => {
                write!(f, "its metadata names several service templates as `Entry-Definitions`")
            }
            Self::NoEntryDefinitions => write!(f, "its metadata has no `Entry-Definitions`"),
            Self::MissingEntry(entry) => write!(f, "its metadata names `{entry}`, which it does not hold"),
            Self::SeveralTemplates => {
                write!(f, "it has several YAML files at its top and no `TOSCA.meta`")
            }
            Self::NoTemplate => write!(f, "it holds no service template"),
        }
    }
}

/// The files of an archive, and the service templates among them.
#[derive(Debug)]
pub struct Archive {
    pub files: MemoryFileSystem,
    /// What the metadata names as `Entry-Definitions`, or the only YAML file at the top.
    pub entry: PathBuf,
    /// What the metadata names as `Other-Definitions`, then all other files that say they are TOSCA.
    pub others: Vec<PathBuf>,
    /// What of the archive is not read or not known.
    pub problems: Vec<Problem>,
}

/// Something about a member of an archive that leaves the answer open.
#[derive(Debug)]
pub struct Problem {
    pub member: PathBuf,
    range: Range,
    rule: Rule,
    gap: Gap,
    message: String,
}

impl Problem {
    /// Returns the reason for not knowing that it is, and the finding that tells of it.
    pub fn judge(&self, archive: &Archive, path: &Path, sources: &Sources) -> (Reason, Diagnostic) {
        let file =
            sources.add(path.join(&self.member).display().to_string(), archive.files.text(&self.member));
        let severity = if self.gap == Gap::Unread { Severity::Error } else { Severity::Warning };
        let finding = Diagnostic::new(self.rule, self.message.as_str()).severity(severity);
        let finding = finding.at(self.range.in_file(file));
        (Reason::of(self.gap, &finding), finding)
    }
}

/// Whether bytes are those of an archive with the metadata of a CSAR or with a service template as its only YAML file at the
/// top: other archives may hold YAML, too.
pub fn is_archive(bytes: &[u8]) -> bool {
    // The names of files stand in an archive as they are.
    let names = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    names(b"TOSCA.meta")
        || ((names(b".yaml") || names(b".yml"))
            && open(bytes).is_ok_and(|archive| is_service_template(&archive.files.text(&archive.entry))))
}

/// Reads an archive into memory.
pub fn open(bytes: &[u8]) -> Result<Archive, BadArchive> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| BadArchive::NotZip(error.to_string()))?;
    if archive.len() > MAX_ENTRIES {
        return Err(BadArchive::TooManyEntries);
    }
    let mut files = MemoryFileSystem::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut left = MAX_UNPACKED.get() as u64;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| BadArchive::Entry(error.to_string()))?;
        // A path that leads out of the archive is no file of it; what imports it misses it.
        let Some(path) = entry.enclosed_name() else { continue };
        if !entry.is_file() {
            continue;
        }
        let mut content = Vec::new();
        let limit = left.min(MAX_FILE_BYTES.get() as u64);
        entry
            .take(limit + 1)
            .read_to_end(&mut content)
            .map_err(|error| BadArchive::Unpack(path.clone(), error.to_string()))?;
        if content.len() as u64 > limit {
            return Err(BadArchive::TooLarge);
        }
        left -= content.len() as u64;
        paths.push(normal(&path));
        files.add(path, content);
    }
    paths.sort();
    if let Some(twice) =
        paths.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair[0].clone()))
    {
        return Err(BadArchive::SamePath(twice));
    }
    let Definitions { entry, mut others, mut problems } = definitions(&files)?;
    let unread = paths.iter().filter(|path| is_yaml(path) && **path != entry).filter_map(|path| {
        let error = read_text(&files, path).err()?;
        Some(Problem {
            member: path.clone(),
            range: Range::default(),
            rule: Rule::UnreadableFile,
            gap: Gap::Unread,
            message: format!("`{}` in the archive cannot be read: {}", path.display(), error.reason),
        })
    });
    problems.extend(unread);
    let is_tosca = |path: &PathBuf| is_yaml(path) && is_service_template(&files.text(path));
    others.extend(paths.into_iter().filter(is_tosca));
    let mut seen = vec![entry.clone()];
    seen.extend(problems.iter().map(|problem| problem.member.clone()));
    others.retain(|path| {
        let is_new = !seen.contains(path);
        seen.push(path.clone());
        is_new
    });
    Ok(Archive { files, entry, others, problems })
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The service template of an archive, the others that its metadata names, and what is wrong with the metadata.
struct Definitions {
    entry: PathBuf,
    others: Vec<PathBuf>,
    problems: Vec<Problem>,
}

/// The versions of archives and of their metadata that are read.
const VERSIONS: [&str; 3] = ["1.0", "1.1", "2.0"];

/// Returns what is wrong with the versions that the metadata names. The second one is that of the Simple Profile.
fn versions(member: &Path, text: &str, metadata: &[(String, String)]) -> Vec<Problem> {
    let of = |name: &str| {
        let found = metadata.iter().find(|(key, _)| key == name)?;
        Some(found.1.trim_matches(['"', '\'']))
    };
    let mut out = Vec::new();
    for name in ["CSAR-Version", "TOSCA-Meta-File-Version"] {
        let (gap, message) = match of(name) {
            Some(version) if VERSIONS.contains(&version) => continue,
            Some(version) => (Gap::NotModelled, format!("`{name}: {version}` is not known here")),
            None if name != "CSAR-Version" && of("CSAR-Version") == Some("2.0") => continue,
            None => (Gap::Malformed, format!("the metadata of the archive has no `{name}`")),
        };
        let start = text.lines().take_while(|line| !line.starts_with(name)).map(|line| line.len() + 1).sum();
        let range = if of(name).is_some() { Range::new(start, start + name.len()) } else { Range::default() };
        out.push(Problem { member: member.to_owned(), range, rule: Rule::BadArchive, gap, message });
    }
    out
}

/// Returns the service template of an archive, and the others that its metadata names.
fn definitions(files: &MemoryFileSystem) -> Result<Definitions, BadArchive> {
    let places = ["TOSCA-Metadata/TOSCA.meta", "TOSCA.meta"].map(Path::new);
    let meta = places.into_iter().find(|path| files.is_file(path));
    let find = |named: &str| {
        let path = normal(Path::new(named.trim_matches(['"', '\'']).trim_start_matches('/')));
        if files.is_file(&path) { Ok(path) } else { Err(BadArchive::MissingEntry(named.to_owned())) }
    };
    if let Some(member) = meta {
        let text =
            read_text(files, member).map_err(|error| BadArchive::MetadataNotText(error.reason.clone()))?;
        let metadata = metadata(&text)?;
        let of = |name: &str| -> Vec<&str> {
            metadata.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
        };
        let entry = match of("Entry-Definitions").as_slice() {
            [] | [""] => return Err(BadArchive::NoEntryDefinitions),
            [entry] => find(entry)?,
            _ => return Err(BadArchive::SeveralEntryDefinitions),
        };
        let others = of("Other-Definitions").into_iter().flat_map(listed).map(|named| find(&named));
        let others = others.collect::<Result<_, _>>()?;
        return Ok(Definitions { entry, others, problems: versions(member, &text, &metadata) });
    }
    let top = files.list(Path::new("."));
    let mut yaml = top.iter().map(PathBuf::from).filter(|path| is_yaml(path));
    match (yaml.next(), yaml.next()) {
        (Some(only), None) => Ok(Definitions { entry: only, others: Vec::new(), problems: Vec::new() }),
        (Some(_), Some(_)) => Err(BadArchive::SeveralTemplates),
        _ => Err(BadArchive::NoTemplate),
    }
}

/// Returns the names and values of a metadata file. A line that begins with a space goes on with the one before.
fn metadata(text: &str) -> Result<Vec<(String, String)>, BadArchive> {
    let mut out: Vec<(String, String)> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let is_plain = line.trim().is_empty() || line.starts_with('#') || line.trim() == "---";
        if is_plain {
            continue;
        }
        match (line.starts_with([' ', '\t']), out.last_mut(), line.split_once(':')) {
            (true, Some((_, value)), _) => {
                value.push(' ');
                value.push_str(line.trim());
            }
            (false, _, Some((name, value))) => {
                out.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ => return Err(BadArchive::Metadata(line.trim().chars().take(80).collect())),
        }
    }
    Ok(out)
}

/// Returns the paths of a list that spaces or commas separate; a path with a space stands in quotes.
fn listed(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        if index % 2 == 1 {
            out.push(part.to_owned());
        } else {
            let words = part.split([' ', ',', '[', ']']).filter(|word| !word.is_empty() && *word != "-");
            out.extend(words.map(str::to_owned));
        }
    }
    out
}
