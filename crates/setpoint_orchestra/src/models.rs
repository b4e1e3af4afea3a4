//! The rule sets that are built in.

use setpoint_source::Sources;

use crate::concrete::Facts;
use crate::language::load_model_text;
use crate::model::Model;

/// A rule set that comes with the tool: the name of its file, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    pub path: &'static str,
    pub text: &'static str,
    /// What the parametric engine proves about it, so that it need not be proved again in every call; a test
    /// compares the two.
    pub facts: Facts,
}

/// Set-up of a CloudFormation stack.
pub static CLOUDFORMATION_SETUP: BuiltIn = BuiltIn {
    path: "models/cloudformation-setup.spm",
    text: include_str!("../../../models/cloudformation-setup.spm"),
    facts: Facts { confluent: true, terminating: true },
};

/// Set-up of a TOSCA topology.
pub static TOSCA_SETUP: BuiltIn = BuiltIn {
    path: "models/tosca-setup.spm",
    text: include_str!("../../../models/tosca-setup.spm"),
    facts: Facts { confluent: true, terminating: true },
};

/// The life of a CloudFormation stack: create, update with replacement, delete, failure and rollback.
pub static CLOUDFORMATION_LIFECYCLE: BuiltIn = BuiltIn {
    path: "models/cloudformation-lifecycle.spm",
    text: include_str!("../../../models/cloudformation-lifecycle.spm"),
    facts: Facts { confluent: false, terminating: true },
};

/// All of them.
pub static ALL: [&BuiltIn; 3] = [&CLOUDFORMATION_SETUP, &TOSCA_SETUP, &CLOUDFORMATION_LIFECYCLE];

impl BuiltIn {
    /// The model; a test keeps that every one loads.
    pub fn load(&self, sources: &Sources) -> Option<Model> {
        load_model_text(sources, self.path, self.text).model
    }
}
