//! References as paths of identifiers, with the paper's operations on them (definitions 7 to 11).

use setpoint_source::Symbol;

/// A path from the root of the store. The empty one is the root.
pub type Path = Vec<Symbol>;

/// Definition 7, operator ⊕: the concatenation.
pub fn concatenation(left: &[Symbol], right: &[Symbol]) -> Path {
    let mut path = Vec::with_capacity(left.len() + right.len());
    path.extend_from_slice(left);
    path.extend_from_slice(right);
    path
}

/// Definition 8, operator ⊖: the first reference without the prefix that both have. (The last equation of the
/// paper should read `id1 :: r1`.)
pub fn difference<'r>(left: &'r [Symbol], right: &[Symbol]) -> &'r [Symbol] {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    &left[common..]
}

/// Definition 9, operator ≡.
pub fn equal(left: &[Symbol], right: &[Symbol]) -> bool {
    left == right
}

/// Definition 10, operator ⊆: the first reference is a prefix of the second, or is the second.
pub fn is_prefix(left: &[Symbol], right: &[Symbol]) -> bool {
    difference(left, right).is_empty()
}

/// Definition 10, operator ⊂: the first reference is a prefix of the second, and is not the second.
pub fn is_strict_prefix(left: &[Symbol], right: &[Symbol]) -> bool {
    is_prefix(left, right) && !equal(left, right)
}

/// Definition 11 (prefix): the longest strict prefix; the root is its own.
pub fn prefix(reference: &[Symbol]) -> &[Symbol] {
    reference.split_last().map_or(&[], |(_, rest)| rest)
}

/// `a:b:c`, and `ROOT` for the root.
pub fn shown(path: &[Symbol]) -> String {
    if path.is_empty() {
        return "ROOT".to_owned();
    }
    path.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split(':').filter(|name| !name.is_empty()).map(Symbol::new).collect()
    }

    #[test]
    fn the_operations_follow_their_definitions() {
        assert_eq!(concatenation(&path("a:b"), &path("c")), path("a:b:c"));
        assert_eq!(concatenation(&path(""), &path("c")), path("c"));
        assert_eq!(difference(&path("a:b:c"), &path("a:b")), path("c"));
        assert_eq!(difference(&path("a:b"), &path("a:c:d")), path("b"));
        assert_eq!(difference(&path(""), &path("a")), path(""));
        assert!(is_prefix(&path("a"), &path("a")));
        assert!(is_prefix(&path(""), &path("a")));
        assert!(!is_prefix(&path("b"), &path("a:b")));
        assert!(is_strict_prefix(&path("a"), &path("a:b")));
        assert!(!is_strict_prefix(&path("a:b"), &path("a:b")));
        assert_eq!(prefix(&path("a:b:c")), path("a:b"));
        assert_eq!(prefix(&path("a")), path(""));
        assert_eq!(prefix(&path("")), path(""));
    }
}
