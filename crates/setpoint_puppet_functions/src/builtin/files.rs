//! Functions that read files of modules, and templates. Nothing is executed.

use std::path::Path;
use std::sync::Arc;

use setpoint_puppet_values::{Data, Type, Value};

use crate::context::Context;
use crate::erb;
use crate::function::{Dispatch, Function, optional, repeated, required};
use crate::ruby;
use crate::{FailureKind, FileUse, Stop};

pub(super) static FILE: Function = Function::counted("file", -2, file);
pub(super) static BINARY_FILE: Function =
    Function::typed("binary_file", &[Dispatch::new(&[required("String", "path")], binary_file)]);
pub(super) static FIND_FILE: Function = Function::typed(
    "find_file",
    &[
        Dispatch::new(&[repeated("String", "paths")], |context, arguments| find(context, arguments, "files")),
        Dispatch::new(&[repeated("Array[String]", "paths_array")], |context, arguments| {
            find(context, first_array(arguments), "files")
        }),
    ],
);
pub(super) static FIND_TEMPLATE: Function = Function::typed(
    "find_template",
    &[
        Dispatch::new(&[repeated("String", "paths")], |context, arguments| {
            find(context, arguments, "templates")
        }),
        Dispatch::new(&[repeated("Array[String]", "paths_array")], |context, arguments| {
            find(context, first_array(arguments), "templates")
        }),
    ],
);
pub(super) static MODULE_DIRECTORY: Function = Function::typed(
    "module_directory",
    &[
        Dispatch::new(&[repeated("String", "names")], module_directory),
        Dispatch::new(&[repeated("Array[String]", "names")], |context, arguments| {
            module_directory(context, first_array(arguments))
        }),
    ],
);
pub(super) static EPP: Function = Function::typed(
    "epp",
    &[Dispatch::new(
        &[required("String", "path"), optional("Hash[Pattern[/^\\w+$/], Any]", "parameters")],
        epp,
    )],
)
.moving_unknown();
pub(super) static INLINE_EPP: Function = Function::typed(
    "inline_epp",
    &[Dispatch::new(
        &[required("String", "template"), optional("Hash[Pattern[/^\\w+$/], Any]", "parameters")],
        inline_epp,
    )],
)
.moving_unknown();
pub(super) static TEMPLATE: Function = Function::counted("template", -2, template);
pub(super) static INLINE_TEMPLATE: Function = Function::counted("inline_template", -2, inline_template);
pub(super) static GENERATE: Function = Function::counted("generate", -2, generate);
/// It comes with the termini of PuppetDB, and so lies on no module path.
pub(super) static PUPPETDB_QUERY: Function =
    Function::typed("puppetdb_query", &[Dispatch::new(&[required("Any", "query")], puppetdb_query)]);

/// Manifests are found by name now.
pub(super) static IMPORT: Function = Function::typed(
    "import",
    &[Dispatch::new(&[repeated("Any", "args")], |context, _| {
        Err(context.fail(
            "Use of 'import' has been discontinued in favor of a manifest directory. See \
             http://links.puppet.com/puppet-import-deprecation",
        ))
    })],
);

fn first_array(arguments: &[Value]) -> &[Value] {
    arguments.first().and_then(Value::as_array).unwrap_or_default()
}

fn read(context: &mut Context<'_, '_>, path: &Path) -> Result<Vec<u8>, Stop> {
    let bytes = context.host.files().read(path).map_err(|error| context.fail(error.to_string()))?;
    context.host.file_read(path, std::str::from_utf8(&bytes).unwrap_or_default());
    Ok(bytes)
}

/// The content as text; what is not text stays bytes.
fn text_or_bytes(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(error) => Value::new(Data::Binary(error.into_bytes().into())),
    }
}

fn file(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    for name in arguments {
        let Some(text) = name.as_str() else {
            return Err(context.fail(ruby::text::no_conversion(name, "String")));
        };
        if let Some(unknown) = outside(context, "files", text, Type::String(None)) {
            return Ok(unknown);
        }
        if let Some(path) = context.host.module_file("files", text) {
            return Ok(text_or_bytes(read(context, &path)?));
        }
    }
    let sought = arguments.iter().filter_map(Value::as_str);
    let sought = sought.filter_map(|name| context.host.seek_file("files", name)).collect();
    let name = ruby::text::join(arguments, ", ");
    Err(FailureKind::MissingFile { name, wanted: FileUse::File, sought }.at(context.span()))
}

fn binary_file(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let name = arguments[0].as_str().unwrap_or_default();
    if let Some(unknown) = outside(context, "files", name, Type::String(None)) {
        return Ok(unknown);
    }
    let Some(path) = context.host.module_file("files", name) else {
        return Err(missing(context, FileUse::BinaryFile, "files", name));
    };
    Ok(Value::new(Data::Binary(read(context, &path)?.into())))
}

/// The first that exists; a folder is as good as a file.
fn find(context: &mut Context<'_, '_>, names: &[Value], folder: &str) -> Result<Value, Stop> {
    for name in names.iter().filter_map(Value::as_str) {
        if let Some(unknown) = outside(context, folder, name, Type::Any) {
            return Ok(unknown);
        }
        if let Some(path) = context.host.module_path(folder, name) {
            return Ok(Value::from(path.display().to_string()));
        }
    }
    Ok(Value::UNDEF)
}

