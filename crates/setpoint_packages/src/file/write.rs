//! A collection becomes a file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::coding::{put_after, put_number};
use super::pack::{Piece, pack};
use super::record::body;
use super::{BLOCK, HEADER, Header};
use crate::collection::Collection;
use crate::relations;

pub(crate) fn write(collection: &Collection) -> Vec<u8> {
    let entries = collection.sorted();
    let bodies = side_by_side(entries.len(), |at| body(entries[at]));
    let paths = bodies.iter().map(|(_, files)| *files as u64).sum();

    let mut blocks = Vec::new();
    let mut start = 0;
    let mut size = 0;
    for (at, (bytes, _)) in bodies.iter().enumerate() {
        // A large package has a block of its own: its neighbours are found without it.
        if size > 0 && size + bytes.len() > BLOCK {
            blocks.push(start..at);
            (start, size) = (at, 0);
        }
        size += bytes.len();
    }
    if start < entries.len() {
        blocks.push(start..entries.len());
    }
    let packed = side_by_side(blocks.len(), |at| {
        let mut raw = Vec::new();
        let mut before = "";
        for member in blocks[at].clone() {
            put_after(&mut raw, before, &entries[member].name);
            before = &entries[member].name;
            put_number(&mut raw, bodies[member].0.len() as u64);
            raw.extend_from_slice(&bodies[member].0);
        }
        pack(&raw)
    });

    let mut out = vec![0; HEADER];
    let mut table = Vec::new();
    put_number(&mut table, blocks.len() as u64);
    let mut before = "";
    for (members, (bytes, piece)) in blocks.iter().zip(&packed) {
        let first = &entries[members.start].name;
        put_after(&mut table, before, first);
        before = first;
        put_number(&mut table, u64::from(piece.packed));
        put_number(&mut table, u64::from(piece.unpacked));
        table.extend_from_slice(&piece.checksum.to_le_bytes());
        out.extend_from_slice(bytes);
    }
    let mut place = |raw: &[u8]| {
        let (packed, piece) = pack(raw);
        let offset = out.len() as u64;
        out.extend_from_slice(&packed);
        Piece { offset, ..piece }
    };
    let table = place(&table);
    let relations = place(&relations::to_bytes(&entries));
    let header = Header { packages: entries.len() as u32, paths, table, relations };
    out[..HEADER].copy_from_slice(&header.to_bytes());
    out
}

/// The results of a function for 0, 1, 2, …, in that order, worked out by all processors.
pub(crate) fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                break;
            }
            let result = work(at);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
