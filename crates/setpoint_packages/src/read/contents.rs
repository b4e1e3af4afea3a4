//! Debian's and Ubuntu's Contents: a path, spaces, and the packages that have it.

use std::io::BufRead;

use super::lines;
use crate::{Collection, IndexError};

/// Older files open with prose that ends with `FILE … LOCATION`; it is not longer than this.
const PROSE: usize = 200;

/// Reads a Contents index: `usr/bin/vim.basic    editors/vim,editors/vim-tiny`.
pub fn contents(into: &mut Collection, reader: impl BufRead, origin: &str) -> Result<(), IndexError> {
    contents_of(into, reader, origin, |_| true)
}

/// Reads a Contents index for the packages that the condition holds for.
pub fn contents_of(
    into: &mut Collection,
    reader: impl BufRead,
    origin: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), IndexError> {
    let mut first: Option<Vec<String>> = Some(Vec::new());
    let mut entries = 0u64;
    let mut odd = 0u64;
    lines(reader, origin, |text| {
        if let Some(held) = &mut first {
            let mut words = text.split_whitespace();
            if words.next() == Some("FILE") && words.next() == Some("LOCATION") && words.next().is_none() {
                first = None;
                return Ok(());
            }
            if held.len() < PROSE {
                held.push(text.to_owned());
                return Ok(());
            }
            for line in std::mem::take(held) {
                entry(into, &wanted, &line, &mut entries, &mut odd);
            }
            first = None;
        }
        entry(into, &wanted, text, &mut entries, &mut odd);
        // A file of another kind is noticed early.
        if odd > 100 && odd > entries {
            return Err("this is no Contents index: a line is a path, spaces, and packages".to_owned());
        }
        Ok(())
    })?;
    for line in first.into_iter().flatten() {
        entry(into, &wanted, &line, &mut entries, &mut odd);
    }
    if entries == 0 && odd > 0 {
        return Err(IndexError::new(
            origin,
            "this is no Contents index: a line is a path, spaces, and packages",
        ));
    }
    Ok(())
}

fn entry(into: &mut Collection, wanted: &dyn Fn(&str) -> bool, line: &str, entries: &mut u64, odd: &mut u64) {
    let line = line.trim_end();
    if line.is_empty() {
        return;
    }
    // Paths may have spaces; lists of packages have none.
    let Some((path, packages)) = line.rsplit_once([' ', '\t']) else {
        *odd += 1;
        return;
    };
    let path = path.trim_end();
    for package in packages.split(',') {
        let name = package.rsplit('/').next().unwrap_or(package);
        if name.is_empty() || path.is_empty() || !is_name(name) {
            *odd += 1;
            continue;
        }
        *entries += 1;
        if !wanted(name) {
            continue;
        }
        into.add_file(name, path);
        into.set_files_listed(name);
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.:_".contains(&byte))
}
