//! The one gate through which sentences become part of findings.

/// Returns the text as it is. In a build for tests, with `SETPOINT_SCRAMBLED_WORDS` set, it returns letters that say nothing:
/// whoever reads words back to decide something then decides otherwise, and a test sees it.
#[cfg(debug_assertions)]
pub fn spoken(text: String) -> String {
    use std::sync::OnceLock;

    static IS_SCRAMBLED: OnceLock<bool> = OnceLock::new();
    if *IS_SCRAMBLED.get_or_init(|| std::env::var_os("SETPOINT_SCRAMBLED_WORDS").is_some()) {
        return scrambled(&text);
    }
    text
}

/// Returns the text as it is.
#[cfg(not(debug_assertions))]
pub fn spoken(text: String) -> String {
    text
}

/// Puts another letter for every letter and another digit for every digit. Line ends stay: printers count lines.
#[cfg(debug_assertions)]
fn scrambled(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => char::from(b'a' + (b'z' - letter as u8)),
            'A'..='Z' => char::from(b'A' + (b'Z' - letter as u8)),
            '0'..='9' => char::from(b'0' + (b'9' - letter as u8)),
            '\n' | ' ' => letter,
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambled_words_keep_no_word_and_no_mark() {
        assert_eq!(scrambled("File[/a]: fails, then 2\nok"), "Urov__z__ uzroh_ gsvm 7\nlp");
    }
}
