//! What every object has.

use std::rc::Rc;
use std::sync::Arc;

use super::{Given, call, names};
use crate::ruby_language::classes::{self, Class, Instance};
use crate::ruby_language::interpreter::{Interpreter, Result, beyond, type_error};
use crate::ruby_language::things::{Enumerator, Map, Thing, compare, equal};
use crate::stdlib;

pub(super) fn general(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("nil?", []) => Thing::Bool(receiver.is_nil()),
        ("!", []) => Thing::Bool(!receiver.truth()),
        ("to_s", []) if !matches!(receiver, Thing::Object(_) | Thing::Uri(_) | Thing::Class(_)) => {
            match receiver {
                Thing::Text(_) | Thing::Bytes(_) => receiver.clone(),
                other => Thing::text(interpreter.to_s(other)?),
            }
        }
        ("inspect", []) if !matches!(receiver, Thing::Object(_)) => Thing::text(receiver.inspect()),
        ("is_a?" | "kind_of?", [class]) => match classes::is_a(receiver, class) {
            Some(answer) => Thing::Bool(answer),
            None => match class {
                Thing::Constant(name) => return beyond(format!("it asks whether a value is a {name}")),
                _ => return type_error("class or module required"),
            },
        },
        ("instance_of?", [class]) => Thing::Bool(receiver.class() == class.class_name()),
        ("==", [_]) if is_comparable(receiver) => return Ok(None),
        ("==" | "equal?", [other]) => match (receiver, other) {
            (Thing::Constant(name), other)
                if !matches!(other, Thing::Constant(_)) && !classes::is_known(name) =>
            {
                return beyond(format!("it compares {name}"));
            }
            _ => Thing::Bool(equal(receiver, other)),
        },
        ("eql?", [other]) if has_own_equality(receiver) => {
            call(interpreter, receiver, "==", vec![other.clone()], None)?
        }
        ("eql?", [other]) => Thing::Bool(receiver.identity() == other.identity()),
        ("!=", [other]) => {
            Thing::Bool(!call(interpreter, receiver, "==", vec![other.clone()], None)?.truth())
        }
        ("===", [other]) => Thing::Bool(interpreter.fits(receiver, other)?),
        ("<=>", [other]) if !matches!(receiver, Thing::Object(_)) => {
            compare(receiver, other).map_or(Thing::Nil, |order| Thing::Integer(order as i128))
        }
        ("class", []) => class_of(receiver),
        ("dup" | "clone", _) => copy(receiver, given.name == "clone"),
        ("itself", []) => receiver.clone(),
        ("freeze", []) => {
            match receiver {
                Thing::Text(text) => text.frozen.set(true),
                Thing::Array(list) => list.frozen.set(true),
                Thing::Hash(map) | Thing::Set(map) => map.frozen.set(true),
                _ => {}
            }
            receiver.clone()
        }
        ("frozen?", []) => Thing::Bool(match receiver {
            Thing::Text(text) => text.frozen.get(),
            Thing::Array(list) => list.frozen.get(),
            Thing::Hash(map) | Thing::Set(map) => map.frozen.get(),
            Thing::Object(_) => false,
            _ => true,
        }),
        ("to_json", _) => match receiver.with_texts().to_value() {
            Some(value) => Thing::text(stdlib::compact_json(&value)),
            None => return beyond("it writes something as JSON that is no data"),
        },
        ("to_yaml", options) => match receiver.to_value() {
            Some(_) if receiver.has_bytes() => return beyond("it writes bytes as YAML"),
            Some(_) if receiver.has_symbol() => return beyond("it writes a symbol as YAML"),
            Some(value) => {
                let options = options.first().and_then(Thing::to_value);
                Thing::text(stdlib::yaml_text_with(
                    &value,
                    options.as_ref().and_then(|options| options.as_hash()),
                ))
            }
            None => return beyond("it writes something as YAML that is no data"),
        },
        ("tap", []) => match given.block {
            Some(block) => {
                interpreter.call_block(block, vec![receiver.clone()])?;
                receiver.clone()
            }
            None => return Ok(None),
        },
        ("then" | "yield_self", []) => match given.block {
            Some(block) => interpreter.call_block(block, vec![receiver.clone()])?,
            None => return Ok(None),
        },
        ("respond_to?", [method, ..]) => responds_to(interpreter, receiver, &method.to_s())?,
        ("send" | "public_send" | "__send__", [method, rest @ ..]) => {
            call(interpreter, receiver, &method.to_s(), rest.to_vec(), given.block)?
        }
        ("method", [name]) => Thing::Method(Rc::new((receiver.clone(), Arc::from(name.to_s())))),
        ("instance_variable_get", [name]) => match receiver {
            Thing::Object(object) => {
                let name = name.to_s();
                let found = object.variables.borrow().get(name.trim_start_matches('@')).cloned();
                found.unwrap_or(Thing::Nil)
            }
            Thing::Class(class) => {
                let name = name.to_s();
                let found = class.variables.borrow().get(name.trim_start_matches('@')).cloned();
                found.unwrap_or(Thing::Nil)
            }
            _ => return beyond("it looks into an object"),
        },
        ("instance_variable_set", [name, value]) => match receiver {
            Thing::Object(object) => {
                let name: Arc<str> = name.to_s().trim_start_matches('@').into();
                object.variables.borrow_mut().insert(name, value.clone());
                value.clone()
            }
            Thing::Class(class) => {
                let name: Arc<str> = name.to_s().trim_start_matches('@').into();
                class.variables.borrow_mut().insert(name, value.clone());
                value.clone()
            }
            _ => return beyond("it changes an object"),
        },
        (
            "instance_eval" | "instance_exec" | "class_eval" | "module_eval" | "class_exec" | "module_exec",
            arguments,
        ) => match given.block {
            Some(block) => {
                let arguments =
                    if arguments.is_empty() { vec![receiver.clone()] } else { arguments.to_vec() };
                interpreter.call_block_as(block, arguments, Some(receiver.clone()), false)?
            }
            None => return beyond("it evaluates a text as code"),
        },
        ("to_enum" | "enum_for" | "each_entry", rest) if given.block.is_none() => {
            let method = rest.first().map_or_else(|| "each".to_owned(), Thing::to_s);
            Thing::Enumerator(Rc::new(Enumerator {
                receiver: receiver.clone(),
                method: method.into(),
                arguments: rest.get(1..).unwrap_or_default().to_vec(),
            }))
        }
        ("=~", [_])
            if !matches!(
                receiver,
                Thing::Text(_) | Thing::Symbol(_) | Thing::Regex(_) | Thing::Object(_)
            ) =>
        {
            Thing::Nil
        }
        // A number that is another in each process: good for nothing but to tell things apart.
        ("hash", []) if interpreter.tells_apart && !matches!(receiver, Thing::Object(_)) => {
            let mut hasher = rustc_hash::FxHasher::default();
            std::hash::Hash::hash(&receiver.identity(), &mut hasher);
            Thing::Integer((std::hash::Hasher::finish(&hasher) >> 2).into())
        }
        ("hash" | "object_id" | "__id__", []) => return beyond("it asks for the number of an object"),
        ("instance_variables", []) if matches!(receiver, Thing::Object(_)) => {
            let Thing::Object(object) = receiver else { return Ok(None) };
            let names = object.variables.borrow();
            Thing::array(names.keys().map(|name| Thing::symbol(&format!("@{name}"))).collect())
        }
        ("instance_variable_defined?", [name]) => match receiver {
            Thing::Object(object) => {
                let name = name.to_s();
                Thing::Bool(object.variables.borrow().contains_key(name.trim_start_matches('@')))
            }
            Thing::Class(class) => {
                let name = name.to_s();
                Thing::Bool(class.variables.borrow().contains_key(name.trim_start_matches('@')))
            }
            _ => return beyond("it looks into an object"),
        },
        ("extend", modules) if matches!(receiver, Thing::Object(_)) => {
            let Thing::Object(object) = receiver else { return Ok(None) };
            for module in modules {
                object.singleton().included.borrow_mut().push(module.clone());
                if let Thing::Class(own) = module {
                    super::kernel::told(interpreter, own, "extended", receiver.clone())?;
                }
            }
            receiver.clone()
        }
        ("define_singleton_method", [name, rest @ ..]) => {
            let Some(body) = rest.first().or(given.block) else { return Ok(None) };
            let name: Arc<str> = name.to_s().into();
            let kind = classes::MethodKind::Closure(body.clone());
            let method = Rc::new(classes::Method { name: Arc::clone(&name), kind, nesting: Vec::new() });
            match receiver {
                Thing::Object(object) => {
                    object.singleton().methods.borrow_mut().insert(Arc::clone(&name), method)
                }
                Thing::Class(class) => class.own_methods.borrow_mut().insert(Arc::clone(&name), method),
                _ => return beyond("it defines a method of a value"),
            };
            Thing::Symbol(name)
        }
        ("singleton_class", []) if matches!(receiver, Thing::Object(_)) => {
            let Thing::Object(object) = receiver else { return Ok(None) };
            Thing::Class(object.singleton())
        }
        ("instance_variables" | "methods" | "public_methods" | "singleton_class" | "extend", _)
            if !matches!(receiver, Thing::Class(_)) || given.name != "extend" =>
        {
            return beyond(format!("it calls {} of a value", given.name));
        }
        _ => return Ok(None),
    }))
}

