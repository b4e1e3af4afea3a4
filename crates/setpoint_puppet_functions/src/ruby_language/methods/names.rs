//! Which methods Ruby's own classes have: what is not among them is an error, and what is among them and not known here
//! is beyond us.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// `Class: name name …`, as Ruby 3.1 lists them with Puppet loaded; those of `Object` belong to all.
static NAMES: LazyLock<FxHashMap<&str, FxHashSet<&str>>> = LazyLock::new(|| {
    let lines = include_str!("names.txt").lines().filter_map(|line| line.split_once(": "));
    lines.map(|(class, names)| (class, names.split(' ').collect())).collect()
});

/// Nothing if the class is not known.
pub(super) fn has(class: &str, name: &str) -> Option<bool> {
    let own = NAMES.get(class)?;
    Some(own.contains(name) || NAMES.get("Object").is_some_and(|names| names.contains(name)))
}
