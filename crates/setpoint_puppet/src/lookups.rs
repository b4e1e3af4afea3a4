//! Data asked for without a compilation, as `puppet lookup` does it.

use setpoint_hiera::{Explain, FailureKind as HieraFailure};
use setpoint_puppet_functions::{
    DataAnswer, DataRequest, Failure, FailureKind, KeyUse, MissingData, Stop, Typed, json_text, yaml_text,
};
use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Value};
use setpoint_source::Diagnostic;

use crate::compiler::Compiler;
use crate::environment::Environment;
use crate::options::{Entry, Options};
use crate::{LogEntry, with_stack};

/// What is looked for, and how.
#[derive(Debug, Clone, Default)]
pub struct LookupOptions {
    /// Tried in order, until one is found.
    pub keys: Vec<String>,
    /// The name of a strategy.
    pub merge: Option<String>,
    pub knockout_prefix: Option<String>,
    pub sort_merged_arrays: bool,
    pub merge_hash_arrays: bool,
    /// The type that the value must have.
    pub of: Option<String>,
    pub default: Option<String>,
    /// Explain the search.
    pub explain: bool,
    /// Explain where `lookup_options` come from.
    pub explain_options: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Looked {
    pub value: Result<Value, Diagnostic>,
    /// The search, if that was asked for and it came to an end.
    pub explanation: Option<String>,
    pub log: Vec<LogEntry>,
}

/// How a value is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupFormat {
    Yaml,
    Json,
}

impl LookupFormat {
    pub fn print(self, value: &Value) -> String {
        match self {
            Self::Yaml => yaml_text(&printable(value)),
            Self::Json => json_text(&printable(value)),
        }
    }
}

/// Secrets are not printed, and what is not known says why.
fn printable(value: &Value) -> Value {
    match &value.data {
        Data::Sensitive(_) => Value::from("Sensitive [value redacted]"),
        Data::Opaque(opaque) => Value::from(format!("(not known: {})", opaque.reason)),
        Data::Array(items) => Value::array(items.iter().map(printable).collect()),
        Data::Hash(entries) => {
            Value::hash(entries.iter().map(|(key, item)| (key.clone(), printable(item))).collect())
        }
        _ => value.clone(),
    }
}

/// Looks for keys in the data of a node, with its facts and without its manifests.
pub fn lookup(environment: &Environment<'_>, options: &Options, wanted: &LookupOptions) -> Looked {
    let work = || {
        let mut compiler = Compiler::new(environment, options);
        compiler.set_node_parameters(&Entry::Code { name: String::new(), text: String::new() });
        compiler.evaluate_settings();
        compiler.look_up_keys(wanted)
    };
    with_stack(work).unwrap_or_else(|problem| Looked {
        value: Err(Failure::from(*problem).to_diagnostic()),
        explanation: None,
        log: Vec::new(),
    })
}

impl LookupOptions {
    fn merge(&self) -> Option<Value> {
        let strategy = self.merge.as_deref()?;
        let mut merge = Hash::default();
        merge.insert(Key::from("strategy"), strategy.into());
        if strategy == "deep" {
            merge.insert(Key::from("sort_merged_arrays"), self.sort_merged_arrays.into());
            merge.insert(Key::from("merge_hash_arrays"), self.merge_hash_arrays.into());
            if let Some(prefix) = &self.knockout_prefix {
                merge.insert(Key::from("knockout_prefix"), prefix.as_str().into());
            }
        }
        Some(Value::hash(merge))
    }
}

impl Compiler<'_> {
    fn look_up_keys(mut self, wanted: &LookupOptions) -> Looked {
        let mut explanation = None;
        let found = self.first_found(wanted, &mut explanation);
        let value = found.map_err(|stop| self.failure_of(stop).to_diagnostic());
        Looked { value, explanation, log: self.log }
    }

    fn first_found(
        &mut self,
        wanted: &LookupOptions,
        explanation: &mut Option<String>,
    ) -> Result<Value, Stop> {
        let of = match &wanted.of {
            None => None,
            Some(text) => {
                let span = self.span(setpoint_source::Range::default());
                Some(self.type_from_text(text, span)?)
            }
        };
        let merge = wanted.merge();
        let mut keys: Vec<&str> = wanted.keys.iter().map(String::as_str).collect();
        if keys.is_empty() && wanted.explain_options {
            keys.push("__global__");
        }
        let answer = if wanted.explain || wanted.explain_options {
            let how = Explain { options_only: !wanted.explain, has_default: wanted.default.is_some() };
            let environment = self.environment;
            let mut session = std::mem::take(&mut self.hiera);
            let explained = environment.hiera().explain(&mut session, self, &keys, merge.as_ref(), how);
            self.hiera = session;
            let is_explained = match &explained.answer {
                Ok(_) => true,
                Err(failure) => matches!(failure.kind, HieraFailure::Data | HieraFailure::Issue),
            };
            if is_explained {
                *explanation = Some(explained.text);
            }
            explained.answer.map_err(|failure| self.data_failure(failure, None))?
        } else {
            self.search_keys(&keys, merge.as_ref())?
        };
        let (subject, value) = match (answer, &wanted.default) {
            (DataAnswer::Found(value), _) => ("Found value", value),
            (DataAnswer::Missing(_), Some(default)) => ("Default value", Value::from(default.as_str())),
            (DataAnswer::Missing(MissingData { unread: Some(value), .. }), None) => ("Found value", value),
            (DataAnswer::Missing(missing), None) => {
                let names = keys.iter().map(|key| (*key).to_owned()).collect();
                let searched = missing.searched;
                return Err(FailureKind::MissingKey { names, searched, by: KeyUse::Command }.unplaced());
            }
        };
        if let Some(of) = &of
            && !matches!(value.data, Data::Opaque(_))
        {
            assert_instance(subject, of, &value).map_err(|error| {
                FailureKind::WrongType { of: Typed::FoundData, mismatch: error.message }.unplaced()
            })?;
        }
        Ok(value)
    }

    fn search_keys(&mut self, keys: &[&str], merge: Option<&Value>) -> Result<DataAnswer, Stop> {
        let nothing = Hash::default();
        let mut answer = DataAnswer::Missing(MissingData::default());
        for key in keys {
            let request = DataRequest {
                key,
                merge,
                hiera_call: false,
                names_levels: false,
                overrides: &nothing,
                defaults: &nothing,
            };
            let next = self.find_given_data(&request, None)?;
            answer = match (answer, next) {
                (_, found @ DataAnswer::Found(_)) => return Ok(found),
                (DataAnswer::Missing(mut before), DataAnswer::Missing(more)) => {
                    for path in more.searched {
                        if !before.searched.contains(&path) {
                            before.searched.push(path);
                        }
                    }
                    before.unread = before.unread.or(more.unread);
                    DataAnswer::Missing(before)
                }
                (_, missing) => missing,
            };
        }
        Ok(answer)
    }
}
