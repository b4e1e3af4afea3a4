//! What is called without a receiver.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use super::names;
use super::puppet;
use super::texts::formatted;
use super::{Given, call, kind, text_of, to_array};
use crate::ruby::numbers;
use crate::ruby_language::classes::{Method, MethodKind};
use crate::ruby_language::interpreter::{
    Flow, Interpreter, Result, argument_error, beyond, raise, type_error,
};
use crate::ruby_language::things::{Environment, Seen, Thing, equal};
use setpoint_source::normal;

pub(in crate::ruby_language) fn kernel(
    interpreter: &mut Interpreter<'_, '_, '_>,
    name: &str,
    arguments: Vec<Thing>,
    block: Option<&Thing>,
    environment: &Rc<Environment>,
) -> Result<Thing> {
    let given = Given { name, arguments: &arguments, block };
    if let Some(result) = puppet::building(interpreter, &given)? {
        return Ok(result);
    }
    if let Thing::Class(class) = &environment.frame.this {
        // `class << self`
        let is_singleton = environment.frame.method.as_ref().is_some_and(|(_, method)| &**method == "<<self");
        if is_singleton && name.starts_with("attr_") {
            accessors(&class.own_methods, &given);
            return Ok(Thing::Nil);
        }
        if is_singleton && matches!(name, "define_method" | "alias_method" | "include") {
            return beyond(format!("it calls {name} for a class itself"));
        }
        if let Some(result) = in_class(interpreter, class, &given)? {
            return Ok(result);
        }
    }
    if let Some(result) = conversions(interpreter, &given)? {
        return Ok(result);
    }
    if let Some(result) = control(interpreter, &given, environment)? {
        return Ok(result);
    }
    match &environment.frame.this {
        Thing::Nil => match (name, arguments.as_slice()) {
            ("scope", []) => Ok(Thing::Scope(Seen::ByCaller)),
            ("instance_variables", []) if interpreter.is_template => instance_variables(interpreter),
            ("instance_variable_get", [variable]) if interpreter.is_template => {
                let variable = variable.to_s();
                Ok(interpreter.template_variable(&variable.trim_start_matches('@').into()))
            }
            ("instance_variable_defined?", [variable]) if interpreter.is_template => {
                let variable = variable.to_s();
                let value = interpreter.template_variable(&variable.trim_start_matches('@').into());
                Ok(Thing::Bool(!value.is_nil()))
            }
            ("has_variable?", [variable]) => {
                let variable = variable.to_s();
                Ok(Thing::Bool(!interpreter.variable(&variable).is_nil()))
            }
            _ if interpreter.is_template && names::has("TemplateWrapper", name) == Some(false) => {
                unknown_name(name, &given)
            }
            _ => beyond(format!("it calls {name}")),
        },
        Thing::Scope(seen) => match puppet::scope(interpreter, *seen, &given)? {
            Some(result) => Ok(result),
            None => beyond(format!("it calls {name}")),
        },
        this @ (Thing::Object(_) | Thing::Class(_) | Thing::Constant(_)) => {
            let this = this.clone();
            call(interpreter, &this, name, arguments, block)
        }
        // In a block that runs for a value, such as that of `instance_eval`.
        this => {
            let this = this.clone();
            call(interpreter, &this, name, arguments, block)
        }
    }
}

/// A name that a template does not know: until Puppet 4, variables were called so.
fn unknown_name<T>(name: &str, given: &Given<'_>) -> Result<T> {
    let of = "for #<Puppet::Parser::TemplateWrapper>";
    if given.arguments.is_empty() && given.block.is_none() {
        return raise("NameError", format!("undefined local variable or method `{name}' {of}"));
    }
    raise("NoMethodError", format!("undefined method `{name}' {of}"))
}

