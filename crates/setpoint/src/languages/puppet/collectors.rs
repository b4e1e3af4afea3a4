//! Collectors that find nothing.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_puppet::Collected;
use setpoint_source::{Diagnostic, Rule, Severity, Span};

use super::project::Project;
use crate::session::enables;

pub(crate) static EMPTY_COLLECTOR: Rule = Rule {
    name: "empty-collector",
    severity: Severity::Note,
    summary: "a collector finds nothing",
    explanation: "No resource fits the query on any of the nodes, so the collector does nothing.\n\n\
                  ```puppet\nfile { '/etc/motd': content => 'x' }\nFile <| title == '/etc/modt' |> { mode => '0600' }\n```\n\n\
                  Many collectors are meant to find nothing on most nodes, so this is told only where `--enable empty-collector` \
                  asks for it; but one of your own that sets parameters, or names a title, is a warning without being asked \
                  for: something was meant to be there. Mend the query, or take the collector away.",
};

/// The collectors of one catalog that find nothing here, and nothing on any other node.
pub(crate) fn idle(project: &Project<'_>, collected: &[Collected], busy: &BTreeSet<Span>) -> Vec<Diagnostic> {
    let all = enables(&project.config, project.options, EMPTY_COLLECTOR.name);
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
        let mut finding = Diagnostic::new(&EMPTY_COLLECTOR, message).severity(severity).at(one.span);
        if one.overrides {
            finding = finding.with_note("So what it sets is set nowhere.");
        }
        found.push(finding);
    }
    found
}
