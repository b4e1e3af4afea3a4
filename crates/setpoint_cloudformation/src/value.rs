//! Values of a template, with its intrinsic functions recognised in both spellings.

use std::sync::Arc;

use setpoint_data::{Entry, Kind, Node};
use setpoint_source::{Range, Symbol};

#[derive(Debug, Clone)]
pub struct Value {
    pub range: Range,
    pub kind: ValueKind,
}

#[derive(Debug, Clone)]
pub enum ValueKind {
    Null,
    /// Any scalar; numbers keep their spelling.
    Text(Arc<str>),
    List(Vec<Value>),
    Map(Vec<Field>),
    Ref(Symbol),
    GetAtt {
        resource: Symbol,
        attribute: Option<Arc<str>>,
        argument: Vec<Value>,
    },
    /// `Fn::Sub`: its text in pieces, and the names that it defines for itself.
    Sub {
        pieces: Vec<Piece>,
        variables: Vec<Field>,
    },
    If {
        condition: Symbol,
        then: Box<Value>,
        otherwise: Box<Value>,
    },
    /// Any other function: `Fn::Join`, `Condition`, `Fn::Transform`.
    Call {
        name: Symbol,
        argument: Box<Value>,
    },
}

#[derive(Debug, Clone)]
pub struct Field {
    pub name: Symbol,
    pub range: Range,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(Arc<str>),
    Ref(Symbol),
    GetAtt { resource: Symbol, attribute: Arc<str> },
}

/// Returns the text of a scalar as CloudFormation compares it: it writes YAML's `True` and `FALSE` as JSON does.
pub(crate) fn scalar_text(node: &Node) -> Option<Arc<str>> {
    let Kind::Scalar { text, .. } = &node.kind else { return None };
    Some(match node.plain() {
        Some("True" | "TRUE") => "true".into(),
        Some("False" | "FALSE") => "false".into(),
        _ => Arc::clone(text),
    })
}

impl Value {
    pub fn read(node: &Node) -> Self {
        let kind = match (&node.tag, &node.kind) {
            (Some(tag), _) if !tag.starts_with('!') => short_form(tag, node),
            (_, Kind::Scalar { .. }) if node.is_null() => ValueKind::Null,
            (_, Kind::Scalar { text, .. }) => {
                ValueKind::Text(scalar_text(node).unwrap_or_else(|| Arc::clone(text)))
            }
            (_, Kind::Sequence(items)) => ValueKind::List(items.iter().map(Self::read).collect()),
            (_, Kind::Mapping(entries)) => long_form(entries),
        };
        Self { range: node.range, kind }
    }

