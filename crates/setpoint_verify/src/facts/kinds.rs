//! What is known of cells without asking a solver: by their kinds (absent, a directory, a file), and by values that they
//! have or do not have. That is coarse, and quickly followed through programs and assumptions.

use rustc_hash::FxHashMap;
use setpoint_state::{CellId, Kind, Lifetime, Plan, Term, Test, Value};

use crate::facts::looks::Looks;

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u8);

const ALL: [Kind; 5] = [Kind::Absent, Kind::Directory, Kind::File, Kind::Link, Kind::Text];

impl Kinds {
    pub(crate) const ANY: Self = Self(0b1_1111);

    pub(crate) fn only(kind: Kind) -> Self {
        Self(ALL.iter().position(|other| *other == kind).map_or(0, |at| 1 << at))
    }

    pub(crate) fn of(kinds: &[Kind]) -> Self {
        kinds.iter().fold(Self(0), |all, kind| all.or(Self::only(*kind)))
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// A number for the set.
    pub(crate) fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// Whether the other set has all of these.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    pub(crate) fn list(self) -> impl Iterator<Item = Kind> {
        ALL.into_iter().filter(move |kind| !self.and(Self::only(*kind)).is_empty())
    }

    /// That a cell has one of these kinds.
    pub(crate) fn test(self, cell: CellId) -> Test {
        let mut kinds: Vec<Test> = self.list().map(|kind| Test::Kind(cell, kind)).collect();
        if kinds.len() == 1 { kinds.remove(0) } else { Test::Any(kinds) }
    }
}

/// What is known of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub(crate) kinds: Kinds,
    /// The value that it has.
    is: Option<Value>,
    /// Values that it does not have.
    not: Vec<Value>,
}

impl Known {
    pub(crate) fn nothing() -> Self {
        Self::of(Kinds::ANY)
    }

    pub(crate) fn of(kinds: Kinds) -> Self {
        Self { kinds, is: None, not: Vec::new() }
    }

    pub(crate) fn is(value: &Value) -> Self {
        Self { is: Some(value.clone()), ..Self::of(Kinds::only(value.kind())) }
    }

    fn is_not(value: &Value) -> Self {
        match value.kind() {
            // There is one absent and one directory, but many files.
            kind @ (Kind::Absent | Kind::Directory) => Self::of(Kinds::ANY.without(Kinds::only(kind))),
            _ => Self { not: vec![value.clone()], ..Self::nothing() },
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.kinds == Kinds::ANY && self.is.is_none() && self.not.is_empty()
    }

    pub(crate) fn is_impossible(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn excludes(&self, value: &Value) -> bool {
        self.kinds.and(Kinds::only(value.kind())).is_empty()
            || self.is.as_ref().is_some_and(|is| is != value)
            || self.not.contains(value)
    }

    fn certainly_is(&self, value: &Value) -> bool {
        let kind = value.kind();
        self.is.as_ref() == Some(value)
            || (matches!(kind, Kind::Absent | Kind::Directory) && self.kinds == Kinds::only(kind))
    }

    /// Whether it is one value.
    pub(crate) fn is_one(&self) -> bool {
        let is_only = |kind: Kind| self.kinds == Kinds::only(kind);
        self.is.is_some() || is_only(Kind::Absent) || is_only(Kind::Directory)
    }

    /// Both are known.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let contradicts = |one: &Self, two: &Self| one.is.as_ref().is_some_and(|is| two.excludes(is));
        if contradicts(self, other) || contradicts(other, self) {
            return Self::of(Kinds::of(&[]));
        }
        let mut not = self.not.clone();
        not.extend(other.not.iter().filter(|value| !self.not.contains(value)).cloned());
        Self { kinds: self.kinds.and(other.kinds), is: self.is.clone().or_else(|| other.is.clone()), not }
    }

    /// One of the two is known.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let mut not: Vec<Value> = self.not.iter().filter(|value| other.excludes(value)).cloned().collect();
        let more = other.not.iter().filter(|value| self.excludes(value) && !self.not.contains(value));
        not.extend(more.cloned());
        let is = if self.is == other.is { self.is.clone() } else { None };
        Self { kinds: self.kinds.or(other.kinds), is, not }
    }

    /// Whether whatever is known by the other is known by this.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.kinds.is_within(other.kinds)
            && other.is.as_ref().is_none_or(|is| self.certainly_is(is))
            && other.not.iter().all(|value| self.excludes(value))
    }
}

/// What is known of each cell at the start of a run before any assumption is looked at.
pub(crate) fn at_start(plan: &Plan) -> Vec<Known> {
    let cells = plan.space.iter().map(|(_, cell)| match &cell.lifetime {
        Lifetime::Machine => Known::of(Kinds::of(&cell.kinds)),
        Lifetime::Run(initial) => Known::is(initial),
    });
    cells.collect()
}

/// Whether a test holds, if what is known decides that.
pub(crate) fn holds(test: &Test, held: &dyn Held) -> Option<bool> {
    match test {
        Test::True => Some(true),
        Test::Kind(cell, kind) => {
            let (kinds, kind) = (held.known(*cell).kinds, Kinds::only(*kind));
            if kinds.and(kind).is_empty() { Some(false) } else { (kinds == kind).then_some(true) }
        }
        Test::Equal(Term::Is(one), Term::Is(two)) => Some(one == two),
        Test::Equal(Term::Cell(cell), Term::Is(value)) | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
            let known = held.known(*cell);
            if known.excludes(value) { Some(false) } else { known.certainly_is(value).then_some(true) }
        }
        Test::Equal(Term::Cell(one), Term::Cell(two)) => {
            held.known(*one).and(held.known(*two)).is_impossible().then_some(false)
        }
        Test::Not(inner) => holds(inner, held).map(|holds| !holds),
        Test::All(tests) | Test::Any(tests) => {
            // One that is this decides; all must be the other.
            let decides = matches!(test, Test::Any(_));
            let mut open = false;
            for test in tests {
                match holds(test, held) {
                    Some(answer) if answer == decides => return Some(decides),
                    Some(_) => {}
                    None => open = true,
                }
            }
            (!open).then_some(!decides)
        }
    }
}

