//! Connectors: what lets one resource reach another. Each becomes a policy of a role, a queue or a topic, or a permission.

use setpoint_source::{Range, Symbol};

use super::{Work, nothing};
use crate::template::Resource;
use crate::value::{Value, ValueKind};

const CONNECTOR: &str = "the connector";

/// What a connector becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    /// A policy of the role of the source.
    SourceRole,
    /// A policy of the role of the destination.
    DestinationRole,
    QueuePolicy,
    TopicPolicy,
    Permission,
}

/// What waits for the policy of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    /// The event source by which the destination reads the source.
    EventSource,
    Source,
}

/// A pair of types that a connector can join. The texts name what is said of the two ends, by what is asked for: `a` the address of
/// the source, `i` its identifier, `A` the address of the destination, `N` its name.
struct Profile {
    ends: (&'static str, &'static str),
    grant: Grant,
    read: &'static str,
    write: &'static str,
    waits: Waits,
    /// Whether `Write` alone, and `Read` alone, are refused.
    needs: (bool, bool),
}

const fn profile(
    source: &'static str,
    destination: &'static str,
    grant: Grant,
    read: &'static str,
    write: &'static str,
) -> Profile {
    Profile { ends: (source, destination), grant, read, write, waits: Waits::Nothing, needs: (false, false) }
}

const FUNCTION: &str = "AWS::Lambda::Function";
const MACHINE: &str = "AWS::StepFunctions::StateMachine";
const TABLE: &str = "AWS::DynamoDB::Table";
const QUEUE: &str = "AWS::SQS::Queue";
const TOPIC: &str = "AWS::SNS::Topic";
const BUCKET: &str = "AWS::S3::Bucket";
const BUS: &str = "AWS::Events::EventBus";
const RULE: &str = "AWS::Events::Rule";
const SOURCE: &str = "AWS::AppSync::DataSource";

/// The pairs that AWS documents in "AWS SAM connector reference". An empty text: there is no such permission.
const PROFILES: &[Profile] = &[
    Profile { waits: Waits::EventSource, ..profile(TABLE, FUNCTION, Grant::DestinationRole, "a", "") },
    profile(RULE, TOPIC, Grant::TopicPolicy, "", "aA"),
    profile(RULE, BUS, Grant::SourceRole, "", "A"),
    profile(RULE, MACHINE, Grant::SourceRole, "", "A"),
    profile(RULE, FUNCTION, Grant::Permission, "", "a"),
    profile(RULE, QUEUE, Grant::QueuePolicy, "", "aA"),
    profile(FUNCTION, FUNCTION, Grant::SourceRole, "", "A"),
    profile(FUNCTION, BUCKET, Grant::SourceRole, "A", "A"),
    profile(FUNCTION, TABLE, Grant::SourceRole, "A", "A"),
    profile(FUNCTION, QUEUE, Grant::SourceRole, "A", "A"),
    profile(FUNCTION, TOPIC, Grant::SourceRole, "", "A"),
    profile(FUNCTION, MACHINE, Grant::SourceRole, "AN", "AN"),
    profile(FUNCTION, BUS, Grant::SourceRole, "", "A"),
    profile(FUNCTION, "AWS::Location::PlaceIndex", Grant::SourceRole, "A", ""),
    profile("AWS::ApiGatewayV2::Api", FUNCTION, Grant::Permission, "", "i"),
    profile("AWS::ApiGateway::RestApi", FUNCTION, Grant::Permission, "", "i"),
    profile(TOPIC, QUEUE, Grant::QueuePolicy, "", "aA"),
    profile(TOPIC, FUNCTION, Grant::Permission, "", "a"),
    Profile {
        waits: Waits::EventSource,
        needs: (true, true),
        ..profile(QUEUE, FUNCTION, Grant::DestinationRole, "a", "a")
    },
    profile(BUCKET, FUNCTION, Grant::Permission, "", "a"),
    profile(MACHINE, FUNCTION, Grant::SourceRole, "", "A"),
    profile(MACHINE, TOPIC, Grant::SourceRole, "", "A"),
    profile(MACHINE, QUEUE, Grant::SourceRole, "", "A"),
    profile(MACHINE, BUCKET, Grant::SourceRole, "A", "A"),
    profile(MACHINE, TABLE, Grant::SourceRole, "A", "A"),
    Profile {
        waits: Waits::Source,
        needs: (true, false),
        ..profile(MACHINE, MACHINE, Grant::SourceRole, "N", "AN")
    },
    profile(MACHINE, BUS, Grant::SourceRole, "", "A"),
    profile(SOURCE, TABLE, Grant::SourceRole, "A", "A"),
    profile(SOURCE, FUNCTION, Grant::SourceRole, "", "A"),
    profile(SOURCE, BUS, Grant::SourceRole, "", "A"),
    profile("AWS::AppSync::GraphQLApi", FUNCTION, Grant::Permission, "", "i"),
];