/// Whether the order of an object decides about equality.
fn is_comparable(thing: &Thing) -> bool {
    let Thing::Object(object) = thing else { return false };
    matches!(object.class(), Thing::Class(class) if includes_comparable(&class) && class.find("<=>").is_some())
}

/// Whether the class of an object says itself which objects are equal.
pub(super) fn has_own_equality(thing: &Thing) -> bool {
    let Thing::Object(object) = thing else { return false };
    let Thing::Class(class) = &object.class() else { return false };
    ["==", "eql?", "hash", "<=>"].iter().any(|method| class.find(method).is_some())
}

fn class_of(thing: &Thing) -> Thing {
    match thing {
        Thing::Object(object) => object.plain_class(),
        other => Thing::Constant(other.class().into()),
    }
}

fn responds_to(interpreter: &mut Interpreter<'_, '_, '_>, receiver: &Thing, method: &str) -> Result<Thing> {
    let answer = match receiver {
        Thing::Object(object) => match &object.class() {
            Thing::Class(class) => {
                let known = class.find(method).is_some() || names::has("Object", method).unwrap_or(false);
                match class.find("respond_to_missing?") {
                    Some((owner, own)) if !known => {
                        let arguments = vec![Thing::symbol(method), Thing::Bool(false)];
                        interpreter.invoke(receiver, &owner, &own, arguments, None)?.truth()
                    }
                    _ => known,
                }
            }
            _ => {
                matches!(method, "message" | "backtrace" | "full_message")
                    || names::has("Object", method) == Some(true)
            }
        },
        Thing::Scope(_) => method.strip_prefix("function_").map_or_else(
            || {
                matches!(
                    method,
                    "lookupvar" | "call_function" | "catalog" | "compiler" | "[]" | "to_hash" | "environment"
                )
            },
            |name| interpreter.context.host.has_function(name),
        ),
        Thing::Class(class) => class.find_own(method).is_some() || matches!(method, "new" | "name"),
        Thing::Constant(name)
            if &**name == "Puppet::Util" && matches!(method, "absolute_path?" | "deterministic_rand") =>
        {
            true
        }
        Thing::Constant(name) => return beyond(format!("it asks what {name} responds to")),
        Thing::Other(value) => match (&value.data, method) {
            (setpoint_puppet_values::Data::Sensitive(_), "unwrap") => true,
            (_, "each" | "map" | "keys" | "to_hash" | "to_ary" | "to_str" | "gsub") => false,
            _ => return beyond("it asks what a value of Puppet responds to"),
        },
        other => match names::has(&other.class(), method) {
            Some(answer) => answer,
            None => return beyond(format!("it asks what {} responds to", other.class())),
        },
    };
    Ok(Thing::Bool(answer))
}

