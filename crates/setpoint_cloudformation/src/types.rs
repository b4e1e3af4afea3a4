//! AWS's types as a table of facts: properties, attributes, and what a change of each does.
//!
//! `types.txt` is made by `cargo xtask types` and holds facts of the published schemas. It has a date; what it lacks may be
//! newer, and is therefore not wrong but not known.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// A property of a resource type, or an attribute that AWS gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    /// Letters of `types.txt`: string, number, boolean, list, mapping; `?` is any.
    pub(crate) kinds: &'static str,
    marks: &'static str,
    /// The number of the mapping that it is or that its items are, or the kinds of its items.
    inner: Option<&'static str>,
}

/// What is inside of the value of a property.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inner {
    /// A mapping with these keys, or a list of such.
    Keys(TypeFacts),
    /// A list of values of these kinds.
    Items(&'static str),
}

impl Property {
    /// Takes a cell of the table apart.
    fn read(cell: &'static str) -> Option<Self> {
        let (name, rest) = cell.split_once(':')?;
        let (rest, inner) = rest.split_once('#').map_or((rest, None), |(rest, inner)| (rest, Some(inner)));
        let marks = rest.find(['!', '^', '~', '=', '+', '@']).unwrap_or(rest.len());
        let (kinds, marks) = rest.split_at(marks);
        Some(Self { name, kinds, marks, inner })
    }

    pub(crate) fn is_required(&self) -> bool {
        self.marks.contains('!') && !self.is_given()
    }

    /// Whether AWS gives it a value; a template cannot.
    pub(crate) fn is_given(&self) -> bool {
        self.marks.contains('=')
    }

    /// Whether `Fn::GetAtt` gives it.
    fn is_attribute(&self) -> bool {
        self.is_given() || self.marks.contains('+')
    }

    fn identifies(&self) -> bool {
        self.marks.contains('@')
    }
}

/// What a change of a property does to its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    InPlace,
    Replaces,
    /// In some cases, or if a part of it changes.
    MayReplace,
}

/// Properties whose change replaces the resource, as AWS documents it, though the schema says that it may.
const REPLACING: &[(&str, &str)] =
    &[("AWS::Batch::ComputeEnvironment", "EksConfiguration"), ("AWS::DynamoDB::Table", "KeySchema")];

/// The line of a type in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeFacts {
    kind: &'static str,
    line: &'static str,
}

impl TypeFacts {
    /// Returns the facts of a type; nothing if the table lacks it.
    pub(crate) fn of(kind: &str) -> Option<Self> {
        static TABLE: OnceLock<FxHashMap<&'static str, TypeFacts>> = OnceLock::new();
        let table = TABLE.get_or_init(|| {
            let lines = include_str!("types.txt").lines();
            let cut = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
            cut.map(|(kind, line)| (kind, TypeFacts { kind, line })).collect()
        });
        table.get(kind).copied()
    }

    pub(crate) fn properties(self) -> impl Iterator<Item = Property> {
        self.line.split(' ').filter_map(Property::read)
    }

    /// What is inside of the value of one of its properties, if the schema says it.
    pub(crate) fn inner(self, property: &Property) -> Option<Inner> {
        let inner = property.inner?;
        if inner.starts_with(|letter: char| !letter.is_ascii_digit()) {
            return Some(Inner::Items(inner));
        }
        let kind = self.kind.split('#').next().unwrap_or_default();
        Self::of(&format!("{kind}#{inner}")).map(Inner::Keys)
    }

    pub(crate) fn property(self, name: &str) -> Option<Property> {
        // Only the cell that is asked for is taken apart: some types have hundreds.
        let is_named =
            |cell: &&'static str| cell.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
        self.line.split(' ').find(is_named).and_then(Property::read).filter(|one| one.name == name)
    }

    /// Whether `Fn::GetAtt` knows an attribute. Inside of a mapping only what the table lists is known, if it lists anything.
    pub(crate) fn has_attribute(self, attribute: &str) -> bool {
        if self.property(attribute).is_some_and(|one| one.is_attribute()) {
            return true;
        }
        let Some((outer, _)) = attribute.split_once('.') else { return false };
        let Some(mapping) = self.property(outer).filter(Property::is_attribute) else { return false };
        let lists_parts = self
            .properties()
            .any(|one| one.name.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.')));
        !lists_parts && mapping.kinds.contains(['m', '?'])
    }

    /// What a change of a property does.
    pub(crate) fn effect(self, property: &str) -> Option<Effect> {
        let marks = self.property(property)?.marks;
        if REPLACING.contains(&(self.kind, property)) {
            return Some(Effect::Replaces);
        }
        Some(match (marks.contains('^'), marks.contains('~')) {
            (true, _) => Effect::Replaces,
            (false, true) => Effect::MayReplace,
            (false, false) => Effect::InPlace,
        })
    }

    /// Whether the old resource is deleted before its successor is created.
    pub(crate) fn deletes_first(self) -> bool {
        self.line.split(' ').next() == Some("%")
    }

    /// The properties that identify a resource together, if the template gives all of them.
    pub(crate) fn identifier(self) -> Option<Vec<&'static str>> {
        let parts: Vec<Property> = self.properties().filter(Property::identifies).collect();
        let is_known = !parts.is_empty() && !parts.iter().any(Property::is_given);
        is_known.then(|| parts.iter().map(|part| part.name).collect())
    }
}
