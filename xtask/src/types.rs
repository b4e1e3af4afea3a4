//! Makes the table of CloudFormation's resource types out of AWS's published schemas.
//!
//! Only facts are kept: names of types and of their properties, the kinds of value that each takes, which are required,
//! given by AWS, fixed at creation, or the name of the resource, and the parts of mappings and lists. The schemas are read from a folder, such as the one that cfn-lint's wheel installs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder with one schema of a resource type a file
    schemas: PathBuf,
}

/// References of a schema to its own definitions are followed this far.
const MAX_DEPTH: usize = 8;

/// Types of which `Fn::GetAtt` gives every property, not only those that AWS gives a value.
const ALL_ATTRIBUTES: &[&str] = &[
    "AWS::Amplify::Branch",
    "AWS::Amplify::Domain",
    "AWS::AppSync::DomainName",
    "AWS::AppSync::FunctionConfiguration",
    "AWS::AppSync::Resolver",
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::Backup::BackupSelection",
    "AWS::Backup::BackupVault",
    "AWS::Backup::LogicallyAirGappedBackupVault",
    "AWS::CodeArtifact::Domain",
    "AWS::CodeArtifact::Repository",
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::Instance",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::VPC",
    "AWS::EFS::MountTarget",
    "AWS::EKS::Nodegroup",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::Events::EventBus",
    "AWS::EventSchemas::Discoverer",
    "AWS::EventSchemas::Registry",
    "AWS::EventSchemas::Schema",
    "AWS::GameLift::GameSessionQueue",
    "AWS::GameLift::MatchmakingConfiguration",
    "AWS::GameLift::MatchmakingRuleSet",
    "AWS::Grafana::Workspace",
    "AWS::Greengrass::ConnectorDefinition",
    "AWS::Greengrass::CoreDefinition",
    "AWS::Greengrass::DeviceDefinition",
    "AWS::Greengrass::FunctionDefinition",
    "AWS::Greengrass::Group",
    "AWS::Greengrass::LoggerDefinition",
    "AWS::Greengrass::ResourceDefinition",
    "AWS::Greengrass::SubscriptionDefinition",
    "AWS::ImageBuilder::Component",
    "AWS::ImageBuilder::ContainerRecipe",
    "AWS::ImageBuilder::DistributionConfiguration",
    "AWS::ImageBuilder::ImagePipeline",
    "AWS::ImageBuilder::ImageRecipe",
    "AWS::ImageBuilder::InfrastructureConfiguration",
    "AWS::ManagedBlockchain::Node",
    "AWS::Neptune::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::RDS::DBParameterGroup",
    "AWS::RedshiftServerless::Workgroup",
    "AWS::RoboMaker::RobotApplication",
    "AWS::RoboMaker::SimulationApplication",
    "AWS::Route53Resolver::ResolverRule",
    "AWS::Route53Resolver::ResolverRuleAssociation",
    "AWS::S3::AccessPoint",
    "AWS::SageMaker::DataQualityJobDefinition",
    "AWS::SageMaker::ModelBiasJobDefinition",
    "AWS::SageMaker::ModelExplainabilityJobDefinition",
    "AWS::SageMaker::ModelQualityJobDefinition",
    "AWS::SageMaker::MonitoringSchedule",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
    "AWS::SSM::Parameter",
    "AWS::StepFunctions::Activity",
];

