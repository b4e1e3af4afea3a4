//! Components that know their parents, in one arena.

use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_provenance::Prov;
use setpoint_source::{Span, Symbol};

use super::Production;
use crate::output;
use crate::reference::Path;
use crate::store;
use crate::syntax::{
    Body, Component as ComponentSyntax, Expression, ExpressionKind, Operator, OrderConstraint, Part,
    Prototype, Reference, Value as Syntax,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NodeId(u32);

/// A name, or a path along which the value is to be placed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Name(Symbol),
    Path(Rc<[Symbol]>),
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A value that needs no more work.
    Basic(store::Value),
    Component(NodeId),
    Link(Rc<Link>),
    /// A function, and whether the runtime is to apply it.
    Apply {
        node: NodeId,
        lazy: bool,
    },
    /// Assertions, and whether the runtime is to check them.
    Assert {
        node: NodeId,
        lazy: bool,
    },
    /// `TBD`
    ToBeDefined,
    /// Left out of the result.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) reference: Reference,
    pub(super) lazy: bool,
    /// The value in place of what does not exist, and where it is written.
    pub(super) default: Option<(store::Value, Span)>,
}

#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) value: Value,
    pub(super) tags: Option<Rc<Vec<Symbol>>>,
    /// Where it is named.
    pub(super) span: Span,
    pub(super) provenance: Prov,
}

/// A prototype that has not been copied yet.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Reference(Reference),
    /// A body between prototypes: a template that belongs to no component.
    Body(NodeId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    Waiting,
    Begun,
    Done,
}

pub(super) type Attributes = IndexMap<Key, Attribute, FxBuildHasher>;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: Option<NodeId>,
    /// The attribute of the parent that it is the value of; a function, too, has a name.
    pub(super) key: Option<Key>,
    /// From the first to the last; the last is copied first.
    pub(super) types: Vec<Type>,
    pub(super) types_progress: Progress,
    pub(super) attributes: Attributes,
    pub(super) orders: Vec<OrderConstraint>,
    pub(super) data: bool,
    pub(super) span: Span,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Attributes that were copied, in all.
    pub(super) copied: usize,
}

