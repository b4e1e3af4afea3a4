//! Failures of evaluation as data: what failed, where, and whose fault it is. `words` puts them into Puppet's words.

mod sought;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use setpoint_puppet_values::types::ParameterMismatch;
use setpoint_puppet_values::{Opaque, ValueError};
use setpoint_source::{Diagnostic, Label, Rule, Span, Symbol};

pub use sought::{MissingModule, Sought, SoughtPlace};

use crate::Stop;

/// A failure of evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    /// The innermost place that is known.
    pub span: Option<Span>,
    /// Places that the failure passed on its way out, such as the call that rendered a template.
    pub labels: Vec<Label>,
}

impl Failure {
    pub fn add_label(&mut self, span: Span, text: impl Into<String>) {
        self.labels.push(Label { span, text: text.into() });
    }

    /// Places the failure at `span`, or labels `span` if an inner place is known already.
    pub fn place_or_label(&mut self, span: Span, text: impl FnOnce() -> String) {
        match self.span {
            None => self.span = Some(span),
            Some(known) if known == span => {}
            Some(_) => self.add_label(span, text()),
        }
    }
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Self {
        Self { kind, span: None, labels: Vec::new() }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        let span = diagnostic.span;
        Self { span, ..FailureKind::Reported(Box::new(diagnostic)).into() }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Error(Box::new(failure))
    }
}

/// The owner of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// A class, or an instance of a definition.
    Resource { type_name: Symbol, title: Arc<str> },
    /// A function, a lambda or a template, by the name that messages give it.
    Code(Arc<str>),
}

impl Callee {
    /// Whether this is the class of that name, in any case.
    pub fn is_class(&self, name: &str) -> bool {
        matches!(self, Self::Resource { type_name, title }
            if type_name.as_str() == "Class" && title.eq_ignore_ascii_case(name.trim_start_matches("::")))
    }
}

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource { type_name, title } => write!(f, "{type_name}[{title}]"),
            Self::Code(name) => f.write_str(name),
        }
    }
}

/// A place that a message names: the span, and `(file: a.pp, line: 3)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub span: Span,
    pub text: String,
}

