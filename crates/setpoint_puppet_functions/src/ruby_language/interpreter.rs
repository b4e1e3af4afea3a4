//! Walks the tree of a template and writes its text.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use setpoint_puppet_values::{Match, Regex, Value};

use super::ast::{Block, Call, Node, Parameter, Part};
use super::things::{Closure, Environment, Table, Thing, equal};
use super::{Beyond, Failure, lexer, methods, parser};
use crate::context::Context;

/// More steps are refused, so that every rendering ends.
const MOST_STEPS: u64 = 20_000_000;
/// Deeper calls are refused.
const DEEPEST: usize = 120;

pub(super) type Result<T> = std::result::Result<T, Flow>;

/// Why the walk does not go on.
pub(super) enum Flow {
    Failure(Failure),
    Next(Thing),
    Break(Thing),
    Return(Thing),
}

impl From<Beyond> for Flow {
    fn from(beyond: Beyond) -> Self {
        Self::Failure(Failure::Beyond(beyond))
    }
}

pub(super) fn beyond<T>(reason: impl Into<String>) -> Result<T> {
    Err(Beyond::new(reason).into())
}

pub(super) fn failed<T>(message: impl Into<String>) -> Result<T> {
    Err(Flow::Failure(Failure::Failed(message.into())))
}

pub(crate) fn render(context: &mut Context<'_, '_>, text: &str) -> std::result::Result<String, Failure> {
    let program = parser::parse(lexer::template(text).map_err(Failure::Beyond)?).map_err(Failure::Beyond)?;
    let mut interpreter = Interpreter {
        context,
        out: String::new(),
        instance: IndexMap::new(),
        loaded: Vec::new(),
        scope_variables: IndexMap::new(),
        methods: IndexMap::new(),
        last_match: None,
        steps: 0,
        depth: 0,
    };
    let environment = Rc::new(Environment::default());
    match interpreter.run(&program, &environment) {
        Ok(_) | Err(Flow::Next(_) | Flow::Return(_) | Flow::Break(_)) => {
            interpreter.report_changes();
            Ok(interpreter.out)
        }
        Err(Flow::Failure(failure)) => Err(failure),
    }
}

pub(super) struct Interpreter<'i, 'c, 'h> {
    pub(super) context: &'i mut Context<'c, 'h>,
    pub(super) out: String,
    /// `@name`, converted once so that changes in place stay.
    instance: IndexMap<Rc<str>, Thing>,
    /// What was read of the manifest's variables, as it was then.
    loaded: Vec<(Rc<str>, Thing, Value)>,
    /// What the template set in the scope.
    scope_variables: IndexMap<String, Thing>,
    methods: IndexMap<Rc<str>, Rc<Block>>,
    pub(super) last_match: Option<Rc<Match>>,
    steps: u64,
    depth: usize,
}

