//! A parameter that is said to be modelled changes the plan: nobody can forget to read one.

use std::collections::BTreeSet;

use setpoint_catalog::graph::{Graph, ShippedTypes};
use setpoint_catalog::{Catalog, Resource};
use setpoint_config::Config;
use setpoint_packages::{Collection, Family, Index};
use setpoint_puppet_values::Value;
use setpoint_resources::{Base, NoSources, Row, Treatment, Values, World, plan, tables};
use setpoint_source::Symbol;
use setpoint_state::Semantics;

type Parameters = &'static [(&'static str, &'static str)];

/// What a resource has besides, so that the parameter matters; the first that shows a difference is enough.
fn surroundings(type_name: &str) -> &'static [Parameters] {
    match type_name {
        "File" => &[
            &[("ensure", "file"), ("content", "x")],
            &[("ensure", "directory"), ("recurse", "true"), ("purge", "true")],
            &[("ensure", "directory"), ("recurse", "true"), ("source", "/srv/s")],
            &[("ensure", "link"), ("target", "/srv/t")],
            &[("ensure", "absent")],
            &[("ensure", "directory")],
            &[],
        ],
        "Exec" => &[
            &[("command", "/usr/bin/touch /srv/a")],
            &[("command", "tool /srv/a"), ("environment", "x=/srv/e")],
            &[("command", "/bin/cp $A /srv/b")],
            &[("command", "/bin/mkdir /srv/a && /bin/false")],
            &[("command", "/bin/false")],
            &[("command", "useradd bob")],
            &[("command", "cd /srv && touch q"), ("path", "/usr/bin")],
        ],
        "Package" => &[&[("ensure", "installed")], &[]],
        "Service" => &[&[("ensure", "running")], &[("ensure", "stopped")], &[]],
        "User" => &[&[("ensure", "present"), ("groups", "adm")], &[("ensure", "present"), ("uid", "7")], &[]],
        "Group" => &[&[("ensure", "present"), ("gid", "7")], &[]],
        "Concat_file" => &[&[("ensure", "present"), ("path", "/srv/c")], &[("path", "/srv/c"), ("tag", "t")]],
        "Concat_fragment" => &[
            &[("target", "/srv/c"), ("content", "x\n"), ("order", "5")],
            &[("target", "/srv/c"), ("content", "x\n")],
            &[("target", "/srv/c")],
            &[("content", "x")],
        ],
        "Tidy" => &[&[("rmdirs", "true")], &[]],
        "Resources" => &[&[("purge", "true")], &[]],
        "Archive" => &[
            &[
                ("source", "http://h/a.tgz"),
                ("extract", "true"),
                ("extract_path", "/srv/s"),
                ("creates", "/srv/s/x"),
            ],
            &[("source", "http://h/a.tgz")],
        ],
        "Vcsrepo" => &[
            &[("source", "http://h/r.git")],
            &[("source", "http://h/r.git"), ("revision", "1"), ("provider", "git")],
        ],
        "Cron" => &[
            &[("command", "/bin/x"), ("user", "root")],
            &[("command", "/bin/x"), ("special", "daily")],
            &[("command", "x")],
        ],
        "Host" => &[&[("ensure", "present"), ("ip", "1.2.3.4")], &[]],
        "Mount" => &[&[("ensure", "mounted"), ("device", "/dev/x"), ("fstype", "ext4")]],
        "Ssh_authorized_key" => &[
            &[("user", "alice"), ("key", "AAAA"), ("type", "ssh-rsa")],
            &[("key", "A"), ("type", "ssh-rsa")],
        ],
        "Sshkey" => &[&[("key", "AAAA"), ("type", "ssh-rsa")], &[("key", "A")]],
        "Mailalias" => &[&[("recipient", "root")], &[]],
        "File_line" => &[
            &[("path", "/srv/f"), ("line", "a"), ("match", "^a")],
            &[("path", "/srv/f"), ("line", "a"), ("match", "^b"), ("ensure", "absent")],
            &[("path", "/srv/f"), ("line", "a")],
            &[("line", "a")],
        ],
        "Ini_setting" | "Ini_subsetting" => &[
            &[("path", "/srv/f"), ("section", "s"), ("setting", "k"), ("value", "v"), ("subsetting", "x")],
            &[("path", "/srv/f"), ("section", "s"), ("setting", "k"), ("value", "v")],
            &[("section", "s"), ("setting", "k"), ("value", "v")],
        ],
        "Augeas" => &[
            &[("context", "/files/etc/ssh/sshd_config"), ("changes", "set Port 1")],
            &[("changes", "set /files/srv/f/x 1")],
            &[("context", "/files/srv/f")],
        ],
        "Shellvar" => &[&[("target", "/srv/f"), ("variable", "v"), ("value", "1")], &[("variable", "v")]],
        "(settings)" => &[&[("value", "1")], &[("ensure", "present")]],
        "Schedule" => &[&[]],
        _ => &[&[]],
    }
}

/// Values that are tried for a parameter that takes any.
const CANDIDATES: [&str; 28] = [
    "x",
    "/srv/other",
    "/srv/o.deb",
    "absent",
    "alice",
    "staff2",
    "600",
    "0600",
    ".bak",
    "7",
    "numeric",
    "yaml",
    "json",
    "*.x",
    "/bin/false",
    "/usr/local/bin/tool",
    "/usr/bin/touch /srv/z",
    "/usr/bin/test -f /srv/z",
    "A=/srv/x",
    "3",
    "shell",
    "gem",
    "host",
    "user",
    "never",
    "remote",
    "S2/k2",
    "t",
];

