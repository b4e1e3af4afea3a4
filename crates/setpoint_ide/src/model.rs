//! What an editor asks about a rule file.

use std::path::Path;

use setpoint_lsp::{Symbol, SymbolKind};
use setpoint_orchestra::language::syntax::{Item, Name, ObjectItem};
use setpoint_project::Session;

pub(crate) fn symbols(session: &Session<'_>, path: &Path) -> Vec<Symbol> {
    let Ok((file, text)) = session.load(path) else { return Vec::new() };
    setpoint_orchestra::language::parse(file, &text).file.items.iter().filter_map(symbol).collect()
}

/// An item of a rule file, for the outline of an editor.
fn symbol(item: &Item) -> Option<Symbol> {
    let one = |detail: &str, kind, name: &str, name_range, range, children| {
        Some(Symbol { name: name.to_owned(), detail: detail.to_owned(), kind, range, name_range, children })
    };
    let range = item.range();
    match item {
        Item::Model { name, .. } => {
            one("model", SymbolKind::Section, &name.text, name.range, range, Vec::new())
        }
        Item::Class(class) => {
            one("class", SymbolKind::Class, &class.name.text, class.name.range, range, Vec::new())
        }
        Item::Rule(rule) => {
            one("rule", SymbolKind::Function, &rule.name.text, rule.name.range, range, Vec::new())
        }
        Item::Invariant { name, .. } => {
            one("invariant", SymbolKind::Value, &name.text, name.range, range, Vec::new())
        }
        Item::Instance { name, objects, .. } => {
            let object = |of: &ObjectItem, name: &Name| {
                one(&of.class.text, SymbolKind::Object, &name.text, name.range, of.range, Vec::new())
            };
            let named =
                objects.iter().flat_map(|of| of.names.iter().filter_map(move |name| object(of, name)));
            one("instance", SymbolKind::Section, &name.text, name.range, range, named.collect())
        }
        Item::Extend(_)
        | Item::Use { .. }
        | Item::Require { .. }
        | Item::Init { .. }
        | Item::Final { .. } => None,
    }
}
