//! Assignments, relationships, operators, and what stands between them.

use setpoint_source::{Diagnostic, Range, Rule};

use crate::ast::{ArrowOp, AssignOp, BinaryOp, Expr, ExprKind, Radix};
use crate::parser::{MAX_DEPTH, Parsed, Parser, text_of};
use crate::token::Kind;

/// How tightly an operator binds its left side.
type Power = u8;

/// Prefix operators bind tighter than all infix operators, and looser than calls, dots, brackets and queries.
const SELECTOR: Power = 3;
const POSTFIX: Power = 20;

fn infix(kind: Kind) -> Option<(BinaryOp, Power)> {
    Some(match kind {
        Kind::Or => (BinaryOp::Or, 1),
        Kind::And => (BinaryOp::And, 2),
        Kind::GreaterEqual => (BinaryOp::GreaterEqual, 4),
        Kind::Greater => (BinaryOp::Greater, 4),
        Kind::LessEqual => (BinaryOp::LessEqual, 4),
        Kind::Less => (BinaryOp::Less, 4),
        Kind::NotEqual => (BinaryOp::NotEqual, 5),
        Kind::IsEqual => (BinaryOp::Equal, 5),
        Kind::LShift => (BinaryOp::ShiftLeft, 6),
        Kind::RShift => (BinaryOp::ShiftRight, 6),
        Kind::Plus => (BinaryOp::Add, 7),
        Kind::Minus => (BinaryOp::Subtract, 7),
        Kind::Times => (BinaryOp::Multiply, 8),
        Kind::Div => (BinaryOp::Divide, 8),
        Kind::Modulo => (BinaryOp::Modulo, 8),
        Kind::Match => (BinaryOp::Match, 9),
        Kind::NoMatch => (BinaryOp::NoMatch, 9),
        Kind::In => (BinaryOp::In, 10),
        _ => return None,
    })
}

fn arrow(kind: Kind) -> Option<ArrowOp> {
    Some(match kind {
        Kind::InEdge => ArrowOp::Before,
        Kind::InEdgeSub => ArrowOp::Notify,
        Kind::OutEdge => ArrowOp::After,
        Kind::OutEdgeSub => ArrowOp::NotifiedBy,
        _ => return None,
    })
}