pub(super) fn copy(thing: &Thing, keeps_frozen: bool) -> Thing {
    let duplicate = |map: &Map| {
        let copy = Map::new(map.table.borrow().clone());
        *copy.default.borrow_mut() = map.default.borrow().clone();
        (*copy.maker.borrow_mut()).clone_from(&map.maker.borrow());
        (*copy.incomplete.borrow_mut()).clone_from(&map.incomplete.borrow());
        copy.frozen.set(keeps_frozen && map.frozen.get());
        Rc::new(copy)
    };
    match thing {
        Thing::Text(text) => {
            let copy = Thing::text(text.value.borrow().clone());
            if let Thing::Text(copy) = &copy {
                copy.frozen.set(keeps_frozen && text.frozen.get());
            }
            copy
        }
        Thing::Array(list) => {
            let copy = Thing::array(list.items.borrow().clone());
            if let Thing::Array(copy) = &copy {
                copy.frozen.set(keeps_frozen && list.frozen.get());
            }
            copy
        }
        Thing::Hash(map) => Thing::Hash(duplicate(map)),
        Thing::Set(map) => Thing::Set(duplicate(map)),
        Thing::Object(object) => {
            let copy = Instance::new(object.class());
            *copy.variables.borrow_mut() = object.variables.borrow().clone();
            Thing::Object(copy)
        }
        other => other.clone(),
    }
}

