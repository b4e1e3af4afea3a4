//! Which files of modules hold a function that is known here.
//!
//! The installed code is the truth: a function of ours stands for a module's only if the module's file is one that was
//! compared with ours. Any other file is run itself. `cargo xtask functions` makes the table of those files.

mod table;

use sha2::{Digest, Sha256};

use crate::ruby_language::same_code;
use crate::{Function, builtin, modules, stdlib};

/// The function that is known here and does what the given file of a module does: the text of the file, and those of the
/// files of the module that it requires.
pub fn module_function(module: &str, name: &str, texts: &[impl AsRef<str>]) -> Option<&'static Function> {
    let candidate = candidate(module, name)?;
    table::COMPARED.binary_search(&digest(name, texts)).ok()?;
    let is_of_9 =
        name == "deprecation" && texts.iter().any(|text| text.as_ref().contains("use_strict_setting"));
    Some(if is_of_9 { &stdlib::DEPRECATION_9 } else { candidate })
}

/// A function that is known here by the name of one that a module has, whether or not it does the same.
pub fn candidate(module: &str, name: &str) -> Option<&'static Function> {
    let functions = modules::functions_of(module);
    builtin::find(functions, name).or_else(|| {
        // Version 9 of stdlib gives most of its functions a second name.
        let old = name.strip_prefix("stdlib::").filter(|_| module == "stdlib")?;
        builtin::find(functions, if old == "has_function" { "is_function_available" } else { old })
    })
}

/// By what the table knows the file of a function.
pub fn digest(name: &str, texts: &[impl AsRef<str>]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(name);
    for text in texts {
        hasher.update([0]);
        hasher.update(text.as_ref());
    }
    let bytes: [u8; 32] = hasher.finalize().into();
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The files that a file of Ruby requires by their place beside it.
pub fn required_beside(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("require_relative")?.trim();
        Some(name.trim_matches(['(', ')', ' ', '\'', '"']))
    })
}

/// Whether two files are the same but for comments and layout.
pub fn is_same_code(one: &str, other: &str) -> bool {
    one == other || same_code(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_file_is_found() {
        assert!(table::COMPARED.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn comments_and_layout_are_no_difference_and_code_is() {
        let one =
            "# Doubles.\nmodule Puppet::Parser::Functions\n  newfunction(:twice) { |a| a[0] * 2 }\nend\n";
        assert!(is_same_code(one, &one.replace("# Doubles.", "#\n# Makes it twice as much.\n")));
        assert!(is_same_code(one, &one.replace("  newfunction", "\n\n    newfunction")));
        assert!(!is_same_code(one, &one.replace("* 2", "* 3")));
        assert!(!is_same_code("f 'a'", "f 'b'"));
        assert!(!is_same_code("f(`ls`)", "f(`ls -l`)"));
        assert!(is_same_code("f(doc: 'one') { 1 }", "f(doc: 'two') { 1 }"));
    }

    #[test]
    fn a_file_of_unknown_code_is_not_taken_for_ours() {
        assert!(candidate("stdlib", "deep_merge").is_some());
        assert!(module_function("stdlib", "deep_merge", &["a function of my own"]).is_none());
    }

    #[test]
    fn files_beside_are_found() {
        let text = "require 'json'\nrequire_relative '../a.rb'\n  require_relative(\"b\")\n";
        assert_eq!(required_beside(text).collect::<Vec<_>>(), ["../a.rb", "b"]);
    }
}
