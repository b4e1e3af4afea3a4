//! Ruby code as a tree.

use std::rc::Rc;

#[derive(Debug)]
pub(super) enum Node {
    Nil,
    Bool(bool),
    Itself,
    Integer(i64),
    Float(f64),
    Text(Vec<Part>),
    Symbol(Rc<str>),
    Regex(Vec<Part>, String),
    Array(Vec<Node>),
    Hash(Vec<(Node, Node)>),
    Range(Box<Node>, Box<Node>, bool),
    Instance(Rc<str>),
    Global(Rc<str>),
    /// A local variable, or else a method of the template.
    Name(Rc<str>),
    Constant(String),
    Call(Box<Call>),
    Index(Box<Node>, Vec<Node>),
    Assign(Box<Node>, Box<Node>),
    /// `a, b = value`
    AssignAll(Vec<Node>, Box<Node>),
    /// `a ||= b` and its like.
    Update(Box<Node>, &'static str, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    Case(Option<Box<Node>>, Vec<(Vec<Node>, Node)>, Box<Node>),
    /// Ends when the condition is `false`.
    While(Box<Node>, Box<Node>, bool),
    For(Vec<Parameter>, Box<Node>, Box<Node>),
    Begin {
        body: Box<Node>,
        rescue: Option<(Option<Rc<str>>, Box<Node>)>,
    },
    Define(Rc<str>, Rc<Block>),
    Lambda(Rc<Block>),
    Next(Option<Box<Node>>),
    Break(Option<Box<Node>>),
    Return(Option<Box<Node>>),
    Defined(Box<Node>),
    Splat(Box<Node>),
    Sequence(Vec<Node>),
    /// Text of the template.
    Write(Rc<str>),
    /// `<%= … %>`
    Output(Box<Node>),
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) receiver: Option<Node>,
    pub(super) name: Rc<str>,
    pub(super) arguments: Vec<Node>,
    pub(super) block: Option<Rc<Block>>,
    /// `&:name`
    pub(super) block_argument: Option<Node>,
    /// `&.`: nil stays nil.
    pub(super) safe: bool,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Node,
}

#[derive(Debug)]
pub(super) enum Parameter {
    Name(Rc<str>),
    Optional(Rc<str>, Node),
    Rest(Rc<str>),
    /// `(a, b)`
    Pattern(Vec<Parameter>),
}

#[derive(Debug)]
pub(super) enum Part {
    Literal(Rc<str>),
    Code(Node),
}
