//! Proofs.

use serde_json::{Map, Value, json};
use setpoint_source::{Answer, Sources, Symbol};

use super::findings::{allowed_text, instance_text};
use super::run::{place_json, plural, run_json, run_text, state_json};
use crate::concrete::Ground;
use crate::describe::{formula_text, guard_text};
use crate::model::{Bound, Model};
use crate::parametric::{
    Counted, Counterexample, Interference, Measure, Minimal, Proof, Sum, Wrong, relation_text,
};

fn word<W, R>(answer: &Answer<W, R>) -> &'static str {
    match answer {
        Answer::Proved(_) => "proved",
        Answer::Refuted { .. } => "refuted",
        Answer::Unknown(_) => "unknown",
    }
}

/// The proof for people.
pub fn proof_text(model: &Model, proof: &Proof, sources: &Sources) -> String {
    let title = model.title.as_deref().unwrap_or(&model.name);
    let mut out = match &proof.answer {
        Answer::Proved(_) => format!(
            "{title}: proved. Every run from every start reaches a final state, for any number of objects.\n"
        ),
        Answer::Refuted { .. } => {
            format!("{title}: refuted. Some run never reaches a final state, or breaks an invariant.\n")
        }
        Answer::Unknown(_) => format!("{title}: unknown. It was neither proved nor refuted.\n"),
    };
    out.push_str("\nConditions\n");
    for condition in &proof.conditions {
        out.push_str(&format!(
            "  ({}) {:<30} {:<8} {}\n",
            condition.number,
            condition.statement,
            word(&condition.answer),
            condition.reason()
        ));
    }
    if !proof.stated.is_empty() {
        out.push_str("\nStated invariants\n");
        for stated in &proof.stated {
            out.push_str(&format!("  {:<34} {}\n", stated.name.as_str(), word(&stated.answer)));
        }
    }
    out.push_str("\nInferred invariants\n");
    for invariant in &proof.invariants {
        out.push_str(&format!("  {}\n", formula_text(model, invariant)));
    }
    if let Some(measure) = &proof.measure {
        out.push_str(&format!("\nMeasure\n  {}\n", measure_text(model, measure)));
    }
    if !proof.needed.is_empty() {
        out.push_str("\nAcyclicity that suffices, each relation by itself\n");
        for needed in &proof.needed {
            out.push_str(&format!("  {}\n", relation_text(model, needed.relation, &needed.edges)));
        }
    }
    out.push_str("\nOrder of steps\n");
    out.push_str(&format!("  {}\n", persistence_text(model, proof)));
    out.push_str("\nNot vacuous\n");
    out.push_str(&format!(
        "  {}; {}\n",
        if proof.vacuity.inhabited {
            "init has an instance with an object of every class"
        } else {
            "no instance of init has an object of every class"
        },
        if proof.vacuity.unused.is_empty() {
            "every rule applies in some run".to_owned()
        } else {
            format!("never seen to apply: {}", rule_names(model, &proof.vacuity.unused))
        }
    ));
    out.push_str(&format!(
        "  {} small {} run in every way, {} states; complete up to {} objects\n",
        proof.instances,
        plural(proof.instances, "instance", "instances"),
        proof.states,
        proof.complete_to
    ));
    if let Some(found) = proof.answer.witness()
        && let Ok(ground) = Ground::new(model, &found.instance)
    {
        out.push_str(&format!("\nCounterexample: {}\n", wrong_text(model, found)));
        out.push_str(&format!("  {}\n\n", instance_text(&ground)));
        out.push_str(&run_text(&ground, &found.run, true, sources));
    }
    if let Some(allowed) = &proof.allowed {
        out.push_str(&format!("\nNot excluded\n  {}\n", allowed_text(model, allowed)));
        if let Some(helpful) = &allowed.helpful {
            let word = if allowed.suffices { "it would be enough to know" } else { "it would help to know" };
            out.push_str(&format!("  {word}: {}\n", formula_text(model, helpful)));
        }
    }
    out
}

fn wrong_text(model: &Model, found: &Counterexample) -> String {
    match &found.wrong {
        Wrong::Deadlock(_) => "a run that ends before the final state".to_owned(),
        Wrong::Endless { prefix } => format!("a run that repeats itself from step {}", prefix + 1),
        Wrong::Invariant(at) => {
            format!("a run to a state in which `{}` is false", model.invariants[*at].name)
        }
    }
}

/// What is said of `x`, an object of the set of which a minimal element is used.
fn set_text(model: &Model, minimal: &Minimal) -> String {
    let object = Bound { var: 0, name: Symbol::new("x"), class: minimal.class };
    guard_text(model, &[object], &minimal.set)
}

fn rule_names(model: &Model, rules: &[usize]) -> String {
    rules.iter().map(|&rule| model.rules[rule].name.as_str()).collect::<Vec<_>>().join(", ")
}

fn persistence_text(model: &Model, proof: &Proof) -> String {
    let persistence = &proof.persistence;
    if persistence.holds() {
        return format!(
            "persistent and confluent: in {} pairs of rules no step disables another, and both orders lead to the same state",
            persistence.pairs
        );
    }
    let pair = |one: &Interference| {
        format!("{} and {}", model.rules[one.fired].name, model.rules[one.disturbed].name)
    };
    let disabling: Vec<String> = persistence.disabling.iter().map(pair).collect();
    let conflicting: Vec<String> = persistence.conflicting.iter().map(pair).collect();
    let mut parts = Vec::new();
    if !disabling.is_empty() {
        parts.push(format!("one step may disable another: {}", disabling.join("; ")));
    }
    if !conflicting.is_empty() {
        parts.push(format!("two steps may give different states to one object: {}", conflicting.join("; ")));
    }
    parts.join(". ")
}

