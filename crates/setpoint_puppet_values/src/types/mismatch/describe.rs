//! The differences between a type that is expected and one that is given.

use std::sync::Arc;

use super::{Kind, Mismatch, Step};
use crate::types::{
    Alias, ArrayType, Bounds, CallableType, HashType, IntRange, StructElement, TupleType, Type,
};

/// How deep a description goes into nested types before it stays at the surface.
const MAX_DEPTH: usize = 200;

/// How many aliases a description opens before it stays at the surface: types that name each other have endlessly many
/// parts.
const MAX_ALIASES: usize = 1_000;

/// The aliases that a description opens.
#[derive(Default)]
struct Opened {
    count: usize,
    /// Those that are being described, each with the type that is given.
    within: Vec<(*const Alias, *const Type)>,
}

impl Mismatch {
    fn typed(path: &[Step], expected: &Type, actual: &Type) -> Self {
        let kind = Kind::Type { expected: expected.normalize(), actual: actual.normalize() };
        Self { path: path.to_vec(), kind }
    }

    fn sized(path: &[Step], expected: IntRange, actual: IntRange, count: bool) -> Self {
        let kind = if count { Kind::Count { expected, actual } } else { Kind::Size { expected, actual } };
        Self { path: path.to_vec(), kind }
    }

    pub(super) fn without_step(&self, index: usize) -> Self {
        let mut copy = self.clone();
        if index < copy.path.len() {
            copy.path.remove(index);
        }
        copy
    }

    /// The path without the alternatives that it goes through.
    fn canonical(&self) -> Vec<&Step> {
        self.path.iter().filter(|step| !matches!(step, Step::Variant(_) | Step::Signature(_))).collect()
    }

    /// One difference for two at the same place.
    fn merged(&self, other: &Self) -> Self {
        let either = |a: &Type, b: &Type| {
            let parts = |of: &Type| vec![of.clone()];
            Type::variant([parts(a), parts(b)].concat()).normalize()
        };
        let kind = match (&self.kind, &other.kind) {
            (
                Kind::Type { expected, actual },
                Kind::Type { expected: theirs, .. } | Kind::Pattern { expected: theirs, .. },
            ) => Kind::Type { expected: either(expected, theirs), actual: actual.clone() },
            (
                Kind::Pattern { expected, actual },
                Kind::Type { expected: theirs, .. } | Kind::Pattern { expected: theirs, .. },
            ) => Kind::Pattern { expected: either(expected, theirs), actual: actual.clone() },
            (
                Kind::Size { expected, actual },
                Kind::Size { expected: theirs, .. } | Kind::Count { expected: theirs, .. },
            ) => Kind::Size { expected: expected.hull(theirs), actual: *actual },
            (
                Kind::Count { expected, actual },
                Kind::Size { expected: theirs, .. } | Kind::Count { expected: theirs, .. },
            ) => Kind::Count { expected: expected.hull(theirs), actual: *actual },
            (kind, _) => kind.clone(),
        };
        Self { path: self.path.clone(), kind }
    }
}

/// Reduces what each alternative has to say to one sentence, where all say the same of one place.
/// `count`: sizes are numbers of arguments.
pub(super) fn merge(varying: usize, count: bool, alternatives: &[Vec<Mismatch>]) -> Vec<Mismatch> {
    let all: Vec<Mismatch> = alternatives.iter().flatten().cloned().collect();
    let classes: [fn(&Kind, bool) -> bool; 4] = [
        |kind, count| matches!(kind, Kind::Count { .. }) || (!count && matches!(kind, Kind::Size { .. })),
        |kind, _| matches!(kind, Kind::MissingBlock),
        |kind, _| matches!(kind, Kind::UnexpectedBlock),
        |kind, _| matches!(kind, Kind::Type { .. } | Kind::Pattern { .. }),
    ];
    let mut descriptions = all;
    for class in classes {
        let alike: Vec<&Mismatch> = descriptions.iter().filter(|error| class(&error.kind, count)).collect();
        if alike.len() != alternatives.len() {
            continue;
        }
        let Some((first, rest)) = alike.split_first() else { continue };
        let merged = rest.iter().try_fold((*first).clone(), |before, error| {
            (before.canonical() == error.canonical()).then(|| before.merged(error))
        });
        if let Some(merged) = merged {
            descriptions = vec![merged];
            break;
        }
    }
    dedup_blocks(&mut descriptions);
    match descriptions.as_slice() {
        [one] => vec![one.without_step(varying)],
        _ => descriptions,
    }
}

