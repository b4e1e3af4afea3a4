//! What Puppet says when a value does not fit.
use super::{Signature, StructElement, Type};
use crate::error::ValueError;
use crate::value::{Hash, Value};

/// `name expects an Integer value, got String`; empty if it fits.
pub fn describe_mismatch(_name: &str, _expected: &Type, _actual: &Type) -> String {
    String::new()
}

/// The parameters given to a class or a define (`subject` is `Class[Foo]`, `Foo::Bar[title]`) against those it has.
/// `missing_ok`: a required parameter may be absent.
pub fn validate_parameters(
    _subject: &str,
    _parameters: &[StructElement],
    _given: &Hash,
    _missing_ok: bool,
) -> Result<(), ValueError> {
    Ok(())
}

/// The default of a parameter against its type: `Class[Foo]: parameter 'x' expects …`.
pub fn describe_default_mismatch(
    _subject: &str,
    _parameter: &str,
    _expected: &Type,
    _value: &Value,
) -> Option<String> {
    None
}

/// `value returned from function 'f' has wrong type, expects …, got …`; `closure` is `function 'f'` or `block`.
pub fn describe_return_mismatch(_closure: &str, _expected: &Type, _actual: &Type) -> String {
    String::new()
}

/// Why none of the signatures accepts a call: `'f' expects 1 argument, got 2`, `'f' parameter 'x' expects …`, or a list
/// of all signatures with what each rejected. `closure` is the name of the function, or `lambda` for a block.
/// `block` is the type of the block that was given.
pub fn describe_signatures(
    _closure: &str,
    _signatures: &[Signature],
    _arguments: &[Type],
    _block: Option<&Type>,
) -> String {
    String::new()
}
