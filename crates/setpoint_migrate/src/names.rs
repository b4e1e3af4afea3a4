//! The names that stand between a variable and the fact of the same name.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_puppet_syntax::ast::{AssignOp, Block, Expr, ExprKind, Lambda, Parameter};
use setpoint_puppet_syntax::{children, everywhere};

/// The variables of all scopes of a project.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Set at top scope or by a node statement: every class and define sees them.
    outer: BTreeSet<String>,
    /// Of classes, with the class that each inherits from.
    classes: BTreeMap<String, (BTreeSet<String>, Option<String>)>,
    /// Visible where a template of ERB is rendered.
    templates: BTreeSet<String>,
    /// Of any class or define: Hiera reads variables in the scope that asks.
    locals: BTreeSet<String>,
    /// Keys of hashes: EPP templates without a parameter list get variables so.
    keys: BTreeSet<String>,
    /// Facts that modules define themselves; the new version has them, too.
    pub(crate) custom_facts: BTreeSet<String>,
}

impl Names {
    pub(crate) fn add(&mut self, body: &Block) {
        self.outer.extend(assigned(body));
        everywhere(body, &mut |expr| {
            let (parameters, body, class) = match &expr.kind {
                ExprKind::Class(class) => (&class.parameters, &class.body, Some(class)),
                ExprKind::Define(define) => (&define.parameters, &define.body, None),
                ExprKind::Node(node) => {
                    self.outer.extend(assigned(&node.body));
                    return;
                }
                ExprKind::Hash(pairs) => {
                    self.keys.extend(pairs.iter().filter_map(|(key, _)| literal(key)).map(str::to_owned));
                    return;
                }
                _ => return,
            };
            let own = with_parameters(parameters, body);
            self.locals.extend(own.iter().cloned());
            if renders_templates(body) {
                self.templates.extend(own.iter().cloned());
            }
            if let Some(class) = class {
                let parent =
                    class.parent.as_ref().map(|(name, _)| name.trim_start_matches("::").to_lowercase());
                self.classes.insert(class.name.to_string(), (own, parent));
            }
        });
    }

    /// Whether every class and define may see another variable of this name instead of the fact.
    pub(crate) fn is_set_outside(&self, name: &str) -> bool {
        self.outer.contains(name)
    }

    /// Whether a class may inherit a variable of this name. A parent that is not known may have any.
    pub(crate) fn may_inherit(&self, parent: Option<&str>, name: &str) -> bool {
        let mut at = parent.map(|parent| parent.trim_start_matches("::").to_lowercase());
        for _ in 0..64 {
            let Some(class) = &at else { return false };
            let Some((own, above)) = self.classes.get(class) else { return true };
            if own.contains(name) {
                return true;
            }
            at.clone_from(above);
        }
        true
    }

    pub(crate) fn may_be_in_template(&self, name: &str) -> bool {
        // A class that inherits may render a template in which its parent's variables are seen.
        let inherited = self.classes.values().filter_map(|(_, parent)| parent.as_deref());
        let mut parents = inherited.filter_map(|parent| self.classes.get(parent));
        self.is_set_outside(name)
            || self.templates.contains(name)
            || parents.any(|(own, _)| own.contains(name))
    }

    pub(crate) fn may_be_seen_by_hiera(&self, name: &str) -> bool {
        self.is_set_outside(name) || self.locals.contains(name)
    }

    pub(crate) fn may_be_given_to_epp(&self, name: &str) -> bool {
        self.is_set_outside(name) || self.keys.contains(name)
    }
}

/// The text of a string or bare word.
pub(crate) fn literal(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::String(text) => Some(text),
        ExprKind::Name(name) => Some(name.as_str()),
        _ => None,
    }
}

pub(crate) fn with_parameters(parameters: &[Parameter], body: &Block) -> BTreeSet<String> {
    let mut names = assigned(body);
    names.extend(parameters.iter().map(|parameter| parameter.name.to_string()));
    names
}

pub(crate) fn of_lambda(lambda: &Lambda) -> BTreeSet<String> {
    with_parameters(&lambda.parameters, &lambda.body)
}

/// The variables that a block sets in its own scope, not within lambdas and definitions.
fn assigned(body: &Block) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut work: Vec<&Expr> = body.iter().collect();
    while let Some(expr) = work.pop() {
        if let ExprKind::Assign { op: AssignOp::Set | AssignOp::Append | AssignOp::Remove, target, .. } =
            &expr.kind
        {
            let mut targets = vec![&**target];
            while let Some(target) = targets.pop() {
                if let ExprKind::Variable(name) = &target.kind {
                    names.insert(name.to_string());
                }
                children(target, &mut |child| targets.push(child));
            }
        }
        children(expr, &mut |child| work.push(child));
    }
    names
}

fn renders_templates(body: &Block) -> bool {
    let mut found = false;
    everywhere(body, &mut |expr| {
        let name = match &expr.kind {
            ExprKind::Call(call) => literal(&call.function),
            ExprKind::MethodCall(call) => Some(call.name.as_str()),
            _ => None,
        };
        // A function of the user's own may render one in the scope of its caller.
        found |= name.is_some_and(|name| name.contains("template"));
    });
    found
}
