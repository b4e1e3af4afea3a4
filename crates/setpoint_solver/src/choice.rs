//! Variables with a few values.

use crate::{Circuit, Lit, Solver};

/// A variable that has exactly one of its values: one literal a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    values: Vec<Lit>,
}

impl Choice {
    /// A new variable with values `0..count`.
    pub fn new<S: Solver>(circuit: &mut Circuit<S>, count: usize) -> Self {
        let values: Vec<Lit> = match count {
            0 => Vec::new(),
            1 => vec![circuit.constant(true)],
            2 => {
                let one = circuit.fresh();
                vec![one, !one]
            }
            _ => {
                let values: Vec<Lit> = (0..count).map(|_| circuit.fresh()).collect();
                circuit.assert(&values);
                for (at, &one) in values.iter().enumerate() {
                    for &other in &values[..at] {
                        circuit.assert(&[!one, !other]);
                    }
                }
                values
            }
        };
        Self { values }
    }

    /// A variable made of literals of which exactly one holds, as the caller knows.
    pub fn from_literals(values: Vec<Lit>) -> Self {
        Self { values }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// It has this value; false for a value that it does not have.
    pub fn is<S: Solver>(&self, circuit: &Circuit<S>, value: usize) -> Lit {
        self.values.get(value).copied().unwrap_or(circuit.constant(false))
    }

    /// It has one of these values.
    pub fn is_one_of<S: Solver>(&self, circuit: &mut Circuit<S>, test: impl Fn(usize) -> bool) -> Lit {
        let inside: Vec<Lit> = (0..self.len()).filter(|&at| test(at)).map(|at| self.values[at]).collect();
        if inside.len() == self.len() && !self.is_empty() {
            return circuit.constant(true);
        }
        circuit.or(&inside)
    }

    /// The value in the last model.
    pub fn value<S: Solver>(&self, circuit: &Circuit<S>) -> Option<usize> {
        self.values.iter().position(|&lit| circuit.is_true(lit))
    }
}
