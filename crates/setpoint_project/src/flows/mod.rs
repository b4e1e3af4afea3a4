//! What may flow where: from untrusted facts into what root runs, from secrets into what others read, and what a policy forbids.
//!
//! The graph of provenance is walked backwards along data: copies, texts, functions. Conditions, comparisons and the choice of an
//! element are no data. A flow ends where a type, a function or a comparison with literals confines the value.

mod hierarchy;
mod sinks;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_config::Policy;
use setpoint_provenance::{Arena, Control, Leaf, LeafKind, Node, Prov, Secrecy};
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Hash, Key, Regex, Value, to_text};
use setpoint_source::{Diagnostic, Flow, FlowStep, Rule, Sources, Span};

pub(crate) use hierarchy::secrets_by_facts;
use sinks::{Reach, Sink};

/// Functions after which no shell takes a value for more than one word.
const QUOTES: &[&str] = &[
    "shellquote",
    "shell_escape",
    "stdlib::shell_escape",
    "bash_escape",
    "powershell_escape",
    "stdlib::powershell_escape",
    "batch_escape",
    "stdlib::batch_escape",
];
/// Functions whose results say neither what an attacker wrote nor what a secret is, whatever the arguments are.
const DIGESTS: &[&str] = &[
    "md5",
    "sha1",
    "sha256",
    "stdlib::sha256",
    "fqdn_rand",
    "fqdn_rand_string",
    "stdlib::fqdn_rand_string",
    "fqdn_uuid",
    "seeded_rand",
    "stdlib::seeded_rand",
    "seeded_rand_string",
    "stdlib::seeded_rand_string",
    "stdlib::crc32",
    "size",
    "length",
    "empty",
    "defined",
    "versioncmp",
    "str2bool",
    "bool2str",
    "num2bool",
    "bool2num",
    "count",
    "abs",
    "floor",
    "ceiling",
    "round",
    "max",
    "min",
    "range",
    "type",
];
/// Operations that tell whether, and not what.
const TESTS: &[&str] =
    &["==", "!=", "<", "<=", ">", ">=", "=~", "!~", "in", "and", "or", "!", "case", "match", "/", "%", "-"];

/// Looks for flows in the catalog of one node.
pub(crate) struct Flows<'a> {
    compilation: &'a Compilation,
    catalog: &'a Catalog,
    sources: &'a Sources,
    facts: &'a Hash,
    /// How secret each node is, from what was encrypted or is `Sensitive`; by number.
    secrecy: Vec<Secrecy>,
}

/// How a value came to a sink: the nodes from the source on.
struct Way {
    source: Prov,
    leaf: Option<Leaf>,
    nodes: Vec<Prov>,
}

/// Everything that flows where it should not, in the order of the catalog.
pub(crate) fn find(
    compilation: &Compilation,
    catalog: &Catalog,
    sources: &Sources,
    facts: &Hash,
    policies: &[Policy],
) -> Vec<Diagnostic> {
    if !compilation.arena.enabled() {
        return Vec::new();
    }
    let secrecy = compilation.arena.declared_secrecy();
    let flows = Flows { compilation, catalog, sources, facts, secrecy };
    let mut found = Vec::new();
    for (id, resource) in catalog.iter() {
        if sinks::is_native(resource) && (!resource.virtual_ || resource.exported) {
            flows.facts_in(id, resource, &mut found);
            flows.secrets_in(id, resource, &mut found);
        }
        if !resource.virtual_ || resource.exported {
            flows.policies_of(id, resource, policies, &mut found);
        }
    }
    found
}

