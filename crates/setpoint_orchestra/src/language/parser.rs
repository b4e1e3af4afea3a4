//! Recursive descent with recovery at the next item, member or clause.

use setpoint_source::{Diagnostic, FileId, Limit, Range, Rule, Severity, Symbol};

use super::lexer::{Lexed, Token, TokenKind, lex};
use super::syntax::{
    Binder, Claim, Class, Clause, Edge, Effect, EffectKind, Formula, FormulaKind, Item, Member, Name,
    ObjectItem, Path, Quoted, RuleFile, RuleItem,
};

/// Formulas nest no deeper than this; a deeper one is refused instead of using up the stack.
const MAX_DEPTH: Limit = Limit::new(200);

/// A tree, which may have holes, and what is wrong with the text.
#[derive(Debug)]
pub struct Parsed {
    pub file: RuleFile,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn parse(id: FileId, text: &str) -> Parsed {
    let Lexed { tokens, comments } = lex(text);
    let mut parser = Parser { id, text, tokens, at: 0, depth: 0, diagnostics: Vec::new() };
    let items = parser.items();
    Parsed { file: RuleFile { items, comments }, diagnostics: parser.diagnostics }
}

struct Parser<'a> {
    id: FileId,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    diagnostics: Vec<Diagnostic>,
}

const ITEM_WORDS: [&str; 10] =
    ["model", "use", "class", "extend", "rule", "require", "init", "final", "invariant", "instance"];
/// Words that are never names, so that what follows a forgotten name is still understood.
const RESERVED: [&str; 11] =
    ["when", "then", "where", "and", "or", "not", "implies", "all", "some", "true", "false"];
