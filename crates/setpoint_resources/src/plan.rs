//! From the catalog and its graph to the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::graph::{Graph, Node, NodeId};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_config::Sentence;
use setpoint_state::{CellId, Plan, Program, Semantics, Step, StepId, Test};

use crate::attributes::Attributes;
use crate::clock::{Clock, Late};
use crate::machine::Machine;
use crate::manages::manages;
use crate::mentions::Mentions;
use crate::packages::PackageSet;
use crate::types::{self, Model};
use crate::{Assumed, Entry, Origins, OutOfTime, World, configurations, invariants, paper};

/// A catalog as a plan.
#[derive(Clone, Debug, Default)]
pub struct Modelled {
    pub plan: Plan,
    /// The resource of each step. The two steps of a container have the same.
    pub resources: Vec<ResourceId>,
    /// What the models take for granted about this catalog, sorted.
    pub assumptions: Vec<Assumed>,
    /// Where contents and texts come from that are only names in the plan.
    pub origins: Origins,
    /// Cells that stand for all that nothing names.
    pub stand_ins: FxHashSet<CellId>,
    /// The cells that are entries of files.
    pub entries: Vec<FileEntry>,
}

/// A cell that is one key of a file.
#[derive(Clone, Debug)]
pub struct FileEntry {
    pub cell: CellId,
    pub path: String,
    pub entry: Entry,
}

/// Models every resource of a catalog. Steps are in the order in which Puppet applies them; what lies on a cycle of the
/// graph, or behind one, has no step.
pub fn plan(catalog: &Catalog, graph: &Graph, world: &World<'_>) -> Modelled {
    // Without a deadline the time is never over.
    plan_with(catalog, graph, world, &[], None).map(|(modelled, _)| modelled).unwrap_or_default()
}

/// What is to be asked about the end of a run: each sentence as a test, or why it cannot be asked.
pub type Asked = Vec<Result<Test, String>>;

/// The same, with what is to be asked about the end of a run, and with a time at which it is given up.
pub fn plan_with(
    catalog: &Catalog,
    graph: &Graph,
    world: &World<'_>,
    sentences: &[&Sentence],
    deadline: Option<Instant>,
) -> Result<(Modelled, Asked), OutOfTime> {
    let mut clock = Clock::new(deadline);
    if world.semantics == Semantics::Paper {
        let modelled = paper::plan(catalog, graph, world, &mut clock)?;
        let space = &modelled.plan.space;
        let ask = |one: &&Sentence| invariants::test(one, &mut |fact| invariants::of_paper(space, fact));
        let tests = sentences.iter().map(ask).collect();
        return Ok((modelled, tests));
    }
    let of = catalog.resources().len();
    let not_begun = |Late| OutOfTime { modelled: 0, of };
    let mentions = Mentions::collect(catalog, world, &mut clock, |mentions| {
        for sentence in sentences {
            invariants::mention(sentence, mentions, world);
        }
    });
    let mut mentions = mentions.map_err(not_begun)?;
    let packages = PackageSet::collect(world, &mut mentions, &mut clock).map_err(not_begun)?;
    let gaps = std::mem::take(&mut mentions.gaps);
    let mut machine = Machine::new(world, mentions, packages);
    for (gap, resource) in gaps {
        machine.assumptions.current = resource;
        machine.assume(gap);
    }
    machine.assumptions.current = None;
    machine.loads = loads(catalog, graph, &machine);
    machine.assume_packages();
    let (steps, resources, edges, notifies) = model_all(&mut machine, catalog, graph, &mut clock)?;
    let tests = sentences.iter().map(|one| invariants::test(one, &mut |fact| machine.fact(fact))).collect();
    let entries = machine.all_tracked();
    let stand_ins = machine.all_stand_ins();
    let plan =
        Plan { space: machine.space, steps, edges, notifies, start: machine.start, laws: machine.laws };
    let assumptions = machine.assumptions.finish();
    let modelled = Modelled { plan, resources, assumptions, origins: machine.origins, stand_ins, entries };
    Ok((modelled, tests))
}

/// Models every resource of a catalog, in the order of its graph.
pub(crate) fn model_all(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    graph: &Graph,
    clock: &mut Clock,
) -> Result<Parts, OutOfTime> {
    let world = machine.world;
    let mut steps = Skeleton::default();
    for id in graph.order() {
        clock.tick().map_err(|Late| steps.out_of_time(catalog.resources().len()))?;
        let (model, resource) = match graph.node(id) {
            Node::Resource(resource) => {
                machine.assumptions.current = Some(resource);
                let mut model = types::model(machine, catalog, &catalog[resource]);
                let path = catalog[resource].name_or_title("path");
                let path = machine.mentions.canonical(&path, world);
                model.manages = manages(&catalog[resource], path.as_deref(), &model.apply, &machine.space);
                (model, resource)
            }
            Node::Begin(resource) | Node::End(resource) => (Model::pass(), resource),
            Node::Default(..) => continue,
        };
        let name = match graph.node(id) {
            Node::Begin(_) => format!("{} (begin)", catalog[resource]),
            Node::End(_) => format!("{} (end)", catalog[resource]),
            _ => catalog[resource].reference(),
        };
        steps.add(id, resource, &name, model);
    }
    machine.assumptions.current = None;
    Ok(steps.finish(graph))
}

