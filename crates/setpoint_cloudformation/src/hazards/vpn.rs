//! Virtual private networks.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::value::Value;

pub(super) static ROUTE_PROPAGATION: Hazard = Hazard {
    name: "vpn-route-propagation",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "Routes of a VPN gateway can be propagated only once the gateway is attached to the network.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html",
    find: |stack, out| {
        for propagation in stack.of_kind("AWS::EC2::VPNGatewayRoutePropagation") {
            let Some(gateway) = propagation.property(&["VpnGatewayId"]).and_then(Value::reference) else {
                continue;
            };
            let any_of: Vec<Symbol> = stack
                .of_kind("AWS::EC2::VPCGatewayAttachment")
                .filter(|one| one.property(&["VpnGatewayId"]).and_then(Value::reference) == Some(gateway))
                .map(|one| one.name)
                .collect();
            if !any_of.is_empty() {
                let because = format!("propagates the routes of the VPN gateway `{gateway}`");
                out.push(Wait { consumer: propagation.name, any_of, because });
            }
        }
    },
};

pub(super) static CLIENT_ROUTE: Hazard = Hazard {
    name: "client-vpn-route",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A route of a client VPN endpoint goes through a subnet that must be associated with the endpoint first.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-ec2-clientvpnroute.html",
    find: |stack, out| {
        for route in stack.of_kind("AWS::EC2::ClientVpnRoute") {
            let endpoint = route.property(&["ClientVpnEndpointId"]).and_then(Value::reference);
            let subnet = route.property(&["TargetVpcSubnetId"]).and_then(Value::reference);
            let Some(endpoint) = endpoint else { continue };
            let associations: Vec<_> = stack
                .of_kind("AWS::EC2::ClientVpnTargetNetworkAssociation")
                .filter(|one| {
                    one.property(&["ClientVpnEndpointId"]).and_then(Value::reference) == Some(endpoint)
                })
                .collect();
            let same: Vec<Symbol> = associations
                .iter()
                .filter(|one| {
                    subnet.is_some() && one.property(&["SubnetId"]).and_then(Value::reference) == subnet
                })
                .map(|one| one.name)
                .collect();
            let any_of =
                if same.is_empty() { associations.iter().map(|one| one.name).collect() } else { same };
            if !any_of.is_empty() {
                let because = format!("is a route of the client VPN endpoint `{endpoint}`");
                out.push(Wait { consumer: route.name, any_of, because });
            }
        }
    },
};
