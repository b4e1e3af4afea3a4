//! Text filled up to a width. Rust's formatter stops at 65,535.

/// Text with `fill` before it, up to so many characters.
pub(crate) fn fill_before(text: &str, width: usize, fill: char) -> String {
    let mut out = missing(text, width, fill);
    out.push_str(text);
    out
}

/// Text with `fill` after it, up to so many characters.
pub(crate) fn fill_after(text: &str, width: usize, fill: char) -> String {
    text.to_owned() + &missing(text, width, fill)
}

fn missing(text: &str, width: usize, fill: char) -> String {
    // Most fields have no width.
    if width == 0 {
        return String::new();
    }
    std::iter::repeat_n(fill, width.saturating_sub(text.chars().count())).collect()
}
