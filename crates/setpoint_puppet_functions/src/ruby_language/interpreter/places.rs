//! Assignments.

use std::rc::Rc;
use std::sync::Arc;

use super::{Interpreter, Result, beyond};
use crate::ruby_language::ast::{Node, Target, Targets};
use crate::ruby_language::methods;
use crate::ruby_language::things::{Environment, Thing};

/// What is assigned to, with its parts evaluated once.
enum Place {
    Local(Arc<str>),
    Instance(Arc<str>),
    Shared(Arc<str>),
    Constant(Arc<str>),
    Index(Thing, Vec<Thing>),
    Attribute(Thing, Arc<str>),
    /// `nil&.name = …`
    Nowhere,
}

impl Interpreter<'_, '_, '_> {
    pub(super) fn assign(
        &mut self,
        target: &Node,
        value: Thing,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let place = self.place(target, environment)?;
        self.write(place, value, environment)
    }

    fn place(&mut self, target: &Node, environment: &Rc<Environment>) -> Result<Place> {
        Ok(match target {
            Node::Name(name, _) | Node::Local(name) => Place::Local(Arc::clone(name)),
            Node::Instance(name) => Place::Instance(Arc::clone(name)),
            Node::Shared(name) => Place::Shared(Arc::clone(name)),
            Node::Constant(name) => Place::Constant(Arc::clone(name)),
            Node::Index(of, keys, line) => {
                let of = self.run(of, environment)?;
                let keys = self.all(keys, environment)?;
                self.line = *line;
                Place::Index(of, keys)
            }
            Node::Call(call) => {
                let Some(receiver) = &call.receiver else { return beyond("it assigns to something unusual") };
                let receiver = self.run(receiver, environment)?;
                self.line = call.line;
                if call.safe && receiver.is_nil() {
                    return Ok(Place::Nowhere);
                }
                Place::Attribute(receiver, Arc::clone(&call.name))
            }
            Node::Global(name) => return beyond(format!("it assigns to ${name}")),
            _ => return beyond("it assigns to something unusual"),
        })
    }

    fn read(&mut self, place: &Place, environment: &Rc<Environment>) -> Result<Thing> {
        match place {
            Place::Local(name) => Ok(environment.get(name).unwrap_or(Thing::Nil)),
            Place::Instance(name) => Ok(self.instance_variable(name, environment)),
            Place::Shared(name) => {
                let key: Arc<str> = format!("@@{name}").into();
                let class = self.definee(environment);
                let found = class.variables.borrow().get(&key).cloned();
                Ok(found.unwrap_or(Thing::Nil))
            }
            Place::Constant(name) => {
                let class = self.definee(environment);
                let found = class.constants.borrow().get(name).cloned();
                Ok(found.unwrap_or(Thing::Nil))
            }
            Place::Index(of, keys) => methods::call(self, of, "[]", keys.clone(), None),
            Place::Attribute(of, name) => methods::call(self, of, name, Vec::new(), None),
            Place::Nowhere => Ok(Thing::Nil),
        }
    }

    fn write(&mut self, place: Place, value: Thing, environment: &Rc<Environment>) -> Result<()> {
        match place {
            Place::Local(name) => environment.set(&name, value),
            Place::Instance(name) => match &environment.frame.this {
                Thing::Object(object) => {
                    object.variables.borrow_mut().insert(name, value);
                }
                Thing::Class(class) => {
                    class.variables.borrow_mut().insert(name, value);
                }
                _ => {
                    self.instance.insert(name, value);
                }
            },
            Place::Shared(name) => {
                let key: Arc<str> = format!("@@{name}").into();
                let class = self.definee(environment);
                let owner = class.lineage().into_iter().find(|one| one.variables.borrow().contains_key(&key));
                owner.unwrap_or(class).variables.borrow_mut().insert(key, value);
            }
            Place::Constant(name) => {
                let class = self.definee(environment);
                if let Thing::Class(named) = &value {
                    let is_top = Rc::ptr_eq(&class, &self.top);
                    let full = if is_top {
                        format!("{}{name}", self.around)
                    } else {
                        format!("{}::{name}", class.name())
                    };
                    named.name_once(&full);
                }
                class.constants.borrow_mut().insert(name, value);
            }
            Place::Index(of, mut keys) => {
                keys.push(value);
                methods::call(self, &of, "[]=", keys, None)?;
            }
            Place::Attribute(of, name) => {
                methods::call(self, &of, &format!("{name}="), vec![value], None)?;
            }
            Place::Nowhere => {}
        }
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        target: &Node,
        operation: &str,
        value: &Node,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let place = self.place(target, environment)?;
        let before = self.read(&place, environment)?;
        let after = match operation {
            "||" if before.truth() => return Ok(before),
            "&&" if !before.truth() => return Ok(before),
            "||" | "&&" => self.run(value, environment)?,
            _ => {
                let operand = self.run(value, environment)?;
                methods::call(self, &before, operation, vec![operand], None)?
            }
        };
        self.write(place, after.clone(), environment)?;
        Ok(after)
    }

    pub(super) fn assign_all(
        &mut self,
        targets: &Targets,
        items: Vec<Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let rest = targets.list.iter().position(|target| matches!(target, Target::Rest(_)));
        let after = rest.map_or(0, |at| targets.list.len() - at - 1);
        let mut items = items.into_iter();
        for target in &targets.list {
            match target {
                Target::One(node) => {
                    let value = items.next().unwrap_or(Thing::Nil);
                    self.assign(node, value, environment)?;
                }
                Target::Several(inner) => {
                    let value = items.next().unwrap_or(Thing::Nil);
                    self.assign_all(inner, methods::spread(&value), environment)?;
                }
                Target::Rest(node) => {
                    let count = items.len().saturating_sub(after);
                    let taken: Vec<Thing> = items.by_ref().take(count).collect();
                    if let Some(node) = node {
                        self.assign(node, Thing::array(taken), environment)?;
                    }
                }
            }
        }
        Ok(())
    }
}
