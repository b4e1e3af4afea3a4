//! The functions by name.

use crate::Function;

/// Sorted by name.
static BUILTIN: &[&Function] = &[];

/// The function of this name that Puppet itself has, unless it belongs to the evaluator.
pub fn builtin(name: &str) -> Option<&'static Function> {
    find(BUILTIN, name)
}

fn find(table: &[&'static Function], name: &str) -> Option<&'static Function> {
    let at = table.binary_search_by(|function| function.name.cmp(name)).ok()?;
    table.get(at).copied()
}
