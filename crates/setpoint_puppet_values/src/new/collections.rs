//! `Array.new` and `Hash.new`.

use std::sync::LazyLock;

use setpoint_source::Limit;

use super::constructor::{Constructor, cannot_convert};
use crate::error::ValueError;
use crate::iterator::iterate;
use crate::types::infer_generic;
use crate::value::{Data, Hash, Key, Value};

/// More elements than this are not made from a range or a number.
const MAX_ELEMENTS: Limit = Limit::new(4_000_000);

pub(super) static ARRAY: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_array",
        &[],
        &[
            ("Variant[Array,Hash,Binary,Iterable] from, Boolean[false] wrap?", to_array),
            ("Any from, Boolean[true] wrap", |arguments| {
                let from = arguments.first().unwrap_or(&Value::UNDEF);
                Ok(match from.data {
                    Data::Array(_) => from.clone(),
                    _ => Value::array(vec![from.clone()]),
                })
            }),
        ],
        &[("Any from, Boolean wrap?", |arguments| {
            cannot_convert_plain("new_array", "Array", arguments.first().unwrap_or(&Value::UNDEF))
        })],
    )
});

pub(super) static HASH: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_hash",
        &[
            ("KeyValueArray", "Array[Tuple[Any,Any],1]"),
            ("TreeArray", "Array[Tuple[Array,Any],1]"),
            ("NewHashOption", "Enum[tree, hash_tree]"),
        ],
        &[
            ("TreeArray from, NewHashOption build_option?", from_tree),
            ("KeyValueArray from", |arguments| Ok(from_tuples(arguments))),
            ("Any from", from_any),
        ],
        &[],
    )
});

/// The message names the type also of a string.
fn cannot_convert_plain(name: &str, to: &str, from: &Value) -> ValueError {
    match from.data {
        Data::String(_) => ValueError::new(format!(
            "'{name}' Value of type {} cannot be converted to {to}",
            infer_generic(from)
        )),
        _ => cannot_convert(name, to, from),
    }
}

fn elements(from: &Value) -> Result<Vec<Value>, ValueError> {
    let iterator = iterate(from);
    match iterator {
        Some(iterator) if iterator.len() > MAX_ELEMENTS => {
            let message = format!(
                "The array has {} elements, and Setpoint makes none of more than {MAX_ELEMENTS}",
                iterator.len()
            );
            Err(ValueError::limit(message))
        }
        Some(iterator) => Ok(iterator.iter().collect()),
        None => Ok(Vec::new()),
    }
}

fn to_array(arguments: &[Value]) -> Result<Value, ValueError> {
    let from = arguments.first().unwrap_or(&Value::UNDEF);
    match &from.data {
        Data::Array(_) => Ok(from.clone()),
        Data::Binary(bytes) => {
            Ok(Value::array(bytes.iter().map(|byte| Value::from(i64::from(*byte))).collect()))
        }
        _ => Ok(Value::array(elements(from)?)),
    }
}

fn from_tuples(arguments: &[Value]) -> Value {
    let mut entries = Hash::default();
    for item in arguments.first().and_then(Value::as_array).unwrap_or(&[]) {
        if let Some([key, value]) = item.as_array() {
            entries.insert(Key(key.clone()), value.clone());
        }
    }
    Value::hash(entries)
}

fn from_any(arguments: &[Value]) -> Result<Value, ValueError> {
    let from = arguments.first().unwrap_or(&Value::UNDEF);
    let items = match &from.data {
        Data::Hash(_) => return Ok(from.clone()),
        Data::Array(items) => items.as_ref().clone(),
        _ if iterate(from).is_some() => elements(from)?,
        _ => {
            return Err(ValueError::new(format!(
                "Value of type {} cannot be converted to Hash",
                infer_generic(from)
            )));
        }
    };
    if items.len() % 2 != 0 {
        return Err(ValueError::new("odd number of arguments for Hash"));
    }
    Ok(Value::hash(items.chunks(2).map(|pair| (Key(pair[0].clone()), pair[1].clone())).collect()))
}

