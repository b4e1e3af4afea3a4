//! Small random plans, to put the prover beside [`crate::exhaustive`].

use setpoint_source::Random;
use setpoint_state::{
    CellId, CellKey, CellKind, Kind, Manages, Plan, Program, Space, Step, StepId, Term, Test, Value,
};

struct Maker {
    random: Random,
    space: Space,
    paths: Vec<CellId>,
    flags: Vec<CellId>,
    scratch: Option<CellId>,
}

const CONTENTS: [&str; 3] = ["x", "y", "z"];

impl Maker {
    fn content(&mut self) -> Value {
        // Mostly few contents, so that steps meet.
        let many = if self.random.chance(80) { 2 } else { 3 };
        Value::file(CONTENTS[self.random.below(many)])
    }

    fn path(&mut self) -> CellId {
        *self.random.pick(&self.paths)
    }

    fn flag_value(&mut self) -> Value {
        Value::text(["on", "off"][self.random.below(2)])
    }

    fn any(&mut self) -> (CellId, Value) {
        if !self.flags.is_empty() && self.random.chance(35) {
            let flag = *self.random.pick(&self.flags);
            (flag, self.flag_value())
        } else {
            let path = self.path();
            let value = match self.random.below(4) {
                0 => Value::Absent,
                1 if self.has_directory(path) => Value::Directory,
                _ => self.content(),
            };
            (path, value)
        }
    }

    fn has_directory(&self, cell: CellId) -> bool {
        self.space.get(cell).is_some_and(|cell| cell.kinds.contains(&Kind::Directory))
    }

    fn test(&mut self) -> Test {
        match self.random.below(7) {
            0..=2 => {
                let (cell, value) = self.any();
                Test::is(cell, value)
            }
            3 | 4 => {
                let path = self.path();
                Test::Kind(path, *self.random.pick(&[Kind::Absent, Kind::File, Kind::Directory]))
            }
            5 => {
                let (one, two) = (self.path(), self.path());
                Test::same(one, two)
            }
            _ => {
                let (one, two) = (self.test_leaf(), self.test_leaf());
                if self.random.chance(50) { Test::All(vec![one, two]) } else { Test::Any(vec![one, two]) }
            }
        }
    }

    fn test_leaf(&mut self) -> Test {
        let (cell, value) = self.any();
        let test = Test::is(cell, value);
        if self.random.chance(30) { test.negate() } else { test }
    }

    fn changed(&mut self, program: Program) -> Program {
        if self.random.chance(75) { Program::Sequence(vec![program, Program::Change]) } else { program }
    }

    /// What a resource might do.
    fn program(&mut self) -> Program {
        match self.random.below(13) {
            0 | 1 => {
                let (path, content) = (self.path(), self.content());
                let write = self.changed(Program::set(path, content.clone()));
                Program::when(Test::is(path, content).negate(), write)
            }
            2 => {
                // A file that needs its directory.
                let (directory, path, content) = (self.path(), self.path(), self.content());
                let write = self.changed(Program::set(path, content.clone()));
                Program::choose(
                    Test::Kind(directory, Kind::Directory),
                    Program::when(Test::is(path, content).negate(), write),
                    Program::fail("no directory"),
                )
            }
            3 => {
                let (cell, value) = self.any();
                self.changed(Program::set(cell, value))
            }
            4 => {
                // A copy, as of `source`.
                let (from, to) = (self.path(), self.path());
                let copy = self.changed(Program::copy(to, from));
                let copy = Program::when(Test::same(from, to).negate(), copy);
                if self.random.chance(60) {
                    Program::choose(Test::Kind(from, Kind::File), copy, Program::fail("no source"))
                } else {
                    copy
                }
            }
            5 => {
                let path = self.path();
                let remove = self.changed(Program::set(path, Value::Absent));
                let remove = Program::when(Test::Kind(path, Kind::Absent).negate(), remove);
                if self.random.chance(30) {
                    Program::choose(Test::Kind(path, Kind::Directory), Program::fail("not empty"), remove)
                } else {
                    remove
                }
            }
            6 => {
                // An editor of one line.
                let (path, (cell, value)) = (self.path(), self.any());
                let edit = self.changed(Program::set(cell, value.clone()));
                let edit = Program::when(Test::is(cell, value).negate(), edit);
                let otherwise = if self.random.chance(50) { Program::fail("no file") } else { Program::Skip };
                Program::choose(Test::Kind(path, Kind::File), edit, otherwise)
            }
            7 => {
                // A directory.
                let path = self.path();
                let make = self.changed(Program::set(path, Value::Directory));
                Program::choose(
                    Test::Kind(path, Kind::Absent),
                    make,
                    Program::when(
                        Test::Kind(path, Kind::Directory).negate(),
                        Program::fail("not a directory"),
                    ),
                )
            }
            8 => {
                // A package with a directory and a file.
                let (directory, path, content) = (self.path(), self.path(), self.content());
                let (marker, value) = self.any();
                Program::when(
                    Test::is(marker, value.clone()).negate(),
                    Program::Sequence(vec![
                        Program::choose(
                            Test::Kind(directory, Kind::Absent),
                            Program::set(directory, Value::Directory),
                            Program::when(
                                Test::Kind(directory, Kind::Directory).negate(),
                                Program::fail("not a directory"),
                            ),
                        ),
                        Program::set(path, content),
                        Program::set(marker, value),
                        Program::Change,
                    ]),
                )
            }
            9 => {
                let test = self.test();
                Program::choose(test, Program::fail("no"), Program::Skip)
            }
            10 => {
                let Some(seen) = self.scratch else { return Program::Change };
                let (cell, value) = self.any();
                Program::choose(
                    Test::is(seen, Value::text("none")),
                    Program::set(seen, Value::text("read")),
                    Program::set(cell, value),
                )
            }
            11 => {
                let (test, (cell, value)) = (self.test(), self.any());
                Program::when(test, Program::set(cell, value))
            }
            _ => self.chaos(2),
        }
    }

