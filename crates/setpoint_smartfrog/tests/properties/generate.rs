//! Specifications at random: valid ones, made with the semantics as a guide (§8.2), and wild ones.

use std::fmt::Write as _;

use setpoint_testing::Random;

use crate::naive::{self, Assignment, Basic, Eval, Prototype, Reference, Store, Value, ValueSyntax};

/// A compiled tree that grows beyond this is not fed with more copies of itself.
const MAX_SIZE: usize = 120;

/// Makes a specification assignment by assignment, evaluating each as it is made: so it knows what there is to refer to.
pub(crate) struct Guided<'r> {
    pub(crate) random: &'r mut Random,
    /// Of a hundred references, so many are to anything at all.
    pub(crate) wild: usize,
    store: Store,
    left: usize,
}

impl<'r> Guided<'r> {
    pub(crate) fn new(random: &'r mut Random, wild: usize) -> Self {
        let left = 5 + random.below(40);
        Self { random, wild, store: Vec::new(), left }
    }

    /// A specification, and what the definitions make of it.
    pub(crate) fn specification(mut self) -> (Vec<Assignment>, Eval<Store>) {
        let (mut assignments, mut result) = self.body(&[], 0);
        if result.is_ok() && self.random.chance(95) {
            // Most specifications have the component that is compiled.
            let reference = vec!["sfConfig".to_owned()];
            self.left += 15;
            let (assignment, outcome) = self.assignment_to(reference, &[], 0, true);
            assignments.push(assignment);
            result = outcome;
        }
        let result = result.and_then(|()| match naive::find(&self.store, &["sfConfig".to_owned()]) {
            Some(Value::Store(store)) => Ok(store),
            _ => Err(7),
        });
        (assignments, result)
    }

    /// Assignments up to the first that fails.
    fn body(&mut self, namespace: &[String], depth: usize) -> (Vec<Assignment>, Eval<()>) {
        let mut assignments = Vec::new();
        for _ in 0..self.random.below(6) + usize::from(depth == 0) * 4 {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let reference = self.target(namespace);
            let component = self.random.chance(40) && depth < 5;
            let (assignment, outcome) = self.assignment_to(reference, namespace, depth, component);
            assignments.push(assignment);
            if outcome.is_err() {
                return (assignments, outcome);
            }
        }
        (assignments, Ok(()))
    }

    fn assignment_to(
        &mut self,
        reference: Reference,
        namespace: &[String],
        depth: usize,
        component: bool,
    ) -> (Assignment, Eval<()>) {
        let at = naive::concatenation(namespace, &reference);
        if !component {
            let assignment = Assignment { reference, value: self.plain_value(namespace) };
            let outcome = self.keep(naive::assignment(&assignment, namespace, &self.store));
            return (assignment, outcome);
        }
        let mut outcome = self.keep(naive::bind(&self.store, &at, Value::Store(Vec::new())));
        let mut prototypes = Vec::new();
        for _ in 0..=self.random.below(3) {
            if outcome.is_err() {
                break;
            }
            let reference = if self.random.chance(50) { self.reference_to(namespace, true) } else { None };
            if let Some(reference) = reference {
                outcome = self.keep(naive::inherit(&self.store, namespace, &reference, &at));
                prototypes.push(Prototype::Reference(reference));
            } else {
                let (body, inner) = self.body(&at, depth + 1);
                outcome = inner;
                prototypes.push(Prototype::Body(body));
            }
        }
        (Assignment { reference, value: ValueSyntax::Prototypes(prototypes) }, outcome)
    }

    fn keep(&mut self, result: Eval<Store>) -> Eval<()> {
        self.store = result?;
        Ok(())
    }

    /// A new name, a name that is there, or a path into a component that is there.
    fn target(&mut self, namespace: &[String]) -> Reference {
        if self.random.chance(20) {
            let here = naive::find(&self.store, namespace);
            if let Some(Value::Store(store)) = here {
                let mut paths = Vec::new();
                collect(&store, &mut Vec::new(), &mut paths, true);
                if !paths.is_empty() {
                    let mut path = paths.swap_remove(self.random.below(paths.len()));
                    path.push(name(self.random));
                    return path;
                }
            }
        }
        if self.random.chance(self.wild) {
            return reference(self.random);
        }
        vec![name(self.random)]
    }

    /// A reference to something that is there, or to a component only; it may be short.
    fn reference_to(&mut self, namespace: &[String], component: bool) -> Option<Reference> {
        if self.random.chance(self.wild) {
            return Some(reference(self.random));
        }
        let mut paths = Vec::new();
        collect(&self.store, &mut Vec::new(), &mut paths, component);
        if paths.is_empty() {
            return None;
        }
        let room = MAX_SIZE.saturating_sub(paths.len());
        let path = paths.swap_remove(self.random.below(paths.len()));
        if let Some(Value::Store(store)) = naive::find(&self.store, &path)
            && naive::size(&store) > room
        {
            return None;
        }
        let common = path.iter().zip(namespace).take_while(|(left, right)| left == right).count();
        let cut = self.random.below(common.min(path.len() - 1) + 1);
        Some(path[cut..].to_vec())
    }

