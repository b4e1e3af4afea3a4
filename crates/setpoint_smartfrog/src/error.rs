//! Why a specification does not compile, with the numbers of the paper.

use setpoint_source::{Diagnostic, Rule, Span, Symbol};

use crate::reference::shown;

/// An error of the semantics, as a diagnostic for people.
pub type Fail = Box<Diagnostic>;

/// The errors that the definitions of the paper number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// err1: the parent of the target is not a store.
    ParentIsNoStore,
    /// err2: the target has no parent.
    NoParent,
    /// err3: the root cannot be replaced.
    Root,
    /// err4: the prototype is not a store, or is not there.
    Prototype,
    /// err5: the link refers to nothing.
    Link,
    /// err7: there is no `sfConfig`, or it is not a store.
    SfConfig,
    /// err105 of the forward semantics: links refer to each other in a circle.
    LinkCycle,
    /// err106 of the forward semantics: a link refers to a component that contains it.
    ImplicitCycle,
}

impl Number {
    pub fn code(self) -> &'static str {
        match self {
            Self::ParentIsNoStore => "err1",
            Self::NoParent => "err2",
            Self::Root => "err3",
            Self::Prototype => "err4",
            Self::Link => "err5",
            Self::SfConfig => "err7",
            Self::LinkCycle => "err105",
            Self::ImplicitCycle => "err106",
        }
    }
}

/// An error with its number in front.
pub fn numbered(number: Number, span: Span, message: impl AsRef<str>) -> Fail {
    let message = readable(format!("{}: {}", number.code(), message.as_ref()));
    Box::new(Diagnostic::new(Rule::SmartfrogCompile, message).at(span))
}

/// Names and paths may be of any length; sentences for people are not.
fn readable(message: String) -> String {
    match message.char_indices().nth(1_000) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message,
    }
}

/// An error that the paper does not number.
pub fn plain(span: Span, message: impl Into<String>) -> Fail {
    Box::new(Diagnostic::new(Rule::SmartfrogCompile, readable(message.into())).at(span))
}

/// A limit was reached; the specification may well be finite, but it is beyond reason.
pub fn limit(span: Option<Span>, message: impl Into<String>) -> Fail {
    let diagnostic = Diagnostic::new(Rule::SmartfrogLimit, readable(message.into()));
    Box::new(match span {
        Some(span) => diagnostic.at(span),
        None => diagnostic,
    })
}

/// `no attribute `a` in `sfConfig:x`, nor in any component around it`
pub fn not_found(name: Symbol, namespace: &[Symbol]) -> String {
    if namespace.is_empty() {
        format!("there is no attribute `{name}` at the top level at this point")
    } else {
        format!("there is no attribute `{name}` in `{}`, nor in any component around it", shown(namespace))
    }
}
