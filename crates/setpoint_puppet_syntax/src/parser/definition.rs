//! Classes, defines, nodes, functions, types, plans, and their parameters.

use std::sync::Arc;

use setpoint_source::{Range, Symbol};

use crate::ast::{
    Block, ClassDef, DefineDef, Expr, ExprKind, FunctionDef, HostMatch, NodeDef, Parameter, StringPart,
    TypeAliasDef,
};
use crate::parser::{Parsed, Parser, Reported, text_of};
use crate::place::puppet_start;
use crate::token::Kind;

impl Parser<'_> {
    pub(super) fn class_definition(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let name_range = self.definition_name()?;
        let name = self.qualified(name_range);
        self.namespace.push(self.slice(name_range));
        let parts = self.class_parts();
        self.namespace.pop();
        let (parameters, parent, body) = parts?;
        let range = self.range_from(start);
        let class = ClassDef { file: self.file, range, name, name_range, parameters, parent, body };
        Ok(Expr { range, kind: ExprKind::Class(Arc::new(class)) })
    }

    #[allow(clippy::type_complexity)]
    fn class_parts(&mut self) -> Parsed<(Vec<Parameter>, Option<(Symbol, Range)>, Block)> {
        let parameters = self.parameter_list()?;
        let mut parent = None;
        if self.eat(Kind::Inherits) {
            let range = if self.at(Kind::Default) { self.bump().range } else { self.definition_name()? };
            let name = self.slice(range);
            parent = Some((self.symbol(name.strip_prefix("::").unwrap_or(name)), range));
        }
        Ok((parameters, parent, self.block()?))
    }

    pub(super) fn define_definition(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let name_range = self.definition_name()?;
        let name = self.qualified(name_range);
        let parameters = self.parameter_list()?;
        let body = self.block()?;
        let range = self.range_from(start);
        let define = DefineDef { file: self.file, range, name, name_range, parameters, body };
        Ok(Expr { range, kind: ExprKind::Define(Arc::new(define)) })
    }

    pub(super) fn function_definition(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let name_range = self.definition_name()?;
        let name = self.symbol_at(name_range);
        let parameters = self.parameter_list()?;
        let return_type = self.optional_return_type()?;
        let body = self.block()?;
        let range = self.range_from(start);
        let function =
            FunctionDef { file: self.file, range, name, name_range, parameters, return_type, body };
        Ok(Expr { range, kind: ExprKind::Function(Arc::new(function)) })
    }

    fn definition_name(&mut self) -> Parsed<Range> {
        let range = self.token.range;
        match self.token.kind {
            Kind::Name | Kind::Word | Kind::ClassRef => Ok(self.bump().range),
            Kind::Class => Err(self.error_at(range, "'class' keyword not allowed at this location")),
            Kind::String => Err(self.error_at(range, "A quoted string is not valid as a name here")),
            _ => Err(self.unexpected()),
        }
    }

    /// The name with the names of the classes around it.
    fn qualified(&mut self, range: Range) -> Symbol {
        let name = self.slice(range);
        if self.namespace.is_empty() {
            return self.symbol(name);
        }
        Symbol::new(&format!("{}::{name}", self.namespace.join("::")))
    }

    // --- Nodes

    pub(super) fn node_definition(&mut self) -> Parsed<Expr> {
        let start = self.bump().range.start;
        let mut matches = vec![self.host_match()?.0];
        while self.eat(Kind::Comma) && self.at_host_match() {
            matches.push(self.host_match()?.0);
        }
        let mut parent = None;
        if self.eat(Kind::Inherits) {
            let (host, range) = self.host_match()?;
            self.semantic_at(
                range,
                "Node inheritance is not supported in Puppet >= 4.0.0. See http://links.puppet.com/puppet-node-inheritance-deprecation",
            );
            parent = Some((host, range));
        }
        let body = self.block()?;
        let range = self.range_from(start);
        let node = NodeDef { file: self.file, range, matches, parent, body };
        Ok(Expr { range, kind: ExprKind::Node(Arc::new(node)) })
    }

    fn at_host_match(&self) -> bool {
        matches!(
            self.token.kind,
            Kind::Name
                | Kind::Number
                | Kind::String
                | Kind::Word
                | Kind::DqPre
                | Kind::Heredoc
                | Kind::Default
                | Kind::Regex
        )
    }

    fn host_match(&mut self) -> Parsed<(HostMatch, Range)> {
        let range = self.token.range;
        let name = match self.token.kind {
            Kind::Default => {
                self.bump();
                return Ok((HostMatch::Default, range));
            }
            Kind::Regex => return Ok((HostMatch::Regex(text_of(&self.bump())), range)),
            Kind::Name | Kind::Number => self.dotted_name()?,
            Kind::String => text_of(&self.bump()),
            Kind::Word => {
                self.bump();
                self.slice(range).into()
            }
            Kind::DqPre => {
                let string = self.interpolated_string()?;
                let part = match &string.kind {
                    ExprKind::Interpolation(parts) => parts.iter().find_map(|part| match part {
                        StringPart::Expr(expr) => Some(expr.range),
                        StringPart::Text(_) => None,
                    }),
                    _ => None,
                };
                let message = "An interpolated expression is not allowed in a hostname of a node";
                self.semantic_at(part.unwrap_or(string.range), message);
                return Ok((HostMatch::Name(Arc::from("")), string.range));
            }
            Kind::Heredoc => {
                let syntax = text_of(&self.token);
                self.heredoc()?;
                self.semantic_at(
                    range,
                    format!("Illegal expression. A '@({syntax})' expression is unacceptable as hostname in a Node Definition"),
                );
                return Ok((HostMatch::Name(Arc::from("")), range));
            }
            _ => return Err(self.unexpected()),
        };
        let range = self.range_from(range.start);
        if name.chars().any(|char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))) {
            self.semantic_at(
                range,
                format!(
                    "The hostname '{name}' contains illegal characters (only letters, digits, '_', '-', and '.' are allowed)"
                ),
            );
        }
        Ok((HostMatch::Name(name), range))
    }

    fn dotted_name(&mut self) -> Parsed<Arc<str>> {
        let first = self.bump().range;
        let mut name = self.slice(first).to_owned();
        while self.eat(Kind::Dot) {
            if !matches!(self.token.kind, Kind::Name | Kind::Number) {
                return Err(self.unexpected());
            }
            let part = self.bump().range;
            name.push('.');
            name.push_str(self.slice(part));
        }
        Ok(name.into())
    }

    // --- Types

    /// `type X = …`, or a call of the function `type`.
    pub(super) fn type_expression(&mut self) -> Parsed<Expr> {
        let keyword = self.bump().range;
        match self.token.kind {
            Kind::LParen => {
                let name = self.symbol("type");
                return Ok(Expr { range: keyword, kind: ExprKind::Name(name) });
            }
            Kind::ClassRef => {}
            _ => return Err(self.unexpected()),
        }
        let name_range = self.token.range;
        let name = self.symbol_at(name_range);
        let left = self.type_reference()?;
        if matches!(left.kind, ExprKind::TypeName(_))
            && matches!(self.token.kind, Kind::LBrace | Kind::Inherits)
        {
            return self.type_definition(keyword);
        }
        self.expect(Kind::Equals)?;
        let value = self.type_value()?;
        if matches!(left.kind, ExprKind::Access { .. }) {
            return Ok(self.type_mapping(&left, &value));
        }
        let range = self.range_from(keyword.start);
        let alias = TypeAliasDef { file: self.file, range, name, name_range, value };
        Ok(Expr { range, kind: ExprKind::TypeAlias(Arc::new(alias)) })
    }

    fn type_value(&mut self) -> Parsed<Expr> {
        match self.token.kind {
            Kind::LBrace => {
                let hash = self.hash()?;
                Ok(self.object_type(hash))
            }
            Kind::LBrack | Kind::ListStart => self.expression_without_operators(),
            Kind::ClassRef => {
                let range = self.bump().range;
                let name = Expr { range, kind: ExprKind::TypeName(self.symbol_at(range)) };
                match self.token.kind {
                    Kind::LBrack => {
                        self.bump();
                        let keys = self.access_keys(true)?;
                        self.expect(Kind::RBrack)?;
                        let range = self.range_from(range.start);
                        Ok(Expr { range, kind: ExprKind::Access { target: Box::new(name), keys } })
                    }
                    Kind::LBrace => {
                        let hash = self.hash()?;
                        Ok(self.derived_type(name, hash))
                    }
                    _ => Ok(name),
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `type X = { … }` is `Object[{ … }]`.
    fn object_type(&mut self, hash: Expr) -> Expr {
        let range = hash.range;
        let target = Expr {
            range: Range { start: range.start, end: range.start },
            kind: ExprKind::TypeName(self.symbol("Object")),
        };
        Expr { range, kind: ExprKind::Access { target: Box::new(target), keys: vec![hash] } }
    }

    /// `type X = Parent { … }` is `Object[{ …, parent => Parent }]`.
    fn derived_type(&mut self, parent: Expr, mut hash: Expr) -> Expr {
        let range = parent.range.to(hash.range);
        if matches!(parent.kind, ExprKind::TypeName(name) if matches!(&*name, "Object" | "TypeSet")) {
            return Expr { range, kind: ExprKind::Access { target: Box::new(parent), keys: vec![hash] } };
        }
        let key = Expr { range: parent.range, kind: ExprKind::Name(self.symbol("parent")) };
        if let ExprKind::Hash(pairs) = &mut hash.kind {
            pairs.push((key, parent));
        }
        let mut object = self.object_type(hash);
        object.range = range;
        object
    }

    /// `type X { … }` is reserved by Puppet.
    fn type_definition(&mut self, keyword: Range) -> Parsed<Expr> {
        if self.eat(Kind::Inherits) {
            self.expect(Kind::ClassRef)?;
        }
        self.block()?;
        let message = "Expressions of type a Type Definition are not supported in this version of Puppet";
        self.semantic_at(keyword, message);
        let range = self.range_from(keyword.start);
        Ok(Expr { range, kind: ExprKind::Unsupported { what: "A type definition" } })
    }

    /// `type Runtime[…] = …` maps types of the runtime that Puppet is written in.
    fn type_mapping(&mut self, left: &Expr, value: &Expr) -> Expr {
        let range = self.range_from(left.range.start);
        let place = Range { start: puppet_start(self.text, left), end: left.range.end };
        let problem = match &left.kind {
            ExprKind::Access { target, keys } if matches!(target.kind, ExprKind::TypeName(name) if &*name == "Runtime") =>
            {
                let by_pattern = matches!(keys.as_slice(), [_, second] if is_replacement(second));
                match (by_pattern, is_replacement(value), is_type(value)) {
                    (true, true, _) | (false, false, true) => None,
                    (false, ..) => {
                        Some("Illegal type mapping. Expected a Type on the left side, got A Type Mapping")
                    }
                    (true, ..) => Some(
                        "Illegal type mapping. Expected a Tuple[Regexp,String] on the left side, got A Type Mapping",
                    ),
                }
            }
            _ => Some("Expressions of type a Type Mapping are not supported in this version of Puppet"),
        };
        if let Some(problem) = problem {
            self.semantic_at(place, problem);
        }
        Expr { range, kind: ExprKind::TypeMapping }
    }

    // --- Plans

    /// Whether `plan name (` or `plan name {` stands here, with the current token `plan`.
    pub(super) fn at_plan(&mut self) -> bool {
        matches!(self.peek_nth(0), Kind::Name | Kind::Word)
            && matches!(self.peek_nth(1), Kind::LParen | Kind::WsLParen | Kind::LBrace)
    }

    /// Plans run tasks on machines and are no part of a catalog: they are skipped and refused.
    pub(super) fn plan(&mut self) -> Parsed<Expr> {
        let keyword = self.bump().range;
        self.bump();
        if matches!(self.token.kind, Kind::LParen | Kind::WsLParen) {
            let mut open = 0_u32;
            loop {
                match self.token.kind {
                    Kind::LParen | Kind::WsLParen => open += 1,
                    Kind::RParen => open -= 1,
                    Kind::Eof => return Err(self.unexpected()),
                    _ => {}
                }
                self.bump();
                if open == 0 {
                    break;
                }
            }
        }
        let braces = self.open.len();
        self.expect(Kind::LBrace)?;
        while self.open.len() > braces {
            if self.at(Kind::Eof) {
                return Err(self.unexpected());
            }
            self.bump();
        }
        let mut plan = self.refuse(
            keyword,
            "A plan",
            "Plans run tasks on machines; they are no part of a catalog. Keep them in the module's `plans` folder.",
        );
        plan.range = self.range_from(keyword.start);
        Ok(plan)
    }

    // --- Parameters

    pub(super) fn optional_return_type(&mut self) -> Parsed<Option<Expr>> {
        if self.eat(Kind::RShift) { self.type_reference().map(Some) } else { Ok(None) }
    }

    fn parameter_list(&mut self) -> Parsed<Vec<Parameter>> {
        if !matches!(self.token.kind, Kind::LParen | Kind::WsLParen) {
            return Ok(Vec::new());
        }
        self.bump();
        let parameters = self.parameters(Kind::RParen).and_then(|parameters| {
            self.expect(Kind::RParen)?;
            Ok(parameters)
        });
        parameters.or_else(|Reported| self.skip_parameters())
    }

    /// After an error among parameters the body is still worth reading: skips to it.
    fn skip_parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let open = self.open.len();
        while !self.at(Kind::Eof) {
            let closes = self.at(Kind::RParen) && self.open.len() == open;
            if closes && matches!(self.peek(), Kind::LBrace | Kind::Inherits | Kind::RShift) {
                self.bump();
                return Ok(Vec::new());
            }
            if self.open.len() <= open && self.looks_like_statement() {
                break;
            }
            self.bump();
        }
        Err(Reported)
    }

    /// `|parameters|`
    pub(super) fn pipe_parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect(Kind::Pipe)?;
        let parameters = self.parameters(Kind::Pipe)?;
        self.expect(Kind::Pipe)?;
        Ok(parameters)
    }

    pub(super) fn template_parameters(&mut self) -> Parsed<Option<Vec<Parameter>>> {
        if self.at(Kind::Pipe) { self.pipe_parameters().map(Some) } else { Ok(None) }
    }

    fn parameters(&mut self, close: Kind) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.at(close) {
            parameters.push(self.parameter()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(parameters)
    }

    /// `Type *$name = default`. Its range starts at the name, which is the place that Puppet gives.
    fn parameter(&mut self) -> Parsed<Parameter> {
        let type_expr = if self.at(Kind::ClassRef) { Some(self.type_reference()?) } else { None };
        let captures_rest = self.eat(Kind::Times);
        let variable = self.expect(Kind::Variable)?.range;
        let text = self.slice(variable);
        let name = self.symbol(text.strip_prefix('$').unwrap_or(text));
        let default = if self.eat(Kind::Equals) { Some(self.expression()?) } else { None };
        let range = self.range_from(variable.start);
        Ok(Parameter { range, name, type_expr, default, captures_rest })
    }
}

/// `[/pattern/, 'replacement']`
fn is_replacement(expr: &Expr) -> bool {
    let ExprKind::Array(items) = &expr.kind else { return false };
    matches!(
        items.as_slice(),
        [Expr { kind: ExprKind::Regex(_), .. }, Expr { kind: ExprKind::String(_), .. }]
    )
}

fn is_type(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Access { target, .. } => matches!(target.kind, ExprKind::TypeName(_)),
        kind => matches!(kind, ExprKind::TypeName(_)),
    }
}
