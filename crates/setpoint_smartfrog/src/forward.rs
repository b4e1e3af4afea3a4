//! The forward semantics (§9.2.2): links stay in the store while it is evaluated, and are resolved at the end.
//!
//! The equations are those of [`crate::core`] with two changes. A link is stored as it is; and when all of the
//! specification has been evaluated, [`Evaluator::accept`] replaces the links of `sfConfig`, from the first to the
//! last. A link to a component copies it; the links in the copy are resolved from where the component was found.
//! Here the parts `ROOT`, `PARENT` and `THIS` of a reference have their meaning.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use setpoint_provenance::Prov;
use setpoint_source::{Limit, Span, Symbol};

use crate::core::{Evaluator, Found, carried, find};
use crate::error::{Fail, Number, limit, numbered};
use crate::observe::EdgeKind;
use crate::reference::{Path, concatenation, is_prefix, prefix, shown};
use crate::store::{Store, Value};
use crate::syntax::Reference;
use crate::{MAIN, MAX_DEPTH};

/// Links to components that have links of their own are expanded no more often than this.
const MAX_EXPANSIONS: Limit = Limit::new(500_000);

/// A link that was followed to its end.
struct Target {
    /// Where the value stands.
    path: Path,
    found: Found,
}

/// A component whose links are being resolved.
struct Frame {
    store: Store,
    next: usize,
    /// From where its links are resolved.
    namespace: Path,
}

impl Evaluator {
    /// Resolves a reference in which keywords have their meaning. The path is where it was found.
    fn resolve_forward(&self, namespace: &[Symbol], reference: &[Symbol]) -> Option<Target> {
        let (first, rest) = reference.split_first()?;
        let fixed = match first.as_str() {
            "ROOT" => Some((&[][..], rest)),
            "PARENT" if namespace.is_empty() => return None,
            "PARENT" => Some((prefix(namespace), rest)),
            "THIS" => Some((namespace, rest)),
            _ => None,
        };
        if let Some((base, rest)) = fixed {
            let path = trace(base, rest)?;
            let (value, provenance) = find(&self.root, &path)?;
            return Some(Target { path, found: Found { namespace: base.to_vec(), value, provenance } });
        }
        if reference.iter().any(|part| matches!(part.as_str(), "ROOT" | "PARENT" | "THIS")) {
            return (0..=namespace.len()).rev().find_map(|length| {
                let path = trace(&namespace[..length], reference)?;
                let (value, provenance) = find(&self.root, &path)?;
                let found = Found { namespace: namespace[..length].to_vec(), value, provenance };
                Some(Target { path, found })
            });
        }
        let found = self.resolve(namespace, reference)?;
        Some(Target { path: concatenation(&found.namespace, reference), found })
    }

    /// Follows a link at `from` to a value that is no link. Nothing, if it refers to nothing.
    fn resolve_link(
        &mut self,
        namespace: &[Symbol],
        link: &Rc<Reference>,
        from: &[Symbol],
    ) -> Result<Option<Target>, Fail> {
        let mut chain: Vec<(Path, Rc<Reference>)> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut namespace = namespace.to_vec();
        let mut link = Rc::clone(link);
        let mut target = loop {
            let Some(target) = self.resolve_forward(&namespace, &link.names()) else { return Ok(None) };
            let Value::Link(next) = &target.found.value else { break target };
            if let Some(known) = self.followed.get(&target.path) {
                break Target {
                    path: target.path,
                    found: Found {
                        namespace: target.found.namespace,
                        value: known.0.clone(),
                        provenance: known.1,
                    },
                };
            }
            if !seen.insert(target.path.clone()) {
                let links = chain.iter().skip_while(|(path, _)| *path != target.path).take(20);
                let links: Vec<String> = links
                    .map(|(path, link)| format!("`{}` is `{}`", shown(path), shown(&link.names())))
                    .collect();
                let message = format!("links refer to each other in a circle: {}", links.join(", "));
                return Err(numbered(Number::LinkCycle, link.span, message));
            }
            namespace = prefix(&target.path).to_vec();
            let next = Rc::clone(next);
            chain.push((target.path, Rc::clone(&next)));
            link = next;
        };
        let length = chain.len();
        self.copy_along(chain, &mut target.found);
        if target.found.value.as_store().is_some() {
            if length > MAX_DEPTH {
                let message =
                    format!("more than {MAX_DEPTH} links refer to each other before there is a component");
                return Err(limit(Some(link.span), message));
            }
            if is_prefix(&target.path, from) {
                let message = format!(
                    "the link `{}` at `{}` refers to `{}`, which contains it: it would expand without end",
                    shown(&link.names()),
                    shown(from),
                    shown(&target.path)
                );
                return Err(numbered(Number::ImplicitCycle, link.span, message));
            }
        }
        Ok(Some(target))
    }

    /// The value came through every link on the way, from the last to the first. Links along the way to a plain value have that
    /// value. Only links of one name are remembered: components that are expanded later cannot bring a nearer target for them.
    fn copy_along(&mut self, chain: Vec<(Path, Rc<Reference>)>, found: &mut Found) {
        let is_remembered = chain.len() > 1
            && found.value.as_store().is_none()
            && chain.iter().all(|(_, link)| link.parts.len() == 1);
        for (path, link) in chain.into_iter().rev() {
            if self.arena.enabled() {
                let name = self.provenance_name(|| shown(&link.names()));
                found.provenance = self.arena.copy(found.provenance, Some(link.span), name);
            }
            if is_remembered {
                self.followed.insert(path, (found.value.clone(), found.provenance));
            }
        }
    }

