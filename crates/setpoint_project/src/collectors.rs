//! Collectors that find nothing.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_puppet::Collected;
use setpoint_source::{Diagnostic, Rule, Severity, Span};

use crate::project::Project;
use crate::session::enables;

/// The collectors of one catalog that find nothing here, and nothing on any other node.
pub(crate) fn idle(project: &Project<'_>, collected: &[Collected], busy: &BTreeSet<Span>) -> Vec<Diagnostic> {
    let all = enables(&project.config, project.options, Rule::EmptyCollector.name());
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for one in collected.iter().filter(|one| !busy.contains(&one.span)) {
        let own = project.owns(Path::new(project.session.sources.file(one.span.file).path()));
        let meant = own && (one.overrides || one.title.is_some());
        if !(meant || all) || !told.insert(one.span) {
            continue;
        }
        let type_name = one.type_name;
        let message = match &one.title {
            Some(title) => format!("this collector finds nothing: there is no {type_name}[{title}]"),
            None => format!("this collector finds nothing: no {type_name} fits its query"),
        };
        let severity = if meant { Severity::Warning } else { Severity::Note };
        let mut finding = Diagnostic::new(Rule::EmptyCollector, message).severity(severity).at(one.span);
        if one.overrides {
            finding = finding.with_note("So what it sets is set nowhere.");
        }
        found.push(finding);
    }
    found
}
