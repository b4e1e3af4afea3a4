//! Functions that call a block for each element.

use setpoint_puppet_values::{Data, Hash, Iter, Key, Value, ValueError, iterate};

use setpoint_source::Limit;

use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby;
use crate::{FailureKind, Stop, UnknownUse, function::repeated};

/// The four signatures that most of these functions share; `$run` is told which one fits.
macro_rules! over_elements {
    ($name:literal, $run:expr $(, $more:expr)*) => {
        Function::typed($name, &[
            Dispatch::new(&[required("Hash", "hash")], |context, arguments| $run(context, arguments, Form::Entry))
                .with_block("Callable[2,2]"),
            Dispatch::new(&[required("Hash", "hash")], |context, arguments| $run(context, arguments, Form::Pair))
                .with_block("Callable[1,1]"),
            Dispatch::new(&[required("Iterable", "enumerable")], |context, arguments| $run(context, arguments, Form::Indexed))
                .with_block("Callable[2,2]"),
            Dispatch::new(&[required("Iterable", "enumerable")], |context, arguments| $run(context, arguments, Form::Element))
                .with_block("Callable[1,1]"),
            $($more),*
        ])
    };
}

/// The signatures of functions that take arrays and hashes only.
macro_rules! over_collection {
    ($name:literal, $run:expr) => {
        Function::typed(
            $name,
            &[
                Dispatch::new(&[required("Collection", "collection")], |context, arguments| {
                    $run(context, arguments, Form::Element)
                })
                .with_block("Callable[1,1]"),
                Dispatch::new(&[required("Array", "array")], |context, arguments| {
                    $run(context, arguments, Form::Indexed)
                })
                .with_block("Callable[2,2]"),
                Dispatch::new(&[required("Collection", "collection")], |context, arguments| {
                    $run(context, arguments, Form::Entry)
                })
                .with_block("Callable[2,2]"),
            ],
        )
    };
}

pub(super) static EACH: Function = over_elements!("each", each).moving_unknown();
pub(super) static MAP: Function = over_elements!("map", map).moving_unknown();
pub(super) static FILTER: Function = over_elements!("filter", filter).carrying_unknown();
pub(super) static ALL: Function = over_elements!("all", all).moving_unknown();
pub(super) static ANY: Function = over_elements!("any", any).moving_unknown();
pub(super) static INDEX: Function = over_elements!(
    "index",
    index,
    Dispatch::new(&[required("String", "str"), required("Variant[String,Regexp]", "match")], index_in_text),
    Dispatch::new(&[required("Iterable", "enumerable"), required("Any", "match")], index_of_value)
)
.moving_unknown();
pub(super) static GROUP_BY: Function = over_collection!("group_by", group_by).moving_unknown();
pub(super) static PARTITION: Function = over_collection!("partition", partition).moving_unknown();

pub(super) static REDUCE: Function = Function::typed(
    "reduce",
    &[
        Dispatch::new(&[required("Iterable", "enumerable")], reduce).with_block("Callable[2,2]"),
        Dispatch::new(&[required("Iterable", "enumerable"), required("Any", "memo")], reduce)
            .with_block("Callable[2,2]"),
    ],
)
.moving_unknown();

pub(super) static SLICE: Function = Function::typed(
    "slice",
    &[
        Dispatch::new(&[required("Hash", "hash"), required("Integer[1, default]", "slice_size")], slice)
            .with_optional_block("Callable"),
        Dispatch::new(
            &[required("Iterable", "enumerable"), required("Integer[1, default]", "slice_size")],
            slice,
        )
        .with_optional_block("Callable"),
    ],
)
.moving_unknown();

pub(super) static REVERSE_EACH: Function = Function::typed(
    "reverse_each",
    &[
        Dispatch::new(&[required("Iterable", "iterable")], reverse),
        Dispatch::new(&[required("Iterable", "iterable")], reverse_each).with_block("Callable[1,1]"),
    ],
)
.moving_unknown();

pub(super) static STEP: Function = Function::typed(
    "step",
    &[
        Dispatch::new(&[required("Iterable", "iterable"), required("Integer[1]", "step")], step),
        Dispatch::new(&[required("Iterable", "iterable"), required("Integer[1]", "step")], step_each)
            .with_block("Callable[1,1]"),
    ],
)
.moving_unknown();

pub(super) static WITH: Function =
    Function::typed("with", &[Dispatch::new(&[repeated("Any", "arg")], with).with_block("Callable")])
        .passing_unknown();

