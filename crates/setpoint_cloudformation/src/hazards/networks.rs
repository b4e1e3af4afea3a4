//! Address ranges of networks.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::addresses::{Block, gives_ipv6};
use crate::template::Resource;
use crate::value::Value;

pub(super) static RANGE: Hazard = Hazard {
    name: "subnet-range",
    severity: Severity::Error,
    concerns: Concern::Creation,
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
                let has_new = |one: &&&Resource| gives_ipv6(one);
                wait(blocks.iter().filter(has_new).map(|one| one.name).collect(), "IPv6 addresses");
            }
            let own = Block::of(network, "CidrBlock", stack.template);
            let taken = Block::of(subnet, "CidrBlock", stack.template);
            if let (Some(own), Some(taken)) = (own, taken)
                && !own.contains(taken)
            {
                let has = |one: &&&Resource| {
                    Block::of(one, "CidrBlock", stack.template).is_some_and(|range| range.contains(taken))
                };
                wait(blocks.iter().filter(has).map(|one| one.name).collect(), "addresses");
            }
        }
    },
};
