//! Methods of Ruby's classes and modules.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use md5::Md5;
use setpoint_puppet_values::ruby::base64;
use setpoint_puppet_values::{Data, Regex, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use setpoint_source::Limit;

use super::hashes::get;
use super::library::{address, html, percent, shell_escaped, shell_words, unpercent, uri};
use super::{Given, MOST, bytes_of, call, count_of, files, first, kind, others, puppet, text_of, to_array};
use crate::builtin::digests::digits;
use crate::ruby_language::classes::{canonical, is_error_class, is_known};
use crate::ruby_language::interpreter::{
    self, Interpreter, Result, argument_error, beyond, limit, raise, type_error,
};
use crate::ruby_language::things::{Address, Table, Thing};
use crate::stdlib;

pub(super) fn constant(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &Arc<str>,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    // Puppet's own does not take an empty text for nothing.
    if &**class == "Puppet::Util::Json" && given.name == "load" {
        return json(interpreter, &Given { name: "parse", ..*given });
    }
    let class = canonical(class);
    let found = match class {
        "String" | "Array" | "Hash" | "Set" | "Regexp" | "Proc" | "Integer" | "Float" | "Math" | "Range"
        | "Symbol" | "Object" | "Kernel" | "Class" | "Module" | "Marshal" => {
            of_values(interpreter, class, given)?
        }
        "File" | "IO" => files::file(interpreter, given)?,
        "Dir" => files::folder(interpreter, given)?,
        "OpenSSL::HMAC" => match (given.name, given.arguments) {
            ("new", [_, _]) => {
                Some(puppet::instance_of_library(interpreter, "HmacObject", given.arguments.to_vec())?)
            }
            _ => hmac(given)?,
        },
        "OpenSSL::KDF" => match (given.name, given.arguments) {
            ("pbkdf2_hmac", [password, Thing::Hash(options)]) => {
                let option = |name: &str| get(options, &Thing::symbol(name)).unwrap_or(Thing::Nil);
                let [salt, rounds, length, digest] = ["salt", "iterations", "length", "hash"].map(option);
                Some(derived_key([password, &salt], &rounds, &length, &digest)?)
            }
            _ => None,
        },
        "OpenSSL::PKCS5" => match (given.name, given.arguments) {
            ("pbkdf2_hmac", [password, salt, rounds, length, digest]) => {
                Some(derived_key([password, salt], rounds, length, digest)?)
            }
            ("pbkdf2_hmac_sha1", [password, salt, rounds, length]) => {
                Some(derived_key([password, salt], rounds, length, &Thing::text("SHA1"))?)
            }
            _ => None,
        },
        "OpenSSL::Digest" => match (given.name, given.arguments) {
            ("new", [name]) => {
                let name = name.to_s().to_uppercase().replace('-', "");
                Some(puppet::instance_of_library(interpreter, "DigestObject", vec![Thing::text(name)])?)
            }
            _ => None,
        },
        "JSON" => json(interpreter, given)?,
        "PSON" if interpreter.context.host.puppet_version() < 8 => pson(interpreter, given)?,
        "Psych" => yaml(interpreter, given)?,
        "Base64" => coded(given)?,
        "Shellwords" => shell(interpreter, given)?,
        "IPAddr" => match (given.name, given.arguments) {
            ("new", [text @ Thing::Text(_)]) => Some(Thing::Address(Rc::new(address(&text_of(text)?)?))),
            ("new", [_]) => return raise("IPAddr::AddressFamilyError", "unsupported address family: 0"),
            ("new", [Thing::Integer(number), Thing::Integer(2)]) => match u32::try_from(*number) {
                Ok(number) => {
                    Some(Thing::Address(Rc::new(Address { address: IpAddr::V4(number.into()), prefix: 32 })))
                }
                Err(_) => return beyond("an address is out of range"),
            },
            ("new", [Thing::Integer(number), Thing::Integer(10)]) => match u128::try_from(*number) {
                Ok(number) => {
                    Some(Thing::Address(Rc::new(Address { address: IpAddr::V6(number.into()), prefix: 128 })))
                }
                Err(_) => return beyond("an address is out of range"),
            },
            ("new", [text @ Thing::Text(_), Thing::Integer(_)]) => {
                Some(Thing::Address(Rc::new(address(&text_of(text)?)?)))
            }
            _ => None,
        },
        "URI" | "URI::HTTP" | "URI::Generic" => uris(class, given)?,
        "CGI" | "ERB::Util" => escapes(given)?,
        "URI::DEFAULT_PARSER" => match (given.name, given.arguments) {
            ("escape", [text]) => Some(Thing::text(percent(&text_of(text)?, "-_.!~*'();/?:@&=+$,[]", false))),
            ("unescape", [text]) => Some(Thing::bytes(unpercent(&text_of(text)?, false))),
            ("parse", [text]) => Some(Thing::Uri(Rc::new(uri(&text_of(text)?)?))),
            _ => None,
        },
        "Gem::Version" => match (given.name, given.arguments) {
            ("new" | "create", [version]) => Some(puppet::version(interpreter, version)?),
            _ => None,
        },
        _ if class.starts_with("Digest::") && given.name == "new" && given.arguments.is_empty() => {
            let name = class.trim_start_matches("Digest::");
            Some(puppet::instance_of_library(interpreter, "DigestObject", vec![Thing::text(name)])?)
        }
        _ if class.starts_with("Digest::") => digest(class, given)?,
        _ if is_error_class(class) => match given.name {
            "new" | "exception" => {
                Some(interpreter.new_error(Thing::Constant(class.into()), given.arguments)?)
            }
            _ => None,
        },
        _ if class.starts_with("Puppet") => puppet::module(interpreter, class, given)?,
        _ => None,
    };
    if let Some(found) = found {
        return Ok(Some(found));
    }
    match (given.name, given.arguments) {
        ("name" | "to_s", []) => Ok(Some(Thing::text(class))),
        ("const_defined?", [name]) if is_known(&format!("{class}::{}", name.to_s())) => {
            Ok(Some(Thing::Bool(true)))
        }
        ("<" | "<=", [other]) => match (is_error_class(class), other) {
            (true, Thing::Constant(other)) => {
                Ok(Some(Thing::Bool(crate::ruby_language::classes::inherits(class, canonical(other)))))
            }
            _ => beyond(format!("it compares {class} with a class")),
        },
        _ => beyond(format!("it uses {class}.{}", given.name)),
    }
}

fn of_values(
    interpreter: &mut Interpreter<'_, '_, '_>,
    class: &str,
    given: &Given<'_>,
) -> Result<Option<Thing>> {
    Ok(Some(match (class, given.name, given.arguments) {
        ("Class" | "Module", "new", rest) => {
            interpreter.new_class(class == "Module", rest.first().cloned(), given.block)?
        }
        ("Object", "new", []) => {
            Thing::Object(crate::ruby_language::classes::Instance::new(Thing::Constant("Object".into())))
        }
        ("Object" | "Kernel", "const_get", [name]) => {
            let name = name.to_s();
            if !name.starts_with(char::is_uppercase) {
                return raise("NameError", format!("wrong constant name {name}"));
            }
            interpreter.run_text(&name)?
        }
        // A copy in depth.
        ("Marshal", "dump", [value]) if value.to_value().is_some() => deep_copy(value),
        (
            "Marshal",
            "load",
            [value @ (Thing::Array(_) | Thing::Hash(_) | Thing::Integer(_) | Thing::Nil)],
        ) => value.clone(),
        ("Math", "log", [number, base]) => {
            let float = |thing: &Thing| match thing {
                Thing::Integer(number) => Some(*number as f64),
                Thing::Float(number) => Some(*number),
                _ => None,
            };
            match (float(number), float(base)) {
                (Some(number), Some(base)) if number > 0.0 && base > 0.0 => {
                    Thing::Float(number.ln() / base.ln())
                }
                _ => return beyond("it uses Math.log"),
            }
        }
        ("String", "new", []) => Thing::text(""),
        ("String", "new", [text, ..]) => Thing::text(text_of(text)?),
        ("Array", "new", []) => Thing::array(Vec::new()),
        ("Array", "new", [Thing::Array(items)]) => Thing::array(items.items.borrow().clone()),
        ("Array", "new", [count, rest @ ..]) => {
            let count = count_of(count)?;
            if count > MOST {
                return limit("it makes a list that is too long");
            }
            match given.block {
                Some(block) => {
                    let mut items = Vec::with_capacity(count);
                    for at in 0..count {
                        items.push(interpreter.call_block(block, vec![Thing::integer(at)])?);
                    }
                    Thing::array(items)
                }
                None => Thing::array(vec![first(rest); count]),
            }
        }
        ("Array", "[]", items) => Thing::array(items.to_vec()),
        ("Hash", "new", rest) => {
            let hash = Thing::table(Table::new());
            if let Thing::Hash(map) = &hash {
                *map.default.borrow_mut() = first(rest);
                *map.maker.borrow_mut() = given.block.cloned();
            }
            hash
        }
        ("Hash", "[]", []) => Thing::table(Table::new()),
        ("Hash", "[]", [pairs]) => match pairs {
            Thing::Hash(map) => Thing::table(map.table.borrow().clone()),
            other => call(interpreter, other, "to_h", Vec::new(), None)?,
        },
        ("Hash", "[]", flat) => {
            if flat.len() % 2 != 0 {
                return argument_error("odd number of arguments for Hash");
            }
            Thing::pairs(flat.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect::<Vec<_>>())
        }
        ("Set", "new", rest) => {
            let items = to_array(interpreter, &first(rest))?;
            Thing::set(items)
        }
        ("Set", "[]", items) => Thing::set(items.to_vec()),
        ("Regexp", "new" | "compile", [Thing::Regex(regex)]) => Thing::Regex(regex.clone()),
        ("Regexp", "new" | "compile", [source, rest @ ..]) => {
            let flags = match rest.first() {
                None | Some(Thing::Nil | Thing::Bool(false)) => String::new(),
                Some(Thing::Integer(bits)) => [(1, 'i'), (2, 'x'), (4, 'm')]
                    .iter()
                    .filter(|(bit, _)| bits & bit != 0)
                    .map(|(_, flag)| *flag)
                    .collect(),
                Some(_) => "i".to_owned(),
            };
            Thing::Regex(interpreter::regex(&text_of(source)?, &flags)?)
        }
        ("Regexp", "escape" | "quote", [text]) => Thing::text(Regex::escape(&text.to_s())),
        ("Regexp", "union", parts) => {
            let parts = match parts {
                [Thing::Array(parts)] => parts.items.borrow().clone(),
                parts => parts.to_vec(),
            };
            let mut sources = Vec::new();
            for part in &parts {
                sources.push(match part {
                    Thing::Regex(_) if parts.len() == 1 => return Ok(Some(part.clone())),
                    Thing::Regex(_) => part.to_s(),
                    other => Regex::escape(&text_of(other)?),
                });
            }
            Thing::Regex(interpreter::regex(&sources.join("|"), "")?)
        }
        ("Regexp", "last_match", []) => interpreter.last_match.clone().map_or(Thing::Nil, Thing::Match),
        ("Regexp", "last_match", [at]) => match interpreter.last_match.clone() {
            Some(found) => call(interpreter, &Thing::Match(found), "[]", vec![at.clone()], None)?,
            None => Thing::Nil,
        },
        ("Kernel", "sprintf" | "format", [format, rest @ ..]) => {
            Thing::text(super::texts::formatted(interpreter, &text_of(format)?, rest)?)
        }
        ("Proc", "new", []) => match given.block {
            Some(block) => block.clone(),
            None => return argument_error("tried to create Proc object without a block"),
        },
        ("Range", "new", [from, to, rest @ ..]) => {
            Thing::Range(Rc::new(crate::ruby_language::things::Range {
                from: from.clone(),
                to: to.clone(),
                exclusive: rest.first().is_some_and(Thing::truth),
            }))
        }
        ("Integer", "sqrt", [Thing::Integer(number)]) if *number >= 0 => {
            Thing::Integer((*number as f64).sqrt().floor() as i128)
        }
        ("Math", name, [number]) => {
            let number = match number {
                Thing::Integer(number) => *number as f64,
                Thing::Float(number) => *number,
                other => return type_error(format!("can't convert {} into Float", kind(other))),
            };
            Thing::Float(match name {
                "sqrt" if number >= 0.0 => number.sqrt(),
                "log2" if number > 0.0 => number.log2(),
                "log10" if number > 0.0 => number.log10(),
                "log" if number > 0.0 => number.ln(),
                "cbrt" => number.cbrt(),
                _ => return beyond(format!("it uses Math.{name}")),
            })
        }
        _ => return Ok(None),
    }))
}

fn symbolized(thing: &Thing) -> Thing {
    match thing {
        Thing::Array(list) => Thing::array(list.items.borrow().iter().map(symbolized).collect()),
        Thing::Hash(map) => Thing::pairs(
            map.table
                .borrow()
                .values()
                .map(|(key, value)| (Thing::symbol(&key.to_s()), symbolized(value)))
                .collect::<Vec<_>>(),
        ),
        other => other.clone(),
    }
}

fn wants_symbols(options: &[Thing]) -> bool {
    let Some(Thing::Hash(options)) = options.first() else { return false };
    options
        .table
        .borrow()
        .get(&Thing::symbol("symbolize_names").identity())
        .is_some_and(|(_, value)| value.truth())
}

fn json(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("generate" | "dump" | "fast_generate", [value, ..]) => {
            call(interpreter, value, "to_json", Vec::new(), None)?
        }
        ("pretty_generate", [value, rest @ ..]) => {
            match (value.with_texts().to_value(), rest.first().map(Thing::to_value)) {
                (Some(value), None | Some(None)) => Thing::text(stdlib::pretty_json(&value, None)),
                (Some(value), Some(Some(options))) => {
                    Thing::text(stdlib::pretty_json(&value, options.as_hash()))
                }
                (None, _) => return beyond("it writes something as JSON that is no data"),
            }
        }
        ("load_file", [path, rest @ ..]) => {
            let file = Thing::Constant("File".into());
            let text = call(interpreter, &file, "read", vec![path.clone()], None)?;
            let arguments = std::iter::once(text).chain(rest.iter().cloned()).collect::<Vec<_>>();
            return json(interpreter, &Given { name: "parse", arguments: &arguments, block: None });
        }
        ("load", [Thing::Nil, ..]) => Thing::Nil,
        ("load", [Thing::Text(text), ..]) if text.value.borrow().is_empty() => Thing::Nil,
        ("parse" | "load" | "parse!", [text, rest @ ..]) => {
            if text.is_nil() {
                return type_error("no implicit conversion of nil into String");
            }
            let text = text_of(text)?;
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(json) => {
                    let thing = Thing::from_value(&stdlib::value_of_json(&json));
                    if wants_symbols(rest) { symbolized(&thing) } else { thing }
                }
                Err(_) => {
                    return raise(
                        "JSON::ParserError",
                        format!("unexpected token at '{}'", text.trim_start()),
                    );
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// PSON is JSON, but for the words of its errors.
fn pson(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    if let ("parse" | "load" | "parse!", [text @ Thing::Text(_), ..]) = (given.name, given.arguments)
        && serde_json::from_str::<serde_json::Value>(&text_of(text)?).is_err()
    {
        return beyond("it reads a text as PSON that is none");
    }
    json(interpreter, given)
}

fn yaml(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("dump", [value]) => call(interpreter, value, "to_yaml", Vec::new(), None)?,
        ("load_file" | "safe_load_file" | "unsafe_load_file", [path, rest @ ..]) => {
            let file = Thing::Constant("File".into());
            let text = call(interpreter, &file, "read", vec![path.clone()], None)?;
            let arguments = std::iter::once(text).chain(rest.iter().cloned()).collect::<Vec<_>>();
            return yaml(interpreter, &Given { name: "load", arguments: &arguments, block: None });
        }
        ("load" | "safe_load", [text, rest @ ..]) => {
            let text = text_of(text)?;
            // Symbols of Ruby in YAML are beyond Puppet's values.
            if text.contains(" :") || text.starts_with(':') || text.contains("\n:") {
                return beyond("it reads YAML that may have symbols");
            }
            match stdlib::read_yaml(interpreter.context, &text) {
                Ok(value) => {
                    let thing = Thing::from_value(&value);
                    if wants_symbols(rest) { symbolized(&thing) } else { thing }
                }
                Err(message) if message.contains("unspecified class") => {
                    return raise("Psych::DisallowedClass", message);
                }
                Err(message) => return raise("Psych::SyntaxError", message),
            }
        }
        _ => return Ok(None),
    }))
}

fn coded(given: &Given<'_>) -> Result<Option<Thing>> {
    let [data, rest @ ..] = given.arguments else { return Ok(None) };
    Ok(Some(match given.name {
        "encode64" => Thing::text(base64::encode64(&bytes_of(data)?)),
        "strict_encode64" => Thing::text(base64::strict_encode64(&bytes_of(data)?)),
        "urlsafe_encode64" => {
            let text = base64::urlsafe_encode64(&bytes_of(data)?);
            let keeps = match rest.first() {
                Some(Thing::Hash(options)) => {
                    let table = options.table.borrow();
                    table.get(&Thing::symbol("padding").identity()).is_none_or(|(_, value)| value.truth())
                }
                _ => true,
            };
            Thing::text(if keeps { text } else { text.trim_end_matches('=').to_owned() })
        }
        "decode64" => Thing::Bytes(Rc::new(base64::decode64(text_of(data)?))),
        "urlsafe_decode64" => others::base64_decoded(base64::urlsafe_decode64(&text_of(data)?))?,
        "strict_decode64" => others::base64_decoded(base64::strict_decode64(&text_of(data)?))?,
        _ => return Ok(None),
    }))
}

fn shell(interpreter: &mut Interpreter<'_, '_, '_>, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (given.name, given.arguments) {
        ("escape" | "shellescape", [text]) => Thing::text(shell_escaped(&interpreter.to_s(text)?)),
        ("split" | "shellsplit" | "shellwords", [text]) => shell_words(&text_of(text)?)?,
        ("join" | "shelljoin", [words]) => call(interpreter, words, "shelljoin", Vec::new(), None)?,
        _ => return Ok(None),
    }))
}

