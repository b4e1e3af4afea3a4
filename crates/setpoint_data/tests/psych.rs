//! Every text is read as Ruby's Psych (libyaml) reads it: structure, values, styles, tags, aliases and places. Texts are
//! generated, and the YAML files of `../shared` where there are any. Without Ruby only panics and hangs are looked for.

#![allow(clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use setpoint_data::{Kind, Node, Style};
use setpoint_source::{Rule, Sources};
use setpoint_testing::{files_below, shared, skip};

/// Pieces that generated texts are made of.
const PIECES: &str = "a: 1\n;b:\n;  c: x\n;  - y\n;- z\n;- - q\n;key: [1, 2,\n  3]\n;k: {a: b, c: [d]}\n;? e\n;: f\n;\
    x: |\n;  text\n;   more\n;y: >-\n;z: |+\n;\n;'single\n;quoted'\n;\"double\\n\"\n;\"a\\\n;  b\"\n;n: &a 1\n;m: *a\n;\
    *a : v\n;t: !Ref x\n;u: !!str 5\n;w: [!!str, 'a']\n;# c\n;l: [\n;  1 # one\n;  # two\n;]\n;  ]\n;<<: *a\n;---\n;...\n;\
    %YAML 1.1\n;é: ü\n;p: a b\n;  c d\n;q: 'a\n;b'\n;r: \"\\u00e9\\x41\"\n;-\n;k: v # d\n;o: -1\n;  ;a: b: c\n;\tx\n;h: {\n;}\n";

const LETTERS: &[u8] = b" \n:-[]{},!&*#|>'\"%@\\?a1\t~+0.";

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    fn text(&mut self) -> String {
        let pieces: Vec<&str> = PIECES.split(';').collect();
        let count = 1 + self.below(9);
        let mut text: String = (0..count).map(|_| pieces[self.below(pieces.len())]).collect();
        for _ in 0..self.below(4) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            if places.is_empty() {
                break;
            }
            let at = places[self.below(places.len())];
            if self.below(2) == 0 {
                text.remove(at);
            } else {
                text.insert(at, char::from(LETTERS[self.below(LETTERS.len())]));
            }
        }
        if self.below(4) == 0 {
            text.truncate(text.trim_end().len());
        }
        text
    }
}

/// The first document as `psych.rb` prints it.
fn ours(text: &str) -> Option<String> {
    let file = Sources::new().add("x.yaml", text);
    let document = setpoint_data::read_yaml_as_written(file, text);
    if let Some(found) = document.diagnostics.first() {
        // A limit of ours is no answer.
        return (found.rule != Rule::LimitReached).then(|| "error".to_owned());
    }
    let mut out = String::new();
    let lines = Lines::new(text);
    if let Some(root) = &document.root {
        write_node(root, 0, &lines, &mut out);
    }
    Some(out.trim_end_matches('\n').to_owned())
}

struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// libyaml's lines: it knows more line breaks than most.
    fn new(text: &'a str) -> Self {
        let mut starts = vec![if text.starts_with('\u{feff}') { 3 } else { 0 }];
        for (at, letter) in text.char_indices() {
            let ends = match letter {
                '\r' => !text[at + 1..].starts_with('\n'),
                '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
                _ => false,
            };
            if ends {
                starts.push(at + letter.len_utf8());
            }
        }
        Self { text, starts }
    }

    fn place(&self, at: usize) -> String {
        let line = self.starts.partition_point(|&start| start <= at).saturating_sub(1);
        let column = self.text[self.starts[line]..at].chars().count();
        format!("{line}:{column}")
    }
}

fn write_node(node: &Node, depth: usize, lines: &Lines<'_>, out: &mut String) {
    let place = lines.place(node.range.start as usize);
    let tag = node.tag.as_deref().unwrap_or("-");
    let _ = write!(out, "{}{place} ", " ".repeat(depth));
    match &node.kind {
        Kind::Scalar { text, style } => {
            let style = match style {
                Style::Plain => "plain",
                Style::Quoted => "quoted",
                Style::Block => "block",
            };
            let _ = writeln!(out, "scalar {style} {tag} {}", dumped(text));
        }
        Kind::Sequence(items) => {
            let _ = writeln!(out, "sequence {tag}");
            items.iter().for_each(|item| write_node(item, depth + 1, lines, out));
        }
        Kind::Mapping(entries) => {
            let _ = writeln!(out, "mapping {tag}");
            for entry in entries.iter() {
                write_node(&entry.key, depth + 1, lines, out);
                write_node(&entry.value, depth + 1, lines, out);
            }
        }
    }
}

