//! One place that a newer version of Puppet treats in another way.

use std::path::PathBuf;

use setpoint_source::{Edit, Span};

/// Which change of Puppet a place is affected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The catalog becomes another one, without an error.
    LegacyFactSilent,
    LegacyFactInHierarchy,
    CatalogChanges,
    LegacyFact,
    LegacyFactInexact,
    LegacyFactInRuby,
    UnknownVariable,
    StringArithmetic,
    StrictValidation,
    DuplicateHashKey,
    DuplicateCaseDefault,
    FailsAfterwards,
    DeferredOrder,
    Hiera3,
    HieraFunction,
    Stdlib9,
    Ruby32,
    Pson,
    AgentSetting,
    To9,
}

/// How much a place matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing breaks yet.
    Advice,
    /// The code fails, or may fail, in the new version.
    Breaks,
    /// The catalog changes without an error.
    Silent,
}

impl Effect {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Breaks => "breaks",
            Self::Advice => "advice",
        }
    }
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::LegacyFactSilent => "legacy-fact-silent",
            Self::LegacyFactInHierarchy => "legacy-fact-in-hierarchy",
            Self::CatalogChanges => "catalog-changes",
            Self::LegacyFact => "legacy-fact",
            Self::LegacyFactInexact => "legacy-fact-inexact",
            Self::LegacyFactInRuby => "legacy-fact-in-ruby",
            Self::UnknownVariable => "unknown-variable",
            Self::StringArithmetic => "string-arithmetic",
            Self::StrictValidation => "strict-validation",
            Self::DuplicateHashKey => "duplicate-hash-key",
            Self::DuplicateCaseDefault => "duplicate-case-default",
            Self::FailsAfterwards => "fails-afterwards",
            Self::DeferredOrder => "deferred-order",
            Self::Hiera3 => "hiera3",
            Self::HieraFunction => "hiera-function",
            Self::Stdlib9 => "stdlib9",
            Self::Ruby32 => "ruby32",
            Self::Pson => "pson",
            Self::AgentSetting => "agent-setting",
            Self::To9 => "to-9",
        }
    }

    pub fn effect(self) -> Effect {
        match self {
            Self::LegacyFactSilent | Self::LegacyFactInHierarchy | Self::CatalogChanges => Effect::Silent,
            Self::LegacyFact
            | Self::LegacyFactInexact
            | Self::UnknownVariable
            | Self::StringArithmetic
            | Self::StrictValidation
            | Self::DuplicateHashKey
            | Self::DuplicateCaseDefault
            | Self::FailsAfterwards
            | Self::Hiera3
            | Self::Stdlib9
            | Self::Ruby32
            | Self::To9 => Effect::Breaks,
            Self::LegacyFactInRuby
            | Self::DeferredOrder
            | Self::HieraFunction
            | Self::Pson
            | Self::AgentSetting => Effect::Advice,
        }
    }
}

/// What is known about a rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// These nodes evaluate the place, and their catalogs are equal before, under 7, and after, under 8.
    Proved(Vec<String>),
    /// The rewrite has the same value by its form; no node that was compared evaluates it.
    Form,
    /// A person has to decide.
    Proposal,
}

/// A place, and what to write there.
#[derive(Debug, Clone)]
pub struct Change {
    pub kind: Kind,
    /// How much it matters: that of the kind, unless more is known.
    pub effect: Effect,
    pub path: PathBuf,
    pub span: Span,
    pub message: String,
    /// The rewrite; without one, the message says what to do.
    pub edits: Vec<Edit>,
    pub standing: Standing,
    /// Where a node must have come by to evaluate the place.
    pub(crate) reached_by: ReachedBy,
}

/// How one can tell that a node evaluated a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReachedBy {
    /// A variable was read within this place.
    Read(Span),
    /// A function read the file.
    File,
    /// Hiera read this variable.
    Data(String),
    /// No way.
    Nothing,
}

impl Change {
    pub(crate) fn new(kind: Kind, path: PathBuf, span: Span, message: impl Into<String>) -> Self {
        Self {
            kind,
            effect: kind.effect(),
            path,
            span,
            message: message.into(),
            edits: Vec::new(),
            standing: Standing::Proposal,
            reached_by: ReachedBy::Nothing,
        }
    }

    /// Replaces a place by a text of the same value.
    pub(crate) fn same(mut self, span: Span, replacement: impl Into<String>, reached_by: ReachedBy) -> Self {
        self.edits.push(Edit { span, replacement: replacement.into() });
        self.standing = Standing::Form;
        self.reached_by = reached_by;
        self
    }

    /// Proposes to replace a place.
    pub(crate) fn proposing(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.edits.push(Edit { span, replacement: replacement.into() });
        self
    }

    /// Whether `--write` applies the rewrite.
    pub fn is_applied(&self) -> bool {
        !self.edits.is_empty() && self.standing != Standing::Proposal
    }
}
