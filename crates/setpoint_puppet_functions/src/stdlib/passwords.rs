//! stdlib's password hashes: the crypt schemes of glibc, and PBKDF2.

use md5::Md5;
use setpoint_puppet_values::{Data, Hash, Value};
use sha2::{Digest, Sha256, Sha512};

use crate::builtin::digests::digits;
use crate::context::Context;
use crate::function::Function;
use crate::{FailureKind, Stop};

pub(super) static PW_HASH: Function = Function::counted("pw_hash", 3, pw_hash);
pub(super) static STR2SALTEDPBKDF2: Function = Function::counted("str2saltedpbkdf2", -1, str2saltedpbkdf2);

type Result<T> = std::result::Result<T, Stop>;

fn unwrapped(value: &Value) -> &Value {
    match &value.data {
        Data::Sensitive(inner) => inner,
        _ => value,
    }
}

fn pw_hash(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let [password, kind, salt] = [0, 1, 2].map(|at| unwrapped(&arguments[at]));
    let password = match &password.data {
        Data::String(text) => text,
        Data::Undef => "",
        _ => return Err(context.fail("pw_hash(): first argument must be a string")),
    };
    let Some(kind) = kind.as_str() else {
        return Err(context.fail("pw_hash(): second argument must be a string"));
    };
    let lower = kind.to_lowercase();
    if !matches!(
        lower.as_str(),
        "md5" | "sha-256" | "sha-512" | "bcrypt" | "bcrypt-a" | "bcrypt-x" | "bcrypt-y"
    ) {
        return Err(context.fail(format!("pw_hash(): {kind} is not a valid hash type")));
    }
    let Some(salt) = salt.as_str() else {
        return Err(context.fail("pw_hash(): third argument must be a string"));
    };
    if salt.is_empty() {
        return Err(context.fail("pw_hash(): third argument must not be empty"));
    }
    if lower.starts_with("bcrypt") {
        return Err(FailureKind::UnsupportedFunction(
            "pw_hash() with bcrypt is not computed here".to_owned(),
        )
        .at(context.span()));
    }
    if !salt.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/')) {
        return Err(context.fail("pw_hash(): characters in salt must be in the set [a-zA-Z0-9./]"));
    }
    if password.is_empty() {
        return Ok(Value::UNDEF);
    }
    Ok(Value::from(match lower.as_str() {
        "md5" => md5_crypt(password.as_bytes(), salt),
        "sha-256" => sha_crypt::<Sha256>(password.as_bytes(), salt, "5", &SHA256_ORDER),
        _ => sha_crypt::<Sha512>(password.as_bytes(), salt, "6", &SHA512_ORDER),
    }))
}

/// In which order the bytes of the digest are written, three at a time.
const SHA256_ORDER: [[usize; 3]; 10] = [
    [0, 10, 20],
    [21, 1, 11],
    [12, 22, 2],
    [3, 13, 23],
    [24, 4, 14],
    [15, 25, 5],
    [6, 16, 26],
    [27, 7, 17],
    [18, 28, 8],
    [9, 19, 29],
];
const SHA512_ORDER: [[usize; 3]; 21] = [
    [0, 21, 42],
    [22, 43, 1],
    [44, 2, 23],
    [3, 24, 45],
    [25, 46, 4],
    [47, 5, 26],
    [6, 27, 48],
    [28, 49, 7],
    [50, 8, 29],
    [9, 30, 51],
    [31, 52, 10],
    [53, 11, 32],
    [12, 33, 54],
    [34, 55, 13],
    [56, 14, 35],
    [15, 36, 57],
    [37, 58, 16],
    [59, 17, 38],
    [18, 39, 60],
    [40, 61, 19],
    [62, 20, 41],
];

/// As many letters of the low bits as asked for.
fn letters(mut bits: u32, count: usize, out: &mut String) {
    const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for _ in 0..count {
        out.push(char::from(LETTERS[(bits & 63) as usize]));
        bits >>= 6;
    }
}

/// The first `length` bytes of a text repeated without end.
fn repeated(bytes: &[u8], length: usize) -> Vec<u8> {
    bytes.iter().copied().cycle().take(length).collect()
}

