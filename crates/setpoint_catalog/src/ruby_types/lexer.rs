//! Ruby's tokens, as far as the files of types need them. Text that is no Ruby gives tokens of no use, never an error.

/// A token and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) line: u32,
    /// Blank space stands before it: `a [1]` is a call, `a[1]` an index.
    pub(super) spaced: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name: of a method, a variable, a constant, or a keyword. `@a` and `A::B` are one name.
    Name(String),
    /// `:a`, `:"a b"`.
    Symbol(String),
    /// `a:` in a hash or a call.
    Label(String),
    String(Vec<Part>),
    /// `%w[a b]`, `%i[a b]`.
    Words(Vec<String>),
    Regex {
        source: Vec<Part>,
        flags: String,
    },
    Number(String),
    Punct(&'static str),
    LineEnd,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// The source between `#{` and `}`.
    Code(String),
}

const PUNCTUATION: [&str; 46] = [
    "<=>", "===", "**=", "...", "<<=", ">>=", "&&=", "||=", "**", "==", "!=", ">=", "<=", "&&", "||", "=~",
    "!~", "..", "::", "+=", "-=", "*=", "/=", "|=", "&=", "<<", ">>", "=>", "->", "&.", "(", ")", "[", "]",
    "{", "}", ",", ";", ".", "=", "+", "-", "*", "<", ">", "|",
];
const SINGLE: [&str; 8] = ["/", "%", "!", "&", "?", ":", "^", "~"];

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, line: 1, out: Vec::new(), heredocs: Vec::new(), spaced: true };
    while lexer.step() {}
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    out: Vec<Token>,
    /// Texts that begin after the end of this line: the index of their token, their end mark, and if code may be in them.
    heredocs: Vec<(usize, String, bool)>,
    spaced: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, kind: Kind) {
        self.out.push(Token { kind, line: self.line, spaced: self.spaced });
        self.spaced = false;
    }

    /// Moves on by some text, counting lines.
    fn skip(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or(self.rest());
        self.at += taken.len();
        self.line += taken.matches('\n').count() as u32;
        taken
    }

    /// One token; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.peek() else { return false };
        match first {
            '\n' => self.line_end(),
            ' ' | '\t' | '\r' => {
                self.skip(1);
                self.spaced = true;
            }
            '\\' if self.rest().starts_with("\\\n") => {
                self.skip(2);
                self.spaced = true;
            }
            '#' => {
                let length = self.rest().find('\n').unwrap_or(self.rest().len());
                self.skip(length);
            }
            '\'' => self.quoted('\'', '\'', 1, false),
            '"' => self.quoted('"', '"', 1, true),
            '`' => self.quoted('`', '`', 1, true),
            ':' => self.colon(),
            '%' if self.percent() => {}
            '/' if self.value_expected() => self.regex('/', '/', 1),
            '<' if self.heredoc() => {}
            '0'..='9' => {
                let length = self
                    .rest()
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(self.rest().len());
                let number = self.skip(length).to_owned();
                self.push(Kind::Number(number));
            }
            '@' | '$' | '_' | 'a'..='z' | 'A'..='Z' => self.name(),
            _ => self.punctuation(first),
        }
        true
    }

    fn line_end(&mut self) {
        self.push(Kind::LineEnd);
        self.skip(1);
        self.spaced = true;
        for (token, end, code) in std::mem::take(&mut self.heredocs) {
            let mut text = String::new();
            while !self.rest().is_empty() {
                let length = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
                let line = self.skip(length);
                if line.trim() == end {
                    break;
                }
                text.push_str(line);
            }
            if let Some(Token { kind, .. }) = self.out.get_mut(token) {
                *kind = Kind::String(if code { interpolated(&text) } else { vec![Part::Text(text)] });
            }
        }
        if self.rest().starts_with("=begin") {
            let length = self.rest().find("\n=end").map_or(self.rest().len(), |at| at + 5);
            self.skip(length);
        }
        if self.rest().starts_with("__END__") {
            self.skip(self.rest().len());
        }
    }

    /// Whether an operator cannot stand here, so that `/` begins a regular expression.
    fn value_expected(&self) -> bool {
        match self.out.last().map(|token| &token.kind) {
            None => true,
            Some(Kind::Punct(text)) => !matches!(*text, ")" | "]" | "}"),
            Some(Kind::LineEnd | Kind::Label(_)) => true,
            // `newvalues /x/` is a call; `a / b` is a division.
            Some(Kind::Name(_)) => self.spaced && !self.rest()[1..].starts_with([' ', '=']),
            Some(_) => false,
        }
    }

    fn quoted(&mut self, open: char, close: char, prefix: usize, code: bool) {
        let start = self.at;
        let line = self.line;
        self.skip(prefix);
        let body = self.delimited(open, close);
        let raw = self.text.get(start + prefix..start + prefix + body).unwrap_or("");
        let parts = if code { interpolated(raw) } else { vec![Part::Text(unescaped(raw))] };
        self.skip(body + close.len_utf8());
        // `"a": 1` is a label.
        if self.rest().starts_with(':')
            && !self.rest().starts_with("::")
            && matches!(parts.as_slice(), [Part::Text(_)])
        {
            let [Part::Text(name)] = parts.as_slice() else { return };
            let name = name.clone();
            self.skip(1);
            self.push(Kind::Label(name));
            return;
        }
        self.out.push(Token { kind: Kind::String(parts), line, spaced: self.spaced });
        self.spaced = false;
    }

    /// The length of the text up to the closing delimiter; nested pairs and escapes are passed over.
    fn delimited(&self, open: char, close: char) -> usize {
        let mut depth = 0;
        let mut escaped = false;
        for (at, letter) in self.rest().char_indices() {
            if std::mem::take(&mut escaped) {
                continue;
            }
            if letter == '\\' {
                escaped = true;
            } else if letter == close && depth == 0 {
                return at;
            } else if letter == close {
                depth -= 1;
            } else if letter == open && open != close {
                depth += 1;
            }
        }
        self.rest().len()
    }

    fn regex(&mut self, open: char, close: char, prefix: usize) {
        let line = self.line;
        self.skip(prefix);
        let body = self.delimited(open, close);
        let source = interpolated_raw(self.rest().get(..body).unwrap_or(""));
        self.skip(body + close.len_utf8());
        let length = self.rest().find(|c: char| !c.is_ascii_lowercase()).unwrap_or(self.rest().len());
        let flags = self.skip(length).to_owned();
        self.out.push(Token { kind: Kind::Regex { source, flags }, line, spaced: self.spaced });
        self.spaced = false;
    }

    /// `%w[…]`, `%r{…}`, `%q(…)`; `false` if the `%` is an operator.
    fn percent(&mut self) -> bool {
        if !self.value_expected() && !self.spaced {
            return false;
        }
        let mut letters = self.rest().chars().skip(1);
        let Some(kind) = letters.next() else { return false };
        let (kind, delimiter) = match kind {
            'w' | 'W' | 'i' | 'I' | 'q' | 'Q' | 'r' => (kind, letters.next()),
            '(' | '[' | '{' | '<' | '|' | '!' => ('Q', Some(kind)),
            _ => return false,
        };
        let Some(open) = delimiter.filter(char::is_ascii_punctuation) else { return false };
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let prefix = if self.rest()[1..].starts_with(open) { 2 } else { 3 };
        match kind {
            'r' => self.regex(open, close, prefix),
            'q' => self.quoted(open, close, prefix, false),
            'Q' => self.quoted(open, close, prefix, true),
            _ => {
                self.skip(prefix);
                let body = self.delimited(open, close);
                let words =
                    self.rest().get(..body).unwrap_or("").split_whitespace().map(str::to_owned).collect();
                self.push(Kind::Words(words));
                self.skip(body + close.len_utf8());
            }
        }
        true
    }

    /// `<<-EOT`, `<<~'EOT'`; `false` if the `<` is an operator.
    fn heredoc(&mut self) -> bool {
        let Some(after) = self.rest().strip_prefix("<<") else { return false };
        let mark = after.trim_start_matches(['-', '~']);
        let dashed = mark.len() < after.len();
        let quote = mark.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let name = quote.map_or(mark, |_| &mark[1..]);
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
        if length == 0 || !(dashed || capital) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let end = name[..length].to_owned();
        let used = self.rest().len() - name.len() + length + usize::from(quote.is_some());
        self.heredocs.push((self.out.len(), end, quote != Some('\'')));
        self.push(Kind::String(Vec::new()));
        self.skip(used);
        true
    }

    fn colon(&mut self) {
        let after = &self.rest()[1..];
        if let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            self.quoted(quote, quote, 2, false);
            if let Some(Token { kind, .. }) = self.out.last_mut()
                && let Kind::String(parts) = kind
            {
                let text =
                    if let [Part::Text(text)] = parts.as_slice() { text.clone() } else { String::new() };
                *kind = Kind::Symbol(text);
            }
            return;
        }
        if after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            let mark = after[length..].starts_with(['?', '!']);
            let name = after[..length + usize::from(mark)].to_owned();
            self.skip(1 + name.len());
            self.push(Kind::Symbol(name));
            return;
        }
        self.punctuation(':');
    }

    fn name(&mut self) {
        let text = self.rest();
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
        let sigil = text.len() - text.trim_start_matches(['@', '$']).len();
        let mut length = sigil + text[sigil..].find(|c: char| !word(c)).unwrap_or(text.len() - sigil);
        // `A::B` is one name, `a::b` is not written.
        while text[..length].starts_with(|c: char| c.is_ascii_uppercase())
            && let Some(next) = text[length..].strip_prefix("::")
            && next.starts_with(|c: char| c.is_ascii_uppercase())
        {
            length += 2 + next.find(|c: char| !word(c)).unwrap_or(next.len());
        }
        if text[length..].starts_with(['?', '!']) && !text[length + 1..].starts_with('=') {
            length += 1;
        }
        let after_dot = matches!(self.out.last(), Some(Token { kind: Kind::Punct("." | "&."), .. }));
        let label =
            text[length..].starts_with(':') && !text[length..].starts_with("::") && sigil == 0 && !after_dot;
        let name = self.skip(length).to_owned();
        // `a ? b : c` has blanks around its colon.
        if label {
            self.skip(1);
            self.push(Kind::Label(name));
        } else {
            self.push(Kind::Name(name));
        }
    }

    fn punctuation(&mut self, first: char) {
        let known = PUNCTUATION.iter().chain(&SINGLE).find(|text| self.rest().starts_with(**text));
        match known {
            Some(text) => {
                self.push(Kind::Punct(text));
                self.skip(text.len());
            }
            None => _ = self.skip(first.len_utf8()),
        }
    }
}