impl Flows<'_> {
    fn arena(&self) -> &Arena {
        &self.compilation.arena
    }

    fn facts_in(&self, id: ResourceId, resource: &Resource, found: &mut Vec<Diagnostic>) {
        for sink in sinks::of(self.catalog, self.compilation, id, resource) {
            let Some(way) = self.fact_into(&sink, resource) else { continue };
            let fact = fact_name(way.leaf.as_ref());
            let reference = resource.reference();
            let (rule, message, help) = match sink.reach {
                _ if resource.exported => (
                    Rule::ExportRunsElsewhere,
                    format!(
                        "{reference} carries the fact {fact} in its {} to the nodes that collect it",
                        sink.name
                    ),
                    "Export data and build the command where it runs, or confine the fact by a type.",
                ),
                Reach::Command => (
                    Rule::FactInCommand,
                    format!("The fact {fact} is part of the {} of {reference}", sink.name),
                    "Confine it by a type such as `Enum` or `Pattern`, or by a `case` over literals; or use `shellquote()`, or an array \
                     as the command.",
                ),
                Reach::PrivilegedFile(what) => (
                    Rule::FactInPrivilegedFile,
                    format!("The fact {fact} is part of {reference}, {what}"),
                    "Take the value from Hiera or `$trusted`, or confine it by a type or a `case` over literals.",
                ),
            };
            found.push(self.finding(rule, message, &way, &sink, resource).with_help(help));
        }
    }

    /// The way of an untrusted fact into a sink, unless something confines it.
    fn fact_into(&self, sink: &Sink, resource: &Resource) -> Option<Way> {
        let is_fact = |_: Prov, leaf: Option<&Leaf>| leaf.is_some_and(|leaf| leaf.kind == LeafKind::Fact);
        let is_told = |at: Prov, leaf: Option<&Leaf>| {
            let value = leaf.and_then(|leaf| leaf.name).and_then(|name| self.fact(&name));
            is_fact(at, leaf) && value.is_some_and(|value| is_said(sink.text.as_deref(), &value))
        };
        let stops = |at: Prov, node: Option<&Node<'_>>| is_digest(node) || self.is_tame(at, node);
        let way = self
            .way(&sink.nodes, &is_fact, &|at, node| is_template(node) || stops(at, node))
            .or_else(|| self.way(&sink.nodes, &is_told, &stops))?;
        let name = way.leaf.and_then(|leaf| leaf.name);
        let conditions = self.conditions(resource.prov, &way);
        let is_compared = name.is_some_and(|name| {
            let value = self.fact(&name);
            conditions.iter().any(|cause| self.confines(*cause, &name, value.as_deref()))
        });
        (!is_compared).then_some(way)
    }

    /// The text of a fact by its dotted name.
    fn fact(&self, name: &str) -> Option<String> {
        let mut parts = name.split('.');
        let mut value = self.facts.get(&Key::from(parts.next()?))?;
        for part in parts {
            value = value.as_hash()?.get(&Key::from(part))?;
        }
        Some(to_text(value).to_string())
    }

    /// The conditions under which a resource is there, and those on the way of a value.
    fn conditions(&self, prov: Prov, way: &Way) -> Vec<Prov> {
        let mut work: Vec<Prov> = std::iter::once(prov).chain(way.nodes.iter().copied()).collect();
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        while let Some(at) = work.pop() {
            if at.is_none() || !seen.insert(at) || seen.len() > MOST_NODES {
                continue;
            }
            match self.arena().node(at) {
                Some(Node::Under { of, control: Control::Condition, cause, .. }) => {
                    found.push(cause);
                    work.extend([of, cause]);
                }
                Some(Node::Under {
                    of,
                    control: Control::Declaration | Control::Instance | Control::Call,
                    cause,
                    ..
                }) => {
                    work.extend([of, cause]);
                }
                Some(Node::Under { of, .. } | Node::Copy { of, .. }) => work.push(of),
                Some(Node::Operation { name, arguments, .. })
                    if matches!(name.as_str(), "resource" | "include" | "inherits" | "realize" | "and") =>
                {
                    work.extend_from_slice(arguments);
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a condition compares the fact with literals of which one is its value: in the branch that was taken it can be no other.
    fn confines(&self, cause: Prov, name: &str, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        let leaves = self.arena().made_of(cause);
        let is_about = leaves.iter().any(|(_, leaf)| {
            leaf.kind == LeafKind::Fact && leaf.name.is_some_and(|known| known.as_str() == name)
        });
        is_about
            && leaves.iter().any(|(_, leaf)| leaf.kind == LeafKind::Literal && self.is_value(leaf, value))
    }

    fn is_value(&self, leaf: &Leaf, value: &str) -> bool {
        let Some(span) = leaf.span else { return false };
        let file = self.sources.file(span.file);
        let text = file.slice(span.range).trim();
        if let Some(expression) = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')) {
            let Ok(regex) = Regex::new(expression) else { return false };
            let fits = |text: &str| regex.is_match(text).unwrap_or(true);
            return fits(value) && !setpoint_puppet::probes(value).iter().any(|probe| fits(probe));
        }
        text.trim_matches(['\'', '"']).eq_ignore_ascii_case(value)
    }

    fn secrets_in(&self, id: ResourceId, resource: &Resource, found: &mut Vec<Diagnostic>) {
        if self.secrecy.is_empty() {
            return;
        }
        let title = self.compilation.trace.resources.get(id.index()).map_or(Prov::NONE, |trace| trace.title);
        if self.is_secret(title)
            && let Some(way) = self.way_of_secret(&[title], Some(&resource.title))
        {
            let sink = Sink::new("title", vec![title], resource.span, Reach::Command);
            let message = format!("{} is in a title of {}", self.named_secret(&way), resource.type_name);
            let help = "Give the resource a plain title, and the secret to a parameter that is Sensitive.";
            found.push(self.finding(Rule::SecretInTitle, message, &way, &sink, resource).with_help(help));
        }
        for parameter in &resource.parameters {
            let mut nodes = Vec::new();
            nodes_of(&parameter.value, &mut nodes);
            nodes.retain(|node| self.is_secret(*node));
            if nodes.is_empty() {
                continue;
            }
            let Some(way) = self.way_of_secret(&nodes, text_of(&parameter.value)) else { continue };
            let sink =
                Sink::new(parameter.name.as_str(), nodes, parameter.span.or(resource.span), Reach::Command);
            let secret = self.named_secret(&way);
            let reference = resource.reference();
            let name = parameter.name;
            if resource.exported {
                let message = format!("{secret} is in the {name} of the exported {reference}");
                let help = "Let the node that collects it look the secret up itself.";
                found
                    .push(self.finding(Rule::SecretExported, message, &way, &sink, resource).with_help(help));
                continue;
            }
            if name.as_str() == "content"
                && let Some(why) = sinks::world_readable(self.catalog, resource)
            {
                let message = format!("{secret} is in {reference}, which every user may read: {why}");
                let help = "Set `mode => '0600'`, or '0640' with a group.";
                found.push(
                    self.finding(Rule::SecretWorldReadable, message, &way, &sink, resource).with_help(help),
                );
            }
            if !resource.sensitive.contains(&name) {
                let message = format!("{secret} is in the {name} of {reference}, which is not Sensitive");
                let help = "Put `Sensitive(…)` around the value; else logs, reports and PuppetDB have it.";
                found.push(
                    self.finding(Rule::SecretNotSensitive, message, &way, &sink, resource).with_help(help),
                );
            }
        }
    }

    fn is_secret(&self, prov: Prov) -> bool {
        self.secrecy.get(prov.index() as usize).is_some_and(|secrecy| *secrecy != Secrecy::Open)
    }

    /// What a secret is, in words: never what it says.
    fn named_secret(&self, way: &Way) -> String {
        match self.arena().origin(way.source) {
            Some(Leaf { kind: LeafKind::Hiera, name: Some(name), .. }) => format!("The secret {name}"),
            Some(Leaf { span: Some(span), .. }) => format!("The secret at {}", self.sources.place(span)),
            _ => "A secret".to_owned(),
        }
    }

    fn policies_of(
        &self,
        id: ResourceId,
        resource: &Resource,
        policies: &[Policy],
        found: &mut Vec<Diagnostic>,
    ) {
        let reference = resource.reference();
        for policy in policies {
            let unless: Vec<&str> = policy.unless.iter().map(|one| one.value.as_str()).collect();
            let is_source = |at: Prov, leaf: Option<&Leaf>| self.is_source(policy, at, leaf);
            let stops = |at: Prov, node: Option<&Node<'_>>| {
                let is_cleansed =
                    matches!(node, Some(Node::Operation { name, .. }) if unless.contains(&name.as_str()));
                is_cleansed || is_digest(node) || (!self.is_secret(at) && self.is_tame(at, node))
            };
            let title =
                self.compilation.trace.resources.get(id.index()).map_or(Prov::NONE, |trace| trace.title);
            let titled = std::iter::once(("title", vec![title], resource.span));
            let given = resource.parameters.iter().map(|parameter| {
                let mut nodes = Vec::new();
                nodes_of(&parameter.value, &mut nodes);
                (parameter.name.as_str(), nodes, parameter.span.or(resource.span))
            });
            for (name, nodes, span) in titled.chain(given) {
                let target = format!("{reference}.{name}");
                if !policy.to.iter().any(|to| glob_fits(&to.value, &target)) {
                    continue;
                }
                let Some(way) = self.way(&nodes, &is_source, &stops) else { continue };
                let sink = Sink::new(name, nodes, span, Reach::Command);
                let source = self.named_source(&way);
                let message =
                    format!("{source} reaches {target}, which the policy `{}` forbids", policy.name);
                let finding = self.finding(Rule::PolicyBroken, message, &way, &sink, resource);
                found.push(finding.with_label(policy.span, "the policy"));
            }
        }
    }

    fn is_source(&self, policy: &Policy, at: Prov, leaf: Option<&Leaf>) -> bool {
        policy.from.iter().any(|from| {
            if from.value == "secret" {
                return self.arena().is_declared_secret(at);
            }
            let (Some((kind, pattern)), Some(leaf)) = (from.value.split_once(':'), leaf) else {
                return false;
            };
            let of_kind = match kind {
                "fact" => leaf.kind == LeafKind::Fact,
                "trusted" => leaf.kind == LeafKind::Trusted,
                "hiera" => leaf.kind == LeafKind::Hiera,
                "file" => {
                    let path = leaf.span.map(|span| self.sources.file(span.file).path().to_owned());
                    return path.is_some_and(|path| glob_fits(pattern, &path));
                }
                _ => false,
            };
            of_kind && glob_fits(pattern, leaf.name.map_or("", |name| name.as_str()))
        })
    }

    fn named_source(&self, way: &Way) -> String {
        match way.leaf {
            Some(leaf) if leaf.kind == LeafKind::Fact => format!("The fact {}", fact_name(Some(&leaf))),
            Some(Leaf { kind: LeafKind::Trusted, name: Some(name), .. }) => {
                format!("The trusted fact {name}")
            }
            Some(Leaf { kind: LeafKind::Hiera, name: Some(name), .. }) => format!("The key {name}"),
            Some(Leaf { span: Some(span), .. }) => format!("What is written at {}", self.sources.place(span)),
            _ => "A secret".to_owned(),
        }
    }

    /// Whether no shell takes a value for a command. Quotes and types do not make a secret public.
    fn is_tame(&self, at: Prov, node: Option<&Node<'_>>) -> bool {
        let is_quoted = matches!(node, Some(Node::Operation { name, .. }) if QUOTES.contains(&name.as_str()));
        is_quoted || self.arena().is_confined(at)
    }

    /// The way of a secret into a text, if the value is one.
    fn way_of_secret(&self, to: &[Prov], text: Option<&str>) -> Option<Way> {
        let is_root = |at: Prov, _: Option<&Leaf>| self.arena().is_declared_secret(at);
        let stops = |at: Prov, node: Option<&Node<'_>>| !self.is_secret(at) || is_digest(node);
        let is_there = |text: &str| text.contains("ENC[") || self.sources.secrets().occurs_in(text);
        self.way(to, &is_root, &|at, node| is_template(node) || stops(at, node))
            .or_else(|| self.way(to, &is_root, &stops).filter(|_| text.is_none_or(is_there)))
    }

    /// The shortest way along data from a source to one of some nodes, past none that stops it.
    fn way(
        &self,
        to: &[Prov],
        is_source: &dyn Fn(Prov, Option<&Leaf>) -> bool,
        stops: &dyn Fn(Prov, Option<&Node<'_>>) -> bool,
    ) -> Option<Way> {
        let arena = self.arena();
        let mut after: BTreeMap<Prov, Prov> = BTreeMap::new();
        let mut work: VecDeque<Prov> = to.iter().map(|at| at.unchanged()).collect();
        for at in &work {
            after.insert(*at, Prov::NONE);
        }
        while let Some(at) = work.pop_front() {
            if at.is_none() || after.len() > MOST_NODES {
                continue;
            }
            let node = arena.node(at);
            let leaf = if let Some(Node::Leaf(leaf)) = &node { Some(*leaf) } else { None };
            if is_source(at, leaf.as_ref()) {
                let mut nodes = vec![at];
                let mut next = at;
                while let Some(later) = after.get(&next).copied().filter(|later| !later.is_none()) {
                    nodes.push(later);
                    next = later;
                }
                return Some(Way { source: at, leaf, nodes });
            }
            if stops(at, node.as_ref()) {
                continue;
            }
            let read: &[Prov] = match &node {
                Some(Node::Copy { of, .. } | Node::Under { of, .. }) => &[*of],
                // The key chooses; it is no part of what is chosen.
                Some(Node::Operation { name, arguments, .. }) if name.as_str() == "[]" => {
                    arguments.get(..1).unwrap_or(&[])
                }
                Some(Node::Operation { arguments, .. }) => arguments,
                _ => &[],
            };
            for next in read.iter().map(|next| next.unchanged()) {
                if let Entry::Vacant(entry) = after.entry(next) {
                    entry.insert(at);
                    work.push_back(next);
                }
            }
        }
        None
    }

    fn finding(
        &self,
        rule: Rule,
        message: String,
        way: &Way,
        sink: &Sink,
        resource: &Resource,
    ) -> Diagnostic {
        let steps = self.steps(way, sink, resource);
        let mut finding = Diagnostic::new(rule, message).with_resources([resource.reference()]);
        if let Some(span) = sink.span.or(resource.span) {
            finding = finding.at(span);
        }
        for step in &steps {
            let place = step.span.map(|span| format!(" at {}", self.sources.place(span))).unwrap_or_default();
            finding.note(format!("{}{place}", step.what));
        }
        let kind = match way.leaf {
            Some(leaf) if !self.arena().is_declared_secret(way.source) => leaf.kind.as_str(),
            _ => "secret",
        };
        let origin = self.arena().origin(way.source);
        let name = match origin {
            Some(leaf) if leaf.kind == LeafKind::Fact => fact_name(Some(&leaf)),
            Some(Leaf { name: Some(name), .. }) => name.as_str().to_owned(),
            _ => String::new(),
        };
        finding.flow = Some(Arc::new(Flow {
            source_kind: kind,
            source: name,
            source_span: origin.and_then(|leaf| leaf.span),
            resource: resource.reference(),
            parameter: sink.name.clone(),
            steps,
        }));
        finding
    }

    /// The steps from the source to the sink, in words.
    fn steps(&self, way: &Way, sink: &Sink, resource: &Resource) -> Vec<FlowStep> {
        let mut steps: Vec<FlowStep> = Vec::new();
        let mut add = |what: String, span: Option<Span>| {
            if steps.last().is_none_or(|last| last.what != what || last.span != span) {
                steps.push(FlowStep { what, span });
            }
        };
        for at in &way.nodes {
            match self.arena().node(*at) {
                Some(Node::Leaf(leaf)) => {
                    let what = match leaf.kind {
                        LeafKind::Fact => format!("from the fact {}", fact_name(Some(&leaf))),
                        LeafKind::Trusted => {
                            format!("from the trusted fact {}", leaf.name.map_or("", |name| name.as_str()))
                        }
                        LeafKind::Hiera => {
                            format!("from the key {} in the data", leaf.name.map_or("", |name| name.as_str()))
                        }
                        LeafKind::Literal => "from what is written".to_owned(),
                        kind => format!("from the {}", kind.as_str()),
                    };
                    add(what, leaf.span);
                }
                Some(Node::Copy { name: Some(name), span, .. }) => add(format!("as ${name}"), span),
                Some(Node::Operation { name, span, .. }) => {
                    let what = match name.as_str() {
                        "interpolate" => "into a string".to_owned(),
                        "array" => "into an array".to_owned(),
                        "hash" => "into a hash".to_owned(),
                        "epp" | "template" | "inline_epp" | "inline_template" => "into a template".to_owned(),
                        "[]" | "read" | "iterate" => continue,
                        name => format!("through {name}()"),
                    };
                    add(what, span);
                }
                _ => {}
            }
        }
        if steps.is_empty() {
            steps.push(FlowStep { what: "from a secret".to_owned(), span: None });
        }
        steps
            .push(FlowStep { what: format!("into {}.{}", resource.reference(), sink.name), span: sink.span });
        steps
    }
}

/// Whether a node is a text of a template. What a template only asks for, as `<% if @kernel == 'Linux' %>`, is recorded as what it writes.
fn is_template(node: Option<&Node<'_>>) -> bool {
    let Some(Node::Operation { name, .. }) = node else { return false };
    matches!(name.as_str(), "epp" | "template" | "inline_epp" | "inline_template")
}

/// Whether a value occurs in a text, as far as that is known.
fn is_said(text: Option<&str>, value: &str) -> bool {
    let is_in = |text: &str| text.to_lowercase().contains(&value.to_lowercase());
    !value.is_empty() && text.is_none_or(is_in)
}

/// The text that a value is.
pub(crate) fn text_of(value: &Value) -> Option<&str> {
    match &value.data {
        Data::String(text) => Some(text),
        Data::Sensitive(inner) => text_of(inner),
        _ => None,
    }
}

/// Whether a node says nothing of what it is made of.
fn is_digest(node: Option<&Node<'_>>) -> bool {
    let Some(Node::Operation { name, .. }) = node else { return false };
    DIGESTS.contains(&name.as_str()) || TESTS.contains(&name.as_str())
}

/// Larger graphs are cut: a flow that is longer helps nobody.
const MOST_NODES: usize = 100_000;

fn fact_name(leaf: Option<&Leaf>) -> String {
    leaf.and_then(|leaf| leaf.name)
        .map_or_else(|| "that the node may set".to_owned(), |name| name.as_str().to_owned())
}

/// The nodes of a value and of all its parts.
pub(crate) fn nodes_of(value: &Value, nodes: &mut Vec<Prov>) {
    nodes.push(value.prov);
    match &value.data {
        Data::Array(items) => items.iter().for_each(|item| nodes_of(item, nodes)),
        Data::Hash(entries) => entries.values().for_each(|entry| nodes_of(entry, nodes)),
        Data::Sensitive(inner) => nodes_of(inner, nodes),
        _ => {}
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn glob_fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::glob_fits;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, fits) in [
            ("fact:*", "fact:a", true),
            ("File[/srv/*].content", "File[/srv/www/a].content", true),
            ("File[/srv/*].content", "File[/srv/www/a].mode", false),
            ("a*b*c", "a-b-c", true),
            ("a*b", "ac", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("*", "", true),
        ] {
            assert_eq!(glob_fits(pattern, text), fits, "{pattern} {text}");
        }
    }
}
