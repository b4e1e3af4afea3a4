//! Facts that code of modules computes on the machine: `lib/facter` and `facts.d`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use setpoint_puppet::Environment;
use setpoint_puppet_values::{Hash, Key, Type, Value};
use setpoint_source::{FileId, FileSystem, read_text};

/// Folders of facts are no deeper.
const MAX_DEPTH: usize = 8;

/// The names of facts that modules may add.
#[derive(Debug, Default)]
pub(crate) struct CustomFacts {
    /// Each with the file that may add it.
    names: BTreeMap<String, String>,
    /// Those that a file adds for certain, so that Facter's own fact of this name does not count.
    certain: BTreeMap<String, String>,
}

impl CustomFacts {
    pub(crate) fn of_modules(environment: &Environment<'_>) -> Self {
        let mut facts = Self::default();
        for folder in environment.module_names().iter().filter_map(|name| environment.module(name)) {
            facts.read_folder(environment.files, &folder.join("lib/facter"), 0);
            facts.read_folder(environment.files, &folder.join("facts.d"), 0);
        }
        facts
    }

    fn read_folder(&mut self, files: &dyn FileSystem, folder: &Path, depth: usize) {
        for name in files.list(folder) {
            let path = folder.join(&name);
            if files.is_dir(&path) {
                if depth < MAX_DEPTH {
                    self.read_folder(files, &path, depth + 1);
                }
                continue;
            }
            let Ok(text) = read_text(files, &path) else { continue };
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            let named =
                if extension == "rb" { names_in_ruby(&text) } else { names_in_data(&text, extension) };
            let file = || path.display().to_string();
            for name in named.iter().flatten() {
                self.certain.entry(name.clone()).or_insert_with(file);
            }
            for name in named.unwrap_or_else(|| words(&text)) {
                self.names.entry(name).or_insert_with(file);
            }
        }
    }

    /// The facts of a node of a platform. One that a module may add and that the platform lacks is an unknown value: the
    /// machine may have it, with any value, or not. One that the platform has and a module adds, too, has the module's value,
    /// unless it was told of this node; the facts of widely used modules are part of the platform.
    pub(crate) fn complete(&self, known: &Hash, told: &BTreeSet<String>) -> Hash {
        let mut facts = known.clone();
        let words = |name: &str, path: &str| format!("the machine computes the fact {name} ({path})");
        let of_modules: BTreeSet<String> = setpoint_platforms::names_of_modules().collect();
        for (name, path) in &self.certain {
            if let Some(value) = facts.get_mut(&Key::from(name.as_str()))
                && !told.contains(name)
                && !of_modules.contains(name)
            {
                *value = Value::unknown(words(name, path), Type::Any);
            }
        }
        for (name, path) in &self.names {
            let missing = || Value::unknown_or_missing(words(name, path));
            facts.entry(Key::from(name.as_str())).or_insert_with(missing);
        }
        facts
    }
}

/// The facts that a file of Ruby adds with `Facter.add`; nothing if it computes a name.
fn names_in_ruby(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let text = text.replace("Facter::add", "Facter.add");
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    for rest in code.flat_map(|line| line.split("Facter.add").skip(1)) {
        let argument = rest.trim_start_matches(['(', ' ']);
        let quoted =
            ['\'', '"'].into_iter().find_map(|quote| argument.strip_prefix(quote)?.split(quote).next());
        let name = quoted.or_else(|| argument.strip_prefix(':'))?;
        let end =
            if quoted.is_some() { name.len() } else { name.find(|c| !is_word(c)).unwrap_or(name.len()) };
        let name = &name[..end];
        if name.is_empty() || !name.chars().all(is_word) {
            return None;
        }
        names.push(name.to_lowercase());
    }
    Some(names)
}

/// The names in a file of external facts; nothing if it is a program.
fn names_in_data(text: &str, extension: &str) -> Option<Vec<String>> {
    match extension {
        "txt" => Some(
            text.lines().filter_map(|line| Some(line.split_once('=')?.0.trim().to_lowercase())).collect(),
        ),
        "yaml" | "yml" | "json" => {
            let document = if extension == "json" {
                setpoint_data::read_json(FileId(0), text)
            } else {
                setpoint_data::read_yaml(FileId(0), text)
            };
            let root = document.root.filter(|_| document.diagnostics.is_empty())?;
            Some(root.entries().iter().filter_map(|entry| Some(entry.key.text()?.to_lowercase())).collect())
        }
        _ => None,
    }
}

/// All words of a text. A program names its facts among them.
fn words(text: &str) -> Vec<String> {
    let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    text.split(|letter| !is_word(letter)).filter(is_name).map(str::to_lowercase).collect()
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::{names_in_data, names_in_ruby};

    #[test]
    fn literal_names_are_read() {
        let code =
            "# Facter.add(:no)\nFacter.add(:one) do\nFacter.add('two', type: :x)\n  Facter.add :three do";
        assert_eq!(names_in_ruby(code), Some(vec!["one".into(), "two".into(), "three".into()]));
        assert_eq!(names_in_data("a=b\nc = d", "txt"), Some(vec!["a".into(), "c".into()]));
    }

    #[test]
    fn computed_names_are_not() {
        assert_eq!(names_in_ruby("Facter.add(\"a_#{b}\") do"), None);
        assert_eq!(names_in_ruby("Facter.add(name) do"), None);
        assert_eq!(names_in_data("echo a=b", "sh"), None);
    }
}
