//! Facts are complete and do not contradict each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Map, Value, json};
use setpoint_platforms::{find, names, supported};
use setpoint_testing::{shared, skip};

fn facts(platform: &str, node: &str) -> Map<String, Value> {
    find(platform).unwrap().facts(node, "8.10.0")
}

/// Every path to a leaf or an empty collection, with the kind of what is there. Names of interfaces, disks and paths differ
/// between machines and are not compared.
fn shape(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    const OWN_NAMES: &[&str] =
        &[".mountpoints", ".disks", ".partitions", ".interfaces", ".hypervisors", ".dhcp_servers"];
    match value {
        Value::Object(entries) if OWN_NAMES.iter().any(|end| path.ends_with(end)) => {
            found.insert(path.to_owned());
            let _ = entries;
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                shape(entry, &format!("{path}.{key}"), found);
            }
        }
        Value::Array(_) => {
            found.insert(format!("{path} is an array"));
        }
        Value::String(_) => {
            found.insert(format!("{path} is a string"));
        }
        Value::Number(_) => {
            found.insert(format!("{path} is a number"));
        }
        Value::Bool(_) => {
            found.insert(format!("{path} is a boolean"));
        }
        Value::Null => {}
    }
}

fn missing(theirs: &Map<String, Value>, ours: &Map<String, Value>, ignored: &[&str]) -> Vec<String> {
    let of = |facts: &Map<String, Value>| {
        let mut found = BTreeSet::new();
        shape(&Value::Object(facts.clone()), "", &mut found);
        found
    };
    let ours = of(ours);
    of(theirs)
        .into_iter()
        .filter(|path| !ours.contains(path) && !ignored.iter().any(|part| path.contains(part)))
        .collect()
}

#[test]
fn debian_12_has_every_fact_of_the_corpus() {
    let Some(folder) = shared() else {
        skip("facts of the corpus", "../shared is not there");
        return;
    };
    let text = std::fs::read_to_string(folder.join("corpus/puppet/facts/debian12.json")).unwrap();
    let theirs: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let lacking = missing(&theirs, &facts("debian-12", "node1.example.com"), &[]);
    assert!(lacking.is_empty(), "missing: {lacking:#?}");
}

#[test]
fn debian_12_has_every_fact_that_facter_gives() {
    let Ok(output) = Command::new("facter").args(["--json", "--show-legacy"]).output() else {
        skip("facts of this machine", "facter is not installed");
        return;
    };
    let theirs: Map<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
    let name = theirs["os"]["name"].as_str().unwrap_or_default();
    if name != "Debian" {
        skip("facts of this machine", "it is not Debian");
        return;
    }
    // What belongs to this very machine: its interfaces and disks, and what its modules and cloud bring along.
    let ignored = [
        "_ifb",
        "_eth",
        "_ens",
        "_docker",
        "blockdevice_",
        "processor",
        "ec2_",
        "gce",
        "cloud",
        "az_metadata",
        "xen",
    ];
    let lacking = missing(&theirs, &facts("debian-12", "node1.example.com"), &ignored);
    assert!(lacking.is_empty(), "missing: {lacking:#?}");
}

#[test]
fn old_facts_say_what_the_new_ones_say() {
    for name in names() {
        let facts = facts(name, "web1.shop.example");
        let os = &facts["os"];
        assert_eq!(facts["osfamily"], os["family"], "{name}");
        assert_eq!(facts["operatingsystem"], os["name"], "{name}");
        assert_eq!(facts["operatingsystemrelease"], os["release"]["full"], "{name}");
        assert_eq!(facts["operatingsystemmajrelease"], os["release"]["major"], "{name}");
        assert_eq!(facts["fqdn"], json!("web1.shop.example"), "{name}");
        assert_eq!(facts["hostname"], json!("web1"), "{name}");
        assert_eq!(facts["domain"], json!("shop.example"), "{name}");
        assert_eq!(facts["clientcert"], json!("web1.shop.example"), "{name}");
        assert_eq!(facts["ipaddress"], facts["networking"]["ip"], "{name}");
        let primary = facts["networking"]["primary"].as_str().unwrap();
        assert_eq!(facts["networking"]["interfaces"][primary]["ip"], facts["networking"]["ip"], "{name}");
        assert_eq!(facts[&format!("macaddress_{primary}")], facts["networking"]["mac"], "{name}");
        assert_eq!(facts["memorysize_mb"], json!(8192.0), "{name}");
        assert_eq!(facts["processorcount"], facts["processors"]["count"], "{name}");
        let release = facts["kernelrelease"].as_str().unwrap();
        let major = facts["kernelmajversion"].as_str().unwrap();
        assert!(release.starts_with(major) || name == "solaris-11", "{name}: {release} {major}");
        assert!(facts.values().all(|value| !value.is_null()), "{name}");
    }
}

