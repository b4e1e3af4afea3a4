//! Encrypted values of eyaml files: opened if the keys are given and there, else not known.

use std::path::Path;
use std::sync::Arc;

use aes::{Aes128, Aes192, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use cms::content_info::ContentInfo;
use cms::der::Decode;
use cms::der::oid::db::rfc5911::{ID_AES_128_CBC, ID_AES_192_CBC, ID_AES_256_CBC, ID_ENVELOPED_DATA};
use cms::enveloped_data::{EnvelopedData, RecipientInfo};
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::DecodePrivateKey;
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey};
use setpoint_puppet_values::ruby::base64::decode64;
use setpoint_puppet_values::{Data, Hash, Key, Type, Value};
use setpoint_source::{FileError, FileSystem, read_text};

/// Whether a text has an encrypted part, as eyaml decides it: both brackets on one line.
pub(crate) fn is_encrypted(text: &str) -> bool {
    text.lines().any(|line| line.find("ENC[").is_some_and(|at| line[at..].contains(']')))
}

/// Opens encrypted texts with the private key that the options of an entry name.
pub(crate) struct Opener {
    key: Result<RsaPrivateKey, String>,
}

impl Opener {
    pub(crate) fn new(options: &Hash, files: &dyn FileSystem) -> Self {
        Self { key: private_key(options, files) }
    }

    /// The text with its encrypted parts opened, or why that is not possible.
    pub(crate) fn open(&self, text: &str) -> Result<String, String> {
        let key = self.key.as_ref().map_err(Clone::clone)?;
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("ENC[") {
            let Some(end) = rest[start..].find(']').map(|end| start + end) else { break };
            out.push_str(&rest[..start]);
            let inner = &rest[start + 4..end];
            rest = &rest[end + 1..];
            let data = match inner.split_once(',') {
                Some(("PKCS7", data)) => data,
                Some((other, _)) => return Err(format!("it is encrypted with {other}, which is not known")),
                None => inner,
            };
            out.push_str(&open_envelope(data, key)?);
        }
        out.push_str(rest);
        // Puppet takes away the line break that a block of YAML ends with.
        Ok(out
            .strip_suffix('\n')
            .map_or(out.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned())
    }
}

fn private_key(options: &Hash, files: &dyn FileSystem) -> Result<RsaPrivateKey, String> {
    let option = |name: &str| options.get(&Key::from(name)).and_then(Value::as_str);
    let Some(path) = option("pkcs7_private_key") else {
        return Err("its entry names no pkcs7_private_key".to_owned());
    };
    // Keys lie on the server, and what they would open is unknown without them: that one was not read is no doubt of its own.
    if !files.permits(Path::new(path)) {
        return Err(FileError::outside(Path::new(path)).to_string());
    }
    let text = read_text(files, Path::new(path)).map_err(|error| {
        if error.missing { format!("the private key {path} is not there") } else { error.to_string() }
    })?;
    key_from_pem(&text).ok_or_else(|| format!("{path} is not an RSA private key in PEM"))
}

/// Longer blocks are refused: the time to check a key grows faster than its size. A key of 16,384 bits takes 13 KB.
const MAX_KEY_BYTES: usize = 16 * 1024;

/// Returns the key in the first block of a PEM file, in either of the two forms that OpenSSL writes. Text around the block and
/// lines of any width are accepted, as OpenSSL does; the readers of PEM in `pkcs1` and `pkcs8` are stricter.
fn key_from_pem(text: &str) -> Option<RsaPrivateKey> {
    let (label, rest) = text.split_once("-----BEGIN ")?.1.split_once("-----")?;
    let (body, _) = rest.split_once("-----END").filter(|(body, _)| body.len() <= MAX_KEY_BYTES)?;
    let bytes = bytes_of_base64(body)?;
    match label {
        "RSA PRIVATE KEY" => RsaPrivateKey::from_pkcs1_der(&bytes).ok(),
        "PRIVATE KEY" => RsaPrivateKey::from_pkcs8_der(&bytes).ok(),
        _ => None,
    }
}

/// Returns the bytes of a base64 text. Blanks are skipped; any other letter is an error.
fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || b"+/ \n\r\t".contains(&letter);
    let mut digits = text.bytes().take_while(|letter| *letter != b'=');
    digits.all(fits).then(|| decode64(text))
}

