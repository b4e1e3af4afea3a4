//! Parts of a service template that the analysis does not cover, and the words for them.
//!
//! The readers record an [`Omission`] where they pass something over. Each becomes a finding, and a reason for not knowing:
//! a topology with omissions is never proved to start.

use setpoint_source::{Diagnostic, Gap, Reason, Rule, Severity, Span, Symbol};

/// A part of a service template that was not read, not understood or has no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    pub what: Omitted,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Omitted {
    /// Text that is not well-formed, or that a limit of the reader of data cut off.
    Data(String, Rule),
    /// The file holds no service template.
    Template,
    SecondDocument,
    /// Something that the grammar does not allow, and what may help.
    Malformed(String, Option<String>),
    /// A key that drafts of TOSCA 2.0 had and some tools take, and what the standard has instead.
    Draft(String, String),
    Version(Symbol),
    Profile(Symbol),
    /// A language of another tool that looks like TOSCA.
    Dialect(Symbol),
    /// The file defines types and no topology.
    NoNodes,
    /// The file declares a topology without nodes.
    EmptyTopology,
    ProfileNotFound(String),
    ImportElsewhere(String),
    /// An import of a file that lies outside of what may be read.
    ImportOutside(String),
    ImportUnreadable {
        target: String,
        path: String,
        reason: String,
    },
    ImportLimit(usize),
    /// A repository that an import names, and nothing defines.
    Repository(Symbol),
    /// A file of an operation or an artifact that is at an address.
    ScriptElsewhere(Symbol, String),
    ScriptMissing {
        of: Symbol,
        target: String,
        path: String,
    },
    /// The orchestrator has to choose a node, and which one may matter.
    Chosen(Symbol, Symbol),
    /// A node of another type than a requirement wants.
    OtherType {
        node: Symbol,
        requirement: Symbol,
        wants: Symbol,
        target: Symbol,
        kind: Symbol,
    },
    /// The orchestrator has to find a node, and it is not sure that there is one.
    Found(Symbol, Symbol),
    /// A requirement that a node must have and that its template does not mention.
    Unassigned {
        node: Symbol,
        kind: Symbol,
        requirement: Symbol,
        wants: Option<Symbol>,
    },
    Filter(Symbol),
    /// A directive that TOSCA does not define.
    Directive(Symbol),
    Selected(Symbol),
    /// A topology shall stand for the node, and none was found.
    SubstitutedElsewhere(Symbol),
    /// The topology that shall stand for the node has no nodes, or does not say what it stands for.
    NotSubstituted(Symbol),
    /// A node of the type that the topology around it stands for.
    SubstitutedAgain(Symbol),
    /// Topologies stand for nodes inside topologies, and there are too many nodes.
    SubstitutionLimit(usize),
    /// It was not decided whether a node waits for the nodes whose attributes it needs.
    Order(Symbol),
    /// A requirement that is fulfilled where the topology stands for a node.
    PassedOn(Symbol),
    Counted(Symbol),
    Policy(Symbol),
    /// A policy that acts when an event comes.
    Triggered(Symbol),
    Workflow(Symbol),
    /// A mapping of a requirement or capability in a form that is not read.
    Mapping(Symbol),
    /// A relationship type that derives from none whose behaviour the rules describe.
    Behaviour(Symbol),
    /// The rule set does not fit the topology.
    Instance(String),
}

impl Omission {
    pub(crate) fn new(what: Omitted, span: Span) -> Self {
        Self { what, span }
    }

