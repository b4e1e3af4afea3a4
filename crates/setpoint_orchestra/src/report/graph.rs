//! Objects and links as a graph: of instances if there are any, else of the classes themselves.

use serde_json::{Value, json};
use setpoint_diagram::{Diagram, Edge as Line, Group, Legend, Node as Shape, Style};

use crate::instance::Instance;
use crate::model::Model;

/// As a drawing: an object stands to the right of those that it links to.
pub fn graph_diagram(model: &Model, instances: &[Instance]) -> Diagram {
    let legend = Legend { plain: "is linked to by", ..Legend::default() };
    let mut out = Diagram { title: model.name.to_string(), legend, ..Diagram::default() };
    let line = |source, target, name: &str| Line {
        source,
        target,
        style: Style::Plain,
        details: name.to_owned(),
        wrong: false,
    };
    if instances.is_empty() {
        for (at, class) in model.classes.iter().enumerate() {
            let details = class.states.iter().map(ToString::to_string).collect();
            let (kind, name) = ("class".to_owned(), class.name.to_string());
            out.nodes.push(Shape { kind, name, details, ..Shape::default() });
            out.edges.extend(class.links.iter().map(|link| line(usize::from(link.target.0), at, &link.name)));
        }
    }
    for (group, instance) in instances.iter().enumerate() {
        out.groups.push(Group { label: instance.name.clone(), parent: None });
        let first = out.nodes.len();
        for (at, object) in instance.objects.iter().enumerate() {
            let class = model.class(object.class);
            let kind = object.kind.and_then(|kind| class.types.get(kind as usize)).unwrap_or(&class.name);
            let (kind, name) = (kind.to_string(), object.id.clone());
            // The first state is where objects begin; another one is said.
            let state = object.state.filter(|&state| state > 0);
            let details = state.and_then(|state| class.states.get(state as usize)).map(ToString::to_string);
            let details = details.into_iter().collect();
            out.nodes.push(Shape { kind, name, group: Some(group), details, ..Shape::default() });
            for (declared, link) in class.links.iter().zip(&object.links) {
                out.edges.push(line(first + link.target.index(), first + at, &declared.name));
            }
        }
    }
    out
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
