//! Parts of a template that the analysis does not cover, and the words for them.
//!
//! The readers record an [`Omission`] where they pass something over. Each becomes a finding, and a reason for not knowing:
//! a template with omissions is never proved.

use setpoint_source::{Diagnostic, FileId, Gap, Range, Reason, Rule, Severity, Symbol};

/// A part of a template that was not read, not understood or cut off at a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    pub what: Omitted,
    pub range: Range,
}

/// Why CloudFormation refuses a key without a value.
pub(crate) const NULL: &str = "this value is empty, and CloudFormation refuses null values";

/// Returns kinds of value in words. `t` is any scalar, as the tables of the serverless transform have it.
pub(crate) fn describe_kinds(kinds: &str) -> String {
    const WORDS: [(char, &str); 6] = [
        ('s', "a text"),
        ('t', "a text"),
        ('n', "a number"),
        ('b', "true or false"),
        ('m', "a mapping"),
        ('l', "a list"),
    ];
    let words = WORDS.iter().filter(|(kind, _)| kinds.contains(*kind)).map(|(_, words)| *words);
    words.collect::<Vec<_>>().join(" or ")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Omitted {
    /// Text that is not well-formed, or that a limit of the reader of data cut off.
    Data(String, Rule),
    /// The file holds no template.
    Template,
    SecondDocument,
    /// An alias or a merge of YAML, which CloudFormation does not document.
    Alias,
    /// A tag of YAML that CloudFormation does not read.
    Tag(String),
    /// A key that is not text.
    Key,
    /// A resource that a loop makes twice.
    Duplicate(Symbol),
    /// A section of the wrong form, and what it must be.
    Section(&'static str, &'static str),
    UnknownSection(Symbol),
    /// `Resources` is missing, or has none.
    Resources,
    /// A resource that is not a mapping.
    Resource(Symbol),
    Type(Symbol),
    /// A type that is no name of a type.
    TypeName(Symbol),
    /// An attribute of a resource, such as `DependsOn`, of the wrong form, and what it must be.
    Attribute(Symbol, &'static str, &'static str),
    UnknownAttribute(Symbol, Symbol),
    /// An entry of a section other than `Resources`, and what is wrong with it, as the rest of a sentence.
    Entry(&'static str, Symbol, String),
    /// A call with arguments that the function does not take, and what it takes.
    Function(Symbol, &'static str),
    UnknownFunction(Symbol),
    /// A condition that is defined by itself.
    CircularCondition(Symbol),
    /// A macro, or a transform that has no model.
    Transform(Symbol),
    /// `Fn::Transform`: text that is put in when the stack is deployed.
    Include,
    /// A module of a template preprocessor.
    Module,
    /// A module of the registry.
    RegistryModule(Symbol),
    Loop(Symbol),
    LoopLimit(Symbol, usize),
    /// A loop over values that are known only at deployment.
    LoopValues(Symbol),
    /// A loop over the default of a parameter.
    LoopDefault(Symbol),
    /// A type, an event or an attribute of the serverless transform that has no model.
    Serverless(Symbol),
    /// A type, a section or an attribute of the serverless transform without the transform.
    ServerlessType(Symbol),
    /// A nested stack whose template is at an address, or is named by an expression.
    NestedElsewhere(Symbol),
    NestedUnreadable {
        stack: Symbol,
        path: String,
        reason: String,
    },
    NestedInItself(Symbol),
    NestedLimit(usize),
    /// Whether one resource always waits for another was not decided.
    Waits(Symbol, Symbol),
    /// A type of AWS that the table of types lacks.
    UnknownType(Symbol),
    /// A property of a resource that the table of types lacks.
    UnknownProperty(Symbol, Symbol),
    MissingProperty(Symbol, Symbol),
    /// A property whose value is of another kind than its type takes, and what it takes.
    PropertyValue(Symbol, Symbol, String),
    /// The value of an export of a stack that was not read.
    Import(String),
    /// A resource that code of somebody else makes: a custom resource, a type of the registry.
    Provider(Symbol, Symbol),
    /// A local file that is deployed with the stack, and is not there.
    Artifact(Symbol, String),
    /// An attribute that the table of types lacks.
    UnknownResourceAttribute(Symbol, String),
    /// A function or a form of the language extensions without their transform.
    Extension(Symbol),
    /// A function or a form that AWS documents for the language extensions only, and that it evaluates without them, too.
    Undocumented(Symbol),
    /// A null: CloudFormation refuses it anywhere in a template.
    Null,
    /// A function in a section in which it has no meaning.
    Misplaced(Symbol, &'static str),
    /// A name that has other characters than letters and digits, or is too long.
    Name(&'static str, Symbol),
    /// A stack set whose template was not read.
    StackSet(Symbol),
    /// What CloudFormation or the serverless transform refuses, in words.
    Refused(String),
    /// What AWS makes of it is not modelled, in words.
    Unmodelled(String),
    /// What must hold for the answer, in words.
    Assumption(String),
}

impl Omission {
    pub(crate) fn new(what: Omitted, range: Range) -> Self {
        Self { what, range }
    }

    /// Whether what was passed over may define names that other parts use.
    pub(crate) fn hides_names(&self) -> bool {
        use Omitted as O;
        matches!(
            self.what,
            O::Data(..)
                | O::Template
                | O::SecondDocument
                | O::Key
                | O::Section(..)
                | O::UnknownSection(_)
                | O::Resources
                | O::Resource(_)
                | O::Type(_)
                | O::Entry(..)
                | O::Transform(_)
                | O::Include
                | O::Module
                | O::RegistryModule(_)
                | O::Loop(_)
                | O::LoopLimit(..)
                | O::LoopValues(_)
                | O::LoopDefault(_)
                | O::Serverless(_)
                | O::ServerlessType(_)
        )
    }

    /// Whether one or more resources are not in the template that was read.
    pub(crate) fn leaves_out_resource(&self) -> bool {
        use Omitted as O;
        matches!(
            self.what,
            O::Resource(_) | O::Type(_) | O::Module | O::Loop(_) | O::LoopLimit(..) | O::LoopValues(_)
        )
    }

    /// Whether a limit of the reader of data ended the reading.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self.what, Omitted::Data(_, Rule::LimitReached))
    }

    pub(crate) fn is_assumption(&self) -> bool {
        self.gap() == Gap::Assumed
    }

    /// Returns the finding that tells of it, unless another one does.
    pub(crate) fn finding(&self, file: FileId) -> Option<Diagnostic> {
        use Omitted as O;
        let rule = match &self.what {
            // The reader of data tells what it cannot read, and the verdict what it assumes.
            O::Data(..) => return None,
            O::Alias => {
                let message = "CloudFormation documents that it reads no aliases and merges of YAML";
                let finding = Diagnostic::new(Rule::NotModelled, message).severity(Severity::Warning);
                let finding = finding.at(self.range.in_file(file));
                return Some(finding.with_help(
                    "Write the copies out, or deploy what `aws cloudformation package` or `sam build` makes of it.",
                ));
            }
            _ if self.is_assumption() => return None,
            // One finding tells of all of them.
            O::NestedElsewhere(_) | O::StackSet(_) => return None,
            O::LoopLimit(..) | O::NestedLimit(_) | O::Waits(..) => Rule::LimitReached,
            O::NestedUnreadable { .. } | O::NestedInItself(_) => Rule::NestedStack,
            _ => match self.gap() {
                Gap::Malformed => Rule::MalformedTemplate,
                _ => Rule::NotModelled,
            },
        };
        let mut finding = Diagnostic::new(rule, self.words()).at(self.range.in_file(file));
        finding.helps.extend(self.help().map(str::to_owned));
        finding.resources.extend(self.resource().map(|name| name.to_string()));
        if let O::NestedUnreadable { path, .. } = &self.what {
            finding.note(format!("It was looked for at {path}."));
        }
        Some(finding)
    }

    /// Returns the reason for not knowing that it is.
    pub(crate) fn reason(&self, file: FileId) -> Reason {
        Reason::new(self.gap(), self.words()).at(self.range.in_file(file))
    }

    fn gap(&self) -> Gap {
        use Omitted as O;
        match &self.what {
            O::Template
            | O::Key
            | O::Duplicate(_)
            | O::Section(..)
            | O::Resources
            | O::Resource(_)
            | O::Type(_)
            | O::TypeName(_)
            | O::Attribute(..)
            | O::UnknownAttribute(..)
            | O::Entry(..)
            | O::Function(..)
            | O::CircularCondition(_)
            | O::Loop(_)
            | O::MissingProperty(..)
            | O::PropertyValue(..)
            | O::Extension(_)
            | O::Null
            | O::Misplaced(..)
            | O::Name(..)
            | O::Refused(_)
            | O::ServerlessType(_) => Gap::Malformed,
            O::UnknownSection(_)
            | O::UnknownFunction(_)
            | O::Transform(_)
            | O::Module
            | O::RegistryModule(_)
            | O::LoopValues(_)
            | O::UnknownType(_)
            | O::UnknownProperty(..)
            | O::UnknownResourceAttribute(..)
            | O::Unmodelled(_)
            | O::Undocumented(_)
            | O::Tag(_)
            | O::Serverless(_) => Gap::NotModelled,
            O::SecondDocument
            | O::Include
            | O::NestedElsewhere(_)
            | O::NestedUnreadable { .. }
            | O::StackSet(_) => Gap::Unread,
            O::Data(_, Rule::LimitReached) => Gap::Limit,
            O::Data(..) => Gap::Malformed,
            O::LoopLimit(..) | O::NestedLimit(_) | O::Waits(..) => Gap::Limit,
            O::Alias
            | O::LoopDefault(_)
            | O::Import(_)
            | O::Provider(..)
            | O::Artifact(..)
            | O::Assumption(_) => Gap::Assumed,
            O::NestedInItself(_) => Gap::Undecided,
        }
    }

    pub(crate) fn resource(&self) -> Option<Symbol> {
        use Omitted as O;
        match &self.what {
            O::Resource(name)
            | O::Duplicate(name)
            | O::Type(name)
            | O::Attribute(name, ..)
            | O::UnknownAttribute(name, _)
            | O::NestedElsewhere(name)
            | O::NestedInItself(name)
            | O::NestedUnreadable { stack: name, .. }
            | O::UnknownProperty(name, _)
            | O::MissingProperty(name, _)
            | O::PropertyValue(name, ..)
            | O::Artifact(name, _)
            | O::UnknownResourceAttribute(name, _)
            | O::StackSet(name)
            | O::Waits(name, _) => Some(*name),
            _ => None,
        }
    }

    pub(crate) fn words(&self) -> String {
        use Omitted as O;
        match &self.what {
            O::Data(message, _) => message.clone(),
            O::Template => "this file holds no template".to_owned(),
            O::SecondDocument => "a second YAML document begins here, and only the first is read".to_owned(),
            O::Alias => {
                "a tool that puts in the aliases of YAML makes the template that is deployed".to_owned()
            }
            O::Tag(tag) => format!("CloudFormation documents that it does not read the tag `!!{tag}`"),
            O::Key => "this key is not text".to_owned(),
            O::Duplicate(name) => format!("a loop makes the resource `{name}` a second time"),
            O::Section(name, wanted) => format!("the section `{name}` must be {wanted}"),
            O::UnknownSection(name) => {
                format!("CloudFormation has no section `{name}`; another tool may add resources for it")
            }
            O::Resources => "the template has no resources".to_owned(),
            O::Resource(name) => format!("the resource `{name}` is not a mapping with a `Type`"),
            O::Type(name) => format!("the resource `{name}` has no `Type`"),
            O::TypeName(kind) => format!("`{kind}` is not the name of a resource type"),
            O::Attribute(name, attribute, wanted) => format!("`{attribute}` of `{name}` must be {wanted}"),
            O::UnknownAttribute(name, attribute) => {
                format!("`{name}` has `{attribute}`, which CloudFormation does not know at this place")
            }
            O::Entry(section, name, fault) => {
                let one = section.trim_end_matches('s').to_lowercase();
                format!("the {one} `{name}` {fault}")
            }
            O::Function(name, wanted) => format!("`{name}` takes {wanted}"),
            O::UnknownFunction(name) => format!("Setpoint knows no function `{name}`"),
            O::CircularCondition(name) => format!("the condition `{name}` refers to itself"),
            O::Transform(name) => {
                format!("the transform `{name}` may add or change resources when the stack is deployed")
            }
            O::Include => "this transform puts in text that is not in this file".to_owned(),
            O::Module => "this module stands for resources that are not in this file".to_owned(),
            O::RegistryModule(kind) => {
                format!("the module `{kind}` may add resources when the stack is deployed")
            }
            O::Loop(name) => format!("`{name}` is not a loop with a name, a list and a mapping"),
            O::LoopLimit(name, limit) => format!("`{name}` makes more than {limit} copies, and is left out"),
            O::LoopValues(name) => {
                format!("the values of `{name}` are known only when the stack is deployed")
            }
            O::LoopDefault(parameter) => format!("the parameter `{parameter}` has its default"),
            O::Serverless(what) => {
                format!("the serverless transform may add or change resources for `{what}`")
            }
            O::ServerlessType(kind) => format!("`{kind}` needs the transform AWS::Serverless-2016-10-31"),
            O::NestedElsewhere(name) => {
                format!(
                    "the template of the nested stack `{name}` was not read: it is not among the local files"
                )
            }
            O::NestedUnreadable { stack, reason, .. } => {
                format!("the template of the nested stack `{stack}` cannot be read: {reason}")
            }
            O::NestedInItself(name) => format!("the nested stack `{name}` contains this template again"),
            O::NestedLimit(limit) => format!("nested stacks name more than {limit} templates"),
            O::Waits(from, to) => {
                format!("`{from}` may wait for `{to}` in more ways than are looked at")
            }
            O::UnknownType(kind) => format!("Setpoint knows no resource type `{kind}`"),
            O::UnknownProperty(name, property) => {
                format!("Setpoint knows no property `{property}` for the type of `{name}`")
            }
            O::MissingProperty(name, property) => format!("`{name}` lacks the property `{property}`"),
            O::PropertyValue(name, property, wanted) => format!("`{property}` of `{name}` must be {wanted}"),
            O::Import(export) => format!("another stack exports `{export}`"),
            O::Provider(name, kind) => format!("the provider of `{name}` ({kind}) answers"),
            O::Artifact(name, path) => format!("`{path}`, which `{name}` deploys, is made before"),
            O::UnknownResourceAttribute(name, attribute) => {
                format!("Setpoint knows no attribute `{attribute}` for the type of `{name}`")
            }
            O::Extension(name) => format!("`{name}` needs the transform AWS::LanguageExtensions"),
            O::Undocumented(name) => {
                format!("AWS documents this form of `{name}` only with the transform AWS::LanguageExtensions")
            }
            O::Null => NULL.to_owned(),
            O::Misplaced(name, section) => format!("`{name}` has no meaning in `{section}`"),
            O::Name(section, name) => {
                format!(
                    "the name `{name}` in `{section}` must have 1 to 255 letters and digits, and nothing else"
                )
            }
            O::StackSet(name) => {
                format!(
                    "the template of the stack set `{name}` was not read: it is not among the local files"
                )
            }
            O::Refused(words) | O::Unmodelled(words) | O::Assumption(words) => words.clone(),
        }
    }

    pub(crate) fn help(&self) -> Option<&'static str> {
        use Omitted as O;
        match &self.what {
            O::Type(_) => Some("Give it a type, such as `Type: AWS::S3::Bucket`."),
            O::UnknownAttribute(..) => Some("Move it into `Properties`, or correct its name."),
            O::UnknownType(_) | O::UnknownProperty(..) | O::UnknownResourceAttribute(..) => {
                Some("Correct the name. If it is newer than this version of Setpoint, nothing is wrong.")
            }
            O::MissingProperty(..) => Some("Add it: without it the creation fails."),
            O::NestedElsewhere(_) | O::StackSet(_) => {
                Some("`--template-root DIR` names the folder whose files are uploaded to the bucket.")
            }
            O::Null => Some("Write a value, or remove the key."),
            O::Extension(_) | O::Undocumented(_) => Some("Add `Transform: AWS::LanguageExtensions`."),
            O::ServerlessType(_) => Some("Add `Transform: AWS::Serverless-2016-10-31`."),
            _ => None,
        }
    }
}
