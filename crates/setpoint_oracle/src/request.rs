//! What a case asks.

use std::path::Path;

use serde_json::{Map, Value, json};
use setpoint_data::{Kind, Node};
use setpoint_source::Sources;
use setpoint_testing::{Case, Section, files_below};

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
    /// The manifest, or the folder of manifests, among the files.
    pub manifest: String,
    /// Folders of modules among the files.
    pub modulepath: Vec<String>,
    /// Modules of the Puppet installation that are on the path, too.
    pub modules: Vec<String>,
    /// Laid over the usual trusted facts.
    pub trusted: Map<String, Value>,
    /// Lines of arguments of `puppet lookup`, in place of a compilation.
    pub lookups: Vec<String>,
    pub mode: Mode,
}

/// The inputs of a case that are no files.
const NO_FILES: [&str; 3] = ["facts.json", "trusted.json", "lookup"];

impl Request {
    /// A request without facts of its own, on `node1.example.com`.
    pub fn manifest(text: &str, mode: Mode) -> Self {
        Self {
            files: vec![("main.pp".to_owned(), text.to_owned())],
            node: "node1.example.com".to_owned(),
            facts: usual_facts(),
            manifest: "main.pp".to_owned(),
            modulepath: vec!["modules".to_owned()],
            modules: Vec::new(),
            trusted: Map::new(),
            lookups: Vec::new(),
            mode,
        }
    }

    /// The request of a case. `node: NAME` in the prose names the node, `modules: NAME …` modules of the Puppet
    /// installation; `facts.json` is laid over the usual facts, and a fact that is null there is absent; `trusted.json` is laid
    /// over the trusted facts. `hiera.yaml` is that of the environment, `global/hiera.yaml` the global one. The lines of
    /// `lookup` are arguments of `puppet lookup`.
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
        let trusted = match case.input("trusted.json") {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| format!("trusted.json: {error}"))?,
        };
        let lookups: Vec<String> = case
            .input("lookup")
            .unwrap_or_default()
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(str::to_owned)
            .collect();
        let mut files: Vec<(String, String)> = case
            .inputs
            .iter()
            .filter(|section| !NO_FILES.contains(&section.name.as_str()))
            .map(|Section { name, text }| (name.clone(), text.clone()))
            .collect();
        if !lookups.is_empty() {
            files.push(("main.pp".to_owned(), String::new()));
        } else if !files.iter().any(|(name, _)| name == "main.pp") {
            return Err("the case has no main.pp".to_owned());
        }
        let modules =
            case.option("modules").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        let node = case.option("node").unwrap_or("node1.example.com").to_owned();
        Ok(Self { files, node, facts, modules, trusted, lookups, ..Self::manifest("", mode) })
    }

    /// A node of a control repository with `manifests`, `site-modules` and `modules`.
    pub fn repository(folder: &Path, node: &str, facts: Map<String, Value>) -> Result<Self, String> {
        let mut request = Self::manifest("", Mode::Eight);
        request.files.clear();
        for path in files_below(folder) {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            request.files.push((name, text));
        }
        node.clone_into(&mut request.node);
        request.facts = facts;
        "manifests".clone_into(&mut request.manifest);
        request.modulepath = vec!["site-modules".to_owned(), "modules".to_owned()];
        Ok(request)
    }

    /// All trusted facts.
    pub fn all_trusted(&self) -> Map<String, Value> {
        let (host, domain) = self.node.split_once('.').unwrap_or((&self.node, ""));
        let mut all = Map::new();
        all.insert("authenticated".to_owned(), json!("local"));
        all.insert("certname".to_owned(), json!(self.node));
        all.insert("extensions".to_owned(), json!({}));
        all.insert("hostname".to_owned(), json!(host));
        all.insert("domain".to_owned(), if domain.is_empty() { Value::Null } else { json!(domain) });
        all.insert("external".to_owned(), json!({}));
        all.extend(self.trusted.clone());
        all
    }

    /// The line that the oracle reads.
    pub fn to_json(&self) -> Value {
        let files: Map<String, Value> =
            self.files.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
        json!({
            "files": files,
            "node": self.node,
            "manifest": self.manifest,
            "modulepath": self.modulepath,
            "facts": self.facts,
            "modules": self.modules,
            "strict": self.mode.strict(),
            "trusted": self.trusted,
            "lookups": if self.lookups.is_empty() { Value::Null } else { json!(self.lookups) },
        })
    }
}

/// The facts of a file, in JSON or YAML as it is commonly written.
pub fn facts_of(path: &Path) -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let sources = Sources::new();
    let file = sources.add(path.display().to_string(), text.as_str());
    let document = setpoint_data::read(file, &text);
    match document.root.as_ref().map(plain) {
        Some(Value::Object(facts)) => Ok(facts),
        _ => Err(format!("{}: there are no facts", path.display())),
    }
}

fn plain(node: &Node) -> Value {
    match &node.kind {
        Kind::Sequence(items) => Value::Array(items.iter().map(plain).collect()),
        Kind::Mapping(entries) => entries
            .iter()
            .map(|entry| (entry.key.text().unwrap_or_default().to_owned(), plain(&entry.value)))
            .collect::<Map<String, Value>>()
            .into(),
        Kind::Scalar { text, .. } => match node.plain() {
            None => json!(&**text),
            Some(_) if node.is_null() => Value::Null,
            Some("true") => json!(true),
            Some("false") => json!(false),
            Some(plain) => plain.parse::<i64>().map_or_else(|_| json!(plain), |number| json!(number)),
        },
    }
}

fn usual_facts() -> Map<String, Value> {
    serde_json::from_str(include_str!("facts.json")).unwrap_or_default()
}

/// Puppet's answers to a case: one section where both modes agree, else two.
pub fn answers(case: &Case, puppet: &mut Puppet) -> Result<Vec<Section>, String> {
    let mut texts = Vec::new();
    let section = |name: &str, text: &String| Section { name: name.to_owned(), text: text.clone() };
    // A case that names 7 alone is about what 8 changed, which the installed Puppet does not know.
    if let [only] = case.answers.as_slice()
        && only.name == Mode::Seven.section()
    {
        let outcome: Outcome = puppet.ask(&Request::of(case, Mode::Seven)?)?;
        return Ok(vec![section(Mode::Seven.section(), &outcome.render())]);
    }
    for mode in Mode::ALL {
        let outcome: Outcome = puppet.ask(&Request::of(case, mode)?)?;
        texts.push(outcome.render());
    }
    Ok(match texts.as_slice() {
        [seven, eight] if seven == eight => vec![section(BOTH, seven)],
        _ => Mode::ALL.iter().zip(&texts).map(|(mode, text)| section(mode.section(), text)).collect(),
    })
}
