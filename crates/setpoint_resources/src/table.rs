//! What is known of the parameters of a type, as data: a model sees only what its table says that it models.
//!
//! [`decode`] takes the catalog apart before any model sees it. A parameter with a value that no row covers, or that a row
//! leaves open, never reaches a model: it makes the effect of its resource unknown. So no parameter can count as absent
//! because nobody reads it. A test asks for each modelled row that it changes the plan.

use std::collections::BTreeMap;

use setpoint_catalog::{Catalog, Resource, ResourceId, is_metaparameter};
use setpoint_puppet_values::{Data, Value};
use setpoint_state::{CellKind, Program, Reach, Test};

use crate::World;
use crate::attributes::{Attributes, text_of};
use crate::machine::{Machine, sequence, when};
use crate::types::{self, Model};

/// One line of the table of a type: what a parameter does with such values.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub parameter: &'static str,
    pub values: Values,
    /// The values of `ensure` that the row is about; none means all.
    pub ensure: &'static [&'static str],
    pub treatment: Treatment,
}

/// A class of values.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Texts, numbers and Booleans, and lists of them.
    Plain,
    /// One text, number or Boolean.
    Single,
    /// One of these words.
    Words(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// A text that begins with these letters.
    Beginning(&'static str),
    /// Lists within a list.
    Nested,
    /// Anything.
    Any,
}

/// What is done about a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The model reads it.
    Modelled,
    /// It changes nothing that is asked about.
    Inert(&'static str),
    /// Puppet does not look at it on the platforms that are modelled, or with this `ensure`.
    Moot(&'static str),
    /// A property that no other resource can see: it gets a cell of its own.
    Kept,
    /// It is not modelled.
    Open(Scope),
}

/// How far an open parameter may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the resource reads and writes anyway.
    Own,
    Everything,
}

impl Row {
    const fn new(parameter: &'static str, treatment: Treatment) -> Self {
        Self { parameter, values: Values::Plain, ensure: &[], treatment }
    }

    pub(crate) const fn modelled(parameter: &'static str) -> Self {
        Self::new(parameter, Treatment::Modelled)
    }

    pub(crate) const fn inert(parameter: &'static str, reason: &'static str) -> Self {
        Self { values: Values::Any, ..Self::new(parameter, Treatment::Inert(reason)) }
    }

    pub(crate) const fn moot(parameter: &'static str, reason: &'static str) -> Self {
        Self { values: Values::Any, ..Self::new(parameter, Treatment::Moot(reason)) }
    }

    pub(crate) const fn kept(parameter: &'static str) -> Self {
        Self::new(parameter, Treatment::Kept)
    }

    pub(crate) const fn open(parameter: &'static str, scope: Scope) -> Self {
        Self { values: Values::Any, ..Self::new(parameter, Treatment::Open(scope)) }
    }

    pub(crate) const fn of(self, values: Values) -> Self {
        Self { values, ..self }
    }

    pub(crate) const fn words(self, words: &'static [&'static str]) -> Self {
        self.of(Values::Words(words))
    }

    pub(crate) const fn with(self, ensure: &'static [&'static str]) -> Self {
        Self { ensure, ..self }
    }
}

impl Values {
    fn holds(self, value: &Value) -> bool {
        let single = |value: &Value| match &value.data {
            Data::Sensitive(inner) => is_single(inner),
            _ => is_single(value),
        };
        let text = || if single(value) { text_of(value) } else { None };
        match self {
            Self::Any => true,
            Self::Single => single(value),
            Self::Words(words) => text().is_some_and(|text| words.contains(&text.as_str())),
            Self::Path => text().is_some_and(|text| text.starts_with('/')),
            Self::Beginning(letters) => text().is_some_and(|text| text.starts_with(letters)),
            Self::Nested => match &value.data {
                Data::Array(items) => items.iter().any(|item| matches!(item.data, Data::Array(_))),
                _ => false,
            },
            Self::Plain => match &value.data {
                Data::Array(items) => items.iter().all(is_single),
                Data::Sensitive(inner) => match &inner.data {
                    Data::Array(items) => items.iter().all(is_single),
                    _ => is_single(inner),
                },
                _ => is_single(value),
            },
        }
    }

    /// Completes "with".
    pub fn words_for(self) -> String {
        match self {
            Self::Plain => "a text or a list of texts".to_owned(),
            Self::Single => "one text".to_owned(),
            Self::Words(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
            Self::Path => "an absolute path".to_owned(),
            Self::Beginning(letters) => format!("a text that begins with `{letters}`"),
            Self::Nested => "lists within a list".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }
}

fn is_single(value: &Value) -> bool {
    match &value.data {
        Data::Sensitive(inner) => is_single(inner),
        data => matches!(data, Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_)),
    }
}

const BY_THE_GRAPH: &str = "an edge of the graph, which is modelled";

/// The parameters that every resource has.
pub static METAPARAMETERS: &[Row] = &[
    Row::inert("alias", "a name"),
    Row::inert("audit", "a report, and no change"),
    Row::inert("before", BY_THE_GRAPH),
    Row::inert("loglevel", "how loud a report is"),
    Row::modelled("noop").words(&["true", "false"]),
    Row::inert("notify", BY_THE_GRAPH),
    Row::inert("require", BY_THE_GRAPH),
    Row::modelled("schedule").of(Values::Single),
    Row::inert("stage", BY_THE_GRAPH),
    Row::inert("subscribe", BY_THE_GRAPH),
    Row::inert("tag", "a name"),
];

/// A parameter that no model has seen, and how far it may reach.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) parameter: String,
    /// Why its value is not known, if that is the reason.
    unknown: Option<String>,
    scope: Scope,
}

