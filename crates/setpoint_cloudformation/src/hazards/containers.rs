//! Container services.

use setpoint_source::{Severity, Symbol};

use super::{Hazard, Wait};
use crate::value::Value;

pub(super) static LISTENER: Hazard = Hazard {
    name: "service-listener",
    severity: Severity::Error,
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
