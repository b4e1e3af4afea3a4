//! The tree of a rule file, as it was written.

use setpoint_source::{Range, Symbol};

/// A name with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: Symbol,
    pub range: Range,
}

/// A quoted text with its place; the text is without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub text: String,
    pub range: Range,
}

/// `x.parent.node`: a variable and the links that are followed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub root: Name,
    pub links: Vec<Name>,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binder {
    pub name: Name,
    pub class: Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub kind: FormulaKind,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaKind {
    Constant(bool),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    /// `all x: class where F { G }`, and `some …` where the body may be absent.
    Quantified {
        all: bool,
        binder: Binder,
        filter: Option<Box<Formula>>,
        body: Option<Box<Formula>>,
    },
    /// `x is a|b`, `x is not a`.
    State {
        path: Path,
        negated: bool,
        states: Vec<Name>,
    },
    /// `x of a|b`, `x of not a`.
    Type {
        path: Path,
        negated: bool,
        types: Vec<Name>,
    },
    /// `x has m`, `x has several m`.
    Message {
        path: Path,
        several: bool,
        message: Name,
    },
    /// `x = y`, `x != y`. Either both or none end in `.type`.
    Equal {
        left: Path,
        right: Path,
        negated: bool,
    },
    /// `x before y`.
    Before {
        left: Path,
        right: Path,
    },
    /// What could not be read; a diagnostic says why.
    Broken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub path: Path,
    pub kind: EffectKind,
    pub value: Name,
    pub range: Range,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    Becomes,
    Gets,
    Loses,
}

/// `a -> b for k: class where F`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: Path,
    pub to: Path,
    pub binder: Binder,
    pub filter: Option<Formula>,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Formula(Formula),
    Acyclic { edges: Vec<Edge>, range: Range },
}

impl Claim {
    pub fn range(&self) -> Range {
        match self {
            Self::Formula(formula) => formula.range,
            Self::Acyclic { range, .. } => *range,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub name: Name,
    pub members: Vec<Member>,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    Types(Vec<Name>, Range),
    States(Vec<Name>, Range),
    Messages(Vec<Name>, Range),
    Ordered(Range),
    Link { name: Name, target: Name, one_to_one: bool, onto: bool, range: Range },
}

impl Member {
    pub fn range(&self) -> Range {
        match self {
            Self::Types(_, range) | Self::States(_, range) | Self::Messages(_, range) => *range,
            Self::Ordered(range) => *range,
            Self::Link { range, .. } => *range,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleItem {
    pub name: Name,
    pub title: Option<Quoted>,
    pub parameters: Vec<Binder>,
    pub clauses: Vec<Clause>,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    When(Formula, Range),
    Then(Vec<Effect>, Range),
}

impl Clause {
    pub fn range(&self) -> Range {
        match self {
            Self::When(_, range) | Self::Then(_, range) => *range,
        }
    }
}

/// `a, b: class of type is state { link = target, … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectItem {
    pub names: Vec<Name>,
    pub class: Name,
    pub kind: Option<Name>,
    pub state: Option<Name>,
    pub links: Vec<(Name, Name)>,
    pub range: Range,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Model {
        name: Name,
        title: Option<Quoted>,
        range: Range,
    },
    Use {
        path: Quoted,
        range: Range,
    },
    Class(Class),
    /// `extend class { … }`: types, states and messages for a class that another file declares.
    Extend(Class),
    Rule(RuleItem),
    Require {
        claims: Vec<Claim>,
        range: Range,
    },
    Init {
        claims: Vec<Claim>,
        range: Range,
    },
    Final {
        claims: Vec<Claim>,
        range: Range,
    },
    Invariant {
        name: Name,
        claims: Vec<Claim>,
        range: Range,
    },
    Instance {
        name: Name,
        objects: Vec<ObjectItem>,
        range: Range,
    },
}

impl Item {
    pub fn range(&self) -> Range {
        match self {
            Self::Model { range, .. }
            | Self::Use { range, .. }
            | Self::Require { range, .. }
            | Self::Init { range, .. }
            | Self::Final { range, .. }
            | Self::Invariant { range, .. }
            | Self::Instance { range, .. } => *range,
            Self::Class(class) | Self::Extend(class) => class.range,
            Self::Rule(rule) => rule.range,
        }
    }
}

/// A rule file: its items in order, and its comments with their places, `#` included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    pub items: Vec<Item>,
    pub comments: Vec<Quoted>,
}