/// Decrypts content with a secret and an initialization vector; `None` if they do not fit or the padding is wrong.
type CbcDecryption = fn(&[u8], &[u8], &[u8]) -> Option<Vec<u8>>;

fn decrypt_cbc<C: BlockCipherDecrypt + KeyInit>(
    secret: &[u8],
    vector: &[u8],
    content: &[u8],
) -> Option<Vec<u8>> {
    let cipher = cbc::Decryptor::<C>::new_from_slices(secret, vector).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(content).ok()
}

/// Returns the enveloped data of a PKCS7 message, and how its content is decrypted.
fn read_envelope(bytes: &[u8]) -> Option<(EnvelopedData, CbcDecryption)> {
    let message = ContentInfo::from_der(bytes).ok()?;
    if message.content_type != ID_ENVELOPED_DATA {
        return None;
    }
    let envelope: EnvelopedData = message.content.decode_as().ok()?;
    let decrypt = match envelope.encrypted_content.content_enc_alg.oid {
        ID_AES_128_CBC => decrypt_cbc::<Aes128>,
        ID_AES_192_CBC => decrypt_cbc::<Aes192>,
        ID_AES_256_CBC => decrypt_cbc::<Aes256>,
        _ => return None,
    };
    Some((envelope, decrypt))
}

/// Returns the text in a PKCS7 envelope that is given in base64.
fn open_envelope(data: &str, key: &RsaPrivateKey) -> Result<String, String> {
    let bytes = bytes_of_base64(data).ok_or("it is not base64")?;
    let (envelope, decrypt) = read_envelope(&bytes).ok_or("it is not a PKCS7 envelope of a known kind")?;
    let open = |recipient: &RecipientInfo| {
        let RecipientInfo::Ktri(recipient) = recipient else { return None };
        // The Marvin attack (RUSTSEC-2023-0071) times the answers to chosen ciphertexts: nobody else can ask this process.
        // With a wrong key `rsa` returns made-up bytes, not an error: only the content shows whether the secret is right.
        let secret = key.decrypt(Pkcs1v15Encrypt, recipient.enc_key.as_bytes()).ok()?;
        let sealed = &envelope.encrypted_content;
        let vector = sealed.content_enc_alg.parameters.as_ref()?.value();
        let plain = decrypt(&secret, vector, sealed.encrypted_content.as_ref()?.as_bytes())?;
        String::from_utf8(plain).ok()
    };
    envelope
        .recip_infos
        .0
        .iter()
        .find_map(open)
        .ok_or_else(|| "it cannot be opened with the private key".to_owned())
}

/// A value whose encrypted texts were replaced; `problems` gets why, for each that could not be opened.
pub(crate) fn unveiled(value: &Value, opener: &Opener, reason: &str, problems: &mut Vec<String>) -> Value {
    let unveil = |value: &Value, problems: &mut Vec<String>| unveiled(value, opener, reason, problems);
    let data = match &value.data {
        Data::String(text) if is_encrypted(text) => match opener.open(text) {
            Ok(plain) => Data::String(plain.into()),
            Err(problem) => {
                let known = format!("{reason}: {problem}");
                problems.push(problem);
                Value::unknown(known, Type::String(None)).data
            }
        },
        Data::Array(items) => {
            Data::Array(Arc::new(items.iter().map(|item| unveil(item, problems)).collect()))
        }
        Data::Hash(entries) => Data::Hash(Arc::new(
            entries.iter().map(|(key, item)| (key.clone(), unveil(item, problems))).collect(),
        )),
        other => other.clone(),
    };
    Value { data, prov: value.prov }
}

#[cfg(test)]
mod tests;
