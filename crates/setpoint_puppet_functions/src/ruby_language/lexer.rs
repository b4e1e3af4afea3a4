//! Ruby code as tokens.

mod literals;

use setpoint_source::Limit;

use super::Beyond;
use super::things::MAX_INTEGER;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Text between the tags of a template, to be written out.
    Template(String),
    /// `<%=` and its end.
    Output,
    OutputEnd,
    Newline,
    Integer(i128),
    Float(f64),
    Text(Vec<Piece>),
    Regex(Vec<Piece>, String),
    Symbol(String),
    SymbolText(Vec<Piece>),
    /// A local variable or a method; may end in `?` or `!`.
    Name(String),
    /// `name:` as a key.
    Label(String),
    /// `"text":` as a key.
    LabelText(Vec<Piece>),
    Constant(String),
    Instance(String),
    Shared(String),
    Global(String),
    Word(&'static str),
    Sign(&'static str),
    /// Code that runs a program.
    Command,
    End,
}

/// A part of a text with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Literal(String),
    Code(Vec<Lexed>),
}

/// A token, whether space stands before it, and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lexed {
    pub(super) token: Token,
    pub(super) spaced: bool,
    pub(super) line: u32,
}

const WORDS: &[&str] = &[
    "if",
    "unless",
    "elsif",
    "else",
    "end",
    "case",
    "when",
    "while",
    "until",
    "for",
    "in",
    "do",
    "then",
    "and",
    "or",
    "not",
    "nil",
    "true",
    "false",
    "self",
    "begin",
    "rescue",
    "ensure",
    "def",
    "next",
    "break",
    "return",
    "yield",
    "defined?",
    "class",
    "module",
    "super",
    "redo",
    "retry",
    "alias",
    "undef",
    "__method__",
    "__FILE__",
    "__dir__",
    "__LINE__",
    "BEGIN",
    "END",
];

const SIGNS: &[&str] = &[
    "**=", "<=>", "===", "...", "<<=", ">>=", "&&=", "||=", "**", "==", "!=", ">=", "<=", "&&", "||", "=~",
    "!~", "=>", "->", "..", "::", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "&.", "+", "-",
    "*", "/", "%", "=", "<", ">", "!", "&", "|", "^", "~", "?", ":", ",", ".", "(", ")", "[", "]", "{", "}",
];

/// Deeper interpolations are refused.
const DEEPEST: Limit = Limit::new(40);

/// The tokens of code whose first line has this number.
pub(super) fn lex(code: &str, line: u32) -> Result<Vec<Lexed>, Beyond> {
    let mut lexer =
        Lexer { text: code, at: 0, line, tokens: Vec::new(), spaced: true, heredocs: Vec::new(), depth: 0 };
    lexer.run(false)?;
    Ok(lexer.tokens)
}

/// The tokens as far as they decide what the code does: lines have no numbers, several ends of lines are one, and what a
/// function of the older interface says of itself is left out. Nothing if the code runs a program, which no token tells.
pub(super) fn essence(tokens: Vec<Lexed>) -> Option<Vec<Lexed>> {
    let mut kept: Vec<Lexed> = Vec::with_capacity(tokens.len());
    for mut lexed in tokens {
        let is_end = lexed.token == Token::Newline;
        if is_end && kept.last().is_none_or(|last| last.token == Token::Newline) {
            continue;
        }
        lexed.line = 0;
        match &mut lexed.token {
            Token::Command => return None,
            Token::Text(pieces) if is_documentation(&kept) => pieces.clear(),
            Token::Text(pieces)
            | Token::Regex(pieces, _)
            | Token::SymbolText(pieces)
            | Token::LabelText(pieces) => {
                for piece in pieces {
                    if let Piece::Code(code) = piece {
                        *code = essence(std::mem::take(code))?;
                    }
                }
            }
            _ => {}
        }
        kept.push(lexed);
    }
    Some(kept)
}

/// Whether the next token is the text of `:doc => "…"` or `doc: "…"`.
fn is_documentation(before: &[Lexed]) -> bool {
    let doc = Token::Symbol("doc".to_owned());
    match before {
        [.., label] if label.token == Token::Label("doc".to_owned()) => true,
        [.., key, arrow] => key.token == doc && arrow.token == Token::Sign("=>"),
        _ => false,
    }
}

