//! Comments that silence: `setpoint:allow(RULE[, RULE]) reason`.

use setpoint_source::{FileId, Range, Rule, SourceFile, Span};

use crate::extent;

/// A comment for the whole file stands within so many lines.
pub(crate) const FIRST_LINES: u32 = 10;
const FOR_CODE: &str = "setpoint:allow(";
const FOR_FILE: &str = "setpoint:allow-file(";

/// A comment that silences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allow {
    /// From the word `setpoint` to the end of the comment.
    pub(crate) range: Range,
    /// The names of rules, as written.
    pub(crate) names: Vec<String>,
    pub(crate) reason: String,
    pub(crate) scope: Scope,
}

/// What a comment is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The next statement with its body, or the line that it ends.
    Code(Range),
    File,
    /// It is meant for the file, and stands below the lines where such a comment counts.
    TooLate,
    /// Nothing comes after it.
    Nothing,
}

impl Allow {
    pub(crate) fn has_reason(&self) -> bool {
        self.reason.chars().any(char::is_alphanumeric)
    }

    /// Whether a finding of a rule at a place is covered.
    pub(crate) fn covers(&self, rule: Rule, span: Span, file: &SourceFile) -> bool {
        let is_named = self.names.iter().any(|name| Rule::named(name) == Some(rule));
        let is_there = match &self.scope {
            Scope::File => true,
            Scope::Nothing | Scope::TooLate => false,
            // Places are those of lines: a finding may begin before the first word of its statement.
            Scope::Code(range) => {
                let line = file.line(span.range.start);
                (file.line(range.start)..=file.line(range.end.saturating_sub(1).max(range.start)))
                    .contains(&line)
            }
        };
        is_named && is_there
    }
}

/// How a language writes comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Puppet,
    /// EPP and ERB: `<%# … %>`.
    Template,
    Yaml,
    /// SmartFrog: `// …` and `/* … */`.
    Slashes,
    /// Rule sets: `# …`.
    Hash,
}

impl Syntax {
    fn of(path: &str) -> Option<Self> {
        Some(match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "pp" => Self::Puppet,
            "epp" | "erb" => Self::Template,
            "yaml" | "yml" | "eyaml" | "template" => Self::Yaml,
            "sf" => Self::Slashes,
            "spm" => Self::Hash,
            _ => return None,
        })
    }
}

/// Returns the comments of a file that silence, in their order.
pub(crate) fn allows(id: FileId, file: &SourceFile) -> Vec<Allow> {
    let text = file.text();
    // Most files have none; they are not parsed.
    if !text.contains("setpoint:allow") {
        return Vec::new();
    }
    let Some(syntax) = Syntax::of(file.path()) else { return Vec::new() };
    let found = comments(syntax, id, text);
    let mut allows: Vec<Allow> = Vec::new();
    for Comment { range, text_at } in found {
        let body = text.get(text_at..range.end as usize).unwrap_or("");
        let inner = body.trim_start();
        let start = text_at + (body.len() - inner.len());
        let (rest, is_for_file) = match (inner.strip_prefix(FOR_FILE), inner.strip_prefix(FOR_CODE)) {
            (Some(rest), _) => (rest, true),
            (None, Some(rest)) => (rest, false),
            (None, None) => continue,
        };
        let Some((names, reason)) = rest.split_once(')') else { continue };
        let names = names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let scope = if is_for_file {
            if file.line(range.start) <= FIRST_LINES { Scope::File } else { Scope::TooLate }
        } else {
            scope(syntax, id, file, range)
        };
        let reason = reason.trim().trim_start_matches([':', '-']).trim().to_owned();
        let range = Range::new(start, range.end as usize);
        allows.push(Allow { range, names: names.collect(), reason, scope });
    }
    allows
}

