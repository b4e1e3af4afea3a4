//! Texts and places that nobody may see.
//!
//! Whoever meets a secret (an encrypted value that was opened, a `Sensitive`, a parameter that a type calls sensitive) notes its text and the
//! places that it was written at. Frames of sources read through [`Sources::shown`](crate::Sources::shown), which blots out the places; the
//! writer of a command passes everything through [`Secrets::mask`], the last net.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use memchr::memmem;

use crate::Range;

/// What stands for a secret.
pub const MASK: &str = "*******";
/// Texts that are shorter stand in too many places to be masked.
const SHORTEST: usize = 4;
/// Texts that are at least as long stand in no other word by chance.
const LONG: usize = 8;
/// Words that are in every output, and that nobody can keep secret.
const WORDS: [&str; 17] = [
    "true", "false", "undef", "null", "none", "present", "absent", "default", "error", "warning", "note",
    "unknown", "file", "yes", "no", "password", "secret",
];

/// The texts of the secrets of one piece of work; their places are with the sources. Noting needs no exclusive access: nodes are compiled in parallel.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Each text in each form that a printer may give it, the longest first.
    texts: RwLock<BTreeSet<(Reverse<usize>, String)>>,
}

impl Secrets {
    /// Takes a text, and each line of it: printers show line by line.
    pub fn add_text(&self, text: &str) {
        // The end of a line belongs to whoever prints it.
        let text = text.trim_end_matches(['\n', '\r']);
        let lines = text.lines().map(str::trim).chain([text]);
        let lines: Vec<&str> = lines.filter(|line| line.len() >= SHORTEST && !WORDS.contains(line)).collect();
        if lines.is_empty() {
            return;
        }
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        texts.extend(lines.into_iter().flat_map(forms).map(|form| (Reverse(form.len()), form)));
    }

    /// Takes a text that was computed from a secret. Only the whole is one: the lines of a long text are shared by many.
    pub fn add_whole(&self, text: &str) {
        if text.trim_end().contains('\n') {
            let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
            texts.extend(forms(text).into_iter().map(|form| (Reverse(form.len()), form)));
        } else {
            self.add_text(text);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether a text has a secret in it.
    pub fn occurs_in(&self, text: &str) -> bool {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        texts.iter().any(|(_, secret)| occurrences(text, secret).next().is_some())
    }

    /// Returns the text with asterisks for each secret in it. The longest are masked first: one may be a part of another.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let whole = text.trim();
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        if texts.contains(&(Reverse(whole.len()), whole.to_owned())) {
            return Cow::Owned(text.replace(whole, MASK));
        }
        drop(texts);
        self.mask_parts(text)
    }

    /// The same for a text of our own, which may be a word that somebody took for a password.
    fn mask_parts<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        let mut out = Cow::Borrowed(text);
        for (_, secret) in &*texts {
            let found: Vec<usize> = occurrences(&out, secret).collect();
            if !found.is_empty() {
                out = Cow::Owned(replace_at(&out, &found, secret.len()));
            }
        }
        out
    }

    /// The same for a text of any format. In JSON only strings are masked, so that it stays JSON: a secret may look like a number.
    pub fn mask_output<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.occurs_in(text) {
            return Cow::Borrowed(text);
        }
        if is_json(text) { Cow::Owned(self.mask_json(text)) } else { self.mask(text) }
    }

    fn mask_json(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('"') {
            let (before, string) = rest.split_at(open + 1);
            out.push_str(before);
            let end = closing_quote(string, '"');
            let after = (end + 1).min(string.len());
            // A key of our own shapes stays, whatever word somebody took for a password.
            let is_word = string[..end].bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if is_word && string[after..].trim_start().starts_with(':') {
                out.push_str(&string[..end]);
            } else {
                out.push_str(&self.mask_parts(&string[..end]));
            }
            out.push_str(&string[end..after]);
            rest = &string[after..];
        }
        out.push_str(rest);
        out
    }
}

/// Where a secret stands in a text. One that is an ordinary word counts only where a value stands: it is in our own sentences, too. A short one
/// is no part of a longer word or number.
fn occurrences<'t>(text: &'t str, secret: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_plain_word = secret.bytes().all(|byte| byte.is_ascii_lowercase());
    memmem::find_iter(text.as_bytes(), secret).filter(move |&at| {
        let (before, after) = (&text[..at], &text[at + secret.len()..]);
        if is_plain_word {
            is_value(before, after)
        } else {
            secret.len() >= LONG || is_apart(before, secret, after)
        }
    })
}

/// Whether what stands between two texts is a value by its surroundings: in quotes, or assigned.
fn is_value(before: &str, after: &str) -> bool {
    let is_quoted = ["'", "\"", "`", "\\\"", "&quot;", "&#39;"]
        .iter()
        .any(|quote| before.ends_with(quote) && after.starts_with(quote));
    let ends = after.lines().next().unwrap_or_default().trim_start_matches(',').trim().is_empty();
    is_quoted || before.ends_with('=') || (ends && (before.ends_with(": ") || before.ends_with("=> ")))
}

fn is_apart(before: &str, secret: &str, after: &str) -> bool {
    let is_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let joins = |one: Option<char>, other: Option<char>| is_word(one) && is_word(other);
    !joins(before.chars().next_back(), secret.chars().next())
        && !joins(secret.chars().next_back(), after.chars().next())
}

/// The text with asterisks in place of `length` bytes at each of these places.
fn replace_at(text: &str, places: &[usize], length: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for &at in places {
        out.push_str(&text[done..at]);
        out.push_str(MASK);
        done = at + length;
    }
    out.push_str(&text[done..]);
    out
}

