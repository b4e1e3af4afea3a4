//! The declaration of a type: `Puppet::Type.newtype(:name) do … end`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use setpoint_source::Symbol;

use super::lexer::{Kind, Part};
use super::names;
use super::tree::{Literal, Tree};
use super::{RubyType, Unread};
use crate::{Attribute, AutoRelation, Check, NativeType, Relation, Role, TitlePattern};

/// The values of `ensure` that Puppet gives by itself.
const PRESENT_OR_ABSENT: [(&str, &str); 2] = [("present", "present"), ("absent", "absent")];

/// Reads the first type that the tokens declare.
pub(super) fn read(tree: &Tree) -> Option<RubyType> {
    let at = (0..tree.tokens.len()).find(|at| tree.name(*at) == Some("newtype"))?;
    let end = (at..tree.tokens.len()).find(|at| tree.name(*at) == Some("do"))?;
    let name = tree.arguments(at, end).first()?.word()?.to_owned();
    let body = end + 1..tree.closer(end).unwrap_or(tree.tokens.len());
    let declared = body.clone().filter(|at| is_declaration(tree.name(*at))).count();
    let mut reader = Reader { tree, ..Reader::new(tree) };
    reader.body(body, &BTreeMap::new(), 0);
    if reader.seen < declared {
        reader.open = true;
    }
    Some(reader.finish(&name))
}

fn is_declaration(name: Option<&str>) -> bool {
    matches!(name, Some("newparam" | "newproperty" | "newcheck"))
}

/// Whether a statement of a type is known to bring no parameter.
fn declares_nothing(name: &str) -> bool {
    name.starts_with('@')
        || matches!(
            name,
            "desc"
                | "feature"
                | "features"
                | "provide"
                | "newvalues"
                | "munge"
                | "validate"
                | "isnamevar"
                | "apply_to_host"
                | "apply_to_device"
                | "apply_to_all"
                | "apply_to"
                | "private"
                | "public"
                | "protected"
                | "require"
                | "require_relative"
                | "attr_reader"
                | "attr_writer"
                | "attr_accessor"
                | "class"
                | "module"
                | "alias"
                | "alias_method"
                | "raise"
                | "fail"
                | "return"
                | "end"
                | "else"
                | "elsif"
                | "rescue"
                | "ensure"
                | "self"
                | "include"
        )
}

/// Variables of the loops around a declaration, with the word that they stand for.
type Variables = BTreeMap<String, String>;

struct Reader<'a> {
    tree: &'a Tree,
    attributes: Vec<Attribute>,
    auto: Vec<AutoRelation>,
    title_patterns: Option<Vec<TitlePattern>>,
    refreshes: bool,
    isomorphic: bool,
    unread: Vec<Unread>,
    /// Declarations that were understood; further ones may come from code.
    seen: usize,
    open: bool,
}

