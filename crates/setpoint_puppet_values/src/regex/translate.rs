//! Ruby's (Onigmo's) notation in that of the engine, with Onigmo's complaints about what is not well formed.

mod class;

use std::fmt::Write as _;

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
    let groups = count_groups(&letters, named);
    let mut translator = Translator {
        letters: &letters,
        at: 0,
        out: String::from("(?m)"),
        depth: 0,
        named,
        groups,
        last: 0,
        opened: Vec::new(),
    };
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

/// How many groups capture: all plain ones, or all named ones.
fn count_groups(letters: &[char], named: bool) -> usize {
    let (mut at, mut in_class, mut count) = (0, 0, 0);
    while at < letters.len() {
        match letters[at] {
            '\\' => at += 1,
            '[' => in_class += 1,
            ']' if in_class > 0 => in_class -= 1,
            '(' if in_class == 0 => {
                let plain = letters.get(at + 1) != Some(&'?');
                let has_name = !plain
                    && matches!(letters.get(at + 2), Some('<' | '\''))
                    && !matches!(letters.get(at + 3), Some('=' | '!'));
                count += usize::from(if named { has_name } else { plain });
            }
            _ => {}
        }
        at += 1;
    }
    count
}

struct Translator<'a> {
    letters: &'a [char],
    at: usize,
    out: String,
    depth: usize,
    named: bool,
    /// How many groups capture.
    groups: usize,
    /// Where the part that a quantifier repeats starts in the output.
    last: usize,
    /// Where the open groups start in the output.
    opened: Vec<usize>,
}

impl Translator<'_> {
    fn emit(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn run(&mut self) -> Result<(), String> {
        // Whether something stands before that a quantifier can repeat.
        let mut repeatable = false;
        // Whether the part before ends with an interval such as `{2}`.
        let mut repeated = false;
        while let Some(letter) = self.peek(0) {
            if !matches!(letter, '*' | '+' | '?' | '{' | ')') || (letter == '{' && !self.is_interval()) {
                self.last = self.out.len();
            }
            let was_repeated = std::mem::take(&mut repeated);
            if was_repeated && matches!(letter, '*' | '+' | '?' | '{') && repeatable {
                let inner = self.out.split_off(self.last);
                self.emit(format_args!("(?:{inner})"));
            }
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
                    let start = self.out.len();
                    if self.group_open()? {
                        self.opened.push(start);
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
                    self.last = self.opened.pop().unwrap_or(0);
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
                    if let Some(bounds) = self.interval()? {
                        if repeatable {
                            repeated = true;
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
        // A quantifier of a quantifier repeats what was repeated.
        while let Some(more @ ('*' | '+' | '?')) = self.peek(0) {
            let inner = self.out.split_off(self.last);
            self.emit(format_args!("(?:{inner}){more}"));
            self.at += 1;
        }
    }

    /// `{2}`, `{2,}`, `{,3}` or `{2,3}`; anything else is a brace.
    fn interval(&mut self) -> Result<Option<String>, String> {
        let Some((text, at)) = self.read_interval()? else { return Ok(None) };
        self.at = at;
        Ok(Some(text))
    }

    fn is_interval(&self) -> bool {
        !matches!(self.read_interval(), Ok(None))
    }

    /// The interval and where it ends.
    fn read_interval(&self) -> Result<Option<(String, usize)>, String> {
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
            return Ok(None);
        }
        at += 1;
        let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u32>().ok() };
        match (number(&from), number(&to)) {
            (Some(low), Some(high)) if low <= 100_000 && high <= 100_000 => {
                if comma && !to.is_empty() && high < low {
                    return Err("upper is smaller than lower in repeat range".to_owned());
                }
            }
            _ => return Err("too big number for repeat range".to_owned()),
        }
        let mut text = match (from.is_empty(), comma) {
            (false, false) => format!("{{{from}}}"),
            (true, _) => format!("{{0,{to}}}"),
            (false, true) => format!("{{{from},{to}}}"),
        };
        if self.letters.get(at) == Some(&'?') {
            text.push('?');
            at += 1;
        }
        Ok(Some((text, at)))
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
                        None if name.is_empty() => {
                            return Err("end pattern with unmatched parenthesis".to_owned());
                        }
                        None => return Err(format!("invalid group name <{name}>")),
                    }
                    self.at += 1;
                }
                self.at += 1;
                if name.is_empty() {
                    return Err("group name is empty".to_owned());
                }
                if name.starts_with(|first: char| !(first.is_alphabetic() || first == '_')) {
                    return Err(format!("invalid group name <{name}>"));
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
                        self.emit(format_args!("(?{on}{off}:"));
                        return Ok(true);
                    }
                    if !on.is_empty() || !off.is_empty() {
                        self.emit(format_args!("(?{on}{off})"));
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
            '1'..='9' => self.reference()?,
            'k' | 'g' if matches!(self.peek(2), Some('<' | '\'')) => self.named_reference()?,
            'p' | 'P' => self.property()?,
            _ => self.character_escape()?,
        }
        Ok(())
    }

    /// `\1`: a group if there is one of that number, else a character by its octal code.
    fn reference(&mut self) -> Result<(), String> {
        let digits: String =
            self.letters[self.at + 1..].iter().take_while(|digit| digit.is_ascii_digit()).collect();
        let number: usize = digits.parse().unwrap_or(usize::MAX);
        if number <= 9 || number <= self.groups {
            if self.named {
                return Err("numbered backref/call is not allowed. (use name)".to_owned());
            }
            if number > self.groups {
                return Err("invalid backref number/name".to_owned());
            }
            self.emit(format_args!("(?:\\{number})"));
            self.at += 1 + digits.len();
            return Ok(());
        }
        self.at += 1;
        if digits.starts_with(['8', '9']) {
            return Ok(());
        }
        let code = self.number(8, 3, 0)?;
        push_literal(&mut self.out, code);
        Ok(())
    }

    /// `\k<name>` and `\g<name>`.
    fn named_reference(&mut self) -> Result<(), String> {
        let close = if self.peek(2) == Some('<') { '>' } else { '\'' };
        let name: String =
            self.letters[self.at + 3..].iter().take_while(|letter| **letter != close).collect();
        let source: String = self.letters.iter().collect();
        let known = source.contains(&format!("(?<{name}>")) || source.contains(&format!("(?'{name}'"));
        let numeric = name.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
        if !known && !numeric {
            return Err(format!("undefined name <{name}> reference"));
        }
        let letter = self.peek(1).unwrap_or('k');
        self.emit(format_args!("\\{letter}<{name}>"));
        self.at += 4 + name.chars().count();
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
        if fancy_regex::Regex::new(&class).is_err() {
            return Err(format!("invalid character property name {{{name}}}"));
        }
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
            'x' => {
                if !self.peek(0).is_some_and(|digit| digit.is_ascii_hexdigit()) {
                    return Err("invalid hex escape".to_owned());
                }
                self.number(16, 2, 0)?
            }
            'u' if self.peek(0) == Some('{') => self.braced()?,
            'u' => {
                if self.letters[self.at..].iter().take(4).filter(|digit| digit.is_ascii_hexdigit()).count()
                    < 4
                {
                    return Err("invalid Unicode escape".to_owned());
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
}

/// A character that stands for itself.
fn push_literal(out: &mut String, letter: char) {
    if letter.is_ascii_alphanumeric() || letter == '_' || (!letter.is_ascii() && !letter.is_control()) {
        out.push(letter);
    } else {
        let _ = write!(out, "\\x{{{:X}}}", u32::from(letter));
    }
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
