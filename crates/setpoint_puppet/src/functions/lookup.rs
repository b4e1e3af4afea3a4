//! `lookup` and the older `hiera` functions. Data comes from a [`crate::DataProvider`].

use setpoint_puppet_functions::{Call, Stop};
use setpoint_puppet_values::types::describe_mismatch;
use setpoint_puppet_values::{Data, Hash, Key, Type, Value, infer_set, to_text};

use super::classes::class_names;
use crate::compiler::Compiler;
use crate::data::Request;
use crate::rules;

/// What a call of `lookup` asks for, whichever way it is written.
#[derive(Default)]
struct Wanted {
    names: Vec<Value>,
    /// The name as it was given, for the block.
    name: Option<Value>,
    of: Option<Type>,
    merge: Option<Value>,
    default: Option<Value>,
    overrides: Hash,
    default_values: Hash,
}

pub(super) fn lookup(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    let wanted = wanted(call)?;
    find(compiler, call, wanted)
}

fn wanted(call: &Call<'_>) -> Result<Wanted, Stop> {
    let mut wanted = Wanted::default();
    match call.arguments.as_slice() {
        [Value { data: Data::Hash(options), .. }] => wanted.read_options(options, true),
        [name, Value { data: Data::Hash(options), .. }] => {
            wanted.set_name(name);
            wanted.read_options(options, false);
        }
        [name, rest @ ..] if rest.len() <= 3 => {
            wanted.set_name(name);
            let given = |at: usize| rest.get(at).filter(|value| !value.is_undef());
            wanted.of = given(0).and_then(Value::as_type).cloned();
            if given(0).is_some() && wanted.of.is_none() {
                let message = "'lookup' parameter 'value_type' expects a Type value";
                return Err(rules::stop(&rules::TYPE_MISMATCH, message, call.span));
            }
            wanted.merge = given(1).cloned();
            wanted.default = rest.get(2).cloned();
        }
        _ => {
            let message = format!("'lookup' expects between 1 and 4 arguments, got {}", call.arguments.len());
            return Err(rules::stop(&rules::TYPE_MISMATCH, message, call.span));
        }
    }
    Ok(wanted)
}

impl Wanted {
    fn set_name(&mut self, name: &Value) {
        self.names = match &name.data {
            Data::Array(names) => names.to_vec(),
            _ => vec![name.clone()],
        };
        self.name = Some(name.clone());
    }

    fn read_options(&mut self, options: &Hash, with_name: bool) {
        let option = |name: &str| options.get(&Key::from(name));
        if with_name && let Some(name) = option("name") {
            self.set_name(name);
        }
        self.of = option("value_type").and_then(Value::as_type).cloned();
        self.merge = option("merge").filter(|merge| !merge.is_undef()).cloned();
        self.default = option("default_value").cloned();
        let hash = |name: &str| option(name).and_then(Value::as_hash).cloned().unwrap_or_default();
        self.overrides = hash("override");
        self.default_values = hash("default_values_hash");
    }
}

/// The first name that has a value, else a default.
fn find(compiler: &mut Compiler<'_>, call: &Call<'_>, wanted: Wanted) -> Result<Value, Stop> {
    let of = wanted.of.as_ref();
    for name in &wanted.names {
        let key = to_text(name);
        if let Some(value) = wanted.overrides.get(&Key::from(&*key)) {
            return checked(
                &format!("Value found for key '{key}' in override hash"),
                of,
                value.clone(),
                call,
            );
        }
        if let Some(data) = compiler.options.data {
            let request = Request { key: &key, merge: wanted.merge.as_ref(), automatic: false };
            if let Some(value) = data.lookup(compiler, &request)? {
                return checked("Found value", of, value, call);
            }
        }
    }
    for name in &wanted.names {
        let key = to_text(name);
        if let Some(value) = wanted.default_values.get(&Key::from(&*key)) {
            let subject = format!("Value found for key '{key}' in default values hash");
            return checked(&subject, of, value.clone(), call);
        }
    }
    if let Some(block) = call.block {
        let value =
            setpoint_puppet_functions::Host::call_block(compiler, block, wanted.name.into_iter().collect())?;
        return checked("Value returned from default block", of, value, call);
    }
    if let Some(value) = wanted.default {
        return checked("Default value", of, value, call);
    }
    let names: Vec<String> = wanted.names.iter().map(|name| format!("'{}'", to_text(name))).collect();
    let message = match names.as_slice() {
        [only] => format!("Function lookup() did not find a value for the name {only}"),
        _ => format!("Function lookup() did not find a value for any of the names [{}]", names.join(", ")),
    };
    Err(rules::fail(message, call.span))
}

fn checked(subject: &str, of: Option<&Type>, value: Value, call: &Call<'_>) -> Result<Value, Stop> {
    match of {
        Some(of) if !matches!(value.data, Data::Opaque(_)) && !of.is_instance(&value) => {
            let message = describe_mismatch(&format!("{subject} has wrong type,"), of, &infer_set(&value));
            Err(rules::stop(&rules::TYPE_MISMATCH, message, call.span))
        }
        _ => Ok(value),
    }
}

pub(super) fn hiera(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    old_style(compiler, call, "first")
}

pub(super) fn hiera_array(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    old_style(compiler, call, "unique")
}

pub(super) fn hiera_hash(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    old_style(compiler, call, "hash")
}

/// Includes the classes that are found.
pub(super) fn hiera_include(compiler: &mut Compiler<'_>, call: &Call<'_>) -> Result<Value, Stop> {
    let found = old_style(compiler, call, "unique")?;
    if found.is_undef() {
        let key = call.arguments.first().map(to_text).unwrap_or_default();
        return Err(rules::fail(format!("Could not find data item {key}"), call.span));
    }
    let names = class_names(&[found], call)?;
    compiler.include_classes(&names, call.span)?;
    Ok(Value::UNDEF)
}

/// `hiera(key, default, level)`: the level is not used.
fn old_style(compiler: &mut Compiler<'_>, call: &Call<'_>, merge: &str) -> Result<Value, Stop> {
    let arguments = match call.arguments.as_slice() {
        [Value { data: Data::Array(all), .. }] => all.to_vec(),
        all => all.to_vec(),
    };
    let Some(key) = arguments.first().filter(|key| key.as_str().is_some()) else {
        let message = format!("'{}' parameter 'key' expects a String value", call.name);
        return Err(rules::stop(&rules::TYPE_MISMATCH, message, call.span));
    };
    let message = format!(
        "The function '{}' is deprecated in favor of using 'lookup'. See https://puppet.com/docs/puppet/{}/deprecated_language.html",
        call.name,
        compiler.options.puppet.documentation()
    );
    setpoint_puppet_functions::Host::warn_once(compiler, &call.name, message, call.span);
    let mut wanted = Wanted { merge: Some(merge.into()), ..Wanted::default() };
    wanted.set_name(key);
    if call.block.is_none() {
        wanted.default = arguments.get(1).cloned();
    }
    find(compiler, call, wanted)
}
