//! What Puppet checks when it turns a catalog into native resources, before it applies anything: an agent that gets such
//! a catalog does nothing at all.
//!
//! The checks of the types that Puppet ships are here, and what Puppet said to kinds of values is in the table of types; of
//! a module's type, the allowed values that its file names. A value of which none of them tells what Puppet says to it is a
//! doubt. Checks that depend on the machine (is there such a command?) are not made here.

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
use crate::{Attribute, Catalog, KindAnswer, NativeType, Resource, ResourceId, Role, ValueKind};

/// Why a resource cannot be managed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub resource: ResourceId,
    /// The parameter at fault, if it is one alone.
    pub parameter: Option<Symbol>,
    /// What is wrong, to be read after the name of the resource and the parameter: `must be a string, not a number`.
    pub message: String,
    /// Puppet refuses it for certain. If not, nobody knows.
    certain: bool,
}

/// The schedules that Puppet brings.
const BUILT_IN_SCHEDULES: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

/// All that Puppet would refuse, in the order of the catalog. Puppet itself stops at the first.
pub fn problems(catalog: &Catalog, types: &dyn Types) -> Vec<Problem> {
    examine(catalog, types).into_iter().filter(|problem| problem.certain).collect()
}

/// All of which nobody knows whether Puppet refuses it, in the order of the catalog.
pub fn doubts(catalog: &Catalog, types: &dyn Types) -> Vec<Problem> {
    examine(catalog, types).into_iter().filter(|problem| !problem.certain).collect()
}