fn title(type_name: &str) -> &'static str {
    match type_name {
        "File" | "Tidy" | "Mount" | "Vcsrepo" => "/srv/d",
        "Archive" => "/srv/a.tgz",
        "Concat_file" => "/srv/c",
        "Resources" => "user",
        "(settings)" => "S/k",
        "Schedule" => "s",
        "User" | "Group" => "bob",
        _ => "foo",
    }
}

fn resource(type_name: &str, title: &str, parameters: &[(&str, &str)]) -> Resource {
    let type_name = if type_name == "(settings)" { "Nova_config" } else { type_name };
    let mut made = Resource::new(Symbol::new(type_name), title);
    for (name, value) in parameters {
        made.parameters.set(Symbol::new(name), Value::from(*value), None);
    }
    made
}

/// Others that see what the resource does.
fn others(type_name: &str) -> Vec<Resource> {
    let mut found = vec![
        resource("File", "/srv/d/x", &[("ensure", "file"), ("content", "y")]),
        resource("File", "/srv/s", &[("ensure", "directory"), ("mode", "0755"), ("owner", "root")]),
        resource("File", "/srv/s/a.x", &[("ensure", "file"), ("content", "y")]),
        resource("File", "/srv/s/x", &[("ensure", "file")]),
        resource("File", "/usr/local/bin/tool", &[("ensure", "file"), ("content", "y")]),
        resource("User", "alice", &[("ensure", "present"), ("uid", "7")]),
        resource("Group", "staff2", &[("ensure", "present"), ("gid", "7")]),
        resource("Exec", "by hand", &[("command", "/usr/sbin/useradd -r carol")]),
        resource("Exec", "joins", &[("command", "/usr/bin/gpasswd -a bob staff2")]),
    ];
    if type_name == "Concat_file" {
        found.push(resource(
            "Concat_fragment",
            "one",
            &[("target", "/srv/c"), ("content", "x"), ("order", "2")],
        ));
        found.push(resource(
            "Concat_fragment",
            "two",
            &[("target", "/srv/c"), ("content", "y"), ("order", "10")],
        ));
        found.push(resource("Concat_fragment", "three", &[("tag", "t"), ("target", "x"), ("content", "z")]));
    } else if type_name == "Concat_fragment" {
        found.push(resource("Concat_file", "/srv/c", &[("path", "/srv/c")]));
        found.push(resource("Concat_file", "/srv/other", &[("path", "/srv/other")]));
        found.push(resource("Concat_file", "t", &[("path", "/srv/t"), ("tag", "t")]));
        found.push(resource(
            "Concat_fragment",
            "one",
            &[("target", "/srv/c"), ("content", "f"), ("order", "5")],
        ));
    } else if type_name == "Schedule" {
        found.push(resource("File", "/srv/timed", &[("ensure", "file"), ("schedule", "s")]));
        found.push(resource("File", "/srv/x", &[("ensure", "file"), ("schedule", "x")]));
    }
    found
}

/// The plan of a catalog, in full.
fn planned(type_name: &str, parameters: &[(&str, &str)]) -> String {
    let mut catalog = Catalog::new("node", "production");
    for other in others(type_name) {
        catalog.add(other).unwrap();
    }
    catalog.add(resource(type_name, title(type_name), parameters)).unwrap();
    let graph = Graph::new(&catalog, &ShippedTypes).unwrap();
    let index = Index::from_bytes(Collection::new().to_bytes()).unwrap();
    let world = World {
        base: &Base::new(Family::Debian),
        packages: &index,
        sources: &NoSources,
        config: &Config::default(),
        semantics: Semantics::Puppet,
        any_start: false,
        packages_start_services: true,
    };
    let modelled = plan(&catalog, &graph, &world);
    // Autorequired edges come from the graph, not from the model.
    let plan = &modelled.plan;
    format!("{:?}{:?}{:?}{:?}{:?}", plan.space, plan.steps, plan.start, plan.laws, modelled.assumptions)
}

fn has_influence(type_name: &str, row: &Row) -> bool {
    let candidates: &[&str] = match row.values {
        Values::Words(words) => words,
        _ => &CANDIDATES,
    };
    surroundings(type_name).iter().any(|base| {
        let mut without: Vec<(&str, &str)> =
            base.iter().copied().filter(|(name, _)| *name != row.parameter).collect();
        if let [ensure, ..] = row.ensure {
            without.retain(|(name, _)| *name != "ensure");
            without.push(("ensure", ensure));
        }
        let plain = planned(type_name, &without);
        candidates.iter().any(|value| {
            let mut with = without.clone();
            with.push((row.parameter, value));
            planned(type_name, &with) != plain
        })
    })
}

#[test]
fn what_is_said_to_be_modelled_changes_the_plan() {
    let mut dead = BTreeSet::new();
    for (name, rows) in tables() {
        for row in rows.iter().filter(|row| row.treatment == Treatment::Modelled) {
            if !has_influence(name, row) {
                dead.insert(format!("{name}.{} with {}", row.parameter, row.values.words_for()));
            }
        }
    }
    assert!(dead.is_empty(), "no model reads {dead:#?}");
}
