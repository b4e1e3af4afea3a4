//! What a node is: its name, facts, trusted facts, and what a classifier says about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_puppet_values::{Data, Hash, Key, Value, to_text};
use setpoint_source::{Gap, Reason};

use crate::facts::{self, Facts};
use crate::options::PuppetOptions;
use crate::session::{Session, UsageError};

/// The node's name if nothing tells another.
pub(super) const DEFAULT_NODE: &str = "localhost";

#[derive(Debug, Clone, Default)]
pub struct NodeData {
    pub name: String,
    /// Whose facts these are, if they are those of a platform.
    pub platform: Option<String>,
    pub facts: Hash,
    /// The names of the facts that somebody told, beside those of the platform.
    pub told: BTreeSet<String>,
    pub trusted: Option<Value>,
    /// From a classifier.
    pub classes: Vec<(String, Hash)>,
    pub parameters: Hash,
    pub environment: Option<String>,
    /// Whether a classifier named the environment.
    pub is_classified: bool,
    /// The node whose facts these are, if none are known of this one.
    pub donor: Option<String>,
    /// What the node was made up for: the expression of a node statement, between slashes, or a data file.
    pub made_up: Option<String>,
    /// The platforms that it may have instead of the one that was assumed; none if somebody told it.
    pub(crate) other_platforms: Vec<&'static str>,
    /// Facts that it has besides those of its platform because it was made up for them.
    pub(crate) made_facts: Hash,
    /// What was taken for granted because nothing is known of this node where others are described.
    pub assumed: Vec<Reason>,
}

/// What is known of a node before the command line has its say.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) name: Option<String>,
    pub(super) platform: Option<String>,
    /// What a file with its facts says.
    pub(super) read: Option<Facts>,
    /// The node that these facts were taken from.
    pub(super) donor: Option<String>,
    pub(super) facts: Hash,
    pub(super) trusted: Hash,
    /// What the node was made up for.
    pub(super) made_up: Option<String>,
    /// Variables at top scope that it was made up for.
    pub(super) parameters: Hash,
    /// The platforms that it may have instead.
    pub(super) other_platforms: Vec<&'static str>,
}

/// Puts together what is known of a node and what the command line says.
pub(super) fn node(
    session: &Session<'_>,
    options: &PuppetOptions,
    known: &Known,
) -> Result<NodeData, UsageError> {
    let asked = options.node.clone().or_else(|| known.name.clone());
    let mut read: Vec<Facts> = known.read.iter().cloned().collect();
    let mut without_facts = None;
    for path in &options.facts {
        if known.read.is_some() && session.files.is_dir(path) {
            continue;
        }
        match of_node(session, path, asked.as_deref())? {
            Some(path) => read.push(facts::read(session, &path)?),
            None => without_facts = Some(path),
        }
    }
    let told = |facts: &Facts| facts.node.clone();
    let name = asked.or_else(|| read.iter().rev().find_map(told)).unwrap_or_else(|| DEFAULT_NODE.to_owned());
    let platform = options.platform.clone().or_else(|| known.platform.clone());
    let mut facts = match &platform {
        Some(platform) => facts::platform(platform, &name, options)?,
        None => Hash::default(),
    };
    for more in &read {
        facts::lay_over(&mut facts, &more.values);
    }
    if !read.is_empty() {
        add_agent_facts(&mut facts, &name, options);
    }
    facts::lay_over(&mut facts, &known.facts);
    let all_told = read.iter().map(|more| &more.values).chain([&known.facts]);
    let told = all_told.flat_map(Hash::keys).filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let mut data = NodeData {
        name,
        platform,
        facts,
        told,
        donor: known.donor.clone(),
        made_up: known.made_up.clone(),
        parameters: known.parameters.clone(),
        other_platforms: known.other_platforms.clone(),
        made_facts: known.facts.clone(),
        ..NodeData::default()
    };
    if let Some(folder) = without_facts.filter(|_| data.facts.is_empty()) {
        data.assume_nothing_in(folder, "no facts");
    }
    let mut trusted = known.trusted.clone();
    if let Some(path) = &options.trusted {
        match of_node(session, path, Some(&data.name))? {
            Some(path) => {
                let Data::Hash(given) = facts::read_value(session, &path)?.data else {
                    return Err(UsageError::new(format!("{}: trusted facts are a mapping", path.display())));
                };
                let is_mapping = |name: &&str| match given.get(&Key::from(*name)) {
                    Some(part) => part.as_hash().is_some(),
                    None => true,
                };
                if let Some(name) =
                    ["extensions", "extension_requests", "external"].iter().find(|name| !is_mapping(name))
                {
                    return Err(UsageError::new(format!("{}: `{name}` is a mapping", path.display())));
                }
                facts::lay_over(&mut trusted, &given);
            }
            None => data.assume_nothing_in(path, "no trusted facts but its name"),
        }
    }
    if !trusted.is_empty() {
        data.trusted = Some(trusted_facts(&data.name, &trusted));
    }
    if let Some(path) = &options.enc {
        match of_node(session, path, Some(&data.name))? {
            Some(path) => classify(session, &path, &mut data)?,
            None => data.assume_nothing_in(path, "no classes and parameters of a classifier"),
        }
    }
    Ok(data)
}

