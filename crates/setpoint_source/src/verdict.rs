//! What was asked about an input, and the answers.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use setpoint_answer::{Answer, Standing};
use setpoint_rules::Rule;

use crate::print::location;
use crate::{Diagnostic, Sources, Span, Story, few, spoken};

/// A question that an analysis answers. Its name is a key of the JSON, and its words are promises.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Question {
    /// Can the catalog be compiled, and applied at all?
    Catalog,
    /// Is the order of unordered resources without effect?
    Order,
    /// Does a second run leave everything as the first left it?
    Idempotent,
    /// Does a second run report no change and no refresh?
    Quiet,
    /// Is what the resources manage the same whatever the start?
    Convergent,
    /// Does every run come to its end?
    ReachesFinal,
}

/// The answer to a [`Question`] about an input.
pub type Judgement = Answer<Witness, Reason>;

/// The finding that shows that something does not hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Witness {
    pub rule: Rule,
    pub span: Option<Span>,
    pub story: Option<Arc<Story>>,
    /// It shows in the order that is taken today, and not only in another that nothing forbids.
    pub today: bool,
}

/// Why something is not known, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub gap: Gap,
    /// A sentence without a full stop. For an assumption, what is assumed.
    pub words: String,
    pub place: Place,
    /// What it is about, and how several reasons that say the same of different things are told as one.
    about: Option<(String, Plural)>,
}

/// The words around a list of things of which the same is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plural {
    pub before: &'static str,
    pub after: &'static str,
}

/// The kinds of reasons for not knowing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Gap {
    /// A file, a template or a part of one was not read.
    Unread,
    /// Text that is no valid input was passed over.
    Malformed,
    /// Something has no model, or only a part of one.
    NotModelled,
    /// A limit ended the work.
    Limit,
    /// The time was over.
    Time,
    /// The question was asked and not decided.
    Undecided,
    /// A finding contradicts the answer that an analysis gave.
    Contradicted,
    /// No node and no class of the input was entered.
    NothingEntered,
    /// It holds if what the words say does: nobody looked.
    Assumed,
}

/// Where a reason is to be found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    At(Span),
    /// A file of which there is no text.
    File(String),
    /// The input as a whole.
    Input,
}

/// The answers about one input, each question once, in the order in which they were given.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict(Vec<(Question, Judgement)>);

impl Question {
    /// The key in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Order => "order",
            Self::Idempotent => "idempotent",
            Self::Quiet => "quiet",
            Self::Convergent => "convergent",
            Self::ReachesFinal => "reaches_final",
        }
    }

    /// The word for an answer.
    pub fn word(self, answer: &Judgement) -> &'static str {
        match answer {
            Answer::Proved(_) => self.proved_word(),
            Answer::Refuted { witness, .. } => self.refuted_word(witness),
            Answer::Unknown(_) => "unknown",
        }
    }

    pub fn proved_word(self) -> &'static str {
        match self {
            Self::Catalog => "ok",
            Self::Order => "independent",
            Self::Idempotent | Self::Quiet | Self::Convergent | Self::ReachesFinal => "yes",
        }
    }

    /// The name as people read it.
    pub fn heading(self) -> &'static str {
        match self {
            Self::ReachesFinal => "reaches final",
            _ => self.name(),
        }
    }

    /// What an answer says, in a sentence.
    pub fn meaning(self, answer: &Judgement) -> &'static str {
        match (self, answer) {
            (_, Answer::Unknown(_)) if conditional(answer).is_some() => {
                "Proved only under assumptions that nobody checked; they are listed below."
            }
            (_, Answer::Unknown(_)) => "Not decided; the reasons are below. Nothing is guessed.",
            (Self::Catalog, Answer::Proved(_)) => "It compiles, and the agent can apply it.",
            (Self::Catalog, Answer::Refuted { .. }) => {
                "It does not compile, or the agent refuses it. Nothing more was asked."
            }
            (Self::Order, Answer::Proved(_)) => "Proved: all orders that the relationships permit end alike.",
            (Self::Order, Answer::Refuted { witness, .. }) if witness.today => {
                "The order that is taken today fails, and another one does not."
            }
            (Self::Order, Answer::Refuted { .. }) => {
                "It is right only thanks to the order that is taken today; another one that nothing forbids ends differently."
            }
            (Self::Idempotent, Answer::Proved(_)) => {
                "Proved: a second run leaves everything as the first one left it."
            }
            (Self::Idempotent, Answer::Refuted { .. }) => "A second run changes what the first one made.",
            (Self::Quiet, Answer::Proved(_)) => "Proved: a second run reports no change and no refresh.",
            (Self::Quiet, Answer::Refuted { .. }) => {
                "A second run reports changes or refreshes although nothing is to be done."
            }
            (Self::Convergent, Answer::Proved(_)) => {
                "Proved: every start ends alike in what the resources declare."
            }
            (Self::Convergent, Answer::Refuted { .. }) => {
                "The final state depends on the machine's initial state."
            }
            (Self::ReachesFinal, Answer::Proved(_)) => {
                "Proved, in the rules of this kind of input: every run comes to its end."
            }
            (Self::ReachesFinal, Answer::Refuted { .. }) => {
                "Some run stops or goes on for ever before all is in place, or cannot begin."
            }
        }
    }

    fn refuted_word(self, witness: &Witness) -> &'static str {
        match self {
            Self::Catalog => "fails",
            Self::Order if witness.today => "fails",
            Self::Order => "dependent",
            Self::Idempotent | Self::Quiet | Self::Convergent | Self::ReachesFinal => "no",
        }
    }
}

