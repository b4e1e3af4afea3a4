//! stdlib's functions over network addresses and names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use setpoint_puppet_values::{Data, Key, Value};

use super::arguments::{Arguments, class_of};
use crate::Stop;
use crate::builtin::collections::flatten_into;
use crate::context::Context;
use crate::function::{Dispatch, Function, required};
use crate::ruby::text;

pub(super) static ENCLOSE_IPV6: Function = Function::counted("enclose_ipv6", -1, enclose_ipv6);
pub(super) static HAS_INTERFACE_WITH: Function =
    Function::counted("has_interface_with", -1, has_interface_with);
pub(super) static HAS_IP_ADDRESS: Function =
    Function::counted("has_ip_address", -1, |context, arguments| has_fact(context, arguments, "ipaddress"));
pub(super) static HAS_IP_NETWORK: Function =
    Function::counted("has_ip_network", -1, |context, arguments| has_fact(context, arguments, "network"));
pub(super) static IP_IN_RANGE: Function = Function::typed(
    "stdlib::ip_in_range",
    &[Dispatch::new(
        &[required("String", "ipaddress"), required("Variant[String, Array]", "range")],
        ip_in_range,
    )],
);

type Result<T> = std::result::Result<T, Stop>;

/// An address with the length of its network, as Ruby's `IPAddr` reads it.
pub(crate) struct Network {
    pub(crate) address: IpAddr,
    pub(crate) bits: u32,
}

impl Network {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let bracketed = address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        let address: IpAddr = match bracketed {
            Some(inner) => IpAddr::V6(inner.parse().ok()?),
            None => address.parse().ok()?,
        };
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match prefix {
            None => width,
            Some(prefix) => match prefix.parse::<u32>() {
                Ok(bits) if bits <= width => bits,
                Ok(_) => return None,
                Err(_) => mask_bits(prefix.parse().ok()?)?,
            },
        };
        Some(Self { address: masked(address, bits), bits })
    }

    fn contains(&self, other: &Self) -> bool {
        other.bits >= self.bits
            && self.address.is_ipv4() == other.address.is_ipv4()
            && masked(other.address, self.bits) == self.address
    }
}

/// How many bits a mask such as `255.255.0.0` has.
fn mask_bits(mask: IpAddr) -> Option<u32> {
    let (bits, width) = match mask {
        IpAddr::V4(mask) => (u128::from(u32::from(mask)) << 96, 32),
        IpAddr::V6(mask) => (u128::from(mask), 128),
    };
    let ones = bits.leading_ones().min(width);
    (bits.count_ones() == ones).then_some(ones)
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask))
        }
    }
}

fn enclose_ipv6(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [given] = arguments else {
        return Err(context
            .fail(format!("enclose_ipv6(): Wrong number of arguments given {} for 1", arguments.len())));
    };
    if !matches!(given.data, Data::String(_) | Data::Array(_)) {
        return Err(context.fail(format!(
            "enclose_ipv6(): Wrong argument type given {} expected String or Array",
            class_of(given)
        )));
    }
    let mut flat = Vec::new();
    flatten_into(arguments, &mut flat);
    let mut enclosed: Vec<Value> = Vec::new();
    for value in flat.iter().filter(|value| !value.is_undef()) {
        let name = text::to_s(value);
        let result = if name == "*" {
            value.clone()
        } else {
            match Network::parse(&name) {
                Some(Network { address: IpAddr::V6(address), .. }) => {
                    Value::from(format!("[{address}]")).made_of(value.prov)
                }
                Some(_) => value.clone(),
                None => {
                    return Err(context
                        .fail(format!("enclose_ipv6(): Wrong argument given {name} is not an ip address.")));
                }
            }
        };
        if !enclosed.contains(&result) {
            enclosed.push(result);
        }
    }
    Ok(Value::array(enclosed))
}

fn interface_has(context: &mut Context<'_, '_>, kind: &str, wanted: &Value) -> bool {
    let Some(interfaces) = context.host.variable("interfaces") else { return false };
    context.note(&interfaces);
    if context.host.variable(kind).as_ref() == Some(wanted) {
        return true;
    }
    let names: Vec<String> =
        interfaces.as_str().unwrap_or_default().split(',').map(str::to_lowercase).collect();
    names.iter().any(|name| context.host.variable(&format!("{kind}_{name}")).as_ref() == Some(wanted))
}

fn has_interface_with(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    match arguments {
        [name] => {
            let Some(interfaces) = context.host.variable("interfaces") else { return Ok(Value::from(false)) };
            context.note(&interfaces);
            let wanted = text::to_s(name);
            Ok(Value::from(interfaces.as_str().is_some_and(|all| all.split(',').any(|one| one == wanted))))
        }
        [kind, wanted] => Ok(Value::from(interface_has(context, &text::to_s(kind), wanted))),
        _ => Err(context.wrong_count(arguments, "1 or 2")),
    }
}

fn has_fact(context: &mut Context<'_, '_>, arguments: &[Value], kind: &str) -> Result<Value> {
    match arguments {
        [wanted] => Ok(Value::from(interface_has(context, kind, wanted))),
        _ => Err(context.wrong_count(arguments, "1")),
    }
}

fn ip_in_range(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let parse = |value: &Value| {
        let name = text::to_s(value);
        Network::parse(&name).ok_or_else(|| context.fail(format!("invalid address: {name}")))
    };
    let address = parse(&arguments[0])?;
    let ranges = arguments[1].as_array().unwrap_or(std::slice::from_ref(&arguments[1]));
    let ranges: Vec<Network> = ranges.iter().map(parse).collect::<Result<_>>()?;
    Ok(Value::from(ranges.iter().any(|range| range.contains(&address))))
}

/// A fact by its path.
pub(super) fn fact(context: &mut Context<'_, '_>, path: &[&str]) -> Value {
    let mut at = context.host.variable("facts").unwrap_or(Value::UNDEF);
    for key in path {
        at = at.as_hash().and_then(|entries| entries.get(&Key::from(*key))).cloned().unwrap_or(Value::UNDEF);
    }
    at
}
