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

/// All of them.
pub static ALL: [&BuiltIn; 2] = [&CLOUDFORMATION_SETUP, &TOSCA_SETUP];

impl BuiltIn {
    /// The model; a test keeps that every one loads.
    pub fn load(&self, sources: &Sources) -> Option<Model> {
        load_model_text(sources, self.path, self.text).model
    }
}
