//! REST interfaces.

use setpoint_source::Severity;

use super::{Hazard, Wait};
use crate::value::Value;

pub(super) static METHODS: Hazard = Hazard {
    name: "deployment-methods",
    severity: Severity::Error,
    why: "A deployment publishes the methods that exist when it is made. Without any its creation fails: the REST API doesn't \
          contain any methods. A method that comes later is not published.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-apigateway-deployment.html",
    find: |stack, out| {
        for deployment in stack.of_kind("AWS::ApiGateway::Deployment") {
            let Some(api) = deployment.property(&["RestApiId"]).and_then(Value::reference) else { continue };
            for method in stack.of_kind("AWS::ApiGateway::Method") {
                if method.property(&["RestApiId"]).and_then(Value::reference) == Some(api) {
                    let because = format!("publishes the methods of `{api}`");
                    out.push(Wait { consumer: deployment.name, any_of: vec![method.name], because });
                }
            }
        }
    },
};
