//! What a change of the source does on every node: which still work, which catalogs and files change, which findings come and go.

mod contents;
mod findings;
mod fixes;
mod node;
mod pins;
mod unseen;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use setpoint_diff::{About, Comparison, FixStory, NodeStory, Presence, Root, Side, SourceChanges};
use setpoint_silence::{Baseline, comments_without_reason};
use setpoint_source::{Diagnostic, FileSystem, Rule, Severity, read_text};

use crate::entries::EntryClasses;
use crate::jobs::{Job, Origin, Plan, USUAL_PLATFORM};
use crate::options::Options;
use crate::project::Project;
use crate::run::{run_in_order, threads};
use crate::session::{Session, UsageError};
use crate::settle::Surroundings;
use crate::survey::{Survey, survey};

use contents::FileServer;
use findings::Ledger;
use node::{NodeOutcome, Proofs};
use unseen::Unseen;

/// The version that a newer one is compared with.
#[derive(Debug)]
pub struct Older<'a> {
    pub files: &'a dyn FileSystem,
    pub path: PathBuf,
    /// Folders that both versions read from one place, because git does not keep them.
    pub shared: Vec<PathBuf>,
    /// More folders of modules of this version, separated by `:`.
    pub modulepath: Option<String>,
    /// What else is known to differ and cannot be compared, each a sentence without its full stop.
    pub not_compared: Vec<String>,
}

impl<'a> Older<'a> {
    /// A version of which all is there.
    pub fn new(files: &'a dyn FileSystem, path: impl Into<PathBuf>) -> Self {
        Self { files, path: path.into(), shared: Vec::new(), modulepath: None, not_compared: Vec::new() }
    }
}

/// One of the two versions, opened.
struct Opened<'s> {
    side: Side,
    session: &'s Session<'s>,
    project: Project<'s>,
    survey: Survey,
    root: Root,
    server: FileServer<'s>,
    proofs: Proofs,
    /// The findings that are known in this version.
    baseline: Baseline,
}

impl<'s> Opened<'s> {
    fn open(
        side: Side,
        session: &'s Session<'_>,
        path: &Path,
        named: &Path,
        options: &'s Options,
    ) -> Result<Self, UsageError> {
        let project = Project::open(session, path, options)?;
        let survey = survey(&project);
        let root = root(session.files, path, named);
        let baseline = baseline(session.files, &root)?;
        Ok(Self {
            side,
            session,
            survey,
            root,
            baseline,
            server: FileServer::new(session.files),
            proofs: Proofs::default(),
            project,
        })
    }

    fn surroundings<'o>(
        &'o self,
        options: &Options,
        threads: usize,
        jobs: usize,
    ) -> Result<Surroundings<'o>, UsageError> {
        let modulepath = self.project.environment.modulepath();
        let surroundings = Surroundings::new(self.session, modulepath, &self.project.config, options)?;
        Ok(surroundings.with_threads(threads, jobs))
    }

    /// The text of a file, or a line that tells one content from another; nothing if it is not there.
    fn text(&self, name: &str, is_inside: bool) -> String {
        contents::readable_text(self.session.files, Path::new(&self.root.path_of(name, is_inside)))
    }
}

/// A catalog that needs longer is compared without its proofs: there may be many, and each is asked twice.
const MAX_SECONDS_A_CATALOG: u64 = 10;

/// A node of the old version, of the new one, or of both.
type Pair<'p> = (Option<&'p Job>, Option<&'p Job>);

