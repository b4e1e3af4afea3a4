//! Buckets that send notifications.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::Resource;
use crate::value::Value;

pub(super) static BUCKET: Hazard = Hazard {
    name: "bucket-notification",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A bucket checks that it may send its notifications when they are set. Without the permission its creation fails: \
          unable to validate the following destination configurations.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-s3-bucket-notificationconfig.html",
    find: |stack, out| {
        for bucket in stack.of_kind("AWS::S3::Bucket") {
            let Some(config) = bucket.property(&["NotificationConfiguration"]) else { continue };
            for function in stack.all_referred(config.get("LambdaConfigurations"), "AWS::Lambda::Function") {
                wait(out, bucket, function, &permissions(stack, function));
            }
            for topic in stack.all_referred(config.get("TopicConfigurations"), "AWS::SNS::Topic") {
                wait(out, bucket, topic, &policies(stack, "AWS::SNS::TopicPolicy", "Topics", topic));
            }
            for queue in stack.all_referred(config.get("QueueConfigurations"), "AWS::SQS::Queue") {
                wait(out, bucket, queue, &policies(stack, "AWS::SQS::QueuePolicy", "Queues", queue));
            }
        }
    },
};

fn wait(out: &mut Vec<Wait>, bucket: &Resource, target: &Resource, any_of: &[Symbol]) {
    if !any_of.is_empty() {
        let because = format!("sends notifications to `{}`", target.name);
        out.push(Wait { consumer: bucket.name, any_of: any_of.to_vec(), because });
    }
}

/// The permissions by which S3 may call a function.
fn permissions(stack: &Stack<'_>, function: &Resource) -> Vec<Symbol> {
    stack
        .of_kind("AWS::Lambda::Permission")
        .filter(|one| one.property(&["FunctionName"]).is_some_and(|value| value.refers_to(function.name)))
        .filter(|one| {
            one.property(&["Principal"]).and_then(Value::text).is_none_or(|text| text.starts_with("s3."))
        })
        .map(|one| one.name)
        .collect()
}

fn policies(stack: &Stack<'_>, kind: &'static str, property: &str, target: &Resource) -> Vec<Symbol> {
    stack
        .template
        .resources
        .values()
        .filter(|one| &*one.kind == kind)
        .filter(|one| one.property(&[property]).is_some_and(|value| value.refers_to(target.name)))
        .map(|one| one.name)
        .collect()
}
