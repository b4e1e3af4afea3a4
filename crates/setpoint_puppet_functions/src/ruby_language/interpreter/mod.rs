//! Walks the tree.

mod blocks;
mod calls;
mod errors;
mod modules;
mod places;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use setpoint_puppet_values::{Data, Key, Match, Regex, Value, to_text};
use setpoint_source::{Limit, RAISE_LIMITS};

use super::ast::{Node, Pair, Part};
use super::classes::{Class, Instance};
use super::things::{Closure, Environment, Expansion, Frame, Map, Range, Seen, Table, Thing, equal};
use super::{Beyond, RubyFailure, classes, methods, parser, template};
use crate::context::Context;
pub(crate) use calls::arity;

/// More steps are refused, so that every run ends.
const MOST_STEPS: Limit = Limit::new(20_000_000);
/// More bytes of texts and arrays are refused, so that every run fits into memory. What is dropped counts as well.
const MOST_BYTES: Limit = Limit::new(128 << 20);
/// Longer texts are refused.
const LONGEST_TEXT: Limit = Limit::new(16 << 20);
/// Deeper calls are refused.
const DEEPEST: Limit = Limit::new(700);

const TOO_LARGE: &str = "it makes values that are too large";

pub(crate) type Result<T> = std::result::Result<T, Flow>;

/// Why the walk does not go on.
pub(crate) enum Flow {
    Failure(RubyFailure),
    Raise(Thing),
    Next(Thing),
    Break(Thing),
    /// From the frame of this number.
    Return(Thing, u64),
    Throw(Thing, Thing),
    Retry,
}

impl From<Beyond> for Flow {
    fn from(beyond: Beyond) -> Self {
        Self::Failure(RubyFailure::Beyond(beyond))
    }
}

pub(crate) fn beyond<T>(reason: impl Into<String>) -> Result<T> {
    Err(Beyond { reason: reason.into(), line: None, file: None, is_cut_off: false }.into())
}

/// A limit ends the run.
pub(crate) fn limit<T>(reason: impl std::fmt::Display) -> Result<T> {
    beyond(format!("{reason}: {RAISE_LIMITS}"))
}

/// An error of Ruby.
pub(crate) fn raise<T>(class: &str, message: impl Into<String>) -> Result<T> {
    Err(Flow::Raise(Instance::error(class, message)))
}

pub(crate) fn argument_error<T>(message: impl Into<String>) -> Result<T> {
    raise("ArgumentError", message)
}

pub(crate) fn type_error<T>(message: impl Into<String>) -> Result<T> {
    raise("TypeError", message)
}

/// A function that a file creates.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) class: Rc<Class>,
    pub(crate) dispatches: Vec<Rc<DispatchDefinition>>,
    /// Local names of types, as `Name = Type`.
    pub(crate) types: Vec<String>,
}

#[derive(Default, Clone)]
pub(crate) struct DispatchDefinition {
    pub(crate) method: String,
    /// Types as texts, and names.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) least: usize,
    /// The last takes the rest.
    pub(crate) endless: bool,
    pub(crate) block: Option<BlockDefinition>,
    pub(crate) returns: Option<String>,
    pub(crate) refuses: bool,
    /// Where `scope_param` and its like stand: before the parameter of this number.
    pub(crate) injected: Vec<(usize, String)>,
}

#[derive(Clone)]
pub(crate) struct BlockDefinition {
    pub(crate) of: Option<String>,
    pub(crate) name: String,
    pub(crate) required: bool,
}

/// A function of Puppet's older interface.
#[derive(Clone)]
pub(crate) struct Legacy {
    pub(crate) name: String,
    pub(crate) arity: Option<i32>,
    /// It gives a value; others are statements.
    pub(crate) is_value: bool,
    pub(crate) block: Thing,
}

