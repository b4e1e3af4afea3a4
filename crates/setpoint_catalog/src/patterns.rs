//! Regular expressions of types and attributes, compiled once: a catalog asks the same ones for each of its resources.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fancy_regex::Regex;
use rustc_hash::FxHashMap;

/// The patterns that were asked for; `None` for one that our regular expressions do not know.
type Patterns = FxHashMap<&'static str, Option<Arc<Regex>>>;

static KNOWN: LazyLock<Mutex<Patterns>> = LazyLock::new(Mutex::default);

pub(crate) fn compiled(pattern: &'static str) -> Option<Arc<Regex>> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(pattern).or_insert_with(|| Regex::new(pattern).ok().map(Arc::new)).clone()
}