    /// Returns the finding that tells of it, unless another one does.
    pub(crate) fn finding(&self) -> Option<Diagnostic> {
        use Omitted as O;
        let mut finding = match &self.what {
            O::Data(..) => return None,
            O::ImportUnreadable { path, .. } => Diagnostic::new(Rule::MissingImport, self.words())
                .with_note(format!("It was looked for at {path}.")),
            O::ScriptElsewhere(..) => return None,
            O::Selected(name) => Diagnostic::new(
                Rule::NotModelled,
                format!("`{name}` exists elsewhere, and is to be found when the topology is deployed"),
            ),
            O::Found(node, requirement) => Diagnostic::new(
                Rule::NotModelled,
                format!("the orchestrator has to find a node for `{requirement}` of `{node}`"),
            ),
            O::OtherType { node, requirement, wants, target, kind } => {
                let message =
                    format!("`{node}` needs a `{wants}` for `{requirement}`, and `{target}` is a `{kind}`");
                Diagnostic::new(Rule::UnsatisfiedRequirement, message)
                    .severity(Severity::Warning)
                    .with_note("An orchestrator may refuse the topology.")
                    .with_resources([node.to_string(), target.to_string()])
            }
            O::Draft(message, help) => Diagnostic::new(Rule::MalformedTemplate, message.clone())
                .severity(Severity::Warning)
                .with_help(help.clone()),
            O::SubstitutedElsewhere(node) => Diagnostic::new(
                Rule::NotModelled,
                format!("a topology shall stand for `{node}`, and no import has one that does"),
            ),
            O::SubstitutedAgain(node) => Diagnostic::new(
                Rule::NotModelled,
                format!("`{node}` has the type that the topology around it stands for"),
            ),
            O::PassedOn(name) => Diagnostic::new(
                Rule::NotModelled,
                format!("the requirement `{name}` is fulfilled where this topology stands for a node"),
            ),
            O::Policy(name) => {
                Diagnostic::new(Rule::NotModelled, format!("what the policy `{name}` does is not modelled"))
            }
            O::Unassigned { node, kind, requirement, wants } => {
                let wants = wants.map_or(String::new(), |what| format!(" (`{what}`)"));
                Diagnostic::new(
                    Rule::UnsatisfiedRequirement,
                    format!("`{node}` needs a `{requirement}`{wants}, and nothing is named for it"),
                )
                .severity(Severity::Warning)
                .labelled(format!("a {kind} has this requirement"))
                .with_note("An orchestrator may find a node for it, or refuse the topology.")
                .with_help(format!("Add `- {requirement}: NODE` to its requirements."))
                .with_resources([node.to_string()])
            }
            O::Triggered(name) => Diagnostic::new(
                Rule::NotModelled,
                format!("what the triggers of the policy `{name}` do is not modelled"),
            ),
            // The answer is conditional: a rule on what was not read would take the condition away.
            O::ScriptMissing { of, target, path } => Diagnostic::new(
                Rule::UnknownReference,
                format!("`{of}` uses the file `{target}`, which is not there"),
            )
            .severity(Severity::Warning)
            .with_note(format!("It was looked for at {path}.")),
            O::ImportLimit(_) | O::SubstitutionLimit(_) | O::Order(_) => {
                Diagnostic::new(Rule::LimitReached, self.words())
            }
            O::NoNodes => Diagnostic::new(Rule::NothingChecked, self.words()).severity(Severity::Note),
            O::EmptyTopology => Diagnostic::new(Rule::NothingChecked, self.words()).severity(Severity::Error),
            O::Instance(_) => Diagnostic::new(Rule::MalformedInstance, self.words()),
            _ if self.gap() == Gap::Malformed => Diagnostic::new(Rule::MalformedTemplate, self.words()),
            _ => Diagnostic::new(Rule::NotModelled, self.words()),
        };
        match &self.what {
            O::Profile(_) => finding.note("Nodes of such types are joined by their requirements alone."),
            O::ImportOutside(_) => finding.help("`--allow-read DIR` permits it."),
            O::ProfileNotFound(_) => {
                finding.help("Name the folder that has it with --profile-path.");
            }
            O::Malformed(_, Some(help)) => finding.help(help.clone()),
            O::Version(_) => finding.help(format!("Known are {}.", crate::service::VERSIONS.join(", "))),
            _ => {}
        }
        Some(finding.at(self.span))
    }

    /// Returns the reason for not knowing that it is.
    pub(crate) fn reason(&self) -> Reason {
        Reason::new(self.gap(), self.words()).at(self.span)
    }

    pub(crate) fn gap(&self) -> Gap {
        use Omitted as O;
        match &self.what {
            O::Data(_, Rule::LimitReached) | O::ImportLimit(_) | O::SubstitutionLimit(_) | O::Order(_) => {
                Gap::Limit
            }
            O::Data(..)
            | O::Template
            | O::Malformed(..)
            | O::Version(_)
            | O::Repository(_)
            | O::Instance(_) => Gap::Malformed,
            O::SecondDocument
            | O::ProfileNotFound(_)
            | O::ImportElsewhere(_)
            | O::ImportOutside(_)
            | O::ImportUnreadable { .. } => Gap::Unread,
            O::ScriptElsewhere(..)
            | O::ScriptMissing { .. }
            | O::Selected(_)
            | O::Triggered(_)
            | O::Found(..)
            | O::Draft(..)
            | O::OtherType { .. }
            | O::Unassigned { .. }
            | O::SubstitutedElsewhere(_)
            | O::SubstitutedAgain(_)
            | O::PassedOn(_)
            | O::Policy(_) => Gap::Assumed,
            O::NoNodes | O::EmptyTopology => Gap::NothingEntered,
            O::Profile(_)
            | O::Dialect(_)
            | O::Behaviour(_)
            | O::Mapping(_)
            | O::Chosen(..)
            | O::Filter(_)
            | O::Directive(_)
            | O::NotSubstituted(_)
            | O::Counted(_)
            | O::Workflow(_) => Gap::NotModelled,
        }
    }

