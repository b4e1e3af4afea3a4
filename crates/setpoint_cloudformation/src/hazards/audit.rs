//! Trails, configuration rules and log subscriptions: services that check their permissions when they are set up.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::Resource;
use crate::value::Value;

pub(super) static TRAIL: Hazard = Hazard {
    name: "trail-policy",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A trail checks that it may write to its bucket and topic when it is created. Without the policy its creation fails: \
          incorrect S3 bucket policy is detected.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudtrail-trail.html",
    find: |stack, out| {
        for trail in stack.of_kind("AWS::CloudTrail::Trail") {
            let targets = [
                ("S3BucketName", "AWS::S3::Bucket", "AWS::S3::BucketPolicy", "Bucket"),
                ("SnsTopicName", "AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "Topics"),
            ];
            for (property, kind, policy_kind, names) in targets {
                let Some(target) = stack.referred(trail.property(&[property]), kind) else { continue };
                let any_of: Vec<Symbol> = stack
                    .of_kind(policy_kind)
                    .filter(|one| one.property(&[names]).is_some_and(|value| value.refers_to(target.name)))
                    .map(|one| one.name)
                    .collect();
                wait(out, trail, any_of, format!("writes to `{}`", target.name));
            }
        }
    },
};

pub(super) static CONFIG_RULE: Hazard = Hazard {
    name: "config-rule",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A rule of AWS Config needs the configuration recorder, and a rule with a function of its own the permission to call it. \
          Without them its creation fails.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-config-configrule.html",
    find: |stack, out| {
        for rule in stack.of_kind("AWS::Config::ConfigRule") {
            let recorders: Vec<Symbol> =
                stack.of_kind("AWS::Config::ConfigurationRecorder").map(|one| one.name).collect();
            wait(out, rule, recorders, "is a rule of AWS Config".to_owned());
            let function = rule.property(&["Source", "SourceIdentifier"]);
            if let Some(function) = stack.referred(function, "AWS::Lambda::Function") {
                let allowed = permissions(stack, function, "config.");
                wait(out, rule, allowed, format!("calls the function `{}`", function.name));
            }
        }
    },
};

pub(super) static SUBSCRIPTION: Hazard = Hazard {
    name: "log-subscription",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "CloudWatch Logs calls the function once when the filter is created. Without the permission its creation fails: could \
          not execute the lambda function.",
    page: "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html",
    find: |stack, out| {
        for filter in stack.of_kind("AWS::Logs::SubscriptionFilter") {
            let function = stack.referred(filter.property(&["DestinationArn"]), "AWS::Lambda::Function");
            if let Some(function) = function {
                let allowed = permissions(stack, function, "logs.");
                wait(out, filter, allowed, format!("sends logs to the function `{}`", function.name));
            }
        }
    },
};

fn wait(out: &mut Vec<Wait>, consumer: &Resource, any_of: Vec<Symbol>, because: String) {
    if !any_of.is_empty() {
        out.push(Wait { consumer: consumer.name, any_of, because });
    }
}

/// The permissions by which a service may call a function. A principal that is put together may be that of any service.
fn permissions(stack: &Stack<'_>, function: &Resource, service: &str) -> Vec<Symbol> {
    stack
        .of_kind("AWS::Lambda::Permission")
        .filter(|one| one.property(&["FunctionName"]).is_some_and(|value| value.refers_to(function.name)))
        .filter(|one| {
            let principal = one.property(&["Principal"]);
            principal.and_then(Value::text).is_none_or(|text| text.starts_with(service))
        })
        .map(|one| one.name)
        .collect()
}
