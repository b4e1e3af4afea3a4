//! `*`, `?` and `**` in the paths of `setpoint.toml`.

use std::path::{Path, PathBuf};

use setpoint_source::FileSystem;

/// Deeper folders are not entered by `**`.
const MAX_DEPTH: usize = 32;

/// The files below a folder that a pattern names, sorted folder by folder.
pub(super) fn files(files: &dyn FileSystem, folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let (start, pattern) = match pattern.strip_prefix('/') {
        Some(rest) => (PathBuf::from("/"), rest),
        None => (folder.to_owned(), pattern),
    };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut found = Vec::new();
    walk(files, &start, &parts, 0, &mut found);
    found
}

fn walk(files: &dyn FileSystem, at: &Path, parts: &[&str], depth: usize, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else {
        if files.is_file(at) {
            found.push(at.to_owned());
        }
        return;
    };
    if !part.contains(['*', '?']) {
        return walk(files, &at.join(part), rest, depth, found);
    }
    let deep = *part == "**";
    if deep {
        walk(files, at, rest, depth, found);
    }
    let here = if at.as_os_str().is_empty() { Path::new(".") } else { at };
    for name in files.list(here) {
        let path = at.join(&name);
        if name.starts_with('.') {
            continue;
        }
        if deep {
            if depth < MAX_DEPTH && files.is_dir(&path) {
                walk(files, &path, parts, depth + 1, found);
            }
        } else if fits(&name, part) {
            walk(files, &path, rest, depth, found);
        }
    }
}

/// Whether a name fits a pattern with `*` and `?`; linear in both but for one step back.
fn fits(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut n, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            n += 1;
            p += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_source::MemoryFileSystem;

    #[test]
    fn patterns_name_files() {
        let mut memory = MemoryFileSystem::new();
        for path in ["r/facts/a.yaml", "r/facts/b.json", "r/facts/deep/c.yaml", "r/other.yaml"] {
            memory.add(path, "");
        }
        let found = |pattern: &str| -> Vec<String> {
            files(&memory, Path::new("r"), pattern).iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(found("facts/*.yaml"), ["r/facts/a.yaml"]);
        assert_eq!(found("facts/?.*"), ["r/facts/a.yaml", "r/facts/b.json"]);
        assert_eq!(found("**/*.yaml"), ["r/other.yaml", "r/facts/a.yaml", "r/facts/deep/c.yaml"]);
        assert_eq!(found("facts/b.json"), ["r/facts/b.json"]);
        assert!(found("nothing/*").is_empty());
    }
}
