//! Files and folders of the environment and its modules. What lies elsewhere is another on every machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use setpoint_source::{Limit, canonical_path, normal};

use super::{Given, call, text_of};
use crate::ruby_language::interpreter::{Interpreter, Result, beyond, limit, raise};
use crate::ruby_language::things::Thing;

/// The path of a file that a function may look at: one of the environment or of a module.
fn input(interpreter: &Interpreter<'_, '_, '_>, path: &Thing) -> Result<PathBuf> {
    let path = match path {
        Thing::Object(_) => path_of(path),
        other => text_of(other)?,
    };
    let path = normal(Path::new(&path));
    if interpreter.context.host.is_input(&path) {
        return Ok(path);
    }
    beyond("it looks at a file that lies outside of the environment and its modules")
}

/// Names of files are texts; what is read are files of the environment and of modules.
pub(super) fn file(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("basename", [path, rest @ ..]) => {
            let path = text_of(path)?;
            let trimmed = path.trim_end_matches('/');
            let name = if trimmed.is_empty() && !path.is_empty() {
                "/"
            } else {
                trimmed.rsplit('/').next().unwrap_or_default()
            };
            let name = match rest.first() {
                Some(Thing::Text(suffix)) if *suffix.value.borrow() == ".*" => {
                    name.rfind('.').filter(|at| *at > 0).map_or(name, |at| &name[..at])
                }
                Some(suffix) => {
                    let suffix = text_of(suffix)?;
                    name.strip_suffix(suffix.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(name)
                }
                None => name,
            };
            Thing::text(name)
        }
        ("dirname", [path]) => {
            let path = text_of(path)?;
            let trimmed = path.trim_end_matches('/');
            let folder = match trimmed.rfind('/') {
                Some(at) => trimmed[..at].trim_end_matches('/'),
                None if trimmed.is_empty() && !path.is_empty() => "",
                None => ".",
            };
            Thing::text(if folder.is_empty() { "/" } else { folder })
        }
        ("extname", [path]) => {
            let path = text_of(path)?;
            let name = path.rsplit('/').next().unwrap_or_default();
            let bare = name.trim_start_matches('.');
            let end = bare.rfind('.').filter(|at| *at > 0);
            // Ruby has no letters, and so no encoding, for the empty one.
            end.map_or_else(|| Thing::Bytes(Rc::default()), |at| Thing::text(&bare[at..]))
        }
        ("split", [path]) => {
            let folder =
                call(interpreter, &Thing::Constant("File".into()), "dirname", vec![path.clone()], None)?;
            let name =
                call(interpreter, &Thing::Constant("File".into()), "basename", vec![path.clone()], None)?;
            Thing::array(vec![folder, name])
        }
        ("join", parts) => {
            let mut flat = Vec::new();
            super::enumerable::flat(interpreter, parts, -1, &mut flat)?;
            let mut path = String::new();
            for (at, part) in flat.iter().enumerate() {
                let part = text_of(part)?;
                if at == 0 {
                    path = part;
                } else if path.ends_with('/') {
                    path.push_str(part.trim_start_matches('/'));
                } else if part.starts_with('/') {
                    path.push_str(&part);
                } else {
                    path.push('/');
                    path.push_str(&part);
                }
            }
            Thing::text(path)
        }
        ("exist?" | "exists?" | "file?" | "directory?" | "readable?", [path]) => {
            let path = input(interpreter, path)?;
            let files = interpreter.context.host.files();
            let (is_file, is_folder) = (files.is_file(&path), files.is_dir(&path));
            Thing::Bool(match given.name {
                "file?" => is_file,
                "directory?" => is_folder,
                _ => is_file || is_folder,
            })
        }
        ("read" | "open" | "new", [path, options @ ..]) if !writes(options) => {
            let text = read(interpreter, path)?;
            match (given.name, given.block) {
                ("read", _) => text,
                (_, Some(block)) => {
                    let opened = super::puppet::instance_of_library(interpreter, "OpenedFile", vec![text])?;
                    interpreter.call_block(block, vec![opened])?
                }
                (_, None) => super::puppet::instance_of_library(interpreter, "OpenedFile", vec![text])?,
            }
        }
        ("readlines" | "foreach", [path, options @ ..]) => {
            let text = read(interpreter, path)?;
            let lines = call(interpreter, &text, "lines", options.to_vec(), None)?;
            match (given.name, given.block) {
                ("foreach", Some(block)) => {
                    call(interpreter, &lines, "each", Vec::new(), Some(block))?;
                    Thing::Nil
                }
                _ => lines,
            }
        }
        ("size", [path]) => {
            let text = read(interpreter, path)?;
            call(interpreter, &text, "bytesize", Vec::new(), None)?
        }
        ("zero?" | "empty?", [path]) => {
            let text = read(interpreter, path)?;
            call(interpreter, &text, "empty?", Vec::new(), None)?
        }
        ("expand_path" | "absolute_path", [path, base]) => {
            let path = if text_of(path)?.starts_with('/') {
                path.clone()
            } else {
                Thing::text(format!("{}/{}", text_of(base)?, text_of(path)?))
            };
            let clean = normal(Path::new(&text_of(&path)?));
            Thing::text(clean.to_string_lossy())
        }
        // A file of the environment that is named from the folder that this runs in.
        ("expand_path" | "realpath" | "absolute_path", [path]) if input(interpreter, path).is_ok() => {
            Thing::text(input(interpreter, path)?.to_string_lossy())
        }
        ("fnmatch" | "fnmatch?", [pattern, path]) => {
            let (pattern, path) = (text_of(pattern)?, text_of(path)?);
            if pattern.contains(['[', '{', '\\']) {
                return beyond("it compares a path with an unusual pattern");
            }
            Thing::Bool(fits_pattern(&pattern, &path))
        }
        ("absolute_path?", [path]) => Thing::Bool(text_of(path)?.starts_with('/')),
        ("expand_path" | "absolute_path", [path]) if text_of(path)?.starts_with('/') => {
            canonical_path(&text_of(path)?).map_or(Thing::Nil, Thing::text)
        }
        _ => return Ok(None),
    }))
}