/// A string in double quotes: text and code.
fn interpolated(text: &str) -> Vec<Part> {
    let mut parts = interpolated_raw(text);
    for part in &mut parts {
        if let Part::Text(text) = part {
            *text = unescaped(text);
        }
    }
    parts
}

fn interpolated_raw(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("#{") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let mut depth = 0;
        let end = after.find(|c: char| match c {
            '{' => {
                depth += 1;
                false
            }
            '}' if depth == 0 => true,
            '}' => {
                depth -= 1;
                false
            }
            _ => false,
        });
        let Some(end) = end else { break };
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(Part::Code(after[..end].to_owned()));
        rest = &after[end + 1..];
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    parts
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    fn name(text: &str) -> Kind {
        Kind::Name(text.to_owned())
    }

    #[test]
    fn regular_expressions_are_told_from_divisions() {
        let regex =
            |source: &str| Kind::Regex { source: vec![Part::Text(source.to_owned())], flags: String::new() };
        assert_eq!(kinds("newvalues(/a\\/b/)")[2], regex("a\\/b"));
        assert_eq!(kinds("x =~ %r{^a{2}$}")[2], regex("^a{2}$"));
        assert_eq!(kinds("a / b")[1], Kind::Punct("/"));
    }

    #[test]
    fn texts_after_the_line_belong_to_their_mark() {
        let found = kinds("desc <<-'EOT'\n  end do\n  EOT\nend");
        assert_eq!(found[0], name("desc"));
        assert_eq!(found[1], Kind::String(vec![Part::Text("  end do\n".to_owned())]));
        assert_eq!(found[3], name("end"));
    }

    #[test]
    fn strings_labels_and_words() {
        assert_eq!(kinds("a: 1")[0], Kind::Label("a".to_owned()));
        assert_eq!(kinds("%w[a b]"), [Kind::Words(vec!["a".to_owned(), "b".to_owned()])]);
        let parts = vec![Part::Text("x".to_owned()), Part::Code("self[:a]".to_owned())];
        assert_eq!(kinds("\"x#{self[:a]}\""), [Kind::String(parts)]);
        assert_eq!(kinds("Puppet::Type.newtype(:a)")[0], name("Puppet::Type"));
    }

    #[test]
    fn any_text_ends() {
        for text in ["\"", "%w[", "/", "<<-", "<<-A", "#{", ":", "@", "%", "'\\", "é%q", "\"#{", "=begin"] {
            let _ = tokens(text);
        }
    }
}