fn uris(class: &str, given: &Given<'_>) -> Result<Option<Thing>> {
    Ok(Some(match (class, given.name, given.arguments) {
        ("URI", "parse" | "()", [text]) => match text {
            Thing::Uri(_) => text.clone(),
            Thing::Text(text) => Thing::Uri(Rc::new(uri(&text.value.borrow())?)),
            other => {
                return raise("URI::InvalidURIError", format!("bad URI(is not URI?): {}", other.inspect()));
            }
        },
        ("URI", "decode_www_form", [text]) => {
            let text = text_of(text)?;
            let decoded = |part: &str| Thing::bytes(unpercent(part, true));
            let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Thing::array(vec![decoded(key), decoded(value)])
            });
            Thing::array(pairs.collect())
        }
        ("URI", "regexp", [Thing::Array(schemes)]) => {
            // As RFC 2396 has it, after one of the schemes.
            let schemes: Vec<String> =
                schemes.items.borrow().iter().map(|scheme| Regex::escape(&scheme.to_s())).collect();
            let source = format!("(?=(?:{}):){}", schemes.join("|"), include_str!("uri.txt").trim_end());
            match Regex::new(source) {
                Ok(expression) => Thing::Regex(expression),
                Err(_) => return beyond("it uses URI.regexp"),
            }
        }
        ("URI", "join", [base, part]) => match (uri(&text_of(base)?)?, text_of(part)?) {
            (mut base, part) if part.starts_with('/') && !part.starts_with("//") => {
                let part = uri(&part)?;
                base.path = part.path;
                base.query = part.query;
                base.fragment = part.fragment;
                Thing::Uri(Rc::new(base))
            }
            _ => return beyond("it joins URIs"),
        },
        ("URI", "encode_www_form_component", [text]) => Thing::text(percent(&text.to_s(), "*-._", true)),
        ("URI", "decode_www_form_component", [text]) => Thing::bytes(unpercent(&text_of(text)?, true)),
        ("URI", "encode_www_form", [pairs]) => {
            let pairs = match pairs {
                Thing::Hash(map) => super::enumerable::pairs(&map.table.borrow()),
                other => super::spread(other),
            };
            let mut parts = Vec::new();
            for pair in pairs {
                let pair = super::spread(&pair);
                let encode = |thing: &Thing| percent(&thing.to_s(), "*-._", true);
                match pair.as_slice() {
                    [key, Thing::Nil] => parts.push(encode(key)),
                    [key, Thing::Array(values)] => {
                        for value in values.items.borrow().iter() {
                            parts.push(format!("{}={}", encode(key), encode(value)));
                        }
                    }
                    [key, value] => parts.push(format!("{}={}", encode(key), encode(value))),
                    _ => return beyond("it writes an unusual form"),
                }
            }
            Thing::text(parts.join("&"))
        }
        _ => return Ok(None),
    }))
}