/// Compiles and judges every node in both versions, and compares. The compilations of a node are dropped before its thread takes
/// the next one; the result does not depend on the number of threads.
pub fn diff(
    session: &Session<'_>,
    older: &Older<'_>,
    new: &Path,
    options: &Options,
    about: About,
) -> Result<Comparison, UsageError> {
    let mut old_options = options.clone();
    if let Some(more) = &older.modulepath {
        let given = old_options.puppet.modulepath.take().into_iter();
        old_options.puppet.modulepath = Some(given.chain([more.clone()]).collect::<Vec<_>>().join(":"));
    }
    let mut limited = options.clone();
    limited.timeout = options.timeout.map(|seconds| seconds.min(MAX_SECONDS_A_CATALOG));
    let options = &limited;
    old_options.timeout = limited.timeout;
    let mut before = session.beside(older.files);
    before.jobs = session.jobs;
    before.deadline = session.deadline;
    let old_side = Opened::open(Side::Old, &before, &older.path, new, &old_options)?;
    let new_side = Opened::open(Side::New, session, new, new, options)?;
    let texts =
        |name: &str, is_inside: bool| (old_side.text(name, is_inside), new_side.text(name, is_inside));
    let changes = SourceChanges::new(&texts);
    let unseen = Unseen::find(&old_side, &new_side);
    let mut work = Work {
        unseen: &unseen,
        old: &old_side,
        new: &new_side,
        changes: &changes,
        old_options: &old_options,
        options,
        comparison: Comparison { about, ..Comparison::default() },
        ledger: Ledger::default(),
        used: BTreeSet::new(),
    };
    work.comparison.not_compared.clone_from(&older.not_compared);
    work.comparison.not_compared.extend(pins::not_compared(&old_side.project, &new_side.project, older));
    work.comparison.not_compared.extend(unseen.not_compared.iter().cloned());
    let (mut old_plan, mut new_plan) = (old_side.project.plan()?, new_side.project.plan()?);
    old_side.project.take_nodes(&mut old_plan, &new_plan);
    new_side.project.take_nodes(&mut new_plan, &old_plan);
    old_side.project.take_platforms(&mut old_plan, &new_plan)?;
    old_side.project.take_usual_platform(&mut old_plan, &new_plan)?;
    new_side.project.take_usual_platform(&mut new_plan, &old_plan)?;
    let are_empty = work.compare(&old_plan.jobs, &new_plan.jobs)?;
    if are_empty && options.puppet.node.is_none() {
        let known = (old_plan.jobs.len(), new_plan.jobs.len());
        for (side, plan) in [(&old_side, &mut old_plan), (&new_side, &mut new_plan)] {
            // Roles, else classes that nothing names.
            let nothing = BTreeSet::new();
            if side.project.plan_classes(&side.survey, &nothing, EntryClasses::Roles, plan)? == 0 {
                side.project.plan_classes(&side.survey, &nothing, EntryClasses::Unnamed, plan)?;
            }
        }
        work.compare(&old_plan.jobs[known.0..], &new_plan.jobs[known.1..])?;
    }
    work.conclude(&old_plan, &new_plan)
}

/// A comparison under way.
struct Work<'w, 's> {
    old: &'w Opened<'s>,
    new: &'w Opened<'s>,
    changes: &'w SourceChanges<'w>,
    unseen: &'w Unseen,
    old_options: &'w Options,
    options: &'w Options,
    comparison: Comparison,
    ledger: Ledger,
    /// Which of the edited files some node uses.
    used: BTreeSet<usize>,
}

