//! What is compiled of an input, and for which nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use setpoint_config::{Case, CaseEntry};
use setpoint_puppet::{Definition, Entry, Manifest};
use setpoint_puppet_syntax::ast::{ClassDef, ExprKind, HostMatch, NodeDef};
use setpoint_puppet_syntax::everywhere;
use setpoint_puppet_values::{Hash, Key};
use setpoint_source::{Diagnostic, Rule, Span, normal, read_text};

use crate::entries::{self, EntryClasses};
use crate::facts::{self, Facts};
use crate::node::{self, Known, NodeData};
use crate::platforms;
use crate::project::{Kind, Project, plain_hash};
use crate::session::UsageError;
use crate::survey::Survey;

/// The platform of a node of which nothing is known.
pub(crate) const USUAL_PLATFORM: &str = "debian-12";

/// The node for which a class is entered alone.
const LONE_NODE: &str = "node.example.com";

/// Why something is compiled. It decides what a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Manifest,
    Node,
    Case,
    Example,
    /// A class that was tried because it needs no parameter: it may well not be meant to stand alone.
    Class,
}

/// One catalog to be compiled.
#[derive(Debug, Clone)]
pub struct Job {
    /// The file that it begins with.
    pub path: String,
    /// What `--case` calls it: a case, an example, a class.
    pub case: Option<String>,
    pub entry: Entry,
    /// Tried if the entry does not compile: the class after the one above it.
    pub(super) second: Option<Entry>,
    pub node: NodeData,
    pub(super) origin: Origin,
    /// The class that code of ours declares: what is said about that code is said there.
    pub(super) class_at: Option<Span>,
    /// Whether the file has other entries, too.
    among_others: bool,
}

impl Job {
    /// The node as reports name it.
    pub fn label(&self) -> String {
        self.labelled(self.node.made_up.as_deref())
    }

    /// The same, whatever the name was made up for.
    pub(crate) fn name(&self) -> String {
        self.labelled(None)
    }

    /// Whether it is a node of which no facts are known, so that a platform was assumed.
    pub(crate) fn is_assumed_node(&self) -> bool {
        self.origin == Origin::Node && !self.node.other_platforms.is_empty()
    }

    fn labelled(&self, made_up: Option<&str>) -> String {
        let on = match &self.node.platform {
            Some(platform) if [node::DEFAULT_NODE, LONE_NODE].contains(&self.node.name.as_str()) => {
                platform.clone()
            }
            Some(platform) if self.origin != Origin::Node => format!("{} on {platform}", self.node.name),
            _ => self.node.name.clone(),
        };
        let on = match made_up {
            Some(what) => format!("{on} (made up for {what})"),
            None => on,
        };
        match (&self.case, self.origin) {
            (Some(case), Origin::Case) => format!("{case} on {on}"),
            // Its file is named after a class, unless it has several.
            (Some(case), Origin::Class) if self.among_others => format!("{case} on {on}"),
            _ => on,
        }
    }
}

/// The facts of nodes that a repository itself has.
#[derive(Debug, Default)]
pub struct OwnFacts(IndexMap<String, Option<Facts>>);

/// What of an input is compiled.
#[derive(Debug, Default)]
pub struct Plan {
    pub jobs: Vec<Job>,
    /// What is left out, and why; what is wrong with files that no job begins with.
    pub diagnostics: Vec<Diagnostic>,
    /// Classes that need parameters.
    pub(super) need_parameters: Vec<(String, Span, Vec<String>)>,
    /// Whether others look at the rest of the jobs.
    pub(super) is_part: bool,
}