/// Properties that `Fn::GetAtt` gives although the template sets them.
const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("AWS::AppMesh::GatewayRoute", &["GatewayRouteName", "MeshName", "MeshOwner", "VirtualGatewayName"]),
    ("AWS::AppMesh::Mesh", &["MeshName"]),
    ("AWS::AppMesh::Route", &["MeshName", "MeshOwner", "RouteName", "VirtualRouterName"]),
    ("AWS::AppMesh::VirtualGateway", &["MeshName", "MeshOwner", "VirtualGatewayName"]),
    ("AWS::AppMesh::VirtualNode", &["MeshName", "MeshOwner", "VirtualNodeName"]),
    ("AWS::AppMesh::VirtualRouter", &["MeshName", "MeshOwner", "VirtualRouterName"]),
    ("AWS::AppMesh::VirtualService", &["MeshName", "MeshOwner", "VirtualServiceName"]),
    ("AWS::AppSync::DataSource", &["Name"]),
    ("AWS::Cloud9::EnvironmentEC2", &["Name"]),
    ("AWS::CloudWatch::InsightRule", &["RuleName"]),
    ("AWS::DocDB::DBCluster", &["Port"]),
    ("AWS::Greengrass::ConnectorDefinition", &["Name"]),
    ("AWS::Greengrass::CoreDefinition", &["Name"]),
    ("AWS::Greengrass::DeviceDefinition", &["Name"]),
    ("AWS::Greengrass::FunctionDefinition", &["Name"]),
    ("AWS::Greengrass::Group", &["Name", "RoleArn"]),
    ("AWS::Greengrass::LoggerDefinition", &["Name"]),
    ("AWS::Greengrass::ResourceDefinition", &["Name"]),
    ("AWS::Greengrass::SubscriptionDefinition", &["Name"]),
    ("AWS::IoT1Click::Device", &["Enabled"]),
    ("AWS::IoT1Click::Placement", &["PlacementName", "ProjectName"]),
    ("AWS::IoT1Click::Project", &["ProjectName"]),
    ("AWS::Kinesis::StreamConsumer", &["ConsumerName", "StreamARN"]),
    ("AWS::ManagedBlockchain::Member", &["NetworkId"]),
    ("AWS::MediaConvert::JobTemplate", &["Name"]),
    ("AWS::MediaConvert::Preset", &["Name"]),
    ("AWS::MediaConvert::Queue", &["Name"]),
    ("AWS::MediaLive::Input", &["Destinations", "Sources"]),
    ("AWS::OpsWorks::Instance", &["AvailabilityZone"]),
    ("AWS::OpsWorks::UserProfile", &["SshUsername"]),
    ("AWS::Route53Resolver::ResolverEndpoint", &["Direction", "Name"]),
    ("AWS::SageMaker::CodeRepository", &["CodeRepositoryName"]),
    ("AWS::SageMaker::Endpoint", &["EndpointName"]),
    ("AWS::SageMaker::EndpointConfig", &["EndpointConfigName"]),
    ("AWS::SageMaker::Model", &["ModelName"]),
    ("AWS::SageMaker::NotebookInstance", &["NotebookInstanceName"]),
    ("AWS::SageMaker::NotebookInstanceLifecycleConfig", &["NotebookInstanceLifecycleConfigName"]),
    ("AWS::SageMaker::Workteam", &["WorkteamName"]),
    ("AWS::ServiceDiscovery::Service", &["Name"]),
    ("AWS::Transfer::User", &["ServerId", "UserName"]),
];

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    for file in setpoint_testing::files_below(&arguments.schemas) {
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let schema: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        if let Some(name) = schema["typeName"].as_str() {
            let mut parts = Parts { schema: &schema, known: BTreeMap::new(), lines: BTreeMap::new() };
            types.insert(name.to_owned(), properties(&schema, &mut parts));
            let lines = parts.lines.into_iter();
            types.extend(lines.map(|(number, line)| (format!("{name}#{number}"), line)));
        }
    }
    if types.is_empty() {
        return Err(format!("{} has no schemas", arguments.schemas.display()));
    }
    let mut table = String::new();
    for (name, properties) in &types {
        writeln!(table, "{name}{properties}").map_err(|error| error.to_string())?;
    }
    let path = repository().join("crates/setpoint_cloudformation/src/types.txt");
    std::fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{} types", types.keys().filter(|name| !name.contains('#')).count());
    Ok(())
}

/// Returns ` Name:kinds` for each property; `!` is required, `^` fixed at creation, `~` fixed in part or in some cases, `=`
/// given by AWS, `+` an attribute although it is not, `@` a part of what identifies the resource; `#` is followed by what
/// [`Parts`] say. ` %` marks a type whose old resource is deleted before the new one is created.
fn properties(schema: &Value, parts: &mut Parts<'_>) -> String {
    let listed = |list: &str| -> Vec<String> {
        let pointers = schema[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        pointers.filter_map(|pointer| pointer.strip_prefix("/properties/")).map(str::to_owned).collect()
    };
    let (given, fixed) = (listed("readOnlyProperties"), listed("createOnlyProperties"));
    let (at_times, identifier) = (listed("conditionalCreateOnlyProperties"), listed("primaryIdentifier"));
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let type_name = schema["typeName"].as_str().unwrap_or_default();
    let attributes = ATTRIBUTES.iter().find(|(name, _)| *name == type_name).map(|(_, names)| *names);
    let is_attribute = |name: &str| {
        ALL_ATTRIBUTES.contains(&type_name) || attributes.is_some_and(|names| names.contains(&name))
    };
    let has_part = |list: &[String], name: &str| {
        list.iter().any(|one| one.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
    };
    let mut out = String::new();
    if schema["replacementStrategy"].as_str() == Some("delete_then_create") {
        out.push_str(" %");
    }
    let all: BTreeMap<_, _> = schema["properties"].as_object().into_iter().flatten().collect();
    for (name, property) in all {
        let is_given = given.contains(name);
        let is_fixed_in_part = has_part(&fixed, name) || at_times.contains(name) || has_part(&at_times, name);
        let marks = [
            (required.contains(&name.as_str()), '!'),
            (fixed.contains(name), '^'),
            (!fixed.contains(name) && is_fixed_in_part, '~'),
            (is_given, '='),
            (!is_given && is_attribute(name), '+'),
            (identifier.contains(name), '@'),
        ];
        out.push(' ');
        out.push_str(name);
        out.push(':');
        out.push_str(&kinds(property, schema, MAX_DEPTH));
        out.extend(marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark));
        if !is_given {
            out.push_str(&parts.of(property));
        }
    }
    // Attributes inside of mappings, such as `Endpoint.Address`.
    let mut inner: Vec<String> = given.iter().filter(|name| name.contains('/')).cloned().collect();
    inner.sort_unstable();
    inner.dedup();
    for name in inner.iter().filter(|name| !name.contains('*')) {
        out.push_str(&format!(" {}:?=", name.replace('/', ".")));
    }
    out
}

/// The mappings below the properties of a type, each once and by a number.
struct Parts<'a> {
    schema: &'a Value,
    /// The number of each mapping, by its schema.
    known: BTreeMap<String, usize>,
    /// The line of each: ` Name:kinds` for each of its keys, `!` if it is required.
    lines: BTreeMap<usize, String>,
}

