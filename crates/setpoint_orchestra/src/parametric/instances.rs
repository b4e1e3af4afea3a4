//! All small instances of a model, up to renaming of objects.

use std::ops::ControlFlow;

use super::view::relevant_types;
use crate::concrete::Ground;
use crate::instance::{Instance, Link, Object, ObjectId};
use crate::model::{ClassId, Formula, Model, NameSet, StateId, Term, TypeId};

/// Visits the instances with `total` objects that satisfy `require`, `init`, the shapes of links and `acyclic`.
///
/// Of instances that differ in the names of their objects only, most but not all duplicates are left out: objects of
/// a class are sorted, and objects that nothing tells apart are used in order. Each instance that is tried takes one
/// of the `candidates`; when none is left, the rest is not visited.
pub(super) fn visit_instances<B>(
    model: &Model,
    total: usize,
    candidates: &mut usize,
    mut visit: impl FnMut(Instance) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let relevant = relevant_types(model);
    let mut sizes = vec![0; model.classes.len()];
    visit_sizes(model, 0, total, &mut sizes, &mut |sizes| {
        let mut builder = Builder::new(model, &relevant, sizes, *candidates);
        let flow = builder.fill_from(0, &mut visit);
        *candidates = builder.candidates;
        flow
    })
}

fn visit_sizes<B>(
    model: &Model,
    class: usize,
    left: usize,
    sizes: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if class + 1 >= sizes.len() {
        if let Some(last) = sizes.get_mut(class) {
            *last = left;
        } else if left > 0 {
            return ControlFlow::Continue(());
        }
        return if sizes_fit(model, sizes) { visit(sizes) } else { ControlFlow::Continue(()) };
    }
    // Few objects of the first classes first: those that others link to stand at the beginning mostly, and instances
    // with many links tell more than those with many objects that nothing links.
    for size in 0..=left {
        sizes[class] = size;
        visit_sizes(model, class + 1, left - size, sizes, visit)?;
    }
    ControlFlow::Continue(())
}

fn sizes_fit(model: &Model, sizes: &[usize]) -> bool {
    model.classes.iter().zip(sizes).all(|(class, &size)| {
        class.links.iter().all(|link| {
            let targets = sizes[link.target.0 as usize];
            (size == 0 || targets > 0)
                && (!link.one_to_one || size <= targets)
                && (!link.onto || targets <= size)
        })
    })
}

struct Builder<'m> {
    model: &'m Model,
    relevant: &'m [bool],
    objects: Vec<Object>,
    /// The objects in the order in which they are filled: those that others link to come first where possible.
    order: Vec<usize>,
    first: Vec<usize>,
    sizes: Vec<usize>,
    used: Vec<bool>,
    states: Vec<Vec<StateId>>,
    /// For each class and link, whether objects of the class can be renamed without a change of what the link leads to.
    apart: Vec<Vec<bool>>,
    candidates: usize,
}

impl<'m> Builder<'m> {
    fn new(model: &'m Model, relevant: &'m [bool], sizes: &[usize], candidates: usize) -> Self {
        let mut first = Vec::new();
        let mut objects = Vec::new();
        for (class, &size) in model.class_ids().zip(sizes) {
            first.push(objects.len());
            for number in 0..size {
                objects.push(Object {
                    class,
                    kind: None,
                    id: format!("{}{}", model.class(class).name, number + 1),
                    state: None,
                    links: Vec::new(),
                    span: None,
                });
            }
        }
        let order = class_order(model)
            .into_iter()
            .flat_map(|class| (first[class]..first[class] + sizes[class]).collect::<Vec<_>>())
            .collect();
        let used = vec![false; objects.len()];
        let states = model.class_ids().map(|class| start_states(model, class)).collect();
        let (sizes, apart) = (sizes.to_vec(), links_apart(model));
        Self { model, relevant, objects, order, first, sizes, used, states, apart, candidates }
    }

