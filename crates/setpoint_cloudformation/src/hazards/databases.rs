//! Databases behind proxies.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::template::Resource;
use crate::value::Value;

pub(super) static PROXY: Hazard = Hazard {
    name: "proxy-instances",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A proxy can be joined to a cluster only once the cluster has an instance. If the target group comes first, its creation \
          fails: the cluster does not have any associated instances.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbproxytargetgroup.html",
    find: |stack, out| {
        for group in stack.of_kind("AWS::RDS::DBProxyTargetGroup") {
            for cluster in
                stack.all_referred(group.property(&["DBClusterIdentifiers"]), "AWS::RDS::DBCluster")
            {
                let is_of_cluster = |one: &&Resource| {
                    one.property(&["DBClusterIdentifier"]).and_then(Value::reference) == Some(cluster.name)
                };
                let instances = stack.of_kind("AWS::RDS::DBInstance").filter(is_of_cluster);
                let any_of: Vec<Symbol> = instances.map(|one| one.name).collect();
                if !any_of.is_empty() {
                    let because = format!("joins a proxy to the cluster `{}`", cluster.name);
                    out.push(Wait { consumer: group.name, any_of, because });
                }
            }
        }
    },
};