/// A tree from paths and values.
fn from_tree(arguments: &[Value]) -> Result<Value, ValueError> {
    let Some(option) = arguments.get(1).and_then(Value::as_str) else { return Ok(from_tuples(arguments)) };
    let all_hashes = option == "hash_tree";
    let mut root = Node::Hash(indexmap::IndexMap::default());
    for item in arguments.first().and_then(Value::as_array).unwrap_or(&[]) {
        let Some([path, value]) = item.as_array() else { continue };
        let path = path.as_array().unwrap_or(&[]);
        match path.split_last() {
            None => root.merge(value)?,
            Some((last, front)) => {
                let mut place = &mut root;
                for key in front {
                    place = place.child(key)?;
                }
                let value = if all_hashes { Node::as_hashes(value) } else { Node::from(value) };
                place.set(last, value)?;
            }
        }
    }
    Ok(root.into_value())
}

/// A tree that can still be changed. Values that came whole are looked into only when a path leads there.
enum Node {
    Hash(indexmap::IndexMap<Key, Node, rustc_hash::FxBuildHasher>),
    Array(Vec<Node>),
    Leaf(Value),
}

impl Node {
    fn from(value: &Value) -> Self {
        Self::Leaf(value.clone())
    }

    /// Arrays as hashes of their indices.
    fn as_hashes(value: &Value) -> Self {
        match value.as_array() {
            Some(items) => Self::Hash(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (Key(Value::from(index as i64)), Self::as_hashes(item)))
                    .collect(),
            ),
            None => Self::Leaf(value.clone()),
        }
    }

    /// Looks into a leaf.
    fn open(&mut self) {
        if let Self::Leaf(value) = self {
            match &value.data {
                Data::Hash(entries) => {
                    *self = Self::Hash(
                        entries.iter().map(|(key, item)| (key.clone(), Self::Leaf(item.clone()))).collect(),
                    );
                }
                Data::Array(items) => {
                    *self = Self::Array(items.iter().map(|item| Self::Leaf(item.clone())).collect());
                }
                _ => {}
            }
        }
    }

    fn merge(&mut self, value: &Value) -> Result<(), ValueError> {
        let Self::Hash(entries) = self else { return Ok(()) };
        match &value.data {
            Data::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    entries.insert(Key(Value::from(index as i64)), Self::from(item));
                }
                Ok(())
            }
            Data::Hash(more) => {
                for (key, item) in more.iter() {
                    entries.insert(key.clone(), Self::from(item));
                }
                Ok(())
            }
            _ => Err(ValueError::new(format!(
                "no implicit conversion of {} into Hash",
                crate::label::class_name(value)
            ))),
        }
    }

    fn child(&mut self, key: &Value) -> Result<&mut Self, ValueError> {
        self.open();
        match self {
            Self::Hash(entries) => Ok(entries
                .entry(Key(key.clone()))
                .or_insert_with(|| Self::Hash(indexmap::IndexMap::default()))),
            Self::Array(items) => {
                let index = key.as_integer().and_then(|index| usize::try_from(index).ok());
                index.and_then(|index| items.get_mut(index)).ok_or_else(|| no_place(key))
            }
            Self::Leaf(_) => Err(no_place(key)),
        }
    }

    fn set(&mut self, key: &Value, value: Self) -> Result<(), ValueError> {
        self.open();
        match self {
            Self::Hash(entries) => {
                entries.insert(Key(key.clone()), value);
                Ok(())
            }
            Self::Array(items) => {
                let index = key
                    .as_integer()
                    .and_then(|index| usize::try_from(index).ok())
                    .ok_or_else(|| no_place(key))?;
                if index > items.len() + 1_000_000 {
                    return Err(no_place(key));
                }
                while items.len() <= index {
                    items.push(Self::Leaf(Value::UNDEF));
                }
                items[index] = value;
                Ok(())
            }
            Self::Leaf(_) => Err(no_place(key)),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::Array(items) => Value::array(items.into_iter().map(Self::into_value).collect()),
            Self::Hash(entries) => {
                Value::hash(entries.into_iter().map(|(key, item)| (key, item.into_value())).collect())
            }
        }
    }
}

fn no_place(key: &Value) -> ValueError {
    ValueError::new(format!("The path of a tree has no place for '{}'", crate::ruby::text::to_s(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signatures_are_read() {
        assert!(ARRAY.is_whole(2, 1));
        assert!(HASH.is_whole(3, 0));
    }
}
