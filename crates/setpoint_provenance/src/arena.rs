//! The nodes, stored compactly and never freed during an evaluation.

use rustc_hash::FxHashSet;
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
    /// How secret each node is, by its number; empty as long as nothing is.
    secrecy: Vec<Secrecy>,
    /// Nodes that are secret because somebody said so: encrypted, or `Sensitive`.
    declared_secrets: FxHashSet<Prov>,
    /// Nodes whose values were checked by a type that admits nothing harmful.
    confined: FxHashSet<Prov>,
}

/// Whether a value was made of a secret. Secrecy follows data: not conditions, not the shape of collections, not comparisons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Secrecy {
    #[default]
    Open,
    /// A secret stands in it as it is: it was copied, put into a text or a collection.
    Holds,
    /// It was computed from a secret, and may look otherwise.
    Computed,
}

impl Secrecy {
    /// What an operation gives whose arguments are at most so secret.
    fn after(self, operation: &str) -> Self {
        if self == Self::Open {
            return self;
        }
        match operation {
            // Whether, and not what.
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~" | "in" | "and" | "or" | "!" | "?"
            | "case" | "match" | "defined" | "size" | "length" | "empty" | "stdlib::empty" | "type"
            | "resource" | "include" | "inherits" | "realize" | "Class" | "instance" | "arrow" | "count"
            | "is_string" | "validate_legacy" | "versioncmp" | "compare" | "any" | "all" => Self::Open,
            "interpolate"
            | "array"
            | "hash"
            | "[]"
            | "*"
            | "+"
            | "<<"
            | "join"
            | "concat"
            | "flatten"
            | "unwrap"
            | "Sensitive"
            | "new"
            | "convert_to"
            | "epp"
            | "inline_epp"
            | "template"
            | "inline_template"
            | "merge"
            | "alias"
            | "lookup"
            | "read"
            | "iterate"
            | "map"
            | "filter"
            | "reduce"
            | "each"
            | "dig"
            | "get"
            | "then"
            | "with"
            | "pick"
            | "unique"
            | "sort"
            | "values"
            | "stdlib::deferrable_epp"
            | "node_encrypt" => self,
            _ => Self::Computed,
        }
    }
}

impl Arena {
    pub fn new(enabled: bool) -> Self {
        Self {
            enabled,
            nodes: Vec::new(),
            arguments: Vec::new(),
            secrecy: Vec::new(),
            declared_secrets: FxHashSet::default(),
            confined: FxHashSet::default(),
        }
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
        if !self.secrecy.is_empty() {
            let secrecy = self.secrecy_by(&node, &|prov| self.secrecy(prov));
            self.secrecy.push(secrecy);
        }
        self.nodes.push(node);
        Prov(self.nodes.len() as u32)
    }

    /// Notes that a value is a secret: what is made of it from now on is secret, too.
    pub fn mark_secret(&mut self, prov: Prov) {
        if prov.is_none() {
            return;
        }
        if self.secrecy.is_empty() {
            self.secrecy = vec![Secrecy::Open; self.nodes.len() + 1];
        }
        if let Some(secrecy) = self.secrecy.get_mut(prov.index() as usize) {
            *secrecy = (*secrecy).max(Secrecy::Holds);
        }
    }

    /// Notes that a value was encrypted, or made `Sensitive`.
    pub fn declare_secret(&mut self, prov: Prov) {
        self.mark_secret(prov);
        if !prov.is_none() {
            self.declared_secrets.insert(prov.unchanged());
        }
    }

    pub fn is_declared_secret(&self, prov: Prov) -> bool {
        self.declared_secrets.contains(&prov.unchanged())
    }

    /// How secret each node is by what was declared so, by number; empty if nothing was.
    pub fn declared_secrecy(&self) -> Vec<Secrecy> {
        if self.declared_secrets.is_empty() {
            return Vec::new();
        }
        let mut secrecy = vec![Secrecy::Open; self.nodes.len() + 1];
        // A node is made of older ones.
        for (at, node) in self.nodes.iter().enumerate() {
            let index = at + 1;
            secrecy[index] = if self.declared_secrets.contains(&Prov::at(index as u32)) {
                Secrecy::Holds
            } else {
                self.secrecy_by(node, &|prov| secrecy.get(prov.index() as usize).copied().unwrap_or_default())
            };
        }
        secrecy
    }

    /// Notes that a type admits no other value than harmless ones.
    pub fn mark_confined(&mut self, prov: Prov) {
        if !prov.is_none() {
            self.confined.insert(prov.unchanged());
        }
    }

    pub fn is_confined(&self, prov: Prov) -> bool {
        self.confined.contains(&prov.unchanged())
    }

    /// How secret a value is.
    pub fn secrecy(&self, prov: Prov) -> Secrecy {
        self.secrecy.get(prov.index() as usize).copied().unwrap_or_default()
    }

    /// Whether something was marked as a secret.
    pub fn has_secrets(&self) -> bool {
        !self.secrecy.is_empty()
    }

    fn secrecy_by(&self, node: &Stored, known: &dyn Fn(Prov) -> Secrecy) -> Secrecy {
        match node {
            Stored::Leaf(_) | Stored::Shape { .. } => Secrecy::Open,
            Stored::Copy { of, .. } | Stored::Under { of, .. } => known(*of),
            Stored::Operation { name, first, count, .. } => {
                let arguments =
                    self.arguments.get(*first as usize..(*first + *count) as usize).unwrap_or(&[]);
                let most = arguments.iter().map(|argument| known(*argument)).max().unwrap_or_default();
                most.after(name.as_str())
            }
        }
    }
}
