//! stdlib's questions about values: `is_integer`, `validate_re` and their like. Those with an interface of Puppet's present
//! kind are deprecated and say so.

use std::net::IpAddr;

use setpoint_puppet_values::types::describe_mismatch;
use setpoint_puppet_values::{Data, Regex, Type, Value, infer_set};

use super::addresses::Network;
use super::arguments::{Arguments, class_of};
use super::deprecation::deprecated;
use crate::Stop;
use crate::builtin::collections::flatten_into;
use crate::context::Context;
use crate::function::{Dispatch, Function, repeated, required};
use crate::ruby::{numbers, text};

type Result<T> = std::result::Result<T, Stop>;

/// A question that is deprecated: `is_array`.
macro_rules! deprecated_question {
    ($name:literal, $key:literal, $type:literal, $ask:expr) => {
        Function::typed(
            $name,
            &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
                let message = concat!(
                    "This method is deprecated, please use match expressions with Stdlib::Compat::",
                    $type,
                    " instead. They are described at \
                 https://docs.puppet.com/puppet/latest/reference/lang_data_type.html#match-expressions."
                );
                deprecated(context, $key, message)?;
                $ask(context, arguments)
            })],
        )
    };
}

/// A demand that is deprecated: `validate_array`.
macro_rules! deprecated_demand {
    ($name:literal, $type:literal, $check:expr) => {
        Function::typed($name, &[Dispatch::new(&[repeated("Any", "args")], |context, arguments| {
            let message = concat!(
                "This method is deprecated, please use the stdlib validate_legacy function,\n                    with ",
                $type,
                ". There is further documentation for validate_legacy function in the README."
            );
            deprecated(context, $name, message)?;
            $check(context, arguments)?;
            Ok(Value::UNDEF)
        })])
    };
}

pub(super) static IS_ABSOLUTE_PATH: Function = deprecated_question!(
    "is_absolute_path",
    "is_absolute_path",
    "Absolute_Path",
    |context: &mut Context<'_, '_>, arguments: &[Value]| {
        match arguments {
            [path] => Ok(Value::from(is_absolute_path(path))),
            _ => Err(context.wrong_count(arguments, "1")),
        }
    }
);
pub(super) static IS_ARRAY: Function = deprecated_question!(
    "is_array",
    "is_array",
    "Array",
    |context: &mut Context<'_, '_>, arguments: &[Value]| {
        match arguments.first() {
            Some(value) => Ok(Value::from(value.as_array().is_some())),
            None => Err(context.wrong_count(arguments, "1")),
        }
    }
);
pub(super) static IS_BOOL: Function = deprecated_question!(
    "is_bool",
    "is_bool",
    "Bool",
    |context: &mut Context<'_, '_>, arguments: &[Value]| {
        match arguments {
            [value] => Ok(Value::from(is_bool(value))),
            _ => Err(context.wrong_count(arguments, "1")),
        }
    }
);
pub(super) static IS_FLOAT: Function = deprecated_question!(
    "is_float",
    "is_float",
    "Float",
    |context: &mut Context<'_, '_>, arguments: &[Value]| question(context, arguments, is_float)
);
pub(super) static IS_IP_ADDRESS: Function = deprecated_question!(
    "is_ip_address",
    "is_ip_address",
    "Ip_address",
    |context: &mut Context<'_, '_>, arguments: &[Value]| question(context, arguments, |value| address_of(
        value
    )
    .is_some())
);
pub(super) static IS_IPV4_ADDRESS: Function = deprecated_question!(
    "is_ipv4_address",
    "is_ipv4_address",
    "Ipv4",
    |context: &mut Context<'_, '_>, arguments: &[Value]| question(context, arguments, |value| address_of(
        value
    )
    .is_some_and(|address| address.is_ipv4()))
);
pub(super) static IS_IPV6_ADDRESS: Function = deprecated_question!(
    "is_ipv6_address",
    "is_ipv4_address",
    "Ipv6",
    |context: &mut Context<'_, '_>, arguments: &[Value]| question(context, arguments, |value| address_of(
        value
    )
    .is_some_and(|address| address.is_ipv6()))
);
pub(super) static IS_NUMERIC: Function = deprecated_question!(
    "is_numeric",
    "is_numeric",
    "Numeric",
    |context: &mut Context<'_, '_>, arguments: &[Value]| question(context, arguments, is_numeric)
);
pub(super) static IS_STRING: Function = deprecated_question!(
    "is_string",
    "is_string",
    "String",
    |context: &mut Context<'_, '_>, arguments: &[Value]| {
        match arguments.first() {
            Some(value) => Ok(Value::from(is_string(value))),
            None => Err(context.wrong_count(arguments, "1")),
        }
    }
);

