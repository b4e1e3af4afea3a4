//! Iterators: what `step` and `reverse_each` give without a block.

use std::sync::Arc;

use crate::types::{IntRange, Type, infer_set};
use crate::value::{Data, Value};

/// A sequence that is walked later. Its elements are at hand or computed one by one.
#[derive(Clone, Debug)]
pub struct Iter {
    source: Source,
    /// What an element is, where that is known without looking at all of them.
    element: Option<Type>,
}

#[derive(Clone, Debug)]
enum Source {
    Items(Arc<Vec<Value>>),
    /// From the first, `count` numbers, `step` apart.
    Range {
        first: i64,
        step: i64,
        count: u64,
    },
}

impl Iter {
    pub fn items(items: Vec<Value>) -> Self {
        Self { source: Source::Items(Arc::new(items)), element: None }
    }

    fn typed(items: Vec<Value>, element: Type) -> Self {
        Self { source: Source::Items(Arc::new(items)), element: Some(element) }
    }

    /// The integers from `from` to `to`, both included.
    pub fn range(from: i64, to: i64) -> Self {
        let count = (i128::from(to) - i128::from(from) + 1).clamp(0, i128::from(u64::MAX)) as u64;
        Self {
            source: Source::Range { first: from, step: 1, count },
            element: Some(Type::integer(Some(from), Some(to))),
        }
    }

    /// What an element is.
    pub fn element_type(&self) -> Type {
        match (&self.element, &self.source) {
            (Some(element), _) => element.clone(),
            (None, Source::Items(items)) if items.is_empty() => Type::Unit,
            (None, Source::Items(items)) => Type::variant(items.iter().map(infer_set).collect()),
            (None, Source::Range { .. }) => Type::Integer(None),
        }
    }

    pub fn len(&self) -> u64 {
        match &self.source {
            Source::Items(items) => items.len() as u64,
            Source::Range { count, .. } => *count,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: u64) -> Option<Value> {
        match &self.source {
            Source::Items(items) => items.get(usize::try_from(index).ok()?).cloned(),
            Source::Range { first, step, count } => (index < *count).then(|| {
                let value = i128::from(*first) + i128::from(*step) * i128::from(index);
                Value::new(Data::Integer(value as i64))
            }),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }

    #[must_use]
    pub fn reversed(&self) -> Self {
        let source = match &self.source {
            Source::Items(items) => Source::Items(Arc::new(items.iter().rev().cloned().collect())),
            Source::Range { first, step, count } => {
                let last = i128::from(*first) + i128::from(*step) * i128::from(count.saturating_sub(1));
                Source::Range { first: last as i64, step: -step, count: *count }
            }
        };
        Self { source, element: self.known_element() }
    }

    /// The type of the elements, as it was before some were left out or turned round.
    fn known_element(&self) -> Option<Type> {
        match &self.source {
            Source::Items(items) if items.is_empty() => self.element.clone(),
            _ => Some(self.element_type()),
        }
    }

    /// Every `by`th element, the first included; `by` is at least 1.
    #[must_use]
    pub fn stepped(&self, by: u64) -> Self {
        let by = by.max(1);
        let source = match &self.source {
            Source::Items(items) => {
                let by = usize::try_from(by).unwrap_or(usize::MAX);
                Source::Items(Arc::new(items.iter().step_by(by).cloned().collect()))
            }
            Source::Range { first, step, count } => {
                let wide = step.saturating_mul(i64::try_from(by).unwrap_or(i64::MAX));
                let count = if *step < 0 { steps_down(*step, wide, *count) } else { count.div_ceil(by) };
                Source::Range { first: *first, step: wide, count }
            }
        };
        Self { source, element: self.known_element() }
    }
}

/// How many steps Puppet takes through a range that runs downwards: if the steps do not meet its end, it stops short of
/// it by what is left of one step, and so may leave out the last number.
fn steps_down(step: i64, wide: i64, count: u64) -> u64 {
    let length = u128::from(step.unsigned_abs()) * u128::from(count.saturating_sub(1));
    let wide = u128::from(wide.unsigned_abs());
    let rest = length % wide;
    let short = if rest == 0 { 0 } else { wide - rest };
    match length.checked_sub(short) {
        Some(length) if count > 0 => u64::try_from(length / wide + 1).unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// The elements of a value that can be iterated: arrays, hashes (as pairs), strings (by character), integers (from 0 up
/// to, without it), `Integer` ranges, enumerations and iterators.
pub fn iterate(value: &Value) -> Option<Iter> {
    match &value.data {
        Data::Array(items) => Some(Iter { source: Source::Items(Arc::clone(items)), element: None }),
        Data::Hash(entries) => {
            let pair = |(key, item): (&crate::Key, &Value)| Value::array(vec![key.0.clone(), item.clone()]);
            Some(Iter::items(entries.iter().map(pair).collect()))
        }
        Data::String(text) => {
            let items =
                text.chars().map(|letter| Value::string(letter.to_string()).made_of(value.prov)).collect();
            Some(Iter::typed(items, Type::string_of_size(IntRange::size(1))))
        }
        Data::Integer(0) => Some(Iter::items(Vec::new())),
        Data::Integer(number) if *number > 0 => Some(Iter::range(0, number - 1)),
        Data::Type(of) => match of.resolved() {
            Type::Integer(Some(range)) => Some(Iter::range(range.from?, range.to?)),
            Type::Enum(values) => {
                let items = values
                    .iter()
                    .flat_map(|values| values.values.iter().cloned().map(Value::string))
                    .collect();
                Some(Iter::typed(items, Type::Enum(values.clone())))
            }
            _ => None,
        },
        Data::Iterator(iterator) => Some(iterator.as_ref().clone()),
        _ => None,
    }
}

/// Whether a value can be iterated.
pub(crate) fn is_iterable(value: &Value) -> bool {
    match &value.data {
        Data::Array(_) | Data::Hash(_) | Data::String(_) | Data::Iterator(_) => true,
        Data::Integer(number) => *number >= 0,
        Data::Type(of) => match of.resolved() {
            Type::Enum(_) => true,
            Type::Integer(range) => {
                range.as_ref().is_some_and(|range| range.from.is_some() && range.to.is_some())
            }
            _ => false,
        },
        _ => false,
    }
}