    pub fn text(&self) -> Option<&str> {
        if let ValueKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub fn is_true(&self) -> bool {
        self.text().is_some_and(|text| text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("yes"))
    }

    pub fn items(&self) -> &[Value] {
        match &self.kind {
            ValueKind::List(items) => items,
            ValueKind::Null => &[],
            _ => std::slice::from_ref(self),
        }
    }

    pub fn fields(&self) -> &[Field] {
        if let ValueKind::Map(fields) = &self.kind { fields } else { &[] }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields().iter().find(|field| &*field.name == name).map(|field| &field.value)
    }

    /// The value at a path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The resource that this value names, if it is a plain reference to one.
    pub fn reference(&self) -> Option<Symbol> {
        match &self.kind {
            ValueKind::Ref(name) => Some(*name),
            ValueKind::GetAtt { resource, .. } => Some(*resource),
            ValueKind::Sub { pieces, .. } => match pieces.as_slice() {
                [Piece::Ref(name) | Piece::GetAtt { resource: name, .. }] => Some(*name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the condition that this value itself names: `!Condition Name`, `Condition: Name`, or that of `Fn::If`.
    pub(crate) fn condition_named(&self) -> Option<Symbol> {
        match &self.kind {
            ValueKind::If { condition, .. } => Some(*condition),
            ValueKind::Call { name, argument } if &**name == "Condition" => argument.text().map(Symbol::new),
            ValueKind::Map(fields) => match fields.as_slice() {
                [only] if &*only.name == "Condition" => only.value.text().map(Symbol::new),
                _ => None,
            },
            _ => None,
        }
    }

    /// Calls `visit` for this value and all below it, with the conditions under which each counts.
    pub fn walk<'a>(&'a self, guard: &mut Guard, visit: &mut dyn FnMut(&'a Value, &Guard)) {
        visit(self, guard);
        match &self.kind {
            ValueKind::Null | ValueKind::Text(_) | ValueKind::Ref(_) => {}
            ValueKind::List(items) | ValueKind::GetAtt { argument: items, .. } => {
                for item in items {
                    item.walk(guard, visit);
                }
            }
            ValueKind::Map(fields) | ValueKind::Sub { variables: fields, .. } => {
                for field in fields {
                    field.value.walk(guard, visit);
                }
            }
            ValueKind::If { condition, then, otherwise } => {
                for (branch, taken) in [(then, true), (otherwise, false)] {
                    guard.push((*condition, taken));
                    branch.walk(guard, visit);
                    guard.pop();
                }
            }
            ValueKind::Call { argument, .. } => argument.walk(guard, visit),
        }
    }

    /// Calls `visit` for this value and all below it.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Value)) {
        self.walk(&mut Guard::new(), &mut |value, _| visit(value));
    }

    /// Whether the text, in any of its pieces, contains `needle`.
    pub fn mentions(&self, needle: &str) -> bool {
        let mut found = false;
        self.each(&mut |value| match &value.kind {
            ValueKind::Text(text) => found |= text.contains(needle),
            ValueKind::Sub { pieces, .. } => {
                found |=
                    pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(needle)));
            }
            _ => {}
        });
        found
    }

    /// Whether it says the same as another value, wherever the two stand.
    pub fn same_as(&self, other: &Self) -> bool {
        let all = |left: &[Self], right: &[Self]| {
            left.len() == right.len() && left.iter().zip(right).all(|(one, two)| one.same_as(two))
        };
        // The order of fields says nothing.
        let fields = |left: &[Field], right: &[Field]| {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|one| right.iter().any(|two| one.name == two.name && one.value.same_as(&two.value)))
        };
        match (&self.kind, &other.kind) {
            (ValueKind::Null, ValueKind::Null) => true,
            (ValueKind::Text(left), ValueKind::Text(right)) => left == right,
            (ValueKind::List(left), ValueKind::List(right)) => all(left, right),
            (ValueKind::Map(left), ValueKind::Map(right)) => fields(left, right),
            (ValueKind::Ref(left), ValueKind::Ref(right)) => left == right,
            (
                ValueKind::GetAtt { resource, attribute, argument },
                ValueKind::GetAtt { resource: theirs, attribute: their_attribute, argument: their_argument },
            ) => resource == theirs && attribute == their_attribute && all(argument, their_argument),
            (
                ValueKind::Sub { pieces, variables },
                ValueKind::Sub { pieces: theirs, variables: their_variables },
            ) => pieces == theirs && fields(variables, their_variables),
            (
                ValueKind::If { condition, then, otherwise },
                ValueKind::If { condition: theirs, then: their_then, otherwise: their_otherwise },
            ) => condition == theirs && then.same_as(their_then) && otherwise.same_as(their_otherwise),
            (
                ValueKind::Call { name, argument },
                ValueKind::Call { name: theirs, argument: their_argument },
            ) => name == theirs && argument.same_as(their_argument),
            _ => false,
        }
    }

    /// Whether it refers to a resource anywhere below.
    pub fn refers_to(&self, name: Symbol) -> bool {
        let mut found = false;
        self.each(&mut |value| match &value.kind {
            ValueKind::Ref(target) | ValueKind::GetAtt { resource: target, .. } => found |= *target == name,
            ValueKind::Sub { pieces, variables } => {
                found |= pieces.iter().any(|piece| match piece {
                    Piece::Ref(target) => *target == name && !variables.iter().any(|own| own.name == name),
                    Piece::GetAtt { resource, .. } => *resource == name,
                    Piece::Text(_) => false,
                });
            }
            _ => {}
        });
        found
    }
}

/// Conditions that must have the given values, all of them.
pub type Guard = Vec<(Symbol, bool)>;

fn short_form(tag: &str, node: &Node) -> ValueKind {
    let plain = Node { tag: None, ..node.clone() };
    match tag {
        "Ref" => {
            node.text().map_or_else(|| call("Ref", &plain), |name| ValueKind::Ref(Symbol::new(name.trim())))
        }
        "Condition" => call("Condition", &plain),
        "GetAtt" => get_att(&plain),
        "Sub" => substitution(&plain),
        "If" => choice(&plain),
        other => call(&format!("Fn::{other}"), &plain),
    }
}

fn long_form(entries: &[Entry]) -> ValueKind {
    if let [Entry { key, value }] = entries {
        match key.text().unwrap_or("") {
            "Ref" => {
                if let Some(name) = value.text() {
                    return ValueKind::Ref(Symbol::new(name.trim()));
                }
            }
            "Fn::GetAtt" => return get_att(value),
            "Fn::Sub" => return substitution(value),
            "Fn::If" => return choice(value),
            // A preprocessor puts a file in the place of `Rain::Embed`.
            name if name.starts_with("Rain::")
                || (name.starts_with("Fn::") && !name.starts_with("Fn::ForEach::")) =>
            {
                return call(name, value);
            }
            _ => {}
        }
    }
    ValueKind::Map(fields(entries))
}

pub(crate) fn fields(entries: &[Entry]) -> Vec<Field> {
    entries
        .iter()
        .filter_map(|Entry { key, value }| {
            let name = Symbol::new(key.text()?);
            Some(Field { name, range: key.range, value: Value::read(value) })
        })
        .collect()
}

fn call(name: &str, argument: &Node) -> ValueKind {
    ValueKind::Call { name: Symbol::new(name), argument: Box::new(Value::read(argument)) }
}

fn get_att(node: &Node) -> ValueKind {
    if let Some(text) = node.text() {
        let (resource, attribute) = text.split_once('.').unwrap_or((text, ""));
        return ValueKind::GetAtt {
            resource: Symbol::new(resource.trim()),
            attribute: Some(attribute.into()),
            argument: Vec::new(),
        };
    }
    let argument: Vec<Value> = node.items().iter().map(Value::read).collect();
    match argument.first().and_then(Value::text).map(Symbol::new) {
        Some(resource) => {
            let attribute = argument.get(1).and_then(Value::text).map(Arc::from);
            ValueKind::GetAtt { resource, attribute, argument: argument.into_iter().skip(1).collect() }
        }
        None => call("Fn::GetAtt", node),
    }
}

fn substitution(node: &Node) -> ValueKind {
    let (text, variables) = match node.items() {
        [] => (node.text(), Vec::new()),
        [text, more, ..] => (text.text(), fields(more.entries())),
        [text] => (text.text(), Vec::new()),
    };
    match text {
        Some(text) => ValueKind::Sub { pieces: pieces(text), variables },
        None => call("Fn::Sub", node),
    }
}

/// The pieces of `Fn::Sub`: `${Name}`, `${Name.Attribute}`, and `${!Literal}`, which stays as text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(len) = rest[start..].find('}') else { break };
        let inner = rest[start + 2..start + len].trim();
        if start > 0 {
            out.push(Piece::Text(rest[..start].into()));
        }
        out.push(if let Some(literal) = inner.strip_prefix('!') {
            Piece::Text(format!("${{{literal}}}").into())
        } else if let Some((resource, attribute)) = inner.split_once('.') {
            Piece::GetAtt { resource: Symbol::new(resource), attribute: attribute.into() }
        } else {
            Piece::Ref(Symbol::new(inner))
        });
        rest = &rest[start + len + 1..];
    }
    if !rest.is_empty() || out.is_empty() {
        out.push(Piece::Text(rest.into()));
    }
    out
}

fn choice(node: &Node) -> ValueKind {
    if let [condition, then, otherwise] = node.items() {
        let name = match Value::read(condition).kind {
            ValueKind::Text(name) => Some(Symbol::new(&name)),
            ValueKind::Call { argument, .. } => argument.text().map(Symbol::new),
            _ => None,
        };
        if let Some(condition) = name {
            let (then, otherwise) = (Box::new(Value::read(then)), Box::new(Value::read(otherwise)));
            return ValueKind::If { condition, then, otherwise };
        }
    }
    call("Fn::If", node)
}
