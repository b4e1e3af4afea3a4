//! The functions that need the catalog or the scope: `include` and its kin, `defined`, `realize`, ….

mod annotate;
mod catalog;
mod classes;
mod create_resources;

use setpoint_puppet_functions::{Call, FailureKind, Interface, Stop};
use setpoint_puppet_values::{Data, Value};

use crate::compiler::Compiler;

pub(crate) use annotate::Annotation;

type Function = fn(&mut Compiler<'_>, &Call<'_>) -> Result<Value, Stop>;

/// The names of the functions that [`find`] finds.
pub(crate) const NAMES: &[&str] =
    &["include", "contain", "require", "realize", "tag", "tagged", "defined", "create_resources", "annotate"];

/// The function of this name, if it belongs to the evaluator.
pub(crate) fn find(name: &str) -> Option<Function> {
    let function: Function = match name {
        "include" => classes::include,
        "contain" => classes::contain,
        "require" => classes::require,
        "realize" => catalog::realize,
        "tag" => catalog::tag,
        "tagged" => catalog::tagged,
        "defined" => catalog::defined,
        "create_resources" => create_resources::create_resources,
        "annotate" => annotate::annotate,
        _ => return None,
    };
    Some(function)
}

/// Refuses a call without arguments.
fn at_least_one(call: &Call<'_>) -> Result<(), Stop> {
    require_count(call, 1, Interface::Present)
}

/// The same for functions of Puppet's older interface, which says it in other words.
fn at_least(call: &Call<'_>, count: usize) -> Result<(), Stop> {
    require_count(call, count, Interface::Older)
}

fn require_count(call: &Call<'_>, least: usize, interface: Interface) -> Result<(), Stop> {
    let given = call.arguments.len();
    if given >= least {
        return Ok(());
    }
    Err(FailureKind::TooFewArguments { function: call.name, given, least, interface }.at(call.span))
}

/// The values in nested arrays, each with what decided that it is there.
fn flat_chosen(compiler: &mut Compiler<'_>, values: &[Value]) -> Vec<Value> {
    let mut flat = Vec::with_capacity(values.len());
    for value in values {
        match &value.data {
            Data::Array(items) => {
                let items: Vec<Value> =
                    items.iter().map(|item| compiler.chosen_from(item.clone(), value.prov)).collect();
                flat.extend(flat_chosen(compiler, &items));
            }
            _ => flat.push(value.clone()),
        }
    }
    flat
}

fn flatten(values: &[Value], into: &mut Vec<Value>) {
    for value in values {
        match &value.data {
            Data::Array(items) => flatten(items, into),
            _ => into.push(value.clone()),
        }
    }
}
