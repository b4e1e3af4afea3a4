//! Interfaces: REST, HTTP and GraphQL.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::{Resource, Table};
use crate::value::Value;

pub(super) static METHODS: Hazard = Hazard {
    name: "deployment-methods",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A deployment publishes the methods that exist when it is made. Without any its creation fails: the REST API doesn't \
          contain any methods.",
    page: METHODS_PAGE,
    find: |stack, out| {
        for (deployment, api, methods) in published(stack, &REST) {
            if !is_empty_at_first(stack, api) {
                continue;
            }
            let because = format!("publishes the methods of `{api}`");
            out.push(Wait { consumer: deployment, any_of: methods, because });
        }
    },
};

pub(super) static LATE_METHODS: Hazard = Hazard {
    name: "deployment-all-methods",
    severity: Severity::Warning,
    concerns: Concern::Contents,
    why: "A deployment publishes the methods that exist when it is made. A method that comes later is not published.",
    page: METHODS_PAGE,
    find: |stack, out| {
        for (deployment, api, methods) in published(stack, &REST) {
            let because = format!("publishes the methods of `{api}`");
            let each = methods.into_iter();
            out.extend(each.map(|one| Wait {
                consumer: deployment,
                any_of: vec![one],
                because: because.clone(),
            }));
        }
    },
};

pub(super) static ROUTES: Hazard = Hazard {
    name: "deployment-routes",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A deployment publishes the routes that exist when it is made. Without any its creation fails: unable to deploy because \
          no routes exist in this API.",
    page: ROUTES_PAGE,
    find: |stack, out| {
        for (deployment, api, routes) in published(stack, &SECOND) {
            if !is_empty_at_first(stack, api) {
                continue;
            }
            let because = format!("publishes the routes of `{api}`");
            out.push(Wait { consumer: deployment, any_of: routes, because });
        }
    },
};

pub(super) static LATE_ROUTES: Hazard = Hazard {
    name: "deployment-all-routes",
    severity: Severity::Warning,
    concerns: Concern::Contents,
    why: "A deployment publishes the routes that exist when it is made. A route that comes later is not published.",
    page: ROUTES_PAGE,
    find: |stack, out| {
        for (deployment, api, routes) in published(stack, &SECOND) {
            let because = format!("publishes the routes of `{api}`");
            let each = routes.into_iter();
            out.extend(each.map(|one| Wait {
                consumer: deployment,
                any_of: vec![one],
                because: because.clone(),
            }));
        }
    },
};

const METHODS_PAGE: &str =
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-apigateway-deployment.html";
const ROUTES_PAGE: &str = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigatewayv2-deployment.html";

/// The types of a family of interfaces, and the property that names the interface.
struct Family {
    deployment: &'static str,
    part: &'static str,
    api: &'static str,
}

static REST: Family =
    Family { deployment: "AWS::ApiGateway::Deployment", part: "AWS::ApiGateway::Method", api: "RestApiId" };

static SECOND: Family =
    Family { deployment: "AWS::ApiGatewayV2::Deployment", part: "AWS::ApiGatewayV2::Route", api: "ApiId" };

/// The deployments of a family, each with its interface and the methods or routes of the template that it publishes.
fn published(stack: &Stack<'_>, family: &Family) -> Vec<(Symbol, Symbol, Vec<Symbol>)> {
    let api_of = |one: &Resource| one.property(&[family.api]).and_then(Value::reference);
    let mut parts: Table<Vec<Symbol>> = Table::default();
    for part in stack.of_kind(family.part) {
        if let Some(api) = api_of(part) {
            parts.entry(api).or_default().push(part.name);
        }
    }
    let deployments = stack.of_kind(family.deployment);
    deployments.filter_map(|one| Some((one.name, api_of(one)?, parts.get(&api_of(one)?)?.clone()))).collect()
}

/// Whether an interface has no methods and routes but those that are resources of the template.
fn is_empty_at_first(stack: &Stack<'_>, api: Symbol) -> bool {
    const CONTENTS: [&str; 4] = ["Body", "BodyS3Location", "CloneFrom", "Target"];
    stack.resource(api).is_some_and(|api| CONTENTS.iter().all(|name| api.property(&[name]).is_none()))
}

pub(super) static PLAN: Hazard = Hazard {
    name: "plan-stage",
    severity: Severity::Error,
    concerns: Concern::Creation,
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
    concerns: Concern::Creation,
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
    concerns: Concern::Creation,
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
