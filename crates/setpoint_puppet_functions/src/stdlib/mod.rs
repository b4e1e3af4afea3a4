//! The functions of the module puppetlabs-stdlib, as version 8.5.0 has them, and those of version 9. Which of them exist is the business of the
//! evaluator: those whose file the module on the path has.

mod addresses;
mod arguments;
mod booleans;
mod checks;
mod collections;
mod data;
mod deprecation;
mod emitter;
mod facts;
mod json;
mod passwords;
mod psych;
mod random;
mod resources;
mod texts;
mod toml;
mod version9;
mod yaml;

use crate::Function;

pub(crate) use addresses::Network;
pub(crate) use arguments::class_of;
pub(crate) use booleans::to_bool;
pub(crate) use deprecation::{DEPRECATION_9, deprecated};
pub use psych::{Meaning, meaning};

pub(crate) use json::{compact as compact_json, from_json as value_of_json};

/// A value as a document of YAML.
pub fn yaml_text(value: &setpoint_puppet_values::Value) -> String {
    yaml::write(value, None)
}

/// The same with the options of Psych.
pub(crate) fn yaml_text_with(
    value: &setpoint_puppet_values::Value,
    options: Option<&setpoint_puppet_values::Hash>,
) -> String {
    yaml::write(value, options)
}

/// A value as JSON in one line.
pub fn json_text(value: &setpoint_puppet_values::Value) -> String {
    json::compact(value)
}

/// A value as JSON in lines.
pub(crate) fn pretty_json(
    value: &setpoint_puppet_values::Value,
    options: Option<&setpoint_puppet_values::Hash>,
) -> String {
    json::pretty(value, options)
}

/// What a document of YAML means, or Psych's words on why it means nothing.
pub(crate) fn read_yaml(
    context: &crate::context::Context<'_, '_>,
    text: &str,
) -> Result<setpoint_puppet_values::Value, String> {
    yaml::read(context, text)
}

/// Sorted by name.
pub(crate) static FUNCTIONS: &[&Function] = &[
    &collections::ANY2ARRAY,
    &booleans::ANY2BOOL,
    &resources::ASSERT_PRIVATE,
    &texts::BASE64,
    &texts::BASENAME,
    &texts::BATCH_ESCAPE,
    &booleans::BOOL2NUM,
    &booleans::BOOL2STR,
    &collections::CLAMP,
    &collections::CONCAT,
    &booleans::CONVERT_BASE,
    &collections::COUNT,
    &collections::DEEP_MERGE,
    &resources::DEFINED_WITH_PARAMS,
    &collections::DELETE,
    &collections::DELETE_AT,
    &collections::DELETE_REGEX,
    &collections::DELETE_UNDEF_VALUES,
    &collections::DELETE_VALUES,
    &deprecation::DEPRECATION,
    &collections::DIFFERENCE,
    &collections::DIG44,
    &texts::DIRNAME,
    &texts::DOS2UNIX,
    &addresses::ENCLOSE_IPV6,
    &resources::ENSURE_PACKAGES,
    &resources::ENSURE_RESOURCE,
    &resources::ENSURE_RESOURCES,
    &facts::FACT,
    &random::FQDN_RAND_STRING,
    &random::FQDN_ROTATE,
    &random::FQDN_UUID,
    &data::GET_MODULE_PATH,
    &resources::GETPARAM,
    &facts::GLOB,
    &collections::GREP,
    &addresses::HAS_INTERFACE_WITH,
    &addresses::HAS_IP_ADDRESS,
    &addresses::HAS_IP_NETWORK,
    &collections::HAS_KEY,
    &collections::HASH,
    &collections::INTERSECTION,
    &checks::IS_A,
    &checks::IS_ABSOLUTE_PATH,
    &checks::IS_ARRAY,
    &checks::IS_BOOL,
    &checks::IS_DOMAIN_NAME,
    &checks::IS_EMAIL_ADDRESS,
    &checks::IS_FLOAT,
    &resources::IS_FUNCTION_AVAILABLE,
    &checks::IS_HASH,
    &checks::IS_INTEGER,
    &checks::IS_IP_ADDRESS,
    &checks::IS_IPV4_ADDRESS,
    &checks::IS_IPV6_ADDRESS,
    &checks::IS_MAC_ADDRESS,
    &checks::IS_NUMERIC,
    &checks::IS_STRING,
    &collections::JOIN_KEYS_TO_VALUES,
    &data::LOAD_MODULE_METADATA,
    &data::LOADJSON,
    &data::LOADYAML,
    &collections::MEMBER,
    &collections::MERGE,
    &booleans::NUM2BOOL,
    &facts::OS_VERSION_GTE,
    &data::PARSEHOCON,
    &data::PARSEJSON,
    &data::PARSEPSON,
    &data::PARSEYAML,
    &booleans::PICK,
    &booleans::PICK_DEFAULT,
    &texts::POWERSHELL_ESCAPE,
    &collections::PREFIX,
    &resources::PRIVATE,
    &passwords::PW_HASH,
    &collections::RANGE,
    &texts::REGEXPESCAPE,
    &collections::REJECT,
    &collections::REVERSE,
    &random::SEEDED_RAND,
    &random::SEEDED_RAND_STRING,
    &texts::SHELL_ESCAPE,
    &texts::SHELL_JOIN,
    &texts::SHELL_SPLIT,
    &random::SHUFFLE,
    &texts::SPRINTF_HASH,
    &texts::SQUEEZE,
    &version9::CRC32,
    &texts::END_WITH,
    &texts::EXTNAME,
    &addresses::IP_IN_RANGE,
    &version9::NESTED_VALUES,
    &version9::REWRAP_SENSITIVE_DATA,
    &version9::SHA256,
    &version9::SORT_BY,
    &texts::START_WITH,
    &resources::STR2RESOURCE,
    &texts::XML_ENCODE,
    &booleans::STR2BOOL,
    &passwords::STR2SALTEDPBKDF2,
    &random::STR2SALTEDSHA512,
    &collections::SUFFIX,
    &texts::SWAPCASE,
    &random::TIME,
    &booleans::TO_BYTES,
    &data::TO_JSON,
    &data::TO_JSON_PRETTY,
    &data::TO_PYTHON,
    &data::TO_RUBY,
    &data::TO_TOML,
    &data::TO_YAML,
    &collections::TRY_GET_VALUE,
    &booleans::TYPE3X,
    &checks::TYPE_OF,
    &collections::UNION,
    &texts::UNIX2DOS,
    &texts::URIESCAPE,
    &checks::VALIDATE_ABSOLUTE_PATH,
    &checks::VALIDATE_ARRAY,
    &checks::VALIDATE_AUGEAS,
    &checks::VALIDATE_BOOL,
    &checks::VALIDATE_CMD,
    &checks::VALIDATE_DOMAIN_NAME,
    &checks::VALIDATE_EMAIL_ADDRESS,
    &checks::VALIDATE_HASH,
    &checks::VALIDATE_INTEGER,
    &checks::VALIDATE_IP_ADDRESS,
    &checks::VALIDATE_IPV4_ADDRESS,
    &checks::VALIDATE_IPV6_ADDRESS,
    &checks::VALIDATE_LEGACY,
    &checks::VALIDATE_NUMERIC,
    &checks::VALIDATE_RE,
    &checks::VALIDATE_SLENGTH,
    &checks::VALIDATE_STRING,
    &checks::VALIDATE_X509_RSA_KEY_PAIR,
    &collections::VALUES_AT,
    &collections::ZIP,
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_table_is_sorted_so_that_every_function_is_found() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }
}
