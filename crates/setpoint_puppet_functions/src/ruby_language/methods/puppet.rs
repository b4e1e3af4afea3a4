//! What Puppet brings to Ruby: the scope, functions and how they are created, logging, types.

use std::rc::Rc;

use setpoint_puppet_values::{Data, Hash, Key, Object, Type, Value, infer, infer_set};

use super::{Given, call, text_of};
use crate::LogLevel;
use crate::lookup_context::{FileData, entries, file_data, is_lookup_context, keep_file_data, plain_method};
use crate::ruby_language::RubyFailure;
use crate::ruby_language::classes::Class;
use crate::ruby_language::interpreter::{
    BlockDefinition, Definition, DispatchDefinition, Flow, Interpreter, Legacy, Result, argument_error,
    beyond,
};
use crate::ruby_language::things::{List, Seen, Thing};

/// The scope of the manifest, as templates and functions know it.
pub(super) fn scope(
    interpreter: &mut Interpreter<'_, '_, '_>,
    seen: Seen,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    interpreter.seeing(seen, |interpreter| in_scope(interpreter, seen, given))
}

fn in_scope(
    interpreter: &mut Interpreter<'_, '_, '_>,
    seen: Seen,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if let Some(found) = around_scope(interpreter, seen, given)? {
        return Ok(Some(found));
    }
    Ok(Some(match (given.name, given.arguments) {
        ("lookupvar" | "[]" | "get", [variable, ..]) => {
            let variable = variable.to_s();
            interpreter.variable(&variable)
        }
        ("setvar" | "[]=", [variable, value]) => {
            interpreter.set_variable(&variable.to_s(), value)?;
            value.clone()
        }
        ("include?" | "exist?" | "has_variable?" | "bound?", [variable]) => {
            let variable = variable.to_s();
            Thing::Bool(!interpreter.variable(&variable).is_nil())
        }
        // The arguments come as one, and are taken apart as `*` does it.
        ("call_function", [function, arguments]) => {
            let arguments = super::to_array(interpreter, arguments)?;
            interpreter.call_function(&function.to_s(), &arguments, given.block)?
        }
        ("to_hash", _) => {
            let Some(variables) = interpreter.context.host.visible_variables() else {
                return beyond("it asks for all variables");
            };
            for (_, value) in &variables {
                interpreter.note_unknown(value);
            }
            let known = variables.iter().filter(|(_, value)| !value.is_undef());
            Thing::pairs(
                known
                    .map(|(name, value)| (Thing::text(name.as_str()), Thing::from_value(value)))
                    .collect::<Vec<_>>(),
            )
        }
        ("warning" | "notice" | "err" | "info" | "debug" | "alert" | "crit" | "emerg", [message]) => {
            let message = interpreter.to_s(message)?;
            let span = interpreter.context.span();
            interpreter.context.host.log(level(given.name), message, span);
            Thing::Nil
        }
        (function, [Thing::Array(list)]) if function.starts_with("function_") => {
            let given_arguments = list.items.borrow().clone();
            interpreter.call_legacy_function(function.trim_start_matches("function_"), &given_arguments)?
        }
        _ => return beyond(format!("it calls {} of the scope", given.name)),
    }))
}

