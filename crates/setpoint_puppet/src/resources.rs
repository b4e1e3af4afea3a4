//! Resources while the catalog is being made, and how they are found.

use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap};
use rustc_hash::{FxBuildHasher, FxHashMap};
use setpoint_catalog::{Kind, NativeType, Tags};
use setpoint_provenance::Prov;
use setpoint_puppet_functions::Callee;
use setpoint_puppet_values::Value;
use setpoint_source::{Span, Symbol};

use crate::loader::DefinitionId;
use crate::scope::ScopeId;

/// The place of a resource in the order in which resources entered the catalog.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ResourceId(u32);

impl ResourceId {
    /// `Stage[main]`, which every catalog begins with.
    pub(crate) const MAIN_STAGE: Self = Self(0);
    /// `Class[Settings]`.
    pub(crate) const SETTINGS: Self = Self(1);
    /// `Class[main]`, the code outside of classes.
    pub(crate) const MAIN: Self = Self(2);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a resource is an instance of.
#[derive(Clone, Debug)]
pub(crate) enum ResourceType {
    Native(Native),
    Definition(DefinitionId),
}

/// A type that is no Puppet code: one that Puppet ships, or one that was read from a module.
pub(crate) type Native = &'static NativeType;

#[derive(Debug)]
pub(crate) struct Resource {
    /// As displayed: `File`, `Foo::Bar`, `Class`.
    pub(crate) type_name: Symbol,
    /// As displayed; the title of a class is capitalised.
    pub(crate) title: Arc<str>,
    pub(crate) instance_of: ResourceType,
    pub(crate) kind: Kind,
    /// The scope in which it was declared.
    pub(crate) scope: ScopeId,
    /// The class or definition whose code declared it.
    pub(crate) source: DefinitionId,
    pub(crate) parameters: Parameters,
    pub(crate) tags: Tags,
    pub(crate) span: Option<Span>,
    pub(crate) exported: bool,
    pub(crate) virtual_: bool,
    /// The code of its class or definition has run, or runs.
    pub(crate) evaluated: bool,
    pub(crate) has_scope_tags: bool,
    pub(crate) sensitive: Vec<Symbol>,
    /// Where its title came from.
    pub(crate) title_prov: Prov,
    /// The title, if it was given as a value that is no string: a function may do that.
    pub(crate) title_value: Option<Value>,
    /// Why it exists.
    pub(crate) prov: Prov,
    /// For an instance of a definition, the leaf that stands for what could have set other parameters.
    pub(crate) instance: Prov,
}

impl Resource {
    pub(crate) fn is_class(&self) -> bool {
        self.type_name.as_str() == "Class"
    }

    /// `File[/etc/motd]`.
    pub(crate) fn reference(&self) -> String {
        format!("{}[{}]", self.type_name, self.title)
    }

    /// The resource as the owner of its parameters.
    pub(crate) fn callee(&self) -> Callee {
        Callee::Resource { type_name: self.type_name, title: self.title.clone() }
    }

    pub(crate) fn get(&self, name: Symbol) -> Option<&Value> {
        self.parameters.get(name).map(|parameter| &parameter.value)
    }

    /// A parameter by a name that is not interned: comparing a few names costs less than interning one.
    pub(crate) fn named(&self, name: &str) -> Option<&Value> {
        let found = self.parameters.iter().find(|parameter| parameter.name.as_str() == name);
        found.map(|parameter| &parameter.value)
    }
}

/// A parameter of a resource, with who set it.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Symbol,
    pub(crate) value: Value,
    pub(crate) source: DefinitionId,
    pub(crate) span: Option<Span>,
    /// `+>`: added to what is there.
    pub(crate) append: bool,
    /// Under which conditions it was set.
    pub(crate) control: Prov,
}

/// Parameters in the order in which they were set. A resource has few, so they are searched from the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(Vec<Parameter>);

impl Parameters {
    pub(crate) fn get(&self, name: Symbol) -> Option<&Parameter> {
        self.0.iter().find(|parameter| parameter.name == name)
    }