pub(crate) struct Interpreter<'i, 'c, 'h> {
    pub(crate) context: &'i mut Context<'c, 'h>,
    pub(super) out: String,
    pub(super) is_template: bool,
    /// `@name` of a template, converted once so that changes in place stay.
    pub(super) instance: IndexMap<Arc<str>, Thing>,
    /// What was read of the manifest's variables, as it was then.
    loaded: Vec<(Thing, Value)>,
    /// What is kept for later calls of a function of a hierarchy, as it was when it was kept or read.
    kept: Vec<(Thing, Value)>,
    /// The numbers of things are asked for to tell them apart.
    pub(super) tells_apart: bool,
    /// Why a value is not known that was read.
    unknown_read: Option<Arc<str>>,
    /// Methods and constants of the file itself.
    pub(super) top: Rc<Class>,
    pub(super) last_match: Option<Rc<Match>>,
    pub(super) current_error: Option<Thing>,
    steps: u64,
    /// Bytes of all texts and arrays that were made.
    bytes: usize,
    expansion: Expansion,
    depth: usize,
    frames: u64,
    /// Where the walk is.
    pub(super) line: u32,
    pub(super) file: Option<PathBuf>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) legacy: Vec<Legacy>,
    pub(super) building: Option<DispatchDefinition>,
    pub(super) building_types: Option<Vec<String>>,
    pub(super) required: IndexSet<PathBuf>,
    /// Objects whose classes say themselves which are the same keys.
    particular: Vec<Rc<Instance>>,
    /// Libraries of Ruby that are written in Ruby here, and were run.
    pub(super) libraries: IndexSet<&'static str>,
    /// What Puppet puts around the code of a file, in the names of its classes.
    pub(super) around: &'static str,
    pub(super) made: MadeClasses,
}

/// The classes that a program has made. They and the closures in them hold each other: at the end they are emptied, so that their
/// memory is free again.
#[derive(Default)]
pub(crate) struct MadeClasses(Vec<Rc<Class>>);

impl MadeClasses {
    pub(super) fn keep(&mut self, class: &Rc<Class>) {
        self.0.push(Rc::clone(class));
    }
}

impl Drop for MadeClasses {
    fn drop(&mut self) {
        self.0.iter().for_each(|class| class.empty());
    }
}

/// Reads a template as a program, without running it.
pub(crate) fn parse_template(text: &str) -> std::result::Result<(), Beyond> {
    parser::parse(template::template(text)?).map(|_| ())
}

/// The text of a template in the scope of the call.
pub(crate) fn render(
    context: &mut Context<'_, '_>,
    file: Option<&Path>,
    text: &str,
) -> std::result::Result<String, RubyFailure> {
    let tokens = template::template(text).map_err(RubyFailure::Beyond)?;
    let program = parser::parse(tokens).map_err(|beyond| {
        if beyond.is_cut_off {
            RubyFailure::Failed("syntax error, unexpected end-of-input".to_owned())
        } else {
            RubyFailure::Beyond(beyond)
        }
    })?;
    let mut interpreter = Interpreter::new(context);
    interpreter.is_template = true;
    interpreter.file = file.map(Path::to_owned);
    let environment = interpreter.new_environment(Thing::Nil);
    let result = interpreter.run(&program, &environment);
    match interpreter.outcome(result) {
        Ok(_) => {
            interpreter.report_changes();
            Ok(interpreter.out)
        }
        Err(failure) => Err(failure),
    }
}

impl<'i, 'c, 'h> Interpreter<'i, 'c, 'h> {
    pub(crate) fn new(context: &'i mut Context<'c, 'h>) -> Self {
        Self {
            context,
            out: String::new(),
            is_template: false,
            instance: IndexMap::new(),
            loaded: Vec::new(),
            kept: Vec::new(),
            tells_apart: false,
            unknown_read: None,
            top: Class::new("Object", false, None),
            last_match: None,
            current_error: None,
            steps: 0,
            bytes: 0,
            expansion: Expansion::begin(),
            depth: 0,
            frames: 0,
            line: 0,
            file: None,
            definitions: Vec::new(),
            legacy: Vec::new(),
            building: None,
            building_types: None,
            required: IndexSet::new(),
            particular: Vec::new(),
            libraries: IndexSet::new(),
            around: "",
            made: MadeClasses::default(),
        }
    }

    /// Begins anew to count steps and bytes.
    pub(super) fn renew_allowance(&mut self) {
        self.steps = 0;
        self.bytes = 0;
        self.depth = 0;
    }

