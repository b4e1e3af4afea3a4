//! A file becomes answers.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use setpoint_source::FileSystem;

use super::coding::{Broken, Reader};
use super::pack::{Piece, unpack};
use super::record::facts;
use super::store::Store;
use super::{HEADER, Header, damaged};
use crate::relations::Relations;
use crate::{IndexError, PackageFacts};

/// An open index: its table is in memory, everything else is read when it is asked for.
#[derive(Debug)]
pub(crate) struct IndexFile {
    store: Store,
    header: Header,
    blocks: Vec<(Box<str>, Piece)>,
    held: Mutex<Held>,
}

/// Blocks that were unpacked: packages that depend on each other ask for the same ones again and again.
#[derive(Debug, Default)]
struct Held {
    blocks: FxHashMap<usize, Arc<[u8]>>,
    bytes: usize,
}

/// Blocks are held up to this size; then all are let go, and what is needed is unpacked again.
const HOLD: usize = 32 * 1024 * 1024;

impl IndexFile {
    pub(crate) fn open(files: &dyn FileSystem, path: &Path) -> Result<Self, IndexError> {
        Self::new(Store::open(files, path)?)
    }

    pub(crate) fn from_bytes(bytes: Cow<'static, [u8]>) -> Result<Self, IndexError> {
        Self::new(Store::Memory(bytes))
    }

    fn new(store: Store) -> Result<Self, IndexError> {
        let header = Header::from_bytes(&store.start(HEADER)?)
            .map_err(|reason| IndexError::new(store.name(), reason))?;
        let table = piece(&store, &header.table)?;
        let blocks = blocks(&table).map_err(|reason| damaged(reason).of(store.name()))?;
        Ok(Self { store, header, blocks, held: Mutex::default() })
    }

    pub(crate) fn packages(&self) -> u32 {
        self.header.packages
    }

    pub(crate) fn paths(&self) -> u64 {
        self.header.paths
    }

    pub(crate) fn relations(&self) -> Result<Relations, IndexError> {
        let raw = piece(&self.store, &self.header.relations)?;
        Relations::from_bytes(&raw).map_err(|reason| damaged(reason).of(self.store.name()))
    }

    pub(crate) fn lookup(&self, name: &str) -> Result<Option<PackageFacts>, IndexError> {
        let after = self.blocks.partition_point(|(first, _)| **first <= *name);
        let Some(at) = after.checked_sub(1) else { return Ok(None) };
        let raw = self.block(at)?;
        find(&raw, name).map_err(|reason| damaged(reason).of(self.store.name()))
    }

    fn block(&self, at: usize) -> Result<Arc<[u8]>, IndexError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(raw) = held.blocks.get(&at) {
            return Ok(raw.clone());
        }
        let raw: Arc<[u8]> = piece(&self.store, &self.blocks[at].1)?.into();
        if held.bytes + raw.len() > HOLD {
            *held = Held::default();
        }
        held.bytes += raw.len();
        held.blocks.insert(at, raw.clone());
        Ok(raw)
    }
}

fn piece(store: &Store, piece: &Piece) -> Result<Vec<u8>, IndexError> {
    let packed = store.read(piece.offset, piece.packed as usize)?;
    unpack(&packed, piece).map_err(|reason| damaged(reason).of(store.name()))
}

fn blocks(table: &[u8]) -> Result<Vec<(Box<str>, Piece)>, Broken> {
    let mut reader = Reader::new(table);
    let count = reader.count()?;
    let mut found = Vec::with_capacity(count);
    let mut offset = HEADER as u64;
    for _ in 0..count {
        let first: Box<str> = reader.next_in_list()?.into();
        let packed = reader.small()?;
        let unpacked = reader.small()?;
        let checksum = reader.take(4)?.try_into().map_or(0, u32::from_le_bytes);
        found.push((first, Piece { offset, packed, unpacked, checksum }));
        offset += u64::from(packed);
    }
    Ok(found)
}

fn find(block: &[u8], name: &str) -> Result<Option<PackageFacts>, Broken> {
    let mut reader = Reader::new(block);
    while !reader.is_empty() {
        let found = reader.next_in_list()?.cmp(name);
        let length = reader.count()?;
        let body = reader.take(length)?;
        match found {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => return facts(name, body).map(Some),
            // Records are sorted by name.
            std::cmp::Ordering::Greater => break,
        }
    }
    Ok(None)
}
