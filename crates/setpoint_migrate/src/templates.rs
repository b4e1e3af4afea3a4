//! What changes in Ruby: in ERB templates, and in functions, facts, types and providers.

use std::path::Path;

use setpoint_source::{FileId, Range};

use crate::change::{Change, Effect, Kind, ReachedBy};
use crate::facts::{Structured, begins_legacy, structured};
use crate::names::Names;

/// A read of a variable in Ruby.
struct Read {
    /// The place that a rewrite replaces.
    start: usize,
    end: usize,
    /// As it is written, perhaps with `::`.
    name: String,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `@osfamily`
    Instance,
    /// `scope['osfamily']`: what is replaced is `['osfamily']`.
    Index,
    /// `scope.lookupvar('osfamily')`: what is replaced are the parentheses and what follows them.
    Lookup,
    /// `@facts['osfamily']`, `scope['facts']['osfamily']`: what is replaced is `['osfamily']`.
    OfFacts,
}

/// What the new version changes in a template of ERB.
pub(crate) fn changes_in_erb(path: &Path, file: FileId, text: &str, names: &Names) -> Vec<Change> {
    let code = erb_code(text);
    let mut found = legacy_reads(path, file, text, &code, names, true);
    found.extend(removed_in_ruby(path, file, text, &code));
    found
}

/// What the new version changes in a file of Ruby.
pub(crate) fn changes_in_ruby(path: &Path, file: FileId, text: &str, names: &Names) -> Vec<Change> {
    let mut code = vec![false; text.len()];
    mark_ruby(text, 0, text.len(), &mut code);
    let mut found = legacy_reads(path, file, text, &code, names, false);
    found.extend(removed_in_ruby(path, file, text, &code));
    found.extend(facter_values(path, file, text, &code, names));
    found
}

/// The names of facts that a file of Ruby defines.
pub(crate) fn custom_facts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, start) in text.match_indices("Facter.add") {
        let rest = text[at + start.len()..].trim_start_matches(['(', ' ', ':', '\'', '"']);
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !name.is_empty() {
            found.push(name);
        }
    }
    found
}

/// The legacy facts that the text of a template reads.
pub(crate) fn legacy_names(text: &str, names: &Names) -> Vec<(String, Structured)> {
    let code = erb_code(text);
    let reads = reads(text, &code, true).into_iter();
    let named = reads.map(|read| read.name.trim_start_matches("::").to_owned());
    let legacy = named.filter(|name| !names.custom_facts.contains(name));
    legacy.filter_map(|name| structured(&name).map(|fact| (name, fact))).collect()
}

/// Which bytes of a template are Ruby that is evaluated.
fn erb_code(text: &str) -> Vec<bool> {
    let mut code = vec![false; text.len()];
    let mut at = 0;
    while let Some(open) = text[at..].find("<%").map(|found| at + found) {
        let start = open + 2;
        let end = text[start..].find("%>").map_or(text.len(), |found| start + found);
        match text.as_bytes().get(start) {
            Some(b'%') => {
                at = start + 1;
                continue;
            }
            Some(b'#') => {}
            _ => mark_ruby(text, start, end, &mut code),
        }
        at = end;
    }
    code
}

/// Marks the bytes that are neither in a comment nor in a string; what a string interpolates is marked.
fn mark_ruby(text: &str, start: usize, end: usize, code: &mut [bool]) {
    let bytes = text.as_bytes();
    // What closes the strings and interpolations that are open, the innermost last.
    let mut open: Vec<u8> = Vec::new();
    let mut at = start;
    while at < end {
        let byte = bytes[at];
        match open.last() {
            Some(quote @ (b'\'' | b'"' | b'`')) => {
                let is_interpolated = *quote != b'\'' && byte == b'#' && bytes.get(at + 1) == Some(&b'{');
                if byte == b'\\' {
                    at += 1;
                } else if byte == *quote {
                    open.pop();
                } else if is_interpolated {
                    open.push(b'}');
                    at += 1;
                }
            }
            top => {
                // `#` begins a comment after white space; elsewhere it may stand in a regular expression.
                let is_comment = byte == b'#' && (at == start || bytes[at - 1].is_ascii_whitespace());
                if is_comment {
                    at += text[at..end].find('\n').unwrap_or(end - at);
                    continue;
                }
                code[at] = true;
                if byte == b'<'
                    && let Some(end) = end_of_heredoc(&text[at..end])
                {
                    at += end;
                    continue;
                }
                match byte {
                    b'\'' | b'"' | b'`' => open.push(byte),
                    b'{' => open.push(b'}'),
                    b'}' if top.is_some() => {
                        open.pop();
                    }
                    _ => {}
                }
            }
        }
        at += 1;
    }
}

