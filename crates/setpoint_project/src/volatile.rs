//! Facts that are others in every run: uptime, load, and how much memory and space is free.

use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Type, Value};

/// Facts that change from run to run, by the names of their parts; `*` is any name.
const VOLATILE: [&[&str]; 12] = [
    &["system_uptime"],
    &["uptime"],
    &["uptime_seconds"],
    &["uptime_hours"],
    &["uptime_days"],
    &["load_averages"],
    &["memoryfree"],
    &["memoryfree_mb"],
    &["swapfree"],
    &["swapfree_mb"],
    &["memory", "*", "used"],
    &["mountpoints", "*", "used"],
];

/// The words by which Facter tells how much is used, and how much is free.
const AMOUNTS: [&str; 5] = ["available", "available_bytes", "used", "used_bytes", "capacity"];

/// Returns the facts with an unknown value in the place of each that changes from run to run: a catalog that follows from one is
/// another in every run, so nothing is proved of it.
pub(crate) fn open_volatile(facts: &Hash) -> Hash {
    let mut facts = facts.clone();
    for path in VOLATILE {
        open(&mut facts, path, "");
    }
    facts
}

fn open(facts: &mut Hash, path: &[&str], above: &str) {
    let Some((first, rest)) = path.split_first() else { return };
    let is_amount = AMOUNTS.contains(first);
    let wanted = |key: &str| *first == "*" || key == *first || (is_amount && AMOUNTS.contains(&key));
    for (key, value) in facts.iter_mut() {
        let Some(key) = key.0.as_str().filter(|key| wanted(key)) else { continue };
        let name = if above.is_empty() { key.to_owned() } else { format!("{above}.{key}") };
        if rest.is_empty() {
            *value = Value::unknown(format!("the fact {name} is another one in every run"), Type::Any);
        } else if let Data::Hash(inner) = &mut value.data {
            open(Arc::make_mut(inner), rest, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use setpoint_puppet_values::Key;

    use super::*;

    #[test]
    fn only_what_changes_is_opened() {
        let amounts = || {
            let names = ["total_bytes", "available", "used_bytes", "capacity"];
            Value::hash(names.into_iter().map(|name| (Key::from(name), Value::from(1_i64))).collect())
        };
        let inner = |name: &str| Value::hash([(Key::from(name), amounts())].into_iter().collect());
        let facts: Hash = [
            (Key::from("uptime"), Value::from("1 day")),
            (Key::from("kernel"), Value::from("Linux")),
            (Key::from("memory"), inner("system")),
            (Key::from("mountpoints"), inner("/")),
        ]
        .into_iter()
        .collect();
        let opened = open_volatile(&facts);
        let is_open = |path: &[&str]| {
            let (first, rest) = path.split_first()?;
            let mut value = opened.get(&Key::from(*first))?;
            for name in rest {
                value = value.as_hash()?.get(&Key::from(*name))?;
            }
            Some(matches!(value.data, Data::Opaque(_)))
        };
        for path in [&["uptime"][..], &["memory", "system", "available"], &["mountpoints", "/", "capacity"]] {
            assert_eq!(is_open(path), Some(true), "{path:?}");
        }
        for path in [&["kernel"][..], &["memory", "system", "total_bytes"]] {
            assert_eq!(is_open(path), Some(false), "{path:?}");
        }
    }
}