/// What failed, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum FailureKind {
    /// An error that another stage has put into words: the parser, or the program around the compiler.
    Reported(Box<Diagnostic>),
    /// A template that cannot be parsed, with the parser's error.
    InvalidTemplate {
        function: &'static str,
        error: Box<Diagnostic>,
    },

    /// A class, definition or template lacks a value for a parameter.
    MissingParameter {
        of: Callee,
        parameters: Vec<Arc<str>>,
        /// All that is wrong with its parameters.
        mismatches: String,
        /// The data files that were searched, by parameter.
        searched: Vec<(Symbol, Vec<PathBuf>)>,
    },
    /// A class, definition or template is given a parameter that it does not have.
    UnexpectedParameter {
        of: Callee,
        parameters: Vec<Arc<str>>,
        mismatches: String,
    },
    /// The default of a parameter reads one that has no value yet.
    UnevaluatedParameter {
        of: Callee,
        parameter: Symbol,
        /// The parameter whose default is evaluated, if `parameter` comes after it.
        default_of: Option<Symbol>,
    },
    /// A resource of a native type is given an attribute that the type does not have.
    UnknownAttribute {
        resource: String,
        attribute: Symbol,
        given_at: Option<Span>,
        near: Option<String>,
    },
    /// `File['/a']['x']` of a resource that has no such parameter.
    NoSuchParameter {
        resource: String,
        parameter: String,
    },
    /// A value does not fit the type of a parameter, argument or result.
    WrongType {
        of: Typed,
        mismatch: String,
    },
    MissingArgument {
        parameter: Symbol,
    },
    TooFewArguments {
        function: Symbol,
        given: usize,
        least: usize,
        interface: Interface,
    },
    NotAType {
        actual: String,
    },
    InvalidTypeText(String),
    /// A parameter without a default after one that has a default.
    ParameterOrder {
        parameter: Symbol,
    },
    MetaparameterName {
        parameter: Symbol,
        definition: Symbol,
    },

    UnknownVariable {
        name: Symbol,
    },
    ReassignedVariable {
        name: Symbol,
        is_built_in: bool,
    },
    IllegalAssignment(IllegalAssignment),

    /// An operator, a conversion or a pattern has no result, in the words of `setpoint_puppet_values`.
    InvalidOperation(String),
    NoMatchingOption {
        value: String,
    },
    InvalidJson {
        error: String,
    },
    IllegalConstruct(IllegalConstruct),
    IllegalJump {
        function: &'static str,
    },
    IllegalArgument(IllegalArgument),
    /// What Puppet takes for a mistake if it is strict, and otherwise warns about.
    Questionable(Questionable),

    UnknownClass {
        name: String,
        wanted: ClassUse,
        sought: Sought,
    },
    UnknownResourceType {
        name: String,
        wanted: TypeUse,
        sought: Sought,
    },
    UnknownFunction {
        name: Symbol,
        caller: Caller,
        sought: Sought,
    },
    MissingFile {
        name: String,
        wanted: FileUse,
        sought: Vec<Sought>,
    },
    UnreadableFile {
        error: String,
    },
    MisplacedCode(MisplacedCode),
    NoMatchingNode {
        node: String,
    },

    InvalidTitle(InvalidTitle),
    DuplicateDeclaration {
        resource: String,
        first: Option<Place>,
    },
    DuplicateAlias {
        resource: String,
        alias: String,
        /// The known resource as Puppet keeps it: `["File", "/a"]`.
        key: String,
        known: String,
        at: Option<Place>,
        first: Option<Place>,
    },
    DuplicateDefinition {
        name: Symbol,
        known: DefinitionSort,
        new: DefinitionSort,
        first: Option<Place>,
    },
    DuplicateParameter {
        parameter: Symbol,
        resource: String,
    },
    DefaultRedefined {
        type_name: Symbol,
        parameter: Symbol,
    },
    /// Code of another class, which does not inherit, overrides parameters.
    ForeignOverride {
        resource: String,
        declared: Option<Span>,
    },
    ParameterAlreadySet {
        resource: String,
        parameter: Symbol,
        /// What set it: `Class[a]`, `b`, `Node[c]`.
        by: Option<String>,
        first: Option<Place>,
    },
    DanglingReference(DanglingReference),
    StageOfResource {
        resource: String,
    },
    InvalidTag(String),
    /// Classes that inherit from each other, the first one again at the end.
    InheritanceCycle(Vec<String>),

    HieraError {
        message: String,
        /// The code that asked, if the failure is placed in a configuration.
        asked_at: Option<Span>,
    },
    /// `lookup()` finds no value and has no default.
    MissingKey {
        names: Vec<String>,
        searched: Vec<PathBuf>,
        by: KeyUse,
    },
    /// `not_found()` of a lookup context ends the function that Hiera has called.
    NoSuchKey,

    /// The manifest calls `fail()` with this text.
    FailCalled(String),
    /// `assert_private()` refuses a caller of another module.
    Private {
        /// `Class a` or `Definition b`.
        definition: Option<String>,
        message: Option<String>,
    },
    WrongArguments(String),
    /// A function has no result for its arguments, in the function's own words.
    FunctionFailed(String),

    /// Something is decided by a value that Setpoint cannot compute.
    UnknownValue {
        used: UnknownUse,
        reason: String,
    },
    /// A function does what is never done while checking.
    UnsupportedFunction(String),
    /// A template goes beyond what Setpoint knows of Ruby.
    UnsupportedTemplate {
        name: String,
        reason: String,
    },
    LimitReached(ReachedLimit),
    /// The operating system refuses a thread for the compilation.
    NoThread {
        error: String,
    },
    /// An invariant of Setpoint does not hold.
    BrokenInvariant(&'static str),
}

/// What has a type that a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Parameters(Callee),
    Arguments(Arc<str>),
    Result(Arc<str>),
    /// What `setpoint lookup --type` found.
    FoundData,
}

