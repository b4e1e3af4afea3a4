//! Rule sets of our own: the right ones are proved without an invariant that helps, the wrong ones refuted by a shortest
//! run. And every guard of every proved one deleted in turn: the verdict is that of a search through all instances up to
//! four objects.

use std::path::PathBuf;

use crate::certificate::z3_both_ways;
use crate::support::model;
use setpoint_orchestra::certificate::certificate;
use setpoint_orchestra::concrete::{Facts, Ground, Limits, check, explore};
use setpoint_orchestra::parametric::{Effort, Unproved, Wrong, prove};
use setpoint_orchestra::{ClassId, Formula, Instance, Link, Model, Object, ObjectId, models};
use setpoint_source::Sources;

pub(crate) fn rule_set_texts(folder: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/orchestra").join(folder);
    let mut out: Vec<(String, String)> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spm"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    out.sort();
    out
}

fn rule_sets(folder: &str) -> Vec<(String, Model)> {
    rule_set_texts(folder).into_iter().map(|(name, text)| (name, model(&text))).collect()
}

#[test]
fn right_rule_sets_are_proved_without_help_and_z3_agrees() {
    let sets = rule_sets("right");
    assert!(sets.len() >= 12);
    for (name, model) in sets {
        let proof = prove(&model, Effort::default());
        let sources = Sources::new();
        let text = setpoint_orchestra::report::proof_text(&model, &proof, &sources);
        assert!(proof.answer.is_proved(), "{name}\n{text}");
        let text = certificate(&model, &proof);
        let asked = text.matches("(check-sat)").count();
        let Some(answers) = z3_both_ways(&name, &text) else { continue };
        assert_eq!(answers, vec!["unsat"; asked], "{name}");
    }
}

/// Undeployment and failure of TOSCA nodes: proved for any number, with nothing but what their files say.
#[test]
fn the_other_models_of_tosca_are_proved() {
    for built_in in [&models::TOSCA_UNDEPLOY, &models::TOSCA_FAILURE] {
        let model = built_in.load(&Sources::new()).unwrap();
        let proof = prove(&model, Effort::default());
        assert!(proof.answer.is_proved(), "{}: {:?}", built_in.path, proof.answer.reasons());
        assert_eq!(proof.facts(), built_in.facts, "{}", built_in.path);
        let text = certificate(&model, &proof);
        let asked = text.matches("(check-sat)").count();
        let Some(answers) = z3_both_ways(built_in.name(), &text) else { continue };
        // The question of progress may take z3 longer than a test should last; it must not deny it.
        let undecided = answers.iter().filter(|answer| *answer == "unknown").count();
        let confirmed = answers.iter().filter(|answer| *answer == "unsat").count();
        assert!(confirmed + undecided == asked && undecided <= 1, "{}: {answers:?}", built_in.path);
    }
}

#[test]
fn wrong_rule_sets_are_refuted_by_a_shortest_run() {
    let sets = rule_sets("wrong");
    assert!(sets.len() >= 12);
    for (name, model) in sets {
        let proof = prove(&model, Effort::default());
        let found = proof.answer.witness().unwrap_or_else(|| panic!("{name}: {:?}", proof.answer));
        let ground = Ground::new(&model, &found.instance).unwrap();
        assert!(ground.malformed.is_empty(), "{name}");
        // No run of this instance gets stuck or breaks the invariant in fewer steps.
        let shortest = match &found.wrong {
            Wrong::Deadlock(_) => {
                shortest(&ground, |state| !ground.is_final(state) && ground.enabled_steps(state).is_empty())
            }
            Wrong::Invariant(at) => shortest(&ground, |state| {
                !model.invariants[*at].claims.iter().all(|claim| ground.satisfies(&claim.formula, state))
            }),
            Wrong::Endless { .. } => found.run.steps.len(),
        };
        assert_eq!(found.run.steps.len(), shortest, "{name}");
        // And no smaller instance goes wrong.
        let smaller = search(&model, (found.instance.objects.len() - 1).min(4));
        assert!(smaller.is_none(), "{name}: {smaller:?}");
    }
}

/// The number of steps to the nearest state of a kind, breadth first, with nothing but the steps themselves.
fn shortest(ground: &Ground<'_>, wanted: impl Fn(&[u8]) -> bool) -> usize {
    let mut seen = std::collections::BTreeSet::from([ground.start.clone()]);
    let mut layer = vec![ground.start.clone()];
    for depth in 0.. {
        if layer.iter().any(|state| wanted(state)) {
            return depth;
        }
        let mut next = Vec::new();
        for state in layer {
            for step in ground.enabled_steps(&state) {
                let mut after = state.clone();
                Ground::apply(&ground.steps[step], &mut after);
                if seen.insert(after.clone()) {
                    next.push(after);
                }
            }
        }
        assert!(!next.is_empty(), "no such state");
        layer = next;
    }
    0
}

