//! Two catalogs of one machine, one applied after the other.

use std::collections::BTreeSet;

use setpoint_catalog::graph::Graph;
use setpoint_catalog::{Catalog, ResourceId};
use setpoint_source::Symbol;
use setpoint_state::Plan;

use crate::attributes::Attributes;
use crate::clock::{Clock, Limits};
use crate::machine::Machine;
use crate::mentions::Mentions;
use crate::mounts::exchange_below;
use crate::packages::PackageSet;
use crate::plan::{Parts, loads, model_all};
use crate::shared::open_shared_paths;
use crate::{Modelled, World, table};

/// The plans of two catalogs over the same cells: a state that one leaves is a state in which the other begins.
#[derive(Clone, Debug, Default)]
pub struct ModelledPair {
    pub old: Modelled,
    pub new: Modelled,
}

/// A catalog, its graph, and what is known besides: the files that each version serves are its own.
pub type Version<'a> = (&'a Catalog, &'a Graph, &'a World<'a>);

/// Models two catalogs of one machine. Both plans have the same cells, laws and admissible starts: those of a machine to which
/// neither was applied.
pub fn plan_pair(old: Version<'_>, new: Version<'_>) -> ModelledPair {
    // Without limits every resource gets its model.
    modelled_pair(old, new).unwrap_or_default()
}

fn modelled_pair<'a>(
    (old, old_graph, old_world): Version<'a>,
    (new, new_graph, new_world): Version<'a>,
) -> Option<ModelledPair> {
    let mut clock = Clock::new(Limits::default());
    let (decoded_old, mut decoded_new) = (table::decode(old, old_world), table::decode(new, new_world));
    keep_unmanaged(&decoded_old.catalog, &mut decoded_new.catalog);
    let (old, new) = (&decoded_old.catalog, &decoded_new.catalog);
    let own_old = Mentions::collect(old, old_world, &mut clock, |_| {}).ok()?;
    let own_new = Mentions::collect(new, new_world, &mut clock, |_| {}).ok()?;
    let (mut of_old, mut of_new) = (own_old.clone(), own_new.clone());
    of_old.name_also(&own_new);
    of_new.name_also(&own_old);
    let old_packages = PackageSet::collect(old_world, &mut of_old, &mut clock).ok()?;
    let new_packages = PackageSet::collect(new_world, &mut of_new, &mut clock).ok()?;
    let mut machine = Machine::new(old_world, of_old, old_packages);
    machine.declared_paths = Some(own_old.files.keys().chain(own_new.files.keys()).cloned().collect());
    // A service reads the same files, whichever catalog says so.
    let mut loaded = loads(old, old_graph, &machine);
    let of_old = std::mem::replace(&mut machine.mentions, of_new);
    for (service, paths) in loads(new, new_graph, &machine) {
        let known = loaded.entry(service).or_default();
        *known = known.drain(..).chain(paths).collect::<BTreeSet<String>>().into_iter().collect();
    }
    machine.loads = loaded;
    let of_new = std::mem::replace(&mut machine.mentions, of_old);
    note_gaps(&mut machine);
    machine.assume_packages();
    let mut old_parts = model_all(&mut machine, &decoded_old, old_graph, &mut clock).ok()?;
    open_shared_paths(&mut machine, &mut old_parts);
    // What purges spare, and what a package may overwrite, is the catalog's own.
    machine.world = new_world;
    machine.mentions = of_new;
    machine.packages = new_packages;
    machine.unpacked.clear();
    let old_assumptions = std::mem::take(&mut machine.assumptions);
    note_gaps(&mut machine);
    let mut new_parts = model_all(&mut machine, &decoded_new, new_graph, &mut clock).ok()?;
    open_shared_paths(&mut machine, &mut new_parts);
    exchange_below(&mut machine, &mut old_parts.steps);
    exchange_below(&mut machine, &mut new_parts.steps);
    let new_assumptions = std::mem::take(&mut machine.assumptions);
    let (entries, stand_ins) = (machine.all_tracked(), machine.all_stand_ins());
    let Machine { space, start, assumed_start, laws, origins, .. } = machine;
    let modelled = |parts: Parts, assumptions: crate::assumptions::Assumptions| Modelled {
        plan: Plan {
            space: space.clone(),
            steps: parts.steps,
            edges: parts.edges,
            notifies: parts.notifies,
            start: start.clone(),
            laws: laws.clone(),
        },
        resources: parts.resources,
        assumptions: assumptions.finish(),
        assumed_start: assumed_start.clone(),
        chosen: parts.chosen,
        plain: parts.plain,
        checks: parts.checks,
        origins: origins.clone(),
        stand_ins: stand_ins.clone(),
        entries: entries.clone(),
    };
    Some(ModelledPair {
        old: modelled(old_parts, old_assumptions),
        new: modelled(new_parts, new_assumptions),
    })
}

/// The properties of entries that Puppet leaves as they are where a resource no longer declares them.
const KEPT: [(&str, &[&str]); 5] = [
    ("Host", &["ip", "host_aliases"]),
    ("Cron", &["command", "special", "minute", "hour", "weekday", "month", "monthday", "environment"]),
    ("Sshkey", &["type", "key", "host_aliases"]),
    ("Ssh_authorized_key", &["type", "key"]),
    ("Mailalias", &["recipient"]),
];

/// Gives entries of the new catalog the properties that only the old one declares.
fn keep_unmanaged(old: &Catalog, new: &mut Catalog) {
    let ids: Vec<ResourceId> = new.ids().collect();
    for id in ids {
        let Some(resource) = new.get_mut(id) else { continue };
        let kept = KEPT.iter().find(|(name, _)| *name == resource.type_name.as_str());
        let before = old.find(resource.type_name, &resource.title).and_then(|before| old.get(before));
        let (Some((_, properties)), Some(before)) = (kept, before) else { continue };
        if [&*resource, before].iter().any(|one| one.ensure().as_deref() == Some("absent")) {
            continue;
        }
        for &property in *properties {
            if let (Some(value), false) = (before.get(property), resource.has(property)) {
                resource.parameters.set(Symbol::new(property), value.clone(), None);
            }
        }
    }
}

/// Notes what is left out of the names of the catalog whose turn it is.
fn note_gaps(machine: &mut Machine<'_>) {
    for (gap, resource) in std::mem::take(&mut machine.mentions.gaps) {
        machine.assumptions.current = resource;
        machine.assume(gap);
    }
    machine.assumptions.current = None;
}
