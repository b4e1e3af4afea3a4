//! stdlib's texts of data: JSON, YAML, TOML, Python and Ruby, written and read.

use std::path::Path;

use setpoint_puppet_values::{Data, Hash, Type, Value};

use super::arguments::Arguments;
use super::{json, toml, yaml};
use crate::context::Context;
use crate::function::{Dispatch, Function, optional, required};
use crate::ruby::{numbers, text};
use crate::{FailureKind, Stop};

pub(super) static GET_MODULE_PATH: Function = Function::counted("get_module_path", -1, get_module_path);
pub(super) static LOAD_MODULE_METADATA: Function =
    Function::counted("load_module_metadata", -1, load_module_metadata);
pub(super) static LOADJSON: Function =
    Function::counted("loadjson", -2, |context, arguments| load(context, arguments, json::read));
pub(super) static LOADYAML: Function =
    Function::counted("loadyaml", -2, |context, arguments| load(context, arguments, yaml::read));
pub(super) static PARSEHOCON: Function = Function::typed(
    "parsehocon",
    &[Dispatch::new(&[required("String", "hocon_string"), optional("Any", "default")], |context, _| {
        Err(FailureKind::UnsupportedFunction(
            "parsehocon() is not computed here: HOCON is not read".to_owned(),
        )
        .at(context.span()))
    })],
);
pub(super) static PARSEJSON: Function =
    Function::counted("parsejson", -1, |context, arguments| parse(context, arguments, json::read));
pub(super) static PARSEPSON: Function = Function::typed(
    "parsepson",
    &[Dispatch::new(
        &[required("String[1]", "pson_string"), optional("Any", "default")],
        |context, arguments| match (
            json::read(context, arguments[0].as_str().unwrap_or_default()),
            arguments.get(1),
        ) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some(default)) => Ok(default.clone()),
            (Err(message), None) => Err(context.fail(message)),
        },
    )],
);
pub(super) static PARSEYAML: Function =
    Function::counted("parseyaml", -1, |context, arguments| parse(context, arguments, yaml::read));
pub(super) static TO_JSON: Function = Function::typed(
    "to_json",
    &[Dispatch::new(&[required("Any", "data")], |_, arguments| {
        Ok(Value::from(json::compact(&arguments[0])))
    })],
);
pub(super) static TO_JSON_PRETTY: Function = Function::typed(
    "to_json_pretty",
    &[Dispatch::new(
        &[
            required("Variant[Hash, Array]", "data"),
            optional("Optional[Boolean]", "skip_undef"),
            optional(
                "Struct[{Optional[indent] => Optional[String], Optional[space] => Optional[String], \
                 Optional[space_before] => Optional[String], Optional[object_nl] => Optional[String], \
                 Optional[array_nl] => Optional[String], Optional[allow_nan] => Optional[Boolean], \
                 Optional[max_nesting] => Optional[Integer[-1,default]]}]",
                "opts",
            ),
        ],
        to_json_pretty,
    )],
);
pub(super) static TO_PYTHON: Function = Function::typed(
    "to_python",
    &[Dispatch::new(&[required("Any", "object")], |_, arguments| {
        Ok(Value::from(literal(&arguments[0], &PYTHON)))
    })],
);
pub(super) static TO_RUBY: Function = Function::typed(
    "to_ruby",
    &[Dispatch::new(&[required("Any", "object")], |_, arguments| {
        Ok(Value::from(literal(&arguments[0], &RUBY)))
    })],
);
pub(super) static TO_TOML: Function = Function::typed(
    "to_toml",
    &[Dispatch::new(&[required("Hash", "data")], |context, arguments| {
        toml::write(arguments[0].as_hash().unwrap_or(&Hash::default()))
            .map(Value::from)
            .map_err(|message| context.fail(message))
    })],
);
pub(super) static TO_YAML: Function = Function::typed(
    "to_yaml",
    &[Dispatch::new(&[required("Any", "data"), optional("Hash", "options")], |_, arguments| {
        Ok(Value::from(yaml::write(&arguments[0], arguments.get(1).and_then(Value::as_hash))))
    })],
);

type Result<T> = std::result::Result<T, Stop>;
type Read = fn(&Context<'_, '_>, &str) -> std::result::Result<Value, String>;

