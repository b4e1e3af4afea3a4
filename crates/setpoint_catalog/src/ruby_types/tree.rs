//! What belongs together among Ruby's tokens: brackets, blocks, statements, and literals.

use std::ops::Range;

use super::lexer::{Kind, Part, Token};

/// Tokens, and for each that opens something the one that closes it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) tokens: Vec<Token>,
    closer: Vec<Option<usize>>,
}

/// A literal value, as far as it can be read without running the program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Symbol(String),
    Text(Vec<Part>),
    Regex(Vec<Part>, String),
    Array(Vec<Literal>),
    Hash(Vec<(Literal, Literal)>),
    True,
    /// Anything else, by its tokens.
    Other(Range<usize>),
}

impl Literal {
    /// The text of a symbol or a string without code.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Symbol(name) => Some(name),
            Self::Text(parts) => match parts.as_slice() {
                [Part::Text(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of a key in a hash.
    pub(super) fn get(&self, key: &str) -> Option<&Literal> {
        let Self::Hash(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.word() == Some(key)).map(|(_, value)| value)
    }
}

impl Tree {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        let closer = closers(&tokens);
        Self { tokens, closer }
    }

    pub(super) fn kind(&self, at: usize) -> Option<&Kind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        if let Some(Kind::Name(name)) = self.kind(at) { Some(name) } else { None }
    }

    pub(super) fn is(&self, at: usize, text: &str) -> bool {
        matches!(self.kind(at), Some(Kind::Punct(punct)) if *punct == text)
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(0, |token| token.line)
    }

    /// What closes the bracket or block that opens here.
    pub(super) fn closer(&self, at: usize) -> Option<usize> {
        self.closer.get(at).copied().flatten()
    }

    /// The statements of a range: each up to the end of its line, or further if a bracket or a block is open.
    pub(super) fn statements(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.is_end_of_statement(at) {
                if start < at {
                    found.push(start..at);
                }
                start = at + 1;
            }
            at = self.closer(at).filter(|end| *end < range.end).unwrap_or(at) + 1;
        }
        if start < range.end {
            found.push(start..range.end);
        }
        found
    }

    fn is_end_of_statement(&self, at: usize) -> bool {
        match self.kind(at) {
            Some(Kind::Punct(";")) => true,
            Some(Kind::LineEnd) => {
                let goes_on_before = at.checked_sub(1).is_some_and(|before| {
                    matches!(
                        self.kind(before),
                        Some(Kind::Punct(
                            "," | "." | "&&" | "||" | "=" | "+" | "=>" | "(" | "[" | "{" | "|=" | "<<"
                        ))
                    )
                });
                let mut next = at + 1;
                while matches!(self.kind(next), Some(Kind::LineEnd)) {
                    next += 1;
                }
                let goes_on_after = self.is(next, ".") || self.is(next, "&.");
                !goes_on_before && !goes_on_after
            }
            _ => false,
        }
    }

    /// The names that `provide` gives to providers, and whether all of them could be read.
    pub(super) fn provided(&self) -> (Vec<String>, bool) {
        let (mut names, mut is_whole) = (Vec::new(), true);
        for at in (0..self.tokens.len()).filter(|at| self.name(*at) == Some("provide")) {
            let first = if self.is(at + 1, "(") { at + 2 } else { at + 1 };
            match self.literal(first..first + 1).word() {
                Some(name) => names.push(name.to_owned()),
                None => is_whole = false,
            }
        }
        (names, is_whole)
    }

