//! The evaluation as functions see it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use setpoint_provenance::{Arena, Control, Leaf, LeafKind, Prov};
use setpoint_puppet_functions::{
    Block, Call, Caller, DataAnswer, DataRequest, FailureKind, Host, LogLevel, RubyAnswer, Sought, Stop,
    Strictness, call_lookup_context, call_ruby_function, is_lookup_context,
};
use setpoint_puppet_values::{Data, Hash, Key, Maker, Object, Type, Value};
use setpoint_source::{FileSystem, Range, Span, Symbol, never};

use crate::LogEntry;
use crate::compiler::{Compiler, Left};
use crate::environment::RubyFunction;
use crate::loader::DefinitionKind;
use crate::scope::ScopeId;
use crate::trace::{FunctionRun, HowRun, MISSING_PARAMETERS_OF, MISSING_RESOURCE};

impl Host for Compiler<'_> {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn call_block(&mut self, block: &dyn Block, arguments: Vec<Value>) -> Result<Value, Stop> {
        let known = self.blocks.iter().rev().find(|known| known.same(block)).cloned();
        let Some(lambda) = known else {
            if let Some(result) = block.run(self, &arguments) {
                return result;
            }
            // Functions call only the block that they were given, while they run.
            let what = "the block of this call is not known";
            never!("{what}");
            return Err(FailureKind::BrokenInvariant(what).unplaced());
        };
        self.run_block(&lambda, arguments)
    }

    fn call_function(&mut self, call: Call<'_>) -> Result<Value, Stop> {
        // What a function does through another one depends on what it has looked at.
        let outer = self.frame.control;
        if self.arena.enabled() && !self.observations.is_empty() {
            let seen = self.arena.operation(self.words.read, Some(call.span), &self.observations);
            self.enter(Control::Selection, seen, None);
        }
        let result = self.call_function(&call);
        self.frame.control = outer;
        result.map_err(|stop| match stop {
            // Puppet says it in other words if a function calls a function.
            Stop::Error(mut failure) => {
                if let FailureKind::UnknownFunction { name, caller, .. } = &mut failure.kind
                    && *name == call.name
                {
                    *caller = Caller::Function;
                }
                Stop::Error(failure)
            }
            stop => stop,
        })
    }

    fn call_legacy_function(&mut self, call: Call<'_>) -> Result<Value, Stop> {
        // The older one says nothing unless the environment of the process asks for it.
        if call.name.as_str() == "deprecation" {
            return Ok(Value::UNDEF);
        }
        match self.environment.legacy_function(&call.name) {
            Some(function) => self.call_ruby(&function, call.name, &call, true),
            None => Host::call_function(self, call),
        }
    }

    fn has_function(&mut self, name: &str) -> bool {
        self.knows_function(Symbol::new(name))
    }

    fn is_incomplete(&self, hash: &Value) -> bool {
        self.find_incomplete(hash).is_some()
    }

    fn note_key_read(&mut self, hash: &Value, key: &str, span: Span) {
        self.note_key_read(hash, key, Some(span));
    }

    fn note_whole_read(&mut self, hash: &Value, span: Span) {
        self.note_whole_read(hash, span);
    }

    fn visible_variables(&mut self) -> Option<Vec<(String, Value)>> {
        let mut scopes = Vec::new();
        let mut at = Some(self.frame.scope);
        while let Some(id) = at {
            scopes.push(id);
            at = self.scopes[id].inherited.or(self.scopes[id].enclosing);
        }
        let seen = scopes.iter().flat_map(|id| self.scopes[*id].visible());
        let seen: Vec<_> = seen.map(|(_, value)| value.prov).collect();
        self.observations.extend(seen);
        let mut variables: IndexMap<String, Value> = IndexMap::new();
        for id in scopes.into_iter().rev() {
            let visible = self.scopes[id].visible();
            variables.extend(visible.map(|(name, value)| (name.as_str().to_owned(), value.clone())));
        }
        Some(variables.into_iter().collect())
    }

    fn changed_in_place(&mut self, before: &Value, after: &Value) {
        // It is now what it was made of, and what was read when it was changed.
        let read = self.arena.operation(self.words.read, None, &self.observations);
        let after = self.with_whole(after.clone(), &[before.prov, read]);
        let change = |value: &mut Value| {
            if value.is_same_collection(before) {
                *value = after.clone();
            }
        };
        self.scopes.values_mut().for_each(change);
        self.resources.values_mut().for_each(change);
    }

    fn set_variable(&mut self, name: &str, value: Value, span: Span) -> Result<(), Stop> {
        let read = self.arena.operation(self.words.read, Some(span), &self.observations);
        let prov = self.arena.under(value.prov, Control::Selection, read, None);
        self.assign(Symbol::new(name), value.with(prov), span)
    }

    fn enter_top_scope(&mut self) {
        let top = &mut self.scopes[ScopeId::TOP];
        let left = Left { frame: self.frame, locals: top.take_locals(), unset: top.unset_level() };
        self.left.push(left);
        self.frame.scope = ScopeId::TOP;
    }

    fn leave_top_scope(&mut self) {
        let Some(left) = self.left.pop() else {
            never!("the top scope is left and was not entered");
            return;
        };
        let top = &mut self.scopes[ScopeId::TOP];
        top.restore_locals(left.locals);
        top.forget_unset(left.unset);
        self.frame = left.frame;
    }

    fn is_input(&self, path: &Path) -> bool {
        self.environment.is_input(path) || self.hiera.location() == Some(path)
    }

    fn is_outside(&self, folder: &str, name: &str) -> bool {
        self.environment.is_outside(folder, name)
    }

    fn resource_parameters(&mut self, type_name: &str, title: &str) -> Option<Hash> {
        let found = self.find_resource(type_name, title).ok().flatten();
        if self.arena.enabled() {
            let order = self.scopes[self.frame.scope].order;
            let seen = if let Some(id) = found {
                let leaf = self.absence(MISSING_PARAMETERS_OF, &self.resources[id].reference());
                let own: Vec<_> =
                    self.resources[id].parameters.iter().map(|known| known.value.prov).collect();
                self.observations.extend(own);
                self.observations.push(leaf);
                self.resources[id].prov
            } else {
                let displayed = self.type_name(&type_name.to_lowercase());
                self.absence(MISSING_RESOURCE, &format!("{displayed}[{title}]"))
            };
            self.observations.extend([seen, order]);
        }
        let id = found?;
        let parameters = self.resources[id].parameters.iter();
        Some(
            parameters
                .map(|parameter| (Key::from(parameter.name.as_str()), parameter.value.clone()))
                .collect(),
        )
    }

    fn class_names(&mut self) -> Vec<String> {
        if self.arena.enabled() {
            let names: Vec<Symbol> = self.classes.iter().copied().collect();
            let declared = names.into_iter().filter_map(|name| self.find_class_resource(name));
            let seen: Vec<_> =
                declared.collect::<Vec<_>>().into_iter().map(|id| self.resources[id].prov).collect();
            self.observations.extend(seen);
            self.observations.push(self.scopes[self.frame.scope].order);
        }
        self.classes.iter().map(|name| name.as_str().to_owned()).collect()
    }

    fn has_definition(&mut self, name: &str, is_class: bool) -> bool {
        let found = if is_class { self.find_class(name) } else { self.find_define(name) };
        matches!(found, Ok(Some(_)))
    }

    fn evaluated_resource(&self) -> Option<(String, String)> {
        let reference = self.resources[self.scopes[self.frame.scope].resource].reference();
        let (of, title) = reference.strip_suffix(']')?.split_once('[')?;
        Some((of.to_owned(), title.to_owned()))
    }

    fn is_top_scope(&self) -> bool {
        self.frame.scope == ScopeId::TOP
    }

    fn node_name(&self) -> String {
        self.options.node.clone()
    }

    fn environment_name(&self) -> String {
        setpoint_hiera::Scope::environment_name(self)
    }

    fn definition(&self) -> Option<String> {
        let definition = &self.definitions[self.scopes[self.frame.scope].source];
        let kind = match definition.kind {
            DefinitionKind::Class(_) => "Class",
            DefinitionKind::Define(_) => "Definition",
            _ => return None,
        };
        Some(format!("{kind} {}", definition.name))
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        let name = Symbol::new(name);
        let found = self.find_variable(name, None).ok().flatten();
        if found.is_none() {
            self.note_if_unset(name);
        }
        if self.arena.enabled() {
            let prov = match &found {
                Some(value) => value.prov,
                None => self.absence_of(name),
            };
            self.observations.push(prov);
        }
        found
    }

    fn parse_type(&mut self, text: &str, span: Span) -> Result<Value, Stop> {
        self.type_from_text(text, span).map(|of| Value::new(Data::Type(of)))
    }

    fn render_epp(
        &mut self,
        name: &str,
        text: &str,
        parameters: Option<&Value>,
        span: Span,
    ) -> Result<Value, Stop> {
        let inline = name == "inlined-epp-text";
        self.render_template(name, text, parameters, inline, span)
    }

    fn unknown_template(&mut self, name: &str, reason: &str, span: Span) -> Result<Value, Stop> {
        if let Some(stub) = self.options.stub(name) {
            return Ok(stub);
        }
        self.warn(format!("The text of {name} is not known: {reason}"), Some(span));
        let reason = format!("the template {name} goes beyond what is known of Ruby: {reason}");
        self.record_unknown(&reason, span);
        Ok(Value::unknown(reason, Type::String(None)))
    }

    fn look_up(&mut self, request: &DataRequest<'_>, span: Span) -> Result<DataAnswer, Stop> {
        self.find_data(request, Some(span))
    }

    fn lookup_cache(&mut self) -> Option<&mut Hash> {
        self.hiera.function_cache()
    }

    fn file_cache(&mut self) -> Option<&mut FxHashMap<PathBuf, Value>> {
        Some(self.hiera.file_cache())
    }

    fn interpolate_data(&mut self, value: &Value, span: Span) -> Result<Value, Stop> {
        let environment = self.environment;
        let mut session = std::mem::take(&mut self.hiera);
        let result = environment.hiera().interpolate(&mut session, self, value);
        self.hiera = session;
        result.map_err(|failure| self.data_failure(failure, Some(span)))
    }

    fn explains_lookup(&self) -> bool {
        self.hiera.explains()
    }

    fn explain_lookup(&mut self, text: String) {
        self.hiera.explain_text(text);
    }

    fn log(&mut self, level: LogLevel, message: String, span: Span) {
        self.log(level, message, Some(span));
    }

    fn say(&mut self, level: LogLevel, message: String) {
        self.log.push(LogEntry { level, scope: None, message, span: None });
    }

    fn warn_once(&mut self, key: &str, message: String, span: Span) {
        if self.warned.insert(key.to_owned()) {
            self.warn(message, Some(span));
        }
    }

    fn files(&self) -> &dyn FileSystem {
        self.environment.files
    }

    fn file_read(&mut self, path: &Path, text: &str) {
        if self.options.record_reads {
            self.trace.files.insert(path.to_owned());
        }
        if !self.arena.enabled() {
            return;
        }
        let file = if let Some(known) = self.read_files.get(path) {
            *known
        } else {
            let file = self.environment.source_of(&path.to_string_lossy(), text);
            self.read_files.insert(path.to_owned(), file);
            file
        };
        let is_template = path.components().any(|part| part.as_os_str() == "templates");
        let kind = if is_template { LeafKind::Template } else { LeafKind::File };
        let span = Range::new(0, text.len()).in_file(file);
        let name = Some(Symbol::new(&path.to_string_lossy()));
        let leaf = self.arena.leaf(Leaf { kind, name, span: Some(span) });
        self.observations.push(leaf);
    }

    fn module_file(&self, folder: &str, name: &str) -> Option<PathBuf> {
        self.environment.module_file(folder, name)
    }

    fn module_path(&self, folder: &str, name: &str) -> Option<PathBuf> {
        self.environment.module_path(folder, name)
    }

    fn not_computed(&mut self, reason: &str, span: Span) {
        self.record_unknown(reason, span);
    }

    fn seek_file(&self, folder: &str, name: &str) -> Option<Sought> {
        Some(self.seek_file(folder, name))
    }

    fn library_file(&self, name: &str) -> Option<PathBuf> {
        self.environment.library_file(name)
    }

    fn module_directory(&self, name: &str) -> Option<PathBuf> {
        self.environment.module(name).map(|path| path.to_path_buf())
    }

    fn strict(&self) -> Strictness {
        self.options.strictness()
    }

    fn puppet_version(&self) -> u8 {
        self.options.puppet.number()
    }
}

