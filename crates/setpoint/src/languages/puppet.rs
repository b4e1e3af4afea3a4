//! Puppet manifests.

use std::path::Path;

use setpoint_source::{InputReport, Rule};

use super::Language;
use crate::cli::InputOptions;
use crate::session::{Session, UsageError};

#[derive(Debug)]
pub(crate) struct Puppet;

impl Language for Puppet {
    fn kind(&self) -> &'static str {
        "puppet"
    }

    fn recognises(&self, path: &Path, _text: &str) -> bool {
        path.extension().is_some_and(|extension| extension == "pp")
    }

    fn rules(&self) -> Vec<&'static Rule> {
        Vec::new()
    }

    fn check(&self, _: &Session<'_>, _: &Path, _: &InputOptions) -> Result<Vec<InputReport>, UsageError> {
        Err(self.cannot("check"))
    }
}
