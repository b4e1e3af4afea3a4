//! `%{…}` in data, in paths and in options.

use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_values::ruby::text::to_s;
use setpoint_puppet_values::{Data, Hash, Key, Maker, Strictness, Type, Value};

use crate::explain::Step;
use crate::failure::Failure;
use crate::key::{self, Segment};
use crate::search::{Remembered, Search};

/// Expressions that stand for nothing.
const EMPTY: [&str; 6] = ["", "::", "\"\"", "''", "\"::\"", "'::'"];

/// Stands in an expanded path for a text that is not known; no path has this character.
pub(crate) const GAP: char = '\0';

/// A text after interpolation.
pub(crate) struct Expanded {
    /// Opaque if an expression has no known value.
    pub(crate) value: Value,
    /// The text, with a [`GAP`] for each expression without a known value.
    pub(crate) text: String,
}

impl Expanded {
    pub(crate) fn unknown_reason(&self) -> Option<Arc<str>> {
        self.value.unknown_part().map(|part| Arc::clone(&part.reason))
    }
}

/// What an expression asks for.
struct Method<'t> {
    name: &'t str,
    argument: &'t str,
}

/// `name('argument')` or `name("argument")`.
fn method(expression: &str) -> Option<Method<'_>> {
    let (name, rest) = expression.split_once('(')?;
    let quoted = rest.strip_suffix(')')?;
    let argument = ['"', '\''].into_iter().find_map(|quote| {
        let inner = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty() && !inner.contains(quote)).then_some(inner)
    })?;
    let is_word = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_word.then_some(Method { name, argument })
}

