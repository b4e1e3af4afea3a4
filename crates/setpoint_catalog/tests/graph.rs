//! The relationship graph and the order of application are Puppet's, for every graph in the corpora.

#![allow(clippy::unwrap_used, reason = "a corpus that cannot be read fails the test")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use setpoint_catalog::graph::{Cause, Edge, Graph, Node, NodeId, ShippedTypes, Types, is_suitable};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, Resource, display_name, native_type, read};
use setpoint_source::OsFileSystem;

fn graphs(folders: &[&str]) -> Vec<PathBuf> {
    let Some(shared) = setpoint_testing::shared() else {
        setpoint_testing::skip("graph corpus", "the corpora are not beside the repository");
        return Vec::new();
    };
    let mut found = Vec::new();
    for folder in folders {
        collect(&shared.join("corpus/puppet").join(folder), &mut found);
    }
    assert!(found.len() > 25, "the corpus has {} graphs", found.len());
    found.sort();
    found
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.to_string_lossy().ends_with(".graph.json") {
            out.push(path);
        }
    }
}

/// A node as Puppet names it. Containers are pairs of whits, whose names Puppet capitalises.
fn name(catalog: &Catalog, node: Node) -> String {
    let whit = |side: &str, resource: &Resource| {
        let type_name = display_name(&format!("{side}_{}", resource.type_name));
        let title = if &*resource.title == "main" && resource.is_class() { "Main" } else { &resource.title };
        format!("Whit[{type_name}[{title}]]")
    };
    match node {
        Node::Resource(id) => catalog[id].reference(),
        Node::Begin(id) => whit("admissible", &catalog[id]),
        Node::End(id) => whit("completed", &catalog[id]),
        Node::Default(type_name, title) => format!("{type_name}[{title}]"),
    }
}

fn edge_text(catalog: &Catalog, graph: &Graph, edge: &Edge) -> String {
    let label = match edge.cause {
        _ if edge.refreshes() => "ALL_EVENTS",
        Cause::Auto { .. } => "NONE",
        _ => "",
    };
    format!(
        "{} -> {} {label}",
        name(catalog, graph.node(edge.source)),
        name(catalog, graph.node(edge.target))
    )
}

/// The differences between a graph and what Puppet says, one a line.
fn differences(path: &Path, types: &dyn Types) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let want: Json = serde_json::from_str(&text).unwrap();
    let catalog_path = path.to_string_lossy().replace(".graph.json", ".catalog.json");
    let catalog = read::json(&std::fs::read_to_string(catalog_path).unwrap()).unwrap();
    let graph = Graph::new(&catalog, types).unwrap();

    let strings = |list: &Json| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let mut wanted_edges: Vec<String> = want["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            format!("{} -> {} {}", text_of(edge, "source"), text_of(edge, "target"), text_of(edge, "event"))
        })
        .collect();
    wanted_edges.sort();
    let mut edges: Vec<String> = graph.edges().iter().map(|edge| edge_text(&catalog, &graph, edge)).collect();
    edges.sort();
    let mut vertices: Vec<String> = graph.nodes().iter().map(|node| name(&catalog, *node)).collect();
    vertices.sort();
    // The graphs were made on a Debian machine, on which the tools of some modules' providers are not installed.
    let wanted_order = strings(&want["order"]);
    let order = graph.order_where(|id| {
        let resource = &catalog[id];
        let shipped = native_type(&resource.type_name).is_some();
        if shipped { is_suitable(resource, "Debian") } else { wanted_order.contains(&resource.reference()) }
    });
    let order: Vec<String> =
        order.applied.into_iter().map(|id: NodeId| name(&catalog, graph.node(id))).collect();
    let mut found = only_in_one(&strings(&want["vertices"]), &vertices);
    found += &only_in_one(&wanted_edges, &edges);
    if found.is_empty() && wanted_order != order {
        found += &setpoint_testing::diff(&wanted_order.join("\n"), &order.join("\n"));
    }
    found
}

/// The items of two sorted lists that the other list lacks.
fn only_in_one(wanted: &[String], found: &[String]) -> String {
    let count = |list: &[String], item: &String| list.iter().filter(|other| *other == item).count();
    let missing = wanted
        .iter()
        .filter(|item| count(wanted, item) > count(found, item))
        .map(|item| format!("- {item}\n"));
    let extra = found
        .iter()
        .filter(|item| count(found, item) > count(wanted, item))
        .map(|item| format!("+ {item}\n"));
    missing.chain(extra).collect()
}

fn text_of<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

fn compare(folders: &[&str], types: &dyn Types) {
    let mut problems = String::new();
    for path in graphs(folders) {
        let found = differences(&path, types);
        if !found.is_empty() {
            problems.extend([&path.display().to_string(), "\n", &found, "\n"]);
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn graphs_and_orders_are_puppets() {
    compare(&["upuppet", "rehearsal"], &ShippedTypes);
}

#[test]
fn graphs_of_real_modules_are_puppets() {
    let modules = Path::new("/usr/share/puppet/modules");
    if !modules.join("stdlib").is_dir() {
        setpoint_testing::skip("graphs of modules", "Debian's modules are not installed");
        return;
    }
    let types = ModuleTypes::new(&OsFileSystem, vec![modules.to_owned()]);
    compare(&["modules"], &types);
}