    fn plain_value(&mut self, namespace: &[String]) -> ValueSyntax {
        let link = if self.random.chance(45) { self.reference_to(namespace, false) } else { None };
        if let Some(reference) = link {
            return ValueSyntax::Link(reference);
        }
        ValueSyntax::Basic(basic(self.random, 0))
    }
}

/// All paths of a store, or those of components only.
fn collect(store: &Store, at: &mut Reference, paths: &mut Vec<Reference>, components: bool) {
    for (id, value) in store {
        at.push(id.clone());
        if !components || matches!(value, Value::Store(_)) {
            paths.push(at.clone());
        }
        if let Value::Store(inner) = value {
            collect(inner, at, paths, components);
        }
        at.pop();
    }
}

/// A specification whose references are to anything at all.
pub(crate) fn wild(random: &mut Random) -> Vec<Assignment> {
    let mut left = 25;
    let mut assignments = wild_body(random, 0, &mut left);
    let mut inner = 15;
    let body = wild_body(random, 1, &mut inner);
    assignments.push(Assignment {
        reference: vec!["sfConfig".to_owned()],
        value: ValueSyntax::Prototypes(vec![Prototype::Body(body)]),
    });
    assignments
}

fn wild_body(random: &mut Random, depth: usize, left: &mut usize) -> Vec<Assignment> {
    let mut assignments = Vec::new();
    for _ in 0..=random.below(7) {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let place = if random.chance(15) { reference(random) } else { vec![name(random)] };
        let value = match random.below(10) {
            0..=2 => ValueSyntax::Basic(basic(random, 0)),
            3..=5 => ValueSyntax::Link(reference(random)),
            _ if depth < 4 => ValueSyntax::Prototypes(
                (0..=random.below(2))
                    .map(|_| {
                        if random.chance(40) {
                            Prototype::Reference(reference(random))
                        } else {
                            Prototype::Body(wild_body(random, depth + 1, left))
                        }
                    })
                    .collect(),
            ),
            _ => ValueSyntax::Basic(Basic::Null),
        };
        assignments.push(Assignment { reference: place, value });
    }
    assignments
}

fn name(random: &mut Random) -> String {
    const NAMES: &[&str] = &["a", "b", "c", "d", "e", "f", "web", "x1"];
    NAMES[random.below(NAMES.len())].to_owned()
}

fn reference(random: &mut Random) -> Reference {
    let mut path: Reference = (0..=random.below(3)).map(|_| name(random)).collect();
    if random.chance(10) {
        path.insert(0, "sfConfig".to_owned());
    }
    path
}

fn basic(random: &mut Random, depth: usize) -> Basic {
    match random.below(if depth < 2 { 7 } else { 6 }) {
        0 => Basic::Boolean(random.chance(50)),
        1 | 2 => Basic::Number(random.below(2_000) as i64 - 500),
        3 => Basic::String(["", "one", "two words", "-p 80"][random.below(4)].to_owned()),
        4 => Basic::Null,
        5 => Basic::Data(reference(random)),
        _ => Basic::Vector((0..random.below(4)).map(|_| basic(random, depth + 1)).collect()),
    }
}

/// The text of a specification.
pub(crate) fn text(assignments: &[Assignment]) -> String {
    let mut out = String::new();
    write_body(assignments, 0, &mut out);
    out
}

fn write_body(assignments: &[Assignment], indent: usize, out: &mut String) {
    for Assignment { reference, value } in assignments {
        let _ = write!(out, "{:indent$}{} ", "", reference.join(":"));
        match value {
            ValueSyntax::Basic(basic) => {
                write_basic(basic, out);
                out.push_str(";\n");
            }
            ValueSyntax::Link(reference) => {
                let _ = writeln!(out, "{};", reference.join(":"));
            }
            ValueSyntax::Prototypes(prototypes) => {
                out.push_str("extends ");
                for (at, prototype) in prototypes.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    match prototype {
                        Prototype::Reference(reference) => out.push_str(&reference.join(":")),
                        Prototype::Body(body) => {
                            out.push_str("{\n");
                            write_body(body, indent + 2, out);
                            let _ = write!(out, "{:indent$}}}", "");
                        }
                    }
                }
                if prototypes.is_empty() {
                    out.push_str("{}");
                }
                out.push('\n');
            }
        }
    }
}

fn write_basic(basic: &Basic, out: &mut String) {
    let _ = match basic {
        Basic::Boolean(value) => write!(out, "{value}"),
        Basic::Number(value) => write!(out, "{value}"),
        Basic::String(text) => write!(out, "\"{text}\""),
        Basic::Null => write!(out, "NULL"),
        Basic::Data(reference) => write!(out, "DATA {}", reference.join(":")),
        Basic::Vector(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_basic(element, out);
            }
            write!(out, "]")
        }
    };
}
