//! Tokens to tree.
//!
//! The grammar, from the outside in:
//!
//! ```text
//! statements    one after the other, `;` between them allowed           (this file)
//! assignment    relationship `=` assignment                             (expression.rs)
//! relationship  resource `->` resource …
//! resource      expression `{` title `:` attributes … `}`               (resource.rs)
//! expression    operators by precedence, then what they stand between
//! definitions   class, define, node, function, type, plan               (definition.rs)
//! conditionals  if, unless, case, selectors                             (conditional.rs)
//! ```
//!
//! A syntax error ends its statement: functions return [`Reported`], the nearest list of statements skips to the
//! next, so each error is told once.

mod call;
mod conditional;
mod definition;
mod expression;
mod report;
mod resource;
mod string;

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_source::{Diagnostic, FileId, Limit, Range, Symbol};

use crate::ast::{Block, Expr, ExprKind, Program};
use crate::lexer::Lexer;
use crate::token::{Kind, Token};

/// How deep brackets, blocks and operators may nest. Real manifests stay below 30; the tree is walked recursively.
pub(crate) const MAX_NESTING: Limit = Limit::new(200);

/// How deep the tree may be: a chain of operators or of `elsif` is as deep as it is long.
pub(crate) const MAX_DEPTH: Limit = Limit::new(5_000);

/// A syntax error has been reported; the statement has no tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reported;

pub(crate) type Parsed<T> = Result<T, Reported>;

#[derive(Debug)]
pub(crate) struct Parser<'a> {
    file: FileId,
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token,
    ahead: VecDeque<Token>,
    /// Where the last consumed token ended.
    last_end: u32,
    /// The braces and strings that are open.
    open: Vec<Range>,
    nesting: u32,
    /// How deep in the tree the next expression will be, and how deep the deepest so far is.
    depth: u32,
    deepest: u32,
    /// Classes around this place.
    namespace: Vec<&'a str>,
    symbols: FxHashMap<&'a str, Symbol>,
    errors: Vec<Diagnostic>,
    /// Errors that Puppet finds only when the whole file is well-formed.
    semantic: Vec<Diagnostic>,
    told_depth: bool,
    /// The statement contains text that the lexer has refused, so that further errors in it mean little.
    tainted: bool,
}

