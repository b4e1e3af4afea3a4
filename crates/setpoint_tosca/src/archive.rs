//! CSAR archives, read into memory.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use setpoint_source::{FileSystem, MAX_FILE_BYTES, MemoryFileSystem};

/// All that an archive may hold, unpacked: a small file may unpack to a very large one.
const MAX_UNPACKED: u64 = 256 * 1024 * 1024;

/// The text files of an archive, and the path of its service template.
pub fn open(bytes: &[u8]) -> Result<(MemoryFileSystem, PathBuf), String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("it is not a ZIP archive: {error}"))?;
    let mut files = MemoryFileSystem::new();
    let mut left = MAX_UNPACKED;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| format!("an entry cannot be read: {error}"))?;
        let Some(path) = entry.enclosed_name() else { continue };
        if !entry.is_file() {
            continue;
        }
        let mut content = Vec::new();
        let limit = left.min(MAX_FILE_BYTES);
        entry
            .take(limit + 1)
            .read_to_end(&mut content)
            .map_err(|error| format!("`{}` cannot be unpacked: {error}", path.display()))?;
        if content.len() as u64 > limit {
            return Err(format!("it unpacks to more than {} MB", MAX_UNPACKED / 1_000_000));
        }
        left -= content.len() as u64;
        files.add(path, content);
    }
    let entry = entry_definitions(&files)?;
    Ok((files, entry))
}

fn entry_definitions(files: &MemoryFileSystem) -> Result<PathBuf, String> {
    let meta =
        files.read(Path::new("TOSCA-Metadata/TOSCA.meta")).or_else(|_| files.read(Path::new("TOSCA.meta")));
    if let Ok(bytes) = meta {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let entry = text.lines().find_map(|line| line.strip_prefix("Entry-Definitions:")).map(str::trim);
        return match entry {
            Some(entry) if files.is_file(Path::new(entry)) => Ok(entry.into()),
            Some(entry) => Err(format!("its metadata names `{entry}`, which it does not hold")),
            None => Err("its metadata has no `Entry-Definitions`".to_owned()),
        };
    }
    let top = files.list(Path::new("."));
    let is_yaml = |name: &&String| {
        Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut yaml = top.iter().filter(is_yaml);
    match (yaml.next(), yaml.next()) {
        (Some(only), None) => Ok(only.into()),
        (Some(_), Some(_)) => Err("it has several YAML files at its top and no `TOSCA.meta`".to_owned()),
        _ => Err("it holds no service template".to_owned()),
    }
}
