//! Resources, their defaults and overrides, and collectors.

use setpoint_source::{Diagnostic, Range, Rule};

use crate::ast::{Attribute, AttributeKind, Call, CollectorForm, Expr, ExprKind, ResourceBody, ResourceForm};
use crate::parser::{Parsed, Parser, is_statement_function};
use crate::place::puppet_start;
use crate::token::Kind;

impl Parser<'_> {
    /// An expression, or what it declares if braces follow.
    pub(super) fn resource(&mut self) -> Parsed<Expr> {
        let kind = self.token.kind;
        let mut left = match kind {
            Kind::At => self.with_form(ResourceForm::Virtual, "Virtual (@)")?,
            Kind::AtAt => self.with_form(ResourceForm::Exported, "Exported (@@)")?,
            Kind::Class if self.peek() == Kind::LBrace => self.class_resource()?,
            _ => self.expression()?,
        };
        while self.at(Kind::LBrace) {
            self.link()?;
            left = self.nested(|parser| parser.braced(left))?;
        }
        Ok(left)
    }

    /// `@resource` and `@@resource`.
    fn with_form(&mut self, wanted: ResourceForm, sign: &str) -> Parsed<Expr> {
        let at = self.bump().range;
        let errors = self.errors.len();
        let mut inner = self.nested(Self::resource)?;
        match &mut inner.kind {
            ExprKind::Resource { form, .. }
            | ExprKind::ResourceDefaults { form, .. }
            | ExprKind::ResourceOverride { form, .. } => *form = wanted,
            // It is told already what is wrong with it.
            _ if self.errors.len() > errors || self.tainted => {}
            _ => {
                return Err(self.error_at(at, format!("{sign} can only be applied to a Resource Expression")));
            }
        }
        inner.range = at.to(inner.range);
        Ok(inner)
    }

    /// `class { 'a': … }`
    fn class_resource(&mut self) -> Parsed<Expr> {
        let range = self.bump().range;
        let name = self.symbol("class");
        let type_name = Box::new(Expr { range, kind: ExprKind::Name(name) });
        self.bump();
        let bodies = self.nested(|parser| {
            let title = parser.expression()?;
            parser.bodies(title)
        })?;
        let range = self.range_from(range.start);
        Ok(Expr { range, kind: ExprKind::Resource { form: ResourceForm::Regular, type_name, bodies } })
    }

    /// `{ … }` after an expression: bodies with titles, or attributes alone.
    fn braced(&mut self, left: Expr) -> Parsed<Expr> {
        let brace = self.bump().range;
        if !self.at_lone_attributes() {
            let title = self.expression()?;
            let bodies = self.bodies(title)?;
            let range = self.range_from(left.range.start);
            let type_name = Box::new(left);
            return Ok(Expr {
                range,
                kind: ExprKind::Resource { form: ResourceForm::Regular, type_name, bodies },
            });
        }
        let attributes = self.attributes()?;
        self.expect(Kind::RBrace)?;
        let range = self.range_from(left.range.start);
        let form = ResourceForm::Regular;
        let kind = match left.kind {
            ExprKind::Name(_) => return self.without_title(left, attributes, brace),
            ExprKind::TypeName(_) => {
                ExprKind::ResourceDefaults { form, type_name: Box::new(left), attributes }
            }
            ExprKind::Access { .. } => {
                ExprKind::ResourceOverride { form, target: Box::new(left), attributes }
            }
            ExprKind::Error => ExprKind::Error,
            _ => {
                let start = puppet_start(self.text, &left);
                let place = Range { start, end: left.range.end.max(start) };
                let message = "Expression is not valid as a resource, resource-default, or resource-override";
                return Err(self.error_at(place, message));
            }
        };
        Ok(Expr { range, kind })
    }

    /// After a `{`: attributes follow, or nothing, and no title.
    fn at_lone_attributes(&mut self) -> bool {
        match self.token.kind {
            Kind::RBrace | Kind::Comma => true,
            Kind::Times => self.peek() == Kind::FArrow,
            kind => {
                kind.is_attribute_name()
                    && (!kind.starts_expression() || matches!(self.peek(), Kind::FArrow | Kind::PArrow))
            }
        }
    }

    /// `name { a => 1 }`: the call of a function with a hash, or a resource without its title.
    fn without_title(&mut self, left: Expr, attributes: Vec<Attribute>, brace: Range) -> Parsed<Expr> {
        let ExprKind::Name(name) = left.kind else { return Ok(left) };
        let range = self.range_from(left.range.start);
        let mut pairs = Vec::with_capacity(attributes.len());
        let mut has_splat = false;
        for attribute in attributes {
            match attribute.kind {
                AttributeKind::Set { name, name_range, value } => {
                    pairs.push((
                        Expr { range: name_range, kind: ExprKind::String(name.as_str().into()) },
                        value,
                    ));
                }
                AttributeKind::Append { .. } => {
                    return Err(
                        self.error_at(brace, "Syntax error resource body without title or hash with +>")
                    );
                }
                AttributeKind::Splat(_) => has_splat = true,
            }
        }
        if is_statement_function(&name) && !has_splat {
            let hash =
                Expr { range: Range { start: brace.start, end: range.end }, kind: ExprKind::Hash(pairs) };
            let call = Call { function: left, arguments: vec![hash], lambda: None, statement: true };
            return Ok(Expr { range, kind: ExprKind::Call(Box::new(call)) });
        }
        let message =
            format!("This expression is invalid. Did you try declaring a '{name}' resource without a title?");
        let diagnostic = Diagnostic::new(Rule::InvalidCode, message)
            .at(left.range.in_file(self.file))
            .with_help(format!("Write the title and a colon after the brace: `{name} {{ 'title': … }}`."));
        self.semantic.push(diagnostic);
        Ok(Expr { range, kind: ExprKind::Error })
    }

    /// `title: attributes; title: attributes }`, from after the first title.
    fn bodies(&mut self, first_title: Expr) -> Parsed<Vec<ResourceBody>> {
        let mut bodies = vec![self.body(first_title)?];
        while self.eat(Kind::Semicolon) && !self.at(Kind::RBrace) {
            let title = self.expression()?;
            bodies.push(self.body(title)?);
        }
        self.expect(Kind::RBrace)?;
        Ok(bodies)
    }

    fn body(&mut self, title: Expr) -> Parsed<ResourceBody> {
        let colon = self.expect(Kind::Colon)?.range;
        let attributes = self.attributes()?;
        let last = attributes.last().map_or(colon, |attribute| attribute.range);
        Ok(ResourceBody { range: title.range.to(last), title, attributes })
    }

    /// Attributes with commas between them; one may follow the last, and one may precede the first.
    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        if self.at_attribute() {
            attributes.push(self.attribute()?);
        }
        while self.eat(Kind::Comma) && self.at_attribute() {
            attributes.push(self.attribute()?);
        }
        Ok(attributes)
    }

    fn at_attribute(&self) -> bool {
        self.token.kind == Kind::Times || self.token.kind.is_attribute_name()
    }

    fn attribute(&mut self) -> Parsed<Attribute> {
        let name = self.bump();
        let appends = name.kind != Kind::Times && self.at(Kind::PArrow);
        if !appends && !self.at(Kind::FArrow) {
            return Err(self.unexpected());
        }
        self.bump();
        let value = self.expression()?;
        let range = name.range.to(value.range);
        let name_range = name.range;
        let kind = if name.kind == Kind::Times {
            AttributeKind::Splat(value)
        } else {
            let name = self.symbol_at(name_range);
            if appends {
                AttributeKind::Append { name, name_range, value }
            } else {
                AttributeKind::Set { name, name_range, value }
            }
        };
        Ok(Attribute { range, kind })
    }

    /// `<| query |> { attributes }` after a type.
    pub(super) fn collector(&mut self, type_name: Expr) -> Parsed<Expr> {
        self.nested(|parser| {
            let (form, close) = match parser.bump().kind {
                Kind::LCollect => (CollectorForm::Virtual, Kind::RCollect),
                _ => (CollectorForm::Exported, Kind::RRCollect),
            };
            let query = if parser.at(close) { None } else { Some(Box::new(parser.expression()?)) };
            parser.expect(close)?;
            let mut attributes = Vec::new();
            if parser.eat(Kind::LBrace) {
                attributes = parser.attributes()?;
                parser.expect(Kind::RBrace)?;
            }
            let range = parser.range_from(type_name.range.start);
            let type_name = Box::new(type_name);
            Ok(Expr { range, kind: ExprKind::Collector { form, type_name, query, attributes } })
        })
    }
}
