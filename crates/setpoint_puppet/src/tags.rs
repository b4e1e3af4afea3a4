//! Tags: names by which resources are selected.

use rustc_hash::FxHashMap;
use setpoint_catalog::Tags;
use setpoint_puppet_functions::{FailureKind, Stop};
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Symbol;

use crate::compiler::Compiler;
use crate::resources::ResourceId;

/// Results of merging that are asked for again and again: resources of one type in one container mostly have the
/// same tags, and share them.
#[derive(Debug, Default)]
pub(crate) struct TagMemo {
    of_type: FxHashMap<Symbol, Tags>,
    merged: FxHashMap<(Symbol, ResourceId), Merged>,
}

#[derive(Debug)]
struct Merged {
    own: Tags,
    container: Tags,
    result: Tags,
}

impl Compiler<'_> {
    /// The tags that every resource of a type has.
    pub(crate) fn type_tags(&mut self, type_name: Symbol) -> Tags {
        if let Some(known) = self.tag_memo.of_type.get(&type_name) {
            return known.clone();
        }
        let mut tags = Tags::default();
        tag_if_valid(&mut tags, &type_name);
        self.tag_memo.of_type.insert(type_name, tags.clone());
        tags
    }

    /// Gives a resource the tags of what contains it.
    pub(crate) fn add_scope_tags(&mut self, id: ResourceId) {
        let resource = &self.resources[id];
        let container = self.scopes[resource.scope].resource;
        if resource.has_scope_tags || container == id {
            return;
        }
        self.resources[id].has_scope_tags = true;
        self.merge_tags(container, id);
    }

    /// Adds the tags of one resource to those of another.
    pub(crate) fn merge_tags(&mut self, from: ResourceId, to: ResourceId) {
        let (own, container) = (&self.resources[to].tags, &self.resources[from].tags);
        let key = (self.resources[to].type_name, from);
        if let Some(known) = self.tag_memo.merged.get(&key)
            && known.own == *own
            && known.container == *container
        {
            self.resources[to].tags = known.result.clone();
            return;
        }
        let (own, container) = (own.clone(), container.clone());
        let mut result = own.clone();
        result.merge(&container);
        self.resources[to].tags = result.clone();
        self.tag_memo.merged.insert(key, Merged { own, container, result });
    }

    /// Whether a resource, or what contains it, has one of the tags.
    pub(crate) fn is_tagged(&self, id: ResourceId, wanted: &[Symbol]) -> bool {
        let mut at = id;
        loop {
            let resource = &self.resources[at];
            if wanted.iter().any(|tag| resource.tags.contains(*tag)) {
                return true;
            }
            let container = self.scopes[resource.scope].resource;
            if container == at {
                return false;
            }
            at = container;
        }
    }
}

/// Adds a name and its segments, if it can be a tag.
pub(crate) fn tag_if_valid(tags: &mut Tags, name: &str) {
    if is_valid(name) {
        add(tags, name);
    }
}

/// Adds what a `tag` parameter or the function `tag` names.
pub(crate) fn tag_values(tags: &mut Tags, value: &Value) -> Result<(), Stop> {
    match &value.data {
        Data::Array(items) => items.iter().try_for_each(|item| tag_values(tags, item)),
        Data::Undef => Ok(()),
        Data::Opaque(unknown) => Err(FailureKind::undecided(unknown).unplaced()),
        _ => {
            let name = setpoint_puppet_values::to_text(value);
            if !is_valid(&name) {
                return Err(FailureKind::InvalidTag(name.to_lowercase()).unplaced());
            }
            add(tags, &name);
            Ok(())
        }
    }
}

fn add(tags: &mut Tags, name: &str) {
    let lower = name.to_lowercase();
    if tags.insert(Symbol::new(&lower)) && lower.contains("::") {
        for segment in lower.split("::") {
            tags.insert(Symbol::new(segment));
        }
    }
}

/// Letters, digits and `_`; after the first character `:`, `.` and `-` too.
fn is_valid(name: &str) -> bool {
    let name = name.strip_suffix('\n').unwrap_or(name);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.starts_with(is_word)
        && name.chars().all(|letter| is_word(letter) || matches!(letter, ':' | '.' | '-'))
}
