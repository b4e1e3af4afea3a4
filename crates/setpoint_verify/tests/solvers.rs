//! Another solver gives the same verdicts; it may find another counterexample. Needs the feature `varisat`.

#![cfg(feature = "varisat")]

use setpoint_state::Semantics;
use setpoint_verify::{Backend, Options, sample, verify};

#[test]
fn both_solvers_give_the_same_verdicts() {
    for seed in 40_000..40_400 {
        let plan = sample::plan(seed);
        for semantics in [Semantics::Puppet, Semantics::Paper] {
            let said = |solver: Backend| {
                let verdicts = verify(&plan, &Options { semantics, solver, ..Options::default() });
                let word = |proved: bool, refuted: bool| (proved, refuted);
                [
                    word(verdicts.order.is_proved(), verdicts.order.is_refuted()),
                    word(verdicts.idempotent.is_proved(), verdicts.idempotent.is_refuted()),
                    word(verdicts.quiet.is_proved(), verdicts.quiet.is_refuted()),
                    word(verdicts.convergent.is_proved(), verdicts.convergent.is_refuted()),
                ]
            };
            let first = said(Backend::ALL[0]);
            for &other in &Backend::ALL[1..] {
                assert_eq!(first, said(other), "seed {seed}, {semantics:?}");
            }
        }
    }
}