pub(super) struct Lexer<'c> {
    text: &'c str,
    at: usize,
    line: u32,
    tokens: Vec<Lexed>,
    spaced: bool,
    /// Heredocs whose text begins in the next line, and the tokens that stand for them.
    heredocs: Vec<Heredoc>,
    depth: usize,
}

struct Heredoc {
    token: usize,
    end: String,
    raw: bool,
    /// `<<~`: the common indentation is left out.
    squiggly: bool,
    /// `<<-` and `<<~`: the end may be indented.
    indented: bool,
}

impl<'c> Lexer<'c> {
    fn rest(&self) -> &'c str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        self.rest().get(offset..)?.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        let passed = self.text.get(self.at..end).unwrap_or_default();
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.at = end;
    }

    fn push(&mut self, token: Token) {
        let (spaced, line) = (self.spaced, self.line);
        self.tokens.push(Lexed { token, spaced, line });
    }

    fn beyond<T>(&self, reason: impl Into<String>) -> Result<T, Beyond> {
        Err(Beyond::at(reason, self.line))
    }

    fn last(&self) -> Option<&Token> {
        self.tokens.last().map(|last| &last.token)
    }

    /// Reads up to the end, or up to the `}` that ends an interpolation.
    fn run(&mut self, inner: bool) -> Result<(), Beyond> {
        let mut braces = 0_usize;
        while let Some(letter) = self.peek() {
            if self.tokens.len() > 2_000_000 {
                return self.beyond("the code is too long");
            }
            match letter {
                ' ' | '\t' | '\r' => {
                    self.skip(1);
                    self.spaced = true;
                    continue;
                }
                '\\' if self.rest().starts_with("\\\n") => {
                    self.skip(2);
                    self.spaced = true;
                    continue;
                }
                '\n' => {
                    self.push(Token::Newline);
                    self.skip(1);
                    self.read_heredocs()?;
                    self.spaced = true;
                    if self.rest().starts_with("=begin") {
                        let end = self.rest().find("\n=end").map_or(self.rest().len(), |at| at + 5);
                        self.skip(end);
                        let line_end = self.rest().find('\n').unwrap_or(self.rest().len());
                        self.skip(line_end);
                    } else if self.rest() == "__END__" || self.rest().starts_with("__END__\n") {
                        self.at = self.text.len();
                    }
                    continue;
                }
                ';' => {
                    self.push(Token::Newline);
                    self.skip(1);
                    self.spaced = true;
                    continue;
                }
                '#' => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.skip(end);
                    continue;
                }
                '}' if inner && braces == 0 => return Ok(()),
                '{' => {
                    braces += 1;
                    self.sign()?;
                }
                '}' => {
                    braces = braces.saturating_sub(1);
                    self.sign()?;
                }
                _ => self.token(letter)?,
            }
            self.spaced = false;
        }
        if inner { self.beyond("an interpolation is not closed") } else { Ok(()) }
    }

    fn token(&mut self, letter: char) -> Result<(), Beyond> {
        match letter {
            '0'..='9' => self.number()?,
            '"' => {
                self.skip(1);
                let pieces = self.interpolated('"', None, literals::Escapes::Text)?;
                self.push_text(pieces);
            }
            '\'' => {
                self.skip(1);
                let text = self.literal('\'', None)?;
                self.push_text(vec![Piece::Literal(text)]);
            }
            '@' => {
                let shared = self.rest().starts_with("@@");
                self.skip(if shared { 2 } else { 1 });
                let name = self.word();
                self.push(if shared { Token::Shared(name) } else { Token::Instance(name) });
            }
            '$' => {
                self.skip(1);
                let name = match self.peek() {
                    Some(sign) if "~!&`'+.;,/\\_:\"<>?$*@0".contains(sign) && sign != '_' => {
                        self.skip(1);
                        sign.to_string()
                    }
                    _ => self.word(),
                };
                self.push(Token::Global(name));
            }
            ':' if self.symbol_follows() => self.symbol()?,
            '%' if self.value_may_follow() && self.percent()? => {}
            '/' if self.value_may_follow() => {
                self.skip(1);
                let pieces = self.interpolated('/', None, literals::Escapes::Regex('/'))?;
                let flags = self.word();
                self.push(Token::Regex(pieces, flags));
            }
            '`' => {
                if matches!(self.last(), Some(Token::Sign("." | "&.") | Token::Word("def"))) {
                    return self.beyond("it defines or calls a command");
                }
                self.skip(1);
                let _ = self.interpolated('`', None, literals::Escapes::Text)?;
                self.push(Token::Command);
            }
            '?' if self.character_follows() => {
                self.skip(1);
                let Some(letter) = self.peek() else { return self.beyond("a letter is missing") };
                self.skip(letter.len_utf8());
                self.push(Token::Text(vec![Piece::Literal(letter.to_string())]));
            }
            '<' if self.heredoc_follows() => self.heredoc()?,
            _ if letter.is_alphabetic() || letter == '_' => self.name(),
            _ => self.sign()?,
        }
        Ok(())
    }

    fn push_text(&mut self, pieces: Vec<Piece>) {
        // `"a": 1`
        let is_key = self.peek() == Some(':')
            && self.peek_at(1) != Some(':')
            && matches!(
                self.last(),
                Some(Token::Sign("{" | "," | "(" | "|") | Token::Newline | Token::Name(_))
            )
            && !self.in_ternary();
        if is_key {
            self.skip(1);
            self.push(Token::LabelText(pieces));
        } else {
            self.push(Token::Text(pieces));
        }
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end =
            rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
    }

    /// Whether a `/`, `%` or `<<` here starts a literal and is no operator.
    fn value_may_follow(&self) -> bool {
        match self.last() {
            None => true,
            Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "}"),
            Some(Token::Word(word)) => !matches!(
                *word,
                "nil" | "true" | "false" | "self" | "end" | "__method__" | "__FILE__" | "super"
            ),
            Some(Token::Newline | Token::Output | Token::Label(_) | Token::LabelText(_)) => true,
            // `puts /x/`: space before and none after.
            Some(Token::Name(_)) => self.spaced && !self.rest()[1..].starts_with([' ', '=', '\n']),
            Some(_) => false,
        }
    }

    /// `?a` as a text of one letter.
    fn character_follows(&self) -> bool {
        let mut letters = self.rest()[1..].chars();
        let (Some(first), second) = (letters.next(), letters.next()) else { return false };
        (first.is_alphanumeric() || "-+*/.,;:_=".contains(first))
            && second.is_none_or(|second| !second.is_alphanumeric() && second != '_')
            && !matches!(
                self.last(),
                Some(
                    Token::Sign(")" | "]" | "}")
                        | Token::Name(_)
                        | Token::Constant(_)
                        | Token::Integer(_)
                        | Token::Text(_)
                        | Token::Instance(_)
                        | Token::Word("true" | "false" | "nil" | "self" | "end")
                )
            )
    }

    fn heredoc_follows(&self) -> bool {
        let Some(after) = self.rest().strip_prefix("<<") else { return false };
        let tilde = after.starts_with(['~', '-']);
        let name = after.trim_start_matches(['~', '-']);
        let named = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            || name.starts_with(['\'', '"']) && tilde
            || name.starts_with(['\'', '"']) && self.value_may_follow();
        named
            && match self.last() {
                // `x <<FOO` of a name with space is a heredoc; `list << item` has space after.
                Some(Token::Name(_) | Token::Constant(_)) => {
                    self.spaced && (tilde || name.starts_with(|first: char| first.is_uppercase()))
                }
                Some(Token::Word("class")) => false,
                _ => self.value_may_follow(),
            }
    }

    fn number(&mut self) -> Result<(), Beyond> {
        let bytes = self.rest().as_bytes();
        let count = |from: usize| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        };
        let mut end = count(0);
        let is_radix = bytes.len() > 1 && bytes[0] == b'0' && bytes[1].is_ascii_alphabetic();
        let mut is_float = !is_radix && self.rest()[..end].contains(['e', 'E']);
        if !is_radix && bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            is_float = true;
            end += 1 + count(end + 1);
        }
        if is_float
            && matches!(bytes.get(end), Some(b'-' | b'+'))
            && matches!(bytes.get(end - 1), Some(b'e' | b'E'))
        {
            end += 1 + count(end + 1);
        }
        let text = self.rest()[..end].replace('_', "");
        let token = if is_float {
            match text.parse() {
                Ok(number) => Token::Float(number),
                Err(_) => return self.beyond("a number is not understood"),
            }
        } else {
            match crate::ruby::numbers::parse_integer(&text) {
                Some(number) if number.unsigned_abs() <= MAX_INTEGER.unsigned_abs() => Token::Integer(number),
                Some(_) => return self.beyond("a number is too large"),
                None => return self.beyond("a number is not understood"),
            }
        };
        self.at += end;
        self.push(token);
        Ok(())
    }

    fn name(&mut self) {
        let name = self.word();
        let after_dot = matches!(self.last(), Some(Token::Sign("." | "&.")));
        let is_label = |lexer: &Self| lexer.rest().starts_with(':') && !lexer.rest().starts_with("::");
        if !after_dot && is_label(self) && !self.in_ternary() {
            self.skip(1);
            self.push(Token::Label(name));
            return;
        }
        let suffix = self.peek().filter(|letter| matches!(letter, '?' | '!'));
        let after = self.rest().get(1..).unwrap_or_default();
        let name = match suffix {
            // `a != b` and `x ? y : z` are no names with a suffix.
            Some(suffix)
                if !after.starts_with('=')
                    || after.starts_with("==")
                    || after.starts_with("=~")
                    || after.starts_with("=>") =>
            {
                self.skip(1);
                format!("{name}{suffix}")
            }
            _ => name,
        };
        if !after_dot && name.ends_with(['?', '!']) && is_label(self) && !self.in_ternary() {
            self.skip(1);
            self.push(Token::Label(name));
            return;
        }
        let after_def = matches!(self.last(), Some(Token::Word("def")));
        let token = match WORDS.iter().find(|word| **word == name) {
            Some(word) if !after_dot && (!after_def || *word == "self") => Token::Word(word),
            _ if name.starts_with(|first: char| first.is_uppercase()) => Token::Constant(name),
            _ => Token::Name(name),
        };
        self.push(token);
    }

    /// `a ? b : c` is open here: a name before `:` is no label.
    fn in_ternary(&self) -> bool {
        let mut closed = 0_i32;
        for token in self.tokens.iter().rev() {
            match token.token {
                Token::Sign(")" | "]" | "}") => closed += 1,
                Token::Sign("(" | "[" | "{") => {
                    closed -= 1;
                    if closed < 0 {
                        return false;
                    }
                }
                Token::Sign("?") if closed == 0 => return true,
                Token::Sign(":") if closed == 0 => return false,
                Token::Newline if closed == 0 => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    fn symbol_follows(&self) -> bool {
        let rest = &self.rest()[1..];
        if rest.starts_with(':') {
            return false;
        }
        let after_name = matches!(self.last(), Some(Token::Name(_) | Token::Constant(_)));
        if if after_name { !self.spaced || self.in_ternary() } else { !self.value_may_follow() } {
            return false;
        }
        let next = rest.chars().next();
        next.is_some_and(|next| next.is_alphabetic() || matches!(next, '_' | '@' | '"' | '\''))
            || ["[]", "+", "-", "*", "/", "<", ">", "==", "=~", "!", "|", "&", "%", "^"]
                .iter()
                .any(|sign| rest.starts_with(sign))
    }

    fn symbol(&mut self) -> Result<(), Beyond> {
        self.skip(1);
        if self.peek() == Some('"') {
            self.skip(1);
            let pieces = self.interpolated('"', None, literals::Escapes::Text)?;
            match pieces.as_slice() {
                [Piece::Literal(text)] => self.push(Token::Symbol(text.clone())),
                _ => self.push(Token::SymbolText(pieces)),
            }
            return Ok(());
        }
        if self.peek() == Some('\'') {
            self.skip(1);
            let text = self.literal('\'', None)?;
            self.push(Token::Symbol(text));
            return Ok(());
        }
        // The name of a variable of an object or of a class.
        let marks = self.rest().chars().take_while(|letter| *letter == '@').count();
        self.skip(marks);
        let mut name = "@".repeat(marks) + &self.word();
        if name.is_empty() {
            let signs = ["[]=", "[]", "<=>", "===", "==", "=~", "!=", "!~", "**", "<<", ">>", "<=", ">="];
            let sign = signs.iter().find(|sign| self.rest().starts_with(**sign)).map_or(1, |sign| sign.len());
            name.push_str(&self.rest()[..sign]);
            self.skip(sign);
        } else if let Some(suffix) = self.peek().filter(|letter| matches!(letter, '?' | '!' | '='))
            && !(suffix == '=' && matches!(self.peek_at(1), Some('=' | '>' | '~')))
        {
            self.skip(1);
            name.push(suffix);
        }
        self.push(Token::Symbol(name));
        Ok(())
    }

    fn sign(&mut self) -> Result<(), Beyond> {
        let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) else {
            return self.beyond("a sign is not understood");
        };
        self.push(Token::Sign(sign));
        self.skip(sign.len());
        Ok(())
    }
}
