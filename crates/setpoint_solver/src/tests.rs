use setpoint_testing::Random;

use crate::{Backend, Choice, Circuit, Limits, Lit, Outcome, Solver};

/// A circuit for every solver that is built in.
fn circuits() -> impl Iterator<Item = Circuit> {
    Backend::ALL.iter().map(|&backend| Circuit::with_backend(backend, Limits::default()))
}

/// Every gate agrees with its truth table, whatever values its inputs are given.
#[test]
fn gates_have_their_truth_tables() {
    for (bits, mut circuit) in (0..8u8).flat_map(|bits| circuits().map(move |circuit| (bits, circuit))) {
        let inputs: Vec<Lit> = (0..3).map(|_| circuit.fresh()).collect();
        let value = |at: usize| bits >> at & 1 == 1;
        let gates = [
            (circuit.and(&inputs), value(0) && value(1) && value(2)),
            (circuit.or(&inputs), value(0) || value(1) || value(2)),
            (circuit.implies(inputs[0], inputs[1]), !value(0) || value(1)),
            (circuit.equal(inputs[0], inputs[1]), value(0) == value(1)),
            (circuit.choose(inputs[0], inputs[1], inputs[2]), if value(0) { value(1) } else { value(2) }),
        ];
        let given: Vec<Lit> = inputs.iter().enumerate().map(|(at, &lit)| lit.signed(value(at))).collect();
        assert!(circuit.solve(&given).is_sat());
        for (gate, expected) in gates {
            assert_eq!(circuit.is_true(gate), expected);
        }
    }
}

#[test]
fn constants_disappear() {
    let mut circuit = Circuit::new();
    let a = circuit.fresh();
    let (yes, no) = (circuit.constant(true), circuit.constant(false));
    assert_eq!(circuit.and(&[a, yes]), a);
    assert_eq!(circuit.and(&[a, no]), no);
    assert_eq!(circuit.or(&[a, !a]), yes);
    assert_eq!(circuit.and(&[]), yes);
}

#[test]
fn a_choice_has_exactly_one_value() {
    for (count, mut circuit) in (1..5).flat_map(|count| circuits().map(move |circuit| (count, circuit))) {
        let choice = Choice::new(&mut circuit, count);
        let mut seen = vec![false; count];
        while circuit.solve(&[]).is_sat() {
            let value = choice.value(&circuit).unwrap();
            assert!(!std::mem::replace(&mut seen[value], true));
            let blocked = !choice.is(&circuit, value);
            circuit.assert(&[blocked]);
        }
        assert!(seen.iter().all(|&value| value));
    }
}

#[test]
fn a_minimal_core_has_nothing_to_spare() {
    for mut circuit in circuits() {
        let lits: Vec<Lit> = (0..6).map(|_| circuit.fresh()).collect();
        circuit.assert(&[!lits[1], !lits[4]]);
        circuit.assert(&[!lits[0], !lits[2], !lits[3]]);
        let core = circuit.minimal_core(&lits).unwrap();
        assert!(!circuit.solve(&core).is_sat());
        for at in 0..core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            assert!(circuit.solve(&fewer).is_sat());
        }
    }
}

/// More pigeons than holes: a refutation that needs many conflicts.
fn pigeons(solver: &mut dyn Solver, holes: usize) -> Outcome {
    let at: Vec<Vec<Lit>> =
        (0..=holes).map(|_| (0..holes).map(|_| Lit::new(solver.new_var(), true)).collect()).collect();
    for pigeon in &at {
        solver.add_clause(pigeon);
    }
    for hole in 0..holes {
        for one in 0..=holes {
            for other in 0..one {
                let clash = [&at[one], &at[other]].map(|pigeon| !pigeon[hole]);
                solver.add_clause(&clash);
            }
        }
    }
    solver.solve(&[])
}

#[test]
fn a_limit_ends_in_unknown() {
    let limits = Limits { conflicts: Some(10), ..Limits::default() };
    assert_eq!(pigeons(&mut Backend::Batsat.solver(limits), 7), Outcome::Unknown);
}

/// Far more work than the time allows: the search itself looks at the clock.
#[test]
fn a_deadline_ends_a_search() {
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(50);
    let limits = Limits { deadline: Some(deadline), ..Limits::default() };
    assert_eq!(pigeons(&mut Backend::Batsat.solver(limits), 14), Outcome::Unknown);
}

#[test]
fn without_limits_every_solver_refutes() {
    for backend in Backend::ALL {
        assert_eq!(pigeons(&mut backend.solver(Limits::default()), 6), Outcome::Unsat);
    }
}

/// Clauses made by chance, asked with assumptions one after the other, as verifiers do.
#[test]
fn all_solvers_give_the_same_answers() {
    let mut random = Random::new(7);
    let mut lit_of = |lits: &[Lit]| random.pick(lits).signed(random.chance(50));
    for _ in 0..40 {
        let mut all: Vec<Circuit> = circuits().collect();
        let mut lits: Vec<Lit> = Vec::new();
        for _ in 0..12 {
            for circuit in &mut all {
                let lit = circuit.fresh();
                if lits.last() != Some(&lit) {
                    lits.push(lit);
                }
            }
        }
        for _ in 0..30 {
            let clause: Vec<Lit> = (0..3).map(|_| lit_of(&lits)).collect();
            let given: Vec<Lit> = (0..4).map(|_| lit_of(&lits)).collect();
            let mut answers = Vec::new();
            for circuit in &mut all {
                circuit.assert(&clause);
                let answer = circuit.solve(&given);
                if answer.is_sat() {
                    assert!(given.iter().all(|&lit| circuit.is_true(lit)));
                } else {
                    assert!(circuit.core().iter().all(|lit| given.contains(lit)));
                }
                answers.push(answer);
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
