use std::path::Path;

use setpoint_source::{Diagnostic, MemoryFileSystem, Sources};

use super::*;

fn read(text: &str) -> (Config, Vec<Diagnostic>, Sources) {
    let mut files = MemoryFileSystem::new();
    files.add("repo/setpoint.toml", text);
    let sources = Sources::new();
    let (config, diagnostics) = load(&files, &sources, Path::new("repo/setpoint.toml")).unwrap();
    (config, diagnostics, sources)
}

/// `line: message | help`
fn wrong(text: &str) -> Vec<String> {
    let (_, diagnostics, sources) = read(text);
    diagnostics
        .iter()
        .map(|found| {
            let line = found.span.map_or(0, |span| sources.position(span).line);
            let said: Vec<&str> =
                [&found.message].into_iter().chain(&found.helps).map(String::as_str).collect();
            format!("{line}: {}", said.join(" | "))
        })
        .collect()
}

#[test]
fn every_section_is_read() {
    let (config, diagnostics, _) = read(
        r#"
        [puppet]
        version = 7
        modulepath = ["modules", "site:other"]
        platforms = ["debian-12", "rocky-9"]
        facts = "facts/*.yaml"
        nodes = ["web1.example.com"]
        strict_variables = true
        hiera = "hiera.yaml"

        [rules]
        enable = ["redundant-edge"]

        [[case]]
        name = "defaults"
        class = "ntp"
        platform = "debian-12"
        node = "n1"
        facts = { role = "web", count = 3, tags = ["a", 1.5] }
        trusted = { extensions = { pp_role = "web" } }
        parameters = { servers = ["a"] }

        [[case]]
        name = "code"
        code = "include ntp"

        [stubs]
        "vault::read" = "x"
        "profile/motd.erb" = { any = 1 }

        [[exec]]
        command = '^/usr/bin/make\b'
        writes = ["/opt/app"]
        needs = "/usr/bin/make"
        idempotent = false

        [[exec]]
        title = "refresh"

        [type."My::Thing"]
        writes = "/etc/{title}.conf"
        content = "{text}"
        needs_packages = ["thing"]

        [type.keystone_config]
        edits = "/etc/keystone/keystone.conf"
        key = "{title}"
        value = "{value}"

        [[invariant]]
        name = "motd"
        file = "/etc/motd"
        ensure = "file"
        mode = "0644"
        nodes = ["^web"]

        [[invariant]]
        name = "free"
        expression = "exists('/a') implies file('/b').owner == 'app'"
        "#,
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let puppet = &config.puppet;
    assert_eq!(puppet.version.as_ref().map(|version| version.value), Some(7));
    let folders: Vec<&str> = puppet.modulepath.iter().flatten().map(|folder| folder.as_str()).collect();
    assert_eq!(folders, ["modules", "site", "other"]);
    assert_eq!(puppet.platforms.len(), 2);
    assert_eq!(puppet.facts[0].value, "facts/*.yaml");
    assert_eq!(puppet.strict_variables, Some(true));
    assert_eq!(config.resolve("modules"), Path::new("repo/modules"));

    assert_eq!(config.enabled[0].value, "redundant-edge");

    assert_eq!(config.cases.len(), 2);
    let case = &config.cases[0];
    assert!(matches!(&case.entry, CaseEntry::Class(class) if class.value == "ntp"));
    let facts: Vec<&str> = case.facts.keys().map(String::as_str).collect();
    assert_eq!(facts, ["role", "count", "tags"]);
    assert_eq!(case.facts["count"].value.kind, ValueKind::Integer(3));

    assert_eq!(config.stub("vault::read").and_then(Value::text), Some("x"));
    assert!(config.stub("nothing").is_none());

    let make = &config.execs[0];
    assert!(make.matches("any", "/usr/bin/make install"));
    assert!(!make.matches("any", "/usr/bin/makeinfo"));
    assert!(!make.idempotent && config.execs[1].idempotent);
    assert!(config.execs[1].matches("refresh", "x") && !config.execs[1].matches("refreshed", "x"));

    assert_eq!(config.types[0].name.value, "my::thing");
    assert_eq!(config.types[1].edits.as_ref().map(|path| path.as_str()), Some("/etc/keystone/keystone.conf"));

    let motd = "/etc/motd".to_owned();
    assert_eq!(
        config.invariants[0].sentence.facts(),
        [&Fact::Path(motd.clone(), PathKind::File), &Fact::File(FileProperty::Mode, motd, "0644".to_owned())]
    );
    assert_eq!(config.invariants[1].name, "free");
    assert!(config.invariants[0].nodes[0].matches("web7"));
}

#[test]
fn a_misspelt_name_is_said_with_its_place_and_the_nearest_one() {
    assert_eq!(
        wrong("[puppet]\nplatform = []\n[stub]\n\n[[exec]]\ncomand = 'x'\ntitle = 'y'\nzzzzzz = 1\n"),
        [
            "2: There is no setting `platform` in [puppet] | Did you mean `platforms`?",
            "3: There is no section `stub` in setpoint.toml | Did you mean `stubs`?",
            "6: There is no setting `comand` in [[exec]] | Did you mean `command`?",
            "8: There is no setting `zzzzzz` in [[exec]] | The settings are title, command, idempotent, creates, \
             directories, writes, reads, removes, needs, packages, removes_packages, needs_packages, users, groups, \
             restarts."
        ]
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_said_and_the_rest_is_used() {
    let text = "[puppet]\nversion = 6\nplatforms = [1]\nstrict_variables = 'yes'\nfacts = 3\nnodes = ['a']\n";
    assert_eq!(
        wrong(text),
        [
            "2: `version` in [puppet] is the version of Puppet whose rules hold: 7 or 8",
            "3: `platforms` is a list of texts, and this is an integer",
            "5: `facts` is a list of texts, and this is an integer",
            "4: `strict_variables` is true or false, and this is a text",
        ]
    );
    assert_eq!(read(text).0.puppet.nodes[0].value, "a");
    assert_eq!(wrong("puppet = 1\ncase = 2\n").len(), 2);
    assert_eq!(wrong("[case]\nname = 'a'\n").len(), 1);
}

#[test]
fn what_is_contradictory_is_said() {
    assert_eq!(
        wrong("[[case]]\nname = 'a'\n"),
        ["1: A case says what to compile by one of `code`, `manifest` and `class`"]
    );
    assert_eq!(wrong("[[case]]\ncode = 'a'\n"), ["1: [[case]] needs a `name`"]);
    assert_eq!(
        wrong("[[case]]\nname = 'a'\ncode = 'a'\nparameters = {}\n"),
        ["4: Only a case with a `class` has `parameters`"]
    );
    assert_eq!(
        wrong("[[exec]]\nwrites = '/a'\n"),
        ["1: An [[exec]] says by `title` or `command` which one is meant"]
    );
    assert_eq!(wrong("[[exec]]\ncommand = '^('\n").len(), 1);
    assert!(read("[[exec]]\ncommand = '^('\n").0.execs.is_empty());
    assert_eq!(wrong("[[invariant]]\nname = 'a'\nfile = '/a'\n").len(), 1);
    assert_eq!(wrong("[[invariant]]\nname = 'a'\nfile = '/a'\nuser = 'b'\nensure = 'present'\n").len(), 1);
}

#[test]
fn an_invariant_that_is_not_understood_is_said_at_its_place() {
    let place = |text: &str| {
        let (config, diagnostics, sources) = read(text);
        assert!(config.invariants.is_empty());
        let [found] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
        let position = sources.position(found.span.unwrap());
        format!("{}:{} {}", position.line, position.column, found.message)
    };
    assert_eq!(
        place("[[invariant]]\nexpression = \"file('/a').mod == '0644'\"\n"),
        "2:26 This invariant is not understood: a file has no `mod`"
    );
    assert_eq!(
        place("[[invariant]]\nfile = '/a'\nensure = 'up'\n"),
        "3:10 `ensure` of a file is `file`, `directory`, `link`, `present` or `absent`"
    );
    assert_eq!(place("[[invariant]]\nuser = 'a'\nmode = '0644'\n"), "3:8 a user has no `mode`");
    assert_eq!(place("[[invariant]]\nuser = 'a'\nenabled = true\n"), "3:11 only a service is `enabled`");
    assert_eq!(
        place("[[invariant]]\nresource = 'Cron[a]'\nensure = 'present'\n"),
        "2:12 This is no file, package, service, user or group, as `File[/etc/motd]`"
    );
    let named = |text: &str| read(text).0.invariants[0].name.clone();
    assert_eq!(named("[[invariant]]\nfile = '/a'\nensure = \"file\"\n"), "file = '/a', ensure = \"file\"");
    assert_eq!(named("[[invariant]]\nexpression = \"exists('/a')\"\n"), "exists('/a')");
}

#[test]
fn what_is_not_toml_is_said_and_the_rest_is_used() {
    let text = "[puppet]\nnodes = ['a']\nversion = \n[stubs]\na = 'b'\n";
    let (config, diagnostics, sources) = read(text);
    assert!(!diagnostics.is_empty());
    assert_eq!(diagnostics[0].span.map(|span| sources.position(span).line), Some(3));
    assert_eq!(config.stub("a").and_then(Value::text), Some("b"));
}

#[test]
fn the_file_is_found_above_the_input() {
    let mut files = MemoryFileSystem::new();
    files.add("repo/setpoint.toml", "");
    files.add("repo/site/a/b.pp", "");
    assert_eq!(find(&files, Path::new("repo/site/a/b.pp")), Some("repo/setpoint.toml".into()));
    assert_eq!(find(&files, Path::new("repo")), Some("repo/setpoint.toml".into()));
    assert_eq!(find(&files, Path::new("elsewhere")), None);
}