impl NodeData {
    /// Whether the machine may have more facts: those of a platform are not all, and where none are known nobody told them.
    pub(crate) fn has_partial_facts(&self) -> bool {
        self.platform.is_some() || self.facts.is_empty()
    }

    /// Takes for granted that a node of which a folder has no file has nothing of its kind.
    fn assume_nothing_in(&mut self, folder: &Path, nothing: &str) {
        let folder = folder.display().to_string();
        let words = format!("{}, which has no file in {folder}, has {nothing}", self.name);
        self.assumed.push(Reason::new(Gap::Assumed, words).in_file(folder));
    }
}

/// A file, or the file of a node in a folder with one file a node, if it has one.
fn of_node(session: &Session<'_>, path: &Path, node: Option<&str>) -> Result<Option<PathBuf>, UsageError> {
    if session.files.is_dir(path) {
        let file = |ending: &str| path.join(format!("{}.{ending}", node.unwrap_or(DEFAULT_NODE)));
        return Ok(["yaml", "yml", "json"].map(file).into_iter().find(|file| session.files.is_file(file)));
    }
    if session.files.is_file(path) {
        return Ok(Some(path.to_owned()));
    }
    Err(UsageError::new(format!("cannot read {}: there is no such file", path.display())))
}

/// What an agent adds to what Facter finds.
fn add_agent_facts(facts: &mut Hash, node: &str, options: &PuppetOptions) {
    let version = facts::puppet_version(options);
    let more = [("clientcert", node.into()), ("clientversion", version.into()), ("clientnoop", false.into())];
    for (name, value) in more {
        facts.entry(Key::from(name)).or_insert(value);
    }
}

const CLASSIFIER: &str = "a classifier prints a mapping with `classes`, `parameters` or `environment`";

/// The output of an external node classifier.
fn classify(session: &Session<'_>, path: &Path, node: &mut NodeData) -> Result<(), UsageError> {
    let wrong = |what: &str| UsageError::new(format!("{}: {what}", path.display()));
    // Puppet finds no node if its classifier prints nothing.
    let Data::Hash(entries) = facts::read_value(session, path)?.data else { return Err(wrong(CLASSIFIER)) };
    let is_known = |name: &&str| entries.contains_key(&Key::from(*name));
    if !entries.is_empty() && !["classes", "parameters", "environment"].iter().any(is_known) {
        return Err(wrong(CLASSIFIER));
    }
    let get = |name: &str| entries.get(&Key::from(name)).filter(|value| !value.is_undef());
    match get("classes").map(|value| &value.data) {
        None => {}
        Some(Data::Array(names)) => {
            node.classes = names.iter().map(|name| (to_text(name).to_string(), Hash::default())).collect();
        }
        Some(Data::Hash(classes)) => {
            for (name, parameters) in classes.iter() {
                let parameters = match &parameters.data {
                    Data::Hash(parameters) => Hash::clone(parameters),
                    Data::Undef => Hash::default(),
                    _ => {
                        let name = to_text(&name.0);
                        return Err(wrong(&format!("the parameters of the class {name} are a mapping")));
                    }
                };
                node.classes.push((to_text(&name.0).to_string(), parameters));
            }
        }
        Some(_) => return Err(wrong("`classes` is a list of names, or a mapping of names to parameters")),
    }
    match get("parameters").map(|value| &value.data) {
        None => {}
        Some(Data::Hash(parameters)) => facts::lay_over(&mut node.parameters, parameters),
        Some(_) => return Err(wrong("`parameters` is a mapping of variables to values")),
    }
    node.environment = get("environment").map(|name| to_text(name).to_string());
    node.is_classified = node.environment.is_some();
    Ok(())
}

