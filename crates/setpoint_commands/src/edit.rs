//! What `sed -i` makes of a content.

use fancy_regex::{Captures, Regex};

use crate::expression::{Syntax, expression};

/// A program of sed that only substitutes and deletes lines.
#[derive(Debug, Clone)]
pub struct Edit {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    /// Only lines that match.
    address: Option<Regex>,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    Delete,
    Substitute { pattern: String, regex: Regex, replacement: Vec<Part>, everywhere: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

impl Edit {
    /// Reads a program; `None` if it does more than is followed here.
    pub fn parse(program: &str, extended: bool) -> Option<Self> {
        let mut reader = Reader {
            characters: program.chars().collect(),
            at: 0,
            syntax: if extended { Syntax::Extended } else { Syntax::Basic },
        };
        let mut rules = Vec::new();
        loop {
            reader.skip(|character| character.is_whitespace() || character == ';');
            if reader.peek().is_none() {
                break;
            }
            rules.push(reader.rule()?);
        }
        (!rules.is_empty()).then_some(Self { rules })
    }

    /// The content afterwards; `None` if an expression needs too many steps.
    pub fn apply(&self, content: &str) -> Option<String> {
        let mut out = String::new();
        for whole in content.split_inclusive('\n') {
            let (line, end) = whole.strip_suffix('\n').map_or((whole, ""), |line| (line, "\n"));
            if self.line(line, &mut out)? {
                out.push_str(end);
            }
        }
        Some(out)
    }

    /// Adds what a line becomes, and says whether it stays.
    fn line(&self, line: &str, out: &mut String) -> Option<bool> {
        let mut line = line.to_owned();
        for rule in &self.rules {
            if let Some(address) = &rule.address
                && !address.is_match(&line).ok()?
            {
                continue;
            }
            match &rule.action {
                Action::Delete => return Some(false),
                Action::Substitute { regex, replacement, everywhere, .. } => {
                    let count = usize::from(!*everywhere);
                    line = regex
                        .try_replacen(&line, count, |found: &Captures<'_, str>| filled(replacement, found))
                        .ok()?
                        .into_owned();
                }
            }
        }
        out.push_str(&line);
        Some(true)
    }

    /// Whether a second application certainly changes nothing, whatever the content.
    pub fn settles(&self) -> bool {
        self.rules.iter().all(Rule::settles)
            && self.rules.iter().enumerate().all(|(at, one)| {
                self.rules.get(at + 1..).unwrap_or_default().iter().all(|other| one.is_apart_from(other))
            })
    }

    /// Whether the two certainly concern different lines, so that their order does not matter.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.rules.iter().all(|one| other.rules.iter().all(|other| one.is_apart_from(other)))
    }
}

fn filled(replacement: &[Part], found: &Captures<'_, str>) -> String {
    replacement
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Group(number) => found.get(*number).map_or("", |group| group.as_str()),
        })
        .collect()
}

impl Rule {
    fn settles(&self) -> bool {
        let Action::Substitute { pattern, replacement, everywhere, .. } = &self.action else { return true };
        let Some(text) = plain(replacement) else { return false };
        // A whole line becomes one text, and that text stays or does not match.
        if pattern.starts_with('^') && (pattern.ends_with(".*") || pattern.ends_with('$')) {
            return !pattern.contains('|') && !text.contains('\n') && is_whole(pattern);
        }
        // What is put in shares no character with what is looked for: no match can arise from it.
        let literal = literal_prefix(pattern);
        *everywhere
            && literal.chars().count() == pattern.replace('\\', "").chars().count()
            && !text.is_empty()
            && !text.chars().any(|character| literal.contains(character))
    }

    /// The text with which every line begins that it may change; and what that line becomes.
    fn is_apart_from(&self, other: &Self) -> bool {
        let (Some((mine, after)), Some((theirs, other_after))) = (self.lines(), other.lines()) else {
            return false;
        };
        let begins = |after: Option<&str>, with: &str| after.is_some_and(|after| after.starts_with(with));
        !mine.starts_with(&theirs)
            && !theirs.starts_with(&mine)
            && !begins(after.as_deref(), &theirs)
            && !begins(other_after.as_deref(), &mine)
    }

    /// The beginning of the lines that it changes, and what such a line becomes; `None` for those that go.
    fn lines(&self) -> Option<(String, Option<String>)> {
        match (&self.address, &self.action) {
            (Some(address), Action::Delete) => Some((begins_with(address.as_str())?, None)),
            (_, Action::Substitute { pattern, replacement, .. }) if is_whole(pattern) => {
                Some((begins_with(pattern)?, Some(plain(replacement)?)))
            }
            _ => None,
        }
    }
}

/// Whether an expression matches whole lines only.
fn is_whole(pattern: &str) -> bool {
    let body = pattern.strip_prefix('^');
    body.is_some_and(|body| {
        !body.contains('|')
            && (body.ends_with('$') && !body.ends_with("\\$")
                || body.ends_with(".*") && !body.ends_with("\\.*"))
    })
}

/// The text that all matches of an expression begin with, at the start of a line.
fn begins_with(pattern: &str) -> Option<String> {
    let body = pattern.strip_prefix('^')?;
    if body.contains('|') {
        return None;
    }
    let literal = literal_prefix(body);
    (!literal.is_empty()).then_some(literal)
}

/// The plain text at the start of an expression.
fn literal_prefix(pattern: &str) -> String {
    let mut out: Vec<char> = Vec::new();
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(next) if next.is_ascii_punctuation() => out.push(next),
                _ => break,
            },
            // What may be repeated or left out is not certain.
            '*' | '?' | '{' => {
                out.pop();
                break;
            }
            '+' | '.' | '[' | '(' | ')' | '^' | '$' | '|' => break,
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

