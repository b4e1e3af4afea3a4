//! `Timestamp.new` and `Timespan.new`.

use std::sync::LazyLock;

use super::constructor::Constructor;
use crate::error::ValueError;
use crate::time::{DEFAULT_SPAN_FORMATS, NANOS_PER_SECOND, PRESENT_TIME, Timespan, Timestamp};
use crate::types::Type;
use crate::value::{Data, Hash, Key, Value};

const FORMATS: (&str, &str) = ("Formats", "Variant[String[2], Array[String[2], 1]]");

pub(super) static TIMESTAMP: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_timestamp",
        &[FORMATS],
        &[
            ("", |_| Ok(Value::unknown(PRESENT_TIME, Type::Timestamp(None)))),
            ("Variant[Integer,Float] seconds", |arguments| {
                seconds(arguments).and_then(Timestamp::from_nanos).map(stamp).ok_or_else(out_of_range)
            }),
            ("String[1] string, Formats format?, String[1] timezone?", |arguments| {
                let zone = arguments.get(2).and_then(Value::as_str);
                parse_stamp(text(arguments.first()), arguments.get(1), zone).map(stamp)
            }),
            (
                "Struct[{string => String[1], Optional[format] => Formats, Optional[timezone] => String[1]}] hash_arg",
                |arguments| {
                    let entries = arguments.first().and_then(Value::as_hash);
                    entries.map_or_else(|| Err(out_of_range()), stamp_from_hash).map(stamp)
                },
            ),
        ],
        &[],
    )
});

pub(super) static TIMESPAN: LazyLock<Constructor> = LazyLock::new(|| {
    Constructor::new(
        "new_timespan",
        &[FORMATS],
        &[
            ("Variant[Integer,Float] seconds", |arguments| {
                seconds(arguments).and_then(Timespan::from_nanos).map(span).ok_or_else(out_of_range)
            }),
            ("String[1] string, Formats format?", |arguments| {
                parse_span(text(arguments.first()), arguments.get(1)).map(span)
            }),
            (
                "Integer days, Integer hours, Integer minutes, Integer seconds, Integer milliseconds?, \
                 Integer microseconds?, Integer nanoseconds?",
                |arguments| {
                    let mut fields = [0; 7];
                    for (field, argument) in fields.iter_mut().zip(arguments) {
                        *field = argument.as_integer().unwrap_or(0);
                    }
                    from_fields(false, fields).map(span)
                },
            ),
            ("Struct[{string => String[1], Optional[format] => Formats}] hash_arg", |arguments| {
                let entries = arguments.first().and_then(Value::as_hash);
                entries.map_or_else(|| Err(out_of_range()), span_from_hash).map(span)
            }),
            (
                "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, Optional[hours] => Integer, \
                 Optional[minutes] => Integer, Optional[seconds] => Integer, Optional[milliseconds] => Integer, \
                 Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}] hash_arg",
                |arguments| {
                    let entries = arguments.first().and_then(Value::as_hash);
                    entries.map_or_else(|| Err(out_of_range()), span_from_hash).map(span)
                },
            ),
        ],
        &[],
    )
});

fn out_of_range() -> ValueError {
    ValueError::new("argument out of range")
}

fn stamp(time: Timestamp) -> Value {
    Value::new(Data::Timestamp(time))
}

fn span(span: Timespan) -> Value {
    Value::new(Data::Timespan(span))
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or("")
}

fn seconds(arguments: &[Value]) -> Option<i128> {
    nanos(arguments.first()?)
}

/// A number of seconds in nanoseconds.
fn nanos(value: &Value) -> Option<i128> {
    match value.data {
        Data::Integer(seconds) => Some(i128::from(seconds) * NANOS_PER_SECOND),
        Data::Float(seconds) => Some((seconds * NANOS_PER_SECOND as f64) as i128),
        _ => None,
    }
}

fn formats(value: &Value) -> Vec<&str> {
    value.as_array().unwrap_or(&[]).iter().filter_map(Value::as_str).collect()
}

fn parse_stamp(text: &str, format: Option<&Value>, zone: Option<&str>) -> Result<Timestamp, ValueError> {
    match format.map(|format| &format.data) {
        Some(Data::String(format)) => Timestamp::parse_one(text, format, zone),
        Some(Data::Array(_)) => Timestamp::parse(text, &format.map(formats).unwrap_or_default(), zone),
        _ => Timestamp::parse_default(text, zone),
    }
}

fn parse_span(text: &str, format: Option<&Value>) -> Result<Timespan, ValueError> {
    match format.map(|format| &format.data) {
        Some(Data::String(format)) => Timespan::parse_one(text, format),
        Some(Data::Array(_)) => Timespan::parse(text, &format.map(formats).unwrap_or_default()),
        _ => Timespan::parse(text, &DEFAULT_SPAN_FORMATS),
    }
}

fn get<'a>(entries: &'a Hash, name: &str) -> Option<&'a Value> {
    entries.get(&Key::from(name))
}

fn stamp_from_hash(entries: &Hash) -> Result<Timestamp, ValueError> {
    let zone = get(entries, "timezone").and_then(Value::as_str);
    parse_stamp(text(get(entries, "string")), get(entries, "format"), zone)
}

fn span_from_hash(entries: &Hash) -> Result<Timespan, ValueError> {
    if get(entries, "string").is_some() {
        return parse_span(text(get(entries, "string")), get(entries, "format"));
    }
    let names = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
    let fields = names.map(|name| get(entries, name).and_then(Value::as_integer).unwrap_or(0));
    from_fields(get(entries, "negative").is_some_and(Value::is_true), fields)
}

fn from_fields(negative: bool, fields: [i64; 7]) -> Result<Timespan, ValueError> {
    let factors = [24_i128, 60, 60, 1000, 1000, 1000];
    let mut total = i128::from(fields[0]);
    for (factor, field) in factors.iter().zip(&fields[1..]) {
        total = total.saturating_mul(*factor).saturating_add(i128::from(*field));
    }
    Timespan::from_nanos(if negative { -total } else { total }).ok_or_else(out_of_range)
}

/// The end of a `Timestamp` range: a text, a hash or a number of seconds; nothing for other values.
pub(crate) fn timestamp_from(value: &Value) -> Result<Option<Timestamp>, ValueError> {
    match &value.data {
        Data::String(text) => Timestamp::parse_default(text, None).map(Some),
        Data::Hash(entries) => stamp_from_hash(entries).map(Some),
        Data::Integer(_) | Data::Float(_) => {
            nanos(value).and_then(Timestamp::from_nanos).map(Some).ok_or_else(out_of_range)
        }
        _ => Ok(None),
    }
}

/// The end of a `Timespan` range.
pub(crate) fn timespan_from(value: &Value) -> Result<Option<Timespan>, ValueError> {
    match &value.data {
        Data::String(text) => Timespan::parse(text, &DEFAULT_SPAN_FORMATS).map(Some),
        Data::Hash(entries) => span_from_hash(entries).map(Some),
        Data::Integer(_) | Data::Float(_) => {
            nanos(value).and_then(Timespan::from_nanos).map(Some).ok_or_else(out_of_range)
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_signatures_are_read() {
        assert!(TIMESTAMP.is_whole(4, 0));
        assert!(TIMESPAN.is_whole(5, 0));
    }
}