    fn chaos(&mut self, depth: usize) -> Program {
        match self.random.below(if depth == 0 { 4 } else { 6 }) {
            0 => {
                let (cell, value) = self.any();
                Program::set(cell, value)
            }
            1 => {
                let (from, to) = (self.path(), self.path());
                Program::Write(to, Term::Cell(from))
            }
            2 => Program::Change,
            3 => {
                if self.random.chance(40) {
                    Program::fail("chaos")
                } else {
                    Program::Skip
                }
            }
            4 => {
                let test = self.test();
                let (then, otherwise) = (self.chaos(depth - 1), self.chaos(depth - 1));
                Program::choose(test, then, otherwise)
            }
            _ => {
                let (one, two) = (self.chaos(depth - 1), self.chaos(depth - 1));
                Program::Sequence(vec![one, two])
            }
        }
    }
}

/// A plan of two to six steps over at most six cells.
pub fn plan(seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let mut space = Space::new();
    let count = *random.pick(&[2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6]);
    let cells = 1 + random.below(5);
    let mut paths = Vec::new();
    let mut flags = Vec::new();
    for at in 0..cells {
        if at > 0 && random.chance(30) {
            flags.push(space.cell(CellKey::new(CellKind::Other, &format!("flag{at}")), &[Kind::Text]));
        } else {
            let kinds: &[Kind] = if random.chance(40) {
                &[Kind::Absent, Kind::Directory, Kind::File]
            } else {
                &[Kind::Absent, Kind::File]
            };
            paths.push(space.cell(CellKey::path(&format!("/{at}")), kinds));
        }
    }
    let scratch = random
        .chance(10)
        .then(|| space.scratch(CellKey::new(CellKind::Snapshot, "seen"), Value::text("none")));
    let postpones = random.chance(6);
    let mut maker = Maker { random, space, paths, flags, scratch };
    let mut plan = Plan::default();
    for at in 0..count {
        let passes_on = maker.random.chance(4);
        let apply = if passes_on { Program::Skip } else { maker.program() };
        let refresh = if passes_on || maker.random.chance(55) {
            Program::Skip
        } else if maker.random.chance(60) && maker.paths.len() > 1 {
            // A service loads its configuration.
            let (from, to) = (maker.path(), maker.path());
            Program::Sequence(vec![Program::copy(to, from), Program::Change])
        } else {
            maker.program()
        };
        let suitable = if postpones && maker.random.chance(40) {
            let path = maker.path();
            Test::Kind(path, Kind::File)
        } else {
            Test::True
        };
        let manages = if maker.random.chance(15) {
            Manages::Only(apply.written().into_iter().filter(|_| maker.random.chance(50)).collect())
        } else {
            Manages::AllItWrites
        };
        plan.steps.push(Step {
            name: format!("Step[{at}]").into(),
            apply,
            refresh,
            suitable,
            unknown: None,
            passes_on,
            manages,
        });
    }
    // A hidden order, so that the order of the plan is not always the order of the edges.
    let mut hidden: Vec<u32> = (0..count as u32).collect();
    maker.random.shuffle(&mut hidden);
    let density = *maker.random.pick(&[0, 15, 25, 45]);
    for later in 1..count {
        for earlier in 0..later {
            if maker.random.chance(density) {
                let edge = (StepId(hidden[earlier]), StepId(hidden[later]));
                plan.edges.push(edge);
                if maker.random.chance(45) {
                    plan.notifies.push(edge);
                }
            }
        }
    }
    if maker.random.chance(30) && maker.paths.len() > 1 {
        let (child, parent) = (maker.paths[1], maker.paths[0]);
        plan.laws.push(Test::Any(vec![Test::Kind(child, Kind::Absent), Test::Kind(parent, Kind::Directory)]));
    }
    if maker.random.chance(30) {
        let (cell, value) = maker.any();
        let test = Test::is(cell, value);
        plan.start.push(if maker.random.chance(40) { test.negate() } else { test });
    }
    if maker.random.chance(10) {
        let test = maker.test();
        plan.start.push(test);
    }
    plan.space = maker.space;
    plan
}
