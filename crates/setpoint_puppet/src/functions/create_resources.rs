//! `create_resources`.

use setpoint_puppet_functions::{Call, Stop};
use setpoint_puppet_syntax::ast::ResourceForm;
use setpoint_puppet_values::{Data, Hash, Value, to_text};
use setpoint_source::Symbol;

use super::at_least;
use crate::compiler::Compiler;
use crate::declare::Declaration;
use crate::resources::Parameter;
use crate::rules;

/// Declares a resource for each entry of a hash: title to parameters.
pub(super) fn create_resources(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    at_least(call, 2)?;
    let fail = |message: String| rules::fail(message, call.span);
    let count = call.arguments.len();
    if count > 3 {
        return Err(fail(format!("create_resources(): wrong number of arguments ({count}; must be 2 or 3)")));
    }
    let Some(instances) = call.arguments.get(1).and_then(Value::as_hash) else {
        return Err(fail("create_resources(): second argument must be a hash".to_owned()));
    };
    let nothing = Hash::default();
    let defaults = match call.arguments.get(2) {
        None => &nothing,
        Some(value) => value.as_hash().ok_or_else(|| {
            fail("create_resources(): third argument, if provided, must be a hash".to_owned())
        })?,
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
        return Err(fail("Classes are not virtualizable".to_owned()));
    }
    let mut references = Vec::new();
    for (title, parameters) in instances {
        let parameters = if let Data::Hash(entries) = &parameters.data {
            merged(compiler, defaults, entries)
        } else {
            let actual = setpoint_puppet_values::infer(parameters).generalize();
            let message = format!(
                "create_resources(): the parameters of '{}' must be a hash, got {actual}",
                to_text(&title.0)
            );
            return Err(fail(message));
        };
        let titles = match &title.0.data {
            Data::Array(titles) => titles.to_vec(),
            _ => vec![title.0.clone()],
        };
        let declaration = Declaration { form, titles, parameters, span: call.span };
        let declared = compiler.declare(Symbol::new(&name), declaration)?;
        references.extend(declared.into_iter().map(|id| compiler.reference(id)));
    }
    Ok(Value::array(references))
}

/// The defaults, and the parameters of a resource, which win.
fn merged(compiler: &Compiler<'_>, defaults: &Hash, own: &Hash) -> Vec<Parameter> {
    let mut all = defaults.clone();
    for (name, value) in own {
        all.insert(name.clone(), value.clone());
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
