//! The nodes, stored compactly and never freed during an evaluation.

use setpoint_source::{Span, Symbol};

/// A handle to a node. [`Prov::NONE`] stands for "not recorded".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Prov(u32);

impl Prov {
    pub const NONE: Self = Self(0);

    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    pub(crate) fn at(index: u32) -> Self {
        Self(index)
    }

    /// For a value that was made of this one and is no copy of it. It has no node of its own yet: whoever gives out the
    /// value makes one.
    #[must_use]
    pub fn changed(self) -> Self {
        if self.is_none() { self } else { Self(self.0 | CHANGED) }
    }

    pub fn is_changed(self) -> bool {
        self.0 & CHANGED != 0
    }

    /// The node itself.
    #[must_use]
    pub fn unchanged(self) -> Self {
        Self(self.0 & !CHANGED)
    }

    /// Handles are given out in this order.
    pub fn index(self) -> u32 {
        self.unchanged().0
    }
}

const CHANGED: u32 = 1 << 31;
/// More nodes have no handles.
const MOST_NODES: usize = (CHANGED - 2) as usize;

/// What a leaf is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LeafKind {
    Literal,
    Fact,
    Trusted,
    Hiera,
    /// A default that the program gives (a parameter's default is an expression; this is for built-in ones).
    Default,
    Template,
    /// The text of another file.
    File,
    Setting,
    External,
    Node,
    Absence,
}

impl LeafKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Fact => "fact",
            Self::Trusted => "trusted",
            Self::Hiera => "hiera",
            Self::Default => "default",
            Self::Template => "template",
            Self::File => "file",
            Self::Setting => "setting",
            Self::External => "external",
            Self::Node => "node",
            Self::Absence => "absence",
        }
    }
}

/// An input of the evaluation that no other node explains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Leaf {
    pub kind: LeafKind,
    /// The name by which people know it: a fact's name, a Hiera key.
    pub name: Option<Symbol>,
    pub span: Option<Span>,
}

/// A step of the control flow that led to an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// A condition whose value chose the branch.
    Condition,
    /// An `include` or another declaration of a class.
    Declaration,
    /// The instantiation of a definition.
    Instance,
    /// A collector that selected a resource.
    Collector,
    /// A key or index that chose an element of a collection.
    Selection,
    /// An iteration of a lambda over an element.
    Iteration,
    /// A call of a function.
    Call,
    /// An early `return`, or its like, that could have kept the evaluation from coming here.
    Jump,
}

/// One node, as queries see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node<'a> {
    Leaf(Leaf),
    /// `name` says which operation: `+`, `interpolate`, `split`. The first `shape` arguments decide which elements the
    /// result has; the rest are only the values of these elements.
    Operation {
        name: Symbol,
        span: Option<Span>,
        arguments: &'a [Prov],
        shape: usize,
    },
    /// Of a collection only how many elements it has and how they are found, not what they are.
    Shape {
        of: Prov,
    },
    /// The same value, given a name or passed on at a place.
    Copy {
        of: Prov,
        span: Option<Span>,
        name: Option<Symbol>,
    },
    /// The value `of`, which exists because `cause` had the value it had.
    Under {
        of: Prov,
        control: Control,
        cause: Prov,
        span: Option<Span>,
    },
}

#[derive(Clone, Debug)]
enum Stored {
    Leaf(Leaf),
    Operation { name: Symbol, span: Option<Span>, first: u32, count: u32, shape: u32 },
    Shape { of: Prov },
    Copy { of: Prov, span: Option<Span>, name: Option<Symbol> },
    Under { of: Prov, control: Control, cause: Prov, span: Option<Span> },
}

/// All nodes of one evaluation. Switched off, it records nothing and every handle is [`Prov::NONE`].
#[derive(Debug)]
pub struct Arena {
    enabled: bool,
    nodes: Vec<Stored>,
    arguments: Vec<Prov>,
}

impl Arena {
    pub fn new(enabled: bool) -> Self {
        Self { enabled, nodes: Vec::new(), arguments: Vec::new() }
    }

    pub fn enabled(&self) -> bool {
        self.enabled
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn literal(&mut self, span: Span) -> Prov {
        self.leaf(Leaf { kind: LeafKind::Literal, name: None, span: Some(span) })
    }

    pub fn leaf(&mut self, leaf: Leaf) -> Prov {
        self.push(Stored::Leaf(leaf))
    }

    pub fn operation(&mut self, name: Symbol, span: Option<Span>, arguments: &[Prov]) -> Prov {
        self.store(name, span, &[arguments], arguments.len())
    }

    /// A collection that is made of its elements: `keys` decide which there are, and `values` are what they are.
    pub fn collection(&mut self, name: Symbol, span: Option<Span>, keys: &[Prov], values: &[Prov]) -> Prov {
        self.store(name, span, &[keys, values], keys.len())
    }

    fn store(&mut self, name: Symbol, span: Option<Span>, arguments: &[&[Prov]], shape: usize) -> Prov {
        if !self.enabled {
            return Prov::NONE;
        }
        let first = self.arguments.len() as u32;
        for part in arguments {
            self.arguments.extend(part.iter().map(|argument| argument.unchanged()));
        }
        let count = self.arguments.len() as u32 - first;
        self.push(Stored::Operation { name, span, first, count, shape: shape as u32 })
    }

    /// The shape of a collection: see [`Node::Shape`].
    pub fn shape(&mut self, of: Prov) -> Prov {
        if of.is_none() {
            return of;
        }
        self.push(Stored::Shape { of: of.unchanged() })
    }

    pub fn copy(&mut self, of: Prov, span: Option<Span>, name: Option<Symbol>) -> Prov {
        self.push(Stored::Copy { of: of.unchanged(), span, name })
    }

    pub fn under(&mut self, of: Prov, control: Control, cause: Prov, span: Option<Span>) -> Prov {
        self.push(Stored::Under { of: of.unchanged(), control, cause: cause.unchanged(), span })
    }

    /// The node of a handle that this arena gave out.
    pub fn node(&self, prov: Prov) -> Option<Node<'_>> {
        let stored = self.nodes.get((prov.index() as usize).checked_sub(1)?)?;
        Some(match stored {
            Stored::Leaf(leaf) => Node::Leaf(*leaf),
            Stored::Shape { of } => Node::Shape { of: *of },
            Stored::Operation { name, span, first, count, shape } => Node::Operation {
                name: *name,
                span: *span,
                shape: *shape as usize,
                arguments: self.arguments.get(*first as usize..(*first + *count) as usize).unwrap_or(&[]),
            },
            Stored::Copy { of, span, name } => Node::Copy { of: *of, span: *span, name: *name },
            Stored::Under { of, control, cause, span } => {
                Node::Under { of: *of, control: *control, cause: *cause, span: *span }
            }
        })
    }

    /// Whether no more nodes can be recorded: what comes now would look as if it came from nowhere.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MOST_NODES || self.arguments.len() >= u32::MAX as usize - MOST_NODES
    }

    fn push(&mut self, node: Stored) -> Prov {
        if !self.enabled || self.is_full() {
            return Prov::NONE;
        }
        self.nodes.push(node);
        Prov(self.nodes.len() as u32)
    }
}