/// Where a heredoc that begins here ends; the rest of its first line is passed over, too.
fn end_of_heredoc(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("<<")?.trim_start_matches(['-', '~']);
    let name = rest.trim_start_matches(['\'', '"']);
    let length = name.bytes().take_while(|byte| byte.is_ascii_uppercase() || *byte == b'_').count();
    let name = name.get(..length).filter(|name| !name.is_empty())?;
    let mut at = text.find('\n')? + 1;
    for line in text[at..].split_inclusive('\n') {
        if line.trim() == name {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The quoted text at a place, and where its closing bracket ends.
fn quoted(text: &str, at: usize, close: u8) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = rest[1..].split(quote).next()?;
    let end = at + inner.len() + 2;
    (text.as_bytes().get(end) == Some(&close)).then_some((inner, end + 1))
}

fn reads(text: &str, code: &[bool], with_instances: bool) -> Vec<Read> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if !code[at] {
            continue;
        }
        let is_start = at == 0 || !(is_word(bytes[at - 1]) || matches!(bytes[at - 1], b'@' | b'$'));
        if *byte == b'@' && is_start && with_instances {
            let length = bytes[at + 1..].iter().take_while(|byte| is_word(**byte)).count();
            let (name, end) = (&text[at + 1..=at + length], at + 1 + length);
            if name == "facts" {
                of_facts(text, end, &mut found);
            } else if !name.is_empty() {
                found.push(Read { start: at, end, name: name.to_owned(), form: Form::Instance });
            }
        }
        if is_start && text[at..].starts_with("scope[") || text[at..].starts_with("closure_scope[") {
            let open = at + text[at..].find('[').unwrap_or(0);
            if let Some((name, end)) = quoted(text, open + 1, b']') {
                if name.trim_start_matches("::") == "facts" {
                    of_facts(text, end, &mut found);
                } else {
                    found.push(Read { start: open, end, name: name.to_owned(), form: Form::Index });
                }
            }
        }
        // In Ruby files, a local variable that has the facts.
        if !with_instances && is_start && text[at..].starts_with("facts[") {
            of_facts(text, at + "facts".len(), &mut found);
        }
        if is_start && text[at..].starts_with("lookupvar(") {
            let open = at + "lookupvar".len();
            if let Some((name, end)) = quoted(text, open + 1, b')') {
                if name.trim_start_matches("::") == "facts" {
                    of_facts(text, end, &mut found);
                } else {
                    found.push(Read { start: open, end, name: name.to_owned(), form: Form::Lookup });
                }
            }
        }
    }
    found
}

fn of_facts(text: &str, at: usize, found: &mut Vec<Read>) {
    if text.as_bytes().get(at) == Some(&b'[')
        && let Some((name, end)) = quoted(text, at + 1, b']')
    {
        found.push(Read { start: at, end, name: name.to_owned(), form: Form::OfFacts });
    }
}

