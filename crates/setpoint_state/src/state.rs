//! What all cells hold at one moment, and what a test says about it.

use crate::{CellId, Lifetime, Space, Term, Test, Value};

/// The value of every cell.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct State {
    values: Vec<Value>,
}

impl State {
    /// Every cell absent, and scratch cells as they start a run.
    pub fn empty(space: &Space) -> Self {
        let mut state = Self { values: vec![Value::Absent; space.len()] };
        state.reset_scratch(space);
        state
    }

    /// A cell that the state does not have is absent.
    pub fn get(&self, cell: CellId) -> &Value {
        self.values.get(cell.0 as usize).unwrap_or(&Value::Absent)
    }

    /// Puts a value into a cell and gives what it held.
    pub fn set(&mut self, cell: CellId, value: Value) -> Value {
        let at = cell.0 as usize;
        if at >= self.values.len() {
            self.values.resize(at + 1, Value::Absent);
        }
        std::mem::replace(&mut self.values[at], value)
    }

    /// Gives the cells that last one run the value with which every run starts.
    pub fn reset_scratch(&mut self, space: &Space) {
        for (id, cell) in space.iter() {
            if let Lifetime::Run(initial) = &cell.lifetime {
                self.set(id, initial.clone());
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (CellId, &Value)> {
        self.values.iter().enumerate().map(|(at, value)| (CellId(at as u32), value))
    }

    /// The cells in which two states differ.
    pub fn differences(&self, other: &Self) -> Vec<CellId> {
        let len = self.values.len().max(other.values.len());
        (0..len).map(|at| CellId(at as u32)).filter(|&cell| self.get(cell) != other.get(cell)).collect()
    }

    fn term<'a>(&'a self, term: &'a Term) -> &'a Value {
        match term {
            Term::Is(value) => value,
            Term::Cell(cell) => self.get(*cell),
        }
    }

    /// What a term is worth here.
    pub fn value_of(&self, term: &Term) -> Value {
        self.term(term).clone()
    }

    /// Whether a test holds here.
    pub fn holds(&self, test: &Test) -> bool {
        match test {
            Test::True => true,
            Test::Equal(left, right) => self.term(left) == self.term(right),
            Test::Kind(cell, kind) => self.get(*cell).kind() == *kind,
            Test::Not(inner) => !self.holds(inner),
            Test::All(tests) => tests.iter().all(|test| self.holds(test)),
            Test::Any(tests) => tests.iter().any(|test| self.holds(test)),
        }
    }
}