impl<'a> Reader<'a> {
    fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            attributes: Vec::new(),
            auto: Vec::new(),
            title_patterns: None,
            refreshes: false,
            isomorphic: true,
            unread: Vec::new(),
            seen: 0,
            open: false,
        }
    }

    fn body(&mut self, range: Range<usize>, variables: &Variables, depth: usize) {
        // Code that nests deeper declares nothing that anybody has written.
        if depth > 8 {
            return;
        }
        for statement in self.tree.statements(range) {
            self.statement(&statement, variables, depth);
        }
    }

    fn statement(&mut self, statement: &Range<usize>, variables: &Variables, depth: usize) {
        let tree = self.tree;
        let at = statement.start;
        if self.each(statement, variables, depth) {
            return;
        }
        match tree.name(at) {
            Some("newparam" | "newcheck") => self.declaration(statement, Role::Parameter, variables),
            Some("newproperty") => self.declaration(statement, Role::Property, variables),
            Some("ensurable") => self.ensurable(statement),
            Some("autorequire") => self.automatic(statement, Relation::Require, variables),
            Some("autosubscribe") => self.automatic(statement, Relation::Subscribe, variables),
            Some("autobefore") => self.automatic(statement, Relation::Before, variables),
            Some("autonotify") => self.automatic(statement, Relation::Notify, variables),
            Some("def") => self.method(statement),
            Some(word @ ("if" | "unless" | "begin")) => {
                let end = tree.closer(at).unwrap_or(statement.end);
                // The condition is no statement.
                let condition = tree.statements(at + 1..end).first().map_or(at + 1, |first| first.end);
                let start = if word == "begin" { at + 1 } else { condition };
                self.body(start..end, variables, depth + 1);
            }
            Some("@isomorphic") => self.isomorphic = tree.name(at + 2) != Some("false"),
            Some(name) if declares_nothing(name) || self.tree.is(at + 1, "=") => {}
            // Whatever it is, it may declare more.
            Some(_) => self.open = true,
            None => {}
        }
    }

    /// `[:a, :b].each do |x| … end`: the body once for each element.
    fn each(&mut self, statement: &Range<usize>, variables: &Variables, depth: usize) -> bool {
        let tree = self.tree;
        let Some(end) = tree.closer(statement.start) else {
            let words = matches!(tree.kind(statement.start), Some(Kind::Words(_)));
            return words && self.loop_over(statement, statement.start + 1, variables, depth);
        };
        self.loop_over(statement, end + 1, variables, depth)
    }

    fn loop_over(
        &mut self,
        statement: &Range<usize>,
        dot: usize,
        variables: &Variables,
        depth: usize,
    ) -> bool {
        let tree = self.tree;
        if !tree.is(dot, ".") || tree.name(dot + 1) != Some("each") {
            return false;
        }
        let Some((open, body)) = tree.block(&(dot + 1..statement.end)) else { return false };
        let names = tree.block_parameters(open);
        let rounds: Vec<Vec<String>> = match tree.literal(statement.start..dot) {
            Literal::Array(items) => {
                items.iter().filter_map(|item| Some(vec![item.word()?.to_owned()])).collect()
            }
            Literal::Hash(pairs) => {
                let words = |(key, value): &(Literal, Literal)| {
                    Some(vec![key.word()?.to_owned(), value.word()?.to_owned()])
                };
                pairs.iter().filter_map(words).collect()
            }
            _ => return false,
        };
        let seen = self.seen;
        for words in &rounds {
            let mut inner = variables.clone();
            inner.extend(names.iter().map(|name| (*name).to_owned()).zip(words.iter().cloned()));
            self.seen = seen;
            self.body(body.clone(), &inner, depth + 1);
        }
        true
    }

    /// The word that an argument gives, looked up among the variables of loops.
    fn word(&self, literal: &Literal, variables: &Variables) -> Option<String> {
        if let Literal::Other(range) = literal
            && range.len() == 1
        {
            return variables.get(self.tree.name(range.start)?).cloned();
        }
        literal.word().map(str::to_owned)
    }

    fn declaration(&mut self, statement: &Range<usize>, role: Role, variables: &Variables) {
        let arguments = self.tree.arguments(statement.start, statement.end);
        let Some(name) = arguments.first().and_then(|first| self.word(first, variables)) else {
            return;
        };
        self.seen += 1;
        let options = arguments.get(1);
        let option = |key: &str| options.and_then(|options| options.get(key)).is_some();
        let mut attribute = Attribute {
            name: Symbol::new(&name).as_str(),
            role,
            namevar: name == "name" || option("namevar") || option("isnamevar"),
            check: Check::Values,
            values: Cow::Owned(Vec::new()),
            patterns: Cow::Owned(Vec::new()),
            kinds: "",
            managed_by: None,
        };
        if option("parent") {
            attribute.check = Check::Own;
        }
        if let Some((_, body)) = self.tree.block(statement) {
            self.attribute_body(body, &mut attribute);
        }
        self.add(attribute);
    }

    /// A later declaration of the same name replaces the earlier one.
    fn add(&mut self, attribute: Attribute) {
        self.attributes.retain(|known| known.name != attribute.name);
        self.attributes.push(attribute);
    }

    fn attribute_body(&mut self, body: Range<usize>, attribute: &mut Attribute) {
        for statement in self.tree.statements(body) {
            let name = self.tree.name(statement.start);
            match name {
                Some("isnamevar") => attribute.namevar = true,
                Some("newvalue" | "newvalues") => {
                    let mut values = self.tree.arguments(statement.start, statement.end);
                    // `newvalue(:a, event: :b)` has options after its value.
                    if name == Some("newvalue") {
                        values.truncate(1);
                    }
                    for value in &values {
                        allow(value, attribute);
                    }
                }
                Some("aliasvalue") => {
                    let values = self.tree.arguments(statement.start, statement.end);
                    if let [spelling, value] = values.as_slice()
                        && let (Some(spelling), Some(value)) = (spelling.word(), value.word())
                    {
                        let pair = (Symbol::new(spelling).as_str(), Symbol::new(value).as_str());
                        attribute.values.to_mut().push(pair);
                    }
                }
                // What `ensurable` has without a block; a block asks for it by name.
                Some("defaultvalues") => attribute.values.to_mut().extend(PRESENT_OR_ABSENT),
                // What the code says is learnt by running it.
                Some("validate") => attribute.check = Check::Own,
                _ => {}
            }
        }
    }

    fn ensurable(&mut self, statement: &Range<usize>) {
        let mut attribute = Attribute {
            name: "ensure",
            role: Role::Property,
            namevar: false,
            check: Check::Values,
            values: Cow::Owned(Vec::new()),
            patterns: Cow::Owned(Vec::new()),
            kinds: "",
            managed_by: None,
        };
        if let Some((_, body)) = self.tree.block(statement) {
            self.attribute_body(body, &mut attribute);
        }
        if attribute.values.is_empty() && attribute.patterns.is_empty() {
            attribute.values = Cow::Borrowed(&PRESENT_OR_ABSENT);
        }
        self.add(attribute);
    }

    fn automatic(&mut self, statement: &Range<usize>, relation: Relation, variables: &Variables) {
        let line = self.tree.line(statement.start);
        let what = relation.as_str();
        let target = self.tree.arguments(statement.start, statement.end);
        let target = target.first().and_then(|first| self.word(first, variables));
        let block = self.tree.block(statement);
        let (Some(target), Some((_, body))) = (target, block) else {
            self.unread.push(Unread { line, what: format!("an automatic {what}") });
            return;
        };
        let (names, whole) = names::read(self.tree, body);
        if !whole {
            self.unread.push(Unread { line, what: format!("an automatic {what} of {target}") });
        }
        if !names.is_empty() {
            self.auto.push(AutoRelation { relation, target: Symbol::new(&target).as_str(), names });
        }
    }

    fn method(&mut self, statement: &Range<usize>) {
        let tree = self.tree;
        let at = statement.start + 1;
        if tree.name(at) == Some("refresh") {
            self.refreshes = true;
        }
        if tree.name(at) == Some("self") && tree.name(at + 2) == Some("title_patterns") {
            let end = tree.closer(statement.start).unwrap_or(statement.end);
            self.title_patterns = Some(self.patterns(at + 3..end));
            if self.title_patterns.as_ref().is_some_and(Vec::is_empty) {
                let line = tree.line(at);
                self.unread.push(Unread { line, what: "how titles are taken apart".to_owned() });
            }
        }
    }

    /// `[[/regex/, [[:a], [:b]]], …]`, if the method only gives that; the expressions may be made of others that have a
    /// name.
    fn patterns(&self, body: Range<usize>) -> Vec<TitlePattern> {
        let mut statements = self.tree.statements(body);
        let Some(last) = statements.pop() else { return Vec::new() };
        let mut parts = BTreeMap::new();
        for statement in statements {
            if let (Some(name), true) =
                (self.tree.name(statement.start), self.tree.is(statement.start + 1, "="))
                && let Some(source) = self.expression(statement.start + 2..statement.end, &parts)
            {
                parts.insert(name.to_owned(), source);
            }
        }
        if let Some(patterns) = self.split_patterns(&last) {
            return patterns;
        }
        let Literal::Array(items) = self.tree.literal(last) else { return Vec::new() };
        let read = |item: &Literal| -> Option<TitlePattern> {
            let Literal::Array(fields) = item else { return None };
            let [Literal::Regex(source, flags), Literal::Array(groups)] = fields.as_slice() else {
                return None;
            };
            let source = &[Part::Text(composed(source, &parts)?)];
            let names: Option<Vec<&'static str>> = groups
                .iter()
                .map(|group| {
                    let Literal::Array(items) = group else { return None };
                    Some(Symbol::new(items.first()?.word()?).as_str())
                })
                .collect();
            let names: &'static [&'static str] = Vec::leak(names?);
            Some((Symbol::new(&pattern(source, flags)?).as_str(), names))
        };
        items.iter().map(read).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// The source of a regular expression that is written out, wrapped in `Regexp.new`, or has a name.
    fn expression(&self, range: Range<usize>, parts: &BTreeMap<String, String>) -> Option<String> {
        let at = range.start;
        if self.tree.name(at) == Some("Regexp") && self.tree.is(at + 1, ".") && self.tree.is(at + 3, "(") {
            let end = self.tree.closer(at + 3)?;
            return self.expression(at + 4..end, parts);
        }
        if let Literal::Regex(source, _) = self.tree.literal(range.clone()) {
            return composed(&source, parts);
        }
        let last = self.tree.name(range.end.checked_sub(1)?)?;
        match (range.len(), last) {
            (1, name) => parts.get(name).cloned(),
            // Of Keystone's own library.
            (_, "not_two_colon_regex") => Some(NOT_TWO_COLONS.to_owned()),
            _ => None,
        }
    }

    /// `…basic_split_title_patterns(:a, :b)` of Keystone's own library: `a::b`, or `a` alone.
    fn split_patterns(&self, range: &Range<usize>) -> Option<Vec<TitlePattern>> {
        let at = range.clone().find(|at| self.tree.name(*at) == Some("basic_split_title_patterns"))?;
        let arguments = self.tree.arguments(at, range.end);
        let [first, second] = arguments.as_slice() else { return None };
        let (first, second) = (Symbol::new(first.word()?).as_str(), Symbol::new(second.word()?).as_str());
        let both = format!("(?m)^({NOT_TWO_COLONS})::({NOT_TWO_COLONS})$");
        let one = format!("(?m)^({NOT_TWO_COLONS})$");
        let both = (Symbol::new(&both).as_str(), &*Vec::leak(vec![first, second]));
        Some(vec![both, (Symbol::new(&one).as_str(), &*Vec::leak(vec![first]))])
    }

    fn finish(mut self, name: &str) -> RubyType {
        let namevars: Vec<&'static str> = self
            .attributes
            .iter()
            .filter(|attribute| attribute.namevar && attribute.role == Role::Parameter)
            .map(|attribute| attribute.name)
            .collect();
        if self.attributes.iter().all(|attribute| attribute.name != "provider") {
            self.add(Attribute {
                name: "provider",
                role: Role::Parameter,
                namevar: false,
                check: Check::Own,
                values: Cow::Borrowed(&[]),
                patterns: Cow::Borrowed(&[]),
                kinds: "",
                managed_by: None,
            });
        }
        self.attributes.sort_by_key(|attribute| attribute.name);
        let name = Symbol::new(&name.to_lowercase()).as_str();
        RubyType {
            native: NativeType {
                name,
                module: None,
                attributes: Cow::Owned(self.attributes),
                namevars: Cow::Owned(namevars),
                title_patterns: Cow::Owned(self.title_patterns.unwrap_or_default()),
                isomorphic: self.isomorphic,
                refreshes: self.refreshes,
                providers: Cow::Borrowed(&[]),
                auto: Cow::Owned(self.auto),
                open: self.open,
            },
            unread: self.unread,
        }
    }
}

