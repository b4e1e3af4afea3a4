//! The values of Ruby, which can be changed in place.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use setpoint_puppet_values::{Data, Hash, Key, Match, Regex, Value, to_text};
use setpoint_source::Limit;

use super::ast::Block;
use super::classes::{Class, Instance};
use super::interpreter::{Interpreter, Result};
use crate::ruby::numbers::float_to_s;
use crate::ruby::text::inspect_text;

/// Larger integers are refused. Ruby's have no end; the sum of two that are within needs no look at an overflow. The addresses that IPv6
/// gives to hosts are within, as numbers.
pub(crate) const MAX_INTEGER: i128 = (1 << 126) - 1;
/// Deeper values are refused.
const DEEPEST: Limit = Limit::new(200);
/// Parts of values that one run may write out, compare or convert. A value that shares its parts with itself has as many as are
/// written: 2^60 after sixty steps.
const MOST_PARTS: Limit = Limit::new(4_000_000);

thread_local! {
    static PARTS: Cell<usize> = const { Cell::new(0) };
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

/// Counts the parts of values that the runs of a thread expand. Runs within runs share one count: what an inner one has used up,
/// the outer one cannot use.
pub(crate) struct Expansion(());

impl Expansion {
    pub(crate) fn begin() -> Self {
        let runs = RUNS.get();
        if runs == 0 {
            PARTS.set(0);
        }
        RUNS.set(runs + 1);
        Self(())
    }

    /// Whether parts were left out: texts, comparisons and conversions since are wrong.
    #[allow(clippy::unused_self, reason = "there is a count only during a run")]
    pub(crate) fn is_exhausted(&self) -> bool {
        PARTS.get() > MOST_PARTS
    }
}

impl Drop for Expansion {
    fn drop(&mut self) {
        RUNS.set(RUNS.get().saturating_sub(1));
    }
}

/// Counts a part; `false` if it is one too many, or lies too deep.
fn expand_part(depth: usize) -> bool {
    let parts = if depth > DEEPEST { usize::MAX } else { PARTS.get().saturating_add(1) };
    PARTS.set(parts);
    parts <= MOST_PARTS
}

#[derive(Clone)]
pub(crate) enum Thing {
    Nil,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(Rc<Text>),
    /// A text that is no UTF-8, such as a digest.
    Bytes(Rc<Vec<u8>>),
    Symbol(Arc<str>),
    Array(Rc<List>),
    Hash(Rc<Map>),
    Set(Rc<Map>),
    Range(Rc<Range>),
    Regex(Regex),
    Match(Rc<Match>),
    Lambda(Rc<Closure>),
    /// A block of our own.
    Native(Rc<Native>),
    /// `method(:name)`
    Method(Rc<(Thing, Arc<str>)>),
    /// The block of the call in the manifest.
    Block,
    Enumerator(Rc<Enumerator>),
    Address(Rc<Address>),
    Uri(Rc<Uri>),
    Object(Rc<Instance>),
    Class(Rc<Class>),
    /// A class or module that the program does not define.
    Constant(Arc<str>),
    /// The scope of the manifest.
    Scope(Seen),
    /// What Puppet knows and Ruby does not, such as a type.
    Other(Value),
}

pub(crate) type Native = dyn Fn(&mut Interpreter<'_, '_, '_>, Vec<Thing>) -> Result<Thing>;

#[derive(Default)]
pub(crate) struct Text {
    pub(crate) value: RefCell<String>,
    pub(crate) frozen: Cell<bool>,
}

/// Whose variables a scope has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Those that the code sees which called the function or rendered the template.
    ByCaller,
    /// Those of the top scope.
    AtTop,
}

#[derive(Default)]
pub(crate) struct List {
    pub(crate) items: RefCell<Vec<Thing>>,
    pub(crate) frozen: Cell<bool>,
}

/// A hash, or a set, whose values are not looked at.
pub(crate) struct Map {
    pub(crate) table: RefCell<Table>,
    pub(crate) frozen: Cell<bool>,
    pub(crate) default: RefCell<Thing>,
    /// `Hash.new { |hash, key| … }`
    pub(crate) maker: RefCell<Option<Thing>>,
    /// The hash of the manifest that it was made of, if the machine may have more than that.
    pub(crate) incomplete: RefCell<Option<Value>>,
}

/// Keys by what they are, with themselves and their values.
pub(crate) type Table = IndexMap<String, (Thing, Thing)>;

pub(crate) struct Range {
    pub(crate) from: Thing,
    pub(crate) to: Thing,
    pub(crate) exclusive: bool,
}

pub(crate) struct Closure {
    pub(crate) block: Arc<Block>,
    pub(crate) environment: Rc<Environment>,
    /// The program whose code it is.
    pub(crate) is_lambda: bool,
}

pub(crate) struct Enumerator {
    pub(crate) receiver: Thing,
    pub(crate) method: Arc<str>,
    pub(crate) arguments: Vec<Thing>,
}

/// An address with its mask, as `IPAddr` has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) address: IpAddr,
    pub(crate) prefix: u8,
}