pub(super) static THEN: Function =
    Function::typed("then", &[Dispatch::new(&[required("Any", "arg")], then).with_block("Callable[1,1]")])
        .passing_unknown();

pub(super) static LEST: Function =
    Function::typed("lest", &[Dispatch::new(&[required("Any", "arg")], lest).with_block("Callable[0,0]")])
        .passing_unknown();

pub(super) static BREAK: Function =
    Function::typed("break", &[Dispatch::new(&[], |context, _| Err(Stop::Break(context.span())))]);

pub(super) static NEXT: Function = Function::typed(
    "next",
    &[Dispatch::new(&[optional("Any", "value")], |_, arguments| Err(Stop::Next(first(arguments))))],
)
.passing_unknown();

pub(super) static RETURN: Function = Function::typed(
    "return",
    &[Dispatch::new(&[optional("Any", "value")], |_, arguments| Err(Stop::Return(first(arguments))))],
)
.passing_unknown();

fn first(arguments: &[Value]) -> Value {
    arguments.first().cloned().unwrap_or(Value::UNDEF)
}

/// The elements of the first argument. Those without a place of their own take the collection's.
pub(super) fn elements(context: &Context<'_, '_>, collection: &Value) -> Result<Iter, Stop> {
    iterate(collection).ok_or_else(|| {
        context.fail(format!(
            "{}(): wrong argument type ({}; is not Iterable.",
            context.call.name,
            ruby::text::class(collection)
        ))
    })
}

/// More elements are refused: a range may have more than there is time for.
const MOST_ELEMENTS: Limit = Limit::new(4_000_000);

/// The elements to walk through, one by one.
fn walked(context: &Context<'_, '_>, collection: &Value) -> Result<Iter, Stop> {
    bounded(context, elements(context, collection)?)
}

fn bounded(context: &Context<'_, '_>, of: Iter) -> Result<Iter, Stop> {
    if of.len() > MOST_ELEMENTS {
        let name = context.call.name;
        let message = format!(
            "{name}() goes through {} elements, and Setpoint follows no more than {MOST_ELEMENTS}",
            of.len()
        );
        return Err(context.stop(ValueError::limit(message)));
    }
    Ok(of)
}

fn pair(key: &Key, value: &Value) -> Value {
    Value::array(vec![key.0.clone(), value.clone()])
}

/// What a block is called with for each element of a collection.
#[derive(Clone, Copy)]
enum Form {
    /// The key and the value.
    Entry,
    /// Both as one array.
    Pair,
    /// The position and the element.
    Indexed,
    Element,
}

impl Form {
    fn arguments(
        self,
        context: &mut Context<'_, '_>,
        collection: &Value,
        at: usize,
        element: &Value,
    ) -> Vec<Value> {
        match self {
            Self::Entry => {
                let parts = element.as_array().unwrap_or(std::slice::from_ref(element));
                parts.iter().map(|part| context.element_of(part.clone(), collection)).collect()
            }
            Self::Pair | Self::Element => vec![element.clone()],
            Self::Indexed => vec![context.position(at, collection), element.clone()],
        }
    }
}

/// Calls `visit` with the answer of the block for each element until it says that this is enough. `asks` tells whether
/// the answers decide about the result or are part of it.
fn walk(
    context: &mut Context<'_, '_>,
    collection: &Value,
    form: Form,
    asks: bool,
    mut visit: impl FnMut(usize, &Value, Value) -> bool,
) -> Result<(), Stop> {
    let all = walked(context, collection)?;
    for (at, element) in all.iter().enumerate() {
        let element = context.element_of(element, collection);
        let arguments = form.arguments(context, collection, at, &element);
        let answer = if asks { context.ask_block(arguments)? } else { context.call_block(arguments)? };
        if !visit(at, &element, answer) {
            break;
        }
    }
    Ok(())
}

/// `break()` in the block ends the iteration; what was done stays.
fn until_break(result: Result<(), Stop>) -> Result<(), Stop> {
    match result {
        Err(Stop::Break(_)) => Ok(()),
        other => other,
    }
}

fn each(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    let collection = &arguments[0];
    until_break(walk(context, collection, form, false, |_, _, _| true))?;
    Ok(collection.clone())
}

fn map(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    let mut results = Vec::new();
    until_break(walk(context, &arguments[0], form, false, |_, _, answer| {
        results.push(answer);
        true
    }))?;
    if results.iter().all(|result| !result.prov.is_none()) {
        context.keeps_shape();
    }
    Ok(Value::array(results))
}

