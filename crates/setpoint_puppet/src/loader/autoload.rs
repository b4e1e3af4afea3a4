//! Loading by name from modules: `apache::mod::ssl` is in `apache/manifests/mod/ssl.pp`.

use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_source::Symbol;
use std::path::PathBuf;

use super::register::lower;
use super::{DefinitionId, Function};
use crate::compiler::Compiler;
use crate::options::PuppetVersion;
use crate::resources::{Native, ResourceType};

impl Compiler<'_> {
    /// A class by name, in any case, with or without leading `::`.
    pub(crate) fn find_class(&mut self, name: &str) -> Result<Option<DefinitionId>, Stop> {
        let name = lower(Symbol::new(name));
        if let Some(&known) = self.definitions.classes.get(&name) {
            return Ok(Some(known));
        }
        self.load_manifests(name)?;
        Ok(self.definitions.classes.get(&name).copied())
    }

    /// A class that is known already.
    pub(crate) fn known_class(&self, name: Symbol) -> Option<DefinitionId> {
        self.definitions.classes.get(&lower(name)).copied()
    }

    pub(crate) fn find_define(&mut self, name: &str) -> Result<Option<DefinitionId>, Stop> {
        let name = lower(Symbol::new(name));
        if let Some(&known) = self.definitions.defines.get(&name) {
            return Ok(Some(known));
        }
        self.load_manifests(name)?;
        Ok(self.definitions.defines.get(&name).copied())
    }

    /// A native type or a definition. Native types win, and their names have no `::`.
    pub(crate) fn find_resource_type(&mut self, name: &str) -> Result<Option<ResourceType>, Stop> {
        self.find_resource_type_named(Symbol::new(name))
    }

    /// The same for a name that is interned.
    pub(crate) fn find_resource_type_named(&mut self, name: Symbol) -> Result<Option<ResourceType>, Stop> {
        if !name.contains(':')
            && let Some(native) = self.native_type(name)?
        {
            return Ok(Some(ResourceType::Native(native)));
        }
        Ok(self.find_define(&name)?.map(ResourceType::Definition))
    }

    /// A type that Puppet ships, or one that a module brings along.
    fn native_type(&mut self, name: Symbol) -> Result<Option<Native>, Stop> {
        let name = lower(name);
        if let Some(known) = self.definitions.natives.get(&name) {
            return Ok(*known);
        }
        // Version 9 no longer ships the module with zones.
        let is_shipped = !(name.as_str() == "zone" && self.options.puppet >= PuppetVersion::V9);
        let found = match setpoint_catalog::native_type(&name).filter(|_| is_shipped) {
            Some(native) => Some(native),
            None => self.environment.module_type(&name)?,
        };
        self.definitions.natives.insert(name, found);
        Ok(found)
    }

    /// A function written in the Puppet language.
    pub(crate) fn find_function(&mut self, name: Symbol) -> Result<Option<Function>, Stop> {
        let name = lower(name);
        if let Some(known) = self.definitions.functions.get(&name) {
            return Ok(Some(known.clone()));
        }
        self.load_from_folder("functions", name)?;
        Ok(self.definitions.functions.get(&name).cloned())
    }

    /// A function of the entry, or one that was loaded before.
    pub(crate) fn known_function(&self, name: Symbol) -> Option<Function> {
        self.definitions.functions.get(&name).cloned()
    }

    pub(crate) fn remember_signature(&mut self, name: Symbol, function: Function) {
        self.definitions.functions.insert(lower(name), function);
    }

    /// Tries the files in which a class or definition of this name may stand, the most specific first.
    fn load_manifests(&mut self, name: Symbol) -> Result<(), Stop> {
        if name.is_empty() || !self.definitions.missing.insert(name) {
            return Ok(());
        }
        let mut parts: Vec<&str> = name.as_str().split("::").collect();
        let Some(folder) = self.environment.module(parts.first().copied().unwrap_or("")) else {
            return Ok(());
        };
        let module = parts.first().map(|module| Symbol::new(module));
        let manifests = folder.join("manifests");
        self.load_file(manifests.join("init.pp"), module)?;
        while parts.len() > 1 {
            let path = manifests.join(parts[1..].join("/")).with_extension("pp");
            self.load_file(path, module)?;
            if self.definitions.classes.contains_key(&name) || self.definitions.defines.contains_key(&name) {
                break;
            }
            parts.pop();
        }
        Ok(())
    }

    /// Loads what a module keeps in a file of its own: a function or a type alias.
    pub(super) fn load_from_folder(&mut self, folder: &str, name: Symbol) -> Result<(), Stop> {
        let key = Symbol::new(&format!("{folder}/{name}"));
        if !self.definitions.missing.insert(key) {
            return Ok(());
        }
        let Some(file) = self.module_path_of(folder, name) else { return Ok(()) };
        let module = name.split("::").next().map(Symbol::new);
        self.load_file(file, module)
    }

    /// The file in which a module keeps a function or an alias.
    pub(super) fn module_path_of(&self, folder: &str, name: Symbol) -> Option<PathBuf> {
        let (module, rest) = name.split_once("::").unwrap_or((&name, "init"));
        let path = self.environment.module(module)?;
        Some(path.join(folder).join(rest.replace("::", "/")).with_extension("pp"))
    }

    fn load_file(&mut self, path: PathBuf, module: Option<Symbol>) -> Result<(), Stop> {
        if self.definitions.loaded.contains(&path) || !self.environment.files.has_file(&path) {
            return Ok(());
        }
        let manifest = self.environment.manifest(&path);
        self.definitions.loaded.insert(path);
        let manifest =
            manifest.map_err(|error| FailureKind::UnreadableFile { error: error.to_string() }.unplaced())?;
        self.trace.manifests.push(std::sync::Arc::clone(&manifest));
        self.require_sound(std::slice::from_ref(&manifest))?;
        self.check_location(&manifest)?;
        self.register(&manifest, module)
    }
}
