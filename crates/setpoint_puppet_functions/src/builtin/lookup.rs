//! `lookup`, and the older `hiera` functions. The data is the host's.

use std::sync::Arc;

use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Type, Value, to_text};

use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::host::{DataAnswer, DataRequest};
use crate::{FailureKind, KeyUse, Stop, Strictness};

pub(super) static LOOKUP: Function = Function::typed(
    "lookup",
    &[
        Dispatch::new(
            &[
                required("NameType", "name"),
                optional("ValueType", "value_type"),
                optional("MergeType", "merge"),
            ],
            by_position,
        ),
        Dispatch::new(
            &[
                required("NameType", "name"),
                required("Optional[ValueType]", "value_type"),
                required("Optional[MergeType]", "merge"),
                required("DefaultValueType", "default_value"),
            ],
            by_position,
        ),
        Dispatch::new(
            &[
                required("NameType", "name"),
                optional("ValueType", "value_type"),
                optional("MergeType", "merge"),
            ],
            by_position,
        )
        .with_block("BlockType"),
        Dispatch::new(&[required("OptionsWithName", "options_hash")], |context, arguments| {
            let options = arguments[0].as_hash().cloned().unwrap_or_default();
            let name = options.get(&Key::from("name")).cloned().unwrap_or(Value::UNDEF);
            Wanted::by_options(&name, &options).find(context)
        })
        .with_optional_block("BlockType"),
        Dispatch::new(
            &[
                required("Variant[String,Array[String]]", "name"),
                required("OptionsWithoutName", "options_hash"),
            ],
            |context, arguments| {
                let options = arguments[1].as_hash().cloned().unwrap_or_default();
                Wanted::by_options(&arguments[0], &options).find(context)
            },
        )
        .with_optional_block("BlockType"),
    ],
)
.passing_unknown();

macro_rules! old_function {
    ($constant:ident, $name:literal, $run:ident) => {
        pub(super) static $constant: Function = Function::typed(
            $name,
            &[
                Dispatch::new(&[required("Tuple[String, Any, Any, 1, 3]", "args")], |context, arguments| {
                    let spread = arguments[0].as_array().map(<[Value]>::to_vec).unwrap_or_default();
                    $run(context, &spread)
                }),
                Dispatch::new(&[required("String", "key")], $run),
                Dispatch::new(
                    &[required("String", "key"), required("Any", "default"), optional("Any", "override")],
                    $run,
                ),
                Dispatch::new(&[required("String", "key")], $run)
                    .with_named_block("Callable[1,1]", "default_block"),
                Dispatch::new(&[required("String", "key"), required("Any", "override")], $run)
                    .with_named_block("Callable[1,1]", "default_block"),
            ],
        )
        .passing_unknown();
    };
}

old_function!(HIERA, "hiera", hiera);
old_function!(HIERA_ARRAY, "hiera_array", hiera_array);
old_function!(HIERA_HASH, "hiera_hash", hiera_hash);
old_function!(HIERA_INCLUDE, "hiera_include", hiera_include);

/// What a call asks for, whichever way it is written.
struct Wanted {
    /// The name or the names, as they were given.
    name: Value,
    of: Option<Type>,
    merge: Option<Value>,
    default: Option<Value>,
    overrides: Hash,
    default_values: Hash,
    hiera_call: bool,
    names_levels: bool,
    /// An option that is not known and decides about the result.
    unknown: Option<Value>,
}

fn by_position(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let given = |at: usize| arguments.get(at).filter(|value| !value.is_undef());
    let wanted = Wanted {
        of: given(1).and_then(Value::as_type).cloned(),
        merge: given(2).cloned(),
        default: arguments.get(3).cloned(),
        unknown: unknown_of([given(1), given(2)]),
        ..Wanted::new(arguments[0].clone())
    };
    wanted.find(context)
}

impl Wanted {
    fn new(name: Value) -> Self {
        Self {
            name,
            of: None,
            merge: None,
            default: None,
            overrides: Hash::default(),
            default_values: Hash::default(),
            hiera_call: false,
            names_levels: false,
            unknown: None,
        }
    }

    fn by_options(name: &Value, options: &Hash) -> Self {
        let option = |name: &str| options.get(&Key::from(name));
        let hash = |name: &str| option(name).and_then(Value::as_hash).cloned().unwrap_or_default();
        Self {
            name: name.clone(),
            of: option("value_type").and_then(Value::as_type).cloned(),
            merge: option("merge").filter(|merge| !merge.is_undef()).cloned(),
            default: option("default_value").cloned(),
            overrides: hash("override"),
            default_values: hash("default_values_hash"),
            hiera_call: false,
            names_levels: false,
            unknown: unknown_of([option("value_type"), option("merge")])
                .or_else(|| whole_unknown(["override", "default_values_hash"].map(option))),
        }
    }

