//! Failures in words: Puppet's own sentence where Puppet has one; labels, notes and help are ours.

use std::path::PathBuf;

use setpoint_source::{Diagnostic, RAISE_LIMITS, Span};

use super::{
    Caller, ClassUse, DanglingReference, DefinitionSort, Failure, FailureKind, FileUse, IllegalArgument,
    IllegalAssignment, IllegalConstruct, Interface, InvalidTitle, KeyUse, MisplacedCode, MissingModule,
    Place, Questionable, ReachedLimit, Sought, SoughtPlace, TypeUse, UnknownUse,
};

impl Failure {
    /// The failure for people.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let mut diagnostic = match &self.kind {
            FailureKind::Reported(diagnostic) => (**diagnostic).clone(),
            FailureKind::InvalidTemplate { error, .. } => {
                Diagnostic { message: self.kind.message(), ..(**error).clone() }
            }
            kind => kind.details(Diagnostic::new(kind.rule(), kind.message())),
        };
        diagnostic.span = self.span;
        diagnostic.labels.extend(self.labels.iter().cloned());
        diagnostic
    }
}

impl FailureKind {
    /// What failed, in one sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Reported(diagnostic) => diagnostic.message.clone(),
            Self::InvalidTemplate { function, error } => {
                format!("{function}(): Invalid EPP: {}", error.message)
            }

            Self::MissingParameter { mismatches, .. } | Self::UnexpectedParameter { mismatches, .. } => {
                mismatches.clone()
            }
            Self::UnevaluatedParameter { of, parameter, default_of: Some(current) } => format!(
                "{of}: default expression for ${current} tries to illegally access not yet evaluated ${parameter}"
            ),
            Self::UnevaluatedParameter { of, parameter, default_of: None } => {
                format!("{of}: expects a value for parameter ${parameter}")
            }
            Self::UnknownAttribute { resource, attribute, .. } => {
                format!("no parameter named '{attribute}' on {resource}")
            }
            Self::NoSuchParameter { resource, parameter } => {
                format!("The resource {resource} does not have a parameter called '{parameter}'")
            }
            Self::WrongType { mismatch, .. } => mismatch.clone(),
            Self::MissingArgument { parameter } => {
                format!("Parameter ${parameter} is required but no value was given")
            }
            Self::TooFewArguments { function, least, interface: Interface::Present, .. } => {
                format!("'{function}' expects at least {least} argument, got none")
            }
            Self::TooFewArguments { function, given, least, interface: Interface::Older } => {
                format!("{function}(): Wrong number of arguments given ({given} for minimum {least})")
            }
            Self::NotAType { actual } => format!("Expected a data type, got {actual}"),
            Self::InvalidTypeText(text) => {
                format!("The expression <{text}> is not a valid type specification.")
            }
            Self::ParameterOrder { parameter } => {
                format!("Parameter ${parameter} is required but appears after optional parameters")
            }
            Self::MetaparameterName { parameter, definition } => format!(
                "{parameter} is a metaparameter; please choose another parameter name in the {definition} definition"
            ),

            Self::UnknownVariable { name } | Self::Questionable(Questionable::UnknownVariable(name)) => {
                format!("Unknown variable: '{name}'.")
            }
            Self::ReassignedVariable { name, is_built_in: true } => {
                format!("Cannot reassign built in (or already assigned) variable '${name}'")
            }
            Self::ReassignedVariable { name, is_built_in: false } => {
                format!("Cannot reassign variable '${name}'")
            }
            Self::IllegalAssignment(illegal) => illegal.message(),

            Self::InvalidOperation(message) => message.clone(),
            Self::NoMatchingOption { value } => {
                format!("No matching entry for selector parameter with value '{value}'")
            }
            Self::InvalidJson { error } => {
                format!("Invalid produced text having syntax: 'json'. JSON syntax checker: {error}")
            }
            Self::IllegalConstruct(illegal) => illegal.message(),
            Self::IllegalJump { function } => format!("{function}() from context where this is illegal"),
            Self::IllegalArgument(illegal) => illegal.message(),
            Self::Questionable(Questionable::OverrideOfEvaluated { declared: None }) => {
                "Attempt to override an already evaluated resource with new values".to_owned()
            }
            Self::Questionable(Questionable::OverrideOfEvaluated { declared: Some(place) }) => format!(
                "Attempt to override an already evaluated resource, defined at {}, with new values",
                place.text
            ),