/// SHA-crypt, with its usual 5,000 rounds. Names are those of its specification.
#[allow(clippy::many_single_char_names, reason = "the specification names them so")]
fn sha_crypt<D: Digest>(password: &[u8], salt: &str, prefix: &str, order: &[[usize; 3]]) -> String {
    let salt = &salt[..salt.len().min(16)];
    let b = D::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut a = D::new().chain_update(password).chain_update(salt).chain_update(repeated(&b, password.len()));
    let mut length = password.len();
    while length > 0 {
        a.update(if length & 1 == 1 { &b[..] } else { password });
        length >>= 1;
    }
    let mut digest = a.finalize();
    let mut dp = D::new();
    (0..password.len()).for_each(|_| dp.update(password));
    let p = repeated(&dp.finalize(), password.len());
    let mut ds = D::new();
    (0..16 + usize::from(digest[0])).for_each(|_| ds.update(salt));
    let s = repeated(&ds.finalize(), salt.len());
    for round in 0..5000 {
        let mut c = D::new();
        c.update(if round % 2 == 1 { &p[..] } else { &digest[..] });
        if round % 3 != 0 {
            c.update(&s);
        }
        if round % 7 != 0 {
            c.update(&p);
        }
        c.update(if round % 2 == 1 { &digest[..] } else { &p[..] });
        digest = c.finalize();
    }
    let mut out = format!("${prefix}${salt}$");
    let byte = |at: usize| u32::from(digest[at]);
    for [high, middle, low] in order {
        letters(byte(*high) << 16 | byte(*middle) << 8 | byte(*low), 4, &mut out);
    }
    if order.len() == SHA256_ORDER.len() {
        letters(byte(31) << 8 | byte(30), 3, &mut out);
    } else {
        letters(byte(63), 2, &mut out);
    }
    out
}

/// The MD5 scheme, with its 1,000 rounds.
fn md5_crypt(password: &[u8], salt: &str) -> String {
    let salt = &salt[..salt.len().min(8)];
    let b = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut a = Md5::new()
        .chain_update(password)
        .chain_update("$1$")
        .chain_update(salt)
        .chain_update(repeated(&b, password.len()));
    let mut length = password.len();
    while length > 0 {
        a.update(if length & 1 == 1 { &[0][..] } else { &password[..1] });
        length >>= 1;
    }
    let mut digest = a.finalize();
    for round in 0..1000 {
        let mut c = Md5::new();
        c.update(if round % 2 == 1 { password } else { &digest[..] });
        if round % 3 != 0 {
            c.update(salt);
        }
        if round % 7 != 0 {
            c.update(password);
        }
        c.update(if round % 2 == 1 { &digest[..] } else { password });
        digest = c.finalize();
    }
    let mut out = format!("$1${salt}$");
    let byte = |at: usize| u32::from(digest[at]);
    for [high, middle, low] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        letters(byte(high) << 16 | byte(middle) << 8 | byte(low), 4, &mut out);
    }
    letters(byte(11), 2, &mut out);
    out
}

fn str2saltedpbkdf2(context: &mut Context<'_, '_>, arguments: &[Value]) -> Result<Value> {
    if arguments.len() != 3 {
        let message = format!("str2saltedpbkdf2(): wrong number of arguments ({} for 3)", arguments.len());
        return Err(context.fail(message));
    }
    let [password, salt, rounds] = [0, 1, 2].map(|at| unwrapped(&arguments[at]));
    let Some(password) = password.as_str() else {
        return Err(context.fail("str2saltedpbkdf2(): first argument must be a string"));
    };
    let Some(salt) = salt.as_str() else {
        return Err(context.fail("str2saltedpbkdf2(): second argument must be a string"));
    };
    if salt.len() < 8 {
        return Err(context.fail("str2saltedpbkdf2(): second argument must be at least 8 bytes long"));
    }
    let Some(count) = rounds.as_integer() else {
        return Err(context.fail("str2saltedpbkdf2(): third argument must be an integer"));
    };
    if !(40_001..70_000).contains(&count) {
        return Err(context.fail("str2saltedpbkdf2(): third argument must be between 40,000 and 70,000"));
    }
    let key: Vec<u8> = [1_u32, 2]
        .iter()
        .flat_map(|block| pbkdf2_block(password.as_bytes(), salt.as_bytes(), *block, count))
        .collect();
    let entries: Hash = [
        ("password_hex", Value::from(digits(&key))),
        ("salt_hex", Value::from(digits(salt.as_bytes()))),
        ("iterations", rounds.clone()),
    ]
    .map(|(key, value)| (key.into(), value))
    .into_iter()
    .collect();
    Ok(Value::hash(entries))
}

/// One block of 64 bytes of PBKDF2 with HMAC-SHA-512.
fn pbkdf2_block(password: &[u8], salt: &[u8], block: u32, rounds: i64) -> [u8; 64] {
    let (inner, outer) = hmac_keys(password);
    let hmac = |message: &[&[u8]]| -> [u8; 64] {
        let mut first = inner.clone();
        for part in message {
            first.update(part);
        }
        outer.clone().chain_update(first.finalize()).finalize().into()
    };
    let mut last = hmac(&[salt, &block.to_be_bytes()]);
    let mut sum = last;
    for _ in 1..rounds {
        last = hmac(&[&last]);
        sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

/// HMAC's two digests after their padded keys.
fn hmac_keys(key: &[u8]) -> (Sha512, Sha512) {
    const BLOCK: usize = 128;
    let mut padded = if key.len() > BLOCK { Sha512::digest(key).to_vec() } else { key.to_vec() };
    padded.resize(BLOCK, 0);
    let with =
        |pad: u8| Sha512::new().chain_update(padded.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>());
    (with(0x36), with(0x5c))
}
