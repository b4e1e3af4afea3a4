//! The catalogs of a server, as files of a folder.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use setpoint_catalog::{Catalog, read};
use setpoint_project::{Session, UsageError};

use crate::causes::Shape;

/// One catalog that a server has compiled.
#[derive(Debug)]
pub(crate) struct Served {
    /// The name of the node.
    pub(crate) node: String,
    /// The file, which may hold several.
    pub(crate) path: PathBuf,
    /// Why the catalog cannot be read, or the catalog.
    pub(crate) catalog: Result<Catalog, String>,
    pub(crate) shape: Shape,
}

/// Every catalog in a folder and those below it, or in a file. What is no catalog is left alone: facts may lie beside.
pub(crate) fn read_all(session: &Session<'_>, place: &Path) -> Result<Vec<Served>, UsageError> {
    let mut found = Vec::new();
    if session.files.is_dir(place) {
        read_folder(session, place, 0, &mut found);
    } else {
        let text = session.read(place)?;
        add(place, &text, &mut found);
    }
    if found.is_empty() {
        return Err(UsageError::new(format!(
            "{}: there is no catalog here. A catalog is a JSON file with `resources` and `edges`: what a server \
             answers, what an agent keeps in client_data/catalog, or what PuppetDB exports.",
            place.display()
        )));
    }
    found.sort_by(|a, b| a.node.cmp(&b.node));
    Ok(found)
}

/// Links may lead round in circles.
const MAX_DEPTH: usize = 16;

fn read_folder(session: &Session<'_>, folder: &Path, depth: usize, found: &mut Vec<Served>) {
    for name in session.files.list(folder) {
        let path = folder.join(&name);
        if session.files.is_dir(&path) {
            if depth < MAX_DEPTH {
                read_folder(session, &path, depth + 1, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "json")
            && let Ok(text) = session.read(&path)
        {
            add(&path, &text, found);
        }
    }
}

fn add(path: &Path, text: &str, found: &mut Vec<Served>) {
    // Facts and the like are not parsed at all.
    if !text.contains("\"resources\"") {
        return;
    }
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match serde_json::from_str::<Json>(text) {
        Err(error) => {
            let reason = format!("{}: {error}", path.display());
            let (path, shape) = (path.to_owned(), Shape::Full);
            found.push(Served { node: stem(), path, catalog: Err(reason), shape });
        }
        // PuppetDB answers with a list.
        Ok(Json::Array(items)) => {
            for item in items.iter().filter(|item| read::is_catalog(item)) {
                found.push(served(path, item, stem()));
            }
        }
        Ok(tree) if read::is_catalog(&tree) => found.push(served(path, &tree, stem())),
        Ok(_) => {}
    }
}

fn served(path: &Path, tree: &Json, stem: String) -> Served {
    let stored = tree.get("certname").is_some() || tree.get("producer_timestamp").is_some();
    let shape = if stored { Shape::Stored } else { Shape::Full };
    let catalog = read::from_tree(tree);
    let node = catalog.as_ref().map_or(stem, |catalog| catalog.name.to_string());
    let catalog = catalog.map_err(|error| format!("{}: {error}", path.display()));
    Served { node, path: path.to_owned(), catalog, shape }
}

impl Served {
    /// The files in which the node's facts may lie: a folder that the user named, or beside the catalog.
    pub(crate) fn fact_files(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let node = &self.node;
        let endings = ["json", "yaml", "yml"];
        if let Some(folder) = folder {
            let names = endings.map(|ending| folder.join(format!("{node}.{ending}")));
            return names.into_iter().chain([folder.join(format!("{node}.facts"))]).collect();
        }
        let beside = self.path.parent().unwrap_or(Path::new(""));
        let mut files = Vec::new();
        for ending in endings {
            files.push(beside.join(format!("{node}.facts.{ending}")));
        }
        files.push(beside.join(format!("{node}.facts")));
        for ending in endings {
            // YAML beside a catalog can only be facts.
            if ending != "json" {
                files.push(beside.join(format!("{node}.{ending}")));
            }
            files.push(beside.join("facts").join(format!("{node}.{ending}")));
            files.extend(beside.parent().map(|above| above.join("facts").join(format!("{node}.{ending}"))));
        }
        files
    }
}
