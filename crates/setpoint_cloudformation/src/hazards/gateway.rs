//! What needs the internet gateway of its network to be attached.

use rustc_hash::FxHashMap;
use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::Resource;
use crate::value::{Value, ValueKind};

const PAGE: &str =
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html";

pub(super) static ROUTE: Hazard = Hazard {
    name: "route-gateway",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A route can use a gateway only once it is attached to the network. If the route comes first, its creation fails: \
          the route table and the gateway belong to different networks.",
    page: PAGE,
    find: |stack, out| {
        let mut attachments: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
        for attachment in stack.of_kind("AWS::EC2::VPCGatewayAttachment") {
            for gateway in ["InternetGatewayId", "VpnGatewayId"]
                .into_iter()
                .filter_map(|name| attached(attachment, name))
            {
                attachments.entry(gateway).or_default().push(attachment.name);
            }
        }
        for route in stack.of_kind("AWS::EC2::Route") {
            let Some(gateway) = attached(route, "GatewayId") else { continue };
            let any_of = attachments.get(&gateway).cloned().unwrap_or_default();
            wait(out, route, any_of, format!("sends traffic to the gateway `{gateway}`"));
        }
    },
};

pub(super) static TRANSIT: Hazard = Hazard {
    name: "route-transit-gateway",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A route can use a transit gateway only once the gateway is attached to the network of the route table. If the route \
          comes first, its creation fails.",
    page: TRANSIT_PAGE,
    find: |stack, out| {
        let all = transit_attachments(stack);
        for (route, gateway) in transit_routes(stack) {
            let table = stack.referred(route.property(&["RouteTableId"]), "AWS::EC2::RouteTable");
            let Some(vpc) = table.and_then(|table| attached(table, "VpcId")) else { continue };
            let attachments = all
                .get(&gateway)
                .into_iter()
                .flatten()
                .filter(|one| attached(one, "VpcId") == Some(vpc))
                .map(|one| one.name)
                .collect();
            wait(out, route, attachments, format!("sends traffic to the transit gateway `{gateway}`"));
        }
    },
};

/// A table that is not in the template may be in the network: one that was there before in a network that was there before, and
/// one that a nested stack makes in a network that it is given. It is in no network that this template makes otherwise.
pub(super) static TRANSIT_ELSEWHERE: Hazard = Hazard {
    name: "route-transit-gateway-elsewhere",
    severity: Severity::Warning,
    concerns: Concern::Creation,
    why: "A route can use a transit gateway only once the gateway is attached to the network of the route table. If the table is \
          in the network of this attachment, and the route comes first, its creation fails.",
    page: TRANSIT_PAGE,
    find: |stack, out| {
        let all = transit_attachments(stack);
        for (route, gateway) in transit_routes(stack) {
            let table = route.property(&["RouteTableId"]);
            if stack
                .referred(table, "AWS::EC2::RouteTable")
                .and_then(|table| attached(table, "VpcId"))
                .is_some()
            {
                continue;
            }
            let may_hold_table = |vpc: Symbol| {
                stack.resource(vpc).is_none() || stack.path(route.name, &[vpc], &|_| true).is_some()
            };
            let attachments = all
                .get(&gateway)
                .into_iter()
                .flatten()
                .filter(|one| attached(one, "VpcId").is_none_or(may_hold_table))
                .map(|one| one.name)
                .collect();
            wait(out, route, attachments, format!("sends traffic to the transit gateway `{gateway}`"));
        }
    },
};

const TRANSIT_PAGE: &str =
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-route.html";

/// The routes to transit gateways, each with the name of its gateway.
fn transit_routes<'a>(stack: &Stack<'a>) -> impl Iterator<Item = (&'a Resource, Symbol)> + use<'a> {
    let routes = stack.of_kind("AWS::EC2::Route");
    routes.filter_map(|route| Some((route, attached(route, "TransitGatewayId")?)))
}

/// The attachments of each transit gateway.
fn transit_attachments<'a>(stack: &Stack<'a>) -> FxHashMap<Symbol, Vec<&'a Resource>> {
    let mut out: FxHashMap<Symbol, Vec<&Resource>> = FxHashMap::default();
    let attachments = stack
        .of_kind("AWS::EC2::TransitGatewayAttachment")
        .chain(stack.of_kind("AWS::EC2::TransitGatewayVpcAttachment"));
    for attachment in attachments {
        if let Some(gateway) = attached(attachment, "TransitGatewayId") {
            out.entry(gateway).or_default().push(attachment);
        }
    }
    out
}

