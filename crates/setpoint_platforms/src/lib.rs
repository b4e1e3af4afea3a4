//! Facts of the platforms that `--platform` names: what Facter would say on such a machine.
//!
//! A module can be compiled for Debian 12 or Windows 2022 without a machine at hand. [`find`] gives a [`Platform`];
//! [`Platform::facts`] gives everything that Facter 4, Puppet's agent and the facts of stdlib and its kin say there: the
//! structured facts, and the old flat ones that modules still read, derived from the structured ones. What depends on
//! the node (names, addresses, keys) comes from its name alone, so that two calls agree and two nodes differ.
//! [`supported`] translates the `operatingsystem_support` of a module's metadata.
//!
//! `table` has what differs between platforms, `facts` the one builder, `legacy` the flat facts. The crate reads no files
//! and knows no manifest.

mod facts;
mod legacy;
mod support;
mod table;

use setpoint_puppet_values::{Data, Hash, Key, Value};

pub use support::{supported, unsupported};
pub use table::Platform;

/// There is no platform of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPlatform {
    pub name: String,
    /// The known name that is nearest to it.
    pub nearest: &'static str,
}

impl std::fmt::Display for UnknownPlatform {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "there is no platform `{}`; the nearest is `{}`. The platforms are {}",
            self.name,
            self.nearest,
            names().collect::<Vec<_>>().join(", ")
        )
    }
}

/// The names of all platforms.
pub fn names() -> impl Iterator<Item = &'static str> {
    table::PLATFORMS.iter().map(|platform| platform.name)
}

/// The platforms in the order in which they are tried for a machine of which nothing is known.
const USUAL: [&str; 8] =
    ["debian-12", "ubuntu-24.04", "rocky-9", "windows-2022", "rhel-9", "freebsd-14", "darwin", "sles-15"];

/// All platforms, those that are met most first.
pub fn usual() -> impl Iterator<Item = &'static Platform> {
    let is_first = |platform: &&Platform| USUAL.contains(&platform.name);
    let named = USUAL.iter().filter_map(|name| table::PLATFORMS.iter().find(|known| known.name == *name));
    named.chain(table::PLATFORMS.iter().filter(move |platform| !is_first(platform)))
}

/// The platform of a name. `fedora-40`, `darwin-22` and the like mean the platform that has no number of its own.
pub fn find(name: &str) -> Result<&'static Platform, UnknownPlatform> {
    let wanted = name.to_ascii_lowercase();
    let known = |wanted: &str| table::PLATFORMS.iter().find(|platform| platform.name == wanted);
    let base = wanted.split_once('-').map_or(wanted.as_str(), |(base, _)| base);
    known(&wanted)
        .or_else(|| known(base))
        .ok_or_else(|| UnknownPlatform { name: name.to_owned(), nearest: nearest(&wanted) })
}

fn nearest(wanted: &str) -> &'static str {
    // A name that begins alike is nearer than one that merely has as many letters in common.
    let alike = |known: &str| wanted.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let mut best = (usize::MAX, "debian-12");
    for known in names() {
        let far = setpoint_source::distance(wanted, known) + wanted.len().saturating_sub(2 * alike(known));
        if far < best.0 {
            best = (far, known);
        }
    }
    best.1
}

/// The names of the facts that widely used modules bring along, on any platform.
pub fn names_of_modules() -> impl Iterator<Item = String> {
    table::PLATFORMS
        .iter()
        .flat_map(|platform| platform.facts_of_modules("node").into_iter().map(|(name, _)| name))
}

/// The flat facts of old that follow from structured facts.
pub fn legacy_facts(
    facts: &serde_json::Map<String, serde_json::Value>,
) -> serde_json::Map<String, serde_json::Value> {
    legacy::of(facts)
}

/// Facts as values of the Puppet language.
pub fn values(facts: &serde_json::Map<String, serde_json::Value>) -> Hash {
    facts.iter().map(|(name, fact)| (Key::from(name.as_str()), value(fact))).collect()
}

fn value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::UNDEF,
        Json::Bool(truth) => (*truth).into(),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::from(number.as_f64().unwrap_or_default()), Value::from)
        }
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::array(items.iter().map(value).collect()),
        Json::Object(entries) => Value::new(Data::Hash(values(entries).into())),
    }
}