    fn fill_from<B>(
        &mut self,
        at: usize,
        visit: &mut impl FnMut(Instance) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if self.candidates == 0 {
            return ControlFlow::Continue(());
        }
        let Some(&object) = self.order.get(at) else {
            self.candidates -= 1;
            let instance =
                Instance { name: "smallest".to_owned(), span: None, objects: self.objects.clone() };
            return if fits(self.model, &instance) { visit(instance) } else { ControlFlow::Continue(()) };
        };
        let class = self.objects[object].class;
        let declared = self.model.class(class);
        let kinds: Vec<Option<TypeId>> = match declared.types.len() {
            0 => vec![None],
            _ if !self.relevant[class.0 as usize] => vec![Some(0)],
            count => (0..count as TypeId).map(Some).collect(),
        };
        let states: Vec<Option<StateId>> = if declared.states.is_empty() {
            vec![None]
        } else {
            self.states[class.0 as usize].iter().copied().map(Some).collect()
        };
        for kind in kinds {
            for &state in &states {
                self.objects[object].kind = kind;
                self.objects[object].state = state;
                self.link_from(at, object, 0, visit)?;
            }
        }
        // Nothing is known of it again.
        self.objects[object].kind = None;
        self.objects[object].state = None;
        ControlFlow::Continue(())
    }

    fn link_from<B>(
        &mut self,
        at: usize,
        object: usize,
        link: usize,
        visit: &mut impl FnMut(Instance) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let class = self.objects[object].class;
        let Some(declared) = self.model.class(class).links.get(link) else {
            if !self.is_sorted(object) || !self.requirements_hold(object) {
                return ControlFlow::Continue(());
            }
            return self.fill_from(at + 1, visit);
        };
        let target_class = declared.target.0 as usize;
        let range = self.first[target_class]..self.first[target_class] + self.sizes[target_class];
        for target in range {
            if !self.may_use(target, target_class) {
                continue;
            }
            if declared.one_to_one && self.is_taken(object, link, target) {
                continue;
            }
            let fresh = !std::mem::replace(&mut self.used[target], true);
            self.objects[object].links.push(Link { target: ObjectId(target as u32), span: None });
            self.link_from(at, object, link + 1, visit)?;
            self.objects[object].links.pop();
            if fresh {
                self.used[target] = false;
            }
        }
        ControlFlow::Continue(())
    }

    /// Objects without links of their own and alike otherwise are used in order.
    fn may_use(&self, target: usize, class: usize) -> bool {
        let declared = &self.model.classes[class];
        let alike = declared.links.is_empty() && !declared.ordered;
        if self.used[target] || !alike || target == self.first[class] {
            return true;
        }
        let (one, before) = (&self.objects[target], &self.objects[target - 1]);
        self.used[target - 1] || (one.kind, one.state) != (before.kind, before.state)
    }

    fn is_taken(&self, object: usize, link: usize, target: usize) -> bool {
        let class = self.objects[object].class.0 as usize;
        (self.first[class]..object).any(|other| {
            self.objects[other].links.get(link).is_some_and(|known| known.target.index() == target)
        })
    }

    /// Objects of a class are sorted by what does not change if they are renamed: a link that leads back to the class, by
    /// itself or by other links, tells nothing.
    fn is_sorted(&self, object: usize) -> bool {
        let class = self.objects[object].class.0 as usize;
        let key = |at: usize| {
            let one = &self.objects[at];
            let links = one.links.iter().zip(&self.apart[class]).filter(|(_, is_apart)| **is_apart);
            (one.kind, one.state, links.map(|(link, _)| link.target).collect::<Vec<_>>())
        };
        object == self.first[class] || self.model.classes[class].ordered || key(object - 1) <= key(object)
    }

    /// What `require` says of this object alone, as far as its links lead to objects that are filled in.
    fn requirements_hold(&self, object: usize) -> bool {
        let class = self.objects[object].class;
        self.model.requires.iter().chain(&self.model.init).all(|claim| match &claim.formula {
            Formula::All { bound, filter, body } if bound.class == class => {
                self.holds(filter, object) != Some(true) || self.holds(body, object) != Some(false)
            }
            _ => true,
        })
    }