impl Parts<'_> {
    /// Returns `#` and the number of the mapping that a value is, or that the items of a list are; for items of other kinds `#`
    /// and their letters; nothing if the schema leaves open what is inside.
    fn of(&mut self, schema: &Value) -> String {
        let schema = resolve(schema, self.schema);
        let number = match kinds(schema, self.schema, MAX_DEPTH).as_str() {
            "m" => self.number(schema),
            "l" => {
                let items = resolve(&schema["items"], self.schema);
                match kinds(items, self.schema, MAX_DEPTH).as_str() {
                    "?" => None,
                    "m" => self.number(items).or(Some("m".to_owned())),
                    letters => Some(letters.to_owned()),
                }
            }
            _ => None,
        };
        number.map(|number| format!("#{number}")).unwrap_or_default()
    }

    fn number(&mut self, schema: &Value) -> Option<String> {
        let properties = schema["properties"].as_object().filter(|properties| !properties.is_empty())?;
        let is_open = !schema["patternProperties"].is_null()
            || !matches!(schema["additionalProperties"], Value::Null | Value::Bool(false));
        if is_open {
            return None;
        }
        let key = schema.to_string();
        if let Some(number) = self.known.get(&key) {
            return Some(number.to_string());
        }
        let number = self.known.len() + 1;
        self.known.insert(key, number);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut line = String::new();
        for (name, part) in properties.iter().collect::<BTreeMap<_, _>>() {
            let mark = if required.contains(&name.as_str()) { "!" } else { "" };
            let kinds = kinds(part, self.schema, MAX_DEPTH);
            line.push_str(&format!(" {name}:{kinds}{mark}{}", self.of(part)));
        }
        self.lines.insert(number, line);
        Some(number.to_string())
    }
}

/// Follows references of a schema to its own definitions.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..MAX_DEPTH {
        let Some(pointer) = at["$ref"].as_str().and_then(|pointer| pointer.strip_prefix('#')) else { break };
        at = root.pointer(pointer).unwrap_or(&Value::Null);
    }
    at
}

/// Returns the kinds of value that a schema allows, one letter each; `?` if it does not say.
fn kinds(schema: &Value, root: &Value, depth: usize) -> String {
    const UNKNOWN: &str = "?";
    if depth == 0 {
        return UNKNOWN.to_owned();
    }
    if let Some(pointer) = schema["$ref"].as_str() {
        let target = pointer.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(UNKNOWN.to_owned(), |target| kinds(target, root, depth - 1));
    }
    let mut letters: Vec<char> = Vec::new();
    match &schema["type"] {
        Value::String(kind) => letters.push(letter(kind)),
        Value::Array(several) => letters.extend(several.iter().filter_map(Value::as_str).map(letter)),
        _ => {
            let choices = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
            for choice in choices.flatten() {
                letters.extend(kinds(choice, root, depth - 1).chars());
            }
        }
    }
    letters.sort_unstable();
    letters.dedup();
    if letters.is_empty() || letters.contains(&'?') { UNKNOWN.to_owned() } else { letters.iter().collect() }
}

fn letter(kind: &str) -> char {
    match kind {
        "string" => 's',
        "integer" | "number" => 'n',
        "boolean" => 'b',
        "array" => 'l',
        "object" => 'm',
        _ => '?',
    }
}
