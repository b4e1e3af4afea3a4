//! `include`, `contain` and `require`.

use setpoint_provenance::Prov;
use setpoint_puppet_functions::{Call, FailureKind, IllegalArgument, Stop, UnknownUse};
use setpoint_puppet_values::{Data, Type, Value, infer};
use setpoint_source::Symbol;

use super::{at_least_one, flat_chosen, flatten};
use crate::compiler::Compiler;
use crate::resources::ResourceId;

pub(super) fn include(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    declare(compiler, call).map(|(references, _)| references)
}

/// The classes are contained in the class or instance that calls.
pub(super) fn contain(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    let (references, classes) = declare(compiler, call)?;
    let container = compiler.scopes[compiler.frame.scope].resource;
    let prov = made_by(compiler, call);
    for class in classes {
        compiler.add_class_edge(container, class, prov);
    }
    Ok(references)
}

/// The class or instance that calls requires the classes.
pub(super) fn require(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    let (references, _) = declare(compiler, call)?;
    let container = compiler.scopes[compiler.frame.scope].resource;
    let name = Symbol::new("require");
    let known = compiler.resources[container].get(name).cloned();
    let mut values = Vec::new();
    flatten(known.as_slice(), &mut values);
    values.retain(|value| !value.is_undef());
    values.extend(references.as_array().unwrap_or(&[]).iter().cloned());
    let known = known.map_or(Prov::NONE, |value| value.prov);
    let made = made_by(compiler, call);
    let prov = compiler.arena.operation(call.name, Some(call.span), &[known, made]);
    let id = setpoint_catalog::ResourceId(container.index() as u32);
    if compiler.arena.enabled() {
        compiler.trace.requires.push((id, made));
    }
    compiler.set_parameter(container, name, Value::array(values).with(prov))?;
    Ok(references)
}

/// What a call was given, and why it was made.
fn made_by(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Prov {
    let provs: Vec<Prov> = call.arguments.iter().map(|value| value.prov).collect();
    let made = compiler.arena.operation(call.name, Some(call.span), &provs);
    compiler.under_control(made)
}

/// Declares the classes; the results are references to them, and their resources.
fn declare(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<(Value, Vec<ResourceId>), Stop> {
    at_least_one(call)?;
    let arguments = flat_chosen(compiler, &call.arguments);
    let names = class_names(&arguments, call)?;
    let references =
        names.iter().map(|(name, prov)| Value::new(Data::Type(Type::class(name))).with(*prov)).collect();
    let classes = compiler.include_classes(&names, call.span)?;
    Ok((Value::array(references), classes))
}

/// The names of classes that values stand for, with leading `::` as Puppet writes them in messages.
pub(super) fn class_names(values: &[Value], call: &Call<'_>) -> Result<Vec<(Symbol, Prov)>, Stop> {
    let fail = |illegal| Err(FailureKind::IllegalArgument(illegal).at(call.span));
    let no_name = |actual: String| fail(IllegalArgument::ClassName { actual });
    let no_reference = |actual: String| fail(IllegalArgument::ClassReference { actual });
    let mut flat = Vec::new();
    flatten(values, &mut flat);
    let mut names = Vec::with_capacity(flat.len());
    for value in &flat {
        let name = match &value.data {
            Data::Undef => return no_name("undef".to_owned()),
            Data::String(text) if text.is_empty() => return no_name("empty string".to_owned()),
            Data::String(text) => text.to_string(),
            Data::Type(Type::Class(Some(name))) => name.to_string(),
            Data::Type(Type::Class(None)) => return fail(IllegalArgument::UnspecificClass),
            Data::Type(Type::Resource(Some(of))) if of.name.eq_ignore_ascii_case("class") => {
                match &of.title {
                    Some(title) => title.to_string(),
                    None => return no_reference("an unspecific Resource['class']".to_owned()),
                }
            }
            Data::Type(Type::Resource(Some(of))) => {
                return no_reference(format!("a Resource[{}]", of.name));
            }
            Data::Type(Type::Resource(None)) => {
                return no_reference("an unspecific Resource[]".to_owned());
            }
            Data::Opaque(unknown) => {
                let (used, reason) = (UnknownUse::ClassName, unknown.reason.to_string());
                return Err(FailureKind::UnknownValue { used, reason }.at(call.span));
            }
            _ => return no_name(infer(value).generalize().to_string()),
        };
        let name = name.to_lowercase();
        let name = if name.starts_with(':') { name } else { format!("::{name}") };
        names.push((Symbol::new(&name), value.prov));
    }
    Ok(names)
}
