//! What a compilation is given besides manifests.

use std::path::PathBuf;

use setpoint_puppet_functions::Strictness;
use setpoint_puppet_values::{Hash, Value};

/// The version of Puppet whose rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PuppetVersion {
    /// Questionable constructs give warnings; a variable that does not exist is `undef`.
    V7,
    /// Questionable constructs and variables that do not exist are errors.
    #[default]
    V8,
}

impl PuppetVersion {
    pub fn number(self) -> u8 {
        match self {
            Self::V7 => 7,
            Self::V8 => 8,
        }
    }

    pub(crate) fn full(self) -> &'static str {
        match self {
            Self::V7 => "7.23.0",
            Self::V8 => "8.10.0",
        }
    }
}

/// Where a compilation begins.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Manifests, evaluated in this order as one. A folder stands for all manifests in it.
    Files(Vec<PathBuf>),
    Code {
        name: String,
        text: String,
    },
}

/// One node, and how to compile it.
#[derive(Debug, Clone)]
pub struct Options {
    pub puppet: PuppetVersion,
    /// Overrides what the version says about questionable constructs.
    pub strict: Option<Strictness>,
    /// A variable that does not exist is an error. Always so in version 8.
    pub strict_variables: bool,
    pub node: String,
    pub facts: Hash,
    /// `$trusted`; by default what a node without a certificate extension has.
    pub trusted: Option<Value>,
    /// `$server_facts`; by default the version, the node's name and a documentation address.
    pub server_facts: Option<Hash>,
    /// Classes from an external node classifier, each with its parameters.
    pub classes: Vec<(String, Hash)>,
    /// Top-scope variables from an external node classifier.
    pub parameters: Hash,
    /// Comments `# @FACT name=value` and `# @UNFACT name` in the entry change the facts.
    pub fact_comments: bool,
    /// Whether values remember where they came from.
    pub provenance: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            puppet: PuppetVersion::default(),
            strict: None,
            strict_variables: false,
            node: "localhost".to_owned(),
            facts: Hash::default(),
            trusted: None,
            server_facts: None,
            classes: Vec::new(),
            parameters: Hash::default(),
            fact_comments: false,
            provenance: true,
        }
    }
}

impl Options {
    pub(crate) fn strictness(&self) -> Strictness {
        self.strict.unwrap_or(match self.puppet {
            PuppetVersion::V7 => Strictness::Warning,
            PuppetVersion::V8 => Strictness::Error,
        })
    }

    pub(crate) fn unknown_variables_are_errors(&self) -> bool {
        self.strict_variables || self.puppet == PuppetVersion::V8
    }
}
