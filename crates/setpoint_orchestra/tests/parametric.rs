//! The parametric engine on the models of the dissertation.

mod support;

use setpoint_orchestra::concrete::Answer;
use setpoint_orchestra::parametric::{Effort, prove};
use support::{cloudformation, tosca};

#[test]
fn both_models_are_proved() {
    for model in [cloudformation(), tosca()] {
        let start = std::time::Instant::now();
        let proof = prove(&model, Effort::default());
        println!("{} {:?} {:?}", model.name, proof.answer, start.elapsed());
        for condition in &proof.conditions {
            println!(
                "({}) {} {:?} {}",
                condition.number, condition.statement, condition.answer, condition.reason
            );
        }
        for invariant in &proof.invariants {
            println!("  {}", setpoint_orchestra::describe::formula_text(&model, invariant));
        }
        println!("{:?} {:?} {:?} {:?}", proof.measure, proof.needed, proof.persistence, proof.vacuity);
        println!("{:?} {} {} {}", proof.suggestion, proof.instances, proof.states, proof.complete_to);
        println!("{:?}", proof.counterexample);
        assert_eq!(proof.answer, Answer::Yes);
    }
}
