//! What a function may ask of the evaluation that calls it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use setpoint_provenance::{Arena, Prov};
use setpoint_puppet_values::{Hash, Strictness, Value};
use setpoint_source::{FileSystem, Span, Symbol};

use crate::{Failure, FailureKind, Sought};

/// Why an evaluation does not go on: an error, or `next`, `break` and `return`.
#[derive(Debug)]
pub enum Stop {
    Error(Box<Failure>),
    Next(Value),
    Return(Value),
    Break(Span),
}

impl Stop {
    /// The same, with a further place that an error names.
    #[must_use]
    pub fn labelled(mut self, place: Option<Span>, text: impl FnOnce() -> String) -> Self {
        if let (Self::Error(failure), Some(place)) = (&mut self, place) {
            failure.add_label(place, text());
        }
        self
    }
}

/// A block (lambda) given to a call, as far as a function needs to know it.
pub trait Block: Debug {
    /// Parameters without a default.
    fn required(&self) -> usize;
    /// All parameters; `None` if the last takes the rest.
    fn accepted(&self) -> Option<usize>;
    /// The types of the parameters, as values; empty if none is declared. A parameter without a type is `Any`.
    fn parameter_types(&self) -> Vec<Value> {
        Vec::new()
    }
    /// Runs a block that is no lambda of the manifest.
    fn run(&self, _host: &mut dyn Host, _arguments: &[Value]) -> Option<Result<Value, Stop>> {
        None
    }
}

/// One call of a function.
#[derive(Debug)]
pub struct Call<'a> {
    pub name: Symbol,
    pub arguments: Vec<Value>,
    pub block: Option<&'a dyn Block>,
    pub span: Span,
}

impl Call<'_> {
    /// A failure of the call itself, told as what it is: with an argument that is not known, nobody knows whether Puppet
    /// would fail. What does not fit a signature fails in any case, since an unknown value fits all of them.
    pub fn blame(&self, stop: Stop) -> Stop {
        let Stop::Error(mut failure) = stop else { return stop };
        let is_own = failure.span.is_none_or(|span| span == self.span);
        let is_certain =
            matches!(failure.kind, FailureKind::WrongArguments(_)) || failure.kind.is_limit_of_setpoint();
        if is_own
            && !is_certain
            && let Some(unknown) = self.arguments.iter().find_map(Value::unknown_part)
        {
            failure.kind = FailureKind::undecided(unknown);
            failure.span = Some(self.span);
        }
        Stop::Error(failure)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Err,
    Alert,
    Crit,
    Emerg,
}

/// A key to be found in the data.
#[derive(Debug, Clone)]
pub struct DataRequest<'a> {
    pub key: &'a str,
    /// How values of several levels become one; `None` leaves it to `lookup_options`.
    pub merge: Option<&'a Value>,
    /// The call is one of `hiera`, `hiera_array` and their kin.
    pub hiera_call: bool,
    /// The call names levels that come before those of the hierarchy, which only Hiera 3 looks at.
    pub names_levels: bool,
    /// What `override` gives, for interpolations: the key itself is not among it.
    pub overrides: &'a Hash,
    /// What `default_values_hash` gives, for interpolations.
    pub defaults: &'a Hash,
}

/// What a search of the data came to.
#[derive(Debug, Clone)]
pub enum DataAnswer {
    /// The value, which knows where it came from.
    Found(Value),
    Missing(MissingData),
}

/// A key that no level has.
#[derive(Debug, Clone, Default)]
pub struct MissingData {
    /// The files that were searched, in order, those that do not exist among them.
    pub searched: Vec<PathBuf>,
    /// That it is missing, as an observation.
    pub prov: Prov,
    /// The unknown value that stands for it where nothing else does, if a level was not looked at.
    pub unread: Option<Value>,
}

