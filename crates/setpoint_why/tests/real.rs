//! Real modules: every parameter of every resource is explained down to inputs that exist.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, reason = "a test may fail anywhere")]
#![allow(clippy::print_stderr, reason = "a count of what was compared")]

#[path = "shop/mod.rs"]
mod shop;

use std::path::Path;

use setpoint_provenance::{Leaf, LeafKind, Node};
use setpoint_puppet::{Compilation, Environment};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Sources;
use setpoint_testing::{repository, skip};
use setpoint_why::{Query, Target};

/// Every leaf of the expressions of all parameters must be a place that exists, or have a name.
fn check(compilation: &Compilation, environment: &Environment<'_>, sources: &Sources) -> (usize, usize) {
    let catalog =
        compilation.catalog.as_ref().unwrap_or_else(|| panic!("{:?}", compilation.diagnostics.first()));
    let arena = &compilation.arena;
    let mut query = Query::new(compilation, environment).expect("it compiled");
    let (mut parameters, mut leaves) = (0, 0);
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        for parameter in &resource.parameters {
            let what = format!("{resource}.{}", parameter.name);
            if is_opaque(&parameter.value) {
                continue;
            }
            parameters += 1;
            let mut nodes = Vec::new();
            nodes_of(&parameter.value, &mut nodes);
            let made_of: Vec<Leaf> =
                nodes.iter().flat_map(|node| arena.made_of(*node)).map(|(_, leaf)| leaf).collect();
            // An empty collection is made of nothing, at a place.
            let made_at = match arena.node(arena.made_by(parameter.value.prov)) {
                Some(Node::Operation { span: Some(span), .. }) => {
                    Path::new(sources.file(span.file).path()).is_file()
                }
                _ => false,
            };
            assert!(
                !made_of.is_empty() || made_at,
                "{what} is made of nothing: {:?}",
                arena.node(parameter.value.prov)
            );
            for leaf in made_of {
                leaves += 1;
                assert!(exists(&leaf, sources), "{what}: {leaf:?}");
            }
        }
        let answer = query.answer(&Target::Resource(id));
        let first = ["Stage[main]", "Class[Settings]", "Class[main]"].contains(&answer.resource.as_str());
        assert!(first || !answer.reasons.is_empty(), "{resource} is there for no reason");
    }
    (parameters, leaves)
}

fn exists(leaf: &Leaf, sources: &Sources) -> bool {
    match leaf.span {
        Some(span) => {
            let file = sources.file(span.file);
            let inline = matches!(file.path(), "main.pp" | "inlined-epp-text");
            inline || Path::new(file.path()).is_file()
        }
        None => leaf.name.is_some() || leaf.kind == LeafKind::Fact,
    }
}

fn is_opaque(value: &Value) -> bool {
    match &value.data {
        Data::Opaque(_) => true,
        Data::Array(items) => items.iter().any(is_opaque),
        Data::Hash(entries) => entries.values().any(is_opaque),
        Data::Sensitive(inner) => is_opaque(inner),
        _ => false,
    }
}

fn nodes_of(value: &Value, nodes: &mut Vec<setpoint_provenance::Prov>) {
    nodes.push(value.prov);
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| nodes_of(item, nodes)),
        Data::Hash(entries) => entries.values().for_each(|item| nodes_of(item, nodes)),
        Data::Sensitive(inner) => nodes_of(inner, nodes),
        _ => {}
    }
}

#[test]
fn all_of_apache_is_explained() {
    if !Path::new(shop::MODULES).join("apache").is_dir() {
        return skip("why: apache", "the module is not on this machine");
    }
    let sources = Sources::new();
    let code = "include apache\napache::vhost { 'shop': port => 80, docroot => '/srv/shop' }\n";
    let (environment, compilation) = shop::apache(&sources, code);
    let (parameters, leaves) = check(&compilation, &environment, &sources);
    assert!(parameters > 300, "{parameters} parameters");
    eprintln!("{parameters} parameters, {leaves} leaves");
}

#[test]
fn all_of_the_example_control_repository_is_explained() {
    std::env::set_current_dir(repository()).expect("the root of the repository");
    for name in ["web1", "web2", "web3", "db1", "db2", "mon1", "build1"] {
        let sources = Sources::new();
        let (environment, compilation) = shop::shop(&sources, &format!("{name}.shop.example"));
        let (parameters, _) = check(&compilation, &environment, &sources);
        assert!(parameters > 20, "{name}: {parameters} parameters");
    }
}