/// What a scope leads to: the compiler, the catalog, the node, the environment, resources and definitions. Their classes are
/// written in Ruby, and ask the scope for what they need by names of our own.
fn around_scope(
    interpreter: &mut Interpreter<'_, '_, '_>,
    seen: Seen,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let class = match given.name {
        "compiler" => "PuppetCompiler",
        "catalog" => "PuppetCatalog",
        "environment" => "PuppetEnvironment",
        "node" => "PuppetNode",
        _ => "",
    };
    if !class.is_empty() && given.arguments.is_empty() {
        return instance_of_library(interpreter, class, vec![Thing::Scope(seen)]).map(Some);
    }
    Ok(Some(match (given.name, given.arguments) {
        ("__top__" | "find_global_scope", []) => Thing::Scope(Seen::AtTop),
        ("__environment__", []) => Thing::text(interpreter.context.host.environment_name()),
        ("__node__" | "host", []) => Thing::text(interpreter.context.host.node_name()),
        ("__module__", [name]) => {
            let folder = interpreter.context.host.module_directory(&name.to_s());
            folder.map_or(Thing::Nil, |path| Thing::text(path.to_string_lossy()))
        }
        ("__classes__", []) => {
            let names = interpreter.context.host.class_names();
            Thing::array(names.into_iter().map(Thing::text).collect())
        }
        ("findresource", [reference]) => {
            let reference = interpreter.to_s(reference)?;
            match reference.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
                Some((of, title)) => resource(interpreter, of, title)?,
                None => return argument_error(format!("Could not find resource {reference}")),
            }
        }
        ("findresource", [of, title]) => {
            let (of, title) = (interpreter.to_s(of)?, interpreter.to_s(title)?);
            resource(interpreter, &of, &title)?
        }
        ("find_hostclass" | "find_definition", [name, ..]) => {
            let name = interpreter.to_s(name)?;
            let name = name.trim_start_matches("::").to_lowercase();
            let is_class = given.name == "find_hostclass";
            if interpreter.context.host.has_definition(&name, is_class) {
                let of = Thing::symbol(if is_class { "hostclass" } else { "definition" });
                instance_of_library(interpreter, "PuppetDefinition", vec![of, Thing::text(name)])?
            } else {
                Thing::Nil
            }
        }
        ("resource", []) => match interpreter.context.host.evaluated_resource() {
            Some((of, title)) => {
                // The main class and nodes have no parameters.
                let found = interpreter.context.host.resource_parameters(&of, &title);
                declared(interpreter, &of, &title, found.unwrap_or_default())?
            }
            None => Thing::Nil,
        },
        ("source", []) => match interpreter.context.host.definition() {
            Some(definition) => {
                let (of, name) = definition.split_once(' ').unwrap_or_default();
                let of = Thing::symbol(if of == "Class" { "hostclass" } else { "definition" });
                instance_of_library(interpreter, "PuppetDefinition", vec![of, Thing::text(name)])?
            }
            None => return beyond("it asks for the code at top scope"),
        },
        // What every object has.
        ("send" | "__send__" | "public_send" | "respond_to?" | "is_a?" | "nil?" | "instance_of?", _) => {
            call(interpreter, &Thing::Scope(seen), given.name, given.arguments.to_vec(), given.block)?
        }
        ("is_topscope?", []) => Thing::Bool(interpreter.context.host.is_top_scope()),
        _ => return Ok(None),
    }))
}

/// A resource that is declared by now.
fn resource(interpreter: &mut Interpreter<'_, '_, '_>, of: &str, title: &str) -> Result<Thing> {
    match interpreter.context.host.resource_parameters(of, title) {
        Some(parameters) => declared(interpreter, of, title, parameters),
        None => Ok(Thing::Nil),
    }
}

fn declared(
    interpreter: &mut Interpreter<'_, '_, '_>,
    of: &str,
    title: &str,
    parameters: Hash,
) -> Result<Thing> {
    let name = of.to_lowercase();
    let is_defined =
        matches!(&*name, "class" | "node") || interpreter.context.host.has_definition(&name, false);
    for value in parameters.values() {
        interpreter.note_unknown(value);
    }
    let title = Thing::text(title);
    let parameters = Thing::from_value(&Value::hash(parameters));
    let arguments = vec![Thing::text(capitalised(of)), title, parameters, Thing::Bool(is_defined)];
    instance_of_library(interpreter, "PuppetResource", arguments)
}

/// The object in place of a reference such as `File['/a']`, as the older interface of functions has it.
pub(in crate::ruby_language) fn reference(
    interpreter: &mut Interpreter<'_, '_, '_>,
    value: &Value,
) -> Result<Option<Thing>> {
    let (of, title) = match &value.data {
        Data::Type(Type::Resource(Some(of))) => (of.name.to_lowercase(), of.title.as_deref().unwrap_or("")),
        Data::Type(Type::Class(Some(name))) => ("class".to_owned(), name.as_str()),
        _ => return Ok(None),
    };
    let title = if of == "class" { capitalised(title.trim_start_matches("::")) } else { title.to_owned() };
    let object = declared(interpreter, of.trim_start_matches("::"), &title, Hash::default())?;
    if let Thing::Object(object) = &object {
        object.variables.borrow_mut().insert("reference".into(), Thing::Other(value.clone()));
    }
    Ok(Some(object))
}

