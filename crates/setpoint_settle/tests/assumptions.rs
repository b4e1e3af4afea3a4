//! Each assumption of a model makes the answers conditional: unknown, with what is assumed, where, and what holds if it holds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Arc;

use setpoint_catalog::graph::{Graph, ShippedTypes};
use setpoint_catalog::{Catalog, Resource};
use setpoint_config::Config;
use setpoint_packages::{Collection, Family, Index};
use setpoint_puppet_values::{Data, Value};
use setpoint_resources::{Base, Source, Sources as Servers, World};
use setpoint_settle::{Settled, settle};
use setpoint_source::{Gap, Question, Sources, Symbol, conditional};
use setpoint_state::Semantics;
use setpoint_verify::Options;

/// One readable file, one that cannot be read, and a folder with both.
struct Served;

impl Servers for Served {
    fn get(&self, address: &str) -> Option<Source> {
        let file = || Source::File("a".into());
        match address {
            "puppet:///modules/m/a" => Some(file()),
            "puppet:///modules/m/unreadable" => Some(Source::Unread),
            "puppet:///modules/m/d" => {
                Some(Source::Directory(vec![("a".into(), file()), ("b".into(), Source::Unread)]))
            }
            _ => None,
        }
    }
}

type Given<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn settled_in(given: &[Given<'_>], semantics: Semantics, index: &Index) -> Settled {
    let mut catalog = Catalog::new("node1", "production");
    for (type_name, title, parameters) in given {
        let mut resource = Resource::new(Symbol::new(type_name), *title);
        for (name, text) in *parameters {
            let value = match *text {
                "true" => Value::from(true),
                text if text.contains('|') => {
                    let parts: Vec<Value> = text.split('|').map(Value::from).collect();
                    Value::new(Data::Array(Arc::new(parts)))
                }
                text => Value::from(text),
            };
            resource.parameters.set(Symbol::new(name), value, None);
        }
        catalog.add(resource).unwrap();
    }
    let graph = Graph::of_a_run(&catalog, &ShippedTypes).ok().unwrap();
    let paper = semantics == Semantics::Paper;
    let world = World {
        base: &Base::new(Family::Debian),
        packages: index,
        sources: &Served,
        config: &Config::default(),
        semantics,
        any_start: paper,
        packages_start_services: !paper,
    };
    settle(&setpoint_settle::Question {
        catalog: &catalog,
        graph: &graph,
        world: &world,
        options: &Options { semantics, any_start: paper, ..Options::default() },
        sources: &Sources::new(),
        may_change: &|_| false,
        platform: Some("debian-12"),
        repair: false,
        automatic: None,
    })
}

fn settled(given: &[Given<'_>]) -> Settled {
    settled_in(given, Semantics::Puppet, &Index::empty())
}

/// A file that has nothing to do with what is assumed, so that there is more than one order.
const OTHER: Given<'static> = ("File", "/etc/motd", &[("content", "hello")]);

/// What order is said to hold under, if that is all that keeps it from being proved.
fn assumed(settled: &Settled) -> Vec<String> {
    let order = settled.verdict.get(Question::Order).unwrap();
    let assumed = conditional(order).unwrap_or_else(|| panic!("{order:?}"));
    assumed.into_iter().map(|reason| reason.words.clone()).collect()
}

#[track_caller]
fn assumes(given: Given<'_>, words: &str) {
    let settled = settled(&[given, OTHER]);
    let found = assumed(&settled);
    assert!(found.iter().any(|one| one == words), "{found:?}");
    assert!(count_named(&settled) >= 1);
    assert_eq!((settled.resources.found, settled.resources.reached), (2, 1), "{found:?}");
    let proved = settled.verdict.iter().filter(|(_, answer)| answer.is_proved()).count();
    assert_eq!(proved, 0, "{:?}", settled.verdict.json());
}

/// What is assumed of the start is chosen by the start: where every choice gives the same answer, it is proved.
#[track_caller]
fn is_proved_whatever_the_start(given: Given<'_>) {
    let settled = settled(&[given, OTHER]);
    for question in [Question::Order, Question::Idempotent, Question::Quiet] {
        let answer = settled.verdict.get(question).unwrap();
        assert!(answer.is_proved(), "{question:?}: {answer:?}");
    }
}

/// How many assumptions the answers name.
fn count_named(settled: &Settled) -> usize {
    settled.verdict.reasons().iter().filter(|(reason, _)| reason.gap == Gap::Assumed).count()
}

#[test]
fn packages() {
    // It may bring /etc/motd, in one order or the other; but it does so once.
    let foo = settled(&[("Package", "foo", &[]), OTHER]);
    assert_eq!(assumed(&foo), ["the package foo installs only files named after it"]);
    assert!(foo.verdict.get(Question::Idempotent).unwrap().is_proved());
    let apart = settled(&[("Package", "foo", &[]), ("Group", "shop", &[("ensure", "present")])]);
    // Who makes the group first makes no difference.
    assert!(apart.verdict.get(Question::Order).unwrap().is_proved(), "{:?}", apart.verdict);
    assumes(
        ("Package", "rake", &[("provider", "gem")]),
        "the gem package rake installs nothing that other resources touch",
    );
    let mut listed = Collection::new();
    listed.add_file("foo", "/usr/bin/foo");
    listed.set_listed("foo");
    let index = Index::from_bytes(listed.to_bytes()).unwrap();
    let known = settled_in(&[("Package", "foo", &[]), OTHER], Semantics::Puppet, &index);
    assert!(known.verdict.get(Question::Order).unwrap().is_proved(), "{:?}", known.verdict);
    assert_eq!((known.resources.reached, count_named(&known)), (2, 0));
}

#[test]
fn paths() {
    is_proved_whatever_the_start(("File", "/srv/app/a", &[("content", "a")]));
    let extract = "/bin/tar xzf /opt/a.tgz -C /usr/local";
    is_proved_whatever_the_start(("Exec", extract, &[("creates", "/usr/local/a")]));
    // Every machine of the platform has crontab.
    let cron = settled(&[("Cron", "a", &[("command", "/bin/true")]), OTHER]);
    assert!(cron.verdict.get(Question::Order).unwrap().is_proved());
    assert_eq!(count_named(&cron), 0);
}

#[test]
fn accounts_and_services() {
    is_proved_whatever_the_start(("File", "/etc/a", &[("content", "a"), ("owner", "shop")]));
    is_proved_whatever_the_start(("File", "/etc/a", &[("content", "a"), ("group", "shop")]));
    is_proved_whatever_the_start(("Service", "foo", &[("ensure", "running")]));
    let stopped = settled(&[("Service", "foo", &[("ensure", "stopped")]), OTHER]);
    assert!(stopped.verdict.get(Question::Order).unwrap().is_proved());
    assumes(("Resources", "user", &[("purge", "true")]), "no resource depends on a user that is purged");
}

#[test]
fn sources() {
    let unread = |address: &str| format!("{address}, which was not read, holds nothing that matters");
    for address in ["puppet:///modules/m/unreadable", "puppet:///modules/m/none", "https://example.com/a"] {
        assumes(("File", "/etc/a", &[("source", address)]), &unread(address));
    }
    let folder = [("ensure", "directory"), ("recurse", "true"), ("source", "puppet:///modules/m/d")];
    assumes(("File", "/etc/d", &folder), &unread("puppet:///modules/m/d/b"));
    let both = [("source", "puppet:///modules/m/none|puppet:///modules/m/a")];
    assumes(("File", "/etc/a", &both), "nothing is at puppet:///modules/m/none");
    let read = settled(&[("File", "/etc/a", &[("source", "puppet:///modules/m/a")]), OTHER]);
    assert!(read.verdict.get(Question::Order).unwrap().is_proved());
    let checked = [("content", "a"), ("validate_cmd", "/usr/bin/check %")];
    assumes(("File", "/etc/a", &checked), "the validate_cmd of /etc/a accepts its content");
}

#[test]
fn commands_and_types() {
    // What it reads and writes is followed.
    let update = settled(&[("Exec", "/usr/bin/apt-get update", &[("refreshonly", "true")]), OTHER]);
    assert!(update.verdict.get(Question::Order).unwrap().is_proved());
    let list = ("File", "/etc/apt/sources.list.d/a.list", &[("content", "deb x\n")] as &[_]);
    let listed = settled(&[("Exec", "/usr/bin/apt-get update", &[]), list]);
    assert!(listed.verdict.get(Question::Order).unwrap().is_refuted());
    let guarded = settled(&[("Exec", "/bin/touch /etc/a", &[("unless", "/opt/is-done")]), OTHER]);
    assert_eq!(
        assumed(&guarded),
        ["the checks of Exec[/bin/touch /etc/a] read only what they name"],
        "the rest of the order is proved"
    );
    let foreign = settled(&[("Frobnicate", "a", &[]), OTHER]);
    assert_eq!(assumed(&foreign), ["Frobnicate resources touch only what their parameters name"]);
    let twice = foreign.verdict.get(Question::Idempotent).unwrap();
    assert!(conditional(twice).is_some(), "{twice:?}");
    // What a command may touch is everything: nothing is conditional.
    let unknown = settled(&[("Exec", "/opt/frobnicate", &[]), OTHER]);
    let order = unknown.verdict.get(Question::Order).unwrap();
    assert!(order.reasons().iter().any(|reason| reason.gap == Gap::NotModelled), "{order:?}");
    assert_eq!((unknown.resources.found, unknown.resources.reached), (2, 1));
}

#[test]
fn one_order_alone_rests_on_nothing() {
    let alone = settled(&[("Package", "foo", &[])]);
    assert!(alone.verdict.get(Question::Order).unwrap().is_proved());
    let gem = settled(&[("Package", "rake", &[("provider", "gem")])]);
    assert!(gem.verdict.get(Question::Order).unwrap().is_proved());
    assert!(gem.verdict.get(Question::Quiet).unwrap().is_unknown());
}

#[test]
fn nothing_is_proved_of_nothing() {
    let empty = settled(&[]);
    for (_, answer) in empty.verdict.iter() {
        assert_eq!(answer.reasons()[0].gap, Gap::NothingEntered);
    }
    let message = settled(&[("Notify", "hello", &[])]);
    assert!(message.verdict.get(Question::Order).unwrap().is_proved());
}

#[test]
fn the_paper_has_its_own_assumptions() {
    let paper = settled_in(&[("Package", "foo", &[]), OTHER], Semantics::Paper, &Index::empty());
    assert!(paper.verdict.get(Question::Order).unwrap().is_proved());
    assert_eq!(count_named(&paper), 0);
    let words: Vec<&str> =
        paper.verdict.standing().into_iter().map(setpoint_source::Standing::sentence).collect();
    assert!(words.contains(&"resources and packages do what the models and the index of the paper say"));
}

/// Two secrets that differ are not one: their order matters.
#[test]
fn secrets_are_compared_and_not_shown() {
    let setting = |title: &'static str, value: &'static str| {
        let mut resource = Resource::new(Symbol::new("Ini_setting"), title);
        for (name, text) in [("path", "/etc/a.ini"), ("section", "s"), ("setting", "k"), ("value", value)] {
            resource.parameters.set(Symbol::new(name), Value::from(text), None);
        }
        resource.sensitive.push(Symbol::new("value"));
        resource
    };
    let mut catalog = Catalog::new("node1", "production");
    catalog.add(setting("one", "hunter2")).unwrap();
    catalog.add(setting("two", "hunter3")).unwrap();
    let graph = Graph::of_a_run(&catalog, &ShippedTypes).ok().unwrap();
    let world = World {
        base: &Base::new(Family::Debian),
        packages: &Index::empty(),
        sources: &Served,
        config: &Config::default(),
        semantics: Semantics::Puppet,
        any_start: false,
        packages_start_services: true,
    };
    let settled = settle(&setpoint_settle::Question {
        catalog: &catalog,
        graph: &graph,
        world: &world,
        options: &Options::default(),
        sources: &Sources::new(),
        may_change: &|_| false,
        platform: Some("debian-12"),
        repair: false,
        automatic: None,
    });
    assert!(settled.verdict.get(Question::Order).unwrap().is_refuted());
    assert!(!format!("{:?}", settled.findings).contains("hunter"));
}