fn examine(catalog: &Catalog, types: &dyn Types) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut paths: FxHashMap<String, ResourceId> = FxHashMap::default();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        if is_container(resource, types) {
            // A class or a define hands its metaparameters to what it contains.
            if let Some(native) = types.native(&resource.type_name).filter(|native| native.name == "stage") {
                Check { resource, native, types, id, found: &mut found }.all();
            }
            continue;
        }
        let Some(native) = types.native(&resource.type_name) else { continue };
        let mut check = Check { resource, native, types, id, found: &mut found };
        check.all();
        check.schedule(catalog);
        match native.name {
            "file" => check.backup(catalog),
            "resources" => check.managed_type(catalog),
            _ => {}
        }
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
    types: &'a dyn Types,
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
        if let Some(line) = self.native.code {
            let message =
                format!("is checked as a whole by code in line {line} of its type, which was not run");
            self.note(None, message, false);
        }
        match self.native.name {
            "file" => file::whole(self),
            "exec" => exec::whole(self),
            "cron" => parsed::cron(self),
            "ssh_authorized_key" => parsed::authorized_key(self),
            "augeas" => small::augeas(self),
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
            return self.provider(value);
        }
        let managed = self.manages(attribute);
        if managed == Some(false) {
            return;
        }
        let read = values::check(attribute, value).and_then(|()| own(self, attribute.name, value));
        match outcome(self.native, attribute, value, read) {
            Outcome::Accepted => {}
            Outcome::Refused(message) if managed.is_some() => self.wrong(attribute.name, message),
            Outcome::Refused(message) => {
                self.doubt(attribute.name, format!("{message}, if the provider of the machine manages it"));
            }
            Outcome::Unknown(message) => self.doubt(attribute.name, message),
        }
    }

    /// Whether the provider manages an attribute; `None` if that depends on the machine.
    fn manages(&self, attribute: &Attribute) -> Option<bool> {
        let Some(able) = attribute.managed_by else { return Some(true) };
        let given = self.resource.get("provider").map(settled).filter(|value| !value.is_undef());
        if let Some(given) = given {
            let given = values::text(given);
            return if LIBUSER.contains(&(given.as_str(), attribute.name)) {
                None
            } else {
                Some(able.contains(&given.as_str()))
            };
        }
        let usual: &[&str] = match self.native.name {
            "package" => &["apt", "dnf", "yum", "zypper", "pacman", "portage"],
            "service" => &["systemd", "debian", "redhat", "upstart", "openrc"],
            "user" => &["useradd"],
            "group" => &["groupadd"],
            _ => return None,
        };
        if usual.iter().any(|name| LIBUSER.contains(&(name, attribute.name))) {
            return None;
        }
        let count = usual.iter().filter(|name| able.contains(name)).count();
        if count == 0 { Some(false) } else { (count == usual.len()).then_some(true) }
    }

    /// The agent looks for the bucket before it applies anything.
    fn backup(&mut self, catalog: &Catalog) {
        let Some(value) = self.resource.get("backup").map(settled) else { return };
        let first = match &value.data {
            Data::Array(items) => items.first().map(settled),
            _ => Some(value),
        };
        let Some(Data::String(name)) = first.map(|value| &value.data) else { return };
        if ["true", "false", "puppet"].contains(&&**name)
            || name.split('\n').any(|line| line.starts_with('.'))
        {
            return;
        }
        let is_bucket = |one: &Resource| {
            !one.virtual_
                && one.type_name.as_str() == "Filebucket"
                && (one.title == *name || one.get("name").is_some_and(|given| values::text(given) == **name))
        };
        if !catalog.iter().any(|(_, one)| is_bucket(one)) {
            self.wrong(
                "backup",
                format!("names the filebucket '{name}', and the catalog has no such bucket"),
            );
        }
    }

    /// The type whose resources are managed must be there.
    fn managed_type(&mut self, catalog: &Catalog) {
        let Some(name) = self.text("name") else { return };
        let is_used = || catalog.iter().any(|(_, one)| one.type_name.as_str().eq_ignore_ascii_case(&name));
        if self.types.native(&name).is_some() || is_used() {
            return;
        }
        let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_word {
            // The modules of a stored catalog may not be here, and the agent has them.
            self.doubt("name", format!("names the type '{name}', which is not known here"));
        } else {
            self.wrong("name", format!("names the type '{name}', and no type has such a name"));
        }
    }

    /// A metaparameter, or a parameter that the type does not have.
    fn other(&mut self, name: &str, value: &Value) {
        match name {
            "audit" => return self.audit(),
            "tag" => return self.tag(value),
            _ => {}
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

    /// Names as Puppet takes them for tags.
    fn tag(&mut self, value: &Value) {
        fn wrong(value: &Value) -> Option<String> {
            let value = settled(value);
            match &value.data {
                Data::Array(items) => items.iter().find_map(wrong),
                Data::Undef => None,
                Data::Float(_) | Data::Integer(_) | Data::String(_) => {
                    let text = values::text(value);
                    let is_tag =
                        values::matches_pattern(r"\A[\p{L}\p{M}\p{Nd}_][\p{L}\p{M}\p{Nd}_:.-]*\n?\z", &text);
                    (!is_tag).then(|| format!("must be words of letters, digits and _ : . -, not '{text}'"))
                }
                Data::Bool(_) | Data::Default => None,
                _ => Some(format!("must be words, not {}", values::shown(value))),
            }
        }
        if let Some(message) = wrong(value) {
            self.wrong("tag", message);
        }
    }

    /// `all`, or attributes of the type.
    fn audit(&mut self) {
        let audited = self.audited();
        let unknown = audited.iter().find(|name| !self.native.accepts(name));
        if let Some(unknown) = unknown.filter(|_| audited != ["all"]) {
            let message = format!("names {unknown}, which is no attribute of {}", self.native.name);
            self.wrong("audit", message);
        }
    }

    fn audited(&self) -> Vec<String> {
        match self.resource.get("audit").map(settled) {
            None => Vec::new(),
            Some(value) => match &value.data {
                Data::Array(items) => items.iter().map(values::text).collect(),
                _ => vec![values::text(value)],
            },
        }
    }

    fn provider(&mut self, value: &Value) {
        let text = values::text(value);
        let is_known = self.native.providers.is_empty() || self.native.providers.contains(&text.as_str());
        if !is_known && !self.types.has_more_providers(self.native.name) {
            self.wrong("provider", format!("is {text}, which is no provider of {}", self.native.name));
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.resource.get(name).is_some_and(|value| !value.is_undef())
            || (name == self.native.namevar() && self.resource.get("name").is_some())
    }

    fn is_empty_array(&self, name: &str) -> bool {
        matches!(self.resource.get(name).map(|value| &settled(value).data), Some(Data::Array(items)) if items.is_empty())
    }

    /// The text of a parameter, or of a namevar that the title gives.
    fn text(&self, name: &str) -> Option<Arc<str>> {
        match self.resource.get(name).map(settled) {
            Some(value) if !value.is_undef() => Some(Arc::from(values::text(value))),
            _ => self.native.key_value(self.resource, name),
        }
    }

    fn wrong(&mut self, parameter: &str, message: impl Into<String>) {
        self.note(Some(Symbol::new(parameter)), message.into(), true);
    }

    fn doubt(&mut self, parameter: &str, message: impl Into<String>) {
        self.note(Some(Symbol::new(parameter)), message.into(), false);
    }

    fn resource(&mut self, message: impl Into<String>) {
        self.note(None, message.into(), true);
    }

    fn note(&mut self, parameter: Option<Symbol>, message: String, certain: bool) {
        self.found.push(Problem { resource: self.id, parameter, message, certain });
    }
}

/// Providers that manage an attribute only on machines with libuser.
const LIBUSER: [(&str, &str); 2] = [("useradd", "forcelocal"), ("groupadd", "forcelocal")];

/// What the tests of a module's type say: to each value of a property, or to the one of a parameter.
fn by_tests(attribute: &Attribute, value: &Value) -> Outcome {
    let items = match &value.data {
        Data::Array(items) if attribute.role == Role::Property => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    for item in items.iter().map(settled) {
        for test in attribute.refusals.iter() {
            match test.passes(item) {
                Some(false) => {}
                Some(true) => {
                    return Outcome::Refused(format!("is refused by its type: {}", values::shown(item)));
                }
                None => {
                    let shown = values::shown(item);
                    return Outcome::Unknown(format!(
                        "is {shown}, and what its type says to that was not read"
                    ));
                }
            }
        }
    }
    match attribute.code {
        Some(line) => {
            Outcome::Unknown(format!("is changed by code in line {line} of its type, which was not run"))
        }
        None => Outcome::Accepted,
    }
}

enum Outcome {
    Accepted,
    Refused(String),
    Unknown(String),
}

/// What Puppet says to a value, by what it said to others of its kind and by what the checks read in it.
fn outcome(native: &NativeType, attribute: &Attribute, value: &Value, read: Result<(), String>) -> Outcome {
    let shown = values::shown(value);
    let unknown = || Outcome::Unknown(format!("is {shown}, and nobody asked Puppet whether it takes that"));
    let Some(kind) = values::kind(value) else {
        return match &value.data {
            Data::Binary(_) if (native.name, attribute.name) == ("file", "content") => Outcome::Accepted,
            _ if native.module.is_none() && attribute.kinds.is_empty() && attribute.code.is_none() => {
                read.map_or_else(Outcome::Refused, |()| Outcome::Accepted)
            }
            _ => unknown(),
        };
    };
    // Words and numbers in one array: the checks read each, if the attribute takes arrays of both.
    let takes = |kind| attribute.answer(kind).is_some_and(|answer| answer != KindAnswer::Refused);
    if kind == ValueKind::OtherItems
        && value.as_array().is_some_and(|items| {
            items.iter().all(|item| matches!(item.data, Data::String(_) | Data::Integer(_)))
        })
        && takes(ValueKind::Strings)
        && takes(ValueKind::Integers)
    {
        return read.map_or_else(Outcome::Refused, |()| Outcome::Accepted);
    }
    // The checks read text and numbers; what else is accepted or not, they only guess.
    let is_read = matches!(
        kind,
        ValueKind::String
            | ValueKind::Strings
            | ValueKind::Integer
            | ValueKind::Integers
            | ValueKind::Negative
    );
    match (attribute.answer(kind), read) {
        (Some(KindAnswer::Accepted), Err(message)) if is_read => Outcome::Refused(message),
        (Some(KindAnswer::Accepted), _) => Outcome::Accepted,
        (Some(KindAnswer::Refused), Err(message)) => Outcome::Refused(message),
        // Few strings were asked, and the words that the attribute allows may not be among them.
        (Some(KindAnswer::Refused), Ok(())) if matches!(kind, ValueKind::String | ValueKind::Strings) => {
            let is_listed = !attribute.values.is_empty() || !attribute.patterns.is_empty();
            if is_listed { Outcome::Accepted } else { unknown() }
        }
        (Some(KindAnswer::Refused), Ok(())) => Outcome::Refused(format!("must not be {shown}")),
        (Some(KindAnswer::Depends), Err(message)) if is_read => Outcome::Refused(message),
        (Some(KindAnswer::Depends), Ok(())) if is_read => Outcome::Accepted,
        (Some(KindAnswer::Depends), _) => unknown(),
        (None, Err(message)) => Outcome::Refused(message),
        (None, Ok(())) if !attribute.refusals.is_empty() => by_tests(attribute, value),
        (None, Ok(())) => match attribute.code {
            Some(line) => {
                Outcome::Unknown(format!("is checked by code in line {line} of the type, which was not run"))
            }
            None if native.module.is_none()
                || is_read
                || matches!(kind, ValueKind::True | ValueKind::False) =>
            {
                Outcome::Accepted
            }
            None => unknown(),
        },
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
