//! A manifest as the program and the libraries see it, and as Puppet applies it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;
use setpoint_catalog::Catalog;
use setpoint_catalog::graph::Graph;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_config::Config;
use setpoint_judge::{Judge, Node, Run, Trial};
use setpoint_packages::{Family, Index, Platform};
use setpoint_resources::{Base, Modelled, NoSources, World, plan};
use setpoint_source::OsFileSystem;
use setpoint_state::{Cell, CellKind, Runner, Semantics, State, StepId, Value};
use setpoint_testing::Random;
use setpoint_verify::{Options, Verdicts, verify};

use crate::compare;
use crate::notation::Start;
use crate::observe::Eyes;
use crate::stage::{Stage, stands_for_others};

/// Where things are.
pub(crate) struct Places {
    pub(crate) corpus: PathBuf,
    pub(crate) facts: PathBuf,
    /// What the packages of the paper install.
    pub(crate) index: PathBuf,
    /// For manifests that were repaired.
    pub(crate) scratch: PathBuf,
}

impl Places {
    pub(crate) fn modulepath(&self) -> String {
        format!("{}:{}", self.corpus.join("modules").display(), crate::MODULES)
    }

    /// The program, asked about a manifest.
    pub(crate) fn ask(&self, command: &str, manifest: &Path, more: &[&str]) -> Result<Output, String> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_setpoint"));
        program.arg(command).arg(manifest).args(more).args(["--puppet", "7", "--node", "node1.example.com"]);
        program.arg("--facts").arg(&self.facts).args(["--modulepath", &self.modulepath()]);
        if command != "compile" {
            program.arg("--packages").arg(&self.index);
        }
        program.output().map_err(|error| error.to_string())
    }

    /// The verdict that the program prints.
    pub(crate) fn verdict(&self, manifest: &Path) -> Result<Json, String> {
        let done = self.ask("check", manifest, &["--format", "json"])?;
        let report: Json = serde_json::from_slice(&done.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&done.stderr)))?;
        let input = &report["inputs"][0];
        let mut verdict = input["verdict"].clone();
        // What is proved under assumptions is compared with Puppet where they hold.
        for (question, word) in input["conditional"].as_object().into_iter().flatten() {
            verdict[question] = word.clone();
        }
        Ok(verdict)
    }
}

/// A catalog with its plan.
pub(crate) struct Subject {
    pub(crate) catalog: Json,
    resources: Catalog,
    pub(crate) modelled: Modelled,
    /// Resources that Puppet cannot apply here.
    pub(crate) left_out: Vec<String>,
    packages: Index,
    base: Base,
    served: Vec<String>,
}

/// What Puppet did, beside what was foretold of it.
pub(crate) struct Seen {
    pub(crate) runs: Vec<Run>,
    /// The start as it was on the machine.
    pub(crate) start: State,
    pub(crate) problems: String,
}

impl Subject {
    pub(crate) fn new(places: &Places, manifest: &Path) -> Result<Self, String> {
        let done = places.ask("compile", manifest, &[])?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        let compiled: Json = serde_json::from_slice(&done.stdout).map_err(|error| error.to_string())?;
        let left_out = foreign(&compiled);
        let catalog = without(&compiled, &left_out);
        let read = setpoint_catalog::read::json(&catalog.to_string()).map_err(|error| error.to_string())?;
        let folders = places.modulepath().split(':').map(PathBuf::from).collect();
        let graph = Graph::new(&read, &ModuleTypes::new(&OsFileSystem, folders))
            .map_err(|error| error.to_string())?;
        let platform = Platform::parse("debian-12").ok_or("the platform is not known")?;
        let given = Index::open(&OsFileSystem, &places.index).map_err(|error| error.to_string())?;
        let packages = given.over(&Index::builtin(platform));
        let base = Base::new(Family::Debian);
        let world = World {
            base: &base,
            packages: &packages,
            sources: &NoSources,
            config: &Config::default(),
            semantics: Semantics::Puppet,
            any_start: false,
            packages_start_services: true,
        };
        let modelled = plan(&read, &graph, &world);
        let served = served(&catalog);
        Ok(Self { catalog, resources: read, modelled, left_out, packages, base, served })
    }

    pub(crate) fn verdicts(&self) -> Verdicts {
        verify(&self.modelled.plan, &Options::default())
    }