/// The path of a `Pathname`.
fn path_of(path: &Thing) -> String {
    match path {
        Thing::Object(object) => object.variables.borrow().get("path").map(Thing::to_s).unwrap_or_default(),
        other => other.to_s(),
    }
}

/// Whether a file is opened for more than to be read.
fn writes(options: &[Thing]) -> bool {
    options.iter().any(|option| matches!(option, Thing::Text(mode) if !mode.value.borrow().starts_with('r') || mode.value.borrow().contains('+')))
}

fn read(interpreter: &mut Interpreter<'_, '_, '_>, path: &Thing) -> Result<Thing> {
    let path = input(interpreter, path)?;
    let files = interpreter.context.host.files();
    if !files.is_file(&path) && !files.is_dir(&path) {
        let message = format!("No such file or directory @ rb_sysopen - {}", path.display());
        return raise("Errno::ENOENT", message);
    }
    let Ok(text) = setpoint_source::read_text(files, &path) else {
        return beyond("it reads a file that cannot be read");
    };
    interpreter.context.host.file_read(&path, &text);
    Ok(Thing::text(text))
}

/// Folders of the environment and of modules.
pub(super) fn folder(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("exist?" | "exists?", [path]) => {
            let path = input(interpreter, path)?;
            Thing::Bool(interpreter.context.host.files().is_dir(&path))
        }
        ("children" | "each_child" | "entries", [path]) => {
            let folder = input(interpreter, path)?;
            if !interpreter.context.host.files().is_dir(&folder) {
                let message = format!("No such file or directory @ dir_initialize - {}", folder.display());
                return raise("Errno::ENOENT", message);
            }
            // The system lists them in an order of its own; they are good for nothing before they are sorted.
            return beyond("it lists a folder in the order of the file system");
        }
        ("glob" | "[]", patterns) if !patterns.is_empty() => {
            let patterns: Vec<Thing> = match patterns {
                [Thing::Array(list)] => list.items.borrow().clone(),
                [pattern, Thing::Integer(_)] => vec![pattern.clone()],
                patterns => patterns.to_vec(),
            };
            let mut found = Vec::new();
            for pattern in &patterns {
                if matches!(pattern, Thing::Hash(_)) {
                    return beyond("it lists files with options");
                }
                let pattern = text_of(pattern)?;
                if pattern.contains(['[', '\\']) {
                    return beyond("it lists files by an unusual pattern");
                }
                for pattern in alternatives(&pattern) {
                    matching(interpreter, &pattern, &mut found)?;
                }
            }
            let found = Thing::array(found.into_iter().map(Thing::text).collect());
            match given.block {
                Some(block) => {
                    call(interpreter, &found, "each", Vec::new(), Some(block))?;
                    Thing::Nil
                }
                None => found,
            }
        }
        _ => return Ok(None),
    }))
}

