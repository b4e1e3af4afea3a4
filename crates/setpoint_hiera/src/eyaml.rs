//! Encrypted values of eyaml files: opened if the keys are given and there, else not known.

mod aes;
mod der;
mod rsa;

use std::path::Path;
use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Key, Opaque, Value};
use setpoint_source::{FileSystem, read_text};

/// Whether a text has an encrypted part, as eyaml decides it: both brackets on one line.
pub(crate) fn is_encrypted(text: &str) -> bool {
    text.lines().any(|line| line.find("ENC[").is_some_and(|at| line[at..].contains(']')))
}

/// Opens encrypted texts with the private key that the options of an entry name.
pub(crate) struct Opener {
    key: Result<rsa::PrivateKey, String>,
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
            out.push_str(&opened(data, key)?);
        }
        out.push_str(rest);
        // Puppet takes away the line break that a block of YAML ends with.
        Ok(out
            .strip_suffix('\n')
            .map_or(out.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned())
    }
}

fn private_key(options: &Hash, files: &dyn FileSystem) -> Result<rsa::PrivateKey, String> {
    let option = |name: &str| options.get(&Key::from(name)).and_then(Value::as_str);
    let Some(path) = option("pkcs7_private_key") else {
        return Err("its entry names no pkcs7_private_key".to_owned());
    };
    let text = read_text(files, Path::new(path)).map_err(|error| {
        if error.missing { format!("the private key {path} is not there") } else { error.to_string() }
    })?;
    rsa::PrivateKey::from_pem(&text).ok_or_else(|| format!("{path} is not an RSA private key in PEM"))
}

/// The text in a PKCS7 envelope, in base64.
fn opened(data: &str, key: &rsa::PrivateKey) -> Result<String, String> {
    let wrong = || "it cannot be opened with the private key".to_owned();
    let bytes = der::base64(data).ok_or_else(|| "it is not base64".to_owned())?;
    let envelope =
        der::Envelope::read(&bytes).ok_or_else(|| "it is not a PKCS7 envelope of a known kind".to_owned())?;
    let secret = envelope.recipients.iter().find_map(|sealed| key.open(sealed)).ok_or_else(wrong)?;
    let plain = aes::open_cbc(&secret, envelope.vector, envelope.content).ok_or_else(wrong)?;
    String::from_utf8(plain).map_err(|_| wrong())
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
                Data::Opaque(Arc::new(Opaque { reason: known.into() }))
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
