//! What `Integer[1, 2]` means.

use std::sync::Arc;

use super::{
    Bounds, CallableType, InitType, IntRange, ObjectType, RuntimeType, StructElement, TupleType, Type,
    TypeSetType, class_reference, infer_generic, resource_reference,
};
use crate::error::{Blame, Checks, ValueError};
use crate::label::{a_an, a_an_uc, article, class_name};
use crate::regex::Regex;
use crate::semver::SemVerRange;
use crate::time::{Timespan, Timestamp};
use crate::uri::Uri;
use crate::value::{Data, Value};

/// A type with parameters: `Integer[1,2]`, `Array[String, 1]`, `File['a', 'b']` (an array of references).
/// A resource or class that already has a title is the evaluator's business: it reads parameters of a resource.
pub fn parameterise(base: &Type, keys: &[Value], checks: &mut Checks) -> Result<Value, ValueError> {
    match base {
        Type::Resource(_) => return resource_reference(base, keys, checks),
        Type::Class(_) => return class_reference(keys, checks),
        _ => {}
    }
    let mut flat = Vec::with_capacity(keys.len());
    flatten(keys, &mut flat);
    let keys = Keys { base, flat, raw: keys };
    keys.build().map(Value::from)
}

pub(crate) fn flatten(keys: &[Value], flat: &mut Vec<Value>) {
    for key in keys {
        match &key.data {
            Data::Array(items) => flatten(items, flat),
            _ => flat.push(key.clone()),
        }
    }
}

/// The parameters of one type.
struct Keys<'a> {
    base: &'a Type,
    flat: Vec<Value>,
    /// As they were written, arrays included.
    raw: &'a [Value],
}

/// `Undef`, `Default`, or the type of a key without its details.
pub(crate) fn key_type_name(key: &Value) -> String {
    match key.data {
        Data::Undef => "Undef".to_owned(),
        Data::Default => "Default".to_owned(),
        _ => infer_generic(key).to_string(),
    }
}

pub(super) fn arity(base: &str, min: usize, max: Option<i64>, actual: usize) -> ValueError {
    let accepts = match max {
        Some(-1) => format!("{min} or more arguments"),
        Some(max) if max != min as i64 => format!("{min} to {max} arguments"),
        _ => format!("{min} argument{}", if min == 1 { "" } else { "s" }),
    };
    ValueError::new(format!("{base}[] accepts {accepts}. Got {actual}"))
}

pub(super) fn at_key(message: String, index: usize) -> ValueError {
    ValueError::new(message).blaming(Blame::Key(index))
}

fn range_error(from: impl std::fmt::Display, to: impl std::fmt::Display) -> ValueError {
    ValueError::new(format!("'from' must be less or equal to 'to'. Got ({from}, {to}"))
}

