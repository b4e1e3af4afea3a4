//! The rules of TOSCA service templates.

use setpoint_source::{Rule, Severity};

pub(crate) static UNKNOWN_TYPE: Rule = Rule {
    name: "unknown-type",
    severity: Severity::Warning,
    summary: "a node or relationship has a type that is not defined",
    explanation: "The type is neither normative nor defined in the template or its imports, so nothing is known of its \
                  requirements and capabilities.\n\n\
                  ```yaml\nnode_templates:\n  server:\n    type: tosca.nodes.Computer\n```\n\n\
                  Mend the name, or import the file that defines the type.",
};

pub(crate) static UNSATISFIED_REQUIREMENT: Rule = Rule {
    name: "unsatisfied-requirement",
    severity: Severity::Error,
    summary: "a requirement has nothing that fulfils it",
    explanation: "A requirement names a node that does not exist, or one that has no capability that fits. The topology cannot be \
                  deployed.\n\n\
                  ```yaml\nnode_templates:\n  app:\n    type: tosca.nodes.WebApplication\n    requirements:\n      - host: web_server   # there is no such node\n```\n\n\
                  Name a node of the topology that has the capability.",
};

pub(crate) static WRONG_HOST: Rule = Rule {
    name: "wrong-host",
    severity: Severity::Error,
    summary: "a node is hosted on one that cannot host it",
    explanation: "The host has no capability of the type that the requirement wants, or its capability does not take nodes of this \
                  type.\n\n\
                  ```yaml\nnode_templates:\n  dbms:\n    type: tosca.nodes.DBMS\n  app:\n    type: tosca.nodes.WebApplication\n    requirements:\n      - host: dbms\n```\n\n\
                  Host it on a node of a type that takes it.",
};

pub(crate) static TOPOLOGY_STRUCTURE: Rule = Rule {
    name: "topology-structure",
    severity: Severity::Warning,
    summary: "a topology breaks a structural constraint",
    explanation: "A node is hosted on two nodes, or a relationship leads from a node to itself.\n\n\
                  Host each node on one node, and join different nodes.",
};

pub(crate) static MISSING_IMPORT: Rule = Rule {
    name: "missing-import",
    severity: Severity::Error,
    summary: "a file that a template imports cannot be read",
    explanation: "Imports are read from the folder of the importing file or from its archive; nothing is fetched.",
};

pub(crate) static NOT_MODELLED: Rule = Rule {
    name: "not-modelled",
    severity: Severity::Note,
    summary: "a part of an input is known only by its references",
    explanation: "A macro, a module, an import from elsewhere or an unknown type may add to what the input says. Setpoint checks what \
                  it can see, and names what it cannot.",
};

pub(crate) static BAD_ARCHIVE: Rule = Rule {
    name: "bad-archive",
    severity: Severity::Error,
    summary: "a CSAR archive cannot be read",
    explanation: "The archive is not a ZIP file, or names no service template that it holds. A CSAR has either \
                  `TOSCA-Metadata/TOSCA.meta` with `Entry-Definitions`, or one YAML file at its top.",
};

pub static RULES: &[&Rule] = &[
    &UNKNOWN_TYPE,
    &UNSATISFIED_REQUIREMENT,
    &WRONG_HOST,
    &TOPOLOGY_STRUCTURE,
    &MISSING_IMPORT,
    &NOT_MODELLED,
    &BAD_ARCHIVE,
];