/// As Ruby's `String#dump`.
fn dumped(text: &str) -> String {
    let mut out = String::from("\"");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0b' => out.push_str("\\v"),
            '\x0c' => out.push_str("\\f"),
            '\x1b' => out.push_str("\\e"),
            '#' if matches!(letters.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            ' '..='~' => out.push(letter),
            letter if (letter as u32) < 0x80 => {
                let _ = write!(out, "\\x{:02X}", letter as u32);
            }
            letter if (letter as u32) < 0x10000 => {
                let _ = write!(out, "\\u{:04X}", letter as u32);
            }
            letter => {
                let _ = write!(out, "\\u{{{:X}}}", letter as u32);
            }
        }
    }
    out.push('"');
    out
}

/// What Psych makes of the texts, if there is a Ruby to ask.
fn psych(texts: &[String]) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/psych.rb");
    let mut ruby = Command::new("ruby")
        .arg(script)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = ruby.stdin.take()?;
    // Puppet takes a byte order mark away before Psych sees the text.
    let texts: Vec<&str> = texts.iter().map(|text| text.trim_start_matches('\u{feff}')).collect();
    let sent = serde_json::to_string(&texts).expect("JSON");
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = ruby.wait_with_output().ok()?;
    let _ = writer.join();
    Some(serde_json::from_slice(&output.stdout).expect("an answer for every text"))
}

/// The stream ends on a line of its own, where libyaml places what is left out at the end; here, that is the end of the
/// text.
fn within_text(answer: &str, text: &str) -> String {
    let lines = Lines::new(text);
    let (beyond, end) = (format!("{}:0 ", lines.starts.len()), lines.place(text.len()));
    let moved = answer.lines().map(|line| {
        let shown = line.trim_start();
        let blanks = &line[..line.len() - shown.len()];
        match shown.strip_prefix(&beyond) {
            Some(rest) => format!("{blanks}{end} {rest}"),
            None => line.to_owned(),
        }
    });
    moved.collect::<Vec<_>>().join("\n")
}

fn compare(texts: &[String]) {
    let mine: Vec<Option<String>> = texts.iter().map(|text| ours(text)).collect();
    let Some(theirs) = psych(texts) else {
        skip("YAML as Psych reads it", "there is no Ruby");
        return;
    };
    let mut differences = Vec::new();
    for ((text, mine), theirs) in texts.iter().zip(&mine).zip(&theirs) {
        let theirs = within_text(theirs, text);
        if let Some(mine) = mine
            && *mine != theirs
        {
            differences.push(format!("{text:?}\n--- ours\n{mine}\n--- Psych\n{theirs}\n"));
        }
    }
    let count = differences.len();
    differences.truncate(5);
    assert!(count == 0, "{count} of {} texts are read differently:\n{}", texts.len(), differences.join("\n"));
}

#[test]
fn generated_texts_are_read_as_psych_reads_them() {
    let mut random = Random(7);
    let texts: Vec<String> = (0..20_000).map(|_| random.text()).collect();
    compare(&texts);
}

/// What other parsers refuse, and what this one panics on.
#[test]
fn odd_layouts_are_read_as_psych_reads_them() {
    let texts = [
        "a:\n  b: [\n  1,\n  2\n]\nc: 3\n",
        "a: [\n  1,\n]\n",
        "a: 'one\ntwo'\nb: 3\n",
        "a: \"one\n\n  two\"\n",
        "a: &x 1\n*x : 2\n",
        "a: [1,\n  # comment\n]\n",
        "a: [\n  1 # comment\n  ]\n",
        "a: |\n  text",
        "a: |+\n  text",
        "a: |-\n  text",
        "a: >\n  text\n  more",
        "a: |\n  text\n  ",
        "a: |+\n  text\n  ",
        "a: |\n  text\n    ",
        "a: |+\n  text\n    ",
        "a: \"x\\",
        "a: [!!str, b]\nc: !Ref d\n",
        "a: ['!x, y', !!str, b, !z, c]\nd: \"!q, r\"\n",
        "a: {b: !!str, c: !!int}\n",
        "a: !foo,bar x\n",
        "\u{feff}a: 1\nb: [2]\n",
        "a: 1\u{7}\n",
        "a: ! 12\nb: !<x> y\n",
        "%TAG !e! tag:e,2000:\n---\na: !e!x 1\n",
        "a: 1\r\nb: |\r\n  x\r\n  y\r\n",
        "a: &x [*x]\n",
        "a: &x 1\nb: &x [*x]\n",
        "{a: 1, b: 2}",
        "",
        "# nothing\n",
        "--- |\n  x",
        "a\n...\n]\n",
    ];
    compare(&texts.map(str::to_owned));
}

#[test]
fn shared_files_are_read_as_psych_reads_them() {
    let Some(shared) = shared() else {
        skip("YAML files as Psych reads them", "they are not beside the repository");
        return;
    };
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let files = files_below(&shared).into_iter().filter(is_yaml);
    let texts: Vec<String> = files.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    compare(&texts);
}