fn legacy_reads(
    path: &Path,
    file: FileId,
    text: &str,
    code: &[bool],
    names: &Names,
    is_template: bool,
) -> Vec<Change> {
    let mut found = Vec::new();
    for read in reads(text, code, is_template) {
        let name = read.name.trim_start_matches("::");
        let span = Range::new(read.start, read.end).in_file(file);
        let new = |kind, message: String| Change::new(kind, path.to_owned(), span, message);
        let Some(fact) = structured(name).filter(|_| !names.custom_facts.contains(name)) else {
            let is_dynamic = read.form != Form::Instance && name.contains("#{");
            if let Some(hint) = begins_legacy(name).filter(|_| is_dynamic) {
                let message = format!(
                    "Puppet 8 has no facts of this name; consider `{}` in Ruby",
                    hint.trim_start_matches('$')
                );
                found.push(new(Kind::LegacyFactInexact, message));
            }
            continue;
        };
        // `@osfamily = …` in the template itself makes it a variable of the template.
        let after = text[read.end..].trim_start();
        let is_set = read.form == Form::Instance
            && after.starts_with('=')
            && !["==", "=~", "=>"].iter().any(|operator| after.starts_with(operator));
        let is_set_here = is_set || text.contains(&format!("@{name} = "));
        if is_set_here && read.form == Form::Instance {
            continue;
        }
        let message = match read.form {
            Form::OfFacts => format!("Puppet 8 has no fact `{name}`: this becomes nil, without an error"),
            Form::Instance => {
                format!("Puppet 8 has no fact `{name}`: `@{name}` becomes nil, without an error")
            }
            _ => format!("Puppet 8 has no fact `{name}`: reading it is an error"),
        };
        let kind = match read.form {
            Form::OfFacts | Form::Instance => Kind::LegacyFactSilent,
            _ => Kind::LegacyFact,
        };
        let replacement = fact.access().map(|access| match read.form {
            Form::Instance => format!("@facts{access}"),
            Form::Index => format!("['facts']{access}"),
            Form::Lookup => format!("('facts'){access}"),
            Form::OfFacts => access,
        });
        // The scope of a function is its caller's, which is not known.
        let is_shadowed = match read.form {
            Form::OfFacts => !is_template,
            _ if read.name.starts_with("::") => names.is_set_outside(name),
            _ => !is_template || names.may_be_in_template(name),
        };
        let change = new(kind, message);
        found.push(match replacement {
            Some(new) if fact.is_same() && !is_shadowed => {
                let is_certain = is_template && is_always_evaluated(text, read.start);
                change.same(span, new, if is_certain { ReachedBy::File } else { ReachedBy::Nothing })
            }
            Some(text) => {
                let mut change = change.proposing(span, text);
                if fact.is_same() {
                    change
                        .message
                        .push_str(", unless the code that renders this sets a variable of this name");
                } else {
                    change.kind = Kind::LegacyFactInexact;
                }
                change
            }
            None => {
                let mut change = change;
                change.kind = Kind::LegacyFactInexact;
                change.message = format!("{}; consider `{}`", change.message, fact.hint());
                change
            }
        });
    }
    found
}

/// Whether whoever renders a template evaluates this place: no tag before it leaves a block open, and nothing in its own tag
/// decides. May return `false` for places that are always evaluated.
fn is_always_evaluated(text: &str, place: usize) -> bool {
    let mut depth = 0_i32;
    let mut at = 0;
    while let Some(open) = text[at..].find("<%").map(|found| at + found) {
        let start = open + 2;
        let end = text[start..].find("%>").map_or(text.len(), |found| start + found);
        let tag = &text[start..end];
        let words: Vec<&str> = tag
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '@'))
            .filter(|word| !word.is_empty())
            .collect();
        if start <= place && place < end {
            let leading = usize::from(matches!(words.first(), Some(&("if" | "unless" | "case"))));
            let decides = |word: &&str| {
                matches!(
                    *word,
                    "and" | "or" | "if" | "unless" | "do" | "rescue" | "next" | "return" | "while" | "then"
                )
            };
            let is_plain = !["&&", "||", "?", "{", "\n"].iter().any(|part| tag.contains(part));
            return depth == 0 && is_plain && !words[leading..].iter().any(decides);
        }
        if tag.starts_with('#') {
            at = end;
            continue;
        }
        // A modifier, as in `x if y`, counts as open: that errs on the safe side.
        let opens = |word: &&&str| {
            matches!(**word, "if" | "unless" | "case" | "do" | "while" | "until" | "for" | "begin" | "def")
        };
        depth += words.iter().filter(opens).count() as i32;
        depth += tag.matches('{').count() as i32 - tag.matches('}').count() as i32;
        depth -= words.iter().filter(|word| **word == "end").count() as i32;
        if words.iter().any(|word| matches!(*word, "next" | "return" | "break" | "raise")) {
            return false;
        }
        at = end;
    }
    false
}

/// What Ruby 3.2 no longer has: the text, its replacement of the same meaning, and what to do if there is none.
const REMOVED: &[(&str, Option<&str>, &str)] = &[
    ("File.exists?", Some("File.exist?"), ""),
    ("Dir.exists?", Some("Dir.exist?"), ""),
    ("FileTest.exists?", Some("FileTest.exist?"), ""),
    ("Fixnum", Some("Integer"), ""),
    ("Bignum", Some("Integer"), ""),
    ("URI.escape", None, "use `URI.encode_www_form_component` or `ERB::Util.url_encode`"),
    ("URI.unescape", None, "use `URI.decode_www_form_component`"),
    ("URI.encode(", None, "use `URI.encode_www_form_component`"),
    ("URI.decode(", None, "use `URI.decode_www_form_component`"),
    (".untaint", None, "remove the call: it did nothing since Ruby 2.7"),
    (".taint", None, "remove the call: it did nothing since Ruby 2.7"),
    ("ERB.new(", None, "give `trim_mode:` as a keyword if the call has more than one argument"),
    (
        "YAML.load(",
        None,
        "it loads plain data only now: `YAML.safe_load` says so, `YAML.unsafe_load` loads any object",
    ),
];

