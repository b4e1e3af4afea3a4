//! Conditions as logic: which combinations of conditions can be true at once, for some values of the parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use setpoint_source::{Limit, Symbol};

use crate::template::{Table, Template};
use crate::value::{Guard, Piece, Value, ValueKind};

/// Conditions that name conditions are followed so far; those of a template are read in its order, so this is rarely met.
const MAX_CHAIN: Limit = Limit::new(1_000);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Formula {
    Const(bool),
    Atom(usize),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

/// One side of `Fn::Equals`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Operand {
    Literal(Arc<str>),
    Parameter(Symbol),
    /// The truth of a condition, which its definition gives.
    Condition(Symbol),
    /// Known only when the stack is made; equal texts mean equal values.
    Unknown(String),
}

/// The conditions of a template over atoms of the form "parameter has this value".
#[derive(Debug, Default)]
pub(crate) struct Logic {
    atoms: BTreeMap<(Operand, Operand), usize>,
    conditions: Table<Formula>,
    /// Atoms that stand for whole conditions, and what they mean; each speaks of those before it. Conditions that name
    /// conditions twice would be exponentially large if each name were replaced by what it means.
    definitions: Vec<(usize, Formula)>,
    /// What the template's parameters and rules leave possible.
    axioms: Vec<Formula>,
}

/// One way in which the parameters may be chosen.
#[derive(Debug)]
pub(crate) struct Valuation {
    atoms: Vec<bool>,
    conditions: Table<bool>,
}

impl Valuation {
    pub(crate) fn holds(&self, condition: Symbol) -> bool {
        self.conditions.get(&condition).copied().unwrap_or(true)
    }

    pub(crate) fn allows(&self, guard: &Guard) -> bool {
        guard.iter().all(|(condition, value)| self.holds(*condition) == *value)
    }
}

impl Logic {
    pub(crate) fn new(template: &Template) -> Self {
        let mut logic = Self::default();
        let mut reader = Reader {
            template,
            atoms: &mut logic.atoms,
            known: Table::default(),
            definitions: Vec::new(),
            open: Vec::new(),
        };
        for name in template.conditions.keys() {
            let formula = reader.condition(*name);
            logic.conditions.insert(*name, formula);
        }
        for rule in &template.rules {
            let when = rule.condition.as_ref().map_or(Formula::Const(true), |value| reader.formula(value));
            for assertion in &rule.assertions {
                let holds = reader.formula(assertion);
                logic.axioms.push(Formula::Or(vec![Formula::Not(Box::new(when.clone())), holds]));
            }
        }
        logic.definitions = reader.definitions;
        logic.add_axioms(template);
        logic
    }

    /// What equality means, and what values parameters may have.
    fn add_axioms(&mut self, template: &Template) {
        let atoms: Vec<((Operand, Operand), usize)> =
            self.atoms.iter().map(|(k, v)| (k.clone(), *v)).collect();
        let mut values: BTreeMap<&Operand, Vec<(&Arc<str>, usize)>> = BTreeMap::new();
        for ((left, right), atom) in &atoms {
            if let Operand::Literal(text) = right {
                values.entry(left).or_default().push((text, *atom));
            }
        }
        let not = |atom: usize| Formula::Not(Box::new(Formula::Atom(atom)));
        for (atom, formula) in &self.definitions {
            self.axioms.push(Formula::Or(vec![not(*atom), formula.clone()]));
            let otherwise = Formula::Not(Box::new(formula.clone()));
            self.axioms.push(Formula::Or(vec![Formula::Atom(*atom), otherwise]));
        }
        for (operand, literals) in &values {
            for (index, (_, first)) in literals.iter().enumerate() {
                for (_, second) in &literals[index + 1..] {
                    self.axioms.push(Formula::Or(vec![not(*first), not(*second)]));
                }
            }
            let Operand::Parameter(name) = operand else { continue };
            let Some(parameter) = template.parameters.get(name) else { continue };
            let only = parameter.only_value();
            for (text, atom) in literals {
                match &only {
                    Some(only) if only == *text => self.axioms.push(Formula::Atom(*atom)),
                    Some(_) => self.axioms.push(not(*atom)),
                    // The values of a list are compared one by one, if at all.
                    None if !parameter.is_list() && !parameter.admits(text) => self.axioms.push(not(*atom)),
                    None => {}
                }
            }
            let Some(allowed) = parameter.values() else { continue };
            if allowed.iter().all(|value| literals.iter().any(|(text, _)| **text == *value)) {
                self.axioms
                    .push(Formula::Or(literals.iter().map(|(_, atom)| Formula::Atom(*atom)).collect()));
            }
        }
        for ((left, right), equal) in &atoms {
            if matches!(right, Operand::Literal(_)) {
                continue;
            }
            let none = Vec::new();
            for (text, atom) in values.get(left).unwrap_or(&none) {
                for (other, twin) in values.get(right).unwrap_or(&none) {
                    if text == other {
                        self.axioms.push(Formula::Or(vec![not(*equal), not(*atom), Formula::Atom(*twin)]));
                        self.axioms.push(Formula::Or(vec![not(*equal), not(*twin), Formula::Atom(*atom)]));
                        self.axioms.push(Formula::Or(vec![not(*atom), not(*twin), Formula::Atom(*equal)]));
                    }
                }
            }
        }
    }

