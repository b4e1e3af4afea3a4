//! What a machine is made of.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// What a cell holds. Values are compared for equality and by kind; nothing else is asked of them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// Nothing is there: no file, no user, no package.
    Absent,
    Directory,
    /// A file with this content. Two contents are equal if their texts are.
    File(Arc<str>),
    /// A link to this target.
    Link(Arc<str>),
    /// Any other state: a mode, an owner, a version, `running`.
    Text(Arc<str>),
    /// A content, target or text that no program mentions. Fresh values of one kind differ by their number.
    Fresh(Kind, u32),
}

/// What sort of value: what programs can ask of a cell besides equality.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    Absent,
    Directory,
    File,
    Link,
    Text,
}

impl Value {
    pub fn file(content: &str) -> Self {
        Self::File(Arc::from(content))
    }

    pub fn text(text: &str) -> Self {
        Self::Text(Arc::from(text))
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Absent => Kind::Absent,
            Self::Directory => Kind::Directory,
            Self::File(_) => Kind::File,
            Self::Link(_) => Kind::Link,
            Self::Text(_) => Kind::Text,
            Self::Fresh(kind, _) => *kind,
        }
    }
}

/// A part of the machine that programs read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CellId(pub u32);

/// Which part it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CellKind {
    /// What is at a path: absent, a directory, a file with a content, a link.
    Path,
    Mode,
    Owner,
    Group,
    /// One line or setting of a file: `detail` is its key. A write of the whole file sets it too.
    Entry,
    Package,
    Running,
    Enabled,
    /// The content of a file (`detail`) that a service has loaded.
    Loaded,
    User,
    UserGroup,
    /// The number of a group.
    GroupNumber,
    Cron,
    Host,
    Mount,
    Key,
    /// What a provider read when the first of its resources ran.
    Snapshot,
    /// Anything else, named by `name` and `detail`.
    Other,
}

/// The name of a cell. A cell is made once for each name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CellKey {
    pub kind: CellKind,
    pub name: Arc<str>,
    pub detail: Option<Arc<str>>,
}

impl CellKey {
    pub fn new(kind: CellKind, name: &str) -> Self {
        Self { kind, name: Arc::from(name), detail: None }
    }

    pub fn with_detail(kind: CellKind, name: &str, detail: &str) -> Self {
        Self { kind, name: Arc::from(name), detail: Some(Arc::from(detail)) }
    }

    pub fn path(path: &str) -> Self {
        Self::new(CellKind::Path, path)
    }
}

impl fmt::Display for CellKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, &self.detail) {
            (CellKind::Path, _) => write!(out, "{}", self.name),
            (kind, None) => write!(out, "{kind:?}[{}]", self.name),
            (kind, Some(detail)) => write!(out, "{kind:?}[{}, {detail}]", self.name),
        }
    }
}

/// How long a cell keeps its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// From run to run; it is part of the outcome.
    Machine,
    /// One run: it starts each run with this value and is no part of the outcome (what a provider has read, say).
    Run(Value),
}

#[derive(Clone, Debug)]
pub struct Cell {
    pub key: CellKey,
    pub lifetime: Lifetime,
    /// What it may hold at the start, beside the values that programs mention and fresh ones: the kinds. A cell whose
    /// start is known has its value in [`crate::Plan::start`].
    pub kinds: Vec<Kind>,
}

/// All cells of a plan.
#[derive(Clone, Debug, Default)]
pub struct Space {
    cells: Vec<Cell>,
    by_key: HashMap<CellKey, CellId>,
    /// What cells hold on a plain machine.
    plain: BTreeMap<CellId, Value>,
}

impl Space {
    pub fn new() -> Self {
        Self::default()
    }

    /// The cell of this name, made on first use.
    pub fn cell(&mut self, key: CellKey, kinds: &[Kind]) -> CellId {
        self.add(key, kinds, Lifetime::Machine)
    }

    /// A cell that starts every run with the same value.
    pub fn scratch(&mut self, key: CellKey, initial: Value) -> CellId {
        let kind = initial.kind();
        self.add(key, &[kind], Lifetime::Run(initial))
    }

    fn add(&mut self, key: CellKey, kinds: &[Kind], lifetime: Lifetime) -> CellId {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let id = CellId(self.cells.len() as u32);
        self.by_key.insert(key.clone(), id);
        self.cells.push(Cell { key, lifetime, kinds: kinds.to_vec() });
        id
    }

    /// Says what a cell holds on a machine that nothing was done to, where that is not absence: a service does not run.
    pub fn set_plain(&mut self, cell: CellId, value: Value) {
        self.plain.insert(cell, value);
    }

    /// Returns what a cell holds on a plain machine, if that was said.
    pub fn plain(&self, cell: CellId) -> Option<&Value> {
        self.plain.get(&cell)
    }

    /// A cell of a part of a plan: it is known by its number only.
    pub fn unnamed(&mut self, kinds: Vec<Kind>, lifetime: Lifetime) -> CellId {
        let key = CellKey { kind: CellKind::Other, name: Arc::default(), detail: None };
        self.cells.push(Cell { key, lifetime, kinds });
        CellId(self.cells.len() as u32 - 1)
    }

    pub fn find(&self, key: &CellKey) -> Option<CellId> {
        self.by_key.get(key).copied()
    }

    pub fn get(&self, id: CellId) -> Option<&Cell> {
        self.cells.get(id.0 as usize)
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All cells, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = (CellId, &Cell)> {
        self.cells.iter().enumerate().map(|(at, cell)| (CellId(at as u32), cell))
    }
}
