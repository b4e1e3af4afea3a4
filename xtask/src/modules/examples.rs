//! The examples that modules bring themselves: manifests in `examples`, blocks of the README and the reference, manifests of
//! acceptance tests, and the parameters that specs of classes and definitions give as literals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A piece of code of a module, with a name that says where it is from.
pub(super) struct Example {
    pub(super) name: String,
    pub(super) code: String,
}

/// All examples of a module, each text once. `can_include` says whether the module's main class needs no parameters.
pub(super) fn examples_of(module: &str, folder: &Path, can_include: bool) -> Vec<Example> {
    let mut found = Vec::new();
    for path in files_under(&folder.join("examples"), "pp") {
        found.push((label(folder, &path), read(&path)));
    }
    for name in ["README.md", "README.markdown", "REFERENCE.md"] {
        numbered(name, blocks(&read(&folder.join(name))), &mut found);
    }
    for path in files_under(&folder.join("spec/acceptance"), "rb") {
        numbered(&label(folder, &path), heredocs(&read(&path)), &mut found);
    }
    for (part, is_class) in [("spec/classes", true), ("spec/defines", false)] {
        for path in files_under(&folder.join(part), "rb") {
            numbered(&label(folder, &path), declarations(&read(&path), is_class), &mut found);
        }
    }
    let mut seen = BTreeSet::new();
    let named = found.into_iter().filter(|(_, code)| !code.trim().is_empty() && seen.insert(code.clone()));
    named
        .map(|(name, code)| {
            // An example of a definition often leaves out that the module's class is declared.
            let mentions =
                ["include ", "class { '", "class {'", "class { \"", "contain "].iter().any(|word| {
                    code.contains(&format!("{word}{module}")) || code.contains(&format!("{word}::{module}"))
                });
            let code = if can_include && !mentions { format!("include {module}\n{code}") } else { code };
            Example { name: format!("{module}: {name}"), code }
        })
        .collect()
}

fn numbered(name: &str, texts: Vec<String>, found: &mut Vec<(String, String)>) {
    found.extend(texts.into_iter().enumerate().map(|(at, text)| (format!("{name} {}", at + 1), text)));
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn label(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

fn files_under(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_under(&path, ending));
        } else if path.extension().is_some_and(|of| of == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Blocks of Puppet code in Markdown.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for line in text.lines() {
        let plain = line.trim_start();
        match &mut open {
            Some(_) if plain.starts_with("```") => found.extend(open.take().map(|(_, code)| code)),
            Some((indent, code)) => {
                code.push_str(line.get(*indent..).unwrap_or(plain));
                code.push('\n');
            }
            None if plain.starts_with("```puppet") => open = Some((line.len() - plain.len(), String::new())),
            None => {}
        }
    }
    found
}

/// Texts of heredocs without interpolation and escapes.
fn heredocs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(tag) = heredoc_tag(line) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != tag).collect();
        let body = body.join("\n") + "\n";
        if !body.contains("#{") && !body.contains('\\') {
            found.push(body);
        }
    }
    found
}

fn heredoc_tag(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<-").or_else(|| line.split_once("<<~"))?;
    let tag: String = rest
        .trim_start_matches(['\'', '"'])
        .chars()
        .take_while(|c| c.is_ascii_uppercase() || *c == '_')
        .collect();
    (!tag.is_empty()).then_some(tag)
}

/// What a spec declares: a class or an instance of a definition with each `let(:params)` that is a literal.
fn declarations(text: &str, is_class: bool) -> Vec<String> {
    let Some(name) = text.split_once("describe").and_then(|(_, rest)| literal_text(rest)) else {
        return Vec::new();
    };
    let first = lets(text, "pre_condition").into_iter().find_map(|at| literal_text(&text[at..]));
    let before = first.filter(|code| !code.contains("#{")).unwrap_or_default();
    let titles = lets(text, "title");
    let mut found = Vec::new();
    for at in lets(text, "params") {
        let Some(parameters) = LiteralReader::read_hash(&text[at..]) else { continue };
        let title = titles.iter().rev().find(|title| **title < at).or(titles.first());
        let title = title.and_then(|title| literal_text(&text[*title..])).unwrap_or_else(|| "one".to_owned());
        let (kind, title) = if is_class { ("class", name.as_str()) } else { (name.as_str(), title.as_str()) };
        let parameters = puppet_text(&Value::Object(parameters));
        found.push(format!("{before}\n{kind} {{ {}: * => {parameters} }}\n", quoted(title)));
    }
    found
}