/// A name of a class or a type as references have it.
fn capitalised(name: &str) -> String {
    let parts = name.split("::").map(|part| {
        let mut letters = part.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    parts.collect::<Vec<_>>().join("::")
}

/// An instance of a class that is written in Ruby here.
pub(super) fn instance_of_library(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &str,
    arguments: Vec<Thing>,
) -> Result<Thing> {
    let class = interpreter.library_constant(class)?;
    call(interpreter, &class, "new", arguments, None)
}

fn level(name: &str) -> LogLevel {
    match name {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "notice" => LogLevel::Notice,
        "err" | "error" => LogLevel::Err,
        "alert" => LogLevel::Alert,
        "crit" => LogLevel::Crit,
        "emerg" => LogLevel::Emerg,
        _ => LogLevel::Warning,
    }
}

/// What a function can call of itself.
pub(super) fn function_method(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Option<Thing>> {
    Ok(Some(match (name, arguments) {
        ("call_function", [function, rest @ ..]) => interpreter
            .seeing(Seen::AtTop, |interpreter| interpreter.call_function(&function.to_s(), rest, block))?,
        ("call_function_with_scope", [Thing::Scope(seen), function, rest @ ..]) => interpreter
            .seeing(*seen, |interpreter| interpreter.call_function(&function.to_s(), rest, block))?,
        ("closure_scope", []) => Thing::Scope(Seen::AtTop),
        _ => return Ok(None),
    }))
}

/// Modules of Puppet.
pub(super) fn module(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &str,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (class, given.name, given.arguments) {
        ("Puppet::Functions", "create_function", [name, base @ ..]) => {
            let Some(block) = given.block else { return Ok(None) };
            create_function(interpreter, name, base.first(), block)?
        }
        ("Puppet::Parser::Functions", "newfunction", [name, options @ ..]) => {
            let Some(block) = given.block else { return Ok(None) };
            new_function(interpreter, name, options.first(), block)
        }
        // It is loaded when it is called.
        ("Puppet::Parser::Functions", "function", [name, ..]) => {
            let name = name.to_s();
            if interpreter.context.host.has_function(&name) {
                Thing::text(format!("function_{name}"))
            } else {
                Thing::Bool(false)
            }
        }
        ("Puppet::Parser::Functions", "autoloader", _) => Thing::Constant("Puppet::Parser::Functions".into()),
        ("Puppet::Parser::Functions", "loadall" | "load", _) => Thing::Nil,
        ("Puppet::Pops::Serialization::ToDataConverter", "convert", [value, ..]) => match value.to_value() {
            Some(data) if is_data(&data) && !value.has_symbol() => value.clone(),
            _ => return beyond("it serializes a value that is no data"),
        },
        ("Puppet", "debug" | "info", _) => Thing::Nil,
        ("Puppet", "settings", []) => Thing::Constant("Puppet::Settings".into()),
        ("Puppet" | "Puppet::Settings", "[]" | "value", [name, ..]) => setting(interpreter, &name.to_s())?,
        ("Puppet", "lookup", [name, ..]) => match name.to_s().as_str() {
            "current_environment" | "root_environment" => {
                instance_of_library(interpreter, "PuppetEnvironment", vec![Thing::Scope(Seen::AtTop)])?
            }
            name => return beyond(format!("it looks for {name} in the context of Puppet")),
        },
        ("Puppet::Module", "find", [name, ..]) => {
            match interpreter.context.host.module_directory(&name.to_s()) {
                Some(path) => {
                    let arguments = vec![Thing::text(name.to_s()), Thing::text(path.to_string_lossy())];
                    instance_of_library(interpreter, "PuppetModule", arguments)?
                }
                None => Thing::Nil,
            }
        }
        ("Puppet::Parser::Files", "find_file" | "find_template", [name, ..]) => {
            let folder = if given.name == "find_file" { "files" } else { "templates" };
            if !matches!(name, Thing::Text(_)) {
                return beyond("it looks for a file whose name is no text");
            }
            let name = text_of(name)?;
            if name.starts_with('/') {
                return beyond("it looks for a file by its whole path");
            }
            let found = interpreter.context.host.module_path(folder, &name);
            found.map_or(Thing::Nil, |path| Thing::text(path.to_string_lossy()))
        }
        ("Puppet::FileSystem", "exist?" | "file?" | "directory?" | "read" | "readable?", [path, ..]) => {
            let path = interpreter.to_s(path)?;
            call(interpreter, &Thing::Constant("File".into()), given.name, vec![Thing::text(path)], None)?
        }
        ("Puppet::FileSystem", "pathname", [path]) => {
            instance_of_library(interpreter, "Pathname", vec![path.clone()])?
        }
        ("Puppet" | "Puppet::Util::Log", "warning" | "notice" | "err" | "alert" | "crit", [message]) => {
            let message = interpreter.to_s(message)?;
            interpreter.context.host.say(level(given.name), message);
            Thing::Nil
        }
        ("Puppet", "deprecation_warning" | "warn_once", _) => {
            return beyond(format!("it calls Puppet.{}", given.name));
        }
        ("Puppet", "version", []) => {
            let version = interpreter.variable("serverversion");
            if version.is_nil() { interpreter.variable("puppetversion") } else { version }
        }
        ("Puppet::Util::Package", "versioncmp", [_, _]) => {
            interpreter.call_function("versioncmp", given.arguments, None)?
        }
        ("Puppet::Util", "absolute_path?", [path, platform @ ..]) => {
            if !matches!(path, Thing::Text(_)) {
                let (text, class) = (interpreter.to_s(path)?, path.class());
                let message = format!(
                    "Cannot check if {text} is an absolute path because it is a '{class}' and not a String'"
                );
                interpreter.context.host.say(LogLevel::Warning, message);
                return Ok(Some(Thing::Bool(false)));
            }
            let path = text_of(path)?;
            // Puppet looks at the beginning of every line.
            let windows = platform.first().is_some_and(|platform| platform.to_s() == "windows");
            Thing::Bool(
                path.split('\n')
                    .any(|line| if windows { is_windows_path(line) } else { line.starts_with('/') }),
            )
        }
        ("Puppet::Pops::Types::PSensitiveType::Sensitive", "new", [value]) => {
            let value = interpreter.value_for_puppet(value)?;
            super::constants::sensitive(value)
        }
        ("Puppet::Pops::Types::TypeParser", "singleton" | "new", []) => {
            Thing::Constant("Puppet::Pops::Types::TypeParser".into())
        }
        ("Puppet::Pops::Types::TypeParser", "parse", [text, ..]) => type_of(interpreter, &text_of(text)?)?,
        ("Puppet::Pops::Types::TypeCalculator", "singleton" | "new", []) => {
            Thing::Constant("Puppet::Pops::Types::TypeCalculator".into())
        }
        ("Puppet::Pops::Types::TypeCalculator", "infer" | "infer_set", [value]) => {
            let value = interpreter.value_for_puppet(value)?;
            let of = if given.name == "infer" { infer(&value) } else { infer_set(&value) };
            Thing::Other(Value::new(Data::Type(of)))
        }
        ("Puppet::Pops::Types::TypeCalculator", "instance?", [of, value]) => {
            call(interpreter, of, "instance?", vec![value.clone()], None)?
        }
        _ => return Ok(None),
    }))
}

/// A path of Windows with its drive (`c:\\x`), of another machine (`\\\\host\\share`) or of no form (`\\\\?\\x`).
fn is_windows_path(text: &str) -> bool {
    let is_slash = |letter: &u8| matches!(letter, b'/' | b'\\');
    match text.as_bytes() {
        [drive, b':', slash, ..] if is_slash(slash) => drive.is_ascii_alphabetic(),
        [one, two, rest @ ..] if is_slash(one) && is_slash(two) => {
            let host = rest.iter().take_while(|letter| !is_slash(letter)).count();
            let share = rest.get(host + 1);
            host > 0 && share.is_some_and(|letter| !is_slash(letter))
        }
        _ => false,
    }
}

/// A setting, as the variables of `$settings::` have it.
fn setting(interpreter: &mut Interpreter<'_, '_, '_>, name: &str) -> Result<Thing> {
    let value = interpreter
        .seeing(Seen::AtTop, |interpreter| Ok(interpreter.variable(&format!("settings::{name}"))))?;
    if value.is_nil() { beyond(format!("it asks for the setting {name}")) } else { Ok(value) }
}

fn is_data(value: &Value) -> bool {
    match &value.data {
        Data::Undef | Data::Bool(_) | Data::Integer(_) | Data::Float(_) | Data::String(_) => true,
        Data::Array(items) => items.iter().all(is_data),
        Data::Hash(entries) => entries.iter().all(|(key, item)| key.0.as_str().is_some() && is_data(item)),
        _ => false,
    }
}

fn type_of(interpreter: &mut Interpreter<'_, '_, '_>, text: &str) -> Result<Thing> {
    match interpreter.context.parse_type(text) {
        Ok(of) => Ok(Thing::Other(Value::new(Data::Type(of)))),
        Err(stop) => Err(Flow::Failure(RubyFailure::Stopped(stop))),
    }
}

/// Values that Puppet has and Ruby has not.
pub(super) fn other(
    interpreter: &mut Interpreter<'_, '_, '_>,
    value: &Value,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (&value.data, given.name, given.arguments) {
        (Data::Opaque(_), _, _) => return beyond("it uses a value that is not known"),
        (Data::Sensitive(inner), "unwrap", []) => match given.block {
            Some(block) => interpreter.call_block(block, vec![Thing::from_value(inner)])?,
            None => Thing::from_value(inner),
        },
        (Data::Type(of), "instance?", [subject]) => {
            let subject = interpreter.value_for_puppet(subject)?;
            Thing::Bool(of.is_instance(&subject))
        }
        (Data::Object(object), _, _) if is_lookup_context(object) => {
            return lookup_context(interpreter, object, given);
        }
        _ => {
            return beyond(format!("it calls {} of a value of Puppet", given.name));
        }
    }))
}

