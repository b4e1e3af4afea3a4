//! The blocks `validate` and `munge` of attributes, as far as they can be read: tests of the value, and what is refused
//! when they hold. What cannot be read is told, so that nobody takes a value for valid that was not looked at.

use std::collections::BTreeSet;
use std::ops::Range;

use setpoint_source::Symbol;

use super::lexer::{Kind, Part};
use super::tree::{Literal, Tree};
use super::type_file::pattern;
use crate::{Class, Test};

/// The tests of which each refuses the value that passes it; `None` if there is more in the block than that.
pub(super) fn refusals(tree: &Tree, variable: Option<&str>, body: Range<usize>) -> Option<Vec<Test>> {
    let mut reader = Reader { tree, variable, paths: BTreeSet::new() };
    let statements = tree.statements(body);
    statements.iter().filter_map(|one| reader.statement(one).transpose()).collect::<Result<_, NotRead>>().ok()
}

/// Whether a block `munge` fails for no string: it only calls what every string can do.
pub(super) fn is_harmless(tree: &Tree, variable: Option<&str>, body: Range<usize>) -> bool {
    const METHODS: [&str; 16] = [
        "to_s",
        "to_sym",
        "intern",
        "downcase",
        "upcase",
        "capitalize",
        "strip",
        "chomp",
        "is_a?",
        "nil?",
        "empty?",
        "to_i",
        "gsub",
        "sub",
        "include?",
        "class",
    ];
    const WORDS: [&str; 22] = [
        "if",
        "else",
        "elsif",
        "end",
        "unless",
        "case",
        "when",
        "then",
        "true",
        "false",
        "nil",
        "return",
        "and",
        "or",
        "not",
        "String",
        "Symbol",
        "Integer",
        "Array",
        "Hash",
        "TrueClass",
        "FalseClass",
    ];
    body.clone().all(|at| {
        let Some(name) = tree.name(at) else { return !tree.is(at, "*") && !tree.is(at, "/") };
        let after_dot = at > body.start && (tree.is(at - 1, ".") || tree.is(at - 1, "&."));
        let is_call = tree.is(at + 1, "(");
        if after_dot {
            METHODS.contains(&name)
        } else {
            Some(name) == variable || (WORDS.contains(&name) && !is_call)
        }
    })
}

struct Reader<'a> {
    tree: &'a Tree,
    /// The value.
    variable: Option<&'a str>,
    /// Variables that hold the value as a path.
    paths: BTreeSet<String>,
}

