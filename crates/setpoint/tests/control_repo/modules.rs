//! Modules as inputs: what is entered, for what, and what is left out.

use crate::folder::{Folder, findings, inputs, titles};

const METADATA: &str = r#"{"name": "acme-ntp", "version": "1.0.0", "dependencies": [],
    "operatingsystem_support": [{"operatingsystem": "Debian", "operatingsystemrelease": ["12"]},
                                {"operatingsystem": "Rocky", "operatingsystemrelease": ["9"]}]}"#;

fn module() -> Folder {
    Folder::new(&[
        ("metadata.json", METADATA),
        ("manifests/init.pp", "class ntp { notify { \"ntp on ${facts['os']['name']}\": } }\n"),
        ("manifests/server.pp", "class ntp::server(String $key, Integer $port) { }\n"),
        (
            "manifests/debian.pp",
            "class ntp::debian { if $facts['os']['family'] != 'Debian' { fail('only Debian') } }\n",
        ),
        ("manifests/broken.pp", "class ntp::broken { include nosuch }\n"),
        ("manifests/thing.pp", "define ntp::thing() { }\n"),
        ("examples/all.pp", "ntp::thing { 'x': }\ninclude ntp\n"),
    ])
}

#[test]
fn examples_and_classes_are_entered_for_every_platform() {
    let folder = module();
    let (report, status) = folder.report(&["."]);
    assert_eq!(status, 0, "a class that cannot be entered is no error: {report:#}");
    assert_eq!(
        inputs(&report),
        [
            ".|-|-",
            "./examples/all.pp|debian-12|ok",
            "./examples/all.pp|rocky-9|ok",
            "./manifests/debian.pp|debian-12|unknown",
            "./manifests/init.pp|debian-12|ok",
            "./manifests/init.pp|rocky-9|ok",
        ]
    );
    let said = findings(&report);
    assert!(
        said.contains(&"note not-entered: Skipped 1 class: parameters are missing".to_owned()),
        "{said:#?}"
    );
    assert!(said.iter().any(|one| one.starts_with("warning unknown-class")), "{said:#?}");
    assert!(said.contains(&"note not-entered: Entered 2 of 4 classes".to_owned()), "{said:#?}");
    let text = folder.run(&["check", "."]).out;
    assert!(text.contains("ntp::server needs `key` and `port`"), "{text}");
    assert!(!text.contains("only Debian"), "it was entered elsewhere: {text}");
    assert!(text.contains("\nmanifests/init.pp for debian-12 and rocky-9: catalog ok"), "{text}");
}

#[test]
fn one_entry_can_be_chosen() {
    let folder = module();
    let catalog = folder.catalog(&[".", "--case", "ntp", "--platform", "rocky-9"]);
    assert_eq!(titles(&catalog, "Notify"), ["ntp on Rocky"]);
    let run = folder.run(&["compile", "."]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("choose one with --case: examples/all.pp, "), "{}", run.err);
    let run = folder.run(&["compile", ".", "--case", "npt"]);
    assert!(run.err.contains("there is no case `npt`: did you mean `ntp`?"), "{}", run.err);
    let run = folder.run(&["compile", ".", "--case", "ntp"]);
    assert!(run.err.contains("choose one with --platform: debian-12 and rocky-9"), "{}", run.err);
}

#[test]
fn cases_of_the_configuration_come_first() {
    let folder = module();
    folder.add(
        "manifests/server.pp",
        "class ntp::server(String $key, Integer $port) { notify { \"${key} ${port}\": } }\n",
    );
    folder.add(
        "setpoint.toml",
        r#"
        [puppet]
        platforms = ["debian-12"]

        [[case]]
        name = "a server"
        class = "ntp::server"
        parameters = { key = "k", port = 123 }

        [[case]]
        name = "some code"
        code = "notify { \"${facts['role']} ${trusted['extensions']['pp_role']} ${facts['os']['name']}\": }"
        platform = "rocky-9"
        node = "n1"
        facts = { role = "time" }
        trusted = { extensions = { pp_role = "trusted" } }
        "#,
    );
    let (report, _) = folder.report(&["."]);
    let all = inputs(&report);
    assert_eq!(all[1], "./setpoint.toml|a server on debian-12|ok");
    assert_eq!(all[2], "./setpoint.toml|some code on n1 on rocky-9|ok");
    assert!(!all.iter().any(|one| one.contains("init.pp|rocky-9")), "{all:?}");
    assert_eq!(titles(&folder.catalog(&[".", "--case", "a server"]), "Notify"), ["k 123"]);
    assert_eq!(titles(&folder.catalog(&[".", "--case", "some code"]), "Notify"), ["time trusted Rocky"]);
}

