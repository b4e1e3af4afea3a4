//! The formats of `String.new`: what stands between `%` and the letter, and which format is for which type.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use crate::error::ValueError;
use crate::label::class_name;
use crate::ruby::text::to_s;
use crate::types::Type;
use crate::value::{Data, Hash, Key, Value};

/// One format.
#[derive(Clone, Debug, Default)]
pub(super) struct Format {
    pub(super) letter: char,
    pub(super) original: Arc<str>,
    pub(super) left: bool,
    pub(super) alternative: bool,
    pub(super) space: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    delimiter: Option<char>,
    pub(super) separator: Option<Arc<str>>,
    pub(super) separator2: Option<Arc<str>>,
    pub(super) elements: Option<Formats>,
}

/// Formats by type; the first that fits counts.
pub(super) type Formats = Arc<Vec<(Type, Format)>>;

static ELEMENTS: LazyLock<Formats> = LazyLock::new(|| Arc::new(vec![(Type::Any, simple('p'))]));

static DEFAULTS: LazyLock<Formats> = LazyLock::new(|| {
    let container = |letter, separator2: &str| Format {
        separator: Some(", ".into()),
        separator2: Some(separator2.into()),
        elements: Some(Arc::clone(&ELEMENTS)),
        ..simple(letter)
    };
    Arc::new(vec![
        (Type::Object(None), simple('p')),
        (Type::Float(None), simple('f')),
        (Type::Numeric, simple('d')),
        (Type::Array(None), container('a', ", ")),
        (Type::Hash(None), container('h', " => ")),
        (Type::Binary, simple('B')),
        (Type::Any, simple('s')),
    ])
});

fn simple(letter: char) -> Format {
    Format { letter, original: format!("%{letter}").into(), ..Format::default() }
}

/// The formats for the elements of a collection whose format says nothing of them.
pub(super) fn default_elements() -> Formats {
    Arc::clone(&ELEMENTS)
}

pub(super) fn defaults() -> Formats {
    Arc::clone(&DEFAULTS)
}

/// The format for a type.
pub(super) fn choose(formats: &Formats, of: &Type) -> Format {
    formats
        .iter()
        .find(|(key, _)| key.is_assignable(of))
        .map_or_else(|| simple('s'), |(_, format)| format.clone())
}

impl Format {
    fn parse(text: &str) -> Result<Self, ValueError> {
        let invalid = || {
            ValueError::new(format!(
                "The format '{text}' is not a valid format on the form '%<flags><width>.<prec><format>'"
            ))
        };
        let rest = text.strip_prefix('%').ok_or_else(invalid)?;
        let is_flag = |letter: char| letter.is_ascii_whitespace() || "[+#0{<(|-".contains(letter);
        let end = rest.find(|letter| !is_flag(letter)).ok_or_else(invalid)?;
        let (flags, rest) = rest.split_at(end);
        let digits_end = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(invalid)?;
        let (width, rest) = rest.split_at(digits_end);
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let end = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(invalid)?;
                if end == 0 {
                    return Err(invalid());
                }
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        let mut letters = rest.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic).ok_or_else(invalid)?;
        if letters.next().is_some() {
            return Err(invalid());
        }
        let mut seen: Vec<char> = Vec::new();
        for flag in flags.chars() {
            if seen.contains(&flag) {
                return Err(ValueError::new(format!("The same flag can only be used once, got '{text}'")));
            }
            seen.push(flag);
        }
        let mut delimiters =
            ['[', '{', '(', '<', '|'].into_iter().filter(|delimiter| seen.contains(delimiter));
        let delimiter = delimiters.next();
        if delimiters.next().is_some() {
            return Err(ValueError::new(format!(
                "Only one of the delimiters [ {{ ( < | can be given in the format flags, got '{text}'"
            )));
        }
        Ok(Self {
            letter,
            original: text.into(),
            left: seen.contains(&'-'),
            alternative: seen.contains(&'#'),
            space: seen.contains(&' '),
            width: (!width.is_empty()).then(|| width.parse().unwrap_or(usize::MAX)),
            precision: precision.map(|precision| precision.parse().unwrap_or(usize::MAX)),
            delimiter,
            ..Self::default()
        })
    }

    /// What stands around a collection.
    pub(super) fn delimiters(&self, default: (&'static str, &'static str)) -> (&'static str, &'static str) {
        match self.delimiter {
            Some('[') => ("[", "]"),
            Some('{') => ("{", "}"),
            Some('(') => ("(", ")"),
            Some('<') => ("<", ">"),
            Some('|') => ("|", "|"),
            _ if self.space => ("", ""),
            _ => default,
        }
    }

    fn merge(lower: Option<&Self>, higher: Option<&Self>) -> Self {
        match (lower, higher) {
            (Some(lower), Some(higher)) => Self {
                separator: higher.separator.clone().or_else(|| lower.separator.clone()),
                separator2: higher.separator2.clone().or_else(|| lower.separator2.clone()),
                elements: match (&lower.elements, &higher.elements) {
                    (Some(lower), Some(higher)) => Some(merge(lower, higher)),
                    (lower, higher) => higher.clone().or_else(|| lower.clone()),
                },
                ..higher.clone()
            },
            (Some(format), None) | (None, Some(format)) => format.clone(),
            (None, None) => simple('s'),
        }
    }
}

