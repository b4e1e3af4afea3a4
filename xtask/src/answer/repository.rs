//! The catalogs that Puppet compiles for the nodes of the example repository.

use setpoint_oracle::{Puppet, Request};
use setpoint_testing::{files_below, repository};

/// Where the catalogs are kept.
const CATALOGS: &str = "crates/setpoint/tests/parity/catalogs";

pub(super) fn run() -> Result<(), String> {
    let folder = repository().join("examples/control-repo");
    let mut puppet = Puppet::start()?;
    let mut written = 0;
    for path in files_below(&folder.join("facts")) {
        let node = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let outcome = puppet.ask(&Request::repository(&folder, &node, setpoint_oracle::facts_of(&path)?)?)?;
        let Some(catalog) = outcome.relative_catalog() else {
            let errors: Vec<String> = outcome.errors.iter().map(|error| error.text.clone()).collect();
            return Err(format!("{node}: {}", errors.join("\n")));
        };
        let text = serde_json::to_string_pretty(&catalog).map_err(|error| error.to_string())?;
        let file = repository().join(CATALOGS).join(format!("{node}.json"));
        std::fs::create_dir_all(repository().join(CATALOGS))
            .and_then(|()| std::fs::write(&file, text + "\n"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        written += 1;
    }
    println!("wrote {written} catalogs");
    Ok(())
}