/// The places after `let(:name) do` or `{`, in all ways to write it.
fn lets(text: &str, name: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for form in [format!("let(:{name})"), format!("let :{name}")] {
        for (at, _) in text.match_indices(&form) {
            let after = at + form.len();
            let rest = text[after..].trim_start_matches(' ');
            let start = after + (text[after..].len() - rest.len());
            if rest.starts_with("do") {
                found.push(start + 2);
            } else if rest.starts_with('{') {
                found.push(start + 1);
            }
        }
    }
    found.sort_unstable();
    found
}

/// The literal string at the beginning of a text, if there is one.
fn literal_text(text: &str) -> Option<String> {
    match (LiteralReader { text, at: 0 }).value()? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A value as Puppet code.
fn puppet_text(value: &Value) -> String {
    match value {
        Value::Null => "undef".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(puppet_text).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{} => {}", quoted(key), puppet_text(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Reads literals of Ruby. What is no literal ends it.
struct LiteralReader<'t> {
    text: &'t str,
    at: usize,
}

impl LiteralReader<'_> {
    fn read_hash(text: &str) -> Option<Map<String, Value>> {
        let mut reader = LiteralReader { text, at: 0 };
        match reader.value()? {
            // `{ … }.merge(…)` is more than the literal.
            Value::Object(found) if !reader.rest().starts_with('.') => Some(found),
            _ => None,
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let plain = rest.trim_start();
            let skipped = rest.len() - plain.len();
            let comment = if plain.starts_with('#') { plain.find('\n').unwrap_or(plain.len()) } else { 0 };
            self.at += skipped + comment;
            if comment == 0 {
                return;
            }
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn word(&mut self) -> String {
        let word: String =
            self.rest().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        self.at += word.len();
        word
    }

    fn value(&mut self) -> Option<Value> {
        self.skip_space();
        match self.rest().chars().next()? {
            '{' => self.hash().map(Value::Object),
            '[' => self.list("[", "]").map(Value::Array),
            quote @ ('\'' | '"') => self.string(quote).map(Value::String),
            ':' => {
                self.at += 1;
                let quote = self.rest().chars().next()?;
                let name = if matches!(quote, '\'' | '"') { self.string(quote)? } else { self.word() };
                Some(if name == "undef" { Value::Null } else { Value::String(name) })
            }
            '%' if self.rest().starts_with("%w[") => {
                let (words, _) = self.rest()[3..].split_once(']')?;
                let found = words.split_whitespace().map(Value::from).collect();
                self.at += 3 + words.len() + 1;
                Some(Value::Array(found))
            }
            '<' => {
                let line = self.rest().lines().next()?.to_owned();
                let body = heredocs(self.rest()).into_iter().next()?;
                heredoc_tag(&line)?;
                Some(Value::String(body))
            }
            '-' | '0'..='9' => {
                let number: String = self
                    .rest()
                    .chars()
                    .take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '_'))
                    .collect();
                self.at += number.len();
                serde_json::from_str(&number.replace('_', "")).ok()
            }
            _ => match self.word().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                "nil" => Some(Value::Null),
                _ => None,
            },
        }
    }

    fn hash(&mut self) -> Option<Map<String, Value>> {
        let mut found = Map::new();
        self.eat("{").then_some(())?;
        while !self.eat("}") {
            let key = self.key()?;
            found.insert(key, self.value()?);
            if !self.eat(",") {
                self.eat("}").then_some(())?;
                break;
            }
        }
        Some(found)
    }

    /// A key with what stands between it and its value: `'a' =>`, `:a =>`, `a:` or `'a':`.
    fn key(&mut self) -> Option<String> {
        self.skip_space();
        let first = self.rest().chars().next()?;
        let key = if first.is_ascii_alphabetic() || first == '_' {
            self.word()
        } else {
            match self.value()? {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => return None,
            }
        };
        (self.eat("=>") || self.eat(":")).then_some(key)
    }

    fn list(&mut self, open: &str, close: &str) -> Option<Vec<Value>> {
        let mut found = Vec::new();
        self.eat(open).then_some(())?;
        while !self.eat(close) {
            found.push(self.value()?);
            if !self.eat(",") {
                self.eat(close).then_some(())?;
                break;
            }
        }
        Some(found)
    }

    fn string(&mut self, quote: char) -> Option<String> {
        self.at += 1;
        let mut found = String::new();
        let mut letters = self.text[self.at..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next()?.1 {
                    'n' if quote == '"' => found.push('\n'),
                    't' if quote == '"' => found.push('\t'),
                    other if quote == '"' || other == quote || other == '\\' => found.push(other),
                    other => found.extend(['\\', other]),
                },
                '#' if quote == '"' && self.text[self.at + at..].starts_with("#{") => return None,
                _ if letter == quote => {
                    self.at += at + 1;
                    return Some(found);
                }
                _ => found.push(letter),
            }
        }
        None
    }
}