            Self::UnknownClass { name, wanted: ClassUse::Included { node }, .. } => {
                format!("Could not find class {name} for {node}")
            }
            Self::UnknownClass { name, wanted: ClassUse::Declared, .. } => {
                format!("Could not find declared class {name}")
            }
            Self::UnknownClass { name, wanted: ClassUse::Inherited { environment }, .. } => {
                format!("Could not find parent resource type '::{name}' of type hostclass in {environment}")
            }
            Self::UnknownResourceType { name, wanted: TypeUse::Named, .. } => {
                format!("Resource type not found: {name}")
            }
            Self::UnknownResourceType { name, wanted: TypeUse::Declared, .. } => {
                format!("Unknown resource type: '{name}'")
            }
            Self::UnknownResourceType { name, wanted: TypeUse::Collected, .. } => {
                format!("Resource type {name} doesn't exist")
            }
            Self::UnknownFunction { name, caller: Caller::Manifest, .. } => {
                format!("Unknown function: '{name}'.")
            }
            Self::UnknownFunction { name, caller: Caller::Function, .. } => {
                format!("Unknown function '{name}'")
            }
            Self::UnknownFunction { name, caller: Caller::RubyFunction(caller), .. } => {
                format!("Function {caller}(): Unknown function: '{name}'")
            }
            Self::MissingFile { name, wanted: FileUse::File, .. } => {
                format!("Could not find any files from {name}")
            }
            Self::MissingFile { name, wanted: FileUse::BinaryFile, .. } => {
                format!("binary_file(): The given file '{name}' does not exist")
            }
            Self::MissingFile { name, wanted: FileUse::Template, .. } => {
                format!("Could not find template '{name}'")
            }
            Self::UnreadableFile { error } => capitalize(error),
            Self::MisplacedCode(MisplacedCode::Construct { label }) => {
                format!("This {label} is unacceptable as a top level construct in this location")
            }
            Self::MisplacedCode(MisplacedCode::Name { name, path }) => {
                format!("Unacceptable location. The name '{name}' is unacceptable in file '{path}'")
            }
            Self::MisplacedCode(MisplacedCode::OtherAlias { path, expected, actual }) => format!(
                "The code loaded from {} produced type with the wrong name, expected '{expected}', actual '{actual}'",
                path.display()
            ),
            Self::NoMatchingNode { node } => {
                format!("Could not find node statement with name 'default' or '{node}'")
            }

            Self::InvalidTitle(invalid) => invalid.message(),
            Self::DuplicateDeclaration { resource, first } => format!(
                "Duplicate declaration: {resource} is already declared{}; cannot redeclare",
                after(" at ", first.as_ref())
            ),
            Self::DuplicateAlias { resource, alias, key, at, first, .. } => format!(
                "Cannot alias {resource} to {alias}{}; resource {key} already declared{}",
                after(" at ", at.as_ref()),
                after(" ", first.as_ref())
            ),
            Self::DuplicateDefinition { name, known, new, first } => {
                let name = name.as_str();
                redefinition(name, *known, *new, first.as_ref())
            }
            Self::DuplicateParameter { parameter, resource } => {
                format!("Duplicate parameter '{parameter}' for on {resource}")
            }
            Self::DefaultRedefined { type_name, parameter } => {
                format!("Default already defined for {type_name} {{ {parameter} }}; cannot redefine")
            }
            Self::ForeignOverride { .. } => "Only subclasses can override parameters".to_owned(),
            Self::ParameterAlreadySet { resource, parameter, by, first } => format!(
                "Parameter '{parameter}' is already set on {resource}{}{}; cannot redefine",
                by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default(),
                after(" at ", first.as_ref())
            ),
            Self::DanglingReference(dangling) => dangling.message(),
            Self::StageOfResource { resource } => {
                format!(
                    "Only classes can set 'stage'; normal resources like {resource} cannot change run stage"
                )
            }
            Self::InvalidTag(name) => format!("Invalid tag '{name}'"),
            Self::InheritanceCycle(names) => {
                format!("The classes inherit from each other in a circle: {}", names.join(" -> "))
            }

