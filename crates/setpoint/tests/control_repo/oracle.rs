//! Puppet compiles the same environments for the same nodes.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use setpoint_testing::{puppet, repository, skip};

use crate::folder::Folder;

/// One node: what Puppet is asked, and the arguments that ask Setpoint the same.
struct Question<'a> {
    environment: &'a str,
    node: &'a str,
    facts: Value,
    extensions: Value,
    enc: Value,
}

fn questions() -> Vec<Question<'static>> {
    let facts = json!({"os": {"family": "Debian", "name": "Debian"}, "role": "web", "clientcert": "x",
        "clientversion": "7.23.0", "clientnoop": false, "networking": {"hostname": "n"}, "list": [1, {"a": null}]});
    let ask = |environment, node, extensions: Value, enc: Value| Question {
        environment,
        node,
        facts: facts.clone(),
        extensions,
        enc,
    };
    vec![
        ask("production", "web1.example.com", Value::Null, json!({})),
        ask("production", "app3", Value::Null, json!({})),
        ask("production", "other.example.com", json!({"pp_role": "web", "pp_zone": "a"}), json!({})),
        ask("staging", "n1.example.com", Value::Null, json!({"classes": ["a", "b"]})),
        ask("staging", "n2.example.com", Value::Null, json!({"classes": {"b": {}, "a": {"x": "given"}}})),
        ask("staging", "n3", Value::Null, json!({"parameters": {"top": "from enc", "role": "from enc"}})),
        ask("plain", "n4", Value::Null, json!({"classes": ["a"]})),
        // A classifier counts more than what was asked for: manifests, modules and data are those of its environment.
        ask("staging", "n5", Value::Null, json!({"environment": "plain", "classes": ["a"]})),
        ask(
            "plain",
            "n6.example.com",
            Value::Null,
            json!({"environment": "staging", "classes": ["b"], "parameters": {"top": 1}}),
        ),
        ask("plain", "web1.example.com", Value::Null, json!({"environment": "production"})),
        ask("production", "n7", Value::Null, json!({"environment": "nowhere"})),
    ]
}