fn escapes(given: &Given<'_>) -> Result<Option<Thing>> {
    let [text, ..] = given.arguments else { return Ok(None) };
    Ok(Some(match given.name {
        "escape" => Thing::text(percent(&text_of(text)?, "*-._~", true).replace('*', "%2A")),
        "unescape" => Thing::bytes(unpercent(&text_of(text)?, true)),
        // Ruby encodes bytes.
        "url_encode" | "u" => Thing::Bytes(Rc::new(percent(&text.to_s(), "-._~", false).into_bytes())),
        "escapeHTML" | "escape_html" | "html_escape" | "h" => Thing::text(html(&text.to_s())),
        _ => return Ok(None),
    }))
}

fn digest(class: &str, given: &Given<'_>) -> Result<Option<Thing>> {
    let [data] = given.arguments else { return Ok(None) };
    let data = bytes_of(data)?;
    let bytes: Vec<u8> = match class {
        "Digest::MD5" => Md5::digest(&data).to_vec(),
        "Digest::SHA1" => Sha1::digest(&data).to_vec(),
        "Digest::SHA256" => Sha256::digest(&data).to_vec(),
        "Digest::SHA384" => Sha384::digest(&data).to_vec(),
        "Digest::SHA512" => Sha512::digest(&data).to_vec(),
        _ => return Ok(None),
    };
    Ok(Some(match given.name {
        "hexdigest" => Thing::text(digits(&bytes)),
        "digest" => Thing::Bytes(Rc::new(bytes)),
        "base64digest" => Thing::text(base64::strict_encode64(&bytes)),
        _ => return Ok(None),
    }))
}

