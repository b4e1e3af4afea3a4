//! Base 64.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// In lines of 60 letters, each with its end.
pub(super) fn in_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 60 + 1);
    for (at, letter) in text.chars().enumerate() {
        if at > 0 && at % 60 == 0 {
            out.push('\n');
        }
        out.push(letter);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// What can be read; letters that do not belong are passed over.
pub(super) fn decode_leniently(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.bytes().take_while(|byte| *byte != b'=').filter_map(digit).collect();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let group = chunk.iter().fold(0, |group, digit| group << 6 | digit) << (6 * (4 - chunk.len()));
        out.extend((0..chunk.len().saturating_sub(1)).map(|at| (group >> (16 - 8 * at)) as u8));
    }
    out
}

/// Nothing if the text is not exactly base 64 with its padding.
pub(super) fn decode_strictly(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let well_formed = text.len() % 4 == 0 && padding <= 2 && body.bytes().all(|byte| digit(byte).is_some());
    well_formed.then(|| decode_leniently(text))
}

fn digit(byte: u8) -> Option<u32> {
    LETTERS.iter().position(|letter| *letter == byte).map(|at| at as u32)
}
