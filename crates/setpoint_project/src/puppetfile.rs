//! The Puppetfile of a control repository: which modules it wants. It is Ruby, and read without running it: the calls
//! of `mod` and `moduledir` as people write them.

use setpoint_source::Range;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Puppetfile {
    pub(super) modules: Vec<Module>,
    /// Where modules are put instead of `modules`.
    pub(super) moduledir: Option<String>,
    /// What is not well-formed, and where.
    pub(super) errors: Vec<(Range, &'static str)>,
    /// Statements in Ruby that may name modules.
    pub(super) unread: Vec<Range>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// As Puppet knows it: `stdlib`.
    pub(super) name: String,
    /// A folder of the repository that has this module instead of the usual one.
    pub(super) install_path: Option<String>,
    /// The version, tag, branch or commit that is wanted.
    pub(super) pin: Option<String>,
    /// Where it is fetched from, if not from the Forge.
    pub(super) origin: Option<String>,
    pub(super) range: Range,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'a> {
    /// `mod`, `git`, `=>` is left out.
    Word(&'a str),
    Text(&'a str),
    Comma,
    LineEnd,
}

pub(super) fn read(text: &str) -> Puppetfile {
    let (tokens, unclosed) = tokens(text);
    let mut found = Puppetfile::default();
    let mut at = 0;
    while at < tokens.len() {
        let end = statement_end(&tokens, at);
        match &tokens[at..end] {
            [(Token::Word("mod"), range), (Token::Text(name), _), rest @ ..] => {
                found.modules.push(Module {
                    name: short(name).to_owned(),
                    install_path: option(rest, "install_path").map(str::to_owned),
                    pin: pin(rest).map(str::to_owned),
                    origin: option(rest, "git").or_else(|| option(rest, "local")).map(str::to_owned),
                    range: *range,
                });
            }
            [(Token::Word("moduledir"), _), (Token::Text(folder), _), ..] => {
                found.moduledir = Some((*folder).to_owned());
            }
            [(Token::Word("mod"), range), ..] => found.errors.push((*range, "This `mod` names no module")),
            [] | [(Token::LineEnd | Token::Comma, _), ..] => {}
            [(Token::Word("forge"), _), (Token::Text(_), _), ..] => {}
            [(_, first), rest @ ..] => {
                let end = rest.last().map_or(first.end, |(_, last)| last.end);
                found.unread.push(Range { start: first.start, end });
            }
        }
        let last = tokens[at..end].iter().rfind(|(token, _)| *token != Token::LineEnd);
        if let (Some((Token::Comma, range)), true) = (last, end == tokens.len()) {
            found.errors.push((*range, "The Puppetfile ends in the middle of a statement"));
        }
        at = end + 1;
    }
    found.errors.extend(unclosed.map(|range| (range, "This text is not closed")));
    found
}

/// `puppetlabs/stdlib` and `puppetlabs-stdlib` are `stdlib`.
pub(super) fn short(name: &str) -> &str {
    name.split_once(['/', '-']).map_or(name, |(_, short)| short)
}

/// `'9.4.0'` and `:latest` stand alone; what is fetched from elsewhere has a name for it.
fn pin<'a>(rest: &[(Token<'a>, Range)]) -> Option<&'a str> {
    match rest {
        [(Token::Comma, _), (Token::Text(version), _), ..] => Some(version),
        [(Token::Comma, _), (Token::Word("latest"), _), ..] => Some("latest"),
        _ => ["tag", "ref", "commit", "branch", "version"].iter().find_map(|name| option(rest, name)),
    }
}

fn option<'a>(rest: &[(Token<'a>, Range)], name: &str) -> Option<&'a str> {
    rest.windows(2).find_map(|pair| match pair {
        [(Token::Word(word), _), (Token::Text(value), _)] if *word == name => Some(*value),
        _ => None,
    })
}

/// A statement goes on after a comma at the end of a line.
fn statement_end(tokens: &[(Token<'_>, Range)], start: usize) -> usize {
    let mut comma = false;
    for (at, (token, _)) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::LineEnd if !comma => return at,
            Token::LineEnd => {}
            Token::Comma => comma = true,
            _ => comma = false,
        }
    }
    tokens.len()
}

/// The tokens, and what is opened and never closed.
fn tokens(text: &str) -> (Vec<(Token<'_>, Range)>, Option<Range>) {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut unclosed = None;
    let mut brackets: Vec<Range> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'\n' | b';' => {
                at += 1;
                tokens.push((Token::LineEnd, Range::new(start, at)));
            }
            b',' => {
                at += 1;
                tokens.push((Token::Comma, Range::new(start, at)));
            }
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if at >= bytes.len() {
                    unclosed = Some(Range::new(start, start + 1));
                }
                let inner = text.get(start + 1..at.min(bytes.len())).unwrap_or("");
                at = (at + 1).min(bytes.len());
                tokens.push((Token::Text(inner), Range::new(start, at)));
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                    at += 1;
                }
                tokens.push((Token::Word(&text[start..at]), Range::new(start, at)));
            }
            byte => {
                at += 1;
                match byte {
                    b'(' | b'[' | b'{' => brackets.push(Range::new(start, at)),
                    b')' | b']' | b'}' => drop(brackets.pop()),
                    _ => {}
                }
            }
        }
    }
    (tokens, unclosed.or_else(|| brackets.pop()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_mod_are_read() {
        let found = read(
            "forge 'https://forge.example.com'\nmoduledir 'thirdparty'\n# mod 'gone'\n\
             mod 'puppetlabs/stdlib', '9.0.0'\nmod \"puppetlabs-concat\", :latest\n\
             mod 'apt',\n  :git => 'https://example.com/apt.git', # note\n  :tag => 'v1'\n\
             mod('ntp', git: 'x', install_path: 'external')\nmod 'x'; mod 'y'",
        );
        let names: Vec<&str> = found.modules.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["stdlib", "concat", "apt", "ntp", "x", "y"]);
        assert_eq!(found.modules[3].install_path.as_deref(), Some("external"));
        assert_eq!(found.moduledir.as_deref(), Some("thirdparty"));
        let pins: Vec<Option<&str>> = found.modules.iter().map(|module| module.pin.as_deref()).collect();
        assert_eq!(pins, [Some("9.0.0"), Some("latest"), Some("v1"), None, None, None]);
    }

    #[test]
    fn what_is_cut_off_is_told() {
        let whole = "mod 'a', '1'\nmod('b', git: 'x')\n";
        assert_eq!(read(whole).errors, []);
        for (text, place) in
            [("mod 'a'\nmod 'b", 12), ("mod 'a',\n", 7), ("mod 'a'\nmod\n", 8), ("mod('a'\n", 3)]
        {
            let found = read(text).errors;
            assert_eq!(found.first().map(|(range, _)| range.start), Some(place), "{text}");
        }
    }

    #[test]
    fn ruby_is_told() {
        for (text, count) in
            [("eval(File.read('x'))\n", 1), ("forge 'x'\n\nmod 'a'\n", 0), ("if x\nmod 'a'\nend", 2)]
        {
            assert_eq!(read(text).unread.len(), count, "{text}");
        }
    }

    #[test]
    fn any_text_ends() {
        for text in ["mod '", "mod 'a\\", "mod", "é mod 'é'", "mod 'a',\n\n,"] {
            let _ = read(text);
        }
    }
}
