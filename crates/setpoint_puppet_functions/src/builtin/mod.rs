//! The functions that Puppet itself has, by theme, and the table that finds them by name.

pub(crate) mod collections;
pub(crate) mod digests;
mod files;
mod iteration;
mod logging;
mod lookup;
mod math;
pub(crate) mod patterns;
mod scan;
mod strings;
mod times;
mod trees;
mod types;
pub(crate) mod versions;

use crate::Function;
pub(crate) use files::outside_path;

/// Sorted by name.
static FUNCTIONS: &[&Function] = &[
    &math::ABS,
    &logging::ALERT,
    &iteration::ALL,
    &iteration::ANY,
    &types::ASSERT_TYPE,
    &files::BINARY_FILE,
    &iteration::BREAK,
    &types::CALL,
    &strings::CAMELCASE,
    &strings::CAPITALIZE,
    &math::CEILING,
    &strings::CHOMP,
    &strings::CHOP,
    &math::COMPARE,
    &types::CONVERT_TO,
    &logging::CRIT,
    &logging::DEBUG,
    &collections::DIG,
    &digests::DIGEST,
    &strings::DOWNCASE,
    &iteration::EACH,
    &logging::EMERG,
    &collections::EMPTY,
    &files::EPP,
    &logging::ERR,
    &logging::FAIL,
    &files::FILE,
    &iteration::FILTER,
    &files::FIND_FILE,
    &files::FIND_TEMPLATE,
    &collections::FLATTEN,
    &math::FLOOR,
    &digests::FQDN_RAND,
    &files::GENERATE,
    &collections::GET,
    &collections::GETVAR,
    &iteration::GROUP_BY,
    &lookup::HIERA,
    &lookup::HIERA_ARRAY,
    &lookup::HIERA_HASH,
    &lookup::HIERA_INCLUDE,
    &files::IMPORT,
    &iteration::INDEX,
    &logging::INFO,
    &files::INLINE_EPP,
    &files::INLINE_TEMPLATE,
    &collections::JOIN,
    &collections::KEYS,
    &collections::LENGTH,
    &iteration::LEST,
    &lookup::LOOKUP,
    &strings::LSTRIP,
    &iteration::MAP,
    &patterns::MATCH,
    &math::MAX,
    &digests::MD5,
    &math::MIN,
    &files::MODULE_DIRECTORY,
    &types::NEW,
    &iteration::NEXT,
    &logging::NOTICE,
    &iteration::PARTITION,
    &files::PUPPETDB_QUERY,
    &iteration::REDUCE,
    &patterns::REGSUBST,
    &iteration::RETURN,
    &iteration::REVERSE_EACH,
    &math::ROUND,
    &strings::RSTRIP,
    &scan::SCANF,
    &digests::SHA1,
    &digests::SHA256,
    &strings::SHELLQUOTE,
    &collections::SIZE,
    &iteration::SLICE,
    &collections::SORT,
    &patterns::SPLIT,
    &strings::SPRINTF,
    &iteration::STEP,
    &times::STRFTIME,
    &strings::STRIP,
    &files::TEMPLATE,
    &iteration::THEN,
    &trees::TREE_EACH,
    &types::TYPE,
    &collections::UNIQUE,
    &types::UNWRAP,
    &strings::UPCASE,
    &collections::VALUES,
    &versions::VERSIONCMP,
    &logging::WARNING,
    &iteration::WITH,
];

/// The function of this name that Puppet itself has in a version, unless it belongs to the evaluator.
pub fn builtin(version: u8, name: &str) -> Option<&'static Function> {
    match (name, version) {
        ("split", 8..) => Some(&patterns::SPLIT_8),
        ("regsubst", 8) => Some(&patterns::REGSUBST_8),
        ("regsubst", 9..) => Some(&patterns::REGSUBST_9),
        _ => find(FUNCTIONS, name),
    }
}

/// The names of all of them.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

pub(crate) fn find(table: &[&'static Function], name: &str) -> Option<&'static Function> {
    let at = table.binary_search_by(|function| function.name.cmp(name)).ok()?;
    table.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_every_function_is_found() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
        for function in FUNCTIONS {
            assert!(builtin(7, function.name).is_some_and(|found| std::ptr::eq(found, *function)));
        }
        assert!(builtin(8, "nosuch").is_none());
    }
}
