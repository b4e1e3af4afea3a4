//! What `next_run` tells is what Puppet does: the old catalog of a pair is applied, then the new one, and the report of that run
//! is compared resource by resource: changed, failed, skipped, refreshed, and the properties.
//!
//! Puppet's answers are kept by the content of the question in `answers.json`, so that nothing has to be applied twice.
//! `cargo xtask next-run` asks Puppet about pairs that have no answer yet, and keeps what it says; `SETPOINT_NEXT_RUN_PAIRS`
//! takes more pairs or others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a pair that cannot be read fails the test"
)]

mod answers;
mod cases;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use answers::{Answers, Seen};
use pairs::Pair;
use setpoint_catalog::graph::Graph;
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, write};
use setpoint_config::Config;
use setpoint_judge::{Node, Package, Placed, ROOT_FOLDERS, ROOT_GROUPS, ROOT_USERS, Trial};
use setpoint_oracle::{MODULES, compile_manifest};
use setpoint_packages::{Collection, Family, Index, User};
use setpoint_resources::{Base, Source, Treatment, World};
use setpoint_settle::next_run::{Certainty, NextRun, NextStep, Outcome, Reported, SETTLING_RUNS, next_run};
use setpoint_source::{OsFileSystem, Sources};
use setpoint_state::Semantics;

/// The pairs that are compared from a plain machine, and those from one on which something is there already.
const PLAIN: u64 = 260;
const OTHERS: u64 = 60;
/// The first seed of those.
const FIRST_OTHER: u64 = 20_000;
const PAIRS: &str = "SETPOINT_NEXT_RUN_PAIRS";

#[test]
fn events_are_puppets() {
    let mut answers = Answers::load();
    let (mut equal, mut open, mut wrong, mut refused) = (0, 0, String::new(), 0);
    let (mut differing, mut reasons) = (0, String::new());
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in range(PLAIN) {
        let pair = pairs::pair(seed, true);
        let Some(question) = Question::of(&pair) else {
            refused += 1;
            continue;
        };
        let seen = answers.ask(&pair, || question.trial(&pair));
        if seen.error.is_some() {
            refused += 1;
            continue;
        }
        let Some(told) = question.next_run() else {
            open += 1;
            continue;
        };
        for kind in kinds_of(&seen, &question.declared()) {
            *kinds.entry(kind).or_default() += 1;
        }
        let differences = compare(&told, &seen, &question.declared());
        if !differences.is_empty() {
            differing += 1;
            let _ = writeln!(wrong, "--- pair {seed}\n{}--- becomes\n{}{differences}", pair.old, pair.new);
        } else if let Some(reason) = why_open(&told) {
            open += 1;
            let _ = writeln!(reasons, "pair {seed} is open: {reason}");
        } else {
            equal += 1;
        }
    }
    answers.store();
    let compared = equal + open + differing;
    let said = format!(
        "{reasons}{equal} of {compared} pairs equal, {open} open, {differing} wrong, {refused} refused by Puppet; {kinds:?}"
    );
    if std::env::var_os(PAIRS).is_some() {
        eprintln!("{said}");
    }
    assert!(wrong.is_empty(), "{wrong}\n{said}");
    assert!(compared >= 200 || std::env::var_os(PAIRS).is_some(), "too few pairs: {said}");
    assert!(equal * 100 >= compared * 98, "too many are open: {said}");
    for kind in ["changed", "failed", "skipped", "refreshed"] {
        let count = kinds.get(kind).copied().unwrap_or_default();
        assert!(
            count >= 20 || std::env::var_os(PAIRS).is_some(),
            "few pairs have a resource that is {kind}: {said}"
        );
    }
}

/// The first thing that is open.
fn why_open(told: &NextRun) -> Option<String> {
    told.steps.iter().find_map(|step| match &step.certainty {
        Certainty::Open { reason } => Some(format!("{}: {reason}", step.resource)),
        _ => None,
    })
}

#[test]
fn events_of_cases_are_puppets() {
    let mut answers = Answers::load();
    let mut wrong = String::new();
    for (name, pair) in cases::pairs() {
        let question = Question::of(&pair).unwrap_or_else(|| panic!("{name} has no order"));
        let seen = answers.ask(&pair, || question.trial(&pair));
        let Some(told) = question.next_run() else { panic!("{name}: no machine fits") };
        let differences = compare(&told, &seen, &question.declared());
        if !differences.is_empty() {
            let _ = writeln!(wrong, "--- {name}\n{}--- becomes\n{}{differences}", pair.old, pair.new);
        }
    }
    answers.store();
    assert!(wrong.is_empty(), "{wrong}");
}

