//! Base64 as Ruby's module `Base64` reads and writes it, under its names.

use ::base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD, URL_SAFE};
use ::base64::{Engine, alphabet};

/// Returns bytes in base64, on one line.
pub fn strict_encode64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns bytes in base64, with a line end after each 60 characters.
pub fn encode64(bytes: &[u8]) -> String {
    bytes.chunks(45).map(|line| STANDARD.encode(line) + "\n").collect()
}

/// Returns bytes in base64 with `-` and `_` in place of `+` and `/`.
pub fn urlsafe_encode64(bytes: &[u8]) -> String {
    URL_SAFE.encode(bytes)
}

/// Returns bytes from base64; `None` if there is anything but the alphabet, or padding where it does not belong.
pub fn strict_decode64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Returns bytes from base64 of either alphabet, whose padding may be missing.
pub fn urlsafe_decode64(text: &str) -> Option<Vec<u8>> {
    let mut text = text.replace('-', "+").replace('_', "/");
    if !text.ends_with('=') {
        text.push_str(&"=".repeat(text.len().next_multiple_of(4) - text.len()));
    }
    strict_decode64(&text)
}

/// Returns bytes from base64, as `unpack('m')` does: it skips what is not of the alphabet, ends at padding where some can
/// stand, and ignores bits that are too many.
pub fn decode64(text: impl AsRef<[u8]>) -> Vec<u8> {
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let mut digits = Vec::with_capacity(text.as_ref().len());
    for &byte in text.as_ref() {
        match byte {
            b'=' if digits.len() % 4 >= 2 => break,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => digits.push(byte),
            _ => {}
        }
    }
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenient_decoding_skips_what_is_not_of_the_alphabet() {
        for (text, bytes) in [
            ("", ""),
            ("YWJj", "abc"),
            ("Y-W\nJ_j!", "abc"),
            ("YWI", "ab"),
            ("YWJ=YWJj", "ab"),
            ("YWJjY", "abc"),
            ("YWJjYX==", "abca"),
            ("=Y=WJj", "abc"),
            ("====", ""),
        ] {
            assert_eq!(decode64(text), bytes.as_bytes(), "{text}");
        }
    }

    #[test]
    fn strict_decoding_wants_padding_and_no_bits_that_are_too_many() {
        assert_eq!(strict_decode64("YWI=").as_deref(), Some(&b"ab"[..]));
        for text in ["YWI", "YWJ=", "YWI==", "YW I=", "YW-_", "Y", "=", "====", "YWI=YWI="] {
            assert_eq!(strict_decode64(text), None, "{text}");
        }
        assert_eq!(urlsafe_decode64("_-8").as_deref(), Some(&[0xff, 0xef][..]));
        assert_eq!(urlsafe_decode64("/+8=").as_deref(), Some(&[0xff, 0xef][..]));
        assert_eq!(urlsafe_decode64("YQ").as_deref(), Some(&b"a"[..]));
        assert_eq!(urlsafe_decode64("YQ="), None);
    }

    #[test]
    fn lines_have_sixty_characters() {
        assert_eq!(encode64(&[]), "");
        assert_eq!(encode64(&[0; 46]), format!("{}\nAA==\n", "A".repeat(60)));
        assert_eq!(urlsafe_encode64(&[0xff, 0xef]), "_-8=");
    }
}
