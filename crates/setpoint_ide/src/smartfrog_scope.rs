//! Where a reference of a specification leads, by its text: names are looked for in the component, in its prototypes, and then
//! outwards. Nothing is compiled, so that a specification with errors has answers, too.

use setpoint_smartfrog::syntax::{
    Assignment, Body, Component, Expression, ExpressionKind, Part, Prototype, Reference, Value,
};
use setpoint_source::{FileId, Range, Span, Symbol};

/// Prototypes and links that lead to each other are followed no further than this.
const MAX_STEPS: usize = 200;

/// A component as it is written; the outermost is the file.
#[derive(Clone)]
struct Level<'a> {
    bodies: Vec<&'a Body>,
    prototypes: Vec<&'a Reference>,
}

/// From the file inwards.
type Scope<'a> = Vec<Level<'a>>;

/// Returns the place of the attribute that the part of a reference at an offset leads to.
pub(crate) fn find_definition(body: &Body, text: &str, file: FileId, offset: u32) -> Option<Span> {
    let root = Level { bodies: vec![body], prototypes: Vec::new() };
    let Pointed { parts, start, scope } = find_in_body(body, &vec![root], file, offset)?;
    // The part under the cursor is the last that counts.
    let before = text.get(start as usize..offset as usize)?;
    let last = before.matches(':').count();
    let parts = parts.get(..=last)?;
    let mut steps = MAX_STEPS;
    Some(follow(parts, scope, &mut steps)?.0.span)
}

/// A reference under the cursor, and the component from which it is followed.
struct Pointed<'a> {
    parts: Vec<Part>,
    start: u32,
    scope: Scope<'a>,
}

impl<'a> Pointed<'a> {
    fn reference(reference: &Reference, scope: &Scope<'a>) -> Self {
        Self { parts: reference.parts.to_vec(), start: reference.span.range.start, scope: scope.clone() }
    }

    /// The target of a placement, of which every part but the last leads to a component that is there.
    fn placement(assignment: &Assignment, scope: &Scope<'a>) -> Self {
        let parts = assignment.target.iter().map(|&name| Part::Here(name)).collect();
        Self { parts, start: assignment.span.range.start, scope: scope.clone() }
    }
}

fn holds(range: Range, offset: u32) -> bool {
    range.start <= offset && offset <= range.end
}

/// The reference or placement at an offset.
fn find_in_body<'a>(body: &'a Body, scope: &Scope<'a>, file: FileId, offset: u32) -> Option<Pointed<'a>> {
    body.assignments.iter().filter(|one| one.span.file == file).find_map(|one| match &one.value {
        _ if one.target.len() > 1 && holds(one.span.range, offset) => Some(Pointed::placement(one, scope)),
        Value::Component(component) if holds(component.span.range, offset) => {
            component.prototypes.iter().find_map(|prototype| match prototype {
                Prototype::Reference(reference) => {
                    holds(reference.span.range, offset).then(|| Pointed::reference(reference, scope))
                }
                Prototype::Body(body, _) => find_in_body(body, &enter(scope, component), file, offset),
            })
        }
        Value::Component(_) => None,
        Value::Expression(expression) => find_in_expression(expression, scope, file, offset),
    })
}

fn find_in_expression<'a>(
    expression: &'a Expression,
    scope: &Scope<'a>,
    file: FileId,
    offset: u32,
) -> Option<Pointed<'a>> {
    if !holds(expression.span.range, offset) {
        return None;
    }
    let inner = |one: &'a Expression| find_in_expression(one, scope, file, offset);
    match &expression.kind {
        ExpressionKind::Reference { reference, .. } => {
            holds(reference.span.range, offset).then(|| Pointed::reference(reference, scope))
        }
        ExpressionKind::Vector { elements: inners, .. }
        | ExpressionKind::Operation { operands: inners, .. }
        | ExpressionKind::Variable(inners) => inners.iter().find_map(inner),
        ExpressionKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().find_map(|one| inner(one))
        }
        ExpressionKind::Switch(cases) => {
            cases.iter().find_map(|(one, two)| inner(one).or_else(|| inner(two)))
        }
        ExpressionKind::Apply { body, .. } | ExpressionKind::Assert { body, .. } => {
            let mut scope = scope.clone();
            scope.push(Level { bodies: vec![body], prototypes: Vec::new() });
            find_in_body(body, &scope, file, offset)
        }
        ExpressionKind::Null
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Number(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Bytes(_)
        | ExpressionKind::ToBeDefined => None,
    }
}

fn enter<'a>(scope: &Scope<'a>, component: &'a Component) -> Scope<'a> {
    let mut level = Level { bodies: Vec::new(), prototypes: Vec::new() };
    for prototype in &component.prototypes {
        match prototype {
            Prototype::Reference(reference) => level.prototypes.push(reference),
            Prototype::Body(body, _) => level.bodies.push(body),
        }
    }
    let mut scope = scope.clone();
    scope.push(level);
    scope
}

/// Returns the attribute that a reference leads to, with the component that has it.
fn follow<'a>(
    parts: &[Part],
    mut scope: Scope<'a>,
    steps: &mut usize,
) -> Option<(&'a Assignment, Scope<'a>)> {
    let mut found: Option<(&'a Assignment, Scope<'a>)> = None;
    for (at, part) in parts.iter().enumerate() {
        if let Some((assignment, around)) = found.take() {
            scope = open(assignment, around, steps)?;
        }
        match *part {
            Part::Root => scope.truncate(1),
            Part::Parent => {
                scope.pop().filter(|_| !scope.is_empty())?;
            }
            Part::This => {}
            Part::Name(name) | Part::Attrib(name) if at == 0 || matches!(part, Part::Attrib(_)) => {
                let mut depths = (1..=scope.len()).rev();
                found = Some(depths.find_map(|depth| find_name(scope.get(..depth)?, name, steps))?);
            }
            Part::Name(name) | Part::Here(name) => found = Some(find_name(&scope, name, steps)?),
            _ => return None,
        }
    }
    found
}

/// The component that is the value of an attribute, or that its link leads to.
fn open<'a>(assignment: &'a Assignment, scope: Scope<'a>, steps: &mut usize) -> Option<Scope<'a>> {
    match &assignment.value {
        Value::Component(component) => Some(enter(&scope, component)),
        Value::Expression(Expression { kind: ExpressionKind::Reference { reference, .. }, .. }) => {
            *steps = steps.checked_sub(1)?;
            let (assignment, scope) = follow(&reference.parts, scope, steps)?;
            open(assignment, scope, steps)
        }
        Value::Expression(_) => None,
    }
}

/// The attribute of the innermost component, its own or that of its last prototype that has it.
fn find_name<'a>(
    scope: &[Level<'a>],
    name: Symbol,
    steps: &mut usize,
) -> Option<(&'a Assignment, Scope<'a>)> {
    *steps = steps.checked_sub(1)?;
    let (level, outer) = scope.split_last()?;
    let assignments = level.bodies.iter().rev().flat_map(|body| body.assignments.iter().rev());
    if let Some(own) = assignments.clone().find(|one| one.target[..] == [name]) {
        return Some((own, scope.to_vec()));
    }
    level.prototypes.iter().rev().find_map(|prototype| {
        let (assignment, around) = follow(&prototype.parts, outer.to_vec(), steps)?;
        find_name(&open(assignment, around, steps)?, name, steps)
    })
}