/// An address that nothing joins to a network needs no gateway, and one that a NAT gateway uses is joined by the NAT gateway:
/// [`NAT`] asks whether that one waits.
pub(super) static ADDRESS: Hazard = Hazard {
    name: "address-gateway",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "An elastic address can be joined to an instance only once the internet gateway of its network is attached. When the \
          stack is deleted, the gateway cannot be detached before the address is released.",
    page: PAGE,
    find: |stack, out| {
        let attachments = internet_attachments(stack);
        let joining = stack.of_kind("AWS::EC2::EIP").chain(stack.of_kind("AWS::EC2::EIPAssociation"));
        for joins in joining {
            for vpc in networks_of_address(stack, joins) {
                let because = format!("joins an elastic address to an instance in `{vpc}`");
                wait(out, joins, attachments.get(&vpc).cloned().unwrap_or_default(), because);
            }
        }
    },
};

pub(super) static NAT: Hazard = Hazard {
    name: "nat-gateway",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A public NAT gateway needs the internet gateway of its network to be attached. If it comes first, its creation fails.",
    page: "https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-working-with.html",
    find: |stack, out| {
        let attachments = internet_attachments(stack);
        for nat in stack.of_kind("AWS::EC2::NatGateway") {
            if nat.property(&["ConnectivityType"]).and_then(Value::text) == Some("private") {
                continue;
            }
            for vpc in networks(stack, nat.property(&["SubnetId"])) {
                wait(
                    out,
                    nat,
                    attachments.get(&vpc).cloned().unwrap_or_default(),
                    format!("is a public NAT gateway in `{vpc}`"),
                );
            }
        }
    },
};

pub(super) static PUBLIC_CONSUMER: Hazard = Hazard {
    name: "public-address-gateway",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "What has a public address needs the internet gateway of its network to be attached. When the stack is deleted, the \
          gateway cannot be detached before the address is gone.",
    page: PAGE,
    find: |stack, out| {
        let attachments = internet_attachments(stack);
        for resource in stack.template.resources.values() {
            let (subnets, what) = match &*resource.kind {
                "AWS::EC2::Instance" => {
                    (public_instance(stack, resource), "is an instance with a public address")
                }
                "AWS::AutoScaling::AutoScalingGroup" => {
                    (public_group(stack, resource), "starts instances with public addresses")
                }
                "AWS::ElasticLoadBalancing::LoadBalancer" => {
                    (public_balancer(resource, &["Subnets"]), "is a load balancer with a public address")
                }
                "AWS::ElasticLoadBalancingV2::LoadBalancer" => (
                    public_balancer(resource, &["Subnets", "SubnetMappings"]),
                    "is a load balancer with a public address",
                ),
                "AWS::RDS::DBInstance" => {
                    (public_database(stack, resource), "is a database with a public address")
                }
                _ => continue,
            };
            let mut seen: Vec<Symbol> = Vec::new();
            for vpc in subnets.into_iter().flat_map(|value| networks(stack, Some(value))) {
                if !seen.contains(&vpc) {
                    seen.push(vpc);
                    wait(
                        out,
                        resource,
                        attachments.get(&vpc).cloned().unwrap_or_default(),
                        format!("{what} in `{vpc}`"),
                    );
                }
            }
        }
    },
};

fn wait(out: &mut Vec<Wait>, consumer: &Resource, any_of: Vec<Symbol>, because: String) {
    if !any_of.is_empty() {
        out.push(Wait { consumer: consumer.name, any_of, because });
    }
}

fn attached(attachment: &Resource, property: &str) -> Option<Symbol> {
    attachment.property(&[property])?.reference()
}

/// The attachments of internet gateways to each network.
fn internet_attachments(stack: &Stack<'_>) -> FxHashMap<Symbol, Vec<Symbol>> {
    let mut out: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
    for attachment in stack.of_kind("AWS::EC2::VPCGatewayAttachment") {
        if let Some(vpc) = attached(attachment, "VpcId")
            && attachment.property(&["InternetGatewayId"]).is_some()
        {
            out.entry(vpc).or_default().push(attachment.name);
        }
    }
    out
}

