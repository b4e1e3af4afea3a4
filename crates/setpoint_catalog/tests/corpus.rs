//! Catalogs that Puppet compiled are read and printed without loss.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use setpoint_catalog::{read, write};

fn catalogs() -> Vec<PathBuf> {
    let Some(shared) = setpoint_testing::shared() else {
        setpoint_testing::skip("catalog corpus", "the corpora are not beside the repository");
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(&shared.join("corpus/puppet"), &mut found);
    assert!(found.len() > 100, "the corpus has {} catalogs", found.len());
    found
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.to_string_lossy().ends_with(".catalog.json") {
            out.push(path);
        }
    }
}

#[test]
fn every_catalog_is_printed_as_it_was_read() {
    for path in catalogs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let catalog = read::json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let printed = write::json(&catalog);
        let pretty = |text: &str| {
            let mut tree: Json = serde_json::from_str(text).unwrap();
            for resource in tree["resources"].as_array_mut().unwrap() {
                // Puppet puts this key last where nobody said whether the resource is exported.
                let exported = resource.as_object_mut().unwrap().shift_remove("exported").unwrap();
                resource["exported"] = exported;
            }
            serde_json::to_string_pretty(&tree).unwrap()
        };
        let (want, have) = (pretty(&text), pretty(&printed));
        assert!(want == have, "{}\n{}", path.display(), setpoint_testing::diff(&want, &have));
    }
}
