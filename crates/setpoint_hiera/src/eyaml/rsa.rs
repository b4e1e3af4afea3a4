//! RSA, as far as opening a secret with a private key needs it.

use super::der;

/// Numbers of any size, the lowest digit first.
type Number = Vec<u32>;

/// Larger keys are refused: opening grows with the cube of their size.
const MAX_BITS: usize = 16_384;

#[derive(Debug)]
pub(super) struct PrivateKey {
    modulus: Number,
    exponent: Number,
    bytes: usize,
}

impl PrivateKey {
    /// A key as OpenSSL writes it, in either of its two forms.
    pub(super) fn from_pem(text: &str) -> Option<Self> {
        let (label, bytes) = der::pem(text, "PRIVATE KEY")?;
        match label.as_str() {
            "RSA PRIVATE KEY" => Self::from_der(&bytes),
            "PRIVATE KEY" => {
                let (body, _) = der::sequence(&bytes)?;
                let (_, rest) = der::expect(body, der::INTEGER)?;
                let (_, rest) = der::sequence(rest)?;
                Self::from_der(der::expect(rest, der::OCTETS)?.0)
            }
            _ => None,
        }
    }

    fn from_der(bytes: &[u8]) -> Option<Self> {
        let (body, _) = der::sequence(bytes)?;
        let (_, rest) = der::expect(body, der::INTEGER)?;
        let (modulus, rest) = der::expect(rest, der::INTEGER)?;
        let (_, rest) = der::expect(rest, der::INTEGER)?;
        let (exponent, _) = der::expect(rest, der::INTEGER)?;
        let modulus = strip(modulus);
        if modulus.is_empty() || modulus.len() * 8 > MAX_BITS || modulus.last()? & 1 == 0 {
            return None;
        }
        Some(Self { bytes: modulus.len(), modulus: number(modulus), exponent: number(strip(exponent)) })
    }

    /// What was sealed for this key, by the padding of PKCS 1 version 1.5.
    pub(super) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        if strip(sealed).len() > self.bytes {
            return None;
        }
        let opened = self.power(&number(strip(sealed)));
        let mut block = vec![0_u8; self.bytes];
        for (at, digit) in opened.iter().enumerate() {
            for (offset, byte) in digit.to_le_bytes().into_iter().enumerate() {
                if let Some(place) = self.bytes.checked_sub(at * 4 + offset + 1) {
                    block[place] = byte;
                }
            }
        }
        let padded = block.strip_prefix(&[0, 2])?;
        let end = padded.iter().position(|byte| *byte == 0).filter(|end| *end >= 8)?;
        Some(padded[end + 1..].to_vec())
    }

    /// `base` to the private exponent, by squares.
    fn power(&self, base: &Number) -> Number {
        let base = remainder(base.clone(), &self.modulus);
        let mut result: Number = vec![1];
        for digit in self.exponent.iter().rev() {
            for bit in (0..32).rev() {
                result = remainder(product(&result, &result), &self.modulus);
                if digit >> bit & 1 == 1 {
                    result = remainder(product(&result, &base), &self.modulus);
                }
            }
        }
        result
    }
}

/// Without leading zeros.
fn strip(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

fn number(bytes: &[u8]) -> Number {
    bytes
        .rchunks(4)
        .map(|chunk| chunk.iter().fold(0_u32, |digit, byte| digit << 8 | u32::from(*byte)))
        .collect()
}

fn product(a: &[u32], b: &[u32]) -> Number {
    let mut out = vec![0_u32; a.len() + b.len()];
    for (at, x) in a.iter().enumerate() {
        let mut carry = 0_u64;
        for (offset, y) in b.iter().enumerate() {
            let sum = u64::from(*x) * u64::from(*y) + u64::from(out[at + offset]) + carry;
            out[at + offset] = sum as u32;
            carry = sum >> 32;
        }
        out[at + b.len()] = carry as u32;
    }
    out
}

/// Long division (Knuth's algorithm D); only what remains is kept.
fn remainder(mut a: Number, modulus: &[u32]) -> Number {
    while a.last() == Some(&0) {
        a.pop();
    }
    let count = modulus.len();
    let shift = modulus.last().map_or(0, |digit| digit.leading_zeros());
    let divisor = shifted(modulus, shift);
    let mut rest = shifted(&a, shift);
    rest.push(0);
    while rest.len() <= count {
        rest.push(0);
    }
    let (top, second) =
        (u64::from(divisor[count - 1]), divisor.get(count.wrapping_sub(2)).copied().unwrap_or(0));
    for at in (0..rest.len() - count).rev() {
        let head = u64::from(rest[at + count]) << 32 | u64::from(rest[at + count - 1]);
        let (mut guess, mut left) = (head / top, head % top);
        let third = if count >= 2 { u64::from(rest[at + count - 2]) } else { 0 };
        while guess >> 32 != 0 || guess * u64::from(second) > (left << 32 | third) {
            guess -= 1;
            left += top;
            if left >> 32 != 0 {
                break;
            }
        }
        let (mut borrow, mut carry) = (0_i64, 0_u64);
        for (offset, digit) in divisor.iter().enumerate().take(count) {
            let taken = guess * u64::from(*digit) + carry;
            carry = taken >> 32;
            let difference = i64::from(rest[at + offset]) - borrow - i64::from(taken as u32);
            rest[at + offset] = difference as u32;
            borrow = i64::from(difference < 0);
        }
        let difference = i64::from(rest[at + count]) - borrow - carry as i64;
        rest[at + count] = difference as u32;
        if difference < 0 {
            let mut carry = 0_u64;
            for (offset, digit) in divisor.iter().enumerate().take(count) {
                let sum = u64::from(rest[at + offset]) + u64::from(*digit) + carry;
                rest[at + offset] = sum as u32;
                carry = sum >> 32;
            }
            rest[at + count] = rest[at + count].wrapping_add(carry as u32);
        }
    }
    rest.truncate(count);
    for at in 0..count {
        let higher = rest.get(at + 1).copied().unwrap_or(0);
        rest[at] = if shift == 0 { rest[at] } else { rest[at] >> shift | higher << (32 - shift) };
    }
    rest
}

/// The digits, moved up by less than one digit.
fn shifted(digits: &[u32], shift: u32) -> Number {
    let mut out = Vec::with_capacity(digits.len() + 1);
    let mut carry = 0;
    for digit in digits {
        out.push(digit << shift | carry);
        carry = if shift == 0 { 0 } else { digit >> (32 - shift) };
    }
    out.push(carry);
    out
}