impl Project<'_> {
    pub fn plan(&self) -> Result<Plan, UsageError> {
        let mut plan = Plan::default();
        match &self.kind {
            Kind::Manifests(path) => self.plan_manifests(path, &mut plan)?,
            Kind::Repository { folder, manifest } => self.plan_repository(folder, manifest, &mut plan)?,
            Kind::Module { folder, name, platforms } => {
                self.plan_module(folder, name, platforms, &mut plan)?;
            }
        }
        if let Some(case) = &self.options.puppet.case {
            if !plan.jobs.iter().any(|job| job.case.as_ref() == Some(case)) {
                let known: Vec<&str> = distinct(plan.jobs.iter().filter_map(|job| job.case.as_deref()));
                let nearest = setpoint_source::nearest(case, known.iter().copied());
                let hint = match (nearest, known.is_empty()) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, true) => "the input has no cases".to_owned(),
                    (None, false) => format!("there are {}", few(&known)),
                };
                return Err(UsageError::new(format!("there is no case `{case}`: {hint}")));
            }
            plan.jobs.retain(|job| job.case.as_ref() == Some(case));
        }
        Ok(plan)
    }

    /// The one catalog that a command is about.
    pub fn only_job(&self) -> Result<Job, UsageError> {
        self.chosen().map(|(job, _)| job)
    }

    /// The same, and what was assumed about its node.
    pub fn chosen(&self) -> Result<(Job, Vec<Diagnostic>), UsageError> {
        let mut plan = self.plan()?;
        if plan.jobs.len() == 1
            && let Some(job) = plan.jobs.pop()
        {
            plan.diagnostics.retain(|found| found.rule == Rule::AssumedPlatform);
            let job = self.settled(job)?;
            plan.diagnostics.extend(platforms::tell_assumed(std::slice::from_ref(&job)));
            return Ok((job, plan.diagnostics));
        }
        let input = self.input.display();
        let cases = distinct(plan.jobs.iter().filter_map(|job| job.case.as_deref()));
        let nodes = distinct(plan.jobs.iter().map(|job| job.node.name.as_str()));
        let platforms = distinct(plan.jobs.iter().filter_map(|job| job.node.platform.as_deref()));
        Err(UsageError::new(if plan.jobs.is_empty() {
            format!("{input}: there is nothing to compile; name a node with --node")
        } else if cases.len() > 1 {
            format!("{input} has {} entry points; choose one with --case: {}", cases.len(), few(&cases))
        } else if nodes.len() > 1 {
            format!("{input} has {} nodes; choose one with --node: {}", nodes.len(), few(&nodes))
        } else {
            format!(
                "{input} is for {} platforms; choose one with --platform: {}",
                platforms.len(),
                few(&platforms)
            )
        }))
    }

    /// The job on the first platform on which its node is not refused, if somebody had to assume one.
    fn settled(&self, job: Job) -> Result<Job, UsageError> {
        let is_refused = |job: &Job| {
            let compilation = self.compile(job);
            let mut refusals = compilation.failures.iter().filter(|one| !one.kind.is_limit_of_setpoint());
            refusals.any(|one| !one.kind.is_about_texts())
        };
        if job.node.other_platforms.is_empty() || !is_refused(&job) {
            return Ok(job);
        }
        for platform in &job.node.other_platforms {
            let other = self.on_platform(&job, platform)?;
            if !is_refused(&other) {
                return Ok(other);
            }
        }
        Ok(job)
    }

    fn job(
        &self,
        path: &Path,
        entry: Entry,
        origin: Origin,
        case: Option<String>,
        known: &Known,
    ) -> Result<Job, UsageError> {
        let node = node::node(self.session, &self.options.puppet, known)?;
        Ok(Job {
            path: path.display().to_string(),
            case,
            entry,
            second: None,
            node,
            origin,
            class_at: None,
            among_others: false,
        })
    }

    fn plan_manifests(&self, path: &Path, plan: &mut Plan) -> Result<(), UsageError> {
        if !self.session.files.is_dir(path) {
            // Parsed here and kept by the environment: a file that cannot be read is a wrong call, not a failed
            // compilation.
            self.environment.manifest(path).map_err(|error| UsageError::new(error.to_string()))?;
        }
        let entry = Entry::Files(vec![path.to_owned()]);
        if let Some(list) = &self.options.puppet.nodes {
            for known in node::list(self.session, list)? {
                plan.jobs.push(self.job(path, entry.clone(), Origin::Node, None, &known)?);
            }
            return Ok(());
        }
        let mut known = Known::default();
        if self.needs_facts(path) {
            known.platform = Some(USUAL_PLATFORM.to_owned());
            let message = format!(
                "{} reads facts and none are known: those of {USUAL_PLATFORM} are used",
                path.display()
            );
            let found = Diagnostic::new(Rule::AssumedPlatform, message)
                .with_help("Name a file with --facts, or a platform with --platform.");
            plan.diagnostics.push(found);
        }
        plan.jobs.push(self.job(path, entry, Origin::Manifest, None, &known)?);
        Ok(())
    }

    /// Whether a lone manifest reads facts while neither the command line nor its comments give any.
    fn needs_facts(&self, path: &Path) -> bool {
        let given = &self.options.puppet;
        if given.platform.is_some() || !given.facts.is_empty() || !self.session.files.is_file(path) {
            return false;
        }
        let Ok(manifest) = self.environment.manifest(path) else { return false };
        if self.session.sources.file(manifest.file).text().contains("@FACT") {
            return false;
        }
        let mut reads = false;
        everywhere(&manifest.program.body, &mut |expr| {
            reads |=
                matches!(&expr.kind, ExprKind::Variable(name) if name.trim_start_matches("::") == "facts");
        });
        reads
    }

    // --- control repositories

    /// Files with facts of nodes that the repository itself has.
    pub fn own_facts(&self) -> Result<OwnFacts, UsageError> {
        match &self.kind {
            Kind::Repository { folder, .. } => Ok(OwnFacts(self.fact_files(folder)?)),
            _ => Ok(OwnFacts::default()),
        }
    }

    /// The catalog of one node, with the facts of a file, else with those that the repository has; nothing if there are none
    /// to compile with. The environment is that in which a server compiled the node.
    pub fn job_of_node(
        &self,
        name: &str,
        file: Option<&Path>,
        own: &OwnFacts,
        environment: &str,
    ) -> Result<Option<Job>, UsageError> {
        let entry = match &self.kind {
            Kind::Manifests(path) => Entry::Files(vec![path.clone()]),
            Kind::Repository { manifest, .. } => self.entry_of(manifest),
            Kind::Module { .. } => {
                let input = self.input.display();
                return Err(UsageError::new(format!("{input} is a module: it has no nodes to compile")));
            }
        };
        let given = &self.options.puppet;
        let read = match file {
            Some(file) => Some(facts::read(self.session, file)?),
            None => own.0.get(name).cloned().flatten(),
        };
        if read.is_none() && given.facts.is_empty() && given.platform.is_none() {
            return Ok(None);
        }
        let known = Known { name: Some(name.to_owned()), read, ..Known::default() };
        let mut job = self.job(&self.input, entry, Origin::Node, None, &known)?;
        // PuppetDB keeps the trusted facts among the others.
        if let Some(trusted) = job.node.facts.shift_remove(&Key::from("trusted"))
            && job.node.trusted.is_none()
        {
            job.node.trusted = trusted.as_hash().map(|trusted| node::trusted_facts(name, trusted));
        }
        job.node.environment.get_or_insert_with(|| environment.to_owned());
        Ok(Some(job))
    }

    /// Without manifests, a classifier says everything.
    pub(super) fn entry_of(&self, manifest: &Path) -> Entry {
        if self.session.files.is_file(manifest) || self.session.files.is_dir(manifest) {
            Entry::Files(vec![manifest.to_owned()])
        } else {
            Entry::Code { name: "manifest".to_owned(), text: String::new() }
        }
    }

    fn plan_repository(&self, folder: &Path, manifest: &Path, plan: &mut Plan) -> Result<(), UsageError> {
        let entry = self.entry_of(manifest);
        let given = &self.options.puppet;
        if given.case.is_some() || (given.node.is_none() && given.nodes.is_none()) {
            self.plan_cases(&[], plan)?;
        }
        let mut files = self.fact_files(folder)?;
        let mut nodes = self.nodes_of(folder, manifest, &mut files, plan)?;
        let platforms = self.platforms(&[]);
        let is_file = |path: &PathBuf| !self.session.files.is_dir(path);
        let has_facts = given.platform.is_some() || given.facts.iter().any(is_file);
        let needs_facts = |known: &Known| !has_facts && known.read.is_none() && known.platform.is_none();
        if nodes.iter().any(needs_facts) {
            self.take_facts_of_roles((folder, manifest), &files, &mut nodes, needs_facts, plan);
        }
        for known in nodes.iter_mut().filter(|known| needs_facts(known)) {
            self.assume_platform(&platforms, folder, known);
        }
        for known in &nodes {
            plan.jobs.push(self.job(&self.input, entry.clone(), Origin::Node, None, known)?);
        }
        Ok(())
    }

    /// Adds the nodes that only another version of the repository names, if a node statement of this one fits their name: a server
    /// compiles them, too. A default fits every name, also that of a machine that is no more, and does not count.
    pub(super) fn take_nodes(&self, plan: &mut Plan, other: &Plan) {
        let Kind::Repository { manifest, .. } = &self.kind else { return };
        let is_named = |job: &&Job| job.origin == Origin::Node && job.node.made_up.is_none();
        let known: BTreeSet<String> =
            plan.jobs.iter().filter(is_named).map(|job| job.node.name.to_lowercase()).collect();
        let is_lone = |job: &&Job| is_named(job) && !known.contains(&job.node.name.to_lowercase());
        let (names, patterns, _) = self.node_statements(manifest);
        let names: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let fits = |name: &str| {
            names.contains(name)
                || patterns.iter().any(|(pattern, _)| entries::fits_expression(pattern, name))
        };
        let taken: Vec<Job> = other
            .jobs
            .iter()
            .filter(is_lone)
            .filter(|job| fits(&job.node.name.to_lowercase()))
            .map(|job| Job {
                path: self.input.display().to_string(),
                entry: self.entry_of(manifest),
                ..job.clone()
            })
            .collect();
        // A name that stands for an expression gives way to one that somebody wrote.
        plan.jobs.retain(|job| {
            let is_stand_in = |pattern: &str| {
                taken.iter().any(|one| entries::fits_expression(pattern.trim_matches('/'), &one.node.name))
            };
            !job.node.made_up.as_deref().is_some_and(is_stand_in)
        });
        plan.jobs.extend(taken);
    }

    /// Gives a node the platform that the configuration names, else the likeliest, which may turn out to be another.
    fn assume_platform(&self, configured: &[String], folder: &Path, known: &mut Known) {
        if let Some(platform) = configured.first() {
            known.platform = Some(platform.clone());
            return;
        }
        let likely = self.likely_platforms(folder);
        let (first, others) = likely.split_first().unwrap_or((&USUAL_PLATFORM, &[]));
        known.platform = Some((*first).to_owned());
        known.other_platforms = others.to_vec();
    }

    /// Gives nodes without facts those of a node of the same role, the first by name.
    fn take_facts_of_roles(
        &self,
        (folder, manifest): (&Path, &Path),
        others: &IndexMap<String, Option<Facts>>,
        nodes: &mut [Known],
        needs_facts: impl Fn(&Known) -> bool,
        plan: &mut Plan,
    ) {
        let data = entries::nodes_of_data(self, folder);
        let statements = self.node_definitions(manifest);
        let role_of = |name: &str| {
            let mut roles = statement_of(name, &statements)
                .map(|node| entries::roles_in(self.session.sources.file(node.file).slice(node.range)))
                .unwrap_or_default();
            let host = name.split('.').next().unwrap_or(name);
            for path in [name, host].iter().filter_map(|name| data.get(*name)).flatten() {
                roles.extend(entries::roles_in(&read_text(self.session.files, path).unwrap_or_default()));
            }
            roles
        };
        let of_nodes = nodes.iter().filter_map(|node| Some((node.name.as_ref()?, node.read.as_ref()?)));
        let of_others = others.iter().filter_map(|(name, facts)| Some((name, facts.as_ref()?)));
        let named: BTreeMap<&String, &Facts> = of_nodes.chain(of_others).collect();
        let mut known: BTreeMap<BTreeSet<String>, (String, Facts)> = BTreeMap::new();
        for (name, facts) in named {
            known.entry(role_of(name)).or_insert_with(|| (name.clone(), facts.clone()));
        }
        known.remove(&BTreeSet::new());
        let mut taken: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in nodes.iter_mut().filter(|node| needs_facts(node)) {
            let Some(name) = node.name.as_deref() else { continue };
            if let Some((donor, facts)) = known.get(&role_of(name)) {
                node.read = Some(facts.renamed(name));
                node.donor = Some(donor.clone());
                taken.entry(donor).or_default().push(name);
            }
        }
        for (donor, names) in taken {
            let message = format!("No facts are known of {}: those of {donor} are used", few(&names));
            let found = Diagnostic::new(Rule::AssumedPlatform, message)
                .with_note("They have the same role.")
                .with_help("Put the output of `puppet facts` into facts/NODE.json.");
            plan.diagnostics.push(found);
        }
    }

    /// The nodes of a repository: the one that is asked for, a list, or all that files and node statements name.
    fn nodes_of(
        &self,
        folder: &Path,
        manifest: &Path,
        files: &mut IndexMap<String, Option<Facts>>,
        plan: &mut Plan,
    ) -> Result<Vec<Known>, UsageError> {
        let given = &self.options.puppet;
        let with_file = |files: &mut IndexMap<String, Option<Facts>>, mut known: Known| {
            if let (Some(name), None) = (&known.name, &known.platform) {
                known.read = files.get_mut(name).and_then(Option::take);
            }
            known
        };
        let named = |name: &str| Known { name: Some(name.to_owned()), ..Known::default() };
        if let Some(name) = &given.node {
            return Ok(vec![with_file(files, named(name))]);
        }
        if let Some(list) = &given.nodes {
            let listed = node::list(self.session, list)?;
            return Ok(listed.into_iter().map(|known| with_file(files, known)).collect());
        }
        let (statements, patterns, default) = self.node_statements(manifest);
        let configured = self.config.puppet.nodes.iter().map(|name| name.value.clone());
        // Puppet takes the name of a node statement in lower case; certificates have no other.
        let statements = statements.into_iter().map(|name| name.to_lowercase());
        let names: IndexSet<String> = configured.chain(statements).collect();
        let mut nodes: Vec<Known> = names.iter().map(|name| with_file(files, named(name))).collect();
        for (name, facts) in std::mem::take(files) {
            if facts.is_some() {
                nodes.push(Known { name: Some(name), read: facts, ..Known::default() });
            }
        }
        let is_host = |known: &Known, name: &str| {
            known.name.as_deref().is_some_and(|known| known == name || known.split('.').next() == Some(name))
        };
        // A host without a domain is no certificate's name: where node statements fit none of that name, none is compiled.
        let fits_statement = |name: &str| {
            default || patterns.iter().any(|(pattern, _)| entries::fits_expression(pattern, name))
        };
        let has_statements = !names.is_empty() || !patterns.is_empty();
        for name in entries::nodes_of_data(self, folder).into_keys() {
            if nodes.iter().any(|known| is_host(known, &name)) {
                continue;
            }
            if has_statements && !name.contains('.') && !fits_statement(&name) {
                let message = format!("No node statement fits the host {name}, which has data of its own");
                let help = "Name the node with --node, in --nodes FILE, or as `nodes` in setpoint.toml.";
                plan.diagnostics.push(Diagnostic::new(Rule::NotEntered, message).with_help(help));
                continue;
            }
            nodes.push(named(&name));
        }
        for (pattern, span) in &patterns {
            let fits = |name: &str| entries::fits_expression(pattern, name);
            if nodes.iter().filter_map(|known| known.name.as_deref()).any(fits) {
                continue;
            }
            if let Some(name) = entries::name_for(pattern) {
                nodes.push(Known {
                    name: Some(name),
                    made_up: Some(format!("/{pattern}/")),
                    ..Known::default()
                });
                continue;
            }
            let message = format!("No node is known whose name fits /{pattern}/, so none is compiled for it");
            let found = Diagnostic::new(Rule::NotEntered, message).at(*span);
            plan.diagnostics.push(
                found.with_help("Name one with --node, in --nodes FILE, or as `nodes` in setpoint.toml."),
            );
        }
        // A repository that names no node has one for all.
        if nodes.is_empty() && plan.jobs.is_empty() && (default || patterns.is_empty()) {
            nodes.push(Known::default());
        }
        Ok(nodes)
    }

    /// Adds nodes for the data that is read only if a variable has a value which nothing gives it here: one for each file that names
    /// classes of the user's own which neither a node nor another such file leads to. Returns how many there are.
    pub(crate) fn plan_data(
        &self,
        survey: &Survey,
        entered: &BTreeSet<String>,
        plan: &mut Plan,
    ) -> Result<usize, UsageError> {
        let Kind::Repository { folder, manifest } = &self.kind else { return Ok(0) };
        let (names, patterns, default) = self.node_statements(manifest);
        if !default && (!names.is_empty() || !patterns.is_empty()) {
            return Ok(0);
        }
        let entry = self.entry_of(manifest);
        let platforms = self.platforms(&[]);
        let before = plan.jobs.len();
        let mut seen = entered.clone();
        for of_data in entries::open_data(self, folder) {
            let text = read_text(self.session.files, &of_data.file).unwrap_or_default();
            let mut named: BTreeSet<String> =
                entries::names_in(&text).filter(|name| survey.classes.contains_key(name)).collect();
            named.extend(entries::roles_called(&of_data.values, survey));
            if named.is_subset(&seen) {
                continue;
            }
            seen.extend(named);
            let mut known = of_data.known;
            self.assume_platform(&platforms, folder, &mut known);
            plan.jobs.push(self.job(&self.input, entry.clone(), Origin::Node, None, &known)?);
        }
        Ok(plan.jobs.len() - before)
    }

    /// Adds classes of the user's own that were not entered. Returns how many there are.
    pub(crate) fn plan_classes(
        &self,
        survey: &Survey,
        entered: &BTreeSet<String>,
        which: EntryClasses,
        plan: &mut Plan,
    ) -> Result<usize, UsageError> {
        let Kind::Repository { folder, .. } = &self.kind else { return Ok(0) };
        let mut known = Known { name: Some(LONE_NODE.to_owned()), ..Known::default() };
        self.assume_platform(&self.platforms(&[]), folder, &mut known);
        let before = plan.jobs.len();
        let mut first = None;
        let mut names = Vec::new();
        for name in entries::entry_classes(self, survey, which) {
            let Some(class) = survey.classes.get(&name).filter(|_| !entered.contains(&name)) else {
                continue;
            };
            let path = self.session.sources.file(class.file).path().to_owned();
            // Puppet finds a class by its name only in a module, and there only in a file that is called after it.
            let manifest = self.environment.manifest(Path::new(&path));
            let is_misplaced =
                manifest.is_ok_and(|manifest| !self.environment.misplaced_code(&manifest).is_empty());
            if is_misplaced || self.environment.module_of(Path::new(&path)).is_none() {
                continue;
            }
            let mut job =
                self.job(Path::new(&path), include(&name), Origin::Class, Some(name.clone()), &known)?;
            job.among_others = true;
            job.class_at = Some(class.range.in_file(class.file));
            first.get_or_insert(class.range.in_file(class.file));
            plan.jobs.push(job);
            names.push(name);
        }
        if first.is_some() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message =
                format!("No catalog of a node has these classes, so they are entered alone: {}", few(&names));
            let mut found = Diagnostic::new(Rule::NotEntered, message).with_help(
                "Name the nodes with `nodes` in setpoint.toml, or the classes with `roles`: docs/configuration.md shows how.",
            );
            found.span = first;
            plan.diagnostics.push(found);
        }
        Ok(plan.jobs.len() - before)
    }

    /// The names, the expressions and whether there is a default, in the order of the text.
    fn node_statements(&self, manifest: &Path) -> (IndexSet<String>, Vec<(String, Span)>, bool) {
        let (mut names, mut patterns, mut default) = (IndexSet::new(), Vec::new(), false);
        for node in self.node_definitions(manifest) {
            for host in &node.matches {
                match host {
                    HostMatch::Name(name) => {
                        names.insert(name.to_string());
                    }
                    HostMatch::Regex(source) => {
                        patterns.push((source.to_string(), node.range.in_file(node.file)));
                    }
                    HostMatch::Default => default = true,
                }
            }
        }
        (names, patterns, default)
    }

    /// The node statements of a manifest, or of all below a folder.
    fn node_definitions(&self, manifest: &Path) -> Vec<Arc<NodeDef>> {
        let paths = if self.session.files.is_dir(manifest) {
            self.environment.manifests_under(manifest)
        } else {
            vec![manifest.to_owned()]
        };
        let manifests = paths.iter().filter_map(|path| self.environment.manifest(path).ok());
        let nodes_of = |manifest: Arc<Manifest>| -> Vec<Arc<NodeDef>> {
            let nodes = manifest.definitions.iter().filter_map(|definition| match definition {
                Definition::Node(node) => Some(Arc::clone(node)),
                _ => None,
            });
            nodes.collect()
        };
        manifests.flat_map(nodes_of).collect()
    }

    /// Files with facts, one a node: those that the configuration names, else those in `facts`.
    fn fact_files(&self, folder: &Path) -> Result<IndexMap<String, Option<Facts>>, UsageError> {
        let given = &self.options.puppet.facts;
        // A folder that `--facts` names has one file a node.
        let paths: Vec<PathBuf> = if !given.is_empty() {
            given.iter().flat_map(|path| self.data_files(path)).collect()
        } else if self.config.puppet.facts.is_empty() {
            self.data_files(&folder.join("facts"))
        } else {
            let globs = self.config.puppet.facts.iter();
            globs
                .flat_map(|glob| {
                    setpoint_hiera::glob(&self.config.resolve(glob).to_string_lossy(), self.session.files)
                })
                .collect()
        };
        let read = paths.iter().map(|path| {
            let facts = facts::read(self.session, path)?;
            Ok((facts.node.clone().unwrap_or_else(|| stem(path)), Some(facts)))
        });
        read.collect()
    }

    fn data_files(&self, folder: &Path) -> Vec<PathBuf> {
        let names = self.session.files.list(folder).into_iter().map(|name| folder.join(name));
        let is_data = |path: &PathBuf| {
            path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json")
        };
        names.filter(is_data).collect()
    }

    // --- modules

    /// What to compile for: the command line, the configuration, the module itself.
    fn platforms(&self, supported: &[&'static str]) -> Vec<String> {
        if let Some(platform) = &self.options.puppet.platform {
            return vec![platform.clone()];
        }
        let configured = self.config.puppet.platforms.iter();
        let configured: Vec<String> =
            configured.filter(|name| is_platform(name)).map(|name| name.value.clone()).collect();
        if configured.is_empty() {
            supported.iter().map(|name| (*name).to_owned()).collect()
        } else {
            configured
        }
    }

    /// The nodes that an entry of a module is compiled for.
    fn machines(&self, supported: &[&'static str]) -> Result<Vec<Known>, UsageError> {
        if let Some(list) = &self.options.puppet.nodes {
            return node::list(self.session, list);
        }
        if !self.options.puppet.facts.is_empty() {
            return Ok(vec![Known::default()]);
        }
        let mut platforms = self.platforms(supported);
        if platforms.is_empty() {
            platforms.push(USUAL_PLATFORM.to_owned());
        }
        let known = |platform| Known { platform: Some(platform), ..Known::default() };
        Ok(platforms.into_iter().map(known).collect())
    }

    fn plan_cases(&self, supported: &[&'static str], plan: &mut Plan) -> Result<(), UsageError> {
        // What such a setting should say was told where it was read.
        let is_usable = |case: &&Case| {
            let is_there = match &case.entry {
                CaseEntry::Manifest(path) => self.session.files.is_file(&self.config.resolve(path)),
                CaseEntry::Code(_) | CaseEntry::Class(_) => true,
            };
            is_there && case.platform.as_ref().is_none_or(|name| is_platform(name))
        };
        for case in self.config.cases.iter().filter(is_usable) {
            let mut machines = match &case.platform {
                Some(platform) => vec![Known { platform: Some(platform.value.clone()), ..Known::default() }],
                None => self.machines(supported)?,
            };
            for known in &mut machines {
                if let Some(node) = &case.node {
                    known.name = Some(node.value.clone());
                }
                known.facts = plain_hash(&case.facts);
                known.trusted = plain_hash(&case.trusted);
                let (entry, class) = match &case.entry {
                    CaseEntry::Code(code) => {
                        let name = format!("case {}", case.name.value);
                        (Entry::Code { name, text: code.value.clone() }, None)
                    }
                    CaseEntry::Manifest(path) => (Entry::Files(vec![self.config.resolve(path)]), None),
                    CaseEntry::Class(class) if case.parameters.is_empty() => (include(class), None),
                    CaseEntry::Class(class) => {
                        let name = format!("case {}", case.name.value);
                        let parameters: Hash = plain_hash(&case.parameters);
                        (Entry::Code { name, text: String::new() }, Some((class.value.clone(), parameters)))
                    }
                };
                let name = Some(case.name.value.clone());
                let mut job = self.job(&self.config.path, entry, Origin::Case, name, known)?;
                job.node.classes.extend(class);
                plan.jobs.push(job);
            }
        }
        Ok(())
    }

    fn plan_module(
        &self,
        folder: &Path,
        name: &str,
        supported: &[&'static str],
        plan: &mut Plan,
    ) -> Result<(), UsageError> {
        self.plan_cases(supported, plan)?;
        let machines: Vec<NodeData> = self
            .machines(supported)?
            .iter()
            .map(|known| node::node(self.session, &self.options.puppet, known))
            .collect::<Result<_, _>>()?;
        let mut add = |path: &Path,
                       origin: Origin,
                       case: String,
                       entry: &Entry,
                       second: Option<Entry>,
                       class_at: Option<Span>,
                       among_others| {
            plan.jobs.extend(machines.iter().map(|node| Job {
                path: path.display().to_string(),
                case: Some(case.clone()),
                entry: entry.clone(),
                second: second.clone(),
                node: node.clone(),
                origin,
                class_at,
                among_others,
            }));
        };
        for example in self.environment.manifests_under(&folder.join("examples")) {
            let case = example.strip_prefix(folder).unwrap_or(&example).display().to_string();
            add(&example, Origin::Example, case, &Entry::Files(vec![example.clone()]), None, None, false);
        }
        let mut classes: Vec<(PathBuf, Arc<ClassDef>, bool)> = Vec::new();
        for path in self.environment.manifests_under(&folder.join("manifests")) {
            // A file that cannot be read costs its own classes; the survey of the module tells it.
            let Ok(manifest) = self.environment.manifest(&path) else { continue };
            if !manifest.is_sound() {
                plan.diagnostics.extend(manifest.diagnostics.iter().cloned());
                continue;
            }
            let defined = manifest.definitions.iter().filter_map(|definition| match definition {
                Definition::Class(class) => Some(class),
                _ => None,
            });
            let among_others = defined.clone().count() > 1;
            // Puppet would not find a class of another name here.
            let prefix = format!("{name}::");
            let own = defined.filter(|class| class.name.as_str() == name || class.name.starts_with(&prefix));
            classes.extend(own.map(|class| (path.clone(), Arc::clone(class), among_others)));
        }
        // Data of the module may give what a class needs.
        let has_data = self.session.files.has_file(&folder.join("hiera.yaml"));
        let required = |class: &ClassDef| -> Vec<String> {
            let required = class.parameters.iter().filter(|parameter| parameter.default.is_none());
            required.map(|parameter| parameter.name.to_string()).collect()
        };
        let is_free = |class: &ClassDef| has_data || required(class).is_empty();
        let free: BTreeSet<&str> = classes
            .iter()
            .filter(|(_, class, _)| is_free(class))
            .map(|(_, class, _)| class.name.as_str())
            .collect();
        for (path, class, among_others) in &classes {
            let class_name = class.name.as_str();
            if !is_free(class) {
                let span = class.range.in_file(class.file);
                plan.need_parameters.push((class_name.to_owned(), span, required(class)));
                continue;
            }
            let second = above(class_name).find(|above| free.contains(above)).map(|above| Entry::Code {
                name: format!("include {class_name}"),
                text: format!("include {above}\ninclude {class_name}\n"),
            });
            let class_at = Some(class.range.in_file(class.file));
            let include = include(class_name);
            add(path, Origin::Class, class_name.to_owned(), &include, second, class_at, *among_others);
        }
        Ok(())
    }
}

/// `a::b` and `a` are above `a::b::c`.
fn above(class: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(class.rsplit_once("::"), |(above, _)| above.rsplit_once("::"))
        .map(|(above, _)| above)
}

/// The statement that is for a node: by its name, by an expression, or the default.
fn statement_of<'n>(name: &str, statements: &'n [Arc<NodeDef>]) -> Option<&'n Arc<NodeDef>> {
    let by = |fits: &dyn Fn(&HostMatch) -> bool| statements.iter().find(|node| node.matches.iter().any(fits));
    by(&|host| matches!(host, HostMatch::Name(known) if **known == *name))
        .or_else(|| {
            by(&|host| matches!(host, HostMatch::Regex(source) if entries::fits_expression(source, name)))
        })
        .or_else(|| by(&|host| matches!(host, HostMatch::Default)))
}

fn is_platform(name: &str) -> bool {
    setpoint_platforms::find(name).is_ok()
}

fn include(class: &str) -> Entry {
    Entry::Code { name: format!("include {class}"), text: format!("include {class}\n") }
}

fn stem(path: &Path) -> String {
    normal(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: IndexSet<&str> = IndexSet::new();
    seen.extend(names);
    seen.into_iter().collect()
}

/// The first names, and how many more there are.
pub(super) fn few(names: &[&str]) -> String {
    setpoint_source::few(names, 10)
}
