//! The Puppetfile of a control repository: which modules it wants. It is Ruby, and read without running it: the calls
//! of `mod` and `moduledir` as people write them.

use std::collections::BTreeMap;

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
    /// Whether the name of a module is computed, so that the module is not in `modules`.
    pub(super) computes_names: bool,
    /// The tokens of every statement that is not a `mod` with literals alone. What is computed can differ only if they do.
    pub(super) other_code: Vec<String>,
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
    /// A part of the statement is computed in a way that is not read.
    pub(super) is_computed: bool,
    pub(super) range: Range,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'a> {
    /// `mod`, `git`, `=>` is left out.
    Word(&'a str),
    Text(&'a str),
    Comma,
    /// `=`, which makes a statement of a name an assignment and no call.
    Equals,
    /// A character that is neither a sign nor a letter of ASCII.
    Other,
    LineEnd,
}

pub(super) fn read(text: &str) -> Puppetfile {
    let (tokens, unclosed) = tokens(text);
    let mut found = Puppetfile::default();
    let mut variables = Variables::default();
    for statement in tokens.split(|(token, _)| *token == Token::LineEnd) {
        let mut is_literal = false;
        match statement {
            [(Token::Word("mod"), range), (Token::Text(name), _), rest @ ..] => {
                let rest = variables.resolve(rest);
                let is_computed = rest.contains(&Argument::Computed);
                is_literal = !is_computed;
                found.modules.push(Module {
                    name: short(name).to_owned(),
                    install_path: option(&rest, "install_path").map(str::to_owned),
                    pin: pin(&rest).map(str::to_owned),
                    origin: option(&rest, "git").or_else(|| option(&rest, "local")).map(str::to_owned),
                    is_computed,
                    range: *range,
                });
            }
            [(Token::Word("moduledir"), _), (Token::Text(folder), _)] => {
                found.moduledir = Some((*folder).to_owned());
            }
            [(Token::Word("mod"), range), (Token::Word(_), _), ..] => {
                found.computes_names = true;
                found.unread.push(*range);
            }
            [(Token::Word("mod"), range), ..] => found.errors.push((*range, "This `mod` names no module")),
            [(Token::Word("forge"), _), (Token::Text(_), _)] => {}
            [(Token::Word(name), _), (Token::Equals, _), values @ ..] if variables.assign(name, values) => {}
            [] | [(Token::LineEnd | Token::Comma, _), ..] => {}
            [(_, first), rest @ ..] => {
                let end = rest.last().map_or(first.end, |(_, last)| last.end);
                found.unread.push(Range { start: first.start, end });
            }
        }
        if !is_literal {
            found.other_code.extend(statement.iter().map(|(token, _)| format!("{token:?}")));
        }
    }
    if let Some((Token::Comma, range)) = tokens.iter().rfind(|(token, _)| *token != Token::LineEnd) {
        found.errors.push((*range, "The Puppetfile ends in the middle of a statement"));
    }
    found.errors.extend(unclosed.map(|range| (range, "This text is not closed")));
    found
}

/// `puppetlabs/stdlib` and `puppetlabs-stdlib` are `stdlib`.
pub(super) fn short(name: &str) -> &str {
    name.split_once(['/', '-']).map_or(name, |(_, short)| short)
}

/// A part of what follows the name of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    /// The name of an option.
    Name(String),
    Text(String),
    Comma,
    /// Ruby that is not read.
    Computed,
}

/// Names of options, and the values that are written without quotes.
const KNOWN_WORDS: [&str; 16] = [
    "git",
    "local",
    "tag",
    "ref",
    "commit",
    "branch",
    "default_branch",
    "default_branch_override",
    "control_branch",
    "version",
    "latest",
    "install_path",
    "exclude_spec",
    "type",
    "true",
    "false",
];

/// The variables and constants that hold a text, and the tables that hold texts by name.
#[derive(Debug, Default)]
struct Variables<'a> {
    texts: BTreeMap<&'a str, &'a str>,
    tables: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
}

