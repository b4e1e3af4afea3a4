//! The serverless transform: the resources that it makes out of its common types, and what they wait for.
//!
//! Only what matters for order is made: which resources there will be, and which refer to which. A cycle may exist only
//! after the transform, for example between a bucket, the function that it calls, and the role that may read it.

mod connectors;
mod events;
mod graphql;
mod interfaces;
pub(crate) mod known;
mod refusals;
mod shared;

use setpoint_source::{Range, Symbol};

use crate::graph::Via;
use crate::omission::Omitted;
use crate::template::{Resource, Table, Template};
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
        forget_unmodelled(template, &[]);
        return;
    }
    // Interfaces first: events ask for their stages.
    let mut names: Vec<Symbol> = template.resources.keys().copied().collect();
    let globals = std::mem::take(&mut template.globals);
    names.sort_by_key(|name| !template.resources.get(name).is_some_and(|one| one.kind.ends_with("Api")));
    let mut work = Work {
        template,
        globals,
        made: Vec::new(),
        written: Vec::new(),
        shared: Vec::new(),
        keyed: Vec::new(),
        sockets: Vec::new(),
        routes: Vec::new(),
        taken: Vec::new(),
    };
    work.find_written();
    for name in names {
        let kind = work.template.resources.get(&name).map(|resource| resource.kind);
        match kind.as_deref() {
            Some("AWS::Serverless::Function") => work.function(name),
            Some("AWS::Serverless::StateMachine") => work.state_machine(name),
            Some("AWS::Serverless::Api") => work.rest_api(name),
            Some("AWS::Serverless::HttpApi") => work.http_api(name),
            Some("AWS::Serverless::WebSocketApi") => work.web_socket_api(name),
            Some("AWS::Serverless::GraphQLApi") => work.graphql_api(name),
            Some("AWS::Serverless::CapacityProvider") => work.capacity_provider(name),
            Some("AWS::Serverless::SimpleTable") => work.rename(name, "AWS::DynamoDB::Table"),
            Some("AWS::Serverless::LayerVersion") => work.rename(name, "AWS::Lambda::LayerVersion"),
            Some("AWS::Serverless::Application") => work.rename(name, "AWS::CloudFormation::Stack"),
            _ => {}
        }
    }
    work.connectors();
    work.finish_shared();
    let (mut made, taken) = (std::mem::take(&mut work.made), std::mem::take(&mut work.taken));
    made.retain(|edge| !taken.contains(&edge.from) && !taken.contains(&edge.to));
    template.made_edges = made;
    for (kind, range) in serverless_types(template) {
        template.omit(Omitted::Serverless(kind), range);
    }
    forget_unmodelled(template, &taken);
    rename_references(template);
}

/// Takes the values of types that have no model away: each belongs to some of the resources that the transform makes, and a
/// circle through the whole need not be one through its parts.
fn forget_unmodelled(template: &mut Template, taken: &[Symbol]) {
    let is_unmodelled =
        |one: &Resource| one.kind.starts_with("AWS::Serverless::") || taken.contains(&one.name);
    for resource in template.resources.values_mut().filter(|one| is_unmodelled(one)) {
        resource.properties = nothing(resource.properties.range);
        resource.others.clear();
    }
}

/// The serverless types of a template, each where it stands.
fn serverless_types(template: &Template) -> Vec<(Symbol, Range)> {
    let resources = template.resources.values().filter(|one| one.kind.starts_with("AWS::Serverless::"));
    resources.map(|one| (one.kind, one.type_ranges.1)).collect()
}

struct Work<'a> {
    template: &'a mut Template,
    /// The `Globals` of each type.
    globals: Table<Vec<Value>>,
    made: Vec<Made>,
    /// Interfaces whose routes the template writes itself, and the literal names of their stages.
    written: Vec<(Symbol, bool, Option<String>)>,
    shared: Vec<shared::Shared>,
    /// Names that end in a digest: what stands before it, the value that it is of, and the name.
    keyed: Vec<(&'static str, Value, Symbol)>,
    /// WebSocket interfaces, and the groups of records that they have.
    sockets: Vec<Symbol>,
    /// Routes that events make: the interface, the path and the method.
    routes: Vec<(Symbol, String, String)>,
    /// Names that the transform gives and the template has as well: which of the two an edge is about is not known.
    taken: Vec<Symbol>,
}

