//! Does a catalog settle? From a catalog to findings that a person can act on.
//!
//! It stands at the end of the Puppet line: the catalog becomes a plan (`setpoint_resources`), the plan is judged
//! (`setpoint_verify`), and here the answers become findings with their story, their severity and their repair as
//! code. It proves nothing itself and prints nothing.

mod alike;
mod assumptions;
mod contradictions;
mod edit;
mod findings;
mod invariants;
mod judge;
mod may_bring;
mod may_need;
pub mod next_run;
mod redundant;
mod simulate;
mod undecided;
mod words;

use setpoint_catalog::Catalog;
use setpoint_catalog::graph::Graph;
use setpoint_config::Sentence;
use setpoint_resources::{Modelled, World};
use setpoint_source::{Diagnostic, Reached, Sources, Verdict};
use setpoint_state::StepId;
use setpoint_verify::{Options, Verdicts, verify};

pub use edit::relation_fix;
pub use next_run::{NextRun, next_run};
pub use simulate::{Simulation, Turn, simulate};

use findings::FindingBuilder;

/// A catalog, and all that its judgement needs.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "the world holds a trait")]
pub struct Question<'a> {
    pub catalog: &'a Catalog,
    pub graph: &'a Graph,
    pub world: &'a World<'a>,
    pub options: &'a Options,
    /// The manifests, for repairs as code.
    pub sources: &'a Sources,
    /// Whether a file is the user's own: repairs are written into no other.
    pub may_change: &'a dyn Fn(&str) -> bool,
    /// The platform of the node, as users name it.
    pub platform: Option<&'a str>,
    /// Look for the smallest repair of the whole catalog: it takes longer.
    pub repair: bool,
    /// The relationships that Puppet makes by itself. If they are given, stated ones that change nothing are looked for, too.
    pub automatic: Option<&'a Graph>,
}

/// What there is to say about a catalog.
#[derive(Debug)]
pub struct Settled {
    pub verdict: Verdict,
    pub findings: Vec<Diagnostic>,
    /// The resources of the catalog, and those that are modelled in full.
    pub resources: Reached,
}

/// Asks everything about a catalog.
pub fn settle(question: &Question<'_>) -> Settled {
    let stated = invariants::about(question);
    let sentences: Vec<&Sentence> = stated.iter().map(|one| &one.sentence).collect();
    let planned = setpoint_resources::plan_with(
        question.catalog,
        question.graph,
        question.world,
        &sentences,
        setpoint_resources::Limits { work: question.options.work, deadline: question.options.deadline },
    );
    let (modelled, tests) = match planned {
        Ok(planned) => planned,
        Err(out) => return undecided::without_models(question, &stated, out),
    };
    let (invariants, problems) = invariants::asked(&stated, tests);
    let stated_edges = redundant::stated(question, &modelled);
    let maybe_redundant = stated_edges.iter().map(|one| one.steps).collect();
    let no_end = commands(question, &modelled);
    let options = &Options { invariants, maybe_redundant, no_end, ..question.options.clone() };
    let verdicts = verify(&modelled.plan, options);
    let builder = FindingBuilder::new(question, &modelled, &stated, verdicts.fresh.clone());
    let refuted = builder.refute(&verdicts);
    let from_every_start = from_every_start(&modelled, options, &verdicts);
    let verdict = builder.judge(&verdicts, &refuted, from_every_start.as_ref());
    let mut findings = builder.findings(&verdicts, &refuted, &options.invariants, &verdict);
    if question.repair && findings.iter().any(|finding| finding.fix.is_some()) {
        let repair = setpoint_verify::repair::repair(&modelled.plan, options);
        builder.mend(&mut findings, repair.as_ref());
    }
    findings.extend(builder.redundant(&stated_edges, &verdicts.redundant));
    findings.extend(problems);
    let resources = builder.coverage(&verdict);
    Settled { verdict, findings, resources }
}

/// Returns the steps of commands: they declare no state that would have to last.
fn commands(question: &Question<'_>, modelled: &Modelled) -> Vec<StepId> {
    let steps = modelled.resources.iter().enumerate();
    let is_command = |id| question.catalog.get(id).is_some_and(|one| one.type_name.as_str() == "Exec");
    steps.filter(|(_, id)| is_command(**id)).map(|(at, _)| StepId(at as u32)).collect()
}

/// A larger plan is asked once: from every start nearly all of it hangs together.
const MOST_STEPS: usize = 32;

/// Asks again without what is assumed of the start for this catalog alone: what is proved then rests on none of that.
fn from_every_start(modelled: &Modelled, options: &Options, verdicts: &Verdicts) -> Option<Verdicts> {
    let is_open = [&verdicts.idempotent, &verdicts.quiet].iter().any(|answer| !answer.is_refuted())
        || !verdicts.order.is_refuted()
        || !verdicts.convergent.is_refuted();
    let is_small = modelled.plan.steps.len() <= MOST_STEPS;
    let plan = modelled.from_every_start().filter(|_| is_open && is_small)?;
    let plain = Options { invariants: Vec::new(), maybe_redundant: Vec::new(), ..options.clone() };
    Some(verify(&plan, &plain))
}