/// The first instance with at most so many objects in which a run goes wrong, among all of them: every number of objects,
/// every type, state and link.
pub(crate) fn search(model: &Model, most: usize) -> Option<Instance> {
    for total in 0..=most {
        let mut found = None;
        each_size(total, &mut vec![0; model.classes.len()], 0, &mut |sizes| {
            let mut objects = Vec::new();
            for (class, &size) in model.class_ids().zip(sizes) {
                objects.extend((0..size).map(|number| Object {
                    class,
                    kind: None,
                    id: format!("{}{number}", model.class(class).name),
                    state: None,
                    links: Vec::new(),
                    span: None,
                }));
            }
            if found.is_none() {
                found = fill(model, &mut objects, 0);
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

fn each_size(left: usize, sizes: &mut Vec<usize>, class: usize, visit: &mut impl FnMut(&[usize])) {
    if class == sizes.len() {
        if left == 0 {
            visit(sizes);
        }
        return;
    }
    for size in 0..=left {
        sizes[class] = size;
        each_size(left - size, sizes, class + 1, visit);
    }
}

fn fill(model: &Model, objects: &mut Vec<Object>, at: usize) -> Option<Instance> {
    if at == objects.len() {
        let instance = Instance { name: "all".to_owned(), span: None, objects: objects.clone() };
        return goes_wrong(model, &instance).then_some(instance);
    }
    let class = model.class(objects[at].class);
    let kinds: Vec<Option<u8>> =
        if class.types.is_empty() { vec![None] } else { (0..class.types.len() as u8).map(Some).collect() };
    let states: Vec<Option<u8>> =
        if class.states.is_empty() { vec![None] } else { (0..class.states.len() as u8).map(Some).collect() };
    let mut links: Vec<Vec<Link>> = vec![Vec::new()];
    for declared in &class.links {
        let targets: Vec<ObjectId> = members(objects, declared.target);
        links = links
            .into_iter()
            .flat_map(|known| {
                targets.iter().map(move |&target| {
                    let mut more = known.clone();
                    more.push(Link { target, span: None });
                    more
                })
            })
            .collect();
    }
    for &kind in &kinds {
        for &state in &states {
            for targets in &links {
                objects[at].kind = kind;
                objects[at].state = state;
                objects[at].links.clone_from(targets);
                let found = fill(model, objects, at + 1);
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

fn members(objects: &[Object], class: ClassId) -> Vec<ObjectId> {
    (0..objects.len() as u32).map(ObjectId).filter(|id| objects[id.index()].class == class).collect()
}

/// A run of a well-formed instance gets stuck, never ends, or breaks an invariant.
fn goes_wrong(model: &Model, instance: &Instance) -> bool {
    let Ok(ground) = Ground::new(model, instance) else { return false };
    if !ground.malformed.is_empty() || instance.objects.is_empty() && !starts_empty(model, &ground) {
        return false;
    }
    let outcome = check(&ground, &Facts::default(), Limits::default());
    let broken = |state: &[u8]| {
        model
            .invariants
            .iter()
            .flat_map(|one| &one.claims)
            .any(|claim| !ground.satisfies(&claim.formula, state))
    };
    let mut any_broken = false;
    explore(&ground, 100_000, |state| {
        any_broken |= broken(state);
        any_broken
    });
    outcome.answer.is_refuted() || any_broken
}

fn starts_empty(model: &Model, ground: &Ground<'_>) -> bool {
    model.init.iter().all(|claim| ground.satisfies(&claim.formula, &ground.start))
}

/// The conjuncts of all guards, each taken out in turn.
fn without_one_guard(model: &Model) -> Vec<(String, Model)> {
    let mut out = Vec::new();
    for (at, rule) in model.rules.iter().enumerate() {
        for (number, guard) in rule.guards.iter().enumerate() {
            let parts: Vec<Formula> = guard.formula.conjuncts().into_iter().cloned().collect();
            for (left_out, part) in parts.iter().enumerate() {
                let mut kept = parts.clone();
                kept.remove(left_out);
                let mut changed = model.clone();
                changed.rules[at].guards[number].formula = Formula::And(kept);
                let text = setpoint_orchestra::describe::guard_text(model, &rule.parameters, part);
                out.push((format!("{}: {text}", rule.name), changed));
            }
        }
    }
    out
}

/// Every guard deleted: proved exactly if no instance up to four objects goes wrong, unless the smallest that goes wrong is
/// larger, or a rule never applies any more.
#[test]
fn each_guard_deleted_gives_the_verdict_of_a_search() {
    let (mut proved, mut refuted, mut larger, mut open) = (0, 0, 0, Vec::new());
    for (name, model) in rule_sets("right") {
        for (guard, changed) in without_one_guard(&model) {
            let proof = prove(&changed, Effort::default());
            let found = search(&changed, 4);
            let what = format!("{name}, {guard}");
            if let Some(witness) = proof.answer.witness() {
                if found.is_some() {
                    refuted += 1;
                } else {
                    assert!(witness.instance.objects.len() > 4, "{what}");
                    larger += 1;
                }
            } else {
                assert!(found.is_none(), "{what}: {found:?}");
                let vacuous =
                    |reason: &Unproved| !matches!(reason, Unproved::Condition(_) | Unproved::Invariant(_));
                if proof.answer.is_proved() {
                    proved += 1;
                } else if !proof.answer.reasons().iter().all(vacuous) {
                    open.push(what);
                }
            }
        }
    }
    println!(
        "{proved} proved, {refuted} refuted as the search, {larger} by a larger instance, open: {open:#?}"
    );
    // The last one stays a candidate whatever the others are: no invariant of the forms that are tried says so.
    assert_eq!(open, ["election, withdraw: m is candidate"]);
}
