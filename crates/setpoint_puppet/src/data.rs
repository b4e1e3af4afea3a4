//! The evaluation as Hiera sees it, and Hiera as the evaluation asks it.

use std::path::{Path, PathBuf};

use setpoint_hiera::{Backend, Scope, Session};
use setpoint_provenance::Arena;
use setpoint_puppet_functions::{
    Call, DataAnswer, DataRequest, FailureKind, Host, MissingData, ReachedLimit, Stop, Strictness,
};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Range, Severity, Span, Symbol};

use crate::compiler::Compiler;
use crate::loader::DefinitionKind;
use crate::scope::group_number;
use crate::variables::{is_built_in, split_qualified};

impl Compiler<'_> {
    /// Looks for a key in the data of all levels, for the scope that is being evaluated. One that none has is not known if levels
    /// were left out for what was taken to be missing.
    pub(crate) fn find_data(
        &mut self,
        request: &DataRequest<'_>,
        span: Option<Span>,
    ) -> Result<DataAnswer, Stop> {
        let answer = self.find_given_data(request, span)?;
        let (DataAnswer::Missing(missing), Some(absent)) = (&answer, &self.absent_from_hierarchy) else {
            return Ok(answer);
        };
        if missing.unread.is_some() {
            return Ok(answer);
        }
        let reason = format!("the key '{}' may come from data that is not read if {absent}", request.key);
        let unread = Some(Value::unknown_or_missing(reason));
        Ok(DataAnswer::Missing(MissingData { unread, ..missing.clone() }))
    }

    /// The same in the data that are read.
    pub(crate) fn find_given_data(
        &mut self,
        request: &DataRequest<'_>,
        span: Option<Span>,
    ) -> Result<DataAnswer, Stop> {
        let environment = self.environment;
        // The searches of a node share what they found out about its levels.
        let mut session = std::mem::take(&mut self.hiera);
        self.data_span = span;
        let result = environment.hiera().lookup(&mut session, self, request);
        self.hiera = session;
        let answer = result.map_err(|failure| self.data_failure(failure, span))?;
        Ok(match answer {
            DataAnswer::Found(value) if value.unknown_part().is_some() => {
                DataAnswer::Found(self.options.stub(request.key).unwrap_or(value))
            }
            answer => answer,
        })
    }

    pub(crate) fn data_failure(&self, failure: setpoint_hiera::Failure, span: Option<Span>) -> Stop {
        let config =
            failure.config.as_ref().and_then(|(path, line)| self.environment.hiera().place(path, *line));
        // Puppet says of a configuration that has the wrong shape only who asked.
        let place = config.filter(|_| failure.kind != setpoint_hiera::FailureKind::Puppet);
        let asked_at = place.and(span);
        if failure.kind == setpoint_hiera::FailureKind::Limit {
            return FailureKind::LimitReached(ReachedLimit::Size(failure.message)).at(place.or(span));
        }
        let fault =
            failure.of.and_then(|of| self.arena.origin(of)?.span).or(config.filter(|_| place.is_none()));
        let stop = FailureKind::HieraError { message: failure.message, asked_at }.at(place.or(span));
        stop.labelled(fault, || "this is at fault".to_owned())
    }
}

impl Scope for Compiler<'_> {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn variable(&mut self, name: &str) -> Result<Value, String> {
        if self.options.record_reads {
            self.trace.data_reads.insert(name.to_owned());
        }
        let symbol = Symbol::new(name);
        if let Ok(Some(value)) = self.find_variable(symbol, None) {
            return Ok(value);
        }
        if group_number(symbol).is_some() || is_built_in(symbol) {
            return Ok(Value::UNDEF);
        }
        if name.contains("::")
            && let (Some(class), _) = split_qualified(symbol)
        {
            return Err(match self.find_class(&class) {
                Ok(Some(definition)) => {
                    let is_there = self.class_scopes.contains_key(&self.definitions[definition].name);
                    if is_there { String::new() } else { format!("class {class} has not been evaluated") }
                }
                _ => format!("class {class} could not be found"),
            });
        }
        let plain = name.strip_prefix("::").unwrap_or(name);
        if self.may_be_set(plain) {
            let words = self.note_unset_variable(plain, self.data_span);
            self.absent_from_hierarchy.get_or_insert(words);
            return Ok(Value::UNDEF);
        }
        Err(String::new())
    }

    fn note_key_read(&mut self, hash: &Value, key: &str) {
        let span = self.data_span;
        if let Some(words) = self.note_key_read(hash, key, span) {
            self.absent_from_hierarchy.get_or_insert(words);
        }
    }

    fn calling_class(&self) -> Option<String> {
        let mut at = Some(self.frame.scope);
        while let Some(id) = at {
            let scope = &self.scopes[id];
            let source = &self.definitions[scope.source];
            if matches!(source.kind, DefinitionKind::Class(_)) {
                return Some(source.name.as_str().to_lowercase());
            }
            at = scope.parent;
        }
        None
    }

    fn module(&self, name: &str) -> Option<PathBuf> {
        self.environment.module(name).map(|path| path.to_path_buf())
    }

    fn parse_type(&mut self, text: &str) -> Result<Value, String> {
        let span = self.span(Range::default());
        let parse = setpoint_puppet_syntax::parse_expression(span.file, text);
        if let Some(error) = parse.diagnostics.iter().find(|found| found.severity == Severity::Error) {
            return Err(error.message.clone());
        }
        self.type_from_text(text, span).map(|of| Value::new(Data::Type(of))).map_err(message)
    }

    fn convert(&mut self, of: Value, arguments: Vec<Value>) -> Result<Value, String> {
        let arguments = std::iter::once(of).chain(arguments).collect();
        let call =
            Call { name: Symbol::new("new"), arguments, block: None, span: self.span(Range::default()) };
        Host::call_function(self, call).map_err(message)
    }

    fn has_function(&mut self, name: &str) -> bool {
        // One that is not here may be in a module that is not installed.
        Host::has_function(self, name) || self.lacks_modules()
    }

    fn environment_name(&self) -> String {
        self.options.environment.clone().unwrap_or_else(|| self.environment.name.clone())
    }

    fn call_backend(&mut self, session: &mut Session, name: &str, arguments: Vec<Value>) -> Backend {
        if !Host::has_function(self, name) {
            return Backend::Absent;
        }
        let span = self.span(Range::default());
        let call = Call { name: Symbol::new(name), arguments, block: None, span };
        // What the function looks up is part of the same search.
        std::mem::swap(&mut self.hiera, session);
        let result = Host::call_function(self, call);
        std::mem::swap(&mut self.hiera, session);
        match result {
            Ok(value) if value.unknown_part().is_some() => Backend::Unknown,
            Ok(value) => Backend::Found(value),
            Err(Stop::Error(failure)) if failure.kind == FailureKind::NoSuchKey => Backend::NotFound,
            Err(Stop::Error(failure)) if failure.kind.is_limit_of_setpoint() => Backend::Unknown,
            Err(stop) => Backend::Failed(message(stop)),
        }
    }

    fn strict(&self) -> Strictness {
        self.options.strictness()
    }

    fn warn(&mut self, message: String) {
        self.warn(message, None);
    }

    fn warn_once(&mut self, key: &str, message: String, config: Option<&Path>) {
        if self.warned.insert(key.to_owned()) {
            let place = config.and_then(|path| self.environment.hiera().place(path, None));
            self.warn(message, place.or(self.data_span));
        }
    }
}

fn message(stop: Stop) -> String {
    match stop {
        Stop::Error(failure) => failure.kind.message(),
        _ => "it does not come to an end".to_owned(),
    }
}