            Self::HieraError { message, .. } => message.clone(),
            Self::MissingKey { names, .. } => match names.as_slice() {
                [only] => format!("Function lookup() did not find a value for the name '{only}'"),
                names => {
                    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
                    let names = quoted.join(", ");
                    format!("Function lookup() did not find a value for any of the names [{names}]")
                }
            },
            Self::NoSuchKey => "not_found() was called outside of a lookup".to_owned(),

            Self::FailCalled(text) | Self::FunctionFailed(text) if text.is_empty() => {
                "Error while evaluating a Function Call, no message is given".to_owned()
            }
            Self::FailCalled(text) | Self::WrongArguments(text) | Self::FunctionFailed(text) => text.clone(),
            Self::Private { message: Some(message), .. } => message.clone(),
            Self::Private { definition: Some(definition), .. } => format!("{definition} is private"),
            Self::Private { .. } => "This is private".to_owned(),

            Self::UnknownValue { used: UnknownUse::Decision, reason } => {
                format!("This depends on a value that could not be computed: {reason}")
            }
            Self::UnknownValue { used: UnknownUse::ClassName, reason } => {
                format!("The name of the class is not known: {reason}")
            }
            Self::UnknownValue { used: UnknownUse::Block { function }, reason } => {
                format!(
                    "The block of {function} cannot run, since a value that it needs is not known: {reason}"
                )
            }
            Self::UnsupportedFunction(message) => message.clone(),
            Self::UnsupportedTemplate { name, reason } => {
                format!("The text of {name} is not known: {reason}")
            }
            Self::LimitReached(ReachedLimit::Nesting) => "The evaluation is nested too deeply".to_owned(),
            Self::LimitReached(ReachedLimit::Size(message)) => message.clone(),
            Self::LimitReached(ReachedLimit::Rounds { .. }) => {
                "Somehow looped more than 1000 times while evaluating host catalog".to_owned()
            }
            Self::NoThread { error } => format!("Cannot start a thread for the compilation: {error}"),
            Self::BrokenInvariant(what) => (*what).to_owned(),
        }
    }

    /// Adds labels, notes, helps and resources.
    fn details(&self, found: Diagnostic) -> Diagnostic {
        match self {
            Self::MissingParameter { searched, .. } => searched.iter().fold(found, |found, (name, paths)| {
                found.with_note(format!("Data for ${name} was looked for in {}.", list(paths)))
            }),
            Self::UnknownAttribute { resource, attribute, given_at, near } => {
                let found = found.with_resources([resource.clone()]);
                let found = labelled(found, *given_at, || format!("'{attribute}' is given here"));
                helped(found, near.as_ref().map(|near| format!("Did you mean '{near}'?")))
            }
            Self::UnknownClass { sought, .. }
            | Self::UnknownResourceType { sought, .. }
            | Self::UnknownFunction { sought, .. } => sought.help(found),
            Self::MissingFile { sought, .. } => sought.iter().fold(found, |found, one| one.help(found)),
            Self::DuplicateDeclaration { resource, first } => {
                let found = labelled(found, span(first.as_ref()), || "first declared here".to_owned());
                found.with_resources([resource.clone()])
            }
            Self::DuplicateAlias { resource, known, first, .. } => {
                let found = labelled(found, span(first.as_ref()), || "first declared here".to_owned());
                found.with_resources([resource.clone(), known.clone()])
            }
            Self::DuplicateDefinition { first, .. } => {
                labelled(found, span(first.as_ref()), || "first defined here".to_owned())
            }
            Self::ForeignOverride { resource, declared } => {
                let found = found.with_resources([resource.clone()]);
                labelled(found, *declared, || format!("{resource} is declared here"))
            }
            Self::ParameterAlreadySet { resource, first, .. } => {
                let found = found.with_resources([resource.clone()]);
                labelled(found, span(first.as_ref()), || "first set here".to_owned())
            }
            Self::DanglingReference(dangling) => dangling.details(found),
            Self::HieraError { asked_at, .. } => labelled(found, *asked_at, || "asked for here".to_owned()),
            Self::MissingKey { searched, by, .. } => match (searched.as_slice(), by) {
                ([], KeyUse::Command) => found,
                ([], KeyUse::Function) => {
                    found.with_note("No data file was searched: there is no hiera.yaml for this key.")
                }
                (searched, _) => found.with_note(format!("Searched: {}.", list(searched))),
            },
            Self::LimitReached(ReachedLimit::Nesting) => {
                let found = found
                    .with_help("Look for a function, class or definition that calls itself without an end.");
                found.with_help(format!("If there is none: {RAISE_LIMITS}."))
            }
            Self::LimitReached(ReachedLimit::Rounds { waiting: Some(waiting) }) => found
                .with_note(format!("The last instance that still waits is {waiting}."))
                .with_help("Look for a definition that declares an instance of itself without an end."),
            _ => found,
        }
    }
}

