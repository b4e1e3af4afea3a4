//! Ruby code as a tree.

use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Node {
    Nil,
    Bool(bool),
    Itself,
    Integer(i128),
    Float(f64),
    Text(Vec<Part>),
    Symbol(Arc<str>),
    /// `:"a#{b}"`
    SymbolText(Vec<Part>),
    Regex(Vec<Part>, String),
    Array(Vec<Node>),
    Hash(Vec<Pair>),
    /// `a => b, c: d` at the end of arguments.
    Keywords(Vec<Pair>),
    Range(Option<Box<Node>>, Option<Box<Node>>, bool),
    Instance(Arc<str>),
    /// `@@name`
    Shared(Arc<str>),
    Global(Arc<str>),
    /// A local variable that was assigned before, though perhaps not on every way.
    Local(Arc<str>),
    /// A name that may be a local variable, or else is a method.
    Name(Arc<str>, u32),
    Constant(Arc<str>),
    /// `A::B`; without the left side, `::B`.
    Scoped(Option<Box<Node>>, Arc<str>),
    Call(Box<Call>),
    Super(Box<Super>),
    Yield(Vec<Node>, u32),
    Index(Box<Node>, Vec<Node>, u32),
    Assign(Box<Node>, Box<Node>),
    /// `a, b = value`
    AssignAll(Targets, Box<Node>),
    /// `a ||= b` and its like.
    Update(Box<Node>, &'static str, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    Case(Option<Box<Node>>, Vec<(Vec<Node>, Node)>, Box<Node>),
    While(Box<While>),
    For(Parameters, Box<Node>, Box<Node>),
    Begin(Box<Begin>),
    Define(Box<Define>),
    Class(Box<ClassNode>),
    /// `class << self`
    Singleton(Box<Node>),
    Alias(Arc<str>, Arc<str>),
    Lambda(Arc<Block>),
    Next(Option<Box<Node>>),
    Break(Option<Box<Node>>),
    Return(Option<Box<Node>>),
    Redo,
    Retry,
    Defined(Box<Node>),
    Splat(Box<Node>),
    /// `&block` among arguments.
    BlockPass(Option<Box<Node>>),
    Sequence(Vec<Node>),
    /// Text of the template.
    Write(Arc<str>),
    /// `<%= … %>`
    Output(Box<Node>),
    /// What is known to be beyond us; it matters only if it is reached.
    Beyond(String, u32),
    /// `__FILE__`
    SourceFile,
    /// `/(?<name>…)/ =~ text`, which sets the variable.
    NamedMatch(Box<Node>, Vec<Arc<str>>),
    /// `__dir__`
    SourceFolder,
    /// `__method__`
    MethodName,
}

#[derive(Debug)]
pub(crate) enum Pair {
    Entry(Node, Node),
    /// `**hash`
    Spread(Node),
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) receiver: Option<Node>,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Vec<Node>,
    pub(crate) block: Option<Arc<Block>>,
    /// `&:name`
    pub(crate) block_argument: Option<Node>,
    /// `&.`: nil stays nil.
    pub(crate) safe: bool,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) struct Super {
    /// Without parentheses, the arguments are those of the method.
    pub(crate) arguments: Option<Vec<Node>>,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) struct While {
    pub(crate) condition: Node,
    pub(crate) body: Node,
    /// Ends when the condition is true.
    pub(crate) until: bool,
    /// `begin … end while`: the body runs at least once.
    pub(crate) body_first: bool,
}

#[derive(Debug)]
pub(crate) struct Begin {
    pub(crate) body: Node,
    pub(crate) rescues: Vec<Rescue>,
    pub(crate) otherwise: Option<Node>,
    pub(crate) ensure: Option<Node>,
}

#[derive(Debug)]
pub(crate) struct Rescue {
    pub(crate) classes: Vec<Node>,
    pub(crate) variable: Option<Node>,
    pub(crate) body: Node,
}

#[derive(Debug)]
pub(crate) struct Define {
    pub(crate) name: Arc<str>,
    /// `def self.name`
    pub(crate) of_self: bool,
    /// `def object.name`
    pub(crate) of: Option<Node>,
    pub(crate) block: Arc<Block>,
    pub(crate) line: u32,
}

#[derive(Debug)]
pub(crate) struct ClassNode {
    pub(crate) path: Node,
    pub(crate) parent: Option<Node>,
    pub(crate) is_module: bool,
    pub(crate) body: Node,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) parameters: Parameters,
    pub(crate) body: Node,
    /// A lambda counts its arguments and ends with `return`.
    pub(crate) is_lambda: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) list: Vec<Parameter>,
    /// `|a,|`
    pub(crate) trailing_comma: bool,
}

#[derive(Debug)]
pub(crate) enum Parameter {
    Name(Arc<str>),
    Optional(Arc<str>, Node),
    Rest(Option<Arc<str>>),
    /// `(a, b)`
    Pattern(Vec<Parameter>),
    /// `name:`, `name: default`
    Keyword(Arc<str>, Option<Node>),
    /// `**rest`
    KeywordRest(Option<Arc<str>>),
    /// `&block`
    Block(Arc<str>),
    /// `; x`: a variable of the block.
    Local(Arc<str>),
}

/// The left side of `a, (b, *c) = …`.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) list: Vec<Target>,
}

#[derive(Debug)]
pub(crate) enum Target {
    One(Node),
    Rest(Option<Node>),
    Several(Targets),
}

impl Node {
    /// The text, if it is one without code.
    pub(crate) fn literal_text(&self) -> Option<&Arc<str>> {
        match self {
            Self::Text(parts) => match parts.as_slice() {
                [Part::Literal(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it is the name by which Ruby knows the scope of the manifest.
    pub(crate) fn is_scope(&self) -> bool {
        matches!(self, Self::Name(name, _) if &**name == "scope")
    }
}

#[derive(Debug)]
pub(crate) enum Part {
    Literal(Arc<str>),
    Code(Node),
}
