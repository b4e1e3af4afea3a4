//! Literals, names, conditionals, loops and definitions.

use std::sync::Arc;

use super::{Parser, Result};
use crate::ruby_language::Beyond;
use crate::ruby_language::ast::{
    Begin, Block, ClassNode, Define, Node, Parameter, Parameters, Part, Rescue, Super, While,
};
use crate::ruby_language::lexer::{Piece, Token};

impl Parser {
    pub(super) fn primary(&mut self) -> Result<Node> {
        let line = self.line();
        let token = self.next();
        Ok(match token {
            Token::Integer(number) => Node::Integer(number),
            Token::Float(number) => Node::Float(number),
            Token::Text(pieces) => {
                let mut parts = self.parts(pieces)?;
                // Texts side by side are one.
                while let Token::Text(more) = self.peek().clone() {
                    self.at += 1;
                    parts.extend(self.parts(more)?);
                }
                Node::Text(parts)
            }
            Token::Regex(pieces, flags) => Node::Regex(self.parts(pieces)?, flags),
            Token::Symbol(name) => Node::Symbol(name.into()),
            Token::SymbolText(pieces) => Node::SymbolText(self.parts(pieces)?),
            Token::Instance(name) => Node::Instance(name.into()),
            Token::Shared(name) => Node::Shared(name.into()),
            Token::Global(name) => Node::Global(name.into()),
            Token::Constant(name) => {
                let called = self.is_sign("(") && !self.spaced();
                let converts = matches!(name.as_str(), "Integer" | "Float" | "String" | "Array")
                    && matches!(self.peek(), Token::Name(_) | Token::Instance(_));
                if called || self.spaced() && (converts || matches!(self.peek(), Token::Text(_))) {
                    self.call_of(None, &name, false, line)?
                } else {
                    Node::Constant(name.into())
                }
            }
            Token::Name(name) => self.name(&name, line)?,
            Token::Sign("(") => {
                let inner = self.sequence(&[")"])?;
                self.need_sign(")")?;
                // `(a)` is no longer a target or a name that takes arguments.
                match inner {
                    Node::Name(..) | Node::Local(_) => Node::Sequence(vec![inner]),
                    Node::Sequence(nodes) if nodes.is_empty() => Node::Nil,
                    other => other,
                }
            }
            Token::Sign("[") => Node::Array(self.inside(|parser| parser.list("]"))?),
            Token::Sign("{") => self.hash()?,
            Token::Sign("->") => self.arrow()?,
            Token::Sign("::") => match self.next() {
                Token::Constant(name) => Node::Scoped(None, name.into()),
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            },
            Token::Command => Node::Beyond("it runs a program".to_owned(), line),
            Token::Word(word) => return self.keyword(word, line),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn hash(&mut self) -> Result<Node> {
        self.inside(|parser| {
            let mut pairs = Vec::new();
            loop {
                parser.skip_lines();
                if parser.eat_sign("}") {
                    return Ok(Node::Hash(pairs));
                }
                pairs.push(parser.pair()?);
                parser.skip_lines();
                if !parser.eat_sign(",") {
                    parser.skip_lines();
                    parser.need_sign("}")?;
                    return Ok(Node::Hash(pairs));
                }
            }
        })
    }

    fn arrow(&mut self) -> Result<Node> {
        let known = self.locals.len();
        let parameters = if self.eat_sign("(") {
            self.parameters(")")?
        } else if matches!(self.peek(), Token::Name(_) | Token::Sign("*" | "&")) {
            let mut list = Vec::new();
            while let Token::Name(name) = self.peek().clone() {
                self.at += 1;
                list.push(Parameter::Name(name.into()));
                self.eat_sign(",");
            }
            Parameters { list, trailing_comma: false }
        } else {
            Parameters::default()
        };
        let close = if self.eat_sign("{") {
            "}"
        } else {
            self.need_word("do")?;
            "end"
        };
        let block = self.block_after(close, Some(parameters), true)?;
        self.locals.truncate(known);
        Ok(Node::Lambda(Arc::new(block)))
    }

    fn name(&mut self, name: &str, line: u32) -> Result<Node> {
        let called = self.is_sign("(") && !self.spaced();
        if self.is_local(name) && !called {
            return Ok(Node::Local(name.into()));
        }
        if matches!(name, "lambda" | "proc")
            && (self.is_sign("{") || self.is_word("do"))
            && let Some(block) = self.inside(Self::block)?
        {
            let Ok(block) = Arc::try_unwrap(block) else {
                return Err(Beyond::at("a lambda is not understood", line));
            };
            return Ok(Node::Lambda(Arc::new(Block { is_lambda: name == "lambda", ..block })));
        }
        if called || self.command_argument_follows() || self.is_sign("{") || self.is_word("do") && !self.no_do
        {
            return self.call_of(None, name, false, line);
        }
        Ok(Node::Name(name.into(), line))
    }

    fn keyword(&mut self, word: &'static str, line: u32) -> Result<Node> {
        Ok(match word {
            "nil" => Node::Nil,
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "self" => Node::Itself,
            "if" => return self.conditional(false),
            "unless" => return self.conditional(true),
            "case" => return self.case(),
            "while" | "until" => {
                let condition = self.without_do(Self::expression_statement)?;
                self.eat_word("do");
                let body = self.sequence(&["end"])?;
                self.need_word("end")?;
                Node::While(Box::new(While { condition, body, until: word == "until", body_first: false }))
            }
            "for" => self.for_loop()?,
            "begin" => {
                let begin = self.body_parts()?;
                Node::Begin(Box::new(begin))
            }
            "def" => self.define(line)?,
            "class" | "module" => self.class(word == "module")?,
            "alias" => {
                let mut name = || match self.next() {
                    Token::Name(name) | Token::Symbol(name) | Token::Constant(name) => Ok(name),
                    _ => Err(self.unexpected()),
                };
                let (new, old) = (name()?, name()?);
                Node::Alias(new.into(), old.into())
            }
            "super" => {
                let arguments = if self.is_sign("(") && !self.spaced() {
                    self.at += 1;
                    Some(self.inside(|parser| parser.list(")"))?)
                } else if self.command_argument_follows() {
                    Some(self.arguments_of_command()?)
                } else {
                    None
                };
                if self.block()?.is_some() {
                    return Err(Beyond::at("it gives super a block", line));
                }
                Node::Super(Box::new(Super { arguments, line }))
            }
            "yield" => {
                let arguments = if self.is_sign("(") && !self.spaced() {
                    self.at += 1;
                    self.inside(|parser| parser.list(")"))?
                } else if self.command_argument_follows() {
                    self.arguments_of_command()?
                } else {
                    Vec::new()
                };
                Node::Yield(arguments, line)
            }
            "next" => Node::Next(self.jump_value()?),
            "break" => Node::Break(self.jump_value()?),
            "return" => Node::Return(self.jump_value()?),
            "redo" => Node::Redo,
            "retry" => Node::Retry,
            "not" => Node::Not(Box::new(self.expression()?)),
            "then" | "do" => {
                self.at -= 1;
                return Err(self.unexpected());
            }
            "__FILE__" => Node::SourceFile,
            "__method__" => Node::MethodName,
            "__LINE__" => Node::Integer(line.into()),
            "__dir__" => Node::SourceFolder,
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn arguments_of_command(&mut self) -> Result<Vec<Node>> {
        self.without_do(|parser| {
            let mut arguments = vec![parser.argument()?];
            while parser.eat_sign(",") {
                parser.skip_lines();
                arguments.push(parser.argument()?);
            }
            Ok(arguments)
        })
    }

    fn for_loop(&mut self) -> Result<Node> {
        let mut list = Vec::new();
        loop {
            let Token::Name(name) = self.next() else { return Err(self.unexpected()) };
            let name: Arc<str> = name.into();
            self.declare_name(&name);
            list.push(Parameter::Name(name));
            if !self.eat_sign(",") {
                break;
            }
        }
        self.need_word("in")?;
        let items = self.without_do(Self::expression_statement)?;
        self.eat_word("do");
        let body = self.sequence(&["end"])?;
        self.need_word("end")?;
        Ok(Node::For(Parameters { list, trailing_comma: false }, Box::new(items), Box::new(body)))
    }

    /// A body with its `rescue`, `else` and `ensure`, up to and with `end`.
    fn body_parts(&mut self) -> Result<Begin> {
        const PARTS: &[&str] = &["rescue", "else", "ensure", "end"];
        let body = self.sequence(PARTS)?;
        let mut rescues = Vec::new();
        while self.eat_word("rescue") {
            let mut classes = Vec::new();
            let mut variable = None;
            loop {
                if self.eat_sign("=>") {
                    let target = self.postfix()?;
                    self.declare(&target);
                    variable = Some(target);
                    break;
                }
                if *self.peek() == Token::Newline || self.is_word("then") {
                    break;
                }
                if self.eat_sign("*") {
                    let inner = self.postfix()?;
                    classes.push(Node::Splat(Box::new(inner)));
                } else {
                    classes.push(self.postfix()?);
                }
                if self.eat_sign(",") {
                    self.skip_lines();
                }
            }
            self.eat_word("then");
            let body = self.sequence(PARTS)?;
            rescues.push(Rescue { classes, variable, body });
        }
        let otherwise = if self.eat_word("else") { Some(self.sequence(PARTS)?) } else { None };
        let ensure = if self.eat_word("ensure") { Some(self.sequence(PARTS)?) } else { None };
        self.need_word("end")?;
        Ok(Begin { body, rescues, otherwise, ensure })
    }

    pub(super) fn body(&mut self) -> Result<Node> {
        let begin = self.body_parts()?;
        let is_plain = begin.rescues.is_empty() && begin.otherwise.is_none() && begin.ensure.is_none();
        Ok(if is_plain { begin.body } else { Node::Begin(Box::new(begin)) })
    }

    fn define(&mut self, line: u32) -> Result<Node> {
        let mut of_self = false;
        let mut of = None;
        let mut name = self.method_name()?;
        if self.is_sign(".") {
            self.at += 1;
            of_self = name == "self";
            if !of_self {
                let is_constant = name.starts_with(char::is_uppercase);
                let owner = Arc::from(name.as_str());
                of = Some(if is_constant { Node::Constant(owner) } else { Node::Name(owner, line) });
            }
            name = self.method_name()?;
        }
        // `def name=(value)`
        if self.is_sign("=") && !self.spaced() && matches!(self.peek_after(1), Token::Sign("(")) {
            self.at += 1;
            name.push('=');
        }
        let outer = std::mem::take(&mut self.locals);
        let parameters = if self.eat_sign("(") {
            self.parameters(")")?
        } else if *self.peek() == Token::Newline || self.is_sign("=") {
            Parameters::default()
        } else {
            self.parameters("")?
        };
        let body = if self.eat_sign("=") {
            self.skip_lines();
            self.statement()?
        } else {
            self.inside(Self::body)?
        };
        self.locals = outer;
        let block = Arc::new(Block { parameters, body, is_lambda: true });
        Ok(Node::Define(Box::new(Define { name: name.into(), of_self, of, block, line })))
    }

    fn method_name(&mut self) -> Result<String> {
        Ok(match self.next() {
            Token::Name(name) | Token::Constant(name) => name,
            Token::Word(word) => word.to_owned(),
            Token::Label(name) => name,
            Token::Sign("[") => {
                self.need_sign("]")?;
                if self.is_sign("=") && !self.spaced() {
                    self.at += 1;
                    return Ok("[]=".to_owned());
                }
                "[]".to_owned()
            }
            Token::Sign(
                sign @ ("+" | "-" | "*" | "/" | "%" | "==" | "<=>" | "===" | "=~" | "<<" | "<" | ">" | "<="
                | ">=" | "!" | "&" | "|" | "**" | "^" | ">>" | "~" | "!=" | "!~"),
            ) => {
                // `def -@`
                if matches!(sign, "+" | "-" | "!" | "~") && *self.peek() == Token::Instance(String::new()) {
                    self.at += 1;
                    return Ok(format!("{sign}@"));
                }
                sign.to_owned()
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn class(&mut self, is_module: bool) -> Result<Node> {
        if self.eat_sign("<<") {
            self.need_word("self")?;
            let outer = std::mem::take(&mut self.locals);
            let body = self.sequence(&["end"])?;
            self.need_word("end")?;
            self.locals = outer;
            return Ok(Node::Singleton(Box::new(body)));
        }
        let path = self.postfix()?;
        if !matches!(path, Node::Constant(_) | Node::Scoped(..)) {
            return Err(self.unexpected());
        }
        let parent = if self.eat_sign("<") { Some(self.expression()?) } else { None };
        let outer = std::mem::take(&mut self.locals);
        let body = self.inside(Self::body)?;
        self.locals = outer;
        Ok(Node::Class(Box::new(ClassNode { path, parent, is_module, body })))
    }

    fn jump_value(&mut self) -> Result<Option<Box<Node>>> {
        let ends = match self.peek() {
            Token::Newline | Token::End | Token::OutputEnd | Token::Template(_) | Token::Sign("}" | ")") => {
                true
            }
            Token::Word(word) => matches!(*word, "if" | "unless" | "end" | "while" | "until"),
            _ => false,
        };
        if ends {
            return Ok(None);
        }
        let first = self.argument()?;
        if self.is_sign(",") || matches!(first, Node::Splat(_)) {
            let mut items = vec![first];
            while self.eat_sign(",") {
                self.skip_lines();
                items.push(self.argument()?);
            }
            return Ok(Some(Box::new(Node::Array(items))));
        }
        Ok(Some(Box::new(first)))
    }

    fn conditional(&mut self, negated: bool) -> Result<Node> {
        let condition = self.inside(Self::expression_statement)?;
        self.eat_word("then");
        let then = self.sequence(&["elsif", "else", "end"])?;
        // `then` may stand in the next line.
        let otherwise = match self.next() {
            Token::Word("elsif") => self.deeper(|parser| parser.conditional(false))?,
            Token::Word("else") => {
                let body = self.sequence(&["end"])?;
                self.need_word("end")?;
                body
            }
            Token::Word("end") => Node::Nil,
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        let (yes, no) = if negated { (otherwise, then) } else { (then, otherwise) };
        Ok(Node::If(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn case(&mut self) -> Result<Node> {
        let subject = if *self.peek() == Token::Newline || self.is_word("when") {
            None
        } else {
            Some(Box::new(self.inside(Self::expression_statement)?))
        };
        let mut branches = Vec::new();
        loop {
            // White space between `case` and the first `when` is not written.
            while matches!(self.peek(), Token::Newline)
                || branches.is_empty() && matches!(self.peek(), Token::Template(_))
            {
                self.at += 1;
            }
            if self.is_word("in") {
                return Err(Beyond::at("it matches patterns", self.line()));
            }
            if !self.eat_word("when") {
                break;
            }
            let mut options = vec![self.argument()?];
            while self.eat_sign(",") {
                self.skip_lines();
                options.push(self.argument()?);
            }
            self.eat_word("then");
            let body = self.sequence(&["when", "else", "end"])?;
            branches.push((options, body));
        }
        let otherwise = if self.eat_word("else") { self.sequence(&["end"])? } else { Node::Nil };
        self.need_word("end")?;
        Ok(Node::Case(subject, branches, Box::new(otherwise)))
    }

    pub(super) fn parts(&mut self, pieces: Vec<Piece>) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Literal(text) => Part::Literal(text.into()),
                Piece::Code(tokens) => {
                    let mut inner = Self {
                        tokens,
                        at: 0,
                        depth: self.depth,
                        locals: self.locals.clone(),
                        no_do: false,
                        no_pipe: false,
                    };
                    let node = inner.sequence(&[])?;
                    if *inner.peek() != Token::End {
                        return Err(inner.unexpected());
                    }
                    Part::Code(node)
                }
            });
        }
        Ok(parts)
    }
}
