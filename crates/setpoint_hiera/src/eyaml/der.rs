//! The little of DER that keys and envelopes need.

use setpoint_puppet_values::text::decode_base64;

/// The bytes of a base64 text; blanks are passed over, any other letter is refused.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || b"+/ \n\r\t".contains(&letter);
    let mut digits = text.bytes().take_while(|letter| *letter != b'=');
    digits.all(fits).then(|| decode_base64(text, false)).flatten()
}

/// The first block of a PEM file whose label ends so, and the label.
pub(super) fn pem(text: &str, label: &str) -> Option<(String, Vec<u8>)> {
    let start = text.find("-----BEGIN ")? + "-----BEGIN ".len();
    let (name, rest) = text.get(start..)?.split_once("-----")?;
    if !name.ends_with(label) {
        return None;
    }
    let (body, _) = rest.split_once("-----END")?;
    Some((name.to_owned(), base64(body)?))
}

/// One element: its tag, its content, and what follows it.
pub(super) fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count == 0 || count > 4 {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(count)?;
        (digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit)), rest)
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some((tag, content, after))
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
/// The object identifier of enveloped data.
const ENVELOPED: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x03];
/// AES in CBC mode with 128, 192 and 256 bits, without the last number.
const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];

/// An element of a wanted tag, and what follows it.
pub(super) fn expect(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == wanted).then_some((content, rest))
}

pub(super) fn sequence(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    expect(bytes, SEQUENCE)
}

/// What PKCS7 calls enveloped data: a text under a secret, and the secret under public keys.
pub(super) struct Envelope<'b> {
    pub(super) recipients: Vec<&'b [u8]>,
    pub(super) vector: &'b [u8],
    pub(super) content: &'b [u8],
}

impl<'b> Envelope<'b> {
    pub(super) fn read(bytes: &'b [u8]) -> Option<Self> {
        let (outer, _) = sequence(bytes)?;
        let (kind, rest) = expect(outer, OBJECT)?;
        if kind != ENVELOPED {
            return None;
        }
        let (_, explicit, _) = element(rest)?;
        let (body, _) = sequence(explicit)?;
        let (_, rest) = expect(body, INTEGER)?;
        let (mut infos, rest) = expect(rest, SET)?;
        let mut recipients = Vec::new();
        while !infos.is_empty() {
            let (info, more) = sequence(infos)?;
            infos = more;
            let (_, rest) = expect(info, INTEGER)?;
            let (_, rest) = sequence(rest)?;
            let (_, rest) = sequence(rest)?;
            recipients.push(expect(rest, OCTETS)?.0);
        }
        let (encrypted, _) = sequence(rest)?;
        let (_, rest) = expect(encrypted, OBJECT)?;
        let (algorithm, rest) = sequence(rest)?;
        let (cipher, parameters) = expect(algorithm, OBJECT)?;
        let known = cipher.strip_prefix(AES).is_some_and(|last| matches!(last, [2 | 22 | 42]));
        let (vector, _) = expect(parameters, OCTETS)?;
        let (tag, content, _) = element(rest)?;
        (known && tag == 0x80).then_some(Self { recipients, vector, content })
    }
}
