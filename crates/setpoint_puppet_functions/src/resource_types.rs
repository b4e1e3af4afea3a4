//! Types of resources that modules have in Ruby: their own code judges the parameters that a catalog gives, run by the interpreter.
//!
//! An agent sets the parameters of a resource one by one, then the defaults of the others, and lets the type look at the whole. Here
//! it is done in the same order. Whatever the interpreter does not know leaves the parameter open, and the checks that read it.

use std::path::{Path, PathBuf};

use setpoint_provenance::Arena;
use setpoint_puppet_values::{Data, Hash, Strictness, Type, Value};
use setpoint_source::{FileId, FileSystem, Range, Span};

use crate::context::Context;
use crate::ruby_language::{Interpreter, RubyFailure, RubyFile, Thing, load_type};
use crate::{Block, Call, FailureKind, Host, LogLevel, Stop};

/// A resource as a catalog gives it to its type.
#[derive(Debug)]
pub struct GivenResource<'a> {
    pub title: &'a str,
    /// Those that name the resource among them; no metaparameters.
    pub parameters: Vec<(String, Value)>,
    /// What the provider that the resource names says that it can do; nothing if that is not known.
    pub features: Option<Vec<String>>,
}

/// What a type says to a resource, or to one of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeAnswer {
    pub parameter: Option<String>,
    /// The words of the type that refuses it; else why nobody knows.
    pub refusal: Result<String, NotRun>,
}

/// Why code was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRun {
    /// `it calls x`
    pub reason: String,
}

/// Lets a type judge resources of it. Returns for each all that is refused or not known, and an error if the file itself cannot be run.
pub fn judge_resources(
    file: &RubyFile,
    files: &dyn FileSystem,
    library: &dyn Fn(&str) -> Option<PathBuf>,
    resources: &[GivenResource<'_>],
) -> Result<Vec<Vec<TypeAnswer>>, NotRun> {
    let mut host = Agent { files, library, arena: Arena::new(false) };
    let span = Range::new(0, 0).in_file(FileId(0));
    let call = Call { name: "type".into(), arguments: Vec::new(), block: None, span };
    let mut context = Context::new(&mut host, &call);
    let mut interpreter = Interpreter::new(&mut context);
    let class = load_type(&mut interpreter, file).map_err(not_run)?;
    let order = interpreter.call_method(&class, "order", Vec::new()).map_err(not_run)?;
    let Thing::Array(order) = order else { return Err(NotRun { reason: "it has no attributes".to_owned() }) };
    let order: Vec<String> = order.items.borrow().iter().map(Thing::to_s).collect();
    let keys = interpreter.call_method(&class, "key_attributes", Vec::new()).map_err(not_run)?;
    let keys: Vec<String> = match &keys {
        Thing::Array(keys) => keys.items.borrow().iter().map(Thing::to_s).collect(),
        _ => Vec::new(),
    };
    if keys.is_empty() && takes_no_title(&mut interpreter, &class).map_err(not_run)? {
        let refuse = |resource: &GivenResource<'_>| {
            let message = format!("No set of title patterns matched the title \"{}\".", resource.title);
            vec![TypeAnswer { parameter: None, refusal: Ok(message) }]
        };
        return Ok(resources.iter().map(refuse).collect());
    }
    let only_key = if let [only] = keys.as_slice() { Some(only.clone()) } else { None };
    let mut judge_one = |resource: &GivenResource<'_>| {
        // A parameter that names resources and that only code declares: the title gives it.
        let missing =
            only_key.as_ref().filter(|key| !resource.parameters.iter().any(|(name, _)| name == *key));
        let named = missing.map(|key| GivenResource {
            title: resource.title,
            parameters: std::iter::once((key.clone(), Value::from(resource.title)))
                .chain(resource.parameters.iter().cloned())
                .collect(),
            features: resource.features.clone(),
        });
        judge(&mut interpreter, &class, &order, named.as_ref().unwrap_or(resource))
    };
    Ok(resources.iter().map(&mut judge_one).collect())
}

/// Whether a type that no attribute names has no patterns for titles either.
fn takes_no_title(interpreter: &mut Interpreter<'_, '_, '_>, class: &Thing) -> Result<bool, RubyFailure> {
    let patterns = interpreter.call_method(class, "title_patterns", Vec::new())?;
    Ok(matches!(&patterns, Thing::Array(patterns) if patterns.items.borrow().is_empty()))
}

