//! The definitions of the paper, transcribed as they stand: stores are lists, and every function makes a new one.
//! Nothing here is shared with the compiler.

use std::fmt::Write as _;

pub(crate) type Reference = Vec<String>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Basic {
    Boolean(bool),
    Number(i64),
    String(String),
    Null,
    Data(Reference),
    Vector(Vec<Basic>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Basic(Basic),
    Store(Store),
    /// Only in the forward semantics.
    Link(Reference),
}

pub(crate) type Store = Vec<(String, Value)>;

#[derive(Clone, Debug)]
pub(crate) enum Prototype {
    Reference(Reference),
    Body(Vec<Assignment>),
}

#[derive(Clone, Debug)]
pub(crate) enum ValueSyntax {
    Basic(Basic),
    Link(Reference),
    Prototypes(Vec<Prototype>),
}

#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) reference: Reference,
    pub(crate) value: ValueSyntax,
}

/// The number of an error.
pub(crate) type Error = u32;
pub(crate) type Eval<T> = Result<T, Error>;

/// Definition 7.
pub(crate) fn concatenation(left: &[String], right: &[String]) -> Reference {
    [left, right].concat()
}

/// Definition 8.
fn difference(left: &[String], right: &[String]) -> Reference {
    match (left, right) {
        ([], _) => Vec::new(),
        (left, []) => left.to_vec(),
        ([a, rest_a @ ..], [b, rest_b @ ..]) if a == b => difference(rest_a, rest_b),
        (left, _) => left.to_vec(),
    }
}

/// Definition 10.
fn is_prefix(left: &[String], right: &[String]) -> bool {
    difference(left, right).is_empty()
}

/// Definition 11.
pub(crate) fn prefix(reference: &[String]) -> Reference {
    match reference {
        [] | [_] => Vec::new(),
        [rest @ .., _] => rest.to_vec(),
    }
}

/// Definition 12.
fn put(store: &[(String, Value)], id: &str, value: Value) -> Store {
    match store {
        [] => vec![(id.to_owned(), value)],
        [(first, _), rest @ ..] if first == id => [&[(id.to_owned(), value)], rest].concat(),
        [first, rest @ ..] => [std::slice::from_ref(first), &put(rest, id, value)[..]].concat(),
    }
}

/// Definition 13.
pub(crate) fn bind(store: &[(String, Value)], reference: &[String], value: Value) -> Eval<Store> {
    match (store, reference) {
        (_, []) => Err(3),
        (store, [id]) => Ok(put(store, id, value)),
        ([], _) => Err(2),
        ([(first, inner), rest @ ..], [id, path @ ..]) if first == id => match inner {
            Value::Store(inner) => {
                Ok([&[(id.clone(), Value::Store(bind(inner, path, value)?))], rest].concat())
            }
            _ => Err(1),
        },
        ([first, rest @ ..], reference) => {
            Ok([std::slice::from_ref(first), &bind(rest, reference, value)?[..]].concat())
        }
    }
}

/// Definition 14.
pub(crate) fn find(store: &[(String, Value)], reference: &[String]) -> Option<Value> {
    match (store, reference) {
        (store, []) => Some(Value::Store(store.to_vec())),
        ([], _) => None,
        ([(first, value), ..], [id]) if first == id => Some(value.clone()),
        ([(first, value), ..], [id, path @ ..]) if first == id => match value {
            Value::Store(inner) => find(inner, path),
            _ => None,
        },
        ([_, rest @ ..], reference) => find(rest, reference),
    }
}

/// Definition 16.
pub(crate) fn resolve(
    store: &Store,
    namespace: &[String],
    reference: &[String],
) -> (Reference, Option<Value>) {
    if namespace.is_empty() {
        return (Vec::new(), find(store, reference));
    }
    match find(store, &concatenation(namespace, reference)) {
        None => resolve(store, &prefix(namespace), reference),
        value => (namespace.to_vec(), value),
    }
}

