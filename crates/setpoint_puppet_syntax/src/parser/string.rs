//! Strings with interpolations, heredocs, and the expressions of templates.

use std::sync::Arc;

use crate::ast::{Block, Expr, ExprKind, StringPart};
use crate::parser::{Item, Parsed, Parser, text_of};
use crate::token::Kind;

impl Parser<'_> {
    pub(super) fn interpolated_string(&mut self) -> Parsed<Expr> {
        let first = self.bump();
        let start = first.range.start;
        let mut parts = Vec::new();
        push_text(&mut parts, text_of(&first));
        loop {
            self.name_as_variable();
            parts.push(StringPart::Expr(self.nested(Self::assignment)?));
            if !matches!(self.token.kind, Kind::DqMid | Kind::DqPost) {
                return Err(self.unexpected());
            }
            let text = self.bump();
            push_text(&mut parts, text_of(&text));
            if text.kind == Kind::DqPost {
                return Ok(Expr { range: self.range_from(start), kind: ExprKind::Interpolation(parts) });
            }
        }
    }

    /// At the start of an interpolation a word that stands alone, or before `.` or `[`, is a variable.
    fn name_as_variable(&mut self) {
        let kind = self.token.kind;
        let is_word = matches!(kind, Kind::Name | Kind::Word | Kind::Number) || kind.is_keyword();
        if !is_word || !matches!(self.peek(), Kind::Dot | Kind::LBrack | Kind::DqMid | Kind::DqPost) {
            return;
        }
        if matches!(kind, Kind::True | Kind::False) {
            let range = self.token.range;
            let word = self.slice(range);
            self.semantic_at(range, format!("'{word}' is no variable; write `${{({word})}}` for the value"));
        }
        self.token.kind = Kind::Variable;
    }

    pub(super) fn heredoc(&mut self) -> Parsed<Expr> {
        let tag = self.bump();
        let text = match self.token.kind {
            Kind::String => {
                let range = self.token.range;
                Expr { range, kind: ExprKind::String(text_of(&self.bump())) }
            }
            Kind::DqPre => self.interpolated_string()?,
            _ => return Err(self.unexpected()),
        };
        // The text stands on other lines; the expression is where its tag is.
        self.last_end = tag.range.end;
        let syntax = tag.text.filter(|syntax| !syntax.is_empty());
        Ok(Expr { range: tag.range, kind: ExprKind::Heredoc { syntax, text: Box::new(text) } })
    }

    /// `<%= expression %>`, or `<%= { statements } %>`.
    pub(super) fn render_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let value = if self.at(Kind::LBrace) { self.hash_or_block()? } else { self.expression()? };
        self.expect(Kind::EppEnd)?;
        Ok(Expr { range: self.range_from(start), kind: ExprKind::RenderExpr(Box::new(value)) })
    }

    /// Only the `=>` after the first entry tells a hash from a block.
    fn hash_or_block(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        if self.eat(Kind::RBrace) {
            let hash = Expr { range: self.range_from(start), kind: ExprKind::Hash(Vec::new()) };
            return self.operators_after(hash);
        }
        let first = self.hash_entry()?;
        if self.eat(Kind::FArrow) {
            let mut pairs = vec![(first, self.hash_entry()?)];
            while self.eat(Kind::Comma) && !self.at(Kind::RBrace) {
                let key = self.hash_entry()?;
                self.expect(Kind::FArrow)?;
                pairs.push((key, self.hash_entry()?));
            }
            self.expect(Kind::RBrace)?;
            let hash = Expr { range: self.range_from(start), kind: ExprKind::Hash(pairs) };
            return self.operators_after(hash);
        }
        let mut block = Block::new();
        let first = self.statement_after(first)?;
        self.add_statement(&mut block, first);
        let separated = self.eat(Kind::Semicolon);
        self.block_items(self.open.len(), &mut block, separated);
        self.expect(Kind::RBrace)?;
        let range = self.range_from(start);
        Ok(block_value(block, range))
    }

    pub(super) fn statement_after(&mut self, first: Expr) -> Parsed<Item> {
        if !self.at(Kind::Comma) {
            return Ok(Item::Expr(first));
        }
        let comma = self.token.range;
        let mut list = vec![first];
        while self.eat(Kind::Comma) {
            list.push(self.assignment()?);
        }
        Ok(Item::List { comma, list })
    }
}

fn push_text(parts: &mut Vec<StringPart>, text: Arc<str>) {
    if !text.is_empty() {
        parts.push(StringPart::Text(text));
    }
}

/// A block as a value: the tree has no other word for it than a condition that always holds.
fn block_value(mut block: Block, range: setpoint_source::Range) -> Expr {
    if block.len() == 1
        && let Some(only) = block.pop()
    {
        return only;
    }
    let test = Box::new(Expr { range, kind: ExprKind::Bool(true) });
    Expr { range, kind: ExprKind::If { test, then: block, otherwise: Block::new() } }
}
