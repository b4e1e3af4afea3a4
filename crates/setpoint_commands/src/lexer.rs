//! Words and operators, as a shell reads them.

use crate::NotUnderstood;

/// A word after its quotes are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// It is not what it looks like: the shell would put something else in its place.
    pub(crate) expands: Option<&'static str>,
    /// Some of it was quoted, so that it is no operator or reserved word.
    pub(crate) quoted: bool,
    /// The variables in it, by their place in the text.
    pub(crate) variables: Vec<Variable>,
    /// The commands whose output is a part of it.
    pub(crate) commands: Vec<String>,
}

/// `$name` or `${name}` in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) at: std::ops::Range<usize>,
    pub(crate) name: String,
    /// Within quotes its value is one word, whatever it is.
    pub(crate) quoted: bool,
}

impl Word {
    /// Puts the values of variables into the word. A variable that is not known leaves the word unknown.
    pub(crate) fn resolve(&self, value: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut resolved = Self { variables: Vec::new(), ..self.clone() };
        for variable in self.variables.iter().rev() {
            let splits = |text: &str| text.contains(|c: char| c.is_whitespace() || "*?[".contains(c));
            match value(&variable.name).filter(|text| variable.quoted || (!text.is_empty() && !splits(text)))
            {
                Some(text) => resolved.text.replace_range(variable.at.clone(), &text),
                None => resolved.expands = Some(VARIABLE),
            }
        }
        resolved
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(Word),
    /// `&&`, `||`, `;`, `|`, `&`, `(`, `)` or [`LINE_END`].
    Operator(&'static str),
    /// The number before it, if there is one, and `>`, `>>`, `<`, `>&`, `&>`.
    Redirect(Option<u32>, &'static str),
}

const VARIABLE: &str = "its value is not known before the command runs";
pub(crate) const PATTERN: &str = "what the pattern stands for depends on the machine";
const HOME: &str = "the home of a user is not known";

/// Commands are short; a longer text is no command.
const MAX_LENGTH: usize = 64 * 1024;

pub(crate) const LINE_END: &str = "\n";

pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, NotUnderstood> {
    if text.len() > MAX_LENGTH {
        return Err(NotUnderstood::new(start_of(text), "the command is too long"));
    }
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, tokens: Vec::new() };
    lexer.run()?;
    Ok(lexer.tokens)
}

fn start_of(text: &str) -> String {
    text.chars().take(20).collect()
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn run(&mut self) -> Result<(), NotUnderstood> {
        while let Some(next) = self.peek(0) {
            match next {
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' | '\r' => self.operator(LINE_END, 1),
                _ if next.is_whitespace() => self.at += 1,
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '&' if self.peek(1) == Some('&') => self.operator("&&", 2),
                '|' if self.peek(1) == Some('|') => self.operator("||", 2),
                '&' if self.peek(1) == Some('>') => self.redirect(None, "&>", 2),
                ';' => self.operator(";", 1),
                '|' => self.operator("|", 1),
                '&' => self.operator("&", 1),
                '(' => self.operator("(", 1),
                ')' => self.operator(")", 1),
                '<' | '>' => self.arrow(None)?,
                _ if next.is_ascii_digit() && matches!(self.peek(1), Some('<' | '>')) => {
                    self.at += 1;
                    self.arrow(next.to_digit(10))?;
                }
                _ => {
                    let word = self.word()?;
                    self.tokens.push(Token::Word(word));
                }
            }
        }
        Ok(())
    }

    fn operator(&mut self, operator: &'static str, length: usize) {
        self.at += length;
        self.tokens.push(Token::Operator(operator));
    }

    fn redirect(&mut self, from: Option<u32>, kind: &'static str, length: usize) {
        self.at += length;
        self.tokens.push(Token::Redirect(from, kind));
    }

    fn arrow(&mut self, from: Option<u32>) -> Result<(), NotUnderstood> {
        match (self.peek(0), self.peek(1)) {
            (Some('<'), Some('<')) => {
                return Err(NotUnderstood::new("<<", "text that follows the command is not read"));
            }
            (Some('<' | '>'), Some('(')) => {
                return Err(NotUnderstood::new("<(", "what another command prints is not known"));
            }
            (Some('>'), Some('>')) => self.redirect(from, ">>", 2),
            (Some('>'), Some('|')) => self.redirect(from, ">", 2),
            (Some('>'), Some('&')) => self.redirect(from, ">&", 2),
            (Some('>'), _) => self.redirect(from, ">", 1),
            _ => self.redirect(from, "<", 1),
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Word, NotUnderstood> {
        let mut word = Word::default();
        let open = |what: &Word| NotUnderstood::new(what.text.clone(), "a quote is not closed");
        while let Some(next) = self.peek(0) {
            match next {
                _ if next.is_whitespace() => break,
                ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    word.quoted = true;
                    self.at += 1;
                    loop {
                        let inner = self.peek(0).ok_or_else(|| open(&word))?;
                        self.at += 1;
                        if inner == '\'' {
                            break;
                        }
                        word.text.push(inner);
                    }
                }
                '"' => {
                    word.quoted = true;
                    self.at += 1;
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    word.quoted = true;
                    if self.peek(1) != Some('\n') {
                        word.text.extend(self.peek(1));
                    }
                    self.at += 2;
                }
                '$' | '`' => self.expansion(&mut word, false)?,
                '*' | '?' => {
                    word.expands.get_or_insert(PATTERN);
                    word.text.push(next);
                    self.at += 1;
                }
                '[' => {
                    // `[` alone is a program; with a `]` in the same word it is a pattern.
                    let closes = self.chars[self.at + 1..]
                        .iter()
                        .take_while(|c| !c.is_whitespace() && **c != ';')
                        .any(|c| *c == ']');
                    if closes {
                        word.expands.get_or_insert(PATTERN);
                    }
                    word.text.push(next);
                    self.at += 1;
                }
                '~' if word.text.is_empty() && !word.quoted => {
                    word.expands.get_or_insert(HOME);
                    word.text.push(next);
                    self.at += 1;
                }
                '{' if self.chars[self.at + 1..]
                    .iter()
                    .take_while(|c| !c.is_whitespace() && **c != '}')
                    .any(|c| *c == ',') =>
                {
                    word.expands.get_or_insert(PATTERN);
                    word.text.push(next);
                    self.at += 1;
                }
                _ => {
                    word.text.push(next);
                    self.at += 1;
                }
            }
        }
        Ok(word)
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), NotUnderstood> {
        loop {
            let next =
                self.peek(0).ok_or_else(|| NotUnderstood::new(word.text.clone(), "a quote is not closed"))?;
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    match self.peek(1) {
                        Some(escaped @ ('"' | '\\' | '$' | '`')) => word.text.push(escaped),
                        Some('\n') => {}
                        Some(other) => word.text.extend(['\\', other]),
                        None => {}
                    }
                    self.at += 2;
                }
                '$' | '`' => self.expansion(word, true)?,
                _ => {
                    word.text.push(next);
                    self.at += 1;
                }
            }
        }
    }

    /// `$name`, `${name}`, `$(command)`, a command in backticks: kept as written.
    fn expansion(&mut self, word: &mut Word, quoted: bool) -> Result<(), NotUnderstood> {
        let start = self.at;
        let unclosed = || NotUnderstood::new("$", "an expansion is not closed");
        match (self.peek(0), self.peek(1)) {
            (Some('`'), _) => {
                self.at += 1;
                while self.peek(0).ok_or_else(unclosed)? != '`' {
                    self.at += 1;
                }
                self.at += 1;
            }
            (_, Some(open @ ('(' | '{'))) => {
                let close = if open == '(' { ')' } else { '}' };
                let mut depth = 0u32;
                loop {
                    let next = self.peek(0).ok_or_else(unclosed)?;
                    self.at += 1;
                    if next == open {
                        depth += 1;
                    } else if next == close {
                        depth -= 1;
                        if depth == 0 {
                            break;
                        }
                    }
                }
            }
            (_, Some(next)) if next.is_ascii_alphanumeric() || "_@*#?$!-".contains(next) => {
                self.at += 2;
                if next.is_ascii_alphabetic() || next == '_' {
                    while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                        self.at += 1;
                    }
                }
            }
            // A dollar that stands for itself, as at the end of a pattern.
            _ => {
                word.text.push('$');
                self.at += 1;
                return Ok(());
            }
        }
        let written: String = self.chars[start..self.at].iter().collect();
        let begin = word.text.len();
        word.text.push_str(&written);
        let name = written.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && written.starts_with('$') && !written.starts_with("$(") {
            let at = begin..word.text.len();
            word.variables.push(Variable { at, name: name.to_owned(), quoted });
        } else {
            word.expands = Some(VARIABLE);
        }
        let inner = match written.strip_prefix("$(") {
            Some(inner) if !inner.starts_with('(') => inner.strip_suffix(')'),
            _ => written.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')),
        };
        word.commands.extend(inner.map(str::to_owned));
        Ok(())
    }
}