    /// Returns the node that it is about.
    pub(crate) fn node(&self) -> Option<Symbol> {
        use Omitted as O;
        match &self.what {
            O::Chosen(node, _)
            | O::Found(node, _)
            | O::OtherType { node, .. }
            | O::Unassigned { node, .. }
            | O::SubstitutedElsewhere(node)
            | O::Filter(node)
            | O::Directive(node)
            | O::Selected(node)
            | O::NotSubstituted(node)
            | O::SubstitutedAgain(node)
            | O::Order(node)
            | O::Counted(node)
            | O::ScriptElsewhere(node, _)
            | O::ScriptMissing { of: node, .. } => Some(*node),
            _ => None,
        }
    }

    fn words(&self) -> String {
        use Omitted as O;
        match &self.what {
            O::Data(message, _) | O::Instance(message) | O::Malformed(message, _) => message.clone(),
            O::Template => "this file holds no service template".to_owned(),
            O::SecondDocument => "a second YAML document begins here, and only the first is read".to_owned(),
            O::Version(version) => format!("`{version}` is not a version of TOSCA that is known here"),
            O::Profile(version) => format!("the types of the profile `{version}` are not known here"),
            O::NoNodes => "there is no topology with nodes in this file: nothing can start".to_owned(),
            O::EmptyTopology => "this topology has no nodes: nothing can start".to_owned(),
            O::Mapping(name) => format!("the mapping of `{name}` is not modelled in this form"),
            O::Behaviour(kind) => {
                format!("what a `{kind}` waits for is not known; it is taken for a dependency")
            }
            O::Dialect(version) => {
                format!("`{version}` is a language of its own, of which only the topology is read")
            }
            O::ProfileNotFound(name) => format!("the profile `{name}` was not found"),
            O::ImportElsewhere(target) => {
                format!(
                    "the import `{target}` was not read: it is not in this folder, and nothing is fetched"
                )
            }
            O::ImportOutside(target) => {
                format!("the import `{target}` was not read: it lies outside of the inputs")
            }
            O::Repository(name) => format!("the repository `{name}` is not defined"),
            O::ScriptElsewhere(of, target) | O::ScriptMissing { of, target, .. } => {
                format!("`{target}`, which `{of}` uses, is there when it is deployed")
            }
            O::ImportUnreadable { target, reason, .. } => {
                format!("the import `{target}` cannot be read: {reason}")
            }
            O::ImportLimit(limit) => format!("there are more than {limit} imports"),
            O::Chosen(node, requirement) => {
                format!("the orchestrator has to find a node for `{requirement}` of `{node}`")
            }
            O::Found(node, requirement) | O::Unassigned { node, requirement, .. } => {
                format!("a node is found for `{requirement}` of `{node}`")
            }
            O::OtherType { node, requirement, target, .. } => {
                format!("an orchestrator takes `{target}` for `{requirement}` of `{node}`")
            }
            O::Draft(message, _) => format!("a tool takes what only drafts of TOSCA 2.0 had: {message}"),
            O::SubstitutedElsewhere(node) => {
                format!("a topology that stands for `{node}` is found, and starts")
            }
            O::Filter(node) => format!("a filter chooses a node for `{node}` when the topology is deployed"),
            O::Directive(node) => format!("`{node}` has a directive that TOSCA does not define"),
            O::Selected(node) => format!("`{node}`, which exists elsewhere, is found and runs"),
            O::NotSubstituted(node) => {
                format!("the topology that shall stand for `{node}` has no nodes")
            }
            O::SubstitutedAgain(node) => {
                format!("`{node}` is a node itself, though the topology around it stands for its type")
            }
            O::SubstitutionLimit(limit) => {
                format!("with the topologies that stand for nodes there are more than {limit} nodes")
            }
            O::Order(node) => {
                format!("it was not decided whether `{node}` waits for the nodes whose attributes it needs")
            }
            O::PassedOn(name) => {
                format!("the requirement `{name}` is fulfilled where this topology stands for a node")
            }
            O::Policy(name) => format!("the policy `{name}` does not change the order of the set-up"),
            O::Counted(name) => format!("`{name}` may stand for several nodes or none"),
            O::Triggered(name) => {
                format!("no trigger of the policy `{name}` acts before all nodes have started")
            }
            O::Workflow(name) => format!("the workflow `{name}` is not modelled"),
        }
    }
}
