//! CloudFormation templates.

use std::path::Path;

use setpoint_source::{InputReport, Rule};

use super::Language;
use crate::cli::InputOptions;
use crate::session::{Session, UsageError};

#[derive(Debug)]
pub(crate) struct CloudFormation;

impl Language for CloudFormation {
    fn kind(&self) -> &'static str {
        "cloudformation"
    }

    fn recognises(&self, path: &Path, text: &str) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension {
            "template" | "cfn" => true,
            "yaml" | "yml" | "json" => {
                let hint = text.contains("AWSTemplateFormatVersion")
                    || text.contains("AWS::")
                    || text.contains("Custom::");
                hint && text.contains("Resources")
            }
            _ => false,
        }
    }

    fn rules(&self) -> Vec<&'static Rule> {
        setpoint_cloudformation::RULES.iter().chain(setpoint_data::RULES).copied().collect()
    }

    fn check(
        &self,
        session: &Session<'_>,
        path: &Path,
        _: &InputOptions,
    ) -> Result<Vec<InputReport>, UsageError> {
        let file = session.sources.add(path.display().to_string(), session.read(path)?);
        let analysis = setpoint_cloudformation::analyse(file, &session.sources);
        let mut report = InputReport {
            path: path.display().to_string(),
            kind: self.kind(),
            findings: analysis.findings,
            ..InputReport::default()
        };
        report.verdict.insert("reaches_final", analysis.reaches_final);
        Ok(vec![report])
    }
}