impl Reader<'_> {
    /// The test under which a statement refuses the value, or none if it refuses nothing; `Err` if it is not understood.
    fn statement(&mut self, range: &Range<usize>) -> Result<Option<Test>, NotRead> {
        let tree = self.tree;
        let at = range.start;
        match tree.name(at).ok_or(NotRead)? {
            word @ ("if" | "unless") => {
                let end = tree.closer(at).ok_or(NotRead)?;
                let first = tree.statements(at + 1..end).first().ok_or(NotRead)?.end;
                let body = tree.statements(first..end);
                let [only] = body.as_slice() else { return Err(NotRead) };
                if !is_raise(tree, only.start) || self.condition_of(only).is_some() {
                    return Err(NotRead);
                }
                let test = self.test(at + 1..first)?;
                Ok(Some(if word == "if" { test } else { Test::Not(Box::new(test)) }))
            }
            "raise" | "fail" | "self" if is_raise(tree, at) => match self.condition_of(range) {
                None => Ok(Some(Test::Always)),
                Some((is_if, condition)) => {
                    let test = self.test(condition)?;
                    Ok(Some(if is_if { test } else { Test::Not(Box::new(test)) }))
                }
            },
            "Puppet"
                if matches!(
                    tree.name(at + 2),
                    Some("warning" | "debug" | "notice" | "deprecation_warning")
                ) =>
            {
                Ok(None)
            }
            name if tree.is(at + 1, "=") && self.is_path_of_value(at + 2..range.end) => {
                self.paths.insert(name.to_owned());
                Ok(None)
            }
            _ => Err(NotRead),
        }
    }

    /// What stands after the `if` or `unless` of a statement, and whether it is `if`.
    fn condition_of(&self, range: &Range<usize>) -> Option<(bool, Range<usize>)> {
        let mut at = range.start + 1;
        while at < range.end {
            if let Some(word @ ("if" | "unless")) = self.tree.name(at) {
                return Some((word == "if", at + 1..range.end));
            }
            at = self.tree.closer(at).unwrap_or(at) + 1;
        }
        None
    }

    /// `Pathname.new(value)`.
    fn is_path_of_value(&self, range: Range<usize>) -> bool {
        let tree = self.tree;
        tree.name(range.start) == Some("Pathname")
            && tree.name(range.start + 2) == Some("new")
            && tree.is(range.start + 3, "(")
            && self.is_value(range.start + 4..range.end.saturating_sub(1))
    }

    fn is_value(&self, range: Range<usize>) -> bool {
        let is_text = range.len() == 3
            && self.tree.is(range.start + 1, ".")
            && self.tree.name(range.start + 2) == Some("to_s");
        (range.len() == 1 || is_text)
            && self.variable.is_some()
            && self.tree.name(range.start) == self.variable
    }

    fn test(&self, range: Range<usize>) -> Result<Test, NotRead> {
        let range = self.trimmed(range);
        for (signs, words, all) in [("||", "or", false), ("&&", "and", true)] {
            let parts = self.split(&range, signs, words);
            if parts.len() > 1 {
                let tests = parts.into_iter().map(|part| self.test(part)).collect::<Result<Vec<_>, _>>()?;
                return Ok(if all { Test::All(tests) } else { Test::Any(tests) });
            }
        }
        let (tree, at) = (self.tree, range.start);
        if tree.is(at, "!") || tree.name(at) == Some("not") {
            return Ok(Test::Not(Box::new(self.test(at + 1..range.end)?)));
        }
        if tree.is(at, "(") && tree.closer(at) == Some(range.end.saturating_sub(1)) {
            return self.test(at + 1..range.end - 1);
        }
        self.atom(&range)
    }

    fn atom(&self, range: &Range<usize>) -> Result<Test, NotRead> {
        let tree = self.tree;
        for sign in ["=~", "!~", "==", "!="] {
            if let Some(at) = range.clone().find(|at| tree.is(*at, sign)) {
                if !self.is_value(range.start..at) {
                    return Err(NotRead);
                }
                let test = match (sign, tree.literal(at + 1..range.end)) {
                    ("=~" | "!~", Literal::Regex(source, flags)) => matches(&source, &flags)?,
                    ("==" | "!=", Literal::True) => Test::Is(vec![Class::True]),
                    ("==" | "!=", Literal::Text(parts)) => {
                        Test::Among(vec![Symbol::new(Literal::Text(parts).word().ok_or(NotRead)?).as_str()])
                    }
                    _ => return Err(NotRead),
                };
                return Ok(if sign.starts_with('!') { Test::Not(Box::new(test)) } else { test });
            }
        }
        // RECEIVER.method?(argument)
        let mut dots = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if tree.is(at, ".") {
                dots.push(at);
            }
            at = tree.closer(at).unwrap_or(at) + 1;
        }
        let dot = *dots.last().ok_or(NotRead)?;
        let method = tree.name(dot + 1).ok_or(NotRead)?;
        let argument = match tree.kind(dot + 2) {
            _ if dot + 2 >= range.end => range.end..range.end,
            Some(Kind::Punct("(")) if tree.closer(dot + 2) == Some(range.end - 1) => dot + 3..range.end - 1,
            _ => dot + 2..range.end,
        };
        let receiver = range.start..dot;
        if self.is_value(receiver.clone()) {
            return match method {
                "is_a?" | "kind_of?" => {
                    Ok(Test::Is(class(tree.name(argument.start).filter(|_| argument.len() == 1))?))
                }
                "match" | "match?" => match tree.literal(argument) {
                    Literal::Regex(source, flags) => matches(&source, &flags),
                    _ => Err(NotRead),
                },
                "empty?" if argument.is_empty() => Ok(Test::Empty),
                "include?" => {
                    Ok(Test::Contains(Symbol::new(tree.literal(argument).word().ok_or(NotRead)?).as_str()))
                }
                _ => Err(NotRead),
            };
        }
        match (method, tree.literal(receiver.clone())) {
            ("match" | "match?", Literal::Regex(source, flags)) if self.is_value(argument.clone()) => {
                matches(&source, &flags)
            }
            ("include?", Literal::Array(items)) if self.is_value(argument.clone()) => {
                let words: Option<Vec<&'static str>> = items
                    .iter()
                    .map(|item| match item {
                        Literal::Text(_) => item.word().map(|word| Symbol::new(word).as_str()),
                        _ => None,
                    })
                    .collect();
                Ok(Test::Among(words.ok_or(NotRead)?))
            }
            ("absolute_path?", _) if tree.name(receiver.start) == Some("Puppet::Util") => {
                let first = tree.split(argument, ",").into_iter().next().ok_or(NotRead)?;
                if self.is_value(first) { Ok(Test::Absolute) } else { Err(NotRead) }
            }
            ("absolute?", _) if argument.is_empty() => {
                let is_path = receiver.len() == 1
                    && tree.name(receiver.start).is_some_and(|name| self.paths.contains(name));
                if is_path || self.is_path_of_value(receiver) { Ok(Test::Absolute) } else { Err(NotRead) }
            }
            _ => Err(NotRead),
        }
    }

    fn trimmed(&self, mut range: Range<usize>) -> Range<usize> {
        let is_end = |at: usize| {
            matches!(self.tree.kind(at), Some(Kind::LineEnd)) || self.tree.name(at) == Some("then")
        };
        while range.start < range.end && is_end(range.start) {
            range.start += 1;
        }
        while range.start < range.end && is_end(range.end - 1) {
            range.end -= 1;
        }
        range
    }

    fn split(&self, range: &Range<usize>, sign: &str, word: &str) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut at) = (Vec::new(), range.start, range.start);
        while at < range.end {
            if self.tree.is(at, sign) || self.tree.name(at) == Some(word) {
                parts.push(start..at);
                start = at + 1;
            }
            at = self.tree.closer(at).filter(|end| *end < range.end).unwrap_or(at) + 1;
        }
        parts.push(start..range.end);
        parts
    }
}

