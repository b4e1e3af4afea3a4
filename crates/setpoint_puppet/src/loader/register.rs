//! How definitions of a manifest become known.

use std::sync::Arc;

use setpoint_catalog::{is_metaparameter, metaparameters};
use setpoint_puppet_functions::{Stop, Strictness};
use setpoint_puppet_syntax::ast::{self, HostMatch};
use setpoint_puppet_values::Type;
use setpoint_puppet_values::types::StructElement;
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use super::{Definition as Loaded, DefinitionId, DefinitionKind, Function, TypeAlias};
use crate::compiler::{Compiler, Frame};
use crate::environment::{Definition, Manifest};
use crate::options::Entry;
use crate::rules;
use crate::scope::ScopeId;
use setpoint_provenance::Prov;

impl Compiler<'_> {
    /// The manifests that the compilation begins with. All that cannot be parsed are reported.
    pub(crate) fn load_entry(&mut self, entry: &Entry) -> Result<Vec<Arc<Manifest>>, Stop> {
        let mut manifests = Vec::new();
        match entry {
            Entry::Code { name, text } => manifests.push(self.environment.parse(name, text)),
            Entry::Files(paths) => {
                for path in paths {
                    let files = if self.environment.files.is_dir(path) {
                        self.environment.manifests_under(path)
                    } else {
                        vec![path.clone()]
                    };
                    for file in files {
                        let manifest = self.environment.manifest(&file);
                        let manifest = manifest.map_err(|error| {
                            rules::stop(Rule::UnreadableFile, sentence(&error.to_string()), None)
                        })?;
                        self.definitions.loaded.insert(file);
                        manifests.push(manifest);
                    }
                }
            }
        }
        let sound = manifests.iter().all(|manifest| manifest.is_sound());
        let mut sound = sound;
        for manifest in &manifests {
            sound &= self.report(manifest);
        }
        if !sound {
            let last = self.diagnostics.pop_if(|_| true);
            if let Some(diagnostic) = last {
                return Err(Stop::Error(Box::new(diagnostic)));
            }
        }
        for manifest in &manifests {
            self.trace.manifests.push(Arc::clone(manifest));
            self.register(manifest, None)?;
        }
        Ok(manifests)
    }

    /// Reports what parsing found. The result is whether the manifest can be evaluated.
    fn report(&mut self, manifest: &Manifest) -> bool {
        let mut sound = true;
        for diagnostic in &manifest.diagnostics {
            let mut diagnostic = diagnostic.clone();
            if diagnostic.rule == Rule::DuplicateKey && diagnostic.severity == Severity::Warning {
                match self.options.strictness() {
                    Strictness::Off => continue,
                    Strictness::Warning => {}
                    Strictness::Error => diagnostic.severity = Severity::Error,
                }
            }
            sound &= diagnostic.severity < Severity::Error;
            self.diagnostics.push(diagnostic);
        }
        sound
    }

    /// Stops at a manifest that cannot be evaluated; all that is wrong with it is reported.
    pub(super) fn require_sound(&mut self, manifest: &Manifest) -> Result<(), Stop> {
        if self.report(manifest) {
            return Ok(());
        }
        self.diagnostics.pop().map_or(Ok(()), |last| Err(Stop::Error(Box::new(last))))
    }

    /// Makes the definitions of a manifest known.
    pub(crate) fn register(&mut self, manifest: &Manifest, module: Option<Symbol>) -> Result<(), Stop> {
        for definition in &manifest.definitions {
            match definition {
                Definition::Class(class) => self.register_class(class, module)?,
                Definition::Define(define) => self.register_define(define, module)?,
                Definition::Node(node) => self.register_node(node, module)?,
                Definition::Function(function) => {
                    let name = lower(function.name);
                    let known = self.definitions.functions.get(&name);
                    let known = known.map(|known| known.definition.range.in_file(known.definition.file));
                    self.refuse_second("function", name, known, function.range.in_file(function.file))?;
                    let loaded = Function { definition: Arc::clone(function), signature: None };
                    self.definitions.functions.insert(lower(function.name), loaded);
                }
                Definition::TypeAlias(alias) => {
                    let name = lower(alias.name);
                    let span = alias.range.in_file(alias.file);
                    if Type::builtin(&alias.name).is_some() {
                        let message = format!(
                            "The type '{}' is one of Puppet's own; it cannot be redefined",
                            alias.name
                        );
                        return Err(rules::stop(Rule::DuplicateDefinition, message, span));
                    }
                    let known = self.definitions.aliases.get(&name);
                    let known = known.map(|known| known.definition.range.in_file(known.definition.file));
                    self.refuse_second("type alias", name, known, span)?;
                    let loaded = TypeAlias { definition: Arc::clone(alias), alias: None };
                    self.definitions.aliases.insert(lower(alias.name), loaded);
                }
            }
        }
        Ok(())
    }

    fn refuse_second(&self, kind: &str, name: Symbol, known: Option<Span>, span: Span) -> Result<(), Stop> {
        let Some(first) = known else { return Ok(()) };
        let message = format!(
            "The {kind} '{name}' is already defined at {}; cannot redefine",
            self.location(Some(first))
        );
        let diagnostic = Diagnostic::new(Rule::DuplicateDefinition, message).at(span);
        Err(Stop::Error(Box::new(diagnostic.with_label(first, "first defined here"))))
    }

    fn register_class(&mut self, class: &Arc<ast::ClassDef>, module: Option<Symbol>) -> Result<(), Stop> {
        let name = lower(class.name);
        let span = class.range.in_file(class.file);
        let known =
            self.definitions.classes.get(&name).copied().filter(|known| *known != DefinitionId::SETTINGS);
        self.refuse_duplicate(known, span, |known| {
            format!("Class '{name}' is already defined{known}; cannot redefine")
        })?;
        self.refuse_duplicate(self.definitions.node_names.get(&name).copied(), span, |known| {
            format!("Node '{name}' is already defined{known}; cannot be redefined as a class")
        })?;
        self.refuse_duplicate(self.definitions.defines.get(&name).copied(), span, |known| {
            format!("Definition '{name}' is already defined{known}; cannot be redefined as a class")
        })?;
        let signature = self.signature(&class.parameters, class.file, name)?;
        let parent = class.parent.map(|(parent, range)| (strip(parent), range));
        let id = self.definitions.add(Loaded {
            kind: DefinitionKind::Class(Arc::clone(class)),
            name,
            module,
            span: Some(span),
            parent,
            overriding: false,
            signature,
            captures: None,
        });
        self.definitions.classes.insert(name, id);
        Ok(())
    }

    fn register_define(&mut self, define: &Arc<ast::DefineDef>, module: Option<Symbol>) -> Result<(), Stop> {
        let name = lower(define.name);
        let span = define.range.in_file(define.file);
        self.refuse_duplicate(self.definitions.classes.get(&name).copied(), span, |known| {
            format!("'{name}' is already defined{known} as a class; cannot redefine as a definition")
        })?;
        self.refuse_duplicate(self.definitions.defines.get(&name).copied(), span, |known| {
            format!("Definition '{name}' is already defined{known}; cannot be redefined")
        })?;
        let signature = self.signature(&define.parameters, define.file, name)?;
        let id = self.definitions.add(Loaded {
            kind: DefinitionKind::Define(Arc::clone(define)),
            name,
            module,
            span: Some(span),
            parent: None,
            overriding: false,
            signature,
            captures: None,
        });
        self.definitions.defines.insert(name, id);
        Ok(())
    }

    fn register_node(&mut self, node: &Arc<ast::NodeDef>, module: Option<Symbol>) -> Result<(), Stop> {
        let span = node.range.in_file(node.file);
        for host in &node.matches {
            let name = node_name(host);
            self.refuse_duplicate(self.definitions.node_names.get(&name).copied(), span, |known| {
                format!("Node '{name}' is already defined{known}; cannot redefine")
            })?;
            self.refuse_duplicate(self.definitions.classes.get(&name).copied(), span, |known| {
                format!("Class '{name}' is already defined{known}; cannot be redefined as a node")
            })?;
            let id = self.definitions.add(Loaded {
                kind: DefinitionKind::Node(Arc::clone(node)),
                name,
                module,
                span: Some(span),
                parent: None,
                overriding: false,
                signature: Arc::default(),
                captures: None,
            });
            self.definitions.nodes.push((host.clone(), id));
            self.definitions.node_names.insert(name, id);
        }
        Ok(())
    }

    fn refuse_duplicate(
        &self,
        known: Option<DefinitionId>,
        span: Span,
        message: impl FnOnce(&str) -> String,
    ) -> Result<(), Stop> {
        let Some(known) = known else { return Ok(()) };
        let first = self.definitions[known].span;
        let place = if first.is_some() { format!(" {}", self.location(first)) } else { String::new() };
        let stop = rules::stop(Rule::DuplicateDefinition, message(&place), span);
        Err(match (stop, first) {
            (Stop::Error(diagnostic), Some(first)) => {
                Stop::Error(Box::new(diagnostic.with_label(first, "first defined here")))
            }
            (stop, _) => stop,
        })
    }

    /// The parameters that an instance may be given, with their types.
    fn signature(
        &mut self,
        parameters: &[ast::Parameter],
        file: FileId,
        name: Symbol,
    ) -> Result<Arc<Vec<StructElement>>, Stop> {
        let mut elements = vec![StructElement::optional("name", Type::Any)];
        elements.extend(metaparameters().iter().map(|meta| StructElement::optional(*meta, Type::Any)));
        let outer =
            std::mem::replace(&mut self.frame, Frame { scope: ScopeId::TOP, file, control: Prov::NONE });
        let declared = self.declared_parameters(parameters, name);
        self.frame = outer;
        for element in declared? {
            match elements.iter_mut().find(|known| known.name == element.name) {
                Some(known) => *known = element,
                None => elements.push(element),
            }
        }
        Ok(Arc::new(elements))
    }

    fn declared_parameters(
        &mut self,
        parameters: &[ast::Parameter],
        name: Symbol,
    ) -> Result<Vec<StructElement>, Stop> {
        let mut elements = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            if is_metaparameter(&parameter.name) {
                let span = self.span(parameter.range);
                if parameter.default.is_none() {
                    let message = format!(
                        "{} is a metaparameter; please choose another parameter name in the {name} definition",
                        parameter.name
                    );
                    return Err(rules::fail(message, span));
                }
                let message = format!(
                    "{} is a metaparam; this value will inherit to all contained resources in the {name} definition",
                    parameter.name
                );
                self.warn(message, None);
            }
            let of = match &parameter.type_expr {
                Some(expression) => self.evaluate_type(expression)?,
                None => Type::Any,
            };
            elements.push(if parameter.default.is_some() {
                StructElement::optional(parameter.name.as_str(), of)
            } else {
                StructElement::required(parameter.name.as_str(), of)
            });
        }
        Ok(elements)
    }
}

/// The name by which a node is known; that of a regular expression is made from its source.
fn node_name(host: &HostMatch) -> Symbol {
    match host {
        HostMatch::Default => Symbol::new("default"),
        HostMatch::Name(name) => Symbol::new(&name.to_lowercase()),
        HostMatch::Regex(source) => {
            let keep =
                |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | ':' | '.');
            let kept: String = source.to_lowercase().chars().filter(keep).collect();
            Symbol::new(&format!("__node_regexp__{}", kept.trim_start_matches('.')))
        }
    }
}

pub(crate) fn lower(name: Symbol) -> Symbol {
    let name = strip(name);
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { Symbol::new(&name.to_lowercase()) } else { name }
}

fn strip(name: Symbol) -> Symbol {
    name.strip_prefix("::").map_or(name, Symbol::new)
}

/// A message with a capital at its start.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
