//! What the verifier found out, as answers: each with what it rests on, what shows it, or why it is open.

use setpoint_resources::Note;
use setpoint_source::{
    Basis, Diagnostic, Gap, Judgement, Question, Reason, Rule, Standing, Verdict, Witness,
};
use setpoint_state::Semantics;
use setpoint_verify::{Options, Order, Twice, Unproved, Verdicts, Why};

use crate::findings::Teller;
use crate::undecided;

/// The answers about a catalog.
pub(crate) fn verdict(
    teller: &Teller<'_>,
    verdicts: &Verdicts,
    findings: &[Diagnostic],
    options: &Options,
) -> Verdict {
    let basis = basis(options);
    let reasons = reasons(teller, verdicts);
    let assumed = assumptions(teller);
    let proved = || {
        assumed.iter().fold(Judgement::Proved(basis.clone()), |answer, reason| answer.doubt(reason.clone()))
    };
    let open = |why: &str| {
        let mut reasons = reasons.clone();
        if reasons.is_empty() {
            reasons.push(Reason::new(Gap::Undecided, why));
        }
        setpoint_source::Reasons::from_vec(reasons).map_or_else(proved, Judgement::Unknown)
    };
    let refuted = |rules: &[Rule], today: bool| {
        let mut shown = findings.iter().filter(|finding| rules.contains(&finding.rule)).map(Witness::of);
        let bare = Witness { rule: rules[0], span: None, story: None, today };
        let witness = Witness { today, ..shown.next().unwrap_or(bare) };
        Judgement::Refuted { witness, more: shown.collect(), open: reasons.clone() }
    };
    let answer = |answer: setpoint_verify::Answer, shown: Option<&Twice>, rules: &[Rule]| match answer {
        setpoint_verify::Answer::Yes => proved(),
        _ if shown.is_some_and(|twice| teller.is_guesswork(twice)) => {
            open("what a guarded command does is not known")
        }
        setpoint_verify::Answer::No => refuted(rules, false),
        setpoint_verify::Answer::Unknown => open("the question was not decided"),
    };
    let order = match verdicts.order {
        Order::Independent => proved(),
        Order::Dependent => refuted(&[Rule::MissingOrder, Rule::Diverges], false),
        Order::Fails => refuted(&[Rule::MissingOrder, Rule::Diverges], true),
        Order::Unknown => open("the question was not decided"),
    };
    let mut out = Verdict::nothing_asked();
    out.give(Question::Order, order);
    let again = [Rule::NotIdempotent, Rule::MissingOrder, Rule::Diverges];
    out.give(Question::Idempotent, answer(verdicts.idempotent, verdicts.not_idempotent.as_ref(), &again));
    let loud = [Rule::ChangesEveryRun, Rule::NotIdempotent, Rule::MissingOrder, Rule::Diverges];
    out.give(Question::Quiet, answer(verdicts.quiet, verdicts.not_quiet.as_ref(), &loud));
    out.give(Question::Convergent, answer(verdicts.convergent, None, &[Rule::NotConvergent]));
    out
}

/// What every proof about a catalog rests on.
pub(crate) fn basis(options: &Options) -> Basis {
    let mut standing = vec![Standing::AloneOnTheMachine];
    if options.semantics == Semantics::Puppet {
        standing.push(Standing::PackageScripts);
        if !options.any_start {
            standing.extend([Standing::BaseFolders, Standing::WholePackages, Standing::DeclaredKinds]);
        }
    }
    Basis::of(standing)
}

/// What the models took for granted for this catalog alone.
fn assumptions(teller: &Teller<'_>) -> Vec<Reason> {
    let mut found = Vec::new();
    for note in &teller.modelled.notes {
        let words = match note {
            Note::UnknownPackage { package } => {
                format!("the package {package} installs only files named after it")
            }
            Note::PartialPackage { package } => {
                format!("the package {package} installs nothing that matters beyond its main files")
            }
            Note::AssumedDirectory { path } => format!("{path} exists"),
            Note::VirtualPackage { .. } | Note::UnmodelledType { .. } | Note::ManyPaths { .. } => {
                note.to_string()
            }
            Note::UnknownCommand { .. } => continue,
        };
        found.push(Reason::new(Gap::Assumed, words));
    }
    found
}

/// Why questions are open.
fn reasons(teller: &Teller<'_>, verdicts: &Verdicts) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for Unproved { steps, why } in &verdicts.unproved {
        let place = steps.iter().find_map(|step| teller.declared(*step)?.span);
        let reason = match why {
            Why::Step(step) => {
                let place = teller.declared(*step).and_then(|resource| resource.span);
                let words = format!("what {} does is not known", teller.words.step(*step));
                Reason::new(Gap::NotModelled, words).at(place)
            }
            Why::Time => Reason::new(Gap::Time, "timed out"),
            _ => Reason::new(
                Gap::Undecided,
                undecided::message(*why, &teller.names(steps)).unwrap_or_default(),
            )
            .at(place),
        };
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}
