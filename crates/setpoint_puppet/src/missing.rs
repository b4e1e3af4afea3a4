//! Where something that is missing was looked for, and what may have been meant.

use std::path::Path;

use setpoint_puppet_functions::{
    Caller, ClassUse, FailureKind, MissingModule, Sought, SoughtPlace, Stop, TypeUse,
};
use setpoint_source::{Span, Symbol, nearest};

use crate::compiler::Compiler;

impl Compiler<'_> {
    pub(crate) fn missing_class(&self, name: &str, wanted: ClassUse, span: Option<Span>) -> Stop {
        let known: Vec<String> = self.definitions.class_names().collect();
        let sought = self.seek(&plain(name), known, |_, module| SoughtPlace::Module(module));
        FailureKind::UnknownClass { name: name.to_owned(), wanted, sought }.at(span)
    }

    pub(crate) fn missing_type(&self, name: &str, wanted: TypeUse, span: Option<Span>) -> Stop {
        let lower = plain(name);
        let mut known: Vec<String> = self.definitions.define_names().collect();
        if !lower.contains("::") {
            known.extend(setpoint_catalog::native_types().iter().map(|native| native.name.to_owned()));
        }
        let is_named =
            |known: &&str| !self.lacks_modules() || self.environment.expected_module(known).is_some();
        let sought =
            self.seek(&lower, known, |name, module| match known_module_of_type(name).filter(is_named) {
                Some(known) => SoughtPlace::KnownModule { what: "type", module: self.missing_module(known) },
                None if name.contains("::") || module.hint.is_some() => SoughtPlace::Module(module),
                None => self.sought_everywhere("type"),
            });
        FailureKind::UnknownResourceType { name: name.to_owned(), wanted, sought }.at(span)
    }

    /// Whether the project names modules that are not installed.
    pub(crate) fn lacks_modules(&self) -> bool {
        self.environment.expected_modules().any(|name| self.environment.module(name).is_none())
    }

    /// A type or function without a module in its name. One that the project names and that is not installed may have it.
    fn sought_everywhere(&self, what: &'static str) -> SoughtPlace {
        let missing = self.environment.expected_modules();
        let modules: Vec<String> =
            missing.filter(|name| self.environment.module(name).is_none()).map(str::to_owned).collect();
        if modules.is_empty() {
            return SoughtPlace::Everywhere { what, modulepath: self.environment.modulepath().to_vec() };
        }
        SoughtPlace::AmongMissing { what, modules }
    }

    /// Where a class or definition belongs, which is found by its name in a module.
    fn seek(
        &self,
        name: &str,
        mut known: Vec<String>,
        without_module: impl FnOnce(&str, MissingModule) -> SoughtPlace,
    ) -> Sought {
        let (module, rest) = name.split_once("::").unwrap_or((name, ""));
        let place = if let Some(folder) = self.environment.module(module) {
            let manifests = folder.join("manifests");
            let file = if rest.is_empty() { "init".to_owned() } else { rest.replace("::", "/") };
            let path = manifests.join(format!("{file}.pp"));
            known.extend(self.names_in(module, &manifests));
            SoughtPlace::File { exists: self.environment.files.is_file(&path), path }
        } else {
            known.extend(self.environment.module_names().iter().cloned());
            without_module(name, self.missing_module(module))
        };
        Sought { place, near: nearest_other(name, &known) }
    }

    /// The names that the files of a module stand for.
    fn names_in(&self, module: &str, manifests: &Path) -> Vec<String> {
        let paths = self.environment.manifests_under(manifests);
        let relative = paths.iter().filter_map(|path| path.strip_prefix(manifests).ok());
        relative
            .map(|path| {
                let name = path.with_extension("").to_string_lossy().replace('/', "::");
                if name == "init" { module.to_owned() } else { format!("{module}::{name}") }
            })
            .collect()
    }

    fn missing_module(&self, name: &str) -> MissingModule {
        MissingModule {
            name: name.to_owned(),
            modulepath: self.environment.modulepath().to_vec(),
            hint: self.environment.expected_module(name).map(str::to_owned),
        }
    }

    pub(crate) fn missing_function(&self, name: Symbol, span: Span) -> Stop {
        let place = if let Some((module, rest)) = name.split_once("::") {
            match self.environment.module(module) {
                Some(folder) => SoughtPlace::FunctionFiles {
                    folder: folder.to_path_buf(),
                    module: module.to_owned(),
                    name: rest.replace("::", "/"),
                },
                None => SoughtPlace::Module(self.missing_module(module)),
            }
        } else if let Some(module) = setpoint_puppet_functions::known_module_with(&name) {
            match self.environment.module(module) {
                Some(folder) => {
                    SoughtPlace::OtherVersion { module: module.to_owned(), folder: folder.to_path_buf() }
                }
                None => SoughtPlace::KnownModule { what: "function", module: self.missing_module(module) },
            }
        } else {
            self.sought_everywhere("function")
        };
        let in_module = name.split_once("::").and_then(|(module, _)| {
            let folder = self.environment.module(module)?.join("functions");
            Some(self.names_in(module, &folder))
        });
        let own = self.definitions.function_names().chain(in_module.into_iter().flatten());
        let modules = self.environment.module_names().iter();
        let of_modules =
            modules.flat_map(|module| setpoint_puppet_functions::module_functions(module)).map(str::to_owned);
        let known: Vec<String> = own
            .chain(of_modules)
            .chain(setpoint_puppet_functions::builtin_names().map(str::to_owned))
            .chain(crate::functions::NAMES.iter().map(|name| (*name).to_owned()))
            .collect();
        let sought = Sought { place, near: nearest_other(&name, &known) };
        FailureKind::UnknownFunction { name, caller: Caller::Manifest, sought }.at(span)
    }

    /// Where a file of a module was looked for, and one that may have been meant.
    pub(crate) fn seek_file(&self, folder: &str, name: &str) -> Sought {
        let path = Path::new(name);
        if path.is_absolute() {
            return Sought { place: SoughtPlace::AbsolutePath(path.to_owned()), near: None };
        }
        let Some((module, rest)) = name.split_once('/') else {
            return Sought { place: SoughtPlace::WithoutModule { folder: folder.to_owned() }, near: None };
        };
        let Some(root) = self.environment.module(module) else {
            let names = self.environment.module_names().iter().map(String::as_str);
            let near = nearest(module, names).map(|near| format!("{near}/{rest}"));
            return Sought { place: SoughtPlace::Module(self.missing_module(module)), near };
        };
        let root = root.join(folder);
        let mut known = Vec::new();
        self.files_under(&root, &root, 0, &mut known);
        let near = nearest(rest, known.iter().map(String::as_str)).map(|near| format!("{module}/{near}"));
        Sought { place: SoughtPlace::File { path: root.join(rest), exists: false }, near }
    }

    fn files_under(&self, root: &Path, folder: &Path, depth: u32, found: &mut Vec<String>) {
        const MAX_DEPTH: u32 = 16;
        for name in self.environment.files.list(folder) {
            let path = folder.join(name);
            if self.environment.files.is_dir(&path) {
                if depth < MAX_DEPTH {
                    self.files_under(root, &path, depth + 1, found);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                found.push(relative.to_string_lossy().into_owned());
            }
        }
    }
}

