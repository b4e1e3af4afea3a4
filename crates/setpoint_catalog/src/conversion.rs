//! What Puppet checks when it turns a catalog into native resources, before it applies anything: an agent that gets such
//! a catalog does nothing at all.
//!
//! The checks of the types that Puppet ships are here, and what Puppet said to kinds of values is in the table of types; a
//! module's type judges by its own code, which is run. A value of which none of them tells what Puppet says to it is a
//! doubt. Checks that depend on the machine (is there such a command?) are not made here.

mod accounts;
mod exec;
mod file;
mod parsed;
mod small;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_puppet_functions::{NotRun, TypeAnswer};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Symbol, canonical_path};

pub use parsed::{DAYS, MONTHS};

use crate::graph::{Types, is_container};
use crate::{Attribute, Catalog, Check as Checked, KindAnswer, NativeType, Resource, ResourceId, ValueKind};

/// Why a resource cannot be managed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub resource: ResourceId,
    /// The parameter at fault, if it is one alone.
    pub parameter: Option<Symbol>,
    /// What is wrong, to be read after the name of the resource and the parameter: `must be a string, not a number`.
    pub message: String,
}

/// What Puppet says to a catalog, in the order of the catalog. Puppet itself stops at the first that it refuses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Examination {
    /// What Puppet would refuse.
    pub problems: Vec<Problem>,
    /// What Puppet may refuse: nobody knows whether it does.
    pub doubts: Vec<Problem>,
}

/// The schedules that Puppet brings.
const BUILT_IN_SCHEDULES: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

/// Examines every resource once. A resource without a problem and without a doubt is one that Puppet takes.
pub fn examine(catalog: &Catalog, types: &dyn Types) -> Examination {
    let mut found = Examination::default();
    let mut judged = judge_by_code(catalog, types);
    let mut things: FxHashMap<String, ResourceId> = FxHashMap::default();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        if is_container(resource, types) {
            // A class or a define hands its metaparameters to what it contains.
            if let Some(native) = types.native(&resource.type_name).filter(|native| native.name == "stage") {
                Check { resource, native, types, id, by_code: None, found: &mut found }.all();
            }
            continue;
        }
        let Some(native) = types.native(&resource.type_name) else { continue };
        let by_code = judged.remove(&id);
        let mut check = Check { resource, native, types, id, by_code, found: &mut found };
        check.all();
        check.schedule(catalog);
        match native.name {
            "file" => check.backup(catalog),
            "resources" => check.managed_type(catalog),
            _ => {}
        }
        if let Some(thing) = check.thing()
            && let Some(other) = things.insert(thing.clone(), id)
        {
            check.resource(format!("manages {thing}, and so does {}", catalog[other]));
        }
    }
    found
}

/// What the code of modules' types says to the resources of the catalog.
fn judge_by_code(catalog: &Catalog, types: &dyn Types) -> FxHashMap<ResourceId, Judged> {
    let mut of_types: BTreeMap<&str, Vec<(ResourceId, &Resource)>> = BTreeMap::new();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let name = resource.type_name.as_str();
        if crate::native_type(name).is_none() && !is_container(resource, types) {
            of_types.entry(name).or_default().push((id, resource));
        }
    }
    let mut judged = FxHashMap::default();
    for (name, resources) in of_types {
        let given: Vec<&Resource> = resources.iter().map(|(_, resource)| *resource).collect();
        let Some(answers) = types.judge(name, &given) else { continue };
        let ids = resources.iter().map(|(id, _)| *id);
        match answers {
            Ok(answers) => judged.extend(ids.zip(answers.into_iter().map(Ok))),
            Err(not_run) => judged.extend(ids.map(|id| (id, Err(not_run.clone())))),
        }
    }
    judged
}

/// What the code of a type says to a resource, or why it was not run.
type Judged = Result<Vec<TypeAnswer>, NotRun>;