    /// The formula of a guard. A condition that the template does not define may have any value: an error says so
    /// elsewhere.
    pub(crate) fn guard(&self, guard: &Guard) -> Formula {
        Formula::And(
            guard
                .iter()
                .filter_map(|(condition, value)| {
                    let formula = self.conditions.get(condition)?.clone();
                    Some(if *value { formula } else { Formula::Not(Box::new(formula)) })
                })
                .collect(),
        )
    }

    /// The formula of a parameter that has a value: of those that conditions ask for, it is this one or none.
    pub(crate) fn parameter_is(&self, parameter: Symbol, value: &str) -> Formula {
        let own = Operand::Parameter(parameter);
        let atoms = self.atoms.iter().filter_map(|((left, right), atom)| match right {
            Operand::Literal(text) if *left == own => {
                let is_chosen = Formula::Atom(*atom);
                Some(if &**text == value { is_chosen } else { Formula::Not(Box::new(is_chosen)) })
            }
            _ => None,
        });
        Formula::And(atoms.collect())
    }

    /// The choice that the parameters' defaults make; what is known only at deployment counts as unequal.
    pub(crate) fn defaults(&self, template: &Template) -> Valuation {
        let value = |operand: &Operand| match operand {
            Operand::Literal(text) => Some(Arc::clone(text)),
            Operand::Parameter(name) => template.parameters.get(name)?.default.clone(),
            Operand::Condition(_) | Operand::Unknown(_) => None,
        };
        let mut atoms = vec![false; self.atoms.len()];
        for ((left, right), atom) in &self.atoms {
            atoms[*atom] = value(left).is_some_and(|left| value(right) == Some(left));
        }
        for (atom, formula) in &self.definitions {
            atoms[*atom] = evaluate(formula, &atoms);
        }
        let conditions =
            self.conditions.iter().map(|(name, formula)| (*name, evaluate(formula, &atoms))).collect();
        Valuation { atoms, conditions }
    }

    pub(crate) fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// A choice of parameters under which all `wanted` formulas hold. Atoms from `atom_count` on are the caller's own.
    pub(crate) fn solve(&self, wanted: &[Formula], own_atoms: usize) -> Option<Valuation> {
        let all: Vec<&Formula> = self.axioms.iter().chain(wanted).collect();
        let atoms = crate::sat::solve(self.atoms.len() + own_atoms, &all)?;
        let conditions =
            self.conditions.iter().map(|(name, formula)| (*name, evaluate(formula, &atoms))).collect();
        Some(Valuation { atoms, conditions })
    }

    /// Whether some choice of parameters is possible at all.
    pub(crate) fn is_consistent(&self) -> bool {
        self.axioms.is_empty() || self.solve(&[], 0).is_some()
    }