/// The module that has a type which many manifests use.
fn known_module_of_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "anchor" | "file_line" => "stdlib",
        "ini_setting" | "ini_subsetting" => "inifile",
        "concat" | "concat_file" | "concat_fragment" => "concat",
        "firewall" | "firewallchain" => "firewall",
        "vcsrepo" => "vcsrepo",
        "archive" => "archive",
        "apt_key" => "apt",
        "java_ks" => "java_ks",
        "sysctl" => "sysctl",
        "x509_cert" | "x509_request" | "ssl_pkey" | "dhparam" => "openssl",
        "docker_network" | "docker_volume" | "docker_compose" => "docker",
        "rabbitmq_user" | "rabbitmq_vhost" | "rabbitmq_plugin" => "rabbitmq",
        "mysql_database" | "mysql_user" | "mysql_grant" => "mysql",
        "postgresql_psql" | "postgresql_conf" => "postgresql",
        "cs_primitive" | "cs_group" | "cs_order" => "corosync",
        "augeas" => "augeas_core",
        "cron" => "cron_core",
        "host" => "host_core",
        "mount" => "mount_core",
        "selboolean" | "selmodule" => "selinux_core",
        "sshkey" | "ssh_authorized_key" => "sshkeys_core",
        "yumrepo" => "yumrepo_core",
        _ => return None,
    })
}

fn plain(name: &str) -> String {
    name.trim_start_matches("::").to_lowercase()
}

fn nearest_other(name: &str, known: &[String]) -> Option<String> {
    nearest(name, known.iter().map(String::as_str).filter(|known| *known != name)).map(str::to_owned)
}
