//! The catalog: resources in the order in which they entered it, and what contains what.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Symbol;

use crate::{NativeType, Resource, ResourceId};

/// What a node should look like.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The name of the node.
    pub name: Arc<str>,
    /// An integer or a string.
    pub version: Value,
    pub code_id: Option<Arc<str>>,
    /// Printed only if there is one: it differs from one compilation to the next.
    pub uuid: Option<Arc<str>>,
    pub environment: Arc<str>,
    pub tags: IndexSet<Symbol, FxBuildHasher>,
    /// The names of the classes, in lower case, in the order of their evaluation.
    pub classes: IndexSet<Symbol, FxBuildHasher>,
    /// The classes that a classifier named. Puppet lists them first, and again when they are evaluated.
    pub classified: Vec<Symbol>,
    /// Containment: from the container to what it contains.
    pub edges: Vec<(ResourceId, ResourceId)>,
    resources: Vec<Resource>,
    index: IndexMap<OwnedKey, ResourceId, FxBuildHasher>,
}

/// A resource of this type and title is in the catalog already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duplicate(pub ResourceId);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct OwnedKey {
    type_name: Symbol,
    title: Arc<str>,
}

/// Hashed as [`OwnedKey`] is, so that looking up copies nothing.
struct BorrowedKey<'a> {
    type_name: Symbol,
    title: &'a str,
}

impl Hash for BorrowedKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.type_name.hash(state);
        self.title.hash(state);
    }
}

impl Equivalent<OwnedKey> for BorrowedKey<'_> {
    fn equivalent(&self, key: &OwnedKey) -> bool {
        self.type_name == key.type_name && *self.title == *key.title
    }
}

impl Catalog {
    /// Takes the places of resources and parameters away.
    pub fn forget_places(&mut self) {
        for resource in self.resources_mut() {
            resource.span = None;
            resource.parameters.forget_places();
        }
    }

    pub fn new(name: impl Into<Arc<str>>, environment: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            version: Value::new(Data::Integer(0)),
            code_id: None,
            uuid: None,
            environment: environment.into(),
            tags: IndexSet::default(),
            classes: IndexSet::default(),
            classified: Vec::new(),
            edges: Vec::new(),
            resources: Vec::new(),
            index: IndexMap::default(),
        }
    }

    /// Adds a resource as the last one.
    pub fn add(&mut self, resource: Resource) -> Result<ResourceId, Duplicate> {
        let id = ResourceId(self.resources.len() as u32);
        self.name_resource(resource.type_name, Arc::clone(&resource.title), id)?;
        self.resources.push(resource);
        Ok(id)
    }

    /// Makes a resource known by a second title: what its namevar says, or its `alias`.
    pub fn add_alias(&mut self, id: ResourceId, title: impl Into<Arc<str>>) -> Result<(), Duplicate> {
        let Some(resource) = self.resources.get(id.index()) else { return Ok(()) };
        self.name_resource(resource.type_name, title.into(), id)
    }

    /// Makes a resource known by its aliases, and by the values of its namevars where they differ from the title. A name
    /// that another resource has already is left to it.
    pub fn add_names(&mut self, id: ResourceId, native: Option<&NativeType>) {
        let Some(resource) = self.resources.get(id.index()) else { return };
        let unique = native.and_then(|native| native.unique_name(resource));
        let aliases = resource.get("alias").map(strings).unwrap_or_default();
        for name in unique.into_iter().chain(aliases) {
            let _ = self.add_alias(id, name);
        }
    }

    fn name_resource(&mut self, type_name: Symbol, title: Arc<str>, id: ResourceId) -> Result<(), Duplicate> {
        match self.index.entry(OwnedKey { type_name, title }) {
            indexmap::map::Entry::Occupied(known) if *known.get() != id => Err(Duplicate(*known.get())),
            indexmap::map::Entry::Occupied(_) => Ok(()),
            indexmap::map::Entry::Vacant(free) => {
                free.insert(id);
                Ok(())
            }
        }
    }

    /// The resource with this title or alias. The type is as displayed (`File`), and so is the title of a class.
    pub fn find(&self, type_name: Symbol, title: &str) -> Option<ResourceId> {
        self.index.get(&BorrowedKey { type_name, title }).copied()
    }

    pub fn get(&self, id: ResourceId) -> Option<&Resource> {
        self.resources.get(id.index())
    }

    pub fn get_mut(&mut self, id: ResourceId) -> Option<&mut Resource> {
        self.resources.get_mut(id.index())
    }

    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// For changes of anything but type and title, by which resources are found.
    pub fn resources_mut(&mut self) -> &mut [Resource] {
        &mut self.resources
    }

    pub fn ids(&self) -> impl Iterator<Item = ResourceId> + use<> {
        (0..self.resources.len() as u32).map(ResourceId)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, &Resource)> {
        self.resources.iter().enumerate().map(|(at, resource)| (ResourceId(at as u32), resource))
    }

    pub fn add_edge(&mut self, container: ResourceId, contained: ResourceId) {
        self.edges.push((container, contained));
    }
}

/// A string, or the strings of an array.
fn strings(value: &Value) -> Vec<Arc<str>> {
    match &value.data {
        Data::String(text) => vec![Arc::clone(text)],
        Data::Array(items) => items.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

impl std::ops::Index<ResourceId> for Catalog {
    type Output = Resource;

    /// The resource of an id of this catalog. An id of another catalog may be out of bounds: use [`Catalog::get`].
    fn index(&self, id: ResourceId) -> &Resource {
        &self.resources[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_found_by_title_and_alias() {
        let mut catalog = Catalog::new("node1", "production");
        let file = Symbol::new("File");
        let id = catalog.add(Resource::new(file, "/trail/")).unwrap();
        catalog.add_alias(id, "/trail").unwrap();
        assert_eq!(catalog.find(file, "/trail"), Some(id));
        assert_eq!(catalog.find(Symbol::new("Notify"), "/trail"), None);
        assert_eq!(catalog.add(Resource::new(file, "/trail")), Err(Duplicate(id)));
        assert_eq!(catalog.add_alias(id, "/trail/"), Ok(()));
    }
}
