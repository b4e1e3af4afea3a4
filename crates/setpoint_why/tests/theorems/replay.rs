//! The expression of a value, written as Puppet code that gives the value again.

use setpoint_provenance::{Arena, LeafKind, Node, Prov};
use setpoint_puppet_syntax::ast::{ExprKind, StringPart};
use setpoint_puppet_syntax::parse_expression;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::{Sources, Span};

pub(crate) struct Replay<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) sources: &'a Sources,
    pub(crate) facts: &'a Hash,
}

/// Deeper expressions are not written out.
const DEEPEST: usize = 40;

impl Replay<'_> {
    /// Code for a value; nothing if its expression needs more than values: the catalog, a block, a template.
    pub(crate) fn value(&self, value: &Value) -> Option<String> {
        match &value.data {
            Data::Array(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.value(item)).collect();
                items
                    .map(|items| format!("[{}]", items.join(", ")))
                    .or_else(|| self.expression(value.prov, 0))
            }
            Data::Hash(entries) => {
                let entry = |(key, entry): (&Key, &Value)| {
                    Some(format!("{} => {}", quoted(key.as_str()?), self.value(entry)?))
                };
                let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
                Some(format!("{{{}}}", entries?.join(", ")))
            }
            _ => self.expression(value.prov, 0),
        }
    }

    fn expression(&self, prov: Prov, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        match self.arena.node(prov)? {
            Node::Copy { of, .. } | Node::Under { of, .. } => self.expression(of, depth + 1),
            Node::Shape { .. } => None,
            Node::Leaf(leaf) => match (leaf.kind, leaf.span, leaf.name) {
                (LeafKind::Literal, Some(span), _) => Some(self.slice(span)),
                (LeafKind::Fact, _, Some(name)) => self.fact(name.as_str()),
                _ => None,
            },
            Node::Operation { name, span, arguments, shape } => {
                let all = || -> Option<Vec<String>> {
                    arguments.iter().map(|argument| self.expression(*argument, depth + 1)).collect()
                };
                match name.as_str() {
                    "array" if shape == 0 => Some(format!("[{}]", all()?.join(", "))),
                    "hash" => {
                        let all = all()?;
                        let (keys, values) = all.split_at_checked(shape)?;
                        let pairs: Vec<String> =
                            keys.iter().zip(values).map(|(key, value)| format!("{key} => {value}")).collect();
                        Some(format!("{{{}}}", pairs.join(", ")))
                    }
                    "interpolate" => self.interpolation(span?, arguments, depth),
                    "!" => Some(format!("(!({}))", all()?.first()?)),
                    "-" if arguments.len() == 1 => Some(format!("(-({}))", all()?.first()?)),
                    "and" | "or" if arguments.len() == 1 => Some(format!("(!(!({})))", all()?.first()?)),
                    "+" | "-" | "*" | "/" | "%" | "<<" | ">>" | "==" | "!=" | "<" | "<=" | ">" | ">="
                    | "=~" | "!~" | "in" | "and" | "or" => {
                        let all = all()?;
                        let [left, right] = all.as_slice() else { return None };
                        Some(format!("(({left}) {name} ({right}))"))
                    }
                    "upcase" | "downcase" | "split" | "join" | "unique" | "flatten" | "length" => {
                        Some(format!("{name}({})", all()?.join(", ")))
                    }
                    _ => None,
                }
            }
        }
    }

    fn interpolation(&self, span: Span, arguments: &[Prov], depth: usize) -> Option<String> {
        let text = self.slice(span);
        let sources = Sources::new();
        let parsed = parse_expression(sources.add("x", text.as_str()), &text);
        let ExprKind::Interpolation(parts) = &parsed.program.body.first()?.kind else { return None };
        let mut arguments = arguments.iter();
        let mut out = Vec::new();
        for part in parts {
            match part {
                StringPart::Text(text) => out.push(quoted(text)),
                StringPart::Expr(_) => {
                    let inner = self.expression(*arguments.next()?, depth + 1)?;
                    out.push(format!("\"${{[{inner}].map |$x| {{ \"${{x}}\" }}[0]}}\""));
                }
            }
        }
        Some(format!("join([{}])", out.join(", ")))
    }

    fn fact(&self, path: &str) -> Option<String> {
        let mut names = path.split('.');
        let mut at = self.facts.get(&Key::from(names.next()?))?;
        for name in names {
            at = at.as_hash()?.get(&Key::from(name))?;
        }
        match &at.data {
            Data::String(text) => Some(quoted(text)),
            Data::Integer(number) => Some(number.to_string()),
            Data::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    fn slice(&self, span: Span) -> String {
        self.sources.file(span.file).slice(span.range).to_owned()
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
