//! What is not there is named with the places that were searched and the nearest name.

use crate::folder::Folder;

fn folder() -> Folder {
    Folder::new(&[
        ("modules/ntp/manifests/init.pp", "class ntp { }\n"),
        ("modules/ntp/manifests/server.pp", "class ntp::server { }\n"),
        ("modules/ntp/manifests/peer.pp", "define ntp::peer() { }\n"),
        ("modules/ntp/templates/ntp.conf.epp", "x\n"),
        ("modules/ntp/files/keys.txt", "x\n"),
        ("modules/ntp/functions/hosts.pp", "function ntp::hosts() { [] }\n"),
    ])
}

/// What is said about a manifest.
fn said(manifest: &str) -> String {
    let folder = folder();
    folder.add("site.pp", manifest);
    let run = folder.run(&["compile", "site.pp", "--modulepath", "modules"]);
    assert_eq!(run.status, 1, "{}{}", run.out, run.err);
    run.err
}

fn assert_says(manifest: &str, sentences: &[&str]) {
    let said = said(manifest);
    for sentence in sentences {
        assert!(said.contains(sentence), "{sentence:?} is not in\n{said}");
    }
}

#[test]
fn a_module() {
    assert_says(
        "include npt\n",
        &["Could not find class ::npt", "There is no module `npt` in modules", "Did you mean `ntp`?"],
    );
}

#[test]
fn a_class() {
    assert_says(
        "include ntp::sever\n",
        &[
            "Its place is modules/ntp/manifests/sever.pp, which does not exist.",
            "Did you mean `ntp::server`?",
        ],
    );
    assert_says("class { 'ntp::sever': }\n", &["Did you mean `ntp::server`?"]);
    assert_says("class a inherits ntp::sever { }\ninclude a\n", &["Did you mean `ntp::server`?"]);
}

#[test]
fn a_type() {
    assert_says("ntp::pear { 'x': }\n", &["modules/ntp/manifests/pear.pp", "Did you mean `ntp::peer`?"]);
    assert_says(
        "packge { 'x': }\n",
        &["Neither Puppet nor a module in modules has", "Did you mean `package`?"],
    );
    assert_says(
        "ini_setting { 'x': }\n",
        &["It is a type of the module inifile. There is no module `inifile` in modules"],
    );
}

#[test]
fn a_function() {
    assert_says("$x = ntp::host()\n", &["modules/ntp/functions/host.pp", "Did you mean `ntp::hosts`?"]);
    assert_says(
        "$x = spilt('a', ',')\n",
        &["Neither Puppet nor a module in modules has", "Did you mean `split`?"],
    );
    assert_says(
        "$x = deep_merge({}, {})\n",
        &["It is a function of the module stdlib", "not on the module path"],
    );
    assert_says("$x = vault::read()\n", &["There is no module `vault` in modules"]);
}

#[test]
fn a_template_and_a_file() {
    assert_says(
        "$x = epp('ntp/ntp.cnf.epp')\n",
        &[
            "Its place is modules/ntp/templates/ntp.cnf.epp, which does not exist.",
            "Did you mean `ntp/ntp.conf.epp`?",
        ],
    );
    assert_says("$x = template('ntp/a.erb')\n", &["Its place is modules/ntp/templates/a.erb"]);
    assert_says("$x = file('ntp/key.txt')\n", &["modules/ntp/files/key.txt", "Did you mean `ntp/keys.txt`?"]);
    assert_says(
        "$x = epp('npt/ntp.conf.epp')\n",
        &["There is no module `npt`", "Did you mean `ntp/ntp.conf.epp`?"],
    );
}

#[test]
fn a_module_path() {
    let folder = folder();
    folder.add("site.pp", "include ntp\n");
    let run = folder.run(&["compile", "site.pp"]);
    assert!(run.err.contains("no module path is known. Give one with --modulepath"), "{}", run.err);
}

#[test]
fn data() {
    let folder = folder();
    folder.add("environment.conf", "");
    folder.add("hiera.yaml", "version: 5\nhierarchy:\n  - name: nodes\n    path: nodes/x.yaml\n  - name: common\n    path: common.yaml\n");
    folder.add("data/common.yaml", "ntp::servers: []\n");
    folder.add("site.pp", "$x = lookup('ntp::server')\n");
    let run = folder.run(&["compile", "site.pp", "--environment", "."]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("did not find a value for the name 'ntp::server'"), "{}", run.err);
    for file in ["data/nodes/x.yaml", "data/common.yaml"] {
        assert!(run.err.contains(file), "{file} is not in\n{}", run.err);
    }
}

#[test]
fn a_data_file_that_cannot_be_read_is_not_told_as_one_that_cannot_be_parsed() {
    let folder = folder();
    folder.add("environment.conf", "");
    folder.add("hiera.yaml", "version: 5\nhierarchy:\n  - name: common\n    path: common.yaml\n");
    folder.add("data/common.yaml", "");
    folder.add("site.pp", "$x = lookup('ntp::server')\n");
    std::fs::write(folder.path.join("data/common.yaml"), b"ntp::server: \xff\n").unwrap();
    let run = folder.run(&["check", "site.pp", "--environment", "."]);
    let said = format!("{}{}", run.out, run.err);
    assert!(said.contains("data/common.yaml: line 1 is not valid UTF-8"), "{said}");
    assert!(!said.contains("Unable to parse"), "{said}");
    assert!(said.contains("catalog unknown"), "{said}");
}

#[test]
fn an_input() {
    let folder = folder();
    let run = folder.run(&["check", "nosuch.pp"]);
    assert_eq!((run.status, run.err.trim()), (2, "error: cannot read nosuch.pp: there is no such file"));
    for option in ["--trusted", "--enc", "--nodes", "--facts", "--config"] {
        let run = folder.run(&["check", "modules/ntp", option, "nosuch.yaml"]);
        assert_eq!(run.status, 2, "{option}");
        assert!(run.err.contains(&format!("'nosuch.yaml' for '{option} ")), "{option}: {}", run.err);
        assert!(run.err.contains("there is no such file"), "{option}: {}", run.err);
    }
    let run = folder.run(&["check", "modules/ntp", "--platform", "debain-12"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("the nearest is `debian-12`"), "{}", run.err);
}

#[test]
fn a_setting() {
    let folder = folder();
    folder.add("setpoint.toml", "[puppet]\nplatform = \"debian-12\"\nversion = \"9\"\n");
    let run = folder.run(&["check", "modules/ntp"]);
    assert_eq!(run.status, 1, "{}", run.out);
    assert!(run.out.contains("Did you mean `platforms`?"), "{}", run.out);
    assert!(run.out.contains("setpoint.toml:2:1"), "{}", run.out);
    let run = folder.run(&["check", "modules/ntp", "--config", "nosuch.toml"]);
    assert_eq!(run.status, 2);
}