pub(super) static IS_A: Function = Function::typed(
    "is_a",
    &[Dispatch::new(&[required("Any", "value"), required("Type", "type")], |_, arguments| {
        Ok(Value::from(arguments[1].as_type().is_some_and(|of| of.is_instance(&arguments[0]))))
    })],
);
pub(super) static TYPE_OF: Function = Function::typed(
    "type_of",
    &[Dispatch::new(&[required("Any", "value")], |_, arguments| Ok(infer_set(&arguments[0]).into()))],
);
pub(super) static IS_DOMAIN_NAME: Function = Function::counted("is_domain_name", -1, |context, arguments| {
    question(context, arguments, is_domain_name)
});
pub(super) static IS_EMAIL_ADDRESS: Function =
    Function::counted("is_email_address", -1, |context, arguments| {
        question(context, arguments, is_email_address)
    });
pub(super) static IS_HASH: Function =
    Function::counted("is_hash", -1, |context, arguments| match arguments {
        [value] => Ok(Value::from(value.as_hash().is_some())),
        _ => Err(context.wrong_count(arguments, "1")),
    });
pub(super) static IS_INTEGER: Function =
    Function::counted("is_integer", -1, |context, arguments| question(context, arguments, is_integer));
pub(super) static IS_MAC_ADDRESS: Function = Function::counted("is_mac_address", -1, |context, arguments| {
    question(context, arguments, is_mac_address)
});

pub(super) static VALIDATE_ABSOLUTE_PATH: Function =
    deprecated_demand!("validate_absolute_path", "Stdlib::Compat::Absolute_Path", validate_absolute_path);
pub(super) static VALIDATE_ARRAY: Function =
    deprecated_demand!("validate_array", "Stdlib::Compat::Array", validate_array);
pub(super) static VALIDATE_BOOL: Function =
    deprecated_demand!("validate_bool", "Stdlib::Compat::Bool", validate_bool);
pub(super) static VALIDATE_HASH: Function =
    deprecated_demand!("validate_hash", "Stdlib::Compat::Hash", validate_hash);
pub(super) static VALIDATE_INTEGER: Function =
    deprecated_demand!("validate_integer", "Stdlib::Compat::Integer", validate_integer);
pub(super) static VALIDATE_IP_ADDRESS: Function =
    deprecated_demand!("validate_ip_address", "Stdlib::Compat::Ip_Address", validate_ip_address);
pub(super) static VALIDATE_IPV4_ADDRESS: Function =
    deprecated_demand!("validate_ipv4_address", "Stdlib::Compat::Ipv4_Address", validate_ipv4_address);
pub(super) static VALIDATE_IPV6_ADDRESS: Function =
    deprecated_demand!("validate_ipv6_address", "Stdlib::Compat::Ipv6_address", validate_ipv6_address);
pub(super) static VALIDATE_NUMERIC: Function =
    deprecated_demand!("validate_numeric", "Stdlib::Compat::Numeric", validate_numeric);
pub(super) static VALIDATE_RE: Function = deprecated_demand!("validate_re", "Pattern[]", validate_re);
pub(super) static VALIDATE_SLENGTH: Function =
    deprecated_demand!("validate_slength", "String[]", validate_slength);
pub(super) static VALIDATE_STRING: Function =
    deprecated_demand!("validate_string", "Stdlib::Compat::String", validate_string);
pub(super) static VALIDATE_DOMAIN_NAME: Function =
    Function::counted("validate_domain_name", -1, |context, arguments| {
        done(validate_domain_name(context, arguments))
    });
pub(super) static VALIDATE_EMAIL_ADDRESS: Function =
    Function::counted("validate_email_address", -1, |context, arguments| {
        done(validate_email_address(context, arguments))
    });
