//! How definitions of a manifest become known.

use std::sync::Arc;

use setpoint_catalog::{is_metaparameter, metaparameters};
use setpoint_puppet_functions::{DefinitionSort, Failure, FailureKind, Stop, Strictness};
use setpoint_puppet_syntax::ast::{self, HostMatch};
use setpoint_puppet_values::Type;
use setpoint_puppet_values::types::StructElement;
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Span, Symbol};

use super::{Definition as Loaded, DefinitionId, DefinitionKind, Function, TypeAlias};
use crate::compiler::{Compiler, Frame};
use crate::environment::{Definition, Manifest};
use crate::options::Entry;
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
                            FailureKind::UnreadableFile { error: error.to_string() }.unplaced()
                        })?;
                        self.definitions.loaded.insert(file);
                        manifests.push(manifest);
                    }
                }
            }
        }
        self.require_sound(&manifests)?;
        for manifest in &manifests {
            self.trace.manifests.push(Arc::clone(manifest));
            self.register(manifest, None)?;
        }
        Ok(manifests)
    }

    /// Reports what parsing found; the last error stops the evaluation.
    pub(super) fn require_sound(&mut self, manifests: &[Arc<Manifest>]) -> Result<(), Stop> {
        let mut last: Option<Diagnostic> = None;
        for diagnostic in manifests.iter().flat_map(|manifest| &manifest.diagnostics) {
            let mut diagnostic = diagnostic.clone();
            if diagnostic.rule == Rule::DuplicateKey && diagnostic.severity == Severity::Warning {
                match self.options.strictness() {
                    Strictness::Off => continue,
                    Strictness::Warning => {}
                    Strictness::Error => diagnostic.severity = Severity::Error,
                }
            }
            if diagnostic.severity < Severity::Error {
                self.diagnostics.push(diagnostic);
            } else if let Some(earlier) = last.replace(diagnostic) {
                self.report_failure(earlier.into());
            }
        }
        last.map_or(Ok(()), |last| Err(Failure::from(last).into()))
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
                    let span = function.range.in_file(function.file);
                    self.refuse_second(
                        (DefinitionSort::Function, known),
                        DefinitionSort::Function,
                        name,
                        span,
                    )?;
                    let loaded = Function { definition: Arc::clone(function), signature: None };
                    self.definitions.functions.insert(lower(function.name), loaded);
                }
                Definition::TypeAlias(alias) => {
                    let name = lower(alias.name);
                    let span = alias.range.in_file(alias.file);
                    if Type::builtin(&alias.name).is_some() {
                        return Err(FailureKind::DuplicateDefinition {
                            name: alias.name,
                            known: DefinitionSort::BuiltinType,
                            new: DefinitionSort::TypeAlias,
                            first: None,
                        }
                        .at(span));
                    }
                    let known = self.definitions.aliases.get(&name);
                    let known = known.map(|known| known.definition.range.in_file(known.definition.file));
                    let sort = DefinitionSort::TypeAlias;
                    self.refuse_second((sort, known), sort, name, span)?;
                    let loaded = TypeAlias { definition: Arc::clone(alias), alias: None, type_set: None };
                    self.definitions.aliases.insert(lower(alias.name), loaded);
                }
            }
        }
        Ok(())
    }

    /// Refuses a definition of a name that stands for another one.
    fn refuse_second(
        &self,
        (known, first): (DefinitionSort, Option<Span>),
        new: DefinitionSort,
        name: Symbol,
        span: Span,
    ) -> Result<(), Stop> {
        let Some(first) = first else { return Ok(()) };
        let first = Some(self.named_place(first));
        Err(FailureKind::DuplicateDefinition { name, known, new, first }.at(span))
    }

    fn register_class(&mut self, class: &Arc<ast::ClassDef>, module: Option<Symbol>) -> Result<(), Stop> {
        let name = lower(class.name);
        let span = class.range.in_file(class.file);
        let known =
            self.definitions.classes.get(&name).copied().filter(|known| *known != DefinitionId::SETTINGS);
        let new = DefinitionSort::Class;
        self.refuse_duplicate((DefinitionSort::Class, known), new, name, span)?;
        let known = self.definitions.node_names.get(&name).copied();
        self.refuse_duplicate((DefinitionSort::Node, known), new, name, span)?;
        let known = self.definitions.defines.get(&name).copied();
        self.refuse_duplicate((DefinitionSort::Definition, known), new, name, span)?;
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
        let new = DefinitionSort::Definition;
        let known = self.definitions.classes.get(&name).copied();
        self.refuse_duplicate((DefinitionSort::Class, known), new, name, span)?;
        let known = self.definitions.defines.get(&name).copied();
        self.refuse_duplicate((DefinitionSort::Definition, known), new, name, span)?;
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
            let new = DefinitionSort::Node;
            let known = self.definitions.node_names.get(&name).copied();
            self.refuse_duplicate((DefinitionSort::Node, known), new, name, span)?;
            let known = self.definitions.classes.get(&name).copied();
            self.refuse_duplicate((DefinitionSort::Class, known), new, name, span)?;
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
        (known, id): (DefinitionSort, Option<DefinitionId>),
        new: DefinitionSort,
        name: Symbol,
        span: Span,
    ) -> Result<(), Stop> {
        let Some(id) = id else { return Ok(()) };
        let first = self.definitions[id].span.map(|first| self.named_place(first));
        Err(FailureKind::DuplicateDefinition { name, known, new, first }.at(span))
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
                    let (parameter, definition) = (parameter.name, name);
                    return Err(FailureKind::MetaparameterName { parameter, definition }.at(span));
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
