//! `tree_each`: all values in a structure, with the paths to them.

use std::collections::VecDeque;

use setpoint_puppet_values::{Data, Hash, Iter, Key, Type, Value, iterate};

use crate::Stop;
use crate::context::Context;
use crate::function::{Dispatch, Function, Parameter, optional, required};

const TREE: Parameter = required("Variant[Iterator, Array, Hash, Object]", "tree");
const OPTIONS: Parameter = optional(
    "Struct[{Optional[container_type] => Optional[Type], Optional[include_root] => Optional[Boolean], \
     Optional[include_containers] => Optional[Boolean], Optional[include_values] => Optional[Boolean], \
     Optional[order] => Optional[Enum[depth_first, breadth_first]], Optional[include_refs] => Optional[Boolean]}]",
    "options",
);

pub(super) static TREE_EACH: Function = Function::typed(
    "tree_each",
    &[
        Dispatch::new(&[TREE, OPTIONS], |context, arguments| tree_each(context, arguments, true))
            .with_block("Callable[2,2]"),
        Dispatch::new(&[TREE, OPTIONS], |context, arguments| tree_each(context, arguments, false))
            .with_block("Callable[1,1]"),
        Dispatch::new(&[TREE, OPTIONS], tree),
    ],
)
.moving_unknown();

struct Options {
    containers: Type,
    with_root: bool,
    with_containers: bool,
    with_values: bool,
    depth_first: bool,
}

fn tree_each(context: &mut Context<'_, '_>, arguments: &[Value], with_path: bool) -> Result<Value, Stop> {
    for (path, value) in visits(context, arguments)? {
        let given = if with_path { vec![path, value] } else { vec![value] };
        match context.call_block(given) {
            Ok(_) => {}
            Err(Stop::Break(_)) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(arguments[0].clone())
}

fn tree(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let prov = arguments[0].prov;
    let pairs = visits(context, arguments)?
        .into_iter()
        .map(|(path, value)| Value::array(vec![path, value]).made_of(prov));
    Ok(Value::new(Data::Iterator(Iter::items(pairs.collect()).into())))
}

fn options(context: &Context<'_, '_>, arguments: &[Value]) -> Result<Options, Stop> {
    let none = Hash::default();
    let given = arguments.get(1).and_then(Value::as_hash).unwrap_or(&none);
    let option = |name: &str| given.get(&Key::from(name)).filter(|value| !value.is_undef());
    let flag = |name: &str| option(name).is_none_or(Value::is_true);
    let any = Type::variant(vec![Type::Array(None), Type::Hash(None), Type::Object(None)]);
    let containers = option("container_type").and_then(Value::as_type).cloned();
    if let Some(of) = &containers
        && !any.is_assignable(of)
    {
        return Err(context
            .fail(format!("Only Array, Hash, and Object types can be used as container types. Got {of}")));
    }
    let (with_containers, with_values) = (flag("include_containers"), flag("include_values"));
    if !with_containers && !with_values {
        return Err(context.fail("Options 'include_containers' and 'include_values' cannot both be false"));
    }
    Ok(Options {
        containers: containers.unwrap_or(any),
        with_root: with_containers && flag("include_root"),
        with_containers,
        with_values,
        depth_first: option("order").and_then(Value::as_str) != Some("breadth_first"),
    })
}

/// Every value with the path to it, in the order asked for.
fn visits(context: &Context<'_, '_>, arguments: &[Value]) -> Result<Vec<(Value, Value)>, Stop> {
    let options = options(context, arguments)?;
    let root = &arguments[0];
    let mut found = Vec::new();
    if options.with_root {
        found.push((Value::array(Vec::new()).made_of(root.prov), root.clone()));
    }
    // Depth first takes the newest work first; breadth first the oldest.
    let mut work: VecDeque<(Vec<Value>, Value)> = VecDeque::new();
    let descend = |work: &mut VecDeque<(Vec<Value>, Value)>, path: &[Value], value: &Value| {
        let mut below: Vec<(Vec<Value>, Value)> = children(value)
            .into_iter()
            .map(|(key, child)| (path.iter().cloned().chain([key]).collect(), child))
            .collect();
        if options.depth_first {
            below.reverse();
        }
        work.extend(below);
    };
    descend(&mut work, &[], root);
    while let Some((path, value)) = if options.depth_first { work.pop_back() } else { work.pop_front() } {
        let container = options.containers.is_instance(&value) && !matches!(value.data, Data::Iterator(_));
        if container {
            descend(&mut work, &path, &value);
        }
        // Breadth first shows all values, whatever `include_values` says: that is how Puppet does it.
        let shown =
            if container { options.with_containers } else { options.with_values || !options.depth_first };
        if shown {
            found.push((Value::array(path).made_of(value.prov), value));
        }
    }
    Ok(found)
}

fn children(value: &Value) -> Vec<(Value, Value)> {
    match &value.data {
        Data::Hash(entries) => entries.iter().map(|(key, child)| (key.0.clone(), child.clone())).collect(),
        Data::Object(object) => {
            object.attributes.iter().map(|(key, child)| (key.0.clone(), child.clone())).collect()
        }
        _ => iterate(value)
            .iter()
            .flat_map(|all| all.iter().enumerate().collect::<Vec<_>>())
            .map(|(at, child)| (Value::from(at as i64).made_of(value.prov), child))
            .collect(),
    }
}