    /// What `has_features` and `has_feature` name; `*` if the provider inherits from another.
    pub(super) fn claimed_features(&self) -> Vec<String> {
        let mut features = Vec::new();
        for at in 0..self.tokens.len() {
            match self.kind(at) {
                Some(Kind::Name(name)) if name == "has_features" || name == "has_feature" => {
                    let names = (at + 1..self.tokens.len()).map(|next| self.kind(next));
                    let names =
                        names.take_while(|kind| matches!(kind, Some(Kind::Symbol(_) | Kind::Punct(_))));
                    features.extend(names.filter_map(|kind| match kind {
                        Some(Kind::Symbol(name)) => Some(name.clone()),
                        _ => None,
                    }));
                }
                Some(Kind::Symbol(name) | Kind::Label(name)) if name == "parent" => {
                    features.push("*".to_owned());
                }
                _ => {}
            }
        }
        features
    }

    /// The block of a call (`do … end` or `{ … }`) that opens in a statement at its outermost level, without its
    /// delimiters and parameters; and where it opens.
    pub(super) fn block(&self, statement: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let mut at = statement.start;
        while at < statement.end {
            let is_block =
                self.name(at) == Some("do") || (self.is(at, "{") && self.is_block_brace(at, statement.start));
            if let Some(end) = self.closer(at) {
                if is_block {
                    return Some((at, self.after_parameters(at + 1)..end));
                }
                at = end;
            }
            at += 1;
        }
        None
    }

    /// A brace after a call opens a block; elsewhere it opens a hash.
    fn is_block_brace(&self, at: usize, start: usize) -> bool {
        at > start && matches!(self.kind(at - 1), Some(Kind::Name(_) | Kind::Punct(")")))
    }

    /// Past the `|a, b|` of a block.
    fn after_parameters(&self, at: usize) -> usize {
        if !self.is(at, "|") {
            return at;
        }
        (at + 1..self.tokens.len()).find(|next| self.is(*next, "|")).map_or(at, |end| end + 1)
    }

    /// The names between the bars of a block that opens here.
    pub(super) fn block_parameters(&self, open: usize) -> Vec<&str> {
        if !self.is(open + 1, "|") {
            return Vec::new();
        }
        (open + 2..self.tokens.len())
            .take_while(|at| !self.is(*at, "|"))
            .filter_map(|at| self.name(at))
            .collect()
    }

    /// The arguments of a call whose name stands at `at`, up to its block or the end of the statement.
    pub(super) fn arguments(&self, at: usize, end: usize) -> Vec<Literal> {
        let parenthesis = at + 1;
        let range = if self.is(parenthesis, "(") {
            parenthesis + 1..self.closer(parenthesis).unwrap_or(end)
        } else {
            let block = (parenthesis..end).find(|next| self.name(*next) == Some("do"));
            parenthesis..block.unwrap_or(end)
        };
        self.items(range)
    }

    /// Literals with commas between them. Pairs at the end of a call are one hash.
    fn items(&self, range: Range<usize>) -> Vec<Literal> {
        let mut items = Vec::new();
        let mut pairs = Vec::new();
        for part in self.split(range, ",") {
            match self.pair(&part) {
                Some(pair) => pairs.push(pair),
                None => items.push(self.literal(part)),
            }
        }
        if !pairs.is_empty() {
            items.push(Literal::Hash(pairs));
        }
        items
    }

    fn pair(&self, range: &Range<usize>) -> Option<(Literal, Literal)> {
        if let Some(Kind::Label(name)) = self.kind(range.start) {
            return Some((Literal::Symbol(name.clone()), self.literal(range.start + 1..range.end)));
        }
        let parts = self.split(range.clone(), "=>");
        let [key, value] = parts.as_slice() else { return None };
        Some((self.literal(key.clone()), self.literal(value.clone())))
    }