/// Complaints about a block say the same for each signature.
fn dedup_blocks(descriptions: &mut Vec<Mismatch>) {
    let mut seen: Vec<(bool, Vec<Step>)> = Vec::new();
    descriptions.retain(|error| {
        let missing = match error.kind {
            Kind::MissingBlock => true,
            Kind::UnexpectedBlock => false,
            _ => return true,
        };
        let this = (missing, error.canonical().into_iter().cloned().collect());
        if seen.contains(&this) {
            return false;
        }
        seen.push(this);
        true
    });
}

pub(super) fn describe(expected: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if let Some(name) = expected.unresolved() {
        return vec![Mismatch { path: path.to_vec(), kind: Kind::Unresolved(name) }];
    }
    describe_part(expected, actual, path, &mut Opened::default())
}

fn describe_part(expected: &Type, actual: &Type, path: &[Step], opened: &mut Opened) -> Vec<Mismatch> {
    describe_normal(&expected.normalize(), expected, actual, path, opened)
}

/// `expected` is in its simplest form; `original` is what was written.
fn describe_normal(
    expected: &Type,
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    if path.len() > MAX_DEPTH {
        return vec![Mismatch::typed(path, original, actual)];
    }
    match expected {
        Type::Variant(types) => {
            let types = types.as_ref().map_or(&[][..], |types| types.as_slice());
            describe_variant(types, original, actual, path, opened)
        }
        Type::Struct(elements) => {
            let elements = elements.as_ref().map_or(&[][..], |elements| elements.as_slice());
            describe_struct(elements, original, actual, path, opened)
        }
        Type::Hash(of) => describe_hash(of.as_deref(), original, actual, path, opened),
        Type::Tuple(of) => describe_tuple(of.as_deref(), original, actual, path, opened, false),
        Type::Array(of) => describe_array(of.as_deref(), original, actual, path, opened),
        Type::Callable(of) => describe_callable(of.as_deref(), original, actual, path, opened),
        Type::Optional(of) => match of {
            Some(of) if !matches!(actual, Type::Undef) => {
                let original = if matches!(original, Type::Alias(_)) { original } else { expected };
                describe_normal(of, original, actual, path, opened)
            }
            _ => Vec::new(),
        },
        Type::Pattern(_) | Type::Enum(_) => {
            let kind = Kind::Pattern { expected: original.normalize(), actual: actual.normalize() };
            vec![Mismatch { path: path.to_vec(), kind }]
        }
        Type::Alias(alias) => {
            let here = (Arc::as_ptr(alias), std::ptr::from_ref(actual));
            let Some(target) = alias.target() else { return vec![Mismatch::typed(path, original, actual)] };
            if opened.count >= MAX_ALIASES || opened.within.contains(&here) {
                return vec![Mismatch::typed(path, original, actual)];
            }
            opened.count += 1;
            opened.within.push(here);
            let errors = describe_normal(&target.normalize(), expected, actual, path, opened);
            opened.within.pop();
            errors
        }
        _ if expected.is_assignable(actual) => Vec::new(),
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

fn with(path: &[Step], step: Step) -> Vec<Step> {
    let mut longer = path.to_vec();
    longer.push(step);
    longer
}

fn describe_variant(
    types: &[Type],
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    let undef = [Type::Undef];
    let extra: &[Type] = if matches!(original, Type::Optional(_)) { &undef } else { &[] };
    let mut alternatives = Vec::new();
    for (index, of) in extra.iter().chain(types).enumerate() {
        let errors = describe_part(of, actual, &with(path, Step::Variant(index)), opened);
        if errors.is_empty() {
            return Vec::new();
        }
        alternatives.push(errors);
    }
    let merged = merge(path.len(), false, &alternatives);
    if matches!(original, Type::Alias(_)) && merged.len() == 1 {
        return vec![Mismatch::typed(path, original, actual)];
    }
    merged
}

fn describe_array(
    expected: Option<&ArrayType>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    let any = Type::Any;
    let element = expected.map_or(&any, |of| &of.element);
    let size = expected.and_then(|of| of.size);
    match actual {
        Type::Tuple(theirs) => {
            let types = theirs.as_ref().map_or(&[][..], |of| of.types.as_slice());
            let actual_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::size(types.len()));
            let expected_size = size.unwrap_or(IntRange::ANY_SIZE);
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::sized(path, expected_size, actual_size, false)];
            }
            let wrong = types.iter().enumerate().filter(|(_, of)| !element.is_assignable(of));
            wrong
                .flat_map(|(index, of)| describe_part(element, of, &with(path, Step::Index(index)), opened))
                .collect()
        }
        Type::Array(theirs) => {
            let actual_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE);
            match size {
                Some(size) if !size.covers(&actual_size) => {
                    vec![Mismatch::sized(path, size, actual_size, false)]
                }
                _ => {
                    let element = theirs.as_ref().map_or(Type::Any, |of| of.element.clone());
                    vec![Mismatch::typed(path, original, &Type::array_of(element))]
                }
            }
        }
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

