//! Creations, updates and rollbacks that cannot come to their end, as far as one template shows it.

use setpoint_source::{Diagnostic, Rule};

use crate::checks::sends_signal;
use crate::graph::Stack;
use crate::naming;
use crate::update::{exported, text_of};
use crate::value::{Value, ValueKind};

/// Finds creations that do not come to their end, in `out`, and updates and rollbacks that do not, in `beside`.
pub(crate) fn check(
    stack: &Stack<'_>,
    opaque: bool,
    out: &mut Vec<Diagnostic>,
    beside: &mut Vec<Diagnostic>,
) {
    own_imports(stack, out);
    rolling_updates(stack, opaque, beside);
    silent_functions(stack, out);
    kept_names(stack, beside);
}

/// A stack cannot import what it exports itself: the export is there only when the stack is complete.
fn own_imports(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    let exports = exported(stack.template);
    for resource in stack.template.resources.values() {
        let mut found = Vec::new();
        resource.properties.each(&mut |value| {
            if let ValueKind::Call { name, argument } = &value.kind
                && &**name == "Fn::ImportValue"
                && let Some((export, _)) = exports.iter().find(|(export, _)| export.same_as(argument))
            {
                found.push((value.range, *export));
            }
        });
        for (range, export) in found {
            out.push(
                Diagnostic::new(
                    Rule::OwnImport,
                    format!(
                        "`{}` imports `{}`, which this template exports itself",
                        resource.name,
                        text_of(export, stack.template)
                    ),
                )
                .at(stack.template.span(range))
                .labelled("there is no such export before the stack is complete")
                .with_label(stack.template.span(export.range), "exported here")
                .with_note(
                    "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-importvalue.html",
                )
                .with_help("Refer to the resource with `!Ref` or `!GetAtt`.")
                .with_resources([resource.name.to_string()]),
            );
        }
    }
}

/// Rolling updates that leave no instance to be replaced, or wait for signals that never come.
fn rolling_updates(stack: &Stack<'_>, opaque: bool, out: &mut Vec<Diagnostic>) {
    for group in stack.of_kind("AWS::AutoScaling::AutoScalingGroup") {
        let Some(policy) = group.others.iter().find_map(|value| value.get("AutoScalingRollingUpdate")) else {
            continue;
        };
        let least = policy.get("MinInstancesInService");
        let most = group.property(&["MaxSize"]);
        if let (Some(least), Some(most)) = (least, most)
            && let (Some(low), Some(high)) = (number(stack, least), number(stack, most))
            && low >= high
        {
            out.push(
                Diagnostic::new(
                    Rule::RollingUpdateBlocked,
                    format!(
                        "`{}` cannot be updated: {low} of at most {high} instances must stay in service",
                        group.name
                    ),
                )
                .at(stack.template.span(least.range))
                .labelled("must be less than `MaxSize`")
                .with_label(stack.template.span(most.range), format!("{high} at most"))
                .with_note(
                    "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html",
                )
                .with_help("Lower `MinInstancesInService`, or raise `MaxSize`.")
                .with_resources([group.name.to_string()]),
            );
        }
        let waits = policy.get("WaitOnResourceSignals").is_some_and(Value::is_true);
        let told = group.creation_policy.as_ref().is_some_and(|one| one.get("ResourceSignal").is_some());
        // A creation policy without a signal is reported already.
        if waits && !told && !opaque && !sends_signal(stack, group) {
            out.push(
                Diagnostic::new(
                    Rule::NeverSignalled,
                    format!(
                        "an update of `{}` waits for signals of its new instances, and nothing in the template sends one",
                        group.name
                    ),
                )
                .at(stack.template.span(policy.range))
                .with_note("Without the signals the update ends with a time-out and is rolled back, and so may the rollback.")
                .with_help("Call `cfn-signal` at the end of the user data, or set `WaitOnResourceSignals` to false.")
                .with_resources([group.name.to_string()]),
            );
        }
    }
}

/// A number that is the same for every choice of parameters, or the default of a parameter that can have no other.
fn number(stack: &Stack<'_>, value: &Value) -> Option<u64> {
    match &value.kind {
        ValueKind::Text(text) => text.parse().ok(),
        ValueKind::Ref(name) => match stack.template.parameters.get(name)?.allowed.as_slice() {
            [only] => only.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// What an answer to CloudFormation looks like in the code of a function.
const ANSWERS: &[&str] =
    &["cfnresponse", "cfn-response", "cfn_response", "ResponseURL", "response_url", "crhelper"];

/// Custom resources whose function never answers: the stack waits until the time is over, when it is deleted too.
fn silent_functions(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    for resource in stack.template.resources.values() {
        let kind = resource.kind.as_str();
        if kind != "AWS::CloudFormation::CustomResource" && !kind.starts_with("Custom::") {
            continue;
        }
        let Some(function) = stack.referred(resource.property(&["ServiceToken"]), "AWS::Lambda::Function")
        else {
            continue;
        };
        let Some(code) = function.property(&["Code", "ZipFile"]) else { continue };
        // Code that is brought in from elsewhere may answer.
        let brought_in = function.property(&["Layers"]).is_some() || !is_readable(code);
        if brought_in || ANSWERS.iter().any(|answer| code.mentions(answer)) {
            continue;
        }
        out.push(
            Diagnostic::new(
                Rule::NeverSignalled,
                format!("`{}` waits for an answer, and the code of `{}` sends none", resource.name, function.name),
            )
            .at(stack.template.span(resource.name_range))
            .with_label(stack.template.span(function.name_range), "this function is called")
            .with_note("CloudFormation waits up to an hour for the answer, when the resource is created, changed and deleted.")
            .with_note(
                "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-custom-resources.html",
            )
            .with_help("Call `cfnresponse.send` for every request, the deletion among them, and when the code fails.")
            .with_resources([resource.name.to_string(), function.name.to_string()]),
        );
    }
}

/// The code is text in the template, not put together from elsewhere.
fn is_readable(code: &Value) -> bool {
    let mut readable = true;
    code.each(&mut |value| {
        readable &= match &value.kind {
            ValueKind::Text(_) | ValueKind::List(_) | ValueKind::Sub { .. } => true,
            ValueKind::Call { name, .. } => &**name == "Fn::Join",
            _ => false,
        };
    });
    readable
}

/// What is kept under a fixed name when a creation is rolled back, so that the next creation fails.
fn kept_names(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    for resource in stack.template.resources.values() {
        if resource.deletion_policy.as_deref() != Some("Retain") {
            continue;
        }
        let Some(name) = naming::of(resource).and_then(|kind| kind.name_of(resource)) else { continue };
        // A name that a parameter gives can be another one the next time.
        if name.text().is_none() {
            continue;
        }
        out.push(
            Diagnostic::new(
                Rule::KeptName,
                format!(
                    "`{}` stays under its name when its creation is rolled back, and then the stack cannot be created again",
                    resource.name
                ),
            )
            .at(stack.template.span(name.range))
            .labelled("this name is taken then")
            .with_note(
                "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html",
            )
            .with_help("`DeletionPolicy: RetainExceptOnCreate` keeps it later, and removes it when its creation is rolled back.")
            .with_resources([resource.name.to_string()]),
        );
    }
}
