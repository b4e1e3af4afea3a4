//! Flows with a known answer: 21 that do harm, and 21 that look alike and do none.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

struct Case {
    name: &'static str,
    manifest: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The rules of flows that are found, in the order of the findings' names.
    expected: &'static [&'static str],
}

const fn case(name: &'static str, manifest: &'static str, expected: &'static [&'static str]) -> Case {
    Case { name, manifest, files: &[], expected }
}

const fn with(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    manifest: &'static str,
    expected: &'static [&'static str],
) -> Case {
    Case { name, manifest, files, expected }
}

const FACTS: &str = r#"{"team": "blue", "role": "web", "count": 3,
  "os": {"family": "Debian", "name": "Debian", "release": {"major": "12", "full": "12.5"}},
  "networking": {"hostname": "web1", "fqdn": "web1.example.com"}}"#;

const SEALED: &str = "version: 5
hierarchy:
  - name: sealed
    lookup_key: eyaml_lookup_key
    path: sealed.eyaml
  - name: common
    path: common.yaml
";
const SEALED_DATA: (&str, &str) = ("data/sealed.eyaml", "token: ENC[PKCS7,AAAA]\n");
const BY_FQDN: &str = "version: 5
hierarchy:
  - name: node
    lookup_key: eyaml_lookup_key
    path: \"nodes/%{facts.networking.fqdn}.eyaml\"
";
const BY_CERTNAME: &str = "version: 5
hierarchy:
  - name: node
    lookup_key: eyaml_lookup_key
    path: \"nodes/%{trusted.certname}.eyaml\"
  - name: system
    path: \"os/%{facts.os.family}.yaml\"
";
const BY_OLD_NAME: &str = "version: 5
hierarchy:
  - name: node
    path: \"nodes/%{::clientcert}.yaml\"
";
const CONVERTED: &str = "version: 5
hierarchy:
  - name: system
    path: \"os/%{facts.os.family}.yaml\"
  - name: common
    path: common.yaml
";
const ASKS: (&str, &str) = (
    "modules/m/templates/ask.erb",
    "#!/bin/sh\n<% if @team == 'blue' -%>\necho one\n<% else -%>\necho two\n<% end -%>\n",
);
const EPP: (&str, &str) = ("modules/m/templates/run.epp", "<%- | $team | -%>\n#!/bin/sh\nrun <%= $team %>\n");