/// Definition 17.
pub(crate) fn copy(target: Store, source: &[(String, Value)], at: &[String]) -> Eval<Store> {
    match source {
        [] => Ok(target),
        [(id, value), rest @ ..] => {
            copy(bind(&target, &concatenation(at, std::slice::from_ref(id)), value.clone())?, rest, at)
        }
    }
}

/// Definition 18.
pub(crate) fn inherit(
    store: &Store,
    namespace: &[String],
    prototype: &[String],
    at: &[String],
) -> Eval<Store> {
    match resolve(store, namespace, prototype) {
        (_, Some(Value::Store(found))) => copy(store.clone(), &found, at),
        _ => Err(4),
    }
}

/// Definition 23.
fn prototypes(list: &[Prototype], namespace: &[String], at: &[String], store: Store) -> Eval<Store> {
    match list {
        [] => Ok(store),
        [Prototype::Body(inner), rest @ ..] => prototypes(rest, namespace, at, body(inner, at, store)?),
        [Prototype::Reference(reference), rest @ ..] => {
            prototypes(rest, namespace, at, inherit(&store, namespace, reference, at)?)
        }
    }
}

/// Definition 24.
fn value(value: &ValueSyntax, namespace: &[String], at: &[String], store: &Store) -> Eval<Store> {
    match value {
        ValueSyntax::Basic(basic) => bind(store, at, Value::Basic(basic.clone())),
        ValueSyntax::Prototypes(list) => {
            prototypes(list, namespace, at, bind(store, at, Value::Store(Vec::new()))?)
        }
        ValueSyntax::Link(reference) => match resolve(store, namespace, reference) {
            (_, None) => Err(5),
            (_, Some(found)) => bind(store, at, found),
        },
    }
}

/// Definition 25.
pub(crate) fn assignment(assignment: &Assignment, namespace: &[String], store: &Store) -> Eval<Store> {
    value(&assignment.value, namespace, &concatenation(namespace, &assignment.reference), store)
}

/// Definition 26.
pub(crate) fn body(assignments: &[Assignment], namespace: &[String], store: Store) -> Eval<Store> {
    match assignments {
        [] => Ok(store),
        [first, rest @ ..] => body(rest, namespace, assignment(first, namespace, &store)?),
    }
}

/// Definition 27.
pub(crate) fn specification(assignments: &[Assignment]) -> Eval<Store> {
    match find(&body(assignments, &[], Vec::new())?, &["sfConfig".to_owned()]) {
        Some(Value::Store(store)) => Ok(store),
        _ => Err(7),
    }
}

/// The forward semantics: the equations above, in which a link is a value, and `accept` at the end. Steps are counted, so
/// that an expansion without end is seen: it is error 106.
pub(crate) mod forward {
    use super::{
        Assignment, Eval, Prototype, Reference, Store, Value, ValueSyntax, bind, concatenation, copy, find,
        is_prefix, prefix, resolve,
    };

    const MAX_STEPS: usize = 20_000;
    const MAX_DEPTH: usize = 60;

    pub(crate) fn specification(assignments: &[Assignment]) -> Eval<Store> {
        let main = vec!["sfConfig".to_owned()];
        let store = body(assignments, &[], Vec::new())?;
        let Some(Value::Store(inner)) = find(&store, &main) else { return Err(7) };
        let store = accept(store, &main, &inner, &main, &mut 0)?;
        match find(&store, &main) {
            Some(Value::Store(store)) => Ok(store),
            _ => Err(7),
        }
    }

