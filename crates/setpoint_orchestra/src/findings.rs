//! The kinds of findings of this crate.

use setpoint_source::{Rule, Severity};

pub static MODEL_SYNTAX: Rule = Rule {
    name: "model-syntax",
    severity: Severity::Error,
    summary: "a rule file cannot be read",
    explanation: "\
The text is not one that the rule language has. Reading goes on at the next part that can be understood, so that \
one mistake does not hide the others.

    rule start(r: resource) {
      when r is initial
      then r is started        # an effect is `becomes`, not `is`
    }

`docs/rule-language.md` shows the whole language on one page.",
};

pub static MODEL_NAMES: Rule = Rule {
    name: "model-names",
    severity: Severity::Error,
    summary: "a rule file uses a name that is not declared, or declares one twice",
    explanation: "\
Classes, types, states, links, messages and variables are declared once and used by name.

    class resource { states initial, started }
    rule start(r: resource) { when r is intial then r becomes started }   # `intial` is no state of resource

Write the name as it was declared, or declare it.",
};

pub static DEADLOCK: Rule = Rule {
    name: "deadlock",
    severity: Severity::Error,
    summary: "a run stops before everything has reached its final state",
    explanation: "\
From the initial state the rules lead to a state in which none of them applies, and which is not final: something \
waits for ever. The finding shows what waits for what, with the line of each link, and the run that leads there.

    A: resource           # A refers to B, and B refers to A
    B: resource
    a: property { parent = A, refer = B }
    b: property { parent = B, refer = A }

Remove or redirect one of the links of the circle, or add the rule that moves the object on which the others wait.",
};

pub static ENDLESS_RUN: Rule = Rule {
    name: "endless-run",
    severity: Severity::Error,
    summary: "a run goes on for ever without reaching a final state",
    explanation: "\
The rules can be applied in a circle: the same state is reached again, and the final state is never passed. A rule \
set that retries without counting its retries has such runs.

    rule fail(r: resource)  { when r is busy    then r becomes failed }
    rule retry(r: resource) { when r is failed  then r becomes busy }

Count the retries in the local states, so that each round uses one up, or give up in a final state.",
};

pub static MALFORMED_INSTANCE: Rule = Rule {
    name: "malformed-instance",
    severity: Severity::Error,
    summary: "a topology breaks what its rule set requires",
    explanation: "\
The rule set says in `require`, `init` and at its links what every topology satisfies; this one does not, so that \
nothing that was proved about the rule set holds for it.

    link cap: capability one-to-one      # no two relationships share a capability
    require { all l: relationship { l.cap.type = l.type } }

Change the topology, or the requirement.",
};

pub static NOT_PROVED: Rule = Rule {
    name: "not-proved",
    severity: Severity::Warning,
    summary: "it could be neither proved nor refuted that a rule set reaches its final state",
    explanation: "\
The prover found no invariant that carries the proof, and no small instance in which a run goes wrong. The finding \
names the conditions that are open. State an `invariant` that the proof needs, or simplify the rule.",
};

pub static UNDECIDED: Rule = Rule {
    name: "undecided",
    severity: Severity::Warning,
    summary: "an instance has too many states or messages to be searched",
    explanation: "\
One run does not decide for this rule set, because its steps may disturb each other, and there are more states than \
the search visits; or more than 255 messages of one name can wait at one object. Nothing is claimed either way.

`setpoint prove` on the rule set says which rules disturb each other; `setpoint simulate --random SEED` tries single \
runs.",
};

pub static INVARIANT_BROKEN: Rule = Rule {
    name: "invariant-broken",
    severity: Severity::Error,
    summary: "a stated invariant does not hold in some reachable state",
    explanation: "\
A run from an initial state leads to a state in which the stated invariant is false. The finding shows the smallest \
instance that was found, and the run.

    invariant ready-first { all p: property where p.parent is started { p is ready } }

Strengthen the guard of the rule that breaks it, or correct the invariant.",
};

pub static VACUOUS_MODEL: Rule = Rule {
    name: "vacuous-model",
    severity: Severity::Error,
    summary: "a rule set has no initial state, or a rule that never applies",
    explanation: "\
A proof about nothing proves nothing. `init` must have an instance with an object of every class, and every rule \
must apply in some run.

    rule start(r: resource) { when r is initial and r is started then r becomes started }   # never applies

Correct the guard, or remove the rule.",
};

/// All of them, for `setpoint explain`.
pub static RULES: &[&Rule] = &[
    &MODEL_SYNTAX,
    &MODEL_NAMES,
    &DEADLOCK,
    &ENDLESS_RUN,
    &MALFORMED_INSTANCE,
    &NOT_PROVED,
    &UNDECIDED,
    &INVARIANT_BROKEN,
    &VACUOUS_MODEL,
];