fn measure_text(model: &Model, measure: &Measure) -> String {
    let sums: Vec<String> = measure.sums.iter().map(|sum| sum_text(model, sum)).collect();
    let text =
        if sums.len() == 1 { sums.concat() } else { format!("in this order: {}", sums.join("; then ")) };
    if measure.until_final { format!("until the state is final: {text}") } else { text }
}

fn sum_text(model: &Model, sum: &Sum) -> String {
    let parts: Vec<String> = sum
        .iter()
        .map(|(counted, weight)| {
            let name = counted_text(model, *counted);
            if *weight == 1 { format!("#({name})") } else { format!("{weight}·#({name})") }
        })
        .collect();
    parts.join(" + ")
}

fn counted_text(model: &Model, counted: Counted) -> String {
    match counted {
        Counted::State(class, state) => {
            let class = model.class(class);
            format!("{} {}", class.name, class.states[state as usize])
        }
        Counted::Message(class, message) => {
            let class = model.class(class);
            format!("{} at {}", class.messages[message as usize], class.name)
        }
    }
}

/// The proof for programs; the documentation shows it.
pub fn proof_json(model: &Model, proof: &Proof, sources: &Sources) -> Value {
    let conditions: Vec<Value> = proof
        .conditions
        .iter()
        .map(|condition| {
            json!({
                "number": condition.number,
                "name": condition.name,
                "statement": condition.statement,
                "verdict": word(&condition.answer),
                "reason": condition.reason(),
            })
        })
        .collect();
    let stated: Map<String, Value> =
        proof.stated.iter().map(|stated| (stated.name.to_string(), json!(word(&stated.answer)))).collect();
    let invariants: Vec<String> = proof.invariants.iter().map(|one| formula_text(model, one)).collect();
    let measure = proof.measure.as_ref().map(|measure| {
        let sums: Vec<Value> = measure
            .sums
            .iter()
            .map(|sum| {
                let weights: Map<String, Value> = sum
                    .iter()
                    .map(|(counted, weight)| (counted_text(model, *counted), json!(weight)))
                    .collect();
                Value::Object(weights)
            })
            .collect();
        json!({ "text": measure_text(model, measure), "sums": sums })
    });
    let needed: Vec<String> =
        proof.needed.iter().map(|needed| relation_text(model, needed.relation, &needed.edges)).collect();
    let after_rules = proof.after_rules.iter().flatten().flatten();
    let lemma: Vec<Value> = proof
        .minimal
        .iter()
        .chain(after_rules)
        .map(|minimal| {
            json!({
                "class": &*model.class(minimal.class).name,
                "set": set_text(model, minimal),
                "relation": relation_text(model, minimal.relation, &minimal.edges),
            })
        })
        .collect();
    let pairs = |list: &[Interference]| -> Vec<Value> {
        list.iter()
            .map(|one| json!([&*model.rules[one.fired].name, &*model.rules[one.disturbed].name]))
            .collect()
    };
    let counterexample = proof.answer.witness().and_then(|found| {
        let ground = Ground::new(model, &found.instance).ok()?;
        let kind = match found.wrong {
            Wrong::Deadlock(_) => "deadlock",
            Wrong::Endless { .. } => "endless-run",
            Wrong::Invariant(_) => "broken-invariant",
        };
        Some(json!({
            "kind": kind,
            "instance": instance_text(&ground),
            "start": state_json(&ground, &ground.start),
            "run": run_json(&ground, &found.run, sources),
        }))
    });
    json!({
        "model": &*model.name,
        "place": place_json(model.finals.first().map(|claim| claim.span), sources),
        "reaches_final": match &proof.answer {
            Answer::Proved(_) => "yes",
            Answer::Refuted { .. } => "no",
            Answer::Unknown(_) => "unknown",
        },
        "verdict": word(&proof.answer),
        "conditions": conditions,
        "stated_invariants": stated,
        "invariants": invariants,
        "measure": measure,
        "acyclic": needed,
        "acyclic_suggested": proof.suggestion,
        "minimal_elements": lemma,
        "persistent": proof.persistence.disabling.is_empty(),
        "confluent": proof.persistence.holds(),
        "interference": { "disabling": pairs(&proof.persistence.disabling), "conflicting": pairs(&proof.persistence.conflicting) },
        "vacuity": {
            "inhabited": proof.vacuity.inhabited,
            "unused_rules": proof.vacuity.unused.iter().map(|&rule| json!(&*model.rules[rule].name)).collect::<Vec<_>>(),
            "dead_rules": proof.vacuity.dead.iter().map(|&rule| json!(&*model.rules[rule].name)).collect::<Vec<_>>(),
        },
        "small_instances": { "count": proof.instances, "states": proof.states, "complete_to_objects": proof.complete_to },
        "counterexample": counterexample,
        "not_excluded": proof.allowed.as_ref().map(|allowed| json!({
            "instance": allowed_text(model, allowed),
            "endless": matches!(allowed.wrong, Wrong::Endless { .. }),
            "helpful": allowed.helpful.as_ref().map(|one| formula_text(model, one)),
            "suffices": allowed.suffices,
        })),
    })
}
