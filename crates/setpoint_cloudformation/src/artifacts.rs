//! Local files that are deployed with a stack: the code of functions, the text of interfaces and state machines.
//!
//! `aws cloudformation package` and `sam` upload them. Whether such a file is there decides whether the stack can be made, and
//! it may be the result of a build.

use setpoint_source::{Range, Symbol};

use crate::template::Template;

/// A local path that a resource names.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    pub(crate) resource: Symbol,
    pub(crate) path: String,
    pub(crate) range: Range,
}

/// The properties that may name a local file, by type. Templates of nested stacks are read, and not among them.
const PROPERTIES: &[(&str, &[&str])] = &[
    ("AWS::Serverless::Function", &["CodeUri"]),
    ("AWS::Serverless::LayerVersion", &["ContentUri"]),
    ("AWS::Serverless::Api", &["DefinitionUri"]),
    ("AWS::Serverless::HttpApi", &["DefinitionUri"]),
    ("AWS::Serverless::StateMachine", &["DefinitionUri"]),
    ("AWS::Serverless::GraphQLApi", &["SchemaUri"]),
    ("AWS::Lambda::Function", &["Code"]),
    ("AWS::Lambda::LayerVersion", &["Content"]),
    ("AWS::ApiGateway::RestApi", &["BodyS3Location"]),
    ("AWS::ElasticBeanstalk::ApplicationVersion", &["SourceBundle"]),
    ("AWS::AppSync::GraphQLSchema", &["DefinitionS3Location"]),
    (
        "AWS::AppSync::Resolver",
        &["RequestMappingTemplateS3Location", "ResponseMappingTemplateS3Location", "CodeS3Location"],
    ),
    ("AWS::StepFunctions::StateMachine", &["DefinitionS3Location"]),
];

/// Whether a text in a property may name a local file, for tools that upload it.
pub(crate) fn may_be_file(kind: &str, property: &str) -> bool {
    PROPERTIES.iter().any(|(known, properties)| *known == kind && properties.contains(&property))
}

/// The artifacts of a template. Addresses are not local, and an expression names none.
pub(crate) fn find(template: &Template) -> Vec<Artifact> {
    let mut out = Vec::new();
    for resource in template.resources.values() {
        let known = PROPERTIES.iter().find(|(kind, _)| *kind == resource.kind.as_str());
        for property in known.map(|(_, properties)| *properties).unwrap_or_default() {
            let values = std::iter::once(&resource.properties).chain(&resource.others);
            for value in values.filter_map(|value| value.get(property)) {
                let path = value.text().filter(|path| !path.is_empty() && !path.contains("://"));
                out.extend(path.map(|path| Artifact {
                    resource: resource.name,
                    path: path.to_owned(),
                    range: value.range,
                }));
            }
        }
    }
    out
}
