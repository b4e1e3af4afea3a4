//! Interfaces: REST, HTTP and WebSocket, with their stages, authorizers, domains and usage plans.

use setpoint_source::Symbol;

use super::{Work, field, nothing, part, shared};
use crate::omission::Omitted;
use crate::value::{Field, Value, ValueKind};

const STAGE: &str = "the stage that the transform makes";
const DOMAIN: &str = "the domain that the transform makes";
const ROUTE: &str = "the route that the transform makes";
const PLAN: &str = "the usage plan that the transform makes";

impl Work<'_> {
    pub(super) fn rest_api(&mut self, name: Symbol) {
        let place = self.place(name);
        let authorizers = self.authorizers(name);
        self.rename(name, "AWS::ApiGateway::RestApi");
        let kind = "AWS::ApiGateway::Deployment";
        let deployment = self.add(name, &format!("{name}Deployment"), kind, place, nothing(place));
        self.edge(deployment, name, "the deployment that the transform makes", place);
        let stage_properties =
            ["StageName", "CacheClusterEnabled", "CacheClusterSize", "Variables", "MethodSettings"]
                .into_iter()
                .chain(["AccessLogSetting", "CanarySetting", "TracingEnabled"]);
        let stage = self.stage(name, "AWS::ApiGateway::Stage", "Stage", stage_properties);
        self.edge(stage, deployment, STAGE, place);
        self.usage_plan(name, stage);
        self.authorize(name, authorizers);
    }

    pub(super) fn http_api(&mut self, name: Symbol) {
        let authorizers = self.authorizers(name);
        self.rename(name, "AWS::ApiGatewayV2::Api");
        let stage_properties = ["StageName", "StageVariables", "AccessLogSettings", "RouteSettings"]
            .into_iter()
            .chain(["DefaultRouteSettings"]);
        self.stage(name, "AWS::ApiGatewayV2::Stage", "ApiGatewayDefaultStage", stage_properties);
        self.authorize(name, authorizers);
    }

    /// Makes the stage of an interface out of the properties that are its own.
    fn stage(
        &mut self,
        name: Symbol,
        kind: &str,
        unnamed: &str,
        properties: impl Iterator<Item = &'static str>,
    ) -> Symbol {
        let place = self.place(name);
        let fields: Vec<Field> = properties.filter_map(|property| self.take(name, property)).collect();
        let label = fields.iter().find(|field| &*field.name == "StageName");
        let id = match label.map(|field| field.value.text()) {
            None => format!("{name}{unnamed}"),
            Some(Some("$default")) => format!("{name}ApiGatewayDefaultStage"),
            // What cannot stand in a name is replaced by a digest.
            Some(Some(label)) if label.chars().all(char::is_alphanumeric) => format!("{name}{label}Stage"),
            Some(_) => format!("{name}Stage"),
        };
        let stage = self.add(name, &id, kind, place, Value { range: place, kind: ValueKind::Map(fields) });
        self.edge(stage, name, STAGE, place);
        self.domain(name, stage, kind == "AWS::ApiGateway::Stage");
        stage
    }

    /// The authorizers of an interface that call a function.
    fn authorizers(&mut self, name: Symbol) -> Vec<Field> {
        let auth = self.property(name, "Auth");
        if let Some(merged) = self.property(name, "MergeDefinitions") {
            self.template.omit(Omitted::Serverless(Symbol::new("MergeDefinitions")), merged.range);
        }
        let authorizers = auth.as_ref().and_then(|auth| auth.get("Authorizers")).map(Value::fields);
        authorizers
            .unwrap_or_default()
            .iter()
            .filter(|one| one.value.get("FunctionArn").is_some())
            .cloned()
            .collect()
    }

    /// Makes the permissions by which an interface calls its authorizers.
    fn authorize(&mut self, api: Symbol, authorizers: Vec<Field>) {
        let is_rest =
            self.template.resources.get(&api).is_some_and(|one| one.kind.contains("::ApiGateway::"));
        for authorizer in authorizers {
            let says = |name: &str| authorizer.value.get(name).is_some_and(Value::is_true);
            let is_made = if is_rest {
                !says("DisableFunctionDefaultPermissions")
            } else {
                says("EnableFunctionDefaultPermissions")
            };
            if !is_made {
                continue;
            }
            let id = format!("{api}{}AuthorizerPermission", authorizer.name);
            let function = authorizer.value.get("FunctionArn").cloned();
            let properties = function.unwrap_or_else(|| nothing(authorizer.range));
            let made = self.add(api, &id, "AWS::Lambda::Permission", authorizer.range, properties);
            self.edge(made, api, "the permission that the transform makes", authorizer.range);
        }
    }

    /// Makes the domain of an interface, its mappings and its records. A domain that two interfaces name is one.
    fn domain(&mut self, api: Symbol, stage: Symbol, is_rest: bool) {
        let Some(domain) = self.take(api, "Domain") else { return };
        let value = &domain.value;
        let endpoint = value.get("EndpointConfiguration").map(|one| self.text_of(one));
        let (Some(name), Some(_), false) =
            (value.get("DomainName"), value.get("CertificateArn"), endpoint == Some(None))
        else {
            return self.omit(&domain);
        };
        let endpoint = endpoint.flatten().unwrap_or_else(|| "REGIONAL".to_owned());
        let is_private = is_rest && endpoint == "PRIVATE";
        let (prefix, kind, mapping_kind, suffix) = match (is_rest, is_private) {
            (true, false) => (
                "ApiGatewayDomainName",
                "AWS::ApiGateway::DomainName",
                "AWS::ApiGateway::BasePathMapping",
                "BasePathMapping",
            ),
            (true, true) => (
                "ApiGatewayDomainNameV2",
                "AWS::ApiGateway::DomainNameV2",
                "AWS::ApiGateway::BasePathMappingV2",
                "BasePathMapping",
            ),
            _ => (
                "ApiGatewayDomainNameV2",
                "AWS::ApiGatewayV2::DomainName",
                "AWS::ApiGatewayV2::ApiMapping",
                "ApiMapping",
            ),
        };
        let made = self.keyed(prefix, name);
        let own = ["DomainName", "CertificateArn", "MutualTlsAuthentication", "SecurityPolicy", "Policy"];
        let more = ["OwnershipVerificationCertificateArn", "EndpointAccessMode"];
        let properties = part(value, |field| own.contains(&field) || more.contains(&field));
        self.template.resources.shift_remove(&made);
        self.add(api, &made, kind, domain.range, properties);
        let paths = match value.get("BasePath") {
            Some(path) if matches!(path.kind, ValueKind::List(_)) => path.items().iter().collect(),
            Some(path) if self.text_of(path).is_some_and(|text| !text.is_empty()) => vec![path],
            _ => Vec::new(),
        };
        let mut names = Vec::new();
        for path in paths {
            let Some(text) = self.text_of(path) else { return self.omit(&domain) };
            names.push(text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>());
        }
        if names.is_empty() {
            names.push(String::new());
        }
        for path in names {
            let id = format!("{api}{path}{suffix}");
            let mapping = self.add(api, &id, mapping_kind, domain.range, nothing(domain.range));
            for to in [made, api, stage] {
                self.edge(mapping, to, DOMAIN, domain.range);
            }
        }
        if let Some(access) = value.get("AccessAssociation").filter(|_| is_private) {
            let key = vec![
                access.get("VpcEndpointId").cloned().unwrap_or_else(|| nothing(access.range)),
                name.clone(),
            ];
            let key = Value { range: access.range, kind: ValueKind::List(key) };
            let id = self.keyed("DomainNameAccessAssociation", &key);
            let kind = "AWS::ApiGateway::DomainNameAccessAssociation";
            let made_access = self.add(api, &id, kind, access.range, access.clone());
            self.edge(made_access, made, DOMAIN, access.range);
        }
        if let Some(records) = value.get("Route53") {
            self.records(api, made, &domain, records, &endpoint);
        }
    }

    /// Makes the records of a domain; domains of one zone share a group unless they ask for their own.
    fn records(&mut self, api: Symbol, made: Symbol, domain: &Field, records: &Value, endpoint: &str) {
        let zone = records.get("HostedZoneId").or_else(|| records.get("HostedZoneName"));
        let (Some(zone), Some(name)) = (zone, domain.value.get("DomainName")) else {
            return self.omit(domain);
        };
        let is_separate = records.get("SeparateRecordSetGroup").is_some_and(Value::is_true);
        let key = if is_separate {
            Value { range: zone.range, kind: ValueKind::List(vec![zone.clone(), name.clone()]) }
        } else {
            zone.clone()
        };
        let id = self.keyed("RecordSetGroup", &key);
        // The transform keeps the records of WebSocket interfaces apart; in a zone that others use, the last one wins.
        let is_socket = self.sockets.contains(&api);
        if self.template.resources.contains_key(&id) && (is_socket || self.sockets.contains(&id)) {
            return self.omit(&field("Route53", records.clone()));
        }
        if is_socket {
            self.sockets.push(id);
        }
        let properties = part(records, |field| ["HostedZoneId", "HostedZoneName"].contains(&field));
        let group = self.add(api, &id, "AWS::Route53::RecordSetGroup", records.range, properties);
        self.give(group, Some(name));
        for key in ["EvaluateTargetHealth", "Region", "SetIdentifier"] {
            self.give(group, records.get(key));
        }
        match (endpoint, records.get("DistributionDomainName")) {
            ("EDGE", Some(target)) => self.give(group, Some(target)),
            ("PRIVATE", _) => {
                for key in ["VpcEndpointHostedZoneId", "VpcEndpointDomainName"] {
                    self.give(group, records.get(key));
                }
            }
            _ => self.edge(group, made, DOMAIN, records.range),
        }
    }

    /// Makes the usage plan of an interface, with its key.
    fn usage_plan(&mut self, api: Symbol, stage: Symbol) {
        let Some(plan) = self.property(api, "Auth").and_then(|auth| auth.get("UsagePlan").cloned()) else {
            return;
        };
        let range = plan.range;
        let wanted = plan.get("CreateUsagePlan").and_then(|one| self.text_of(one));
        let (prefix, is_shared) = match wanted.as_deref() {
            Some("NONE") => return,
            Some("PER_API") => (api.to_string(), false),
            Some("SHARED") => ("Serverless".to_owned(), true),
            _ => return self.omit(&field("UsagePlan", plan)),
        };
        let properties = part(&plan, |field| field != "CreateUsagePlan");
        let ids = ["UsagePlan", "ApiKey", "UsagePlanKey"].map(|word| Symbol::new(&format!("{prefix}{word}")));
        let [plan, key, link] = ids;
        let from = if is_shared { plan } else { api };
        self.add(from, &plan, "AWS::ApiGateway::UsagePlan", range, properties);
        self.add(from, &key, "AWS::ApiGateway::ApiKey", range, nothing(range));
        self.add(from, &link, "AWS::ApiGateway::UsagePlanKey", range, nothing(range));
        for to in [api, stage] {
            self.edge(plan, to, PLAN, range);
            self.edge(key, to, PLAN, range);
        }
        self.edge(key, plan, PLAN, range);
        self.edge(link, key, PLAN, range);
        self.edge(link, plan, PLAN, range);
        if is_shared {
            let condition = self.template.resources.get(&api).and_then(|one| one.condition);
            self.share(shared::USAGE_PLAN, &ids, condition);
        }
    }

    /// Makes a WebSocket interface: a route, an integration and a permission for each of its routes. The transform does not
    /// put any of them under a condition.
    pub(super) fn web_socket_api(&mut self, name: Symbol) {
        let place = self.place(name);
        self.rename(name, "AWS::ApiGatewayV2::Api");
        if let Some(resource) = self.template.resources.get_mut(&name) {
            resource.condition = None;
        }
        let routes = self.take(name, "Routes");
        let auth = self.take(name, "Auth").map(|field| field.value);
        let own =
            ["StageName", "StageVariables", "AccessLogSettings", "RouteSettings", "DefaultRouteSettings"];
        let fields: Vec<Field> = own.iter().filter_map(|property| self.take(name, property)).collect();
        let label = fields.iter().find(|field| &*field.name == "StageName").map(|field| field.value.clone());
        let id = match label.as_ref().map(|label| label.text()) {
            None | Some(Some("default")) => format!("{name}DefaultStage"),
            Some(Some(label)) => format!("{name}{label}Stage"),
            Some(None) => format!("{name}Stage"),
        };
        let waits = fields.iter().any(|field| &*field.name == "RouteSettings");
        let properties = Value { range: place, kind: ValueKind::Map(fields) };
        let stage = self.add(name, &id, "AWS::ApiGatewayV2::Stage", place, properties);
        self.edge(stage, name, STAGE, place);
        self.sockets.push(name);
        self.domain(name, stage, false);
        let authorizer = auth.as_ref().and_then(|auth| self.connect_authorizer(name, auth));
        for route in routes.iter().flat_map(|routes| routes.value.fields()) {
            let Some(key) = route_name(&route.name) else {
                self.omit(route);
                continue;
            };
            let [made, integration, permission] =
                [("Route", "Route"), ("Integration", "Integration"), ("Permission", "")].map(
                    |(word, kind)| {
                        let kind = match kind {
                            "" => "AWS::Lambda::Permission".to_owned(),
                            kind => format!("AWS::ApiGatewayV2::{kind}"),
                        };
                        self.add(
                            name,
                            &format!("{name}{key}{word}"),
                            &kind,
                            route.range,
                            nothing(route.range),
                        )
                    },
                );
            let function = route.value.get("FunctionArn");
            if function.is_none() {
                self.omit(route);
            }
            let rest = part(&route.value, |field| !["FunctionArn", "IntegrationTimeout"].contains(&field));
            self.give(made, Some(&rest));
            self.give(integration, function);
            self.give(integration, route.value.get("IntegrationTimeout"));
            self.give(permission, function);
            self.give(permission, label.as_ref());
            for from in [made, integration, permission] {
                self.edge(from, name, ROUTE, route.range);
            }
            self.edge(made, integration, ROUTE, route.range);
            if waits {
                self.edge(stage, made, ROUTE, route.range);
            }
            if let Some(authorizer) = authorizer.filter(|_| &*route.name == "$connect") {
                self.edge(made, authorizer, ROUTE, route.range);
            }
        }
    }

    /// Makes the authorizer of the route by which clients connect.
    fn connect_authorizer(&mut self, api: Symbol, auth: &Value) -> Option<Symbol> {
        let kind = auth.get("AuthType").and_then(|kind| self.text_of(kind));
        let function = match (kind.as_deref(), auth.get("AuthArn")) {
            (Some("CUSTOM"), Some(function)) => function,
            (Some("AWS_IAM" | "NONE"), _) => return None,
            _ => {
                self.template.omit(Omitted::Serverless(Symbol::new("Auth")), auth.range);
                return None;
            }
        };
        let id = format!("{api}ConnectAuthorizer");
        let made = self.add(api, &id, "AWS::ApiGatewayV2::Authorizer", auth.range, auth.clone());
        self.edge(made, api, ROUTE, auth.range);
        if auth.get("InvokeRole").is_none() {
            let id = format!("{api}AuthorizerPermission");
            let permission = self.add(api, &id, "AWS::Lambda::Permission", auth.range, nothing(auth.range));
            self.give(permission, Some(function));
            self.edge(permission, api, ROUTE, auth.range);
        }
        Some(made)
    }
}

/// The part of a name that a route key becomes.
fn route_name(key: &str) -> Option<String> {
    let plain = match key {
        "$connect" | "$disconnect" | "$default" => key.trim_start_matches('$'),
        _ if !key.is_empty() && key.chars().all(char::is_alphanumeric) => key,
        _ => return None,
    };
    let mut letters = plain.chars();
    let first = letters.next()?;
    Some(first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect())
}