/// The parts of a URI, as they were written.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Uri {
    pub(crate) scheme: Option<String>,
    pub(crate) userinfo: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u32>,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) fragment: Option<String>,
    pub(crate) opaque: Option<String>,
}

/// What a method runs in.
pub(crate) struct Frame {
    pub(crate) this: Thing,
    pub(crate) block: Option<Thing>,
    /// `return` ends the frame of this number.
    pub(crate) id: u64,
    /// The classes around the code, the innermost first.
    pub(crate) nesting: Vec<Rc<Class>>,
    /// The method that runs, and the class that has it.
    pub(crate) method: Option<(Rc<Class>, Arc<str>)>,
    pub(crate) arguments: Vec<Thing>,
}

/// Local variables.
pub(crate) struct Environment {
    pub(crate) variables: RefCell<IndexMap<Arc<str>, Thing>>,
    pub(crate) outer: Option<Rc<Environment>>,
    pub(crate) frame: Rc<Frame>,
}

impl Address {
    /// All groups of an address of IPv6.
    pub(crate) fn full(address: IpAddr) -> String {
        match address {
            IpAddr::V4(_) => address.to_string(),
            IpAddr::V6(address) => address.segments().map(|part| format!("{part:04x}")).join(":"),
        }
    }

    pub(crate) fn netmask(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => {
                IpAddr::V4(u32::MAX.checked_shl(32 - u32::from(self.prefix.min(32))).unwrap_or(0).into())
            }
            IpAddr::V6(_) => {
                IpAddr::V6(u128::MAX.checked_shl(128 - u32::from(self.prefix.min(128))).unwrap_or(0).into())
            }
        }
    }

    fn inspect(&self) -> String {
        let family = if self.address.is_ipv4() { "IPv4" } else { "IPv6" };
        format!("#<IPAddr: {family}:{}/{}>", Self::full(self.address), Self::full(self.netmask()))
    }
}

impl Environment {
    pub(crate) fn new(frame: Rc<Frame>) -> Rc<Self> {
        Rc::new(Self { variables: RefCell::default(), outer: None, frame })
    }

    pub(crate) fn inside(outer: &Rc<Self>, frame: Rc<Frame>) -> Rc<Self> {
        Rc::new(Self { variables: RefCell::default(), outer: Some(Rc::clone(outer)), frame })
    }

    pub(crate) fn get(&self, name: &str) -> Option<Thing> {
        let mut at = self;
        loop {
            if let Some(found) = at.variables.borrow().get(name) {
                return Some(found.clone());
            }
            at = at.outer.as_deref()?;
        }
    }

