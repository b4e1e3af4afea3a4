//! Regular expressions of types and attributes, compiled once: a catalog asks the same ones for each of its resources.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fancy_regex::Regex;
use rustc_hash::FxHashMap;

/// The patterns that were asked for; `None` for one that our regular expressions do not know.
type Patterns = FxHashMap<&'static str, Option<Arc<Regex>>>;

static KNOWN: LazyLock<Mutex<Patterns>> = LazyLock::new(Mutex::default);

pub(crate) fn compiled(pattern: &'static str) -> Option<Arc<Regex>> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(pattern).or_insert_with(|| Regex::new(&as_in_ruby(pattern)).ok().map(Arc::new)).clone()
}

/// In Ruby, `\w`, `\d` and `\s` stand for letters, digits and blanks of ASCII alone.
fn as_in_ruby(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('w') => out.push_str("[A-Za-z0-9_]"),
            Some('W') => out.push_str("[^A-Za-z0-9_]"),
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('s') => out.push_str(r"[ \t\r\n\x0b\x0c]"),
            Some('h') => out.push_str("[0-9A-Fa-f]"),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}