impl Witness {
    /// Returns the witness that a finding is.
    pub fn of(finding: &Diagnostic) -> Self {
        Self { rule: finding.rule, span: finding.span, story: finding.story.clone(), today: false }
    }
}

impl Gap {
    /// The word for it in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Malformed => "malformed",
            Self::NotModelled => "not-modelled",
            Self::Limit => "limit",
            Self::Time => "time",
            Self::Undecided => "undecided",
            Self::Contradicted => "contradicted",
            Self::NothingEntered => "nothing-entered",
            Self::Assumed => "assumed",
        }
    }
}

impl Reason {
    pub fn new(gap: Gap, words: impl Into<String>) -> Self {
        Self { gap, words: spoken(words.into()), place: Place::Input, about: None }
    }

    /// Returns the reason as one that is told together with those that say the same of another subject.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>, plural: Plural) -> Self {
        self.about = Some((subject.into(), plural));
        self
    }

    /// Returns the sentences of several reasons, one for all that say the same of different subjects, of which so many are named.
    pub fn told_together(reasons: &[&Self], most: usize) -> Vec<String> {
        let mut groups: Vec<Vec<&Self>> = Vec::new();
        let plural = |reason: &Self| reason.about.as_ref().map(|(_, plural)| *plural);
        for reason in reasons {
            let is_alike = |group: &&mut Vec<&Self>| {
                plural(reason).is_some() && group.first().and_then(|first| plural(first)) == plural(reason)
            };
            match groups.iter_mut().find(is_alike) {
                Some(group) => group.push(reason),
                None => groups.push(vec![reason]),
            }
        }
        let sentence = |group: &Vec<&Self>| {
            let subjects = group.iter().filter_map(|reason| Some(reason.about.as_ref()?.0.as_str()));
            let subjects: Vec<&str> = subjects.collect();
            match (group.first().and_then(|first| plural(first)), subjects.len()) {
                (Some(plural), 2..) => format!("{}{}{}", plural.before, few(&subjects, most), plural.after),
                _ => group.iter().map(|reason| reason.words.as_str()).collect(),
            }
        };
        groups.iter().map(sentence).collect()
    }

    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        if let Some(span) = span.into() {
            self.place = Place::At(span);
        }
        self
    }

    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.place = Place::File(path.into());
        self
    }

    /// Returns the reason that a finding is.
    pub fn of(gap: Gap, finding: &Diagnostic) -> Self {
        let place = finding.span.map_or(Place::Input, Place::At);
        Self { gap, words: finding.message.clone(), place, about: None }
    }
}