/// `{a,b}` in a pattern, written out.
fn alternatives(pattern: &str) -> Vec<String> {
    let Some((start, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((inside, end)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    inside.split(',').flat_map(|one| alternatives(&format!("{start}{one}{end}"))).collect()
}

/// The files and folders that a pattern fits, sorted as Ruby 3 sorts them.
fn matching(interpreter: &mut Interpreter<'_, '_, '_>, pattern: &str, found: &mut Vec<String>) -> Result<()> {
    let fixed: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?'])).collect();
    let parts: Vec<&str> = pattern.split('/').skip(fixed.len()).collect();
    let start = fixed.join("/");
    if parts.is_empty() {
        let path = input(interpreter, &Thing::text(start.as_str()))?;
        let files = interpreter.context.host.files();
        if files.is_file(&path) || files.is_dir(&path) {
            found.push(start);
        }
        return Ok(());
    }
    input(interpreter, &Thing::text(start.as_str()))?;
    let files = interpreter.context.host.files();
    let mut walk = Walk { files, found, entered: BTreeSet::new(), is_too_deep: false };
    walk.enter(&start, &parts, 0);
    if walk.is_too_deep { limit(format!("it looks into folders more than {DEEPEST} deep")) } else { Ok(()) }
}

/// Deeper folders are not looked into.
const DEEPEST: Limit = Limit::new(40);

/// The search for one pattern.
struct Walk<'a> {
    files: &'a dyn setpoint_source::FileSystem,
    found: &'a mut Vec<String>,
    /// The folders that `**` has entered, with the number of parts that are left: `**/**/**` leads to each in many ways.
    entered: BTreeSet<(String, usize)>,
    is_too_deep: bool,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &str, parts: &[&str], depth: usize) {
        let Some((first, rest)) = parts.split_first() else { return };
        if depth > DEEPEST {
            self.is_too_deep = true;
            return;
        }
        let is_deep = *first == "**" && !rest.is_empty();
        if is_deep {
            if !self.entered.insert((folder.to_owned(), parts.len())) {
                return;
            }
            self.enter(folder, rest, depth);
        }
        let mut names = self.files.list(Path::new(folder));
        names.sort();
        for name in names.into_iter().filter(|name| !name.starts_with('.') || first.starts_with('.')) {
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let is_folder = self.files.is_dir(Path::new(&path));
            if is_deep {
                // Ruby follows no link here, and so no circle of links.
                if is_folder && self.files.link_target(Path::new(&path)).is_none() {
                    self.enter(&path, parts, depth + 1);
                }
            } else if fits_pattern(first, &name) {
                if rest.is_empty() {
                    self.found.push(path);
                } else if is_folder {
                    self.enter(&path, rest, depth + 1);
                }
            }
        }
    }
}

/// Whether a name fits a pattern of `*` and `?`.
fn fits_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for letter in pattern {
        if letter == '*' {
            for at in 0..name.len() {
                fits[at + 1] |= fits[at];
            }
            continue;
        }
        for at in (0..name.len()).rev() {
            fits[at + 1] = fits[at] && (letter == '?' || letter == name[at]);
        }
        fits[0] = false;
    }
    fits[name.len()]
}