/// The networks of the subnets that a value names, as far as both are in the template.
fn networks(stack: &Stack<'_>, value: Option<&Value>) -> Vec<Symbol> {
    let mut out = Vec::new();
    for subnet in stack.all_referred(value, "AWS::EC2::Subnet") {
        if let Some(vpc) = stack.referred(subnet.property(&["VpcId"]), "AWS::EC2::VPC")
            && !out.contains(&vpc.name)
        {
            out.push(vpc.name);
        }
    }
    out
}

/// The networks of the instance or interface to which a resource joins an elastic address.
fn networks_of_address(stack: &Stack<'_>, joins: &Resource) -> Vec<Symbol> {
    let mut out = Vec::new();
    let mut add = |value: Option<&Value>| {
        for vpc in networks(stack, value) {
            if !out.contains(&vpc) {
                out.push(vpc);
            }
        }
    };
    if let Some(instance) = stack.referred(joins.property(&["InstanceId"]), "AWS::EC2::Instance") {
        add(instance.property(&["SubnetId"]));
        add(instance.property(&["NetworkInterfaces"]));
    }
    let interface = joins.property(&["NetworkInterfaceId"]);
    if let Some(interface) = stack.referred(interface, "AWS::EC2::NetworkInterface") {
        add(interface.property(&["SubnetId"]));
    }
    out
}

/// Whether a value says yes, no, or nothing that can be known here.
fn answer(value: Option<&Value>) -> Option<bool> {
    match &value?.kind {
        ValueKind::Text(text) => Some(text.eq_ignore_ascii_case("true")),
        _ => None,
    }
}

/// Whether instances in the subnets that a value names get a public address unless they refuse it.
fn subnets_give_addresses(stack: &Stack<'_>, value: Option<&Value>) -> bool {
    stack
        .all_referred(value, "AWS::EC2::Subnet")
        .iter()
        .any(|subnet| answer(subnet.property(&["MapPublicIpOnLaunch"])) == Some(true))
}

/// `AssociatePublicIpAddress` of the first network interface.
fn interface_answer(properties: &Value) -> Option<bool> {
    let interfaces = properties.get("NetworkInterfaces")?;
    interfaces.items().iter().find_map(|one| answer(one.get("AssociatePublicIpAddress")))
}

fn public_instance<'a>(stack: &Stack<'_>, instance: &'a Resource) -> Vec<&'a Value> {
    let subnets: Vec<&Value> = ["SubnetId", "NetworkInterfaces"]
        .into_iter()
        .filter_map(|name| instance.properties.get(name))
        .collect();
    let public = interface_answer(&instance.properties)
        .unwrap_or_else(|| subnets.iter().any(|value| subnets_give_addresses(stack, Some(value))));
    if public { subnets } else { Vec::new() }
}

fn public_group<'a>(stack: &Stack<'_>, group: &'a Resource) -> Vec<&'a Value> {
    let subnets = group.property(&["VPCZoneIdentifier"]);
    let launch = stack
        .referred(group.property(&["LaunchConfigurationName"]), "AWS::AutoScaling::LaunchConfiguration")
        .and_then(|launch| answer(launch.property(&["AssociatePublicIpAddress"])));
    let template = stack
        .all_referred(Some(&group.properties), "AWS::EC2::LaunchTemplate")
        .into_iter()
        .find_map(|launch| interface_answer(launch.property(&["LaunchTemplateData"])?));
    let public = launch.or(template).unwrap_or_else(|| subnets_give_addresses(stack, subnets));
    if public { subnets.into_iter().collect() } else { Vec::new() }
}

fn public_balancer<'a>(balancer: &'a Resource, names: &[&str]) -> Vec<&'a Value> {
    let is = |name: &str, text: &str| balancer.property(&[name]).and_then(Value::text) == Some(text);
    // A scheme that a parameter or a condition chooses may be public; only a literal says that it is not.
    if is("Scheme", "internal") || is("Type", "gateway") {
        return Vec::new();
    }
    names.iter().filter_map(|name| balancer.properties.get(name)).collect()
}

fn public_database<'a>(stack: &Stack<'a>, database: &'a Resource) -> Vec<&'a Value> {
    if answer(database.property(&["PubliclyAccessible"])) != Some(true) {
        return Vec::new();
    }
    stack
        .referred(database.property(&["DBSubnetGroupName"]), "AWS::RDS::DBSubnetGroup")
        .and_then(|group| group.property(&["SubnetIds"]))
        .into_iter()
        .collect()
}