/// What a parser found.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) program: Program,
    /// What keeps the text from being a program.
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// What validation need not look for, since the tree no longer shows it.
    pub(crate) semantic: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(file: FileId, text: &'a str, lexer: Lexer<'a>) -> Self {
        let mut parser = Self {
            file,
            text,
            lexer,
            token: Token::new(Kind::Eof, 0, 0),
            ahead: VecDeque::new(),
            last_end: 0,
            open: Vec::new(),
            nesting: 0,
            depth: 0,
            deepest: 0,
            namespace: Vec::new(),
            symbols: FxHashMap::default(),
            errors: Vec::new(),
            semantic: Vec::new(),
            told_depth: false,
            tainted: false,
        };
        parser.token = parser.lexer.next();
        parser
    }

    pub(crate) fn manifest(mut self) -> Outcome {
        let body = self.statements_to_end();
        self.finish(body)
    }

    pub(crate) fn template(mut self) -> Outcome {
        let parameters = self.template_parameters().unwrap_or_else(|Reported| {
            self.recover(0);
            None
        });
        let body = self.statements_to_end();
        let range = Range::new(0, self.text.len());
        self.finish(vec![Expr { range, kind: ExprKind::Epp { parameters, body } }])
    }

    /// A single expression, and nothing after it.
    pub(crate) fn lone_expression(mut self) -> Outcome {
        let body = match self
            .expression()
            .and_then(|expr| if self.at(Kind::Eof) { Ok(expr) } else { Err(self.unexpected()) })
        {
            Ok(expr) => vec![expr],
            Err(Reported) => Vec::new(),
        };
        self.finish(body)
    }

    fn statements_to_end(&mut self) -> Block {
        let mut body = Vec::new();
        loop {
            self.block_items(0, &mut body, false);
            if self.at(Kind::Eof) {
                return body;
            }
            // Only a `}` without its `{` ends a block here.
            self.unexpected();
            self.bump();
            self.open.clear();
            if !self.token.kind.starts_expression() || !self.at_line_start() {
                self.recover(0);
            }
        }
    }

    fn finish(mut self, body: Block) -> Outcome {
        let (mut lex_errors, warnings) = self.lexer_findings();
        let file = self.file;
        if let Some(unclosed) = self.lexer.unclosed {
            self.errors.retain(|error| error.span.is_none_or(|span| span.range.start < unclosed));
        }
        self.errors.append(&mut lex_errors);
        self.errors.sort_by_key(|error| error.span.map(|span| span.range.start));
        Outcome { program: Program { file, body }, errors: self.errors, warnings, semantic: self.semantic }
    }

    // --- Tokens

    fn at(&self, kind: Kind) -> bool {
        self.token.kind == kind
    }

    fn bump(&mut self) -> Token {
        let next = if self.ahead.is_empty() { None } else { self.ahead.pop_front() };
        let next = next.unwrap_or_else(|| self.lexer.next());
        let token = std::mem::replace(&mut self.token, next);
        match token.kind {
            Kind::LBrace | Kind::SelBrace | Kind::DqPre => self.open.push(token.range),
            Kind::RBrace | Kind::DqPost => {
                self.open.pop();
            }
            Kind::Bad => self.tainted = true,
            _ => {}
        }
        self.last_end = token.range.end;
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Kind) -> Parsed<Token> {
        if self.at(kind) { Ok(self.bump()) } else { Err(self.unexpected()) }
    }

    /// The kind of the token after the current one.
    fn peek(&mut self) -> Kind {
        self.peek_nth(0)
    }

    fn peek_nth(&mut self, n: usize) -> Kind {
        while self.ahead.len() <= n {
            let token = self.lexer.next();
            self.ahead.push_back(token);
        }
        self.ahead.get(n).map_or(Kind::Eof, |token| token.kind)
    }

    fn slice(&self, range: Range) -> &'a str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }

    fn range_from(&self, start: u32) -> Range {
        Range { start, end: self.last_end.max(start) }
    }

    fn symbol(&mut self, name: &'a str) -> Symbol {
        *self.symbols.entry(name).or_insert_with(|| Symbol::new(name))
    }

    fn symbol_at(&mut self, range: Range) -> Symbol {
        let name = self.slice(range);
        self.symbol(name)
    }

    /// Runs a part of the parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == MAX_NESTING {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = parse(self);
        self.nesting -= 1;
        self.depth -= 1;
        result
    }

    // --- Statements

    /// `{ statements }`, the braces included.
    fn block(&mut self) -> Parsed<Block> {
        self.expect(Kind::LBrace)?;
        self.block_rest()
    }

    /// The statements after a `{`, and its `}`.
    fn block_rest(&mut self) -> Parsed<Block> {
        self.nested(|parser| {
            let mut body = Vec::new();
            parser.block_items(parser.open.len(), &mut body, false);
            parser.expect(Kind::RBrace)?;
            Ok(body)
        })
    }

    /// Statements up to a `}` or the end. `open` is how many braces are open in this block.
    fn block_items(&mut self, open: usize, block: &mut Block, mut after_separator: bool) {
        loop {
            let kind = self.token.kind;
            let ends = matches!(kind, Kind::RBrace | Kind::Eof);
            if ends && !after_separator {
                return;
            }
            let start = self.token.range.start;
            self.tainted = self.tainted && !self.at_line_start();
            let result = if kind.starts_expression() { self.statement() } else { Err(self.unexpected()) };
            if let Ok(item) = result {
                self.add_statement(block, item);
                after_separator = self.eat(Kind::Semicolon);
                continue;
            }
            block.push(Expr { range: self.token.range, kind: ExprKind::Error });
            after_separator = false;
            self.deepest = self.depth;
            if !ends {
                // What cannot begin a statement would be refused for ever.
                if self.token.range.start == start && !self.at(Kind::Eof) {
                    self.bump();
                }
                self.recover(open);
            }
        }
    }

    /// An expression, or several with commas between them: the arguments of a call without parentheses.
    fn statement(&mut self) -> Parsed<Item> {
        let first = self.assignment()?;
        self.statement_after(first)
    }

    /// Skips to where the next statement of a block may begin.
    fn recover(&mut self, open: usize) {
        loop {
            match self.token.kind {
                Kind::Eof => return,
                Kind::RBrace if self.open.len() <= open => return,
                _ => {}
            }
            if self.open.len() == open && self.looks_like_statement() {
                return;
            }
            let token = self.bump();
            if self.open.len() == open
                && matches!(token.kind, Kind::RBrace | Kind::Semicolon)
                && self.token.kind.starts_expression()
            {
                return;
            }
        }
    }

    /// The first token of a line, and one that begins many statements and continues few.
    fn looks_like_statement(&mut self) -> bool {
        // In a template, code ends where text begins.
        let is_text = matches!(self.token.kind, Kind::RenderString | Kind::RenderExpr);
        is_text || self.at_line_start() && self.begins_statement()
    }

    fn at_line_start(&self) -> bool {
        let start = self.token.range.start as usize;
        let bytes = self.text.as_bytes();
        let mut line = bytes[..start.min(bytes.len())].iter().rev().take_while(|&&byte| byte != b'\n');
        line.all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }

    fn begins_statement(&mut self) -> bool {
        match self.token.kind {
            Kind::Class
            | Kind::Define
            | Kind::Node
            | Kind::If
            | Kind::Unless
            | Kind::Case
            | Kind::Function => true,
            Kind::Name => matches!(self.peek(), Kind::LBrace | Kind::Name | Kind::LParen | Kind::ClassRef),
            Kind::ClassRef => {
                matches!(self.peek(), Kind::LBrace | Kind::LBrack | Kind::LCollect | Kind::LLCollect)
            }
            Kind::Variable => self.peek() == Kind::Equals,
            Kind::At | Kind::AtAt => true,
            Kind::Type => self.peek() == Kind::ClassRef,
            _ => false,
        }
    }
}

/// A statement before calls without parentheses are put together.
#[derive(Debug)]
pub(crate) enum Item {
    Expr(Expr),
    List { comma: Range, list: Vec<Expr> },
}

/// The functions that may be called without parentheses.
fn is_statement_function(name: &str) -> bool {
    matches!(
        name,
        "require"
            | "realize"
            | "include"
            | "contain"
            | "tag"
            | "debug"
            | "info"
            | "notice"
            | "warning"
            | "err"
            | "fail"
            | "import"
            | "break"
            | "next"
            | "return"
    )
}

fn text_of(token: &Token) -> Arc<str> {
    token.text.clone().unwrap_or_else(|| Arc::from(""))
}