fn judge(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Thing,
    order: &[String],
    resource: &GivenResource<'_>,
) -> Vec<TypeAnswer> {
    let mut found = Vec::new();
    let features = resource.features.as_ref().map_or(Thing::Nil, |features| {
        Thing::array(features.iter().map(|feature| Thing::text(feature.as_str())).collect())
    });
    let arguments = vec![Thing::text(resource.title), features];
    let this = match interpreter.call_method(class, "new", arguments) {
        Ok(this) => this,
        Err(failure) => return vec![answer(None, failure)],
    };
    let given =
        |name: &str| resource.parameters.iter().find(|(given, _)| given == name).map(|(_, value)| value);
    // What a type declares comes first, in its order; the agent refuses anything else elsewhere.
    for name in order {
        let Some(value) = given(name) else { continue };
        let result = match as_ruby_has_it(value) {
            Some(value) => interpreter.call_method(&this, "assign", vec![Thing::text(name.as_str()), value]),
            None => Err(interpreter.beyond("its value is not known")),
        };
        if let Err(failure) = result {
            found.push(answer(Some(name), failure));
            // What was refused or not understood is not read by what comes after it.
            if let Err(failure) = interpreter.call_method(&this, "forget", vec![Thing::text(name.as_str())]) {
                found.push(answer(None, failure));
            }
        }
    }
    let defaults = order.iter().filter(|name| given(name).is_none());
    for name in defaults {
        if let Err(failure) =
            interpreter.call_method(&this, "assign_default", vec![Thing::text(name.as_str())])
        {
            // A default is set by the type, and refused by it only if it is wrong itself; what reads it, does not know it.
            if let RubyFailure::Failed(_) = failure {
                found.push(answer(Some(name), failure));
            }
            if let Err(failure) = interpreter.call_method(&this, "forget", vec![Thing::text(name.as_str())]) {
                found.push(answer(None, failure));
            }
        }
    }
    if let Err(failure) = interpreter.call_method(&this, "unsafe_validate", Vec::new()) {
        found.push(answer(None, failure));
    }
    // The resource and its attributes hold each other.
    if let Thing::Object(object) = &this {
        object.variables.borrow_mut().clear();
    }
    found
}

fn answer(parameter: Option<&str>, failure: RubyFailure) -> TypeAnswer {
    let refusal = match failure {
        RubyFailure::Failed(message) => Ok(message),
        other => Err(not_run(other)),
    };
    TypeAnswer { parameter: parameter.map(str::to_owned), refusal }
}

fn not_run(failure: RubyFailure) -> NotRun {
    let reason = match failure {
        RubyFailure::Beyond(beyond) => beyond.reason,
        RubyFailure::Failed(message) => format!("it fails: {message}"),
        RubyFailure::Stopped(_) => "it calls a function of Puppet".to_owned(),
    };
    NotRun { reason }
}

/// A value as the agent has it; nothing if that is not known. Secrets are unwrapped on their way.
fn as_ruby_has_it(value: &Value) -> Option<Thing> {
    fn is_plain(value: &Value) -> bool {
        match &value.data {
            Data::Undef | Data::Bool(_) | Data::Integer(_) | Data::Float(_) | Data::String(_) => true,
            Data::Default => true,
            Data::Array(items) => items.iter().all(is_plain),
            Data::Hash(entries) => entries.iter().all(|(key, value)| is_plain(&key.0) && is_plain(value)),
            _ => false,
        }
    }
    match &value.data {
        Data::Sensitive(inner) => as_ruby_has_it(inner),
        _ => is_plain(value).then(|| Thing::from_value(value)),
    }
}

/// The agent that turns a catalog into resources: it has the files of the modules, and nothing else is known of its machine.
struct Agent<'a> {
    files: &'a dyn FileSystem,
    library: &'a dyn Fn(&str) -> Option<PathBuf>,
    arena: Arena,
}

fn no_manifest(span: Span) -> Stop {
    FailureKind::FunctionFailed("there is no manifest".to_owned()).at(span)
}

impl Host for Agent<'_> {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn call_block(&mut self, _block: &dyn Block, _arguments: Vec<Value>) -> Result<Value, Stop> {
        Ok(Value::UNDEF)
    }

    fn call_function(&mut self, call: Call<'_>) -> Result<Value, Stop> {
        Err(no_manifest(call.span))
    }

    fn has_function(&mut self, _name: &str) -> bool {
        false
    }

    fn variable(&mut self, _name: &str) -> Option<Value> {
        Some(Value::unknown("the machine decides about it", Type::Any))
    }

    fn set_variable(&mut self, _name: &str, _value: Value, span: Span) -> Result<(), Stop> {
        Err(no_manifest(span))
    }

    fn enter_top_scope(&mut self) {}

    fn leave_top_scope(&mut self) {}

    fn resource_parameters(&mut self, _type_name: &str, _title: &str) -> Option<Hash> {
        None
    }

    fn definition(&self) -> Option<String> {
        None
    }

    fn parse_type(&mut self, _text: &str, span: Span) -> Result<Value, Stop> {
        Err(no_manifest(span))
    }

    fn render_epp(
        &mut self,
        _name: &str,
        _text: &str,
        _parameters: Option<&Value>,
        span: Span,
    ) -> Result<Value, Stop> {
        Err(no_manifest(span))
    }

    fn log(&mut self, _level: LogLevel, _message: String, _span: Span) {}

    fn warn_once(&mut self, _key: &str, _message: String, _span: Span) {}

    fn files(&self) -> &dyn FileSystem {
        self.files
    }

    fn is_input(&self, _path: &Path) -> bool {
        false
    }

    fn is_outside(&self, _folder: &str, _name: &str) -> bool {
        true
    }

    fn module_file(&self, _folder: &str, _name: &str) -> Option<PathBuf> {
        None
    }

    fn module_path(&self, _folder: &str, _name: &str) -> Option<PathBuf> {
        None
    }

    fn not_computed(&mut self, _reason: &str, _span: Span) {}

    fn library_file(&self, name: &str) -> Option<PathBuf> {
        (self.library)(name)
    }

    fn module_directory(&self, _name: &str) -> Option<PathBuf> {
        None
    }

    fn strict(&self) -> Strictness {
        Strictness::Warning
    }

    fn puppet_version(&self) -> u8 {
        7
    }
}