impl Parser<'_> {
    /// `relationship = assignment`.
    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        let target = self.relationship()?;
        let op = match self.token.kind {
            Kind::Equals => AssignOp::Set,
            Kind::Appends => AssignOp::Append,
            Kind::Deletes => AssignOp::Remove,
            _ => return Ok(target),
        };
        self.bump();
        let value = self.nested(Self::assignment)?;
        let range = target.range.to(value.range);
        Ok(Expr { range, kind: ExprKind::Assign { op, target: Box::new(target), value: Box::new(value) } })
    }

    fn relationship(&mut self) -> Parsed<Expr> {
        let outer = std::mem::replace(&mut self.deepest, self.depth);
        let mut left = self.resource()?;
        while let Some(op) = arrow(self.token.kind) {
            self.link()?;
            let op_range = self.bump().range;
            let right = self.nested(Self::resource)?;
            let range = left.range.to(right.range);
            let (left_box, right) = (Box::new(left), Box::new(right));
            left = Expr { range, kind: ExprKind::Relationship { op, left: left_box, right, op_range } };
        }
        self.deepest = self.deepest.max(outer);
        Ok(left)
    }

    /// One more operator puts all that is left of it one level deeper.
    pub(super) fn link(&mut self) -> Parsed<()> {
        self.deepest += 1;
        if self.deepest > MAX_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    /// An expression that contains no assignment, relationship or resource.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.operators(0)
    }

    fn operators(&mut self, min: Power) -> Parsed<Expr> {
        let outer = std::mem::replace(&mut self.deepest, self.depth);
        let left = self.operand()?;
        let whole = self.operators_from(left, min)?;
        self.deepest = self.deepest.max(outer);
        Ok(whole)
    }

    /// Operators after an operand that is read already.
    pub(super) fn operators_after(&mut self, left: Expr) -> Parsed<Expr> {
        self.operators_from(left, 0)
    }

    fn operators_from(&mut self, mut left: Expr, min: Power) -> Parsed<Expr> {
        loop {
            left = match self.token.kind {
                Kind::LParen => {
                    self.link()?;
                    self.call(left)?
                }
                Kind::Dot => {
                    self.link()?;
                    self.method_call(left)?
                }
                Kind::LBrack => {
                    self.link()?;
                    self.access(left)?
                }
                Kind::LCollect | Kind::LLCollect => {
                    self.link()?;
                    self.collector(left)?
                }
                Kind::QMark if SELECTOR >= min => {
                    self.link()?;
                    self.selector(left)?
                }
                kind => {
                    let Some((op, power)) = infix(kind).filter(|&(_, power)| power >= min) else { break };
                    self.link()?;
                    let op_range = self.bump().range;
                    let right = self.nested(|parser| parser.operators(power + 1))?;
                    let range = left.range.to(right.range);
                    let (left, right) = (Box::new(left), Box::new(right));
                    Expr { range, kind: ExprKind::Binary { op, left, right, op_range } }
                }
            };
        }
        Ok(left)
    }

    /// An array in a place where no operator may follow it.
    pub(super) fn expression_without_operators(&mut self) -> Parsed<Expr> {
        self.operand()
    }

    fn operand(&mut self) -> Parsed<Expr> {
        let start = self.token.range.start;
        let kind = match self.token.kind {
            Kind::Not => ExprKind::Not(self.prefixed()?),
            Kind::Minus => ExprKind::Negate(self.prefixed()?),
            Kind::Times => ExprKind::Splat(self.prefixed()?),
            _ => return self.primary(),
        };
        Ok(Expr { range: self.range_from(start), kind })
    }

    fn prefixed(&mut self) -> Parsed<Box<Expr>> {
        self.bump();
        self.nested(|parser| parser.operators(POSTFIX)).map(Box::new)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let range = self.token.range;
        let kind = match self.token.kind {
            Kind::Name => {
                if self.slice(range) == "plan" && self.at_plan() {
                    return self.nested(Self::plan);
                }
                self.bump();
                ExprKind::Name(self.symbol_at(range))
            }
            Kind::Variable => {
                self.bump();
                let name = self.slice(range);
                ExprKind::Variable(self.symbol(name.strip_prefix('$').unwrap_or(name)))
            }
            Kind::String => ExprKind::String(text_of(&self.bump())),
            Kind::Word => {
                self.bump();
                ExprKind::String(self.slice(range).into())
            }
            Kind::ClassRef => {
                self.bump();
                ExprKind::TypeName(self.symbol_at(range))
            }
            Kind::Number => {
                self.bump();
                self.number(range)
            }
            Kind::True | Kind::False => ExprKind::Bool(self.bump().kind == Kind::True),
            Kind::Undef => {
                self.bump();
                ExprKind::Undef
            }
            Kind::Default => {
                self.bump();
                ExprKind::Default
            }
            Kind::Regex => ExprKind::Regex(text_of(&self.bump())),
            Kind::RenderString => ExprKind::RenderText(text_of(&self.bump())),
            Kind::Bad => {
                self.bump();
                ExprKind::Error
            }
            Kind::Private | Kind::Attr => {
                self.bump();
                let word = self.slice(range);
                self.semantic_at(
                    range,
                    format!("Use of reserved word: {word}, must be quoted if intended to be a String value"),
                );
                ExprKind::Error
            }
            Kind::DqPre => return self.nested(Self::interpolated_string),
            Kind::Heredoc => return self.nested(Self::heredoc),
            Kind::LBrack | Kind::ListStart => return self.nested(Self::array),
            Kind::LBrace => return self.nested(Self::hash),
            Kind::LParen | Kind::WsLParen => return self.nested(Self::parenthesized),
            Kind::If => return self.nested(Self::if_expression),
            Kind::Unless => return self.nested(Self::unless_expression),
            Kind::Case => return self.nested(Self::case_expression),
            Kind::Class => return self.nested(Self::class_definition),
            Kind::Define => return self.nested(Self::define_definition),
            Kind::Node => return self.nested(Self::node_definition),
            Kind::Function => return self.nested(Self::function_definition),
            Kind::Type => return self.nested(Self::type_expression),
            Kind::RenderExpr => return self.nested(Self::render_expression),
            _ => return Err(self.unexpected()),
        };
        Ok(Expr { range, kind })
    }

    fn number(&mut self, range: Range) -> ExprKind {
        let text = self.slice(range);
        let (digits, base, radix) =
            if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                (hex, 16, Radix::Hexadecimal)
            } else if text.contains(['.', 'e', 'E']) {
                return match text.parse::<f64>() {
                    Ok(value) if value.is_finite() && !(value == 0.0 && text.contains(['e', 'E'])) => {
                        ExprKind::Float(value)
                    }
                    // Puppet finds no number here: zero times a power of ten, or more than a float can hold.
                    _ => {
                        let message =
                            format!("Internal Error, NUMBER token does not contain a valid number, {text}");
                        self.error_at(range, message);
                        ExprKind::Error
                    }
                };
            } else if text.len() > 1 && text.starts_with('0') {
                (&text[1..], 8, Radix::Octal)
            } else {
                (text, 10, Radix::Decimal)
            };
        if let Ok(value) = i64::from_str_radix(digits, base) {
            return ExprKind::Integer { value, radix };
        }
        let shown = u128::from_str_radix(digits, base)
            .map_or_else(|_| text.to_owned(), |value| format!("+0x{value:x}"));
        let message = format!(
            "A Literal Integer resulted in a value outside of Puppet Integer max range, got '{shown}'"
        );
        self.semantic_at(range, message);
        ExprKind::Error
    }

    fn parenthesized(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let inner = self.assignment()?;
        self.expect(Kind::RParen)?;
        Ok(Expr { range: self.range_from(start), kind: ExprKind::Paren(Box::new(inner)) })
    }

    fn array(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let entries = self.entries(Kind::RBrack, true)?;
        self.expect(Kind::RBrack)?;
        Ok(Expr { range: self.range_from(start), kind: ExprKind::Array(entries) })
    }

    pub(super) fn hash(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let mut entries = Vec::new();
        while !self.at(Kind::RBrace) {
            entries.push(self.hash_pair()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RBrace)?;
        Ok(Expr { range: self.range_from(start), kind: ExprKind::Hash(entries) })
    }

    fn hash_pair(&mut self) -> Parsed<(Expr, Expr)> {
        let key = self.hash_entry()?;
        self.expect(Kind::FArrow)?;
        Ok((key, self.hash_entry()?))
    }

    /// An assignment, or one of the keywords `type` and `function` as a string.
    pub(super) fn hash_entry(&mut self) -> Parsed<Expr> {
        if self.is_keyword_entry() { Ok(self.keyword_entry()) } else { self.assignment() }
    }

    fn is_keyword_entry(&mut self) -> bool {
        match self.token.kind {
            Kind::Type => !matches!(self.peek(), Kind::ClassRef | Kind::LParen),
            Kind::Function => {
                !matches!(self.peek(), Kind::Name | Kind::Word | Kind::ClassRef | Kind::Class | Kind::String)
            }
            _ => false,
        }
    }

    fn keyword_entry(&mut self) -> Expr {
        let range = self.bump().range;
        Expr { range, kind: ExprKind::String(self.slice(range).into()) }
    }

    /// Arguments or elements up to a closing bracket; adjacent `key => value` pairs become one hash. A comma may
    /// follow the last.
    pub(super) fn entries(&mut self, close: Kind, keywords: bool) -> Parsed<Vec<Expr>> {
        let mut entries = Vec::new();
        let mut open_hash = false;
        while !self.at(close) {
            self.entry(&mut entries, &mut open_hash, keywords)?;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(entries)
    }

    pub(super) fn entries_without_end_comma(&mut self) -> Parsed<Vec<Expr>> {
        let mut entries = Vec::new();
        let mut open_hash = false;
        loop {
            self.entry(&mut entries, &mut open_hash, false)?;
            if !self.eat(Kind::Comma) {
                return Ok(entries);
            }
        }
    }

    fn entry(&mut self, entries: &mut Vec<Expr>, open_hash: &mut bool, keywords: bool) -> Parsed<()> {
        let is_keyword = self.is_keyword_entry();
        let first = if is_keyword { self.keyword_entry() } else { self.assignment()? };
        if !self.at(Kind::FArrow) {
            if is_keyword && !keywords {
                return Err(self.unexpected());
            }
            *open_hash = false;
            entries.push(first);
            return Ok(());
        }
        self.bump();
        let value = self.hash_entry()?;
        let range = first.range.to(value.range);
        match entries.last_mut() {
            Some(Expr { range: whole, kind: ExprKind::Hash(pairs) }) if *open_hash => {
                *whole = whole.to(range);
                pairs.push((first, value));
            }
            _ => entries.push(Expr { range, kind: ExprKind::Hash(vec![(first, value)]) }),
        }
        *open_hash = true;
        Ok(())
    }

    /// `[keys]` after what is accessed.
    fn access(&mut self, target: Expr) -> Parsed<Expr> {
        let keys = self.nested(|parser| {
            parser.bump();
            let keys = parser.access_keys(true)?;
            parser.expect(Kind::RBrack)?;
            Ok(keys)
        })?;
        let range = self.range_from(target.range.start);
        Ok(Expr { range, kind: ExprKind::Access { target: Box::new(target), keys } })
    }

    /// At least one key; only in expressions a comma may follow the last.
    pub(super) fn access_keys(&mut self, end_comma: bool) -> Parsed<Vec<Expr>> {
        let mut keys = Vec::new();
        let mut open_hash = false;
        loop {
            self.entry(&mut keys, &mut open_hash, false)?;
            // Only as a key of a hash may a key be more than an expression.
            if keys.last().is_some_and(|key| !open_hash && is_beyond_expression(&key.kind)) {
                return Err(self.unexpected());
            }
            if !self.eat(Kind::Comma) || end_comma && self.at(Kind::RBrack) {
                return Ok(keys);
            }
        }
    }

    /// `Type` or `Type[keys]`, as parameters and functions have it.
    pub(super) fn type_reference(&mut self) -> Parsed<Expr> {
        let range = self.expect(Kind::ClassRef)?.range;
        let name = Expr { range, kind: ExprKind::TypeName(self.symbol_at(range)) };
        if !self.at(Kind::LBrack) {
            return Ok(name);
        }
        let keys = self.nested(|parser| {
            parser.bump();
            let keys = parser.access_keys(false)?;
            parser.expect(Kind::RBrack)?;
            Ok(keys)
        })?;
        let range = self.range_from(range.start);
        Ok(Expr { range, kind: ExprKind::Access { target: Box::new(name), keys } })
    }

    pub(super) fn refuse(&mut self, range: Range, what: &'static str, help: &str) -> Expr {
        let message = format!("{what} is not supported here");
        let diagnostic =
            Diagnostic::new(Rule::UnsupportedSyntax, message).at(range.in_file(self.file)).with_help(help);
        self.semantic.push(diagnostic);
        Expr { range, kind: ExprKind::Unsupported { what } }
    }
}

fn is_beyond_expression(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Assign { .. }
            | ExprKind::Relationship { .. }
            | ExprKind::Resource { .. }
            | ExprKind::ResourceDefaults { .. }
            | ExprKind::ResourceOverride { .. }
    )
}
