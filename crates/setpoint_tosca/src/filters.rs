//! Node filters of the Simple Profile: whether a node template has the values that a requirement asks for.

use setpoint_data::{Entry, Node};

use crate::grammar::is_call;
use crate::schema::Schema;
use crate::service::{NodeTemplate, Service};
use crate::types::{derives, inherited, named_items, symbol};
use crate::values::{Checker, keeps};

/// Returns whether a node template passes a filter; nothing if a value is not known before the topology is deployed, or the
/// filter has another form.
pub(crate) fn passes(filter: &Node, template: &NodeTemplate, service: &Service) -> Option<bool> {
    let checker = Checker {
        types: &service.types,
        edition: service.edition,
        incomplete: service.incomplete,
        found: Vec::new(),
    };
    let mut answers = Vec::new();
    for Entry { key, value } in filter.entries() {
        match key.text() {
            Some("properties") => {
                let defined = inherited(&service.types.nodes, template.kind, |kind| &kind.properties);
                let given = template.node.get("properties");
                for (name, wanted) in named_items(Some(value)) {
                    let schema = symbol(Some(name)).and_then(|name| defined.get(&name));
                    answers.push(property(&checker, given, schema, name, wanted));
                }
            }
            Some("capabilities") => {
                for (name, wanted) in named_items(Some(value)) {
                    answers.push(capability(&checker, template, service, name, wanted));
                }
            }
            _ => answers.push(None),
        }
    }
    // An empty filter says nothing, and may be one of which a part is missing.
    if answers.is_empty() {
        return None;
    }
    if answers.contains(&Some(false)) {
        return Some(false);
    }
    answers.into_iter().collect::<Option<Vec<bool>>>().map(|_| true)
}

/// Whether a capability, named by itself or by its type, has the values that a filter wants.
fn capability(
    checker: &Checker<'_>,
    template: &NodeTemplate,
    service: &Service,
    name: &Node,
    wanted: &Node,
) -> Option<bool> {
    let types = &service.types;
    let named = symbol(Some(name))?;
    let defined = types.capabilities_of(template.kind);
    let found = defined.get_key_value(&named).or_else(|| {
        let mut fitting = defined.iter().filter(|(_, one)| derives(&types.capabilities, one.kind, named));
        fitting.next().filter(|_| fitting.next().is_none())
    });
    let (name, definition) = found?;
    let properties = types.capability_properties(definition);
    let assigned = named_items(template.node.get("capabilities"));
    let given =
        assigned.iter().find(|(key, _)| key.text() == Some(name)).and_then(|(_, one)| one.get("properties"));
    let mut all = Some(true);
    for (key, clause) in named_items(wanted.get("properties")) {
        let schema = symbol(Some(key)).and_then(|name| properties.get(&name));
        match property(checker, given, schema, key, clause) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

fn property(
    checker: &Checker<'_>,
    given: Option<&Node>,
    schema: Option<&Schema>,
    name: &Node,
    wanted: &Node,
) -> Option<bool> {
    let schema = schema?;
    let value = given.and_then(|given| given.get(name.text()?)).or(schema.default.as_ref())?;
    if is_call(value) {
        return None;
    }
    let base = checker.base(schema.kind?);
    let clauses = if wanted.is_sequence() { wanted.items() } else { std::slice::from_ref(wanted) };
    let mut all = Some(true);
    for clause in clauses {
        match keeps(clause, value, &base) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}
