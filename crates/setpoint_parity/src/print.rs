//! The report, for people and for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use setpoint_source::few;

use crate::causes::{Kind, Shared};

/// Names that one line has.
const SHOWN: usize = 6;

/// What came of all nodes.
#[derive(Debug)]
pub struct Parity {
    /// Every node, and whether it is identical, differs, or is identical as far as can be known.
    pub nodes: Vec<(String, Verdict)>,
    pub causes: Vec<Shared>,
    /// What should be known about the comparison itself.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Identical,
    /// Identical, but for values that cannot be computed here.
    Unknown,
    Differs,
}

impl Parity {
    pub fn count(&self, verdict: Verdict) -> usize {
        self.nodes.iter().filter(|(_, found)| *found == verdict).count()
    }

    fn summary(&self) -> String {
        let all = self.nodes.len();
        let (identical, differ) = (self.count(Verdict::Identical), self.count(Verdict::Differs));
        let mut line = format!("{} of {} {} identical", thousands(identical), thousands(all), nodes(all));
        let unknown = self.count(Verdict::Unknown);
        if unknown > 0 {
            line += &format!("; {} as far as can be known", thousands(unknown));
        }
        if differ > 0 {
            let mut kinds: BTreeMap<Kind, std::collections::BTreeSet<&str>> = BTreeMap::new();
            for shared in self.causes.iter().filter(|shared| shared.cause.kind != Kind::Unknown) {
                kinds.entry(shared.cause.kind).or_default().extend(shared.nodes.iter().map(String::as_str));
            }
            let reasons: Vec<String> = kinds
                .iter()
                .map(|(kind, names)| match names.len() {
                    count if count == differ => kind.because().to_owned(),
                    count => format!("{} ({})", kind.because(), thousands(count)),
                })
                .collect();
            let verb = if differ == 1 { "differs" } else { "differ" };
            line += &format!("; {} {verb}, because {}", thousands(differ), reasons.join(", "));
        }
        line
    }

    pub fn text(&self) -> String {
        let mut text = self.summary();
        text.push('\n');
        for Shared { cause, nodes: on, resources } in &self.causes {
            text += &format!("\n{}\n", cause.what);
            if resources.len() > 1 {
                let others: Vec<&str> = resources.iter().skip(1).map(String::as_str).collect();
                text += &format!("  likewise: {}\n", few(&others, SHOWN));
            }
            if let Some(place) = &cause.place {
                text += &format!("  at {place}\n");
            }
            if cause.secret {
                text += "  the values are secret\n";
            }
            if let Some(server) = &cause.server {
                text += &format!("  server: {server}\n");
            }
            if let Some(here) = &cause.here {
                text += &format!("  here:   {here}\n");
            }
            let names: Vec<&str> = on.iter().map(String::as_str).collect();
            text += &format!("  on {}: {}\n", count_of(on.len(), "node"), few(&names, SHOWN));
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}\n");
        }
        text
    }

    pub fn json(&self, version: &str) -> Value {
        let causes: Vec<Value> = self
            .causes
            .iter()
            .map(|Shared { cause, nodes, resources }| {
                json!({
                    "kind": cause.kind.name(),
                    "message": cause.what,
                    "resources": resources,
                    "parameter": cause.parameter.map(|name| name.to_string()),
                    "place": cause.place,
                    "server": cause.server,
                    "here": cause.here,
                    "secret": cause.secret,
                    "nodes": nodes,
                })
            })
            .collect();
        let of = |verdict: Verdict| {
            let names = self.nodes.iter().filter(|(_, found)| *found == verdict);
            names.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        json!({
            "setpoint": version,
            "nodes": self.nodes.len(),
            "identical": of(Verdict::Identical),
            "unknown": of(Verdict::Unknown),
            "differ": of(Verdict::Differs),
            "causes": causes,
            "notes": self.notes,
        })
    }
}

fn nodes(count: usize) -> &'static str {
    if count == 1 { "node" } else { "nodes" }
}

fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", thousands(count)) }
}

/// `1,987`
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