/// Anything but two colons in a row.
const NOT_TWO_COLONS: &str = "(?:[^:]|:[^:])+";

/// A regular expression with the named ones that stand in it.
fn composed(source: &[Part], parts: &BTreeMap<String, String>) -> Option<String> {
    let mut text = String::new();
    for part in source {
        match part {
            Part::Text(part) => text += part,
            Part::Code(name) => text += parts.get(name.trim())?,
        }
    }
    Some(text)
}

/// Adds what `newvalues` names.
fn allow(value: &Literal, attribute: &mut Attribute) {
    match value {
        Literal::Regex(source, flags) => match pattern(source, flags) {
            Some(text) => attribute.patterns.to_mut().push(Symbol::new(&text).as_str()),
            None => attribute.check = Check::Own,
        },
        Literal::True => attribute.values.to_mut().push(("true", "true")),
        other => match other.word() {
            Some(word) => {
                let word = Symbol::new(word).as_str();
                attribute.values.to_mut().push((word, word));
            }
            // A value that code computes: anything may be allowed.
            None => attribute.check = Check::Own,
        },
    }
}

/// A regular expression of Ruby in the syntax of ours; `None` if code is in it.
pub(super) fn pattern(source: &[Part], flags: &str) -> Option<String> {
    let [Part::Text(text)] = source else { return None };
    let mut out = String::from("(?m)");
    if flags.contains('m') {
        out.push_str("(?s)");
    }
    if flags.contains('i') {
        out.push_str("(?i)");
    }
    if flags.contains('x') {
        out.push_str("(?x)");
    }
    Some(out + &text.replace("\\/", "/"))
}
