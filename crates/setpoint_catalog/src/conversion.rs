//! What Puppet checks when it turns a catalog into native resources, before it applies anything: an agent that gets such
//! a catalog does nothing at all.
//!
//! The checks of the types that Puppet ships are here; of a module's type, the allowed values that its file names.
//! Checks that depend on the machine (is there such a command?) are not made here.

mod accounts;
mod exec;
mod file;
mod parsed;
mod small;
mod values;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Symbol, canonical_path};

pub use parsed::{DAYS, MONTHS};

use crate::graph::{Types, is_container};
use crate::{Catalog, NativeType, Resource, ResourceId};

/// Why a resource cannot be managed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub resource: ResourceId,
    /// The parameter at fault, if it is one alone.
    pub parameter: Option<Symbol>,
    /// What is wrong, to be read after the name of the resource and the parameter: `must be a string, not a number`.
    pub message: String,
}

/// The schedules that Puppet brings.
const BUILT_IN_SCHEDULES: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

/// All that Puppet would refuse, in the order of the catalog. Puppet itself stops at the first.
pub fn problems(catalog: &Catalog, types: &dyn Types) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut paths: FxHashMap<String, ResourceId> = FxHashMap::default();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        if is_container(resource, types) {
            continue;
        }
        let Some(native) = types.native(&resource.type_name) else { continue };
        let mut check = Check { resource, native, id, found: &mut found };
        check.all();
        check.schedule(catalog);
        if native.name == "file"
            && let Some(path) = check.text("path").and_then(|path| canonical_path(&path))
            && let Some(other) = paths.insert(path.clone(), id)
        {
            check.resource(format!("manages the path {path}, and so does {}", catalog[other]));
        }
    }
    found
}

/// The checks of one resource.
struct Check<'a> {
    resource: &'a Resource,
    native: &'a NativeType,
    id: ResourceId,
    found: &'a mut Vec<Problem>,
}

impl Check<'_> {
    fn all(&mut self) {
        if self.native.parse_title(&self.resource.title).is_none() {
            self.resource(format!("has a title that no {} can have", self.native.name));
        }
        for parameter in &self.resource.parameters {
            self.parameter(&parameter.name, &parameter.value);
        }
        // A namevar that only the title gives is checked, too.
        for name in self.native.namevars.iter() {
            if !self.is_given(name)
                && let Some(text) = self.native.key_value(self.resource, name)
            {
                self.parameter(name, &Value::string(text));
            }
        }
        match self.native.name {
            "file" => file::whole(self),
            "exec" => exec::whole(self),
            "cron" => parsed::cron(self),
            "ssh_authorized_key" => parsed::authorized_key(self),
            "mailalias" => small::mailalias(self),
            "package" => small::package(self),
            "service" => small::service(self),
            "zpool" => small::zpool(self),
            _ => {}
        }
    }

    /// The run ends with an error when it comes to a resource whose schedule nobody declares.
    fn schedule(&mut self, catalog: &Catalog) {
        let Some(value) = self.resource.get("schedule").map(settled) else { return };
        if matches!(value.data, Data::Undef | Data::Deferred(_)) || value.unknown_part().is_some() {
            return;
        }
        let name = values::text(value);
        let is_declared = |one: &Resource| {
            !one.virtual_
                && one.type_name.as_str() == "Schedule"
                && (*one.title == *name || one.get("name").is_some_and(|given| values::text(given) == name))
        };
        if !BUILT_IN_SCHEDULES.contains(&&*name) && !catalog.iter().any(|(_, one)| is_declared(one)) {
            self.wrong("schedule", format!("names {name}, and there is no such schedule"));
        }
    }

    fn parameter(&mut self, name: &str, value: &Value) {
        let value = settled(value);
        if matches!(value.data, Data::Undef | Data::Deferred(_)) || value.unknown_part().is_some() {
            return;
        }
        let name = if name == "name" && self.native.attribute("name").is_none() {
            self.native.namevar()
        } else {
            name
        };
        let Some(attribute) = self.native.attribute(name) else {
            self.other(name, value);
            return;
        };
        if name == "provider" {
            self.provider(value);
        } else if let Err(message) =
            values::check(attribute, value).and_then(|()| own(self, attribute.name, value))
        {
            self.wrong(attribute.name, message);
        }
    }

    /// A metaparameter, or a parameter that the type does not have.
    fn other(&mut self, name: &str, value: &Value) {
        if name == "audit" {
            return self.audit(value);
        }
        let allowed: &[&str] = match name {
            "noop" => &["true", "false"],
            "loglevel" => &["debug", "info", "notice", "warning", "err", "alert", "emerg", "crit", "verbose"],
            _ if self.native.accepts(name) => return,
            _ => {
                let message = format!("is no parameter of {}", self.native.name);
                self.wrong(name, message);
                return;
            }
        };
        if !allowed.contains(&values::text(value).as_str()) {
            self.wrong(name, format!("must be one of {}, not {}", allowed.join(", "), values::shown(value)));
        }
    }

    /// `all`, or attributes of the type.
    fn audit(&mut self, value: &Value) {
        let audited: Vec<String> = match &value.data {
            Data::Array(items) => items.iter().map(values::text).collect(),
            _ => vec![values::text(value)],
        };
        let unknown = audited.iter().find(|name| !self.native.accepts(name));
        if let Some(unknown) = unknown.filter(|_| audited != ["all"]) {
            let message = format!("names {unknown}, which is no attribute of {}", self.native.name);
            self.wrong("audit", message);
        }
    }

    fn provider(&mut self, value: &Value) {
        let text = values::text(value);
        if !self.native.providers.is_empty() && !self.native.providers.contains(&text.as_str()) {
            self.wrong("provider", format!("is {text}, which is no provider of {}", self.native.name));
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.resource.get(name).is_some_and(|value| !value.is_undef())
            || (name == self.native.namevar() && self.resource.get("name").is_some())
    }

    /// The text of a parameter, or of a namevar that the title gives.
    fn text(&self, name: &str) -> Option<Arc<str>> {
        match self.resource.get(name).map(settled) {
            Some(value) if !value.is_undef() => Some(Arc::from(values::text(value))),
            _ => self.native.key_value(self.resource, name),
        }
    }

    fn wrong(&mut self, parameter: &str, message: impl Into<String>) {
        let parameter = Some(Symbol::new(parameter));
        self.found.push(Problem { resource: self.id, parameter, message: message.into() });
    }

    fn resource(&mut self, message: impl Into<String>) {
        self.found.push(Problem { resource: self.id, parameter: None, message: message.into() });
    }
}

/// What types check with code of their own.
fn own(check: &Check<'_>, name: &str, value: &Value) -> Result<(), String> {
    match check.native.name {
        "file" => file::parameter(name, value),
        "exec" => exec::parameter(name, value, check.is_given("path"), check.text("provider").as_deref()),
        "user" => accounts::user(name, value),
        "group" => accounts::group(name, value),
        "cron" => parsed::cron_parameter(name, value),
        "host" => parsed::host(name, value),
        "mount" => parsed::mount(name, value),
        "sshkey" => parsed::sshkey(name, value),
        "ssh_authorized_key" => parsed::authorized_key_parameter(name, value),
        _ => small::parameter(check.native.name, name, value, check.text("recurse").as_deref()),
    }
}

/// What is inside a secret is checked as if it were none.
fn settled(value: &Value) -> &Value {
    if let Data::Sensitive(inner) = &value.data { settled(inner) } else { value }
}
