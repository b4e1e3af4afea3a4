//! GraphQL interfaces: the schema, keys, sources of data, functions and resolvers that the transform makes.

use setpoint_source::{Range, Symbol};

use super::connectors::Connector;
use super::{Work, field, nothing, part};
use crate::value::{Field, Value, ValueKind};

const PART: &str = "the part of the interface that the transform makes";

/// What a name of a source of data or of a function stands for: the resource that is made, or a value.
type Known = Vec<(Symbol, Result<Symbol, Value>)>;

impl Work<'_> {
    pub(super) fn graphql_api(&mut self, name: Symbol) {
        let place = self.place(name);
        self.rename(name, "AWS::AppSync::GraphQLApi");
        let take = |work: &mut Self, property: &str| work.take(name, property);
        let schema = ["SchemaInline", "SchemaUri"].map(|property| take(self, property));
        if schema.iter().flatten().count() != 1 {
            self.template.omit(crate::omission::Omitted::Serverless(name), place);
        }
        let schema = schema.into_iter().flatten().collect();
        let schema = self.part_of(name, "Schema", "GraphQLSchema", place, map(place, schema));
        let auth = self.property(name, "Auth");
        let logging = take(self, "Logging");
        self.graphql_logging(name, logging.as_ref());
        for key in take(self, "ApiKeys").iter().flat_map(|keys| keys.value.fields()) {
            self.part_of(name, &key.name, "ApiKey", key.range, key.value.clone());
        }
        if let Some(cache) = take(self, "Cache") {
            self.part_of(name, "ApiCache", "ApiCache", cache.range, cache.value);
        }
        if let Some(domain) = take(self, "DomainName") {
            let kind = "AWS::AppSync::DomainName";
            let made = self.add(name, &format!("{name}DomainName"), kind, domain.range, domain.value);
            let range = domain.range;
            let link = self.part_of(
                name,
                "DomainNameApiAssociation",
                "DomainNameApiAssociation",
                range,
                nothing(range),
            );
            self.edge(link, made, PART, range);
        }
        let sources = take(self, "DataSources");
        let mut known = self.data_sources(name, sources.as_ref());
        let functions = take(self, "Functions");
        let functions = self.graphql_functions(name, functions.as_ref(), &mut known);
        let resolvers = take(self, "Resolvers");
        self.resolvers(name, schema, resolvers.as_ref(), &functions);
        self.graphql_authorizers(name, auth.as_ref());
    }

    /// Adds a resource that belongs to the interface, and names it.
    fn part_of(&mut self, api: Symbol, suffix: &str, kind: &str, range: Range, properties: Value) -> Symbol {
        let kind = format!("AWS::AppSync::{kind}");
        let made = self.add(api, &format!("{api}{suffix}"), &kind, range, properties);
        self.edge(made, api, PART, range);
        self.copy_depends_on(api, made);
        made
    }

    /// What the transform makes of an interface waits for what the interface waits for.
    fn copy_depends_on(&mut self, from: Symbol, to: Symbol) {
        let depends_on = self.template.resources.get(&from).map(|one| one.depends_on.clone());
        if let (Some(resource), Some(depends_on)) = (self.template.resources.get_mut(&to), depends_on) {
            resource.depends_on = depends_on;
        }
    }

    /// An interface writes its log with a role, which is made unless one is given.
    fn graphql_logging(&mut self, api: Symbol, logging: Option<&Field>) {
        let (range, role) = match logging {
            Some(one) if one.value.text().is_some_and(|text| text.eq_ignore_ascii_case("false")) => return,
            Some(one) => (one.range, one.value.get("CloudWatchLogsRoleArn").cloned()),
            None => (self.place(api), None),
        };
        self.give(api, logging.map(|one| &one.value));
        if role.is_none() {
            let id = format!("{api}CloudWatchRole");
            let role = self.add(api, &id, "AWS::IAM::Role", range, nothing(range));
            self.copy_depends_on(api, role);
            self.edge(api, role, "the role that the transform makes", range);
        }
    }

    fn data_sources(&mut self, api: Symbol, sources: Option<&Field>) -> Known {
        let mut known = Vec::new();
        for kind in sources.map(|sources| sources.value.fields()).unwrap_or_default() {
            let is_table = match &*kind.name {
                "DynamoDb" => true,
                "Lambda" => false,
                _ => {
                    self.omit(kind);
                    continue;
                }
            };
            for source in kind.value.fields() {
                let word = if is_table { "DynamoDB" } else { "Lambda" };
                let suffix = format!("{}{word}DataSource", source.name);
                let kept = part(&source.value, |field| !["TableArn", "Permissions"].contains(&field));
                let made = self.part_of(api, &suffix, "DataSource", source.range, kept);
                known.push((source.name, Ok(made)));
                if source.value.get("ServiceRoleArn").is_none() {
                    self.source_role(api, made, source, is_table);
                }
            }
        }
        known
    }

    /// Makes the role of a source of data, and what lets it reach the data.
    fn source_role(&mut self, api: Symbol, source: Symbol, said: &Field, is_table: bool) {
        let range = said.range;
        let role = self.add(api, &format!("{source}Role"), "AWS::IAM::Role", range, nothing(range));
        self.copy_depends_on(api, role);
        self.edge(source, role, "the role that the transform makes", range);
        let (address, kind, suffix) = if is_table {
            let table = said.value.get("TableArn").or_else(|| said.value.get("TableName"));
            (table, "AWS::DynamoDB::Table", "ToTableConnector")
        } else {
            (said.value.get("FunctionArn"), "AWS::Lambda::Function", "ToLambdaConnector")
        };
        let Some(address) = address else { return self.omit(said) };
        let reference = |name: Symbol| Value { range, kind: ValueKind::Ref(name) };
        let from = vec![
            field("Type", text("AWS::AppSync::DataSource", range)),
            field("Arn", reference(source)),
            field("RoleName", reference(role)),
        ];
        let to = vec![field("Type", text(kind, range)), field("Arn", address.clone())];
        let permissions: Vec<&str> = match said.value.get("Permissions").filter(|_| is_table) {
            Some(given) => given.items().iter().filter_map(Value::text).collect(),
            None if is_table => vec!["Read", "Write"],
            None => vec!["Write"],
        };
        let connector = Connector {
            name: Symbol::new(&format!("{source}{suffix}")),
            suffix: String::new(),
            source: &map(range, from),
            destination: &map(range, to),
            permissions,
            range,
        };
        if self.connect(&connector).is_none() {
            self.omit(said);
        }
        if let Some(region) = said.value.get("Region").filter(|_| said.value.get("TableArn").is_none()) {
            self.give(Symbol::new(&format!("{source}{suffix}Policy")), Some(region));
        }
    }

    fn graphql_functions(&mut self, api: Symbol, functions: Option<&Field>, sources: &mut Known) -> Known {
        let mut known = Vec::new();
        for function in functions.map(|functions| functions.value.fields()).unwrap_or_default() {
            if let Some(id) = function.value.get("Id") {
                known.push((function.name, Err(id.clone())));
                continue;
            }
            let kept = part(&function.value, |field| field != "DataSource");
            let made = self.part_of(api, &function.name, "FunctionConfiguration", function.range, kept);
            known.push((function.name, Ok(made)));
            match function.value.get("DataSource") {
                Some(source) => self.use_source(api, made, function, source, sources),
                None => self.omit(function),
            }
        }
        known
    }

    fn use_source(
        &mut self,
        api: Symbol,
        function: Symbol,
        said: &Field,
        source: &Value,
        sources: &mut Known,
    ) {
        let Some(name) = source.text() else { return self.give(function, Some(source)) };
        let wanted = if name.eq_ignore_ascii_case("none") { "none" } else { name };
        let wanted = Symbol::new(wanted);
        if &*wanted == "none" && !sources.iter().any(|(known, _)| *known == wanted) {
            let made = self.part_of(api, "NoneDataSource", "DataSource", said.range, nothing(said.range));
            sources.push((wanted, Ok(made)));
        }
        match sources.iter().find(|(known, _)| *known == wanted) {
            Some((_, Ok(source))) => self.edge(function, *source, PART, said.range),
            Some((_, Err(value))) => self.give(function, Some(value)),
            None => self.omit(said),
        }
    }

    fn resolvers(&mut self, api: Symbol, schema: Symbol, resolvers: Option<&Field>, functions: &Known) {
        for kind in resolvers.map(|resolvers| resolvers.value.fields()).unwrap_or_default() {
            for resolver in kind.value.fields() {
                let kept = part(&resolver.value, |field| field != "Pipeline");
                let id = format!("{api}{}{}", kind.name, resolver.name);
                let made = self.add(api, &id, "AWS::AppSync::Resolver", resolver.range, kept);
                self.edge(made, api, PART, resolver.range);
                self.edge(made, schema, PART, resolver.range);
                let pipeline = resolver.value.get("Pipeline").map(Value::items).unwrap_or_default();
                if pipeline.is_empty() {
                    self.omit(resolver);
                }
                for step in pipeline {
                    let known =
                        step.text().and_then(|name| functions.iter().find(|(known, _)| &**known == name));
                    match known {
                        Some((_, Ok(function))) => self.edge(made, *function, PART, resolver.range),
                        Some((_, Err(value))) => self.give(made, Some(value)),
                        None => self.omit(resolver),
                    }
                }
            }
        }
    }

    /// Makes the permissions by which an interface calls the functions that authorize its callers.
    fn graphql_authorizers(&mut self, api: Symbol, auth: Option<&Value>) {
        let Some(auth) = auth else { return };
        let more = auth.get("Additional").map(Value::items).unwrap_or_default();
        let functions = std::iter::once(auth).chain(more).filter_map(|one| {
            let is_function = one.get("Type").and_then(Value::text) == Some("AWS_LAMBDA");
            one.at(&["LambdaAuthorizer", "AuthorizerUri"]).filter(|_| is_function)
        });
        let functions: Vec<Value> = functions.cloned().collect();
        for (index, function) in functions.iter().enumerate() {
            let range = function.range;
            let id = format!("{api}ToLambdaAuthConnector{}WriteLambdaPermission", index + 1);
            let made = self.add(api, &id, "AWS::Lambda::Permission", range, nothing(range));
            if let Some(resource) = self.template.resources.get_mut(&made) {
                resource.condition = None;
            }
            self.give(made, Some(function));
            self.edge(made, api, PART, range);
        }
    }
}

fn map(range: Range, fields: Vec<Field>) -> Value {
    Value { range, kind: ValueKind::Map(fields) }
}

fn text(text: &str, range: Range) -> Value {
    Value { range, kind: ValueKind::Text(text.into()) }
}
