//! What tokens stand for: strings without their escapes, numbers, bytes.

use std::sync::Arc;

use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use base64::{Engine, alphabet};

use super::ast::Number;
use super::lexer::Kind;

/// The text of a string between its quotes, or the first escape that is not one.
pub(super) fn unescape(quoted: &str) -> Result<Arc<str>, String> {
    if !quoted.contains('\\') {
        return Ok(quoted.into());
    }
    let mut out = String::with_capacity(quoted.len());
    let mut rest = quoted.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escape) = rest.next() else { return Err("\\".into()) };
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'b' => out.push('\u{8}'),
            'r' => out.push('\r'),
            'f' => out.push('\u{c}'),
            '\\' | '\'' | '"' | '#' => out.push(escape),
            '0'..='3' => {
                let digits: String = std::iter::once(escape).chain(rest.by_ref().take(2)).collect();
                let code = u32::from_str_radix(&digits, 8).ok().filter(|_| digits.len() == 3);
                out.push(code.and_then(char::from_u32).ok_or_else(|| format!("\\{digits}"))?);
            }
            'u' => {
                let digits: String = rest.by_ref().skip_while(|&c| c == 'u').take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                out.push(code.and_then(char::from_u32).ok_or_else(|| format!("\\u{digits}"))?);
            }
            other => return Err(format!("\\{other}")),
        }
    }
    Ok(out.into())
}

/// The number of a token, or nothing if it is beyond all bounds.
pub(super) fn number(kind: Kind, text: &str) -> Option<Number> {
    let digits = text.trim_end_matches(['l', 'L', 'f', 'F', 'd', 'D']);
    let real = || digits.parse::<f64>().ok().filter(|value| value.is_finite());
    match kind {
        Kind::Integer => {
            Some(digits.parse().map_or_else(|_| Number::Big(without_zeros(digits)), Number::Integer))
        }
        Kind::Long => Some(digits.parse().map_or_else(|_| Number::Big(without_zeros(digits)), Number::Long)),
        Kind::Double => real().map(Number::Double),
        _ => real().map(Number::Float),
    }
}

fn without_zeros(digits: &str) -> Arc<str> {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    format!("{sign}{}", digits.trim_start_matches('0')).into()
}

/// The bytes of `#HEX#…#` and its kin, as hexadecimal digits in upper case.
pub(super) fn bytes(text: &str) -> Result<Arc<str>, String> {
    let kind = text.get(1..4).unwrap_or("");
    let content: String =
        text.get(5..text.len() - 1).unwrap_or("").chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let group = |size: usize, radix: u32| -> Result<Vec<u8>, String> {
        if !content.len().is_multiple_of(size) {
            return Err(format!("bytes in `#{kind}#` are written with {size} digits each"));
        }
        let ascii = content.as_bytes().chunks(size);
        ascii
            .map(|chunk| {
                let digits = String::from_utf8_lossy(chunk);
                u8::from_str_radix(&digits, radix).map_err(|_| format!("`{digits}` is no byte in `#{kind}#`"))
            })
            .collect()
    };
    let bytes = match kind {
        "HEX" => group(2, 16)?,
        "DEC" => group(3, 10)?,
        "OCT" => group(3, 8)?,
        "BIN" => group(8, 2)?,
        _ => base64(&content).ok_or("this is not base 64")?,
    };
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    let digits: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    Ok(digits.into())
}

/// Returns the bytes of base64 text whose padding may be missing.
fn base64(text: &str) -> Option<Vec<u8>> {
    const WITHOUT_PADDING: GeneralPurpose =
        GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    WITHOUT_PADDING.decode(text.trim_end_matches('=')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_the_production_grammar() {
        assert_eq!(&*unescape(r"a\tb\101\u00e9\\").unwrap(), "a\tbAé\\");
        assert_eq!(unescape(r"\q").unwrap_err(), r"\q");
        assert_eq!(unescape(r"\9").unwrap_err(), r"\9");
        assert_eq!(unescape(r"\12").unwrap_err(), r"\12");
    }

    #[test]
    fn bytes_have_five_notations() {
        assert_eq!(&*bytes("#HEX#AB 34#").unwrap(), "AB34");
        assert_eq!(&*bytes("#DEC#255000#").unwrap(), "FF00");
        assert_eq!(&*bytes("#OCT#377#").unwrap(), "FF");
        assert_eq!(&*bytes("#BIN#00001111#").unwrap(), "0F");
        assert_eq!(&*bytes("#B64#SGk=#").unwrap(), "4869");
        assert!(bytes("#HEX#ABC#").is_err());
        assert!(bytes("#DEC#256#").is_err());
    }

    #[test]
    fn whole_numbers_have_any_size() {
        assert_eq!(number(Kind::Integer, "007"), Some(Number::Integer(7)));
        let huge = format!("-000{}", "9".repeat(60));
        assert_eq!(number(Kind::Integer, &huge), Some(Number::Big(format!("-{}", "9".repeat(60)).into())));
        assert_eq!(number(Kind::Float, "1e999"), None);
        assert_eq!(number(Kind::Float, "-1.5"), Some(Number::Float(-1.5)));
    }
}