/// A method of the context that Hiera gives to functions of hierarchies.
fn lookup_context(
    interpreter: &mut Interpreter<'_, '_, '_>,
    object: &Object,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let span = interpreter.context.span();
    let stopped = |stop| Flow::Failure(RubyFailure::Stopped(stop));
    Ok(Some(match (given.name, given.arguments, given.block) {
        ("environment_name" | "module_name", [], _) => {
            let attribute = object.attributes.get(&Key::from(given.name));
            let attribute = attribute.map_or(Thing::Nil, Thing::from_value);
            // The name of an environment is a symbol.
            if given.name == "environment_name" { Thing::symbol(&attribute.to_s()) } else { attribute }
        }
        ("cached_file_data", [path], Some(block)) => {
            let path = Value::from(text_of(path)?);
            match file_data(interpreter.context.host, &path, span).map_err(stopped)? {
                FileData::Kept(value) => interpreter.kept(&value)?,
                FileData::Text(text) => {
                    let made = interpreter.call_block(block, vec![Thing::from_value(&text)])?;
                    let value = interpreter.value_for_puppet(&made)?;
                    keep_file_data(interpreter.context.host, &path, &value);
                    interpreter.kept(&value)?
                }
            }
        }
        ("cached_entries", [], Some(block)) => {
            let takes_two =
                matches!(block, Thing::Lambda(closure) if closure.block.parameters.list.len() == 2);
            for (key, value) in entries(interpreter.context.host) {
                let (key, value) = (Thing::from_value(&key), interpreter.kept(&value)?);
                let arguments =
                    if takes_two { vec![key, value] } else { vec![Thing::array(vec![key, value])] };
                interpreter.call_block(block, arguments)?;
            }
            Thing::Nil
        }
        ("explain", [], Some(block)) => {
            if interpreter.context.host.explains_lookup() {
                let text = interpreter.call_block(block, Vec::new())?;
                let text = interpreter.to_s(&text)?;
                interpreter.context.host.explain_lookup(text);
            }
            Thing::Nil
        }
        (name, arguments, _) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(interpreter.value_for_puppet(argument)?);
            }
            let Some(result) = plain_method(interpreter.context.host, name, &values, span) else {
                return beyond(format!("it calls {name} of a lookup context"));
            };
            let result = result.map_err(stopped)?;
            match (name, arguments) {
                // The value itself is kept, so that what becomes of it later counts, too.
                ("cache", [_, value]) => {
                    interpreter.keep(value, &result);
                    value.clone()
                }
                _ => interpreter.kept(&result)?,
            }
        }
    }))
}

