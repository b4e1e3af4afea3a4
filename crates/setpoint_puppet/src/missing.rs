//! What to say where something is not there: where it was looked for, and what may have been meant. It is help beside
//! Puppet's own sentence.

use std::path::Path;

use setpoint_puppet_functions::Stop;
use setpoint_source::{Diagnostic, Rule, Span, nearest};

use crate::compiler::Compiler;

impl Compiler<'_> {
    pub(crate) fn missing_class(&self, message: String, name: &str, span: Option<Span>) -> Stop {
        let name = plain(name);
        let known: Vec<String> = self.definitions.class_names().collect();
        self.missing(Rule::UnknownClass, message, &name, known, span)
    }

    pub(crate) fn missing_type(&self, message: String, name: &str, span: Option<Span>) -> Stop {
        let name = plain(name);
        let mut known: Vec<String> = self.definitions.define_names().collect();
        if !name.contains("::") {
            known.extend(setpoint_catalog::native_types().iter().map(|native| native.name.to_owned()));
        }
        self.missing(Rule::UnknownResourceType, message, &name, known, span)
    }

    /// A class or definition, which would be found by its name in a module.
    fn missing(
        &self,
        rule: Rule,
        message: String,
        name: &str,
        mut known: Vec<String>,
        span: Option<Span>,
    ) -> Stop {
        let mut found = Diagnostic::new(rule, message);
        found.span = span;
        let (module, rest) = name.split_once("::").unwrap_or((name, ""));
        if let Some(folder) = self.environment.module(module) {
            let manifests = folder.join("manifests");
            let file = if rest.is_empty() { "init".to_owned() } else { rest.replace("::", "/") };
            let file = manifests.join(format!("{file}.pp"));
            let state = if self.environment.files.is_file(&file) {
                "which has no such name"
            } else {
                "which does not exist"
            };
            found = found.with_help(format!("Its place is {}, {state}.", file.display()));
            known.extend(self.names_in(module, &manifests));
        } else {
            known.extend(self.environment.module_names().iter().cloned());
            let is_type = rule == Rule::UnknownResourceType;
            found = found.with_help(match known_module_of_type(name).filter(|_| is_type) {
                Some(module) => {
                    format!("It is a type of the module {module}. {}", self.missing_module(module))
                }
                None if is_type && rest.is_empty() => self.nowhere("a type of this name"),
                None => self.missing_module(module),
            });
        }
        if let Some(near) = nearest(name, known.iter().map(String::as_str).filter(|known| *known != name)) {
            found = found.with_help(format!("Did you mean `{near}`?"));
        }
        Stop::Error(Box::new(found))
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

    /// That there is no module of this name, and where it was looked for.
    fn missing_module(&self, module: &str) -> String {
        if let Some(hint) = self.environment.expected_module(module) {
            return hint.to_owned();
        }
        let folders = self.folders();
        if folders.is_empty() {
            return format!(
                "There is no module `{module}`: no module path is known. Give one with --modulepath, or an environment \
                 with --environment."
            );
        }
        format!("There is no module `{module}` in {folders}: it is not on the module path.")
    }

    /// That no module has something, whatever the module.
    fn nowhere(&self, what: &str) -> String {
        let folders = self.folders();
        if folders.is_empty() {
            return format!("Puppet has no {}, and no module path is known.", what.trim_start_matches("a "));
        }
        format!("Neither Puppet nor a module in {folders} has {what}.")
    }

    fn folders(&self) -> String {
        let folders: Vec<String> =
            self.environment.modulepath().iter().map(|folder| folder.display().to_string()).collect();
        folders.join(", ")
    }

    /// Adds to an unknown function where it was looked for.
    pub(crate) fn missing_function(&self, stop: Stop, name: &str) -> Stop {
        let Stop::Error(mut found) = stop else { return stop };
        if let Some((module, rest)) = name.split_once("::") {
            let help = match self.environment.module(module) {
                Some(folder) => {
                    let rest = rest.replace("::", "/");
                    format!(
                        "Its place is {0}/functions/{rest}.pp or {0}/lib/puppet/functions/{module}/{rest}.rb, and neither \
                         exists.",
                        folder.display()
                    )
                }
                None => self.missing_module(module),
            };
            found.helps.push(help);
        } else if let Some(module) = setpoint_puppet_functions::known_module_with(name) {
            let help = match self.environment.module(module) {
                Some(folder) => {
                    format!("The module {module} has it in other versions, and not in {}.", folder.display())
                }
                None => format!("It is a function of the module {module}. {}", self.missing_module(module)),
            };
            found.helps.push(help);
        } else {
            found.helps.push(self.nowhere("a function of this name"));
        }
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
        if let Some(near) = nearest(name, known.iter().map(String::as_str).filter(|known| *known != name)) {
            found.helps.push(format!("Did you mean `{near}`?"));
        }
        Stop::Error(found)
    }

    /// Where a file of a module was looked for, and one that may have been meant.
    pub(crate) fn missing_file(&self, folder: &str, name: &str) -> Vec<String> {
        let path = Path::new(name);
        if path.is_absolute() {
            return vec![format!("{} does not exist.", path.display())];
        }
        let Some((module, rest)) = name.split_once('/') else {
            return vec![format!("The name is MODULE/FILE, for the file in MODULE/{folder}.")];
        };
        let Some(root) = self.environment.module(module) else {
            let mut helps = vec![self.missing_module(module)];
            let names = self.environment.module_names().iter().map(String::as_str);
            helps.extend(nearest(module, names).map(|near| format!("Did you mean `{near}/{rest}`?")));
            return helps;
        };
        let root = root.join(folder);
        let mut helps = vec![format!("Its place is {}, which does not exist.", root.join(rest).display())];
        let mut known = Vec::new();
        self.files_under(&root, &root, 0, &mut known);
        if let Some(near) = nearest(rest, known.iter().map(String::as_str)) {
            helps.push(format!("Did you mean `{module}/{near}`?"));
        }
        helps
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
