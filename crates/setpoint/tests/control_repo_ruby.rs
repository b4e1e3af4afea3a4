//! A control repository with functions, types and Hiera backends of its own in Ruby: every node's catalog is that of Puppet.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "control_repo/folder.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod folder;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use setpoint_testing::{puppet, repository, skip};

use folder::{Folder, titles};

const NODES: [&str; 5] =
    ["web1.example.com", "db1.example.com", "app1.example.com", "old1.example.com", "spare7.example.com"];

fn facts() -> Value {
    json!({"os": {"family": "Debian", "name": "Debian"}, "networking": {"hostname": "n"}, "role": "web",
        "fqdn": "n.example.com"})
}

/// The repository as an environment among others, in a folder of its own.
fn environment() -> Folder {
    let folder = Folder::new(&[("facts.json", &facts().to_string())]);
    let source = repository().join("crates/setpoint/tests/control_repo_ruby/repository");
    copy(&source, &folder.path.join("environments/production"));
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn compile(folder: &Folder, node: &str) -> Value {
    let path = folder.path.canonicalize().unwrap().join("environments/production").display().to_string();
    folder.catalog(&["--environment", &path, "--node", node, "--facts", "facts.json", "--puppet", "7"])
}

#[test]
fn nothing_in_the_repository_is_beyond_what_is_known_of_ruby() {
    let folder = environment();
    for node in NODES {
        let run = folder.run(&[
            "compile",
            "--environment",
            "environments/production",
            "--node",
            node,
            "--facts",
            "facts.json",
            "--puppet",
            "7",
        ]);
        assert_eq!(run.status, 0, "{node}: {}", run.err);
        assert!(!run.err.contains("not known"), "{node}: {}", run.err);
    }
    let catalog = compile(&folder, "web1.example.com");
    assert!(titles(&catalog, "Class").contains(&"Role::Web".to_owned()), "the function role() includes it");
    assert_eq!(titles(&catalog, "User"), ["ann", "bob", "carol", "dora"]);
}

#[test]
fn puppet_compiles_every_node_to_the_same_catalog() {
    if !puppet() {
        skip("control repository in Ruby", "Puppet is not installed");
        return;
    }
    let folder = environment();
    for (node, theirs) in NODES.iter().zip(ask_puppet(&folder)) {
        assert!(theirs["catalog"].is_object(), "{node}: Puppet says {}", theirs["error"]);
        let (ours, theirs) = (compile(&folder, node), &theirs["catalog"]);
        for part in ["name", "environment", "edges", "classes"] {
            assert_eq!(ours[part], theirs[part], "{node}: {part}");
        }
        let resources = |catalog: &Value| catalog["resources"].as_array().unwrap().clone();
        let (ours, theirs) = (resources(&ours), resources(theirs));
        for (our, their) in ours.iter().zip(&theirs) {
            let name = format!("{node}: {}[{}]", their["type"], their["title"]);
            for part in ["type", "title", "parameters", "exported", "file", "line"] {
                assert_eq!(our.get(part), their.get(part), "{name}: {part}");
            }
        }
        assert_eq!(ours.len(), theirs.len(), "{node}: number of resources");
    }
}

/// The answers of Puppet, which finds the libraries of modules as an agent has them.
fn ask_puppet(folder: &Folder) -> Vec<Value> {
    let root = folder.path.canonicalize().unwrap();
    let library = root.join("environments/production/modules/sitelib/lib");
    let script = repository().join("crates/setpoint_oracle/src/environments.rb");
    let mut process = setpoint_testing::ruby()
        .arg("-W0")
        .arg("-I")
        .arg(library)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for node in NODES {
        let request = json!({"environmentpath": root.join("environments"), "environment": "production",
            "node": node, "facts": facts(), "extensions": null, "strict": false});
        writeln!(input, "{request}").unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
