//! Formulas, terms and relations as the rule language writes them.

use setpoint_source::Symbol;

use crate::model::{Bound, ClassId, Edge, Formula, Model, NameSet, Term, VarId};

/// The text of a formula without free variables.
pub fn formula_text(model: &Model, formula: &Formula) -> String {
    Writer { model, names: Vec::new() }.formula(formula, 0)
}

/// The text of a formula over parameters of a rule.
pub fn guard_text(model: &Model, parameters: &[Bound], formula: &Formula) -> String {
    let names = parameters.iter().map(|bound| (bound.var, bound.name, bound.class)).collect();
    Writer { model, names }.formula(formula, 0)
}

/// `a -> b for k: class where …`, restricted to a type of `k` if one is given.
pub fn edge_text(model: &Model, edge: &Edge, kind: Option<NameSet>) -> String {
    let mut writer = Writer { model, names: vec![(edge.bound.var, edge.bound.name, edge.bound.class)] };
    let class = model.class(edge.bound.class);
    let mut filters = Vec::new();
    if edge.filter != Formula::Constant(true) {
        filters.push(writer.formula(&edge.filter, 2));
    }
    if let Some(kinds) = kind {
        filters.push(format!("{} of {}", edge.bound.name, set(&class.types, kinds)));
    }
    let filter = if filters.is_empty() { String::new() } else { format!(" where {}", filters.join(" and ")) };
    format!(
        "{} -> {} for {}: {}{filter}",
        writer.path(&edge.from),
        writer.path(&edge.to),
        edge.bound.name,
        class.name
    )
}

/// `a|b`.
pub fn set(names: &[Symbol], members: NameSet) -> String {
    let listed: Vec<&str> =
        members.iter().filter_map(|member| names.get(member as usize)).map(|name| name.as_str()).collect();
    listed.join("|")
}

struct Writer<'m> {
    model: &'m Model,
    names: Vec<(VarId, Symbol, ClassId)>,
}

impl Writer<'_> {
    fn path(&self, term: &Term) -> String {
        let Some(&(_, name, mut class)) = self.names.iter().rev().find(|(var, ..)| *var == term.var) else {
            return String::new();
        };
        let mut out = name.to_string();
        for &link in &term.path {
            let declared = &self.model.class(class).links[link];
            out.push('.');
            out.push_str(&declared.name);
            class = declared.target;
        }
        out
    }

    fn formula(&mut self, formula: &Formula, level: u8) -> String {
        let (own, text) = match formula {
            Formula::Constant(value) => (4, value.to_string()),
            Formula::Not(inner) => match &**inner {
                Formula::Equal(left, right) => (4, format!("{} != {}", self.path(left), self.path(right))),
                other => (3, format!("not {}", self.formula(other, 4))),
            },
            Formula::And(parts) => (2, self.joined(parts, " and ", 3)),
            Formula::Or(parts) => match &parts[..] {
                [Formula::Not(premise), conclusion] => {
                    (0, format!("{} implies {}", self.formula(premise, 1), self.formula(conclusion, 0)))
                }
                _ => (1, self.joined(parts, " or ", 2)),
            },
            Formula::All { bound, filter, body } => (4, self.quantified("all", bound, filter, body)),
            Formula::Some { bound, filter, body } => {
                let own = if **body == Formula::Constant(true) { 0 } else { 4 };
                (own, self.quantified("some", bound, filter, body))
            }
            Formula::InStates(term, states) => {
                (4, format!("{} is {}", self.path(term), set(&self.model.class(term.class).states, *states)))
            }
            Formula::OfTypes(term, types) => {
                (4, format!("{} of {}", self.path(term), set(&self.model.class(term.class).types, *types)))
            }
            Formula::SameType(left, right) => {
                (4, format!("{}.type = {}.type", self.path(left), self.path(right)))
            }
            Formula::Equal(left, right) => (4, format!("{} = {}", self.path(left), self.path(right))),
            Formula::Before(left, right) => (4, format!("{} before {}", self.path(left), self.path(right))),
            Formula::Has(term, message) => {
                let name = self.model.class(term.class).messages[*message as usize];
                (4, format!("{} has {name}", self.path(term)))
            }
            Formula::HasSeveral(term, message) => {
                let name = self.model.class(term.class).messages[*message as usize];
                (4, format!("{} has several {name}", self.path(term)))
            }
        };
        if own < level { format!("({text})") } else { text }
    }

    fn quantified(&mut self, word: &str, bound: &Bound, filter: &Formula, body: &Formula) -> String {
        self.names.push((bound.var, bound.name, bound.class));
        let filter = match filter {
            Formula::Constant(true) => String::new(),
            other => format!(" where {}", self.formula(other, 0)),
        };
        let body = match body {
            Formula::Constant(true) => String::new(),
            other => format!(" {{ {} }}", self.formula(other, 0)),
        };
        self.names.pop();
        format!("{word} {}: {}{filter}{body}", bound.name, self.model.class(bound.class).name)
    }

    fn joined(&mut self, parts: &[Formula], separator: &str, level: u8) -> String {
        let texts: Vec<String> = parts.iter().map(|part| self.formula(part, level)).collect();
        texts.join(separator)
    }
}