    /// A new parameter comes last, a known one keeps its place.
    pub(crate) fn set(&mut self, parameter: Parameter) {
        match self.0.iter_mut().find(|known| known.name == parameter.name) {
            Some(known) => *known = parameter,
            None => self.0.push(parameter),
        }
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Parameter> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Parameter> {
        self.0.iter_mut()
    }

    pub(crate) fn get_mut(&mut self, name: Symbol) -> Option<&mut Parameter> {
        self.0.iter_mut().find(|parameter| parameter.name == name)
    }

    pub(crate) fn into_vec(self) -> Vec<Parameter> {
        self.0
    }
}

impl From<Vec<Parameter>> for Parameters {
    fn from(parameters: Vec<Parameter>) -> Self {
        Self(parameters)
    }
}

#[derive(PartialEq, Eq, Hash, Debug, Clone)]
pub(crate) struct Key {
    pub(crate) type_name: Symbol,
    pub(crate) title: Arc<str>,
}

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

impl Equivalent<Key> for BorrowedKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.type_name == key.type_name && *self.title == *key.title
    }
}

/// The resources of one type, and how often one of them was changed after it was declared: a collector that has
/// seen all of them since the last change need not look again.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    pub(crate) members: Vec<ResourceId>,
    pub(crate) changes: u32,
}

/// All resources of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    list: Vec<Resource>,
    index: IndexMap<Key, ResourceId, FxBuildHasher>,
    buckets: FxHashMap<Symbol, Bucket>,
    /// Instances of definitions, and classes of a classifier, whose code has not run. In the order of the catalog.
    pub(crate) pending: Vec<ResourceId>,
    /// From the container to what it contains, in the order in which they were made.
    pub(crate) edges: Vec<(ResourceId, ResourceId)>,
}

impl Resources {
    pub(crate) fn ids(&self) -> impl Iterator<Item = ResourceId> + use<> {
        (0..self.list.len() as u32).map(ResourceId)
    }

    /// The resources next to one, on both sides, as far as they fit without a gap.
    pub(crate) fn run_around(&self, id: ResourceId, fits: impl Fn(&Resource) -> bool) -> Vec<ResourceId> {
        let fits = |other: &ResourceId| fits(&self[*other]);
        let before = (0..id.0).rev().map(ResourceId).take_while(fits);
        let after = (id.0 + 1..self.list.len() as u32).map(ResourceId).take_while(fits);
        before.chain(after).collect()
    }

    pub(crate) fn into_list(self) -> Vec<Resource> {
        self.list
    }

    pub(crate) fn find(&self, type_name: Symbol, title: &str) -> Option<ResourceId> {
        self.index.get(&BorrowedKey { type_name, title }).copied()
    }

    /// Adds a resource whose type and title are not there. `collectable` resources are seen by collectors.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn add(&mut self, resource: Resource, collectable: bool) -> ResourceId {
        let id = ResourceId(self.list.len() as u32);
        self.index.insert(Key { type_name: resource.type_name, title: Arc::clone(&resource.title) }, id);
        if collectable {
            self.buckets.entry(resource.type_name).or_default().members.push(id);
            if matches!(resource.instance_of, ResourceType::Definition(_)) {
                self.pending.push(id);
            }
        }
        self.list.push(resource);
        id
    }

    /// Makes a resource known by a second title.
    pub(crate) fn add_alias(&mut self, id: ResourceId, title: impl Into<Arc<str>>) {
        let type_name = self[id].type_name;
        self.index.insert(Key { type_name, title: title.into() }, id);
    }

    pub(crate) fn bucket(&self, type_name: Symbol) -> Option<&Bucket> {
        self.buckets.get(&type_name)
    }

    /// Notes that a resource of this type has changed since it was declared.
    pub(crate) fn touch(&mut self, type_name: Symbol) {
        if let Some(bucket) = self.buckets.get_mut(&type_name) {
            bucket.changes = bucket.changes.wrapping_add(1);
        }
    }

    /// Notes that resources of any type may have changed.
    pub(crate) fn touch_all(&mut self) {
        // The order does not matter: each is counted up alone.
        #[allow(clippy::iter_over_hash_type)]
        for bucket in self.buckets.values_mut() {
            bucket.changes = bucket.changes.wrapping_add(1);
        }
    }
}

impl Resources {
    /// The values of all parameters.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.list.iter_mut().flat_map(|resource| resource.parameters.0.iter_mut().map(|one| &mut one.value))
    }
}

impl Index<ResourceId> for Resources {
    type Output = Resource;

    fn index(&self, id: ResourceId) -> &Resource {
        &self.list[id.index()]
    }
}

impl IndexMut<ResourceId> for Resources {
    fn index_mut(&mut self, id: ResourceId) -> &mut Resource {
        &mut self.list[id.index()]
    }
}
