//! Aliases that name each other, generated, against everything that walks over types: nothing overflows or hangs, and
//! what is assignable is accepted.

#![allow(clippy::expect_used)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use setpoint_puppet_values::rich::to_rich_data;
use setpoint_puppet_values::types::{
    Alias, Attribute, CallableType, InitType, ObjectType, StructElement, TupleType, assert_instance,
    common_type, describe_mismatch,
};
use setpoint_puppet_values::{Key, Type, Value, infer, infer_generic, infer_set, new_instance};

/// A small generator of numbers, so that every run tries the same types.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

fn leaf(random: &mut Random) -> Type {
    match random.below(8) {
        0 => Type::integer(Some(0), Some(9)),
        1 => Type::string(),
        2 => Type::Undef,
        3 => Type::Boolean(None),
        4 => Type::data(),
        5 => Type::Array(None),
        6 => Type::Any,
        _ => Type::string_value("a"),
    }
}

fn generated(random: &mut Random, aliases: &[Arc<Alias>], kinds: usize, depth: usize) -> Type {
    let choice = random.below(if depth == 0 { 3 } else { kinds });
    let part = |random: &mut Random| generated(random, aliases, kinds, depth.saturating_sub(1));
    match choice {
        0 => leaf(random),
        1 | 2 => Type::Alias(Arc::clone(&aliases[random.below(aliases.len())])),
        3..=6 => {
            let count = 1 + random.below(4);
            Type::variant((0..count).map(|_| part(random)).collect())
        }
        7 | 8 => Type::array_of(part(random)),
        9 => Type::hash_of(Type::string(), part(random)),
        10 => Type::tuple(vec![part(random), part(random)], None),
        11 | 12 => Type::structure(vec![
            StructElement::named("a", part(random)),
            StructElement::optional("b", part(random)),
        ]),
        13 => Type::optional(part(random)),
        14 => Type::not_undef(part(random)),
        15 => Type::callable(
            Some(TupleType { types: vec![part(random)], size: None }),
            None,
            Some(part(random)),
        ),
        16 => match random.below(3) {
            0 => Type::type_of(part(random)),
            1 => Type::iterable(part(random)),
            _ => Type::sensitive(part(random)),
        },
        17 => Type::Init(Some(Arc::new(InitType { of: part(random), arguments: Vec::new() }))),
        _ => Type::Object(Some(Arc::new(ObjectType {
            name: Some("Thing".into()),
            attributes: vec![Attribute { name: "a".into(), of: part(random), ..Attribute::default() }],
            ..ObjectType::default()
        }))),
    }
}

/// All kinds of types that are generated.
const ALL_KINDS: usize = 19;
/// Those of which Puppet says truly what is assignable: of `Init` it compares the types to be made, not what they are
/// made from.
const SOUND_KINDS: usize = 16;

/// Aliases whose targets name each other; those that stand for nothing are left out.
fn aliases(random: &mut Random, kinds: usize, count: usize) -> Vec<Type> {
    let aliases: Vec<Arc<Alias>> = (0..count).map(|index| Alias::new(format!("T{index}"))).collect();
    let resolved = aliases.iter().filter(|alias| {
        let target = generated(random, &aliases, kinds, 3);
        alias.resolve(target).is_ok()
    });
    resolved.map(|alias| Type::Alias(Arc::clone(alias))).collect()
}

fn values(random: &mut Random) -> Vec<Value> {
    let mut values: Vec<Value> = vec![
        Value::from(1),
        Value::from("a"),
        Value::from("b"),
        Value::UNDEF,
        Value::from(true),
        Value::array(Vec::new()),
        Value::from(Type::data()),
    ];
    for _ in 0..20 {
        let pick = |random: &mut Random| values[random.below(values.len())].clone();
        let made = if random.below(2) == 0 {
            Value::array((0..random.below(4)).map(|_| pick(random)).collect())
        } else {
            let names = ["a", "b", "c"].iter().take(random.below(4));
            Value::hash(names.map(|name| (Key::from(*name), pick(random))).collect())
        };
        values.push(made);
    }
    values
}