/// What occurs in a run.
fn kinds_of(seen: &Seen, declared: &BTreeSet<String>) -> BTreeSet<&'static str> {
    let events = reported(seen, declared).into_values();
    events.flat_map(|event| [Some(event.outcome), event.refreshed.then_some("refreshed")]).flatten().collect()
}

/// What is certain happens on every machine, and what happens is possible at least.
#[test]
fn what_is_certain_holds_on_other_machines() {
    let mut answers = Answers::load();
    let (mut wrong, mut compared) = (String::new(), 0);
    for seed in range(OTHERS) {
        let pair = pairs::pair(seed + FIRST_OTHER, false);
        let Some(question) = Question::of(&pair) else { continue };
        let seen = answers.ask(&pair, || question.trial(&pair));
        // What is certain is so after a run that succeeded.
        if seen.error.is_some() || seen.failed_before {
            continue;
        }
        let Some(told) = question.next_run() else { continue };
        compared += 1;
        let differences = contradict(&told, &seen, &question.declared());
        if !differences.is_empty() {
            let _ = writeln!(
                wrong,
                "--- pair {seed}, with {:?}\n{}--- becomes\n{}{differences}",
                pair.already, pair.old, pair.new
            );
        }
    }
    answers.store();
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared >= 30 || std::env::var_os(PAIRS).is_some(), "too few pairs: {compared}");
}

#[test]
fn every_answer_belongs_to_a_pair() {
    let plain = (0..PLAIN).map(|seed| pairs::pair(seed, true));
    let others = (0..OTHERS).map(|seed| pairs::pair(seed + FIRST_OTHER, false));
    let cases = cases::pairs().map(|(_, pair)| pair);
    let pairs: Vec<Pair> = plain.chain(others).chain(cases).collect();
    assert_eq!(
        Answers::load().orphans(&pairs),
        0,
        "`cargo xtask next-run` forgets answers that nobody asks for"
    );
}

#[test]
fn every_type_of_the_table_occurs() {
    let manifests: String = (0..PLAIN).map(|seed| pairs::pair(seed, true).new).collect();
    for kind in pairs::kinds() {
        assert!(manifests.contains(&format!("\n{kind} {{")), "no pair has a {kind}");
    }
}

/// What has a model occurs in the pairs, unless Puppet cannot be asked about it.
#[test]
fn every_modelled_parameter_is_asked_about() {
    let drawn = pairs::parameters();
    let mut lacking = Vec::new();
    for (kind, rows) in setpoint_resources::tables() {
        let kind = kind.to_lowercase();
        for row in rows.iter().filter(|row| matches!(row.treatment, Treatment::Modelled | Treatment::Kept)) {
            let is_drawn = drawn.contains(&(&*kind, row.parameter));
            let is_excepted = NOT_ASKED.iter().any(|(other, parameters, _)| {
                *other == kind && (parameters.is_empty() || parameters.contains(&row.parameter))
            });
            if is_drawn == is_excepted && !lacking.contains(&(kind.clone(), row.parameter)) {
                lacking.push((kind.clone(), row.parameter));
            }
        }
    }
    assert!(lacking.is_empty(), "neither drawn nor excepted, or both: {lacking:?}");
}

/// Types and parameters that no pair has, and why. No parameter means all of them.
const NOT_ASKED: &[(&str, &[&str], &str)] = &[
    ("file", &["seluser", "selrole", "seltype", "selrange"], "the root has no SELinux"),
    ("package", &["name", "source"], "an archive of its own; the agreement of models has it"),
    ("service", &["start", "stop", "status"], "whether a command starts what systemd sees is open"),
    ("user", &["name"], "the title is the name"),
    ("user", &["password_min_age", "password_warn_days", "expiry"], "as `password_max_age`"),
    ("user", &["purge_ssh_keys"], "Puppet makes resources of the keys that it finds"),
    ("group", &["name"], "the title is the name"),
    ("concat_file", &[], "what fragments make is asked about by the agreement of models"),
    ("concat_fragment", &[], "what fragments make is asked about by the agreement of models"),
    ("tidy", &["path"], "the title is the path"),
    ("resources", &["name"], "the title is the name"),
    ("resources", &["unless_system_user", "unless_uid"], "the users of the root would go"),
    ("archive", &[], "it fetches"),
    ("vcsrepo", &[], "it fetches"),
    ("host", &["name", "target"], "one file of hosts"),
    ("mount", &["name", "target"], "one table of mounts"),
    ("cron", &["name", "target"], "one table of root"),
    ("ssh_authorized_key", &["name", "target", "drop_privileges"], "one file of root"),
    ("sshkey", &["name"], "the title is the name"),
    ("mailalias", &["name"], "the title is the name"),
    ("file_line", &["match_for_absence", "append_on_no_match"], "both bear on `match` alone"),
    ("ini_setting", &["refreshonly"], "newer than the module of the root"),
    ("ini_subsetting", &["key_val_separator"], "as for `ini_setting`"),
    ("augeas", &[], "the root has no lenses"),
    ("shellvar", &[], "the root has no such module"),
    ("schedule", &[], "the schedules of all pairs are the same"),
    ("(settings)", &[], "the root has no such modules"),
];