    pub(crate) fn runner(&self) -> Runner<'_> {
        Runner::new(&self.modelled.plan, Semantics::Puppet)
    }

    /// The plainest start.
    pub(crate) fn plain(&self) -> Result<State, String> {
        setpoint_verify::plain_start(&self.modelled.plan, &Options::default())
            .ok_or_else(|| "no start is admissible".to_owned())
    }

    pub(crate) fn staged(&self, state: &State) -> Start {
        let Self { modelled, packages, base, served, .. } = self;
        Stage { modelled, packages, base, served }.start(state)
    }

    /// An order that relationships permit, drawn by a seed.
    pub(crate) fn drawn(&self, seed: u64) -> Vec<StepId> {
        let mut order: Vec<StepId> = (0..self.modelled.plan.steps.len() as u32).map(StepId).collect();
        let mut random = Random::new(seed);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        let order = self.containers_first(&order);
        self.runner().run(&State::empty(&self.modelled.plan.space), &order).order
    }

    /// Containers have their turn as soon as they can.
    pub(crate) fn containers_first(&self, order: &[StepId]) -> Vec<StepId> {
        let passes = |step: &&StepId| self.modelled.plan.steps[step.0 as usize].passes_on;
        let (mut first, rest): (Vec<StepId>, Vec<StepId>) = order.iter().partition(passes);
        first.extend(rest);
        first
    }

    /// The catalog with its resources in this order, so that Puppet applies them so.
    fn permuted(&self, order: &[StepId]) -> Json {
        let place = |resource: &Json| {
            let name = reference(resource);
            order.iter().position(|step| {
                let step = &self.modelled.plan.steps[step.0 as usize];
                !step.passes_on && *step.name == *name
            })
        };
        let mut catalog = self.catalog.clone();
        if let Some(resources) = catalog["resources"].as_array_mut() {
            resources.sort_by_cached_key(|resource| place(resource).map_or(0, |place| place + 1));
        }
        catalog
    }

    /// The first half of the catalog, as a run that was interrupted would have applied it.
    pub(crate) fn half(&self, order: &[StepId]) -> Json {
        let catalog = self.permuted(order);
        let names = catalog["resources"].as_array().into_iter().flatten().map(reference);
        let steps = &self.modelled.plan.steps;
        let native: Vec<String> =
            names.filter(|name| steps.iter().any(|step| !step.passes_on && *step.name == **name)).collect();
        without(&catalog, &native[native.len().div_ceil(2)..])
    }

    /// Puppet applies the catalog in an order, and all that was foretold is compared.
    pub(crate) fn apply(
        &self,
        judge: &mut Judge,
        start: &Start,
        earlier: Option<Json>,
        order: &[StepId],
        runs: usize,
    ) -> Result<Seen, String> {
        let order = self.containers_first(order);
        let outcome = judge.apply(&Trial {
            catalog: self.permuted(&order),
            earlier: earlier.into_iter().collect(),
            start: start.nodes.clone(),
            then: start.then.clone(),
            packages: start.packages.clone(),
            runs,
        })?;
        let eyes = Eyes::new(&self.modelled, start);
        let begun = eyes.state(&outcome.before);
        let mut state = begun.clone();
        let mut problems = String::new();
        let unseen = compare::unseen(&self.modelled);
        for (at, run) in outcome.runs.iter().enumerate() {
            if let Some(error) = &run.error {
                return Err(format!("Puppet does not apply the catalog: {error}"));
            }
            let foretold = self.runner().run(&state, &order);
            compare::statuses(
                &self.resources,
                &self.modelled,
                &foretold.statuses,
                run,
                at + 1,
                &mut problems,
            );
            compare::cells(
                &self.resources,
                &self.modelled,
                &eyes,
                &foretold.end,
                &run.after,
                &unseen,
                at + 1,
                &mut problems,
            );
            if !problems.is_empty() {
                for line in run.logs.iter().filter(|line| line.starts_with("err")) {
                    problems += &format!("  Puppet says: {line}\n");
                }
                break;
            }
            state = foretold.end;
        }
        Ok(Seen { runs: outcome.runs, start: begun, problems })
    }

    /// Where the machine is not as it was wanted, among what can be put there.
    pub(crate) fn unlike(&self, wanted: &State, seen: &State) -> Vec<String> {
        let same = |want: &Value, have: &Value| match want {
            Value::Fresh(kind, _) => have.kind() == *kind,
            _ => want == have,
        };
        let put = |cell: &Cell| match cell.key.kind {
            CellKind::Path => !stands_for_others(&cell.key.name),
            CellKind::Package | CellKind::User => cell.key.detail.is_none(),
            CellKind::Running | CellKind::Enabled | CellKind::Loaded => true,
            _ => false,
        };
        self.modelled
            .plan
            .space
            .iter()
            .filter(|(id, cell)| put(cell) && !same(wanted.get(*id), seen.get(*id)))
            .map(|(id, cell)| {
                format!("{}: wanted {:?}, there is {:?}", cell.key, wanted.get(id), seen.get(id))
            })
            .collect()
    }
}