impl<'a> Variables<'a> {
    /// Takes `version = '1.0'` and `versions = { 'stdlib' => '9.4.0' }`, and says whether it is such a statement. What else is
    /// assigned is not known any more.
    fn assign(&mut self, name: &'a str, values: &[(Token<'a>, Range)]) -> bool {
        self.texts.remove(name);
        self.tables.remove(name);
        match values {
            [(Token::Text(value), _)] if !is_interpolated(value) => {
                self.texts.insert(name, value);
                true
            }
            _ => {
                let mut table = BTreeMap::new();
                for entry in values.split(|(token, _)| *token == Token::Comma) {
                    match entry {
                        [(Token::Text(key) | Token::Word(key), _), (Token::Text(value), _)]
                            if !is_interpolated(value) =>
                        {
                            table.insert(*key, *value);
                        }
                        [] => {}
                        _ => return false,
                    }
                }
                let is_table = !table.is_empty();
                self.tables.insert(name, table);
                is_table
            }
        }
    }

    /// Puts texts in the places of variables and of entries of tables.
    fn resolve(&self, tokens: &[(Token<'a>, Range)]) -> Vec<Argument> {
        let mut found = Vec::new();
        let mut rest = tokens;
        while let Some(((first, _), after)) = rest.split_first() {
            rest = after;
            found.push(match (first, after) {
                (Token::Comma, _) => Argument::Comma,
                (Token::Text(text), _) => self.interpolate(text),
                (Token::Word(word), [(Token::Text(key) | Token::Word(key), _), after @ ..])
                    if self.tables.contains_key(word) =>
                {
                    rest = after;
                    let entry = self.tables.get(word).and_then(|table| table.get(key));
                    entry.map_or(Argument::Computed, |text| Argument::Text((*text).to_owned()))
                }
                (Token::Word(word), _) => match self.texts.get(word) {
                    Some(text) => Argument::Text((*text).to_owned()),
                    None if KNOWN_WORDS.contains(word) => Argument::Name((*word).to_owned()),
                    None => Argument::Computed,
                },
                (Token::Equals | Token::Other, _) => Argument::Computed,
                (Token::LineEnd, _) => continue,
            });
        }
        found
    }

    /// A text with the variables in it replaced.
    fn interpolate(&self, text: &str) -> Argument {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once("#{") {
            let Some((name, after)) = inside.split_once('}') else { return Argument::Computed };
            let Some(value) = self.texts.get(name.trim()) else { return Argument::Computed };
            out.push_str(before);
            out.push_str(value);
            rest = after;
        }
        out.push_str(rest);
        Argument::Text(out)
    }
}

fn is_interpolated(text: &str) -> bool {
    text.contains("#{")
}

/// `'9.4.0'` and `:latest` stand alone; what is fetched from elsewhere has a name for it.
fn pin(rest: &[Argument]) -> Option<&str> {
    match rest {
        [Argument::Comma, Argument::Text(version), ..] => Some(version),
        [Argument::Comma, Argument::Name(word), ..] if word == "latest" => Some("latest"),
        _ => ["tag", "ref", "commit", "branch", "version"].iter().find_map(|name| option(rest, name)),
    }
}

fn option<'a>(rest: &'a [Argument], name: &str) -> Option<&'a str> {
    rest.windows(2).find_map(|pair| match pair {
        [Argument::Name(word), Argument::Text(value)] if word == name => Some(value.as_str()),
        _ => None,
    })
}

/// Whether a statement goes on in the next line after this code.
fn goes_on(code: &str) -> bool {
    let code = code.trim_end_matches([' ', '\t', '\r']);
    code.ends_with([',', '=', ':', '\\', '+', '(', '[', '{']) || code.ends_with("=>")
}

/// The tokens, and what is opened and never closed.
fn tokens(text: &str) -> (Vec<(Token<'_>, Range)>, Option<Range>) {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut unclosed = None;
    let mut brackets: Vec<Range> = Vec::new();
    // How many brackets are open.
    let mut depth = 0_usize;
    // The code of the statement so far ends here; comments do not count.
    let mut code_end = 0;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            byte @ (b'\n' | b';') => {
                at += 1;
                // An unclosed bracket hides no later module.
                let begins_module = text[at..].trim_start().starts_with("mod ");
                if begins_module {
                    depth = 0;
                }
                let is_end = byte == b';' || (depth == 0 && !goes_on(&text[..code_end]));
                if is_end || begins_module {
                    tokens.push((Token::LineEnd, Range::new(start, at)));
                }
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
                    b'(' | b'[' | b'{' => {
                        brackets.push(Range::new(start, at));
                        depth += 1;
                    }
                    b')' | b']' | b'}' => {
                        brackets.pop();
                        depth = depth.saturating_sub(1);
                    }
                    b'=' if bytes.get(at) == Some(&b'>') => at += 1,
                    b'=' => tokens.push((Token::Equals, Range::new(start, at))),
                    _ if byte.is_ascii_graphic() || byte.is_ascii_whitespace() => {}
                    _ => {
                        while !text.is_char_boundary(at) {
                            at += 1;
                        }
                        tokens.push((Token::Other, Range::new(start, at)));
                    }
                }
            }
        }
        if !matches!(bytes[start], b'#' | b'\n' | b' ' | b'\t' | b'\r') {
            code_end = at;
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
    fn pins_are_read_wherever_they_stand() {
        let found = read(
            "version = '1.0'\nVERSIONS = {\n  'apt' => '2.0',\n  ntp: '3.0',\n}\n\
             mod 'a', version\nmod 'b', VERSIONS['apt']\nmod 'c', VERSIONS[:ntp]\n\
             mod 'd', :git => 'x',\n  :tag =>\n    'v4'\nmod('e',\n  '5.0'\n)\nmod 'f', \\\n  '6.0'\n\
             mod 'g', git: 'x', # why\n  tag: \"v#{version}\"\nmod 'h', ENV['H']\nmod name, '1'\n",
        );
        let pins: Vec<Option<&str>> = found.modules.iter().map(|module| module.pin.as_deref()).collect();
        let wanted = ["1.0", "2.0", "3.0", "v4", "5.0", "6.0", "v1.0"].map(Some);
        assert_eq!(pins[..7], wanted);
        assert!(found.modules[7].is_computed && found.computes_names);
        assert_eq!(found.errors, []);
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
        for (text, count) in [
            ("eval(File.read('x'))\n", 1),
            ("forge 'x'\n\nmod 'a'\n", 0),
            ("if x\nmod 'a'\nend", 2),
            ("frob 'x'\n", 1),
            ("x = 'a'\nmod x, '1'\n", 1),
            ("x = 'a'\nmod 'b', x\n", 0),
            ("forge 'x'\u{200b}\n", 1),
            ("\0forge 'x'\n", 1),
        ] {
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
