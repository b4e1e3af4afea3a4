//! From the catalog and its graph to the plan.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::graph::{Graph, Node, NodeId};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_config::Sentence;
use setpoint_state::{CellId, CellKind, Kind, Plan, Program, Semantics, Step, StepId, Test};

use crate::attributes::Attributes;
use crate::clock::{Clock, Late, Limits};
use crate::machine::Machine;
use crate::manages::manages;
use crate::mentions::Mentions;
use crate::mounts::exchange_below;
use crate::packages::PackageSet;
use crate::shared::open_shared_paths;
use crate::table::Decoded;
use crate::types::{self, Model};
use crate::{
    Assumed, Entry, Origins, OutOfTime, Unit, World, configurations, invariants, paper, settings, table,
};

/// A catalog as a plan.
#[derive(Clone, Debug, Default)]
pub struct Modelled {
    pub plan: Plan,
    /// The resource of each step. The two steps of a container have the same.
    pub resources: Vec<ResourceId>,
    /// What the models take for granted about this catalog, sorted.
    pub assumptions: Vec<Assumed>,
    /// What is assumed of the start for this catalog alone: a part of what the plan says of it.
    pub assumed_start: Vec<Test>,
    /// Steps of which the start chooses what is not known of them.
    pub chosen: Vec<StepId>,
    /// Steps of which only a plain machine is known: there their programs are right.
    pub plain: Vec<StepId>,
    /// What must hold for the commands of execs to run, of those that have checks.
    pub checks: BTreeMap<StepId, Test>,
    /// Where contents and texts come from that are only names in the plan.
    pub origins: Origins,
    /// Cells that stand for all that nothing names.
    pub stand_ins: FxHashSet<CellId>,
    /// The cells that are entries of files.
    pub entries: Vec<FileEntry>,
}

impl Modelled {
    /// Returns the plan from every start, without what is assumed of the start for this catalog alone; `None` if that is nothing.
    pub fn from_every_start(&self) -> Option<Plan> {
        if self.assumed_start.is_empty() {
            return None;
        }
        let mut plan = self.plan.clone();
        plan.start.retain(|test| !self.assumed_start.contains(test));
        // That no other path is a link is assumed of every catalog.
        let mut cells: Vec<CellId> = Vec::new();
        self.assumed_start.iter().for_each(|test| test.cells(&mut cells));
        cells.sort_unstable();
        cells.dedup();
        let is_path =
            |cell: &CellId| plan.space.get(*cell).is_some_and(|cell| cell.key.kind == CellKind::Path);
        let no_links = cells.into_iter().filter(is_path).map(|cell| Test::Kind(cell, Kind::Link).negate());
        let no_links: Vec<Test> = no_links.collect();
        plan.start.extend(no_links);
        for step in &self.chosen {
            if let Some(step) = plan.steps.get_mut(step.0 as usize) {
                step.unknown = None;
            }
        }
        Some(plan)
    }
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
    // Without limits every resource gets its model.
    plan_with(catalog, graph, world, &[], Limits::default()).map(|(modelled, _)| modelled).unwrap_or_default()
}

/// What is to be asked about the end of a run: each sentence as a test, or why it cannot be asked.
pub type Asked = Vec<Result<Test, String>>;

/// The same, with what is to be asked about the end of a run, and with limits at which it is given up.
pub fn plan_with(
    catalog: &Catalog,
    graph: &Graph,
    world: &World<'_>,
    sentences: &[&Sentence],
    limits: Limits,
) -> Result<(Modelled, Asked), OutOfTime> {
    let mut clock = Clock::new(limits);
    if world.semantics == Semantics::Paper {
        let modelled = paper::plan(catalog, graph, world, &mut clock)?;
        let space = &modelled.plan.space;
        let ask = |one: &&Sentence| invariants::test(one, &mut |fact| invariants::of_paper(space, fact));
        let tests = sentences.iter().map(ask).collect();
        return Ok((modelled, tests));
    }
    let decoded = table::decode(catalog, world);
    let catalog = &decoded.catalog;
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
    let mut parts = model_all(&mut machine, &decoded, graph, &mut clock)?;
    let tests = sentences.iter().map(|one| invariants::test(one, &mut |fact| machine.fact(fact))).collect();
    // Also a sentence may be about what is kept in a path, or below a mount point.
    open_shared_paths(&mut machine, &mut parts);
    exchange_below(&mut machine, &mut parts.steps);
    let entries = machine.all_tracked();
    let stand_ins = machine.all_stand_ins();
    let Parts { steps, resources, edges, notifies, chosen, plain, checks } = parts;
    let modelled = Modelled {
        plan: Plan { space: machine.space, steps, edges, notifies, start: machine.start, laws: machine.laws },
        resources,
        assumptions: machine.assumptions.finish(),
        assumed_start: machine.assumed_start,
        chosen,
        plain,
        checks,
        origins: machine.origins,
        stand_ins,
        entries,
    };
    Ok((modelled, tests))
}

