//! What differs between two catalogs.
//!
//! Used by whatever tells people about it: two versions of a source tree, or ours and a server's. Nothing is printed
//! here, and secrets are marked as such.

use rustc_hash::FxHashSet;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Symbol;

use crate::write::{Json, rich_value};
use crate::{Catalog, Resource, ResourceId};

/// What counts as a difference besides resources and their parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Tags, and whether a resource is exported.
    pub marks: bool,
    /// What contains what.
    pub containment: bool,
    /// The order in which resources stand in the catalog, and so are applied.
    pub order: bool,
    /// Resources that are only exported: they are for other nodes.
    pub exported: bool,
}

impl Scope {
    /// All that two catalogs can differ in, but for files and lines.
    pub const ALL: Self = Self { marks: true, containment: true, order: true, exported: false };

    /// Whether a resource is compared at all. One that is merely virtual is not.
    fn counts(self, resource: &Resource) -> bool {
        !resource.virtual_ || (self.exported && resource.exported)
    }
}

/// One difference. Ids are of the catalog that their name says.
#[derive(Clone, Debug)]
pub enum Change {
    Added {
        new: ResourceId,
    },
    Removed {
        old: ResourceId,
    },
    /// A parameter has another value, or is given in one catalog only.
    Parameter {
        old: ResourceId,
        new: ResourceId,
        name: Symbol,
        before: Option<Value>,
        after: Option<Value>,
        /// Neither value may be shown.
        secret: bool,
    },
    Tags {
        old: ResourceId,
        new: ResourceId,
        lost: Vec<Symbol>,
        gained: Vec<Symbol>,
    },
    Exported {
        old: ResourceId,
        new: ResourceId,
    },
    /// The resource lies in another container.
    Container {
        old: ResourceId,
        new: ResourceId,
        before: Option<ResourceId>,
        after: Option<ResourceId>,
    },
    /// The first resource, of those in both, that stands elsewhere.
    Order {
        old: ResourceId,
        new: ResourceId,
    },
}

impl Change {
    /// The resource that it is about: in the new catalog, or in the old one if it is gone.
    pub fn resource<'c>(&self, old_catalog: &'c Catalog, new_catalog: &'c Catalog) -> Option<&'c Resource> {
        match *self {
            Self::Removed { old } => old_catalog.get(old),
            Self::Added { new }
            | Self::Parameter { new, .. }
            | Self::Tags { new, .. }
            | Self::Exported { new, .. }
            | Self::Container { new, .. }
            | Self::Order { new, .. } => new_catalog.get(new),
        }
    }
}

/// The differences, in the order of the old catalog; what is new comes last.
pub fn compare(old: &Catalog, new: &Catalog, scope: Scope) -> Vec<Change> {
    let mut changes = Vec::new();
    let containers = scope.containment.then(|| (containers(old), containers(new)));
    for (old_id, before) in compared(old, scope) {
        let Some((new_id, after)) = twin(new, before, scope) else {
            changes.push(Change::Removed { old: old_id });
            continue;
        };
        compare_parameters((old_id, before), (new_id, after), &mut changes);
        if (scope.marks || scope.exported) && before.exported != after.exported {
            changes.push(Change::Exported { old: old_id, new: new_id });
        }
        if scope.marks {
            compare_tags((old_id, before), (new_id, after), &mut changes);
        }
        if let Some((of_old, of_new)) = &containers {
            let (outer_before, outer_after) = (of_old[old_id.index()], of_new[new_id.index()]);
            let named = |catalog: &Catalog, id: Option<ResourceId>| {
                id.and_then(|id| catalog.get(id)).map(Resource::reference)
            };
            if named(old, outer_before) != named(new, outer_after) {
                changes.push(Change::Container {
                    old: old_id,
                    new: new_id,
                    before: outer_before,
                    after: outer_after,
                });
            }
        }
    }
    let added = compared(new, scope).filter(|(_, resource)| twin(old, resource, scope).is_none());
    changes.extend(added.map(|(new, _)| Change::Added { new }));
    if scope.order {
        changes.extend(first_moved(old, new, scope));
    }
    changes
}

/// Whether two values would be printed alike. A reference and its text are the same in a catalog.
pub fn same_value(left: &Value, right: &Value) -> bool {
    left == right || printed(left) == printed(right)
}

fn printed(value: &Value) -> String {
    let mut out = Json::with_capacity(64);
    rich_value(value, &mut out);
    out.finish()
}

fn compared(catalog: &Catalog, scope: Scope) -> impl Iterator<Item = (ResourceId, &Resource)> {
    catalog.iter().filter(move |(_, resource)| scope.counts(resource))
}

/// The resource of the same type and title.
fn twin<'c>(catalog: &'c Catalog, resource: &Resource, scope: Scope) -> Option<(ResourceId, &'c Resource)> {
    let id = catalog.find(resource.type_name, &resource.title)?;
    let found = catalog.get(id)?;
    // An alias of another resource is not the resource itself.
    (scope.counts(found) && found.title == resource.title).then_some((id, found))
}