#[test]
fn dependencies_are_found_beside_the_module_and_by_its_fixtures() {
    let uses = "class app { include lib }\n";
    let lib = "class lib { notify { 'lib': } }\n";
    let metadata = r#"{"name": "acme-app", "dependencies": [{"name": "acme/lib"}]}"#;
    let check = |folder: &Folder, input: &str| {
        let (report, _) = folder.report(&[input]);
        (inputs(&report), findings(&report))
    };
    let beside = Folder::new(&[
        ("modules/app/metadata.json", metadata),
        ("modules/app/manifests/init.pp", uses),
        ("modules/lib/manifests/init.pp", lib),
    ]);
    assert_eq!(
        check(&beside, "modules/app").0,
        ["modules/app|-|-", "modules/app/manifests/init.pp|debian-12|ok"]
    );

    let fixtures = "fixtures:\n  repositories:\n    lib: https://git.example.com/lib\n  symlinks:\n    app: \"#{source_dir}\"\n";
    let fetched = Folder::new(&[
        ("acme-app/metadata.json", metadata),
        ("acme-app/.fixtures.yml", fixtures),
        ("acme-app/manifests/init.pp", uses),
        ("acme-app/spec/fixtures/modules/lib/manifests/init.pp", lib),
    ]);
    assert_eq!(check(&fetched, "acme-app").0, ["acme-app|-|-", "acme-app/manifests/init.pp|debian-12|ok"]);

    let missing = Folder::new(&[("acme-app/metadata.json", metadata), ("acme-app/manifests/init.pp", uses)]);
    let (_, said) = check(&missing, "acme-app");
    assert_eq!(
        said,
        [
            "warning missing-modules: The module app depends on a module that is not on the module path: lib",
            "error nothing-checked: Nothing was checked: no catalog with a resource could be compiled",
            "note not-entered: Skipped 1 class: a module is missing",
            "note not-entered: Entered 0 of 1 class",
        ]
    );
}

#[test]
fn failures_are_told_apart_by_what_failed_and_not_by_their_words() {
    let folder = Folder::new(&[
        ("app/metadata.json", r#"{"name": "acme-app"}"#),
        ("app/hiera.yaml", "version: 5\nhierarchy:\n  - name: common\n    path: common.yaml\n"),
        ("app/manifests/thing.pp", "define app::thing(Integer $port) { }\n"),
        ("app/manifests/needs.pp", "class app::needs(Integer $size) { }\n"),
        ("app/manifests/forgets.pp", "class app::forgets {\n  app::thing { 'a': }\n}\n"),
        ("app/manifests/computed.pp", "class app::computed { fail('The answer could not be computed') }\n"),
        ("app/manifests/expects.pp", "class app::expects { fail(\"expects a value for parameter 'x'\") }\n"),
        ("app/manifests/hides.pp", "class app::hides { fail('Class app::hides is private') }\n"),
    ]);
    let (report, _) = folder.report(&["app", "--platform", "debian-12"]);
    let said = findings(&report);
    for expected in [
        "note not-entered: Skipped 1 class: parameters are missing",
        "note not-entered: Skipped 3 classes: refused by the code itself",
        "warning type-mismatch: App::Thing[a]: expects a value for parameter 'port'",
    ] {
        assert!(said.contains(&expected.to_owned()), "{expected}: {said:#?}");
    }
    assert_eq!(said.len(), 5, "{said:#?}");
    let text = folder.run(&["check", "app", "--platform", "debian-12"]).out;
    assert!(text.contains("forgets.pp:2"), "the forgotten parameter has its place: {text}");
}

#[test]
fn data_of_the_module_gives_its_parameters() {
    let folder = Folder::new(&[
        ("modules/app/metadata.json", r#"{"name": "acme-app"}"#),
        ("modules/app/manifests/init.pp", "class app(Integer $port) { notify { \"port ${port}\": } }\n"),
        ("modules/app/hiera.yaml", "version: 5\nhierarchy:\n  - name: common\n    path: common.yaml\n"),
        ("modules/app/data/common.yaml", "app::port: 80\n"),
    ]);
    let catalog = folder.catalog(&["modules/app", "--case", "app"]);
    assert_eq!(titles(&catalog, "Notify"), ["port 80"]);
}

#[test]
fn a_file_that_cannot_be_parsed_is_an_error() {
    let folder = module();
    folder.add("manifests/wrong.pp", "class ntp::wrong {\n");
    let (report, status) = folder.report(&["."]);
    assert_eq!(status, 1, "{report:#}");
}

#[test]
fn stubs_stand_for_what_cannot_be_computed() {
    let folder = Folder::new(&[
        ("site.pp", "notify { secret::read('db'): }\nnotify { lookup('password'): }\n"),
        (
            "modules/secret/lib/puppet/functions/secret/read.rb",
            "Puppet::Functions.create_function(:'secret::read') { `date` }\n",
        ),
        ("manifests/.keep", ""),
        ("environment.conf", ""),
        ("hiera.yaml", "version: 5\nhierarchy:\n  - name: secrets\n    lookup_key: secret::key\n"),
        (
            "modules/secret/lib/puppet/functions/secret/key.rb",
            "Puppet::Functions.create_function(:'secret::key') { `date` }\n",
        ),
    ]);
    let run = folder.run(&["compile", "site.pp", "--environment", "."]);
    assert_eq!(run.status, 1, "an unknown title has no answer: {}", run.out);
    folder.add("setpoint.toml", "[stubs]\n\"secret::read\" = \"one\"\npassword = \"two\"\n");
    let catalog = folder.catalog(&["site.pp", "--environment", "."]);
    assert_eq!(titles(&catalog, "Notify"), ["one", "two"]);
}
