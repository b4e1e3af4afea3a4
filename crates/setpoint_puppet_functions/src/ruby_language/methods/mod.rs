//! The methods of Ruby's values, by receiver.

mod arrays;
mod constants;
mod enumerable;
mod files;
mod general;
mod hashes;
mod kernel;
mod letters;
mod library;
mod names;
mod numbers;
mod others;
mod patterns;
mod puppet;
mod texts;

use std::rc::Rc;

use setpoint_source::Limit;

use super::classes::Class;
use super::interpreter::{Interpreter, Result, argument_error, beyond, raise, type_error};
use super::things::{Table, Thing, equal};

pub(super) use enumerable::items;
pub(super) use kernel::{kernel, told};
pub(super) use others::covers;
pub(super) use puppet::reference;

/// More elements are refused.
const MOST: Limit = Limit::new(1_000_000);

/// One call: the method, what it was given, and its block.
struct Given<'g> {
    name: &'g str,
    arguments: &'g [Thing],
    block: Option<&'g Thing>,
}

impl Given<'_> {
    /// Complains if there are other than so many arguments.
    fn count<T>(&self, expected: &str) -> Result<T> {
        argument_error(format!(
            "wrong number of arguments (given {}, expected {expected})",
            self.arguments.len()
        ))
    }
}

/// What `a, b = value` takes apart.
pub(super) fn spread(value: &Thing) -> Vec<Thing> {
    match value {
        Thing::Array(list) => list.items.borrow().clone(),
        other => vec![other.clone()],
    }
}

/// `*value`
pub(super) fn to_array(interpreter: &mut Interpreter<'_, '_, '_>, value: &Thing) -> Result<Vec<Thing>> {
    match value {
        Thing::Nil => Ok(Vec::new()),
        Thing::Array(_) | Thing::Hash(_) | Thing::Range(_) | Thing::Set(_) | Thing::Enumerator(_) => {
            items(interpreter, value)
        }
        other => Ok(vec![other.clone()]),
    }
}

pub(super) fn new_table() -> Table {
    Table::new()
}

/// A text that is a key is its own.
pub(super) fn as_key(key: Thing) -> Thing {
    match &key {
        Thing::Text(text) if !text.frozen.get() => {
            let copy = Thing::text(text.value.borrow().clone());
            if let Thing::Text(copy) = &copy {
                copy.frozen.set(true);
            }
            copy
        }
        _ => key,
    }
}

/// Sets an entry; one that is there keeps its place and its key.
pub(super) fn put(table: &mut Table, key: Thing, value: Thing) {
    let identity = key.identity();
    put_as(table, identity, key, value);
}

/// The same with an identity that is known.
pub(super) fn put_as(table: &mut Table, identity: String, key: Thing, value: Thing) {
    match table.get_mut(&identity) {
        Some(entry) => entry.1 = value,
        None => {
            table.insert(identity, (key, value));
        }
    }
}

fn first(arguments: &[Thing]) -> Thing {
    arguments.first().cloned().unwrap_or(Thing::Nil)
}

/// The class as Ruby names it where it refuses a conversion.
fn kind(thing: &Thing) -> String {
    match thing {
        Thing::Nil => "nil".to_owned(),
        Thing::Bool(flag) => flag.to_string(),
        other => other.class(),
    }
}

fn text_of(thing: &Thing) -> Result<String> {
    match thing {
        Thing::Text(text) => Ok(text.value.borrow().clone()),
        Thing::Bytes(bytes) if bytes.is_ascii() => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Thing::Bytes(_) => beyond("it handles bytes as a text"),
        other => type_error(format!("no implicit conversion of {} into String", kind(other))),
    }
}

fn bytes_of(thing: &Thing) -> Result<Vec<u8>> {
    match thing {
        Thing::Bytes(bytes) => Ok(bytes.to_vec()),
        other => Ok(text_of(other)?.into_bytes()),
    }
}

fn integer_of(thing: &Thing) -> Result<i128> {
    match thing {
        Thing::Integer(number) => Ok(*number),
        Thing::Float(number) if number.is_finite() => {
            numbers::bounded(*number as i128)?;
            Ok(*number as i128)
        }
        Thing::Nil => type_error("no implicit conversion from nil to integer"),
        other => type_error(format!("no implicit conversion of {} into Integer", kind(other))),
    }
}

fn count_of(thing: &Thing) -> Result<usize> {
    let number = integer_of(thing)?;
    match usize::try_from(number) {
        Ok(count) => Ok(count.min(usize::MAX / 2)),
        Err(_) => argument_error("attempt to take negative size"),
    }
}