/// The checks of one resource.
struct Check<'a> {
    resource: &'a Resource,
    native: &'a NativeType,
    types: &'a dyn Types,
    id: ResourceId,
    /// `None` if its type is none of a module's.
    by_code: Option<Judged>,
    found: &'a mut Examination,
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
        match self.by_code.take() {
            Some(Ok(answers)) => answers.into_iter().for_each(|answer| self.answer(answer)),
            Some(Err(NotRun { reason })) => {
                self.note(
                    None,
                    format!("is checked by the code of its type, which was not run: {reason}"),
                    false,
                );
            }
            None => {}
        }
        match self.native.name {
            "file" => file::whole(self),
            "exec" => exec::whole(self),
            "cron" => parsed::cron(self),
            "ssh_authorized_key" => parsed::authorized_key(self),
            "augeas" => small::augeas(self),
            "mailalias" => small::mailalias(self),
            "package" => small::package(self),
            "schedule" => small::schedule(self),
            "service" => small::service(self),
            "zpool" => small::zpool(self),
            _ => {}
        }
    }

    /// What an agent knows the resource by, where that is not what the catalog says.
    fn thing(&self) -> Option<String> {
        match self.native.name {
            "file" => Some(format!("the path {}", canonical_path(&self.text("path")?)?)),
            "mount" => {
                let name = self.text("name")?;
                let trimmed = name.trim_end_matches('/');
                Some(format!("the mount point {}", if trimmed.is_empty() { &name } else { trimmed }))
            }
            "sshkey" => {
                let spelled = self.text("type")?;
                let spellings = &self.native.attribute("type")?.values;
                let meant = spellings.iter().find(|(spelling, _)| *spelling == &*spelled);
                let meant = meant.map_or(&*spelled, |(_, meant)| meant);
                Some(format!("the key of {} of the type {meant}", self.text("name")?))
            }
            _ => None,
        }
    }

    /// What the code of the type says.
    fn answer(&mut self, answer: TypeAnswer) {
        let is_whole = answer.parameter.is_none();
        let (message, certain) = match answer.refusal {
            Ok(words) => (format!("is refused by its type: {words}"), true),
            Err(NotRun { reason }) => {
                let what = if is_whole { "as a whole by code" } else { "by code" };
                (format!("is checked {what} of its type that was not run: {reason}"), false)
            }
        };
        self.note(answer.parameter.map(|name| Symbol::new(&name)), message, certain);
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
        if matches!(value.data, Data::Deferred(_)) || value.unknown_part().is_some() {
            return;
        }
        // A compiler leaves out what is undefined; a catalog of another may have it.
        if value.is_undef() {
            self.wrong(name, "is null, and an agent takes no such value");
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
        // The code of its type has the word.
        if self.by_code.is_some() {
            return;
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
        // Of several, Puppet takes the first.
        let text = values::text(value.as_array().and_then(<[Value]>::first).unwrap_or(value));
        let name = self.native.name;
        let of_modules = self.types.providers(name);
        if self.native.providers.contains(&text.as_str()) || of_modules.features.contains_key(&text) {
            return;
        }
        if !of_modules.is_whole {
            self.doubt("provider", format!("is {text}, and not all providers of {name} are known"));
        } else if !self.native.providers.is_empty() || !of_modules.features.is_empty() {
            self.wrong("provider", format!("is {text}, which is no provider of {name}"));
        } else if crate::native_type(name).is_none() {
            self.wrong("provider", format!("is given, and {name} has no providers"));
        } else {
            self.doubt("provider", format!("is {text}, and no provider of {name} is known"));
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
        let problem = Problem { resource: self.id, parameter, message };
        if certain { self.found.problems.push(problem) } else { self.found.doubts.push(problem) }
    }
}

/// Providers that manage an attribute only on machines with libuser.
const LIBUSER: [(&str, &str); 2] = [("useradd", "forcelocal"), ("groupadd", "forcelocal")];

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
            _ if native.module.is_none()
                && attribute.kinds.is_empty()
                && attribute.check != Checked::DataType =>
            {
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
        (None, Ok(())) if attribute.check == Checked::DataType => {
            Outcome::Unknown("is checked against a data type, which was not read".to_owned())
        }
        (None, Ok(())) if native.module.is_none() || is_read => Outcome::Accepted,
        (None, Ok(())) if matches!(kind, ValueKind::True | ValueKind::False) => Outcome::Accepted,
        (None, Ok(())) => unknown(),
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
