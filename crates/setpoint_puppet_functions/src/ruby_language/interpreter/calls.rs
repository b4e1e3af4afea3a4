//! Calls, blocks and their parameters.

use std::rc::Rc;
use std::sync::Arc;

use setpoint_puppet_values::{Data, Value};

use super::blocks::RubyBlock;
use super::{Flow, Interpreter, Result, argument_error, beyond};
use crate::ruby_language::ast::{Block, Call, Parameter, Parameters, Super};
use crate::ruby_language::classes::{Class, Instance, Method, MethodKind};
use crate::ruby_language::things::{Closure, Environment, Frame, Seen, Thing};
use crate::ruby_language::{RubyFailure, lexer, methods, parser, template};
use crate::{Caller, FailureKind, Stop};

impl Interpreter<'_, '_, '_> {
    pub(super) fn call(&mut self, call: &Call, environment: &Rc<Environment>) -> Result<Thing> {
        let receiver = match &call.receiver {
            Some(receiver) => Some(self.run(receiver, environment)?),
            None => None,
        };
        if call.safe && matches!(receiver, Some(Thing::Nil)) {
            return Ok(Thing::Nil);
        }
        let arguments = self.all(&call.arguments, environment)?;
        let block = match (&call.block, &call.block_argument) {
            (Some(block), _) => Some(Thing::Lambda(Rc::new(Closure {
                block: Arc::clone(block),
                environment: Rc::clone(environment),
                is_lambda: block.is_lambda,
            }))),
            (None, Some(argument)) => match self.run(argument, environment)? {
                Thing::Nil => None,
                block => Some(block),
            },
            (None, None) => None,
        };
        self.line = call.line;
        let depth = self.depth;
        let result = match &receiver {
            None => self.call_own(&call.name, arguments, block.as_ref(), environment),
            Some(receiver) => methods::call(self, receiver, &call.name, arguments, block.as_ref()),
        };
        match result {
            // `break` ends the call whose block it stands in.
            Err(Flow::Break(value)) if call.block.is_some() => {
                self.depth = depth;
                Ok(value)
            }
            other => other,
        }
    }

    /// A method of the object itself, of the file, or of Ruby's kernel.
    pub(super) fn call_own(
        &mut self,
        name: &str,
        arguments: Vec<Thing>,
        block: Option<&Thing>,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let this = environment.frame.this.clone();
        match &this {
            Thing::Object(object) => {
                if let Thing::Class(class) = &object.class()
                    && let Some((owner, method)) = class.find(name)
                {
                    return self.invoke(&this, &owner, &method, arguments, block);
                }
            }
            Thing::Class(class) => {
                if let Some((owner, method)) = class.find_own(name) {
                    return self.invoke(&this, &owner, &method, arguments, block);
                }
            }
            _ => {}
        }
        let of_file = self.top.methods.borrow().get(name).cloned();
        if let Some(method) = of_file {
            let top = Rc::clone(&self.top);
            return self.invoke(&this, &top, &method, arguments, block);
        }
        methods::kernel(self, name, arguments, block, environment)
    }

    pub(super) fn has_own_method(&self, name: &str, environment: &Rc<Environment>) -> bool {
        let class = self.definee(environment);
        class.find(name).is_some() || self.top.methods.borrow().contains_key(name)
    }

    /// Runs a method of the program.
    pub(crate) fn invoke(
        &mut self,
        this: &Thing,
        owner: &Rc<Class>,
        method: &Rc<Method>,
        arguments: Vec<Thing>,
        block: Option<&Thing>,
    ) -> Result<Thing> {
        match &method.kind {
            MethodKind::Code(code) => {
                let id = self.new_frame_id();
                let frame = Frame {
                    this: this.clone(),
                    block: block.cloned(),
                    id,
                    nesting: method.nesting.clone(),
                    method: Some((Rc::clone(owner), Arc::clone(&method.name))),
                    arguments: arguments.clone(),
                };
                let environment = Environment::new(Rc::new(frame));
                self.bind_strictly(code, arguments, block, &environment)?;
                let depth = self.depth;
                match self.run(&code.body, &environment) {
                    Err(Flow::Return(value, from)) if from == id => {
                        self.depth = depth;
                        Ok(value)
                    }
                    other => other,
                }
            }
            MethodKind::Closure(closure) => self.call_block_as(closure, arguments, Some(this.clone()), true),
            MethodKind::Delegate(to, method) => {
                let to = match (to.strip_prefix('@'), this) {
                    (Some(variable), Thing::Object(object)) => {
                        object.variables.borrow().get(variable).cloned().unwrap_or(Thing::Nil)
                    }
                    (Some(_), _) => return beyond("it delegates from a class"),
                    (None, this) => methods::call(self, this, to, Vec::new(), None)?,
                };
                methods::call(self, &to, method, arguments, block)
            }
            MethodKind::Reader(name) => match this {
                Thing::Object(object) => {
                    Ok(object.variables.borrow().get(name).cloned().unwrap_or(Thing::Nil))
                }
                Thing::Class(class) => Ok(class.variables.borrow().get(name).cloned().unwrap_or(Thing::Nil)),
                _ => Ok(Thing::Nil),
            },
            MethodKind::Writer(name) => {
                let value = arguments.first().cloned().unwrap_or(Thing::Nil);
                match this {
                    Thing::Object(object) => {
                        object.variables.borrow_mut().insert(Arc::clone(name), value.clone());
                    }
                    Thing::Class(class) => {
                        class.variables.borrow_mut().insert(Arc::clone(name), value.clone());
                    }
                    _ => {}
                }
                Ok(value)
            }
        }
    }

    pub(super) fn call_super(&mut self, call: &Super, environment: &Rc<Environment>) -> Result<Thing> {
        let Some((owner, name)) = environment.frame.method.clone() else {
            return beyond("it calls super outside of a method");
        };
        let arguments = match &call.arguments {
            Some(arguments) => self.all(arguments, environment)?,
            None => environment.frame.arguments.clone(),
        };
        self.line = call.line;
        let this = environment.frame.this.clone();
        let line = match &this {
            Thing::Object(object) => match object.class() {
                Thing::Class(class) => class.lineage(),
                _ => Vec::new(),
            },
            Thing::Class(class) => {
                return self.call_super_of_class(class, &owner, &name, arguments, environment);
            }
            _ => return beyond("it calls super of a value"),
        };
        let mut later = line.into_iter().skip_while(|class| !Rc::ptr_eq(class, &owner)).skip(1);
        let found = later.find_map(|class| {
            let method = class.methods.borrow().get(&name).cloned()?;
            Some((class, method))
        });
        if let Some((class, method)) = found {
            let block = environment.frame.block.clone();
            return self.invoke(&this, &class, &method, arguments, block.as_ref());
        }
        match (&*name, arguments.as_slice()) {
            ("initialize", _) => {
                return Ok(self.error_message(&this, &owner, &arguments).unwrap_or(Thing::Nil));
            }
            ("method_missing", [method, ..]) => {
                let message = format!("undefined method `{}' for {}", method.to_s(), this.inspect());
                return super::raise("NoMethodError", message);
            }
            ("respond_to_missing?", _) => return Ok(Thing::Bool(false)),
            ("message" | "to_s", []) => {
                if let Thing::Object(object) = &this
                    && object.is_error()
                {
                    return Ok(Thing::text(object.message()));
                }
            }
            _ => {}
        }
        beyond(format!("it calls {name} of what its class inherits from"))
    }

    /// `super` in a method of a class itself.
    fn call_super_of_class(
        &mut self,
        class: &Rc<Class>,
        owner: &Rc<Class>,
        name: &Arc<str>,
        arguments: Vec<Thing>,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let this = Thing::Class(Rc::clone(class));
        let block = environment.frame.block.clone();
        let mut later = class.lineage().into_iter().skip_while(|one| !Rc::ptr_eq(one, owner)).skip(1);
        let found = later.find_map(|one| {
            let method = one.own_methods.borrow().get(name).cloned()?;
            Some((one, method))
        });
        match (found, &**name) {
            (Some((one, method)), _) => self.invoke(&this, &one, &method, arguments, block.as_ref()),
            (None, "new") => self.instantiate(class, arguments, block.as_ref()),
            (None, "inherited" | "included" | "extended" | "method_added") => Ok(Thing::Nil),
            (None, "respond_to_missing?") => Ok(Thing::Bool(false)),
            (None, _) => beyond(format!("it calls {name} of what its class inherits from")),
        }
    }

    /// A class or module that no constant names yet: `Class.new(parent) { … }`.
    pub(crate) fn new_class(
        &mut self,
        is_module: bool,
        parent: Option<Thing>,
        block: Option<&Thing>,
    ) -> Result<Thing> {
        Self::check_parent(parent.as_ref())?;
        let class = Class::new("", is_module, parent.clone());
        self.made.keep(&class);
        if let Some(Thing::Class(parent)) = &parent {
            methods::told(self, parent, "inherited", Thing::Class(Rc::clone(&class)))?;
        }
        let this = Thing::Class(Rc::clone(&class));
        if let Some(block) = block {
            self.call_block_as(block, vec![this.clone()], Some(this.clone()), false)?;
        }
        Ok(this)
    }

    /// Calls a block, a lambda, a method or a symbol.
    pub(crate) fn call_block(&mut self, block: &Thing, arguments: Vec<Thing>) -> Result<Thing> {
        self.call_block_as(block, arguments, None, false)
    }

    /// The same with another `self`, or as a lambda.
    pub(crate) fn call_block_as(
        &mut self,
        block: &Thing,
        arguments: Vec<Thing>,
        this: Option<Thing>,
        as_lambda: bool,
    ) -> Result<Thing> {
        match block {
            Thing::Lambda(closure) => self.call_closure(closure, arguments, this, as_lambda),
            Thing::Native(native) => {
                let native = Rc::clone(native);
                native(self, arguments)
            }
            Thing::Method(method) => methods::call(self, &method.0, &method.1, arguments, None),
            Thing::Symbol(name) => {
                let mut arguments = arguments.into_iter();
                let Some(receiver) = arguments.next() else { return argument_error("no receiver given") };
                methods::call(self, &receiver, name, arguments.collect(), None)
            }
            Thing::Block => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in &arguments {
                    values.push(self.value_for_puppet(argument)?);
                }
                match self.context.call_block(values) {
                    Ok(value) => self.known(&value, "the block"),
                    Err(stop) => Err(Flow::Failure(RubyFailure::Stopped(stop))),
                }
            }
            Thing::Hash(_) => {
                let key = arguments.into_iter().next().unwrap_or(Thing::Nil);
                methods::call(self, block, "[]", vec![key], None)
            }
            Thing::Object(_) => {
                let block = methods::call(self, block, "to_proc", Vec::new(), None)?;
                match &block {
                    Thing::Object(_) => super::type_error("can't convert to Proc"),
                    block => self.call_block_as(block, arguments, this, as_lambda),
                }
            }
            other => super::type_error(format!("wrong argument type {} (expected Proc)", other.class())),
        }
    }

    fn call_closure(
        &mut self,
        closure: &Rc<Closure>,
        arguments: Vec<Thing>,
        this: Option<Thing>,
        as_lambda: bool,
    ) -> Result<Thing> {
        let outer = &closure.environment;
        let is_lambda = as_lambda || closure.is_lambda;
        let frame = if is_lambda || this.is_some() {
            let class = match &this {
                Some(Thing::Class(class)) => Some(Rc::clone(class)),
                _ => None,
            };
            let mut nesting = outer.frame.nesting.clone();
            if let Some(class) = class {
                nesting.insert(0, class);
            }
            Rc::new(Frame {
                this: this.unwrap_or_else(|| outer.frame.this.clone()),
                block: outer.frame.block.clone(),
                id: if is_lambda { self.new_frame_id() } else { outer.frame.id },
                nesting,
                method: outer.frame.method.clone(),
                arguments: outer.frame.arguments.clone(),
            })
        } else {
            Rc::clone(&outer.frame)
        };
        let id = frame.id;
        let environment = Environment::inside(outer, frame);
        if closure.is_lambda {
            self.bind_strictly(&closure.block, arguments, None, &environment)?;
        } else {
            self.bind_block(&closure.block.parameters, arguments, &environment)?;
        }
        let depth = self.depth;
        match self.run(&closure.block.body, &environment) {
            Err(Flow::Next(value)) => {
                self.depth = depth;
                Ok(value)
            }
            // Of a lambda it ends the lambda, not the call that it was given to.
            Err(Flow::Break(value)) if closure.is_lambda => {
                self.depth = depth;
                Ok(value)
            }
            Err(Flow::Return(value, from)) if is_lambda && from == id => {
                self.depth = depth;
                Ok(value)
            }
            other => other,
        }
    }

    /// A single array is spread over several parameters.
    fn bind_block(
        &mut self,
        parameters: &Parameters,
        arguments: Vec<Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let positional = parameters.list.iter().filter(|parameter| {
            matches!(
                parameter,
                Parameter::Name(_) | Parameter::Optional(..) | Parameter::Rest(_) | Parameter::Pattern(_)
            )
        });
        let count = positional.count();
        let only_rest = count == 1 && matches!(parameters.list.first(), Some(Parameter::Rest(_)));
        let several = count > 1 || count == 1 && !only_rest && parameters.trailing_comma;
        match arguments.as_slice() {
            [Thing::Array(list)] if several => {
                let items = list.items.borrow().clone();
                self.bind(&parameters.list, items, None, environment)
            }
            _ => self.bind(&parameters.list, arguments, None, environment),
        }
    }

    /// The number of arguments is checked.
    fn bind_strictly(
        &mut self,
        block: &Block,
        arguments: Vec<Thing>,
        given_block: Option<&Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let list = &block.parameters.list;
        let (least, most) = arity(list);
        let has_keywords = list
            .iter()
            .any(|parameter| matches!(parameter, Parameter::Keyword(..) | Parameter::KeywordRest(Some(_))));
        let takes_keywords = has_keywords && arguments.len() > least && is_keywords(arguments.last());
        let given = arguments.len() - usize::from(takes_keywords);
        if given < least || most.is_some_and(|most| given > most) {
            let expected = match most {
                Some(most) if most == least => least.to_string(),
                Some(most) => format!("{least}..{most}"),
                None => format!("{least}+"),
            };
            return argument_error(format!("wrong number of arguments (given {given}, expected {expected})"));
        }
        self.bind(list, arguments, given_block, environment)
    }

    fn bind(
        &mut self,
        list: &[Parameter],
        mut arguments: Vec<Thing>,
        given_block: Option<&Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let (least, _) = arity(list);
        let has_keywords = list
            .iter()
            .any(|parameter| matches!(parameter, Parameter::Keyword(..) | Parameter::KeywordRest(_)));
        let mut keywords = None;
        if has_keywords && arguments.len() > least && is_keywords(arguments.last()) {
            keywords = arguments.pop();
        }
        let mut keywords = match keywords {
            Some(Thing::Hash(map)) => map.table.borrow().clone(),
            _ => methods::new_table(),
        };
        let required_after = |at: usize| {
            list[at + 1..]
                .iter()
                .filter(|parameter| matches!(parameter, Parameter::Name(_) | Parameter::Pattern(_)))
                .count()
        };
        let mut arguments = arguments.into_iter();
        for (at, parameter) in list.iter().enumerate() {
            match parameter {
                Parameter::Name(name) => environment.own(name, arguments.next().unwrap_or(Thing::Nil)),
                Parameter::Optional(name, default) => {
                    let value = if arguments.len() > required_after(at) { arguments.next() } else { None };
                    let value = match value {
                        Some(value) => value,
                        None => self.run(default, environment)?,
                    };
                    environment.own(name, value);
                }
                Parameter::Rest(name) => {
                    let count = arguments.len().saturating_sub(required_after(at));
                    let rest = Thing::array(arguments.by_ref().take(count).collect());
                    if let Some(name) = name {
                        environment.own(name, rest);
                    }
                }
                Parameter::Pattern(inner) => {
                    let value = arguments.next().unwrap_or(Thing::Nil);
                    self.bind(inner, methods::spread(&value), None, environment)?;
                }
                Parameter::Keyword(name, default) => {
                    let given = keywords.shift_remove(&Thing::Symbol(Arc::clone(name)).identity());
                    let value = match (given, default) {
                        (Some((_, value)), _) => value,
                        (None, Some(default)) => self.run(default, environment)?,
                        (None, None) => return argument_error(format!("missing keyword: :{name}")),
                    };
                    environment.own(name, value);
                }
                Parameter::KeywordRest(name) => {
                    if let Some(name) = name {
                        environment.own(name, Thing::table(std::mem::take(&mut keywords)));
                    } else {
                        keywords.clear();
                    }
                }
                Parameter::Block(name) => environment.own(name, given_block.cloned().unwrap_or(Thing::Nil)),
                Parameter::Local(name) => environment.own(name, Thing::Nil),
            }
        }
        if has_keywords && let Some((key, _)) = keywords.values().next() {
            return argument_error(format!("unknown keyword: {}", key.inspect()));
        }
        Ok(())
    }

    /// A value as Puppet has it.
    pub(crate) fn value_for_puppet(&mut self, thing: &Thing) -> Result<Value> {
        match thing.to_value() {
            Some(_) if thing.has_symbol() => beyond("it gives Puppet a symbol"),
            Some(value) => Ok(self.context.explained_part(value)),
            None => beyond("it gives Puppet something that Puppet does not know"),
        }
    }

    /// A value that is kept for later calls. Ruby would have the thing itself, and see what is changed in it.
    pub(crate) fn kept(&mut self, value: &Value) -> Result<Thing> {
        let thing = self.known(value, "what was kept for later calls")?;
        self.keep(&thing, value);
        Ok(thing)
    }

    pub(crate) fn keep(&mut self, thing: &Thing, value: &Value) {
        if !value.is_undef() {
            self.kept.push((thing.clone(), value.clone()));
        }
    }

    /// Refuses a run that changed in place what is kept for later calls.
    pub(crate) fn check_kept(&self) -> std::result::Result<(), RubyFailure> {
        let is_changed =
            |(thing, value): &(Thing, Value)| thing.to_value().is_none_or(|after| after.data != value.data);
        if self.kept.iter().any(is_changed) {
            return Err(self.beyond("it changes in place what it keeps for later calls"));
        }
        Ok(())
    }

    fn known(&mut self, value: &Value, what: &str) -> Result<Thing> {
        if value.unknown_part().is_some() {
            return beyond(format!("{what} gives a value that is not known"));
        }
        self.context.note(value);
        Ok(Thing::from_value(value))
    }

    /// An argument as functions of the older interface get it: a reference is an object that says its type and title.
    pub(crate) fn old_argument(&mut self, value: &Value) -> Result<Thing> {
        if let Some(object) = methods::reference(self, value)? {
            return Ok(object);
        }
        Ok(match &value.data {
            Data::Array(items) => {
                let items = items.iter().map(|item| self.old_argument(item));
                Thing::array(items.collect::<Result<_>>()?)
            }
            Data::Hash(entries) => {
                let pairs = entries
                    .iter()
                    .map(|(key, entry)| Ok((Thing::from_value(&key.0), self.old_argument(entry)?)));
                Thing::pairs(pairs.collect::<Result<Vec<_>>>()?)
            }
            _ => Thing::from_value(value),
        })
    }

    /// Calls a function of Puppet's older interface.
    pub(crate) fn call_legacy_function(&mut self, name: &str, arguments: &[Thing]) -> Result<Thing> {
        if self.is_template {
            return self.call_function(name, arguments, None);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match argument {
                Thing::Symbol(name) if &**name != "undef" => Value::from(&**name),
                other => self.value_for_puppet(other)?,
            });
        }
        match self.context.call_legacy_function(name, values) {
            Ok(value) => self.known(&value, &format!("the function {name}")),
            Err(stop) => Err(Flow::Failure(RubyFailure::Stopped(stop))),
        }
    }

    /// Calls a function of Puppet.
    pub(crate) fn call_function(
        &mut self,
        name: &str,
        arguments: &[Thing],
        block: Option<&Thing>,
    ) -> Result<Thing> {
        if name == "template" && self.is_template {
            return self.templates(arguments);
        }
        // A file may bring several functions of the older interface.
        if let Some(sibling) = self.legacy.iter().find(|known| known.name == name).cloned() {
            let scope = Thing::Scope(Seen::ByCaller);
            let arguments = vec![Thing::array(arguments.to_vec())];
            let result = self.call_block_as(&sibling.block, arguments, Some(scope), true)?;
            return Ok(if sibling.is_value { result } else { Thing::Nil });
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                // Ruby's symbols among arguments of functions are mostly `:undef`.
                Thing::Symbol(name) if self.is_template => values.push(Value::from(&**name)),
                other => values.push(self.value_for_puppet(other)?),
            }
        }
        let result = match block {
            None => self.context.call_function(name, values),
            Some(Thing::Block) => self.context.call_function_with_block(name, values),
            Some(block) => {
                let block = RubyBlock::new(self, block)?;
                let span = self.context.span();
                let call = crate::Call { name: name.into(), arguments: values, block: Some(&block), span };
                let result = self.context.host.call_function(call);
                if let Some(failure) = block.failure.take() {
                    return Err(Flow::Failure(failure));
                }
                result
            }
        };
        match result {
            Ok(value) => self.known(&value, &format!("the function {name}")),
            Err(Stop::Error(mut failure)) => {
                // Puppet names the function that calls.
                if let Some(definition) = self.definitions.last()
                    && let FailureKind::UnknownFunction { name: unknown, caller, .. } = &mut failure.kind
                    && unknown.as_str() == name
                {
                    *caller = Caller::RubyFunction(definition.name.clone());
                }
                Err(Flow::Failure(RubyFailure::Stopped(Stop::Error(failure))))
            }
            Err(stop) => Err(Flow::Failure(RubyFailure::Stopped(stop))),
        }
    }

    /// Other templates in the same scope.
    fn templates(&mut self, names: &[Thing]) -> Result<Thing> {
        let outer = std::mem::take(&mut self.out);
        for name in names {
            let name = name.to_s();
            if self.context.host.is_outside("templates", &name) {
                return beyond(format!(
                    "it reads {name}, which lies outside of the environment and its modules"
                ));
            }
            let Some(path) = self.context.host.module_file("templates", &name) else {
                return super::raise("Puppet::ParseError", format!("Could not find template '{name}'"));
            };
            let text = match setpoint_source::read_text(self.context.host.files(), &path) {
                Ok(text) => text,
                Err(error) => return super::raise("Puppet::ParseError", error.to_string()),
            };
            self.context.host.file_read(&path, &text);
            let program = parser::parse(template::template(&text)?)?;
            let environment = self.new_environment(Thing::Nil);
            self.run(&program, &environment)?;
        }
        Ok(Thing::text(std::mem::replace(&mut self.out, outer)))
    }

    /// `require 'puppet_x/…'`: code of a module is run, and what Ruby itself has is there.
    pub(crate) fn require(&mut self, name: &str) -> Result<Thing> {
        let Some(path) = self.context.host.library_file(name) else {
            if is_of_ruby(name) || name == "puppet_x" {
                return Ok(Thing::Bool(true));
            }
            return beyond(format!("it requires {name}"));
        };
        self.load(path)
    }

    pub(crate) fn load(&mut self, path: std::path::PathBuf) -> Result<Thing> {
        if !self.required.insert(path.clone()) {
            return Ok(Thing::Bool(false));
        }
        if self.required.len() > 200 {
            return beyond("it requires too many files");
        }
        let text = match setpoint_source::read_text(self.context.host.files(), &path) {
            Ok(text) => text,
            Err(_) => return beyond(format!("it requires {}", path.display())),
        };
        self.context.host.file_read(&path, &text);
        let place = |mut beyond: crate::ruby_language::Beyond| {
            beyond.file = Some(path.clone());
            beyond
        };
        let program = parser::parse(lexer::lex(&text, 1).map_err(place)?).map_err(place)?;
        let outer = self.file.replace(path.clone());
        let around = std::mem::take(&mut self.around);
        let line = self.line;
        let environment = self.new_environment(Thing::Nil);
        self.run(&program, &environment)?;
        self.file = outer;
        self.around = around;
        self.line = line;
        Ok(Thing::Bool(true))
    }

    /// An instance of a class of the program.
    pub(crate) fn instantiate(
        &mut self,
        class: &Rc<Class>,
        arguments: Vec<Thing>,
        block: Option<&Thing>,
    ) -> Result<Thing> {
        if let Some((owner, method)) = class.find("initialize") {
            let object = Instance::new(Thing::Class(Rc::clone(class)));
            self.remember_particular(class, &object);
            let this = Thing::Object(object);
            self.invoke(&this, &owner, &method, arguments, block)?;
            return Ok(this);
        }
        if class.foreign_parent().is_some_and(|parent| crate::ruby_language::classes::is_error_class(&parent))
        {
            return self.new_error(Thing::Class(Rc::clone(class)), &arguments);
        }
        if !arguments.is_empty() {
            return argument_error(format!(
                "wrong number of arguments (given {}, expected 0)",
                arguments.len()
            ));
        }
        let object = Instance::new(Thing::Class(Rc::clone(class)));
        self.remember_particular(class, &object);
        Ok(Thing::Object(object))
    }

    fn remember_particular(&mut self, class: &Rc<Class>, object: &Rc<Instance>) {
        if class.find("hash").is_some() || class.find("eql?").is_some() {
            self.particular.push(Rc::clone(object));
        }
    }
}

