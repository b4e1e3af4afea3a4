//! The types that have a name in every environment.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use super::{Alias, Attribute, ObjectType, TupleType, Type};
use crate::regex::Regex;
use crate::value::{Hash, Key, Value};

/// The length of `Puppet::LookupValue`.
const LONGEST_NAME: usize = 19;

static BUILTIN: LazyLock<FxHashMap<&'static str, Type>> = LazyLock::new(builtin_types);
static DATA: LazyLock<Type> = LazyLock::new(data_alias);
static RICH_DATA_KEY: LazyLock<Type> = LazyLock::new(|| {
    Type::Alias(Alias::resolved("RichDataKey", Type::variant(vec![Type::String(None), Type::Numeric])))
});
static RICH_DATA: LazyLock<Type> = LazyLock::new(rich_data_alias);
static DEFERRED: LazyLock<Type> = LazyLock::new(deferred_type);
static ERROR: LazyLock<Type> = LazyLock::new(error_type);

impl Type {
    /// The type of a name such as `Integer`, in any case of letters. Resource types are not among them.
    pub fn builtin(name: &str) -> Option<Self> {
        let name = name.strip_prefix("::").unwrap_or(name);
        // Names are short: the lower-case form needs no allocation.
        let mut lower = [0; LONGEST_NAME];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        BUILTIN.get(std::str::from_utf8(lower).ok()?).cloned()
    }

    /// `Data`: what JSON can say.
    pub fn data() -> Self {
        DATA.clone()
    }

    pub fn rich_data_key() -> Self {
        RICH_DATA_KEY.clone()
    }

    /// `RichData`: what a catalog can say.
    pub fn rich_data() -> Self {
        RICH_DATA.clone()
    }

    /// The object type of calls that the agent makes.
    pub fn deferred() -> Self {
        DEFERRED.clone()
    }

    /// The object type of errors as values.
    pub fn error() -> Self {
        ERROR.clone()
    }

    /// The object type of a name; one that is not known has no attributes.
    pub fn object_named(name: &str) -> Self {
        match Self::builtin(name) {
            Some(of @ Self::Object(_)) => of,
            _ => object(name, Vec::new()),
        }
    }
}

fn builtin_types() -> FxHashMap<&'static str, Type> {
    let none = None;
    FxHashMap::from_iter([
        ("any", Type::Any),
        ("array", Type::Array(None)),
        ("binary", Type::Binary),
        ("boolean", Type::Boolean(None)),
        ("callable", Type::Callable(None)),
        ("catalogentry", Type::CatalogEntry),
        ("class", Type::Class(None)),
        ("collection", Type::Collection(None)),
        ("data", Type::data()),
        ("default", Type::Default),
        ("deferred", Type::deferred()),
        ("enum", Type::Enum(None)),
        ("error", Type::error()),
        ("float", Type::Float(None)),
        ("hash", Type::Hash(None)),
        ("init", Type::Init(None)),
        ("integer", Type::Integer(None)),
        ("iterable", Type::Iterable(none.clone())),
        ("iterator", Type::Iterator(none.clone())),
        ("notundef", Type::NotUndef(none.clone())),
        ("numeric", Type::Numeric),
        ("object", Type::Object(None)),
        ("optional", Type::Optional(none.clone())),
        ("pattern", Type::Pattern(None)),
        ("regexp", Type::Regexp(None)),
        ("resource", Type::Resource(None)),
        ("richdata", Type::rich_data()),
        ("richdatakey", Type::rich_data_key()),
        ("runtime", Type::Runtime(None)),
        ("scalar", Type::Scalar),
        ("scalardata", Type::ScalarData),
        ("semver", Type::SemVer(None)),
        ("semverrange", Type::SemVerRange),
        ("sensitive", Type::Sensitive(none.clone())),
        ("string", Type::String(None)),
        ("struct", Type::Struct(None)),
        ("timespan", Type::Timespan(None)),
        ("timestamp", Type::Timestamp(None)),
        ("tuple", Type::Tuple(None)),
        ("type", Type::Type(none)),
        (
            "typealias",
            Type::Alias(Alias::resolved("UnresolvedAlias", Type::reference("UnresolvedReference"))),
        ),
        ("typereference", Type::reference("UnresolvedReference")),
        ("typeset", Type::TypeSet(None)),
        ("undef", Type::Undef),
        ("unit", Type::Unit),
        ("uri", Type::Uri(None)),
        ("variant", Type::Variant(None)),
        ("puppet::lookupkey", Type::Alias(Alias::resolved("Puppet::LookupKey", Type::rich_data_key()))),
        ("puppet::lookupvalue", Type::Alias(Alias::resolved("Puppet::LookupValue", Type::rich_data()))),
    ])
}

