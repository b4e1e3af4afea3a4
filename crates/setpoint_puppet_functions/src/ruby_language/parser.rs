//! From tokens to the tree.

use std::rc::Rc;

use super::Beyond;
use super::ast::{Block, Call, Node, Parameter, Part};
use super::lexer::{Lexed, Piece, Token};

/// Deeper code is refused.
const DEEPEST: usize = 150;

pub(super) fn parse(tokens: Vec<Lexed>) -> Result<Node> {
    let mut parser = Parser { tokens, at: 0, depth: 0, locals: Vec::new() };
    let program = parser.sequence(&[])?;
    if *parser.peek() != Token::End {
        return Err(Beyond::new(format!("the code is not understood at {:?}", parser.peek())));
    }
    Ok(program)
}

struct Parser {
    tokens: Vec<Lexed>,
    at: usize,
    depth: usize,
    /// The names that were assigned so far: they are variables, not calls.
    locals: Vec<Rc<str>>,
}

type Result<T> = std::result::Result<T, Beyond>;

/// The variable of the error, and what is done about it.
type Rescue = (Option<Rc<str>>, Box<Node>);

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
        Beyond::new(format!("the code is not understood at {:?}", self.peek()))
    }

    fn skip_lines(&mut self) {
        while *self.peek() == Token::Newline {
            self.at += 1;
        }
    }

    /// Statements up to one of the words, which is left.
    fn sequence(&mut self, until: &[&str]) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Beyond::new("the code is nested too deeply"));
        }
        let mut nodes = Vec::new();
        loop {
            match self.peek() {
                Token::Newline => self.at += 1,
                Token::End => break,
                Token::Word(word) if until.contains(word) => break,
                Token::Sign("}") if until.contains(&"}") => break,
                _ => nodes.push(self.statement()?),
            }
        }
        self.depth -= 1;
        Ok(Node::Sequence(nodes))
    }

    fn statement(&mut self) -> Result<Node> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.at += 1;
                return Ok(Node::Write(text));
            }
            Token::Output => {
                self.at += 1;
                let value = self.sequence_until_output_end()?;
                return Ok(Node::Output(Box::new(value)));
            }
            _ => {}
        }
        let mut node = self.expression_statement()?;
        loop {
            node = if self.eat_word("if") {
                Node::If(Box::new(self.expression_statement()?), Box::new(node), Box::new(Node::Nil))
            } else if self.eat_word("unless") {
                Node::If(Box::new(self.expression_statement()?), Box::new(Node::Nil), Box::new(node))
            } else if self.eat_word("rescue") {
                let otherwise = self.expression_statement()?;
                Node::Begin { body: Box::new(node), rescue: Some((None, Box::new(otherwise))) }
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
            return Ok(Node::Not(Box::new(self.not_expression()?)));
        }
        self.expression()
    }

    fn expression(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Beyond::new("the code is nested too deeply"));
        }
        let left = self.ternary()?;
        let result = self.assignment(left);
        self.depth -= 1;
        result
    }

    fn assignment(&mut self, left: Node) -> Result<Node> {
        // `a, b = value`
        if self.is_sign(",") && matches!(left, Node::Name(_)) && self.multiple_assignment_follows() {
            let mut targets = vec![left];
            while self.eat_sign(",") {
                targets.push(self.postfix()?);
            }
            self.need_sign("=")?;
            for target in &targets {
                self.declare(target);
            }
            let value = self.right_side()?;
            return Ok(Node::AssignAll(targets, Box::new(value)));
        }
        if self.is_sign("=") && is_target(&left) {
            self.at += 1;
            self.declare(&left);
            let value = self.right_side()?;
            return Ok(Node::Assign(Box::new(left), Box::new(value)));
        }
        for (sign, operation) in [
            ("||=", "||"),
            ("&&=", "&&"),
            ("+=", "+"),
            ("-=", "-"),
            ("*=", "*"),
            ("/=", "/"),
            ("<<=", "<<"),
            ("|=", "|"),
            ("%=", "%"),
        ] {
            if self.is_sign(sign) && is_target(&left) {
                self.at += 1;
                self.declare(&left);
                let value = self.right_side()?;
                return Ok(Node::Update(Box::new(left), operation, Box::new(value)));
            }
        }
        Ok(left)
    }

    fn multiple_assignment_follows(&self) -> bool {
        let mut at = self.at;
        loop {
            match self.tokens.get(at).map(|lexed| &lexed.token) {
                Some(Token::Sign(",") | Token::Name(_)) => at += 1,
                Some(Token::Sign("=")) => return true,
                _ => return false,
            }
        }
    }

    fn right_side(&mut self) -> Result<Node> {
        self.skip_lines();
        self.expression()
    }

    fn declare(&mut self, target: &Node) {
        if let Node::Name(name) = target
            && !self.locals.contains(name)
        {
            self.locals.push(Rc::clone(name));
        }
    }

    fn ternary(&mut self) -> Result<Node> {
        let condition = self.binary(0)?;
        if !self.is_sign("?") {
            return Ok(condition);
        }
        self.at += 1;
        self.skip_lines();
        let yes = self.ternary()?;
        self.skip_lines();
        self.need_sign(":")?;
        self.skip_lines();
        let no = self.ternary()?;
        Ok(Node::If(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn binary(&mut self, level: usize) -> Result<Node> {
        const LEVELS: &[&[&str]] = &[
            &["..", "..."],
            &["||"],
            &["&&"],
            &["<=>", "==", "===", "!=", "=~", "!~"],
            &["<", "<=", ">", ">="],
            &["|", "^"],
            &["&"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
            &["**"],
        ];
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let sign = match self.peek() {
                Token::Sign(sign) if signs.contains(sign) => *sign,
                _ => return Ok(left),
            };
            self.at += 1;
            self.skip_lines();
            let right = self.binary(level + 1)?;
            left = match sign {
                ".." | "..." => Node::Range(Box::new(left), Box::new(right), sign == "..."),
                "||" => Node::Or(Box::new(left), Box::new(right)),
                "&&" => Node::And(Box::new(left), Box::new(right)),
                "!=" => Node::Not(Box::new(call(left, "==", vec![right]))),
                "!~" => Node::Not(Box::new(call(left, "=~", vec![right]))),
                _ => call(left, sign, vec![right]),
            };
        }
    }

    fn unary(&mut self) -> Result<Node> {
        if self.eat_sign("!") {
            return Ok(Node::Not(Box::new(self.unary()?)));
        }
        if self.eat_sign("-") {
            return Ok(match self.unary()? {
                Node::Integer(number) => Node::Integer(-number),
                Node::Float(number) => Node::Float(-number),
                other => call(other, "-@", Vec::new()),
            });
        }
        if self.eat_word("defined?") {
            let parenthesised = self.eat_sign("(");
            let node = self.expression()?;
            if parenthesised {
                self.need_sign(")")?;
            }
            return Ok(Node::Defined(Box::new(node)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Node> {
        let mut node = self.primary()?;
        loop {
            // A call may go on in the next line: `.map do`.
            let mut ahead = 0;
            while *self.peek_after(ahead) == Token::Newline {
                ahead += 1;
            }
            if ahead > 0 && matches!(self.peek_after(ahead), Token::Sign("." | "&.")) {
                self.at += ahead;
            }
            if self.is_sign(".") || self.is_sign("&.") {
                let safe = self.is_sign("&.");
                self.at += 1;
                let name = match self.next() {
                    Token::Name(name) | Token::Constant(name) => name,
                    Token::Word(name) => name.to_owned(),
                    Token::Label(name) => {
                        // `x.a ? b.c: d`: the colon belongs to the conditional.
                        self.at -= 1;
                        self.tokens[self.at] = Lexed { token: Token::Sign(":"), spaced: false };
                        name
                    }
                    Token::Sign("(") => {
                        self.at -= 1;
                        "call".to_owned()
                    }
                    _ => return Err(self.unexpected()),
                };
                node = self.call_of(Some(node), &name, safe)?;
            } else if self.is_sign("[") && !self.spaced() {
                self.at += 1;
                let keys = self.list("]")?;
                node = Node::Index(Box::new(node), keys);
            } else if self.is_sign("::") {
                self.at += 1;
                match (node, self.next()) {
                    (Node::Constant(outer), Token::Constant(inner)) => {
                        node = Node::Constant(format!("{outer}::{inner}"));
                    }
                    (outer, Token::Name(name)) => node = self.call_of(Some(outer), &name, false)?,
                    _ => return Err(self.unexpected()),
                }
            } else {
                return Ok(node);
            }
        }
    }

    /// A call with its arguments and its block.
    fn call_of(&mut self, receiver: Option<Node>, name: &str, safe: bool) -> Result<Node> {
        // `a.b = c`
        if receiver.is_some() && self.is_sign("=") && !matches!(self.peek_after(1), Token::Sign("=")) {
            return Err(Beyond::new("an attribute is assigned"));
        }
        let mut block_argument = None;
        let mut arguments = Vec::new();
        if self.is_sign("(") && !self.spaced() {
            self.at += 1;
            arguments = self.list(")")?;
        } else if self.command_argument_follows() {
            arguments = self.command_arguments()?;
        }
        if let Some(Node::Call(last)) = arguments.last()
            && &*last.name == "&"
            && last.receiver.is_none()
            && let Some(Node::Call(mut marked)) = arguments.pop()
        {
            block_argument = marked.arguments.pop();
        }
        let block = self.block()?;
        Ok(Node::Call(Box::new(Call { receiver, name: name.into(), arguments, block, block_argument, safe })))
    }

    /// `raise "x"`: an argument without parentheses.
    fn command_argument_follows(&self) -> bool {
        match self.peek() {
            Token::Integer(_)
            | Token::Float(_)
            | Token::Text_(_)
            | Token::Regex(..)
            | Token::Symbol(_)
            | Token::Name(_)
            | Token::Constant(_)
            | Token::Instance(_)
            | Token::Global(_)
            | Token::Label(_) => true,
            Token::Word(word) => matches!(*word, "nil" | "true" | "false" | "self" | "not"),
            Token::Sign("[") => self.spaced(),
            Token::Sign("->") => true,
            Token::Sign(sign @ ("-" | "*" | "&" | ":")) => {
                let _ = sign;
                self.spaced() && self.tokens.get(self.at + 1).is_some_and(|after| !after.spaced)
            }
            _ => false,
        }
    }

    fn command_arguments(&mut self) -> Result<Vec<Node>> {
        let mut arguments = vec![self.argument()?];
        while self.eat_sign(",") {
            self.skip_lines();
            arguments.push(self.argument()?);
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Node> {
        if self.eat_sign("*") {
            return Ok(Node::Splat(Box::new(self.expression()?)));
        }
        if self.eat_sign("&") {
            let value = self.expression()?;
            return Ok(Node::Call(Box::new(Call {
                receiver: None,
                name: "&".into(),
                arguments: vec![value],
                block: None,
                block_argument: None,
                safe: false,
            })));
        }
        if matches!(self.peek(), Token::Label(_)) {
            return self.pairs(None);
        }
        let value = self.not_expression()?;
        if self.is_sign("=>") {
            return self.pairs(Some(value));
        }
        Ok(value)
    }

    /// `a => b, c: d` as one hash.
    fn pairs(&mut self, first: Option<Node>) -> Result<Node> {
        let mut pairs = Vec::new();
        let mut key = first;
        loop {
            let key_node = match key.take() {
                Some(key) => key,
                None => match self.peek().clone() {
                    Token::Label(name) => {
                        self.at += 1;
                        self.skip_lines();
                        pairs.push((Node::Symbol(name.as_str().into()), self.expression()?));
                        if !self.another_pair() {
                            return Ok(Node::Hash(pairs));
                        }
                        continue;
                    }
                    _ => self.expression()?,
                },
            };
            self.need_sign("=>")?;
            self.skip_lines();
            pairs.push((key_node, self.expression()?));
            if !self.another_pair() {
                return Ok(Node::Hash(pairs));
            }
        }
    }

    fn another_pair(&mut self) -> bool {
        if !self.is_sign(",") {
            return false;
        }
        self.at += 1;
        self.skip_lines();
        true
    }

    /// Items up to a closing sign.
    fn list(&mut self, close: &str) -> Result<Vec<Node>> {
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_sign(close) {
                return Ok(items);
            }
            items.push(self.argument()?);
            self.skip_lines();
            if !self.eat_sign(",") {
                self.skip_lines();
                self.need_sign(close)?;
                return Ok(items);
            }
        }
    }

    fn block(&mut self) -> Result<Option<Rc<Block>>> {
        let close = if self.is_sign("{") {
            "}"
        } else if self.is_word("do") {
            "end"
        } else {
            return Ok(None);
        };
        self.at += 1;
        let known = self.locals.len();
        let parameters = if self.eat_sign("|") { self.parameters("|")? } else { Vec::new() };
        let body = self.sequence(&[close])?;
        self.at += 1;
        self.locals.truncate(known);
        Ok(Some(Rc::new(Block { parameters, body })))
    }

    fn parameters(&mut self, close: &str) -> Result<Vec<Parameter>> {
        let mut parameters = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_sign(close) {
                return Ok(parameters);
            }
            let parameter = if self.eat_sign("(") {
                Parameter::Pattern(self.parameters(")")?)
            } else {
                let rest = self.eat_sign("*");
                let Token::Name(name) = self.next() else { return Err(self.unexpected()) };
                let name: Rc<str> = name.into();
                self.locals.push(Rc::clone(&name));
                if rest {
                    Parameter::Rest(name)
                } else if self.eat_sign("=") {
                    Parameter::Optional(name, self.binary(5)?)
                } else {
                    Parameter::Name(name)
                }
            };
            parameters.push(parameter);
            if !self.eat_sign(",") {
                self.need_sign(close)?;
                return Ok(parameters);
            }
        }
    }

    fn primary(&mut self) -> Result<Node> {
        let token = self.next();
        Ok(match token {
            Token::Integer(number) => Node::Integer(number),
            Token::Float(number) => Node::Float(number),
            Token::Text_(pieces) => {
                let mut parts = self.parts(pieces)?;
                // Texts side by side are one.
                while let Token::Text_(more) = self.peek().clone() {
                    self.at += 1;
                    parts.extend(self.parts(more)?);
                }
                Node::Text(parts)
            }
            Token::Regex(pieces, flags) => Node::Regex(self.parts(pieces)?, flags),
            Token::Symbol(name) => Node::Symbol(name.into()),
            Token::Instance(name) => Node::Instance(name.into()),
            Token::Global(name) => Node::Global(name.into()),
            Token::Constant(name) => {
                if self.is_sign("(") && !self.spaced() || matches!(self.peek(), Token::Text_(_)) {
                    self.call_of(None, &name, false)?
                } else {
                    Node::Constant(name)
                }
            }
            Token::Name(name) => self.name(&name)?,
            Token::Sign("(") => {
                let mut nodes = Vec::new();
                loop {
                    self.skip_lines();
                    if self.eat_sign(")") {
                        break;
                    }
                    nodes.push(self.statement()?);
                }
                if nodes.len() == 1 { nodes.remove(0) } else { Node::Sequence(nodes) }
            }
            Token::Sign("[") => Node::Array(self.list("]")?),
            Token::Sign("{") => {
                self.skip_lines();
                if self.eat_sign("}") {
                    return Ok(Node::Hash(Vec::new()));
                }
                let mut pairs = Vec::new();
                loop {
                    self.skip_lines();
                    if self.eat_sign("}") {
                        return Ok(Node::Hash(pairs));
                    }
                    if let Token::Label(name) = self.peek().clone() {
                        self.at += 1;
                        self.skip_lines();
                        pairs.push((Node::Symbol(name.as_str().into()), self.expression()?));
                    } else {
                        let key = self.expression()?;
                        self.skip_lines();
                        self.need_sign("=>")?;
                        self.skip_lines();
                        pairs.push((key, self.expression()?));
                    }
                    self.skip_lines();
                    if !self.eat_sign(",") {
                        self.skip_lines();
                        self.need_sign("}")?;
                        return Ok(Node::Hash(pairs));
                    }
                }
            }
            Token::Sign("->") => {
                let parameters = if self.eat_sign("(") { self.parameters(")")? } else { Vec::new() };
                let Some(block) = self.block()? else { return Err(self.unexpected()) };
                let block = Rc::into_inner(block).ok_or_else(|| Beyond::new("a lambda is not understood"))?;
                Node::Lambda(Rc::new(Block { parameters, body: block.body }))
            }
            Token::Sign("::") => return self.primary(),
            Token::Word(word) => return self.keyword(word),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn name(&mut self, name: &str) -> Result<Node> {
        let is_local = self.locals.iter().any(|known| &**known == name);
        let called = self.is_sign("(") && !self.spaced();
        if is_local && !called {
            return Ok(Node::Name(name.into()));
        }
        if matches!(name, "lambda" | "proc") {
            let Some(block) = self.block()? else { return Err(self.unexpected()) };
            return Ok(Node::Lambda(block));
        }
        // `x = 1` makes a variable; `x [1]`, `x -1` are left to the reader.
        if self.is_sign("=") || self.is_sign(",") && self.multiple_assignment_follows() {
            return Ok(Node::Name(name.into()));
        }
        let argument_follows = self.is_sign("(") && !self.spaced() || self.command_argument_follows();
        if argument_follows || self.is_sign("{") || self.is_word("do") && name == "loop" {
            return self.call_of(None, name, false);
        }
        Ok(Node::Name(name.into()))
    }

    fn keyword(&mut self, word: &'static str) -> Result<Node> {
        Ok(match word {
            "nil" => Node::Nil,
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "self" => Node::Itself,
            "if" => return self.conditional(false),
            "unless" => return self.conditional(true),
            "case" => return self.case(),
            "while" | "until" => {
                let condition = self.expression_statement()?;
                self.eat_word("do");
                let body = self.sequence(&["end"])?;
                self.at += 1;
                Node::While(Box::new(condition), Box::new(body), word == "until")
            }
            "for" => {
                let mut parameters = Vec::new();
                loop {
                    let Token::Name(name) = self.next() else { return Err(self.unexpected()) };
                    let name: Rc<str> = name.into();
                    self.locals.push(Rc::clone(&name));
                    parameters.push(Parameter::Name(name));
                    if !self.eat_sign(",") {
                        break;
                    }
                }
                self.need_word("in")?;
                let items = self.expression_statement()?;
                self.eat_word("do");
                let body = self.sequence(&["end"])?;
                self.at += 1;
                Node::For(parameters, Box::new(items), Box::new(body))
            }
            "begin" => {
                let body = self.sequence(&["rescue", "ensure", "end"])?;
                let rescue = self.rescue()?;
                if self.eat_word("ensure") {
                    return Err(Beyond::new("the code uses ensure"));
                }
                self.need_word("end")?;
                Node::Begin { body: Box::new(body), rescue }
            }
            "def" => {
                let (Token::Name(name) | Token::Constant(name)) = self.next() else {
                    return Err(self.unexpected());
                };
                let outer = std::mem::take(&mut self.locals);
                let parameters = if self.eat_sign("(") { self.parameters(")")? } else { Vec::new() };
                let body = self.sequence(&["rescue", "end"])?;
                let rescue = self.rescue()?;
                self.need_word("end")?;
                self.locals = outer;
                let body = if rescue.is_some() { Node::Begin { body: Box::new(body), rescue } } else { body };
                Node::Define(name.into(), Rc::new(Block { parameters, body }))
            }
            "next" => Node::Next(self.jump_value()?),
            "break" => Node::Break(self.jump_value()?),
            "return" => Node::Return(self.jump_value()?),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn rescue(&mut self) -> Result<Option<Rescue>> {
        if !self.eat_word("rescue") {
            return Ok(None);
        }
        let mut name = None;
        loop {
            match self.peek().clone() {
                Token::Constant(_) | Token::Sign("::" | ",") => self.at += 1,
                Token::Sign("=>") => {
                    self.at += 1;
                    let Token::Name(variable) = self.next() else { return Err(self.unexpected()) };
                    let variable: Rc<str> = variable.into();
                    self.locals.push(Rc::clone(&variable));
                    name = Some(variable);
                }
                _ => break,
            }
        }
        let body = self.sequence(&["rescue", "ensure", "end"])?;
        Ok(Some((name, Box::new(body))))
    }

    fn jump_value(&mut self) -> Result<Option<Box<Node>>> {
        let ends = match self.peek() {
            Token::Newline | Token::End | Token::OutputEnd | Token::Text(_) | Token::Sign("}" | ")") => true,
            Token::Word(word) => matches!(*word, "if" | "unless" | "end"),
            _ => false,
        };
        if ends { Ok(None) } else { Ok(Some(Box::new(self.expression()?))) }
    }

    fn conditional(&mut self, negated: bool) -> Result<Node> {
        let condition = self.expression_statement()?;
        self.eat_word("then");
        let then = self.sequence(&["elsif", "else", "end"])?;
        let otherwise = match self.next() {
            Token::Word("elsif") => self.conditional(false)?,
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
        let subject =
            if *self.peek() == Token::Newline { None } else { Some(Box::new(self.expression_statement()?)) };
        let mut branches = Vec::new();
        loop {
            // White space between `case` and the first `when` is not written.
            while matches!(self.peek(), Token::Newline)
                || branches.is_empty() && matches!(self.peek(), Token::Text(_))
            {
                self.at += 1;
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

    fn parts(&mut self, pieces: Vec<Piece>) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                Piece::Literal(text) => Part::Literal(text.into()),
                Piece::Code(tokens) => {
                    let mut inner = Self { tokens, at: 0, depth: self.depth, locals: self.locals.clone() };
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

fn is_target(node: &Node) -> bool {
    matches!(node, Node::Name(_) | Node::Instance(_) | Node::Global(_) | Node::Index(..))
}

fn call(receiver: Node, name: &str, arguments: Vec<Node>) -> Node {
    Node::Call(Box::new(Call {
        receiver: Some(receiver),
        name: name.into(),
        arguments,
        block: None,
        block_argument: None,
        safe: false,
    }))
}