/// Everything that walks over types. Returns what it said, so that nothing is left out by the compiler.
fn walk(types: &[Type], values: &[Value]) -> usize {
    let mut said = 0;
    for of in types {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        said += hasher.finish() as usize & 1;
        said += of.to_string().len() + of.unexpanded().len() + of.expanded().len() + of.name().len();
        said += usize::from(of.is_iterable()) + usize::from(of.is_kind_of_callable());
        said += of.unresolved().map_or(0, |name| name.len());
        said += of.normalize().to_string().len() + of.generalize().to_string().len();
        let value = Value::from(of.clone());
        said += to_rich_data(&value).to_string().len();
        said += infer(&value).to_string().len() + infer_generic(&value).to_string().len();
        let callable = CallableType {
            parameters: Some(TupleType { types: vec![of.clone()], size: None }),
            block: Some(of.clone()),
            returns: None,
        };
        for value in values {
            said += usize::from(of.is_instance(value))
                + usize::from(callable.accepts(std::slice::from_ref(value), Some(of)));
            said += assert_instance("it", of, value).err().map_or(0, |error| error.to_string().len());
            said += describe_mismatch("it", of, &infer_set(value)).len();
            let mut parse = |_: &str| Ok(Type::Any);
            let made = new_instance(of, std::slice::from_ref(value), &mut parse);
            said += usize::from(made.is_ok());
            let init = Type::Init(Some(Arc::new(InitType { of: of.clone(), arguments: Vec::new() })));
            said += usize::from(new_instance(&init, std::slice::from_ref(value), &mut parse).is_ok());
        }
        for other in types {
            said += usize::from(of == other) + common_type(of, other).to_string().len();
            said += describe_mismatch("it", of, other).len();
            if of.is_assignable(other) {
                said += 1;
            }
        }
    }
    said
}

fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(run).expect("a thread");
    thread.join().expect("an answer for every type");
}

#[test]
fn aliases_that_name_each_other_are_walked_to_an_end() {
    on_a_small_stack(|| {
        for seed in 0..150 {
            let mut random = Random(seed);
            let count = 1 + random.below(12);
            let types = aliases(&mut random, ALL_KINDS, count);
            let values = values(&mut random);
            walk(&types, &values);
        }
    });
}

/// Each alias is a union, or a structure, of all others: without memory of what was answered, the paths through them
/// are more than there are atoms.
#[test]
fn many_aliases_that_name_all_others_take_no_time() {
    on_a_small_stack(|| {
        for structure in [false, true] {
            let aliases: Vec<Arc<Alias>> = (0..40).map(|index| Alias::new(format!("T{index}"))).collect();
            for (index, alias) in aliases.iter().enumerate() {
                let others = aliases.iter().map(|alias| Type::Alias(Arc::clone(alias)));
                let mine = Type::string_value(format!("{index}"));
                let target = if structure {
                    let parts: Vec<Type> = others.map(Type::array_of).collect();
                    Type::variant(vec![mine, Type::tuple(parts, None)])
                } else {
                    Type::variant(others.chain([mine]).collect())
                };
                alias.resolve(target).expect("a real type");
            }
            let types: Vec<Type> =
                aliases.iter().take(2).map(|alias| Type::Alias(Arc::clone(alias))).collect();
            walk(&types, &[Value::from("0"), Value::from("x"), Value::array(vec![Value::array(Vec::new())])]);
            assert_eq!(types[0].is_assignable(&types[1]), !structure, "unions are equal, structures are not");
        }
    });
}

/// `type A1 = Tuple[A0, A0]`, `type A2 = Tuple[A1, A1]`, …
#[test]
fn aliases_that_double_are_compared_once() {
    on_a_small_stack(|| {
        let mut last = Type::string();
        for index in 0..60 {
            let alias = Alias::new(format!("A{index}"));
            alias.resolve(Type::tuple(vec![last.clone(), last], None)).expect("a real type");
            last = Type::Alias(alias);
        }
        assert!(last.is_assignable(&last));
        assert!(!last.is_assignable(&Type::string()));
        assert!(last.to_string().len() > 1 << 16);
    });
}

/// Where every value of B is said to be a value of A, no value of B is refused by A.
#[test]
fn assignable_types_accept_each_others_values() {
    on_a_small_stack(|| {
        let mut compared = 0;
        for seed in 0..400 {
            let mut random = Random(1_000 + seed);
            let count = 2 + random.below(4);
            let types = aliases(&mut random, SOUND_KINDS, count);
            let values = values(&mut random);
            for of in &types {
                for other in types.iter().filter(|other| of.is_assignable(other)) {
                    for value in values.iter().filter(|value| other.is_instance(value)) {
                        compared += 1;
                        assert!(of.is_instance(value), "seed {seed}: {of} >= {other}, but not {value:?}");
                    }
                }
            }
        }
        assert!(compared > 1_000, "only {compared} values were compared");
    });
}
