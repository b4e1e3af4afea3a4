//! The expressions of grep and sed, as those that Rust reads.

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Syntax {
    /// Every character stands for itself.
    Fixed,
    Basic,
    Extended,
    Perl,
}

/// A pattern for `fancy_regex`; `None` if it has what is not read here.
pub fn expression(pattern: &str, syntax: Syntax) -> Option<String> {
    match syntax {
        Syntax::Fixed => Some(pattern.chars().map(escaped).collect()),
        Syntax::Perl => Some(pattern.to_owned()),
        Syntax::Basic | Syntax::Extended => translated(pattern, syntax == Syntax::Extended),
    }
}

/// A character that stands for itself.
fn escaped(character: char) -> String {
    if character.is_ascii_punctuation() { format!("\\{character}") } else { character.to_string() }
}

fn translated(pattern: &str, extended: bool) -> Option<String> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    // Where an anchor or a star has its plain meaning.
    let mut begins = true;
    while let Some(&character) = characters.get(at) {
        at += 1;
        let mut next_begins = false;
        match character {
            '\\' => {
                let next = *characters.get(at)?;
                at += 1;
                match next {
                    '(' | ')' | '{' | '}' | '|' | '+' | '?' if !extended => {
                        next_begins = matches!(next, '(' | '|');
                        out.push(next);
                    }
                    '1'..='9' | 's' | 'S' | 'w' | 'W' | 'b' | 'B' | 'n' | 't' => out.extend(['\\', next]),
                    '<' | '>' => out.push_str("\\b"),
                    other if other.is_ascii_punctuation() => out.push_str(&escaped(other)),
                    _ => return None,
                }
            }
            '[' => {
                let (set, after) = bracket(&characters, at)?;
                out.push_str(&set);
                at = after;
            }
            '^' if extended || begins => {
                next_begins = true;
                out.push('^');
            }
            '$' if extended || at == characters.len() || ends_group(&characters, at) => out.push('$'),
            '*' if !begins => out.push('*'),
            '.' => out.push('.'),
            '(' | ')' | '{' | '}' | '|' | '+' | '?' if extended => {
                next_begins = matches!(character, '(' | '|');
                out.push(character);
            }
            other => out.push_str(&escaped(other)),
        }
        begins = next_begins;
    }
    Some(out)
}

/// Whether a group or an alternative of a basic expression ends here.
fn ends_group(characters: &[char], at: usize) -> bool {
    characters.get(at) == Some(&'\\') && matches!(characters.get(at + 1), Some(')' | '|'))
}

/// A set in brackets, and where it ends. A backslash is a plain character in it.
fn bracket(characters: &[char], start: usize) -> Option<(String, usize)> {
    let mut out = String::from("[");
    let mut at = start;
    if characters.get(at) == Some(&'^') {
        out.push('^');
        at += 1;
    }
    let first = at;
    loop {
        let character = *characters.get(at)?;
        match character {
            ']' if at > first => return Some((out + "]", at + 1)),
            '[' if characters.get(at + 1) == Some(&':') => {
                let end = (at + 2..characters.len()).find(|end| characters[*end] == ':')?;
                if characters.get(end + 1) != Some(&']') {
                    return None;
                }
                out.extend(&characters[at..end + 2]);
                at = end + 2;
            }
            '-' => {
                out.push('-');
                at += 1;
            }
            other => {
                out.push_str(&escaped(other));
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_and_extended_differ() {
        assert_eq!(expression("^a\\(b\\|c\\)*$", Syntax::Basic).as_deref(), Some("^a(b|c)*$"));
        assert_eq!(expression("a(b|c)+", Syntax::Extended).as_deref(), Some("a(b|c)+"));
        assert_eq!(expression("a(b)+", Syntax::Basic).as_deref(), Some("a\\(b\\)\\+"));
        assert_eq!(expression("*a^b$c", Syntax::Basic).as_deref(), Some("\\*a\\^b\\$c"));
        assert_eq!(expression("[^]x[:space:]\\]", Syntax::Basic).as_deref(), Some("[^\\]x[:space:]\\\\]"));
        assert_eq!(expression("a.b", Syntax::Fixed).as_deref(), Some("a\\.b"));
        assert_eq!(expression("a\\", Syntax::Basic), None);
        assert_eq!(expression("[a", Syntax::Basic), None);
    }
}
