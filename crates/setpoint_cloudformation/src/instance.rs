//! A template as an instance of the set-up model, for one choice of parameters.

use setpoint_orchestra::{Instance, InstanceBuilder, InstanceError, Model};

use crate::Analysis;
use crate::conditions::Logic;
use crate::graph::Stack;

/// The stack that the parameters' defaults make: a resource object for each resource, a property object for each
/// reference and `DependsOn`.
pub fn instance(analysis: &Analysis, model: &Model) -> Result<Instance, Vec<InstanceError>> {
    let Analysis { template, graph, .. } = analysis;
    let logic = Logic::new(template);
    let stack = Stack { template, graph, logic: &logic };
    let valuation = logic.defaults(template);
    let mut builder = InstanceBuilder::new(model, "stack");
    for resource in template.resources.values() {
        if valuation.allows(&stack.exists(resource.name)) {
            builder.object("resource", resource.name.as_str(), Some(template.span(resource.name_range)));
        }
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        if valuation.allows(&stack.edge_guard(edge)) {
            let span = Some(template.span(edge.range));
            let id = format!("{}.{}#{index}", edge.from, edge.via.describe());
            let property = builder.object("property", id, span);
            builder.link(property, "parent", edge.from.as_str(), span);
            builder.link(property, "refer", edge.to.as_str(), span);
        }
    }
    builder.finish()
}
