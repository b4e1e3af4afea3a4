//! Relationships that can be taken away.

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_catalog::graph::{Cause, Node, NodeId};
use setpoint_catalog::{Relation, ResourceId};
use setpoint_resources::Modelled;
use setpoint_source::{Diagnostic, Rule};
use setpoint_state::StepId;

use crate::Question;
use crate::findings::FindingBuilder;

/// A relationship that the manifest states.
pub(crate) struct StatedEdge {
    pub(crate) steps: (StepId, StepId),
    relation: Relation,
    /// The resource whose parameter states it, and the other one.
    by: ResourceId,
    other: ResourceId,
    /// The types of the two say the same.
    automatic: bool,
}

/// The relationships that order and do not refresh, as steps of the plan.
pub(crate) fn stated(question: &Question<'_>, modelled: &Modelled) -> Vec<StatedEdge> {
    let Some(automatic) = question.automatic else { return Vec::new() };
    let graph = question.graph;
    let made = automatic.edges().iter().filter(|edge| edge.is_automatic());
    let by_itself: FxHashSet<(Node, Node)> =
        made.map(|edge| (automatic.node(edge.source), automatic.node(edge.target))).collect();
    // A container has two steps: it begins with the first and ends with the second.
    let mut steps: FxHashMap<ResourceId, (StepId, StepId)> = FxHashMap::default();
    for (at, &resource) in modelled.resources.iter().enumerate() {
        let step = StepId(at as u32);
        steps.entry(resource).or_insert((step, step)).1 = step;
    }
    let step = |node: NodeId| match graph.node(node) {
        Node::Resource(resource) | Node::Begin(resource) => steps.get(&resource).map(|(first, _)| *first),
        Node::End(resource) => steps.get(&resource).map(|(_, last)| *last),
        Node::Default(..) => None,
    };
    let mut found: Vec<StatedEdge> = Vec::new();
    for edge in graph.edges() {
        let Cause::Parameter { relation, by } = edge.cause else { continue };
        if relation.refreshes() {
            continue;
        }
        let ends = [edge.source, edge.target].map(|node| graph.node(node).resource());
        let ([Some(from), Some(to)], Some(one), Some(two)) = (ends, step(edge.source), step(edge.target))
        else {
            continue;
        };
        let other = if from == by { to } else { from };
        let automatic = by_itself.contains(&(graph.node(edge.source), graph.node(edge.target)));
        found.push(StatedEdge { steps: (one, two), relation, by, other, automatic });
    }
    found
}

impl FindingBuilder<'_> {
    /// Those relationships without which nothing changes.
    pub(crate) fn redundant(&self, stated: &[StatedEdge], proved: &[(StepId, StepId)]) -> Vec<Diagnostic> {
        let is_redundant = |one: &&StatedEdge| one.automatic || proved.contains(&one.steps);
        stated.iter().filter(is_redundant).map(|one| self.redundant_edge(one)).collect()
    }

    fn redundant_edge(&self, edge: &StatedEdge) -> Diagnostic {
        let name = |id: ResourceId| self.catalog.get(id).map(ToString::to_string).unwrap_or_default();
        let relation = edge.relation.as_str();
        let (by, other) = (name(edge.by), name(edge.other));
        let message = format!("nothing changes without `{relation} => {other}` of {by}");
        let reason = if edge.automatic {
            "Puppet relates the two by itself."
        } else {
            "From every start, and whatever fails, each run ends as before."
        };
        let mut finding =
            Diagnostic::new(Rule::RedundantEdge, message).with_note(reason).with_resources([by, other]);
        let resource = self.catalog.get(edge.by);
        let parameter = resource.and_then(|one| one.parameters.entry(relation.into())?.span);
        finding.span = parameter.or(resource.and_then(|one| one.span));
        finding
    }
}
