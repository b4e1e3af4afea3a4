//! The formats in which facts about packages are published, each read into a [`Collection`](crate::Collection).
//!
//! Readers take bytes in any of the usual compressions, which they recognise by content. Indexes are large, so they are read
//! as they come and never held as a whole.

mod compression;
mod contents;
mod dpkg;
mod listings;
mod packages;
mod rpm;
mod scripts;
mod version;

use std::io::BufRead;
use std::path::{Path, PathBuf};

pub use compression::plain;
pub use contents::{contents, contents_of};
pub use dpkg::{dpkg, status};
pub use listings::{Listings, listings};
pub use packages::{Versions, packages};
pub use rpm::{Metadata, RpmVersions, rpm};
pub use scripts::{script, sysusers};
pub use version::newer;

use crate::IndexError;

/// No index has longer lines; a file that is no index must not fill the memory.
const MAX_LINE: usize = 1 << 20;

/// A file as a stream of plain bytes.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, IndexError> {
    let name = path.display().to_string();
    let file =
        setpoint_source::open_stream(path).map_err(|error| IndexError::new(name.clone(), error.reason))?;
    plain(file, &name)
}

/// Contents and Packages indexes in a folder of apt's lists, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AptLists {
    pub contents: Vec<PathBuf>,
    pub packages: Vec<PathBuf>,
}

/// What apt has fetched: `/var/lib/apt/lists`, or a folder like it.
pub fn apt_lists(folder: &Path) -> Result<AptLists, IndexError> {
    let failed = |error: std::io::Error| IndexError::new(folder.display().to_string(), error.to_string());
    let mut found = AptLists::default();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = ["gz", "xz", "lz4", "zst", "bz2"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))
            .unwrap_or(&name);
        let last = stem.rsplit('_').next().unwrap_or(stem);
        if !path.is_file() {
            continue;
        }
        if last == "Packages" || last.ends_with("-Packages") {
            found.packages.push(path);
        } else if last.starts_with("Contents-") && !last.contains("source") && !last.contains("udeb") {
            found.contents.push(path);
        }
    }
    found.contents.sort();
    found.packages.sort();
    Ok(found)
}

/// Each line without its end, with bytes that are no UTF-8 replaced. Stops at the first error.
fn lines(
    mut reader: impl BufRead,
    origin: &str,
    mut each: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), IndexError> {
    let mut line = Vec::new();
    let mut number = 0u64;
    loop {
        line.clear();
        number += 1;
        let read = std::io::Read::take(&mut reader, MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| IndexError::new(origin, format!("line {number} cannot be read: {error}")))?;
        if read == 0 {
            return Ok(());
        }
        if line.len() > MAX_LINE {
            let reason =
                format!("line {number} is longer than any line of an index: this is another kind of file");
            return Err(IndexError::new(origin, reason));
        }
        while line.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
            line.pop();
        }
        let text = String::from_utf8_lossy(&line);
        each(&text).map_err(|reason| IndexError::new(origin, format!("line {number}: {reason}")))?;
    }
}