fn removed_in_ruby(path: &Path, file: FileId, text: &str, code: &[bool]) -> Vec<Change> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (old, new, advice) in REMOVED {
        for (at, _) in text.match_indices(old) {
            let end = at + old.len();
            let is_whole = !bytes.get(end).is_some_and(|byte| is_word(*byte)) || old.ends_with('(');
            let begins =
                old.starts_with('.') || at == 0 || !(is_word(bytes[at - 1]) || bytes[at - 1] == b':');
            if !code[at] || !is_whole || !begins {
                continue;
            }
            if *old == "ERB.new(" {
                let call = text[end..].split(')').next().unwrap_or("");
                if !call.contains(',') || call.contains("trim_mode:") {
                    continue;
                }
            }
            let span = Range::new(at, end).in_file(file);
            let name = old.trim_start_matches('.').trim_end_matches('(');
            let change = |message: String| Change::new(Kind::Ruby32, path.to_owned(), span, message);
            if let Some(new) = new {
                let message = format!("Ruby 3.2, which Puppet 8 runs on, has no `{name}`");
                found.push(change(message).same(span, *new, ReachedBy::Nothing));
                continue;
            }
            let message =
                format!("`{name}` is gone or changed in Ruby 3.2, which Puppet 8 runs on; {advice}");
            let mut change = change(message);
            if matches!(*old, "YAML.load(" | "ERB.new(") {
                change.effect = Effect::Advice;
            }
            found.push(change);
        }
    }
    found
}

/// Reads of legacy facts through Facter itself, which still resolves them: advice only.
fn facter_values(path: &Path, file: FileId, text: &str, code: &[bool], names: &Names) -> Vec<Change> {
    let mut found = Vec::new();
    for start in
        ["Facter.value(", "Facter[", "Facter.fact(", "confine ", "confine(", "defaultfor ", ".value("]
    {
        for (at, _) in text.match_indices(start) {
            if !code[at] {
                continue;
            }
            let from = at + start.len();
            let line = text[from..].split('\n').next().unwrap_or("");
            let rest = line.trim_start_matches([':', '\'', '"', ' ', '(']);
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if names.custom_facts.contains(&name) || (start == ".value(" && text[..at].ends_with("Facter")) {
                continue;
            }
            let Some(fact) = structured(&name) else { continue };
            let new = fact.path().map_or_else(|| fact.hint(), |path| format!("'{path}'"));
            let message = format!(
                "`{name}` is a legacy fact: Facter 4 still resolves it here, and hides it; {new} has the value"
            );
            let span = Range::new(at, from + line.len() - rest.len() + name.len()).in_file(file);
            found.push(Change::new(Kind::LegacyFactInRuby, path.to_owned(), span, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{erb_code, is_always_evaluated, mark_ruby, reads};

    #[test]
    fn a_place_behind_a_decision_is_not_always_evaluated() {
        let text = "<% if @a -%><%= @b %><% end %><%= @c %><%= @d ? @e : 1 %><%= @f if @g %>";
        let certain: Vec<char> = ('a'..='g')
            .filter(|name| is_always_evaluated(text, text.find(&format!("@{name}")).unwrap_or(0)))
            .collect();
        assert_eq!(certain, ['a', 'c']);
    }

    #[test]
    fn heredocs_are_no_code() {
        let text = "x = <<-DOC\n  it's File.exists? and don't\nDOC\nFile.exists?(x)\n";
        let mut code = vec![false; text.len()];
        mark_ruby(text, 0, text.len(), &mut code);
        let found: Vec<bool> = text.match_indices("File.exists?").map(|(at, _)| code[at]).collect();
        assert_eq!(found, [false, true]);
    }

    #[test]
    fn only_ruby_that_is_evaluated_is_read() {
        let text = "@fqdn <%# @fqdn %><%% @fqdn %><%= @fqdn %> <%= 'a @hostname' + \"#{@domain}\" # @id\n -%><%= @@x %>";
        let found: Vec<String> =
            reads(text, &erb_code(text), true).into_iter().map(|read| read.name).collect();
        assert_eq!(found, ["fqdn", "domain"]);
    }
}