    /// What a walk came to, in the words of the outside.
    pub(crate) fn outcome(&self, result: Result<Thing>) -> std::result::Result<Thing, RubyFailure> {
        if self.expansion.is_exhausted() {
            return Err(self.beyond(format!("{TOO_LARGE}: {RAISE_LIMITS}")));
        }
        if let Some(reason) = &self.unknown_read {
            return Err(self.beyond(format!("it uses a value that is not known: {reason}")));
        }
        if self.particular.iter().any(|object| object.told_apart.get()) {
            return Err(self.beyond("its keys are objects that say themselves which are the same"));
        }
        match result {
            Ok(value) | Err(Flow::Next(value) | Flow::Break(value) | Flow::Return(value, _)) => Ok(value),
            Err(Flow::Raise(error)) => {
                let message = match &error {
                    Thing::Object(object) => object.message(),
                    other => other.to_s(),
                };
                Err(RubyFailure::Failed(message))
            }
            Err(Flow::Throw(tag, _)) => Err(RubyFailure::Failed(format!("uncaught throw {}", tag.inspect()))),
            Err(Flow::Retry) => {
                Err(RubyFailure::Beyond(Beyond::at("it retries outside of a rescue", self.line)))
            }
            Err(Flow::Failure(RubyFailure::Beyond(mut beyond))) => {
                if beyond.line.is_none() && self.line > 0 {
                    beyond.line = Some(self.line);
                }
                if beyond.file.is_none() {
                    beyond.file.clone_from(&self.file);
                }
                Err(RubyFailure::Beyond(beyond))
            }
            Err(Flow::Failure(failure)) => Err(failure),
        }
    }

    pub(super) fn new_environment(&mut self, this: Thing) -> Rc<Environment> {
        let id = self.new_frame_id();
        Environment::new(Rc::new(Frame {
            this,
            block: None,
            id,
            nesting: Vec::new(),
            method: None,
            arguments: Vec::new(),
        }))
    }

    fn new_frame_id(&mut self) -> u64 {
        self.frames += 1;
        self.frames
    }

