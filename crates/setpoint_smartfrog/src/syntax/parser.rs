//! From tokens to the tree, by recursive descent, with recovery at the next `;` or `}`.

use std::sync::Arc;

use setpoint_source::{Diagnostic, FileId, Range, Rule, Span, Symbol};

use super::ast::{
    Assignment, Body, Component, Expression, ExpressionKind, Operator, OrderConstraint, Part, Prototype,
    Reference, Value,
};
use super::include::Includer;
use super::lexer::{Kind, Token};
use super::{Dialect, MAX_NESTING, reader};

/// After so many errors in one file the rest are left out: they are seldom news.
const MAX_ERRORS: usize = 50;

pub(super) struct Parser<'t, 'i, 'f> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    pub(super) file: FileId,
    pub(super) dialect: Dialect,
    pub(super) includer: &'i mut Includer<'f>,
    at: usize,
    depth: usize,
    errors: usize,
    /// The file ended inside a component, which has been reported.
    ended: bool,
}

/// The statement could not be read; what is wrong has been reported.
struct Stop;

type Parse<T> = Result<T, Stop>;

impl<'t, 'i, 'f> Parser<'t, 'i, 'f> {
    pub(super) fn new(
        (text, tokens): (&'t str, &'t [Token]),
        file: FileId,
        dialect: Dialect,
        includer: &'i mut Includer<'f>,
        depth: usize,
    ) -> Self {
        Self { text, tokens, file, dialect, includer, at: 0, depth, errors: 0, ended: false }
    }

    /// A whole file.
    pub(super) fn specification(&mut self) -> Body {
        let mut body = Body::default();
        loop {
            self.statements(&mut body);
            if self.kind() == Kind::End {
                return body;
            }
            self.error(self.here(), "there is no `{` that this `}` would close");
            self.at += 1;
        }
    }

    fn token(&self, ahead: usize) -> Token {
        let end = Token { kind: Kind::End, range: Range::new(self.text.len(), self.text.len()) };
        self.tokens.get(self.at + ahead).copied().unwrap_or(end)
    }

    fn kind(&self) -> Kind {
        self.token(0).kind
    }

    fn here(&self) -> Span {
        self.token(0).range.in_file(self.file)
    }

