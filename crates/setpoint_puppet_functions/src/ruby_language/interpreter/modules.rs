//! Constants, classes, modules and definitions of methods.

use std::rc::Rc;
use std::sync::Arc;

use super::{Interpreter, Result, beyond, raise};
use crate::ruby_language::ast::{ClassNode, Define, Node};
use crate::ruby_language::classes::{self, Class, Method, MethodKind};
use crate::ruby_language::things::{Environment, Frame, Thing};
use crate::ruby_language::{library, methods};

impl Interpreter<'_, '_, '_> {
    /// The class that `def` and constants belong to here.
    pub(super) fn definee(&self, environment: &Rc<Environment>) -> Rc<Class> {
        match &environment.frame.this {
            Thing::Class(class) => Rc::clone(class),
            Thing::Object(object) => match object.plain_class() {
                Thing::Class(class) => class,
                _ => Rc::clone(&self.top),
            },
            _ => environment.frame.nesting.first().map_or_else(|| Rc::clone(&self.top), Rc::clone),
        }
    }

    pub(super) fn constant(&mut self, name: &Arc<str>, environment: &Rc<Environment>) -> Result<Thing> {
        for class in &environment.frame.nesting {
            if let Some(found) = class.constants.borrow().get(name) {
                return Ok(found.clone());
            }
        }
        for class in self.definee(environment).lineage() {
            if let Some(found) = class.constants.borrow().get(name) {
                return Ok(found.clone());
            }
        }
        if let Some(found) = self.top.constants.borrow().get(name) {
            return Ok(found.clone());
        }
        if let Thing::Constant(outer) = &environment.frame.this
            && let Some(found) = self.top.constants.borrow().get(&*format!("{outer}::{name}"))
        {
            return Ok(found.clone());
        }
        if &**name == "RUBY_VERSION" {
            // That of the server's JRuby.
            let version = if self.context.host.puppet_version() < 8 { "2.6.8" } else { "3.1.4" };
            return Ok(Thing::text(version));
        }
        if let Some(library) = library::written_in_ruby(name) {
            return self.library_class(library, name);
        }
        Self::foreign_constant(name)
    }

    /// The same by its name.
    pub(crate) fn library_constant(&mut self, name: &str) -> Result<Thing> {
        match library::written_in_ruby(name) {
            Some(library) => self.library_class(library, name),
            None => beyond(format!("it uses {name}")),
        }
    }

    /// A class of a library of Ruby that is written in Ruby here, and run when somebody first asks for it.
    fn library_class(&mut self, library: (&'static str, &'static str), name: &str) -> Result<Thing> {
        if self.libraries.insert(library.0) {
            let around = std::mem::take(&mut self.around);
            let file = self.file.take();
            let result = self.run_text(library.1);
            self.file = file;
            self.around = around;
            result?;
        }
        let found = self.top.constants.borrow().get(name).cloned();
        found.map_or_else(|| Self::foreign_constant(name), Ok)
    }

    /// A constant of Ruby, or of something that is not known.
    fn foreign_constant(name: &str) -> Result<Thing> {
        let in_capitals = !name.chars().any(char::is_lowercase) && name.len() > 1;
        if in_capitals && !classes::is_module_in_capitals(name) {
            return beyond(format!("it uses the constant {name}"));
        }
        Ok(Thing::Constant(name.into()))
    }

    pub(super) fn scoped(
        &mut self,
        outer: Option<&Node>,
        name: &Arc<str>,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let Some(outer) = outer else {
            if let Some(found) = self.top.constants.borrow().get(name) {
                return Ok(found.clone());
            }
            if let Some(library) = library::written_in_ruby(name) {
                return self.library_class(library, name);
            }
            return Self::foreign_constant(name);
        };
        match self.run(outer, environment)? {
            Thing::Class(class) => {
                for class in class.lineage() {
                    if let Some(found) = class.constants.borrow().get(name) {
                        return Ok(found.clone());
                    }
                }
                let file_type = "PuppetFileType";
                if &*class.name() == "Puppet::Type" && &**name == "File" {
                    return Ok(self.top.constants.borrow().get(file_type).cloned().unwrap_or(Thing::Nil));
                }
                // Puppet has more than is written here.
                if class.foreign_parent().is_some() || class.name().starts_with("Puppet::") {
                    return beyond(format!("it uses {}::{name}", class.name()));
                }
                raise("NameError", format!("uninitialized constant {}::{name}", class.name()))
            }
            Thing::Constant(outer) => {
                let full = format!("{outer}::{name}");
                if let Some(found) = self.top.constants.borrow().get(full.as_str()) {
                    return Ok(found.clone());
                }
                Ok(match full.as_str() {
                    "Float::INFINITY" => Thing::Float(f64::INFINITY),
                    "Float::NAN" => Thing::Float(f64::NAN),
                    "Float::MAX" => Thing::Float(f64::MAX),
                    "Float::EPSILON" => Thing::Float(f64::EPSILON),
                    "Math::PI" => Thing::Float(std::f64::consts::PI),
                    "File::SEPARATOR" | "File::Separator" => Thing::text("/"),
                    "File::PATH_SEPARATOR" => Thing::text(":"),
                    "Regexp::IGNORECASE" => Thing::Integer(1),
                    "Regexp::EXTENDED" => Thing::Integer(2),
                    "Regexp::MULTILINE" => Thing::Integer(4),
                    "Socket::AF_INET" => Thing::Integer(2),
                    "Socket::AF_INET6" => Thing::Integer(10),
                    "IPAddr::IN4MASK" => Thing::Integer(0xffff_ffff),
                    _ => {
                        let last_in_capitals = !name.chars().any(char::is_lowercase) && name.len() > 1;
                        let is_class = classes::is_known(&full)
                            || matches!(
                                &*outer,
                                "Digest" | "URI" | "JSON" | "OpenSSL" | "OpenSSL::Digest" | "Net"
                            );
                        if last_in_capitals && !is_class {
                            return beyond(format!("it uses the constant {full}"));
                        }
                        Thing::Constant(full.into())
                    }
                })
            }
            other => raise("TypeError", format!("{} is not a class/module", other.inspect())),
        }
    }

    /// Refuses to inherit from a class of Ruby that is not known as a parent.
    pub(super) fn check_parent(parent: Option<&Thing>) -> Result<()> {
        match parent {
            Some(Thing::Constant(parent))
                if !classes::is_error_class(classes::canonical(parent))
                    && !matches!(&**parent, "Object" | "BasicObject") =>
            {
                beyond(format!("it inherits from {parent}"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn define(&mut self, define: &Define, environment: &Rc<Environment>) -> Result<Thing> {
        let method = Rc::new(Method {
            name: Arc::clone(&define.name),
            kind: MethodKind::Code(Arc::clone(&define.block)),
            nesting: environment.frame.nesting.clone(),
        });
        let single = match &define.of {
            Some(of) => Some(self.run(of, environment)?),
            None if define.of_self => Some(environment.frame.this.clone()),
            None => None,
        };
        match &single {
            Some(Thing::Object(object)) => {
                object.singleton().methods.borrow_mut().insert(Arc::clone(&define.name), method);
                return Ok(Thing::Symbol(Arc::clone(&define.name)));
            }
            Some(Thing::Class(class)) => {
                class.own_methods.borrow_mut().insert(Arc::clone(&define.name), method);
                return Ok(Thing::Symbol(Arc::clone(&define.name)));
            }
            Some(_) if define.of.is_some() => return beyond("it defines a method of a value"),
            _ => {}
        }
        let class = self.definee(environment);
        if define.of_self || environment.frame.method.as_ref().is_some_and(|(_, name)| &**name == "<<self") {
            class.own_methods.borrow_mut().insert(Arc::clone(&define.name), method);
        } else {
            if class.module_function.get() {
                class.own_methods.borrow_mut().insert(Arc::clone(&define.name), Rc::clone(&method));
            }
            class.methods.borrow_mut().insert(Arc::clone(&define.name), method);
        }
        Ok(Thing::Symbol(Arc::clone(&define.name)))
    }

    pub(super) fn class(&mut self, node: &ClassNode, environment: &Rc<Environment>) -> Result<Thing> {
        let (owner, name) = match &node.path {
            Node::Constant(name) => match &environment.frame.this {
                Thing::Constant(outer) => (None, Arc::from(format!("{outer}::{name}"))),
                Thing::Class(class) => (Some(Rc::clone(class)), Arc::clone(name)),
                _ => (None, Arc::clone(name)),
            },
            Node::Scoped(Some(outer), name) => match self.run(outer, environment)? {
                Thing::Class(class) => (Some(class), Arc::clone(name)),
                Thing::Constant(outer) => (None, Arc::from(format!("{outer}::{name}"))),
                _ => return beyond("it opens an unusual module"),
            },
            Node::Scoped(None, name) => (None, Arc::clone(name)),
            _ => return beyond("it opens an unusual module"),
        };
        if owner.is_none() && classes::is_open_module(&name) {
            let environment = self.in_module(Thing::Constant(name), None, environment);
            return self.run(&node.body, &environment);
        }
        let is_foreign = owner.is_none() && !self.top.constants.borrow().contains_key(&name);
        let is_library = self.file.is_none() && library::written_in_ruby(&name).is_some();
        if is_foreign && !is_library && (classes::is_known(&name) || classes::is_module_in_capitals(&name)) {
            return beyond(format!("it changes {name}"));
        }
        let home = owner.clone().unwrap_or_else(|| Rc::clone(&self.top));
        let known = home.constants.borrow().get(&name).cloned();
        let class = match known {
            Some(Thing::Class(class)) => class,
            Some(_) => return raise("TypeError", format!("{name} is not a class")),
            None => {
                let parent = match &node.parent {
                    Some(parent) => Some(self.run(parent, environment)?),
                    None => None,
                };
                Self::check_parent(parent.as_ref())?;
                let full = match &owner {
                    Some(owner) => format!("{}::{name}", owner.name()),
                    None => format!("{}{name}", self.around),
                };
                let class = Class::new(&full, node.is_module, parent.clone());
                self.made.keep(&class);
                home.constants.borrow_mut().insert(name, Thing::Class(Rc::clone(&class)));
                if let Some(Thing::Class(parent)) = &parent {
                    methods::told(self, parent, "inherited", Thing::Class(Rc::clone(&class)))?;
                }
                class
            }
        };
        let environment = self.in_module(Thing::Class(Rc::clone(&class)), Some(class), environment);
        self.run(&node.body, &environment)
    }

    pub(super) fn singleton(&mut self, body: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        let Thing::Class(class) = &environment.frame.this else {
            return beyond("it opens a single object");
        };
        let id = self.new_frame_id();
        let frame = Frame {
            this: environment.frame.this.clone(),
            block: None,
            id,
            nesting: environment.frame.nesting.clone(),
            method: Some((Rc::clone(class), "<<self".into())),
            arguments: Vec::new(),
        };
        self.run(body, &Environment::new(Rc::new(frame)))
    }

    pub(super) fn in_module(
        &mut self,
        this: Thing,
        class: Option<Rc<Class>>,
        environment: &Rc<Environment>,
    ) -> Rc<Environment> {
        let id = self.new_frame_id();
        let mut nesting = environment.frame.nesting.clone();
        if let Some(class) = class {
            nesting.insert(0, class);
        }
        Environment::new(Rc::new(Frame {
            this,
            block: None,
            id,
            nesting,
            method: None,
            arguments: Vec::new(),
        }))
    }

    pub(super) fn alias(
        &mut self,
        new: &Arc<str>,
        old: &str,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let class = self.definee(environment);
        let Some((_, method)) = class.find(old) else {
            return beyond(format!("it gives {old} another name"));
        };
        class.methods.borrow_mut().insert(Arc::clone(new), method);
        Ok(Thing::Nil)
    }
}
