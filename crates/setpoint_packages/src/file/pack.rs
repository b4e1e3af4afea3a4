//! Compressed pieces of the file, each with its checksum.

use std::io::{Read, Write};

use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};

use super::coding::Broken;

/// No piece is larger when unpacked: a hostile file cannot ask for more.
pub(crate) const MAX_PIECE: u32 = 256 * 1024 * 1024;

/// Where a piece is in the file, how long it is when unpacked, and what it then adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) packed: u32,
    pub(crate) unpacked: u32,
    pub(crate) checksum: u32,
}

/// Compresses a piece; the place is filled in by whoever writes it.
pub(crate) fn pack(raw: &[u8]) -> (Vec<u8>, Piece) {
    let options = LzmaOptions {
        // A window of the piece itself: a larger one costs memory and finds nothing more.
        dict_size: (raw.len() as u32).clamp(4096, 1 << 26),
        // Names are bytes without alignment: all context goes to the byte before.
        lc: LITERAL_CONTEXT,
        lp: 0,
        pb: 0,
        ..LzmaOptions::with_preset(6)
    };
    let packed = (|| {
        let mut writer = LzmaWriter::new_no_header(Vec::new(), &options, false)?;
        writer.write_all(raw)?;
        writer.finish()
    })();
    // Writing to memory does not fail; if it ever did, the piece would be empty and its checksum would say so.
    let packed: Vec<u8> = packed.unwrap_or_default();
    let piece = Piece {
        offset: 0,
        packed: packed.len() as u32,
        unpacked: raw.len() as u32,
        checksum: crc32fast::hash(raw),
    };
    (packed, piece)
}

const LITERAL_CONTEXT: u32 = 4;

pub(crate) fn unpack(packed: &[u8], piece: &Piece) -> Result<Vec<u8>, Broken> {
    const DAMAGED: Broken = "a piece of it cannot be unpacked: the file is damaged";
    if piece.unpacked > MAX_PIECE {
        return Err("a piece of it is larger than any index has: the file is damaged");
    }
    // The buffer grows as bytes arrive, so that a false length costs nothing.
    let mut raw = Vec::with_capacity((piece.unpacked as usize).min(packed.len().saturating_mul(64)));
    let window = piece.unpacked.clamp(4096, 1 << 26);
    let reader = LzmaReader::new(packed, u64::from(piece.unpacked), LITERAL_CONTEXT, 0, 0, window, None)
        .map_err(|_| DAMAGED)?;
    reader.take(u64::from(piece.unpacked)).read_to_end(&mut raw).map_err(|_| DAMAGED)?;
    if raw.len() != piece.unpacked as usize || crc32fast::hash(&raw) != piece.checksum {
        return Err("a piece of it does not match its checksum: the file is damaged");
    }
    Ok(raw)
}
