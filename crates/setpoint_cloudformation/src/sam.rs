//! The serverless transform: the resources that it makes out of its common types, and what they wait for.
//!
//! Only what matters for order is made: which resources there will be, and which refer to which. A cycle may exist only
//! after the transform, for example between a bucket, the function that it calls, and the role that may read it.

use setpoint_source::{Range, Symbol};

use crate::graph::Via;
use crate::omission::Omitted;
use crate::template::{Resource, Template};
use crate::value::{Field, Piece, Value, ValueKind};

/// An edge that no text of the template says.
#[derive(Debug, Clone)]
pub struct Made {
    pub from: Symbol,
    pub to: Symbol,
    pub what: &'static str,
    pub range: Range,
}

const IMPLICIT_REST: &str = "ServerlessRestApi";
const IMPLICIT_HTTP: &str = "ServerlessHttpApi";

/// Replaces the serverless types by what the transform makes of them.
pub(crate) fn expand(template: &mut Template) {
    if !template.is_serverless() {
        for (kind, range) in serverless_types(template) {
            template.omit(Omitted::ServerlessType(kind), range);
        }
        return;
    }
    let names: Vec<Symbol> = template.resources.keys().copied().collect();
    let mut work = Work { template, made: Vec::new() };
    for name in names {
        let kind = work.template.resources.get(&name).map(|resource| resource.kind);
        match kind.as_deref() {
            Some("AWS::Serverless::Function") => work.function(name),
            Some("AWS::Serverless::StateMachine") => work.state_machine(name),
            Some("AWS::Serverless::Api") => work.api(name, "AWS::ApiGateway"),
            Some("AWS::Serverless::HttpApi") => work.api(name, "AWS::ApiGatewayV2"),
            Some("AWS::Serverless::SimpleTable") => work.rename(name, "AWS::DynamoDB::Table"),
            Some("AWS::Serverless::LayerVersion") => work.rename(name, "AWS::Lambda::LayerVersion"),
            Some("AWS::Serverless::Application") => work.rename(name, "AWS::CloudFormation::Stack"),
            _ => {}
        }
    }
    let made = std::mem::take(&mut work.made);
    template.made_edges = made;
    for (kind, range) in serverless_types(template) {
        template.omit(Omitted::Serverless(kind), range);
    }
    rename_references(template);
}

/// The serverless types of a template, each where it stands.
fn serverless_types(template: &Template) -> Vec<(Symbol, Range)> {
    let resources = template.resources.values().filter(|one| one.kind.starts_with("AWS::Serverless::"));
    resources.map(|one| (one.kind, one.type_ranges.1)).collect()
}

struct Work<'a> {
    template: &'a mut Template,
    made: Vec<Made>,
}

