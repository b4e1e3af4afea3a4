//! What Puppet's older function interface does to arguments.

use setpoint_puppet_values::{Data, Value, to_text};

use crate::Stop;
use crate::context::Context;

/// `undef` becomes an empty string, and what the older interface had no type for becomes text.
pub(crate) fn convert(context: &Context<'_, '_>, arguments: &[Value]) -> Result<Vec<Value>, Stop> {
    arguments.iter().map(|argument| convert_one(context, argument, true)).collect()
}

fn convert_one(context: &Context<'_, '_>, value: &Value, outermost: bool) -> Result<Value, Stop> {
    Ok(match &value.data {
        Data::Undef if outermost => Value::from("").made_of(value.prov),
        Data::Regex(_)
        | Data::SemVer(_)
        | Data::SemVerRange(_)
        | Data::Binary(_)
        | Data::Timespan(_)
        | Data::Timestamp(_) => Value::string(to_text(value)).made_of(value.prov),
        Data::Iterator(_) => return Err(context.fail("Use of an Iterator is not supported here")),
        Data::Array(items) if items.iter().any(needs_conversion) => {
            let items: Result<Vec<_>, _> =
                items.iter().map(|item| convert_one(context, item, false)).collect();
            Value::array(items?).made_of(value.prov)
        }
        Data::Hash(entries) if entries.values().any(needs_conversion) => {
            let mut converted = entries.as_ref().clone();
            for item in converted.values_mut() {
                *item = convert_one(context, item, false)?;
            }
            Value::hash(converted).made_of(value.prov)
        }
        _ => value.clone(),
    })
}

fn needs_conversion(value: &Value) -> bool {
    match &value.data {
        Data::Regex(_)
        | Data::SemVer(_)
        | Data::SemVerRange(_)
        | Data::Binary(_)
        | Data::Timespan(_)
        | Data::Timestamp(_)
        | Data::Iterator(_) => true,
        Data::Array(items) => items.iter().any(needs_conversion),
        Data::Hash(entries) => entries.values().any(needs_conversion),
        _ => false,
    }
}
