//! Uniform resource identifiers, as Ruby's `URI` understands them.

use std::fmt::{self, Write as _};

use crate::error::ValueError;
use crate::ruby::text::inspect_text;
use crate::value::{Hash, Key, Value};

/// A URI by its components.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Uri {
    pub scheme: Option<String>,
    pub userinfo: Option<String>,
    pub host: Option<String>,
    /// The port that was written; see [`Uri::port`] for the one that counts.
    pub explicit_port: Option<u16>,
    pub path: Option<String>,
    pub query: Option<String>,
    pub fragment: Option<String>,
    pub opaque: Option<String>,
}

impl Uri {
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let bad = || ValueError::new(format!("bad URI(is not URI?): {}", inspect_text(text)));
        if text.bytes().any(|byte| !is_uri_byte(byte)) {
            return Err(if text.is_ascii() {
                bad()
            } else {
                ValueError::new(format!("URI must be ascii only {}", ruby_inspect_ascii(text)))
            });
        }
        if has_bad_escape(text) {
            return Err(bad());
        }
        let (rest, fragment) = split_at(text, '#');
        if fragment.is_some_and(|fragment| fragment.contains('#')) {
            return Err(bad());
        }
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, after)) if is_scheme(scheme) => (Some(scheme), after),
            _ => (None, rest),
        };
        let mut uri = Self {
            scheme: scheme.map(str::to_lowercase),
            fragment: fragment.map(str::to_owned),
            ..Self::default()
        };
        if scheme.is_some() && !rest.starts_with('/') && !rest.is_empty() {
            uri.opaque = Some(rest.to_owned());
            return Ok(uri);
        }
        let (rest, query) = split_at(rest, '?');
        uri.query = query.map(str::to_owned);
        if let Some(authority) = rest.strip_prefix("//") {
            let end = authority.find('/').unwrap_or(authority.len());
            uri.set_authority(&authority[..end]).ok_or_else(bad)?;
            uri.path = Some(authority[end..].to_owned());
            match uri.scheme.as_deref() {
                Some("file") => {}
                // The path of an FTP server starts at the user's folder.
                Some("ftp") => {
                    uri.path = uri.path.map(|path| path.strip_prefix('/').unwrap_or(&path).to_owned());
                }
                _ => uri.host = uri.host.filter(|host| !host.is_empty()),
            }
        } else {
            // A first segment with a colon would be taken for a scheme.
            if scheme.is_none() && rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err(bad());
            }
            uri.path = Some(rest.to_owned());
        }
        Ok(uri)
    }

    fn set_authority(&mut self, authority: &str) -> Option<()> {
        let (userinfo, host_port) = match authority.rsplit_once('@') {
            Some((userinfo, rest)) => (Some(userinfo), rest),
            None => (None, authority),
        };
        let (host, port) = match host_port.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (host_port, None),
        };
        if host.contains(['@', ':']) && !(host.starts_with('[') && host.ends_with(']')) {
            return None;
        }
        self.userinfo = userinfo.map(str::to_owned);
        self.host = Some(host.to_owned());
        self.explicit_port = match port {
            None | Some("") => None,
            Some(port) => Some(port.parse().ok()?),
        };
        Some(())
    }

    /// The port, or the usual one of the scheme.
    pub fn port(&self) -> Option<u16> {
        self.explicit_port.or_else(|| default_port(self.scheme.as_deref()?))
    }

    /// The Ruby class of such a URI.
    pub(crate) fn class_name(&self) -> &'static str {
        match self.scheme.as_deref() {
            Some("http") => "URI::HTTP",
            Some("https") => "URI::HTTPS",
            Some("ftp") => "URI::FTP",
            Some("ldap") => "URI::LDAP",
            Some("ldaps") => "URI::LDAPS",
            Some("mailto") => "URI::MailTo",
            Some("file") => "URI::File",
            Some("ws") => "URI::WS",
            Some("wss") => "URI::WSS",
            _ => "URI::Generic",
        }
    }

    /// A component by its name, `undef` if it is absent.
    pub fn component(&self, name: &str) -> Value {
        let text = match name {
            "scheme" => &self.scheme,
            "userinfo" => &self.userinfo,
            "host" => &self.host,
            "path" => &self.path,
            "query" => &self.query,
            "fragment" => &self.fragment,
            "opaque" => &self.opaque,
            "port" => return self.port().map_or(Value::UNDEF, |port| Value::from(i64::from(port))),
            _ => &None,
        };
        text.as_deref().map_or(Value::UNDEF, Value::from)
    }

    /// The components as parameters of a URI type: those that are there and not as usual.
    pub(crate) fn parameters(&self) -> Option<Hash> {
        let mut parts = Hash::default();
        let mut add = |name: &str, text: Option<String>| {
            if let Some(text) = text {
                parts.insert(Key::from(name), Value::string(text));
            }
        };
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        add("scheme", self.scheme.clone());
        add("userinfo", self.userinfo.clone());
        add("host", filled(&self.host).map(|host| host.to_lowercase()));
        let usual = matches!(
            (self.scheme.as_deref(), self.port()),
            (Some("http"), Some(80)) | (Some("https"), Some(443))
        );
        add("port", self.port().filter(|_| !usual).map(|port| port.to_string()));
        add("path", filled(&self.path));
        add("query", self.query.clone());
        add("fragment", self.fragment.clone());
        add("opaque", self.opaque.clone());
        (!parts.is_empty()).then_some(parts)
    }

    /// The URI in the form in which two are compared.
    pub(crate) fn normalized(&self) -> Self {
        let mut normal = self.clone();
        normal.scheme = normal.scheme.map(|scheme| scheme.to_lowercase());
        normal.host = normal.host.map(|host| host.to_lowercase());
        normal.explicit_port = self.port();
        if normal.path.as_deref().is_none_or(str::is_empty) && normal.host.is_some() {
            normal.path = Some("/".to_owned());
        }
        normal
    }

    /// The URI that a reference means, seen from this one.
    pub fn join(&self, reference: &Self) -> Result<Self, ValueError> {
        if reference.scheme.is_some() {
            return Ok(reference.clone());
        }
        if self.scheme.is_none() && self.path.as_deref().is_none_or(|path| !path.starts_with('/')) {
            return Err(ValueError::new("both URI are relative"));
        }
        let mut result = self.clone();
        result.fragment.clone_from(&reference.fragment);
        if reference.host.is_some() {
            result.userinfo.clone_from(&reference.userinfo);
            result.host.clone_from(&reference.host);
            result.explicit_port = reference.explicit_port;
            result.path.clone_from(&reference.path);
            result.query.clone_from(&reference.query);
            return Ok(result);
        }
        let path = reference.path.as_deref().unwrap_or("");
        if path.is_empty() {
            if reference.query.is_some() {
                result.query.clone_from(&reference.query);
            }
            return Ok(result);
        }
        result.query.clone_from(&reference.query);
        result.path = Some(merge_paths(self.path.as_deref().unwrap_or(""), path));
        Ok(result)
    }
}

