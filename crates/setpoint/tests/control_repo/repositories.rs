//! Control repositories and environments.

use serde_json::Value;

use crate::folder::{Folder, findings, inputs, titles};

pub(crate) const SITE: &[(&str, &str)] = &[
    ("environment.conf", "modulepath = site-modules:modules:$basemodulepath\nmanifest = manifests\n"),
    (
        "manifests/a.pp",
        "
        node 'web1.example.com', 'web2.example.com' { include role::web }
        node 'db1.example.com' { include role::db }
        ",
    ),
    ("manifests/b.pp", "node default { notify { 'unknown machine': } }\nnode /^app/ { include role::web }\n"),
    ("site-modules/role/manifests/web.pp", "class role::web { include profile::web }\n"),
    (
        "site-modules/role/manifests/db.pp",
        "class role::db { notify { \"db on ${facts['os']['family']}\": } }\n",
    ),
    (
        "modules/profile/manifests/web.pp",
        "
        class profile::web(Integer $port) {
          notify { \"web ${port} ${facts['networking']['hostname']} ${environment}\": }
        }
        ",
    ),
    ("hiera.yaml", "version: 5\nhierarchy:\n  - name: common\n    path: common.yaml\n"),
    ("data/common.yaml", "profile::web::port: 8080\n"),
];

#[test]
fn a_repository_is_recognised_with_its_modules_manifests_and_data() {
    let folder = Folder::new(SITE);
    let catalog = folder.catalog(&[".", "--node", "web1.example.com"]);
    assert_eq!(titles(&catalog, "Notify"), ["web 8080 web1 production"]);
    let catalog =
        folder.catalog(&["--environment", ".", "--node", "db1.example.com", "--platform", "rocky-9"]);
    assert_eq!(titles(&catalog, "Notify"), ["db on RedHat"]);
    let run = folder.run(&["compile", ".", "--node", "db1.example.com"]);
    assert!(
        run.err.contains("No facts are known of db1.example.com: those of debian-12 are used"),
        "{}",
        run.err
    );
    let catalog = folder.catalog(&[".", "--node", "elsewhere"]);
    assert_eq!(titles(&catalog, "Notify"), ["unknown machine"]);
}

#[test]
fn another_manifest_can_be_compiled_in_an_environment() {
    let folder = Folder::new(SITE);
    folder.add("other/try.pp", "include profile::web\n");
    let catalog =
        folder.catalog(&["other/try.pp", "--environment", ".", "--platform", "debian-12", "--node", "n.x"]);
    assert_eq!(titles(&catalog, "Notify"), ["web 8080 n production"]);
}

#[test]
fn an_environment_among_others_has_its_name() {
    let files: Vec<(String, &str)> =
        SITE.iter().map(|(name, text)| (format!("environments/staging/{name}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = Folder::new(&files);
    let catalog = folder.catalog(&["environments/staging", "--node", "web1.example.com"]);
    assert_eq!(catalog["environment"], "staging");
    assert_eq!(titles(&catalog, "Notify"), ["web 8080 web1 staging"]);
}

#[test]
fn a_repository_without_configuration_has_the_usual_folders() {
    let folder = Folder::new(&[
        ("manifests/site.pp", "include a\ninclude b\n"),
        ("modules/a/manifests/init.pp", "class a { notify { 'a': } }\n"),
        ("site-modules/b/manifests/init.pp", "class b { notify { 'b': } }\n"),
    ]);
    assert_eq!(titles(&folder.catalog(&["."]), "Notify"), ["a", "b"]);
}

#[test]
fn every_node_that_is_named_is_checked() {
    let folder = Folder::new(SITE);
    let (report, status) = folder.report(&["."]);
    assert_eq!(status, 0, "{report:#}");
    let all = inputs(&report);
    assert_eq!(
        all,
        [
            ".|-|-",
            ".|web1.example.com|ok",
            ".|web2.example.com|ok",
            ".|db1.example.com|ok",
            ".|app (made up for /^app/)|ok"
        ],
        "node statements name the nodes, and an expression gets a name that fits it"
    );
    let said = findings(&report);
    assert!(said.iter().any(|one| one.starts_with("note assumed-platform")), "{said:?}");

    folder.add("facts/app7.yaml", "os: {family: RedHat}\nnetworking: {hostname: app7}\n");
    let (report, _) = folder.report(&["."]);
    assert!(inputs(&report).contains(&".|app7|ok".to_owned()), "{report:#}");
    assert!(!inputs(&report).iter().any(|one| one.contains("/^app/")), "a real node fits it");

    folder.add("nodes.txt", "# two\nweb9.example.com debian-12\nother   rocky-9 # red\n");
    let (report, _) = folder.report(&[".", "--nodes", "nodes.txt"]);
    assert_eq!(inputs(&report), [".|-|-", ".|web9.example.com|ok", ".|other|ok"]);

    folder.add("setpoint.toml", "[puppet]\nnodes = [\"app1\"]\nplatforms = [\"debian-12\"]\n");
    let (report, _) = folder.report(&["."]);
    assert!(inputs(&report).contains(&".|app1|ok".to_owned()), "{report:#}");

    folder
        .add("setpoint.toml", "[[case]]\nname = \"a role\"\nclass = \"role::db\"\nplatform = \"rocky-9\"\n");
    let (report, _) = folder.report(&["."]);
    assert!(inputs(&report).contains(&"./setpoint.toml|a role on rocky-9|ok".to_owned()), "{report:#}");
    assert_eq!(titles(&folder.catalog(&[".", "--case", "a role"]), "Notify"), ["db on RedHat"]);
    assert_eq!(titles(&folder.catalog(&[".", "--node", "other"]), "Notify"), ["unknown machine"]);
}

#[test]
fn files_with_facts_may_lie_where_the_configuration_says() {
    let folder = Folder::new(SITE);
    folder.add("machines/red/r1.yaml", "os: {family: RedHat}\nnetworking: {fqdn: db7.example.com}\n");
    folder.add("setpoint.toml", "[puppet]\nfacts = [\"machines/**/*.yaml\"]\n");
    let (report, _) = folder.report(&["."]);
    assert!(inputs(&report).contains(&".|db7.example.com|ok".to_owned()), "{report:#}");
}

#[test]
fn what_nodes_have_in_common_is_said_once() {
    let folder = Folder::new(SITE);
    folder.add("modules/profile/manifests/web.pp", "class profile::web { include nosuch }\n");
    let (report, status) = folder.report(&["."]);
    assert_eq!(status, 1);
    let errors: Vec<String> = findings(&report).into_iter().filter(|one| one.starts_with("error")).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let finding =
        report["inputs"].as_array().unwrap().iter().flat_map(|input| input["findings"].as_array().unwrap());
    let nodes: Vec<&Value> =
        finding.filter(|one| one["severity"] == "error").map(|one| &one["nodes"]).collect();
    assert_eq!(
        nodes,
        [&serde_json::json!(["web1.example.com", "web2.example.com", "app (made up for /^app/)"])]
    );
    let text = folder.run(&["check", "."]).out;
    assert!(
        text.contains("3 nodes: web1.example.com, web2.example.com and app (made up for /^app/)"),
        "{text}"
    );
}

#[test]
fn unknown_settings_of_environment_conf_are_warnings() {
    let folder = Folder::new(SITE);
    folder.add("environment.conf", "module_path = x\nconfig_version = /bin/date\nenvironment_timeout = 0\n");
    let run = folder.run(&["check", "."]);
    assert!(run.out.contains("Puppet knows no setting `module_path`"), "{}", run.out);
    assert!(run.out.contains("Did you mean `modulepath`?"), "{}", run.out);
    assert!(!run.out.contains("config_version"), "{}", run.out);
}

#[test]
fn modules_of_the_puppetfile_that_are_missing_are_named_once() {
    let folder = Folder::new(SITE);
    folder.add(
        "Puppetfile",
        "
        forge 'https://forge.example.com'
        mod 'puppetlabs/stdlib', '9.0.0'
        mod 'puppetlabs-concat'
        mod 'profile', :git => 'https://git.example.com/profile'
        ",
    );
    let (report, status) = folder.report(&["."]);
    assert_eq!(status, 0);
    let missing: Vec<String> =
        findings(&report).into_iter().filter(|one| one.contains("missing-modules")).collect();
    assert_eq!(
        missing,
        ["warning missing-modules: The Puppetfile names 2 modules that are not installed: stdlib and concat"]
    );
    // Where that is why nothing compiles, it is an error, and it says what to run.
    folder.add("manifests/b.pp", "node default { include concat }\n");
    let run = folder.run(&["check", ".", "--node", "x"]);
    assert_eq!(run.status, 1);
    assert!(run.out.contains("error[missing-modules]"), "{}", run.out);
    assert!(run.out.contains("r10k puppetfile install"), "{}", run.out);
}

#[test]
fn a_choice_is_asked_for_where_there_are_several_nodes() {
    let folder = Folder::new(SITE);
    let run = folder.run(&["compile", "."]);
    assert_eq!(run.status, 2);
    assert!(
        run.err
            .contains("choose one with --node: web1.example.com, web2.example.com, db1.example.com and app"),
        "{}",
        run.err
    );
    let run = folder.run(&["compile", "--environment", "nosuch"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("'nosuch' for '--environment <DIR>': there is no such folder"), "{}", run.err);
}

#[test]
fn threads_change_nothing_about_one_catalog() {
    // Enough pairs that write the same places for threads to share; the order of some matters.
    let mut site = String::new();
    for number in 0..16 {
        let place = number % 4;
        site += &format!("exec {{ 'echo {number} > /srv/shared{place}': path => '/bin' }}\n");
        site += &format!("exec {{ 'cp /srv/shared{place} /srv/copy{number}': path => '/bin' }}\n");
    }
    let folder = Folder::new(&[("site.pp", &site)]);
    let check = |threads: &str| folder.run(&["check", "site.pp", "--platform", "debian-12", "-j", threads]);
    let alone = check("1");
    assert!(alone.out.contains("order dependent"), "{}{}", alone.out, alone.err);
    let shared = check("4");
    assert_eq!((&alone.out, alone.status), (&shared.out, shared.status));
}

#[test]
fn a_fleet_is_compiled_in_parallel_and_in_parts() {
    let folder = Folder::new(SITE);
    let mut names = String::new();
    for number in 0..40 {
        names +=
            &format!("app{number}.example.com {}\n", if number % 2 == 0 { "debian-12" } else { "rocky-9" });
    }
    folder.add("nodes.txt", &names);
    let fleet = |more: &[&str]| {
        let all: Vec<&str> = ["fleet", ".", "--nodes", "nodes.txt"].iter().chain(more).copied().collect();
        folder.run(&all)
    };
    let one = fleet(&["--format", "json", "-j", "1"]);
    let four = fleet(&["--format", "json", "-j", "4"]);
    assert_eq!(one.status, 0, "{}", one.err);
    assert_eq!(one.out, four.out, "the number of threads changes nothing");
    let json: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(json["totals"]["nodes"], 40);
    assert_eq!(json["totals"]["ok"], 40);
    assert_eq!(json["nodes"][1]["platform"], "rocky-9");

    let part = |number: usize| -> Vec<String> {
        let run = fleet(&["--format", "json", "--shard", &format!("{number}/3")]);
        let json: Value = serde_json::from_str(&run.out).unwrap();
        let nodes = json["nodes"].as_array().unwrap().iter();
        nodes.map(|node| node["node"].as_str().unwrap().to_owned()).collect()
    };
    let mut parts: Vec<String> = (1..=3).flat_map(part).collect();
    parts.sort();
    parts.dedup();
    assert_eq!(parts.len(), 40);

    let text = fleet(&[]).out;
    assert!(text.contains("app0.example.com"), "{text}");
    assert!(text.contains("40 nodes: 40 ok, 0 failed"), "{text}");
    assert_eq!(fleet(&["--shard", "4/3"]).status, 2);

    folder.add("modules/profile/manifests/web.pp", "class profile::web { fail('no') }\n");
    let run = fleet(&["--format", "json"]);
    assert_eq!(run.status, 1);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&json["totals"]["fail"], &json["totals"]["errors"]), (&Value::from(40), &Value::from(1)));
    assert_eq!(fleet(&["--fail-on", "never"]).status, 0);
}