/// What a test that has this answer says of single cells.
pub(crate) fn follow(test: &Test, answer: bool, held: &dyn Held, found: &mut Vec<(CellId, Known)>) {
    match test {
        Test::Kind(cell, kind) => {
            let kind = Kinds::only(*kind);
            found.push((*cell, Known::of(if answer { kind } else { Kinds::ANY.without(kind) })));
        }
        Test::Equal(Term::Cell(cell), Term::Is(value)) | Test::Equal(Term::Is(value), Term::Cell(cell)) => {
            found.push((*cell, if answer { Known::is(value) } else { Known::is_not(value) }));
        }
        Test::Not(inner) => follow(inner, !answer, held, found),
        Test::All(tests) | Test::Any(tests) => {
            if matches!(test, Test::All(_)) == answer {
                for test in tests {
                    follow(test, answer, held, found);
                }
                return;
            }
            // One of them has the answer: what all that still can have it say is known.
            let mut open = tests.iter().filter(|test| holds(test, held) != Some(!answer));
            let Some(first) = open.next() else { return };
            let Some(second) = open.next() else { return follow(first, answer, held, found) };
            if let (Test::Kind(one, _), Test::Kind(two, _)) = (first, second)
                && one != two
            {
                return;
            }
            let said = |test: &Test| {
                let mut said = Vec::new();
                follow(test, answer, held, &mut said);
                let mut all: FxHashMap<CellId, Known> = FxHashMap::default();
                for (cell, known) in said {
                    let both = all.known(cell).and(&known);
                    all.insert(cell, both);
                }
                all
            };
            let mut all = said(first);
            for other in std::iter::once(second).chain(open) {
                all = either(all, &said(other));
                if all.is_empty() {
                    return;
                }
            }
            let mut all: Vec<(CellId, Known)> = all.into_iter().collect();
            all.sort_unstable_by_key(|(cell, _)| *cell);
            found.extend(all);
        }
        Test::True | Test::Equal(..) => {}
    }
}

/// Tests that hold.
pub(crate) struct Laws<'t> {
    pub(crate) tests: &'t [Test],
    pub(crate) looks: &'t Looks,
    /// Those that do, if not all.
    pub(crate) kept: Option<&'t [bool]>,
}

impl Laws<'_> {
    /// Supposes that this is known of a cell, and what follows; whether that may be. `changed` is told of each cell of
    /// which more becomes known what was known before.
    pub(crate) fn suppose(
        &self,
        held: &mut dyn HeldMut,
        cell: CellId,
        known: Known,
        changed: &mut Vec<(CellId, Known)>,
    ) -> bool {
        let mut work = vec![(cell, known)];
        while let Some((cell, known)) = work.pop() {
            let old = held.known(cell).clone();
            if old.is_within(&known) {
                continue;
            }
            let both = old.and(&known);
            let impossible = both.is_impossible();
            held.set(cell, both);
            changed.push((cell, old));
            if impossible {
                return false;
            }
            for &law in self.looks.tests(cell) {
                let law = law as usize;
                if self.kept.is_none_or(|kept| kept[law]) {
                    follow(&self.tests[law], true, held, &mut work);
                }
            }
        }
        true
    }
}

/// What is known of cells.
pub(crate) trait Held {
    fn known(&self, cell: CellId) -> &Known;
}

/// What is known of cells, and may become more.
pub(crate) trait HeldMut: Held {
    fn set(&mut self, cell: CellId, known: Known);
}

static NOTHING: Known = Known { kinds: Kinds::ANY, is: None, not: Vec::new() };

impl Held for Vec<Known> {
    fn known(&self, cell: CellId) -> &Known {
        &self[cell.0 as usize]
    }
}

impl HeldMut for Vec<Known> {
    fn set(&mut self, cell: CellId, known: Known) {
        self[cell.0 as usize] = known;
    }
}

/// Of cells that are not mentioned nothing is known.
impl Held for FxHashMap<CellId, Known> {
    fn known(&self, cell: CellId) -> &Known {
        self.get(&cell).unwrap_or(&NOTHING)
    }
}

impl HeldMut for FxHashMap<CellId, Known> {
    fn set(&mut self, cell: CellId, known: Known) {
        self.insert(cell, known);
    }
}

/// What is known of some cells besides what is known of all.
pub(crate) struct And<'h> {
    pub(crate) all: &'h dyn Held,
    pub(crate) some: Vec<(CellId, Known)>,
}

impl And<'_> {
    pub(crate) fn add(&mut self, cell: CellId, more: &Known) {
        match self.some.iter_mut().find(|(one, _)| *one == cell) {
            Some((_, known)) => *known = known.and(more),
            None => self.some.push((cell, self.all.known(cell).and(more))),
        }
    }
}

impl Held for And<'_> {
    fn known(&self, cell: CellId) -> &Known {
        let some = self.some.iter().find(|(one, _)| *one == cell);
        some.map_or_else(|| self.all.known(cell), |(_, known)| known)
    }
}

/// What is known if one or the other is.
pub(crate) fn either(
    mut one: FxHashMap<CellId, Known>,
    other: &FxHashMap<CellId, Known>,
) -> FxHashMap<CellId, Known> {
    one.retain(|cell, known| {
        *known = known.or(other.known(*cell));
        !known.is_nothing()
    });
    one
}