    /// Sets a variable where it is known, else here.
    pub(crate) fn set(&self, name: &Arc<str>, value: Thing) {
        let mut at = Some(self);
        while let Some(environment) = at {
            if let Some(known) = environment.variables.borrow_mut().get_mut(name) {
                *known = value;
                return;
            }
            at = environment.outer.as_deref();
        }
        self.own(name, value);
    }

    /// A variable of this block, whatever is around.
    pub(crate) fn own(&self, name: &Arc<str>, value: Thing) {
        self.variables.borrow_mut().insert(Arc::clone(name), value);
    }
}

impl Map {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table: RefCell::new(table),
            frozen: Cell::new(false),
            default: RefCell::new(Thing::Nil),
            maker: RefCell::new(None),
            incomplete: RefCell::new(None),
        }
    }
}

impl Thing {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Rc::new(Text { value: RefCell::new(text.into()), frozen: Cell::new(false) }))
    }

    pub(crate) fn symbol(text: &str) -> Self {
        Self::Symbol(text.into())
    }

    pub(crate) fn array(items: Vec<Self>) -> Self {
        Self::Array(Rc::new(List { items: RefCell::new(items), frozen: Cell::new(false) }))
    }

    pub(crate) fn table(table: Table) -> Self {
        Self::Hash(Rc::new(Map::new(table)))
    }

    pub(crate) fn pairs(pairs: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::table(pairs.into_iter().map(|(key, value)| (key.identity(), (key, value))).collect())
    }

    pub(crate) fn set(items: impl IntoIterator<Item = Self>) -> Self {
        let table = items.into_iter().map(|item| (item.identity(), (item, Self::Nil)));
        let mut set = Table::new();
        for (identity, entry) in table {
            set.entry(identity).or_insert(entry);
        }
        Self::Set(Rc::new(Map::new(set)))
    }

    pub(crate) fn integer(number: usize) -> Self {
        Self::Integer(number as i128)
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::text(text),
            Err(error) => Self::Bytes(Rc::new(error.into_bytes())),
        }
    }

    /// The bytes of a text, or of the elements of a collection without what they hold.
    pub(crate) fn own_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.value.borrow().len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Array(list) => list.items.borrow().len() * size_of::<Self>(),
            Self::Hash(map) | Self::Set(map) => map.table.borrow().len() * 2 * size_of::<Self>(),
            _ => 0,
        }
    }

    /// Whether nobody else has this text or collection.
    pub(crate) fn is_new(&self) -> bool {
        match self {
            Self::Text(text) => Rc::strong_count(text) == 1,
            Self::Bytes(bytes) => Rc::strong_count(bytes) == 1,
            Self::Array(list) => Rc::strong_count(list) == 1,
            Self::Hash(map) | Self::Set(map) => Rc::strong_count(map) == 1,
            _ => false,
        }
    }

    pub(crate) fn truth(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    pub(crate) fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    pub(crate) fn from_value(value: &Value) -> Self {
        match &value.data {
            Data::Undef => Self::Nil,
            Data::Bool(flag) => Self::Bool(*flag),
            Data::Integer(number) => Self::Integer(i128::from(*number)),
            Data::Float(number) => Self::Float(*number),
            Data::String(text) => Self::text(&**text),
            Data::Default => Self::symbol("default"),
            Data::Array(items) => Self::array(items.iter().map(Self::from_value).collect()),
            Data::Hash(entries) => Self::pairs(
                entries.iter().map(|(key, value)| (Self::from_value(&key.0), Self::from_value(value))),
            ),
            Data::Regex(regex) => Self::Regex(regex.clone()),
            _ => Self::Other(value.clone()),
        }
    }

    /// Nothing if Puppet has no such value. Symbols become texts.
    pub(crate) fn to_value(&self) -> Option<Value> {
        self.value_at(0)
    }

    fn value_at(&self, depth: usize) -> Option<Value> {
        if !expand_part(depth) {
            return None;
        }
        Some(match self {
            Self::Nil => Value::UNDEF,
            Self::Bool(flag) => Value::from(*flag),
            Self::Integer(number) => Value::from(i64::try_from(*number).ok()?),
            Self::Float(number) => Value::from(*number),
            Self::Text(text) => Value::from(text.value.borrow().as_str()),
            Self::Symbol(name) if &**name == "undef" => Value::UNDEF,
            Self::Symbol(name) if &**name == "default" => Value::new(Data::Default),
            Self::Symbol(name) => Value::from(&**name),
            Self::Array(list) => {
                let items = list.items.borrow();
                Value::array(items.iter().map(|item| item.value_at(depth + 1)).collect::<Option<_>>()?)
            }
            Self::Hash(map) => {
                let mut hash = Hash::default();
                for (key, value) in map.table.borrow().values() {
                    hash.insert(Key(key.value_at(depth + 1)?), value.value_at(depth + 1)?);
                }
                Value::hash(hash)
            }
            Self::Regex(regex) => Value::from(regex.clone()),
            Self::Bytes(bytes) => Value::new(Data::Binary(bytes.as_slice().into())),
            Self::Other(value) => value.clone(),
            // A reference that the older interface made an object of.
            Self::Object(object) => match object.variables.borrow().get("reference") {
                Some(Self::Other(value)) if object.class().class_name() == "PuppetResource" => value.clone(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The same with bytes as texts, as far as they are one.
    pub(crate) fn with_texts(&self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::bytes(bytes.to_vec()),
            Self::Array(list) if self.has_bytes() => {
                Self::array(list.items.borrow().iter().map(Self::with_texts).collect())
            }
            Self::Hash(map) if self.has_bytes() => Self::pairs(
                map.table
                    .borrow()
                    .values()
                    .map(|(key, value)| (key.with_texts(), value.with_texts()))
                    .collect::<Vec<_>>(),
            ),
            other => other.clone(),
        }
    }

    /// Whether there are bytes somewhere.
    pub(crate) fn has_bytes(&self) -> bool {
        self.has(&|thing| matches!(thing, Self::Bytes(_)), 0)
    }

    /// Whether there is a symbol somewhere that Puppet has no value for.
    pub(crate) fn has_symbol(&self) -> bool {
        let is_symbol =
            |thing: &Self| matches!(thing, Self::Symbol(name) if !matches!(&**name, "undef" | "default"));
        self.has(&is_symbol, 0)
    }

    /// Whether one of its parts is of this sort.
    fn has(&self, is_wanted: &dyn Fn(&Self) -> bool, depth: usize) -> bool {
        if !expand_part(depth) {
            return false;
        }
        let has = |part: &Self| part.has(is_wanted, depth + 1);
        match self {
            Self::Array(list) => list.items.borrow().iter().any(has),
            Self::Hash(map) => map.table.borrow().values().any(|(key, value)| has(key) || has(value)),
            other => is_wanted(other),
        }
    }

    /// What two keys of a hash have in common if they are the same.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Object(object) => {
                object.told_apart.set(true);
                format!("object {:p}", Rc::as_ptr(object))
            }
            Self::Class(class) => format!("class {:p}", Rc::as_ptr(class)),
            Self::Text(text) => format!("\"{}", text.value.borrow()),
            _ => self.inspect(),
        }
    }

    pub(crate) fn to_s(&self) -> String {
        match self {
            Self::Nil => String::new(),
            Self::Text(text) => text.value.borrow().clone(),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Symbol(name) => name.to_string(),
            Self::Match(found) => found.group(0).unwrap_or_default().to_owned(),
            Self::Address(address) => address.address.to_string(),
            Self::Uri(uri) => uri.to_string(),
            Self::Object(object) if object.is_error() => object.message(),
            Self::Range(range) => {
                format!(
                    "{}{}{}",
                    range.from.to_s(),
                    if range.exclusive { "..." } else { ".." },
                    range.to.to_s()
                )
            }
            Self::Regex(regex) => regex_to_s(regex),
            _ => self.inspect(),
        }
    }

    pub(crate) fn inspect(&self) -> String {
        self.inspect_at(0)
    }

    fn inspect_at(&self, depth: usize) -> String {
        if !expand_part(depth) {
            return "...".to_owned();
        }
        match self {
            Self::Nil => "nil".to_owned(),
            Self::Bool(flag) => flag.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => float_to_s(*number),
            Self::Text(text) => inspect_text(&text.value.borrow()),
            Self::Bytes(bytes) => inspect_text(&String::from_utf8_lossy(bytes)),
            Self::Symbol(name) if is_plain_symbol(name) => format!(":{name}"),
            Self::Symbol(name) => format!(":{}", inspect_text(name)),
            Self::Array(list) => {
                let items: Vec<String> =
                    list.items.borrow().iter().map(|item| item.inspect_at(depth + 1)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Hash(map) => {
                let table = map.table.borrow();
                let pairs = table.values().map(|(key, value)| {
                    format!("{}=>{}", key.inspect_at(depth + 1), value.inspect_at(depth + 1))
                });
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            Self::Set(map) => {
                let table = map.table.borrow();
                let items: Vec<String> = table.values().map(|(item, _)| item.inspect_at(depth + 1)).collect();
                format!("#<Set: {{{}}}>", items.join(", "))
            }
            Self::Range(range) => {
                let side =
                    |side: &Self| if side.is_nil() { String::new() } else { side.inspect_at(depth + 1) };
                format!(
                    "{}{}{}",
                    side(&range.from),
                    if range.exclusive { "..." } else { ".." },
                    side(&range.to)
                )
            }
            Self::Regex(regex) => inspect_regex(regex),
            Self::Match(found) => {
                format!("#<MatchData {}>", inspect_text(found.group(0).unwrap_or_default()))
            }
            Self::Constant(name) => name.to_string(),
            Self::Class(class) => class.name().to_string(),
            Self::Lambda(_) | Self::Native(_) | Self::Block => "#<Proc>".to_owned(),
            Self::Method(_) => "#<Method>".to_owned(),
            Self::Enumerator(_) => "#<Enumerator>".to_owned(),
            Self::Address(address) => address.inspect(),
            Self::Uri(uri) => format!("#<URI::Generic {uri}>"),
            Self::Object(object) if object.is_error() => {
                format!("#<{}: {}>", object.class().class_name(), object.message())
            }
            Self::Object(object) => format!("#<{}>", object.class().class_name()),
            Self::Scope(_) => "Scope".to_owned(),
            Self::Other(value) => to_text(value).to_string(),
        }
    }

    /// The name of a class or module.
    pub(crate) fn class_name(&self) -> String {
        match self {
            Self::Constant(name) => name.to_string(),
            Self::Class(class) => class.name().to_string(),
            other => other.inspect(),
        }
    }

    pub(crate) fn class(&self) -> String {
        match self {
            Self::Nil => "NilClass",
            Self::Bool(true) => "TrueClass",
            Self::Bool(false) => "FalseClass",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::Text(_) | Self::Bytes(_) => "String",
            Self::Symbol(_) => "Symbol",
            Self::Array(_) => "Array",
            Self::Hash(_) => "Hash",
            Self::Set(_) => "Set",
            Self::Range(_) => "Range",
            Self::Regex(_) => "Regexp",
            Self::Match(_) => "MatchData",
            Self::Lambda(_) | Self::Native(_) | Self::Block => "Proc",
            Self::Method(_) => "Method",
            Self::Enumerator(_) => "Enumerator",
            Self::Address(_) => "IPAddr",
            Self::Uri(uri) => uri.class(),
            Self::Object(object) => return object.class().class_name(),
            Self::Class(class) if class.is_module => "Module",
            Self::Class(_) | Self::Constant(_) => "Class",
            Self::Scope(_) => "Puppet::Parser::Scope",
            Self::Other(value) => crate::ruby::text::class(value),
        }
        .to_owned()
    }
}

impl Uri {
    pub(crate) fn class(&self) -> &'static str {
        match self.scheme.as_deref() {
            Some("http") => "URI::HTTP",
            Some("https") => "URI::HTTPS",
            Some("ftp") => "URI::FTP",
            Some("file") => "URI::File",
            Some("ldap") => "URI::LDAP",
            Some("mailto") => "URI::MailTo",
            _ => "URI::Generic",
        }
    }

    pub(crate) fn default_port(&self) -> Option<u32> {
        match self.scheme.as_deref() {
            Some("http" | "ws") => Some(80),
            Some("https" | "wss") => Some(443),
            Some("ftp") => Some(21),
            Some("ldap") => Some(389),
            Some("ldaps") => Some(636),
            _ => None,
        }
    }
}

impl std::fmt::Display for Uri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(opaque) = &self.opaque {
            write!(f, "{opaque}")?;
        } else {
            if self.host.is_some() || self.scheme.as_deref() == Some("file") {
                write!(f, "//")?;
            }
            if let Some(userinfo) = &self.userinfo {
                write!(f, "{userinfo}@")?;
            }
            write!(f, "{}", self.host.as_deref().unwrap_or_default())?;
            if let Some(port) = self.port.filter(|port| Some(*port) != self.default_port()) {
                write!(f, ":{port}")?;
            }
            write!(f, "{}", self.path)?;
            if let Some(query) = &self.query {
                write!(f, "?{query}")?;
            }
        }
        if let Some(fragment) = &self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}

fn is_plain_symbol(name: &str) -> bool {
    let body = name.strip_suffix(['?', '!', '=']).unwrap_or(name);
    let mut letters = body.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        || matches!(
            name,
            "+" | "-" | "*" | "/" | "==" | "<=>" | "[]" | "<<" | "|" | "&" | "%" | "<" | ">" | "!"
        )
}

/// The flags of an expression that was made with some, and its own source.
pub(crate) fn regex_parts(regex: &Regex) -> (String, &str) {
    let source = regex.source();
    if let Some(rest) = source.strip_prefix("(?")
        && let Some((flags, inner)) = rest.split_once(':')
        && let Some(inner) = inner.strip_suffix(')')
        && !flags.is_empty()
        && flags.chars().all(|flag| "imx".contains(flag))
    {
        let inner = if flags.contains('x') { inner.strip_suffix('\n').unwrap_or(inner) } else { inner };
        return (flags.to_owned(), inner);
    }
    (String::new(), source)
}

/// `(?-mix:…)`
fn regex_to_s(regex: &Regex) -> String {
    let (flags, source) = regex_parts(regex);
    let on: String = "mix".chars().filter(|flag| flags.contains(*flag)).collect();
    let off: String = "mix".chars().filter(|flag| !flags.contains(*flag)).collect();
    let off = if off.is_empty() { off } else { format!("-{off}") };
    format!("(?{on}{off}:{source})")
}

fn inspect_regex(regex: &Regex) -> String {
    let (flags, source) = regex_parts(regex);
    let on: String = "mix".chars().filter(|flag| flags.contains(*flag)).collect();
    let mut escaped = String::new();
    let mut before = ' ';
    for letter in source.chars() {
        if letter == '/' && before != '\\' {
            escaped.push('\\');
        }
        escaped.push(letter);
        before = if before == '\\' { ' ' } else { letter };
    }
    format!("/{escaped}/{on}")
}

/// `==`
pub(crate) fn equal(a: &Thing, b: &Thing) -> bool {
    equal_at(a, b, 0)
}

fn equal_at(a: &Thing, b: &Thing, depth: usize) -> bool {
    if !expand_part(depth) {
        return false;
    }
    let equal = |a: &Thing, b: &Thing| equal_at(a, b, depth + 1);
    match (a, b) {
        (Thing::Nil, Thing::Nil) => true,
        (Thing::Scope(one), Thing::Scope(other)) => one == other,
        (Thing::Bool(x), Thing::Bool(y)) => x == y,
        (Thing::Integer(x), Thing::Integer(y)) => x == y,
        (Thing::Float(x), Thing::Float(y)) => x == y,
        (Thing::Integer(x), Thing::Float(y)) | (Thing::Float(y), Thing::Integer(x)) => *x as f64 == *y,
        (Thing::Text(x), Thing::Text(y)) => *x.value.borrow() == *y.value.borrow(),
        (Thing::Bytes(x), Thing::Bytes(y)) => x == y,
        (Thing::Symbol(x), Thing::Symbol(y)) | (Thing::Constant(x), Thing::Constant(y)) => x == y,
        (Thing::Array(x), Thing::Array(y)) => {
            if Rc::ptr_eq(x, y) {
                return true;
            }
            let (x, y) = (x.items.borrow(), y.items.borrow());
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| equal(x, y))
        }
        (Thing::Hash(x), Thing::Hash(y)) | (Thing::Set(x), Thing::Set(y)) => {
            if Rc::ptr_eq(x, y) {
                return true;
            }
            let (x, y) = (x.table.borrow(), y.table.borrow());
            x.len() == y.len()
                && x.iter().all(|(key, (_, value))| y.get(key).is_some_and(|(_, other)| equal(value, other)))
        }
        (Thing::Range(x), Thing::Range(y)) => {
            equal(&x.from, &y.from) && equal(&x.to, &y.to) && x.exclusive == y.exclusive
        }
        (Thing::Regex(x), Thing::Regex(y)) => x == y,
        (Thing::Other(x), Thing::Other(y)) => x == y,
        (Thing::Class(x), Thing::Class(y)) => Rc::ptr_eq(x, y),
        (Thing::Object(x), Thing::Object(y)) => {
            Rc::ptr_eq(x, y) || x.is_error() && y.is_error() && x.message() == y.message()
        }
        (Thing::Address(x), Thing::Address(y)) => x == y,
        (Thing::Uri(x), Thing::Uri(y)) => x == y,
        (Thing::Lambda(x), Thing::Lambda(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}

/// `<=>`
pub(crate) fn compare(a: &Thing, b: &Thing) -> Option<std::cmp::Ordering> {
    compare_at(a, b, 0)
}

fn compare_at(a: &Thing, b: &Thing, depth: usize) -> Option<std::cmp::Ordering> {
    if !expand_part(depth) {
        return None;
    }
    match (a, b) {
        (Thing::Integer(x), Thing::Integer(y)) => Some(x.cmp(y)),
        (Thing::Text(x), Thing::Text(y)) => {
            Some(x.value.borrow().as_bytes().cmp(y.value.borrow().as_bytes()))
        }
        (Thing::Symbol(x), Thing::Symbol(y)) => Some(x.cmp(y)),
        (Thing::Float(x), Thing::Float(y)) => x.partial_cmp(y),
        (Thing::Integer(x), Thing::Float(y)) => (*x as f64).partial_cmp(y),
        (Thing::Float(x), Thing::Integer(y)) => x.partial_cmp(&(*y as f64)),
        (Thing::Address(x), Thing::Address(y)) => Some(x.address.cmp(&y.address)),
        (Thing::Array(x), Thing::Array(y)) => {
            let (x, y) = (x.items.borrow(), y.items.borrow());
            for (x, y) in x.iter().zip(y.iter()) {
                match compare_at(x, y, depth + 1)? {
                    std::cmp::Ordering::Equal => {}
                    different => return Some(different),
                }
            }
            Some(x.len().cmp(&y.len()))
        }
        _ => equal_at(a, b, depth).then_some(std::cmp::Ordering::Equal),
    }
}
