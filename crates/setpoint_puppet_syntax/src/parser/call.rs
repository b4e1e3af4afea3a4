//! Calls: with parentheses, with a dot, and as statements.

use std::sync::Arc;

use crate::ast::{Block, Call, Expr, ExprKind, Lambda, MethodCall};
use crate::parser::{Item, Parsed, Parser, is_statement_function};
use crate::token::Kind;

impl Parser<'_> {
    /// Adds a statement to a block. A name that may be called without parentheses takes it as its arguments:
    /// `include a, b`.
    pub(super) fn add_statement(&mut self, block: &mut Block, item: Item) {
        let name = match block.last() {
            Some(Expr { kind: ExprKind::Name(name), .. }) => Some(*name),
            _ => None,
        };
        if name.is_some_and(|name| is_statement_function(&name))
            && let Some(name) = block.pop()
        {
            let arguments = match item {
                Item::Expr(expr) => vec![expr],
                Item::List { list, .. } => list,
            };
            let range = arguments.last().map_or(name.range, |last| name.range.to(last.range));
            let call = Call { function: name, arguments, lambda: None, statement: true };
            block.push(Expr { range, kind: ExprKind::Call(Box::new(call)) });
            return;
        }
        match item {
            Item::Expr(mut expr) => {
                if let ExprKind::Call(call) = &mut expr.kind {
                    call.statement = true;
                }
                block.push(expr);
            }
            Item::List { comma, list } => {
                // What is wrong in the list is told already.
                if !list.iter().any(|expr| matches!(expr.kind, ExprKind::Error)) {
                    let message = match name {
                        Some(name) => format!(
                            "attempt to pass argument list to the function '{name}' which cannot be called without parentheses"
                        ),
                        None => "illegal comma separated argument list".to_owned(),
                    };
                    self.error_at(comma, message);
                }
                block.extend(list);
            }
        }
    }

    /// `(arguments) lambda` after what is called.
    pub(super) fn call(&mut self, function: Expr) -> Parsed<Expr> {
        let arguments = self.nested(|parser| {
            parser.expect(Kind::LParen)?;
            let arguments = parser.entries(Kind::RParen, false)?;
            parser.expect(Kind::RParen)?;
            Ok(arguments)
        })?;
        let lambda = self.optional_lambda()?;
        let range = self.range_from(function.range.start);
        let call = Call { function, arguments, lambda, statement: false };
        Ok(Expr { range, kind: ExprKind::Call(Box::new(call)) })
    }

    /// `.name(arguments) lambda` after the receiver. No comma may follow the last argument.
    pub(super) fn method_call(&mut self, receiver: Expr) -> Parsed<Expr> {
        self.expect(Kind::Dot)?;
        if !matches!(self.token.kind, Kind::Name | Kind::Type) {
            return Err(self.unexpected());
        }
        let name_range = self.bump().range;
        let name = self.symbol_at(name_range);
        let mut arguments = Vec::new();
        if self.at(Kind::LParen) {
            arguments = self.nested(|parser| {
                parser.bump();
                let arguments =
                    if parser.at(Kind::RParen) { Vec::new() } else { parser.entries_without_end_comma()? };
                parser.expect(Kind::RParen)?;
                Ok(arguments)
            })?;
        }
        let lambda = self.optional_lambda()?;
        let range = self.range_from(receiver.range.start);
        let call = MethodCall { receiver, name, name_range, arguments, lambda };
        Ok(Expr { range, kind: ExprKind::MethodCall(Box::new(call)) })
    }

    fn optional_lambda(&mut self) -> Parsed<Option<Arc<Lambda>>> {
        if !self.at(Kind::Pipe) {
            return Ok(None);
        }
        let start = self.token.range.start;
        let parameters = self.nested(Self::pipe_parameters)?;
        let return_type = self.optional_return_type()?;
        let body = self.block()?;
        let range = self.range_from(start);
        Ok(Some(Arc::new(Lambda { file: self.file, range, parameters, return_type, body })))
    }
}
