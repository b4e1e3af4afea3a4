//! Which values are enough to stand for all that a machine may hold.
//!
//! Programs copy values and compare them; they look no further. So the values that they mention and, beside them, as many
//! fresh ones as there are cells whose content is looked at stand for all. Cells that are never compared with or copied to each
//! other need not share: a thousand files with contents of their own have a thousand small domains.

use crate::{CellId, Kind, Lifetime, Plan, Program, Space, Term, Test, Value};

/// The values of every cell of a plan.
#[derive(Clone, Debug)]
pub struct Domains {
    group: Vec<u32>,
    values: Vec<Vec<Value>>,
    start: Vec<Vec<u32>>,
}

impl Domains {
    pub fn of(plan: &Plan) -> Self {
        Self::with_tests(plan, &[])
    }

    /// The domains if these tests, too, are asked of a state.
    pub fn with_tests(plan: &Plan, tests: &[Test]) -> Self {
        Self::build(plan, tests, |read, cells| read.max(if cells == 1 { 1 } else { 2 }))
    }

    /// The domains if two states are compared: twice as many fresh values, so that all of them may differ.
    pub fn for_two(plan: &Plan) -> Self {
        Self::build(plan, &[], |read, cells| 2 * read.max(if cells == 1 { 1 } else { 2 }))
    }

    /// The domains if two states are compared, and others may put new values into cells at any time: there is always a
    /// value that no cell of either holds.
    pub fn for_changing(plan: &Plan) -> Self {
        Self::build(plan, &[], |_, cells| 2 * cells + 1)
    }

    /// `fresh`: how many fresh values a group needs, by how many of its cells are read and how many it has.
    fn build(plan: &Plan, tests: &[Test], fresh: impl Fn(u32, u32) -> u32) -> Self {
        let mut look = Look::new(plan.space.len());
        for step in &plan.steps {
            look.program(&step.apply);
            look.program(&step.refresh);
            look.test(&step.suitable);
        }
        for test in plan.start.iter().chain(&plan.laws).chain(tests) {
            look.test(test);
        }
        look.finish(&plan.space, fresh)
    }

    /// Cells of one group share their values.
    pub fn group(&self, cell: CellId) -> u32 {
        self.group.get(cell.0 as usize).copied().unwrap_or(0)
    }

    /// The values of a group: absent and directory first, then what is mentioned, then fresh ones.
    pub fn values(&self, group: u32) -> &[Value] {
        self.values.get(group as usize).map_or(&[], Vec::as_slice)
    }

    /// How many values the largest group has.
    pub fn largest(&self) -> usize {
        self.values.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Every value that this cell may come to hold.
    pub fn of_cell(&self, cell: CellId) -> &[Value] {
        self.values(self.group(cell))
    }

    /// The values with which this cell may start, as places in [`Domains::of_cell`].
    pub fn start_places(&self, cell: CellId) -> &[u32] {
        self.start.get(cell.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The values with which this cell may start.
    pub fn start_values(&self, cell: CellId) -> impl Iterator<Item = &Value> {
        let values = self.of_cell(cell);
        self.start_places(cell).iter().filter_map(|&at| values.get(at as usize))
    }
}

struct Look {
    parent: Vec<u32>,
    mentioned: Vec<Vec<Value>>,
    /// Cells whose content is compared or copied.
    read: Vec<bool>,
}

impl Look {
    fn new(cells: usize) -> Self {
        Self {
            parent: (0..cells as u32).collect(),
            mentioned: vec![Vec::new(); cells],
            read: vec![false; cells],
        }
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, one: CellId, two: CellId) {
        let (one, two) = (self.find(one.0), self.find(two.0));
        // The smaller number leads, so that the result does not depend on the order of joining.
        self.parent[one.max(two) as usize] = one.min(two);
    }

    fn test(&mut self, test: &Test) {
        let mut work = vec![test];
        while let Some(test) = work.pop() {
            match test {
                Test::True | Test::Kind(..) => {}
                Test::Equal(Term::Cell(one), Term::Cell(two)) => {
                    self.read[one.0 as usize] = true;
                    self.read[two.0 as usize] = true;
                    self.join(*one, *two);
                }
                Test::Equal(Term::Cell(cell), Term::Is(value))
                | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
                    self.read[cell.0 as usize] = true;
                    self.mentioned[cell.0 as usize].push(value.clone());
                }
                Test::Equal(Term::Is(_), Term::Is(_)) => {}
                Test::Not(inner) => work.push(inner),
                Test::All(tests) | Test::Any(tests) => work.extend(tests),
            }
        }
    }

    fn program(&mut self, program: &Program) {
        let mut work = vec![program];
        while let Some(program) = work.pop() {
            match program {
                Program::Skip | Program::Fail(_) | Program::Change => {}
                Program::Write(to, Term::Cell(from)) => {
                    self.read[from.0 as usize] = true;
                    self.join(*to, *from);
                }
                Program::Write(to, Term::Is(value)) => {
                    self.mentioned[to.0 as usize].push(value.clone());
                }
                Program::If(test, then, otherwise) => {
                    self.test(test);
                    work.push(then);
                    work.push(otherwise);
                }
                Program::Sequence(programs) => work.extend(programs),
            }
        }
    }

    fn finish(mut self, space: &Space, fresh: impl Fn(u32, u32) -> u32) -> Domains {
        let count = space.len();
        let mut group = vec![u32::MAX; count];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for at in 0..count {
            let lead = self.find(at as u32) as usize;
            if group[lead] == u32::MAX {
                group[lead] = members.len() as u32;
                members.push(Vec::new());
            }
            group[at] = group[lead];
            members[group[at] as usize].push(at);
        }
        let mut values = Vec::with_capacity(members.len());
        let mut start = vec![Vec::new(); count];
        for cells in &members {
            let mut known: Vec<Value> = Vec::new();
            let mut kinds: Vec<Kind> = Vec::new();
            for &at in cells {
                known.append(&mut self.mentioned[at]);
                let Some(cell) = space.get(CellId(at as u32)) else { continue };
                match &cell.lifetime {
                    Lifetime::Machine => kinds.extend(&cell.kinds),
                    Lifetime::Run(initial) => known.push(initial.clone()),
                }
            }
            kinds.sort_unstable();
            kinds.dedup();
            let read = cells.iter().filter(|&&at| self.read[at]).count() as u32;
            let fresh = fresh(read, cells.len() as u32);
            let mentioned = sorted(known);
            let mut known = mentioned.clone();
            for kind in kinds {
                match kind {
                    Kind::Absent => known.push(Value::Absent),
                    Kind::Directory => known.push(Value::Directory),
                    // A mentioned fresh value (a plan may be made of a part of another) keeps its number.
                    Kind::File | Kind::Link | Kind::Text => known.extend(
                        (0..)
                            .map(|number| Value::Fresh(kind, number))
                            .filter(|value| mentioned.binary_search(value).is_err())
                            .take(fresh as usize),
                    ),
                }
            }
            let known = sorted(known);
            for &at in cells {
                let Some(cell) = space.get(CellId(at as u32)) else { continue };
                start[at] = match &cell.lifetime {
                    Lifetime::Machine => (0..known.len())
                        .filter(|&value| cell.kinds.contains(&known[value].kind()))
                        .map(|value| value as u32)
                        .collect(),
                    Lifetime::Run(initial) => known
                        .iter()
                        .position(|value| value == initial)
                        .map(|at| at as u32)
                        .into_iter()
                        .collect(),
                };
            }
            values.push(known);
        }
        Domains { group, values, start }
    }
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_unstable();
    values.dedup();
    values
}
