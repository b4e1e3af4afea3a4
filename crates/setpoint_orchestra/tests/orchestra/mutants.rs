//! Rule sets with one mistake each are refuted by a run that can be replayed.

use crate::support::model;
use setpoint_orchestra::concrete::Ground;
use setpoint_orchestra::models;
use setpoint_orchestra::parametric::{Effort, Wrong, prove};

const READY_FIRST: &str =
    "invariant ready-first { all p: property where p.parent is started { p is ready } }";

/// The text of a rule is replaced; `None` stands for the part behind `when` or `then` that is taken out.
const CLOUDFORMATION: [(&str, &str, &str); 4] = [
    ("R01", "when all p: property where p.parent = r { p is ready }", ""),
    ("R01", "p.parent = r", "p.refer = r"),
    ("R02", "p.refer is started", "p.parent is started"),
    ("R02", "p.refer is started", "p.refer is initial"),
];

const TOSCA: [(&str, &str, &str); 20] = [
    ("R01", " and all q: requirement where q.node = n and q of hostedOn { q is ready }", ""),
    ("R01", " and q of hostedOn", ""),
    ("R02", " and all q: requirement where q.node = n { q is ready }", ""),
    ("R02", "where q.node = n {", "where q.node = n and q of hostedOn {"),
    ("R03", "c.node is created|started", "c.node is initial"),
    ("R04", "l.req is unbound", "l.req is waiting"),
    ("R04", "l.cap is available", "l.cap is open"),
    ("R05", "c.node is created|started", "c.node is initial"),
    ("R06", "c.node is started", "c.node is created"),
    ("R07", "l.req.node is created", "l.req.node is initial"),
    ("R07", "l.cap is open|available", "l.cap is open"),
    ("R08", "l.cap is available", "l.cap is open"),
    ("R09", ", c gets opened", ""),
    ("R09", "c.node is created|started", "c.node is initial"),
    ("R10", ", c gets ready", ""),
    ("R10", "c gets ready", "c gets opened"),
    ("R11", "l.req.node is created", "l.req.node is started"),
    ("R11", ", l.cap loses opened", ""),
    ("R12", ", l.cap loses ready", ""),
    ("R12", "l.req is waiting", "l.req is unbound"),
];

/// Replaces a text within one rule.
fn mutate(text: &str, rule: &str, old: &str, new: &str) -> String {
    let start = text.find(&format!("rule {rule} ")).expect("the rule");
    let end = text[start..].find("\n}").map_or(text.len(), |at| start + at);
    let body = &text[start..end];
    assert!(body.contains(old), "{rule} has no `{old}`");
    format!("{}{}{}", &text[..start], body.replacen(old, new, 1), &text[end..])
}

fn assert_refuted(text: &str, name: &str) {
    let model = model(text);
    let proof = prove(&model, Effort::default());
    assert!(proof.answer.is_refuted(), "{name}");
    let found = proof.answer.witness().cloned().expect("a counterexample");
    // Replay, step by step, from the initial state of the instance.
    let ground = Ground::new(&model, &found.instance).unwrap();
    assert!(ground.malformed.is_empty(), "{name}: {:?}", ground.malformed);
    assert!(ground.cyclic_relation().is_none(), "{name}");
    let mut state = ground.start.clone();
    for &step in &found.run.steps {
        assert!(ground.enabled(&ground.steps[step], &state), "{name}");
        assert!(!ground.is_final(&state) || matches!(found.wrong, Wrong::Invariant(_)), "{name}");
        Ground::apply(&ground.steps[step], &mut state);
    }
    match found.wrong {
        Wrong::Deadlock(explanation) => {
            assert!(ground.enabled_steps(&state).is_empty() && !ground.is_final(&state), "{name}");
            assert!(!explanation.stuck.is_empty(), "{name}");
        }
        Wrong::Invariant(at) => {
            let broken = &model.invariants[at].claims;
            assert!(broken.iter().any(|claim| !ground.satisfies(&claim.formula, &state)), "{name}");
        }
        Wrong::Endless { prefix } => assert!(prefix < found.run.steps.len(), "{name}"),
    }
}

#[test]
fn mutants_of_the_cloudformation_rules_are_refuted() {
    let original = format!("{}\n{READY_FIRST}", models::CLOUDFORMATION_SETUP.text);
    assert!(prove(&model(&original), Effort::default()).answer.is_proved());
    for (rule, old, new) in CLOUDFORMATION {
        assert_refuted(&mutate(&original, rule, old, new), &format!("{rule}: {old} → {new}"));
    }
}

#[test]
fn mutants_of_the_tosca_rules_are_refuted() {
    let original = format!("{}\n{}", models::TOSCA_SETUP.text, include_str!("support/twelve.spm"));
    for (rule, old, new) in TOSCA {
        assert_refuted(&mutate(&original, rule, old, new), &format!("{rule}: {old} → {new}"));
    }
}

/// A rule set without one of its rules is stuck somewhere.
#[test]
fn each_rule_is_needed() {
    for (built_in, count) in [(&models::CLOUDFORMATION_SETUP, 2), (&models::TOSCA_SETUP, 12)] {
        for number in 1..=count {
            let rule = format!("rule R{number:02} ");
            let start = built_in.text.find(&rule).expect("the rule");
            let end = start + built_in.text[start..].find("\n}\n").expect("its end") + 3;
            let text = format!("{}{}", &built_in.text[..start], &built_in.text[end..]);
            assert_refuted(&text, &rule);
        }
    }
}

/// Mistakes in the life of a stack: each leaves a stack that never comes to rest.
#[test]
fn mutants_of_the_life_of_a_stack_are_refuted() {
    let text = models::CLOUDFORMATION_LIFECYCLE.text;
    let mutants = [
        ("skip", "r.stack is rolling-back", "r.stack is done"),
        ("undo-create", "current|restored|left|gone", "restored|left|gone"),
        ("rolled-back", "r is current|restored|left", "r is current|restored"),
        ("delete", "d.to = r { d.from is left|gone }", "d.from = r { d.to is left }"),
    ];
    for (rule, old, new) in mutants {
        assert_refuted(&mutate(text, rule, old, new), &format!("{rule}: {old} to {new}"));
    }
    // What stays may need what is replaced: then the new generation waits for the old one for ever.
    let without = text.replace("  all d: reference where d.to of old { d.from of old }\n", "");
    assert_refuted(&without, "without the requirement");
}
