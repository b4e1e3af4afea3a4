//! A concrete topology or template: objects of a model's classes, and how they are linked.

use indexmap::IndexMap;
use setpoint_source::Span;

use crate::model::{ClassId, LinkId, Model, StateId, TypeId};

/// An object of an [`Instance`], by its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectId(pub u32);

impl ObjectId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a link leads, and the source text that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub target: ObjectId,
    pub span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub class: ClassId,
    /// Absent only in classes without types.
    pub kind: Option<TypeId>,
    /// Unique within its class; shown to users.
    pub id: String,
    /// The local state at the start; absent only in classes without states.
    pub state: Option<StateId>,
    /// One for each link of the class, in the order of the class.
    pub links: Vec<Link>,
    pub span: Option<Span>,
}

/// Objects with their links. Ids are unique within a class, no link dangles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    pub name: String,
    /// The text that describes it, if there is one.
    pub span: Option<Span>,
    pub objects: Vec<Object>,
}

impl Instance {
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.objects.len() as u32).map(ObjectId)
    }

    pub fn link(&self, id: ObjectId, link: LinkId) -> &Link {
        &self.objects[id.index()].links[link]
    }
}

/// Builds an [`Instance`] by names. Objects may be linked before they are declared.
///
/// Mistakes (an unknown class, a link to nothing, an id used twice) are gathered and returned by
/// [`InstanceBuilder::finish`]; nothing panics.
#[derive(Debug)]
pub struct InstanceBuilder<'m> {
    model: &'m Model,
    name: String,
    span: Option<Span>,
    drafts: IndexMap<(ClassId, String), Draft>,
    errors: Vec<InstanceError>,
}

#[derive(Debug)]
struct Draft {
    kind: Option<TypeId>,
    state: Option<StateId>,
    span: Option<Span>,
    links: Vec<Option<(String, Option<Span>)>>,
}

/// What is wrong with an instance, in a sentence, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceError {
    pub message: String,
    pub span: Option<Span>,
}

/// An object that a builder knows, for further calls.
#[derive(Clone, Copy, Debug)]
pub struct DraftId(Option<usize>);

impl<'m> InstanceBuilder<'m> {
    pub fn new(model: &'m Model, name: impl Into<String>) -> Self {
        Self { model, name: name.into(), span: None, drafts: IndexMap::new(), errors: Vec::new() }
    }

    /// Sets the text that describes the instance.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    fn error(&mut self, message: String, span: Option<Span>) {
        self.errors.push(InstanceError { message, span });
    }

    /// Adds an object. Its state is the first that its class declares, unless [`Self::state`] sets another.
    pub fn object(&mut self, class: &str, id: impl Into<String>, span: Option<Span>) -> DraftId {
        let id = id.into();
        let Some(class_id) = self.model.class_named(class) else {
            self.error(format!("the model has no class `{class}`"), span);
            return DraftId(None);
        };
        let declared = self.model.class(class_id);
        let state = (!declared.states.is_empty()).then_some(0);
        let links = declared.links.iter().map(|_| None).collect();
        let key = (class_id, id);
        if self.drafts.contains_key(&key) {
            self.error(format!("there are two objects `{}` of class `{class}`", key.1), span);
            return DraftId(None);
        }
        let (at, _) = self.drafts.insert_full(key, Draft { kind: None, state, span, links });
        DraftId(Some(at))
    }

    fn draft(&mut self, object: DraftId) -> Option<(&'m crate::model::Class, &mut Draft)> {
        let model = self.model;
        let ((class, _), draft) = self.drafts.get_index_mut(object.0?)?;
        Some((model.class(*class), draft))
    }

    pub fn kind(&mut self, object: DraftId, kind: &str) {
        let Some((class, draft)) = self.draft(object) else { return };
        draft.kind = class.kind(kind);
        if draft.kind.is_none() {
            let (message, span) = (format!("class `{}` has no type `{kind}`", class.name), draft.span);
            self.error(message, span);
        }
    }

    pub fn state(&mut self, object: DraftId, state: &str) {
        let Some((class, draft)) = self.draft(object) else { return };
        if let Some(known) = class.state(state) {
            draft.state = Some(known);
        } else {
            let (message, span) = (format!("class `{}` has no state `{state}`", class.name), draft.span);
            self.error(message, span);
        }
    }

    /// Links an object to the one with the id `target`, of the class that the link leads to. The span is the text
    /// that makes this link: a reference, a `DependsOn`, a requirement.
    pub fn link(&mut self, object: DraftId, link: &str, target: impl Into<String>, span: Option<Span>) {
        let target = target.into();
        let Some((class, draft)) = self.draft(object) else { return };
        if let Some(at) = class.link(link) {
            draft.links[at] = Some((target, span));
        } else {
            let message = format!("class `{}` has no link `{link}`", class.name);
            self.error(message, span);
        }
    }

    /// The instance, if every object has all that its class asks for.
    pub fn finish(mut self) -> Result<Instance, Vec<InstanceError>> {
        let mut objects = Vec::with_capacity(self.drafts.len());
        let mut errors = Vec::new();
        for ((class_id, id), draft) in &self.drafts {
            let class = self.model.class(*class_id);
            let mut error = |message, span| errors.push(InstanceError { message, span });
            if draft.kind.is_none() && !class.types.is_empty() {
                error(format!("`{id}` has no type, and class `{}` has types", class.name), draft.span);
            }
            let mut links = Vec::with_capacity(draft.links.len());
            for (declared, given) in class.links.iter().zip(&draft.links) {
                let Some((target, span)) = given else {
                    error(format!("`{id}` has no link `{}`", declared.name), draft.span);
                    continue;
                };
                let target_class = &self.model.class(declared.target).name;
                match self.drafts.get_index_of(&(declared.target, target.clone())) {
                    Some(at) => links.push(Link { target: ObjectId(at as u32), span: *span }),
                    None => error(
                        format!(
                            "`{}` of `{id}` leads to `{target}`, and there is no such {target_class}",
                            declared.name
                        ),
                        span.or(draft.span),
                    ),
                }
            }
            objects.push(Object {
                class: *class_id,
                kind: draft.kind,
                id: id.clone(),
                state: draft.state,
                links,
                span: draft.span,
            });
        }
        self.errors.append(&mut errors);
        if self.errors.is_empty() {
            Ok(Instance { name: self.name, span: self.span, objects })
        } else {
            Err(self.errors)
        }
    }
}