/// Puppet's two interfaces of functions; the older one has other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    Present,
    Older,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IllegalAssignment {
    OtherNamespace(Symbol),
    MatchVariable(Symbol),
    ReservedName { name: Symbol, is_bound: bool },
    WhileEvaluatingParameters(Symbol),
    NotAssignable,
    MissingKey(String),
    MissingClassVariable(String),
    WrongCount { expected: usize, given: usize },
    RemovedOperator(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IllegalConstruct {
    /// A language construct that Puppet has for plans only.
    NotInCatalogs(String),
    Lambda,
    Unparsed,
    Callee,
    Iterator,
    ResourceType {
        actual: String,
    },
    SplatOf {
        actual: String,
    },
    OverrideOf {
        actual: String,
    },
    UntitledReference {
        shown: String,
    },
    CollectorWithoutType,
    CollectedClass,
    Query,
    QueryOperator,
    NumberAsTag,
    RelationshipWith {
        operand: String,
    },
    AttributeTwice(Symbol),
}

/// An argument that a function of the catalog does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IllegalArgument {
    ClassName { actual: String },
    ClassReference { actual: String },
    UnspecificClass,
    AnyResourceType,
    AnyClass,
    NotDefinable { actual: String },
    CreateResourcesCount { given: usize },
    CreateResourcesInstances,
    CreateResourcesDefaults,
    CreateResourcesParameters { title: String, actual: String },
    VirtualClass,
    TemplateArguments { function: &'static str, actual: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Questionable {
    UnknownVariable(Symbol),
    OverrideOfEvaluated { declared: Option<Place> },
}

/// How a class is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassUse {
    Included { node: String },
    Declared,
    Inherited { environment: String },
}

/// How a type of resources is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeUse {
    Named,
    Declared,
    Collected,
}

