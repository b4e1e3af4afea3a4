//! `AllowedPattern`: expressions of Java, as CloudFormation reads them.

use fancy_regex::Regex;

/// Returns the expression that a whole value must match; nothing if it is read otherwise here.
pub(crate) fn compile(text: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{})$", with_ascii_classes(text))).ok()
}

/// Spells out `\w`, `\d` and `\s`: they mean ASCII in Java, and every script would make a long expression too large.
fn with_ascii_classes(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let Some(kind) = rest.next() else {
            out.push(letter);
            break;
        };
        let members = match kind.to_ascii_lowercase() {
            'w' => "a-zA-Z0-9_",
            'd' => "0-9",
            's' => r" \t\n\x0B\f\r",
            _ => {
                out.extend([letter, kind]);
                continue;
            }
        };
        if kind.is_ascii_uppercase() {
            out.push_str(&format!("[^{members}]"));
        } else if depth == 0 {
            out.push_str(&format!("[{members}]"));
        } else {
            out.push_str(members);
            // A hyphen after a class is no range.
            if rest.next_if_eq(&'-').is_some() {
                out.push_str(r"\-");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn classes_are_those_of_java() {
        let matches = |pattern: &str, text: &str| compile(pattern).unwrap().is_match(text).unwrap();
        assert!(matches(r"^arn:[^:]+:secret:[\w\/+=.@-]{1,512}$", "arn:aws:secret:a/b@c"));
        assert!(matches(r"[\w-\+]+@[\w-]+", "a-b+c@d-e"));
        assert!(matches(r"(?=.*\d)(?=.*\W)\S{3,}", "a1!"));
        assert!(!matches(r"\w+", "ä"));
        assert!(!matches(r"[^\d]+", "a1"));
        assert!(!matches(r"\d{2}", "123"));
    }
}
