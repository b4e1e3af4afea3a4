//! The attributes of a resource, as models read them.

use std::sync::Arc;

use setpoint_catalog::Resource;
use setpoint_puppet_values::{Data, Value};

/// The text of a value; of an array, that of its first element.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match &value.data {
        Data::String(text) => Some(text.to_string()),
        Data::Integer(number) => Some(number.to_string()),
        Data::Float(number) => Some(number.to_string()),
        Data::Bool(value) => Some(value.to_string()),
        Data::Array(items) => text_of(items.first()?),
        Data::Sensitive(inner) => text_of(inner),
        _ => None,
    }
}

/// The texts of a value and of what it holds.
pub(crate) fn texts_of(value: &Value) -> Vec<String> {
    match &value.data {
        Data::Array(items) => items.iter().flat_map(texts_of).collect(),
        Data::Sensitive(inner) => texts_of(inner),
        _ => text_of(value).into_iter().collect(),
    }
}

pub(crate) trait Attributes {
    fn text(&self, name: &str) -> Option<String>;
    fn texts(&self, name: &str) -> Vec<String>;
    fn flag(&self, name: &str) -> Option<bool>;
    fn has(&self, name: &str) -> bool;
    /// The attribute that the title stands for, or the title.
    fn name_or_title(&self, namevar: &str) -> String;
    fn ensure(&self) -> Option<String>;
    fn hides(&self, name: &str) -> bool;
}

impl Attributes for Resource {
    fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text_of)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.get(name).map(texts_of).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.text(name)?.as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value.data, Data::Undef))
    }

    fn name_or_title(&self, namevar: &str) -> String {
        let given = self.text(namevar).or_else(|| self.text("name"));
        given
            .or_else(|| {
                self.from_title
                    .iter()
                    .find(|(name, _)| name.as_str() == namevar)
                    .map(|(_, value)| value.to_string())
            })
            .unwrap_or_else(|| self.title.to_string())
    }

    fn ensure(&self) -> Option<String> {
        self.text("ensure")
    }

    fn hides(&self, name: &str) -> bool {
        self.sensitive.iter().any(|secret| secret.as_str() == name)
            || self.get(name).is_some_and(|value| matches!(value.data, Data::Sensitive(_)))
    }
}

/// A mode as four octal digits; `None` for one that depends on the mode that was there.
pub(crate) fn octal(mode: &str) -> Option<String> {
    let digits = mode.trim();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = u32::from_str_radix(digits, 8).ok()?;
        return Some(format!("{:04o}", number & 0o7777));
    }
    // `u=rw,go=r` sets all of the three.
    let mut bits = [None::<u32>; 3];
    for clause in digits.split(',') {
        let (who, permissions) = clause.split_once('=')?;
        let mut value = 0;
        for letter in permissions.chars() {
            value |= match letter {
                'r' => 4,
                'w' => 2,
                'x' => 1,
                _ => return None,
            };
        }
        let who = if who.is_empty() { "ugo".to_owned() } else { who.replace('a', "ugo") };
        for letter in who.chars() {
            let at = match letter {
                'u' => 0,
                'g' => 1,
                'o' => 2,
                _ => return None,
            };
            bits[at] = Some(value);
        }
    }
    Some(format!("0{}{}{}", bits[0]?, bits[1]?, bits[2]?))
}

/// The mode that Puppet gives a directory: who may read may search.
pub(crate) fn directory_mode(mode: &str) -> String {
    let Ok(bits) = u32::from_str_radix(mode, 8) else { return mode.to_owned() };
    let mut bits = bits;
    for (read, search) in [(0o400, 0o100), (0o040, 0o010), (0o004, 0o001)] {
        if bits & read != 0 {
            bits |= search;
        }
    }
    format!("{bits:04o}")
}

/// Whether an owner or group is given by its number.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn shared(text: &str) -> Arc<str> {
    Arc::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_octal() {
        assert_eq!(octal("644").as_deref(), Some("0644"));
        assert_eq!(octal("2775").as_deref(), Some("2775"));
        assert_eq!(octal("u=rw,go=r").as_deref(), Some("0644"));
        assert_eq!(octal("a=rx").as_deref(), Some("0555"));
        assert_eq!(octal("u+x"), None);
        assert_eq!(octal("u=rw"), None);
        assert_eq!(directory_mode("0640"), "0750");
        assert_eq!(directory_mode("0600"), "0700");
    }
}
