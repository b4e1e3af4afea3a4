//! A rule set with its names resolved: what the engines read.

use setpoint_source::{Span, Symbol};

/// A class of a [`Model`], by its place in [`Model::classes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClassId(pub u16);

/// A link of a class, by its place in [`Class::links`].
pub type LinkId = usize;

/// A local state, type or message of a class, by its place in the class.
pub type StateId = u8;
pub type TypeId = u8;
pub type MessageId = u8;

/// A class has at most this many states, types and messages each: sets of them are bits of a word.
pub(crate) const MAX_NAMES: usize = 64;

/// A set of states or types of one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct NameSet(pub u64);

impl NameSet {
    pub fn one(member: u8) -> Self {
        Self(1 << member)
    }

    /// The first `count` members.
    pub fn first(count: usize) -> Self {
        Self(if count >= 64 { u64::MAX } else { (1 << count) - 1 })
    }

    pub fn contains(self, member: u8) -> bool {
        self.0 >> member & 1 == 1
    }

    pub fn insert(&mut self, member: u8) {
        self.0 |= 1 << member;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |&member| self.contains(member))
    }

    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[derive(Clone, Debug)]
pub struct Class {
    pub name: Symbol,
    pub types: Vec<Symbol>,
    pub states: Vec<Symbol>,
    pub messages: Vec<Symbol>,
    pub links: Vec<LinkDecl>,
    /// Its objects stand in a total order, which never changes.
    pub ordered: bool,
    pub span: Span,
}

impl Class {
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.links.iter().position(|link| &*link.name == name)
    }

    pub fn state(&self, name: &str) -> Option<StateId> {
        position(&self.states, name)
    }

    pub fn kind(&self, name: &str) -> Option<TypeId> {
        position(&self.types, name)
    }

    pub fn message(&self, name: &str) -> Option<MessageId> {
        position(&self.messages, name)
    }
}

fn position(names: &[Symbol], name: &str) -> Option<u8> {
    names.iter().position(|known| &**known == name).map(|at| at as u8)
}

/// A link that every object of the class has. Links never change.
#[derive(Clone, Debug)]
pub struct LinkDecl {
    pub name: Symbol,
    pub target: ClassId,
    /// No two objects share a target.
    pub one_to_one: bool,
    /// Every object of the target class is the target of some object.
    pub onto: bool,
    pub span: Span,
}

/// A variable of a rule or formula; numbers are unique within it, and dense.
pub type VarId = usize;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    pub var: VarId,
    pub path: Vec<LinkId>,
    /// The class of the object that the path leads to.
    pub class: ClassId,
}

