//! Names that only one resource or export can have, and that a template may give to two.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use setpoint_source::{Diagnostic, Range, Rule, Symbol};

use crate::conditions::{Formula, Valuation};
use crate::graph::Stack;
use crate::naming::{self, Name};
use crate::omission::{Omission, Omitted};
use crate::template::{Parameter, Resource};
use crate::text::{Part, Text};
use crate::types::TypeFacts;
use crate::value::{Guard, Value};

/// Of more pairs of names that parameters give, it is assumed that they differ.
const MAX_PAIRS: usize = 20_000;

/// So many choices of parameters are tried for a pair of names.
const MAX_CHOICES: usize = 256;

pub(crate) fn check(stack: &Stack<'_>, out: &mut Vec<Diagnostic>, open: &mut Vec<Omission>) {
    let mut kinds: IndexMap<Symbol, Vec<Claim<'_>>, FxBuildHasher> = IndexMap::default();
    for resource in stack.template.resources.values() {
        let Some(kind) = naming::of(resource) else { continue };
        let Some(value) = kind.name_of(resource) else { continue };
        for name in kind.names(resource, stack.template) {
            let claim = Claim { resource, property: kind.name_property, value, name };
            kinds.entry(resource.kind).or_default().push(claim);
        }
    }
    for claims in kinds.values() {
        compare(stack, claims, out, open);
    }
    doubled_exports(stack, out);
    same_identifiers(stack, open);
}

/// A name that a resource may take.
struct Claim<'a> {
    resource: &'a Resource,
    property: &'static str,
    value: &'a Value,
    name: Name,
}

impl Claim<'_> {
    fn guard(&self, stack: &Stack<'_>) -> Guard {
        let mut guard = stack.exists(self.resource.name);
        guard.extend(&self.name.guard);
        guard
    }
}

fn compare(stack: &Stack<'_>, claims: &[Claim<'_>], out: &mut Vec<Diagnostic>, open: &mut Vec<Omission>) {
    let mut told: Vec<(Symbol, Symbol)> = Vec::new();
    // The same text: the common case, looked up.
    let mut seen: FxHashMap<(&Text, &Option<Text>), Vec<&Claim<'_>>> = FxHashMap::default();
    for claim in claims {
        let same = seen.entry((&claim.name.text, &claim.name.scope)).or_default();
        for first in same.iter().filter(|first| first.resource.name != claim.resource.name) {
            if collide(stack, first, claim, Formula::Const(true), out) {
                told.push((first.resource.name, claim.resource.name));
                break;
            }
        }
        same.push(claim);
    }
    // Texts that a choice of parameters may make the same.
    let is_open = |claim: &&Claim<'_>| claim.name.text.plain().is_none();
    let mut pairs = 0;
    for claim in claims.iter().filter(is_open) {
        for other in claims {
            let (first, second) = (claim.resource.name, other.resource.name);
            let is_second_time = is_open(&other) && first >= second;
            if first == second
                || is_second_time
                || told.contains(&(first, second))
                || told.contains(&(second, first))
            {
                continue;
            }
            pairs += 1;
            if pairs > MAX_PAIRS {
                let words = "the names that parameters give to resources of one type differ".to_owned();
                return open.push(Omission::new(Omitted::Assumption(words), claim.value.range));
            }
            may_collide(stack, claim, other, out, open);
        }
    }
}

/// Tells of two resources that have one name under a choice of parameters that makes both; false if there is none.
fn collide(
    stack: &Stack<'_>,
    first: &Claim<'_>,
    second: &Claim<'_>,
    choice: Formula,
    out: &mut Vec<Diagnostic>,
) -> bool {
    let mut guard = first.guard(stack);
    guard.extend(second.guard(stack));
    let Some(valuation) = stack.logic.satisfiable(&[stack.logic.guard(&guard), choice]) else { return false };
    out.push(finding(stack, first, second, &guard, &valuation));
    true
}