fn range(count: u64) -> Range<u64> {
    let text = std::env::var(PAIRS).unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once("..") {
        Some((first, end)) => number(first).unwrap_or(0)..number(end).unwrap_or(count),
        None => 0..number(&text).unwrap_or(count),
    }
}

/// A pair, compiled.
struct Question {
    old: Catalog,
    new: Catalog,
}

impl Question {
    /// None if a manifest does not compile, or has a cycle.
    fn of(pair: &Pair) -> Option<Self> {
        let (old, new) = (catalog(&pair.old)?, catalog(&pair.new)?);
        let types = types();
        let has_order =
            |catalog: &Catalog| Graph::of_a_run(catalog, &types).is_ok_and(|graph| graph.cycles().is_empty());
        (has_order(&old) && has_order(&new)).then_some(Self { old, new })
    }

    fn next_run(&self) -> Option<NextRun> {
        let types = types();
        let (old, new) =
            (Graph::of_a_run(&self.old, &types).unwrap(), Graph::of_a_run(&self.new, &types).unwrap());
        let base = Base::bare(Family::Debian, &ROOT_FOLDERS, &ROOT_USERS, &ROOT_GROUPS);
        let (index, config) = (index(), Config::default());
        let world = World {
            base: &base,
            packages: &index,
            sources: &Module,
            config: &config,
            semantics: Semantics::Puppet,
            any_start: false,
            packages_start_services: false,
        };
        let (options, sources) = (setpoint_verify::Options::default(), Sources::new());
        let question = |catalog, graph| setpoint_settle::Question {
            catalog,
            graph,
            world: &world,
            options: &options,
            sources: &sources,
            may_change: &|_| false,
            platform: None,
            repair: false,
            automatic: None,
        };
        next_run(&question(&self.old, &old), &question(&self.new, &new))
    }

    fn trial(&self, pair: &Pair) -> Trial {
        let json = |catalog: &Catalog| serde_json::from_str(&write::json(catalog)).unwrap();
        let mut start = vec![
            // Otherwise the folder goes with the last package.
            folder("/opt/kept"),
            file("/etc/systemd/system/web.service", "[Service]\nReads=/etc/web.conf\n"),
        ];
        start.extend(module().into_iter().map(|(path, node)| match node {
            Served::File(content) => file(&format!("/modules/m/files/{path}"), content),
            Served::Link(target) => link(&format!("/modules/m/files/{path}"), target),
        }));
        let mut packages = packages();
        for there in &pair.already {
            match *there {
                "/srv/d" | "/srv/k" => start.push(folder(there)),
                "foo" => packages[0].installed = true,
                "alice" => start.extend(account()),
                path => start.push(file(path, "old\n")),
            }
        }
        Trial {
            catalog: json(&self.new),
            earlier: vec![json(&self.old); SETTLING_RUNS],
            start,
            then: Vec::new(),
            packages,
            runs: 1,
        }
    }

    /// The names of the resources of the new catalog, containers aside.
    fn declared(&self) -> BTreeSet<String> {
        let real = self.new.iter().filter(|(_, one)| !matches!(one.type_name.as_str(), "Class" | "Stage"));
        real.map(|(_, one)| one.reference()).collect()
    }
}

fn file(path: &str, content: &str) -> Placed {
    let node = Node { kind: "file".to_owned(), content: Some(content.to_owned()), ..Node::default() };
    Placed { path: path.to_owned(), node }
}

fn folder(path: &str) -> Placed {
    Placed { path: path.to_owned(), node: Node { kind: "directory".to_owned(), ..Node::default() } }
}

fn link(path: &str, target: &str) -> Placed {
    let node = Node { kind: "link".to_owned(), target: Some(target.to_owned()), ..Node::default() };
    Placed { path: path.to_owned(), node }
}

