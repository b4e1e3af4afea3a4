//! `if`, `unless`, `case` and selectors.

use crate::ast::{Block, CaseOption, Expr, ExprKind, SelectorCase};
use crate::parser::{MAX_DEPTH, Parsed, Parser};
use crate::token::Kind;

/// An `if` or an `elsif`, and where it starts.
struct Branch {
    start: u32,
    test: Expr,
    then: Block,
}

impl Parser<'_> {
    /// A chain of `elsif` nests to the right, as in Puppet; it is read without recursion.
    pub(super) fn if_expression(&mut self) -> Parsed<Expr> {
        let depth = self.depth;
        let chain = self.if_chain();
        self.depth = depth;
        let (branches, mut otherwise) = chain?;
        let end = self.last_end;
        let mut whole = None;
        for Branch { start, test, then } in branches.into_iter().rev() {
            if let Some(inner) = whole.take() {
                otherwise = vec![inner];
            }
            let kind = ExprKind::If { test: Box::new(test), then, otherwise: std::mem::take(&mut otherwise) };
            whole = Some(Expr { range: setpoint_source::Range { start, end }, kind });
        }
        // There is always the branch of the `if` itself.
        whole.ok_or_else(|| self.unexpected())
    }

    fn if_chain(&mut self) -> Parsed<(Vec<Branch>, Block)> {
        let mut branches = Vec::new();
        loop {
            let start = self.bump().range.start;
            let test = self.expression()?;
            let then = self.block()?;
            branches.push(Branch { start, test, then });
            if self.eat(Kind::Else) {
                return Ok((branches, self.block()?));
            }
            if !self.at(Kind::Elsif) {
                return Ok((branches, Block::new()));
            }
            self.depth += 1;
            self.deepest = self.deepest.max(self.depth);
            if self.depth > MAX_DEPTH {
                return Err(self.too_deep());
            }
        }
    }

    pub(super) fn unless_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let test = Box::new(self.expression()?);
        let then = self.block()?;
        let otherwise = if self.eat(Kind::Else) { self.block()? } else { Block::new() };
        Ok(Expr { range: self.range_from(start), kind: ExprKind::Unless { test, then, otherwise } })
    }

    pub(super) fn case_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let subject = Box::new(self.expression()?);
        self.expect(Kind::LBrace)?;
        let mut options = Vec::new();
        loop {
            let mut values = vec![self.expression()?];
            while self.eat(Kind::Comma) {
                values.push(self.expression()?);
            }
            self.expect(Kind::Colon)?;
            options.push(CaseOption { values, body: self.block()? });
            if self.eat(Kind::RBrace) {
                break;
            }
        }
        Ok(Expr { range: self.range_from(start), kind: ExprKind::Case { subject, options } })
    }

    /// `? { match => value, … }` or `? match => value` after its subject.
    pub(super) fn selector(&mut self, subject: Expr) -> Parsed<Expr> {
        let cases = self.nested(|parser| {
            parser.bump();
            if !parser.eat(Kind::SelBrace) {
                return Ok(vec![parser.selector_case()?]);
            }
            let mut cases = vec![parser.selector_case()?];
            while parser.eat(Kind::Comma) && !parser.at(Kind::RBrace) {
                cases.push(parser.selector_case()?);
            }
            parser.expect(Kind::RBrace)?;
            Ok(cases)
        })?;
        let range = self.range_from(subject.range.start);
        Ok(Expr { range, kind: ExprKind::Selector { subject: Box::new(subject), cases } })
    }

    fn selector_case(&mut self) -> Parsed<SelectorCase> {
        let matches = self.expression()?;
        self.expect(Kind::FArrow)?;
        Ok(SelectorCase { matches, value: self.expression()? })
    }
}
