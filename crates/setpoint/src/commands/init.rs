//! `setpoint init`: a configuration to begin with.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};

use crate::cli::InitArgs;
use crate::output;

/// Every setting with a word on what it is for, all of them commented out.
const TEMPLATE: &str = include_str!("init.toml");
const NAME: &str = "setpoint.toml";

pub(crate) fn run(session: &Session<'_>, args: &InitArgs) -> Result<ExitCode, UsageError> {
    let path = args.folder.join(NAME);
    if session.files.is_file(&path) && !args.force {
        return Err(UsageError::new(format!(
            "{} is there already; `--force` writes it anew",
            path.display()
        )));
    }
    let failed = |error| UsageError::new(format!("cannot write {}: {error}", path.display()));
    setpoint_source::write_file(&path, TEMPLATE.as_bytes()).map_err(failed)?;
    output::result(&format!(
        "wrote {}: every setting is in it, commented out; `setpoint check` works without any",
        path.display()
    ));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use setpoint_source::{MemoryFileSystem, Sources};

    use super::*;

    /// The template says nothing, and all that it proposes is understood.
    #[test]
    fn the_template_is_a_configuration_with_and_without_its_comments() {
        let lines: Vec<&str> =
            TEMPLATE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect();
        let proposed = lines.join("\n");
        assert_ne!(proposed, TEMPLATE);
        assert_eq!(NAME, setpoint_config::FILE_NAME);
        for text in [TEMPLATE.to_owned(), proposed] {
            let mut files = MemoryFileSystem::new();
            files.add(NAME, text.clone());
            let (_, found) =
                setpoint_config::load(&files, &Sources::new(), Path::new(NAME)).unwrap_or_default();
            assert!(found.is_empty(), "{text}\n{found:?}");
        }
    }
}