impl Work<'_, '_> {
    /// Compares jobs of the two versions. Returns whether no catalog of either has a resource.
    fn compare(&mut self, old_jobs: &[Job], new_jobs: &[Job]) -> Result<bool, UsageError> {
        let pairs = paired(old_jobs, new_jobs);
        let session = self.new.session;
        let threads = threads(session.jobs);
        let old_surroundings = self.old.surroundings(self.old_options, threads, pairs.len())?;
        let new_surroundings = self.new.surroundings(self.options, threads, pairs.len())?;
        session.progress.expect(pairs.len());
        let (old, new, changes, unseen) = (self.old, self.new, self.changes, self.unseen);
        let mut uncollected: BTreeMap<String, usize> = BTreeMap::new();
        let asks_next_run = self.comparison.about.next_run.is_some();
        let compare = |&pair: &Pair<'_>| {
            let shown = pair.1.or(pair.0).map(Job::label).unwrap_or_default();
            session.progress.begin(&shown);
            let sides = ((old, &old_surroundings), (new, &new_surroundings));
            node::compare(pair, sides, changes, unseen, asks_next_run)
        };
        let (comparison, ledger, used) = (&mut self.comparison, &mut self.ledger, &mut self.used);
        let is_platform_given = self.options.puppet.platform.is_some();
        let mut are_empty = true;
        let mut taken = pairs.iter();
        run_in_order(&pairs, threads, compare, |outcome: NodeOutcome| {
            let Some(&pair) = taken.next() else { return };
            are_empty &= outcome.is_empty;
            for collector in outcome.uncollected {
                *uncollected.entry(collector).or_default() += 1;
            }
            comparison.unproved += usize::from(outcome.is_cut);
            comparison.differences.merge(outcome.differences);
            used.extend(outcome.used);
            let name = pair.1.or(pair.0).map(Job::name).unwrap_or_default();
            ledger.add(&name, outcome.old_findings, outcome.new_findings);
            if let Some(run) = outcome.next_run {
                comparison.add_next_run(&name, run);
            }
            let of_others = |job: &Job| {
                let platform = job.node.platform.clone().filter(|_| !is_platform_given);
                platform.or_else(|| job.node.donor.clone())
            };
            let assumed = pair.1.and_then(of_others);
            comparison.about.nodes_with_facts += usize::from(pair.1.is_some() && assumed.is_none());
            comparison.nodes.push(NodeStory {
                name,
                fate: outcome.fate,
                presence: match pair {
                    (None, _) => Presence::Added,
                    (_, None) => Presence::Removed,
                    _ => Presence::Both,
                },
                assumed_facts: assumed,
                made_up_for: pair.1.or(pair.0).and_then(made_up_for),
            });
        });
        self.comparison.not_compared.extend(uncollected.into_iter().map(|(collector, count)| {
            let nodes = if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") };
            format!("what {collector} collects from other nodes on {nodes} was not compared")
        }));
        Ok(are_empty && !pairs.is_empty())
    }

    /// Adds what is wrong with the versions themselves, and what no node entered; then tells the findings.
    fn conclude(mut self, old_plan: &Plan, new_plan: &Plan) -> Result<Comparison, UsageError> {
        self.comparison.about.puppet = self.new.project.puppet_version();
        let unread: BTreeSet<String> = [self.old, self.new]
            .iter()
            .flat_map(|opened| opened.session.files.unreadable())
            .map(|error| format!("`{}` was not compared: {}", error.path.display(), error.reason))
            .collect();
        self.comparison.not_compared.extend(unread);
        let of_version = |opened: &Opened<'_>, plan: &Plan| -> Vec<findings::Found> {
            let project = &opened.project;
            let all = project.diagnostics.iter().chain(&plan.diagnostics);
            let all = all.chain(&opened.survey.findings).chain(&opened.survey.broken_metadata);
            let comments = comments_without_reason(&opened.session.sources);
            all.chain(&comments)
                .filter_map(|finding| findings::Found::new(opened, finding.clone(), None))
                .collect()
        };
        let (old, new) = (of_version(self.old, old_plan), of_version(self.new, new_plan));
        self.ledger.add("", old, new);
        let edited = self.unseen.edited.iter().enumerate();
        let unused = edited.filter(|(at, _)| !self.used.contains(at));
        self.comparison.unused = unused.map(|(_, name)| name.clone()).collect();
        self.comparison.uses_nothing_edited = self.used.is_empty() && !self.unseen.edited.is_empty();
        let left_out =
            |found: &&Diagnostic| found.rule == Rule::NotEntered && found.severity <= Severity::Warning;
        self.comparison.not_looked_at =
            new_plan.diagnostics.iter().filter(left_out).map(|found| found.message.clone()).collect();
        self.comparison.silenced = self.ledger.silenced();
        let (brought, gone) = self.ledger.into_stories();
        let told = |found: findings::Told, opened: &Opened<'_>| {
            findings::story(&found, opened, self.changes, &self.comparison.differences.secrets)
        };
        let fixes = fixes::checked(&brought, self.new, self.options, self.changes, new_plan)?;
        let mut new_stories = Vec::new();
        for (found, fix) in brought.into_iter().zip(fixes) {
            let mut story = told(found, self.new);
            let is_edited = story.frames.iter().flat_map(|frame| &frame.lines).any(|line| line.is_new);
            if story.severity == Severity::Error && !is_edited {
                story.details.extend(self.unseen.edited_code());
            }
            let secrets = &self.comparison.differences.secrets;
            story.fix = fix.map(|fix| FixStory {
                lines: fix.lines.iter().map(|line| secrets.code(line)).collect(),
                ..fix
            });
            new_stories.push(story);
        }
        let gone: Vec<_> = gone.into_iter().map(|found| told(found, self.old)).collect();
        new_stories.sort_by_key(|story| std::cmp::Reverse(story.severity));
        self.comparison.new_findings = new_stories;
        self.comparison.gone_findings = gone;
        Ok(self.comparison)
    }
}

/// The jobs of both versions by what they are, in the order of the new one; those that only the old one has come last.
fn paired<'p>(old_jobs: &'p [Job], new_jobs: &'p [Job]) -> Vec<Pair<'p>> {
    let mut old: BTreeMap<JobKey, &Job> = old_jobs.iter().map(|job| (key_of(job), job)).collect();
    let mut pairs: Vec<Pair<'p>> = new_jobs.iter().map(|job| (old.remove(&key_of(job)), Some(job))).collect();
    let is_left = |job: &&Job| old.contains_key(&key_of(job));
    pairs.extend(old_jobs.iter().filter(is_left).map(|job| (Some(job), None)));
    pairs
}

