//! A planted secret of each kind is in the output of no command and no format; only the catalog has it.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Each secret as it is planted, and what was computed from one.
const PLANTED: [&str; 12] = [
    "Planted-Literal-01",
    "Planted-Unreached-02",
    "Planted-Converted-03",
    "Planted-Masked-04",
    "Planted-Password-05",
    "Planted-Mask<&>'06",
    "Planted-Parameter-07",
    "Planted-Changed-08",
    "Planted-Default-09",
    "Planted-Nested-10",
    // What eyaml opens.
    "a secret é",
    // MD5 of the literal.
    "2ad62b803a16b028c768fcd4a170472d",
];

const SEALED: &str = include_str!("../../setpoint_hiera/tests/eyaml/aes_256.txt");
const KEY: &str = include_str!("../../setpoint_hiera/tests/eyaml/private_key.pem");

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

static FOLDERS: AtomicU32 = AtomicU32::new(0);

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn environment(folder: &Path, changed: bool) {
    let literal = if changed { "Planted-Changed-08" } else { "Planted-Literal-01" };
    write(folder, "environment.conf", "modulepath = modules\n");
    write(
        folder,
        "manifests/site.pp",
        &format!(
            "node 'web1' {{ include app }}
node 'bad1' {{
  include app
  $pw = Sensitive('Planted-Literal-01')
  warning(\"it is ${{$pw.unwrap}}\")
  fail(\"cannot use ${{$pw.unwrap}}, ${{lookup('app::sealed')}} and ${{md5($pw.unwrap)}}\")
}}
node 'bad2' {{
  user {{ 'c': ensure => present, password => 'Planted-Password-05', no_such => 'Planted-Password-05' }}
}}
class app(
  Sensitive[String] $converted,
  String $sealed,
  Hash $tree,
  String $db_password,
  Sensitive[String] $defaulted = Sensitive('Planted-Default-09'),
) {{
  $literal = Sensitive('{literal}')
  file {{ '/etc/app': ensure => directory }}
  file {{ '/etc/app/literal': content => $literal }}
  file {{ '/etc/app/unwrapped': content => \"user=app\\npassword=${{$literal.unwrap}}\\n\" }}
  file {{ '/etc/app/digest': content => md5($literal.unwrap) }}
  file {{ '/etc/app/converted': content => $converted.unwrap, require => Exec['login'] }}
  file {{ '/etc/app/sealed': content => \"key: ${{sealed}}\" }}
  file {{ '/etc/app/tree': content => inspect_tree($tree['inner']) }}
  file {{ '/etc/app/defaulted': content => $defaulted }}
  file {{ '/etc/app/odd': content => Sensitive(\"Planted-Mask<&>'06\") }}
  file {{ '/etc/app/epp': content => epp('app/a.epp', {{ 'pw' => $literal }}) }}
  file {{ '/etc/app/parameter': content => $db_password }}
  user {{ 'app': ensure => present, password => 'Planted-Password-05' }}
  exec {{ 'login': command => \"/bin/login --password ${{$literal.unwrap}}\", path => '/bin' }}
  exec {{ 'again': command => '/bin/again', unless => \"/bin/test ${{sealed}} = ${{$converted.unwrap}}\" }}
  notify {{ 'told': message => \"it is ${{$literal.unwrap}}\" }}
  notice(\"noticed ${{$literal.unwrap}}\")
}}
class unreached {{
  file {{ '/x': content => Sensitive('Planted-Unreached-02'), undeclared => 1 }}
}}
function inspect_tree($tree) {{ \"tree ${{$tree['pw']}}\" }}
"
        ),
    );
    write(folder, "modules/app/templates/a.epp", "<%- | Sensitive $pw | -%>\npw <%= $pw.unwrap %>\n");
    write(
        folder,
        "hiera.yaml",
        "version: 5
hierarchy:
  - name: sealed
    lookup_key: eyaml_lookup_key
    path: sealed.eyaml
    options: { pkcs7_private_key: KEY }
  - name: upper
    path: upper.yaml
  - name: lower
    path: lower.yaml
"
        .replace("KEY", &folder.join("key.pem").display().to_string())
        .as_str(),
    );
    write(folder, "key.pem", KEY);
    write(folder, "data/sealed.eyaml", &format!("app::sealed: ENC[PKCS7,{}]\n", SEALED.trim()));
    write(
        folder,
        "data/upper.yaml",
        "lookup_options:
  app::converted: { convert_to: Sensitive }
  shared: { convert_to: Sensitive, merge: hash }
app::converted: Planted-Converted-03
app::db_password: Planted-Parameter-07
app::tree: { inner: { pw: '%{lookup(\"app::sealed\")}' } }
shared: { pw: Planted-Converted-03 }
",
    );
    write(
        folder,
        "data/lower.yaml",
        "app::converted: Planted-Masked-04\nshared: { pw: Planted-Masked-04 }\n",
    );
    write(folder, "facts/web1.json", "{\"os\": {\"family\": \"Debian\", \"name\": \"Debian\"}}");
}

/// What a call prints, on both streams, with the bytes of `input` on its standard input.
fn printed(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint"));
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A call that reads no input may be over before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The secrets in a text, in any form that escapes letters.
fn found(text: &str) -> Vec<&'static str> {
    let plain = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
        .replace("\\u003c", "<")
        .replace("\\u003e", ">")
        .replace("\\u0026", "&")
        .replace("\\u00e9", "é");
    PLANTED.into_iter().filter(|secret| plain.contains(secret)).collect()
}

fn message(json: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{json}", json.len())
}

/// An editor that opens the manifest and looks at each secret.
fn editor(folder: &Path) -> String {
    let path = folder.join("manifests/site.pp");
    let uri = format!("file://{}", path.display());
    let text = std::fs::read_to_string(&path).unwrap();
    let quoted = serde_json::to_string(&text).unwrap();
    let mut input = message(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"capabilities\":{{}},\"rootUri\":\"file://{}\"}}}}",
        folder.display()
    ));
    input += &message("{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}");
    input += &message(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{{\"textDocument\":{{\"uri\":\"{uri}\",\"languageId\":\"puppet\",\"version\":1,\"text\":{quoted}}}}}}}"
    ));
    let mut id = 1;
    for (line, text) in text.lines().enumerate() {
        let words =
            ["content", "command", "literal", "sealed", "password", "message", "converted", "Sensitive"];
        for column in words.into_iter().filter_map(|word| text.find(word)) {
            id += 1;
            input += &message(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"textDocument/hover\",\"params\":{{\"textDocument\":{{\"uri\":\"{uri}\"}},\"position\":{{\"line\":{line},\"character\":{}}}}}}}",
                column + 1
            ));
        }
    }
    id += 1;
    input += &message(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"shutdown\"}}"));
    input += &message("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
    printed(folder, &["lsp"], &input)
}

fn calls() -> Vec<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    for format in ["text", "concise", "json", "sarif", "github", "gitlab", "junit"] {
        lines.push(format!("check --format {format} new"));
        lines.push(format!("check --format {format} -v new/manifests/site.pp"));
        lines.push(format!("parse --format {format} new/manifests/site.pp"));
    }
    let targets = [
        "File[/etc/app/literal].content",
        "File[/etc/app/unwrapped].content",
        "File[/etc/app/digest].content",
        "File[/etc/app/converted].content",
        "File[/etc/app/sealed].content",
        "File[/etc/app/tree].content",
        "File[/etc/app/odd].content",
        "File[/etc/app/epp].content",
        "File[/etc/app/parameter].content",
        "User[app].password",
        "Exec[login].command",
        "Exec[again].unless",
        "Notify[told].message",
        "Notify[told]",
        "Class[App].converted",
        "Class[App].tree",
        "Class[App].defaulted",
    ];
    for target in targets {
        for form in ["", "--where", "--expression", "--depends", "--format json", "--format dot"] {
            lines.push(format!("why new {target} --node web1 {form}"));
        }
    }
    lines.push("why new File[/etc/nothing] --why-not --node web1".to_owned());
    lines.push("why new File[/x] --node bad1".to_owned());
    for line in [3, 13, 19, 20, 23] {
        lines.push(format!("impact new new/manifests/site.pp:{line} --all --node web1"));
    }
    for format in ["text", "markdown", "json", "github", "gitlab"] {
        lines.push(format!("diff old new --format {format}"));
        lines.push(format!("diff old new --format {format} --next-run=full"));
    }
    for format in ["dot", "svg", "json"] {
        lines.push(format!("graph new --node web1 --format {format}"));
    }
    for format in ["text", "json"] {
        lines.push(format!("fleet new --format {format}"));
        lines.push(format!("simulate new --node web1 --format {format}"));
        lines.push(format!("simulate old new --node web1 --format {format}"));
        lines.push(format!("migrate new --format {format}"));
        lines.push(format!("parity new --catalogs catalogs --format {format}"));
    }
    lines.push("simulate old new --node web1 --format markdown".to_owned());
    lines.push("migrate new --format patch".to_owned());
    lines.push("report new".to_owned());
    lines.push("fix new/manifests/site.pp".to_owned());
    for key in ["app::converted", "app::sealed", "shared", "app::tree", "app::db_password"] {
        for form in ["", "--explain", "--format json", "--merge hash --explain", "--explain-options"] {
            // A key that nobody calls secret is none: only the password's name says so, and a lookup does not know it.
            if key != "app::db_password" {
                lines.push(format!("lookup {key} --environment new --node web1 {form}"));
            }
        }
    }
    lines.push("compile new --node bad1".to_owned());
    lines.push("compile new --node bad2".to_owned());
    for format in ["json", "pp"] {
        lines.push(format!("compile new --node web1 --redact --format {format}"));
    }
    lines.push("check catalogs/web1.json".to_owned());
    lines.push("graph catalogs/web1.json".to_owned());
    lines.push("diff catalogs/web1.json other.json".to_owned());
    lines.iter().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn a_planted_secret_is_in_no_output() {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder =
        Folder(std::env::temp_dir().join(format!("setpoint-secrets-{}-{number}", std::process::id())));
    let folder = &folder.0;
    environment(&folder.join("old"), true);
    environment(&folder.join("new"), false);
    let catalog = printed(folder, &["compile", "new", "--node", "web1"], "");
    let all = ["Planted-Literal-01", "Planted-Converted-03", "a secret é", "Planted-Mask<&>'06", PLANTED[11]];
    let missing: Vec<_> = all.into_iter().filter(|secret| !found(&catalog).contains(secret)).collect();
    assert!(missing.is_empty(), "the catalog lacks {missing:?}: {catalog}");
    let other = printed(folder, &["compile", "old", "--node", "web1"], "");
    let start = |text: &str| text[text.find('{').unwrap_or(0)..].to_owned();
    let body = |text: &str| {
        let text = start(text);
        text[..=text.rfind('}').unwrap_or(0)].to_owned()
    };
    write(folder, "catalogs/web1.json", &body(&other));
    write(folder, "other.json", &body(&catalog));
    let mut leaks = Vec::new();
    let mut silent = Vec::new();
    for arguments in calls() {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let text = printed(folder, &arguments, "");
        if text.contains("error: unexpected argument")
            || text.contains("invalid value")
            || text.trim().is_empty()
        {
            silent.push(arguments.join(" "));
        }
        for secret in found(&text) {
            let at = text.find(secret).unwrap_or(0);
            let from = text.floor_char_boundary(at.saturating_sub(100));
            let to = text.floor_char_boundary((at + 60).min(text.len()));
            leaks.push(format!("{}: {secret}: …{}…", arguments.join(" "), &text[from..to]));
        }
    }
    for secret in found(&editor(&folder.join("new"))) {
        leaks.push(format!("lsp: {secret}"));
    }
    let served = printed(
        folder,
        &["serve"],
        &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"protocol\":1,\"environment\":\"{0}\"}}}}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"catalog\",\"params\":{{\"node\":\"bad1\"}}}}\n",
            folder.join("new").display()
        ),
    );
    for secret in found(&served) {
        leaks.push(format!("serve: {secret}: {served}"));
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert!(silent.len() < 6, "calls that say nothing: {silent:#?}");
}
