//! From formulas to the solver.

use setpoint_solver::{Circuit, Lit};

use crate::conditions::Formula;

/// Values of the atoms under which all formulas hold.
pub(crate) fn solve(atoms: usize, formulas: &[&Formula]) -> Option<Vec<bool>> {
    let mut circuit = Circuit::new();
    let variables: Vec<Lit> = (0..atoms).map(|_| circuit.fresh()).collect();
    for formula in formulas {
        let literal = literal(&mut circuit, formula, &variables);
        circuit.assert(&[literal]);
    }
    circuit.solve(&[]).is_sat().then(|| variables.iter().map(|lit| circuit.is_true(*lit)).collect())
}

/// A literal that is true exactly when the formula is.
fn literal(circuit: &mut Circuit, formula: &Formula, variables: &[Lit]) -> Lit {
    match formula {
        Formula::Const(value) => circuit.constant(*value),
        Formula::Atom(atom) => variables[*atom],
        Formula::Not(inner) => !literal(circuit, inner, variables),
        Formula::And(parts) | Formula::Or(parts) => {
            let inputs: Vec<Lit> = parts.iter().map(|part| literal(circuit, part, variables)).collect();
            if matches!(formula, Formula::And(_)) { circuit.and(&inputs) } else { circuit.or(&inputs) }
        }
    }
}