/// The least and the greatest number of arguments without keywords.
pub(crate) fn arity(list: &[Parameter]) -> (usize, Option<usize>) {
    let mut least = 0;
    let mut most = Some(0);
    for parameter in list {
        match parameter {
            Parameter::Name(_) | Parameter::Pattern(_) => {
                least += 1;
                most = most.map(|most| most + 1);
            }
            Parameter::Optional(..) => most = most.map(|most| most + 1),
            Parameter::Rest(_) => most = None,
            _ => {}
        }
    }
    (least, most)
}

fn is_keywords(argument: Option<&Thing>) -> bool {
    match argument {
        Some(Thing::Hash(map)) => {
            let table = map.table.borrow();
            table.values().all(|(key, _)| matches!(key, Thing::Symbol(_)))
        }
        _ => false,
    }
}

/// Libraries of Ruby and of Puppet: what of them is known is known without reading them.
fn is_of_ruby(name: &str) -> bool {
    let first = name.split('/').next().unwrap_or(name);
    matches!(
        first,
        "json"
            | "yaml"
            | "psych"
            | "digest"
            | "base64"
            | "set"
            | "uri"
            | "ipaddr"
            | "shellwords"
            | "time"
            | "date"
            | "securerandom"
            | "erb"
            | "cgi"
            | "openssl"
            | "tempfile"
            | "tmpdir"
            | "fileutils"
            | "pathname"
            | "net"
            | "socket"
            | "open3"
            | "etc"
            | "benchmark"
            | "bigdecimal"
            | "matrix"
            | "ostruct"
            | "forwardable"
            | "singleton"
            | "delegate"
            | "English"
            | "puppet"
            | "facter"
            | "semantic_puppet"
            | "hiera"
            | "rubygems"
            | "zlib"
            | "stringio"
            | "strscan"
            | "timeout"
            | "resolv"
            | "rexml"
            | "csv"
            | "logger"
            | "pp"
            | "open-uri"
            | "optparse"
            | "prime"
            | "racc"
            | "strptime"
            | "scanf"
            | "io"
            | "rbconfig"
            | "monitor"
            | "mutex_m"
    )
}
