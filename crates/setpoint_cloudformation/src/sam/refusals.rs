//! What AWS's translator refuses for reasons that its tables of properties do not say.
//!
//! Only what is written out is looked at: a function of CloudFormation may give anything. The rest of what the translator
//! refuses inside of properties stays an assumption of the answer.

use setpoint_source::{Range, Symbol};

use crate::omission::{Omission, Omitted};
use crate::template::{Resource, Template};
use crate::value::{Field, Value, ValueKind};

/// Records what the translator refuses in the resources of its own types.
pub(super) fn check(template: &Template, out: &mut Vec<Omission>) {
    for resource in template.resources.values() {
        let mut checker = Checker { template, resource, out };
        match resource.kind.as_str() {
            "AWS::Serverless::Function" => checker.function(),
            "AWS::Serverless::StateMachine" => checker.state_machine(),
            "AWS::Serverless::Api" => checker.rest_api(),
            "AWS::Serverless::HttpApi" => checker.http_api(),
            "AWS::Serverless::WebSocketApi" => checker.web_socket_api(),
            "AWS::Serverless::CapacityProvider" => checker.capacity_provider(),
            "AWS::Serverless::SimpleTable" => checker.needs("PrimaryKey", &["Name", "Type"]),
            _ => {}
        }
    }
}

/// Events that start something at a time or for an event, and may have a queue for what fails.
const RULES: [&str; 4] = ["Schedule", "ScheduleV2", "CloudWatchEvent", "EventBridgeRule"];

struct Checker<'a> {
    template: &'a Template,
    resource: &'a Resource,
    out: &'a mut Vec<Omission>,
}

impl<'a> Checker<'a> {
    fn refuse(&mut self, words: &str, place: Range) {
        let words = format!("the serverless transform refuses `{}`: {words}", self.resource.name);
        self.out.push(Omission::new(Omitted::Refused(words), place));
    }

