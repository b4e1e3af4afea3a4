//! Every kind of failure has a rule and words.

use setpoint_source::{Diagnostic, FileId, Range, Rule, Symbol};

use super::*;
use FailureKind as K;

/// One of each kind: its rule, whether it is a limit of Setpoint, and its sentence.
fn samples() -> Vec<(FailureKind, Rule, bool, &'static str)> {
    let name = Symbol::new("x");
    let text = || "X".to_owned();
    let callee = || Callee::Resource { type_name: Symbol::new("Class"), title: "A::B".into() };
    let sought = || Sought { place: SoughtPlace::AbsolutePath("/a".into()), near: None };
    let syntax = || Box::new(Diagnostic::new(Rule::SyntaxError, "Syntax error"));
    let mismatches = || "Class[A::B]: expects a value for parameter 'x'".to_owned();
    let unknown = |used| K::UnknownValue { used, reason: text() };
    vec![
        (K::Reported(syntax()), Rule::SyntaxError, false, "Syntax error"),
        (
            K::InvalidTemplate { function: "epp", error: syntax() },
            Rule::SyntaxError,
            false,
            "epp(): Invalid EPP: Syntax error",
        ),
        (
            K::MissingParameter {
                of: callee(),
                parameters: vec!["x".into()],
                mismatches: mismatches(),
                searched: Vec::new(),
            },
            Rule::TypeMismatch,
            false,
            "Class[A::B]: expects a value for parameter 'x'",
        ),
        (
            K::UnexpectedParameter {
                of: callee(),
                parameters: vec!["x".into()],
                mismatches: "Class[A::B]: has no parameter named 'x'".to_owned(),
            },
            Rule::TypeMismatch,
            false,
            "Class[A::B]: has no parameter named 'x'",
        ),
        (
            K::UnevaluatedParameter { of: callee(), parameter: name, default_of: None },
            Rule::UnevaluatedParameter,
            false,
            "Class[A::B]: expects a value for parameter $x",
        ),
        (
            K::UnknownAttribute {
                resource: "File[/a]".to_owned(),
                attribute: name,
                given_at: None,
                near: None,
            },
            Rule::UnknownParameter,
            false,
            "no parameter named 'x' on File[/a]",
        ),
        (
            K::NoSuchParameter { resource: "File['/a']".to_owned(), parameter: "x".to_owned() },
            Rule::UnknownParameter,
            false,
            "The resource File['/a'] does not have a parameter called 'x'",
        ),
        (K::WrongType { of: Typed::FoundData, mismatch: text() }, Rule::TypeMismatch, false, "X"),
        (
            K::MissingArgument { parameter: name },
            Rule::TypeMismatch,
            false,
            "Parameter $x is required but no value was given",
        ),
        (
            K::TooFewArguments { function: name, given: 0, least: 1, interface: Interface::Older },
            Rule::TypeMismatch,
            false,
            "x(): Wrong number of arguments given (0 for minimum 1)",
        ),
        (K::NotAType { actual: text() }, Rule::TypeMismatch, false, "Expected a data type, got X"),
        (
            K::InvalidTypeText(text()),
            Rule::EvaluationError,
            false,
            "The expression <X> is not a valid type specification.",
        ),
        (
            K::ParameterOrder { parameter: name },
            Rule::EvaluationError,
            false,
            "Parameter $x is required but appears after optional parameters",
        ),
        (
            K::MetaparameterName { parameter: name, definition: name },
            Rule::EvaluationError,
            false,
            "x is a metaparameter; please choose another parameter name in the x definition",
        ),
        (K::UnknownVariable { name }, Rule::UnknownVariable, false, "Unknown variable: 'x'."),
        (
            K::ReassignedVariable { name, is_built_in: false },
            Rule::ReassignedVariable,
            false,
            "Cannot reassign variable '$x'",
        ),
        (
            K::IllegalAssignment(IllegalAssignment::NotAssignable),
            Rule::EvaluationError,
            false,
            "Illegal attempt to assign. Not an assignable reference",
        ),
        (K::InvalidOperation(text()), Rule::EvaluationError, false, "X"),
        (
            K::NoMatchingOption { value: text() },
            Rule::EvaluationError,
            false,
            "No matching entry for selector parameter with value 'X'",
        ),
        (
            K::InvalidJson { error: text() },
            Rule::EvaluationError,
            false,
            "Invalid produced text having syntax: 'json'. JSON syntax checker: X",
        ),
        (
            K::IllegalConstruct(IllegalConstruct::CollectedClass),
            Rule::EvaluationError,
            false,
            "Classes cannot be collected",
        ),
        (
            K::IllegalJump { function: "break" },
            Rule::EvaluationError,
            false,
            "break() from context where this is illegal",
        ),
        (
            K::IllegalArgument(IllegalArgument::ClassName { actual: "undef".to_owned() }),
            Rule::EvaluationError,
            false,
            "Cannot use undef as a class name",
        ),
        (
            K::Questionable(Questionable::UnknownVariable(name)),
            Rule::QuestionableConstruct,
            false,
            "Unknown variable: 'x'.",
        ),
        (
            K::UnknownClass { name: "x".to_owned(), wanted: ClassUse::Declared, sought: sought() },
            Rule::UnknownClass,
            false,
            "Could not find declared class x",
        ),
        (
            K::UnknownResourceType { name: "x".to_owned(), wanted: TypeUse::Declared, sought: sought() },
            Rule::UnknownResourceType,
            false,
            "Unknown resource type: 'x'",
        ),
        (
            K::UnknownFunction { name, caller: Caller::Manifest, sought: sought() },
            Rule::UnknownFunction,
            false,
            "Unknown function: 'x'.",
        ),
        (
            K::MissingFile { name: "m/x".to_owned(), wanted: FileUse::Template, sought: vec![sought()] },
            Rule::FunctionFailed,
            false,
            "Could not find template 'm/x'",
        ),
        (K::UnreadableFile { error: "cannot read".to_owned() }, Rule::UnreadableFile, false, "Cannot read"),
        (
            K::MisplacedCode(MisplacedCode::Construct { label: "Variable" }),
            Rule::MisplacedCode,
            false,
            "This Variable is unacceptable as a top level construct in this location",
        ),
        (
            K::NoMatchingNode { node: "n".to_owned() },
            Rule::NoMatchingNode,
            false,
            "Could not find node statement with name 'default' or 'n'",
        ),
        (
            K::InvalidTitle(InvalidTitle::Undef),
            Rule::InvalidTitle,
            false,
            "Missing title. The title expression resulted in undef",
        ),
        (
            K::DuplicateDeclaration { resource: "File[/a]".to_owned(), first: None },
            Rule::DuplicateDeclaration,
            false,
            "Duplicate declaration: File[/a] is already declared; cannot redeclare",
        ),
        (
            K::DuplicateAlias {
                resource: "File[/a]".to_owned(),
                alias: "[\"/b\"]".to_owned(),
                key: "[\"File\", \"/b\"]".to_owned(),
                known: "File[/b]".to_owned(),
                at: None,
                first: None,
            },
            Rule::DuplicateDeclaration,
            false,
            "Cannot alias File[/a] to [\"/b\"]; resource [\"File\", \"/b\"] already declared",
        ),
        (
            K::DuplicateDefinition {
                name,
                known: DefinitionSort::Class,
                new: DefinitionSort::Node,
                first: Some(Place {
                    span: Range::default().in_file(FileId(0)),
                    text: "(file: a.pp, line: 1)".to_owned(),
                }),
            },
            Rule::DuplicateDefinition,
            false,
            "Class 'x' is already defined (file: a.pp, line: 1); cannot be redefined as a node",
        ),
        (
            K::DuplicateParameter { parameter: name, resource: "File[/a]".to_owned() },
            Rule::EvaluationError,
            false,
            "Duplicate parameter 'x' for on File[/a]",
        ),
        (
            K::DefaultRedefined { type_name: Symbol::new("File"), parameter: name },
            Rule::DefaultRedefined,
            false,
            "Default already defined for File { x }; cannot redefine",
        ),
        (
            K::ForeignOverride { resource: "File[/a]".to_owned(), declared: None },
            Rule::OverrideNotAllowed,
            false,
            "Only subclasses can override parameters",
        ),
        (
            K::ParameterAlreadySet {
                resource: "File[/a]".to_owned(),
                parameter: name,
                by: Some("Class[b]".to_owned()),
                first: None,
            },
            Rule::OverrideNotAllowed,
            false,
            "Parameter 'x' is already set on File[/a] by Class[b]; cannot redefine",
        ),
        (
            K::DanglingReference(DanglingReference::Read { reference: "File['/a']".to_owned() }),
            Rule::DanglingReference,
            false,
            "Resource not found: File['/a']",
        ),
        (
            K::StageOfResource { resource: "File[/a]".to_owned() },
            Rule::EvaluationError,
            false,
            "Only classes can set 'stage'; normal resources like File[/a] cannot change run stage",
        ),
        (K::InvalidTag("a b".to_owned()), Rule::EvaluationError, false, "Invalid tag 'a b'"),
        (
            K::InheritanceCycle(vec!["a".to_owned(), "b".to_owned(), "a".to_owned()]),
            Rule::EndlessEvaluation,
            false,
            "The classes inherit from each other in a circle: a -> b -> a",
        ),
        (K::HieraError { message: text(), asked_at: None }, Rule::HieraError, false, "X"),
        (
            K::MissingKey { names: vec!["k".to_owned()], searched: Vec::new(), by: KeyUse::Function },
            Rule::FunctionFailed,
            false,
            "Function lookup() did not find a value for the name 'k'",
        ),
        (K::NoSuchKey, Rule::NoSuchKey, false, "not_found() was called outside of a lookup"),
        (
            K::FailCalled(String::new()),
            Rule::FailCalled,
            false,
            "Error while evaluating a Function Call, no message is given",
        ),
        (
            K::Private { definition: Some("Class a".to_owned()), message: None },
            Rule::FunctionFailed,
            false,
            "Class a is private",
        ),
        (K::WrongArguments(text()), Rule::WrongArguments, false, "X"),
        (K::FunctionFailed(text()), Rule::FunctionFailed, false, "X"),
        (
            unknown(UnknownUse::Decision),
            Rule::UnknownValue,
            true,
            "This depends on a value that could not be computed: X",
        ),
        (K::UnsupportedFunction(text()), Rule::UnsupportedFunction, true, "X"),
        (
            K::UnsupportedTemplate { name: "t".to_owned(), reason: text() },
            Rule::UnsupportedFunction,
            true,
            "The text of t is not known: X",
        ),
        (
            K::LimitReached(ReachedLimit::Nesting),
            Rule::EndlessEvaluation,
            true,
            "The evaluation is nested too deeply",
        ),
        (
            K::LimitReached(ReachedLimit::Size("It is large".to_owned())),
            Rule::LimitReached,
            true,
            "It is large",
        ),
        (
            K::NoThread { error: text() },
            Rule::EvaluationError,
            true,
            "Cannot start a thread for the compilation: X",
        ),
        (K::BrokenInvariant("a bug"), Rule::EvaluationError, true, "a bug"),
    ]
}

