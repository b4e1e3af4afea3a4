//! Options of a project, as plain data: what a caller may say about an input and about its nodes.

use std::path::PathBuf;

use setpoint_config::Config;

/// The rules that are off unless [`Options::enabled`] or `setpoint.toml` asks for them.
pub const OPTIONAL_RULES: [&str; 3] = ["empty-collector", "lost-refresh", "redundant-edge"];

/// What is assumed about an input, and which questions are put to it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `puppet`, which is the default, or `paper`.
    pub semantics: Option<String>,
    /// An index of packages, which comes before the built-in ones.
    pub packages: Option<PathBuf>,
    /// Assume nothing of a machine at the start but that its files form a tree.
    pub any_start: bool,
    /// How many seconds the questions about one catalog may take.
    pub timeout: Option<u64>,
    /// Invariants besides those of `setpoint.toml`, each a sentence of its language.
    pub invariants: Vec<String>,
    /// Names among [`OPTIONAL_RULES`].
    pub enabled: Vec<String>,
    /// List findings that lie in installed modules, too.
    pub include_modules: bool,
    /// The configuration, instead of the nearest `setpoint.toml` at or above the input.
    pub config: Option<PathBuf>,
    pub puppet: PuppetOptions,
}

/// What compilation needs besides the files of the input.
#[derive(Debug, Clone, Default)]
pub struct PuppetOptions {
    /// The name of the only node to compile for.
    pub node: Option<String>,
    /// Files with facts, of which the last counts; a folder has one file a node.
    pub facts: Vec<PathBuf>,
    /// The platform whose facts lie below those of files.
    pub platform: Option<String>,
    /// The folder of the environment.
    pub environment: Option<PathBuf>,
    /// Folders of modules, separated by `:`.
    pub modulepath: Option<String>,
    /// The global `hiera.yaml`.
    pub hiera: Option<PathBuf>,
    /// Trusted facts, or extensions of the certificate; a folder has one file a node.
    pub trusted: Option<PathBuf>,
    /// The output of an external node classifier; a folder has one file a node.
    pub enc: Option<PathBuf>,
    /// A file that lists the nodes to compile for.
    pub nodes: Option<PathBuf>,
    /// The only case of `setpoint.toml`, example or class of a module to compile.
    pub case: Option<String>,
    /// Unknown variables are errors.
    pub strict_variables: bool,
    /// The version of Puppet, `7` or `8`, which is the default.
    pub puppet: Option<String>,
    /// Do not record where values come from.
    pub no_provenance: bool,
    /// Record what each compilation reads.
    pub record_reads: bool,
}

impl PuppetOptions {
    /// The folders of modules that the caller names, else those of the configuration.
    pub(crate) fn modulepath(&self, config: &Config) -> Vec<PathBuf> {
        match &self.modulepath {
            Some(path) => path.split(':').filter(|part| !part.is_empty()).map(PathBuf::from).collect(),
            None => config.puppet.modulepath.iter().flatten().map(|folder| config.resolve(folder)).collect(),
        }
    }
}
