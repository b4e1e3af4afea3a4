//! Which cells tests look at, and which tests look at a cell.

use setpoint_state::{CellId, Test};

pub(crate) struct Looks {
    cells: Lists<CellId>,
    tests: Lists<u32>,
}

impl Looks {
    /// Of tests over so many cells.
    pub(crate) fn of(tests: &[Test], cells: usize) -> Self {
        let mut found = Lists::default();
        let mut looks_at = Vec::new();
        for test in tests {
            looks_at.clear();
            test.cells(&mut looks_at);
            looks_at.sort_unstable();
            looks_at.dedup();
            found.push(&looks_at);
        }
        Self { tests: found.turned(cells), cells: found }
    }

    /// The cells that a test looks at; sorted.
    pub(crate) fn cells(&self, test: u32) -> &[CellId] {
        self.cells.get(test)
    }

    /// The tests that look at a cell, by their places.
    pub(crate) fn tests(&self, cell: CellId) -> &[u32] {
        self.tests.get(cell.0)
    }
}

/// Lists one after the other.
struct Lists<T> {
    all: Vec<T>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    fn push(&mut self, list: &[T]) {
        self.all.extend_from_slice(list);
        self.ends.push(self.all.len() as u32);
    }

    fn get(&self, at: u32) -> &[T] {
        let at = at as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin as usize..self.ends[at] as usize]
    }
}

impl Lists<CellId> {
    /// For each cell the lists that it is in.
    fn turned(&self, cells: usize) -> Lists<u32> {
        let mut ends = vec![0; cells];
        for cell in &self.all {
            ends[cell.0 as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            // First where each begins: filling it moves that to its end.
            (*end, sum) = (sum, sum + *end);
        }
        let mut all = vec![0; self.all.len()];
        for list in 0..self.ends.len() as u32 {
            for cell in self.get(list) {
                let place = &mut ends[cell.0 as usize];
                all[*place as usize] = list;
                *place += 1;
            }
        }
        Lists { all, ends }
    }
}