/// The next statement if the comment has its line for itself, else its line.
fn scope(syntax: Syntax, id: FileId, file: &SourceFile, comment: Range) -> Scope {
    let text = file.text();
    let line_start = text[..comment.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let is_alone = text[line_start..comment.start as usize].trim().is_empty();
    if !is_alone {
        let end =
            text[comment.start as usize..].find('\n').map_or(text.len(), |at| comment.start as usize + at);
        return Scope::Code(Range::new(line_start, end));
    }
    let next = extent::next_statement(syntax, id, text, comment.end as usize);
    next.map_or(Scope::Nothing, Scope::Code)
}

/// A comment, and where its text begins.
struct Comment {
    range: Range,
    text_at: usize,
}

fn comments(syntax: Syntax, id: FileId, text: &str) -> Vec<Comment> {
    match syntax {
        Syntax::Puppet => {
            let quoted = extent::quoted_in_puppet(id, text);
            hashes(text)
                .filter(|comment| {
                    !quoted.iter().any(|range| (range.start..range.end).contains(&comment.range.start))
                })
                .collect()
        }
        Syntax::Hash => hashes(text).collect(),
        Syntax::Yaml => yaml(text),
        Syntax::Template => between(text, "<%#", "%>"),
        Syntax::Slashes => slashes(text),
    }
}

/// What follows a `#` that silences, to the end of the line.
fn hashes(text: &str) -> impl Iterator<Item = Comment> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let marked = line.find("setpoint:allow")?;
        let hash = line[..marked].rfind('#').filter(|&hash| line[hash + 1..marked].trim().is_empty())?;
        let end = start + line.trim_end().len();
        Some(Comment { range: Range::new(start + hash, end), text_at: start + hash + 1 })
    })
}

/// Comments of YAML: a `#` after white space, outside of quotes and of block scalars.
fn yaml(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut block: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end();
        let indent = content.len() - content.trim_start().len();
        if content.trim().is_empty() {
            continue;
        }
        if let Some(above) = block {
            if indent > above {
                continue;
            }
            block = None;
        }
        let comment = yaml_comment(content);
        if let Some(hash) = comment {
            found.push(Comment {
                range: Range::new(start + hash, start + content.len()),
                text_at: start + hash + 1,
            });
        }
        let code = content[..comment.unwrap_or(content.len())].trim_end();
        let ends_in_block = code.rsplit([' ', '\t']).next().is_some_and(|last| {
            last.starts_with(['|', '>'])
                && last[1..].chars().all(|char| char.is_ascii_digit() || "+-".contains(char))
        });
        if ends_in_block && code.len() > 1 {
            block = Some(indent);
        }
    }
    found
}

/// Where the comment of a line of YAML begins.
fn yaml_comment(line: &str) -> Option<usize> {
    let mut quote: Option<char> = None;
    let mut before = ' ';
    for (at, char) in line.char_indices() {
        match quote {
            Some(open) if char == open && before != '\\' => quote = None,
            Some(_) => {}
            None if char == '#' && before.is_whitespace() => return Some(at),
            None if matches!(char, '"' | '\'') && !before.is_alphanumeric() => quote = Some(char),
            None => {}
        }
        before = char;
    }
    None
}

fn between(text: &str, open: &str, close: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(open).map(|found| at + found) {
        let inside = start + open.len();
        let end = text[inside..].find(close).map_or(text.len(), |found| inside + found);
        let trimmed = text[inside..end].trim_end().trim_end_matches('-').trim_end().len();
        found.push(Comment { range: Range::new(start, inside + trimmed), text_at: inside });
        at = (end + close.len()).min(text.len());
    }
    found
}

/// Comments of SmartFrog, outside of strings.
fn slashes(text: &str) -> Vec<Comment> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"//") {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
            found.push(Comment {
                range: Range::new(at, at + text[at..end].trim_end().len()),
                text_at: at + 2,
            });
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = text[at..].find("*/").map_or(text.len(), |end| at + end);
            let inner = text[at..end].trim_end().len();
            found.push(Comment { range: Range::new(at, at + inner), text_at: at + 2 });
            at = (end + 2).min(text.len());
        } else if rest.starts_with(b"##") {
            at = text[at + 2..].find('#').map_or(text.len(), |end| at + 3 + end);
        } else if rest[0] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
        } else {
            at += 1;
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    found
}