/// One end of a connector: a resource of the template, or values that stand for one.
struct End<'a> {
    id: Option<Symbol>,
    kind: Symbol,
    said: &'a Value,
}

/// A connector to one destination.
pub(super) struct Connector<'a> {
    pub(super) name: Symbol,
    /// What follows the names of what is made, if there are several destinations.
    pub(super) suffix: String,
    pub(super) source: &'a Value,
    pub(super) destination: &'a Value,
    pub(super) permissions: Vec<&'a str>,
    pub(super) range: Range,
}

impl Work<'_> {
    /// Replaces the connectors, those that are resources and those that stand in resources. All else is made by then.
    pub(super) fn connectors(&mut self) {
        self.take_embedded();
        let of_type = |one: &&Resource| &*one.kind == "AWS::Serverless::Connector";
        let names: Vec<Symbol> =
            self.template.resources.values().filter(of_type).map(|one| one.name).collect();
        for name in names {
            self.connector(name);
        }
    }

    /// Makes resources of the connectors that stand in other resources.
    fn take_embedded(&mut self) {
        let mut found = Vec::new();
        for resource in self.template.resources.values_mut() {
            let Some(connectors) = resource.connectors.take() else { continue };
            for field in connectors.fields() {
                found.push((resource.name, field.clone()));
            }
        }
        for (source, field) in found {
            let id = Value { range: field.range, kind: ValueKind::Text(source.as_str().into()) };
            let mut properties =
                field.value.get("Properties").cloned().unwrap_or_else(|| nothing(field.range));
            let more = properties.get("SourceReference").map(Value::fields).unwrap_or_default().to_vec();
            let mut end = vec![super::field("Id", id)];
            end.extend(more);
            if let ValueKind::Map(fields) = &mut properties.kind {
                fields.retain(|field| &*field.name != "SourceReference");
                let kind = ValueKind::Map(end);
                fields.push(super::field("Source", Value { range: field.range, kind }));
            }
            let name = format!("{source}{}", field.name);
            let name = self.add(source, &name, "AWS::Serverless::Connector", field.range, properties);
            let text = |key: &str| field.value.get(key).map(|value| (value.items().to_vec(), value.range));
            let condition = text("Condition")
                .and_then(|(names, range)| Some((Symbol::new(names.first()?.text()?), range)));
            let depends_on: Vec<(Symbol, Range)> =
                text("DependsOn").map_or_else(Vec::new, |(names, range)| {
                    names.iter().filter_map(|name| Some((Symbol::new(name.text()?), range))).collect()
                });
            if let Some(resource) = self.template.resources.get_mut(&name) {
                resource.condition = condition;
                resource.depends_on = depends_on;
            }
        }
    }

    fn connector(&mut self, name: Symbol) {
        let Some(connector) = self.template.resources.get(&name) else { return };
        let properties = connector.properties.clone();
        let range = connector.name_range;
        let (Some(source), Some(to), Some(permissions)) =
            (properties.get("Source"), properties.get("Destination"), properties.get("Permissions"))
        else {
            return self.refuse_connector(name, range);
        };
        let is_list = matches!(to.kind, ValueKind::List(_));
        let permissions: Vec<&str> = permissions.items().iter().filter_map(Value::text).collect();
        let mut made = Vec::new();
        for (index, destination) in to.items().iter().enumerate() {
            let suffix = if is_list { format!("Destination{index}") } else { String::new() };
            let permissions = permissions.clone();
            let connector = Connector { name, suffix, source, destination, permissions, range };
            match self.connect(&connector) {
                Some(mut more) => made.append(&mut more),
                None => return self.refuse_connector(name, range),
            }
        }
        self.template.resources.shift_remove(&name);
        // Who waits for the connector, waits for what it became.
        for resource in self.template.resources.values_mut() {
            let places =
                resource.depends_on.iter().filter(|(other, _)| *other == name).map(|(_, place)| *place);
            let more: Vec<(Symbol, Range)> =
                places.flat_map(|place| made.iter().map(move |one| (*one, place))).collect();
            resource.depends_on.retain(|(other, _)| *other != name);
            resource.depends_on.extend(more);
        }
    }

    /// Leaves a connector that the transform would refuse, or whose pair is not known, as it is.
    fn refuse_connector(&mut self, name: Symbol, range: Range) {
        self.template.omit(crate::omission::Omitted::Serverless(name), range);
    }

    /// Makes what a connector becomes for one destination. Returns `None` if the transform refuses it.
    pub(super) fn connect(&mut self, connector: &Connector<'_>) -> Option<Vec<Symbol>> {
        let source = self.end(connector.source)?;
        let destination = self.end(connector.destination)?;
        let ends = (source.kind.as_str(), destination.kind.as_str());
        let profile = PROFILES.iter().find(|one| one.ends == ends)?;
        let asked = |what: &str| connector.permissions.contains(&what);
        let (read, write) = (asked("Read"), asked("Write"));
        let is_known = connector.permissions.iter().all(|one| ["Read", "Write"].contains(one));
        let is_allowed = (read || write)
            && (!read || !profile.read.is_empty())
            && (!write || !profile.write.is_empty())
            && !(write && !read && profile.needs.0)
            && !(read && !write && profile.needs.1);
        if !is_known || !is_allowed {
            return None;
        }
        let (word, kind) = match profile.grant {
            Grant::SourceRole | Grant::DestinationRole => ("Policy", "AWS::IAM::ManagedPolicy"),
            Grant::QueuePolicy => ("QueuePolicy", "AWS::SQS::QueuePolicy"),
            Grant::TopicPolicy => ("TopicPolicy", "AWS::SNS::TopicPolicy"),
            Grant::Permission => ("LambdaPermission", "AWS::Lambda::Permission"),
        };
        let role = match profile.grant {
            Grant::SourceRole => Some(self.role_of(&source, &destination)?),
            Grant::DestinationRole => Some(self.role_of(&destination, &source)?),
            _ => None,
        };
        let parts: Vec<(&str, &str)> = match profile.grant {
            Grant::Permission => {
                let all = [("Read", profile.read, read), ("Write", profile.write, write)];
                all.into_iter().filter(|(.., asked)| *asked).map(|(name, uses, _)| (name, uses)).collect()
            }
            _ if read && write && profile.read.len() > profile.write.len() => vec![("", profile.read)],
            _ if write => vec![("", profile.write)],
            _ => vec![("", profile.read)],
        };
        let mut made = Vec::new();
        for (part, uses) in parts {
            let id = format!("{}{part}{word}{}", connector.name, connector.suffix);
            let one = self.add(connector.name, &id, kind, connector.range, nothing(connector.range));
            let depends_on = self.template.resources.get(&connector.name).map(|one| one.depends_on.clone());
            if let (Some(resource), Some(depends_on)) = (self.template.resources.get_mut(&one), depends_on) {
                resource.depends_on = depends_on;
            }
            self.use_ends(one, uses, &source, &destination, connector.range)?;
            match profile.grant {
                Grant::Permission | Grant::TopicPolicy => {
                    self.use_end(one, &destination, "Arn", connector.range)?;
                }
                Grant::QueuePolicy => self.use_end(one, &destination, "QueueUrl", connector.range)?,
                _ => {}
            }
            if let Some(role) = &role {
                self.give(one, Some(role));
            }
            made.push(one);
        }
        self.wait_for_policy(profile.waits, &source, &destination, &made, connector.range);
        Some(made)
    }

    /// The end that a connector names.
    fn end<'v>(&self, said: &'v Value) -> Option<End<'v>> {
        let others = said.fields().iter().any(|field| !["Id", "Qualifier"].contains(&&*field.name));
        if let Some(id) = said.get("Id") {
            let id = Symbol::new(id.text()?);
            let kind = self.template.resources.get(&id)?.kind;
            return (!others).then_some(End { id: Some(id), kind, said });
        }
        let kind = match said.get("Type")?.text()? {
            "AWS::Serverless::Function" => FUNCTION,
            "AWS::Serverless::StateMachine" => MACHINE,
            "AWS::Serverless::Api" => "AWS::ApiGateway::RestApi",
            "AWS::Serverless::HttpApi" => "AWS::ApiGatewayV2::Api",
            "AWS::Serverless::SimpleTable" => TABLE,
            other => other,
        };
        Some(End { id: None, kind: Symbol::new(kind), said })
    }

    fn use_ends(
        &mut self,
        user: Symbol,
        uses: &str,
        source: &End<'_>,
        destination: &End<'_>,
        range: Range,
    ) -> Option<()> {
        for letter in uses.chars() {
            match letter {
                'a' => self.use_end(user, source, "Arn", range)?,
                'i' => {
                    self.use_end(user, source, "ResourceId", range)?;
                    self.give(user, source.said.get("Qualifier"));
                }
                'A' => self.use_end(user, destination, "Arn", range)?,
                _ => self.use_end(user, destination, "Name", range)?,
            }
        }
        Some(())
    }

    /// Lets a resource refer to an end, by a value that is said of it or by its name.
    fn use_end(&mut self, user: Symbol, end: &End<'_>, what: &str, range: Range) -> Option<()> {
        match end.id {
            Some(id) => self.edge(user, id, CONNECTOR, range),
            None => self.give(user, Some(end.said.get(what)?)),
        }
        Some(())
    }

    /// The role with which an end acts on the other.
    fn role_of(&self, end: &End<'_>, other: &End<'_>) -> Option<Value> {
        let Some(id) = end.id else { return end.said.get("RoleName").cloned() };
        let range = end.said.range;
        let made = Symbol::new(&format!("{id}Role"));
        if self.template.resources.get(&made).is_some_and(|one| one.made_from == Some(id)) {
            return Some(Value { range, kind: ValueKind::Ref(made) });
        }
        let resource = self.template.resources.get(&id)?;
        let role = match &*resource.kind {
            FUNCTION => resource.property(&["Role"]).cloned(),
            MACHINE => resource.property(&["RoleArn"]).or_else(|| resource.property(&["Role"])).cloned(),
            SOURCE => resource.property(&["ServiceRoleArn"]).cloned(),
            RULE => {
                let targets = resource.property(&["Targets"]).map(Value::items).unwrap_or_default();
                let is_other = |target: &&Value| {
                    target.get("Arn").is_some_and(|arn| {
                        (other.id.is_some() && arn.reference() == other.id)
                            || other.said.get("Arn").is_some_and(|said| said.same_as(arn))
                    })
                };
                targets.iter().find(is_other).and_then(|target| target.get("RoleArn")).cloned()
            }
            _ => None,
        };
        let role = role?.reference()?;
        Some(Value { range, kind: ValueKind::Ref(role) })
    }

    fn wait_for_policy(
        &mut self,
        waits: Waits,
        source: &End<'_>,
        destination: &End<'_>,
        made: &[Symbol],
        range: Range,
    ) {
        let (Some(source), Some(destination)) = (source.id, destination.id) else { return };
        let waiting = match waits {
            Waits::Nothing => return,
            Waits::Source => vec![source],
            Waits::EventSource => self.event_sources(source, destination),
        };
        if let [waiting] = waiting.as_slice() {
            for policy in made {
                self.edge(*waiting, *policy, CONNECTOR, range);
            }
        }
    }

    /// The event sources by which a function reads a resource.
    fn event_sources(&self, source: Symbol, function: Symbol) -> Vec<Symbol> {
        let is_between = |one: &&Resource| {
            let names = |keys: &[&str], wanted: Symbol| {
                keys.iter().any(|key| one.property(&[key]).and_then(Value::reference) == Some(wanted))
            };
            let calls = names(&["FunctionName"], function)
                || self.made.iter().any(|edge| edge.from == one.name && edge.to == function);
            &*one.kind == "AWS::Lambda::EventSourceMapping"
                && calls
                && names(&["EventSourceArn", "Queue", "Stream"], source)
        };
        self.template.resources.values().filter(is_between).map(|one| one.name).collect()
    }
}