impl Work<'_> {
    /// Looks at interfaces before their properties are moved: whether their routes come from events, and their stages.
    fn find_written(&mut self) {
        for resource in self.template.resources.values() {
            if !matches!(&*resource.kind, "AWS::Serverless::Api" | "AWS::Serverless::HttpApi") {
                continue;
            }
            let is_merged = resource.property(&["MergeDefinitions"]).is_some_and(Value::is_true);
            let is_written =
                ["DefinitionBody", "DefinitionUri"].iter().any(|name| resource.property(&[name]).is_some());
            let stage = resource.property(&["StageName"]).and_then(Value::text).map(str::to_owned);
            self.written.push((resource.name, is_written && !is_merged, stage));
        }
    }

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
            update_replace_policy: None,
            others: Vec::new(),
            connectors: None,
            made_from: Some(from),
            is_serverless: false,
            ignored_globals: None,
        };
        let is_written = self.template.resources.get(&name).is_some_and(|one| one.made_from.is_none());
        if is_written {
            self.collides(name);
        }
        self.template.resources.entry(name).or_insert(resource);
        name
    }

    /// The template has a resource of a name that the transform gives: the transform overwrites one of them.
    fn collides(&mut self, name: Symbol) {
        let words = format!("the serverless transform makes a resource `{name}`, and the template has one");
        self.template.omit(Omitted::Unmodelled(words), self.place(name));
        self.taken.push(name);
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

    /// Records what the transform does and this module does not.
    fn omit(&mut self, field: &Field) {
        self.template.omit(Omitted::Serverless(field.name), field.range);
    }

    /// The text of a value, or that of the default of the parameter that it names: so does the transform.
    fn text_of(&self, value: &Value) -> Option<String> {
        match &value.kind {
            ValueKind::Ref(name) => self.template.parameters.get(name)?.default.as_deref().map(str::to_owned),
            _ => value.text().map(str::to_owned),
        }
    }

    /// The role that is made unless one is given; policies belong to it.
    fn role(&mut self, name: Symbol, kind: &str) {
        self.rename(name, kind);
        let policies = self.take(name, "Policies");
        for property in ["AssumeRolePolicyDocument", "PermissionsBoundary", "RolePath"] {
            self.take(name, property);
        }
        let mut condition = None;
        if let Some(given) = self.property(name, "Role") {
            // `Fn::If` may give none, and then the transform makes one for a function, whatever the function's own condition.
            if kind != "AWS::Lambda::Function" || !gives_nothing(&given) {
                return;
            }
            condition = self.missing_under(&given);
        }
        let range = policies.as_ref().map_or(self.place(name), |field| field.range);
        let mut properties: Vec<Value> = policies.into_iter().map(|field| field.value).collect();
        properties.extend(self.property(name, "DeadLetterQueue"));
        let properties = Value { range, kind: ValueKind::List(properties) };
        let role = self.add(name, &format!("{name}Role"), "AWS::IAM::Role", range, properties);
        self.edge(name, role, "the role that the transform makes", range);
        if let Some(role) = self.template.resources.get_mut(&role).filter(|_| condition.is_some()) {
            role.condition = condition;
        }
    }

    fn function(&mut self, name: Symbol) {
        // The transform refuses a function without code, unless a tool gave it some before.
        if !["InlineCode", "CodeUri", "ImageUri"].iter().any(|code| self.property(name, code).is_some()) {
            let is_image =
                self.property(name, "PackageType").is_some_and(|kind| kind.text() == Some("Image"));
            let metadata = self.template.resources.get(&name).map(|one| one.others.as_slice());
            let is_built = metadata.unwrap_or_default().iter().any(|one| one.get("Dockerfile").is_some());
            // `sam build` takes the folder of the template for the code, and builds images from their metadata.
            let what = if is_image && !is_built {
                Omitted::MissingProperty(name, Symbol::new("ImageUri"))
            } else {
                let part = if is_image { "image" } else { "code" };
                Omitted::Assumption(format!("`sam build` gives the {part} of `{name}`"))
            };
            self.template.omit(what, self.place(name));
        }
        self.role(name, "AWS::Lambda::Function");
        let target = self.alias(name);
        if let Some(url) = self.take(name, "FunctionUrlConfig") {
            self.function_url(name, target, &url);
        }
        if let Some(config) = self.take(name, "EventInvokeConfig") {
            self.invocations(name, target, &config);
        }
        if let Some(value) = self.property(name, "DurableConfig") {
            self.template.omit(Omitted::Serverless(Symbol::new("DurableConfig")), value.range);
        }
        let Some(events) = self.take(name, "Events") else { return };
        if !matches!(events.value.kind, ValueKind::Map(_)) {
            self.omit(&events);
        }
        for event in events.value.fields() {
            self.function_event(name, target, event, events.value.fields());
        }
    }

    /// Makes the version and the alias of a function; returns what its events call.
    fn alias(&mut self, name: Symbol) -> Symbol {
        let preference = self.take(name, "DeploymentPreference");
        self.take(name, "AutoPublishCodeSha256");
        self.take(name, "AutoPublishAliasAllProperties");
        let concurrency = self.take(name, "ProvisionedConcurrencyConfig");
        let Some(alias) = self.take(name, "AutoPublishAlias") else { return name };
        let kind = "AWS::Lambda::Version";
        let version = self.add(name, &format!("{name}Version"), kind, alias.range, nothing(alias.range));
        self.edge(version, name, "the version that the transform publishes", alias.range);
        let Some(label) = self.text_of(&alias.value) else {
            self.omit(&alias);
            return name;
        };
        let id = format!("{name}Alias{}", label.replace('-', "D").replace('_', "U"));
        let properties = concurrency.map_or(nothing(alias.range), |field| field.value);
        let made = self.add(name, &id, "AWS::Lambda::Alias", alias.range, properties);
        self.edge(made, version, "the alias that the transform publishes", alias.range);
        self.edge(made, name, "the alias that the transform publishes", alias.range);
        if let Some(preference) = preference {
            self.deployment(name, made, &preference);
        }
        made
    }

    /// Makes the deployment group of an alias. Hooks belong to the alias, alarms and triggers to the group.
    fn deployment(&mut self, name: Symbol, alias: Symbol, preference: &Field) {
        let (place, value) = (preference.range, &preference.value);
        let is_enabled = value.get("Enabled").map(|enabled| self.truth_of(enabled));
        if is_enabled == Some(Some(false)) {
            return;
        }
        let passes = value.get("PassthroughCondition").map(|passes| self.truth_of(passes));
        if is_enabled == Some(None) || passes == Some(None) || value.get("Type").is_none() {
            self.omit(preference);
        }
        let condition = self.template.resources.get(&name).and_then(|one| one.condition);
        let condition = condition.filter(|_| passes == Some(Some(true)));
        let what = "the deployment group that the transform makes";
        let (application, role) = ("ServerlessDeploymentApplication", "CodeDeployServiceRole");
        let application = self.add_shared(application, "AWS::CodeDeploy::Application", place);
        let alarms = ["Alarms", "TriggerConfigurations", "Role"];
        let properties = part(value, |field| alarms.contains(&field));
        let id = format!("{name}DeploymentGroup");
        let group = self.add(name, &id, "AWS::CodeDeploy::DeploymentGroup", place, properties);
        if let Some(group) = self.template.resources.get_mut(&group) {
            group.condition = condition;
        }
        let mut all = vec![application];
        if value.get("Role").is_none() {
            let role = self.add_shared(role, "AWS::IAM::Role", place);
            self.edge(group, role, what, place);
            all.push(role);
        }
        self.share("ServerlessCodeDeployCondition", &all, condition);
        self.edge(group, application, what, place);
        self.edge(alias, group, what, place);
        self.edge(alias, application, what, place);
        if let Some(resource) = self.template.resources.get_mut(&alias) {
            resource.others.push(part(value, |field| field == "Hooks"));
        }
    }

    /// Adds a resource that all functions share, under no condition.
    fn add_shared(&mut self, name: &str, kind: &str, range: Range) -> Symbol {
        let symbol = Symbol::new(name);
        let made = self.add(symbol, name, kind, range, nothing(range));
        debug_assert_eq!(made, symbol, "a resource keeps its name");
        made
    }

    fn function_url(&mut self, name: Symbol, target: Symbol, url: &Field) {
        let what = "the address that the transform makes";
        let made = self.add(name, &format!("{name}Url"), "AWS::Lambda::Url", url.range, url.value.clone());
        self.edge(made, target, what, url.range);
        let Some(auth) = url.value.get("AuthType") else { return };
        if auth.text().is_none() {
            self.omit(url);
        }
        if auth.text() != Some("NONE") {
            return;
        }
        for suffix in ["UrlPublicPermissions", "URLInvokeAllowPublicAccess"] {
            let id = format!("{name}{suffix}");
            let made = self.add(name, &id, "AWS::Lambda::Permission", url.range, nothing(url.range));
            self.edge(made, target, what, url.range);
        }
    }

    /// Makes the configuration of asynchronous invocations, and the destinations that it does not name.
    fn invocations(&mut self, name: Symbol, target: Symbol, config: &Field) {
        let what = "the configuration of invocations that the transform makes";
        let id = format!("{name}EventInvokeConfig");
        let made = self.add(name, &id, "AWS::Lambda::EventInvokeConfig", config.range, config.value.clone());
        self.edge(made, name, what, config.range);
        if target != name {
            self.edge(made, target, what, config.range);
        }
        let role = Symbol::new(&format!("{name}Role"));
        let destinations = config.value.get("DestinationConfig").map(Value::fields).unwrap_or_default();
        for field in destinations {
            let kind = field.value.get("Type").and_then(Value::text).unwrap_or("");
            let destination = field.value.get("Destination");
            let missing = destination.and_then(|value| self.missing_under(value));
            if let Some(destination) = destination {
                // The transform lets the role send to it, if it knows how.
                if !["SQS", "SNS", "Lambda", "EventBridge", "S3Bucket"].contains(&kind) {
                    self.omit(field);
                }
                if let Some(role) = self.template.resources.get_mut(&role) {
                    role.others.push(destination.clone());
                }
                if missing.is_none() {
                    continue;
                }
            }
            let (suffix, kind) = match kind {
                "SQS" => ("Queue", "AWS::SQS::Queue"),
                "SNS" => ("Topic", "AWS::SNS::Topic"),
                _ => {
                    self.omit(field);
                    continue;
                }
            };
            let id = format!("{id}{}{suffix}", field.name);
            let destination = self.add(name, &id, kind, field.range, nothing(field.range));
            if let Some(made) = self.template.resources.get_mut(&destination).filter(|_| missing.is_some()) {
                // The transform joins the two conditions under a name of its own.
                let is_joined = made.condition.is_some();
                made.condition = missing;
                if is_joined {
                    self.omit(field);
                }
            }
            self.edge(made, destination, what, field.range);
            if self.template.resources.contains_key(&role) {
                self.edge(role, destination, what, field.range);
            }
        }
    }

    /// The condition under which `Fn::If` gives no value, as the transform names it.
    fn missing_under(&mut self, value: &Value) -> Option<(Symbol, Range)> {
        let ValueKind::If { condition, then, otherwise } = &value.kind else { return None };
        match (is_none(then), is_none(otherwise)) {
            (true, false) => Some((*condition, value.range)),
            (false, true) => {
                let name = Symbol::new(&format!("NOT{condition}"));
                let text = |text: &str| Value { range: value.range, kind: ValueKind::Text(text.into()) };
                let call = |name: &str, argument: Value| Value {
                    range: value.range,
                    kind: ValueKind::Call { name: Symbol::new(name), argument: Box::new(argument) },
                };
                let inner = call("Condition", text(condition));
                let list = Value { range: value.range, kind: ValueKind::List(vec![inner]) };
                let not = (value.range, call("Fn::Not", list));
                self.template.conditions.entry(name).or_insert(not);
                Some((name, value.range))
            }
            _ => None,
        }
    }

    /// A provider of capacity acts with a role, which is made unless one is given.
    fn capacity_provider(&mut self, name: Symbol) {
        self.rename(name, "AWS::Lambda::CapacityProvider");
        if self.property(name, "OperatorRole").is_none() {
            let range = self.place(name);
            let id = format!("{name}OperatorRole");
            let role = self.add(name, &id, "AWS::IAM::Role", range, nothing(range));
            self.edge(name, role, "the role that the transform makes", range);
        }
    }

    fn state_machine(&mut self, name: Symbol) {
        self.role(name, "AWS::StepFunctions::StateMachine");
        let target = self.machine_alias(name);
        let Some(events) = self.take(name, "Events") else { return };
        for event in events.value.fields() {
            self.state_machine_event(name, target, event, events.value.fields());
        }
    }

    /// Makes the version and the alias of a state machine; returns what its events start.
    fn machine_alias(&mut self, name: Symbol) -> Symbol {
        let preference = self.take(name, "DeploymentPreference");
        let is_target = self.take(name, "UseAliasAsEventTarget").map(|field| self.truth_of(&field.value));
        let Some(alias) = self.take(name, "AutoPublishAlias") else {
            // The transform refuses either without an alias.
            if let Some(preference) = preference {
                self.omit(&preference);
            }
            return name;
        };
        let Some(label) = self.text_of(&alias.value).filter(|_| is_target != Some(None)) else {
            self.omit(&alias);
            return name;
        };
        let (range, what) = (alias.range, "the version that the transform publishes");
        let kind = "AWS::StepFunctions::StateMachineVersion";
        let version = self.add(name, &format!("{name}Version"), kind, range, nothing(range));
        self.edge(version, name, what, range);
        let properties = preference.map_or(nothing(range), |field| field.value);
        let kind = "AWS::StepFunctions::StateMachineAlias";
        let made = self.add(name, &format!("{name}Alias{label}"), kind, range, properties);
        self.edge(made, version, what, range);
        if is_target == Some(Some(true)) { made } else { name }
    }

    /// Makes the interface that events without one share, with its stage, where there is none yet.
    fn implicit_api(&mut self, from: Symbol, rest: bool, range: Range) -> Symbol {
        let (name, kind) = if rest {
            (IMPLICIT_REST, "AWS::Serverless::Api")
        } else {
            (IMPLICIT_HTTP, "AWS::Serverless::HttpApi")
        };
        let symbol = Symbol::new(name);
        let condition = self.template.resources.get(&from).and_then(|resource| resource.condition);
        let combined = if rest { "ServerlessRestApiCondition" } else { "ServerlessHttpApiCondition" };
        self.share(combined, &[symbol], condition);
        if self.template.resources.get(&symbol).is_some_and(|one| one.made_from.is_none()) {
            self.collides(symbol);
        }
        if !self.template.resources.contains_key(&symbol) {
            let stage = field("StageName", Value { range, kind: ValueKind::Text("Prod".into()) });
            let properties = if rest { vec![stage] } else { Vec::new() };
            self.add(from, name, kind, range, Value { range, kind: ValueKind::Map(properties) });
            if let Some(resource) = self.template.resources.get_mut(&symbol) {
                let globals = self.globals.get(&resource.kind);
                for global in globals.into_iter().flatten() {
                    merge(&mut resource.properties, global);
                }
            }
            if rest { self.rest_api(symbol) } else { self.http_api(symbol) }
        }
        symbol
    }
}

