//! From tokens to the tree.

mod expressions;
mod primary;

use std::sync::Arc;

use setpoint_source::{Limit, RAISE_LIMITS};

use super::Beyond;
use super::ast::{Begin, Node, Target, Targets, While};
use super::lexer::{Lexed, Token};

/// Deeper code is refused.
const DEEPEST: Limit = Limit::new(150);

pub(super) fn parse(tokens: Vec<Lexed>) -> Result<Node> {
    let mut parser = Parser { tokens, at: 0, depth: 0, locals: Vec::new(), no_do: false, no_pipe: false };
    let program = parser.sequence(&[])?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected());
    }
    Ok(program)
}

struct Parser {
    tokens: Vec<Lexed>,
    at: usize,
    depth: usize,
    /// The names that were assigned so far: they are variables, not calls.
    locals: Vec<Arc<str>>,
    /// `do` belongs to what is around: a command or a loop.
    no_do: bool,
    /// `|` ends the parameters of a block.
    no_pipe: bool,
}

type Result<T> = std::result::Result<T, Beyond>;

const END: Token = Token::End;

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&END, |lexed| &lexed.token)
    }

    fn peek_after(&self, count: usize) -> &Token {
        self.tokens.get(self.at + count).map_or(&END, |lexed| &lexed.token)
    }

    fn spaced(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|lexed| lexed.spaced)
    }

    fn line(&self) -> u32 {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(0, |lexed| lexed.line)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if *found == word)
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn need_sign(&mut self, sign: &str) -> Result<()> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn need_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Beyond {
        let found = match self.peek() {
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Word(word) => format!("`{word}`"),
            Token::Name(name) | Token::Constant(name) => format!("`{name}`"),
            Token::End => "its end".to_owned(),
            Token::Newline => "the end of a line".to_owned(),
            _ => "a value".to_owned(),
        };
        let is_cut_off = *self.peek() == Token::End;
        Beyond { is_cut_off, ..Beyond::at(format!("the code is not understood at {found}"), self.line()) }
    }

    fn skip_lines(&mut self) {
        while *self.peek() == Token::Newline {
            self.at += 1;
        }
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Beyond::at(format!("the code is nested too deeply: {RAISE_LIMITS}"), self.line()));
        }
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// In parentheses and blocks, `do` and `|` have their usual meaning.
    fn inside<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = (self.no_do, self.no_pipe);
        (self.no_do, self.no_pipe) = (false, false);
        let result = work(self);
        (self.no_do, self.no_pipe) = outer;
        result
    }

    /// `do` belongs to what is around.
    fn without_do<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.no_do, true);
        let result = work(self);
        self.no_do = outer;
        result
    }

    /// Statements up to one of the words, which is left.
    fn sequence(&mut self, until: &[&str]) -> Result<Node> {
        self.deeper(|parser| {
            parser.inside(|parser| {
                let mut nodes = Vec::new();
                loop {
                    match parser.peek() {
                        Token::Newline => parser.at += 1,
                        Token::End => break,
                        Token::Word(word) if until.contains(word) => break,
                        Token::Sign("}") if until.contains(&"}") => break,
                        Token::Sign(")") if until.contains(&")") => break,
                        _ => nodes.push(parser.statement()?),
                    }
                }
                Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Sequence(nodes) })
            })
        })
    }

    fn statement(&mut self) -> Result<Node> {
        match self.peek().clone() {
            Token::Template(text) => {
                self.at += 1;
                return Ok(Node::Write(text.into()));
            }
            Token::Output => {
                self.at += 1;
                let value = self.sequence_until_output_end()?;
                return Ok(Node::Output(Box::new(value)));
            }
            _ => {}
        }
        let mut node = if self.several_targets_follow() {
            self.several_targets()?
        } else {
            self.expression_statement()?
        };
        loop {
            node = if self.eat_word("if") {
                Node::If(Box::new(self.expression_statement()?), Box::new(node), Box::new(Node::Nil))
            } else if self.eat_word("unless") {
                Node::If(Box::new(self.expression_statement()?), Box::new(Node::Nil), Box::new(node))
            } else if self.is_word("while") || self.is_word("until") {
                let until = self.next() == Token::Word("until");
                let condition = self.expression_statement()?;
                let body_first = matches!(node, Node::Begin(_));
                Node::While(Box::new(While { condition, body: node, until, body_first }))
            } else if self.eat_word("rescue") {
                let otherwise = self.expression_statement()?;
                rescued(node, otherwise)
            } else {
                return Ok(node);
            };
        }
    }

    fn sequence_until_output_end(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        loop {
            match self.peek() {
                Token::Newline => self.at += 1,
                Token::OutputEnd => {
                    self.at += 1;
                    return Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Sequence(nodes) });
                }
                Token::End => return Err(self.unexpected()),
                _ => nodes.push(self.statement()?),
            }
        }
    }

    /// `a, *b = …` and its like stand here.
    fn several_targets_follow(&self) -> bool {
        let mut depth = 0_usize;
        let mut seen = false;
        let mut operand = false;
        for lexed in &self.tokens[self.at.min(self.tokens.len())..] {
            match &lexed.token {
                Token::Sign("[") => {
                    if depth == 0 && lexed.spaced && operand {
                        return false;
                    }
                    depth += 1;
                }
                Token::Sign("(") => depth += 1,
                Token::Sign(")" | "]") => {
                    let Some(less) = depth.checked_sub(1) else { return false };
                    depth = less;
                    operand = true;
                }
                Token::Newline | Token::End => return false,
                _ if depth > 0 => {}
                Token::Sign(",") => {
                    seen = true;
                    operand = false;
                }
                Token::Sign("*") if !operand => seen = true,
                Token::Sign("." | "::" | "&.") => operand = false,
                Token::Sign("=") => return seen,
                Token::Name(_)
                | Token::Instance(_)
                | Token::Shared(_)
                | Token::Global(_)
                | Token::Constant(_)
                | Token::Word("self") => {
                    if operand {
                        return false;
                    }
                    operand = true;
                }
                _ => return false,
            }
        }
        false
    }

    fn several_targets(&mut self) -> Result<Node> {
        let targets = self.targets("=")?;
        self.skip_lines();
        let mut value = self.right_side()?;
        if self.is_sign(",") {
            let mut items = vec![value];
            while self.eat_sign(",") {
                self.skip_lines();
                items.push(self.argument()?);
            }
            value = Node::Array(items);
        }
        Ok(Node::AssignAll(targets, Box::new(value)))
    }

    fn targets(&mut self, close: &'static str) -> Result<Targets> {
        let mut list = Vec::new();
        loop {
            if self.eat_sign(close) {
                return Ok(Targets { list });
            }
            if self.eat_sign("(") {
                list.push(Target::Several(self.deeper(|parser| parser.targets(")"))?));
            } else if self.eat_sign("*") {
                if self.is_sign(",") || self.is_sign(close) {
                    list.push(Target::Rest(None));
                } else {
                    let node = self.postfix()?;
                    self.declare(&node);
                    list.push(Target::Rest(Some(node)));
                }
            } else {
                let node = self.postfix()?;
                self.declare(&node);
                list.push(Target::One(node));
            }
            if !self.eat_sign(",") {
                self.need_sign(close)?;
                return Ok(Targets { list });
            }
        }
    }

    /// With `and`, `or` and `not`, which bind least.
    fn expression_statement(&mut self) -> Result<Node> {
        let mut left = self.not_expression()?;
        loop {
            if self.eat_word("and") {
                self.skip_lines();
                left = Node::And(Box::new(left), Box::new(self.not_expression()?));
            } else if self.eat_word("or") {
                self.skip_lines();
                left = Node::Or(Box::new(left), Box::new(self.not_expression()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn not_expression(&mut self) -> Result<Node> {
        if self.eat_word("not") {
            return self.deeper(|parser| Ok(Node::Not(Box::new(parser.not_expression()?))));
        }
        self.expression()
    }

    fn declare(&mut self, target: &Node) {
        if let Node::Name(name, _) = target {
            self.declare_name(name);
        }
    }

    fn declare_name(&mut self, name: &Arc<str>) {
        if !self.locals.contains(name) {
            self.locals.push(Arc::clone(name));
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|known| &**known == name)
    }
}

/// `body rescue otherwise`
fn rescued(body: Node, otherwise: Node) -> Node {
    let rescue = super::ast::Rescue { classes: Vec::new(), variable: None, body: otherwise };
    Node::Begin(Box::new(Begin { body, rescues: vec![rescue], otherwise: None, ensure: None }))
}