/// What a text means; nothing, or a mistake, gives the default.
fn parse(context: &mut Context<'_, '_>, arguments: &[Value], read: Read) -> Result<Value> {
    let Some(given) = arguments.first() else {
        return Err(context.fail("Wrong number of arguments. 1 or 2 arguments should be provided."));
    };
    let default = arguments.get(1);
    let result = match given.as_str() {
        Some(text) => read(context, text),
        None => Err(text::no_conversion(given, "String")),
    };
    match (result, default.filter(|default| default.is_true())) {
        (Ok(value), _) if value.is_true() => Ok(value),
        (Ok(_), _) => Ok(default.cloned().unwrap_or(Value::UNDEF)),
        (Err(_), Some(default)) => Ok(default.clone()),
        (Err(message), None) => Err(context.fail(message)),
    }
}

fn load(context: &mut Context<'_, '_>, arguments: &[Value], read: Read) -> Result<Value> {
    let Some(name) = arguments[0].as_str() else {
        return Err(context.fail(text::no_method("start_with?", &arguments[0])));
    };
    if name.starts_with("http://") || name.starts_with("https://") {
        let function = context.call.name;
        let message = format!("{function}() would fetch {name}, and nothing is fetched while checking");
        return Err(FailureKind::UnsupportedFunction(message).at(context.span()));
    }
    let default = || arguments.get(1).cloned().unwrap_or(Value::UNDEF);
    if let Some(unknown) = crate::builtin::outside_path(context, name, Type::Any) {
        return Ok(unknown);
    }
    let path = Path::new(name);
    if !context.host.files().is_file(path) {
        context.warn(&format!("Can't load '{name}' File does not exist!"));
        return Ok(default());
    }
    let text = setpoint_source::read_text(context.host.files(), path)
        .map_err(|error| context.fail(error.to_string()))?;
    match (read(context, &text), arguments.get(1).filter(|default| default.is_true())) {
        (Ok(value), _) if value.is_true() => Ok(value),
        (Ok(_), _) => Ok(default()),
        (Err(_), Some(default)) => Ok(default.clone()),
        (Err(message), None) => Err(context.fail(message)),
    }
}

fn module_path(context: &Context<'_, '_>, name: &Value) -> Result<std::path::PathBuf> {
    let name = text::to_s(name);
    context
        .host
        .module_directory(&name)
        .ok_or_else(|| context.fail(format!("Could not find module {name} in environment production")))
}

fn get_module_path(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments {
        [name] => Ok(Value::from(module_path(context, name)?.display().to_string())),
        _ => Err(context.fail("get_module_path(): Wrong number of arguments, expects one")),
    }
}

fn load_module_metadata(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if !(1..=2).contains(&arguments.len()) {
        return Err(context.fail("load_module_metadata(): Wrong number of arguments, expects one or two"));
    }
    let path = module_path(context, &arguments[0])?.join("metadata.json");
    if context.host.files().is_file(&path) {
        let text = setpoint_source::read_text(context.host.files(), &path)
            .map_err(|error| context.fail(error.to_string()))?;
        return json::read(context, &text).map_err(|message| context.fail(message));
    }
    if arguments.get(1).is_some_and(Value::is_true) {
        return Ok(Value::hash(Hash::default()));
    }
    let name = text::to_s(&arguments[0]);
    Err(context.fail(format!("load_module_metadata(): No metadata.json file for module {name}")))
}

fn to_json_pretty(_: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let mut data = arguments[0].clone();
    if arguments.get(1).is_some_and(Value::is_true) {
        data = match &data.data {
            Data::Array(items) => {
                Value::array(items.iter().filter(|item| !item.is_undef()).cloned().collect())
            }
            Data::Hash(entries) => Value::hash(
                entries
                    .iter()
                    .filter(|(_, value)| !value.is_undef())
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            ),
            _ => data,
        };
    }
    Ok(Value::from(json::pretty(&data, arguments.get(2).and_then(Value::as_hash)) + "\n"))
}

/// How a language writes what JSON knows.
struct Language {
    truth: &'static str,
    falsehood: &'static str,
    nothing: &'static str,
    arrow: &'static str,
}

const PYTHON: Language = Language { truth: "True", falsehood: "False", nothing: "None", arrow: ": " };
const RUBY: Language = Language { truth: "true", falsehood: "false", nothing: "nil", arrow: " => " };

fn literal(value: &Value, language: &Language) -> String {
    match &value.data {
        Data::Undef => language.nothing.to_owned(),
        Data::Bool(true) => language.truth.to_owned(),
        Data::Bool(false) => language.falsehood.to_owned(),
        Data::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| literal(item, language)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Hash(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, item)| {
                    format!("{}{}{}", literal(&key.0, language), language.arrow, literal(item, language))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Data::Float(number) => numbers::float_to_s(*number),
        _ => text::inspect(value),
    }
}