impl Project<'_> {
    /// Gives a lone manifest that reads no facts the platform that the other version needs: a fact is no other node.
    fn take_usual_platform(&self, plan: &mut Plan, other: &Plan) -> Result<(), UsageError> {
        if let ([job], [twin]) = (plan.jobs.as_mut_slice(), other.jobs.as_slice())
            && [&*job, twin].iter().all(|job| job.origin == Origin::Manifest)
            && job.node.facts.is_empty()
            && twin.node.platform.as_deref() == Some(USUAL_PLATFORM)
        {
            *job = self.on_platform(job, USUAL_PLATFORM)?;
        }
        Ok(())
    }

    /// Gives nodes of which no facts are known the platforms that the other version assumes for them.
    fn take_platforms(&self, plan: &mut Plan, other: &Plan) -> Result<(), UsageError> {
        let assumed = |job: &&Job| !job.node.other_platforms.is_empty();
        let others: BTreeMap<JobKey, &Job> =
            other.jobs.iter().filter(assumed).map(|job| (key_of(job), job)).collect();
        for job in plan.jobs.iter_mut().filter(|job| assumed(&&**job)) {
            let twin = others.get(&key_of(job)).and_then(|twin| twin.node.platform.as_deref());
            let wanted = job.node.other_platforms.iter().find(|platform| Some(**platform) == twin);
            if let Some(platform) = wanted.copied() {
                *job = self.on_platform(job, platform)?;
            }
        }
        Ok(())
    }
}

/// What a node was made up for, as JSON has it: an expression without its slashes.
fn made_up_for(job: &Job) -> Option<String> {
    let what = job.node.made_up.as_deref()?;
    let expression = what.strip_prefix('/').and_then(|what| what.strip_suffix('/'));
    Some(expression.unwrap_or(what).to_owned())
}

/// A case and a label: entries of a module share labels, nodes have no case.
type JobKey = (Option<String>, String);

fn key_of(job: &Job) -> JobKey {
    // Puppet takes the names of nodes without their case.
    (job.case.clone(), job.label().to_lowercase())
}

/// The baseline of a version, which lies in the folder that is compared.
fn baseline(files: &dyn FileSystem, root: &Root) -> Result<Baseline, UsageError> {
    let path = root.path_of(unseen::BASELINE, true);
    let empty = Baseline::empty(&root.path);
    if root.file.is_some() {
        return Ok(empty);
    }
    match read_text(files, Path::new(&path)) {
        Ok(text) => Baseline::read(&text, &root.path)
            .map_err(|error| UsageError::new(format!("cannot read {path}: {error}"))),
        Err(_) => Ok(empty),
    }
}

/// What is compared, in one version. A file by itself is called as the new one is.
fn root(files: &dyn FileSystem, path: &Path, new: &Path) -> Root {
    let shown = |path: &Path| path.display().to_string();
    let file = (!files.is_dir(path)).then(|| shown(new));
    let path = if file.is_none() && path == Path::new(".") { String::new() } else { shown(path) };
    Root { path, file }
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_source::MemoryFileSystem;

    fn versions() -> (MemoryFileSystem, MemoryFileSystem) {
        let (mut old, mut new) = (MemoryFileSystem::new(), MemoryFileSystem::new());
        let site = |nodes: &[&str]| {
            let node = |name: &&str| format!("node '{name}' {{ include of_{name} }}\n");
            nodes.iter().map(node).collect::<String>()
        };
        old.add("repo/manifests/site.pp", site(&["a", "b", "c", "d", "gone"]));
        new.add("repo/manifests/site.pp", site(&["new", "d", "c", "b", "a"]));
        for name in ["a", "b", "c", "d", "gone", "new"] {
            let class = |text: &str| format!("class of_{name} {{ notify {{ 'n': message => '{text}' }} }}\n");
            old.add(format!("repo/modules/of_{name}/manifests/init.pp"), class("before"));
            let text = if name == "b" { "before" } else { "after" };
            new.add(format!("repo/modules/of_{name}/manifests/init.pp"), class(text));
        }
        old.add("repo/environment.conf", "");
        new.add("repo/environment.conf", "");
        (old, new)
    }

    #[test]
    fn threads_do_not_change_the_result_and_lone_nodes_are_named() {
        let (old, new) = versions();
        let printed = |jobs| {
            let mut session = Session::new(&new);
            session.jobs = Some(jobs);
            let older = Older::new(&old, "repo");
            let options = Options::default();
            let compared = diff(&session, &older, Path::new("repo"), &options, About::default());
            compared.map(|compared| setpoint_diff::text(&compared)).map_err(|error| error.0)
        };
        let alone = printed(1);
        assert_eq!(alone, printed(4));
        let text = alone.unwrap_or_default();
        assert!(text.contains("    1  new  new\n    1  removed  gone\n"), "{text}");
        assert!(text.contains("modules/of_d/manifests/init.pp:1"), "{text}");
        assert!(text.ends_with("3 of 5 nodes change, 1 new node, 1 removed node, 1 new warning\n"), "{text}");
    }
}
