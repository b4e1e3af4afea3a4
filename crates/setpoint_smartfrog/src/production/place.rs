//! The placement phase: an attribute whose name is a path goes into the component that the path leads to.

use setpoint_source::Symbol;

use super::Production;
use super::resolve::{Found, Missing, Reason};
use super::tree::{Attribute, Key, NodeId, Value};
use super::types::{final_override, has_tag, union};
use crate::error::{Fail, Number, numbered};
use crate::reference::shown;
use crate::syntax::Part;

#[derive(Default)]
struct Round {
    unresolved: Vec<Fail>,
    placed: bool,
}

impl Production<'_> {
    /// Rounds over all components, until everything is placed or a round places nothing. Each round that goes on has
    /// placed something, and nothing new appears: there are at most as many rounds as placements.
    pub(super) fn place_all(&mut self, root: NodeId) -> Result<(), Vec<Fail>> {
        loop {
            let mut round = Round::default();
            self.place_in(root, &mut round).map_err(|fail| vec![fail])?;
            if round.unresolved.is_empty() && !round.placed {
                return Ok(());
            }
            if !round.placed {
                return Err(round.unresolved);
            }
        }
    }

    fn place_in(&mut self, node: NodeId, round: &mut Round) -> Result<(), Fail> {
        let keys: Vec<(Key, Option<NodeId>)> = self
            .tree
            .node(node)
            .attributes
            .iter()
            .filter_map(|(key, attribute)| match (key, &attribute.value) {
                (Key::Path(_), _) => Some((key.clone(), None)),
                (_, Value::Component(child)) => Some((key.clone(), Some(*child))),
                _ => None,
            })
            .collect();
        let mut any = false;
        for (key, child) in keys {
            if let Key::Path(path) = &key {
                any |= self.place(node, &key, path, round)?;
            } else if let Some(child) = child {
                self.place_in(child, round)?;
            }
        }
        if any {
            self.tree
                .node_mut(node)
                .attributes
                .retain(|_, attribute| !matches!(attribute.value, Value::Nothing));
        }
        Ok(())
    }

    /// Moves one attribute to its place. Says whether it could be moved.
    fn place(&mut self, node: NodeId, key: &Key, path: &[Symbol], round: &mut Round) -> Result<bool, Fail> {
        let Some(attribute) = self.tree.node(node).attributes.get(key).cloned() else { return Ok(false) };
        let span = attribute.span;
        let Some((&name, above)) = path.split_last() else { return Ok(false) };
        let parts: Vec<Part> = above.iter().map(|&part| Part::Here(part)).collect();
        let whole = shown(path);
        let parent = shown(above);
        let fail = match self.resolve(node, &parts, span) {
            Ok(Found { value: Value::Component(destination), .. }) => {
                let old = self.tree.value(destination, name).cloned();
                self.put(destination, name, attribute)?;
                self.watch(
                    "place",
                    (destination, name),
                    old.as_ref(),
                    span,
                    &format!("is placed by `{whole}`"),
                );
                if let Some(placed) = self.tree.node_mut(node).attributes.get_mut(key) {
                    placed.value = Value::Nothing;
                }
                round.placed = true;
                return Ok(true);
            }
            Ok(_) => {
                let message = format!(
                    "`{whole}` cannot be set, because `{parent}` is a plain value and has no attributes"
                );
                numbered(Number::ParentIsNoStore, span, message)
            }
            Err(Missing::Soft(Reason::NoComponent(parent))) => {
                let message = format!(
                    "`{whole}` cannot be set, because `{parent}` is a plain value and has no attributes"
                );
                numbered(Number::ParentIsNoStore, span, message)
            }
            Err(Missing::Soft(Reason::Function(parent, ..))) => {
                let message = format!(
                    "`{whole}` cannot be set, because `{parent}` is a vector or a function, and no component"
                );
                numbered(Number::ParentIsNoStore, span, message)
            }
            Err(Missing::Hard(fail)) => return Err(fail),
            Err(_) => {
                let message = format!("`{whole}` cannot be set, because there is no component `{parent}`");
                let mut fail = numbered(Number::NoParent, span, message);
                fail.helps.push(
                    "a target is looked for in the component that it is written in, and nowhere else".into(),
                );
                fail
            }
        };
        round.unresolved.push(fail);
        Ok(false)
    }

    fn put(&mut self, destination: NodeId, name: Symbol, attribute: Attribute) -> Result<(), Fail> {
        let key = Key::Name(name);
        let mut tags = attribute.tags.clone();
        if let Some(old) = self.tree.node(destination).attributes.get(&key) {
            if has_tag(old, "sfFinal") {
                return Err(final_override(&key, attribute.span, old.span));
            }
            tags = union(old.tags.as_ref(), tags.as_ref());
            if self.arena.enabled() {
                self.overridden.insert(attribute.provenance, old.provenance);
            }
        }
        match attribute.value {
            Value::Component(node) | Value::Apply { node, .. } | Value::Assert { node, .. } => {
                let placed = self.tree.node_mut(node);
                placed.parent = Some(destination);
                placed.key = Some(key.clone());
            }
            _ => {}
        }
        self.tree.node_mut(destination).attributes.insert(key, Attribute { tags, ..attribute });
        Ok(())
    }
}
