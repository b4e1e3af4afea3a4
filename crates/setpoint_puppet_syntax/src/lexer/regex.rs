//! Whether a regular expression is well-formed, as far as Puppet refuses a file for it.

/// What is wrong with a regular expression, in the words of Ruby. Only brackets, ranges and groups are looked at;
/// whether it can be matched is seen when it is used.
pub(super) fn problem(source: &str) -> Option<&'static str> {
    let mut chars = source.char_indices().peekable();
    let mut groups = 0_u32;
    let mut class: Vec<Class> = Vec::new();
    let mut extended = false;
    while let Some((at, char)) = chars.next() {
        let rest = &source[at + char.len_utf8()..];
        match char {
            '\\' => {
                if chars.next().is_none() {
                    return Some("too short escape sequence");
                }
                if let Some(class) = class.last_mut() {
                    class.escaped();
                }
            }
            '[' if class.is_empty() || !rest.starts_with(':') || !rest.contains(":]") => {
                let negated = rest.starts_with('^');
                if negated {
                    chars.next();
                }
                let first_is_close = rest[usize::from(negated)..].starts_with(']');
                if first_is_close && rest[usize::from(negated) + 1..].contains(']') {
                    chars.next();
                } else if first_is_close {
                    return Some("empty char-class");
                }
                if let Some(class) = class.last_mut() {
                    class.escaped();
                }
                class.push(Class::default());
            }
            // A class by name, such as `[:alpha:]`.
            '[' => {
                let end = at + 1 + rest.find(":]").unwrap_or(0) + 2;
                while chars.peek().is_some_and(|&(next, _)| next < end) {
                    chars.next();
                }
            }
            ']' if !class.is_empty() => {
                class.pop();
            }
            other if !class.is_empty() => {
                if let Some(class) = class.last_mut()
                    && class.range_is_empty(other, rest)
                {
                    return Some("empty range in char class");
                }
            }
            '#' if extended => while chars.next().is_some_and(|(_, next)| next != '\n') {},
            '(' => {
                groups += 1;
                if rest.starts_with("?#") {
                    groups -= 1;
                    if !chars.any(|(_, next)| next == ')') {
                        return Some("end pattern in group");
                    }
                } else if let Some(option) = rest.strip_prefix('?') {
                    if option.is_empty() {
                        return Some("end pattern in group");
                    }
                    if !is_group_option(option) {
                        return Some("undefined group option");
                    }
                    extended |= option
                        .split([')', ':'])
                        .next()
                        .is_some_and(|flags| flags.contains('x') && !flags.contains('<'));
                }
            }
            ')' => {
                if groups == 0 {
                    return Some("unmatched close parenthesis");
                }
                groups -= 1;
            }
            '*' | '+' | '?'
                if at == 0
                    || is_unescaped(source, at, '|')
                    || is_unescaped(source, at, '(') && char != '?' =>
            {
                return Some("target of repeat operator is not specified");
            }
            _ => {}
        }
    }
    if !class.is_empty() {
        return Some("premature end of char-class");
    }
    (groups > 0).then_some("end pattern with unmatched parenthesis")
}

/// Whether the character before an offset is this one, and not escaped.
fn is_unescaped(source: &str, at: usize, char: char) -> bool {
    source[..at]
        .strip_suffix(char)
        .is_some_and(|before| before.chars().rev().take_while(|&before| before == '\\').count() % 2 == 0)
}

/// What may follow `(?`.
fn is_group_option(option: &str) -> bool {
    if option.starts_with([':', '=', '!', '>', '~', '<', '\'', '(']) {
        return true;
    }
    let flags = option.trim_start_matches(['i', 'm', 'x', 'a', 'd', 'u', '-']);
    flags.len() < option.len() && flags.starts_with([':', ')'])
}

/// A bracket expression: what a `-` in it could be a range from.
#[derive(Debug, Default)]
struct Class {
    low: Option<char>,
    in_range: bool,
}

impl Class {
    /// An escape or a nested class: nothing is known of its order.
    fn escaped(&mut self) {
        *self = Self::default();
    }

    fn range_is_empty(&mut self, char: char, rest: &str) -> bool {
        if self.in_range {
            let low = self.low.take();
            self.in_range = false;
            return low.is_some_and(|low| low > char);
        }
        if char == '-' && self.low.is_some() && !rest.starts_with(']') {
            // `\\` and `[` begin something whose order is not known.
            if rest.starts_with(['\\', '[']) {
                self.low = None;
            } else {
                self.in_range = true;
            }
            return false;
        }
        self.low = Some(char);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn well_formed() {
        for source in [
            "",
            "a(b|c)*",
            "[a-z]",
            "[]a]",
            "[^]a]",
            r"\(",
            r"[\]]",
            "(?i:x)",
            "(?<n>x)",
            "(?=a)",
            "[[:alpha:]-]",
            "[a&&[b]]",
            r"^(?i-mx:a)$",
            "[+-]",
            "[a-]",
            r"\A(([0-7]{1,4})|(([ugoa]*([-+=]([rwxXst]*|[ugo]))+))\z|x)",
            "(?x) a # b (",
        ] {
            assert_eq!(problem(source), None, "{source}");
        }
    }

    #[test]
    fn ill_formed() {
        assert_eq!(problem("("), Some("end pattern with unmatched parenthesis"));
        assert_eq!(problem("a)"), Some("unmatched close parenthesis"));
        assert_eq!(problem("[a"), Some("premature end of char-class"));
        assert_eq!(problem("[z-a]"), Some("empty range in char class"));
        assert_eq!(problem("(?q)"), Some("undefined group option"));
        assert_eq!(problem("*a"), Some("target of repeat operator is not specified"));
        assert_eq!(problem("a|*"), Some("target of repeat operator is not specified"));
        assert_eq!(problem("a\\"), Some("too short escape sequence"));
    }
}
