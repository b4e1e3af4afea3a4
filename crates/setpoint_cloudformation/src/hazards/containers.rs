//! Container services.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::template::Resource;
use crate::value::Value;

pub(super) static LISTENER: Hazard = Hazard {
    name: "service-listener",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A service can register with a target group only once a listener joins the group to a load balancer. If the service \
          comes first, its creation fails: the target group does not have an associated load balancer.",
    page: "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service-load-balancing.html",
    find: |stack, out| {
        for service in stack.of_kind("AWS::ECS::Service") {
            let balancers = service.property(&["LoadBalancers"]).map(Value::items).unwrap_or_default();
            for balancer in balancers {
                let kind = "AWS::ElasticLoadBalancingV2::TargetGroup";
                let Some(group) = stack.referred(balancer.get("TargetGroupArn"), kind) else { continue };
                let any_of: Vec<Symbol> = stack
                    .of_kind("AWS::ElasticLoadBalancingV2::Listener")
                    .chain(stack.of_kind("AWS::ElasticLoadBalancingV2::ListenerRule"))
                    .filter(|one| one.properties.refers_to(group.name))
                    .map(|one| one.name)
                    .collect();
                if !any_of.is_empty() {
                    let because = format!("registers its tasks with the target group `{}`", group.name);
                    out.push(Wait { consumer: service.name, any_of, because });
                }
            }
        }
    },
};

pub(super) static CAPACITY: Hazard = Hazard {
    name: "service-capacity",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A service can use only capacity providers that its cluster has. If they are associated later, the creation of the \
          service fails: the capacity provider is not associated with the cluster.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ecs-clustercapacityproviderassociations.html",
    find: |stack, out| {
        let cluster = |one: &Resource| one.property(&["Cluster"]).and_then(Value::reference);
        for service in stack.of_kind("AWS::ECS::Service") {
            if service.property(&["CapacityProviderStrategy"]).is_none() {
                continue;
            }
            let Some(own) = cluster(service) else { continue };
            let associations = stack.of_kind("AWS::ECS::ClusterCapacityProviderAssociations");
            let any_of: Vec<Symbol> =
                associations.filter(|one| cluster(one) == Some(own)).map(|one| one.name).collect();
            if !any_of.is_empty() {
                let because = format!("uses capacity providers of the cluster `{own}`");
                out.push(Wait { consumer: service.name, any_of, because });
            }
        }
    },
};