/// The catalog without some of its resources.
fn without(catalog: &Json, dropped: &[String]) -> Json {
    let kept = |name: &Json| name.as_str().is_none_or(|name| !dropped.iter().any(|other| other == name));
    let mut catalog = catalog.clone();
    if let Some(resources) = catalog["resources"].as_array_mut() {
        resources.retain(|resource| kept(&Json::String(reference(resource))));
        for resource in resources {
            for relation in ["require", "before", "notify", "subscribe"] {
                match resource.get_mut("parameters").and_then(|all| all.get_mut(relation)) {
                    Some(Json::Array(names)) => names.retain(kept),
                    Some(name) if !kept(name) => *name = Json::Array(Vec::new()),
                    _ => {}
                }
            }
        }
    }
    if let Some(edges) = catalog["edges"].as_array_mut() {
        edges.retain(|edge| kept(&edge["source"]) && kept(&edge["target"]));
    }
    catalog
}

/// What Puppet cannot apply here: packages of another system, fetched from the network.
fn foreign(catalog: &Json) -> Vec<String> {
    let resources = catalog["resources"].as_array().into_iter().flatten();
    resources.filter(|resource| resource["parameters"]["provider"] == "rpm").map(reference).collect()
}

fn reference(resource: &Json) -> String {
    let text = |key: &str| resource[key].as_str().unwrap_or_default();
    format!("{}[{}]", text("type"), text("title"))
}

/// The files that the catalog wants of a server.
fn served(catalog: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for resource in catalog["resources"].as_array().into_iter().flatten() {
        let source = &resource["parameters"]["source"];
        let all = source.as_array().cloned().unwrap_or_else(|| vec![source.clone()]);
        let addresses = all.iter().filter_map(|one| one.as_str()?.strip_prefix("puppet:///"));
        found.extend(addresses.map(str::to_owned));
    }
    found
}

/// Where users, services and the rest keep their books; what is in them is seen through cells.
const BOOKS: [&str; 8] = [
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
    "/etc/gshadow",
    "/var/mail",
    "/var/spool/mail",
    "/root/.puppetlabs",
    "/etc/systemd/system/multi-user.target.wants",
];

/// What is at a path. Files that Puppet writes entry by entry say when they were written, and their lines may stand in any order.
fn plain(node: Option<&Node>) -> Option<Node> {
    let mut node = node?.clone();
    if let Some(content) = node.content.as_mut().filter(|content| content.starts_with("# HEADER")) {
        let mut lines: Vec<&str> = content.lines().filter(|line| !line.starts_with("# HEADER")).collect();
        lines.sort_unstable();
        *content = lines.join("\n");
    }
    Some(node)
}

/// In what two runs end differently: what failed or was skipped, packages, and what is at each path.
pub(crate) fn differences(one: &Run, two: &Run) -> Vec<String> {
    let mut found = Vec::new();
    for (name, status) in &one.resources {
        let other = two.resources.get(name);
        if other.is_none_or(|other| (other.failed, other.skipped) != (status.failed, status.skipped)) {
            found.push(name.clone());
        }
    }
    if one.after.packages != two.after.packages {
        found.push("packages".to_owned());
    }
    let is_book = |path: &str| {
        BOOKS
            .iter()
            .any(|book| path.strip_prefix(book).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let paths =
        one.after.tree.keys().chain(two.after.tree.keys().filter(|path| !one.after.tree.contains_key(*path)));
    // What dpkg lays beside a file that it keeps is no state of the catalog.
    for path in paths.filter(|path| !is_book(path) && !path.ends_with(".dpkg-dist")) {
        if plain(one.after.tree.get(path)) != plain(two.after.tree.get(path)) {
            found.push(path.clone());
        }
    }
    found
}