/// `OpenSSL::HMAC`
fn hmac(given: &Given<'_>) -> Result<Option<Thing>> {
    let [digest, key, data] = given.arguments else { return Ok(None) };
    let bytes = keyed_by(digest)?(&bytes_of(key)?, &bytes_of(data)?);
    Ok(Some(match given.name {
        "hexdigest" => Thing::text(digits(&bytes)),
        "digest" => Thing::Bytes(Rc::new(bytes)),
        "base64digest" => Thing::text(base64::strict_encode64(&bytes)),
        _ => return Ok(None),
    }))
}

/// The digest of a text, which comes last, with a key.
type Keyed = fn(&[u8], &[u8]) -> Vec<u8>;

/// The function of a digest that is given as an object or by its name.
fn keyed_by(digest: &Thing) -> Result<Keyed> {
    let name = match digest {
        Thing::Object(object) => object.variables.borrow().get("name").map(Thing::to_s).unwrap_or_default(),
        other => other.to_s().to_uppercase().replace('-', ""),
    };
    Ok(match name.as_str() {
        "MD5" => |key, data| keyed::<Md5>(key, data, 64),
        "SHA1" => |key, data| keyed::<Sha1>(key, data, 64),
        "SHA256" => |key, data| keyed::<Sha256>(key, data, 64),
        "SHA384" => |key, data| keyed::<Sha384>(key, data, 128),
        "SHA512" => |key, data| keyed::<Sha512>(key, data, 128),
        _ => return beyond(format!("it makes a digest by {name}")),
    })
}