fn plain(replacement: &[Part]) -> Option<String> {
    replacement
        .iter()
        .map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Group(_) => None,
        })
        .collect()
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    syntax: Syntax,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&what) {
            self.at += 1;
        }
    }

    fn regex(&self, pattern: &str, ignore_case: bool) -> Option<(String, Regex)> {
        let pattern = expression(pattern, self.syntax)?;
        let whole = if ignore_case { format!("(?i){pattern}") } else { pattern.clone() };
        Some((pattern, Regex::new(&whole).ok()?))
    }

    fn rule(&mut self) -> Option<Rule> {
        let mut address = None;
        if self.peek() == Some('/') {
            self.at += 1;
            let pattern = self.until('/')?;
            address = Some(self.regex(&pattern, false)?.1);
            self.skip(|character| character == ' ');
        }
        let action = match self.next()? {
            'd' => Action::Delete,
            's' => self.substitution()?,
            _ => return None,
        };
        self.skip(|character| character == ' ');
        matches!(self.peek(), None | Some(';' | '\n')).then_some(Rule { address, action })
    }

    /// The text before a delimiter; one with a backslash stands for itself.
    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut out = String::new();
        loop {
            match self.next()? {
                '\n' => return None,
                character if character == delimiter => return Some(out),
                '\\' => {
                    let next = self.next()?;
                    if next != delimiter {
                        out.push('\\');
                    }
                    out.push(next);
                }
                character => out.push(character),
            }
        }
    }

    fn substitution(&mut self) -> Option<Action> {
        let delimiter =
            self.next().filter(|character| character.is_ascii_punctuation() && *character != '\\')?;
        let pattern = self.until(delimiter)?;
        let text = self.until(delimiter)?;
        let (mut everywhere, mut ignore_case) = (false, false);
        while let Some(flag) = self.peek().filter(char::is_ascii_alphanumeric) {
            match flag {
                'g' => everywhere = true,
                'i' | 'I' => ignore_case = true,
                _ => return None,
            }
            self.at += 1;
        }
        let (pattern, regex) = self.regex(&pattern, ignore_case)?;
        // Without regard to case nothing is known of the text itself.
        let pattern = if ignore_case { format!("(?i){pattern}") } else { pattern };
        Some(Action::Substitute { pattern, regex, replacement: replacement(&text)?, everywhere })
    }
}

fn replacement(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let group = match character {
            '&' => Some(0),
            '\\' => match characters.next()? {
                digit @ '0'..='9' => digit.to_digit(10).map(|digit| digit as usize),
                'n' => {
                    plain.push('\n');
                    None
                }
                't' => {
                    plain.push('\t');
                    None
                }
                other if other.is_ascii_alphabetic() => return None,
                other => {
                    plain.push(other);
                    None
                }
            },
            other => {
                plain.push(other);
                None
            }
        };
        if let Some(group) = group {
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Group(group));
        }
    }
    parts.push(Part::Text(plain));
    Some(parts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn edited(program: &str, content: &str) -> Option<String> {
        Edit::parse(program, false)?.apply(content)
    }

    #[test]
    fn contents_are_edited_as_sed_does() {
        assert_eq!(edited("s/a/b/", "a a\nx\na").as_deref(), Some("b a\nx\nb"));
        assert_eq!(edited("s/a/b/g", "a a\n").as_deref(), Some("b b\n"));
        assert_eq!(edited("s|/a/b|/c|", "x /a/b\n").as_deref(), Some("x /c\n"));
        assert_eq!(edited("s/\\(a\\)b/[\\1&]/", "ab\n").as_deref(), Some("[aab]\n"));
        assert_eq!(edited("/^#/d; s/x/y/", "# x\nx\n").as_deref(), Some("y\n"));
        assert_eq!(edited("/^k/s/1/2/", "k=1\nl=1\n").as_deref(), Some("k=2\nl=1\n"));
        assert_eq!(edited("s/A/b/I", "a\n").as_deref(), Some("b\n"));
        for other in ["p", "1d", "s/a/b/2", "s/a/b/e", "s/a/\\U&/", "$a x", "s/a", "/a/,/b/d", "y/a/b/", ""] {
            assert!(Edit::parse(other, false).is_none(), "{other}");
        }
        let extended = Edit::parse("s/(a|b)+/c/", true).unwrap();
        assert_eq!(extended.apply("abab").as_deref(), Some("c"));
    }

    #[test]
    fn only_what_certainly_settles_does() {
        let settles = |program: &str| Edit::parse(program, false).unwrap().settles();
        for program in
            ["s/^k=.*/k=1/", "s/^#*k .*$/k 1/", "/^#/d", "s/old/new=2/g", "s/^a.*/b/; s/^x.*/y/", "s/^k$/l/"]
        {
            assert!(settles(program), "{program}");
        }
        // The second time more is replaced, or what was put in is found again.
        for program in [
            "s/a/b/",
            "s/ab/b/g",
            "s/^#//",
            "s/a/aa/g",
            "s/ab//g",
            "s/^a.*/b/; s/^b.*/c/",
            "s/\\(.*\\)x/\\1/",
            "s/^k\\./k/",
        ] {
            assert!(!settles(program), "{program}");
        }
        let apart = |one: &str, other: &str| {
            Edit::parse(one, false).unwrap().is_apart_from(&Edit::parse(other, false).unwrap())
        };
        assert!(apart("s/^port=.*/port=2/", "s/^host=.*/host=y/"));
        assert!(!apart("s/^port=.*/port=2/", "s/^port.*/port=3/"));
        assert!(!apart("s/^a.*/b/", "s/^b.*/c/"));
        assert!(!apart("s/^#*a.*/b/", "s/^x.*/y/"));
    }
}
