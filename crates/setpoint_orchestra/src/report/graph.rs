//! Objects and links as a graph: of instances if there are any, else of the classes themselves.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::instance::Instance;
use crate::model::Model;

/// Graphviz's language.
pub fn graph_dot(model: &Model, instances: &[Instance]) -> String {
    let mut out = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(&model.name));
    if instances.is_empty() {
        for class in &model.classes {
            let states: Vec<&str> = class.states.iter().map(|state| state.as_str()).collect();
            let label = format!("{}\\n{}", class.name, states.join(", "));
            let _ = writeln!(out, "  {} [label={}];", quoted(&class.name), quoted(&label));
            for link in &class.links {
                let target = &model.class(link.target).name;
                let _ = writeln!(
                    out,
                    "  {} -> {} [label={}];",
                    quoted(&class.name),
                    quoted(target),
                    quoted(&link.name)
                );
            }
        }
    }
    for (number, instance) in instances.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(&instance.name));
        let node = |at: usize| format!("i{number}_{at}");
        for (at, object) in instance.objects.iter().enumerate() {
            let class = model.class(object.class);
            let kind = object.kind.and_then(|kind| class.types.get(kind as usize));
            let label = match kind {
                Some(kind) => format!("{}\\n{} {kind}", object.id, class.name),
                None => format!("{}\\n{}", object.id, class.name),
            };
            let _ = writeln!(out, "    {} [label={}];", node(at), quoted(&label));
            for (declared, link) in class.links.iter().zip(&object.links) {
                let _ = writeln!(
                    out,
                    "    {} -> {} [label={}];",
                    node(at),
                    node(link.target.index()),
                    quoted(&declared.name)
                );
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

/// `{"model", "classes": […], "instances": [{"name", "objects": […], "links": […]}]}`.
pub fn graph_json(model: &Model, instances: &[Instance]) -> Value {
    let classes: Vec<Value> = model
        .classes
        .iter()
        .map(|class| {
            let links: Vec<Value> = class
                .links
                .iter()
                .map(|link| {
                    json!({
                        "name": &*link.name,
                        "target": &*model.class(link.target).name,
                        "one_to_one": link.one_to_one,
                        "onto": link.onto,
                    })
                })
                .collect();
            let names = |list: &[setpoint_source::Symbol]| -> Vec<String> {
                list.iter().map(ToString::to_string).collect()
            };
            json!({
                "name": &*class.name,
                "types": names(&class.types),
                "states": names(&class.states),
                "messages": names(&class.messages),
                "links": links,
            })
        })
        .collect();
    let instances: Vec<Value> = instances
        .iter()
        .map(|instance| {
            let objects: Vec<Value> = instance
                .objects
                .iter()
                .map(|object| {
                    let class = model.class(object.class);
                    let kind =
                        object.kind.and_then(|kind| class.types.get(kind as usize)).map(ToString::to_string);
                    json!({ "id": object.id, "class": &*class.name, "type": kind })
                })
                .collect();
            let links: Vec<Value> = instance
                .objects
                .iter()
                .flat_map(|object| {
                    let class = model.class(object.class);
                    class.links.iter().zip(&object.links).map(move |(declared, link)| {
                        let target = &instance.object(link.target).id;
                        json!({ "from": object.id, "link": &*declared.name, "to": target })
                    })
                })
                .collect();
            json!({ "name": instance.name, "objects": objects, "links": links })
        })
        .collect();
    json!({ "model": &*model.name, "classes": classes, "instances": instances })
}
