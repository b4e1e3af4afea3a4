//! Names that a template gives to its resources, and that are taken once only.

use crate::template::{Resource, Template};
use crate::text::{Part, Text};
use crate::value::{Guard, Value, ValueKind};

/// What is known of the names of a type.
#[derive(Debug)]
pub(crate) struct Kind {
    name: &'static str,
    /// The property that names the resource; a name is taken once only.
    pub(crate) name_property: &'static str,
    /// Names need to differ only within what this property says.
    pub(crate) scope: Option<&'static str>,
}

const fn kind(name: &'static str, name_property: &'static str) -> Kind {
    Kind { name, name_property, scope: None }
}

const fn within(name: &'static str, name_property: &'static str, scope: &'static str) -> Kind {
    Kind { name, name_property, scope: Some(scope) }
}

static KINDS: &[Kind] = &[
    kind("AWS::AutoScaling::AutoScalingGroup", "AutoScalingGroupName"),
    kind("AWS::AutoScaling::LaunchConfiguration", "LaunchConfigurationName"),
    kind("AWS::Batch::ComputeEnvironment", "ComputeEnvironmentName"),
    kind("AWS::Batch::JobQueue", "JobQueueName"),
    kind("AWS::CloudWatch::Alarm", "AlarmName"),
    kind("AWS::CodeBuild::Project", "Name"),
    kind("AWS::CodePipeline::Pipeline", "Name"),
    kind("AWS::DynamoDB::Table", "TableName"),
    kind("AWS::EC2::KeyPair", "KeyName"),
    kind("AWS::EC2::LaunchTemplate", "LaunchTemplateName"),
    within("AWS::EC2::SecurityGroup", "GroupName", "VpcId"),
    kind("AWS::ECR::Repository", "RepositoryName"),
    kind("AWS::ECS::Cluster", "ClusterName"),
    within("AWS::ECS::Service", "ServiceName", "Cluster"),
    kind("AWS::EKS::Cluster", "Name"),
    within("AWS::EKS::Nodegroup", "NodegroupName", "ClusterName"),
    kind("AWS::ElastiCache::ReplicationGroup", "ReplicationGroupId"),
    kind("AWS::ElastiCache::SubnetGroup", "CacheSubnetGroupName"),
    kind("AWS::ElasticLoadBalancing::LoadBalancer", "LoadBalancerName"),
    kind("AWS::ElasticLoadBalancingV2::LoadBalancer", "Name"),
    kind("AWS::ElasticLoadBalancingV2::TargetGroup", "Name"),
    kind("AWS::Events::EventBus", "Name"),
    within("AWS::Events::Rule", "Name", "EventBusName"),
    kind("AWS::Glue::Crawler", "Name"),
    kind("AWS::Glue::Job", "Name"),
    kind("AWS::IAM::Group", "GroupName"),
    kind("AWS::IAM::InstanceProfile", "InstanceProfileName"),
    kind("AWS::IAM::ManagedPolicy", "ManagedPolicyName"),
    kind("AWS::IAM::Role", "RoleName"),
    kind("AWS::IAM::User", "UserName"),
    kind("AWS::KMS::Alias", "AliasName"),
    kind("AWS::Kinesis::Stream", "Name"),
    kind("AWS::KinesisFirehose::DeliveryStream", "DeliveryStreamName"),
    kind("AWS::Lambda::Function", "FunctionName"),
    kind("AWS::Logs::LogGroup", "LogGroupName"),
    kind("AWS::OpenSearchService::Domain", "DomainName"),
    kind("AWS::RDS::DBCluster", "DBClusterIdentifier"),
    kind("AWS::RDS::DBInstance", "DBInstanceIdentifier"),
    kind("AWS::RDS::DBParameterGroup", "DBParameterGroupName"),
    kind("AWS::RDS::DBSubnetGroup", "DBSubnetGroupName"),
    kind("AWS::Redshift::Cluster", "ClusterIdentifier"),
    kind("AWS::S3::Bucket", "BucketName"),
    kind("AWS::SNS::Topic", "TopicName"),
    kind("AWS::SQS::Queue", "QueueName"),
    kind("AWS::SSM::Parameter", "Name"),
    kind("AWS::SecretsManager::Secret", "Name"),
    kind("AWS::StepFunctions::StateMachine", "StateMachineName"),
];

/// What is known of the type of a resource.
pub(crate) fn of(resource: &Resource) -> Option<&'static Kind> {
    KINDS.binary_search_by_key(&resource.kind.as_str(), |known| known.name).ok().map(|at| &KINDS[at])
}

impl Kind {
    /// The name that a resource is given.
    pub(crate) fn name_of<'r>(&self, resource: &'r Resource) -> Option<&'r Value> {
        resource.property(&[self.name_property])
    }

    /// The texts that the name of a resource may be, each under its conditions, and what the name must differ within.
    pub(crate) fn names(&self, resource: &Resource, template: &Template) -> Vec<Name> {
        let scope = self.scope.and_then(|scope| resource.property(&[scope]));
        let scope = scope.map(|scope| Text::of(scope, template));
        let mut out = Vec::new();
        if let Some(name) = self.name_of(resource) {
            alternatives(name, &mut Guard::new(), &mut |value, guard| {
                let text = Text::of(value, template);
                // Secrets may give another value each time.
                if !text.with_gaps().contains("{{resolve:") {
                    out.push(Name { text, scope: scope.clone(), guard: guard.clone() });
                }
            });
        }
        out
    }

    /// Whether two resources of this type, which may be in two templates, always have the same name.
    pub(crate) fn collide(&self, one: (&Resource, &Template), other: (&Resource, &Template)) -> bool {
        let only = |(resource, template)| match self.names(resource, template).as_slice() {
            [only] if only.guard.is_empty() && only.is_fixed() => Some(only.clone()),
            _ => None,
        };
        only(one).is_some_and(|name| only(other) == Some(name))
    }
}

/// A name that a resource may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: Text,
    /// Names need to differ only within what this says.
    pub(crate) scope: Option<Text>,
    pub(crate) guard: Guard,
}

impl Name {
    /// Whether it is the same in every update of one stack: it depends on nothing that a function gives.
    fn is_fixed(&self) -> bool {
        let parts = self.text.0.iter().chain(self.scope.iter().flat_map(|scope| &scope.0));
        parts.into_iter().all(|part| !matches!(part, Part::Other(_)))
    }
}

/// Calls `found` for each value that an expression of `Fn::If` may choose, with the conditions that choose it.
fn alternatives(value: &Value, guard: &mut Guard, found: &mut dyn FnMut(&Value, &Guard)) {
    match &value.kind {
        ValueKind::If { condition, then, otherwise } => {
            for (branch, taken) in [(then, true), (otherwise, false)] {
                guard.push((*condition, taken));
                alternatives(branch, guard, found);
                guard.pop();
            }
        }
        // Then CloudFormation makes up a name.
        ValueKind::Ref(name) if &**name == "AWS::NoValue" => {}
        _ => found(value, guard),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn types_are_in_order() {
        assert!(super::KINDS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
