//! Tokens to a tree of commands.

use crate::NotUnderstood;
use crate::lexer::{LINE_END, Token, Word};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Simple(Simple),
    Pipe(Vec<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Sequence(Vec<Node>),
    Not(Box<Node>),
    /// In a subshell: the working directory is as before afterwards.
    Group(Box<Node>),
}

/// A program with its words, and where its input and output go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Simple {
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) from: Option<u32>,
    pub(crate) kind: &'static str,
    pub(crate) target: Word,
}

/// Groups within groups.
const MAX_DEPTH: usize = 32;

const RESERVED: [&str; 14] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "function",
    "select",
];

pub(crate) fn parse(tokens: &[Token]) -> Result<Node, NotUnderstood> {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let node = parser.list()?;
    match parser.peek() {
        None => Ok(node),
        Some(token) => Err(NotUnderstood::new(name(token), "it does not belong here")),
    }
}

fn name(token: &Token) -> String {
    match token {
        Token::Word(word) => word.text.clone(),
        Token::Operator(LINE_END) => "the end of the line".to_owned(),
        Token::Operator(operator) => (*operator).to_owned(),
        Token::Redirect(_, kind) => (*kind).to_owned(),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn operator(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Operator(operator)) if *operator == wanted);
        self.at += usize::from(found);
        found
    }

    /// A line may end after an operator.
    fn skip_line_ends(&mut self) {
        while self.operator(LINE_END) {}
    }

    fn is_word(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if !word.quoted && word.text == wanted)
    }

    fn list(&mut self) -> Result<Node, NotUnderstood> {
        let mut all = Vec::new();
        loop {
            self.skip_line_ends();
            if self.peek().is_none() || matches!(self.peek(), Some(Token::Operator(")"))) || self.is_word("}")
            {
                break;
            }
            all.push(self.and_or()?);
            if self.operator("&") {
                return Err(NotUnderstood::new("&", "a command in the background ends later"));
            }
            if !self.operator(";") && !self.operator(LINE_END) {
                break;
            }
        }
        if all.len() == 1 { Ok(all.remove(0)) } else { Ok(Node::Sequence(all)) }
    }

    fn and_or(&mut self) -> Result<Node, NotUnderstood> {
        let mut left = self.pipeline()?;
        loop {
            let and = self.operator("&&");
            if !and && !self.operator("||") {
                return Ok(left);
            }
            self.skip_line_ends();
            let right = self.pipeline()?;
            left = if and {
                Node::And(Box::new(left), Box::new(right))
            } else {
                Node::Or(Box::new(left), Box::new(right))
            };
        }
    }

    fn pipeline(&mut self) -> Result<Node, NotUnderstood> {
        if self.is_word("!") {
            self.at += 1;
            return self.nested(|parser| Ok(Node::Not(Box::new(parser.pipeline()?))));
        }
        let mut all = vec![self.command()?];
        while self.operator("|") {
            self.skip_line_ends();
            all.push(self.command()?);
        }
        if all.len() == 1 { Ok(all.remove(0)) } else { Ok(Node::Pipe(all)) }
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Node, NotUnderstood>,
    ) -> Result<Node, NotUnderstood> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotUnderstood::new("(", "groups are nested too deeply"));
        }
        let node = inner(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn command(&mut self) -> Result<Node, NotUnderstood> {
        if self.operator("(") {
            let node = self.nested(Self::list)?;
            if !self.operator(")") {
                return Err(NotUnderstood::new("(", "it is not closed"));
            }
            self.no_redirect()?;
            return Ok(Node::Group(Box::new(node)));
        }
        if self.is_word("{") {
            self.at += 1;
            let node = self.nested(Self::list)?;
            if !self.is_word("}") {
                return Err(NotUnderstood::new("{", "it is not closed"));
            }
            self.at += 1;
            self.no_redirect()?;
            return Ok(node);
        }
        let mut simple = Simple::default();
        loop {
            match self.peek() {
                Some(Token::Word(word)) => {
                    if simple.words.is_empty() && !word.quoted && RESERVED.contains(&word.text.as_str()) {
                        return Err(NotUnderstood::new(&word.text, "programs of the shell are not read"));
                    }
                    simple.words.push(word.clone());
                    self.at += 1;
                }
                Some(Token::Redirect(from, kind)) => {
                    self.at += 1;
                    let Some(Token::Word(target)) = self.peek() else {
                        return Err(NotUnderstood::new(*kind, "the redirection has no target"));
                    };
                    simple.redirects.push(Redirect { from: *from, kind, target: target.clone() });
                    self.at += 1;
                }
                _ => break,
            }
        }
        if simple.words.is_empty() && simple.redirects.is_empty() {
            let found = self.peek().map_or_else(|| "end of the command".to_owned(), name);
            return Err(NotUnderstood::new(found, "a command is missing before it"));
        }
        Ok(Node::Simple(simple))
    }

    fn no_redirect(&self) -> Result<(), NotUnderstood> {
        match self.peek() {
            Some(Token::Redirect(_, kind)) => {
                Err(NotUnderstood::new(*kind, "the output of a group is not followed"))
            }
            _ => Ok(()),
        }
    }
}