impl Verdict {
    /// Returns the verdict of an input about which nothing was asked.
    pub fn nothing_asked() -> Self {
        Self(Vec::new())
    }

    /// Returns the verdict of an input about which one thing was asked.
    pub fn of(question: Question, answer: Judgement) -> Self {
        Self(vec![(question, answer)])
    }

    /// Takes an answer; a second answer to the same question joins the first.
    pub fn give(&mut self, question: Question, answer: Judgement) {
        match self.0.iter_mut().find(|(known, _)| *known == question) {
            Some((_, known)) => {
                let first = std::mem::replace(known, Answer::Proved(setpoint_answer::Basis::nothing()));
                *known = first.and(answer);
            }
            None => self.0.push((question, answer)),
        }
    }

    /// Puts an answer in the place of the one that was given.
    pub fn replace(&mut self, question: Question, answer: Judgement) {
        match self.0.iter_mut().find(|(known, _)| *known == question) {
            Some((_, known)) => *known = answer,
            None => self.0.push((question, answer)),
        }
    }

    pub fn get(&self, question: Question) -> Option<&Judgement> {
        self.iter().find(|(known, _)| *known == question).map(|(_, answer)| answer)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Question, &Judgement)> {
        self.0.iter().map(|(question, answer)| (*question, answer))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the words of two verdicts are the same.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.words().eq(other.words())
            && self.iter().zip(other.iter()).all(|((_, one), (_, two))| conditional(one) == conditional(two))
    }

    /// The questions with the words of their answers.
    pub fn words(&self) -> impl Iterator<Item = (Question, &'static str)> {
        self.iter().map(|(question, answer)| (question, question.word(answer)))
    }

    /// Takes a reason for doubt about every answer that does not have it yet.
    pub fn doubt(&mut self, reason: &Reason) {
        // Of two assumptions at one place, none may be left out: the conditional answer rests on both.
        let is_same = |known: &Reason| {
            let says_as_much = known.gap == reason.gap && reason.gap != Gap::Assumed;
            known.place == reason.place && (says_as_much || known.words == reason.words)
        };
        for (_, answer) in &mut self.0 {
            if !answer.reasons().iter().any(is_same) {
                let known = std::mem::replace(answer, Answer::Proved(setpoint_answer::Basis::nothing()));
                *answer = known.doubt(reason.clone());
            }
        }
    }

