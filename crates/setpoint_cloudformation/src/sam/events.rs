//! What calls functions and state machines: the resources that the transform makes of events.

use setpoint_source::{Range, Symbol};

use super::{Work, nothing, part};
use crate::omission::Omitted;
use crate::value::{Field, Value};

const PERMISSION: &str = "the permission that the transform makes";
const EVENT: &str = "the event that the transform makes";

/// An event, and what it calls.
struct Event<'a> {
    owner: Symbol,
    /// The function or its alias.
    target: Symbol,
    id: String,
    properties: Value,
    field: &'a Field,
    /// All events of the owner.
    siblings: &'a [Field],
}

impl Event<'_> {
    fn range(&self) -> Range {
        self.field.range
    }
}

impl Work<'_> {
    pub(super) fn function_event(
        &mut self,
        function: Symbol,
        target: Symbol,
        field: &Field,
        siblings: &[Field],
    ) {
        let kind = field.value.get("Type").and_then(Value::text).unwrap_or("");
        let properties = field.value.get("Properties").cloned().unwrap_or_else(|| nothing(field.range));
        let id = format!("{function}{}", field.name);
        let event = Event { owner: function, target, id, properties, field, siblings };
        match kind {
            "S3" => self.bucket_event(&event),
            "Api" => self.api_event(&event, true),
            "HttpApi" => self.api_event(&event, false),
            "SQS" | "Kinesis" | "DynamoDB" | "MSK" | "MQ" | "SelfManagedKafka" | "DocumentDB" => {
                let made = self.event_resource(&event, &event.id, "AWS::Lambda::EventSourceMapping");
                self.edge(made, target, "the event source that the transform makes", field.range);
                self.source_access(&event);
            }
            "Schedule" | "CloudWatchEvent" | "EventBridgeRule" => {
                let rule = self.event_resource(&event, &event.id, "AWS::Events::Rule");
                self.edge(rule, target, EVENT, field.range);
                let permission = self.permission(&event, &format!("{}Permission", event.id));
                self.edge(permission, rule, PERMISSION, field.range);
                self.dead_letters(&event, rule);
            }
            "ScheduleV2" => self.schedule(&event),
            "SNS" => self.topic_event(&event),
            "CloudWatchLogs" => {
                let filter = self.event_resource(&event, &event.id, "AWS::Logs::SubscriptionFilter");
                self.edge(filter, target, EVENT, field.range);
                let permission = self.permission(&event, &format!("{}Permission", event.id));
                self.edge(filter, permission, PERMISSION, field.range);
                self.give(permission, event.properties.get("LogGroupName"));
            }
            "IoTRule" => {
                let rule = self.event_resource(&event, &event.id, "AWS::IoT::TopicRule");
                self.edge(rule, target, EVENT, field.range);
                let permission = self.permission(&event, &format!("{}Permission", event.id));
                self.edge(permission, rule, PERMISSION, field.range);
            }
            "AlexaSkill" => {
                self.permission(&event, &format!("{}Permission", event.id));
            }
            "Cognito" => {
                let permission = self.permission(&event, &format!("{target}CognitoPermission"));
                let pool = event.properties.get("UserPool");
                self.give(permission, pool);
                if let Some(pool) = pool.and_then(Value::reference) {
                    self.edge(pool, target, "the trigger that the transform adds to the pool", field.range);
                }
            }
            _ => self.omit(field),
        }
    }

    /// Adds the resource that an event is, with the event's properties.
    fn event_resource(&mut self, event: &Event<'_>, id: &str, kind: &str) -> Symbol {
        self.add(event.owner, id, kind, event.range(), event.properties.clone())
    }

    /// Adds a value to those of a resource, for its references.
    pub(super) fn give(&mut self, name: Symbol, value: Option<&Value>) {
        if let (Some(resource), Some(value)) = (self.template.resources.get_mut(&name), value) {
            resource.others.push(value.clone());
        }
    }

    fn permission(&mut self, event: &Event<'_>, id: &str) -> Symbol {
        let range = event.range();
        let made = self.add(event.owner, id, "AWS::Lambda::Permission", range, nothing(range));
        self.edge(made, event.target, PERMISSION, range);
        made
    }

    /// Lets the function's role read the secrets by which it reaches the source of an event.
    fn source_access(&mut self, event: &Event<'_>) {
        let role = Symbol::new(&format!("{}Role", event.owner));
        if self.template.resources.get(&role).is_none_or(|one| one.made_from != Some(event.owner)) {
            return;
        }
        let secrets =
            event.properties.get("SourceAccessConfigurations").map(Value::items).unwrap_or_default();
        for secret in secrets {
            let is_secret = !matches!(
                secret.get("Type").and_then(Value::text),
                Some("VPC_SUBNET" | "VPC_SECURITY_GROUP" | "VIRTUAL_HOST")
            );
            if is_secret {
                self.give(role, secret.get("URI"));
            }
        }
        for key in ["SecretsManagerKmsKeyId", "Broker", "Cluster"] {
            self.give(role, event.properties.get(key));
        }
        self.give(role, event.properties.at(&["DestinationConfig", "OnFailure", "Destination"]));
    }

    fn bucket_event(&mut self, event: &Event<'_>) {
        let permission = self.permission(event, &format!("{}Permission", event.id));
        let named = event.properties.get("Bucket").and_then(Value::reference);
        let kind = |name: Symbol| self.template.resources.get(&name).map(|one| one.kind);
        let Some(bucket) = named.filter(|name| kind(*name).as_deref() == Some("AWS::S3::Bucket")) else {
            let words = format!(
                "the event `{}` of `{}` names no bucket of this template: the serverless transform refuses that",
                event.field.name, event.owner
            );
            return self.template.omit(Omitted::Refused(words), event.range());
        };
        let range = event.range();
        self.edge(bucket, event.target, "the notification that the transform adds to the bucket", range);
        self.edge(bucket, permission, "the permission that the transform lets the bucket wait for", range);
    }

    fn topic_event(&mut self, event: &Event<'_>) {
        let range = event.range();
        let topic = event.properties.get("Topic");
        let queue = event.properties.get("SqsSubscription");
        let kept = part(&event.properties, |name| name != "SqsSubscription");
        let subscription = self.add(event.owner, &event.id, "AWS::SNS::Subscription", range, kept);
        let Some(queue) = queue.filter(|queue| queue.text().is_none_or(|text| text != "false")) else {
            self.edge(subscription, event.target, EVENT, range);
            let permission = self.permission(event, &format!("{}Permission", event.id));
            self.give(permission, topic);
            return;
        };
        let policy_id = queue.get("QueuePolicyLogicalId").and_then(Value::text);
        let policy_id = policy_id.map_or_else(|| format!("{}QueuePolicy", event.id), str::to_owned);
        let policy = self.add(event.owner, &policy_id, "AWS::SQS::QueuePolicy", range, nothing(range));
        self.give(policy, topic);
        let source_id = format!("{}EventSourceMapping", event.id);
        let source =
            self.add(event.owner, &source_id, "AWS::Lambda::EventSourceMapping", range, nothing(range));
        self.edge(source, event.target, EVENT, range);
        if queue.is_true() {
            let id = format!("{}Queue", event.id);
            let made = self.add(event.owner, &id, "AWS::SQS::Queue", range, nothing(range));
            for user in [policy, source, subscription] {
                self.edge(user, made, EVENT, range);
            }
        } else {
            self.give(policy, queue.get("QueueUrl"));
            for user in [policy, source, subscription] {
                self.give(user, queue.get("QueueArn"));
            }
        }
    }

    /// A route of an interface. Where the template writes the routes itself, the event only makes a permission.
    fn api_event(&mut self, event: &Event<'_>, rest: bool) {
        let range = event.range();
        let named = event.properties.get(if rest { "RestApiId" } else { "ApiId" });
        let known = named.and_then(|named| self.interface(named));
        let (api, is_written, stage) = match (named, known) {
            (None, _) => (self.implicit_api(event.owner, rest, range), false, Some("Prod".to_owned())),
            (_, Some(known)) => known,
            // An interface of another template or another type: only the permission is made.
            (Some(named), None) => {
                let suffix = if rest { "PermissionAllStages" } else { "Permission" };
                let permission = self.permission(event, &format!("{}{suffix}", event.id));
                return self.give(permission, Some(named));
            }
        };
        self.route(event, api);
        if is_written && !rest {
            // Which permissions are made depends on the routes that the template writes.
            self.omit(event.field);
        }
        if !is_written {
            self.edge(api, event.target, "the route that the transform adds to the interface", range);
        }
        if !rest && event.properties.get("Path").is_some() && has_default_route(event, named) {
            return;
        }
        let suffix = match stage {
            _ if !rest => String::new(),
            Some(stage) if stage.chars().all(char::is_alphanumeric) => stage,
            Some(_) => String::new(),
            None => "Stage".to_owned(),
        };
        let permission = self.permission(event, &format!("{}Permission{suffix}", event.id));
        // A name that is plain text is no reference.
        if named.is_none_or(|named| named.text().is_none()) {
            self.edge(permission, api, PERMISSION, range);
        }
    }

    /// Records the route of an event; the transform refuses a second one of the same path and method.
    fn route(&mut self, event: &Event<'_>, api: Symbol) {
        let text = |name: &str| event.properties.get(name).and_then(Value::text);
        let (Some(path), Some(method)) = (text("Path"), text("Method")) else { return };
        // It adds nothing to an interface whose routes the template writes itself.
        if self.written.iter().any(|(name, is_written, _)| *name == api && *is_written) {
            return;
        }
        let route = (api, path.to_owned(), method.to_ascii_lowercase());
        if self.routes.contains(&route) {
            let words = format!(
                "the event `{}` of `{}` has the path and the method of another one: the serverless transform refuses that",
                event.field.name, event.owner
            );
            self.template.omit(Omitted::Refused(words), event.range());
        }
        self.routes.push(route);
    }

    /// The interface of this template that a value names, by reference or by name: whether the template writes its routes,
    /// and its stage.
    fn interface(&self, named: &Value) -> Option<(Symbol, bool, Option<String>)> {
        let name = named.reference().or_else(|| named.text().map(Symbol::new))?;
        self.written.iter().find(|(known, ..)| *known == name).cloned()
    }

    /// A schedule acts with a role, which is made unless one is given.
    fn schedule(&mut self, event: &Event<'_>) {
        let range = event.range();
        let schedule = self.event_resource(event, &event.id, "AWS::Scheduler::Schedule");
        self.edge(schedule, event.target, EVENT, range);
        if event.properties.get("RoleArn").is_none() {
            self.event_role(event, schedule, &format!("{}Role", event.id));
        }
        self.dead_letters(event, schedule);
    }

    /// Makes the role by which an event calls its target.
    fn event_role(&mut self, event: &Event<'_>, user: Symbol, id: &str) {
        let range = event.range();
        let role = self.add(event.owner, id, "AWS::IAM::Role", range, nothing(range));
        self.edge(role, event.target, "the role that the transform makes", range);
        self.edge(user, role, "the role that the transform makes", range);
    }

    /// Makes the queue of what a rule could not deliver, unless one is named.
    fn dead_letters(&mut self, event: &Event<'_>, rule: Symbol) {
        let Some(config) = event.properties.get("DeadLetterConfig") else { return };
        let kind = self.template.resources.get(&rule).map(|resource| resource.kind);
        let is_rule = kind.is_some_and(|kind| &*kind == "AWS::Events::Rule");
        let role = Symbol::new(&format!("{}Role", event.id));
        let has_role = self.template.resources.contains_key(&role);
        if config.get("Type").is_none() {
            // The role of a schedule may send to the queue, so that it refers to it.
            if !is_rule && has_role {
                self.give(role, config.get("Arn"));
            }
            return;
        }
        let range = config.range;
        let id = config.get("QueueLogicalId").and_then(Value::text);
        let id = id.map_or_else(|| format!("{}Queue", event.id), str::to_owned);
        let queue = self.add(event.owner, &id, "AWS::SQS::Queue", range, nothing(range));
        self.edge(rule, queue, EVENT, range);
        if is_rule {
            let id = format!("{}QueuePolicy", event.id);
            let policy = self.add(event.owner, &id, "AWS::SQS::QueuePolicy", range, nothing(range));
            self.edge(policy, queue, EVENT, range);
            self.edge(policy, rule, EVENT, range);
        } else if has_role {
            self.edge(role, queue, EVENT, range);
        }
    }

    pub(super) fn state_machine_event(
        &mut self,
        machine: Symbol,
        target: Symbol,
        field: &Field,
        siblings: &[Field],
    ) {
        let kind = field.value.get("Type").and_then(Value::text).unwrap_or("");
        let properties = field.value.get("Properties").cloned().unwrap_or_else(|| nothing(field.range));
        let id = format!("{machine}{}", field.name);
        let event = Event { owner: machine, target, id, properties, field, siblings };
        match kind {
            "Schedule" | "CloudWatchEvent" | "EventBridgeRule" => {
                let rule = self.event_resource(&event, &event.id, "AWS::Events::Rule");
                self.edge(rule, target, EVENT, field.range);
                if event.properties.get("RoleArn").is_none() {
                    self.event_role(&event, rule, &format!("{}Role", event.id));
                }
                self.dead_letters(&event, rule);
            }
            "ScheduleV2" => self.schedule(&event),
            "Api" => {
                let named = event.properties.get("RestApiId");
                let known = named.and_then(|named| self.interface(named));
                let (api, is_written) = match (named, known) {
                    (None, _) => (self.implicit_api(machine, true, field.range), false),
                    (_, Some((api, is_written, _))) => (api, is_written),
                    (Some(_), None) => return self.omit(field),
                };
                if !is_written {
                    self.edge(api, target, "the route that the transform adds to the interface", field.range);
                }
                let id = format!("{}Role", event.id);
                let role = self.add(machine, &id, "AWS::IAM::Role", field.range, nothing(field.range));
                self.edge(role, target, "the role that the transform makes", field.range);
                if !is_written {
                    self.edge(api, role, "the role that the transform makes", field.range);
                }
            }
            _ => self.omit(field),
        }
    }
}

/// Whether the function of an event has the default route of the same interface: its permission is for all routes. The
/// transform does not recognise an alias in the default route.
fn has_default_route(event: &Event<'_>, api: Option<&Value>) -> bool {
    event.target == event.owner
        && event.siblings.iter().any(|other| {
            let named = other.value.at(&["Properties", "ApiId"]);
            other.value.get("Type").and_then(Value::text) == Some("HttpApi")
                && other.value.at(&["Properties", "Path"]).is_none()
                && match (api, named) {
                    (None, None) => true,
                    (Some(one), Some(two)) => one.same_as(two),
                    _ => false,
                }
        })
}
