//! Ruby's (Onigmo's) notation in that of the engine, with Onigmo's complaints about what is not well formed.

/// A pattern for the engine.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) pattern: String,
    /// The same with `^` not matching after the last line end of a text; absent if there is no `^`.
    pub(super) exact: Option<String>,
}

/// Stands for `^` until both forms are made.
const LINE_START: char = '\u{F8FF}';

/// What `^` means to the engine with `(?m)`, and what it means to Ruby.
const FAST_START: &str = "^";
const EXACT_START: &str = r"(?:\A|(?<=\n)(?!\z))";

pub(super) fn translate(source: &str) -> Result<Translated, String> {
    let letters: Vec<char> = source.chars().collect();
    let named = has_named_group(&letters);
    let mut translator = Translator { letters: &letters, at: 0, out: String::from("(?m)"), depth: 0, named };
    translator.run()?;
    let out = translator.out;
    let exact = out.contains(LINE_START).then(|| out.replace(LINE_START, EXACT_START));
    Ok(Translated { pattern: out.replace(LINE_START, FAST_START), exact })
}

/// With a named group, plain groups do not capture.
fn has_named_group(letters: &[char]) -> bool {
    let mut at = 0;
    let mut in_class = 0;
    while at < letters.len() {
        match letters[at] {
            '\\' => at += 1,
            '[' => in_class += 1,
            ']' if in_class > 0 => in_class -= 1,
            '(' if in_class == 0 && letters.get(at + 1) == Some(&'?') => {
                let named = match letters.get(at + 2) {
                    Some('<') => !matches!(letters.get(at + 3), Some('=' | '!')),
                    Some('\'') => true,
                    _ => false,
                };
                if named {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

struct Translator<'a> {
    letters: &'a [char],
    at: usize,
    out: String,
    depth: usize,
    named: bool,
}

impl Translator<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn run(&mut self) -> Result<(), String> {
        // Whether something stands before that a quantifier can repeat.
        let mut repeatable = false;
        let mut group_starts: Vec<bool> = Vec::new();
        while let Some(letter) = self.peek(0) {
            match letter {
                '\\' => {
                    self.escape()?;
                    repeatable = true;
                }
                '[' => {
                    self.class()?;
                    repeatable = true;
                }
                '(' => {
                    if self.group_open()? {
                        group_starts.push(true);
                        self.depth += 1;
                        if self.depth > 250 {
                            return Err("too deep nest level parenthesis".to_owned());
                        }
                        repeatable = false;
                    }
                }
                ')' => {
                    if self.depth == 0 {
                        return Err("unmatched close parenthesis".to_owned());
                    }
                    self.depth -= 1;
                    group_starts.pop();
                    self.out.push(')');
                    self.at += 1;
                    repeatable = true;
                }
                '*' | '+' | '?' => {
                    if !repeatable {
                        return Err("target of repeat operator is not specified".to_owned());
                    }
                    self.quantifier(letter);
                }
                '{' => {
                    if let Some(bounds) = self.interval() {
                        if repeatable {
                            self.out.push_str(&bounds);
                        } else {
                            return Err("target of repeat operator is not specified".to_owned());
                        }
                    } else {
                        self.out.push_str("\\{");
                        self.at += 1;
                        repeatable = true;
                    }
                }
                '}' => {
                    self.out.push_str("\\}");
                    self.at += 1;
                    repeatable = true;
                }
                ']' => {
                    self.out.push_str("\\]");
                    self.at += 1;
                    repeatable = true;
                }
                '^' => {
                    self.out.push(LINE_START);
                    self.at += 1;
                    repeatable = true;
                }
                '|' => {
                    self.out.push('|');
                    self.at += 1;
                    repeatable = false;
                }
                letter => {
                    self.out.push(letter);
                    self.at += 1;
                    repeatable = true;
                }
            }
        }
        if self.depth > 0 {
            return Err("end pattern with unmatched parenthesis".to_owned());
        }
        Ok(())
    }

    /// `*`, `+?`, `?+` and the like; a quantifier of a quantifier gets a group.
    fn quantifier(&mut self, letter: char) {
        self.out.push(letter);
        self.at += 1;
        if let Some(mark @ ('?' | '+')) = self.peek(0) {
            self.out.push(mark);
            self.at += 1;
        }
        while let Some(more @ ('*' | '+' | '?')) = self.peek(0) {
            // `a**` and the like: repeating once more changes nothing that `*` did not allow.
            if more == '*' || more == '?' {
                self.out.push_str("{0,1}");
            }
            self.at += 1;
        }
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}`; anything else is a brace.
    fn interval(&mut self) -> Option<String> {
        let mut at = self.at + 1;
        let digits = |at: &mut usize| {
            let mut number = String::new();
            while let Some(digit) = self.letters.get(*at).filter(|letter| letter.is_ascii_digit()) {
                number.push(*digit);
                *at += 1;
            }
            number
        };
        let from = digits(&mut at);
        let (to, comma) = if self.letters.get(at) == Some(&',') {
            at += 1;
            (digits(&mut at), true)
        } else {
            (String::new(), false)
        };
        if self.letters.get(at) != Some(&'}') || (from.is_empty() && to.is_empty()) {
            return None;
        }
        at += 1;
        let mut text = match (from.is_empty(), comma) {
            (false, false) => format!("{{{from}}}"),
            (true, _) => format!("{{0,{to}}}"),
            (false, true) => format!("{{{from},{to}}}"),
        };
        if self.letters.get(at) == Some(&'?') {
            text.push('?');
            at += 1;
        }
        self.at = at;
        Some(text)
    }

    /// Writes the start of a group; false if it was no group (a comment, options without a body).
    fn group_open(&mut self) -> Result<bool, String> {
        if self.peek(1) != Some('?') {
            self.out.push_str(if self.named { "(?:" } else { "(" });
            self.at += 1;
            return Ok(true);
        }
        match self.peek(2) {
            Some('#') => {
                while let Some(letter) = self.peek(0) {
                    self.at += 1;
                    if letter == ')' {
                        return Ok(false);
                    }
                }
                Err("end pattern in group".to_owned())
            }
            Some(':' | '=' | '!' | '>') => {
                self.copy(3);
                Ok(true)
            }
            Some('<') if matches!(self.peek(3), Some('=' | '!')) => {
                self.copy(4);
                Ok(true)
            }
            Some(open @ ('<' | '\'')) => {
                let close = if open == '<' { '>' } else { '\'' };
                self.at += 3;
                let mut name = String::new();
                loop {
                    match self.peek(0) {
                        Some(letter) if letter == close => break,
                        Some(letter) => name.push(letter),
                        None => return Err("end pattern in group".to_owned()),
                    }
                    self.at += 1;
                }
                self.at += 1;
                if name.is_empty() {
                    return Err("group name is empty".to_owned());
                }
                self.out.push_str("(?<");
                self.out.push_str(&name);
                self.out.push('>');
                Ok(true)
            }
            Some('(') => {
                self.copy(2);
                Ok(true)
            }
            Some('~') => Err("absent operators are not supported".to_owned()),
            Some(_) => self.options(),
            None => Err("end pattern in group".to_owned()),
        }
    }

    /// `(?i)` and `(?mix-mix:`, where `m` lets a dot match a line end.
    fn options(&mut self) -> Result<bool, String> {
        self.at += 2;
        let (mut on, mut off, mut negative) = (String::new(), String::new(), false);
        loop {
            let flag = match self.peek(0) {
                Some('-') => {
                    negative = true;
                    None
                }
                Some('i') => Some('i'),
                Some('m') => Some('s'),
                Some('x') => Some('x'),
                Some('a' | 'u' | 'd') if !negative => None,
                Some(end @ (')' | ':')) => {
                    self.at += 1;
                    let off = if off.is_empty() { off } else { format!("-{off}") };
                    if end == ':' {
                        self.out.push_str(&format!("(?{on}{off}:"));
                        return Ok(true);
                    }
                    if !on.is_empty() || !off.is_empty() {
                        self.out.push_str(&format!("(?{on}{off})"));
                    }
                    return Ok(false);
                }
                Some(_) => return Err("undefined group option".to_owned()),
                None => return Err("end pattern in group".to_owned()),
            };
            if let Some(flag) = flag {
                if negative { off.push(flag) } else { on.push(flag) }
            }
            self.at += 1;
        }
    }

    fn copy(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(letter) = self.peek(0) {
                self.out.push(letter);
            }
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(letter) = self.peek(1) else {
            return Err("too short escape sequence".to_owned());
        };
        match letter {
            'Z' => self.replace(2, r"(?=\n?\z)"),
            'h' => self.replace(2, "[0-9a-fA-F]"),
            'H' => self.replace(2, "[^0-9a-fA-F]"),
            'd' => self.replace(2, "[0-9]"),
            'D' => self.replace(2, "[^0-9]"),
            'w' => self.replace(2, "[a-zA-Z0-9_]"),
            'W' => self.replace(2, "[^a-zA-Z0-9_]"),
            's' => self.replace(2, r"[ \t\r\n\f\v]"),
            'S' => self.replace(2, r"[^ \t\r\n\f\v]"),
            'R' => self.replace(2, r"(?>\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
            'A' | 'z' | 'b' | 'B' | 'G' | 'K' => self.copy(2),
            'X' => return Err("\\X is not supported".to_owned()),
            '1'..='9' => {
                // A reference, as far as the digits go.
                self.copy(2);
                while self.peek(0).is_some_and(|digit| digit.is_ascii_digit()) {
                    self.copy(1);
                }
            }
            'k' | 'g' if matches!(self.peek(2), Some('<' | '\'')) => self.copy(2),
            'p' | 'P' => self.property()?,
            _ => self.character_escape()?,
        }
        Ok(())
    }

    fn replace(&mut self, count: usize, with: &str) {
        self.out.push_str(with);
        self.at += count;
    }

    /// `\p{Alpha}`, `\p{^Alpha}`, `\P{Alpha}`.
    fn property(&mut self) -> Result<(), String> {
        let mut negative = self.peek(1) == Some('P');
        if self.peek(2) != Some('{') {
            return Err("invalid character property name {".to_owned()
                + &self.letters[self.at..].iter().skip(1).take(1).collect::<String>()
                + "}");
        }
        self.at += 3;
        let mut name = String::new();
        loop {
            match self.peek(0) {
                Some('}') => break,
                Some('^') if name.is_empty() => negative = !negative,
                Some(letter) => name.push(letter),
                None => return Err(format!("invalid character property name {{{name}}}")),
            }
            self.at += 1;
        }
        self.at += 1;
        let class = match posix(&name.to_ascii_lowercase()) {
            Some(class) => format!("[{}{class}]", if negative { "^" } else { "" }),
            None => format!("\\{}{{{name}}}", if negative { 'P' } else { 'p' }),
        };
        self.out.push_str(&class);
        Ok(())
    }

    /// An escape that stands for one character.
    fn character_escape(&mut self) -> Result<(), String> {
        let letter = self.peek(1).unwrap_or('\\');
        self.at += 2;
        let code = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0C',
            'v' => '\x0B',
            'a' => '\x07',
            'e' => '\x1B',
            '0' => self.number(8, 2, 0)?,
            'x' if self.peek(0) == Some('{') => self.braced()?,
            'x' => self.number(16, 2, 0)?,
            'u' if self.peek(0) == Some('{') => self.braced()?,
            'u' => {
                if self.letters[self.at..].iter().take(4).filter(|digit| digit.is_ascii_hexdigit()).count()
                    < 4
                {
                    return Err("too short escape sequence".to_owned());
                }
                self.number(16, 4, 0)?
            }
            letter => letter,
        };
        push_literal(&mut self.out, code);
        Ok(())
    }

    fn number(&mut self, radix: u32, max: usize, mut value: u32) -> Result<char, String> {
        for _ in 0..max {
            let Some(digit) = self.peek(0).and_then(|letter| letter.to_digit(radix)) else { break };
            value = value * radix + digit;
            self.at += 1;
        }
        char::from_u32(value).ok_or_else(|| "invalid Unicode range".to_owned())
    }

    fn braced(&mut self) -> Result<char, String> {
        self.at += 1;
        let letter = self.number(16, 8, 0)?;
        if self.peek(0) != Some('}') {
            return Err("invalid Unicode escape".to_owned());
        }
        self.at += 1;
        Ok(letter)
    }

    /// A bracket expression.
    fn class(&mut self) -> Result<(), String> {
        self.at += 1;
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let start = self.at;
        let mut empty = true;
        loop {
            let Some(letter) = self.peek(0) else {
                return Err("premature end of char-class".to_owned());
            };
            match letter {
                // A bracket that comes first and is closed later stands for itself.
                ']' if self.at == start && self.letters[self.at + 1..].contains(&']') => {
                    self.out.push_str("\\]");
                    self.at += 1;
                }
                ']' => {
                    if empty {
                        return Err("empty char-class".to_owned());
                    }
                    self.out.push(']');
                    self.at += 1;
                    return Ok(());
                }
                '[' if self.peek(1) == Some(':') && self.posix_bracket() => {}
                '[' => self.class()?,
                '&' if self.peek(1) == Some('&') => self.copy(2),
                '\\' => self.class_escape()?,
                '-' => {
                    let first = empty;
                    let last = self.peek(1) == Some(']');
                    let doubled = self.peek(1) == Some('-');
                    self.out.push_str(if first || last || doubled { "\\-" } else { "-" });
                    self.at += 1;
                }
                letter => {
                    push_class_literal(&mut self.out, letter);
                    self.at += 1;
                }
            }
            empty = false;
        }
    }

    /// `[:alpha:]` within a bracket expression; false if it is none.
    fn posix_bracket(&mut self) -> bool {
        let rest: String = self.letters[self.at + 2..].iter().take(12).collect();
        let Some(end) = rest.find(":]") else { return false };
        let (negative, name) = match rest[..end].strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, &rest[..end]),
        };
        let Some(class) = posix(name) else { return false };
        self.out.push_str(&format!("[{}{class}]", if negative { "^" } else { "" }));
        self.at += 2 + rest[..end].chars().count() + 2;
        true
    }

    fn class_escape(&mut self) -> Result<(), String> {
        let Some(letter) = self.peek(1) else {
            return Err("premature end of char-class".to_owned());
        };
        match letter {
            'h' => self.replace(2, "0-9a-fA-F"),
            'H' => self.replace(2, "[^0-9a-fA-F]"),
            'd' => self.replace(2, "0-9"),
            'D' => self.replace(2, "[^0-9]"),
            'w' => self.replace(2, "a-zA-Z0-9_"),
            'W' => self.replace(2, "[^a-zA-Z0-9_]"),
            's' => self.replace(2, r"\x20\t\r\n\f\v"),
            'S' => self.replace(2, r"[^\x20\t\r\n\f\v]"),
            'R' | 'X' => {
                push_class_literal(&mut self.out, letter);
                self.at += 2;
            }
            'b' => self.replace(2, r"\x08"),
            'p' | 'P' => self.property()?,
            '0'..='7' => {
                self.at += 1;
                let code = self.number(8, 3, 0)?;
                push_class_literal(&mut self.out, code);
            }
            _ => {
                let before = self.out.len();
                self.character_escape()?;
                let written: String = self.out.drain(before..).collect();
                let literal = written.strip_prefix('\\').unwrap_or(&written);
                let letter = if literal.starts_with("x{") {
                    let code = literal.trim_start_matches("x{").trim_end_matches('}');
                    u32::from_str_radix(code, 16).ok().and_then(char::from_u32)
                } else {
                    literal.chars().next()
                };
                push_class_literal(&mut self.out, letter.unwrap_or('\\'));
            }
        }
        Ok(())
    }
}

/// A character that stands for itself, outside of brackets.
fn push_literal(out: &mut String, letter: char) {
    if letter.is_ascii_alphanumeric() || letter == '_' || (!letter.is_ascii() && !letter.is_control()) {
        out.push(letter);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(letter)));
    }
}

/// A character that stands for itself within brackets.
fn push_class_literal(out: &mut String, letter: char) {
    push_literal(out, letter);
}

/// The members of a POSIX class, as Ruby has them for Unicode texts.
fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "alpha" => r"\p{Alphabetic}",
        "ascii" => r"\x00-\x7F",
        "blank" => r"\p{Zs}\t",
        "cntrl" => r"\p{Cc}",
        "digit" => r"\p{Nd}",
        "graph" => r"[^\p{White_Space}\p{Cc}\p{Cs}\p{Cn}]",
        "lower" => r"\p{Lowercase}",
        "print" => r"[^\p{Cc}\p{Cs}\p{Cn}]",
        "punct" => r"\p{P}$+<=>^`|~",
        "space" => r"\p{White_Space}",
        "upper" => r"\p{Uppercase}",
        "word" => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}",
        "xdigit" => r"0-9a-fA-F",
        _ => return None,
    })
}
