//! Roles whose permissions stand in a resource of their own.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::Resource;
use crate::value::Value;

pub(super) static POLICY: Hazard = Hazard {
    name: "role-policy",
    severity: Severity::Warning,
    concerns: Concern::Creation,
    why: "The resource acts with the role while it is created and deleted, and the role has its permissions from a policy that \
          is a resource of its own. Without an order the permissions may come too late, or go too early.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-iam-role.html",
    find: |stack, out| {
        for policy in stack.template.resources.values() {
            let roles = match &*policy.kind {
                "AWS::IAM::Policy" | "AWS::IAM::ManagedPolicy" => policy.property(&["Roles"]),
                "AWS::IAM::RolePolicy" => policy.property(&["RoleName"]),
                _ => continue,
            };
            for role in stack.all_referred(roles, "AWS::IAM::Role") {
                for (user, because) in users(stack, role) {
                    out.push(Wait { consumer: user.name, any_of: vec![policy.name], because });
                }
            }
        }
    },
};

/// The resources that act with a role while they are created or deleted.
fn users<'a>(stack: &Stack<'a>, role: &Resource) -> Vec<(&'a Resource, String)> {
    let mut out = Vec::new();
    for resource in stack.template.resources.values() {
        let acts = match &*resource.kind {
            "AWS::ECS::Service" => {
                resource.property(&["Role"]).is_some_and(|value| value.refers_to(role.name))
            }
            "AWS::EMR::Cluster" => ["ServiceRole", "AutoScalingRole"]
                .into_iter()
                .any(|name| resource.property(&[name]).is_some_and(|value| value.refers_to(role.name))),
            "AWS::KinesisFirehose::DeliveryStream"
            | "AWS::Batch::ComputeEnvironment"
            | "AWS::StepFunctions::StateMachine"
            | "AWS::EKS::Cluster"
            | "AWS::EKS::Nodegroup"
            | "AWS::Glue::Crawler"
            | "AWS::CodePipeline::Pipeline" => resource.properties.refers_to(role.name),
            // A function in a network needs permission to make its interfaces when it is created.
            "AWS::Lambda::Function" => {
                resource.property(&["VpcConfig"]).is_some()
                    && resource.property(&["Role"]).is_some_and(|value| value.refers_to(role.name))
            }
            "AWS::Lambda::EventSourceMapping" => stack
                .referred(resource.property(&["FunctionName"]), "AWS::Lambda::Function")
                .is_some_and(|function| function.properties.refers_to(role.name)),
            kind if kind == "AWS::CloudFormation::CustomResource" || kind.starts_with("Custom::") => {
                stack.referred(resource.property(&["ServiceToken"]), "AWS::Lambda::Function").is_some_and(
                    |function| function.property(&["Role"]).is_some_and(|value| value.refers_to(role.name)),
                )
            }
            _ => false,
        };
        if acts {
            out.push((resource, format!("acts with the role `{}`", role.name)));
        }
    }
    out
}

pub(super) static DOMAIN: Hazard = Hazard {
    name: "domain-role",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A search domain in a network acts with a service-linked role. If the role comes later, the creation of the domain fails: \
          you must enable a service-linked role.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-iam-servicelinkedrole.html",
    find: |stack, out| {
        for (kind, services) in [
            ("AWS::OpenSearchService::Domain", ["opensearchservice.amazonaws.com", "es.amazonaws.com"]),
            ("AWS::Elasticsearch::Domain", ["es.amazonaws.com", "opensearchservice.amazonaws.com"]),
        ] {
            let is_for = |one: &&Resource| {
                one.property(&["AWSServiceName"])
                    .and_then(Value::text)
                    .is_some_and(|name| services.contains(&name))
            };
            let roles = stack.of_kind("AWS::IAM::ServiceLinkedRole").filter(is_for);
            let any_of: Vec<Symbol> = roles.map(|one| one.name).collect();
            for domain in stack.of_kind(kind).filter(|one| one.property(&["VPCOptions"]).is_some()) {
                if !any_of.is_empty() {
                    let because = "is a search domain in a network".to_owned();
                    out.push(Wait { consumer: domain.name, any_of: any_of.clone(), because });
                }
            }
        }
    },
};