impl Compiler<'_> {
    /// A value that was made of these, all its parts included.
    fn with_whole(&mut self, value: Value, of: &[Prov]) -> Value {
        let maker = Maker { name: self.words.read, span: None, of, shape: None };
        maker.explain(value, &mut self.arena)
    }

    /// A function that only modules have. What one does that is written in Ruby and not known here is not known either.
    pub(crate) fn call_module_function(&mut self, name: Symbol, call: &Call<'_>) -> Result<Value, Stop> {
        if let [Value { data: Data::Object(object), .. }] = call.arguments.as_slice()
            && let Some(attribute) = attribute(object, &name)
        {
            return Ok(attribute);
        }
        if let [Value { data: Data::Object(object), .. }, ..] = call.arguments.as_slice()
            && is_lookup_context(object)
            && let Some(answer) = call_lookup_context(self, call)
        {
            return answer;
        }
        let Some(function) = self.environment.ruby_function(&name) else {
            let missing = self.missing_function(name, call.span);
            return self.or_unknown(missing, Type::Any);
        };
        self.call_ruby(&function, name, call, false)
    }

    /// Notes that something was not computed: it may fail, too, whatever becomes of its value.
    pub(crate) fn record_unknown(&mut self, reason: &str, span: Span) {
        let kind = crate::CompileGapKind::NotComputed(reason.to_owned());
        let gap = crate::CompileGap { kind, span: Some(span) };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// A function in Ruby: one that is known here, else the code of its file, as far as it is within what is known of Ruby.
    fn call_ruby(
        &mut self,
        function: &RubyFunction,
        name: Symbol,
        call: &Call<'_>,
        is_raw: bool,
    ) -> Result<Value, Stop> {
        if let Some(known) = function.known {
            self.record_function(function, name, HowRun::Natively);
            return known.call(self, call);
        }
        if let Some(stub) = self.options.stub(&name) {
            return Ok(stub);
        }
        let file = self.environment.ruby_file(&function.path);
        let (reason, path, line, of) = match file {
            Err(error) => (error.to_string(), function.path.to_path_buf(), None, Type::Any),
            Ok(file) => match call_ruby_function(self, call, &name, &file, is_raw) {
                RubyAnswer::Value(value) => {
                    self.record_function(function, name, HowRun::Interpreted);
                    return Ok(value);
                }
                RubyAnswer::Stopped(stop) => {
                    self.record_function(function, name, HowRun::Interpreted);
                    return Err(stop);
                }
                RubyAnswer::Beyond { reason, path, line, of } => (reason, path, line, of),
            },
        };
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        let reason = format!(
            "{name}() is a Ruby function of the module {}, and goes beyond what is known of Ruby here: {reason} ({}{line})",
            function.module,
            path.display()
        );
        if self.warned.insert(reason.clone()) {
            self.warn(format!("The result of {reason}, and is not known"), Some(call.span));
        }
        self.record_unknown(&reason, call.span);
        self.record_function(function, name, HowRun::NotRun { reason: reason.clone() });
        Ok(Value::unknown(reason, of))
    }

    /// Notes how a function was run. One call that could not be run counts more than others.
    fn record_function(&mut self, function: &RubyFunction, name: Symbol, how: HowRun) {
        if !self.options.record_reads {
            return;
        }
        let is_open = matches!(how, HowRun::NotRun { .. });
        let run =
            FunctionRun { module: Arc::clone(&function.module), path: function.path.to_path_buf(), how };
        let known = self.trace.functions.entry(name.to_string()).or_insert_with(|| run.clone());
        if is_open {
            *known = run;
        }
    }
}

/// An attribute of an object, read by the call of its name.
fn attribute(object: &Object, name: &str) -> Option<Value> {
    let name = if &*object.type_name == "Error" && name == "message" { "msg" } else { name };
    object.attributes.get(&Key::from(name)).cloned()
}
