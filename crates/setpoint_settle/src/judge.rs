//! The answers about a catalog, each with what it rests on, the finding that shows it, or why it is open.

use setpoint_source::{
    Answer, Basis, Diagnostic, Gap, Judgement, Question, Reason, Reasons, Rule, Verdict, Witness,
};
use setpoint_state::StepId;
use setpoint_verify::{OrderWitness, Twice, TwoStarts, Unproved, Verdicts, Why};

use crate::contradictions::Contradictions;
use crate::findings::{FindingBuilder, culprit};
use crate::undecided;

/// The findings that refute something, made before anyone decides which of them are told.
pub(crate) struct Refutations {
    /// One for each witness of order, in their order.
    pub(crate) order: Vec<Diagnostic>,
    pub(crate) idempotent: Option<Diagnostic>,
    /// One for each resource that acts in every run.
    pub(crate) quiet: Vec<Diagnostic>,
    pub(crate) convergent: Option<Diagnostic>,
    pub(crate) contradictions: Contradictions,
}

impl FindingBuilder<'_> {
    /// Builds the finding of each witness. What acts in a second run only because it is not understood refutes nothing.
    pub(crate) fn refute(&self, verdicts: &Verdicts) -> Refutations {
        let certain = |answer: &Answer<Twice, Unproved>| {
            answer.witness().filter(|twice| self.guesswork(twice).is_none()).cloned()
        };
        let contradictions = self.contradictions(verdicts);
        let explained = |finding: Diagnostic| contradictions.explain(&finding).cloned().unwrap_or(finding);
        let order = verdicts.order.witnesses().map(|witness| match witness {
            OrderWitness::Fails(fails) => {
                let pair = culprit(fails, verdicts);
                let told = pair.and_then(|(one, two)| contradictions.between(one, two)).cloned();
                told.unwrap_or_else(|| self.tell_failure_of_today(fails, verdicts))
            }
            OrderWitness::Dependent(found) => {
                let told = contradictions.between(found.one, found.two).cloned();
                told.unwrap_or_else(|| self.tell_dependence(found))
            }
        });
        // What cannot hold at once is reached from no start.
        let two_ends = || verdicts.convergent.witness().map(|two: &TwoStarts| self.tell_two_ends(two));
        let convergent = contradictions.findings().next().cloned().or_else(two_ends);
        Refutations {
            order: order.collect(),
            idempotent: certain(&verdicts.idempotent)
                .map(|twice| explained(self.tell_second_run(Rule::NotIdempotent, &twice))),
            quiet: certain(&verdicts.quiet)
                .map(|twice| self.tell_restless(&twice).into_iter().map(explained).collect())
                .unwrap_or_default(),
            convergent,
            contradictions,
        }
    }

    /// Returns the answers about the catalog. Nothing is proved of a catalog without resources, and nothing that rests on an
    /// assumption about this catalog alone. `free`: the answers without what is assumed of the start.
    pub(crate) fn judge(
        &self,
        verdicts: &Verdicts,
        refuted: &Refutations,
        free: Option<&Verdicts>,
    ) -> Verdict {
        let mut out = Verdict::nothing_asked();
        let asked = [Question::Order, Question::Idempotent, Question::Quiet, Question::Convergent];
        if self.real_resources() == 0 {
            let nothing = Reason::new(Gap::NothingEntered, "the catalog has no resources");
            for question in asked {
                out.give(question, Judgement::unknown(nothing.clone()));
            }
            return out;
        }
        let is_today = verdicts.fails_today().is_some();
        let today = |finding: &Diagnostic| Witness { today: is_today, ..Witness::of(finding) };
        let contradicted: Vec<Witness> = refuted.contradictions.findings().map(Witness::of).collect();
        let answers = [
            self.answer(&verdicts.order, refuted.order.iter().map(today).collect(), None),
            self.answer(
                &verdicts.idempotent,
                shown(refuted.idempotent.as_ref()),
                self.doubt(&verdicts.idempotent),
            ),
            self.answer(&verdicts.quiet, shown(refuted.quiet.first()), self.doubt(&verdicts.quiet)),
            match contradicted.split_first() {
                Some((first, more)) => {
                    Judgement::Refuted { witness: first.clone(), more: more.to_vec(), open: Vec::new() }
                }
                None => self.answer(&verdicts.convergent, shown(refuted.convergent.as_ref()), None),
            },
        ];
        let assumed = self.assumptions();
        // What is proved of every start, whatever is assumed of it.
        let proof = |question: Question| {
            let free = free?;
            match question {
                Question::Order => basis(&free.order),
                Question::Idempotent => basis(&free.idempotent),
                Question::Quiet => basis(&free.quiet),
                _ => basis(&free.convergent),
            }
        };
        for (question, mut answer) in asked.into_iter().zip(answers) {
            let proof = proof(question).filter(|_| !answer.is_refuted());
            let rests_on = assumed.iter().filter(|(_, about_start)| !(*about_start && proof.is_some()));
            if let Some(basis) = &proof {
                answer = Judgement::Proved(basis.clone());
            }
            // Where there is one order alone, nothing that is assumed can make it matter.
            let matters = question != Question::Order || !verdicts.is_total_order;
            if matters && !answer.is_refuted() {
                answer = rests_on.fold(answer, |answer, (reason, _)| answer.doubt(reason.clone()));
            }
            out.give(question, answer);
        }
        out
    }

    /// Returns an answer of the verifier as one about the catalog. `doubt`: why its refutation shows nothing.
    fn answer<W>(
        &self,
        answer: &Answer<W, Unproved>,
        witnesses: Vec<Witness>,
        doubt: Option<Reason>,
    ) -> Judgement {
        let mut open: Vec<Reason> = Vec::new();
        for reason in answer.reasons().iter().map(|one| self.reason(one)).chain(doubt) {
            if !open.contains(&reason) {
                open.push(reason);
            }
        }
        let mut witnesses = witnesses.into_iter();
        match (answer, witnesses.next(), Reasons::from_vec(open)) {
            (Answer::Proved(basis), _, _) => Judgement::Proved(basis.clone()),
            (_, Some(witness), open) => {
                let open = open.map(Reasons::into_vec).unwrap_or_default();
                Judgement::Refuted { witness, more: witnesses.collect(), open }
            }
            (_, None, Some(open)) => Judgement::Unknown(open),
            (_, None, None) => {
                Judgement::unknown(Reason::new(Gap::Undecided, "the question was not decided"))
            }
        }
    }

    /// Returns why a second run that differs shows nothing, if that is so.
    fn doubt(&self, answer: &Answer<Twice, Unproved>) -> Option<Reason> {
        let step = self.guesswork(answer.witness()?)?;
        let place = self.declared(step).and_then(|resource| resource.span);
        let words =
            format!("whether {} has something to do in a second run is not known", self.words.step(step));
        Some(Reason::new(Gap::NotModelled, words).at(place))
    }

    /// Returns why a question is open.
    fn reason(&self, unproved: &Unproved) -> Reason {
        let Unproved { steps, why } = unproved;
        let place = |step| self.declared(step).and_then(|resource| resource.span);
        let is_alone = |step| steps.iter().all(|&other| other == step || !self.acts(other));
        match *why {
            Why::Step(step) => {
                let words = format!("what {} does is not known", self.words.step(step));
                Reason::new(Gap::NotModelled, words).at(place(step))
            }
            Why::BeyondProgram(step) if is_alone(step) => {
                let words = format!(
                    "{} does the same from every start and nothing in a second run",
                    self.words.step(step)
                );
                Reason::new(Gap::Assumed, words).at(place(step))
            }
            // What an unknown package installs may be what others manage; what a command is known to touch is.
            Why::BeyondProgram(step) if self.is_package(step) => {
                let words = format!("{} installs nothing that other resources manage", self.words.step(step));
                Reason::new(Gap::Assumed, words).at(place(step))
            }
            Why::BeyondProgram(step) => self.reason(&Unproved { steps: Vec::new(), why: Why::Step(step) }),
            Why::Time => Reason::new(Gap::Time, "timed out"),
            why => Reason::new(Gap::Undecided, undecided::message(why, &self.names(steps)))
                .at(steps.iter().find_map(|&step| place(step))),
        }
    }
}

impl FindingBuilder<'_> {
    /// Whether a step is more than a container.
    fn acts(&self, step: StepId) -> bool {
        self.step(step).is_some_and(|step| !step.passes_on)
    }

    fn is_package(&self, step: StepId) -> bool {
        self.declared(step).is_some_and(|resource| resource.type_name.as_str() == "Package")
    }
}

fn basis<W, R>(answer: &Answer<W, R>) -> Option<Basis> {
    match answer {
        Answer::Proved(basis) => Some(basis.clone()),
        _ => None,
    }
}

fn shown(finding: Option<&Diagnostic>) -> Vec<Witness> {
    finding.into_iter().map(Witness::of).collect()
}
