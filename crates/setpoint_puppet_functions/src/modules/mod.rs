//! Functions that other modules than stdlib have in Ruby, as far as they are known here.

mod databases;
mod openstack;
mod others;

use crate::Function;

/// The modules and their functions; both sorted by name.
pub(crate) static MODULES: &[(&str, &[&Function])] = &[
    ("apache", others::APACHE),
    ("collectd", others::COLLECTD),
    ("datacat", others::DATACAT),
    ("dns", others::DNS),
    ("inifile", others::INIFILE),
    ("mcollective", others::MCOLLECTIVE),
    ("memcached", others::MEMCACHED),
    ("mongodb", databases::MONGODB),
    ("mysql", databases::MYSQL),
    ("neutron", openstack::NEUTRON),
    ("nova", openstack::NOVA),
    ("openstacklib", openstack::OPENSTACKLIB),
    ("postgresql", databases::POSTGRESQL),
    ("redis", databases::REDIS),
    ("ssh", others::SSH),
    ("stdlib", crate::stdlib::FUNCTIONS),
    ("translate", others::TRANSLATE_MODULE),
];

/// The first module that has a function; stdlib before all others.
pub(crate) fn with(name: &str) -> Option<&'static str> {
    let has = |module: &str| crate::builtin::find(functions_of(module), name).is_some();
    let others = MODULES.iter().map(|(module, _)| *module);
    ["stdlib"].into_iter().chain(others).find(|module| has(module))
}

pub(crate) fn functions_of(module: &str) -> &'static [&'static Function] {
    let at = MODULES.binary_search_by(|(name, _)| (*name).cmp(module));
    at.ok().and_then(|at| MODULES.get(at)).map_or(&[], |(_, functions)| functions)
}

#[cfg(test)]
mod tests {
    use super::MODULES;

    #[test]
    fn the_tables_are_sorted_so_that_every_function_is_found() {
        assert!(MODULES.is_sorted_by(|a, b| a.0 < b.0));
        for (module, functions) in MODULES {
            assert!(functions.is_sorted_by(|a, b| a.name < b.name), "{module}");
        }
    }
}
