//! What the functions of hierarchies keep from one call to the next, and which of them runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use setpoint_puppet_values::{Hash, Value};

use crate::search::Session;

/// A function of a hierarchy at one of its locations. Each has a cache of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ContextKey {
    pub(crate) provider: usize,
    pub(crate) is_default: bool,
    pub(crate) entry: String,
    pub(crate) location: Option<PathBuf>,
}

/// What a function keeps, and what it has answered.
#[derive(Debug, Default)]
pub(crate) struct FunctionContext {
    cache: Hash,
    /// What a `data_hash` function returned.
    pub(crate) data: Option<Value>,
    /// What other functions returned, by key.
    pub(crate) answers: FxHashMap<Arc<str>, Value>,
}

/// A function that runs, and how the search was begun that calls it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) key: ContextKey,
    pub(crate) overrides: Hash,
    pub(crate) defaults: Hash,
    pub(crate) global_only: bool,
}

impl Session {
    /// The cache of the function that runs; nothing if none does.
    pub fn function_cache(&mut self) -> Option<&mut Hash> {
        let key = self.running.last()?.key.clone();
        Some(&mut self.contexts.entry(key).or_default().cache)
    }

    /// What functions made of files, by path.
    pub fn file_cache(&mut self) -> &mut FxHashMap<PathBuf, Value> {
        &mut self.file_data
    }

    /// The file that the function is asked for that runs.
    pub fn location(&self) -> Option<&Path> {
        self.running.last()?.key.location.as_deref()
    }

    /// Whether the search is explained.
    pub fn explains(&self) -> bool {
        self.explainer.is_some()
    }

    /// Adds a text to the explanation.
    pub fn explain_text(&mut self, text: String) {
        if let Some(explainer) = &mut self.explainer {
            explainer.text(text);
        }
    }

    pub(crate) fn context(&mut self, key: &ContextKey) -> &mut FunctionContext {
        self.contexts.entry(key.clone()).or_default()
    }

    /// The functions of a configuration that is resolved again begin anew.
    pub(crate) fn forget_contexts(&mut self, provider: usize) {
        self.contexts.retain(|key, _| key.provider != provider);
    }
}