/// The evaluation that calls a function.
pub trait Host {
    fn arena(&mut self) -> &mut Arena;
    /// Calls the block of a call. `next` inside it gives its value; `break` and `return` come through as [`Stop`].
    fn call_block(&mut self, block: &dyn Block, arguments: Vec<Value>) -> Result<Value, Stop>;
    fn call_function(&mut self, call: Call<'_>) -> Result<Value, Stop>;
    /// Calls a function of Puppet's older interface, as `function_name` of the scope does.
    fn call_legacy_function(&mut self, call: Call<'_>) -> Result<Value, Stop> {
        self.call_function(call)
    }
    /// Whether there is a function of this name to call.
    fn has_function(&mut self, name: &str) -> bool;
    /// A variable as the caller sees it.
    fn variable(&mut self, name: &str) -> Option<Value>;
    /// Whether a machine may have entries of a hash that it lacks, as of the facts of a platform.
    fn is_incomplete(&self, _hash: &Value) -> bool {
        false
    }
    /// A key of a hash was read.
    fn note_key_read(&mut self, _hash: &Value, _key: &str, _span: Span) {}
    /// All of a hash was read.
    fn note_whole_read(&mut self, _hash: &Value, _span: Span) {}
    /// All variables that the caller sees without a name space; nothing if they cannot be listed.
    fn visible_variables(&mut self) -> Option<Vec<(String, Value)>> {
        None
    }
    /// Sets a variable of the scope that the caller sees.
    fn set_variable(&mut self, name: &str, value: Value, span: Span) -> Result<(), Stop>;
    /// What is called from here on runs at top scope, as all does that a function of the present interface calls.
    fn enter_top_scope(&mut self);
    /// Ends what [`Self::enter_top_scope`] began.
    fn leave_top_scope(&mut self);
    /// A template changed an array or a hash in place, as Ruby lets it: whoever has the value sees the change.
    fn changed_in_place(&mut self, _before: &Value, _after: &Value) {}
    /// The parameters of a resource that is declared by now.
    fn resource_parameters(&mut self, type_name: &str, title: &str) -> Option<Hash>;
    /// The names of the classes that the catalog has by now, in their order.
    fn class_names(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Whether there is a class of this name, or else a defined type.
    fn has_definition(&mut self, _name: &str, _is_class: bool) -> bool {
        false
    }
    /// The type and the title of the resource that is being evaluated.
    fn evaluated_resource(&self) -> Option<(String, String)> {
        None
    }
    /// Whether the caller's code stands at top scope.
    fn is_top_scope(&self) -> bool {
        false
    }
    fn node_name(&self) -> String {
        String::new()
    }
    fn environment_name(&self) -> String {
        String::new()
    }
    /// What is being evaluated, as `Class foo` or `Definition foo`.
    fn definition(&self) -> Option<String>;
    /// The type that a text such as `Array[Integer]` names, aliases included.
    fn parse_type(&mut self, text: &str, span: Span) -> Result<Value, Stop>;
    /// Renders EPP source with the given parameters.
    fn render_epp(
        &mut self,
        name: &str,
        text: &str,
        parameters: Option<&Value>,
        span: Span,
    ) -> Result<Value, Stop>;
    /// What stands for the text of an ERB template that goes beyond what is known of Ruby, and why it does.
    fn unknown_template(&mut self, name: &str, reason: &str, span: Span) -> Result<Value, Stop> {
        Err(FailureKind::UnsupportedTemplate { name: name.to_owned(), reason: reason.to_owned() }.at(span))
    }
    /// Looks for a key in the data of all levels.
    fn look_up(&mut self, _request: &DataRequest<'_>, _span: Span) -> Result<DataAnswer, Stop> {
        Ok(DataAnswer::Missing(MissingData::default()))
    }
    /// What the function of a hierarchy that runs keeps for its later calls; nothing if none runs.
    fn lookup_cache(&mut self) -> Option<&mut Hash> {
        None
    }
    /// What functions of hierarchies have made of files, by path.
    fn file_cache(&mut self) -> Option<&mut FxHashMap<PathBuf, Value>> {
        None
    }
    /// Resolves the `%{…}` in a value, for the function of a hierarchy that runs.
    fn interpolate_data(&mut self, value: &Value, _span: Span) -> Result<Value, Stop> {
        Ok(value.clone())
    }
    /// Whether the search is explained.
    fn explains_lookup(&self) -> bool {
        false
    }
    /// What the function of a hierarchy says of itself.
    fn explain_lookup(&mut self, _text: String) {}
    fn log(&mut self, level: LogLevel, message: String, span: Span);
    /// A message that belongs to no place of the manifest.
    fn say(&mut self, _level: LogLevel, _message: String) {}
    /// A warning that is given once per `key` and evaluation.
    fn warn_once(&mut self, key: &str, message: String, span: Span);
    fn files(&self) -> &dyn FileSystem;
    /// Whether a path lies among the files that the evaluation is about: elsewhere every machine has something else.
    fn is_input(&self, path: &Path) -> bool;
    /// Whether `module/path` in a folder of the module, or an absolute path, leads to somewhere else than such files, by `..` or
    /// by a link.
    fn is_outside(&self, folder: &str, name: &str) -> bool;
    /// `module/path` in a folder of the module such as `files` or `templates`, or an absolute path, if it exists.
    fn module_file(&self, folder: &str, name: &str) -> Option<PathBuf>;
    /// The same for a folder, too.
    fn module_path(&self, folder: &str, name: &str) -> Option<PathBuf>;
    /// Notes that something was not computed.
    fn not_computed(&mut self, reason: &str, span: Span);
    /// Where such a file was looked for, and what may have been meant.
    fn seek_file(&self, _folder: &str, _name: &str) -> Option<Sought> {
        None
    }
    /// A file was read for a value: it depends on its text.
    fn file_read(&mut self, _path: &Path, _text: &str) {}
    /// A file that Ruby would find by this name: `puppet_x/name` in the `lib` of some module.
    fn library_file(&self, _name: &str) -> Option<PathBuf> {
        None
    }
    /// The folder of a module.
    fn module_directory(&self, name: &str) -> Option<PathBuf>;
    fn strict(&self) -> Strictness;
    /// 7, 8 or 9.
    fn puppet_version(&self) -> u8;
}
