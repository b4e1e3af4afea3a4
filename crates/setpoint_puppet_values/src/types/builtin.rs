//! The types that have a name in every environment.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use super::{Alias, ObjectType, TupleType, Type, TypeSetType};
use crate::regex::Regex;
use crate::value::{Key, Value};

/// The length of `Puppet::Resource::ResourceType3`.
const LONGEST_NAME: usize = 31;

static BUILTIN: LazyLock<FxHashMap<&'static str, Type>> = LazyLock::new(builtin_types);
static DATA: LazyLock<Type> = LazyLock::new(data_alias);
static RICH_DATA_KEY: LazyLock<Type> = LazyLock::new(|| {
    Type::Alias(Alias::resolved("RichDataKey", Type::variant(vec![Type::String(None), Type::Numeric])))
});
static RICH_DATA: LazyLock<Type> = LazyLock::new(rich_data_alias);
static DEFERRED: LazyLock<Type> = LazyLock::new(deferred_type);
static ERROR: LazyLock<Type> = LazyLock::new(error_type);
static RUBY_METHOD: LazyLock<Type> = LazyLock::new(ruby_method_type);
static RESOURCE_PARAM: LazyLock<Type> = LazyLock::new(|| {
    object_from_text(
        "Object[{
            name => 'Puppet::Resource::Param',
            attributes => {
                type => Type,
                name => String[1],
                name_var => { type => Boolean, value => false },
            },
            equality => [name],
        }]",
    )
});
static RESOURCE_TYPE: LazyLock<Type> = LazyLock::new(|| {
    object_from_text(
        "Object[{
            name => 'Puppet::Resource::ResourceType3',
            attributes => {
                name => String[1],
                properties => { type => Array[Puppet::Resource::Param], value => [] },
                parameters => { type => Array[Puppet::Resource::Param], value => [] },
                title_patterns_hash => { type => Optional[Hash[Regexp, Array[String[1]]]], value => undef },
                isomorphic => { type => Boolean, value => true },
                capability => { type => Boolean, value => false },
            },
            equality => [name],
        }]",
    )
});
static ANNOTATION: LazyLock<Type> = LazyLock::new(annotation_type);

impl Type {
    /// The type of a name such as `Integer`, in any case of letters. Resource types are not among them.
    pub fn builtin(name: &str) -> Option<Self> {
        let name = name.strip_prefix("::").unwrap_or(name);
        // Names are short: the lower-case form needs no allocation.
        let mut lower = [0; LONGEST_NAME];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        let name = std::str::from_utf8(lower).ok()?;
        BUILTIN.get(name).cloned().or_else(|| Self::builtin_object(name))
    }

    /// The object types that Puppet declares itself. To make one takes other types by their names.
    fn builtin_object(name: &str) -> Option<Self> {
        Some(match name {
            "annotation" => Self::annotation(),
            "deferred" => Self::deferred(),
            "error" => Self::error(),
            "puppet::resource::param" => RESOURCE_PARAM.clone(),
            "puppet::resource::resourcetype3" => RESOURCE_TYPE.clone(),
            "rubymethod" => RUBY_METHOD.clone(),
            _ => return None,
        })
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

    /// The object type of what is attached to other objects and types.
    pub fn annotation() -> Self {
        ANNOTATION.clone()
    }

    /// The object type of a name; one that is not known has no attributes.
    pub fn object_named(name: &str) -> Self {
        match Self::builtin(name) {
            Some(of @ Self::Object(_)) => of,
            _ => {
                Self::Object(Some(Arc::new(ObjectType { name: Some(name.into()), ..ObjectType::default() })))
            }
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
        ("enum", Type::Enum(None)),
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
        (
            "pcore",
            Type::TypeSet(Some(Arc::new(TypeSetType {
                name: Some("Pcore".into()),
                definition: Value::UNDEF,
            }))),
        ),
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

/// An object type from its definition, which must be sound.
fn object(name: &str, definition: Vec<(&str, Value)>) -> Type {
    let definition = definition.into_iter().map(|(key, value)| (Key::from(key), value)).collect();
    let object = ObjectType::from_definition(Some(name), &Value::hash(definition));
    Type::Object(object.ok().map(Arc::new))
}

fn object_from_text(text: &str) -> Type {
    Type::parse(text, &|_| None).unwrap_or(Type::Object(None))
}

/// Attributes, each with its type; those that may be undef have that as their value.
fn attributes(attributes: &[(&str, Type)]) -> Value {
    Value::hash(attributes.iter().map(|(name, of)| (Key::from(*name), Value::from(of.clone()))).collect())
}

fn deferred_type() -> Type {
    let name = Regex::unchecked(r"\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z");
    let members =
        attributes(&[("name", Type::pattern(vec![name])), ("arguments", Type::optional(Type::Array(None)))]);
    object("Deferred", vec![("attributes", members)])
}

/// The parent of all annotations. It has no attributes, and its definition must not be checked: the check names it.
fn annotation_type() -> Type {
    let definition = [(Key::from("name"), Value::from("Annotation"))].into_iter().collect();
    Type::Object(Some(Arc::new(ObjectType {
        name: Some("Annotation".into()),
        definition,
        ..ObjectType::default()
    })))
}

fn ruby_method_type() -> Type {
    let members =
        attributes(&[("body", Type::String(None)), ("parameters", Type::optional(Type::String(None)))]);
    object("RubyMethod", vec![("parent", Value::from(Type::annotation())), ("attributes", members)])
}

fn error_type() -> Type {
    let text = Type::non_empty_string;
    let optional = || Type::optional(text());
    let details = Type::optional(Type::hash_of(text(), Type::data()));
    let members = attributes(&[
        ("msg", text()),
        ("kind", optional()),
        ("details", details),
        ("issue_code", optional()),
    ]);
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
    object(
        "Error",
        vec![
            ("type_parameters", Value::hash(parameters)),
            ("attributes", members),
            ("functions", Value::hash(functions)),
        ],
    )
}