/// A catalog as models see it.
pub(crate) struct Decoded {
    /// Its resources have those parameters only that their tables say to be modelled.
    pub(crate) catalog: Catalog,
    opened: BTreeMap<ResourceId, Vec<Opened>>,
    /// Properties that get cells of their own, by resource.
    kept: BTreeMap<ResourceId, Vec<(String, String)>>,
}

/// Takes away what no model sees, and remembers it.
pub(crate) fn decode(catalog: &Catalog, world: &World<'_>) -> Decoded {
    let mut decoded = Decoded { catalog: catalog.clone(), opened: BTreeMap::new(), kept: BTreeMap::new() };
    let ids: Vec<ResourceId> = catalog.ids().collect();
    for id in ids {
        let Some(resource) = decoded.catalog.get_mut(id) else { continue };
        // What the user says about a type is all that is said about it.
        if types::declared::is_declared(resource, world) {
            continue;
        }
        let Some(known) = types::of(resource) else { continue };
        let (opened, kept) = take_apart(resource, known.rows());
        if !opened.is_empty() {
            decoded.opened.insert(id, opened);
        }
        if !kept.is_empty() {
            decoded.kept.insert(id, kept);
        }
    }
    decoded
}

fn take_apart(resource: &mut Resource, rows: &[Row]) -> (Vec<Opened>, Vec<(String, String)>) {
    let ensure = resource.ensure();
    let (mut opened, mut kept) = (Vec::new(), Vec::new());
    resource.parameters.retain(|parameter| {
        let name = parameter.name.as_str();
        if matches!(parameter.value.data, Data::Undef) {
            return false;
        }
        let treatment = treatment(rows, name, &parameter.value, ensure.as_deref());
        match treatment {
            Treatment::Modelled => return true,
            Treatment::Inert(_) | Treatment::Moot(_) => {}
            Treatment::Kept => {
                kept.push((name.to_owned(), crate::attributes::texts_of(&parameter.value).join(",")));
            }
            Treatment::Open(scope) => {
                let unknown = parameter.value.why_unknown();
                opened.push(Opened { parameter: name.to_owned(), unknown, scope });
            }
        }
        false
    });
    (opened, kept)
}

/// The treatment of a value: that of the first row that covers it. What no row covers may do anything.
fn treatment(rows: &[Row], parameter: &str, value: &Value, ensure: Option<&str>) -> Treatment {
    let covers = |row: &&Row| {
        row.parameter == parameter
            && row.values.holds(value)
            && (row.ensure.is_empty() || ensure.is_some_and(|ensure| row.ensure.contains(&ensure)))
    };
    let common = METAPARAMETERS.iter().filter(|_| is_metaparameter(parameter));
    rows.iter().chain(common).find(covers).map_or(Treatment::Open(Scope::Everything), |row| row.treatment)
}

impl Decoded {
    /// Adds to the model of a resource what the table says of parameters that the model has not seen.
    pub(crate) fn complete(&self, machine: &mut Machine<'_>, id: ResourceId, model: Model) -> Model {
        let resource = &self.catalog[id];
        // Nothing is done by what does not run.
        if model.apply == Program::Skip && !model.refreshable && model.unknown.is_none() {
            return model;
        }
        let model = self.keep(machine, id, resource, model);
        self.open(id, resource, machine.world, model)
    }

    /// Gives the properties that nobody else can see their cells.
    fn keep(
        &self,
        machine: &mut Machine<'_>,
        id: ResourceId,
        resource: &Resource,
        mut model: Model,
    ) -> Model {
        for (name, value) in self.kept.get(&id).into_iter().flatten() {
            let cell = machine.other(CellKind::Other, &resource.reference(), Some(name));
            let wanted = setpoint_state::Value::text(value);
            let set = sequence(vec![Program::set(cell, wanted.clone()), Program::Change]);
            model.apply = sequence(vec![model.apply, when(Test::is(cell, wanted).negate(), set)]);
        }
        model
    }

    /// Makes the model of a resource unknown where a parameter of it is open.
    fn open(&self, id: ResourceId, resource: &Resource, world: &World<'_>, model: Model) -> Model {
        let Some(opened) = self.opened.get(&id) else { return model };
        // Who says what a command does says it of the command as it is declared.
        if types::exec::is_declared(resource, world) {
            return model;
        }
        let reason = why_open(opened);
        let everything = opened.iter().any(|one| one.scope == Scope::Everything);
        let reach = if everything { Reach::Everything } else { Reach::Cells(model.touched()) };
        model.not_known(&reason, reach)
    }
}

/// Completes "what it does is not known:".
fn why_open(opened: &[Opened]) -> String {
    let unknown = |one: &Opened| Some(format!("`{}` is not known: {}", one.parameter, one.unknown.as_ref()?));
    if let Some(reason) = opened.iter().find_map(unknown) {
        return reason;
    }
    let names: Vec<String> = opened.iter().map(|one| format!("`{}`", one.parameter)).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("its {} {verb} not modelled", names.join(" and "))
}
