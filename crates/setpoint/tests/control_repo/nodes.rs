//! What a node is: facts, trusted facts, a classifier's word.

use crate::folder::{Folder, titles};

const MANIFEST: &str = "notify { \"${facts['role']} ${facts['os']['family']} ${trusted['certname']}\": }\n";

#[test]
fn facts_come_as_facter_and_puppet_print_them() {
    let folder = Folder::new(&[
        ("site.pp", MANIFEST),
        (
            "facter.json",
            r#"{"role": "web", "os": {"family": "Debian"}, "networking": {"fqdn": "a.example.com"}}"#,
        ),
        ("facter.yaml", "role: web\nos:\n  family: Debian\nnetworking:\n  fqdn: a.example.com\n"),
        ("facts.json", r#"{"name": "a.example.com", "values": {"role": "web", "os": {"family": "Debian"}}}"#),
        (
            "cached.yaml",
            "--- !ruby/object:Puppet::Node::Facts\nname: a.example.com\nvalues:\n  role: web\n  os: {family: Debian}\n",
        ),
        (
            "puppetdb.json",
            r#"[{"certname": "a.example.com", "name": "role", "value": "web"},
                {"certname": "a.example.com", "name": "os", "value": {"family": "Debian"}}]"#,
        ),
    ]);
    for file in ["facter.json", "facter.yaml", "facts.json", "cached.yaml", "puppetdb.json"] {
        let catalog = folder.catalog(&["site.pp", "--facts", file]);
        assert_eq!(titles(&catalog, "Notify"), ["web Debian a.example.com"], "{file}");
        assert_eq!(catalog["name"], "a.example.com", "{file}");
    }
    let catalog = folder.catalog(&["site.pp", "--facts", "facter.json", "--node", "b"]);
    assert_eq!(titles(&catalog, "Notify"), ["web Debian b"]);
}

#[test]
fn several_files_of_facts_are_laid_over_each_other() {
    let folder = Folder::new(&[
        ("site.pp", MANIFEST),
        ("base.json", r#"{"role": "web", "os": {"family": "Debian", "name": "Debian"}}"#),
        ("custom.yaml", "role: db\n"),
    ]);
    let catalog =
        folder.catalog(&["site.pp", "--facts", "base.json", "--facts", "custom.yaml", "--node", "n"]);
    assert_eq!(titles(&catalog, "Notify"), ["db Debian n"]);
    let catalog =
        folder.catalog(&["site.pp", "--platform", "rocky-9", "--facts", "custom.yaml", "--node", "n"]);
    assert_eq!(titles(&catalog, "Notify"), ["db RedHat n"]);
}

#[test]
fn facts_of_an_agent_are_there() {
    let folder = Folder::new(&[
        (
            "site.pp",
            "notify { \"${facts['clientcert']} ${facts['clientversion']} ${facts['clientnoop']}\": }\n",
        ),
        ("facts.json", "{\"a\": 1}"),
    ]);
    let catalog = folder.catalog(&["site.pp", "--facts", "facts.json", "--node", "n", "--puppet", "7"]);
    assert_eq!(titles(&catalog, "Notify"), ["n 7.23.0 false"]);
}

#[test]
fn extensions_of_the_certificate_are_trusted_facts() {
    let manifest = "notify { \"${trusted['extensions']['pp_role']} ${trusted['authenticated']} ${trusted['hostname']} \
                    ${trusted['domain']}\": }\n";
    let folder = Folder::new(&[
        ("site.pp", manifest),
        ("bare.yaml", "pp_role: web\n"),
        ("whole.json", r#"{"extensions": {"pp_role": "web"}, "authenticated": "remote"}"#),
        ("csr_attributes.yaml", "extension_requests:\n  1.3.6.1.4.1.34380.1.1.13: web\n"),
        ("several/a.example.com.yaml", "pp_role: web\n"),
    ]);
    for file in ["bare.yaml", "whole.json", "csr_attributes.yaml", "several"] {
        let catalog = folder.catalog(&["site.pp", "--trusted", file, "--node", "a.example.com"]);
        assert_eq!(titles(&catalog, "Notify"), ["web remote a example.com"], "{file}");
    }
}

#[test]
fn a_classifier_gives_classes_parameters_and_the_environment() {
    let files = [
        ("site.pp", "notify { \"${top} ${environment}\": }\n"),
        ("modules/a/manifests/init.pp", "class a(String $x = 'default') { notify { \"a ${x}\": } }\n"),
        ("modules/b/manifests/init.pp", "class b { notify { 'b': noop => true, schedule => 'daily' } }\n"),
        ("list.yaml", "---\nclasses:\n  - a\n  - b\nparameters:\n  top: level\nenvironment: staging\n"),
        ("hash.yaml", "---\nclasses:\n  b:\n  a:\n    x: given\nparameters:\n  top: level\n"),
        ("wrong.yaml", "classes: 3\n"),
    ];
    let folder = Folder::new(&files);
    let compile = |file: &str| folder.catalog(&["site.pp", "--modulepath", "modules", "--enc", file]);
    let catalog = compile("list.yaml");
    assert_eq!(titles(&catalog, "Notify"), ["level staging", "a default", "b"]);
    assert_eq!(catalog["environment"], "staging");
    let catalog = compile("hash.yaml");
    assert_eq!(titles(&catalog, "Notify"), ["level production", "a given", "b"]);
    let resources = catalog["resources"].as_array().unwrap();
    let b =
        resources.iter().find(|resource| resource["title"] == "b" && resource["type"] == "Notify").unwrap();
    assert_eq!(b["parameters"], serde_json::json!({"noop": true, "schedule": "daily"}));
    let run = folder.run(&["compile", "site.pp", "--enc", "wrong.yaml"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("`classes` is a list of names"), "{}", run.err);
}