/// The keys of `$trusted`, in Puppet's order.
const TRUSTED: &[&str] = &["authenticated", "certname", "extensions", "hostname", "domain", "external"];

/// `$trusted` of a node. A mapping without the keys of `$trusted` is taken for the extensions of its certificate.
pub(super) fn trusted_facts(node: &str, given: &Hash) -> Value {
    let get = |name: &str| given.get(&Key::from(name)).cloned();
    let whole = TRUSTED.iter().any(|name| given.contains_key(&Key::from(*name)));
    let extensions = match (get("extensions"), get("extension_requests")) {
        (Some(extensions), _) => extensions,
        // As `csr_attributes.yaml` has them.
        (None, Some(requests)) => requests,
        (None, None) if whole => Value::hash(Hash::default()),
        (None, None) => Value::hash(given.clone()),
    };
    let extensions = match extensions.data {
        Data::Hash(extensions) => {
            let named = Arc::unwrap_or_clone(extensions).into_iter();
            Value::hash(named.map(|(name, value)| (Key::from(extension(&to_text(&name.0))), value)).collect())
        }
        _ => Value::hash(Hash::default()),
    };
    let certname = get("certname").map_or_else(|| node.to_owned(), |name| to_text(&name).to_string());
    let (host, domain) = match certname.split_once('.') {
        Some((host, domain)) => (host.to_owned(), Value::from(domain)),
        None => (certname.clone(), Value::UNDEF),
    };
    let entries = [
        // Only a node with a certificate has extensions.
        ("authenticated", get("authenticated").unwrap_or_else(|| "remote".into())),
        ("certname", certname.as_str().into()),
        ("extensions", extensions),
        ("hostname", get("hostname").unwrap_or_else(|| host.as_str().into())),
        ("domain", get("domain").unwrap_or(domain)),
        ("external", get("external").unwrap_or_else(|| Value::hash(Hash::default()))),
    ];
    Value::hash(entries.into_iter().map(|(name, value)| (Key::from(name), value)).collect())
}

/// The short names that Puppet has for its own extensions.
fn extension(name: &str) -> &str {
    let Some(number) = name.strip_prefix("1.3.6.1.4.1.34380.1.") else { return name };
    match number {
        "1.1" => "pp_uuid",
        "1.2" => "pp_instance_id",
        "1.3" => "pp_image_name",
        "1.4" => "pp_preshared_key",
        "1.5" => "pp_cost_center",
        "1.6" => "pp_product",
        "1.7" => "pp_project",
        "1.8" => "pp_application",
        "1.9" => "pp_service",
        "1.10" => "pp_employee",
        "1.11" => "pp_created_by",
        "1.12" => "pp_environment",
        "1.13" => "pp_role",
        "1.14" => "pp_software_version",
        "1.15" => "pp_department",
        "1.16" => "pp_cluster",
        "1.17" => "pp_provisioner",
        "1.18" => "pp_region",
        "1.19" => "pp_datacenter",
        "1.20" => "pp_zone",
        "1.21" => "pp_network",
        "1.22" => "pp_securitypolicy",
        "1.23" => "pp_cloudplatform",
        "1.24" => "pp_apptier",
        "1.25" => "pp_hostname",
        "3.1" => "pp_authorization",
        "3.13" => "pp_auth_role",
        "3.39" => "pp_cli_auth",
        _ => name,
    }
}

