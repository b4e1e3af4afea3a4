//! Values and catalogs (figure 7).

use std::fmt;

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Integer(i64),
    String(String),
    Boolean(bool),
    Array(Vec<Value>),
    Hash(Vec<(String, Value)>),
    /// `t[v]`
    Reference(String, String),
}

/// `t {w : v_H}`
#[derive(Clone, PartialEq, Debug)]
pub struct Resource {
    pub kind: String,
    pub title: String,
    pub attributes: Vec<(String, Value)>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::String(text) => write!(f, "{text:?}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Array(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
            Self::Hash(entries) => write!(f, "{{{}}}", Entries(entries)),
            Self::Reference(kind, title) => write!(f, "{kind}[{title:?}]"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{{:?} : {}}}", self.kind, self.title, Entries(&self.attributes))
    }
}

struct Entries<'e>(&'e [(String, Value)]);

impl fmt::Display for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.0.iter().map(|(key, value)| format!("{key} => {value}")).collect();
        write!(f, "{}", entries.join(", "))
    }
}