/// An alias that is used in its own definition.
fn recursive(name: &str, target: impl FnOnce(Type) -> Type) -> Type {
    let alias = Alias::new(name);
    let _ = alias.recursion().set(true);
    alias.set_target(target(Type::Alias(Arc::clone(&alias))));
    Type::Alias(alias)
}

fn data_alias() -> Type {
    recursive("Data", |data| {
        Type::variant(vec![
            Type::ScalarData,
            Type::Undef,
            Type::hash_of(Type::String(None), data.clone()),
            Type::array_of(data),
        ])
    })
}

fn rich_data_alias() -> Type {
    recursive("RichData", |data| {
        Type::variant(vec![
            Type::Scalar,
            Type::SemVerRange,
            Type::Binary,
            Type::Sensitive(None),
            Type::Type(None),
            Type::TypeSet(None),
            Type::Uri(None),
            Type::Object(None),
            Type::Undef,
            Type::Default,
            Type::hash_of(Type::rich_data_key(), data.clone()),
            Type::array_of(data),
        ])
    })
}

fn object(name: &str, attributes: Vec<Attribute>) -> Type {
    object_with(name, attributes, Vec::new(), Vec::new())
}

/// An object type; `before` and `after` are what its definition says besides the attributes.
fn object_with(
    name: &str,
    attributes: Vec<Attribute>,
    before: Vec<(&str, Value)>,
    after: Vec<(&str, Value)>,
) -> Type {
    let shown = attributes.iter().map(|attribute| {
        let of = Value::from(attribute.of.clone());
        let shown = match &attribute.default {
            None => of,
            Some(default) => Value::hash(
                [(Key::from("type"), of), (Key::from("value"), default.clone())].into_iter().collect(),
            ),
        };
        (Key(Value::string(Arc::clone(&attribute.name))), shown)
    });
    let mut definition = Hash::default();
    definition.insert(Key::from("name"), Value::from(name));
    definition.extend(before.into_iter().map(|(key, item)| (Key::from(key), item)));
    definition.insert(Key::from("attributes"), Value::hash(shown.collect()));
    definition.extend(after.into_iter().map(|(key, item)| (Key::from(key), item)));
    Type::Object(Some(Arc::new(ObjectType {
        name: Some(name.into()),
        definition: Value::hash(definition),
        attributes,
    })))
}

fn attribute(name: &str, of: Type, default: Option<Value>) -> Attribute {
    Attribute { name: name.into(), of, default }
}

fn deferred_type() -> Type {
    let name = Regex::unchecked(r"\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z");
    object(
        "Deferred",
        vec![
            attribute("name", Type::pattern(vec![name]), None),
            attribute("arguments", Type::optional(Type::Array(None)), Some(Value::UNDEF)),
        ],
    )
}

fn error_type() -> Type {
    let text = Type::non_empty_string;
    let optional = || Type::optional(text());
    let details = Type::optional(Type::hash_of(text(), Type::data()));
    let attributes = vec![
        attribute("msg", text(), None),
        attribute("kind", optional(), Some(Value::UNDEF)),
        attribute("details", details, Some(Value::UNDEF)),
        attribute("issue_code", optional(), Some(Value::UNDEF)),
    ];
    let parameter = Value::from(Type::variant(vec![
        Type::String(None),
        Type::Regexp(None),
        Type::type_of(Type::Enum(None)),
        Type::type_of(Type::Pattern(None)),
        Type::type_of(Type::NotUndef(None)),
        Type::type_of(Type::Undef),
    ]));
    let parameters =
        [(Key::from("kind"), parameter.clone()), (Key::from("issue_code"), parameter)].into_iter().collect();
    let message = Type::callable(Some(TupleType { types: Vec::new(), size: None }), None, Some(text()));
    let functions = [(Key::from("message"), Value::from(message))].into_iter().collect();
    object_with(
        "Error",
        attributes,
        vec![("type_parameters", Value::hash(parameters))],
        vec![("functions", Value::hash(functions))],
    )
}