    fn body(assignments: &[Assignment], namespace: &[String], mut store: Store) -> Eval<Store> {
        for assignment in assignments {
            let at = concatenation(namespace, &assignment.reference);
            store = match &assignment.value {
                ValueSyntax::Basic(basic) => bind(&store, &at, Value::Basic(basic.clone()))?,
                ValueSyntax::Link(reference) => bind(&store, &at, Value::Link(reference.clone()))?,
                ValueSyntax::Prototypes(list) => {
                    let mut store = bind(&store, &at, Value::Store(Vec::new()))?;
                    for prototype in list {
                        store = match prototype {
                            Prototype::Body(inner) => body(inner, &at, store)?,
                            Prototype::Reference(reference) => inherit(&store, namespace, reference, &at)?,
                        };
                    }
                    store
                }
            };
        }
        Ok(store)
    }

    fn inherit(store: &Store, namespace: &[String], prototype: &[String], at: &[String]) -> Eval<Store> {
        let found = match resolve(store, namespace, prototype) {
            (_, Some(Value::Link(link))) => get_link(store, namespace, at, &link, &[])?.1,
            (_, found) => found,
        };
        match found {
            Some(Value::Store(found)) => copy(store.clone(), &found, at),
            _ => Err(4),
        }
    }

    /// Links are followed by the places that they stand in.
    fn get_link(
        store: &Store,
        namespace: &[String],
        at: &[String],
        link: &[String],
        seen: &[Reference],
    ) -> Eval<(Reference, Option<Value>)> {
        let (found_in, found) = resolve(store, namespace, link);
        let path = concatenation(&found_in, link);
        match found {
            Some(Value::Link(_)) if seen.contains(&path) => Err(105),
            Some(Value::Link(next)) => {
                let seen = [seen, std::slice::from_ref(&path)].concat();
                get_link(store, &prefix(&path), at, &next, &seen)
            }
            None => Ok((path, None)),
            Some(_) if is_prefix(&path, at) => Err(106),
            found => Ok((path, found)),
        }
    }

    fn accept(
        mut store: Store,
        at: &[String],
        inner: &Store,
        namespace: &[String],
        steps: &mut usize,
    ) -> Eval<Store> {
        for (id, value) in inner {
            *steps += 1;
            if *steps > MAX_STEPS || at.len() > MAX_DEPTH {
                return Err(106);
            }
            let path = concatenation(at, std::slice::from_ref(id));
            match value {
                Value::Basic(_) => {}
                Value::Store(inner) => store = accept(store, &path, inner, &path, steps)?,
                Value::Link(link) => match get_link(&store, namespace, &path, link, &[])? {
                    (_, None) => return Err(5),
                    (target, Some(found)) => {
                        store = bind(&store, &path, found.clone())?;
                        if let Value::Store(inner) = &found {
                            store = accept(store, &path, inner, &target, steps)?;
                        }
                    }
                },
            }
        }
        Ok(store)
    }
}

/// The number of attributes, those of inner stores included.
pub(crate) fn size(store: &Store) -> usize {
    store
        .iter()
        .map(|(_, value)| match value {
            Value::Store(inner) => 1 + size(inner),
            _ => 1,
        })
        .sum()
}

pub(crate) fn json(store: &Store, out: &mut String) {
    out.push('{');
    for (at, (id, value)) in store.iter().enumerate() {
        let _ = write!(out, "{}\"{id}\":", if at == 0 { "" } else { "," });
        match value {
            Value::Store(inner) => json(inner, out),
            Value::Basic(basic) => json_basic(basic, out),
            Value::Link(link) => {
                let _ = write!(out, "\"link {}\"", link.join(":"));
            }
        }
    }
    out.push('}');
}

fn json_basic(basic: &Basic, out: &mut String) {
    let _ = match basic {
        Basic::Boolean(value) => write!(out, "{value}"),
        Basic::Number(value) => write!(out, "{value}"),
        Basic::String(text) => write!(out, "\"{text}\""),
        Basic::Null => write!(out, "null"),
        Basic::Data(reference) => write!(out, "\"$.{}\"", reference.join(":")),
        Basic::Vector(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json_basic(element, out);
            }
            write!(out, "]")
        }
    };
}
