//! Where something that is missing was looked for, and what may have been meant.

use std::path::PathBuf;

/// A search that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    pub place: SoughtPlace,
    /// A known name that is nearly the same.
    pub near: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SoughtPlace {
    /// The file of a module that is there, in which a class, definition, template or other file belongs.
    File { path: PathBuf, exists: bool },
    /// The files of a module that is there, in which a function belongs: `functions` and `lib/puppet/functions`.
    FunctionFiles { folder: PathBuf, module: String, name: String },
    /// A module that is there and has the function in other versions.
    OtherVersion { module: String, folder: PathBuf },
    /// The module that the name begins with.
    Module(MissingModule),
    /// The module that is known to have a type or function of this name.
    KnownModule { what: &'static str, module: MissingModule },
    /// Puppet and all modules that are there; modules that the project names are not.
    AmongMissing { what: &'static str, modules: Vec<String> },
    /// Puppet and all modules.
    Everywhere { what: &'static str, modulepath: Vec<PathBuf> },
    /// A file by its absolute path.
    AbsolutePath(PathBuf),
    /// A file by a name without a module.
    WithoutModule { folder: String },
}

/// A module that is not on the module path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingModule {
    pub name: String,
    pub modulepath: Vec<PathBuf>,
    /// What the project says about it: who declares it, and how to install it.
    pub hint: Option<String>,
}

impl Sought {
    /// The module that is not on the module path. Without a module path, and without a word of the project about the
    /// module, nothing is known of it.
    pub fn missing_module(&self) -> Option<&str> {
        match &self.place {
            SoughtPlace::Module(module) | SoughtPlace::KnownModule { module, .. } => {
                let is_known = !module.modulepath.is_empty() || module.hint.is_some();
                is_known.then_some(module.name.as_str())
            }
            _ => None,
        }
    }

    /// Whether a module that the project says it uses, and that is not installed here, may have it.
    pub fn may_be_installed(&self) -> bool {
        match &self.place {
            SoughtPlace::Module(module) | SoughtPlace::KnownModule { module, .. } => module.hint.is_some(),
            SoughtPlace::AmongMissing { .. } => true,
            _ => false,
        }
    }
}
