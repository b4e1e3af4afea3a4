//! Methods of Ruby's `String`.

/// White space to `strip`, which also takes null characters.
const BLANK: &[char] = &[' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '\0'];

pub(crate) fn downcase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

pub(crate) fn upcase(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).collect()
}

pub(crate) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}

pub(crate) fn camelcase(text: &str) -> String {
    text.split('_').map(capitalize).collect()
}

pub(crate) fn chomp(text: &str) -> String {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text).to_owned()
}

pub(crate) fn chop(text: &str) -> String {
    let mut letters = text.chars();
    letters.next_back();
    text.strip_suffix("\r\n").unwrap_or(letters.as_str()).to_owned()
}

pub(crate) fn lstrip(text: &str) -> String {
    text.trim_start_matches(BLANK).to_owned()
}

pub(crate) fn rstrip(text: &str) -> String {
    text.trim_end_matches(BLANK).to_owned()
}

pub(crate) fn strip(text: &str) -> String {
    text.trim_matches(BLANK).to_owned()
}