    /// The words of all reasons.
    pub(crate) fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let reasons = self.0.iter_mut().flat_map(|(_, answer)| match answer {
            Answer::Proved(_) => [].as_mut_slice(),
            Answer::Refuted { open, .. } => open.as_mut_slice(),
            Answer::Unknown(reasons) => reasons.as_mut_slice(),
        });
        reasons.map(|reason| &mut reason.words)
    }

    /// Gives reasons that are about the input as a whole its path.
    pub(crate) fn place_reasons(&mut self, path: &str) {
        for (_, answer) in &mut self.0 {
            let reasons = match answer {
                Answer::Proved(_) => continue,
                Answer::Refuted { open, .. } => open.as_mut_slice(),
                Answer::Unknown(reasons) => reasons.as_mut_slice(),
            };
            for reason in reasons.iter_mut().filter(|reason| reason.place == Place::Input) {
                reason.place = Place::File(path.to_owned());
            }
        }
    }

    /// What all proofs together rest on.
    pub fn standing(&self) -> Vec<Standing> {
        let mut all: Vec<Standing> = Vec::new();
        for (_, answer) in &self.0 {
            if let Answer::Proved(basis) = answer {
                all.extend(basis.standing());
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Each reason for not knowing once, with the questions that it leaves open.
    pub fn reasons(&self) -> Vec<(&Reason, Vec<Question>)> {
        let mut all: Vec<(&Reason, Vec<Question>)> = Vec::new();
        // What is refuted is not open, whatever else was not looked at.
        for (question, answer) in self.iter().filter(|(_, answer)| !answer.is_refuted()) {
            for reason in answer.reasons() {
                match all.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, questions)) if questions.contains(&question) => {}
                    Some((_, questions)) => questions.push(question),
                    None => all.push((reason, vec![question])),
                }
            }
        }
        all
    }

    /// `{"order": "independent", …}`: the words alone.
    pub fn json(&self) -> Value {
        Value::Object(
            self.words().map(|(question, word)| (question.name().to_owned(), json!(word))).collect(),
        )
    }

    /// Adds `conditional`, `assuming`, `reasons` and `basis` to the JSON of an input, each where there is one.
    pub fn describe(&self, sources: &Sources, out: &mut Map<String, Value>) {
        let conditional: Map<String, Value> = self
            .iter()
            .filter_map(|(question, answer)| Some((question, conditional(answer)?)))
            .map(|(question, _)| (question.name().to_owned(), json!(question.proved_word())))
            .collect();
        if !conditional.is_empty() {
            out.insert("conditional".into(), Value::Object(conditional));
        }
        let (assumed, open): (Vec<_>, Vec<_>) =
            self.reasons().into_iter().partition(|(reason, _)| reason.gap == Gap::Assumed);
        if !assumed.is_empty() {
            out.insert("assuming".into(), assumed.iter().map(|one| reason_json(one, sources)).collect());
        }
        if !open.is_empty() {
            out.insert("reasons".into(), open.iter().map(|one| reason_json(one, sources)).collect());
        }
        let basis = self.standing();
        if !basis.is_empty() {
            out.insert("basis".into(), basis.iter().map(|one| one.sentence()).collect());
        }
    }
}

fn reason_json((reason, questions): &(&Reason, Vec<Question>), sources: &Sources) -> Value {
    let questions: Vec<&str> = questions.iter().map(|question| question.name()).collect();
    let place = match &reason.place {
        Place::At(span) => location(*span, sources),
        Place::File(path) => json!({ "path": path }),
        Place::Input => Value::Null,
    };
    json!({ "questions": questions, "kind": reason.gap.name(), "message": reason.words, "location": place })
}

/// Returns what an unknown answer assumes, if it is proved under these assumptions: every reason is one.
pub fn conditional(answer: &Judgement) -> Option<Vec<&Reason>> {
    let Answer::Unknown(reasons) = answer else { return None };
    let is_assumed = |reason: &&Reason| reason.gap == Gap::Assumed;
    let assumed: Vec<&Reason> = reasons.as_slice().iter().filter(is_assumed).collect();
    (assumed.len() == reasons.as_slice().len()).then_some(assumed)
}

#[cfg(test)]
mod tests {
    use setpoint_answer::Basis;

    use super::*;

    #[test]
    fn an_answer_under_assumptions_is_conditional_and_not_proved() {
        let assumed = Reason::new(Gap::Assumed, "Exec[x] touches only /srv/a");
        let mut verdict = Verdict::nothing_asked();
        verdict.give(Question::Order, Answer::unknown(assumed.clone()));
        verdict.give(
            Question::Quiet,
            Answer::unknown(assumed).doubt(Reason::new(Gap::Time, "it took too long")),
        );
        assert_eq!(verdict.json(), json!({ "order": "unknown", "quiet": "unknown" }));
        let mut out = Map::new();
        verdict.describe(&Sources::new(), &mut out);
        assert_eq!(out["conditional"], json!({ "order": "independent" }));
        assert_eq!(out["assuming"][0]["questions"], json!(["order", "quiet"]));
        assert_eq!(out["reasons"][0]["kind"], "time");
    }

    #[test]
    fn a_second_answer_joins_the_first() {
        let mut verdict = Verdict::nothing_asked();
        verdict.give(Question::ReachesFinal, Answer::Proved(Basis::nothing()));
        verdict.give(Question::ReachesFinal, Answer::unknown(Reason::new(Gap::Unread, "b.yaml")));
        assert_eq!(verdict.words().collect::<Vec<_>>(), [(Question::ReachesFinal, "unknown")]);
    }
}
