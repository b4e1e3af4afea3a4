//! `create_resources`.

use setpoint_provenance::{Control, Prov};
use setpoint_puppet_functions::{Call, FailureKind, IllegalArgument, Stop};
use setpoint_puppet_syntax::ast::ResourceForm;
use setpoint_puppet_values::{Data, Hash, Value, to_text};
use setpoint_source::Symbol;

use super::at_least;
use crate::compiler::Compiler;
use crate::declare::Declaration;
use crate::resources::Parameter;

/// Declares a resource for each entry of a hash: title to parameters.
pub(super) fn create_resources(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least(call, 2)?;
    let illegal = |what| FailureKind::IllegalArgument(what).at(call.span);
    let count = call.arguments.len();
    if count > 3 {
        return Err(illegal(IllegalArgument::CreateResourcesCount { given: count }));
    }
    let Some(instances) = call.arguments.get(1).and_then(Value::as_hash) else {
        return Err(illegal(IllegalArgument::CreateResourcesInstances));
    };
    let nothing = Hash::default();
    let defaults = match call.arguments.get(2) {
        None => &nothing,
        Some(value) => value.as_hash().ok_or_else(|| illegal(IllegalArgument::CreateResourcesDefaults))?,
    };
    let type_name = call.arguments.first().map_or_else(String::new, |value| match &value.data {
        Data::Type(setpoint_puppet_values::Type::Resource(Some(of))) => of.name.to_string(),
        _ => to_text(value).to_string(),
    });
    let (form, name) = match type_name.strip_prefix("@@") {
        Some(name) => (ResourceForm::Exported, name),
        None => match type_name.strip_prefix('@') {
            Some(name) => (ResourceForm::Virtual, name),
            None => (ResourceForm::Regular, type_name.as_str()),
        },
    };
    let name = name.to_lowercase();
    if name == "class" && form != ResourceForm::Regular {
        return Err(illegal(IllegalArgument::VirtualClass));
    }
    let prov_of = |at: usize| call.arguments.get(at).map_or(Prov::NONE, |value| value.prov);
    let outer = compiler.frame.control;
    compiler.enter(Control::Call, prov_of(0), Some(call.span));
    if !prov_of(0).is_none() {
        compiler.trace.dynamic.push(prov_of(0));
    }
    let mut references = Vec::new();
    for (title, parameters) in instances {
        let all = parameters.prov;
        let splats = [prov_of(1), all, prov_of(2)].map(|prov| compiler.arena.shape(prov)).to_vec();
        let parameters = if let Data::Hash(entries) = &parameters.data {
            merged(compiler, (defaults, prov_of(2)), (entries, all))
        } else {
            let actual = setpoint_puppet_values::infer(parameters).generalize().to_string();
            let title = to_text(&title.0).to_string();
            return Err(illegal(IllegalArgument::CreateResourcesParameters { title, actual }));
        };
        let titles = match &title.0.data {
            Data::Array(titles) => titles.to_vec(),
            _ => vec![title.0.clone()],
        };
        let titles = titles.into_iter().map(|title| compiler.chosen_from(title, prov_of(1))).collect();
        let declaration = Declaration { form, titles, parameters, splats, unknown: None, span: call.span };
        let declared = compiler.declare(Symbol::new(&name), declaration)?;
        references.extend(declared.into_iter().map(|id| compiler.reference(id)));
    }
    compiler.frame.control = outer;
    let provs = [prov_of(0), prov_of(1), prov_of(2)];
    let prov = compiler.arena.operation(call.name, Some(call.span), &provs);
    Ok(Value::array(references).with(prov))
}

/// The defaults, and the parameters of a resource, which win.
fn merged(
    compiler: &mut Compiler<'_>,
    (defaults, of_defaults): (&Hash, Prov),
    (own, of_own): (&Hash, Prov),
) -> Vec<Parameter> {
    let mut all = Hash::default();
    for (name, value) in defaults {
        // It counts because the resource has no such parameter of its own.
        let value = compiler.chosen_from(value.clone(), of_defaults);
        all.insert(name.clone(), compiler.chosen_from(value, of_own));
    }
    for (name, value) in own {
        all.insert(name.clone(), compiler.chosen_from(value.clone(), of_own));
    }
    let source = compiler.scopes[compiler.frame.scope].source;
    let control = compiler.frame.control;
    all.into_iter()
        .map(|(name, value)| Parameter {
            name: Symbol::new(&to_text(&name.0)),
            value,
            source,
            span: None,
            append: false,
            control,
        })
        .collect()
}