/// Whether a text is one value of JSON, or several on lines of their own.
fn is_json(text: &str) -> bool {
    let begins = text.trim_start().starts_with(['{', '[']);
    begins
        && serde_json::Deserializer::from_str(text)
            .into_iter::<serde_json::Value>()
            .all(|value| value.is_ok())
}

/// The forms in which printers write a text: as it is, in JSON and other quotes, in HTML and in GitHub's commands.
fn forms(text: &str) -> Vec<String> {
    let json = serde_json::to_string(text).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned();
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted_html = html.replace('"', "&quot;").replace('\'', "&#39;");
    let command = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let single = text.replace('\\', "\\\\").replace('\'', "\\'");
    let twice = text.replace('\'', "''");
    let dollar = json.replace('$', "\\$");
    let mut out = vec![text.to_owned(), json, html, quoted_html, command, single, twice, dollar];
    out.sort();
    out.dedup();
    out.retain(|form| form.len() >= SHORTEST);
    out
}

/// Whether a line of code has a literal that is a secret by how it is written.
pub fn has_secret_literal(code: &str) -> bool {
    !secret_literals(code).is_empty()
}

/// The ranges of literals that are secrets by how they are written, also where the code is never run: `Sensitive('…')`,
/// `Sensitive.new("…")`, `password => '…'`.
pub(crate) fn secret_literals(code: &str) -> Vec<Range> {
    let mut found = Vec::new();
    let mut add = |rest: &str| {
        if let Some(quote) = rest.chars().next().filter(|letter| matches!(letter, '\'' | '"')) {
            let inside = &rest[1..];
            let start = code.len() - inside.len();
            found.push(Range::new(start, start + closing_quote(inside, quote)));
        }
    };
    for at in memmem::find_iter(code.as_bytes(), b"Sensitive") {
        let after = &code[at + "Sensitive".len()..];
        let opening = after.strip_prefix(".new").unwrap_or(after).trim_start();
        add(opening.strip_prefix('(').map(str::trim_start).unwrap_or_default());
    }
    for name in ["password", "passphrase"] {
        for at in memmem::find_iter(code.as_bytes(), name) {
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let after = code[at + name.len()..].trim_start_matches(is_word).trim_start();
            add(after.strip_prefix("=>").map(str::trim_start).unwrap_or_default());
        }
    }
    // An expression in a text is no secret itself.
    found.retain(|range| !code[range.start as usize..range.end as usize].contains('$'));
    found
}

/// Where a literal ends.
fn closing_quote(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if !escaped && letter == quote {
            return at;
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

/// The text with asterisks in some places. It keeps its length and its lines.
pub(crate) fn blot_out<'r>(text: &str, places: impl IntoIterator<Item = &'r Range>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        let (mut start, mut end) = (place.start as usize, (place.end as usize).min(bytes.len()));
        // Quotes stay, so that it still looks like a literal.
        if end > start + 1 && matches!(bytes[start], b'\'' | b'"') && bytes[end - 1] == bytes[start] {
            (start, end) = (start + 1, end - 1);
        }
        while start < end && !text.is_char_boundary(start) {
            start -= 1;
        }
        while end < bytes.len() && !text.is_char_boundary(end) {
            end += 1;
        }
        if let Some(hidden) = bytes.get_mut(start..end) {
            for byte in hidden.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
                *byte = b'*';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_masked_in_every_form_and_json_stays_json() {
        let secrets = Secrets::default();
        secrets.add_text("p\"w<'1");
        secrets.add_text("4711");
        assert_eq!(secrets.mask("a p\"w<'1 b p&quot;w&lt;&#39;1 c"), "a ******* b ******* c");
        let json = r#"{"line": 4711, "text": "is p\"w<'1, 4711"}"#;
        assert_eq!(secrets.mask_output(json), r#"{"line": 4711, "text": "is *******, *******"}"#);
        assert_eq!(secrets.mask_output("[a] 4711"), "[a] *******");
    }

    #[test]
    fn short_texts_and_words_of_every_output_are_left() {
        let secrets = Secrets::default();
        for text in ["abc", "true", "error"] {
            secrets.add_text(text);
        }
        assert!(secrets.is_empty());
        secrets.add_text("first line\nsecond line");
        assert_eq!(secrets.mask("the second line"), "the *******");
    }

    #[test]
    fn a_password_that_is_a_word_leaves_our_sentences_alone() {
        let secrets = Secrets::default();
        secrets.add_text("read");
        secrets.add_text("x42y");
        assert_eq!(secrets.mask("unreadable: cannot read this"), "unreadable: cannot read this");
        assert_eq!(
            secrets.mask("password => 'read', a=read, b: read"),
            "password => '*******', a=*******, b: *******"
        );
        assert_eq!(secrets.mask("x42yz x42y"), "x42yz *******");
        assert_eq!(
            secrets.mask_output(r#"{"kind": "read", "m": "is \"read\""}"#),
            r#"{"kind": "read", "m": "is \"*******\""}"#
        );
    }

    #[test]
    fn literals_are_found_and_blotted_out_in_place() {
        let blotted = |text: &str| blot_out(text, &secret_literals(text));
        assert_eq!(blotted("a => Sensitive('pä\\'x'), b"), "a => Sensitive('******'), b");
        assert_eq!(blotted("Sensitive.new( \"x\" ) Sensitive($y)"), "Sensitive.new( \"*\" ) Sensitive($y)");
        assert_eq!(blotted("Sensitive('open"), "Sensitive('****");
        assert_eq!(blotted("db_password_hash  => 'abc', x"), "db_password_hash  => '***', x");
        assert_eq!(blotted("password => \"${x}\", password($y)"), "password => \"${x}\", password($y)");
        assert_eq!(blot_out("k: 'abc' # x", &[Range::new(3, 8)]), "k: '***' # x");
    }
}
