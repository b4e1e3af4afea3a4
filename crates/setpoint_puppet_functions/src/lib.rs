//! The functions that Puppet itself has, as far as they need no catalog.
//!
//! Each function takes values and gives a value; what it needs of its caller (blocks, variables, files, the log) it
//! asks of a [`Host`], which the evaluator is. Functions that declare classes and resources live with the evaluator.
//! `builtin` has Puppet's own functions by theme, `stdlib` and `modules` those of modules, `ruby` what both take from Ruby.

#![allow(clippy::unnecessary_wraps, reason = "all functions have one shape, also those that cannot fail")]

mod builtin;
mod context;
mod erb;
mod failure;
mod function;
mod host;
mod legacy;
mod modules;
mod ruby;
mod ruby_functions;
mod ruby_language;
mod signature;
mod stdlib;

pub use builtin::{builtin, builtin_names};
pub use erb::{ErbSyntax, parse_erb};
pub use failure::{
    Callee, Caller, ClassUse, DanglingReference, DefinitionSort, Failure, FailureKind, FileUse,
    IllegalArgument, IllegalAssignment, IllegalConstruct, Interface, InvalidTitle, KeyUse, Limit,
    MisplacedCode, MissingModule, Place, Questionable, Sought, SoughtPlace, TypeUse, Typed, UnknownUse,
};
pub use function::Function;
pub use host::{Block, Call, DataAnswer, DataRequest, Host, LogLevel, MissingData, Stop};
pub use ruby_functions::{RubyAnswer, call_ruby_function};
pub use ruby_language::RubyFile;
pub use setpoint_puppet_values::Strictness;
pub use stdlib::{Meaning, json_text, meaning, yaml_text};

/// The function of this name that a module is known to have. Whether the module is on the path, in a version that has
/// the function, is for the caller to decide.
pub fn module_function(module: &str, name: &str) -> Option<&'static Function> {
    let functions = modules::functions_of(module);
    builtin::find(functions, name).or_else(|| {
        // Version 9 of stdlib gives most of its functions a second name. Whether the module has it is told by its files.
        let old = name.strip_prefix("stdlib::").filter(|_| module == "stdlib")?;
        builtin::find(functions, if old == "has_function" { "is_function_available" } else { old })
    })
}

/// A module that is known to have a function of this name.
pub fn known_module_with(name: &str) -> Option<&'static str> {
    modules::with(name)
}

/// The names of the functions that a module is known to have.
pub fn module_functions(module: &str) -> impl Iterator<Item = &'static str> + use<> {
    modules::functions_of(module).iter().map(|function| function.name)
}
