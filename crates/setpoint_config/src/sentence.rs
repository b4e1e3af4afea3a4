//! The language of invariants: sentences about what a machine holds, as
//! `package('nginx').installed implies service('nginx').running`.
//!
//! A sentence says nothing about how a machine comes to hold it, and knows no resource: files, packages, services, users and
//! groups are named as the machine knows them.

use setpoint_source::nearest;

/// What must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sentence {
    Fact(Fact),
    Not(Box<Sentence>),
    All(Vec<Sentence>),
    Any(Vec<Sentence>),
}

/// What a machine may hold, by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// What is at a path.
    Path(String, PathKind),
    /// A file's content, mode, owner or group; where a link points to.
    File(FileProperty, String, String),
    /// Two files have the same content, mode, owner or group.
    Same(FileProperty, String, String),
    Installed(String),
    /// Nothing of a package is left, its configuration included.
    Purged(String),
    /// A package is installed in this version.
    Version(String, String),
    Running(String),
    /// A service starts at boot.
    Enabled(String),
    User(String),
    /// A property of a user: its name, and the value.
    UserProperty(String, &'static str, String),
    /// A user is a member of a group, beside its own.
    Member {
        user: String,
        group: String,
    },
    Group(String),
    Gid(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    Absent,
    File,
    Directory,
    Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProperty {
    Content,
    Mode,
    Owner,
    Group,
    Target,
}

/// What is wrong with a sentence, and at which bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceError {
    pub range: std::ops::Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl Sentence {
    /// Reads a sentence.
    pub fn parse(text: &str) -> Result<Self, SentenceError> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let sentence = parser.sentence()?;
        match parser.peek() {
            Token::End => Ok(sentence),
            other => Err(parser.wrong(format!("the sentence ends before {other}"), operators_help(other))),
        }
    }

    fn negate(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Every fact that it is made of.
    pub fn facts(&self) -> Vec<&Fact> {
        let (mut found, mut work) = (Vec::new(), vec![self]);
        while let Some(sentence) = work.pop() {
            match sentence {
                Self::Fact(fact) => found.push(fact),
                Self::Not(inner) => work.push(inner),
                Self::All(parts) | Self::Any(parts) => work.extend(parts.iter().rev()),
            }
        }
        found
    }
}

/// What a sentence can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    File,
    Package,
    Service,
    User,
    Group,
}

impl Thing {
    const ALL: [(&'static str, Self); 5] = [
        ("file", Self::File),
        ("package", Self::Package),
        ("service", Self::Service),
        ("user", Self::User),
        ("group", Self::Group),
    ];

    /// `file`, and `File` as references have it.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, thing)| *thing)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, thing)| *thing == self).map_or("", |(name, _)| name)
    }

    /// Those that hold or do not.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::File | Self::User | Self::Group => &["exists"],
            Self::Package => &["installed"],
            Self::Service => &["running", "enabled"],
        }
    }

    /// Those that have a value.
    fn properties(self) -> &'static [&'static str] {
        match self {
            Self::File => &["ensure", "content", "mode", "owner", "group", "target"],
            Self::Package => &["ensure", "version"],
            Self::Service => &["ensure"],
            Self::User => &["ensure", "uid", "gid", "home", "shell", "comment", "groups"],
            Self::Group => &["ensure", "gid"],
        }
    }

    fn flag(self, name: &str, property: &str) -> Sentence {
        let name = name.to_owned();
        let fact = match (self, property) {
            (Self::File, _) => return Sentence::Fact(Fact::Path(name, PathKind::Absent)).negate(),
            (Self::Package, _) => Fact::Installed(name),
            (Self::Service, "enabled") => Fact::Enabled(name),
            (Self::Service, _) => Fact::Running(name),
            (Self::User, _) => Fact::User(name),
            (Self::Group, _) => Fact::Group(name),
        };
        Sentence::Fact(fact)
    }

    /// A property of a thing has this value; the reason if it cannot have it.
    pub(crate) fn equals(self, name: &str, property: &str, value: &str) -> Result<Sentence, String> {
        if property == "ensure" {
            return self.ensures(name, value);
        }
        let (name, text) = (name.to_owned(), value.to_owned());
        let fact = match (self, property) {
            (Self::File, _) => match file_property(property) {
                Some(property) => Fact::File(property, name, text),
                None => return Err(format!("a file has no `{property}`")),
            },
            (Self::Package, _) => Fact::Version(name, text),
            (Self::User, "groups") => {
                return Err("a user has many groups: say `'wheel' in user('app').groups`".to_owned());
            }
            (Self::User, _) => {
                let known = self.properties().iter().find(|known| **known == property);
                Fact::UserProperty(name, known.copied().unwrap_or("uid"), text)
            }
            (Self::Group, _) => Fact::Gid(name, text),
            (Self::Service, _) => return Err(format!("a service has no `{property}`")),
        };
        Ok(Sentence::Fact(fact))
    }

    /// The `ensure` of Puppet.
    fn ensures(self, name: &str, value: &str) -> Result<Sentence, String> {
        let own = || name.to_owned();
        let path = |kind| Sentence::Fact(Fact::Path(own(), kind));
        let one_of = |words: &str| Err(format!("`ensure` of a {} is {words}", self.name()));
        Ok(match (self, value) {
            (Self::File, "file") => path(PathKind::File),
            (Self::File, "directory") => path(PathKind::Directory),
            (Self::File, "link") => path(PathKind::Link),
            (Self::File, "absent") => path(PathKind::Absent),
            (Self::File, "present") => path(PathKind::Absent).negate(),
            (Self::File, _) => {
                return one_of("`file`, `directory`, `link`, `present` or `absent`");
            }
            (Self::Package, "present" | "installed") => self.flag(name, "installed"),
            (Self::Package, "absent") => self.flag(name, "installed").negate(),
            (Self::Package, "purged") => Sentence::Fact(Fact::Purged(own())),
            (Self::Package, version) => Sentence::Fact(Fact::Version(own(), version.to_owned())),
            (Self::Service, "running" | "true") => self.flag(name, "running"),
            (Self::Service, "stopped" | "false") => self.flag(name, "running").negate(),
            (Self::Service, _) => return one_of("`running` or `stopped`"),
            (Self::User | Self::Group, "present") => self.flag(name, "exists"),
            (Self::User | Self::Group, "absent") => self.flag(name, "exists").negate(),
            (Self::User | Self::Group, _) => return one_of("`present` or `absent`"),
        })
    }

    /// A service starts at boot, or not.
    pub(crate) fn enabled(name: &str, wanted: bool) -> Sentence {
        let enabled = Self::Service.flag(name, "enabled");
        if wanted { enabled } else { enabled.negate() }
    }
}

