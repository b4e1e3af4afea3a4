//! What files of YAML and JSON hold, for the outline of an editor.

use std::path::Path;

use setpoint_data::{Document, Node};
use setpoint_lsp::{Symbol, SymbolKind};
use setpoint_project::Session;

/// Mappings in mappings are shown so deep.
pub(super) const OF_TEMPLATE: usize = 2;
pub(super) const OF_TOPOLOGY: usize = 3;

pub(super) fn symbols(session: &Session<'_>, path: &Path, depth: usize) -> Vec<Symbol> {
    // An archive is no text.
    let Ok((file, text)) = session.load(path) else { return Vec::new() };
    outline(&setpoint_data::read(file, &text), depth)
}

/// The mappings of a document, down to a depth; what has a type is told with it.
fn outline(document: &Document, depth: usize) -> Vec<Symbol> {
    document.root.as_ref().map(|root| below(root, depth)).unwrap_or_default()
}

fn below(node: &Node, depth: usize) -> Vec<Symbol> {
    if depth == 0 {
        return Vec::new();
    }
    node.entries()
        .iter()
        .filter_map(|entry| {
            let type_name = entry.value.get("Type").or_else(|| entry.value.get("type"));
            let detail = type_name.and_then(Node::text).unwrap_or_default().to_owned();
            let kind = match (entry.value.is_mapping(), detail.is_empty()) {
                (true, false) => SymbolKind::Resource,
                (true, true) => SymbolKind::Section,
                (false, _) => SymbolKind::Value,
            };
            let children =
                if kind == SymbolKind::Resource { Vec::new() } else { below(&entry.value, depth - 1) };
            Some(Symbol {
                name: entry.key.text()?.to_owned(),
                detail,
                kind,
                range: entry.key.range.to(entry.value.range),
                name_range: entry.key.range,
                children,
            })
        })
        .collect()
}