fn environments() -> Folder {
    let folder = Folder::new(&[
        ("environments/production/environment.conf", "modulepath = site:modules\nmanifest = nodes\n"),
        (
            "environments/production/nodes/10.pp",
            "
            node 'web1.example.com' { include role }
            node /^app(\\d)/ { notify { \"app $1 ${facts['list']}\": } }
            ",
        ),
        ("environments/production/nodes/sub/20.pp", "node default { notify { \"default ${trusted}\": } }\n"),
        ("environments/production/site/role/manifests/init.pp", "class role { include profile }\n"),
        ("environments/production/modules/role/manifests/init.pp", "class role { fail('the first of the path counts') }\n"),
        (
            "environments/production/modules/profile/manifests/init.pp",
            "
            class profile(String $motd, Hash $users = {}) {
              $users.each |$name, $about| { user { $name: * => $about } }
              file { '/etc/motd': content => epp('profile/motd.epp', { text => $motd }), noop => true, schedule => 'daily' }
              schedule { 'daily': period => daily }
            }
            ",
        ),
        ("environments/production/modules/profile/templates/motd.epp", "<%- | String $text | -%>\n<%= $text %> on <%= $facts['role'] %>\n"),
        (
            "environments/production/hiera.yaml",
            "version: 5\nhierarchy:\n  - name: node\n    path: \"node/%{trusted.certname}.yaml\"\n  - name: common\n    path: common.yaml\n",
        ),
        ("environments/production/data/node/web1.example.com.yaml", "profile::motd: \"web in %{environment}\"\n"),
        (
            "environments/production/data/common.yaml",
            "profile::motd: common\nprofile::users:\n  ann:\n    ensure: present\n    uid: 2000\n",
        ),
        (
            "environments/staging/manifests/site.pp",
            "notify { \"main ${environment} ${role}\": }\nif $facts['role'] != $role { notify { \"top ${top}\": } }\n",
        ),
        ("environments/staging/modules/a/manifests/init.pp", "class a(String $x = 'default') { notify { \"a ${x}\": } include b }\n"),
        ("environments/staging/modules/b/manifests/init.pp", "class b { notify { 'b': } }\n"),
        ("environments/plain/modules/a/manifests/init.pp", "class a { notify { 'only a classifier': } }\n"),
    ]);
    // Puppet takes the path as the system knows it.
    assert!(folder.path.is_absolute());
    folder
}

#[test]
fn puppet_compiles_environments_to_the_same_catalogs() {
    if !puppet() {
        skip("environments", "Puppet is not installed");
        return;
    }
    let folder = environments();
    let root = folder.path.canonicalize().unwrap();
    let asked = questions();
    for strict in [false, true] {
        let answers = ask_puppet(&root, &asked, strict);
        for (at, (question, answer)) in asked.iter().zip(&answers).enumerate() {
            let theirs = &answer["catalog"];
            if question.enc["environment"] == "nowhere" {
                let error = answer["error"].as_str().unwrap();
                let run = folder.run(&as_arguments(&arguments(&folder, &root, at, question, strict)));
                assert!(run.err.contains(error), "Puppet: {error}\nSetpoint: {}", run.err);
                continue;
            }
            assert!(theirs.is_object(), "{}: Puppet says {}", question.node, answer["error"]);
            let ours = ask_setpoint(&folder, &root, at, question, strict);
            assert_same(question.node, &ours, theirs);
        }
    }
}

fn ask_puppet(root: &Path, asked: &[Question<'_>], strict: bool) -> Vec<Value> {
    let script = repository().join("crates/setpoint_oracle/src/environments.rb");
    let mut process = setpoint_testing::ruby()
        .arg("-W0")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for question in asked {
        let request = json!({
            "environmentpath": root.join("environments"),
            "environment": question.environment,
            "node": question.node,
            "facts": question.facts,
            "extensions": question.extensions,
            "classes": question.enc.get("classes"),
            "parameters": question.enc.get("parameters"),
            "classified": question.enc.get("environment"),
            "strict": strict,
        });
        writeln!(input, "{request}").unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The call that asks Setpoint.
fn arguments(folder: &Folder, root: &Path, at: usize, question: &Question<'_>, strict: bool) -> Vec<String> {
    let file = |kind: &str, value: &Value| {
        let name = format!("{kind}{at}.json");
        folder.add(&name, &value.to_string());
        name
    };
    let environment = root.join("environments").join(question.environment).display().to_string();
    let mut arguments =
        vec!["--environment".to_owned(), environment, "--node".to_owned(), question.node.to_owned()];
    arguments.extend(["--facts".to_owned(), file("facts", &question.facts)]);
    arguments.extend(["--enc".to_owned(), file("enc", &question.enc)]);
    arguments.extend(["--puppet".to_owned(), if strict { "8" } else { "7" }.to_owned()]);
    if !question.extensions.is_null() {
        arguments.extend(["--trusted".to_owned(), file("trusted", &question.extensions)]);
    }
    arguments
}

fn as_arguments(arguments: &[String]) -> Vec<&str> {
    ["compile"].into_iter().chain(arguments.iter().map(String::as_str)).collect()
}

fn ask_setpoint(folder: &Folder, root: &Path, at: usize, question: &Question<'_>, strict: bool) -> Value {
    let arguments = arguments(folder, root, at, question, strict);
    folder.catalog(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn assert_same(node: &str, ours: &Value, theirs: &Value) {
    for part in ["name", "environment", "edges", "classes"] {
        assert_eq!(ours[part], theirs[part], "{node}: {part}");
    }
    let resources = |catalog: &Value| catalog["resources"].as_array().unwrap().clone();
    let (ours, theirs) = (resources(ours), resources(theirs));
    for (our, their) in ours.iter().zip(&theirs) {
        let name = format!("{node}: {}[{}]", their["type"], their["title"]);
        for part in ["type", "title", "parameters", "kind", "exported", "file", "line"] {
            assert_eq!(our.get(part), their.get(part), "{name}: {part}");
        }
        let tags = |one: &Value| {
            let mut tags: Vec<String> =
                one["tags"].as_array().unwrap().iter().map(Value::to_string).collect();
            tags.sort();
            tags
        };
        assert_eq!(tags(our), tags(their), "{name}: tags");
    }
    assert_eq!(ours.len(), theirs.len(), "{node}: number of resources");
}
