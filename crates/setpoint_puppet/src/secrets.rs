//! Secrets that an evaluation meets: their texts and places are noted with the sources, their nodes in the arena.

use std::sync::Arc;

use setpoint_provenance::{LeafKind, Secrecy};
use setpoint_puppet_values::{Data, Type, Value};
use setpoint_source::Span;

use crate::compiler::Compiler;

impl Compiler<'_> {
    /// Looks at what a call returns: a `Sensitive` is a secret, and so is what is computed from one. A function's whole result counts as computed from
    /// all that it is given; what it only passes on, such as the other keys and values of a hash with a password in it, is none.
    pub(crate) fn note_result(&mut self, value: &Value, arguments: &[Value]) {
        let parts: Vec<&Value> = match &value.data {
            Data::Array(items) if self.arena.has_secrets() || is_few(items.len()) => items.iter().collect(),
            Data::Hash(entries) if self.arena.has_secrets() || is_few(entries.len()) => {
                entries.values().collect()
            }
            _ => vec![value],
        };
        let mut computed: Vec<&str> = Vec::new();
        for part in parts {
            match &part.data {
                Data::Sensitive(_) => self.declare_secret(part),
                Data::String(text) if self.arena.secrecy(part.prov) == Secrecy::Computed => {
                    computed.push(text);
                }
                _ => {}
            }
        }
        if computed.is_empty() {
            return;
        }
        for argument in arguments {
            self.note_open_texts(argument);
        }
        for text in computed.into_iter().filter(|text| !self.open_texts.contains(*text)) {
            self.environment.sources.secrets().add_whole(text);
        }
    }

    fn note_open_texts(&mut self, value: &Value) {
        match &value.data {
            Data::String(text)
                if self.arena.secrecy(value.prov) == Secrecy::Open && !self.open_texts.contains(&**text) =>
            {
                self.open_texts.insert((&**text).into());
            }
            Data::Array(items) => items.iter().for_each(|item| self.note_open_texts(item)),
            Data::Hash(entries) => {
                for (key, item) in entries.iter() {
                    self.note_open_texts(&key.0);
                    self.note_open_texts(item);
                }
            }
            _ => {}
        }
    }

    fn declare_secret(&mut self, value: &Value) {
        self.note_secret(value);
        self.arena.declare_secret(value.prov);
        let mut parts = Vec::new();
        setpoint_catalog::each_secret_of(value, true, &mut |part| parts.push(part.prov));
        for part in parts {
            self.arena.declare_secret(part);
        }
    }

    /// The value under a mark if a type admits nothing but harmless values: `Enum`, `Integer`, a `Pattern` that is narrow enough.
    pub(crate) fn confined_by(&mut self, value: Value, of: &Type, span: Option<Span>) -> Value {
        if !self.arena.enabled() || value.prov.is_none() || !confines(of, &value) {
            return value;
        }
        let prov = self.arena.copy(value.prov, span, None);
        self.arena.mark_confined(prov);
        value.with(prov)
    }

    /// Notes a secret: its texts, the places that they were written at, and its nodes.
    pub(crate) fn note_secret(&mut self, value: &Value) {
        let is_known = self.arena.secrecy(value.prov) != Secrecy::Open;
        self.arena.mark_secret(value.prov);
        let mut parts = Vec::new();
        setpoint_catalog::each_secret_of(value, true, &mut |part| parts.push(part));
        for part in parts {
            if let Data::String(text) = &part.data {
                self.environment.sources.secrets().add_text(text);
            }
            if is_known && self.arena.secrecy(part.prov) != Secrecy::Open {
                continue;
            }
            self.arena.mark_secret(part.prov);
            let leaves = self.arena.made_of(part.prov).into_iter().map(|(_, leaf)| leaf);
            for leaf in leaves.filter(|leaf| matches!(leaf.kind, LeafKind::Literal | LeafKind::Hiera)) {
                if let Some(span) = leaf.span {
                    self.environment.sources.hide(span);
                }
            }
        }
    }
}

/// Whether a type admits only harmless values: none that an attacker would put in the place of this one.
pub(crate) fn confines(of: &Type, value: &Value) -> bool {
    if matches!(of, Type::Any) {
        return false;
    }
    let text = first_text(value).unwrap_or_default();
    !probes(&text).iter().any(|probe| of.is_instance(&with_texts(value, probe)))
}

/// What an attacker would write in the place of a text.
pub fn probes(text: &str) -> Vec<String> {
    let mut out: Vec<String> =
        [";id", "$(id)", "`id`", "a;id", "/a;id", "/a/$(id)", "a b;id", "a.b;id", "http://a/;id"]
            .into_iter()
            .map(str::to_owned)
            .collect();
    out.extend([
        format!("{text};id"),
        format!("{text} $(id)"),
        format!("$(id){text}"),
        format!("{text}`id`"),
    ]);
    out
}

fn first_text(value: &Value) -> Option<String> {
    match &value.data {
        Data::Array(items) => items.iter().find_map(first_text),
        Data::Hash(entries) => entries.values().find_map(first_text),
        Data::Sensitive(inner) => first_text(inner),
        Data::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The value with another text in the place of each scalar.
fn with_texts(value: &Value, text: &str) -> Value {
    match &value.data {
        Data::Array(items) => Value::array(items.iter().map(|item| with_texts(item, text)).collect()),
        Data::Hash(entries) => {
            Value::hash(entries.iter().map(|(key, item)| (key.clone(), with_texts(item, text))).collect())
        }
        Data::Sensitive(inner) => Value::new(Data::Sensitive(Arc::new(with_texts(inner, text)))),
        _ => Value::from(text),
    }
}

/// Larger collections are looked through only if there are secrets at all.
fn is_few(count: usize) -> bool {
    count <= 16
}