/// Rounds of a derivation that are worth the time.
const MAX_ROUNDS: Limit = Limit::new(200_000);

/// PBKDF2 with HMAC, as RFC 8018 has it, of a password and a salt.
fn derived_key(
    [password, salt]: [&Thing; 2],
    rounds: &Thing,
    length: &Thing,
    digest: &Thing,
) -> Result<Thing> {
    let hmac = keyed_by(digest)?;
    let (password, salt) = (bytes_of(password)?, bytes_of(salt)?);
    let (rounds, length) = (count_of(rounds)?, count_of(length)?);
    // No digest is shorter than 16 bytes.
    if rounds.saturating_mul(length.div_ceil(16)) > MAX_ROUNDS {
        return limit("it derives a key in very many rounds");
    }
    let mut key = Vec::with_capacity(length);
    for block in 1u32.. {
        if key.len() >= length {
            break;
        }
        let mut last = hmac(&password, &[salt.as_slice(), &block.to_be_bytes()].concat());
        let mut sum = last.clone();
        for _ in 1..rounds {
            last = hmac(&password, &last);
            sum.iter_mut().zip(&last).for_each(|(sum, byte)| *sum ^= byte);
        }
        key.extend(sum);
    }
    key.truncate(length);
    Ok(Thing::Bytes(Rc::new(key)))
}

/// The digest of a text with a key, as RFC 2104 has it.
fn keyed<D: Digest>(key: &[u8], data: &[u8], block: usize) -> Vec<u8> {
    let mut padded = if key.len() > block { D::digest(key).to_vec() } else { key.to_vec() };
    padded.resize(block, 0);
    let masked = |mask: u8| padded.iter().map(move |byte| byte ^ mask).collect::<Vec<u8>>();
    let inner = D::new().chain_update(masked(0x36)).chain_update(data).finalize();
    D::new().chain_update(masked(0x5c)).chain_update(inner).finalize().to_vec()
}

fn deep_copy(thing: &Thing) -> Thing {
    match thing {
        Thing::Array(list) => Thing::array(list.items.borrow().iter().map(deep_copy).collect()),
        Thing::Hash(map) => Thing::pairs(
            map.table
                .borrow()
                .values()
                .map(|(key, value)| (deep_copy(key), deep_copy(value)))
                .collect::<Vec<_>>(),
        ),
        other => super::general::copy(other, false),
    }
}

/// A value of Puppet that says that it hides another.
pub(super) fn sensitive(value: Value) -> Thing {
    Thing::Other(Value::new(Data::Sensitive(Arc::new(value))))
}
