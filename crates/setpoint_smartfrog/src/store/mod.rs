//! The primary domain (definition 6): a store is a list of identifiers with values, each identifier once.
//!
//! A store is a value: copying it costs nothing, and a copy that changes shares with the original all that did not
//! change. So a prototype is inherited by sharing it, however wide or deep it is.

mod index;
mod list;

use std::rc::Rc;
use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_source::Symbol;

use crate::syntax::{Number, OrderConstraint, Part, Reference};
use index::Index;
use list::List;

/// A store with fewer attributes is a plain list: searching it is faster than hashing.
const SMALL: usize = 12;

/// The values of attributes (definitions 5 and 6), and what later phases still have to resolve.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Boolean(bool),
    Number(Number),
    String(Arc<str>),
    /// Hexadecimal digits.
    Bytes(Arc<str>),
    /// A data reference: left for the runtime.
    Data(Arc<[Part]>),
    /// A free variable (production semantics). The compiled tree numbers them in its order.
    Variable(u32),
    Vector(Rc<[Value]>),
    Store(Store),
    /// A link that is resolved later (forward semantics).
    Link(Rc<Reference>),
    /// An expression that the runtime is to evaluate (production semantics), as it is written.
    Lazy(Arc<str>),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub name: Symbol,
    pub value: Value,
    pub provenance: Prov,
    /// Sorted; only the production language has them.
    pub tags: Option<Rc<Vec<Symbol>>>,
}

impl Entry {
    pub fn new(name: Symbol, value: Value, provenance: Prov) -> Self {
        Self { name, value, provenance, tags: None }
    }
}

#[derive(Clone, Debug)]
pub struct Store(Rc<Content>);

#[derive(Clone, Debug)]
struct Content {
    entries: Entries,
    /// At least the number of stores that are nested in this one, itself included.
    depth: u32,
    orders: Option<Rc<Vec<OrderConstraint>>>,
    /// `extends DATA`
    data: bool,
    /// There may be links in it that are to be resolved; where this is false there are none.
    links: bool,
}

#[derive(Clone, Debug)]
enum Entries {
    Small(Vec<Entry>),
    Large(List<Entry>, Index),
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    pub fn new() -> Self {
        Self(Rc::new(Content {
            entries: Entries::Small(Vec::new()),
            depth: 1,
            orders: None,
            data: false,
            links: false,
        }))
    }

    pub fn len(&self) -> usize {
        match &self.0.entries {
            Entries::Small(entries) => entries.len(),
            Entries::Large(entries, _) => entries.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A bound on the nesting of stores; exact, unless deeper parts were replaced.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// Where an attribute stands in the order of the store.
    pub fn position(&self, name: Symbol) -> Option<usize> {
        match &self.0.entries {
            Entries::Small(entries) => entries.iter().position(|entry| entry.name == name),
            Entries::Large(_, index) => index.get(name).map(|at| at as usize),
        }
    }

    pub fn entry(&self, name: Symbol) -> Option<&Entry> {
        self.entry_at(self.position(name)?)
    }

    /// The attribute in a position of the order.
    pub fn entry_at(&self, at: usize) -> Option<&Entry> {
        match &self.0.entries {
            Entries::Small(entries) => entries.get(at),
            Entries::Large(entries, _) => entries.get(at),
        }
    }

    pub fn get(&self, name: Symbol) -> Option<&Value> {
        self.entry(name).map(|entry| &entry.value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        let (small, large) = match &self.0.entries {
            Entries::Small(entries) => (Some(entries.iter()), None),
            Entries::Large(entries, _) => (None, Some(entries.iter())),
        };
        small.into_iter().flatten().chain(large.into_iter().flatten())
    }

    /// The store under a name, to be changed; nothing if there is none, or if it is no store.
    pub fn child_mut(&mut self, name: Symbol) -> Option<&mut Self> {
        let at = self.position(name)?;
        match &mut Rc::make_mut(&mut self.0).entries {
            Entries::Small(entries) => entries.get_mut(at),
            Entries::Large(entries, _) => entries.get_mut(at),
        }
        .and_then(|entry| match &mut entry.value {
            Value::Store(store) => Some(store),
            _ => None,
        })
    }

    /// Something is put into a component below: this store is at least so deep, and has links if that has.
    pub fn note_below(&mut self, depth: u32, links: bool) {
        if self.0.depth < depth || links && !self.0.links {
            let content = Rc::make_mut(&mut self.0);
            content.depth = content.depth.max(depth);
            content.links |= links;
        }
    }

    /// Whether links may be in the store, or in a component in it.
    pub fn has_links(&self) -> bool {
        self.0.links
    }

    /// Definition 12 (put): replaces the value of an identifier in its position, or adds it at the end.
    pub fn put(&mut self, entry: Entry) {
        let at = self.position(entry.name);
        let content = Rc::make_mut(&mut self.0);
        match &entry.value {
            Value::Store(store) => {
                content.depth = content.depth.max(store.depth().saturating_add(1));
                content.links |= store.has_links();
            }
            Value::Link(_) => content.links = true,
            _ => {}
        }
        match (&mut content.entries, at) {
            (Entries::Small(entries), Some(at)) => entries[at] = entry,
            (Entries::Large(entries, _), Some(at)) => {
                if let Some(old) = entries.get_mut(at) {
                    *old = entry;
                }
            }
            (Entries::Small(entries), None) if entries.len() < SMALL => entries.push(entry),
            (Entries::Small(entries), None) => {
                let (mut list, mut index) = (List::new(), Index::default());
                for (at, entry) in entries.drain(..).chain([entry]).enumerate() {
                    index.insert(entry.name, at as u32);
                    list.push(entry);
                }
                content.entries = Entries::Large(list, index);
            }
            (Entries::Large(entries, index), None) => {
                index.insert(entry.name, entries.len() as u32);
                entries.push(entry);
            }
        }
    }

    /// The same store, in memory too.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// What tells this store from others in memory, as long as it lives.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    pub fn orders(&self) -> &[OrderConstraint] {
        self.0.orders.as_ref().map_or(&[], |orders| orders)
    }

    pub fn set_orders(&mut self, orders: Vec<OrderConstraint>) {
        Rc::make_mut(&mut self.0).orders = (!orders.is_empty()).then(|| Rc::new(orders));
    }

    pub fn is_data(&self) -> bool {
        self.0.data
    }

    pub fn set_data(&mut self, data: bool) {
        if self.0.data != data {
            Rc::make_mut(&mut self.0).data = data;
        }
    }
}

impl Value {
    pub fn as_store(&self) -> Option<&Store> {
        match self {
            Self::Store(store) => Some(store),
            _ => None,
        }
    }

    /// Whether it is a link, or holds one.
    pub fn has_links(&self) -> bool {
        match self {
            Self::Link(_) => true,
            Self::Store(store) => store.has_links(),
            _ => false,
        }
    }
}
