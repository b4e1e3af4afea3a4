//! Interned names: compared and hashed by address, read without a lock.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxBuildHasher;

/// A name that is stored once for the whole process. Copying, comparing and hashing cost as much as for a pointer.
///
/// The text of distinct names is never freed: there are as many as the inputs have identifiers.
#[derive(Clone, Copy)]
pub struct Symbol(&'static str);

static NAMES: LazyLock<Mutex<HashSet<&'static str, FxBuildHasher>>> = LazyLock::new(Mutex::default);

impl Symbol {
    pub fn new(text: &str) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text) {
            return Self(known);
        }
        let stored: &'static str = Box::leak(text.into());
        names.insert(stored);
        Self(stored)
    }

    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr()) && self.0.len() == other.0.len()
    }
}

impl Eq for Symbol {}

impl Hash for Symbol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.as_ptr() as usize).hash(state);
    }
}

/// By text, so that sorted output does not depend on the order of interning.
impl Ord for Symbol {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl PartialOrd for Symbol {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl std::ops::Deref for Symbol {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl From<&str> for Symbol {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Symbol;

    #[test]
    fn equal_text_is_the_same_symbol() {
        assert_eq!(Symbol::new("apache"), Symbol::new(&String::from("apache")));
        assert_ne!(Symbol::new("apache"), Symbol::new("apach"));
        assert_ne!(Symbol::new(""), Symbol::new("a"));
    }
}