    /// Counts a step of something that loops without walking.
    pub(super) fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.expansion.is_exhausted() {
            return limit(TOO_LARGE);
        }
        if self.steps > MOST_STEPS { limit("it takes too many steps") } else { Ok(()) }
    }

    /// Counts what it costs to look at a whole text or collection: a program that does so in every step would take hours otherwise.
    pub(super) fn look_through(&mut self, size: usize) -> Result<()> {
        self.steps += (size / 64) as u64;
        self.step()
    }

    /// Counts what a text or array takes.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_BYTES || bytes > LONGEST_TEXT { limit(TOO_LARGE) } else { Ok(()) }
    }

    /// Adds to a text that grows without end otherwise.
    pub(super) fn append(&mut self, text: &mut String, more: &str) -> Result<()> {
        self.charge(more.len())?;
        if text.len() + more.len() > LONGEST_TEXT {
            return limit(TOO_LARGE);
        }
        text.push_str(more);
        Ok(())
    }

    /// Adds to the text of the template.
    fn emit(&mut self, more: &str) -> Result<()> {
        let mut out = std::mem::take(&mut self.out);
        let done = self.append(&mut out, more);
        self.out = out;
        done
    }

    pub(super) fn run(&mut self, node: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        self.step()?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return limit("it calls itself too deeply");
        }
        let result = self.walk(node, environment);
        self.depth -= 1;
        result
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of node")]
    fn walk(&mut self, node: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        Ok(match node {
            Node::Nil => Thing::Nil,
            Node::Bool(flag) => Thing::Bool(*flag),
            Node::Integer(number) => Thing::Integer(*number),
            Node::Float(number) => Thing::Float(*number),
            Node::Symbol(name) => Thing::Symbol(Arc::clone(name)),
            Node::SymbolText(parts) => Thing::Symbol(self.text(parts, environment)?.into()),
            Node::Text(parts) => Thing::text(self.text(parts, environment)?),
            Node::Regex(parts, flags) => {
                let source = self.pattern(parts, environment)?;
                Thing::Regex(regex(&source, flags)?)
            }
            Node::Array(items) => Thing::array(self.all(items, environment)?),
            Node::Hash(pairs) | Node::Keywords(pairs) => Thing::table(self.entries(pairs, environment)?),
            Node::Range(from, to, exclusive) => {
                let from = self.optional(from.as_deref(), environment)?;
                let to = self.optional(to.as_deref(), environment)?;
                Thing::Range(Rc::new(Range { from, to, exclusive: *exclusive }))
            }
            Node::Instance(name) => self.instance_variable(name, environment),
            Node::Shared(name) => self.shared_variable(name, environment)?,
            Node::Global(name) => self.global(name)?,
            Node::Local(name) => environment.get(name).unwrap_or(Thing::Nil),
            Node::Name(name, line) => match environment.get(name) {
                Some(found) => found,
                None => {
                    self.line = *line;
                    self.call_own(name, Vec::new(), None, environment)?
                }
            },
            Node::Constant(name) => self.constant(name, environment)?,
            Node::Scoped(outer, name) => self.scoped(outer.as_deref(), name, environment)?,
            Node::Itself => match &environment.frame.this {
                Thing::Nil => return beyond("it uses self"),
                this => this.clone(),
            },
            Node::Call(call) => self.call(call, environment)?,
            Node::Super(call) => self.call_super(call, environment)?,
            Node::Yield(arguments, line) => {
                let arguments = self.all(arguments, environment)?;
                self.line = *line;
                let Some(block) = environment.frame.block.clone() else {
                    return raise("LocalJumpError", "no block given (yield)");
                };
                self.call_block(&block, arguments)?
            }
            Node::Index(target, keys, line) => {
                if let Some(part) = self.part_of_variable(target, keys, environment) {
                    return Ok(part);
                }
                let target = self.run(target, environment)?;
                let keys = self.all(keys, environment)?;
                self.line = *line;
                methods::call(self, &target, "[]", keys, None)?
            }
            Node::Assign(target, value) => {
                let value = self.run(value, environment)?;
                self.assign(target, value.clone(), environment)?;
                value
            }
            Node::AssignAll(targets, value) => {
                let value = self.run(value, environment)?;
                let items = methods::spread(&value);
                self.assign_all(targets, items, environment)?;
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
            Node::While(looped) => {
                let mut first = looped.body_first;
                while first || self.run(&looped.condition, environment)?.truth() != looped.until {
                    first = false;
                    match self.run(&looped.body, environment) {
                        Ok(_) | Err(Flow::Next(_)) => {}
                        Err(Flow::Break(value)) => return Ok(value),
                        Err(other) => return Err(other),
                    }
                }
                Thing::Nil
            }
            Node::For(parameters, items, body) => {
                let items = self.run(items, environment)?;
                for item in methods::items(self, &items)? {
                    let given = if parameters.list.len() > 1 { methods::spread(&item) } else { vec![item] };
                    for (at, parameter) in parameters.list.iter().enumerate() {
                        if let super::ast::Parameter::Name(name) = parameter {
                            environment.set(name, given.get(at).cloned().unwrap_or(Thing::Nil));
                        }
                    }
                    match self.run(body, environment) {
                        Ok(_) | Err(Flow::Next(_)) => {}
                        Err(Flow::Break(value)) => return Ok(value),
                        Err(other) => return Err(other),
                    }
                }
                items
            }
            Node::Begin(begin) => self.begin(begin, environment)?,
            Node::Define(define) => self.define(define, environment)?,
            Node::Class(class) => self.class(class, environment)?,
            Node::Singleton(body) => self.singleton(body, environment)?,
            Node::Alias(new, old) => self.alias(new, old, environment)?,
            Node::Lambda(block) => Thing::Lambda(Rc::new(Closure {
                block: Arc::clone(block),
                environment: Rc::clone(environment),
                is_lambda: block.is_lambda,
            })),
            Node::Next(value) => return Err(Flow::Next(self.optional(value.as_deref(), environment)?)),
            Node::Break(value) => return Err(Flow::Break(self.optional(value.as_deref(), environment)?)),
            Node::Return(value) => {
                let value = self.optional(value.as_deref(), environment)?;
                return Err(Flow::Return(value, environment.frame.id));
            }
            Node::Redo => return beyond("it uses redo"),
            Node::Retry => return Err(Flow::Retry),
            Node::Defined(operand) => self.defined(operand, environment)?,
            Node::Splat(inner) => {
                let inner = self.run(inner, environment)?;
                Thing::array(methods::to_array(self, &inner)?)
            }
            Node::BlockPass(_) => return beyond("it passes a block in an unusual place"),
            Node::Sequence(nodes) => {
                let mut last = Thing::Nil;
                for node in nodes {
                    last = self.run(node, environment)?;
                }
                last
            }
            Node::Write(text) => {
                self.emit(text)?;
                Thing::Nil
            }
            Node::Output(value) => {
                let text = self.run(value, environment)?;
                let text = self.to_s(&text)?;
                self.emit(&text)?;
                Thing::Nil
            }
            Node::SourceFile => match &self.file {
                Some(path) => Thing::text(path.to_string_lossy()),
                None => return beyond("it asks for __FILE__"),
            },
            Node::SourceFolder => match self.file.as_ref().and_then(|path| path.parent()) {
                Some(folder) => Thing::text(folder.to_string_lossy()),
                None => return beyond("it asks for __dir__"),
            },
            Node::MethodName => match &environment.frame.method {
                Some((_, name)) => Thing::Symbol(Arc::clone(name)),
                None => Thing::Nil,
            },
            Node::NamedMatch(matching, names) => {
                let result = self.run(matching, environment)?;
                for name in names {
                    let group = self.last_match.as_ref().and_then(|found| found.named(name).map(Thing::text));
                    environment.set(name, group.unwrap_or(Thing::Nil));
                }
                result
            }
            Node::Beyond(reason, line) => {
                self.line = *line;
                return beyond(reason.as_str());
            }
        })
    }

    fn optional(&mut self, node: Option<&Node>, environment: &Rc<Environment>) -> Result<Thing> {
        node.map_or(Ok(Thing::Nil), |node| self.run(node, environment))
    }

    /// Values of a list, with arrays after `*` spread out.
    pub(super) fn all(&mut self, nodes: &[Node], environment: &Rc<Environment>) -> Result<Vec<Thing>> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Splat(inner) => {
                    let inner = self.run(inner, environment)?;
                    values.extend(methods::to_array(self, &inner)?);
                }
                Node::Keywords(pairs) => {
                    let entries = self.entries(pairs, environment)?;
                    // `**{}` is nothing.
                    let only_spread = pairs.iter().all(|pair| matches!(pair, Pair::Spread(_)));
                    if !(entries.is_empty() && only_spread) {
                        values.push(Thing::table(entries));
                    }
                }
                node => values.push(self.run(node, environment)?),
            }
        }
        Ok(values)
    }

    fn entries(&mut self, pairs: &[Pair], environment: &Rc<Environment>) -> Result<Table> {
        let mut table = Table::new();
        for pair in pairs {
            match pair {
                Pair::Entry(key, value) => {
                    let key = methods::as_key(self.run(key, environment)?);
                    let value = self.run(value, environment)?;
                    methods::put(&mut table, key, value);
                }
                Pair::Spread(inner) => match self.run(inner, environment)? {
                    Thing::Hash(map) => {
                        for (key, value) in map.table.borrow().values() {
                            methods::put(&mut table, key.clone(), value.clone());
                        }
                    }
                    Thing::Nil => {}
                    other => {
                        return type_error(format!("no implicit conversion of {} into Hash", other.class()));
                    }
                },
            }
        }
        Ok(table)
    }

    fn text(&mut self, parts: &[Part], environment: &Rc<Environment>) -> Result<String> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => self.append(&mut text, literal)?,
                Part::Code(node) => {
                    let value = self.run(node, environment)?;
                    let value = self.to_s(&value)?;
                    self.append(&mut text, &value)?;
                }
            }
        }
        Ok(text)
    }

    /// The source of an expression: others in it keep their own options.
    fn pattern(&mut self, parts: &[Part], environment: &Rc<Environment>) -> Result<String> {
        self.text(parts, environment)
    }

    /// `to_s`, also of objects that define it.
    pub(super) fn to_s(&mut self, thing: &Thing) -> Result<String> {
        match thing {
            Thing::Object(_) => Ok(methods::call(self, thing, "to_s", Vec::new(), None)?.to_s()),
            Thing::Bytes(bytes) if !bytes.is_ascii() => beyond("it makes a text of bytes"),
            Thing::Other(value) if matches!(value.data, Data::Opaque(_)) => {
                beyond("it uses a value that is not known")
            }
            _ => Ok(thing.to_s()),
        }
    }

    fn instance_variable(&mut self, name: &Arc<str>, environment: &Rc<Environment>) -> Thing {
        match &environment.frame.this {
            Thing::Object(object) => object.variables.borrow().get(name).cloned().unwrap_or(Thing::Nil),
            Thing::Class(class) => class.variables.borrow().get(name).cloned().unwrap_or(Thing::Nil),
            _ => self.template_variable(name),
        }
    }

    fn shared_variable(&mut self, name: &Arc<str>, environment: &Rc<Environment>) -> Result<Thing> {
        let key: Arc<str> = format!("@@{name}").into();
        let class = self.definee(environment);
        for class in class.lineage() {
            if let Some(found) = class.variables.borrow().get(&key) {
                return Ok(found.clone());
            }
        }
        raise("NameError", format!("uninitialized class variable @@{name} in {}", class.name()))
    }

    pub(super) fn template_variable(&mut self, name: &Arc<str>) -> Thing {
        if let Some(known) = self.instance.get(name) {
            return known.clone();
        }
        if !self.is_template {
            return Thing::Nil;
        }
        let value = match self.context.host.variable(name) {
            Some(value) => self.loaded_thing(value),
            None => Thing::Nil,
        };
        self.instance.insert(Arc::clone(name), value.clone());
        value
    }

    /// What `@facts['os']`, `scope['facts']['os']` and their like give where another part of the hash is not known: that matters to nobody.
    fn part_of_variable<'node>(
        &mut self,
        of: &'node Node,
        keys: &'node [Node],
        environment: &Rc<Environment>,
    ) -> Option<Thing> {
        let literal_name = |names: &'node [Node]| match names {
            [name] => name.literal_text(),
            _ => None,
        };
        let key = literal_name(keys)?;
        let is_outside = !matches!(environment.frame.this, Thing::Object(_) | Thing::Class(_));
        let name = match of {
            Node::Instance(name) if self.is_template && is_outside && !self.instance.contains_key(name) => {
                name
            }
            Node::Index(scope, names, _) if scope.is_scope() => literal_name(names)?,
            Node::Call(call)
                if &*call.name == "lookupvar" && call.receiver.as_ref().is_some_and(Node::is_scope) =>
            {
                literal_name(&call.arguments)?
            }
            _ => return None,
        };
        let value = self.context.host.variable(name).filter(|value| value.unknown_part().is_some())?;
        let Data::Hash(entries) = &value.data else { return None };
        if entries.keys().any(|key| key.0.unknown_part().is_some()) {
            return None;
        }
        let Some(part) = entries.get(&Key::from(&**key)) else {
            let span = self.context.span();
            self.context.host.note_key_read(&value, key, span);
            return Some(Thing::Nil);
        };
        self.context.note(part);
        self.note_unknown(part);
        let thing = Thing::from_value(part);
        self.watch_incomplete(&thing, part);
        Some(thing)
    }

    /// Whatever Ruby does with a value that is not known, what comes of it is not known either.
    pub(super) fn note_unknown(&mut self, value: &Value) {
        if let Some(unknown) = value.unknown_part() {
            self.unknown_read.get_or_insert_with(|| Arc::clone(&unknown.reason));
        }
    }

    /// A value of the manifest as Ruby has it. What Ruby has once read it has for good: a change in place is seen again.
    fn loaded_thing(&mut self, value: Value) -> Thing {
        self.context.note(&value);
        self.note_unknown(&value);
        if let Some((known, _)) = self.loaded.iter().find(|(_, before)| before.is_same_collection(&value)) {
            return known.clone();
        }
        let thing = Thing::from_value(&value);
        self.watch_incomplete(&thing, &value);
        if matches!(thing, Thing::Array(_) | Thing::Hash(_)) {
            self.loaded.push((thing.clone(), value));
        }
        thing
    }

    /// Marks the hashes that the machine may have more of: the facts, and parts of `$trusted`.
    fn watch_incomplete(&mut self, thing: &Thing, value: &Value) {
        let (Thing::Hash(map), Data::Hash(entries)) = (thing, &value.data) else { return };
        if self.context.host.is_incomplete(value) {
            *map.incomplete.borrow_mut() = Some(value.clone());
        }
        let parts: Vec<Thing> = map.table.borrow().values().map(|(_, part)| part.clone()).collect();
        // Both are in one order, since the one was made of the other.
        for (thing, part) in parts.iter().zip(entries.values()) {
            self.watch_incomplete(thing, part);
        }
    }

    /// Notes what a method reads of a hash that the machine may have more of: one key, or all.
    pub(super) fn note_hash_read(&mut self, map: &Map, method: &str, arguments: &[Thing]) {
        let Some(hash) = map.incomplete.borrow().clone() else { return };
        let span = self.context.span();
        let of_one_key =
            ["[]", "dig", "fetch", "has_key?", "key?", "include?", "member?", "delete", "store", "[]="];
        let key = arguments.first().filter(|_| of_one_key.contains(&method));
        match key.and_then(Thing::to_value) {
            Some(key) => self.context.host.note_key_read(&hash, &to_text(&key), span),
            None => self.context.host.note_whole_read(&hash, span),
        }
    }

    /// Arrays and hashes of the manifest that the template changed in place.
    fn report_changes(&mut self) {
        for (thing, before) in std::mem::take(&mut self.loaded) {
            if let Some(after) = thing.to_value().filter(|after| *after != before) {
                self.context.host.changed_in_place(&before, &after);
            }
        }
    }

    /// A variable of the manifest.
    pub(super) fn variable(&mut self, name: &str) -> Thing {
        match self.context.host.variable(name) {
            Some(value) => self.loaded_thing(value),
            None => Thing::Nil,
        }
    }

    /// Sets a variable of the manifest.
    pub(super) fn set_variable(&mut self, name: &str, value: &Thing) -> Result<()> {
        let value = self.value_for_puppet(value)?;
        let span = self.context.span();
        let set = self.context.host.set_variable(name, value, span);
        set.map_err(|stop| Flow::Failure(RubyFailure::Stopped(stop)))
    }

    /// Does something as code does it that sees the variables of a scope.
    pub(super) fn seeing<T>(&mut self, seen: Seen, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if seen == Seen::ByCaller {
            return work(self);
        }
        self.context.host.enter_top_scope();
        let result = work(self);
        self.context.host.leave_top_scope();
        result
    }

    /// Whether the template is a text of the manifest, and no file.
    pub(super) fn is_inline_template(&self) -> bool {
        self.context.call.name.as_str() == "inline_template"
    }

    fn global(&self, name: &str) -> Result<Thing> {
        if name == "!" {
            return Ok(self.current_error.clone().unwrap_or(Thing::Nil));
        }
        if name == ";" || name == "," {
            return Ok(Thing::Nil);
        }
        // Files are found where Puppet looks for them, whatever a template adds to that.
        if name == "LOAD_PATH" || name == ":" {
            return Ok(Thing::array(Vec::new()));
        }
        if name == "/" {
            return Ok(Thing::text("\n"));
        }
        // A variable that nobody set: a template that sets one goes beyond what is known here.
        let is_own = name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && !matches!(name, "stdin" | "stdout" | "stderr");
        if is_own {
            return Ok(Thing::Nil);
        }
        let is_match = name.parse::<usize>().is_ok() || matches!(name, "~" | "&" | "`" | "'");
        if !is_match {
            return beyond(format!("it uses ${name}"));
        }
        let Some(found) = &self.last_match else { return Ok(Thing::Nil) };
        let text = &found.text;
        Ok(match name {
            "~" => Thing::Match(Rc::clone(found)),
            "&" => found.group(0).map_or(Thing::Nil, Thing::text),
            "`" => Thing::text(text.get(..found.start()).unwrap_or_default()),
            "'" => Thing::text(text.get(found.end()..).unwrap_or_default()),
            _ => {
                let group = name.parse::<usize>().ok().and_then(|number| found.group(number));
                group.map_or(Thing::Nil, Thing::text)
            }
        })
    }

    fn defined(&mut self, operand: &Node, environment: &Rc<Environment>) -> Result<Thing> {
        let known = match operand {
            // Every variable of the scope that has a value is there.
            Node::Instance(name) => !self.instance_variable(name, environment).is_nil(),
            Node::Local(_) => return Ok(Thing::text("local-variable")),
            Node::Name(name, _) if environment.get(name).is_some() => {
                return Ok(Thing::text("local-variable"));
            }
            Node::Name(name, _) => self.has_own_method(name, environment),
            Node::Constant(name) if self.constant(name, environment).is_err() => false,
            Node::Constant(name) => match self.constant(name, environment)? {
                Thing::Constant(name) if !classes::is_known(&name) => {
                    return beyond(format!("it asks for {name}"));
                }
                _ => return Ok(Thing::text("constant")),
            },
            Node::Scoped(..) => match self.run(operand, environment)? {
                Thing::Constant(name) if !classes::is_known(&name) => {
                    return beyond(format!("it asks for {name}"));
                }
                _ => return Ok(Thing::text("constant")),
            },
            Node::Yield(..) => environment.frame.block.is_some(),
            Node::Call(_) | Node::Index(..) | Node::Super(_) => {
                return beyond("it asks whether a call is defined");
            }
            _ => true,
        };
        Ok(if known { Thing::text("expression") } else { Thing::Nil })
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
            Thing::Constant(_) | Thing::Class(_) => match classes::is_a(subject, option) {
                Some(answer) => answer,
                None => return beyond(format!("it asks whether a value is a {}", option.class_name())),
            },
            Thing::Regex(regex) => match subject {
                Thing::Text(text) => {
                    let text = text.value.borrow().clone();
                    self.find(regex, &text)?.is_some()
                }
                Thing::Symbol(name) => self.find(regex, name)?.is_some(),
                _ => {
                    self.last_match = None;
                    false
                }
            },
            Thing::Address(_) => {
                methods::call(self, option, "include?", vec![subject.clone()], None)?.truth()
            }
            Thing::Set(_) => methods::call(self, option, "include?", vec![subject.clone()], None)?.truth(),
            Thing::Range(range) => methods::covers(range, subject),
            Thing::Lambda(_) | Thing::Native(_) | Thing::Method(_) => {
                self.call_block(option, vec![subject.clone()])?.truth()
            }
            Thing::Object(_) => methods::call(self, option, "==", vec![subject.clone()], None)?.truth(),
            Thing::Other(value) if value.as_type().is_some() => match (value.as_type(), subject.to_value()) {
                (Some(of), Some(subject)) => of.is_instance(&subject),
                _ => return beyond("it asks for the type of something unusual"),
            },
            _ => equal(option, subject),
        })
    }

    /// Matches, and remembers it for `$1`.
    pub(super) fn find(&mut self, regex: &Regex, text: &str) -> Result<Option<Rc<Match>>> {
        match regex.find(text) {
            Ok(found) => {
                self.last_match = found.map(Rc::new);
                Ok(self.last_match.clone())
            }
            Err(error) => raise("RegexpError", error.message),
        }
    }
}

pub(crate) fn regex(source: &str, flags: &str) -> Result<Regex> {
    let options: String = flags.chars().filter(|flag| "imx".contains(*flag)).collect();
    let source = match options.as_str() {
        "" => source.to_owned(),
        // An extended expression may end in a comment, which a line end closes.
        _ if options.contains('x') => format!("(?{options}:{source}\n)"),
        _ => format!("(?{options}:{source})"),
    };
    Regex::new(source).or_else(|error| raise("RegexpError", error.message))
}