/// The names of what a template sees: Puppet gives it two of its own, and all variables of the scope that have a value.
fn instance_variables(interpreter: &mut Interpreter<'_, '_, '_>) -> Result<Thing> {
    let Some(variables) = interpreter.context.host.visible_variables() else {
        return beyond("it asks for all variables");
    };
    for (_, value) in &variables {
        interpreter.note_unknown(value);
    }
    let own = ["__scope__", "__file__"].map(str::to_owned);
    let own = own.into_iter().take(if interpreter.is_inline_template() { 1 } else { 2 });
    let set: Vec<String> = interpreter.instance.keys().map(ToString::to_string).collect();
    let mut names: indexmap::IndexSet<String> = own.collect();
    let known = variables.into_iter().filter(|(_, value)| !value.is_undef());
    names.extend(known.map(|(name, _)| name.replace(|letter: char| !is_word(letter), "_")));
    names.extend(set);
    Ok(Thing::array(names.iter().map(|name| Thing::symbol(&format!("@{name}"))).collect()))
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

pub(super) fn conversions(
    interpreter: &mut Interpreter<'_, '_, '_>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("Array", [value]) => match value {
            Thing::Array(_) => value.clone(),
            other => Thing::array(to_array(interpreter, other)?),
        },
        ("Hash", [value]) => match value {
            Thing::Hash(_) => value.clone(),
            Thing::Nil => Thing::pairs([]),
            other => return type_error(format!("can't convert {} into Hash", kind(other))),
        },
        ("String", [value]) => Thing::text(interpreter.to_s(value)?),
        ("Integer", [value, rest @ ..]) => {
            let quiet = match rest.last() {
                Some(Thing::Hash(options)) => {
                    let table = options.table.borrow();
                    table.get(&Thing::symbol("exception").identity()).is_some_and(|(_, value)| !value.truth())
                }
                _ => false,
            };
            let radix = match rest.first() {
                Some(Thing::Integer(radix)) => u32::try_from(*radix).ok(),
                _ => None,
            };
            match integer(value, radix) {
                Err(Flow::Raise(_)) if quiet => Thing::Nil,
                other => other?,
            }
        }
        ("Float", [value, ..]) => match value {
            Thing::Integer(number) => Thing::Float(*number as f64),
            Thing::Float(_) => value.clone(),
            Thing::Text(text) => match numbers::parse_float(&text.value.borrow()) {
                Some(number) => Thing::Float(number),
                None => return argument_error(format!("invalid value for Float(): {}", value.inspect())),
            },
            other => return type_error(format!("can't convert {} into Float", kind(other))),
        },
        ("Rational" | "Complex", _) => return beyond("it makes a fraction"),
        ("URI", [text]) => {
            call(interpreter, &Thing::Constant("URI".into()), "parse", vec![text.clone()], None)?
        }
        ("sprintf" | "format", [format, rest @ ..]) => {
            Thing::text(formatted(interpreter, &text_of(format)?, rest)?)
        }
        // Translations are not there: texts stand for themselves.
        ("_", [text]) => text.clone(),
        ("n_", [one, many, count]) => {
            if equal(count, &Thing::Integer(1)) {
                one.clone()
            } else {
                many.clone()
            }
        }
        _ => return Ok(None),
    }))
}

fn integer(value: &Thing, radix: Option<u32>) -> Result<Thing> {
    match value {
        Thing::Integer(_) => Ok(value.clone()),
        Thing::Float(number) => super::numbers::from_float(number.trunc()),
        Thing::Text(text) => {
            let text = text.value.borrow();
            let parsed = match radix {
                Some(radix) => numbers::parse_integer_in(&text, Some(radix)),
                None => numbers::parse_integer(&text),
            };
            match parsed {
                Some(number) => Ok(Thing::Integer(number)),
                None => argument_error(format!("invalid value for Integer(): {}", value.inspect())),
            }
        }
        other => type_error(format!("can't convert {} into Integer", kind(other))),
    }
}

fn control(
    interpreter: &mut Interpreter<'_, '_, '_>,
    given: &Given<'_>,
    environment: &Rc<Environment>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("raise" | "fail", rest) => return interpreter.raise(rest).map(Some),
        ("require", [name]) => {
            let name = text_of(name)?;
            interpreter.require(&name)?
        }
        ("require_relative", [name]) => {
            let name = text_of(name)?;
            let Some(folder) = interpreter.file.as_ref().and_then(|file| file.parent()) else {
                return beyond(format!("it requires {name}"));
            };
            let path =
                normal(&folder.join(if name.ends_with(".rb") { name.clone() } else { format!("{name}.rb") }));
            interpreter.load(path)?
        }
        ("__beyond__", [reason]) => return beyond(reason.to_s()),
        ("block_given?", []) => Thing::Bool(environment.frame.block.is_some()),
        ("lambda" | "proc", []) => match given.block {
            Some(block) => block.clone(),
            None => return argument_error("tried to create Proc object without a block"),
        },
        ("loop", []) => {
            let Some(block) = given.block else { return beyond("it loops without a block") };
            loop {
                match interpreter.call_block(block, Vec::new()) {
                    Ok(_) => {}
                    Err(Flow::Raise(Thing::Object(error)))
                        if error.class().class_name() == "StopIteration" =>
                    {
                        return Ok(Some(Thing::Nil));
                    }
                    Err(other) => return Err(other),
                }
            }
        }
        ("catch", rest) => {
            let Some(block) = given.block else { return Ok(None) };
            let tag = rest.first().cloned().unwrap_or(Thing::Nil);
            match interpreter.call_block(block, vec![tag.clone()]) {
                Err(Flow::Throw(thrown, value)) if equal(&thrown, &tag) => value,
                other => other?,
            }
        }
        ("throw", [tag, rest @ ..]) => {
            let value = rest.first().cloned().unwrap_or(Thing::Nil);
            return Err(Flow::Throw(tag.clone(), value));
        }
        // It writes to the standard error of the server, which nobody reads here.
        ("warn", _) if !matches!(environment.frame.this, Thing::Scope(_)) => Thing::Nil,
        (
            "binding" | "eval" | "system" | "exec" | "spawn" | "fork" | "sleep" | "open" | "rand" | "srand"
            | "gets" | "puts" | "print" | "p" | "pp" | "exit" | "abort" | "at_exit" | "caller" | "load"
            | "autoload" | "local_variables" | "srandom" | "select" | "test" | "trap",
            _,
        ) => {
            return beyond(format!("it calls {}", given.name));
        }
        _ => return Ok(None),
    }))
}