impl Search<'_> {
    /// The value with all its expressions resolved. Paths and options may not use methods.
    pub(crate) fn interpolate(&mut self, value: &Value, methods: bool) -> Result<Value, Failure> {
        match &value.data {
            Data::String(text) if text.contains("%{") => self.interpolate_string(text, value.prov, methods),
            Data::Array(items) => {
                let items = items.iter().map(|item| self.interpolate(item, methods));
                let result = Value::array(items.collect::<Result<_, _>>()?);
                Ok(self.interpolated(result, value.prov))
            }
            Data::Hash(entries) => {
                let mut result = Hash::default();
                for (key, entry) in entries.iter() {
                    let key = self.interpolate(&key.0, methods)?;
                    let entry = self.interpolate(entry, methods)?;
                    result.insert(Key(key), entry);
                }
                Ok(self.interpolated(Value::hash(result), value.prov))
            }
            _ => Ok(value.clone()),
        }
    }

    /// A collection in place of one whose parts had expressions.
    fn interpolated(&mut self, collection: Value, own: Prov) -> Value {
        let arena = self.scope.arena();
        let shape = [arena.shape(own)];
        let maker = Maker { name: "interpolate".into(), span: None, of: &[own], shape: Some(&shape) };
        maker.explain(collection, arena)
    }

    /// The expansion of a path or a URI, which may not use methods.
    pub(crate) fn interpolate_path(&mut self, text: &str) -> Result<Expanded, Failure> {
        self.expand(text, Prov::NONE, false)
    }

    fn interpolate_string(&mut self, subject: &str, own: Prov, methods: bool) -> Result<Value, Failure> {
        self.expand(subject, own, methods).map(|expanded| expanded.value)
    }

    fn expand(&mut self, subject: &str, own: Prov, methods: bool) -> Result<Expanded, Failure> {
        self.with(|| Step::Interpolate(subject.to_owned()), |search| {
            let mut out = String::with_capacity(subject.len());
            let mut used = vec![own];
            let mut unknown = None;
            let mut rest = subject;
            while let Some(start) = rest.find("%{") {
                let Some(end) = rest[start..].find('}').map(|end| start + end) else { break };
                out.push_str(&rest[..start]);
                let whole = &rest[start..=end];
                let expression = rest[start + 2..end].trim();
                rest = &rest[end + 1..];
                if EMPTY.contains(&expression) {
                    continue;
                }
                search.count_expression()?;
                let value = match method(expression) {
                    Some(method) if methods => {
                        if method.name == "alias" {
                            if subject != whole {
                                return Err(Failure::issue(
                                    "'alias' interpolation is only permitted if the expression is equal to the entire string",
                                ));
                            }
                            let value = search.sub_request(method.argument)?;
                            search.count_bytes(&value)?;
                            let value = search.derived("alias", value, own);
                            return Ok(Expanded { value, text: String::new() });
                        }
                        search.call_method(&method, subject)?
                    }
                    Some(_) => {
                        return Err(Failure::issue(
                            "Interpolation using method syntax is not allowed in this context",
                        ));
                    }
                    None => {
                        let value = search.scope_value(expression, subject)?;
                        search.again(format!("scope:{expression}"), &value, methods)?
                    }
                };
                used.push(value.prov);
                if let Some(part) = value.unknown_part() {
                    unknown = Some(Value::unknown(Arc::clone(&part.reason), Type::string()));
                    out.push(GAP);
                } else if !value.is_undef() {
                    search.count_bytes(&value)?;
                    out.push_str(&to_s(&value));
                }
            }
            out.push_str(rest);
            let arena = search.scope.arena();
            let prov = arena.operation("interpolate".into(), None, &used);
            let value = unknown.unwrap_or_else(|| Value::from(out.as_str())).with(prov);
            Ok(Expanded { value, text: out })
        })
    }

    fn call_method(&mut self, method: &Method<'_>, subject: &str) -> Result<Value, Failure> {
        let argument = method.argument;
        match method.name {
            "lookup" | "hiera" => {
                let value = self.sub_request(argument)?;
                self.again(argument.to_owned(), &value, true)
            }
            "scope" => {
                let value = self.scope_value(argument, subject)?;
                self.again(format!("scope:{argument}"), &value, true)
            }
            "literal" => self.again(argument.to_owned(), &Value::from(argument), true),
            other => Err(Failure::issue(format!("Unknown interpolation method '{other}'"))),
        }
    }

    /// What an expression gave may have expressions of its own.
    fn again(&mut self, name: String, value: &Value, methods: bool) -> Result<Value, Failure> {
        self.check(name, |search| search.interpolate(value, methods))
    }

    /// A variable of the scope, with a path into it.
    pub(crate) fn scope_value(&mut self, key: &str, subject: &str) -> Result<Value, Failure> {
        let syntax = || Failure::data(format!("Syntax error in string: {subject}"));
        let mut segments = key::split(key).ok_or_else(syntax)?;
        let root = match segments.remove(0) {
            Segment::Name(name) => name,
            Segment::Index(index) => {
                return Err(Failure::other(format!(
                    "Scope variable name {index} is a Integer, not a string"
                )));
            }
        };
        let mut value = self.with(
            || Step::Scope("Global Scope".to_owned()),
            |search| {
                if let Some(value) = search.overrides.get(&Key::from(&*root)).cloned() {
                    search.report(|explainer| explainer.found_in_overrides(&root, &value));
                    return Ok(value);
                }
                if let Some(value) = search.variable(&root)? {
                    search.report(|explainer| explainer.found(&root, &value));
                    return Ok(value);
                }
                if let Some(value) = search.defaults.get(&Key::from(&*root)).cloned() {
                    search.report(|explainer| explainer.found_in_defaults(&root, &value));
                    return Ok(value);
                }
                Ok(Value::UNDEF)
            },
        )?;
        if !value.is_undef() && !segments.is_empty() {
            value = self.dig(key, &segments, value)?.unwrap_or(Value::UNDEF);
        }
        if let Some(collected) = &mut self.collected
            && (value.is_undef() || !key.starts_with("::"))
        {
            collected.push(Remembered { key: key.into(), root, segments, value: value.clone() });
        }
        Ok(value)
    }

    /// A variable; that there is none is a warning or an error.
    fn variable(&mut self, name: &Arc<str>) -> Result<Option<Value>, Failure> {
        if let Some((_, value)) = self.locals.iter().rev().find(|(known, _)| known == name) {
            return Ok(Some(value.clone()));
        }
        let reason = match self.scope_variable(name) {
            Ok(value) => return Ok(Some(value)),
            Err(reason) => reason,
        };
        let plain = name.strip_prefix("::").unwrap_or(name);
        let name =
            if name.contains("::") && reason.is_empty() { format!("::{plain}") } else { plain.to_owned() };
        let message = format!("Undefined variable '{name}'; {reason}");
        match self.scope.strict() {
            Strictness::Off => {}
            Strictness::Warning => self.scope.warn_once(&format!("Variable: {name}"), message, None),
            Strictness::Error => return Err(Failure::other(message)),
        }
        Ok(None)
    }

    /// A variable of the scope that asks. Hiera 3 has three more, which say who asks.
    pub(crate) fn scope_variable(&mut self, name: &str) -> Result<Value, String> {
        if !self.in_version_3 {
            return self.scope.variable(name);
        }
        let class = |search: &Self| search.scope.calling_class().unwrap_or_default();
        match name {
            "calling_class" => Ok(Value::from(class(self).as_str())),
            "calling_class_path" => Ok(Value::from(class(self).replace("::", "/").as_str())),
            "calling_module" => self.scope.variable("module_name"),
            _ => self.scope.variable(name),
        }
    }

    /// Goes into a value. Nothing if a segment is missing.
    pub(crate) fn dig(
        &mut self,
        key: &str,
        segments: &[Segment],
        value: Value,
    ) -> Result<Option<Value>, Failure> {
        let joined = || segments.iter().map(Segment::text).collect::<Vec<_>>().join(".");
        self.with(
            || Step::SubLookup(joined()),
            |search| {
                let mut value = value;
                for segment in segments {
                    let text = segment.text();
                    search.scope.note_key_read(&value, &text);
                    let next = search.with(
                        || Step::Segment,
                        |search| {
                            Ok(match key::step(&value, segment, key)? {
                                key::Step::Missing => {
                                    search.report(|explainer| explainer.not_found(&text));
                                    None
                                }
                                key::Step::Found(found) | key::Step::Unknown(found) => {
                                    search.report(|explainer| explainer.found(&text, &found));
                                    Some(found)
                                }
                            })
                        },
                    )?;
                    let Some(next) = next else { return Ok(None) };
                    value = search.chosen(&value, next);
                }
                Ok(Some(value))
            },
        )
    }
}