/// A method that the value does not have, or that is not known here.
fn no_method<T>(receiver: &Thing, name: &str) -> Result<T> {
    let class = receiver.class();
    match names::has(&class, name) {
        Some(false) => {
            let inspected = match receiver {
                Thing::Nil | Thing::Bool(_) => receiver.inspect(),
                _ => {
                    let text = receiver.inspect();
                    if text.len() > 65 {
                        return long_no_method(receiver, name);
                    }
                    text
                }
            };
            raise("NoMethodError", format!("undefined method `{name}' for {inspected}:{class}"))
        }
        _ => beyond(format!("it calls {name} of {class}")),
    }
}

/// Ruby leaves out the value if it is long.
fn long_no_method<T>(receiver: &Thing, name: &str) -> Result<T> {
    raise("NoMethodError", format!("undefined method `{name}' for #<{}>", receiver.class()))
}

/// Calls a method of a value.
pub(super) fn call(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: Vec<Thing>,
    block: Option<&Thing>,
) -> Result<Thing> {
    interpreter.step()?;
    match receiver {
        Thing::Object(object) => {
            if let Thing::Class(class) = &object.class()
                && let Some((owner, method)) = class.find(name)
            {
                return interpreter.invoke(receiver, &owner, &method, arguments, block);
            }
        }
        Thing::Class(class) => {
            if let Some((owner, method)) = class.find_own(name) {
                return interpreter.invoke(receiver, &owner, &method, arguments, block);
            }
        }
        _ => {}
    }
    let before = receiver.own_bytes();
    let result = native(interpreter, receiver, name, &arguments, block)?;
    if let Thing::Integer(number) = result {
        numbers::bounded(number)?;
    }
    interpreter.charge(receiver.own_bytes().saturating_sub(before))?;
    if result.is_new() {
        interpreter.charge(result.own_bytes())?;
    }
    Ok(result)
}

/// A method that is written here, not in Ruby.
fn native(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    name: &str,
    arguments: &[Thing],
    block: Option<&Thing>,
) -> Result<Thing> {
    let given = Given { name, arguments, block };
    refuse_frozen(receiver, name)?;
    if let Some(result) = general::general(interpreter, receiver, &given)? {
        return Ok(result);
    }
    let result = match receiver {
        Thing::Text(text) => texts::text(interpreter, text, receiver, &given)?,
        Thing::Bytes(bytes) => others::bytes(bytes, receiver, &given)?,
        Thing::Symbol(symbol) => texts::symbol(interpreter, symbol, receiver, &given)?,
        Thing::Array(list) => arrays::array(interpreter, list, receiver, &given)?,
        Thing::Hash(map) => hashes::hash(interpreter, map, receiver, &given)?,
        Thing::Set(map) => others::set(interpreter, map, receiver, &given)?,
        Thing::Range(range) => others::range(interpreter, range, receiver, &given)?,
        Thing::Integer(_) | Thing::Float(_) => numbers::number(interpreter, receiver, &given)?,
        Thing::Scope(seen) => puppet::scope(interpreter, *seen, &given)?,
        Thing::Regex(regex) => patterns::regex(interpreter, regex, &given)?,
        Thing::Match(found) => patterns::found(interpreter, found, &given)?,
        Thing::Lambda(_) | Thing::Native(_) | Thing::Block | Thing::Method(_) => {
            others::procedure(interpreter, receiver, &given)?
        }
        Thing::Enumerator(enumerator) => others::enumerator(interpreter, enumerator, receiver, &given)?,
        Thing::Address(address) => others::address(address, &given)?,
        Thing::Uri(uri) => others::uri(uri, &given)?,
        Thing::Constant(class) => constants::constant(interpreter, class, &given)?,
        Thing::Class(class) => class_method(interpreter, class, &given)?,
        Thing::Object(_) => general::object(interpreter, receiver, &given)?,
        Thing::Other(value) => puppet::other(interpreter, value, &given)?,
        Thing::Bool(flag) => match (name, arguments) {
            ("&", [other]) => Some(Thing::Bool(*flag && other.truth())),
            ("|", [other]) => Some(Thing::Bool(*flag || other.truth())),
            ("^", [other]) => Some(Thing::Bool(*flag != other.truth())),
            _ => None,
        },
        Thing::Nil => match (name, arguments) {
            ("to_a", []) => Some(Thing::array(Vec::new())),
            ("to_h", []) => Some(Thing::table(Table::new())),
            ("to_i", []) => Some(Thing::Integer(0)),
            ("to_f", []) => Some(Thing::Float(0.0)),
            ("=~", [_]) => Some(Thing::Nil),
            ("&", [_]) => Some(Thing::Bool(false)),
            ("|", [other]) => Some(Thing::Bool(other.truth())),
            _ => None,
        },
    };
    match result {
        Some(result) => Ok(result),
        None => no_method(receiver, name),
    }
}

