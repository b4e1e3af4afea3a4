//! Paths as addresses, as `file:///srv/a%20b.pp`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;
use setpoint_source::normal;

/// The file that an address names; nothing for what is no file, such as `untitled:` texts.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let text = String::from_utf8(decoded(rest)).ok()?;
    // `/c:/x` is a path of Windows with a slash in front of it.
    let bytes = text.as_bytes();
    let has_drive = bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    let text = if has_drive && cfg!(windows) { &text[1..] } else { &text };
    Some(normal(Path::new(text)))
}

/// The address of a file; nothing for a path that is not absolute or no text.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    if !path.is_absolute() {
        return None;
    }
    let mut out = String::from("file://");
    if !text.starts_with('/') {
        out.push('/');
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri::from_str(&out).ok()
}

fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_path_survives_the_way_to_an_address_and_back() {
        for text in ["/srv/site.pp", "/srv/a b%41/ä#?.pp", "/c:/x.pp", "/日本/[x]&.pp"] {
            let address = uri(Path::new(text)).expect(text);
            assert_eq!(path(&address).as_deref(), Some(Path::new(text)), "{}", address.as_str());
        }
    }

    #[test]
    fn what_is_no_file_has_no_path() {
        let of = |text: &str| path(&Uri::from_str(text).expect(text));
        assert_eq!(of("untitled:Untitled-1"), None);
        assert_eq!(of("file://host/srv/a.pp"), Some(PathBuf::from("/srv/a.pp")));
        assert_eq!(of("file:///srv/x/../a%2Epp"), Some(PathBuf::from("/srv/a.pp")));
        assert_eq!(uri(Path::new("relative.pp")), None);
    }
}
