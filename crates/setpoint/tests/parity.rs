//! `setpoint parity` over the example repository: identical with the catalogs that Puppet compiled, and every planted
//! difference explained.
//!
//! `parity/catalogs` has Puppet's catalogs; `cargo xtask answer repository` writes them. Where Puppet is installed, it is
//! asked again.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use setpoint_oracle::{Puppet, Request, facts_of};
use setpoint_testing::{files_below, puppet, repository, skip};

const WEB1: &str = "web1.shop.example";
const DB1: &str = "db1.shop.example";

fn example() -> PathBuf {
    repository().join("examples/control-repo")
}

fn catalogs() -> PathBuf {
    repository().join("crates/setpoint/tests/parity/catalogs")
}

fn catalog(node: &str) -> Value {
    let text = std::fs::read_to_string(catalogs().join(format!("{node}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A folder of catalogs that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("setpoint-parity-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn with(node: &str, catalog: &Value) -> Self {
        let folder = Self::new();
        folder.add(&format!("{node}.json"), &catalog.to_string());
        folder
    }

    fn add(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program; gives its status and output.
fn run(catalogs: &Path, options: &[&str]) -> (i32, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .arg("parity")
        .arg(example())
        .arg("--catalogs")
        .arg(catalogs)
        .args(options)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    (done.status.code().unwrap(), String::from_utf8_lossy(&done.stdout).into_owned() + &errors)
}

fn report(catalogs: &Path) -> Value {
    let (_, text) = run(catalogs, &["--format", "json"]);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// The reasons of a catalog in which something was planted.
fn causes(node: &str, plant: impl FnOnce(&mut Value)) -> Vec<Value> {
    let mut catalog = catalog(node);
    plant(&mut catalog);
    let folder = Folder::with(node, &catalog);
    let report = report(&folder.0);
    let causes = report["causes"].as_array().unwrap().clone();
    assert!(!causes.is_empty(), "nothing was found");
    assert_eq!(report["differ"], json!([node]));
    causes
}

/// The one reason there is.
fn cause(node: &str, plant: impl FnOnce(&mut Value)) -> Value {
    let causes = causes(node, plant);
    assert_eq!(causes.len(), 1, "{causes:#?}");
    causes.into_iter().next().unwrap()
}

fn resource<'a>(catalog: &'a mut Value, kind: &str, title: &str) -> &'a mut Value {
    let resources = catalog["resources"].as_array_mut().unwrap();
    let found = resources.iter_mut().find(|resource| resource["type"] == kind && resource["title"] == title);
    found.unwrap_or_else(|| panic!("{kind}[{title}] is not there"))
}

fn remove(catalog: &mut Value, kind: &str, title: &str) {
    let reference = format!("{kind}[{title}]");
    catalog["resources"]
        .as_array_mut()
        .unwrap()
        .retain(|resource| resource["type"] != kind || resource["title"] != title);
    catalog["edges"]
        .as_array_mut()
        .unwrap()
        .retain(|edge| edge["target"] != json!(reference) && edge["source"] != json!(reference));
}

#[test]
fn all_nodes_of_the_example_are_identical() {
    let (status, text) = run(&catalogs(), &[]);
    assert_eq!((status, text.as_str()), (0, "7 of 7 nodes identical\n"));
}

#[test]
fn puppet_still_compiles_these_catalogs() {
    if !puppet() {
        skip("catalogs of the example repository", "Puppet is not installed");
        return;
    }
    let mut oracle = Puppet::start().unwrap();
    for path in files_below(&example().join("facts")) {
        let node = path.file_stem().unwrap().to_string_lossy().into_owned();
        let request = Request::repository(&example(), &node, facts_of(&path).unwrap()).unwrap();
        let outcome = oracle.ask(&request).unwrap();
        assert_eq!(outcome.relative_catalog(), Some(catalog(&node)), "{node}: {:?}", outcome.errors);
    }
}

#[test]
fn a_resource_that_only_the_server_has_is_missing() {
    let found = cause(WEB1, |catalog| {
        let more = json!({"type": "Package", "title": "emacs", "tags": ["package", "emacs", "class"], "file": "/etc/site.pp",
            "line": 12, "exported": false, "kind": "compilable_type", "parameters": {"ensure": "installed"}});
        catalog["resources"].as_array_mut().unwrap().push(more);
        catalog["edges"]
            .as_array_mut()
            .unwrap()
            .push(json!({"source": "Class[main]", "target": "Package[emacs]"}));
    });
    assert_eq!(found["kind"], "missing-resource");
    assert_eq!(found["message"], "Package[emacs] is missing here");
    assert_eq!(found["place"], "/etc/site.pp:12 on the server");
}

#[test]
fn a_class_is_told_once_with_what_is_in_it() {
    let found = causes(WEB1, |catalog| {
        let resources = catalog["resources"].as_array_mut().unwrap();
        resources.push(json!({"type": "Class", "title": "Ntp", "tags": ["class", "ntp"], "exported": false, "kind": "unknown"}));
        for number in 0..5 {
            resources.push(
                json!({"type": "Notify", "title": format!("n{number}"), "tags": [], "exported": false}),
            );
        }
        let edges = catalog["edges"].as_array_mut().unwrap();
        edges.push(json!({"source": "Stage[main]", "target": "Class[Ntp]"}));
        edges.extend(
            (0..5).map(|number| json!({"source": "Class[Ntp]", "target": format!("Notify[n{number}]")})),
        );
    });
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["message"], "Class[Ntp], with the 5 resources in it, is missing here");
}

#[test]
fn a_resource_that_the_server_lacks_is_extra() {
    let found = cause(WEB1, |catalog| remove(catalog, "File", "/etc/motd"));
    assert_eq!(found["kind"], "extra-resource");
    assert_eq!(found["message"], "File[/etc/motd] is not in the server's catalog");
    let place = found["place"].as_str().unwrap();
    assert!(place.contains("site-modules/profile/manifests/base.pp:"), "{place}");
}

#[test]
fn another_value_is_told_with_both_and_the_line() {
    let found = cause(WEB1, |catalog| {
        resource(catalog, "File", "/etc/sudoers.d/ops")["parameters"]["mode"] = json!("0400");
    });
    assert_eq!((&found["kind"], &found["parameter"]), (&json!("parameter"), &json!("mode")));
    assert_eq!((&found["server"], &found["here"]), (&json!("\"0400\""), &json!("\"0440\"")));
    let place = found["place"].as_str().unwrap();
    assert!(place.contains("modules/accounts/manifests/init.pp:18:"), "{place}");
}

#[test]
fn of_a_long_text_the_line_that_differs_is_shown() {
    let found = cause(WEB1, |catalog| {
        let file = resource(catalog, "File", "/etc/chrony/chrony.conf");
        let text = file["parameters"]["content"].as_str().unwrap().replace("1.pool", "9.pool");
        file["parameters"]["content"] = json!(text);
    });
    assert_eq!(found["server"], "line 3: \"pool 9.pool.ntp.org iburst\"");
    assert_eq!(found["here"], "line 3: \"pool 1.pool.ntp.org iburst\"");
}

#[test]
fn a_parameter_may_be_set_on_one_side_only() {
    let found = cause(WEB1, |catalog| {
        resource(catalog, "Service", "nginx")["parameters"]["hasrestart"] = json!(true);
    });
    assert_eq!(found["message"], "Service[nginx]: hasrestart is not set here");
    let found = cause(WEB1, |catalog| {
        resource(catalog, "Service", "nginx")["parameters"].as_object_mut().unwrap().shift_remove("enable");
    });
    assert_eq!(found["message"], "Service[nginx]: enable is not set on the server");
}

#[test]
fn a_relationship_is_a_kind_of_its_own() {
    let found = cause(WEB1, |catalog| {
        resource(catalog, "File", "/etc/chrony/chrony.conf")["parameters"]["require"] = json!("Package[ntp]");
    });
    assert_eq!((&found["kind"], &found["parameter"]), (&json!("relation"), &json!("require")));
    assert_eq!(
        (&found["server"], &found["here"]),
        (&json!("\"Package[ntp]\""), &json!("\"Package[chrony]\""))
    );
}

#[test]
fn another_order_is_told_by_its_first_resource() {
    let found = cause(WEB1, |catalog| {
        let resources = catalog["resources"].as_array_mut().unwrap();
        let last = resources.len() - 1;
        resources.swap(last, last - 1);
    });
    assert_eq!(found["kind"], "order");
}

#[test]
fn tags_exports_and_containers_count() {
    let found = cause(WEB1, |catalog| {
        resource(catalog, "Package", "curl")["tags"].as_array_mut().unwrap().push(json!("canary"));
    });
    assert_eq!(found["message"], "Package[curl] lacks the tag `canary` here");
    let found = cause(WEB1, |catalog| resource(catalog, "Package", "curl")["exported"] = json!(true));
    assert_eq!(found["message"], "Package[curl] is not exported here and exported on the server");
    let found = cause(WEB1, |catalog| {
        let edges = catalog["edges"].as_array_mut().unwrap();
        let edge = edges.iter_mut().find(|edge| edge["target"] == "Package[curl]").unwrap();
        edge["source"] = json!("Class[Accounts]");
    });
    assert_eq!(
        (&found["server"], &found["here"]),
        (&json!("Class[Accounts]"), &json!("Class[Profile::Base]"))
    );
}

#[test]
fn the_list_of_classes_counts() {
    let found = cause(WEB1, |catalog| catalog["classes"].as_array_mut().unwrap().push(json!("ghost")));
    assert_eq!(
        (&found["kind"], &found["message"]),
        (&json!("classes"), &json!("The server's list of classes has ghost, too"))
    );
}

#[test]
fn secrets_are_compared_and_never_shown() {
    let plant = |catalog: &mut Value| {
        resource(catalog, "File", "/var/lib/postgresql/.pgpass")["parameters"]["content"] =
            json!("*:*:*:postgres:hunter2\n");
    };
    let found = cause(DB1, plant);
    assert_eq!((&found["kind"], &found["secret"]), (&json!("parameter"), &json!(true)));
    assert_eq!((&found["server"], &found["here"]), (&Value::Null, &Value::Null));
    let mut catalog = catalog(DB1);
    plant(&mut catalog);
    let (status, text) = run(&Folder::with(DB1, &catalog).0, &[]);
    assert_eq!(status, 1);
    assert!(
        text.contains("the values are secret") && !text.contains("hunter2") && !text.contains("StandIn"),
        "{text}"
    );
}

#[test]
fn a_lost_mark_of_a_secret_is_told() {
    let found = cause(DB1, |catalog| {
        let file = resource(catalog, "File", "/var/lib/postgresql/.pgpass");
        file.as_object_mut().unwrap().shift_remove("sensitive_parameters");
    });
    assert_eq!(found["kind"], "secrecy");
    assert_eq!(
        found["message"],
        "File[/var/lib/postgresql/.pgpass]: content is a secret here and not on the server"
    );
}

#[test]
fn a_node_that_does_not_compile_says_why() {
    let folder = Folder::with(WEB1, &catalog(WEB1));
    let facts = std::fs::read_to_string(example().join(format!("facts/{WEB1}.yaml"))).unwrap();
    folder.add(
        &format!("{WEB1}.facts.yaml"),
        &facts.replace("processors: {count: 4}", "processors: {count: none}"),
    );
    let report = report(&folder.0);
    let cause = &report["causes"][0];
    assert_eq!(cause["kind"], "does-not-compile");
    assert!(cause["message"].as_str().unwrap().contains("Class[Nginx]"), "{cause}");
}

#[test]
fn a_node_without_facts_says_so() {
    let mut unknown = catalog(WEB1);
    unknown["name"] = json!("web9.shop.example");
    let report = report(&Folder::with("web9.shop.example", &unknown).0);
    assert_eq!(report["causes"][0]["kind"], "facts");
}

#[test]
fn a_catalog_that_cannot_be_read_counts_as_different() {
    let folder = Folder::with(WEB1, &catalog(WEB1));
    folder.add("web2.shop.example.json", "{\"resources\": [");
    let report = report(&folder.0);
    assert_eq!((&report["identical"], &report["differ"]), (&json!([WEB1]), &json!(["web2.shop.example"])));
    assert_eq!(report["causes"][0]["kind"], "unreadable");
}

#[test]
fn what_nodes_have_in_common_is_told_once() {
    let folder = Folder::new();
    for node in [WEB1, "web2.shop.example", "web3.shop.example", DB1] {
        let mut catalog = catalog(node);
        let motd = resource(&mut catalog, "File", "/etc/motd");
        let text =
            motd["parameters"]["content"].as_str().unwrap().replace("ops@shop.example", "it@shop.example");
        motd["parameters"]["content"] = json!(text);
        folder.add(&format!("{node}.json"), &catalog.to_string());
    }
    let mut other = catalog("mon1.shop.example");
    remove(&mut other, "File", "/etc/motd");
    folder.add("mon1.shop.example.json", &other.to_string());
    folder.add("build1.shop.example.json", &catalog("build1.shop.example").to_string());
    let (status, text) = run(&folder.0, &[]);
    assert_eq!(status, 1);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "1 of 6 nodes identical; 5 differ, because a resource is too many (1), a parameter differs (4)"
    );
    assert_eq!(text.matches("File[/etc/motd]: content differs").count(), 1, "{text}");
    assert!(text.contains("on 4 nodes: db1.shop.example, web1.shop.example,"), "{text}");
}

#[test]
fn what_puppetdb_keeps_is_compared_as_far_as_it_goes() {
    let mut stored = catalog(DB1);
    let (resources, edges) = (stored["resources"].take(), stored["edges"].take());
    let mut resources = resources.as_array().unwrap().clone();
    resources.reverse();
    for resource in &mut resources {
        let resource = resource.as_object_mut().unwrap();
        resource.shift_remove("kind");
        // Secrets are taken out before a catalog is stored.
        let secret: Vec<Value> = resource
            .shift_remove("sensitive_parameters")
            .and_then(|names| names.as_array().cloned())
            .unwrap_or_default();
        for name in secret {
            resource["parameters"].as_object_mut().unwrap().shift_remove(name.as_str().unwrap());
        }
    }
    let mut list: Vec<Value> = Vec::new();
    for edge in edges.as_array().unwrap() {
        let split = |end: &str| {
            let text = edge[end].as_str().unwrap();
            let (kind, title) = text.split_once('[').unwrap();
            (kind.to_owned(), title.strip_suffix(']').unwrap().to_owned())
        };
        let ((source_type, source_title), (target_type, target_title)) = (split("source"), split("target"));
        list.push(
            json!({"source_type": source_type, "source_title": source_title, "target_type": target_type,
            "target_title": target_title, "relationship": "contains"}),
        );
    }
    let stored = json!([{"certname": DB1, "environment": "production", "version": "1", "producer_timestamp": "2024",
        "resources": {"data": resources, "href": "/"}, "edges": {"data": list, "href": "/"}}]);
    let folder = Folder::with("export", &stored);
    let facts: Vec<Value> = facts_of(&example().join(format!("facts/{DB1}.yaml")))
        .unwrap()
        .into_iter()
        .map(|(name, value)| json!({"certname": DB1, "name": name, "value": value}))
        .collect();
    folder.add(&format!("facts/{DB1}.json"), &json!(facts).to_string());
    let (status, text) = run(&folder.0, &[]);
    assert!(text.starts_with("1 of 1 node identical\n"), "{text}");
    assert!(text.contains("as PuppetDB keeps them"), "{text}");
    assert_eq!(status, 0);
}

#[test]
fn a_folder_without_catalogs_is_a_wrong_call() {
    let folder = Folder::new();
    folder.add("note.json", "{}");
    let (status, text) = run(&folder.0, &[]);
    assert_eq!(status, 2);
    assert!(text.contains("there is no catalog here"), "{text}");
}
