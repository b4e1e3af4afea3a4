//! The evaluation as functions see it.

use std::path::PathBuf;

use setpoint_provenance::Arena;
use setpoint_puppet_functions::{Block, Call, Host, LogLevel, Stop, Strictness};
use setpoint_puppet_values::{Data, Opaque, Value};
use setpoint_source::{FileSystem, Span, Symbol};

use crate::compiler::Compiler;
use crate::rules;

impl Host for Compiler<'_> {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn call_block(&mut self, block: &dyn Block, arguments: Vec<Value>) -> Result<Value, Stop> {
        let known = self.blocks.iter().rev().find(|known| known.same(block)).cloned();
        match known {
            Some(lambda) => self.run_block(&lambda, arguments),
            None => Err(rules::fail("The block of this call is not known", None)),
        }
    }

    fn call_function(&mut self, call: Call<'_>) -> Result<Value, Stop> {
        self.call_function(&call).map_err(|stop| match stop {
            // Puppet says it in other words if a function calls a function.
            Stop::Error(mut diagnostic) if std::ptr::eq(diagnostic.rule, &rules::UNKNOWN_FUNCTION) => {
                diagnostic.message = format!("Unknown function '{}'", call.name);
                Stop::Error(diagnostic)
            }
            stop => stop,
        })
    }

    fn variable(&mut self, name: &str) -> Option<Value> {
        self.find_variable(Symbol::new(name), None).ok().flatten()
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

    /// Text without tags is what it says. Ruby code is not run: what it would give is not known.
    fn render_erb(&mut self, name: &str, text: &str, span: Span) -> Result<Value, Stop> {
        if !text.replace("<%%", "").contains("<%") {
            return Ok(Value::string(text.replace("<%%", "<%").replace("%%>", "%>")));
        }
        let reason = format!("the template {name} contains Ruby code");
        self.warn(format!("The text of {name} is not known: it contains Ruby code"), Some(span));
        Ok(Value::new(Data::Opaque(Opaque { reason: reason.into() }.into())))
    }

    fn log(&mut self, level: LogLevel, message: String, span: Span) {
        self.log(level, message, Some(span));
    }

    fn warn_once(&mut self, key: &str, message: String, span: Span) {
        if self.warned.insert(key.to_owned()) {
            self.warn(message, Some(span));
        }
    }

    fn files(&self) -> &dyn FileSystem {
        self.environment.files
    }

    fn module_file(&self, folder: &str, name: &str) -> Option<PathBuf> {
        self.environment.module_file(folder, name)
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
    /// A function that only modules have.
    pub(crate) fn call_module_function(&mut self, name: Symbol, call: &Call<'_>) -> Result<Value, Stop> {
        Err(self.unknown_function(name, call.span))
    }
}