fn file_property(name: &str) -> Option<FileProperty> {
    Some(match name {
        "content" => FileProperty::Content,
        "mode" => FileProperty::Mode,
        "owner" => FileProperty::Owner,
        "group" => FileProperty::Group,
        "target" => FileProperty::Target,
        _ => return None,
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Number(String),
    Symbol(&'static str),
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => write!(out, "`{word}`"),
            Self::Text(text) => write!(out, "`'{text}'`"),
            Self::Number(number) => write!(out, "`{number}`"),
            Self::Symbol(symbol) => write!(out, "`{symbol}`"),
            Self::End => write!(out, "the end"),
        }
    }
}

type Placed = (Token, std::ops::Range<usize>);

const SYMBOLS: [&str; 14] = ["==", "!=", "&&", "||", "=>", "->", "(", ")", "[", "]", ".", ",", "!", "="];

fn tokens(text: &str) -> Result<Vec<Placed>, SentenceError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or("");
        let start = at;
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        let token = if letter == '\'' || letter == '"' {
            let (value, length) = quoted(rest, letter).ok_or_else(|| SentenceError {
                range: start..text.len(),
                message: format!("this text has no closing {letter}"),
                help: None,
            })?;
            at += length;
            Token::Text(value)
        } else if letter.is_alphabetic() || letter == '_' {
            let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
            let word: String = rest.chars().take_while(is_part).collect();
            at += word.len();
            Token::Word(word)
        } else if letter.is_ascii_digit() {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            at += number.len();
            Token::Number(number)
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            at += symbol.len();
            Token::Symbol(symbol)
        } else {
            let help = (letter == '/').then(|| "Names stand in quotes: `file('/etc/motd')`.".to_owned());
            return Err(SentenceError {
                range: start..start + letter.len_utf8(),
                message: format!("`{letter}` has no meaning here"),
                help,
            });
        };
        found.push((token, start..at));
    }
    found.push((Token::End, text.len()..text.len()));
    Ok(found)
}