#[test]
fn every_platform_has_the_facts_that_modules_read() {
    let needed = [
        "architecture",
        "augeas",
        "clientversion",
        "dmi",
        "facterversion",
        "fips_enabled",
        "fqdn",
        "hardwaremodel",
        "identity",
        "interfaces",
        "is_virtual",
        "kernel",
        "kernelmajversion",
        "kernelversion",
        "memory",
        "networking",
        "os",
        "package_provider",
        "path",
        "processors",
        "puppet_vardir",
        "puppetversion",
        "root_home",
        "ruby",
        "rubyversion",
        "service_provider",
        "ssh",
        "system_uptime",
        "timezone",
        "uptime_seconds",
        "virtual",
    ];
    for name in names() {
        let facts = facts(name, "node1.example.com");
        for fact in needed {
            assert!(facts.contains_key(fact), "{name} has no {fact}");
        }
    }
}

#[test]
fn releases_are_taken_apart_as_facter_does() {
    let release = |platform: &str| facts(platform, "a.b")["os"]["release"].clone();
    assert_eq!(release("debian-12"), json!({"full": "12.5", "major": "12", "minor": "5"}));
    assert_eq!(release("ubuntu-22.04"), json!({"full": "22.04", "major": "22.04"}));
    assert_eq!(release("centos-stream-9"), json!({"full": "9", "major": "9"}));
    assert_eq!(
        release("freebsd-14"),
        json!({"full": "14.1-RELEASE", "major": "14", "minor": "1", "branch": "RELEASE"})
    );
    assert_eq!(release("windows-2022"), json!({"full": "2022", "major": "2022"}));
    assert_eq!(release("amazon-2023"), json!({"full": "2023", "major": "2023"}));
}

#[test]
fn nodes_differ_and_stay_the_same() {
    let one = facts("rocky-9", "a.example.com");
    let two = facts("rocky-9", "b.example.com");
    assert_ne!(one["networking"]["ip"], two["networking"]["ip"]);
    assert_ne!(one["ssh"], two["ssh"]);
    assert_eq!(one, facts("rocky-9", "a.example.com"));
    assert_eq!(facts("rocky-9", "alone")["fqdn"], json!("alone.example.com"));
}

#[test]
fn a_wrong_name_finds_its_neighbour() {
    let nearest = |name: &str| find(name).map_or_else(|unknown| unknown.nearest, |platform| platform.name);
    assert_eq!(nearest("debain-12"), "debian-12");
    assert_eq!(nearest("ubuntu-2204"), "ubuntu-22.04");
    assert_eq!(nearest("rhel9"), "rhel-9");
    assert_eq!(nearest("windows-2025"), "windows-2022");
    assert_eq!(nearest("fedora-40"), "fedora");
    assert_eq!(nearest("Debian-12"), "debian-12");
}

#[test]
fn metadata_names_platforms() {
    let metadata = json!({"operatingsystem_support": [
        {"operatingsystem": "Debian", "operatingsystemrelease": ["10", "12"]},
        {"operatingsystem": "RedHat", "operatingsystemrelease": ["9.2"]},
        {"operatingsystem": "Windows", "operatingsystemrelease": ["2012 R2", "Server 2022"]},
        {"operatingsystem": "Fedora", "operatingsystemrelease": ["38"]},
        {"operatingsystem": "Ubuntu", "operatingsystemrelease": ["22.04"]},
        {"operatingsystem": "FreeBSD", "operatingsystemrelease": ["14"]},
        {"operatingsystem": "Archlinux"},
        {"operatingsystem": "Haiku"}
    ]});
    let found: Vec<&str> = supported(&metadata).iter().map(|platform| platform.name).collect();
    assert_eq!(
        found,
        ["debian-12", "ubuntu-22.04", "rhel-9", "fedora", "archlinux", "freebsd-14", "windows-2022"]
    );
    assert!(supported(&json!({})).is_empty());
}
