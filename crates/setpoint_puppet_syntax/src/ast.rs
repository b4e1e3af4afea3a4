//! The tree of a manifest.
//!
//! It keeps what the text says and no more: names are not resolved, strings are unescaped, comments are gone.
//! Definitions are shared (`Arc`), because the evaluator keeps them beyond the statement that made them.

use std::sync::Arc;

use setpoint_source::{FileId, Range, Symbol};

/// A whole manifest, or an EPP template.
#[derive(Debug, Clone)]
pub struct Program {
    pub file: FileId,
    pub body: Block,
}

/// Statements in sequence; its value is that of the last.
pub type Block = Vec<Expr>;

#[derive(Debug, Clone)]
pub struct Expr {
    pub range: Range,
    pub kind: ExprKind,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    /// Text that could not be parsed; a diagnostic says why.
    Error,
    /// `;`-free nothing: an empty block used as a value.
    Nop,
    Undef,
    Default,
    Bool(bool),
    Integer {
        value: i64,
        radix: Radix,
    },
    Float(f64),
    /// A string without interpolation, unescaped.
    String(Arc<str>),
    /// `"a ${b}"`: at least one part is an expression.
    Interpolation(Vec<StringPart>),
    /// `@("END":json)`: `text` is a `String` or an `Interpolation`.
    Heredoc {
        syntax: Option<Arc<str>>,
        text: Box<Expr>,
    },
    /// `/x/`, the text between the slashes with `\/` unescaped.
    Regex(Arc<str>),
    /// A bare word: `present`, `ntp::server`.
    Name(Symbol),
    /// A capitalised word: `File`, `Ntp::Server`, as it is written.
    TypeName(Symbol),
    /// `$x`, `$::x`, `$a::b`, `$0`; the name without `$`.
    Variable(Symbol),
    Array(Vec<Expr>),
    Hash(Vec<(Expr, Expr)>),
    Paren(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// `*$x`.
    Splat(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
        op_range: Range,
    },
    /// `$x = 1`, `[$a, $b] = …`.
    Assign {
        op: AssignOp,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `x[1, 2]`.
    Access {
        target: Box<Expr>,
        keys: Vec<Expr>,
    },
    /// `x ? { a => 1, default => 2 }`.
    Selector {
        subject: Box<Expr>,
        cases: Vec<SelectorCase>,
    },
    /// `f(1)`, `f 1`, `Type(x)`, `$x.f(1) |$y| { }` has its receiver in `MethodCall`.
    Call(Box<Call>),
    MethodCall(Box<MethodCall>),
    If {
        test: Box<Expr>,
        then: Block,
        otherwise: Block,
    },
    Unless {
        test: Box<Expr>,
        then: Block,
        otherwise: Block,
    },
    Case {
        subject: Box<Expr>,
        options: Vec<CaseOption>,
    },
    /// `file { 'a': …; 'b': … }`, `@file { … }`, `Resource['file'] { … }`, `class { 'x': }`.
    Resource {
        form: ResourceForm,
        type_name: Box<Expr>,
        bodies: Vec<ResourceBody>,
    },
    /// `File { mode => '0644' }`.
    ResourceDefaults {
        form: ResourceForm,
        type_name: Box<Expr>,
        attributes: Vec<Attribute>,
    },
    /// `File['a'] { mode => '0644' }`.
    ResourceOverride {
        form: ResourceForm,
        target: Box<Expr>,
        attributes: Vec<Attribute>,
    },
    /// `File <| owner == 'root' |> { mode => '0644' }`.
    Collector {
        form: CollectorForm,
        type_name: Box<Expr>,
        query: Option<Box<Expr>>,
        attributes: Vec<Attribute>,
    },
    /// `a -> b`; chains nest to the left.
    Relationship {
        op: ArrowOp,
        left: Box<Expr>,
        right: Box<Expr>,
        op_range: Range,
    },
    Class(Arc<ClassDef>),
    Define(Arc<DefineDef>),
    Node(Arc<NodeDef>),
    Function(Arc<FunctionDef>),
    TypeAlias(Arc<TypeAliasDef>),
    /// `type Runtime[ruby, 'X'] = Y`: which classes of Ruby stand for which types. It declares nothing.
    TypeMapping,
    /// `plan`, `apply`, …: recognised so that the message is clear.
    Unsupported {
        what: &'static str,
    },
    /// A lambda by itself: `with(1) |$x| { }` holds its lambda in the call.
    Lambda(Arc<Lambda>),
    /// The whole of an EPP template. `None`: no parameter list is given.
    Epp {
        parameters: Option<Vec<Parameter>>,
        body: Block,
    },
    /// Text of an EPP template between tags.
    RenderText(Arc<str>),
    /// `<%= x %>`.
    RenderExpr(Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Radix {
    Decimal,
    Octal,
    Hexadecimal,
}

#[derive(Debug, Clone)]
pub enum StringPart {
    Text(Arc<str>),
    Expr(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Match,
    NoMatch,
    In,
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignOp {
    Set,
    /// `+=`, which Puppet refuses when it is evaluated.
    Append,
    /// `-=`, likewise.
    Remove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrowOp {
    /// `->`
    Before,
    /// `~>`
    Notify,
    /// `<-`
    After,
    /// `<~`
    NotifiedBy,
}

#[derive(Debug, Clone)]
pub struct SelectorCase {
    pub matches: Expr,
    pub value: Expr,
}

#[derive(Debug, Clone)]
pub struct CaseOption {
    pub values: Vec<Expr>,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub struct Call {
    /// A `Name`, a `TypeName`, or what an expression gives.
    pub function: Expr,
    pub arguments: Vec<Expr>,
    pub lambda: Option<Arc<Lambda>>,
    /// Written as a statement: the value is not used.
    pub statement: bool,
}

#[derive(Debug, Clone)]
pub struct MethodCall {
    pub receiver: Expr,
    pub name: Symbol,
    pub name_range: Range,
    pub arguments: Vec<Expr>,
    pub lambda: Option<Arc<Lambda>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceForm {
    Regular,
    Virtual,
    Exported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectorForm {
    /// `<| |>`
    Virtual,
    /// `<<| |>>`
    Exported,
}

#[derive(Debug, Clone)]
pub struct ResourceBody {
    pub range: Range,
    pub title: Expr,
    pub attributes: Vec<Attribute>,
}

#[derive(Debug, Clone)]
pub struct Attribute {
    pub range: Range,
    pub kind: AttributeKind,
}

#[derive(Debug, Clone)]
pub enum AttributeKind {
    /// `name => value`
    Set { name: Symbol, name_range: Range, value: Expr },
    /// `name +> value`
    Append { name: Symbol, name_range: Range, value: Expr },
    /// `* => hash`
    Splat(Expr),
}

#[derive(Debug, Clone)]
pub struct Parameter {
    pub range: Range,
    pub name: Symbol,
    pub type_expr: Option<Expr>,
    pub default: Option<Expr>,
    /// `*$rest`
    pub captures_rest: bool,
}

#[derive(Debug, Clone)]
pub struct ClassDef {
    pub file: FileId,
    pub range: Range,
    /// Fully qualified, without leading `::`; nesting is applied.
    pub name: Symbol,
    pub name_range: Range,
    pub parameters: Vec<Parameter>,
    pub parent: Option<(Symbol, Range)>,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub struct DefineDef {
    pub file: FileId,
    pub range: Range,
    pub name: Symbol,
    pub name_range: Range,
    pub parameters: Vec<Parameter>,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub struct NodeDef {
    pub file: FileId,
    pub range: Range,
    pub matches: Vec<HostMatch>,
    pub parent: Option<(HostMatch, Range)>,
    pub body: Block,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostMatch {
    Name(Arc<str>),
    Regex(Arc<str>),
    Default,
}

#[derive(Debug, Clone)]
pub struct FunctionDef {
    pub file: FileId,
    pub range: Range,
    pub name: Symbol,
    pub name_range: Range,
    pub parameters: Vec<Parameter>,
    pub return_type: Option<Expr>,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub struct TypeAliasDef {
    pub file: FileId,
    pub range: Range,
    pub name: Symbol,
    pub name_range: Range,
    pub value: Expr,
}

#[derive(Debug, Clone)]
pub struct Lambda {
    pub file: FileId,
    pub range: Range,
    pub parameters: Vec<Parameter>,
    pub return_type: Option<Expr>,
    pub body: Block,
}
