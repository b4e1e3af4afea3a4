//! The blocks of automatic relationships: which names they yield.

use std::collections::BTreeMap;
use std::ops::Range;

use setpoint_source::Symbol;

use super::lexer::{Kind, Part, tokens};
use super::tree::{Literal, Tree};
use crate::{NameSource, TextPart};

/// The names that a block yields, and whether all of it was understood.
pub(super) fn read(tree: &Tree, body: Range<usize>) -> (Vec<NameSource>, bool) {
    let mut reader = Reader { tree, variables: BTreeMap::new(), whole: true };
    let names = reader.block(body, 0);
    (names, reader.whole)
}

struct Reader<'a> {
    tree: &'a Tree,
    /// What the variables of the block hold so far.
    variables: BTreeMap<String, Vec<NameSource>>,
    whole: bool,
}

impl Reader<'_> {
    /// The value of a block is that of its last statement.
    fn block(&mut self, body: Range<usize>, depth: usize) -> Vec<NameSource> {
        if depth > 8 {
            self.whole = false;
            return Vec::new();
        }
        let mut value = Vec::new();
        for statement in self.tree.statements(body) {
            value = self.statement(statement, depth);
        }
        value
    }

    fn statement(&mut self, statement: Range<usize>, depth: usize) -> Vec<NameSource> {
        let tree = self.tree;
        let start = statement.start;
        match tree.name(start) {
            Some("if" | "unless") if tree.closer(start).is_some() => return self.branch(start, depth),
            Some("case") => return self.case(start, depth),
            Some("debug" | "warning" | "return" | "next") => return Vec::new(),
            _ => {}
        }
        // `value if condition`.
        let modifier = (start + 1..statement.end)
            .find(|at| matches!(tree.name(*at), Some("if" | "unless")) && tree.closer(*at).is_none());
        if let Some(at) = modifier {
            let negated = tree.name(at) == Some("unless");
            let before = self.variables.clone();
            let value = self.statement(start..at, depth);
            return match self.condition(at + 1..statement.end) {
                Some(attribute) => {
                    self.guard_variables(&before, attribute, negated);
                    vec![guarded(attribute, negated, value)]
                }
                None => value,
            };
        }
        self.assignment(&statement).unwrap_or_else(|| self.expression(statement))
    }

    /// `a = x`, `a << x`, `a += x`, `a.push(x)`; and `a` alone is its value.
    fn assignment(&mut self, statement: &Range<usize>) -> Option<Vec<NameSource>> {
        let tree = self.tree;
        let name = tree
            .name(statement.start)
            .filter(|name| !matches!(*name, "self" | "should" | "value"))?
            .to_owned();
        let at = statement.start + 1;
        if at >= statement.end {
            return self.variables.get(&name).cloned();
        }
        let range = at + 1..statement.end;
        if tree.is(at, "=") {
            let value = self.expression(range);
            self.variables.insert(name, value.clone());
            return Some(value);
        }
        let range = if tree.is(at, "<<") || tree.is(at, "+=") {
            range
        } else if tree.is(at, ".")
            && matches!(tree.name(at + 1), Some("push" | "concat"))
            && tree.is(at + 2, "(")
        {
            at + 3..tree.closer(at + 2)?
        } else {
            return None;
        };
        let value = self.expression(range);
        let held = self.variables.entry(name).or_default();
        held.extend(value);
        Some(held.clone())
    }

    fn expression(&mut self, range: Range<usize>) -> Vec<NameSource> {
        if range.is_empty() {
            return Vec::new();
        }
        if let Some(attribute) = self.attribute(&range) {
            return vec![NameSource::Attribute(attribute)];
        }
        if let Some(part) = self.piece(&range) {
            return vec![NameSource::Text(vec![part])];
        }
        let literal = self.tree.literal(range.clone());
        match literal {
            Literal::Array(_) => {
                let inner = range.start + 1..range.end.saturating_sub(1);
                if matches!(self.tree.kind(range.start), Some(Kind::Words(_))) {
                    return self.literal_names(&literal);
                }
                self.tree.split(inner, ",").into_iter().flat_map(|part| self.expression(part)).collect()
            }
            Literal::Symbol(_) | Literal::Text(_) => self.literal_names(&literal),
            Literal::Other(_) if matches!(self.tree.name(range.start), Some("nil")) => Vec::new(),
            Literal::Other(_) if matches!(self.tree.name(range.start), Some("if" | "unless" | "case")) => {
                self.statement(range, 4)
            }
            Literal::Other(_) => {
                if let Some(known) = self.tree.name(range.start).filter(|_| range.len() == 1) {
                    if let Some(value) = self.variables.get(known) {
                        return value.clone();
                    }
                    // The method `name` of a resource gives its name.
                    if known == "name" {
                        return vec![NameSource::Attribute("name")];
                    }
                }
                self.whole = false;
                Vec::new()
            }
            Literal::Regex(..) | Literal::Hash(_) | Literal::True => {
                self.whole = false;
                Vec::new()
            }
        }
    }

    fn literal_names(&mut self, literal: &Literal) -> Vec<NameSource> {
        match literal {
            Literal::Array(items) => items.iter().flat_map(|item| self.literal_names(item)).collect(),
            Literal::Symbol(name) => vec![NameSource::Literal(Symbol::new(name).as_str())],
            Literal::Text(parts) => match parts.as_slice() {
                [] => Vec::new(),
                [Part::Text(text)] => vec![NameSource::Literal(Symbol::new(text).as_str())],
                parts => self.text(parts).map(NameSource::Text).into_iter().collect(),
            },
            _ => {
                self.whole = false;
                Vec::new()
            }
        }
    }

    /// `"#{self[:user]}@#{self[:vhost]}"`.
    fn text(&mut self, parts: &[Part]) -> Option<Vec<TextPart>> {
        let read: Option<Vec<TextPart>> = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(TextPart::Literal(Symbol::new(text).as_str())),
                Part::Code(code) => {
                    let inner = Tree::new(tokens(code));
                    let range = 0..inner.tokens.len();
                    let reader = Reader { tree: &inner, variables: BTreeMap::new(), whole: true };
                    match inner.name(0) {
                        Some("name" | "title") if range.len() == 1 => Some(TextPart::Attribute("name")),
                        _ => {
                            reader.attribute(&range).map(TextPart::Attribute).or_else(|| reader.piece(&range))
                        }
                    }
                }
            })
            .collect();
        self.whole &= read.is_some();
        read
    }

    /// `self[:a]`, `should(:a)`, `value(:a)`, `@parameters[:a].value`, `@parameters[:a].should`.
    fn attribute(&self, range: &Range<usize>) -> Option<&'static str> {
        let (name, end) = self.attribute_start(range.start)?;
        let rest = end..range.end;
        let suffix: Vec<&str> = rest.clone().filter_map(|at| self.tree.name(at)).collect();
        let known = suffix.iter().all(|name| matches!(*name, "value" | "should" | "to_s" | "to_a"));
        let plain = rest.clone().all(|at| self.tree.is(at, ".") || self.tree.name(at).is_some());
        (known && plain).then_some(name)
    }

    /// The attribute that an expression begins with, and where that ends.
    fn attribute_start(&self, start: usize) -> Option<(&'static str, usize)> {
        let tree = self.tree;
        let indexed =
            matches!(tree.name(start), Some("self" | "@parameters" | "resource")) && tree.is(start + 1, "[");
        let called = matches!(tree.name(start), Some("should" | "value" | "parameter_set?"))
            && tree.is(start + 1, "(");
        let asked = tree.name(start) == Some("@parameters")
            && tree.is(start + 1, ".")
            && matches!(tree.name(start + 2), Some("include?" | "key?"))
            && tree.is(start + 3, "(");
        let open = if asked { start + 3 } else { start + 1 };
        let Some(Kind::Symbol(name)) = tree.kind(open + 1).filter(|_| indexed || called || asked) else {
            return None;
        };
        (tree.closer(open)? == open + 2).then(|| (Symbol::new(name).as_str(), open + 3))
    }

    /// `self[:name].split('@')[1]`, and the same with `.first` or `.last`.
    fn piece(&self, range: &Range<usize>) -> Option<TextPart> {
        let tree = self.tree;
        let (attribute, at) = match tree.name(range.start) {
            Some("name" | "title") => ("name", range.start + 1),
            _ => self.attribute_start(range.start)?,
        };
        if !tree.is(at, ".") || tree.name(at + 1) != Some("split") || !tree.is(at + 2, "(") {
            return None;
        }
        let close = tree.closer(at + 2)?;
        let separator = tree.split(at + 3..close, ",").first().map(|part| tree.literal(part.clone()))?;
        let separator = Symbol::new(separator.word()?).as_str();
        let index = match (tree.kind(close + 1), tree.kind(close + 2)) {
            (Some(Kind::Punct("[")), Some(Kind::Number(number))) => number.parse().ok()?,
            (Some(Kind::Punct(".")), Some(Kind::Name(name))) if name == "first" => 0,
            (Some(Kind::Punct(".")), Some(Kind::Name(name))) if name == "last" => usize::MAX,
            _ => return None,
        };
        Some(TextPart::Piece { attribute, separator, index })
    }

    /// The attribute that must be set for a condition to hold, if it asks for one before anything else.
    fn condition(&self, range: Range<usize>) -> Option<&'static str> {
        let start = range.clone().find(|at| !self.tree.is(*at, "("))?;
        self.attribute_start(start).map(|(name, _)| name)
    }

    fn branch(&mut self, start: usize, depth: usize) -> Vec<NameSource> {
        let tree = self.tree;
        let Some(end) = tree.closer(start) else { return Vec::new() };
        let negated = tree.name(start) == Some("unless");
        let Some(first) = self.line_end(start, end) else { return Vec::new() };
        let condition = self.condition(start + 1..first);
        let otherwise = self.at_level(first..end, &["else", "elsif"]);
        let before = self.variables.clone();
        let then = self.block(first..otherwise.unwrap_or(end), depth + 1);
        let Some(attribute) = condition else {
            // Nothing is known of the condition; what it guards may or may not be there.
            self.whole = false;
            return then;
        };
        self.guard_variables(&before, attribute, negated);
        let after = self.variables.clone();
        let rest = match otherwise {
            None => Vec::new(),
            Some(at) if tree.name(at) == Some("else") => self.block(at + 1..end, depth + 1),
            Some(_) => {
                self.whole = false;
                Vec::new()
            }
        };
        self.guard_variables(&after, attribute, !negated);
        vec![guarded(attribute, negated, then), guarded(attribute, !negated, rest)]
    }

    /// What was added to variables since `before` is there only if the attribute is set.
    fn guard_variables(
        &mut self,
        before: &BTreeMap<String, Vec<NameSource>>,
        attribute: &'static str,
        negated: bool,
    ) {
        for (name, held) in &mut self.variables {
            let known = before.get(name).map_or(0, Vec::len);
            if held.len() > known {
                let added = held.split_off(known);
                held.push(guarded(attribute, negated, added));
            }
        }
    }

    /// `case value(:provider) when :a, :b … else … end`.
    fn case(&mut self, start: usize, depth: usize) -> Vec<NameSource> {
        let tree = self.tree;
        let Some(end) = tree.closer(start) else { return Vec::new() };
        let Some(first) = self.line_end(start, end) else { return Vec::new() };
        let Some((attribute, _)) = self.attribute_start(start + 1) else {
            self.whole = false;
            return Vec::new();
        };
        let mut arms = Vec::new();
        let mut otherwise = Vec::new();
        let mut next = self.at_level(first..end, &["when", "else"]);
        while let Some(at) = next {
            next = self.at_level(at + 1..end, &["when", "else"]);
            let stop = next.unwrap_or(end);
            let body = self.line_end(at, stop).unwrap_or(stop);
            if tree.name(at) == Some("else") {
                otherwise = self.block(at + 1..stop, depth + 1);
                continue;
            }
            let labels = tree.split(at + 1..body, ",");
            let words = labels
                .iter()
                .filter_map(|part| Some(Symbol::new(tree.literal(part.clone()).word()?).as_str()));
            let words: Vec<&'static str> = words.collect();
            self.whole &= words.len() == labels.len();
            arms.push((words, self.block(body..stop, depth + 1)));
        }
        vec![NameSource::Case { attribute, arms, otherwise }]
    }

    fn line_end(&self, start: usize, end: usize) -> Option<usize> {
        (start..end).find(|at| {
            matches!(self.tree.kind(*at), Some(Kind::LineEnd)) || self.tree.name(*at) == Some("then")
        })
    }

    /// The first of some keywords that no inner block holds.
    fn at_level(&self, range: Range<usize>, words: &[&str]) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            if self.tree.name(at).is_some_and(|name| words.contains(&name)) {
                return Some(at);
            }
            at = self.tree.closer(at).unwrap_or(at) + 1;
        }
        None
    }
}

fn guarded(attribute: &'static str, negated: bool, names: Vec<NameSource>) -> NameSource {
    NameSource::If { attribute, set: !negated, names }
}
