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

/// Undeployment of a TOSCA topology.
pub static TOSCA_UNDEPLOY: BuiltIn = BuiltIn {
    path: "models/tosca-undeploy.spm",
    text: include_str!("../../../models/tosca-undeploy.spm"),
    facts: Facts { confluent: true, terminating: true },
};

/// Set-up of a TOSCA topology in which nodes may fail.
pub static TOSCA_FAILURE: BuiltIn = BuiltIn {
    path: "models/tosca-failure.spm",
    text: include_str!("../../../models/tosca-failure.spm"),
    facts: Facts { confluent: false, terminating: true },
};

/// All of them.
pub static ALL: [&BuiltIn; 5] =
    [&CLOUDFORMATION_SETUP, &CLOUDFORMATION_LIFECYCLE, &TOSCA_SETUP, &TOSCA_UNDEPLOY, &TOSCA_FAILURE];

/// What a built-in rule set is called by, before its name: `use "setpoint:tosca-setup"`.
pub const PREFIX: &str = "setpoint:";

/// The built-in rule set of a name, without its prefix.
pub fn named(name: &str) -> Option<&'static BuiltIn> {
    ALL.into_iter().find(|one| one.name() == name)
}

impl BuiltIn {
    /// `tosca-setup`.
    pub fn name(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or(self.path);
        file.strip_suffix(".spm").unwrap_or(file)
    }

    /// The model; a test keeps that every one loads.
    pub fn load(&self, sources: &Sources) -> Option<Model> {
        load_model_text(sources, self.path, self.text).model
    }
}
