//! The tree of a specification, after its includes were read.

use std::sync::Arc;

use setpoint_source::{Span, Symbol};

/// A sequence of assignments: a file, or what stands between braces.
#[derive(Debug, Default)]
pub struct Body {
    pub assignments: Vec<Assignment>,
    /// Figure 19: `order a < b;`.
    pub orders: Vec<OrderConstraint>,
}

/// `before` is to come before `after` in the compiled component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderConstraint {
    pub before: Symbol,
    pub after: Symbol,
    pub span: Span,
}

#[derive(Debug)]
pub struct Assignment {
    pub tags: Vec<Symbol>,
    /// Where the value goes, relative to the component that the assignment stands in. Never empty.
    pub target: Vec<Symbol>,
    /// The place of the target.
    pub span: Span,
    pub value: Value,
}

#[derive(Debug)]
pub enum Value {
    /// `a 1;`, `a b;`, `a (b + 1);`
    Expression(Expression),
    /// `a extends …`
    Component(Component),
}

#[derive(Debug)]
pub struct Component {
    /// `extends DATA`: not to be deployed.
    pub data: bool,
    pub prototypes: Vec<Prototype>,
    /// From `extends` to the end of the last prototype.
    pub span: Span,
}

#[derive(Debug)]
pub enum Prototype {
    Reference(Reference),
    Body(Body, Span),
}

/// One part of a reference. In the core language all are names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// In the first place: searched for in this component and then outwards. Later: in the component so far.
    Name(Symbol),
    Root,
    Parent,
    This,
    Attrib(Symbol),
    Here(Symbol),
    Property(Symbol),
    IntegerProperty(Symbol),
    Environment(Symbol),
    IntegerEnvironment(Symbol),
    Constant(Symbol),
    Host(Symbol),
    Process,
}

#[derive(Debug, Clone)]
pub struct Reference {
    pub parts: Arc<[Part]>,
    pub span: Span,
}

impl Reference {
    /// The names of a reference of the core language, where keywords are names like any other.
    pub fn names(&self) -> Vec<Symbol> {
        self.parts.iter().map(|part| part.core_name()).collect()
    }
}

impl Part {
    /// The name of a part as the core language reads it.
    fn core_name(self) -> Symbol {
        match self {
            Self::Name(name)
            | Self::Attrib(name)
            | Self::Here(name)
            | Self::Property(name)
            | Self::IntegerProperty(name)
            | Self::Environment(name)
            | Self::IntegerEnvironment(name)
            | Self::Constant(name)
            | Self::Host(name) => name,
            Self::Root => Symbol::new("ROOT"),
            Self::Parent => Symbol::new("PARENT"),
            Self::This => Symbol::new("THIS"),
            Self::Process => Symbol::new("PROCESS"),
        }
    }
}

#[derive(Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
    /// The number of the name that the production compiler gives it, as an element of a vector or an operand.
    pub unique: Option<usize>,
}

impl Expression {
    /// Whether there is nothing to compute and nothing to look up: what stands between `[|` and `|]`.
    pub fn is_literal(&self) -> bool {
        match &self.kind {
            ExpressionKind::Null
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Number(_)
            | ExpressionKind::String(_)
            | ExpressionKind::Bytes(_)
            | ExpressionKind::Variable(_)
            | ExpressionKind::Reference { data: true, .. } => true,
            ExpressionKind::Vector { elements, .. } => elements.iter().all(Self::is_literal),
            _ => false,
        }
    }
}

#[derive(Debug)]
pub enum ExpressionKind {
    Null,
    Boolean(bool),
    Number(Number),
    String(Arc<str>),
    /// Hexadecimal digits.
    Bytes(Arc<str>),
    /// `TBD`
    ToBeDefined,
    /// `VAR`: a free variable for a solver, with its range and its default as far as they are given.
    Variable(Vec<Expression>),
    /// A link, unless `data`.
    Reference {
        reference: Reference,
        lazy: bool,
        data: bool,
        optional: Option<Box<Expression>>,
    },
    /// `literal` for `[| … |]`, which holds no expressions.
    Vector {
        elements: Vec<Expression>,
        literal: bool,
    },
    Operation {
        operator: Operator,
        operands: Vec<Expression>,
    },
    If {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    Switch(Vec<(Expression, Expression)>),
    /// `APPLY { sfFunctionClass "…"; … }`
    Apply {
        body: Body,
        lazy: bool,
        data: bool,
    },
    /// `ASSERT { … }`
    Assert {
        body: Body,
        lazy: bool,
        data: bool,
    },
}

/// Whole numbers have any size; the suffixes `L`, `F` and `D` are kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    Integer(i128),
    /// Digits of a whole number beyond 128 bits, without leading zeros.
    Big(Arc<str>),
    Long(i128),
    Float(f64),
    Double(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Multiply,
    Concatenate,
    Append,
    And,
    Or,
    Xor,
    Implies,
    Subtract,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Not,
}

impl Operator {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Multiply => "*",
            Self::Concatenate => "++",
            Self::Append => "<>",
            Self::And => "&&",
            Self::Or => "||",
            Self::Xor => "x|",
            Self::Implies => "->",
            Self::Subtract => "-",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Not => "!",
        }
    }

    /// How many operands it takes; none for any number of them.
    pub fn arity(self) -> Option<usize> {
        match self {
            Self::Add
            | Self::Multiply
            | Self::Concatenate
            | Self::Append
            | Self::And
            | Self::Or
            | Self::Xor
            | Self::Implies => None,
            Self::Not => Some(1),
            _ => Some(2),
        }
    }
}