    fn get(&self, path: &[&str]) -> Option<&'a Value> {
        self.resource.property(path).filter(|value| !matches!(value.kind, ValueKind::Null))
    }

    /// Refuses the second of two properties that exclude each other.
    fn excludes(&mut self, one: &str, other: &str) {
        if let (Some(_), Some(second)) = (self.get(&[one]), self.get(&[other])) {
            self.refuse(&format!("`{one}` and `{other}` stand together in the properties"), second.range);
        }
    }

    /// Refuses a mapping without one of its keys.
    fn needs(&mut self, property: &str, keys: &[&str]) {
        let Some(value) = self.get(&[property]).filter(|value| is_mapping(value)) else { return };
        for key in keys.iter().filter(|key| value.get(key).is_none()) {
            self.refuse(&format!("`{key}` is missing in `{property}`"), value.range);
        }
    }

    /// Refuses a value that is written out and is no mapping, and keys that a mapping cannot have.
    fn keys(&mut self, what: &str, value: Option<&Value>, known: &[&str]) {
        let Some(value) = value else { return };
        if matches!(value.kind, ValueKind::List(_)) {
            return self.refuse(&format!("`{what}` is a list"), value.range);
        }
        for field in value.fields().iter().filter(|field| !known.contains(&&*field.name)) {
            self.refuse(&format!("`{what}` has the key `{}`", field.name), field.range);
        }
    }

    fn capacity_provider(&mut self) {
        self.needs("VpcConfig", &["SubnetIds"]);
        self.keys("VpcConfig", self.get(&["VpcConfig"]), &["SecurityGroupIds", "SubnetIds"]);
        let instances = ["Architectures", "AllowedTypes", "ExcludedTypes"];
        self.keys("InstanceRequirements", self.get(&["InstanceRequirements"]), &instances);
        let scaling = ["MaxVCpuCount", "AverageCPUUtilization"];
        self.keys("ScalingConfig", self.get(&["ScalingConfig"]), &scaling);
    }

    fn function(&mut self) {
        self.needs("CodeUri", &["Bucket", "Key"]);
        self.needs("CapacityProviderConfig", &["Arn"]);
        self.excludes("CapacityProviderConfig", "ProvisionedConcurrencyConfig");
        self.excludes("CapacityProviderConfig", "VpcConfig");
        if let Some(scaling) = self.get(&["FunctionScalingConfig"])
            && self.get(&["CapacityProviderConfig"]).is_none()
        {
            self.refuse("`FunctionScalingConfig` without `CapacityProviderConfig`", scaling.range);
        }
        let alias = self.get(&["AutoPublishAlias"]);
        if let Some(name) = alias.and_then(Value::text)
            && !is_alias(name)
        {
            self.refuse(
                "`AutoPublishAlias` is no name of an alias",
                alias.map(|value| value.range).unwrap_or_default(),
            );
        }
        if alias.is_none_or(|alias| alias.text() == Some("")) {
            let is_enabled = |value: &&Value| value.get("Enabled").is_none_or(Value::is_true);
            let preference =
                self.get(&["DeploymentPreference"]).filter(|one| is_mapping(one)).filter(is_enabled);
            for (name, value) in [
                ("DeploymentPreference", preference),
                ("ProvisionedConcurrencyConfig", self.get(&["ProvisionedConcurrencyConfig"])),
            ] {
                if let Some(value) = value {
                    self.refuse(&format!("`{name}` without `AutoPublishAlias`"), value.range);
                }
            }
        }
        self.function_url();
        if let Some(preference) = self.get(&["DeploymentPreference"]) {
            let is_plain = |value: &&Value| matches!(value.kind, ValueKind::Text(_) | ValueKind::List(_));
            if let Some(hooks) = preference.get("Hooks").filter(is_plain) {
                self.refuse("`Hooks`, which is no mapping, in `DeploymentPreference`", hooks.range);
            }
        }
        if self.get(&["TenancyConfig"]).is_some() {
            for name in ["FunctionUrlConfig", "ProvisionedConcurrencyConfig", "SnapStart"] {
                if let Some(value) = self.get(&[name]) {
                    self.refuse(&format!("`{name}` beside `TenancyConfig`"), value.range);
                }
            }
        }
        self.events();
    }

    fn function_url(&mut self) {
        let Some(config) = self.get(&["FunctionUrlConfig"]).filter(|value| is_mapping(value)) else { return };
        match config.get("AuthType") {
            None => self.refuse("`FunctionUrlConfig` without `AuthType`", config.range),
            Some(kind) if kind.text().is_some_and(|kind| !["AWS_IAM", "NONE"].contains(&kind)) => {
                self.refuse("`AuthType` is neither AWS_IAM nor NONE", kind.range);
            }
            Some(_) => {}
        }
        let known =
            ["AllowCredentials", "AllowHeaders", "AllowMethods", "AllowOrigins", "ExposeHeaders", "MaxAge"];
        self.keys("Cors", config.get("Cors"), &known);
    }

    fn state_machine(&mut self) {
        self.excludes("Definition", "DefinitionUri");
        self.needs("DefinitionUri", &["Bucket", "Key"]);
        if let (None, None) = (self.get(&["Definition"]), self.get(&["DefinitionUri"])) {
            self.refuse(
                "neither `Definition` nor `DefinitionUri` in the properties",
                self.resource.name_range,
            );
        }
        self.events();
    }

    fn events(&mut self) {
        let events = self.get(&["Events"]).map(Value::fields).unwrap_or_default();
        let mut triggers: Vec<(String, String)> = Vec::new();
        for event in events {
            let Some(kind) = event.value.get("Type").and_then(Value::text) else { continue };
            let get = |name: &str| event.value.at(&["Properties", name]);
            if self.get(&["TenancyConfig"]).is_some() && !["Api", "HttpApi"].contains(&kind) {
                self.refuse(&format!("the event `{}` beside `TenancyConfig`", event.name), event.range);
            }
            if RULES.contains(&kind) {
                if let (Some(_), Some(state)) = (get("Enabled"), get("State")) {
                    self.refuse("`Enabled` and `State` stand together in an event", state.range);
                }
                if let Some(queue) = get("DeadLetterConfig").filter(|value| is_mapping(value)) {
                    self.dead_letters(queue);
                }
            }
            match kind {
                "Api" | "HttpApi" => self.route(kind, event),
                "Cognito" => {
                    let pool = get("UserPool").and_then(Value::reference);
                    let names = get("Trigger").map(Value::items).unwrap_or_default();
                    for (pool, name) in
                        pool.iter().flat_map(|pool| names.iter().map(move |name| (pool, name)))
                    {
                        let Some(text) = name.text() else { continue };
                        let trigger = (pool.to_string(), text.to_owned());
                        if triggers.contains(&trigger) {
                            self.refuse(&format!("the trigger `{text}` a second time"), name.range);
                        }
                        triggers.push(trigger);
                    }
                }
                "MQ" | "DocumentDB" | "SelfManagedKafka" => self.access(kind, event),
                _ => {}
            }
        }
    }

    /// The queue for what an event cannot deliver is named or made, and one that is made is a plain queue.
    fn dead_letters(&mut self, queue: &Value) {
        match (queue.get("Arn"), queue.get("Type")) {
            (Some(_), Some(kind)) => {
                self.refuse("`Arn` and `Type` of `DeadLetterConfig` together", kind.range);
            }
            (None, None) => self.refuse("`DeadLetterConfig` without `Arn` or `Type`", queue.range),
            (None, Some(kind)) if kind.text().is_some_and(|kind| kind != "SQS") => {
                self.refuse("`Type` of `DeadLetterConfig` is not SQS", kind.range);
            }
            _ => {}
        }
        if let Some(name) = queue.get("QueueLogicalId").filter(|name| name.text().is_none()) {
            self.refuse("a `QueueLogicalId` that is no text", name.range);
        }
    }

    /// An event that is a route of an interface.
    fn route(&mut self, kind: &str, event: &Field) {
        let get = |name: &str| event.value.at(&["Properties", name]);
        let property = if kind == "Api" { "RestApiId" } else { "ApiId" };
        let named = get(property);
        let is_computed = |value: &&Value| {
            matches!(
                value.kind,
                ValueKind::GetAtt { .. }
                    | ValueKind::Sub { .. }
                    | ValueKind::If { .. }
                    | ValueKind::Call { .. }
            )
        };
        if let Some(value) = named.filter(is_computed) {
            let words = format!("a `{property}` that is neither a name nor a reference in `{}`", event.name);
            self.refuse(&words, value.range);
        }
        if kind == "HttpApi" {
            if let (Some(path), None) | (None, Some(path)) = (get("Path"), get("Method")) {
                let words = format!("`Path` or `Method` alone in the event `{}`", event.name);
                self.refuse(&words, path.range);
            }
            return;
        }
        let authorizer = event.value.at(&["Properties", "Auth", "Authorizer"]);
        if let Some(authorizer) = authorizer.filter(|one| one.text().is_some()) {
            self.authorizer(authorizer, named);
        }
    }

    /// The authorizer that an event names must be one of those that its interface defines.
    fn authorizer(&mut self, authorizer: &Value, interface: Option<&Value>) {
        let auth: Vec<&Value> = if let Some(named) = interface {
            let api = named.reference().and_then(|name| self.template.resources.get(&name));
            let Some(api) = api.filter(|api| &*api.kind == "AWS::Serverless::Api") else { return };
            if ["DefinitionBody", "DefinitionUri"].iter().any(|name| api.property(&[name]).is_some()) {
                return;
            }
            api.property(&["Auth"]).into_iter().collect()
        } else {
            let globals = self.template.globals.get(&Symbol::new("AWS::Serverless::Api"));
            globals.into_iter().flatten().filter_map(|value| value.get("Auth")).collect()
        };
        if auth.iter().any(|auth| !is_mapping(auth)) {
            return;
        }
        let name = authorizer.text().unwrap_or_default();
        let get = |name: &str| auth.iter().find_map(|auth| auth.get(name));
        let is_known = match name {
            "NONE" => get("DefaultAuthorizer").is_some(),
            "AWS_IAM" => true,
            _ => match get("Authorizers") {
                Some(known) if is_mapping(known) => known.get(name).is_some(),
                Some(_) => true,
                None => false,
            },
        };
        if !is_known {
            let words = format!("the authorizer `{name}`, which the interface does not define, in an event");
            self.refuse(&words, authorizer.range);
        }
    }

    /// How an event source lets the function in: `SourceAccessConfigurations`.
    fn access(&mut self, kind: &str, event: &Field) {
        let get = |name: &str| event.value.at(&["Properties", name]);
        if kind == "SelfManagedKafka" {
            if get("KafkaBootstrapServers").is_none() {
                self.refuse("an event without `KafkaBootstrapServers`", event.range);
            }
            if let Some(topics) = get("Topics")
                && matches!(&topics.kind, ValueKind::List(items) if items.len() != 1)
            {
                self.refuse("`Topics` with other than one topic in an event", topics.range);
            }
        }
        let Some(given) = get("SourceAccessConfigurations") else {
            return self.refuse("an event without `SourceAccessConfigurations`", event.range);
        };
        let ValueKind::List(items) = &given.kind else { return };
        let kinds: Option<Vec<&str>> =
            items.iter().map(|item| item.get("Type").and_then(Value::text)).collect();
        let Some(kinds) = kinds else { return };
        let known: &[&str] = match kind {
            "MQ" => &["BASIC_AUTH", "VIRTUAL_HOST"],
            "DocumentDB" => &["BASIC_AUTH"],
            _ => return,
        };
        let is_known = kinds.iter().all(|one| known.contains(one));
        let basic = items.iter().filter(|item| item.get("Type").and_then(Value::text) == Some("BASIC_AUTH"));
        let basic: Vec<&Value> = basic.collect();
        if !is_known || basic.len() != 1 || basic.iter().any(|item| item.get("URI").is_none()) {
            self.refuse("`SourceAccessConfigurations` without one `BASIC_AUTH` and its `URI`", given.range);
        }
    }

    /// What REST and HTTP interfaces have in common.
    fn interface(&mut self, cors: &str, keys: &[&str]) {
        self.excludes("DefinitionUri", "DefinitionBody");
        let is_elsewhere = self.get(&["DefinitionUri"]).is_some() && self.get(&["DefinitionBody"]).is_none();
        for name in [cors, "DisableExecuteApiEndpoint"] {
            if let Some(value) = self.get(&[name]).filter(|_| is_elsewhere) {
                self.refuse(&format!("`{name}` beside `DefinitionUri`"), value.range);
            }
        }
        self.keys(cors, self.get(&[cors]), keys);
        let tls = self.get(&["Domain", "MutualTlsAuthentication"]);
        self.keys("MutualTlsAuthentication", tls, &["TruststoreUri", "TruststoreVersion"]);
    }

    fn rest_api(&mut self) {
        let keys = ["AllowCredentials", "AllowHeaders", "AllowMethods", "AllowOrigin", "MaxAge"];
        self.interface("Cors", &keys);
        if let Some(stage) = self.get(&["StageName"]).filter(|stage| stage.text() == Some("")) {
            self.refuse("an empty `StageName`", stage.range);
        }
        if let (Some(_), Some(second)) = (
            self.get(&["EndpointConfiguration", "VPCEndpointIds"]),
            self.get(&["EndpointConfiguration", "VpcEndpointIds"]),
        ) {
            self.refuse("`VPCEndpointIds` and `VpcEndpointIds` together", second.range);
        }
        for response in self.get(&["GatewayResponses"]).map(Value::fields).unwrap_or_default() {
            let known = ["ResponseParameters", "ResponseTemplates", "StatusCode"];
            self.keys("GatewayResponses", Some(&response.value), &known);
            let parameters = response.value.get("ResponseParameters");
            self.keys("ResponseParameters", parameters, &["Headers", "Paths", "QueryStrings"]);
            if let Some(status) = response.value.get("StatusCode")
                && status.text().is_some_and(|text| text.trim().parse::<u32>().is_err())
            {
                self.refuse("a `StatusCode` that is no number", status.range);
            }
        }
    }

    fn http_api(&mut self) {
        let keys =
            ["AllowCredentials", "AllowHeaders", "AllowMethods", "AllowOrigins", "ExposeHeaders", "MaxAge"];
        self.interface("CorsConfiguration", &keys);
        if let (Some(_), None, Some(tags)) =
            (self.get(&["DefinitionUri"]), self.get(&["DefinitionBody"]), self.get(&["Tags"]))
        {
            self.refuse("`Tags` beside `DefinitionUri`", tags.range);
        }
    }

    fn web_socket_api(&mut self) {
        if let Some(routes) = self.get(&["Routes"])
            && matches!(&routes.kind, ValueKind::Map(routes) if routes.is_empty())
        {
            self.refuse("no route in `Routes`", routes.range);
        }
        if let Some(stage) = self.get(&["StageName"]).filter(|stage| stage.text() == Some("$default")) {
            self.refuse("`StageName` is `$default`", stage.range);
        }
        if let Some(kind) = self.get(&["IpAddressType"])
            && kind.text().is_some_and(|kind| !["ipv4", "dualstack"].contains(&kind))
        {
            self.refuse("`IpAddressType` is neither ipv4 nor dualstack", kind.range);
        }
        for route in self.get(&["Routes"]).map(Value::fields).unwrap_or_default() {
            if let Some(parameters) = route.value.get("RequestParameters")
                && &*route.name != "$connect"
            {
                self.refuse("`RequestParameters` of another route than `$connect`", parameters.range);
            }
        }
    }
}

fn is_mapping(value: &Value) -> bool {
    matches!(value.kind, ValueKind::Map(_))
}

/// Letters, digits, `-` and `_`, and not digits alone.
fn is_alias(name: &str) -> bool {
    name.is_empty()
        || (name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
            && !name.chars().all(|letter| letter.is_ascii_digit()))
}
