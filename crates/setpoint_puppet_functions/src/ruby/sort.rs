//! The sort that Ruby uses on Linux: a merge sort, so that a block is asked about the same pairs in the same order.

use std::cmp::Ordering;

pub(crate) fn sort_by<T: Clone, E>(
    mut items: Vec<T>,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, E>,
) -> Result<Vec<T>, E> {
    if items.len() < 2 {
        return Ok(items);
    }
    let upper = items.split_off(items.len() / 2);
    let lower = sort_by(items, compare)?;
    let upper = sort_by(upper, compare)?;
    let mut merged = Vec::with_capacity(lower.len() + upper.len());
    let (mut lower, mut upper) = (lower.into_iter().peekable(), upper.into_iter().peekable());
    while let (Some(a), Some(b)) = (lower.peek(), upper.peek()) {
        let next = if compare(a, b)? == Ordering::Greater { upper.next() } else { lower.next() };
        merged.extend(next);
    }
    merged.extend(lower);
    merged.extend(upper);
    Ok(merged)
}