impl IllegalAssignment {
    fn message(&self) -> String {
        match self {
            Self::OtherNamespace(name) => {
                format!(
                    "Illegal attempt to assign to '{name}'. Cannot assign to variables in other namespaces"
                )
            }
            Self::MatchVariable(name) => format!(
                "Illegal attempt to assign to the numeric match result variable '${name}'. Numeric variables are not assignable"
            ),
            Self::ReservedName { name, is_bound: true } => {
                format!("Attempt to assign to a reserved variable name: '${name}'")
            }
            Self::ReservedName { name, is_bound: false } => {
                format!("Attempt to assign to a reserved variable name: '{name}'")
            }
            Self::WhileEvaluatingParameters(name) => {
                format!("Attempt to assign variable {name} when evaluating parameters")
            }
            Self::NotAssignable => "Illegal attempt to assign. Not an assignable reference".to_owned(),
            Self::MissingKey(key) => {
                format!("No value for required key '{key}' in assignment to variables from hash")
            }
            Self::MissingClassVariable(name) => format!(
                "No value for required variable '${name}' in assignment to variables from class reference"
            ),
            Self::WrongCount { expected, given } => format!(
                "Mismatched number of assignable entries and values, expected {expected}, got {given}"
            ),
            Self::RemovedOperator(operator) => format!(
                "The operator '{operator}' is no longer supported. See http://links.puppet.com/remove-plus-equals"
            ),
        }
    }
}

impl IllegalConstruct {
    fn message(&self) -> String {
        match self {
            Self::NotInCatalogs(what) => format!("{what} is not available when compiling a catalog"),
            Self::Lambda => "A lambda can only be given to a call".to_owned(),
            Self::Unparsed => "This could not be parsed".to_owned(),
            Self::Callee => "Illegal expression. Only a name can be called as a function".to_owned(),
            Self::Iterator => "Use of an Iterator is not supported here".to_owned(),
            Self::ResourceType { actual } => format!(
                "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got {actual}"
            ),
            Self::SplatOf { actual } => format!("Expected value of type Hash, got {actual}"),
            Self::OverrideOf { actual } => {
                format!("Resource Override can only operate on resources, got: {actual}")
            }
            Self::UntitledReference { shown } => {
                format!("No title provided and {shown} is not a valid resource reference")
            }
            Self::CollectorWithoutType => "A collector begins with the name of a type".to_owned(),
            Self::CollectedClass => "Classes cannot be collected".to_owned(),
            Self::Query => "A query is made of comparisons with == and !=, joined by and and or".to_owned(),
            Self::QueryOperator => {
                "Only the operators == and !=, and and and or, can be used in a query".to_owned()
            }
            Self::NumberAsTag => "Cannot transform a number to a tag".to_owned(),
            Self::RelationshipWith { operand } => format!(
                "Illegal relationship operand, can not form a relationship with {operand}. A Catalog type is required."
            ),
            Self::AttributeTwice(name) => format!("The attribute '{name}' has already been set"),
        }
    }
}