/// The fields of a mapping that `keep` chooses.
fn part(value: &Value, keep: impl Fn(&str) -> bool) -> Value {
    let fields = value.fields().iter().filter(|field| keep(&field.name)).cloned().collect();
    Value { range: value.range, kind: ValueKind::Map(fields) }
}

/// Puts a global value below a local one: mappings are joined, lists follow each other, all else stays local.
pub(crate) fn merge(local: &mut Value, global: &Value) {
    match (&mut local.kind, &global.kind) {
        (ValueKind::Null, _) => *local = global.clone(),
        (ValueKind::Map(fields), ValueKind::Map(more)) => {
            for field in more {
                match fields.iter_mut().find(|own| own.name == field.name) {
                    Some(own) => merge(&mut own.value, &field.value),
                    None => fields.push(field.clone()),
                }
            }
        }
        (ValueKind::List(items), ValueKind::List(more)) => {
            items.splice(0..0, more.iter().cloned());
        }
        _ => {}
    }
}

/// A field at the place of its value.
fn field(name: &str, value: Value) -> Field {
    Field { name: Symbol::new(name), range: value.range, value }
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
            "Version" => "Version",
            "Alias" => "Alias",
            "DomainName" => "::DomainName",
            "DomainNameV2" => "::DomainNameV2",
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
                *name = find(origin, attribute).unwrap_or(*name);
            }
        }
        ValueKind::GetAtt { resource, attribute: Some(attribute), .. } => {
            let (first, rest) = attribute.split_once('.').unwrap_or((attribute, ""));
            if let Some((origin, made)) = resource.as_str().split_once('.') {
                *resource = find(origin, made).unwrap_or(*resource);
            } else if let Some(name) = find(resource, first) {
                *resource = name;
                *attribute = rest.into();
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

fn is_none(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::Ref(name) if &**name == "AWS::NoValue")
}

/// Whether `Fn::If` gives no value in one of its branches.
fn gives_nothing(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::If { then, otherwise, .. } if is_none(then) || is_none(otherwise))
}
