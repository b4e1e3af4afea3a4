//! The secrets of a catalog.

use setpoint_puppet_values::{Data, Value};
use setpoint_source::Secrets;

use crate::{Catalog, Resource};

/// Whether a parameter of this name holds a secret, whatever type has it: Puppet shows no password of a user, and modules name theirs alike.
pub fn is_secret_name(name: &str) -> bool {
    name.contains("password") || name.contains("passphrase")
}

impl Resource {
    /// Calls back for each value of the resource that is secret: with `Sensitive` taken off, parts of collections one by one.
    pub fn each_secret<'r>(&'r self, found: &mut dyn FnMut(&'r Value)) {
        for parameter in &self.parameters {
            let is_secret = self.sensitive.contains(&parameter.name) || is_secret_name(&parameter.name);
            each_secret_of(&parameter.value, is_secret, found);
        }
    }
}

impl Catalog {
    /// Notes the texts that the catalog holds as secrets.
    pub fn note_secrets(&self, secrets: &Secrets) {
        for (_, resource) in self.iter() {
            resource.each_secret(&mut |value| {
                if let Data::String(text) = &value.data {
                    secrets.add_text(text);
                }
            });
        }
    }
}

/// Calls back for each secret in a value.
pub fn each_secret_of<'v>(value: &'v Value, is_secret: bool, found: &mut dyn FnMut(&'v Value)) {
    match &value.data {
        Data::Sensitive(inner) => each_secret_of(inner, true, found),
        Data::Array(items) => items.iter().for_each(|item| each_secret_of(item, is_secret, found)),
        Data::Hash(entries) => entries.iter().for_each(|(_, item)| each_secret_of(item, is_secret, found)),
        _ if is_secret => found(value),
        _ => {}
    }
}
