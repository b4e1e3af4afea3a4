//! From formulas to clauses, and to the solver.

use batsat::{BasicSolver, Lit, SolverInterface, lbool};

use crate::conditions::Formula;

/// Values of the atoms under which all formulas hold.
pub(crate) fn solve(atoms: usize, formulas: &[&Formula]) -> Option<Vec<bool>> {
    let mut encoder = Encoder { solver: BasicSolver::default() };
    let variables: Vec<Lit> = (0..atoms).map(|_| encoder.fresh()).collect();
    for formula in formulas {
        let literal = encoder.literal(formula, &variables);
        encoder.clause(&[literal]);
    }
    if encoder.solver.solve_limited(&[]) != lbool::TRUE {
        return None;
    }
    Some(variables.iter().map(|lit| encoder.solver.value_lit(*lit) == lbool::TRUE).collect())
}

struct Encoder {
    solver: BasicSolver,
}

impl Encoder {
    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    fn clause(&mut self, literals: &[Lit]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    /// A literal that is true exactly when the formula is.
    fn literal(&mut self, formula: &Formula, variables: &[Lit]) -> Lit {
        match formula {
            Formula::Atom(atom) => variables[*atom],
            Formula::Not(inner) => !self.literal(inner, variables),
            Formula::Const(true) => self.all(&[]),
            Formula::Const(false) => !self.all(&[]),
            Formula::And(parts) => {
                let parts: Vec<Lit> = parts.iter().map(|part| self.literal(part, variables)).collect();
                self.all(&parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<Lit> = parts.iter().map(|part| !self.literal(part, variables)).collect();
                !self.all(&parts)
            }
        }
    }

    fn all(&mut self, parts: &[Lit]) -> Lit {
        let whole = self.fresh();
        let mut back = vec![whole];
        for part in parts {
            self.clause(&[!whole, *part]);
            back.push(!*part);
        }
        self.clause(&back);
        whole
    }
}
