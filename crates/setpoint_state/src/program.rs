//! What one resource does.

use std::sync::Arc;

use crate::{CellId, Kind, Value};

/// A value that a program mentions or reads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    Is(Value),
    Cell(CellId),
}

/// A question about the state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Test {
    True,
    Equal(Term, Term),
    Kind(CellId, Kind),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

/// A small program over cells. It has no loops: a removal of a tree lists the cells below.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Program {
    Skip,
    /// The resource fails here; what it wrote before stays.
    Fail(Arc<str>),
    Write(CellId, Term),
    /// The resource reports a change: it notifies, and the run is not quiet.
    Change,
    If(Test, Box<Program>, Box<Program>),
    Sequence(Vec<Program>),
}

impl Test {
    pub fn is(cell: CellId, value: Value) -> Self {
        Self::Equal(Term::Cell(cell), Term::Is(value))
    }

    pub fn same(left: CellId, right: CellId) -> Self {
        Self::Equal(Term::Cell(left), Term::Cell(right))
    }

    pub fn negate(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }
}

impl Program {
    pub fn fail(reason: &str) -> Self {
        Self::Fail(Arc::from(reason))
    }

    pub fn set(cell: CellId, value: Value) -> Self {
        Self::Write(cell, Term::Is(value))
    }

    pub fn copy(to: CellId, from: CellId) -> Self {
        Self::Write(to, Term::Cell(from))
    }

    pub fn when(test: Test, then: Self) -> Self {
        Self::If(test, Box::new(then), Box::new(Self::Skip))
    }

    pub fn choose(test: Test, then: Self, otherwise: Self) -> Self {
        Self::If(test, Box::new(then), Box::new(otherwise))
    }

    /// Every cell that the program may write, with what it writes.
    pub fn writes(&self, found: &mut impl FnMut(CellId, &Term)) {
        let mut work = vec![self];
        while let Some(program) = work.pop() {
            match program {
                Self::Write(cell, term) => found(*cell, term),
                Self::If(_, then, otherwise) => work.extend([&**then, &**otherwise]),
                Self::Sequence(programs) => work.extend(programs),
                Self::Skip | Self::Fail(_) | Self::Change => {}
            }
        }
    }

    /// Every cell that the program may read, with repetitions.
    pub fn reads(&self, found: &mut Vec<CellId>) {
        let mut work = vec![self];
        while let Some(program) = work.pop() {
            match program {
                Self::Write(_, Term::Cell(from)) => found.push(*from),
                Self::If(test, then, otherwise) => {
                    test.cells(found);
                    work.extend([&**then, &**otherwise]);
                }
                Self::Sequence(programs) => work.extend(programs),
                Self::Skip | Self::Fail(_) | Self::Change | Self::Write(..) => {}
            }
        }
    }

    /// Every cell that the program may write, once, sorted.
    pub fn written(&self) -> Vec<CellId> {
        let mut found = Vec::new();
        self.writes(&mut |cell, _| found.push(cell));
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Test {
    /// Every cell that the test looks at, with repetitions.
    pub fn cells(&self, found: &mut Vec<CellId>) {
        let mut work: Vec<&Self> = Vec::new();
        let mut next = Some(self);
        while let Some(test) = next {
            match test {
                Self::True => {}
                Self::Equal(left, right) => {
                    for term in [left, right] {
                        if let Term::Cell(cell) = term {
                            found.push(*cell);
                        }
                    }
                }
                Self::Kind(cell, _) => found.push(*cell),
                Self::Not(inner) => work.push(inner),
                Self::All(tests) | Self::Any(tests) => work.extend(tests),
            }
            next = work.pop();
        }
    }
}