    pub(crate) fn satisfiable(&self, wanted: &[Formula]) -> Option<Valuation> {
        if self.conditions.is_empty() {
            let constant = wanted.iter().all(|formula| evaluate(formula, &[]));
            return constant.then(|| Valuation { atoms: Vec::new(), conditions: Table::default() });
        }
        self.solve(wanted, 0)
    }

    /// The choice of parameters in words: `Environment = prod, CreateVpc ≠ true`.
    pub(crate) fn describe(&self, valuation: &Valuation, conditions: &[Symbol]) -> String {
        let mut parts = Vec::new();
        for name in conditions {
            let truth = if valuation.holds(*name) { "true" } else { "false" };
            let part = format!("`{name}` is {truth}");
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let mut choices = Vec::new();
        for ((left, right), atom) in &self.atoms {
            if let (Operand::Parameter(name), Operand::Literal(text)) = (left, right)
                && valuation.atoms.get(*atom) == Some(&true)
            {
                choices.push(format!("{name} = '{text}'"));
            }
        }
        if !choices.is_empty() && choices.len() <= 6 {
            parts.push(format!("for example with {}", choices.join(", ")));
        }
        parts.join(", ")
    }
}

fn evaluate(formula: &Formula, atoms: &[bool]) -> bool {
    match formula {
        Formula::Const(value) => *value,
        Formula::Atom(atom) => atoms.get(*atom).copied().unwrap_or(false),
        Formula::Not(inner) => !evaluate(inner, atoms),
        Formula::And(all) => all.iter().all(|one| evaluate(one, atoms)),
        Formula::Or(any) => any.iter().any(|one| evaluate(one, atoms)),
    }
}

struct Reader<'a> {
    template: &'a Template,
    atoms: &'a mut BTreeMap<(Operand, Operand), usize>,
    /// Conditions that were read, and what stands for them.
    known: Table<Formula>,
    definitions: Vec<(usize, Formula)>,
    /// Conditions being read: one that refers to itself has no meaning.
    open: Vec<Symbol>,
}