impl IllegalArgument {
    fn message(&self) -> String {
        match self {
            Self::ClassName { actual } => format!("Cannot use {actual} as a class name"),
            Self::ClassReference { actual } => {
                format!("Cannot use {actual} where a Resource['class', name] is expected")
            }
            Self::UnspecificClass => "Cannot use an unspecific Class[] Type".to_owned(),
            Self::AnyResourceType => "The given resource type is a reference to all kind of types".to_owned(),
            Self::AnyClass => "The given class type is a reference to all classes".to_owned(),
            Self::NotDefinable { actual } => format!(
                "'defined' parameter 'vals' expects a value of type String, Type[CatalogEntry], or Type[Type[CatalogEntry]], got {actual}"
            ),
            Self::CreateResourcesCount { given } => {
                format!("create_resources(): wrong number of arguments ({given}; must be 2 or 3)")
            }
            Self::CreateResourcesInstances => "create_resources(): second argument must be a hash".to_owned(),
            Self::CreateResourcesDefaults => {
                "create_resources(): third argument, if provided, must be a hash".to_owned()
            }
            Self::CreateResourcesParameters { title, actual } => {
                format!("create_resources(): the parameters of '{title}' must be a hash, got {actual}")
            }
            Self::VirtualClass => "Classes are not virtualizable".to_owned(),
            Self::TemplateArguments { function, actual } => {
                format!("{function}(): the template_args must be a Hash, got {actual}")
            }
        }
    }
}

impl InvalidTitle {
    fn message(&self) -> String {
        match self {
            Self::SecondDefault => {
                "The title 'default' has already been used in this resource expression".to_owned()
            }
            Self::Undef => "Missing title. The title expression resulted in undef".to_owned(),
            Self::UndefAt(index) => {
                format!("Missing title at index {index}. The title expression resulted in an undef title")
            }
            Self::EmptyAt(index) => {
                format!("Empty string title at {index}. Title strings must have a length greater than zero.")
            }
            Self::WrongType { index, actual } => {
                format!("Illegal title type at index {index}. Expected String, got {actual}")
            }
            Self::Repeated(title) => {
                format!("The title '{title}' has already been used in this resource expression")
            }
            Self::NoPattern(title) => format!("No set of title patterns matched the title \"{title}\"."),
        }
    }
}

impl DanglingReference {
    fn message(&self) -> String {
        match self {
            Self::Read { reference } => format!("Resource not found: {reference}"),
            Self::Overridden(missing) => {
                let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
                format!("Could not find resource(s) {} for overriding", names.join(", "))
            }
            Self::Realized(names) => format!("Failed to realize virtual resources {}", names.join(", ")),
            Self::RelationshipSource { missing, target } => {
                format!("Could not find resource '{missing}' for relationship on '{target}'")
            }
            Self::RelationshipTarget { missing, source } => {
                format!("Could not find resource '{missing}' for relationship from '{source}'")
            }
            Self::Parameter { missing, parameter, .. } => {
                format!("Could not find resource '{missing}' in parameter '{parameter}'")
            }
            Self::Stage { missing, class } => format!("Could not find stage {missing} specified by {class}"),
        }
    }

    fn details(&self, found: Diagnostic) -> Diagnostic {
        match self {
            Self::Read { .. } | Self::Stage { .. } => found,
            Self::Overridden(missing) => {
                let found = found.with_resources(missing.iter().map(|(name, _)| name.clone()));
                missing.iter().skip(1).fold(found, |found, (name, span)| {
                    found.with_label(*span, format!("{name} is overridden here"))
                })
            }
            Self::Realized(names) => found.with_resources(names.iter().cloned()),
            Self::RelationshipSource { missing, .. } | Self::RelationshipTarget { missing, .. } => {
                found.with_resources([missing.clone()])
            }
            Self::Parameter { missing, resource, .. } => {
                found.with_resources([resource.clone(), missing.clone()])
            }
        }
    }
}

impl Sought {
    fn help(&self, found: Diagnostic) -> Diagnostic {
        let near = self.near.as_ref().map(|near| format!("Did you mean `{near}`?"));
        helped(found.with_help(self.place.text()), near)
    }
}