fn compare_parameters(
    (old, before): (ResourceId, &Resource),
    (new, after): (ResourceId, &Resource),
    changes: &mut Vec<Change>,
) {
    let now: Vec<(Symbol, Value)> = after.printed().map(|(name, shown)| (name, shown.value())).collect();
    let mut seen = FxHashSet::default();
    let mut differs = |name: Symbol, was: Option<Value>, is: Option<Value>| {
        let secret = before.is_secret(name)
            || after.is_secret(name)
            || holds_secret(was.as_ref())
            || holds_secret(is.as_ref());
        changes.push(Change::Parameter { old, new, name, before: was, after: is, secret });
    };
    for (name, shown) in before.printed() {
        seen.insert(name);
        let was = shown.value();
        match now.iter().find(|(other, _)| *other == name) {
            Some((_, is)) if same_value(&was, is) => {}
            Some((_, is)) => differs(name, Some(was), Some(is.clone())),
            None => differs(name, Some(was), None),
        }
    }
    for (name, is) in now {
        if !seen.contains(&name) {
            differs(name, None, Some(is));
        }
    }
}

/// Whether a secret lies somewhere inside a value.
fn holds_secret(value: Option<&Value>) -> bool {
    match value.map(|value| &value.data) {
        Some(Data::Sensitive(_)) => true,
        Some(Data::Array(items)) => items.iter().any(|item| holds_secret(Some(item))),
        Some(Data::Hash(entries)) => entries.iter().any(|(_, item)| holds_secret(Some(item))),
        _ => false,
    }
}

fn compare_tags(
    (old, before): (ResourceId, &Resource),
    (new, after): (ResourceId, &Resource),
    changes: &mut Vec<Change>,
) {
    let missing = |from: &Resource, other: &Resource| -> Vec<Symbol> {
        from.tags.iter().filter(|tag| !other.tags.contains(*tag)).collect()
    };
    let (lost, gained) = (missing(before, after), missing(after, before));
    if !lost.is_empty() || !gained.is_empty() {
        changes.push(Change::Tags { old, new, lost, gained });
    }
}

/// The container of each resource.
fn containers(catalog: &Catalog) -> Vec<Option<ResourceId>> {
    let mut found = vec![None; catalog.resources().len()];
    for &(container, contained) in &catalog.edges {
        if let Some(slot) = found.get_mut(contained.index()) {
            *slot = Some(container);
        }
    }
    found
}

/// The first place at which the resources that both have stand in another sequence.
fn first_moved(old: &Catalog, new: &Catalog, scope: Scope) -> Option<Change> {
    let before = compared(old, scope).filter(|(_, resource)| twin(new, resource, scope).is_some());
    let after = compared(new, scope).filter(|(_, resource)| twin(old, resource, scope).is_some());
    before.zip(after).find_map(|((_, was), (new_id, is))| {
        let same = was.type_name == is.type_name && was.title == is.title;
        (!same).then(|| Change::Order {
            old: twin(old, is, scope).map_or(ResourceId(0), |(id, _)| id),
            new: new_id,
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Change, Scope, compare};
    use crate::{Catalog, Resource};
    use setpoint_puppet_values::{Data, Value};

    fn catalog(files: &[(&str, &str)]) -> Catalog {
        let mut catalog = Catalog::new("node", "production");
        for (title, content) in files {
            let mut file = Resource::new("File".into(), *title);
            file.parameters.set("content".into(), (*content).into(), None);
            catalog.add(file).unwrap();
        }
        catalog
    }

    #[test]
    fn what_was_added_removed_and_changed_is_told() {
        let old = catalog(&[("/a", "1"), ("/b", "1"), ("/c", "1")]);
        let new = catalog(&[("/a", "1"), ("/b", "2"), ("/d", "1")]);
        let changes = compare(&old, &new, Scope::default());
        assert!(matches!(
            changes.as_slice(),
            [Change::Parameter { secret: false, .. }, Change::Removed { .. }, Change::Added { .. }]
        ));
    }

    #[test]
    fn another_order_is_a_difference_only_if_it_counts() {
        let (old, new) = (catalog(&[("/a", "1"), ("/b", "1")]), catalog(&[("/b", "1"), ("/a", "1")]));
        assert!(compare(&old, &new, Scope::default()).is_empty());
        assert!(matches!(compare(&old, &new, Scope::ALL).as_slice(), [Change::Order { .. }]));
    }

    #[test]
    fn secrets_are_marked() {
        let (mut old, new) = (catalog(&[("/a", "1")]), catalog(&[("/a", "2")]));
        let secret = Value::new(Data::Sensitive(Value::from("1").into()));
        old.resources_mut()[0].parameters.set("content".into(), secret, None);
        assert!(matches!(
            compare(&old, &new, Scope::default()).as_slice(),
            [Change::Parameter { secret: true, .. }]
        ));
    }
}