/// The name of a variant.
fn variant(kind: &FailureKind) -> String {
    format!("{kind:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn every_kind_has_a_rule_and_words() {
    for (kind, rule, is_limit, message) in samples() {
        assert_eq!(kind.message(), message);
        assert_eq!(kind.rule(), rule, "{kind:?}");
        assert_eq!(kind.is_limit_of_setpoint(), is_limit, "{kind:?}");
        let found = Failure::from(kind).to_diagnostic();
        assert_eq!((found.rule, found.message.as_str()), (rule, message));
    }
}

#[test]
fn the_table_has_every_kind() {
    let text = include_str!("mod.rs");
    let start = text.find("pub enum FailureKind {").unwrap();
    let body = &text[start..start + text[start..].find("\n}\n").unwrap()];
    let declared = body.lines().filter_map(|line| line.strip_prefix("    "));
    let declared: Vec<String> = declared
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.chars().take_while(char::is_ascii_alphanumeric).collect())
        .collect();
    let mut listed: Vec<String> = samples().iter().map(|(kind, ..)| variant(kind)).collect();
    listed.dedup();
    assert_eq!(listed, declared);
}

#[test]
fn a_missing_module_is_known_where_a_module_path_is() {
    let class = |modulepath: &[&str], hint: Option<&str>| K::UnknownClass {
        name: "m::x".to_owned(),
        wanted: ClassUse::Declared,
        sought: Sought {
            place: SoughtPlace::Module(MissingModule {
                name: "m".to_owned(),
                modulepath: modulepath.iter().map(PathBuf::from).collect(),
                hint: hint.map(str::to_owned),
            }),
            near: None,
        },
    };
    assert_eq!(class(&["modules"], None).missing_module(), Some("m"));
    assert_eq!(class(&[], Some("Install m.")).missing_module(), Some("m"));
    assert_eq!(class(&[], None).missing_module(), None);
}
