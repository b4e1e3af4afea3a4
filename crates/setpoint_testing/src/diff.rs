//! A line difference for people.

use std::fmt::Write;

/// `-` lines are wanted and missing, `+` lines are there and not wanted. Common lines far from any difference are
/// left out.
pub fn diff(wanted: &str, found: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let mut out = String::new();
    for line in &a[start.saturating_sub(3)..start] {
        let _ = writeln!(out, "  {line}");
    }
    for line in &a[start..a.len() - end] {
        let _ = writeln!(out, "- {line}");
    }
    for line in &b[start..b.len() - end] {
        let _ = writeln!(out, "+ {line}");
    }
    for line in a[a.len() - end..].iter().take(3) {
        let _ = writeln!(out, "  {line}");
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_the_lines_that_differ_are_marked() {
        assert_eq!(super::diff("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
    }
}
