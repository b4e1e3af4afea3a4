//! The tokens of Puppet.

use std::sync::Arc;

use setpoint_source::Range;

/// What a token is. Where Puppet's grammar depends on white space, the kinds differ: see `ListStart` and `WsLParen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Eof,
    /// A character that begins no token.
    Other,
    /// Text that is no token; the lexer has said why.
    Bad,

    Name,
    /// A word that is no name: `foo-bar`, `_x`.
    Word,
    ClassRef,
    Variable,
    Number,
    Regex,
    /// A string without interpolation.
    String,
    /// The text before the first interpolation of a string.
    DqPre,
    DqMid,
    DqPost,
    /// `@(…)`; its text follows as a string.
    Heredoc,

    LBrack,
    /// `[` after white space: never an access.
    ListStart,
    RBrack,
    LBrace,
    /// `{` after `?`.
    SelBrace,
    RBrace,
    LParen,
    /// `(` as the first token of a line: never a call.
    WsLParen,
    RParen,
    Equals,
    Appends,
    Deletes,
    IsEqual,
    NotEqual,
    Match,
    NoMatch,
    GreaterEqual,
    Greater,
    LessEqual,
    Less,
    FArrow,
    PArrow,
    LShift,
    LLCollect,
    LCollect,
    RShift,
    RRCollect,
    RCollect,
    Plus,
    Minus,
    Div,
    Times,
    Modulo,
    Not,
    Dot,
    Pipe,
    At,
    AtAt,
    Colon,
    Comma,
    Semicolon,
    QMark,
    Tilde,
    InEdge,
    InEdgeSub,
    OutEdge,
    OutEdgeSub,

    Case,
    Class,
    Default,
    Define,
    If,
    Elsif,
    Else,
    Inherits,
    Node,
    And,
    Or,
    Undef,
    False,
    True,
    In,
    Unless,
    Function,
    Type,
    Attr,
    Private,

    /// Text of a template.
    RenderString,
    /// `<%=`
    RenderExpr,
    /// The `%>` or `-%>` of a `<%=`.
    EppEnd,
}

impl Kind {
    /// The keyword that a word is, if it is one.
    pub(crate) fn keyword(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"case" => Self::Case,
            b"class" => Self::Class,
            b"default" => Self::Default,
            b"define" => Self::Define,
            b"if" => Self::If,
            b"elsif" => Self::Elsif,
            b"else" => Self::Else,
            b"inherits" => Self::Inherits,
            b"node" => Self::Node,
            b"and" => Self::And,
            b"or" => Self::Or,
            b"undef" => Self::Undef,
            b"false" => Self::False,
            b"true" => Self::True,
            b"in" => Self::In,
            b"unless" => Self::Unless,
            b"function" => Self::Function,
            b"type" => Self::Type,
            b"attr" => Self::Attr,
            b"private" => Self::Private,
            _ => return None,
        })
    }

    pub(crate) fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Case
                | Self::Class
                | Self::Default
                | Self::Define
                | Self::If
                | Self::Elsif
                | Self::Else
                | Self::Inherits
                | Self::Node
                | Self::And
                | Self::Or
                | Self::Undef
                | Self::False
                | Self::True
                | Self::In
                | Self::Unless
                | Self::Function
                | Self::Type
                | Self::Attr
                | Self::Private
        )
    }

    /// May stand before `=>` or `+>` in a resource.
    pub(crate) fn is_attribute_name(self) -> bool {
        self == Self::Name || self.is_keyword() && !matches!(self, Self::True | Self::False)
    }

    /// May begin an expression, and so a statement.
    pub(crate) fn starts_expression(self) -> bool {
        matches!(
            self,
            Self::Bad
                | Self::Name
                | Self::Word
                | Self::ClassRef
                | Self::Variable
                | Self::Number
                | Self::Regex
                | Self::String
                | Self::DqPre
                | Self::Heredoc
                | Self::LBrack
                | Self::ListStart
                | Self::LBrace
                | Self::LParen
                | Self::WsLParen
                | Self::Not
                | Self::Minus
                | Self::Times
                | Self::At
                | Self::AtAt
                | Self::Case
                | Self::Class
                | Self::Default
                | Self::Define
                | Self::If
                | Self::Node
                | Self::Undef
                | Self::False
                | Self::True
                | Self::Unless
                | Self::Function
                | Self::Type
                | Self::Attr
                | Self::Private
                | Self::RenderString
                | Self::RenderExpr
        )
    }

    /// After these a `/` divides; after all others it may begin a regular expression.
    pub(crate) fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::RParen
                | Self::RBrack
                | Self::RRCollect
                | Self::RCollect
                | Self::Name
                | Self::ClassRef
                | Self::Number
                | Self::String
                | Self::True
                | Self::False
                | Self::DqPre
                | Self::DqMid
                | Self::DqPost
                | Self::Heredoc
                | Self::Regex
                | Self::Variable
                | Self::Word
        )
    }
}

/// A token. Names are read from the source by their range; only unescaped text is kept here.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range,
    /// The value of strings, regular expressions, the syntax of heredocs, and the text of templates.
    pub(crate) text: Option<Arc<str>>,
}

impl Token {
    pub(crate) fn new(kind: Kind, start: usize, end: usize) -> Self {
        Self { kind, range: Range::new(start, end), text: None }
    }

    pub(crate) fn with_text(kind: Kind, start: usize, end: usize, text: impl Into<Arc<str>>) -> Self {
        Self { kind, range: Range::new(start, end), text: Some(text.into()) }
    }
}
