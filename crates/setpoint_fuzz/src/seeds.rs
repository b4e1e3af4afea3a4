//! What fuzzing starts from: the cases of the test suites, the files in them, and the corpora, as far as they are small.

use std::collections::BTreeSet;

use setpoint_testing::{Case, files_below, repository, shared};

/// Larger ones are left out: small inputs are executed more often.
pub const MAX_SEED_BYTES: usize = 6_000;
/// As many are taken for a target, from all over the files.
const MAX_SEEDS: usize = 600;

/// Texts that are sorted by what they are.
#[derive(Debug, Default)]
pub struct Seeds {
    /// A name, which ends as a file of its kind does, and a text.
    files: Vec<(String, Vec<u8>)>,
}

impl Seeds {
    /// Reads the repository and, if they are there, the corpora.
    pub fn read() -> Self {
        let mut seeds = Self::default();
        for folder in ["crates", "models", "examples"] {
            for path in files_below(&repository().join(folder)) {
                seeds.add(&path);
            }
        }
        if let Some(shared) = shared() {
            for path in files_below(&shared.join("corpus")) {
                seeds.add(&path);
            }
        }
        seeds
    }

    fn add(&mut self, path: &std::path::Path) {
        let name = path.to_string_lossy().into_owned();
        // What goes to a limit takes its time by design.
        if name.contains("limit")
            || name.contains("hostile")
            || !KINDS.iter().any(|kind| name.ends_with(kind))
        {
            return;
        }
        let Ok(bytes) = std::fs::read(path) else { return };
        if path.extension().is_some_and(|extension| extension == "case")
            && let Ok(text) = std::str::from_utf8(&bytes)
        {
            let mut case = Case::parse(text);
            for input in std::mem::take(&mut case.answers).into_iter().chain(case.inputs.clone()) {
                self.take(input.name, input.text.into_bytes());
            }
            self.take(name, case.render().into_bytes());
        } else {
            self.take(name, bytes);
        }
    }

    fn take(&mut self, name: String, bytes: Vec<u8>) {
        if bytes.len() <= MAX_SEED_BYTES && !bytes.is_empty() {
            self.files.push((name, bytes));
        }
    }

    /// Those for a target.
    pub fn of(&self, target: &str) -> Vec<Vec<u8>> {
        let mut found: BTreeSet<Vec<u8>> = given(target).iter().map(|text| text.to_vec()).collect();
        let fitting: Vec<&(String, Vec<u8>)> =
            self.files.iter().filter(|(name, bytes)| fits(target, name, bytes)).collect();
        let step = (fitting.len() / MAX_SEEDS).max(1);
        for (_, bytes) in fitting.into_iter().step_by(step) {
            match target {
                "shell" => found.extend(commands(bytes)),
                "packages" => found.extend((0..7).map(|kind| [&[kind], bytes.as_slice()].concat())),
                "editor" => {
                    let session =
                        [&[6, 0, 0, 9, 1, 0, 9, 6, 0, 3, 2, 0, 0, 3, 1, 1, 5, 1, 2], bytes.as_slice()];
                    found.insert(session.concat());
                }
                _ => {
                    found.insert(bytes.clone());
                }
            }
        }
        found.into_iter().collect()
    }
}

const KINDS: &[&str] = &[
    ".case",
    ".pp",
    ".epp",
    ".erb",
    ".rb",
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".sf",
    ".spm",
    ".csar",
    ".template",
    ".tosca",
    ".gz",
    ".xz",
    ".zst",
    ".bz2",
    ".lz4",
    ".deb",
    "status",
    "Packages",
    "Contents",
];

fn has(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|part| part == words.as_bytes())
}