impl Interpreter<'_, '_, '_> {
    pub(super) fn run(&mut self, node: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return beyond("it takes too many steps");
        }
        self.depth += 1;
        if self.depth > DEEPEST * 8 {
            return beyond("it calls itself too deeply");
        }
        let result = self.walk(node, environment);
        self.depth -= 1;
        result
    }

    fn walk(&mut self, node: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        Ok(match node {
            Node::Nil => Thing::Nil,
            Node::Bool(flag) => Thing::Bool(*flag),
            Node::Integer(number) => Thing::Integer(*number),
            Node::Float(number) => Thing::Float(*number),
            Node::Symbol(name) => Thing::Symbol(Rc::clone(name)),
            Node::Text(parts) => Thing::text(self.text(parts, environment)?),
            Node::Regex(parts, flags) => {
                let source = self.text(parts, environment)?;
                Thing::Regex(regex(&source, flags)?)
            }
            Node::Array(items) => Thing::array(self.all(items, environment)?),
            Node::Hash(pairs) => {
                let mut table = Table::new();
                for (key, value) in pairs {
                    let key = self.run(key, environment)?;
                    let value = self.run(value, environment)?;
                    table.insert(key.identity(), (key, value));
                }
                Thing::table(table)
            }
            Node::Range(from, to, exclusive) => {
                match (self.run(from, environment)?, self.run(to, environment)?) {
                    (Thing::Integer(from), Thing::Integer(to)) => {
                        Thing::Range(from, to - i64::from(*exclusive))
                    }
                    _ => return beyond("it has a range of other things than integers"),
                }
            }
            Node::Instance(name) => self.instance(name),
            Node::Global(name) => self.global(name),
            Node::Name(name) => match environment.get(name) {
                Some(found) => found,
                None => self.call_own(name, Vec::new(), None)?,
            },
            Node::Constant(name) => Thing::Constant(name.as_str().into()),
            Node::Itself => return beyond("it uses self"),
            Node::Call(call) => self.call(call, environment)?,
            Node::Index(target, keys) => {
                let target = self.run(target, environment)?;
                let keys = self.all(keys, environment)?;
                methods::call(self, &target, "[]", keys, None)?
            }
            Node::Assign(target, value) => {
                let value = self.run(value, environment)?;
                self.assign(target, value.clone(), environment)?;
                value
            }
            Node::AssignAll(targets, value) => {
                let value = self.run(value, environment)?;
                let items = methods::to_array(&value);
                for (at, target) in targets.iter().enumerate() {
                    self.assign(target, items.get(at).cloned().unwrap_or(Thing::Nil), environment)?;
                }
                value
            }
            Node::Update(target, operation, value) => self.update(target, operation, value, environment)?,
            Node::And(left, right) => {
                let left = self.run(left, environment)?;
                if left.truth() { self.run(right, environment)? } else { left }
            }
            Node::Or(left, right) => {
                let left = self.run(left, environment)?;
                if left.truth() { left } else { self.run(right, environment)? }
            }
            Node::Not(operand) => Thing::Bool(!self.run(operand, environment)?.truth()),
            Node::If(condition, yes, no) => {
                let chosen = if self.run(condition, environment)?.truth() { yes } else { no };
                self.run(chosen, environment)?
            }
            Node::Case(subject, branches, otherwise) => {
                self.case(subject.as_deref(), branches, otherwise, environment)?
            }
            Node::While(condition, body, until) => {
                while self.run(condition, environment)?.truth() != *until {
                    match self.run(body, environment) {
                        Ok(_) | Err(Flow::Next(_)) => {}
                        Err(Flow::Break(value)) => return Ok(value),
                        Err(other) => return Err(other),
                    }
                }
                Thing::Nil
            }
            Node::For(parameters, items, body) => {
                let items = self.run(items, environment)?;
                for item in methods::to_array(&items) {
                    self.bind(parameters, vec![item], environment)?;
                    match self.run(body, environment) {
                        Ok(_) | Err(Flow::Next(_)) => {}
                        Err(Flow::Break(value)) => return Ok(value),
                        Err(other) => return Err(other),
                    }
                }
                items
            }
            Node::Begin { body, rescue } => match (self.run(body, environment), rescue) {
                (Err(Flow::Failure(Failure::Failed(message))), Some((name, otherwise))) => {
                    if let Some(name) = name {
                        environment.set(name, Thing::text(message));
                    }
                    self.run(otherwise, environment)?
                }
                (result, _) => result?,
            },
            Node::Define(name, block) => {
                self.methods.insert(Rc::clone(name), Rc::clone(block));
                Thing::Nil
            }
            Node::Lambda(block) => Thing::Lambda(Rc::new(Closure {
                block: Rc::clone(block),
                environment: Rc::clone(environment),
            })),
            Node::Next(value) => return Err(Flow::Next(self.optional(value.as_deref(), environment)?)),
            Node::Break(value) => return Err(Flow::Break(self.optional(value.as_deref(), environment)?)),
            Node::Return(value) => return Err(Flow::Return(self.optional(value.as_deref(), environment)?)),
            Node::Defined(operand) => self.defined(operand, environment),
            Node::Splat(_) => return beyond("it spreads an array in an unusual place"),
            Node::Sequence(nodes) => {
                let mut last = Thing::Nil;
                for node in nodes {
                    last = self.run(node, environment)?;
                }
                last
            }
            Node::Write(text) => {
                self.out.push_str(text);
                Thing::Nil
            }
            Node::Output(value) => {
                let text = self.run(value, environment)?.to_s();
                self.out.push_str(&text);
                Thing::Nil
            }
        })
    }

    fn optional(&mut self, node: Option<&Node>, environment: &Rc<Environment>) -> Result<Thing> {
        node.map_or(Ok(Thing::Nil), |node| self.run(node, environment))
    }

    /// Values of a list, with arrays after `*` spread out.
    fn all(&mut self, nodes: &[Node], environment: &Rc<Environment>) -> Result<Vec<Thing>> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            if let Node::Splat(inner) = node {
                let inner = self.run(inner, environment)?;
                values.extend(methods::to_array(&inner));
            } else {
                values.push(self.run(node, environment)?);
            }
        }
        Ok(values)
    }

    fn text(&mut self, parts: &[Part], environment: &Rc<Environment>) -> Result<String> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Code(node) => text.push_str(&self.run(node, environment)?.to_s()),
            }
        }
        Ok(text)
    }

    fn instance(&mut self, name: &Rc<str>) -> Thing {
        if let Some(known) = self.instance.get(name) {
            return known.clone();
        }
        let value = match self.context.host.variable(name) {
            Some(value) => {
                self.context.note(&value);
                let thing = Thing::from_value(&value);
                if matches!(thing, Thing::Array(_) | Thing::Hash(_)) {
                    self.loaded.push((Rc::clone(name), thing.clone(), value));
                }
                thing
            }
            None => Thing::Nil,
        };
        self.instance.insert(Rc::clone(name), value.clone());
        value
    }

    /// Arrays and hashes of the manifest that the template changed in place.
    fn report_changes(&mut self) {
        for (name, thing, before) in std::mem::take(&mut self.loaded) {
            if let Some(after) = thing.to_value().filter(|after| *after != before) {
                self.context.host.changed_in_place(&name, after.with(before.prov));
            }
        }
    }

    /// A variable of the manifest.
    pub(super) fn variable(&mut self, name: &str) -> Thing {
        if let Some(known) = self.scope_variables.get(name) {
            return known.clone();
        }
        match self.context.host.variable(name) {
            Some(value) => {
                self.context.note(&value);
                Thing::from_value(&value)
            }
            None => Thing::Nil,
        }
    }

    pub(super) fn set_scope_variable(&mut self, name: String, value: Thing) {
        self.scope_variables.insert(name, value);
    }

    fn global(&self, name: &str) -> Thing {
        let Some(found) = &self.last_match else { return Thing::Nil };
        if name == "~" {
            return Thing::Match(Rc::clone(found));
        }
        let group = name.parse::<usize>().ok().and_then(|number| found.group(number));
        group.map_or(Thing::Nil, Thing::text)
    }

    fn defined(&mut self, operand: &Node, environment: &Rc<Environment>) -> Thing {
        let known = match operand {
            // Every variable of the scope that has a value is there.
            Node::Instance(name) => !matches!(self.instance(name), Thing::Nil),
            Node::Name(name) => environment.get(name).is_some(),
            _ => true,
        };
        if known { Thing::text("expression") } else { Thing::Nil }
    }

    fn assign(&mut self, target: &Node, value: Thing, environment: &Rc<Environment>) -> Result<()> {
        match target {
            Node::Name(name) => environment.set(name, value),
            Node::Instance(name) => {
                self.instance.insert(Rc::clone(name), value);
            }
            Node::Index(of, keys) => {
                let of = self.run(of, environment)?;
                let mut arguments = self.all(keys, environment)?;
                arguments.push(value);
                methods::call(self, &of, "[]=", arguments, None)?;
            }
            _ => return beyond("it assigns to something unusual"),
        }
        Ok(())
    }

    fn update(
        &mut self,
        target: &Node,
        operation: &str,
        value: &Node,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let before = match target {
            Node::Name(name) => environment.get(name).unwrap_or(Thing::Nil),
            _ => self.run(target, environment)?,
        };
        let after = match operation {
            "||" if before.truth() => return Ok(before),
            "&&" if !before.truth() => return Ok(before),
            "||" | "&&" => self.run(value, environment)?,
            _ => {
                let operand = self.run(value, environment)?;
                methods::call(self, &before, operation, vec![operand], None)?
            }
        };
        self.assign(target, after.clone(), environment)?;
        Ok(after)
    }

    fn case(
        &mut self,
        subject: Option<&Node>,
        branches: &[(Vec<Node>, Node)],
        otherwise: &Node,
        environment: &Rc<Environment>,
    ) -> Result<Thing> {
        let subject = subject.map(|subject| self.run(subject, environment)).transpose()?;
        for (options, body) in branches {
            for option in self.all(options, environment)? {
                let fits = match &subject {
                    None => option.truth(),
                    Some(subject) => self.fits(&option, subject)?,
                };
                if fits {
                    return self.run(body, environment);
                }
            }
        }
        self.run(otherwise, environment)
    }

    /// `option === subject`
    pub(super) fn fits(&mut self, option: &Thing, subject: &Thing) -> Result<bool> {
        Ok(match option {
            Thing::Constant(class) => subject.is_a(class),
            Thing::Regex(regex) => match subject {
                Thing::Text(text) => self.find(regex, &text.borrow())?.is_some(),
                _ => false,
            },
            Thing::Range(from, to) => {
                matches!(subject, Thing::Integer(number) if (*from..=*to).contains(number))
            }
            _ => equal(option, subject),
        })
    }

    /// Matches, and remembers it for `$1`.
    pub(super) fn find(&mut self, regex: &Regex, text: &str) -> Result<Option<Rc<Match>>> {
        match regex.find(text, 0) {
            Ok(found) => {
                self.last_match = found.map(Rc::new);
                Ok(self.last_match.clone())
            }
            Err(error) => failed(error.message),
        }
    }

    fn call(&mut self, call: &Call, environment: &Rc<Environment>) -> Result<Thing> {
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
                block: Rc::clone(block),
                environment: Rc::clone(environment),
            }))),
            (None, Some(argument)) => Some(self.run(argument, environment)?),
            (None, None) => None,
        };
        let result = match (&receiver, &call.receiver) {
            (None, _) => self.call_own(&call.name, arguments, block.as_ref()),
            // `scope` is no variable but the scope of the manifest.
            (Some(receiver), _) => methods::call(self, receiver, &call.name, arguments, block.as_ref()),
        };
        match result {
            // `break` ends the call whose block it stands in.
            Err(Flow::Break(value)) if call.block.is_some() => Ok(value),
            other => other,
        }
    }

    /// A method of the template itself, or of Ruby's kernel.
    fn call_own(&mut self, name: &str, arguments: Vec<Thing>, block: Option<&Thing>) -> Result<Thing> {
        if let Some(method) = self.methods.get(name).cloned() {
            let environment = Rc::new(Environment::default());
            self.bind(&method.parameters, arguments, &environment)?;
            return match self.run(&method.body, &environment) {
                Err(Flow::Return(value)) => Ok(value),
                other => other,
            };
        }
        methods::kernel(self, name, &arguments, block)
    }

    /// Calls a block, a lambda or a symbol.
    pub(super) fn call_block(&mut self, block: &Thing, arguments: Vec<Thing>) -> Result<Thing> {
        match block {
            Thing::Lambda(closure) => {
                let environment = Rc::new(Environment {
                    variables: RefCell::default(),
                    outer: Some(Rc::clone(&closure.environment)),
                });
                self.bind_block(&closure.block.parameters, arguments, &environment)?;
                match self.run(&closure.block.body, &environment) {
                    Err(Flow::Next(value)) => Ok(value),
                    other => other,
                }
            }
            Thing::Symbol(name) => {
                let mut arguments = arguments.into_iter();
                let Some(receiver) = arguments.next() else { return Ok(Thing::Nil) };
                methods::call(self, &receiver, name, arguments.collect(), None)
            }
            _ => beyond("it calls something that is no block"),
        }
    }

    /// A single array is spread over several parameters.
    fn bind_block(
        &mut self,
        parameters: &[Parameter],
        arguments: Vec<Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let several =
            parameters.len() > 1 || matches!(parameters, [Parameter::Rest(_)]) && arguments.len() > 1;
        match arguments.as_slice() {
            [Thing::Array(items)] if several => {
                let items = items.borrow().clone();
                self.bind(parameters, items, environment)
            }
            _ => self.bind(parameters, arguments, environment),
        }
    }

    fn bind(
        &mut self,
        parameters: &[Parameter],
        arguments: Vec<Thing>,
        environment: &Rc<Environment>,
    ) -> Result<()> {
        let mut arguments = arguments.into_iter();
        for parameter in parameters {
            match parameter {
                Parameter::Name(name) => {
                    let value = arguments.next().unwrap_or(Thing::Nil);
                    environment.variables.borrow_mut().insert(Rc::clone(name), value);
                }
                Parameter::Optional(name, default) => {
                    let value = match arguments.next() {
                        Some(value) => value,
                        None => self.run(default, environment)?,
                    };
                    environment.variables.borrow_mut().insert(Rc::clone(name), value);
                }
                Parameter::Rest(name) => {
                    let rest = Thing::array(arguments.by_ref().collect());
                    environment.variables.borrow_mut().insert(Rc::clone(name), rest);
                }
                Parameter::Pattern(inner) => {
                    let value = arguments.next().unwrap_or(Thing::Nil);
                    self.bind(inner, methods::to_array(&value), environment)?;
                }
            }
        }
        Ok(())
    }

    /// Calls a function of Puppet.
    pub(super) fn call_function(&mut self, name: &str, arguments: &[Thing]) -> Result<Thing> {
        if name == "template" {
            return self.templates(arguments);
        }
        let values: Option<Vec<Value>> = arguments.iter().map(Thing::to_value).collect();
        let Some(values) = values else {
            return beyond("it gives a function something that Puppet does not know");
        };
        match self.context.call_function(name, values) {
            Ok(value) => {
                if matches!(value.data, setpoint_puppet_values::Data::Opaque(_)) {
                    return beyond(format!("the function {name} gives a value that is not known"));
                }
                self.context.note(&value);
                Ok(Thing::from_value(&value))
            }
            Err(stop) => Err(Flow::Failure(Failure::Stopped(stop))),
        }
    }

    /// Other templates in the same scope.
    fn templates(&mut self, names: &[Thing]) -> Result<Thing> {
        let outer = std::mem::take(&mut self.out);
        for name in names {
            let name = name.to_s();
            let Some(path) = self.context.host.module_file("templates", &name) else {
                return failed(format!("Could not find template '{name}'"));
            };
            let text = match setpoint_source::read_text(self.context.host.files(), &path) {
                Ok(text) => text,
                Err(error) => return failed(error.to_string()),
            };
            self.context.host.file_read(&path, &text);
            let program = parser::parse(lexer::template(&text)?)?;
            let environment = Rc::new(Environment::default());
            self.run(&program, &environment)?;
        }
        Ok(Thing::text(std::mem::replace(&mut self.out, outer)))
    }
}

pub(super) fn regex(source: &str, flags: &str) -> Result<Regex> {
    let options: String = flags.chars().filter(|flag| "imx".contains(*flag)).collect();
    let source = if options.is_empty() { source.to_owned() } else { format!("(?{options}:{source})") };
    Regex::new(source).or_else(|error| failed(error.message))
}
