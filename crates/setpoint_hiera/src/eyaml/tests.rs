//! Texts that OpenSSL sealed, for a key that is used for nothing else.

use setpoint_puppet_values::{Hash, Key, Value};
use setpoint_source::MemoryFileSystem;

use super::{Opener, is_encrypted};

const KEYS: [&str; 2] = [
    include_str!("../../tests/eyaml/private_key.pem"),
    include_str!("../../tests/eyaml/private_key_traditional.pem"),
];
const SEALED: [&str; 2] =
    [include_str!("../../tests/eyaml/aes_256.txt"), include_str!("../../tests/eyaml/aes_128.txt")];

fn opener(key: &str) -> Opener {
    let mut files = MemoryFileSystem::new();
    files.add("/keys/private.pem", key);
    let options: Hash =
        [(Key::from("pkcs7_private_key"), Value::from("/keys/private.pem"))].into_iter().collect();
    Opener::new(&options, &files)
}

#[test]
fn what_was_sealed_is_opened() {
    for key in KEYS {
        for sealed in SEALED {
            let text = format!("<ENC[PKCS7,{sealed}]> and ENC[{sealed}]\n");
            assert_eq!(opener(key).open(&text).as_deref(), Ok("<a secret é> and a secret é"));
        }
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let opener = opener(KEYS[0]);
    let mut broken = SEALED[0].to_owned();
    broken.replace_range(200..204, "AAAA");
    for (text, reason) in [
        ("ENC[GPG,xyz]".to_owned(), "it is encrypted with GPG, which is not known"),
        ("ENC[PKCS7,!]".to_owned(), "it is not base64"),
        ("ENC[PKCS7,AAAA]".to_owned(), "it is not a PKCS7 envelope of a known kind"),
        (format!("ENC[PKCS7,{broken}]"), "it cannot be opened with the private key"),
    ] {
        assert_eq!(opener.open(&text).unwrap_err(), reason);
    }
    let missing = Opener::new(
        &[(Key::from("pkcs7_private_key"), Value::from("/none.pem"))].into_iter().collect(),
        &MemoryFileSystem::new(),
    );
    assert_eq!(missing.open("ENC[PKCS7,AAAA]").unwrap_err(), "the private key /none.pem is not there");
}

#[test]
fn both_brackets_stand_on_one_line() {
    assert!(is_encrypted("x ENC[PKCS7,abc] y"));
    assert!(!is_encrypted("ENC[PKCS7,\nabc]"));
    assert!(!is_encrypted("plain"));
}