/// The formats of `higher` over those of `lower`, the narrower types first.
pub(super) fn merge(lower: &Formats, higher: &Formats) -> Formats {
    let mut merged: Vec<(Type, Format)> = Vec::new();
    let find = |formats: &Formats, of: &Type| {
        formats.iter().find(|(key, _)| key == of).map(|(_, format)| format.clone())
    };
    let kept = lower
        .iter()
        .filter(|(low, _)| !higher.iter().any(|(high, _)| high != low && high.is_assignable(low)));
    let kept: Vec<(Type, Format)> = kept.cloned().collect();
    for (key, _) in kept.iter().chain(higher.iter()) {
        if merged.iter().any(|(known, _)| known == key) {
            continue;
        }
        let low = kept.iter().find(|(known, _)| known == key).map(|(_, format)| format);
        merged.push((key.clone(), Format::merge(low, find(higher, key).as_ref())));
    }
    Arc::new(sorted(merged))
}

/// Sorted by insertion: the order is not a total one.
fn sorted(formats: Vec<(Type, Format)>) -> Vec<(Type, Format)> {
    let mut result: Vec<(Type, Format)> = Vec::with_capacity(formats.len());
    for entry in formats {
        let place = result.iter().rposition(|known| order(&known.0, &entry.0) != Ordering::Greater);
        result.insert(place.map_or(0, |place| place + 1), entry);
    }
    result
}

fn order(a: &Type, b: &Type) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    match (b.is_assignable(a), a.is_assignable(b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => match (rank(a), rank(b)) {
            (0, _) | (_, 0) => a.to_string().cmp(&b.to_string()),
            (a, b) => a.cmp(&b),
        },
    }
}

fn rank(of: &Type) -> u8 {
    match of {
        Type::Struct(_) => 1,
        Type::Hash(_) => 2,
        Type::Tuple(_) => 3,
        Type::Array(_) => 4,
        Type::Pattern(_) => 10,
        Type::Enum(_) => 11,
        Type::String(_) => 12,
        _ => 0,
    }
}

/// The formats that a hash of types gives.
pub(super) fn from_hash(entries: &Hash) -> Result<Formats, ValueError> {
    let mut formats = Vec::with_capacity(entries.len());
    for (key, item) in entries {
        let Data::Type(of) = &key.0.data else {
            return Err(ValueError::new(format!(
                "top level keys in the format hash must be data types, got instance of '{}'",
                class_name(&key.0)
            )));
        };
        let format = match &item.data {
            Data::Hash(options) => container(item, options)?,
            _ => Format::parse(&to_s(item))?,
        };
        formats.push((of.clone(), format));
    }
    Ok(Arc::new(formats))
}

fn container(value: &Value, options: &Hash) -> Result<Format, ValueError> {
    const KEYS: [&str; 4] = ["separator", "separator2", "format", "string_formats"];
    if options.keys().any(|key| key.as_str().is_none_or(|key| !KEYS.contains(&key))) {
        let shown = to_s(value);
        return Err(ValueError::new(format!(
            "only 'separator', 'separator2', 'format', 'string_formats' are allowed in a container format, got {shown}"
        )));
    }
    let get = |name: &str| options.get(&Key::from(name));
    let text = |name: &str| get(name).and_then(Value::as_str).map(Arc::from);
    let format = Format::parse(get("format").and_then(Value::as_str).unwrap_or(""))?;
    let elements = match get("string_formats").map(|formats| &formats.data) {
        Some(Data::Hash(entries)) => Some(from_hash(entries)?),
        _ => None,
    };
    Ok(Format { separator: text("separator"), separator2: text("separator2"), elements, ..format })
}

/// The format of a text, for values of a type.
pub(super) fn for_type(of: Type, text: &str) -> Result<Formats, ValueError> {
    Ok(Arc::new(vec![(of, Format::parse(text)?)]))
}
