//! What several resources share, and the condition under which it is there: that of any of them.

use setpoint_source::{Range, Symbol};

use super::{Work, nothing};
use crate::omission::Omitted;
use crate::value::{Value, ValueKind};

/// Resources that several others share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The name of the condition that the transform makes, where there are several.
    combined: &'static str,
    /// The conditions of the sharers.
    conditions: Vec<Option<(Symbol, Range)>>,
    resources: Vec<Symbol>,
}

/// The condition of a shared usage plan; the transform makes it even for a single one.
pub(super) const USAGE_PLAN: &str = "SharedUsagePlanCondition";

impl Work<'_> {
    /// Records that a resource under a condition shares another one.
    pub(super) fn share(
        &mut self,
        combined: &'static str,
        resources: &[Symbol],
        condition: Option<(Symbol, Range)>,
    ) {
        let at = self.shared.iter().position(|one| one.combined == combined).unwrap_or_else(|| {
            self.shared.push(Shared { combined, conditions: Vec::new(), resources: Vec::new() });
            self.shared.len() - 1
        });
        let Some(shared) = self.shared.get_mut(at) else { return };
        shared.conditions.push(condition);
        for resource in resources {
            if !shared.resources.contains(resource) {
                shared.resources.push(*resource);
            }
        }
    }

    /// Puts what is shared under the condition of any that share it.
    pub(super) fn finish_shared(&mut self) {
        for shared in std::mem::take(&mut self.shared) {
            let all: Option<Vec<(Symbol, Range)>> = shared.conditions.iter().copied().collect();
            let condition = all.and_then(|mut all| {
                all.sort_by_key(|(name, _)| name.as_str().to_owned());
                all.dedup_by_key(|(name, _)| *name);
                match all.as_slice() {
                    [] => None,
                    [only] if shared.combined != USAGE_PLAN => Some(*only),
                    [(_, range), ..] => {
                        let (name, range) = (Symbol::new(shared.combined), *range);
                        self.template.conditions.entry(name).or_insert_with(|| (range, any_of(&all)));
                        Some((name, range))
                    }
                }
            });
            for resource in self.template.resources.values_mut() {
                let is_part = |name: Symbol| shared.resources.contains(&name);
                if is_part(resource.name) || resource.made_from.is_some_and(is_part) {
                    resource.condition = condition;
                }
            }
        }
    }

    /// The truth of a value as the transform finds it: it looks into parameters and mappings. Where that is a default, the answer
    /// holds only for it.
    pub(super) fn truth_of(&mut self, value: &Value) -> Option<bool> {
        let text = match &value.kind {
            ValueKind::Ref(name) => {
                let parameter = self.template.parameters.get(name)?;
                let text = parameter.default.as_deref().map(str::to_owned);
                if parameter.only_value().is_none() {
                    let words = format!("the parameter `{name}` has its default");
                    self.template.omit(Omitted::Assumption(words), value.range);
                }
                text
            }
            ValueKind::Call { name, argument } if &**name == "Fn::FindInMap" => {
                let keys: Vec<String> =
                    argument.items().iter().map(|key| self.text_of(key)).collect::<Option<_>>()?;
                let [map, first, second] = keys.as_slice() else { return None };
                let map = self.template.mappings.get(&Symbol::new(map))?;
                let found = map.get(&Symbol::new(first))?.get(&Symbol::new(second))?;
                let text = found.text().map(str::to_owned);
                if argument.items().iter().any(|key| key.text().is_none()) {
                    let words = "the parameters that choose from the mapping have their defaults".to_owned();
                    self.template.omit(Omitted::Assumption(words), value.range);
                }
                text
            }
            _ => value.text().map(str::to_owned),
        };
        match text?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// Adds a resource whose name ends in a digest of a value. The digest is left out; what has the same value has the same name.
    pub(super) fn keyed(&mut self, prefix: &'static str, key: &Value) -> Symbol {
        let known = self.keyed.iter().find(|(other, value, _)| *other == prefix && value.same_as(key));
        if let Some((.., name)) = known {
            return *name;
        }
        let count = self.keyed.iter().filter(|(other, ..)| *other == prefix).count();
        let name = if count == 0 { prefix.to_owned() } else { format!("{prefix}{}", count + 1) };
        let name = Symbol::new(&name);
        self.keyed.push((prefix, key.clone(), name));
        name
    }
}

fn any_of(conditions: &[(Symbol, Range)]) -> Value {
    let named = |(name, range): &(Symbol, Range)| Value {
        range: *range,
        kind: ValueKind::Call {
            name: Symbol::new("Condition"),
            argument: Box::new(Value { range: *range, kind: ValueKind::Text(name.as_str().into()) }),
        },
    };
    match conditions {
        [] => nothing(Range::default()),
        [only] => named(only),
        [first, ..] => {
            let items = ValueKind::List(conditions.iter().map(named).collect());
            let argument = Box::new(Value { range: first.1, kind: items });
            Value { range: first.1, kind: ValueKind::Call { name: Symbol::new("Fn::Or"), argument } }
        }
    }
}