const BLOCK_WORDS: [&str; 8] = ["types", "states", "messages", "ordered", "link", "when", "then", "acyclic"];

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn previous_end(&self) -> u32 {
        self.at.checked_sub(1).map_or(0, |at| self.tokens[at].range.end)
    }

    fn since(&self, start: Range) -> Range {
        Range { start: start.start, end: self.previous_end().max(start.end) }
    }

    fn slice(&self, range: Range) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }

    fn word(&self) -> Option<&str> {
        (self.kind() == TokenKind::Word).then(|| self.slice(self.token().range))
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn error(&mut self, range: Range, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Rule::SyntaxError, message).at(range.in_file(self.id)));
    }

    fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.slice(self.token().range)),
        }
    }

    fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.found());
        self.error(self.token().range, message);
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(what);
        }
        found
    }

    fn name(&mut self, what: &str) -> Option<Name> {
        if self.word().is_some_and(|word| !RESERVED.contains(&word)) {
            let range = self.bump().range;
            Some(Name { text: Symbol::new(self.slice(range)), range })
        } else {
            self.expected(what);
            None
        }
    }

    fn names(&mut self, separator: TokenKind, what: &str) -> Vec<Name> {
        let mut names = Vec::new();
        while let Some(name) = self.name(what) {
            names.push(name);
            if !self.eat(separator) {
                break;
            }
        }
        names
    }

    fn quoted(&mut self) -> Option<Quoted> {
        if self.kind() != TokenKind::Text {
            return None;
        }
        let range = self.bump().range;
        Some(Quoted { text: self.slice(range).trim_matches('"').to_owned(), range })
    }

    fn at_item(&self) -> bool {
        self.kind() == TokenKind::End || self.word().is_some_and(|word| ITEM_WORDS.contains(&word))
    }

    /// Skips to the next place where a block's next part, its end, or an item can begin.
    fn recover_in_block(&mut self) {
        while !matches!(self.kind(), TokenKind::End | TokenKind::BraceClose)
            && !self.word().is_some_and(|word| BLOCK_WORDS.contains(&word) || ITEM_WORDS.contains(&word))
        {
            self.bump();
        }
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while self.kind() != TokenKind::End {
            if !self.at_item() {
                self.expected(
                    "`class`, `extend`, `rule`, `require`, `init`, `final`, `invariant`, `instance`, `model` or `use`",
                );
                self.bump();
                while !self.at_item() {
                    self.bump();
                }
                continue;
            }
            if let Some(item) = self.item() {
                items.push(item);
            } else {
                while !self.at_item() {
                    self.bump();
                }
            }
        }
        items
    }

    fn item(&mut self) -> Option<Item> {
        let start = self.bump().range;
        match self.slice(start) {
            "model" => {
                let name = self.name("the model's name")?;
                let title = self.quoted();
                Some(Item::Model { name, title, range: self.since(start) })
            }
            "use" => {
                let Some(path) = self.quoted() else {
                    self.expected("the path of a rule file, in double quotes");
                    return None;
                };
                Some(Item::Use { path, range: self.since(start) })
            }
            "class" => self.class(start).map(Item::Class),
            "extend" => self.class(start).map(Item::Extend),
            "rule" => self.rule(start).map(Item::Rule),
            "require" => {
                let claims = self.claims()?;
                Some(Item::Require { claims, range: self.since(start) })
            }
            "init" => {
                let claims = self.claims()?;
                Some(Item::Init { claims, range: self.since(start) })
            }
            "final" => {
                let claims = self.claims()?;
                Some(Item::Final { claims, range: self.since(start) })
            }
            "invariant" => {
                let name = self.name("the invariant's name")?;
                let claims = self.claims()?;
                Some(Item::Invariant { name, claims, range: self.since(start) })
            }
            _ => self.instance(start),
        }
    }

    fn block_open(&mut self) -> Option<()> {
        self.expect(TokenKind::BraceOpen, "`{`").then_some(())
    }

    /// Whether the block goes on: not at its `}`, which is eaten, and not at an item, where the `}` is missed.
    fn block_goes_on(&mut self, item_words_end: bool) -> bool {
        if self.eat(TokenKind::BraceClose) {
            return false;
        }
        if self.kind() == TokenKind::End || (item_words_end && self.at_item()) {
            self.expected("`}`");
            return false;
        }
        true
    }

    fn class(&mut self, start: Range) -> Option<Class> {
        let name = self.name("the class's name")?;
        self.block_open()?;
        let mut members = Vec::new();
        while self.block_goes_on(true) {
            let begin = self.token().range;
            let word = self.word().map(str::to_owned);
            match word.as_deref() {
                Some("types") => {
                    self.bump();
                    let names = self.names(TokenKind::Comma, "a type");
                    members.push(Member::Types(names, self.since(begin)));
                }
                Some("states") => {
                    self.bump();
                    let names = self.names(TokenKind::Comma, "a state");
                    members.push(Member::States(names, self.since(begin)));
                }
                Some("messages") => {
                    self.bump();
                    let names = self.names(TokenKind::Comma, "a message");
                    members.push(Member::Messages(names, self.since(begin)));
                }
                Some("ordered") => {
                    self.bump();
                    members.push(Member::Ordered(begin));
                }
                Some("link") => {
                    self.bump();
                    if let Some(link) = self.link(begin) {
                        members.push(link);
                    } else {
                        self.recover_in_block();
                    }
                }
                _ => {
                    self.expected("`types`, `states`, `messages`, `ordered`, `link` or `}`");
                    self.bump();
                    self.recover_in_block();
                }
            }
        }
        Some(Class { name, members, range: self.since(start) })
    }

    fn link(&mut self, begin: Range) -> Option<Member> {
        let name = self.name("the link's name")?;
        self.expect(TokenKind::Colon, "`:` and the class that the link leads to").then_some(())?;
        let target = self.name("the class that the link leads to")?;
        let one_to_one = self.eat_word("one-to-one");
        if !one_to_one {
            self.eat_word("many-to-one");
        }
        let onto = self.eat_word("onto");
        Some(Member::Link { name, target, one_to_one, onto, range: self.since(begin) })
    }

    fn rule(&mut self, start: Range) -> Option<RuleItem> {
        let name = self.name("the rule's name")?;
        let title = self.quoted();
        self.expect(TokenKind::Open, "`(` and the objects that the rule is about").then_some(())?;
        let mut parameters = Vec::new();
        while self.kind() != TokenKind::Close {
            parameters.push(self.binder()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Close, "`)`").then_some(())?;
        self.block_open()?;
        let mut clauses = Vec::new();
        while self.block_goes_on(true) {
            let begin = self.token().range;
            if self.eat_word("when") {
                let formula = self.formula();
                clauses.push(Clause::When(formula, self.since(begin)));
            } else if self.eat_word("then") {
                let mut effects = Vec::new();
                while let Some(effect) = self.effect() {
                    effects.push(effect);
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                clauses.push(Clause::Then(effects, self.since(begin)));
            } else {
                self.expected("`when`, `then` or `}`");
                self.bump();
                self.recover_in_block();
            }
        }
        Some(RuleItem { name, title, parameters, clauses, range: self.since(start) })
    }

    fn binder(&mut self) -> Option<Binder> {
        let name = self.name("a variable")?;
        self.expect(TokenKind::Colon, "`:` and the variable's class").then_some(())?;
        let class = self.name("a class")?;
        Some(Binder { name, class })
    }

    fn effect(&mut self) -> Option<Effect> {
        let path = self.path()?;
        let kind = match self.word() {
            Some("becomes") => EffectKind::Becomes,
            Some("gets") => EffectKind::Gets,
            Some("loses") => EffectKind::Loses,
            _ => {
                self.expected("`becomes` and a state, or `gets` or `loses` and a message");
                self.recover_in_block();
                return None;
            }
        };
        self.bump();
        let value = self.name(if kind == EffectKind::Becomes { "a state" } else { "a message" })?;
        let range = path.range.to(value.range);
        Some(Effect { path, kind, value, range })
    }

    fn path(&mut self) -> Option<Path> {
        let root = self.name("a variable")?;
        let mut links = Vec::new();
        while self.eat(TokenKind::Dot) {
            links.push(self.name("a link")?);
        }
        let range = links.last().map_or(root.range, |last| root.range.to(last.range));
        Some(Path { root, links, range })
    }

    fn claims(&mut self) -> Option<Vec<Claim>> {
        self.block_open()?;
        let mut claims = Vec::new();
        while self.block_goes_on(true) {
            let begin = self.token().range;
            let before = self.at;
            if self.eat_word("acyclic") {
                let mut edges = Vec::new();
                while let Some(edge) = self.edge() {
                    edges.push(edge);
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                claims.push(Claim::Acyclic { edges, range: self.since(begin) });
            } else {
                claims.push(Claim::Formula(self.formula()));
            }
            if self.at == before {
                self.bump();
            }
        }
        Some(claims)
    }

    fn edge(&mut self) -> Option<Edge> {
        let from = self.path()?;
        self.expect(TokenKind::Arrow, "`->`").then_some(())?;
        let to = self.path()?;
        if !self.eat_word("for") {
            self.expected("`for` and the variable of the relation");
            return None;
        }
        let binder = self.binder()?;
        let filter = self.eat_word("where").then(|| self.formula());
        let range = self.since(from.range);
        Some(Edge { from, to, binder, filter, range })
    }

    fn instance(&mut self, start: Range) -> Option<Item> {
        let name = self.name("the instance's name")?;
        self.block_open()?;
        let mut objects = Vec::new();
        while self.block_goes_on(false) {
            let before = self.at;
            if let Some(object) = self.object() {
                objects.push(object);
            } else {
                self.recover_in_block();
                if self.at == before {
                    self.bump();
                }
            }
        }
        Some(Item::Instance { name, objects, range: self.since(start) })
    }

    fn object(&mut self) -> Option<ObjectItem> {
        let begin = self.token().range;
        let names = self.names(TokenKind::Comma, "an object's name");
        self.expect(TokenKind::Colon, "`:` and the class of the object").then_some(())?;
        let class = self.name("a class")?;
        let kind = if self.eat_word("of") { Some(self.name("a type")?) } else { None };
        let state = if self.eat_word("is") { Some(self.name("a state")?) } else { None };
        let mut links = Vec::new();
        if self.eat(TokenKind::BraceOpen) {
            while self.kind() != TokenKind::BraceClose {
                let link = self.name("a link")?;
                self.expect(TokenKind::Equals, "`=`").then_some(())?;
                links.push((link, self.name("an object")?));
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::BraceClose, "`}`").then_some(())?;
        }
        Some(ObjectItem { names, class, kind, state, links, range: self.since(begin) })
    }

    // Formulas: `implies` binds least and to the right, then `or`, then `and`, then `not`.

    fn formula(&mut self) -> Formula {
        if self.depth >= MAX_DEPTH {
            let range = self.token().range;
            let message = format!("this formula is nested more than {MAX_DEPTH} deep");
            let finding = Diagnostic::new(Rule::LimitReached, message).severity(Severity::Error);
            self.diagnostics.push(finding.at(range.in_file(self.id)));
            self.recover_in_block();
            return Formula { kind: FormulaKind::Broken, range };
        }
        self.depth += 1;
        let left = self.disjunction();
        let formula = if self.eat_word("implies") {
            let right = self.formula();
            let range = left.range.to(right.range);
            Formula { kind: FormulaKind::Implies(Box::new(left), Box::new(right)), range }
        } else {
            left
        };
        self.depth -= 1;
        formula
    }

    fn disjunction(&mut self) -> Formula {
        self.chain("or", FormulaKind::Or, Self::conjunction)
    }

    fn conjunction(&mut self) -> Formula {
        self.chain("and", FormulaKind::And, Self::unary)
    }

    /// Operands joined by one word, as one flat list: a long chain makes no deep tree.
    fn chain(
        &mut self,
        word: &str,
        kind: fn(Vec<Formula>) -> FormulaKind,
        operand: fn(&mut Self) -> Formula,
    ) -> Formula {
        let first = operand(self);
        if !self.is_word(word) {
            return first;
        }
        let start = first.range;
        let mut operands = vec![first];
        while self.eat_word(word) {
            operands.push(operand(self));
        }
        Formula { kind: kind(operands), range: self.since(start) }
    }

    fn unary(&mut self) -> Formula {
        let start = self.token().range;
        let mut negations = 0;
        while self.eat_word("not") {
            negations += 1;
        }
        let mut formula = self.primary();
        // Two negations are none: the tree does not grow with them.
        if negations % 2 == 1 {
            let range = self.since(start);
            formula = Formula { kind: FormulaKind::Not(Box::new(formula)), range };
        }
        formula
    }

    fn primary(&mut self) -> Formula {
        let start = self.token().range;
        if self.eat(TokenKind::Open) {
            let mut inner = self.formula();
            self.expect(TokenKind::Close, "`)`");
            inner.range = self.since(start);
            return inner;
        }
        if self.peek(1) != TokenKind::Dot {
            match self.word() {
                Some("true") => {
                    self.bump();
                    return Formula { kind: FormulaKind::Constant(true), range: start };
                }
                Some("false") => {
                    self.bump();
                    return Formula { kind: FormulaKind::Constant(false), range: start };
                }
                Some("all") => return self.quantified(true),
                Some("some") => return self.quantified(false),
                _ => {}
            }
        }
        let kind = self.atom().unwrap_or_else(|| {
            self.recover_in_block();
            FormulaKind::Broken
        });
        Formula { kind, range: self.since(start) }
    }

    fn quantified(&mut self, all: bool) -> Formula {
        let start = self.bump().range;
        let Some(binder) = self.binder() else {
            self.recover_in_block();
            return Formula { kind: FormulaKind::Broken, range: self.since(start) };
        };
        let filter = self.eat_word("where").then(|| Box::new(self.formula()));
        let body = if self.eat(TokenKind::BraceOpen) {
            let body = self.formula();
            self.expect(TokenKind::BraceClose, "`}`");
            Some(Box::new(body))
        } else {
            if all {
                self.expected("`{` and what holds for all of them");
            }
            None
        };
        Formula { kind: FormulaKind::Quantified { all, binder, filter, body }, range: self.since(start) }
    }

    fn atom(&mut self) -> Option<FormulaKind> {
        if self.kind() != TokenKind::Word {
            self.expected("a condition");
            return None;
        }
        let path = self.path()?;
        if matches!(self.kind(), TokenKind::Equals | TokenKind::NotEquals) {
            let negated = self.bump().kind == TokenKind::NotEquals;
            let right = self.path()?;
            return Some(FormulaKind::Equal { left: path, right, negated });
        }
        match self.word() {
            Some("is") => {
                self.bump();
                let negated = self.eat_word("not");
                let states = self.names(TokenKind::Bar, "a state");
                Some(FormulaKind::State { path, negated, states })
            }
            Some("of") => {
                self.bump();
                let negated = self.eat_word("not");
                let types = self.names(TokenKind::Bar, "a type");
                Some(FormulaKind::Type { path, negated, types })
            }
            Some("has") => {
                self.bump();
                // A message may be called `several`.
                let several =
                    self.is_word("several") && self.peek(1) == TokenKind::Word && self.eat_word("several");
                let message = self.name("a message")?;
                Some(FormulaKind::Message { path, several, message })
            }
            Some("before") => {
                self.bump();
                let right = self.path()?;
                Some(FormulaKind::Before { left: path, right })
            }
            _ => {
                self.expected("`is`, `of`, `has`, `before`, `=` or `!=` after the object");
                None
            }
        }
    }
}