/// Steps and what is between them.
#[derive(Default)]
pub(crate) struct Skeleton {
    steps: Vec<Step>,
    resources: Vec<ResourceId>,
    places: FxHashMap<NodeId, StepId>,
    refreshable: FxHashSet<StepId>,
}

pub(crate) type Parts = (Vec<Step>, Vec<ResourceId>, Vec<(StepId, StepId)>, Vec<(StepId, StepId)>);

impl Skeleton {
    /// How far it came when the time was over. The two steps of a container are one resource.
    pub(crate) fn out_of_time(&self, of: usize) -> OutOfTime {
        let modelled: FxHashSet<ResourceId> = self.resources.iter().copied().collect();
        OutOfTime { modelled: modelled.len(), of }
    }

    pub(crate) fn add(&mut self, node: NodeId, resource: ResourceId, name: &str, model: Model) {
        let id = StepId(self.steps.len() as u32);
        self.places.insert(node, id);
        if model.refreshable {
            self.refreshable.insert(id);
        }
        self.steps.push(Step {
            name: name.into(),
            apply: model.apply,
            refresh: if model.refreshable { model.refresh } else { Program::Skip },
            suitable: model.suitable,
            unknown: model.unknown,
            passes_on: model.passes_on,
            manages: model.manages,
        });
        self.resources.push(resource);
    }

    pub(crate) fn finish(self, graph: &Graph) -> Parts {
        let mut edges = Vec::new();
        let mut notifies = Vec::new();
        for edge in graph.edges() {
            let (Some(&from), Some(&to)) = (self.places.get(&edge.source), self.places.get(&edge.target))
            else {
                continue;
            };
            edges.push((from, to));
            // A notification to what cannot be refreshed is an order, no more.
            if edge.refreshes() && self.refreshable.contains(&to) {
                notifies.push((from, to));
            }
        }
        for list in [&mut edges, &mut notifies] {
            list.sort_unstable();
            list.dedup();
        }
        (self.steps, self.resources, edges, notifies)
    }
}

/// The managed files that each service loads: those that notify it, those that bear its name below /etc, and those of the
/// table.
pub(crate) fn loads(
    catalog: &Catalog,
    graph: &Graph,
    machine: &Machine<'_>,
) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut by_name: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for path in machine.mentions.files.keys().filter(|path| path.starts_with("/etc/")) {
        // A unit is not what its service reads.
        if path.starts_with("/etc/systemd/") || path.starts_with("/etc/init.d/") {
            continue;
        }
        for part in path.split('/').skip(2).take(3) {
            let stem = part.split('.').next().unwrap_or(part);
            by_name.entry(stem.to_owned()).or_default().push(path.clone());
        }
    }
    let is_file = |resource: &Resource| matches!(resource.type_name.as_str(), "File" | "Concat_file");
    for (id, resource) in catalog.iter() {
        if resource.virtual_ || resource.type_name.as_str() != "Service" {
            continue;
        }
        let name = resource.name_or_title("name");
        let paths = found.entry(name.clone()).or_default();
        if let Some(named) = by_name.get(&name) {
            paths.extend(named.iter().filter(|path| !is_for_clients(path)).cloned());
        }
        paths
            .extend(machine.mentions.files.keys().filter(|path| configurations::reads(&name, path)).cloned());
        for path in machine.packages.configuration_of_service(&name) {
            if machine.mentions.files.contains_key(&path) {
                paths.insert(path);
            }
        }
        let Some(node) = graph.begin(id) else { continue };
        for edge in graph.incoming(node).filter(|edge| edge.refreshes()) {
            if let Node::Resource(source) = graph.node(edge.source)
                && is_file(&catalog[source])
            {
                paths.extend(
                    machine.mentions.canonical(&catalog[source].name_or_title("path"), machine.world),
                );
            }
        }
    }
    // Only files: a directory has no content to load, and what should be absent is not read.
    let is_content = |path: &String| {
        machine.mentions.files.get(path).is_none_or(|id| {
            let shape = types::file::Shape::of(&catalog[*id]);
            matches!(shape.ensure, types::file::Ensure::File | types::file::Ensure::Present)
        })
    };
    found.into_iter().map(|(name, paths)| (name, paths.into_iter().filter(is_content).collect())).collect()
}

/// The client's files lie in the folder that bears the name of the server.
fn is_for_clients(path: &str) -> bool {
    path.starts_with("/etc/ssh/ssh_config") || path == "/etc/ssh/ssh_known_hosts"
}