impl Work<'_> {
    fn edge(&mut self, from: Symbol, to: Symbol, what: &'static str, range: Range) {
        self.made.push(Made { from, to, what, range });
    }

    fn rename(&mut self, name: Symbol, kind: &str) {
        if let Some(resource) = self.template.resources.get_mut(&name) {
            resource.kind = Symbol::new(kind);
        }
    }

    /// Adds a resource that is made out of `from`, under the same condition.
    fn add(&mut self, from: Symbol, name: &str, kind: &str, range: Range, properties: Value) -> Symbol {
        let name = Symbol::new(name);
        let condition = self.template.resources.get(&from).and_then(|resource| resource.condition);
        let resource = Resource {
            name,
            name_range: range,
            range,
            kind: Symbol::new(kind),
            type_ranges: (range, range),
            depends_range: None,
            condition,
            depends_on: Vec::new(),
            properties,
            creation_policy: None,
            deletion_policy: None,
            others: Vec::new(),
            made_from: Some(from),
        };
        self.template.resources.entry(name).or_insert(resource);
        name
    }

    /// Takes a property out of a resource.
    fn take(&mut self, name: Symbol, property: &str) -> Option<Field> {
        let resource = self.template.resources.get_mut(&name)?;
        let ValueKind::Map(fields) = &mut resource.properties.kind else { return None };
        let at = fields.iter().position(|field| &*field.name == property)?;
        Some(fields.remove(at))
    }

    fn property(&self, name: Symbol, property: &str) -> Option<Value> {
        self.template.resources.get(&name)?.property(&[property]).cloned()
    }

    fn place(&self, name: Symbol) -> Range {
        self.template.resources.get(&name).map(|resource| resource.name_range).unwrap_or_default()
    }

    /// The role that is made unless one is given; policies belong to it.
    fn role(&mut self, name: Symbol, kind: &str) {
        self.rename(name, kind);
        if self.property(name, "Role").is_some() {
            return;
        }
        let policies = self.take(name, "Policies");
        let range = policies.as_ref().map_or(self.place(name), |field| field.range);
        let properties = policies.map_or(nothing(range), |field| field.value);
        let role = self.add(name, &format!("{name}Role"), "AWS::IAM::Role", range, properties);
        self.edge(name, role, "the role that the transform makes", range);
    }

    fn function(&mut self, name: Symbol) {
        self.role(name, "AWS::Lambda::Function");
        let preference = self.take(name, "DeploymentPreference");
        if let Some(alias) = self.take(name, "AutoPublishAlias") {
            let version = self.add(
                name,
                &format!("{name}Version"),
                "AWS::Lambda::Version",
                alias.range,
                nothing(alias.range),
            );
            self.edge(version, name, "the version that the transform publishes", alias.range);
            let label = alias.value.text().unwrap_or("").to_owned();
            let alias_name = format!("{name}Alias{label}");
            let made = self.add(name, &alias_name, "AWS::Lambda::Alias", alias.range, nothing(alias.range));
            self.edge(made, version, "the alias that the transform publishes", alias.range);
            if let Some(preference) = preference {
                let kind = "AWS::CodeDeploy::DeploymentGroup";
                let group = self.add(
                    name,
                    &format!("{name}DeploymentGroup"),
                    kind,
                    preference.range,
                    preference.value,
                );
                self.edge(made, group, "the deployment group that the transform makes", preference.range);
            }
        }
        let Some(events) = self.take(name, "Events") else { return };
        if !matches!(events.value.kind, ValueKind::Map(_)) {
            self.template.omit(Omitted::Serverless(events.name), events.range);
        }
        for event in events.value.fields() {
            self.event(name, event);
        }
    }

    /// Its events make resources that wait for it; only an interface may be one that it waits for itself.
    fn state_machine(&mut self, name: Symbol) {
        self.role(name, "AWS::StepFunctions::StateMachine");
        let events = self.property(name, "Events");
        for event in events.iter().flat_map(Value::fields) {
            if !matches!(
                event.value.get("Type").and_then(Value::text),
                Some("Schedule" | "ScheduleV2" | "CloudWatchEvent" | "EventBridgeRule")
            ) {
                self.template.omit(Omitted::Serverless(event.name), event.range);
            }
        }
    }

    fn event(&mut self, function: Symbol, event: &Field) {
        let kind = event.value.get("Type").and_then(Value::text).unwrap_or("").to_owned();
        let properties = event.value.get("Properties").cloned().unwrap_or_else(|| nothing(event.range));
        let id = format!("{function}{}", event.name);
        let permission = |work: &mut Self| {
            let kind = "AWS::Lambda::Permission";
            let made =
                work.add(function, &format!("{id}Permission"), kind, event.range, nothing(event.range));
            work.edge(made, function, "the permission that the transform makes", event.range);
            made
        };
        match kind.as_str() {
            "S3" => {
                let permission = permission(self);
                if let Some(bucket) = properties.get("Bucket").and_then(Value::reference) {
                    self.edge(
                        bucket,
                        function,
                        "the notification that the transform adds to the bucket",
                        event.range,
                    );
                    self.edge(
                        bucket,
                        permission,
                        "the permission that the transform lets the bucket wait for",
                        event.range,
                    );
                }
            }
            "Api" | "HttpApi" => {
                let (property, implicit, family) = if kind == "Api" {
                    ("RestApiId", IMPLICIT_REST, "AWS::ApiGateway")
                } else {
                    ("ApiId", IMPLICIT_HTTP, "AWS::ApiGatewayV2")
                };
                let api = properties.get(property).and_then(Value::reference).unwrap_or_else(|| {
                    let kind = if family == "AWS::ApiGateway" {
                        "AWS::ApiGateway::RestApi"
                    } else {
                        "AWS::ApiGatewayV2::Api"
                    };
                    self.add(function, implicit, kind, event.range, nothing(event.range))
                });
                // The interface names the function in its body.
                self.edge(api, function, "the route that the transform adds to the interface", event.range);
                let permission = permission(self);
                self.edge(permission, api, "the permission that the transform makes", event.range);
            }
            "SQS" | "Kinesis" | "DynamoDB" | "MSK" | "MQ" | "SelfManagedKafka" | "DocumentDB" => {
                let kind = "AWS::Lambda::EventSourceMapping";
                let made = self.add(function, &id, kind, event.range, properties);
                self.edge(made, function, "the event source that the transform makes", event.range);
            }
            _ => {
                // A pool of users gets the function as its trigger; what other events make is not known.
                let is_rule = [
                    "Schedule",
                    "ScheduleV2",
                    "CloudWatchEvent",
                    "EventBridgeRule",
                    "SNS",
                    "IoTRule",
                    "CloudWatchLogs",
                    "AlexaSkill",
                ]
                .contains(&kind.as_str());
                if !is_rule {
                    self.template.omit(Omitted::Serverless(event.name), event.range);
                }
                let made = self.add(function, &id, "AWS::Events::Rule", event.range, properties);
                self.edge(made, function, "the event that the transform makes", event.range);
                let permission = permission(self);
                self.edge(permission, made, "the permission that the transform makes", event.range);
            }
        }
    }

    fn api(&mut self, name: Symbol, family: &str) {
        let place = self.place(name);
        let rest = family == "AWS::ApiGateway";
        self.rename(name, if rest { "AWS::ApiGateway::RestApi" } else { "AWS::ApiGatewayV2::Api" });
        let stage_name = self.property(name, "StageName").and_then(|value| value.text().map(str::to_owned));
        let stage_id = format!("{name}{}Stage", stage_name.as_deref().unwrap_or(""));
        let stage = self.add(name, &stage_id, &format!("{family}::Stage"), place, nothing(place));
        self.edge(stage, name, "the stage that the transform makes", place);
        if rest {
            let kind = "AWS::ApiGateway::Deployment";
            let deployment = self.add(name, &format!("{name}Deployment"), kind, place, nothing(place));
            self.edge(deployment, name, "the deployment that the transform makes", place);
            self.edge(stage, deployment, "the stage that the transform makes", place);
        }
    }
}