/// A quoted text at the beginning, and how long it is with its quotes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            letter if letter == quote => return Some((value, at + 1)),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other if other == quote || other == '\\' => value.push(other),
                other => value.extend(['\\', other]),
            },
            letter => value.push(letter),
        }
    }
    None
}

/// How deep a sentence may be nested.
const DEEPEST: usize = 64;

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
}

/// A property of a thing, as `file('/etc/motd').content`.
struct Term {
    thing: Thing,
    name: String,
    property: String,
}

impl Term {
    fn is_flag(&self) -> bool {
        self.thing.flags().contains(&self.property.as_str())
    }

    fn text(&self) -> String {
        format!("{}(…).{}", self.thing.name(), self.property)
    }
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.tokens.get(self.at).map_or(0..0, |(_, range)| range.clone())
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn wrong(&self, message: impl Into<String>, help: Option<String>) -> SentenceError {
        SentenceError { range: self.range(), message: message.into(), help }
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let found = match self.peek() {
            Token::Word(word) => word == wanted,
            Token::Symbol(symbol) => *symbol == wanted,
            _ => false,
        };
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), SentenceError> {
        if self.takes(wanted) {
            return Ok(());
        }
        let message = format!("`{wanted}` is missing before {}", self.peek());
        Err(self.wrong(message, operators_help(self.peek())))
    }