    /// Definition 18 (inherit), where the prototype may be behind a link.
    pub(crate) fn find_forward_prototype(
        &mut self,
        namespace: &[Symbol],
        names: &[Symbol],
        target: &[Symbol],
        span: Span,
    ) -> Result<Option<Found>, Fail> {
        let Some(found) = self.resolve_forward(namespace, names) else { return Ok(None) };
        let Value::Link(link) = &found.found.value else { return Ok(Some(found.found)) };
        let link = Rc::new(Reference { parts: link.parts.clone(), span });
        Ok(self.resolve_link(namespace, &link, target)?.map(|target| target.found))
    }

    /// Replaces the links of `sfConfig` by what they refer to, in the order of the store.
    pub(crate) fn accept(&mut self) -> Result<(), Fail> {
        let mut path: Path = vec![Symbol::new(MAIN)];
        let Some(Value::Store(store)) = self.root.get(path[0]).cloned() else { return Ok(()) };
        let mut stack = vec![Frame { store, next: 0, namespace: path.clone() }];
        let mut expanded = 0_usize;
        while let Some(frame) = stack.last_mut() {
            let Some(entry) = frame.store.entry_at(frame.next).cloned() else {
                stack.pop();
                path.pop();
                continue;
            };
            frame.next += 1;
            if !entry.value.has_links() {
                continue;
            }
            path.push(entry.name);
            let inner = match entry.value {
                Value::Store(store) => Some((store, path.clone())),
                Value::Link(link) => {
                    let namespace = frame.namespace.clone();
                    let target = self.follow(&namespace, (&link, entry.provenance), &path, &stack)?;
                    let inner = target.found.value.as_store().filter(|store| store.has_links()).cloned();
                    expanded += usize::from(inner.is_some());
                    if expanded > MAX_EXPANSIONS {
                        return Err(too_many(&link, &path));
                    }
                    inner.map(|store| (store, target.path))
                }
                _ => None,
            };
            match inner {
                Some((store, namespace)) => stack.push(Frame { store, next: 0, namespace }),
                None => {
                    path.pop();
                }
            }
        }
        Ok(())
    }

    /// Puts the value of a link in its place.
    fn follow(
        &mut self,
        namespace: &[Symbol],
        (link, own): (&Rc<Reference>, Prov),
        path: &Path,
        inside: &[Frame],
    ) -> Result<Target, Fail> {
        let Some(target) = self.resolve_link(namespace, link, path)? else {
            return Err(self.dangling_link(&link.names(), namespace, link.span));
        };
        let value = target.found.value.clone();
        if path.len() + value.as_store().map_or(0, |store| store.depth() as usize) > MAX_DEPTH {
            if inside.iter().all(|frame| frame.namespace != target.path) {
                let message =
                    format!("the links expand to components that are nested more than {MAX_DEPTH} deep");
                return Err(limit(Some(link.span), message));
            }
            let message = format!(
                "the link `{}` expands without end: `{}` is met again inside of its own copy",
                shown(&link.names()),
                shown(&target.path)
            );
            return Err(numbered(Number::ImplicitCycle, link.span, message));
        }
        if let Some(observations) = &mut self.observations {
            observations.refers(path, target.path.clone(), EdgeKind::Link);
        }
        self.step("§9.2.2 (link)", Some(link.span), || {
            format!("the link {} at {} is {}", shown(&link.names()), shown(path), shown(&target.path))
        });
        let name = self.provenance_name(|| shown(&link.names()));
        let (namespace, names) = target.path.split_at(target.found.namespace.len().min(target.path.len()));
        let found_by = self.found_by(target.found.provenance, namespace, names);
        let provenance = self.arena.copy(found_by, Some(link.span), name);
        let provenance = carried(&mut self.arena, &mut self.overridden, provenance, own);
        let overridden = self.overridden.get(&provenance).copied();
        self.bind(path, value, provenance, link.span)?;
        // The value is what the link stands for: it does not override the link.
        match overridden {
            Some(overridden) => self.overridden.insert(provenance, overridden),
            None => self.overridden.remove(&provenance),
        };
        Ok(target)
    }
}

fn too_many(link: &Reference, path: &[Symbol]) -> Fail {
    let message = format!(
        "the links expand to more than {MAX_EXPANSIONS} components; one of them is `{}`",
        shown(path)
    );
    let mut fail = limit(Some(link.span), message);
    fail.notes
        .push("components that hold several links to each other double in number with each step".into());
    fail
}

/// A path with its keywords followed, from a base; nothing if it leads above the root.
fn trace(base: &[Symbol], reference: &[Symbol]) -> Option<Path> {
    let mut path = base.to_vec();
    for &part in reference {
        match part.as_str() {
            "THIS" => {}
            "ROOT" => path.clear(),
            "PARENT" => {
                path.pop()?;
            }
            _ => path.push(part),
        }
    }
    Some(path)
}