fn finding(
    stack: &Stack<'_>,
    first: &Claim<'_>,
    second: &Claim<'_>,
    guard: &Guard,
    valuation: &Valuation,
) -> Diagnostic {
    let (one, two) = (first.resource.name, second.resource.name);
    let property = first.property;
    let mut finding = Diagnostic::new(
        Rule::NameTaken,
        format!("`{one}` and `{two}` have the same name, and only one can have it"),
    )
    .at(stack.template.span(second.value.range))
    .labelled(format!("this {property} is taken"))
    .with_note(
        "AWS: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html",
    )
    .with_help(format!("Choose another `{property}`, or remove it: then CloudFormation makes up a name."))
    .with_resources([one.to_string(), two.to_string()])
    .with_label(stack.template.span(first.value.range), format!("`{one}` has it"));
    let conditions: Vec<Symbol> = guard.iter().map(|(condition, _)| *condition).collect();
    if !conditions.is_empty() {
        let choice = stack.logic.describe(valuation, &conditions);
        finding = finding.with_note(format!("Both are created when {choice}."));
    }
    finding
}

/// Looks for values of the parameters that make two names one; assumes that they differ if that is open.
fn may_collide(
    stack: &Stack<'_>,
    first: &Claim<'_>,
    second: &Claim<'_>,
    out: &mut Vec<Diagnostic>,
    open: &mut Vec<Omission>,
) {
    let differ = |one: &Text, two: &Text| one.always_differs(two) || are_two_resources(stack, one, two);
    let scopes_differ = match (&first.name.scope, &second.name.scope) {
        (Some(one), Some(two)) => differ(one, two),
        (None, None) => false,
        _ => true,
    };
    if scopes_differ || differ(&first.name.text, &second.name.text) {
        return;
    }
    let mut guard = first.guard(stack);
    guard.extend(second.guard(stack));
    if stack.logic.satisfiable(&[stack.logic.guard(&guard)]).is_none() {
        return;
    }
    for (values, choice) in choices(stack, &first.name.text, &second.name.text) {
        let value_of =
            |name: Symbol| values.iter().find(|(known, _)| *known == name).map(|(_, text)| text.to_string());
        let is_same = first.name.text.with(&value_of) == second.name.text.with(&value_of)
            && first.name.scope == second.name.scope;
        if is_same && collide(stack, first, second, choice, out) {
            if let Some(finding) = out.last_mut() {
                let shown: Vec<String> =
                    values.iter().map(|(name, text)| format!("{name} = '{text}'")).collect();
                finding.note(format!("They are the same with {}.", shown.join(", ")));
            }
            return;
        }
    }
    if has_listed_values(stack, &first.name) && has_listed_values(stack, &second.name) {
        return;
    }
    let (one, two) = (first.resource.name, second.resource.name);
    let words = format!("`{one}` and `{two}` get different names");
    open.push(Omission::new(Omitted::Assumption(words), second.value.range));
}

/// Whether all values of a name were tried: it is text and few parameters whose values are listed.
fn has_listed_values(stack: &Stack<'_>, name: &Name) -> bool {
    let mut count = 1_usize;
    let is_listed = name.text.0.iter().all(|part| match part {
        Part::Text(_) => true,
        Part::Ref(name) => {
            stack.template.parameters.get(name).and_then(Parameter::values).is_some_and(|values| {
                count = count.saturating_mul(values.len());
                true
            })
        }
        Part::Other(_) => false,
    });
    // Two names together are tried up to the limit.
    is_listed && name.scope.is_none() && count.saturating_mul(count) <= MAX_CHOICES
}

/// Whether two texts name two resources of one type: these have two names.
fn are_two_resources(stack: &Stack<'_>, one: &Text, two: &Text) -> bool {
    let mut differing = one.0.iter().zip(&two.0).filter(|(left, right)| left != right);
    let (Some((Part::Ref(left), Part::Ref(right))), None, true) =
        (differing.next(), differing.next(), one.0.len() == two.0.len())
    else {
        return false;
    };
    let kind = |name: Symbol| stack.resource(name).map(|resource| resource.kind);
    kind(*left).is_some() && kind(*left) == kind(*right)
}