/// What a list of nodes says of each.
const NODE_KEYS: [&str; 3] = ["platform", "facts", "trusted"];

/// Nodes that stand in lines, each a name and, if wanted, a platform; else the line that is more, and what it is.
fn lines(text: &str) -> Result<Vec<Known>, (usize, String)> {
    let mut nodes = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(name) = words.next() else { continue };
        let platform = words.next().map(str::to_owned);
        if let Some(more) = words.next() {
            return Err((
                at + 1,
                format!("a line has the name of a node and a platform, and `{more}` is neither"),
            ));
        }
        nodes.push(Known { name: Some(name.to_owned()), platform, ..Known::default() });
    }
    Ok(nodes)
}

/// A list of nodes: lines with a name and, if wanted, a platform; or YAML or JSON, as a list of names or as a mapping
/// of names to a platform or to `platform`, `facts` and `trusted`.
pub(super) fn list(session: &Session<'_>, path: &Path) -> Result<Vec<Known>, UsageError> {
    let nodes = listed(session, path)?;
    let mut names = BTreeSet::new();
    let mut listed = nodes.iter().filter_map(|known| known.name.as_deref());
    match listed.find(|name| !names.insert(*name)) {
        Some(twice) => Err(UsageError::new(format!("{}: the node {twice} is listed twice", path.display()))),
        None if nodes.is_empty() => Err(UsageError::new(format!("{} lists no node", path.display()))),
        None => Ok(nodes),
    }
}

fn listed(session: &Session<'_>, path: &Path) -> Result<Vec<Known>, UsageError> {
    let is_data =
        path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json");
    if !is_data {
        return lines(&session.read(path)?)
            .map_err(|(line, what)| UsageError::new(format!("{}:{line}: {what}", path.display())));
    }
    let named = |name: &Value| Known { name: Some(to_text(name).to_string()), ..Known::default() };
    let wrong = |known: &Known, what: &str| {
        let name = known.name.as_deref().unwrap_or_default();
        UsageError::new(format!("{}: of the node {name}, {what}", path.display()))
    };
    match facts::read_value(session, path)?.data {
        Data::Array(names) => {
            let is_other = |name: &&Value| !matches!(name.data, Data::String(_) | Data::Integer(_));
            match names.iter().find(is_other) {
                Some(other) => Err(UsageError::new(format!(
                    "{}: `{}` is not the name of a node; a node with facts stands in a mapping of names",
                    path.display(),
                    to_text(other)
                ))),
                None => Ok(names.iter().map(named).collect()),
            }
        }
        Data::Hash(nodes) => nodes
            .iter()
            .map(|(name, about)| {
                let mut known = named(&name.0);
                match &about.data {
                    Data::String(platform) => known.platform = Some(platform.to_string()),
                    Data::Hash(about) => {
                        let get = |name: &str| about.get(&Key::from(name));
                        let hash = |name: &str| match get(name) {
                            None => Ok(Hash::default()),
                            Some(value) => value
                                .as_hash()
                                .cloned()
                                .ok_or_else(|| wrong(&known, &format!("`{name}` is a mapping"))),
                        };
                        let keys = about.keys().map(|key| to_text(&key.0));
                        if let Some(key) = keys.into_iter().find(|key| !NODE_KEYS.contains(&&**key)) {
                            let expected = NODE_KEYS.join("`, `");
                            return Err(wrong(&known, &format!("there is no `{key}`, only `{expected}`")));
                        }
                        let (facts, trusted) = (hash("facts")?, hash("trusted")?);
                        (known.facts, known.trusted) = (facts, trusted);
                        known.platform = get("platform").map(|platform| to_text(platform).to_string());
                    }
                    Data::Undef => {}
                    _ => return Err(wrong(&known, "a node has a platform, or a mapping")),
                }
                Ok(known)
            })
            .collect(),
        _ => Err(UsageError::new(format!("{}: a list of nodes is a list or a mapping", path.display()))),
    }
}
