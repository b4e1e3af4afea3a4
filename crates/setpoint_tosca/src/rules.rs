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
    explanation: "A relationship leads from a node to itself (an error); a node is hosted on two nodes, or a capability or requirement \
                  is used more often than its type allows (a warning); a dependency leads to another machine, or a connection \
                  stays on the same one (a note: the rules of set-up take dependencies for local and connections for \
                  remote).\n\n\
                  ```yaml\nnode_templates:\n  app:\n    type: tosca.nodes.SoftwareComponent\n    requirements:\n      - host: one\n      - host: two\n```\n\n\
                  Host each node on one node, and join different nodes.",
};

pub(crate) static SUBSTITUTION: Rule = Rule {
    name: "substitution-mapping",
    severity: Severity::Error,
    summary: "a topology does not fit the node that it stands for",
    explanation: "`substitution_mappings` says which node of the topology has each capability and requirement of the type that the \
                  topology stands for, and which input gets each property. Here a name is mapped that the type, the topology \
                  or the node does not have, or the types do not fit.\n\n\
                  ```yaml\nsubstitution_mappings:\n  node_type: my.Database\n  capabilities:\n    endpoint: [ databse, database_endpoint ]   # there is no such node\n```\n\n\
                  Mend the name, or map another node.",
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
    &SUBSTITUTION,
    &MISSING_IMPORT,
    &NOT_MODELLED,
    &BAD_ARCHIVE,
];
