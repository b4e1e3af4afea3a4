//! What may stand in a file of a module: definitions whose names begin as the path says.

use std::path::Path;

use setpoint_puppet_functions::{Failure, FailureKind, MisplacedCode, Stop};
use setpoint_puppet_syntax::ast::{AssignOp, Expr, ExprKind};
use setpoint_source::Symbol;

use crate::compiler::Compiler;
use crate::environment::{Environment, Manifest};
use crate::evaluate::place_in;

impl Compiler<'_> {
    /// Refuses code outside of definitions, and definitions with names of other files.
    pub(super) fn check_location(&mut self, manifest: &Manifest) -> Result<(), Stop> {
        let mut failures = self.environment.misplaced_code(manifest);
        let last = failures.pop();
        for failure in failures {
            self.report_failure(failure);
        }
        last.map_or(Ok(()), |last| Err(last.into()))
    }
}

impl Environment<'_> {
    /// Returns what Puppet refuses when it loads a file of a module: code outside of definitions, and definitions with names
    /// of other files. A file outside of modules may hold anything.
    pub fn misplaced_code(&self, manifest: &Manifest) -> Vec<Failure> {
        let file = self.sources.file(manifest.program.file);
        let Some(namespace) = self.namespace(Path::new(file.path())) else { return Vec::new() };
        let misplaced = |statement: &Expr| {
            let misplaced = if is_definition(statement) {
                misplaced(statement, &namespace, file.path())?
            } else if matches!(statement.kind, ExprKind::Nop) {
                return None;
            } else {
                MisplacedCode::Construct { label: label(statement) }
            };
            let span = Some(place_in(&file, manifest.program.file, statement));
            Some(Failure { span, ..FailureKind::MisplacedCode(misplaced).into() })
        };
        manifest.program.body.iter().filter_map(misplaced).collect()
    }

    /// What names in a file of a module begin with: `apache::mod` in `apache/manifests/mod/ssl.pp`, and `ssl` after it.
    fn namespace(&self, path: &Path) -> Option<String> {
        let (module, relative) = self.module_of(path)?;
        let module = module.to_lowercase();
        let relative = relative.to_string_lossy().to_lowercase();
        let parts: Vec<&str> = relative.split('/').collect();
        let [_, folders @ .., file] = parts.as_slice() else { return None };
        let mut names = vec![module.as_str()];
        names.extend(folders);
        if *file != "init.pp" {
            names.push(file.trim_end_matches(".pp"));
        }
        Some(names.join("::"))
    }
}

fn is_definition(statement: &Expr) -> bool {
    matches!(
        statement.kind,
        ExprKind::Class(_) | ExprKind::Define(_) | ExprKind::Function(_) | ExprKind::TypeAlias(_)
    )
}

fn misplaced(statement: &Expr, namespace: &str, path: &str) -> Option<MisplacedCode> {
    let name: Symbol = match &statement.kind {
        ExprKind::Class(class) => class.name,
        ExprKind::Define(define) => define.name,
        ExprKind::Function(function) => function.name,
        // The loader checks the names of aliases when it asks for them.
        _ => return None,
    };
    let fits = name.to_lowercase().starts_with(namespace);
    (!fits).then(|| MisplacedCode::Name { name, path: path.to_owned() })
}

/// What Puppet calls a statement.
fn label(statement: &Expr) -> &'static str {
    match &statement.kind {
        ExprKind::Resource { .. } => "Resource Statement",
        ExprKind::ResourceDefaults { .. } => "Resource Defaults Expression",
        ExprKind::ResourceOverride { .. } => "Resource Override",
        ExprKind::Collector { .. } => "Collector",
        ExprKind::Assign { op: AssignOp::Set, .. } => "'=' expression",
        ExprKind::Call(_) => "Function Call",
        ExprKind::MethodCall(_) => "Method call",
        ExprKind::If { .. } => "'if' statement",
        ExprKind::Unless { .. } => "'unless' statement",
        ExprKind::Case { .. } => "'case' statement",
        ExprKind::Relationship { .. } => "Relationship",
        ExprKind::Node(_) => "Node Definition",
        ExprKind::Variable(_) => "Variable",
        ExprKind::Selector { .. } => "Selector Expression",
        _ => "expression",
    }
}