fn fits(target: &str, name: &str, bytes: &[u8]) -> bool {
    let ends = |kinds: &[&str]| kinds.iter().any(|kind| name.ends_with(kind));
    match target {
        "puppet" | "micropuppet" | "editor" | "shell" => ends(&[".pp"]),
        "epp" | "epp-body" => ends(&[".epp"]),
        "erb" | "erb-body" => ends(&[".erb"]),
        "ruby" => ends(&[".rb"]),
        "ruby-type" => ends(&[".rb"]) && (has(bytes, "newtype") || has(bytes, "register_type")),
        "ruby-function" => ends(&[".rb"]) && has(bytes, "create_function"),
        "yaml" => ends(&[".yaml", ".yml"]),
        "json" => ends(&[".json"]),
        "catalog" | "check-catalog" => ends(&[".json"]) && has(bytes, "\"resources\""),
        "config" | "sentence" => ends(&[".toml"]),
        "smartfrog-syntax" | "smartfrog" => ends(&[".sf"]),
        "rules" => ends(&[".spm"]),
        "tosca-syntax" | "tosca" => has(bytes, "tosca_definitions_version"),
        "cloudformation" => ends(&[".yaml", ".yml", ".json", ".template"]) && has(bytes, "Resources"),
        "archive" => ends(&[".csar"]),
        "packages" => ends(&["status", "Packages", "Contents", ".deb"]),
        "compressed" => ends(&[".gz", ".xz", ".zst", ".bz2", ".lz4"]),
        "compile" | "check" => ends(&[".case"]) && has(bytes, ">>> main.pp") || ends(&[".pp"]),
        "lookup" => ends(&[".yaml"]) && has(bytes, "%{"),
        _ => false,
    }
}

/// The commands of a manifest, each for itself.
fn commands(manifest: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(manifest);
    text.lines()
        .filter(|line| ["command", "unless", "onlyif"].iter().any(|word| line.contains(word)))
        .filter_map(|line| line.split(['\'', '"']).nth(1))
        .map(|command| command.as_bytes().to_vec())
        .collect()
}

/// What no file has.
fn given(target: &str) -> &'static [&'static [u8]] {
    match target {
        "sentence" => &[b"path '/etc/a' is a file", b"not (package 'a' is installed) or user 'b' exists"],
        "expression" => &[br"^a\(b\|c\)*[[:alpha:]]\{2,3\}$", b"(a|b)+?[^]x-]{1,}\\.", b"a*"],
        "packages" => &[
            b"\x00usr/bin/a  admin/a,net/b\nusr/share/a/b  admin/a\n",
            b"\x01Package: a\nVersion: 1:2-3\nDepends: b (>= 1) | c, d\nConflicts: e\n\nPackage: b\n",
            b"\x02Package: a\nStatus: install ok installed\nVersion: 1\n\n",
            b"\x03!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n",
            b"\x04<?xml version=\"1.0\"?><metadata><package type=\"rpm\"><name>a</name><version ver=\"1\"/></package></metadata>",
            b"\x05if [ \"$1\" = configure ]; then adduser --system a; mkdir -p /var/a; fi\n",
            b"\x06u a 1 - /var/a\ng b\nd /run/a 0755 a a\n",
        ],
        "compressed" => &[
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K\x04\x00C\xbe\xb7\xe8\x01\x00\x00\x00",
            b"BZh91AY&SY\x1b\xf3\x01\x1a",
            b"\xfd7zXZ\x00\x00\x04",
            b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00a",
            b"\x04\x22\x4d\x18",
        ],
        "archive" => &[b"PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"],
        "index" => &[b"setpoint"],
        "baseline" => &[
            br#"{"setpoint_baseline":1,"findings":[{"rule":"a","path":"b","key":"c","count":1}]}"#,
        ],
        "glob" => &[b"data/**/*.yaml\na", b"{a,b}/[!c]?*.{yaml,json}\na/bc.yaml", b"**/**/*"],
        "serve" => &[
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"environment":"srv","protocol":1}}
{"jsonrpc":"2.0","id":2,"method":"compile","params":{"node":"a","facts":{"a":[1,{"b":null}]}}}
{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#,
        ],
        "generated" => &[b"\x01", b"\x02\x00\x00\x00\x00\x00\x00\x01"],
        "lookup" => &[
            b"a: \"%{lookup('b')} %{alias('c')} %{literal('%')}{x} %{facts.os.name}\"\nb: 1\nc: [1]\nlookup_options: {a: {merge: deep, convert_to: Array}}\n",
        ],
        "erb-body" => &[
            b"<% @list.each do |x| -%>\n<%= x.to_s.upcase %>\n<% end -%>\n<%= @hash.map { |k, v| \"#{k}=#{v}\" }.sort.join(',') %>\n",
        ],
        "epp-body" => &[b"<%- | Array $a, String $b = 'x' | -%>\n<% $a.each |$x| { -%>\n<%= $x %>\n<% } -%>\n"],
        _ => &[],
    }
}