fn refuse_frozen(receiver: &Thing, name: &str) -> Result<()> {
    let frozen = match receiver {
        Thing::Text(text) => text.frozen.get(),
        Thing::Array(list) => list.frozen.get(),
        Thing::Hash(map) | Thing::Set(map) => map.frozen.get(),
        _ => return Ok(()),
    };
    let changes = name.ends_with('!')
        || matches!(
            name,
            "<<" | "[]="
                | "push"
                | "append"
                | "pop"
                | "shift"
                | "unshift"
                | "prepend"
                | "concat"
                | "insert"
                | "delete_at"
                | "delete_if"
                | "keep_if"
                | "clear"
                | "replace"
                | "store"
                | "update"
                | "fill"
        )
        || name == "delete" && !matches!(receiver, Thing::Text(_));
    if frozen && changes {
        let message = format!("can't modify frozen {}: {}", receiver.class(), receiver.inspect());
        return raise("FrozenError", message);
    }
    Ok(())
}

/// Methods that classes of the program have.
fn class_method(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Rc<Class>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("new", arguments) if !class.is_module => {
            interpreter.instantiate(class, arguments.to_vec(), given.block)?
        }
        ("name", []) if class.name().is_empty() => Thing::Nil,
        ("name" | "to_s" | "inspect", []) => Thing::text(&*class.name()),
        // `self.class.dispatcher.dispatch(self, scope, args)`
        ("dispatcher", []) => Thing::Class(Rc::clone(class)),
        ("dispatch", [this, _, Thing::Array(list)]) => puppet::dispatch(interpreter, class, this, list)?,
        ("exception", arguments) => interpreter.instantiate(class, arguments.to_vec(), given.block)?,
        ("instance_methods" | "public_instance_methods", _) => {
            let names = class.methods.borrow();
            let public = names.keys().filter(|name| &***name != "initialize");
            Thing::array(public.map(|name| Thing::symbol(name)).collect())
        }
        ("method_defined?" | "instance_method", [name]) if given.name == "method_defined?" => {
            Thing::Bool(class.find(&name.to_s()).is_some())
        }
        ("const_get", [name]) => {
            let name = name.to_s();
            let found = class.constants.borrow().get(name.as_str()).cloned();
            match found {
                Some(found) => found,
                None => {
                    return raise("NameError", format!("uninitialized constant {}::{name}", class.name()));
                }
            }
        }
        ("const_set", [name, value]) => {
            class.constants.borrow_mut().insert(name.to_s().into(), value.clone());
            value.clone()
        }
        ("const_defined?", [name]) => {
            Thing::Bool(class.constants.borrow().contains_key(name.to_s().as_str()))
        }
        ("constants", _) => {
            Thing::array(class.constants.borrow().keys().map(|name| Thing::symbol(name)).collect())
        }
        ("superclass", []) => class.parent.clone().unwrap_or_else(|| Thing::Constant("Object".into())),
        ("ancestors", []) => {
            let line = class.lineage();
            let foreign = line.iter().flat_map(|one| {
                one.included
                    .borrow()
                    .iter()
                    .filter(|one| matches!(one, Thing::Constant(_)))
                    .cloned()
                    .collect::<Vec<_>>()
            });
            let foreign: Vec<Thing> = foreign.chain(class.foreign_parent().map(Thing::Constant)).collect();
            let own = line.into_iter().map(Thing::Class);
            let last = ["Object", "Kernel", "BasicObject"].map(|name| Thing::Constant(name.into()));
            Thing::array(own.chain(foreign).chain(last).collect())
        }
        ("<" | "<=", [Thing::Class(other)]) => {
            let is_same = Rc::ptr_eq(class, other);
            let inherits = class.lineage().iter().any(|one| Rc::ptr_eq(one, other));
            Thing::Bool(inherits && (given.name == "<=" || !is_same))
        }
        ("include?", [module]) => Thing::Bool(
            class.lineage().iter().any(|one| one.included.borrow().iter().any(|known| equal(known, module))),
        ),
        ("allocate", []) => Thing::Object(super::classes::Instance::new(Thing::Class(Rc::clone(class)))),
        ("class_variable_get", [name]) => {
            let name = name.to_s();
            let found =
                class.lineage().iter().find_map(|one| one.variables.borrow().get(name.as_str()).cloned());
            found.unwrap_or(Thing::Nil)
        }
        ("class_variable_set", [name, value]) => {
            class.variables.borrow_mut().insert(name.to_s().into(), value.clone());
            value.clone()
        }
        ("class_variable_defined?", [name]) => {
            let name = name.to_s();
            Thing::Bool(class.lineage().iter().any(|one| one.variables.borrow().contains_key(name.as_str())))
        }
        _ => return kernel::in_class(interpreter, class, given),
    }))
}
