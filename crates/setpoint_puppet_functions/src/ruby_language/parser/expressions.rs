//! Operators, assignments, calls and their arguments.

use std::sync::Arc;

use super::{Parser, Result, rescued};
use crate::ruby_language::Beyond;
use crate::ruby_language::ast::{Block, Call, Node, Pair, Parameter, Parameters, Part};
use crate::ruby_language::lexer::{Lexed, Token};

/// From what binds least to what binds most.
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
];

const UPDATES: &[(&str, &str)] = &[
    ("||=", "||"),
    ("&&=", "&&"),
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("<<=", "<<"),
    (">>=", ">>"),
    ("|=", "|"),
    ("&=", "&"),
    ("^=", "^"),
    ("%=", "%"),
    ("**=", "**"),
];

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Node> {
        self.deeper(|parser| {
            let left = parser.ternary()?;
            parser.assignment(left)
        })
    }

    fn assignment(&mut self, left: Node) -> Result<Node> {
        if self.is_sign("=") && is_target(&left) {
            self.at += 1;
            self.declare(&left);
            let value = self.right_side()?;
            return Ok(Node::Assign(Box::new(left), Box::new(value)));
        }
        let update = UPDATES.iter().find(|(sign, _)| self.is_sign(sign));
        if let Some((_, operation)) = update
            && is_target(&left)
        {
            self.at += 1;
            self.declare(&left);
            let value = self.right_side()?;
            return Ok(Node::Update(Box::new(left), operation, Box::new(value)));
        }
        Ok(left)
    }

    pub(super) fn right_side(&mut self) -> Result<Node> {
        self.skip_lines();
        let first = if self.is_sign("*") { self.argument()? } else { self.expression()? };
        let is_list = matches!(first, Node::Splat(_)) || self.is_sign(",") && self.list_follows();
        if is_list {
            let mut items = vec![first];
            while self.eat_sign(",") {
                self.skip_lines();
                items.push(self.argument()?);
            }
            return Ok(Node::Array(items));
        }
        if self.eat_word("rescue") {
            let otherwise = self.expression()?;
            return Ok(rescued(first, otherwise));
        }
        Ok(first)
    }

    /// `a = 1, 2`: only a statement has such a list, and only if it began with the assignment.
    fn list_follows(&self) -> bool {
        let mut at = self.at;
        let mut depth = 0_usize;
        while at > 0 {
            at -= 1;
            match &self.tokens[at].token {
                Token::Sign(")" | "]" | "}") => depth += 1,
                Token::Sign("(" | "[" | "{" | "|") if depth == 0 => return false,
                Token::Sign("(" | "[" | "{") => depth -= 1,
                Token::Newline | Token::Word("do" | "then" | "else") if depth == 0 => break,
                _ => {}
            }
        }
        // The tokens of the statement up to `=` must be targets alone.
        let start = if at == 0 { 0 } else { at + 1 };
        let mut operand = false;
        for lexed in &self.tokens[start.min(self.at)..self.at] {
            match &lexed.token {
                Token::Sign("=") => return true,
                Token::Newline => operand = false,
                Token::Sign("," | "." | "::" | "*" | "[" | "]" | "(" | ")") => operand = false,
                Token::Name(_) | Token::Instance(_) | Token::Constant(_) | Token::Global(_) if !operand => {
                    operand = true;
                }
                _ => return false,
            }
        }
        false
    }

    fn ternary(&mut self) -> Result<Node> {
        let condition = self.binary(0)?;
        if !self.is_sign("?") {
            return Ok(condition);
        }
        self.at += 1;
        self.deeper(|parser| {
            parser.skip_lines();
            let yes = parser.ternary()?;
            let yes = parser.assignment(yes)?;
            parser.skip_lines();
            parser.need_sign(":")?;
            parser.skip_lines();
            let no = parser.ternary()?;
            let no = parser.assignment(no)?;
            Ok(Node::If(Box::new(condition), Box::new(yes), Box::new(no)))
        })
    }

    pub(super) fn binary(&mut self, level: usize) -> Result<Node> {
        let Some(signs) = LEVELS.get(level) else { return self.unary_minus() };
        if level == 0 && (self.is_sign("..") || self.is_sign("...")) {
            let exclusive = self.next() == Token::Sign("...");
            let right = self.binary(1)?;
            return Ok(Node::Range(None, Some(Box::new(right)), exclusive));
        }
        let mut left = self.binary(level + 1)?;
        loop {
            let sign = match self.peek() {
                Token::Sign(sign) if signs.contains(sign) => *sign,
                _ => return Ok(left),
            };
            if sign == "|" && self.no_pipe {
                return Ok(left);
            }
            let line = self.line();
            self.at += 1;
            if matches!(sign, ".." | "...")
                && matches!(
                    self.peek(),
                    Token::Sign(")" | "]") | Token::Newline | Token::End | Token::Word("then")
                )
            {
                left = Node::Range(Some(Box::new(left)), None, sign == "...");
                continue;
            }
            self.skip_lines();
            // `a && b = c`
            let right = if matches!(sign, "&&" | "||") {
                let right = if self.eat_word("not") {
                    Node::Not(Box::new(self.expression()?))
                } else {
                    self.binary(level + 1)?
                };
                self.assignment(right)?
            } else {
                self.binary(level + 1)?
            };
            left = match sign {
                ".." | "..." => Node::Range(Some(Box::new(left)), Some(Box::new(right)), sign == "..."),
                "||" => Node::Or(Box::new(left), Box::new(right)),
                "&&" => Node::And(Box::new(left), Box::new(right)),
                "!=" => Node::Not(Box::new(call(left, "==", vec![right], line))),
                "!~" => Node::Not(Box::new(call(left, "=~", vec![right], line))),
                "=~" => {
                    let names = self.named_groups(&left);
                    let matching = call(left, sign, vec![right], line);
                    if names.is_empty() { matching } else { Node::NamedMatch(Box::new(matching), names) }
                }
                _ => call(left, sign, vec![right], line),
            };
        }
    }

    /// The variables that a literal expression on the left of `=~` sets.
    fn named_groups(&mut self, left: &Node) -> Vec<Arc<str>> {
        let Node::Regex(parts, _) = left else { return Vec::new() };
        let [Part::Literal(source)] = parts.as_slice() else { return Vec::new() };
        let mut names: Vec<Arc<str>> = Vec::new();
        for group in source.split("(?<").skip(1) {
            if let Some((name, _)) = group.split_once('>')
                && name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            {
                names.push(name.into());
            }
        }
        for name in &names {
            self.declare_name(name);
        }
        names
    }

    /// `-2 ** 2` is `-(2 ** 2)`, but `-2` alone is a number.
    fn unary_minus(&mut self) -> Result<Node> {
        let line = self.line();
        if self.eat_sign("-") {
            return self.deeper(|parser| {
                let is_number = matches!(parser.peek(), Token::Integer(_) | Token::Float(_));
                if is_number && !matches!(parser.peek_after(1), Token::Sign("**")) {
                    let number = match parser.next() {
                        Token::Integer(number) => Node::Integer(-number),
                        Token::Float(number) => Node::Float(-number),
                        _ => Node::Nil,
                    };
                    return parser.postfix_of(number);
                }
                let operand = parser.unary_minus()?;
                Ok(call(operand, "-@", Vec::new(), line))
            });
        }
        self.power()
    }

    fn power(&mut self) -> Result<Node> {
        let left = self.unary()?;
        let line = self.line();
        if self.eat_sign("**") {
            self.skip_lines();
            let right = self.deeper(Self::unary_minus)?;
            return Ok(call(left, "**", vec![right], line));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node> {
        let line = self.line();
        if self.eat_sign("!") {
            return self.deeper(|parser| {
                let operand = parser.unary()?;
                Ok(Node::Not(Box::new(parser.assignment(operand)?)))
            });
        }
        if self.eat_sign("~") {
            let operand = self.deeper(Self::unary)?;
            return Ok(call(operand, "~", Vec::new(), line));
        }
        if self.eat_sign("+") {
            return self.deeper(Self::unary);
        }
        if self.eat_word("defined?") {
            let parenthesised = self.is_sign("(");
            if parenthesised {
                self.at += 1;
                let node = self.inside(Self::expression_statement)?;
                self.need_sign(")")?;
                return self.postfix_of(Node::Defined(Box::new(node)));
            }
            let node = self.deeper(Self::unary)?;
            return Ok(Node::Defined(Box::new(node)));
        }
        self.postfix()
    }

    pub(super) fn postfix(&mut self) -> Result<Node> {
        let node = self.primary()?;
        self.postfix_of(node)
    }

    fn postfix_of(&mut self, mut node: Node) -> Result<Node> {
        loop {
            // A call may go on in the next line: `.map do`.
            let mut ahead = 0;
            while *self.peek_after(ahead) == Token::Newline {
                ahead += 1;
            }
            if ahead > 0 && matches!(self.peek_after(ahead), Token::Sign("." | "&.")) {
                self.at += ahead;
            }
            let line = self.line();
            if self.is_sign(".") || self.is_sign("&.") {
                let safe = self.is_sign("&.");
                self.at += 1;
                self.skip_lines();
                let name = match self.next() {
                    Token::Name(name) | Token::Constant(name) => name,
                    Token::Word(name) => name.to_owned(),
                    Token::Label(name) => {
                        // `x.a ? b.c: d`: the colon belongs to the conditional.
                        self.at -= 1;
                        let line = self.line();
                        self.tokens[self.at] = Lexed { token: Token::Sign(":"), spaced: false, line };
                        name
                    }
                    Token::Sign("(") => {
                        self.at -= 1;
                        "call".to_owned()
                    }
                    Token::Sign(
                        sign @ ("+" | "-" | "*" | "/" | "==" | "<=>" | "<<" | "&" | "|" | "<" | ">" | "!"),
                    ) => sign.to_owned(),
                    Token::Sign("[") => {
                        self.need_sign("]")?;
                        "[]".to_owned()
                    }
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                };
                node = self.call_of(Some(node), &name, safe, line)?;
            } else if self.is_sign("[") && !self.spaced() {
                self.at += 1;
                let keys = self.inside(|parser| parser.list("]"))?;
                node = Node::Index(Box::new(node), keys, line);
            } else if self.is_sign("::") && !self.spaced() {
                self.at += 1;
                match self.next() {
                    Token::Constant(inner) if self.is_sign("(") && !self.spaced() => {
                        node = self.call_of(Some(node), &inner, false, line)?;
                    }
                    Token::Constant(inner) => node = Node::Scoped(Some(Box::new(node)), inner.into()),
                    Token::Name(name) => node = self.call_of(Some(node), &name, false, line)?,
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                }
            } else {
                return Ok(node);
            }
        }
    }

    /// A call with its arguments and its block.
    pub(super) fn call_of(
        &mut self,
        receiver: Option<Node>,
        name: &str,
        safe: bool,
        line: u32,
    ) -> Result<Node> {
        let mut arguments = Vec::new();
        if self.is_sign("(") && !self.spaced() {
            self.at += 1;
            arguments = self.inside(|parser| parser.list(")"))?;
        } else if self.command_argument_follows() && !(receiver.is_some() && self.is_sign("=")) {
            arguments = self.without_do(Self::command_arguments)?;
        }
        let mut block_argument = None;
        if matches!(arguments.last(), Some(Node::BlockPass(_)))
            && let Some(Node::BlockPass(passed)) = arguments.pop()
        {
            block_argument = match passed {
                Some(passed) => Some(*passed),
                None => return Err(Beyond::at("a block is passed on without a name", line)),
            };
        }
        let block = self.block()?;
        let name = name.into();
        Ok(Node::Call(Box::new(Call { receiver, name, arguments, block, block_argument, safe, line })))
    }

    /// `raise "x"`: an argument without parentheses.
    pub(super) fn command_argument_follows(&self) -> bool {
        if !self.spaced() {
            // A name that ends so is complete, and needs no space: `list.include?name`.
            let is_complete = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(
                |before| matches!(&before.token, Token::Name(name) if name.ends_with(['?', '!'])),
            );
            return match self.peek() {
                Token::Text(_) => true,
                Token::Name(_) | Token::Constant(_) | Token::Integer(_) | Token::Instance(_) => is_complete,
                _ => false,
            };
        }
        let tight = self.tokens.get(self.at + 1).is_some_and(|after| !after.spaced);
        match self.peek() {
            Token::Integer(_)
            | Token::Float(_)
            | Token::Text(_)
            | Token::Regex(..)
            | Token::Symbol(_)
            | Token::SymbolText(_)
            | Token::Name(_)
            | Token::Constant(_)
            | Token::Instance(_)
            | Token::Shared(_)
            | Token::Global(_)
            | Token::Command
            | Token::LabelText(_)
            | Token::Label(_) => true,
            Token::Word(word) => matches!(
                *word,
                "nil"
                    | "true"
                    | "false"
                    | "self"
                    | "not"
                    | "defined?"
                    | "def"
                    | "super"
                    | "yield"
                    | "case"
                    | "__method__"
            ),
            Token::Sign("[" | "->" | "(") => true,
            Token::Sign("-" | "*" | "&" | "::" | "**") => tight,
            Token::Sign("!") => true,
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

    pub(super) fn argument(&mut self) -> Result<Node> {
        if self.eat_sign("*") {
            return Ok(Node::Splat(Box::new(self.expression()?)));
        }
        if self.eat_sign("&") {
            if self.is_sign(")") {
                return Ok(Node::BlockPass(None));
            }
            return Ok(Node::BlockPass(Some(Box::new(self.expression()?))));
        }
        if matches!(self.peek(), Token::Label(_) | Token::LabelText(_)) || self.is_sign("**") {
            return Ok(Node::Keywords(self.pairs(None)?));
        }
        let value = self.not_expression()?;
        if self.is_sign("=>") {
            return Ok(Node::Keywords(self.pairs(Some(value))?));
        }
        Ok(value)
    }

    /// `a => b, c: d`, up to what is no pair.
    fn pairs(&mut self, first: Option<Node>) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        let mut key = first;
        loop {
            let pair = match key.take() {
                Some(key) => {
                    self.need_sign("=>")?;
                    self.skip_lines();
                    Pair::Entry(key, self.expression()?)
                }
                None => self.pair()?,
            };
            pairs.push(pair);
            // `foo(a: 1, &block)`
            if !self.is_sign(",") || matches!(self.peek_after(1), Token::Sign("&")) {
                return Ok(pairs);
            }
            let before = self.at;
            self.at += 1;
            self.skip_lines();
            if self.is_sign(")") || self.is_sign("]") || self.is_sign("&") {
                self.at = before;
                return Ok(pairs);
            }
        }
    }

    /// One entry of a hash.
    pub(super) fn pair(&mut self) -> Result<Pair> {
        if self.eat_sign("**") {
            return Ok(Pair::Spread(self.expression()?));
        }
        let line = self.line();
        match self.peek().clone() {
            Token::Label(name) => {
                self.at += 1;
                if matches!(self.peek(), Token::Sign("," | "}" | ")")) {
                    // `{ name: }`
                    return Ok(Pair::Entry(
                        Node::Symbol(name.as_str().into()),
                        Node::Name(name.into(), line),
                    ));
                }
                self.skip_lines();
                Ok(Pair::Entry(Node::Symbol(name.into()), self.value_of_pair()?))
            }
            Token::LabelText(pieces) => {
                self.at += 1;
                self.skip_lines();
                let parts = self.parts(pieces)?;
                Ok(Pair::Entry(Node::SymbolText(parts), self.value_of_pair()?))
            }
            _ => {
                let key = self.expression()?;
                self.skip_lines();
                self.need_sign("=>")?;
                self.skip_lines();
                Ok(Pair::Entry(key, self.value_of_pair()?))
            }
        }
    }

    fn value_of_pair(&mut self) -> Result<Node> {
        if self.is_word("not") { self.not_expression() } else { self.expression() }
    }

    /// Items up to a closing sign.
    pub(super) fn list(&mut self, close: &str) -> Result<Vec<Node>> {
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

    pub(super) fn block(&mut self) -> Result<Option<Arc<Block>>> {
        let close = if self.is_sign("{") {
            "}"
        } else if self.is_word("do") && !self.no_do {
            "end"
        } else {
            return Ok(None);
        };
        self.at += 1;
        let block = self.block_after(close, None, false)?;
        Ok(Some(Arc::new(block)))
    }

    /// The parameters and the body of a block, after its opening.
    pub(super) fn block_after(
        &mut self,
        close: &'static str,
        given: Option<Parameters>,
        is_lambda: bool,
    ) -> Result<Block> {
        let known = self.locals.len();
        let numbered = given.as_ref().is_none_or(|given| given.list.is_empty());
        let start = self.at;
        let mut parameters = match given {
            Some(parameters) => {
                self.declare_parameters(&parameters.list);
                parameters
            }
            None => {
                self.skip_lines_before_pipe();
                if self.eat_sign("|") {
                    self.parameters("|")?
                } else {
                    self.eat_sign("||");
                    Parameters::default()
                }
            }
        };
        let body = if close == "}" {
            let body = self.sequence(&["}"])?;
            self.need_sign("}")?;
            body
        } else {
            self.body()?
        };
        self.locals.truncate(known);
        if numbered && parameters.list.is_empty() {
            parameters.list = self.numbered_parameters(start);
        }
        Ok(Block { parameters, body, is_lambda })
    }

    /// `_1` and `_2` in a block without parameters.
    fn numbered_parameters(&self, start: usize) -> Vec<Parameter> {
        let tokens = self.tokens.get(start..self.at).unwrap_or_default();
        let uses =
            |wanted: &str| tokens.iter().any(|one| matches!(&one.token, Token::Name(name) if name == wanted));
        let count = if uses("_2") { 2 } else { usize::from(uses("_1")) };
        ["_1", "_2"].iter().take(count).map(|name| Parameter::Name((*name).into())).collect()
    }

    fn skip_lines_before_pipe(&mut self) {
        let mut ahead = 0;
        while *self.peek_after(ahead) == Token::Newline {
            ahead += 1;
        }
        if matches!(self.peek_after(ahead), Token::Sign("|")) {
            self.at += ahead;
        }
    }

    fn declare_parameters(&mut self, list: &[Parameter]) {
        for parameter in list {
            match parameter {
                Parameter::Name(name)
                | Parameter::Optional(name, _)
                | Parameter::Rest(Some(name))
                | Parameter::Keyword(name, _)
                | Parameter::KeywordRest(Some(name))
                | Parameter::Block(name)
                | Parameter::Local(name) => self.locals.push(Arc::clone(name)),
                Parameter::Pattern(inner) => self.declare_parameters(inner),
                Parameter::Rest(None) | Parameter::KeywordRest(None) => {}
            }
        }
    }

    /// Parameters up to the closing sign; an empty one stands for the end of the line.
    pub(super) fn parameters(&mut self, close: &str) -> Result<Parameters> {
        let mut parameters = Parameters::default();
        let ends = |parser: &mut Self| {
            if close.is_empty() { *parser.peek() == Token::Newline } else { parser.eat_sign(close) }
        };
        loop {
            if !close.is_empty() {
                let in_pipes = close == "|";
                while *self.peek() == Token::Newline {
                    self.at += 1;
                    // `|a; b|`
                    if in_pipes && let Token::Name(name) = self.peek().clone() {
                        self.at += 1;
                        let name: Arc<str> = name.into();
                        self.locals.push(Arc::clone(&name));
                        parameters.list.push(Parameter::Local(name));
                        self.eat_sign(",");
                    }
                }
            }
            if ends(self) {
                return Ok(parameters);
            }
            let parameter = self.parameter(close)?;
            parameters.list.push(parameter);
            if !close.is_empty() && *self.peek() == Token::Newline {
                continue;
            }
            if !self.eat_sign(",") {
                if ends(self) {
                    return Ok(parameters);
                }
                return Err(self.unexpected());
            }
            if close == "|" && self.is_sign("|") {
                parameters.trailing_comma = true;
            }
        }
    }

    fn parameter(&mut self, close: &str) -> Result<Parameter> {
        if self.eat_sign("(") {
            return Ok(Parameter::Pattern(self.deeper(|parser| parser.parameters(")"))?.list));
        }
        if self.eat_sign("**") {
            if self.eat_word("nil") {
                return Ok(Parameter::KeywordRest(None));
            }
            let name = self.optional_name();
            return Ok(Parameter::KeywordRest(name));
        }
        if self.eat_sign("*") {
            let name = self.optional_name();
            return Ok(Parameter::Rest(name));
        }
        if self.eat_sign("&") {
            return match self.optional_name() {
                Some(name) => Ok(Parameter::Block(name)),
                None => Ok(Parameter::Block("".into())),
            };
        }
        match self.next() {
            Token::Label(name) => {
                let name: Arc<str> = name.into();
                self.locals.push(Arc::clone(&name));
                let ends = matches!(self.peek(), Token::Sign("," | ")" | "|") | Token::Newline);
                let default = if ends { None } else { Some(self.default_value(close)?) };
                Ok(Parameter::Keyword(name, default))
            }
            Token::Name(name) => {
                let name: Arc<str> = name.into();
                self.locals.push(Arc::clone(&name));
                if self.eat_sign("=") {
                    return Ok(Parameter::Optional(name, self.default_value(close)?));
                }
                Ok(Parameter::Name(name))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn default_value(&mut self, close: &str) -> Result<Node> {
        let outer = std::mem::replace(&mut self.no_pipe, close == "|");
        let value = self.ternary();
        self.no_pipe = outer;
        value
    }

    fn optional_name(&mut self) -> Option<Arc<str>> {
        let Token::Name(name) = self.peek().clone() else { return None };
        self.at += 1;
        let name: Arc<str> = name.into();
        self.locals.push(Arc::clone(&name));
        Some(name)
    }
}

pub(super) fn is_target(node: &Node) -> bool {
    match node {
        Node::Name(..)
        | Node::Local(_)
        | Node::Instance(_)
        | Node::Shared(_)
        | Node::Global(_)
        | Node::Index(..)
        | Node::Constant(_)
        | Node::Scoped(..) => true,
        Node::Call(call) => {
            call.receiver.is_some()
                && call.arguments.is_empty()
                && call.block.is_none()
                && call.block_argument.is_none()
        }
        _ => false,
    }
}

pub(super) fn call(receiver: Node, name: &str, arguments: Vec<Node>, line: u32) -> Node {
    Node::Call(Box::new(Call {
        receiver: Some(receiver),
        name: name.into(),
        arguments,
        block: None,
        block_argument: None,
        safe: false,
        line,
    }))
}
