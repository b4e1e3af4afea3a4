//! Address ranges of networks and their subnets, as far as the template writes them out.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use setpoint_source::{Diagnostic, Rule, Severity, Symbol};

use crate::graph::Stack;
use crate::template::{Resource, Template};
use crate::text::Text;
use crate::value::{Guard, Value};

/// A range of IPv4 addresses: its first one, and how many bits they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    first: u32,
    bits: u32,
}

/// How many bits the addresses of a network or a subnet share.
const SIZES: std::ops::RangeInclusive<u32> = 16..=28;

impl Block {
    /// Reads `10.0.0.0/16`; nothing if it is no such range.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, bits) = text.trim().split_once('/')?;
        let bits = bits.parse().ok().filter(|bits| *bits <= 32)?;
        let parts: Vec<u8> = first.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let block = Self { first: u32::from_be_bytes(parts.try_into().ok()?), bits };
        Some(Self { first: block.first & block.mask(), bits })
    }

    /// The range that a property gives, if the template alone decides it.
    pub(crate) fn of(resource: &Resource, property: &str, template: &Template) -> Option<Self> {
        Self::parse(Text::of(resource.property(&[property])?, template).plain()?)
    }

    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - self.bits).unwrap_or(0)
    }

    fn last(self) -> u32 {
        self.first | !self.mask()
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    /// Whether so many ranges, the addresses of which differ in so many bits, lie in it.
    pub(crate) fn has_room(self, count: u32, bits: u32) -> bool {
        let free = 32_u32.checked_sub(bits).and_then(|shared| shared.checked_sub(self.bits));
        free.is_some_and(|free| u64::from(count) <= 1 << free)
    }

    fn overlaps(self, other: Self) -> bool {
        self.contains(other) || other.contains(self)
    }
}

/// A subnet with its range.
struct Subnet<'a> {
    resource: &'a Resource,
    value: &'a Value,
    block: Block,
}

/// Finds subnets of one network that have addresses in common, that lie outside of their network, or that are too large or small.
pub(crate) fn check(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    let mut networks: IndexMap<Text, Vec<Subnet<'_>>, FxBuildHasher> = IndexMap::default();
    for resource in stack.of_kind("AWS::EC2::Subnet") {
        let block = Block::of(resource, "CidrBlock", stack.template);
        let (Some(network), Some(value), Some(block)) =
            (resource.property(&["VpcId"]), resource.property(&["CidrBlock"]), block)
        else {
            continue;
        };
        if !SIZES.contains(&block.bits) {
            let message = format!(
                "the subnet `{}` has a range of {} bits, and {} to {} are possible",
                resource.name,
                block.bits,
                SIZES.start(),
                SIZES.end()
            );
            out.push(finding(stack, resource, value, message));
        }
        let subnet = Subnet { resource, value, block };
        if let Some(network) = stack.referred(Some(network), "AWS::EC2::VPC") {
            outside(stack, network, &subnet, out);
        }
        networks.entry(Text::of(network, stack.template)).or_default().push(subnet);
    }
    for subnets in networks.values_mut() {
        overlapping(stack, subnets, out);
    }
}

fn finding(stack: &Stack<'_>, resource: &Resource, value: &Value, message: String) -> Diagnostic {
    Diagnostic::new(Rule::InvalidValue, message)
        .severity(Severity::Error)
        .at(stack.template.span(value.range))
        .with_resources([resource.name.to_string()])
}

/// Tells of a subnet that no range of its network contains, if all of these are known.
fn outside(stack: &Stack<'_>, network: &Resource, subnet: &Subnet<'_>, out: &mut Vec<Diagnostic>) {
    let template = stack.template;
    let of_network =
        |one: &&Resource| one.property(&["VpcId"]).and_then(Value::reference) == Some(network.name);
    let added = stack.of_kind("AWS::EC2::VPCCidrBlock").filter(of_network);
    let added = added.filter(|one| !gives_ipv6(one)).map(|one| Block::of(one, "CidrBlock", template));
    let ranges: Option<Vec<Block>> =
        std::iter::once(Block::of(network, "CidrBlock", template)).chain(added).collect();
    if ranges.is_some_and(|ranges| !ranges.iter().any(|range| range.contains(subnet.block))) {
        let name = subnet.resource.name;
        let message = format!("the range of the subnet `{name}` is not in its network `{}`", network.name);
        out.push(finding(stack, subnet.resource, subnet.value, message));
    }
}

/// Whether a range that is added to a network is one of IPv6.
pub(crate) fn gives_ipv6(block: &Resource) -> bool {
    ["AmazonProvidedIpv6CidrBlock", "Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv6Pool"]
        .iter()
        .any(|name| block.property(&[name]).is_some_and(|value| value.text() != Some("false")))
}

/// Tells of subnets with addresses in common, if some choice of parameters makes both.
fn overlapping(stack: &Stack<'_>, subnets: &mut [Subnet<'_>], out: &mut Vec<Diagnostic>) {
    subnets.sort_by_key(|subnet| (subnet.block.first, subnet.block.bits));
    for (at, subnet) in subnets.iter().enumerate() {
        let twins = subnets[at + 1..].iter().take_while(|other| subnet.block.overlaps(other.block));
        for twin in twins {
            let (one, other) = (subnet.resource.name, twin.resource.name);
            let guard: Guard = stack.exists(one).into_iter().chain(stack.exists(other)).collect();
            let Some(valuation) = stack.logic.satisfiable(&[stack.logic.guard(&guard)]) else { continue };
            let message = format!("the subnets `{one}` and `{other}` have addresses in common");
            let place = stack.template.span(subnet.value.range);
            let mut found = finding(stack, twin.resource, twin.value, message)
                .with_label(place, format!("the range of `{one}`"))
                .with_help("Give one of them another range.");
            let conditions: Vec<Symbol> = guard.iter().map(|(condition, _)| *condition).collect();
            if !conditions.is_empty() {
                let choice = stack.logic.describe(&valuation, &conditions);
                found = found.with_note(format!("Both are created when {choice}."));
            }
            out.push(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Block;

    #[test]
    fn ranges_overlap_only_if_one_contains_the_other() {
        let block = |text| Block::parse(text).unwrap();
        assert!(block("10.0.0.0/16").contains(block("10.0.255.0/24")));
        assert!(!block("10.0.0.0/16").contains(block("10.1.0.0/24")));
        assert!(block("0.0.0.0/0").contains(block("255.255.255.255/32")));
        assert!(block("10.0.0.0/24").overlaps(block("10.0.0.7/25")));
        assert!(!block("10.0.0.0/24").overlaps(block("10.0.1.0/24")));
        assert!(Block::parse("10.0.0/16").is_none());
        assert!(Block::parse("10.0.0.0/33").is_none());
    }
}
