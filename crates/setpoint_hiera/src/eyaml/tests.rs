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

/// A key that opens none of these, and a text that is sealed for this key first, then for those.
const OTHER_KEY: &str = include_str!("../../tests/eyaml/other_private_key.pem");
const SEALED_FOR_TWO: &str = include_str!("../../tests/eyaml/aes_192_for_two.txt");

const UNKNOWN_ENVELOPE: &str = "it is not a PKCS7 envelope of a known kind";
const WRONG_KEY: &str = "it cannot be opened with the private key";

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

fn seal(envelope: &[u8]) -> String {
    format!("ENC[PKCS7,{}]", setpoint_puppet_values::ruby::base64::strict_encode64(envelope))
}

#[test]
fn every_recipient_opens_what_was_sealed_for_several() {
    for key in [KEYS[0], KEYS[1], OTHER_KEY] {
        let opened = opener(key).open(&format!("ENC[PKCS7,{SEALED_FOR_TWO}]"));
        assert_eq!(opened.as_deref(), Ok("a secret é"));
    }
}

#[test]
fn a_wrong_key_opens_nothing() {
    for sealed in SEALED {
        let error = opener(OTHER_KEY).open(&format!("ENC[PKCS7,{sealed}]")).unwrap_err();
        assert_eq!(error, WRONG_KEY);
    }
}

#[test]
fn a_truncated_envelope_is_an_error() {
    let opener = opener(KEYS[0]);
    for sealed in [SEALED[0], SEALED[1], SEALED_FOR_TWO] {
        let envelope = super::bytes_of_base64(sealed).unwrap();
        for length in 0..envelope.len() {
            let error = opener.open(&seal(&envelope[..length])).unwrap_err();
            assert_eq!(error, UNKNOWN_ENVELOPE, "of {length} bytes");
        }
    }
}

/// A changed vector, block or secret shows only in the padding of the text, or as another text: there is no signature.
#[test]
fn a_changed_envelope_gives_no_secret_away_and_never_panics() {
    let opener = opener(KEYS[0]);
    let envelope = super::bytes_of_base64(SEALED[0]).unwrap();
    let mut wrong_paddings = 0;
    for at in 0..envelope.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = envelope.clone();
            changed[at] ^= change;
            if let Err(error) = opener.open(&seal(&changed)) {
                assert!([UNKNOWN_ENVELOPE, WRONG_KEY].contains(&error.as_str()), "{error}");
                wrong_paddings += usize::from(error == WRONG_KEY && at >= envelope.len() - 16);
            }
        }
    }
    assert_eq!(wrong_paddings, 3 * 16, "the only block, if changed, ends in a wrong padding");
}

#[test]
fn a_broken_private_key_is_named_but_not_quoted() {
    for key in KEYS {
        let broken = (0..key.len()).map(|at| {
            let (before, after) = key.split_at(at);
            [before.to_owned(), format!("{before}A{}", &after[1..]), format!("{before}{}", &after[1..])]
        });
        for key in broken.flatten() {
            if let Err(error) = opener(&key).open(&format!("ENC[PKCS7,{}]", SEALED[0])) {
                let unread = "/keys/private.pem is not an RSA private key in PEM";
                assert!([unread, WRONG_KEY].contains(&error.as_str()), "{error}");
            }
        }
    }
    let endless = KEYS[0].replace("-----END", &format!("{}\n-----END", "A".repeat(100_000)));
    assert!(opener(&endless).open("ENC[x]").is_err());
}

#[test]
fn text_around_a_private_key_and_the_width_of_its_lines_do_not_matter() {
    let (begin, body) = KEYS[0].split_once('\n').unwrap();
    let (body, end) = body.split_once("\n---").unwrap();
    let key =
        format!("the key of this test\r\n{begin}\r\n{}\r\n---{end}\n\nthe end\n", body.replace('\n', ""));
    assert_eq!(opener(&key).open(&format!("ENC[PKCS7,{}]", SEALED[1])).as_deref(), Ok("a secret é"));
}

#[test]
fn both_brackets_stand_on_one_line() {
    assert!(is_encrypted("x ENC[PKCS7,abc] y"));
    assert!(!is_encrypted("ENC[PKCS7,\nabc]"));
    assert!(!is_encrypted("plain"));
}