fn nothing(range: Range) -> Value {
    Value { range, kind: ValueKind::Null }
}

/// `Function.Version`, `Function.Alias` and `Api.Stage` name what the transform makes.
fn rename_references(template: &mut Template) {
    let made: Vec<(Symbol, Symbol, Symbol)> = template
        .resources
        .values()
        .filter_map(|resource| Some((resource.made_from?, resource.kind, resource.name)))
        .collect();
    let find = |origin: &str, attribute: &str| {
        let wanted = match attribute {
            "Version" => "::Version",
            "Alias" => "::Alias",
            "Stage" => "::Stage",
            "Deployment" => "::Deployment",
            "DeploymentGroup" => "::DeploymentGroup",
            _ => return None,
        };
        made.iter()
            .find(|(from, kind, _)| &**from == origin && kind.ends_with(wanted))
            .map(|(.., name)| *name)
    };
    let rename = |value: &mut Value| match &mut value.kind {
        ValueKind::Ref(name) => {
            if let Some((origin, attribute)) = name.as_str().split_once('.') {
                *name = find(origin, attribute).unwrap_or(Symbol::new(origin));
            }
        }
        ValueKind::GetAtt { resource, attribute: Some(attribute), .. } => {
            let first = attribute.split('.').next().unwrap_or("");
            if let Some(name) = find(resource, first) {
                *resource = name;
            }
        }
        ValueKind::Sub { pieces, .. } => {
            for piece in pieces {
                if let Piece::GetAtt { resource, attribute } = piece
                    && let Some(name) = find(resource, attribute.split('.').next().unwrap_or(""))
                {
                    *piece = Piece::Ref(name);
                }
            }
        }
        _ => {}
    };
    for resource in template.resources.values_mut() {
        change(&mut resource.properties, &rename);
        for value in &mut resource.others {
            change(value, &rename);
        }
    }
    change(&mut template.outputs, &rename);
}

/// Applies a change to a value and all below it.
fn change(value: &mut Value, apply: &dyn Fn(&mut Value)) {
    apply(value);
    match &mut value.kind {
        ValueKind::Null | ValueKind::Text(_) | ValueKind::Ref(_) => {}
        ValueKind::List(items) | ValueKind::GetAtt { argument: items, .. } => {
            for item in items {
                change(item, apply);
            }
        }
        ValueKind::Map(fields) | ValueKind::Sub { variables: fields, .. } => {
            for field in fields {
                change(&mut field.value, apply);
            }
        }
        ValueKind::If { then, otherwise, .. } => {
            change(then, apply);
            change(otherwise, apply);
        }
        ValueKind::Call { argument, .. } => change(argument, apply),
    }
}

impl From<&Made> for Via {
    fn from(made: &Made) -> Self {
        Self::Transform(made.what)
    }
}
