//! Every rule: the kinds of findings, with their names, classes and explanations.
//!
//! A rule's name is a promise to users: baselines and suppressions hold it. A rule that gets a better name keeps the old one as
//! an alias. This crate is the one list of names; it stands below all others and knows no finding, no input and no printer.

mod flows;
mod inputs;
mod orchestration;
mod puppet;
mod runs;
mod smartfrog;

/// How much a finding matters. Ordered: a note is less than a warning, a warning less than an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding of a rule says about the input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Something is wrong with what the input describes.
    Defect,
    /// Something was not read, not modelled or not decided.
    Open,
    /// Something was taken for granted that the input does not say.
    Assumption,
    /// The text of the input is not well-formed.
    Syntax,
}

/// The data behind a [`Rule`].
#[derive(Debug, PartialEq, Eq)]
struct About {
    /// Lower case, words joined by `-`.
    name: &'static str,
    /// Names that it had before.
    aliases: &'static [&'static str],
    severity: Severity,
    class: Class,
    /// One sentence without a full stop.
    summary: &'static str,
    /// Markdown: what is wrong, why it matters, an example that has it, and how to mend it.
    explanation: &'static str,
}

macro_rules! rules {
    ($($variant:ident = $module:ident :: $about:ident,)*) => {
        /// A kind of finding. `setpoint explain NAME` prints its explanation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $($variant,)*
        }

        impl Rule {
            /// Every rule, by theme.
            pub const ALL: &[Rule] = &[$(Rule::$variant,)*];

            fn about(self) -> &'static About {
                match self {
                    $(Self::$variant => &$module::$about,)*
                }
            }
        }
    };
}

impl Rule {
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// The names that the rule had before; suppressions and baselines may still use them.
    pub fn aliases(self) -> &'static [&'static str] {
        self.about().aliases
    }

    /// The severity of its findings, unless one says otherwise.
    pub fn severity(self) -> Severity {
        self.about().severity
    }

    pub fn class(self) -> Class {
        self.about().class
    }

    /// One sentence without a full stop.
    pub fn summary(self) -> &'static str {
        self.about().summary
    }

    /// Markdown: what is wrong, why it matters, an example that has it, and how to mend it.
    pub fn explanation(self) -> &'static str {
        self.about().explanation
    }

    /// Whether a finding of this rule says that a limit of Setpoint ended the work: that is no mistake of the input.
    pub fn is_limit(self) -> bool {
        matches!(self, Self::LimitReached | Self::NestedTooDeep | Self::SmartfrogLimit)
    }

    /// Whether a finding of this rule says that a part of the input was not read.
    pub fn leaves_unread(self) -> bool {
        let is_unread = matches!(
            self,
            Self::BadArchive
                | Self::MissingImport
                | Self::NestedStack
                | Self::NothingChecked
                | Self::SmartfrogInclude
                | Self::UnreadableFile
        );
        is_unread || self.is_limit()
    }

    /// Whether a finding of this rule may be silenced by a comment or a baseline. What is not well-formed or does not compile was
    /// not checked, so that silencing it would hide more than a finding; nor is there any silence about silencing.
    pub fn may_be_silenced(self, severity: Severity) -> bool {
        let says_nothing_was_checked = self.class() == Class::Syntax
            || matches!(
                self,
                Self::NothingChecked | Self::AllowWithoutReason | Self::UnusedAllow | Self::StaleBaseline
            );
        !(says_nothing_was_checked || (severity == Severity::Error && self.stops_compilation()))
    }

    /// Whether an error of this rule means that there is no catalog, tree or graph, or none that anybody would apply.
    fn stops_compilation(self) -> bool {
        matches!(
            self,
            Self::EvaluationError
                | Self::UnknownVariable
                | Self::ReassignedVariable
                | Self::UnknownFunction
                | Self::UnknownClass
                | Self::UnknownResourceType
                | Self::DuplicateDeclaration
                | Self::DuplicateDefinition
                | Self::UnknownParameter
                | Self::DanglingReference
                | Self::DependencyCycle
                | Self::InvalidResource
                | Self::OverrideNotAllowed
                | Self::DefaultRedefined
                | Self::TypeMismatch
                | Self::UnevaluatedParameter
                | Self::MisplacedCode
                | Self::NoMatchingNode
                | Self::EndlessEvaluation
                | Self::InvalidTitle
                | Self::QuestionableConstruct
                | Self::HieraError
                | Self::WrongArguments
                | Self::FunctionFailed
                | Self::FailCalled
                | Self::UnsupportedFunction
                | Self::UnknownValue
                | Self::NoSuchKey
                | Self::MissingModules
                | Self::UnreadableFile
                | Self::InvalidData
                | Self::DuplicateKey
                | Self::SmartfrogInclude
                | Self::SmartfrogCompile
                | Self::SmartfrogLimit
                | Self::MalformedTemplate
                | Self::ModelNames
                | Self::MissingImport
                | Self::BadArchive
        )
    }

    /// Returns the rule with a name or an alias.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name || rule.aliases().contains(&name))
    }
}