pub(super) static VALIDATE_LEGACY: Function = Function::typed(
    "validate_legacy",
    &[
        Dispatch::new(
            &[
                required("Type", "target_type"),
                required("String", "function_name"),
                required("Any", "value"),
                repeated("Any", "args"),
            ],
            |context, arguments| {
                let Some(of) = arguments[0].as_type() else { return Ok(Value::UNDEF) };
                validate_legacy(context, &of.clone(), &arguments[1..])
            },
        ),
        Dispatch::new(
            &[
                required("String", "type_string"),
                required("String", "function_name"),
                required("Any", "value"),
                repeated("Any", "args"),
            ],
            |context, arguments| {
                let of = context.parse_type(arguments[0].as_str().unwrap_or_default())?;
                validate_legacy(context, &of, &arguments[1..])
            },
        ),
    ],
)
.moving_unknown();
pub(super) static VALIDATE_CMD: Function =
    Function::counted("validate_cmd", -1, |context, arguments| not_run(context, arguments, 2, 3, "2 or 3"));
pub(super) static VALIDATE_AUGEAS: Function =
    Function::counted("validate_augeas", -1, |context, arguments| {
        not_run(context, arguments, 2, 4, "2, 3, or 4")
    });
pub(super) static VALIDATE_X509_RSA_KEY_PAIR: Function =
    Function::counted("validate_x509_rsa_key_pair", -1, |context, arguments| {
        not_run(context, arguments, 2, 2, "2")
    });

fn done(result: Result<()>) -> Result<Value> {
    result.map(|()| Value::UNDEF)
}

/// A check that would run a program or a library outside of this one: it is left out, and that is told.
fn not_run(
    context: &mut Context<'_, '_>,
    arguments: &[Value],
    least: usize,
    most: usize,
    wanted: &str,
) -> Result<Value> {
    let name = context.call.name;
    if !(least..=most).contains(&arguments.len()) {
        let message = format!("{name}(): wrong number of arguments ({}; must be {wanted})", arguments.len());
        return Err(context.fail(message));
    }
    let message =
        format!("{name}() is left out: it would run a program, and nothing is executed while checking");
    let span = context.span();
    context.host.warn_once(&message, message.clone(), span);
    Ok(Value::UNDEF)
}

fn question(context: &Context<'_, '_>, arguments: &[Value], ask: fn(&Value) -> bool) -> Result<Value> {
    if let [value] = arguments {
        Ok(Value::from(ask(value)))
    } else {
        let name = context.call.name;
        Err(context.fail(format!("{name}(): Wrong number of arguments given {} for 1", arguments.len())))
    }
}

fn is_bool(value: &Value) -> bool {
    matches!(value.data, Data::Bool(_))
}

/// Of POSIX or Windows.
fn is_absolute_path(value: &Value) -> bool {
    let Some(path) = value.as_str() else { return false };
    let bytes = path.as_bytes();
    let slash = |at: usize| matches!(bytes.get(at), Some(b'/' | b'\\'));
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') && slash(2);
    let share = slash(0) && slash(1) && {
        let mut names = path[2..].split(['/', '\\']);
        names.next().is_some_and(|host| !host.is_empty())
            && names.next().is_some_and(|share| !share.is_empty())
    };
    path.starts_with('/') || drive || share
}

fn is_float(value: &Value) -> bool {
    match &value.data {
        Data::Float(_) => true,
        Data::String(text) => numbers::float_to_s(numbers::leading_float(text)) == **text,
        _ => false,
    }
}

/// The digits of an integer without leading zeros.
fn plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0"
        || !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Ruby's `^…$` looks at each line.
fn any_line(text: &str, test: fn(&str) -> bool) -> bool {
    text.split('\n').any(test)
}

fn is_integer(value: &Value) -> bool {
    match &value.data {
        Data::Integer(_) => true,
        Data::String(text) => any_line(text, plain_integer),
        _ => false,
    }
}

fn is_numeric(value: &Value) -> bool {
    match &value.data {
        Data::Integer(_) | Data::Float(_) => true,
        Data::String(text) => any_line(text, |line| {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let (number, exponent) = line
                .split_once(['e', 'E'])
                .map_or((line, None), |(number, exponent)| (number, Some(exponent)));
            let (whole, fraction) =
                number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
            plain_integer(whole)
                && fraction.is_none_or(digits)
                && exponent.is_none_or(|exponent| digits(exponent.strip_prefix('-').unwrap_or(exponent)))
        }),
        _ => false,
    }
}