/// A hash is filtered as a whole: `break()` leaves it, and what is around it.
fn filter_hash(context: &mut Context<'_, '_>, whole: &Value, form: Form) -> Result<Value, Stop> {
    let mut kept = Hash::default();
    for (key, value) in whole.as_hash().into_iter().flatten() {
        let given = match form {
            Form::Entry => vec![context.element_of(key.0.clone(), whole), value.clone()],
            _ => vec![context.element_of(pair(key, value), whole)],
        };
        if context.ask_block(given)?.is_true() {
            kept.insert(key.clone(), value.clone());
        }
    }
    Ok(Value::hash(kept))
}

fn filter(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    if arguments[0].as_hash().is_some() {
        return filter_hash(context, &arguments[0], form);
    }
    let mut kept = Vec::new();
    until_break(walk(context, &arguments[0], form, true, |_, element, answer| {
        if answer.is_true() {
            kept.push(element.clone());
        }
        true
    }))?;
    Ok(Value::array(kept))
}

/// Whether the block gives `wanted` for any element; the rest is not looked at.
fn meets(context: &mut Context<'_, '_>, arguments: &[Value], form: Form, wanted: bool) -> Result<bool, Stop> {
    let mut met = false;
    walk(context, &arguments[0], form, true, |_, _, answer| {
        met = answer.is_true() == wanted;
        !met
    })?;
    Ok(met)
}

fn all(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    Ok(Value::from(!meets(context, arguments, form, false)?))
}

fn any(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    Ok(Value::from(meets(context, arguments, form, true)?))
}

/// The key of the first entry for which the block is true.
fn index_in_hash(context: &mut Context<'_, '_>, whole: &Value, form: Form) -> Result<Value, Stop> {
    for (key, value) in whole.as_hash().into_iter().flatten() {
        let given = match form {
            Form::Entry => vec![context.element_of(key.0.clone(), whole), value.clone()],
            _ => vec![value.clone()],
        };
        if context.ask_block(given)?.is_true() {
            return Ok(key.0.clone());
        }
    }
    Ok(Value::UNDEF)
}

fn index(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    if arguments[0].as_hash().is_some() {
        return index_in_hash(context, &arguments[0], form);
    }
    let mut found = Value::UNDEF;
    walk(context, &arguments[0], form, true, |at, _, answer| {
        if answer.is_true() {
            found = Value::from(at as i64);
        }
        !answer.is_true()
    })?;
    Ok(found)
}

fn index_in_text(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = arguments[0].as_str().unwrap_or_default();
    let start = match &arguments[1].data {
        Data::Regex(regex) => context.checked(regex.find(text))?.map(|found| found.start()),
        _ => text.find(arguments[1].as_str().unwrap_or_default()),
    };
    let position = start.and_then(|start| text.get(..start)).map(|before| before.chars().count() as i64);
    Ok(position.map_or(Value::UNDEF, Value::from))
}

fn index_of_value(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    if let Some(entries) = arguments[0].as_hash() {
        let found = entries.iter().find(|(_, value)| ruby::equal(value, &arguments[1]));
        return Ok(found.map_or(Value::UNDEF, |(key, _)| key.0.clone()));
    }
    let all = walked(context, &arguments[0])?;
    let found = all.iter().position(|element| ruby::equal(&element, &arguments[1]));
    Ok(found.map_or(Value::UNDEF, |at| Value::from(at as i64)))
}