impl SoughtPlace {
    fn text(&self) -> String {
        match self {
            Self::File { path, exists: true } => {
                format!("Its place is {}, which has no such name.", path.display())
            }
            Self::File { path, exists: false } => {
                format!("Its place is {}, which does not exist.", path.display())
            }
            Self::FunctionFiles { folder, module, name } => format!(
                "Its place is {0}/functions/{name}.pp or {0}/lib/puppet/functions/{module}/{name}.rb, and neither \
                 exists.",
                folder.display()
            ),
            Self::OtherVersion { module, folder } => {
                format!("The module {module} has it in other versions, and not in {}.", folder.display())
            }
            Self::Module(module) => module.text(),
            Self::KnownModule { what, module } => {
                format!("It is a {what} of the module {}. {}", module.name, module.text())
            }
            Self::AmongMissing { what, modules } => {
                let (first, others) = modules.split_at(modules.len().min(3));
                let more =
                    if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
                format!("A module that is not installed may have the {what}: {}{more}.", first.join(", "))
            }
            Self::Everywhere { what, modulepath } if modulepath.is_empty() => {
                format!("Puppet has no {what} of this name, and no module path is known.")
            }
            Self::Everywhere { what, modulepath } => {
                format!("Neither Puppet nor a module in {} has a {what} of this name.", list(modulepath))
            }
            Self::AbsolutePath(path) => format!("{} does not exist.", path.display()),
            Self::WithoutModule { folder } => {
                format!("The name is MODULE/FILE, for the file in MODULE/{folder}.")
            }
        }
    }
}

impl MissingModule {
    fn text(&self) -> String {
        let Self { name, modulepath, hint } = self;
        match hint {
            Some(hint) => hint.clone(),
            None if modulepath.is_empty() => format!(
                "There is no module `{name}`: no module path is known. Give one with --modulepath, or an environment \
                 with --environment."
            ),
            None => {
                format!("There is no module `{name}` in {}: it is not on the module path.", list(modulepath))
            }
        }
    }
}

fn redefinition(name: &str, known: DefinitionSort, new: DefinitionSort, first: Option<&Place>) -> String {
    use DefinitionSort::{BuiltinType, Class, Definition, Function, Node, TypeAlias};
    let place = after(" ", first);
    match (known, new) {
        (BuiltinType, _) => format!("The type '{name}' is one of Puppet's own; it cannot be redefined"),
        (Function, _) => {
            format!("The function '{name}' is already defined{}; cannot redefine", after(" at ", first))
        }
        (TypeAlias, _) => {
            format!("The type alias '{name}' is already defined{}; cannot redefine", after(" at ", first))
        }
        (Class, Definition) => {
            format!("'{name}' is already defined{place} as a class; cannot redefine as a definition")
        }
        (Class, Node) => format!("Class '{name}' is already defined{place}; cannot be redefined as a node"),
        (Class, _) => format!("Class '{name}' is already defined{place}; cannot redefine"),
        (Node, Class) => format!("Node '{name}' is already defined{place}; cannot be redefined as a class"),
        (Node, _) => format!("Node '{name}' is already defined{place}; cannot redefine"),
        (Definition, Class) => {
            format!("Definition '{name}' is already defined{place}; cannot be redefined as a class")
        }
        (Definition, _) => format!("Definition '{name}' is already defined{place}; cannot be redefined"),
    }
}

/// A place with words before it, or nothing.
fn after(words: &str, place: Option<&Place>) -> String {
    place.map(|place| format!("{words}{}", place.text)).unwrap_or_default()
}

fn span(place: Option<&Place>) -> Option<Span> {
    place.map(|place| place.span)
}

fn labelled(found: Diagnostic, span: Option<Span>, text: impl FnOnce() -> String) -> Diagnostic {
    match span {
        Some(span) => found.with_label(span, text()),
        None => found,
    }
}

fn helped(found: Diagnostic, help: Option<String>) -> Diagnostic {
    match help {
        Some(help) => found.with_help(help),
        None => found,
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The text with a capital at its start.
fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