/// A text that is not a number.
fn is_string(value: &Value) -> bool {
    match &value.data {
        Data::String(text) => {
            numbers::float_to_s(numbers::leading_float(text)) != **text
                && numbers::leading_integer(text).to_string() != **text
        }
        _ => false,
    }
}

fn address_of(value: &Value) -> Option<IpAddr> {
    Network::parse(value.as_str()?).map(|network| network.address)
}

fn is_domain_name(value: &Value) -> bool {
    let Some(name) = value.as_str() else { return false };
    if name == "." {
        return true;
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() || name.len() > 255 {
        return false;
    }
    let top_is_word = |top: &str| !top.is_empty() && top.bytes().all(|byte| byte.is_ascii_alphabetic());
    if name.rsplit_once('.').is_some_and(|(_, top)| !top_is_word(top)) {
        return false;
    }
    name.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

fn is_email_address(value: &Value) -> bool {
    static PATTERN: &str = r"\A([\w+\-].?)+@[a-z\d\-]+(\.[a-z]+)*\.[a-z]+\z";
    let Some(text) = value.as_str() else { return false };
    Regex::new(PATTERN).and_then(|regex| regex.is_match(text)).unwrap_or(false)
}

fn is_mac_address(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    any_line(text, |line| {
        let parts: Vec<&str> = line.split(':').collect();
        matches!(parts.len(), 6 | 20)
            && parts.iter().all(|part| {
                (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    })
}

fn need_arguments(context: &Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    if arguments.is_empty() {
        let name = context.call.name;
        return Err(context.fail(format!("{name}(): wrong number of arguments (0; must be > 0)")));
    }
    Ok(())
}

/// Each argument must pass, or the complaint about it is the error.
fn each(
    context: &Context<'_, '_>,
    arguments: &[Value],
    test: fn(&Value) -> bool,
    complaint: fn(&Value) -> String,
) -> Result<()> {
    need_arguments(context, arguments)?;
    match arguments.iter().find(|argument| !test(argument)) {
        Some(wrong) => Err(context.fail(complaint(wrong))),
        None => Ok(()),
    }
}

fn validate_absolute_path(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    need_arguments(context, arguments)?;
    for argument in arguments {
        let candidates = argument.as_array().unwrap_or(std::slice::from_ref(argument));
        if let Some(path) = candidates.iter().find(|path| !is_absolute_path(path)) {
            return Err(context.fail(format!("{} is not an absolute path.", text::inspect(path))));
        }
    }
    Ok(())
}

fn validate_array(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each(
        context,
        arguments,
        |value| value.as_array().is_some(),
        |value| format!("{} is not an Array.  It looks to be a {}", text::inspect(value), class_of(value)),
    )
}

fn validate_bool(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each(context, arguments, is_bool, |value| {
        format!("{} is not a boolean.  It looks to be a {}", text::inspect(value), class_of(value))
    })
}

fn validate_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each(
        context,
        arguments,
        |value| value.as_hash().is_some(),
        |value| format!("{} is not a Hash.  It looks to be a {}", text::inspect(value), class_of(value)),
    )
}

fn validate_string(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each(
        context,
        arguments,
        |value| value.as_str().is_some() || value.is_undef(),
        |value| format!("{} is not a string.  It looks to be a {}", text::inspect(value), class_of(value)),
    )
}

/// Texts of a certain kind.
fn each_text(
    context: &Context<'_, '_>,
    arguments: &[Value],
    test: fn(&Value) -> bool,
    kind: &str,
) -> Result<()> {
    need_arguments(context, arguments)?;
    for value in arguments {
        if value.as_str().is_none() {
            return Err(context.fail(format!("{} is not a string.", text::inspect(value))));
        }
        if !test(value) {
            return Err(context.fail(format!("{} is not a {kind}", text::inspect(value))));
        }
    }
    Ok(())
}

fn validate_ip_address(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each_text(context, arguments, |value| address_of(value).is_some(), "valid IP address.")
}

fn validate_ipv4_address(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each_text(
        context,
        arguments,
        |value| address_of(value).is_some_and(|address| address.is_ipv4()),
        "valid IPv4 address.",
    )
}

fn validate_ipv6_address(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each_text(
        context,
        arguments,
        |value| address_of(value).is_some_and(|address| address.is_ipv6()),
        "valid IPv6 address.",
    )
}

fn validate_domain_name(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each_text(context, arguments, is_domain_name, "syntactically correct domain name")
}

fn validate_email_address(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    each_text(context, arguments, is_email_address, "valid email address")
}

/// The bounds and the elements of `validate_integer` and `validate_numeric`.
fn validate_number(
    context: &Context<'_, '_>,
    arguments: &[Value],
    parse: fn(&str) -> Option<f64>,
    article: &str,
    shown: fn(f64) -> String,
) -> Result<()> {
    let name = context.call.name;
    if !(1..=3).contains(&arguments.len()) {
        let message =
            format!("{name}(): Wrong number of arguments; must be 1, 2 or 3, got {}", arguments.len());
        return Err(context.fail(message));
    }
    let bound = |at: usize, which: &str| -> Result<Option<f64>> {
        let Some(value) = arguments.get(at) else { return Ok(None) };
        let given = text::to_s(value);
        if at == 1 && arguments.len() > 2 && given.is_empty() {
            return Ok(None);
        }
        parse(&given).map(Some).ok_or_else(|| {
            let class = if at == 1 { "String" } else { class_of(value) };
            context.fail(format!(
                "{name}(): Expected {which} argument to be unset or {article}, got {given}:{class}"
            ))
        })
    };
    let (most, least) = (bound(1, "second")?, bound(2, "third")?);
    if let (Some(most), Some(least)) = (most, least)
        && least > most
    {
        let message = format!(
            "{name}(): Expected second argument to be larger than third argument, got {} < {}",
            shown(most),
            shown(least)
        );
        return Err(context.fail(message));
    }
    let input = &arguments[0];
    let check = |number: f64, given: &str| -> Result<()> {
        if let Some(most) = most.filter(|most| number > *most) {
            return Err(context.fail(format!(
                "{name}(): Expected {given} to be smaller or equal to {}, got {given}.",
                shown(most)
            )));
        }
        if let Some(least) = least.filter(|least| number < *least) {
            return Err(context.fail(format!(
                "{name}(): Expected {given} to be greater or equal to {}, got {given}.",
                shown(least)
            )));
        }
        Ok(())
    };
    match &input.data {
        Data::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let number = if item.as_hash().is_some() { None } else { parse(&text::to_s(item)) };
                match number {
                    Some(number) => check(number, &text::inspect(input))?,
                    None => {
                        return Err(context.fail(format!(
                            "{name}(): Expected element at array position {at} to be {article}, got {}",
                            class_of(item)
                        )));
                    }
                }
            }
            Ok(())
        }
        _ => match parse(&text::to_s(input)).filter(|_| input.as_hash().is_none()) {
            Some(number) => check(number, &shown(number)),
            None => Err(context.fail(format!(
                "{name}(): Expected first argument to be {article} or Array, got {}",
                class_of(input)
            ))),
        },
    }
}

fn validate_integer(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    let parse = |text: &str| numbers::parse_integer(text).map(|number| number as f64);
    validate_number(context, arguments, parse, "an Integer", |number| (number as i64).to_string())
}

fn validate_numeric(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    validate_number(context, arguments, numbers::parse_float, "a Numeric", numbers::float_to_s)
}

fn validate_re(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    if !(2..=3).contains(&arguments.len()) {
        let message =
            format!("validate_re(): wrong number of arguments ({}; must be 2 or 3)", arguments.len());
        return Err(context.fail(message));
    }
    let Some(input) = arguments[0].as_str() else {
        return Err(context
            .fail(format!("validate_re(): input needs to be a String, not a {}", class_of(&arguments[0]))));
    };
    let mut patterns = Vec::new();
    flatten_into(&arguments[1..2], &mut patterns);
    for pattern in &patterns {
        let regex = context.checked(Regex::new(text::to_s(pattern)))?;
        if context.checked(regex.is_match(input))? {
            return Ok(());
        }
    }
    Err(context.fail(match arguments.get(2).filter(|message| message.is_true()) {
        Some(message) => text::to_s(message),
        None => format!(
            "validate_re(): {} does not match {}",
            text::inspect(&arguments[0]),
            text::inspect(&arguments[1])
        ),
    }))
}

fn validate_slength(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<()> {
    if !(2..=3).contains(&arguments.len()) {
        let message =
            format!("validate_slength(): Wrong number of arguments ({}; must be 2 or 3)", arguments.len());
        return Err(context.fail(message));
    }
    let size = |value: &Value| match &value.data {
        Data::Integer(number) => Some(*number),
        Data::Float(number) => Some(*number as i64),
        Data::String(text) => numbers::parse_integer(text).and_then(|number| i64::try_from(number).ok()),
        _ => None,
    };
    let complain = |which: &str, value: &Value| {
        context.fail(format!(
            "validate_slength(): Expected {which} positive Numeric, got {}:{}",
            text::to_s(value),
            class_of(value)
        ))
    };
    let most = size(&arguments[1])
        .filter(|most| *most > 0)
        .ok_or_else(|| complain("second argument to be a", &arguments[1]))?;
    let least = match arguments.get(2).filter(|least| least.is_true()) {
        Some(value) => size(value)
            .filter(|least| *least >= 0)
            .ok_or_else(|| complain("third argument to be unset or a", value))?,
        None => 0,
    };
    if most < least {
        return Err(context.fail(
            "validate_slength(): Expected second argument to be equal to or larger than third argument",
        ));
    }
    let input = &arguments[0];
    let whole = |value: &Value| match &value.data {
        Data::Array(items) => items.len() as i64,
        _ => value.as_str().map_or(0, |text| text.chars().count() as i64),
    };
    let check = |value: &Value| {
        if (least..=most).contains(&whole(value)) {
            return Ok(());
        }
        Err(context.fail(format!(
            "validate_slength(): Expected length of {} to be between {least} and {most}, was {}",
            text::inspect(input),
            whole(input)
        )))
    };
    match &input.data {
        Data::String(_) => check(input),
        Data::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                if item.as_str().is_none() {
                    return Err(context.fail(format!(
                        "validate_slength(): Expected element at array position {at} to be a String, got {}",
                        class_of(item)
                    )));
                }
                check(item)?;
            }
            Ok(())
        }
        _ => Err(context.fail(format!(
            "validate_slength(): Expected first argument to be a String or Array, got {}",
            class_of(input)
        ))),
    }
}

/// Whether the function of the older kind would have let the value pass.
fn passed_before(context: &mut Context<'_, '_>, function: &str, arguments: &[Value]) -> bool {
    let check = match function {
        "validate_absolute_path" => validate_absolute_path,
        "validate_array" => validate_array,
        "validate_bool" => validate_bool,
        "validate_hash" => validate_hash,
        "validate_integer" => validate_integer,
        "validate_ip_address" => validate_ip_address,
        "validate_ipv4_address" => validate_ipv4_address,
        "validate_ipv6_address" => validate_ipv6_address,
        "validate_numeric" => validate_numeric,
        "validate_re" => validate_re,
        "validate_slength" => validate_slength,
        "validate_string" => validate_string,
        "validate_domain_name" => validate_domain_name,
        "validate_email_address" => validate_email_address,
        _ => return false,
    };
    check(context, arguments).is_ok()
}

fn validate_legacy(context: &mut Context<'_, '_>, of: &Type, arguments: &[Value]) -> Result<Value> {
    let [function, value, ..] = arguments else { return Ok(Value::UNDEF) };
    let function = text::to_s(function);
    let before = passed_before(context, &function, &arguments[1..]);
    if of.is_instance(value) {
        if !before {
            let message = format!("Accepting previously invalid value for target type '{of}'");
            let span = context.span();
            context.host.log(crate::LogLevel::Notice, message, span);
        }
        return Ok(Value::UNDEF);
    }
    let message = describe_mismatch(&format!("validate_legacy({function})"), of, &infer_set(value));
    if before {
        deprecated(context, "validate_legacy", &message)?;
        return Ok(Value::UNDEF);
    }
    Err(context.fail(message))
}
