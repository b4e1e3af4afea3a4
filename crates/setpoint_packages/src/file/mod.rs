//! The index file: one compact file in which a package is found without reading the rest.
//!
//! ```text
//! header     64 bytes: magic, version, counts, where the two tables are, checksum
//! blocks     packages by name, some 16 KB of records each, compressed one by one
//! table      the first name of each block, and where it is
//! relations  all names, dependencies, provided names; read only when they are asked for
//! ```
//!
//! A record is a name, the length of its body, and the body: flags, then sorted lists in which each path names only what
//! differs from the one before. Every piece has a checksum, so that a damaged file is an error and never a wrong answer.
//! Numbers in the header are little-endian.

pub(crate) mod coding;
mod open;
mod pack;
mod record;
mod store;
mod write;

pub(crate) use open::IndexFile;
pub(crate) use write::{side_by_side, write};

use coding::Broken;
use pack::Piece;

const MAGIC: &[u8; 8] = b"setpkg\r\n";
/// Raised with every change of the format: an older program says so instead of guessing.
const VERSION: u32 = 2;
const HEADER: usize = 64;
/// Records gathered in one block. Smaller blocks are found faster, larger ones are packed better.
const BLOCK: usize = 16 * 1024;

#[derive(Debug, Clone, Copy)]
struct Header {
    packages: u32,
    paths: u64,
    table: Piece,
    relations: Piece,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.packages.to_le_bytes());
        bytes.extend_from_slice(&(self.paths as u32).to_le_bytes());
        for piece in [self.table, self.relations] {
            bytes.extend_from_slice(&piece.offset.to_le_bytes());
            bytes.extend_from_slice(&piece.packed.to_le_bytes());
            bytes.extend_from_slice(&piece.unpacked.to_le_bytes());
            bytes.extend_from_slice(&piece.checksum.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        let mut header = [0; HEADER];
        header.copy_from_slice(&bytes);
        header
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.get(..8) != Some(MAGIC) {
            return Err("it is no index of packages; `setpoint packages build` makes one".to_owned());
        }
        let word = |at: usize| -> u32 {
            bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
        };
        let long = |at: usize| -> u64 { u64::from(word(at)) | u64::from(word(at + 4)) << 32 };
        let version = word(8);
        if version != VERSION {
            return Err(format!(
                "the index has format {version}, and this program reads format {VERSION}; build it again with `setpoint packages build`"
            ));
        }
        if bytes.len() < HEADER || crc32fast::hash(&bytes[..HEADER - 4]) != word(HEADER - 4) {
            return Err("its header does not match its checksum: the file is damaged".to_owned());
        }
        let piece = |at: usize| Piece {
            offset: long(at),
            packed: word(at + 8),
            unpacked: word(at + 12),
            checksum: word(at + 16),
        };
        Ok(Self { packages: word(12), paths: u64::from(word(16)), table: piece(20), relations: piece(40) })
    }
}

fn damaged(reason: Broken) -> crate::IndexError {
    crate::IndexError::new("", reason)
}
