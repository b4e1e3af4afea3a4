//! AES in CBC mode, for opening only.

/// The inverse of each byte's substitution is made from the field itself, so that no table can be mistyped.
struct Tables {
    substituted: [u8; 256],
    inverse: [u8; 256],
}

impl Tables {
    fn new() -> Self {
        let mut tables = Self { substituted: [0; 256], inverse: [0; 256] };
        // Walks the field by a generator and its inverse at once.
        let (mut p, mut q) = (1_u8, 1_u8);
        loop {
            p ^= double(p);
            q ^= q << 1;
            q ^= q << 2;
            q ^= q << 4;
            if q & 0x80 != 0 {
                q ^= 0x09;
            }
            let value = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
            tables.substituted[usize::from(p)] = value;
            tables.inverse[usize::from(value)] = p;
            if p == 1 {
                break;
            }
        }
        tables.substituted[0] = 0x63;
        tables.inverse[0x63] = 0;
        tables
    }
}

/// Times x in the field of AES.
fn double(value: u8) -> u8 {
    value << 1 ^ if value & 0x80 == 0 { 0 } else { 0x1b }
}

fn times(value: u8, factor: u8) -> u8 {
    let (mut value, mut factor, mut product) = (value, factor, 0);
    while factor != 0 {
        if factor & 1 != 0 {
            product ^= value;
        }
        value = double(value);
        factor >>= 1;
    }
    product
}

fn round_keys(key: &[u8], tables: &Tables) -> Vec<[u8; 4]> {
    let count = key.len() / 4;
    let rounds = count + 6;
    let mut words: Vec<[u8; 4]> =
        key.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect();
    let mut constant = 1_u8;
    for at in count..4 * (rounds + 1) {
        let mut word = words[at - 1];
        let substitute = |word: [u8; 4]| word.map(|byte| tables.substituted[usize::from(byte)]);
        if at % count == 0 {
            word.rotate_left(1);
            word = substitute(word);
            word[0] ^= constant;
            constant = double(constant);
        } else if count > 6 && at % count == 4 {
            word = substitute(word);
        }
        let before = words[at - count];
        words.push(std::array::from_fn(|byte| word[byte] ^ before[byte]));
    }
    words
}

/// One block, opened in place.
fn open_block(block: &mut [u8; 16], keys: &[[u8; 4]], tables: &Tables) {
    let add = |block: &mut [u8; 16], round: usize| {
        for (at, byte) in block.iter_mut().enumerate() {
            *byte ^= keys[round * 4 + at / 4][at % 4];
        }
    };
    let rounds = keys.len() / 4 - 1;
    add(block, rounds);
    for round in (0..rounds).rev() {
        let old = *block;
        for column in 0..4 {
            for row in 0..4 {
                let moved = old[((column + 4 - row) % 4) * 4 + row];
                block[column * 4 + row] = tables.inverse[usize::from(moved)];
            }
        }
        add(block, round);
        if round > 0 {
            for column in block.chunks_exact_mut(4) {
                let old = [column[0], column[1], column[2], column[3]];
                for (row, byte) in column.iter_mut().enumerate() {
                    *byte = times(old[row], 14)
                        ^ times(old[(row + 1) % 4], 11)
                        ^ times(old[(row + 2) % 4], 13)
                        ^ times(old[(row + 3) % 4], 9);
                }
            }
        }
    }
}

/// The plain bytes without their padding; nothing if the key cannot be right.
pub(super) fn open_cbc(key: &[u8], vector: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let mut before: [u8; 16] = vector.try_into().ok()?;
    if !matches!(key.len(), 16 | 24 | 32) || content.is_empty() || !content.len().is_multiple_of(16) {
        return None;
    }
    let tables = Tables::new();
    let keys = round_keys(key, &tables);
    let mut out = Vec::with_capacity(content.len());
    for sealed in content.chunks_exact(16) {
        let sealed: [u8; 16] = sealed.try_into().ok()?;
        let mut block = sealed;
        open_block(&mut block, &keys, &tables);
        out.extend(block.iter().zip(before).map(|(byte, chained)| byte ^ chained));
        before = sealed;
    }
    let padding = usize::from(*out.last()?);
    let start = out.len().checked_sub(padding).filter(|_| (1..=16).contains(&padding))?;
    if out[start..].iter().any(|byte| usize::from(*byte) != padding) {
        return None;
    }
    out.truncate(start);
    Some(out)
}