    /// Three-valued: nothing is said of what is not filled in, and of quantifiers.
    fn holds(&self, formula: &Formula, object: usize) -> Option<bool> {
        match formula {
            Formula::Constant(value) => Some(*value),
            Formula::Not(inner) => self.holds(inner, object).map(|value| !value),
            Formula::And(parts) => {
                let values: Vec<Option<bool>> = parts.iter().map(|part| self.holds(part, object)).collect();
                if values.contains(&Some(false)) {
                    Some(false)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
                }
            }
            Formula::Or(parts) => {
                let values: Vec<Option<bool>> = parts.iter().map(|part| self.holds(part, object)).collect();
                if values.contains(&Some(true)) {
                    Some(true)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
                }
            }
            Formula::OfTypes(term, set) => {
                let kind = self.objects[self.reach(term, object)?].kind?;
                Some(set.contains(kind))
            }
            Formula::SameType(left, right) => {
                let name = |term: &Term| {
                    let one = &self.objects[self.reach(term, object)?];
                    self.model.class(one.class).types.get(one.kind? as usize).copied()
                };
                Some(name(left)? == name(right)?)
            }
            Formula::Equal(left, right) => Some(self.reach(left, object)? == self.reach(right, object)?),
            // Objects of a class stand in the order of their numbers.
            Formula::Before(left, right) => Some(self.reach(left, object)? < self.reach(right, object)?),
            Formula::InStates(term, set) => {
                let state = self.objects[self.reach(term, object)?].state?;
                Some(set.contains(state))
            }
            Formula::Has(..) | Formula::HasSeveral(..) => Some(false),
            Formula::All { .. } | Formula::Some { .. } => None,
        }
    }

    fn reach(&self, term: &Term, object: usize) -> Option<usize> {
        if term.var != 0 {
            return None;
        }
        term.path
            .iter()
            .try_fold(object, |at, &link| self.objects[at].links.get(link).map(|known| known.target.index()))
    }
}

/// For each class and link, whether no chain of links leads from its target back to the class.
fn links_apart(model: &Model) -> Vec<Vec<bool>> {
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut work) = (vec![false; model.classes.len()], vec![from]);
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                work.extend(model.classes[at].links.iter().map(|link| link.target.0 as usize));
            }
        }
        seen[to]
    };
    let apart = |at: usize| {
        let links = model.classes[at].links.iter();
        links.map(|link| !reaches(link.target.0 as usize, at)).collect()
    };
    (0..model.classes.len()).map(apart).collect()
}

/// Classes that others link to before those that link to them, as far as there is such an order.
fn class_order(model: &Model) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < model.classes.len() {
        let left = (0..model.classes.len()).filter(|at| !order.contains(at));
        let ready = left.clone().find(|&at| {
            model.classes[at].links.iter().all(|link| {
                let target = link.target.0 as usize;
                target == at || order.contains(&target)
            })
        });
        match ready.or(left.clone().next()) {
            Some(next) => order.push(next),
            None => break,
        }
    }
    order
}

/// The states in which `init` lets an object of a class start, as far as it speaks of one object alone.
fn start_states(model: &Model, class: ClassId) -> Vec<StateId> {
    let mut allowed = NameSet::first(model.class(class).states.len());
    for claim in &model.init {
        if let Formula::All { bound, filter, body } = &claim.formula
            && bound.class == class
            && **filter == Formula::Constant(true)
        {
            narrow(body, bound.var, &mut allowed);
        }
    }
    allowed.iter().collect()
}

fn narrow(body: &Formula, var: usize, allowed: &mut NameSet) {
    match body {
        Formula::InStates(term, set) if term.var == var && term.path.is_empty() => allowed.0 &= set.0,
        Formula::And(parts) => {
            for part in parts {
                narrow(part, var, allowed);
            }
        }
        _ => {}
    }
}

fn fits(model: &Model, instance: &Instance) -> bool {
    let Ok(ground) = Ground::new(model, instance) else { return false };
    ground.malformed.is_empty() && ground.cyclic_relation().is_none()
}