impl Keys<'_> {
    fn build(&self) -> Result<Type, ValueError> {
        match self.base {
            Type::Integer(_) => self.integer(),
            Type::Float(_) => self.float(),
            Type::String(_) => match self.flat.len() {
                1 | 2 => Ok(Type::string_of_size(size(0, &self.flat)?)),
                actual => Err(ValueError::new(format!(
                    "String supports [] with one or two arguments. Got {actual}"
                ))),
            },
            Type::Boolean(_) => {
                self.check(Some(1), "TrueClass or FalseClass", |key| matches!(key.data, Data::Bool(_)))?;
                Ok(Type::Boolean(match self.flat[0].data {
                    Data::Bool(value) => Some(value),
                    _ => None,
                }))
            }
            Type::Enum(_) => self.enumeration(),
            Type::Pattern(_) => self.pattern(),
            Type::Regexp(_) => self.regexp(),
            Type::Collection(_) => match self.flat.len() {
                1 | 2 => Ok(Type::Collection(Some(Arc::new(size(0, &self.flat)?.to_size())))),
                actual => Err(arity("Collection-Type", 1, Some(2), actual)),
            },
            Type::Array(_) => self.array(),
            Type::Hash(_) => self.hash(),
            Type::Tuple(_) => self.tuple(),
            Type::Struct(_) => self.structure(),
            Type::Variant(_) => {
                self.check(None, "Any-Type", |key| matches!(key.data, Data::Type(_)))?;
                Ok(Type::variant(self.types()))
            }
            Type::Optional(_) => match self.flat.as_slice() {
                [key] => match &key.data {
                    Data::Type(of) => Ok(Type::optional(of.clone())),
                    Data::String(text) => Ok(Type::optional(Type::string_value(Arc::clone(text)))),
                    _ => Err(not_a_type("Optional-Type", key, 0)),
                },
                keys => Err(arity("Optional-Type", 1, None, keys.len())),
            },
            Type::NotUndef(_) => match self.flat.as_slice() {
                [] => Ok(Type::NotUndef(None)),
                [key] => match &key.data {
                    Data::Type(of) => Ok(Type::not_undef(of.clone())),
                    Data::String(text) => Ok(Type::not_undef(Type::string_value(Arc::clone(text)))),
                    _ => {
                        let class = class_name(key);
                        Err(at_key(
                            format!("NotUndef-Type[] argument must be a Type or a String. Got {class}"),
                            0,
                        ))
                    }
                },
                keys => Err(arity("NotUndef-Type", 0, Some(1), keys.len())),
            },
            Type::Sensitive(_) => Ok(Type::sensitive(self.single("Sensitive-Type")?.generalize())),
            Type::Type(_) => Ok(Type::type_of(self.single("Type-Type")?)),
            Type::Iterable(_) => Ok(Type::iterable(self.single("Iterable-Type")?)),
            Type::Iterator(_) => Ok(Type::iterator(self.single("Iterator-Type")?)),
            Type::Init(_) => self.init(),
            Type::Callable(_) => self.callable(),
            Type::Timestamp(_) => {
                let (from, to) = self.times(timestamp)?;
                Bounds::checked(from, to).map(Type::timestamp).ok_or_else(|| {
                    range_error(
                        from.map_or_else(String::new, |time| time.to_string()),
                        to.map_or_else(String::new, |time| time.to_string()),
                    )
                })
            }
            Type::Timespan(_) => {
                let (from, to) = self.times(timespan)?;
                Bounds::checked(from, to).map(Type::timespan).ok_or_else(|| {
                    range_error(
                        from.map_or_else(String::new, |span| span.to_string()),
                        to.map_or_else(String::new, |span| span.to_string()),
                    )
                })
            }
            Type::SemVer(_) => self.sem_ver(),
            Type::Uri(_) => self.uri(),
            Type::Runtime(_) => self.runtime(),
            Type::Object(of) => self.object(of.as_deref()),
            Type::TypeSet(_) => match self.flat.as_slice() {
                [definition] => Ok(Type::TypeSet(Some(Arc::new(TypeSetType {
                    name: None,
                    definition: definition.clone(),
                })))),
                keys => Err(arity("TypeSet-Type", 1, None, keys.len())),
            },
            Type::Reference(name) => Err(ValueError::new(format!("Resource type not found: {name}"))),
            _ => {
                let message =
                    format!("Operator '[]' is not applicable to {}.", a_an(&Value::from(self.base.clone())));
                Err(ValueError::new(message).blaming(Blame::Left))
            }
        }
    }

    fn base_label(&self) -> String {
        a_an_uc(&Value::from(self.base.clone()))
    }

    /// At least one key, at most `max`, each of a kind that `expected` names.
    fn check(
        &self,
        max: Option<usize>,
        expected: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<(), ValueError> {
        self.check_keys(&self.flat, max, expected, fits)
    }

    fn check_keys(
        &self,
        keys: &[Value],
        max: Option<usize>,
        expected: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<(), ValueError> {
        if keys.is_empty() || max.is_some_and(|max| keys.len() > max) {
            return Err(arity(&self.base_label(), 1, Some(max.map_or(-1, |max| max as i64)), keys.len()));
        }
        match keys.iter().enumerate().find(|(_, key)| !fits(key)) {
            None => Ok(()),
            Some((index, key)) => {
                let message = format!("Cannot use {} where {expected} is expected", key_type_name(key));
                Err(self.specialization(&message, index))
            }
        }
    }

    fn specialization(&self, message: &str, index: usize) -> ValueError {
        specialization(self.base, message, index)
    }

    fn types(&self) -> Vec<Type> {
        self.flat.iter().filter_map(|key| key.as_type().cloned()).collect()
    }

    /// The only key, a type.
    fn single(&self, base: &str) -> Result<Type, ValueError> {
        match self.flat.as_slice() {
            [key] => key.as_type().cloned().ok_or_else(|| not_a_type(base, key, 0)),
            keys => Err(arity(base, 1, None, keys.len())),
        }
    }

    fn integer(&self) -> Result<Type, ValueError> {
        let actual = self.flat.len();
        if !(1..=2).contains(&actual) {
            let message =
                format!("Integer-Type supports [] with one or two arguments (from, to). Got {actual}");
            return Err(ValueError::new(message));
        }
        for (index, key) in self.flat.iter().enumerate() {
            if !is_bound(key) {
                let class = class_name(key);
                let message = format!(
                    "Integer-Type [] requires all arguments to be integers (or default). Got {class}"
                );
                return Err(at_key(message, index));
            }
        }
        int_range(&self.flat).map(Type::integer_range)
    }

    fn float(&self) -> Result<Type, ValueError> {
        let actual = self.flat.len();
        if !(1..=2).contains(&actual) {
            let message =
                format!("Float-Type supports [] with one or two arguments (from, to). Got {actual}");
            return Err(ValueError::new(message));
        }
        let mut ends = [None, None];
        for (index, key) in self.flat.iter().enumerate() {
            ends[index] = match key.data {
                Data::Integer(number) => Some(number as f64),
                Data::Float(number) => Some(number),
                Data::Default => None,
                _ => {
                    let class = class_name(key);
                    let message = format!(
                        "Float-Type [] requires all arguments to be floats, or integers (or default). Got {class}"
                    );
                    return Err(at_key(message, index));
                }
            };
        }
        let [from, to] = ends;
        if Bounds::checked(from, to).is_none() {
            let text = |end: Option<f64>| end.map_or_else(String::new, crate::ruby::numbers::float_to_s);
            return Err(range_error(text(from), text(to)));
        }
        Ok(Type::float(from, to))
    }

    fn enumeration(&self) -> Result<Type, ValueError> {
        let (keys, case_insensitive) = match self.flat.split_last() {
            Some((last, keys)) => match last.data {
                Data::Bool(value) => (keys, value),
                _ => (self.flat.as_slice(), false),
            },
            None => (self.flat.as_slice(), false),
        };
        self.check_keys(keys, None, "String", |key| matches!(key.data, Data::String(_)))?;
        Ok(Type::enumeration(keys.iter().filter_map(Value::as_str), case_insensitive))
    }

    fn pattern(&self) -> Result<Type, ValueError> {
        let expected = "String or Regexp or Pattern-Type or Regexp-Type";
        self.check(None, expected, |key| {
            matches!(
                key.data,
                Data::String(_) | Data::Regex(_) | Data::Type(Type::Pattern(_) | Type::Regexp(_))
            )
        })?;
        let mut patterns = Vec::new();
        for key in &self.flat {
            match &key.data {
                Data::String(text) => patterns.push(Regex::new(Arc::clone(text))?),
                Data::Regex(regex) => patterns.push(regex.clone()),
                Data::Type(Type::Pattern(Some(inner))) => patterns.extend(inner.iter().cloned()),
                Data::Type(Type::Regexp(regex)) => {
                    patterns.push(regex.clone().unwrap_or_else(|| Regex::unchecked("")));
                }
                _ => {}
            }
        }
        Ok(Type::pattern(patterns))
    }

    fn regexp(&self) -> Result<Type, ValueError> {
        if self.flat.len() != 1 {
            let error = arity(&self.base_label(), 1, None, self.flat.len());
            return Err(if self.flat.is_empty() { error } else { error.blaming(Blame::Key(1)) });
        }
        self.check(Some(1), "String or Regexp", |key| matches!(key.data, Data::String(_) | Data::Regex(_)))?;
        Ok(Type::Regexp(Some(match &self.flat[0].data {
            Data::Regex(regex) => regex.clone(),
            Data::String(text) => Regex::new(Arc::clone(text))?,
            _ => return Ok(Type::Regexp(None)),
        })))
    }

    fn array(&self) -> Result<Type, ValueError> {
        match self.flat.as_slice() {
            [key] => match &key.data {
                Data::Type(of) => Ok(Type::array_of(of.clone())),
                _ => Err(not_a_type("Array-Type", key, 0)),
            },
            [first, rest @ ..] if rest.len() <= 2 => match &first.data {
                Data::Type(of) => Ok(Type::array(of.clone(), Some(size(1, rest)?))),
                _ if rest.len() == 1 => Ok(Type::array(Type::Any, Some(size(0, &self.flat)?))),
                _ => Err(not_a_type("Array-Type", first, 0)),
            },
            keys => Err(arity("Array-Type", 1, Some(3), keys.len())),
        }
    }

    fn hash(&self) -> Result<Type, ValueError> {
        if let [a, b] = self.flat.as_slice()
            && a.as_integer().is_some()
            && b.as_integer().is_some()
        {
            return Ok(Type::hash(Type::Any, Type::Any, Some(int_range(&self.flat)?)));
        }
        for (index, key) in self.flat.iter().take(2).enumerate() {
            if key.as_type().is_none() {
                return Err(not_a_type("Hash-Type", key, index));
            }
        }
        let size = match self.flat.as_slice() {
            [_, _] => None,
            [_, _, size] => Some(match &size.data {
                Data::Type(of @ Type::Integer(_)) => of.integer_bounds(),
                Data::String(_) => return Err(ValueError::new("comparison of String with Infinity failed")),
                _ => int_range(std::slice::from_ref(size))?,
            }),
            [_, _, sizes @ ..] if sizes.len() == 2 => Some(size(2, sizes)?),
            keys => return Err(arity("Hash-Type", 2, Some(4), keys.len())),
        };
        let of = |index: usize| self.flat.get(index).and_then(Value::as_type).cloned().unwrap_or(Type::Any);
        Ok(Type::hash(of(0), of(1), size))
    }

    fn tuple(&self) -> Result<Type, ValueError> {
        let (keys, size) = take_size(&self.flat)?;
        self.check_keys(keys, None, "Any-Type", |key| matches!(key.data, Data::Type(_)))?;
        Ok(Type::tuple(keys.iter().filter_map(|key| key.as_type().cloned()).collect(), size))
    }

    fn structure(&self) -> Result<Type, ValueError> {
        self.check_keys(self.raw, Some(1), "Hash", |key| matches!(key.data, Data::Hash(_)))?;
        let Some(entries) = self.raw.first().and_then(Value::as_hash) else { return Ok(Type::Struct(None)) };
        let mut elements = Vec::with_capacity(entries.len());
        for (key, item) in entries {
            elements.push(struct_element(&key.0, item)?);
        }
        Ok(Type::structure(elements))
    }

    fn init(&self) -> Result<Type, ValueError> {
        let Some((first, arguments)) = self.raw.split_first() else {
            return Err(at_key("Init-Type[] arguments must be types. Got NilClass".to_owned(), 0));
        };
        match &first.data {
            Data::Type(of) => {
                Ok(Type::Init(Some(Arc::new(InitType { of: of.clone(), arguments: arguments.to_vec() }))))
            }
            _ => Err(not_a_type("Init-Type", first, 0)),
        }
    }

    fn callable(&self) -> Result<Type, ValueError> {
        let mut returns = None;
        let mut keys = self.raw.to_vec();
        if let Some(first) = self.raw.first()
            && let Data::Array(parameters) = &first.data
        {
            let [_, result] = self.raw else {
                return Err(arity(&self.base_label(), 2, Some(2), self.raw.len()));
            };
            let Data::Type(of) = &result.data else {
                let message = format!("Cannot use {} where Any-Type is expected", key_type_name(result));
                return Err(self.specialization(&message, 1));
            };
            returns = Some(of.clone());
            keys.clone_from(parameters);
        }
        let block = match keys.last().and_then(Value::as_type) {
            Some(of) if of.is_kind_of_callable() => {
                let of = of.clone();
                keys.pop();
                Some(of)
            }
            _ => None,
        };
        let (keys, size) = take_size(&keys)?;
        let mut types: Vec<Type> = keys.iter().map(type_of_key).collect();
        if types.is_empty() && size.is_some_and(|size| size.to.is_none_or(|to| to > 0)) {
            types.push(Type::Unit);
        }
        let size = size.map(IntRange::to_size);
        let parameters = Some(TupleType { types, size });
        Ok(Type::Callable(Some(Arc::new(CallableType {
            parameters,
            block,
            returns: returns.filter(|returns| !matches!(returns, Type::Any)),
        }))))
    }

    fn times<T>(
        &self,
        convert: impl Fn(&Value) -> Result<Option<T>, ValueError>,
    ) -> Result<(Option<T>, Option<T>), ValueError> {
        let mut ends = self.flat.iter().map(convert);
        if self.flat.len() > 2 {
            return Err(arity(&self.base_label(), 0, Some(2), self.flat.len()));
        }
        let from = ends.next().transpose()?.flatten();
        let to = ends.next().transpose()?.flatten();
        Ok((from, to))
    }

    fn sem_ver(&self) -> Result<Type, ValueError> {
        let expected = "String or SemanticPuppet::VersionRange";
        self.check(None, expected, |key| matches!(key.data, Data::String(_) | Data::SemVerRange(_)))?;
        let ranges: Result<Vec<SemVerRange>, ValueError> = self
            .flat
            .iter()
            .map(|key| match &key.data {
                Data::SemVerRange(range) => Ok(range.as_ref().clone()),
                Data::String(text) => SemVerRange::parse(text),
                _ => SemVerRange::parse("*"),
            })
            .collect();
        Ok(Type::sem_ver(ranges?))
    }

    fn uri(&self) -> Result<Type, ValueError> {
        let [key] = self.flat.as_slice() else {
            return Err(arity("URI-Type", 1, None, self.flat.len()));
        };
        let expected = uri_parameter_type();
        if !expected.is_instance(key) {
            return Err(not_a_type("URI-Type", key, 0));
        }
        match &key.data {
            Data::String(text) => Ok(Type::Uri(Uri::parse(text)?.parameters().map(Arc::new))),
            Data::Hash(entries) if !entries.is_empty() => Ok(Type::Uri(Some(Arc::clone(entries)))),
            _ => Ok(Type::Uri(None)),
        }
    }

    fn runtime(&self) -> Result<Type, ValueError> {
        if self.flat.len() != 2 {
            return Err(arity(&self.base_label(), 1, Some(2), self.flat.len()));
        }
        self.check(Some(2), "String or String", |key| matches!(key.data, Data::String(_)))?;
        let text = |index: usize| self.flat.get(index).and_then(Value::as_str).unwrap_or("").into();
        Ok(Type::Runtime(Some(Arc::new(RuntimeType { runtime: text(0), name: text(1) }))))
    }

    fn object(&self, of: Option<&ObjectType>) -> Result<Type, ValueError> {
        let object = match (of, self.flat.as_slice()) {
            (Some(of), _) => of.with_arguments(self.raw)?,
            (None, [definition]) => ObjectType::from_definition(None, definition)?,
            (None, keys) => return Err(arity("Object-Type", 1, None, keys.len())),
        };
        Ok(Type::Object(Some(Arc::new(object))))
    }
}

pub(super) fn specialization(base: &Type, message: &str, index: usize) -> ValueError {
    let base = a_an(&Value::from(base.clone()));
    at_key(format!("Error creating type specialization of {base}, {message}"), index)
}

fn not_a_type(base: &str, key: &Value, index: usize) -> ValueError {
    at_key(format!("{base}[] arguments must be types. Got {}", class_name(key)), index)
}

fn is_bound(key: &Value) -> bool {
    matches!(key.data, Data::Integer(_) | Data::Default)
}

fn int_range(keys: &[Value]) -> Result<IntRange, ValueError> {
    let end = |index: usize| keys.get(index).and_then(Value::as_integer);
    Bounds::checked(end(0), end(1)).ok_or_else(|| range_error(end(0).unwrap_or(0), end(1).unwrap_or(0)))
}

/// A size from a single `Integer` type or up to two integers.
fn size(start: usize, keys: &[Value]) -> Result<IntRange, ValueError> {
    if let [key] = keys
        && let Data::Type(of @ Type::Integer(_)) = &key.data
    {
        return Ok(of.integer_bounds());
    }
    for (index, key) in keys.iter().enumerate() {
        if !is_bound(key) {
            let class = match &key.data {
                Data::Type(of) => format!("{}-Type", of.simple_name()),
                _ => class_name(key).to_owned(),
            };
            let message = format!(
                "A Type's size constraint arguments must be a single Integer type, or 1-2 integers (or default). \
                 Got {} {class}",
                article(&class)
            );
            return Err(at_key(message, start + index));
        }
    }
    int_range(keys)
}

/// One or two numbers at the end are a size.
fn take_size(keys: &[Value]) -> Result<(&[Value], Option<IntRange>), ValueError> {
    let is_end = |key: &Value| is_bound(key) || key.as_str() == Some("default");
    match keys {
        [rest @ .., from, to] if is_end(from) && is_end(to) => {
            Ok((rest, Some(int_range(&[from.clone(), to.clone()])?)))
        }
        [rest @ .., from] if is_end(from) => Ok((rest, Some(int_range(std::slice::from_ref(from))?))),
        keys => Ok((keys, None)),
    }
}

fn type_of_key(key: &Value) -> Type {
    match &key.data {
        Data::Type(of) => of.clone(),
        Data::String(text) => {
            Type::Runtime(Some(Arc::new(RuntimeType { runtime: "ruby".into(), name: Arc::clone(text) })))
        }
        _ => infer_generic(key),
    }
}

fn struct_element(key: &Value, item: &Value) -> Result<StructElement, ValueError> {
    let value = type_of_key(item);
    let error = |message: String| Err(ValueError::new(message));
    let (key, name) = match &key.data {
        Data::String(name) if name.is_empty() => {
            return error("Struct element key cannot be an empty String".to_owned());
        }
        Data::String(name) => return Ok(StructElement::named(Arc::clone(name), value)),
        Data::Type(of) => match of {
            Type::NotUndef(inner) => {
                let inner = inner.as_deref().cloned().unwrap_or(Type::Any);
                (inner.clone(), exact(&inner))
            }
            Type::Optional(inner) => (of.clone(), inner.as_deref().and_then(exact)),
            Type::String(_) => (of.clone(), exact(of)),
            Type::Enum(values) => match values.as_deref() {
                Some(values) if values.values.len() == 1 => (of.clone(), values.values.first().cloned()),
                _ => (of.clone(), None),
            },
            _ => {
                return error(format!(
                    "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {}",
                    class_name(key)
                ));
            }
        },
        _ => {
            return error(format!(
                "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {}",
                class_name(key)
            ));
        }
    };
    match name {
        Some(name) => Ok(StructElement { name, key, value }),
        None => {
            error(format!("Unable to extract a non-empty literal string from Struct member key type {key}"))
        }
    }
}

fn exact(of: &Type) -> Option<Arc<str>> {
    match of {
        Type::String(Some(of)) => match of.as_ref() {
            super::StringType::Value(value) => Some(Arc::clone(value)),
            super::StringType::Size(_) => None,
        },
        _ => None,
    }
}

fn timestamp(key: &Value) -> Result<Option<Timestamp>, ValueError> {
    match &key.data {
        Data::Timestamp(time) => Ok(Some(*time)),
        Data::Undef | Data::Default => Ok(None),
        _ => match crate::new::timestamp_from(key)? {
            Some(time) => Ok(Some(time)),
            None => Err(ValueError::new(format!(
                "Unable to create a Puppet::Pops::Time::Timestamp from a {}",
                class_name(key)
            ))),
        },
    }
}

fn timespan(key: &Value) -> Result<Option<Timespan>, ValueError> {
    match &key.data {
        Data::Timespan(span) => Ok(Some(*span)),
        Data::Undef | Data::Default => Ok(None),
        _ => match crate::new::timespan_from(key)? {
            Some(span) => Ok(Some(span)),
            None => Err(ValueError::new(format!(
                "Unable to create a Puppet::Pops::Time::Timespan from a {}",
                class_name(key)
            ))),
        },
    }
}

fn uri_parameter_type() -> Type {
    let text = Type::variant(vec![
        Type::non_empty_string(),
        Type::Regexp(None),
        Type::type_of(Type::Pattern(None)),
        Type::type_of(Type::Enum(None)),
        Type::type_of(Type::NotUndef(None)),
        Type::type_of(Type::Undef),
    ]);
    let number = Type::variant(vec![
        Type::integer(Some(0), None),
        Type::type_of(Type::NotUndef(None)),
        Type::type_of(Type::Undef),
    ]);
    let names = ["scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque"];
    let elements = names.map(|name| {
        let of = if name == "port" { number.clone() } else { text.clone() };
        StructElement::optional(name, Type::optional(of))
    });
    Type::variant(vec![Type::non_empty_string(), Type::structure(elements.to_vec())])
}