/// What is at a path of the module.
enum Served {
    File(&'static str),
    Link(&'static str),
}

/// The files of the module `m`, by their paths below `files`.
fn module() -> BTreeMap<&'static str, Served> {
    BTreeMap::from([
        ("file", Served::File("served\n")),
        ("link", Served::Link("file")),
        ("linked/a", Served::File("a\n")),
        ("linked/b", Served::Link("a")),
        ("tree/a", Served::File("a\n")),
        ("tree/d/b", Served::File("b\n")),
        ("tree/d/e/c", Served::File("c\n")),
    ])
}

/// The file server of the module.
struct Module;

impl setpoint_resources::Sources for Module {
    fn get(&self, address: &str) -> Option<Source> {
        served(address.strip_prefix("puppet:///modules/m/")?)
    }
}

fn served(path: &str) -> Option<Source> {
    let files = module();
    match files.get(path) {
        Some(Served::File(content)) => return Some(Source::File((*content).into())),
        Some(Served::Link(target)) => {
            let beside = path
                .rsplit_once('/')
                .map_or_else(|| (*target).to_owned(), |(at, _)| format!("{at}/{target}"));
            return Some(Source::Link { target: (*target).to_owned(), to: served(&beside).map(Box::new) });
        }
        None => {}
    }
    let below =
        files.keys().filter_map(|other| other.strip_prefix(path)?.strip_prefix('/')?.split('/').next());
    let names: BTreeSet<&str> = below.collect();
    let children =
        names.iter().filter_map(|name| Some(((*name).to_owned(), served(&format!("{path}/{name}"))?)));
    (!names.is_empty()).then(|| Source::Directory(children.collect()))
}

/// A user `alice` beside those of the root.
fn account() -> Vec<Placed> {
    let passwd = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
                  _apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n\
                  nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n\
                  alice:x:2001:2001:before:/home/alice:/bin/sh\n";
    let group =
        "root:x:0:\ndaemon:x:1:\nadm:x:4:\nshadow:x:42:\nstaff:x:50:\nnogroup:x:65534:\nalice:x:2001:\n";
    vec![
        file("/etc/passwd", passwd),
        file("/etc/group", group),
        file("/etc/shadow", "root:*:19000:0:99999:7:::\nalice:*:19000:0:99999:7:::\n"),
    ]
}

fn packages() -> Vec<Package> {
    let plain = Package {
        name: "foo".to_owned(),
        version: "1.0".to_owned(),
        files: BTreeMap::from([
            ("/etc/foo.conf".to_owned(), "default\n".to_owned()),
            ("/opt/foo/a".to_owned(), "x\n".to_owned()),
        ]),
        conffiles: vec!["/etc/foo.conf".to_owned()],
        ..Package::default()
    };
    let dependent = Package {
        name: "bar".to_owned(),
        version: "1.0".to_owned(),
        depends: Some("foo".to_owned()),
        files: BTreeMap::from([("/opt/bar/b".to_owned(), "y\n".to_owned())]),
        scripts: BTreeMap::from([(
            "postinst".to_owned(),
            "getent passwd bar >/dev/null || useradd -r bar\n".to_owned(),
        )]),
        ..Package::default()
    };
    vec![plain, dependent]
}

fn index() -> Index {
    let mut collection = Collection::new();
    for package in packages() {
        collection.set_listed(&package.name);
        for path in package.files.keys() {
            collection.add_file(&package.name, path);
        }
        collection.set_conffiles(&package.name, package.conffiles.iter().map(String::as_str));
        if let Some(depends) = &package.depends {
            collection.add_depends(&package.name, vec![depends.as_str().into()]);
        }
    }
    collection.add_user("bar", User { name: "bar".into(), group: Some("bar".into()), home: None });
    Index::from_bytes(collection.to_bytes()).unwrap()
}

fn types() -> ModuleTypes<'static> {
    ModuleTypes::new(&OsFileSystem, vec![PathBuf::from(MODULES)])
}

fn catalog(manifest: &str) -> Option<Catalog> {
    compile_manifest(manifest, &Sources::new()).catalog
}

/// What became of a resource, as far as both sides tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Event {
    outcome: &'static str,
    refreshed: bool,
    /// None where it is not told which.
    properties: Option<BTreeSet<String>>,
}

