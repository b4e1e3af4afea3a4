//! Acyclicity that would be enough, where none is declared.

use setpoint_source::{FileId, Range, Symbol};

use super::progress::{BRIEF, Where, progress};
use crate::describe::edge_text;
use crate::model::{Acyclic, Bound, ClassId, Edge, Formula, LinkId, Model, NameSet, Term};

/// Directions that are tried at most.
const MAX_DIRECTIONS: usize = 4;

/// Relations in the words of the rule language: if they have no cycle, progress is proved. Empty if none was found.
pub(super) fn suggest(model: &Model, invariants: &[Formula]) -> Vec<String> {
    let pairs = candidate_pairs(model);
    let free = pairs.len().min(MAX_DIRECTIONS);
    for directions in 0..1usize << free {
        let edges = pairs
            .iter()
            .enumerate()
            .map(|(at, edge)| edge.directed(at < free && directions >> at & 1 == 1))
            .collect();
        let mut changed = model.clone();
        changed.acyclic.push(Acyclic { edges, order: None, span: Range::new(0, 0).in_file(FileId(0)) });
        let added = changed.acyclic.len() - 1;
        if let Some(grounds) = progress(&changed, invariants, Where::Invariant, true, &BRIEF) {
            let mut out = Vec::new();
            for minimal in grounds.minimal.iter().filter(|minimal| minimal.relation == added) {
                let text = relation_text(&changed, added, &minimal.edges);
                if !out.contains(&text) {
                    out.push(text);
                }
            }
            return out;
        }
    }
    Vec::new()
}

/// `acyclic …` with the types of each edge put together.
pub(crate) fn relation_text(model: &Model, relation: usize, edges: &[(usize, Option<u8>)]) -> String {
    if let Some(class) = model.acyclic[relation].order {
        return format!("ordered {}", model.class(class).name);
    }
    let mut parts = Vec::new();
    for (at, edge) in model.acyclic[relation].edges.iter().enumerate() {
        let mut kinds = NameSet::default();
        let mut used = false;
        for (_, kind) in edges.iter().filter(|(edge, _)| *edge == at) {
            used = true;
            match kind {
                Some(kind) => kinds.insert(*kind),
                None => kinds = NameSet::first(64),
            }
        }
        if used {
            let types = model.class(edge.bound.class).types.len();
            let all = NameSet::first(types).minus(kinds).is_empty();
            parts.push(edge_text(model, edge, (!all).then_some(kinds)));
        }
    }
    format!("acyclic {}", parts.join(", "))
}

/// Two objects of one class that an object links, or an object and one of its class that it links to.
fn candidate_pairs(model: &Model) -> Vec<Edge> {
    let mut out = Vec::new();
    for class in model.class_ids() {
        let ends = reachable(model, class);
        for (at, to) in ends.iter().enumerate() {
            for from in &ends[..at] {
                if from.class == to.class && !model.class(from.class).states.is_empty() {
                    out.push(Edge {
                        bound: Bound { var: 0, name: Symbol::new("x"), class },
                        filter: Formula::Constant(true),
                        from: from.clone(),
                        to: to.clone(),
                        span: Range::new(0, 0).in_file(FileId(0)),
                    });
                }
            }
        }
    }
    out
}

fn reachable(model: &Model, class: ClassId) -> Vec<Term> {
    let mut out = vec![Term { var: 0, path: Vec::new(), class }];
    let mut at = 0;
    while at < out.len() && out.len() < 16 {
        let term = out[at].clone();
        at += 1;
        if term.path.len() >= 3 || (at > 1 && term.class == class) {
            continue;
        }
        for (link, declared) in model.class(term.class).links.iter().enumerate() {
            let mut path: Vec<LinkId> = term.path.clone();
            path.push(link);
            out.push(Term { var: 0, path, class: declared.target });
        }
    }
    out
}