/// `Gem::Version.new`, which compares versions by their parts.
pub(super) fn version(interpreter: &mut Interpreter<'_, '_, '_>, text: &Thing) -> Result<Thing> {
    const CODE: &str = include_str!("version.rb");
    let known = interpreter.top.constants.borrow().get("Gem::Version").cloned();
    let class = match known {
        Some(class) => class,
        None => {
            interpreter.run_text(CODE)?;
            let class =
                interpreter.top.constants.borrow_mut().shift_remove("GemVersion").unwrap_or(Thing::Nil);
            interpreter.top.constants.borrow_mut().insert("Gem::Version".into(), class.clone());
            class
        }
    };
    let text = interpreter.to_s(text)?;
    let is_plain = !text.trim().is_empty()
        && text
            .trim()
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric()))
        && text.trim().starts_with(|first: char| first.is_ascii_digit());
    if !is_plain {
        return beyond("it compares an unusual version");
    }
    call(interpreter, &class, "new", vec![Thing::text(text.trim())], None)
}

fn create_function(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &Thing,
    base: Option<&Thing>,
    block: &Thing,
) -> Result<Thing> {
    let base_name = base.map(Thing::class_name);
    if let Some(base) = &base_name
        && !matches!(base.as_str(), "Puppet::Functions::Function" | "Puppet::Functions::InternalFunction")
    {
        return beyond(format!("its function is based on {base}"));
    }
    let class = Class::new(&name.to_s(), false, Some(Thing::Constant("Puppet::Functions::Function".into())));
    interpreter.keep_class(&class);
    interpreter.definitions.push(Definition {
        name: name.to_s(),
        class: Rc::clone(&class),
        dispatches: Vec::new(),
        types: Vec::new(),
    });
    interpreter.call_block_as(block, Vec::new(), Some(Thing::Class(class)), false)?;
    Ok(Thing::Nil)
}