static CASES: &[Case] = &[
    // Harmful.
    case("string", r#"exec { 'a': command => "/bin/run ${facts['team']}" }"#, &["fact-in-command"]),
    case("old variable", r#"exec { 'a': command => "/bin/run ${::team}" }"#, &["fact-in-command"]),
    case(
        "guard",
        r#"exec { 'a': command => '/bin/run', unless => "/bin/test -e /srv/${facts['team']}" }"#,
        &["fact-in-command"],
    ),
    case("title", r#"exec { "/bin/run ${facts['team']}": }"#, &["fact-in-command"]),
    case(
        "through variables and functions",
        "
$words = ['/bin/run', downcase($facts['team'])]
$line = join($words, ' ')
exec { 'a': command => $line }",
        &["fact-in-command"],
    ),
    case(
        "through a define",
        r#"
define run(String $who) { exec { "run ${title}": command => "/bin/run ${who}" } }
run { 'a': who => $facts['team'] }"#,
        &["fact-in-command"],
    ),
    case(
        "a wide pattern",
        r#"
class c(Pattern[/^b/] $who) { exec { 'a': command => "/bin/run ${who}" } }
class { 'c': who => $facts['team'] }"#,
        &["fact-in-command"],
    ),
    case(
        "the other branch",
        r#"
if $facts['team'] == 'green' { notify { 'x': } } else { exec { 'a': command => "/bin/run ${facts['team']}" } }"#,
        &["fact-in-command"],
    ),
    case("cron", r#"cron { 'a': command => "/bin/run ${facts['team']}", hour => 1 }"#, &["fact-in-command"]),
    case(
        "the program of an array",
        r#"exec { 'a': command => ["/opt/${facts['team']}/run", 'x'] }"#,
        &["fact-in-command"],
    ),
    case(
        "sudoers",
        r#"file { '/etc/sudoers.d/team': content => "${facts['team']} ALL=(ALL) ALL\n" }"#,
        &["fact-in-privileged-file"],
    ),
    with(
        "a script by a template",
        &[EPP],
        "file { '/usr/local/bin/run': content => epp('m/run.epp', { 'team' => $facts['team'] }), mode => '0755' }",
        &["fact-in-privileged-file"],
    ),
    case(
        "a script by an inline template",
        "file { '/usr/local/bin/run': content => inline_template('run <%= @team.upcase %>') }",
        &["fact-in-privileged-file"],
    ),
    with(
        "eyaml by a fact",
        &[("hiera.yaml", BY_FQDN), ("data/nodes/db1.example.com.eyaml", "token: ENC[PKCS7,AAAA]\n")],
        "notify { 'a': }",
        &["fact-selects-secret"],
    ),
    with(
        "converted by an old fact",
        &[
            ("hiera.yaml", BY_OLD_NAME),
            ("data/nodes/db1.yaml", "lookup_options:\n  token: { convert_to: Sensitive }\ntoken: hunter22\n"),
        ],
        "notify { 'a': }",
        &["fact-selects-secret"],
    ),
    case("no mode", "file { '/etc/token': content => Sensitive('hunter22') }", &["secret-world-readable"]),
    case(
        "open and plain",
        r#"$t = Sensitive('hunter22')
file { '/etc/token': content => "t=${t.unwrap}", mode => '0644' }"#,
        &["secret-not-sensitive", "secret-world-readable"],
    ),
    with(
        "eyaml in a command",
        &[("hiera.yaml", SEALED), SEALED_DATA],
        r#"$t = shellquote(lookup('token'))
exec { 'a': command => "/bin/run ${t}" }"#,
        &["secret-not-sensitive"],
    ),
    case(
        "exported",
        "$t = Sensitive('hunter22')
@@file { '/etc/token': content => $t.unwrap, mode => '0600' }",
        &["secret-exported"],
    ),
    case(
        "in a title",
        r#"$t = Sensitive('hunter22')
exec { "/bin/run ${t.unwrap}": }"#,
        &["secret-in-title"],
    ),
    case(
        "an exported command",
        r#"@@cron { 'a': command => "/bin/backup ${facts['networking']['fqdn']}" }"#,
        &["export-runs-elsewhere"],
    ),
    // Harmless.
    case(
        "quoted",
        r#"$who = shellquote($facts['team'])
exec { 'a': command => "/bin/run ${who}" }"#,
        &[],
    ),
    case(
        "an enumeration",
        r#"
class c(Enum['blue', 'green'] $who) { exec { 'a': command => "/bin/run ${who}" } }
class { 'c': who => $facts['team'] }"#,
        &[],
    ),
    case(
        "a narrow pattern",
        r#"
define run(Pattern[/\A[a-z]+\z/] $who) { exec { 'a': command => "/bin/run ${who}" } }
run { 'a': who => $facts['team'] }"#,
        &[],
    ),
    case(
        "an asserted type",
        r#"
$who = assert_type(Enum['blue'], $facts['team'])
exec { 'a': command => "/bin/run ${who}" }"#,
        &[],
    ),
    case(
        "a number",
        r#"$n = Integer($facts['count'])
exec { 'a': command => "/bin/run ${n}" }"#,
        &[],
    ),
    case(
        "a case over literals",
        r#"
case $facts['team'] {
  'blue': { exec { 'a': command => "/bin/run ${facts['team']}" } }
  default: { }
}"#,
        &[],
    ),
    case(
        "a selector",
        r#"
$who = $facts['os']['family'] ? { 'Debian' => 'apt', default => 'yum' }
exec { 'a': command => "/bin/run ${who}" }"#,
        &[],
    ),
    case(
        "a comparison",
        r#"
if $facts['team'] in ['blue', 'green'] { exec { 'a': command => "/bin/run ${facts['team']}" } }"#,
        &[],
    ),
    case(
        "chosen by a fact",
        r#"
$of = { 'blue' => 'one', 'green' => 'two' }
$who = $of[$facts['team']]
exec { 'a': command => "/bin/run ${who}" }"#,
        &[],
    ),
    case("an array", "exec { 'a': command => ['/bin/run', $facts['team']] }", &[]),
    with(
        "asked by a template",
        &[ASKS],
        "file { '/usr/local/bin/run': content => template('m/ask.erb'), mode => '0755' }",
        &[],
    ),
    case("trusted", r#"exec { 'a': command => "/bin/run ${trusted['certname']}" }"#, &[]),
    case(
        "a plain file",
        r#"file { '/etc/motd': content => "this is ${facts['networking']['hostname']}\n", mode => '0644' }"#,
        &[],
    ),
    case(
        "a digest",
        r#"$d = md5($facts['team'])
exec { 'a': command => "/bin/run ${d}" }"#,
        &[],
    ),
    with(
        "eyaml by the certificate",
        &[
            ("hiera.yaml", BY_CERTNAME),
            ("data/nodes/db1.eyaml", "token: ENC[PKCS7,AAAA]\n"),
            ("data/os/Debian.yaml", "package: apache2\n"),
        ],
        "notify { 'a': }",
        &[],
    ),
    with(
        "plain data by a fact, secrets for all",
        &[
            ("hiera.yaml", CONVERTED),
            ("data/os/Debian.yaml", "package: apache2\n"),
            ("data/common.yaml", "lookup_options:\n  token: { convert_to: Sensitive }\ntoken: hunter22\n"),
        ],
        "notify { 'a': }",
        &[],
    ),
    case("closed", "file { '/etc/token': content => Sensitive('hunter22'), mode => '0600' }", &[]),
    case(
        "in a closed folder",
        "file { '/etc/app': ensure => directory, mode => '0750' }
file { '/etc/app/token': content => Sensitive('hunter22') }",
        &[],
    ),
    case(
        "whether there is a secret",
        r#"$t = Sensitive('hunter22')
$has = $t.unwrap != ''
if $t.unwrap != '' { file { '/etc/flag': content => "has ${has} ${size($t.unwrap)}", mode => '0644' } }"#,
        &[],
    ),
    case("an exported name", "@@host { $facts['networking']['fqdn']: ip => '10.0.0.1' }", &[]),
    case(
        "a sensitive command",
        r#"$t = Sensitive('hunter22')
exec { 'a': command => Sensitive("/bin/run ${t.unwrap}") }"#,
        &[],
    ),
];

const FLOWS: [&str; 9] = [
    "fact-in-command",
    "fact-in-privileged-file",
    "fact-selects-secret",
    "secret-world-readable",
    "secret-not-sensitive",
    "secret-exported",
    "secret-in-title",
    "export-runs-elsewhere",
    "policy-broken",
];

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("setpoint-flows-{}-{}", std::process::id(), name.replace(' ', "-")))
}

/// The findings about flows in a control repository.
fn findings(folder: &Path) -> Vec<Json> {
    let output = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args(["check", "--format", "json", "--node", "web1", "--facts", "facts.json", "."])
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Json = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    let inputs = report["inputs"].as_array().unwrap().iter();
    let all: Vec<Json> = inputs.flat_map(|input| input["findings"].as_array().unwrap().clone()).collect();
    let failed = |finding: &&Json| {
        ["syntax-error", "wrong-arguments", "unknown-variable"].iter().any(|rule| finding["rule"] == *rule)
    };
    assert!(all.iter().find(failed).is_none(), "{all:#?}");
    all.into_iter().filter(|finding| FLOWS.iter().any(|rule| finding["rule"] == *rule)).collect()
}

fn lay_out(folder: &Path, manifest: &str, files: &[(&str, &str)]) {
    let _ = std::fs::remove_dir_all(folder);
    write(folder, "environment.conf", "modulepath = modules\n");
    write(
        folder,
        "manifests/site.pp",
        &format!("node default {{ include main_of_case }}\nclass main_of_case {{ }}\n{manifest}\n"),
    );
    write(folder, "facts.json", FACTS);
    for (path, text) in files {
        write(folder, path, text);
    }
}

#[test]
fn every_flow_is_found_and_no_look_alike() {
    let mut wrong = Vec::new();
    for case in CASES {
        let folder = folder(case.name);
        lay_out(&folder, case.manifest, case.files);
        let found = findings(&folder);
        let mut rules: Vec<&str> = found.iter().filter_map(|finding| finding["rule"].as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        if rules != case.expected {
            wrong.push(format!("{}: {rules:?} instead of {:?}", case.name, case.expected));
        }
        for finding in &found {
            let steps = finding["flow"]["steps"].as_array().map_or(0, Vec::len);
            let has_ends =
                finding["flow"]["source"]["kind"].is_string() && finding["flow"]["sink"].is_object();
            assert!(steps >= 2 && has_ends, "{}: {finding:#}", case.name);
            assert!(!finding.to_string().contains("hunter22"), "{}: {finding:#}", case.name);
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
    let harmless = CASES.iter().filter(|case| case.expected.is_empty()).count();
    assert_eq!((CASES.len(), harmless), (42, 21));
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

#[test]
fn a_policy_forbids_what_it_names_and_accepts_what_cleanses() {
    let policy = "[[policy]]
name = \"no facts in pages\"
from = [\"fact:*\"]
to = [\"File[/srv/www/*].content\"]
unless = [\"upcase\"]
";
    for (name, content, expected) in [
        ("plain", "$facts['team']", true),
        ("of another file", "'fixed'", false),
        ("from a certificate", "$trusted['certname']", false),
        ("cleansed", "upcase($facts['team'])", false),
    ] {
        let folder = folder(&format!("policy {name}"));
        let manifest = format!("file {{ '/srv/www/index.html': content => {content}, mode => '0644' }}");
        lay_out(&folder, &manifest, &[("setpoint.toml", policy)]);
        let found = findings(&folder);
        assert_eq!(!found.is_empty(), expected, "{name}: {found:#?}");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