rules! {
    Message = inputs::MESSAGE,
    EmptyCollector = inputs::EMPTY_COLLECTOR,
    UnknownEnvironmentSetting = inputs::UNKNOWN_ENVIRONMENT_SETTING,
    NotEntered = inputs::NOT_ENTERED,
    AssumedHierarchy = inputs::ASSUMED_HIERARCHY,
    AssumedPlatform = inputs::ASSUMED_PLATFORM,
    MissingModules = inputs::MISSING_MODULES,
    UnknownEnvironment = inputs::UNKNOWN_ENVIRONMENT,
    OtherEnvironment = inputs::OTHER_ENVIRONMENT,
    UnreadableFile = inputs::UNREADABLE_FILE,
    InvalidData = inputs::INVALID_DATA,
    DuplicateKey = inputs::DUPLICATE_KEY,
    InvalidSetting = inputs::INVALID_SETTING,
    UnknownSetting = inputs::UNKNOWN_SETTING,
    NothingChecked = inputs::NOTHING_CHECKED,
    LimitReached = inputs::LIMIT_REACHED,
    FindingsInModules = inputs::FINDINGS_IN_MODULES,
    AllowWithoutReason = inputs::ALLOW_WITHOUT_REASON,
    UnusedAllow = inputs::UNUSED_ALLOW,
    StaleBaseline = inputs::STALE_BASELINE,
    SyntaxError = puppet::SYNTAX_ERROR,
    InvalidCode = puppet::INVALID_CODE,
    NestedTooDeep = puppet::NESTED_TOO_DEEP,
    UnsupportedSyntax = puppet::UNSUPPORTED_SYNTAX,
    UnknownEscape = puppet::UNKNOWN_ESCAPE,
    ReservedName = puppet::RESERVED_NAME,
    EvaluationError = puppet::EVALUATION_ERROR,
    UnknownVariable = puppet::UNKNOWN_VARIABLE,
    ReassignedVariable = puppet::REASSIGNED_VARIABLE,
    UnknownFunction = puppet::UNKNOWN_FUNCTION,
    UnknownClass = puppet::UNKNOWN_CLASS,
    UnknownResourceType = puppet::UNKNOWN_RESOURCE_TYPE,
    DuplicateDeclaration = puppet::DUPLICATE_DECLARATION,
    DuplicateDefinition = puppet::DUPLICATE_DEFINITION,
    UnknownParameter = puppet::UNKNOWN_PARAMETER,
    DanglingReference = puppet::DANGLING_REFERENCE,
    OverrideNotAllowed = puppet::OVERRIDE_NOT_ALLOWED,
    DefaultRedefined = puppet::DEFAULT_REDEFINED,
    TypeMismatch = puppet::TYPE_MISMATCH,
    UnevaluatedParameter = puppet::UNEVALUATED_PARAMETER,
    MisplacedCode = puppet::MISPLACED_CODE,
    NoMatchingNode = puppet::NO_MATCHING_NODE,
    EndlessEvaluation = puppet::ENDLESS_EVALUATION,
    InvalidTitle = puppet::INVALID_TITLE,
    QuestionableConstruct = puppet::QUESTIONABLE_CONSTRUCT,
    HieraError = puppet::HIERA_ERROR,
    WrongArguments = puppet::WRONG_ARGUMENTS,
    FunctionFailed = puppet::FUNCTION_FAILED,
    FailCalled = puppet::FAIL_CALLED,
    UnsupportedFunction = puppet::UNSUPPORTED_FUNCTION,
    UnknownValue = puppet::UNKNOWN_VALUE,
    NoSuchKey = puppet::NO_SUCH_KEY,
    DependencyCycle = runs::DEPENDENCY_CYCLE,
    InvalidResource = runs::INVALID_RESOURCE,
    InvalidCatalog = runs::INVALID_CATALOG,
    MissingOrder = runs::MISSING_ORDER,
    Diverges = runs::DIVERGES,
    Contradiction = runs::CONTRADICTION,
    NotIdempotent = runs::NOT_IDEMPOTENT,
    ChangesEveryRun = runs::CHANGES_EVERY_RUN,
    NotConvergent = runs::NOT_CONVERGENT,
    AlwaysFails = runs::ALWAYS_FAILS,
    MissingNotify = runs::MISSING_NOTIFY,
    MayNeed = runs::MAY_NEED,
    LostRefresh = runs::LOST_REFRESH,
    BrokenInvariant = runs::BROKEN_INVARIANT,
    UnknownEffect = runs::UNKNOWN_EFFECT,
    UnknownPackage = runs::UNKNOWN_PACKAGE,
    RedundantEdge = runs::REDUNDANT_EDGE,
    Undecided = runs::UNDECIDED,
    Assumption = runs::ASSUMPTION,
    FactInCommand = flows::FACT_IN_COMMAND,
    FactInPrivilegedFile = flows::FACT_IN_PRIVILEGED_FILE,
    FactSelectsSecret = flows::FACT_SELECTS_SECRET,
    SecretWorldReadable = flows::SECRET_WORLD_READABLE,
    SecretNotSensitive = flows::SECRET_NOT_SENSITIVE,
    SecretExported = flows::SECRET_EXPORTED,
    SecretInTitle = flows::SECRET_IN_TITLE,
    ExportRunsElsewhere = flows::EXPORT_RUNS_ELSEWHERE,
    PolicyBroken = flows::POLICY_BROKEN,
    ModelNames = orchestration::MODEL_NAMES,
    Deadlock = orchestration::DEADLOCK,
    EndlessRun = orchestration::ENDLESS_RUN,
    MalformedInstance = orchestration::MALFORMED_INSTANCE,
    NotProved = orchestration::NOT_PROVED,
    VacuousModel = orchestration::VACUOUS_MODEL,
    MalformedTemplate = orchestration::MALFORMED_TEMPLATE,
    InvalidValue = orchestration::INVALID_VALUE,
    UnknownReference = orchestration::UNKNOWN_REFERENCE,
    MissingDependsOn = orchestration::MISSING_DEPENDS_ON,
    ConditionalReference = orchestration::CONDITIONAL_REFERENCE,
    RedundantDependsOn = orchestration::REDUNDANT_DEPENDS_ON,
    NeverSignalled = orchestration::NEVER_SIGNALLED,
    DeletionBlocked = orchestration::DELETION_BLOCKED,
    NameTaken = orchestration::NAME_TAKEN,
    TypeChanged = orchestration::TYPE_CHANGED,
    ExportChanged = orchestration::EXPORT_CHANGED,
    OwnImport = orchestration::OWN_IMPORT,
    RollingUpdateBlocked = orchestration::ROLLING_UPDATE_BLOCKED,
    KeptName = orchestration::KEPT_NAME,
    NestedStack = orchestration::NESTED_STACK,
    NotModelled = orchestration::NOT_MODELLED,
    UnknownType = orchestration::UNKNOWN_TYPE,
    UnsatisfiedRequirement = orchestration::UNSATISFIED_REQUIREMENT,
    WrongHost = orchestration::WRONG_HOST,
    TopologyStructure = orchestration::TOPOLOGY_STRUCTURE,
    SubstitutionMapping = orchestration::SUBSTITUTION_MAPPING,
    MissingImport = orchestration::MISSING_IMPORT,
    BadArchive = orchestration::BAD_ARCHIVE,
    SmartfrogInclude = smartfrog::SMARTFROG_INCLUDE,
    SmartfrogCompile = smartfrog::SMARTFROG_COMPILE,
    SmartfrogLimit = smartfrog::SMARTFROG_LIMIT,
    SmartfrogUnchecked = smartfrog::SMARTFROG_UNCHECKED,
    OrderCycle = smartfrog::ORDER_CYCLE,
    OrderChanged = smartfrog::ORDER_CHANGED,
    ShadowedPrototype = smartfrog::SHADOWED_PROTOTYPE,
    LinkChangesMeaning = smartfrog::LINK_CHANGES_MEANING,
    UnusedComponent = smartfrog::UNUSED_COMPONENT,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_and_alias_means_one_rule() {
        let mut names = BTreeSet::new();
        for rule in Rule::ALL {
            for name in std::iter::once(&rule.name()).chain(rule.aliases()) {
                assert!(names.insert(*name), "{name} stands for two rules");
                assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
                assert_eq!(Rule::named(name), Some(*rule));
            }
        }
        assert_eq!(Rule::named("no-such-rule"), None);
    }

    #[test]
    fn every_rule_is_explained() {
        for rule in Rule::ALL {
            assert!(!rule.summary().is_empty() && !rule.summary().ends_with('.'), "{}", rule.name());
            assert!(rule.explanation().len() > rule.summary().len(), "{}", rule.name());
        }
    }
}
