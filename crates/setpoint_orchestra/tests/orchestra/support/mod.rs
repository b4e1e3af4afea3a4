//! Topologies for tests, built by names.
#![allow(dead_code, unreachable_pub, clippy::expect_used)]

use setpoint_orchestra::{Instance, InstanceBuilder, Model, load_model_text, models};
use setpoint_source::Sources;
use setpoint_testing::Random;

pub fn tosca() -> Model {
    models::TOSCA_SETUP.load(&Sources::new()).expect("the built-in model loads")
}

pub fn cloudformation() -> Model {
    models::CLOUDFORMATION_SETUP.load(&Sources::new()).expect("the built-in model loads")
}

/// A model from text; what is wrong with it fails the test.
pub fn model(text: &str) -> Model {
    model_with_instances(text).0
}

pub fn model_with_instances(text: &str) -> (Model, Vec<Instance>) {
    let loaded = load_model_text(&Sources::new(), "test.spm", text);
    let messages: Vec<String> = loaded.diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    (loaded.model.expect("a model without errors"), loaded.instances)
}

/// A TOSCA topology: nodes, and relationships (type, source, target).
pub fn topology(model: &Model, nodes: &[&str], links: &[(&str, &str, &str)]) -> Instance {
    let mut builder = InstanceBuilder::new(model, "test");
    for node in nodes {
        let object = builder.object("node", *node, None);
        builder.kind(object, "SC");
    }
    for (at, (kind, source, target)) in links.iter().enumerate() {
        for (class, end) in [("capability", target), ("requirement", source)] {
            let object = builder.object(class, format!("{class}{at}"), None);
            builder.kind(object, kind);
            builder.link(object, "node", *end, None);
        }
        let object = builder.object("relationship", format!("link{at}"), None);
        builder.kind(object, kind);
        builder.link(object, "cap", format!("capability{at}"), None);
        builder.link(object, "req", format!("requirement{at}"), None);
    }
    builder.finish().expect("a well-formed topology")
}

/// A CloudFormation stack: resources, and references (from, to).
pub fn stack(model: &Model, resources: &[&str], references: &[(&str, &str)]) -> Instance {
    let mut builder = InstanceBuilder::new(model, "test");
    for resource in resources {
        builder.object("resource", *resource, None);
    }
    for (at, (from, to)) in references.iter().enumerate() {
        let object = builder.object("property", format!("p{at}"), None);
        builder.link(object, "parent", *from, None);
        builder.link(object, "refer", *to, None);
    }
    builder.finish().expect("a well-formed stack")
}

/// The example of the dissertation: a web application on one machine, its database on another.
pub fn nine_nodes(model: &Model) -> Instance {
    topology(
        model,
        &[
            "VMApache",
            "OSApache",
            "ApacheWebServer",
            "CRMApp",
            "PhpModule",
            "VMMySQL",
            "OSMySQL",
            "MySQL",
            "CRMDB",
        ],
        &[
            ("hostedOn", "OSApache", "VMApache"),
            ("hostedOn", "ApacheWebServer", "OSApache"),
            ("hostedOn", "CRMApp", "ApacheWebServer"),
            ("hostedOn", "PhpModule", "ApacheWebServer"),
            ("hostedOn", "OSMySQL", "VMMySQL"),
            ("hostedOn", "MySQL", "OSMySQL"),
            ("hostedOn", "CRMDB", "MySQL"),
            ("dependsOn", "CRMApp", "PhpModule"),
            ("connectsTo", "CRMApp", "CRMDB"),
        ],
    )
}

/// Up to four nodes, and up to four links between different ones; links may repeat and share their ends.
pub fn random_topology(random: &mut Random) -> (usize, Vec<(&'static str, usize, usize)>) {
    let nodes = 1 + random.below(4);
    let links = if nodes == 1 { 0 } else { random.below(5) };
    let links = (0..links)
        .map(|_| {
            let kind = ["hostedOn", "dependsOn", "connectsTo"][random.below(3)];
            let from = random.below(nodes);
            let to = (from + 1 + random.below(nodes - 1)) % nodes;
            (kind, from, to)
        })
        .collect();
    (nodes, links)
}

/// Up to five resources, and up to six references, to oneself as well.
pub fn random_stack(random: &mut Random) -> (usize, Vec<(usize, usize)>) {
    let resources = 1 + random.below(5);
    let references =
        (0..random.below(7)).map(|_| (random.below(resources), random.below(resources))).collect();
    (resources, references)
}
