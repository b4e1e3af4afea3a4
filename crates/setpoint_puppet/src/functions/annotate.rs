//! `annotate`: attaches objects to values and types.

use std::sync::{Arc, LazyLock};

use setpoint_puppet_functions::{Call, FailureKind, Host, Stop, Typed};
use setpoint_puppet_values::types::{ObjectType, Signature, describe_signatures};
use setpoint_puppet_values::{Data, Hash, Key, Type, Value, ValueError, infer_set, new_instance};

use crate::compiler::Compiler;

/// An object that `annotate` attached.
#[derive(Debug)]
pub(crate) struct Annotation {
    /// The annotated value. To keep it keeps its identity.
    value: Value,
    annotation: Value,
}

static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let hash = r"Hash[Pattern[/\A[a-z_]\w*\z/], Any]";
    [
        "Type[Annotation] type, Any value, Callable[0, 0] &block?".to_owned(),
        format!("Type[Annotation] type, Any value, Variant[Enum[clear], {hash}] annotation_hash"),
        format!("Type[Pcore] type, Any value, Hash[Type[Annotation], {hash}] annotations"),
    ]
    .iter()
    .filter_map(|text| Signature::parse(text, &|_| None).ok())
    .collect()
});

pub(super) fn annotate(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    let block = call.block.map(|_| Type::Callable(None));
    let types: Vec<Type> = call.arguments.iter().map(infer_set).collect();
    let accepted = SIGNATURES.iter().any(|signature| {
        signature.accepts(&call.arguments, None) && (block.is_none() || signature.callable.block.is_some())
    });
    let [first, value, rest @ ..] = call.arguments.as_slice() else {
        return Err(refused(call, &types, None));
    };
    if !accepted {
        return Err(refused(call, &types, block.as_ref()));
    }
    match (&first.data, rest) {
        (Data::Type(Type::TypeSet(_)), [annotations]) => {
            for (of, initial) in annotations.as_hash().into_iter().flatten() {
                if let Data::Type(of) = &of.0.data {
                    attach(compiler, call, of, value, initial)?;
                }
            }
            Ok(value.clone())
        }
        (Data::Type(of), [initial]) if initial.as_str() == Some("clear") => {
            refuse_declared(call, of, value, "clear")?;
            Ok(detach(compiler, of, value).unwrap_or(Value::UNDEF))
        }
        (Data::Type(of), [initial]) => {
            refuse_declared(call, of, value, "redefine")?;
            attach(compiler, call, of, value, initial)
        }
        (Data::Type(of), _) => {
            if let Some(known) = attached(compiler, of, value) {
                return Ok(known);
            }
            let declared = declared(of, value);
            let initial = match (declared, call.block) {
                (Some(initial), _) => initial,
                (None, Some(block)) => compiler.call_block(block, Vec::new())?,
                (None, None) => return Ok(Value::UNDEF),
            };
            if initial.is_undef() { Ok(initial) } else { attach(compiler, call, of, value, &initial) }
        }
        _ => Err(refused(call, &types, block.as_ref())),
    }
}

fn refused(call: &Call<'_>, types: &[Type], block: Option<&Type>) -> Stop {
    let mismatch = describe_signatures("annotate", &SIGNATURES, types, block);
    FailureKind::WrongType { of: Typed::Arguments("annotate".into()), mismatch }.at(call.span)
}

fn object(of: &Type) -> Option<&Arc<ObjectType>> {
    if let Type::Object(Some(of)) = of.resolved() { Some(of) } else { None }
}

/// Whether two values are one and the same.
fn is_same(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Object(a), Data::Object(b)) => Arc::ptr_eq(a, b),
        (Data::Array(a), Data::Array(b)) => Arc::ptr_eq(a, b),
        (Data::Hash(a), Data::Hash(b)) => Arc::ptr_eq(a, b),
        (Data::String(a), Data::String(b)) => Arc::ptr_eq(a, b),
        (a, b) => a == b,
    }
}

fn position(compiler: &Compiler<'_>, of: &Type, value: &Value) -> Option<usize> {
    compiler
        .annotations
        .iter()
        .position(|known| is_same(&known.value, value) && of.is_instance(&known.annotation))
}

fn attached(compiler: &Compiler<'_>, of: &Type, value: &Value) -> Option<Value> {
    position(compiler, of, value).map(|at| compiler.annotations[at].annotation.clone())
}

fn detach(compiler: &mut Compiler<'_>, of: &Type, value: &Value) -> Option<Value> {
    position(compiler, of, value).map(|at| compiler.annotations.remove(at).annotation)
}

fn attach(
    compiler: &mut Compiler<'_>,
    call: &Call<'_>,
    of: &Type,
    value: &Value,
    initial: &Value,
) -> Result<Value, Stop> {
    let mut parse = |text: &str| Err(ValueError::new(format!("{text} is not a type")));
    let made = new_instance(of, std::slice::from_ref(initial), &mut parse);
    let annotation = made.map_err(|error| FailureKind::from(error).at(call.span))?;
    detach(compiler, of, value);
    compiler.annotations.push(Annotation { value: value.clone(), annotation: annotation.clone() });
    Ok(annotation)
}

/// What the definition of an object type says of an annotation.
fn declared(of: &Type, value: &Value) -> Option<Value> {
    let Data::Type(annotated) = &value.data else { return None };
    let annotations: &Hash = object(annotated)?.definition.get(&Key::from("annotations"))?.as_hash()?;
    let wanted = object(of)?;
    annotations
        .iter()
        .find(|(key, _)| matches!(&key.0.data, Data::Type(known) if object(known) == Some(wanted)))
        .map(|(_, initial)| initial.clone())
}

fn refuse_declared(call: &Call<'_>, of: &Type, value: &Value, action: &str) -> Result<(), Stop> {
    if declared(of, value).is_none() {
        return Ok(());
    }
    let label = value.as_type().map(Type::name).unwrap_or_default();
    let message = format!("attempt to {action} {} annotation declared on {label}", of.name());
    Err(FailureKind::from(ValueError::new(message)).at(call.span))
}