    /// The first name that has a value, else a default.
    fn find(self, context: &mut Context<'_, '_>) -> Result<Value, Stop> {
        if let Some(unknown) = self.unknown {
            return Ok(unknown);
        }
        let names = match &self.name.data {
            Data::Array(_) if self.name.unknown_part().is_some() => {
                return Ok(unknown_of([Some(&self.name)]).unwrap_or(self.name));
            }
            Data::Array(names) => names.to_vec(),
            Data::Opaque(_) => return Ok(self.name),
            _ => vec![self.name.clone()],
        };
        let mut searched = Vec::new();
        let mut unread = None;
        for name in &names {
            let key = to_text(name);
            if let Some(value) = self.overrides.get(&Key::from(&*key)) {
                let subject = format!("Value found for key '{key}' in override hash");
                return self.checked(context, &subject, value.clone());
            }
            let request = DataRequest {
                key: &key,
                merge: self.merge.as_ref(),
                hiera_call: self.hiera_call,
                names_levels: self.names_levels,
                overrides: &self.overrides,
                defaults: &self.default_values,
            };
            let span = context.span();
            match context.host.look_up(&request, span)? {
                DataAnswer::Found(value) => return self.checked(context, "Found value", value),
                DataAnswer::Missing(missing) => {
                    context.note(&Value::UNDEF.with(missing.prov));
                    unread = unread.or(missing.unread);
                    for path in missing.searched {
                        if !searched.contains(&path) {
                            searched.push(path);
                        }
                    }
                }
            }
        }
        // That data which was not read sets nothing is assumed of the whole catalog: parameters keep their defaults, too. Fleets
        // with a private share have `if lookup('proxy', { default_value => undef })` in the class that every node has.
        for name in &names {
            let key = to_text(name);
            if let Some(value) = self.default_values.get(&Key::from(&*key)) {
                let subject = format!("Value found for key '{key}' in default values hash");
                return self.fallback(context, &subject, value.clone(), unread);
            }
        }
        if context.block().is_some() && unread.is_none() {
            let value = context.call_block(vec![self.name.clone()])?;
            return self.checked(context, "Value returned from default block", value);
        }
        if let Some(value) = self.default.clone() {
            return self.fallback(context, "Default value", value, unread);
        }
        if let Some(value) = unread {
            return Ok(value);
        }
        let names = names.iter().map(|name| to_text(name).to_string()).collect();
        Err(FailureKind::MissingKey { names, searched, by: KeyUse::Function }.at(context.span()))
    }

    /// The default of a key that nothing has. One that does not fit is no default if data was not read that may have the key.
    fn fallback(
        &self,
        context: &Context<'_, '_>,
        subject: &str,
        value: Value,
        unread: Option<Value>,
    ) -> Result<Value, Stop> {
        match (unread, &self.of) {
            (Some(unread), Some(of)) if !of.is_instance(&value) => Ok(unread),
            _ => self.checked(context, subject, value),
        }
    }

    fn checked(&self, context: &Context<'_, '_>, subject: &str, value: Value) -> Result<Value, Stop> {
        match &self.of {
            Some(of) if !matches!(value.data, Data::Opaque(_)) => {
                assert_instance(subject, of, &value).map_err(|error| context.stop(error))?;
            }
            _ => {}
        }
        Ok(value)
    }
}

/// The result of a call that one of these values decides about, if it is not known.
fn unknown_of<'v>(values: impl IntoIterator<Item = Option<&'v Value>>) -> Option<Value> {
    values.into_iter().flatten().find_map(|value| {
        let part = value.unknown_part()?;
        Some(Value::unknown(Arc::clone(&part.reason), Type::Any).made_of(value.prov))
    })
}

/// The same for hashes whose elements are asked for one by one.
fn whole_unknown<'v>(values: impl IntoIterator<Item = Option<&'v Value>>) -> Option<Value> {
    values.into_iter().flatten().find(|value| matches!(value.data, Data::Opaque(_))).cloned()
}

fn hiera(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    old_style(context, arguments, "first")
}

fn hiera_array(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    old_style(context, arguments, "unique")
}

fn hiera_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    old_style(context, arguments, "hash")
}

/// Includes the classes that are found.
fn hiera_include(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let found = old_style(context, arguments, "unique")?;
    let is_empty = match &found.data {
        Data::Undef => {
            return Err(context.fail(format!("Could not find data item {}", to_text(&arguments[0]))));
        }
        Data::Array(items) => items.is_empty(),
        Data::Hash(entries) => entries.is_empty(),
        Data::String(text) => text.is_empty(),
        _ => false,
    };
    if is_empty { Ok(Value::UNDEF) } else { context.call_function("include", vec![found]) }
}

/// `hiera(key, default, level)`: the level counts for older configurations only.
fn old_style(context: &mut Context<'_, '_>, arguments: &[Value], merge: &str) -> Result<Value, Stop> {
    if context.host.strict() != Strictness::Off {
        let version = match context.host.puppet_version() {
            7 => "7.23",
            8 => "8.10",
            _ => "9.0",
        };
        let name = context.call.name;
        let message = format!(
            "The function '{name}' is deprecated in favor of using 'lookup'. \
             See https://puppet.com/docs/puppet/{version}/deprecated_language.html"
        );
        context.warn_once(&name, &message);
    }
    let has_block = context.block().is_some();
    let default = if has_block { None } else { arguments.get(1).cloned() };
    let levels = arguments.get(if has_block { 1 } else { 2 });
    let wanted = Wanted {
        merge: Some(merge.into()),
        default,
        hiera_call: true,
        names_levels: levels.is_some_and(|levels| !levels.is_undef()),
        ..Wanted::new(arguments[0].clone())
    };
    wanted.find(context)
}
