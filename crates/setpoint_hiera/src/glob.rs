//! `*`, `**`, `?`, `[…]` and `{a,b}` in paths, as Ruby's `Dir.glob` has them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_source::{FileSystem, Limit};

use crate::failure::Failure;

/// More alternatives in braces are not expanded.
const MAX_ALTERNATIVES: Limit = Limit::new(1000);

/// The folder that a pattern starts from: all before its first part that is no plain name.
pub(crate) fn fixed_start(pattern: &str) -> &Path {
    let Some(open) = pattern.find(['*', '?', '[', '\\', '{']) else { return Path::new(pattern) };
    Path::new(pattern[..open].rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// The files that a pattern matches, sorted folder by folder. Of a pattern with too many alternatives these are not all.
pub fn glob(pattern: &str, files: &dyn FileSystem) -> Vec<PathBuf> {
    glob_of(&alternatives(pattern).0, files)
}

/// The same, unless the pattern has too many alternatives.
pub(crate) fn glob_whole(pattern: &str, files: &dyn FileSystem) -> Result<Vec<PathBuf>, Failure> {
    match alternatives(pattern) {
        (patterns, true) => Ok(glob_of(&patterns, files)),
        (_, false) => Err(Failure::limit(format!(
            "The braces of a `glob` make more than {MAX_ALTERNATIVES} alternatives"
        ))),
    }
}

fn glob_of(patterns: &[String], files: &dyn FileSystem) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pattern in patterns {
        let (start, rest) = match pattern.strip_prefix('/') {
            Some(rest) => (PathBuf::from("/"), rest),
            None => (PathBuf::new(), pattern.as_str()),
        };
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        Walk { files, found: &mut found, entered: BTreeSet::new() }.enter(start, &parts);
    }
    found
}

/// The search for one pattern.
struct Walk<'a> {
    files: &'a dyn FileSystem,
    found: &'a mut Vec<PathBuf>,
    /// The folders that `**` has entered, with the number of parts that are left: `**/**/**` leads to each in many ways.
    entered: BTreeSet<(PathBuf, usize)>,
}

impl Walk<'_> {
    fn enter(&mut self, at: PathBuf, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            if self.files.is_file(&at) {
                self.found.push(at);
            }
            return;
        };
        if *part == "**" && !rest.is_empty() {
            if !self.entered.insert((at.clone(), parts.len())) {
                return;
            }
            self.enter(at.clone(), rest);
            for name in self.files.list(or_here(&at)) {
                let path = at.join(&name);
                // Ruby follows no link here, and so no circle of links.
                let is_followed = self.files.is_dir(&path) && self.files.link_target(&path).is_none();
                if !name.starts_with('.') && is_followed {
                    self.enter(path, parts);
                }
            }
            return;
        }
        if !part.contains(['*', '?', '[', '\\']) {
            self.enter(at.join(part), rest);
            return;
        }
        let pattern: Vec<char> = part.chars().collect();
        for name in self.files.list(or_here(&at)) {
            let letters: Vec<char> = name.chars().collect();
            if (!name.starts_with('.') || part.starts_with('.')) && matches(&pattern, &letters) {
                self.enter(at.join(&name), rest);
            }
        }
    }
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// `a{b,c}d` is `abd` and `acd`; and whether these are all.
fn alternatives(pattern: &str) -> (Vec<String>, bool) {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(text) = open.pop() {
        let Some((start, end)) = innermost(&text) else {
            done.push(text);
            continue;
        };
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return (done, false);
        }
        for choice in text[start + 1..end].split(',').rev() {
            open.push(format!("{}{choice}{}", &text[..start], &text[end + 1..]));
        }
    }
    (done, true)
}

/// The first brace that closes, and the one that it closes.
fn innermost(text: &str) -> Option<(usize, usize)> {
    let end = text.find('}')?;
    text[..end].rfind('{').map(|start| (start, end))
}

/// Whether the name of a file fits a pattern.
pub fn name_fits(pattern: &str, name: &str) -> bool {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    matches(&letters(pattern), &letters(name))
}

/// Whether a name fits a pattern. A star is tried again at each later place, the last star only.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            None if n == name.len() => return true,
            None => None,
            Some(_) => name.get(n).and_then(|letter| one(&pattern[p..], *letter)),
        };
        if let Some(length) = step {
            p += length;
            n += 1;
        } else {
            let Some((after, from)) = star.filter(|(_, from)| *from < name.len()) else { return false };
            star = Some((after, from + 1));
            p = after;
            n = from + 1;
        }
    }
}

/// The length of the pattern that one letter fits.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == letter).then_some(2),
        ['[', rest @ ..] => {
            let (negated, set) = match rest {
                ['!' | '^', set @ ..] => (true, set),
                set => (false, set),
            };
            let end = set.iter().skip(1).position(|one| *one == ']')? + 1;
            let mut inside = false;
            let mut at = 0;
            while at < end {
                if at + 2 < end && set[at + 1] == '-' {
                    inside |= (set[at]..=set[at + 2]).contains(&letter);
                    at += 3;
                } else {
                    inside |= set[at] == letter;
                    at += 1;
                }
            }
            (inside != negated).then_some(end + 2 + usize::from(negated))
        }
        [first, ..] => (*first == letter).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::glob;
    use setpoint_source::MemoryFileSystem;

    #[test]
    fn patterns_find_files() {
        let mut files = MemoryFileSystem::new();
        for path in ["d/a.yaml", "d/b.yaml", "d/.c.yaml", "d/x/a.yaml", "d/x/y/a.yaml", "d/a.json"] {
            files.add(path, "");
        }
        let found = |pattern: &str| {
            glob(pattern, &files).iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("d/*.yaml"), ["d/a.yaml", "d/b.yaml"]);
        assert_eq!(found("d/**/a.yaml"), ["d/a.yaml", "d/x/a.yaml", "d/x/y/a.yaml"]);
        assert_eq!(found("d/{b,a}.yaml"), ["d/b.yaml", "d/a.yaml"]);
        assert_eq!(found("d/[a-c].????"), ["d/a.json", "d/a.yaml", "d/b.yaml"]);
        assert_eq!(found("d/[!a].yaml"), ["d/b.yaml"]);
        assert!(found("d/x").is_empty());
    }
}