fn new_function(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &Thing,
    options: Option<&Thing>,
    block: &Thing,
) -> Thing {
    let option = |wanted: &str| match options {
        Some(Thing::Hash(map)) => {
            map.table.borrow().get(&Thing::symbol(wanted).identity()).map(|(_, value)| value.clone())
        }
        _ => None,
    };
    let arity = match option("arity") {
        Some(Thing::Integer(number)) => i32::try_from(number).ok(),
        _ => None,
    };
    let is_value = option("type").is_some_and(|kind| kind.to_s() == "rvalue");
    let name = name.to_s().to_lowercase();
    interpreter.legacy.push(Legacy { name, arity, is_value, block: block.clone() });
    Thing::table(super::new_table())
}

/// What the body of a function and of its dispatches call.
pub(super) fn building(
    interpreter: &mut Interpreter<'_, '_, '_>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if interpreter.building.is_some() {
        return parameter(interpreter, given);
    }
    if let Some(types) = &mut interpreter.building_types {
        if let ("type", [text]) = (given.name, given.arguments) {
            types.push(text_of(text)?);
            return Ok(Some(Thing::Nil));
        }
        return Ok(None);
    }
    if interpreter.definitions.is_empty() {
        return Ok(None);
    }
    let Some(block) = given.block else { return Ok(None) };
    match (given.name, given.arguments) {
        ("dispatch" | "argument_mismatch", [method]) => {
            let refuses = given.name == "argument_mismatch";
            interpreter.building =
                Some(DispatchDefinition { method: method.to_s(), refuses, ..Default::default() });
            let result = interpreter.call_block(block, Vec::new());
            let built = interpreter.building.take();
            result?;
            if let (Some(built), Some(definition)) = (built, interpreter.definitions.last_mut()) {
                definition.dispatches.push(Rc::new(built));
            }
            Ok(Some(Thing::Nil))
        }
        ("local_types", []) => {
            interpreter.building_types = Some(Vec::new());
            let result = interpreter.call_block(block, Vec::new());
            let types = interpreter.building_types.take().unwrap_or_default();
            result?;
            if let Some(definition) = interpreter.definitions.last_mut() {
                definition.types.extend(types);
            }
            Ok(Some(Thing::Nil))
        }
        _ => Ok(None),
    }
}