impl Term {
    /// The object that the path of another term leads to from here.
    pub fn followed_by(&self, further: &Self) -> Self {
        let path = self.path.iter().chain(&further.path).copied().collect();
        Self { var: self.var, path, class: further.class }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bound {
    pub var: VarId,
    pub name: Symbol,
    pub class: ClassId,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    Constant(bool),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    /// `all x: class where filter { body }`.
    All {
        bound: Bound,
        filter: Box<Formula>,
        body: Box<Formula>,
    },
    /// `some x: class where filter { body }`.
    Some {
        bound: Bound,
        filter: Box<Formula>,
        body: Box<Formula>,
    },
    InStates(Term, NameSet),
    OfTypes(Term, NameSet),
    /// The names of the types are the same.
    SameType(Term, Term),
    Equal(Term, Term),
    /// The first stands before the second in the order of their class.
    Before(Term, Term),
    /// A message waits at the object.
    Has(Term, MessageId),
    /// More than one such message waits there.
    HasSeveral(Term, MessageId),
}

impl Formula {
    pub fn negate(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    pub fn and(parts: Vec<Formula>) -> Self {
        match <[Formula; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Self::And(parts),
        }
    }

    /// Whether it speaks of types, links and equality only, which never change.
    pub fn is_static(&self) -> bool {
        match self {
            Self::Constant(_)
            | Self::OfTypes(..)
            | Self::SameType(..)
            | Self::Equal(..)
            | Self::Before(..) => true,
            Self::InStates(..) | Self::Has(..) | Self::HasSeveral(..) => false,
            Self::Not(inner) => inner.is_static(),
            Self::And(parts) | Self::Or(parts) => parts.iter().all(Self::is_static),
            Self::All { filter, body, .. } | Self::Some { filter, body, .. } => {
                filter.is_static() && body.is_static()
            }
        }
    }

    /// The same formula with other terms, and other numbers for the variables that it binds.
    pub fn with_variables(
        &self,
        bound_as: &impl Fn(VarId) -> VarId,
        term_as: &impl Fn(&Term) -> Term,
    ) -> Self {
        let again = |inner: &Self| inner.with_variables(bound_as, term_as);
        let bound_again = |bound: &Bound| Bound { var: bound_as(bound.var), ..bound.clone() };
        match self {
            Self::Constant(value) => Self::Constant(*value),
            Self::Not(inner) => Self::Not(Box::new(again(inner))),
            Self::And(parts) => Self::And(parts.iter().map(again).collect()),
            Self::Or(parts) => Self::Or(parts.iter().map(again).collect()),
            Self::All { bound, filter, body } => Self::All {
                bound: bound_again(bound),
                filter: Box::new(again(filter)),
                body: Box::new(again(body)),
            },
            Self::Some { bound, filter, body } => Self::Some {
                bound: bound_again(bound),
                filter: Box::new(again(filter)),
                body: Box::new(again(body)),
            },
            Self::InStates(term, set) => Self::InStates(term_as(term), *set),
            Self::OfTypes(term, set) => Self::OfTypes(term_as(term), *set),
            Self::SameType(left, right) => Self::SameType(term_as(left), term_as(right)),
            Self::Equal(left, right) => Self::Equal(term_as(left), term_as(right)),
            Self::Before(left, right) => Self::Before(term_as(left), term_as(right)),
            Self::Has(term, message) => Self::Has(term_as(term), *message),
            Self::HasSeveral(term, message) => Self::HasSeveral(term_as(term), *message),
        }
    }

    /// The parts of a conjunction, of its conjunctions, and so on.
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::And(parts) => parts.iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    pub fn has_quantifier(&self) -> bool {
        match self {
            Self::All { .. } | Self::Some { .. } => true,
            Self::Not(inner) => inner.has_quantifier(),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::has_quantifier),
            _ => false,
        }
    }

    /// Calls `visit` on every term in it.
    pub fn terms(&self, visit: &mut impl FnMut(&Term)) {
        match self {
            Self::Constant(_) => {}
            Self::Not(inner) => inner.terms(visit),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.terms(visit)),
            Self::All { filter, body, .. } | Self::Some { filter, body, .. } => {
                filter.terms(visit);
                body.terms(visit);
            }
            Self::InStates(term, _)
            | Self::OfTypes(term, _)
            | Self::Has(term, _)
            | Self::HasSeveral(term, _) => visit(term),
            Self::SameType(left, right) | Self::Equal(left, right) | Self::Before(left, right) => {
                visit(left);
                visit(right);
            }
        }
    }
}

/// A formula without free variables, with its place.
#[derive(Clone, Debug)]
pub struct Claim {
    pub formula: Formula,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    Becomes(Term, StateId),
    /// One more message waits at the object.
    Gets(Term, MessageId),
    /// One message less; the rule applies only if there is one for each `loses`.
    Loses(Term, MessageId),
}

impl Effect {
    pub fn term(&self) -> &Term {
        match self {
            Self::Becomes(term, _) | Self::Gets(term, _) | Self::Loses(term, _) => term,
        }
    }
}

/// A rule of the model: for some objects, if all guards hold, all effects happen at once.
///
/// Two parameters may name the same object unless a guard says otherwise. A rule does not apply where two of its
/// effects would give different states to one object.
#[derive(Clone, Debug)]
pub struct ModelRule {
    pub name: Symbol,
    pub title: Option<String>,
    pub parameters: Vec<Bound>,
    pub guards: Vec<Claim>,
    pub effects: Vec<Effect>,
    pub span: Span,
}

/// `from -> to for bound where filter`: for each such object, an edge between two objects of one class.
#[derive(Clone, Debug)]
pub struct Edge {
    pub bound: Bound,
    pub filter: Formula,
    pub from: Term,
    pub to: Term,
    pub span: Span,
}

impl Edge {
    /// The edge itself, or turned round.
    pub fn directed(&self, reversed: bool) -> Self {
        let mut edge = self.clone();
        if reversed {
            std::mem::swap(&mut edge.from, &mut edge.to);
        }
        edge
    }
}

/// A relation, the union of its edges, that has no cycle; or the order of a class.
#[derive(Clone, Debug)]
pub struct Acyclic {
    pub edges: Vec<Edge>,
    /// The relation is that of an object to those before it, and there are no other edges.
    pub order: Option<ClassId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Invariant {
    pub name: Symbol,
    pub claims: Vec<Claim>,
    pub span: Span,
}

/// A rule set: what objects there are, how they behave, where they start and where they shall arrive.
#[derive(Clone, Debug)]
pub struct Model {
    pub name: Symbol,
    pub title: Option<String>,
    pub classes: Vec<Class>,
    /// What every instance must satisfy; static.
    pub requires: Vec<Claim>,
    pub acyclic: Vec<Acyclic>,
    /// What holds at the start. No message waits there.
    pub init: Vec<Claim>,
    pub finals: Vec<Claim>,
    pub invariants: Vec<Invariant>,
    pub rules: Vec<ModelRule>,
}

impl Model {
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    pub fn class_ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.classes.len() as u16).map(ClassId)
    }

    pub fn class_named(&self, name: &str) -> Option<ClassId> {
        self.classes.iter().position(|class| &*class.name == name).map(|at| ClassId(at as u16))
    }

    pub fn rule_named(&self, name: &str) -> Option<&ModelRule> {
        self.rules.iter().find(|rule| &*rule.name == name)
    }

    /// All of `final` as one formula.
    pub fn final_formula(&self) -> Formula {
        Formula::and(self.finals.iter().map(|claim| claim.formula.clone()).collect())
    }
}