/// What stands for a file that lies elsewhere than the inputs: each machine has another one there, or none.
fn outside(context: &mut Context<'_, '_>, folder: &str, name: &str, of: Type) -> Option<Value> {
    context.host.is_outside(folder, name).then(|| not_read(context, name, of))
}

/// The same for a path that no module is a part of. Nobody knows where a relative one starts.
pub(crate) fn outside_path(context: &mut Context<'_, '_>, name: &str, of: Type) -> Option<Value> {
    (!context.host.is_input(Path::new(name))).then(|| not_read(context, name, of))
}

fn not_read(context: &mut Context<'_, '_>, name: &str, of: Type) -> Value {
    let reason = format!("{name} lies outside of the environment and its modules");
    let span = context.span();
    context.host.not_computed(&reason, span);
    Value::unknown(reason, of)
}

fn module_directory(context: &mut Context<'_, '_>, names: &[Value]) -> Result<Value, Stop> {
    let path = names.iter().filter_map(Value::as_str).find_map(|name| context.host.module_directory(name));
    Ok(path.map_or(Value::UNDEF, |path| Value::from(path.display().to_string())))
}

fn missing(context: &Context<'_, '_>, wanted: FileUse, folder: &str, name: &str) -> Stop {
    let sought = context.host.seek_file(folder, name).into_iter().collect();
    FailureKind::MissingFile { name: name.to_owned(), wanted, sought }.at(context.span())
}

/// The path and the text of a template.
fn template_text(context: &mut Context<'_, '_>, name: &str) -> Result<(String, String), Stop> {
    let Some(path) = context.host.module_file("templates", name) else {
        return Err(missing(context, FileUse::Template, "templates", name));
    };
    let text = setpoint_source::read_text(context.host.files(), &path)
        .map_err(|error| context.fail(error.to_string()))?;
    context.host.file_read(&path, &text);
    Ok((path.display().to_string(), text))
}

fn epp(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut name = arguments[0].as_str().unwrap_or_default().to_owned();
    let has_extension = Path::new(&name).extension().is_some_and(|extension| extension == "epp");
    let is_there = |path: &Path| context.host.is_input(path) && context.host.files().is_file(path);
    if !has_extension && !is_there(Path::new(&name)) {
        name += ".epp";
    }
    let span = context.span();
    if let Some(unknown) = outside(context, "templates", &name, Type::String(None)) {
        return Ok(unknown);
    }
    let (path, text) = template_text(context, &name)?;
    context.host.render_epp(&path, &text, arguments.get(1), span)
}

fn inline_epp(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let text = arguments[0].as_str().unwrap_or_default();
    let span = context.span();
    context.host.render_epp("inlined-epp-text", text, arguments.get(1), span)
}

fn joined(results: Vec<Value>) -> Value {
    if let Some(unknown) = results.iter().find_map(Value::unknown_part) {
        return Value::unknown(Arc::clone(&unknown.reason), Type::String(None));
    }
    match <[Value; 1]>::try_from(results) {
        Ok([only]) => only,
        Err(several) => Value::from(ruby::text::join(&several, "")),
    }
}

fn template(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut results = Vec::with_capacity(arguments.len());
    for name in arguments {
        let Some(name) = name.as_str() else {
            return Err(context.fail(ruby::text::no_conversion(name, "String")));
        };
        if let Some(unknown) = outside(context, "templates", name, Type::String(None)) {
            results.push(unknown);
            continue;
        }
        let (path, text) = template_text(context, name)?;
        results.push(erb::value(context, name, Some(Path::new(&path)), &text)?);
    }
    Ok(joined(results))
}

fn inline_template(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let mut results = Vec::with_capacity(arguments.len());
    for text in arguments {
        let Some(text) = text.as_str() else {
            return Err(context.fail(ruby::text::no_conversion(text, "String")));
        };
        results.push(erb::value(context, erb::INLINE, None, text)?);
    }
    Ok(joined(results))
}

/// Nothing is executed while checking, so what the program prints is not known; what Puppet itself refuses is refused in its
/// words.
fn generate(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value, Stop> {
    let Some(program) = arguments[0].as_str() else {
        return Err(context.fail(ruby::text::no_conversion(&arguments[0], "String")));
    };
    if !program.starts_with('/') {
        return Err(context.fail("Generators must be fully qualified"));
    }
    if !program.chars().all(|letter| letter.is_alphanumeric() || "-/_.+".contains(letter)) {
        return Err(context.fail("Generators can only contain alphanumerics, file separators, and dashes"));
    }
    if program.contains("..") {
        return Err(context.fail("Can not use generators with '..' in them."));
    }
    let reason = format!("generate() would run {program}, and nothing is executed while checking");
    let span = context.span();
    context.host.warn_once(&reason, format!("What {program} prints is not known: {reason}"), span);
    Ok(Value::unknown(reason, Type::String(None)))
}

/// Nobody is asked while checking, so the list of what PuppetDB holds is not known.
fn puppetdb_query(context: &mut Context<'_, '_>, _: &[Value]) -> Result<Value, Stop> {
    let reason = "puppetdb_query() asks PuppetDB, and nothing is asked while checking";
    let span = context.span();
    context.host.warn_once(reason, format!("The answer is not known: {reason}"), span);
    let rows = context.parse_type("Array[Hash]")?;
    Ok(Value::unknown(reason, rows))
}
