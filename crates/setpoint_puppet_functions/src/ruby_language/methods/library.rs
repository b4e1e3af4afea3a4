//! Libraries of Ruby: words of a shell, addresses, URIs, percent encoding.

use super::Thing;
use crate::ruby_language::interpreter::{Result, argument_error, beyond, raise};
use crate::ruby_language::things::{Address, Uri};
use crate::stdlib::Network;

/// `Shellwords.escape`
pub(super) fn shell_escaped(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("'\n'"),
            _ if letter.is_ascii_alphanumeric() || "_-.,:+/@".contains(letter) => out.push(letter),
            _ => out.extend(['\\', letter]),
        }
    }
    out
}

/// `Shellwords.split`
pub(super) fn shell_words(text: &str) -> Result<Thing> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(letter) => word.push(letter),
                        None => {
                            return argument_error(format!(
                                "Unmatched quote: {}",
                                Thing::text(text).inspect()
                            ));
                        }
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => match letters.next() {
                            Some(next) if "$`\"\\\n".contains(next) => word.push(next),
                            Some(next) => word.extend(['\\', next]),
                            None => {
                                return argument_error(format!(
                                    "Unmatched quote: {}",
                                    Thing::text(text).inspect()
                                ));
                            }
                        },
                        Some(letter) => word.push(letter),
                        None => {
                            return argument_error(format!(
                                "Unmatched quote: {}",
                                Thing::text(text).inspect()
                            ));
                        }
                    }
                }
            }
            '\\' => {
                if let Some(next) = letters.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            _ if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    // Ruby builds them of bytes.
    let word = |word: String| {
        if word.is_ascii() { Thing::Bytes(word.into_bytes().into()) } else { Thing::text(word) }
    };
    Ok(Thing::array(words.into_iter().map(word).collect()))
}

/// `IPAddr.new`
pub(super) fn address(text: &str) -> Result<Address> {
    match Network::parse(text) {
        Some(network) => Ok(Address { address: network.address, prefix: network.bits as u8 }),
        None => {
            let bare =
                text.split('/').next().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
            match bare.parse::<std::net::IpAddr>() {
                Ok(address) => {
                    let number = match address {
                        std::net::IpAddr::V4(address) => u128::from(u32::from(address)),
                        std::net::IpAddr::V6(address) => u128::from(address),
                    };
                    raise("IPAddr::InvalidPrefixError", format!("invalid length: {number}"))
                }
                // Ruby 3.1 forgets the address in its message.
                Err(_) => raise("IPAddr::InvalidAddressError", "invalid address: "),
            }
        }
    }
}

/// `URI.parse`
pub(super) fn uri(text: &str) -> Result<Uri> {
    let is_plain = text.chars().all(|letter| letter.is_ascii_graphic() && !"<>\"{}|\\^`".contains(letter));
    if !is_plain {
        if text.is_ascii() {
            return raise(
                "URI::InvalidURIError",
                format!("bad URI(is not URI?): {}", Thing::text(text).inspect()),
            );
        }
        let message = format!("URI must be ascii only {}", Thing::text(text).inspect());
        return raise("URI::InvalidURIError", message);
    }
    if text.matches('[').count() != text.matches(']').count() {
        return raise(
            "URI::InvalidURIError",
            format!("bad URI(is not URI?): {}", Thing::text(text).inspect()),
        );
    }
    let mut uri = Uri::default();
    let rest = match text.split_once('#') {
        Some((rest, fragment)) => {
            uri.fragment = Some(fragment.to_owned());
            rest
        }
        None => text,
    };
    let scheme_end = rest.find(':').filter(|end| {
        rest.starts_with(|first: char| first.is_ascii_alphabetic())
            && rest[..*end].chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    });
    let rest = match scheme_end {
        Some(end) => {
            uri.scheme = Some(rest[..end].to_ascii_lowercase());
            &rest[end + 1..]
        }
        None => rest,
    };
    if uri.scheme.is_some() && !rest.starts_with('/') && !rest.starts_with('?') {
        if rest.is_empty() {
            return beyond("it parses an unusual URI");
        }
        uri.opaque = Some(rest.to_owned());
        return Ok(uri);
    }
    let rest = match rest.split_once('?') {
        Some((rest, query)) => {
            uri.query = Some(query.to_owned());
            rest
        }
        None => rest,
    };
    let Some(authority) = rest.strip_prefix("//") else {
        rest.clone_into(&mut uri.path);
        return Ok(uri);
    };
    let path_start = authority.find('/').unwrap_or(authority.len());
    let (authority, path) = authority.split_at(path_start);
    path.clone_into(&mut uri.path);
    let host = match authority.rsplit_once('@') {
        Some((userinfo, host)) => {
            uri.userinfo = Some(userinfo.to_owned());
            host
        }
        None => authority,
    };
    let port_at = if host.ends_with(']') { None } else { host.rfind(':') };
    let host = match port_at {
        Some(at) => {
            let port = &host[at + 1..];
            if !port.is_empty() {
                match port.parse() {
                    Ok(port) => uri.port = Some(port),
                    Err(_) => {
                        let message = format!("bad URI(is not URI?): {}", Thing::text(text).inspect());
                        return raise("URI::InvalidURIError", message);
                    }
                }
            }
            &host[..at]
        }
        None => host,
    };
    uri.host = Some(host.to_owned());
    Ok(uri)
}

/// `CGI.escape` and its like: letters that stand for themselves, and whether space becomes `+`.
pub(super) fn percent(text: &str, kept: &str, plus: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' if plus => out.push('+'),
            _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(super) fn unpercent(text: &str, plus: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        match (bytes[at], code) {
            (b'%', Some(code)) => {
                out.push(code);
                at += 3;
                continue;
            }
            (b'+', _) if plus => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    out
}

/// `CGI.escapeHTML`
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