    /// The parts between separators, brackets and blocks kept whole. Line ends around parts are taken away.
    pub(super) fn split(&self, range: Range<usize>, separator: &str) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.is(at, separator) {
                parts.push(self.trimmed(start..at));
                start = at + 1;
            }
            at = self.closer(at).filter(|end| *end < range.end).unwrap_or(at) + 1;
        }
        parts.push(self.trimmed(start..range.end));
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn trimmed(&self, mut range: Range<usize>) -> Range<usize> {
        while range.start < range.end && matches!(self.kind(range.start), Some(Kind::LineEnd)) {
            range.start += 1;
        }
        while range.start < range.end && matches!(self.kind(range.end - 1), Some(Kind::LineEnd)) {
            range.end -= 1;
        }
        range
    }

    pub(super) fn literal(&self, range: Range<usize>) -> Literal {
        let mut range = self.trimmed(range);
        // `[…].freeze` is the array.
        if range.len() > 2 && self.name(range.end - 1) == Some("freeze") && self.is(range.end - 2, ".") {
            range.end -= 2;
        }
        let whole = self.closer(range.start).is_some_and(|end| end + 1 == range.end);
        match self.kind(range.start) {
            Some(Kind::Punct("[")) if whole => Literal::Array(self.items(range.start + 1..range.end - 1)),
            Some(Kind::Punct("{")) if whole => {
                let parts = self.split(range.start + 1..range.end - 1, ",");
                Literal::Hash(parts.iter().filter_map(|part| self.pair(part)).collect())
            }
            Some(Kind::Symbol(name)) if range.len() == 1 => Literal::Symbol(name.clone()),
            Some(Kind::String(parts)) if range.len() == 1 => Literal::Text(parts.clone()),
            Some(Kind::Regex { source, flags }) if range.len() == 1 => {
                Literal::Regex(source.clone(), flags.clone())
            }
            Some(Kind::Words(words)) if range.len() == 1 => {
                let text = |word: &String| Literal::Text(vec![Part::Text(word.clone())]);
                Literal::Array(words.iter().map(text).collect())
            }
            Some(Kind::Name(name)) if range.len() == 1 && name == "true" => Literal::True,
            _ => Literal::Other(range),
        }
    }
}

/// For each token that opens a bracket or a block, the token that closes it.
fn closers(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closer = vec![None; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut loop_line = None;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|token| &token.kind);
        let closes = match &token.kind {
            Kind::Punct(text @ (")" | "]" | "}")) => Some(*text),
            Kind::Name(name) if name == "end" && !after_dot(before) => Some("end"),
            _ => None,
        };
        if let Some(text) = closes {
            // What was opened inside and never closed is dropped.
            if let Some(depth) = open.iter().rposition(|(_, wanted)| *wanted == text) {
                closer[open[depth].0] = Some(at);
                open.truncate(depth);
            }
            continue;
        }
        let wanted = match &token.kind {
            Kind::Punct("(") => Some(")"),
            Kind::Punct("[") => Some("]"),
            Kind::Punct("{") => Some("}"),
            Kind::Name(_) if after_dot(before) => None,
            Kind::Name(name) => match name.as_str() {
                "do" if loop_line == Some(token.line) => None,
                "do" | "def" | "class" | "module" | "begin" | "case" => Some("end"),
                "while" | "until" | "for" if starts_statement(before) => {
                    loop_line = Some(token.line);
                    Some("end")
                }
                "if" | "unless" if starts_statement(before) => Some("end"),
                _ => None,
            },
            _ => None,
        };
        if let Some(wanted) = wanted {
            open.push((at, wanted));
        }
    }
    closer
}

fn after_dot(before: Option<&Kind>) -> bool {
    matches!(before, Some(Kind::Punct("." | "&.")))
}

/// Whether `if` here begins a statement, or follows one on the same line.
fn starts_statement(before: Option<&Kind>) -> bool {
    match before {
        None | Some(Kind::LineEnd | Kind::Label(_)) => true,
        Some(Kind::Punct(text)) => !matches!(*text, ")" | "]" | "}"),
        Some(Kind::Name(name)) => {
            matches!(
                name.as_str(),
                "then" | "else" | "do" | "begin" | "ensure" | "and" | "or" | "not" | "return"
            ) && name != "return"
        }
        Some(_) => false,
    }
}