impl Reader<'_> {
    fn condition(&mut self, name: Symbol) -> Formula {
        let Some((_, value)) = self.template.conditions.get(&name) else {
            return self.unknown(format!("condition {name}"));
        };
        if let Some(known) = self.known.get(&name) {
            return known.clone();
        }
        if self.open.contains(&name) || self.open.len() > MAX_CHAIN {
            return self.unknown(format!("condition {name}"));
        }
        self.open.push(name);
        let mut formula = self.formula(value);
        self.open.pop();
        if matches!(formula, Formula::Not(_) | Formula::And(_) | Formula::Or(_)) {
            let atom = self.same(Operand::Condition(name), Operand::Literal("true".into()));
            if let Formula::Atom(atom) = atom {
                self.definitions.push((atom, formula));
            }
            formula = atom;
        }
        self.known.insert(name, formula.clone());
        formula
    }

    fn formula(&mut self, value: &Value) -> Formula {
        match &value.kind {
            ValueKind::Call { name, .. } if &**name == "Condition" => self.named_condition(value),
            ValueKind::Call { name, argument } => self.call(name, argument, value),
            // `Condition: Name` inside `Fn::And` in the long spelling.
            ValueKind::Map(_) => self.named_condition(value),
            ValueKind::Text(text) if &**text == "true" => Formula::Const(true),
            ValueKind::Text(text) if &**text == "false" => Formula::Const(false),
            _ => self.unknown(canonical(value)),
        }
    }

    fn named_condition(&mut self, value: &Value) -> Formula {
        match value.condition_named() {
            Some(name) => self.condition(name),
            None => self.unknown(canonical(value)),
        }
    }

    fn call(&mut self, name: &str, argument: &Value, whole: &Value) -> Formula {
        let items = argument.items();
        match (name, items) {
            ("Fn::Not", [inner]) => Formula::Not(Box::new(self.formula(inner))),
            ("Fn::And", _) => Formula::And(items.iter().map(|item| self.formula(item)).collect()),
            ("Fn::Or", _) => Formula::Or(items.iter().map(|item| self.formula(item)).collect()),
            ("Fn::Equals", [left, right]) => self.equals(left, right),
            ("Fn::Contains", [list, value]) if list.items().iter().all(|item| item.text().is_some()) => {
                Formula::Or(list.items().iter().map(|item| self.equals(value, item)).collect())
            }
            _ => self.unknown(canonical(whole)),
        }
    }

    fn equals(&mut self, left: &Value, right: &Value) -> Formula {
        if let Some(formula) = self.mapped(left, right).or_else(|| self.mapped(right, left)) {
            return formula;
        }
        self.same(operand(left), operand(right))
    }

    fn same(&mut self, left: Operand, right: Operand) -> Formula {
        if left == right {
            return Formula::Const(true);
        }
        if let (Operand::Literal(_), Operand::Literal(_)) = (&left, &right) {
            return Formula::Const(false);
        }
        // Literals stand on the right, so that all values of one operand are found together.
        let key = match (&left, &right) {
            (Operand::Literal(_), _) => (right, left),
            (_, Operand::Literal(_)) => (left, right),
            _ if left <= right => (left, right),
            _ => (right, left),
        };
        let next = self.atoms.len();
        Formula::Atom(*self.atoms.entry(key).or_insert(next))
    }

    /// `Fn::FindInMap` with a parameter as its first key, compared with a literal: true for the keys that map to it.
    fn mapped(&mut self, found: &Value, literal: &Value) -> Option<Formula> {
        let ValueKind::Call { name, argument } = &found.kind else { return None };
        let literal = literal.text()?;
        let [map, first, second] = argument.items() else { return None };
        if &**name != "Fn::FindInMap" {
            return None;
        }
        let table = self.template.mappings.get(&Symbol::new(map.text()?))?;
        let second = Symbol::new(second.text()?);
        let ValueKind::Ref(parameter) = &first.kind else {
            let value = table.get(&Symbol::new(first.text()?))?.get(&second)?;
            return Some(Formula::Const(value.text()? == literal));
        };
        let mut keys = Vec::new();
        for (key, row) in table {
            if row.get(&second)?.text()? == literal {
                keys.push(self.same(Operand::Parameter(*parameter), Operand::Literal(key.as_str().into())));
            }
        }
        Some(Formula::Or(keys))
    }

    fn unknown(&mut self, text: String) -> Formula {
        self.same(Operand::Unknown(text), Operand::Literal("true".into()))
    }
}

fn operand(value: &Value) -> Operand {
    match &value.kind {
        ValueKind::Text(text) => Operand::Literal(Arc::clone(text)),
        ValueKind::Null => Operand::Literal("".into()),
        ValueKind::Ref(name) => Operand::Parameter(*name),
        ValueKind::Sub { pieces, .. } => match pieces.as_slice() {
            [Piece::Text(text)] => Operand::Literal(Arc::clone(text)),
            [Piece::Ref(name)] => Operand::Parameter(*name),
            _ => Operand::Unknown(canonical(value)),
        },
        _ => Operand::Unknown(canonical(value)),
    }
}

/// A text that is equal for equal expressions, wherever they stand.
pub(crate) fn canonical(value: &Value) -> String {
    match &value.kind {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Text(text) => format!("{text:?}"),
        ValueKind::Ref(name) => format!("Ref({name})"),
        ValueKind::List(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        ValueKind::Map(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}:{}", field.name, canonical(&field.value))).collect();
            format!("{{{}}}", fields.join(","))
        }
        ValueKind::GetAtt { resource, attribute, .. } => format!("GetAtt({resource},{attribute:?})"),
        ValueKind::Sub { pieces, variables } => {
            let variables: Vec<String> =
                variables.iter().map(|field| format!("{}:{}", field.name, canonical(&field.value))).collect();
            format!("Sub({pieces:?},{})", variables.join(","))
        }
        ValueKind::If { condition, then, otherwise } => {
            format!("If({condition},{},{})", canonical(then), canonical(otherwise))
        }
        ValueKind::Call { name, argument } => format!("{name}({})", canonical(argument)),
    }
}