    /// `a implies b`; what follows from a consequence is part of it.
    fn sentence(&mut self) -> Result<Sentence, SentenceError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("the sentence is nested too deeply", None));
        }
        let left = self.either()?;
        let sentence = if self.takes("implies") {
            let right = self.sentence()?;
            Sentence::Any(vec![left.negate(), right])
        } else {
            left
        };
        self.depth -= 1;
        Ok(sentence)
    }

    fn either(&mut self) -> Result<Sentence, SentenceError> {
        let mut parts = vec![self.both()?];
        while self.takes("or") {
            parts.push(self.both()?);
        }
        Ok(one_or(parts, Sentence::Any))
    }

    fn both(&mut self) -> Result<Sentence, SentenceError> {
        let mut parts = vec![self.part()?];
        while self.takes("and") {
            parts.push(self.part()?);
        }
        Ok(one_or(parts, Sentence::All))
    }

    fn part(&mut self) -> Result<Sentence, SentenceError> {
        let mut negative = false;
        while self.takes("not") {
            negative = !negative;
        }
        let sentence = if self.takes("(") {
            let inner = self.sentence()?;
            self.expect(")")?;
            inner
        } else {
            self.claim()?
        };
        Ok(if negative { sentence.negate() } else { sentence })
    }

    /// One fact, or a comparison.
    fn claim(&mut self) -> Result<Sentence, SentenceError> {
        if let Token::Text(_) = self.peek() {
            return self.membership();
        }
        if self.takes("exists") {
            self.expect("(")?;
            let path = self.text("a path")?;
            self.expect(")")?;
            return Ok(Thing::File.flag(&path, "exists"));
        }
        let from = self.at;
        let term = self.term()?;
        let negative = match self.peek() {
            Token::Symbol("==") => false,
            Token::Symbol("!=") => true,
            Token::Word(word) if word == "in" => {
                self.at += 1;
                return self.one_of(&term);
            }
            other if !term.is_flag() => {
                let example = format!("Compare it: `{} == '…'`.", term.text());
                let message = format!("`{}` is compared with nothing before {other}", term.text());
                let mut error = self.wrong(message, operators_help(other).or(Some(example)));
                if let Some((_, first)) = self.tokens.get(from) {
                    error.range =
                        first.start..self.tokens.get(self.at - 1).map_or(first.end, |one| one.1.end);
                }
                return Err(error);
            }
            _ => return Ok(term.thing.flag(&term.name, &term.property)),
        };
        self.at += 1;
        let sentence = self.compared(&term)?;
        Ok(if negative { sentence.negate() } else { sentence })
    }

    /// `'wheel' in user('app').groups`
    fn membership(&mut self) -> Result<Sentence, SentenceError> {
        let group = self.text("a group")?;
        if !self.takes("in") {
            let help = "A value stands after the comparison: `file('/etc/motd').owner == 'root'`.";
            return Err(self.wrong("a sentence does not begin with a value", Some(help.to_owned())));
        }
        let from = self.range();
        let term = self.term()?;
        if term.thing != Thing::User || term.property != "groups" {
            let help = "Only `user('…').groups` has members.".to_owned();
            let message = format!("`{}` has no members", term.text());
            return Err(SentenceError { range: from, message, help: Some(help) });
        }
        Ok(Sentence::Fact(Fact::Member { user: term.name, group }))
    }

    /// `file('/etc/motd').owner in ['root', 'app']`
    fn one_of(&mut self, term: &Term) -> Result<Sentence, SentenceError> {
        self.expect("[")?;
        let mut parts = vec![self.equal(term)?];
        while self.takes(",") {
            parts.push(self.equal(term)?);
        }
        self.expect("]")?;
        Ok(one_or(parts, Sentence::Any))
    }

    /// What stands on the right of a comparison.
    fn compared(&mut self, term: &Term) -> Result<Sentence, SentenceError> {
        let is_term =
            matches!(self.peek(), Token::Word(word) if Thing::named(word).is_some() && word != "true");
        if !is_term {
            return self.equal(term);
        }
        let from = self.range();
        let other = self.term()?;
        let alike =
            term.thing == Thing::File && other.thing == Thing::File && term.property == other.property;
        match file_property(&term.property).filter(|_| alike) {
            Some(property) if property != FileProperty::Target => {
                Ok(Sentence::Fact(Fact::Same(property, term.name.clone(), other.name)))
            }
            _ => Err(SentenceError {
                range: from,
                message: format!("`{}` and `{}` cannot be compared", term.text(), other.text()),
                help: Some("Two files can be compared by content, mode, owner or group.".to_owned()),
            }),
        }
    }

    /// A property has the value that stands here.
    fn equal(&mut self, term: &Term) -> Result<Sentence, SentenceError> {
        let range = self.range();
        let flag = match self.peek() {
            Token::Word(word) if word == "true" => Some(true),
            Token::Word(word) if word == "false" => Some(false),
            _ => None,
        };
        if term.is_flag() {
            let Some(flag) = flag else {
                let message = format!("`{}` is true or false", term.text());
                return Err(self.wrong(message, None));
            };
            self.at += 1;
            let fact = term.thing.flag(&term.name, &term.property);
            return Ok(if flag { fact } else { fact.negate() });
        }
        let value = self.text("a value")?;
        term.thing.equals(&term.name, &term.property, &value).map_err(|message| SentenceError {
            range,
            message,
            help: None,
        })
    }

    /// `file('/etc/motd').content`, or `File['/etc/motd'].content`
    fn term(&mut self) -> Result<Term, SentenceError> {
        let range = self.range();
        let Token::Word(word) = self.peek().clone() else {
            let message =
                format!("a file, package, service, user or group is missing before {}", self.peek());
            return Err(self.wrong(message, operators_help(self.peek())));
        };
        let Some(thing) = Thing::named(&word) else {
            let known = Thing::ALL.iter().map(|(name, _)| *name).chain(["exists", "not"]);
            let help = match nearest(&word.to_lowercase(), known) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => "There are `file`, `package`, `service`, `user` and `group`.".to_owned(),
            };
            return Err(SentenceError { range, message: format!("there is no `{word}`"), help: Some(help) });
        };
        self.at += 1;
        let reference = self.takes("[");
        if !reference {
            self.expect("(")?;
        }
        let name = self.text("a name")?;
        self.expect(if reference { "]" } else { ")" })?;
        let known = thing.flags().iter().chain(thing.properties());
        if !self.takes(".") {
            let known: Vec<String> = known.map(|name| format!("`.{name}`")).collect();
            let message = format!("what of the {} is meant?", thing.name());
            return Err(self.wrong(message, Some(format!("It has {}.", known.join(", ")))));
        }
        let range = self.range();
        let Token::Word(property) = self.next() else {
            return Err(SentenceError { range, message: "a name is missing here".to_owned(), help: None });
        };
        if !known.clone().any(|known| *known == property) {
            let all: Vec<&str> = known.clone().copied().collect();
            let help = match nearest(&property, known.copied()) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("It has {}.", all.join(", ")),
            };
            let message = format!("a {} has no `{property}`", thing.name());
            return Err(SentenceError { range, message, help: Some(help) });
        }
        Ok(Term { thing, name, property })
    }

    fn text(&mut self, what: &str) -> Result<String, SentenceError> {
        match self.peek().clone() {
            Token::Text(text) | Token::Number(text) => {
                self.at += 1;
                Ok(text)
            }
            other => {
                let help = matches!(other, Token::Word(_)).then(|| {
                    format!("Write it in quotes: '{}'.", {
                        if let Token::Word(word) = &other { word.as_str() } else { "" }
                    })
                });
                Err(self.wrong(format!("{what} is missing before {other}"), help))
            }
        }
    }
}

