//! Why something is not there.

use rustc_hash::FxHashSet;
use setpoint_catalog::ResourceId;
use setpoint_provenance::{Leaf, LeafKind, Prov};
use setpoint_puppet::Guard;
use setpoint_source::{Span, Symbol};

use crate::answer::Reason;
use crate::causes::Query;
use crate::target::Target;

/// What kept a resource or a value out.
#[derive(Debug)]
pub struct Absence {
    pub target: String,
    /// It is declared, and nothing has made it real.
    pub is_virtual: Option<Span>,
    pub kept_out: Vec<KeptOut>,
    /// It was given as `undef`: what that depends on.
    pub undefined: Vec<Leaf>,
    /// Collectors that looked at it, and did not choose it.
    pub collectors: Vec<Span>,
    /// No code that was read could have declared it.
    pub nowhere: bool,
}

/// A branch that was not taken.
#[derive(Debug)]
pub struct KeptOut {
    /// The text of the branch.
    pub branch: Span,
    pub condition: Prov,
    /// What led to the condition.
    pub reasons: Vec<Reason>,
}

impl Query<'_> {
    /// The conditions that kept something out.
    pub fn why_not(&mut self, target: &Target) -> Absence {
        let mut absence = Absence {
            target: self.shown(target),
            is_virtual: None,
            kept_out: Vec::new(),
            undefined: Vec::new(),
            collectors: Vec::new(),
            nowhere: false,
        };
        let guards = match target {
            Target::Absent { type_name, title } => {
                self.note_virtual(*type_name, title, &mut absence);
                self.guards_that_declare(*type_name, title)
            }
            Target::Parameter { resource, name, .. } => {
                self.note_collectors(*resource, *name, &mut absence);
                let given = self.undefined(*resource, *name);
                let leaves = self.causes_of(given).into_iter().map(|found| found.leaf);
                absence.undefined =
                    leaves.filter(|leaf| leaf.span.is_some() || leaf.kind != LeafKind::Absence).collect();
                self.guards_that_set(*resource, *name)
            }
            Target::Resource(_) | Target::Tags(_) | Target::Edge(..) => Vec::new(),
        };
        let mut seen = FxHashSet::default();
        for Guard { condition, context, skipped, .. } in guards {
            // A definition with many instances leaves the same branch out many times.
            if seen.insert(skipped) {
                absence.kept_out.push(KeptOut { branch: skipped, condition, reasons: self.reasons(context) });
            }
        }
        absence.nowhere = absence.kept_out.is_empty()
            && absence.is_virtual.is_none()
            && absence.collectors.is_empty()
            && absence.undefined.is_empty();
        absence
    }

    fn note_virtual(&self, type_name: Symbol, title: &str, absence: &mut Absence) {
        let Some(id) = self.catalog.find(type_name, title).filter(|id| self.catalog[*id].virtual_) else {
            return;
        };
        absence.is_virtual = self.catalog[id].span;
        let collectors = self.compilation.trace.collectors.iter();
        let fitting =
            collectors.filter(|collector| collector.type_name.is_none_or(|known| known == type_name));
        absence.collectors.extend(fitting.map(|collector| collector.span));
    }

    fn note_collectors(&self, id: ResourceId, name: Symbol, absence: &mut Absence) {
        let type_name = self.catalog[id].type_name;
        let collectors = self.compilation.trace.collectors.iter();
        let fitting = collectors.filter(|collector| {
            collector.type_name == Some(type_name) && (collector.sets.contains(&name) || collector.sets_any)
        });
        absence.collectors.extend(fitting.map(|collector| collector.span));
    }
}