/// Values of parameters, and when they are chosen.
type Choice = (Vec<(Symbol, Arc<str>)>, Formula);

/// Values of the parameters that two texts name: all that are listed, and the defaults of the others.
fn choices(stack: &Stack<'_>, one: &Text, two: &Text) -> Vec<Choice> {
    let mut names: Vec<Symbol> = one.names().chain(two.names()).collect();
    names.sort_unstable();
    names.dedup();
    let mut all: Vec<Choice> = vec![(Vec::new(), Formula::Const(true))];
    for name in names {
        let Some(parameter) = stack.template.parameters.get(&name) else { continue };
        let Some(values) = parameter.values().or_else(|| parameter.default.clone().map(|one| vec![one]))
        else {
            continue;
        };
        if all.len().saturating_mul(values.len()) > MAX_CHOICES {
            continue;
        }
        let extend = |(known, formula): &(Vec<(Symbol, Arc<str>)>, Formula)| {
            let known = known.clone();
            let formula = formula.clone();
            values.clone().into_iter().map(move |value| {
                let is_value = stack.logic.parameter_is(name, &value);
                let mut chosen = known.clone();
                chosen.push((name, value));
                (chosen, Formula::And(vec![formula.clone(), is_value]))
            })
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// Two outputs that export one name: the second export is refused.
fn doubled_exports(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen: FxHashMap<Text, Vec<(Symbol, Range, Guard)>> = FxHashMap::default();
    for output in stack.template.outputs.fields() {
        let Some(name) = output.value.at(&["Export", "Name"]) else { continue };
        let condition = output.value.get("Condition").and_then(Value::text);
        let guard: Guard = condition.map(|name| (Symbol::new(name), true)).into_iter().collect();
        let same = seen.entry(Text::of(name, stack.template)).or_default();
        for (first, place, other) in same.iter() {
            let both: Guard = guard.iter().chain(other).copied().collect();
            if stack.logic.satisfiable(&[stack.logic.guard(&both)]).is_some() {
                let message = format!("the outputs `{first}` and `{}` export the same name", output.name);
                out.push(
                    Diagnostic::new(Rule::NameTaken, message)
                        .at(stack.template.span(name.range))
                        .labelled("this name is taken")
                        .with_label(stack.template.span(*place), format!("`{first}` exports it"))
                        .with_note("The names of exports are unique in a region of an account.")
                        .with_help("Choose another name."),
                );
                break;
            }
        }
        same.push((output.name, name.range, guard));
    }
}

/// Resources of types without a rule of their own that have the same identifying properties.
fn same_identifiers(stack: &Stack<'_>, open: &mut Vec<Omission>) {
    let mut seen: FxHashMap<(Symbol, Vec<Text>), Vec<Symbol>> = FxHashMap::default();
    for resource in stack.template.resources.values() {
        if naming::of(resource).is_some() || resource.made_from.is_some() {
            continue;
        }
        let Some(names) = TypeFacts::of(&resource.kind).and_then(TypeFacts::identifier) else { continue };
        let texts = names.iter().map(|name| {
            resource
                .property(&[name])
                .map(|value| Text::of(value, stack.template))
                .filter(|text| !text.0.is_empty())
        });
        let Some(texts) = texts.collect::<Option<Vec<Text>>>() else { continue };
        let same = seen.entry((resource.kind, texts)).or_default();
        for first in same.iter() {
            let both = [stack.exists_formula(*first), stack.exists_formula(resource.name)];
            if stack.logic.satisfiable(&both).is_some() {
                let words = format!(
                    "AWS makes both `{first}` and `{}`, which have the same {}",
                    resource.name,
                    names.join(", ")
                );
                open.push(Omission::new(Omitted::Assumption(words), resource.name_range));
                break;
            }
        }
        same.push(resource.name);
    }
}