fn describe_hash(
    expected: Option<&HashType>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    let any = Type::Any;
    let (key, value) = expected.map_or((&any, &any), |of| (&of.key, &of.value));
    let size = expected.and_then(|of| of.size);
    match actual {
        Type::Struct(elements) => {
            let elements = elements.as_ref().map_or(&[][..], |elements| elements.as_slice());
            let expected_size = size.unwrap_or(IntRange::ANY_SIZE);
            let actual_size = struct_size(elements);
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::sized(path, expected_size, actual_size, false)];
            }
            let mut errors = Vec::new();
            for element in elements {
                if !key.is_assignable(&element.key) {
                    errors.extend(describe_part(
                        key,
                        &element.key,
                        &with(path, Step::KeyOfEntry(Arc::clone(&element.name))),
                        opened,
                    ));
                }
                if !value.is_assignable(&element.value) {
                    errors.extend(describe_part(
                        value,
                        &element.value,
                        &with(path, Step::Entry(Arc::clone(&element.name))),
                        opened,
                    ));
                }
            }
            errors
        }
        Type::Hash(theirs) => {
            let actual_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE);
            match size {
                Some(size) if !size.covers(&actual_size) => {
                    vec![Mismatch::sized(path, size, actual_size, false)]
                }
                _ => vec![Mismatch::typed(path, original, &sizeless(theirs.as_deref()))],
            }
        }
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

fn sizeless(of: Option<&HashType>) -> Type {
    of.map_or(Type::Hash(None), |of| Type::hash_of(of.key.clone(), of.value.clone()))
}

fn struct_size(elements: &[StructElement]) -> IntRange {
    let required = elements.iter().filter(|element| !element.key.is_assignable(&Type::Undef)).count();
    Bounds::new(Some(required as i64), Some(elements.len() as i64))
}