impl Tree {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn add(&mut self, parent: Option<NodeId>, key: Option<Key>, span: Span) -> NodeId {
        self.nodes.push(Node {
            parent,
            key,
            types: Vec::new(),
            types_progress: Progress::Waiting,
            attributes: Attributes::default(),
            orders: Vec::new(),
            data: false,
            span,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn value(&self, node: NodeId, name: Symbol) -> Option<&Value> {
        self.node(node).attributes.get(&Key::Name(name)).map(|attribute| &attribute.value)
    }

    pub(super) fn set_value(&mut self, node: NodeId, name: Symbol, value: Value) {
        if let Some(attribute) = self.node_mut(node).attributes.get_mut(&Key::Name(name)) {
            attribute.value = value;
        }
    }

    /// The string of an attribute.
    pub(super) fn string(&self, node: NodeId, name: &str) -> Option<&str> {
        match self.value(node, Symbol::new(name))? {
            Value::Basic(store::Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Where the value of an attribute is written, as far as it is known.
    pub(super) fn place(&self, attribute: &Attribute) -> Span {
        match &attribute.value {
            Value::Link(link) => link.reference.span,
            Value::Apply { node, .. } | Value::Assert { node, .. } => self.node(*node).span,
            _ => attribute.span,
        }
    }

    pub(super) fn components(&self, node: NodeId) -> Vec<NodeId> {
        let attributes = self.node(node).attributes.values();
        attributes
            .filter_map(|attribute| match attribute.value {
                Value::Component(child) => Some(child),
                _ => None,
            })
            .collect()
    }

    /// The names from the root down to a component or function.
    pub(super) fn path(&self, node: NodeId) -> Path {
        let mut path = Vec::new();
        let mut at = node;
        while let Some(parent) = self.node(at).parent {
            match &self.node(at).key {
                Some(Key::Name(name)) => path.push(*name),
                Some(Key::Path(names)) => path.extend(names.iter().rev()),
                None => {}
            }
            at = parent;
        }
        path.reverse();
        path
    }

    /// Whether a component is another, or is around it.
    pub(super) fn contains(&self, outer: NodeId, inner: NodeId) -> bool {
        let mut at = Some(inner);
        while let Some(node) = at {
            if node == outer {
                return true;
            }
            at = self.node(node).parent;
        }
        false
    }
}

impl Production<'_> {
    pub(super) fn build_root(&mut self, body: &Body) -> NodeId {
        let file = setpoint_source::Range::default().in_file(setpoint_source::FileId(0));
        let span = body.assignments.first().map_or(file, |first| first.span);
        let root = self.tree.add(None, None, span);
        self.fill(root, body);
        root
    }

    /// Puts the attributes of a body into a component.
    fn fill(&mut self, node: NodeId, body: &Body) {
        for assignment in &body.assignments {
            let key = match &assignment.target[..] {
                [name] => Key::Name(*name),
                path => Key::Path(path.into()),
            };
            let (value, written) = match &assignment.value {
                Syntax::Component(component) => (self.component(node, &key, component), component.span),
                Syntax::Expression(expression) => (self.expression(node, &key, expression), expression.span),
            };
            let provenance = self.arena.literal(written);
            let span = assignment.span;
            let mut tags = assignment.tags.clone();
            tags.sort();
            tags.dedup();
            let tags = (!tags.is_empty()).then(|| Rc::new(tags));
            self.tree.node_mut(node).attributes.insert(key, Attribute { value, tags, span, provenance });
        }
        self.tree.node_mut(node).orders.extend(&body.orders);
    }

    fn component(&mut self, parent: NodeId, key: &Key, component: &ComponentSyntax) -> Value {
        let node = self.tree.add(Some(parent), Some(key.clone()), component.span);
        self.tree.node_mut(node).data = component.data;
        if let [Prototype::Body(body, _)] = &component.prototypes[..] {
            self.fill(node, body);
            return Value::Component(node);
        }
        for prototype in &component.prototypes {
            let kind = match prototype {
                Prototype::Reference(reference) => Type::Reference(reference.clone()),
                Prototype::Body(body, span) => {
                    let template = self.tree.add(None, None, *span);
                    self.fill(template, body);
                    Type::Body(template)
                }
            };
            self.tree.node_mut(node).types.push(kind);
        }
        Value::Component(node)
    }

    fn expression(&mut self, parent: NodeId, key: &Key, expression: &Expression) -> Value {
        let span = expression.span;
        match &expression.kind {
            // A vector in brackets is a function, also where there is nothing to compute: what no phase comes to stays one.
            ExpressionKind::Vector { elements, literal: false } => {
                self.function("Vector", span, (parent, key), elements, None)
            }
            ExpressionKind::ToBeDefined => Value::ToBeDefined,
            ExpressionKind::Reference { reference, lazy, optional, data: false } => {
                let default = optional.as_deref().map(|default| (default_value(default), default.span));
                Value::Link(Rc::new(Link { reference: reference.clone(), lazy: *lazy, default }))
            }
            ExpressionKind::Operation { operator, operands } => {
                let names: Option<&[&str]> = match operator.arity() {
                    None => None,
                    Some(1) => Some(&["data"]),
                    Some(_) => Some(&["left", "right"]),
                };
                self.function(class(*operator), span, (parent, key), operands, names)
            }
            ExpressionKind::If { condition, then, otherwise } => {
                let node = self.function_node("IfThenElse", span, (parent, key));
                for (name, argument) in [("if", condition), ("then", then), ("else", otherwise)] {
                    self.argument(node, name, argument);
                }
                Value::Apply { node, lazy: false }
            }
            ExpressionKind::Switch(cases) => {
                let node = self.function_node("Switch", span, (parent, key));
                for (at, (condition, value)) in cases.iter().enumerate() {
                    self.argument(node, &format!("if{at}"), condition);
                    self.argument(node, &format!("then{at}"), value);
                }
                Value::Apply { node, lazy: false }
            }
            ExpressionKind::Apply { body, lazy, .. } => {
                let node = self.tree.add(Some(parent), Some(key.clone()), span);
                self.fill(node, body);
                Value::Apply { node, lazy: *lazy }
            }
            ExpressionKind::Assert { body, lazy, .. } => {
                let node = self.tree.add(Some(parent), Some(key.clone()), span);
                self.fill(node, body);
                Value::Assert { node, lazy: *lazy }
            }
            _ => Value::Basic(literal(expression).unwrap_or(store::Value::Null)),
        }
    }

    /// A function with arguments that have these names, or names of their own.
    fn function(
        &mut self,
        class: &str,
        span: Span,
        at: (NodeId, &Key),
        arguments: &[Expression],
        names: Option<&[&str]>,
    ) -> Value {
        let node = self.function_node(class, span, at);
        for (at, argument) in arguments.iter().enumerate() {
            if let Some(name) = names.and_then(|names| names.get(at)) {
                self.argument(node, name, argument);
            } else {
                let name = format!("unique{}", argument.unique.unwrap_or(at));
                self.argument(node, &name, argument);
            }
        }
        Value::Apply { node, lazy: false }
    }

    fn function_node(&mut self, class: &str, span: Span, (parent, key): (NodeId, &Key)) -> NodeId {
        let node = self.tree.add(Some(parent), Some(key.clone()), span);
        let class = store::Value::String(format!("{FUNCTIONS}{class}").into());
        let provenance = self.arena.literal(span);
        let attribute = Attribute { value: Value::Basic(class), tags: None, span, provenance };
        self.tree.node_mut(node).attributes.insert(Key::Name(Symbol::new(FUNCTION_CLASS)), attribute);
        node
    }

    fn argument(&mut self, node: NodeId, name: &str, argument: &Expression) {
        let key = Key::Name(Symbol::new(name));
        let value = self.expression(node, &key, argument);
        let provenance = self.arena.literal(argument.span);
        let attribute = Attribute { value, tags: None, span: argument.span, provenance };
        self.tree.node_mut(node).attributes.insert(key, attribute);
    }
}

/// The package of the classes of the production compiler that are functions.
pub(super) const FUNCTIONS: &str = "org.smartfrog.sfcore.languages.sf.functions.";
pub(super) const FUNCTION_CLASS: &str = "sfFunctionClass";

fn class(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "Sum",
        Operator::Multiply => "Product",
        Operator::Concatenate => "Concatenate",
        Operator::Append => "Append",
        Operator::And => "And",
        Operator::Or => "Or",
        Operator::Xor => "Xor",
        Operator::Implies => "Implies",
        Operator::Subtract => "Minus",
        Operator::Divide => "Divide",
        Operator::Modulo => "Mod",
        Operator::Equal => "EQ",
        Operator::NotEqual => "NE",
        Operator::Less => "LT",
        Operator::LessOrEqual => "LE",
        Operator::Greater => "GT",
        Operator::GreaterOrEqual => "GE",
        Operator::Not => "Not",
    }
}

/// What `OPTIONAL` names in place of what is missing. An expression stays as it is: what it would be is not known.
fn default_value(default: &Expression) -> store::Value {
    literal(default).unwrap_or_else(|| {
        store::Value::Lazy(match &default.kind {
            ExpressionKind::Reference { reference, .. } => output::reference(&reference.parts).into(),
            _ => "…".into(),
        })
    })
}

/// The value of an expression that has nothing to compute.
fn literal(expression: &Expression) -> Option<store::Value> {
    Some(match &expression.kind {
        ExpressionKind::Null => store::Value::Null,
        ExpressionKind::Boolean(value) => store::Value::Boolean(*value),
        ExpressionKind::Number(number) => store::Value::Number(number.clone()),
        ExpressionKind::String(text) => store::Value::String(text.clone()),
        ExpressionKind::Bytes(digits) => store::Value::Bytes(digits.clone()),
        ExpressionKind::Variable(_) => store::Value::Variable(0),
        ExpressionKind::Reference { reference, data: true, .. } => {
            store::Value::Data(reference.parts.clone())
        }
        ExpressionKind::Vector { elements, .. } => {
            store::Value::Vector(elements.iter().map(literal).collect::<Option<Vec<_>>>()?.into())
        }
        _ => return None,
    })
}

/// The first part of a reference is looked for outwards.
pub(super) fn is_searched(part: Part) -> bool {
    matches!(part, Part::Name(_) | Part::Attrib(_))
}
