//! The values of a template: Ruby's, which can be changed in place.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use setpoint_puppet_values::{Data, Hash, Key, Match, Regex, Value, to_text};

use super::ast::Block;
use crate::ruby::numbers::float_to_s;
use crate::ruby::text::inspect_text;

#[derive(Clone)]
pub(super) enum Thing {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Rc<RefCell<String>>),
    Symbol(Rc<str>),
    Array(Rc<RefCell<Vec<Thing>>>),
    Hash(Rc<RefCell<Table>>),
    Range(i64, i64),
    Regex(Regex),
    Match(Rc<Match>),
    Lambda(Rc<Closure>),
    /// The scope of the manifest.
    Scope,
    Constant(Rc<str>),
    /// What Puppet knows and Ruby does not, such as a type.
    Other(Value),
}

/// Keys by what they are, with themselves and their values.
pub(super) type Table = IndexMap<String, (Thing, Thing)>;

pub(super) struct Closure {
    pub(super) block: Rc<Block>,
    pub(super) environment: Rc<Environment>,
}

/// Local variables.
#[derive(Default)]
pub(super) struct Environment {
    pub(super) variables: RefCell<IndexMap<Rc<str>, Thing>>,
    pub(super) outer: Option<Rc<Environment>>,
}

impl Environment {
    pub(super) fn get(&self, name: &str) -> Option<Thing> {
        if let Some(found) = self.variables.borrow().get(name) {
            return Some(found.clone());
        }
        self.outer.as_ref()?.get(name)
    }

    /// Sets a variable where it is known, else here.
    pub(super) fn set(&self, name: &Rc<str>, value: Thing) {
        if !self.set_known(name, &value) {
            self.variables.borrow_mut().insert(Rc::clone(name), value);
        }
    }

    fn set_known(&self, name: &Rc<str>, value: &Thing) -> bool {
        if let Some(known) = self.variables.borrow_mut().get_mut(name) {
            *known = value.clone();
            return true;
        }
        self.outer.as_ref().is_some_and(|outer| outer.set_known(name, value))
    }
}

impl Thing {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(Rc::new(RefCell::new(text.into())))
    }

    pub(super) fn array(items: Vec<Self>) -> Self {
        Self::Array(Rc::new(RefCell::new(items)))
    }

    pub(super) fn table(table: Table) -> Self {
        Self::Hash(Rc::new(RefCell::new(table)))
    }

    pub(super) fn truth(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    pub(super) fn from_value(value: &Value) -> Self {
        match &value.data {
            Data::Undef => Self::Nil,
            Data::Bool(flag) => Self::Bool(*flag),
            Data::Integer(number) => Self::Integer(*number),
            Data::Float(number) => Self::Float(*number),
            Data::String(text) => Self::text(&**text),
            Data::Default => Self::Symbol("default".into()),
            Data::Array(items) => Self::array(items.iter().map(Self::from_value).collect()),
            Data::Hash(entries) => {
                let pairs =
                    entries.iter().map(|(key, value)| (Self::from_value(&key.0), Self::from_value(value)));
                Self::table(pairs.map(|(key, value)| (key.identity(), (key, value))).collect())
            }
            Data::Regex(regex) => Self::Regex(regex.clone()),
            _ => Self::Other(value.clone()),
        }
    }

    /// Nothing if Puppet has no such value.
    pub(super) fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Nil => Value::UNDEF,
            Self::Bool(flag) => Value::from(*flag),
            Self::Integer(number) => Value::from(*number),
            Self::Float(number) => Value::from(*number),
            Self::Text(text) => Value::from(text.borrow().as_str()),
            Self::Symbol(name) if &**name == "undef" => Value::UNDEF,
            Self::Symbol(name) => Value::from(&**name),
            Self::Array(items) => {
                Value::array(items.borrow().iter().map(Self::to_value).collect::<Option<_>>()?)
            }
            Self::Hash(table) => {
                let mut hash = Hash::default();
                for (key, value) in table.borrow().values() {
                    hash.insert(Key(key.to_value()?), value.to_value()?);
                }
                Value::hash(hash)
            }
            Self::Range(from, to) => Value::array((*from..=*to).map(Value::from).collect()),
            Self::Regex(regex) => Value::from(regex.clone()),
            Self::Other(value) => value.clone(),
            Self::Match(_) | Self::Lambda(_) | Self::Scope | Self::Constant(_) => return None,
        })
    }

    /// What two keys of a hash have in common if they are the same.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Symbol(name) => format!(":{name}"),
            _ => self.inspect(),
        }
    }

    pub(super) fn to_s(&self) -> String {
        match self {
            Self::Nil => String::new(),
            Self::Text(text) => text.borrow().clone(),
            Self::Symbol(name) => name.to_string(),
            Self::Match(found) => found.group(0).unwrap_or_default().to_owned(),
            _ => self.inspect(),
        }
    }

    pub(super) fn inspect(&self) -> String {
        match self {
            Self::Nil => "nil".to_owned(),
            Self::Bool(flag) => flag.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => float_to_s(*number),
            Self::Text(text) => inspect_text(&text.borrow()),
            Self::Symbol(name) => format!(":{name}"),
            Self::Array(items) => {
                let items: Vec<String> = items.borrow().iter().map(Self::inspect).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Hash(table) => {
                let pairs: Vec<String> = table
                    .borrow()
                    .values()
                    .map(|(key, value)| format!("{}=>{}", key.inspect(), value.inspect()))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Self::Range(from, to) => format!("{from}..{to}"),
            Self::Regex(regex) => format!("/{}/", regex.source()),
            Self::Match(found) => {
                format!("#<MatchData {}>", inspect_text(found.group(0).unwrap_or_default()))
            }
            Self::Constant(name) => name.to_string(),
            Self::Lambda(_) => "#<Proc>".to_owned(),
            Self::Scope => "Scope".to_owned(),
            Self::Other(value) => to_text(value).to_string(),
        }
    }

    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Nil => "NilClass",
            Self::Bool(true) => "TrueClass",
            Self::Bool(false) => "FalseClass",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::Text(_) => "String",
            Self::Symbol(_) => "Symbol",
            Self::Array(_) => "Array",
            Self::Hash(_) => "Hash",
            Self::Range(..) => "Range",
            Self::Regex(_) => "Regexp",
            Self::Match(_) => "MatchData",
            Self::Lambda(_) => "Proc",
            Self::Scope => "Puppet::Parser::Scope",
            Self::Constant(_) => "Class",
            Self::Other(_) => "Object",
        }
    }

    /// `is_a?`
    pub(super) fn is_a(&self, class: &str) -> bool {
        let class = class.trim_start_matches("::");
        let numeric = matches!(self, Self::Integer(_) | Self::Float(_));
        match class {
            "Object" | "BasicObject" => true,
            "Numeric" => numeric,
            "Fixnum" | "Bignum" => matches!(self, Self::Integer(_)),
            "Enumerable" => matches!(self, Self::Array(_) | Self::Hash(_) | Self::Range(..)),
            "Comparable" => numeric || matches!(self, Self::Text(_)),
            _ => self.class() == class,
        }
    }
}