fn describe_struct(
    expected: &[StructElement],
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(theirs) => {
            let theirs = theirs.as_ref().map_or(&[][..], |elements| elements.as_slice());
            let mut errors = Vec::new();
            for element in expected {
                let Some(their) = theirs.iter().find(|their| their.name == element.name) else {
                    if !element.key.is_assignable(&Type::Undef) {
                        let kind = Kind::MissingKey(Arc::clone(&element.name));
                        errors.push(Mismatch { path: path.to_vec(), kind });
                    }
                    continue;
                };
                if !element.key.is_assignable(&their.key) {
                    let path = with(path, Step::KeyOfEntry(Arc::clone(&element.name)));
                    errors.extend(describe_part(&element.key, &their.key, &path, opened));
                }
                if !element.value.is_assignable(&their.value) {
                    let path = with(path, Step::Entry(Arc::clone(&element.name)));
                    errors.extend(describe_part(&element.value, &their.value, &path, opened));
                }
            }
            for their in theirs {
                if !expected.iter().any(|element| element.name == their.name) {
                    let kind = Kind::ExtraneousKey(Arc::clone(&their.name));
                    errors.push(Mismatch { path: path.to_vec(), kind });
                }
            }
            errors
        }
        Type::Hash(theirs) => {
            let actual_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE);
            let expected_size = struct_size(expected);
            if expected_size.covers(&actual_size) {
                vec![Mismatch::typed(path, original, &sizeless(theirs.as_deref()))]
            } else {
                vec![Mismatch::sized(path, expected_size, actual_size, false)]
            }
        }
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

/// `count`: the tuple is a list of parameters.
fn describe_tuple(
    expected: Option<&TupleType>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
    count: bool,
) -> Vec<Mismatch> {
    let none: &[Type] = &[];
    let types = expected.map_or(none, |of| of.types.as_slice());
    let same = matches!(actual, Type::Tuple(theirs) if theirs.as_deref() == expected);
    if same || (types.is_empty() && matches!(actual, Type::Array(_))) {
        return Vec::new();
    }
    let expected_size = expected.map_or(IntRange::ANY_SIZE, TupleType::size_range);
    match actual {
        Type::Tuple(theirs) => {
            let actual_size = theirs.as_ref().map_or(IntRange::ANY_SIZE, |of| of.size_range());
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::sized(path, expected_size, actual_size, count)];
            }
            let Some(last) = types.len().checked_sub(1) else { return Vec::new() };
            let mut errors = Vec::new();
            for (index, of) in theirs.iter().flat_map(|of| of.types.iter()).enumerate() {
                let index = index.min(last);
                errors.extend(describe_part(&types[index], of, &with(path, Step::Index(index)), opened));
            }
            errors
        }
        Type::Array(theirs) => {
            let actual_size = theirs.as_ref().and_then(|of| of.size).unwrap_or(IntRange::ANY_SIZE);
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::sized(path, expected_size, actual_size, count)];
            }
            let element = theirs.as_ref().map_or(Type::Any, |of| of.element.clone());
            let each = types.iter().enumerate();
            each.flat_map(|(index, of)| describe_part(of, &element, &with(path, Step::Index(index)), opened))
                .collect()
        }
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

fn describe_callable(
    expected: Option<&CallableType>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    opened: &mut Opened,
) -> Vec<Mismatch> {
    let Type::Callable(theirs) = actual else {
        return vec![Mismatch::typed(path, original, actual)];
    };
    let Some(expected) = expected else { return Vec::new() };
    let theirs = theirs.as_deref();
    if let Some(parameters) = &expected.parameters {
        let as_type = |of: &TupleType| Type::Tuple(Some(Arc::new(of.clone())));
        let their_parameters =
            theirs.and_then(|of| of.parameters.as_ref()).map_or(Type::Tuple(None), as_type);
        let errors =
            describe_tuple(Some(parameters), &as_type(parameters), &their_parameters, path, opened, true);
        if !errors.is_empty() {
            return errors;
        }
    }
    let any = Type::Any;
    let returns = expected.returns.as_ref().unwrap_or(&any);
    let their_returns = theirs.and_then(|of| of.returns.as_ref()).unwrap_or(&any);
    if !returns.is_assignable(their_returns) {
        return vec![Mismatch::typed(&with(path, Step::Return), returns, their_returns)];
    }
    let block = expected.block.as_ref().unwrap_or(&Type::Undef);
    let their_block = theirs.and_then(|of| of.block.as_ref()).unwrap_or(&Type::Undef);
    if their_block.is_assignable(block) {
        Vec::new()
    } else {
        vec![Mismatch::typed(&with(path, Step::Block), block, their_block)]
    }
}
