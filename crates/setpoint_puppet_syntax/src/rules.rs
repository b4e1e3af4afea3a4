//! The kinds of errors that a text of Puppet can have.

use setpoint_source::{Rule, Severity};

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[&SYNTAX_ERROR];

pub(crate) static SYNTAX_ERROR: Rule = Rule {
    name: "puppet-syntax",
    severity: Severity::Error,
    summary: "The text is not well-formed Puppet",
    explanation: "Puppet cannot read the manifest beyond this place, so nothing in it is applied.\n\n```puppet\nfile { '/etc/motd'\n  ensure => file,\n}\n```\n\nHere the colon after the title is missing. The message names the first token that does not fit; what is \
                  wrong often stands just before it.",
};
