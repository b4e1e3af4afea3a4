use crate::{BatSolver, Choice, Circuit, Lit, Outcome, Solver};

/// Every gate agrees with its truth table, whatever values its inputs are given.
#[test]
fn gates_have_their_truth_tables() {
    for bits in 0..8u8 {
        let mut circuit = Circuit::new();
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
    for count in 1..5 {
        let mut circuit = Circuit::new();
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
    let mut circuit = Circuit::new();
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

/// The pigeon-hole principle needs many conflicts; a limit stops the search, and without one it is refuted.
#[test]
fn a_limit_ends_in_unknown() {
    let answer = |limit| {
        let mut solver = BatSolver::with_limit(limit);
        let holes = 7;
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
    };
    assert_eq!(answer(Some(10)), Outcome::Unknown);
    assert_eq!(answer(None), Outcome::Unsat);
}