fn one_or(mut parts: Vec<Sentence>, many: fn(Vec<Sentence>) -> Sentence) -> Sentence {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

/// What other languages write.
fn operators_help(token: &Token) -> Option<String> {
    let Token::Symbol(symbol) = token else { return None };
    let word = match *symbol {
        "&&" => "and",
        "||" => "or",
        "!" => "not",
        "=>" | "->" => "implies",
        "=" => "==",
        _ => return None,
    };
    Some(format!("Write `{word}`."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(fact: Fact) -> Sentence {
        Sentence::Fact(fact)
    }

    /// `bytes: message | help`
    fn wrong(text: &str) -> String {
        let error = Sentence::parse(text).unwrap_err();
        let help = error.help.map(|help| format!(" | {help}")).unwrap_or_default();
        format!("{}: {}{help}", text.get(error.range).unwrap(), error.message)
    }

    #[test]
    fn facts_are_read() {
        let parse = |text: &str| Sentence::parse(text).unwrap();
        let content = |path: &str, text: &str| {
            fact(Fact::File(FileProperty::Content, path.to_owned(), text.to_owned()))
        };
        assert_eq!(parse("file('/etc/motd').content == 'x'"), content("/etc/motd", "x"));
        assert_eq!(parse("File[\"/etc/motd\"].content == \"it's\\n\""), content("/etc/motd", "it's\n"));
        assert_eq!(
            parse("not exists('/etc/foo')"),
            fact(Fact::Path("/etc/foo".into(), PathKind::Absent)).negate().negate()
        );
        assert_eq!(
            parse("file('/etc/foo').ensure == 'directory'"),
            fact(Fact::Path("/etc/foo".into(), PathKind::Directory))
        );
        assert_eq!(
            parse("file('/a').mode == 0644"),
            fact(Fact::File(FileProperty::Mode, "/a".into(), "0644".into()))
        );
        assert_eq!(
            parse("file('/a').owner == file('/b').owner"),
            fact(Fact::Same(FileProperty::Owner, "/a".into(), "/b".into()))
        );
        assert_eq!(parse("service('x').enabled == false"), fact(Fact::Enabled("x".into())).negate());
        assert_eq!(
            parse("user('app').uid == 1000"),
            fact(Fact::UserProperty("app".into(), "uid", "1000".into()))
        );
        assert_eq!(
            parse("'wheel' in user('app').groups"),
            fact(Fact::Member { user: "app".into(), group: "wheel".into() })
        );
        assert_eq!(parse("group('app').gid == 7"), fact(Fact::Gid("app".into(), "7".into())));
        assert_eq!(
            parse("package('x').ensure in ['purged', '1.2']"),
            Sentence::Any(vec![
                fact(Fact::Purged("x".into())),
                fact(Fact::Version("x".into(), "1.2".into()))
            ])
        );
    }

    #[test]
    fn words_bind_as_in_speech() {
        let (a, b, c) = (
            fact(Fact::Installed("a".into())),
            fact(Fact::Running("b".into())),
            fact(Fact::User("c".into())),
        );
        let text = "package('a').installed and not service('b').running or user('c').exists";
        assert_eq!(
            Sentence::parse(text).unwrap(),
            Sentence::Any(vec![Sentence::All(vec![a.clone(), b.clone().negate()]), c.clone()])
        );
        let text = "package('a').installed implies (service('b').running implies user('c').exists)";
        let implied = Sentence::Any(vec![b.negate(), c]);
        assert_eq!(Sentence::parse(text).unwrap(), Sentence::Any(vec![a.negate(), implied.clone()]));
        assert_eq!(
            Sentence::parse("package('a').installed implies service('b').running implies user('c').exists"),
            Sentence::parse(text)
        );
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        assert_eq!(
            wrong("file('/a').contents == 'x'"),
            "contents: a file has no `contents` | Did you mean `content`?"
        );
        assert_eq!(wrong("fil('/a').content == 'x'"), "fil: there is no `fil` | Did you mean `file`?");
        assert_eq!(
            wrong("cron('/a').content == 'x'"),
            "cron: there is no `cron` | There are `file`, `package`, `service`, `user` and `group`."
        );
        assert_eq!(
            wrong("file(/etc/motd).mode"),
            "/: `/` has no meaning here | Names stand in quotes: `file('/etc/motd')`."
        );
        assert_eq!(
            wrong("file('/a').mode"),
            "file('/a').mode: `file(…).mode` is compared with nothing before the end | Compare it: `file(…).mode == '…'`."
        );
        assert_eq!(wrong("exists('/a') && exists('/b')"), "&&: the sentence ends before `&&` | Write `and`.");
        assert_eq!(wrong("! exists('/a')").split(" | ").last(), Some("Write `not`."));
        assert_eq!(wrong("file('/a').mode = '0644'").split(" | ").last(), Some("Write `==`."));
        assert_eq!(
            wrong("service('a').ensure == 'up'"),
            "'up': `ensure` of a service is `running` or `stopped`"
        );
        assert_eq!(wrong("service('a').running == 'yes'"), "'yes': `service(…).running` is true or false");
        assert_eq!(
            wrong("file('/a')"),
            ": what of the file is meant? | It has `.exists`, `.ensure`, `.content`, `.mode`, `.owner`, `.group`, `.target`."
        );
        assert_eq!(wrong("file('/a).mode"), "'/a).mode: this text has no closing '");
        assert_eq!(
            wrong("file(motd).exists"),
            "motd: a name is missing before `motd` | Write it in quotes: 'motd'."
        );
        assert_eq!(
            wrong("'x' == file('/a').content").split(" | ").next(),
            Some("==: a sentence does not begin with a value")
        );
        assert_eq!(wrong("(exists('/a')"), ": `)` is missing before the end");
        assert_eq!(
            wrong("exists('/a') and"),
            ": a file, package, service, user or group is missing before the end"
        );
        assert_eq!(
            wrong(&format!("{}exists('/a')", "(".repeat(1000))),
            "(: the sentence is nested too deeply"
        );
        assert_eq!(
            wrong("file('/a').content == user('b').home").split(" | ").next(),
            Some("user: `file(…).content` and `user(…).home` cannot be compared")
        );
        assert_eq!(wrong(""), ": a file, package, service, user or group is missing before the end");
        // Any text is read to an end.
        for text in
            ["é", "'", "not not", "file(", "file('x').", "[", "in", "exists", "file('x').owner in [", "😀'"]
        {
            assert!(Sentence::parse(text).is_err(), "{text}");
        }
    }
}
