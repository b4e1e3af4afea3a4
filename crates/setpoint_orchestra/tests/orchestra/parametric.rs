//! The parametric engine on the models of the dissertation.

use crate::support::{cloudformation, model, tosca};
use setpoint_orchestra::describe::formula_text;
use setpoint_orchestra::models;
use setpoint_orchestra::parametric::{Effort, facts, follows, prove};
use setpoint_orchestra::report::proof_json;
use setpoint_source::Sources;

#[test]
fn both_models_are_proved_with_no_invariant_given() {
    for model in [cloudformation(), tosca()] {
        let proof = prove(&model, Effort::default());
        assert!(proof.answer.is_proved(), "{}", model.name);
        assert_eq!(proof.conditions.len(), 5);
        assert!(proof.conditions.iter().all(|condition| condition.answer.is_proved()));
        assert_eq!(proof.conditions[0].statement, "init → cont");
        assert!(proof.persistence.holds());
        assert!(proof.vacuity.is_fine());
        // Weights fall from state to state, as in the dissertation.
        let measure = proof.measure.expect("a measure");
        assert_eq!(measure.sums.len(), 1);
    }
}

#[test]
fn each_of_the_twelve_invariants_follows_from_what_is_inferred() {
    let text = format!("{}\n{}", models::TOSCA_SETUP.text, include_str!("support/twelve.spm"));
    let with_invariants = model(&text);
    assert_eq!(with_invariants.invariants.len(), 12);
    let proof = prove(&tosca(), Effort::default());
    for invariant in &with_invariants.invariants {
        for claim in &invariant.claims {
            assert!(follows(&with_invariants, &proof.invariants, &claim.formula), "{}", invariant.name);
        }
    }
    // What is not an invariant does not follow.
    let wrong = model(&format!(
        "{}\ninvariant wrong {{ all l: relationship where l.cap is open {{ l.req is unbound }} }}",
        models::TOSCA_SETUP.text
    ));
    assert!(!follows(&wrong, &proof.invariants, &wrong.invariants[0].claims[0].formula));
}

#[test]
fn stated_invariants_are_answered() {
    let text = format!("{}\n{}", models::TOSCA_SETUP.text, include_str!("support/twelve.spm"));
    let proof = prove(&model(&text), Effort::default());
    assert!(proof.answer.is_proved());
    assert!(proof.stated.iter().all(|stated| stated.answer.is_proved()));
}

#[test]
fn less_acyclicity_than_declared_is_enough_for_tosca() {
    let model = tosca();
    let json = proof_json(&model, &prove(&model, Effort::default()), &Sources::new());
    let needed: Vec<&str> =
        json["acyclic"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(
        needed,
        [
            "acyclic l.req.node -> l.cap.node for l: relationship where l of hostedOn",
            "acyclic l.req.node -> l.cap.node for l: relationship where l of dependsOn|connectsTo",
        ]
    );
    // That is enough indeed: the model that asks for no more is proved as well.
    let weaker = models::TOSCA_SETUP.text.replace(
        "acyclic l.req.node -> l.cap.node for l: relationship",
        "acyclic l.req.node -> l.cap.node for l: relationship where l of hostedOn\n  \
         acyclic l.req.node -> l.cap.node for l: relationship where l of dependsOn|connectsTo",
    );
    assert!(prove(&crate::support::model(&weaker), Effort::default()).answer.is_proved());
    // And no less: each by itself leaves a circle.
    for kinds in ["hostedOn", "dependsOn|connectsTo", "hostedOn|dependsOn", "hostedOn|connectsTo"] {
        let less = models::TOSCA_SETUP.text.replace(
            "acyclic l.req.node -> l.cap.node for l: relationship",
            &format!("acyclic l.req.node -> l.cap.node for l: relationship where l of {kinds}"),
        );
        assert!(prove(&crate::support::model(&less), Effort::default()).answer.is_refuted(), "{kinds}");
    }
}

#[test]
fn without_acyclicity_the_circle_is_shown_and_the_cure_named() {
    let text = models::CLOUDFORMATION_SETUP.text.replace("acyclic p.parent -> p.refer for p: property", "");
    let model = model(&text);
    let proof = prove(&model, Effort::default());
    assert!(proof.answer.is_refuted());
    let found = proof.answer.witness().cloned().expect("a counterexample");
    assert_eq!(found.instance.objects.len(), 2, "a resource whose property refers to itself");
    assert_eq!(proof.suggestion, ["acyclic x.parent -> x.refer for x: property"]);
}

#[test]
fn the_life_of_a_stack_is_proved() {
    let model = models::CLOUDFORMATION_LIFECYCLE.load(&Sources::new()).expect("it loads");
    let proof = prove(&model, Effort::default());
    assert!(proof.answer.is_proved(), "{:?}", proof.conditions);
    assert!(proof.vacuity.is_fine());
    assert!(!proof.persistence.holds(), "a failure takes the place of a success");
    // What is made waits for what it needs, what is taken away for what needs it: one relation, both directions.
    let directions: Vec<bool> = proof.minimal.iter().map(|minimal| minimal.reversed).collect();
    assert_eq!(directions, [false, true]);
}

#[test]
fn what_is_built_in_about_a_rule_set_is_what_is_proved() {
    for built_in in models::ALL {
        let model = built_in.load(&Sources::new()).expect("it loads");
        assert_eq!(facts(&model), built_in.facts, "{}", built_in.path);
    }
}

/// An inferred invariant is text of the rule language: it can be stated, and is then proved.
#[test]
fn inferred_invariants_are_written_in_the_rule_language() {
    for built_in in [&models::CLOUDFORMATION_SETUP, &models::TOSCA_SETUP] {
        let model = built_in.load(&Sources::new()).expect("it loads");
        let proof = prove(&model, Effort::default());
        let stated: Vec<String> = proof
            .invariants
            .iter()
            .enumerate()
            .map(|(at, one)| format!("invariant i{at} {{ {} }}", formula_text(&model, one)))
            .collect();
        let again = crate::support::model(&format!("{}\n{}", built_in.text, stated.join("\n")));
        assert_eq!(again.invariants.len(), proof.invariants.len());
        for (one, other) in again.invariants.iter().zip(&proof.invariants) {
            assert!(follows(&model, std::slice::from_ref(other), &one.claims[0].formula));
            assert!(follows(&model, std::slice::from_ref(&one.claims[0].formula), other));
        }
    }
}
