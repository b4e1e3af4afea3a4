//! What depends on a line: the question of `why`, asked forwards.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use setpoint_catalog::ResourceId;
use setpoint_provenance::{Dependency, LeafKind, Prov};
use setpoint_source::{FileId, Sources, Symbol};

use crate::causes::Query;
use crate::target::Target;

/// What depends on a line, by resource in the order of the catalog.
#[derive(Debug, Default)]
pub struct Impact {
    /// Literals, lines of templates and of data that stand on the line.
    pub inputs: usize,
    pub resources: Vec<Affected>,
    /// Values that are what they are only because something on the line did not happen otherwise.
    pub possible: usize,
}

#[derive(Debug)]
pub struct Affected {
    pub resource: ResourceId,
    /// The line decides about the existence of the resource.
    pub existence: bool,
    /// Parameters whose values the line reaches.
    pub parameters: Vec<Symbol>,
    /// Those that it could reach, had something else happened on the line; missing ones are left out.
    pub possible: Vec<Symbol>,
}

impl Query<'_> {
    /// What depends on a line of a file. `matches` tells the files of that name.
    pub fn impact(&mut self, sources: &Sources, matches: impl Fn(&str) -> bool, line: u32) -> Impact {
        let mut files: FxHashMap<FileId, bool> = FxHashMap::default();
        let mut inputs = 0;
        let arena = &self.compilation.arena;
        let mut on_line: BTreeSet<Prov> = BTreeSet::new();
        let direct = arena.reached(|node, leaf| {
            let Some(span) = leaf.and_then(|leaf| leaf.span) else { return false };
            let is_file = *files.entry(span.file).or_insert_with(|| matches(sources.file(span.file).path()));
            if !is_file {
                return false;
            }
            let file = sources.file(span.file);
            let lines = file.line(span.range.start)
                ..=file.line(span.range.end.saturating_sub(1).max(span.range.start));
            let found = lines.contains(&line);
            if found {
                inputs += 1;
                on_line.insert(node);
            }
            found
        });
        let indirect = self.with_absences(&direct, &on_line);
        let is = |marks: &[bool], prov: Prov| marks.get(prov.index() as usize).copied().unwrap_or(false);
        let mut impact = Impact { inputs, ..Impact::default() };
        let catalog = self.catalog;
        for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
            let mut affected = Affected {
                resource: id,
                existence: is(&direct, resource.prov),
                parameters: Vec::new(),
                possible: Vec::new(),
            };
            for parameter in &resource.parameters {
                let mut nodes = Vec::new();
                crate::causes::everything(&parameter.value, &mut nodes);
                if nodes.iter().any(|(node, _)| is(&direct, *node)) {
                    affected.parameters.push(parameter.name);
                    continue;
                }
                let target = Target::Parameter { resource: id, name: parameter.name, path: Vec::new() };
                if inputs > 0 && self.roots(&target).iter().any(|(node, _)| is(&indirect, *node)) {
                    affected.possible.push(parameter.name);
                    impact.possible += 1;
                }
            }
            if affected.existence || !affected.parameters.is_empty() || !affected.possible.is_empty() {
                impact.resources.push(affected);
            }
        }
        impact
    }

    /// The nodes that depend on the line also through what was looked for and not found.
    fn with_absences(&mut self, direct: &[bool], on_line: &BTreeSet<Prov>) -> Vec<bool> {
        let arena = &self.compilation.arena;
        let mut marks = direct.to_vec();
        let mut further: FxHashMap<Prov, Vec<Prov>> = FxHashMap::default();
        // Each round may reach what another absence depends on; few are needed.
        for _ in 0..8 {
            let before = marks.clone();
            marks = arena.reached(|node, leaf| {
                if on_line.contains(&node) {
                    return true;
                }
                let Some(leaf) = leaf.filter(|leaf| leaf.kind == LeafKind::Absence) else { return false };
                let dependency = Dependency { node, leaf: *leaf, shape: false };
                let provs = further.entry(node).or_insert_with(|| self.further_of(&dependency));
                provs.iter().any(|prov| before.get(prov.index() as usize).copied().unwrap_or(false))
            });
            if marks == before {
                break;
            }
        }
        marks
    }
}
