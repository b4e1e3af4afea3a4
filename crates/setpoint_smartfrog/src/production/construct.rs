//! The function phase: components that say so become functions, assertions and schemas.

use setpoint_source::Symbol;

use super::Production;
use super::tree::{Attribute, FUNCTION_CLASS, FUNCTIONS, Key, NodeId, Value};
use crate::error::{Fail, plain};
use crate::store;

const PHASE: &str = "phase.function";
const PACKAGE: &str = "org.smartfrog.sfcore.languages.sf.";
const ASSERTION_PHASE: &str = "sfAssertionPhase";

impl Production<'_> {
    /// From the innermost components outwards.
    pub(super) fn construct_functions(&mut self, node: NodeId) -> Result<(), Fail> {
        for at in 0..self.tree.node(node).attributes.len() {
            let Some((key, attribute)) = self.tree.node(node).attributes.get_index(at) else { break };
            let (Key::Name(name), Value::Component(child)) = (key.clone(), &attribute.value) else {
                continue;
            };
            let (child, span) = (*child, attribute.span);
            self.construct_functions(child)?;
            if let Some(value) = self.constructed(child)? {
                let what = match value {
                    Value::Assert { .. } => "is an assertion about the component around it",
                    _ => "is a function of what is in it",
                };
                self.tree.set_value(node, name, value);
                self.watch("function", (node, name), Some(&Value::Component(child)), span, what);
            }
        }
        Ok(())
    }

    /// What a component stands for, if it is no plain component.
    fn constructed(&mut self, node: NodeId) -> Result<Option<Value>, Fail> {
        let Some(action) = self.tree.string(node, PHASE) else { return Ok(None) };
        let value = match action.strip_prefix(PACKAGE) {
            Some("ConstructFunction") => {
                self.move_class_to_front(node);
                let lazy = matches!(
                    self.tree.value(node, Symbol::new("sfFunctionLazy")),
                    Some(Value::Basic(store::Value::Boolean(true)))
                );
                Value::Apply { node, lazy }
            }
            Some("ConstructAssertions") => {
                self.set_class(node, "CheckAssertions");
                self.move_class_to_front(node);
                Value::Assert { node, lazy: false }
            }
            Some("ConstructSchema") => {
                self.construct_schema(node)?;
                Value::Assert { node, lazy: false }
            }
            _ => {
                let message = format!("the action `{action}` of `{PHASE}` is not one that Setpoint knows");
                return Err(plain(self.tree.node(node).span, message));
            }
        };
        let attributes = &mut self.tree.node_mut(node).attributes;
        attributes.shift_remove(&Key::Name(Symbol::new(PHASE)));
        if let Some((key, phase)) = attributes.shift_remove_entry(&Key::Name(Symbol::new(ASSERTION_PHASE))) {
            attributes.insert(key, phase);
        }
        Ok(Some(value))
    }

    /// Each element of a schema learns its name; the schema holds if all elements do.
    fn construct_schema(&mut self, node: NodeId) -> Result<(), Fail> {
        let attributes = &self.tree.node(node).attributes;
        let elements: Vec<(Key, Attribute)> =
            attributes.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        for (key, attribute) in elements {
            let Key::Name(name) = key else { continue };
            if matches!(name.as_str(), PHASE | ASSERTION_PHASE | "sfSchemaDescription") {
                continue;
            }
            let Value::Apply { node: element, .. } = attribute.value else {
                let message =
                    format!("the element `{name}` of a schema must extend a type such as `Integer`");
                return Err(plain(attribute.span, message));
            };
            let value = Value::Basic(store::Value::String(name.as_str().into()));
            let given = Attribute { value, tags: None, ..attribute };
            self.tree.node_mut(element).attributes.insert(Key::Name(Symbol::new("name")), given);
        }
        let description = Key::Name(Symbol::new("sfSchemaDescription"));
        self.tree.node_mut(node).attributes.shift_remove(&description);
        self.set_class(node, "CheckAssertions");
        Ok(())
    }

    fn set_class(&mut self, node: NodeId, class: &str) {
        let span = self.tree.node(node).span;
        let provenance = self.arena.literal(span);
        let value = Value::Basic(store::Value::String(format!("{FUNCTIONS}{class}").into()));
        let attribute = Attribute { value, tags: None, span, provenance };
        self.tree.node_mut(node).attributes.insert(Key::Name(Symbol::new(FUNCTION_CLASS)), attribute);
    }

    fn move_class_to_front(&mut self, node: NodeId) {
        let attributes = &mut self.tree.node_mut(node).attributes;
        if let Some(at) = attributes.get_index_of(&Key::Name(Symbol::new(FUNCTION_CLASS))) {
            attributes.move_index(at, 0);
        }
    }
}