    /// From the start of a token up to the token that was read last.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens.get(self.at.saturating_sub(1)).map_or(start.range, |token| token.range);
        start.range.to(last).in_file(self.file)
    }

    fn slice(&self, token: Token) -> &'t str {
        self.text.get(token.range.start as usize..token.range.end as usize).unwrap_or("")
    }

    fn word_is(&self, ahead: usize, word: &str) -> bool {
        let token = self.token(ahead);
        token.kind == Kind::Word && self.slice(token) == word
    }

    fn take(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        self.at += usize::from(found && kind != Kind::End);
        found
    }

    /// Takes a keyword of the production language; in the core language it is a name.
    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.dialect == Dialect::Production && self.word_is(0, word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: Kind, wanted: &str) -> Parse<()> {
        if self.take(kind) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    fn expect_keyword(&mut self, word: &str) -> Parse<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(Rule::SyntaxError, message).at(span));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        if self.errors <= MAX_ERRORS {
            self.includer.diagnostics.push(diagnostic);
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Stop {
        let token = self.token(0);
        let found = match token.kind {
            Kind::End => "the file ends".to_owned(),
            _ => format!("there is `{}`", shorten(self.slice(token))),
        };
        let mut diagnostic =
            Diagnostic::new(Rule::SyntaxError, format!("{found} where {wanted} is expected"));
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied();
        if let Some(before) = before.filter(|_| token.kind == Kind::End || wanted == "`;`") {
            // What is missing is missing after the last thing that was there.
            diagnostic = diagnostic.with_label(before.range.in_file(self.file), "after this");
        }
        if self.dialect != Dialect::Production
            && before.is_some_and(|before| is_production_keyword(self.slice(before)))
        {
            let word = self.slice(before.unwrap_or(token));
            diagnostic = diagnostic.with_help(format!(
                "`{word}` is a keyword of the production language only: `--semantics production` reads it"
            ));
        }
        self.report(diagnostic.at(token.range.in_file(self.file)));
        Stop
    }

    /// Goes on after the next `;`, or before the `}` that closes the component.
    fn recover(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.kind() {
                Kind::End => return,
                Kind::Semicolon if open == 0 => {
                    self.at += 1;
                    return;
                }
                Kind::LeftBrace => open += 1,
                Kind::RightBrace if open == 0 => return,
                Kind::RightBrace => open -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Statements up to a `}` or the end of the file, neither of which is taken.
    fn statements(&mut self, body: &mut Body) {
        loop {
            let before = self.at;
            match self.kind() {
                Kind::End | Kind::RightBrace => return,
                Kind::Semicolon => self.at += 1,
                Kind::Include | Kind::OptionalInclude | Kind::Codebase => {
                    if self.include(body).is_err() {
                        self.recover();
                    }
                }
                _ => {
                    if self.statement(body).is_err() {
                        self.recover();
                    }
                }
            }
            if self.at == before {
                // Recovery stopped at a `}` that is not ours to take, or made no way: never stand still.
                if matches!(self.kind(), Kind::End | Kind::RightBrace) {
                    return;
                }
                self.at += 1;
            }
        }
    }

    fn include(&mut self, body: &mut Body) -> Parse<()> {
        if self.take(Kind::Codebase) {
            self.string("the address of the code base")?;
        }
        let start = self.here();
        let optional = self.kind() == Kind::OptionalInclude;
        if !optional && self.kind() != Kind::Include {
            return Err(self.unexpected("`#include`"));
        }
        self.at += 1;
        let path = self.string("the name of the file to include, in quotes,")?;
        let included = self.includer.include(&path, optional, self.since(start), self.dialect, self.depth);
        body.assignments.extend(included.assignments);
        body.orders.extend(included.orders);
        self.take(Kind::Semicolon);
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Parse<()> {
        if self.word_is(0, "order") && self.token(1).kind == Kind::Word && self.token(2).kind == Kind::Less {
            return self.order(body);
        }
        let tags = if self.take(Kind::LeftBracket) { self.tags()? } else { Vec::new() };
        let start = self.here();
        let target = self.target()?;
        let span = self.since(start);
        let value = if self.word_is(0, "extends") {
            Value::Component(self.component()?)
        } else if self.kind() == Kind::Semicolon {
            let kind = ExpressionKind::Null;
            let value = Value::Expression(Expression { kind, span: self.here(), unique: None });
            self.at += 1;
            value
        } else {
            let value = self.expression()?;
            // The value is there: a missing `;` is reported without losing it. The shipped grammar needs none.
            let closed = if self.dialect == Dialect::Production {
                self.take(Kind::Semicolon);
                Ok(())
            } else {
                self.expect(Kind::Semicolon, "`;`")
            };
            body.assignments.push(Assignment { tags, target, span, value: Value::Expression(value) });
            return closed;
        };
        body.assignments.push(Assignment { tags, target, span, value });
        Ok(())
    }

    /// `order a < b < c;`
    fn order(&mut self, body: &mut Body) -> Parse<()> {
        let start = self.here();
        self.at += 1;
        let mut names = vec![self.name("the name of an attribute")?];
        while self.take(Kind::Less) {
            names.push(self.name("the name of an attribute")?);
        }
        let span = self.since(start);
        let pairs = names.windows(2);
        body.orders.extend(pairs.map(|pair| OrderConstraint { before: pair[0], after: pair[1], span }));
        self.expect(Kind::Semicolon, "`;`")
    }

    fn tags(&mut self) -> Parse<Vec<Symbol>> {
        let mut tags = Vec::new();
        while !self.take(Kind::RightBracket) {
            tags.push(self.name("a tag")?);
            self.take(Kind::Comma);
        }
        Ok(tags)
    }

    fn target(&mut self) -> Parse<Vec<Symbol>> {
        let mut names = Vec::with_capacity(1);
        loop {
            names.push(if self.take(Kind::Unique) {
                self.includer.unique()
            } else {
                self.name("the name of an attribute")?
            });
            if !self.take(Kind::Colon) {
                return Ok(names);
            }
        }
    }

    /// A word that is no keyword, or a string.
    fn name(&mut self, wanted: &str) -> Parse<Symbol> {
        let token = self.token(0);
        match token.kind {
            Kind::Word if !self.is_keyword(self.slice(token)) => {
                self.at += 1;
                Ok(Symbol::new(self.slice(token)))
            }
            Kind::String => Ok(Symbol::new(&self.string(wanted)?)),
            _ => Err(self.unexpected(wanted)),
        }
    }

    fn is_keyword(&self, word: &str) -> bool {
        matches!(word, "extends" | "DATA" | "NULL" | "true" | "false")
            || self.dialect == Dialect::Production && is_production_keyword(word)
    }

    fn string(&mut self, wanted: &str) -> Parse<Arc<str>> {
        let token = self.token(0);
        let quotes = match token.kind {
            Kind::String => 1,
            Kind::MultilineString => 2,
            _ => return Err(self.unexpected(wanted)),
        };
        self.at += 1;
        let text = self.slice(token);
        let inner = text.get(quotes..text.len() - 1).unwrap_or("");
        reader::unescape(inner).or_else(|escape| {
            self.error(
                token.range.in_file(self.file),
                format!("`{escape}` is no escape; write `\\\\` for a backslash"),
            );
            Ok(inner.into())
        })
    }

    /// `extends …`, with the `;` that may close it.
    fn component(&mut self) -> Parse<Component> {
        let start = self.here();
        self.at += 1;
        let lazy = self.take_keyword("LAZY");
        let data = lazy || self.word_is(0, "DATA") && self.take(Kind::Word);
        let mut prototypes = Vec::new();
        let mut comma = false;
        loop {
            let token = self.token(0);
            match token.kind {
                Kind::LeftBrace => prototypes.push(self.prototype_body()?),
                Kind::Word if self.word_is(0, "NULL") && (comma || prototypes.is_empty()) => self.at += 1,
                Kind::Word
                    if (comma || prototypes.is_empty())
                        && !self.is_keyword_outside_references(self.slice(token)) =>
                {
                    prototypes.push(Prototype::Reference(self.reference()?));
                }
                _ if comma => return Err(self.unexpected("a prototype")),
                _ => break,
            }
            comma = self.take(Kind::Comma);
            if !comma && self.kind() != Kind::LeftBrace {
                break;
            }
        }
        let span = self.since(start);
        self.take(Kind::Semicolon);
        Ok(Component { data, prototypes, span })
    }

    fn prototype_body(&mut self) -> Parse<Prototype> {
        let start = self.here();
        self.enter(start)?;
        self.at += 1;
        let mut body = Body::default();
        self.statements(&mut body);
        self.depth -= 1;
        if !self.take(Kind::RightBrace) && !self.ended {
            // The innermost component says so for all that are open.
            self.ended = true;
            let end = self.here();
            self.report(
                Diagnostic::new(Rule::SyntaxError, "the file ends inside a component: a `}` is missing")
                    .at(end)
                    .with_label(start, "this `{` is never closed"),
            );
        }
        Ok(Prototype::Body(body, self.since(start)))
    }

    /// One level deeper, unless that is too deep; then all that is nested here is skipped.
    fn enter(&mut self, start: Span) -> Parse<()> {
        if self.depth >= MAX_NESTING {
            let message = format!("this is nested more than {MAX_NESTING} levels deep");
            self.report(Diagnostic::new(Rule::SmartfrogLimit, message).at(start).with_help(
                "name the inner components as prototypes of their own, and extend them where they are needed",
            ));
            return Err(Stop);
        }
        self.depth += 1;
        Ok(())
    }

    fn is_keyword_outside_references(&self, word: &str) -> bool {
        self.is_keyword(word) && !is_reference_keyword(word)
    }

    fn reference(&mut self) -> Parse<Reference> {
        let start = self.here();
        let mut parts = Vec::with_capacity(1);
        loop {
            parts.push(self.part()?);
            if !self.take(Kind::Colon) {
                return Ok(Reference { parts: parts.into(), span: self.since(start) });
            }
        }
    }

    fn part(&mut self) -> Parse<Part> {
        if self.dialect == Dialect::Production && self.kind() == Kind::Word {
            let plain = match self.slice(self.token(0)) {
                "ROOT" => Some(Part::Root),
                "PARENT" => Some(Part::Parent),
                "THIS" => Some(Part::This),
                "PROCESS" => Some(Part::Process),
                _ => None,
            };
            if let Some(part) = plain {
                self.at += 1;
                return Ok(part);
            }
            let named: Option<fn(Symbol) -> Part> = match self.slice(self.token(0)) {
                "ATTRIB" => Some(Part::Attrib),
                "HERE" => Some(Part::Here),
                "PROPERTY" => Some(Part::Property),
                "IPROPERTY" => Some(Part::IntegerProperty),
                "ENVPROPERTY" => Some(Part::Environment),
                "IENVPROPERTY" => Some(Part::IntegerEnvironment),
                "CONSTANT" => Some(Part::Constant),
                "HOST" => Some(Part::Host),
                _ => None,
            };
            if let Some(part) = named {
                self.at += 1;
                return Ok(part(self.name("a name")?));
            }
        }
        Ok(Part::Name(self.name("a reference")?))
    }

    fn expression(&mut self) -> Parse<Expression> {
        let start = self.here();
        let token = self.token(0);
        let kind = match token.kind {
            Kind::String | Kind::MultilineString => ExpressionKind::String(self.string("a string")?),
            Kind::Integer | Kind::Long | Kind::Float | Kind::Double => {
                self.at += 1;
                let Some(number) = reader::number(token.kind, self.slice(token)) else {
                    self.error(start, "this number is too large for a floating-point number");
                    return Err(Stop);
                };
                ExpressionKind::Number(number)
            }
            Kind::Bytes => {
                self.at += 1;
                match reader::bytes(self.slice(token)) {
                    Ok(bytes) => ExpressionKind::Bytes(bytes),
                    Err(message) => {
                        self.error(start, message);
                        return Err(Stop);
                    }
                }
            }
            Kind::LeftBracket => self.nested(start, |parser| parser.vector(false))?,
            Kind::LiteralVectorStart => self.nested(start, |parser| parser.vector(true))?,
            Kind::LeftParenthesis => self.nested(start, Self::operation)?,
            Kind::Word => self.word_expression(start)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Expression { kind, span: self.since(start), unique: None })
    }

    fn nested(
        &mut self,
        start: Span,
        inner: fn(&mut Self) -> Parse<ExpressionKind>,
    ) -> Parse<ExpressionKind> {
        self.enter(start)?;
        let kind = inner(self);
        self.depth -= 1;
        kind
    }

    fn word_expression(&mut self, start: Span) -> Parse<ExpressionKind> {
        let word = self.slice(self.token(0));
        let constant = match word {
            "NULL" => Some(ExpressionKind::Null),
            "true" => Some(ExpressionKind::Boolean(true)),
            "false" => Some(ExpressionKind::Boolean(false)),
            "TBD" if self.dialect == Dialect::Production => Some(ExpressionKind::ToBeDefined),
            _ => None,
        };
        if let Some(kind) = constant {
            self.at += 1;
            return Ok(kind);
        }
        if self.take_keyword("VAR") {
            return self.nested(start, Self::variable);
        }
        if self.take_keyword("IF") {
            return self.nested(start, Self::conditional);
        }
        if self.take_keyword("SWITCH") {
            return self.nested(start, Self::switch);
        }
        let mut data = false;
        let mut lazy = false;
        loop {
            if self.word_is(0, "DATA") {
                self.at += 1;
                data = true;
            } else if self.take_keyword("LAZY") {
                lazy = true;
            } else {
                break;
            }
        }
        for (keyword, apply) in [("APPLY", true), ("ASSERT", false)] {
            if self.take_keyword(keyword) {
                if self.kind() != Kind::LeftBrace {
                    return Err(self.unexpected("`{`"));
                }
                let Prototype::Body(body, _) = self.prototype_body()? else { return Err(Stop) };
                return Ok(if apply {
                    ExpressionKind::Apply { body, lazy, data }
                } else {
                    ExpressionKind::Assert { body, lazy, data }
                });
            }
        }
        let mut optional = None;
        if self.take_keyword("OPTIONAL") {
            let default = if self.take(Kind::LeftParenthesis) {
                let default = self.expression()?;
                self.expect(Kind::RightParenthesis, "`)`")?;
                default
            } else {
                Expression { kind: ExpressionKind::Null, span: start, unique: None }
            };
            optional = Some(Box::new(default));
        }
        let reference = self.reference()?;
        Ok(ExpressionKind::Reference { reference, lazy, data, optional })
    }

    /// `VAR`, `VAR "[1..3]"`, `VAR range`, `VAR { "[1..3]", 3 }`
    fn variable(&mut self) -> Parse<ExpressionKind> {
        let mut details = Vec::new();
        if self.take(Kind::LeftBrace) {
            while !self.take(Kind::RightBrace) {
                details.push(self.expression()?);
                if !self.take(Kind::Comma) && self.kind() != Kind::RightBrace {
                    return Err(self.unexpected("`,` or `}`"));
                }
            }
        } else if self.kind() == Kind::String
            || self.kind() == Kind::Word && !self.is_keyword_outside_references(self.slice(self.token(0)))
        {
            details.push(self.expression()?);
        }
        Ok(ExpressionKind::Variable(details))
    }

    fn vector(&mut self, literal: bool) -> Parse<ExpressionKind> {
        self.at += 1;
        let (close, shown) =
            if literal { (Kind::LiteralVectorEnd, "`|]`") } else { (Kind::RightBracket, "`]`") };
        let mut elements = Vec::new();
        if self.kind() != close {
            elements.push(self.expression()?);
            while self.take(Kind::Comma) {
                elements.push(self.expression()?);
            }
        }
        self.expect(close, shown)?;
        if !literal {
            self.includer.name_operands(&mut elements);
        } else if let Some(computed) = elements.iter().find(|element| {
            // A literal vector in it has been looked at.
            !matches!(element.kind, ExpressionKind::Vector { literal: true, .. }) && !element.is_literal()
        }) {
            let message = "`[| … |]` holds values as they are, and this is a link or an expression";
            let diagnostic = Diagnostic::new(Rule::SyntaxError, message).at(computed.span);
            self.report(diagnostic.with_help("write `[ … ]`, which computes its elements"));
        }
        Ok(ExpressionKind::Vector { elements, literal })
    }

    /// `(a + b + c)`, `(a - b)`, `(! a)`, `(a)`. There is no precedence: one kind of operator to a parenthesis.
    fn operation(&mut self) -> Parse<ExpressionKind> {
        self.at += 1;
        if self.take(Kind::Not) {
            let operand = self.expression()?;
            self.expect(Kind::RightParenthesis, "`)`")?;
            return Ok(ExpressionKind::Operation { operator: Operator::Not, operands: vec![operand] });
        }
        let first = self.expression()?;
        if self.take(Kind::RightParenthesis) {
            return Ok(first.kind);
        }
        let sign = self.kind();
        let Some(operator) = operator(sign) else {
            return Err(self.unexpected("an operator or `)`"));
        };
        let mut operands = vec![first];
        while self.take(sign) {
            operands.push(self.expression()?);
            if operator.arity().is_some() {
                break;
            }
        }
        if self::operator(self.kind()).is_some() {
            let span = self.here();
            self.report(
                Diagnostic::new(Rule::SyntaxError, "two operators stand in one pair of parentheses")
                    .at(span)
                    .with_help(
                        "there is no precedence between operators: put one of them in parentheses of its own",
                    ),
            );
            return Err(Stop);
        }
        self.expect(Kind::RightParenthesis, "`)`")?;
        if operator.arity().is_none() {
            self.includer.name_operands(&mut operands);
        }
        Ok(ExpressionKind::Operation { operator, operands })
    }

    fn conditional(&mut self) -> Parse<ExpressionKind> {
        let condition = Box::new(self.expression()?);
        self.expect_keyword("THEN")?;
        let then = Box::new(self.expression()?);
        self.expect_keyword("ELSE")?;
        let otherwise = Box::new(self.expression()?);
        self.expect_keyword("FI")?;
        Ok(ExpressionKind::If { condition, then, otherwise })
    }

    fn switch(&mut self) -> Parse<ExpressionKind> {
        let mut cases = Vec::new();
        while self.take_keyword("IF") {
            let condition = self.expression()?;
            self.expect_keyword("THEN")?;
            cases.push((condition, self.expression()?));
        }
        self.expect_keyword("ENDSWITCH")?;
        Ok(ExpressionKind::Switch(cases))
    }
}

fn operator(kind: Kind) -> Option<Operator> {
    Some(match kind {
        Kind::Plus => Operator::Add,
        Kind::Times => Operator::Multiply,
        Kind::PlusPlus => Operator::Concatenate,
        Kind::Append => Operator::Append,
        Kind::And => Operator::And,
        Kind::Or => Operator::Or,
        Kind::Xor => Operator::Xor,
        Kind::Implies => Operator::Implies,
        Kind::Minus => Operator::Subtract,
        Kind::Divide => Operator::Divide,
        Kind::Modulo => Operator::Modulo,
        Kind::Equal => Operator::Equal,
        Kind::NotEqual => Operator::NotEqual,
        Kind::Less => Operator::Less,
        Kind::LessOrEqual => Operator::LessOrEqual,
        Kind::Greater => Operator::Greater,
        Kind::GreaterOrEqual => Operator::GreaterOrEqual,
        _ => return None,
    })
}

fn is_reference_keyword(word: &str) -> bool {
    matches!(
        word,
        "ROOT"
            | "PARENT"
            | "THIS"
            | "ATTRIB"
            | "HERE"
            | "PROPERTY"
            | "IPROPERTY"
            | "ENVPROPERTY"
            | "IENVPROPERTY"
            | "CONSTANT"
            | "HOST"
            | "PROCESS"
    )
}

/// Keywords of the production language that are names in the core language.
pub(super) fn is_production_keyword(word: &str) -> bool {
    is_reference_keyword(word)
        || matches!(
            word,
            "APPLY"
                | "ASSERT"
                | "LAZY"
                | "OPTIONAL"
                | "TBD"
                | "VAR"
                | "IF"
                | "THEN"
                | "ELSE"
                | "FI"
                | "SWITCH"
                | "ENDSWITCH"
        )
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
