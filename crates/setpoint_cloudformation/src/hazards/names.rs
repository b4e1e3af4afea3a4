//! Resources that another one uses by its name as text: no reference makes them wait.

use rustc_hash::FxHashMap;
use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::naming;
use crate::template::Resource;
use crate::text::{Part, Text};
use crate::value::Value;

/// Types that name another resource: the type, the property, and the type that it names.
const USES: &[(&str, &str, &str)] = &[
    ("AWS::AutoScaling::LifecycleHook", "AutoScalingGroupName", "AWS::AutoScaling::AutoScalingGroup"),
    ("AWS::AutoScaling::ScalingPolicy", "AutoScalingGroupName", "AWS::AutoScaling::AutoScalingGroup"),
    ("AWS::AutoScaling::ScheduledAction", "AutoScalingGroupName", "AWS::AutoScaling::AutoScalingGroup"),
    ("AWS::AutoScaling::WarmPool", "AutoScalingGroupName", "AWS::AutoScaling::AutoScalingGroup"),
    ("AWS::ECS::Service", "Cluster", "AWS::ECS::Cluster"),
    ("AWS::EKS::Addon", "ClusterName", "AWS::EKS::Cluster"),
    ("AWS::EKS::Nodegroup", "ClusterName", "AWS::EKS::Cluster"),
    ("AWS::ElastiCache::ReplicationGroup", "CacheSubnetGroupName", "AWS::ElastiCache::SubnetGroup"),
    ("AWS::Events::Rule", "EventBusName", "AWS::Events::EventBus"),
    ("AWS::IAM::InstanceProfile", "Roles", "AWS::IAM::Role"),
    ("AWS::IAM::ManagedPolicy", "Roles", "AWS::IAM::Role"),
    ("AWS::IAM::Policy", "Roles", "AWS::IAM::Role"),
    ("AWS::Lambda::Alias", "FunctionName", "AWS::Lambda::Function"),
    ("AWS::Lambda::EventSourceMapping", "FunctionName", "AWS::Lambda::Function"),
    ("AWS::Lambda::Permission", "FunctionName", "AWS::Lambda::Function"),
    ("AWS::Lambda::Url", "TargetFunctionArn", "AWS::Lambda::Function"),
    ("AWS::Lambda::Version", "FunctionName", "AWS::Lambda::Function"),
    ("AWS::Logs::LogStream", "LogGroupName", "AWS::Logs::LogGroup"),
    ("AWS::Logs::MetricFilter", "LogGroupName", "AWS::Logs::LogGroup"),
    ("AWS::Logs::SubscriptionFilter", "LogGroupName", "AWS::Logs::LogGroup"),
    ("AWS::RDS::DBCluster", "DBSubnetGroupName", "AWS::RDS::DBSubnetGroup"),
    ("AWS::RDS::DBInstance", "DBClusterIdentifier", "AWS::RDS::DBCluster"),
    ("AWS::RDS::DBInstance", "DBSubnetGroupName", "AWS::RDS::DBSubnetGroup"),
    ("AWS::S3::BucketPolicy", "Bucket", "AWS::S3::Bucket"),
];

pub(super) static LITERAL: Hazard = Hazard {
    name: "name-as-text",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A name that is written as text is no reference, so that both may be created at once. If what has the name comes later, \
          the creation of what uses it fails: it does not exist.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html",
    find: |stack, out| {
        let named = named_resources(stack);
        for user in stack.template.resources.values() {
            for (_, property, kind) in USES.iter().filter(|(of, ..)| *of == &*user.kind) {
                let Some(value) = user.property(&[property]) else { continue };
                for value in texts(value) {
                    let text = Text::of(value, stack.template);
                    for name in named.get(&(*kind, text)).into_iter().flatten() {
                        let because = format!("names `{name}` as text in `{property}`");
                        out.push(Wait { consumer: user.name, any_of: vec![*name], because });
                    }
                }
            }
        }
    },
};

/// A value, or the items of a list.
fn texts(value: &Value) -> Vec<&Value> {
    if value.items().is_empty() { vec![value] } else { value.items().iter().collect() }
}

/// The resources that have a name of their own which does not come from another resource.
fn named_resources(stack: &Stack<'_>) -> FxHashMap<(&'static str, Text), Vec<Symbol>> {
    let mut out: FxHashMap<(&'static str, Text), Vec<Symbol>> = FxHashMap::default();
    let is_used = |resource: &&Resource| USES.iter().any(|(.., kind)| *kind == &*resource.kind);
    for resource in stack.template.resources.values().filter(is_used) {
        let Some(used) = USES.iter().map(|(.., kind)| *kind).find(|kind| *kind == &*resource.kind) else {
            continue;
        };
        let Some(kind) = naming::of(resource) else { continue };
        for name in kind.names(resource, stack.template) {
            let is_known = |part: &Part| match part {
                Part::Text(_) => true,
                Part::Ref(name) => stack.resource(*name).is_none(),
                Part::Other(_) => false,
            };
            if name.guard.is_empty() && !name.text.0.is_empty() && name.text.0.iter().all(is_known) {
                out.entry((used, name.text)).or_default().push(resource.name);
            }
        }
    }
    out
}