/// Models every resource of a catalog, in the order of its graph.
pub(crate) fn model_all(
    machine: &mut Machine<'_>,
    decoded: &Decoded,
    graph: &Graph,
    clock: &mut Clock,
) -> Result<Parts, OutOfTime> {
    let (world, catalog) = (machine.world, &decoded.catalog);
    let mut steps = Skeleton::default();
    for id in graph.order() {
        clock.tick().map_err(|Late| steps.out_of_time(catalog.resources().len()))?;
        let (model, resource) = match graph.node(id) {
            Node::Resource(resource) => {
                machine.assumptions.current = Some(resource);
                machine.before = before(graph, catalog, id, &catalog[resource], machine);
                if catalog[resource].type_name.as_str() == "Tidy" {
                    machine.written_before = steps.written();
                }
                let model = types::model(machine, catalog, &catalog[resource]);
                let mut model = decoded.complete(machine, resource, model);
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
    machine.assume_choices();
    Ok(steps.finish(graph))
}

/// The resources that come before one whose model asks for that.
fn before(
    graph: &Graph,
    catalog: &Catalog,
    id: NodeId,
    resource: &Resource,
    machine: &Machine<'_>,
) -> FxHashSet<ResourceId> {
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    let asks = match resource.type_name.as_str() {
        "Exec" => {
            types::exec::goes_through_links(machine, resource)
                || !types::exec::scripts(machine, resource).is_empty()
                || types::exec::may_fetch(resource)
                || resource.has("user")
        }
        "User" | "Group" | "Package" => settings::are_named(machine),
        "Service" => {
            let unit = types::service::unit_of(resource, machine.world);
            settings::are_in_configuration(machine, catalog, &unit)
        }
        "Vcsrepo" | "Archive" | "Mount" => true,
        "File" => resource.has("validate_cmd"),
        "Concat_file" => true,
        _ => false,
    };
    if !asks {
        return FxHashSet::default();
    }
    let mut work = vec![id];
    while let Some(next) = work.pop() {
        work.extend(graph.incoming(next).map(|edge| edge.source).filter(|source| found.insert(*source)));
    }
    found.into_iter().filter_map(|node| graph.node(node).resource()).collect()
}

/// Steps and what is between them.
#[derive(Default)]
pub(crate) struct Skeleton {
    steps: Vec<Step>,
    resources: Vec<ResourceId>,
    places: FxHashMap<NodeId, StepId>,
    refreshable: FxHashSet<StepId>,
    chosen: Vec<StepId>,
    plain: Vec<StepId>,
    checks: BTreeMap<StepId, Test>,
}

/// The steps of a plan, what is between them, and what else is known of them.
pub(crate) struct Parts {
    pub(crate) steps: Vec<Step>,
    pub(crate) resources: Vec<ResourceId>,
    pub(crate) edges: Vec<(StepId, StepId)>,
    pub(crate) notifies: Vec<(StepId, StepId)>,
    pub(crate) chosen: Vec<StepId>,
    pub(crate) plain: Vec<StepId>,
    pub(crate) checks: BTreeMap<StepId, Test>,
}

impl Skeleton {
    /// How far it came when the time was over. The two steps of a container are one resource.
    pub(crate) fn out_of_time(&self, of: usize) -> OutOfTime {
        let modelled: FxHashSet<ResourceId> = self.resources.iter().copied().collect();
        OutOfTime { modelled: modelled.len(), of }
    }

    /// What the steps so far write.
    fn written(&self) -> FxHashSet<CellId> {
        self.steps.iter().flat_map(|step| [step.apply.written(), step.refresh.written()]).flatten().collect()
    }

    pub(crate) fn add(&mut self, node: NodeId, resource: ResourceId, name: &str, model: Model) {
        let id = StepId(self.steps.len() as u32);
        self.places.insert(node, id);
        if model.refreshable {
            self.refreshable.insert(id);
        }
        if model.is_chosen {
            self.chosen.push(id);
        }
        if model.is_plain {
            self.plain.push(id);
        }
        if let Some(checks) = model.checks {
            self.checks.insert(id, checks);
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
        let Self { steps, resources, chosen, plain, checks, .. } = self;
        Parts { steps, resources, edges, notifies, chosen, plain, checks }
    }
}

/// The managed files that each service loads: those that notify it, those that bear its name below /etc, and those of the
/// table.
pub(crate) fn loads(catalog: &Catalog, graph: &Graph, machine: &Machine<'_>) -> BTreeMap<Unit, Vec<String>> {
    let mut found: BTreeMap<Unit, BTreeSet<String>> = BTreeMap::new();
    let mut by_name: FxHashMap<String, Vec<String>> = FxHashMap::default();
    let mut written = machine.mentions.written();
    // What a command makes of a file that its package brings, too, is the package's until then: its scripts start the service.
    written.retain(|path| !(machine.mentions.is_made_by_commands(path) && machine.packages.provides(path)));
    for path in written.iter().filter(|path| path.starts_with("/etc/")) {
        // A unit is read by its name alone, and what others read is theirs.
        if configurations::is_read_by_others(path) {
            continue;
        }
        for part in path.split('/').skip(2).take(3) {
            let stem = part.split('.').next().unwrap_or(part);
            by_name.entry(stem.to_owned()).or_default().push((*path).clone());
        }
    }
    let is_file = |resource: &Resource| matches!(resource.type_name.as_str(), "File" | "Concat_file");
    for (id, resource) in catalog.iter() {
        if resource.virtual_ || resource.type_name.as_str() != "Service" {
            continue;
        }
        let name = types::service::unit_of(resource, machine.world);
        let paths = found.entry(name.clone()).or_default();
        for named in folder_names(&name).iter().filter_map(|name| by_name.get(*name)) {
            paths.extend(named.iter().filter(|path| !is_for_clients(path)).cloned());
        }
        let read = machine.mentions.unit_file(&name).reads.into_iter();
        let read = read.filter_map(|path| machine.mentions.canonical(&path, machine.world));
        paths.extend(read.filter(|path| written.contains(path)));
        let is_read = |path: &&&String| {
            name.names().any(|name| configurations::reads(name, path)) || is_unit_of(&name, path)
        };
        paths.extend(written.iter().filter(is_read).map(|path| (*path).clone()));
        for path in machine.packages.configuration_of_service(&name) {
            if written.contains(&path) && !configurations::is_read_by_others(&path) {
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
    let services = catalog.iter().filter(|(_, resource)| resource.type_name.as_str() == "Service");
    let mut nodes: BTreeMap<Unit, Vec<NodeId>> = BTreeMap::new();
    for (id, resource) in services {
        nodes.entry(types::service::unit_of(resource, machine.world)).or_default().extend(graph.begin(id));
    }
    let found = found.into_iter().map(|(name, paths)| {
        let more = paths.iter().flat_map(|path| read_besides(catalog, machine, path)).collect::<Vec<_>>();
        let mut paths: BTreeSet<String> =
            paths.into_iter().filter(|path| is_content(catalog, machine, path)).collect();
        if !more.is_empty() {
            // Who tells the service of each change cannot leave it behind.
            let telling = telling(graph, nodes.get(&name).map(Vec::as_slice).unwrap_or_default());
            let more = more.into_iter().filter(|(_, by)| !telling.contains(by));
            paths.extend(more.map(|(path, _)| path));
        }
        (name, paths.into_iter().collect())
    });
    found.collect()
}

/// The resources of which a service is told whenever they change.
fn telling(graph: &Graph, service: &[NodeId]) -> FxHashSet<ResourceId> {
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    let mut work = service.to_vec();
    while let Some(node) = work.pop() {
        let telling = graph.incoming(node).filter(|edge| edge.refreshes()).map(|edge| edge.source);
        work.extend(telling.filter(|source| found.insert(*source)));
    }
    found.into_iter().filter_map(|node| graph.node(node).resource()).collect()
}

/// Whether a path that a service reads is a file: a directory has no content to load.
fn is_content(catalog: &Catalog, machine: &Machine<'_>, path: &str) -> bool {
    machine.mentions.files.get(path).is_none_or(|id| {
        let resource = &catalog[*id];
        let shape = types::file::Shape::of(resource);
        let is_made =
            resource.type_name.as_str() == "Concat_file" && shape.ensure == types::file::Ensure::Nothing;
        is_made || matches!(shape.ensure, types::file::Ensure::File | types::file::Ensure::Present)
    })
}

/// What a service that reads a path reads besides files with a content, with the resources that decide about it: a link, and what it leads
/// to; files that are named in a content; in a folder, what is purged and what should be absent.
fn read_besides(catalog: &Catalog, machine: &Machine<'_>, path: &str) -> Vec<(String, ResourceId)> {
    let Some(&id) = machine.mentions.files.get(path) else { return Vec::new() };
    let resource = &catalog[id];
    let shape = types::file::Shape::of(resource);
    let own = |path: String| machine.mentions.files.get(&path).map(|id| (path, *id));
    // A unit that goes, or that is a link, is another service.
    let is_unit = || path.contains("/systemd/system/") && !path.contains(".d/");
    let mut found = Vec::new();
    match shape.ensure {
        types::file::Ensure::Absent if !is_unit() => found.push((path.to_owned(), id)),
        types::file::Ensure::Link if !is_unit() => {
            found.push((path.to_owned(), id));
            found.extend(machine.mentions.ways(path).into_iter().filter_map(|(_, to)| own(to)));
        }
        types::file::Ensure::Directory if shape.purge && shape.recurse.is_some() => {
            found.push((format!("{path}/{}", crate::mentions::SOME_FILE), id));
        }
        _ => {}
    }
    if let Some(content) = resource.text("content") {
        let named = crate::commands::absolute_paths(&content);
        let named = named.filter_map(|path| machine.mentions.canonical(path, machine.world));
        found.extend(named.filter(|path| names_content(catalog, machine, path)).filter_map(own));
    }
    found
}

/// Whether a resource gives a path a content that whoever names it in its configuration reads when it starts: other configuration,
/// keys and certificates. What lies elsewhere may be read at any time.
fn names_content(catalog: &Catalog, machine: &Machine<'_>, path: &str) -> bool {
    const FOLDERS: [&str; 2] = ["/etc/", "/usr/local/etc/"];
    const ENDINGS: [&str; 4] = [".pem", ".crt", ".cer", ".key"];
    let is_content = |id: &ResourceId| {
        let resource = &catalog[*id];
        resource.type_name.as_str() == "Concat_file"
            || matches!(
                types::file::Shape::of(resource).ensure,
                types::file::Ensure::File | types::file::Ensure::Present
            ) && ["content", "source"].iter().any(|name| resource.has(name))
    };
    (FOLDERS.iter().any(|folder| path.starts_with(folder))
        || ENDINGS.iter().any(|ending| path.ends_with(ending)))
        && !configurations::is_read_by_others(path)
        && machine.mentions.files.get(path).is_some_and(is_content)
}

/// The names that the folder or file of a service's configuration bears: `rundeckd` reads /etc/rundeck.
fn folder_names(service: &Unit) -> Vec<&str> {
    let mut names: Vec<&str> = service.names().collect();
    let shorter = names.clone().into_iter().filter_map(|name| {
        let short = name.strip_suffix("-server").or_else(|| name.strip_suffix('d'))?;
        (short.len() > 3).then_some(short)
    });
    names.extend(shorter);
    names
}

/// Whether a path is the unit or script of a service, or adds to its unit: what runs is what it was at the start.
fn is_unit_of(service: &Unit, path: &str) -> bool {
    let adds = |file: String| path.starts_with(&format!("/etc/systemd/system/{file}.d/"));
    service.paths().iter().any(|unit| unit == path) || service.files().any(adds)
}

/// The client's files lie in the folder that bears the name of the server.
fn is_for_clients(path: &str) -> bool {
    path.starts_with("/etc/ssh/ssh_config") || path == "/etc/ssh/ssh_known_hosts"
}