/// `==`
pub(super) fn equal(a: &Thing, b: &Thing) -> bool {
    match (a, b) {
        (Thing::Nil, Thing::Nil) | (Thing::Scope, Thing::Scope) => true,
        (Thing::Bool(x), Thing::Bool(y)) => x == y,
        (Thing::Integer(x), Thing::Integer(y)) => x == y,
        (Thing::Float(x), Thing::Float(y)) => x == y,
        (Thing::Integer(x), Thing::Float(y)) | (Thing::Float(y), Thing::Integer(x)) => *x as f64 == *y,
        (Thing::Text(x), Thing::Text(y)) => *x.borrow() == *y.borrow(),
        (Thing::Symbol(x), Thing::Symbol(y)) | (Thing::Constant(x), Thing::Constant(y)) => x == y,
        (Thing::Array(x), Thing::Array(y)) => {
            let (x, y) = (x.borrow(), y.borrow());
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| equal(x, y))
        }
        (Thing::Hash(x), Thing::Hash(y)) => {
            let (x, y) = (x.borrow(), y.borrow());
            x.len() == y.len()
                && x.iter().all(|(key, (_, value))| y.get(key).is_some_and(|(_, other)| equal(value, other)))
        }
        (Thing::Range(a, b), Thing::Range(c, d)) => a == c && b == d,
        (Thing::Regex(x), Thing::Regex(y)) => x == y,
        (Thing::Other(x), Thing::Other(y)) => x == y,
        _ => false,
    }
}

/// `<=>`
pub(super) fn compare(a: &Thing, b: &Thing) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Thing::Integer(x), Thing::Integer(y)) => Some(x.cmp(y)),
        (Thing::Text(x), Thing::Text(y)) => Some(x.borrow().as_bytes().cmp(y.borrow().as_bytes())),
        (Thing::Symbol(x), Thing::Symbol(y)) => Some(x.cmp(y)),
        (Thing::Float(x), Thing::Float(y)) => x.partial_cmp(y),
        (Thing::Integer(x), Thing::Float(y)) => (*x as f64).partial_cmp(y),
        (Thing::Float(x), Thing::Integer(y)) => x.partial_cmp(&(*y as f64)),
        (Thing::Array(x), Thing::Array(y)) => {
            let (x, y) = (x.borrow(), y.borrow());
            for (x, y) in x.iter().zip(y.iter()) {
                match compare(x, y)? {
                    std::cmp::Ordering::Equal => {}
                    different => return Some(different),
                }
            }
            Some(x.len().cmp(&y.len()))
        }
        _ => equal(a, b).then_some(std::cmp::Ordering::Equal),
    }
}
