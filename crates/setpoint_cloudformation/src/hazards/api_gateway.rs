//! Interfaces: REST, HTTP and GraphQL.

use setpoint_source::{Severity, Symbol};

use super::{Hazard, Wait};
use crate::template::Resource;
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

pub(super) static ROUTES: Hazard = Hazard {
    name: "deployment-routes",
    severity: Severity::Error,
    why: "A deployment publishes the routes that exist when it is made. Without any its creation fails: unable to deploy because \
          no routes exist in this API. A route that comes later is not published.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigatewayv2-deployment.html",
    find: |stack, out| {
        for deployment in stack.of_kind("AWS::ApiGatewayV2::Deployment") {
            let Some(api) = deployment.property(&["ApiId"]).and_then(Value::reference) else { continue };
            for route in stack.of_kind("AWS::ApiGatewayV2::Route") {
                if route.property(&["ApiId"]).and_then(Value::reference) == Some(api) {
                    let because = format!("publishes the routes of `{api}`");
                    out.push(Wait { consumer: deployment.name, any_of: vec![route.name], because });
                }
            }
        }
    },
};

pub(super) static PLAN: Hazard = Hazard {
    name: "plan-stage",
    severity: Severity::Error,
    why: "A usage plan can name only stages that exist. If the stage comes later, the creation of the plan fails: API stage not \
          found.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-usageplan.html",
    find: |stack, out| {
        for plan in stack.of_kind("AWS::ApiGateway::UsagePlan") {
            for named in plan.property(&["ApiStages"]).map(Value::items).unwrap_or_default() {
                let Some(api) = named.get("ApiId").and_then(Value::reference) else { continue };
                let Some(stage) = named.get("Stage").and_then(Value::text) else { continue };
                let makes = |one: &&Resource| {
                    one.property(&["RestApiId"]).and_then(Value::reference) == Some(api)
                        && one.property(&["StageName"]).and_then(Value::text) == Some(stage)
                };
                let stages = stack.of_kind("AWS::ApiGateway::Stage");
                let deployments = stack.of_kind("AWS::ApiGateway::Deployment");
                let any_of: Vec<Symbol> =
                    stages.chain(deployments).filter(makes).map(|one| one.name).collect();
                if !any_of.is_empty() {
                    let because = format!("is for the stage `{stage}` of `{api}`");
                    out.push(Wait { consumer: plan.name, any_of, because });
                }
            }
        }
    },
};

pub(super) static SCHEMA: Hazard = Hazard {
    name: "resolver-schema",
    severity: Severity::Error,
    why: "A resolver belongs to a field of the schema. If the schema comes later, the creation of the resolver fails: no schema \
          definition exists.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-appsync-resolver.html",
    find: |stack, out| {
        let api = |one: &Resource| one.property(&["ApiId"]).and_then(Value::reference);
        for resolver in stack.of_kind("AWS::AppSync::Resolver") {
            let Some(own) = api(resolver) else { continue };
            let schemas = stack.of_kind("AWS::AppSync::GraphQLSchema").filter(|one| api(one) == Some(own));
            let any_of: Vec<Symbol> = schemas.map(|one| one.name).collect();
            if !any_of.is_empty() {
                let because = format!("resolves a field of the schema of `{own}`");
                out.push(Wait { consumer: resolver.name, any_of, because });
            }
        }
    },
};

pub(super) static LOGS: Hazard = Hazard {
    name: "stage-logs",
    severity: Severity::Warning,
    why: "A stage can write logs only once the account has a role for that. In an account that never had one, the creation of the \
          stage fails: CloudWatch Logs role ARN must be set in account settings to enable logging.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-account.html",
    find: |stack, out| {
        let any_of: Vec<Symbol> = stack
            .of_kind("AWS::ApiGateway::Account")
            .filter(|one| one.property(&["CloudWatchRoleArn"]).is_some())
            .map(|one| one.name)
            .collect();
        if any_of.is_empty() {
            return;
        }
        let writes = |settings: Option<&Value>| {
            let settings = settings.map(Value::items).unwrap_or_default();
            settings
                .iter()
                .any(|one| matches!(one.get("LoggingLevel").and_then(Value::text), Some("INFO" | "ERROR")))
        };
        let stages =
            stack.of_kind("AWS::ApiGateway::Stage").map(|one| (one, one.property(&["MethodSettings"])));
        let deployments = stack
            .of_kind("AWS::ApiGateway::Deployment")
            .map(|one| (one, one.property(&["StageDescription", "MethodSettings"])));
        for (stage, _) in stages.chain(deployments).filter(|(_, settings)| writes(*settings)) {
            let because = "writes logs of its methods".to_owned();
            out.push(Wait { consumer: stage.name, any_of: any_of.clone(), because });
        }
    },
};