/// Who calls a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Manifest,
    Function,
    RubyFunction(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    File,
    BinaryFile,
    Template,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    Function,
    Command,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MisplacedCode {
    Construct { label: &'static str },
    Name { name: Symbol, path: String },
    OtherAlias { path: PathBuf, expected: Symbol, actual: Symbol },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidTitle {
    SecondDefault,
    Undef,
    UndefAt(usize),
    EmptyAt(usize),
    WrongType {
        index: usize,
        actual: String,
    },
    Repeated(Arc<str>),
    /// No pattern of the native type takes the title apart.
    NoPattern(Arc<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionSort {
    Class,
    Definition,
    Node,
    Function,
    TypeAlias,
    /// A data type of Puppet itself.
    BuiltinType,
}

/// A reference to a resource that nothing declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DanglingReference {
    Read { reference: String },
    Overridden(Vec<(String, Span)>),
    Realized(Vec<String>),
    RelationshipSource { missing: String, target: String },
    RelationshipTarget { missing: String, source: String },
    Parameter { missing: String, parameter: Symbol, resource: String },
    Stage { missing: String, class: String },
}

/// What an unknown value is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownUse {
    /// A condition, a title, the subject of a `case`.
    Decision,
    ClassName,
    Block {
        function: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReachedLimit {
    /// Setpoint's bound on nested expressions and calls.
    Nesting,
    /// Puppet's own bound on rounds of collectors and definitions, with an instance that still waits.
    Rounds { waiting: Option<String> },
    /// Setpoint's bound on the size of a value, a loop or a catalog, in a sentence that names it.
    Size(String),
}

impl FailureKind {
    /// The failure at a place. Without one, the expression that is evaluated gives it its own.
    pub fn at(self, span: impl Into<Option<Span>>) -> Stop {
        Failure { span: span.into(), ..self.into() }.into()
    }

    /// Something is decided by a value that is not known.
    pub fn undecided(unknown: &Opaque) -> Self {
        Self::UnknownValue { used: UnknownUse::Decision, reason: unknown.reason.to_string() }
    }

    /// The failure without a place.
    pub fn unplaced(self) -> Stop {
        self.at(None)
    }

    /// The failure of parameters that do not fit: a missing one counts before one that is not known, and that before a
    /// value of the wrong type.
    pub fn of_parameters(of: Callee, found: ParameterMismatch) -> Self {
        let ParameterMismatch { missing, unexpected, message: mismatches } = found;
        if !missing.is_empty() {
            Self::MissingParameter { of, parameters: missing, mismatches, searched: Vec::new() }
        } else if !unexpected.is_empty() {
            Self::UnexpectedParameter { of, parameters: unexpected, mismatches }
        } else {
            Self::WrongType { of: Typed::Parameters(of), mismatch: mismatches }
        }
    }

    /// Whether Setpoint, not the code, is at fault: Puppet may well go on here.
    pub fn is_limit_of_setpoint(&self) -> bool {
        let is_unsupported = matches!(
            self,
            Self::UnknownValue { .. }
                | Self::UnsupportedFunction(_)
                | Self::UnsupportedTemplate { .. }
                | Self::NoThread { .. }
                | Self::BrokenInvariant(_)
        );
        is_unsupported || self.is_bound_of_setpoint() || self.needs_installation()
    }

    /// Whether nothing can be looked at after it: all that follows would reach the same bound.
    pub fn ends_compilation(&self) -> bool {
        matches!(
            self,
            Self::LimitReached(_)
                | Self::NoThread { .. }
                | Self::BrokenInvariant(_)
                | Self::IllegalJump { .. }
        ) || self.is_bound_of_setpoint()
    }

    /// Whether it hangs on what other code has made, or has not: code that nobody looked at may change it.
    pub fn hangs_on_other_code(&self) -> bool {
        matches!(
            self,
            Self::DanglingReference(_)
                | Self::UnknownVariable { .. }
                | Self::ReassignedVariable { .. }
                | Self::MissingParameter { .. }
        )
    }

    /// Whether it hangs on what the node is: code refuses a machine, or lacks a value that its data may have.
    pub fn hangs_on_facts(&self) -> bool {
        matches!(
            self,
            Self::FailCalled(_)
                | Self::MissingParameter { .. }
                | Self::MissingKey { .. }
                | Self::NoMatchingOption { .. }
        )
    }

    /// Whether it may hang on the system that the node has: a value that it lacks or has otherwise is given to something else.
    pub fn may_hang_on_system(&self) -> bool {
        self.hangs_on_facts()
            || matches!(
                self,
                Self::InvalidOperation(_)
                    | Self::WrongArguments(_)
                    | Self::WrongType { .. }
                    | Self::FunctionFailed(_)
                    | Self::InvalidTitle(_)
            )
    }

    /// Whether it is about texts, whatever the node is.
    pub fn is_about_texts(&self) -> bool {
        matches!(
            self,
            Self::Reported(_)
                | Self::InvalidTemplate { .. }
                | Self::DuplicateDefinition { .. }
                | Self::MisplacedCode(_)
                | Self::UnreadableFile { .. }
                | Self::NoMatchingNode { .. }
                | Self::InheritanceCycle(_)
        )
    }

    /// Whether what is missing may be in a module that the project names and that is not installed here.
    pub fn needs_installation(&self) -> bool {
        match self {
            Self::UnknownClass { sought, .. }
            | Self::UnknownResourceType { sought, .. }
            | Self::UnknownFunction { sought, .. } => sought.may_be_installed(),
            Self::MissingFile { sought, .. } => sought.iter().any(Sought::may_be_installed),
            _ => false,
        }
    }

    /// Whether a bound on depth or size ended the work, which Puppet may not have.
    pub fn is_bound_of_setpoint(&self) -> bool {
        match self {
            Self::LimitReached(ReachedLimit::Nesting | ReachedLimit::Size(_)) => true,
            Self::Reported(diagnostic) | Self::InvalidTemplate { error: diagnostic, .. } => {
                diagnostic.rule.is_limit()
            }
            _ => false,
        }
    }

    /// The class, instance or code that lacks a value for a parameter.
    pub fn lacks_parameter(&self) -> Option<&Callee> {
        match self {
            Self::MissingParameter { of, .. } | Self::UnevaluatedParameter { of, default_of: None, .. } => {
                Some(of)
            }
            _ => None,
        }
    }

    /// The module that has what is missing, if it is known not to be on the module path.
    pub fn missing_module(&self) -> Option<&str> {
        match self {
            Self::UnknownClass { sought, .. }
            | Self::UnknownResourceType { sought, .. }
            | Self::UnknownFunction { sought, .. } => sought.missing_module(),
            Self::MissingFile { sought, .. } => sought.iter().find_map(Sought::missing_module),
            _ => None,
        }
    }

    /// The rule that the failure breaks.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Reported(diagnostic) | Self::InvalidTemplate { error: diagnostic, .. } => diagnostic.rule,
            Self::MissingParameter { .. }
            | Self::UnexpectedParameter { .. }
            | Self::WrongType { .. }
            | Self::MissingArgument { .. }
            | Self::TooFewArguments { .. }
            | Self::NotAType { .. }
            | Self::IllegalArgument(IllegalArgument::NotDefinable { .. }) => Rule::TypeMismatch,
            Self::UnevaluatedParameter { .. } => Rule::UnevaluatedParameter,
            Self::UnknownAttribute { .. } | Self::NoSuchParameter { .. } => Rule::UnknownParameter,
            Self::UnknownVariable { .. } => Rule::UnknownVariable,
            Self::ReassignedVariable { .. } => Rule::ReassignedVariable,
            Self::InvalidTypeText(_)
            | Self::ParameterOrder { .. }
            | Self::MetaparameterName { .. }
            | Self::IllegalAssignment(_)
            | Self::InvalidOperation(_)
            | Self::NoMatchingOption { .. }
            | Self::InvalidJson { .. }
            | Self::IllegalConstruct(_)
            | Self::IllegalJump { .. }
            | Self::IllegalArgument(_)
            | Self::DuplicateParameter { .. }
            | Self::StageOfResource { .. }
            | Self::InvalidTag(_)
            | Self::InvalidTitle(InvalidTitle::NoPattern(_))
            | Self::NoThread { .. }
            | Self::BrokenInvariant(_) => Rule::EvaluationError,
            Self::Questionable(_) => Rule::QuestionableConstruct,
            Self::UnknownClass { .. } => Rule::UnknownClass,
            Self::UnknownResourceType { .. } => Rule::UnknownResourceType,
            Self::UnknownFunction { .. } => Rule::UnknownFunction,
            Self::UnreadableFile { .. } => Rule::UnreadableFile,
            Self::MisplacedCode(_) => Rule::MisplacedCode,
            Self::NoMatchingNode { .. } => Rule::NoMatchingNode,
            Self::InvalidTitle(_) => Rule::InvalidTitle,
            Self::DuplicateDeclaration { .. } | Self::DuplicateAlias { .. } => Rule::DuplicateDeclaration,
            Self::DuplicateDefinition { .. } => Rule::DuplicateDefinition,
            Self::DefaultRedefined { .. } => Rule::DefaultRedefined,
            Self::ForeignOverride { .. } | Self::ParameterAlreadySet { .. } => Rule::OverrideNotAllowed,
            Self::DanglingReference(_) => Rule::DanglingReference,
            Self::LimitReached(ReachedLimit::Size(_)) => Rule::LimitReached,
            Self::InheritanceCycle(_) | Self::LimitReached(_) => Rule::EndlessEvaluation,
            Self::HieraError { .. } | Self::MissingKey { by: KeyUse::Command, .. } => Rule::HieraError,
            Self::NoSuchKey => Rule::NoSuchKey,
            Self::FailCalled(_) => Rule::FailCalled,
            Self::MissingFile { .. }
            | Self::MissingKey { .. }
            | Self::Private { .. }
            | Self::FunctionFailed(_) => Rule::FunctionFailed,
            Self::WrongArguments(_) => Rule::WrongArguments,
            Self::UnknownValue { .. } => Rule::UnknownValue,
            Self::UnsupportedFunction(_) | Self::UnsupportedTemplate { .. } => Rule::UnsupportedFunction,
        }
    }
}

impl From<ValueError> for FailureKind {
    fn from(error: ValueError) -> Self {
        if error.is_limit {
            return Self::LimitReached(ReachedLimit::Size(error.message));
        }
        Self::InvalidOperation(error.message)
    }
}