fn parameter(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    let Some(building) = &mut interpreter.building else { return Ok(None) };
    match (given.name, given.arguments) {
        (
            "param"
            | "required_param"
            | "optional_param"
            | "repeated_param"
            | "optional_repeated_param"
            | "required_repeated_param",
            [of, name],
        ) => {
            if building.block.is_some() {
                return argument_error("Parameters cannot be added after a block parameter");
            }
            if building.endless {
                return argument_error("Parameters cannot be added after a repeated parameter");
            }
            if !matches!(name, Thing::Symbol(_)) {
                return argument_error(format!(
                    "Parameter name argument must be a Symbol. Got {}",
                    name.class()
                ));
            }
            let of = match of {
                Thing::Text(text) => text.value.borrow().clone(),
                Thing::Other(value) if value.as_type().is_some() => of.to_s(),
                other => {
                    return argument_error(format!(
                        "Parameter 'type' must be a String reference to a Puppet Data Type. Got {}",
                        other.class()
                    ));
                }
            };
            let is_required = matches!(given.name, "param" | "required_param" | "required_repeated_param");
            if is_required && building.least != building.parameters.len() {
                return argument_error(if given.name == "required_repeated_param" {
                    "A required repeated parameter cannot be added after an optional parameter"
                } else {
                    "A required parameter cannot be added after an optional parameter"
                });
            }
            building.parameters.push((of, name.to_s()));
            building.least += usize::from(is_required);
            building.endless = given.name.contains("repeated");
        }
        ("block_param" | "required_block_param" | "optional_block_param", rest) => {
            let (of, name) = match rest {
                [] => (None, "block".to_owned()),
                [name] => (None, name.to_s()),
                [of, name] => (Some(text_of(of)?), name.to_s()),
                _ => return given.count("0..2"),
            };
            let required = given.name != "optional_block_param";
            building.block = Some(BlockDefinition { of, name, required });
        }
        ("return_type", [of]) => building.returns = Some(text_of(of)?),
        (
            "scope_param" | "cache_param" | "compiler_param" | "pal_compiler_param" | "script_compiler_param",
            [],
        ) => {
            let at = building.parameters.len();
            building.injected.push((at, given.name.to_owned()));
        }
        _ => return Ok(None),
    }
    Ok(Some(Thing::Nil))
}

/// A call that a function has taken into its own hands goes on.
pub(super) fn dispatch(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Rc<Class>,
    this: &Thing,
    list: &Rc<List>,
) -> Result<Thing> {
    let found = interpreter.definitions.iter().find(|known| Rc::ptr_eq(&known.class, class)).cloned();
    let Some(definition) = found else { return beyond("it dispatches a call of its own") };
    let arguments = list.items.borrow().clone();
    let mut values = Vec::with_capacity(arguments.len());
    for argument in &arguments {
        // The scope is a value for nobody but Ruby; its parameter takes anything.
        values.push(if matches!(argument, Thing::Scope(_)) {
            Value::UNDEF
        } else {
            interpreter.value_for_puppet(argument)?
        });
    }
    crate::ruby_functions::dispatch(interpreter, &definition, this, &values, arguments, None)
        .map_err(Flow::Failure)
}