fn split_at(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// A `%` that is not followed by two hexadecimal digits.
fn has_bad_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(index, byte)| {
        let digit = |offset: usize| bytes.get(index + offset).is_some_and(u8::is_ascii_hexdigit);
        *byte == b'%' && !(digit(1) && digit(2))
    })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        "ldap" => Some(389),
        "ldaps" => Some(636),
        _ => None,
    }
}

fn merge_paths(base: &str, reference: &str) -> String {
    let joined = if reference.starts_with('/') {
        reference.to_owned()
    } else {
        let folder = base.rfind('/').map_or("/", |at| &base[..=at]);
        format!("{folder}{reference}")
    };
    let mut segments: Vec<&str> = Vec::new();
    let parts: Vec<&str> = joined.split('/').skip(1).collect();
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.iter().enumerate() {
        match *part {
            "." | ".." => {
                if *part == ".." {
                    segments.pop();
                }
                if index == last {
                    segments.push("");
                }
            }
            part => segments.push(part),
        }
    }
    format!("/{}", segments.join("/"))
}

fn ruby_inspect_ascii(text: &str) -> String {
    let mut result = String::from("\"");
    for letter in text.chars() {
        if letter.is_ascii() {
            result.push(letter);
        } else {
            let _ = write!(result, "\\u{:04X}", u32::from(letter));
        }
    }
    result.push('"');
    result
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(opaque) = &self.opaque {
            f.write_str(opaque)?;
        } else {
            if let Some(host) = &self.host {
                f.write_str("//")?;
                if let Some(userinfo) = &self.userinfo {
                    write!(f, "{userinfo}@")?;
                }
                f.write_str(host)?;
                if let Some(port) = self.explicit_port
                    && self.scheme.as_deref().and_then(default_port) != Some(port)
                {
                    write!(f, ":{port}")?;
                }
            }
            let path = self.path.as_deref().unwrap_or("");
            if self.host.is_some() && !path.is_empty() && !path.starts_with('/') {
                f.write_str("/")?;
            }
            f.write_str(path)?;
            if let Some(query) = &self.query {
                write!(f, "?{query}")?;
            }
        }
        if let Some(fragment) = &self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}
