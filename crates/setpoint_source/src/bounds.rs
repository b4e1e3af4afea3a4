//! What of this machine may be read: the inputs, and what the user permits besides.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use crate::{FileError, normal};

/// Links that are followed at most, so that a circle of them ends; as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Files and folders that may be read, each with all below it. A path is looked up by its ancestors: installed modules are
/// hundreds of links, and every file that is read asks.
#[derive(Debug, Default)]
struct Roots {
    /// Each root as it was named, and by its real path; with its real path, which has no links.
    ways: HashMap<PathBuf, PathBuf>,
    /// The real paths.
    real: HashSet<PathBuf>,
    /// The real paths of what code may read by its absolute path: the user said so.
    besides: HashSet<PathBuf>,
}

impl Roots {
    fn contain(&self, path: &Path) -> bool {
        lies_below(path, &self.real)
    }

    /// The real path of the nearest root above a path, and the parts that lead on from there, the next one last. A link that
    /// was allowed by its name lies below a folder that was, too: the nearest one knows where it leads.
    fn enter(&self, path: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
        let here = path.as_os_str().is_empty();
        let absolute = std::path::absolute(if here { Path::new(".") } else { path }).ok()?;
        let below = |path: &Path| {
            let (way, real) = path.ancestors().find_map(|above| self.ways.get_key_value(above))?;
            Some((real.clone(), parts(path.strip_prefix(way).ok()?)))
        };
        below(&absolute).or_else(|| below(&normal(&absolute)))
    }
}

fn lies_below(path: &Path, folders: &HashSet<PathBuf>) -> bool {
    path.ancestors().any(|above| folders.contains(above))
}

/// The files and folders that may be read. Nothing else is opened, listed or looked at, whatever path or link leads there.
#[derive(Debug, Default)]
pub struct Bounds {
    /// `None` is everything.
    roots: Option<RwLock<Roots>>,
}

impl Bounds {
    /// Nothing is refused: for tests, and for tasks that read files of their own.
    pub fn everywhere() -> Self {
        Self { roots: None }
    }

    /// Nothing may be read until it is allowed.
    pub fn nowhere() -> Self {
        Self { roots: Some(RwLock::default()) }
    }

    /// Allows a file, or a folder and all below it.
    pub fn allow(&self, path: &Path) {
        self.add(path);
    }

    /// Allows what is no input, and what code may nevertheless read by its absolute path.
    pub fn allow_besides(&self, path: &Path) {
        if let (Some(roots), Some(real)) = (&self.roots, self.add(path)) {
            roots.write().unwrap_or_else(PoisonError::into_inner).besides.insert(real);
        }
    }

    /// Allows an input that the user named, and the project that it is a part of: see [`project_around`].
    pub fn allow_project_of(&self, input: &Path) {
        if self.roots.is_some() {
            self.allow(input);
            for folder in project_around(input) {
                self.allow(&folder);
            }
        }
    }

    /// Allows a folder of modules that the user named. Packages install modules as links: outside of the projects, where nobody
    /// but the user put them, they are followed.
    pub fn allow_modules(&self, folder: &Path) {
        if self.roots.is_none() || self.permit(folder) {
            return;
        }
        self.allow(folder);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        links.for_each(|link| self.allow(&link.path()));
    }

    /// Adds a root and returns its real path; nothing where everything is allowed.
    fn add(&self, path: &Path) -> Option<PathBuf> {
        let roots = self.roots.as_ref()?;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let named = normal(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| named.clone());
        let mut roots = roots.write().unwrap_or_else(PoisonError::into_inner);
        roots.ways.insert(named, real.clone());
        roots.ways.insert(real.clone(), real.clone());
        roots.real.insert(real.clone());
        Some(real)
    }

    /// Whether a path may be looked at: all that leads there lies within, whether or not it is there.
    pub fn permit(&self, path: &Path) -> bool {
        !matches!(self.follow(path), Err(Refusal::Outside))
    }

    /// Whether a path lies within by its name alone: for what is not read from this file system.
    pub fn permit_by_name(&self, path: &Path) -> bool {
        let Some(roots) = &self.roots else { return true };
        roots.read().unwrap_or_else(PoisonError::into_inner).enter(&normal(path)).is_some()
    }

    /// Whether a path lies in what was allowed besides the inputs.
    pub fn permit_besides(&self, path: &Path) -> bool {
        let (Some(roots), Ok(real)) = (&self.roots, self.follow(path)) else { return false };
        let roots = roots.read().unwrap_or_else(PoisonError::into_inner);
        lies_below(&real, &roots.besides)
    }

    /// Returns the path without links and `..`; an error if it lies outside, or cannot be followed.
    pub(crate) fn resolve(&self, path: &Path) -> Result<PathBuf, FileError> {
        self.follow(path).map_err(|refusal| match refusal {
            Refusal::Outside => FileError::outside(path),
            Refusal::Circle => FileError::circular(path),
            Refusal::Io(error) => FileError::of(path, &error),
        })
    }

