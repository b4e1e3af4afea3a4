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

/// The names that exist, and where the text of the next one goes: side by side, so that a pass over names in the order of
/// their first use is a pass over memory.
#[derive(Default)]
struct Names {
    known: HashSet<&'static str, FxBuildHasher>,
    free: &'static mut [u8],
}

/// The size of a piece of memory that names share.
const PIECE: usize = 64 * 1024;

static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);

impl Names {
    /// Stores a text for the life of the process. Its address is its own: the empty name takes a byte, too.
    fn store(&mut self, text: &str) -> &'static str {
        let needed = text.len().max(1);
        if needed > PIECE / 16 {
            return Box::leak(text.into());
        }
        if self.free.len() < needed {
            self.free = Box::leak(vec![0; PIECE].into_boxed_slice());
        }
        let (stored, free) = std::mem::take(&mut self.free).split_at_mut(needed);
        self.free = free;
        let stored = &mut stored[..text.len()];
        stored.copy_from_slice(text.as_bytes());
        std::str::from_utf8(stored).unwrap_or_else(|_| Box::leak(text.into()))
    }
}

impl Symbol {
    pub fn new(text: &str) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.known.get(text) {
            return Self(known);
        }
        let stored = names.store(text);
        names.known.insert(stored);
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