/// What Puppet reports of each declared resource. What recursion generates is a part of the resource that generates it.
fn reported(seen: &Seen, declared: &BTreeSet<String>) -> BTreeMap<String, Event> {
    let mut found: BTreeMap<String, Event> = BTreeMap::new();
    for name in declared {
        let below =
            name.strip_suffix(']').filter(|_| name.starts_with("File[")).map(|stem| format!("{stem}/"));
        // What `tidy` removes is reported as files that it generates.
        let tidied = name.strip_prefix("Tidy[").and_then(|name| name.strip_suffix(']'));
        let is_tidied = |other: &str| {
            let path = other.strip_prefix("File[").and_then(|name| name.strip_suffix(']'));
            path.zip(tidied).is_some_and(|(path, at)| path == at || path.starts_with(&format!("{at}/")))
        };
        let parts = seen.resources().filter(|(other, _)| {
            *other == name
                || (!declared.contains(*other)
                    && (below.as_ref().is_some_and(|below| other.starts_with(below)) || is_tidied(other)))
        });
        let (mut event, mut properties) =
            (Event { outcome: "unchanged", ..Event::default() }, BTreeSet::new());
        let mut generated = false;
        for (other, status) in parts {
            event.outcome = match &status {
                one if one.skipped => "skipped",
                one if one.failed || one.failed_to_restart => "failed",
                one if one.changed && event.outcome == "unchanged" => "changed",
                _ => event.outcome,
            };
            event.refreshed |= status.refreshed || status.failed_to_restart;
            generated |= other != name;
            let done = status
                .events
                .iter()
                .filter(|(property, status, _)| status == "success" && !property.is_empty());
            properties.extend(done.map(|(property, ..)| property.clone()));
        }
        event.properties = (!generated).then_some(properties);
        found.insert(name.clone(), event);
    }
    found
}

/// What is told of a resource.
fn told(step: &NextStep) -> Event {
    let outcome = match step.outcome {
        Outcome::Unchanged => "unchanged",
        Outcome::Changed => "changed",
        Outcome::Failed { .. } => "failed",
        Outcome::Skipped { .. } | Outcome::Unscheduled => "skipped",
    };
    let mut properties = Some(BTreeSet::new());
    for effect in &step.effects {
        match (&effect.reported, &mut properties) {
            (Reported::Property(name), Some(known)) => {
                known.insert(name.clone());
            }
            (Reported::SomeProperty, known) => *known = None,
            _ => {}
        }
    }
    Event { outcome, refreshed: step.refresh.is_some(), properties }
}

/// Where both differ, one a line. What is open is no difference.
fn compare(next: &NextRun, seen: &Seen, declared: &BTreeSet<String>) -> String {
    let mut differences = String::new();
    let steps: BTreeMap<&str, &NextStep> = next.steps.iter().map(|step| (&*step.resource, step)).collect();
    let quiet = Event { outcome: "unchanged", properties: Some(BTreeSet::new()), ..Event::default() };
    // What is open may fail, and it is told what is skipped then.
    let open = next.steps.iter().filter(|step| matches!(step.certainty, Certainty::Open { .. }));
    let may_be_skipped: BTreeSet<&String> =
        open.filter_map(|step| step.may_fail.as_ref()).flatten().collect();
    for (name, event) in reported(seen, declared) {
        let step = steps.get(&*name);
        let is_open = step.is_some_and(|step| matches!(step.certainty, Certainty::Open { .. }));
        if is_open || (event.outcome == "skipped" && may_be_skipped.contains(&name)) {
            continue;
        }
        let told = step.map_or_else(|| quiet.clone(), |step| told(step));
        let same_properties = match (&told.properties, &event.properties) {
            // What fails half-way has changed some of them.
            (Some(told), Some(seen)) => event.outcome == "failed" || told == seen,
            _ => true,
        };
        if told.outcome != event.outcome || told.refreshed != event.refreshed || !same_properties {
            let _ = writeln!(differences, "  {name}: told {told:?}, Puppet {event:?}");
        }
    }
    differences
}

/// Where what is certain does not happen, and where what happens was not told as possible.
fn contradict(next: &NextRun, seen: &Seen, declared: &BTreeSet<String>) -> String {
    let mut differences = String::new();
    let steps: BTreeMap<&str, &NextStep> = next.steps.iter().map(|step| (&*step.resource, step)).collect();
    for (name, event) in reported(seen, declared) {
        match steps.get(&*name) {
            None if event.outcome != "unchanged" || event.refreshed => {
                let _ = writeln!(differences, "  {name}: told to do nothing for certain, Puppet {event:?}");
            }
            Some(step) if step.certainty == Certainty::Certain => {
                let told = told(step);
                if told.outcome != event.outcome || told.refreshed != event.refreshed {
                    let _ = writeln!(differences, "  {name}: certainly {told:?}, Puppet {event:?}");
                }
            }
            _ => {}
        }
    }
    differences
}
