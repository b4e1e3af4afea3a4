//! What a case asks.

use serde_json::{Map, Value, json};
use setpoint_testing::{Case, Section};

use crate::{Outcome, Puppet};

/// The strictness of a version of Puppet: 8 turns unknown variables and loose coercions into errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Seven,
    Eight,
}

/// The name of an answer that holds in both modes.
pub const BOTH: &str = "puppet 7 and 8";

impl Mode {
    pub const ALL: [Self; 2] = [Self::Seven, Self::Eight];

    /// The name of an answer that holds in this mode only.
    pub fn section(self) -> &'static str {
        match self {
            Self::Seven => "puppet 7",
            Self::Eight => "puppet 8",
        }
    }

    pub fn strict(self) -> bool {
        self == Self::Eight
    }

    /// What a case says for this mode.
    pub fn stored(self, case: &Case) -> Option<&str> {
        case.answer(BOTH).or_else(|| case.answer(self.section()))
    }
}

/// One compilation. `main.pp` is the manifest; files below `modules/` are found by name.
#[derive(Debug, Clone)]
pub struct Request {
    pub files: Vec<(String, String)>,
    pub node: String,
    pub facts: Map<String, Value>,
    /// Modules of the Puppet installation that are on the path, too.
    pub modules: Vec<String>,
    pub mode: Mode,
}

impl Request {
    /// A request without facts of its own, on `node1.example.com`.
    pub fn manifest(text: &str, mode: Mode) -> Self {
        Self {
            files: vec![("main.pp".to_owned(), text.to_owned())],
            node: "node1.example.com".to_owned(),
            facts: usual_facts(),
            modules: Vec::new(),
            mode,
        }
    }

    /// The request of a case. `node: NAME` in the prose names the node, `modules: NAME …` modules of the Puppet
    /// installation; `facts.json` is laid over the usual facts, and a fact that is null there is absent.
    pub fn of(case: &Case, mode: Mode) -> Result<Self, String> {
        let mut facts = usual_facts();
        if let Some(text) = case.input("facts.json") {
            let more: Map<String, Value> =
                serde_json::from_str(text).map_err(|error| format!("facts.json: {error}"))?;
            for (name, value) in more {
                if value.is_null() {
                    facts.shift_remove(&name);
                } else {
                    facts.insert(name, value);
                }
            }
        }
        let files: Vec<(String, String)> = case
            .inputs
            .iter()
            .filter(|section| section.name != "facts.json")
            .map(|Section { name, text }| (name.clone(), text.clone()))
            .collect();
        if !files.iter().any(|(name, _)| name == "main.pp") {
            return Err("the case has no main.pp".to_owned());
        }
        let modules =
            case.option("modules").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let node = case.option("node").unwrap_or("node1.example.com").to_owned();
        Ok(Self { files, node, facts, modules, mode })
    }

    /// The line that the oracle reads.
    pub fn to_json(&self) -> Value {
        let files: Map<String, Value> =
            self.files.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        json!({
            "files": files,
            "node": self.node,
            "facts": self.facts,
            "modules": self.modules,
            "strict": self.mode.strict(),
        })
    }
}

fn usual_facts() -> Map<String, Value> {
    serde_json::from_str(include_str!("facts.json")).unwrap_or_default()
}

/// Puppet's answers to a case: one section where both modes agree, else two.
pub fn answers(case: &Case, puppet: &mut Puppet) -> Result<Vec<Section>, String> {
    let mut texts = Vec::new();
    for mode in Mode::ALL {
        let outcome: Outcome = puppet.ask(&Request::of(case, mode)?)?;
        texts.push(outcome.render());
    }
    let section = |name: &str, text: &String| Section { name: name.to_owned(), text: text.clone() };
    Ok(match texts.as_slice() {
        [seven, eight] if seven == eight => vec![section(BOTH, seven)],
        _ => Mode::ALL.iter().zip(&texts).map(|(mode, text)| section(mode.section(), text)).collect(),
    })
}
