//! Rule files that relationship types name for themselves.

use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, Rule, Sources, Symbol};

use crate::service::Service;
use crate::topology::Topology;
use crate::types::ancestors;

/// The rule file that the topology's relationship types name, beside the file that defines the type:
/// `metadata: { setpoint_rules: my-rules.spm }`. One rule set decides a topology, so two files are refused.
pub fn rule_file(
    service: &Service,
    topology: &Topology,
    sources: &Sources,
) -> Result<Option<PathBuf>, Vec<Diagnostic>> {
    let mut found: Option<(PathBuf, Symbol)> = None;
    let types = &service.types.relationships;
    for kind in topology.relationships.iter().filter_map(|one| one.kind) {
        let named = ancestors(types, kind)
            .into_iter()
            .find_map(|name| types.get(&name).and_then(|one| Some((one.rules.as_ref()?, one.span?, name))));
        let Some((file, span, name)) = named else { continue };
        let defined_in = sources.file(span.file);
        let folder = Path::new(defined_in.path()).parent().unwrap_or(Path::new(""));
        let path = folder.join(file);
        match &found {
            Some((known, first)) if *known != path => {
                let message = format!(
                    "`{first}` and `{name}` name two rule files, and a topology is decided by one set of rules"
                );
                return Err(vec![
                    Diagnostic::new(Rule::NotModelled, message)
                        .at(span)
                        .with_help("Put the rules of both types into one file, and name it in both."),
                ]);
            }
            _ => found = Some((path, name)),
        }
    }
    Ok(found.map(|(path, _)| path))
}