/// What a body of a class calls.
pub(super) fn in_class(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Rc<crate::ruby_language::classes::Class>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    match (given.name, given.arguments) {
        ("attr_reader" | "attr_accessor" | "attr_writer", _) => accessors(&class.methods, given),
        (
            "private"
            | "public"
            | "protected"
            | "private_constant"
            | "private_class_method"
            | "public_class_method",
            _,
        ) => {}
        ("module_function", []) => class.module_function.set(true),
        ("module_function", names) => {
            for name in names {
                if let Some((_, method)) = class.find(&name.to_s()) {
                    class.own_methods.borrow_mut().insert(Arc::from(name.to_s()), method);
                }
            }
        }
        ("include" | "prepend", modules) => {
            for module in modules {
                match module {
                    Thing::Class(own) => {
                        if given.name == "prepend" {
                            return beyond("it puts a module before a class");
                        }
                        class.included.borrow_mut().push(module.clone());
                        told(interpreter, own, "included", Thing::Class(Rc::clone(class)))?;
                    }
                    // What it brings is not known; it matters only if it is called.
                    Thing::Constant(_) => class.included.borrow_mut().push(module.clone()),
                    other => {
                        return type_error(format!("wrong argument type {} (expected module)", kind(other)));
                    }
                }
            }
        }
        ("extend", [Thing::Class(module)]) if Rc::ptr_eq(module, class) => {
            class.extended.borrow_mut().push(Thing::Class(Rc::clone(module)));
        }
        ("extend", modules) => {
            class.extended.borrow_mut().extend(modules.iter().cloned());
            for module in modules {
                if let Thing::Class(own) = module {
                    told(interpreter, own, "extended", Thing::Class(Rc::clone(class)))?;
                }
            }
        }
        ("def_delegator", [to, method, rest @ ..]) => {
            delegate(class, to, method, rest.first().unwrap_or(method));
        }
        ("def_delegators", [to, methods @ ..]) => {
            for method in methods {
                delegate(class, to, method, method);
            }
        }
        ("define_method", [name, rest @ ..]) => {
            if let Some(Thing::Method(_)) = rest.first() {
                return beyond("it defines a method by another");
            }
            let Some(body) = rest.first().or(given.block) else { return Ok(None) };
            let name: Arc<str> = name.to_s().into();
            let kind = MethodKind::Closure(body.clone());
            let method = Rc::new(Method { name: Arc::clone(&name), kind, nesting: Vec::new() });
            class.methods.borrow_mut().insert(name, method);
        }
        ("alias_method", [new, old]) => match class.find(&old.to_s()) {
            Some((_, method)) => {
                class.methods.borrow_mut().insert(Arc::from(new.to_s()), method);
            }
            None if super::names::has("Object", &old.to_s()) == Some(true) => {
                return beyond(format!("it gives {} another name", old.to_s()));
            }
            None => {
                return raise(
                    "NameError",
                    format!("undefined method `{}' for class `{}'", old.to_s(), class.name()),
                );
            }
        },
        ("extend_object" | "remove_method" | "undef_method" | "const_missing", _) => {
            return beyond(format!("it calls {} in a class", given.name));
        }
        _ => return Ok(None),
    }
    Ok(Some(Thing::Nil))
}

/// `attr_reader` and its like.
fn accessors(methods: &RefCell<IndexMap<Arc<str>, Rc<Method>>>, given: &Given<'_>) {
    for name in given.arguments {
        let variable: Arc<str> = name.to_s().into();
        let add = |name: Arc<str>, kind: MethodKind| {
            let method = Method { name: Arc::clone(&name), kind, nesting: Vec::new() };
            methods.borrow_mut().insert(name, Rc::new(method));
        };
        if given.name != "attr_writer" {
            add(Arc::clone(&variable), MethodKind::Reader(Arc::clone(&variable)));
        }
        if given.name != "attr_reader" {
            add(format!("{variable}=").into(), MethodKind::Writer(variable));
        }
    }
}

/// Tells a module or class that it was included, extended or inherited from, if it has a method for that.
pub(in crate::ruby_language) fn told(
    interpreter: &mut Interpreter<'_, '_, '_>,
    by: &Rc<crate::ruby_language::classes::Class>,
    hook: &str,
    whom: Thing,
) -> Result<()> {
    if let Some((owner, method)) = by.find_own(hook) {
        interpreter.invoke(&Thing::Class(Rc::clone(by)), &owner, &method, vec![whom], None)?;
    }
    Ok(())
}

/// `def_delegator :@items, :size, :count`
fn delegate(class: &Rc<crate::ruby_language::classes::Class>, to: &Thing, method: &Thing, name: &Thing) {
    let (to, method, name): (Arc<str>, Arc<str>, Arc<str>) =
        (to.to_s().into(), method.to_s().into(), name.to_s().into());
    let kind = MethodKind::Delegate(to, method);
    let method = Rc::new(Method { name: Arc::clone(&name), kind, nesting: Vec::new() });
    class.methods.borrow_mut().insert(name, method);
}