    /// Returns the path without links and `..`, only if it and all that leads to it lies within. What lies outside is not
    /// touched.
    fn follow(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let Some(roots) = &self.roots else { return Ok(path.to_owned()) };
        let roots = roots.read().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut rest) = roots.enter(path).ok_or(Refusal::Outside)?;
        let (mut links, mut circles) = (0, 0);
        let mut passed = vec![at.clone()];
        while let Some(part) = rest.pop() {
            match part.components().next() {
                Some(Component::ParentDir) => {
                    at.pop();
                    continue;
                }
                Some(Component::Normal(name)) => at.push(name),
                _ => continue,
            }
            // The way may lead out and in again.
            if !roots.contain(&at) {
                continue;
            }
            match std::fs::read_link(&at) {
                Ok(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Refusal::Io(io::Error::other("Too many levels of symbolic links")));
                    }
                    at.pop();
                    // Modules have links to themselves among their fixtures; but a walk that follows several such links after
                    // each other has no end.
                    let leads_to = normal(&at.join(&target));
                    if at.starts_with(&leads_to) || passed.contains(&leads_to) {
                        circles += 1;
                        if circles > 1 {
                            return Err(Refusal::Circle);
                        }
                    }
                    if target.is_absolute() {
                        let whole = rest.iter().rev().fold(target, |whole, part| whole.join(part));
                        (at, rest) = roots.enter(&whole).ok_or(Refusal::Outside)?;
                    } else {
                        rest.extend(parts(&target));
                    }
                }
                // It is there, and no link.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => passed.push(at.clone()),
                Err(error) => return Err(Refusal::Io(error)),
            }
        }
        if roots.contain(&at) { Ok(at) } else { Err(Refusal::Outside) }
    }
}

/// Why a path cannot be followed.
#[derive(Debug)]
enum Refusal {
    Outside,
    Circle,
    Io(io::Error),
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// What stands at the top of a project.
const MARKERS: &[&str] = &["environment.conf", "Puppetfile", "metadata.json", "setpoint.toml"];
/// Folders whose folders belong together: modules beside those that they need, environments beside each other.
const SIBLINGS: &[&str] = &["modules", "site-modules", "site", "environments"];

/// The folders that belong to an input without being named: the one that a file lies in; its repository if it is in one, else
/// the outermost folder above it that is marked as a project; and what lies beside a module or an environment. The user's
/// home and the root of the file system are no projects.
fn project_around(input: &Path) -> Vec<PathBuf> {
    let Ok(real) = std::fs::canonicalize(input) else { return Vec::new() };
    let home = std::env::var_os("HOME").and_then(|home| std::fs::canonicalize(home).ok());
    let is_project = |folder: &&Path| folder.parent().is_some() && Some(*folder) != home.as_deref();
    let folder = if real.is_dir() { real.as_path() } else { real.parent().unwrap_or(&real) };
    let folders = || folder.ancestors().take_while(is_project);
    let has = |folder: &Path, names: &[&str]| names.iter().any(|name| folder.join(name).exists());
    let repository = folders().find(|folder| has(folder, &[".git"]));
    let marked = folders().filter(|folder| has(folder, MARKERS)).last();
    let mut found: Vec<&Path> = folders().take(1).chain(repository.or(marked)).collect();
    let is_of_siblings =
        |folder: &&Path| folder.file_name().is_some_and(|name| SIBLINGS.iter().any(|known| name == *known));
    let beside: Vec<&Path> = found.iter().filter_map(|folder| folder.parent()).collect();
    found.extend(beside.into_iter().filter(is_project).filter(is_of_siblings));
    found.into_iter().map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_parents_lead_nowhere_outside() {
        let top = std::env::temp_dir().join(format!("setpoint-bounds-{}", std::process::id()));
        let (inside, outside) = (top.join("inside"), top.join("outside"));
        std::fs::create_dir_all(inside.join("below")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(inside.join("a"), "").unwrap();
        std::fs::write(outside.join("secret"), "").unwrap();
        for (name, target) in [
            ("file", "../outside/secret"),
            ("folder", "../outside"),
            ("back", "../inside/a"),
            ("round", "round"),
            ("below/up", ".."),
        ] {
            symlink(target, inside.join(name)).unwrap();
        }
        symlink(outside.join("secret"), inside.join("absolute")).unwrap();
        symlink(inside.join("a"), inside.join("home")).unwrap();
        symlink(&inside, top.join("alias")).unwrap();
        let bounds = Bounds::nowhere();
        assert!(!bounds.permit(&inside.join("a")));
        bounds.allow(&top.join("alias"));
        for name in
            ["a", "back", "home", "below/up/a", "below/../a", "missing", "round", "folder/../inside/a"]
        {
            assert!(bounds.permit(&top.join("alias").join(name)), "{name}");
            assert!(bounds.permit(&inside.join(name)), "{name}");
        }
        for name in
            ["file", "folder", "folder/secret", "folder/missing", "absolute", "..", "../outside/secret"]
        {
            assert!(!bounds.permit(&top.join("alias").join(name)), "{name}");
            assert!(!bounds.permit(&inside.join(name)), "{name}");
        }
        assert!(bounds.resolve(&inside.join("round")).is_err());
        assert!(!bounds.permit_besides(&inside.join("a")));
        bounds.allow_besides(&outside);
        assert!(bounds.permit(&inside.join("folder/secret")));
        assert!(bounds.permit_besides(&inside.join("folder/secret")));
        std::fs::remove_dir_all(&top).unwrap();
    }

    /// As Debian installs modules: a link to a link outside, which leads to the module.
    #[test]
    fn links_of_a_folder_of_modules_are_followed() {
        let top = std::env::temp_dir().join(format!("setpoint-modules-{}", std::process::id()));
        let (modules, elsewhere) = (top.join("modules"), top.join("elsewhere/stdlib"));
        std::fs::create_dir_all(&modules).unwrap();
        std::fs::create_dir_all(elsewhere.join("lib")).unwrap();
        symlink(&elsewhere, top.join("alternative")).unwrap();
        symlink(top.join("alternative"), modules.join("stdlib")).unwrap();
        let bounds = Bounds::nowhere();
        bounds.allow_modules(&modules);
        assert!(bounds.permit(&modules.join("stdlib/lib")));
        assert!(!bounds.permit(&top.join("alternative")));
        std::fs::remove_dir_all(&top).unwrap();
    }
}
