//! Files of Ruby: parsed once, run for each call.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use setpoint_puppet_values::Value;

use super::ast::Node;
use super::classes::{Class, Instance};
use super::interpreter::{Definition, Interpreter, Result};
use super::things::Thing;
use super::{Beyond, RubyFailure, lexer, parser};

/// A file of a module, parsed. It can be shared by all nodes that are compiled.
#[derive(Debug, Clone)]
pub struct RubyFile {
    path: PathBuf,
    program: std::result::Result<Arc<Node>, Beyond>,
}

impl RubyFile {
    /// Nothing fails: what is not understood is known to be so.
    pub fn parse(path: &Path, text: &str) -> Self {
        let parsed = lexer::lex(text, 1).and_then(parser::parse).map(Arc::new).map_err(|mut beyond| {
            beyond.file = Some(path.to_owned());
            beyond
        });
        Self { path: path.to_owned(), program: parsed }
    }

    /// Whether all of the text is understood.
    pub fn is_sound(&self) -> bool {
        self.program.is_ok()
    }

    /// Whether the text ends in the middle of a construct, so that Ruby refuses it, too.
    pub fn is_cut_off(&self) -> bool {
        self.program.as_ref().is_err_and(|beyond| beyond.is_cut_off)
    }

    /// The first method that the file defines, and its line.
    pub(crate) fn first_method(&self) -> Option<(String, u32)> {
        first_method(self.program.as_ref().ok()?)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether two texts do the same by their tokens, whatever their comments say.
pub(crate) fn same_code(one: &str, other: &str) -> bool {
    let tokens = |text| lexer::lex(text, 1).ok().and_then(lexer::essence);
    tokens(one).is_some_and(|of_one| tokens(other).is_some_and(|of_other| of_one == of_other))
}

/// In statements, bodies of modules and blocks: elsewhere nobody defines methods.
fn first_method(node: &Node) -> Option<(String, u32)> {
    match node {
        Node::Define(define) => Some((define.name.to_string(), define.line)),
        Node::Sequence(nodes) => nodes.iter().find_map(first_method),
        Node::Class(class) => first_method(&class.body),
        Node::Call(call) => call.block.as_ref().and_then(|block| first_method(&block.body)),
        Node::If(_, yes, no) => first_method(yes).or_else(|| first_method(no)),
        Node::Begin(begin) => first_method(&begin.body),
        _ => None,
    }
}

/// Runs a file, so that the interpreter knows the functions that it defines.
pub(crate) fn definitions(
    interpreter: &mut Interpreter<'_, '_, '_>,
    file: &RubyFile,
) -> std::result::Result<(), RubyFailure> {
    let program = match &file.program {
        Ok(program) => Arc::clone(program),
        Err(beyond) => return Err(RubyFailure::Beyond(beyond.clone())),
    };
    interpreter.file = Some(file.path.clone());
    let is_legacy = file.path.components().any(|part| part.as_os_str() == "parser");
    interpreter.around = if is_legacy {
        "Puppet::Pops::Loader::RubyLegacyFunctionInstantiator::"
    } else {
        "Puppet::Pops::Loader::RubyFunctionInstantiator::"
    };
    let environment = interpreter.new_environment(Thing::Nil);
    let result = interpreter.run(&program, &environment);
    interpreter.outcome(result).map(|_| ())
}

/// The classes that types of resources build on, parsed once.
static TYPE_LIBRARY: LazyLock<RubyFile> =
    LazyLock::new(|| RubyFile::parse(Path::new("type.rb"), include_str!("library/type.rb")));

/// Runs the file of a type, and returns its class.
pub(crate) fn load_type(
    interpreter: &mut Interpreter<'_, '_, '_>,
    file: &RubyFile,
) -> std::result::Result<Thing, RubyFailure> {
    let library = TYPE_LIBRARY.program.as_ref().map_err(|beyond| RubyFailure::Beyond(beyond.clone()))?;
    let environment = interpreter.new_environment(Thing::Nil);
    let result = interpreter.run(library, &environment);
    interpreter.outcome(result)?;
    definitions(interpreter, file)?;
    let types = interpreter.top_constant("Puppet::Type");
    match interpreter.call_method(&types, "newest", Vec::new())? {
        // Such code runs between the parameters and the check of the whole.
        Thing::Class(class) if class.methods.borrow().contains_key("initialize") => {
            Err(interpreter.beyond("it has an `initialize` of its own"))
        }
        class @ Thing::Class(_) => Ok(class),
        _ => Err(interpreter.beyond("it declares no type")),
    }
}

impl Interpreter<'_, '_, '_> {
    /// Calls a method from the outside: it has the whole allowance of a run.
    pub(crate) fn call_method(
        &mut self,
        receiver: &Thing,
        name: &str,
        arguments: Vec<Thing>,
    ) -> std::result::Result<Thing, RubyFailure> {
        self.renew_allowance();
        let result = super::methods::call(self, receiver, name, arguments, None);
        self.outcome(result)
    }

    /// Remembers a class that the program has made.
    pub(super) fn keep_class(&mut self, class: &Rc<Class>) {
        self.made.keep(class);
    }

    /// A constant of the program itself.
    fn top_constant(&self, name: &str) -> Thing {
        self.top.constants.borrow().get(name).cloned().unwrap_or(Thing::Nil)
    }

    /// An instance of a function, to call its methods.
    pub(crate) fn instance_of(&self, definition: &Definition) -> Thing {
        Thing::Object(Instance::new(Thing::Class(Rc::clone(&definition.class))))
    }

    /// That the run cannot go on, at the place that it has reached.
    pub(crate) fn beyond(&self, reason: impl Into<String>) -> RubyFailure {
        RubyFailure::Beyond(Beyond { file: self.file.clone(), ..Beyond::at(reason, self.line) })
    }

    /// A result as Puppet has it.
    pub(crate) fn result(&mut self, thing: &Thing) -> std::result::Result<Value, RubyFailure> {
        let value = self.value_for_puppet(thing);
        match value {
            Ok(value) => Ok(value),
            Err(flow) => match self.outcome(Err(flow)) {
                Ok(_) => Ok(Value::UNDEF),
                Err(failure) => Err(failure),
            },
        }
    }

    /// Runs code of our own.
    pub(super) fn run_text(&mut self, code: &str) -> Result<Thing> {
        let program = parser::parse(lexer::lex(code, 1)?)?;
        let line = self.line;
        let environment = self.new_environment(Thing::Nil);
        let result = self.run(&program, &environment);
        self.line = line;
        result
    }
}
