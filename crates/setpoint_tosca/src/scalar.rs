//! Numbers with units: the scalar types of the Simple Profile, and those that TOSCA 2.0 lets people define.

use setpoint_data::{Entry, Node};
use setpoint_source::Symbol;

use crate::grammar::is_number;
use crate::types::{Table, ancestors};

/// Units and what each is worth.
#[derive(Debug, Clone, Default)]
pub(crate) struct Units {
    known: Vec<(String, f64)>,
    /// Names are compared without regard to case.
    ignore_case: bool,
    /// The type of the number: `integer`, `float` or one that derives from them.
    pub(crate) number: Option<Symbol>,
}

const SIZES: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1_048_576.0),
    ("GB", 1e9),
    ("GiB", 1_073_741_824.0),
    ("TB", 1e12),
    ("TiB", 1_099_511_627_776.0),
];
const TIMES: [(&str, f64); 7] =
    [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];
const FREQUENCIES: [(&str, f64); 4] = [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
const PREFIXES: [(&str, f64); 9] = [
    ("", 1.0),
    ("K", 1e3),
    ("Ki", 1024.0),
    ("M", 1e6),
    ("Mi", 1_048_576.0),
    ("G", 1e9),
    ("Gi", 1_073_741_824.0),
    ("T", 1e12),
    ("Ti", 1_099_511_627_776.0),
];

impl Units {
    /// The units of a type `scalar-unit.…` of the Simple Profile.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let units = match name {
            "scalar-unit.size" => owned(&SIZES),
            "scalar-unit.time" => owned(&TIMES),
            "scalar-unit.frequency" => owned(&FREQUENCIES),
            "scalar-unit.bitrate" => {
                let with = |unit: &'static str, worth: f64| {
                    PREFIXES.iter().map(move |(prefix, times)| (format!("{prefix}{unit}"), times * worth))
                };
                with("bps", 1.0).chain(with("Bps", 8.0)).collect()
            }
            _ => return None,
        };
        // `Bps` and `bps` differ; of the others every spelling is in use.
        Some(Self { known: units, ignore_case: name != "scalar-unit.bitrate", number: None })
    }

    /// The units of a data type that derives from `scalar`.
    pub(crate) fn of_type(table: &Table, kind: Symbol) -> Self {
        let mut units: Vec<(String, f64)> = Vec::new();
        let mut prefixes: Vec<(String, f64)> = Vec::new();
        let mut number = None;
        for found in ancestors(table, kind).iter().filter_map(|name| table.get(name)) {
            let Some(node) = &found.written else { continue };
            units.extend(multipliers(node.get("units")));
            prefixes.extend(multipliers(node.get("prefixes")));
            number = number.or_else(|| node.get("data_type").and_then(Node::text).map(Symbol::new));
        }
        if !prefixes.is_empty() {
            let join = |(unit, worth): &(String, f64)| {
                let with = |(prefix, times): &(String, f64)| (format!("{prefix}{unit}"), times * worth);
                prefixes.iter().map(with).collect::<Vec<_>>()
            };
            units = units.iter().flat_map(join).collect();
        }
        Self { known: units, ignore_case: false, number }
    }

    /// The number before the unit and what both are worth, or why it is no such number.
    pub(crate) fn parse<'a>(&self, node: &'a Node) -> Result<(&'a str, f64), String> {
        let text = node.text().ok_or_else(|| "a number with a unit".to_owned())?.trim();
        let is_exponent = |at: usize| {
            let rest = text[at + 1..].trim_start_matches(['+', '-']);
            text[at..].starts_with(['e', 'E']) && rest.starts_with(|c: char| c.is_ascii_digit())
        };
        let is_part = |(at, c): &(usize, char)| {
            c.is_ascii_digit() || "+-.".contains(*c) || (c.is_ascii() && is_exponent(*at))
        };
        let end = text.char_indices().find(|part| !is_part(part)).map(|(at, _)| at);
        let wanted = || {
            let names: Vec<&str> = self.known.iter().take(12).map(|(name, _)| name.as_str()).collect();
            format!("a number with one of the units {}", names.join(", "))
        };
        let (number, unit) = text.split_at(end.ok_or_else(wanted)?);
        let unit = unit.trim_start();
        let worth: f64 = number.parse().map_err(|_| wanted())?;
        let is_unit = |name: &str| name == unit || (self.ignore_case && name.eq_ignore_ascii_case(unit));
        let found = self.known.iter().find(|(name, _)| is_unit(name));
        found.map(|(_, times)| (number, worth * times)).ok_or_else(wanted)
    }
}

fn owned(units: &[(&str, f64)]) -> Vec<(String, f64)> {
    units.iter().map(|(name, worth)| ((*name).to_owned(), *worth)).collect()
}

fn multipliers(node: Option<&Node>) -> Vec<(String, f64)> {
    let entries = node.map(Node::entries).unwrap_or_default();
    let read = |Entry { key, value }: &Entry| Some((key.text()?.to_owned(), value.text()?.parse().ok()?));
    entries.iter().filter_map(read).collect()
}

/// Returns what is wrong with the units of a data type, with the part that has it.
pub(crate) fn check(node: &Node, is_scalar: bool, derives_directly: bool) -> Vec<(Node, String)> {
    let mut out = Vec::new();
    let keys = ["units", "prefixes", "canonical_unit", "canonical_prefix", "data_type"];
    if !is_scalar {
        let misplaced = keys.iter().filter_map(|key| node.entry(key));
        return misplaced
            .map(|entry| (entry.key.clone(), "only a type that derives from `scalar` has this".to_owned()))
            .collect();
    }
    let Some(units) = node.get("units") else {
        if derives_directly {
            out.push((node.clone(), "a type that derives from `scalar` needs `units`".to_owned()));
        }
        return out;
    };
    for part in ["units", "prefixes"] {
        for Entry { key, value } in node.get(part).map(Node::entries).unwrap_or_default() {
            if !is_number(value) {
                let name = key.text().unwrap_or_default();
                out.push((value.clone(), format!("the multiplier of `{name}` is not a number")));
            } else if value.text().and_then(|text| text.parse::<f64>().ok()).is_some_and(|worth| worth <= 0.0)
            {
                let name = key.text().unwrap_or_default();
                out.push((value.clone(), format!("the multiplier of `{name}` is not positive")));
            }
        }
    }
    let known = multipliers(Some(units));
    let is_one = |worth: f64| (worth - 1.0).abs() < 1e-12;
    let ones = known.iter().filter(|(_, worth)| is_one(*worth)).count();
    if out.is_empty() && ones == 0 && derives_directly {
        out.push((units.clone(), "one unit must have the multiplier 1".to_owned()));
    }
    match node.get("canonical_unit") {
        None if ones > 1 => {
            let message = "several units have the multiplier 1, so that `canonical_unit` has to name one";
            out.push((units.clone(), message.to_owned()));
        }
        Some(canonical) => {
            let name = canonical.text().unwrap_or_default();
            if !known.iter().any(|(unit, worth)| unit == name && is_one(*worth)) {
                let message = format!("`{name}` is not a unit with the multiplier 1");
                out.push((canonical.clone(), message));
            }
        }
        None => {}
    }
    if let Some(prefixes) = node.get("prefixes")
        && !multipliers(Some(prefixes)).iter().any(|(_, worth)| is_one(*worth))
    {
        out.push((prefixes.clone(), "one prefix must have the multiplier 1, such as `\"\": 1`".to_owned()));
    }
    out
}