/// Code that is not understood.
struct NotRead;

fn is_raise(tree: &Tree, at: usize) -> bool {
    match tree.name(at) {
        Some("raise" | "fail") => true,
        Some("self") => tree.is(at + 1, ".") && tree.name(at + 2) == Some("fail"),
        _ => false,
    }
}

fn matches(source: &[Part], flags: &str) -> Result<Test, NotRead> {
    Ok(Test::Matches(Symbol::new(&pattern(source, flags).ok_or(NotRead)?).as_str()))
}

fn class(name: Option<&str>) -> Result<Vec<Class>, NotRead> {
    Ok(match name.ok_or(NotRead)? {
        "String" => vec![Class::String],
        "Integer" | "Fixnum" => vec![Class::Integer],
        "Float" => vec![Class::Float],
        "Numeric" => vec![Class::Integer, Class::Float],
        "Array" => vec![Class::Array],
        "Hash" => vec![Class::Hash],
        "TrueClass" => vec![Class::True],
        "FalseClass" => vec![Class::False],
        _ => return Err(NotRead),
    })
}

#[cfg(test)]
mod tests {
    use setpoint_puppet_values::Value;

    use crate::ruby_types::read;

    /// What the type's `validate` says to a string; `None` if it was not read.
    fn refuses(body: &str, text: &str) -> Option<bool> {
        let text_of_type = format!(
            "Puppet::Type.newtype(:q) do\n newparam(:a) do\n validate do |v|\n{body}\n end\n end\nend\n"
        );
        let native = read(&text_of_type).unwrap().native;
        let attribute = native.attribute("a").unwrap();
        if attribute.code.is_some() {
            return None;
        }
        let answers: Option<Vec<bool>> =
            attribute.refusals.iter().map(|test| test.passes(&Value::string(text))).collect();
        answers.map(|answers| answers.contains(&true))
    }

    #[test]
    fn simple_validations_are_read_and_others_are_told() {
        assert_eq!(refuses("fail 'no'", "x"), Some(true));
        assert_eq!(refuses("unless v =~ /^[a-z]+$/\n raise ArgumentError, 'no'\n end", "abc"), Some(false));
        assert_eq!(refuses("unless v =~ /^[a-z]+$/\n raise ArgumentError, 'no'\n end", "A"), Some(true));
        assert_eq!(refuses("raise ArgumentError, 'no' unless %w[a b].include?(v)", "c"), Some(true));
        assert_eq!(
            refuses("raise ArgumentError, 'no' unless v.is_a?(String) || v.is_a?(Hash)", "c"),
            Some(false)
        );
        assert_eq!(
            refuses("path = Pathname.new(v)\n unless path.absolute?\n fail 'no'\n end", "c"),
            Some(true)
        );
        assert_eq!(refuses("resource.check(v)", "c"), None);
        assert_eq!(refuses("raise 'no' if other && v == 'a'", "c"), None);
    }
}