fn reduce(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let all = walked(context, &arguments[0])?;
    let mut rest = all.iter();
    let mut memo = match arguments.get(1) {
        Some(memo) => memo.clone(),
        None => match rest.next() {
            Some(element) => context.element_of(element, &arguments[0]),
            None => return Ok(Value::UNDEF),
        },
    };
    for element in rest {
        let element = context.element_of(element, &arguments[0]);
        match context.call_block(vec![memo.clone(), element]) {
            Ok(next) => memo = next,
            Err(Stop::Break(_)) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(memo)
}

fn slice(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let collection = &arguments[0];
    let size = usize::try_from(arguments[1].as_integer().unwrap_or(1)).unwrap_or(usize::MAX);
    let serving = serving_size(context, size)?;
    let all = walked(context, collection)?;
    let mut items = all.iter();
    let mut slices = Vec::new();
    loop {
        let part = items.by_ref().take(size);
        let part: Vec<Value> = part.map(|element| context.element_of(element, collection)).collect();
        if part.is_empty() {
            break;
        }
        if context.block().is_none() {
            slices.push(Value::array(part).made_of(collection.prov));
            continue;
        }
        let given = if serving == 1 {
            vec![Value::array(part).made_of(collection.prov)]
        } else {
            filled(part, serving, collection)
        };
        match context.call_block(given) {
            Ok(_) => {}
            Err(Stop::Break(_)) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(if context.block().is_some() { collection.clone() } else { Value::array(slices) })
}

/// The last slice has the full number: missing entries of a hash are empty arrays, missing elements undef.
fn filled(mut part: Vec<Value>, size: usize, collection: &Value) -> Vec<Value> {
    let filler = if collection.as_hash().is_some() { Value::array(Vec::new()) } else { Value::UNDEF };
    part.resize(size.max(part.len()), filler.made_of(collection.prov));
    part
}

/// How many parameters the block of `slice` gets.
fn serving_size(context: &Context<'_, '_>, size: usize) -> Result<usize, Stop> {
    let Some(block) = context.block() else { return Ok(1) };
    let serving = match block.accepted() {
        Some(accepted) if accepted == block.required() => accepted,
        _ => size,
    };
    if serving == 0 {
        return Err(context.fail("slice(): block must define at least one parameter. Block has 0."));
    }
    if serving != 1 && serving != size {
        return Err(context.fail(format!(
            "slice(): block must define one parameter, or the same number of parameters as the given size of the slice ({size}). Block has {serving}"
        )));
    }
    Ok(serving)
}

fn group_by(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    let mut groups: indexmap::IndexMap<Key, Vec<Value>> = indexmap::IndexMap::new();
    walk(context, &arguments[0], form, true, |_, element, answer| {
        groups.entry(Key(answer)).or_default().push(element.clone());
        true
    })?;
    Ok(Value::hash(
        groups
            .into_iter()
            .map(|(key, items)| (key, Value::array(items).made_of(arguments[0].prov)))
            .collect(),
    ))
}

fn partition(context: &mut Context<'_, '_>, arguments: &[Value], form: Form) -> Result<Value, Stop> {
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    walk(context, &arguments[0], form, true, |_, element, answer| {
        if answer.is_true() {
            yes.push(element.clone());
        } else {
            no.push(element.clone());
        }
        true
    })?;
    Ok(Value::array(vec![
        Value::array(yes).made_of(arguments[0].prov),
        Value::array(no).made_of(arguments[0].prov),
    ]))
}

fn iterator(of: Iter) -> Value {
    Value::new(Data::Iterator(of.into()))
}

fn reverse(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    Ok(iterator(elements(context, &arguments[0])?.reversed()))
}

fn call_for_each(context: &mut Context<'_, '_>, of: &Iter, collection: &Value) -> Result<Value, Stop> {
    let mut walk = || {
        of.iter().try_for_each(|element| {
            let element = context.element_of(element, collection);
            context.call_block(vec![element]).map(|_| ())
        })
    };
    until_break(walk())?;
    Ok(Value::UNDEF)
}

fn reverse_each(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let reversed = walked(context, &arguments[0])?.reversed();
    call_for_each(context, &reversed, &arguments[0])
}

fn stepped(context: &Context<'_, '_>, arguments: &[Value]) -> Result<Iter, Stop> {
    let by = arguments[1].as_integer().and_then(|by| u64::try_from(by).ok()).unwrap_or(1);
    Ok(elements(context, &arguments[0])?.stepped(by))
}

fn step(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    Ok(iterator(stepped(context, arguments)?))
}

fn step_each(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let stepped = bounded(context, stepped(context, arguments)?)?;
    call_for_each(context, &stepped, &arguments[0])
}

fn with(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    // A block is called with as many arguments as it takes.
    let taken =
        context.block().and_then(crate::Block::accepted).unwrap_or(arguments.len()).min(arguments.len());
    context.call_block(arguments[..taken].to_vec())
}

/// Refuses a value of which nobody knows whether it is undef: whether the block runs is not known.
fn check_undef_is_known(context: &Context<'_, '_>, value: &Value) -> Result<(), Stop> {
    match &value.data {
        Data::Opaque(unknown) if unknown.of.is_instance(&Value::UNDEF) => {
            let used = UnknownUse::Block { function: context.call.name.to_string() };
            Err(FailureKind::UnknownValue { used, reason: unknown.reason.to_string() }.at(context.span()))
        }
        _ => Ok(()),
    }
}

fn then(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    check_undef_is_known(context, &arguments[0])?;
    if arguments[0].is_undef() {
        return Ok(arguments[0].clone());
    }
    context.call_block(vec![arguments[0].clone()])
}

fn lest(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    check_undef_is_known(context, &arguments[0])?;
    if arguments[0].is_undef() {
        return context.call_block(Vec::new());
    }
    Ok(arguments[0].clone())
}
