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
mod installed;
mod legacy;
mod lookup_context;
mod modules;
mod resource_types;
mod ruby;
mod ruby_functions;
mod ruby_language;
mod signature;
mod stdlib;

pub use builtin::{builtin, builtin_names};
pub use erb::{ErbSyntax, parse_erb};
pub use failure::{
    Callee, Caller, ClassUse, DanglingReference, DefinitionSort, Failure, FailureKind, FileUse,
    IllegalArgument, IllegalAssignment, IllegalConstruct, Interface, InvalidTitle, KeyUse, MisplacedCode,
    MissingModule, Place, Questionable, ReachedLimit, Sought, SoughtPlace, TypeUse, Typed, UnknownUse,
};
pub use function::Function;
pub use host::{Block, Call, DataAnswer, DataRequest, Host, LogLevel, MissingData, Stop};
pub use installed::{candidate, digest, is_same_code, module_function, required_beside};
pub use lookup_context::{LOOKUP_CONTEXT, call_lookup_context, is_lookup_context};
pub use resource_types::{GivenResource, NotRun, TypeAnswer, judge_resources};
pub use ruby_functions::{RubyAnswer, call_ruby_function};
pub use ruby_language::RubyFile;
pub use setpoint_puppet_values::Strictness;
pub use stdlib::{Meaning, json_text, meaning, yaml_text};

/// A module that is known to have a function of this name.
pub fn known_module_with(name: &str) -> Option<&'static str> {
    modules::with(name)
}

/// The names of the functions that a module is known to have.
pub fn module_functions(module: &str) -> impl Iterator<Item = &'static str> + use<> {
    modules::functions_of(module).iter().map(|function| function.name)
}