/// Methods of instances that their class does not define: those of errors, and of functions.
pub(super) fn object(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    let Thing::Object(object) = receiver else { return Ok(None) };
    if object.is_error() {
        return Ok(Some(match (given.name, given.arguments) {
            ("message" | "to_s" | "to_str", []) => Thing::text(object.message()),
            ("full_message" | "backtrace" | "cause" | "backtrace_locations", _) => {
                return beyond(format!("it asks an error for its {}", given.name));
            }
            ("set_backtrace", _) => Thing::Nil,
            ("inspect", []) => Thing::text(receiver.inspect()),
            ("exception", []) => receiver.clone(),
            ("basic_message", []) => Thing::text(object.message()),
            _ => return missing(interpreter, receiver, given),
        }));
    }
    if let Thing::Class(class) = &object.class()
        && let Some(result) = comparable(interpreter, class, receiver, given)?
    {
        return Ok(Some(result));
    }
    match (given.name, given.arguments) {
        ("inspect" | "to_s", []) => beyond("it writes an object as text"),
        ("<=>", [other]) => Ok(Some(if equal(receiver, other) { Thing::Integer(0) } else { Thing::Nil })),
        (name, arguments) => {
            if let Some(result) = super::puppet::function_method(interpreter, name, arguments, given.block)? {
                return Ok(Some(result));
            }
            match super::kernel::conversions(interpreter, given)? {
                Some(result) => Ok(Some(result)),
                None => missing(interpreter, receiver, given),
            }
        }
    }
}

fn missing(
    interpreter: &mut Interpreter<'_, '_, '_>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if let Thing::Object(object) = receiver
        && let Thing::Class(class) = &object.class()
        && let Some((owner, method)) = class.find("method_missing")
    {
        let arguments = std::iter::once(Thing::symbol(given.name)).chain(given.arguments.iter().cloned());
        return interpreter.invoke(receiver, &owner, &method, arguments.collect(), given.block).map(Some);
    }
    beyond(format!("it calls {} of {}", given.name, receiver.class()))
}

fn includes_comparable(class: &Rc<Class>) -> bool {
    let is_it = |module: &Thing| matches!(module, Thing::Constant(name) if &**name == "Comparable");
    class.lineage().iter().any(|one| one.included.borrow().iter().any(is_it))
}

/// What `include Comparable` and `include Enumerable` bring.
fn comparable(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Rc<Class>,
    receiver: &Thing,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    if class.find("<=>").is_some()
        && let [other] = given.arguments
        && matches!(given.name, "<" | ">" | "<=" | ">=" | "==")
        && (given.name != "==" || includes_comparable(class))
    {
        let order = call(interpreter, receiver, "<=>", vec![other.clone()], None)?;
        let Thing::Integer(order) = order else {
            if given.name == "==" {
                return Ok(Some(Thing::Bool(false)));
            }
            return super::argument_error(format!(
                "comparison of {} with {} failed",
                receiver.class(),
                other.inspect()
            ));
        };
        return Ok(Some(Thing::Bool(match given.name {
            "<" => order < 0,
            ">" => order > 0,
            "<=" => order <= 0,
            "==" => order == 0,
            _ => order >= 0,
        })));
    }
    if includes_comparable(class) {
        let is = |interpreter: &mut Interpreter<'_, '_, '_>, sign: &str, other: &Thing| {
            call(interpreter, receiver, sign, vec![other.clone()], None).map(|answer| answer.truth())
        };
        match (given.name, given.arguments) {
            ("between?", [least, most]) => {
                let fits = is(interpreter, ">=", least)? && is(interpreter, "<=", most)?;
                return Ok(Some(Thing::Bool(fits)));
            }
            ("clamp", [least, most]) => {
                let clamped = if is(interpreter, "<", least)? {
                    least
                } else if is(interpreter, ">", most)? {
                    most
                } else {
                    receiver
                };
                return Ok(Some(clamped.clone()));
            }
            _ => {}
        }
    }
    if class.find("each").is_some() && names::has("Enumerator", given.name) == Some(true) {
        let items = super::items(interpreter, receiver)?;
        return call(interpreter, &Thing::array(items), given.name, given.arguments.to_vec(), given.block)
            .map(Some);
    }
    Ok(None)
}
