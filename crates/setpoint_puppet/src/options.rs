//! What a compilation is given besides manifests.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use setpoint_puppet_functions::Strictness;
use setpoint_puppet_values::{Hash, Key, Value};

use crate::environment::Environment;

/// The version of Puppet whose rules hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PuppetVersion {
    /// Questionable constructs give warnings; a variable that does not exist is `undef`.
    V7,
    /// Questionable constructs and variables that do not exist are errors.
    #[default]
    V8,
    /// As 8, without what 8 has announced to go.
    V9,
}

impl PuppetVersion {
    pub fn number(self) -> u8 {
        match self {
            Self::V7 => 7,
            Self::V8 => 8,
            Self::V9 => 9,
        }
    }

    /// The version of a number, or of a full version such as `8.10.0`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split('.').next()? {
            "7" => Some(Self::V7),
            "8" => Some(Self::V8),
            "9" => Some(Self::V9),
            _ => None,
        }
    }

    /// The full version that an agent and a server tell.
    pub fn full(self) -> &'static str {
        match self {
            Self::V7 => "7.23.0",
            Self::V8 => "8.10.0",
            Self::V9 => "9.0.0",
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
    /// The facts are those of a platform: the machine may have more.
    pub facts_are_partial: bool,
    /// `$trusted`; by default what a node without a certificate extension has, which is then assumed.
    pub trusted: Option<Value>,
    /// `$server_facts`; by default the version, the node's name and a documentation address.
    pub server_facts: Option<Hash>,
    /// Classes from an external node classifier, each with its parameters.
    pub classes: Vec<(String, Hash)>,
    /// Top-scope variables from an external node classifier.
    pub parameters: Hash,
    /// The environment that an external node classifier names; by default that of the files.
    pub environment: Option<String>,
    /// The values of functions, templates and keys that cannot be computed here, by name.
    pub stubs: Hash,
    /// Comments `# @FACT name=value` and `# @UNFACT name` in the entry change the facts.
    pub fact_comments: bool,
    /// Whether values remember where they came from.
    pub provenance: bool,
    /// Whether the trace has what was read: places of variables, files, variables of Hiera.
    pub record_reads: bool,
    /// The facts of which it is known whether the node has them. Any other variable at top scope may be set by a fact of the user's
    /// own or by a classifier, and is taken not to be. Without such names, all variables are known.
    pub known_names: Option<Arc<BTreeSet<String>>>,
    /// Whether code, too, may read such a variable, and not Hiera alone.
    pub variables_are_partial: bool,
    /// Parameters that classes need and nobody gives are unknown values: the classes are entered alone.
    pub parameters_are_partial: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            puppet: PuppetVersion::default(),
            strict: None,
            strict_variables: false,
            node: "localhost".to_owned(),
            facts: Hash::default(),
            facts_are_partial: false,
            trusted: None,
            server_facts: None,
            classes: Vec::new(),
            parameters: Hash::default(),
            environment: None,
            stubs: Hash::default(),
            fact_comments: false,
            provenance: true,
            record_reads: false,
            known_names: None,
            variables_are_partial: false,
            parameters_are_partial: false,
        }
    }
}

impl Options {
    pub(crate) fn strictness(&self) -> Strictness {
        self.strict.unwrap_or(match self.puppet {
            PuppetVersion::V7 => Strictness::Warning,
            PuppetVersion::V8 | PuppetVersion::V9 => Strictness::Error,
        })
    }

    /// The value that stands for something that cannot be computed.
    pub(crate) fn stub(&self, name: &str) -> Option<Value> {
        self.stubs.get(&Key::from(name)).cloned()
    }

    pub(crate) fn environment_name<'e>(&'e self, environment: &'e Environment<'_>) -> &'e str {
        self.environment.as_deref().unwrap_or(&environment.name)
    }

    pub(crate) fn unknown_variables_are_errors(&self) -> bool {
        self.strict_variables || self.puppet >= PuppetVersion::V8
    }
}
