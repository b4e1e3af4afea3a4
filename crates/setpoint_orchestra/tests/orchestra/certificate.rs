//! z3 confirms every obligation of a certificate, and refuses those of a wrong proof.

use std::process::Command;

use setpoint_orchestra::certificate::certificate;
use setpoint_orchestra::models;
use setpoint_orchestra::parametric::{Effort, prove};
use setpoint_source::Sources;

/// The answers of z3, or `None` where it is not installed.
pub(crate) fn z3(name: &str, text: &str) -> Option<Vec<String>> {
    z3_with(name, text, &[])
}

/// The answers of z3, and where it does not know, those without matching of patterns, which runs in circles where a witness
/// has a witness.
pub(crate) fn z3_both_ways(name: &str, text: &str) -> Option<Vec<String>> {
    let without = z3_with(name, text, &["-t:10000", "smt.ematching=false"])?;
    if without.iter().all(|answer| answer == "unsat") {
        return Some(without);
    }
    let with = z3_with(name, text, &["-t:10000"])?;
    Some(
        with.into_iter()
            .zip(without)
            .map(|(one, other)| if other == "unknown" { one } else { other })
            .collect(),
    )
}

fn z3_with(name: &str, text: &str, options: &[&str]) -> Option<Vec<String>> {
    let path = std::env::temp_dir().join(format!("setpoint-{}-{name}.smt2", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let output = Command::new("z3").args(["-t:30000"]).args(options).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = output else {
        assert!(std::env::var_os("SETPOINT_REQUIRE_ALL").is_none(), "z3 is required and not installed");
        println!("skipped: z3 is not installed");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn z3_confirms_the_proofs_of_both_set_up_models() {
    for built_in in [&models::CLOUDFORMATION_SETUP, &models::TOSCA_SETUP] {
        let model = built_in.load(&Sources::new()).expect("it loads");
        let text = certificate(&model, &prove(&model, Effort::default()));
        let asked = text.matches("(check-sat)").count();
        assert!(asked > model.rules.len(), "{asked} obligations");
        let Some(answers) = z3(&model.name, &text) else { return };
        assert_eq!(answers, vec!["unsat"; asked], "{}", built_in.path);
    }
}

/// The certificate of the life of a stack is long. Its progress and measure are asked for in full, its invariants in part. The
/// largest questions of progress may take z3 longer than a test should last; it must not deny them.
#[test]
fn z3_confirms_the_proof_of_the_life_of_a_stack() {
    let model = models::CLOUDFORMATION_LIFECYCLE.load(&Sources::new()).expect("it loads");
    let text = certificate(&model, &prove(&model, Effort::default()));
    let mut parts = text.split("\n; (");
    let mut asked = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        if part.starts_with(['1', '2', '3']) || at % 60 == 0 {
            asked.push_str("\n; (");
            asked.push_str(part);
        }
    }
    let count = asked.matches("(check-sat)").count();
    assert!(count > model.rules.len(), "{count} obligations");
    let Some(answers) = z3("life", &asked) else { return };
    assert_eq!(answers.len(), count);
    let confirmed = answers.iter().filter(|answer| *answer == "unsat").count();
    let undecided = answers.iter().filter(|answer| *answer == "unknown").count();
    assert_eq!(confirmed + undecided, count, "{answers:?}");
    assert!(undecided <= 2, "{answers:?}");
}

/// A certificate is no rubber stamp: with an invariant that does not hold, or without the lemma, z3 says so.
#[test]
fn z3_does_not_confirm_what_is_wrong() {
    let model = crate::support::cloudformation();
    let mut proof = prove(&model, Effort::default());
    let stronger = crate::support::model(&format!(
        "{}\ninvariant wrong {{ all p: property {{ p.parent is initial }} }}",
        models::CLOUDFORMATION_SETUP.text
    ));
    proof.invariants.push(stronger.invariants[0].claims[0].formula.clone());
    let Some(answers) = z3("wrong", &certificate(&model, &proof)) else { return };
    assert!(answers.iter().any(|answer| answer != "unsat"), "{answers:?}");
    let mut proof = prove(&model, Effort::default());
    proof.minimal.clear();
    let Some(answers) = z3("lemma", &certificate(&model, &proof)) else { return };
    assert!(answers.iter().any(|answer| answer != "unsat"), "{answers:?}");
}

/// No invariant says that some worker has been chosen for a desk that is open, so progress is shown after each step only; the
/// certificate says no more.
#[test]
fn z3_confirms_progress_that_is_shown_step_by_step() {
    let text = |guard: &str| {
        format!(
            "model desks \"Desks\"
             class desk {{ states open, shut }}
             class worker {{ states waiting, chosen, ready, done link desk: desk }}
             rule prepare (w: worker) {{ when w is chosen and w.desk is open then w becomes ready }}
             rule finish (w: worker) {{ when w is ready {guard} then w becomes done }}
             init {{
               some w: worker {{ w is chosen and w.desk is open }}
               all w: worker {{ w is waiting|chosen }}
             }}
             final {{ some w: worker {{ w is done }} }}"
        )
    };
    let model = crate::support::model(&text(""));
    let mut proof = prove(&model, Effort::default());
    assert!(proof.answer.is_proved(), "{:?}", proof.answer);
    assert_eq!(proof.after_rules.as_ref().map(Vec::len), Some(2));
    let written = certificate(&model, &proof);
    assert!(!written.contains("where the invariants hold, some rule applies"), "{written}");
    let asked = written.matches("(check-sat)").count();
    let Some(answers) = z3("steps", &written) else { return };
    assert_eq!(answers, vec!["unsat"; asked], "{written}");
    // With a guard that not every state satisfies, the steps are not confirmed.
    let stuck = crate::support::model(&text("and all o: worker { o is not waiting }"));
    assert!(prove(&stuck, Effort::default()).answer.witness().is_some());
    let Some(answers) = z3("stuck", &certificate(&stuck, &proof)) else { return };
    assert!(answers.iter().any(|answer| answer != "unsat"), "{answers:?}");
    // Progress wherever the invariants hold was not shown, and does not hold.
    proof.after_rules = None;
    let Some(answers) = z3("everywhere", &certificate(&model, &proof)) else { return };
    assert!(answers.iter().any(|answer| answer != "unsat"), "{answers:?}");
}
