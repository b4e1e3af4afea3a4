//! Address ranges of networks.

use setpoint_source::{Severity, Symbol};

use super::{Hazard, Wait};
use crate::template::Resource;
use crate::value::Value;

pub(super) static RANGE: Hazard = Hazard {
    name: "subnet-range",
    severity: Severity::Error,
    why: "A subnet takes its addresses from the ranges that its network has. One that takes them from a range that is added to the \
          network fails if it is created before.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpccidrblock.html",
    find: |stack, out| {
        for subnet in stack.of_kind("AWS::EC2::Subnet") {
            let Some(network) = stack.referred(subnet.property(&["VpcId"]), "AWS::EC2::VPC") else {
                continue;
            };
            let of_network =
                |one: &&Resource| one.property(&["VpcId"]).and_then(Value::reference) == Some(network.name);
            let blocks: Vec<&Resource> = stack.of_kind("AWS::EC2::VPCCidrBlock").filter(of_network).collect();
            let mut wait = |any_of: Vec<Symbol>, what: &str| {
                if !any_of.is_empty() {
                    let because =
                        format!("takes its {what} from a range that is added to `{}`", network.name);
                    out.push(Wait { consumer: subnet.name, any_of, because });
                }
            };
            if subnet.property(&["Ipv6CidrBlock"]).is_some() {
                let has_new = |one: &&&Resource| is_new_range(one);
                wait(blocks.iter().filter(has_new).map(|one| one.name).collect(), "IPv6 addresses");
            }
            let own = range_of(network, "CidrBlock");
            let taken = range_of(subnet, "CidrBlock");
            if let (Some(own), Some(taken)) = (own, taken)
                && !own.contains(taken)
            {
                let has =
                    |one: &&&Resource| range_of(one, "CidrBlock").is_some_and(|range| range.contains(taken));
                wait(blocks.iter().filter(has).map(|one| one.name).collect(), "addresses");
            }
        }
    },
};

/// Whether a range is one of IPv6.
fn is_new_range(block: &Resource) -> bool {
    ["AmazonProvidedIpv6CidrBlock", "Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv6Pool"]
        .iter()
        .any(|name| block.property(&[name]).is_some_and(|value| value.text() != Some("false")))
}

/// A range of addresses: its first one, and how many bits they share.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    bits: u32,
}

impl Range {
    fn contains(self, other: Self) -> bool {
        let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
        self.bits <= other.bits && self.first & mask == other.first & mask
    }
}

fn range_of(resource: &Resource, property: &str) -> Option<Range> {
    let (first, bits) = resource.property(&[property])?.text()?.split_once('/')?;
    let bits = bits.parse().ok().filter(|bits| *bits <= 32)?;
    let parts: Vec<u8> = first.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    Some(Range { first: u32::from_be_bytes(parts.try_into().ok()?), bits })
}
