//! What stands before the first statement: facts and other top-scope variables, settings, and the node.

use std::path::Path;
use std::sync::Arc;

use setpoint_provenance::{Leaf, LeafKind, Prov};
use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_syntax::ast::HostMatch;
use setpoint_puppet_values::{Data, Hash, Key, Regex, Type, Value, to_text};
use setpoint_source::Symbol;

use crate::compiler::Compiler;
use crate::loader::DefinitionId;
use crate::options::Entry;
use crate::resources::ResourceId;
use crate::scope::{Captures, Scope, ScopeId, ScopeKind};
use crate::tags::tag_if_valid;

/// The settings of Puppet and their defaults, which may name other settings; `?` stands for one that each server has for itself.
const SETTINGS: &str = include_str!("settings.txt");

/// Settings that name others do so no deeper.
const DEEPEST_SETTING: usize = 8;

impl Compiler<'_> {
    /// Facts are variables of the top scope, and so are what a classifier and the server say.
    pub(crate) fn set_node_parameters(&mut self, entry: &Entry) {
        let options = self.options;
        let mut facts = options.facts.clone();
        if options.fact_comments {
            self.apply_fact_comments(entry, &mut facts);
        }
        let facts = self.leaves(facts, LeafKind::Fact, "");
        let server = options.server_facts.clone().unwrap_or_else(|| self.default_server_facts());
        let mut server = self.leaves(server, LeafKind::Setting, "");
        let environment = Value::string(options.environment_name(self.environment));
        let environment = self.leaf(environment, LeafKind::Setting, "environment");
        let parameters = self.leaves(options.parameters.clone(), LeafKind::External, "");
        let sets = [&parameters, &facts, &server];
        let variables: Vec<(Symbol, Value)> = sets
            .into_iter()
            .flat_map(Hash::iter)
            .filter_map(|(name, value)| Some((Symbol::new(name.as_str()?), value.clone())))
            .collect();
        let reserved = ["environment", "facts", "trusted", "server_facts"];
        for (name, value) in variables {
            if !reserved.contains(&name.as_str()) && !self.scopes[ScopeId::TOP].is_bound(name) {
                self.scopes[ScopeId::TOP].set_named(name, value);
            }
        }
        server.insert(Key::from("environment"), environment.clone());
        self.set_top("environment", environment);
        let trusted = options.trusted.clone().unwrap_or_else(|| self.default_trusted());
        let trusted = match trusted.data {
            Data::Hash(entries) => Value::hash(self.leaves(Hash::clone(&entries), LeafKind::Trusted, "")),
            _ => trusted,
        };
        let all = self.arena.leaf(Leaf { kind: LeafKind::Fact, name: None, span: None });
        let facts = Value::hash(facts).with(all);
        let server = Value::hash(server);
        self.note_incomplete(&facts, &trusted, &server);
        self.set_top("trusted", trusted);
        self.set_top("server_facts", server);
        self.set_top("facts", facts);
    }

    fn set_top(&mut self, name: &str, value: Value) {
        self.scopes[ScopeId::TOP].set_named(Symbol::new(name), value);
    }

    /// `# @FACT name=value` sets a fact for a manifest of a test suite, `# @UNFACT name` takes one away.
    fn apply_fact_comments(&self, entry: &Entry, facts: &mut Hash) {
        let read = |path: &Path| setpoint_source::read_text(self.environment.files, path).ok();
        let texts: Vec<String> = match entry {
            Entry::Code { text, .. } => vec![text.clone()],
            Entry::Files(paths) => paths.iter().filter_map(|path| read(path)).collect(),
        };
        let marked = |text: &&String| text.contains("# @FACT ") || text.contains("# @UNFACT ");
        let lines = || texts.iter().filter(marked).flat_map(|text| text.lines());
        for assignment in lines().filter_map(|line| line.strip_prefix("# @FACT ")) {
            if let Some((name, value)) = assignment.split_once('=').filter(|(name, _)| !name.contains(' ')) {
                facts.insert(Key::from(name), Value::from(value));
            }
        }
        for name in lines().filter_map(|line| line.strip_prefix("# @UNFACT ")) {
            facts.shift_remove(&Key::from(name));
        }
    }

    fn default_server_facts(&self) -> Hash {
        let version = self.options.puppet.full();
        [("serverversion", version), ("servername", self.options.node.as_str()), ("serverip", "192.0.2.10")]
            .into_iter()
            .map(|(name, value)| (Key::from(name), Value::from(value)))
            .collect()
    }

    fn default_trusted(&self) -> Value {
        let node = self.options.node.as_str();
        let (host, domain) = match node.split_once('.') {
            Some((host, domain)) => (host, Value::from(domain)),
            None => (node, Value::UNDEF),
        };
        let entries = [
            ("authenticated", Value::from("local")),
            ("certname", Value::from(node)),
            ("extensions", Value::hash(Hash::default())),
            ("hostname", Value::from(host)),
            ("domain", domain),
            ("external", Value::hash(Hash::default())),
        ];
        Value::hash(entries.into_iter().map(|(name, value)| (Key::from(name), value)).collect())
    }

    /// Gives each value, also inside, a leaf with its dotted name.
    fn leaves(&mut self, entries: Hash, kind: LeafKind, prefix: &str) -> Hash {
        if !self.arena.enabled() {
            return entries;
        }
        entries
            .into_iter()
            .map(|(key, value)| {
                let name = match key.as_str() {
                    Some(name) if prefix.is_empty() => name.to_owned(),
                    Some(name) => format!("{prefix}.{name}"),
                    None => prefix.to_owned(),
                };
                let value = self.leaf(value, kind, &name);
                (key, value)
            })
            .collect()
    }

    fn leaf(&mut self, value: Value, kind: LeafKind, name: &str) -> Value {
        if !self.arena.enabled() {
            return value;
        }
        let prov = self.arena.leaf(Leaf { kind, name: Some(Symbol::new(name)), span: None });
        match value.data {
            Data::Hash(entries) => {
                Value::hash(self.leaves(Arc::unwrap_or_clone(entries), kind, name)).with(prov)
            }
            Data::Array(items) => {
                let items = Arc::unwrap_or_clone(items).into_iter().enumerate();
                let items = items.map(|(at, item)| self.leaf(item, kind, &format!("{name}.{at}"))).collect();
                Value::array(items).with(prov)
            }
            data => Value { data, prov },
        }
    }

    /// The class `settings`, whose variables are Puppet's settings.
    pub(crate) fn evaluate_settings(&mut self) {
        self.add_class_edge(ResourceId::MAIN_STAGE, ResourceId::SETTINGS, Prov::NONE);
        let mut scope = Scope::new(ScopeKind::Class, DefinitionId::SETTINGS, ResourceId::SETTINGS);
        scope.parent = Some(ScopeId::TOP);
        scope.enclosing = Some(ScopeId::TOP);
        let scope = self.scopes.add(scope);
        let name = Symbol::new("settings");
        self.classes.insert(name);
        self.tag_catalog(&name);
        self.class_scopes.insert(name, scope);
        let strict = match self.options.strictness() {
            setpoint_puppet_functions::Strictness::Off => "off",
            setpoint_puppet_functions::Strictness::Warning => "warning",
            setpoint_puppet_functions::Strictness::Error => "error",
        };
        let modulepath: Vec<String> =
            self.environment.modulepath().iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let settings = [
            ("certname", Value::from(self.options.node.as_str())),
            ("codedir", "/etc/puppetlabs/code".into()),
            ("confdir", "/etc/puppetlabs/puppet".into()),
            ("environment", self.options.environment_name(self.environment).into()),
            ("modulepath", modulepath.join(":").into()),
            ("server", "puppet".into()),
            ("ssldir", "/etc/puppetlabs/puppet/ssl".into()),
            ("storeconfigs", false.into()),
            ("strict", strict.into()),
            ("strict_variables", self.options.unknown_variables_are_errors().into()),
            ("vardir", "/opt/puppetlabs/puppet/cache".into()),
        ];
        for (name, value) in settings {
            let value = self.leaf(value, LeafKind::Setting, name);
            self.scopes[scope].set_named(Symbol::new(name), value);
        }
        let all = self.scopes[scope]
            .visible()
            .map(|(name, value)| (Key::from(name.as_str()), value.clone()))
            .collect();
        self.scopes[scope].set_named(Symbol::new("all_local"), Value::hash(all));
    }

    /// A setting that is as Puppet has it unless it is configured.
    pub(crate) fn default_setting(&mut self, name: Symbol) -> Option<Value> {
        let value = self.default_of(name.as_str(), 0)?;
        Some(self.leaf(value, LeafKind::Setting, name.as_str()))
    }

    fn default_of(&self, name: &str, depth: usize) -> Option<Value> {
        let scope = self.class_scopes.get(&Symbol::new("settings"))?;
        if let Some(value) = self.scopes[*scope].named(Symbol::new(name)) {
            return Some(value.clone());
        }
        let mut lines = SETTINGS.lines().filter_map(|line| line.split_once(' '));
        let (_, text) = lines.find(|(known, _)| *known == name)?;
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        Some(match (text, quoted) {
            ("?", _) => Value::unknown(format!("the setting {name} is the server's own"), Type::Any),
            (_, Some(text)) if depth > DEEPEST_SETTING => Value::from(text),
            (_, Some(text)) => self.interpolated_setting(text, depth),
            ("true" | "false", _) => Value::from(text == "true"),
            _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        })
    }

    /// A setting that is made of others, as `$confdir/auth.conf`.
    fn interpolated_setting(&self, text: &str, depth: usize) -> Value {
        let mut parts = text.split('$');
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, rest) = part.split_at(end.unwrap_or(part.len()));
            match self.default_of(name, depth + 1) {
                Some(value) if value.unknown_part().is_some() => return value,
                Some(value) => result.push_str(&to_text(&value)),
                None => result.push_str(name),
            }
            result.push_str(rest);
        }
        Value::from(result)
    }

    /// The node statement that fits: by name, by regular expression, else the default.
    pub(crate) fn evaluate_node(&mut self) -> Result<(), Stop> {
        if self.definitions.nodes().is_empty() {
            return Ok(());
        }
        let Some(found) = self.matching_node()? else {
            return Err(FailureKind::NoMatchingNode { node: self.options.node.clone() }.unplaced());
        };
        let prov =
            self.arena.leaf(Leaf { kind: LeafKind::Node, name: Some(Symbol::new("name")), span: None });
        let span = self.definitions[found].span;
        let resource = self.ensure_in_catalog(found, prov, span)?;
        self.evaluate_resource(resource)?;
        self.node_scope = self.class_scopes.get(&self.definitions[found].name).copied();
        Ok(())
    }

    fn matching_node(&mut self) -> Result<Option<DefinitionId>, Stop> {
        let name: Arc<str> = self.options.node.to_lowercase().into();
        let nodes = self.definitions.nodes().to_vec();
        let by_name =
            |host: &HostMatch| matches!(host, HostMatch::Name(known) if known.to_lowercase() == *name);
        if let Some((_, found)) = nodes.iter().find(|(host, _)| by_name(host)) {
            return Ok(Some(*found));
        }
        for (host, id) in &nodes {
            let HostMatch::Regex(source) = host else { continue };
            let span = self.definitions[*id].span;
            let fail = |error: setpoint_puppet_values::ValueError| FailureKind::from(error).at(span);
            let regex = Regex::new(Arc::clone(source)).map_err(fail)?;
            if let Some(found) = regex.find(&name).map_err(fail)? {
                let groups: Captures = (0..found.groups.len())
                    .map(|at| found.group(at).map_or(Value::UNDEF, Value::from))
                    .collect();
                self.definitions[*id].captures = Some(groups);
                return Ok(Some(*id));
            }
        }
        Ok(nodes.iter().find(|(host, _)| *host == HostMatch::Default).map(|(_, id)| *id))
    }

    pub(crate) fn tag_catalog(&mut self, name: &str) {
        let mut tags = std::mem::take(&mut self.catalog_tags);
        tag_if_valid(&mut tags, name);
        self.catalog_tags = tags;
    }
}
